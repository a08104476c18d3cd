//! Texts that name a protected value which nothing takes the place of, and what is decided of them.
//!
//! Shares are of the texts in which a value can be exchanged. Where other words of a text speak of
//! its value as well, an exchange would contradict them, and the share says nothing of that text. The
//! texts left out need not be like the others: a lexicon that keeps a slur in its place leaves out what
//! a model of rudeness decides otherwise than the rest. So the decisions on both are counted, by
//! attribute: here those on the texts left out, in [`crate::text::exchange_counts`] those on the others.

use std::collections::HashMap;
use std::ops::ControlFlow;

use serde::Serialize;

use super::looked::Looked;
use super::subject::TextSubject;
use crate::audit_error::AuditError;
use crate::scored::text_logits;
use crate::text::exchange_counts::Decided;
use crate::text::protected::{Naming, Protected};
use probity_nn::decision::Decision;
use probity_run::stream::{Purpose, permutation};
use probity_tensor::device::ComputeDevice;

/// Number of texts that are asked about between two looks at whether to stop.
const BLOCK: usize = 1 << 13;

/// The largest number of words that are listed of an attribute.
const LISTED: usize = 10;

/// Texts that name a value of an attribute.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct NamingTexts {
    /// The attribute.
    pub attribute: String,
    /// Texts that name a value of it.
    pub texts: u64,
    /// The number of these texts in which no other value takes the place of one.
    pub kept: u64,
    /// The number of these in which words of the lexicon or given names keep it: they speak of it as well.
    pub by_words: u64,
    /// These words and names, by falling number of these texts; at most 10.
    pub kept_by: Vec<KeptBy>,
}

/// Texts in which some words keep a value in its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeptBy {
    /// The words, in lower case.
    pub words: String,
    /// The texts that have them.
    pub texts: u64,
}

/// A text that names values which nothing takes the place of.
pub(super) struct KeptText {
    text: String,
    /// The attributes of these values, by number.
    attributes: Vec<usize>,
}

impl KeptText {
    /// `text`, which was looked at, if there is such an attribute.
    pub(super) fn new(text: &str, looked: &Looked) -> Option<KeptText> {
        let attributes: Vec<usize> = looked.kept().map(|naming| naming.attribute).collect();
        (!attributes.is_empty()).then(|| KeptText {
            text: text.to_owned(),
            attributes,
        })
    }
}

/// The numbers of the texts that were `looked` at, by the attributes of `protected` that they name
/// without their values being exchanged; attributes of which there is none are left out.
pub(super) fn naming(looked: &[Looked], protected: &Protected) -> Vec<NamingTexts> {
    let attributes = protected.attributes().iter().enumerate();
    let of = |(attribute, name): (usize, &String)| {
        let names = |of: &&Looked| of.named.iter().any(|naming| naming.attribute == attribute);
        let kept = looked.iter().flat_map(Looked::kept);
        let kept = kept.filter(|naming| naming.attribute == attribute);
        let kept: Vec<&Naming> = kept.collect();
        let mut by: HashMap<&str, u64> = HashMap::new();
        for words in kept.iter().flat_map(|naming| &naming.kept_by) {
            *by.entry(words).or_default() += 1;
        }
        let mut by: Vec<(&str, u64)> = by.into_iter().collect();
        by.sort_by_key(|&(words, texts)| (std::cmp::Reverse(texts), words));
        let by = by.into_iter().take(LISTED);
        NamingTexts {
            attribute: name.clone(),
            texts: looked.iter().filter(names).count() as u64,
            kept: kept.len() as u64,
            by_words: kept.iter().filter(|it| !it.kept_by.is_empty()).count() as u64,
            kept_by: by
                .map(|(words, texts)| KeptBy {
                    words: words.to_owned(),
                    texts,
                })
                .collect(),
        }
    };
    attributes.map(of).filter(|of| of.kept > 0).collect()
}

/// Asks `subject` about those of the texts `kept` that `places` names, and counts what is decided of
/// them by `decision`. `observe` is told now and then how many are done, and may stop it: the counts, and
/// their number, are then of these.
///
/// # Errors
/// When the model cannot answer.
pub(super) fn decide(
    (kept, places): (&[KeptText], &[u32]),
    (subject, decision): (&TextSubject<'_>, &Decision),
    observe: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<(Decided, u64), AuditError> {
    let (mut decided, mut done) = (Decided::new(), 0);
    for block in places.chunks(BLOCK) {
        let kept: Vec<&KeptText> = block.iter().map(|&at| &kept[at as usize]).collect();
        let texts: Vec<&str> = kept.iter().map(|kept| &kept.text[..]).collect();
        let logits = match subject {
            TextSubject::Words(model) => text_logits(model, &texts, &ComputeDevice::flex())?,
            TextSubject::Asked(asked) => asked.classifier.logits(&texts)?,
        };
        let logits = logits.chunks_exact(subject.classes().len().max(1));
        for (kept, logits) in kept.iter().zip(logits) {
            let decision = decision.decide(&[], logits);
            for &attribute in &kept.attributes {
                *decided.entry((attribute, decision)).or_default() += 1;
            }
        }
        done += block.len() as u64;
        if observe(done).is_break() {
            break;
        }
    }
    Ok((decided, done))
}

/// The places of the texts `kept` that are asked about, in the order in which they are: none where
/// `decision` compares scores; at most `most`, drawn by `seed`.
pub(super) fn in_order(
    kept: &[KeptText],
    decision: &Decision,
    (seed, most): (u64, usize),
) -> Vec<u32> {
    if let Decision::Gap(_) = decision {
        return Vec::new();
    }
    let mut order = permutation(seed, Purpose::UniformInput, 1, kept.len() as u32);
    order.truncate(most);
    order
}
