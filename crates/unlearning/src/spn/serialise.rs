//! A network with its learning state as bytes, and back.
//!
//! The bytes are a function of parameters, variables and remaining rows: rows by ascending id, nodes
//! parents first, children by name, rows of a node by id. They hold no deleted row. What a row list or a table
//! can be counted from is not written: rows of a node follow from the labels above it; contingency tables
//! and traces of clusterings are made again for the nodes that a deletion touches.
//!
//! Reading recounts all moments and leaves and refuses bytes whose statistics are not those of their rows.

use serde::{Deserialize, Serialize};

use super::clustering::Clustering;
use super::learn::{Rules, child_key};
use super::leaves::LeafStatistics;
use super::moments::Moments;
use super::structure::{Arena, Child, Inner, Node, NodeId, Operation, Uninformative};
use super::variable::{Domain, REAL_STEPS, Variable};
use super::{Dataset, Spn, SpnError, SpnParameters};
use crate::model_file::{decode, encode};

/// The number of this form; another form has another number.
const FORM: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Written {
    form: u32,
    parameters: SpnParameters,
    variables: Vec<Variable>,
    ids: Vec<u64>,
    groups: Vec<String>,
    columns: Vec<Vec<i32>>,
    nodes: Vec<WrittenNode>,
}

#[derive(Serialize, Deserialize)]
enum WrittenNode {
    Leaf {
        variable: u32,
        statistics: LeafStatistics,
    },
    Inner {
        operation: Operation,
        uninformative: Uninformative,
        scope: Vec<u32>,
        moments: Vec<Moments>,
        clusters: Option<WrittenClusters>,
        children: Vec<u64>,
    },
}

#[derive(Serialize, Deserialize)]
struct WrittenClusters {
    /// Places of the seeds among the node's rows in the order of their ids.
    seeds: Vec<u32>,
    /// One label a row, in the same order.
    labels: Vec<u8>,
}

fn refuse(problem: impl Into<String>) -> SpnError {
    SpnError::Bytes {
        problem: problem.into(),
    }
}

impl Spn {
    /// The network and its learning state as bytes.
    ///
    /// # Errors
    /// None for values that this module makes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, SpnError> {
        let data = self.data().compacted();
        let nodes = self.arena.preorder(self.root);
        let written = Written {
            form: FORM,
            parameters: *self.parameters(),
            variables: data.variables().to_vec(),
            ids: (0..data.rows() as u32).map(|at| data.id(at)).collect(),
            groups: (0..data.rows() as u32)
                .filter_map(|at| data.group(at).map(str::to_owned))
                .collect(),
            columns: (0..data.variables().len() as u32)
                .map(|variable| data.column(variable).to_vec())
                .collect(),
            nodes: nodes
                .iter()
                .filter_map(|&node| self.written(node))
                .collect(),
        };
        encode(&written).map_err(refuse)
    }

    fn written(&self, node: NodeId) -> Option<WrittenNode> {
        match self.arena.get(node) {
            Node::Free => None,
            Node::Leaf {
                variable,
                statistics,
            } => Some(WrittenNode::Leaf {
                variable: *variable,
                statistics: statistics.clone(),
            }),
            Node::Inner(inner) => Some(WrittenNode::Inner {
                operation: inner.operation,
                uninformative: inner.uninformative,
                scope: inner.scope.clone(),
                moments: inner.moments.clone(),
                clusters: inner.clustering.as_ref().map(written_clusters),
                children: inner.children.iter().map(|child| child.name).collect(),
            }),
        }
    }

    /// Reads what [`Spn::to_bytes`] wrote.
    ///
    /// # Errors
    /// [`SpnError::Bytes`] for anything else, also when statistics and rows disagree.
    pub fn from_bytes(bytes: &[u8]) -> Result<Spn, SpnError> {
        let written: Written = decode(bytes).map_err(refuse)?;
        if written.form != FORM {
            return Err(refuse(format!("its form is {}, not {FORM}", written.form)));
        }
        let data = dataset(&written)?;
        let rules = Rules::new(written.parameters, data)?;
        let mut reader = Reader {
            rules,
            arena: Arena::default(),
        };
        let root = reader.read(written.nodes)?;
        Ok(Spn {
            rules: reader.rules,
            arena: reader.arena,
            root,
        })
    }
}

fn written_clusters(clustering: &Clustering) -> WrittenClusters {
    let mut labelled: Vec<(u32, u8)> = clustering.labelled().collect();
    labelled.sort_unstable();
    let place = |seed: &u32| labelled.partition_point(|(row, _)| row < seed) as u32;
    WrittenClusters {
        seeds: clustering.seeds().iter().map(place).collect(),
        labels: labelled.iter().map(|(_, label)| *label).collect(),
    }
}

fn dataset(written: &Written) -> Result<Dataset, SpnError> {
    let rows = written.ids.len();
    let even = written.columns.iter().all(|column| column.len() == rows);
    let grouped = written.groups.is_empty() || written.groups.len() == rows;
    if !even || !grouped || written.columns.len() != written.variables.len() || rows == 0 {
        return Err(refuse("columns and rows do not fit"));
    }
    let mut variables = Vec::with_capacity(written.variables.len());
    for (variable, column) in written.variables.iter().zip(&written.columns) {
        let (name, domain) = (variable.name().to_owned(), variable.domain().clone());
        let variable = Variable::new(name, domain, variable.family())?;
        let last = match variable.domain() {
            Domain::Real { .. } => REAL_STEPS,
            Domain::Categorical { .. } | Domain::Integer { .. } => {
                variable.values().unwrap_or(1) as i32 - 1
            }
        };
        if column.iter().any(|value| !(0..=last).contains(value)) {
            return Err(refuse(format!(
                "column '{}' leaves its domain",
                variable.name()
            )));
        }
        variables.push(variable);
    }
    let (ids, groups) = (written.ids.clone(), written.groups.clone());
    Dataset::from_fixed(variables, ids, groups, written.columns.clone())
}

struct Reader {
    rules: Rules,
    arena: Arena,
}

/// A node that the next bytes must describe.
struct Expected {
    node: NodeId,
    /// The whole scope below a sum; what it must be a part of below a product.
    scope: Vec<u32>,
    whole: bool,
    name: u64,
    key: u64,
    rows: Vec<u32>,
}

impl Reader {
    fn read(&mut self, nodes: Vec<WrittenNode>) -> Result<NodeId, SpnError> {
        let root = self.arena.reserve();
        let mut expected = vec![Expected {
            node: root,
            scope: (0..self.rules.data.variables().len() as u32).collect(),
            whole: true,
            name: 0,
            key: self.rules.root_key(),
            rows: self.rules.data.remaining(),
        }];
        let mut nodes = nodes.into_iter();
        while let Some(next) = expected.pop() {
            let node = nodes.next().ok_or_else(|| refuse("nodes are missing"))?;
            let scope: &[u32] = match &node {
                WrittenNode::Leaf { variable, .. } => &[*variable],
                WrittenNode::Inner { scope, .. } => scope,
            };
            let part = scope.iter().all(|v| next.scope.binary_search(v).is_ok())
                && scope.windows(2).all(|pair| pair[0] < pair[1])
                && scope
                    .first()
                    .is_some_and(|&v| next.whole || u64::from(v) == next.name);
            if !part || (next.whole && scope != next.scope) || next.rows.is_empty() {
                return Err(refuse("a node has other columns than its place asks for"));
            }
            let id = next.node;
            let node = match node {
                WrittenNode::Leaf {
                    variable,
                    statistics,
                } => self.leaf(variable, &statistics, &next.rows)?,
                inner @ WrittenNode::Inner { .. } => self.inner(inner, next, &mut expected)?,
            };
            self.arena.set(id, node);
        }
        if nodes.next().is_some() {
            return Err(refuse("there are more nodes than the tree has"));
        }
        self.check_products(root)?;
        Ok(root)
    }

    fn leaf(
        &self,
        variable: u32,
        statistics: &LeafStatistics,
        rows: &[u32],
    ) -> Result<Node, SpnError> {
        let counted = self.rules.leaf_statistics(variable, rows);
        if counted != *statistics {
            return Err(refuse("a leaf has not counted the rows that are there"));
        }
        Ok(Node::Leaf {
            variable,
            statistics: counted,
        })
    }

    fn inner(
        &mut self,
        node: WrittenNode,
        next: Expected,
        expected: &mut Vec<Expected>,
    ) -> Result<Node, SpnError> {
        let WrittenNode::Inner {
            operation,
            uninformative,
            scope,
            moments,
            clusters,
            children,
        } = node
        else {
            return Err(refuse("an inner node is missing"));
        };
        let mut inner = Inner::new(&self.rules, scope, next.key, next.rows);
        inner.operation = operation;
        inner.uninformative = uninformative;
        if inner.moments != moments || children.is_empty() {
            return Err(refuse("a node has not counted the rows that are there"));
        }
        // Rows read back are in the order of their ids.
        if let Some(clusters) = clusters {
            let seeds = clusters.seeds.iter();
            let seeds: Option<Vec<u32>> = seeds
                .map(|&s| inner.rows.get(s as usize).copied())
                .collect();
            let wanted = usize::from(self.rules.parameters.clusters);
            let (Some(seeds), true) = (seeds, clusters.labels.len() == inner.rows.len()) else {
                return Err(refuse("a clustering is not of the rows that are there"));
            };
            let known = clusters
                .labels
                .iter()
                .all(|&label| usize::from(label) < seeds.len());
            if !known || seeds.is_empty() || seeds.len() > wanted {
                return Err(refuse(
                    "a clustering has other clusters than were asked for",
                ));
            }
            let space = self.rules.space(&inner.scope, inner.key);
            inner.clustering = Some(Clustering::from_parts(
                space,
                inner.rows.clone(),
                seeds,
                clusters.labels,
            ));
        }
        let sum = operation == Operation::SplitData;
        if sum {
            let occupied = inner.clustering.as_ref().map(Clustering::occupied);
            let names: Vec<u64> = occupied.iter().flatten().map(|&c| u64::from(c)).collect();
            if names != children || names.len() < 2 {
                return Err(refuse("a sum has other children than clusters"));
            }
        }
        for name in children {
            let node = self.arena.reserve();
            inner.children.push(Child { name, node });
        }
        for child in inner.children.iter().rev() {
            let rows = match (&inner.clustering, u8::try_from(child.name)) {
                (Some(clustering), Ok(cluster)) if sum => clustering.rows_of(cluster),
                _ => inner.rows.clone(),
            };
            expected.push(Expected {
                node: child.node,
                scope: inner.scope.clone(),
                whole: sum,
                name: child.name,
                key: child_key(inner.key, child.name),
                rows,
            });
        }
        Ok(Node::Inner(Box::new(inner)))
    }

    /// Whether the children of every product divide its columns.
    fn check_products(&self, root: NodeId) -> Result<(), SpnError> {
        for node in self.arena.preorder(root) {
            let Node::Inner(inner) = self.arena.get(node) else {
                continue;
            };
            if inner.operation == Operation::SplitData {
                continue;
            }
            let mut scope: Vec<u32> = Vec::with_capacity(inner.scope.len());
            for child in &inner.children {
                match self.arena.get(child.node) {
                    Node::Leaf { variable, .. } => scope.push(*variable),
                    Node::Inner(child) => scope.extend(&child.scope),
                    Node::Free => {}
                }
            }
            scope.sort_unstable();
            if scope != inner.scope {
                return Err(refuse(
                    "the children of a product do not divide its columns",
                ));
            }
        }
        Ok(())
    }
}
