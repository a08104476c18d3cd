//! The content of `summary.json` of a proof, and the parts of it that are for people.

use serde::{Deserialize, Serialize};

use super::measure::WHOLE;
use super::network::SumNetwork;
use super::partition::{Partition, Proved, Region};
use super::population::PopulationDetails;
use crate::estimate::Verdict;
use probity_data::schema::Schema;
use probity_data::table::ReadCounts;

/// The reason why a proof ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProofEnding {
    /// No more than the share asked for is undecided.
    Decided,
    /// The time was over.
    Time,
    /// There may be no more boxes.
    MaxBoxes,
    /// The proof was interrupted.
    Interrupted,
}

/// The figures of the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SearchWithin {
    /// Points of undecided boxes that the search began at.
    pub seeds: u64,
    /// Distinct individuals that the search checked.
    pub generated: u64,
    /// Discriminatory ones among them, in undecided boxes and beside them.
    pub discriminatory: u64,
    /// Pairs in the samples file that the search found, beside the witnesses.
    pub pairs: u64,
}
/// A share that is proved, and the number of points that it is of.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProvedShare {
    /// Points, a whole number in decimal digits; absent where points are weighted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points: Option<String>,
    /// The share of these points.
    pub share: f64,
}

/// The shares that were proved after some seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    /// Seconds from the beginning.
    pub seconds: f64,
    /// Number of boxes.
    pub boxes: u64,
    /// Fair share at least.
    pub fair: f64,
    /// Discriminatory share at least.
    pub discriminatory: f64,
}

/// A condition on an attribute in a box.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Condition {
    /// The attribute.
    pub attribute: String,
    /// The values of the attribute, in words: `18 – 24`, or the levels.
    pub values: String,
}

/// A part of the domain in words.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Place {
    /// The conditions in which the part differs from the whole domain.
    pub conditions: Vec<Condition>,
    /// The share of the part in the domain.
    pub share: f64,
    /// The fair share of the part at least.
    pub fair: f64,
    /// The discriminatory share of the part at least.
    pub discriminatory: f64,
}

/// The extent to which an attribute decides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Deciding {
    /// The attribute.
    pub attribute: String,
    /// The share of all undecided points of boxes that were split that lie in boxes split at this
    /// attribute.
    pub share: f64,
}

/// An estimate from points drawn of undecided boxes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EstimateWithin {
    /// Points drawn.
    pub sampled: u64,
    /// Discriminatory ones among them.
    pub discriminatory: u64,
    /// Discriminatory share of the whole domain, as estimated.
    pub rate: f64,
    /// 95 % interval of that share, within what is proved.
    pub ci95: [f64; 2],
}

/// The declared bound.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ProvedBound {
    /// The largest discriminatory share that is allowed.
    pub bound: f64,
    /// The verdict that is proved on the bound.
    pub verdict: Verdict,
}

/// The content of `summary.json` of a proof.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProveSummary {
    /// Version of this layout.
    pub schema_version: u32,
    /// Always `prove`.
    pub command: String,
    /// Version that ended the run.
    pub probity_version: String,
    /// The reason why the proof ended.
    pub ending: ProofEnding,
    /// SHA-256 of the model.
    pub model_sha256: String,
    /// Protected attributes.
    pub protected: Vec<String>,
    /// Combinations of the values of protected attributes, all of which are compared.
    pub combinations: u64,
    /// The part of the domain, where not all of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub within: Vec<String>,
    /// Combinations of the other attributes' values, a whole number in decimal digits.
    pub points: String,
    /// Whether shares are of people drawn by the marginals or from the population, not of
    /// combinations.
    pub is_weighted: bool,
    /// The fitted population, where shares are of people drawn from one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub population: Option<PopulationDetails>,
    /// Counts of what reading the table of marginals changed or left out, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marginals: Option<ReadCounts>,
    /// The share that is proven to be fair.
    pub fair: ProvedShare,
    /// The share that is proven to be discriminatory.
    pub discriminatory: ProvedShare,
    /// The share that is neither.
    pub undecided: ProvedShare,
    /// The bounds between which the discriminatory share lies for certain.
    pub bounds: [f64; 2],
    /// The estimate of the share within these bounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimate: Option<EstimateWithin>,
    /// Boxes that the domain was cut into.
    pub boxes: u64,
    /// Pairs in the samples file, one of each of the boxes with most discriminatory points.
    pub witnesses: u64,
    /// The finds of a search from points of undecided boxes; its pairs come after these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchWithin>,
    /// Seconds that the proof took.
    pub seconds: f64,
    /// Shares against time.
    pub trace: Vec<Moment>,
    /// The parts of the domain where the discriminatory points are.
    pub largest: Vec<Place>,
    /// The attributes at which boxes were split.
    pub deciding: Vec<Deciding>,
    /// The domain in few parts, for a picture: they are disjoint and complete.
    pub map: Vec<Place>,
    /// The declared bound, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_above: Option<ProvedBound>,
    /// Name of the file of boxes.
    pub boxes_file: String,
    /// Name of the file of pairs.
    pub samples_file: String,
    /// Name of the file of points of undecided boxes, from which a search may begin; absent where
    /// there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undecided_file: Option<String>,
}

/// The part that `count` is of `whole`.
pub(super) fn share(count: u128, whole: u128) -> f64 {
    count as f64 / whole.max(1) as f64
}

/// The discriminatory share at least and at most, as f64 outside of what is proved.
pub(super) fn bounds(proved: Proved, whole: u128) -> [f64; 2] {
    // Three roundings of f64 at most.
    let outward = 4.0 * f64::EPSILON;
    let low = share(proved.discriminatory, whole) * (1.0 - outward);
    let high = share(whole - proved.fair.min(whole), whole) * (1.0 + outward);
    [low, high.min(1.0)]
}

/// The verdict of what is `proved` of `whole` on a declared `bound`. Where nothing is undecided the share
/// is known, and compared as the number that it is written as.
pub(super) fn verdict(proved: Proved, whole: u128, bound: f64) -> Verdict {
    let [low, high] = match proved.fair + proved.discriminatory == whole {
        true => [share(proved.discriminatory, whole); 2],
        false => bounds(proved, whole),
    };
    match (high <= bound, low > bound) {
        (true, _) => Verdict::Within,
        (_, true) => Verdict::Exceeds,
        _ => Verdict::Inconclusive,
    }
}

/// A count as a share of `whole`, with the points where they are counted.
pub(super) fn proved_share(count: u128, whole: u128, is_weighted: bool) -> ProvedShare {
    debug_assert!(!is_weighted || whole == WHOLE);
    ProvedShare {
        points: (!is_weighted).then(|| count.to_string()),
        share: share(count, whole),
    }
}

/// Puts regions into words.
pub(super) struct Words<'a> {
    pub schema: &'a Schema,
    pub network: &'a SumNetwork,
    pub partition: &'a Partition,
}

impl Words<'_> {
    pub fn place(&self, region: &Region) -> Place {
        let domain = self.network.domain();
        let ranges = region.ranges.iter().zip(&domain).enumerate();
        let narrowed = ranges.filter(|(_, (range, whole))| range != whole);
        Place {
            conditions: narrowed
                .map(|(place, (range, _))| self.condition(place, *range))
                .collect(),
            share: share(region.points, self.partition.whole()),
            fair: share(region.fair, region.points),
            discriminatory: share(region.discriminatory, region.points),
        }
    }

    fn condition(&self, place: usize, range: [u32; 2]) -> Condition {
        let (attribute, codes) = self.network.codes(place, range);
        let attribute = &self.schema.attributes[attribute];
        let runs = codes.chunk_by(|a, b| a + 1 == *b && attribute.are_ordered(&[*a, *b]));
        let values = runs.filter_map(|run| Some(attribute.between(*run.first()?, *run.last()?)));
        Condition {
            attribute: attribute.name.clone(),
            values: values.collect::<Vec<_>>().join(", "),
        }
    }

    /// The attributes that decide, those that do most first.
    pub fn deciding(&self) -> Vec<Deciding> {
        let shares = self.partition.split_shares().into_iter().enumerate();
        let mut deciding: Vec<Deciding> = shares
            .filter(|(_, share)| *share > 0.0)
            .map(|(place, share)| {
                let (attribute, _) = self.network.codes(place, [0, 0]);
                Deciding {
                    attribute: self.schema.attributes[attribute].name.clone(),
                    share,
                }
            })
            .collect();
        deciding.sort_by(|a, b| b.share.total_cmp(&a.share));
        deciding
    }
}
