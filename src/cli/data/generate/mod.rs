//! `probity data generate`

pub(in crate::cli) mod comments;
mod people;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use crate::cli::out::Force;
use crate::cli::output::{Output, print};
use probity::data::compressed;

/// Arguments of `probity data generate`.
#[derive(Debug, Args)]
#[command(
    after_help = "Row i depends on --seed and i alone: more --rows add some and change none."
)]
pub(super) struct GenerateArgs {
    /// What to generate
    #[arg(value_enum)]
    name: Generated,
    /// Rows to write
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    rows: u32,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// CSV file; compressed if its name ends in .gz or .xz [default: stdout]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Generated {
    /// A census of people, whose income depends on sex and origin
    People,
    /// Short comments with identity terms, labelled toxic (1) or not (0)
    Comments,
}

/// Runs `probity data generate`.
pub(super) fn run(args: &GenerateArgs, output: &Output) -> anyhow::Result<ExitCode> {
    if args.out.is_none() {
        output.refuse_json("data generate without --out")?;
    }
    match args.name {
        Generated::People => people::run(args, output),
        Generated::Comments => comments::run(args, output),
    }
}

impl GenerateArgs {
    /// Writes rows to the file that was asked for, or else to stdout; says whether to the file.
    fn write(
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
