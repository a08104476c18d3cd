//! LearnSPN (Algorithm 1) with a state at every node, for a threshold that is known; what begins
//! with its choice is in [`super::choice`].

use super::context::{LearningContext, child_key};
use super::parameters::Choice;
use super::structure::{Arena, Child, Inner, Node, NodeId, Part};
use super::{Dataset, SpnParameters};
use probity_tensor::proposer::Proposer;

/// A sum-product network with all that is needed to delete rows from it.
#[derive(Debug)]
pub struct Spn {
    pub(super) rules: LearningContext,
    pub(super) arena: Arena,
    pub(super) root: NodeId,
}

/// The parts that stay at a node after its decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    /// Everything that a deletion needs.
    State,
    /// The parts that the network is made of.
    Network,
}

/// A node that is still to be learnt.
#[derive(Debug)]
pub(super) struct Pending {
    pub node: NodeId,
    pub scope: Vec<u32>,
    pub key: u64,
    pub rows: Vec<u32>,
}

impl Spn {
    /// Learns with a threshold that is known.
    pub(super) fn learn_chosen(
        parameters: SpnParameters,
        choice: Choice,
        data: Dataset,
        keep: Keep,
    ) -> Spn {
        let rules = LearningContext::new(parameters, choice, data);
        let mut arena = Arena::default();
        let root = arena.reserve();
        let pending = Pending {
            node: root,
            scope: (0..rules.data.variables().len() as u32).collect(),
            key: rules.root_key(),
            rows: rules.data.remaining(),
        };
        let mut spn = Spn { rules, arena, root };
        spn.grow(vec![pending], keep);
        spn
    }

    /// Returns the network with a device that computes what deletions sum over rows; see
    /// [`Dataset::on`]. The device is no part of the network: learning takes it from the rows, a
    /// network that is read has none.
    #[must_use]
    pub fn on(mut self, proposer: &Proposer) -> Spn {
        self.rules.bring_to(proposer);
        self
    }

    /// Returns the rows.
    pub fn data(&self) -> &Dataset {
        &self.rules.data
    }

    /// Returns the parameters.
    pub fn parameters(&self) -> &SpnParameters {
        &self.rules.parameters
    }

    /// Returns the threshold of dependence: the one of the parameters, or the one that was chosen.
    pub fn threshold(&self) -> f64 {
        self.rules.choice.threshold
    }

    /// Learns all pending nodes and what follows from them.
    pub(super) fn grow(&mut self, mut pending: Vec<Pending>, keep: Keep) {
        while let Some(next) = pending.pop() {
            if let [variable] = next.scope[..] {
                let leaf = self.leaf(variable, &next.rows);
                self.arena.set(next.node, leaf);
                continue;
            }
            let mut inner = Inner::new(&self.rules, next.scope, next.key, next.rows);
            let plan = inner.decide(&self.rules, |inner| inner.cluster(&self.rules));
            for part in plan.parts() {
                pending.push(self.new_child(&mut inner, &part));
            }
            if keep == Keep::Network {
                inner.forget_state();
            }
            self.arena.set(next.node, Node::Inner(Box::new(inner)));
        }
    }

    /// Reserves a child of `inner`.
    pub(super) fn new_child(&mut self, inner: &mut Inner, part: &Part) -> Pending {
        let name = part.name();
        let node = self.arena.reserve();
        inner.children.push(Child { name, node });
        let (scope, rows) = match part {
            Part::Scope(scope) => (scope.clone(), inner.rows.clone()),
            Part::Cluster(cluster) => {
                let rows = inner.clustering.as_ref().map(|c| c.rows_of(*cluster));
                (inner.scope.clone(), rows.unwrap_or_default())
            }
        };
        Pending {
            node,
            scope,
            key: child_key(inner.key, name),
            rows,
        }
    }

    fn leaf(&self, variable: u32, rows: &[u32]) -> Node {
        Node::Leaf {
            variable,
            statistics: self.rules.leaf_statistics(variable, rows),
        }
    }
}
