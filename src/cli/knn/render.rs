//! The table of verdicts.

use std::path::Path;

use crate::cli::render::{count, percent, table};
use probity::knn::Method;
use probity::knn::run::{RobustnessFigures, RobustnessSummary};

/// The result in words; `names` are those of the files of T and of the inputs.
pub(super) fn summary(summary: &RobustnessSummary, names: [&Path; 2]) -> String {
    let rows: Vec<Vec<String>> = summary.sweep.iter().map(row).collect();
    let mut text = table(
        &[
            "n",
            "K",
            "K set",
            "inputs",
            "quick",
            "K-set",
            "exhaustive",
            "falsified",
            "unknown",
            "mean s",
            "max s",
            "learn s",
        ],
        &rows,
    );
    let figures = &summary.figures;
    text.push_str(&format!(
        "{} training rows, {} features, {} labels",
        count(summary.training_rows as u64),
        summary.features,
        summary.classes.len()
    ));
    text.push_str(&if summary.sweep.is_empty() {
        "; nothing was learnt.\n".to_owned()
    } else {
        let [first, last] = figures.candidates;
        format!("; K = {} learnt from {first} to {last}.\n", figures.k)
    });
    if let Some(accuracy) = summary.accuracy {
        text.push_str(&format!(
            "Accuracy on these inputs: {}.\n",
            percent(accuracy)
        ));
    }
    let [train, test] = summary.skipped_rows;
    if train + test > 0 {
        text.push_str(&format!(
            "{train} rows of {} and {test} rows of {} were left out, as the schema asks.\n",
            names[0].display(),
            names[1].display()
        ));
    }
    for (found, name) in summary.bad_rows.iter().zip(names) {
        if !found.is_empty() {
            text.push_str(&format!("{}: {found}.\n", name.display()));
        }
    }
    match summary.method {
        Method::Jia => text.push_str(
            "Method jia holds K fixed: \"certified\" does not cover poison that changes K.\n",
        ),
        Method::Li => text.push_str("Method li cannot falsify: unknown is not a sign of danger.\n"),
        Method::Auto | Method::Baseline => {}
    }
    text
}

fn row(figures: &RobustnessFigures) -> Vec<String> {
    vec![
        count(figures.poison as u64),
        count(figures.k as u64),
        count(figures.certified_k_set as u64),
        count(figures.inputs),
        count(figures.certified.quick),
        count(figures.certified.k_set),
        count(figures.certified.exhaustive),
        count(figures.falsified),
        count(figures.unknown),
        format!("{:.4}", figures.seconds_per_input.mean),
        format!("{:.3}", figures.seconds_per_input.max),
        format!("{:.2}", figures.learn_seconds + figures.k_set_seconds),
    ]
}
