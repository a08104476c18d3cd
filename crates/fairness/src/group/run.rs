//! `probity groups` as one call: a model and labelled rows or texts in, a summary out.

use std::collections::BTreeMap;

use serde::Serialize;
use thiserror::Error;

pub use super::specification::GroupsSpecification;
use super::text::naming::{Naming, Subgroups};
use super::text::{ScoredTexts, TextGroupOptions, TextGroupReport, measure_text_groups};
use super::{GroupError, GroupOptions, GroupReport, measure_answers};
use crate::audit_error::AuditError;
pub use crate::certify::parts::Part;
use crate::certify::parts::{Dealer, Inputs, PartError, positions_of, rows_of};
use crate::opened::{by_role, open_lexicon, protected_or_marked};
use crate::record::record_of;
use crate::scored::{LabelledTexts, TextScorer, open_labelled_texts};
use crate::table_model::{ReadRows, Said, TableModel};
use probity_data::table::{Labels, ReadCounts};
use probity_nn::decision::Decision;
use probity_nn::modality::ModalityName;
use probity_predictor::probabilities::RoundedRows;
use probity_run::run_directory::RunError;
use probity_run::specification::Checked;
use probity_run::specification::file::Record;
use probity_tensor::device::ComputeDevice;

/// A reason why a group run cannot be done.
#[derive(Debug, Error)]
pub enum GroupRunError {
    /// The model directory cannot be read.
    #[error("{0}")]
    Run(#[from] RunError),
    /// Model or data cannot be opened.
    #[error("{0}")]
    Open(#[source] Box<AuditError>),
    /// The figures cannot be computed.
    #[error("{0}")]
    Group(#[from] GroupError),
    /// The part cannot be told.
    #[error("{0}")]
    Part(#[from] PartError),
    /// The part of the data has no rows.
    #[error("the model was trained without a {part} part; choose another part")]
    EmptyPart {
        /// The part that was asked for.
        part: Part,
    },
}

impl From<AuditError> for GroupRunError {
    fn from(error: AuditError) -> GroupRunError {
        GroupRunError::Open(Box::new(error))
    }
}

/// The content of `summary.json` of a group run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupRunSummary {
    /// Version of this layout.
    pub schema_version: u32,
    /// Always `groups`.
    pub command: String,
    /// Version that ran.
    pub probity_version: String,
    /// The kind of inputs: rows of a table, or texts.
    pub modality: ModalityName,
    /// SHA-256 of the model.
    pub model_sha256: String,
    /// SHA-256 of the data file.
    pub data_sha256: String,
    /// Counts of what reading a table changed or left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<ReadCounts>,
    /// The part of the rows or texts that is measured.
    pub part: Part,
    /// Seed of the bootstrap.
    pub seed: u64,
    /// Number of rows that have rounded probabilities, where a predictor may give such.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounded: Option<RoundedRows>,
    /// What users are to know of the answers of a predictor.
    #[serde(skip)]
    pub remarks: Vec<String>,
    /// The figures.
    #[serde(flatten)]
    pub report: MeasuredGroups,
}

/// The figures of one modality.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum MeasuredGroups {
    /// The figures of rows of a table.
    Table(GroupReport),
    /// The figures of texts.
    Text(TextGroupReport),
}

/// A measurement of groups whose inputs are opened and checked.
pub struct GroupMeasurement {
    specification: GroupsSpecification,
    record: Record,
    device: ComputeDevice,
    case: Case,
}

/// The model and the inputs that are measured.
enum Case {
    Table(Box<TableCase>),
    Text(Box<TextCase>),
}

struct TableCase {
    decision: Decision,
    options: GroupOptions,
    model: TableModel,
    rows: ReadRows,
    counts: ReadCounts,
}

struct TextCase {
    decision: Decision,
    options: TextGroupOptions,
    model: TextScorer,
    positive: usize,
    labels: Vec<u32>,
    counts: Option<ReadCounts>,
    texts: Vec<String>,
    subgroups: Vec<Subgroups>,
    foreign: u64,
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
        let (case, sha256) = match specification.modality {
            ModalityName::Table => {
                let (case, sha256) = TableCase::open(&mut specification)?;
                (Case::Table(Box::new(case)), sha256)
            }
            ModalityName::Text => {
                let (case, sha256) = TextCase::open(&mut specification)?;
                (Case::Text(Box::new(case)), sha256)
            }
        };
        Ok(GroupMeasurement {
            record: record_of(device, &sha256),
            device: device.clone(),
            specification,
            case,
        })
    }

    /// The specification, resolved.
    pub fn specification(&self) -> &GroupsSpecification {
        &self.specification
    }

    /// The record of what was opened, and on which device.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Measures the groups.
    ///
    /// # Errors
    /// When the model cannot answer.
    pub fn run(&self) -> Result<GroupRunSummary, GroupRunError> {
        let device = &self.device;
        let mut answered = None;
        let (data, report) = match &self.case {
            Case::Table(case) => {
                let (report, said) = case.measure(device)?;
                answered = Some(said);
                (Some(case.counts.clone()), MeasuredGroups::Table(report))
            }
            Case::Text(case) => {
                let report = MeasuredGroups::Text(case.measure(device)?);
                (case.counts.clone(), report)
            }
        };
        Ok(GroupRunSummary {
            schema_version: 1,
            command: "groups".to_owned(),
            probity_version: env!("CARGO_PKG_VERSION").to_owned(),
            modality: self.specification.modality,
            model_sha256: self.record.sha256_of("model").to_owned(),
            data_sha256: self.record.sha256_of("data").to_owned(),
            data,
            part: self.specification.part,
            seed: self.specification.seed,
            rounded: answered.as_ref().and_then(|said| said.rounded),
            remarks: answered.map_or_else(Vec::new, |said| said.remarks),
            report,
        })
    }
}

/// Hashes of what was opened, by role.
type Hashes = BTreeMap<String, String>;

impl TableCase {
    fn open(run: &mut GroupsSpecification) -> Result<(TableCase, Hashes), GroupRunError> {
        let reading = run.reading();
        let model = TableModel::open(|| Ok(&run.model), &run.predictor, reading)?;
        let model_sha256 = model.sha256()?;
        let own = model.schema();
        let protected = protected_or_marked(&run.protected, own);
        let mut options = run.groups.options(own, protected, run.seed);
        options.impact = run.impact.options();
        options.groups(&model.reading()?)?;
        run.protected.clone_from(&options.protected);
        let data = model.read(&run.data, Labels::Optional)?;
        let rows = chosen(run, [&model_sha256, &data.sha256], |model, file| {
            rows_of(run.part, (model, own), file, &data.value.table)
        })?;
        let favourable = options.class(own)? as usize;
        let decision = run
            .decision
            .alone()
            .among(&own.label.classes, favourable, Some(own));
        let decision = decision.map_err(AuditError::from)?;
        let case = TableCase {
            decision,
            counts: data.value.table.counts.clone(),
            rows: match rows {
                Some(rows) => data.value.select(&rows),
                None => data.value,
            },
            options,
            model,
        };
        let hashes = [("model", model_sha256), ("data", data.sha256)];
        Ok((case, by_role(hashes)))
    }

    fn measure(&self, device: &ComputeDevice) -> Result<(GroupReport, Said), GroupRunError> {
        let said = self.model.say(&self.rows, device)?;
        let (answers, schema) = (
            (said.logits.as_slice(), &self.decision),
            self.model.schema(),
        );
        let report = measure_answers(answers, schema, &self.rows.table, &self.options)?;
        Ok((report, said))
    }
}

impl TextCase {
    fn open(run: &mut GroupsSpecification) -> Result<(TextCase, Hashes), GroupRunError> {
        let model = TextScorer::open(&run.model, &run.predictor)?;
        let classes = model.value.classes();
        let positive = run.groups.positive_of(classes)?;
        let text = &run.text;
        let lexicon = open_lexicon(text.lexicon.as_deref(), text.preset)?;
        let naming = Naming::new(&lexicon.value, &run.protected, text.preset)?;
        run.protected = naming.attributes();
        let label = run.label_column.as_deref().unwrap_or_default();
        let columns = (text.column.as_deref(), label);
        let reading = (run.skip_bad_rows, run.label_threshold);
        let data = open_labelled_texts(&run.data, columns, reading, classes)?;
        let count = data.value.texts.len();
        let chosen = chosen(run, [&model.sha256, &data.sha256], |model, file| {
            positions_of(run.part, model, file, count)
        })?;
        let LabelledTexts {
            texts,
            labels,
            counts,
        } = match chosen {
            Some(chosen) => data.value.select(&chosen),
            None => data.value,
        };
        let (subgroups, foreign) = naming.subgroups(&texts)?;
        let decision = run.decision.alone().among(classes, positive, None);
        let decision = decision.map_err(AuditError::from)?;
        let case = TextCase {
            decision,
            options: TextGroupOptions {
                positive: classes[positive].clone(),
                is_positive_given: run.groups.positive.is_some(),
                min_group: run.groups.min_group,
                resamples: run.groups.resamples,
                seed: run.seed,
            },
            subgroups,
            foreign,
            positive,
            labels,
            counts,
            texts,
            model: model.value,
        };
        let hashes = [
            ("model", model.sha256),
            ("lexicon", lexicon.sha256),
            ("data", data.sha256),
        ];
        Ok((case, by_role(hashes)))
    }

    fn measure(&self, device: &ComputeDevice) -> Result<TextGroupReport, AuditError> {
        let logits = self.model.logits(&self.texts, device)?;
        let classes = self.model.classes().len();
        let logits = (logits.as_slice(), classes);
        let scored = ScoredTexts::new(logits, &self.decision, &self.labels, self.positive);
        Ok(measure_text_groups(
            &scored,
            (&self.subgroups, self.foreign),
            &self.options,
        ))
    }
}

/// The inputs of the run's part, which `of` tells of model and data; `None` for all.
fn chosen(
    run: &GroupsSpecification,
    [model, data]: [&str; 2],
    of: impl FnOnce(Dealer<'_>, Inputs<'_>) -> Result<Vec<u32>, PartError>,
) -> Result<Option<Vec<u32>>, GroupRunError> {
    let part = run.part;
    if part == Part::All {
        return Ok(None);
    }
    let chosen = of((&run.model, model), (&run.data, data))?;
    match chosen.is_empty() {
        true => Err(GroupRunError::EmptyPart { part }),
        false => Ok(Some(chosen)),
    }
}
