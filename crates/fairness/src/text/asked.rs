//! Classifiers of texts that are asked by the written text, not by numbers of words.
//!
//! A search walks over words of a vocabulary that is made for the audit ([`super::vocabulary`]). A
//! row is asked about as the text that the samples file shows ([`super::render`]): its source's own
//! words, spaces and signs wherever the search changed nothing.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::domain::{TextDomain, source_of, text_of};
use super::render::render_to;
use super::source::Source;
use super::strategy::Vectors;
use crate::opened::Opened;
use probity_nn::text_classifier::{DifferentiableTexts, TextClassifier};
use probity_nn::text_reader::TextReader;
use probity_nn::transformer_model::TransformerNetwork;
use probity_nn::{Classifier, Differentiable, ModelError, Rows};
use probity_predictor::KillHandle;
use probity_tensor::device::ComputeDevice;
use probity_text::tokenizer::TokenizerError;

/// A classifier that is asked by texts, and the vocabulary in which it is audited.
#[derive(Clone)]
pub struct AskedClassifier<'m> {
    /// The classifier.
    pub classifier: Arc<dyn TextClassifier + 'm>,
    /// The gradients of the classifier, if it has any.
    pub gradients: Option<WordGradients<'m>>,
    /// The names of its classes.
    pub classes: Vec<String>,
    /// The reader that splits texts for the search; the classifier splits them as it likes.
    pub reader: Arc<TextReader>,
    /// SHA-256 of the file of the word vectors; empty for those that ship.
    pub vectors_sha256: String,
    /// The handle that ends the process of the classifier, if there is one.
    pub ender: Option<KillHandle>,
    /// The largest difference between two answers to one text.
    pub instability: f32,
}

impl<'m> AskedClassifier<'m> {
    /// The transformer `network`, with its gradients, audited in the words of `reader`, which
    /// belongs to the hash of the file of its word vectors.
    ///
    /// # Errors
    /// When it cannot split a word.
    pub fn of_transformer(
        network: Arc<TransformerNetwork>,
        classes: Vec<String>,
        reader: Opened<Arc<TextReader>>,
    ) -> Result<AskedClassifier<'m>, ModelError> {
        Ok(AskedClassifier {
            gradients: Some(WordGradients::new(network.clone(), &reader.value)?),
            classifier: network,
            classes,
            reader: reader.value,
            vectors_sha256: reader.sha256,
            ender: None,
            instability: 0.0,
        })
    }

    /// The classifier as it answers on `device`; one without gradients answers where it does.
    #[must_use]
    pub fn on(&self, device: &ComputeDevice) -> AskedClassifier<'m> {
        let mut there = self.clone();
        if let Some(gradients) = &mut there.gradients {
            gradients.classifier = gradients.classifier.on_device(device);
            there.classifier = gradients.classifier.clone();
        }
        there
    }

    /// The classifier as one of rows of `domain`, whose sources were made of `texts`.
    pub fn of_rows(&self, domain: &TextDomain, texts: &Arc<Vec<String>>) -> RenderedRows<'m> {
        let (classifier, reader) = (Arc::clone(&self.classifier), Arc::clone(&self.reader));
        RenderedRows::new(classifier, reader, domain, Arc::clone(texts))
    }
}

/// Gradients with respect to the words of the vocabulary in which a classifier is audited.
#[derive(Clone)]
pub struct WordGradients<'m> {
    classifier: Arc<dyn DifferentiableTexts + 'm>,
    /// The vectors that the classifier sees of the words, `[words, units]`; zeros of the unknown
    /// one.
    vectors: Arc<Vec<f32>>,
}

impl<'m> WordGradients<'m> {
    /// The gradients of `classifier` for the words of `reader`.
    ///
    /// # Errors
    /// When it cannot split a word.
    pub fn new(
        classifier: Arc<dyn DifferentiableTexts + 'm>,
        reader: &TextReader,
    ) -> Result<WordGradients<'m>, ModelError> {
        let words = (0..reader.words() as i32).into_par_iter();
        let vectors = words.map(|word| classifier.word_vector(reader.word(word)));
        let mut vectors = vectors.collect::<Result<Vec<_>, _>>()?.concat();
        vectors.resize(vectors.len() + classifier.units(), 0.0);
        Ok(WordGradients {
            classifier,
            vectors: Arc::new(vectors),
        })
    }

    /// The vectors that the classifier sees of the words.
    pub fn vectors(&self) -> Vectors<'_> {
        Vectors {
            values: &self.vectors,
            dimension: self.classifier.units(),
        }
    }
}

/// [`RenderedRows`] with gradients: the features of a row are the vectors of its words.
pub struct DifferentiableRows<'m> {
    rows: RenderedRows<'m>,
    gradients: WordGradients<'m>,
}

impl<'m> DifferentiableRows<'m> {
    /// Adds to `rows` the gradients of the same classifier.
    pub fn new(rows: RenderedRows<'m>, gradients: &WordGradients<'m>) -> DifferentiableRows<'m> {
        DifferentiableRows {
            rows,
            gradients: gradients.clone(),
        }
    }
}

impl Classifier for DifferentiableRows<'_> {
    fn width(&self) -> usize {
        self.rows.width()
    }

    fn classes(&self) -> usize {
        self.rows.classes()
    }

    fn logits(&self, rows: Rows<'_>) -> Result<Vec<f32>, ModelError> {
        self.rows.logits(rows)
    }

    fn is_fallible(&self) -> bool {
        self.rows.is_fallible()
    }
}

impl Differentiable for DifferentiableRows<'_> {
    fn features(&self) -> usize {
        (self.rows.width - 1) * self.gradients.classifier.units()
    }

    /// The gradients of rows; zeros for a row whose text is split into other words than it was made
    /// of: writing a word down may join it with its neighbour.
    fn input_gradients(&self, rows: Rows<'_>, cotangents: &[f32]) -> Result<Vec<f32>, ModelError> {
        let texts = self.rows.texts(rows)?;
        let words = texts.par_iter().map(|text| {
            let encoded = self.rows.reader.encode_whole(text).map_err(unsplit)?;
            Ok(encoded.bytes)
        });
        let words: Vec<Vec<Range<usize>>> = words.collect::<Result<_, ModelError>>()?;
        let asked = texts.iter().zip(&words);
        let asked: Vec<(&str, &[Range<usize>])> =
            asked.map(|(text, words)| (&text[..], &words[..])).collect();
        let answers = self
            .gradients
            .classifier
            .word_gradients(&asked, cotangents)?;
        let features = self.features();
        let mut gradients = vec![0.0; texts.len() * features];
        let places = gradients.chunks_exact_mut(features.max(1));
        for (((row, words), answer), place) in rows.iter().zip(&words).zip(answers).zip(places) {
            if words.len() == text_of(row).len() {
                place[..answer.len()].copy_from_slice(&answer);
            }
        }
        Ok(gradients)
    }
}

/// Number of bytes by which few changed texts are longer.
const ROOM: usize = 16;

/// A classifier of texts that is asked about rows of a [`TextDomain`].
pub struct RenderedRows<'m> {
    classifier: Arc<dyn TextClassifier + 'm>,
    reader: Arc<TextReader>,
    sources: Arc<Vec<Source>>,
    /// The texts that the sources were made of, one each.
    texts: Arc<Vec<String>>,
    width: usize,
}

impl<'m> RenderedRows<'m> {
    /// Makes `classifier` answer about rows of `domain`, in words of `reader`, whose sources were
    /// made of `texts`.
    pub fn new(
        classifier: Arc<dyn TextClassifier + 'm>,
        reader: Arc<TextReader>,
        domain: &TextDomain,
        texts: Arc<Vec<String>>,
    ) -> RenderedRows<'m> {
        RenderedRows {
            classifier,
            reader,
            sources: domain.shared_sources(),
            texts,
            width: domain.tokens() + 1,
        }
    }
}

/// Some texts, one behind the other.
#[derive(Default)]
struct Written {
    text: String,
    /// The place where each text ends.
    ends: Vec<usize>,
}

impl Written {
    /// The texts.
    fn each(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(&0).chain(&self.ends);
        let texts = starts.zip(&self.ends);
        texts.map(|(&start, &end)| &self.text[start..end])
    }
}

impl RenderedRows<'_> {
    /// The text that each of `rows` is written as.
    ///
    /// # Errors
    /// When a row is none of the domain's, or a text cannot be split.
    pub fn texts(&self, rows: Rows<'_>) -> Result<Vec<String>, ModelError> {
        let written = self.written(rows)?;
        let texts = written.iter().flat_map(Written::each);
        Ok(texts.map(str::to_owned).collect())
    }

    /// The texts that `rows` are written as, together by source.
    fn written(&self, rows: Rows<'_>) -> Result<Vec<Written>, ModelError> {
        let rows: Vec<&[i32]> = rows.iter().collect();
        // Variants of one text come one after another: it is split once for all of them.
        let of_one_source: Vec<&[&[i32]]> = rows.chunk_by(|a, b| a[0] == b[0]).collect();
        let written = of_one_source.into_par_iter();
        written.map(|rows| self.of_one_source(rows)).collect()
    }

    fn of_one_source(&self, rows: &[&[i32]]) -> Result<Written, ModelError> {
        let source = rows.first().and_then(|row| source_of(row));
        let made_of = source.and_then(|source| {
            let text = self.texts.get(source)?;
            Some((self.sources.get(source)?, text))
        });
        let Some((source, text)) = made_of else {
            return Err(unknown_row(rows.first().copied().unwrap_or_default()));
        };
        let text = self.reader.encode(text).map_err(unsplit)?;
        let mut written = Written {
            text: String::with_capacity(rows.len() * (text.text.len() + ROOM)),
            ends: Vec::with_capacity(rows.len()),
        };
        for row in rows {
            let before = source.before(text_of(row));
            let (ids, exchange) = before.ok_or_else(|| unknown_row(row))?;
            let out = &mut written.text;
            render_to(out, &self.reader, &text, &ids, exchange).map_err(unsplit)?;
            written.ends.push(out.len());
        }
        Ok(written)
    }
}

fn unsplit(error: TokenizerError) -> ModelError {
    ModelError::predictor(error)
}

/// The error for a row that no search can have: the rows of a checkpoint are looked at before.
fn unknown_row(row: &[i32]) -> ModelError {
    ModelError::Token {
        id: row.first().copied().unwrap_or_default(),
        position: 0,
        last: -1,
    }
}

impl Classifier for RenderedRows<'_> {
    fn width(&self) -> usize {
        self.width
    }

    fn classes(&self) -> usize {
        self.classifier.classes()
    }

    fn logits(&self, rows: Rows<'_>) -> Result<Vec<f32>, ModelError> {
        let written = self.written(rows)?;
        let texts: Vec<&str> = written.iter().flat_map(Written::each).collect();
        self.classifier.logits(&texts)
    }

    fn is_fallible(&self) -> bool {
        self.classifier.is_fallible()
    }
}
