//! The names of the files of a run.

/// The name of the file with all options resolved.
pub const RUN: &str = "run.toml";
/// The name of the summary.
pub const SUMMARY: &str = "summary.json";
/// The name of the checkpoint of an unfinished run.
pub const CHECKPOINT: &str = "checkpoint.bin";
/// The name of the seal, which is signed.
pub const SEAL: &str = "seal.json";

/// The beginning of the names of files that belong to a checkpoint.
const SPILLED: &str = "spilled-";

/// Returns the name of the file number `number` that a run keeps beside its checkpoint.
pub fn spilled(number: usize) -> String {
    format!("{SPILLED}{number:06}")
}

/// Returns whether `name` is the name of such a file.
pub fn is_spilled(name: &str) -> bool {
    let number = name.strip_prefix(SPILLED);
    number.is_some_and(|number| {
        number.len() >= 6 && number.len() < 20 && number.bytes().all(|c| c.is_ascii_digit())
    })
}
