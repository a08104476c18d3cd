//! A text network that runs what texts have in common once.
//!
//! The variants of a text differ from it in one place; up to there they share every state. In a
//! batch, rows that begin like an earlier row are run from where they part from it
//! ([`TextNetwork::logits_from`]). The logits are bit for bit those of whole runs, so nothing but the
//! time depends on how a batch is ordered.

use super::text::{TextNetwork, without_padding};
use super::{Classifier, Differentiable, ModelError, Rows};
use crate::nn::recurrent::prefix::{Base, Continuation};

/// Tokens that a row must share with another one before that is worth its bookkeeping.
const WORTHWHILE: usize = 3;

/// A text network that shares prefixes within a batch.
pub struct SharedPrefix<'a> {
    /// The network.
    pub network: &'a TextNetwork,
}

/// Rows that begin like the first of them.
struct Group<'r> {
    base: &'r [i32],
    /// Tokens that each row has in common with the base.
    shared: Vec<u32>,
    /// The positions among them, ascending, each once.
    positions: Vec<u32>,
}

impl Classifier for SharedPrefix<'_> {
    fn width(&self) -> usize {
        self.network.width()
    }

    fn classes(&self) -> usize {
        self.network.classes()
    }

    fn logits(&self, rows: Rows<'_>) -> Result<Vec<f32>, ModelError> {
        if !self.network.keeps_states() {
            return self.network.logits(rows);
        }
        let texts: Vec<&[i32]> = rows.iter().map(without_padding).collect();
        let groups = groups(&texts);
        let bases: Vec<Base<'_>> = groups
            .iter()
            .map(|group| Base {
                tokens: group.base,
                positions: &group.positions,
            })
            .collect();
        let states = self.network.prefix_states(&bases)?;
        let mut continuations = Vec::with_capacity(texts.len());
        let mut next = texts.iter();
        for (base, group) in groups.iter().enumerate() {
            for (&position, text) in group.shared.iter().zip(&mut next) {
                continuations.push(Continuation {
                    base,
                    position,
                    suffix: &text[position as usize..],
                });
            }
        }
        self.network.logits_from(&states, &continuations)
    }
}

impl Differentiable for SharedPrefix<'_> {
    fn features(&self) -> usize {
        self.network.features()
    }

    fn input_gradients(&self, rows: Rows<'_>, cotangents: &[f32]) -> Result<Vec<f32>, ModelError> {
        self.network.input_gradients(rows, cotangents)
    }
}

/// Cuts `texts` into runs that begin like their first one.
fn groups<'r>(texts: &[&'r [i32]]) -> Vec<Group<'r>> {
    let mut groups: Vec<Group<'r>> = Vec::new();
    for text in texts {
        let shared = groups.last().map_or(0, |group| common(group.base, text));
        match groups.last_mut() {
            Some(group) if shared >= WORTHWHILE => group.shared.push(shared as u32),
            _ => groups.push(Group {
                base: text,
                shared: vec![text.len() as u32],
                positions: Vec::new(),
            }),
        }
    }
    for group in &mut groups {
        group.positions.clone_from(&group.shared);
        group.positions.sort_unstable();
        group.positions.dedup();
    }
    groups
}

fn common(left: &[i32], right: &[i32]) -> usize {
    left.iter().zip(right).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::ComputeDevice;
    use crate::nn::recurrent::network::{CellKind, RecurrentWeights, Shape};
    use crate::stream::{Purpose, stream};
    use rand::RngExt;

    /// Random texts, many of which begin like the one before.
    fn rows(width: usize, seed: u64) -> Vec<i32> {
        let mut stream = stream(seed, Purpose::Synthetic, 0, 0);
        let mut codes = Vec::new();
        let mut last: Vec<i32> = Vec::new();
        for _ in 0..200 {
            let kept = stream.random_range(0..=last.len());
            let length = stream.random_range(0..=width);
            last.truncate(kept.min(length));
            while last.len() < length {
                last.push(stream.random_range(0..30));
            }
            codes.extend(&last);
            codes.resize(codes.len().div_ceil(width) * width, -1);
            if length == 0 {
                codes.extend(std::iter::repeat_n(-1, width));
            }
        }
        codes
    }

    #[test]
    fn sharing_changes_no_bit() {
        for cell in [CellKind::Lstm, CellKind::Gru] {
            for bidirectional in [false, true] {
                let shape = Shape {
                    cell,
                    inputs: 4,
                    units: 5,
                    layers: 3,
                    bidirectional,
                    classes: 2,
                };
                let vectors = (0..30 * 4).map(|i| ((i * 37 % 101) as f32 - 50.0) / 40.0);
                let weights = RecurrentWeights::random(shape, 3);
                let device = ComputeDevice::flex();
                let network = TextNetwork::new(weights, vectors.collect(), 11, &device).unwrap();
                for seed in 0..5 {
                    let codes = rows(11, seed);
                    let rows = Rows::new(&codes, 11);
                    let shared = SharedPrefix { network: &network };
                    assert_eq!(shared.logits(rows).unwrap(), network.logits(rows).unwrap());
                }
            }
        }
    }

    #[test]
    fn groups_begin_alike() {
        let texts: [&[i32]; 5] = [&[1, 2, 3, 4], &[1, 2, 3, 9], &[1, 2, 8, 8], &[1, 2, 8], &[]];
        let groups = groups(&texts);
        let shared: Vec<&[u32]> = groups.iter().map(|group| group.shared.as_slice()).collect();
        assert_eq!(shared, [&[4, 3][..], &[4, 3], &[0]]);
        assert_eq!(groups[0].positions, [3, 4]);
    }
}
