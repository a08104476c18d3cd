//! The options of trainings: what all of them share, and what each kind of network adds.
//!
//! Defaults stand here, but for those that depend on how much there is to learn from
//! ([`TrainOptions::pace`]).

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::transformer::options::TransformerOptions;
use crate::fnn::Activation;
use crate::modality::ModalityName;
use crate::optimizer::OptimizerName;
use crate::recurrent::network::{CellKind, Shape};
use probity_data::schema::Label;
use probity_run::specification::FieldError;
use probity_text::embeddings::SHIPPED;

/// The most hidden layers of a network.
const MOST_LAYERS: usize = 64;
/// The most numbers that a category is embedded in.
const MAX_EMBEDDED: usize = 8192;

/// The most passes over a training part.
pub const MOST_EPOCHS: u32 = 1_000_000;
/// The most rows or texts in a step: their activations are held in memory together.
pub const MOST_A_STEP: u32 = 1_000_000;
/// The smallest learning rate: with less the weights, of 24 bits, stay as they are.
pub const LEAST_LEARNING_RATE: f64 = 1e-12;
/// The learning rate of networks that are not transformers, where none is given.
pub(super) const USUAL_LEARNING_RATE: f64 = 0.01;
/// The largest learning rate: far beyond what any network still learns with.
pub const MOST_LEARNING_RATE: f64 = 100.0;
/// The largest weight decay.
pub const MOST_WEIGHT_DECAY: f64 = 1000.0;
/// The largest weight of a class.
const MOST_CLASS_WEIGHT: f32 = 1e6;
/// The most weights of a network. With the state of the optimiser a training takes 16 bytes for
/// each weight: 4 GB.
const MOST_WEIGHTS: usize = 1 << 28;

/// How the learning rate changes over the epochs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Schedule {
    /// Half a cosine from the learning rate to zero
    #[default]
    Cosine,
    /// The same rate throughout
    Constant,
    /// A tenth of the rate after half of the epochs, a hundredth after three quarters
    Step,
}

/// How classes are weighted in the loss: `none`, `balanced`, or one number a class as in `1,2.5`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub enum ClassWeights {
    /// All rows weigh the same.
    #[default]
    None,
    /// All classes weigh the same in total.
    Balanced,
    /// Given weights, one a class.
    Given(Vec<f32>),
}

impl TryFrom<String> for ClassWeights {
    type Error = String;

    fn try_from(text: String) -> Result<ClassWeights, String> {
        match text.as_str() {
            "none" => Ok(ClassWeights::None),
            "balanced" => Ok(ClassWeights::Balanced),
            numbers => numbers
                .split(',')
                .map(|number| number.trim().parse::<f32>())
                .collect::<Result<Vec<_>, _>>()
                .map(ClassWeights::Given)
                .map_err(|_| "none, balanced, or numbers such as 1,2.5".to_owned()),
        }
    }
}

impl From<ClassWeights> for String {
    fn from(weights: ClassWeights) -> String {
        match weights {
            ClassWeights::None => "none".to_owned(),
            ClassWeights::Balanced => "balanced".to_owned(),
            ClassWeights::Given(weights) => {
                let weights: Vec<String> = weights.iter().map(f32::to_string).collect();
                weights.join(",")
            }
        }
    }
}

/// How unordered categories enter a network: `codes`, `onehot` or `embed:LENGTH`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub enum Categories {
    /// As their integer code, like every other attribute (the ADF paper's way).
    #[default]
    Codes,
    /// One indicator a level.
    OneHot,
    /// A learned vector of this length a level.
    Embedded(usize),
}

impl TryFrom<String> for Categories {
    type Error = String;

    fn try_from(text: String) -> Result<Categories, String> {
        let length = text.strip_prefix("embed:").map(str::parse);
        match (text.as_str(), length) {
            ("codes", _) => Ok(Categories::Codes),
            ("onehot", _) => Ok(Categories::OneHot),
            (_, Some(Ok(length))) if (1..=MAX_EMBEDDED).contains(&length) => {
                Ok(Categories::Embedded(length))
            }
            _ => Err(format!(
                "codes, onehot, or embed:LENGTH with a length from 1 to {MAX_EMBEDDED}"
            )),
        }
    }
}

impl From<Categories> for String {
    fn from(categories: Categories) -> String {
        match categories {
            Categories::Codes => "codes".to_owned(),
            Categories::OneHot => "onehot".to_owned(),
            Categories::Embedded(length) => format!("embed:{length}"),
        }
    }
}

/// How a network learns, of whatever kind it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Learning {
    /// Passes over the training part; where none are given, as many as make 2,500 steps on rows or
    /// 1,000 on texts, but at least 30 or 8.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = MOST_EPOCHS))]
    pub epochs: Option<u32>,
    /// Rows or texts a step; where none are given, about a sixteenth of the training part, from 32
    /// to 512 rows or 16 to 64 texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = MOST_A_STEP))]
    pub batch: Option<usize>,
    /// Optimiser.
    pub optimizer: OptimizerName,
    /// Learning rate at the start; where none is given, 0.01, and of transformers 0.001 for a fresh
    /// network or a head alone and 0.00005 on an encoder.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = LEAST_LEARNING_RATE, max = MOST_LEARNING_RATE))]
    pub learning_rate: Option<f64>,
    /// Course of the learning rate.
    pub schedule: Schedule,
    /// Stop after this many epochs without a better validation loss (0: never).
    #[schemars(range(max = MOST_EPOCHS))]
    pub patience: u32,
    /// Class weights: none, balanced, or one number a class.
    pub class_weights: ClassWeights,
    /// Weight decay; 0 lets a network learn its training part by heart. Where none is given, 0.1
    /// for texts, 0.3 for up to 3,500 training rows, and less for more.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = MOST_WEIGHT_DECAY))]
    pub weight_decay: Option<f32>,
    /// Share to validate on; the epoch with the least loss there is kept. Where none is given, 0.1,
    /// but 0 of fewer than 5,000 rows without patience.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0), extend("exclusiveMaximum" = 1))]
    pub validation: Option<f64>,
    /// Share of rows to test on.
    #[schemars(range(min = 0), extend("exclusiveMaximum" = 1))]
    pub test: f64,
    /// Seed of everything random.
    pub seed: u64,
}

impl Default for Learning {
    fn default() -> Self {
        Learning {
            epochs: None,
            batch: None,
            optimizer: OptimizerName::Adamw,
            learning_rate: None,
            schedule: Schedule::Cosine,
            patience: 0,
            class_weights: ClassWeights::None,
            weight_decay: None,
            validation: None,
            test: 0.2,
            seed: 1,
        }
    }
}

impl Learning {
    /// Checks the rules between the fields, which stand in the table `training`.
    ///
    /// # Errors
    /// The first field that contradicts another.
    pub fn rules(&self) -> Result<(), FieldError> {
        if self.patience > 0 && self.validation == Some(0.0) {
            let expected = "0 when there is no validation part";
            return Err(FieldError::new(
                "training.patience",
                self.patience,
                expected,
            ));
        }
        if let ClassWeights::Given(weights) = &self.class_weights
            && (weights
                .iter()
                .any(|weight| !(0.0..=MOST_CLASS_WEIGHT).contains(weight))
                || weights.iter().all(|&weight| weight == 0.0))
        {
            return Err(self.unfit_weights());
        }
        Ok(())
    }

    fn unfit_weights(&self) -> FieldError {
        FieldError::new(
            "training.class_weights",
            String::from(self.class_weights.clone()),
            "one number from 0 to 1000000 a class, not all 0",
        )
    }
}

/// A network for tables: fully connected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct NetworkOptions {
    /// Hidden layer widths.
    #[schemars(inner(range(min = 1, max = 8192)))]
    pub hidden: Vec<usize>,
    /// Function between layers.
    pub activation: Activation,
    /// How unordered categories enter: codes, onehot or embed:LENGTH.
    pub categories: Categories,
    /// Share of hidden units left out at random in each step.
    #[schemars(range(min = 0), extend("exclusiveMaximum" = 1))]
    pub dropout: f32,
}

impl NetworkOptions {
    /// Checks the rules between the fields, which stand in the table `network`.
    ///
    /// # Errors
    /// Too many layers, or more weights between them than are trained in a few gigabytes.
    pub fn rules(&self) -> Result<(), FieldError> {
        let refuse = |value: String, expected: String| {
            Err(FieldError::new("network.hidden", value, expected))
        };
        let layers = self.hidden.len();
        if layers > MOST_LAYERS {
            let expected = format!("of at most {MOST_LAYERS} layers");
            return refuse(format!("of {layers}"), expected);
        }
        let weights: usize = self.hidden.windows(2).map(|pair| pair[0] * pair[1]).sum();
        if weights > MOST_WEIGHTS {
            let expected = format!("widths with at most {MOST_WEIGHTS} weights between them");
            return refuse(format!("widths with {weights}"), expected);
        }
        Ok(())
    }
}

impl Default for NetworkOptions {
    fn default() -> Self {
        NetworkOptions {
            hidden: vec![100],
            activation: Activation::Relu,
            categories: Categories::Codes,
            dropout: 0.0,
        }
    }
}

/// A network for texts: recurrent layers over word vectors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct RecurrentOptions {
    /// Kind of recurrent cell.
    pub cell: CellKind,
    /// Recurrent layers.
    #[schemars(range(min = 1, max = 64))]
    pub layers: usize,
    /// Units a layer and direction.
    #[schemars(range(min = 1, max = 4096))]
    pub units: usize,
    /// Read the texts backwards as well.
    pub bidirectional: bool,
    /// Tokens of a text that are read, from its beginning.
    #[schemars(range(min = 1, max = 1_048_576))]
    pub max_length: usize,
    /// Let the word vectors learn too.
    pub train_embeddings: bool,
    /// Largest norm of a step's gradient; a larger one is scaled down to it.
    #[schemars(range(min = 0.000_001, max = 1_000_000))]
    pub clip_norm: f64,
    /// Word vectors in GloVe's or word2vec's text format (also .gz, .xz), `shipped`, or `own`: those
    /// that are fitted to the training part of the texts first.
    #[schemars(extend("format" = "path", "x-names" = ["shipped", "own"]))]
    pub embeddings: PathBuf,
    /// Rows from the beginning of the word vectors that the model keeps, beside the words of its
    /// texts.
    #[schemars(range(max = 100_000_000))]
    pub common_words: u32,
}

impl Default for RecurrentOptions {
    fn default() -> Self {
        RecurrentOptions {
            cell: CellKind::Lstm,
            layers: 3,
            units: 10,
            bidirectional: false,
            max_length: 200,
            train_embeddings: false,
            clip_norm: 1.0,
            embeddings: SHIPPED.into(),
            common_words: 20_000,
        }
    }
}

impl RecurrentOptions {
    /// Checks the rules between the fields, which stand in the table `recurrent`.
    ///
    /// # Errors
    /// More weights than are trained in a few gigabytes.
    pub fn rules(&self) -> Result<(), FieldError> {
        // The first layer reads embeddings, which are known only once the vectors are read.
        let weights = self.shape(self.units, 2).parameters();
        if weights > MOST_WEIGHTS {
            let expected = format!(
                "fewer, for with {} layers that is {weights} weights, and at most {MOST_WEIGHTS} are trained",
                self.layers
            );
            return Err(FieldError::new("recurrent.units", self.units, expected));
        }
        Ok(())
    }

    /// Returns the shape of the network that the options describe, for embeddings of `inputs`
    /// numbers.
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
}

/// A kind of network, given by its options.
pub trait NetworkKind {
    /// The modality that such networks classify.
    const MODALITY: ModalityName;
}

impl NetworkKind for NetworkOptions {
    const MODALITY: ModalityName = ModalityName::Table;
}

impl NetworkKind for TransformerOptions {
    const MODALITY: ModalityName = ModalityName::Text;
}

impl NetworkKind for RecurrentOptions {
    const MODALITY: ModalityName = ModalityName::Text;
}

/// The options of a network, and how it learns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TrainOptions<N> {
    /// The options of the network.
    pub network: N,
    /// The way in which the network learns.
    #[serde(rename = "training")]
    pub learning: Learning,
}

/// The options of a network for tables, and how it learns.
pub type TableOptions = TrainOptions<NetworkOptions>;
/// The options of a transformer, and how it learns.
pub type TransformerTraining = TrainOptions<TransformerOptions>;
/// The options of a network for texts, and how it learns.
pub type TextOptions = TrainOptions<RecurrentOptions>;

impl TableOptions {
    /// Checks the rules that depend on the label.
    ///
    /// # Errors
    /// The first field that does not fit.
    pub fn check_label(&self, label: &Label) -> Result<(), FieldError> {
        if label.is_number() && self.learning.class_weights != ClassWeights::None {
            let found = String::from(self.learning.class_weights.clone());
            let expected = "left out: the label holds numbers";
            return Err(FieldError::new("training.class_weights", found, expected));
        }
        self.check(label.classes.len())
    }
}

impl<N: NetworkKind> TrainOptions<N> {
    /// Checks the rules that depend on the number of classes.
    ///
    /// # Errors
    /// The first field that does not fit.
    pub fn check(&self, classes: usize) -> Result<(), FieldError> {
        self.learning.rules()?;
        match &self.learning.class_weights {
            ClassWeights::Given(weights) if weights.len() != classes => {
                Err(self.learning.unfit_weights())
            }
            _ => Ok(()),
        }
    }
}

impl Learning {
    /// The learning rate at the start.
    pub(super) fn rate(&self) -> f64 {
        self.learning_rate.unwrap_or(USUAL_LEARNING_RATE)
    }

    /// The learning rate in epoch `epoch` of `epochs`, from 0.
    pub(super) fn learning_rate_in(&self, epoch: u32, epochs: u32) -> f64 {
        let progress = f64::from(epoch) / f64::from(epochs);
        self.rate()
            * match self.schedule {
                Schedule::Constant => 1.0,
                Schedule::Cosine => 0.5 * (1.0 + (std::f64::consts::PI * progress).cos()),
                Schedule::Step if progress >= 0.75 => 0.01,
                Schedule::Step if progress >= 0.5 => 0.1,
                Schedule::Step => 1.0,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_wire_are_read_back() {
        for text in ["none", "balanced", "1,2.5"] {
            let weights = ClassWeights::try_from(text.to_owned()).unwrap();
            assert_eq!(String::from(weights), text);
        }
        for text in ["codes", "onehot", "embed:4"] {
            let categories = Categories::try_from(text.to_owned()).unwrap();
            assert_eq!(String::from(categories), text);
        }
        for text in ["embed:0", "embed:9000", "one"] {
            assert!(Categories::try_from(text.to_owned()).is_err(), "{text}");
        }
        assert!(ClassWeights::try_from("heavy".to_owned()).is_err());
    }
}
