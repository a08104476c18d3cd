//! A whole audit of a text classifier as one call: options → texts with protected terms → seeds →
//! search → estimates → run directory.
//!
//! Only texts with a protected term can be compared with anything; the others are counted and left
//! out. Seeds come from clusters of the texts' mean word vectors, in turn. The share of
//! discriminatory texts is that of the given texts (random words are no text, as section 5.2 of
//! the paper says), drawn without replacement, with the interval of a binomial share: what the
//! texts say of the source that they were drawn from.

use std::ops::ControlFlow;
use std::sync::Arc;

use rayon::prelude::*;

use super::domain::{TextDomain, text_of};
use super::encoder::Encoder;
use super::judge::{Embed, Judge, ValidityMeans};
use super::limits::{Limits, Similarity};
use super::neighbourhood::candidates;
use super::options::TextAuditOptions;
use super::protected::{ProtectedTerms, TermCounts, open_lexicon};
use super::samples::TextSamples;
use super::strategy::{Candidates, TextMemory, TextStrategy, Vectors};
use super::summary::{TextAuditSummary, TextCounts, ValiditySummary};
use crate::audit::{AuditError, expect_hash};
use crate::calls::{Calls, Counted};
use crate::check::check_all;
use crate::domain::Domain;
use crate::estimate::{Estimate, discriminatory_share, estimated_sets};
use crate::option_checks::budget;
use crate::pairs::PairStore;
use crate::search::{Ending, Phase, Search, SearchOptions, SearchState};
use crate::seeds::clustered_seeds;
use crate::session::{AuditProgress, is_resumable, keep_if_cut, run_search};
use crate::summary::{BoundSummary, phases, trace};
use probity_data::table::Table;
use probity_nn::text::TextNetwork;
use probity_nn::text_model::{EncodedText, TextModel};
use probity_nn::{Classifier, Rows};
use probity_run::run_directory::{RUN, RunDirectory, file_sha256};
use probity_run::stream::{Purpose, permutation};
use probity_tensor::device::{ComputeDevice, DeviceName};
use probity_text::corpus::{TextColumns, read_texts};

/// Seeds on which the influence of each protected value is measured before the search, to try the
/// values that move the model most first.
const PROBED_SEEDS: usize = 64;

/// Units of a mean word vector that the clustering tells apart.
const CLUSTER_SCALE: f32 = 1000.0;

/// The model, the texts and the domain of an audit, loaded and checked; nothing is written yet.
pub struct PreparedTextAudit {
    options: TextAuditOptions,
    model: TextModel,
    network: TextNetwork,
    reference: Option<TextNetwork>,
    domain: TextDomain,
    candidates: Candidates,
    protected: ProtectedTerms,
    counts: TextCounts,
    /// All texts with a protected term, in the order of the file.
    texts: Arc<Vec<Vec<i32>>>,
    seeds: Vec<EncodedText>,
    seed_ids: Vec<Vec<i32>>,
    source_rows: Vec<u64>,
    encoder: Encoder,
}

impl PreparedTextAudit {
    /// Loads and checks everything that `options` name, for a search on `device`.
    ///
    /// # Errors
    /// See [`AuditError`].
    pub fn new(
        options: TextAuditOptions,
        device: &ComputeDevice,
    ) -> Result<PreparedTextAudit, AuditError> {
        PreparedTextAudit::of_rows(options, &|_| true, device)
    }

    /// The same for those of the texts whose positions `keep` takes, as if the file held no others.
    ///
    /// # Errors
    /// See [`AuditError`].
    pub fn of_rows(
        options: TextAuditOptions,
        keep: &dyn Fn(usize) -> bool,
        device: &ComputeDevice,
    ) -> Result<PreparedTextAudit, AuditError> {
        options.check()?;
        let model = TextModel::load(&options.model)?;
        expect_hash(
            &options.model.display().to_string(),
            model.sha256()?,
            &options.model_sha256,
        )?;
        expect_hash(
            &options.texts.display().to_string(),
            file_sha256(&options.texts)?,
            &options.texts_sha256,
        )?;
        let encoder = Encoder::open(options.encoder.as_deref())?;
        if let (Some(file), Some(then)) = (&options.encoder, &options.encoder_sha256) {
            expect_hash(&file.display().to_string(), file_sha256(file)?, then)?;
        }
        let (lexicon, sha256) = open_lexicon(options.lexicon.as_deref())?;
        expect_hash("the lexicon", sha256, &options.lexicon_sha256)?;
        let mut protected = ProtectedTerms::new(&lexicon, &options.protected, &model)?;
        let columns = TextColumns {
            text: options.text_column.clone(),
            label: None,
        };
        let corpus = read_texts(&options.texts, &columns)?;
        let encoded: Vec<EncodedText> = corpus
            .texts
            .par_iter()
            .map(|text| model.encode(text))
            .collect::<Result<_, _>>()?;
        let kept: Vec<usize> = (0..encoded.len()).filter(|&text| keep(text)).collect();
        let truncated = kept.iter().filter(|&&text| encoded[text].is_truncated);
        let counts_truncated = truncated.count() as u64;
        let has_term: Vec<usize> = kept
            .iter()
            .copied()
            .filter(|&text| protected.is_in(&encoded[text].ids))
            .collect();
        let counts = TextCounts {
            texts: kept.len() as u64,
            with_protected_term: has_term.len() as u64,
            without_protected_term: (kept.len() - has_term.len()) as u64,
            truncated: counts_truncated,
        };
        if has_term.is_empty() {
            return Err(AuditError::NoProtectedTerm {
                file: options.texts.clone(),
                texts: kept.len(),
                attributes: options.protected.join(", "),
            });
        }
        let texts: Arc<Vec<Vec<i32>>> = Arc::new(
            has_term
                .iter()
                .map(|&text| encoded[text].ids.clone())
                .collect(),
        );
        let table = mean_vectors(&model, &texts);
        let chosen = clustered_seeds(&table, options.clusters, options.seeds, options.seed);
        let number = |&seed: &u32| has_term[seed as usize];
        let seeds: Vec<EncodedText> = chosen.iter().map(|s| encoded[number(s)].clone()).collect();
        let source_rows = chosen.iter().map(|seed| number(seed) as u64 + 1).collect();
        let width = model.max_length + protected.terms().growth();
        let network = model.network(width, device)?;
        let domain = TextDomain::new(
            width,
            Arc::new(protected.terms().clone()),
            Arc::clone(&texts),
        )?;
        // The search tries the values first that move this model most.
        let probed: Vec<&EncodedText> = seeds.iter().take(PROBED_SEEDS).collect();
        let influence = influence(&network, &domain, &probed)?;
        protected.rank(&influence);
        let domain = TextDomain::new(
            width,
            Arc::new(protected.terms().clone()),
            Arc::clone(&texts),
        )?;
        let is_protected = |word| protected.has_word(word);
        let count = options.neighbours;
        let candidates = candidates(&model, &options.model, &is_protected, count, device)?;
        Ok(PreparedTextAudit {
            reference: (device.name() != DeviceName::Flex)
                .then(|| model.network(width, &ComputeDevice::flex()))
                .transpose()?,
            seed_ids: seeds.iter().map(|seed| seed.ids.clone()).collect(),
            options,
            model,
            network,
            domain,
            candidates,
            protected,
            counts,
            texts,
            seeds,
            source_rows,
            encoder,
        })
    }

    /// The options, resolved.
    pub fn options(&self) -> &TextAuditOptions {
        &self.options
    }

    /// Texts, and terms, that the audit cannot use.
    pub fn counts(&self) -> (&TextCounts, &TermCounts) {
        (&self.counts, self.protected.counts())
    }

    /// The seeds, unchecked.
    fn first_state(&self) -> SearchState<TextMemory> {
        let rows = self.seed_ids.iter().map(|text| self.domain.row(text));
        SearchState::new(rows, self.model.classes.len())
    }

    /// Gives the search that the options describe to `work`.
    fn with_search<R>(
        &self,
        judge: &Judge<'_>,
        work: impl FnOnce(&Search<'_, TextStrategy<'_>>) -> R,
    ) -> R {
        let options = &self.options;
        let calls = Calls::default();
        let network = Counted::new(&self.network, &calls);
        let strategy = TextStrategy {
            global: options.strategy,
            local: options.local_strategy,
            model: &network,
            domain: &self.domain,
            candidates: &self.candidates,
            vectors: Vectors {
                values: self.model.table.vectors(),
                dimension: self.model.dimension(),
            },
            objective: options.objective,
            limits: Limits {
                seeds: &self.seed_ids,
                max_changed: options.max_l0,
                min_similarity: options
                    .min_similarity
                    .map(|least| (least, judge as &dyn Similarity)),
            },
            seed: options.seed,
        };
        let search_options = SearchOptions {
            max_iter: options.max_iter,
            local: options.local,
            batch: options.batch,
            max_found: options.max_found,
            time: budget(options.time_seconds),
        };
        work(&Search {
            model: &network,
            reference: self
                .reference
                .as_ref()
                .map(|network| network as &dyn Classifier),
            domain: &self.domain,
            strategy: &strategy,
            calls: &calls,
            options: &search_options,
        })
    }

    /// The protected terms, and texts of the width that they may grow to.
    pub fn domain(&self) -> &TextDomain {
        &self.domain
    }

    /// Position in the file, from 1, of each seed's text.
    pub fn source_rows(&self) -> &[u64] {
        &self.source_rows
    }

    /// Searches without a run directory: how it ended, and the pairs that were found. `observe` may
    /// stop it.
    ///
    /// # Errors
    /// When the model cannot answer.
    pub fn search(
        &self,
        observe: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<(Ending, PairStore), AuditError> {
        let embed = |text: &str| self.encoder.embed(text);
        let has_encoder = self.options.encoder.is_some();
        let judge = Judge::new(&self.model, has_encoder.then_some(&embed as Embed<'_>));
        let mut state = self.first_state();
        let ending =
            self.with_search(&judge, |search| search.run(&mut state, &mut |_| observe()))?;
        Ok((ending, state.into_pairs()))
    }

    /// The share for each protected attribute alone and, if there are several, for all jointly; on
    /// the reference device, since a release may hang on it. And whether any of them was cut short.
    fn estimates(
        &self,
        observe: &mut dyn FnMut(AuditProgress<'_>) -> ControlFlow<()>,
    ) -> Result<(Vec<Estimate>, bool), AuditError> {
        let options = &self.options;
        let sets = estimated_sets(&options.protected);
        let order = permutation(
            options.seed,
            Purpose::UniformInput,
            0,
            self.texts.len() as u32,
        );
        let model = self.reference.as_ref().unwrap_or(&self.network);
        let mut domains = Vec::new();
        for names in sets {
            let terms = Arc::new(self.protected.only(&names));
            let inputs: Vec<Vec<i32>> = order
                .iter()
                .map(|&text| &self.texts[text as usize])
                .filter(|text| terms.can_vary(text))
                .take(usize::try_from(options.estimate).unwrap_or(usize::MAX))
                .cloned()
                .collect();
            let domain = TextDomain::new(self.domain.width(), terms, Arc::new(inputs))?;
            domains.push((names, domain));
        }
        let all = domains
            .iter()
            .map(|(_, domain)| domain.inputs() as u64)
            .sum();
        let (mut before, mut is_cut) = (0, false);
        let _ = observe(AuditProgress::Estimate { done: 0, all });
        let shares = domains
            .into_iter()
            .map(|(names, domain)| {
                let inputs = domain.inputs() as u64;
                let share = discriminatory_share(
                    model,
                    &domain,
                    names,
                    inputs,
                    options.seed,
                    &mut |done| {
                        observe(AuditProgress::Estimate {
                            done: before + done,
                            all,
                        })
                    },
                )?;
                before += inputs;
                is_cut |= share.sampled < inputs;
                Ok(share)
            })
            .collect::<Result<_, AuditError>>()?;
        Ok((shares, is_cut))
    }
}

/// The texts' mean word vectors as integers, for the clustering.
fn mean_vectors(model: &TextModel, texts: &[Vec<i32>]) -> Table {
    let dimension = model.dimension();
    let codes: Vec<i32> = texts
        .par_iter()
        .flat_map_iter(|text| {
            let mut sums = vec![0.0f32; dimension];
            for &id in text {
                let start = id as usize * dimension;
                let vector = &model.table.vectors()[start..start + dimension];
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

/// For each term, how much putting it in another's place moves the predicted class's lead in `texts`,
/// on average.
fn influence(
    network: &dyn Classifier,
    domain: &TextDomain,
    texts: &[&EncodedText],
) -> Result<Vec<f32>, AuditError> {
    let codes: Vec<i32> = texts
        .iter()
        .flat_map(|text| domain.row(&text.ids))
        .collect();
    let rows = Rows::new(&codes, domain.width());
    let mut sums = vec![(0.0f32, 0u32); domain.terms().all().len()];
    let classes = network.classes();
    for (row, check) in rows.iter().zip(check_all(network, domain, rows)?) {
        let label = check.checked.label as usize;
        let own = softmax_of(&check.checked.logits, label);
        for (variant, logits) in check.variant_logits.chunks_exact(classes).enumerate() {
            if let Some(replacement) = domain.replacement(row, variant) {
                let (sum, count) = &mut sums[replacement.by as usize];
                *sum += (softmax_of(logits, label) - own).abs();
                *count += 1;
            }
        }
    }
    Ok(sums
        .into_iter()
        .map(|(sum, count)| if count == 0 { 0.0 } else { sum / count as f32 })
        .collect())
}

fn softmax_of(logits: &[f32], class: usize) -> f32 {
    super::samples::softmax(logits)[class]
}

/// Runs the audit that was `prepared` in the directory `run`; see
/// [`crate::audit::audit`], whose contract is the same.
///
/// # Errors
/// See [`AuditError`].
pub fn audit_texts(
    prepared: &PreparedTextAudit,
    run: &RunDirectory,
    resume: bool,
    observe: &mut dyn FnMut(AuditProgress<'_>) -> ControlFlow<()>,
) -> Result<TextAuditSummary, AuditError> {
    let options = &prepared.options;
    let identity = options.identity();
    let saved = if resume {
        run.read_checkpoint(&identity)?
    } else {
        None
    };
    run.write_toml(RUN, options)?;
    let mut state = saved.unwrap_or_else(|| prepared.first_state());
    let embed = |text: &str| prepared.encoder.embed(text);
    let has_encoder = options.encoder.is_some();
    let judge = Judge::new(&prepared.model, has_encoder.then_some(&embed as Embed<'_>));
    let ending = prepared.with_search(&judge, |search| {
        run_search(search, &mut state, run, &identity, observe)
    })?;
    let (fairness, is_cut) = prepared.estimates(observe)?;
    let ending = keep_if_cut(ending, is_cut, run, &identity, &state)?;
    let _ = observe(AuditProgress::Write);
    let samples = TextSamples {
        model: &prepared.model,
        domain: &prepared.domain,
        seeds: &prepared.seeds,
        source_rows: &prepared.source_rows,
        attributes: &options.protected,
        judge: &judge,
    };
    let samples_file = options.samples_format.file_name();
    let mut validity = ValiditySummary {
        global: ValidityMeans::default(),
        local: ValidityMeans::default(),
    };
    let mut raw_discriminatory = 0;
    samples.write(
        &run.file(samples_file),
        options.samples_format,
        state.pairs(),
        &mut |pair, judged| {
            let is_global = pair.phase == Phase::Global;
            if is_global {
                validity.global.add(judged);
            } else {
                validity.local.add(judged);
            }
            let is_seed = text_of(pair.row) == prepared.seed_ids[pair.seed as usize];
            raw_discriminatory += u64::from(is_global && is_seed);
        },
    )?;
    let (global, local, total) = phases(&state);
    let summary = TextAuditSummary {
        schema_version: 1,
        command: options.command.clone(),
        probity_version: env!("CARGO_PKG_VERSION").to_owned(),
        ending,
        seed: options.seed,
        device: options.device,
        model_sha256: options.model_sha256.clone(),
        texts_sha256: options.texts_sha256.clone(),
        texts: prepared.counts.clone(),
        strategy: options.strategy,
        local_strategy: options.local_strategy,
        protected: options.protected.clone(),
        terms: prepared.protected.counts().clone(),
        raw_discriminatory,
        global,
        local,
        total,
        trace: trace(&state),
        validity,
        fail_above: BoundSummary::of(options.fail_above, &fairness),
        fairness,
        samples_file: samples_file.to_owned(),
    };
    run.write_summary(&summary)?;
    if !is_resumable(ending) {
        run.remove_checkpoint()?;
    }
    Ok(summary)
}
