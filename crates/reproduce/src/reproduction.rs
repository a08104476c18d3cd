//! What the commands of all papers have in common: data sets in turn, a list of those that are
//! missing, and the figures on stdout.

use std::path::PathBuf;

use serde::Serialize;

use crate::interrupt::Interrupted;
use crate::options::{DataFolders, missing, not_found};
use crate::output::Output;
use crate::published::Case;

/// A paper's figures beside ours: `H` is what stands before the rows, `R` a row.
#[derive(Serialize)]
pub struct Reproduction<H, R> {
    schema_version: u32,
    command: &'static str,
    /// Authors, title and place of publication.
    pub paper: &'static str,
    /// The table that is asked for, and what is said of all rows.
    #[serde(flatten)]
    pub heading: H,
    finished: bool,
    /// The rows of the table, as far as they are done.
    pub rows: Vec<R>,
    not_found: Vec<String>,
    #[serde(skip)]
    folders: Vec<PathBuf>,
}

/// The table that a user asks for: the heading of most tables.
#[derive(Serialize)]
pub struct Asked<T> {
    /// The number of the table.
    pub table: T,
    /// The first seed.
    pub seed: u64,
    /// The number of repeats; `None` where it shows in the rows, or there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeats: Option<u32>,
}

impl<H: Serialize, R: Serialize> Reproduction<H, R> {
    /// Starts without rows; data sets are looked for in the folders of `data`.
    pub fn new(
        command: &'static str,
        paper: &'static str,
        heading: H,
        data: &DataFolders,
    ) -> Reproduction<H, R> {
        Reproduction {
            // Version 2: the rows of every paper are called `rows`.
            schema_version: 2,
            command,
            paper,
            heading,
            finished: true,
            rows: Vec::new(),
            not_found: Vec::new(),
            folders: data.folders(),
        }
    }

    /// Does the `work` of every case whose files are found, which adds to the rows, and notes the
    /// others. Where the user interrupts it, the rows stay as they are by then.
    ///
    /// # Errors
    /// The first one of `work`, but for [`Interrupted`].
    pub fn over<P>(
        &mut self,
        cases: &[Case<P>],
        mut work: impl FnMut(&Case<P>, &[PathBuf], &mut Vec<R>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        for case in cases {
            match case.find(&self.folders) {
                Err(absent) => self.not_found.push(missing(case.name, absent)),
                Ok(files) => match work(case, &files, &mut self.rows) {
                    Err(error) if error.is::<Interrupted>() => {
                        self.finished = false;
                        break;
                    }
                    done => done?,
                },
            }
        }
        Ok(())
    }

    /// Prints `text` and what is missing, or all of it as JSON.
    ///
    /// # Errors
    /// When stdout cannot be written.
    pub fn print(&self, mut text: String, output: &Output) -> anyhow::Result<()> {
        text.push_str(&not_found(&self.not_found, &self.folders));
        if !self.finished {
            text.push_str("Interrupted: this is what was done by then.\n");
        }
        output.result(self, &text)
    }
}
