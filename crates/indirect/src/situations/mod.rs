//! Situation testing: was a person decided otherwise than people like them of the other group?
//!
//! For every member of a protected group, two neighbourhoods are looked at: the `k` nearest members,
//! and the `k` nearest people who are none. If the share of unfavourable decisions is larger among
//! the members, people in this situation are treated worse where they belong to the group
//! (Luong, Ruggieri, Turini, KDD 2011). With counterfactuals the others are looked for around what
//! the person would have been outside of the group (Álvarez, Ruggieri, JAIR 82, 2025).
//!
//! ```text
//! specification ──► run ──► people, groups, coordinates ──► compare ──► summary, persons.csv
//! ```

pub mod compare;
pub(crate) mod listing;
pub mod run;
pub mod specification;

pub use listing::FILE as LISTING;
