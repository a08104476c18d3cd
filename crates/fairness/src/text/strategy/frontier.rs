//! `frontier` on texts: the predictions and the walk of [`crate::strategies::frontier`] over words.
//!
//! A step puts another word in a place. To first order it changes the values of x and of x' by the
//! gradients at that place along the difference of both words' vectors; where the gradients are
//! computed, each word of each place so has a *level*, beside that of the word which stands there. What
//! is measured of a word after that corrects its level.
//!
//! **Global.** Of the two variants whose values are farthest apart, greedy changes of one word at a
//! time, as many as the limits allow, lead to where the boundary is predicted between both. A seed is
//! given up where many times what is predicted would not lead there: texts have few places that may
//! change, and most seeds none that could. `frontier-zero-order` draws its words as `rp` does.
//! **Local.** A walk, which tries no text twice and asks about that exchange alone which is predicted
//! to flip.

use serde::{Deserialize, Serialize};

use super::{GRADIENT_CHUNK, TOKENS, TextMemory, TextStrategy};
use crate::domain::Domain;
use crate::model_under_test::ModelAccess;
use crate::strategies::StrategyName;
use crate::strategies::frontier::{
    CAUTION, CHANGES, Ground, Measure, Place, Walk, Walker, gradients,
};
use crate::strategy::GlobalStep;
use crate::text::domain::text_of;
use crate::text::limits::changed;
use probity_nn::{Classifier, ModelError};
use probity_run::stream::{Purpose, Words};

/// A seed is given up where its values must vary by more than this many times what is predicted of the
/// best changes: gradients say little of words that are far apart, and less where a network is sure.
const HOPE: f32 = 16.0;

/// The levels of words in places by which the values differ: the place in the row, the word, and
/// what both values are by it, beside what they are by another word there. Ascending.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Levels(Vec<(u32, i32, [f32; 2])>);

impl Levels {
    fn place(&self, part: usize, word: i32) -> Result<usize, usize> {
        let key = (part as u32, word);
        self.0
            .binary_search_by_key(&key, |&(part, word, _)| (part, word))
    }

    fn level(&self, part: usize, word: i32) -> Option<[f32; 2]> {
        let place = self.place(part, word).ok()?;
        Some(self.0[place].2)
    }

    fn set(&mut self, part: usize, word: i32, level: [f32; 2]) {
        match self.place(part, word) {
            Ok(place) => self.0[place].2 = level,
            Err(place) => self.0.insert(place, (part as u32, word, level)),
        }
    }
}

impl Walker<Levels> for TextMemory {
    fn walk(&self) -> Option<&Walk<Levels>> {
        self.walk.as_ref()
    }

    fn walk_mut(&mut self) -> &mut Option<Walk<Levels>> {
        &mut self.walk
    }
}

impl Ground for TextStrategy<'_> {
    type Slopes = Levels;

    /// No variants: x stays the text that was found, so its flips say which exchange moves it
    /// farthest.
    const MOST_VARIANTS: usize = 0;

    fn model(&self) -> &dyn Classifier {
        self.model.classifier()
    }

    fn domain(&self) -> &dyn Domain {
        self.domain
    }

    fn has_gradients(&self) -> bool {
        let has_some = matches!(self.model, ModelAccess::Gradients(_));
        has_some && self.local != StrategyName::FrontierZeroOrder
    }

    fn flat(&self) -> Levels {
        Levels::default()
    }

    fn slopes_at(&self, places: &[(&Place, Measure<'_>)]) -> Result<Vec<Levels>, ModelError> {
        let ModelAccess::Gradients(model) = self.model else {
            return Ok(places.iter().map(|_| self.flat()).collect());
        };
        let features = model.features().max(1);
        let mut levels = Vec::with_capacity(places.len());
        for places in places.chunks(GRADIENT_CHUNK) {
            let gradients = gradients(model, self.domain, places)?;
            let pairs = gradients.chunks_exact(2 * features);
            levels.extend(
                places
                    .iter()
                    .zip(pairs)
                    .map(|((place, _), pair)| self.levels(place, pair.split_at(features).into())),
            );
        }
        Ok(levels)
    }

    fn are_slopes(&self, slopes: &Levels) -> bool {
        let key = |&(part, word, _): &(u32, i32, [f32; 2])| (part, word);
        slopes.0.is_sorted_by_key(key)
    }

    fn effect(&self, levels: &Levels, row: &[i32], part: usize, to: i32) -> [f32; 2] {
        let level = |word| levels.level(part, word).unwrap_or_default();
        let (from, to) = (level(row[part]), level(to));
        [to[0] - from[0], to[1] - from[1]]
    }

    fn learn(&self, levels: &mut Levels, row: &[i32], (part, to): (usize, i32), changes: [f32; 2]) {
        let from = levels.level(part, row[part]).unwrap_or_default();
        levels.set(part, row[part], from);
        levels.set(part, to, [from[0] + changes[0], from[1] + changes[1]]);
    }

    fn each_step(
        &self,
        levels: &Levels,
        id: u64,
        row: &[i32],
        _reach: u32,
        mut visit: impl FnMut(usize, i32, [f32; 2]),
    ) -> bool {
        let text = text_of(row);
        let seed = self.limits.seeds.get(id as usize);
        // Where no other word may change, those that did may still.
        let full = seed.filter(|seed| {
            let most = self.limits.max_changed;
            most.is_some_and(|most| changed(seed, text) >= most)
        });
        for position in self.free(row) {
            let (part, own) = (TOKENS + position, text[position]);
            if full.is_some_and(|seed| seed.get(position) == Some(&own)) {
                continue;
            }
            let is_known = levels.level(part, own).is_some();
            for &word in self.steps.words(row, position) {
                // Where gradients say nothing of a word, those that are computed next will.
                let is_told = is_known && levels.level(part, word).is_some();
                if word != own && (is_told || !self.has_gradients()) {
                    visit(part, word, Ground::effect(self, levels, row, part, word));
                }
            }
        }
        false
    }

    fn is_step(&self, row: &[i32], part: usize, to: i32) -> bool {
        let position = part.checked_sub(TOKENS);
        let is_free = |position: &usize| {
            let source = self.domain.source(row);
            *position < text_of(row).len() && source.is_some_and(|of| of.is_free(*position))
        };
        let position = position.filter(is_free);
        position.is_some_and(|position| self.steps.words(row, position).contains(&to))
    }

    fn allows(&self, id: u64, row: &[i32], part: usize, to: i32) -> Result<bool, ModelError> {
        let mut next = row.to_vec();
        next[part] = to;
        self.limits.allow(id, text_of(&next))
    }

    /// The fingerprint of all words by their places: those that are protected are the same wherever
    /// a walk goes.
    fn fingerprint(&self, row: &[i32]) -> u64 {
        let words = text_of(row).iter().enumerate();
        words.fold(0, |sum: u64, (position, &word)| {
            sum.wrapping_add(fingerprint(TOKENS + position, word))
        })
    }

    fn fingerprint_change(&self, part: usize, from: i32, to: i32) -> u64 {
        fingerprint(part, to).wrapping_sub(fingerprint(part, from))
    }
}

fn fingerprint(part: usize, word: i32) -> u64 {
    Words::new(0, Purpose::LocalMove, &[part as u64]).word(word as u64)
}

impl TextStrategy<'_> {
    /// The levels of the words that may stand in `place`, by the gradients at its two variants.
    fn levels(&self, place: &Place, gradients: [&[f32]; 2]) -> Levels {
        let exchanges = place.variants.map(|variant| {
            let exchange = self.domain.exchange(&place.row, variant as usize);
            exchange.map(|(_, exchange)| exchange)
        });
        let dimension = self.vectors.dimension;
        let mut levels = Levels::default();
        for position in self.free(&place.row) {
            let own = text_of(&place.row)[position];
            let at = |side: usize| -> &[f32] {
                let there = match exchanges[side] {
                    Some(exchange) => exchange.position_in(position),
                    None => Some(position),
                };
                let start = there.map(|there| there * dimension);
                let gradient =
                    start.and_then(|start| gradients[side].get(start..start + dimension));
                gradient.unwrap_or_default()
            };
            let sides = [at(0), at(1)];
            let from = self.vectors.vector(own);
            let level = |word: i32| {
                let to = self.vectors.vector(word);
                sides.map(|gradient| -> f32 {
                    let steps = to.iter().zip(from).map(|(to, from)| to - from);
                    steps.zip(gradient).map(|(step, g)| step * g).sum()
                })
            };
            levels.set(TOKENS + position, own, [0.0; 2]);
            for &word in self.steps.words(&place.row, position) {
                levels.set(TOKENS + position, word, level(word));
            }
        }
        levels
    }

    /// Sets the next text of every seed, or gives the seed up.
    pub(super) fn approach(
        &self,
        walkers: &mut [GlobalStep<'_, TextMemory>],
    ) -> Result<(), ModelError> {
        let decision = self.model.classifier().decision();
        let places: Vec<(Place, Measure<'_>)> = walkers
            .iter()
            .map(|walker| {
                let measure = Measure::near(decision, walker.row, &walker.check.checked.logits);
                let logits = &walker.check.variant_logits;
                (measure.widest(self.domain, walker.row, logits), measure)
            })
            .collect();
        let asked: Vec<(&Place, Measure<'_>)> =
            places.iter().map(|(place, of)| (place, *of)).collect();
        let levels = self.slopes_at(&asked)?;
        for ((walker, place), levels) in walkers.iter_mut().zip(&asked).zip(&levels) {
            let next = self.solved(walker, *place, levels)?;
            let key = self.domain.row_key(walker.row);
            walker.memory.visited.insert(key);
            match next {
                Some(next) => *walker.row = next,
                None => walker.memory.is_given_up = true,
            }
        }
        Ok(())
    }

    /// The text that greedy changes from the place of `walker` lead to; `None` where there is no
    /// hope.
    fn solved(
        &self,
        walker: &GlobalStep<'_, TextMemory>,
        (place, measure): (&Place, Measure<'_>),
        levels: &Levels,
    ) -> Result<Option<Vec<i32>>, ModelError> {
        let mut row = walker.row.clone();
        let (mut values, mut varied) = (place.values, 0.0);
        let mut worth = measure.clearance(values);
        let mut first = Vec::new();
        for changes in 0..CHANGES {
            let mut better = Vec::new();
            self.each_step(levels, walker.id, &row, 0, |part, to, effect| {
                let values = [values[0] + effect[0], values[1] + effect[1]];
                let varied = varied + effect[0].abs().max(effect[1].abs());
                let of = measure.clearance(values) - CAUTION * varied;
                if of > worth && row[part] == walker.row[part] {
                    better.push((of, (part, to), values, varied));
                }
            });
            better.sort_by(|a, b| b.0.total_cmp(&a.0));
            if changes == 0 {
                first = better.iter().map(|&(_, step, ..)| step).collect();
            }
            let mut is_changed = false;
            for (of, (part, to), after, all) in better {
                if self.allows(walker.id, &row, part, to)? {
                    (row[part], worth, values, varied) = (to, of, after, all);
                    is_changed = true;
                    break;
                }
            }
            if !is_changed {
                break;
            }
        }
        if measure.clearance(values) + HOPE * varied < 0.0 {
            return Ok(None);
        }
        if !walker.memory.visited.contains(&self.domain.row_key(&row)) {
            return Ok(Some(row));
        }
        let steps = first.into_iter().map(|(part, to)| (part - TOKENS, to));
        let next = self.first_new(walker, steps)?;
        Ok(next.map(|(position, word)| {
            let mut row = walker.row.clone();
            row[TOKENS + position] = word;
            row
        }))
    }
}
