//! The figures of a search: the parts of `summary.json` that audits of tables and of texts share.

use serde::{Deserialize, Serialize};

use super::distinct::Mark;
use super::estimate::{Estimate, Verdict};
use super::search::SearchCounts;
use super::specification::BoundOn;
use super::trace::TraceSummary;

/// The global phase in the summary.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GlobalSummary {
    /// Seeds.
    pub seeds: u64,
    /// Moves made by all seeds.
    pub iterations: u64,
    /// Distinct individuals checked.
    pub generated: u64,
    /// Distinct rows checked.
    pub generated_rows: u64,
    /// Distinct discriminatory individuals.
    pub discriminatory: u64,
    /// Distinct discriminatory rows.
    pub discriminatory_rows: u64,
    /// Checks made.
    pub checks: u64,
    /// Rows that the model was asked about.
    pub model_rows: u64,
    /// Rows that the model was asked about the gradient at.
    pub model_gradients: u64,
    /// Search time.
    pub seconds: f64,
}

/// The local phase in the summary.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LocalSummary {
    /// Starts: distinct individuals that the global phase found.
    pub seeds: u64,
    /// Trials from all starts.
    pub trials: u64,
    /// Distinct individuals checked.
    pub generated: u64,
    /// Distinct rows checked.
    pub generated_rows: u64,
    /// Distinct discriminatory individuals.
    pub discriminatory: u64,
    /// Distinct discriminatory rows.
    pub discriminatory_rows: u64,
    /// Checks made.
    pub checks: u64,
    /// Rows that the model was asked about.
    pub model_rows: u64,
    /// Rows that the model was asked about the gradient at.
    pub model_gradients: u64,
    /// Search time.
    pub seconds: f64,
}

/// The figures of both phases together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TotalSummary {
    /// Distinct individuals checked.
    pub generated: u64,
    /// Distinct discriminatory individuals.
    pub discriminatory: u64,
    /// Distinct discriminatory rows: pairs in the samples file.
    pub discriminatory_rows: u64,
    /// The share discriminatory / generated.
    pub success_rate: f64,
    /// Candidates checked against all of their variants.
    pub checks: u64,
    /// Rows that the model was asked about.
    pub model_rows: u64,
    /// Rows that the model was asked about the gradient at.
    pub model_gradients: u64,
    /// The speed of checking: checks / seconds.
    pub checks_per_second: f64,
    /// The speed of finding: discriminatory / seconds.
    pub discriminatory_per_second: f64,
    /// The finds per 1,000 model calls: discriminatory / (model_rows + model_gradients) · 1,000.
    pub discriminatory_per_thousand_calls: f64,
    /// Discriminatory individuals per 1,000 model passes, where a gradient counts as two: a pass
    /// forwards and one backwards.
    pub discriminatory_per_thousand_passes: f64,
    /// The finds per seed: discriminatory / seeds.
    pub discriminatory_per_seed: f64,
    /// Search time of both phases.
    pub seconds: f64,
    /// Pairs that the search device found and the reference device did not confirm.
    pub unconfirmed: u64,
}

/// A bound and the verdict of the joint share on it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BoundSummary {
    /// The declared bound.
    pub bound: f64,
    /// The share that the bound is on.
    pub on: BoundOn,
    /// The verdict that the interval gives.
    pub verdict: Verdict,
}

impl BoundSummary {
    /// The verdict of the `joint` share on `bound`; nothing is shown where the share is not known,
    /// or where `is_blind` says that the model takes none of the attributes, which is not declared
    /// to be right.
    pub fn new(bound: f64, on: BoundOn, joint: Option<&Estimate>, is_blind: bool) -> BoundSummary {
        BoundSummary {
            bound,
            on,
            verdict: match is_blind {
                true => Verdict::NotApplicable,
                false => joint.map_or(Verdict::Inconclusive, |joint| joint.verdict(bound)),
            },
        }
    }
}

/// The course of a search, to its end: how much was found after how many model calls.
pub fn trace(counts: &SearchCounts<'_>) -> TraceSummary {
    let calls = counts.global.calls_with(counts.local);
    let found = counts.individuals.discriminatory();
    counts.trace.until(calls, found)
}

/// The phases of a search and both together.
pub fn phases(counts: &SearchCounts<'_>) -> (GlobalSummary, LocalSummary, TotalSummary) {
    let SearchCounts {
        global,
        local,
        individuals,
        rows,
        ..
    } = *counts;
    let checks = global.checks + local.checks;
    let model_rows = global.model_rows + local.model_rows;
    let model_gradients = global.model_gradients + local.model_gradients;
    let seconds = global.seconds + local.seconds;
    let per = |count: u64, of: f64| if of > 0.0 { count as f64 / of } else { 0.0 };
    let discriminatory = individuals.discriminatory();
    let calls = model_rows as f64 + model_gradients as f64;
    let global = GlobalSummary {
        seeds: global.starts,
        iterations: global.steps,
        generated: individuals.count(Mark::GlobalGenerated),
        generated_rows: rows.count(Mark::GlobalGenerated),
        discriminatory: individuals.count(Mark::GlobalDiscriminatory),
        discriminatory_rows: rows.count(Mark::GlobalDiscriminatory),
        checks: global.checks,
        model_rows: global.model_rows,
        model_gradients: global.model_gradients,
        seconds: global.seconds,
    };
    let local = LocalSummary {
        seeds: local.starts,
        trials: local.steps,
        generated: individuals.count(Mark::LocalGenerated),
        generated_rows: rows.count(Mark::LocalGenerated),
        discriminatory: individuals.count(Mark::LocalDiscriminatory),
        discriminatory_rows: rows.count(Mark::LocalDiscriminatory),
        checks: local.checks,
        model_rows: local.model_rows,
        model_gradients: local.model_gradients,
        seconds: local.seconds,
    };
    let total = TotalSummary {
        generated: individuals.len(),
        discriminatory,
        discriminatory_rows: rows.discriminatory(),
        success_rate: per(discriminatory, individuals.len() as f64),
        checks,
        model_rows,
        model_gradients,
        checks_per_second: per(checks, seconds),
        discriminatory_per_second: per(discriminatory, seconds),
        discriminatory_per_thousand_calls: 1000.0 * per(discriminatory, calls),
        discriminatory_per_thousand_passes: 1000.0
            * per(discriminatory, calls + model_gradients as f64),
        discriminatory_per_seed: per(discriminatory, global.seeds as f64),
        seconds,
        unconfirmed: counts.unconfirmed,
    };
    (global, local, total)
}
