//! The label that the protected variants of a sample shall have: one for all of them.
//!
//! The paper does not say how the samples that are added are labelled. Here every variant of a
//! sample has the same label, for otherwise the retrained network would be taught the very
//! discrimination that was found. Three rules give it:
//!
//! * [`LabelRule::Majority`]: the class that the model gives to most of the variants.
//! * [`LabelRule::Seed`]: the class that the data give to the row or text from which the sample was
//!   found.
//! * [`LabelRule::Ensemble`]: the class that several networks, trained on the data alone from
//!   different first weights, give to most of the variants, each network and each variant with one
//!   vote.
//!
//! Numbers are not voted on: their mean over the same networks and variants is the label.
//!
//! Among classes with equally many votes the truth of the sample decides if it is one of them, else
//! the model's class of the sample as it was found, else the first class.

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::Domain;
use probity_nn::decision::Score;
use probity_nn::{Classifier, ModelError, Rows};

/// How a sample is labelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LabelRule {
    /// The class that the model gives to most of its variants
    #[default]
    Majority,
    /// The class of the row or text that it was found from
    Seed,
    /// The class that networks trained on the data alone give to most of its variants
    Ensemble,
}

/// A labelled individual: one that is discriminated against, as an input, and its truth.
pub type Individual<'a> = (std::borrow::Cow<'a, [i32]>, Option<u32>);

/// Number of samples whose rows are worked on at a time.
const CHUNK: usize = 256;

/// The label of each of `samples` by the votes of `voters`, the first of which decides ties as the
/// module says.
///
/// # Errors
/// When a voter cannot answer.
pub fn majority(
    voters: &[&dyn Classifier],
    domain: &dyn Domain,
    samples: &[Individual<'_>],
) -> Result<Vec<u32>, ModelError> {
    let labels: Vec<Vec<u32>> = samples
        .par_chunks(CHUNK)
        .map(|samples| label_chunk(voters, domain, samples))
        .collect::<Result<_, _>>()?;
    Ok(labels.concat())
}

/// The mean of the numbers that all `voters`, which are regressors, give to all variants of each of
/// `samples`.
///
/// # Errors
/// When a voter cannot answer.
pub fn mean_numbers(
    voters: &[&dyn Classifier],
    domain: &dyn Domain,
    samples: &[Individual<'_>],
) -> Result<Vec<f32>, ModelError> {
    let mean = |(row, _): &Individual<'_>| {
        let mut codes = Vec::new();
        (0..domain.variants(row)).for_each(|v| domain.write_variant(row, v, &mut codes));
        let mut numbers = Vec::new();
        for voter in voters {
            let logits = voter.logits(Rows::new(&codes, domain.width()))?;
            numbers.extend(
                logits
                    .chunks_exact(2)
                    .map(|pair| Score::Number.compute(pair)),
            );
        }
        Ok((numbers.iter().sum::<f64>() / numbers.len().max(1) as f64) as f32)
    };
    samples.par_iter().map(mean).collect()
}

fn label_chunk(
    voters: &[&dyn Classifier],
    domain: &dyn Domain,
    samples: &[Individual<'_>],
) -> Result<Vec<u32>, ModelError> {
    let mut codes = Vec::new();
    let variants: Vec<usize> = samples
        .iter()
        .map(|(row, _)| {
            let variants = domain.variants(row);
            (0..variants).for_each(|v| domain.write_variant(row, v, &mut codes));
            variants
        })
        .collect();
    let classes = voters.first().map_or(0, |voter| voter.classes());
    let mut votes = vec![vec![0u32; classes]; samples.len()];
    let mut own = vec![0; samples.len()];
    for (number, voter) in voters.iter().enumerate() {
        let logits = voter.logits(Rows::new(&codes, domain.width()))?;
        let answers = codes.chunks_exact(domain.width());
        let answers = answers.zip(logits.chunks_exact(classes));
        let mut predicted = answers.map(|(row, logits)| voter.decision().side(row, logits));
        for (index, (row, _)) in samples.iter().enumerate() {
            let position = domain.own_variant(row);
            for variant in 0..variants[index] {
                let class = predicted.next().unwrap_or_default();
                votes[index][class as usize] += 1;
                if number == 0 && variant == position {
                    own[index] = class;
                }
            }
        }
    }
    let winners = samples.iter().zip(&votes).zip(own);
    Ok(winners
        .map(|(((_, truth), votes), own)| winner(votes, *truth, own))
        .collect())
}

/// The class with the most votes; of several, `truth`, else `own`, else the first.
fn winner(votes: &[u32], truth: Option<u32>, own: u32) -> u32 {
    let most = votes.iter().copied().max().unwrap_or(0);
    let is_tied = |class: u32| votes.get(class as usize) == Some(&most);
    truth
        .filter(|&class| is_tied(class))
        .or_else(|| is_tied(own).then_some(own))
        .or_else(|| (0..votes.len() as u32).find(|&class| is_tied(class)))
        .unwrap_or(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_go_to_the_truth_then_to_the_own_class() {
        assert_eq!(winner(&[3, 2], Some(1), 1), 0);
        assert_eq!(winner(&[2, 2], Some(1), 0), 1);
        assert_eq!(winner(&[2, 2], None, 1), 1);
        assert_eq!(winner(&[2, 2, 1], Some(2), 1), 1, "the truth is behind");
        assert_eq!(winner(&[2, 2, 1], Some(2), 2), 0);
    }
}
