//! A whole repair of a text classifier as one call.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;
use thiserror::Error;

use super::options::TextRepairOptions;
use super::retrain::{Retraining, Sample, draw};
use super::summary::{RepairedText, TextRepairSummary};
use crate::device::ComputeDevice;
use crate::fairness::audit::{AuditError, expect_hash};
use crate::fairness::certify::exhaustive;
use crate::fairness::certify::run::Share;
use crate::fairness::certify::text::certify_texts;
use crate::fairness::domain::Domain;
use crate::fairness::repair::options::RepairMethod;
use crate::fairness::samples::SamplesFormat;
use crate::fairness::search::Ending;
use crate::fairness::text::audit::PreparedTextAudit;
use crate::fairness::text::domain::{TextDomain, text_of};
use crate::fairness::text::options::TextAuditOptions;
use crate::fairness::text::protected::{ProtectedTerms, open_lexicon};
use crate::nn::recurrent::kernels::EmbeddingTable;
use crate::nn::recurrent::network::RecurrentWeights;
use crate::nn::text::{TextNetwork, TextNetworkError};
use crate::nn::text_model::TextModel;
use crate::nn::text_train::TrainedText;
use crate::nn::text_training_run::{TextSet, TextTrainingError};
use crate::nn::train::{Split, TrainError};
use crate::nn::{Classifier, ModelError, Rows, predicted_class};
use crate::report::run_directory::{RUN, RunDirectory, RunError};
use crate::text::embeddings::EmbeddingError;

/// Samples that were not drawn, on which the saved network is chosen.
const EVIDENCE: usize = 5000;

/// Why a text classifier cannot be repaired.
#[derive(Debug, Error)]
pub enum TextRepairError {
    /// Model, texts or protected terms cannot be used.
    #[error(transparent)]
    Audit(Box<AuditError>),
    /// The training that made the model cannot be repeated.
    #[error(transparent)]
    Training(#[from] TextTrainingError),
    /// A network cannot be trained.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// A model cannot answer.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A network does not fit its vectors.
    #[error(transparent)]
    Network(#[from] TextNetworkError),
    /// The word vectors do not fit.
    #[error(transparent)]
    Embeddings(#[from] EmbeddingError),
    /// The directory cannot be used.
    #[error(transparent)]
    Run(#[from] RunError),
    /// An option has no meaning.
    #[error("{option} is {value}, but must be {expected}")]
    Option {
        /// Its name on the command line.
        option: &'static str,
        /// What was given.
        value: String,
        /// What is allowed.
        expected: &'static str,
    },
    /// The model is not what its training gives.
    #[error(
        "the vocabulary of {} is not that of the training in its run.toml; repair a model as probity train wrote it",
        model.display()
    )]
    OtherVocabulary {
        /// The model.
        model: PathBuf,
    },
    /// There is nothing to learn from or to measure on.
    #[error(
        "the search finds no discriminatory text from the {part} texts; give it more --seeds, or there is nothing to repair"
    )]
    NothingFound {
        /// Which part.
        part: &'static str,
    },
    /// A part that is needed is empty.
    #[error("the model was trained without a {part} part, which a repair needs")]
    NoPart {
        /// Which part.
        part: &'static str,
    },
    /// It was stopped before a network was complete.
    #[error("stopped before a repaired network was complete")]
    Stopped,
}

impl From<AuditError> for TextRepairError {
    fn from(error: AuditError) -> TextRepairError {
        TextRepairError::Audit(Box::new(error))
    }
}

/// What a repair is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextRepairProgress {
    /// It searches.
    Search,
    /// It trains: epochs done, of all.
    Train(u64, u64),
}

/// Told what goes on; may stop it.
pub type ObserveRepair<'a> = dyn FnMut(TextRepairProgress) -> ControlFlow<()> + 'a;

/// Texts and model, loaded and checked; nothing is written yet.
pub struct PreparedTextRepair {
    options: TextRepairOptions,
    model: TextModel,
    set: TextSet,
    split: Split,
    protected: ProtectedTerms,
}

impl PreparedTextRepair {
    /// Loads and checks what `options` name.
    ///
    /// # Errors
    /// See [`TextRepairError`].
    pub fn new(options: TextRepairOptions) -> Result<PreparedTextRepair, TextRepairError> {
        options.check()?;
        let model = TextModel::load(&options.model).map_err(AuditError::from)?;
        let now = model.sha256().map_err(AuditError::from)?;
        expect_hash(
            &options.model.display().to_string(),
            now,
            &options.model_sha256,
        )?;
        let (lexicon, sha256) =
            open_lexicon(options.lexicon.as_deref()).map_err(AuditError::from)?;
        expect_hash("the lexicon", sha256, &options.lexicon_sha256)?;
        let protected = ProtectedTerms::new(&lexicon, &options.protected, &model)?;
        let set = TextSet::read(&options.training)?;
        let is_own = model.recurrent.shape.inputs == set.table().dimension
            && model.table.vectors().len() == set.table().values.len();
        if !is_own {
            return Err(TextRepairError::OtherVocabulary {
                model: options.model.clone(),
            });
        }
        let split = Split::new(
            set.labelled().texts.len(),
            &options.training.options.learning(),
        );
        for (rows, part) in [(&split.validation, "validation"), (&split.test, "test")] {
            if rows.is_empty() {
                return Err(TextRepairError::NoPart { part });
            }
        }
        Ok(PreparedTextRepair {
            options,
            model,
            set,
            split,
            protected,
        })
    }

    /// The options, resolved.
    pub fn options(&self) -> &TextRepairOptions {
        &self.options
    }

    /// What the search finds in the model from the texts of `part`: both sides of each pair, and the
    /// class of the text that it was found from. `None` when stopped.
    #[allow(clippy::type_complexity)] // used once, and named nowhere else
    fn found(
        &self,
        part: &[u32],
        name: &'static str,
        observe: &mut ObserveRepair<'_>,
    ) -> Result<Option<Vec<([Vec<i32>; 2], u32)>>, TextRepairError> {
        let mut is_kept = vec![false; self.set.labelled().texts.len()];
        for &text in part {
            is_kept[text as usize] = true;
        }
        let device = ComputeDevice::flex();
        let prepared = PreparedTextAudit::of_rows(
            self.search_options(&device),
            &|text| is_kept[text],
            &device,
        )?;
        let (ending, pairs) = prepared.search(&mut || observe(TextRepairProgress::Search))?;
        if ending == Ending::Interrupted {
            return Ok(None);
        }
        if pairs.is_empty() {
            return Err(TextRepairError::NothingFound { part: name });
        }
        let domain = prepared.domain();
        let found = pairs.iter().map(|pair| {
            let mut other = Vec::with_capacity(domain.width());
            domain.write_variant(pair.row, pair.variant as usize, &mut other);
            let row = prepared.source_rows()[pair.seed as usize] - 1;
            let truth = self.set.labelled().labels[row as usize];
            (
                [text_of(pair.row).to_vec(), text_of(&other).to_vec()],
                truth,
            )
        });
        Ok(Some(found.collect()))
    }

    fn search_options(&self, device: &ComputeDevice) -> TextAuditOptions {
        let options = &self.options;
        TextAuditOptions {
            command: "audit".to_owned(),
            probity_version: options.probity_version.clone(),
            model: options.model.clone(),
            model_sha256: options.model_sha256.clone(),
            texts: options.training.texts.clone(),
            texts_sha256: options.texts_sha256.clone(),
            text_column: options.training.text_column.clone(),
            lexicon: options.lexicon.clone(),
            lexicon_sha256: options.lexicon_sha256.clone(),
            encoder: None,
            encoder_sha256: None,
            protected: options.protected.clone(),
            strategy: options.strategy,
            local_strategy: options.strategy,
            objective: options.objective,
            neighbours: 10,
            seeds: options.seeds,
            clusters: 4,
            max_iter: options.max_iter,
            local: options.local,
            max_l0: None,
            min_similarity: None,
            estimate: 1,
            time_seconds: None,
            max_found: Some(options.max_found),
            fail_above: None,
            batch: 4096,
            samples_format: SamplesFormat::Parquet,
            seed: options.seed,
            device: device.name(),
            hardware: device.hardware(),
        }
    }

    fn domain(&self) -> Result<TextDomain, AuditError> {
        let width = self.model.max_length + self.protected.terms().growth();
        let terms = Arc::new(self.protected.terms().clone());
        Ok(TextDomain::new(width, terms, Arc::default())?)
    }

    /// One label for all substitutions of each sample.
    fn labelled(
        &self,
        network: &TextNetwork,
        domain: &TextDomain,
        found: Vec<([Vec<i32>; 2], u32)>,
    ) -> Result<Vec<Sample>, TextRepairError> {
        let classes = network.classes();
        let label = |(texts, truth): ([Vec<i32>; 2], u32)| {
            let row = domain.row(&texts[0]);
            let mut codes = Vec::new();
            for variant in 0..domain.variants(&row) {
                domain.write_variant(&row, variant, &mut codes);
            }
            let logits = network.logits(Rows::new(&codes, domain.width()))?;
            let mut votes = vec![0usize; classes];
            for logits in logits.chunks_exact(classes) {
                votes[predicted_class(logits) as usize] += 1;
            }
            let most = votes.iter().copied().max().unwrap_or(0);
            let label = if votes[truth as usize] == most {
                truth
            } else {
                votes.iter().position(|&votes| votes == most).unwrap_or(0) as u32
            };
            Ok(Sample { texts, label })
        };
        let samples: Result<Vec<Sample>, ModelError> = found.into_par_iter().map(label).collect();
        Ok(samples?)
    }
}

/// What networks are measured on.
struct Measure<'a> {
    prepared: &'a PreparedTextRepair,
    domain: TextDomain,
    /// The independent set, as rows.
    independent: Vec<i32>,
    /// Test texts with a protected term.
    texts: Vec<Vec<i32>>,
}

impl Measure<'_> {
    fn network(
        &self,
        weights: &RecurrentWeights,
        vectors: &[f32],
    ) -> Result<TextNetwork, TextNetworkError> {
        let width = self.domain.width();
        TextNetwork::new(
            weights.clone(),
            vectors.to_vec(),
            width,
            &ComputeDevice::flex(),
        )
    }

    /// How many of `rows` are not discriminatory.
    fn fair(&self, network: &TextNetwork, rows: &[i32]) -> Result<Share, ModelError> {
        let rows = Rows::new(rows, self.domain.width());
        let fair = exhaustive(network, &self.domain, rows)?;
        let count = fair.iter().filter(|fair| **fair).count();
        Ok(Share::new(count as u64, rows.len() as u64))
    }

    fn measure(
        &self,
        weights: &RecurrentWeights,
        vectors: &[f32],
        (seed, samples): (u64, usize),
    ) -> Result<RepairedText, TextRepairError> {
        let network = self.network(weights, vectors)?;
        let prepared = self.prepared;
        let table = EmbeddingTable {
            values: vectors,
            dimension: weights.shape.inputs,
        };
        let terms = prepared.protected.terms();
        let splits = prepared.options.splits;
        let certificates = certify_texts(weights, table, terms, &self.texts, splits);
        let certified = certificates.iter().filter(|c| c.holds()).count();
        let codes: Vec<i32> = self
            .texts
            .iter()
            .flat_map(|text| self.domain.row(text))
            .collect();
        let accuracy = |items: &[u32]| {
            let length = prepared.model.max_length;
            let quality = prepared.set.quality(weights, vectors, items, length);
            quality.map_or(0.0, |quality| quality.accuracy)
        };
        Ok(RepairedText {
            seed,
            samples: samples as u64,
            validation_accuracy: accuracy(&prepared.split.validation),
            accuracy: accuracy(&prepared.split.test),
            repaired: self.fair(&network, &self.independent)?,
            certified: Share::new(certified as u64, self.texts.len() as u64),
            fair: self.fair(&network, &codes)?,
        })
    }
}

/// A network with the remedy.
struct Candidate {
    trained: TrainedText,
    figures: RepairedText,
    /// Share of the samples that it did not learn from which it treats fairly.
    evidence: f64,
}

/// Repairs the model as `prepared` and saves a repaired network as a model in `directory`. When
/// `observe` stops it, one of the networks that are complete by then is saved.
///
/// # Errors
/// See [`TextRepairError`].
pub fn repair_texts(
    prepared: &PreparedTextRepair,
    directory: &RunDirectory,
    observe: &mut ObserveRepair<'_>,
) -> Result<TextRepairSummary, TextRepairError> {
    let started = Instant::now();
    let options = &prepared.options;
    let (model, split) = (&prepared.model, &prepared.split);
    let Some(found) = prepared.found(&split.train, "training", observe)? else {
        return Err(TextRepairError::Stopped);
    };
    let Some(independent) = prepared.found(&split.test, "test", observe)? else {
        return Err(TextRepairError::Stopped);
    };
    let domain = prepared.domain()?;
    let own = model.network(domain.width(), &ComputeDevice::flex())?;
    let samples = prepared.labelled(&own, &domain, found)?;
    let terms = prepared.protected.terms();
    let max_length = model.max_length;
    let read = |&text: &u32| {
        let text = &prepared.set.labelled().texts[text as usize];
        text[..text.len().min(max_length)].to_vec()
    };
    let measure = Measure {
        prepared,
        independent: independent
            .iter()
            .flat_map(|(texts, _)| domain.row(&texts[0]))
            .collect(),
        texts: split
            .test
            .iter()
            .map(read)
            .filter(|text| terms.can_vary(text))
            .collect(),
        domain,
    };
    let before = measure.measure(
        &model.recurrent,
        model.table.vectors(),
        (options.training.options.seed, 0),
    )?;
    directory.write_toml(RUN, options)?;
    let retraining = Retraining {
        set: &prepared.set,
        split,
        options: &options.training.options,
        terms,
        course: options.course,
    };
    let epochs = u64::from(options.training.options.epochs);
    let all = 2 * u64::from(options.repeats) * epochs;
    let mut done = 0;
    let mut control = Vec::new();
    let mut candidates: Vec<Candidate> = Vec::new();
    let mut finished = true;
    // Remedy and control in turn, so that a stopped run has some of both.
    'repeats: for repeat in 0..u64::from(options.repeats) {
        let seed = options.seed + 1 + repeat;
        let drawn = draw(&samples, options.share, options.seed, repeat);
        for remedy in [Some(options.method), None] {
            let used: &[&Sample] = match remedy {
                Some(RepairMethod::Samples) => &drawn,
                _ => &[],
            };
            let trained = retraining.train(remedy, used, seed, &mut || {
                done += 1;
                observe(TextRepairProgress::Train(done, all))
            })?;
            if !trained.finished {
                finished = false;
                break 'repeats;
            }
            let vectors = trained
                .embeddings
                .as_deref()
                .unwrap_or(prepared.set.table().values);
            let figures = measure.measure(&trained.weights, vectors, (seed, used.len()))?;
            if remedy.is_none() {
                control.push(figures);
                continue;
            }
            let others = samples.iter().filter(|sample| !drawn.contains(sample));
            let rows: Vec<i32> = others
                .take(EVIDENCE)
                .flat_map(|sample| measure.domain.row(&sample.texts[0]))
                .collect();
            let network = measure.network(&trained.weights, vectors)?;
            let evidence = measure.fair(&network, &rows)?.share;
            candidates.push(Candidate {
                trained,
                figures,
                evidence,
            });
        }
    }
    let least = before.validation_accuracy - options.max_accuracy_loss;
    let Some(chosen) = choose(&candidates, least) else {
        return Err(TextRepairError::Stopped);
    };
    let within = candidates[chosen].figures.validation_accuracy >= least;
    let saved = prepared
        .set
        .model(&candidates[chosen].trained, &split.train, max_length)?;
    saved.save(directory.path()).map_err(AuditError::from)?;
    let summary = TextRepairSummary {
        schema_version: 1,
        command: options.command.clone(),
        probity_version: env!("CARGO_PKG_VERSION").to_owned(),
        method: options.method,
        protected: options.protected.clone(),
        model_sha256: options.model_sha256.clone(),
        repaired_sha256: saved.sha256().map_err(AuditError::from)?,
        finished,
        found: samples.len() as u64,
        independent: independent.len() as u64,
        test_texts: measure.texts.len() as u64,
        before,
        control,
        repaired: candidates
            .into_iter()
            .map(|candidate| candidate.figures)
            .collect(),
        chosen,
        within,
        seconds: started.elapsed().as_secs_f64(),
    };
    directory.write_summary(&summary)?;
    Ok(summary)
}

/// The network that treats most samples it did not learn from fairly, among those that are accurate
/// enough on the validation texts; else the most accurate one. No test text takes part.
fn choose(candidates: &[Candidate], least: f64) -> Option<usize> {
    let accuracy = |place: usize| candidates[place].figures.validation_accuracy;
    let places = || 0..candidates.len();
    let enough = places().filter(|&place| accuracy(place) >= least);
    let fairest =
        |a: &usize, b: &usize| candidates[*a].evidence.total_cmp(&candidates[*b].evidence);
    // Of equals the first.
    enough.rev().max_by(fairest).or_else(|| {
        places()
            .rev()
            .max_by(|&a, &b| accuracy(a).total_cmp(&accuracy(b)))
    })
}
