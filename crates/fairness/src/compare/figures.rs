//! The mean figures of the searches of one strategy.

use serde::Serialize;

use crate::finds::FindsSummary;
use crate::modality::ModalityName;
use crate::statistics::Mean;
use crate::strategies::StrategyName;
use crate::trial::TrialFigures;

/// The figures of one strategy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StrategyFigures {
    /// The strategy.
    pub strategy: StrategyName,
    /// Mean number of distinct individuals found in the global phase.
    pub global: Mean,
    /// Mean number of distinct individuals found in the local phase.
    pub local: Mean,
    /// Mean number of distinct individuals found in both phases.
    pub found: Mean,
    /// The fewest and the most that a search found: the searches differ in their seed, and with it
    /// in the rows that they began at.
    pub found_range: [u64; 2],
    /// Share of the individuals checked.
    pub success_rate: Mean,
    /// Search seconds.
    pub seconds: Mean,
    /// Distinct individuals found a second.
    pub found_per_second: Mean,
    /// Distinct individuals found for 1,000 rows or gradients that the model was asked for.
    pub found_per_thousand_calls: Mean,
    /// Distinct individuals found per 1,000 model passes, where a gradient counts as two: a pass
    /// forwards and one backwards.
    pub found_per_thousand_passes: Mean,
    /// Distinct individuals found for each seed.
    pub found_per_seed: Mean,
    /// Figures of the finds as a whole.
    pub finds: FindsFigures,
    /// The figures of each search.
    pub runs: Vec<TrialFigures>,
}

/// Figures of the finds of a strategy as a whole: means of [`FindsSummary`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FindsFigures {
    /// Share of the seeds that came to a discriminatory row of their own.
    pub reached: Mean,
    /// Mean share of the attributes, or of the words, in which two finds differ.
    pub hamming: Mean,
    /// Mean over the attributes of how far two finds differ; none of texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l1: Option<Mean>,
    /// Cells with a find.
    pub cells: Mean,
    /// Clusters of the data that are covered.
    pub clusters: Mean,
    /// Clusters of the data that could be covered.
    pub data_clusters: u64,
    /// Mean plausibility, where finds are graded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plausibility: Option<Mean>,
}

impl FindsFigures {
    /// The means of the finds of `runs`, on inputs of `modality`; searches that found too little
    /// for a figure take no part in it.
    fn new(modality: ModalityName, runs: &[TrialFigures]) -> FindsFigures {
        let finds = || runs.iter().filter_map(|run| run.finds.as_ref());
        let some = |of: &dyn Fn(&FindsSummary) -> Option<f64>| -> Vec<f64> {
            finds().filter_map(of).collect()
        };
        let grades = some(&|of| of.diversity.plausibility);
        let data_clusters = finds().map(|of| of.data_clusters).max().unwrap_or(0);
        let clusters = some(&|of| Some(of.diversity.clusters as f64));
        FindsFigures {
            reached: Mean::of_shares(&some(&|of| Some(of.reached))),
            hamming: Mean::of_shares(&some(&|of| of.diversity.hamming)),
            l1: match modality {
                ModalityName::Table => Some(Mean::of_shares(&some(&|of| of.diversity.l1))),
                ModalityName::Text => None,
            },
            cells: Mean::of_amounts(&some(&|of| Some(of.diversity.cells as f64))),
            clusters: Mean::within(&clusters, [0.0, data_clusters as f64]),
            data_clusters,
            plausibility: (!grades.is_empty()).then(|| Mean::of_shares(&grades)),
        }
    }
}

impl StrategyFigures {
    /// The means of `runs`, searches of inputs of `modality`.
    pub fn new(
        modality: ModalityName,
        strategy: StrategyName,
        runs: Vec<TrialFigures>,
    ) -> StrategyFigures {
        let mean = |figure: &dyn Fn(&TrialFigures) -> f64| {
            Mean::of_amounts(&runs.iter().map(figure).collect::<Vec<f64>>())
        };
        let success: Vec<f64> = runs.iter().map(|run| run.total.success_rate).collect();
        let found = || runs.iter().map(|run| run.total.discriminatory);
        StrategyFigures {
            strategy,
            found_range: [found().min().unwrap_or(0), found().max().unwrap_or(0)],
            global: mean(&|run| run.global.discriminatory as f64),
            local: mean(&|run| run.local.discriminatory as f64),
            found: mean(&|run| run.total.discriminatory as f64),
            success_rate: Mean::of_shares(&success),
            seconds: mean(&|run| run.total.seconds),
            found_per_second: mean(&TrialFigures::found_per_second),
            found_per_thousand_calls: mean(&TrialFigures::found_per_thousand_calls),
            found_per_thousand_passes: mean(&|run| run.total.discriminatory_per_thousand_passes),
            found_per_seed: mean(&|run| run.total.discriminatory_per_seed),
            finds: FindsFigures::new(modality, &runs),
            runs,
        }
    }
}
