//! How well the columns of people tell whether they belong to a group.
//!
//! Rows are looked at in the order of their content, so that no figure depends on their order in a
//! file.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use serde::Serialize;

use super::auc::{Estimate, auc};
use super::column::{Values, entropy, mutual_information};
use super::error::ProxiesError;
use super::explained::{Explained, explained};
use super::folds::Folds;
use super::impact::{Balanced, Impact};
use super::network::Teaching;
use super::selection::Selection;
use crate::people::Condition;
use probity_data::schema::Schema;
use probity_data::table::Table;
use probity_tensor::device::ComputeDevice;

/// The options of the measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProxiesOptions {
    /// The number of folds.
    pub folds: u32,
    /// The share, of what all columns tell beyond chance, that a small set of them is to reach.
    pub share: f64,
    /// The seed of the folds and networks.
    pub seed: u64,
}

/// The people whose columns are looked at.
#[derive(Debug, Clone, Copy)]
pub struct Columns<'a> {
    /// All their columns, with the outcomes where these are known.
    pub table: &'a Table,
    /// The schema of the table.
    pub schema: &'a Schema,
    /// The places of the columns that are looked at.
    pub places: &'a [usize],
    /// The scores that a model gives them, if there is one.
    pub scores: Option<&'a [f64]>,
    /// Whether each got what is good to get, if that is known.
    pub is_favoured: Option<&'a [bool]>,
}

/// What one column tells by itself.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnProxy {
    /// The name of the column.
    pub attribute: String,
    /// The mutual information of the column and the group, in bits.
    pub bits: f64,
    /// The information as a share of the entropy of the group.
    pub share_of_entropy: f64,
    /// The area under the ROC curve of the share of members among people of other folds with the same
    /// value.
    pub auc: Estimate,
}

/// A small set of columns that tells nearly what all of them do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SmallestSet {
    /// The columns, in the order in which they were taken: nothing proves that there is no smaller
    /// set.
    pub attributes: Vec<String>,
    /// The area under the ROC curve of networks that see these columns alone.
    pub auc: Estimate,
    /// The part of that area above 0.5, as a share of that of all columns; more than 1 where the others only
    /// distract the networks.
    pub share: f64,
}

/// What the columns tell of one group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupProxies {
    /// The conditions that all members meet.
    pub protected: Vec<Condition>,
    /// The number of members.
    pub members: u64,
    /// The number of all others.
    pub others: u64,
    /// The number of people of whom it is not known whether they are members; they are left out.
    pub unknown: u64,
    /// The entropy of being a member, in bits.
    pub entropy: f64,
    /// The area under the ROC curve of the networks.
    pub auc: Estimate,
    /// The accuracy with which the networks call people members or others.
    pub balanced_accuracy: Balanced,
    /// Column by column, those that tell most first.
    pub columns: Vec<ColumnProxy>,
    /// A small set of columns that tells nearly as much; absent where the columns are not shown to
    /// tell anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smallest: Option<SmallestSet>,
    /// How unequal decisions by these columns can be.
    pub impact: Impact,
    /// How much of a model's score the predicted group explains; absent without scores, or where
    /// these do not vary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explained: Option<Explained>,
}

/// The columns that are looked at, in the order of the content of rows.
pub struct Sorted {
    /// The place in the caller's table of each row.
    order: Vec<u32>,
    /// The columns that are looked at.
    table: Table,
    schema: Schema,
    values: Vec<Values>,
    folds: Folds,
    outcomes: Vec<Option<u32>>,
    scores: Option<Vec<f64>>,
    is_favoured: Option<Vec<bool>>,
    options: ProxiesOptions,
}

impl Sorted {
    /// Sorts the rows of `columns`, and deals them into folds.
    pub fn new(columns: &Columns<'_>, options: ProxiesOptions) -> Sorted {
        let order = by_content(columns);
        let table = columns.table.select(&order);
        let codes = order.iter().flat_map(|&row| {
            let row = columns.table.row(row as usize);
            columns.places.iter().map(|&place| row[place])
        });
        let codes: Vec<i32> = codes.collect();
        let width = columns.places.len();
        let attributes = columns.places.iter();
        let attributes = attributes.map(|&place| columns.schema.attributes[place].clone());
        let schema = Schema {
            attributes: attributes.collect(),
            ..columns.schema.clone()
        };
        let values = schema.attributes.par_iter().enumerate();
        let values = values.map(|(place, attribute)| {
            let of_row = codes.iter().skip(place).step_by(width.max(1));
            let of_row: Vec<i32> = of_row.copied().collect();
            Values::new(&of_row, |code| attribute.are_ordered(&[code]))
        });
        let at = |rows: &[f64]| order.iter().map(|&row| rows[row as usize]).collect();
        let favoured = |rows: &[bool]| order.iter().map(|&row| rows[row as usize]).collect();
        Sorted {
            values: values.collect(),
            folds: Folds::deal(&codes, width, options.folds, options.seed),
            outcomes: (0..table.rows())
                .map(|row| table.known_label(row))
                .collect(),
            scores: columns.scores.map(at),
            is_favoured: columns.is_favoured.map(favoured),
            table: Table::new(width, codes, Vec::new()),
            schema,
            order,
            options,
        }
    }

    /// Returns the folds.
    pub fn folds(&self) -> &Folds {
        &self.folds
    }

    /// Measures how well the columns tell whom `is_member` says, in the order of the caller's table;
    /// all of them meet `conditions`. `watch` gets how many networks were trained, and breaks to stop.
    ///
    /// # Errors
    /// When a training fails or is stopped.
    pub fn group(
        &self,
        conditions: &[Condition],
        is_member: &[bool],
        device: &ComputeDevice,
        watch: &(dyn Fn(u64) -> ControlFlow<()> + Sync),
    ) -> Result<GroupProxies, ProxiesError> {
        let is_member = self.order.iter().map(|&row| is_member[row as usize]);
        let is_member: Vec<bool> = is_member.collect();
        let members = is_member.iter().filter(|it| **it).count() as u64;
        let others = is_member.len() as u64 - members;
        let trained = AtomicU64::new(0);
        let teaching = Teaching {
            table: &self.table,
            schema: &self.schema,
            folds: &self.folds,
            seed: self.options.seed,
            device,
            watch: &|more| watch(trained.fetch_add(more, Ordering::Relaxed) + more),
        };
        let all: Vec<usize> = (0..self.values.len()).collect();
        let told = teaching.told(&all, &is_member)?;
        let whole = auc(&told.log_odds, &is_member, &self.folds);
        let accuracy = Balanced::new(&told.is_called, &is_member);
        let entropy = entropy(members, others);
        let scores = self.scores.as_deref();
        let explained =
            scores.and_then(|scores| explained(scores, &told.probabilities(), &self.outcomes));
        Ok(GroupProxies {
            protected: conditions.to_vec(),
            members,
            others,
            unknown: 0,
            entropy,
            columns: self.columns(&is_member, entropy),
            smallest: self.smallest(&teaching, &is_member, whole)?,
            impact: Impact::new(&accuracy, &is_member, self.is_favoured.as_deref()),
            balanced_accuracy: accuracy,
            auc: whole,
            explained,
        })
    }

    fn name(&self, place: usize) -> String {
        self.schema.attributes[place].name.clone()
    }

    /// What each column tells, those that tell most first.
    fn columns(&self, is_member: &[bool], entropy: f64) -> Vec<ColumnProxy> {
        let columns = self.values.par_iter().enumerate().map(|(place, values)| {
            let bits = mutual_information(values, is_member);
            let frequencies = values.frequencies(is_member, &self.folds);
            ColumnProxy {
                attribute: self.name(place),
                bits,
                share_of_entropy: if entropy > 0.0 { bits / entropy } else { 0.0 },
                auc: auc(&frequencies, is_member, &self.folds),
            }
        });
        let mut columns: Vec<ColumnProxy> = columns.collect();
        // The sort is stable: of equal columns that of the schema is first.
        columns.sort_by(|a, b| {
            let by_bits = b.bits.total_cmp(&a.bits);
            by_bits.then(b.auc.value.total_cmp(&a.auc.value))
        });
        columns
    }

    /// A small set of columns whose networks reach the share that is asked for of `whole`.
    fn smallest(
        &self,
        teaching: &Teaching<'_>,
        is_member: &[bool],
        whole: Estimate,
    ) -> Result<Option<SmallestSet>, ProxiesError> {
        if whole.ci95[0] <= 0.5 {
            return Ok(None);
        }
        let share = |found: Estimate| (found.value - 0.5) / (whole.value - 0.5);
        let mut selection = Selection::new(&self.values, is_member, &self.folds);
        selection.take_until(self.options.share);
        loop {
            let found = match selection.columns.len() == self.values.len() {
                true => whole,
                false => {
                    // In the order of the schema, as in the network of all columns.
                    let mut places = selection.columns.clone();
                    places.sort_unstable();
                    let told = teaching.told(&places, is_member)?;
                    auc(&told.log_odds, is_member, &self.folds)
                }
            };
            if share(found) >= self.options.share || !selection.take() {
                let columns = selection.columns.iter();
                return Ok(Some(SmallestSet {
                    attributes: columns.map(|&place| self.name(place)).collect(),
                    auc: found,
                    share: share(found),
                }));
            }
        }
    }
}

/// Returns the rows in the order of what they hold: the columns that are looked at first, then all
/// others, the outcome and what a model says.
fn by_content(columns: &Columns<'_>) -> Vec<u32> {
    let table = columns.table;
    let mut order: Vec<u32> = (0..table.rows() as u32).collect();
    order.par_sort_by(|&a, &b| {
        let (a, b) = (a as usize, b as usize);
        let (one, other) = (table.row(a), table.row(b));
        let places = columns.places.iter();
        let looked_at = places.map(|&place| one[place].cmp(&other[place]));
        let looked_at = looked_at.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then);
        let score = |row: usize| columns.scores.map_or(0.0, |scores| scores[row]);
        let favoured = |row: usize| columns.is_favoured.map(|favoured| favoured[row]);
        looked_at
            .then_with(|| one.cmp(other))
            .then_with(|| table.known_label(a).cmp(&table.known_label(b)))
            .then_with(|| score(a).total_cmp(&score(b)))
            .then_with(|| favoured(a).cmp(&favoured(b)))
    });
    order
}
