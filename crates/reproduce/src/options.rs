//! Options that several papers share: where the data are, which of them, and where the work is
//! done.

use std::path::PathBuf;

use anyhow::bail;
use clap::Args;

use crate::published::Absent;
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
    /// Keeps those of `cases` that the user asks for; `of` names the paper or its table in the
    /// refusal of an unknown name.
    pub fn keep<T>(
        &self,
        cases: &mut Vec<T>,
        name: impl Fn(&T) -> &str,
        of: &str,
    ) -> anyhow::Result<()> {
        let known = |asked: &String| cases.iter().any(|case| name(case) == asked);
        if let Some(other) = self.names.iter().find(|asked| !known(asked)) {
            let mut names: Vec<&str> = cases.iter().map(name).collect();
            names.dedup();
            bail!(
                "{of} has no data set '{other}'; it has {}",
                names.join(", ")
            );
        }
        if !self.names.is_empty() {
            cases.retain(|case| self.names.iter().any(|asked| asked == name(case)));
        }
        Ok(())
    }
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
