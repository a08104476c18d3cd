//! The strategy `adf-zero-order` on texts: what gradients tell Algorithms 5 and 6 of the ADF paper,
//! measured by outputs.
//!
//! The importance of a word is what the objective loses when it is left out, Δ_a at x and Δ'_a at
//! x'; where the vocabulary has a mark for unknown words the word becomes that. The global phase
//! takes the words by falling |Δ_a − Δ'_a|, in the place of ‖g_a − g'_a‖∞, and tries what may take
//! the place of the first one that can become something new: before all others come replacements
//! that lead both x and x' towards the boundary, then those whose effects on them differ most. The
//! local phase draws words with probability proportional to 1/(|Δ_a| + |Δ'_a|).

use super::{Places, Question, TOKENS, TextMemory, TextStrategy};
use crate::domain::Domain;
use crate::guidance::SALIENCY_FLOOR;
use crate::strategy::GlobalStep;
use crate::text::domain::text_of;
use probity_nn::{ModelError, Rows};

/// A word of the text of a question, and the word that is put in its place.
#[derive(Clone, Copy)]
struct Change {
    question: usize,
    position: usize,
    word: i32,
}

/// The loss of the objective by a change, at x and, where there is one, at x'.
type Loss = (f32, Option<f32>);

/// The difference |Δ_a − Δ'_a|; |Δ_a| without x'.
fn apart((here, there): Loss) -> f32 {
    (here - there.unwrap_or(0.0)).abs()
}

impl TextStrategy<'_> {
    /// The losses by `changes` of the texts of `questions`, in their order.
    fn losses(
        &self,
        questions: &[Question<'_>],
        changes: &[Change],
    ) -> Result<Vec<Loss>, ModelError> {
        let mut codes = Vec::new();
        for change in changes {
            let question = &questions[change.question];
            let mut row = question.row.to_vec();
            row[TOKENS + change.position] = change.word;
            codes.extend_from_slice(&row);
            if let Some(variant) = &question.variant {
                self.domain.write_variant(&row, variant.number, &mut codes);
            }
        }
        let model = self.model.classifier();
        let logits = match codes.is_empty() {
            true => Vec::new(),
            false => model.logits(Rows::new(&codes, self.domain.width()))?,
        };
        let mut logits = logits.chunks_exact(model.classes());
        let mut cotangent = Vec::new();
        let mut loss = |before: &[f32], label: u32| {
            cotangent.clear();
            self.objective.cotangent(before, label, &mut cotangent);
            let after = logits.next().unwrap_or_default();
            let lost = before
                .iter()
                .zip(after)
                .map(|(before, after)| before - after);
            lost.zip(&cotangent).map(|(lost, c)| lost * c).sum()
        };
        let losses = changes.iter().map(|change| {
            let question = &questions[change.question];
            let here = loss(question.logits, question.label);
            let variant = question.variant.as_ref();
            (
                here,
                variant.map(|variant| loss(variant.logits, variant.label)),
            )
        });
        Ok(losses.collect())
    }

    /// The free places of each question with the loss of the objective when the word is left out.
    fn omitted(&self, questions: &[Question<'_>]) -> Result<Vec<Vec<(Loss, usize)>>, ModelError> {
        let free = questions.iter().map(|question| self.free(question.row));
        let free: Vec<Vec<usize>> = free.collect();
        let changes = free.iter().enumerate().flat_map(|(question, positions)| {
            positions.iter().map(move |&position| Change {
                question,
                position,
                word: self.vectors.unknown(),
            })
        });
        let changes: Vec<Change> = changes.collect();
        let mut losses = self.losses(questions, &changes)?.into_iter();
        let with_losses = free.into_iter().map(|positions| {
            let count = positions.len();
            losses.by_ref().take(count).zip(positions).collect()
        });
        Ok(with_losses.collect())
    }

    /// The best replacement for each walker that leads somewhere new within the limits.
    pub(super) fn measured_picks(
        &self,
        walkers: &[GlobalStep<'_, TextMemory>],
        questions: &[Question<'_>],
    ) -> Result<Vec<Option<(usize, i32)>>, ModelError> {
        let mut changes = Vec::new();
        for (question, mut places) in self.omitted(questions)?.into_iter().enumerate() {
            places.sort_by(|(a, _), (b, _)| apart(*b).total_cmp(&apart(*a)));
            for (_, position) in places {
                let new = self.new_words(&walkers[question], position)?;
                changes.extend(new.iter().map(|&word| Change {
                    question,
                    position,
                    word,
                }));
                if !new.is_empty() {
                    break;
                }
            }
        }
        let losses = self.losses(questions, &changes)?;
        let mut picks = vec![None; walkers.len()];
        let mut best: Vec<Option<(bool, f32)>> = vec![None; walkers.len()];
        for (change, loss) in changes.iter().zip(losses) {
            let leads = loss.0 > 0.0 && loss.1.is_none_or(|there| there > 0.0);
            let effect = (leads, apart(loss));
            let is_better = |(led, most): (bool, f32)| match leads == led {
                true => effect.1 > most,
                false => leads,
            };
            if best[change.question].is_none_or(is_better) {
                best[change.question] = Some(effect);
                picks[change.question] = Some((change.position, change.word));
            }
        }
        Ok(picks)
    }

    /// The words that may take the place of the word at `position` and lead somewhere new within
    /// the limits.
    fn new_words(
        &self,
        walker: &GlobalStep<'_, TextMemory>,
        position: usize,
    ) -> Result<Vec<i32>, ModelError> {
        let mut next = walker.row.clone();
        let mut new = Vec::new();
        for &word in self.steps.words(walker.row, position) {
            next[TOKENS + position] = word;
            let is_new = !walker.memory.visited.contains(&self.domain.row_key(&next));
            if is_new && self.limits.allow(walker.id, text_of(&next))? {
                new.push(word);
            }
        }
        Ok(new)
    }

    /// Places that may change, weighted by 1/(|Δ_a| + |Δ'_a|).
    pub(super) fn measured_places(
        &self,
        questions: &[Question<'_>],
    ) -> Result<Vec<Places>, ModelError> {
        let of_questions = self.omitted(questions)?.into_iter();
        let places = of_questions.map(|places| {
            let mut total = 0.0;
            let mut found = Places::default();
            for ((here, there), position) in places {
                let saliency = here.abs() + there.unwrap_or(0.0).abs();
                total += 1.0 / saliency.max(SALIENCY_FLOOR);
                found.positions.push(position);
                found.cumulative.push(total);
            }
            found
        });
        Ok(places.collect())
    }
}
