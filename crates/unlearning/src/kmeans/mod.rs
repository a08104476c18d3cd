//! k-means from which rows can be removed exactly.
//!
//! Ginart, Guan, Valiant, Zou: "Making AI Forget You: Data Deletion in Machine Learning" (NeurIPS 2019).
//!
//! **Theorem.** With the seed fixed, deleting rows from a model gives bit for bit the model that training on the
//! remaining rows gives: for Lloyd's algorithm, quantized k-means and divide-and-conquer k-means, any order of deletions,
//! single or batched, before or after saving. *Proof.* A model is a mathematical function of (rows with their ids,
//! parameters, seed) in which no rounding depends on the way it is computed: points and centroids are integers
//! ([`points`]), so sums, losses and nearest centroids are exact, and every random number belongs to the id of one row and
//! the stage it is drawn for, not to a place in a stream. Deletion evaluates the same function, and leaves out only what it
//! has proved to be unchanged ([`trace`]). ∎
//!
//! The paper asks for models that are equal *in distribution*. Its quantized k-means misses that in corners: where a deleted
//! point was a seed, where the balance threshold γ n / k or the loss moves a decision of a cluster that the point was not in, and
//! where rounding drifts. What is different here: `rule` for the lattice and the balance, `seeding` for the seeds.

mod assign;
pub mod benchmark;
mod codec;
pub mod comparison;
pub mod dataset;
pub mod directory;
mod divide_conquer;
mod errors;
mod exact;
mod kernel;
pub mod metrics;
pub mod mixture;
mod model;
pub mod points;
mod refine;
mod round;
mod rule;
mod seeding;
pub mod trace;
mod tree;

pub use codec::{Reader, Writer};
pub use divide_conquer::{DivideConquer, TreeDeletion};
pub use errors::KMeansError;
pub use model::{Algorithm, Deleted, FitOptions, Model, nearest};
pub use points::Points;
pub use rule::{MAX_CLUSTERS, Parameters, Rule};
pub use trace::{Deletion, Key, Trace};
pub use tree::{MAX_LEAVES, Tree};
