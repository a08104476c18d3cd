//! Training of fully connected networks on tables.
//!
//! One epoch visits the training rows in the keyed random order of (seed, epoch). On the CPU the
//! gradients are computed by `kernels` of our own, on other devices by burn in `tensors`; the
//! parameters are moved on the host. A batch is cut into shards whose gradients are added in their
//! order, so that the result does not depend on the number of threads.
//!
//! The loss is the class-weighted mean cross-entropy, of numbers the mean squared error: see
//! `goal`.

mod encodings;
mod goal;
mod kernels;
mod loss;
mod parameters;
mod tensors;
mod trainer;
pub mod worst_case;

use std::ops::ControlFlow;

use self::encodings::encodings;
use self::goal::{Goal, Standard};
use self::loss::Loss;
use self::parameters::{fingerprint, flat, network_with};
use self::trainer::{Gradients, Trainer};
pub use self::trainer::{TableState, parallel_logits};
use self::worst_case::TableWorstCase;
use super::fitting::{Checkpoint, EpochReport, Fitting, Observe};
use super::options::TableOptions;
use super::{Split, TrainError, plan_split};
use crate::Rows;
use crate::encoding::InputLayout;
use crate::flat_optimizer::FlatOptimizer;
use crate::fnn::Network;
use probity_data::schema::Schema;
use probity_data::table::Table;
use probity_tensor::device::ComputeDevice;

/// The state with which a training on a table goes on.
pub type TrainCheckpoint = Checkpoint<TableState, Vec<f32>>;

/// A trained network and its course.
#[derive(Debug, Clone)]
pub struct Trained {
    /// The network.
    pub network: Network,
    /// The parts it was trained and validated on, and the one it never saw.
    pub split: Split,
    /// The reports of all epochs.
    pub history: Vec<EpochReport>,
    /// Whether all epochs, or early stopping, ended the training (rather than the caller).
    pub finished: bool,
}

/// Trains a network on `table`.
///
/// With `resume` the training goes on where that checkpoint was made, to the very network of an
/// uninterrupted run.
///
/// # Errors
/// Options that do not fit, too few rows, divergence, a device failure, a foreign checkpoint.
pub fn train(
    table: &Table,
    schema: &Schema,
    options: &TableOptions,
    device: &ComputeDevice,
    resume: Option<TrainCheckpoint>,
    observe: &mut Observe<'_, TrainCheckpoint>,
) -> Result<Trained, TrainError> {
    let split = plan_split(table, schema, options)?;
    let layout = InputLayout::new(
        &schema.attributes,
        &encodings(table, schema, &split.train, &options.network),
    );
    let network = Network::random(
        layout,
        &options.network.hidden,
        schema.label.classes.len(),
        options.network.activation,
        options.learning.seed,
    );
    let network = untrained(table, &split, network)?;
    let set = TrainingSet {
        table,
        split,
        row_weights: None,
        network,
    };
    learn(set, options, None, device, resume, observe)
}

/// Returns `network`, whose weights are random, in the unit of the numbers of the rows of `table`
/// that train; as it is, where labels are classes.
///
/// # Errors
/// When all these rows have one number.
pub fn untrained(table: &Table, split: &Split, network: Network) -> Result<Network, TrainError> {
    match Standard::of_rows(table, &split.train)? {
        Some(standard) => Ok(standard.restored(network)),
        None => Ok(network),
    }
}

/// The rows that are learnt, and the network that learning starts from.
#[derive(Debug, Clone)]
pub struct TrainingSet<'a> {
    /// The table of labelled rows.
    pub table: &'a Table,
    /// The parts of the rows that train and validate.
    pub split: Split,
    /// The weight of each row of the table in the loss, beside that of its class; `None`: all weigh
    /// the same.
    pub row_weights: Option<&'a [f32]>,
    /// The network before the first step, which gives numbers in the unit of the label.
    pub network: Network,
}

/// Trains the network of `set` on its rows from the beginning; see [`train`]. The widths, the
/// activation, the encoding of categories and the shares of the parts are those of the set,
/// whatever `options` say.
///
/// With a `worst_case` the network also learns against the worst protected variant of each row; the
/// parameters are then those of the last epoch, since the validation loss says nothing of the worst
/// case, or those of the last epoch [without](Network::without) the protected attributes, if their
/// loss is no larger.
///
/// # Errors
/// See [`train`]; with a worst case also dropout or early stopping among the options, which this
/// loss does not go with.
pub fn train_on(
    set: TrainingSet<'_>,
    options: &TableOptions,
    worst_case: Option<&TableWorstCase>,
    device: &ComputeDevice,
    observe: &mut dyn FnMut(&EpochReport) -> ControlFlow<()>,
) -> Result<Trained, TrainError> {
    if let Some(worst_case) = worst_case {
        worst_case.check(options)?;
    }
    learn(set, options, worst_case, device, None, &mut |report, _| {
        observe(report)
    })
}

fn learn(
    set: TrainingSet<'_>,
    options: &TableOptions,
    worst_case: Option<&TableWorstCase>,
    device: &ComputeDevice,
    resume: Option<TrainCheckpoint>,
    observe: &mut Observe<'_, TrainCheckpoint>,
) -> Result<Trained, TrainError> {
    let TrainingSet {
        table,
        split,
        row_weights,
        network,
    } = set;
    let learning = &options.learning;
    options.check(network.classes())?;
    let weights = (&learning.class_weights, network.classes());
    let goal = Goal::new((table, &split.train), weights)?;
    let network = goal.learning(network);
    let values = flat(&network);
    let pace = options.pace(split.train.len());
    let trainer = Trainer {
        split: &split,
        pace,
        device,
        gradients: Gradients::on(device, &network, worst_case),
        optimizer: FlatOptimizer::new(learning.optimizer, pace.weight_decay, values.len()),
        values,
        worst_case,
        steps: split.train.len().div_ceil(pace.batch) as u64,
        loss: Loss {
            table,
            goal,
            row_weights,
            network,
            dropout: options.network.dropout,
            seed: learning.seed,
            shard: device.tile_rows(),
        },
    };
    let fingerprint = fingerprint(table, options);
    let mut fitting = Fitting::new(trainer, (learning, pace), fingerprint);
    fitting.keeps_best = worst_case.is_none();
    let mut fitted = fitting.run(resume, observe)?;
    let mut network = network_with(&fitted.learner.loss.network, &fitted.parameters);
    if let Some(worst_case) = worst_case
        && fitted.finished
    {
        let rows = table.select(&split.train);
        let rows = Rows::new(rows.codes(), rows.width());
        let without = network.without(&worst_case.protected, rows);
        // It has no worse case than its own.
        let losses = [&without, &network].map(|network| fitted.learner.mean_loss(&flat(network)));
        let [of_without, own] = losses;
        if of_without? <= own? {
            network = without;
        }
    }
    let network = fitted.learner.loss.goal.learnt(network);
    Ok(Trained {
        network,
        history: fitted.history,
        finished: fitted.finished,
        split,
    })
}
