//! Records as points of an integer grid: the form on which every distance is exact.
//!
//! A column is declared: a range and a unit. A value is moved into its range, divided by its unit,
//! and rounded to a grid of at most 2²² steps. That is done record by record with declared numbers
//! only, so two databases that differ in one record still differ in one record. A unit has
//! 10^d · 2^j steps, as many as there may be, with d as large as it may be: numbers of up to d
//! decimals in units lie on the grid, so that those who are exactly the radius apart are so there.
//!
//! On the grid a squared distance is an integer below 2⁵² (at most [`MAX_COLUMNS`] columns), so
//! `f64` holds it exactly, whatever the order of the sum. "Within the radius" means an integer
//! comparison, the same for every pair and in every module; the proofs of the bounds need no term
//! for rounding.

use serde::{Deserialize, Serialize};

use super::error::PrivacyError;
use probity_tensor::proposer::Proposer;

/// The number of steps of the widest range.
const STEPS: f64 = (1_u32 << 22) as f64;
/// The largest number of columns for which squared distances stay exact: 2^44 each, below 2^52
/// together.
pub const MAX_COLUMNS: usize = 128;
/// The least number of steps of a radius: a smaller one would be blurred by the grid.
const LEAST_RADIUS: f64 = 16.0;

/// The declaration of one column. No part of it may come from the records.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeclaredColumn {
    /// The name of the column.
    pub name: String,
    /// The smallest value; smaller ones count as this one.
    pub min: f64,
    /// The largest value; larger ones count as this one.
    pub max: f64,
    /// The difference that has distance 1, such as a standard deviation known from elsewhere.
    pub unit: f64,
}

/// The grid of a set of declared columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    columns: Vec<DeclaredColumn>,
    /// The number of steps of a unit.
    per_unit: f64,
}

impl Grid {
    /// Makes the grid of `columns`.
    ///
    /// # Errors
    /// No column, more than [`MAX_COLUMNS`], an empty range, or a unit that is not above zero.
    pub fn new(columns: Vec<DeclaredColumn>) -> Result<Grid, PrivacyError> {
        if columns.is_empty() || columns.len() > MAX_COLUMNS {
            return Err(PrivacyError::Columns {
                given: columns.len(),
                most: MAX_COLUMNS,
            });
        }
        for column in &columns {
            let finite = column.min.is_finite() && column.max.is_finite();
            let width = column.max - column.min;
            if !(finite && width > 0.0 && width.is_finite()) {
                return Err(PrivacyError::Range {
                    column: column.name.clone(),
                    min: column.min,
                    max: column.max,
                });
            }
            if !(column.unit > 0.0 && column.unit.is_finite() && (width / column.unit).is_normal())
            {
                return Err(PrivacyError::Unit {
                    column: column.name.clone(),
                    unit: column.unit,
                });
            }
        }
        let widest = columns
            .iter()
            .map(|column| (column.max - column.min) / column.unit)
            .fold(0.0, f64::max);
        Ok(Grid {
            per_unit: steps_per_unit(widest),
            columns,
        })
    }

    /// Returns the declared columns.
    pub fn columns(&self) -> &[DeclaredColumn] {
        &self.columns
    }

    /// Places records, row-major `[rows, columns]`, on the grid.
    ///
    /// # Errors
    /// A value that is not finite, or a length that is no multiple of the columns.
    pub fn place(&self, values: &[f64]) -> Result<Records, PrivacyError> {
        let width = self.columns.len();
        if !values.len().is_multiple_of(width) {
            return Err(PrivacyError::Shape {
                values: values.len(),
                columns: width,
            });
        }
        let mut placed = Vec::with_capacity(values.len());
        for (at, &value) in values.iter().enumerate() {
            let column = &self.columns[at % width];
            if !value.is_finite() {
                return Err(PrivacyError::NotFinite {
                    column: column.name.clone(),
                });
            }
            let inside = value.clamp(column.min, column.max);
            let steps = ((inside - column.min) / column.unit * self.per_unit).round();
            placed.push(steps.clamp(0.0, STEPS));
        }
        Ok(Records {
            columns: width,
            values: placed,
            proposer: Proposer::default(),
        })
    }

    /// Returns the largest squared grid distance between two records that are within `radius` in a
    /// subspace of `dimension` columns, where dist(x, y) = ‖x − y‖ / √dimension (Section 3.1).
    ///
    /// # Errors
    /// A radius that is not above zero, or too small for the grid.
    pub fn squared_radius(&self, radius: f64, dimension: usize) -> Result<f64, PrivacyError> {
        if !(radius > 0.0 && radius.is_finite()) {
            return Err(PrivacyError::Radius { radius });
        }
        let steps = radius * self.per_unit;
        if steps < LEAST_RADIUS {
            return Err(PrivacyError::SmallRadius {
                radius,
                least: LEAST_RADIUS / self.per_unit,
            });
        }
        // A decimal radius of whole steps may come out a rounding below them.
        let whole = steps.round();
        let steps = match (steps - whole).abs() < 1e-12 * whole {
            true => whole,
            false => steps,
        };
        let all = STEPS * STEPS * MAX_COLUMNS as f64;
        Ok((steps * steps * dimension as f64).min(all).floor())
    }
}

/// Returns the number of steps of a unit, where the widest range has `widest` units: 10^d · 2^j, so
/// that the range has at most [`STEPS`] steps, with the largest d and then the largest j. Where a
/// step has several units, these are 10^d · 2^j.
fn steps_per_unit(widest: f64) -> f64 {
    let most = (STEPS / widest).min(1e300);
    let (mut steps, mut units) = (1.0, 1.0);
    if most < 1.0 {
        while units * 10.0 * most <= 1.0 {
            units *= 10.0;
        }
        while units * most < 1.0 {
            units *= 2.0;
        }
        return 1.0 / units;
    }
    while steps * 10.0 <= most {
        steps *= 10.0;
    }
    while steps * 2.0 <= most {
        steps *= 2.0;
    }
    steps
}

/// The records as points of the grid, row-major; every value is a whole number.
#[derive(Debug, Clone)]
pub struct Records {
    columns: usize,
    values: Vec<f64>,
    proposer: Proposer,
}

impl Records {
    /// Creates records from points given directly on a grid: whole numbers from 0 to 2²², row-major
    /// `[rows, columns]`.
    ///
    /// # Errors
    /// Another number, no column or too many, or a length that does not fit.
    pub fn from_grid(values: Vec<f64>, columns: usize) -> Result<Records, PrivacyError> {
        if columns == 0 || columns > MAX_COLUMNS {
            return Err(PrivacyError::Columns {
                given: columns,
                most: MAX_COLUMNS,
            });
        }
        if !values.len().is_multiple_of(columns) {
            return Err(PrivacyError::Shape {
                values: values.len(),
                columns,
            });
        }
        let whole = |value: &f64| (0.0..=STEPS).contains(value) && value.fract() == 0.0;
        match values.iter().position(|value| !whole(value)) {
            Some(at) => Err(PrivacyError::OffGrid { value: values[at] }),
            None => Ok(Records {
                columns,
                values,
                proposer: Proposer::default(),
            }),
        }
    }

    /// Returns the records with a device that proposes how many are near each other
    /// ([`super::degrees`]). No count, and so no answer, depends on the device.
    #[must_use]
    pub fn on(mut self, proposer: &Proposer) -> Records {
        self.proposer = proposer.clone();
        self
    }

    /// Returns the proposer.
    pub(super) fn proposer(&self) -> &Proposer {
        &self.proposer
    }

    /// Returns the values of all records, row-major.
    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns the number N of records.
    pub fn rows(&self) -> usize {
        self.values.len() / self.columns
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns record `at`.
    pub fn row(&self, at: usize) -> &[f64] {
        &self.values[at * self.columns..(at + 1) * self.columns]
    }

    /// Returns the largest coordinate that a record can have.
    pub(super) fn extent() -> f64 {
        STEPS
    }

    /// Returns the records in the subspace of `columns`, in that order.
    pub fn subspace(&self, columns: &[usize]) -> Records {
        let values = (0..self.rows())
            .flat_map(|at| columns.iter().map(move |&column| self.row(at)[column]))
            .collect();
        Records {
            columns: columns.len(),
            values,
            proposer: self.proposer.clone(),
        }
    }
}

/// Computes the squared distance of two grid points: exact.
pub fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(min: f64, max: f64, unit: f64) -> DeclaredColumn {
        DeclaredColumn {
            name: "c".to_owned(),
            min,
            max,
            unit,
        }
    }

    #[test]
    fn values_are_clipped_and_the_radius_follows_the_units() {
        let grid = Grid::new(vec![column(0.0, 10.0, 2.0), column(-1.0, 1.0, 1.0)]).unwrap();
        let records = grid.place(&[-5.0, 0.0, 4.0, 9.0]).unwrap();
        assert_eq!(records.row(0)[0], 0.0);
        // 838,860 steps of a unit fit: 10⁵ · 2³ are the most of the form.
        assert_eq!(records.row(1)[1], 1_600_000.0);
        // Two records 4 raw apart in the first column: 2 units, so 2 / sqrt(2) in the plane.
        let pair = grid.place(&[1.0, 0.5, 5.0, 0.5]).unwrap();
        let distance = squared_distance(pair.row(0), pair.row(1));
        let just = 2.0 / 2.0_f64.sqrt();
        assert!(distance <= grid.squared_radius(just * 1.000_01, 2).unwrap());
        assert!(distance > grid.squared_radius(just * 0.999_99, 2).unwrap());
    }

    #[test]
    fn those_who_are_exactly_the_radius_apart_are_within_it() {
        for (min, max, unit, apart) in [
            (17.0, 90.0, 1.0, 1.0),
            (0.0, 100.0, 1.0, 3.0),
            (-3.7, 9.3, 1.0, 0.1),
            (0.0, 1e6, 1000.0, 0.25),
            (0.0, 64.0, 12.0, 1.0),
            (0.0, 5e9, 1.0, 100_000.0),
        ] {
            let grid = Grid::new(vec![column(min, max, unit)]).unwrap();
            let limit = grid.squared_radius(apart, 1).unwrap();
            let beyond = grid.squared_radius(apart * (1.0 - 1e-4), 1).unwrap();
            let step = unit * apart;
            let values = (0..20).map(|at| min + step * f64::from(at));
            let values: Vec<f64> = values.take_while(|value| *value <= max).collect();
            let records = grid.place(&values).unwrap();
            for at in 1..records.rows() {
                let distance = squared_distance(records.row(at - 1), records.row(at));
                assert!(distance <= limit && distance > beyond, "{min} {max} {unit}");
            }
        }
    }

    #[test]
    fn a_range_has_no_more_steps_than_stay_exact() {
        for widest in [
            1e-307,
            1e-12,
            0.3,
            1.0,
            73.0,
            1e5,
            4_194_304.0,
            4_194_305.0,
            1e18,
            1e300,
        ] {
            let steps = steps_per_unit(widest);
            assert!(
                steps > 0.0 && steps * widest <= STEPS * (1.0 + 1e-12),
                "{widest}: {steps}"
            );
        }
    }

    #[test]
    fn bad_declarations_are_refused() {
        assert!(Grid::new(Vec::new()).is_err());
        assert!(Grid::new(vec![column(1.0, 1.0, 1.0)]).is_err());
        assert!(Grid::new(vec![column(0.0, f64::NAN, 1.0)]).is_err());
        assert!(Grid::new(vec![column(0.0, 1.0, 0.0)]).is_err());
        let grid = Grid::new(vec![column(0.0, 1.0, 1.0)]).unwrap();
        assert!(grid.place(&[f64::NAN]).is_err());
        assert!(grid.squared_radius(0.0, 1).is_err());
        assert!(grid.squared_radius(1e-9, 1).is_err());
        assert!(Records::from_grid(vec![0.5], 1).is_err());
    }
}
