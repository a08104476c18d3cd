//! Rules that hold of every search.

use probity_run::specification::FieldError;

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
