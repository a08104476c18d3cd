//! Training of fully connected networks on tables.
//!
//! One epoch visits the training rows in the keyed random order of (seed, epoch). A batch is cut
//! into shards of the device's tile height; shards are differentiated in parallel and their
//! gradients added in shard order, so that the result does not depend on the number of threads.
//! What the device draws at random would not be keyed, so dropout masks are drawn here.
//!
//! The loss is the class-weighted mean cross-entropy. With a validation part the parameters of the
//! epoch with the least validation loss are returned, and early stopping watches it; without one,
//! the last epoch's.

mod encodings;
mod error;
mod parameters;
mod split;
mod trainer;

use std::ops::ControlFlow;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub(super) use self::encodings::class_weights;
use self::encodings::encodings;
pub use self::error::TrainError;
use self::parameters::{fingerprint, parameters};
use self::split::count_classes;
pub use self::split::{Split, plan_split};
use self::trainer::Trainer;
pub(super) use self::trainer::out_of_patience;
use super::encoding::InputLayout;
use super::fnn::Network;
use super::optimizer::{OptimizerState, ParameterOptimizer};
use super::train_options::TrainOptions;
use super::worst_case::TableWorstCase;
use super::{Classifier, ModelError, Rows};
use probity_data::schema::Schema;
use probity_data::table::Table;
use probity_tensor::device::ComputeDevice;

/// What one epoch did.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EpochReport {
    /// Epoch, from 1.
    pub epoch: u32,
    /// Mean training loss over the epoch's steps.
    pub loss: f64,
    /// Loss on the validation part, if there is one.
    pub validation_loss: Option<f64>,
    /// Accuracy on the validation part, if there is one.
    pub validation_accuracy: Option<f64>,
}

/// Everything needed to go on after the last finished epoch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainCheckpoint {
    /// Says whether it belongs to this data and these options.
    fingerprint: u64,
    history: Vec<EpochReport>,
    parameters: Vec<Vec<f32>>,
    optimizer: OptimizerState,
    best: Option<(f64, Vec<Vec<f32>>)>,
}

/// A trained network and its course.
#[derive(Debug, Clone)]
pub struct Trained {
    /// The network.
    pub network: Network,
    /// The parts it was trained and validated on, and the one it never saw.
    pub split: Split,
    /// Epoch by epoch.
    pub history: Vec<EpochReport>,
    /// Whether all epochs, or early stopping, ended it (rather than the caller).
    pub finished: bool,
}

/// Called after each epoch with its report and a closure that makes a checkpoint; `Break` ends the
/// training with what there is.
pub type Observe<'a> =
    dyn FnMut(&EpochReport, &dyn Fn() -> TrainCheckpoint) -> ControlFlow<()> + 'a;

/// Trains a network on `table`.
///
/// With `resume` it goes on where that checkpoint was made, to the
/// very network of an uninterrupted run.
///
/// # Errors
/// Options out of range, too few rows, divergence, a device failure, a foreign checkpoint.
pub fn train(
    table: &Table,
    schema: &Schema,
    options: &TrainOptions,
    device: &ComputeDevice,
    resume: Option<TrainCheckpoint>,
    observe: &mut Observe<'_>,
) -> Result<Trained, TrainError> {
    let (split, _) = plan_split(table, schema, options)?;
    let layout = InputLayout::new(
        &schema.attributes,
        &encodings(table, schema, &split.train, options),
    );
    let network = Network::random(
        layout,
        &options.hidden,
        schema.label.classes.len(),
        options.activation,
        options.seed,
    );
    let lesson = Lesson {
        table,
        split,
        row_weights: None,
        network,
    };
    train_lesson(lesson, options, device, resume, observe)
}

/// What is learnt, and what learning starts from.
#[derive(Debug, Clone)]
pub struct Lesson<'a> {
    /// Labelled rows.
    pub table: &'a Table,
    /// Which of them train and validate.
    pub split: Split,
    /// How much each row of the table weighs in the loss, beside its class; `None`: all the same.
    pub row_weights: Option<&'a [f32]>,
    /// The network before the first step.
    pub network: Network,
}

/// Trains the network of `lesson` on its rows; see [`train`]. Of `options`, the widths, the activation, the encoding of
/// categories and the shares of the parts are those of the lesson, whatever they say.
///
/// # Errors
/// See [`train`].
pub fn train_lesson(
    lesson: Lesson<'_>,
    options: &TrainOptions,
    device: &ComputeDevice,
    resume: Option<TrainCheckpoint>,
    observe: &mut Observe<'_>,
) -> Result<Trained, TrainError> {
    learn(lesson, options, None, device, resume, observe)
}

/// Trains as [`train_lesson`] does, from the beginning, also against the worst protected variant of each
/// row: the parameters are those of the last epoch, since the validation loss says nothing of the worst
/// case.
///
/// # Errors
/// See [`train`]; also dropout or early stopping among the options, which this loss does not go with.
pub fn train_lesson_certified(
    lesson: Lesson<'_>,
    options: &TrainOptions,
    worst_case: &TableWorstCase,
    device: &ComputeDevice,
    observe: &mut Observe<'_>,
) -> Result<Trained, TrainError> {
    worst_case.check(options)?;
    learn(lesson, options, Some(worst_case), device, None, observe)
}

fn learn(
    lesson: Lesson<'_>,
    options: &TrainOptions,
    worst_case: Option<&TableWorstCase>,
    device: &ComputeDevice,
    resume: Option<TrainCheckpoint>,
    observe: &mut Observe<'_>,
) -> Result<Trained, TrainError> {
    let Lesson {
        table,
        split,
        row_weights,
        network,
    } = lesson;
    options.check(network.classes())?;
    let class_rows = count_classes(table, &split, network.classes())?;
    let parameters = parameters(&network);
    let mut trainer = Trainer {
        table,
        options,
        class_weights: class_weights(&options.class_weights, &class_rows),
        row_weights,
        shard: device.tile_rows(),
        device: device.burn().clone().autodiff(),
        optimizer: ParameterOptimizer::new(
            options.optimizer,
            options.weight_decay,
            parameters.len(),
        ),
        parameters,
        network,
        history: Vec::new(),
        best: None,
        fingerprint: fingerprint(table, options),
        worst_case,
        steps: split.train.len().div_ceil(options.batch) as u64,
    };
    if let Some(checkpoint) = resume {
        trainer.restore(checkpoint)?;
    }
    let mut finished = true;
    while !trainer.is_finished() {
        let report = trainer.epoch(&split, device)?;
        if observe(&report, &|| trainer.checkpoint()).is_break() {
            finished = trainer.is_finished();
            break;
        }
    }
    let history = trainer.history.clone();
    Ok(Trained {
        network: trainer.finish(),
        split,
        history,
        finished,
    })
}

/// Logits of a whole table, tiles in parallel.
///
/// # Errors
/// See [`Classifier::logits`].
pub fn parallel_logits(model: &dyn Classifier, table: &Table) -> Result<Vec<f32>, ModelError> {
    let width = table.width();
    let parts: Vec<Vec<f32>> = table
        .codes()
        .par_chunks(4096 * width.max(1))
        .map(|codes| model.logits(Rows::new(codes, width)))
        .collect::<Result<_, _>>()?;
    Ok(parts.concat())
}
