//! Runs that are cut into shards, on which machines work that know nothing of each other.
//!
//! ```text
//! shard 1/3 ─► items 0 … 33 ──► global-1-of-3.shard ┐
//! shard 2/3 ─► items 34 … 66 ─► global-2-of-3.shard ├─► merge ─► the run directory
//! shard 3/3 ─► items 67 … 99 ─► global-3-of-3.shard ┘
//! ```
//!
//! The items of a run (seeds, test inputs, searches, repeats) are numbered; shard *i* of *n* does
//! the *i*-th of *n* blocks of neighbouring numbers. Every random draw is keyed by the number of
//! its item, so what is done for an item does not depend on the shard, and a merge that takes the
//! blocks in their order comes to what one machine comes to. Where items meet (two seeds that lead
//! to one input), the kind of run says how the single machine settles it, and settles it so.
//!
//! All shards of a run write into one [`ShardFolder`], that of a shared file system or copies of it
//! put together: the specification ([`RUN`](crate::run_directory::RUN)), and a sealed [`ShardFile`]
//! for each, which is never changed. A shard whose file is there has nothing to do; so whatever was
//! lost is done by running all shards again. A file names the run that it belongs to by the
//! [`identity`] of its specification and the hashes of what was opened; paths, which differ between
//! machines, are no part of it.
//!
//! [`Items`] is all that a kind of run with one stage has to say.

mod file;
mod folder;
mod items;

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::str::FromStr;

use sha2::{Digest, Sha256};
use thiserror::Error;

pub use file::{Section, ShardFile, Writer};
pub use folder::{ShardFolder, Stage};
pub use items::{Items, Worked, merged, work};

use crate::error::RunError;
use crate::hash::hex;
use crate::specification::file::{Record, SpecificationError};
use crate::specification::{Specification, dotted};

/// The largest number of shards that a run can be cut into.
pub const MOST_SHARDS: u32 = 100_000;

/// A shard out of several: `3/16`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shard {
    number: u32,
    of: u32,
}

impl Shard {
    /// Creates shard `number`, from 1, of `of`.
    ///
    /// # Errors
    /// [`ShardError::Form`]
    pub fn new(number: u32, of: u32) -> Result<Shard, ShardError> {
        match (1..=of).contains(&number) && of <= MOST_SHARDS {
            true => Ok(Shard { number, of }),
            false => Err(ShardError::Form {
                given: format!("{number}/{of}"),
            }),
        }
    }

    /// Returns the shard's number, from 1.
    pub fn number(self) -> u32 {
        self.number
    }

    /// Returns the number of shards.
    pub fn count(self) -> u32 {
        self.of
    }

    /// Iterates over all shards of a run that is cut into as many.
    pub fn all(self) -> impl Iterator<Item = Shard> {
        let of = self.of;
        (1..=of).map(move |number| Shard { number, of })
    }

    /// Returns the shard's items of `all`: a block, as long as any other or longer or shorter by
    /// one.
    pub fn items(self, all: u64) -> Range<u64> {
        let end = |number: u32| {
            // A product of 64 and 32 bits.
            let end = u128::from(all) * u128::from(number) / u128::from(self.of);
            end as u64
        };
        end(self.number - 1)..end(self.number)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Shard, ShardError> {
        let form = || ShardError::Form {
            given: text.to_owned(),
        };
        let (number, of) = text.split_once('/').ok_or_else(form)?;
        let whole = |part: &str| match part.bytes().all(|byte| byte.is_ascii_digit()) {
            true => part.parse().map_err(|_| form()),
            false => Err(form()),
        };
        Shard::new(whole(number)?, whole(of)?)
    }
}

/// The part of a run that is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// The whole run, here.
    Whole,
    /// A shard.
    Shard {
        /// The folder that all shards share.
        folder: PathBuf,
        /// The shard.
        shard: Shard,
    },
    /// The merge, which puts the shards together.
    Merge {
        /// The folder of the shards.
        folder: PathBuf,
    },
}

/// The reason why shards cannot be run or merged.
#[derive(Debug, Error)]
pub enum ShardError {
    /// The text names no shard.
    #[error(
        "'{given}' is no shard: which of how many is expected, such as 3/16, of at most {MOST_SHARDS}"
    )]
    Form {
        /// The text that was given.
        given: String,
    },
    /// The work of the kind of run is no set of items.
    #[error("a run of the kind '{kind}' cannot be cut into shards")]
    Indivisible {
        /// The kind.
        kind: &'static str,
    },
    /// A file cannot be read or written, or is not what it should be.
    #[error("{0}")]
    Run(#[from] RunError),
    /// The specification of the run cannot be read.
    #[error("{0}")]
    Specification(#[from] SpecificationError),
    /// The file is another run's shard, or one with other inputs.
    #[error(
        "{} belongs to another run: other options, model or data, or another version of probity; use another folder",
        file.display()
    )]
    Foreign {
        /// The file.
        file: PathBuf,
    },
    /// The shards of the folder are of other options.
    #[error(
        "{field} is {now}, but {then} in the run that {} holds shards of; use another folder",
        folder.display()
    )]
    OtherOption {
        /// The folder.
        folder: PathBuf,
        /// The first field that differs.
        field: String,
        /// The value of the field now.
        now: String,
        /// The value of the field in the run of the shards.
        then: String,
    },
    /// The inputs that the shards of the folder opened differ from those that are opened now.
    #[error(
        "the {role} is not the one that the shards in {} were made with (SHA-256 {now}, theirs {then}); use another folder",
        folder.display()
    )]
    OtherInput {
        /// The folder.
        folder: PathBuf,
        /// The role in which the input was opened.
        role: String,
        /// The hash of the input now.
        now: String,
        /// The hash of the input that the shards opened.
        then: String,
    },
    /// A file has the name of another shard.
    #[error("{} holds {found}, under another name; rename it back, or remove it", file.display())]
    Misnamed {
        /// The file.
        file: PathBuf,
        /// The shard that the file holds.
        found: String,
    },
    /// A file is not as it was written.
    #[error("{} was changed after it was written; {remedy}", file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// Advice on what makes the file anew.
        remedy: String,
    },
    /// The folder is that of a complete run.
    #[error("{} holds a run that is complete, and no shards; choose another folder", folder.display())]
    Complete {
        /// The folder.
        folder: PathBuf,
    },
    /// The run is cut in two ways.
    #[error(
        "{} is one of {found} shards, and this run is cut into {expected}; use another folder, or remove the shards of one of the two",
        file.display()
    )]
    OtherCut {
        /// The file.
        file: PathBuf,
        /// The number of shards into which the run was cut.
        found: u32,
        /// The number of shards into which the run is cut.
        expected: u32,
    },
    /// The folder holds no shard at all.
    #[error("{} holds no shards of the stage '{stage}'; run them first", folder.display())]
    None {
        /// The folder.
        folder: PathBuf,
        /// The stage.
        stage: &'static str,
    },
    /// Shards are missing.
    #[error("{}", missing(folder, stage, shards))]
    Missing {
        /// The folder.
        folder: PathBuf,
        /// The stage.
        stage: &'static str,
        /// The shards.
        shards: Vec<Shard>,
    },
}

fn missing(folder: &std::path::Path, stage: &str, shards: &[Shard]) -> String {
    const NAMED: usize = 20;
    let mut named: Vec<String> = shards.iter().take(NAMED).map(Shard::to_string).collect();
    if shards.len() > NAMED {
        named.push(format!("{} more", shards.len() - NAMED));
    }
    let first = shards.first().map(Shard::to_string).unwrap_or_default();
    let folder = folder.display();
    format!(
        "{folder} lacks shards of the stage '{stage}': {}; run them, such as with: probity run {folder} --shard {first}",
        named.join(", ")
    )
}

/// Returns the hash of what shards must belong to: the specification but for its free fields and
/// its paths, the hashes of what was opened under them, and the version of Probity, whose shards
/// are private to it.
pub fn identity<S: Specification>(specification: &S, record: &Record) -> String {
    let mut without = specification.clone();
    if let Ok(mut value) = serde_json::to_value(specification) {
        for field in S::fields() {
            let found = dotted::get_mut(&mut value, &field.path);
            if let Some(found) = found.filter(|_| field.is_path()) {
                blank(found);
            }
        }
        if let Ok(blanked) = S::from_json(&value) {
            without = blanked;
        }
    }
    let mut hasher = Sha256::new();
    hasher.update(env!("CARGO_PKG_VERSION"));
    hasher.update(without.identity());
    hasher.update(record.device.as_deref().unwrap_or_default());
    for (role, hash) in &record.sha256 {
        hasher.update(format!("{role}={hash};"));
    }
    hex(&hasher.finalize())
}

fn blank(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::String(path) => path.clear(),
        serde_json::Value::Array(paths) => paths.iter_mut().for_each(blank),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Every item is in one shard, in order, and no shard has two more than another.
        #[test]
        fn shards_are_blocks_of_all_items(all in 0u64..10_000, of in 1u32..200) {
            let mut next = 0;
            for shard in Shard::new(1, of).unwrap().all() {
                let items = shard.items(all);
                prop_assert_eq!(items.start, next);
                let least = all / u64::from(of);
                prop_assert!((least..=least + 1).contains(&(items.end - items.start)));
                next = items.end;
            }
            prop_assert_eq!(next, all);
        }
    }

    #[test]
    fn a_shard_is_written_as_which_of_how_many() {
        let shard: Shard = "3/16".parse().unwrap();
        assert_eq!((shard.number(), shard.count()), (3, 16));
        assert_eq!(shard.to_string(), "3/16");
        for wrong in [
            "", "3", "0/4", "5/4", "-1/4", "+1/4", "1/0", "1/100001", "1/ 4", "a/b", "1/2/3",
        ] {
            let refused = wrong.parse::<Shard>().unwrap_err().to_string();
            assert!(refused.contains("3/16"), "{refused}");
        }
        let whole: Shard = "7/7".parse().unwrap();
        assert_eq!(whole.items(u64::MAX).end, u64::MAX);
    }
}
