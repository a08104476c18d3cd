//! What a test by counterparts found.

use serde::{Deserialize, Serialize};

use super::figures::ReadCounts;
use super::population::CountedRows;
use super::situations::{DrawnCounterparts, DrawnForGroup, PersonValue};

/// A run of `probity counterparts`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CounterpartsFindings {
    /// SHA-256 of the data file.
    pub data_sha256: String,
    /// Counts of what reading the table changed or left out.
    pub data: Option<ReadCounts>,
    /// SHA-256 of the file of counterfactuals, if counterparts were given.
    pub counterfactuals_sha256: Option<String>,
    /// How the counterparts were drawn, if they were.
    pub drawn: Option<DrawnCounterparts>,
    /// Whether the outcomes in the data are looked at, in place of a model's decisions.
    pub is_label: bool,
    /// The class that is good to get.
    pub favourable: String,
    /// Whether somebody said that it is.
    pub is_favourable_given: bool,
    /// The label whose numbers are compared, where they are numbers; then `favourable` is `lower` or
    /// `higher`.
    pub number: Option<String>,
    /// By how much scores or numbers must differ to be told apart, where these are compared.
    pub gap: Option<f64>,
    /// The attributes by which people are compared.
    pub compared: Vec<String>,
    /// The largest share of a group that may be decided worse, if somebody said one.
    pub fail_above: Option<f64>,
    /// Group by group.
    pub groups: Vec<CounterpartsOfGroup>,
    /// The file of all pairs.
    pub pairs: Option<String>,
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CounterpartsSide {
    /// The number of people.
    pub people: u64,
    /// The people who were decided unfavourably, where anything is decided.
    pub unfavourable: Option<CountedRows>,
    /// The mean of their numbers, where they get numbers.
    pub mean: Option<f64>,
}

/// What was found of one group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CounterpartsOfGroup {
    /// The conditions that all members meet.
    pub protected: Vec<PersonValue>,
    /// The conditions of those with whom they are compared; none where that is everybody else.
    #[serde(default)]
    pub reference: Vec<PersonValue>,
    /// The members.
    pub members: CounterpartsSide,
    /// The people with whom the members are compared.
    pub others: CounterpartsSide,
    /// The number of people of whom it is not known whether they are members; they are on neither side.
    #[serde(default)]
    pub unknown: u64,
    /// How good the matching is.
    pub matching: MatchingQuality,
    /// The number of halves of the people that were matched again for the intervals.
    #[serde(default)]
    pub halves: u64,
    /// Members who are decided worse than their counterparts.
    pub against: CounterpartsOneWay,
    /// Members who are decided better.
    pub favouring: CounterpartsOneWay,
    /// The test of whether the two differ.
    pub comparison: Option<DirectionsTest>,
    /// The counterparts beside real people, where they are drawn.
    pub drawn: Option<DrawnForGroup>,
    /// Kinds of members, those with the most who are decided worse first.
    pub subgroups: Vec<CounterpartsSubgroup>,
    /// Members who are decided worse than their counterpart, the nearest pairs first.
    pub persons: Vec<PersonWithCounterpart>,
}

/// How good a matching is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MatchingQuality {
    /// The mean distance of members and counterparts.
    pub mean_distance: f64,
    /// A mean distance below which no matching is.
    pub at_least: f64,
    /// How much shorter the best matching may be, as a share of this one.
    pub gap: f64,
    /// Whether this matching is proven to be the best.
    pub is_exact: bool,
}

/// One direction of the flipset.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CounterpartsOneWay {
    /// The share of the members.
    pub share: f64,
    /// The 95 % interval of the share, where there is one.
    pub ci95: Option<[f64; 2]>,
    /// Members who are decided otherwise than the counterpart that they are matched with for the
    /// most part.
    pub members: u64,
    /// In what they differ from their counterparts, what stands out first.
    pub transparency: Vec<CounterpartsDifference>,
}

/// In what members differ from their counterparts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CounterpartsDifference {
    /// The attribute.
    pub attribute: String,
    /// Of numbers, the mean difference in standard deviations, where any pair has two; of levels the share
    /// of pairs in which they differ.
    pub in_flipset: Option<f64>,
    /// The mean difference over all members.
    pub overall: Option<f64>,
    /// The mean sign of the difference in the flipset, of numbers.
    pub sign_in_flipset: Option<f64>,
    /// The mean sign of the difference over all members.
    pub sign_overall: Option<f64>,
}

/// The test of the two directions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DirectionsTest {
    /// The test: `mcnemar` or `fisher`.
    pub test: String,
    /// The two-sided p-value.
    pub p: f64,
}

/// The members with one value of an attribute.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CounterpartsSubgroup {
    /// The attribute.
    pub attribute: String,
    /// The value.
    pub value: String,
    /// The number of members.
    pub members: u64,
    /// The number of members who are decided worse than their counterpart.
    pub against: u64,
    /// The share of such members.
    pub share: f64,
}

/// A member beside the counterpart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PersonWithCounterpart {
    /// The number of the row in the file, from 1.
    pub row: u64,
    /// The decision.
    pub decision: String,
    /// What the person has of each attribute.
    pub values: Vec<PersonValue>,
    /// The number of the counterpart's row in its file, from 1.
    pub counterpart_row: u64,
    /// The decision about the counterpart.
    pub counterpart_decision: String,
    /// The scores of both, where scores are compared.
    pub scores: Option<[f64; 2]>,
    /// What the counterpart has of each attribute.
    pub counterpart_values: Vec<PersonValue>,
    /// The ranks of both among all people, attribute by attribute, where it has an order.
    #[serde(default)]
    pub ranks: Vec<Option<[f64; 2]>>,
    /// The distance of the two.
    pub distance: f64,
}
