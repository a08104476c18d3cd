//! What a repaired classifier of texts learns: the training texts, and both sides of the pairs that
//! are drawn.

use super::found::FoundText;
use crate::repair::repairable::{Drawn, Remedy};
use crate::text::domain::Terms;
use probity_nn::train::Split;
use probity_nn::train::text::{LabelledTexts, Site, Substitutions};

/// Texts to learn from.
#[derive(Debug, Clone)]
pub struct RepairTexts {
    /// The texts of the model, and the added ones after them.
    pub texts: Vec<Vec<i32>>,
    /// Their classes.
    pub labels: Vec<u32>,
    /// The parts of the texts; the added ones train.
    pub split: Split,
    /// What may stand where in the texts, for certified training.
    pub substitutions: Option<Substitutions>,
}

/// The texts `own`, dealt by `split`, with what `remedy` adds; and how many texts that are.
pub(super) fn mix(
    own: LabelledTexts<'_>,
    split: &Split,
    terms: &Terms,
    remedy: &Remedy<'_, FoundText>,
) -> (RepairTexts, u64) {
    let mut set = RepairTexts {
        texts: own.texts.to_vec(),
        labels: own.labels.to_vec(),
        split: split.clone(),
        substitutions: None,
    };
    match remedy {
        Remedy::None => {}
        Remedy::Samples(drawn) => drawn.iter().for_each(|drawn| add(&mut set, drawn)),
        Remedy::Certified => set.substitutions = Some(substitutions(terms, own.texts)),
    }
    let added = set.texts.len() - own.texts.len();
    (set, added as u64)
}

fn add(set: &mut RepairTexts, drawn: &Drawn<'_, FoundText>) {
    for (sample, &label) in drawn.samples.iter().zip(&drawn.labels) {
        for text in &sample.texts {
            set.split.train.push(set.texts.len() as u32);
            set.texts.push(text.clone());
            set.labels.push(label);
        }
    }
}

/// What may stand where in `texts`, for certified training.
fn substitutions(terms: &Terms, texts: &[Vec<i32>]) -> Substitutions {
    let mut groups: Vec<Vec<Vec<i32>>> = Vec::new();
    // For each term the groups of its replacements, by number of tokens.
    let mut of_term: Vec<Vec<usize>> = Vec::with_capacity(terms.all().len());
    for term in terms.all() {
        let mut own: Vec<usize> = Vec::new();
        for &other in &term.others {
            let tokens = &terms.all()[other as usize].tokens;
            let place = own
                .iter()
                .copied()
                .find(|&group| groups[group][0].len() == tokens.len());
            match place {
                Some(group) => groups[group].push(tokens.clone()),
                None => {
                    own.push(groups.len());
                    groups.push(vec![tokens.clone()]);
                }
            }
        }
        of_term.push(own);
    }
    let sites = texts.iter().map(|text| {
        let found = terms.find(text);
        let site = |(start, length, group)| Site {
            start,
            length,
            group,
        };
        found
            .iter()
            .flat_map(|o| {
                of_term[o.term as usize]
                    .iter()
                    .map(|&group| (o.start, o.length, group))
            })
            .map(site)
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
    use crate::text::domain::Term;

    #[test]
    fn sites_are_all_occurrences_with_all_lengths_of_replacements() {
        let term = |tokens: &[i32], others: &[u32]| Term {
            attribute: 0,
            value: String::new(),
            tokens: tokens.to_vec(),
            others: others.to_vec(),
        };
        let terms = Terms::new(vec![
            term(&[1], &[1, 2, 3]),
            term(&[2, 3], &[0, 2, 3]),
            term(&[4], &[0, 1, 3]),
            term(&[5, 6], &[0, 1, 2]),
        ]);
        let texts = vec![vec![9, 1, 2, 3], vec![9]];
        let found = substitutions(&terms, &texts);
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
