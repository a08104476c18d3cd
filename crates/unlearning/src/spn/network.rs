//! The network alone: sums, products and distributions, without rows or learning state.

use super::Spn;
use super::leaves::Distribution;
use super::structure::{Inner, Node, NodeId, Operation};
use super::variable::Variable;

/// A node of a network.
#[derive(Debug, Clone, PartialEq)]
pub enum NetworkNode {
    /// A mixture: children and the logarithms of their weights, which sum to 1.
    Sum(Vec<(usize, f64)>),
    /// A factorisation over the children's variables, which are disjoint.
    Product(Vec<usize>),
    /// A distribution of one variable.
    Leaf(usize, Distribution),
}

/// A network of sums, products and leaves; node 0 is the root, children come after their parents.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    variables: Vec<Variable>,
    nodes: Vec<NetworkNode>,
}

/// The size of a network.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Shape {
    /// The number of sum nodes.
    pub sums: usize,
    /// The number of product nodes.
    pub products: usize,
    /// The number of leaves.
    pub leaves: usize,
    /// The number of edges.
    pub edges: usize,
    /// The number of edges on the longest way from the root.
    pub depth: usize,
}

impl Network {
    /// Creates the network of nodes that come before their children.
    pub fn new(variables: Vec<Variable>, nodes: Vec<NetworkNode>) -> Network {
        Network { variables, nodes }
    }

    /// Returns the variables, in column order.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// Returns all nodes; the root first.
    pub fn nodes(&self) -> &[NetworkNode] {
        &self.nodes
    }

    /// Returns the counts of nodes and edges, and the depth.
    pub fn shape(&self) -> Shape {
        let mut shape = Shape::default();
        let mut depth = vec![0; self.nodes.len()];
        for (at, node) in self.nodes.iter().enumerate() {
            let children: Vec<usize> = match node {
                NetworkNode::Sum(children) => {
                    shape.sums += 1;
                    children.iter().map(|(child, _)| *child).collect()
                }
                NetworkNode::Product(children) => {
                    shape.products += 1;
                    children.clone()
                }
                NetworkNode::Leaf(..) => {
                    shape.leaves += 1;
                    Vec::new()
                }
            };
            shape.edges += children.len();
            shape.depth = shape.depth.max(depth[at]);
            for child in children {
                depth[child] = depth[at] + 1;
            }
        }
        shape
    }
}

impl Spn {
    /// Returns the network that was learnt.
    pub fn network(&self) -> Network {
        let order = self.arena.preorder(self.root);
        let mut number = std::collections::HashMap::with_capacity(order.len());
        for (at, &node) in order.iter().enumerate() {
            number.insert(node, at);
        }
        let nodes = order
            .iter()
            .map(|&node| self.network_node(node, |child| number.get(&child).copied().unwrap_or(0)))
            .collect();
        Network::new(self.data().variables().to_vec(), nodes)
    }

    fn network_node(&self, node: NodeId, number: impl Fn(NodeId) -> usize) -> NetworkNode {
        match self.arena.get(node) {
            Node::Leaf {
                variable,
                statistics,
            } => {
                let at = *variable as usize;
                let smoothing = self.parameters().smoothing;
                let variable = &self.data().variables()[at];
                let rule = &self.rules.leaves[at];
                NetworkNode::Leaf(at, rule.distribution(statistics, variable, smoothing))
            }
            Node::Inner(inner) if inner.operation == Operation::SplitData => {
                let weighted = inner.children.iter().map(|child| {
                    let rows = cluster_rows(inner, child.name);
                    let weight = rows as f64 / inner.rows.len() as f64;
                    (number(child.node), weight.ln())
                });
                NetworkNode::Sum(weighted.collect())
            }
            Node::Inner(inner) => {
                let children = inner.children.iter();
                NetworkNode::Product(children.map(|child| number(child.node)).collect())
            }
            Node::Free => NetworkNode::Product(Vec::new()),
        }
    }
}

/// Returns the number of rows of `inner` in the cluster called `name`.
fn cluster_rows(inner: &Inner, name: u64) -> usize {
    inner.clustering.as_ref().map_or(0, |clustering| {
        let labelled = clustering.labelled();
        labelled
            .filter(|(_, label)| u64::from(*label) == name)
            .count()
    })
}
