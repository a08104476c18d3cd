//! Arguments of `probity kmeans` that are no fields of a specification.

use clap::Args;

use crate::cli::fields::Fields;
use crate::cli::inputs::bounds;
use probity::data::numbers::Bounds;
use probity::run::specification::Specification;
use probity::tensor::device::use_threads;

/// Bounds, which the command line has a short form for.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub(super) struct BoundsArgs {
    /// Bounds of all columns, or of one; may be repeated. They are declared, never taken from the rows
    #[arg(long, value_name = "[COLUMN=]MIN,MAX", value_parser = bounds, allow_hyphen_values = true)]
    bounds: Vec<Bounds>,
}

impl BoundsArgs {
    /// Gives them to `fields`.
    pub fn set<S: Specification>(&self, fields: &mut Fields<S>) -> anyhow::Result<()> {
        if !self.bounds.is_empty() {
            fields.set("input.bounds", serde_json::to_value(&self.bounds)?);
        }
        Ok(())
    }
}

/// CPU threads.
#[derive(Debug, Args)]
#[command(next_help_heading = "Hardware")]
pub(super) struct Threads {
    /// CPU threads [default: one a core]; no influence on results
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

impl Threads {
    /// Sets them.
    pub fn apply(&self) -> anyhow::Result<()> {
        Ok(use_threads(self.threads.map(usize::from))?)
    }
}
