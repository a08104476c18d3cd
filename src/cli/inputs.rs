//! Arguments that several commands share, and how they become values.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::fields::Fields;
use super::numbers;
use super::output::Output;
use super::progress::Failed;
use probity::data::numbers::Bounds;
use probity::run::place::Place;
use probity::run::run_directory::RunDirectory;
use probity::run::runner::Failure;
use probity::run::specification::{Checked, Specification};
use probity::tensor::device::{ComputeDevice, DeviceName, use_threads};

/// Where new run directories are made unless `--out` says otherwise.
pub(super) const RUNS: &str = "runs";

/// How many of the processor's cores work.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Hardware")]
pub(super) struct Threads {
    /// CPU threads [default: one a core]; no influence on results
    #[arg(long, value_name = "N", value_parser = numbers::threads(), allow_hyphen_values = true)]
    threads: Option<u16>,
}

impl Threads {
    /// How many, if that was asked.
    pub fn given(&self) -> Option<u16> {
        self.threads
    }

    /// Sets them.
    pub fn apply(&self) -> anyhow::Result<()> {
        Ok(use_threads(self.threads.map(usize::from))?)
    }
}

/// Where the work is done.
#[derive(Debug, Clone, Default, Args)]
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
        DeviceName::Auto => {
            "The first GPU that answers, else flex; audit and compare measure which is fastest"
        }
        DeviceName::Flex => "burn's CPU backend",
        DeviceName::Ndarray => "burn's older CPU backend",
        DeviceName::Wgpu => "GPU through wgpu (WGSL)",
        DeviceName::Cuda => "NVIDIA GPU through CUDA",
    };
    let names = DeviceName::ALL.map(|name| PossibleValue::new(name.to_string()).help(help(name)));
    PossibleValuesParser::new(names).try_map(|name| name.parse::<DeviceName>())
}

impl Hardware {
    /// The processor, of which `threads` work.
    pub fn cpu(threads: Threads) -> Hardware {
        Hardware {
            device: DeviceName::Flex,
            threads,
        }
    }

    /// Opens the device and sets the threads.
    pub fn open(&self, output: &Output) -> anyhow::Result<ComputeDevice> {
        self.open_by(ComputeDevice::open, output)
    }

    /// Opens the device that `open` gives by the name that was asked for, and sets the threads.
    pub fn open_by<E>(
        &self,
        open: impl FnOnce(DeviceName) -> Result<ComputeDevice, E>,
        output: &Output,
    ) -> anyhow::Result<ComputeDevice>
    where
        Failure: From<E>,
    {
        self.threads.apply()?;
        let device = open(self.device).map_err(|error| Failed(error.into()))?;
        output.detail(&format!(
            "device: {} ({})",
            device.name(),
            device.hardware()
        ));
        Ok(device)
    }
}

/// The directory for a new run: `out`, or the next free number of `name` under `runs`.
pub(super) fn new_run(out: Option<PathBuf>, name: &str) -> anyhow::Result<RunDirectory> {
    Ok(directory_of(Place::New(out), name)?.0)
}

/// The place of the unfinished run in `out`, with what it began with and what of that `fields`
/// change.
pub(super) fn unfinished<S: Specification>(
    out: Option<PathBuf>,
    fields: &Fields<S>,
) -> anyhow::Result<(Checked<S>, Place)> {
    fields.expect_free()?;
    let (place, began) = Place::unfinished::<S>(&out.unwrap_or_default())?;
    Ok((fields.resumed(&began)?, place))
}

/// The directory of `place`, which is made if it is new, and whether its run goes on.
pub(super) fn directory_of(place: Place, name: &str) -> anyhow::Result<(RunDirectory, bool)> {
    Ok(place.directory(|| RunDirectory::create_numbered(Path::new(RUNS), name))?)
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
