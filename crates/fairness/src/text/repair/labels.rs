//! One class for all substitutions of a sample; the rules are those of [`crate::repair::labels`].

use rayon::prelude::*;

use super::found::FoundText;
use super::retrain::Sample;
use crate::domain::Domain;
use crate::repair::labels::{LabelRule, winner};
use crate::text::domain::TextDomain;
use probity_nn::text::TextNetwork;
use probity_nn::{Classifier, ModelError, Rows, predicted_class};

/// The samples `found` with their classes. The `voters` are the model, or the networks of an ensemble.
///
/// # Errors
/// When a voter cannot answer.
pub(super) fn labelled(
    rule: LabelRule,
    voters: &[TextNetwork],
    domain: &TextDomain,
    found: &[&FoundText],
) -> Result<Vec<Sample>, ModelError> {
    let label = |found: &&FoundText| {
        let label = match (rule, found.truth) {
            (LabelRule::Seed, Some(truth)) => truth,
            _ => vote(voters, domain, found)?,
        };
        Ok(Sample {
            texts: found.texts.clone(),
            label,
        })
    };
    found.par_iter().map(label).collect()
}

/// The class that most voters give to most substitutions.
fn vote(voters: &[TextNetwork], domain: &TextDomain, found: &FoundText) -> Result<u32, ModelError> {
    let row = domain.row(&found.texts[0]);
    let mut codes = Vec::new();
    for variant in 0..domain.variants(&row) {
        domain.write_variant(&row, variant, &mut codes);
    }
    let mut votes = vec![0u32; voters.first().map_or(0, |voter| voter.classes())];
    let mut own = None;
    for voter in voters {
        let logits = voter.logits(Rows::new(&codes, domain.width()))?;
        let classes = logits.chunks_exact(votes.len()).map(predicted_class);
        for (variant, class) in classes.enumerate() {
            votes[class as usize] += 1;
            if variant == domain.own_variant(&row) {
                own.get_or_insert(class);
            }
        }
    }
    Ok(winner(&votes, found.truth, own.unwrap_or_default()))
}
