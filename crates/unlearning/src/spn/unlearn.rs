//! UnlearnSPN (Algorithms 2 to 7), for any number of rows at once.
//!
//! The change of rows is passed down from the root. At each inner node the statistics are updated
//! and the decision is taken anew ([`super::decide`]). Where the children that it asks for still
//! exist (same scope below a product, same cluster below a sum) they get the change that concerns
//! them; all others are learnt. A deletion can move other rows between the clusters of a sum: those
//! leave one child and come to another, so that a child is learnt again only when its scope is new
//! or most of its rows have changed. Children that are no longer asked for stay as spares for a
//! while.
//!
//! *Differences from the paper's listings*, none of which changes the result: a change of the
//! clusters or of the variable split does not retrain the whole sub-network but updates the
//! children that remain; batches are one pass; Algorithm 3's flags are kept by the decision itself.

use std::rc::Rc;

use super::SpnError;
use super::learn::{Keep, Pending, Spn};
use super::parameters::Choice;
use super::row_delta::RowDelta;
use super::structure::{Child, Inner, Node, NodeId, Operation, Part, Spare};

/// The number of changes of a node after which a spare that was not asked for is given up.
const PATIENCE: u8 = 64;
/// The number of rows that may change at a node; the next constant is the share of its rows (one of
/// so many) that may. If more rows change, its sub-network is learnt anew. Most decisions below are
/// other ones then, and following them costs more than learning.
const FEW_CHANGED: usize = 8;
const MOST_CHANGED: usize = 32;

/// The effort of a deletion.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct DeletionEffort {
    /// The number of rows that were deleted.
    pub rows: usize,
    /// The number of deletions that took rows out of those that choose the threshold, so that it
    /// was chosen anew.
    pub choices: usize,
    /// The number of nodes whose statistics were updated.
    pub updated_nodes: usize,
    /// The number of sub-networks that were learnt again.
    pub learnt_again: usize,
    /// The number of inner nodes whose operation changed.
    pub revised_operations: usize,
    /// The number of rows that changed their cluster, over all sums.
    pub moved_rows: usize,
}

impl DeletionEffort {
    /// Adds the effort of another deletion.
    pub fn add(&mut self, other: &DeletionEffort) {
        self.rows += other.rows;
        self.choices += other.choices;
        self.updated_nodes += other.updated_nodes;
        self.learnt_again += other.learnt_again;
        self.revised_operations += other.revised_operations;
        self.moved_rows += other.moved_rows;
    }
}

/// Changes to pass on, and nodes to learn.
#[derive(Default)]
struct Work {
    tasks: Vec<(NodeId, Rc<RowDelta>)>,
    pending: Vec<Pending>,
}

impl Spn {
    /// Deletes the rows `ids`: the network is then the one that learning on the remaining rows
    /// gives.
    ///
    /// # Errors
    /// An unknown or repeated id, or all rows at once; nothing is changed then.
    pub fn delete(&mut self, ids: &[u64]) -> Result<DeletionEffort, SpnError> {
        let left = self.rules.data.locate(ids)?;
        let mut effort = DeletionEffort {
            rows: left.len(),
            ..DeletionEffort::default()
        };
        if left.is_empty() {
            return Ok(effort);
        }
        let parameters = self.rules.parameters;
        let choice = self.rules.choice;
        let has_say = ids.iter().any(|&id| choice.looked_at(&parameters, id));
        self.rules.data.mark_deleted(&left);
        if has_say {
            effort.choices = 1;
            self.rules.choice = Choice::new(&parameters, &self.rules.data)?;
        }
        if self.rules.choice.threshold != choice.threshold {
            let (choice, data) = (self.rules.choice, self.rules.data.compacted());
            *self = Spn::learn_chosen(parameters, choice, data, Keep::State);
            effort.learnt_again = 1;
            return Ok(effort);
        }
        let change = RowDelta {
            left,
            came: Vec::new(),
        };
        let mut work = Work::default();
        work.tasks.push((self.root, Rc::new(change)));
        while let Some((node, change)) = work.tasks.pop() {
            effort.updated_nodes += 1;
            match self.arena.take(node) {
                Node::Inner(inner) => self.update(node, inner, &change, &mut work, &mut effort),
                mut leaf => {
                    self.update_leaf(&mut leaf, &change);
                    self.arena.set(node, leaf);
                }
            }
        }
        effort.learnt_again = work.pending.len();
        self.grow(work.pending, Keep::State);
        Ok(effort)
    }

    fn update(
        &mut self,
        node: NodeId,
        mut inner: Box<Inner>,
        change: &Rc<RowDelta>,
        work: &mut Work,
        effort: &mut DeletionEffort,
    ) {
        if change.len() > most_changed(inner.rows.len()) {
            let pending = self.restart(node, *inner, change);
            work.pending.push(pending);
            return;
        }
        let before = inner.operation;
        self.put_aside(&mut inner);
        self.age_spares(&mut inner, change);
        inner.apply(&self.rules, change);
        let mut split = inner.spares.split.take();
        let mut by_cluster = Vec::new();
        let mut clusters = Vec::new();
        let rules = &self.rules;
        let plan = inner.decide(rules, |inner| match split.take() {
            None => inner.cluster(rules),
            Some(spare) => {
                let (mut clustering, children) = spare.kept;
                let space = rules.space(&inner.scope, inner.key);
                by_cluster = clustering.follow(space, &spare.change);
                clusters = children;
                inner.clustering = Some(clustering);
            }
        });
        inner.spares.split = split;
        effort.revised_operations += usize::from(before != inner.operation);
        for part in plan.parts() {
            let known = match &part {
                Part::Scope(scope) => self.spare_of(&mut inner, scope),
                Part::Cluster(cluster) => {
                    let name = part.name();
                    let child = clusters.iter().position(|child| child.name == name);
                    child.map(|at| {
                        let mut changes = by_cluster.iter().position(|(c, _)| c == cluster);
                        let change = changes.take().map(|at| by_cluster.swap_remove(at).1);
                        effort.moved_rows += change.as_ref().map_or(0, |c| c.came.len());
                        (clusters.swap_remove(at).node, change.unwrap_or_default())
                    })
                }
            };
            match known {
                None => work.pending.push(self.new_child(&mut inner, &part)),
                Some((node, change)) => {
                    let name = part.name();
                    inner.children.push(Child { name, node });
                    if !change.is_empty() {
                        work.tasks.push((node, Rc::new(change)));
                    }
                }
            }
        }
        for child in clusters {
            self.arena.release(child.node);
        }
        self.arena.set(node, Node::Inner(inner));
    }

    /// Makes spares of all children and of the clustering.
    fn put_aside(&self, inner: &mut Inner) {
        let children = std::mem::take(&mut inner.children);
        let sum = inner.operation == Operation::SplitData;
        if let Some(clustering) = inner.clustering.take() {
            let children = if sum { children.clone() } else { Vec::new() };
            inner.spares.split = Some(Spare::new((clustering, children)));
        }
        if !sum {
            let nodes = children.iter().map(|child| Spare::new(child.node));
            inner.spares.children.extend(nodes);
        }
    }

    /// Notes the change in all spares, and gives up those that were not asked for in a long time.
    fn age_spares(&mut self, inner: &mut Inner, change: &RowDelta) {
        let most = most_changed(inner.rows.len());
        let expired = |change: &RowDelta, idle: u8| idle >= PATIENCE || change.len() > most;
        for spare in &mut inner.spares.children {
            spare.age(change);
        }
        let spares = std::mem::take(&mut inner.spares.children);
        for spare in spares {
            if expired(&spare.change, spare.idle) {
                self.arena.release(spare.kept);
            } else {
                inner.spares.children.push(spare);
            }
        }
        if let Some(mut split) = inner.spares.split.take() {
            split.age(change);
            if expired(&split.change, split.idle) {
                for child in split.kept.1 {
                    self.arena.release(child.node);
                }
            } else {
                inner.spares.split = Some(split);
            }
        }
    }

    /// Takes the child of `scope` out of the spares, with what has changed since.
    fn spare_of(&self, inner: &mut Inner, scope: &[u32]) -> Option<(NodeId, RowDelta)> {
        let spares = &mut inner.spares.children;
        let at = spares
            .iter()
            .position(|spare| match self.arena.get(spare.kept) {
                Node::Leaf { variable, .. } => scope == [*variable],
                Node::Inner(inner) => inner.scope == scope,
                Node::Free => false,
            })?;
        let spare = spares.swap_remove(at);
        Some((spare.kept, spare.change))
    }

    /// Gives up a node that would change for the most part; it is learnt again in its place.
    fn restart(&mut self, node: NodeId, inner: Inner, change: &RowDelta) -> Pending {
        let mut rows = inner.rows;
        let left: std::collections::HashSet<u32> = change.left.iter().copied().collect();
        rows.retain(|row| !left.contains(row));
        rows.extend(&change.came);
        let children = inner.children.iter().map(|child| child.node);
        for child in children.chain(inner.spares.nodes()) {
            self.arena.release(child);
        }
        Pending {
            node,
            scope: inner.scope,
            key: inner.key,
            rows,
        }
    }

    fn update_leaf(&self, node: &mut Node, change: &RowDelta) {
        if let Node::Leaf {
            variable,
            statistics,
        } = node
        {
            let rule = &self.rules.leaves[*variable as usize];
            let data = &self.rules.data;
            for fixed in data.known(*variable, &change.left) {
                rule.remove(statistics, fixed);
            }
            for fixed in data.known(*variable, &change.came) {
                rule.add(statistics, fixed);
            }
        }
    }
}

/// Returns how many of so many rows may change.
fn most_changed(rows: usize) -> usize {
    (rows / MOST_CHANGED).max(FEW_CHANGED.min(rows / 2))
}

impl<T> Spare<T> {
    fn new(kept: T) -> Spare<T> {
        Spare {
            kept,
            change: RowDelta::default(),
            idle: 0,
        }
    }

    fn age(&mut self, change: &RowDelta) {
        self.change.then(change);
        self.idle = self.idle.saturating_add(1);
    }
}
