//! The local phase of the searches on texts: trials around a discriminatory text.
//!
//! A token drawn with probability proportional to 1/saliency, ‖g_a‖∞ + ‖g'_a‖∞ (without g' in `asc`
//! and `hf`, uniform in `rp`), is replaced by a uniform candidate; x' is the flip that the check of
//! the position found (Algorithms 8 and 10).
//!
//! Where any word may become any near one, as in the paper, that is all: a draw that the limits
//! forbid is a trial that changes nothing. Where only what fits a place may stand there a text has
//! few moves, and a search that draws them again and again tries less the better it is: it stays
//! where it is, with all its changes spent, while one that fails goes back to the start and leaves
//! it another way. So there a move is drawn among those that lead to a text which this walker has
//! not tried; where there is none it goes back to the start, and once there is none from there
//! either it passes through texts that it knows, so that it gets wherever moves lead. A walker that
//! has found nothing in [`MOST_FAILURES`] trials in a row stays where it is: the model is asked no
//! more. What others find has no part in that, so that it is the same however walkers are divided.

use rand::RngExt;

use super::{GRADIENT_CHUNK, Places, Question, TOKENS, TextMemory, TextStrategy, Variant};
use super::{Gradients, is_paired, largest};
use crate::domain::Domain;
use crate::guidance::{SALIENCY_FLOOR, draw};
use crate::strategies::StrategyName;
use crate::strategy::LocalWalker;
use crate::text::domain::text_of;
use probity_nn::ModelError;
use probity_run::stream::{Purpose, Stream, stream};

/// Trials in a row that find nothing, after which a walker gives up.
const MOST_FAILURES: u32 = 500;

impl TextStrategy<'_> {
    /// Draws a move for each of `walkers`.
    pub(super) fn draw_any(
        &self,
        trial: u32,
        walkers: &mut [LocalWalker<TextMemory>],
    ) -> Result<(), ModelError> {
        self.refresh(walkers)?;
        for walker in walkers {
            let row = &walker.away.as_ref().unwrap_or(&walker.start).row;
            walker.candidate.clone_from(row);
            let places = &walker.memory.places;
            if places.positions.is_empty() {
                continue;
            }
            let mut stream = self.local_stream(walker, trial);
            let position = places.positions[draw(&places.cumulative, &mut stream)];
            let words = self.steps.words(row, position);
            let place = TOKENS + position;
            walker.candidate[place] = words[stream.random_range(0..words.len())];
            if !self.limits.allow(walker.id, text_of(&walker.candidate))? {
                walker.candidate[place] = row[place];
            }
        }
        Ok(())
    }

    /// Draws for each of `walkers` a move to a text that it has not tried, as long as there is one, or
    /// none for one that gives up.
    pub(super) fn draw_new(
        &self,
        trial: u32,
        walkers: &mut [LocalWalker<TextMemory>],
    ) -> Result<(), ModelError> {
        self.refresh(walkers)?;
        let mut stuck = Vec::new();
        for (number, walker) in walkers.iter_mut().enumerate() {
            if walker.memory.failures >= MOST_FAILURES {
                walker.candidate = walker.position().row.clone();
                continue;
            }
            if walker.memory.visited.is_empty() {
                let start = self.domain.row_key(&walker.start.row);
                walker.memory.visited.insert(start);
            }
            let mut stream = self.local_stream(walker, trial);
            if self.draw_unseen(walker, &mut stream)? {
                continue;
            }
            walker.memory.is_start_spent |= walker.away.is_none();
            if walker.memory.is_start_spent {
                self.pass(walker, &mut stream)?;
            } else {
                let memory = (walker.memory.row.clone(), walker.memory.places.clone());
                stuck.push((number, walker.away.take(), memory));
            }
        }
        if stuck.is_empty() {
            return Ok(());
        }
        self.refresh(walkers)?;
        for (number, away, (row, places)) in stuck {
            let walker = &mut walkers[number];
            let mut stream = self.local_stream(walker, trial);
            if !self.draw_unseen(walker, &mut stream)? {
                walker.memory.is_start_spent = true;
                walker.away = away;
                (walker.memory.row, walker.memory.places) = (row, places);
                self.pass(walker, &mut stream)?;
            }
        }
        Ok(())
    }

    fn local_stream(&self, walker: &LocalWalker<TextMemory>, trial: u32) -> Stream {
        stream(self.seed, Purpose::LocalMove, walker.id, u64::from(trial))
    }

    /// Draws a move within the limits to a text that `walker` has not tried; returns whether there
    /// is one.
    fn draw_unseen(
        &self,
        walker: &mut LocalWalker<TextMemory>,
        stream: &mut Stream,
    ) -> Result<bool, ModelError> {
        let row = &walker.position().row;
        let moves = self.moves(row, &walker.memory.places);
        let is_new = |key| !walker.memory.visited.contains(&key);
        let drawn = self.first_within(walker.id, row, moves, stream, is_new)?;
        walker.candidate = drawn.clone().unwrap_or_else(|| row.clone());
        Ok(drawn.is_some_and(|next| walker.memory.visited.insert(self.domain.row_key(&next))))
    }

    /// Draws a move of `walker` within the limits, all alike so that none is out of reach, or goes
    /// back to the start, as there may be no other way out of where it is.
    fn pass(
        &self,
        walker: &mut LocalWalker<TextMemory>,
        stream: &mut Stream,
    ) -> Result<(), ModelError> {
        let row = &walker.position().row;
        let mut moves = self.moves(row, &walker.memory.places);
        moves.iter_mut().for_each(|(weight, _)| *weight = 1.0);
        if walker.away.is_some() && stream.random_range(0..=moves.len()) == 0 {
            walker.away = None;
            walker.candidate.clone_from(&walker.start.row);
            return Ok(());
        }
        let drawn = self.first_within(walker.id, row, moves, stream, |_| true)?;
        walker.candidate = drawn.unwrap_or_else(|| row.clone());
        Ok(())
    }

    /// The first of `moves` from `row`, in a random order by their weights, that leads to a text
    /// within the limits whose key is `fit`.
    fn first_within(
        &self,
        seed: u64,
        row: &[i32],
        mut moves: Vec<(f32, (usize, i32))>,
        stream: &mut Stream,
        fit: impl Fn(u128) -> bool,
    ) -> Result<Option<Vec<i32>>, ModelError> {
        let mut next = row.to_vec();
        while !moves.is_empty() {
            let (position, word) = take(&mut moves, stream);
            let place = TOKENS + position;
            next[place] = word;
            if fit(self.domain.row_key(&next)) && self.limits.allow(seed, text_of(&next))? {
                return Ok(Some(next));
            }
            next[place] = row[place];
        }
        Ok(None)
    }

    /// The moves from `row` and how likely each is drawn: the share of its place, in equal parts.
    fn moves(&self, row: &[i32], places: &Places) -> Vec<(f32, (usize, i32))> {
        let mut before = 0.0;
        let mut moves = Vec::new();
        for (&position, &total) in places.positions.iter().zip(&places.cumulative) {
            let words = self.steps.words(row, position);
            let weight = (total - before) / words.len() as f32;
            before = total;
            moves.extend(words.iter().map(|&word| (weight, (position, word))));
        }
        moves
    }

    /// Computes the draw of every walker whose position is new to its memory.
    fn refresh(&self, walkers: &mut [LocalWalker<TextMemory>]) -> Result<(), ModelError> {
        let mut stale: Vec<&mut LocalWalker<TextMemory>> = walkers
            .iter_mut()
            .filter(|walker| walker.memory.row != walker.position().row)
            .collect();
        for walkers in stale.chunks_mut(GRADIENT_CHUNK) {
            let questions: Vec<Question<'_>> = walkers
                .iter()
                .map(|walker| self.local_question(walker))
                .collect();
            let places = match self.local {
                StrategyName::AdfZeroOrder => self.measured_places(&questions)?,
                _ => {
                    let answers = self.gradients(self.local, &questions)?;
                    let each = questions.iter().zip(self.split(&questions, &answers));
                    let each = each
                        .map(|(question, gradients)| self.places(question.row, gradients.as_ref()));
                    each.collect()
                }
            };
            for (walker, places) in walkers.iter_mut().zip(places) {
                let row = walker.position().row.clone();
                walker.memory.row = row;
                walker.memory.places = places;
            }
        }
        Ok(())
    }

    fn local_question<'q>(&self, walker: &'q LocalWalker<TextMemory>) -> Question<'q> {
        let position = walker.position();
        let flip = position.check.flips.first();
        Question {
            row: &position.row,
            logits: &position.check.logits,
            label: position.check.label,
            variant: flip.filter(|_| is_paired(self.local)).map(|flip| Variant {
                number: flip.variant as usize,
                logits: &flip.logits,
                label: flip.label,
            }),
        }
    }

    /// Places that may change, weighted by 1/saliency.
    fn places(&self, row: &[i32], gradients: Option<&Gradients<'_>>) -> Places {
        let positions = self.free(row);
        let mut total = 0.0;
        let cumulative = positions
            .iter()
            .map(|&position| {
                let saliency = gradients.map_or(1.0, |gradients| {
                    let there = gradients.there(position);
                    largest(gradients.here(position).iter().copied())
                        + there.map_or(0.0, |there| largest(there.iter().copied()))
                });
                total += 1.0 / saliency.max(SALIENCY_FLOOR);
                total
            })
            .collect();
        Places {
            positions,
            cumulative,
        }
    }
}

/// Takes one of `moves`, which are not none, with probability proportional to its weight.
fn take<T>(moves: &mut Vec<(f32, T)>, stream: &mut Stream) -> T {
    let total: f32 = moves.iter().map(|(weight, _)| weight).sum();
    let mut left = stream.random::<f32>() * total;
    let reaches = |(weight, _): &(f32, T)| {
        left -= weight;
        left < 0.0
    };
    let drawn = moves.iter().position(reaches);
    // The last one where the sum is rounded, or where all weights are lost beside a larger one.
    moves.remove(drawn.unwrap_or(moves.len() - 1)).1
}
