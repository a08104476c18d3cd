//! The options of a training of a transformer.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::transformer::shape::{InnerActivation, Pooling, Shape};
use probity_run::specification::FieldError;
use probity_text::embeddings::SHIPPED;

/// The learning rate of a fresh network, and of a head alone.
const FRESH_RATE: f64 = 1e-3;
/// The learning rate of an encoder with its head: a larger one makes it forget what it knows
/// (Devlin et al. 2019, appendix A.3).
const ENCODER_RATE: f64 = 5e-5;
/// The epochs of an encoder with its head.
const ENCODER_EPOCHS: u32 = 3;

/// A transformer for texts: on an encoder, or fresh, with a word a piece.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct TransformerOptions {
    /// Model directory of an imported transformer on which the classifier is trained; its head, if
    /// it has one, learns from the beginning. Without it the network is fresh.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "path"))]
    pub encoder: Option<PathBuf>,
    /// Let the head learn alone; the encoder stays as it is.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub freeze: bool,
    /// Blocks of a fresh network.
    #[schemars(range(min = 1, max = 64))]
    pub blocks: usize,
    /// Heads of attention of a fresh network, which share its units.
    #[schemars(range(min = 1, max = 64))]
    pub heads: usize,
    /// Numbers of a state of a fresh network.
    #[schemars(range(min = 1, max = 4096))]
    pub width: usize,
    /// Units of the inner layers of a fresh network.
    #[schemars(range(min = 1, max = 16_384))]
    pub inner: usize,
    /// Pieces of a text that are read, from its beginning; words in a fresh network. No more than
    /// the encoder reads.
    #[schemars(range(min = 1, max = 65_536))]
    pub pieces: usize,
    /// Word vectors, or shipped, whose words a fresh network knows, and whose numbers its table
    /// begins with.
    #[schemars(extend("format" = "path", "x-names" = ["shipped"]))]
    pub word_vectors: PathBuf,
    /// Largest norm of a step's gradient; a larger one is scaled down to it.
    #[schemars(
        range(min = 0.000_001, max = 1_000_000),
        extend("x-flag" = "transformer-clip-norm")
    )]
    pub clip_norm: f64,
}

impl Default for TransformerOptions {
    fn default() -> TransformerOptions {
        TransformerOptions {
            encoder: None,
            freeze: false,
            blocks: 2,
            heads: 4,
            width: 64,
            inner: 128,
            pieces: 128,
            word_vectors: SHIPPED.into(),
            clip_norm: 1.0,
        }
    }
}

impl TransformerOptions {
    /// Checks the rules between the fields, which stand in the table `transformer`.
    ///
    /// # Errors
    /// A field of a fresh network beside an encoder, or the reverse.
    pub fn rules(&self) -> Result<(), FieldError> {
        let usual = TransformerOptions::default();
        let given = |field: &str, expected: &str| {
            Err(FieldError::new(
                format!("transformer.{field}"),
                "given",
                expected,
            ))
        };
        let fresh = [
            ("blocks", self.blocks != usual.blocks),
            ("heads", self.heads != usual.heads),
            ("width", self.width != usual.width),
            ("inner", self.inner != usual.inner),
            ("word_vectors", self.word_vectors != usual.word_vectors),
        ];
        let of_fresh = fresh.into_iter().find(|(_, is_given)| *is_given);
        match (&self.encoder, of_fresh) {
            (Some(_), Some((field, _))) => {
                return given(field, "left out where transformer.encoder is given");
            }
            (None, _) if self.freeze => {
                return given("freeze", "given with transformer.encoder only");
            }
            _ => {}
        }
        let is_fresh = self.encoder.is_none();
        if is_fresh && self.heads > 0 && !self.width.is_multiple_of(self.heads) {
            let expected = format!("a divisor of transformer.width, {}", self.width);
            return Err(FieldError::new("transformer.heads", self.heads, expected));
        }
        match self.shape(1, 2).problem() {
            Some(problem) if is_fresh => {
                let expected = format!("such that the network has not {problem}");
                Err(FieldError::new("transformer.width", self.width, expected))
            }
            _ => Ok(()),
        }
    }

    /// Returns the shape of a fresh network of `words` words, the unknown one among them.
    pub fn shape(&self, words: usize, classes: usize) -> Shape {
        Shape {
            vocabulary: words,
            positions: self.pieces,
            first_position: 0,
            segments: 0,
            units: self.width,
            heads: self.heads,
            layers: self.blocks,
            inner: self.inner,
            activation: InnerActivation::Gelu,
            epsilon: 1e-12,
            pooling: Pooling::Mean,
            head: None,
            classes,
        }
    }

    /// Returns the usual learning rate, and the usual epochs where they do not depend on the data.
    pub(crate) fn usual(&self) -> (f64, Option<u32>) {
        match self.encoder.is_some() && !self.freeze {
            true => (ENCODER_RATE, Some(ENCODER_EPOCHS)),
            false => (FRESH_RATE, None),
        }
    }
}
