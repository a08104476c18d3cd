//! Arguments that several commands share, and how they become values.

use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde_json::Value;

use super::fields::Fields;
use super::numbers;
use super::output::Output;
use probity::data::numbers::Bounds;
use probity::run::output_file::expect_outside;
use probity::run::run_directory::{CHECKPOINT, RunDirectory, SUMMARY};
use probity::run::specification::file::Record;
use probity::run::specification::{Checked, Specification};
use probity::tensor::device::{ComputeDevice, DeviceName, use_threads};

/// Where new run directories are made unless `--out` says otherwise.
const RUNS: &str = "runs";

/// How many of the processor's cores work.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Hardware")]
pub(super) struct Threads {
    /// CPU threads [default: one a core]; no influence on results
    #[arg(long, value_name = "N", value_parser = numbers::threads(), allow_hyphen_values = true)]
    threads: Option<u16>,
}

impl Threads {
    /// Sets them.
    pub fn apply(&self) -> anyhow::Result<()> {
        Ok(use_threads(self.threads.map(usize::from))?)
    }
}

/// Where the work is done.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Hardware")]
pub(super) struct Hardware {
    /// Device; `auto` is the first GPU that answers, else the CPU (flex)
    #[arg(long, value_parser = device_names(), default_value_t)]
    pub device: DeviceName,
    #[command(flatten)]
    pub threads: Threads,
}

/// The names of devices, and what each is.
fn device_names() -> impl TypedValueParser<Value = DeviceName> {
    let help = |name| match name {
        DeviceName::Auto => "The first GPU that answers, else flex",
        DeviceName::Flex => "burn's CPU backend",
        DeviceName::Ndarray => "burn's older CPU backend",
        DeviceName::Wgpu => "GPU through wgpu (WGSL)",
        DeviceName::Cuda => "NVIDIA GPU through CUDA",
    };
    let names = DeviceName::ALL.map(|name| PossibleValue::new(name.to_string()).help(help(name)));
    PossibleValuesParser::new(names).try_map(|name| name.parse::<DeviceName>())
}

impl Hardware {
    /// Opens the device and sets the threads.
    pub fn open(&self, output: &Output) -> anyhow::Result<ComputeDevice> {
        self.threads.apply()?;
        let device = ComputeDevice::open(self.device)?;
        output.detail(&format!(
            "device: {} ({})",
            device.name(),
            device.hardware()
        ));
        Ok(device)
    }
}

/// The directory `out` for a new run.
pub(super) fn new_run_in(out: &Path) -> anyhow::Result<RunDirectory> {
    expect_outside(out)?;
    Ok(RunDirectory::create(out)?)
}

/// The directory for a new run: `out`, or the next free number of `name` under `runs`.
pub(super) fn new_run(out: Option<&PathBuf>, name: &str) -> anyhow::Result<RunDirectory> {
    Ok(match out {
        Some(path) => new_run_in(path)?,
        None => RunDirectory::create_numbered(Path::new(RUNS), name)?,
    })
}

/// Where a run is written: in a new directory, or in that of a run which goes on.
pub(super) enum Place {
    /// A new one: that one, or the next free one of its kind.
    New(Option<PathBuf>),
    /// A new one for a run that repeats another, and what that one opened.
    Again(Option<PathBuf>, Record),
    /// That of a run which goes on, and what it began with.
    GoesOn(RunDirectory, Record),
}

impl Place {
    /// What a run that goes on or is repeated began with.
    pub fn began(&self) -> Option<&Record> {
        match self {
            Place::New(_) => None,
            Place::Again(_, record) | Place::GoesOn(_, record) => Some(record),
        }
    }

    /// That of the unfinished run in `out`, with what it began with and what of that `fields`
    /// change.
    pub fn of_unfinished<S: Specification>(
        out: Option<PathBuf>,
        fields: &Fields<S>,
    ) -> anyhow::Result<(Checked<S>, Place)> {
        fields.expect_free()?;
        let out = out.unwrap_or_default();
        let (directory, began, record) = RunDirectory::resume_specified::<S>(&out)?;
        Ok((fields.resumed(&began)?, Place::GoesOn(directory, record)))
    }

    /// Refuses to go on with a complete run, or on another device than it began on. A run that lacks
    /// `last`, the file that is drawn from its summary after all others, was stopped before that.
    pub fn expect_device(&self, device: &ComputeDevice, last: Option<&str>) -> anyhow::Result<()> {
        let Place::GoesOn(directory, record) = self else {
            return Ok(());
        };
        let began_on = record.device.as_deref().unwrap_or_default();
        if began_on != device.name().to_string() {
            bail!(
                "the run began on {began_on}, not on {}; add --device {began_on}",
                device.name(),
            );
        }
        let is_there = |name| directory.file(name).is_file();
        if !is_there(CHECKPOINT) && is_there(SUMMARY) && last.is_none_or(is_there) {
            let summary: Value = directory.read_summary()?;
            let is_stopped =
                ["time", "interrupted"].contains(&summary["ending"].as_str().unwrap_or(""));
            ensure!(
                !is_stopped && summary["finished"] != false,
                "the run in {} was stopped before its end, but its {CHECKPOINT} is not there any more, so it cannot go on; start a new run",
                directory.path().display()
            );
            bail!(
                "the run in {} is complete; there is nothing to resume",
                directory.path().display()
            );
        }
        Ok(())
    }

    /// The directory, made if it is new, and whether its run goes on.
    pub fn directory(self, name: &str) -> anyhow::Result<(RunDirectory, bool)> {
        match self {
            Place::New(out) | Place::Again(out, _) => Ok((new_run(out.as_ref(), name)?, false)),
            Place::GoesOn(directory, _) => Ok((directory, true)),
        }
    }
}

/// Bounds given as `MIN,MAX` or `COLUMN=MIN,MAX`.
fn bounds(text: &str) -> Result<Bounds, String> {
    let (column, range) = match text.rsplit_once('=') {
        Some((column, range)) => (Some(column.to_owned()), range),
        None => (None, text),
    };
    let ends = range
        .split_once(',')
        .and_then(|(min, max)| Some((min.trim().parse().ok()?, max.trim().parse().ok()?)));
    match ends {
        Some((min, max)) if min < max => Ok(Bounds { column, min, max }),
        _ => Err("two ascending numbers such as 0,255 or age=17,90 are expected".to_owned()),
    }
}

/// Bounds of `input.bounds`, which the command line has a short form for.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub(super) struct BoundsArgs {
    /// Bounds of all columns, or of one, which become 0 and 1; may be repeated
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_read() {
        let named = bounds("a=b=-1,2.5").unwrap();
        assert_eq!((named.column.as_deref(), named.min), (Some("a=b"), -1.0));
        assert!(bounds("3,3").is_err() && bounds("x").is_err());
    }
}
