//! Repair: a model of tables or of texts, retrained on what audits found in it (ADF, section 5.2,
//! RQ4).
//!
//! [`run`] is the course of a repair, the same for both; what differs is behind [`Repairable`]:
//! [`table`] and [`text`], the latter for recurrent networks and transformers. Two remedies: *samples* adds a share of the discriminatory individuals
//! of audits (or, for texts, of a search that the repair does itself) to the training part;
//! *certified* trains against the worst protected substitution of each input.
//!
//! # Rules
//! The paper leaves most of these open. One rule each holds for both modalities, so that their
//! figures can be compared:
//!
//! * *A share* of n samples is ⌈share · n⌉ of them, at least one ([`pool::count`]): a share is
//!   never rounded to nothing.
//! * *Draws and first weights* come from streams that are keyed by (seed, purpose, run and repeat),
//!   so that neither the number of repeats nor the order of work changes a network, a smaller share
//!   is part of a larger one, and repairs of neighbouring seeds have nothing in common.
//! * *A network that gives its training part one class* is trained again from other first weights,
//!   five times at most: treating all alike by answering one class is no repair, but would win any
//!   choice by fairness.
//! * *Control* networks, as many as repeats, learn the training part alone from the same first
//!   weights: what they gain or lose is not owed to the remedy. Texts of the independent set lie
//!   near the old model's decision boundary, so that some stop being discriminatory for any network
//!   that is trained anew.
//! * *The label* is one for all variants of a sample ([`labels`]): otherwise the network would be
//!   taught the discrimination again.
//! * *The share that is kept* is the fairest of those whose networks lose at most the allowed
//!   accuracy on the validation part on average, else the one that loses least. *Of its networks
//!   the median* one by the discriminatory figure is saved ([`choice`]): the best of several would
//!   be praised by chance, while of the median what is reported of all is true.
//! * *What is reported* is measured on the held-out part, and on random inputs or an independent
//!   set, which take no part in training or choosing.
//! * *Whether the network is saved* depends on what is said against it there ([`verdict`]).
//!
//! Searches and networks that are complete are kept in the checkpoint [`store`] of the directory; a
//! repair that goes on does the others, and ends with the model of an unbroken one. The checkpoint
//! of a repair whose network was not saved stays too, so that it can be saved anyway.

pub mod change;
pub mod choice;
pub mod error;
pub mod labels;
pub mod pool;
pub mod repairable;
pub mod run;
pub mod specification;
pub mod store;
pub mod summary;
pub mod table;
pub mod text;
mod trainer;
pub mod verdict;

pub use self::error::RepairError;
pub use self::repairable::Repairable;
pub use self::run::Repair;
pub use self::specification::{LEAST_SHARE, RepairSpecification};
pub use self::store::RepairState;
pub use self::table::TableRepair;
pub use self::text::{TextRepair, TransformerLearner};
pub use self::trainer::RepairProgress;
