//! Options of a training run, and what they may be.

use serde::{Deserialize, Serialize};

use super::fnn::Activation;
use super::optimizer::OptimizerName;
use super::train::TrainError;

/// Layers and units a layer at most: what training can hold in memory comes first, but a slip of
/// the finger must not end in an allocation failure.
const MAX_LAYERS: usize = 64;
const MAX_WIDTH: usize = 8192;

/// How the learning rate changes over the epochs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Schedule {
    /// Half a cosine from the learning rate to zero.
    #[default]
    Cosine,
    /// The same rate throughout.
    Constant,
    /// A tenth of the rate after half of the epochs, a hundredth after three quarters.
    Step,
}

/// How classes are weighted in the loss.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClassWeights {
    /// All rows weigh the same.
    #[default]
    None,
    /// All classes weigh the same in total.
    Balanced,
    /// Given weights, one a class.
    Given(Vec<f32>),
}

/// How unordered categories enter the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Categories {
    /// As their integer code, like every other attribute (the ADF paper's way).
    #[default]
    Codes,
    /// One indicator a level.
    OneHot,
    /// A learned vector of this length a level.
    Embedded(usize),
}

/// Options of one training run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainOptions {
    /// Hidden layer widths.
    pub hidden: Vec<usize>,
    /// Between layers.
    pub activation: Activation,
    /// How unordered categories enter.
    pub categories: Categories,
    /// Passes over the training rows.
    pub epochs: u32,
    /// Rows a step.
    pub batch: usize,
    /// Optimiser.
    pub optimizer: OptimizerName,
    /// Learning rate at the start.
    pub learning_rate: f64,
    /// Its course.
    pub schedule: Schedule,
    /// Stop after this many epochs without a better validation loss; 0 never stops.
    pub patience: u32,
    /// Class weights.
    pub class_weights: ClassWeights,
    /// Weight decay.
    pub weight_decay: f32,
    /// Share of hidden units left out at random in each step.
    pub dropout: f32,
    /// Share of rows to validate on.
    pub validation: f64,
    /// Share of rows to test on.
    pub test: f64,
    /// Seed of everything random.
    pub seed: u64,
}

impl Default for TrainOptions {
    fn default() -> Self {
        TrainOptions {
            hidden: vec![64, 32, 16, 8, 4],
            activation: Activation::Relu,
            categories: Categories::Codes,
            epochs: 30,
            batch: 512,
            optimizer: OptimizerName::Adamw,
            learning_rate: 0.01,
            schedule: Schedule::Cosine,
            patience: 0,
            class_weights: ClassWeights::None,
            weight_decay: 0.1,
            dropout: 0.0,
            validation: 0.1,
            test: 0.2,
            seed: 1,
        }
    }
}

impl TrainOptions {
    /// Checks what the type cannot.
    ///
    /// # Errors
    /// [`TrainError::Option`] naming the first option out of range.
    pub fn check(&self, classes: usize) -> Result<(), TrainError> {
        let fail = |option, value: String, expected| {
            Err(TrainError::Option {
                option,
                value,
                expected,
            })
        };
        if self.hidden.len() > MAX_LAYERS
            || self
                .hidden
                .iter()
                .any(|width| !(1..=MAX_WIDTH).contains(width))
        {
            return fail(
                "--hidden",
                format!("{:?}", self.hidden),
                "at most 64 widths from 1 to 8192",
            );
        }
        if self.epochs == 0 {
            return fail("--epochs", "0".into(), "at least 1");
        }
        if self.batch == 0 {
            return fail("--batch", "0".into(), "at least 1");
        }
        if !(self.learning_rate.is_finite() && self.learning_rate > 0.0) {
            return fail("--learning-rate", self.learning_rate.to_string(), "above 0");
        }
        if !(self.weight_decay.is_finite() && self.weight_decay >= 0.0) {
            return fail("--weight-decay", self.weight_decay.to_string(), "0 or more");
        }
        if !(0.0..1.0).contains(&self.dropout) {
            return fail("--dropout", self.dropout.to_string(), "from 0 to below 1");
        }
        for (option, share) in [("--validation", self.validation), ("--test", self.test)] {
            if !(0.0..1.0).contains(&share) {
                return fail(option, share.to_string(), "from 0 to below 1");
            }
        }
        if let Categories::Embedded(length) = self.categories
            && !(1..=MAX_WIDTH).contains(&length)
        {
            return fail(
                "--categories",
                format!("embed:{length}"),
                "a vector length from 1 to 8192",
            );
        }
        if self.patience > 0 && self.validation == 0.0 {
            return fail(
                "--patience",
                self.patience.to_string(),
                "0 when there is no validation part",
            );
        }
        if let ClassWeights::Given(weights) = &self.class_weights
            && (weights.len() != classes
                || weights
                    .iter()
                    .any(|weight| !weight.is_finite() || *weight < 0.0)
                || weights.iter().all(|&weight| weight == 0.0))
        {
            return fail(
                "--class-weights",
                format!("{weights:?}"),
                "one number of 0 or more a class, not all 0",
            );
        }
        Ok(())
    }

    /// The learning rate in epoch `epoch`, from 0.
    pub(super) fn learning_rate_in(&self, epoch: u32) -> f64 {
        let progress = f64::from(epoch) / f64::from(self.epochs);
        self.learning_rate
            * match self.schedule {
                Schedule::Constant => 1.0,
                Schedule::Cosine => 0.5 * (1.0 + (std::f64::consts::PI * progress).cos()),
                Schedule::Step if progress >= 0.75 => 0.01,
                Schedule::Step if progress >= 0.5 => 0.1,
                Schedule::Step => 1.0,
            }
    }
}
