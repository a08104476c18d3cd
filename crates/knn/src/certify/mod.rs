//! Proofs that no removal of at most n rows changes a label.
//!
//! [`quick`] and [`minimal_removal`] look at the prediction phase alone (Algorithms 3 and 4 of the
//! paper). The other files bound the learning phase, beyond the paper, by a *charging argument*
//! ([`charging`], [`amortised_bound`]): the removals that help one K against another are charged to
//! single rows, so that the n heaviest rows bound what any n removals achieve. [`k_set`] excludes K
//! for all test inputs by it, [`targets`] for one; [`frank_wolfe`] chooses who is charged so that
//! the bound gets tight.

pub(crate) mod amortised_bound;
pub(crate) mod charging;
pub(crate) mod cost_sharing;
pub(crate) mod flip_costs;
pub(crate) mod fold_weights;
pub(crate) mod fractional_removal;
pub(crate) mod frank_wolfe;
pub(crate) mod k_set;
pub(crate) mod minimal_removal;
pub(crate) mod quick;
pub(crate) mod reference_bound;
pub(crate) mod targets;
pub(crate) mod vote_flips;
