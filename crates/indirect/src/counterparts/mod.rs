//! Counterparts: would somebody like this person, but of the other group, have been decided otherwise?
//!
//! Every member of a group is matched with people outside of it by optimal transport: of all ways to
//! spread the one group over the other, evenly on both sides, the one in which people move the least
//! on average. Who is decided otherwise than their counterpart is in the *flipset* (FlipTest: Black,
//! Yeom, Fredrikson, FAT* 2020). A causal model of the user's own may say the counterparts instead.
//!
//! ```text
//! specification ──► run ──► people, groups, coordinates ──► matching ──► flips ──► summary, pairs.csv
//! ```
//!
//! The difference between the two directions of the flipset is the difference between the two groups'
//! rates of favourable decisions, whatever the matching: both groups are used up by it. What the
//! matching adds is who is on each side of it, and in what they differ from their counterparts.

pub mod flips;
pub(crate) mod listing;
pub mod matching;
pub mod resampling;
pub mod run;
pub mod specification;
#[cfg(test)]
mod tests;

pub use listing::FILE as LISTING;
