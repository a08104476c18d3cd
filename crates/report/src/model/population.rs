//! What an audit says of the rows of the data.

use serde::{Deserialize, Serialize};

use super::figures::{InputShares, Share};

/// Whose decisions change with protected attributes alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Population {
    /// Which rows of the data: `all`, `train`, `validation` or `test`.
    pub part: String,
    /// SHA-256 of their file, where it is not the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub population_sha256: Option<String>,
    /// Rows that there are.
    pub rows: u64,
    /// Rows that were asked about.
    pub asked: u64,
    /// Rows that were not, since a protected value is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<UnknownRows>,
    /// The class that is good to get.
    pub favourable: String,
    /// What the number is called that a regressor gives; nothing of a classifier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<String>,
    /// The gap beyond which scores differ, where they are compared in place of decisions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<f64>,
    /// Shares by protected attributes, the joint one last.
    pub shares: Vec<Share>,
    /// Which way decisions change.
    pub directions: Directions,
    /// Whom it meets.
    pub groups: Vec<GroupedRows>,
    /// Who would gain and who would lose as somebody else, by each protected attribute alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<AttributeEffect>,
    /// Combinations of values that are at a disadvantage together, beyond what each value is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub intersections: Vec<Intersection>,
    /// How far scores move.
    pub changes: Changes,
}

/// Rows with a protected value that is not known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UnknownRows {
    /// Their number.
    pub rows: u64,
    /// The attributes whose value is not known in some of them.
    pub attributes: Vec<String>,
}

/// The rows with some values of several attributes, all of which may be changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Intersection {
    /// The attributes.
    pub attributes: Vec<String>,
    /// The value of each.
    pub values: Vec<String>,
    /// Rows with all of them.
    pub rows: u64,
    /// The rows of the group that would gain with other values.
    pub gain: CountedRows,
    /// The rows of the group that would lose with other values.
    pub lose: CountedRows,
    /// For each attribute, those of the other rows with its value that would gain.
    pub others: Vec<CountedRows>,
}

/// What becomes of rows, or texts, when one attribute changes and nothing else does: one gains as a
/// value if it gets what is good with that value and not with its own, and loses as a value if it gets
/// it with its own and not with that value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttributeEffect {
    /// The attribute.
    pub attribute: String,
    /// Whether the exchange that stands first is a disadvantage.
    pub tendency: Tendency,
    /// The number of values that there are; absent in older runs.
    #[serde(default)]
    pub all_values: u64,
    /// These values, at most 500, the most one-sided: first those that would gain most by others.
    pub values: Vec<ValueEffect>,
    /// Exchanges of one value for another, the most one-sided one first.
    pub exchanges: Vec<ExchangeEffect>,
}

/// Whether an attribute is to the disadvantage of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tendency {
    /// Nobody gains or loses.
    None,
    /// Gains and losses balance.
    Balanced,
    /// One value is worse off more often, but not by far.
    Leaning,
    /// One value is worse off.
    OneSided,
}

/// What becomes of the inputs of one value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ValueEffect {
    /// The value.
    pub value: String,
    /// Rows, or texts, that have it.
    pub inputs: u64,
    /// The rows with the value that would gain as some other value.
    pub gain: CountedRows,
    /// The rows with the value that would lose as some other value.
    pub lose: CountedRows,
    /// The share that gains less the share that loses, on average over the other values.
    pub net: f64,
}

/// What becomes of the inputs of one value as another one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExchangeEffect {
    /// The value that they have.
    pub from: String,
    /// The value that they are given.
    pub to: String,
    /// Rows, or texts, that can be given it.
    pub inputs: u64,
    /// The rows that would gain by the exchange.
    pub gain: CountedRows,
    /// The rows that would lose by the exchange.
    pub lose: CountedRows,
}

/// How plausible the pairs of an audit are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plausibility {
    /// Real rows that they are compared with.
    pub rows: u64,
    /// Pairs.
    pub pairs: u64,
    /// The number of pairs that at least 5 % of the rows are no likelier than.
    pub plausible: u64,
    /// The share of such pairs.
    pub share: f64,
    /// Pairs by plausibility, in bins of equal width from 0 to 1.
    pub bins: Vec<u64>,
    /// Pairs that were left out of the samples.
    pub left_out: u64,
    /// Share of discriminatory ones among inputs drawn from what grades the pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Share>,
}

/// Which way decisions change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Directions {
    /// Rows that would get the favourable class.
    pub to_favourable: CountedRows,
    /// Rows that would lose it.
    pub from_favourable: CountedRows,
    /// Other rows that would get another class.
    pub between_others: CountedRows,
}

/// A share of the rows that were asked about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CountedRows {
    /// The rows.
    pub count: u64,
    /// The share of the rows.
    pub share: f64,
    /// The 95 % interval of the share.
    pub ci95: [f64; 2],
}

/// Rows by the values of some attributes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupedRows {
    /// The attributes.
    pub attributes: Vec<String>,
    /// The groups that are listed.
    pub groups: Vec<GroupOfRows>,
    /// The number of groups that are not listed.
    pub unlisted: u64,
}

/// The rows of one group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupOfRows {
    /// The value of each attribute.
    pub values: Vec<String>,
    /// Rows.
    pub rows: u64,
    /// Discriminatory ones.
    pub discriminatory: u64,
    /// The number of these rows that would get the favourable class.
    pub to_favourable: u64,
    /// The number of these rows that would lose it.
    pub from_favourable: u64,
    /// Rows that get the favourable class, where decisions are compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub favoured: Option<u64>,
    /// Share of the discriminatory ones.
    pub rate: f64,
    /// The 95 % interval of the share.
    pub ci95: [f64; 2],
}

/// The largest change of the score of each row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Changes {
    /// Mean.
    pub mean: f64,
    /// The largest one.
    pub largest: f64,
    /// Quantiles.
    pub quantiles: Vec<ChangeQuantile>,
    /// Width of the bins.
    pub bin_width: f64,
    /// Rows by change, in bins of equal width from 0.
    pub bins: Vec<u64>,
}

/// That a share of the rows has no larger change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChangeQuantile {
    /// The share.
    pub share: f64,
    /// The change.
    pub change: f64,
}

impl Population {
    /// The shares, and what they are of.
    pub fn input_shares(&self) -> InputShares<'_> {
        InputShares {
            of: self.source(),
            there: Some(self.rows),
            shares: &self.shares,
        }
    }

    /// The rows in words: `the rows of the data`.
    pub fn source(&self) -> &'static str {
        match (&self.population_sha256, self.part.as_str()) {
            (Some(_), _) => "the rows of the population",
            (None, "train") => "the rows of the train part",
            (None, "validation") => "the rows of the validation part",
            (None, "test") => "the rows of the test part",
            _ => "the rows of the data",
        }
    }
}
