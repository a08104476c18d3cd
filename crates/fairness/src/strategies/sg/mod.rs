//! `sg`: symbolic generation. The model is approximated around an input by a decision tree; the
//! constraints on the input's path through it are negated one by one, and each negated path is
//! solved for a new input.
//!
//! Aggarwal, Lohia, Nagar, Dey, Saha: "Black Box Fairness Testing of Machine Learning Models"
//! (ESEC/FSE 2019). One priority queue holds all inputs that wait to be tried.
//!
//! **Global.** For each predicate of the path, in order, as long as its confidence is at least
//! [`LEAST_CONFIDENCE`]: the predicates before it, and its negation. Inputs of constraints with a
//! high mean confidence come first. **Local.** Around a discriminatory input, each predicate is
//! negated while all others are kept. Inputs of constraints with a low mean confidence come first,
//! and all of them before the global ones. Predicates on protected attributes are never negated.
//!
//! The constraints of a tree whose splits are along the axes are boxes (`region`), so they are
//! solved exactly, without a solver for general formulas. Only the path of the input is grown of
//! the tree (`surrogate`): the greedy choices on a path do not depend on the rest.
//!
//! A published search tries one input at a time. Here every walker takes the next one of the queue,
//! in the order of the seeds, and what a round learns is queued at its end. In the local phase a
//! walker is just a place to try inputs: they come from the queue that all walkers share.

mod agenda;
mod region;
mod surrogate;

use serde::{Deserialize, Serialize};

use crate::check::BLOCK_ROWS;
use crate::domain::{Domain, TabularDomain};
use crate::strategy::{AfterFind, GlobalStep, LocalWalker, Strategy};
pub use agenda::Agenda;
use agenda::Proposal;
use probity_nn::decision::{Decision, Score};
use probity_nn::{Classifier, ModelError, Rows};
use probity_run::stream::{Purpose, stream};
use region::Region;
use surrogate::{Neighbourhood, Predicate};

/// T1: a path is followed in the global phase as long as its predicates are this sure.
pub const LEAST_CONFIDENCE: f32 = 0.3;

/// Rank of inputs from the global phase, before their confidence is subtracted: after all local
/// ones.
const GLOBAL_RANK: f32 = 10.0;

/// The strategy `sg`.
pub struct SymbolicGeneration<'a> {
    /// The model under audit.
    pub model: &'a dyn Classifier,
    /// The domain of the model's inputs.
    pub domain: &'a TabularDomain,
    /// Number of inputs around an input that its surrogate is learnt from.
    pub rows: usize,
    /// Seed of the random choices of the strategy.
    pub seed: u64,
}

/// The memory of SG about a walker.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct SgMemory {
    /// Inputs that the last position of the walker led to, not queued yet.
    proposals: Vec<Proposal>,
    /// The input to try next.
    next: Option<Vec<i32>>,
    /// Whether the position of the walker has not been explained yet (local phase).
    is_new: bool,
}

impl Strategy for SymbolicGeneration<'_> {
    type Memory = SgMemory;
    type Shared = Agenda;

    fn is_memory(&self, memory: &SgMemory, _row: &[i32]) -> bool {
        let proposed = memory.proposals.iter().map(|proposal| &proposal.row);
        let mut rows = proposed.chain(&memory.next);
        rows.all(|row| self.domain.contains(row))
    }

    fn is_learnt(&self, shared: &Agenda) -> bool {
        shared.rows().all(|row| self.domain.contains(row))
    }

    const AFTER_FIND: AfterFind = AfterFind::ShowAndStop;

    fn name(&self) -> &'static str {
        "sg"
    }

    fn global_moves(
        &self,
        _shared: &Agenda,
        walkers: &mut [GlobalStep<'_, SgMemory>],
    ) -> Result<(), ModelError> {
        for walkers in walkers.chunks_mut(self.batch()) {
            let rows: Vec<&[i32]> = walkers.iter().map(|walker| walker.row.as_slice()).collect();
            let paths = self.paths(&rows)?;
            for (walker, path) in walkers.iter_mut().zip(paths) {
                walker.memory.proposals = self.global_proposals(walker.row, &path);
            }
        }
        Ok(())
    }

    fn learn_global(&self, shared: &mut Agenda, memory: &mut SgMemory, _found: bool) {
        shared.add(self.domain, &mut memory.proposals);
    }

    fn place(&self, shared: &mut Agenda, row: &mut Vec<i32>, _memory: &mut SgMemory) -> bool {
        match shared.next() {
            Some(next) => {
                *row = next;
                true
            }
            None => false,
        }
    }

    fn local_moves(
        &self,
        _shared: &Agenda,
        trial: u32,
        walkers: &mut [LocalWalker<SgMemory>],
    ) -> Result<(), ModelError> {
        let mut to_explain: Vec<&mut LocalWalker<SgMemory>> = Vec::new();
        for walker in walkers {
            let row = &walker.away.as_ref().unwrap_or(&walker.start).row;
            walker.candidate = walker.memory.next.take().unwrap_or_else(|| row.clone());
            if trial == 0 || walker.memory.is_new {
                walker.memory.is_new = false;
                to_explain.push(walker);
            }
        }
        for walkers in to_explain.chunks_mut(self.batch()) {
            let rows: Vec<&[i32]> = walkers
                .iter()
                .map(|walker| walker.position().row.as_slice())
                .collect();
            let paths = self.paths(&rows)?;
            for (walker, path) in walkers.iter_mut().zip(paths) {
                walker.memory.proposals = self.local_proposals(&walker.position().row, &path);
            }
        }
        Ok(())
    }

    fn learn_local(
        &self,
        shared: &mut Agenda,
        walker: &mut LocalWalker<SgMemory>,
        found: Option<bool>,
    ) {
        walker.memory.is_new |= found == Some(true);
        shared.add(self.domain, &mut walker.memory.proposals);
    }

    fn end_local_round(&self, shared: &mut Agenda, walkers: &mut [LocalWalker<SgMemory>]) {
        for walker in walkers {
            walker.memory.next = shared.next();
        }
    }
}

impl SymbolicGeneration<'_> {
    /// Number of inputs that are explained at a time: bounds the memory, no influence on the
    /// result.
    fn batch(&self) -> usize {
        (BLOCK_ROWS / self.rows.max(1)).max(1)
    }

    /// The path of each of `rows` through its surrogate.
    fn paths(&self, rows: &[&[i32]]) -> Result<Vec<Vec<Predicate>>, ModelError> {
        let classes = self.model.classes();
        let mut codes = Vec::with_capacity(rows.len() * self.rows * self.domain.width());
        let mut weights = Vec::with_capacity(rows.len() * self.rows);
        let neighbourhood = Neighbourhood::new(self.domain);
        for row in rows {
            let mut stream = self.stream(row, Purpose::Surrogate);
            for _ in 0..self.rows {
                weights.push(neighbourhood.sample(row, &mut stream, &mut codes));
            }
        }
        let logits = self.model.logits(Rows::new(&codes, self.domain.width()))?;
        let asked = codes.chunks_exact(self.domain.width());
        let asked = asked.zip(logits.chunks_exact(classes));
        let labels: Vec<u32> = match self.model.decision() {
            Decision::Gap(gap) if gap.score == Score::Number => {
                let numbers: Vec<f64> =
                    asked.map(|(_, logits)| gap.compute_score(logits)).collect();
                let of_row = numbers.chunks_exact(self.rows);
                of_row.flat_map(above_median).collect()
            }
            decision => asked
                .map(|(row, logits)| decision.side(row, logits))
                .collect(),
        };
        let each = rows
            .iter()
            .zip(codes.chunks_exact(self.rows * self.domain.width()))
            .zip(labels.chunks_exact(self.rows))
            .zip(weights.chunks_exact(self.rows));
        Ok(each
            .map(|(((row, codes), labels), weights)| {
                surrogate::path(self.domain, classes, row, codes, labels, weights)
            })
            .collect())
    }

    fn global_proposals(&self, row: &[i32], path: &[Predicate]) -> Vec<Proposal> {
        let mut stream = self.stream(row, Purpose::Solution);
        let mut proposals = Vec::new();
        let mut region = Region::whole(self.domain);
        let mut confidence = 0.0;
        for (place, predicate) in path.iter().enumerate() {
            if !self.domain.free().contains(&predicate.attribute) {
                region.require(predicate.attribute, predicate.condition);
                confidence += predicate.confidence;
                continue;
            }
            if predicate.confidence < LEAST_CONFIDENCE {
                break;
            }
            let mut negated = region.clone();
            negated.require(predicate.attribute, predicate.condition.negated());
            let mean = (confidence + 1.0 - predicate.confidence) / (place + 1) as f32;
            if let Some(row) = negated.solve(row, &mut stream) {
                proposals.push(Proposal {
                    rank: GLOBAL_RANK - mean,
                    row,
                });
            }
            region.require(predicate.attribute, predicate.condition);
            confidence += predicate.confidence;
        }
        proposals
    }

    fn local_proposals(&self, row: &[i32], path: &[Predicate]) -> Vec<Proposal> {
        let mut stream = self.stream(row, Purpose::Solution);
        let total: f32 = path.iter().map(|predicate| predicate.confidence).sum();
        let mut proposals = Vec::new();
        for (place, negated) in path.iter().enumerate() {
            if !self.domain.free().contains(&negated.attribute) {
                continue;
            }
            let mut region = Region::whole(self.domain);
            for (other, predicate) in path.iter().enumerate() {
                let condition = if other == place {
                    predicate.condition.negated()
                } else {
                    predicate.condition
                };
                region.require(predicate.attribute, condition);
            }
            let changed = total + 1.0 - 2.0 * negated.confidence;
            if let Some(row) = region.solve(row, &mut stream) {
                proposals.push(Proposal {
                    rank: changed / path.len() as f32,
                    row,
                });
            }
        }
        proposals
    }

    /// Random draws about `row`: the same whenever it is explained.
    fn stream(&self, row: &[i32], purpose: Purpose) -> probity_run::stream::Stream {
        let key = self.domain.row_key(row);
        stream(self.seed, purpose, key as u64, (key >> 64) as u64)
    }
}
/// The labels of a surrogate of a regressor, which has no classes: for each of `numbers`, whether
/// it is above their median.
fn above_median(numbers: &[f64]) -> Vec<u32> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let median = sorted[sorted.len() / 2];
    numbers
        .iter()
        .map(|&number| u32::from(number >= median))
        .collect()
}
