//! The kinds of runs of k-means, as the runner performs them: fitting, and measuring deletions.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::Model;
use super::benchmark::{BenchmarkOptions, Labelled};
use super::comparison::{Comparison, ComparisonProgress, Seeds, compare};
use super::dataset::Dataset;
use super::directory::{Description, ModelDirectory, describe};
use super::model::Algorithm;
use super::specification::{BenchSpecification, FitSpecification};
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

/// The summary of a fitted model, as JSON.
#[derive(Debug, Serialize)]
pub struct FitSummary {
    /// The version of this layout.
    pub schema_version: u32,
    /// The command, always `kmeans fit`.
    pub command: &'static str,
    /// The algorithm with its options.
    pub algorithm: String,
    /// The number of rows that were clustered.
    pub rows: usize,
    /// The number of columns of each row.
    pub columns: usize,
    /// The number of clusters.
    pub clusters: usize,
    /// The rows that reading the data left out.
    #[serde(flatten)]
    pub left_out: LeftOut,
    /// The sum of squared distances.
    pub loss: f64,
    /// The number of rows of each cluster.
    pub sizes: Vec<u64>,
    /// The path of the model.
    pub model: PathBuf,
}

/// Rows that are read, to be clustered.
pub struct Fit {
    specification: FitSpecification,
    dataset: Dataset,
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
        let specification = specification.into_inner();
        let reading = (&specification.data, &specification.reading);
        let mut dataset = specification.input.read(reading.0, reading.1)?;
        dataset.points = dataset.points.on(&Proposer::new(device));
        Ok(Fit {
            specification,
            dataset,
        })
    }
}

impl RunKind for FitSpecification {
    const DIRECTORY: Option<&'static str> = Some("kmeans");

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
        let (dataset, options) = (self.dataset, self.specification.options());
        let rows = dataset.points.len();
        let model = Model::fit(dataset.points, &options)?;
        let (assignment, loss) = model.assignment();
        let mut sizes = vec![0; options.clusters];
        for (_, cluster) in assignment {
            sizes[cluster] += 1;
        }
        let input = &self.specification.input;
        let (label, id_column) = (input.label_column.clone(), input.id_column.clone());
        let description = Description::new(&options, dataset.columns, label, id_column);
        ModelDirectory::create(directory, description, &model)?;
        Ok(FitSummary {
            schema_version: 1,
            command: "kmeans fit",
            algorithm: describe(&options.algorithm),
            rows,
            columns: model.columns(),
            clusters: options.clusters,
            left_out: dataset.left_out,
            loss,
            sizes,
            model: directory.path().to_owned(),
        })
    }
}

/// The summary of a measurement of deletions, the contents of `summary.json`.
#[derive(Debug, Serialize)]
pub struct BenchSummary {
    /// The version of this layout.
    pub schema_version: u32,
    /// The command, always `kmeans bench`.
    pub command: &'static str,
    /// The version of Probity that ended the run.
    pub probity_version: &'static str,
    /// The data file.
    pub data: PathBuf,
    /// The SHA-256 of the data file.
    pub data_sha256: String,
    /// The number of rows.
    pub rows: usize,
    /// The rows that reading the data left out.
    #[serde(flatten)]
    pub left_out: LeftOut,
    /// The number of columns of each row.
    pub columns: usize,
    /// The options of the measurement.
    pub options: BenchmarkOptions,
    /// The seed of everything random.
    pub seed: u64,
    /// The results of the measurement.
    #[serde(flatten)]
    pub measured: Comparison,
}

/// Rows that are read, to be deleted from clusterings of them.
pub struct Bench {
    specification: BenchSpecification,
    record: Record,
    dataset: Dataset,
    labels: Vec<Option<u32>>,
    options: BenchmarkOptions,
    algorithms: Vec<Algorithm>,
    seeds: Vec<u64>,
}

impl Bench {
    /// Reads what `specification` names.
    ///
    /// # Errors
    /// When it cannot be read, or has too few rows.
    pub fn open(
        specification: Checked<BenchSpecification>,
        device: &ComputeDevice,
    ) -> Result<Bench, Failure> {
        let specification = specification.into_inner().located();
        let reading = (&specification.data, &specification.reading);
        let mut dataset = specification.input.read(reading.0, reading.1)?;
        dataset.points = dataset.points.on(&Proposer::new(device));
        specification.expect_rows(dataset.points.len())?;
        let record = Record {
            device: Some(device.name().to_string()),
            hardware: Some(device.hardware()),
            ..Record::new().opened("data", dataset.source.sha256.clone())
        };
        Ok(Bench {
            record: record_schema(record, specification.reading.schema.as_deref())?,
            labels: dataset.numbered_labels(),
            options: specification.options(),
            algorithms: specification.algorithms(),
            seeds: specification.seeds(),
            dataset,
            specification,
        })
    }

    fn data(&self) -> Labelled<'_> {
        Labelled {
            points: &self.dataset.points,
            labels: &self.labels,
        }
    }

    fn items<'a>(
        &'a self,
        observe: &'a mut dyn FnMut(ComparisonProgress<'_>) -> ControlFlow<()>,
    ) -> Seeds<'a> {
        Seeds {
            data: self.data(),
            algorithms: &self.algorithms,
            options: &self.options,
            seeds: &self.seeds,
            observe,
        }
    }

    /// Writes the results, which are `measured`, to `directory`.
    fn write(
        &self,
        directory: &RunDirectory,
        measured: Comparison,
    ) -> Result<BenchSummary, Failure> {
        let (specification, dataset) = (&self.specification, &self.dataset);
        let summary = BenchSummary {
            schema_version: 1,
            command: "kmeans bench",
            probity_version: env!("CARGO_PKG_VERSION"),
            data: specification.data.clone(),
            data_sha256: dataset.source.sha256.clone(),
            rows: dataset.points.len(),
            left_out: dataset.left_out.clone(),
            columns: dataset.columns.len(),
            options: self.options,
            seed: specification.clustering.seed,
            measured,
        };
        directory.write_run(specification, &self.record)?;
        directory.write_summary(&summary)?;
        Ok(summary)
    }
}

/// Returns a function that shows `observer` the progress of a measurement of so many deletions.
fn watching(
    observer: &dyn Observer,
    deletions: usize,
) -> impl FnMut(ComparisonProgress<'_>) -> ControlFlow<()> {
    move |progress| match progress {
        ComparisonProgress::Baseline { seed } => {
            let message = || format!("seed {seed}");
            observer.observe(Progress::new("k-means", (0, 0), &message))
        }
        ComparisonProgress::Deletions { algorithm, done } => {
            let steps = (done as u64, deletions as u64);
            observer.observe(Progress::new(algorithm, steps, &|| "deletions".to_owned()))
        }
    }
}

impl RunKind for BenchSpecification {
    const DIRECTORY: Option<&'static str> = Some("kmeans-bench");
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
        let observe = &mut watching(observer, self.options.deletions);
        let (algorithms, options) = (&self.algorithms, &self.options);
        let measured = compare(self.data(), algorithms, options, &self.seeds, observe)?;
        self.write(target.needed()?, measured)
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
        let mut observe = watching(observer, self.options.deletions);
        work(&mut self.items(&mut observe), folder, shard)
    }

    fn merge(
        &self,
        folder: &ShardFolder,
        directory: &mut dyn FnMut() -> Result<RunDirectory, Failure>,
        observer: &dyn Observer,
    ) -> Result<Merged<Self::Summary>, Failure> {
        let mut observe = watching(observer, self.options.deletions);
        let of_seeds = merged(&self.items(&mut observe), folder)?;
        let (algorithms, options) = (&self.algorithms, &self.options);
        let directory = directory()?;
        let measured = Comparison::merged(algorithms, options, &self.seeds, of_seeds)?;
        Ok(Merged::Complete(self.write(&directory, measured)?))
    }
}
