//! Tests of which columns of some rows depend on each other.
//!
//! Both tests give pairwise dependences; the columns fall into the connected components of their
//! graph. Columns of different components go to different children of a product node.

mod brought;
pub mod components;
pub mod gtest;
pub mod rdc;
mod sets;
