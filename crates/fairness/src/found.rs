//! The pairs that a search has found: the latest in memory, earlier ones in files of its run, where
//! memory is bounded.
//!
//! Pairs are only ever added and gone through in order, so whatever is beyond the bound is written
//! away as it stands, a file of some megabytes at a time, and never changed. A checkpoint holds the
//! pairs in memory, and of each file how many pairs are in it and its hash: what a file holds is
//! part of the state as if it were in the checkpoint, and a search that is killed goes on from the
//! files that its checkpoint knows; later ones are written over. A file that cannot be written, as
//! on a full disk, stays in memory.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::pairs::{Pair, PairSource, PairStore};
use probity_run::run_directory::{RunError, file_sha256, spilled};
use probity_run::sealed::{Form, read_value, write_value};

/// The form of files of pairs, which are private to the version that writes them, as checkpoints
/// are.
const FORM: Form = Form {
    kind: "pairs of a search",
    version: env!("CARGO_PKG_VERSION"),
};

/// The approximate size of the pairs of a file in bytes: what reading one takes.
const FILE_BYTES: usize = 32 << 20;

/// Pairs in the order found.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct FoundPairs {
    files: Vec<SpilledFile>,
    kept: PairStore,
    #[serde(skip)]
    beyond: Option<Beyond>,
}

/// A file of earlier pairs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct SpilledFile {
    pairs: u64,
    sha256: String,
}

/// The folder that pairs beyond a bound go to, and the bound.
#[derive(Debug, Clone)]
struct Beyond {
    folder: PathBuf,
    bytes: usize,
}

impl FoundPairs {
    /// An empty store, for rows of `width` codes and models of `classes` classes.
    pub fn new(width: usize, classes: usize) -> FoundPairs {
        FoundPairs {
            kept: PairStore::new(width, classes),
            ..FoundPairs::default()
        }
    }

    /// Lets pairs beyond `bytes` in memory go to `folder` from now on, where earlier ones already
    /// are.
    pub(super) fn spill_to(&mut self, folder: PathBuf, bytes: u64) {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        self.beyond = Some(Beyond { folder, bytes });
    }

    /// Number of pairs.
    pub fn len(&self) -> u64 {
        let spilled: u64 = self.files.iter().map(|file| file.pairs).sum();
        spilled + self.kept.len() as u64
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The pairs in memory: all, where memory has no bound.
    pub fn kept(&self) -> &PairStore {
        &self.kept
    }

    /// The pairs in memory, by value.
    pub fn into_kept(self) -> PairStore {
        self.kept
    }

    /// Adds a pair.
    pub(super) fn push(&mut self, pair: &Pair<'_>) {
        self.kept.push(pair);
    }

    /// Keeps the pairs in memory within the bound, after pairs were added. Lists that grow take
    /// twice the room, so it is kept to half of it.
    pub(super) fn keep_to_bound(&mut self) {
        let Some(beyond) = &self.beyond else {
            return;
        };
        if self.kept.bytes() <= beyond.bytes / 2 {
            return;
        }
        // What cannot be written stays; it is tried again once there is more.
        if let Ok(files) = self.written(beyond) {
            self.files.extend(files);
            self.kept.clear_all();
        }
    }

    /// Writes the pairs in memory to new files, and returns these.
    fn written(&self, beyond: &Beyond) -> Result<Vec<SpilledFile>, RunError> {
        let bytes = self.kept.bytes() / self.kept.len().max(1);
        let each = (FILE_BYTES / bytes.max(1)).max(1);
        let mut files = Vec::new();
        for first in (0..self.kept.len()).step_by(each) {
            let part = self.kept.part(first..first + each);
            let number = self.files.len() + files.len();
            let file = beyond.folder.join(spilled(number));
            write_value(&file, FORM, &part)?;
            files.push(SpilledFile {
                pairs: part.len() as u64,
                sha256: file_sha256(&file)?,
            });
        }
        Ok(files)
    }

    /// Gives every pair, those of files in `folder` first.
    ///
    /// # Errors
    /// When a file is missing or not as it was written, or what `each` says.
    pub(super) fn try_each(
        &self,
        folder: &Path,
        each: &mut dyn FnMut(&PairStore) -> Result<(), String>,
    ) -> Result<(), String> {
        for number in 0..self.files.len() {
            each(
                &self
                    .read(folder, number)
                    .map_err(|error| error.to_string())?,
            )?;
        }
        each(&self.kept)
    }

    fn read(&self, folder: &Path, number: usize) -> Result<PairStore, RunError> {
        let (file, place) = (&self.files[number], folder.join(spilled(number)));
        if file_sha256(&place)? != file.sha256 {
            return Err(RunError::Changed { file: place });
        }
        let pairs: PairStore = read_value(&place, FORM)?;
        match pairs.len() as u64 == file.pairs {
            true => Ok(pairs),
            false => Err(RunError::Changed { file: place }),
        }
    }
}

impl PairSource for FoundPairs {
    fn blocks(
        &self,
        size: usize,
        each: &mut dyn FnMut(&[Pair<'_>]) -> io::Result<()>,
    ) -> io::Result<()> {
        // Without a folder there are no files.
        let folder = self.beyond.as_ref().map(|beyond| beyond.folder.as_path());
        for number in 0..self.files.len() {
            let pairs = self.read(folder.unwrap_or(Path::new("")), number);
            pairs.map_err(io::Error::other)?.blocks(size, each)?;
        }
        self.kept.blocks(size, each)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::pairs::Phase;

    fn pair(number: u32) -> ([i32; 3], [f32; 2]) {
        let number = number as i32;
        ([number, -number, 7], [number as f32, 0.5])
    }

    fn add(pairs: &mut FoundPairs, numbers: std::ops::Range<u32>) {
        for number in numbers {
            let (row, logits) = pair(number);
            pairs.push(&Pair {
                seed: u64::from(number),
                phase: Phase::Local,
                step: number,
                row: &row,
                variant: number % 2,
                label: 0,
                other_label: 1,
                logits: &logits,
                other_logits: &logits,
            });
            pairs.keep_to_bound();
        }
    }

    fn seeds(pairs: &FoundPairs) -> Vec<u64> {
        let mut seeds = Vec::new();
        let each = &mut |block: &[Pair<'_>]| {
            for found in block {
                let (row, logits) = pair(found.step);
                assert_eq!((found.row, found.logits), (&row[..], &logits[..]));
                seeds.push(found.seed);
            }
            Ok(())
        };
        pairs.blocks(10, each).unwrap();
        seeds
    }

    #[test]
    fn pairs_beyond_the_bound_are_those_that_were_added() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().to_owned();
        let mut pairs = FoundPairs::new(3, 2);
        pairs.spill_to(place.clone(), 4096);
        add(&mut pairs, 0..1000);
        assert!(pairs.files.len() > 10 && pairs.kept().bytes() <= 2048);
        assert_eq!(pairs.len(), 1000);
        assert_eq!(seeds(&pairs), Vec::from_iter(0..1000));
        // A checkpoint of now goes on without what came after it.
        let saved = probity_run::sealed::encode(&pairs).unwrap();
        add(&mut pairs, 1000..1500);
        let mut pairs: FoundPairs = probity_run::sealed::decode(&saved).unwrap();
        pairs.spill_to(place.clone(), 4096);
        assert_eq!(seeds(&pairs), Vec::from_iter(0..1000));
        add(&mut pairs, 1000..2000);
        assert_eq!(seeds(&pairs), Vec::from_iter(0..2000));
        // A file of another search, or none, is found out.
        fs::copy(place.join("spilled-000001"), place.join("spilled-000002")).unwrap();
        assert!(pairs.blocks(10, &mut |_| Ok(())).is_err());
        fs::remove_file(place.join("spilled-000002")).unwrap();
        assert!(pairs.try_each(&place, &mut |_| Ok(())).is_err());
    }

    #[test]
    fn what_cannot_be_written_stays_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("run");
        fs::write(&place, "in the way").unwrap();
        let mut pairs = FoundPairs::new(3, 2);
        pairs.spill_to(place.clone(), 4096);
        add(&mut pairs, 0..100);
        assert_eq!(pairs.kept().len(), 100);
        fs::remove_file(&place).unwrap();
        add(&mut pairs, 100..200);
        assert!(pairs.kept().len() < 100);
        assert_eq!(seeds(&pairs), Vec::from_iter(0..200));
    }
}
