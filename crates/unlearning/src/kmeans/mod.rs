//! k-means from which rows can be removed exactly.
//!
//! Ginart, Guan, Valiant, Zou: "Making AI Forget You: Data Deletion in Machine Learning" (NeurIPS
//! 2019).
//!
//! **Theorem.** With the seed fixed, deleting rows from a model gives bit for bit the model that
//! training on the remaining rows gives: for Lloyd's algorithm, quantized k-means and
//! divide-and-conquer k-means, any order of deletions, single or batched, before or after saving.
//! *Proof.* A model is a mathematical function of (rows with their ids, parameters, seed) in which
//! no rounding depends on the way it is computed: points and centroids are integers ([`points`]),
//! so sums, losses and nearest centroids are exact, and every random number belongs to the id of
//! one row and the stage it is drawn for, not to a place in a stream. Deletion evaluates the same
//! function, and leaves out only what it has proved to be unchanged: candidates for seeds, seeds,
//! iterations, and which of several restarts has the smallest loss ([`trace`]). ∎
//!
//! The paper asks for models that are equal *in distribution*. Its quantized k-means misses that in
//! corners: where a deleted point was a seed, where the balance threshold γ n / k or the loss moves
//! a decision of a cluster that the point was not in, and where rounding drifts. What is different
//! here: `quantizer` for the lattice and the balance, `seeding` for the seeds.
//!
//! ```
//! use probity_unlearning::kmeans::{KMeans, Points};
//!
//! // Age and income of people 1 to 6, between declared bounds.
//! let values = [23., 21e3, 27., 24e3, 31., 26e3, 58., 81e3, 61., 90e3, 64., 85e3];
//! let people = Points::from_values((1..=6).collect(), &values, &[(0., 120.), (0., 200e3)])?;
//! let kmeans = KMeans::new(2).seed(1);
//!
//! let mut model = kmeans.fit(&people)?;
//! model.delete(&[3, 5])?;
//!
//! let retrained = kmeans.fit(&people.without(&[3, 5])?)?;
//! assert_eq!(model.to_bytes()?, retrained.to_bytes()?);
//! # Ok::<(), probity_unlearning::kmeans::KMeansError>(())
//! ```

mod assign;
pub mod benchmark;
pub mod comparison;
pub mod dataset;
pub mod directory;
mod divide_conquer;
mod errors;
mod exact;
mod iteration;
mod kernel;
pub mod kinds;
pub mod metrics;
pub mod mixture;
mod model;
pub mod points;
mod quantizer;
mod refine;
mod run;
mod seeding;
mod serialise;
pub mod specification;
pub mod trace;
mod tree;

pub use divide_conquer::{DivideConquer, TreeDeletion};
pub use errors::KMeansError;
pub use model::{Algorithm, Deleted, KMeans, Model, nearest};
pub use points::Points;
pub use quantizer::{MAX_CLUSTERS, MAX_RESTARTS, Parameters, Quantizer};
pub use seeding::Key;
pub use trace::{Deletion, Trace};
pub use tree::{MAX_LEAVES, Tree};
