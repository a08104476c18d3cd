//! What users can do: one function for each thing, shared by the API and the pages.
//!
//! Every function checks what it is given, does it, and gives the result or a [`super::problem::Problem`].

pub mod data;
pub mod form;
pub mod inspect;
pub mod jobs;
pub mod models;
pub mod results;
pub mod schema;
pub mod specifications;
mod texts;
