//! A search inside its run directory: checkpoints while it runs, and going on from one.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::audit_error::AuditError;
use super::search::{Ending, Phase, PhaseCounts, Search, StateOf};
use super::strategy::Strategy;
use probity_run::pause::{self, Point};
use probity_run::run_directory::RunDirectory;

/// The time after which a running search is saved again.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(30);

/// The point where a running audit stands, for progress displays.
#[derive(Debug, Clone, Copy)]
pub enum AuditProgress<'a> {
    /// A round of the search is done.
    Search {
        /// The counts of the global phase so far.
        global: &'a PhaseCounts,
        /// The counts of the local phase so far.
        local: &'a PhaseCounts,
        /// Rounds done and rounds at most, of the current phase.
        rounds: (u32, u32),
        /// Whether the current phase is the local one.
        is_local: bool,
        /// Distinct discriminatory individuals.
        found: u64,
    },
    /// The search is over; people of the data are asked about. Stopping leaves their share unknown.
    Population {
        /// Individuals done.
        done: u64,
        /// Individuals in all.
        all: u64,
    },
    /// The search is over; the share of random inputs is estimated. Stopping leaves an estimate
    /// of fewer inputs.
    Estimate {
        /// Inputs done, over all protected sets.
        done: u64,
        /// Inputs in all.
        all: u64,
    },
    /// The samples are written.
    Write,
}

/// Runs `search` from `state`; saves it in `run` under `identity` now and then, when a fallible
/// model fails, and at the end where it can go on or took long.
///
/// # Errors
/// When the model cannot answer or the checkpoint cannot be written.
pub fn run_search<S: Strategy>(
    search: &Search<'_, S>,
    state: &mut StateOf<S>,
    run: &RunDirectory,
    identity: &str,
    observe: &mut dyn FnMut(AuditProgress<'_>) -> ControlFlow<()>,
) -> Result<Ending, AuditError> {
    let mut failed = None;
    let started = Instant::now();
    let mut saved_at = started;
    let outcome = search.run(state, &mut |state| {
        if saved_at.elapsed() >= CHECKPOINT_EVERY {
            if let Err(error) = run.write_checkpoint(identity, state) {
                failed = Some(error);
                return ControlFlow::Break(());
            }
            saved_at = Instant::now();
        }
        pause::at(Point::Round);
        observe(progress_of(search, state))
    });
    let is_fallible = search.model.is_fallible();
    if outcome.is_err() && is_fallible {
        run.write_checkpoint(identity, state)?;
    }
    let ending = outcome?;
    if let Some(error) = failed {
        return Err(error.into());
    }
    // A long search must survive whatever happens after it, and so must one of a fallible model,
    // which is yet to be asked for the estimates.
    if is_resumable(ending) || is_fallible || started.elapsed() >= CHECKPOINT_EVERY {
        run.write_checkpoint(identity, state)?;
    }
    Ok(ending)
}

/// Whether a search with this ending can go on.
pub fn is_resumable(ending: Ending) -> bool {
    matches!(
        ending,
        Ending::Interrupted | Ending::Time | Ending::MaxCalls
    )
}

/// The ending of a run whose search ended as `ending`, once its estimates are there. If they were
/// cut short, the run can be gone on with like a search that was: the state of the search is kept.
pub(super) fn keep_if_cut<T: Serialize>(
    ending: Ending,
    is_cut: bool,
    run: &RunDirectory,
    identity: &str,
    state: &T,
) -> Result<Ending, AuditError> {
    if !is_cut || is_resumable(ending) {
        return Ok(ending);
    }
    run.write_checkpoint(identity, state)?;
    Ok(Ending::Interrupted)
}

pub(super) fn progress_of<'a, S: Strategy>(
    search: &Search<'_, S>,
    state: &'a StateOf<S>,
) -> AuditProgress<'a> {
    let is_local = state.phase() != Phase::Global;
    AuditProgress::Search {
        global: state.global(),
        local: state.local(),
        rounds: if is_local {
            (state.round(), search.options.local)
        } else {
            (state.round(), search.options.max_iter + 1)
        },
        is_local,
        found: state.individuals().discriminatory(),
    }
}
