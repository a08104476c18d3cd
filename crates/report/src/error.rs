//! Why no report can be made of a run.

use std::path::{Path, PathBuf};

use thiserror::Error;

use probity_data::read::{ReadError, Record};
use probity_run::run_directory::RunError;

/// Why no report can be made of a run.
#[derive(Debug, Error)]
pub enum PageError {
    /// A file of the run cannot be read.
    #[error("{0}")]
    Run(#[from] RunError),
    /// The samples or verdicts cannot be read.
    #[error("{0}")]
    Read(#[from] ReadError),
    /// There is no run.
    #[error(
        "{} is no run directory: it has neither run.toml nor summary.json; give a directory that a command has written, such as runs/audit-1",
        directory.display()
    )]
    NoRun {
        /// The directory.
        directory: PathBuf,
    },
    /// The run has not ended.
    #[error("{} has no summary.json: the run of 'probity {command}' is unfinished; {advice}", directory.display())]
    Unfinished {
        /// The directory.
        directory: PathBuf,
        /// The command.
        command: String,
        /// What to do.
        advice: String,
    },
    /// A run that there is no report of.
    #[error("{} holds a run of '{found}'; reports are made of runs of {}", directory.display(), known.join(", "))]
    Command {
        /// The directory.
        directory: PathBuf,
        /// What it is of.
        found: String,
        /// What reports are made of.
        known: &'static [&'static str],
    },
    /// A summary of another layout.
    #[error("{} has schema_version {found}, and this version of probity reads {known}; use the version that wrote it", file.display())]
    Version {
        /// The summary.
        file: PathBuf,
        /// What it says.
        found: String,
        /// What is read.
        known: u64,
    },
    /// A summary that is not what its command writes.
    #[error("{}: {problem}; it is not what 'probity {command}' writes", file.display())]
    Foreign {
        /// The summary or the options.
        file: PathBuf,
        /// What is wrong.
        problem: String,
        /// The command.
        command: String,
    },
    /// A row of a samples or verdicts file that is not what its command writes.
    #[error("{}, {place}, column '{column}': '{value}' is not {expected}", file.display())]
    Cell {
        /// The file.
        file: PathBuf,
        /// Where.
        place: String,
        /// The column.
        column: String,
        /// The cell.
        value: String,
        /// What should be there.
        expected: &'static str,
    },
    /// A file whose columns are not those of samples.
    #[error("{}: {problem}; it is no samples file of an audit", file.display())]
    Columns {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// A run that a form is not made of.
    #[error("the format {form} is made of {takes}; {} is a run of '{command}'", directory.display())]
    NotOf {
        /// The form.
        form: &'static str,
        /// What it is made of.
        takes: &'static str,
        /// The run.
        directory: PathBuf,
        /// The command of the run.
        command: String,
    },
    /// Several runs where one is wanted.
    #[error("the format {form} is made of one run, not of {runs}")]
    OneRun {
        /// The form.
        form: &'static str,
        /// The number of runs that were given.
        runs: usize,
    },
    /// No browser.
    #[error(
        "there is no Chromium or Chrome on the search path ({}), which the format pdf is printed with; install one, or name it by {}",
        names.join(", "),
        variable
    )]
    NoBrowser {
        /// What it is called.
        names: &'static [&'static str],
        /// The environment variable that names it.
        variable: &'static str,
    },
    /// A browser that does not start.
    #[error("{} cannot be started: {source}", browser.display())]
    Browser {
        /// The browser.
        browser: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A browser that prints nothing.
    #[error("{} printed no PDF: {problem}", browser.display())]
    Printing {
        /// The browser.
        browser: PathBuf,
        /// What happened.
        problem: String,
    },
    /// A form that there is not.
    #[error("the format is '{name}', but must be one of {known}")]
    Form {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// Runs that declare nothing that could hold or not.
    #[error(
        "none of the runs declares a bound; certificates do by fail_below, all others by fail_above"
    )]
    NoBounds,
    /// A run was given twice.
    #[error("the run {} is given twice", directory.display())]
    Twice {
        /// The directory.
        directory: PathBuf,
    },
    /// So many runs that their page is too large.
    #[error(
        "the page would have {bytes} bytes, more than {}; make reports of fewer runs",
        super::LARGEST_PAGE
    )]
    TooLarge {
        /// The size of the page without pairs.
        bytes: usize,
    },
    /// A page that cannot be rendered.
    #[error("the page cannot be rendered: {0}")]
    Render(#[from] askama::Error),
    /// A table that cannot be written.
    #[error("the table cannot be written: {0}")]
    Csv(#[from] csv::Error),
    /// Data that cannot be written.
    #[error("the report cannot be written as data: {0}")]
    Json(#[from] serde_json::Error),
    /// What cannot be kept in memory.
    #[error("the report cannot be written: {0}")]
    Write(#[from] std::io::Error),
}

impl PageError {
    /// The error of a cell of `record`.
    pub(crate) fn cell(
        file: &Path,
        record: &Record<'_>,
        (column, value): (&str, &str),
        expected: &'static str,
    ) -> PageError {
        PageError::Cell {
            file: file.to_owned(),
            place: record.place().to_string(),
            column: column.to_owned(),
            value: value.to_owned(),
            expected,
        }
    }
}
