//! The configuration of Hugging Face of a classifier that runs elsewhere.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::hugging_face::{expect_one_label, in_order};
use super::names::Family;
use super::settings::{CONFIG, read_file};
use crate::model::StoreError;

/// The settings in `config.json` of a classifier that runs elsewhere, such as in an ONNX graph.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ElsewhereConfig {
    /// The names of the classes, by number.
    pub classes: Option<Vec<String>>,
    /// The number of rows of the network's table of pieces.
    pub vocabulary: Option<usize>,
    /// The number of pieces of a text that the network has positions for.
    pub longest: Option<usize>,
    /// The number of the piece that fills a text up.
    pub padding: Option<i32>,
}

/// The fields that matter here, all of which may be absent.
#[derive(Deserialize)]
struct Read {
    model_type: Option<String>,
    vocab_size: Option<usize>,
    max_position_embeddings: Option<usize>,
    pad_token_id: Option<i32>,
    problem_type: Option<String>,
    id2label: Option<BTreeMap<String, String>>,
}

impl ElsewhereConfig {
    /// Returns where the configuration of the network in `file` is: beside it.
    pub fn beside(file: &Path) -> PathBuf {
        file.with_file_name(CONFIG)
    }

    /// Reads the configuration in `file`.
    ///
    /// # Errors
    /// When the file cannot be read, or the network gives something else than one class of a text.
    pub fn read(file: &Path) -> Result<ElsewhereConfig, StoreError> {
        let refused = |problem: String| StoreError::Description {
            file: file.to_owned(),
            problem,
        };
        let read: Read = serde_json::from_slice(&read_file(file)?)
            .map_err(|error| refused(format!("not a configuration of Hugging Face: {error}")))?;
        expect_one_label(read.problem_type.as_deref()).map_err(refused)?;
        let names = read.id2label.as_ref();
        let classes = names.map(|names| in_order(names, names.len()));
        let family = read.model_type.as_deref().and_then(Family::of_model_type);
        let unused = match family.is_some_and(Family::skips_padding) {
            true => {
                read.pad_token_id
                    .and_then(|id| usize::try_from(id).ok())
                    .unwrap_or(1)
                    + 1
            }
            false => 0,
        };
        let positions = read.max_position_embeddings;
        Ok(ElsewhereConfig {
            classes: classes.transpose().map_err(refused)?,
            vocabulary: read.vocab_size,
            longest: positions.map(|positions| positions.saturating_sub(unused)),
            padding: read.pad_token_id.filter(|&id| id >= 0),
        })
    }
}
