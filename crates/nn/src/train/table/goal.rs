//! The goal of a training on a table: to learn classes by cross-entropy, or numbers by squared
//! error.
//!
//! A regressor is a network with the two outputs of [`SIDES`](probity_data::schema::SIDES), of which
//! the first is 0: its number is the second. Numbers are learnt standardised by the mean and the
//! deviation of the training part, so that a learning rate means the same for euros and for
//! millions; a loss of 1 is what the mean reaches. [`Standard`] goes to and fro between the unit of
//! the label and this one by the weights of the last layer.

use crate::fnn::{Dense, Network};
use crate::metrics::Errors;
use crate::train::TrainError;
use crate::train::fitting::{class_weights, weighted_loss};
use crate::train::options::ClassWeights;
use crate::train::split::{count_classes, spread_of};
use probity_data::table::Table;

/// The goal that is learnt from the rows of a table.
pub(super) enum Goal<'a> {
    /// The classes of the rows.
    Classes {
        /// The label of each row.
        labels: &'a [u32],
        /// The weight of each class.
        weights: Vec<f32>,
    },
    /// The numbers of the rows.
    Numbers {
        /// The number of each row, standardised.
        targets: Vec<f32>,
        /// The mean and the deviation by which the numbers are standardised.
        standard: Standard,
    },
}

/// The mean and the deviation of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Standard {
    mean: f64,
    deviation: f64,
}

/// The labels that some rows should get.
pub(super) enum Targets {
    /// The class of each row.
    Classes(Vec<u32>),
    /// The number of each row.
    Numbers(Vec<f32>),
}

impl Standard {
    /// Returns the mean and the deviation of the numbers of the rows `train` of `table`, where its
    /// labels are numbers.
    ///
    /// # Errors
    /// When all numbers are the same.
    pub fn of_rows(table: &Table, train: &[u32]) -> Result<Option<Standard>, TrainError> {
        if table.targets().is_empty() {
            return Ok(None);
        }
        let (mean, deviation) = spread_of(table.targets(), train)?;
        Ok(Some(Standard { mean, deviation }))
    }

    /// Returns the network that gives standardised numbers where `network` gives those of the
    /// label.
    pub fn standardised(&self, network: Network) -> Network {
        rescaled(network, 1.0 / self.deviation, -self.mean / self.deviation)
    }

    /// Returns the network that gives numbers of the label where `network` gives standardised ones.
    pub fn restored(&self, network: Network) -> Network {
        rescaled(network, self.deviation, self.mean)
    }
}

/// Returns the network whose number is `scale` times that of `network`, and `shift` more.
fn rescaled(mut network: Network, scale: f64, shift: f64) -> Network {
    if let Some(Dense { weight, bias, .. }) = network.layers.last_mut() {
        let times = |value: f32| (f64::from(value) * scale) as f32;
        for pair in weight.chunks_exact_mut(2) {
            (pair[0], pair[1]) = (0.0, times(pair[1]));
        }
        (bias[0], bias[1]) = (0.0, (f64::from(bias[1]) * scale + shift) as f32);
    }
    network
}

impl<'a> Goal<'a> {
    /// Returns the goal for the rows `train` of `table`, whose network tells `classes` apart.
    ///
    /// # Errors
    /// When these rows have not two labels.
    pub fn new(
        (table, train): (&'a Table, &[u32]),
        (weights, classes): (&ClassWeights, usize),
    ) -> Result<Goal<'a>, TrainError> {
        let Some(standard) = Standard::of_rows(table, train)? else {
            let class_rows = count_classes(table.labels(), train, classes)?;
            return Ok(Goal::Classes {
                labels: table.labels(),
                weights: class_weights(weights, &class_rows),
            });
        };
        let Standard { mean, deviation } = standard;
        let standardised = |&target: &f64| ((f64::from(target as f32) - mean) / deviation) as f32;
        Ok(Goal::Numbers {
            targets: table.targets().iter().map(standardised).collect(),
            standard,
        })
    }

    /// Returns `network` as it is while it learns.
    pub fn learning(&self, network: Network) -> Network {
        match self {
            Goal::Classes { .. } => network,
            Goal::Numbers { standard, .. } => standard.standardised(network),
        }
    }

    /// Returns `network` as it is when it has learnt.
    pub fn learnt(&self, network: Network) -> Network {
        match self {
            Goal::Classes { .. } => network,
            Goal::Numbers { standard, .. } => standard.restored(network),
        }
    }

    /// Returns the weight of row `row` in the loss by its class.
    pub fn weight(&self, row: u32) -> f32 {
        match self {
            Goal::Classes { labels, weights } => weights[labels[row as usize] as usize],
            Goal::Numbers { .. } => 1.0,
        }
    }

    /// Returns the labels that `rows` should get.
    pub fn targets(&self, rows: &[u32]) -> Targets {
        match self {
            Goal::Classes { labels, .. } => {
                Targets::Classes(rows.iter().map(|&row| labels[row as usize]).collect())
            }
            Goal::Numbers { targets, .. } => {
                Targets::Numbers(rows.iter().map(|&row| targets[row as usize]).collect())
            }
        }
    }

    /// Computes loss and accuracy, for numbers R², of the `logits` of `rows`.
    pub fn validated(&self, logits: &[f32], rows: &[u32]) -> (f64, f64) {
        match self {
            Goal::Classes { labels, weights } => {
                let labels: Vec<u32> = rows.iter().map(|&row| labels[row as usize]).collect();
                weighted_loss(logits, &labels, weights)
            }
            Goal::Numbers { targets, .. } => {
                let targets = rows.iter().map(|&row| f64::from(targets[row as usize]));
                let targets: Vec<f64> = targets.collect();
                let errors = Errors::new(logits, &targets);
                let squared = errors.root_mean_squared.powi(2);
                (squared, errors.r_squared.unwrap_or_default())
            }
        }
    }
}
