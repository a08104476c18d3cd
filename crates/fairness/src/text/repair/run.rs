//! A whole repair of a text classifier as one call.
//!
//! First the controls, then for each repeat a network for each share. All of them are keyed by (seed, repeat), and so are the
//! draws of samples, where a smaller share is part of a larger one.

use std::ops::ControlFlow;
use std::time::Instant;

use super::choice::{Evidence, choose};
use super::error::TextRepairError;
use super::found::FoundText;
use super::labels::labelled;
use super::measure::Measure;
use super::prepared::PreparedTextRepair;
use super::retrain::{Retraining, Sample, draw};
use super::state::{Done, TextRepairState};
use super::summary::{RepairedText, TextRepairSummary, TextSharePoint};
use crate::audit::AuditError;
use crate::domain::Domain;
use crate::repair::labels::LabelRule;
use crate::repair::options::RepairMethod;
use probity_nn::text::TextNetwork;
use probity_nn::text_train::TrainedText;
use probity_run::run_directory::{RUN, RunDirectory};
use probity_tensor::device::ComputeDevice;

/// Samples that were not drawn, on which the saved network is chosen.
const EVIDENCE: usize = 5000;

/// What a repair is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextRepairProgress {
    /// It searches.
    Search,
    /// It trains: epochs done, of all.
    Train(u64, u64),
}

/// Told what goes on; may stop it.
pub type ObserveRepair<'a> = dyn FnMut(TextRepairProgress) -> ControlFlow<()> + 'a;

/// Repairs the model as `prepared` and saves a repaired network as a model in `directory`. When
/// `observe` stops it, one of the networks that are complete by then is saved. With `resume` what the checkpoint of `directory`
/// holds, if there is one, is taken from there.
///
/// # Errors
/// See [`TextRepairError`].
pub fn repair_texts(
    prepared: &PreparedTextRepair,
    directory: &RunDirectory,
    resume: bool,
    observe: &mut ObserveRepair<'_>,
) -> Result<TextRepairSummary, TextRepairError> {
    let state = match resume {
        true => directory.read_checkpoint(&prepared.options.identity())?,
        false => None,
    };
    let state = state.unwrap_or_default();
    Ok(repair_texts_from(prepared, directory, state, observe)?.0)
}

/// The same from `state`, and the state that it ends with.
///
/// # Errors
/// See [`TextRepairError`].
pub fn repair_texts_from(
    prepared: &PreparedTextRepair,
    directory: &RunDirectory,
    mut state: TextRepairState,
    observe: &mut ObserveRepair<'_>,
) -> Result<(TextRepairSummary, TextRepairState), TextRepairError> {
    let started = Instant::now();
    let options = &prepared.options;
    directory.write_toml(RUN, options)?;
    // From here on the repair can be resumed.
    let identity = options.identity();
    let save = |state: &TextRepairState| directory.write_checkpoint(&identity, state);
    save(&state)?;
    let split = &prepared.split;
    let searching = &mut || observe(TextRepairProgress::Search);
    if prepared.runs.is_empty() && state.samples.is_none() {
        let found = prepared.search(options.strategy, &split.train, "training", searching)?;
        state.samples = Some(found.ok_or(TextRepairError::Stopped)?);
        save(&state)?;
    }
    if state.independent.is_none() {
        let found = prepared.search(options.independent, &split.test, "test", searching)?;
        let found = found.ok_or(TextRepairError::Stopped)?;
        let texts = found.into_iter().map(|text| {
            let [own, _] = text.texts;
            own
        });
        state.independent = Some(texts.collect());
        save(&state)?;
    }
    let bench = Bench::new(prepared, &state)?;
    let before = bench.measure.measure(
        &prepared.model.recurrent,
        prepared.model.table.vectors(),
        (options.training.options.seed, 0),
    )?;
    let finished = bench.train_all(&mut state, &save, observe)?;
    let summary = bench.outcome(&state, before, directory, finished, started)?;
    if finished {
        directory.remove_checkpoint()?;
    }
    Ok((summary, state))
}

/// What all networks of a repair share.
struct Bench<'a> {
    prepared: &'a PreparedTextRepair,
    measure: Measure<'a>,
    retraining: Retraining<'a>,
    /// What may be learnt from: the texts of each run, or of the search.
    samples: Vec<Vec<FoundText>>,
}

impl<'a> Bench<'a> {
    fn new(
        prepared: &'a PreparedTextRepair,
        state: &TextRepairState,
    ) -> Result<Bench<'a>, TextRepairError> {
        let domain = prepared.domain()?;
        let terms = prepared.protected.terms();
        let max_length = prepared.model.max_length;
        let read = |&text: &u32| {
            let text = &prepared.set.labelled().texts[text as usize];
            text[..text.len().min(max_length)].to_vec()
        };
        let test = prepared.split.test.iter().map(read);
        let independent = state.independent.iter().flatten();
        let runs = prepared.runs.iter().map(|run| run.samples.clone());
        Ok(Bench {
            prepared,
            measure: Measure {
                prepared,
                independent: independent.flat_map(|text| domain.row(text)).collect(),
                texts: test.filter(|text| terms.can_vary(text)).collect(),
                domain,
            },
            retraining: Retraining {
                set: &prepared.set,
                split: &prepared.split,
                options: &prepared.options.training.options,
                terms,
                course: prepared.options.course,
            },
            samples: runs.chain(state.samples.clone()).collect(),
        })
    }

    /// Trains what `state` lacks, and saves it after each network; whether it was not stopped.
    fn train_all<E: Into<TextRepairError>>(
        &self,
        state: &mut TextRepairState,
        save: &dyn Fn(&TextRepairState) -> Result<(), E>,
        observe: &mut ObserveRepair<'_>,
    ) -> Result<bool, TextRepairError> {
        let options = &self.prepared.options;
        let shares = options.shares.len() as u64;
        let epochs = u64::from(options.training.options.epochs);
        let all = u64::from(options.repeats) * (1 + shares) * epochs;
        let mut done = (state.controls.len() + state.networks.len()) as u64 * epochs;
        let mut train = |remedy, used: &[&Sample], repeat, evidence: &[i32]| {
            let begun = done;
            let trained = self.train(remedy, used, repeat, evidence, &mut || {
                done += 1;
                observe(TextRepairProgress::Train(done, all))
            });
            // Training may end before its last epoch.
            done = begun + epochs;
            trained
        };
        for repeat in 0..options.repeats {
            if state.controls.iter().any(|done| done.repeat == repeat) {
                continue;
            }
            let Some(control) = train(None, &[], repeat, &[])? else {
                return Ok(false);
            };
            state.controls.push(control);
            save(state).map_err(Into::into)?;
        }
        let voters = self.voters(state)?;
        for repeat in 0..options.repeats {
            let is_done = |share: usize| {
                let networks = state.networks.iter();
                networks
                    .clone()
                    .any(|(of, done)| (*of as usize, done.repeat) == (share, repeat))
            };
            let missing: Vec<usize> = (0..options.shares.len()).filter(|&s| !is_done(s)).collect();
            if missing.is_empty() {
                continue;
            }
            let (drawn, evidence) = self.draw(repeat, &voters)?;
            for share in missing {
                let used = self.part(&drawn, options.shares[share]);
                let Some(network) = train(Some(options.method), &used, repeat, &evidence)? else {
                    return Ok(false);
                };
                state.networks.push((share as u32, network));
                save(state).map_err(Into::into)?;
            }
        }
        Ok(true)
    }

    /// The networks whose votes label samples.
    fn voters(&self, state: &TextRepairState) -> Result<Vec<TextNetwork>, TextRepairError> {
        let prepared = self.prepared;
        if prepared.options.label != LabelRule::Ensemble {
            let width = self.measure.domain.width();
            let own = prepared.model.network(width, &ComputeDevice::flex());
            return Ok(vec![own.map_err(AuditError::from)?]);
        }
        let controls = state.controls.iter();
        let voters = controls.map(|control| self.network(&control.trained));
        voters.collect()
    }

    fn network(&self, trained: &TrainedText) -> Result<TextNetwork, TextRepairError> {
        Ok(self
            .measure
            .network(&trained.weights, self.vectors(trained))?)
    }

    fn vectors<'t>(&'t self, trained: &'t TrainedText) -> &'t [f32] {
        let own = trained.embeddings.as_deref();
        own.unwrap_or(self.prepared.set.table().values)
    }

    /// What the largest share of each run gives in `repeat`, labelled, and some of the rows that it leaves. Nothing is
    /// learnt from, and nothing labelled, in certified training.
    #[allow(clippy::type_complexity)] // used once, and named nowhere else
    fn draw(
        &self,
        repeat: u32,
        voters: &[TextNetwork],
    ) -> Result<(Vec<Vec<Sample>>, Vec<i32>), TextRepairError> {
        let options = &self.prepared.options;
        let domain = &self.measure.domain;
        let largest = options.shares.last().copied().unwrap_or_default();
        let mut drawn = Vec::new();
        let mut left = Vec::new();
        for (number, samples) in (0..).zip(&self.samples) {
            let order = draw(samples.len(), largest, (options.seed, repeat, number));
            let mut is_left = vec![true; samples.len()];
            order.iter().for_each(|&sample| is_left[sample] = false);
            left.extend(samples.iter().zip(is_left).filter(|(_, left)| *left));
            let found: Vec<&FoundText> = match options.method {
                RepairMethod::Samples => order.iter().map(|&sample| &samples[sample]).collect(),
                RepairMethod::Certified => Vec::new(),
            };
            drawn.push(labelled(options.label, voters, domain, &found)?);
        }
        let rows = left.iter().take(EVIDENCE);
        let rows = rows.flat_map(|(sample, _)| domain.row(&sample.texts[0]));
        Ok((drawn, rows.collect()))
    }

    /// The share `share` of each run among those `drawn` for the largest.
    fn part<'d>(&self, drawn: &'d [Vec<Sample>], share: f64) -> Vec<&'d Sample> {
        let runs = self.samples.iter().zip(drawn);
        runs.flat_map(|(samples, drawn)| {
            drawn
                .iter()
                .take(super::retrain::count(samples.len(), share))
        })
        .collect()
    }

    /// A complete network, measured; `None` when it was stopped.
    fn train(
        &self,
        remedy: Option<RepairMethod>,
        used: &[&Sample],
        repeat: u32,
        evidence: &[i32],
        observe: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<Option<Done>, TextRepairError> {
        let seed = self.prepared.options.seed + 1 + u64::from(repeat);
        let trained = self.retraining.train(remedy, used, seed, observe)?;
        if !trained.finished {
            return Ok(None);
        }
        let vectors = self.vectors(&trained);
        let of = (seed, used.len());
        let figures = self.measure.measure(&trained.weights, vectors, of)?;
        let evidence = match evidence.is_empty() {
            true => 0.0,
            false => self.measure.fair(&self.network(&trained)?, evidence)?.share,
        };
        Ok(Some(Done {
            repeat,
            trained,
            figures,
            evidence,
        }))
    }

    /// Saves the network that is chosen, and the summary.
    fn outcome(
        &self,
        state: &TextRepairState,
        before: RepairedText,
        directory: &RunDirectory,
        finished: bool,
        started: Instant,
    ) -> Result<TextRepairSummary, TextRepairError> {
        let prepared = self.prepared;
        let options = &prepared.options;
        let shares: Vec<Vec<&Done>> = (0..options.shares.len())
            .map(|share| {
                let networks = state.networks.iter();
                networks
                    .filter(|(of, _)| *of as usize == share)
                    .map(|(_, done)| done)
                    .collect()
            })
            .collect();
        let evidence: Vec<Vec<Evidence>> = shares
            .iter()
            .map(|networks| {
                networks
                    .iter()
                    .map(|network| evidence_of(network))
                    .collect()
            })
            .collect();
        let least = before.validation_accuracy - options.max_accuracy_loss;
        let (share, chosen) = choose(&evidence, least).ok_or(TextRepairError::Stopped)?;
        let kept = shares[share][chosen];
        let length = prepared.model.max_length;
        let saved = prepared
            .set
            .model(&kept.trained, &prepared.split.train, length)?;
        saved.save(directory.path()).map_err(AuditError::from)?;
        let figures = |networks: &[&Done]| -> Vec<RepairedText> {
            networks
                .iter()
                .map(|network| network.figures.clone())
                .collect()
        };
        let learns = options.method == RepairMethod::Samples;
        let summary = TextRepairSummary {
            schema_version: 1,
            command: options.command.clone(),
            probity_version: env!("CARGO_PKG_VERSION").to_owned(),
            method: options.method,
            protected: options.protected.clone(),
            model_sha256: options.model_sha256.clone(),
            repaired_sha256: saved.sha256().map_err(AuditError::from)?,
            finished,
            runs: prepared.runs(),
            found: self
                .samples
                .iter()
                .map(|samples| samples.len() as u64)
                .sum(),
            independent: state.independent.as_ref().map_or(0, |set| set.len() as u64),
            test_texts: self.measure.texts.len() as u64,
            before,
            control: figures(&state.controls.iter().collect::<Vec<_>>()),
            points: options
                .shares
                .iter()
                .zip(&shares)
                .filter(|(_, networks)| learns && !networks.is_empty())
                .map(|(&share, networks)| TextSharePoint {
                    share,
                    networks: figures(networks),
                })
                .collect(),
            share: learns.then_some(options.shares[share]),
            repaired: figures(&shares[share]),
            chosen,
            within: kept.figures.validation_accuracy >= least,
            seconds: started.elapsed().as_secs_f64(),
        };
        directory.write_summary(&summary)?;
        Ok(summary)
    }
}

fn evidence_of(network: &Done) -> Evidence {
    Evidence {
        fair: network.evidence,
        accuracy: network.figures.validation_accuracy,
    }
}
