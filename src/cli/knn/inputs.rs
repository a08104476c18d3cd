//! Options of `probity knn` that say what is read and how K is learnt.

use std::path::PathBuf;

use anyhow::bail;
use clap::Args;

use crate::cli::inputs::{absolute, bounds, character, schema};
use probity::data::idx::Reduction;
use probity::data::numbers::{Bounds, NumbersOptions};
use probity::data::schema::Format;
use probity::knn::Metric;
use probity::knn::inputs::Inputs;
use probity::knn::run::{LargestK, Learning};

/// What is read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Data")]
pub(super) struct DataArgs {
    /// Training rows: CSV, Parquet, or IDX images (also .gz, .xz)
    #[arg(long, required = true, value_name = "FILE")]
    train: Option<PathBuf>,
    /// Test inputs, with the columns of the training rows; labels are optional
    #[arg(long, required = true, value_name = "FILE")]
    test: Option<PathBuf>,
    /// IDX file with the labels of the training images
    #[arg(long, value_name = "FILE")]
    train_labels: Option<PathBuf>,
    /// IDX file with the labels of the test images
    #[arg(long, value_name = "FILE")]
    test_labels: Option<PathBuf>,
    /// Column with the label; all others are features
    #[arg(long, value_name = "NAME")]
    label_column: Option<String>,
    /// Columns to leave out
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    ignore: Vec<String>,
    /// Schema file, or the name of a built-in schema, for columns that are no numbers
    #[arg(long, conflicts_with_all = ["label_column", "columns"])]
    schema: Option<String>,
    /// Column names by position, for files without a header
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    columns: Vec<String>,
    /// Field separator: one character, 'tab' or 'space'
    #[arg(long, default_value = ",", value_parser = character)]
    separator: char,
    /// Scale all columns, or one, from these bounds to 0 … 1; may be repeated
    #[arg(long, value_name = "[COLUMN=]MIN,MAX", value_parser = bounds, allow_hyphen_values = true)]
    bounds: Vec<Bounds>,
    /// Scale by the domains that the schema declares
    #[arg(long, requires = "schema")]
    scale: bool,
    /// Average blocks of so many pixels a side
    #[arg(long, value_name = "PIXELS", value_parser = clap::value_parser!(u32).range(1..))]
    image_blocks: Option<u32>,
    /// Keep so many central blocks a side [default: all that fit]
    #[arg(long, value_name = "BLOCKS", requires = "image_blocks", value_parser = clap::value_parser!(u32).range(1..))]
    image_crop: Option<u32>,
}

/// How K is learnt.
#[derive(Debug, Args)]
#[command(next_help_heading = "Learning")]
pub(super) struct LearningArgs {
    /// Folds of the cross-validation
    #[arg(long, default_value_t = 10)]
    folds: usize,
    /// Smallest K to try
    #[arg(long, default_value_t = 1)]
    min_k: usize,
    /// Largest K to try: a percentage of the training rows such as 10%, or a number
    #[arg(long, default_value = "10%", value_parser = largest_k)]
    max_k: LargestK,
    /// Distance
    #[arg(long, value_enum, default_value_t)]
    metric: Metric,
    /// Seed of the folds and of the choice of --inputs
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl DataArgs {
    /// Reads the files as `options` say.
    pub fn read(&self, options: &NumbersOptions) -> anyhow::Result<Inputs> {
        let (Some(train), Some(test)) = (&self.train, &self.test) else {
            bail!("--train and --test are needed");
        };
        // run.toml holds these paths, and must mean the same from any directory.
        let (train, test) = (absolute(train), absolute(test));
        let labels = |file: &Option<PathBuf>| file.as_deref().map(absolute);
        let (train_labels, test_labels) = (labels(&self.train_labels), labels(&self.test_labels));
        Ok(Inputs::read(
            (train.as_path(), train_labels.as_deref()),
            (test.as_path(), test_labels.as_deref()),
            options,
        )?)
    }

    /// How they become numbers.
    pub fn options(&self) -> anyhow::Result<NumbersOptions> {
        Ok(NumbersOptions {
            label: self.label_column.clone(),
            ignore: self.ignore.clone(),
            scale_by_schema: self.scale,
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
            bounds: self.bounds.clone(),
            schema: self.schema.as_deref().map(schema).transpose()?,
        })
    }
}

impl LearningArgs {
    /// The same as a value.
    pub fn learning(&self) -> Learning {
        Learning {
            folds: self.folds,
            smallest_k: self.min_k,
            largest_k: self.max_k,
            metric: self.metric,
            seed: self.seed,
        }
    }
}

fn largest_k(text: &str) -> Result<LargestK, String> {
    let refused = || "a percentage such as 10% or a number is expected".to_owned();
    match text.strip_suffix('%') {
        Some(percent) => match percent.trim().parse::<f64>() {
            Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(LargestK::Percent(percent)),
            _ => Err(refused()),
        },
        None => text.parse().map(LargestK::Count).map_err(|_| refused()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_and_shares_are_read() {
        let named = bounds("a=b=-1,2.5").unwrap();
        assert_eq!((named.column.as_deref(), named.min), (Some("a=b"), -1.0));
        assert!(bounds("3,3").is_err() && bounds("x").is_err());
        assert_eq!(largest_k("10%").unwrap().of(1617), 161);
        assert_eq!(largest_k("7").unwrap().of(1617), 7);
        assert!(largest_k("101%").is_err() && largest_k("-1").is_err());
    }
}
