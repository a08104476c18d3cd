//! The folder of a run that is cut: the specification of the run, and the files of its shards.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::file::{ShardFile, Writer, write};
use super::{Shard, ShardError, identity};
use crate::atomic::{remove_leftovers, write_among_others};
use crate::error::{RunError, foreign};
use crate::names::{RUN, SUMMARY};
use crate::output_file::expect_outside;
use crate::run_directory::RunDirectory;
use crate::specification::file::{Record, SpecificationError, read, to_run_toml};
use crate::specification::{Specification, dotted};

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
    /// Opens the folder `path` for shards of the run of `specification` that opened what `record`
    /// says. The folder is made if it is not there. Several shards may come at once.
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
            return Err(ShardError::Complete {
                folder: folder.path,
            });
        }
        let file = folder.path.join(RUN);
        if !file.is_file() {
            expect_outside(path).map_err(|error| unwritable(path, &error))?;
            folder.expect_only_shards()?;
            let text = to_run_toml(specification, record, &file)?;
            // Whoever comes second writes the same.
            write_among_others(&file, |out| io::Write::write_all(out, text.as_bytes()))?;
        }
        folder.expect_run(specification, record)?;
        Ok(folder)
    }

    /// Returns the complete run of these shards, where `out` holds it, as it was written.
    ///
    /// # Errors
    /// When what it holds cannot be read, or was changed.
    pub fn merged_in<S: Specification>(
        &self,
        out: &Path,
    ) -> Result<Option<RunDirectory>, ShardError> {
        let Some(run) = self.begun_in::<S>(out)? else {
            return Ok(None);
        };
        if !run.file(SUMMARY).is_file() {
            return Ok(None);
        }
        run.expect_unchanged_files()?;
        Ok(Some(run))
    }

    /// Returns the run of these shards, where `out` holds it, complete or not.
    fn begun_in<S: Specification>(&self, out: &Path) -> Result<Option<RunDirectory>, ShardError> {
        let Some(run) = RunDirectory::open_if_specified(out)? else {
            return Ok(None);
        };
        match read::<S>(&run.file(RUN)) {
            Ok((found, record)) => {
                let is_ours = identity(&found, &record.unwrap_or_default()) == self.identity;
                Ok(is_ours.then_some(run))
            }
            Err(SpecificationError::Kind { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the directory that the shards are merged into: `out`, which may hold what a merge
    /// that was stopped left there, or what `choose` gives.
    ///
    /// # Errors
    /// When it cannot be made, or holds something else.
    pub fn directory<S: Specification>(
        &self,
        out: Option<&Path>,
        choose: impl FnOnce() -> Result<RunDirectory, RunError>,
    ) -> Result<RunDirectory, ShardError> {
        let Some(out) = out else {
            return Ok(choose()?);
        };
        match self.begun_in::<S>(out)? {
            Some(begun) if !begun.file(SUMMARY).is_file() => {
                remove_leftovers(out);
                Ok(RunDirectory::open_to_write(out)?)
            }
            _ => {
                expect_outside(out).map_err(|error| unwritable(out, &error))?;
                Ok(RunDirectory::create(out)?)
            }
        }
    }

    /// Checks that the contents of the folder were asked for by the run that this folder is opened
    /// for.
    fn expect_run<S: Specification>(
        &self,
        specification: &S,
        record: &Record,
    ) -> Result<(), ShardError> {
        let file = self.path.join(RUN);
        let (found, then) = read::<S>(&file).map_err(|error| match error {
            SpecificationError::Kind { file, .. } => ShardError::Foreign { file },
            other => other.into(),
        })?;
        let then = then.unwrap_or_default();
        if identity(&found, &then) == self.identity {
            return Ok(());
        }
        let folder = || self.path.clone();
        if let Some(changed) = then.changed_since(&record.sha256) {
            return Err(ShardError::OtherInput {
                folder: folder(),
                role: changed.role.to_owned(),
                now: changed.now.to_owned(),
                then: changed.then.to_owned(),
            });
        }
        let value = |specification: &S| serde_json::to_value(specification).unwrap_or_default();
        let (now, then) = (value(specification), value(&found));
        for field in S::fields() {
            let of = |value: &serde_json::Value| {
                dotted::get(value, &field.path)
                    .map_or_else(|| "left out".to_owned(), ToString::to_string)
            };
            let (now, then) = (of(&now), of(&then));
            if !field.is_path() && !S::FREE.contains(&&*field.path) && now != then {
                return Err(ShardError::OtherOption {
                    folder: folder(),
                    field: field.path,
                    now,
                    then,
                });
            }
        }
        Err(ShardError::Foreign { file })
    }

    /// Checks that a folder that holds no run yet holds nothing else either, but for temporary
    /// files and copies of shards.
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

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of the file of `shard` of `stage`.
    pub fn file(&self, stage: Stage, shard: Shard) -> PathBuf {
        let (number, of) = (shard.number(), shard.count());
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

    /// Opens the file of `shard` of `stage`, if it is there.
    ///
    /// # Errors
    /// When it is not of this run or this cut.
    pub fn done(&self, stage: Stage, shard: Shard) -> Result<Option<ShardFile>, ShardError> {
        self.expect_cut(stage, shard.count())?;
        let file = self.file(stage, shard);
        if !is_there(&file)? {
            return Ok(None);
        }
        match ShardFile::open(&file, (&self.identity, stage, shard)) {
            Ok(found) => Ok(Some(found)),
            // A copy that was cut short is made anew.
            Err(ShardError::Run(RunError::Changed { .. })) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes the file `name`, which puts the shards of a stage together.
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

    /// Opens the file `name`, which puts the shards of a stage together, if it is there.
    ///
    /// # Errors
    /// When it is not of this run, or was changed.
    pub fn merged(&self, name: Stage) -> Result<Option<ShardFile>, ShardError> {
        let file = self.merged_file(name);
        if !is_there(&file)? {
            return Ok(None);
        }
        let opened = ShardFile::open(&file, (&self.identity, name, MERGED));
        let remedy = || "delete it, and merge again".to_owned();
        opened.map(Some).map_err(|error| damaged(error, remedy))
    }

    /// Returns the number of shards into which `stage` is cut, by what is there; `None` where
    /// nothing is.
    ///
    /// # Errors
    /// When it is cut in two ways.
    pub fn cut(&self, stage: Stage) -> Result<Option<u32>, ShardError> {
        let found = self.found(stage)?;
        let mut cuts = found.iter();
        let Some((_, first)) = cuts.next() else {
            return Ok(None);
        };
        match cuts.find(|(_, shard)| shard.count() != first.count()) {
            None => Ok(Some(first.count())),
            Some((file, other)) => Err(ShardError::OtherCut {
                file: file.clone(),
                found: other.count(),
                expected: first.count(),
            }),
        }
    }

    fn expect_cut(&self, stage: Stage, expected: u32) -> Result<(), ShardError> {
        let others = self.found(stage)?;
        match others
            .into_iter()
            .find(|(_, shard)| shard.count() != expected)
        {
            None => Ok(()),
            Some((file, other)) => Err(ShardError::OtherCut {
                file,
                found: other.count(),
                expected,
            }),
        }
    }

    /// Returns the files of `stage` by name, whatever they hold.
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

    /// Opens the files of all shards of `stage`, in their order, each checked.
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
            let opened = ShardFile::open(&self.file(stage, shard), (&self.identity, stage, shard));
            let folder = self.path.display();
            let remedy = || format!("run it again: probity run {folder} --shard {shard}");
            opened.map_err(|error| damaged(error, remedy))
        };
        shards().map(open).collect()
    }
}

/// Returns whether there is a file of this name; something else that has it would be waited for.
fn is_there(file: &Path) -> Result<bool, RunError> {
    match fs::metadata(file) {
        Ok(found) if found.is_file() => Ok(true),
        Ok(_) => Err(foreign(file, &"it is no file")),
        Err(_) => Ok(false),
    }
}

fn unwritable(file: &Path, error: &dyn std::fmt::Display) -> RunError {
    RunError::Write {
        file: file.to_owned(),
        source: io::Error::other(error.to_string()),
    }
}

/// Returns `error`, with what mends it where a file was changed.
fn damaged(error: ShardError, remedy: impl FnOnce() -> String) -> ShardError {
    match error {
        ShardError::Run(RunError::Changed { file }) => ShardError::Damaged {
            file,
            remedy: remedy(),
        },
        other => other,
    }
}
