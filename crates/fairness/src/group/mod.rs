//! Group fairness: the treatment that a classifier gives to the groups of rows that protected
//! attributes make.
//!
//! Shares of decisions are of all rows. What compares decisions with outcomes is of the rows whose
//! outcome is known: where a group has none, or only one class of them, the figures of which
//! nothing can be said are not there, with the reason ([`undefined`]).
//!
//! For each protected attribute, and for each set of several of them together, the rows are sorted
//! into groups ([`grouping`]). Each group has its rates ([`tally`]) and its calibration error
//! ([`calibration`]); the groups of a set have gaps ([`gaps`]), most of them with bootstrap
//! intervals ([`bootstrap`]). A rate of fewer rows than a declared minimum is not judged: it is not
//! shown and takes no part in a gap.
//!
//! One class is called *favourable*. A classifier of more than two classes is judged by this class
//! against the rest; accuracy alone is over all classes.
//!
//! Texts are sorted into subgroups by the protected values that they name ([`text`]). For a tool
//! that selects people for employment, [`impact`] has the ratios that are published of it.
//!
//! Definitions: demographic parity (Calders, Verwer 2010), equalised odds and equal opportunity
//! (Hardt, Price, Srebro 2016), expected calibration error (Naeini, Cooper, Hauskrecht 2015).

pub mod bootstrap;
pub mod calibration;
pub(crate) mod error;
pub mod gaps;
pub mod grouping;
pub mod impact;
pub mod run;
pub mod specification;
pub mod tally;
pub mod text;
pub mod undefined;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use self::bootstrap::{Resampling, resample};
pub use self::error::GroupError;
use self::gaps::{Compared, Differences, Gaps};
use self::grouping::{
    AttributeGroups, DeclaredBins, GroupedBy, MOST_ATTRIBUTES, Partition, attribute_sets,
};
use self::impact::{ImpactOptions, ImpactReport, measure_impact};
pub use self::tally::Rate;
use self::tally::{Measure, Outcome, Outcomes, Tally};
use self::undefined::{Undefined, of_gaps, of_rates};
use super::statistics::clopper_pearson;
use probity_data::schema::Schema;
use probity_data::table::Table;
use probity_nn::Classifier;
use probity_nn::decision::Decision;
use probity_nn::train::parallel_logits;

/// The options of a measurement: what is measured, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GroupOptions {
    /// Names of the protected attributes.
    pub protected: Vec<String>,
    /// The favourable class.
    pub favourable: String,
    /// Whether the caller named the favourable class; else it is the last one of the schema.
    pub is_favourable_given: bool,
    /// Bins of numeric attributes.
    pub bins: Vec<DeclaredBins>,
    /// Number of rows that a rate must be a share of to be judged.
    pub min_group: u64,
    /// Number of bins of the calibration error.
    pub calibration_bins: u32,
    /// Number of bootstrap samples.
    pub resamples: u32,
    /// Seed of the bootstrap.
    pub seed: u64,
    /// Impact ratios, if they are asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impact: Option<ImpactOptions>,
}

impl GroupOptions {
    /// The usual options: judged from 30 rows on, 10 calibration bins, 1,000 bootstrap samples;
    /// favourable is the last class.
    pub fn usual(schema: &Schema, protected: Vec<String>, seed: u64) -> GroupOptions {
        GroupOptions {
            protected,
            favourable: schema.label.classes.last().cloned().unwrap_or_default(),
            is_favourable_given: false,
            bins: Vec::new(),
            min_group: 30,
            calibration_bins: 10,
            resamples: 1000,
            seed,
            impact: None,
        }
    }

    /// Checks the options against `schema`, and makes the groups of each attribute.
    ///
    /// # Errors
    /// See [`GroupError`].
    pub fn groups(&self, schema: &Schema) -> Result<Vec<AttributeGroups>, GroupError> {
        if schema.label.is_number() {
            return Err(GroupError::Numbers {
                label: schema.label.name.clone(),
            });
        }
        let ranges = [
            (
                "groups.min_group",
                self.min_group,
                1..=1_000_000_000,
                "from 1 to 1,000,000,000",
            ),
            (
                "groups.calibration_bins",
                self.calibration_bins.into(),
                1..=1000,
                "from 1 to 1000",
            ),
            (
                "groups.resamples",
                self.resamples.into(),
                20..=100_000,
                "from 20 to 100,000",
            ),
        ];
        for (option, value, range, expected) in ranges {
            if !range.contains(&value) {
                return Err(GroupError::Option {
                    option,
                    value,
                    expected,
                });
            }
        }
        self.class(schema)?;
        if self.protected.is_empty() {
            return Err(GroupError::NothingProtected);
        }
        if self.protected.len() > MOST_ATTRIBUTES {
            return Err(GroupError::TooManyAttributes {
                attributes: self.protected.len(),
                most: MOST_ATTRIBUTES,
            });
        }
        for (place, name) in self.protected.iter().enumerate() {
            if self.protected[..place].contains(name) {
                return Err(GroupError::NamedTwice(name.clone()));
            }
        }
        for (place, bins) in self.bins.iter().enumerate() {
            let refuse = |problem: &str| GroupError::Bins {
                attribute: bins.attribute.clone(),
                problem: problem.to_owned(),
            };
            if !self.protected.contains(&bins.attribute) {
                return Err(refuse(
                    "has nothing to act on: the attribute is not protected",
                ));
            }
            if self.bins[..place]
                .iter()
                .any(|other| other.attribute == bins.attribute)
            {
                return Err(refuse("is given twice"));
            }
        }
        if let Some(impact) = &self.impact {
            impact.attributes(schema)?;
        }
        let names = self.protected.iter();
        names
            .map(|name| AttributeGroups::new(schema, name, &self.bins))
            .collect()
    }

    /// Number of the favourable class.
    pub(super) fn class(&self, schema: &Schema) -> Result<u32, GroupError> {
        let classes = &schema.label.classes;
        classes
            .iter()
            .position(|class| *class == self.favourable)
            .map(|class| class as u32)
            .ok_or_else(|| GroupError::UnknownClass {
                class: self.favourable.clone(),
                known: classes.join(", "),
            })
    }
}

/// The figures of one group. A rate of fewer rows than the declared minimum, or of none, is absent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupFigures {
    /// Values of the attributes.
    pub values: Vec<String>,
    /// Number of rows.
    pub rows: u64,
    /// Number of rows whose outcome is known.
    pub rows_with_outcome: u64,
    /// Number of rows of the favourable class; `None` where no outcome is known.
    pub favourable_rows: Option<u64>,
    /// Whether the group has fewer rows than the declared minimum, so that nothing is judged.
    pub too_small: bool,
    /// Share of the rows predicted favourably.
    pub selection_rate: Option<Rate>,
    /// Share of the rows of the favourable class predicted favourably.
    pub true_positive_rate: Option<Rate>,
    /// Share of the other rows predicted favourably.
    pub false_positive_rate: Option<Rate>,
    /// Share of the rows with a known outcome predicted right.
    pub accuracy: Option<Rate>,
    /// Expected calibration error of the probability of the favourable class.
    pub calibration_error: Option<Rate>,
    /// The rates that are shares of no rows.
    #[serde(skip_serializing_if = "Undefined::is_empty")]
    pub not_defined: Undefined,
}

/// The groups of one attribute, or of several together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupSet {
    /// The attributes.
    pub protected: Vec<String>,
    /// The groups that have rows.
    pub groups: Vec<GroupFigures>,
    /// Number of combinations of groups without a row.
    pub absent: u64,
    /// The gaps between the groups.
    pub gaps: Gaps,
    /// The two groups whose difference is the clearest, for each rate.
    pub differences: Differences,
    /// The gaps that are not defined, however many rows the groups have.
    #[serde(skip_serializing_if = "Undefined::is_empty")]
    pub not_defined: Undefined,
}

/// A note on how the groups of an attribute were made.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupingNote {
    /// The attribute.
    pub attribute: String,
    /// The way in which they were made: by its values, by declared bins or by equal ones.
    pub by: GroupedBy,
    /// Names of the groups.
    pub groups: Vec<String>,
}

/// Group fairness of a classifier on rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupReport {
    /// The favourable class.
    pub favourable: String,
    /// Whether the caller named the favourable class; else it is the last one of the schema.
    pub is_favourable_given: bool,
    /// Number of rows.
    pub rows: u64,
    /// Number of rows whose outcome is known.
    pub rows_with_outcome: u64,
    /// Number of rows that a rate must be a share of to be judged.
    pub min_group: u64,
    /// Number of bins of the calibration error.
    pub calibration_bins: u32,
    /// Number of bootstrap samples.
    pub resamples: u32,
    /// Notes on how the groups were made.
    pub groupings: Vec<GroupingNote>,
    /// The figures of each attribute alone, then of pairs, and so on.
    pub sets: Vec<GroupSet>,
    /// Impact ratios, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub impact: Option<ImpactReport>,
}

/// Measures `model` on the rows of `table`.
///
/// # Errors
/// Options that do not fit `schema`, a model that cannot answer.
pub fn measure_groups(
    model: &dyn Classifier,
    schema: &Schema,
    table: &Table,
    options: &GroupOptions,
) -> Result<GroupReport, GroupError> {
    // What is wrong with the options is said before the model is asked.
    options.groups(schema)?;
    let logits = parallel_logits(model, table)?;
    measure_answers((&logits, model.decision()), schema, table, options)
}

/// Measures a model whose `logits` of the rows of `table` (row-major `[rows, classes]`) are known,
/// and the decision rule that is applied to them.
///
/// # Errors
/// Options that do not fit `schema`.
pub fn measure_answers(
    (logits, decision): (&[f32], &Decision),
    schema: &Schema,
    table: &Table,
    options: &GroupOptions,
) -> Result<GroupReport, GroupError> {
    let attributes = options.groups(schema)?;
    let favourable = options.class(schema)? as usize;
    let answers = logits.chunks_exact(schema.label.classes.len().max(1));
    let decide = |(row, logits)| decision.decide(table.row(row), logits);
    let decided: Vec<u32> = answers.enumerate().map(decide).collect();
    let answers = (logits, decided.as_slice());
    let labels = (0..table.rows()).map(|row| table.known_label(row));
    let outcomes = outcomes_of(answers, labels, favourable);
    let sets: Vec<Vec<&AttributeGroups>> = attribute_sets(attributes.len())
        .into_iter()
        .map(|set| set.into_iter().map(|at| &attributes[at]).collect())
        .collect();
    let partitions: Vec<Partition> = sets
        .par_iter()
        .map(|set| Partition::new(table, set))
        .collect();
    let bins = options.calibration_bins as usize;
    let once = vec![1; table.rows()];
    let tallies: Vec<Vec<Tally>> = partitions
        .par_iter()
        .map(|p| Tally::of_groups(&outcomes, &p.of_row, p.groups.len(), bins, &once))
        .collect();
    let resampling = Resampling {
        resamples: options.resamples,
        seed: options.seed,
        min_group: options.min_group,
    };
    let deviations = resample(&outcomes, &partitions, &tallies, resampling);
    let impact = match &options.impact {
        Some(impact) => {
            let categories = impact.attributes(schema)?;
            Some(measure_impact(&outcomes, table, &categories, impact))
        }
        None => None,
    };
    let sets = sets
        .iter()
        .zip(&partitions)
        .zip(tallies.iter().zip(&deviations));
    Ok(GroupReport {
        favourable: options.favourable.clone(),
        is_favourable_given: options.is_favourable_given,
        rows: table.rows() as u64,
        rows_with_outcome: outcomes.known.iter().flatten().count() as u64,
        min_group: options.min_group,
        calibration_bins: options.calibration_bins,
        resamples: options.resamples,
        groupings: attributes
            .iter()
            .map(|groups| GroupingNote {
                attribute: groups.name.clone(),
                by: groups.by,
                groups: groups.labels.clone(),
            })
            .collect(),
        sets: sets
            .map(|((set, partition), (tallies, deviations))| {
                let compared = Compared {
                    names: &partition.groups,
                    tallies,
                    min_group: options.min_group,
                    deviations,
                };
                GroupSet {
                    protected: set.iter().map(|groups| groups.name.clone()).collect(),
                    groups: figures(partition, tallies, options.min_group),
                    absent: partition.absent,
                    not_defined: of_gaps(tallies),
                    gaps: compared.gaps(),
                    differences: compared.differences(),
                }
            })
            .collect(),
        impact,
    })
}

/// The outcomes of the classifier on each row, from its `logits` (row-major `[rows, classes]`), the
/// decisions `decided`, and the classes of the rows among `labels`, where these are known.
pub fn outcomes_of(
    (logits, decided): (&[f32], &[u32]),
    labels: impl Iterator<Item = Option<u32>>,
    favourable: usize,
) -> Outcomes {
    let mut outcomes = Outcomes::default();
    let classes = logits.len() / decided.len().max(1);
    let answers = logits.chunks_exact(classes.max(1)).zip(decided);
    for ((logits, &predicted), label) in answers.zip(labels) {
        let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let exponent = |&logit: &f32| (f64::from(logit) - f64::from(largest)).exp();
        let total: f64 = logits.iter().map(exponent).sum();
        outcomes.known.push(label.map(|label| Outcome {
            positive: label as usize == favourable,
            right: predicted == label,
        }));
        outcomes.selected.push(predicted as usize == favourable);
        outcomes
            .probability
            .push(exponent(&logits[favourable]) / total);
    }
    outcomes
}

fn figures(partition: &Partition, tallies: &[Tally], min_group: u64) -> Vec<GroupFigures> {
    let groups = partition.groups.iter().zip(tallies);
    groups
        .map(|(values, tally)| {
            let rate = |measure: Measure| {
                let rows = tally.denominator(measure);
                let value = tally.rate(measure).filter(|_| rows >= min_group)?;
                let ci95 = clopper_pearson(tally.numerator(measure), rows, 0.05);
                Some(Rate { value, ci95 })
            };
            let too_small = tally.rows() < min_group;
            let is_judged = tally.known() >= min_group;
            let calibration = tally.calibration().filter(|_| is_judged);
            GroupFigures {
                values: values.clone(),
                rows: tally.rows(),
                rows_with_outcome: tally.known(),
                favourable_rows: (tally.known() > 0).then(|| tally.positive()),
                too_small,
                selection_rate: rate(Measure::Selection),
                true_positive_rate: rate(Measure::TruePositive),
                false_positive_rate: rate(Measure::FalsePositive),
                accuracy: rate(Measure::Accuracy),
                calibration_error: calibration.map(|error| Rate {
                    value: error.value,
                    ci95: error.interval(0.05),
                }),
                not_defined: of_rates(tally),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests;
