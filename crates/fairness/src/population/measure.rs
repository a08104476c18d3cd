//! Asking a model about all variants of individuals.

use std::ops::{ControlFlow, Range};

use rayon::prelude::*;

use super::people::People;
use super::tally::{Outcome, Tally};
use crate::domain::Domain;
use crate::text::probabilities::probability;
use probity_nn::{Classifier, ModelError, Rows, predicted_class};

/// Rows that a thread asks about at a time, unless one individual has more variants.
const ASKED: usize = 4096;

/// Chunks between two looks at whether to stop.
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

/// What a model says of all variants of an individual.
struct Answers {
    /// Their classes; one where they are all the same.
    classes: Vec<u32>,
    /// The probability of the favourable class, of those variants that rows are.
    scores: Vec<f32>,
    /// The least and the largest probability of all variants.
    range: [f32; 2],
}

fn ask(
    model: &dyn Classifier,
    people: &People<'_>,
    individuals: &[usize],
) -> Result<Vec<Answers>, ModelError> {
    let width = people.domain.width();
    let variants = people.groups[0].of_variant.len();
    let mut codes = Vec::with_capacity(individuals.len() * variants * width);
    for &individual in individuals {
        let row = people.individuals[individual];
        (0..variants).for_each(|v| people.domain.write_variant(row, v, &mut codes));
    }
    let logits = model.logits(Rows::new(&codes, width))?;
    let classes = model.classes();
    let each = logits.chunks_exact(variants * classes).zip(individuals);
    Ok(each
        .map(|(logits, &individual)| {
            let score = |logits: &[f32]| probability(logits, people.favourable.0);
            let at = |variant: u32| &logits[variant as usize * classes..][..classes];
            let mut range = [f32::INFINITY, f32::NEG_INFINITY];
            for score in logits.chunks_exact(classes).map(score) {
                range = [range[0].min(score), range[1].max(score)];
            }
            let mut labels: Vec<u32> = logits.chunks_exact(classes).map(predicted_class).collect();
            if labels.iter().all(|label| *label == labels[0]) {
                labels.truncate(1);
            }
            Answers {
                classes: labels,
                scores: own(people, individual)
                    .iter()
                    .map(|&v| score(at(v)))
                    .collect(),
                range,
            }
        })
        .collect())
}

/// The variants that rows of an individual are.
fn own<'p>(people: &'p People<'_>, individual: usize) -> &'p [u32] {
    &people.variants[people.starts[individual]..people.starts[individual + 1]]
}

/// Counts the rows of one individual.
fn count(people: &People<'_>, individual: usize, answers: &Answers, tally: &mut Tally) {
    tally.individuals += 1;
    let favourable = people.favourable.0 as u32;
    let is_favourable_near = answers.classes.contains(&favourable);
    let flips = answers.classes.len() > 1;
    let mut alone = vec![false; people.domain.protected().len()];
    for (&variant, &score) in own(people, individual).iter().zip(&answers.scores) {
        let class = answers.classes[if flips { variant as usize } else { 0 }];
        if flips {
            flips_alone(people, &answers.classes, variant as usize, &mut alone);
        }
        let [least, most] = answers.range;
        let outcome = Outcome {
            variant,
            alone: &alone,
            flips,
            is_favoured: class == favourable,
            is_favourable_near,
            change: (most - score).max(score - least),
        };
        tally.add(people, &outcome);
    }
}

/// Whether the variant `own` flips when one attribute alone changes, for each.
fn flips_alone(people: &People<'_>, classes: &[u32], own: usize, alone: &mut [bool]) {
    let domain = people.domain;
    // Variants count through the values of the last protected attribute first.
    let mut stride = 1;
    for (flips, &attribute) in alone.iter_mut().zip(domain.protected()).rev() {
        let levels = domain.spans()[attribute].levels;
        let first = own - own / stride % levels * stride;
        let mut others = (0..levels).map(|level| classes[first + level * stride]);
        *flips = others.any(|class| class != classes[own]);
        stride *= levels;
    }
}
