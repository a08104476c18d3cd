//! The texts that a repaired classifier learns: the training texts, and both sides of the pairs
//! that are drawn.

use std::collections::HashMap;

use super::found::FoundText;
use super::learner::{RepairTexts, TextLearner};
use crate::repair::error::RepairError;
use crate::repair::repairable::Remedy;
use crate::text::source::Source;
use probity_nn::train::Split;
use probity_nn::train::text::{Site, Substitutions};

/// The texts of `learner`, dealt by `split` and held as `sources`, with those that `remedy` adds;
/// and how many of them are added.
pub(super) fn mix<L: TextLearner>(
    learner: &L,
    split: &Split,
    sources: &[Source],
    remedy: &Remedy<'_, FoundText, u32>,
) -> Result<(RepairTexts, u64), RepairError> {
    let own = learner.labelled();
    let mut set = RepairTexts {
        texts: own.texts.to_vec(),
        labels: own.labels.to_vec(),
        split: split.clone(),
        substitutions: None,
    };
    match remedy {
        Remedy::None => {}
        Remedy::Samples(drawn) => {
            for drawn in drawn {
                let texts = learner.read_as_learnt(&drawn.samples)?;
                let labelled = texts.into_iter().zip(&drawn.labels);
                labelled.for_each(|(sides, &label)| add(&mut set, sides, label));
            }
        }
        Remedy::Certified => set.substitutions = Some(substitutions(sources)),
    }
    let added = set.texts.len() - own.texts.len();
    Ok((set, added as u64))
}

fn add(set: &mut RepairTexts, sides: [Vec<i32>; 2], label: u32) {
    for text in sides {
        set.split.train.push(set.texts.len() as u32);
        set.texts.push(text);
        set.labels.push(label);
    }
}

/// The substitutions that are possible in the texts `sources`, for certified training. Equal lists
/// are one group.
fn substitutions(sources: &[Source]) -> Substitutions {
    let mut groups: Vec<Vec<Vec<i32>>> = Vec::new();
    let mut numbers: HashMap<Vec<Vec<i32>>, usize> = HashMap::new();
    let sites = sources.iter().map(|source| {
        let stretches = source.stretches().into_iter();
        stretches
            .map(|stretch| Site {
                start: stretch.tokens.start,
                length: stretch.tokens.len(),
                group: *numbers.entry(stretch.by.clone()).or_insert_with(|| {
                    groups.push(stretch.by);
                    groups.len() - 1
                }),
            })
            .collect()
    });
    Substitutions {
        sites: sites.collect(),
        groups,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::terms::{Term, Terms};

    #[test]
    fn sites_are_all_occurrences_with_all_lengths_of_replacements() {
        let term = |tokens: &[i32], others: &[u32]| Term {
            attribute: 0,
            value: 0,
            spelled: String::new(),
            tokens: tokens.to_vec(),
            others: others.to_vec(),
        };
        let terms = Terms::new(vec![
            term(&[1], &[1, 2, 3]),
            term(&[2, 3], &[0, 2, 3]),
            term(&[4], &[0, 1, 3]),
            term(&[5, 6], &[0, 1, 2]),
        ]);
        let source = |text: &[i32]| Source::new(text.to_vec(), terms.sites(text), Vec::new());
        let found = substitutions(&[source(&[9, 1, 2, 3]), source(&[9])]);
        assert!(found.sites[1].is_empty());
        let mut at: Vec<_> = found.sites[0]
            .iter()
            .map(|site| (site.start, site.length, found.groups[site.group].clone()))
            .collect();
        at.sort();
        let expected = [
            (1, 1, vec![vec![2, 3], vec![5, 6]]),
            (1, 1, vec![vec![4]]),
            (2, 2, vec![vec![1], vec![4]]),
            (2, 2, vec![vec![5, 6]]),
        ];
        assert_eq!(at, expected);
    }
}
