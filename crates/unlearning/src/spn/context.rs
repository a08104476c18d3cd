//! The context of learning: the inputs of decisions and statistics besides the rows of a node.

use rand::RngExt;

use super::clustering::space::{Geometry, Space};
use super::independence::gtest::GtestRule;
use super::leaves::{LeafRule, LeafStatistics};
use super::parameters::Choice;
use super::{Dataset, SpnParameters};
use probity_run::stream::{Purpose, stream};
use probity_tensor::proposer::Proposer;

/// The inputs from which decisions and statistics are computed, besides the rows of a node.
#[derive(Debug)]
pub struct LearningContext {
    /// The checked parameters.
    pub parameters: SpnParameters,
    /// The threshold of dependence.
    pub choice: Choice,
    /// The rows.
    pub data: Dataset,
    /// The parts that all G-tests share.
    pub gtest: GtestRule,
    /// The positions of rows in the space of the clustering.
    pub geometry: Geometry,
    /// The rules of the leaves, by variable.
    pub leaves: Vec<LeafRule>,
}

impl LearningContext {
    pub(super) fn new(parameters: SpnParameters, choice: Choice, data: Dataset) -> LearningContext {
        LearningContext {
            gtest: GtestRule::new(&data, parameters.bins, choice.threshold),
            geometry: Geometry::new(&data),
            leaves: data
                .variables()
                .iter()
                .map(|variable| LeafRule::new(variable, parameters.bins))
                .collect(),
            parameters,
            choice,
            data,
        }
    }

    /// Sets the device that proposes from now on, or none.
    pub(super) fn bring_to(&mut self, proposer: &Proposer) {
        self.data.bring_to(proposer);
        self.gtest.leave_device();
        self.geometry.leave_device();
    }

    /// Returns the space in which a node is clustered.
    pub(super) fn space<'a>(&'a self, scope: &'a [u32], key: u64) -> Space<'a> {
        Space {
            geometry: &self.geometry,
            data: &self.data,
            scope,
            key,
            clusters: usize::from(self.parameters.clusters),
        }
    }

    /// Returns the statistics of `rows` at a leaf of `variable`: of those whose value is known.
    pub(super) fn leaf_statistics(&self, variable: u32, rows: &[u32]) -> LeafStatistics {
        let rule = &self.leaves[variable as usize];
        let mut statistics = rule.empty();
        for fixed in self.data.known(variable, rows) {
            rule.add(&mut statistics, fixed);
        }
        statistics
    }

    /// Returns the key of the root.
    pub(super) fn root_key(&self) -> u64 {
        stream(self.parameters.seed, Purpose::SpnNode, 0, 0).random()
    }
}

/// Returns the key of a child: a function of its parent's key and of its name.
pub(super) fn child_key(parent: u64, name: u64) -> u64 {
    stream(parent, Purpose::SpnNode, name, 1).random()
}
