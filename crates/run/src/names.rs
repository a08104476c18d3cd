//! The names of the files of a run.

/// Name of the file with all options resolved.
pub const RUN: &str = "run.toml";
/// Name of the summary.
pub const SUMMARY: &str = "summary.json";
/// Name of the checkpoint of an unfinished run.
pub const CHECKPOINT: &str = "checkpoint.bin";
/// Name of the seal, which is signed.
pub const SEAL: &str = "seal.json";

/// What the names of files begin with that belong to a checkpoint.
const SPILLED: &str = "spilled-";

/// Name of the file number `number` of what a run keeps beside its checkpoint.
pub fn spilled(number: usize) -> String {
    format!("{SPILLED}{number:06}")
}

/// Whether `name` is of such a file.
pub fn is_spilled(name: &str) -> bool {
    let number = name.strip_prefix(SPILLED);
    number.is_some_and(|number| {
        number.len() >= 6 && number.len() < 20 && number.bytes().all(|c| c.is_ascii_digit())
    })
}
