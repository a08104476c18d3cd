//! Training and measuring the networks of a repair.
//!
//! Networks are trained on the chosen device, several at a time. Labels, choices and figures come from the reference device, like the
//! estimates of an audit.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::book::{Book, Trained};
use super::choice::Evidence;
use super::error::RepairError;
use super::figures::ModelFigures;
use super::labels::{LabelRule, majority};
use super::lesson::{Drawn, Mixture, RepairRows, mix};
use super::options::RepairMethod;
use super::pool::Sample;
use super::run::{Observe, PreparedRepair, RepairProgress};
use probity_nn::fnn::{Fnn, Network};
use probity_nn::metrics::Metrics;
use probity_nn::text_train::Course;
use probity_nn::train::{
    EpochReport, Lesson, TrainCheckpoint, parallel_logits, train_lesson, train_lesson_certified,
};
use probity_nn::worst_case::TableWorstCase;
use probity_nn::{Classifier, predicted_class};
use probity_run::stream::{Purpose, Words};
use probity_tensor::device::ComputeDevice;

/// First weights that a network may be given. Narrow networks sometimes learn nothing but the most frequent class; such a network
/// treats all alike, which is no repair.
const MAX_ATTEMPTS: u32 = 5;

/// Trains and measures networks.
pub(super) struct Workshop<'a> {
    prepared: &'a PreparedRepair,
    device: &'a ComputeDevice,
    judge: ComputeDevice,
    book: &'a Book<'a>,
    epochs: AtomicU64,
    all_epochs: u64,
    observe: &'a Observe<'a>,
}

impl<'a> Workshop<'a> {
    /// A workshop that trains the networks that `book` lacks on `device`.
    pub fn new(
        prepared: &'a PreparedRepair,
        device: &'a ComputeDevice,
        book: &'a Book<'a>,
        observe: &'a Observe<'a>,
    ) -> Workshop<'a> {
        let run = &prepared.run;
        let networks = u64::from(run.repeats) * (1 + run.shares.len() as u64);
        let epochs = u64::from(run.training.epochs);
        Workshop {
            prepared,
            device,
            judge: ComputeDevice::flex(),
            book,
            epochs: AtomicU64::new(book.len() as u64 * epochs),
            all_epochs: networks * epochs,
            observe,
        }
    }

    /// `network`, ready to be asked on the reference device.
    pub fn ask(&self, network: &Network) -> Fnn {
        Fnn::new(network, &self.judge)
    }

    /// A network for each (position of the share, repeat), several trained at a time; without a share it is a control. Those
    /// that were stopped are left out.
    pub fn train_all(
        &self,
        jobs: Vec<(Option<u32>, u32)>,
        voters: &[Fnn],
    ) -> Result<Vec<Trained>, RepairError> {
        let run = &self.prepared.run;
        let trained: Vec<Option<Trained>> = jobs
            .into_par_iter()
            .map(|(share, repeat)| {
                let model = &self.prepared.basis.model.network;
                if let Some(kept) = self.book.find((share, repeat), model) {
                    return Ok(Some(kept));
                }
                let drawn = match share {
                    Some(place) if run.method == RepairMethod::Samples => {
                        self.draw(run.shares[place as usize], repeat, voters)?
                    }
                    _ => Vec::new(),
                };
                let trained = self.train(&drawn, share, repeat)?;
                if let Some(trained) = &trained {
                    self.book.add(trained)?;
                }
                Ok::<_, RepairError>(trained)
            })
            .collect::<Result<_, _>>()?;
        Ok(trained.into_iter().flatten().collect())
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
        share: Option<u32>,
        repeat: u32,
    ) -> Result<Option<Trained>, RepairError> {
        let (run, basis) = (&self.prepared.run, &self.prepared.basis);
        let is_control = share.is_none();
        let mixture = Mixture {
            weight: run.weight,
            counterfactuals: if is_control { 0 } else { run.counterfactuals },
        };
        let joint = &self.prepared.joint;
        let rows = mix(basis, drawn, joint, mixture, run.seed, repeat);
        let Some((network, seed, attempts)) = self.train_until_useful(&rows, repeat, is_control)?
        else {
            return Ok(None);
        };
        let fnn = Fnn::new(&network, &self.judge);
        Ok(Some(Trained {
            evidence: self.evidence(&fnn)?,
            figures: self.figures(&fnn)?,
            network,
            share,
            repeat,
            seed,
            attempts,
            samples: drawn.iter().map(|drawn| drawn.samples.len() as u64).sum(),
            variants: rows.variants,
        }))
    }

    /// A network that learnt `rows`, the seed it began with, and how many were trained; `None` when stopped.
    fn train_until_useful(
        &self,
        rows: &RepairRows,
        repeat: u32,
        is_control: bool,
    ) -> Result<Option<(Network, u64, u32)>, RepairError> {
        let (run, basis) = (&self.prepared.run, &self.prepared.basis);
        let mut attempts = 0;
        loop {
            let words = Words::new(run.seed, Purpose::RepairNetwork, &[attempts.into()]);
            let seed = words.word(repeat.into());
            attempts += 1;
            let lesson = Lesson {
                table: &rows.table,
                split: rows.split.clone(),
                row_weights: Some(&rows.weights),
                network: basis.first_network(run.start, seed),
            };
            let Some(network) = self.learn(lesson, seed, is_control)? else {
                return Ok(None);
            };
            if attempts == MAX_ATTEMPTS || !self.has_collapsed(&network)? {
                return Ok(Some((network, seed, attempts)));
            }
        }
    }

    /// Trains on `lesson`; `None` when stopped.
    fn learn(
        &self,
        lesson: Lesson<'_>,
        seed: u64,
        is_control: bool,
    ) -> Result<Option<Network>, RepairError> {
        let mut options = self.prepared.run.training.clone();
        options.seed = seed;
        let mut observe = |_: &EpochReport, _: &dyn Fn() -> TrainCheckpoint| {
            let epochs = self.epochs.fetch_add(1, Ordering::Relaxed) + 1;
            (self.observe)(RepairProgress {
                // Networks that collapse are trained again.
                epochs: epochs.min(self.all_epochs),
                all: self.all_epochs,
            })
        };
        let trained = if self.prepared.run.method == RepairMethod::Certified && !is_control {
            let worst_case = TableWorstCase {
                protected: self.prepared.joint.protected().to_vec(),
                course: Course::default(),
            };
            train_lesson_certified(lesson, &options, &worst_case, self.device, &mut observe)?
        } else {
            train_lesson(lesson, &options, self.device, None, &mut observe)?
        };
        Ok(trained.finished.then_some(trained.network))
    }

    /// Whether a network gives all training rows one class, though they have several.
    fn has_collapsed(&self, network: &Network) -> Result<bool, RepairError> {
        let basis = &self.prepared.basis;
        let part = basis.table.select(&basis.split.train);
        let fnn = Fnn::new(network, &self.judge);
        let logits = parallel_logits(&fnn, &part)?;
        let mut classes = logits.chunks_exact(fnn.classes()).map(predicted_class);
        let first = classes.next();
        Ok(classes.all(|class| Some(class) == first))
    }

    /// What the choice sees of a network.
    pub fn evidence(&self, fnn: &Fnn) -> Result<Evidence, RepairError> {
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
    pub fn figures(&self, fnn: &Fnn) -> Result<ModelFigures, RepairError> {
        let (run, basis) = (&self.prepared.run, &self.prepared.basis);
        let held_out = basis.table.select(&basis.split.test);
        let seed = Words::new(run.seed, Purpose::RepairChoice, &[]).word(1);
        self.prepared
            .measured
            .figures(fnn, &held_out, run.estimate, seed)
    }
}
