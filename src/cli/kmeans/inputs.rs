//! Options of `probity kmeans` that say what is read and how it is clustered.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::{Args, ValueEnum};

use crate::cli::inputs::{bounds, character, schema};
use probity::data::idx::Reduction;
use probity::data::numbers::{Bounds, NumbersOptions};
use probity::data::schema::Format;
use probity::tensor::device::use_threads;
use probity::unlearning::kmeans::dataset::{Dataset, read_dataset};
use probity::unlearning::kmeans::{Algorithm, Tree};

/// How the text of a table becomes numbers.
#[derive(Debug, Args)]
#[command(next_help_heading = "Data")]
pub(super) struct ReadingArgs {
    /// Columns to leave out
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub ignore: Vec<String>,
    /// Schema file, or the name of a built-in schema: columns, words, and bounds
    #[arg(long, conflicts_with = "columns")]
    pub schema: Option<String>,
    /// Column names by position, for files without a header
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub columns: Vec<String>,
    /// Field separator: one character, 'tab' or 'space'
    #[arg(long, default_value = ",", value_parser = character)]
    pub separator: char,
    /// Average blocks of so many pixels a side
    #[arg(long, value_name = "PIXELS", value_parser = clap::value_parser!(u32).range(1..))]
    pub image_blocks: Option<u32>,
    /// Keep so many central blocks a side [default: all that fit]
    #[arg(long, value_name = "BLOCKS", requires = "image_blocks", value_parser = clap::value_parser!(u32).range(1..))]
    pub image_crop: Option<u32>,
}

impl ReadingArgs {
    /// The same as a value, without bounds and labels.
    pub fn options(&self) -> anyhow::Result<NumbersOptions> {
        Ok(NumbersOptions {
            ignore: self.ignore.clone(),
            reduction: self.image_blocks.map(|block| Reduction {
                block,
                crop: self.image_crop,
            }),
            format: Format {
                separator: self.separator,
                header: self.columns.is_empty(),
                columns: self.columns.clone(),
                ..Format::default()
            },
            schema: self.schema.as_deref().map(schema).transpose()?,
            ..NumbersOptions::default()
        })
    }
}

/// What is clustered.
#[derive(Debug, Args)]
#[command(next_help_heading = "Data")]
pub(super) struct DataArgs {
    /// Rows: CSV (also .gz), Parquet, or IDX images (also .gz)
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// Bounds of all columns, or of one; may be repeated. They are declared, never taken from the rows
    #[arg(long, value_name = "[COLUMN=]MIN,MAX", value_parser = bounds, allow_hyphen_values = true)]
    bounds: Vec<Bounds>,
    /// Column with labels, which are no feature
    #[arg(long, value_name = "NAME", conflicts_with = "schema")]
    pub label_column: Option<String>,
    /// IDX file with the labels of the images
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// Column with the ids of the rows, whole numbers [default: the number of the row in the file, from 1]
    #[arg(long, value_name = "NAME")]
    pub id_column: Option<String>,
    #[command(flatten)]
    reading: ReadingArgs,
}

impl DataArgs {
    /// The file that is read.
    pub fn file(&self) -> &Path {
        &self.data
    }

    /// Reads the rows.
    pub fn read(&self) -> anyhow::Result<Dataset> {
        let options = NumbersOptions {
            bounds: self.bounds.clone(),
            label: self.label_column.clone(),
            ..self.reading.options()?
        };
        let files = (self.data.as_path(), self.labels.as_deref());
        Ok(read_dataset(files, &options, self.id_column.as_deref())?)
    }
}

/// CPU threads.
#[derive(Debug, Args)]
#[command(next_help_heading = "Hardware")]
pub(super) struct Threads {
    /// CPU threads [default: one a core]; no influence on results
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

impl Threads {
    /// Sets them.
    pub fn apply(&self) -> anyhow::Result<()> {
        Ok(use_threads(self.threads.map(usize::from))?)
    }
}

/// Which algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum AlgorithmName {
    /// Lloyd's algorithm from k-means++ seeds
    Lloyd,
    /// Centroids on a random lattice: most deletions change nothing
    Quantized,
    /// A tree of small clusterings: a deletion changes one path
    DivideConquer,
}

/// Parameters of the algorithms.
#[derive(Debug, Args)]
#[command(next_help_heading = "Clustering")]
pub(super) struct ClusteringArgs {
    /// Number of clusters
    #[arg(long, value_name = "K")]
    pub k: usize,
    /// Iterations at most
    #[arg(long, default_value_t = 10)]
    pub iterations: usize,
    /// quantized: width of the lattice, where a column is 1 wide [default: 0.0625]
    #[arg(long, allow_hyphen_values = true)]
    epsilon: Option<f64>,
    /// quantized: a cluster below this share of the average size is averaged with its previous centroid [default: 0.2]
    #[arg(long, allow_hyphen_values = true)]
    gamma: Option<f64>,
    /// divide-conquer: children of each level, the root first [default: 1xW, W a power of 2 near rows^0.3]
    #[arg(long, value_name = "1xW")]
    tree: Option<Tree>,
    /// Seed of all random numbers
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

impl ClusteringArgs {
    /// The algorithm called `name` for so many rows.
    pub fn algorithm(&self, name: AlgorithmName, rows: usize) -> anyhow::Result<Algorithm> {
        Ok(match name {
            AlgorithmName::Lloyd => Algorithm::Lloyd,
            AlgorithmName::Quantized => Algorithm::Quantized {
                epsilon: self.epsilon.unwrap_or(0.0625),
                gamma: self.gamma.unwrap_or(0.2),
            },
            AlgorithmName::DivideConquer => Algorithm::DivideConquer {
                tree: match &self.tree {
                    Some(tree) => tree.clone(),
                    None => Tree::for_rows(rows)?,
                },
            },
        })
    }

    /// Refuses options that none of `names` has.
    pub fn refuse_idle(&self, names: &[AlgorithmName]) -> anyhow::Result<()> {
        let has = |name| names.contains(&name);
        let idle = [
            (
                "epsilon",
                self.epsilon.is_some() && !has(AlgorithmName::Quantized),
                "quantized",
            ),
            (
                "gamma",
                self.gamma.is_some() && !has(AlgorithmName::Quantized),
                "quantized",
            ),
            (
                "tree",
                self.tree.is_some() && !has(AlgorithmName::DivideConquer),
                "divide-conquer",
            ),
        ];
        if let Some((option, _, algorithm)) = idle.iter().find(|(_, idle, _)| *idle) {
            bail!("--{option} is an option of --algorithm {algorithm}");
        }
        Ok(())
    }
}
