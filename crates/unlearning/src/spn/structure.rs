//! The arena of nodes, each with the state that deletion needs (section 4.1).
//!
//! A node is a leaf with its statistics, or an inner node with rows, moments, tables, clustering
//! and children. Which of these an inner node has is a function of its rows: what its decision had
//! to look at, and no more. Numbers of nodes are reused and mean nothing; the canonical order is
//! that of [`super::serialise`], parents first.

use serde::{Deserialize, Serialize};

use super::clustering::Clustering;
use super::independence::components::Components;
use super::independence::gtest::Tables;
use super::leaves::LeafStatistics;
use super::moments::Moments;
use super::row_delta::RowDelta;

/// A place in the arena.
pub type NodeId = usize;

/// The operations of LearnSPN on more than one variable; a single one is always a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operation {
    /// The operation NF: one leaf a variable.
    NaiveFactorization,
    /// The operation SU: a leaf for each constant variable, one child for the others.
    SplitUninformative,
    /// The operation SV: a child for each group of dependent variables.
    SplitVariables,
    /// The operation SD: a child for each cluster of rows.
    SplitData,
}

/// The flags exist_uninformative and all_uninformative of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Uninformative {
    /// Every variable takes at least two values.
    None,
    /// Some variables are constant, some are not.
    Some,
    /// All variables are constant.
    All,
}

/// The test of independence of a node.
#[derive(Debug, Clone)]
pub enum Dependence {
    /// Contingency tables, updated.
    Gtest(Tables),
    /// The groups that the randomised dependence coefficient gave last.
    Rdc(Components),
}

/// A child of an inner node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Child {
    /// The name of the child among its siblings: the smallest variable below a product, the cluster
    /// below a sum.
    pub name: u64,
    /// The place of the child in the arena.
    pub node: NodeId,
}

/// An inner node with its state.
#[derive(Debug, Clone)]
pub struct Inner {
    /// The variables of the node, ascending.
    pub scope: Vec<u32>,
    /// The key of the node's draws.
    pub key: u64,
    /// The positions of the node's rows, in no order that means anything.
    pub rows: Vec<u32>,
    /// The moments of the variables, by place in the scope.
    pub moments: Vec<Moments>,
    /// The flags about constant variables.
    pub uninformative: Uninformative,
    /// The test of independence, where the decision asked for one.
    pub dependence: Option<Dependence>,
    /// The clustering, where the decision asked for one.
    pub clustering: Option<Clustering>,
    /// The operation that was decided on.
    pub operation: Operation,
    /// The children, ordered by name.
    pub children: Vec<Child>,
    /// The sub-networks that earlier decisions asked for; no part of the model.
    pub spares: Spares,
}

/// The part of a node's variables or rows that a child is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// The variables of a child below a product.
    Scope(Vec<u32>),
    /// The rows of a cluster, for a child below a sum.
    Cluster(u8),
}

impl Part {
    /// Returns the name of the child among its siblings.
    pub fn name(&self) -> u64 {
        match self {
            Part::Scope(scope) => u64::from(scope[0]),
            Part::Cluster(cluster) => u64::from(*cluster),
        }
    }
}

/// Sub-networks that an earlier decision asked for, with the changes of rows since.
///
/// A decision near its threshold goes back and forth. When it comes back, the sub-network is not
/// learnt again but updated by what has changed since. Spares are never written.
#[derive(Debug, Clone, Default)]
pub struct Spares {
    /// Children of products.
    pub children: Vec<Spare<NodeId>>,
    /// A clustering with the children of the sum.
    pub split: Option<Spare<(Clustering, Vec<Child>)>>,
}

impl Spares {
    /// Iterates over the nodes that are kept.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> {
        let split = self.split.iter().flat_map(|split| &split.kept.1);
        let children = self.children.iter().map(|spare| spare.kept);
        children.chain(split.map(|child| child.node))
    }
}

/// Something kept, the change since, and for how many changes it was kept.
#[derive(Debug, Clone)]
pub struct Spare<T> {
    /// The part that is kept.
    pub kept: T,
    /// The change of rows since it was kept.
    pub change: RowDelta,
    /// The number of changes since.
    pub idle: u8,
}

/// A node of the arena.
#[derive(Debug, Clone)]
pub enum Node {
    /// A place that is not in use.
    Free,
    /// A univariate distribution.
    Leaf {
        /// The variable of the distribution.
        variable: u32,
        /// The counts of the leaf.
        statistics: LeafStatistics,
    },
    /// A sum ([`Operation::SplitData`]) or product.
    Inner(Box<Inner>),
}

/// Nodes by number, with reuse.
#[derive(Debug, Clone, Default)]
pub struct Arena {
    nodes: Vec<Node>,
    free: Vec<NodeId>,
}

impl Arena {
    /// Reserves a place for a new node.
    pub fn reserve(&mut self) -> NodeId {
        self.free.pop().unwrap_or_else(|| {
            self.nodes.push(Node::Free);
            self.nodes.len() - 1
        })
    }

    /// Returns the node at `id`.
    pub fn get(&self, id: NodeId) -> &Node {
        &self.nodes[id]
    }

    /// Returns the node at `id`, to change it.
    pub fn get_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id]
    }

    /// Puts `node` at `id`.
    pub fn set(&mut self, id: NodeId, node: Node) {
        self.nodes[id] = node;
    }

    /// Takes the node at `id` out; its place stays reserved.
    pub fn take(&mut self, id: NodeId) -> Node {
        std::mem::replace(&mut self.nodes[id], Node::Free)
    }

    /// Gives up `id` and everything below it.
    pub fn release(&mut self, id: NodeId) {
        let mut pending = vec![id];
        while let Some(id) = pending.pop() {
            if let Node::Inner(inner) = self.take(id) {
                pending.extend(inner.children.iter().map(|child| child.node));
                pending.extend(inner.spares.nodes());
            }
            self.free.push(id);
        }
    }

    /// Returns the nodes below and including `root`: parents before children, children in order.
    pub fn preorder(&self, root: NodeId) -> Vec<NodeId> {
        let mut order = Vec::new();
        let mut pending = vec![root];
        while let Some(id) = pending.pop() {
            order.push(id);
            if let Node::Inner(inner) = &self.nodes[id] {
                pending.extend(inner.children.iter().rev().map(|child| child.node));
            }
        }
        order
    }
}
