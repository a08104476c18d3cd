//! The largest number of records of a set in one closed ball of the radius, from which the bound on
//! the local sensitivity is made.
//!
//! For a set P of records let h(P) = max over x of |P ∩ B(x, r)| (equations 45 and 46). Every
//! method here computes a fixed function h′ of the set alone with
//!
//! 1. h′(P) ≥ h(P),
//! 2. h′(P ∖ {j}) ≥ h′(P) − 1 and h′(P ∪ {j}) ≥ h′(P).
//!
//! These two properties are all that the proof of smoothness uses ([`super::smooth`]). Both hold
//! for every function of the form max over A in a family of |P ∩ A| where the family does not
//! depend on the records and every ball of the radius lies in some A. [`mod@line`], [`plane`],
//! [`branch_and_bound`] and [`mod@reference`] compute h itself (the family of all balls); [`cover`]
//! takes coarser sets.
//!
//! Which method answers follows from N, the dimension and the options ([`Bound::resolve`]). It must
//! not depend on the records: two neighbours answered by different methods would break smoothness,
//! and a method that gives up on one of them would tell which of the two it is. So a method is
//! chosen only if it comes to its end on *all* records of that number and dimension.

pub mod branch_and_bound;
pub mod cover;
mod discs;
mod largest_ball;
pub mod line;
pub mod plane;
pub mod reference;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::PrivacyError;
use super::records::Records;

pub use branch_and_bound::BranchAndBound;
pub use cover::Cover;
pub use largest_ball::LargestBall;
pub use line::Line;
pub use plane::Plane;
pub use reference::Reference;

/// The default limit on the steps of an exact bound.
pub const WORK_LIMIT: u64 = 2_000_000_000;

/// The bound that a user may choose.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// One dimension: line; two: plane; more: exact where the work limit is enough for any records
    /// of that number, else cover.
    #[default]
    Auto,
    /// Exact: a sliding window or an angular sweep, else branch and bound, which is refused unless
    /// the work limit is enough for any records of that number.
    Exact,
    /// Upper bound from a lattice of centres.
    Cover,
    /// The paper's Algorithm 1, for tiny sets.
    Reference,
}

/// The method that a [`Bound`] stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// The sliding window.
    Line,
    /// The angular sweep.
    Plane,
    /// The branch and bound over smallest enclosing balls.
    BranchAndBound,
    /// The cover by data-independent centres.
    Cover,
    /// The recursion of Algorithm 1.
    Reference,
}

impl Method {
    /// Returns the name of the method.
    pub fn name(self) -> &'static str {
        match self {
            Method::Line => "line",
            Method::Plane => "plane",
            Method::BranchAndBound => "branch_and_bound",
            Method::Cover => "cover",
            Method::Reference => "reference",
        }
    }

    /// Returns whether the method computes h itself.
    pub fn is_exact(self) -> bool {
        self != Method::Cover
    }

    /// Returns the exact method for `dimension` dimensions.
    pub fn exact(dimension: usize) -> Method {
        match dimension {
            1 => Method::Line,
            2 => Method::Plane,
            _ => Method::BranchAndBound,
        }
    }
}

impl Bound {
    /// Returns the method for `rows` records in `dimension` dimensions, which is asked `calls`
    /// times and may take `work_limit` steps where it is branch and bound.
    ///
    /// # Errors
    /// An exact method that some records of that number would take over the limit, or Algorithm 1
    /// for too many records.
    pub fn resolve(
        self,
        rows: usize,
        dimension: usize,
        calls: u64,
        work_limit: u64,
    ) -> Result<Method, PrivacyError> {
        let steps = calls as f64 * BranchAndBound::steps_at_most(rows, dimension);
        let exact = Method::exact(dimension);
        let is_affordable = exact != Method::BranchAndBound || steps <= work_limit as f64;
        match self {
            Bound::Reference if rows > reference::MOST_ROWS => {
                Err(PrivacyError::TooManyForReference {
                    rows,
                    most: reference::MOST_ROWS,
                })
            }
            Bound::Reference => Ok(Method::Reference),
            Bound::Auto | Bound::Exact if is_affordable => Ok(exact),
            Bound::Auto | Bound::Cover => Ok(Method::Cover),
            Bound::Exact => Err(PrivacyError::Unaffordable {
                rows,
                dimension,
                steps,
                limit: work_limit,
            }),
        }
    }
}

impl Method {
    /// Returns the method at work on `records`; `work_limit` bounds the steps of branch and bound.
    pub fn on(
        self,
        records: &Records,
        squared_radius: f64,
        work_limit: u64,
    ) -> Box<dyn LargestBall + '_> {
        match self {
            Method::Line => Box::new(Line::new(records, squared_radius)),
            Method::Plane => Box::new(Plane::new(records, squared_radius)),
            Method::BranchAndBound => {
                Box::new(BranchAndBound::new(records, squared_radius, work_limit))
            }
            Method::Cover => Box::new(Cover::new(records, squared_radius)),
            Method::Reference => Box::new(Reference::new(records, squared_radius)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use probity_run::stream::{Purpose, stream};
    use rand::RngExt;

    /// Every exact method agrees with Algorithm 1, and the cover is above it, on sets full of ties
    /// and duplicates.
    #[test]
    fn methods_agree_with_algorithm_1() {
        let mut strict = 0;
        for case in 0..3000_u64 {
            let mut draw = stream(3, Purpose::OutlierData, case, 0);
            let columns = 1 + (case % 4) as usize;
            let rows = draw.random_range(1..12);
            let side = [3, 6, 1000][(case / 4 % 3) as usize];
            let values = (0..rows * columns)
                .map(|_| f64::from(draw.random_range(0..side)))
                .collect();
            let records = Records::from_grid(values, columns).unwrap();
            let squared_radius = f64::from(draw.random_range(1..side * side));
            let members: Vec<u32> = (0..rows as u32).filter(|_| draw.random()).collect();
            let exact = Reference::new(&records, squared_radius)
                .largest(&members, u32::MAX)
                .unwrap();
            let method = Bound::Exact.resolve(rows, columns, 1, u64::MAX).unwrap();
            let found = method
                .on(&records, squared_radius, u64::MAX)
                .largest(&members, u32::MAX)
                .unwrap();
            assert_eq!(found, exact, "case {case}: {method:?}, {columns} columns");
            let general = BranchAndBound::new(&records, squared_radius, u64::MAX);
            assert_eq!(
                general.largest(&members, u32::MAX).unwrap(),
                exact,
                "case {case}"
            );
            let cover = Cover::new(&records, squared_radius)
                .largest(&members, u32::MAX)
                .unwrap();
            assert!(cover >= exact, "case {case}");
            strict += u32::from(cover > exact);
            if exact > 1 {
                for method in [Method::Cover, method, Method::BranchAndBound] {
                    let on = method.on(&records, squared_radius, u64::MAX);
                    assert!(on.largest(&members, exact - 1).unwrap() >= exact - 1);
                }
            }
        }
        assert!(strict > 0, "the cover is a bound, not the value itself");
    }

    /// The methods agree with each other on larger sets.
    #[test]
    fn the_plane_agrees_with_branch_and_bound() {
        for case in 0..60_u64 {
            let mut draw = stream(4, Purpose::OutlierData, case, 0);
            let side = [20, 4000][(case % 2) as usize];
            let values = (0..2 * 80)
                .map(|_| f64::from(draw.random_range(0..side)))
                .collect();
            let records = Records::from_grid(values, 2).unwrap();
            let squared_radius = f64::from(draw.random_range(1..side * side / 20));
            let members: Vec<u32> = (0..80).collect();
            let plane = Plane::new(&records, squared_radius);
            let general = BranchAndBound::new(&records, squared_radius, u64::MAX);
            assert_eq!(
                plane.largest(&members, u32::MAX).unwrap(),
                general.largest(&members, u32::MAX).unwrap(),
                "case {case}"
            );
        }
    }

    /// An exact bound answers every set at the limit that the worst records need, and none below
    /// it, whatever the records.
    #[test]
    fn whether_an_exact_bound_answers_is_public() {
        let (rows, dimension, calls) = (9, 3, 4);
        let needed = calls as f64 * BranchAndBound::steps_at_most(rows, dimension);
        for limit in [needed as u64 - 1, needed as u64] {
            let resolved = |bound: Bound| bound.resolve(rows, dimension, calls, limit);
            let (auto, exact) = (resolved(Bound::Auto), resolved(Bound::Exact));
            if (limit as f64) < needed {
                assert_eq!(auto.unwrap(), Method::Cover);
                assert!(matches!(exact, Err(PrivacyError::Unaffordable { .. })));
            } else {
                assert_eq!(auto.unwrap(), Method::BranchAndBound);
                assert_eq!(exact.unwrap(), Method::BranchAndBound);
            }
        }
        assert_eq!(
            Bound::Exact.resolve(1_000_000, 2, 60, 1).unwrap(),
            Method::Plane
        );
    }

    #[test]
    fn a_work_limit_refuses() {
        let values = (0..3 * 40).map(|at| f64::from(at * 7919 % 101)).collect();
        let records = Records::from_grid(values, 3).unwrap();
        let members: Vec<u32> = (0..40).collect();
        let limited = BranchAndBound::new(&records, 1500.0, 10);
        assert!(matches!(
            limited.largest(&members, u32::MAX),
            Err(PrivacyError::WorkLimit { limit: 10 })
        ));
    }
}
