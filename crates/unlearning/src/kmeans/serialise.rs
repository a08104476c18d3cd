//! Serialisation of models: to bytes, and back.
//!
//! Equal models have equal bytes. What only saves work ([`super::refine`]) is left out, and so are
//! the slots of deleted rows.
//!
//! Reading counts every cluster again and takes every update step again: bytes are refused whose
//! sums are not those of their rows, or whose centroids do not follow from their clusters.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::divide_conquer::{DivideConquer, Node, key};
use super::errors::KMeansError;
use super::iteration::Iteration;
use super::model::Model;
use super::points::Points;
use super::quantizer::Parameters;
use super::run::Run;
use super::seeding::{Draws, Key, Seeding, Stage};
use super::trace::Trace;
use super::tree::Tree;
use probity_run::sealed::{decode, encode};

/// The number of this form of bytes; another form has another number.
const FORM: u32 = 2;

#[derive(Serialize, Deserialize)]
struct Written<'a> {
    form: u32,
    model: WrittenModel<'a>,
}

#[derive(Serialize, Deserialize)]
enum WrittenModel<'a> {
    Flat(WrittenTrace<'a>),
    Tree(WrittenTree<'a>),
}

#[derive(Serialize, Deserialize)]
struct WrittenPoints<'a> {
    columns: usize,
    ids: Cow<'a, [u64]>,
    rows: Cow<'a, [i32]>,
}

#[derive(Serialize, Deserialize)]
struct WrittenTrace<'a> {
    points: WrittenPoints<'a>,
    parameters: Parameters,
    key: Key,
    restarts: Vec<WrittenRun<'a>>,
}

#[derive(Serialize, Deserialize)]
struct WrittenRun<'a> {
    /// The candidates for each seed; the seeds follow from them.
    stages: Cow<'a, [Stage]>,
    iterations: Vec<WrittenIteration<'a>>,
}

#[derive(Serialize, Deserialize)]
struct WrittenIteration<'a> {
    centroids: Cow<'a, [i32]>,
    clusters: Cow<'a, [u16]>,
    counts: Cow<'a, [u64]>,
    sums: Cow<'a, [i64]>,
    loss: i128,
}

#[derive(Serialize, Deserialize)]
struct WrittenTree<'a> {
    parameters: Parameters,
    seed: u64,
    columns: usize,
    children: Cow<'a, [u64]>,
    levels: Vec<Vec<WrittenNode<'a>>>,
}

#[derive(Serialize, Deserialize)]
enum WrittenNode<'a> {
    Few(WrittenPoints<'a>),
    Clustered(WrittenTrace<'a>),
}

impl Model {
    /// Returns the model as bytes: equal for equal models.
    ///
    /// # Errors
    /// None for values that this module makes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, KMeansError> {
        let model = match self {
            Model::Flat(trace) => WrittenModel::Flat(trace.written()),
            Model::Tree(tree) => WrittenModel::Tree(tree.written()),
        };
        encoded(&Written { form: FORM, model })
    }

    /// Reads a model that [`Model::to_bytes`] wrote.
    ///
    /// # Errors
    /// [`KMeansError::Bytes`] or [`KMeansError::Damaged`] for anything else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Model, KMeansError> {
        let Written { form, model } =
            decode(bytes).map_err(|problem| KMeansError::Bytes { problem })?;
        if form != FORM {
            let problem = format!("its form is {form}, not {FORM}");
            return Err(KMeansError::Bytes { problem });
        }
        Ok(match model {
            WrittenModel::Flat(trace) => Model::Flat(Box::new(trace.read()?)),
            WrittenModel::Tree(tree) => Model::Tree(tree.read()?),
        })
    }
}

impl Trace {
    /// Returns the trace with its points as bytes: equal for equal traces.
    ///
    /// # Errors
    /// None for values that this module makes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, KMeansError> {
        encoded(&self.written())
    }

    fn written(&self) -> WrittenTrace<'_> {
        WrittenTrace {
            points: self.points.written(),
            parameters: self.parameters,
            key: self.key,
            restarts: self.runs.iter().map(|run| self.written_run(run)).collect(),
        }
    }

    fn written_run<'a>(&'a self, run: &'a Run) -> WrittenRun<'a> {
        let iterations = run.iterations.iter();
        WrittenRun {
            stages: Cow::Borrowed(&run.seeding.stages),
            iterations: iterations
                .map(|iteration| WrittenIteration {
                    centroids: Cow::Borrowed(&iteration.centroids),
                    clusters: self.points.of_live(&iteration.clusters, 1),
                    counts: Cow::Borrowed(&iteration.counts),
                    sums: Cow::Borrowed(&iteration.sums),
                    loss: iteration.loss,
                })
                .collect(),
        }
    }
}

impl DivideConquer {
    fn written(&self) -> WrittenTree<'_> {
        WrittenTree {
            parameters: self.parameters,
            seed: self.seed(),
            columns: self.columns(),
            children: Cow::Borrowed(self.tree().children()),
            levels: self
                .levels
                .iter()
                .map(|level| level.iter().map(Node::written).collect())
                .collect(),
        }
    }
}

impl Node {
    fn written(&self) -> WrittenNode<'_> {
        match self {
            Node::Few(points) => WrittenNode::Few(points.written()),
            Node::Clustered(trace) => WrittenNode::Clustered(trace.written()),
        }
    }
}

impl Points {
    fn written(&self) -> WrittenPoints<'_> {
        WrittenPoints {
            columns: self.columns(),
            ids: self.of_live(self.ids(), 1),
            rows: self.of_live(self.values(), self.columns()),
        }
    }

    /// Returns those of `values`, `width` a slot, that belong to live rows.
    fn of_live<'a, T: Copy>(&self, values: &'a [T], width: usize) -> Cow<'a, [T]> {
        if self.len() == self.slots() {
            return Cow::Borrowed(values);
        }
        let slots = self.live_slots();
        slots
            .flat_map(|slot| &values[slot * width..(slot + 1) * width])
            .copied()
            .collect()
    }
}

fn encoded(value: &impl Serialize) -> Result<Vec<u8>, KMeansError> {
    encode(value).map_err(|problem| KMeansError::Bytes { problem })
}

fn damaged(problem: &'static str) -> KMeansError {
    KMeansError::Damaged { problem }
}

impl WrittenPoints<'_> {
    fn read(self) -> Result<Points, KMeansError> {
        if !self.ids.is_sorted() {
            return Err(damaged("its rows are not in order"));
        }
        Points::new(self.ids.into_owned(), self.rows.into_owned(), self.columns)
    }
}

impl WrittenTrace<'_> {
    fn read(self) -> Result<Trace, KMeansError> {
        let points = self.points.read()?;
        let clusters = self.parameters.clusters;
        // Before anything is counted by cluster.
        let (key, restart) = (self.key, 0);
        let draws = Draws { key, restart };
        self.parameters.check(points.columns(), draws)?;
        let runs = self
            .restarts
            .into_iter()
            .map(|run| run.read(&points, clusters))
            .collect::<Result<Vec<(Seeding, Vec<Iteration>)>, KMeansError>>()?;
        Trace::from_runs(points, self.parameters, key, runs)
    }
}

impl WrittenRun<'_> {
    fn read(
        self,
        points: &Points,
        clusters: usize,
    ) -> Result<(Seeding, Vec<Iteration>), KMeansError> {
        let iterations = self
            .iterations
            .into_iter()
            .map(|iteration| iteration.read(points, clusters))
            .collect::<Result<Vec<Iteration>, KMeansError>>()?;
        let stages = self.stages.into_owned();
        let seeds = stages.iter().filter_map(Stage::seed).collect();
        Ok((Seeding { seeds, stages }, iterations))
    }
}

impl WrittenIteration<'_> {
    fn read(self, points: &Points, count: usize) -> Result<Iteration, KMeansError> {
        let fits = self.clusters.len() == points.slots()
            && self.centroids.len() == count * points.columns()
            && self.clusters.iter().all(|&own| usize::from(own) < count);
        if !fits {
            return Err(damaged("an iteration does not fit its rows"));
        }
        let (centroids, clusters) = (self.centroids.into_owned(), self.clusters.into_owned());
        let counted = Iteration::of_clusters(points, centroids, clusters, count);
        if counted.counts != *self.counts || counted.sums != *self.sums || counted.loss != self.loss
        {
            return Err(damaged(
                "an iteration has not counted the rows that are there",
            ));
        }
        Ok(counted)
    }
}

impl WrittenTree<'_> {
    fn read(self) -> Result<DivideConquer, KMeansError> {
        let tree = Tree::new(self.children.into_owned())?;
        if tree
            .widths()
            .into_iter()
            .ne(self.levels.iter().map(Vec::len))
        {
            return Err(damaged("it has other nodes than its tree"));
        }
        let mut levels = Vec::with_capacity(self.levels.len());
        for (level, nodes) in self.levels.into_iter().enumerate() {
            let nodes = nodes
                .into_iter()
                .enumerate()
                .map(|(at, node)| {
                    node.read(&self.parameters, self.columns, key(self.seed, level, at))
                })
                .collect::<Result<Vec<Node>, KMeansError>>()?;
            levels.push(nodes);
        }
        DivideConquer::from_levels(self.parameters, tree, self.seed, self.columns, levels)
    }
}

impl WrittenNode<'_> {
    fn read(self, parameters: &Parameters, columns: usize, key: Key) -> Result<Node, KMeansError> {
        let node = match self {
            WrittenNode::Few(points) => Node::Few(points.read()?),
            WrittenNode::Clustered(trace) => {
                if trace.parameters != *parameters || trace.key != key {
                    return Err(damaged("a node has other parameters than its tree"));
                }
                Node::Clustered(Box::new(trace.read()?))
            }
        };
        let few = matches!(node, Node::Few(_));
        if node.points().columns() != columns || few != (node.points().len() <= parameters.clusters)
        {
            return Err(damaged("a node has other rows than its place asks for"));
        }
        Ok(node)
    }
}

#[cfg(test)]
mod tests;
