//! The counts of people as shares.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use super::moves::Changes;
use super::people::{Groups, People, Source};
use super::tally::{GroupCounts, Sides, Tally};
use crate::certify::parts::Part;
use crate::estimate::{Estimate, estimated_sets};
use crate::statistics::Share;
use probity_data::table::ReadCounts;

/// Largest number of groups that a grouping lists, those of most rows; and of contrasts of an
/// attribute.
const LISTED: usize = 500;

/// Shares of the people whose decisions change with protected attributes alone.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PopulationSummary {
    /// The part of the data that the rows are of.
    pub part: Part,
    /// SHA-256 of the file of the rows, where it is not the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub population_sha256: Option<String>,
    /// Counts of what reading this file changed or left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<ReadCounts>,
    /// Number of rows that exist.
    pub rows: u64,
    /// Rows that were asked about.
    pub asked: u64,
    /// Different individuals among these: rows without their protected part.
    pub individuals: u64,
    /// Rows and variants that the model was asked about.
    pub model_rows: u64,
    /// The class that is good to get; of a regressor whether higher or lower numbers are.
    pub favourable: String,
    /// The name of the number that a regressor gives; none of a classifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<String>,
    /// The gap beyond which scores of this class differ, where they are compared in place of
    /// decisions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<f64>,
    /// The share of the rows by each protected attribute alone and, if there are several, by all
    /// jointly.
    pub shares: Vec<Estimate>,
    /// The directions in which the decisions change that change jointly.
    pub directions: Directions,
    /// The groups that the changes meet: by each protected attribute and, if there are several, by
    /// all jointly.
    pub groups: Vec<GroupedRows>,
    /// The groups that are disadvantaged: by each protected attribute alone.
    pub contrasts: Vec<Contrasts>,
    /// The changes of scores.
    pub changes: Changes,
    /// The protected attributes that alone change no bit of any answer; the summary of an audit
    /// says which of them a predictor does not take.
    #[serde(skip)]
    pub without_effect: Vec<String>,
}

/// Pairs of a row and its twin with another value of one attribute, all else alike, where one gets
/// what is good and the other does not.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Contrasts {
    /// The attribute.
    pub attribute: String,
    /// Number of pairs whose values are of different groups.
    pub pairs: u64,
    /// Number of pairs by both groups, by falling number, at most 500.
    pub values: Vec<Contrast>,
}

/// Pairs of one group and another.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Contrast {
    /// The value, or the range of values, of the side that gets what is good.
    pub favoured: String,
    /// The value, or the range of values, of the side that does not.
    pub disadvantaged: String,
    /// Number of pairs.
    pub pairs: u64,
}

/// The directions in which decisions change; shares of the rows that were asked about.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Directions {
    /// Rows that do not get the favourable class, and would with other protected values.
    pub to_favourable: Share,
    /// Rows that get the favourable class, and would not with some other protected values.
    pub from_favourable: Share,
    /// Rows that would get another class, and the favourable one neither way.
    pub between_others: Share,
}

/// Rows by the values of some protected attributes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupedRows {
    /// The attributes.
    pub attributes: Vec<String>,
    /// Groups with rows, at most 500, those of most rows.
    pub groups: Vec<GroupOfRows>,
    /// Number of groups with rows that are not listed.
    pub unlisted: u64,
}

/// The rows of one group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupOfRows {
    /// The value, or the range of values, of each attribute.
    pub values: Vec<String>,
    /// Rows that were asked about.
    pub rows: u64,
    /// Rows that are discriminatory by all protected attributes jointly.
    pub discriminatory: u64,
    /// Discriminatory rows that do not get the favourable class and could.
    pub to_favourable: u64,
    /// Discriminatory rows that get the favourable class and could lose it.
    pub from_favourable: u64,
    /// Rows that get the favourable class; nothing where scores are compared in place of decisions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub favoured: Option<u64>,
    /// The share discriminatory / rows.
    pub rate: f64,
    /// 95 % interval of the share.
    pub ci95: [f64; 2],
}

impl PopulationSummary {
    /// The shares that the `tally` of all of `people` gives.
    pub fn new(people: &People<'_>, tally: &Tally) -> PopulationSummary {
        let Source { part, file, rows } = people.source.clone();
        let (population_sha256, data) = file.unzip();
        let sets = estimated_sets(&people.protected)
            .into_iter()
            .zip(&tally.flips);
        let [_, discriminatory, gain, lose, _] =
            tally.groups[0].iter().fold([0; 5], |sum, counts| {
                std::array::from_fn(|at| sum[at] + counts[at])
            });
        let are_decided = people.gap.is_none();
        let share = |count: u64| Share::new(count, tally.rows);
        let by = people.groups.iter().zip(&tally.groups);
        PopulationSummary {
            part,
            population_sha256,
            data,
            rows,
            asked: tally.rows,
            individuals: tally.individuals,
            model_rows: tally.individuals * people.groups[0].of_variant.len() as u64,
            favourable: people.favourable.1.clone(),
            number: people.number.clone(),
            gap: people.gap,
            shares: sets
                .map(|(protected, &flips)| Estimate::new(protected, tally.rows, flips))
                .collect(),
            directions: Directions {
                to_favourable: share(gain),
                from_favourable: share(lose),
                between_others: share(discriminatory - gain - lose),
            },
            groups: by
                .map(|(by, counts)| grouped(by, counts, are_decided))
                .collect(),
            contrasts: people
                .groups
                .iter()
                .zip(&tally.contrasts)
                .map(|(by, counts)| contrasts(by, counts))
                .collect(),
            changes: tally.moves.changes(),
            without_effect: people
                .protected
                .iter()
                .zip(&tally.is_taken)
                .filter(|(_, is_taken)| !**is_taken)
                .map(|(name, _)| name.clone())
                .collect(),
        }
    }

    /// The share by all protected attributes jointly.
    pub fn joint(&self) -> Option<&Estimate> {
        self.shares.last()
    }
}

fn contrasts(by: &Groups, counts: &BTreeMap<Sides, u64>) -> Contrasts {
    let name = |group: u32| by.values[group as usize].join(", ");
    let contrast = |(&(favoured, disadvantaged), &pairs): (&Sides, &u64)| Contrast {
        favoured: name(favoured),
        disadvantaged: name(disadvantaged),
        pairs,
    };
    let mut values: Vec<Contrast> = counts.iter().map(contrast).collect();
    values.sort_by_key(|contrast| Reverse(contrast.pairs));
    values.truncate(LISTED);
    Contrasts {
        attribute: by.attributes.join(", "),
        pairs: counts.values().sum(),
        values,
    }
}

fn grouped(by: &Groups, counts: &[GroupCounts], are_decided: bool) -> GroupedRows {
    let mut found: Vec<(usize, &GroupCounts)> = counts
        .iter()
        .enumerate()
        .filter(|(_, counts)| counts[0] > 0)
        .collect();
    let unlisted = found.len().saturating_sub(LISTED);
    if unlisted > 0 {
        found.sort_by_key(|(_, counts)| Reverse(counts[0]));
        found.truncate(LISTED);
    }
    let group = |(at, &[rows, discriminatory, gain, lose, favoured]): (usize, &GroupCounts)| {
        let share = Share::new(discriminatory, rows);
        GroupOfRows {
            values: by.values[at].clone(),
            rows,
            discriminatory,
            to_favourable: gain,
            from_favourable: lose,
            favoured: are_decided.then_some(favoured),
            rate: share.share,
            ci95: share.ci95,
        }
    };
    GroupedRows {
        attributes: by.attributes.clone(),
        groups: found.into_iter().map(group).collect(),
        unlisted: unlisted as u64,
    }
}
