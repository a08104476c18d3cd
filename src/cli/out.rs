//! Files that commands write for their users.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::ensure;
use clap::Args;

use super::invocation::arguments;
use probity::run::output_file::{OutputFile, are_same};

/// Whether a result may replace a file.
#[derive(Debug, Clone, Args)]
pub(super) struct Force {
    /// Replace the file for the result if it exists
    #[arg(long, help_heading = "Result")]
    force: bool,
}

impl Force {
    /// The file `out` for a result that is made from `inputs`, before there is one; `None` for
    /// standard output.
    pub fn open(
        &self,
        out: Option<&PathBuf>,
        inputs: &[&Path],
    ) -> anyhow::Result<Option<OutputFile>> {
        ensure!(
            out.is_some() || !self.force,
            "--force has no meaning without a file to write"
        );
        let Some(out) = out else {
            return Ok(None);
        };
        let file = self.file(out, inputs)?;
        Ok(Some(file).filter(|file| !file.is_stdout()))
    }

    /// Whether it may.
    pub fn is_given(&self) -> bool {
        self.force
    }

    /// Returns the file `out`, which is always given.
    pub fn file(&self, out: &Path, inputs: &[&Path]) -> anyhow::Result<OutputFile> {
        let file = OutputFile::new(out, inputs, self.force)?;
        ensure!(
            is_named_once(out),
            "{} is named twice by this command, and would be destroyed; choose another file",
            out.display()
        );
        Ok(file)
    }
}

/// Whether one argument alone leads to the file `out`, if it is there: another one that does is
/// read or written too, be it a schema, labels or a second result.
fn is_named_once(out: &Path) -> bool {
    let is_out = |name: &str| are_same(Path::new(name), out);
    let names = |argument: &&OsString| -> bool {
        let argument = argument.to_string_lossy();
        let value = argument.split_once('=').map(|(_, value)| value);
        let value = value.filter(|_| argument.starts_with('-'));
        is_out(value.unwrap_or(&argument))
    };
    arguments().iter().skip(1).filter(names).count() <= 1
}
