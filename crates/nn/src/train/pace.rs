//! The pace of a training, decided by the amount of data where the user decides nothing: how long
//! it lasts, in how large batches, with how much weight decay, and whether rows are kept to
//! validate on.
//!
//! The steps of the optimiser decide more than all else what a network has learnt. Every training
//! has about as many of them, however few its inputs are: small data are dealt into small batches
//! and passed over more often. Weight decay and the annealed learning rate then keep a network from
//! learning few rows by heart. A validation part of a tenth of few rows would tell one epoch from
//! another by chance, and is worth more in the training part. The pace depends on the number of
//! inputs alone, so that the figures are the same on every machine.

use super::options::{Learning, NetworkKind, TrainOptions};
use super::split::Split;
use crate::modality::ModalityName;
use crate::optimizer::OptimizerName;

/// The number of batches in an epoch, about, where the data allow it.
const BATCHES: usize = 16;

/// The number of rows below which nothing is validated.
const VALIDATED_FROM: usize = 5000;

/// The weight decay where the amount of data does not matter.
pub const USUAL_DECAY: f32 = 0.1;

/// The share of a weight that decay may take away in one step.
const MOST_SHRUNK: f64 = 0.1;

/// The share of the inputs to validate on.
pub const USUAL_VALIDATION: f64 = 0.1;

/// The figures of a training: those that were given, and for others what the data suggest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// The number of passes over the training part: at least one.
    pub epochs: u32,
    /// The number of rows or texts in a step: at least one.
    pub batch: usize,
    /// The weight decay.
    pub weight_decay: f32,
}

/// The figures that are usual for one modality.
struct Usual {
    least_batch: usize,
    largest_batch: usize,
    least_epochs: usize,
    steps: usize,
}

impl Usual {
    fn new(modality: ModalityName) -> Usual {
        match modality {
            ModalityName::Table => Usual {
                least_batch: 32,
                largest_batch: 512,
                least_epochs: 30,
                steps: 2500,
            },
            // A text says more than a row.
            ModalityName::Text => Usual {
                least_batch: 16,
                largest_batch: 64,
                least_epochs: 8,
                steps: 1000,
            },
        }
    }
}

impl<N: NetworkKind> TrainOptions<N> {
    /// Deals `inputs` inputs into the parts of a training.
    pub fn split(&self, inputs: usize) -> Split {
        self.learning.split(N::MODALITY, inputs)
    }

    /// Returns the pace of a training on `inputs` training inputs.
    pub fn pace(&self, inputs: usize) -> Pace {
        self.learning.pace(N::MODALITY, inputs)
    }
}

impl Learning {
    /// Returns the pace of a training on `inputs` training inputs.
    ///
    /// A batch is the largest power of two of which 16 go into an epoch, within bounds;
    /// the epochs are as many as the usual steps take, and not fewer than the usual ones. A figure
    /// that is given stands, and the others are found for it.
    pub fn pace(&self, modality: ModalityName, inputs: usize) -> Pace {
        let usual = Usual::new(modality);
        let batch = self.batch.unwrap_or_else(|| {
            let wanted = (inputs / BATCHES).clamp(usual.least_batch, usual.largest_batch);
            1 << wanted.ilog2()
        });
        let batch = batch.max(1);
        let epochs = self.epochs.unwrap_or_else(|| {
            let epochs = usual.steps.div_ceil(inputs.div_ceil(batch).max(1));
            epochs.max(usual.least_epochs) as u32
        });
        Pace {
            epochs,
            batch,
            weight_decay: self.weight_decay.unwrap_or_else(|| {
                let usual = match (modality, self.optimizer) {
                    (ModalityName::Table, OptimizerName::Adamw) => row_decay(inputs),
                    _ => USUAL_DECAY,
                };
                usual.min((MOST_SHRUNK / self.rate()) as f32)
            }),
        }
    }

    /// Returns the share of `inputs` inputs to validate on.
    fn validation_of(&self, modality: ModalityName, inputs: usize) -> f64 {
        self.validation.unwrap_or(match modality {
            // Early stopping watches the validation part, however small it is.
            ModalityName::Table if inputs < VALIDATED_FROM && self.patience == 0 => 0.0,
            _ => USUAL_VALIDATION,
        })
    }

    /// Deals `inputs` inputs into parts by the keyed order of the seed.
    pub fn split(&self, modality: ModalityName, inputs: usize) -> Split {
        Split::new(inputs, self, self.validation_of(modality, inputs))
    }

    /// Returns these options with nothing left open for a training on `inputs` inputs, of all
    /// parts, and their pace.
    pub fn settled(&self, modality: ModalityName, inputs: usize) -> (Learning, Pace) {
        let mut settled = self.clone();
        settled.validation = Some(self.validation_of(modality, inputs));
        let split = self.split(modality, inputs);
        let pace = settled.pace(modality, split.train.len());
        settled.epochs = Some(pace.epochs);
        settled.batch = Some(pace.batch);
        settled.weight_decay = Some(pace.weight_decay);
        (settled, pace)
    }
}

/// Returns the weight decay for `rows` training rows: less the more there are to hold against what
/// a few of them say, 0.06 for ten thousand, and at most 0.3. More than that would be better still
/// where labels are noise, but no network of so small weights learns how attributes act together.
fn row_decay(rows: usize) -> f32 {
    let thousands = rows.max(1) as f64 / 1000.0;
    let decay = (2.0 * thousands.powf(-1.5)).min(0.3);
    // Only digits that mean something are kept.
    ((decay * 1e4).round() / 1e4) as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modality::ModalityName::{Table, Text};

    #[test]
    fn every_amount_of_data_gets_its_steps() {
        for (modality, steps, batches, epochs) in
            [(Table, 2500, 32..=512, 30), (Text, 1000, 16..=64, 8)]
        {
            let mut decay = f32::INFINITY;
            for inputs in (1..2000).chain((2000..200_000).step_by(997)) {
                let pace = Learning::default().pace(modality, inputs);
                let taken = pace.epochs as usize * inputs.div_ceil(pace.batch);
                assert!(taken >= steps, "{inputs}: {pace:?}");
                assert!(pace.epochs >= epochs, "{inputs}: {pace:?}");
                // No more than the last, partial epoch above, where the least epochs do not ask it.
                let spare = inputs.div_ceil(pace.batch);
                assert!(
                    pace.epochs == epochs || taken < steps + spare,
                    "{inputs}: {pace:?}"
                );
                assert!(batches.contains(&pace.batch), "{inputs}: {pace:?}");
                assert!(pace.weight_decay <= decay, "{inputs}: {pace:?}");
                decay = pace.weight_decay;
            }
        }
        // The data of a thousand rows and of more than anybody waits for.
        let pace = |inputs| Learning::default().pace(Table, inputs);
        let figures = |pace: Pace| (pace.epochs, pace.batch, pace.weight_decay);
        assert_eq!(figures(pace(318)), (250, 32, 0.3));
        assert_eq!(figures(pace(10_000_000)), (30, 512, 0.0));
    }

    #[test]
    fn what_is_given_stands_and_the_rest_is_found_for_it() {
        let given = Learning {
            batch: Some(100),
            ..Learning::default()
        };
        assert_eq!(given.pace(Table, 1000).epochs, 250);
        let given = Learning {
            epochs: Some(3),
            weight_decay: Some(0.5),
            ..Learning::default()
        };
        let pace = given.pace(Table, 1000);
        assert_eq!((pace.epochs, pace.batch, pace.weight_decay), (3, 32, 0.5));
    }

    #[test]
    fn few_rows_are_not_validated_on_unless_somebody_asks() {
        let parts = |learning: &Learning, modality, inputs| {
            let split = learning.split(modality, inputs);
            [split.train.len(), split.validation.len(), split.test.len()]
        };
        let mut learning = Learning::default();
        assert_eq!(parts(&learning, Table, 4999), [3999, 0, 1000]);
        assert_eq!(parts(&learning, Table, 5000), [3500, 500, 1000]);
        assert_eq!(parts(&learning, Text, 100), [70, 10, 20]);
        learning.patience = 5;
        assert_eq!(parts(&learning, Table, 100), [70, 10, 20]);
        learning.validation = Some(0.2);
        assert_eq!(parts(&learning, Table, 100), [60, 20, 20]);
    }

    #[test]
    fn what_is_settled_stays() {
        for modality in [Table, Text] {
            for inputs in [10, 454, 4999, 5000, 60_000] {
                let learning = Learning::default();
                let (settled, pace) = learning.settled(modality, inputs);
                assert_eq!(settled.settled(modality, inputs), (settled.clone(), pace));
                assert_eq!(
                    settled.split(modality, inputs),
                    learning.split(modality, inputs)
                );
                // On more rows, as in a repair, the pace is the same too.
                assert_eq!(settled.pace(modality, 10 * inputs), pace);
            }
        }
    }
}
