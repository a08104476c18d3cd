//! Sum-product networks that forget rows exactly.
//!
//! Becker and Liebig, "Certified Data Removal in Sum-Product Networks" (2022): LearnSPN
//! (Algorithm 1) with a state at every node, the revision of its decisions (Definition 3) and
//! UnlearnSPN (Algorithms 2 to 7).
//!
//! **Theorem (exactness).** For every set of rows X with distinct ids, parameters with a seed, and
//! R ⊂ X: [`Spn::delete`] of R from `Spn::learn(X)` leaves the model that `Spn::learn(X \ R)`
//! gives, down to the bytes of [`Spn::to_bytes`]; hence any order of deletions, single or batched,
//! also after saving and loading, ends in the same bytes.
//!
//! *Why it holds.* LearnSPN is a recursion over (rows, scope, key). Every decision is a function of
//! statistics that are exact integers ([`moments`], [`leaves`], contingency tables, sums of
//! clusters), so that taking a row out of a statistic gives the statistic of the remaining rows,
//! whatever the order. Randomness is keyed by (key of the node, stable row id), and the key by the
//! seed and by the names of the children on the way from the root, so that a deletion moves no draw
//! to another row. No bound, bin, scale or projection is taken from the rows. The threshold of
//! dependence is given, or chosen by a function of the rows that a deletion evaluates again where
//! it looked at a deleted row ([`choice`]). By induction over the tree the state of a node after an
//! update is the state that learning on its remaining rows gives: the decision is taken anew from
//! the updated statistics ([`decide`]); children whose scope (product) or cluster (sum) is still
//! there are updated with the rows that left *and those that came*, all others are learnt.
//!
//! | module           | what is there                                                         |
//! |------------------|-----------------------------------------------------------------------|
//! | [`row_delta`]    | rows that leave and rows that come                                    |
//! | [`parameters`]   | checked parameters                                                    |
//! | [`choice`]       | the threshold that rows held out choose; learning with it             |
//! | [`context`]      | what is computed once for all nodes                                   |
//! | [`variable`]     | declared domains, fixed-point values, bins                            |
//! | [`dataset`]      | rows with stable ids                                                  |
//! | [`structure`]    | the arena of nodes and their states                                   |
//! | [`decide`]       | which operation LearnSPN chooses                                      |
//! | [`learn`]        | LearnSPN                                                              |
//! | [`unlearn`]      | UnlearnSPN                                                            |
//! | [`independence`] | G-test and randomised dependence coefficient                          |
//! | [`clustering`]   | k-means on a lattice whose trace is updated                           |
//! | [`network`]      | the network without its learning state                                |
//! | [`infer`]        | likelihood, marginals, conditionals, explanation, samples             |
//! | [`mixture`]      | the network as a mixture of products                                  |
//! | [`serialise`]    | bytes and back                                                        |
//! | [`drawing`]      | Graphviz and SVG                                                      |
//! | [`table`]        | rows from a file by its schema                                        |
//! | [`model`]        | the model file of the command                                         |
//! | [`benchmark`]    | the paper's protocol                                                  |
//!
//! ```
//! use probity_unlearning::spn::{Dataset, Domain, LeafFamily, SpnParameters, Variable};
//!
//! let age = Domain::Integer { min: 0, max: 120 };
//! let smokes = Domain::Categorical { levels: vec!["no".into(), "yes".into()] };
//! let variables = vec![
//!     Variable::new("age".into(), age, LeafFamily::Gaussian)?,
//!     Variable::new("smokes".into(), smokes, LeafFamily::Categorical)?,
//! ];
//! let values = [23., 1., 27., 1., 31., 0., 58., 0., 61., 0., 64., 1.];
//! let people = Dataset::new(variables, &[1, 2, 3, 4, 5, 6], &[], &values)?;
//!
//! let mut spn = SpnParameters::default().min_rows(2).seed(1).learn(people)?;
//! spn.delete(&[3, 5])?;
//! assert_eq!(spn.to_bytes()?, spn.retrained()?.to_bytes()?);
//!
//! let smokes_at_25 = spn.network().posterior(1, &[Some(25.), None])?[1];
//! assert!((0.0..=1.0).contains(&smokes_at_25));
//! # Ok::<(), probity_unlearning::spn::SpnError>(())
//! ```

pub mod benchmark;
pub mod choice;
pub mod clustering;
pub mod context;
pub mod dataset;
pub mod decide;
pub mod drawing;
pub mod errors;
pub mod independence;
pub mod infer;
pub mod kinds;
pub mod learn;
pub mod leaves;
pub mod mixture;
pub mod model;
pub mod moments;
pub mod network;
pub mod parameters;
pub mod row_delta;
pub mod serialise;
pub mod specification;
pub mod structure;
pub mod table;
pub mod unlearn;
pub mod variable;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_inference;

pub use dataset::Dataset;
pub use errors::SpnError;
pub use learn::Spn;
pub use network::Network;
pub use parameters::{Independence, SpnParameters};
pub use variable::{Domain, LeafFamily, Variable};
