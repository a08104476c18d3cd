//! A whole repair: networks trained, measured, one chosen and saved.
//!
//! For every share and repeat a network learns the training rows and all protected variants of the samples drawn, each sample
//! with one label. The same number of *control* networks learn the training rows alone, from the same first weights: what they
//! gain or lose is not owed to the samples. Draws and first weights are keyed by (seed, repeat).

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use rayon::prelude::*;

use super::basis::Basis;
use super::choice::{Choice, Evidence, choose};
use super::error::RepairError;
use super::figures::{Measured, ModelFigures, changes};
use super::labels::{LabelRule, majority};
use super::lesson::{Drawn, Mixture, RepairRows, mix};
use super::options::RepairRun;
use super::plot::trade_off;
use super::pool::{FoundRun, Sample};
use super::summary::{Chosen, NetworkFigures, PartSizes, RepairSummary, RunSummary, SharePoint};
use crate::device::ComputeDevice;
use crate::fairness::domain::TabularDomain;
use crate::fairness::group::{GroupReport, measure_groups};
use crate::nn::Classifier;
use crate::nn::fnn::{Fnn, Network};
use crate::nn::metrics::Metrics;
use crate::nn::model::Model;
use crate::nn::train::{Lesson, parallel_logits, train_lesson};
use crate::report::run_directory::{RUN, RunDirectory, SUMMARY, write_atomically};
use crate::stream::{Purpose, Words};

/// Name of the plot of a sweep in the run directory.
pub const TRADE_OFF: &str = "trade-off.svg";

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
    run: RepairRun,
    basis: Basis,
    found: Vec<FoundRun>,
    measured: Measured,
    joint: TabularDomain,
}

/// A trained network with what is known of it.
struct Trained {
    network: Network,
    repeat: u32,
    seed: u64,
    evidence: Evidence,
    figures: ModelFigures,
    rows: RowCounts,
}

/// What a network learnt beside the data.
#[derive(Debug, Clone, Copy)]
struct RowCounts {
    samples: u64,
    variants: u64,
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
/// networks that are complete by then is saved, if there is any.
///
/// # Errors
/// See [`RepairError`].
pub fn repair(
    prepared: &PreparedRepair,
    directory: &RunDirectory,
    device: &ComputeDevice,
    observe: &Observe<'_>,
) -> Result<RepairSummary, RepairError> {
    let started = Instant::now();
    let run = &prepared.run;
    directory.write_toml(RUN, run)?;
    let networks = u64::from(run.repeats) * (1 + run.shares.len() as u64);
    let workshop = Workshop {
        prepared,
        device,
        epochs: AtomicU64::new(0),
        all_epochs: networks * u64::from(run.training.epochs),
        observe,
    };
    let own = Fnn::new(&prepared.basis.model.network, device);
    let before = workshop.figures(&own)?;
    let evidence_before = workshop.evidence(&own)?;
    let repeats = 0..run.repeats;
    let controls: Vec<Trained> = workshop
        .train_all(repeats.clone().map(|repeat| (None, repeat)).collect(), &[])?
        .into_iter()
        .flatten()
        .collect();
    let voters: Vec<Fnn> = match run.label {
        LabelRule::Ensemble => controls
            .iter()
            .map(|c| Fnn::new(&c.network, device))
            .collect(),
        _ => vec![own],
    };
    let jobs = run
        .shares
        .iter()
        .flat_map(|&share| repeats.clone().map(move |repeat| (Some(share), repeat)));
    let mut repaired = workshop.train_all(jobs.collect(), &voters)?.into_iter();
    let shares: Vec<Vec<Trained>> = run
        .shares
        .iter()
        .map(|_| {
            repaired
                .by_ref()
                .take(run.repeats as usize)
                .flatten()
                .collect()
        })
        .collect();
    let finished = controls.len() == run.repeats as usize
        && shares
            .iter()
            .all(|networks| networks.len() == run.repeats as usize);
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
    outcome.save(directory, device, finished, started)
}

/// Trains and measures networks.
struct Workshop<'a> {
    prepared: &'a PreparedRepair,
    device: &'a ComputeDevice,
    epochs: AtomicU64,
    all_epochs: u64,
    observe: &'a Observe<'a>,
}

impl Workshop<'_> {
    /// Trains a network for each (share, repeat), several at a time; without a share it is a control. `None` stands for one that
    /// was stopped.
    fn train_all(
        &self,
        jobs: Vec<(Option<f64>, u32)>,
        voters: &[Fnn],
    ) -> Result<Vec<Option<Trained>>, RepairError> {
        jobs.into_par_iter()
            .map(|(share, repeat)| {
                let drawn = match share {
                    Some(share) => self.draw(share, repeat, voters)?,
                    None => Vec::new(),
                };
                self.train(&drawn, share.is_none(), repeat)
            })
            .collect()
    }

    /// The samples of each run that (`share`, `repeat`) give, labelled.
    fn draw(&self, share: f64, repeat: u32, voters: &[Fnn]) -> Result<Vec<Drawn<'_>>, RepairError> {
        let run = &self.prepared.run;
        let voters: Vec<&dyn Classifier> =
            voters.iter().map(|fnn| fnn as &dyn Classifier).collect();
        (0..)
            .zip(&self.prepared.found)
            .map(|(number, found)| {
                let samples: Vec<&Sample> = found
                    .draw(share, run.seed, number, repeat)
                    .into_iter()
                    .map(|sample| &found.samples[sample as usize])
                    .collect();
                let labels = match run.label {
                    // Every sample has one: see `PreparedRepair::new`.
                    LabelRule::Seed => samples.iter().filter_map(|sample| sample.truth).collect(),
                    _ => majority(&voters, &found.domain, &samples)?,
                };
                Ok(Drawn {
                    run: found,
                    samples,
                    labels,
                })
            })
            .collect()
    }

    fn train(
        &self,
        drawn: &[Drawn<'_>],
        is_control: bool,
        repeat: u32,
    ) -> Result<Option<Trained>, RepairError> {
        let (run, basis) = (&self.prepared.run, &self.prepared.basis);
        let mixture = Mixture {
            weight: run.weight,
            counterfactuals: if is_control { 0 } else { run.counterfactuals },
        };
        let RepairRows {
            table,
            split,
            weights,
            variants,
        } = mix(
            basis,
            drawn,
            &self.prepared.joint,
            mixture,
            run.seed,
            repeat,
        );
        let seed = Words::new(run.seed, Purpose::RepairNetwork, &[]).word(repeat.into());
        let mut options = run.training.clone();
        options.seed = seed;
        let lesson = Lesson {
            table: &table,
            split,
            row_weights: Some(&weights),
            network: basis.first_network(run.start, seed),
        };
        let trained = train_lesson(lesson, &options, self.device, None, &mut |_, _| {
            let epochs = self.epochs.fetch_add(1, Ordering::Relaxed) + 1;
            (self.observe)(RepairProgress {
                epochs,
                all: self.all_epochs,
            })
        })?;
        if !trained.finished {
            return Ok(None);
        }
        let fnn = Fnn::new(&trained.network, self.device);
        Ok(Some(Trained {
            evidence: self.evidence(&fnn)?,
            figures: self.figures(&fnn)?,
            network: trained.network,
            repeat,
            seed,
            rows: RowCounts {
                samples: drawn.iter().map(|drawn| drawn.samples.len() as u64).sum(),
                variants,
            },
        }))
    }

    /// What the choice sees of a network.
    fn evidence(&self, fnn: &Fnn) -> Result<Evidence, RepairError> {
        let (run, basis) = (&self.prepared.run, &self.prepared.basis);
        let seed = Words::new(run.seed, Purpose::RepairChoice, &[]).word(0);
        let estimates = self
            .prepared
            .measured
            .discrimination(fnn, run.estimate, seed)?;
        let validation = &basis.split.validation;
        let validation_accuracy = if validation.is_empty() {
            None
        } else {
            let part = basis.table.select(validation);
            let logits = parallel_logits(fnn, &part)?;
            Some(Metrics::new(&logits, fnn.classes(), part.labels()).accuracy)
        };
        Ok(Evidence {
            discriminatory: estimates.last().map_or(0.0, |joint| joint.rate),
            validation_accuracy,
        })
    }

    /// What is reported of a network.
    fn figures(&self, fnn: &Fnn) -> Result<ModelFigures, RepairError> {
        let (run, basis) = (&self.prepared.run, &self.prepared.basis);
        let held_out = basis.table.select(&basis.split.test);
        let seed = Words::new(run.seed, Purpose::RepairChoice, &[]).word(1);
        self.prepared
            .measured
            .figures(fnn, &held_out, run.estimate, seed)
    }
}

/// All networks, and the one that is kept.
struct Outcome<'a> {
    prepared: &'a PreparedRepair,
    before: ModelFigures,
    controls: Vec<Trained>,
    shares: Vec<Vec<Trained>>,
    choice: Choice,
}

impl Outcome<'_> {
    fn save(
        self,
        directory: &RunDirectory,
        device: &ComputeDevice,
        finished: bool,
        started: Instant,
    ) -> Result<RepairSummary, RepairError> {
        let (run, basis) = (&self.prepared.run, &self.prepared.basis);
        let kept = &self.shares[self.choice.share][self.choice.network];
        let model = Model {
            schema: basis.model.schema.clone(),
            network: kept.network.clone(),
        };
        model.save(directory.path())?;
        let held_out = basis.table.select(&basis.split.test);
        let groups = |network: &Network| -> Result<GroupReport, RepairError> {
            let fnn = Fnn::new(network, device);
            Ok(measure_groups(
                &fnn,
                &basis.model.schema,
                &held_out,
                &run.groups,
            )?)
        };
        let accuracy_loss = self.before.held_out.accuracy - kept.figures.held_out.accuracy;
        let summary = RepairSummary {
            schema_version: 1,
            command: run.command.clone(),
            probity_version: env!("CARGO_PKG_VERSION").to_owned(),
            finished,
            method: run.method,
            seed: run.seed,
            device: run.device,
            model_sha256: run.model_sha256.clone(),
            data_sha256: run.data_sha256.clone(),
            repaired_sha256: model.sha256(),
            origin: basis.origin,
            data: basis.table.counts.clone(),
            parts: PartSizes {
                train: basis.split.train.len(),
                validation: basis.split.validation.len(),
                test: basis.split.test.len(),
            },
            runs: self.prepared.found.iter().map(RunSummary::of).collect(),
            seconds: started.elapsed().as_secs_f64(),
            chosen: Chosen {
                share: run.shares[self.choice.share],
                repeat: kept.repeat + 1,
                accuracy_loss,
                within: accuracy_loss <= run.max_accuracy_loss,
                figures: kept.figures.clone(),
            },
            groups_before: groups(&basis.model.network)?,
            groups_after: groups(&kept.network)?,
            points: self.points(),
            control: self.controls.iter().map(network_figures).collect(),
            before: self.before,
        };
        if run.is_sweep() {
            write_atomically(&directory.file(TRADE_OFF), trade_off(&summary).as_bytes())?;
        }
        directory.write_json(SUMMARY, &summary)?;
        Ok(summary)
    }

    /// What each share gave.
    fn points(&self) -> Vec<SharePoint> {
        let figures = |networks: &[Trained]| -> Vec<ModelFigures> {
            networks
                .iter()
                .map(|network| network.figures.clone())
                .collect()
        };
        let controls = figures(&self.controls);
        let shares = self.prepared.run.shares.iter().zip(&self.shares);
        shares
            .filter_map(|(&share, networks)| {
                let rows = networks.first()?.rows;
                let after = figures(networks);
                Some(SharePoint {
                    share,
                    samples: rows.samples,
                    variants: rows.variants,
                    changes: changes(
                        &self.before,
                        &controls.iter().collect::<Vec<_>>(),
                        &after.iter().collect::<Vec<_>>(),
                    ),
                    networks: networks.iter().map(network_figures).collect(),
                })
            })
            .collect()
    }
}

fn network_figures(trained: &Trained) -> NetworkFigures {
    NetworkFigures {
        repeat: trained.repeat + 1,
        seed: trained.seed,
        choice: trained.evidence,
        figures: trained.figures.clone(),
    }
}
