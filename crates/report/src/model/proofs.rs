//! Proofs and certificates, as their summaries say them.

use serde::{Deserialize, Serialize};

use super::figures::{DecidedAlike, ReadCounts};
use super::population::UnknownRows;
use super::repair::Part;

/// A proof about a whole domain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProveFindings {
    /// Protected attributes.
    pub protected: Vec<String>,
    /// Combinations of protected values, all of which are compared.
    pub combinations: u64,
    /// The part of the domain, where not all of it was decided.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub within: Vec<String>,
    /// Combinations of the other attributes.
    pub points: String,
    /// Whether shares are of people drawn by marginals or from a population.
    pub is_weighted: bool,
    /// The fitted population that they are drawn from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub population: Option<ProvedPopulation>,
    /// What reading the table of marginals changed or left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marginals: Option<ReadCounts>,
    /// Proven to be fair.
    pub fair: ProvedPart,
    /// Proven to be discriminatory.
    pub discriminatory: ProvedPart,
    /// Neither.
    pub undecided: ProvedPart,
    /// The discriminatory share, at least and at most.
    pub bounds: [f64; 2],
    /// What is estimated within.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<ProvedEstimate>,
    /// Boxes.
    pub boxes: u64,
    /// Seconds.
    pub seconds: f64,
    /// Shares against time.
    pub trace: Vec<ProvedMoment>,
    /// Where discriminatory points are.
    pub largest: Vec<ProvedPlace>,
    /// Attributes at which boxes were split.
    pub deciding: Vec<DecidingAttribute>,
    /// The domain in parts.
    pub map: Vec<ProvedPlace>,
    /// The declared bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fail_above: Option<ProvedBound>,
    /// What ended it.
    #[serde(default, skip_serializing)]
    pub ending: String,
    /// What a search from undecided points found.
    #[serde(default, skip_serializing)]
    pub search: Option<UndecidedSearch>,
}

/// What a search from undecided points found.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct UndecidedSearch {
    /// Points that it began at.
    pub seeds: u64,
    /// Distinct individuals checked.
    pub generated: u64,
    /// The number of these points that are discriminatory.
    pub discriminatory: u64,
    /// Pairs of full rows.
    pub pairs: u64,
}

/// A fitted population.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProvedPopulation {
    /// Products that it is a mixture of.
    pub components: u64,
    /// Share of what the network gives that lies in the domain.
    pub inside: f64,
}

/// A share that is proven.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProvedPart {
    /// Points in decimal digits, where they are counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points: Option<String>,
    /// The share of the domain.
    pub share: f64,
}

/// What points of undecided boxes say of the discriminatory share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProvedEstimate {
    /// Points.
    pub sampled: u64,
    /// The share.
    pub rate: f64,
    /// The 95 % interval of the share.
    pub ci95: [f64; 2],
}

/// What was proven after so many seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProvedMoment {
    /// Seconds.
    pub seconds: f64,
    /// Boxes.
    pub boxes: u64,
    /// Fair share.
    pub fair: f64,
    /// Discriminatory share.
    pub discriminatory: f64,
}

/// A part of the domain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProvedPlace {
    /// What it is, in words.
    pub conditions: Vec<ProvedCondition>,
    /// The share of the domain that the place has.
    pub share: f64,
    /// The share of it that is fair, at least.
    pub fair: f64,
    /// The share of it that is discriminatory, at least.
    pub discriminatory: f64,
}

/// What an attribute is in a part of the domain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProvedCondition {
    /// The attribute.
    pub attribute: String,
    /// The values of the attribute.
    pub values: String,
}

/// How much an attribute decides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DecidingAttribute {
    /// The attribute.
    pub attribute: String,
    /// The share of the splits at this attribute, by what was undecided.
    pub share: f64,
}

/// A declared bound, and what is proven of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProvedBound {
    /// The largest share that is allowed.
    pub bound: f64,
    /// `within`, `exceeds` or `inconclusive`.
    pub verdict: String,
}

/// Certificates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CertifyFindings {
    /// What the model decides everything, if it is one class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decides_alike: Option<DecidedAlike>,
    /// What was read of a table.
    #[serde(default, skip_serializing)]
    pub data: Option<ReadCounts>,
    /// Rows that were not certified, since a protected value is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<UnknownRows>,
    /// Part of the data.
    pub part: String,
    /// Each attribute, and all of them.
    pub sets: Vec<CertifiedSet>,
    /// The declared bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fail_below: Option<f64>,
}

/// Certificates for some attributes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CertifiedSet {
    /// The attributes.
    pub protected: Vec<String>,
    /// Inputs.
    pub inputs: u64,
    /// Proved by one box.
    pub one_box: Part,
    /// Proved in all.
    pub certified: Part,
    /// Seconds of the proofs.
    pub seconds: f64,
    /// Fair, as trying everything says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fair: Option<Part>,
    /// With a change that changes their class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfair: Option<u64>,
    /// Not decided before the model calls were spent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undecided: Option<u64>,
    /// Certificates that trying everything refutes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refuted: Option<u64>,
}
