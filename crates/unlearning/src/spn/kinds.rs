//! The kinds of runs of sum-product networks, as the runner performs them: learning, and measuring
//! deletions.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use serde::Serialize;

use super::benchmark::{
    BenchmarkFigures, Pool, Protocol, Repeat, Repeats, figures, run as measure,
};
use super::model::SpnModel;
use super::network::Shape;
use super::specification::{BenchSpecification, FitSpecification};
use super::table::TableOptions;
use super::{Dataset, Spn, SpnError, SpnParameters};
use probity_data::read::LeftOut;
use probity_data::specification::record_schema;
use probity_run::run_directory::RunDirectory;
use probity_run::runner::{
    Failure, Merged, Observer, OpenedRun, Outcome, Progress, RunKind, Setting, Target, perform,
};
use probity_run::shards::{Shard, ShardFolder, Worked, merged, work};
use probity_run::specification::Checked;
use probity_run::specification::file::Record;
use probity_tensor::device::ComputeDevice;
use probity_tensor::proposer::Proposer;

/// The summary of a network that was learnt, as JSON.
#[derive(Debug, Serialize)]
pub struct FitSummary {
    /// The version of this layout.
    pub schema_version: u32,
    /// The command, always `spn fit`.
    pub command: &'static str,
    /// The path of the model.
    pub model: PathBuf,
    /// The number of rows that were learnt from.
    pub rows: usize,
    /// The number of values that are not known, and summed out.
    pub missing_values: u64,
    /// The rows that reading the data left out.
    #[serde(flatten)]
    pub left_out: LeftOut,
    /// The number of columns.
    pub variables: usize,
    /// The parameters of the learning.
    pub parameters: SpnParameters,
    /// The threshold of the parameters, or the chosen one.
    pub threshold: f64,
    /// The size of the network.
    pub network: Shape,
    /// The seconds that learning took.
    pub seconds: f64,
}

/// Rows that are read, to be learnt from.
pub struct Fit {
    parameters: SpnParameters,
    table: TableOptions,
    data: Dataset,
    left_out: LeftOut,
}

impl Fit {
    /// Reads what `specification` names.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn open(
        specification: Checked<FitSpecification>,
        device: &ComputeDevice,
    ) -> Result<Fit, Failure> {
        let table = specification.table.options(&specification.schema)?;
        let (data, left_out) = table.read(&specification.data)?.value;
        Ok(Fit {
            parameters: specification.learning.parameters(),
            table,
            data: data.on(&Proposer::new(device)),
            left_out,
        })
    }
}

impl RunKind for FitSpecification {
    const DIRECTORY: Option<&'static str> = Some("spn");

    fn perform(
        specification: Checked<Self>,
        setting: Setting<'_>,
    ) -> Result<Outcome<String>, Failure> {
        let device = ComputeDevice::open(setting.device)?;
        perform(Fit::open(specification, &device)?, setting)?.written()
    }
}

impl OpenedRun for Fit {
    type Kind = FitSpecification;
    type Summary = FitSummary;

    const STOPS: bool = false;

    /// A model says of itself what it was made of; it leaves no run that could be repeated.
    fn record(&self) -> Option<&Record> {
        None
    }

    fn whole(self, target: Target<'_>, _: &dyn Observer) -> Result<Self::Summary, Failure> {
        let directory = target.needed()?;
        let started = Instant::now();
        let spn = Spn::learn(self.parameters, self.data)?;
        let seconds = started.elapsed().as_secs_f64();
        let table = self.table;
        let model = SpnModel { spn, table };
        model.store(directory.path())?;
        let spn = &model.spn;
        Ok(FitSummary {
            schema_version: 1,
            command: "spn fit",
            model: directory.path().to_owned(),
            rows: spn.data().rows(),
            missing_values: spn.data().missing_values(),
            left_out: self.left_out,
            variables: spn.data().variables().len(),
            parameters: self.parameters,
            threshold: spn.threshold(),
            network: spn.network().shape(),
            seconds,
        })
    }
}

/// The summary of a measurement of deletions, the contents of `summary.json`.
#[derive(Debug, Serialize)]
pub struct BenchSummary {
    /// The version of this layout.
    pub schema_version: u32,
    /// The command, always `spn bench`.
    pub command: &'static str,
    /// The version of Probity that ended the run.
    pub probity_version: &'static str,
    /// The data file.
    pub data: PathBuf,
    /// The SHA-256 of the data file.
    pub data_sha256: String,
    /// The parameters by which networks were learnt.
    pub parameters: SpnParameters,
    /// The protocol: what was measured, and how often.
    pub protocol: Protocol,
    /// The rows that reading the data left out.
    #[serde(flatten)]
    pub left_out: LeftOut,
    /// Whether all repeats were done.
    pub finished: bool,
    /// The figures of the repeats.
    #[serde(flatten)]
    pub figures: BenchmarkFigures,
}

/// Rows that are read, to be deleted from networks of them.
pub struct Bench {
    specification: BenchSpecification,
    record: Record,
    data_sha256: String,
    left_out: LeftOut,
    parameters: SpnParameters,
    pool: Pool,
}

impl Bench {
    /// Reads what `specification` names.
    ///
    /// # Errors
    /// When it cannot be read, or has fewer than two rows.
    pub fn open(
        specification: Checked<BenchSpecification>,
        device: &ComputeDevice,
    ) -> Result<Bench, Failure> {
        let specification = specification.into_inner().located();
        let table = specification.table.options(&specification.schema)?;
        let rows = table.read(&specification.data)?;
        let (data, left_out) = rows.value;
        let data = data.on(&Proposer::new(device));
        if data.rows() < 2 {
            return Err(SpnError::OneRow.into());
        }
        let record = Record {
            device: Some(device.name().to_string()),
            hardware: Some(device.hardware()),
            ..Record::new().opened("data", rows.sha256.clone())
        };
        Ok(Bench {
            record: record_schema(record, Some(&specification.schema))?,
            data_sha256: rows.sha256,
            left_out,
            parameters: specification.learning.parameters(),
            pool: Pool::new(&data),
            specification,
        })
    }

    fn items<'a>(&'a self, go_on: &'a mut dyn FnMut(usize) -> bool) -> Repeats<'a> {
        Repeats {
            parameters: self.parameters,
            pool: &self.pool,
            protocol: self.specification.protocol,
            go_on,
        }
    }

    /// Returns the summary of so many repeats, which is written to `directory` where there is one.
    fn write(
        &self,
        directory: Option<&RunDirectory>,
        figures: BenchmarkFigures,
        repeats: usize,
    ) -> Result<BenchSummary, Failure> {
        let protocol = self.specification.protocol;
        let summary = BenchSummary {
            schema_version: 1,
            command: "spn bench",
            probity_version: env!("CARGO_PKG_VERSION"),
            data: self.specification.data.clone(),
            data_sha256: self.data_sha256.clone(),
            parameters: self.parameters,
            protocol,
            left_out: self.left_out.clone(),
            finished: repeats == protocol.repeats,
            figures,
        };
        if let Some(directory) = directory {
            directory.write_run(&self.specification, &self.record)?;
            directory.write_summary(&summary)?;
        }
        Ok(summary)
    }
}

/// Returns a function that shows `observer` how many of `all` repeats are done, notes it in `done`,
/// and says whether to go on.
fn watching(observer: &dyn Observer, all: usize, done: &AtomicUsize) -> impl FnMut(usize) -> bool {
    move |repeats| {
        done.store(repeats, Ordering::Relaxed);
        let steps = (repeats as u64, all as u64);
        let progress = Progress::new("repeats", steps, &String::new);
        observer.observe(progress).is_continue()
    }
}

impl RunKind for BenchSpecification {
    const DIRECTORY: Option<&'static str> = None;
    const IS_DIVISIBLE: bool = true;

    fn perform(
        specification: Checked<Self>,
        setting: Setting<'_>,
    ) -> Result<Outcome<String>, Failure> {
        let device = ComputeDevice::open(setting.device)?;
        perform(Bench::open(specification, &device)?, setting)?.written()
    }
}

impl OpenedRun for Bench {
    type Kind = BenchSpecification;
    type Summary = BenchSummary;

    fn record(&self) -> Option<&Record> {
        Some(&self.record)
    }

    fn whole(self, target: Target<'_>, observer: &dyn Observer) -> Result<Self::Summary, Failure> {
        let (protocol, done) = (self.specification.protocol, AtomicUsize::new(0));
        let go_on = &mut watching(observer, protocol.repeats, &done);
        let figures = measure(self.parameters, &self.pool, protocol, go_on)?;
        self.write(target.directory(), figures, done.load(Ordering::Relaxed))
    }

    fn folder(&self, path: &Path) -> Result<ShardFolder, Failure> {
        let (specification, record) = (&self.specification, &self.record);
        Ok(ShardFolder::for_run(path, specification, record)?)
    }

    fn work(
        &self,
        folder: &ShardFolder,
        shard: Shard,
        observer: &dyn Observer,
    ) -> Result<Worked, Failure> {
        let done = AtomicUsize::new(0);
        let mut go_on = watching(observer, self.specification.protocol.repeats, &done);
        work(&mut self.items(&mut go_on), folder, shard)
    }

    fn merge(
        &self,
        folder: &ShardFolder,
        directory: &mut dyn FnMut() -> Result<RunDirectory, Failure>,
        _: &dyn Observer,
    ) -> Result<Merged<Self::Summary>, Failure> {
        let mut go_on = |_| true;
        let repeats = merged(&self.items(&mut go_on), folder)?;
        let repeats = repeats.collect::<Result<Vec<Repeat>, _>>()?;
        let figures = figures(&self.pool, self.specification.protocol, &repeats);
        let summary = self.write(Some(&directory()?), figures, repeats.len())?;
        Ok(Merged::Complete(summary))
    }
}
