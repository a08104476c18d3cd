//! Proofs about a whole domain: how many combinations of values a network treats alike whatever the
//! protected attributes are, and how many it does not, bounded from both sides.
//!
//! The domain is cut into boxes ([`partition`]). Of each box it is counted, not decided as a whole,
//! how many of its points are fair and how many discriminatory ([`decide`]), by bounds on the lead of
//! one class over another that are sums over the attributes ([`relaxation`]) and the exact or
//! outward-rounded distribution of such sums ([`count`]). What is proved is about the classes that
//! the reference device (flex) computes in its 32 bits: [`network`] bounds what these may err by.
//! [`run`] is all of it as one call; [`verify`] checks a run by other means.
//!
//! docs/proofs.md states the theorem and proves it.

pub mod boxes;
pub mod count;
pub mod decide;
pub mod draw;
pub mod measure;
pub mod network;
pub mod partition;
pub mod population;
mod product;
pub mod relaxation;
pub mod run;
pub mod search;
pub mod specification;
pub mod summary;
#[cfg(test)]
mod tests;
pub mod verify;
mod within;
