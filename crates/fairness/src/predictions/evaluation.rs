//! Evaluates a model on labelled rows or texts.

use std::collections::HashSet;

use serde::Serialize;

use super::specification::EvaluateSpecification;
use super::{decide, log_probability};
use crate::audit_error::AuditError;
use crate::certify::parts::{Dealer, Inputs, Part, PartError, positions_of, rows_of};
use crate::group::calibration::CalibrationError;
use crate::group::outcomes_of;
use crate::group::tally::Tally;
use crate::scored::{TextScorer, open_labelled_texts};
use crate::statistics::Mean;
use crate::table_model::{Said, TableModel};
use probity_data::table::{Labels, ReadCounts};
use probity_nn::metrics::{Errors, Metrics, Quality};
use probity_nn::modality::ModalityName;
use probity_predictor::probabilities::RoundedRows;
use probity_tensor::device::ComputeDevice;

/// Logits with labels.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The logits, row-major `[inputs, classes]`.
    pub logits: Vec<f32>,
    /// The decision on each input, by number.
    pub decided: Vec<u32>,
    /// Number of each input's class; empty of a regressor.
    pub labels: Vec<u32>,
    /// The number that each input has; empty of a classifier.
    pub targets: Vec<f64>,
    /// The classes.
    pub classes: Vec<String>,
}

/// The quality of a model on labelled inputs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluation {
    /// The kind of inputs: rows of a table, or texts.
    pub modality: ModalityName,
    /// The part of the inputs that is measured.
    pub part: Part,
    /// SHA-256 of the model.
    pub model_sha256: String,
    /// SHA-256 of the data file.
    pub data_sha256: String,
    /// Counts of what reading a table changed or left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<ReadCounts>,
    /// Rows of the part that have no outcome, and are left out.
    pub rows_without_outcome: u64,
    /// Number of the measured inputs that the model has learnt from, where the file is the one that it
    /// was trained on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub learnt_from: Option<u64>,
    /// Number of rows that have rounded probabilities, where a predictor may give such.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounded: Option<RoundedRows>,
    /// What users are to know of the answers of a predictor.
    #[serde(skip)]
    pub remarks: Vec<String>,
    /// The classes, in the order of the confusion matrix.
    pub classes: Vec<String>,
    /// Accuracy, AUC, F1, confusion matrix; of a regressor its errors.
    #[serde(flatten)]
    pub quality: Quality,
    /// The figures of probabilities; none of a regressor.
    #[serde(flatten)]
    pub probabilities: Option<ProbabilityFigures>,
}

/// The quality of probabilities.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProbabilityFigures {
    /// Mean of the negative logarithm of the probability of an input's own class.
    pub log_loss: Mean,
    /// Mean over the inputs of Σ (probability of a class − 1 or 0)², of all classes.
    pub brier_score: Mean,
    /// Bins of the calibration errors.
    pub calibration_bins: u32,
    /// The figures of each class.
    pub by_class: Vec<ClassFigures>,
}

/// The figures of one class against the rest.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassFigures {
    /// The class.
    pub class: String,
    /// Number of inputs of this class.
    pub inputs: u64,
    /// Expected calibration error of the probability of the class.
    pub calibration_error: f64,
    /// The 95 % interval of the error, which holds for any number of inputs.
    pub ci95: [f64; 2],
}

/// Evaluates the model that `specification` names, on `device`.
///
/// # Errors
/// When something cannot be opened or read, the model cannot answer, or no input is left.
pub fn evaluate(
    specification: &EvaluateSpecification,
    device: &ComputeDevice,
) -> Result<Evaluation, AuditError> {
    let opened = match specification.modality {
        ModalityName::Table => rows(specification, device)?,
        ModalityName::Text => texts(specification, device)?,
    };
    let Opened {
        hashes: [model_sha256, data_sha256],
        data,
        rows_without_outcome,
        learnt_from,
        rounded,
        remarks,
        judged,
    } = opened;
    Ok(Evaluation {
        modality: specification.modality,
        part: specification.part,
        model_sha256,
        data_sha256,
        data,
        rows_without_outcome,
        learnt_from,
        rounded,
        remarks,
        quality: judged.quality(),
        probabilities: judged.targets.is_empty().then(|| ProbabilityFigures {
            log_loss: judged.log_loss(),
            brier_score: judged.brier_score(),
            calibration_bins: specification.calibration_bins,
            by_class: judged.by_class(specification.calibration_bins),
        }),
        classes: judged.classes,
    })
}

struct Opened {
    hashes: [String; 2],
    data: Option<ReadCounts>,
    rows_without_outcome: u64,
    learnt_from: Option<u64>,
    rounded: Option<RoundedRows>,
    remarks: Vec<String>,
    judged: Judged,
}

fn rows(asked: &EvaluateSpecification, device: &ComputeDevice) -> Result<Opened, AuditError> {
    let reading = asked.reading();
    let model = TableModel::open(|| Ok(&asked.model), &asked.predictor, reading)?;
    let model_sha256 = model.sha256()?;
    let data = model.read(&asked.data, Labels::Optional)?;
    let hashes = [model_sha256, data.sha256];
    let (own, table) = (model.schema(), &data.value.table);
    let (dealer, file) = dealt(asked, &hashes);
    let of_part = |part| rows_of(part, (dealer, own), file, table);
    let mut places = places(asked, of_part)?;
    let all = places.len();
    places.retain(|&row| data.value.table.has_label(row as usize));
    if places.is_empty() {
        return Err(AuditError::NoOutcomes {
            file: asked.data.clone(),
            column: own.label.name.clone(),
        });
    }
    let learnt_from = learnt_from(asked, &places, of_part);
    let chosen = data.value.select(&places);
    let said = model.say(&chosen, device)?;
    let Said {
        logits,
        rounded,
        remarks,
    } = said;
    let table = chosen.table;
    let classes = own.label.classes.clone();
    let rows = (0..table.rows()).map(|row| table.row(row));
    let (_, decided) = decide(&asked.decision, (&classes, Some(own)), rows, &logits)?;
    Ok(Opened {
        judged: Judged {
            logits,
            decided,
            labels: table.labels().to_vec(),
            targets: table.targets().to_vec(),
            classes,
        },
        hashes,
        data: Some(data.value.table.counts),
        rows_without_outcome: (all - places.len()) as u64,
        learnt_from,
        rounded,
        remarks,
    })
}

fn texts(asked: &EvaluateSpecification, device: &ComputeDevice) -> Result<Opened, AuditError> {
    let model = TextScorer::open(&asked.model, &asked.predictor)?;
    let label = asked.label_column.as_deref().unwrap_or_default();
    let columns = (asked.text_column.as_deref(), label);
    let data = open_labelled_texts(
        &asked.data,
        columns,
        (asked.skip_bad_rows, asked.label_threshold),
        model.value.classes(),
    )?;
    let hashes = [model.sha256, data.sha256];
    let (dealer, file) = dealt(asked, &hashes);
    let of_part = |part| positions_of(part, dealer, file, data.value.texts.len());
    let places = places(asked, of_part)?;
    let learnt_from = learnt_from(asked, &places, of_part);
    let chosen = data.value.select(&places);
    let logits = model.value.logits(&chosen.texts, device)?;
    let classes = model.value.classes().to_vec();
    let rows = chosen.texts.iter().map(|_| &[][..]);
    let (_, decided) = decide(&asked.decision, (&classes, None), rows, &logits)?;
    Ok(Opened {
        judged: Judged {
            logits,
            decided,
            labels: chosen.labels,
            targets: Vec::new(),
            classes,
        },
        hashes,
        data: chosen.counts,
        rows_without_outcome: 0,
        learnt_from,
        rounded: None,
        remarks: Vec::new(),
    })
}

/// The model that may say how its parts were dealt, and the file that they are of.
fn dealt<'a>(
    asked: &'a EvaluateSpecification,
    [model, data]: &'a [String; 2],
) -> (Dealer<'a>, Inputs<'a>) {
    ((&asked.model, model), (&asked.data, data))
}

/// The inputs of the part that is asked for, as `of_part` gives it.
fn places(
    asked: &EvaluateSpecification,
    of_part: impl Fn(Part) -> Result<Vec<u32>, PartError>,
) -> Result<Vec<u32>, AuditError> {
    let places = of_part(asked.part)?;
    match places.is_empty() {
        true => Err(AuditError::EmptyPart { part: asked.part }),
        false => Ok(places),
    }
}

/// The number of the inputs at `places` that the model has learnt from, where that is known: its
/// quality on them is no measure of how good it is for others.
fn learnt_from(
    asked: &EvaluateSpecification,
    places: &[u32],
    of_part: impl Fn(Part) -> Result<Vec<u32>, PartError>,
) -> Option<u64> {
    if asked.predictor.source.is_some() {
        return None;
    }
    // A model that does not say, or of other data, is the usual case and no failure.
    let learnt: HashSet<u32> = of_part(Part::Train).ok()?.into_iter().collect();
    Some(
        places
            .iter()
            .filter(|&place| learnt.contains(place))
            .count() as u64,
    )
}

impl Judged {
    fn rows(&self) -> impl Iterator<Item = (&[f32], usize)> {
        let rows = self.logits.chunks_exact(self.classes.len().max(1));
        rows.zip(self.labels.iter().map(|&label| label as usize))
    }

    /// The quality of the decisions, or of the numbers that are given.
    pub fn quality(&self) -> Quality {
        if !self.targets.is_empty() {
            return Quality::Numbers(Errors::new(&self.logits, &self.targets));
        }
        Quality::Classes(Metrics::of_decided(
            (&self.logits, &self.decided),
            self.classes.len(),
            &self.labels,
        ))
    }

    /// The mean of −ln p of the inputs' own classes.
    pub fn log_loss(&self) -> Mean {
        let losses: Vec<f64> = self
            .rows()
            .map(|(logits, label)| -log_probability(logits, label))
            .collect();
        Mean::of_amounts(&losses)
    }

    /// The mean of Σ (p − 1 or 0)² over the classes (Brier 1950).
    pub fn brier_score(&self) -> Mean {
        let score = |(logits, label): (&[f32], usize)| {
            let classes = 0..logits.len();
            let off = classes.map(|class| {
                let actual = if class == label { 1.0 } else { 0.0 };
                (log_probability(logits, class).exp() - actual).powi(2)
            });
            off.sum()
        };
        // The largest score is that of all probability on one class that is not the own one.
        Mean::within(&self.rows().map(score).collect::<Vec<f64>>(), [0.0, 2.0])
    }

    /// The figures of each class against the rest.
    pub fn by_class(&self, bins: u32) -> Vec<ClassFigures> {
        let once = vec![1; self.labels.len()];
        let of_one = vec![0; self.labels.len()];
        let classes = self.classes.iter().enumerate();
        let figures = classes.filter_map(|(class, name)| {
            let labels = self.labels.iter().copied().map(Some);
            let outcomes = outcomes_of((&self.logits, &self.decided), labels, class);
            let tallies = Tally::of_groups(&outcomes, &of_one, 1, bins as usize, &once);
            let tally = tallies.first()?;
            let error: CalibrationError = tally.calibration()?;
            Some(ClassFigures {
                class: name.clone(),
                inputs: tally.positive(),
                calibration_error: error.value,
                ci95: error.interval(0.05),
            })
        });
        figures.collect()
    }
}
