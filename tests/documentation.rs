//! Every command of the README, of `docs/` and of the examples in the help does what is written
//! there.
//!
//! The `sh` blocks of a page are run as they stand, in order, in one folder that begins with what
//! the reader of the page has ([`given`]). A command must succeed unless the comment behind it says
//! `exit code 1`. A block marked `text output` shows what the commands of the block before it print
//! ([`shown::Shown`]); one with a title is a file that the reader writes. The tutorials begin in an
//! empty folder; that of Python is tried with the package (`.ci/checks.py`).
//!
//! The blocks of docs/benchmarks.md are records of measurements that take hours: what they name
//! must be there.
#![cfg(all(unix, feature = "onnx", feature = "serve"))]

mod documented;
mod probity_command;

use documented::given;
use documented::page::Page;

#[test]
fn the_readme_does_what_it_says() {
    Page::read("README.md").runs();
}

#[test]
fn the_manual_does_what_it_says() {
    Page::read("docs/manual.md").given(given::manual).runs();
}

#[test]
fn the_page_of_scale_does_what_it_says() {
    Page::read("docs/scale.md")
        .given(given::specification)
        .runs();
}

#[test]
fn the_page_of_knn_does_what_it_says() {
    Page::read("docs/knn.md").given(given::census).runs();
}

#[test]
fn the_page_of_deletions_does_what_it_says() {
    Page::read("docs/unlearning.md").given(given::census).runs();
}

#[test]
fn the_page_of_outliers_does_what_it_says() {
    Page::read("docs/outliers.md").given(given::census).runs();
}

#[test]
fn the_page_of_reports_does_what_it_says() {
    Page::read("docs/report.md").given(given::repair).runs();
}

#[test]
fn the_page_of_evidence_does_what_it_says() {
    Page::read("docs/evidence.md").given(given::evidence).runs();
}

#[test]
fn the_page_of_exports_does_what_it_says() {
    Page::read("docs/exports.md").given(given::repair).runs();
}

#[test]
fn the_page_of_predictors_does_what_it_says() {
    Page::read("docs/predictors.md")
        .given(given::predictors)
        .runs();
}

#[test]
fn the_page_of_the_service_does_what_it_says() {
    Page::read("docs/service.md")
        .given(given::classifier)
        .runs();
}

#[test]
fn the_page_of_the_installation_does_what_it_says() {
    Page::read("docs/installation.md").runs();
}

#[test]
fn the_tutorial_of_a_table_does_what_it_says() {
    Page::read("docs/tutorials/table.md").runs();
}

#[test]
fn the_tutorial_of_texts_does_what_it_says() {
    Page::read("docs/tutorials/texts.md").runs();
}

#[test]
fn the_tutorial_of_a_gate_does_what_it_says() {
    Page::read("docs/tutorials/gate.md").runs();
}

#[test]
fn the_tutorial_of_hidden_attributes_does_what_it_says() {
    Page::read("docs/tutorials/hidden.md").runs();
}

#[test]
fn the_tutorial_of_evidence_does_what_it_says() {
    Page::read("docs/tutorials/evidence.md")
        .given(given::openssl)
        .runs();
}

#[test]
fn the_page_of_benchmarks_names_what_is_there() {
    Page::read("docs/benchmarks.md").names_what_is_there();
}

#[test]
fn the_examples_of_the_help_do_what_they_say() {
    Page::examples().given(given::manual).runs();
}
