//! Opening a case of texts: what is read, what may be exchanged in it, where a search begins.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;

use super::subject::TextSubject;
use super::{TextCase, TextCounts};
use crate::audit_error::AuditError;
use crate::check::check_all;
use crate::domain::Domain;
use crate::model_under_test::ModelUnderTest;
use crate::opened::{Opened, open_encoder, open_fluency_model, open_lexicon, open_texts};
use crate::seeds::clustered_seeds;
use crate::specification::{AuditSpecification, TextSpecification};
use crate::text::asked::DifferentiableRows;
use crate::text::domain::TextDomain;
use crate::text::edits::Tokens;
use crate::text::encoder::Encoder;
use crate::text::fitting::fitting;
use crate::text::fluency::ngrams::NgramFluency;
use crate::text::fluency::{Fluency, FluencyModel};
use crate::text::neighbourhood::{Near, candidates};
use crate::text::network::SourcedNetwork;
use crate::text::preset::Preset;
use crate::text::probabilities::softmax;
use crate::text::protected::Protected;
use crate::text::source::Source;
use crate::text::strategy::Steps;
use probity_data::read::BadRows;
use probity_data::read::RowNumbers;
use probity_data::table::Table;
use probity_nn::decision::Decision;
use probity_nn::text_reader::{EncodedText, TextReader};
use probity_nn::transformer_model::MaskedLanguageModel;
use probity_nn::{Classifier, Rows};
use probity_run::run_directory::file_sha256;
use probity_run::specification::FieldError;
use probity_tensor::device::{ComputeDevice, DeviceName};
use probity_text::corpus::TextCorpus;
use probity_text::lexicon::Lexicon;
use probity_text::ngrams::NgramModel;

/// Seeds on which the influence of each protected value is measured before the search, to try the
/// values that move the model most first.
const PROBED_SEEDS: usize = 64;

/// Neighbours of a word that are looked at for each one that may take its place in a sentence.
const POOL: usize = 5;

/// Units of a mean word vector that the clustering tells apart.
const CLUSTER_SCALE: f32 = 1000.0;

/// What a case of texts is made of, opened.
pub struct TextParts<'m, 't> {
    /// The model.
    pub model: Opened<TextSubject<'m>>,
    /// Where it lies, if it does: the neighbours of its words are kept there.
    pub directory: Option<&'t Path>,
    /// What is protected, with the hash of the lexicon.
    pub protected: Opened<Protected>,
    /// The texts that seeds come from.
    pub texts: Opened<Vec<&'t str>>,
    /// Where they stand in their file.
    pub rows: RowNumbers,
    /// What was left out of it.
    pub bad_rows: BadRows,
    /// The text, by its place among these, that a search begins at in place of several from clusters.
    pub begin_at: Option<usize>,
    /// What judges whether a changed text means the same.
    pub encoder: Option<Opened<Encoder>>,
    /// What measures fluency in place of n-grams.
    pub fluency_model: Option<Opened<MaskedLanguageModel>>,
}

/// Opens and checks everything that `specification` names, for a search on `device`: one that begins
/// at the text of the number `row`, if one is given.
pub(super) fn open<'m>(
    specification: &AuditSpecification,
    row: Option<u64>,
    device: &ComputeDevice,
) -> Result<TextCase<'m>, AuditError> {
    let options = &specification.text;
    let lexicon = open_lexicon(options.lexicon.as_deref(), options.preset)?;
    let skip = specification.skip_bad_rows;
    let corpus = open_texts(&specification.data, options.column.as_deref(), skip)?;
    let begin_at = row.map(|row| place_of(row, &corpus.value)).transpose()?;
    let model = TextSubject::open(specification, None, &corpus.value.texts, &lexicon.value)?;
    let encoder = options.encoder.as_deref().map(open_encoder).transpose()?;
    let fluency_model = options.fluency_model.as_deref().map(open_fluency_model);
    let protected = protected_of(specification, &lexicon, model.value.reader())?;
    let parts = TextParts {
        model,
        directory: specification.model.as_deref(),
        protected,
        texts: Opened {
            value: corpus.value.texts.iter().map(String::as_str).collect(),
            sha256: corpus.sha256,
        },
        rows: corpus.value.rows.clone(),
        bad_rows: corpus.value.bad_rows.clone(),
        begin_at,
        encoder,
        fluency_model: fluency_model.transpose()?,
    };
    TextCase::new(specification, parts, &|_| true, device)
}

/// Where the text of the number `row` is in `corpus`.
fn place_of(row: u64, corpus: &TextCorpus) -> Result<usize, FieldError> {
    let texts = corpus.texts.len();
    let place = corpus.rows.index_of(row).filter(|&place| place < texts);
    place.ok_or_else(|| {
        let last = texts.checked_sub(1).map_or(0, |last| corpus.rows.of(last));
        let expected = format!("a text of the file, from 1 to {last}, that was not left out");
        FieldError::new("row", row, expected)
    })
}

/// What of `lexicon` is protected, as `reader` splits it, with the hash of the lexicon.
pub(super) fn protected_of(
    specification: &AuditSpecification,
    lexicon: &Opened<Lexicon>,
    reader: &TextReader,
) -> Result<Opened<Protected>, AuditError> {
    let (named, preset) = (&specification.protected, specification.text.preset);
    Ok(Opened {
        value: Protected::new(&lexicon.value, named, reader, preset)?,
        sha256: lexicon.sha256.clone(),
    })
}

/// How decisions are made between `classes`, of which the last is good to get, and names of what can
/// be decided.
pub(super) fn decision_of(
    specification: &AuditSpecification,
    classes: &[String],
) -> Result<(Decision, Vec<String>), AuditError> {
    let decision = specification.deciding().of_texts(classes)?;
    let names = decision.names(classes);
    Ok((decision, names))
}

impl<'m> TextCase<'m> {
    /// The case of `parts`, searched as `specification` says, with those of the texts whose
    /// positions `keep` takes, as if there were no others.
    ///
    /// # Errors
    /// When none of them holds a protected term, or the model cannot read or answer them.
    pub fn new(
        specification: &AuditSpecification,
        parts: TextParts<'m, '_>,
        keep: &dyn Fn(usize) -> bool,
        device: &ComputeDevice,
    ) -> Result<TextCase<'m>, AuditError> {
        let options = &specification.text;
        let (subject, protected) = (parts.model.value, parts.protected.value);
        subject.expect_embeddings(options.neighbours_from)?;
        let reader = subject.reader();
        let mut sha256 = BTreeMap::from([
            ("model".to_owned(), parts.model.sha256),
            ("lexicon".to_owned(), parts.protected.sha256),
            ("data".to_owned(), parts.texts.sha256),
        ]);
        if let TextSubject::Asked(asked) = &subject
            && !asked.vectors_sha256.is_empty()
        {
            sha256.insert("embeddings".to_owned(), asked.vectors_sha256.clone());
        }
        let encoder = parts.encoder.map(|encoder| {
            sha256.insert("encoder".to_owned(), encoder.sha256);
            encoder.value
        });
        let texts = parts.texts.value;
        let kept: Vec<usize> = (0..texts.len()).filter(|&text| keep(text)).collect();
        let tokens = Tokens::new(reader);
        let looked: Vec<Looked> = kept
            .par_iter()
            .map(|&text| {
                let encoded = reader.encode(texts[text])?;
                let read = protected.read(&tokens, &encoded)?;
                Ok(Looked {
                    source: Some(read.source).filter(Source::can_vary),
                    is_truncated: encoded.is_truncated || subject.cuts(texts[text])?,
                    is_foreign: !read.is_english,
                    words: encoded.words,
                })
            })
            .collect::<Result<_, AuditError>>()?;
        let count = |of: fn(&Looked) -> bool| looked.iter().filter(|text| of(text)).count() as u64;
        let mut counts = TextCounts {
            texts: kept.len() as u64,
            with_protected_term: count(|text| text.source.is_some()),
            without_protected_term: count(|text| text.source.is_none()),
            truncated: count(|text| text.is_truncated),
            foreign: count(|text| text.is_foreign),
            blank: count(|text| text.words.is_empty()),
            bad_rows: parts.bad_rows,
        };
        // A text without a word is in no language.
        counts.foreign -= count(|text| text.is_foreign && text.words.is_empty());
        if counts.with_protected_term == 0 {
            return Err(AuditError::NoProtectedTerm {
                file: specification.data.clone(),
                texts: kept.len(),
                foreign: counts.foreign,
                attributes: protected.attributes().join(", "),
            });
        }
        let least_fluency = options.least_fluency();
        let ngrams = match (least_fluency, &parts.fluency_model) {
            (Some(_), None) => Some(open_ngrams(options, &looked, &mut sha256)?),
            _ => None,
        };
        let with_term = kept.iter().zip(looked);
        let (has_term, sources): (Vec<usize>, Vec<Source>) = with_term
            .filter_map(|(&text, looked)| Some((text, looked.source?)))
            .unzip();
        let search = &specification.search;
        let chosen = match parts.begin_at {
            None => {
                let table = mean_vectors(reader, &sources);
                clustered_seeds(&table, search.clusters, search.seeds, specification.seed)
            }
            Some(text) => {
                let place = has_term.iter().position(|&other| other == text);
                let attributes = protected.attributes();
                vec![place.ok_or_else(|| AuditError::NoTermInText {
                    attributes: attributes.join(", "),
                })? as u32]
            }
        };
        let text_of_seed = |&seed: &u32| has_term[seed as usize];
        let seeds = chosen
            .iter()
            .map(|seed| reader.encode(texts[text_of_seed(seed)]));
        let seeds: Vec<EncodedText> = seeds.collect::<Result<_, _>>()?;
        let inputs = (0u32..).take(sources.len()).collect();
        let mut domain = TextDomain::new(reader.max_length, Arc::new(sources), Arc::new(inputs))?;
        // The search tries the values first that move this model most.
        let probed = &chosen[..chosen.len().min(PROBED_SEEDS)];
        let numbers = protected.numbers();
        let searched = match &subject {
            TextSubject::Words(model) => {
                let network = SourcedNetwork::new(model.network(domain.tokens(), device)?);
                domain.rank(&influence(&network, &domain, probed, numbers)?);
                let flex = ComputeDevice::flex();
                let on_flex = || model.network(domain.tokens(), &flex);
                let reference = (device.name() != DeviceName::Flex).then(on_flex);
                let reference = reference.transpose()?.map(SourcedNetwork::new);
                let reference = reference.map(|network| Box::new(network) as Box<dyn Classifier>);
                ModelUnderTest::differentiable(Box::new(network), reference)
            }
            TextSubject::Asked(asked) => {
                let made_of = has_term.iter().map(|&text| texts[text].to_owned());
                let made_of = Arc::new(made_of.collect());
                match &asked.gradients {
                    // Its calls may cost, and all of them belong to the search, which counts them.
                    None => ModelUnderTest::classifier(Box::new(asked.of_rows(&domain, &made_of))),
                    Some(gradients) => {
                        let rows = asked.of_rows(&domain, &made_of);
                        domain.rank(&influence(&rows, &domain, probed, numbers)?);
                        let rows = asked.of_rows(&domain, &made_of);
                        let rows = DifferentiableRows::new(rows, gradients);
                        ModelUnderTest::differentiable(Box::new(rows), None)
                    }
                }
            }
        };
        let (decision, classes) = decision_of(specification, subject.classes())?;
        let searched = searched.deciding(&decision);
        let by_ngrams = ngrams.map(|ngrams| Box::new(NgramFluency::new(ngrams, reader, &seeds)));
        let masked = parts.fluency_model.map(|model| {
            sha256.insert("fluency_model".to_owned(), model.sha256);
            FluencyModel::Masked(Box::new(model.value))
        });
        let fluency_model = masked.or(by_ngrams.map(FluencyModel::Ngrams));
        let steps = StepsOf {
            reader,
            near: Near::new(options.neighbours_from, reader, subject.vectors()),
            protected: &protected,
            options,
            fluency: least_fluency
                .zip(fluency_model.as_ref())
                .map(|(least, model)| Fluency {
                    model,
                    reader,
                    seeds: &seeds,
                    least,
                }),
        };
        let steps = steps.from(parts.directory, chosen.iter().zip(&seeds), device)?;
        Ok(TextCase {
            searched,
            classes,
            domain,
            steps,
            counts,
            seed_ids: seeds.iter().map(|seed| seed.ids.clone()).collect(),
            source_rows: chosen
                .iter()
                .map(|seed| parts.rows.of(text_of_seed(seed)))
                .collect(),
            seed_sources: chosen,
            subject,
            protected,
            seeds,
            encoder,
            fluency_model,
            sha256,
        })
    }
}

/// The texts' mean word vectors as integers, for the clustering.
fn mean_vectors(reader: &TextReader, texts: &[Source]) -> Table {
    let dimension = reader.dimension();
    let codes: Vec<i32> = texts
        .par_iter()
        .flat_map_iter(|Source { ids: text, .. }| {
            let mut sums = vec![0.0f32; dimension];
            for &id in text {
                let start = id as usize * dimension;
                let vector = &reader.table.vectors()[start..start + dimension];
                sums.iter_mut()
                    .zip(vector)
                    .for_each(|(sum, value)| *sum += value);
            }
            let count = text.len().max(1) as f32;
            sums.into_iter()
                .map(move |sum| (sum / count * CLUSTER_SCALE).round() as i32)
        })
        .collect();
    Table::new(dimension, codes, Vec::new())
}

/// For each thing that may be put somewhere, by number, how much putting it there moves the
/// predicted class's lead in `texts` of `domain`, on average.
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

/// A text that was looked at.
struct Looked {
    /// What may be exchanged in it, if anything.
    source: Option<Source>,
    is_truncated: bool,
    is_foreign: bool,
    /// As far as the model reads.
    words: Vec<String>,
}

/// The n-gram model that `options` name, or one fitted to the texts.
fn open_ngrams(
    options: &TextSpecification,
    texts: &[Looked],
    sha256: &mut BTreeMap<String, String>,
) -> Result<NgramModel, AuditError> {
    let Some(file) = &options.ngrams else {
        let texts = texts.iter().map(|text| text.words.iter());
        let fitted = NgramModel::fit(texts.map(|words| words.map(String::as_str)), 1);
        return Ok(fitted?);
    };
    sha256.insert("ngrams".to_owned(), file_sha256(file)?);
    Ok(NgramModel::read(file)?)
}

/// What decides which words a search may put where.
struct StepsOf<'a> {
    reader: &'a TextReader,
    near: Near<'a>,
    protected: &'a Protected,
    options: &'a TextSpecification,
    fluency: Option<Fluency<'a>>,
}

impl StepsOf<'_> {
    /// Of a search that begins at the texts `begun`, with their numbers in the domain.
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
