//! The case of one text, to be explained.

use super::{TextCase, open};
use crate::audit_error::AuditError;
use crate::explain::{Allows, Explained, Place};
use crate::modality::Change;
use crate::specification::AuditSpecification;
use crate::text::domain::text_of;
use crate::text::render::words;
use probity_tensor::device::ComputeDevice;

/// Number of codes of a row before its tokens: the number of its source.
const TOKENS: usize = 1;

impl Explained for TextCase<'_> {
    fn open_at(
        specification: &AuditSpecification,
        row: u64,
        device: &ComputeDevice,
    ) -> Result<Self, AuditError> {
        open::open(specification, Some(row), device)
    }

    fn input(&self) -> Vec<i32> {
        let source = self.seed_sources.first();
        source.map_or_else(Vec::new, |&source| self.domain.row(source))
    }

    fn scored(&self) -> &[String] {
        self.texts.subject.classes()
    }

    fn fluency_texts(&self) -> Option<u64> {
        self.texts.fluency_texts
    }

    fn places(&self, _fixed: &[String]) -> Result<Vec<Place>, AuditError> {
        let row = self.input();
        let Some(source) = self.domain.source(&row) else {
            return Ok(Vec::new());
        };
        let words = text_of(&row).iter().enumerate();
        let places = words.filter(|(token, _)| source.is_free(*token));
        let places = places.map(|(token, own)| {
            let others = self.steps.words(&row, token).iter();
            let others: Vec<i32> = others.copied().filter(|word| word != own).collect();
            let ranks = others.iter().enumerate();
            let distance = |rank: usize| (rank + 1) as f64 / others.len() as f64;
            Place {
                position: TOKENS + token,
                values: ranks.map(|(rank, &word)| (distance(rank), word)).collect(),
            }
        });
        Ok(places.filter(|place| !place.values.is_empty()).collect())
    }

    fn changes(&self, row: &[i32]) -> Vec<Change> {
        let Some(seed) = self.seeds.first() else {
            return Vec::new();
        };
        let tokens = seed.ids.iter().zip(text_of(row)).enumerate();
        let changed = tokens.filter(|(_, (from, to))| from != to);
        changed
            .map(|(token, (_, to))| Change {
                attribute: format!("token {token}"),
                from: seed.words[token].clone(),
                to: words(self.texts.subject.reader(), &[*to]),
            })
            .collect()
    }

    fn limited<R>(
        &self,
        specification: &AuditSpecification,
        work: impl FnOnce(Allows<'_>) -> R,
    ) -> R {
        self.with_judge(|judge| {
            let limits = self.limits(&specification.text, judge);
            work(&|row| limits.allow(0, text_of(row)))
        })
    }
}
