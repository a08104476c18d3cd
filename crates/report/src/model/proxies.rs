//! What a search for proxies found.

use serde::{Deserialize, Serialize};

use super::situations::{GroupLeftOut, PersonValue};

/// A run of `probity proxies`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProxiesFindings {
    /// SHA-256 of the data file.
    pub data_sha256: String,
    /// Whether decisions are the outcomes in the data, in place of a model's.
    pub is_label: bool,
    /// The class that is good to get.
    pub favourable: String,
    /// Whether somebody said that it is.
    pub is_favourable_given: bool,
    /// The columns that are looked at.
    pub looked_at: Vec<String>,
    /// The number of folds.
    pub folds: u64,
    /// What happened to rows that are equal in all columns.
    pub equal_rows: String,
    /// The share, of what all columns tell beyond chance, that a small set of them is to reach.
    pub share: f64,
    /// Group by group.
    pub groups: Vec<ProxiesOfGroup>,
    /// The groups that were left out.
    #[serde(default)]
    pub left_out: Vec<GroupLeftOut>,
}

/// A figure and its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ProxyEstimate {
    /// The figure.
    pub value: f64,
    /// The 95 % interval of what it estimates.
    pub ci95: [f64; 2],
}

/// What the columns tell of one group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProxiesOfGroup {
    /// The conditions that all members meet.
    pub protected: Vec<PersonValue>,
    /// The number of members.
    pub members: u64,
    /// The number of all others.
    pub others: u64,
    /// The number of people of whom it is not known whether they are members; they are left out.
    #[serde(default)]
    pub unknown: u64,
    /// The entropy of being a member, in bits.
    pub entropy: f64,
    /// The area under the ROC curve of the networks.
    pub auc: ProxyEstimate,
    /// The accuracy with which the networks call people members or others.
    pub balanced_accuracy: ProxyAccuracy,
    /// Column by column, those that tell most first.
    pub columns: Vec<ProxyColumn>,
    /// A small set of columns that tells nearly as much.
    pub smallest: Option<ProxySet>,
    /// How unequal decisions by these columns can be.
    pub impact: ProxyImpact,
    /// How much of a model's score the predicted group explains.
    pub explained: Option<ProxyExplained>,
}

/// How well people are called members or others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProxyAccuracy {
    /// The mean of both shares that are called rightly.
    pub value: f64,
    /// The 95 % interval.
    pub ci95: [f64; 2],
    /// Members who are called members.
    pub members: ProxyCalled,
    /// Others who are called others.
    pub others: ProxyCalled,
}

/// People who are called something, among all of a group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProxyCalled {
    /// The number of them.
    pub count: u64,
    /// The number of the group.
    pub of: u64,
    /// The share.
    pub share: f64,
    /// The interval of the share, at 97.5 %.
    pub ci975: [f64; 2],
}

/// What one column tells by itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProxyColumn {
    /// The name of the column.
    pub attribute: String,
    /// The mutual information of the column and the group, in bits.
    pub bits: f64,
    /// The information as a share of the entropy of the group.
    pub share_of_entropy: f64,
    /// The area under the ROC curve.
    pub auc: ProxyEstimate,
}

/// A small set of columns that tells nearly what all of them do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProxySet {
    /// The columns, in the order in which they were taken.
    pub attributes: Vec<String>,
    /// The area under the ROC curve.
    pub auc: ProxyEstimate,
    /// The part of the area above 0.5, as a share of that of all columns.
    pub share: f64,
}

/// How unequal decisions by some columns can be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProxyImpact {
    /// Members who get the favourable class where whoever is called a member does not.
    pub members: ProxyCalled,
    /// Others who get it then.
    pub others: ProxyCalled,
    /// The share of members by that of others.
    pub ratio: Option<ProxyEstimate>,
    /// The largest guarantees, by the share of others who get the favourable class.
    pub guarantees: Vec<ProxyGuarantee>,
    /// The impact of what was decided.
    pub decided: Option<ProxyDecided>,
}

/// The largest impact ratio that the bound could guarantee of every classifier of some columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProxyGuarantee {
    /// The share of the others who get the favourable class.
    pub others: f64,
    /// The largest ratio that the bound could guarantee.
    pub ratio: f64,
    /// The largest ratio at both ends of the interval of the balanced accuracy.
    pub ci95: [f64; 2],
}

/// What was decided about members and others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProxyDecided {
    /// Members who get the favourable class.
    pub members: ProxyCalled,
    /// Others who get it.
    pub others: ProxyCalled,
    /// The share of members by that of others.
    pub ratio: Option<ProxyEstimate>,
    /// What the bound could at most guarantee of a classifier that gives it to as many others.
    pub guarantee: ProxyGuarantee,
}

/// How much of a score the predicted protected value explains.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProxyExplained {
    /// The share of the score's variance within strata.
    pub share: ProxyEstimate,
    /// The correlation within strata.
    pub correlation: ProxyEstimate,
    /// The number of strata.
    pub strata: u64,
    /// The number of people whose score and outcome are known.
    pub people: u64,
}
