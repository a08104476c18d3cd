//! Points: rows of fixed-point integers under stable ids.
//!
//! A value v of a column with declared bounds [min, max] becomes round((v − min) / (max − min) ·
//! 2²⁴), an integer from 0 to 2²⁴. Every such integer is exact in f32, its square in u64, and sums
//! of them do not depend on the order of their terms. The bounds are declared, never taken from the
//! rows, so a deletion cannot change them.
//!
//! Rows lie in the order of their ids, so that equal sets of rows are equal values. A removed row
//! is overwritten with zeros at once; its slot is given up by `Points::compact`.
//!
//! Rows may be brought to a device ([`Points::on`]), which then proposes what passes over all of
//! them find; what is not clear beyond its error bound is decided in integers, as everywhere
//! ([`probity_tensor::nearest::euclidean`]). So the device is no part of a clustering: fits and
//! deletions on any devices give the same bytes.

use std::sync::{Arc, OnceLock};

use super::errors::KMeansError;
use probity_data::numbers::is_scale;
use probity_tensor::nearest::euclidean::Table;
use probity_tensor::proposer::Proposer;

/// The number of bits behind the point.
pub const FRACTION_BITS: u32 = 24;
/// The upper bound of a column: 1 in fixed point.
pub const ONE: i32 = 1 << FRACTION_BITS;
/// The largest number of columns: the squared distance of two points is below 2⁶³.
pub const MAX_COLUMNS: usize = 1 << 14;
/// The largest number of rows: the sum of a column is below 2⁵⁶.
pub const MAX_ROWS: usize = 1 << 32;

/// Returns `value` between its declared bounds as fixed-point number; `None` if it is not between
/// them.
///
/// The arithmetic is one subtraction, one division and one rounding in f64: equal on every machine.
pub fn fixed(value: f64, min: f64, max: f64) -> Option<i32> {
    (value >= min && value <= max)
        .then(|| ((value - min) / (max - min) * f64::from(ONE)).round() as i32)
}

/// Returns the value that `fixed` stands for between the bounds `min` and `max`.
pub fn unfixed(fixed: i32, min: f64, max: f64) -> f64 {
    min + f64::from(fixed) / f64::from(ONE) * (max - min)
}

/// Rows of fixed-point numbers in the order of their ids.
#[derive(Debug, Clone)]
pub struct Points {
    columns: usize,
    ids: Vec<u64>,
    rows: Vec<i32>,
    /// The norm |x|² of each slot, rounded.
    norms: Vec<f32>,
    live: Vec<bool>,
    live_count: usize,
    /// The sum Σ|x|² of the live rows.
    square_sum: u128,
    proposer: Proposer,
    /// The rows on the proposer's device, once they are needed there; they are dropped with the
    /// first row that is removed, so that no row stays there longer than here.
    brought: OnceLock<Option<Arc<Table>>>,
}

impl Points {
    /// Creates points of `ids` with `rows` (row-major, `[ids, columns]`, each from 0 to [`ONE`]).
    ///
    /// # Errors
    /// Values that do not fill the rows or are out of range, repeated ids, no columns or too many.
    pub fn new(ids: Vec<u64>, rows: Vec<i32>, columns: usize) -> Result<Points, KMeansError> {
        check_shape(ids.len(), rows.len(), columns)?;
        if let Some(at) = rows.iter().position(|value| !(0..=ONE).contains(value)) {
            return Err(KMeansError::OutOfBounds {
                id: ids[at / columns],
                column: at % columns,
                value: f64::from(rows[at]) / f64::from(ONE),
            });
        }
        let (ids, rows) = in_order(ids, rows, columns);
        if let Some(pair) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(KMeansError::DuplicateId { id: pair[0] });
        }
        let squares: Vec<u64> = rows.chunks_exact(columns).map(square).collect();
        Ok(Points {
            columns,
            norms: squares.iter().map(|&square| square as f32).collect(),
            live: vec![true; ids.len()],
            live_count: ids.len(),
            square_sum: squares.iter().map(|&square| u128::from(square)).sum(),
            ids,
            rows,
            proposer: Proposer::default(),
            brought: OnceLock::new(),
        })
    }

    /// Returns the points with a device that proposes the results of passes over all rows. The
    /// final results do not depend on it.
    #[must_use]
    pub fn on(mut self, proposer: &Proposer) -> Points {
        self.bring_to(proposer);
        self
    }

    /// Sets the device as [`Points::on`] does, in place.
    pub(crate) fn bring_to(&mut self, proposer: &Proposer) {
        self.proposer = proposer.clone();
        self.brought = OnceLock::new();
    }

    /// Returns the proposer.
    pub(crate) fn proposer(&self) -> &Proposer {
        &self.proposer
    }

    /// Returns the rows on the device that proposes, if comparing all of them with so many vectors
    /// is worth the way there. Slots of removed rows hold rows of zeros there too.
    pub(crate) fn brought(&self, vectors: usize) -> Option<&Table> {
        let device = self.proposer.device_for(self.rows.len() * vectors)?;
        let bring = || Table::new(&self.rows, self.columns, device).map(Arc::new);
        self.brought.get_or_init(bring).as_deref()
    }

    /// Creates points of `ids` with `values` (row-major) between the declared `bounds`, one pair a
    /// column.
    ///
    /// # Errors
    /// Like [`Points::new`]; bounds that enclose nothing, values outside of them.
    pub fn from_values(
        ids: Vec<u64>,
        values: &[f64],
        bounds: &[(f64, f64)],
    ) -> Result<Points, KMeansError> {
        let columns = bounds.len();
        check_shape(ids.len(), values.len(), columns)?;
        for (column, &(min, max)) in bounds.iter().enumerate() {
            if !is_scale(min, max) {
                return Err(KMeansError::EmptyBounds { column, min, max });
            }
        }
        let rows = values
            .iter()
            .enumerate()
            .map(|(at, &value)| {
                let (min, max) = bounds[at % columns];
                fixed(value, min, max).ok_or_else(|| KMeansError::OutOfBounds {
                    id: ids[at / columns],
                    column: at % columns,
                    value,
                })
            })
            .collect::<Result<Vec<i32>, KMeansError>>()?;
        Points::new(ids, rows, columns)
    }

    /// Returns a copy of the live rows but for those of `ids`.
    ///
    /// # Errors
    /// An id that is not there or comes twice.
    pub fn without(&self, ids: &[u64]) -> Result<Points, KMeansError> {
        let mut points = self.clone();
        for &id in ids {
            match points.slot(id) {
                Some(slot) => points.remove(slot),
                None if self.slot(id).is_some() => return Err(KMeansError::RepeatedId { id }),
                None => return Err(KMeansError::UnknownId { id }),
            }
        }
        points.compact();
        Ok(points)
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the number of live rows.
    pub fn len(&self) -> usize {
        self.live_count
    }

    /// Returns whether there is no live row.
    pub fn is_empty(&self) -> bool {
        self.live_count == 0
    }

    /// Returns the number of slots: live rows, and removed ones that are not compacted away yet.
    pub fn slots(&self) -> usize {
        self.ids.len()
    }

    /// Returns the row in a slot; zeros if it was removed.
    pub fn row(&self, slot: usize) -> &[i32] {
        &self.rows[slot * self.columns..(slot + 1) * self.columns]
    }

    /// Returns whether the row of a slot is live.
    pub fn is_live(&self, slot: usize) -> bool {
        self.live[slot]
    }

    /// Returns the id in a slot.
    pub fn id(&self, slot: usize) -> u64 {
        self.ids[slot]
    }

    /// Returns the slot of a live row.
    pub fn slot(&self, id: u64) -> Option<usize> {
        let slot = self.ids.binary_search(&id).ok()?;
        self.live[slot].then_some(slot)
    }

    /// Iterates over the live slots, in the order of their ids.
    pub fn live_slots(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.slots()).filter(|&slot| self.live[slot])
    }

    /// Returns Σ|x|² over the live rows.
    pub fn square_sum(&self) -> u128 {
        self.square_sum
    }

    /// Returns |x|² of each slot, rounded to f32.
    pub(crate) fn norms(&self) -> &[f32] {
        &self.norms
    }

    /// Returns the ids of all slots.
    pub(crate) fn ids(&self) -> &[u64] {
        &self.ids
    }

    /// Returns the values of all slots, row-major.
    pub(crate) fn values(&self) -> &[i32] {
        &self.rows
    }

    /// Returns, for each slot, whether it is live.
    pub(crate) fn live(&self) -> &[bool] {
        &self.live
    }

    /// Removes a live row: overwrites it with zeros.
    pub(crate) fn remove(&mut self, slot: usize) {
        debug_assert!(self.live[slot]);
        self.square_sum -= u128::from(square(self.row(slot)));
        let columns = self.columns;
        self.rows[slot * columns..(slot + 1) * columns].fill(0);
        self.norms[slot] = 0.0;
        self.live[slot] = false;
        self.live_count -= 1;
        self.brought = OnceLock::new();
    }

    /// Returns whether enough slots are dead to be worth a compaction.
    pub(crate) fn is_sparse(&self) -> bool {
        let dead = self.slots() - self.live_count;
        dead > 16 && dead * 8 > self.slots()
    }

    /// Gives up the slots of removed rows.
    pub(crate) fn compact(&mut self) {
        self.brought = OnceLock::new();
        let mut to = 0;
        for from in 0..self.slots() {
            if !self.live[from] {
                continue;
            }
            if from != to {
                let columns = self.columns;
                self.rows
                    .copy_within(from * columns..(from + 1) * columns, to * columns);
                self.ids[to] = self.ids[from];
                self.norms[to] = self.norms[from];
            }
            to += 1;
        }
        self.rows.truncate(to * self.columns);
        self.ids.truncate(to);
        self.norms.truncate(to);
        self.live.clear();
        self.live.resize(to, true);
    }
}

fn check_shape(rows: usize, values: usize, columns: usize) -> Result<(), KMeansError> {
    if columns == 0 {
        return Err(KMeansError::NoColumns);
    }
    if columns > MAX_COLUMNS {
        return Err(KMeansError::TooManyColumns {
            columns,
            limit: MAX_COLUMNS,
        });
    }
    if rows > MAX_ROWS {
        return Err(KMeansError::TooManyRows {
            rows,
            limit: MAX_ROWS,
        });
    }
    if rows.checked_mul(columns) != Some(values) {
        return Err(KMeansError::Shape {
            values,
            rows,
            columns,
        });
    }
    Ok(())
}

fn in_order(ids: Vec<u64>, rows: Vec<i32>, columns: usize) -> (Vec<u64>, Vec<i32>) {
    if ids.is_sorted() {
        return (ids, rows);
    }
    let mut order: Vec<usize> = (0..ids.len()).collect();
    order.sort_unstable_by_key(|&at| ids[at]);
    let sorted_rows = order
        .iter()
        .flat_map(|&at| &rows[at * columns..(at + 1) * columns])
        .copied()
        .collect();
    (order.iter().map(|&at| ids[at]).collect(), sorted_rows)
}

/// Computes |x|², exact.
pub(crate) fn square(row: &[i32]) -> u64 {
    row.iter()
        .map(|&x| i64::from(x) * i64::from(x))
        .sum::<i64>() as u64
}
