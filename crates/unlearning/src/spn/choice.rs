//! The choice of the threshold of the G-test, where none is given: the one of [`THRESHOLDS`] whose
//! network explains rows best that it has not learnt from.
//!
//! The choice looks at a *sample* of the rows: those with the smallest words, a word being drawn
//! from the seed and the row's id, as many as [`SpnParameters::choice_rows`]. An eighth of them,
//! drawn in the same way, is held out; from the others a network is learnt with each threshold. The
//! one with the largest log-likelihood of the rows held out is taken, the first of several.
//!
//! **Lemma.** The threshold is a function of the remaining rows, the parameters and the seed, and
//! deleting a row that is not in the sample does not change it. *Proof.* Words belong to ids alone,
//! so the sample of the rows without a set R is the sample of all rows if no row of R is in it; the
//! rest is a function of the sample. ∎
//!
//! So the threshold is deleted from like everything else: a deletion that takes rows out of the
//! sample chooses anew ([`super::unlearn`]). With n rows that is a share of `choice_rows` / n of
//! the deletions of one row, and its time does not grow with n.
//!
//! Learning begins with the choice, and goes on with it in [`super::learn`].

use rayon::prelude::*;

use super::learn::{Keep, Spn};
use super::parameters::{Choice, Independence, SpnParameters};
use super::{Dataset, Network, SpnError};
use probity_run::stream::{Purpose, Words};

/// The thresholds that the choice is made from.
pub const THRESHOLDS: [f64; 4] = [1e-2, 1e-3, 1e-4, 1e-6];

/// The share of the sample that is held out: one row in this many.
const HELD_OUT: u64 = 8;

impl Choice {
    /// Returns the threshold for the rows of `data`: the one that is given, else a chosen one.
    ///
    /// # Errors
    /// Parameters out of their range.
    pub(super) fn new(parameters: &SpnParameters, data: &Dataset) -> Result<Choice, SpnError> {
        parameters.check()?;
        if let Some(threshold) = given(parameters) {
            return Ok(Choice {
                threshold,
                last: None,
            });
        }
        let sample = sample(parameters, data);
        let (learnt, held_out) = divide(parameters, data, &sample);
        let likelihoods = THRESHOLDS
            .par_iter()
            .map(|&threshold| likelihood(parameters.threshold(threshold), &learnt, &held_out))
            .collect::<Result<Vec<f64>, SpnError>>()?;
        let mut best = 0;
        for (at, likelihood) in likelihoods.iter().enumerate() {
            if *likelihood > likelihoods[best] {
                best = at;
            }
        }
        Ok(Choice {
            threshold: THRESHOLDS[best],
            last: sample.last().map(|&(word, id, _)| (word, id)),
        })
    }

    /// Returns a choice that was made before among the rows of `data`.
    ///
    /// # Errors
    /// A threshold that these parameters do not allow.
    pub(super) fn known(
        parameters: &SpnParameters,
        data: &Dataset,
        threshold: f64,
    ) -> Result<Choice, SpnError> {
        parameters.check()?;
        let allowed = match given(parameters) {
            Some(given) => given == threshold,
            None => THRESHOLDS.contains(&threshold),
        };
        if !allowed {
            let problem = format!("its threshold {threshold} is none of those it chose from");
            return Err(SpnError::Bytes { problem });
        }
        let last = match given(parameters) {
            Some(_) => None,
            None => sample(parameters, data)
                .last()
                .map(|&(word, id, _)| (word, id)),
        };
        Ok(Choice { threshold, last })
    }

    /// Returns whether the row `id` was in the sample.
    pub(super) fn looked_at(&self, parameters: &SpnParameters, id: u64) -> bool {
        self.last
            .is_some_and(|last| (words(parameters).word(id), id) <= last)
    }
}

impl Spn {
    /// Learns a network of all rows of `data`.
    ///
    /// # Errors
    /// Parameters out of their range.
    pub fn learn(parameters: SpnParameters, data: Dataset) -> Result<Spn, SpnError> {
        Spn::learn_keeping(parameters, data, Keep::State)
    }

    pub(super) fn learn_keeping(
        parameters: SpnParameters,
        data: Dataset,
        keep: Keep,
    ) -> Result<Spn, SpnError> {
        let choice = Choice::new(&parameters, &data)?;
        Ok(Spn::learn_chosen(parameters, choice, data, keep))
    }

    /// Learns the network of all rows of `data` without the state that deletion needs, for
    /// comparison.
    ///
    /// # Errors
    /// Parameters out of their range.
    pub fn learn_network(parameters: SpnParameters, data: Dataset) -> Result<Network, SpnError> {
        Ok(Spn::learn_keeping(parameters, data, Keep::Network)?.network())
    }

    /// Learns the network of the rows that are left, from nothing.
    ///
    /// # Errors
    /// None for a network that could be learnt.
    pub fn retrained(&self) -> Result<Spn, SpnError> {
        Spn::learn(self.rules.parameters, self.rules.data.compacted())
    }
}

impl SpnParameters {
    /// Learns a network of all rows of `data`.
    ///
    /// # Errors
    /// Parameters out of their range.
    pub fn learn(self, data: Dataset) -> Result<Spn, SpnError> {
        Spn::learn(self, data)
    }
}

/// Returns the threshold that no row has a say in, if there is one.
fn given(parameters: &SpnParameters) -> Option<f64> {
    match parameters.independence {
        Independence::Gtest => parameters.threshold,
        Independence::Rdc => parameters.threshold.or(Some(Independence::RDC_THRESHOLD)),
    }
}

/// Returns the random words, by id, that give the place of a row among those that may choose.
fn words(parameters: &SpnParameters) -> Words {
    Words::new(parameters.seed, Purpose::SpnChoice, &[0])
}

/// Returns the word, id and position of the rows of the sample, in this order.
fn sample(parameters: &SpnParameters, data: &Dataset) -> Vec<(u64, u64, u32)> {
    let words = words(parameters);
    let mut rows: Vec<(u64, u64, u32)> = data
        .remaining()
        .into_iter()
        .map(|at| (words.word(data.id(at)), data.id(at), at))
        .collect();
    if rows.len() > parameters.choice_rows {
        rows.select_nth_unstable(parameters.choice_rows);
        rows.truncate(parameters.choice_rows);
    }
    rows.sort_unstable();
    rows
}

/// Returns the rows of the sample to learn from, and those held out. Where one part would have
/// none, both are the whole sample.
fn divide(
    parameters: &SpnParameters,
    data: &Dataset,
    sample: &[(u64, u64, u32)],
) -> (Dataset, Dataset) {
    let words = Words::new(parameters.seed, Purpose::SpnChoice, &[1]);
    let (held_out, learnt): (Vec<_>, Vec<_>) = sample
        .iter()
        .partition(|&&(_, id, _)| words.below(HELD_OUT, id) == 0);
    let part = |rows: &[(u64, u64, u32)]| {
        let mut positions: Vec<u32> = rows.iter().map(|&(_, _, at)| at).collect();
        positions.sort_unstable();
        data.of_positions(&positions)
    };
    if learnt.is_empty() || held_out.is_empty() {
        return (part(sample), part(sample));
    }
    (part(&learnt), part(&held_out))
}

/// Returns the log-likelihood of the rows of `held_out` under the network of `learnt`.
fn likelihood(
    parameters: SpnParameters,
    learnt: &Dataset,
    held_out: &Dataset,
) -> Result<f64, SpnError> {
    let network = Spn::learn_network(parameters, learnt.clone())?;
    let width = held_out.variables().len() as u32;
    let value = |at, variable| held_out.value(at, variable);
    let rows = held_out.remaining().into_iter();
    let rows: Vec<Vec<Option<f64>>> = rows
        .map(|at| (0..width).map(|variable| value(at, variable)).collect())
        .collect();
    // In the order of the ids: a sum of floating-point numbers depends on it.
    Ok(network.log_densities(&rows).iter().sum())
}
