//! The labelled texts, over a vocabulary, that a network is trained on.

use std::ops::ControlFlow;
use std::path::Path;

use super::fitting::Observe;
use super::run::{DataCounts, Fit, TextCounts, Trainable, TrainingError};
use super::specification::TrainSpecification;
use super::split::count_classes;
use super::text::{LabelledTexts, TextCheckpoint, TrainedText, text_logits, train_text};

use crate::metrics::{Metrics, Quality};
use crate::modality::ModalityName;
use crate::recurrent::kernels::{self, Kernels};
use crate::recurrent::network::RecurrentWeights;
use crate::text_model::TextModel;
use crate::text_reader::TextReader;
use crate::vocabulary::{Vocabulary, VocabularyError};
use probity_data::fetch::default_cache_dir;
use probity_data::read::BadRows;
use probity_data::read::RowNumbers;
use probity_run::specification::file::Record;
use probity_tensor::device::ComputeDevice;
use probity_text::corpus::{TextColumns, TextCorpus, read_texts_hashed};
use probity_text::embeddings::{
    Cache, EmbeddingError, EmbeddingTable, LoadOptions, SHIPPED, shipped,
};
use probity_text::frequencies::WordFrequencies;
use probity_text::glove::{self, GloveOptions};
use probity_text::tokenizer::Tokenizer;
use probity_text::validity::SentenceEmbedder;

/// Loads the word vectors in `file`, or those that ship, called `shipped`. A cache that cannot lie
/// beside the file lies in the user's cache folder, if there is one.
///
/// # Errors
/// When the file cannot be read or is no table of word vectors.
pub fn load_embeddings(file: &Path) -> Result<EmbeddingTable, EmbeddingError> {
    if file == Path::new(SHIPPED) {
        return shipped();
    }
    EmbeddingTable::load(file, &load_options())
}

/// Loads word vectors as [`load_embeddings`] does, with the hash of a file that does not ship noted
/// in `record`.
///
/// # Errors
/// See [`load_embeddings`].
pub fn open_embeddings(file: &Path, record: &mut Record) -> Result<EmbeddingTable, EmbeddingError> {
    if file == Path::new(SHIPPED) {
        return shipped();
    }
    let read = EmbeddingTable::load_hashed(file, &load_options())?;
    record.sha256.insert("embeddings".to_owned(), read.sha256);
    Ok(read.value)
}

fn load_options() -> LoadOptions {
    LoadOptions {
        cache: default_cache_dir()
            .ok()
            .map(|folder| Cache::new(folder.join("embeddings"))),
        ..LoadOptions::default()
    }
}

/// The name of word vectors that a training fits to its own texts, where a file of vectors is
/// expected.
pub const OWN: &str = "own";

/// Fits word vectors to those of `texts` at the places `train`: what a network is tested by is not
/// learnt from. Words that stand there once have a vector too.
///
/// # Errors
/// When a text cannot be split, or the texts have too few words.
fn own_embeddings(
    texts: &[String],
    train: &[u32],
    seed: u64,
) -> Result<EmbeddingTable, TrainingError> {
    let texts: Vec<String> = train
        .iter()
        .filter_map(|&place| texts.get(place as usize).cloned())
        .collect();
    let tokens: Vec<Vec<String>> = Tokenizer::without_vocabulary()?
        .tokens_of_all(&texts)?
        .into_iter()
        .map(|tokens| tokens.into_iter().map(|token| token.text).collect())
        .collect();
    let mut options = GloveOptions::default();
    options.min_count = 1;
    options.seed = seed;
    Ok(glove::fit(&tokens, &options, &mut |_| {
        ControlFlow::Continue(())
    })?)
}

/// Labelled texts over their vocabulary.
pub struct TextSet {
    /// The vocabulary, with the texts as tokens.
    vocabulary: Vocabulary,
    ids: Vec<Vec<i32>>,
    labels: Vec<u32>,
    classes: Vec<String>,
    rows: RowNumbers,
    bad_rows: BadRows,
    device: ComputeDevice,
}

impl TextSet {
    /// Makes the vocabulary for `corpus` from `table`, which was read from `file`, with its first
    /// `common` rows; networks learn the set on the CPU unless [`TextSet::on`] says otherwise.
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
            rows: corpus.rows,
            bad_rows: corpus.bad_rows,
            device: ComputeDevice::flex(),
        })
    }

    /// Returns the set, to be learnt on `device`.
    #[must_use]
    pub fn on(mut self, device: &ComputeDevice) -> TextSet {
        self.device = device.clone();
        self
    }

    /// The device that learns the set.
    pub fn device(&self) -> &ComputeDevice {
        &self.device
    }

    /// The places of the texts in their file.
    pub fn rows(&self) -> &RowNumbers {
        &self.rows
    }

    /// The texts and labels as the training takes them.
    pub fn labelled(&self) -> LabelledTexts<'_> {
        LabelledTexts {
            texts: &self.ids,
            labels: &self.labels,
            classes: self.classes.len(),
        }
    }

    /// The word vectors as the network takes them.
    pub fn table(&self) -> kernels::EmbeddingTable<'_> {
        kernels::EmbeddingTable {
            values: self.vocabulary.table.vectors(),
            dimension: self.vocabulary.table.width(),
        }
    }

    /// Counts how much of the texts the vocabulary covers.
    fn summary(&self, max_length: usize) -> TextCounts {
        let truncated = self.ids.iter().filter(|ids| ids.len() > max_length).count();
        TextCounts {
            texts: self.ids.len() as u64,
            tokens: self.vocabulary.tokens,
            known_tokens: self.vocabulary.known_tokens,
            truncated: truncated as u64,
            words: self.vocabulary.table.words().len() as u64,
            bad_rows: self.bad_rows.clone(),
        }
    }

    /// Returns the model of a network that was trained on this set; semantic similarity is fitted
    /// on the texts of `train`.
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
        let frequencies =
            WordFrequencies::from_texts(texts.iter().map(|text| text.iter().copied()));
        Ok(TextModel {
            classes: self.classes.clone(),
            reader: TextReader {
                max_length,
                tokenizer: self.vocabulary.tokenizer.clone(),
                sentences: SentenceEmbedder::fit(&texts, &table, frequencies),
                table,
            },
            recurrent: trained.weights.clone(),
        })
    }

    /// Computes the quality of `weights` on some of the texts; `None` on none of them.
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
        let table = kernels::EmbeddingTable {
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

impl Trainable for TextSet {
    const MODALITY: ModalityName = ModalityName::Text;
    type Model = TextModel;
    type Checkpoint = TextCheckpoint;

    fn open(
        specification: &TrainSpecification,
        device: &ComputeDevice,
        record: &mut Record,
    ) -> Result<TextSet, TrainingError> {
        let options = specification.text_options();
        let columns = TextColumns {
            text: specification.text_column.clone(),
            label: specification.label_column.clone(),
            label_threshold: specification.label_threshold,
            skip_bad_rows: specification.skip_bad_rows,
            classes: Vec::new(),
        };
        let read = read_texts_hashed(&specification.data, &columns)?;
        record.sha256.insert("data".to_owned(), read.sha256);
        let corpus = read.value;
        let label = specification.label_column.as_deref().unwrap_or_default();
        corpus.expect_classes(&specification.data, label)?;
        options.check(corpus.classes.len())?;
        let split = options.split(corpus.texts.len());
        count_classes(&corpus.labels, &split.train, corpus.classes.len())?;
        let file = &options.network.embeddings;
        let table = match file == Path::new(OWN) {
            true => own_embeddings(&corpus.texts, &split.train, options.learning.seed)?,
            false => open_embeddings(file, record)?,
        };
        let common = options.network.common_words as usize;
        Ok(TextSet::new(corpus, &table, file, common)?.on(device))
    }

    fn count(&self) -> usize {
        self.ids.len()
    }

    fn fit(
        &self,
        specification: &TrainSpecification,
        resume: Option<TextCheckpoint>,
        observe: &mut Observe<'_, TextCheckpoint>,
    ) -> Result<Fit<TextModel>, TrainingError> {
        let options = specification.text_options();
        let split = options.split(self.ids.len());
        let (texts, table) = (self.labelled(), self.table());
        let trained = train_text(
            texts,
            table,
            &split,
            &options,
            &self.device,
            resume,
            observe,
        )?;
        let model = self.model(&trained, &split.train, options.network.max_length)?;
        let learned = trained.embeddings.as_ref().map_or(0, Vec::len);
        Ok(Fit {
            parameters: model.recurrent.values.len() + learned,
            model,
            split,
            history: trained.history,
            finished: trained.finished,
        })
    }

    fn quality(&self, model: &TextModel, items: &[u32]) -> Result<Option<Quality>, TrainingError> {
        let vectors = model.reader.table.vectors();
        Ok(TextSet::quality(
            self,
            &model.recurrent,
            vectors,
            items,
            model.reader.max_length,
        )
        .map(Quality::Classes))
    }

    fn save(&self, model: &TextModel, directory: &Path) -> Result<String, TrainingError> {
        model.save(directory)?;
        Ok(model.sha256()?)
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn counts(&self, specification: &TrainSpecification) -> DataCounts {
        DataCounts::Text(self.summary(specification.text_options().network.max_length))
    }
}
