//! The result of one shard of an audit.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::audit::AuditError;
use crate::domain::Domain;
use crate::pairs::{Pair, Phase};
use crate::population::Tally;
use crate::search::{PhaseCounts, SearchState};
use crate::shares::EstimatePart;
use crate::strategy::Position;
use crate::text::exchange_counts::ExchangeCounts;
use probity_run::shards::{Shard, ShardFolder, Stage};

/// The sections of the file of a shard.
pub(super) const ROUNDS: usize = 0;
pub(super) const PAIRS: usize = 1;
pub(super) const ROWS: usize = 2;
pub(super) const INDIVIDUALS: usize = 3;
pub(super) const STARTS: usize = 4;

/// The counts of a shard.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Head {
    /// The counts of the work in this stage.
    pub(super) counts: PhaseCounts,
    /// Pairs that the reference device did not confirm.
    pub(super) unconfirmed: u64,
    /// Number of pairs found.
    pub(super) pairs: u64,
    /// The estimates, of the global stage.
    pub(super) estimates: Vec<EstimatePart>,
    /// The counts of people, of the global stage, where people are asked about.
    pub(super) population: Option<Tally>,
    /// The counts of exchanges, of the global stage, where the inputs are texts.
    pub(super) exchanges: Option<ExchangeCounts>,
}

/// Model calls until the end of a round: rows, and gradients.
pub(super) type Round = (u64, u64);

/// A pair, see [`Pair`]; its phase is the stage.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct KeptPair {
    pub(super) seed: u64,
    pub(super) step: u32,
    row: Vec<i32>,
    variant: u32,
    labels: (u32, u32),
    /// The logits of the row, then those of the other side.
    logits: Vec<f32>,
}

impl KeptPair {
    fn new(pair: &Pair<'_>) -> KeptPair {
        KeptPair {
            seed: pair.seed,
            step: pair.step,
            row: pair.row.to_vec(),
            variant: pair.variant,
            labels: (pair.label, pair.other_label),
            logits: [pair.logits, pair.other_logits].concat(),
        }
    }

    /// The pair, found in `phase`.
    pub(super) fn pair(&self, phase: Phase) -> Pair<'_> {
        let (logits, other_logits) = self.logits.split_at(self.logits.len() / 2);
        Pair {
            seed: self.seed,
            phase,
            step: self.step,
            row: &self.row,
            variant: self.variant,
            label: self.labels.0,
            other_label: self.labels.1,
            logits,
            other_logits,
        }
    }
}

/// A key with its marks, and the pair of the shard in which it was first found discriminatory: its
/// round and its number.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Marked {
    pub(super) key: u128,
    pub(super) marks: u8,
    pub(super) found: Option<(u32, u64)>,
}

/// A position at which the local phase begins.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Start {
    /// The pair of the shard that it was found as: its round and its number.
    pub(super) found: (u32, u64),
    /// Number of the seed that led to it.
    pub(super) seed: u64,
    /// The position itself.
    pub(super) position: Position,
}

/// The whole result of a shard.
pub(super) struct Part {
    pub(super) head: Head,
    rounds: Vec<Round>,
    pairs: Vec<KeptPair>,
    rows: Vec<Marked>,
    individuals: Vec<Marked>,
    starts: Vec<Start>,
}

impl Part {
    /// The result of `state` in the stage that began in `phase`, with the calls until the end of
    /// each of its rounds.
    pub(super) fn new<M: Clone + Default, L: Default>(
        state: &SearchState<M, L>,
        phase: Phase,
        rounds: Vec<Round>,
        domain: &dyn Domain,
    ) -> Part {
        let pairs: Vec<KeptPair> = state
            .pairs()
            .iter()
            .map(|pair| KeptPair::new(&pair))
            .collect();
        let first = |key_of: &dyn Fn(&[i32]) -> u128| {
            let mut first = HashMap::new();
            for (number, pair) in (0_u64..).zip(&pairs) {
                let found = (pair.step, number);
                first.entry(key_of(&pair.row)).or_insert(found);
            }
            first
        };
        let marked = |keys: Vec<(u128, u8)>, first: &HashMap<u128, (u32, u64)>| {
            let marked = keys.into_iter().map(|(key, marks)| Marked {
                key,
                marks,
                found: first.get(&key).copied(),
            });
            marked.collect::<Vec<Marked>>()
        };
        let rows = first(&|row| domain.row_key(row));
        let individuals = first(&|row| domain.individual_key(row));
        let starts = match phase {
            Phase::Global => {
                let starts = state.starts().filter_map(|(seed, position)| {
                    let key = domain.individual_key(&position.row);
                    Some(Start {
                        found: *individuals.get(&key)?,
                        seed,
                        position: position.clone(),
                    })
                });
                starts.collect()
            }
            _ => Vec::new(),
        };
        let counts = match phase {
            Phase::Global => *state.global(),
            _ => *state.local(),
        };
        Part {
            head: Head {
                counts,
                unconfirmed: state.unconfirmed(),
                pairs: pairs.len() as u64,
                estimates: Vec::new(),
                population: None,
                exchanges: None,
            },
            rounds,
            rows: marked(state.distinct.sorted_rows(), &rows),
            individuals: marked(state.distinct.sorted_individuals(), &individuals),
            pairs,
            starts,
        }
    }

    /// Writes the file of `shard`.
    pub(super) fn write(
        self,
        folder: &ShardFolder,
        stage: Stage,
        shard: Shard,
    ) -> Result<(), AuditError> {
        Ok(folder.write(stage, shard, &self.head, |writer| {
            writer.section(self.rounds)?;
            writer.section(self.pairs)?;
            writer.section(self.rows)?;
            writer.section(self.individuals)?;
            writer.section(self.starts)
        })?)
    }
}
