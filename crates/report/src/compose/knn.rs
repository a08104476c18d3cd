//! What is said of k-NN predictions under poisoning.

use super::super::document::{Block, Part, Table};
use super::super::model::{KnnFigures, KnnFindings, KnnSummary};
use super::super::plots;
use super::super::text::{Text, count, counted, number, percent, seconds_in_column};
use super::ending::interrupted;
use super::left_out;
use super::terms;

/// The verdict and the parts.
pub(super) fn parts(knn: &KnnFindings, id: &str) -> (Vec<Text>, Vec<Part>) {
    let summary = &knn.summary;
    let mut verdict = Vec::new();
    match summary.sweep.last() {
        None => verdict.push("Interrupted while it learnt: nothing was decided.".to_owned()),
        Some(last) => verdict.push(sentence(last, summary.training_rows)),
    }
    if !summary.finished && !summary.sweep.is_empty() {
        verdict.insert(0, interrupted(None).to_string());
    }
    let mut parts = Vec::new();
    if !summary.sweep.is_empty() {
        parts.push(verdicts(&summary.sweep, id));
        parts.push(falsified(knn));
    }
    let accuracy = match summary.accuracy {
        Some(share) => format!(
            "{} of the analysed inputs with a label are predicted right.",
            percent(share)
        ),
        None => {
            "The inputs have no labels, so nothing is said of how often the prediction is right."
                .to_owned()
        }
    };
    let mut limits = Part::limits([
            "Certified means proved: whichever n training rows or fewer are poisoned, the prediction is the same. Falsified means that removing the rows listed changes it; whether anyone poisoned them is another question.".to_owned(),
            "Unknown means that the time limit came first, or that the method cannot tell; such an input may be robust or not.".to_owned(),
            "Only rows added by an attacker are considered, for K-nearest-neighbour classifiers that learn K by cross-validation.".to_owned(),
            accuracy,
        ]);
    let unused = unused(summary);
    if !unused.is_empty() {
        limits = limits.with_essential(Block::List(unused));
    }
    parts.push(limits);
    (verdict.into_iter().map(Text::from).collect(), parts)
}

/// What the verdicts do not cover, and which rows were not used.
fn unused(summary: &KnnSummary) -> Vec<Text> {
    let mut said = Vec::new();
    if summary.method == "jia" {
        said.push(
            "The method jia holds K fixed: ‘certified’ does not cover poison that changes K."
                .to_owned(),
        );
    }
    let [train, test] = summary.skipped_rows;
    if train + test > 0 {
        said.push(format!(
            "{} of the training file and {} of the test file were left out because a value is missing or outside of the schema, as the policy for it says.",
            counted(train, "row", "rows"),
            count(test)
        ));
    }
    let bad_rows = summary.bad_rows.iter().flatten();
    said.extend(bad_rows.filter(|bad| bad.rows > 0).map(left_out::bad_rows));
    said.into_iter().map(Text::from).collect()
}

fn all_certified(figures: &KnnFigures) -> u64 {
    figures.certified.quick + figures.certified.k_set + figures.certified.exhaustive
}

fn sentence(figures: &KnnFigures, rows: u64) -> String {
    let share = |number: u64| percent(number as f64 / figures.inputs.max(1) as f64);
    let certified = all_certified(figures);
    format!(
        "With up to {} of {} training rows poisoned, {} of {} predictions {} proved robust ({}), {} can be changed ({}) and {} undecided.",
        count(figures.poison),
        count(rows),
        count(certified),
        count(figures.inputs),
        if certified == 1 { "is" } else { "are" },
        share(certified),
        count(figures.falsified),
        share(figures.falsified),
        counted(figures.unknown, "is", "are")
    )
}

fn verdicts(sweep: &[KnnFigures], id: &str) -> Part {
    let chart = plots::verdicts(sweep);
    let description = "Each bar is all inputs: at the bottom those proved robust, above them those whose prediction can be changed, at the top the undecided ones.";
    let column =
        |of: fn(&KnnFigures) -> f64| seconds_in_column(&sweep.iter().map(of).collect::<Vec<f64>>());
    let means = column(|figures| figures.seconds_per_input.mean);
    let longest = column(|figures| figures.seconds_per_input.max);
    let rows = sweep.iter().enumerate().map(|(place, figures)| {
        vec![
            count(figures.poison),
            count(figures.certified.quick),
            count(figures.certified.k_set),
            count(figures.certified.exhaustive),
            count(figures.falsified),
            count(figures.unknown),
            count(figures.k),
            count(figures.certified_k_set),
            means[place].clone(),
            longest[place].clone(),
        ]
    });
    Part::new("Verdicts")
        .with_essential(Block::figure(
            &chart,
            format!("{id}-verdicts"),
            description,
            Table::new(
                "Verdicts against the number of poisoned rows",
                &[
                    "n",
                    "Certified quickly",
                    "By the set of K",
                    "By exhaustion",
                    "Falsified",
                    "Unknown",
                    "K",
                    "K that can be learnt",
                    "Mean time",
                    "Longest",
                ],
                rows.collect(),
            ),
        ))
        .with(terms::explained(&terms::POISONING))
}

fn falsified(knn: &KnnFindings) -> Part {
    let part = Part::new("Predictions that can be changed, and the rows whose removal does it");
    if knn.all_falsified == 0 {
        return part.say("None was found.");
    }
    let part = match knn.falsified_inputs.len() as u64 == knn.all_falsified {
        true => part.say(format!(
            "{} over all n.",
            counted(knn.all_falsified, "verdict", "verdicts")
        )),
        false => part.say(format!(
            "The first {} of {} over all n.",
            knn.falsified_inputs.len(),
            number(knn.all_falsified as f64)
        )),
    };
    let rows = knn.falsified_inputs.iter().map(|input| {
        let [k, without] = &input.k;
        let cells = [
            input.row.to_string(),
            count(input.poison),
            input.actual.clone(),
            format!("{} → {}", input.label, input.removal_label),
            format!("{k} → {without}"),
            input.removal.clone(),
        ];
        cells.iter().map(|cell| Text::value(cell)).collect()
    });
    part.with(Block::Table(Table {
        caption: "Rows are numbered as in their files, from 1. Removed: rows of the training file."
            .into(),
        header: [
            "Test row",
            "n",
            "Label in the file",
            "Prediction",
            "K",
            "Removed",
        ]
        .map(Text::from)
        .into(),
        rows: rows.collect(),
    }))
}
