//! The plausibility of an individual: whether there are real rows that are no likelier.
//!
//! A sum-product network gives each individual, a row without its protected part, a density; the
//! protected attributes, and whatever else the network knows, are summed out exactly. The
//! *plausibility* of an individual is the share of the real rows whose density is no higher: 0.05
//! for one that is as likely as the least likely twentieth of them, 0 for one that is less likely
//! than all. It says how near an individual is to where the data are, and nothing of whether it
//! could exist: a network smooths, and data have their own gaps.

use std::path::PathBuf;

use rayon::prelude::*;

use super::density::{Cell, Density, DensityError};
use probity_data::schema::Schema;
use probity_unlearning::spn::Network;

/// The plausibility that an individual must reach to be called plausible.
pub(crate) const PLAUSIBLE: f32 = 0.05;

/// Number of bins of the plausibilities.
pub(super) const BINS: usize = 20;

/// A density and those of real rows.
#[derive(Debug, Clone)]
pub struct Plausibility {
    density: Density,
    /// The densities of the real rows, ascending.
    pub(super) real: Vec<f64>,
}

impl Plausibility {
    /// The plausibility by a network learnt from `rows` by the attributes `free` of `schema`.
    ///
    /// # Errors
    /// When nothing can be learnt.
    pub fn learnt(
        schema: &Schema,
        free: &[usize],
        rows: &[&[i32]],
        seed: u64,
    ) -> Result<Plausibility, DensityError> {
        let density = Density::learnt(schema, free, rows, seed)?;
        Ok(Plausibility::with(density, rows))
    }

    /// The plausibility by the `network` in a directory, which was learnt from columns of these names.
    ///
    /// # Errors
    /// When it does not know an attribute of `free` or a value of one, or hardly ever gives an input of
    /// the model.
    pub fn of_network(
        network: (Network, PathBuf),
        schema: &Schema,
        free: &[usize],
        rows: &[&[i32]],
    ) -> Result<Plausibility, DensityError> {
        let density = Density::of_network(network, schema, free)?;
        Ok(Plausibility::with(density, rows))
    }

    fn with(density: Density, rows: &[&[i32]]) -> Plausibility {
        let mut graded = Plausibility {
            density,
            real: Vec::new(),
        };
        let mut real = graded.densities(rows);
        real.sort_unstable_by(f64::total_cmp);
        graded.real = real;
        graded
    }

    /// The values that are not protected of input number `item` that is drawn from the network with
    /// `seed`: each attribute and its code.
    pub fn draw(&self, seed: u64, item: u64) -> Option<Vec<Cell>> {
        self.density.draw(&[], (seed, item), |_| true)
    }

    /// The logarithm of the density of each of `rows` without its protected part.
    pub fn densities(&self, rows: &[&[i32]]) -> Vec<f64> {
        rows.par_iter()
            .map(|row| self.density.of_row(row))
            .collect()
    }

    /// The plausibility of each of `rows`: the share of the real rows that are no likelier.
    pub fn grades(&self, rows: &[&[i32]]) -> Vec<f32> {
        let share = |density: f64| {
            let below = self
                .real
                .partition_point(|real| real.total_cmp(&density).is_le());
            (below as f64 / self.real.len().max(1) as f64) as f32
        };
        self.densities(rows).into_iter().map(share).collect()
    }
}
