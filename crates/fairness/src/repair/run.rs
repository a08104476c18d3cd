//! A whole repair: networks trained, measured, one chosen and saved.
//!
//! For every share and repeat a network learns the training rows and all protected variants of the samples drawn, each sample
//! with one label. The same number of *control* networks learn the training rows alone, from the same first weights: what they
//! gain or lose is not owed to the samples. Draws and first weights are keyed by (seed, repeat). A network that gives all training rows
//! one class is trained again from other first weights.
//!
//! Every network that is complete is kept in the checkpoint of the directory with what was measured of it. A repair that goes
//! on trains the others, and ends with the model of an unbroken one.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use super::basis::Basis;
use super::book::{Book, Trained};
use super::choice::{Evidence, choose};
use super::error::RepairError;
use super::figures::Measured;
use super::labels::LabelRule;
use super::options::RepairRun;
use super::outcome::Outcome;
use super::pool::FoundRun;
use super::summary::RepairSummary;
use super::workshop::Workshop;
use crate::domain::TabularDomain;
use probity_nn::fnn::Fnn;
use probity_run::run_directory::{RUN, RunDirectory};
use probity_tensor::device::ComputeDevice;

/// How far a repair is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RepairProgress {
    /// Epochs trained, of all networks.
    pub epochs: u64,
    /// Epochs at most.
    pub all: u64,
}

/// Told of every epoch, by any thread; may stop the repair.
pub type Observe<'a> = dyn Fn(RepairProgress) -> ControlFlow<()> + Sync + 'a;

/// A repair whose inputs are loaded and checked; nothing is written yet.
pub struct PreparedRepair {
    pub(super) run: RepairRun,
    pub(super) basis: Basis,
    pub(super) found: Vec<FoundRun>,
    pub(super) measured: Measured,
    pub(super) joint: TabularDomain,
}

impl PreparedRepair {
    /// Reads the runs of `run` and checks that they, the options and `basis` fit each other.
    ///
    /// # Errors
    /// See [`RepairError`].
    pub fn new(run: RepairRun, basis: Basis) -> Result<PreparedRepair, RepairError> {
        run.check()?;
        run.groups.groups(&basis.model.schema)?;
        run.training.check(basis.model.network.classes())?;
        let expect = |what: &Path, now: String, then: &String| match now == *then {
            true => Ok(()),
            false => Err(RepairError::Changed {
                what: what.display().to_string(),
                now,
                then: then.clone(),
            }),
        };
        expect(&run.model, basis.model.sha256(), &run.model_sha256)?;
        expect(&run.data, basis.data_sha256.clone(), &run.data_sha256)?;
        if basis.split.test.is_empty() {
            return Err(RepairError::NothingHeldOut {
                part: "test",
                purpose: "measure accuracy on",
            });
        }
        if run.is_sweep() && basis.split.validation.is_empty() {
            return Err(RepairError::NothingHeldOut {
                part: "validation",
                purpose: "choose a share by",
            });
        }
        let found = run
            .runs
            .iter()
            .map(|directory| FoundRun::read(directory, &run.model, &run.data, &basis))
            .collect::<Result<Vec<_>, _>>()?;
        if run.label == LabelRule::Seed {
            let lacks_truth =
                |found: &&FoundRun| found.samples.iter().any(|sample| sample.truth.is_none());
            if let Some(found) = found.iter().find(lacks_truth) {
                return Err(RepairError::NoTruth {
                    run: found.directory.clone(),
                });
            }
        }
        let (measured, joint) = measured(&basis, &found)?;
        Ok(PreparedRepair {
            run,
            basis,
            found,
            measured,
            joint,
        })
    }

    /// The options, resolved.
    pub fn options(&self) -> &RepairRun {
        &self.run
    }

    /// The runs whose samples are learnt from.
    pub fn found(&self) -> &[FoundRun] {
        &self.found
    }
}

/// The distinct protected sets of the runs, and the union of all, last.
fn measured(basis: &Basis, found: &[FoundRun]) -> Result<(Measured, TabularDomain), RepairError> {
    let schema = &basis.model.schema;
    let mut sets: Vec<Vec<usize>> = Vec::new();
    let mut union: Vec<usize> = Vec::new();
    for run in found {
        let mut set = run.domain.protected().to_vec();
        union.extend(&set);
        set.sort_unstable();
        if !sets.contains(&set) {
            sets.push(set);
        }
    }
    union.sort_unstable();
    union.dedup();
    sets.retain(|set| *set != union);
    sets.push(union);
    let layout = &basis.model.network.layout;
    let domains = sets
        .iter()
        .map(|set| TabularDomain::new(schema, layout, set))
        .collect::<Result<Vec<_>, _>>()?;
    let name = |&attribute: &usize| schema.attributes[attribute].name.clone();
    let names = sets
        .iter()
        .map(|set| set.iter().map(name).collect())
        .collect();
    let joint = domains[domains.len() - 1].clone();
    Ok((Measured { names, domains }, joint))
}

/// Repairs the model as `prepared` and saves the chosen network as a model in `directory`. If `observe` stops it, one of the
/// networks that are complete by then is saved, if there is any. With `resume` the networks in the checkpoint of `directory`, if
/// there is one, are taken from there.
///
/// # Errors
/// See [`RepairError`].
pub fn repair(
    prepared: &PreparedRepair,
    directory: &RunDirectory,
    device: &ComputeDevice,
    resume: bool,
    observe: &Observe<'_>,
) -> Result<RepairSummary, RepairError> {
    let started = Instant::now();
    let run = &prepared.run;
    let book = match resume {
        true => Book::resume(directory, run.identity())?,
        false => Book::new(directory, run.identity()),
    };
    directory.write_toml(RUN, run)?;
    // From here on the repair can be resumed.
    book.write()?;
    let workshop = Workshop::new(prepared, device, &book, observe);
    let own = workshop.ask(&prepared.basis.model.network);
    let before = workshop.figures(&own)?;
    let evidence_before = workshop.evidence(&own)?;
    let repeats = 0..run.repeats;
    let all = run.repeats as usize;
    let controls =
        workshop.train_all(repeats.clone().map(|repeat| (None, repeat)).collect(), &[])?;
    let voters: Vec<Fnn> = match run.label {
        LabelRule::Ensemble => controls
            .iter()
            .map(|control| workshop.ask(&control.network))
            .collect(),
        _ => vec![own],
    };
    let mut shares: Vec<Vec<Trained>> = vec![Vec::new(); run.shares.len()];
    // Without all of its voters an ensemble would give other labels.
    if controls.len() == all {
        let places = 0..run.shares.len() as u32;
        let jobs =
            places.flat_map(|share| repeats.clone().map(move |repeat| (Some(share), repeat)));
        for network in workshop.train_all(jobs.collect(), &voters)? {
            shares[network.share.unwrap_or_default() as usize].push(network);
        }
    }
    let is_whole = |networks: &Vec<Trained>| networks.len() == all;
    let finished = is_whole(&controls) && shares.iter().all(is_whole);
    let evidence: Vec<Vec<Evidence>> = shares
        .iter()
        .map(|networks| networks.iter().map(|network| network.evidence).collect())
        .collect();
    let choice = choose(&evidence, evidence_before, run.max_accuracy_loss)
        .ok_or(RepairError::Interrupted)?;
    let outcome = Outcome {
        prepared,
        before,
        controls,
        shares,
        choice,
    };
    let summary = outcome.save(directory, &workshop, finished, started)?;
    if finished {
        directory.remove_checkpoint()?;
    }
    Ok(summary)
}
