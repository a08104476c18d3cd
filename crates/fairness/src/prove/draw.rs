//! Draws points of undecided boxes: how many of them are discriminatory, as an estimate, and where
//! a search may begin.

use rand::RngExt;
use rayon::prelude::*;

use super::measure::{Measure, Product};
use super::network::{Ranges, SumNetwork};
use super::partition::Region;
use crate::check::{Checked, Wanted, check_until_flip};
use crate::domain::{Domain, TabularDomain};
use probity_nn::{Classifier, ModelError, Rows};
use probity_run::stream::{Purpose, Stream, stream};

/// Number of points that are asked about at a time.
const CHUNK: u64 = 1024;

/// Number of points of a discriminatory box that are tried for a pair.
const TRIES: u64 = 2_000;

/// The network, the measure and the model by which points are drawn and asked about.
pub struct Points<'a> {
    /// The network, laid out.
    pub network: &'a SumNetwork,
    /// The measure that weights the points.
    pub measure: &'a Measure,
    /// The model that answers.
    pub model: &'a dyn Classifier,
    /// The domain of the inputs.
    pub domain: &'a TabularDomain,
    /// Seed of the draws.
    pub seed: u64,
}

/// Points that were drawn of undecided boxes.
#[derive(Debug, Clone, Default)]
pub struct Drawn {
    /// The rows of some of the points.
    pub rows: Vec<Vec<i32>>,
    /// The number of the box of each of these rows.
    pub boxes: Vec<u32>,
    /// Number of points that were drawn.
    pub sampled: u64,
    /// Discriminatory ones among them.
    pub discriminatory: u64,
}

/// Number of rows of undecided boxes that are kept.
pub const KEPT: usize = 1_000;

impl Points<'_> {
    /// A point of `ranges`, by its weight.
    pub fn one(&self, ranges: &Ranges, draw: &mut Stream) -> Vec<i32> {
        let positions: Vec<u32> = match self.measure.products() {
            None => ranges
                .iter()
                .map(|&[first, last]| draw.random_range(first..=last))
                .collect(),
            Some([only]) => of_product(only, ranges, draw),
            Some(products) => {
                let weights = products.iter().map(|product| product.weight(ranges));
                let product = by_weight(&weights.collect::<Vec<_>>(), draw);
                of_product(&products[product], ranges, draw)
            }
        };
        self.network.row(&positions)
    }

    /// Draws `count` points of the boxes `open`, each box by its weight.
    ///
    /// # Errors
    /// When the model cannot answer.
    pub fn of_boxes(&self, open: &[Region], count: u64) -> Result<Drawn, ModelError> {
        let mut ends = Vec::with_capacity(open.len());
        let mut end = 0u128;
        for leaf in open {
            end += leaf.points;
            ends.push(end);
        }
        if end == 0 {
            return Ok(Drawn::default());
        }
        let parts = (0..count.div_ceil(CHUNK)).into_par_iter().map(|chunk| {
            let items = chunk * CHUNK..((chunk + 1) * CHUNK).min(count);
            let (boxes, rows): (Vec<u32>, Vec<Vec<i32>>) = items
                .map(|item| {
                    let mut draw = stream(self.seed, Purpose::UndecidedPoint, item, 0);
                    let at = draw.random_range(0..end);
                    let leaf = &open[ends.partition_point(|&end| end <= at)];
                    (leaf.number, self.one(&leaf.ranges, &mut draw))
                })
                .unzip();
            let checks = self.check(&rows)?;
            let found = checks.iter().filter(|check| !check.flips.is_empty());
            Ok((found.count() as u64, boxes, rows))
        });
        let parts: Vec<(u64, Vec<u32>, Vec<Vec<i32>>)> =
            parts.collect::<Result<_, ModelError>>()?;
        let mut drawn = Drawn {
            sampled: count,
            ..Drawn::default()
        };
        for (found, boxes, rows) in parts {
            drawn.discriminatory += found;
            let left = KEPT.saturating_sub(drawn.rows.len());
            drawn.rows.extend(rows.into_iter().take(left));
            drawn.boxes.extend(boxes.into_iter().take(left));
        }
        Ok(drawn)
    }

    /// A discriminatory point of `leaf`, if one is found.
    ///
    /// # Errors
    /// When the model cannot answer.
    pub fn witness(&self, leaf: &Region) -> Result<Option<(Vec<i32>, Checked)>, ModelError> {
        let mut tried = 0;
        // Where all points are, the first one is.
        let mut next = 1;
        while tried < TRIES {
            let rows: Vec<Vec<i32>> = (tried..tried + next)
                .map(|item| {
                    let mut draw =
                        stream(self.seed, Purpose::Witness, u64::from(leaf.number), item);
                    self.one(&leaf.ranges, &mut draw)
                })
                .collect();
            let checks = self.check(&rows)?;
            let found = rows.into_iter().zip(checks);
            if let Some(found) = found.into_iter().find(|(_, check)| !check.flips.is_empty()) {
                return Ok(Some(found));
            }
            tried += next;
            next = (8 * next).min(256);
        }
        Ok(None)
    }

    fn check(&self, rows: &[Vec<i32>]) -> Result<Vec<Checked>, ModelError> {
        let codes = rows.concat();
        let rows = Rows::new(&codes, self.domain.width());
        check_until_flip(
            self.model,
            self.domain,
            rows,
            &vec![0; rows.len()],
            Wanted::Logits,
        )
    }
}

/// The positions of a point of `ranges`, by the shares of `product`.
fn of_product(product: &Product, ranges: &Ranges, draw: &mut Stream) -> Vec<u32> {
    let own = product.within(ranges).zip(ranges);
    own.map(|(shares, range)| range[0] + by_weight(shares, draw) as u32)
        .collect()
}

/// A place among `weights`, by its weight.
fn by_weight(weights: &[f64], draw: &mut Stream) -> usize {
    let mut left = draw.random::<f64>() * weights.iter().sum::<f64>();
    let mut last = 0;
    for (place, weight) in weights.iter().enumerate() {
        if *weight > 0.0 {
            last = place;
            if left < *weight {
                return place;
            }
        }
        left -= weight;
    }
    last
}
