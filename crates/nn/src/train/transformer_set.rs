//! The labelled texts in pieces that a transformer is trained on, and the transformer.

use std::path::Path;

use rayon::prelude::*;

use super::options::TransformerTraining;
use super::run::{DataCounts, Fit, TextCounts, Trainable, TrainingError};
use super::split::count_classes;
use super::text::LabelledTexts;
use super::text_set::open_embeddings;
use super::transformer::{TransformerCheckpoint, TransformerOptions, train_transformer};
use super::{Observe, TrainSpecification};
use crate::metrics::{Metrics, Quality};
use crate::modality::ModalityName;
use crate::text_model::TOKENIZER;
use crate::transformer::kernels::Kernels;
use crate::transformer::shape::TransformerWeights;
use crate::transformer_model::{Family, PieceTokenizer, TokenizerSettings, TransformerModel};
use crate::vocabulary::Vocabulary;
use probity_data::read::{BadRows, RowNumbers};
use probity_run::specification::FieldError;
use probity_run::specification::file::Record;
use probity_tensor::device::ComputeDevice;
use probity_text::corpus::{TextColumns, TextCorpus, read_texts_hashed};

/// The number of words of a table of word vectors that a fresh network knows though no text has
/// them: the more frequent ones, with which other texts are read.
const COMMON: usize = 20_000;

/// Labelled texts over the pieces of a network.
pub struct TransformerSet {
    /// The network before the training; its head is fresh.
    model: TransformerModel,
    begins: Begins,
    ids: Vec<Vec<i32>>,
    labels: Vec<u32>,
    rows: RowNumbers,
    counts: TextCounts,
    /// The device that learns the set.
    device: ComputeDevice,
}

/// The part of a network that is drawn before a training.
#[derive(Debug, Clone, Copy)]
enum Begins {
    /// The head is drawn; the rest is that of an encoder.
    Head,
    /// All is drawn but the first numbers, as many as this, of each row of the table of words.
    Fresh(usize),
}

impl TransformerSet {
    /// The places of the texts in their file.
    pub fn rows(&self) -> &RowNumbers {
        &self.rows
    }

    /// The device that learns the set.
    pub fn device(&self) -> &ComputeDevice {
        &self.device
    }

    /// The network before the training that was asked for: its pieces, classes and shape are those
    /// of every network that is trained on this set.
    pub fn model(&self) -> &TransformerModel {
        &self.model
    }

    /// Returns the parameters before a training that is keyed by `seed`.
    pub fn begun(&self, seed: u64) -> TransformerWeights {
        let mut weights = self.model.weights.clone();
        let shape = weights.shape;
        match self.begins {
            Begins::Head => weights.draw(shape.head_start(), seed),
            Begins::Fresh(given) => {
                weights.draw(0, seed);
                let words = shape.spans().words;
                let own = self.model.weights.values[words.clone()].chunks_exact(shape.units);
                let drawn = weights.values[words].chunks_exact_mut(shape.units);
                for (drawn, own) in drawn.zip(own) {
                    drawn[..given].copy_from_slice(&own[..given]);
                }
            }
        }
        weights
    }

    /// The texts, in pieces, and labels as the training takes them.
    pub fn labelled(&self) -> LabelledTexts<'_> {
        LabelledTexts {
            texts: &self.ids,
            labels: &self.labels,
            classes: self.model.classes.len(),
        }
    }

    /// Makes the set of `corpus` in the pieces of `model`, to be learnt on `device`.
    fn new(
        (model, begins): (TransformerModel, Begins),
        corpus: TextCorpus,
        known_tokens: Option<u64>,
        device: &ComputeDevice,
    ) -> Result<TransformerSet, TrainingError> {
        let pieces = corpus.texts.par_iter();
        let pieces = pieces.map(|text| model.pieces(text));
        let pieces = pieces.collect::<Result<Vec<_>, _>>()?;
        let tokens = pieces.iter().map(|pieces| pieces.ids.len() as u64).sum();
        Ok(TransformerSet {
            counts: TextCounts {
                texts: pieces.len() as u64,
                tokens,
                known_tokens: known_tokens.unwrap_or(tokens),
                truncated: pieces.iter().filter(|pieces| pieces.is_truncated).count() as u64,
                words: model.weights.shape.vocabulary as u64,
                bad_rows: BadRows::clone(&corpus.bad_rows),
            },
            ids: pieces.into_iter().map(|pieces| pieces.ids).collect(),
            labels: corpus.labels,
            rows: corpus.rows,
            begins,
            model,
            device: device.clone(),
        })
    }
}

/// Reads the model in `directory` and gives it a fresh head for `classes`.
fn on_encoder(
    directory: &Path,
    classes: &[String],
    options: &TransformerTraining,
    record: &mut Record,
) -> Result<TransformerModel, TrainingError> {
    let mut model = TransformerModel::load(directory)?;
    record.sha256.insert("encoder".to_owned(), model.sha256());
    let usual = TransformerOptions::default().pieces;
    let asked = match options.network.pieces {
        // A length that nobody chose is no more than the network has positions for.
        chosen if chosen == usual => usual.min(model.weights.shape.longest()),
        chosen => chosen,
    };
    if asked > model.weights.shape.longest() || asked <= model.tokenizer.marks() {
        let expected = format!(
            "from {} to {}, as the encoder reads",
            model.tokenizer.marks() + 1,
            model.weights.shape.longest()
        );
        return Err(FieldError::new("transformer.pieces", asked, expected).into());
    }
    let start = model.weights.shape.head_start();
    model.weights.values.truncate(start);
    model.weights.shape.classes = classes.len();
    model
        .weights
        .values
        .resize(model.weights.shape.parameters(), 0.0);
    model.weights.draw(start, options.learning.seed);
    model.max_length = asked;
    model.masked = None;
    model.classes = classes.to_vec();
    Ok(model)
}

/// Makes a fresh network of the words of `corpus` and of the word vectors that are asked for, and
/// returns with it the part that is drawn, and how many tokens of the texts have a vector.
fn fresh(
    corpus: &TextCorpus,
    options: &TransformerTraining,
    record: &mut Record,
) -> Result<(TransformerModel, Begins, u64), TrainingError> {
    let file = &options.network.word_vectors;
    let vectors = open_embeddings(file, record)?;
    let vocabulary = Vocabulary::new(&corpus.texts, &vectors, file, COMMON)?;
    let table = &vocabulary.table;
    let rows = table.vectors().len() / table.width().max(1);
    let shape = options.network.shape(rows, corpus.classes.len());
    let mut weights = TransformerWeights::random(shape, options.learning.seed);
    let embeddings = weights.values.chunks_exact_mut(shape.units);
    for (embedding, vector) in embeddings.zip(table.vectors().chunks_exact(table.width())) {
        let both = embedding.iter_mut().zip(vector);
        both.for_each(|(number, value)| *number = *value);
    }
    let begins = Begins::Fresh(table.width().min(shape.units));
    let json = vocabulary.tokenizer.to_json()?;
    let (json, settings) = (json.as_bytes(), TokenizerSettings::default());
    let (tokenizer, _) =
        PieceTokenizer::from_json(json, Path::new(TOKENIZER), shape.vocabulary, &settings)?;
    let model = TransformerModel {
        classes: corpus.classes.clone(),
        max_length: options.network.pieces,
        family: Family::Bert,
        tokenizer,
        weights,
        masked: None,
    };
    Ok((model, begins, vocabulary.known_tokens))
}

impl Trainable for TransformerSet {
    const MODALITY: ModalityName = ModalityName::Text;
    type Model = TransformerModel;
    type Checkpoint = TransformerCheckpoint;

    fn open(
        specification: &TrainSpecification,
        device: &ComputeDevice,
        record: &mut Record,
    ) -> Result<TransformerSet, TrainingError> {
        let options = specification.transformer_options();
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
        options.check(corpus.classes.len())?;
        let split = options.split(corpus.texts.len());
        count_classes(&corpus.labels, &split.train, corpus.classes.len())?;
        let (model, begins, known_tokens) = match &options.network.encoder {
            Some(encoder) => {
                let model = on_encoder(encoder, &corpus.classes, &options, record)?;
                (model, Begins::Head, None)
            }
            None => {
                let (model, begins, known) = fresh(&corpus, &options, record)?;
                (model, begins, Some(known))
            }
        };
        TransformerSet::new((model, begins), corpus, known_tokens, device)
    }

    fn count(&self) -> usize {
        self.ids.len()
    }

    fn fit(
        &self,
        specification: &TrainSpecification,
        resume: Option<TransformerCheckpoint>,
        observe: &mut Observe<'_, TransformerCheckpoint>,
    ) -> Result<Fit<TransformerModel>, TrainingError> {
        let options = specification.transformer_options();
        let split = options.split(self.ids.len());
        let begun = self.model.weights.clone();
        let begun = (self.labelled(), begun);
        let device = &self.device;
        let trained = train_transformer(begun, &split, &options, device, resume, observe)?;
        Ok(Fit {
            model: TransformerModel {
                weights: trained.weights,
                ..self.model.clone()
            },
            parameters: trained.learnt,
            split,
            history: trained.history,
            finished: trained.finished,
        })
    }

    fn quality(
        &self,
        model: &TransformerModel,
        items: &[u32],
    ) -> Result<Option<Quality>, TrainingError> {
        if items.is_empty() {
            return Ok(None);
        }
        let texts: Vec<&[i32]> = items
            .iter()
            .map(|&item| &self.ids[item as usize][..])
            .collect();
        let labels: Vec<u32> = items
            .iter()
            .map(|&item| self.labels[item as usize])
            .collect();
        let logits = Kernels::new(model.weights.clone()).logits(&texts);
        let metrics = Metrics::new(&logits, model.classes.len(), &labels);
        Ok(Some(Quality::Classes(metrics)))
    }

    fn save(&self, model: &TransformerModel, directory: &Path) -> Result<String, TrainingError> {
        model.save(directory)?;
        Ok(model.sha256())
    }

    fn classes(&self) -> &[String] {
        &self.model.classes
    }

    fn counts(&self, _: &TrainSpecification) -> DataCounts {
        DataCounts::Text(self.counts.clone())
    }
}
