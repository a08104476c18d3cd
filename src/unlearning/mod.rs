//! Models that forget rows exactly: with the seed fixed, deleting rows gives bit for bit the model that
//! training on the remaining rows gives.

pub mod model_file;
pub mod spn;
