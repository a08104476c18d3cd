//! A network as a mixture of products: its induced trees (Zhao, Melibari and Poupart 2015).
//!
//! Where every sum has chosen one of its children, what is left of a network is a product of leaves
//! of different variables; the network is the mixture of these products, each weighted by the
//! product of the chosen weights. Variables that nobody asks about are summed out first: their
//! leaves are 1, and a sum over nothing else is no choice. Nor is a sum over a single variable,
//! whose mixture is again one distribution of that variable. So the number of products is that of
//! the choices that tie variables together.
//!
//! All figures are bounds: the exact weight or mass, of the network whose parameters are its 64-bit
//! numbers, lies between the two.

use std::sync::Arc;

use super::network::{Network, NetworkNode};

/// Bounds of a number: at least and at most.
pub type Bounds = [f64; 2];

/// The largest error of one product or sum of f64, as a share of it.
const ROUNDING: f64 = f64::EPSILON;

/// A product of distributions, one for each variable that was asked about.
#[derive(Debug, Clone, PartialEq)]
pub struct Component {
    /// The weight of the component in the mixture.
    pub weight: Bounds,
    /// The masses of the cells of each variable, in column order; none for a variable that was not
    /// asked about.
    pub masses: Vec<Option<Arc<Vec<Bounds>>>>,
}

/// The part of the network below a node.
#[derive(Debug, Clone, Default)]
enum Below {
    /// The part has no variable that was asked about: the factor 1.
    #[default]
    Nothing,
    /// The part has one variable that was asked about, with its masses.
    One(usize, Vec<Bounds>),
    /// The part has several variables that were asked about, and so many components.
    Many(u128),
}

impl Network {
    /// Returns the components of the network over those variables of which `cells` has some: each
    /// cell is a range of values, from the first to below the second. Variables without cells are
    /// summed out.
    ///
    /// # Errors
    /// The number of components, when there are more than `most`.
    pub fn mixture(
        &self,
        cells: &[Option<Vec<[f64; 2]>>],
        most: usize,
    ) -> Result<Vec<Component>, u128> {
        let mut below: Vec<Below> = vec![Below::Nothing; self.nodes().len()];
        for (at, node) in self.nodes().iter().enumerate().rev() {
            below[at] = match node {
                NetworkNode::Leaf(variable, distribution) => {
                    match cells.get(*variable).and_then(Option::as_ref) {
                        None => Below::Nothing,
                        Some(cells) => {
                            let masses = cells.iter().map(|&cell| distribution.probability(cell));
                            Below::One(*variable, masses.collect())
                        }
                    }
                }
                NetworkNode::Product(children) => {
                    children
                        .iter()
                        .fold(Below::Nothing, |all, &child| match (all, &below[child]) {
                            (all, Below::Nothing) => all,
                            (Below::Nothing, own) => own.clone(),
                            (all, own) => Below::Many(all.count().saturating_mul(own.count())),
                        })
                }
                NetworkNode::Sum(children) => mixed(children, &below),
            };
        }
        let count = below.first().map_or(1, Below::count);
        if count > most as u128 {
            return Err(count);
        }
        Ok(self.components(&below, cells.len()))
    }

    /// Returns the components, where there are few enough.
    fn components(&self, below: &[Below], width: usize) -> Vec<Component> {
        let mut parts: Vec<Vec<Component>> = vec![Vec::new(); below.len()];
        let nothing = || Component {
            weight: [1.0; 2],
            masses: vec![None; width],
        };
        for (at, node) in self.nodes().iter().enumerate().rev() {
            let own = match (&below[at], node) {
                (Below::Nothing, _) => vec![nothing()],
                (Below::One(variable, masses), _) => {
                    let mut one = nothing();
                    one.masses[*variable] = Some(Arc::new(masses.clone()));
                    vec![one]
                }
                (Below::Many(_), NetworkNode::Sum(children)) => {
                    let weighted = children.iter().flat_map(|(child, weight)| {
                        let weight = exponential(*weight);
                        parts[*child].iter().map(move |part| Component {
                            weight: product(weight, part.weight),
                            masses: part.masses.clone(),
                        })
                    });
                    weighted.collect()
                }
                (Below::Many(_), NetworkNode::Product(children)) => {
                    children.iter().fold(vec![nothing()], |all, &child| {
                        let pairs = all
                            .iter()
                            .flat_map(|one| parts[child].iter().map(move |other| one.and(other)));
                        pairs.collect()
                    })
                }
                (Below::Many(_), NetworkNode::Leaf(..)) => Vec::new(),
            };
            parts[at] = own;
        }
        parts.into_iter().next().unwrap_or_else(|| vec![nothing()])
    }
}

impl Below {
    fn count(&self) -> u128 {
        match self {
            Below::Nothing | Below::One(..) => 1,
            Below::Many(count) => *count,
        }
    }
}

impl Component {
    /// Returns the product with a component over other variables.
    fn and(&self, other: &Component) -> Component {
        let masses = self.masses.iter().zip(&other.masses);
        Component {
            weight: product(self.weight, other.weight),
            masses: masses
                .map(|(own, other)| own.clone().or_else(|| other.clone()))
                .collect(),
        }
    }
}

/// Returns the part below a sum of these children, all of which have the same variables.
fn mixed(children: &[(usize, f64)], below: &[Below]) -> Below {
    let of_children = || children.iter().map(|(child, _)| &below[*child]);
    match of_children().next() {
        None | Some(Below::Nothing) => Below::Nothing,
        Some(Below::Many(_)) => {
            let counts = of_children().map(Below::count);
            Below::Many(counts.fold(0, u128::saturating_add))
        }
        Some(Below::One(variable, first)) => {
            let mut sums = vec![[0.0; 2]; first.len()];
            for (child, weight) in children {
                if let Below::One(_, masses) = &below[*child] {
                    let weight = exponential(*weight);
                    for (sum, mass) in sums.iter_mut().zip(masses) {
                        *sum = added(*sum, product(weight, *mass));
                    }
                }
            }
            Below::One(*variable, sums)
        }
    }
}

/// Returns the exponential of a weight's logarithm.
fn exponential(log: f64) -> Bounds {
    let value = log.exp();
    [
        value * (1.0 - 4.0 * ROUNDING),
        value * (1.0 + 4.0 * ROUNDING),
    ]
}

/// Returns the product of numbers that are not negative.
pub fn product(a: Bounds, b: Bounds) -> Bounds {
    [
        (a[0] * b[0] * (1.0 - ROUNDING) - f64::MIN_POSITIVE).max(0.0),
        a[1] * b[1] * (1.0 + ROUNDING) + f64::MIN_POSITIVE,
    ]
}

/// Returns the sum of numbers that are not negative.
pub fn added(a: Bounds, b: Bounds) -> Bounds {
    [
        (a[0] + b[0]) * (1.0 - ROUNDING),
        (a[1] + b[1]) * (1.0 + ROUNDING),
    ]
}
