//! What the commands on outliers share: their special arguments, the data as declared, and the
//! bill.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use crate::cli::fields::Fields;
use crate::cli::inputs::Threads;
use crate::cli::output::{Output, Summary};
use probity::data::source::Hashed;
use probity::data::specification::record_schema;
use probity::privacy::composition::{Cost, Remaining, readable};
use probity::privacy::count::{CountAnswer, Outliers, PublicNoise, Sensitivity};
use probity::privacy::ledger::{Charge, Ledger, charge, read};
use probity::privacy::noise::{Bits, SeededBits, SystemBits};
use probity::privacy::records::{Grid, Records};
use probity::privacy::source::{DeclaredNumbers, DeclaredRange, DeclaredTable, TableOptions};
use probity::privacy::specification::TableSpecification;
pub(super) use probity::report::text::signed;
use probity::run::run_directory::RunDirectory;
use probity::run::specification::Specification;
use probity::run::specification::file::Record;

/// What the command line has a short form for, and what changes no answer.
#[derive(Debug, Args)]
#[command(next_help_heading = "Table")]
pub(super) struct SpecialArgs {
    /// Declared range of a column, and the difference that has distance 1 [default: the width of
    /// the range]; values outside are moved to its ends; may be repeated
    #[arg(long, value_name = "COLUMN=MIN,MAX[,UNIT]", value_parser = range, allow_hyphen_values = true)]
    range: Vec<DeclaredRange>,
    #[command(flatten)]
    threads: Threads,
}

impl SpecialArgs {
    /// Gives the ranges to `fields`, and sets the threads.
    pub fn apply<S: Specification>(&self, fields: &mut Fields<S>) -> anyhow::Result<()> {
        self.threads.apply()?;
        if !self.range.is_empty() {
            fields.set("table.ranges", serde_json::to_value(&self.range)?);
        }
        Ok(())
    }
}

/// The data as declared.
pub(super) struct Data {
    /// For the ledger: it goes into nothing that is printed or written.
    sha256: String,
    pub options: TableOptions,
    pub grid: Grid,
    pub records: Records,
}

impl Data {
    /// Reads `file` to answer whoever asks.
    pub fn read(file: &Path, options: TableOptions) -> anyhow::Result<Data> {
        let read = options.read(file)?;
        Self::of(options, read)
    }

    /// Reads `columns` of `file` for its owner.
    pub fn read_as_owner(
        file: &Path,
        columns: &[String],
        table: &TableSpecification,
    ) -> anyhow::Result<Data> {
        let options = table.options(columns)?;
        let read = options.read_as_owner(file)?;
        Self::of(options, read)
    }

    fn of(options: TableOptions, read: Hashed<DeclaredNumbers>) -> anyhow::Result<Data> {
        let Hashed {
            value: numbers,
            sha256,
        } = read;
        let records = numbers.grid.place(&numbers.values)?;
        Ok(Data {
            sha256,
            options,
            grid: numbers.grid,
            records,
        })
    }
}

/// What an outlier is in `dimension` dimensions of `grid`.
pub(super) fn outliers(
    grid: &Grid,
    radius: f64,
    k: usize,
    dimension: usize,
) -> anyhow::Result<Outliers> {
    Ok(Outliers {
        k,
        squared_radius: grid.squared_radius(radius, dimension)?,
    })
}

/// Who pays, and where the random bits come from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Payment<'q> {
    /// Ledger that the query is charged to.
    pub ledger: &'q Path,
    /// Seed of noise that is not private.
    pub not_private_seed: Option<u64>,
}

impl Payment<'_> {
    /// Charges the query; from here on the price is paid. Gives the ledger after the entry and the
    /// random bits.
    pub fn charge(
        &self,
        data: &Data,
        mechanism: String,
        cost: Cost,
        output: &Output,
    ) -> anyhow::Result<(Ledger, Box<dyn Bits>)> {
        let paid = charge(
            self.ledger,
            Charge {
                sha256: data.sha256.clone(),
                mechanism,
                cost,
                not_private: self.not_private_seed.is_some(),
            },
            || {
                output.remark(&format!(
                    "another process is charging {}; waiting for it",
                    self.ledger.display()
                ));
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

    /// What is public of the table, before it is opened.
    pub fn table(&self) -> anyhow::Result<DeclaredTable> {
        Ok(read(self.ledger)?.table)
    }
}

/// What was opened, but for the records: their hash is an exact function of them.
pub(super) fn record(table: &TableSpecification) -> anyhow::Result<Record> {
    Ok(record_schema(Record::new(), table.schema.as_deref())?)
}

/// Writes an answer to the directory of its run. `ended` is left out: with the time of the charge it
/// would say how long the answer took, which depends on the records.
pub(super) fn write<S: Specification, T: Serialize>(
    directory: &RunDirectory,
    specification: &S,
    record: &Record,
    summary: &Summary<T>,
) -> anyhow::Result<()> {
    directory.write_run(specification, record)?;
    directory.write_summary_without_time(summary)?;
    Ok(())
}

/// What a query cost, when it was charged, and what is left.
#[derive(Debug, Serialize)]
pub(super) struct Bill {
    pub charged: String,
    pub cost: Cost,
    pub left: Remaining,
    pub ledger: PathBuf,
}

impl Bill {
    /// The bill of the last query in `ledger`.
    pub fn new(payment: Payment<'_>, cost: Cost, ledger: &Ledger) -> Bill {
        let charged = ledger.queries.last();
        Bill {
            charged: charged.map_or_else(String::new, |entry| entry.time.clone()),
            cost,
            left: ledger.remaining(),
            ledger: payment.ledger.to_owned(),
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
    let noisy = format!("noisy count of outliers {}", signed(answer.count));
    match &answer.interval {
        None => noisy,
        Some(interval) => format!(
            "{noisy}; the true count is {} to {} with {} % confidence",
            signed(interval.low),
            signed(interval.high),
            readable(100.0 * interval.confidence)
        ),
    }
}

/// How far noisy counts may be off, as far as it is public.
pub(super) fn noise_text(noise: PublicNoise, sensitivity: Sensitivity) -> String {
    let PublicNoise {
        standard_deviation_at_least: least,
        standard_deviation_at_most: most,
        global_standard_deviation: global,
    } = noise;
    if sensitivity == Sensitivity::Global {
        return format!("The noise has a standard deviation of {global:.1}.\n");
    }
    let advice = match noise.global_is_less() {
        true => "always less, so take that",
        false => "and its interval free",
    };
    format!(
        "The noise has a standard deviation of at least {least:.1} and at most {most:.1}; which, depends on the records, and is not said.\n\
         With --sensitivity global it would be {global:.1} at this price, {advice}.\n"
    )
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
        .map(|number| {
            number
                .trim()
                .parse()
                .ok()
                .filter(|value: &f64| value.is_finite())
        })
        .collect::<Option<_>>()
        .ok_or_else(refused)?;
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
        assert_eq!(
            (readable(1e-9), readable(-1e300)),
            ("1e-9".into(), "-1e300".into())
        );
    }
}
