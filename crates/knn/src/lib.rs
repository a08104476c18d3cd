//! Poisoning robustness of k-nearest-neighbour classification: certify, falsify, or say unknown.
//!
//! A training set T may hold up to n poisoned rows. The prediction for a test input x is *n-poisoning robust*
//! if learning K from T \ R and then predicting x gives the same label for every R of at most n rows. Both phases
//! are analysed: R can change the neighbours of x, and it can change the K that is learnt. After Li, Wang and Wang,
//! *Systematic Testing of the Data-Poisoning Robustness of KNN* (ISSTA 2023).
//!
//! # What is learnt, exactly
//! Every proof here rests on these rules; [`learn()`] and [`predict()`] follow them literally.
//! - Rows are ranked by (distance, row): equal distances rank the lower row first.
//! - Folds are dealt once from T by the seed, keyed by row; after a removal they are `G_j \ R`. Emptied folds are
//!   skipped in the mean.
//! - Candidate K are fixed from T. Where a K exceeds the rows that are left, in a fold's training part or in
//!   T \ R, all rows that are left vote. A row whose training part is empty is counted as wrong.
//! - The error of K is the mean over folds of |wrong| / |G_j \ R|, compared as an exact rational; the smallest K
//!   wins ties. The most frequent label is predicted; the smallest label id wins ties.
//!
//! # How a verdict is reached
//! [`Analysis::decide`] tries, in turn:
//! 1. [`quick_certify()`]: all candidate K vote alike and resist n removals;
//! 2. [`certified_k_set()`] and the feasible targets: every K that can be learnt, by a removal set that could also change
//!    its vote, resists;
//! 3. [`falsify()`]: a directed search for a violation, removals chosen greedily and then exchanged one by one; each
//!    candidate is counted exactly by [`learn_update()`];
//! 4. tightened bounds for the K still in question (a game in which every flip is paid for anew against the removals
//!    that resist most), then branch and bound over the removal sets that no bound excludes;
//! 5. *unknown*, only at the deadline.
//!
//! [`run`] decides all inputs of two files and writes a run directory; [`verify`] replays it;
//! [`tensor_distances`] ranks large sets by matrix products.
//!
//! ```
//! # fn main() -> Result<(), crate::PoisoningError> {
//! use crate::{
//!     Analysis, Candidates, Deadline, KnnSystem, Method, Metric, Parameters, TrainingSet, Verdict, replay,
//! };
//!
//! let features = vec![0.0, 0.1, 0.2, 0.3, 5.0, 5.1, 5.2, 5.3];
//! let training = TrainingSet::new(features, 1, vec![0, 0, 0, 0, 1, 1, 1, 1])?;
//! let parameters = Parameters {
//!     folds: 4,
//!     seed: 7,
//!     candidates: Candidates { first: 1, last: 3 },
//!     poison: 1,
//!     metric: Metric::Euclidean,
//! };
//! let system = KnnSystem::learn(parameters.check(training)?);
//! let analysis = Analysis::new(&system);
//! let decision = analysis.decide(&[0.15], Method::Auto, Deadline::never())?;
//! assert_eq!(decision.label, 0);
//! assert!(matches!(decision.verdict, Verdict::Certified(_)));
//!
//! let decision = analysis.decide(&[2.6], Method::Auto, Deadline::never())?;
//! if let Verdict::Falsified(violation) = decision.verdict {
//!     let again = replay(system.setup(), &violation.removal, &[2.6])?;
//!     assert_ne!(again.label, decision.label);
//! }
//! # Ok(())
//! # }
//! ```

mod analysis;
mod baselines;
mod certified_k_set;
mod charges;
mod crew;
mod dataset;
mod effects;
mod error_rate;
mod errors;
mod events;
mod exhaust;
mod falsify;
mod flips;
mod folds;
pub mod inputs;
mod learn;
mod learn_update;
mod losses;
mod minimal_violating_removal;
mod mixture;
mod neighbours;
mod predict;
mod quick_certify;
mod response;
pub mod run;
mod shares;
mod steer;
mod system;
mod targets;
pub mod tensor_distances;
mod tighten;
pub mod verdicts;
pub mod verify;

pub use analysis::{Analysis, Certificate, Deadline, Decision, Method, Verdict, Violation};
pub use certified_k_set::{CertifiedKSet, certified_k_set};
pub use dataset::TrainingSet;
pub use error_rate::ErrorCounts;
pub use errors::PoisoningError;
pub use falsify::falsify;
pub use folds::Folds;
pub use learn::{Replay, learn, replay};
pub use learn_update::{LearnUpdate, learn_update};
pub use minimal_violating_removal::minimal_violating_removal;
pub use neighbours::{ApproximateDistances, Metric, Neighbours};
pub use predict::predict;
pub use quick_certify::quick_certify;
pub use system::{Candidates, KnnSystem, Parameters, Query, Setup};
