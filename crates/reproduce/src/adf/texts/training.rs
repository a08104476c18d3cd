//! The paper's networks for texts.

use std::path::Path;

use super::paper::{LABEL_COLUMN, TEXT_COLUMN};
use probity_nn::recurrent::network::CellKind;
use probity_nn::train::TrainSpecification;
use probity_nn::train::options::{Learning, RecurrentOptions};

/// The specification that trains the paper's network on the comments in `texts`, with the word
/// vectors in `vectors`.
pub fn training((texts, vectors): (&Path, &Path), cell: CellKind, seed: u64) -> TrainSpecification {
    let mut specification = TrainSpecification::of_texts(texts, LABEL_COLUMN);
    specification.text_column = Some(TEXT_COLUMN.to_owned());
    let network = specification.recurrent.insert(RecurrentOptions::default());
    network.cell = cell;
    network.embeddings = vectors.to_owned();
    specification.training = Learning {
        epochs: Some(8),
        batch: Some(64),
        weight_decay: Some(0.1),
        validation: Some(0.1),
        seed,
        ..Learning::default()
    };
    specification
}
