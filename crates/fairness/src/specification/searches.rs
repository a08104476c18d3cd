//! Rules that hold of every search.

use probity_run::specification::FieldError;

use super::rules::unused;
use super::{AuditSpecification, SearchSpecification};
use crate::strategies::StrategyName;
use crate::strategies::tuning::Tuning;

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

/// Checks the rules that hold of every search on texts, here that of `audit`.
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
    unused("ignore_other_columns", !audit.ignore_other_columns, "texts")?;
    audit.text.expect_fluency_used()?;
    let from = audit.text.neighbours_from;
    match audit.predictor.source.is_some() && !from.is_usual() {
        true => Err(from.refused()),
        false => Ok(()),
    }
}
