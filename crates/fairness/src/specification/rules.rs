//! Rules that hold in several specifications.

use std::path::Path;

use probity_run::specification::FieldError;

use super::{AuditSpecification, SearchSpecification};
use crate::strategies::StrategyName;
use crate::strategies::tuning::Tuning;

/// Refuses a file or directory that is not named.
pub(crate) fn needed(field: &str, path: &Path) -> Result<(), FieldError> {
    match path.as_os_str().is_empty() {
        true => Err(FieldError::new(field, "missing", "given")),
        false => Ok(()),
    }
}

/// Refuses a list that names something twice.
pub(crate) fn named_once(field: &str, names: &[String]) -> Result<(), FieldError> {
    let mut again = (0..names.len()).filter(|&place| names[..place].contains(&names[place]));
    match again.next() {
        None => Ok(()),
        Some(place) => {
            let expected = "a list that names each once";
            Err(FieldError::new(field, &names[place], expected))
        }
    }
}

/// Refuses options of strategies that are not among `strategies`.
pub(super) fn tuned(tuning: &Tuning, strategies: &[StrategyName]) -> Result<(), FieldError> {
    let usual = Tuning::default();
    let given = [
        (
            "refresh",
            tuning.refresh != usual.refresh,
            StrategyName::Eidig,
        ),
        (
            "surrogate_rows",
            tuning.surrogate_rows != usual.surrogate_rows,
            StrategyName::Sg,
        ),
        (
            "confidence",
            tuning.confidence != usual.confidence,
            StrategyName::Themis,
        ),
        (
            "error_bound",
            tuning.error_bound != usual.error_bound,
            StrategyName::Themis,
        ),
    ];
    for (option, is_given, strategy) in given {
        if is_given && !strategies.contains(&strategy) {
            let expected = format!(
                "left out: it is an option of the strategy {}, which is not asked for",
                strategy.name()
            );
            return Err(FieldError::new(
                format!("tuning.{option}"),
                "given",
                expected,
            ));
        }
    }
    Ok(())
}

/// What holds of every search on texts, here that of `audit`.
pub(super) fn of_texts(audit: &AuditSpecification) -> Result<(), FieldError> {
    let (given, default) = (&audit.search, SearchSpecification::default());
    for (field, is_left_out) in [
        (
            "search.step_global",
            given.step_global == default.step_global,
        ),
        ("search.step_local", given.step_local == default.step_local),
    ] {
        unused(field, is_left_out, "texts")?;
    }
    unused("out_of_domain", audit.out_of_domain.is_none(), "texts")?;
    audit.text.expect_fluency_used()?;
    let from = audit.text.neighbours_from;
    match audit.predictor.source.is_some() && !from.is_usual() {
        true => Err(from.refused()),
        false => Ok(()),
    }
}

/// Refuses a field that is given though it has no meaning for `searched`.
pub(crate) fn unused(field: &str, is_left_out: bool, searched: &str) -> Result<(), FieldError> {
    match is_left_out {
        true => Ok(()),
        false => {
            let expected = format!("left out: it has no meaning for {searched}");
            Err(FieldError::new(field, "given", expected))
        }
    }
}
