//! Options that only some strategies have; given for another one, they are refused.

use anyhow::ensure;
use clap::Args;

use probity::fairness::strategies::StrategyName;
use probity::fairness::strategies::tuning::Tuning;

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Single strategies")]
pub(super) struct TuningArgs {
    /// eidig: successful local steps after which the gradient is computed anew, or `never` [default: 5]
    #[arg(long, value_parser = refresh, value_name = "N")]
    refresh: Option<u32>,
    /// sg: inputs that a surrogate tree is learnt from [default: 25]
    #[arg(long, value_name = "N")]
    surrogate_samples: Option<usize>,
    /// themis: confidence of the causal discrimination score [default: 0.95]
    #[arg(long, value_name = "SHARE")]
    confidence: Option<f64>,
    /// themis: half the width that the score's interval may have [default: 0.005]
    #[arg(long, value_name = "SHARE")]
    error_bound: Option<f64>,
}

fn refresh(text: &str) -> Result<u32, String> {
    if text == "never" {
        return Ok(0);
    }
    match text.parse() {
        Ok(steps) if steps > 0 => Ok(steps),
        _ => Err("a number of steps above 0, or 'never', is expected".to_owned()),
    }
}

impl TuningArgs {
    /// The options for a search by `strategies`.
    pub(super) fn resolve(&self, strategies: &[StrategyName]) -> anyhow::Result<Tuning> {
        for (option, is_given, strategy) in [
            ("refresh", self.refresh.is_some(), StrategyName::Eidig),
            (
                "surrogate-samples",
                self.surrogate_samples.is_some(),
                StrategyName::Sg,
            ),
            (
                "confidence",
                self.confidence.is_some(),
                StrategyName::Themis,
            ),
            (
                "error-bound",
                self.error_bound.is_some(),
                StrategyName::Themis,
            ),
        ] {
            ensure!(
                !is_given || strategies.contains(&strategy),
                "--{option} is an option of the strategy {}, which is not asked for",
                strategy.name()
            );
        }
        let default = Tuning::default();
        Ok(Tuning {
            refresh: self.refresh.unwrap_or(default.refresh),
            surrogate_samples: self.surrogate_samples.unwrap_or(default.surrogate_samples),
            confidence: self.confidence.unwrap_or(default.confidence),
            error_bound: self.error_bound.unwrap_or(default.error_bound),
        })
    }

    /// Refuses options of searches on tables where texts are searched.
    pub(super) fn refuse_for_texts(&self) -> anyhow::Result<()> {
        self.resolve(&[]).map(|_| ())
    }
}
