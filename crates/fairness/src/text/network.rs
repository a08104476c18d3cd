//! Text networks as a search asks them: about rows that begin with the number of their source.

use super::domain::PADDING;
use probity_nn::text::TextNetwork;
use probity_nn::{Classifier, Differentiable, ModelError, Rows};

/// A text network that is asked about rows of a [`super::domain::TextDomain`].
#[derive(Debug)]
pub struct SourcedNetwork(TextNetwork);

impl SourcedNetwork {
    /// Wraps `network`, which reads as many tokens as a row of the domain has room for.
    pub fn new(network: TextNetwork) -> SourcedNetwork {
        SourcedNetwork(network)
    }
}

/// The rows without the numbers of their sources.
fn tokens_of(rows: Rows<'_>) -> Vec<i32> {
    let mut tokens = Vec::with_capacity(rows.codes.len());
    for row in rows.iter() {
        tokens.extend_from_slice(row.get(1..).unwrap_or(&[PADDING]));
    }
    tokens
}

impl Classifier for SourcedNetwork {
    fn width(&self) -> usize {
        1 + self.0.width()
    }

    fn classes(&self) -> usize {
        self.0.classes()
    }

    fn logits(&self, rows: Rows<'_>) -> Result<Vec<f32>, ModelError> {
        let width = rows.width.saturating_sub(1);
        self.0.logits(Rows::new(&tokens_of(rows), width))
    }
}

impl Differentiable for SourcedNetwork {
    fn features(&self) -> usize {
        self.0.features()
    }

    fn input_gradients(&self, rows: Rows<'_>, cotangents: &[f32]) -> Result<Vec<f32>, ModelError> {
        let (tokens, width) = (tokens_of(rows), rows.width.saturating_sub(1));
        self.0
            .input_gradients(Rows::new(&tokens, width), cotangents)
    }
}
