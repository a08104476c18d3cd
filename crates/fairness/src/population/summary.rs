//! The counts of people as shares.

use std::cmp::Reverse;

use serde::Serialize;

use super::intersection::{Intersection, intersections};
use super::moves::Changes;
use super::people::{Groups, People, Source, Unknown};
use super::tally::{Exchange, GroupCounts, Tally};
use crate::certify::parts::Part;
use crate::effect::{AttributeEffect, CountedExchange, CountedValue, Ways};
use crate::estimate::{Estimate, estimated_sets};
use crate::statistics::Share;
use probity_data::table::ReadCounts;

/// Largest number of groups that a grouping lists, those of most rows; and of exchanges of an
/// attribute that are listed whatever they do.
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
    /// Rows that were not, since a protected value is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown: Option<Unknown>,
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
    /// Who would gain and who would lose as somebody else: by each protected attribute alone.
    pub effects: Vec<AttributeEffect>,
    /// The combinations of values that are at a disadvantage together, beyond what each value is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub intersections: Vec<Intersection>,
    /// The changes of scores.
    pub changes: Changes,
    /// The protected attributes that alone change no bit of any answer; the summary of an audit
    /// says which of them a predictor does not take.
    #[serde(skip)]
    pub without_effect: Vec<String>,
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
        let Source {
            part,
            file,
            rows,
            unknown,
        } = people.source.clone();
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
            unknown: Some(unknown).filter(|unknown| unknown.rows > 0),
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
            effects: (0..people.protected.len())
                .map(|place| effect(&people.groups[place], tally, place))
                .collect(),
            intersections: match (people.groups.last(), tally.groups.last()) {
                (Some(by), Some(counts)) => intersections(by, counts),
                _ => Vec::new(),
            },
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

/// The effect of the protected attribute at `place`, whose groups are `by`.
fn effect(by: &Groups, tally: &Tally, place: usize) -> AttributeEffect {
    let rows = |group: usize| tally.groups[place][group][0];
    let groups = by.values.len();
    let names: Vec<String> = by.values.iter().map(|values| values.join(", ")).collect();
    let present: Vec<usize> = (0..groups).filter(|&group| rows(group) > 0).collect();
    let values = present.iter().map(|&value| CountedValue {
        value,
        inputs: rows(value),
        ways: tally.alone[place][value],
        others: groups - 1,
    });
    let counts = &tally.exchanges[place];
    let exchange = |(&(from, to), &ways): (&Exchange, &Ways)| CountedExchange {
        from: from as usize,
        to: to as usize,
        inputs: rows(from as usize),
        ways,
    };
    let mut exchanges: Vec<CountedExchange> = counts.iter().map(exchange).collect();
    // Of few groups, those exchanges are listed, too, by which nobody gains or loses.
    if present.len() * groups <= LISTED {
        let all = present
            .iter()
            .flat_map(|&from| (0..groups).map(move |to| (from, to)));
        let is_left = |&(from, to): &(usize, usize)| {
            from != to && !counts.contains_key(&(from as u32, to as u32))
        };
        exchanges.extend(all.filter(is_left).map(|(from, to)| CountedExchange {
            from,
            to,
            inputs: rows(from),
            ways: [0; 2],
        }));
    }
    let attribute = by.attributes.join(", ");
    AttributeEffect::new((attribute, &names), values.collect(), exchanges)
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
