//! A whole training as one call: labelled inputs → network → model directory.
//!
//! The directory is a model ([`crate::model`], [`crate::text_model`]) and a run at once: beside the
//! files of the model it holds `run.toml` (the specification and what was opened),
//! `provenance.toml`, `summary.json` and, while the training is unfinished, `checkpoint.bin`.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::fitting::{EpochReport, Observe};
use super::specification::TrainSpecification;
use super::{Pace, Split, TrainError};
use crate::ModelError;
use crate::alike::DecidedAlike;
use crate::metrics::{Metrics, Quality};
use crate::modality::ModalityName;
use crate::model::StoreError;
use crate::provenance::Provenance;
use crate::vocabulary::VocabularyError;
use probity_data::named_schema::NamedSchemaError;
use probity_data::read::BadRows;
use probity_data::read::ReadError;
use probity_data::table::ReadCounts;
use probity_run::pause::{self, Point};
use probity_run::run_directory::{CHECKPOINT, RunDirectory, RunError};
use probity_run::specification::file::{Record, SpecificationError};
use probity_run::specification::{Checked, FieldError, Specification};
use probity_tensor::device::ComputeDevice;
use probity_text::corpus::CorpusError;
use probity_text::embeddings::EmbeddingError;
use probity_text::glove::GloveError;
use probity_text::tokenizer::TokenizerError;

/// The time between two saves of an unfinished training.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(20);

/// Why a training run cannot be done.
#[derive(Debug, Error)]
pub enum TrainingError {
    /// The table cannot be read.
    #[error("{0}")]
    Read(#[from] ReadError),
    /// There is no such schema.
    #[error("{0}")]
    Schema(#[from] NamedSchemaError),
    /// The texts cannot be read.
    #[error("{0}")]
    Corpus(#[from] CorpusError),
    /// The word vectors cannot be read.
    #[error("{0}")]
    Embeddings(#[from] EmbeddingError),
    /// No word vectors can be fitted to the texts.
    #[error("no word vectors can be fitted to the texts: {0}")]
    Own(#[from] GloveError),
    /// Texts and word vectors do not fit each other.
    #[error("{0}")]
    Vocabulary(#[from] VocabularyError),
    /// The tokenizer has no file form.
    #[error("{0}")]
    Tokenizer(#[from] TokenizerError),
    /// A field has a value that does not go with the data.
    #[error("{0}")]
    Field(#[from] FieldError),
    /// Training cannot start or go on.
    #[error("{0}")]
    Train(#[from] TrainError),
    /// The model cannot be saved.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The directory cannot be used.
    #[error("{0}")]
    Run(#[from] RunError),
    /// The run cannot be read or written.
    #[error("{0}")]
    Specification(#[from] SpecificationError),
}

impl From<ModelError> for TrainingError {
    fn from(error: ModelError) -> Self {
        TrainingError::Train(error.into())
    }
}

/// Labelled inputs of one modality, opened and decoded: what a network can be trained on.
pub trait Trainable: Sized {
    /// The modality of the inputs.
    const MODALITY: ModalityName;
    /// A trained network with all that it needs to read inputs.
    type Model;
    /// The state with which an unfinished training goes on.
    type Checkpoint: Serialize + DeserializeOwned;

    /// Opens the files that `specification` names, each once, and notes them in `record`.
    ///
    /// # Errors
    /// When a file cannot be read, or its content does not fit the specification.
    fn open(
        specification: &TrainSpecification,
        device: &ComputeDevice,
        record: &mut Record,
    ) -> Result<Self, TrainingError>;

    /// The number of inputs.
    fn count(&self) -> usize;

    /// Trains a network.
    ///
    /// # Errors
    /// See [`TrainError`].
    fn fit(
        &self,
        specification: &TrainSpecification,
        resume: Option<Self::Checkpoint>,
        observe: &mut Observe<'_, Self::Checkpoint>,
    ) -> Result<Fit<Self::Model>, TrainingError>;

    /// Computes the quality of `model` on some of the inputs; `None` on none of them.
    ///
    /// # Errors
    /// When the model cannot answer.
    fn quality(&self, model: &Self::Model, items: &[u32])
    -> Result<Option<Quality>, TrainingError>;

    /// Writes `model` into `directory` and returns its SHA-256.
    ///
    /// # Errors
    /// When the model cannot be written.
    fn save(&self, model: &Self::Model, directory: &Path) -> Result<String, TrainingError>;

    /// The names of the classes, by number.
    fn classes(&self) -> &[String];

    /// Whether the labels are numbers, so that validation gives R² in place of accuracy.
    fn is_number(&self) -> bool {
        false
    }

    /// Returns a remark on these inputs for users who train on them by `specification`, if there is
    /// one.
    fn remark(&self, _specification: &TrainSpecification) -> Option<String> {
        None
    }

    /// Returns the counts of reading, where texts are read by `specification`.
    fn counts(&self, specification: &TrainSpecification) -> DataCounts;
}

/// A trained model and its course.
pub struct Fit<M> {
    /// The trained model.
    pub model: M,
    /// The parts of the inputs.
    pub split: Split,
    /// The number of trainable numbers.
    pub parameters: usize,
    /// The reports of all epochs.
    pub history: Vec<EpochReport>,
    /// Whether all epochs, or early stopping, ended the training (rather than the caller).
    pub finished: bool,
}

/// The counts of reading the inputs of a training.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum DataCounts {
    /// The counts of a table: what reading it changed or left out.
    Table(ReadCounts),
    /// The counts of texts: how much of them the vocabulary covers.
    Text(TextCounts),
}

/// How much of the texts the vocabulary covers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TextCounts {
    /// The number of texts.
    pub texts: u64,
    /// The number of tokens of all texts.
    pub tokens: u64,
    /// The number of tokens with a vector of their own.
    pub known_tokens: u64,
    /// The number of texts cut to the length limit.
    pub truncated: u64,
    /// The number of words of the model's vocabulary.
    pub words: u64,
    /// The rows of the table left out because something is wrong with them.
    #[serde(skip_serializing_if = "BadRows::is_empty")]
    pub bad_rows: BadRows,
}

/// The share of the tokens of texts that have a word vector below which a network reads too little.
pub const LEAST_COVERAGE: f64 = 0.6;

impl TextCounts {
    /// Returns the share of the tokens that have a vector of their own.
    pub fn coverage(&self) -> f64 {
        self.known_tokens as f64 / self.tokens.max(1) as f64
    }
}

/// A reason why what an audit finds in a trained model says little.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Caution {
    /// Fewer than [`LEAST_COVERAGE`] of the tokens of the texts have a word vector: the model does not
    /// read the others.
    FewKnownWords,
    /// On the rows that it has not learnt from the model does no better than always answering the most
    /// frequent class ([`Metrics::is_guessing`]), or the mean of the labels.
    Guessing,
}

/// Returns the reasons why an audit of a model that has read `data` and is as good as `measured` on rows
/// that tell it says little. That it decides everything alike is said by itself.
fn cautions(data: &DataCounts, measured: &Quality, decides_alike: bool) -> Vec<Caution> {
    let mut cautions = Vec::new();
    if let DataCounts::Text(texts) = data
        && texts.coverage() < LEAST_COVERAGE
    {
        cautions.push(Caution::FewKnownWords);
    }
    let is_guessing = match measured {
        Quality::Classes(metrics) => !decides_alike && metrics.is_guessing(metrics.confusion.len()),
        Quality::Numbers(errors) => errors.r_squared.is_some_and(|of| of <= 0.0),
    };
    if is_guessing {
        cautions.push(Caution::Guessing);
    }
    cautions
}

/// The content of `summary.json` of a training.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrainingSummary {
    /// The version of this layout.
    pub schema_version: u32,
    /// The name of the command, always `train`.
    pub command: &'static str,
    /// The version that ended the run.
    pub probity_version: &'static str,
    /// The modality that the model classifies.
    pub modality: ModalityName,
    /// Whether training ran to its end; an interrupted one can be resumed.
    pub finished: bool,
    /// The seed of everything random.
    pub seed: u64,
    /// The device that trained.
    pub device: String,
    /// The SHA-256 of the data file.
    pub data_sha256: String,
    /// The SHA-256 of the word vectors of a text classifier, where they do not ship with Probity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embeddings_sha256: Option<String>,
    /// The SHA-256 of the model.
    pub model_sha256: String,
    /// The classes, by number.
    pub classes: Vec<String>,
    /// The counts of reading the data.
    pub data: DataCounts,
    /// The class that every input of the data gets, if they all get one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decides_alike: Option<DecidedAlike>,
    /// The reasons why what an audit finds in the model says little.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cautions: Vec<Caution>,
    /// The number of trainable numbers.
    pub parameters: usize,
    /// The seconds that this call took.
    pub seconds: f64,
    /// The quality on the training part.
    pub train: Quality,
    /// The quality on the validation part, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation: Option<Quality>,
    /// The quality on the test part, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<Quality>,
    /// The reports of all epochs.
    pub history: Vec<EpochReport>,
}

/// Returns `error`, with the file if it is about the checkpoint of `directory`.
fn of_checkpoint(error: TrainingError, directory: &RunDirectory) -> TrainingError {
    match error {
        TrainingError::Train(
            error @ (TrainError::ForeignCheckpoint | TrainError::DivergedAfterCheckpoint { .. }),
        ) => RunError::Foreign {
            file: directory.file(CHECKPOINT),
            problem: error.to_string(),
        }
        .into(),
        other => other,
    }
}

/// A training whose inputs are opened and checked; nothing is written yet.
pub struct Training<T> {
    specification: Checked<TrainSpecification>,
    pace: Pace,
    record: Record,
    inputs: T,
}

impl<T: Trainable> Training<T> {
    /// Opens the files that `specification` names. Everything that can be wrong with the inputs is
    /// found here, and the pace that the specification leaves open is settled.
    ///
    /// # Errors
    /// See [`TrainingError`].
    pub fn open(
        specification: Checked<TrainSpecification>,
        device: &ComputeDevice,
    ) -> Result<Training<T>, TrainingError> {
        let mut record = Record::new();
        record.device = Some(device.name().to_string());
        record.hardware = Some(device.hardware());
        let inputs = T::open(&specification, device, &mut record)?;
        let mut settled = specification.into_inner();
        settled.settle_kind();
        let (learning, pace) = settled.training.settled(T::MODALITY, inputs.count());
        settled.training = learning;
        Ok(Training {
            specification: settled.check()?,
            pace,
            record,
            inputs,
        })
    }

    /// The name that a message gives to what was opened as `role`.
    pub fn name_of(&self, role: &str) -> String {
        match role {
            "data" => self.specification.data.display().to_string(),
            other => format!("the file of the {other}"),
        }
    }

    /// The specification of the training: no figure of its pace is left open.
    pub fn specification(&self) -> &TrainSpecification {
        &self.specification
    }

    /// The epochs, batch and weight decay of the training.
    pub fn pace(&self) -> Pace {
        self.pace
    }

    /// The record of the files that were opened.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The inputs.
    pub fn inputs(&self) -> &T {
        &self.inputs
    }

    /// Trains in `directory`. With `resume` the directory's checkpoint, if there is one, is taken
    /// up. `observe` is called after every epoch and may stop.
    ///
    /// # Errors
    /// See [`TrainingError`].
    pub fn run(
        &self,
        directory: &RunDirectory,
        resume: bool,
        observe: &mut dyn FnMut(&EpochReport) -> ControlFlow<()>,
    ) -> Result<TrainingSummary, TrainingError> {
        let specification: &TrainSpecification = &self.specification;
        let identity = specification.identity();
        let checkpoint = match resume {
            // Whether the checkpoint fits this training is known to the network under training:
            // `Learner::restore`.
            true => directory.read_checkpoint(&identity, |_| Ok(()))?,
            false => None,
        };
        directory.write_run(specification, &self.record)?;
        let started = Instant::now();
        let mut saved_at = Instant::now();
        let mut failed = None;
        let fit = self
            .inputs
            .fit(specification, checkpoint, &mut |report, checkpoint| {
                pause::at(Point::Round);
                let flow = observe(report);
                if flow.is_break() || saved_at.elapsed() >= CHECKPOINT_EVERY {
                    if let Err(error) = directory.write_checkpoint(&identity, &checkpoint()) {
                        failed = Some(error);
                        return ControlFlow::Break(());
                    }
                    saved_at = Instant::now();
                }
                flow
            })
            .map_err(|error| of_checkpoint(error, directory))?;
        if let Some(error) = failed {
            return Err(error.into());
        }
        let seconds = started.elapsed().as_secs_f64();
        directory.expect_in_place()?;
        let model_sha256 = self.inputs.save(&fit.model, directory.path())?;
        let provenance = Provenance {
            model_sha256: model_sha256.clone(),
            sha256: self.record.sha256.clone(),
            specification: specification.clone(),
        };
        provenance.write(directory.path())?;
        let quality = |items: &[u32]| self.inputs.quality(&fit.model, items);
        let classes = self.inputs.classes();
        let embeddings = self.record.sha256.get("embeddings").cloned();
        let train = quality(&fit.split.train)?;
        let none = || Quality::Classes(Metrics::new(&[], classes.len(), &[]));
        let train = train.unwrap_or_else(none);
        let validation = quality(&fit.split.validation)?;
        let test = quality(&fit.split.test)?;
        let parts = [Some(&train), validation.as_ref(), test.as_ref()];
        // What the model has not learnt from tells more.
        let measured = test.as_ref().or(validation.as_ref()).unwrap_or(&train);
        let data = self.inputs.counts(specification);
        let decides_alike = DecidedAlike::in_parts(classes, parts.into_iter().flatten());
        let cautions = cautions(&data, measured, decides_alike.is_some());
        let summary = TrainingSummary {
            schema_version: 1,
            command: TrainSpecification::KIND,
            probity_version: env!("CARGO_PKG_VERSION"),
            modality: T::MODALITY,
            finished: fit.finished,
            seed: specification.training.seed,
            device: self.record.device.clone().unwrap_or_default(),
            data_sha256: self.record.sha256_of("data").to_owned(),
            embeddings_sha256: embeddings,
            model_sha256,
            classes: classes.to_vec(),
            data,
            decides_alike,
            cautions,
            parameters: fit.parameters,
            seconds,
            train,
            validation,
            test,
            history: fit.history,
        };
        directory.write_summary(&summary)?;
        if summary.finished {
            directory.remove_checkpoint()?;
        }
        Ok(summary)
    }
}
