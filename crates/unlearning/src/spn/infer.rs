//! Inference (Poon and Domingos 2011): one pass over the network each.
//!
//! Evidence is one entry a variable, `None` where nothing is known: such a variable is summed or
//! integrated out, by setting its leaves to 1. All results are natural logarithms; for real
//! variables they are densities.

use rayon::prelude::*;

use super::leaves::pick;
use super::network::{Network, NetworkNode};
use super::{Domain, SpnError};
use probity_run::stream::{Purpose, stream};

/// The known values of the variables, in column order; nothing for one that is not known.
pub type Evidence = [Option<f64>];

/// An explanation: a full row and its log-density.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The values of the row, one a variable.
    pub row: Vec<f64>,
    /// The logarithm of the row's density under the network.
    pub log_density: f64,
}

impl Network {
    /// Returns the position of the variable `name`.
    ///
    /// # Errors
    /// [`SpnError::UnknownVariable`]
    pub fn position(&self, name: &str) -> Result<usize, SpnError> {
        let names = || self.variables().iter().map(|variable| variable.name());
        let at = names().position(|known| known == name);
        at.ok_or_else(|| SpnError::UnknownVariable {
            name: name.to_owned(),
            known: names().collect::<Vec<_>>().join(", "),
        })
    }

    /// Returns the evidence that values of single variables give, by their names, as they would
    /// stand in a file.
    ///
    /// # Errors
    /// When a name is unknown or comes twice, or a value is not in its domain.
    pub fn evidence<'a>(
        &self,
        values: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Vec<Option<f64>>, SpnError> {
        let mut evidence = vec![None; self.variables().len()];
        for (name, value) in values {
            let at = self.position(name)?;
            let variable = &self.variables()[at];
            let number = variable.parse(value);
            let number = number.ok_or_else(|| SpnError::NoSuchValue {
                name: name.to_owned(),
                value: value.to_owned(),
                expected: variable.describe(),
            })?;
            if evidence[at].replace(number).is_some() {
                return Err(SpnError::NamedTwice {
                    name: name.to_owned(),
                });
            }
        }
        Ok(evidence)
    }

    /// Returns the logarithm of the density of the evidence: the likelihood of a full row, a
    /// marginal otherwise.
    pub fn log_density(&self, evidence: &Evidence) -> f64 {
        self.upward(evidence).first().copied().unwrap_or(0.0)
    }

    /// Returns the logarithms of the densities of many rows, computed in parallel.
    pub fn log_densities(&self, rows: &[Vec<Option<f64>>]) -> Vec<f64> {
        rows.par_iter().map(|row| self.log_density(row)).collect()
    }

    /// Returns the logarithm of the density of `query` given `evidence`. Where both name a variable
    /// they must agree, else the probability is 0.
    ///
    /// # Errors
    /// [`SpnError::ImpossibleEvidence`].
    pub fn log_conditional(&self, query: &Evidence, evidence: &Evidence) -> Result<f64, SpnError> {
        let given = self.log_density(evidence);
        if given == f64::NEG_INFINITY {
            return Err(SpnError::ImpossibleEvidence);
        }
        let mut both = evidence.to_vec();
        for (known, asked) in both.iter_mut().zip(query) {
            match (&known, asked) {
                (Some(a), Some(b)) if a != b => return Ok(f64::NEG_INFINITY),
                (None, Some(_)) => *known = *asked,
                _ => {}
            }
        }
        Ok(self.log_density(&both) - given)
    }

    /// Returns the probability of each level of the categorical variable `target` given the other
    /// evidence.
    ///
    /// # Errors
    /// A variable that is not categorical, or [`SpnError::ImpossibleEvidence`].
    pub fn posterior(&self, target: usize, evidence: &Evidence) -> Result<Vec<f64>, SpnError> {
        let variable = &self.variables()[target];
        let Domain::Categorical { levels } = variable.domain() else {
            return Err(SpnError::NotCategorical {
                column: variable.name().to_owned(),
            });
        };
        let mut evidence = evidence.to_vec();
        let joint: Vec<f64> = (0..levels.len())
            .map(|level| {
                evidence[target] = Some(level as f64);
                self.log_density(&evidence)
            })
            .collect();
        let total = log_sum(joint.iter().copied());
        if total == f64::NEG_INFINITY {
            return Err(SpnError::ImpossibleEvidence);
        }
        Ok(joint.iter().map(|log| (log - total).exp()).collect())
    }

    /// Returns the explanation that max-product finds: sums become maxima, and the best child of
    /// each is followed down. The explanation is a most probable row where at most one child of
    /// every sum is positive for any full row (selective networks); on networks learnt from data it
    /// is a good row, and its density a lower bound of the best one.
    ///
    /// # Errors
    /// [`SpnError::ImpossibleEvidence`].
    pub fn explain(&self, evidence: &Evidence) -> Result<Explanation, SpnError> {
        let values = self.pass(evidence, |node, values| match node {
            NetworkNode::Sum(children) => best(children, values).1,
            NetworkNode::Product(children) => children.iter().map(|&child| values[child]).sum(),
            NetworkNode::Leaf(at, distribution) => {
                distribution.log_density(evidence[*at].unwrap_or_else(|| distribution.mode()))
            }
        });
        if values.first() == Some(&f64::NEG_INFINITY) {
            return Err(SpnError::ImpossibleEvidence);
        }
        let row = self.downward(evidence, |children| best(children, &values).0, |d| d.mode());
        let full: Vec<Option<f64>> = row.iter().copied().map(Some).collect();
        Ok(Explanation {
            log_density: self.log_density(&full),
            row,
        })
    }

    /// Draws a row given the evidence; sample `item` of `seed` is always the same.
    ///
    /// # Errors
    /// [`SpnError::ImpossibleEvidence`].
    pub fn sample(&self, evidence: &Evidence, seed: u64, item: u64) -> Result<Vec<f64>, SpnError> {
        let values = self.upward(evidence);
        if values.first() == Some(&f64::NEG_INFINITY) {
            return Err(SpnError::ImpossibleEvidence);
        }
        let mut choices = stream(seed, Purpose::SpnSample, item, 0);
        let mut draws = stream(seed, Purpose::SpnSample, item, 1);
        let choose = |children: &[(usize, f64)]| {
            let weights: Vec<f64> = children.iter().map(|(c, w)| w + values[*c]).collect();
            children[pick(&weights, &mut choices)].0
        };
        Ok(self.downward(evidence, choose, |distribution| {
            distribution.sample(&mut draws)
        }))
    }

    /// Returns the log-value of every node.
    fn upward(&self, evidence: &Evidence) -> Vec<f64> {
        self.pass(evidence, |node, values| match node {
            NetworkNode::Sum(children) => log_sum(
                children
                    .iter()
                    .map(|(child, weight)| weight + values[*child]),
            ),
            NetworkNode::Product(children) => children.iter().map(|&child| values[child]).sum(),
            NetworkNode::Leaf(at, distribution) => {
                evidence[*at].map_or(0.0, |value| distribution.log_density(value))
            }
        })
    }

    /// Computes values from the children to the parents.
    fn pass(&self, evidence: &Evidence, value: impl Fn(&NetworkNode, &[f64]) -> f64) -> Vec<f64> {
        debug_assert_eq!(evidence.len(), self.variables().len());
        let mut values = vec![0.0; self.nodes().len()];
        for (at, node) in self.nodes().iter().enumerate().rev() {
            values[at] = value(node, &values);
        }
        values
    }

    /// Returns a full row: at each sum the chosen child is followed, at each leaf without evidence
    /// `fill` is asked.
    fn downward(
        &self,
        evidence: &Evidence,
        mut choose: impl FnMut(&[(usize, f64)]) -> usize,
        mut fill: impl FnMut(&super::leaves::Distribution) -> f64,
    ) -> Vec<f64> {
        let mut row: Vec<f64> = evidence.iter().map(|known| known.unwrap_or(0.0)).collect();
        let mut pending = vec![0];
        while let Some(at) = pending.pop() {
            match &self.nodes()[at] {
                NetworkNode::Sum(children) => pending.push(choose(children)),
                NetworkNode::Product(children) => pending.extend(children.iter().rev()),
                NetworkNode::Leaf(at, distribution) if evidence[*at].is_none() => {
                    row[*at] = fill(distribution);
                }
                NetworkNode::Leaf(..) => {}
            }
        }
        row
    }
}

/// Returns the child with the largest weighted value, the first where several are, and that value.
fn best(children: &[(usize, f64)], values: &[f64]) -> (usize, f64) {
    let mut best = (0, f64::NEG_INFINITY);
    for (place, &(child, weight)) in children.iter().enumerate() {
        let value = weight + values[child];
        if place == 0 || value > best.1 {
            best = (child, value);
        }
    }
    best
}

/// Computes ln Σ exp, without overflow.
fn log_sum(logs: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = logs.clone().fold(f64::NEG_INFINITY, f64::max);
    if !largest.is_finite() {
        return largest;
    }
    largest + logs.map(|log| (log - largest).exp()).sum::<f64>().ln()
}
