//! Individual discrimination in texts (ADF, Algorithms 2, 5, 6 and 10).
//!
//! What is the same for tables and texts is in [`crate`]; here is what differs: [`domain::TextDomain`] finds protected
//! terms and makes variants; [`strategy::TextStrategy`] replaces words by near neighbours in the embedding table;
//! [`limits::Limits`] keeps a search near its seeds; [`render`] turns ids back into readable text; [`judge`] measures
//! how close a text stays to its seed.

pub mod domain;
pub mod encoder;
pub mod judge;
pub mod limits;
pub mod neighbourhood;
pub mod probabilities;
pub mod protected;
pub mod render;
pub mod sentence;
pub mod strategy;
