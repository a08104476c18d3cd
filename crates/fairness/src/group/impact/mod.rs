//! Impact ratios by sex, by race/ethnicity and by both, as New York City's Local Law 144 defines
//! them (6 RCNY § 5-300 and § 5-301, in force since 2023).
//!
//! One table of counts has a cell for each value of the one attribute with each of the
//! other; the three sets of categories are its sums over columns, over rows, and its cells. Of each
//! category: how many people, how many of them the model *selects* (predicts as the favourable
//! class) or *scores above the median* of the whole sample, the share of these, and that share over
//! the largest one of the set.
//!
//! - A value may mean that the category is not known: the level of missing and outside values does,
//!   and whatever else the user names. Such people are counted, and are in no category of the sets
//!   that need the value; they are part of the sample, and so of its median.
//! - A category below [`SMALL_SHARE`] of the sample may be left out of the ratios, if the user gives
//!   the reason. It keeps its counts and its rate, and is not what others are compared with.
//! - A category without people is listed without a rate.
//!
//! What the rules call the categories (those of the EEO-1 report) is up to the schema.

mod specification;

use serde::{Deserialize, Serialize};

pub use self::specification::{DataKind, ImpactRate, ImpactSpecification};
use super::error::GroupError;
use super::grouping::AttributeGroups;
use super::tally::{Outcomes, Rate};
use crate::statistics::clopper_pearson;
use probity_data::schema::{OutOfDomain, Schema};
use probity_data::table::Table;

/// A category with a smaller share of the sample may be left out of the ratios (§ 5-301 (d)).
pub const SMALL_SHARE: f64 = 0.02;

/// The options of impact ratios: which categories there are, and what is measured of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ImpactOptions {
    /// The attribute that says the sex.
    pub sex: String,
    /// The attribute that says the race or ethnicity.
    pub race_ethnicity: String,
    /// Values of either that mean that the category is not known.
    pub unknown: Vec<String>,
    /// The rate that is counted.
    pub rate: ImpactRate,
    /// The reason why small categories are left out of the ratios; without a reason none is.
    pub exclusion_reason: Option<String>,
}

impl ImpactOptions {
    /// The two attributes in `schema`.
    ///
    /// # Errors
    /// When one is not there, or no value of either is called what `unknown` says.
    pub(super) fn attributes(&self, schema: &Schema) -> Result<[Categories; 2], GroupError> {
        let categories = |name: &str| -> Result<Categories, GroupError> {
            let groups = AttributeGroups::new(schema, name, &[])?;
            let has_level = schema.attributes[groups.position].outside == OutOfDomain::Level;
            let last = groups.labels.len() - 1;
            let labels = groups.labels.iter().enumerate();
            let is_known = labels
                .map(|(place, label)| !(has_level && place == last || self.unknown.contains(label)))
                .collect();
            Ok(Categories { groups, is_known })
        };
        let both = [categories(&self.sex)?, categories(&self.race_ethnicity)?];
        for value in &self.unknown {
            if !both.iter().any(|one| one.groups.labels.contains(value)) {
                return Err(GroupError::NoCategory {
                    value: value.clone(),
                    attributes: [self.sex.clone(), self.race_ethnicity.clone()],
                });
            }
        }
        Ok(both)
    }
}

/// The values of an attribute.
pub(super) struct Categories {
    groups: AttributeGroups,
    /// Whether each of the values is a category.
    is_known: Vec<bool>,
}

/// The people of one category.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ImpactCategory {
    /// The value of each attribute.
    pub values: Vec<String>,
    /// Number of people.
    pub rows: u64,
    /// The share of these people in the sample.
    pub share: f64,
    /// Number of people selected, or scored above the median.
    pub counted: u64,
    /// The share of those counted in the category, with its exact interval; `None` of nobody.
    pub rate: Option<Rate>,
    /// Whether the category is left out of the ratios because it is small.
    pub excluded: bool,
    /// The rate over the highest one of the set; `None` where the category is left out or empty, or
    /// nobody of the set is counted.
    pub impact_ratio: Option<f64>,
}

/// The categories of one attribute or of both.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ImpactSet {
    /// The attributes.
    pub attributes: Vec<String>,
    /// Number of people whose category is not known.
    pub unknown: u64,
    /// The categories, in the order of the schema.
    pub categories: Vec<ImpactCategory>,
}

/// Impact ratios of a sample.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ImpactReport {
    /// The rate that was counted.
    pub rate: ImpactRate,
    /// Median of the probability of the favourable class, of scoring rates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median: Option<f64>,
    /// Number of people in the sample.
    pub rows: u64,
    /// The reason why small categories are left out, if they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exclusion_reason: Option<String>,
    /// The categories by sex, by race/ethnicity, by both.
    pub sets: Vec<ImpactSet>,
}

/// The impact ratios of the rows of `table`, whose outcomes are `outcomes`.
pub(super) fn measure_impact(
    outcomes: &Outcomes,
    table: &Table,
    [sex, race]: &[Categories; 2],
    options: &ImpactOptions,
) -> ImpactReport {
    let median = match options.rate {
        ImpactRate::Selection => None,
        ImpactRate::Scoring => median(&outcomes.probability),
    };
    let is_counted = |row: usize| match median {
        Some(median) => outcomes.probability[row] > median,
        None => outcomes.selected[row],
    };
    let mut crossed = Crossed::new([sex, race]);
    for row in 0..table.rows() {
        crossed.add(table.row(row), is_counted(row));
    }
    let rows = table.rows() as u64;
    let is_excluding = options.exclusion_reason.is_some();
    let set = |by: [bool; 2]| crossed.set(by, rows, is_excluding);
    ImpactReport {
        rate: options.rate,
        median,
        rows,
        exclusion_reason: options.exclusion_reason.clone(),
        sets: vec![set([true, false]), set([false, true]), set([true, true])],
    }
}

/// The middle one of `values`, or the mean of the middle two.
fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(sorted[middle]),
        _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
    }
}

/// The people, and the counted ones among them, by the values of two attributes.
struct Crossed<'a> {
    attributes: [&'a Categories; 2],
    /// A cell for each value of the first attribute with each of the second.
    cells: Vec<(u64, u64)>,
}

impl<'a> Crossed<'a> {
    fn new(attributes: [&'a Categories; 2]) -> Crossed<'a> {
        let [one, other] = attributes.map(|categories| categories.is_known.len());
        Crossed {
            attributes,
            cells: vec![(0, 0); one * other],
        }
    }

    fn add(&mut self, row: &[i32], is_counted: bool) {
        let group = |of: &Categories| of.groups.group(row[of.groups.position]) as usize;
        let [one, other] = self.attributes.map(group);
        let cell = &mut self.cells[one * self.attributes[1].is_known.len() + other];
        cell.0 += 1;
        cell.1 += u64::from(is_counted);
    }

    /// The categories by the attributes that `by` names, of a sample of `rows` people.
    fn set(&self, by: [bool; 2], rows: u64, is_excluding: bool) -> ImpactSet {
        let width = self.attributes[1].is_known.len();
        let places = |at: usize| match by[at] {
            true => self.attributes[at].is_known.len(),
            false => 1,
        };
        let mut sums = vec![(0, 0); places(0) * places(1)];
        for (place, cell) in self.cells.iter().enumerate() {
            let at = [place / width, place % width];
            let [one, other] = [0, 1].map(|side| if by[side] { at[side] } else { 0 });
            let sum: &mut (u64, u64) = &mut sums[one * places(1) + other];
            sum.0 += cell.0;
            sum.1 += cell.1;
        }
        let (mut unknown, mut categories) = (0, Vec::new());
        for (place, (people, counted)) in sums.into_iter().enumerate() {
            let at = [place / places(1), place % places(1)];
            let sides = (0..2).filter(|&side| by[side]);
            if sides
                .clone()
                .any(|side| !self.attributes[side].is_known[at[side]])
            {
                unknown += people;
                continue;
            }
            let label = |side: usize| self.attributes[side].groups.labels[at[side]].clone();
            let share = people as f64 / rows.max(1) as f64;
            categories.push(ImpactCategory {
                values: sides.map(label).collect(),
                rows: people,
                share,
                counted,
                rate: (people > 0).then(|| Rate {
                    value: counted as f64 / people as f64,
                    ci95: clopper_pearson(counted, people, 0.05),
                }),
                excluded: is_excluding && people > 0 && share < SMALL_SHARE,
                impact_ratio: None,
            });
        }
        let rated = categories.iter().filter(|category| !category.excluded);
        let rates = rated.filter_map(|category| Some(category.rate?.value));
        let highest = rates.fold(0.0, f64::max);
        for category in &mut categories {
            let rate = category
                .rate
                .filter(|_| !category.excluded && highest > 0.0);
            category.impact_ratio = rate.map(|rate| rate.value / highest);
        }
        let names = (0..2).filter(|&side| by[side]);
        ImpactSet {
            attributes: names
                .map(|side| self.attributes[side].groups.name.clone())
                .collect(),
            unknown,
            categories,
        }
    }
}

#[cfg(test)]
mod tests;
