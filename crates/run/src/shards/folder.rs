//! The folder of a run that is cut: what it is asked for, and the files of its shards.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::file::{ShardFile, Writer, write};
use super::{Shard, ShardError, identity};
use crate::atomic::write_among_others;
use crate::error::RunError;
use crate::names::{RUN, SUMMARY};
use crate::output_file::expect_outside;
use crate::run_directory::RunDirectory;
use crate::specification::Specification;
use crate::specification::file::{Record, SpecificationError, read, to_run_toml};

/// A part of a run that ends before the next one begins, such as `global`.
pub type Stage = &'static str;

/// The number that stands for the one shard of a stage that puts all shards of the stage before
/// together.
const MERGED: Shard = Shard { number: 1, of: 1 };

/// A folder that shards of one run are written to.
#[derive(Debug, Clone)]
pub struct ShardFolder {
    path: PathBuf,
    identity: String,
}

impl ShardFolder {
    /// The folder `path` for shards of the run of `specification` that opened what `record` says.
    /// It is made if it is not there. Several shards may come at once.
    ///
    /// # Errors
    /// When it cannot be made, lies in a directory that belongs to something else, or holds another
    /// run.
    pub fn for_run<S: Specification>(
        path: &Path,
        specification: &S,
        record: &Record,
    ) -> Result<ShardFolder, ShardError> {
        let folder = ShardFolder {
            path: path.to_owned(),
            identity: identity(specification, record),
        };
        if folder.path.join(SUMMARY).exists() {
            // A run that is complete takes no more files.
            return Err(RunError::NotEmpty {
                directory: folder.path,
            }
            .into());
        }
        let file = folder.path.join(RUN);
        if !file.is_file() {
            expect_outside(path).map_err(|error| {
                let problem = io::Error::other(error.to_string());
                RunError::Write {
                    file: path.to_owned(),
                    source: problem,
                }
            })?;
            folder.expect_only_shards()?;
            let text = to_run_toml(specification, record, &file)?;
            // Whoever comes second writes the same.
            write_among_others(&file, |out| io::Write::write_all(out, text.as_bytes()))?;
        }
        folder.expect_run::<S>()?;
        Ok(folder)
    }

    /// Whether `out` holds the run of these shards, complete.
    ///
    /// # Errors
    /// When what it holds cannot be read.
    pub fn is_merged_in<S: Specification>(&self, out: &Path) -> Result<bool, ShardError> {
        let Some(run) = RunDirectory::open_if_specified(out)? else {
            return Ok(false);
        };
        if !run.file(SUMMARY).is_file() {
            return Ok(false);
        }
        match read::<S>(&run.file(RUN)) {
            Ok((found, record)) => {
                Ok(identity(&found, &record.unwrap_or_default()) == self.identity)
            }
            Err(SpecificationError::Kind { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// That what stands here was asked for by the run that this folder is opened for.
    fn expect_run<S: Specification>(&self) -> Result<(), ShardError> {
        let file = self.path.join(RUN);
        let (found, record) = read::<S>(&file).map_err(|error| match error {
            SpecificationError::Kind { file, .. } => ShardError::Foreign { file },
            other => other.into(),
        })?;
        match identity(&found, &record.unwrap_or_default()) == self.identity {
            true => Ok(()),
            false => Err(ShardError::Foreign { file }),
        }
    }

    /// That a folder that holds no run yet holds nothing else either, but for temporary files and
    /// copies of shards.
    fn expect_only_shards(&self) -> Result<(), RunError> {
        let failed = |source| RunError::Write {
            file: self.path.clone(),
            source,
        };
        fs::create_dir_all(&self.path).map_err(failed)?;
        for entry in fs::read_dir(&self.path).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let name = name.to_string_lossy();
            let is_ours = [".shard", ".merged"].iter().any(|end| name.ends_with(end));
            if !name.starts_with('.') && !is_ours && name != RUN {
                return Err(RunError::NotEmpty {
                    directory: self.path.clone(),
                });
            }
        }
        Ok(())
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file of `shard` of `stage`.
    pub fn file(&self, stage: Stage, shard: Shard) -> PathBuf {
        let (number, of) = (shard.number(), shard.of());
        self.path.join(format!("{stage}-{number}-of-{of}.shard"))
    }

    /// Writes the file of `shard` of `stage`: `head`, and what `sections` writes.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(
        &self,
        stage: Stage,
        shard: Shard,
        head: &impl Serialize,
        sections: impl FnOnce(&mut Writer<'_>) -> io::Result<()>,
    ) -> Result<(), ShardError> {
        let owner = (&*self.identity, stage, shard);
        Ok(write(&self.file(stage, shard), owner, head, sections)?)
    }

    /// The file of `shard` of `stage`, if it is there.
    ///
    /// # Errors
    /// When it is not of this run or this cut.
    pub fn done(&self, stage: Stage, shard: Shard) -> Result<Option<ShardFile>, ShardError> {
        self.expect_cut(stage, shard.of())?;
        let file = self.file(stage, shard);
        match fs::exists(&file) {
            Ok(true) => {}
            _ => return Ok(None),
        }
        match ShardFile::open(&file, (&self.identity, stage, shard)) {
            Ok(found) => Ok(Some(found)),
            // A copy that was cut short is made anew.
            Err(ShardError::Run(RunError::Changed { .. })) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes what puts the shards of a stage together, as the file `name`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_merged(
        &self,
        name: Stage,
        head: &impl Serialize,
        sections: impl FnOnce(&mut Writer<'_>) -> io::Result<()>,
    ) -> Result<(), ShardError> {
        let owner = (&*self.identity, name, MERGED);
        Ok(write(&self.merged_file(name), owner, head, sections)?)
    }

    fn merged_file(&self, name: Stage) -> PathBuf {
        self.path.join(format!("{name}.merged"))
    }

    /// The file `name` that puts the shards of a stage together, if it is there.
    ///
    /// # Errors
    /// When it is not of this run, or was changed.
    pub fn merged(&self, name: Stage) -> Result<Option<ShardFile>, ShardError> {
        let file = self.merged_file(name);
        match fs::exists(&file) {
            Ok(true) => ShardFile::open(&file, (&self.identity, name, MERGED)).map(Some),
            _ => Ok(None),
        }
    }

    /// Into how many shards `stage` is cut, by what is there; `None` where nothing is.
    ///
    /// # Errors
    /// When it is cut in two ways.
    pub fn cut(&self, stage: Stage) -> Result<Option<u32>, ShardError> {
        let found = self.found(stage)?;
        let mut cuts = found.iter();
        let Some((_, first)) = cuts.next() else {
            return Ok(None);
        };
        match cuts.find(|(_, shard)| shard.of() != first.of()) {
            None => Ok(Some(first.of())),
            Some((file, other)) => Err(ShardError::OtherCut {
                file: file.clone(),
                found: other.of(),
                expected: first.of(),
            }),
        }
    }

    fn expect_cut(&self, stage: Stage, expected: u32) -> Result<(), ShardError> {
        let others = self.found(stage)?;
        match others.into_iter().find(|(_, shard)| shard.of() != expected) {
            None => Ok(()),
            Some((file, other)) => Err(ShardError::OtherCut {
                file,
                found: other.of(),
                expected,
            }),
        }
    }

    /// The files of `stage` by name, whatever they hold.
    fn found(&self, stage: Stage) -> Result<BTreeMap<PathBuf, Shard>, ShardError> {
        let failed = |source| RunError::Read {
            file: self.path.clone(),
            source,
        };
        let mut found = BTreeMap::new();
        for entry in fs::read_dir(&self.path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name();
            let shard = name.to_str().and_then(|name| {
                let rest = name.strip_prefix(stage)?.strip_prefix('-')?;
                let (number, of) = rest.strip_suffix(".shard")?.split_once("-of-")?;
                Shard::new(number.parse().ok()?, of.parse().ok()?).ok()
            });
            if let Some(shard) = shard {
                found.insert(entry.path(), shard);
            }
        }
        Ok(found)
    }

    /// The files of all shards of `stage`, in their order, each checked.
    ///
    /// # Errors
    /// When shards are missing, changed, of another run or another cut.
    pub fn all(&self, stage: Stage) -> Result<Vec<ShardFile>, ShardError> {
        let Some(of) = self.cut(stage)? else {
            return Err(ShardError::None {
                folder: self.path.clone(),
                stage,
            });
        };
        let shards = || (1..=of).map(|number| Shard { number, of });
        let is_missing = |shard: &Shard| !self.file(stage, *shard).is_file();
        let missing: Vec<Shard> = shards().filter(is_missing).collect();
        if !missing.is_empty() {
            return Err(ShardError::Missing {
                folder: self.path.clone(),
                stage,
                shards: missing,
            });
        }
        let open = |shard| {
            let file = self.file(stage, shard);
            ShardFile::open(&file, (&self.identity, stage, shard))
        };
        shards().map(open).collect()
    }
}
