//! The options and the model of any of the three algorithms, under one interface.

use serde::{Deserialize, Serialize};

use super::assign::assign;
use super::divide_conquer::DivideConquer;
use super::errors::KMeansError;
use super::points::Points;
use super::quantizer::{Parameters, Quantizer};
use super::seeding::Key;
use super::trace::Trace;
use super::tree::Tree;
use probity_tensor::proposer::Proposer;

/// The algorithm that clusters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Algorithm {
    /// Lloyd's algorithm from greedy k-means++ seeds.
    Lloyd,
    /// Quantized k-means.
    Quantized {
        /// The width of the lattice in scaled units: a column is 1 wide.
        epsilon: f64,
        /// The imbalance γ: a cluster below this share of the average size is averaged with its
        /// previous centroid.
        gamma: f64,
    },
    /// Divide-and-conquer k-means.
    DivideConquer {
        /// The shape of the tree.
        tree: Tree,
    },
}

impl Default for Algorithm {
    fn default() -> Algorithm {
        Algorithm::Quantized {
            epsilon: 0.0625,
            gamma: 0.2,
        }
    }
}

/// Options for clustering rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct KMeans {
    /// The number of clusters.
    pub clusters: usize,
    /// The largest number of iterations.
    pub iterations: usize,
    /// The number of clusterings from other seeds, of which the one with the smallest loss is kept.
    pub restarts: usize,
    /// The algorithm that clusters.
    pub algorithm: Algorithm,
    /// The seed of all random numbers.
    pub seed: u64,
}

impl Default for KMeans {
    fn default() -> KMeans {
        KMeans {
            clusters: 2,
            iterations: 10,
            restarts: 3,
            algorithm: Algorithm::default(),
            seed: 1,
        }
    }
}

impl KMeans {
    /// Creates options for so many clusters; everything else as in [`KMeans::default`].
    pub fn new(clusters: usize) -> KMeans {
        KMeans {
            clusters,
            ..KMeans::default()
        }
    }

    /// Sets the largest number of iterations.
    #[must_use]
    pub fn iterations(mut self, iterations: usize) -> KMeans {
        self.iterations = iterations;
        self
    }

    /// Sets the number of clusterings from other seeds, of which the one with the smallest loss is
    /// kept.
    #[must_use]
    pub fn restarts(mut self, restarts: usize) -> KMeans {
        self.restarts = restarts;
        self
    }

    /// Sets the algorithm.
    #[must_use]
    pub fn algorithm(mut self, algorithm: Algorithm) -> KMeans {
        self.algorithm = algorithm;
        self
    }

    /// Sets the seed of all random numbers.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> KMeans {
        self.seed = seed;
        self
    }

    /// Clusters a copy of `points`; [`Model::fit`] takes the points themselves.
    ///
    /// # Errors
    /// Options that make no sense for these points.
    pub fn fit(&self, points: &Points) -> Result<Model, KMeansError> {
        Model::fit(points.clone(), self)
    }
}

/// A clustering from which rows can be deleted.
#[derive(Debug, Clone)]
pub enum Model {
    /// Lloyd's algorithm or quantized k-means.
    Flat(Box<Trace>),
    /// Divide-and-conquer k-means.
    Tree(DivideConquer),
}

/// The effects of a deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deleted {
    /// The number of rows deleted.
    pub rows: usize,
    /// Whether no centroid of any iteration of any restart changed, and the same restart stays the
    /// best one (of the tree: whether no node has other centroids).
    pub free: bool,
    /// Whether seeds changed, in any restart; unknown for a tree.
    pub reseeded: bool,
}

impl Model {
    /// Clusters `points`.
    ///
    /// # Errors
    /// Options that make no sense for these points.
    pub fn fit(points: Points, options: &KMeans) -> Result<Model, KMeansError> {
        let quantizer = match &options.algorithm {
            Algorithm::Lloyd => Quantizer::None,
            &Algorithm::Quantized { epsilon, gamma } => Quantizer::Lattice { epsilon, gamma },
            Algorithm::DivideConquer { .. } => Quantizer::None,
        };
        let parameters = Parameters {
            clusters: options.clusters,
            iterations: options.iterations,
            restarts: options.restarts,
            quantizer,
        };
        if let Algorithm::DivideConquer { tree } = &options.algorithm {
            let model = DivideConquer::fit(points, parameters, tree.clone(), options.seed)?;
            return Ok(Model::Tree(model));
        }
        let key = Key {
            seed: options.seed,
            node: 0,
        };
        Ok(Model::Flat(Box::new(Trace::fit(points, &parameters, key)?)))
    }

    /// Returns the model with a device that proposes what is found when rows are deleted or
    /// assigned; see [`Points::on`]. The device is no part of the model: a fit takes it from its
    /// points, a model that is read has none.
    #[must_use]
    pub fn on(self, proposer: &Proposer) -> Model {
        match self {
            Model::Flat(mut trace) => {
                trace.points.bring_to(proposer);
                Model::Flat(trace)
            }
            Model::Tree(model) => Model::Tree(model.on(proposer)),
        }
    }

    /// Returns the proposer of the model's points.
    fn proposer(&self) -> Proposer {
        let parts = self.parts();
        parts
            .first()
            .map_or_else(Proposer::default, |part| part.proposer().clone())
    }

    /// Returns the options that the model was made with.
    pub fn options(&self) -> KMeans {
        match self {
            Model::Flat(trace) => KMeans {
                clusters: trace.clusters(),
                iterations: trace.parameters().iterations,
                restarts: trace.parameters().restarts,
                algorithm: match trace.parameters().quantizer {
                    Quantizer::None => Algorithm::Lloyd,
                    Quantizer::Lattice { epsilon, gamma } => {
                        Algorithm::Quantized { epsilon, gamma }
                    }
                },
                seed: trace.key().seed,
            },
            Model::Tree(model) => KMeans {
                clusters: model.parameters().clusters,
                iterations: model.parameters().iterations,
                restarts: model.parameters().restarts,
                algorithm: Algorithm::DivideConquer {
                    tree: model.tree().clone(),
                },
                seed: model.seed(),
            },
        }
    }

    /// Returns the number of remaining rows.
    pub fn rows(&self) -> usize {
        match self {
            Model::Flat(trace) => trace.points().len(),
            Model::Tree(model) => model.rows(),
        }
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        match self {
            Model::Flat(trace) => trace.points().columns(),
            Model::Tree(model) => model.columns(),
        }
    }

    /// Returns the centroids, `[clusters, columns]`, fixed point.
    pub fn centroids(&self) -> &[i32] {
        match self {
            Model::Flat(trace) => trace.centroids(),
            Model::Tree(model) => model.centroids(),
        }
    }

    /// Returns the remaining rows, in one part or several.
    pub fn parts(&self) -> Vec<&Points> {
        match self {
            Model::Flat(trace) => vec![trace.points()],
            Model::Tree(model) => model.leaves().collect(),
        }
    }

    /// Returns a copy of the remaining rows.
    ///
    /// # Errors
    /// None for a model that was fitted or read.
    pub fn points(&self) -> Result<Points, KMeansError> {
        let columns = self.columns();
        let (mut ids, mut rows) = (Vec::new(), Vec::new());
        for part in self.parts() {
            for slot in part.live_slots() {
                ids.push(part.id(slot));
                rows.extend_from_slice(part.row(slot));
            }
        }
        Ok(Points::new(ids, rows, columns)?.on(&self.proposer()))
    }

    /// Trains, with the same options, on those of `rows` that the model still has: where `rows` are
    /// those of the first fit, the result is the model itself, byte for byte.
    ///
    /// # Errors
    /// A row of the model that is not among `rows`.
    pub fn retrained_on(&self, rows: &Points) -> Result<Model, KMeansError> {
        let mut ids = Vec::with_capacity(self.rows());
        let mut values = Vec::with_capacity(self.rows() * self.columns());
        for part in self.parts() {
            for slot in part.live_slots() {
                let id = part.id(slot);
                let found = rows.slot(id).ok_or(KMeansError::MissingRow { id })?;
                ids.push(id);
                values.extend_from_slice(rows.row(found));
            }
        }
        let points = Points::new(ids, values, self.columns())?.on(&self.proposer());
        Model::fit(points, &self.options())
    }

    /// Deletes the rows `ids`, in any order. All of it happens or, with an error, nothing.
    ///
    /// # Errors
    /// An id that is not there or comes twice; fewer rows left than clusters.
    pub fn delete(&mut self, ids: &[u64]) -> Result<Deleted, KMeansError> {
        match self {
            Model::Flat(trace) => {
                let deletion = trace.delete(ids)?;
                Ok(Deleted {
                    rows: deletion.deleted,
                    free: deletion.is_free(),
                    reseeded: deletion.reseeded_from.is_some(),
                })
            }
            Model::Tree(model) => {
                let deletion = model.delete(ids)?;
                Ok(Deleted {
                    rows: deletion.deleted,
                    free: deletion.changed_nodes == 0,
                    reseeded: false,
                })
            }
        }
    }

    /// Returns the nearest centroid of every remaining row, in the order of their ids, and the loss
    /// in scaled units.
    pub fn assignment(&self) -> (Vec<(u64, usize)>, f64) {
        let mut pairs = Vec::with_capacity(self.rows());
        let mut loss = 0;
        for part in self.parts() {
            let (of_part, loss_of_part) = nearest(part, self.centroids());
            pairs.extend(of_part);
            loss += loss_of_part;
        }
        pairs.sort_unstable();
        (pairs, loss as f64 / (1_u64 << 48) as f64)
    }
}

/// Returns the nearest of `centroids` for every row of `points`, and Σ|x − c|² in units of 2⁻⁴⁸.
pub fn nearest(points: &Points, centroids: &[i32]) -> (Vec<(u64, usize)>, u128) {
    let columns = points.columns();
    let clusters = assign(points, centroids, None).clusters;
    let mut loss = 0;
    let mut pairs = Vec::with_capacity(points.len());
    for slot in points.live_slots() {
        let cluster = usize::from(clusters[slot]);
        let centroid = &centroids[cluster * columns..(cluster + 1) * columns];
        loss += u128::from(super::exact::squared_distance(points.row(slot), centroid));
        pairs.push((points.id(slot), cluster));
    }
    (pairs, loss)
}
