//! Arguments of `probity data generate`, and where its rows go.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::cli::numbers::{MOST_ROWS, seed, whole};
use crate::cli::out::Force;
use crate::cli::output::print;
use probity::data::compressed;

/// Arguments of `probity data generate`.
#[derive(Debug, Args)]
#[command(
    after_help = "Row i depends on --seed and i alone: more --rows add some and change none."
)]
pub(in crate::cli::data) struct GenerateArgs {
    /// What to generate
    #[arg(value_enum)]
    pub(super) name: Generated,
    /// Rows to write
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = whole::<u32>(1..=MOST_ROWS), allow_hyphen_values = true)]
    pub(super) rows: u32,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed(), allow_hyphen_values = true)]
    pub(super) seed: u64,
    /// CSV file; compressed if its name ends in .gz or .xz [default: stdout]
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Generated {
    /// A census of people, whose income depends on sex and origin
    People,
    /// Short comments with identity terms, labelled toxic (1) or not (0)
    Comments,
}

impl GenerateArgs {
    /// Writes rows to the file that was asked for, or else to stdout; says whether to the file.
    pub(super) fn write(
        &self,
        rows: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> anyhow::Result<Option<&PathBuf>> {
        let out = self.force.open(self.out.as_ref(), &[])?;
        match &out {
            Some(out) => {
                out.write_with(|writer| compressed::write_as(out.path(), writer, rows))?;
            }
            None => {
                let mut text = Vec::new();
                rows(&mut text)?;
                print(&String::from_utf8_lossy(&text))?;
            }
        }
        Ok(self.out.as_ref().filter(|_| out.is_some()))
    }
}
