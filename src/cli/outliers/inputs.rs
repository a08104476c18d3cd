//! Options that the commands on outliers share, and how they become values.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::cli::inputs::{absolute, character, schema};
use crate::cli::output::Output;
use probity::data::schema::Format;
use probity::data::source::Hashed;
use probity::privacy::calibration::Calibration;
use probity::privacy::composition::{Cost, Remaining, readable};
use probity::privacy::count::{CountAnswer, CountOptions, Outliers, Sensitivity};
use probity::privacy::ledger::{Charge, Ledger, charge, read};
use probity::privacy::noise::{Bits, SeededBits, SystemBits};
use probity::privacy::records::{Grid, Records};
use probity::privacy::sensitivity::{Bound, WORK_LIMIT};
use probity::privacy::source::{DeclaredRange, TableOptions};
pub(super) use probity::report::text::signed;
use probity::tensor::device::use_threads;

/// Confidence of intervals unless --confidence says otherwise.
const CONFIDENCE: f64 = 0.95;

/// What is read, and what is declared about it.
#[derive(Debug, Args)]
#[command(next_help_heading = "Data")]
pub(super) struct DataArgs {
    /// Records: CSV (also .gz) or Parquet
    #[arg(long, value_name = "FILE")]
    pub data: PathBuf,
    /// Numeric columns: the dimensions
    #[arg(long, required = true, value_delimiter = ',', value_name = "NAMES")]
    columns: Vec<String>,
    /// Declared range of a column, and the difference that has distance 1 [default: the width of
    /// the range]; values outside are moved to its ends; may be repeated
    #[arg(long, value_name = "COLUMN=MIN,MAX[,UNIT]", value_parser = range, allow_hyphen_values = true)]
    range: Vec<DeclaredRange>,
    /// Schema file, or the name of a built-in schema: declares the ranges of the other columns
    #[arg(long)]
    schema: Option<String>,
    /// All column names by position, for files without a header
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "NAMES",
        conflicts_with = "schema"
    )]
    names: Vec<String>,
    /// Field separator: one character, 'tab' or 'space'
    #[arg(long, default_value = ",", value_parser = character, conflicts_with = "schema")]
    separator: char,
    /// CPU threads [default: one a core]; no influence on results
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

/// What an outlier is.
#[derive(Debug, Args)]
#[command(next_help_heading = "Outliers")]
pub(super) struct OutlierArgs {
    /// Radius of a neighbourhood, in units, divided by the root of the number of dimensions
    #[arg(long, value_name = "R", allow_hyphen_values = true)]
    radius: f64,
    /// An outlier has fewer than K other records within the radius
    #[arg(long, value_name = "K")]
    k: usize,
}

/// How counts are made private.
#[derive(Debug, Args)]
#[command(next_help_heading = "Noise")]
pub(super) struct NoiseArgs {
    /// Which sensitivity scales the noise [default: smooth]
    #[arg(long, value_enum)]
    sensitivity: Option<SensitivityArg>,
    /// Constants of the noise: the least that are proved enough, or those of the paper's theorems
    /// [default: tight]
    #[arg(long, value_enum)]
    calibration: Option<CalibrationArg>,
    /// How the smooth bound is computed [default: auto]
    #[arg(long, value_enum)]
    bound: Option<BoundArg>,
    /// Most steps of an exact bound in three and more dimensions [default: 2000000000]
    #[arg(long, value_name = "STEPS")]
    work_limit: Option<u64>,
    /// Spend this share of epsilon on a private bound on the noise, and give an interval
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true)]
    interval_share: Option<f64>,
    /// Confidence of intervals [default: 0.95]
    #[arg(long, value_name = "SHARE")]
    confidence: Option<f64>,
}

/// Who pays, and where the random bits come from.
#[derive(Debug, Args)]
#[command(next_help_heading = "Privacy")]
pub(super) struct PrivacyArgs {
    /// Ledger that the query is charged to
    #[arg(long, value_name = "FILE")]
    pub ledger: PathBuf,
    /// Take the noise from a seed: the answer is NOT private
    #[arg(long, value_name = "SEED")]
    not_private_seed: Option<u64>,
    /// Also write run.toml and summary.json to this new directory
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum SensitivityArg {
    /// A smooth bound, which depends on the records
    Smooth,
    /// The upper bound on the global sensitivity
    Global,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum CalibrationArg {
    /// The least noise that is proved to be enough
    Tight,
    /// Theorems 1 and 2 of the paper; epsilon below 1
    Theorem,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum BoundArg {
    /// Exact up to two dimensions or 100 records, else cover
    Auto,
    /// Exact
    Exact,
    /// Centres from a lattice: looser, fast in any dimension
    Cover,
    /// The paper's Algorithm 1, at most 24 records
    Reference,
}

/// The data as declared.
pub(super) struct Data {
    pub file: PathBuf,
    pub sha256: String,
    pub options: TableOptions,
    pub grid: Grid,
    pub records: Records,
}

impl DataArgs {
    /// Reads the data. The declarations are checked before the file is opened.
    pub fn read(&self) -> anyhow::Result<Data> {
        use_threads(self.threads.map(usize::from))?;
        let options = TableOptions {
            columns: self.columns.clone(),
            ranges: self.range.clone(),
            schema: self.schema.as_deref().map(schema).transpose()?,
            format: Format {
                separator: self.separator,
                header: self.names.is_empty(),
                columns: self.names.clone(),
                ..Format::default()
            },
        };
        options.grid()?;
        let Hashed {
            value: numbers,
            sha256,
        } = options.read(&self.data)?;
        let records = numbers.grid.place(&numbers.values)?;
        Ok(Data {
            file: absolute(&self.data),
            sha256,
            options,
            grid: numbers.grid,
            records,
        })
    }
}

impl OutlierArgs {
    /// What an outlier is in `dimension` dimensions.
    pub fn outliers(&self, grid: &Grid, dimension: usize) -> anyhow::Result<Outliers> {
        Ok(Outliers {
            k: self.k,
            squared_radius: grid.squared_radius(self.radius, dimension)?,
        })
    }

    /// The radius and k as given.
    pub fn given(&self) -> (f64, usize) {
        (self.radius, self.k)
    }
}

impl NoiseArgs {
    /// Whether any of them was given.
    pub fn is_given(&self) -> bool {
        self.sensitivity.is_some()
            || self.calibration.is_some()
            || self.bound.is_some()
            || self.work_limit.is_some()
            || self.interval_share.is_some()
            || self.confidence.is_some()
    }

    /// The same as a value.
    pub fn options(&self) -> anyhow::Result<CountOptions> {
        let sensitivity = match self.sensitivity {
            None | Some(SensitivityArg::Smooth) => Sensitivity::Smooth,
            Some(SensitivityArg::Global) => Sensitivity::Global,
        };
        anyhow::ensure!(
            !(sensitivity == Sensitivity::Global && self.interval_share.is_some()),
            "--interval-share has nothing to pay for with --sensitivity global: that noise is public, and the interval is free"
        );
        let mut options = CountOptions::default()
            .sensitivity(sensitivity)
            .calibration(match self.calibration {
                None | Some(CalibrationArg::Tight) => Calibration::Tight,
                Some(CalibrationArg::Theorem) => Calibration::Theorem,
            })
            .bound(match self.bound {
                None | Some(BoundArg::Auto) => Bound::Auto,
                Some(BoundArg::Exact) => Bound::Exact,
                Some(BoundArg::Cover) => Bound::Cover,
                Some(BoundArg::Reference) => Bound::Reference,
            })
            .work_limit(self.work_limit.unwrap_or(WORK_LIMIT))
            .confidence(self.confidence.unwrap_or(CONFIDENCE));
        options.interval_share = self.interval_share;
        Ok(options)
    }
}

impl PrivacyArgs {
    /// Charges the query; from here on the price is paid. Gives the ledger after the entry and the random bits.
    pub fn charge(
        &self,
        data: &Data,
        mechanism: String,
        cost: Cost,
        output: &Output,
    ) -> anyhow::Result<(Ledger, Box<dyn Bits>)> {
        let paid = charge(
            &self.ledger,
            Charge {
                sha256: data.sha256.clone(),
                mechanism,
                cost,
                not_private: self.not_private_seed.is_some(),
            },
        )?;
        let bits: Box<dyn Bits> = match self.not_private_seed {
            Some(seed) => {
                output.remark(
                    "NOT PRIVATE: the noise follows from a seed; whoever knows it can take it off.",
                );
                Box::new(SeededBits::not_private(seed, paid.queries.len() as u64))
            }
            None => Box::new(SystemBits::new()),
        };
        Ok((paid, bits))
    }

    /// Whether the answer is private.
    pub fn is_private(&self) -> bool {
        self.not_private_seed.is_none()
    }

    /// Holds before anything is charged that the ledger can be read.
    pub fn check(&self) -> anyhow::Result<()> {
        read(&self.ledger)?;
        Ok(())
    }
}

/// What a query cost and what is left.
#[derive(Debug, Serialize)]
pub(super) struct Bill {
    pub cost: Cost,
    pub left: Remaining,
    pub ledger: PathBuf,
}

impl Bill {
    /// The bill of the last query in `ledger`.
    pub fn new(args: &PrivacyArgs, cost: Cost, ledger: &Ledger) -> Bill {
        Bill {
            cost,
            left: ledger.remaining(),
            ledger: args.ledger.clone(),
        }
    }

    /// In words.
    pub fn text(&self) -> String {
        format!(
            "Cost: epsilon {}, delta {}. Left in {}: epsilon {}, delta {}.\n",
            readable(self.cost.epsilon),
            readable(self.cost.delta),
            self.ledger.display(),
            readable(self.left.epsilon),
            readable(self.left.delta)
        )
    }
}

/// An answer in words.
pub(super) fn answer_text(answer: &CountAnswer) -> String {
    match &answer.interval {
        None => format!("{} outliers, with noise", signed(answer.count)),
        Some(interval) => format!(
            "{} outliers, with noise; {} to {} with {} % confidence",
            signed(answer.count),
            signed(interval.low),
            signed(interval.high),
            readable(100.0 * interval.confidence)
        ),
    }
}

/// A statement to stand above and below answers that are not private.
pub(super) fn not_private_text(private: bool) -> &'static str {
    if private {
        ""
    } else {
        "NOT PRIVATE: the noise follows from a seed.\n"
    }
}

fn range(text: &str) -> Result<DeclaredRange, String> {
    let refused = || "a declaration such as age=17,90 or age=17,90,13.6 is expected".to_owned();
    let (column, numbers) = text.rsplit_once('=').ok_or_else(refused)?;
    let numbers: Vec<f64> = numbers
        .split(',')
        .map(|number| number.trim().parse().map_err(|_| refused()))
        .collect::<Result<_, _>>()?;
    let (min, max, unit) = match numbers[..] {
        [min, max] => (min, max, None),
        [min, max, unit] => (min, max, Some(unit)),
        _ => return Err(refused()),
    };
    Ok(DeclaredRange {
        column: column.to_owned(),
        min,
        max,
        unit,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_are_read() {
        let declared = range("a=b=-1,2.5,0.5").unwrap();
        assert_eq!((declared.column.as_str(), declared.min), ("a=b", -1.0));
        assert_eq!((declared.max, declared.unit), (2.5, Some(0.5)));
        assert_eq!(range("x=0,1").unwrap().unit, None);
        assert!(range("x").is_err() && range("x=1").is_err() && range("x=1,y").is_err());
        assert_eq!(readable(0.1 + 0.2), "0.3");
        assert_eq!(readable(1e-9), "1e-9");
    }
}
