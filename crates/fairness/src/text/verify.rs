//! Re-checking the pairs of a text audit from their texts alone.
//!
//! Both texts of a pair are tokenised anew. The pair is *confirmed* when one is a variant of the
//! other (one occurrence of a protected term replaced by another value of its attribute), and the
//! model, asked for each text alone (a batch of one row), predicts the two different classes that
//! the file states. No x may be reported twice.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;

use super::domain::TextDomain;
use super::protected::ProtectedTerms;
use super::samples::{SampledTexts, read_text_samples};
use crate::audit::AuditError;
use crate::domain::Domain;
use crate::verify::Verification;
use probity_nn::text::TextNetwork;
use probity_nn::text_model::TextModel;
use probity_nn::{Classifier, Rows, predicted_class};
use probity_tensor::device::ComputeDevice;

const BLOCK: usize = 1024;

/// Verifies every pair of `samples` against `model`; `progress` is told how many pairs are done.
///
/// # Errors
/// When the file cannot be read or the model cannot answer.
pub fn verify_texts(
    samples: &Path,
    model: &TextModel,
    protected: &ProtectedTerms,
    progress: &mut dyn FnMut(u64),
) -> Result<Verification, AuditError> {
    let width = model.max_length + protected.terms().growth();
    let domain = TextDomain::new(width, Arc::new(protected.terms().clone()), Arc::default())?;
    let flex = ComputeDevice::flex();
    let judge = PairJudge {
        model,
        network: model.network(width, &flex)?,
        domain,
    };
    let mut result = Verification::default();
    let mut seen = HashSet::new();
    let mut block = Vec::with_capacity(BLOCK);
    let mut finish = |block: &mut Vec<SampledTexts>| -> Result<(), AuditError> {
        let judged: Vec<Result<Vec<i32>, String>> = block
            .par_iter()
            .map(|pair| judge.judge(pair))
            .collect::<Result<_, AuditError>>()?;
        for judgement in judged {
            let judgement = judgement.and_then(|ids| {
                let key = judge.domain.row_key(&ids);
                let is_new = seen.insert(key);
                is_new
                    .then_some(())
                    .ok_or_else(|| "the same x was reported before".to_owned())
            });
            result.add(judgement.map(|()| false));
        }
        progress(result.pairs);
        block.clear();
        Ok(())
    };
    read_text_samples(samples, |pair| {
        block.push(pair);
        if block.len() == BLOCK {
            finish(&mut block)?;
        }
        Ok::<(), AuditError>(())
    })?;
    finish(&mut block)?;
    Ok(result)
}

struct PairJudge<'a> {
    model: &'a TextModel,
    network: TextNetwork,
    domain: TextDomain,
}

impl PairJudge<'_> {
    /// The tokens of x, or what is wrong with the pair.
    fn judge(&self, pair: &SampledTexts) -> Result<Result<Vec<i32>, String>, AuditError> {
        let ids = |text: &str| -> Result<Vec<i32>, AuditError> {
            let tokens = self.model.tokenizer.tokens(text)?;
            Ok(tokens.iter().map(|token| token.id as i32).collect())
        };
        let (own, other) = (ids(&pair.x)?, ids(&pair.other)?);
        for text in [&own, &other] {
            if text.len() > self.domain.width() {
                return Ok(Err("a text is longer than the model reads".into()));
            }
        }
        let (row, other) = (self.domain.row(&own), self.domain.row(&other));
        if row == other {
            return Ok(Err("both texts have the same words".into()));
        }
        let is_variant = (1..self.domain.variants(&row)).any(|variant| {
            let mut candidate = Vec::with_capacity(self.domain.width());
            self.domain.write_variant(&row, variant, &mut candidate);
            candidate == other
        });
        if !is_variant {
            return Ok(Err(
                "the texts differ in more than one occurrence of a protected term".into(),
            ));
        }
        let mut labels = Vec::with_capacity(2);
        for (stated, row) in [(&pair.label, &row), (&pair.other_label, &other)] {
            let label = predicted_class(&self.network.logits(Rows::new(row, row.len()))?);
            let class = &self.model.classes[label as usize];
            if stated != class {
                return Ok(Err(format!(
                    "the file says class '{stated}', the model says '{class}'"
                )));
            }
            labels.push(label);
        }
        if labels[0] == labels[1] {
            return Ok(Err("both texts have the same class".into()));
        }
        Ok(Ok(own))
    }
}
