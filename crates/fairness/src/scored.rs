//! Inputs with the answers of a model: the logits of rows and of texts, and their labels as classes
//! of the model.

use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;

use super::audit_error::AuditError;
use super::opened::{Opened, open_text_model};
use super::specification::PredictorSpecification;
use probity_data::numbers::class_name;
use probity_data::table::ReadCounts;
use probity_nn::text::PADDING;
use probity_nn::text_classifier::TextClassifier;
use probity_nn::text_model::TextModel;
use probity_nn::transformer_model::{TransformerModel, TransformerNetwork, is_transformer};
use probity_nn::{Classifier, Rows};
use probity_predictor::texts::OpenTextPredictor;
use probity_tensor::device::ComputeDevice;
use probity_text::corpus::{TextColumns, read_texts_hashed};

/// Number of texts that are padded to one length at a time.
const BLOCK: usize = 4096;

/// Texts with their labels as numbers of the model's classes.
#[derive(Debug, Clone)]
pub struct LabelledTexts {
    /// The texts.
    pub texts: Vec<String>,
    /// The classes of the texts.
    pub labels: Vec<u32>,
    /// The counts of what was left out of the file, if anything.
    pub counts: Option<ReadCounts>,
}

impl LabelledTexts {
    /// The texts at `places`.
    pub fn select(self, places: &[u32]) -> LabelledTexts {
        let at = |place: &u32| *place as usize;
        LabelledTexts {
            texts: places.iter().map(|p| self.texts[at(p)].clone()).collect(),
            labels: places.iter().map(|p| self.labels[at(p)]).collect(),
            counts: self.counts,
        }
    }
}

/// The labelled texts in `file`, a table, for a model of `classes`; without bad rows if
/// `skip_bad_rows` says so. Labels of a threshold are those that it was trained with, or two numbers
/// on both sides of it.
///
/// # Errors
/// When it cannot be read, or a label is none of the classes.
pub fn open_labelled_texts(
    file: &Path,
    (text, label): (Option<&str>, &str),
    (skip_bad_rows, label_threshold): (bool, Option<f64>),
    classes: &[String],
) -> Result<Opened<LabelledTexts>, AuditError> {
    let columns = TextColumns {
        text: text.map(str::to_owned),
        label: Some(label.to_owned()),
        label_threshold,
        skip_bad_rows,
        classes: classes.to_vec(),
    };
    let hashed = read_texts_hashed(file, &columns)?;
    let corpus = hashed.value;
    let is_around = label_threshold.is_some_and(|threshold| {
        let numbers: Vec<Option<f64>> = classes.iter().map(|class| class.parse().ok()).collect();
        matches!(numbers[..], [Some(below), Some(above)] if below < threshold && threshold <= above)
    });
    let numbers: Vec<u32> = (0u32..)
        .zip(&corpus.classes)
        .map(|(own, class)| {
            let is_it = |known: &String| class_name(known) == class_name(class);
            let at_side = is_around.then_some(own as usize);
            // Programs spell truths as they like.
            let is_truth = ["true", "false"].contains(&class.to_ascii_lowercase().as_str());
            let is_said = |known: &String| is_truth && known.eq_ignore_ascii_case(class);
            let number = classes.iter().position(is_it);
            let number = number.or_else(|| classes.iter().position(is_said));
            let number = number.or(at_side);
            let number = number.ok_or_else(|| {
                let first = corpus.labels.iter().position(|&label| label == own);
                AuditError::UnknownLabel {
                    file: file.to_owned(),
                    row: corpus.rows.number(first.unwrap_or_default()),
                    column: label.to_owned(),
                    label: class.clone(),
                    known: classes.join(", "),
                }
            })?;
            Ok(number as u32)
        })
        .collect::<Result<_, AuditError>>()?;
    let labels = corpus.labels.iter().map(|&label| numbers[label as usize]);
    Ok(Opened {
        value: LabelledTexts {
            labels: labels.collect(),
            counts: ReadCounts::of_bad_rows(corpus.texts.len(), corpus.bad_rows),
            texts: corpus.texts,
        },
        sha256: hashed.sha256,
    })
}

/// A transformer, ready to answer.
pub struct Transformer {
    /// The names of the classes, by number.
    pub classes: Vec<String>,
    /// The network of the transformer.
    pub network: Arc<TransformerNetwork>,
}

/// The transformer in `directory`.
///
/// # Errors
/// When there is none, or one without classes.
fn open_transformer(directory: &Path) -> Result<Opened<Transformer>, AuditError> {
    let model = TransformerModel::load(directory)?;
    let (sha256, classes) = (model.sha256(), model.classes.clone());
    let network = Arc::new(TransformerNetwork::new(model)?);
    Ok(Opened {
        value: Transformer { classes, network },
        sha256,
    })
}

/// A network of texts, of either kind.
pub enum AnyTextModel {
    /// A recurrent network.
    Recurrent(Box<TextModel>),
    /// A transformer.
    Transformer(Transformer),
}

impl AnyTextModel {
    /// The network in `directory`.
    ///
    /// # Errors
    /// When there is none.
    pub fn open(directory: &Path) -> Result<Opened<AnyTextModel>, AuditError> {
        if is_transformer(directory) {
            return Ok(open_transformer(directory)?.map(AnyTextModel::Transformer));
        }
        let model = open_text_model(directory)?;
        Ok(model.map(|model| AnyTextModel::Recurrent(Box::new(model))))
    }
}

/// A classifier of texts, opened for its answers about them.
pub enum TextScorer {
    /// A network.
    Network(AnyTextModel),
    /// A predictor that only answers.
    Predictor(OpenTextPredictor),
}

impl TextScorer {
    /// The `predictor`, if one is named, or the model in the directory `model`.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(
        model: &Path,
        predictor: &PredictorSpecification,
    ) -> Result<Opened<TextScorer>, AuditError> {
        match predictor.text_options() {
            Some(predictor) => Ok(Opened {
                sha256: predictor.sha256()?,
                value: TextScorer::Predictor(predictor.open()?),
            }),
            None => Ok(AnyTextModel::open(model)?.map(TextScorer::Network)),
        }
    }

    /// Names of the classes.
    pub fn classes(&self) -> &[String] {
        match self {
            TextScorer::Network(AnyTextModel::Recurrent(model)) => &model.classes,
            TextScorer::Network(AnyTextModel::Transformer(model)) => &model.classes,
            TextScorer::Predictor(predictor) => &predictor.classes,
        }
    }

    /// The logits of `texts`, row-major `[texts, classes]`, of a network on `device`, and for what it
    /// reads of each.
    ///
    /// # Errors
    /// When a text cannot be split, or the model cannot answer.
    pub fn logits(&self, texts: &[String], device: &ComputeDevice) -> Result<Vec<f32>, AuditError> {
        match self {
            TextScorer::Network(AnyTextModel::Recurrent(model)) => {
                text_logits(model, texts, device)
            }
            TextScorer::Network(AnyTextModel::Transformer(model)) => {
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                Ok(model.network.on(device).logits(&texts)?)
            }
            TextScorer::Predictor(predictor) => {
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                predictor.check_stability(&texts)?;
                Ok(predictor.classifier().logits(&texts)?)
            }
        }
    }
}

/// The logits of `texts`, row-major `[texts, classes]`, each cut to what the model reads.
///
/// # Errors
/// When a text cannot be split, or the model cannot answer.
pub(crate) fn text_logits<S: AsRef<str> + Sync>(
    model: &TextModel,
    texts: &[S],
    device: &ComputeDevice,
) -> Result<Vec<f32>, AuditError> {
    let encoded: Vec<Vec<i32>> = texts
        .par_iter()
        .map(|text| Ok(model.reader.encode(text.as_ref())?.ids))
        .collect::<Result<_, AuditError>>()?;
    let width = encoded.iter().map(Vec::len).max().unwrap_or(0).max(1);
    let network = model.network(width, device)?;
    let mut logits = Vec::with_capacity(texts.len() * model.classes.len());
    for block in encoded.chunks(BLOCK) {
        let mut rows = Vec::with_capacity(block.len() * width);
        for ids in block {
            rows.extend(ids);
            rows.resize(rows.len() + width - ids.len(), PADDING);
        }
        logits.extend(network.logits(Rows::new(&rows, width))?);
    }
    Ok(logits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_classes_in_whatever_spelling() {
        let labels = |written: [&str; 3], classes: [&str; 2]| {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("texts.csv");
            let rows = written
                .map(|label| format!("good words,{label}\n"))
                .concat();
            std::fs::write(&file, format!("text,b\n{rows}")).unwrap();
            let classes = classes.map(str::to_owned);
            let opened = open_labelled_texts(&file, (Some("text"), "b"), (false, None), &classes);
            opened.map(|opened| opened.value.labels)
        };
        let [python, others] = [["False", "True"], ["true", "FALSE"]];
        assert_eq!(
            labels(["false", "true", "true"], python).unwrap(),
            [0, 1, 1]
        );
        assert_eq!(
            labels(["False", "TRUE", "true"], others).unwrap(),
            [1, 0, 0]
        );
        assert_eq!(labels(["0.0", "1", "1.0"], ["0", "1"]).unwrap(), [0, 1, 1]);
        assert!(labels(["no", "yes", "yes"], ["No", "Yes"]).is_err());
        assert!(labels(["true", "yes", "yes"], ["no", "yes"]).is_err());
    }
}
