//! What the commands on outliers share: their special arguments, and how answers are said.

use std::fmt::Debug;

use anyhow::Context;
use clap::Args;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cli::exit_code::ExitCode;
use crate::cli::fields::Fields;
use crate::cli::output::Output;
use crate::cli::run::Left;
use probity::privacy::query::{Bill, Unwritten};
use probity::privacy::source::DeclaredRange;
use probity::report::model::Findings;
use probity::run::failure::cause_of;
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

/// Says what was answered, as a report says it of the findings in it, and which ledger was charged. What was
/// paid for is said, whatever becomes of its files.
pub(super) fn said<T: Serialize + Debug + 'static, F: DeserializeOwned>(
    answered: anyhow::Result<Left<T>>,
    findings: fn(Box<F>) -> Findings,
    bill: fn(&T) -> &Bill,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let ledger = |answer: &T| format!("Ledger: {}\n", bill(answer).ledger.display());
    match answered {
        Ok(Left::Ended { directory, summary }) => {
            let next = ledger(&summary) + &directory.said();
            let printed = output.findings(&summary, findings, &next);
            printed.with_context(|| {
                let ledger = bill(&summary).ledger.display();
                format!("printing an answer that {ledger} was charged for")
            })
        }
        Ok(Left::Said(code)) => Ok(code),
        Err(error) => {
            if let Some(Unwritten::<T> { answer, .. }) = cause_of(error.as_ref()) {
                output.findings(answer, findings, &ledger(answer))?;
            }
            Err(error)
        }
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
