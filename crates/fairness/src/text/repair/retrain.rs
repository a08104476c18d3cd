//! Networks trained anew, with or without a remedy.

use std::ops::ControlFlow;

use rand::seq::SliceRandom;

use super::error::TextRepairError;
use crate::repair::options::RepairMethod;
use crate::text::domain::Terms;
use probity_nn::text_train::{
    CertifiedLoss, Course, LabelledTexts, Site, Substitutions, TrainedText, train_text,
    train_text_certified,
};
use probity_nn::text_train_options::TextTrainOptions;
use probity_nn::text_training_run::TextSet;
use probity_nn::train::Split;
use probity_run::stream::{Purpose, stream};

/// A discriminatory text as a network learns from it: both sides of the pair, with one label.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sample {
    /// The texts.
    pub texts: [Vec<i32>; 2],
    /// Their class.
    pub label: u32,
}

/// What all networks of a repair share.
pub(super) struct Retraining<'a> {
    pub set: &'a TextSet,
    pub split: &'a Split,
    pub options: &'a TextTrainOptions,
    pub terms: &'a Terms,
    pub course: Course,
}

/// What may stand where in `texts`, for certified training.
pub(super) fn substitutions(terms: &Terms, texts: &[Vec<i32>]) -> Substitutions {
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

/// How many of `samples` are the share `share` of them: at least one.
pub(super) fn count(samples: usize, share: f64) -> usize {
    ((samples as f64 * share).round() as usize).clamp(1, samples.max(1))
}

/// The positions of a share of `samples`, drawn without replacement, keyed by (`seed`, `repeat`, number of the run). A smaller
/// share is the beginning of a larger one.
pub(super) fn draw(samples: usize, share: f64, (seed, repeat, run): (u64, u32, u64)) -> Vec<usize> {
    let mut order: Vec<usize> = (0..samples).collect();
    order.shuffle(&mut stream(seed, Purpose::RepairTexts, repeat.into(), run));
    order.truncate(count(samples, share));
    order
}

impl Retraining<'_> {
    /// A network from fresh weights of `seed`: plain, with `samples` beside the training texts, or
    /// against the worst case, for which the word vectors stay as they were given and all epochs run.
    pub fn train(
        &self,
        remedy: Option<RepairMethod>,
        samples: &[&Sample],
        seed: u64,
        observe: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<TrainedText, TextRepairError> {
        let options = TextTrainOptions {
            seed,
            ..self.options.clone()
        };
        let own = self.set.labelled();
        if remedy == Some(RepairMethod::Certified) {
            let substitutions = substitutions(self.terms, own.texts);
            let loss = CertifiedLoss {
                substitutions: &substitutions,
                course: self.course,
            };
            let lasting = TextTrainOptions {
                train_embeddings: false,
                patience: 0,
                ..options
            };
            return Ok(train_text_certified(
                own,
                self.set.table(),
                self.split,
                &lasting,
                &loss,
                &mut |_| observe(),
            )?);
        }
        let mut texts = own.texts.to_vec();
        let mut labels = own.labels.to_vec();
        let mut split = self.split.clone();
        for sample in samples {
            for text in &sample.texts {
                split.train.push(texts.len() as u32);
                texts.push(text.clone());
                labels.push(sample.label);
            }
        }
        let corpus = LabelledTexts {
            texts: &texts,
            labels: &labels,
            classes: own.classes,
        };
        let table = self.set.table();
        Ok(train_text(
            corpus,
            table,
            &split,
            &options,
            None,
            &mut |_, _| observe(),
        )?)
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

    #[test]
    fn draws_are_keyed_and_without_replacement() {
        let first = draw(40, 0.25, (1, 0, 0));
        assert_eq!(first.len(), 10);
        assert_eq!(first, draw(40, 0.25, (1, 0, 0)));
        assert_eq!(first, draw(40, 0.6, (1, 0, 0))[..10]);
        for other in [(2, 0, 0), (1, 1, 0), (1, 0, 1)] {
            assert_ne!(first, draw(40, 0.25, other));
        }
        let mut distinct = first.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), 10);
        assert_eq!(draw(40, 0.001, (1, 0, 0)).len(), 1);
    }
}
