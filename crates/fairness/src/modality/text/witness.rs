//! What reads the texts of a samples file, and re-checks its pairs.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;

use crate::audit_error::AuditError;
use crate::modality::{Answers, Sample, SampleInputs, Witness};
use crate::text::edits::Tokens;
use crate::text::protected::Protected;
use crate::text::source::Source;
use probity_data::read::ReadError;
use probity_nn::text::TextNetwork;
use probity_nn::text_model::TextModel;
use probity_nn::{Classifier, ModelError, Rows, predicted_class};
use probity_text::tokenizer::Tokenizer;

/// Reads texts from a samples file, as the ids of their tokens.
pub struct TextInputs<'a> {
    tokenizer: &'a Tokenizer,
}

impl<'a> TextInputs<'a> {
    /// What reads texts by `tokenizer`.
    pub fn new(tokenizer: &'a Tokenizer) -> TextInputs<'a> {
        TextInputs { tokenizer }
    }
}

impl SampleInputs for TextInputs<'_> {
    fn columns(&self, side: &str) -> Vec<String> {
        vec![side.to_owned()]
    }

    fn read(
        &self,
        cells: &[&str],
        _refuse: &dyn Fn(usize, String) -> ReadError,
    ) -> Result<Vec<i32>, AuditError> {
        let tokens = self.tokenizer.tokens(cells.first().unwrap_or(&""))?;
        Ok(tokens.iter().map(|token| token.id as i32).collect())
    }
}

/// Reads the texts anew that those of a samples file are said to be made of, each once.
#[derive(Default)]
pub struct Origins {
    read: Mutex<HashMap<String, Arc<Source>>>,
}

impl Origins {
    fn source(
        &self,
        (model, protected): (&TextModel, &Protected),
        origin: &str,
    ) -> Result<Arc<Source>, AuditError> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(source) = read.get(origin) {
            return Ok(Arc::clone(source));
        }
        let text = model.encode(origin)?;
        let source = Arc::new(protected.read(&Tokens::new(model), &text)?.source);
        read.insert(origin.to_owned(), Arc::clone(&source));
        Ok(source)
    }

    /// x of `pair` with what may be exchanged in it.
    ///
    /// # Errors
    /// What keeps x' from being x after one exchange, as a sentence.
    pub fn of(&self, read_by: (&TextModel, &Protected), pair: &Sample) -> Result<Source, String> {
        let origin = pair.origin.as_deref();
        let origin = origin.ok_or("the file does not say which text x was made of")?;
        let source = self.source(read_by, origin);
        let source = source.map_err(|error| error.to_string())?;
        let (row, other) = (&pair.row, &pair.other);
        let mut fixed = source.fixed.iter().cloned();
        if row.len() != source.ids.len() || fixed.any(|at| row[at.clone()] != source.ids[at]) {
            return Err("x was not made of its text by replacing words that are free".into());
        }
        if row == other {
            return Err("both texts have the same words".into());
        }
        let is_variant = |number| {
            source.exchange(number).is_some_and(|(_, exchange)| {
                let mut variant = Vec::with_capacity(other.len());
                exchange.write(row, &mut variant);
                variant == *other
            })
        };
        match (0..source.exchanges()).any(is_variant) {
            true => Ok(Source {
                ids: row.clone(),
                ..Source::clone(&source)
            }),
            false => Err("the texts differ in more than one exchange of a protected value".into()),
        }
    }
}

/// Re-checks pairs of texts from the texts alone, which are split into tokens anew.
pub struct TextWitness {
    pub(super) model: TextModel,
    pub(super) protected: Protected,
    pub(super) network: TextNetwork,
    pub(super) origins: Origins,
    pub(super) sha256: BTreeMap<String, String>,
}

impl Witness for TextWitness {
    fn inputs(&self) -> Box<dyn SampleInputs + '_> {
        Box::new(TextInputs::new(&self.model.tokenizer))
    }

    fn classes(&self) -> &[String] {
        &self.model.classes
    }

    fn sha256(&self) -> &BTreeMap<String, String> {
        &self.sha256
    }

    fn are_variants(&self, pair: &Sample) -> Result<(), String> {
        let source = self.origins.of((&self.model, &self.protected), pair);
        source.map(|_| ())
    }

    fn answers(&self, samples: &[&Sample]) -> Result<Vec<Answers>, ModelError> {
        let class_of = |text: &[i32]| -> Result<u32, ModelError> {
            Ok(predicted_class(
                &self.network.logits(Rows::new(text, text.len()))?,
            ))
        };
        samples
            .par_iter()
            .map(|pair| {
                Ok(Answers {
                    labels: [class_of(&pair.row)?, class_of(&pair.other)?],
                    by_rounding: false,
                })
            })
            .collect()
    }
}
