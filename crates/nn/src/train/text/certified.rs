//! Certified training: the loss of a text is also that of the worst of its substitutions.
//!
//! For a text with protected terms the loss is (1 − κ)·CE + κ·CE of the worst case (Jia et al.
//! 2019, section 4; Gowal et al. 2018), an upper bound on the cross-entropy over all replacements
//! of one of its terms ([`crate::recurrent::interval`]). The term is drawn anew in each epoch.
//! Other texts have the plain loss. κ rises from 0 to its full value, and the hull of the
//! replacements grows from the text itself to its full size, over a part of the epochs: bounds over
//! the full hull teach a fresh network nothing.

use rand::RngExt;

use super::differentiated::Differentiated;
use crate::ModelError;
use crate::recurrent::backward::{Batch, BatchGradients};
use crate::recurrent::interval::{Substituted, WorstCase};
use crate::train::course::Course;
use crate::train::options::TextOptions;
use probity_run::specification::FieldError;
use probity_run::stream::{Purpose, stream};

/// A place in a text where other tokens may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Site {
    /// The position of the site's first token.
    pub start: usize,
    /// The number of tokens that stand at the site.
    pub length: usize,
    /// The number of the group of token sequences that may stand there.
    pub group: usize,
}

/// The substitutions that are possible in each text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Substitutions {
    /// Groups of token sequences, each group of one length.
    pub groups: Vec<Vec<Vec<i32>>>,
    /// The places for substitutions in each text.
    pub sites: Vec<Vec<Site>>,
}

/// The loss of a certified training.
#[derive(Debug, Clone, Copy)]
pub struct CertifiedLoss<'a> {
    /// The substitutions that are possible in the texts of the corpus.
    pub substitutions: &'a Substitutions,
    /// The course by which the worst case comes in.
    pub course: Course,
}

impl CertifiedLoss<'_> {
    pub(super) fn check(&self, options: &TextOptions, texts: usize) -> Result<(), FieldError> {
        if options.network.train_embeddings {
            let expected = "false: certified training keeps the word vectors";
            return Err(FieldError::new(
                "recurrent.train_embeddings",
                true,
                expected,
            ));
        }
        if options.learning.patience > 0 {
            let expected = "0: certified training runs all epochs";
            let patience = options.learning.patience;
            return Err(FieldError::new("training.patience", patience, expected));
        }
        let sites = self.substitutions.sites.len();
        if sites != texts {
            let expected = "one list a text";
            return Err(FieldError::new("substitutions.sites", sites, expected));
        }
        Ok(())
    }

    /// Returns the place of text `item` that is learned from in `epoch`, among those that are read
    /// whole.
    fn site(&self, item: u32, epoch: u64, options: &TextOptions) -> Option<Site> {
        let sites = &self.substitutions.sites[item as usize];
        let read = sites
            .iter()
            .filter(|site| site.start + site.length <= options.network.max_length);
        let count = read.clone().count();
        if count == 0 {
            return None;
        }
        let mut draw = stream(
            options.learning.seed,
            Purpose::WorstCase,
            u64::from(item),
            epoch,
        );
        read.copied().nth(draw.random_range(0..count))
    }

    /// Computes the mean class-weighted loss of a batch of the texts `items` after `progress` of
    /// `epochs` epochs, and its gradient.
    ///
    /// # Errors
    /// When the device fails.
    pub(super) fn gradients(
        &self,
        network: &Differentiated<'_>,
        items: &[u32],
        batch: Batch<'_>,
        options: &TextOptions,
        (progress, epochs): (f64, u32),
    ) -> Result<BatchGradients, ModelError> {
        let (kappa, radius) = self.course.at(progress / f64::from(epochs));
        if kappa == 0.0 {
            return network.of_batch(batch, false);
        }
        let weight_of = |label: u32| f64::from(batch.class_weights[label as usize]);
        let total: f64 = batch.labels.iter().map(|&label| weight_of(label)).sum();
        let total = total.max(f64::from(f32::MIN_POSITIVE));
        let (mut plain, mut varied) = (Part::default(), Part::default());
        let mut worst = Vec::new();
        for ((&item, &text), &label) in items.iter().zip(batch.texts).zip(batch.labels) {
            let Some(site) = self.site(item, progress as u64, options) else {
                plain.push(text, label);
                continue;
            };
            varied.push(text, label);
            let by = &self.substitutions.groups[site.group];
            let own = &text[site.start..site.start + site.length];
            worst.push(WorstCase {
                text: Substituted {
                    before: &text[..site.start],
                    by: by.iter().map(Vec::as_slice).collect(),
                    after: &text[site.start + site.length..],
                },
                own: (by.first().map(Vec::len) == Some(own.len())).then_some(own),
                label,
                weight: (kappa * weight_of(label) / total) as f32,
            });
        }
        let mut sum = BatchGradients {
            loss: 0.0,
            parameters: vec![0.0; network.parameters()],
            embeddings: None,
        };
        for (part, share) in [(&plain, 1.0), (&varied, 1.0 - kappa)] {
            let weight: f64 = part.labels.iter().map(|&label| weight_of(label)).sum();
            if weight > 0.0 && share > 0.0 {
                let own = network.of_batch(part.batch(batch.class_weights), false)?;
                add(&mut sum, own.loss, &own.parameters, share * weight / total);
            }
        }
        let own = network.of_worst_cases(&worst, radius as f32)?;
        add(&mut sum, own.loss, &own.parameters, 1.0);
        Ok(sum)
    }
}

fn add(sum: &mut BatchGradients, loss: f64, parameters: &[f32], factor: f64) {
    sum.loss += factor * loss;
    for (sum, value) in sum.parameters.iter_mut().zip(parameters) {
        *sum += factor as f32 * value;
    }
}

/// Some texts of a batch.
#[derive(Default)]
struct Part<'a> {
    texts: Vec<&'a [i32]>,
    labels: Vec<u32>,
}

impl<'a> Part<'a> {
    fn push(&mut self, text: &'a [i32], label: u32) {
        self.texts.push(text);
        self.labels.push(label);
    }

    fn batch<'b>(&'b self, class_weights: &'b [f32]) -> Batch<'b> {
        Batch {
            texts: &self.texts,
            labels: &self.labels,
            class_weights,
        }
    }
}
