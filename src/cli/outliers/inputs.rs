//! What the commands on outliers share: their special arguments, and how answers are said.

use std::fmt::Debug;

use clap::Args;
use serde::Serialize;

use crate::cli::exit_code::ExitCode;
use crate::cli::fields::Fields;
use crate::cli::output::Output;
use crate::cli::run::Left;
use probity::privacy::count::{PublicNoise, Sensitivity};
use probity::privacy::interval::Interval;
use probity::privacy::query::{Bill, Unwritten};
use probity::privacy::source::DeclaredRange;
pub(super) use probity::report::text::signed;
use probity::run::failure::cause_of;
use probity::run::number::readable;
use probity::run::specification::Specification;

/// What the command line has a short form for.
#[derive(Debug, Args)]
#[command(next_help_heading = "Table")]
pub(super) struct RangeArgs {
    /// Declared range of a column, and the difference that has distance 1 [default: the width of
    /// the range]; values outside are moved to its ends; may be repeated
    #[arg(long, value_name = "COLUMN=MIN,MAX[,UNIT]", value_parser = range, allow_hyphen_values = true)]
    range: Vec<DeclaredRange>,
}

impl RangeArgs {
    /// Gives the ranges to `fields`.
    pub fn set<S: Specification>(&self, fields: &mut Fields<S>) -> anyhow::Result<()> {
        if !self.range.is_empty() {
            fields.set("table.ranges", serde_json::to_value(&self.range)?);
        }
        Ok(())
    }
}

/// Says what was answered. What was paid for is said, whatever becomes of its files.
pub(super) fn said<T: Serialize + Debug + 'static>(
    answered: anyhow::Result<Left<T>>,
    render: &dyn Fn(&T) -> String,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    match answered {
        Ok(Left::Ended { summary, .. }) => output.result(&summary, &render(&summary)),
        Ok(Left::Said(code)) => Ok(code),
        Err(error) => {
            if let Some(Unwritten::<T> { answer, .. }) = cause_of(error.as_ref()) {
                output.result(answer, &render(answer))?;
            }
            Err(error)
        }
    }
}

/// A bill in words.
pub(super) fn bill_text(bill: &Bill) -> String {
    format!(
        "Cost: epsilon {}, delta {}. Left in {}: epsilon {}, delta {}.\n",
        readable(bill.cost.epsilon),
        readable(bill.cost.delta),
        bill.ledger.display(),
        readable(bill.left.epsilon),
        readable(bill.left.delta)
    )
}

/// An answer in words.
pub(super) fn answer_text(count: i64, interval: Option<&Interval>) -> String {
    let noisy = format!("noisy count of outliers {}", signed(count));
    match interval {
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
    }
}
