//! Models from which rows can be removed exactly: after a deletion they equal, bit for bit, what
//! training on the remaining rows gives.
//!
//! | module         | what is there                                                        |
//! |----------------|----------------------------------------------------------------------|
//! | [`kmeans`]     | Lloyd's algorithm, quantized and divide-and-conquer k-means          |
//! | [`spn`]        | sum-product networks                                                 |
//! | [`spread`]     | mean and standard deviation of repeated measurements                 |

pub mod kmeans;
pub mod spn;
pub mod spread;
mod vectors;
