//! The searches on texts: a word is replaced by one of its nearest neighbours in the embedding
//! table, never a protected one and never by one.
//!
//! **Global.** `adf-asc` (Algorithm 5) takes the token whose gradients at x and x' differ most,
//! ‖g_a − g'_a‖∞, and the neighbour c whose step best follows the gradient, argmin ‖sign(x_a − c) −
//! sign(g_a)‖. `adf-hf` (Algorithm 6) takes the pair of token and neighbour with the largest
//! |g_a·(x_a − c) − g'_a·(x_a − c)|. `asc` and `hf` are the same without the g' terms: attacks on x
//! alone. The absolute value in Algorithm 6 would as well take a pick that leads both inputs *away*
//! from the boundary, which undoes the search; here (and in `hf`, as in HotFlip) picks that to
//! first order lead towards it, both x and x', come before all others. `rp` takes token and
//! neighbour at random. x' is the variant whose output for x's class differs most from x's. A pick
//! that leads to a text where the walker has been, or beyond the limits, falls through to the next
//! best; so a walker does not swap two synonyms for ever.
//!
//! **Local** (Algorithms 8 and 10): see `local`. `adf-zero-order` asks for outputs only: see
//! `omission`. `frontier` predicts more and asks less: see `frontier`.

mod frontier;
mod local;
mod omission;

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};

use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use crate::domain::Domain;
use crate::guidance::farthest_variant;
use crate::model_under_test::ModelAccess;
use crate::rank::Rank;
use crate::strategies::StrategyName;
use crate::strategies::frontier::{Walk, Walks};
use crate::strategy::{Asks, GlobalStep, LocalWalker, Strategy};
use crate::text::domain::{TextDomain, text_of};
use crate::text::limits::Limits;
use crate::text::source::Exchange;
use frontier::Levels;
use probity_nn::{ModelError, Objective, Rows};
use probity_run::stream::{Purpose, stream};

/// Whether `strategy` follows gradients.
fn is_guided(strategy: StrategyName) -> bool {
    use StrategyName::{AdfZeroOrder, FrontierZeroOrder, Rp};
    !matches!(strategy, Rp | AdfZeroOrder | FrontierZeroOrder)
}

/// Whether `strategy` is one whose walks go along the decision boundary.
fn is_frontier(strategy: StrategyName) -> bool {
    use StrategyName::{Frontier, FrontierZeroOrder};
    matches!(strategy, Frontier | FrontierZeroOrder)
}

/// Whether `strategy` looks at a variant beside the text itself.
fn is_paired(strategy: StrategyName) -> bool {
    use StrategyName::{AdfAsc, AdfHf, AdfZeroOrder};
    matches!(strategy, AdfAsc | AdfHf | AdfZeroOrder)
}

/// The words that may replace each word of the vocabulary, nearest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Candidates {
    starts: Vec<usize>,
    words: Vec<i32>,
}

impl Candidates {
    /// The lists, one a word of the vocabulary.
    pub fn new(lists: impl IntoIterator<Item = Vec<i32>>) -> Candidates {
        let mut candidates = Candidates {
            starts: vec![0],
            words: Vec::new(),
        };
        for list in lists {
            candidates.words.extend(list);
            candidates.starts.push(candidates.words.len());
        }
        candidates
    }

    /// The candidates for `word`; none for a number that is no word.
    pub fn list(&self, word: i32) -> &[i32] {
        let Ok(word) = usize::try_from(word) else {
            return &[];
        };
        match self.starts.get(word..word + 2) {
            Some(&[start, end]) => &self.words[start..end],
            _ => &[],
        }
    }
}

/// The words that may stand in each place in the texts of a search.
#[derive(Debug, Clone, PartialEq)]
pub enum Steps {
    /// The same words for a word wherever it stands, for every word.
    Words(Candidates),
    /// The words by text that a search begins at, by number, and by place: the word that stands
    /// there and those that may take its place, nearest first; none where none may.
    Places(HashMap<i32, Candidates>),
}

impl Steps {
    /// The words that may stand at token `position` of `row`; none where no step may change it.
    pub fn words(&self, row: &[i32], position: usize) -> &[i32] {
        match self {
            Steps::Words(candidates) => match text_of(row).get(position) {
                Some(&word) => candidates.list(word),
                None => &[],
            },
            Steps::Places(places) => {
                let places = row.first().and_then(|source| places.get(source));
                let position = i32::try_from(position).unwrap_or(i32::MAX);
                places.map_or(&[], |candidates| candidates.list(position))
            }
        }
    }
}

/// Vectors of the vocabulary, row-major `[words, dimension]`.
#[derive(Debug, Clone, Copy)]
pub struct Vectors<'a> {
    /// The numbers of all vectors.
    pub values: &'a [f32],
    /// Numbers a word.
    pub dimension: usize,
}

impl<'a> Vectors<'a> {
    fn vector(&self, word: i32) -> &'a [f32] {
        let start = usize::try_from(word).unwrap_or(0) * self.dimension;
        self.values
            .get(start..start + self.dimension)
            .unwrap_or(&[])
    }

    /// The number of the unknown word, whose vector is the last one.
    fn unknown(&self) -> i32 {
        (self.values.len() / self.dimension.max(1)) as i32 - 1
    }
}

/// A search on texts.
pub struct TextStrategy<'a> {
    /// The strategy in the global phase.
    pub global: StrategyName,
    /// The strategy in the local phase.
    pub local: StrategyName,
    /// The model under audit; if it gives gradients, its features are one vector a token.
    pub model: ModelAccess<'a>,
    /// The domain of the model's inputs.
    pub domain: &'a TextDomain,
    /// The words that may replace others.
    pub steps: &'a Steps,
    /// The vectors that the model sees of words.
    pub vectors: Vectors<'a>,
    /// The objective that is differentiated.
    pub objective: Objective,
    /// The limits to which a text may go from its seed.
    pub limits: Limits<'a>,
    /// The rank that says which pairs are the worst, where those are looked for.
    pub rank: Option<Rank>,
    /// Seed of the random choices of the strategy.
    pub seed: u64,
}

/// The memory about a walker.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct TextMemory {
    /// Keys of the texts where the walker has been in the global phase, or which it has tried in
    /// the local one.
    visited: BTreeSet<u128>,
    /// Local phase: whether all that a move leads to from the start has been tried.
    is_start_spent: bool,
    /// Local phase: trials since one found a text that flips.
    failures: u32,
    /// Local phase: places that may change at `row`, and the cumulative weights of the draw.
    /// In a checkpoint so that a search that goes on asks for no gradient again.
    places: Places,
    /// The text that `places` belongs to.
    row: Vec<i32>,
    /// Global phase: whether no change is predicted to lead anywhere.
    is_given_up: bool,
    /// The walk of the local phase of `frontier`.
    walk: Option<Walk<Levels>>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Places {
    positions: Vec<usize>,
    cumulative: Vec<f32>,
}

/// An input whose gradient is wanted, and perhaps that of one of its variants.
struct Question<'q> {
    row: &'q [i32],
    logits: &'q [f32],
    label: u32,
    variant: Option<Variant<'q>>,
}

struct Variant<'q> {
    number: usize,
    logits: &'q [f32],
    label: u32,
}

/// Gradients at x and, where a search uses it, at x'.
struct Gradients<'g> {
    here: &'g [f32],
    there: Option<(&'g [f32], &'g Exchange)>,
    dimension: usize,
}

impl Gradients<'_> {
    fn here(&self, position: usize) -> &[f32] {
        let start = position * self.dimension;
        &self.here[start..start + self.dimension]
    }

    /// The gradient at the same token of x'; `None` without x'.
    fn there(&self, position: usize) -> Option<&[f32]> {
        let (gradients, exchange) = self.there.as_ref()?;
        let start = exchange.position_in(position)? * self.dimension;
        gradients.get(start..start + self.dimension)
    }
}

/// The position where the tokens of a row begin: behind the number of its source.
const TOKENS: usize = 1;

/// Number of walkers whose gradients are held at a time: bounds the memory, no influence on the
/// result.
const GRADIENT_CHUNK: usize = 64;

impl Strategy for TextStrategy<'_> {
    type Memory = TextMemory;
    type Shared = ();

    fn is_memory(&self, memory: &TextMemory, row: &[i32]) -> bool {
        let Places {
            positions,
            cumulative,
        } = &memory.places;
        let is_free = || *positions == self.free(row) && positions.len() == cumulative.len();
        (memory.row != row || is_free()) && memory.walk.iter().all(|walk| walk.is_of(self))
    }

    fn asks(&self) -> Asks {
        match is_frontier(self.local) {
            true => Asks::Expected,
            false => Asks::UntilFlip,
        }
    }

    fn is_learnt(&self, _shared: &()) -> bool {
        true
    }

    fn name(&self) -> &'static str {
        self.global.name()
    }

    fn global_moves(
        &self,
        _shared: &(),
        walkers: &mut [GlobalStep<'_, TextMemory>],
    ) -> Result<(), ModelError> {
        if self.global == StrategyName::Frontier {
            return self.approach(walkers);
        }
        for walkers in walkers.chunks_mut(GRADIENT_CHUNK) {
            let questions: Vec<Question<'_>> = walkers
                .iter()
                .map(|walker| self.global_question(walker))
                .collect();
            let picks = match self.global {
                StrategyName::AdfZeroOrder => self.measured_picks(walkers, &questions)?,
                _ => self.picks(walkers, &questions)?,
            };
            for (walker, pick) in walkers.iter_mut().zip(picks) {
                walker
                    .memory
                    .visited
                    .insert(self.domain.row_key(walker.row));
                if let Some((position, word)) = pick {
                    walker.row[TOKENS + position] = word;
                }
            }
        }
        Ok(())
    }

    fn local_moves(
        &self,
        _shared: &(),
        trial: u32,
        walkers: &mut [LocalWalker<TextMemory>],
    ) -> Result<(), ModelError> {
        match self.steps {
            _ if is_frontier(self.local) => {
                let walks = Walks {
                    ground: self,
                    rank: self.rank,
                    seed: self.seed,
                };
                walks.advance(trial, walkers)
            }
            Steps::Words(_) => self.draw_any(trial, walkers),
            Steps::Places(_) => self.draw_new(trial, walkers),
        }
    }

    fn place(&self, _shared: &mut (), _row: &mut Vec<i32>, memory: &mut TextMemory) -> bool {
        !memory.is_given_up
    }

    fn variant(&self, walker: &LocalWalker<TextMemory>) -> u32 {
        let walk = walker.memory.walk.as_ref();
        walk.map_or_else(|| walker.found_variant(), Walk::variant)
    }

    fn learn_local(
        &self,
        _shared: &mut (),
        walker: &mut LocalWalker<TextMemory>,
        found: Option<bool>,
    ) {
        if let Some(walk) = &mut walker.memory.walk {
            walk.learn(found);
        }
        walker.memory.failures = match found {
            Some(true) => 0,
            Some(false) => walker.memory.failures.saturating_add(1),
            None => walker.memory.failures,
        };
    }
}

impl TextStrategy<'_> {
    /// Positions of `row` that may change: free, with a candidate.
    fn free(&self, row: &[i32]) -> Vec<usize> {
        let Some(source) = self.domain.source(row) else {
            return Vec::new();
        };
        let may_change = |&position: &usize| {
            source.is_free(position) && !self.steps.words(row, position).is_empty()
        };
        (0..text_of(row).len()).filter(may_change).collect()
    }

    fn picks(
        &self,
        walkers: &[GlobalStep<'_, TextMemory>],
        questions: &[Question<'_>],
    ) -> Result<Vec<Option<(usize, i32)>>, ModelError> {
        let answers = self.gradients(self.global, questions)?;
        let walkers = walkers.iter().zip(self.split(questions, &answers));
        let picks = walkers.map(|(walker, gradients)| match gradients {
            Some(gradients) => self.guided_pick(walker, &gradients),
            None => self.random_pick(walker),
        });
        picks.collect()
    }

    fn global_question<'q>(&self, walker: &'q GlobalStep<'_, TextMemory>) -> Question<'q> {
        let classes = self.model.classifier().classes();
        let checked = &walker.check.checked;
        let has_variant = is_paired(self.global) && walker.check.variant_logits.len() > classes;
        Question {
            row: walker.row,
            logits: &checked.logits,
            label: checked.label,
            variant: has_variant.then(|| {
                let number = farthest_variant(walker, classes);
                Variant {
                    number,
                    logits: &walker.check.variant_logits[number * classes..(number + 1) * classes],
                    label: checked.label,
                }
            }),
        }
    }

    /// The gradients of all `questions`, one after another, x before x'; nothing for a search
    /// without gradients.
    fn gradients(
        &self,
        name: StrategyName,
        questions: &[Question<'_>],
    ) -> Result<Vec<f32>, ModelError> {
        let ModelAccess::Gradients(model) = self.model else {
            return Ok(Vec::new());
        };
        if !is_guided(name) || questions.is_empty() {
            return Ok(Vec::new());
        }
        let mut codes = Vec::new();
        let mut cotangents = Vec::new();
        for question in questions {
            codes.extend_from_slice(question.row);
            self.objective
                .cotangent(question.logits, question.label, &mut cotangents);
            if let Some(variant) = &question.variant {
                self.domain
                    .write_variant(question.row, variant.number, &mut codes);
                self.objective
                    .cotangent(variant.logits, variant.label, &mut cotangents);
            }
        }
        let rows = Rows::new(&codes, self.domain.width());
        model.input_gradients(rows, &cotangents)
    }

    /// The gradients of each of `questions`; `None` for a search without gradients.
    fn split<'g>(
        &'g self,
        questions: &'g [Question<'_>],
        answers: &'g [f32],
    ) -> impl Iterator<Item = Option<Gradients<'g>>> {
        let features = match self.model {
            ModelAccess::Gradients(model) => model.features(),
            ModelAccess::Outputs(_) => 0,
        };
        let mut answers = answers.chunks_exact(features.max(1));
        questions.iter().map(move |question| {
            let here = answers.next()?;
            let there = question.variant.as_ref().and_then(|variant| {
                let exchange = self.domain.exchange(question.row, variant.number);
                answers.next().zip(exchange.map(|(_, exchange)| exchange))
            });
            Some(Gradients {
                here,
                there,
                dimension: self.vectors.dimension,
            })
        })
    }

    /// The best replacement that leads somewhere new within the limits.
    fn guided_pick(
        &self,
        walker: &GlobalStep<'_, TextMemory>,
        gradients: &Gradients<'_>,
    ) -> Result<Option<(usize, i32)>, ModelError> {
        let positions = self.free(walker.row);
        match self.global {
            StrategyName::AdfHf | StrategyName::Hf => {
                let mut picks: Vec<((bool, f32), usize, i32)> = positions
                    .into_iter()
                    .flat_map(|position| {
                        let words = self.steps.words(walker.row, position);
                        words.iter().map(move |&word| (position, word))
                    })
                    .map(|(position, word)| {
                        let own = walker.row[TOKENS + position];
                        (self.effect(own, word, position, gradients), position, word)
                    })
                    .collect();
                picks.sort_by(|a, b| b.0.0.cmp(&a.0.0).then(b.0.1.total_cmp(&a.0.1)));
                self.first_new(walker, picks.into_iter().map(|(_, p, word)| (p, word)))
            }
            _ => {
                let mut places: Vec<(f32, usize)> = positions
                    .into_iter()
                    .map(|position| (self.importance(position, gradients), position))
                    .collect();
                places.sort_by(|a, b| b.0.total_cmp(&a.0));
                let picks = places.into_iter().flat_map(|(_, position)| {
                    let words = self.by_direction(walker.row, position, gradients);
                    words.into_iter().map(move |word| (position, word))
                });
                self.first_new(walker, picks)
            }
        }
    }

    /// The importance ‖g_a − g'_a‖∞ (equation 5), ‖g_a‖∞ without x'.
    fn importance(&self, position: usize, gradients: &Gradients<'_>) -> f32 {
        let here = gradients.here(position);
        match gradients.there(position) {
            Some(there) => largest(here.iter().zip(there).map(|(g, other)| g - other)),
            None => largest(here.iter().copied()),
        }
    }

    /// The candidates for the token at `position` of `row` by ‖sign(x_a − c) − sign(g_a)‖, least
    /// first. A gradient that vanished says nothing; then that of x' decides.
    fn by_direction(&self, row: &[i32], position: usize, gradients: &Gradients<'_>) -> Vec<i32> {
        let mut direction = gradients.here(position);
        if direction.iter().all(|&g| g == 0.0)
            && let Some(there) = gradients.there(position)
        {
            direction = there;
        }
        let own = self.vectors.vector(row[TOKENS + position]);
        let distance = |candidate: i32| -> u32 {
            let steps = own.iter().zip(self.vectors.vector(candidate));
            steps
                .zip(direction)
                .map(|((own, other), g)| (sign(own - other) - sign(*g)).pow(2) as u32)
                .sum()
        };
        let mut words: Vec<(u32, i32)> = self
            .steps
            .words(row, position)
            .iter()
            .map(|&candidate| (distance(candidate), candidate))
            .collect();
        words.sort_by_key(|&(distance, _)| distance);
        words.into_iter().map(|(_, candidate)| candidate).collect()
    }

    /// The effect of replacing `word` by `by`, to first order: first whether it leads towards the
    /// boundary (both x and x', where there is an x'), then |g_a·(x_a − c) − g'_a·(x_a − c)|,
    /// without x' |g_a·(x_a − c)|.
    fn effect(
        &self,
        word: i32,
        by: i32,
        position: usize,
        gradients: &Gradients<'_>,
    ) -> (bool, f32) {
        let (own, other) = (self.vectors.vector(word), self.vectors.vector(by));
        let along = |g: &[f32]| -> f32 {
            let steps = own.iter().zip(other).map(|(own, other)| own - other);
            steps.zip(g).map(|(step, g)| step * g).sum()
        };
        let here = along(gradients.here(position));
        match gradients.there(position).map(along) {
            Some(there) => (here > 0.0 && there > 0.0, (here - there).abs()),
            None => (here > 0.0, here.abs()),
        }
    }

    /// Tokens in random order, the neighbours of each in random order.
    fn random_pick(
        &self,
        walker: &GlobalStep<'_, TextMemory>,
    ) -> Result<Option<(usize, i32)>, ModelError> {
        let step = u64::from(walker.iteration);
        let mut stream = stream(self.seed, Purpose::GlobalMove, walker.id, step);
        let mut positions = self.free(walker.row);
        positions.shuffle(&mut stream);
        let picks = positions.into_iter().flat_map(|position| {
            let mut words = self.steps.words(walker.row, position).to_vec();
            words.shuffle(&mut stream);
            words.into_iter().map(move |word| (position, word))
        });
        self.first_new(walker, picks)
    }

    fn first_new(
        &self,
        walker: &GlobalStep<'_, TextMemory>,
        picks: impl Iterator<Item = (usize, i32)>,
    ) -> Result<Option<(usize, i32)>, ModelError> {
        let mut next = walker.row.clone();
        for (position, word) in picks {
            let before = std::mem::replace(&mut next[TOKENS + position], word);
            let is_new = !walker.memory.visited.contains(&self.domain.row_key(&next));
            if is_new && self.limits.allow(walker.id, text_of(&next))? {
                return Ok(Some((position, word)));
            }
            next[TOKENS + position] = before;
        }
        Ok(None)
    }
}

/// The largest magnitude.
fn largest(values: impl Iterator<Item = f32>) -> f32 {
    values.fold(0.0, |most, value| value.abs().max(most))
}

/// The sign −1, 0 or 1; unlike [`f32::signum`], 0 for both zeros.
fn sign(value: f32) -> i32 {
    match value.partial_cmp(&0.0) {
        Some(Ordering::Greater) => 1,
        Some(Ordering::Less) => -1,
        _ => 0,
    }
}
