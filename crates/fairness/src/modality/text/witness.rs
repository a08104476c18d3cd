//! What reads the texts of a samples file, and re-checks its pairs.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::audit_error::AuditError;
use crate::domain::Domain;
use crate::modality::{Answers, Sample, SampleInputs, Witness};
use crate::text::domain::TextDomain;
use probity_data::read::ReadError;
use probity_nn::text::TextNetwork;
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

/// Re-checks pairs of texts from the texts alone, which are split into tokens anew.
pub struct TextWitness {
    pub(super) tokenizer: Tokenizer,
    pub(super) network: TextNetwork,
    pub(super) domain: TextDomain,
    pub(super) classes: Vec<String>,
    pub(super) sha256: BTreeMap<String, String>,
}

impl Witness for TextWitness {
    fn inputs(&self) -> Box<dyn SampleInputs + '_> {
        Box::new(TextInputs::new(&self.tokenizer))
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn sha256(&self) -> &BTreeMap<String, String> {
        &self.sha256
    }

    fn are_variants(&self, pair: &Sample) -> Result<(), String> {
        let (row, other) = (&pair.row, &pair.other);
        if row.len().max(other.len()) > self.domain.width() {
            return Err("a text is longer than the model reads".into());
        }
        if row == other {
            return Err("both texts have the same words".into());
        }
        let (row, other) = (self.domain.row(row), self.domain.row(other));
        let is_variant = (1..self.domain.variants(&row)).any(|variant| {
            let mut candidate = Vec::with_capacity(self.domain.width());
            self.domain.write_variant(&row, variant, &mut candidate);
            candidate == other
        });
        match is_variant {
            true => Ok(()),
            false => Err("the texts differ in more than one occurrence of a protected term".into()),
        }
    }

    fn answers(&self, samples: &[&Sample]) -> Result<Vec<Answers>, ModelError> {
        let class_of = |text: &[i32]| -> Result<u32, ModelError> {
            let row = self.domain.row(text);
            Ok(predicted_class(
                &self.network.logits(Rows::new(&row, row.len()))?,
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
