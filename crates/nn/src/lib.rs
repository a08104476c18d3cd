//! Classifiers: the two interfaces that everything else uses, and the networks behind them.
//!
//! * [`Classifier`]: a batch of inputs in, logits out. All that a black-box method needs.
//! * [`Differentiable`]: also vector-Jacobian products with respect to the input, from which any
//!   objective's gradient follows ([`Objective`]).
//!
//! An input is a row of integers: attribute codes of a table ([`probity_data::schema`]). The
//! network decides how a code becomes numbers ([`encoding`]).
//!
//! **A row's result never depends on its neighbours.** On the CPU rows and texts stand side by side
//! in the lanes of kernels that treat all lanes alike; on other devices batches are cut into tiles
//! of a fixed height, the last one padded, and the products of a tile treat all of its rows alike.
//! A row therefore gives bit for bit the same logits and gradients alone, in any batch, and at any
//! position. A test holds this on every device that answers.

pub mod alike;
pub mod decision;
pub mod encoding;
mod flat_optimizer;
pub mod fnn;
pub mod import;
pub mod import_run;
pub mod import_text;
pub mod interval;
mod lanes;
pub mod metrics;
pub mod modality;
pub mod model;
pub mod optimizer;
pub mod provenance;
pub mod recurrent;
mod row_adam;
pub mod runs;
pub mod text;
pub mod text_classifier;
pub mod text_model;
pub mod text_reader;
mod text_tiles;
pub mod train;
pub mod transformer;
pub mod transformer_model;
pub mod vocabulary;
pub mod weights;

use thiserror::Error;

use self::decision::Decision;
pub use self::lanes::dispatch;

/// Why a model cannot answer.
#[derive(Debug, Error)]
pub enum ModelError {
    /// The device failed while it computed.
    #[error("the device failed: {0}")]
    Device(String),
    /// A sentence encoder cannot answer.
    #[error("the sentence encoder failed: {0}")]
    Encoder(String),
    /// A predictor outside this program cannot answer, or answers wrongly; the source says why.
    #[error("the predictor failed")]
    Predictor(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The model may not be asked so often.
    #[error("the model may be asked no more: the budget of calls is used up")]
    Spent,
    /// An output is NaN or infinite.
    #[error(
        "the model's output for input {row:?} is not finite; its weights or inputs are out of range"
    )]
    NotFinite {
        /// The input.
        row: Vec<i32>,
    },
    /// An output for a text is NaN or infinite.
    #[error("the model's output for the text {text:?} is not finite; its weights are out of range")]
    NotFiniteText {
        /// The text's beginning.
        text: String,
    },
    /// A text that a transformer cannot split.
    #[error("the text {text:?} cannot be split into pieces: {problem}")]
    Pieces {
        /// The beginning of the text.
        text: String,
        /// The message of the tokenizer.
        problem: String,
    },
    /// A transformer without classes.
    #[error(
        "the model is an encoder without classes; train a classifier on top of it, with the field encoder of a training"
    )]
    NoClasses,
    /// The model is a transformer without the head of a masked language model.
    #[error(
        "the model has no head of a masked language model; import a directory of Hugging Face whose `architectures` names a network …ForMaskedLM"
    )]
    NoMaskedHead,
    /// A text has a number that is no token of the model.
    #[error(
        "the text has {id} at position {position}; token ids run from 0 to {last}, and -1 may only fill the end"
    )]
    Token {
        /// The number.
        id: i32,
        /// The position of the number in the text, from 0.
        position: usize,
        /// The model's last token.
        last: i64,
    },
}

impl ModelError {
    /// Wraps the failure of a predictor.
    pub fn predictor(error: impl std::error::Error + Send + Sync + 'static) -> ModelError {
        ModelError::Predictor(Box::new(error))
    }
}

/// A batch of inputs: integer rows of equal width, row-major.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    /// The codes of all rows.
    pub codes: &'a [i32],
    /// The number of codes in a row.
    pub width: usize,
}

impl<'a> Rows<'a> {
    /// The rows in `codes`, `width` codes each.
    pub fn new(codes: &'a [i32], width: usize) -> Rows<'a> {
        Rows { codes, width }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.codes.len().checked_div(self.width).unwrap_or(0)
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// The rows one by one.
    pub fn iter(&self) -> std::slice::ChunksExact<'a, i32> {
        self.codes.chunks_exact(self.width.max(1))
    }
}

/// A model that classifies rows.
pub trait Classifier: Send + Sync {
    /// The number of codes of an input.
    fn width(&self) -> usize;

    /// The number of classes.
    fn classes(&self) -> usize;

    /// Returns the logits, row-major `[rows, classes]`. A row's logits do not depend on the other
    /// rows.
    ///
    /// # Errors
    /// When the device fails or an output is not finite.
    fn logits(&self, rows: Rows<'_>) -> Result<Vec<f32>, ModelError>;

    /// Returns the logits of `rows` with numbers of their own: `numbers` has one for each numeric
    /// attribute of each row, in the schema's order, NaN where it is that which the code stands for;
    /// or it is empty, and all are. By default a model sees codes alone.
    ///
    /// # Errors
    /// See [`Classifier::logits`].
    fn logits_with(&self, rows: Rows<'_>, numbers: &[f64]) -> Result<Vec<f32>, ModelError> {
        let _ = numbers;
        self.logits(rows)
    }

    /// Whether an answer may fail to come though the model and the row are good: this is so where
    /// the model is another process. A search then keeps in each round what it needs to go on
    /// exactly.
    fn is_fallible(&self) -> bool {
        false
    }

    /// The decision that is made from the logits of a row.
    fn decision(&self) -> &Decision {
        &Decision::Largest
    }

    /// Whether [`Classifier::decide`] decides on a device, so that codes travel there and decisions
    /// back, and no logits.
    fn decides_on_device(&self) -> bool {
        false
    }

    /// Returns the decision about each row, as [`Decision::decide`] numbers it: by default what the
    /// logits say.
    ///
    /// # Errors
    /// See [`Classifier::logits`].
    fn decide(&self, rows: Rows<'_>) -> Result<Vec<u32>, ModelError> {
        let logits = self.logits(rows)?;
        let rows = rows.iter().zip(logits.chunks_exact(self.classes()));
        let decided = rows.map(|(row, logits)| self.decision().decide(row, logits));
        Ok(decided.collect())
    }
}

impl<C: Classifier + ?Sized> Classifier for &C {
    fn width(&self) -> usize {
        (**self).width()
    }

    fn classes(&self) -> usize {
        (**self).classes()
    }

    fn logits(&self, rows: Rows<'_>) -> Result<Vec<f32>, ModelError> {
        (**self).logits(rows)
    }

    fn logits_with(&self, rows: Rows<'_>, numbers: &[f64]) -> Result<Vec<f32>, ModelError> {
        (**self).logits_with(rows, numbers)
    }

    fn is_fallible(&self) -> bool {
        (**self).is_fallible()
    }

    fn decision(&self) -> &Decision {
        (**self).decision()
    }

    fn decides_on_device(&self) -> bool {
        (**self).decides_on_device()
    }

    fn decide(&self, rows: Rows<'_>) -> Result<Vec<u32>, ModelError> {
        (**self).decide(rows)
    }
}

impl<C: Classifier + ?Sized> Classifier for Box<C> {
    fn width(&self) -> usize {
        (**self).width()
    }

    fn classes(&self) -> usize {
        (**self).classes()
    }

    fn logits(&self, rows: Rows<'_>) -> Result<Vec<f32>, ModelError> {
        (**self).logits(rows)
    }

    fn logits_with(&self, rows: Rows<'_>, numbers: &[f64]) -> Result<Vec<f32>, ModelError> {
        (**self).logits_with(rows, numbers)
    }

    fn is_fallible(&self) -> bool {
        (**self).is_fallible()
    }

    fn decision(&self) -> &Decision {
        (**self).decision()
    }

    fn decides_on_device(&self) -> bool {
        (**self).decides_on_device()
    }

    fn decide(&self, rows: Rows<'_>) -> Result<Vec<u32>, ModelError> {
        (**self).decide(rows)
    }
}

/// A classifier whose outputs can be differentiated with respect to its input features.
pub trait Differentiable: Classifier {
    /// The number of features that the network sees of an input; see [`encoding::InputLayout`].
    fn features(&self) -> usize;

    /// Computes for each row r Σ_c `cotangents[r, c]` · ∂logit_c/∂feature: row-major `[rows,
    /// features]`. `cotangents` is row-major `[rows, classes]`.
    ///
    /// # Errors
    /// When the device fails or a gradient is not finite.
    fn input_gradients(&self, rows: Rows<'_>, cotangents: &[f32]) -> Result<Vec<f32>, ModelError>;
}

impl<M: Differentiable + ?Sized> Differentiable for Box<M> {
    fn features(&self) -> usize {
        (**self).features()
    }

    fn input_gradients(&self, rows: Rows<'_>, cotangents: &[f32]) -> Result<Vec<f32>, ModelError> {
        (**self).input_gradients(rows, cotangents)
    }
}

/// Returns the class with the largest logit, the first of them on ties.
pub fn predicted_class(logits: &[f32]) -> u32 {
    Decision::Largest.decide(&[], logits)
}

/// What the search differentiates, for an input's own predicted class y.
///
/// The paper leaves the choice open. The loss saturates (its gradient is exactly zero in f32 once
/// the lead is some 100), which would silently end the search; the margin does not. For texts,
/// whose networks are far from that, the loss finds more: it weighs the gradients at x and x' by
/// how near each is to the boundary.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Default,
    serde::Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Objective {
    /// Lead of the predicted class over the next: logit minus the largest other logit
    #[default]
    Margin,
    /// Logit of the predicted class
    Logit,
    /// Cross-entropy of the predicted class, as in the ADF paper; vanishes for confident models
    Loss,
}

impl Objective {
    /// Computes ∂J/∂logits at `logits` for class `label`, signed so that *descending* J always
    /// moves towards the decision boundary. Appends one value a class to `out`.
    pub fn cotangent(self, logits: &[f32], label: u32, out: &mut Vec<f32>) {
        let label = label as usize;
        let start = out.len();
        out.resize(start + logits.len(), 0.0);
        let cotangent = &mut out[start..];
        match self {
            Objective::Logit => cotangent[label] = 1.0,
            Objective::Margin => {
                cotangent[label] = 1.0;
                let rival =
                    (0..logits.len())
                        .filter(|&class| class != label)
                        .reduce(|best, class| {
                            if logits[class] > logits[best] {
                                class
                            } else {
                                best
                            }
                        });
                if let Some(rival) = rival {
                    cotangent[rival] = -1.0;
                }
            }
            Objective::Loss => {
                // −∂CE/∂logits = onehot − softmax.
                let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                let total: f32 = logits.iter().map(|logit| (logit - largest).exp()).sum();
                for (value, logit) in cotangent.iter_mut().zip(logits) {
                    *value = -(logit - largest).exp() / total;
                }
                // 1 − softmax of the label, without the cancellation.
                cotangent[label] = 0.0;
                cotangent[label] = -cotangent.iter().sum::<f32>();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_go_to_the_first_class() {
        assert_eq!(predicted_class(&[1.0, 1.0]), 0);
        assert_eq!(predicted_class(&[0.0, 2.0, 2.0]), 1);
    }

    #[test]
    fn cotangents() {
        let mut out = Vec::new();
        Objective::Margin.cotangent(&[3.0, 1.0, 2.0], 0, &mut out);
        assert_eq!(out, [1.0, 0.0, -1.0]);
        out.clear();
        Objective::Loss.cotangent(&[80.0, -80.0], 0, &mut out);
        assert_eq!(out, [0.0, 0.0], "saturated, as documented");
        out.clear();
        Objective::Loss.cotangent(&[30.0, 0.0], 0, &mut out);
        assert!(out[0] > 0.0 && out[0] == -out[1], "not yet: {out:?}");
    }
}
