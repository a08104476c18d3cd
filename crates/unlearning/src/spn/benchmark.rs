//! The paper's protocol (section 5): delete rows one after the other, against learning anew each
//! time.

use std::ops::Range;
use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::unlearn::DeletionEffort;
use super::{Dataset, Spn, SpnError, SpnParameters, Variable};
use crate::spread::Spread;
use probity_run::shards::Items;
use probity_run::stream::{Purpose, permutation};
use probity_tensor::proposer::Proposer;

/// What is measured, and how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Protocol {
    /// Rows to learn from, drawn anew for each repeat; fewer where there are fewer.
    #[schemars(range(min = 2, max = 4_294_967_295_u32))]
    pub rows: usize,
    /// Rows to delete one after the other.
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    pub deletions: usize,
    /// Repeats.
    #[schemars(range(min = 1, max = 10_000))]
    pub repeats: usize,
}

impl Default for Protocol {
    fn default() -> Protocol {
        Protocol {
            rows: 1000,
            deletions: 100,
            repeats: 10,
        }
    }
}

/// The results of the protocol, in seconds and nats.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BenchmarkFigures {
    /// The number of repeats that were done.
    pub repeats: usize,
    /// The number of rows that each repeat learnt from.
    pub rows: usize,
    /// The number of columns.
    pub variables: usize,
    /// The number of rows that each repeat deleted.
    pub deletions: usize,
    /// The seconds to learn once.
    pub learn_seconds: Spread,
    /// The seconds to learn once without the state for deletion.
    pub learn_without_state_seconds: Spread,
    /// The seconds to learn anew after each deletion, summed over the deletions.
    pub retrain_seconds: Spread,
    /// The seconds to delete, summed over the deletions.
    pub unlearn_seconds: Spread,
    /// The retraining time over the unlearning time, both over all repeats.
    pub speed_up: f64,
    /// The mean log-likelihood of the rows that were not learnt from; none where there are none.
    pub test_log_likelihood: Option<Spread>,
    /// Whether deletion gave the bytes of learning anew, compared after the last deletion of each
    /// repeat.
    pub identical: bool,
    /// The effort of all deletions.
    pub effort: DeletionEffort,
}

/// Rows to draw from: row-major values, NaN where one is not known.
#[derive(Debug, Clone)]
pub struct Pool {
    /// The columns.
    pub variables: Vec<Variable>,
    /// The values, `[rows, variables]`.
    pub values: Vec<f64>,
    proposer: Proposer,
}

impl Pool {
    /// Creates the pool of the rows of `data`, on its device.
    pub fn new(data: &Dataset) -> Pool {
        let width = data.variables().len() as u32;
        let rows = data.remaining();
        let value = |at, variable| data.value(at, variable).unwrap_or(f64::NAN);
        let row = |&at: &u32| (0..width).map(move |variable| value(at, variable));
        Pool {
            variables: data.variables().to_vec(),
            values: rows.iter().flat_map(row).collect(),
            proposer: data.proposer().clone(),
        }
    }

    fn rows(&self) -> usize {
        self.values.len() / self.variables.len().max(1)
    }

    fn row(&self, at: u32) -> &[f64] {
        let width = self.variables.len();
        &self.values[at as usize * width..(at as usize + 1) * width]
    }

    /// Returns the rows `chosen` as a dataset, with the ids 1, 2, 3 …
    fn dataset(&self, chosen: &[u32]) -> Result<Dataset, SpnError> {
        let ids: Vec<u64> = (1..=chosen.len() as u64).collect();
        let values: Vec<f64> = chosen
            .iter()
            .flat_map(|&at| self.row(at))
            .copied()
            .collect();
        Ok(Dataset::new(self.variables.clone(), &ids, &[], &values)?.on(&self.proposer))
    }
}

/// The largest number of rows that the test likelihood is taken over.
const TEST_ROWS: usize = 5000;

/// Runs the protocol on rows of `pool`; `go_on` hears of every finished repeat and can end it.
///
/// # Errors
/// Parameters out of their range, or fewer than two rows.
pub fn run(
    parameters: SpnParameters,
    pool: &Pool,
    protocol: Protocol,
    go_on: &mut dyn FnMut(usize) -> bool,
) -> Result<BenchmarkFigures, SpnError> {
    let mut repeats = Vec::new();
    for repeat in 0..protocol.repeats {
        repeats.push(measure(parameters, pool, protocol, repeat as u64)?);
        if !go_on(repeat + 1) {
            break;
        }
    }
    Ok(figures(pool, protocol, &repeats))
}

/// The repeats of the protocol: its items.
pub struct Repeats<'a> {
    /// The parameters by which networks are learnt.
    pub parameters: SpnParameters,
    /// The rows to draw from.
    pub pool: &'a Pool,
    /// The protocol: what is measured, and how often.
    pub protocol: Protocol,
    /// A function that is told how many repeats are finished, and can end the run.
    pub go_on: &'a mut dyn FnMut(usize) -> bool,
}

impl Items for Repeats<'_> {
    type Item = Repeat;
    type Error = SpnError;

    fn count(&self) -> u64 {
        self.protocol.repeats as u64
    }

    fn perform(
        &mut self,
        items: Range<u64>,
        done: &mut dyn FnMut(Repeat),
    ) -> Result<bool, SpnError> {
        let (first, last) = (items.start, items.end);
        for repeat in items {
            done(measure(self.parameters, self.pool, self.protocol, repeat)?);
            if !(self.go_on)((repeat - first) as usize + 1) && repeat + 1 < last {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Protocol {
    /// Returns the number of rows to learn from, and the number of those to delete, for the rows of
    /// `pool`.
    fn counts(&self, pool: &Pool) -> (usize, usize) {
        let rows = self.rows.min(pool.rows());
        (rows, self.deletions.min(rows.saturating_sub(1)))
    }
}

/// Returns the figures of all `repeats` together.
pub fn figures(pool: &Pool, protocol: Protocol, repeats: &[Repeat]) -> BenchmarkFigures {
    let (rows, deletions) = protocol.counts(pool);
    let nothing = Spread {
        mean: f64::NAN,
        sd: None,
    };
    let spread = |value: fn(&Repeat) -> f64| {
        let values: Vec<f64> = repeats.iter().map(value).collect();
        Spread::from_values(&values).unwrap_or(nothing)
    };
    let total = |value: fn(&Repeat) -> f64| repeats.iter().map(value).sum::<f64>();
    let mut effort = DeletionEffort::default();
    for repeat in repeats {
        effort.add(&repeat.effort);
    }
    let tested = repeats.iter().all(|repeat| repeat.likelihood.is_finite());
    BenchmarkFigures {
        repeats: repeats.len(),
        rows,
        variables: pool.variables.len(),
        deletions,
        learn_seconds: spread(|repeat| repeat.learn),
        learn_without_state_seconds: spread(|repeat| repeat.learn_without_state),
        retrain_seconds: spread(|repeat| repeat.retrain),
        unlearn_seconds: spread(|repeat| repeat.unlearn),
        speed_up: total(|repeat| repeat.retrain) / total(|repeat| repeat.unlearn),
        test_log_likelihood: tested.then(|| spread(|repeat| repeat.likelihood)),
        identical: repeats.iter().all(|repeat| repeat.identical),
        effort,
    }
}

/// The measurements of one repeat.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Repeat {
    learn: f64,
    learn_without_state: f64,
    retrain: f64,
    unlearn: f64,
    likelihood: f64,
    identical: bool,
    effort: DeletionEffort,
}

fn measure(
    parameters: SpnParameters,
    pool: &Pool,
    protocol: Protocol,
    repeat: u64,
) -> Result<Repeat, SpnError> {
    let (rows, deletions) = protocol.counts(pool);
    let all = pool.rows() as u32;
    let order = permutation(parameters.seed, Purpose::SpnBenchmark, 2 * repeat, all);
    let (chosen, rest) = order.split_at(rows);
    let data = pool.dataset(chosen)?;
    let copy = data.clone();
    let started = Instant::now();
    let network = Spn::learn_network(parameters, copy)?;
    let learn_without_state = started.elapsed().as_secs_f64();
    let started = Instant::now();
    let mut spn = Spn::learn(parameters, data)?;
    let learn = started.elapsed().as_secs_f64();
    let test: Vec<Vec<Option<f64>>> = rest
        .iter()
        .take(TEST_ROWS)
        .map(|&at| {
            let values = pool.row(at).iter();
            values
                .map(|&value| (!value.is_nan()).then_some(value))
                .collect()
        })
        .collect();
    let scores = network.log_densities(&test);
    let victims = permutation(
        parameters.seed,
        Purpose::SpnBenchmark,
        2 * repeat + 1,
        rows as u32,
    );
    let mut effort = DeletionEffort::default();
    let (mut unlearn, mut retrain) = (0.0, 0.0);
    let mut identical = true;
    for (done, &victim) in victims.iter().take(deletions).enumerate() {
        let started = Instant::now();
        effort.add(&spn.delete(&[u64::from(victim) + 1])?);
        unlearn += started.elapsed().as_secs_f64();
        let remaining = spn.data().compacted();
        let started = Instant::now();
        let fresh = Spn::learn(parameters, remaining)?;
        retrain += started.elapsed().as_secs_f64();
        if done + 1 == deletions {
            identical = fresh.to_bytes()? == spn.to_bytes()?;
        }
    }
    Ok(Repeat {
        learn,
        learn_without_state,
        retrain,
        unlearn,
        likelihood: scores.iter().sum::<f64>() / scores.len() as f64,
        identical,
        effort,
    })
}
