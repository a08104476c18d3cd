//! Replaying falsifications through the plain learner: the yardstick for what a run claims.

use serde::Serialize;

use crate::inputs::{Inputs, RobustnessError};
use crate::run::check;
use crate::specification::Learning;
use crate::system::KnnSystem;
use crate::verdicts::VerdictRow;

/// The numbers of falsifications that were replayed and that stood up.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ReplayCounts {
    /// Falsified inputs in the file.
    pub falsified: u64,
    /// Falsified inputs whose removal set changes the label as stated.
    pub confirmed: u64,
    /// Falsified inputs whose removal set does not.
    pub rejected: u64,
    /// The first rejected inputs: test row and what is wrong.
    pub problems: Vec<String>,
}

/// Replays every falsification in `rows` through the plain learner.
///
/// The neighbours are ranked anew, once, by their true distances. For each removal set all errors
/// of every candidate K are counted again over all rows that are left: no increment, no bound, no
/// certified K set.
///
/// # Errors
/// Parameters that do not fit.
pub fn replay_falsifications(
    learning: &Learning,
    inputs: &Inputs,
    rows: &[VerdictRow],
    progress: &mut dyn FnMut(u64),
) -> Result<ReplayCounts, RobustnessError> {
    let mut counts = ReplayCounts::default();
    let falsified = || rows.iter().filter(|row| row.verdict == "falsified");
    let Some(poison) = falsified().map(|row| row.poison).max() else {
        return Ok(counts);
    };
    let system = KnnSystem::learn(check(learning, inputs, poison)?);
    for row in falsified() {
        counts.falsified += 1;
        match judge(inputs, &system, row) {
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

/// Returns what is wrong with a falsification, if anything is.
fn judge(inputs: &Inputs, system: &KnnSystem, row: &VerdictRow) -> Option<String> {
    if row.removal.len() > row.poison {
        return Some(format!("{} rows are removed", row.removal.len()));
    }
    let Ok(at) = inputs.test.numbers.binary_search(&row.row) else {
        return Some("there is no such test row".to_owned());
    };
    let mut removed = system.nothing_removed();
    for number in &row.removal {
        let Ok(training_row) = inputs.train.numbers.binary_search(number) else {
            return Some(format!("there is no training row {number}"));
        };
        if std::mem::replace(&mut removed[training_row], true) {
            return Some(format!("training row {number} is named twice"));
        }
    }
    let query = match system.query(inputs.test.row(at)) {
        Ok(query) => query,
        Err(error) => return Some(error.to_string()),
    };
    let (k, without) = (system.k(), system.learn_without(&removed));
    let label = inputs.class(system.predict(&query, &system.nothing_removed(), k));
    if (k, label) != (row.k, row.label.as_str()) {
        return Some(format!(
            "K = {k} and '{label}' come from all rows, not K = {} and '{}'",
            row.k, row.label
        ));
    }
    let found = inputs.class(system.predict(&query, &removed, without));
    let agrees = (without, found) == (row.removal_k, row.removal_label.as_str());
    (!agrees || found == label).then(|| {
        format!(
            "K = {without} and '{found}' come without those rows, not K = {} and '{}'",
            row.removal_k, row.removal_label
        )
    })
}
