//! Differentially private analysis of distance-based outliers.
//!
//! After R. Okada, K. Fukuchi, K. Kakizaki and J. Sakuma, *Differentially Private Analysis of
//! Outliers* (ECML PKDD 2015). Databases are neighbours when one record is *replaced*; N is public.
//! An outlier has fewer than k other records within the radius.
//!
//! The way of a query: declared columns make a [`records::Grid`], on which every distance is exact.
//! A plan ([`count::CountPlan`], [`subspaces::SubspacePlan`]) is made from public numbers alone and
//! states its [`composition::Cost`]. The cost is entered into a [`ledger`]. Only then the plan sees
//! the records and answers, with [`noise`] from the operating system's generator.
//!
//! | claim | where it is proved |
//! |-------|--------------------|
//! | the bound is β-smooth and at least the local sensitivity | [`smooth`], for any method of [`sensitivity`] |
//! | the global sensitivity is at most k K + 1 | [`kissing`] |
//! | the noise gives (ε, δ) | [`inverse`]; [`calibration`] for normal noise |
//! | the samplers have exactly their distributions | [`noise`] |
//! | the interval holds the count | [`interval`] |
//! | h choices cost ε | [`subspaces`] |
//! | all answers together are within the budget | [`composition`] |
//!
//! ```
//! use probity_privacy::outliers::OutlierCount;
//! use probity_privacy::records::{DeclaredColumn, Grid};
//!
//! let age = DeclaredColumn { name: "age".into(), min: 0.0, max: 120.0, unit: 15.0 };
//! let grid = Grid::new(vec![age])?;
//! let people = grid.place(&[31.0, 32.0, 35.0, 36.0, 40.0, 41.0, 90.0])?;
//!
//! // People with nobody else within half a unit, at a price of epsilon 0.5 and delta 0.01.
//! let count = OutlierCount::new(1, 0.5, 0.5, 0.01);
//! assert_eq!(count.plan(&grid, people.rows())?.cost().epsilon, 0.5);
//! let answer = count.answer(&grid, &people)?;
//! println!("about {} outliers", answer.count);
//! assert!(answer.interval.is_none()); // it would have to be paid for: CountOptions::interval_share
//! # Ok::<(), probity_privacy::error::PrivacyError>(())
//! ```

pub mod ball;
pub mod calibration;
pub mod composition;
pub mod count;
pub mod degrees;
pub mod error;
mod exact_ball;
pub mod horizon;
pub mod interval;
pub mod inverse;
pub mod kissing;
pub mod ledger;
pub mod noise;
pub mod outliers;
pub mod query;
pub mod records;
pub mod sensitivity;
pub mod smooth;
pub mod source;
pub mod specification;
pub mod subspaces;
