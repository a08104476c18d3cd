//! `probity groups` as one call: a model and labelled rows in, a summary out.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{GroupError, GroupOptions, GroupReport, measure_groups};
use probity_data::read::ReadError;
use probity_data::schema::Outside;
use probity_data::table::{Labels, ReadCounts, Table};
use probity_nn::fnn::Fnn;
use probity_nn::model::{Model, StoreError};
use probity_nn::provenance::Provenance;
use probity_nn::train::Split;
use probity_run::run_directory::{RunError, file_sha256};
use probity_tensor::device::{ComputeDevice, DeviceName};

/// Why a group run cannot be done.
#[derive(Debug, Error)]
pub enum GroupRunError {
    /// The model cannot be loaded.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The data cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A file or directory cannot be used.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The figures cannot be computed.
    #[error(transparent)]
    Group(#[from] GroupError),
    /// A part of rows that nobody dealt.
    #[error("--part {part}: {} does not say how it was trained, so its rows have no parts; leave --part out", model.display())]
    NoParts {
        /// The part asked for.
        part: Part,
        /// The model directory.
        model: PathBuf,
    },
    /// A part of other rows.
    #[error(
        "--part {part} is of the rows that the model was trained with, {} (SHA-256 {trained}); {} has {given}", trained_on.display(), data.display()
    )]
    OtherData {
        /// The part asked for.
        part: Part,
        /// The data given.
        data: PathBuf,
        /// The data of the training.
        trained_on: PathBuf,
        /// Hash of the data given.
        given: String,
        /// Hash of the data of the training.
        trained: String,
    },
    /// A part without rows.
    #[error("the model was trained without a {part} part; choose another --part")]
    EmptyPart {
        /// The part asked for.
        part: Part,
    },
    /// A policy that the model was not trained with.
    #[error(
        "--outside level needs a model that was trained with such a level; use clip, skip or reject"
    )]
    OutsideLevel,
}

/// Which of the rows are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// All rows of the file
    #[default]
    All,
    /// Those that the model was trained on
    Train,
    /// Those that it was chosen by
    Validation,
    /// Those that it never saw
    Test,
}

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Part::All => "all",
            Part::Train => "train",
            Part::Validation => "validation",
            Part::Test => "test",
        })
    }
}

/// Everything that determines a group run: `run.toml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupRun {
    /// Always `groups`.
    pub command: String,
    /// Version that ran.
    pub probity_version: String,
    /// Model directory.
    pub model: PathBuf,
    /// SHA-256 of the model.
    pub model_sha256: String,
    /// Labelled rows.
    pub data: PathBuf,
    /// SHA-256 of the data file.
    pub data_sha256: String,
    /// Policy for missing and outside values, where it is not the schema's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside: Option<Outside>,
    /// Which rows.
    pub part: Part,
    /// Device that predicted.
    pub device: DeviceName,
    /// What that device calls itself.
    pub hardware: String,
    /// What is measured, and how.
    pub options: GroupOptions,
}

/// `summary.json` of a group run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupRunSummary {
    /// Version of this layout.
    pub schema_version: u32,
    /// Always `groups`.
    pub command: String,
    /// Version that ran.
    pub probity_version: String,
    /// SHA-256 of the model.
    pub model_sha256: String,
    /// SHA-256 of the data file.
    pub data_sha256: String,
    /// What reading the data changed or left out.
    pub data: ReadCounts,
    /// Which rows.
    pub part: Part,
    /// Seed of the bootstrap.
    pub seed: u64,
    /// The figures.
    #[serde(flatten)]
    pub report: GroupReport,
}

/// Measures `model`, loaded from `run.model`, as `run` says.
///
/// # Errors
/// See [`GroupRunError`].
pub fn run_groups(
    run: &GroupRun,
    model: &Model,
    device: &ComputeDevice,
) -> Result<GroupRunSummary, GroupRunError> {
    let schema = match run.outside {
        Some(outside) => model.schema.clone().with_outside(outside),
        None => model.schema.clone(),
    };
    let mut domains = model.schema.attributes.iter().zip(&schema.attributes);
    if domains.any(|(own, read)| read.domain().1 > own.domain().1) {
        return Err(GroupRunError::OutsideLevel);
    }
    run.options.groups(&schema)?;
    let all = Table::read(&run.data, &schema, Labels::Required)?;
    let rows = match run.part {
        Part::All => None,
        part => Some(rows_of(run, part, all.rows())?),
    };
    let selected;
    let table = match &rows {
        Some(rows) => {
            selected = all.select(rows);
            &selected
        }
        None => &all,
    };
    let fnn = Fnn::new(&model.network, device);
    let report = measure_groups(&fnn, &model.schema, table, &run.options)?;
    Ok(GroupRunSummary {
        schema_version: 1,
        command: run.command.clone(),
        probity_version: env!("CARGO_PKG_VERSION").to_owned(),
        model_sha256: run.model_sha256.clone(),
        data_sha256: run.data_sha256.clone(),
        data: all.counts,
        part: run.part,
        seed: run.options.seed,
        report,
    })
}

/// The rows of `part` among `rows` rows.
fn rows_of(run: &GroupRun, part: Part, rows: usize) -> Result<Vec<u32>, GroupRunError> {
    let Some(trained) = Provenance::of(&run.model)? else {
        return Err(GroupRunError::NoParts {
            part,
            model: run.model.clone(),
        });
    };
    let given = file_sha256(&run.data)?;
    if trained.data_sha256 != given {
        return Err(GroupRunError::OtherData {
            part,
            data: run.data.clone(),
            trained_on: trained.data,
            given,
            trained: trained.data_sha256,
        });
    }
    let split = Split::new(rows, &trained.options);
    let chosen = match part {
        Part::Train | Part::All => split.train,
        Part::Validation => split.validation,
        Part::Test => split.test,
    };
    if chosen.is_empty() {
        return Err(GroupRunError::EmptyPart { part });
    }
    Ok(chosen)
}
