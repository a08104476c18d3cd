//! Options of `probity spn` that say what is read and how it is learnt.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::cli::inputs::schema;
use probity::unlearning::spn::table::TableOptions;
use probity::unlearning::spn::{Independence, LeafFamily, SpnParameters};

/// What is read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Data")]
pub(super) struct TableArgs {
    /// Rows to learn from: CSV (also .gz, .xz) or Parquet
    #[arg(long, value_name = "FILE")]
    pub data: PathBuf,
    /// Schema file, or the name of a built-in schema; the label is one more column of the model
    #[arg(long)]
    schema: String,
    /// Columns to leave out of the model
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    ignore: Vec<String>,
    /// Column with the ids of rows, whole numbers [default: the number of the row in the file, from 1]
    #[arg(long, value_name = "NAME")]
    id_column: Option<String>,
    /// Column that says whose a row is, such as a person; for `delete --group`
    #[arg(long, value_name = "NAME")]
    group_column: Option<String>,
    /// Family of a column's leaves: COLUMN=categorical|gaussian|poisson|histogram; may be repeated
    #[arg(long = "leaf", value_name = "COLUMN=FAMILY", value_parser = leaf)]
    leaves: Vec<(String, LeafFamily)>,
}

impl TableArgs {
    /// The same as a value.
    pub fn options(&self) -> anyhow::Result<TableOptions> {
        Ok(TableOptions {
            ignore: self.ignore.clone(),
            id_column: self.id_column.clone(),
            group_column: self.group_column.clone(),
            leaves: self.leaves.iter().cloned().collect::<BTreeMap<_, _>>(),
            schema: schema(&self.schema)?,
        })
    }
}

/// How dependence is decided.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum IndependenceName {
    /// G-test over declared bins, updated in O(variables²) for each deleted row
    #[default]
    Gtest,
    /// Randomised dependence coefficient, computed anew at each deletion, as in the paper
    Rdc,
}

impl From<IndependenceName> for Independence {
    fn from(name: IndependenceName) -> Independence {
        match name {
            IndependenceName::Gtest => Independence::Gtest,
            IndependenceName::Rdc => Independence::Rdc,
        }
    }
}

/// How it is learnt.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Learning")]
pub(super) struct LearningArgs {
    /// How dependence between columns is decided
    #[arg(long, value_enum, default_value_t)]
    independence: IndependenceName,
    /// gtest: columns are dependent below this p-value; rdc: above this coefficient [default: 0.01, 0.3]
    #[arg(long, value_name = "NUMBER")]
    threshold: Option<f64>,
    /// Clusters of a data split
    #[arg(long, default_value_t = 2, value_name = "K")]
    clusters: u8,
    /// So many rows or fewer are modelled as independent columns
    #[arg(long, default_value_t = 50, value_name = "ROWS")]
    min_rows: usize,
    /// The most bins of a column of numbers in tests of independence
    #[arg(long, default_value_t = 16, value_name = "BINS")]
    bins: u16,
    /// Pseudo-observations at every leaf
    #[arg(long, default_value_t = 1.0, value_name = "ALPHA")]
    smoothing: f64,
    /// Seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl LearningArgs {
    /// The same as a checked value.
    pub fn parameters(&self) -> anyhow::Result<SpnParameters> {
        let mut parameters = SpnParameters::default()
            .independence(self.independence.into())
            .min_rows(self.min_rows)
            .clusters(self.clusters)
            .bins(self.bins)
            .smoothing(self.smoothing)
            .seed(self.seed);
        if let Some(threshold) = self.threshold {
            parameters = parameters.threshold(threshold);
        }
        parameters.check()?;
        Ok(parameters)
    }
}

fn leaf(text: &str) -> Result<(String, LeafFamily), String> {
    let named = text.rsplit_once('=').and_then(|(column, family)| {
        let mut families = LeafFamily::ALL.into_iter();
        let family = families.find(|known| known.name().eq_ignore_ascii_case(family))?;
        Some((column.to_owned(), family))
    });
    named.ok_or_else(|| "a column and a family such as age=gaussian are expected".to_owned())
}
