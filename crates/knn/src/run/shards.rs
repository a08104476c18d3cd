//! A robustness run in shards, cut by test inputs.
//!
//! Every shard learns from all of T: a decision about an input needs all of it. A merge puts the
//! verdicts into the order of one machine, by threshold, then by input.

use std::ops::Range;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use super::{
    RobustnessFigures, RobustnessProgress, RobustnessSummary, Sweep, sweep, write_robustness,
};
use crate::inputs::{Inputs, RobustnessError};
use crate::specification::RobustnessSpecification;
use crate::verdicts::VerdictRow;
use probity_run::run_directory::{RunDirectory, RunError};
use probity_run::shards::Items;
use probity_run::specification::file::Record;
use probity_tensor::device::ComputeDevice;

/// The verdicts on one test input.
#[derive(Debug, Serialize, Deserialize)]
pub struct InputVerdicts {
    /// For each threshold, what was learnt for it, with the seconds that the shard took, and the
    /// verdict.
    by_poison: Vec<(Learnt, VerdictRow)>,
}

/// What a shard learnt for one threshold; the same in all shards, except for the seconds.
#[derive(Debug, Serialize, Deserialize)]
struct Learnt {
    candidates: [usize; 2],
    k: usize,
    certified_k_set: usize,
    learn_seconds: f64,
    k_set_seconds: f64,
}

/// The test inputs of a run: its items.
pub struct ShardedInputs<'a> {
    /// The specification of the run.
    pub run: &'a RobustnessSpecification,
    /// The training set T and the test inputs.
    pub inputs: &'a Inputs,
    /// The device on which distances are computed.
    pub device: &'a ComputeDevice,
    /// A flag that asks the run to end early.
    pub stop: &'a AtomicBool,
    /// A function that is told how far the run is.
    pub observe: &'a mut dyn FnMut(RobustnessProgress),
}

impl ShardedInputs<'_> {
    fn drawn(&self) -> Vec<usize> {
        self.inputs
            .drawn(self.run.analysis.inputs, self.run.learning.seed)
    }
}

impl Items for ShardedInputs<'_> {
    type Item = InputVerdicts;
    type Error = RobustnessError;

    fn count(&self) -> u64 {
        self.drawn().len() as u64
    }

    fn perform(
        &mut self,
        items: Range<u64>,
        done: &mut dyn FnMut(InputVerdicts),
    ) -> Result<bool, RobustnessError> {
        let drawn = self.drawn();
        let own = &drawn[items.start as usize..items.end as usize];
        if own.is_empty() {
            return Ok(true);
        }
        let swept = sweep(
            self.run,
            self.inputs,
            own,
            self.device,
            self.stop,
            self.observe,
        )?;
        if !swept.finished {
            return Ok(false);
        }
        let mut by_input: Vec<Vec<(Learnt, VerdictRow)>> = own.iter().map(|_| Vec::new()).collect();
        for (figures, rows) in swept.figures.iter().zip(swept.rows.chunks(own.len())) {
            for (of_input, row) in by_input.iter_mut().zip(rows) {
                let learnt = Learnt {
                    candidates: figures.candidates,
                    k: figures.k,
                    certified_k_set: figures.certified_k_set,
                    learn_seconds: figures.learn_seconds,
                    k_set_seconds: figures.k_set_seconds,
                };
                of_input.push((learnt, row.clone()));
            }
        }
        for by_poison in by_input {
            done(InputVerdicts { by_poison });
        }
        Ok(true)
    }
}

/// The verdicts of all inputs, checked to be complete and of one run: a directory is made for them
/// only then.
pub struct MergedVerdicts(Sweep);

impl MergedVerdicts {
    /// Merges the verdicts that the shards in `folder` hold, in their order. The seconds of
    /// learning are those of the slowest shard.
    ///
    /// # Errors
    /// When the verdicts cannot be read or are of other thresholds than `run`.
    pub fn merge(
        run: &RobustnessSpecification,
        folder: &Path,
        verdicts: impl Iterator<Item = Result<InputVerdicts, RunError>>,
    ) -> Result<MergedVerdicts, RobustnessError> {
        let poisons = &run.analysis.poison;
        let figures = |&poison: &usize| RobustnessFigures {
            poison,
            ..RobustnessFigures::default()
        };
        let mut by_poison: Vec<(RobustnessFigures, Vec<VerdictRow>)> = poisons
            .iter()
            .map(|poison| (figures(poison), Vec::new()))
            .collect();
        for verdict in verdicts {
            let verdict = verdict?.by_poison;
            let found = verdict.iter().map(|(_, row)| row.poison);
            if !found.eq(poisons.iter().copied()) {
                let problem = "a shard has verdicts for other thresholds".to_owned();
                let file = folder.to_owned();
                return Err(RunError::Foreign { file, problem }.into());
            }
            for ((figures, rows), (learnt, row)) in by_poison.iter_mut().zip(verdict) {
                figures.candidates = learnt.candidates;
                figures.k = learnt.k;
                figures.certified_k_set = learnt.certified_k_set;
                figures.learn_seconds = figures.learn_seconds.max(learnt.learn_seconds);
                figures.k_set_seconds = figures.k_set_seconds.max(learnt.k_set_seconds);
                figures.count(&row);
                rows.push(row);
            }
        }
        let (figures, rows): (Vec<_>, Vec<_>) = by_poison.into_iter().unzip();
        Ok(MergedVerdicts(Sweep {
            figures,
            rows: rows.concat(),
            finished: true,
        }))
    }

    /// Writes the merged verdicts to `directory`.
    ///
    /// # Errors
    /// When the directory cannot be written.
    pub fn write(
        self,
        run: &RobustnessSpecification,
        record: &Record,
        inputs: &Inputs,
        directory: &RunDirectory,
    ) -> Result<RobustnessSummary, RobustnessError> {
        directory.write_run(run, record)?;
        write_robustness(run, inputs, directory, self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> RobustnessSpecification {
        RobustnessSpecification::new("a".into(), "b".into(), vec![1, 2])
    }

    #[test]
    fn verdicts_that_cannot_be_read_are_never_written() {
        let folder = Path::new("folder");
        let broken = || RunError::Foreign {
            file: "folder/verdicts-1-of-2.shard".into(),
            problem: "broken".into(),
        };
        let error = MergedVerdicts::merge(&run(), folder, std::iter::once(Err(broken())));
        let said = error.err().unwrap().to_string();
        assert!(said.contains("verdicts-1-of-2.shard"), "{said}");
        // A verdict of no threshold at all.
        let other = InputVerdicts {
            by_poison: Vec::new(),
        };
        let error = MergedVerdicts::merge(&run(), folder, std::iter::once(Ok(other)));
        let said = error.err().unwrap().to_string();
        assert!(
            said.contains("folder") && said.contains("other thresholds"),
            "{said}"
        );
        assert!(MergedVerdicts::merge(&run(), folder, std::iter::empty()).is_ok());
    }
}
