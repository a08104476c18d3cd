//! Individual discrimination in texts (ADF, Algorithms 2, 5, 6 and 10).
//!
//! The driver, the counting and the run directory are those of tables ([`crate`]); here is
//! what differs: [`domain::TextDomain`] finds protected terms and makes variants;
//! [`strategy::TextStrategy`] replaces words by near neighbours in the embedding table;
//! [`limits::Limits`] keeps a search near its seeds; [`render`] turns ids back into readable
//! text; [`samples`] writes pairs with their validity; [`verify`] re-checks them from their text
//! alone; [`audit`] is all of it as one call; [`repair`] retrains a model that was found wanting.

pub mod audit;
pub mod domain;
mod encoder;
pub mod judge;
pub mod limits;
pub mod neighbourhood;
pub mod options;
pub mod protected;
pub mod render;
pub mod repair;
pub mod samples;
pub mod sentence;
pub mod strategy;
pub mod summary;
pub mod verify;
