//! Options of a text training, and what they may be.

use serde::{Deserialize, Serialize};

use super::optimizer::OptimizerName;
use super::recurrent::network::{CellKind, Shape};
use super::train::TrainError;
use super::train_options::{ClassWeights, Schedule, TrainOptions};

/// Layers, units and tokens at most; a slip of the finger must not end in an allocation failure.
const MAX_LAYERS: usize = 64;
const MAX_UNITS: usize = 4096;
const MAX_LENGTH: usize = 1 << 20;

/// Options of one text training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TextTrainOptions {
    /// Kind of cell.
    pub cell: CellKind,
    /// Recurrent layers.
    pub layers: usize,
    /// Units a layer and direction.
    pub units: usize,
    /// Whether each layer also reads the text backwards.
    pub bidirectional: bool,
    /// Tokens of a text that are read, from its beginning.
    pub max_length: usize,
    /// Whether the embeddings learn too.
    pub train_embeddings: bool,
    /// Passes over the training texts.
    pub epochs: u32,
    /// Texts a step.
    pub batch: usize,
    /// Optimiser of the network. Embeddings learn by Adam in any case.
    pub optimizer: OptimizerName,
    /// Learning rate at the start.
    pub learning_rate: f64,
    /// Its course.
    pub schedule: Schedule,
    /// Stop after this many epochs without a better validation loss; 0 never stops.
    pub patience: u32,
    /// Class weights.
    pub class_weights: ClassWeights,
    /// Weight decay of the network.
    pub weight_decay: f32,
    /// Largest norm of a step's gradient; a larger one is scaled down to it.
    pub clip_norm: f64,
    /// Share of texts to validate on.
    pub validation: f64,
    /// Share of texts to test on.
    pub test: f64,
    /// Seed of everything random.
    pub seed: u64,
}

impl Default for TextTrainOptions {
    fn default() -> Self {
        TextTrainOptions {
            cell: CellKind::Lstm,
            layers: 3,
            units: 10,
            bidirectional: false,
            max_length: 200,
            train_embeddings: false,
            epochs: 8,
            batch: 64,
            optimizer: OptimizerName::Adamw,
            learning_rate: 0.01,
            schedule: Schedule::Cosine,
            patience: 0,
            class_weights: ClassWeights::None,
            weight_decay: 0.1,
            clip_norm: 1.0,
            validation: 0.1,
            test: 0.2,
            seed: 1,
        }
    }
}

impl TextTrainOptions {
    /// Checks what the type cannot.
    ///
    /// # Errors
    /// [`TrainError::Option`] naming the first option out of range.
    pub fn check(&self, classes: usize) -> Result<(), TrainError> {
        let sizes = [
            ("--layers", self.layers, MAX_LAYERS, "from 1 to 64"),
            ("--units", self.units, MAX_UNITS, "from 1 to 4096"),
            (
                "--max-length",
                self.max_length,
                MAX_LENGTH,
                "from 1 to 1048576",
            ),
        ];
        for (option, size, largest, expected) in sizes {
            if !(1..=largest).contains(&size) {
                let value = size.to_string();
                return Err(TrainError::Option {
                    option,
                    value,
                    expected,
                });
            }
        }
        if !(self.clip_norm.is_finite() && self.clip_norm > 0.0) {
            return Err(TrainError::Option {
                option: "--clip-norm",
                value: self.clip_norm.to_string(),
                expected: "above 0",
            });
        }
        self.learning().check(classes)
    }

    /// The network that they describe, for embeddings of `inputs` numbers.
    pub fn shape(&self, inputs: usize, classes: usize) -> Shape {
        Shape {
            cell: self.cell,
            inputs,
            units: self.units,
            layers: self.layers,
            bidirectional: self.bidirectional,
            classes,
        }
    }

    /// What a training on texts shares with one on tables: split, steps, class weights.
    pub fn learning(&self) -> TrainOptions {
        TrainOptions {
            epochs: self.epochs,
            batch: self.batch,
            optimizer: self.optimizer,
            learning_rate: self.learning_rate,
            schedule: self.schedule,
            patience: self.patience,
            class_weights: self.class_weights.clone(),
            weight_decay: self.weight_decay,
            validation: self.validation,
            test: self.test,
            seed: self.seed,
            ..TrainOptions::default()
        }
    }
}
