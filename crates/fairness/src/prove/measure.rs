//! The measure that is counted by: points, or the weight that they have.
//!
//! Where points are weighted, they are drawn from a mixture of products: one product of marginals, or
//! the components of a fitted population. A count of a mixture is the sum of the counts of its
//! products, each by its weight, so that one partition serves both.

use std::collections::HashMap;

use super::network::{Ranges, SumNetwork};

/// The whole that a share is of: this much of all points is one, where they are weighted.
pub const WHOLE: u128 = 1 << 100;

/// The share of a box's weight whose products need not be counted in it: they stay undecided there.
const LEFT_OUT: f64 = 1e-4;

/// A product of independent attributes.
#[derive(Debug, Clone, PartialEq)]
pub struct Product {
    /// The share of the product in the mixture.
    pub weight: f64,
    /// The share of each position of each attribute that is not protected.
    pub shares: Vec<Vec<f64>>,
}

/// The measure that is counted by.
#[derive(Debug, Clone, Default)]
pub enum Measure {
    /// The number of points.
    #[default]
    Points,
    /// The weight of points under a mixture, from below: of all points together it is 1 at most.
    Mixture(Vec<Product>),
}

impl Product {
    /// The shares of the positions in `ranges`.
    pub fn within<'a>(&'a self, ranges: &'a Ranges) -> impl Iterator<Item = &'a [f64]> {
        let own = self.shares.iter().zip(ranges);
        own.map(|(shares, range)| &shares[range[0] as usize..=range[1] as usize])
    }

    /// The weight of the points in `ranges`.
    pub fn weight(&self, ranges: &Ranges) -> f64 {
        let shares = self.within(ranges);
        self.weight * shares.map(|own| own.iter().sum::<f64>()).product::<f64>()
    }
}

impl Measure {
    /// The measure of how often the codes of each attribute of `network` occur; `codes` gives those
    /// of an attribute.
    ///
    /// # Errors
    /// An attribute of whose codes none occurs.
    pub fn of_marginals<C: Iterator<Item = i32>>(
        network: &SumNetwork,
        codes: impl Fn(usize) -> C,
    ) -> Result<Measure, usize> {
        let shares = network.free.iter().map(|free| {
            let mut counts: HashMap<i32, f64> = HashMap::new();
            for code in codes(free.attribute) {
                *counts.entry(code).or_default() += 1.0;
            }
            let own = free
                .codes
                .iter()
                .map(|code| counts.get(code).copied().unwrap_or_default());
            let own: Vec<f64> = own.collect();
            let all: f64 = own.iter().sum();
            match all > 0.0 {
                true => Ok(own.into_iter().map(|count| count / all).collect()),
                false => Err(free.attribute),
            }
        });
        Ok(Measure::Mixture(vec![Product {
            weight: 1.0,
            shares: shares.collect::<Result<_, usize>>()?,
        }]))
    }

    /// The products that points are drawn from; none where they are counted.
    pub fn products(&self) -> Option<&[Product]> {
        match self {
            Measure::Points => None,
            Measure::Mixture(products) => Some(products),
        }
    }

    /// The products that make up the weight of the points in `ranges` but for a part that is too
    /// small to be worth counting, the heaviest first.
    pub fn heaviest(&self, ranges: &Ranges) -> Option<Vec<&Product>> {
        let products = self.products()?;
        let weights = products.iter().map(|product| product.weight(ranges));
        let mut weighted: Vec<(f64, &Product)> = weights.zip(products).collect();
        weighted.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut left: f64 = weighted.iter().map(|(weight, _)| weight).sum();
        let least = LEFT_OUT * left;
        let counted = weighted.iter().take_while(|(weight, _)| {
            let is_counted = left > least;
            left -= weight;
            is_counted
        });
        Some(counted.map(|(_, product)| *product).collect())
    }

    /// Whether points are weighted.
    pub fn is_weighted(&self) -> bool {
        self.products().is_some()
    }

    /// The weight of the points in `ranges`; nothing where they are counted.
    pub fn weight(&self, ranges: &Ranges) -> Option<f64> {
        let weights = self
            .products()?
            .iter()
            .map(|product| product.weight(ranges));
        Some(weights.sum())
    }
}
