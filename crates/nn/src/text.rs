//! Text classifiers on a device: an embedding table and a recurrent network over padded rows of
//! token ids.
//!
//! A row holds the ids of a text's tokens (rows of the embedding table), then [`PADDING`] up to the
//! width. A network reads the first [`TextNetwork::reading`] tokens of a text, as the model that it
//! belongs to does; what is behind them has no influence. The features of a row are its embeddings,
//! `[width, dimension]`; their gradients are zero behind the end of what is read.
//!
//! On the flex device the hand-written kernels answer ([`super::recurrent::kernels`]); on the
//! others the burn module does, in tiles of a fixed number of texts ([`super::recurrent::tensor`]),
//! which keeps rows independent of each other there too.

use thiserror::Error;

use super::fnn::check_finite;
use super::recurrent::kernels::{EmbeddingTable, Kernels};
use super::recurrent::network::RecurrentWeights;
use super::text_tiles::TextTiles;
use super::{Classifier, Differentiable, ModelError, Rows};
use probity_tensor::device::{ComputeDevice, DeviceName};

/// The number that fills a row behind its text.
pub const PADDING: i32 = -1;

/// The reason why numbers do not make a text network.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum TextNetworkError {
    /// A size is 0.
    #[error("a text network needs at least one of each: {0}")]
    Empty(&'static str),
    /// A list has another length than the shape needs.
    #[error("the {what} are {found} numbers, but the shape needs {expected}")]
    Length {
        /// The name of the list.
        what: &'static str,
        /// The length of the list.
        found: usize,
        /// The length that the shape needs.
        expected: String,
    },
    /// A number is NaN or infinite.
    #[error("number {position} of the {what} is not finite")]
    NotFinite {
        /// The name of the list.
        what: &'static str,
        /// The position of the number in the list, from 0.
        position: usize,
    },
}

/// A text classifier, ready to answer.
#[derive(Debug)]
pub struct TextNetwork {
    weights: RecurrentWeights,
    /// The embeddings, row-major `[tokens, dimension]`.
    embeddings: Vec<f32>,
    width: usize,
    /// The number of tokens of a text that are read.
    reads: usize,
    engine: Engine,
}

#[derive(Debug)]
enum Engine {
    Kernels(Kernels),
    Burn(Box<TextTiles>),
}

impl TextNetwork {
    /// Puts a network on `device`: `embeddings` is row-major `[tokens, weights.shape.inputs]`,
    /// `width` the largest number of tokens in a text.
    ///
    /// # Errors
    /// When a size is 0, a list's length does not fit the shape, or a number is not finite.
    pub fn new(
        weights: RecurrentWeights,
        embeddings: Vec<f32>,
        width: usize,
        device: &ComputeDevice,
    ) -> Result<TextNetwork, TextNetworkError> {
        check(&weights, &embeddings, width)?;
        let engine = if device.name() == DeviceName::Flex {
            Engine::Kernels(Kernels::new(&weights))
        } else {
            Engine::Burn(Box::new(TextTiles::new(
                &weights,
                &embeddings,
                device.burn(),
            )))
        };
        Ok(TextNetwork {
            weights,
            embeddings,
            width,
            reads: width,
            engine,
        })
    }

    /// Returns the network that reads the first `tokens` tokens of a text, however wide its rows
    /// are.
    #[must_use]
    pub fn reading(mut self, tokens: usize) -> TextNetwork {
        self.reads = tokens;
        self
    }

    /// The number of tokens of a text that are read.
    pub fn reads(&self) -> usize {
        self.reads
    }

    /// The parameters of the network.
    pub fn weights(&self) -> &RecurrentWeights {
        &self.weights
    }

    /// The embeddings of the network.
    pub fn table(&self) -> EmbeddingTable<'_> {
        EmbeddingTable {
            values: &self.embeddings,
            dimension: self.weights.shape.inputs,
        }
    }

    /// Returns the part of each text in `rows` that is read.
    fn texts<'a>(&self, rows: Rows<'a>) -> Result<Vec<&'a [i32]>, ModelError> {
        rows.iter()
            .map(|row| {
                let text = without_padding(row);
                self.check_tokens(text)?;
                Ok(&text[..text.len().min(self.reads)])
            })
            .collect()
    }

    fn check_tokens(&self, text: &[i32]) -> Result<(), ModelError> {
        let tokens = self.table().tokens();
        let is_token = |&id: &i32| usize::try_from(id).is_ok_and(|id| id < tokens);
        match text.iter().position(|id| !is_token(id)) {
            None => Ok(()),
            Some(position) => Err(ModelError::Token {
                id: text[position],
                position,
                last: tokens as i64 - 1,
            }),
        }
    }
}

/// Returns the text in a row.
pub fn without_padding(row: &[i32]) -> &[i32] {
    let length = row
        .iter()
        .rposition(|&id| id != PADDING)
        .map_or(0, |last| last + 1);
    &row[..length]
}

fn check(
    weights: &RecurrentWeights,
    embeddings: &[f32],
    width: usize,
) -> Result<(), TextNetworkError> {
    let shape = weights.shape;
    for (size, name) in [
        (shape.inputs, "numbers an embedding"),
        (shape.units, "units"),
        (shape.layers, "layers"),
        (shape.classes, "classes"),
        (width, "tokens a text"),
    ] {
        if size == 0 {
            return Err(TextNetworkError::Empty(name));
        }
    }
    if weights.values.len() != shape.parameters() {
        return Err(TextNetworkError::Length {
            what: "weights",
            found: weights.values.len(),
            expected: shape.parameters().to_string(),
        });
    }
    if embeddings.is_empty() || !embeddings.len().is_multiple_of(shape.inputs) {
        return Err(TextNetworkError::Length {
            what: "embeddings",
            found: embeddings.len(),
            expected: format!("a multiple of {} above 0", shape.inputs),
        });
    }
    for (what, values) in [("weights", &weights.values[..]), ("embeddings", embeddings)] {
        if let Some(position) = values.iter().position(|value| !value.is_finite()) {
            return Err(TextNetworkError::NotFinite { what, position });
        }
    }
    Ok(())
}

impl Classifier for TextNetwork {
    fn width(&self) -> usize {
        self.width
    }

    fn classes(&self) -> usize {
        self.weights.shape.classes
    }

    fn logits(&self, rows: Rows<'_>) -> Result<Vec<f32>, ModelError> {
        let texts = self.texts(rows)?;
        let logits = match &self.engine {
            Engine::Kernels(kernels) => kernels.logits_sharing_prefixes(self.table(), &texts),
            Engine::Burn(engine) => engine.logits(&texts, rows.width)?,
        };
        check_finite(&logits, self.classes(), rows)?;
        Ok(logits)
    }
}

impl Differentiable for TextNetwork {
    fn features(&self) -> usize {
        self.width * self.weights.shape.inputs
    }

    fn input_gradients(&self, rows: Rows<'_>, cotangents: &[f32]) -> Result<Vec<f32>, ModelError> {
        let texts = self.texts(rows)?;
        let gradients = match &self.engine {
            Engine::Kernels(kernels) => {
                kernels.input_gradients(self.table(), &texts, cotangents, rows.width)
            }
            Engine::Burn(engine) => engine.input_gradients(&texts, cotangents, rows.width)?,
        };
        check_finite(&gradients, rows.width * self.weights.shape.inputs, rows)?;
        Ok(gradients)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recurrent::network::{CellKind, Shape};

    /// The computation on the CPU that a test uses: the kernels, or burn's tensors as on other
    /// devices.
    #[derive(Clone, Copy)]
    enum By {
        Kernels,
        Tensors,
    }

    fn network(cell: CellKind, bidirectional: bool, by: By) -> TextNetwork {
        let shape = Shape {
            cell,
            inputs: 6,
            units: 5,
            layers: 2,
            bidirectional,
            classes: 2,
        };
        let embeddings = (0..40 * 6).map(|i| ((i * 31 % 97) as f32 - 48.0) / 40.0);
        let weights = RecurrentWeights::random(shape, 5);
        let flex = ComputeDevice::flex();
        let mut network = TextNetwork::new(weights, embeddings.collect(), 12, &flex).unwrap();
        if let By::Tensors = by {
            let tiles = TextTiles::new(&network.weights, &network.embeddings, flex.burn());
            network.engine = Engine::Burn(Box::new(tiles));
        }
        network
    }

    /// Makes 300 texts of 0 to 12 tokens.
    fn rows() -> Vec<i32> {
        (0..300i32)
            .flat_map(|row| {
                (0..12).map(move |t| {
                    if t < row % 13 {
                        (row * 7 + t * t) % 40
                    } else {
                        PADDING
                    }
                })
            })
            .collect()
    }

    #[test]
    fn kernels_and_burn_agree_and_a_row_alone_is_bit_equal() {
        let codes = rows();
        let all = Rows::new(&codes, 12);
        let cotangents: Vec<f32> = (0..600).map(|i| (i % 3) as f32 - 1.0).collect();
        for cell in [CellKind::Lstm, CellKind::Gru] {
            for bidirectional in [false, true] {
                let [kernels, burn] =
                    [By::Kernels, By::Tensors].map(|by| network(cell, bidirectional, by));
                let answers = [&kernels, &burn].map(|network| {
                    let logits = network.logits(all).unwrap();
                    let gradients = network.input_gradients(all, &cotangents).unwrap();
                    assert_eq!(gradients.len(), 300 * network.features());
                    for row in [0, 5, 12, 299] {
                        let alone = Rows::new(&codes[row * 12..][..12], 12);
                        assert_eq!(network.logits(alone).unwrap(), logits[row * 2..][..2]);
                        let weights = &cotangents[row * 2..][..2];
                        let own = network.input_gradients(alone, weights).unwrap();
                        assert_eq!(own, gradients[row * 72..][..72]);
                    }
                    (logits, gradients)
                });
                let [(logits, gradients), (other_logits, other_gradients)] = answers;
                let pairs = logits.iter().zip(&other_logits);
                for (own, other) in pairs.chain(gradients.iter().zip(&other_gradients)) {
                    assert!((own - other).abs() < 1e-5, "{own} {other}");
                }
            }
        }
    }

    #[test]
    fn what_is_behind_the_last_token_read_has_no_influence() {
        let codes = rows();
        let all = Rows::new(&codes, 12);
        let cut: Vec<i32> = codes
            .chunks(12)
            .flat_map(|row| (0..12).map(|at| if at < 5 { row[at] } else { PADDING }))
            .collect();
        let cut = Rows::new(&cut, 12);
        let cotangents: Vec<f32> = (0..600).map(|i| (i % 3) as f32 - 1.0).collect();
        for by in [By::Kernels, By::Tensors] {
            for bidirectional in [false, true] {
                let whole = network(CellKind::Lstm, bidirectional, by);
                assert_ne!(whole.logits(all).unwrap(), whole.logits(cut).unwrap());
                let expected = whole.input_gradients(cut, &cotangents).unwrap();
                let logits = whole.logits(cut).unwrap();
                let short = whole.reading(5);
                assert_eq!(short.logits(all).unwrap(), logits);
                assert_eq!(short.input_gradients(all, &cotangents).unwrap(), expected);
            }
        }
    }

    #[test]
    fn what_is_no_token_is_an_error() {
        let network = network(CellKind::Lstm, false, By::Kernels);
        for (bad, position) in [(40, 0), (-2, 1), (PADDING, 1)] {
            let mut row = vec![1, 2, 3];
            row[position] = bad;
            row.resize(12, PADDING);
            let error = network.logits(Rows::new(&row, 12)).unwrap_err();
            let ModelError::Token {
                id,
                position: found,
                ..
            } = error
            else {
                panic!("{error}");
            };
            assert_eq!((id, found), (bad, position));
        }
    }

    #[test]
    fn numbers_that_do_not_fit_are_errors() {
        let device = ComputeDevice::flex();
        let good = network(CellKind::Lstm, false, By::Kernels);
        let make = |weights: &RecurrentWeights, embeddings: Vec<f32>| {
            TextNetwork::new(weights.clone(), embeddings, 12, &device).unwrap_err()
        };
        let error = make(good.weights(), vec![0.0; 7]);
        assert!(matches!(
            error,
            TextNetworkError::Length {
                what: "embeddings",
                ..
            }
        ));
        let mut weights = good.weights().clone();
        weights.values[3] = f32::NAN;
        assert_eq!(
            make(&weights, vec![0.0; 6]),
            TextNetworkError::NotFinite {
                what: "weights",
                position: 3
            }
        );
        weights.values.pop();
        assert!(matches!(
            make(&weights, vec![0.0; 6]),
            TextNetworkError::Length {
                what: "weights",
                ..
            }
        ));
    }
}
