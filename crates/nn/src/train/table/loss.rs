//! The loss of a network on a batch of rows, before anything is computed of it: which rows, what
//! they should get and weigh, what dropout leaves out. The modules that compute it,
//! [`super::kernels`] on the CPU and [`super::tensors`] on other devices, take it from here.

use rand::RngExt;

use super::goal::{Goal, Targets};
use super::worst_case::TableWorstCase;
use crate::fnn::Network;
use probity_data::table::Table;
use probity_run::stream::{Purpose, stream};

/// The loss that a network learns from.
pub(super) struct Loss<'a> {
    pub table: &'a Table,
    pub goal: Goal<'a>,
    pub row_weights: Option<&'a [f32]>,
    /// The network, for its shape.
    pub network: Network,
    /// The share of hidden units that are left out.
    pub dropout: f32,
    pub seed: u64,
    /// The number of rows that share the key of a dropout mask: the height of the device's tiles.
    pub shard: usize,
}

/// The share of one step in the loss.
pub(super) struct Batch<'a> {
    /// The number of steps before this one.
    pub number: u64,
    /// The batch's rows of the table.
    pub rows: &'a [u32],
    /// The weight of each of the rows; 1 in sum.
    pub weights: Vec<f32>,
    /// The labels that the rows should get.
    pub targets: Targets,
    /// The worst case, where it counts.
    pub worst: Option<Worst<'a>>,
}

/// The worst case in a step, and how it counts.
#[derive(Clone, Copy)]
pub(super) struct Worst<'a> {
    pub case: &'a TableWorstCase,
    /// The weight of the worst case's loss; the row's own loss has the rest.
    pub kappa: f32,
    /// The radius to which the hull of the protected attributes has grown.
    pub radius: f32,
}

impl Loss<'_> {
    /// Returns the batch of the step after `number` others, on `rows`.
    pub fn batch<'a>(&self, number: u64, rows: &'a [u32], worst: Option<Worst<'a>>) -> Batch<'a> {
        let weight = |&row: &u32| {
            let of_row = self.row_weights;
            self.goal.weight(row) * of_row.map_or(1.0, |weights| weights[row as usize])
        };
        let total = rows.iter().map(weight).sum::<f32>();
        let total = total.max(f32::MIN_POSITIVE);
        Batch {
            number,
            rows,
            weights: rows.iter().map(|row| weight(row) / total).collect(),
            targets: self.goal.targets(rows),
            worst,
        }
    }

    /// Returns the dropout mask of a hidden layer of `width` units for `height` rows, row by row:
    /// zeros and 1/(1 − p), keyed by (seed, step, shard and layer). A mask drawn by a device would
    /// not be keyed.
    pub fn mask(&self, batch: u64, (shard, layer): (usize, usize), size: [usize; 2]) -> Vec<f32> {
        let keep = 1.0 - self.dropout;
        let step = ((shard as u64) << 32) | layer as u64;
        let mut stream = stream(self.seed, Purpose::Dropout, batch, step);
        let draw = |_| match stream.random::<f32>() < keep {
            true => 1.0 / keep,
            false => 0.0,
        };
        (0..size[0] * size[1]).map(draw).collect()
    }
}
