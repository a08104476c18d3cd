//! The specifications of clusterings: one value a kind of run, and the parts that they share.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::benchmark::BenchmarkOptions;
use super::dataset::{Dataset, DatasetError, read_dataset};
use super::model::{Algorithm, KMeans};
use super::tree::Tree;
use probity_data::named_schema::NamedSchemaError;
use probity_data::numbers::Bounds;
use probity_data::specification::{ReadingSpecification, located_schema};
use probity_run::specification::{FieldError, Specification};

/// The reason why the rows that are specified cannot be read.
#[derive(Debug, Error)]
pub enum InputError {
    /// The schema cannot be used.
    #[error("{0}")]
    Schema(#[from] NamedSchemaError),
    /// The rows cannot be used.
    #[error("{0}")]
    Dataset(#[from] DatasetError),
}

/// Which algorithm clusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AlgorithmName {
    /// Lloyd's algorithm.
    Lloyd,
    /// Centroids on a random lattice: most deletions change nothing.
    #[default]
    Quantized,
    /// A tree of small clusterings: a deletion changes one path.
    DivideConquer,
}

/// What is known of the rows besides their columns.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct InputSpecification {
    /// Column with labels, which are no feature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_column: Option<String>,
    /// IDX file with the labels of the images.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "path"))]
    pub labels: Option<PathBuf>,
    /// Column with the ids of the rows, whole numbers; by default the number of the row in the
    /// file, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id_column: Option<String>,
    /// Bounds of all columns, or of one. They are declared, never taken from the rows.
    #[schemars(extend("x-flag" = false))]
    pub bounds: Vec<Bounds>,
}

impl InputSpecification {
    fn rules(&self, reading: &ReadingSpecification) -> Result<(), FieldError> {
        if let (Some(label), Some(_)) = (&self.label_column, &reading.schema) {
            let expected = "left out where a schema names the label";
            return Err(FieldError::new("input.label_column", label, expected));
        }
        reading.rules("reading")
    }

    /// Reads the rows in `data`.
    ///
    /// # Errors
    /// See [`InputError`].
    pub fn read(&self, data: &Path, reading: &ReadingSpecification) -> Result<Dataset, InputError> {
        let mut options = reading.options()?;
        options.bounds = self.bounds.clone();
        options.label = self.label_column.clone();
        options.id = self.id_column.clone();
        let files = (data, self.labels.as_deref());
        Ok(read_dataset(files, &options)?)
    }
}

/// Parameters of the algorithms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ClusteringSpecification {
    /// Iterations at most.
    ///
    /// Each is kept, with its centroids and sums, for the deletions to come.
    #[schemars(range(max = 10_000))]
    pub iterations: usize,
    /// Clusterings from other seeds, of which the one with the smallest loss is kept. Memory and
    /// the time of a deletion grow with them.
    #[schemars(range(min = 1, max = 1000))]
    pub restarts: usize,
    /// quantized: width of the lattice, where a column is 1 wide; by default 0.0625.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub epsilon: Option<f64>,
    /// quantized: a cluster below this share of the average size is averaged with its previous
    /// centroid; by default 0.2.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minimum" = 0, "exclusiveMaximum" = 1))]
    pub gamma: Option<f64>,
    /// divide-conquer: children of each level, the root first; by default 1x16.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub tree: Option<Tree>,
    /// Seed of all random numbers.
    pub seed: u64,
}

impl Default for ClusteringSpecification {
    fn default() -> ClusteringSpecification {
        let usual = KMeans::default();
        ClusteringSpecification {
            iterations: usual.iterations,
            restarts: usual.restarts,
            epsilon: None,
            gamma: None,
            tree: None,
            seed: usual.seed,
        }
    }
}

impl ClusteringSpecification {
    /// Refuses fields that none of the algorithms `names` has.
    fn rules(&self, names: &[AlgorithmName]) -> Result<(), FieldError> {
        let has = |name| names.contains(&name);
        let refuse = |field: &str, value: String, algorithm: &str| {
            let expected = format!("left out unless the algorithm is {algorithm}");
            Err(FieldError::new(
                format!("clustering.{field}"),
                value,
                expected,
            ))
        };
        match (self.epsilon, self.gamma, &self.tree) {
            (Some(epsilon), ..) if !has(AlgorithmName::Quantized) => {
                refuse("epsilon", epsilon.to_string(), "quantized")
            }
            (_, Some(gamma), _) if !has(AlgorithmName::Quantized) => {
                refuse("gamma", gamma.to_string(), "quantized")
            }
            (.., Some(tree)) if !has(AlgorithmName::DivideConquer) => {
                refuse("tree", tree.to_string(), "divide-conquer")
            }
            _ => Ok(()),
        }
    }

    /// Returns the algorithm called `name`. No part of it is a function of the rows, so that a
    /// model from which rows were deleted has the algorithm of a fit without them.
    pub fn algorithm(&self, name: AlgorithmName) -> Algorithm {
        match (name, Algorithm::default()) {
            (AlgorithmName::Lloyd, _) => Algorithm::Lloyd,
            (AlgorithmName::DivideConquer, _) => Algorithm::DivideConquer {
                tree: self.tree.clone().unwrap_or_default(),
            },
            (AlgorithmName::Quantized, Algorithm::Quantized { epsilon, gamma }) => {
                Algorithm::Quantized {
                    epsilon: self.epsilon.unwrap_or(epsilon),
                    gamma: self.gamma.unwrap_or(gamma),
                }
            }
            (AlgorithmName::Quantized, usual) => usual,
        }
    }
}

/// Everything that determines a clustering.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct FitSpecification {
    /// Rows: CSV (also .gz), Parquet, or IDX images (also .gz).
    #[schemars(extend("format" = "path"))]
    pub data: PathBuf,
    /// Number of clusters.
    #[schemars(range(min = 1, max = 32768))]
    pub clusters: usize,
    /// Which algorithm clusters.
    #[serde(default)]
    pub algorithm: AlgorithmName,
    /// What is known of the rows besides their columns.
    #[serde(default)]
    pub input: InputSpecification,
    /// How the rows become numbers.
    #[serde(default)]
    pub reading: ReadingSpecification,
    /// Parameters of the algorithms.
    #[serde(default)]
    pub clustering: ClusteringSpecification,
}

impl Specification for FitSpecification {
    const KIND: &'static str = "kmeans fit";

    fn rules(&self) -> Result<(), FieldError> {
        self.input.rules(&self.reading)?;
        self.clustering.rules(&[self.algorithm])
    }
}

impl FitSpecification {
    /// Creates the specification of `k` clusters of the rows in `data`, everything else as it
    /// usually is.
    pub fn new(data: PathBuf, clusters: usize) -> FitSpecification {
        FitSpecification {
            data,
            clusters,
            algorithm: AlgorithmName::default(),
            input: InputSpecification::default(),
            reading: ReadingSpecification::default(),
            clustering: ClusteringSpecification::default(),
        }
    }

    /// Returns the options for clustering the rows.
    pub fn options(&self) -> KMeans {
        KMeans::new(self.clusters)
            .iterations(self.clustering.iterations)
            .restarts(self.clustering.restarts)
            .algorithm(self.clustering.algorithm(self.algorithm))
            .seed(self.clustering.seed)
    }
}

/// What is measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct MeasureSpecification {
    /// Which algorithms, against Lloyd's that trains anew for each deletion.
    #[schemars(extend("x-flag" = "algorithm"))]
    pub algorithms: Vec<AlgorithmName>,
    /// Rows to delete, one after the other.
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    pub deletions: usize,
    /// How often everything is done, with seeds from the seed on.
    #[schemars(range(min = 1, max = 10_000))]
    pub repeats: u64,
    /// Timed trainings of the baseline for each replicate, which stand for one a deletion.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub retrainings: usize,
    /// Rows that the silhouette is taken of.
    ///
    /// It takes the distances between all of them.
    #[schemars(range(max = 100_000))]
    pub silhouette_rows: usize,
}

impl Default for MeasureSpecification {
    fn default() -> MeasureSpecification {
        MeasureSpecification {
            algorithms: vec![AlgorithmName::Quantized, AlgorithmName::DivideConquer],
            deletions: 1000,
            repeats: 5,
            retrainings: 3,
            silhouette_rows: 2000,
        }
    }
}

/// Everything that determines a benchmark of deletions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct BenchSpecification {
    /// Rows: CSV (also .gz), Parquet, or IDX images (also .gz).
    #[schemars(extend("format" = "path"))]
    pub data: PathBuf,
    /// Number of clusters.
    #[schemars(range(min = 1, max = 32768))]
    pub clusters: usize,
    /// What is known of the rows besides their columns.
    #[serde(default)]
    pub input: InputSpecification,
    /// How the rows become numbers.
    #[serde(default)]
    pub reading: ReadingSpecification,
    /// Parameters of the algorithms.
    #[serde(default)]
    pub clustering: ClusteringSpecification,
    /// What is measured.
    #[serde(default)]
    pub benchmark: MeasureSpecification,
}

impl Specification for BenchSpecification {
    const KIND: &'static str = "kmeans bench";

    fn rules(&self) -> Result<(), FieldError> {
        self.input.rules(&self.reading)?;
        let algorithms = &self.benchmark.algorithms;
        if algorithms.is_empty() {
            let expected = "at least one algorithm";
            return Err(FieldError::new("benchmark.algorithms", "empty", expected));
        }
        self.clustering.rules(algorithms)
    }
}

impl BenchSpecification {
    /// Creates the specification of deletions from `k` clusters of the rows in `data`, everything
    /// else as it usually is.
    pub fn new(data: PathBuf, clusters: usize) -> BenchSpecification {
        BenchSpecification {
            data,
            clusters,
            input: InputSpecification::default(),
            reading: ReadingSpecification::default(),
            clustering: ClusteringSpecification::default(),
            benchmark: MeasureSpecification::default(),
        }
    }

    /// Refuses deletions that so many rows do not allow.
    ///
    /// # Errors
    /// When fewer rows than clusters would be left.
    pub fn expect_rows(&self, rows: usize) -> Result<(), FieldError> {
        let (deletions, most) = (self.benchmark.deletions, rows.saturating_sub(self.clusters));
        if deletions > most {
            let expected = format!(
                "at most {most} with {rows} rows and {} clusters",
                self.clusters
            );
            return Err(FieldError::new("benchmark.deletions", deletions, expected));
        }
        Ok(())
    }

    /// Returns the algorithms.
    pub fn algorithms(&self) -> Vec<Algorithm> {
        let names = self.benchmark.algorithms.iter();
        names.map(|&name| self.clustering.algorithm(name)).collect()
    }

    /// Returns the options of the measurement of each algorithm and seed.
    pub fn options(&self) -> BenchmarkOptions {
        BenchmarkOptions {
            clusters: self.clusters,
            iterations: self.clustering.iterations,
            restarts: self.clustering.restarts,
            deletions: self.benchmark.deletions,
            silhouette_rows: self.benchmark.silhouette_rows,
            retrainings: self.benchmark.retrainings,
        }
    }

    /// Returns the seed of each replicate.
    pub fn seeds(&self) -> Vec<u64> {
        let seed = self.clustering.seed;
        (0..self.benchmark.repeats)
            .map(|at| seed.wrapping_add(at))
            .collect()
    }

    /// Returns the specification with paths that can be read from anywhere.
    #[must_use]
    pub fn located(mut self) -> BenchSpecification {
        self.reading.schema = self.reading.schema.as_deref().map(located_schema);
        self
    }
}

/// The original rows, to train on what is left of them when a deletion is verified.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct RetrainingSpecification {
    /// With --verify: train on the rows of this file that the model still has, in place of the
    /// rows in the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "path"))]
    pub data: Option<PathBuf>,
    /// How the rows become numbers.
    pub reading: ReadingSpecification,
}

impl Specification for RetrainingSpecification {
    const KIND: &'static str = "kmeans delete";

    fn rules(&self) -> Result<(), FieldError> {
        if self.data.is_none() && self.reading != ReadingSpecification::default() {
            return Err(FieldError::new("reading", "given", "left out without data"));
        }
        self.reading.rules("reading")
    }
}

/// What is assigned to the clusters of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct AssignSpecification {
    /// Model directory.
    #[schemars(extend("format" = "path"))]
    pub model: PathBuf,
    /// Rows with the columns of the model, in any order; by default the rows that the model was
    /// trained on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "path"))]
    pub data: Option<PathBuf>,
    /// How the rows become numbers.
    #[serde(default)]
    pub reading: ReadingSpecification,
}

impl Specification for AssignSpecification {
    const KIND: &'static str = "kmeans assign";

    fn rules(&self) -> Result<(), FieldError> {
        self.reading.rules("reading")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_algorithm_does_not_have_is_refused_by_field() {
        let mut fit = FitSpecification::new("d.csv".into(), 3);
        assert!(fit.clone().check().is_ok());
        fit.clustering.tree = Some("1x4".parse().unwrap());
        assert_eq!(fit.clone().check().unwrap_err().field, "clustering.tree");
        fit.algorithm = AlgorithmName::DivideConquer;
        assert!(fit.clone().check().is_ok());
        fit.clustering.epsilon = Some(0.1);
        assert_eq!(fit.clone().check().unwrap_err().field, "clustering.epsilon");
        fit.algorithm = AlgorithmName::Quantized;
        fit.clustering.tree = None;
        fit.clustering.gamma = Some(1.0);
        assert_eq!(
            fit.check().unwrap_err().to_string(),
            "clustering.gamma is 1, but must be from 0 to below 1"
        );
    }

    #[test]
    fn a_benchmark_keeps_a_row_a_cluster() {
        let bench = BenchSpecification::new("d.csv".into(), 3);
        assert!(bench.expect_rows(1003).is_ok());
        assert_eq!(
            bench.expect_rows(1002).unwrap_err().field,
            "benchmark.deletions"
        );
        assert_eq!(bench.seeds(), [1, 2, 3, 4, 5]);
    }
}
