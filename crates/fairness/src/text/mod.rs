//! Individual discrimination in texts (ADF, Algorithms 2, 5, 6 and 10).
//!
//! This module is what differs for texts; the parts that tables and texts share are in [`crate`].
//! [`protected::Protected`] reads texts into [`source::Source`]s, which say what may be exchanged
//! where; [`domain::TextDomain`] makes variants of them; [`strategy::TextStrategy`] replaces words
//! by near neighbours in the embedding table; [`limits::Limits`] keeps a search near its seeds;
//! [`render`] turns ids back into readable text, by which [`asked`] asks classifiers that know no
//! ids, in the words of [`vocabulary`]; [`judge`] measures how close a text stays to its seed.
//! [`preset::Preset`] says by which rules: those of English, or those of the paper.

pub mod asked;
pub mod domain;
pub mod edits;
pub mod encoder;
pub mod exchange_counts;
pub mod exchanged;
pub mod fitting;
pub mod fluency;
pub mod judge;
pub mod limits;
pub mod mean_vectors;
pub mod neighbourhood;
pub mod network;
pub mod preset;
pub mod probabilities;
pub mod protected;
pub mod render;
pub mod sentence;
pub mod source;
pub mod strategy;
pub mod terms;
pub mod values;
pub mod vocabulary;
