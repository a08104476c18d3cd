//! Tells from a run directory how far its run is.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::jobs::specification::JobKind;

use probity_run::run_directory::{CHECKPOINT, RUN, SUMMARY};

/// The state of a run: how far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateOfRun {
    /// There is nothing to go on from.
    Nothing,
    /// The run is unfinished, and the command can go on with it.
    Unfinished,
    /// The run came to an end.
    Finished,
}

/// Finds out how far the run of a job of `kind` in `directory` is. The job's process must not be
/// running.
pub fn state_of_run(directory: &Path, kind: JobKind) -> StateOfRun {
    let has_checkpoint = directory.join(CHECKPOINT).is_file();
    let summary: Option<Value> = fs::read(directory.join(SUMMARY))
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let is_finished = summary.is_some_and(|summary| match kind.makes_model() {
        true => summary["finished"] == true,
        false => summary["ending"] != "interrupted",
    });
    // A repair that saved no model keeps its networks; a training has a checkpoint until its end.
    if is_finished && (kind != JobKind::Train || !has_checkpoint) {
        StateOfRun::Finished
    } else if kind.goes_on() && directory.join(RUN).is_file() {
        StateOfRun::Unfinished
    } else {
        StateOfRun::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_files_of_a_run_say() {
        use JobKind::{Audit, Counterparts, Repair, Train};
        use StateOfRun::{Finished, Nothing, Unfinished};
        let (complete, interrupted) = (r#"{"ending": "complete"}"#, r#"{"ending": "interrupted"}"#);
        let (finished, unfinished) = (r#"{"finished": true}"#, r#"{"finished": false}"#);
        for (kind, has_run, has_checkpoint, summary, expected) in [
            (Audit, false, false, None, Nothing),
            (Audit, true, false, None, Unfinished),
            (Audit, true, true, None, Unfinished),
            (Audit, true, true, Some(interrupted), Unfinished),
            (Audit, true, false, Some(complete), Finished),
            // The process was killed between the summary and the end of the checkpoint.
            (Audit, true, true, Some(complete), Finished),
            (Train, true, true, Some(unfinished), Unfinished),
            (Train, true, false, Some(finished), Finished),
            (Train, true, false, None, Unfinished),
            (Repair, false, false, None, Nothing),
            (Repair, true, true, None, Unfinished),
            (Repair, true, true, Some(unfinished), Unfinished),
            (Repair, true, false, Some(finished), Finished),
            (Repair, true, true, Some(finished), Finished),
            (Counterparts, false, false, None, Nothing),
            // It cannot go on.
            (Counterparts, true, false, None, Nothing),
            (Counterparts, true, false, Some("{}"), Finished),
        ] {
            let folder = tempfile::tempdir().unwrap();
            if has_run {
                fs::write(folder.path().join(RUN), "").unwrap();
            }
            if has_checkpoint {
                fs::write(folder.path().join(CHECKPOINT), "").unwrap();
            }
            if let Some(summary) = summary {
                fs::write(folder.path().join(SUMMARY), summary).unwrap();
            }
            assert_eq!(
                state_of_run(folder.path(), kind),
                expected,
                "{kind:?} {has_run} {has_checkpoint} {summary:?}"
            );
        }
    }
}
