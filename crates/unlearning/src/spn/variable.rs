//! Variables: declared domains, and the integers that stand for values.
//!
//! Everything learnt is computed from one integer a value, its *fixed-point value*: the code of a
//! category, the distance of a whole number from the declared minimum, or the place of a real
//! number between its declared bounds in steps of 2⁻³⁰ of their distance. Bins and the coordinates
//! of the clustering derive from it and from the declaration alone, never from other rows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SpnError;

/// The number of steps between the declared bounds of a real variable.
pub const REAL_STEPS: i32 = 1 << 30;
/// The length of an axis of the clustering.
pub const AXIS: i32 = 1 << 12;
/// The height of the indicator of a category: `AXIS` / √2, so that two categories are `AXIS` apart.
pub const INDICATOR: i32 = 2896;
/// The number of categories beyond which they share cells of contingency tables, by their code.
const TABLE_LEVELS: u32 = 64;
/// The largest number of values of a categorical or whole-number domain.
const MAX_VALUES: u32 = 1_000_000;

/// The values a variable may take, declared before any row is read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Domain {
    /// A word out of a list; the value is the position of the word, from 0.
    Categorical {
        /// The words.
        levels: Vec<String>,
    },
    /// A whole number.
    Integer {
        /// The smallest value.
        min: i32,
        /// The largest value.
        max: i32,
    },
    /// A real number between the first and the last edge; the edges between them divide it into
    /// bins.
    Real {
        /// The edges, ascending, finite, at least two.
        edges: Vec<f64>,
    },
}

/// The family of univariate distributions at the leaves of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LeafFamily {
    /// A probability a value.
    Categorical,
    /// A normal density.
    Gaussian,
    /// A Poisson distribution of the distance from the declared minimum.
    Poisson,
    /// A constant density in each declared bin.
    Histogram,
}

impl LeafFamily {
    /// All families of leaves.
    pub const ALL: [LeafFamily; 4] = [
        LeafFamily::Categorical,
        LeafFamily::Gaussian,
        LeafFamily::Poisson,
        LeafFamily::Histogram,
    ];

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            LeafFamily::Categorical => "categorical",
            LeafFamily::Gaussian => "gaussian",
            LeafFamily::Poisson => "poisson",
            LeafFamily::Histogram => "histogram",
        }
    }
}

/// A column of the table: name, domain, and the family of its leaves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Variable {
    name: String,
    domain: Domain,
    family: LeafFamily,
}

impl Variable {
    /// Creates a variable; the domain and the family are checked.
    ///
    /// # Errors
    /// An empty, unordered or too large domain, or a family that the domain cannot have.
    pub fn new(name: String, domain: Domain, family: LeafFamily) -> Result<Variable, SpnError> {
        let fail = |problem: &str| {
            Err(SpnError::Domain {
                column: name.clone(),
                problem: problem.to_owned(),
            })
        };
        let refuse = |reason| {
            Err(SpnError::Family {
                column: name.clone(),
                family: family.name(),
                reason,
            })
        };
        match &domain {
            Domain::Categorical { levels } => {
                if levels.is_empty() || levels.len() > MAX_VALUES as usize {
                    return fail("a categorical domain has 1 to 1,000,000 levels");
                }
                if family != LeafFamily::Categorical {
                    return refuse("its values are words");
                }
            }
            Domain::Integer { min, max } => {
                if min > max || i64::from(*max) - i64::from(*min) >= i64::from(MAX_VALUES) {
                    return fail("a domain of whole numbers has 1 to 1,000,000 values");
                }
            }
            Domain::Real { edges } => {
                let ascending = edges.windows(2).all(|pair| pair[0] < pair[1]);
                if edges.len() < 2 || !ascending || edges.iter().any(|edge| !edge.is_finite()) {
                    return fail(
                        "a domain of real numbers needs at least two ascending, finite edges",
                    );
                }
                let range = edges[edges.len() - 1] - edges[0];
                if !range.is_finite() {
                    return fail("the declared bounds are too far apart");
                }
                if edges.len() > usize::from(u16::MAX) {
                    return fail("at most 65,534 bins are possible");
                }
                if matches!(family, LeafFamily::Categorical | LeafFamily::Poisson) {
                    return refuse("its values are real numbers");
                }
            }
        }
        Ok(Variable {
            name,
            domain,
            family,
        })
    }

    /// Returns the column's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the declared domain.
    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    /// Returns the family of the leaves.
    pub fn family(&self) -> LeafFamily {
        self.family
    }

    /// Returns the family that suits a domain where none is asked for.
    pub fn usual_family(domain: &Domain) -> LeafFamily {
        match domain {
            Domain::Categorical { .. } => LeafFamily::Categorical,
            // Two values are a coin, whatever they are called.
            Domain::Integer { min, max } if max.abs_diff(*min) <= 1 => LeafFamily::Categorical,
            Domain::Integer { .. } => LeafFamily::Poisson,
            Domain::Real { .. } => LeafFamily::Gaussian,
        }
    }

    /// Returns the smallest value and the distance to the largest.
    pub fn range(&self) -> (f64, f64) {
        match &self.domain {
            Domain::Categorical { levels } => (0.0, (levels.len() - 1) as f64),
            Domain::Integer { min, max } => (f64::from(*min), f64::from(*max) - f64::from(*min)),
            Domain::Real { edges } => (edges[0], edges[edges.len() - 1] - edges[0]),
        }
    }

    /// Returns the number of values, where they can be counted.
    pub fn values(&self) -> Option<u32> {
        match &self.domain {
            Domain::Categorical { levels } => Some(levels.len() as u32),
            Domain::Integer { min, max } => Some((i64::from(*max) - i64::from(*min) + 1) as u32),
            Domain::Real { .. } => None,
        }
    }

    /// Describes the numbers that stand for values of the variable, in words.
    pub fn expected(&self) -> String {
        match &self.domain {
            Domain::Categorical { levels } => format!("a level from 0 to {}", levels.len() - 1),
            Domain::Integer { .. } | Domain::Real { .. } => self.describe(),
        }
    }

    /// Describes the texts that the variable accepts, in words.
    pub fn describe(&self) -> String {
        match &self.domain {
            Domain::Categorical { levels } => {
                let shown = levels
                    .iter()
                    .take(8)
                    .map(|level| match level.is_empty() {
                        true => "'' (missing)",
                        false => level,
                    })
                    .collect::<Vec<_>>();
                let more = match levels.len() - shown.len() {
                    0 => String::new(),
                    rest => format!(" or {rest} more"),
                };
                format!("one of {}{more}", shown.join(", "))
            }
            Domain::Integer { min, max } => format!("a whole number from {min} to {max}"),
            Domain::Real { edges } => {
                format!("a number from {} to {}", edges[0], edges[edges.len() - 1])
            }
        }
    }

    /// Returns the fixed-point value of `value`; `None` outside the domain.
    pub fn fixed(&self, value: f64) -> Option<i32> {
        match &self.domain {
            Domain::Categorical { .. } | Domain::Integer { .. } => {
                let (min, range) = self.range();
                let distance = value - min;
                (distance.fract() == 0.0 && (0.0..=range).contains(&distance))
                    .then_some(distance as i32)
            }
            Domain::Real { edges } => {
                let (min, range) = self.range();
                let inside = value >= min && value <= edges[edges.len() - 1];
                let steps = (value - min) / range * f64::from(REAL_STEPS);
                inside.then(|| (steps.round() as i32).min(REAL_STEPS))
            }
        }
    }

    /// Returns the fixed-point value in the middle of the domain.
    pub fn middle(&self) -> i32 {
        match self.values() {
            Some(values) => (values.max(1) - 1) as i32 / 2,
            None => REAL_STEPS / 2,
        }
    }

    /// Returns the value that a fixed-point value stands for.
    pub fn value(&self, fixed: i32) -> f64 {
        let (min, range) = self.range();
        match &self.domain {
            Domain::Categorical { .. } | Domain::Integer { .. } => min + f64::from(fixed),
            Domain::Real { .. } => min + range * (f64::from(fixed) / f64::from(REAL_STEPS)),
        }
    }

    /// Returns the text of a value: the word of a category, else the number.
    pub fn text(&self, value: f64) -> String {
        match &self.domain {
            Domain::Categorical { levels } => levels
                .get(value as usize)
                .cloned()
                .unwrap_or_else(|| value.to_string()),
            Domain::Integer { .. } | Domain::Real { .. } => value.to_string(),
        }
    }

    /// Returns the value that a text stands for; `None` outside the domain.
    pub fn parse(&self, text: &str) -> Option<f64> {
        match &self.domain {
            Domain::Categorical { levels } => levels
                .iter()
                .position(|level| level == text)
                .map(|at| at as f64),
            Domain::Integer { .. } | Domain::Real { .. } => text
                .parse::<f64>()
                .ok()
                .filter(|value| self.fixed(*value).is_some()),
        }
    }

    /// Returns the edges of the bins in fixed-point values, and one number more than the largest
    /// value.
    fn fixed_edges(&self) -> Vec<i64> {
        match &self.domain {
            Domain::Categorical { levels } => (0..=levels.len() as i64).collect(),
            Domain::Integer { .. } => (0..=i64::from(self.values().unwrap_or(1))).collect(),
            Domain::Real { edges } => {
                let mut fixed: Vec<i64> = edges
                    .iter()
                    .map(|edge| i64::from(self.fixed(*edge).unwrap_or(REAL_STEPS)))
                    .collect();
                if let Some(last) = fixed.last_mut() {
                    *last += 1;
                }
                fixed
            }
        }
    }

    /// Returns the division of fixed-point values into at most `most` bins of a contingency table.
    pub fn table_bins(&self, most: u16) -> Binning {
        let most = match &self.domain {
            Domain::Categorical { .. } => TABLE_LEVELS,
            Domain::Integer { .. } | Domain::Real { .. } => u32::from(most),
        };
        Binning::grouped(&self.fixed_edges(), most as usize)
    }

    /// Returns the bins of a histogram leaf: the declared ones; for whole numbers at most `most`
    /// groups.
    pub fn histogram_bins(&self, most: u16) -> Binning {
        let most = match &self.domain {
            Domain::Real { edges } => edges.len(),
            Domain::Categorical { .. } | Domain::Integer { .. } => usize::from(most),
        };
        Binning::grouped(&self.fixed_edges(), most)
    }

    /// Returns the coordinate of a fixed-point value on the clustering's axis; the code itself
    /// where the variable has [`Variable::indicators`].
    pub fn coordinate(&self, fixed: i32) -> i32 {
        match &self.domain {
            Domain::Categorical { levels } if levels.len() > 2 => fixed,
            Domain::Real { .. } => fixed / (REAL_STEPS / AXIS),
            Domain::Categorical { .. } | Domain::Integer { .. } => {
                let steps = i64::from(self.values().unwrap_or(1)).max(2) - 1;
                (i64::from(fixed) * i64::from(AXIS) / steps) as i32
            }
        }
    }

    /// Returns the number of indicator axes of the clustering, for more than two categories; else
    /// `None`.
    pub fn indicators(&self) -> Option<usize> {
        match &self.domain {
            Domain::Categorical { levels } if levels.len() > 2 => Some(levels.len()),
            _ => None,
        }
    }
}

/// A division of fixed-point values into bins, by ascending edges: bin i holds `edges[i]..edges[i +
/// 1]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binning {
    edges: Vec<i64>,
}

impl Binning {
    /// Joins neighbouring bins so that at most `most` are left, each of nearly equally many.
    fn grouped(edges: &[i64], most: usize) -> Binning {
        let bins = edges.len() - 1;
        let groups = bins.min(most.max(1));
        Binning {
            edges: (0..=groups).map(|at| edges[at * bins / groups]).collect(),
        }
    }

    /// Returns the number of bins.
    pub fn len(&self) -> usize {
        self.edges.len() - 1
    }

    /// Returns whether there are no bins; never true for a checked domain.
    pub fn is_empty(&self) -> bool {
        self.edges.len() < 2
    }

    /// Returns the bin of a fixed-point value.
    pub fn bin(&self, fixed: i32) -> usize {
        let inner = &self.edges[1..self.edges.len() - 1];
        inner.partition_point(|edge| *edge <= i64::from(fixed))
    }

    /// Returns the first fixed-point value of bin `at`, and the first one after it.
    pub fn bounds(&self, at: usize) -> (i64, i64) {
        (self.edges[at], self.edges[at + 1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_without_a_word_is_said_to_be_missing() {
        let levels = ["white", ""].map(str::to_owned).to_vec();
        let domain = Domain::Categorical { levels };
        let family = LeafFamily::Categorical;
        let variable = Variable::new("race".into(), domain, family).unwrap();
        assert_eq!(variable.describe(), "one of white, '' (missing)");
    }
}
