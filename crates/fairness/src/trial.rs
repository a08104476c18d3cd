//! A trial puts the search of one strategy together: that of an audit, or of one of its shards. Run
//! by itself, without a run directory, it is what comparisons and the paper's tables are made of.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::audit_error::AuditError;
use super::calls::{Calls, CountedModel};
use super::finds::{Diversity, Finds, FindsSummary};
use super::modality::{Method, Modality};
use super::model_under_test::ModelAccess;
use super::pairs::PairStore;
use super::search::{Ending, Search, SearchOptions, SearchState, StateOf};
use super::session::{AuditProgress, progress_of};
use super::strategies::WithStrategy;
use super::strategy::CausalDiscrimination;
use super::strategy::Strategy;
use super::summary::{GlobalSummary, LocalSummary, TotalSummary, phases};
use probity_nn::Classifier;

/// Largest number of points that a curve keeps.
const CURVE_POINTS: usize = 200;

/// The inputs at which a search begins.
#[derive(Debug, Clone, Copy)]
pub enum Begin<'a> {
    /// The strategy's own inputs, else seeds from clusters of the data.
    Seeds {
        /// Number of clusters.
        clusters: usize,
        /// Number of inputs.
        count: usize,
    },
    /// These inputs, whatever the strategy.
    At(&'a [Vec<i32>]),
}

/// A search that can be run.
pub struct Trial<'a, M> {
    /// The case that is searched.
    pub case: &'a M,
    /// The method of the search.
    pub method: Method<'a>,
    /// The inputs at which the search begins.
    pub begin: Begin<'a>,
    /// The options, which say how far to search.
    pub options: SearchOptions,
}

/// Work with the search of a trial, whatever its strategy.
pub(super) trait WithSearch {
    /// The result of the work.
    type Output;

    /// Does the work with `search`.
    fn with<S: Strategy>(self, search: &Search<'_, S>) -> Self::Output;
}

/// The progress of a search at the end of a round.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// Search time until then.
    pub seconds: f64,
    /// Rows and gradients that the model was asked for.
    pub model_calls: u64,
    /// Candidates checked.
    pub checks: u64,
    /// Distinct discriminatory individuals.
    pub found: u64,
    /// The diversity of these individuals.
    pub diversity: Option<Diversity>,
}

/// The figures of a search.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrialFigures {
    /// Seed of everything random.
    pub seed: u64,
    /// The reason why the search ended.
    pub ending: Ending,
    /// Global phase.
    pub global: GlobalSummary,
    /// Local phase.
    pub local: LocalSummary,
    /// The figures of both phases together.
    pub total: TotalSummary,
    /// The score that the strategy `themis` ends with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub causal_discrimination: Option<CausalDiscrimination>,
    /// Figures of the finds as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finds: Option<FindsSummary>,
    /// The curve of the search: its progress at the ends of rounds.
    pub curve: Vec<CurvePoint>,
}

/// [`TrialFigures`] in a checkpoint, where no field may be left out.
#[derive(Serialize, Deserialize)]
#[serde(remote = "TrialFigures")]
pub(super) struct KeptFigures {
    seed: u64,
    ending: Ending,
    global: GlobalSummary,
    local: LocalSummary,
    total: TotalSummary,
    causal_discrimination: Option<CausalDiscrimination>,
    finds: Option<FindsSummary>,
    curve: Vec<CurvePoint>,
}

impl TrialFigures {
    /// Distinct discriminatory individuals a second.
    pub fn found_per_second(&self) -> f64 {
        self.total.discriminatory_per_second
    }

    /// Distinct discriminatory individuals for 1,000 rows or gradients that the model was asked
    /// for.
    pub fn found_per_thousand_calls(&self) -> f64 {
        self.total.discriminatory_per_thousand_calls
    }
}

/// The figures of a search, and the pairs that it found.
pub struct TrialOutcome {
    /// The figures.
    pub figures: TrialFigures,
    /// The pairs.
    pub pairs: PairStore,
}

impl<M: Modality> Trial<'_, M> {
    /// Runs the search; `observe` sees every round and may stop it.
    ///
    /// # Errors
    /// When the model cannot answer, or gives no gradients and the strategy needs them.
    pub fn run(
        &self,
        observe: &mut dyn FnMut(AuditProgress<'_>) -> ControlFlow<()>,
    ) -> Result<TrialOutcome, AuditError> {
        self.with_search(TrialSession {
            trial: self,
            observe,
        })?
    }

    /// Does `work` with the search of this trial, whose model calls are counted.
    ///
    /// # Errors
    /// When the model gives no gradients and the strategy needs them.
    pub(super) fn with_search<W: WithSearch>(&self, work: W) -> Result<W::Output, AuditError> {
        let calls = Calls::default();
        let go = |model: ModelAccess<'_>| {
            let awaiting = AwaitingStrategy {
                trial: self,
                model: model.classifier(),
                calls: &calls,
                work,
            };
            self.case.with_strategy(&self.method, model, awaiting)
        };
        match self.case.model().access() {
            ModelAccess::Gradients(model) => {
                go(ModelAccess::Gradients(&CountedModel::new(model, &calls)))
            }
            ModelAccess::Outputs(model) => {
                go(ModelAccess::Outputs(&CountedModel::new(model, &calls)))
            }
        }
    }

    /// The inputs where a search by `strategy` begins.
    pub(super) fn seeds<S: Strategy>(&self, strategy: &S) -> Vec<Vec<i32>> {
        match self.begin {
            Begin::At(rows) => rows.to_vec(),
            Begin::Seeds { clusters, count } => strategy
                .own_seeds(count)
                .unwrap_or_else(|| self.case.seeds(clusters, count, self.method.seed)),
        }
    }
}

/// A trial whose strategy is yet to be made.
struct AwaitingStrategy<'a, M, W> {
    trial: &'a Trial<'a, M>,
    model: &'a dyn Classifier,
    calls: &'a Calls,
    work: W,
}

impl<M: Modality, W: WithSearch> WithStrategy for AwaitingStrategy<'_, M, W> {
    type Output = W::Output;

    fn with<S: Strategy>(self, strategy: &S) -> W::Output {
        let case = self.trial.case;
        self.work.with(&Search {
            model: self.model,
            reference: case.model().reference(),
            domain: case.domain(),
            strategy,
            calls: self.calls,
            options: &self.trial.options,
        })
    }
}

/// Runs the search of a trial and measures its results.
struct TrialSession<'a, M> {
    trial: &'a Trial<'a, M>,
    observe: &'a mut dyn FnMut(AuditProgress<'_>) -> ControlFlow<()>,
}

impl<M: Modality> WithSearch for TrialSession<'_, M> {
    type Output = Result<TrialOutcome, AuditError>;

    fn with<S: Strategy>(self, search: &Search<'_, S>) -> Result<TrialOutcome, AuditError> {
        let TrialSession { trial, observe } = self;
        let seeds = trial.seeds(search.strategy);
        let mut state: StateOf<S> = SearchState::new(seeds, search.model.classes());
        let mut curve = Vec::new();
        let ending = search.run(&mut state, &mut |state| {
            curve.extend(state.ended().iter().map(|end| CurvePoint {
                seconds: end.global.seconds + end.local.seconds,
                model_calls: end.global.model_calls() + end.local.model_calls(),
                checks: end.global.checks + end.local.checks,
                found: end.found,
                diversity: None,
            }));
            observe(progress_of(search, state))
        })?;
        let (global, local, total) = phases(&state.counts());
        let mut curve = thinned(curve);
        let pairs = state.pairs().iter();
        let mut finds = Finds::new(trial.case, trial.method.seed, global.seeds);
        pairs.for_each(|pair| finds.add(&pair));
        let found: Vec<u64> = curve.iter().map(|point| point.found).collect();
        let (finds, along) = finds.measured(&found)?;
        for (point, diversity) in curve.iter_mut().zip(along) {
            point.diversity = Some(diversity);
        }
        let figures = TrialFigures {
            seed: trial.method.seed,
            ending,
            global,
            local,
            total,
            causal_discrimination: search.strategy.causal_discrimination(state.learnt()),
            finds: Some(finds),
            curve,
        };
        Ok(TrialOutcome {
            figures,
            pairs: state.into_pairs(),
        })
    }
}

/// At most [`CURVE_POINTS`] points of `curve`, the first and the last among them, about evenly
/// spaced on a logarithmic axis of rounds.
fn thinned(curve: Vec<CurvePoint>) -> Vec<CurvePoint> {
    let count = curve.len();
    if count <= CURVE_POINTS {
        return curve;
    }
    let last = (count - 1) as f64;
    let mut places: Vec<usize> = (0..CURVE_POINTS)
        .map(|point| {
            let share = point as f64 / (CURVE_POINTS - 1) as f64;
            ((last + 1.0).powf(share) - 1.0).round() as usize
        })
        .collect();
    places.dedup();
    places.into_iter().map(|place| curve[place]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_both_ends() {
        for count in [1, 200, 201, 5000, 2_000_000] {
            let curve: Vec<CurvePoint> = (0..count)
                .map(|round| CurvePoint {
                    seconds: 0.0,
                    model_calls: round,
                    checks: 0,
                    found: 0,
                    diversity: None,
                })
                .collect();
            let thin = thinned(curve);
            assert!(thin.len() <= CURVE_POINTS);
            assert_eq!(thin[0].model_calls, 0);
            assert_eq!(thin[thin.len() - 1].model_calls, count - 1);
            assert!(thin.is_sorted_by(|a, b| a.model_calls < b.model_calls));
        }
    }
}
