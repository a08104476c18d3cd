//! Poisoning robustness of k-nearest-neighbour classification: certify, falsify, or say unknown.
//!
//! A training set T may hold up to n poisoned rows. The prediction for a test input x is
//! *n-poisoning robust* if learning K from T \ R and then predicting x gives the same label for
//! every R of at most n rows. Both phases are analysed: R can change the neighbours of x, and it
//! can change the K that is learnt. After Li, Wang and Wang, *Systematic Testing of the
//! Data-Poisoning Robustness of KNN* (ISSTA 2023).
//!
//! # What is learnt, exactly
//! Every proof here rests on these rules; [`learn()`] and [`predict()`] follow them literally.
//! - Rows are ranked by (distance, row): equal distances rank the lower row first.
//! - The fold of a row is drawn from the seed and the row's own id or features: dealt anew to T \
//!   R, the folds are `G_j \ R`. Empty folds are skipped in the mean.
//! - Candidate K are numbers. Where a K exceeds the rows that are left, in a fold's training
//!   part or in T \ R, all rows that are left vote. A row whose training part is empty is counted
//!   as wrong.
//! - The error of K is the mean over folds of |wrong| / |G_j \ R|, compared as an exact rational;
//!   the smallest K wins ties. The most frequent label is predicted; the smallest label id wins
//!   ties.
//!
//! **Theorem.** What is learnt from the rows T \ R alone, in their order and with the same
//! parameters, is what the analysis of T takes to be learnt without R. *Proof.* None of these rules
//! reads how many rows there are, or anything of a row that is gone; the order of two rows or two
//! labels depends on these two alone. ∎ So a certified label is that of every refit.
//!
//! # How a verdict is reached
//! [`Analysis::decide`] tries, in turn:
//! 1. [`quick_certify()`]: all candidate K vote alike and resist n removals;
//! 2. [`certified_k_set()`] and the feasible targets: every K that can be learnt, by a removal set
//!    that could also change its vote, resists;
//! 3. [`falsify()`]: a tabu search for a violation; each candidate is counted exactly by
//!    [`learn_update()`];
//! 4. tightened amortised bounds for the K still in question, then branch and bound over the
//!    removal sets that no bound excludes;
//! 5. *unknown*, only at the deadline.
//!
//! # Where the paper's algorithms are
//!
//! | in the paper | file |
//! |---|---|
//! | KNN_predict, Freq (section 2.2) | `votes.rs` |
//! | KNN_learn, cross-validation (section 2.2) | `learn/mod.rs`, `learn/folds.rs`, `learn/error_rate.rs` |
//! | Algorithm 1, the baseline; Jia et al. 2022 | `baselines.rs` |
//! | Algorithm 2, the overall method | `decide.rs` |
//! | Algorithm 3, QuickCertify (Theorem 4.1) | `certify/quick.rs` |
//! | Algorithm 4, `min_rmv` (section 5.1) | `certify/minimal_removal.rs` |
//! | R = R1 ∪ R2, the reduced space (section 5) | `certify/targets.rs`, `falsify/branch_and_bound.rs` |
//! | falsification (section 5) | `falsify/mod.rs`, `falsify/attack.rs`, `falsify/tabu_search.rs` |
//! | Algorithm 5, KNN_learn_init | `system.rs`, `learn/neighbours.rs` |
//! | Algorithm 6, KNN_learn_update | `learn/update.rs` |
//! | certified K set (Li et al. 2022) | `certify/k_set.rs` |
//!
//! Beyond the paper: amortised bounds on what n removals can do to two errors at once
//! (`certify/charging.rs`), and their tightening by Frank and Wolfe's method
//! (`certify/frank_wolfe.rs`). What each of them decides is in `docs/benchmarks.md`.
//!
//! [`run`] decides all inputs of two files and writes a run directory; [`verify`] replays it.
//!
//! ```
//! # fn main() -> Result<(), probity_knn::PoisoningError> {
//! use probity_knn::{Analysis, Deadline, Method, Parameters, TrainingSet, Verdict, replay};
//!
//! let features = vec![0.0, 0.1, 0.2, 0.3, 5.0, 5.1, 5.2, 5.3];
//! let training = TrainingSet::new(features, 1, vec![0, 0, 0, 0, 1, 1, 1, 1])?;
//! let parameters = Parameters::default().folds(4).seed(7).candidates(1, 3).poison(1);
//! let system = parameters.learn(training)?;
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
mod certify;
mod dataset;
mod deadline;
mod decide;
mod errors;
mod falsify;
pub mod inputs;
mod learn;
mod parameters;
pub mod run;
pub mod specification;
mod system;
mod verdict;
pub mod verdicts;
pub mod verify;
mod votes;

pub use analysis::Analysis;
pub use certify::k_set::{CertifiedKSet, certified_k_set};
pub use certify::minimal_removal::minimal_violating_removal;
pub use certify::quick::quick_certify;
pub use dataset::TrainingSet;
pub use deadline::Deadline;
pub use errors::PoisoningError;
pub use falsify::falsify;
pub use learn::error_rate::ErrorCounts;
pub use learn::folds::Folds;
pub use learn::neighbours::{Metric, Neighbours};
pub use learn::update::{LearnUpdate, learn_update};
pub use learn::{Replay, learn, replay};
pub use parameters::{Candidates, Parameters, Setup};
pub use system::{KnnSystem, Query};
pub use verdict::{Certificate, Decision, Method, Verdict, Violation};
pub use votes::predict;
