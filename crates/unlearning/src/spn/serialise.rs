//! Serialisation of a network with its learning state: to bytes, and back.
//!
//! The bytes are a function of parameters, variables and remaining rows: rows by ascending id,
//! nodes parents first, children by name, rows of a node by id. They hold no deleted row. What a
//! row list or a table can be counted from is not written: rows of a node follow from the labels
//! above it; contingency tables and traces of clusterings are made again for the nodes that a
//! deletion touches.
//!
//! Reading recounts all moments and leaves and refuses bytes whose statistics are not those of
//! their rows.
//!
//! **Reading takes memory in proportion to the bytes.** *Proof.* Lists grow as their elements are
//! read. A node holds its rows. Those of sums are paid for by the labels, one a row. The children
//! of a product are at least two and share its columns out, which is checked before they are looked
//! at, so the products that hold one row are the inner nodes of a tree over its columns: fewer than
//! it has values. ∎

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::clustering::Clustering;
use super::context::{LearningContext, child_key};
use super::dataset::MISSING;
use super::leaves::LeafStatistics;
use super::moments::Moments;
use super::parameters::Choice;
use super::structure::{Arena, Child, Inner, Node, NodeId, Operation, Uninformative};
use super::variable::{Domain, REAL_STEPS, Variable};
use super::{Dataset, Spn, SpnError, SpnParameters};
use probity_run::sealed::{decode, encode};

/// The number of this form of bytes; another form has another number.
const FORM: u32 = 2;

#[derive(Serialize, Deserialize)]
struct Written {
    form: u32,
    parameters: SpnParameters,
    /// The threshold of the parameters, or the chosen one.
    threshold: f64,
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
    /// The places of the seeds among the node's rows in the order of their ids.
    seeds: Vec<u32>,
    /// The labels, one a row, in the same order.
    labels: Vec<u8>,
}

fn refuse(problem: impl Into<String>) -> SpnError {
    SpnError::Bytes {
        problem: problem.into(),
    }
}

impl Spn {
    /// Returns the network and its learning state as bytes.
    ///
    /// # Errors
    /// None for values that this module makes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, SpnError> {
        let data = self.data().compacted();
        let nodes = self.arena.preorder(self.root);
        let written = Written {
            form: FORM,
            parameters: *self.parameters(),
            threshold: self.threshold(),
            variables: data.variables().to_vec(),
            ids: (0..data.rows() as u32).map(|at| data.id(at)).collect(),
            groups: (0..data.rows() as u32)
                .filter_map(|at| data.group(at).map(str::to_owned))
                .collect(),
            columns: (0..data.variables().len() as u32)
                .map(|variable| data.given(variable))
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

    /// Reads a network that [`Spn::to_bytes`] wrote.
    ///
    /// # Errors
    /// [`SpnError::Bytes`] for anything else, also when statistics and rows disagree.
    pub fn from_bytes(bytes: &[u8]) -> Result<Spn, SpnError> {
        let written: Written = decode(bytes).map_err(refuse)?;
        if written.form != FORM {
            return Err(refuse(format!("its form is {}, not {FORM}", written.form)));
        }
        let data = dataset(&written)?;
        let (parameters, threshold) = (written.parameters, written.threshold);
        let choice = Choice::known(&parameters, &data, threshold)?;
        let rules = LearningContext::new(parameters, choice, data);
        let mut reader = Reader {
            rules,
            arena: Arena::default(),
            unclaimed: HashMap::new(),
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
        let is_inside = |&value: &i32| value == MISSING || (0..=last).contains(&value);
        if !column.iter().all(is_inside) {
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
    rules: LearningContext,
    arena: Arena,
    /// The columns of each product that no child has claimed so far, but for the children's names.
    unclaimed: HashMap<NodeId, HashSet<u32>>,
}

/// The columns that a node must have.
enum Place {
    /// Exactly these columns: at the root, and below a sum.
    Whole(Vec<u32>),
    /// The column `first`, and others that no sibling has: below a product.
    Part { product: NodeId, first: u32 },
}

/// A node that the next bytes must describe.
struct Expected {
    node: NodeId,
    scope: Place,
    key: u64,
    rows: Vec<u32>,
}

impl Reader {
    fn read(&mut self, nodes: Vec<WrittenNode>) -> Result<NodeId, SpnError> {
        let root = self.arena.reserve();
        let mut expected = vec![Expected {
            node: root,
            scope: Place::Whole((0..self.rules.data.variables().len() as u32).collect()),
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
            if !self.takes_place(scope, &next.scope) || next.rows.is_empty() {
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
        if self.unclaimed.values().any(|columns| !columns.is_empty()) {
            return Err(refuse(
                "the children of a product do not divide its columns",
            ));
        }
        Ok(root)
    }

    /// Returns whether a node of the columns `scope` may be in `place`; claims them from the
    /// product above.
    fn takes_place(&mut self, scope: &[u32], place: &Place) -> bool {
        match place {
            Place::Whole(whole) => scope == whole,
            Place::Part { product, first } => {
                let Some(([own], rest)) = scope.split_first_chunk() else {
                    return false;
                };
                let unclaimed = self.unclaimed.entry(*product).or_default();
                own == first
                    && scope.is_sorted_by(|a, b| a < b)
                    && rest.iter().all(|column| unclaimed.remove(column))
            }
        }
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
        } else {
            let mut columns: HashSet<u32> = inner.scope.iter().copied().collect();
            let mut names = children.iter().map(|&name| u32::try_from(name));
            let known = names.all(|name| name.is_ok_and(|name| columns.remove(&name)));
            if !known || children.len() < 2 {
                return Err(refuse("a product has other children than columns"));
            }
            self.unclaimed.insert(next.node, columns);
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
                scope: if sum {
                    Place::Whole(inner.scope.clone())
                } else {
                    Place::Part {
                        product: next.node,
                        first: child.name as u32,
                    }
                },
                key: child_key(inner.key, child.name),
                rows,
            });
        }
        Ok(Node::Inner(Box::new(inner)))
    }
}
