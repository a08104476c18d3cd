//! Training and measuring the networks of a repair.
//!
//! Several networks are trained at a time. Labels, choices and figures come from the reference
//! device, like the estimates of an audit.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::choice::Evidence;
use super::error::RepairError;
use super::labels::LabelRule;
use super::pool::draw;
use super::repairable::{Drawn, DrawnBy, Remedy, Repairable, TrainingSet};
use super::specification::{RepairMethod, RepairSpecification};
use super::store::{CheckpointStore, Known, Trained};
use probity_run::stream::{Purpose, Words};

/// The present work of a repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepairProgress {
    /// The repair searches.
    Search,
    /// The repair trains.
    Train {
        /// Number of epochs trained, of all networks.
        epochs: u64,
        /// Largest number of epochs.
        all: u64,
    },
}

/// A function that is told of the progress, by any thread; may stop the repair.
pub type Observe<'a> = dyn Fn(RepairProgress) -> ControlFlow<()> + Sync + 'a;

/// Largest number of first weights that a network may be given. Narrow networks sometimes learn
/// nothing but the most frequent class; such a network treats all alike, which is no repair.
const MAX_ATTEMPTS: u32 = 5;

/// Largest number of samples that were not drawn, by which texts are chosen.
const MAX_LEFT: usize = 5000;

/// Trains and measures networks.
pub(super) struct Trainer<'a, R: Repairable> {
    subject: &'a R,
    specification: &'a RepairSpecification,
    shares: Vec<f64>,
    store: &'a CheckpointStore<'a, R>,
    searched: R::Searched,
    epochs: AtomicU64,
    all_epochs: u64,
    observe: &'a Observe<'a>,
}

impl<'a, R: Repairable> Trainer<'a, R> {
    /// A trainer of the networks that `store` lacks; its searches are over.
    pub fn new(
        subject: &'a R,
        specification: &'a RepairSpecification,
        store: &'a CheckpointStore<'a, R>,
        observe: &'a Observe<'a>,
    ) -> Trainer<'a, R> {
        let shares = specification.shares();
        let networks = u64::from(specification.repeats) * (1 + shares.len() as u64);
        let epochs = u64::from(subject.epochs());
        Trainer {
            subject,
            specification,
            shares,
            searched: store.searched(),
            epochs: AtomicU64::new(store.len() as u64 * epochs),
            all_epochs: networks * epochs,
            store,
            observe,
        }
    }

    /// The results of the searches.
    pub fn searched(&self) -> &R::Searched {
        &self.searched
    }

    /// The samples of each pool.
    fn pools(&self) -> Vec<&[R::Sample]> {
        let runs = self.subject.pools().iter();
        runs.map(|pool| pool.samples.as_slice())
            .chain(self.subject.searched_pool(&self.searched))
            .collect()
    }

    /// A network for each (position of the share, repeat), several trained at a time; without a
    /// share it is a control. Those that were stopped are left out.
    pub fn train_all(
        &self,
        jobs: Vec<(Option<u32>, u32)>,
        voters: &[R::Asked],
    ) -> Result<Vec<Trained<R>>, RepairError> {
        let trained: Vec<Option<Trained<R>>> = jobs
            .into_par_iter()
            .map(|(share, repeat)| {
                if let Some(kept) = self.store.find(self.subject, share, repeat) {
                    return Ok(Some(kept));
                }
                let trained = self.train(share, repeat, voters)?;
                if let Some(trained) = &trained {
                    self.store.add(self.subject, trained)?;
                }
                Ok::<_, RepairError>(trained)
            })
            .collect::<Result<_, _>>()?;
        Ok(trained.into_iter().flatten().collect())
    }

    /// A complete network, measured; `None` when it was stopped.
    fn train(
        &self,
        share: Option<u32>,
        repeat: u32,
        voters: &[R::Asked],
    ) -> Result<Option<Trained<R>>, RepairError> {
        let remedy = match (share, self.specification.method()) {
            (None, _) => Remedy::None,
            (Some(_), RepairMethod::Certified) => Remedy::Certified,
            (Some(place), RepairMethod::Samples) => {
                Remedy::Samples(self.draw(self.shares[place as usize], repeat, voters)?)
            }
        };
        let set = self.subject.training_set(&remedy, repeat)?;
        let Some((network, seed, attempts)) = self.train_until_useful(&set, repeat)? else {
            return Ok(None);
        };
        let asked = self.subject.ask(&network)?;
        let samples = match &remedy {
            Remedy::Samples(drawn) => drawn.iter().map(|drawn| drawn.samples.len() as u64).sum(),
            Remedy::None | Remedy::Certified => 0,
        };
        let known = Known {
            share,
            repeat,
            seed,
            attempts,
            evidence: self.evidence(&asked, repeat)?,
            figures: self.subject.figures(&network, &asked, &self.searched)?,
            samples,
            variants: set.variants,
        };
        Ok(Some(Trained { network, known }))
    }

    /// The samples of each pool that (`share`, `repeat`) give, labelled.
    fn draw(
        &self,
        share: f64,
        repeat: u32,
        voters: &[R::Asked],
    ) -> Result<Vec<DrawnBy<'_, R>>, RepairError> {
        let seed = self.specification.seed;
        (0..)
            .zip(self.pools())
            .map(|(pool, found)| {
                let order = draw(found.len(), share, seed, pool, repeat).into_iter();
                let samples: Vec<&R::Sample> = order.map(|i| &found[i as usize]).collect();
                let pool = pool as usize;
                let labels = self.subject.labels(pool, &samples, voters)?;
                Ok(Drawn {
                    pool,
                    samples,
                    labels,
                })
            })
            .collect()
    }

    /// Samples that no network of `repeat` learns, whatever its share.
    fn left(&self, repeat: u32) -> Vec<&R::Sample> {
        let largest = self.shares.last().copied().unwrap_or_default();
        let seed = self.specification.seed;
        let mut left = Vec::new();
        for (pool, found) in (0..).zip(self.pools()) {
            let mut is_left = vec![true; found.len()];
            for drawn in draw(found.len(), largest, seed, pool, repeat) {
                is_left[drawn as usize] = false;
            }
            left.extend(found.iter().zip(is_left).filter(|(_, left)| *left));
        }
        left.into_iter()
            .take(MAX_LEFT)
            .map(|(sample, _)| sample)
            .collect()
    }

    /// A network that learnt `set`, the seed it began with, and how many were trained; `None` when
    /// stopped.
    fn train_until_useful(
        &self,
        set: &TrainingSet<R::Inputs>,
        repeat: u32,
    ) -> Result<Option<(R::Network, u64, u32)>, RepairError> {
        let mut attempts = 0;
        loop {
            let key = [u64::from(attempts)];
            let words = Words::new(self.specification.seed, Purpose::RepairNetwork, &key);
            let seed = words.word(repeat.into());
            attempts += 1;
            let trained = self.subject.train(set, seed, &mut || {
                let epochs = self.epochs.fetch_add(1, Ordering::Relaxed) + 1;
                (self.observe)(RepairProgress::Train {
                    // Networks that collapse are trained again.
                    epochs: epochs.min(self.all_epochs),
                    all: self.all_epochs,
                })
            })?;
            let Some(network) = trained else {
                return Ok(None);
            };
            let is_last = attempts == MAX_ATTEMPTS;
            if is_last || !self.subject.has_collapsed(&self.subject.ask(&network)?)? {
                return Ok(Some((network, seed, attempts)));
            }
        }
    }

    /// The figures of a network that the choice sees.
    fn evidence(&self, asked: &R::Asked, repeat: u32) -> Result<Evidence, RepairError> {
        Ok(Evidence {
            discriminatory: self.subject.discriminatory(asked, &self.left(repeat))?,
            validation_accuracy: self.subject.validation_accuracy(asked)?,
        })
    }

    /// The networks whose votes label samples, from the complete `controls`.
    pub fn voters(&self, controls: &[Trained<R>]) -> Result<Vec<R::Asked>, RepairError> {
        match self.specification.label() {
            LabelRule::Ensemble => controls
                .iter()
                .map(|control| self.subject.ask(&control.network))
                .collect(),
            _ => Ok(vec![self.subject.ask(&self.subject.own())?]),
        }
    }
}
