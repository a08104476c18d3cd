//! The paper's networks for texts.

use std::path::Path;

use super::paper::{LABEL_COLUMN, TEXT_COLUMN};
use probity_nn::recurrent::network::CellKind;
use probity_nn::text_train_options::TextTrainOptions;
use probity_nn::text_training_run::{COMMON_WORDS, TextTrainingRun, embeddings_sha256};

/// The training of the paper's network: comments with their SHA-256, and word vectors.
pub fn training(
    (texts, texts_sha256, vectors): (&Path, &str, &Path),
    cell: CellKind,
    seed: u64,
) -> anyhow::Result<TextTrainingRun> {
    Ok(TextTrainingRun {
        command: "train".to_owned(),
        probity_version: env!("CARGO_PKG_VERSION").to_owned(),
        texts: texts.to_owned(),
        texts_sha256: texts_sha256.to_owned(),
        text_column: Some(TEXT_COLUMN.to_owned()),
        label_column: LABEL_COLUMN.to_owned(),
        embeddings_sha256: embeddings_sha256(vectors)?,
        embeddings: vectors.to_owned(),
        common_words: COMMON_WORDS,
        options: TextTrainOptions {
            cell,
            seed,
            ..TextTrainOptions::default()
        },
    })
}
