//! The names of the files of a run.

/// Name of the file with all options resolved.
pub const RUN: &str = "run.toml";
/// Name of the summary.
pub const SUMMARY: &str = "summary.json";
/// Name of the checkpoint of an unfinished run.
pub const CHECKPOINT: &str = "checkpoint.bin";
/// Name of the seal, which is signed.
pub const SEAL: &str = "seal.json";
