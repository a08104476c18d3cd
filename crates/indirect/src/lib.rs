//! Indirect discrimination: what becomes of people whose protected attribute the decision never saw.
//!
//! A model that is not given sex cannot flip when sex does, and recorded decisions cannot be asked
//! again. What can be asked is whether people who are alike but for their group were decided alike:
//!
//! ```text
//! people::PeopleReader ──► people::OpenedPeople ──► coordinates ─┬─► neighbours ──► situations
//! (schema, model,          (groups, what             (a distance  │   (nearest of a group)
//!  or outcomes)             was decided)              of people)  └─► transport ───► counterparts
//!                                                                     (a whole group moved to the other)
//! ```
//!
//! [`situations`] compares each person with those nearest of the own and of the other group, [`counterparts`] each
//! with somebody of the other group so that all move the least; [`explained`] tells of one person beside these;
//! [`proxies`] says how well the other attributes tell the group. None of it is a causal claim: people are alike in what the data know about them.

pub mod coordinates;
pub mod counterparts;
pub mod error;
pub mod explained;
pub mod hidden;
pub mod neighbours;
pub mod people;
pub mod proxies;
pub mod situations;
mod tests_of_shares;
pub mod transport;
