//! The pages of `probity serve`, used as a person would: by a browser, from the log-in to the
//! report.
//!
//! Every page on the way is checked for accessibility at the width of a phone and of a desk, in light
//! and dark, for its width, and for complaints of the browser. Without a browser these tests are
//! skipped with a printed reason; `PROBITY_REQUIRE=browser` turns that into a failure.
//! `PROBITY_SCREENSHOTS=DIR` keeps a picture of every page, at both widths and in both palettes.

#![cfg(feature = "serve")]

#[path = "../browser/mod.rs"]
mod browser;
#[path = "../identity/mod.rs"]
mod identity;
#[path = "../probity_command/mod.rs"]
mod probity_command;
#[path = "../service/mod.rs"]
mod service;

mod administration;
mod by_provider;
mod first_audit;
mod roles;
mod steps;
mod visit;

use browser::Browser;
use browser::accessibility::Accessibility;
use browser::census::census;
use browser::driver::Programs;
use browser::evidence::Evidence;
use probity_command::Workspace;
use service::Home;
use steps::*;
use visit::Visit;

/// Rows of the census.
const ROWS: u64 = 900;

#[test]
fn from_a_file_to_a_report_and_a_repair() {
    let Some(programs) = Programs::find_or_skip() else {
        return;
    };
    let accessibility = Accessibility::find_or_skip();
    let workspace = Workspace::new();
    let home = Home::new();
    let service = home.serve(&[]);
    let browser = Browser::start(&programs).unwrap();
    let _evidence = Evidence::of("from_a_file_to_a_report_and_a_repair", &browser);
    let visit = Visit::new(&browser, &service, accessibility.as_ref());

    logging_in(&visit);
    let data = describing_data(&workspace, &visit);
    let model = training(&visit, &data);
    let run = auditing(&visit, &model);
    reading_the_report(&visit, &run);
    downloading(&visit, &run, &home);
    sharing(&visit, &run);
    renaming(&visit, &run);
    repairing(&visit, &run);
    comparing(&visit, &model);
    looking_back(&visit, &model);
    logging_out(&visit);
}

#[test]
fn everything_works_without_scripts() {
    let Some(programs) = Programs::find_or_skip() else {
        return;
    };
    let workspace = Workspace::new();
    let home = Home::new();
    let service = home.serve(&[]);
    let browser = Browser::start(&programs).unwrap();
    let _evidence = Evidence::of("everything_works_without_scripts", &browser);
    let visit = Visit::new(&browser, &service, None);
    browser.allow_scripts(false);
    workspace.write("people.csv", census(ROWS));

    visit.log_in();
    visit.go("/data/new");
    browser
        .find("#label")
        .type_text("<script>alert('people')</script>");
    browser
        .find("#file")
        .choose_file(&workspace.path("people.csv"));
    browser.press("Upload");
    visit.waits_for_heading("What is in the columns?");
    browser.press("Check the description first");
    visit.waits_for_heading("Check the description of the columns");
    browser.press("Save the description");
    visit.waits_for_heading("<script>alert('people')</script>");
    browser.follow("Train a model on it");
    browser.press("Start training");
    // Without scripts the page of a job is loaded again to see more. Its address is known once it
    // is there, which may be a while after the press.
    browser.find("#job");
    let page = browser.address();
    browser.wait_for("the model", || {
        browser.go(&page);
        let links = browser.find_all("#job-done a");
        links
            .iter()
            .find(|link| link.is_shown())
            .map(browser::element::Element::click)
    });
    visit.waits_for_heading("Classifier of <script>alert('people')</script>");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
