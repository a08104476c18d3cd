//! The classifier of the texts of an audit.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use crate::audit_error::AuditError;
use crate::opened::Opened;
use crate::scored::{AnyTextModel, Transformer};
use crate::specification::AuditSpecification;
use crate::text::asked::AskedClassifier;
use crate::text::neighbourhood::NeighboursFrom;
use crate::text::strategy::Vectors;
use crate::text::vocabulary::open_reader;
use probity_nn::ModelError;
use probity_nn::text_model::TextModel;
use probity_nn::text_reader::TextReader;
use probity_nn::transformer_model::is_transformer;
use probity_predictor::KillHandle;
use probity_run::specification::FieldError;
use probity_text::lexicon::Lexicon;

/// A classifier of texts, as an audit asks it.
pub enum TextSubject<'m> {
    /// A network that reads numbers of its own words, and gives gradients.
    Words(Box<Cow<'m, TextModel>>),
    /// Any other classifier, which is asked by texts.
    Asked(AskedClassifier<'m>),
}

impl TextSubject<'_> {
    /// Opens the classifier that `specification` names, which is in `model` if it has moved, for an
    /// audit of `texts` with terms of `lexicon`.
    ///
    /// # Errors
    /// When it cannot be opened, or a field of the specification has no meaning for it.
    pub fn open(
        specification: &AuditSpecification,
        model: Option<&Path>,
        texts: &[String],
        lexicon: &Lexicon,
    ) -> Result<Opened<TextSubject<'static>>, AuditError> {
        let options = &specification.text;
        let embeddings = options.embeddings.as_deref();
        let read_by = || open_reader(embeddings, texts, lexicon, options.reads());
        if let Some(predictor) = specification.predictor.text_options() {
            let reader = read_by()?;
            // Started last: what is wrong with the data is said without it.
            let sha256 = predictor.sha256()?;
            let some: Vec<&str> = texts.iter().map(String::as_str).collect();
            let opened = predictor.open()?;
            let asked = AskedClassifier {
                instability: opened.check_stability(&some)?,
                classifier: opened.classifier(),
                gradients: None,
                classes: opened.classes,
                reader: reader.value,
                vectors_sha256: reader.sha256,
                ender: Some(opened.ender),
            };
            return Ok(Opened {
                value: TextSubject::Asked(asked),
                sha256,
            });
        }
        let directory = match model {
            Some(model) => model,
            None => specification.model()?,
        };
        let Opened { value, sha256 } = AnyTextModel::open(directory)?;
        if let (AnyTextModel::Recurrent(_), Some(field)) = (&value, options.given_for_vocabulary())
        {
            let expected = "left out: the model has a vocabulary and vectors of its own";
            return Err(FieldError::new(field, "given", expected).into());
        }
        let value = TextSubject::of_network(value, read_by)?;
        Ok(Opened { value, sha256 })
    }

    /// Wraps the network `model`; a transformer is asked about the words of the reader that
    /// `read_by` opens.
    ///
    /// # Errors
    /// When the reader cannot be opened, or a transformer cannot split one of its words.
    pub(crate) fn of_network(
        model: AnyTextModel,
        read_by: impl FnOnce() -> Result<Opened<Arc<TextReader>>, AuditError>,
    ) -> Result<TextSubject<'static>, AuditError> {
        Ok(match model {
            AnyTextModel::Recurrent(model) => TextSubject::Words(Box::new(Cow::Owned(*model))),
            AnyTextModel::Transformer(Transformer { classes, network }) => TextSubject::Asked(
                AskedClassifier::of_transformer(network, classes, read_by()?)?,
            ),
        })
    }

    /// Whether the classifier that `specification` names, or `model`, is asked by texts, so that
    /// its words are those of the data.
    ///
    /// # Errors
    /// When nothing is named.
    pub fn is_asked(
        specification: &AuditSpecification,
        model: Option<&Path>,
    ) -> Result<bool, AuditError> {
        let is_predictor = specification.predictor.source.is_some();
        Ok(is_predictor
            || is_transformer(match model {
                Some(model) => model,
                None => specification.model()?,
            }))
    }

    /// The vectors that the classifier sees in place of the words: of one without gradients, those
    /// that the audit sees.
    pub fn vectors(&self) -> Vectors<'_> {
        match self {
            TextSubject::Asked(AskedClassifier {
                gradients: Some(gradients),
                ..
            }) => gradients.vectors(),
            _ => Vectors {
                values: self.reader().table.vectors(),
                dimension: self.reader().dimension(),
            },
        }
    }

    /// Checks that the classifier shows the embeddings that `from` asks for.
    ///
    /// # Errors
    /// The field that asks for them.
    pub fn expect_embeddings(&self, from: NeighboursFrom) -> Result<(), FieldError> {
        match self {
            TextSubject::Asked(asked) if asked.gradients.is_none() && !from.is_usual() => {
                Err(from.refused())
            }
            _ => Ok(()),
        }
    }

    /// Whether the classifier reads less of `text` than its words say: pieces beyond those that it
    /// takes.
    ///
    /// # Errors
    /// When the text cannot be split.
    pub fn cuts(&self, text: &str) -> Result<bool, ModelError> {
        match self {
            TextSubject::Words(_) => Ok(false),
            TextSubject::Asked(asked) => asked.classifier.cuts(text),
        }
    }

    /// The reader that splits texts into the words that a search exchanges.
    pub fn reader(&self) -> &TextReader {
        match self {
            TextSubject::Words(model) => &model.reader,
            TextSubject::Asked(asked) => &asked.reader,
        }
    }

    /// Names of the classes.
    pub fn classes(&self) -> &[String] {
        match self {
            TextSubject::Words(model) => &model.classes,
            TextSubject::Asked(asked) => &asked.classes,
        }
    }

    /// The handle that ends the process of a predictor, if there is one.
    pub fn ender(&self) -> Option<&KillHandle> {
        match self {
            TextSubject::Words(_) => None,
            TextSubject::Asked(asked) => asked.ender.as_ref(),
        }
    }

    /// The largest difference between two answers to one text.
    pub fn instability(&self) -> f32 {
        match self {
            TextSubject::Words(_) => 0.0,
            TextSubject::Asked(asked) => asked.instability,
        }
    }
}
