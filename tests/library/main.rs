//! The library as a program uses it.

#[path = "../random_audit/mod.rs"]
mod random_audit;

mod audit_invariance;
mod golden;
mod population;
mod strategies;
mod weights;
