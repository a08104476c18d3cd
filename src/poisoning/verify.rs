//! Replaying falsifications through the plain learner: the yardstick for what a run claims.

use serde::Serialize;

use super::errors::PoisoningError;
use super::inputs::{Inputs, RobustnessError};
use super::learn::{learn, replay};
use super::neighbours::rank_query;
use super::predict::predict;
use super::run::{RobustnessRun, check};
use super::system::Setup;
use super::verdicts::VerdictRow;

/// How many falsifications stood up.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ReplayCounts {
    /// Falsified inputs in the file.
    pub falsified: u64,
    /// Those whose removal set changes the label as stated.
    pub confirmed: u64,
    /// Those whose removal set does not.
    pub rejected: u64,
    /// The first rejected ones: test row and what is wrong.
    pub problems: Vec<String>,
}

/// Replays every falsification in `rows` through the plain learner: new distances, no increment.
///
/// # Errors
/// Parameters that do not fit.
pub fn replay_falsifications(
    run: &RobustnessRun,
    inputs: &Inputs,
    rows: &[VerdictRow],
    progress: &mut dyn FnMut(u64),
) -> Result<ReplayCounts, RobustnessError> {
    let mut counts = ReplayCounts::default();
    let mut setup: Option<(usize, Setup, usize)> = None;
    for row in rows.iter().filter(|row| row.verdict == "falsified") {
        if setup
            .as_ref()
            .is_none_or(|(poison, ..)| *poison != row.poison)
        {
            let checked = check(run, inputs, row.poison)?;
            let k = learn(&checked);
            setup = Some((row.poison, checked, k));
        }
        let Some((_, checked, k)) = &setup else {
            continue;
        };
        counts.falsified += 1;
        match judge(inputs, checked, *k, row) {
            None => counts.confirmed += 1,
            Some(problem) => {
                counts.rejected += 1;
                if counts.problems.len() < 10 {
                    counts.problems.push(format!(
                        "test row {}, n = {}: {problem}",
                        row.row, row.poison
                    ));
                }
            }
        }
        progress(counts.falsified);
    }
    Ok(counts)
}

/// What is wrong with a falsification, if anything is.
fn judge(inputs: &Inputs, setup: &Setup, k: usize, row: &VerdictRow) -> Option<String> {
    if row.removal.len() > row.poison {
        return Some(format!("{} rows are removed", row.removal.len()));
    }
    let Ok(at) = inputs.test.numbers.binary_search(&row.row) else {
        return Some("there is no such test row".to_owned());
    };
    let mut removal = Vec::new();
    for number in &row.removal {
        match inputs.train.numbers.binary_search(number) {
            Ok(training_row) => removal.push(training_row),
            Err(_) => return Some(format!("there is no training row {number}")),
        }
    }
    let features = inputs.test.row(at);
    let label = match predict_plainly(setup, k, features) {
        Ok(label) => inputs.class(label).to_owned(),
        Err(error) => return Some(error.to_string()),
    };
    if (k, label.as_str()) != (row.k, row.label.as_str()) {
        return Some(format!(
            "K = {k} and '{label}' come from all rows, not K = {} and '{}'",
            row.k, row.label
        ));
    }
    match replay(setup, &removal, features) {
        Err(error) => Some(error.to_string()),
        Ok(again) => {
            let found = inputs.class(again.label);
            let agrees = (again.k, found) == (row.removal_k, row.removal_label.as_str());
            (!agrees || found == label).then(|| {
                format!(
                    "K = {} and '{found}' come without those rows, not K = {} and '{}'",
                    again.k, row.removal_k, row.removal_label
                )
            })
        }
    }
}

/// The label for a K that is known already.
fn predict_plainly(setup: &Setup, k: usize, features: &[f64]) -> Result<u16, PoisoningError> {
    let training = setup.training();
    training.check_query(features)?;
    let ranked = rank_query(training, setup.parameters().metric, features, k);
    let ranked = ranked.into_iter().map(|row| row as usize);
    Ok(predict(ranked, training.labels(), &[], k).unwrap_or_default())
}
