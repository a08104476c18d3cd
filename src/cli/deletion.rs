//! Deleting rows from a model: which ones, and whether training anew gives the same model.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, anyhow, bail, ensure};
use clap::Args;

use super::output::Output;
use super::render::{count, counted};
use probity::run::lock::DirectoryLock;
use probity::run::run_directory::folder_of;

/// The model, and the rows to delete by their ids.
#[derive(Debug, Args)]
pub(super) struct DeletionArgs {
    /// Model directory
    #[arg(long, value_name = "DIR")]
    pub model: PathBuf,
    /// Ids of the rows to delete
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "ID,…",
        value_parser = id,
        allow_hyphen_values = true
    )]
    ids: Vec<u64>,
    /// File with ids, one a line
    #[arg(long, value_name = "FILE")]
    ids_file: Option<PathBuf>,
    /// Also train on the remaining rows, and compare byte by byte before anything is written
    #[arg(long)]
    verify: bool,
}

fn id(text: &str) -> Result<u64, &'static str> {
    let parsed = text.trim().parse();
    parsed.map_err(|_| "ids of rows are whole numbers, 0 or above, with commas between them")
}

impl DeletionArgs {
    /// The ids given, those of the file last; a row that is named twice is named twice here.
    pub fn ids(&self) -> anyhow::Result<Vec<u64>> {
        let mut ids = self.ids.clone();
        let Some(file) = &self.ids_file else {
            return Ok(ids);
        };
        let name = file.display();
        let text = fs::read_to_string(file).with_context(|| format!("cannot read {name}"))?;
        let text = text.trim_start_matches('\u{feff}');
        for (number, line) in (1..).zip(text.lines().map(str::trim)) {
            if !line.is_empty() {
                ids.push(line.parse().map_err(|_| {
                    anyhow!(
                        "{name}, line {number}: '{line}' is no row id; one whole number a line is expected"
                    )
                })?);
            }
        }
        ensure!(!ids.is_empty(), "{name} names no row");
        Ok(ids)
    }

    /// Locks the model from before it is read until the remaining rows are written: two deletions
    /// at once would otherwise each keep the rows that the other one deletes.
    ///
    /// Where `file`, which holds the rows, is a link, the folder that it leads to is locked: there
    /// all models that share it meet.
    pub fn lock(&self, file: &str, output: &Output) -> anyhow::Result<ModelLock> {
        let model = &self.model;
        ensure!(
            model.is_dir(),
            "there is no model directory {}",
            model.display()
        );
        let file = model.join(file);
        let folder = locked_folder(&file);
        let lock = DirectoryLock::wait(&folder, || {
            output.remark(&format!(
                "another process is writing into {}; waiting for it",
                model.display()
            ));
        })?;
        Ok(ModelLock { file, folder, lock })
    }

    /// Refuses `data`, the original rows, where nothing is verified with them.
    pub fn expect_verified(&self, data: Option<&Path>) -> anyhow::Result<()> {
        if data.is_some() && !self.verify {
            bail!("--data has no meaning without --verify, which trains on the rows in it");
        }
        Ok(())
    }

    /// With `--verify`: whether `is_same`, which trains anew, and in how many seconds.
    pub fn verified(
        &self,
        is_same: impl FnOnce() -> anyhow::Result<bool>,
    ) -> anyhow::Result<Option<(bool, f64)>> {
        if !self.verify {
            return Ok(None);
        }
        let started = Instant::now();
        let is_same = is_same()?;
        Ok(Some((is_same, started.elapsed().as_secs_f64())))
    }
}

/// The lock of a model whose rows are deleted.
pub(super) struct ModelLock {
    file: PathBuf,
    folder: PathBuf,
    lock: DirectoryLock,
}

impl ModelLock {
    /// That the model, by its name, still is the one that is locked: asked before it is written.
    pub fn expect_in_place(&self) -> anyhow::Result<()> {
        ensure!(
            locked_folder(&self.file) == self.folder,
            "{} became a link to another file meanwhile; nothing was deleted",
            self.file.display()
        );
        Ok(self.lock.expect_in_place()?)
    }
}

/// The folder whose lock is that of `file`.
fn locked_folder(file: &Path) -> PathBuf {
    let is_link = fs::symlink_metadata(file).is_ok_and(|found| found.is_symlink());
    let target = fs::canonicalize(file).ok().filter(|_| is_link);
    folder_of(target.as_deref().unwrap_or(file)).to_owned()
}

/// The numbers of rows that the model in its directory lost, and still has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Counts {
    pub deleted: usize,
    pub remaining: usize,
}

impl Counts {
    /// After `asked` rows were deleted in memory, where `remaining` are left; `is_kept` if that was
    /// written.
    pub fn new(is_kept: bool, asked: usize, remaining: usize) -> Counts {
        match is_kept {
            true => Counts {
                deleted: asked,
                remaining,
            },
            false => Counts {
                deleted: 0,
                remaining: remaining + asked,
            },
        }
    }

    /// In words, without a full stop; `asked` rows should have been deleted.
    pub fn in_words(self, asked: usize) -> String {
        let rows = |rows: usize| counted(rows as u64, "row", "rows");
        let remain = match self.remaining {
            1 => "remains",
            _ => "remain",
        };
        let done = format!(
            "{} deleted, {} {remain}",
            rows(self.deleted),
            count(self.remaining as u64)
        );
        match self.deleted == asked {
            true => done,
            false => format!("{done}; deleting {} was undone", rows(asked)),
        }
    }
}

/// What [`DeletionArgs::verified`] found, in words, and on which rows: those of the model or of
/// `data`.
pub(super) fn in_words(verified: Option<(bool, f64)>, data: Option<&Path>) -> String {
    match (verified, data) {
        (Some((true, seconds)), None) => format!(
            "Verified: the same bytes as training anew on the remaining rows ({seconds:.6} s).\n"
        ),
        (Some((true, seconds)), Some(data)) => format!(
            "Verified: the same bytes as training anew on the remaining rows of {} ({seconds:.6} s).\n",
            data.display()
        ),
        (Some((false, _)), None) => {
            "NOT EXACT: training anew on the remaining rows gives other bytes. \
             The model is left as it was; please report this.\n"
                .to_owned()
        }
        (Some((false, _)), Some(data)) => format!(
            "NOT EXACT: training anew on the remaining rows of {} gives other bytes. The model is \
             left as it was. Where --verify alone finds none, the file, or how it is read, is not \
             what the model was fitted with.\n",
            data.display()
        ),
        (None, _) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_written_was_not_deleted() {
        let words = |is_kept, asked, left| Counts::new(is_kept, asked, left).in_words(asked);
        assert_eq!(words(true, 1, 299), "1 row deleted, 299 remain");
        assert_eq!(words(true, 2, 1), "2 rows deleted, 1 remains");
        assert_eq!(
            words(false, 1, 299),
            "0 rows deleted, 300 remain; deleting 1 row was undone"
        );
    }
}
