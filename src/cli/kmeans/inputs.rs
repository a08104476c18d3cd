//! Arguments of `probity kmeans` that are no fields of a specification.

use clap::Args;

use probity::tensor::device::use_threads;

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
