//! Prefix sharing: variants of a text run only from the token where they part from it.
//!
//! A forward network's state after p tokens depends on those tokens alone.
//! [`Kernels::prefix_states`] runs the base texts once and keeps the states at the positions asked
//! for; [`Kernels::logits_from`] starts from them. [`Kernels::logits_sharing_prefixes`] does both
//! for a batch in which texts that begin alike stand together, as the variants of a check do. Every
//! step of every text is the same operation on the same numbers as in a whole run, so the logits
//! are bit for bit those of the whole texts.

use std::borrow::Cow;

use rayon::prelude::*;

use super::block::{Block, Keep, Workspace, by_length};
use super::kernels::{EmbeddingTable, Kernels};
use crate::lanes::LANES;

/// The least share of prefixes for which they are shared: at least one in this many tokens of a
/// batch.
const LEAST_SHARE: usize = 8;

/// A text whose states are kept.
#[derive(Debug, Clone, Copy)]
pub struct Base<'a> {
    /// The tokens of the text.
    pub tokens: &'a [i32],
    /// The positions (numbers of tokens read) at which states are kept, ascending. Those above the
    /// text's length are ignored.
    pub positions: &'a [u32],
}

/// The rest of a text that begins like a base text.
#[derive(Debug, Clone, Copy)]
pub struct Continuation<'a> {
    /// The number of the base text.
    pub base: usize,
    /// The number of tokens of the base text that the text begins with.
    pub position: u32,
    /// The tokens of the text behind these.
    pub suffix: &'a [i32],
}

/// The states of base texts at some positions.
#[derive(Debug, Clone)]
pub struct PrefixStates {
    bases: Vec<Kept>,
}

#[derive(Debug, Clone)]
struct Kept {
    tokens: Vec<i32>,
    positions: Vec<u32>,
    /// The states, `[positions, layers, hidden then cell states]`.
    states: Vec<f32>,
}

/// The start of a continuation: a kept state (none: the zero state), and the tokens from there on.
struct Start<'a> {
    state: Option<&'a [f32]>,
    tokens: Cow<'a, [i32]>,
}

impl PrefixStates {
    /// Makes base texts without any state: continuing them runs whole texts.
    pub fn without_states(bases: &[Base<'_>]) -> PrefixStates {
        let kept = |base: &Base<'_>| Kept {
            tokens: base.tokens.to_vec(),
            positions: Vec::new(),
            states: Vec::new(),
        };
        PrefixStates {
            bases: bases.iter().map(kept).collect(),
        }
    }

    /// Returns the tokens that a continuation begins with; `None` when there is no such base text
    /// or position.
    pub fn prefix(&self, continuation: &Continuation<'_>) -> Option<&[i32]> {
        let kept = self.bases.get(continuation.base)?;
        kept.tokens.get(..continuation.position as usize)
    }

    /// Returns the last kept state at or before the continuation's position.
    fn start<'a>(&'a self, continuation: &Continuation<'a>, length: usize) -> Option<Start<'a>> {
        let kept = self.bases.get(continuation.base)?;
        let prefix = self.prefix(continuation)?;
        let usable = kept
            .positions
            .partition_point(|&position| position <= continuation.position);
        let (state, read) = match usable.checked_sub(1) {
            Some(last) => (
                kept.states.get(last * length..(last + 1) * length),
                kept.positions[last] as usize,
            ),
            None => (None, 0),
        };
        let between = &prefix[read..];
        Some(Start {
            state,
            tokens: if between.is_empty() {
                Cow::Borrowed(continuation.suffix)
            } else {
                Cow::Owned([between, continuation.suffix].concat())
            },
        })
    }
}

impl Kernels {
    /// Runs `bases` and keeps their states. A bidirectional network's states depend on the whole
    /// text: of such a network nothing is kept, and [`Kernels::logits_from`] runs whole texts.
    pub fn prefix_states(&self, table: EmbeddingTable<'_>, bases: &[Base<'_>]) -> PrefixStates {
        if self.shape.bidirectional {
            return PrefixStates::without_states(bases);
        }
        let positions: Vec<&[u32]> = bases.iter().map(kept_positions).collect();
        let projected = self.projected(table);
        // Tokens behind the last position asked for need not be run.
        let text = |item: usize| {
            let last = positions[item].last().map_or(0, |&last| last as usize);
            &bases[item].tokens[..last]
        };
        let order = by_length(bases.len(), text);
        let kept: Vec<Vec<(u32, Kept)>> = order
            .par_chunks(LANES)
            .map_init(Workspace::default, |workspace, items| {
                let block = Block::new(items, text);
                workspace.prepare(&self.shape, block.steps, Keep::States);
                self.forward(workspace, &block, table, projected, Keep::States);
                let kept = |(lane, &item): (usize, &u32)| {
                    let positions = positions[item as usize];
                    let kept = Kept {
                        tokens: bases[item as usize].tokens.to_vec(),
                        positions: positions.to_vec(),
                        states: self.states(workspace, lane, positions),
                    };
                    (item, kept)
                };
                items.iter().enumerate().map(kept).collect()
            })
            .collect();
        let mut kept: Vec<(u32, Kept)> = kept.into_iter().flatten().collect();
        kept.sort_unstable_by_key(|(item, _)| *item);
        PrefixStates {
            bases: kept.into_iter().map(|(_, kept)| kept).collect(),
        }
    }

    /// The number of hidden and cell states of a layer.
    fn state_length(&self) -> usize {
        self.shape.units * (1 + usize::from(self.shape.cell.has_cell_state()))
    }

    /// Returns one lane's states after each of `positions` tokens.
    fn states(&self, workspace: &Workspace, lane: usize, positions: &[u32]) -> Vec<f32> {
        let units = self.shape.units;
        let length = self.shape.layers * self.state_length();
        let mut states = Vec::with_capacity(positions.len() * length);
        for &position in positions {
            let Some(t) = (position as usize).checked_sub(1) else {
                states.resize(states.len() + length, 0.0);
                continue;
            };
            for layer in &workspace.layers {
                let hidden = &layer.outputs[t * units..][..units];
                states.extend(hidden.iter().map(|row| row.0[lane]));
                if self.shape.cell.has_cell_state() {
                    let cells = &layer.directions[0].cells[t * units..][..units];
                    states.extend(cells.iter().map(|row| row.0[lane]));
                }
            }
        }
        states
    }

    /// Computes the logits of the texts that `continuations` describe, row-major `[continuations,
    /// classes]`; `None` when one names a base text or a position in it that does not exist. Each
    /// starts from the last state kept at or before its position.
    pub fn logits_from(
        &self,
        table: EmbeddingTable<'_>,
        states: &PrefixStates,
        continuations: &[Continuation<'_>],
    ) -> Option<Vec<f32>> {
        let length = self.shape.layers * self.state_length();
        let starts: Vec<Start<'_>> = continuations
            .iter()
            .map(|continuation| states.start(continuation, length))
            .collect::<Option<_>>()?;
        let projected = self.projected(table);
        let text = |item: usize| &starts[item].tokens[..];
        Some(self.blocks(continuations.len(), &text, |workspace, block| {
            workspace.prepare(&self.shape, block.steps, Keep::Last);
            for (lane, &item) in block.items.iter().enumerate() {
                if let Some(state) = starts[item as usize].state {
                    self.set_states(workspace, lane, state);
                }
            }
            self.forward(workspace, block, table, projected, Keep::Last);
            self.head(workspace)
        }))
    }

    /// Computes [`Kernels::logits`], bit for bit, but quicker where texts begin like one shortly
    /// before them.
    pub fn logits_sharing_prefixes(&self, table: EmbeddingTable<'_>, texts: &[&[i32]]) -> Vec<f32> {
        if !self.shape.bidirectional
            && let Some(sharing) = Sharing::new(texts)
        {
            let bases: Vec<Base<'_>> = sharing
                .bases
                .iter()
                .zip(&sharing.positions)
                .map(|(&tokens, positions)| Base { tokens, positions })
                .collect();
            let states = self.prefix_states(table, &bases);
            if let Some(logits) = self.logits_from(table, &states, &sharing.continuations) {
                return logits;
            }
        }
        self.logits(table, texts)
    }

    fn set_states(&self, workspace: &mut Workspace, lane: usize, states: &[f32]) {
        let layers = workspace
            .layers
            .iter_mut()
            .zip(states.chunks_exact(self.state_length().max(1)));
        for (layer, states) in layers {
            let trace = &mut layer.directions[0];
            let rows = trace.hidden.iter_mut().chain(&mut trace.cell);
            for (row, &state) in rows.zip(states) {
                row.0[lane] = state;
            }
        }
    }
}

/// A plan of how the texts of a batch share prefixes.
struct Sharing<'a> {
    /// The texts that others go on from, and texts that stand alone.
    bases: Vec<&'a [i32]>,
    /// The positions at which other texts part from each base, ascending.
    positions: Vec<Vec<u32>>,
    /// The continuations: one for every text.
    continuations: Vec<Continuation<'a>>,
}

impl<'a> Sharing<'a> {
    /// Plans how `texts` share prefixes. A text goes on from the current base when it begins with a
    /// quarter of itself like that base. Else it stands alone, and becomes the current base unless
    /// it is a variant of the base which parts early: equal to it at half of its tokens, beginning
    /// and end together. `None` when too little would be shared to be worth it.
    fn new(texts: &[&'a [i32]]) -> Option<Sharing<'a>> {
        let mut bases: Vec<&[i32]> = Vec::new();
        let mut positions: Vec<Vec<u32>> = Vec::new();
        let mut parted = Vec::with_capacity(texts.len());
        let mut current = 0;
        let (mut shared, mut total) = (0, 0);
        for &text in texts {
            total += text.len();
            let base = bases.get(current).copied().unwrap_or_default();
            let common = common_prefix(base, text);
            if common > 0 && 4 * common >= text.len() {
                shared += common;
                positions[current].push(common as u32);
                parted.push((current, Some(common)));
                continue;
            }
            let end = common_suffix(&base[common..], &text[common..]);
            if 2 * (common + end) < text.len().max(1) {
                current = bases.len();
            }
            parted.push((bases.len(), None));
            bases.push(text);
            positions.push(Vec::new());
        }
        if LEAST_SHARE * shared < total || shared == 0 {
            return None;
        }
        for positions in &mut positions {
            positions.sort_unstable();
            positions.dedup();
        }
        let continuation = |(&text, (base, common)): (&&'a [i32], (usize, Option<usize>))| {
            // A base goes on from its own last state.
            let own = || positions[base].last().map_or(0, |&last| last as usize);
            let position = common.unwrap_or_else(own);
            Continuation {
                base,
                position: position as u32,
                suffix: &text[position..],
            }
        };
        let continuations = texts.iter().zip(parted).map(continuation).collect();
        Some(Sharing {
            bases,
            positions,
            continuations,
        })
    }
}

fn common_prefix(a: &[i32], b: &[i32]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

fn common_suffix(a: &[i32], b: &[i32]) -> usize {
    let pairs = a.iter().rev().zip(b.iter().rev());
    pairs.take_while(|(a, b)| a == b).count()
}

/// Returns the positions of a base that lie within its text.
fn kept_positions<'a>(base: &Base<'a>) -> &'a [u32] {
    let length = base.tokens.len();
    let within = base
        .positions
        .partition_point(|&position| position as usize <= length);
    &base.positions[..within]
}
