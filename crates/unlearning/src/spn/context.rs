//! What learning computes decisions and statistics from besides the rows of a node.

use rand::RngExt;

use super::clustering::space::{Geometry, Space};
use super::independence::gtest::GtestRule;
use super::leaves::{LeafRule, LeafStatistics};
use super::parameters::Choice;
use super::{Dataset, SpnParameters};
use probity_run::stream::{Purpose, stream};
use probity_tensor::proposer::Proposer;

/// Everything that decisions and statistics are computed from, besides the rows of a node.
#[derive(Debug)]
pub struct LearningContext {
    /// Checked parameters.
    pub parameters: SpnParameters,
    /// The threshold of dependence.
    pub choice: Choice,
    /// All rows.
    pub data: Dataset,
    /// What G-tests share.
    pub gtest: GtestRule,
    /// How rows lie in the space of the clustering.
    pub geometry: Geometry,
    /// By variable.
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

    /// Another device proposes from now on, or none.
    pub(super) fn bring_to(&mut self, proposer: &Proposer) {
        self.data.bring_to(proposer);
        self.gtest.leave_device();
        self.geometry.leave_device();
    }

    /// The space in which a node is clustered.
    pub(super) fn space<'a>(&'a self, scope: &'a [u32], key: u64) -> Space<'a> {
        Space {
            geometry: &self.geometry,
            data: &self.data,
            scope,
            key,
            clusters: usize::from(self.parameters.clusters),
        }
    }

    /// The statistics of `rows` at a leaf of `variable`: of those whose value is known.
    pub(super) fn leaf_statistics(&self, variable: u32, rows: &[u32]) -> LeafStatistics {
        let rule = &self.leaves[variable as usize];
        let mut statistics = rule.empty();
        for fixed in self.data.known(variable, rows) {
            rule.add(&mut statistics, fixed);
        }
        statistics
    }

    /// The key of the root.
    pub(super) fn root_key(&self) -> u64 {
        stream(self.parameters.seed, Purpose::SpnNode, 0, 0).random()
    }
}

/// The key of a child: a function of its parent's key and of its name.
pub(super) fn child_key(parent: u64, name: u64) -> u64 {
    stream(parent, Purpose::SpnNode, name, 1).random()
}
