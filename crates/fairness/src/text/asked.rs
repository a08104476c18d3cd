//! Classifiers of texts that are asked by what is written, not by numbers of words.
//!
//! A search walks over words of a vocabulary that is made for the audit ([`super::vocabulary`]). A
//! row is asked about as the text that the samples file shows ([`super::render`]): its source's own
//! words, spaces and signs wherever the search changed nothing.

use std::sync::Arc;

use rayon::prelude::*;

use super::domain::{TextDomain, source_of, text_of};
use super::render::render;
use super::source::Source;
use probity_nn::text_classifier::TextClassifier;
use probity_nn::text_reader::{EncodedText, TextReader};
use probity_nn::{Classifier, ModelError, Rows};
use probity_predictor::Ender;
use probity_text::tokenizer::TokenizerError;

/// A classifier that is asked by texts, and the vocabulary in which it is audited.
pub struct AskedClassifier<'m> {
    /// It.
    pub classifier: Arc<dyn TextClassifier + 'm>,
    /// Its classes.
    pub classes: Vec<String>,
    /// What splits texts for the search; the classifier splits them as it likes.
    pub reader: Arc<TextReader>,
    /// What ends its process, if it has one.
    pub ender: Option<Ender>,
    /// The largest difference between two answers to one text.
    pub instability: f32,
}

impl<'m> AskedClassifier<'m> {
    /// The same as a classifier of rows of `domain`, whose sources were made of `texts`.
    pub fn of_rows(&self, domain: &TextDomain, texts: &Arc<Vec<String>>) -> RenderedRows<'m> {
        RenderedRows {
            classifier: Arc::clone(&self.classifier),
            reader: Arc::clone(&self.reader),
            sources: domain.shared_sources(),
            texts: Arc::clone(texts),
            width: domain.tokens() + 1,
        }
    }
}

/// A classifier of texts that is asked about rows of a [`TextDomain`].
pub struct RenderedRows<'m> {
    classifier: Arc<dyn TextClassifier + 'm>,
    reader: Arc<TextReader>,
    sources: Arc<Vec<Source>>,
    /// What the sources were made of, one each.
    texts: Arc<Vec<String>>,
    width: usize,
}

impl RenderedRows<'_> {
    /// `rows`, which have one source, as texts.
    fn rendered(&self, rows: &[&[i32]]) -> Result<Vec<String>, ModelError> {
        let source = rows.first().and_then(|row| source_of(row));
        let made_of = source.and_then(|source| {
            let text = self.texts.get(source)?;
            Some((self.sources.get(source)?, text))
        });
        let Some((source, text)) = made_of else {
            return Err(unknown_row(rows.first().copied().unwrap_or_default()));
        };
        let text = self.reader.encode(text).map_err(unsplit)?;
        let rows = rows.iter();
        rows.map(|row| self.written(source, &text, row)).collect()
    }

    fn written(
        &self,
        source: &Source,
        text: &EncodedText,
        row: &[i32],
    ) -> Result<String, ModelError> {
        let before = source.before(text_of(row));
        let (ids, exchange) = before.ok_or_else(|| unknown_row(row))?;
        render(&self.reader, text, &ids, exchange).map_err(unsplit)
    }
}

fn unsplit(error: TokenizerError) -> ModelError {
    ModelError::predictor(error)
}

/// No row of a search: what a checkpoint holds is looked at before.
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
        let rows: Vec<&[i32]> = rows.iter().collect();
        // Variants of one text come one after another: it is split once for all of them.
        let of_one_source: Vec<&[&[i32]]> = rows.chunk_by(|a, b| a[0] == b[0]).collect();
        let texts: Vec<Vec<String>> = of_one_source
            .into_par_iter()
            .map(|rows| self.rendered(rows))
            .collect::<Result<_, _>>()?;
        let texts: Vec<&str> = texts.iter().flatten().map(String::as_str).collect();
        self.classifier.logits(&texts)
    }

    fn is_fallible(&self) -> bool {
        self.classifier.is_fallible()
    }
}
