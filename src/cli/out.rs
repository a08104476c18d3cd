//! Files that commands write for their users.

use std::path::{Path, PathBuf};

use anyhow::ensure;
use clap::Args;

use probity::run::output_file::OutputFile;

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

    /// The same for a file that is always given.
    pub fn file(&self, out: &Path, inputs: &[&Path]) -> anyhow::Result<OutputFile> {
        Ok(OutputFile::new(out, inputs, self.force)?)
    }
}
