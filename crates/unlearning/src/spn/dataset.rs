//! Rows with stable ids, as columns of fixed-point values.
//!
//! Rows are kept in ascending order of their ids; a *position* is a place in that order. A deleted
//! row keeps its position until the model is written, so that positions held by nodes stay valid;
//! nothing that is learnt depends on positions, only on ids and on their order.

use std::collections::HashSet;

use super::variable::Binning;
use super::{SpnError, Variable};
use probity_data::numbers::one_spelling;
use probity_tensor::proposer::Proposer;

/// The largest number of rows, up to which counts of contingency tables are exact.
pub const MAX_ROWS: usize = 1 << 30;

/// The mark of a value that is not known where fixed-point values are given.
pub const MISSING: i32 = -1;

/// Fixed-point values of all rows, with what derives from each value alone.
///
/// A value that is not known has no say at leaves: it is summed out. Where columns are compared and
/// rows are clustered it stands in the middle of its domain, which is declared, so that what is
/// learnt from a row depends on the row alone.
#[derive(Debug, Clone)]
pub struct Dataset {
    variables: Vec<Variable>,
    ids: Vec<u64>,
    groups: Vec<String>,
    columns: Vec<Vec<i32>>,
    /// For each variable, whether the value at each position is missing; empty where all have one.
    missing: Vec<Vec<bool>>,
    present: Vec<bool>,
    rows: usize,
    proposer: Proposer,
}

impl Dataset {
    /// Creates the dataset of rows `ids` with `values` (row-major, `[rows, variables]`; NaN where
    /// one is not known) and, for deletion by group, one group a row or none at all.
    ///
    /// # Errors
    /// No rows or variables, values that do not fill the rows, repeated ids, values outside their
    /// domain.
    pub fn new(
        variables: Vec<Variable>,
        ids: &[u64],
        groups: &[String],
        values: &[f64],
    ) -> Result<Dataset, SpnError> {
        let width = variables.len();
        if width == 0 {
            return Err(SpnError::NoVariables);
        }
        if values.len() != ids.len() * width || (!groups.is_empty() && groups.len() != ids.len()) {
            return Err(SpnError::Ragged {
                values: values.len(),
                rows: ids.len(),
                columns: width,
            });
        }
        let mut order: Vec<usize> = (0..ids.len()).collect();
        order.sort_by_key(|&row| ids[row]);
        let mut columns = vec![Vec::with_capacity(ids.len()); width];
        for &row in &order {
            let cells = &values[row * width..(row + 1) * width];
            for ((column, variable), &value) in columns.iter_mut().zip(&variables).zip(cells) {
                let fixed = match value.is_nan() {
                    true => Some(MISSING),
                    false => variable.fixed(value),
                };
                column.push(fixed.ok_or_else(|| SpnError::OutsideDomain {
                    id: ids[row],
                    column: variable.name().to_owned(),
                    value,
                    expected: variable.expected(),
                })?);
            }
        }
        let sorted = order.iter().map(|&row| ids[row]).collect();
        let groups = match groups {
            [] => Vec::new(),
            _ => order.iter().map(|&row| groups[row].clone()).collect(),
        };
        Dataset::from_fixed(variables, sorted, groups, columns)
    }

    /// Creates the dataset from fixed-point columns, with [`MISSING`] values, and ascending ids.
    ///
    /// # Errors
    /// See [`Dataset::new`].
    pub fn from_fixed(
        variables: Vec<Variable>,
        ids: Vec<u64>,
        groups: Vec<String>,
        mut columns: Vec<Vec<i32>>,
    ) -> Result<Dataset, SpnError> {
        if ids.is_empty() {
            return Err(SpnError::NoRows);
        }
        if ids.len() > MAX_ROWS {
            return Err(SpnError::TooManyRows {
                rows: ids.len(),
                limit: MAX_ROWS,
            });
        }
        if let Some(pair) = ids.windows(2).find(|pair| pair[0] >= pair[1]) {
            return Err(SpnError::DuplicateId { id: pair[1] });
        }
        let missing = variables
            .iter()
            .zip(&mut columns)
            .map(|(variable, column)| {
                let missing: Vec<bool> = column.iter().map(|&fixed| fixed == MISSING).collect();
                for (fixed, _) in column
                    .iter_mut()
                    .zip(&missing)
                    .filter(|(_, missing)| **missing)
                {
                    *fixed = variable.middle();
                }
                missing
            });
        Ok(Dataset {
            missing: missing.map(of_some).collect(),
            present: vec![true; ids.len()],
            rows: ids.len(),
            variables,
            ids,
            groups,
            columns,
            proposer: Proposer::default(),
        })
    }

    /// Returns the dataset with a device that computes what learning sums over the rows: distances
    /// of clusterings and contingency tables, which are whole numbers that every device gives
    /// ([`probity_tensor::whole`]), and the products of randomised dependence coefficients, which
    /// have an error bound. Nothing that is learnt depends on the device.
    #[must_use]
    pub fn on(mut self, proposer: &Proposer) -> Dataset {
        self.bring_to(proposer);
        self
    }

    /// Sets the device as [`Dataset::on`] does, in place.
    pub(super) fn bring_to(&mut self, proposer: &Proposer) {
        self.proposer = proposer.clone();
    }

    /// Returns the proposer.
    pub(super) fn proposer(&self) -> &Proposer {
        &self.proposer
    }

    /// Returns the variables, in column order.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// Returns the number of rows, without the deleted ones.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of positions, with those of deleted rows.
    pub fn positions(&self) -> usize {
        self.ids.len()
    }

    /// Returns the positions of the rows that are there, ascending.
    pub fn remaining(&self) -> Vec<u32> {
        (0..self.ids.len() as u32)
            .filter(|&at| self.present[at as usize])
            .collect()
    }

    /// Returns the id of the row at `position`.
    pub fn id(&self, position: u32) -> u64 {
        self.ids[position as usize]
    }

    /// Returns the group of the row at `position`; `None` where rows have none.
    pub fn group(&self, position: u32) -> Option<&str> {
        self.groups.get(position as usize).map(String::as_str)
    }

    /// Returns how many values of rows that are there are not known.
    pub fn missing_values(&self) -> u64 {
        let missing = self
            .missing
            .iter()
            .flat_map(|missing| missing.iter().zip(&self.present));
        missing
            .filter(|(missing, present)| **missing && **present)
            .count() as u64
    }

    /// Returns whether the value of variable `variable` at `position` is known.
    pub fn is_known(&self, position: u32, variable: u32) -> bool {
        let missing = self.missing[variable as usize].get(position as usize);
        !missing.copied().unwrap_or(false)
    }

    /// Returns the fixed-point values of variable `variable` at the positions `rows`, where they
    /// are known.
    pub(super) fn known<'a>(
        &'a self,
        variable: u32,
        rows: &'a [u32],
    ) -> impl Iterator<Item = i32> + 'a {
        let column = self.column(variable);
        let known = rows
            .iter()
            .filter(move |&&row| self.is_known(row, variable));
        known.map(|&row| column[row as usize])
    }

    /// Returns the fixed-point values of variable `variable` by position, as they were given, with
    /// [`MISSING`] ones.
    pub(super) fn given(&self, variable: u32) -> Vec<i32> {
        let values = (0u32..).zip(self.column(variable));
        values
            .map(|(at, &fixed)| match self.is_known(at, variable) {
                true => fixed,
                false => MISSING,
            })
            .collect()
    }

    /// Returns the fixed-point values of variable `variable` by position; where one is not known,
    /// the middle of the domain.
    pub fn column(&self, variable: u32) -> &[i32] {
        &self.columns[variable as usize]
    }

    /// Returns the value of variable `variable` at `position`, where it is known.
    pub fn value(&self, position: u32, variable: u32) -> Option<f64> {
        let fixed = self.columns[variable as usize][position as usize];
        let value = || self.variables[variable as usize].value(fixed);
        self.is_known(position, variable).then(value)
    }

    /// Returns the positions of the rows `ids`, ascending.
    ///
    /// # Errors
    /// An id that is not there, one that is named twice, or all rows at once.
    pub fn locate(&self, ids: &[u64]) -> Result<Vec<u32>, SpnError> {
        let mut seen = HashSet::new();
        let mut positions = Vec::with_capacity(ids.len());
        for &id in ids {
            let position = self
                .ids
                .binary_search(&id)
                .ok()
                .filter(|&at| self.present[at])
                .ok_or(SpnError::UnknownRow { id })?;
            if !seen.insert(id) {
                return Err(SpnError::RepeatedRow { id });
            }
            positions.push(position as u32);
        }
        if positions.len() >= self.rows {
            return Err(SpnError::LastRow { rows: self.rows });
        }
        positions.sort_unstable();
        Ok(positions)
    }

    /// Returns the ids of the rows of `group`, however it is spelled: 4 is 4.0.
    ///
    /// # Errors
    /// When no row belongs to it.
    pub fn members(&self, group: &str) -> Result<Vec<u64>, SpnError> {
        let named = one_spelling(group);
        let is_it = |at: u32| self.group(at).is_some_and(|of| one_spelling(of) == named);
        let ids: Vec<u64> = self
            .remaining()
            .into_iter()
            .filter(|&at| is_it(at))
            .map(|at| self.id(at))
            .collect();
        if ids.is_empty() {
            return Err(SpnError::UnknownGroup {
                group: group.to_owned(),
            });
        }
        Ok(ids)
    }

    /// Marks the rows at `positions` as deleted.
    pub(super) fn mark_deleted(&mut self, positions: &[u32]) {
        for &position in positions {
            self.present[position as usize] = false;
        }
        self.rows -= positions.len();
    }

    /// Returns the dataset with only the rows that `other` has too, by their ids.
    ///
    /// # Errors
    /// A row of `other` that is not here.
    pub fn keeping(mut self, other: &Dataset) -> Result<Dataset, SpnError> {
        let kept: HashSet<u64> = other.remaining().iter().map(|&at| other.id(at)).collect();
        if let Some(&id) = kept
            .iter()
            .filter(|&&id| self.ids.binary_search(&id).is_err())
            .min()
        {
            return Err(SpnError::MissingRow { id });
        }
        let here = self.remaining().into_iter();
        let gone: Vec<u32> = here.filter(|&at| !kept.contains(&self.id(at))).collect();
        self.mark_deleted(&gone);
        Ok(self.compacted())
    }

    /// Returns the rows that are there, without gaps.
    #[must_use]
    pub fn compacted(&self) -> Dataset {
        self.of_positions(&self.remaining())
    }

    /// Returns the rows at the positions `kept`, ascending.
    pub(super) fn of_positions(&self, kept: &[u32]) -> Dataset {
        let pick = |column: &Vec<i32>| kept.iter().map(|&at| column[at as usize]).collect();
        let pick_missing = |missing: &Vec<bool>| {
            let kept = kept.iter().filter_map(|&at| missing.get(at as usize));
            of_some(kept.copied().collect())
        };
        Dataset {
            missing: self.missing.iter().map(pick_missing).collect(),
            variables: self.variables.clone(),
            ids: kept.iter().map(|&at| self.id(at)).collect(),
            groups: kept
                .iter()
                .filter_map(|&at| self.group(at).map(str::to_owned))
                .collect(),
            columns: self.columns.iter().map(pick).collect(),
            present: vec![true; kept.len()],
            rows: kept.len(),
            proposer: self.proposer.clone(),
        }
    }

    /// Returns the bin of every value of every variable in contingency tables of at most `most`
    /// bins.
    pub(super) fn table_bins(&self, most: u16) -> (Vec<Binning>, Vec<Vec<u16>>) {
        let binnings: Vec<Binning> = self
            .variables
            .iter()
            .map(|variable| variable.table_bins(most))
            .collect();
        let bins = binnings
            .iter()
            .zip(&self.columns)
            .map(|(binning, column)| column.iter().map(|&q| binning.bin(q) as u16).collect())
            .collect();
        (binnings, bins)
    }

    /// Returns the coordinate of every value of every variable in the clustering.
    pub(super) fn coordinates(&self) -> Vec<Vec<i32>> {
        self.variables
            .iter()
            .zip(&self.columns)
            .map(|(variable, column)| column.iter().map(|&q| variable.coordinate(q)).collect())
            .collect()
    }
}

/// Returns the marks of missing values, if any is missing; else none.
fn of_some(missing: Vec<bool>) -> Vec<bool> {
    match missing.contains(&true) {
        true => missing,
        false => Vec::new(),
    }
}
