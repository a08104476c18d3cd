//! `probity groups` as one call: a model and labelled rows in, a summary out.

use std::path::PathBuf;

use serde::Serialize;
use thiserror::Error;

pub use super::specification::GroupsSpecification;
use super::{GroupError, GroupOptions, GroupReport, measure_groups};
use crate::audit_error::AuditError;
pub use crate::certify::parts::Part;
use crate::opened::{Opened, open_model, open_table, protected_or_marked, reading_schema};
use crate::record::record_of;
use probity_data::table::{Labels, ReadCounts, Table};
use probity_nn::fnn::Fnn;
use probity_nn::model::Model;
use probity_nn::provenance::Provenance;
use probity_run::run_directory::RunError;
use probity_run::specification::Checked;
use probity_run::specification::file::Record;
use probity_tensor::device::ComputeDevice;

/// Why a group run cannot be done.
#[derive(Debug, Error)]
pub enum GroupRunError {
    /// The model directory cannot be read.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Model or data cannot be opened.
    #[error(transparent)]
    Open(Box<AuditError>),
    /// The figures cannot be computed.
    #[error(transparent)]
    Group(#[from] GroupError),
    /// A part of rows that nobody dealt.
    #[error("part is {part}, but {} does not say how it was trained, so its rows have no parts; leave the part out", model.display())]
    NoParts {
        /// The part asked for.
        part: Part,
        /// The model directory.
        model: PathBuf,
    },
    /// A part of other rows.
    #[error(
        "the part {part} is of the rows that the model was trained with, {} (SHA-256 {trained}); {} has {given}", trained_on.display(), data.display()
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
    #[error("the model was trained without a {part} part; choose another part")]
    EmptyPart {
        /// The part asked for.
        part: Part,
    },
}

impl From<AuditError> for GroupRunError {
    fn from(error: AuditError) -> GroupRunError {
        GroupRunError::Open(Box::new(error))
    }
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

/// A measurement of groups whose inputs are opened and checked.
pub struct GroupMeasurement {
    specification: GroupsSpecification,
    options: GroupOptions,
    record: Record,
    model: Model,
    table: Table,
    counts: ReadCounts,
}

impl GroupMeasurement {
    /// Opens and checks what `specification` names, for predictions on `device`.
    ///
    /// # Errors
    /// See [`GroupRunError`].
    pub fn open(
        specification: Checked<GroupsSpecification>,
        device: &ComputeDevice,
    ) -> Result<GroupMeasurement, GroupRunError> {
        let mut specification = specification.into_inner();
        let Opened {
            value: model,
            sha256,
        } = open_model(&specification.model)?;
        let schema = reading_schema(
            &model.schema,
            specification.out_of_domain,
            specification.skip_bad_rows,
        )?;
        let protected = protected_or_marked(&specification.protected, &model.schema);
        let groups = &specification.groups;
        let options = groups.options(&model.schema, protected, specification.seed);
        options.groups(&schema)?;
        specification.protected.clone_from(&options.protected);
        let data = open_table(&specification.data, &schema, Labels::Required)?;
        let rows = match specification.part {
            Part::All => None,
            part => Some(rows_of(&specification, part, &sha256, &data)?),
        };
        let hashes = [("model", sha256), ("data", data.sha256.clone())];
        let hashes = hashes.map(|(role, hash)| (role.to_owned(), hash));
        Ok(GroupMeasurement {
            record: record_of(device, &hashes.into()),
            counts: data.value.counts.clone(),
            table: match rows {
                Some(rows) => data.value.select(&rows),
                None => data.value,
            },
            specification,
            options,
            model,
        })
    }

    /// The specification, resolved.
    pub fn specification(&self) -> &GroupsSpecification {
        &self.specification
    }

    /// What was opened, and where.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Measures on `device`.
    ///
    /// # Errors
    /// When the model cannot answer.
    pub fn run(&self, device: &ComputeDevice) -> Result<GroupRunSummary, GroupRunError> {
        let fnn = Fnn::new(&self.model.network, device);
        let report = measure_groups(&fnn, &self.model.schema, &self.table, &self.options)?;
        Ok(GroupRunSummary {
            schema_version: 1,
            command: "groups".to_owned(),
            probity_version: env!("CARGO_PKG_VERSION").to_owned(),
            model_sha256: self.record.sha256_of("model").to_owned(),
            data_sha256: self.record.sha256_of("data").to_owned(),
            data: self.counts.clone(),
            part: self.specification.part,
            seed: self.specification.seed,
            report,
        })
    }
}

/// The rows of `part` among those of `data`, as the training of the model of that hash dealt them.
fn rows_of(
    run: &GroupsSpecification,
    part: Part,
    model_sha256: &str,
    data: &Opened<Table>,
) -> Result<Vec<u32>, GroupRunError> {
    let Some(trained) = Provenance::of(&run.model, model_sha256)? else {
        return Err(GroupRunError::NoParts {
            part,
            model: run.model.clone(),
        });
    };
    if trained.data_sha256() != data.sha256 {
        return Err(GroupRunError::OtherData {
            part,
            data: run.data.clone(),
            trained: trained.data_sha256().to_owned(),
            trained_on: trained.specification.data,
            given: data.sha256.clone(),
        });
    }
    let split = trained.specification.split(data.value.rows());
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
