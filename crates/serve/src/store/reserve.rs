//! A reserve of room for the next change when the disk is full.
//!
//! A deletion has to be written down before it frees anything. So a file of random bytes, which no
//! file system stores smaller, lies beside the database; it is removed when a change finds the disk
//! full, and put back once there is room again. As long as it is missing, or less than its size is
//! free, nothing is added, so that the room is used by deletions.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::identifier::random_bytes;

/// The name of the file in the data directory.
const RESERVE: &str = "reserve";

/// The number of bytes of the file: enough for many changes.
const BYTES: usize = 1 << 20;

/// How many times its size must be free on the disk before the file is put back.
const FREE: u64 = 16;

/// The reserve of a database.
pub(super) struct Reserve(PathBuf);

impl Reserve {
    /// The reserve of the database in `directory`.
    pub fn new(directory: &Path) -> Reserve {
        Reserve(directory.join(RESERVE))
    }

    /// Gives the reserve up; false when it was given up before.
    pub fn give_up(&self) -> bool {
        fs::remove_file(&self.0).is_ok()
    }

    /// Puts the reserve back, where it is missing and there is room; returns whether something may
    /// be added now.
    pub fn restore(&self) -> bool {
        let free = self.free();
        if !self.0.exists() && free > FREE * BYTES as u64 && self.fill().is_err() {
            self.give_up();
        }
        self.0.exists() && free > BYTES as u64
    }

    fn fill(&self) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(BYTES);
        while bytes.len() < BYTES {
            bytes.extend(random_bytes::<4096>().map_err(io::Error::other)?);
        }
        fs::write(&self.0, bytes)
    }

    /// The number of bytes that are free on the reserve's disk; a very large one where nobody can
    /// say.
    #[cfg(unix)]
    #[allow(clippy::useless_conversion)] // Blocks are counted in 32 bits on some systems.
    fn free(&self) -> u64 {
        let folder = self.0.parent().unwrap_or(Path::new("."));
        nix::sys::statvfs::statvfs(folder).map_or(u64::MAX, |about| {
            u64::from(about.blocks_available()).saturating_mul(about.fragment_size())
        })
    }

    #[cfg(not(unix))]
    fn free(&self) -> u64 {
        u64::MAX
    }
}
