//! The beginning of a search of texts, and what follows from it: which values are tried first,
//! which words may stand where, what fluency is measured against.

use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;

use super::TextCase;
use super::open::Texts;
use super::subject::TextSubject;
use crate::audit_error::AuditError;
use crate::check::check_all;
use crate::domain::Domain;
use crate::model_under_test::ModelUnderTest;
use crate::seeds::clustered_seeds;
use crate::specification::{AuditSpecification, TextSpecification};
use crate::text::asked::DifferentiableRows;
use crate::text::domain::TextDomain;
use crate::text::fitting::fitting;
use crate::text::fluency::ngrams::NgramFluency;
use crate::text::fluency::{Fluency, FluencyModel};
use crate::text::mean_vectors::mean_vectors;
use crate::text::neighbourhood::{Near, candidates};
use crate::text::network::SourcedNetwork;
use crate::text::preset::Preset;
use crate::text::probabilities::softmax;
use crate::text::protected::Protected;
use crate::text::strategy::Steps;
use probity_nn::text_reader::{EncodedText, TextReader};
use probity_nn::{Classifier, Rows};
use probity_tensor::device::{ComputeDevice, DeviceName};

/// Number of seeds on which the influence of each protected value is measured before the search, to
/// try the values that move the model most first.
const PROBED_SEEDS: usize = 64;

/// Number of neighbours of a word that are looked at for each one that may take its place in a
/// sentence.
const POOL: usize = 5;

impl<'m> TextCase<'m> {
    /// The case of a search of `texts`, in which `domain` says what may be exchanged: it begins at
    /// the texts that the seed of `specification` says.
    ///
    /// # Errors
    /// When the model cannot answer.
    pub(super) fn begun(
        (texts, mut domain): (Arc<Texts<'m>>, TextDomain),
        specification: &AuditSpecification,
        device: &ComputeDevice,
    ) -> Result<TextCase<'m>, AuditError> {
        let (options, reader) = (&specification.text, texts.subject.reader());
        let chosen = texts.choose_seeds(&domain, specification);
        let seeds = chosen
            .iter()
            .map(|&seed| reader.encode(&texts.texts[seed as usize]));
        let seeds: Vec<EncodedText> = seeds.collect::<Result<_, _>>()?;
        let searched = texts.searched(&mut domain, &chosen, device)?;
        let fluency_model = texts.fluency_model(&seeds);
        let fluency = options.least_fluency().zip(fluency_model.as_ref());
        let steps = StepsOf {
            reader,
            near: Near::new(options.neighbours_from, reader, texts.subject.vectors()),
            protected: &texts.protected,
            options,
            fluency: fluency.map(|(least, model)| Fluency {
                model,
                reader,
                seeds: &seeds,
                least,
            }),
        };
        let begun = chosen.iter().zip(&seeds);
        let steps = steps.from(texts.directory.as_deref(), begun, device)?;
        let row = |&seed: &u32| texts.rows[seed as usize];
        Ok(TextCase {
            searched,
            domain,
            steps,
            seed_ids: seeds.iter().map(|seed| seed.ids.clone()).collect(),
            source_rows: chosen.iter().map(row).collect(),
            seed_sources: chosen,
            seeds,
            fluency_model,
            texts,
        })
    }
}

impl<'m> Texts<'m> {
    /// Chooses the texts of `domain` where a search begins: the one that was asked for, or some from
    /// clusters of their mean word vectors, in turn.
    fn choose_seeds(&self, domain: &TextDomain, specification: &AuditSpecification) -> Vec<u32> {
        if let Some(text) = self.begin_at {
            return vec![text];
        }
        let sources = domain.sources().par_iter();
        let table = mean_vectors(self.subject.reader(), sources.map(|source| &source.ids[..]));
        let search = &specification.search;
        clustered_seeds(&table, search.clusters, search.seeds, specification.seed)
    }

    /// The model under test, as a classifier of the rows of `domain`. Where its answers cost nothing
    /// it also ranks what may be exchanged there, by its influence on the texts `seeds`.
    fn searched(
        &self,
        domain: &mut TextDomain,
        seeds: &[u32],
        device: &ComputeDevice,
    ) -> Result<ModelUnderTest<'m>, AuditError> {
        let numbers = self.protected.numbers();
        let searched = match &self.subject {
            TextSubject::Words(model) => {
                let network = SourcedNetwork::new(model.network(domain.tokens(), device)?);
                rank_exchanges(domain, &network, seeds, numbers)?;
                let flex = ComputeDevice::flex();
                let on_flex = || model.network(domain.tokens(), &flex);
                let reference = (device.name() != DeviceName::Flex).then(on_flex);
                let reference = reference.transpose()?.map(SourcedNetwork::new);
                let reference = reference.map(|network| Box::new(network) as Box<dyn Classifier>);
                ModelUnderTest::differentiable(Box::new(network), reference)
            }
            TextSubject::Asked(asked) => {
                let there = asked.on(device);
                let rows = there.of_rows(domain, &self.texts);
                match &there.gradients {
                    // Its calls may cost, and all of them belong to the search, which counts them.
                    None => ModelUnderTest::classifier(Box::new(rows)),
                    Some(gradients) => {
                        rank_exchanges(domain, &rows, seeds, numbers)?;
                        let rows = there.of_rows(domain, &self.texts);
                        let rows = DifferentiableRows::new(rows, gradients);
                        let on_flex = || Box::new(asked.of_rows(domain, &self.texts));
                        let reference = (device.name() != DeviceName::Flex).then(on_flex);
                        let reference = reference.map(|rows| rows as Box<dyn Classifier>);
                        ModelUnderTest::differentiable(Box::new(rows), reference)
                    }
                }
            }
        };
        Ok(searched.deciding(&self.decision))
    }

    /// The model that measures the fluency of texts that are made of `seeds`, where fluency is
    /// asked for.
    fn fluency_model(&self, seeds: &[EncodedText]) -> Option<FluencyModel> {
        if let Some(model) = &self.masked {
            return Some(FluencyModel::Masked(Arc::clone(model)));
        }
        let ngrams = Arc::clone(self.ngrams.as_ref()?);
        let ngrams = NgramFluency::new(ngrams, self.subject.reader(), seeds);
        Some(FluencyModel::Ngrams(Box::new(ngrams)))
    }
}

/// Ranks the exchanges of `domain`, of these `numbers`, so that a search tries those first that move
/// `network` most in the first of the texts `seeds`.
fn rank_exchanges(
    domain: &mut TextDomain,
    network: &dyn Classifier,
    seeds: &[u32],
    numbers: usize,
) -> Result<(), AuditError> {
    let probed = &seeds[..seeds.len().min(PROBED_SEEDS)];
    let influence = influence(network, domain, probed, numbers)?;
    domain.rank(&influence);
    Ok(())
}

/// The influence of each value that may be put somewhere, by number: how much putting it there
/// moves the predicted class's lead in `texts` of `domain`, on average.
fn influence(
    network: &dyn Classifier,
    domain: &TextDomain,
    texts: &[u32],
    numbers: usize,
) -> Result<Vec<f32>, AuditError> {
    let codes: Vec<i32> = texts.iter().flat_map(|&text| domain.row(text)).collect();
    let rows = Rows::new(&codes, domain.width());
    let mut sums = vec![(0.0f32, 0u32); numbers];
    let classes = network.classes();
    for (row, check) in rows.iter().zip(check_all(network, domain, rows)?) {
        let label = check.checked.label as usize;
        let own = softmax(&check.checked.logits)[label];
        for (variant, logits) in check.variant_logits.chunks_exact(classes).enumerate() {
            if let Some((_, exchange)) = domain.exchange(row, variant) {
                let (sum, count) = &mut sums[exchange.number as usize];
                *sum += (softmax(logits)[label] - own).abs();
                *count += 1;
            }
        }
    }
    let mean = |(sum, count)| if count == 0 { 0.0 } else { sum / count as f32 };
    Ok(sums.into_iter().map(mean).collect())
}

/// The rules that decide which words a search may put where.
struct StepsOf<'a> {
    reader: &'a TextReader,
    near: Near<'a>,
    protected: &'a Protected,
    options: &'a TextSpecification,
    fluency: Option<Fluency<'a>>,
}

impl StepsOf<'_> {
    /// The rules for a search that begins at the texts `begun`, with their numbers in the domain.
    fn from<'s>(
        &self,
        directory: Option<&Path>,
        begun: impl Iterator<Item = (&'s u32, &'s EncodedText)>,
        device: &ComputeDevice,
    ) -> Result<Steps, AuditError> {
        let count = self.options.neighbours;
        let is_protected = |word| self.protected.has_word(word);
        let (reader, near) = (self.reader, &self.near);
        let near = |count| candidates(reader, near, directory, &is_protected, count, device);
        if self.options.preset == Preset::Paper {
            return Ok(Steps::Words(near(count)?));
        }
        let pool = near(count.saturating_mul(POOL))?;
        let begun: Vec<_> = begun.enumerate().collect();
        let places = begun.into_par_iter().map(|(seed, (&number, text))| {
            let analysis = self.protected.analyse(&text.text)?.unwrap_or_default();
            let suited = |fitting| match self.fluency {
                Some(fluency) => fluency.suited(seed, fitting),
                None => Ok(fitting),
            };
            let fitting = fitting(self.reader, text, &analysis, suited, &pool, count)?;
            Ok((number as i32, fitting))
        });
        Ok(Steps::Places(places.collect::<Result<_, AuditError>>()?))
    }
}
