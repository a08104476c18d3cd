//! A whole audit as one call: options → seeds → search → estimates → run directory.
//!
//! [`AuditOptions`] are what `run.toml` holds: everything resolved, so that a run can be replayed
//! from its directory alone. [`AuditSummary`] is `summary.json`; its keys are stable and documented
//! in docs/file-formats.md.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

use super::adf::{Adf, AdfMemory};
use super::domain::{DomainError, TabularDomain};
use super::estimate::{Estimate, discriminatory_share};
use super::search::{Ending, Search, SearchOptions, SearchState};
use super::seeds::clustered_seeds;
use super::session::{AuditProgress, is_resumable, run_search};
use super::summary::{BoundSummary, GlobalSummary, LocalSummary, TotalSummary, phases};
use crate::data::read::ReadError;
use crate::data::schema::{Attribute, Outside, SchemaError};
use crate::data::table::{Labels, ReadCounts, Table};
use crate::device::{ComputeDevice, DeviceName};
use crate::fairness::samples::{SamplesFormat, write_samples};
use crate::nn::fnn::Fnn;
use crate::nn::model::{Model, StoreError};
use crate::nn::text::TextNetworkError;
use crate::nn::{Classifier, ModelError, Objective, Rows};
use crate::report::run_directory::{RUN, RunDirectory, RunError, SUMMARY, file_sha256, hex};
use crate::text::corpus::CorpusError;
use crate::text::lexicon::LexiconError;
use crate::text::tokenizer::TokenizerError;

/// Why an audit cannot be done.
#[derive(Debug, Error)]
pub enum AuditError {
    /// The model cannot be loaded.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The data cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A protected attribute does not exist.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// The protected set cannot be searched.
    #[error(transparent)]
    Domain(#[from] DomainError),
    /// The model cannot answer.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The run directory cannot be used.
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
    /// The parts of a text model do not fit each other.
    #[error(transparent)]
    Network(#[from] TextNetworkError),
    /// A text cannot be split into words.
    #[error(transparent)]
    Tokenizer(#[from] TokenizerError),
    /// The lexicon cannot be used.
    #[error(transparent)]
    Lexicon(#[from] LexiconError),
    /// The texts cannot be read.
    #[error(transparent)]
    Corpus(#[from] CorpusError),
    /// The model has no vectors for most values of an attribute.
    #[error(
        "the model knows the words of {values} of the {known} values of '{attribute}', but two are needed to compare; \
         see probity lexicon check"
    )]
    TooFewValues {
        /// The attribute.
        attribute: String,
        /// Values with a known term.
        values: usize,
        /// Values in the lexicon.
        known: usize,
    },
    /// No text can be compared with anything.
    #[error(
        "none of the {texts} texts in {} holds a term of {attributes}; see probity lexicon check", file.display()
    )]
    NoProtectedTerm {
        /// The file.
        file: PathBuf,
        /// Texts in it.
        texts: usize,
        /// The protected attributes.
        attributes: String,
    },
    /// The one text given cannot be compared with anything.
    #[error(
        "the text holds no term of {attributes}, so there is nothing to compare it with; see probity lexicon show"
    )]
    NoTermInText {
        /// The protected attributes.
        attributes: String,
    },
    /// The model or the data are no longer what the run began with.
    #[error("{what} changed since the run began (SHA-256 {now}, was {then}); start a new run")]
    Changed {
        /// The model or the data file.
        what: String,
        /// Its hash now.
        now: String,
        /// Its hash at the start.
        then: String,
    },
}

/// Which search strategy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum StrategyName {
    /// Gradient-guided global and local search (ADF).
    #[default]
    Adf,
}

/// Everything that determines an audit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditOptions {
    /// Always `audit`.
    pub command: String,
    /// Version that began the run.
    pub probity_version: String,
    /// Model directory.
    pub model: PathBuf,
    /// SHA-256 of the model.
    pub model_sha256: String,
    /// Data file that the seeds come from.
    pub data: PathBuf,
    /// SHA-256 of the data file.
    pub data_sha256: String,
    /// Policy for missing and outside values, where it is not the schema's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside: Option<Outside>,
    /// Names of the protected attributes.
    pub protected: Vec<String>,
    /// Search strategy.
    pub strategy: StrategyName,
    /// What is differentiated.
    pub objective: Objective,
    /// Seeds of the global phase.
    pub seeds: usize,
    /// Clusters that the seeds come from.
    pub clusters: usize,
    /// Global moves a seed at most.
    pub max_iter: u32,
    /// Local trials a start.
    pub local: u32,
    /// Codes a global step moves.
    pub step_global: u32,
    /// Codes a local step moves.
    pub step_local: u32,
    /// Uniform inputs an estimate.
    pub estimate: u64,
    /// Search seconds at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_seconds: Option<f64>,
    /// Distinct individuals to find at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_found: Option<u64>,
    /// Bound on the discriminatory share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_above: Option<f64>,
    /// Walkers a chunk at most; no influence on the result.
    pub batch: usize,
    /// Form of the samples file.
    pub samples_format: SamplesFormat,
    /// Seed of everything random.
    pub seed: u64,
    /// Device that searched.
    pub device: DeviceName,
    /// What that device calls itself.
    pub hardware: String,
}

impl AuditOptions {
    /// Checks what the types cannot.
    ///
    /// # Errors
    /// [`AuditError::Option`] naming the first option out of range.
    pub fn check(&self) -> Result<(), AuditError> {
        let fail = |option, value: String, expected| {
            Err(AuditError::Option {
                option,
                value,
                expected,
            })
        };
        for (option, value) in [
            ("--seeds", self.seeds as u64),
            ("--clusters", self.clusters as u64),
            ("--step-global", u64::from(self.step_global)),
            ("--step-local", u64::from(self.step_local)),
            ("--estimate", self.estimate),
            ("--batch", self.batch as u64),
            ("--max-found", self.max_found.unwrap_or(1)),
        ] {
            if value == 0 {
                return fail(option, "0".into(), "at least 1");
            }
        }
        for (option, value) in [("--local", self.local), ("--max-iter", self.max_iter)] {
            if value >= 1 << 31 {
                return fail(option, value.to_string(), "below 2147483648");
            }
        }
        if self.estimate > 1_000_000_000 {
            return fail(
                "--estimate",
                self.estimate.to_string(),
                "at most 1,000,000,000",
            );
        }
        if let Some(seconds) = self.time_seconds
            && !(0.0..1e9).contains(&seconds)
        {
            return fail("--time", format!("{seconds} s"), "below 1,000,000,000 s");
        }
        if let Some(bound) = self.fail_above
            && !(0.0..=1.0).contains(&bound)
        {
            return fail("--fail-above", bound.to_string(), "a share from 0 to 1");
        }
        Ok(())
    }
}

impl AuditOptions {
    /// What a checkpoint must belong to: everything but the time budget.
    fn identity(&self) -> String {
        let lasting = AuditOptions {
            time_seconds: None,
            ..self.clone()
        };
        hex(&Sha256::digest(format!("{lasting:?}")))
    }
}

/// `summary.json` of an audit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AuditSummary {
    /// Version of this layout.
    pub schema_version: u32,
    /// Always `audit`.
    pub command: String,
    /// Version that ended the run.
    pub probity_version: String,
    /// How the search ended.
    pub ending: Ending,
    /// Seed of everything random.
    pub seed: u64,
    /// Device that searched.
    pub device: DeviceName,
    /// SHA-256 of the model.
    pub model_sha256: String,
    /// SHA-256 of the data file.
    pub data_sha256: String,
    /// What reading the data changed or left out.
    pub data: ReadCounts,
    /// Search strategy.
    pub strategy: StrategyName,
    /// Protected attributes.
    pub protected: Vec<String>,
    /// Global phase.
    pub global: GlobalSummary,
    /// Local phase.
    pub local: LocalSummary,
    /// Both phases.
    pub total: TotalSummary,
    /// Discriminatory share of uniform random inputs, per protected attribute and jointly.
    pub fairness: Vec<Estimate>,
    /// The declared bound, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_above: Option<BoundSummary>,
    /// Name of the samples file in the run directory.
    pub samples_file: String,
}

/// Runs the audit that was `prepared` in the directory `run`.
///
/// With `resume` the run's checkpoint, if there is one, is taken up; the result is that of an
/// uninterrupted run. `observe` sees every round and may stop the search; the run directory then
/// holds what was found, and the checkpoint.
///
/// # Errors
/// See [`AuditError`].
pub fn audit(
    prepared: &PreparedAudit,
    run: &RunDirectory,
    resume: bool,
    observe: &mut dyn FnMut(AuditProgress<'_>) -> ControlFlow<()>,
) -> Result<AuditSummary, AuditError> {
    let (options, table) = (&prepared.options, &prepared.table);
    let identity = options.identity();
    let saved = if resume {
        run.read_checkpoint(&identity)?
    } else {
        None
    };
    run.write_toml(RUN, options)?;
    let mut state: SearchState<AdfMemory> = match saved {
        Some(state) => state,
        None => {
            let seeds = clustered_seeds(table, options.clusters, options.seeds, options.seed);
            let rows = seeds.iter().map(|&row| table.row(row as usize).to_vec());
            SearchState::new(rows, prepared.fnn.classes())
        }
    };
    let strategy = Adf {
        model: &prepared.fnn,
        domain: &prepared.domain,
        objective: options.objective,
        step_global: options.step_global,
        step_local: options.step_local,
        seed: options.seed,
    };
    let search_options = SearchOptions {
        max_iter: options.max_iter,
        local: options.local,
        batch: options.batch,
        max_found: options.max_found,
        time: options
            .time_seconds
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
    };
    let search = Search {
        model: &prepared.fnn,
        reference: prepared
            .reference
            .as_ref()
            .map(|fnn| fnn as &dyn Classifier),
        domain: &prepared.domain,
        strategy: &strategy,
        options: &search_options,
    };
    let ending = run_search(&search, &mut state, run, &identity, observe)?;
    let fairness = prepared.estimates(observe)?;
    // What was found is worth having even if the caller wants to stop here.
    let _ = observe(AuditProgress::Write);
    let samples_file = options.samples_format.file_name();
    write_samples(
        &run.file(samples_file),
        options.samples_format,
        &prepared.model.schema,
        &prepared.domain,
        state.pairs(),
    )?;
    let summary = summarise(options, ending, table.counts.clone(), &state, fairness);
    run.write_json(SUMMARY, &summary)?;
    if !is_resumable(ending) {
        run.remove_checkpoint()?;
    }
    Ok(summary)
}

/// The model, the data and the domain of an audit, loaded and checked; nothing is written yet.
pub struct PreparedAudit {
    options: AuditOptions,
    model: Model,
    fnn: Fnn,
    reference: Option<Fnn>,
    table: Table,
    domain: TabularDomain,
}

impl PreparedAudit {
    /// Loads and checks everything that `options` name, for a search on `device`.
    ///
    /// # Errors
    /// See [`AuditError`].
    pub fn new(options: AuditOptions, device: &ComputeDevice) -> Result<PreparedAudit, AuditError> {
        options.check()?;
        let model = Model::load(&options.model)?;
        expect_hash(
            &options.model.display().to_string(),
            model.sha256(),
            &options.model_sha256,
        )?;
        expect_hash(
            &options.data.display().to_string(),
            file_sha256(&options.data)?,
            &options.data_sha256,
        )?;
        let protected = positions(&model, &options.protected)?;
        let domain = TabularDomain::new(&model.schema, &model.network.layout, &protected)?;
        let read_schema = match options.outside {
            Some(outside) => model.schema.clone().with_outside(outside),
            None => model.schema.clone(),
        };
        let grows = |(own, read): (&Attribute, &Attribute)| read.domain().1 > own.domain().1;
        if model
            .schema
            .attributes
            .iter()
            .zip(&read_schema.attributes)
            .any(grows)
        {
            return Err(AuditError::Option {
                option: "--outside",
                value: "level".into(),
                expected: "clip, skip or reject: this model was trained without such a level",
            });
        }
        let table = Table::read(&options.data, &read_schema, Labels::Optional)?;
        let fnn = Fnn::new(&model.network, device);
        // An output that is not finite is found now rather than after the run has begun.
        fnn.logits(Rows::new(table.row(0), table.width()))?;
        Ok(PreparedAudit {
            options,
            fnn,
            reference: (device.name() != DeviceName::Flex)
                .then(|| Fnn::new(&model.network, &ComputeDevice::flex())),
            model,
            table,
            domain,
        })
    }

    /// The options, resolved.
    pub fn options(&self) -> &AuditOptions {
        &self.options
    }

    /// The share for each protected attribute alone and, if there are several, for all jointly;
    /// on the reference device, since a release may hang on it.
    fn estimates(
        &self,
        observe: &mut dyn FnMut(AuditProgress<'_>) -> ControlFlow<()>,
    ) -> Result<Vec<Estimate>, AuditError> {
        let options = &self.options;
        let mut sets: Vec<Vec<String>> = options
            .protected
            .iter()
            .map(|name| vec![name.clone()])
            .collect();
        if options.protected.len() > 1 {
            sets.push(options.protected.clone());
        }
        let all = sets.len() as u64 * options.estimate;
        let _ = observe(AuditProgress::Estimate { done: 0, all });
        let model = self.reference.as_ref().unwrap_or(&self.fnn);
        (0..)
            .zip(sets)
            .map(|(number, names)| {
                let protected = positions(&self.model, &names)?;
                let layout = &self.model.network.layout;
                let domain = TabularDomain::new(&self.model.schema, layout, &protected)?;
                let before = number * options.estimate;
                let share = discriminatory_share(
                    model,
                    &domain,
                    names,
                    options.estimate,
                    options.seed,
                    &mut |done| {
                        let done = before + done;
                        observe(AuditProgress::Estimate { done, all })
                    },
                )?;
                Ok(share)
            })
            .collect()
    }
}

/// Positions of the attributes called `names`.
pub(in crate::fairness) fn positions(
    model: &Model,
    names: &[String],
) -> Result<Vec<usize>, SchemaError> {
    names
        .iter()
        .map(|name| model.schema.index_of(name))
        .collect()
}

pub(in crate::fairness) fn expect_hash(
    what: &str,
    now: String,
    then: &str,
) -> Result<(), AuditError> {
    if now == then {
        return Ok(());
    }
    Err(AuditError::Changed {
        what: what.to_owned(),
        now,
        then: then.to_owned(),
    })
}

fn summarise(
    options: &AuditOptions,
    ending: Ending,
    data: ReadCounts,
    state: &SearchState<AdfMemory>,
    fairness: Vec<Estimate>,
) -> AuditSummary {
    let (global, local, total) = phases(state);
    AuditSummary {
        schema_version: 1,
        command: options.command.clone(),
        probity_version: env!("CARGO_PKG_VERSION").to_owned(),
        ending,
        seed: options.seed,
        device: options.device,
        model_sha256: options.model_sha256.clone(),
        data_sha256: options.data_sha256.clone(),
        data,
        strategy: options.strategy,
        protected: options.protected.clone(),
        global,
        local,
        total,
        fail_above: BoundSummary::of(options.fail_above, &fairness),
        fairness,
        samples_file: options.samples_format.file_name().to_owned(),
    }
}
