//! Networks that tell a group: what each row's is told by the rows of other folds.
//!
//! The classifier is a small fully connected network of [`probity_nn`], one for each fold: numbers
//! enter scaled, words as one indicator each. It learns from the rows outside of the fold, of which
//! very many are drawn by their place in the order of content, and answers for the rows in it.

use std::ops::ControlFlow;

use rayon::prelude::*;

use super::error::ProxiesError;
use super::folds::Folds;
use crate::error::IndirectError;
use probity_data::schema::{Label, Schema};
use probity_data::table::Table;
use probity_nn::fnn::Fnn;
use probity_nn::train::options::{Categories, TableOptions};
use probity_nn::train::table::train;
use probity_nn::train::{TrainError, parallel_logits};
use probity_run::stream::{Purpose, drawn};
use probity_tensor::device::ComputeDevice;

/// The units of the hidden layer.
pub const UNITS: usize = 32;

/// The most rows that a network learns from.
pub const MOST_TAUGHT: usize = 100_000;

/// The setting in which networks are trained.
pub(super) struct Teaching<'a> {
    /// The columns that may be looked at, with their schema; its label has no meaning.
    pub table: &'a Table,
    /// The schema of these columns.
    pub schema: &'a Schema,
    /// The folds of the rows.
    pub folds: &'a Folds,
    /// The seed of the weights and of the order of rows.
    pub seed: u64,
    /// The device.
    pub device: &'a ComputeDevice,
    /// Called after each epoch with 0, and after each fold with 1; breaks to stop.
    pub watch: &'a (dyn Fn(u64) -> ControlFlow<()> + Sync),
}

/// What the networks say of the rows.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Told {
    /// The logarithm of the odds of being a member, row by row.
    pub log_odds: Vec<f64>,
    /// Whether the row is called a member: its odds are above those of a row that taught.
    pub is_called: Vec<bool>,
}

impl Told {
    /// Returns the probability of being a member, row by row.
    pub fn probabilities(&self) -> Vec<f64> {
        let log_odds = self.log_odds.iter();
        log_odds.map(|odds| 1.0 / (1.0 + (-odds).exp())).collect()
    }
}

/// What the network of one fold says.
struct ToldFold {
    /// The rows of the fold.
    rows: Vec<u32>,
    /// The logarithm of the odds of being a member, for each of them.
    log_odds: Vec<f64>,
    /// The logarithm of the odds for a row drawn from those that taught.
    base: f64,
}

impl ToldFold {
    /// Returns what is said where nothing can be learnt: of all `rows` the same.
    fn alike(rows: Vec<u32>, base: f64) -> ToldFold {
        ToldFold {
            log_odds: vec![base; rows.len()],
            rows,
            base,
        }
    }
}

impl Teaching<'_> {
    /// Trains a network for each fold on the columns at `places`, and returns what they say of the
    /// rows of their fold.
    ///
    /// A network whose rows are all members, or none of them is, says of all rows the same.
    ///
    /// # Errors
    /// When a training fails, or is stopped.
    pub fn told(&self, places: &[usize], is_member: &[bool]) -> Result<Told, ProxiesError> {
        let schema = Schema {
            attributes: places
                .iter()
                .map(|&place| self.schema.attributes[place].clone())
                .collect(),
            label: Label::of_classes("member", vec!["no".to_owned(), "yes".to_owned()]),
            ..self.schema.clone()
        };
        let codes = (0..self.table.rows()).flat_map(|row| {
            let row = self.table.row(row);
            places.iter().map(|&place| row[place])
        });
        let labels = is_member.iter().map(|&it| u32::from(it)).collect();
        let table = Table::new(places.len(), codes.collect(), labels);
        let of_folds: Result<Vec<ToldFold>, ProxiesError> = (0..self.folds.count)
            .into_par_iter()
            .map(|fold| {
                let told = self.fold(fold, (&table, &schema))?;
                match (self.watch)(1) {
                    ControlFlow::Break(()) => Err(IndirectError::Interrupted.into()),
                    ControlFlow::Continue(()) => Ok(told),
                }
            })
            .collect();
        let mut all = Told {
            log_odds: vec![0.0; table.rows()],
            is_called: vec![false; table.rows()],
        };
        for told in of_folds? {
            for (row, log_odds) in told.rows.into_iter().zip(told.log_odds) {
                all.log_odds[row as usize] = log_odds;
                all.is_called[row as usize] = log_odds > told.base;
            }
        }
        Ok(all)
    }

    /// Trains the network of `fold`, and returns what it says.
    fn fold(
        &self,
        fold: u32,
        (table, schema): (&Table, &Schema),
    ) -> Result<ToldFold, ProxiesError> {
        let (asked, outside) = (self.folds.rows(fold, true), self.folds.rows(fold, false));
        let item = u64::from(fold);
        let count = outside.len() as u32;
        let teaching = drawn(self.seed, Purpose::LookedAt, item, count, MOST_TAUGHT);
        let teaching: Vec<u32> = teaching.iter().map(|&row| outside[row as usize]).collect();
        let teaching = table.select(&teaching);
        let members = teaching.labels().iter().filter(|label| **label == 1);
        let (members, rows) = (members.count() as f64, teaching.rows() as f64);
        if members == 0.0 || members == rows || asked.is_empty() {
            return Ok(ToldFold::alike(asked, 0.0));
        }
        let base = (members / (rows - members)).ln();
        let network = match train(
            &teaching,
            schema,
            &self.options(),
            self.device,
            None,
            &mut |_, _| (self.watch)(0),
        ) {
            Ok(trained) if trained.finished => trained.network,
            Ok(_) => return Err(IndirectError::Interrupted.into()),
            // The part that is validated on may have taken the only members.
            Err(TrainError::TooFewRows { .. }) => {
                return Ok(ToldFold::alike(asked, base));
            }
            Err(error) => return Err(error.into()),
        };
        let model = Fnn::new(&network, self.device);
        let logits = parallel_logits(&model, &table.select(&asked)).map_err(TrainError::from)?;
        let log_odds = logits.chunks_exact(2);
        let log_odds = log_odds.map(|it| f64::from(it[1]) - f64::from(it[0]));
        Ok(ToldFold {
            rows: asked,
            log_odds: log_odds.collect(),
            base,
        })
    }

    fn options(&self) -> TableOptions {
        let mut options = TableOptions::default();
        options.network.hidden = vec![UNITS];
        options.network.categories = Categories::OneHot;
        options.learning.test = 0.0;
        options.learning.seed = self.seed;
        options
    }
}
