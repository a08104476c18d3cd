//! Options that several papers share: where the data are, which of them, and where the work is
//! done.

use std::path::PathBuf;

use anyhow::bail;
use clap::Args;

use crate::published::{Absent, Case};
use probity_data::fetch::default_cache_dir;
use probity_tensor::device::{ComputeDevice, DeviceName, use_threads};

/// The name of the environment variable with the folder of the data, where --data-dir is not given.
const DATA_DIR_VARIABLE: &str = "PROBITY_DATA_DIR";

/// Where the papers' data sets are looked for.
#[derive(Debug, Clone, Args)]
pub struct DataFolders {
    /// Folder of the data sets [default: PROBITY_DATA_DIR, else what was fetched]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

impl DataFolders {
    /// The folders to look in, in the order in which they are searched.
    pub fn folders(&self) -> Vec<PathBuf> {
        if let Some(folder) = &self.data_dir {
            return vec![folder.clone()];
        }
        let named = std::env::var_os(DATA_DIR_VARIABLE).map(PathBuf::from);
        named.into_iter().chain(default_cache_dir().ok()).collect()
    }
}

/// Which data sets of a paper.
#[derive(Debug, Clone, Args)]
pub struct Only {
    /// Only these data sets, by name, separated by commas
    #[arg(long = "only", value_delimiter = ',', value_name = "NAMES")]
    names: Vec<String>,
}

impl Only {
    /// Returns those of `cases` that the user asks for; `whole` names the paper or its table in
    /// the refusal of an unknown name.
    pub fn choose<P: Copy>(&self, cases: &[Case<P>], whole: &str) -> anyhow::Result<Vec<Case<P>>> {
        chosen(&self.names, cases, |case| case.name, (whole, "data set"))
    }
}

/// Returns those of `known` whose name is `asked` for; all of them unless names are.
///
/// # Errors
/// When a name is none of theirs: `whole` has no such `part`.
pub fn chosen<T: Copy>(
    asked: &[String],
    known: &[T],
    name: impl Fn(&T) -> &'static str,
    (whole, part): (&str, &str),
) -> anyhow::Result<Vec<T>> {
    let mut names: Vec<&str> = known.iter().map(&name).collect();
    names.dedup();
    if let Some(other) = asked.iter().find(|asked| !names.contains(&asked.as_str())) {
        let names = names.join(", ");
        bail!("{whole} has no {part} '{other}'; it has {names}");
    }
    let is_asked = |item: &&T| asked.is_empty() || asked.iter().any(|asked| asked == name(item));
    Ok(known.iter().filter(is_asked).copied().collect())
}

/// A line for [`not_found`] on a data set that is absent.
pub fn missing(data_set: &str, absent: Absent) -> String {
    match absent {
        Absent::NotOffered => format!("{data_set}: Probity has no reader for it"),
        Absent::Files(files) => format!("{data_set}: {}", files.join(", ")),
    }
}

/// The list of data sets that `folders` lack; empty when nothing is `missing`.
pub fn not_found(missing: &[String], folders: &[PathBuf]) -> String {
    if missing.is_empty() {
        return String::new();
    }
    let folders: Vec<String> = folders.iter().map(|f| f.display().to_string()).collect();
    let mut text = format!("Not found in {}:\n", folders.join(" or "));
    for name in missing {
        text.push_str(&format!("  {name}\n"));
    }
    text
}

/// Where the work is done.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Hardware")]
pub struct Hardware {
    /// Device; `auto` is the first GPU that answers, else the CPU (flex)
    #[arg(long, default_value_t)]
    device: DeviceName,
    #[command(flatten)]
    pub threads: Threads,
}

impl Hardware {
    /// Sets the number of threads and opens the device.
    pub fn open(&self) -> anyhow::Result<ComputeDevice> {
        self.threads.apply()?;
        Ok(ComputeDevice::open(self.device)?)
    }
}

/// How many threads.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Hardware")]
pub struct Threads {
    /// CPU threads [default: one a core]; no influence on results
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

impl Threads {
    /// Sets the number of threads.
    pub fn apply(&self) -> anyhow::Result<()> {
        Ok(use_threads(self.threads.map(usize::from))?)
    }
}
