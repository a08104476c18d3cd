//! Interval bound propagation: bounds on a network's outputs over a set of inputs (Gowal et al.: On
//! the Effectiveness of Interval Bound Propagation for Training Verifiably Robust Models, 2018).
//!
//! * [`fnn`]: networks on tables, over sets of codes of the protected attributes.
//! * [`recurrent`]: networks on texts, over replacements of a word.
//!
//! Both bound the numbers that the reference device computes in its own 32 bits, not only the real
//! ones; each module states its theorem and its proof.

pub mod fnn;

pub use super::recurrent::interval as recurrent;
