//! A whole audit as one call: options → seeds → search → estimates → run directory.
//!
//! [`AuditOptions`] are what `run.toml` holds: everything resolved, so that a run can be replayed
//! from its directory alone. [`AuditSummary`] is `summary.json`; its keys are stable and documented
//! in docs/file-formats.md.

use std::ops::ControlFlow;

use serde::Serialize;

pub use super::audit_error::AuditError;
pub use super::audit_options::AuditOptions;
use super::calls::{Calls, Counted};
use super::case::{Case, positions};
use super::domain::TabularDomain;
use super::estimate::{Estimate, discriminatory_share, estimated_sets};
use super::samples::write_samples;
use super::search::{Ending, Search, SearchState, StateOf};
use super::session::{AuditProgress, is_resumable, keep_if_cut, run_search};
pub use super::strategies::StrategyName;
use super::strategies::themis::CausalDiscrimination;
use super::strategies::{Ingredients, WithStrategy, with_strategy};
use super::strategy::Strategy;
use super::subject::{ModelAccess, Subject};
use super::summary::{BoundSummary, GlobalSummary, LocalSummary, TotalSummary, phases, trace};
use super::trace::TraceSummary;
use probity_data::schema::Schema;
use probity_data::table::ReadCounts;
use probity_nn::Classifier;
use probity_nn::encoding::InputLayout;
use probity_predictor::source::{PredictorOptions, PredictorSource};
use probity_run::run_directory::{RUN, RunDirectory};
use probity_tensor::device::{ComputeDevice, DeviceName};

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
    /// The predictor, where one was audited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predictor: Option<PredictorSource>,
    /// SHA-256 of the model, or of what identifies the predictor.
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
    /// What was found after how many model calls.
    pub trace: TraceSummary,
    /// The score that the strategy `themis` ends with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub causal_discrimination: Option<CausalDiscrimination>,
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
    let calls = Calls::default();
    let mut go = |model: ModelAccess<'_>| {
        let options = &prepared.options;
        let ingredients = Ingredients {
            model,
            domain: &prepared.case.domain,
            objective: options.objective,
            step_global: options.step_global,
            step_local: options.step_local,
            tuning: &options.tuning,
            seed: options.seed,
        };
        let session = AuditSession {
            prepared,
            model: model.classifier(),
            calls: &calls,
            run,
            resume,
            observe,
        };
        with_strategy(options.strategy, &ingredients, session)?
    };
    match prepared.case.subject.access() {
        ModelAccess::Gradients(model) => go(ModelAccess::Gradients(&Counted::new(model, &calls))),
        ModelAccess::Outputs(model) => go(ModelAccess::Outputs(&Counted::new(model, &calls))),
    }
}

/// An audit that waits for its strategy.
struct AuditSession<'a> {
    prepared: &'a PreparedAudit,
    model: &'a dyn Classifier,
    calls: &'a Calls,
    run: &'a RunDirectory,
    resume: bool,
    observe: &'a mut dyn FnMut(AuditProgress<'_>) -> ControlFlow<()>,
}

impl WithStrategy for AuditSession<'_> {
    type Output = Result<AuditSummary, AuditError>;

    fn with<S: Strategy>(self, strategy: &S) -> Result<AuditSummary, AuditError> {
        let AuditSession {
            prepared,
            run,
            observe,
            ..
        } = self;
        let options = &prepared.options;
        let identity = options.identity();
        let saved = if self.resume {
            run.read_checkpoint(&identity)?
        } else {
            None
        };
        run.write_toml(RUN, options)?;
        let mut state: StateOf<S> = saved.unwrap_or_else(|| {
            let rows = strategy.own_seeds(options.seeds).unwrap_or_else(|| {
                let case = &prepared.case;
                case.data_seeds(options.clusters, options.seeds, options.seed)
            });
            SearchState::new(rows, self.model.classes())
        });
        let search = Search {
            model: self.model,
            reference: prepared.case.subject.reference(),
            domain: &prepared.case.domain,
            strategy,
            calls: self.calls,
            options: &options.search(),
        };
        let ending = run_search(&search, &mut state, run, &identity, observe)?;
        let fairness = prepared.estimates(observe)?;
        let is_cut = fairness
            .iter()
            .any(|share| share.sampled < options.estimate);
        let ending = keep_if_cut(ending, is_cut, run, &identity, &state)?;
        // What was found is worth having even if the caller wants to stop here.
        let _ = observe(AuditProgress::Write);
        let samples_file = options.samples_format.file_name();
        write_samples(
            &run.file(samples_file),
            options.samples_format,
            &prepared.case.schema,
            &prepared.case.domain,
            state.pairs(),
        )?;
        let counts = prepared.case.table.counts.clone();
        let score = strategy.causal_discrimination(state.learnt());
        let summary = summarise(options, ending, counts, &state, (score, fairness));
        run.write_summary(&summary)?;
        if !is_resumable(ending) {
            run.remove_checkpoint()?;
        }
        Ok(summary)
    }
}

/// What an audit needs, loaded and checked; nothing is written yet.
pub struct PreparedAudit {
    options: AuditOptions,
    case: Case,
}

impl PreparedAudit {
    /// Loads and checks everything that `options` name, for a search on `device`.
    ///
    /// # Errors
    /// See [`AuditError`].
    pub fn new(options: AuditOptions, device: &ComputeDevice) -> Result<PreparedAudit, AuditError> {
        options.check()?;
        let case = Case::load(
            &options.model,
            &options.model_sha256,
            options.case_data(),
            device,
        )?;
        case.expect_usable(options.strategy)?;
        Ok(PreparedAudit { options, case })
    }

    /// The same for any `subject` whose inputs are described by `schema`. `layout` says which
    /// attributes a search moves by steps (scaled) and which among levels.
    ///
    /// # Errors
    /// See [`AuditError`].
    pub fn of(
        options: AuditOptions,
        schema: Schema,
        layout: InputLayout,
        subject: Subject,
    ) -> Result<PreparedAudit, AuditError> {
        options.check()?;
        let case = Case::new(schema, layout, subject, options.case_data())?;
        case.expect_usable(options.strategy)?;
        Ok(PreparedAudit { options, case })
    }

    /// The same for the predictor that `options` name, which answers where it is. It is asked twice
    /// for some rows of the data: beside the audit, the largest difference
    /// between two of its answers to one row.
    ///
    /// # Errors
    /// See [`AuditError`].
    pub fn of_predictor(
        options: AuditOptions,
        predictor: &PredictorOptions,
        classifier: Box<dyn Classifier>,
    ) -> Result<(PreparedAudit, f32), AuditError> {
        options.check()?;
        let data = options.case_data();
        let (case, difference) =
            Case::of_predictor(predictor, &options.model_sha256, classifier, data)?;
        case.expect_usable(options.strategy)?;
        let prepared = PreparedAudit { options, case };
        Ok((prepared, difference))
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
        let sets = estimated_sets(&options.protected);
        let all = sets.len() as u64 * options.estimate;
        let _ = observe(AuditProgress::Estimate { done: 0, all });
        let model = self.case.subject.judge();
        (0..)
            .zip(sets)
            .map(|(number, names)| {
                let case = &self.case;
                let protected = positions(&case.schema, &names)?;
                let domain = TabularDomain::new(&case.schema, &case.layout, &protected)?;
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

pub(crate) fn expect_hash(what: &str, now: String, then: &str) -> Result<(), AuditError> {
    if now == then {
        return Ok(());
    }
    Err(AuditError::Changed {
        what: what.to_owned(),
        now,
        then: then.to_owned(),
    })
}

fn summarise<M: Clone + Default, L: Default>(
    options: &AuditOptions,
    ending: Ending,
    data: ReadCounts,
    state: &SearchState<M, L>,
    (causal_discrimination, fairness): (Option<CausalDiscrimination>, Vec<Estimate>),
) -> AuditSummary {
    let (global, local, total) = phases(state);
    AuditSummary {
        schema_version: 1,
        command: options.command.clone(),
        probity_version: env!("CARGO_PKG_VERSION").to_owned(),
        ending,
        seed: options.seed,
        device: options.device,
        predictor: options
            .predictor
            .as_ref()
            .map(|predictor| predictor.source.clone()),
        model_sha256: options.model_sha256.clone(),
        data_sha256: options.data_sha256.clone(),
        data,
        strategy: options.strategy,
        protected: options.protected.clone(),
        global,
        local,
        total,
        trace: trace(state),
        causal_discrimination,
        fail_above: BoundSummary::of(options.fail_above, &fairness),
        fairness,
        samples_file: options.samples_format.file_name().to_owned(),
    }
}
