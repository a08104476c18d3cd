//! Asking a model about all variants of individuals.

use std::ops::{ControlFlow, Range};

use rayon::prelude::*;

use super::people::People;
use super::tally::{Alone, Outcome, Tally};
use crate::domain::Domain;
use crate::text::probabilities::probability;
use probity_nn::decision::{Decision, Gap, Score};
use probity_nn::{Classifier, ModelError, Rows};

/// Number of rows that a thread asks about at a time, unless one individual has more variants.
const ASKED: usize = 4096;

/// Number of chunks between two looks at whether to stop.
const BLOCK: usize = 64;

/// Asks `model` about all variants of the `individuals` of `people`, by number, and counts their
/// rows. `observe` is told now and then how many are done, and may stop it: nothing is then known.
///
/// # Errors
/// When the model cannot answer.
pub fn count_people(
    model: &dyn Classifier,
    people: &People<'_>,
    individuals: Range<u64>,
    observe: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Option<Tally>, ModelError> {
    let mut tally = Tally::new(people);
    let chunk = (ASKED / people.groups[0].of_variant.len().max(1)).max(1);
    let all: Vec<usize> = (individuals.start as usize..individuals.end as usize).collect();
    for block in all.chunks(chunk * BLOCK) {
        let answers: Vec<Vec<Answers>> = block
            .par_chunks(chunk)
            .map(|individuals| ask(model, people, individuals))
            .collect::<Result<_, ModelError>>()?;
        for (&individual, answers) in block.iter().zip(answers.iter().flatten()) {
            count(people, individual, answers, &mut tally);
        }
        if observe(tally.individuals).is_break() {
            return Ok(None);
        }
    }
    Ok(Some(tally))
}

/// The answers of a model about all variants of an individual.
struct Answers {
    told: Told,
    /// The probability of the favourable class, or the number, of those variants that are rows of
    /// the data.
    scores: Vec<f32>,
    /// The least and the largest score of all variants.
    range: [f32; 2],
    /// Whether any two variants differ in any bit, by each protected attribute alone; empty where
    /// the model is known to take them all.
    differs_by: Vec<bool>,
}

/// The rule by which variants are told apart.
enum Told {
    /// All variants are alike: this is the decision on all of them.
    Alike(u32),
    /// Variants are told apart by the decision on each.
    Decisions(Vec<u32>),
    /// Variants are told apart by scores that differ by more than the gap.
    Scores { of: Vec<f64>, gap: Gap },
}

impl Told {
    fn new(decision: &Decision, variants: &[(&[i32], &[f32])]) -> Told {
        let decide = |(row, logits): &(&[i32], &[f32])| decision.decide(row, logits);
        if let Decision::Gap(gap) = decision {
            let scores = variants.iter();
            return Told::Scores {
                of: scores
                    .map(|(_, logits)| gap.compute_score(logits))
                    .collect(),
                gap: *gap,
            };
        }
        let decisions: Vec<u32> = variants.iter().map(decide).collect();
        match decisions.iter().all(|decided| *decided == decisions[0]) {
            true => Told::Alike(decisions[0]),
            false => Told::Decisions(decisions),
        }
    }

    fn differ(&self, own: usize, other: usize) -> bool {
        match self {
            Told::Alike(_) => false,
            Told::Decisions(decisions) => decisions[own] != decisions[other],
            Told::Scores { of, gap } => gap.is_beyond(of[other] - of[own]),
        }
    }

    /// Whether the variant `own` is told from any other.
    fn flips(&self, own: usize) -> bool {
        match self {
            Told::Alike(_) => false,
            Told::Decisions(_) => true,
            Told::Scores { of, .. } => (0..of.len()).any(|other| self.differ(own, other)),
        }
    }

    /// Whether `own` gets what is good: of scores, whether it has more to lose than to gain.
    fn is_favoured(&self, own: usize, favourable: u32) -> bool {
        match self {
            Told::Alike(decided) => *decided == favourable,
            Told::Decisions(decisions) => decisions[own] == favourable,
            Told::Scores { of, gap } => {
                let least = of.iter().copied().fold(f64::INFINITY, f64::min);
                let most = of.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let (above, below) = (of[own] - least, most - of[own]);
                match (gap.score, favourable) {
                    (Score::Number, 0) => below >= above,
                    _ => above >= below,
                }
            }
        }
    }

    /// Whether the first of two variants gets what is good and the other does not; `None` where
    /// neither or both do.
    fn is_better(&self, own: usize, other: usize, favourable: u32) -> Option<bool> {
        match self {
            Told::Alike(_) => None,
            Told::Decisions(decisions) => {
                let [own, other] = [own, other].map(|at| decisions[at] == favourable);
                (own != other).then_some(own)
            }
            Told::Scores { of, gap } => self.differ(own, other).then(|| {
                let is_higher = of[own] > of[other];
                is_higher != (gap.score == Score::Number && favourable == 0)
            }),
        }
    }

    /// Whether any variant gets what is good.
    fn is_favourable_near(&self, favourable: u32) -> bool {
        match self {
            Told::Alike(decided) => *decided == favourable,
            Told::Decisions(decisions) => decisions.contains(&favourable),
            Told::Scores { .. } => true,
        }
    }
}

fn ask(
    model: &dyn Classifier,
    people: &People<'_>,
    individuals: &[usize],
) -> Result<Vec<Answers>, ModelError> {
    let width = people.domain.width();
    let variants = people.groups[0].of_variant.len();
    let mut codes = Vec::with_capacity(individuals.len() * variants * width);
    let mut numbers = Vec::new();
    for &individual in individuals {
        let (row, start) = (people.individuals[individual], codes.len());
        (0..variants).for_each(|v| people.domain.write_variant(row, v, &mut codes));
        people.append_numbers(individual, &codes[start..], &mut numbers);
    }
    let logits = model.logits_with(Rows::new(&codes, width), &numbers)?;
    let classes = model.classes();
    let each = codes.chunks_exact(variants * width);
    let each = each.zip(logits.chunks_exact(variants * classes));
    Ok(each
        .zip(individuals)
        .map(|((codes, logits), &individual)| {
            let score = |logits: &[f32]| match people.score {
                Score::Probability(class) => probability(logits, class),
                Score::Number => Score::Number.compute(logits) as f32,
            };
            let at = |variant: u32| &logits[variant as usize * classes..][..classes];
            let mut range = [f32::INFINITY, f32::NEG_INFINITY];
            for score in logits.chunks_exact(classes).map(score) {
                range = [range[0].min(score), range[1].max(score)];
            }
            let rows = codes.chunks_exact(width).zip(logits.chunks_exact(classes));
            let rows: Vec<(&[i32], &[f32])> = rows.collect();
            Answers {
                differs_by: match people.are_all_taken {
                    true => Vec::new(),
                    false => differs_by(people, model.decision(), &rows),
                },
                told: Told::new(model.decision(), &rows),
                scores: own(people, individual)
                    .iter()
                    .map(|&v| score(at(v)))
                    .collect(),
                range,
            }
        })
        .collect())
}

/// Whether the logits of any two `variants` differ in any bit, or the `decision` hangs on it, by
/// each protected attribute alone.
fn differs_by(
    people: &People<'_>,
    decision: &Decision,
    variants: &[(&[i32], &[f32])],
) -> Vec<bool> {
    // Variants count through the values of the last protected attribute first.
    let mut stride = 1;
    let by = people.domain.protected().iter().rev().map(|&attribute| {
        let levels = people.domain.values(attribute);
        let first = |own: usize| own - own / stride % levels * stride;
        let mut all = variants.iter().enumerate();
        let differs = decision.reads(attribute)
            || all.any(|(own, (_, logits))| *logits != variants[first(own)].1);
        stride *= levels;
        differs
    });
    let mut by: Vec<bool> = by.collect();
    by.reverse();
    by
}

/// The numbers of the variants that rows of an individual are.
fn own<'p>(people: &'p People<'_>, individual: usize) -> &'p [u32] {
    &people.variants[people.starts[individual]..people.starts[individual + 1]]
}

/// Counts the rows of one individual.
fn count(people: &People<'_>, individual: usize, answers: &Answers, tally: &mut Tally) {
    tally.individuals += 1;
    for (is_taken, differs) in tally.is_taken.iter_mut().zip(&answers.differs_by) {
        *is_taken |= differs;
    }
    let (told, favourable) = (&answers.told, people.favourable.0 as u32);
    for (&variant, &score) in own(people, individual).iter().zip(&answers.scores) {
        let flips = told.flips(variant as usize);
        let mut alone = vec![Alone::default(); people.domain.protected().len()];
        if flips {
            flips_alone(people, told, variant as usize, &mut alone);
        }
        let [least, most] = answers.range;
        let outcome = Outcome {
            variant,
            alone: &alone,
            flips,
            is_favoured: told.is_favoured(variant as usize, favourable),
            is_favourable_near: told.is_favourable_near(favourable),
            change: (most - score).max(score - least),
        };
        tally.add(people, &outcome);
    }
}

/// Finds what becomes of the variant `own` when one attribute alone changes, for each attribute.
fn flips_alone(people: &People<'_>, told: &Told, own: usize, alone: &mut [Alone]) {
    let (domain, favourable) = (people.domain, people.favourable.0 as u32);
    // Variants count through the values of the last protected attribute first.
    let mut stride = 1;
    for (place, &attribute) in domain.protected().iter().enumerate().rev() {
        let levels = domain.values(attribute);
        let first = own - own / stride % levels * stride;
        let group = |variant: usize| people.groups[place].of_variant[variant];
        let others = (0..levels).map(|level| first + level * stride);
        let alone = &mut alone[place];
        for other in others.filter(|&other| told.differ(own, other)) {
            alone.flips = true;
            let Some(is_better) = told.is_better(own, other, favourable) else {
                continue;
            };
            let way = usize::from(is_better);
            alone.ways[way] = true;
            let exchange = (group(own), group(other));
            if exchange.0 != exchange.1 {
                alone.exchanges.entry(exchange).or_default()[way] = true;
            }
        }
        stride *= levels;
    }
}
