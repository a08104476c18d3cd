//! Parts of the data: what a model was trained on, and what it never saw.

use std::fmt;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use probity_nn::provenance::{PROVENANCE, Provenance};

/// A part of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// All of it
    #[default]
    All,
    /// What the model was trained on
    Train,
    /// What the model was validated on
    Validation,
    /// What the model never saw
    Test,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Part::All => "all",
            Part::Train => "train",
            Part::Validation => "validation",
            Part::Test => "test",
        })
    }
}

/// Why a part cannot be told.
#[derive(Debug, Error)]
pub enum PartError {
    /// The model does not say.
    #[error(
        "{} does not say which part of the data the model was trained on ({problem}); leave the part out, or name a model \
         that probity train made",
        file.display()
    )]
    Unknown {
        /// Where it would be said.
        file: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// Other data.
    #[error(
        "{} is not the file that the model was trained on, so its parts are unknown; leave the part out", file.display()
    )]
    OtherData {
        /// The file.
        file: PathBuf,
    },
}

/// The positions of `part` among the `count` rows or texts in `file`, as the training of
/// `model` dealt them; each is given with its SHA-256. `labelled` are those that have an outcome,
/// where some have none: a training deals these alone.
///
/// # Errors
/// When the model does not say, what it says is of another model, or it was trained on another
/// file.
pub fn positions_of(
    part: Part,
    (model, model_sha256): (&Path, &str),
    (file, sha256): (&Path, &str),
    (count, labelled): (usize, Option<Vec<u32>>),
) -> Result<Vec<u32>, PartError> {
    if part == Part::All {
        return Ok((0..count as u32).collect());
    }
    let unknown = |problem: String| PartError::Unknown {
        file: model.join(PROVENANCE),
        problem,
    };
    let trained =
        Provenance::of(model, model_sha256).map_err(|error| unknown(error.to_string()))?;
    let trained = trained.ok_or_else(|| unknown("there is no such file".to_owned()))?;
    if trained.data_sha256() != sha256 {
        return Err(PartError::OtherData {
            file: file.to_owned(),
        });
    }
    let dealt = labelled.as_ref().map_or(count, Vec::len);
    let split = trained.specification.split(dealt);
    let mut chosen = match part {
        Part::All => (0..count as u32).collect(),
        Part::Train => split.train,
        Part::Validation => split.validation,
        Part::Test => split.test,
    };
    if let Some(labelled) = labelled {
        for place in &mut chosen {
            *place = labelled[*place as usize];
        }
    }
    chosen.sort_unstable();
    Ok(chosen)
}
