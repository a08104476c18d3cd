//! Which values take the place of the one that a text names.
//!
//! A list may have values that none of the texts name. An exchange for one of them shows how a model
//! reacts to a word that it meets in none of these texts, and the more of them there are, the more
//! texts flip by some exchange. So values are exchanged for those that occur, unless all are asked
//! for.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::protected::Protected;
use super::source::Source;

/// The values that take the place of the one that a text names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExchangedValues {
    /// Those that some text of the file names; of an attribute of which fewer than two occur, all
    Occurring,
    /// All of the lexicon
    All,
}

/// Values of an attribute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ValuesOf {
    /// The attribute.
    pub attribute: String,
    /// The names of the values.
    pub values: Vec<String>,
}

/// Values that none of the texts name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TextValues {
    /// The values that no text names and that were put in the place of others all the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unnamed: Vec<ValuesOf>,
    /// The values that no text names and that were left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<ValuesOf>,
}

/// The values of `protected` that none of `texts` names.
pub(crate) fn unnamed<'s>(
    protected: &Protected,
    texts: impl Iterator<Item = &'s Source>,
) -> BTreeSet<u32> {
    let all: u32 = protected.values().iter().map(|of| of.len() as u32).sum();
    let mut unnamed: BTreeSet<u32> = (0..all).collect();
    for site in texts.flat_map(|text| &text.sites) {
        unnamed.remove(&site.value);
    }
    unnamed
}

/// The names of `values` of `protected`, by attribute.
pub(crate) fn named(protected: &Protected, values: &BTreeSet<u32>) -> Vec<ValuesOf> {
    let mut first = 0;
    let of = protected.attributes().iter().zip(protected.values());
    let of = of.map(|(attribute, names)| {
        let own = first..first + names.len() as u32;
        first = own.end;
        let names = values
            .range(own.clone())
            .map(|value| names[(value - own.start) as usize].clone());
        ValuesOf {
            attribute: attribute.clone(),
            values: names.collect(),
        }
    });
    of.filter(|of| !of.values.is_empty()).collect()
}

/// Chooses those of the `unnamed` values of `protected` to be left out: those of attributes of which two
/// others occur. Where fewer do there is nothing else to exchange them for.
pub(crate) fn left_out(protected: &Protected, unnamed: &BTreeSet<u32>) -> BTreeSet<u32> {
    let mut first = 0;
    let mut left_out = BTreeSet::new();
    for names in protected.values() {
        let own = first..first + names.len() as u32;
        first = own.end;
        let missing: Vec<u32> = unnamed.range(own).copied().collect();
        if names.len() - missing.len() >= 2 {
            left_out.extend(missing);
        }
    }
    left_out
}
