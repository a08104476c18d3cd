//! Divide-and-conquer k-means (section 4.2, Algorithm 2): a tree whose nodes cluster the centroids
//! of their children.
//!
//! Each row belongs to one leaf, drawn from the seed and its id. A node clusters its rows with
//! Lloyd's algorithm, with restarts of its own, and its centroids are the rows of its parent, each
//! under the id (child, cluster). The root's centroids are the model. A node of at most k rows
//! hands them on as they are.
//!
//! **Theorem.** After [`DivideConquer::delete`] the tree equals the one that [`DivideConquer::fit`]
//! makes of the remaining rows. *Proof.* Which leaf a row belongs to depends on its id and the seed
//! alone. A node depends on its rows and its place in the tree alone; a leaf that loses rows equals
//! a fit of the others ([`super::trace`]), a leaf that loses none is unchanged, and a node is made
//! anew where the centroids of a child differ. ∎

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::errors::KMeansError;
use super::points::Points;
use super::quantizer::Parameters;
use super::seeding::{Draws, Key};
use super::trace::Trace;
use super::tree::Tree;
use probity_run::stream::{Purpose, Words};
use probity_tensor::proposer::Proposer;

/// A node that has been solved.
#[derive(Debug, Clone)]
pub(super) enum Node {
    /// At most k rows, handed to the parent as they are.
    Few(Points),
    /// More than k rows, clustered.
    Clustered(Box<Trace>),
}

impl Node {
    fn solve(points: Points, parameters: &Parameters, key: Key) -> Result<Node, KMeansError> {
        if points.len() <= parameters.clusters {
            return Ok(Node::Few(points));
        }
        Ok(Node::Clustered(Box::new(Trace::fit(
            points, parameters, key,
        )?)))
    }

    pub(super) fn points(&self) -> &Points {
        match self {
            Node::Few(points) => points,
            Node::Clustered(trace) => trace.points(),
        }
    }

    /// Returns the centroids that the parent clusters.
    fn centroids(&self) -> &[i32] {
        match self {
            Node::Few(points) => points.values(),
            Node::Clustered(trace) => trace.centroids(),
        }
    }

    /// Deletes rows that are there, and returns whether that was free.
    fn delete(&mut self, ids: &[u64], clusters: usize) -> Result<bool, KMeansError> {
        match self {
            Node::Clustered(trace) if trace.points().len() - ids.len() > clusters => {
                return Ok(trace.delete(ids)?.is_free());
            }
            _ => {}
        }
        let mut points = match self {
            Node::Few(points) => points.clone(),
            Node::Clustered(trace) => trace.points().clone(),
        };
        for &id in ids {
            let slot = points.slot(id).ok_or(KMeansError::UnknownId { id })?;
            points.remove(slot);
        }
        points.compact();
        *self = Node::Few(points);
        Ok(false)
    }
}

/// A tree of clusterings with everything that deletion needs.
#[derive(Debug, Clone)]
pub struct DivideConquer {
    pub(super) parameters: Parameters,
    tree: Tree,
    seed: u64,
    columns: usize,
    /// The nodes by level, the root first, the leaves last.
    pub(super) levels: Vec<Vec<Node>>,
}

/// The effects of a deletion on the tree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TreeDeletion {
    /// The number of rows deleted.
    pub deleted: usize,
    /// The number of nodes whose clustering changed, from the leaves to the root.
    pub changed_nodes: usize,
}

impl DivideConquer {
    /// Clusters `points`, with `parameters` at every node.
    ///
    /// # Errors
    /// Parameters that make no sense for these points.
    pub fn fit(
        points: Points,
        parameters: Parameters,
        tree: Tree,
        seed: u64,
    ) -> Result<DivideConquer, KMeansError> {
        parameters.check(points.columns(), draws(seed))?;
        if points.len() < parameters.clusters {
            return Err(KMeansError::TooFewRows {
                clusters: parameters.clusters,
                rows: points.len(),
            });
        }
        let columns = points.columns();
        let shares = share_out(points, &tree, seed)?;
        let depth = tree.children().len();
        let leaves = shares
            .into_par_iter()
            .enumerate()
            .map(|(leaf, points)| Node::solve(points, &parameters, key(seed, depth, leaf)))
            .collect::<Result<Vec<Node>, KMeansError>>()?;
        let mut model = DivideConquer {
            parameters,
            levels: vec![leaves],
            tree,
            seed,
            columns,
        };
        let widths = model.tree.widths();
        for level in (0..depth).rev() {
            let nodes = (0..widths[level])
                .map(|node| {
                    let points = model.rows_of(level, node, &model.levels[0])?;
                    Node::solve(points, &parameters, key(seed, level, node))
                })
                .collect::<Result<Vec<Node>, KMeansError>>()?;
            model.levels.insert(0, nodes);
        }
        Ok(model)
    }

    /// Creates a tree whose nodes are known: every row in the leaf that is drawn for it, every node
    /// over the centroids of its children.
    ///
    /// # Errors
    /// [`KMeansError::Damaged`] where it is not so.
    pub(super) fn from_levels(
        parameters: Parameters,
        tree: Tree,
        seed: u64,
        columns: usize,
        levels: Vec<Vec<Node>>,
    ) -> Result<DivideConquer, KMeansError> {
        let damaged = |problem| Err(KMeansError::Damaged { problem });
        parameters.check(columns, draws(seed))?;
        let model = DivideConquer {
            parameters,
            tree,
            seed,
            columns,
            levels,
        };
        if model.centroids().len() != parameters.clusters * columns {
            return damaged("its root has another number of clusters");
        }
        for (leaf, points) in model.leaves().enumerate() {
            if points
                .ids()
                .iter()
                .any(|&id| leaf_of(&model.tree, seed, id) != leaf)
            {
                return damaged("a row is in another leaf than its own");
            }
        }
        for (level, pair) in model.levels.windows(2).enumerate() {
            for (at, node) in pair[0].iter().enumerate() {
                let expected = model.rows_of(level, at, &pair[1])?;
                let points = node.points();
                if points.ids() != expected.ids() || points.values() != expected.values() {
                    return damaged("a node has other rows than its children's centroids");
                }
            }
        }
        Ok(model)
    }

    /// Returns the parameters of every node.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Returns the shape.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Returns the seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the centroids, `[clusters, columns]`, fixed point.
    pub fn centroids(&self) -> &[i32] {
        self.levels[0][0].centroids()
    }

    /// Iterates over the remaining rows, leaf by leaf.
    pub fn leaves(&self) -> impl Iterator<Item = &Points> {
        self.levels[self.levels.len() - 1].iter().map(Node::points)
    }

    /// Returns the number of remaining rows.
    pub fn rows(&self) -> usize {
        self.leaves().map(Points::len).sum()
    }

    /// Returns whether row `id` is there.
    pub fn contains(&self, id: u64) -> bool {
        self.leaf(id).points().slot(id).is_some()
    }

    fn leaf(&self, id: u64) -> &Node {
        &self.levels[self.levels.len() - 1][leaf_of(&self.tree, self.seed, id)]
    }

    /// Deletes the rows `ids`, in any order. All of it happens or, with an error, nothing.
    ///
    /// # Errors
    /// An id that is not there or comes twice; fewer rows left than clusters.
    pub fn delete(&mut self, ids: &[u64]) -> Result<TreeDeletion, KMeansError> {
        if let Some(&id) = ids.iter().find(|&&id| !self.contains(id)) {
            return Err(KMeansError::UnknownId { id });
        }
        let mut sorted = ids.to_vec();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(KMeansError::RepeatedId { id: pair[0] });
        }
        let rows = self.rows();
        if rows - ids.len() < self.parameters.clusters {
            return Err(KMeansError::TooFewRemain {
                clusters: self.parameters.clusters,
                rows,
                deleted: ids.len(),
            });
        }
        let mut by_leaf: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
        for id in sorted {
            let leaf = leaf_of(&self.tree, self.seed, id);
            by_leaf.entry(leaf).or_default().push(id);
        }
        let mut level = self.levels.len() - 1;
        let mut changed = Vec::new();
        for (leaf, ids) in by_leaf {
            let node = &mut self.levels[level][leaf];
            let before = node.centroids().to_vec();
            node.delete(&ids, self.parameters.clusters)?;
            if node.centroids() != before {
                changed.push(leaf);
            }
        }
        let mut changed_nodes = changed.len();
        while level > 0 && !changed.is_empty() {
            level -= 1;
            changed = self.solve_anew(level, &changed)?;
            changed_nodes += changed.len();
        }
        Ok(TreeDeletion {
            deleted: ids.len(),
            changed_nodes,
        })
    }

    /// Solves the parents at `level` of changed `children` again, and returns those that give other
    /// centroids.
    fn solve_anew(&mut self, level: usize, children: &[usize]) -> Result<Vec<usize>, KMeansError> {
        let width = self.tree.children()[level] as usize;
        let mut parents: Vec<usize> = children.iter().map(|child| child / width).collect();
        parents.dedup();
        let mut changed = Vec::new();
        for parent in parents {
            let points = self.rows_of(level, parent, &self.levels[level + 1])?;
            let node = Node::solve(points, &self.parameters, key(self.seed, level, parent))?;
            if node.centroids() != self.levels[level][parent].centroids() {
                changed.push(parent);
            }
            self.levels[level][parent] = node;
        }
        Ok(changed)
    }

    /// Returns the centroids of the children of `node` at `level`, each under its own id.
    fn rows_of(&self, level: usize, node: usize, below: &[Node]) -> Result<Points, KMeansError> {
        let width = self.tree.children()[level] as usize;
        let mut ids = Vec::new();
        let mut rows = Vec::new();
        let mut proposer = Proposer::default();
        for (child, state) in below.iter().enumerate().skip(node * width).take(width) {
            proposer = state.points().proposer().clone();
            let centroids = state.centroids();
            let first = (child * self.parameters.clusters) as u64;
            ids.extend(first..first + (centroids.len() / self.columns) as u64);
            rows.extend_from_slice(centroids);
        }
        Ok(Points::new(ids, rows, self.columns)?.on(&proposer))
    }

    /// Returns the tree with a device that proposes for all its nodes.
    pub(super) fn on(mut self, proposer: &Proposer) -> DivideConquer {
        for node in self.levels.iter_mut().flatten() {
            match node {
                Node::Few(points) => points.bring_to(proposer),
                Node::Clustered(trace) => trace.points.bring_to(proposer),
            }
        }
        self
    }
}

/// Returns arbitrary draws, where parameters are only checked.
fn draws(seed: u64) -> Draws {
    Draws {
        key: key(seed, 0, 0),
        restart: 0,
    }
}

/// Returns the key of a node.
pub(super) fn key(seed: u64, level: usize, node: usize) -> Key {
    Key {
        seed,
        node: ((level as u64 + 1) << 32) | node as u64,
    }
}

/// Returns the leaf of a row: uniform, from its id and the seed.
fn leaf_of(tree: &Tree, seed: u64, id: u64) -> usize {
    let word = Words::new(seed, Purpose::Leaf, &[0]).word(id);
    ((u128::from(word) * u128::from(tree.leaves())) >> 64) as usize
}

/// Shares out the rows to the leaves.
fn share_out(points: Points, tree: &Tree, seed: u64) -> Result<Vec<Points>, KMeansError> {
    let columns = points.columns();
    let leaves = tree.leaves() as usize;
    let mut slots: Vec<Vec<usize>> = vec![Vec::new(); leaves];
    for slot in points.live_slots() {
        slots[leaf_of(tree, seed, points.id(slot))].push(slot);
    }
    slots
        .into_iter()
        .map(|slots| {
            let ids = slots.iter().map(|&slot| points.id(slot)).collect();
            let mut rows = Vec::with_capacity(slots.len() * columns);
            for slot in slots {
                rows.extend_from_slice(points.row(slot));
            }
            Ok(Points::new(ids, rows, columns)?.on(points.proposer()))
        })
        .collect()
}
