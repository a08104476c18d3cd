//! A whole text training as one call: texts and word vectors → vocabulary → network → model
//! directory.
//!
//! Like a training on a table ([`super::training_run`]), the directory is a model
//! ([`super::text_model`]) and a run at once. Texts are trained on the CPU: the hand-written kernels
//! of [`super::recurrent`] need no other device.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

use super::metrics::Metrics;
use super::model::StoreError;
use super::recurrent::kernels::Kernels;
use super::recurrent::network::RecurrentWeights;
use super::text_model::TextModel;
use super::text_train::{LabelledTexts, TextCheckpoint, TrainedText, text_logits, train_text};
use super::text_train_options::TextTrainOptions;
use super::train::{EpochReport, Split, TrainError};
use super::vocabulary::{Vocabulary, VocabularyError};
use probity_data::fetch::default_cache_dir;
use probity_run::run_directory::{RUN, RunDirectory, RunError, file_sha256, hex};
use probity_text::corpus::{CorpusError, TextColumns, TextCorpus, read_texts};
use probity_text::embeddings::{EmbeddingError, EmbeddingTable, LoadOptions, SHIPPED, shipped};
use probity_text::frequencies::WordFrequencies;
use probity_text::tokenizer::TokenizerError;
use probity_text::validity::SentenceEmbedder;

/// First rows of the word vectors that a model keeps beside the words of its texts, unless told otherwise.
pub const COMMON_WORDS: u32 = 20_000;
/// How often an unfinished training is saved.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(20);

/// Why a text training cannot be done.
#[derive(Debug, Error)]
pub enum TextTrainingError {
    /// The texts cannot be read.
    #[error(transparent)]
    Corpus(#[from] CorpusError),
    /// The word vectors cannot be read.
    #[error(transparent)]
    Embeddings(#[from] EmbeddingError),
    /// Texts and word vectors do not fit each other.
    #[error(transparent)]
    Vocabulary(#[from] VocabularyError),
    /// Training cannot start or go on.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// The model cannot be saved.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The directory cannot be used.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The tokenizer has no file form.
    #[error(transparent)]
    Tokenizer(#[from] TokenizerError),
    /// The texts or vectors are no longer what the run began with.
    #[error("{} changed since the run began (SHA-256 {now}, was {then}); start a new run", file.display())]
    Changed {
        /// The file.
        file: PathBuf,
        /// Its hash now.
        now: String,
        /// Its hash at the start.
        then: String,
    },
}

/// Everything that determines a text training: `run.toml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TextTrainingRun {
    /// Always `train`.
    pub command: String,
    /// Version that began the run.
    pub probity_version: String,
    /// File of the labelled texts.
    pub texts: PathBuf,
    /// SHA-256 of that file.
    pub texts_sha256: String,
    /// Column of the texts; may be left out for a table of one column beside the label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text_column: Option<String>,
    /// Column of the labels.
    pub label_column: String,
    /// File of the word vectors, or `shipped`.
    pub embeddings: PathBuf,
    /// SHA-256 of that file; empty for the table that ships.
    pub embeddings_sha256: String,
    /// First rows of the word vectors that the model keeps in any case.
    pub common_words: u32,
    /// Options of the training.
    pub options: TextTrainOptions,
}

/// How much of the texts the vocabulary covers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TextSetSummary {
    /// Texts.
    pub texts: u64,
    /// Tokens of all texts.
    pub tokens: u64,
    /// Tokens with a vector of their own.
    pub known_tokens: u64,
    /// Texts cut to the length limit.
    pub truncated: u64,
    /// Words of the model's vocabulary.
    pub words: u64,
}

/// `summary.json` of a text training.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TextTrainingSummary {
    /// Version of this layout.
    pub schema_version: u32,
    /// Always `train`.
    pub command: String,
    /// Version that ended the run.
    pub probity_version: String,
    /// Whether training ran to its end; an interrupted one can be resumed.
    pub finished: bool,
    /// Seed of everything random.
    pub seed: u64,
    /// SHA-256 of the texts file.
    pub texts_sha256: String,
    /// SHA-256 of the word vectors.
    pub embeddings_sha256: String,
    /// SHA-256 of the model.
    pub model_sha256: String,
    /// Classes, by number.
    pub classes: Vec<String>,
    /// How much of the texts the vocabulary covers.
    pub data: TextSetSummary,
    /// Trainable numbers.
    pub parameters: usize,
    /// Seconds of this call.
    pub seconds: f64,
    /// Quality on the training part.
    pub train: Metrics,
    /// Quality on the validation part, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation: Option<Metrics>,
    /// Quality on the test part, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<Metrics>,
    /// Epoch by epoch.
    pub history: Vec<EpochReport>,
}

impl TextTrainingRun {
    /// What a checkpoint must belong to.
    fn identity(&self) -> String {
        hex(&Sha256::digest(format!("{self:?}")))
    }
}

/// The SHA-256 of a file of word vectors; empty for the table that ships.
///
/// # Errors
/// When the file cannot be read.
pub fn embeddings_sha256(file: &Path) -> Result<String, RunError> {
    if file == Path::new(SHIPPED) {
        Ok(String::new())
    } else {
        file_sha256(file)
    }
}

/// The word vectors in `file`, or those that ship, called `shipped`. A cache that cannot lie beside the file
/// lies in the user's cache folder, if there is one.
///
/// # Errors
/// When the file cannot be read or is no table of word vectors.
pub fn load_embeddings(file: &Path) -> Result<EmbeddingTable, EmbeddingError> {
    if file == Path::new(SHIPPED) {
        return shipped();
    }
    let options = LoadOptions {
        user_cache: default_cache_dir().ok(),
        ..LoadOptions::default()
    };
    EmbeddingTable::load(file, &options)
}

/// Labelled texts over their vocabulary.
pub struct TextSet {
    /// The vocabulary, with the texts as tokens.
    vocabulary: Vocabulary,
    ids: Vec<Vec<i32>>,
    labels: Vec<u32>,
    classes: Vec<String>,
}

impl TextSet {
    /// The vocabulary for `corpus` from `table`, which was read from `file`, with its first
    /// `common` rows.
    ///
    /// # Errors
    /// When a text cannot be split or no word has a vector.
    pub fn new(
        corpus: TextCorpus,
        table: &EmbeddingTable,
        file: &Path,
        common: usize,
    ) -> Result<TextSet, VocabularyError> {
        let vocabulary = Vocabulary::new(&corpus.texts, table, file, common)?;
        let ids = vocabulary.texts.iter();
        Ok(TextSet {
            ids: ids
                .map(|text| text.iter().map(|token| token.id as i32).collect())
                .collect(),
            vocabulary,
            labels: corpus.labels,
            classes: corpus.classes,
        })
    }

    /// Reads and checks what `run` names.
    ///
    /// # Errors
    /// When a file changed or cannot be read, or the texts and vectors do not fit.
    pub fn read(run: &TextTrainingRun) -> Result<TextSet, TextTrainingError> {
        run.options.check(2)?;
        for (file, now, then) in [
            (&run.texts, file_sha256(&run.texts)?, &run.texts_sha256),
            (
                &run.embeddings,
                embeddings_sha256(&run.embeddings)?,
                &run.embeddings_sha256,
            ),
        ] {
            if now != *then {
                return Err(TextTrainingError::Changed {
                    file: file.clone(),
                    now,
                    then: then.clone(),
                });
            }
        }
        let columns = TextColumns {
            text: run.text_column.clone(),
            label: Some(run.label_column.clone()),
        };
        let corpus = read_texts(&run.texts, &columns)?;
        run.options.check(corpus.classes.len())?;
        let table = load_embeddings(&run.embeddings)?;
        Ok(TextSet::new(
            corpus,
            &table,
            &run.embeddings,
            run.common_words as usize,
        )?)
    }

    /// Its texts and labels as the training takes them.
    pub fn labelled(&self) -> LabelledTexts<'_> {
        LabelledTexts {
            texts: &self.ids,
            labels: &self.labels,
            classes: self.classes.len(),
        }
    }

    /// The word vectors as the network takes them.
    pub fn table(&self) -> super::recurrent::kernels::EmbeddingTable<'_> {
        super::recurrent::kernels::EmbeddingTable {
            values: self.vocabulary.table.vectors(),
            dimension: self.vocabulary.table.width(),
        }
    }

    /// How much of the texts the vocabulary covers.
    fn summary(&self, max_length: usize) -> TextSetSummary {
        let truncated = self.ids.iter().filter(|ids| ids.len() > max_length).count();
        TextSetSummary {
            texts: self.ids.len() as u64,
            tokens: self.vocabulary.tokens,
            known_tokens: self.vocabulary.known_tokens,
            truncated: truncated as u64,
            words: self.vocabulary.table.words().len() as u64,
        }
    }

    /// The model of a network that was trained on this set; semantic similarity is fitted on the
    /// texts of `train`.
    ///
    /// # Errors
    /// When learned embeddings do not fit the vocabulary.
    pub fn model(
        &self,
        trained: &TrainedText,
        train: &[u32],
        max_length: usize,
    ) -> Result<TextModel, EmbeddingError> {
        let words = self.vocabulary.table.words().iter();
        let table = match &trained.embeddings {
            None => self.vocabulary.table.clone(),
            Some(vectors) => {
                let width = self.vocabulary.table.width();
                EmbeddingTable::with_unknown(words, width, vectors.clone())?
            }
        };
        let texts: Vec<Vec<&str>> = train
            .iter()
            .map(|&text| {
                let tokens = self.vocabulary.texts[text as usize].iter();
                tokens.map(|token| token.text.as_str()).collect()
            })
            .collect();
        let frequencies = WordFrequencies::of(texts.iter().map(|text| text.iter().copied()));
        Ok(TextModel {
            classes: self.classes.clone(),
            max_length,
            tokenizer: self.vocabulary.tokenizer.clone(),
            sentences: SentenceEmbedder::fit(&texts, &table, frequencies),
            table,
            recurrent: trained.weights.clone(),
        })
    }

    /// Quality of `weights` on some of the texts; `None` on none of them.
    pub fn quality(
        &self,
        weights: &RecurrentWeights,
        vectors: &[f32],
        items: &[u32],
        max_length: usize,
    ) -> Option<Metrics> {
        if items.is_empty() {
            return None;
        }
        let table = super::recurrent::kernels::EmbeddingTable {
            values: vectors,
            dimension: weights.shape.inputs,
        };
        let kernels = Kernels::new(weights);
        let logits = text_logits(&kernels, table, self.labelled(), items, max_length);
        let labels: Vec<u32> = items
            .iter()
            .map(|&item| self.labels[item as usize])
            .collect();
        Some(Metrics::new(&logits, self.classes.len(), &labels))
    }
}

/// Trains as `training` says on `set`, its texts, in the directory `run`. With `resume` the
/// directory's checkpoint, if there is one, is taken up. `observe` is called after every epoch and
/// may stop.
///
/// # Errors
/// See [`TextTrainingError`].
pub fn run_text_training(
    training: &TextTrainingRun,
    set: &TextSet,
    run: &RunDirectory,
    resume: bool,
    observe: &mut dyn FnMut(&EpochReport) -> ControlFlow<()>,
) -> Result<TextTrainingSummary, TextTrainingError> {
    let options = &training.options;
    let identity = training.identity();
    let checkpoint: Option<TextCheckpoint> = if resume {
        run.read_checkpoint(&identity)?
    } else {
        None
    };
    run.write_toml(RUN, training)?;
    let split = Split::new(set.ids.len(), &options.learning());
    let started = Instant::now();
    let mut saved_at = Instant::now();
    let mut failed = None;
    let trained = train_text(
        set.labelled(),
        set.table(),
        &split,
        options,
        checkpoint,
        &mut |report, checkpoint| {
            let flow = observe(report);
            if flow.is_break() || saved_at.elapsed() >= CHECKPOINT_EVERY {
                if let Err(error) = run.write_checkpoint(&identity, &checkpoint()) {
                    failed = Some(error);
                    return ControlFlow::Break(());
                }
                saved_at = Instant::now();
            }
            flow
        },
    )?;
    if let Some(error) = failed {
        return Err(error.into());
    }
    let seconds = started.elapsed().as_secs_f64();
    let model = set.model(&trained, &split.train, options.max_length)?;
    model.save(run.path())?;
    let vectors = model.table.vectors();
    let quality = |items: &[u32]| set.quality(&model.recurrent, vectors, items, options.max_length);
    let learned = trained.embeddings.as_ref().map_or(0, Vec::len);
    let summary = TextTrainingSummary {
        schema_version: 1,
        command: training.command.clone(),
        probity_version: env!("CARGO_PKG_VERSION").to_owned(),
        finished: trained.finished,
        seed: options.seed,
        texts_sha256: training.texts_sha256.clone(),
        embeddings_sha256: training.embeddings_sha256.clone(),
        model_sha256: model.sha256()?,
        classes: set.classes.clone(),
        data: set.summary(options.max_length),
        parameters: model.recurrent.values.len() + learned,
        seconds,
        train: quality(&split.train).unwrap_or_else(|| Metrics::new(&[], set.classes.len(), &[])),
        validation: quality(&split.validation),
        test: quality(&split.test),
        history: trained.history,
    };
    run.write_summary(&summary)?;
    if trained.finished {
        run.remove_checkpoint()?;
    }
    Ok(summary)
}
