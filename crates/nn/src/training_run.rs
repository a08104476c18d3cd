//! A whole training as one call: table → network → model directory.
//!
//! The directory is a model ([`super::model`]) and a run at once: beside `model.toml` and
//! `weights.safetensors` it holds `run.toml` (everything resolved), `summary.json` and, while the
//! training is unfinished, `checkpoint.bin`.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

use super::fnn::Fnn;
use super::metrics::Metrics;
use super::model::{Model, StoreError};
use super::train::{EpochReport, TrainError, parallel_logits, train};
use super::train_options::TrainOptions;
use super::{Classifier, ModelError};
use probity_data::read::ReadError;
use probity_data::schema::Schema;
use probity_data::table::{Labels, ReadCounts, Table};
use probity_run::run_directory::{RUN, RunDirectory, RunError, file_sha256, hex};
use probity_tensor::device::{ComputeDevice, DeviceName};

/// How often an unfinished training is saved.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(20);

/// Why a training run cannot be done.
#[derive(Debug, Error)]
pub enum TrainingRunError {
    /// The data cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Training cannot start or go on.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// The model cannot be saved.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The directory cannot be used.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The data are no longer what the run began with.
    #[error("{} changed since the run began (SHA-256 {now}, was {then}); start a new run", data.display())]
    Changed {
        /// The data file.
        data: PathBuf,
        /// Its hash now.
        now: String,
        /// Its hash at the start.
        then: String,
    },
}

impl From<ModelError> for TrainingRunError {
    fn from(error: ModelError) -> Self {
        TrainingRunError::Train(error.into())
    }
}

/// Everything that determines a training: `run.toml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainingRun {
    /// Always `train`.
    pub command: String,
    /// Version that began the run.
    pub probity_version: String,
    /// Data file.
    pub data: PathBuf,
    /// SHA-256 of the data file.
    pub data_sha256: String,
    /// Device that trained.
    pub device: DeviceName,
    /// What that device calls itself.
    pub hardware: String,
    /// Options of the training.
    pub options: TrainOptions,
    /// The schema, whole.
    pub schema: Schema,
}

/// `summary.json` of a training.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrainingSummary {
    /// Version of this layout.
    pub schema_version: u32,
    /// Always `train`.
    pub command: String,
    /// Version that ended the run.
    pub probity_version: String,
    /// Whether training ran to its end; an interrupted one can be resumed.
    pub finished: bool,
    /// Seed of everything random.
    pub seed: u64,
    /// Device that trained.
    pub device: DeviceName,
    /// SHA-256 of the data file.
    pub data_sha256: String,
    /// SHA-256 of the model.
    pub model_sha256: String,
    /// What reading the data changed or left out.
    pub data: ReadCounts,
    /// Trainable numbers.
    pub parameters: usize,
    /// Seconds of this call.
    pub seconds: f64,
    /// Quality on the training part.
    pub train: Metrics,
    /// Quality on the validation part, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation: Option<Metrics>,
    /// Quality on the test part, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<Metrics>,
    /// Epoch by epoch.
    pub history: Vec<EpochReport>,
}

impl TrainingRun {
    /// Reads the data, which must be what the run began with.
    ///
    /// # Errors
    /// When they changed or cannot be read.
    pub fn read_table(&self) -> Result<Table, TrainingRunError> {
        let now = file_sha256(&self.data)?;
        if now != self.data_sha256 {
            return Err(TrainingRunError::Changed {
                data: self.data.clone(),
                now,
                then: self.data_sha256.clone(),
            });
        }
        Ok(Table::read(&self.data, &self.schema, Labels::Required)?)
    }

    /// What a checkpoint must belong to.
    fn identity(&self) -> String {
        hex(&Sha256::digest(format!("{self:?}")))
    }
}

/// Trains as `training` says on `table`, its data, in the directory `run`. With `resume` the directory's checkpoint, if
/// there is one, is taken up. `observe` is called after every epoch and may stop.
///
/// # Errors
/// See [`TrainingRunError`].
pub fn run_training(
    training: &TrainingRun,
    table: &Table,
    run: &RunDirectory,
    device: &ComputeDevice,
    resume: bool,
    observe: &mut dyn FnMut(&EpochReport) -> ControlFlow<()>,
) -> Result<TrainingSummary, TrainingRunError> {
    let schema = &training.schema;
    training.options.check(schema.label.classes.len())?;
    let checkpoint = if resume {
        run.read_checkpoint(&training.identity())?
    } else {
        None
    };
    run.write_toml(RUN, training)?;
    let started = Instant::now();
    let mut saved_at = Instant::now();
    let mut failed = None;
    let trained = train(
        table,
        schema,
        &training.options,
        device,
        checkpoint,
        &mut |report, checkpoint| {
            let flow = observe(report);
            if flow.is_break() || saved_at.elapsed() >= CHECKPOINT_EVERY {
                if let Err(error) = run.write_checkpoint(&training.identity(), &checkpoint()) {
                    failed = Some(error);
                    return ControlFlow::Break(());
                }
                saved_at = Instant::now();
            }
            flow
        },
    )?;
    if let Some(error) = failed {
        return Err(error.into());
    }
    let seconds = started.elapsed().as_secs_f64();
    let model = Model {
        schema: schema.clone(),
        network: trained.network,
    };
    model.save(run.path())?;
    let fnn = Fnn::new(&model.network, device);
    let quality = |rows: &[u32]| -> Result<Option<Metrics>, TrainingRunError> {
        if rows.is_empty() {
            return Ok(None);
        }
        let part = table.select(rows);
        let logits = parallel_logits(&fnn, &part)?;
        Ok(Some(Metrics::new(&logits, fnn.classes(), part.labels())))
    };
    let part = table.select(&trained.split.train);
    let summary = TrainingSummary {
        schema_version: 1,
        command: training.command.clone(),
        probity_version: env!("CARGO_PKG_VERSION").to_owned(),
        finished: trained.finished,
        seed: training.options.seed,
        device: training.device,
        data_sha256: training.data_sha256.clone(),
        model_sha256: model.sha256(),
        data: table.counts.clone(),
        parameters: model.network.parameters(),
        seconds,
        train: Metrics::new(&parallel_logits(&fnn, &part)?, fnn.classes(), part.labels()),
        validation: quality(&trained.split.validation)?,
        test: quality(&trained.split.test)?,
        history: trained.history,
    };
    run.write_summary(&summary)?;
    if trained.finished {
        run.remove_checkpoint()?;
    }
    Ok(summary)
}
