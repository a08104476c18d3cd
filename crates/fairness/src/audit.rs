//! A whole audit as one call: specification → seeds → search → estimates → run directory.
//!
//! [`AuditSpecification`] is what `run.toml` holds: everything resolved, so that a run can be
//! replayed from its directory alone. [`AuditSummary`] is `summary.json`; its keys are stable and
//! documented in docs/file-formats.md.

use std::ops::ControlFlow;

use serde::Serialize;

pub use super::audit_error::AuditError;
use super::checkpoint::expect_fits;
use super::estimate::Estimate;
use super::finds::{Finds, FindsSummary, Watched};
use super::modality::{Method, Modality, ModalityName};
use super::pairs::{PairSource, PairStore};
use super::population::{Graded, PlausibilitySummary, PopulationSummary};
use super::rank::Rank;
use super::ranked::Ranked;
use super::record::{identity, record_of};
use super::samples::write_samples;
use super::search::{Ending, Search, SearchCounts, SearchState, StateOf};
use super::session::{AuditProgress, is_resumable, keep_if_cut, run_search};
use super::shares::{JointShares, Shares};
pub use super::specification::AuditSpecification;
pub use super::strategies::StrategyName;
use super::strategy::CausalDiscrimination;
use super::strategy::Strategy;
use super::summary::{BoundSummary, GlobalSummary, LocalSummary, TotalSummary, phases, trace};
use super::trace::TraceSummary;
use super::trial::{Begin, Trial, WithSearch};
use probity_nn::Rows;
use probity_nn::alike::DecidedAlike;
use probity_predictor::source::PredictorSource;
use probity_run::run_directory::RunDirectory;
use probity_run::specification::Checked;
use probity_run::specification::file::Record;
use probity_tensor::device::{ComputeDevice, DeviceName};

/// The content of `summary.json` of an audit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AuditSummary<D> {
    /// Version of this layout.
    pub schema_version: u32,
    /// Always `audit`.
    pub command: String,
    /// The kind of inputs that was audited: rows of a table, or texts.
    pub modality: ModalityName,
    /// Version that ended the run.
    pub probity_version: String,
    /// The reason why the search ended.
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
    /// Search strategy, of the global phase at least.
    pub strategy: StrategyName,
    /// Protected attributes.
    pub protected: Vec<String>,
    /// The way in which decisions are made, where not for the most probable class.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub decision: String,
    /// Decisions that the rule allows: the classes, `abstain` too, or `lower` and `higher`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<String>,
    /// Protected attributes that a predictor does not take: it has no input for them, or its answers
    /// are the same in all bits for all of their values in everything that was asked. Nothing can
    /// flip by them, whatever stands for them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_taken: Vec<String>,
    /// Details that only this modality has.
    #[serde(flatten)]
    pub details: D,
    /// The class that every input on which the model was tried gets, where all get the same one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decides_alike: Option<DecidedAlike>,
    /// Global phase.
    pub global: GlobalSummary,
    /// Local phase.
    pub local: LocalSummary,
    /// The figures of both phases together.
    pub total: TotalSummary,
    /// The course of the search: how much was found after how many model calls.
    pub trace: TraceSummary,
    /// The score that the strategy `themis` ends with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub causal_discrimination: Option<CausalDiscrimination>,
    /// Shares of the rows of a table whose decisions change; absent for texts, whose shares are of
    /// those given, and where the audit was stopped before it was known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub population: Option<PopulationSummary>,
    /// The plausibility of the pairs, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plausibility: Option<PlausibilitySummary>,
    /// Figures of the finds of the search as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finds: Option<FindsSummary>,
    /// Discriminatory share of uniform random inputs, or of the texts with a protected term, per
    /// protected attribute and jointly.
    pub fairness: Vec<Estimate>,
    /// The declared bound, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_above: Option<BoundSummary>,
    /// The rank that says which pairs come first in the samples file, where not those found first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<Rank>,
    /// Name of the samples file in the run directory.
    pub samples_file: String,
}

impl<D> AuditSummary<D> {
    /// The discriminatory share by all protected attributes jointly: of the rows of the data, where
    /// these were asked about, else of uniform random inputs; of texts, of those with a protected
    /// term. It is the first figure wherever an audit is shown.
    pub fn share(&self) -> Option<&Estimate> {
        self.joint().first()
    }

    /// The discriminatory share of uniform random inputs by all protected attributes jointly;
    /// `None` for texts, and where the audit was stopped before any was drawn.
    pub fn uniform(&self) -> Option<&Estimate> {
        self.joint().drawn()
    }

    fn joint(&self) -> JointShares<'_> {
        JointShares::new(self.modality, self.population.as_ref(), &self.fairness)
    }
}

/// Number of inputs, of the data and at random, on which a model is tried for treating all alike.
const TRIED: usize = 10_000;

/// An audit whose inputs are opened and checked; nothing is written yet.
pub struct Audit<M> {
    specification: AuditSpecification,
    record: Record,
    device: DeviceName,
    case: M,
}

/// The results of the search and of the estimates of an audit.
pub(super) struct Finished<'a> {
    pub(super) ending: Ending,
    pub(super) counts: &'a SearchCounts<'a>,
    pub(super) shares: Shares,
    pub(super) score: Option<CausalDiscrimination>,
}

/// A function that is told where an audit stands, and may stop it.
pub type Observe<'a> = dyn FnMut(AuditProgress<'_>) -> ControlFlow<()> + 'a;

impl<M: Modality> Audit<M> {
    /// Opens and checks everything that `specification` names, for a search on `device`.
    ///
    /// # Errors
    /// See [`AuditError`].
    pub fn open(
        specification: Checked<AuditSpecification>,
        device: &ComputeDevice,
    ) -> Result<Audit<M>, AuditError> {
        let case = M::open(&specification, device)?;
        Audit::from_case(specification, case, device)
    }

    /// The audit of a `case` that is opened already.
    ///
    /// # Errors
    /// When the specification, or its strategy, does not fit the case.
    pub fn from_case(
        specification: Checked<AuditSpecification>,
        case: M,
        device: &ComputeDevice,
    ) -> Result<Audit<M>, AuditError> {
        let strategy = specification.strategy();
        strategy.expect_fitting("strategy", M::NAME)?;
        strategy.expect_usable("strategy", case.model().access())?;
        Ok(Audit {
            specification: specification
                .into_inner()
                .resolved(case.protected(), (case.favourable(), case.classes())),
            record: record_of(device, case.sha256()),
            device: device.name(),
            case,
        })
    }

    /// The specification, resolved.
    pub fn specification(&self) -> &AuditSpecification {
        &self.specification
    }

    /// The record of what was opened, and on which device.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The model under test and its inputs.
    pub fn case(&self) -> &M {
        &self.case
    }

    /// The model under test and its inputs, by value.
    pub fn into_case(self) -> M {
        self.case
    }

    /// The search of this audit.
    pub(super) fn trial(&self) -> Trial<'_, M> {
        let specification = &self.specification;
        let search = &specification.search;
        Trial {
            case: &self.case,
            method: Method {
                strategy: specification.strategy(),
                search,
                tuning: &specification.tuning,
                text: &specification.text,
                rank: specification.rank,
                seed: specification.seed,
            },
            begin: Begin::Seeds {
                clusters: search.clusters,
                count: search.seeds,
            },
            options: search.within(&specification.budget),
        }
    }

    /// Searches without a run directory: how it ended, and the pairs that were found. `observe` may
    /// stop it.
    ///
    /// # Errors
    /// When the model cannot answer.
    pub fn search(&self, observe: &mut Observe<'_>) -> Result<(Ending, PairStore), AuditError> {
        let outcome = self.trial().run(observe)?;
        Ok((outcome.figures.ending, outcome.pairs))
    }

    /// Runs the audit in the directory `run`.
    ///
    /// With `resume` the run's checkpoint, if there is one, is taken up; the result is that of an
    /// uninterrupted run. `observe` sees every round and may stop the search; the run directory
    /// then holds what was found, and the checkpoint.
    ///
    /// # Errors
    /// See [`AuditError`].
    pub fn run(
        &self,
        run: &RunDirectory,
        resume: bool,
        observe: &mut Observe<'_>,
    ) -> Result<AuditSummary<M::Details>, AuditError> {
        let trial = self.trial();
        trial.with_search(Session {
            audit: self,
            trial: &trial,
            run,
            resume,
            observe,
        })?
    }

    /// The class that the model gives to everything, where nothing was `found`: the reason may be
    /// that it tells no inputs apart.
    fn decides_alike(&self, found: u64) -> Result<Option<DecidedAlike>, AuditError> {
        if found > 0 {
            return Ok(None);
        }
        let model = self.case.model().judge();
        let rows = self.case.probes(TRIED, self.specification.seed).concat();
        let rows = Rows::new(&rows, model.width());
        Ok(DecidedAlike::detect(model, self.case.classes(), rows)?)
    }

    /// The protected attributes that a predictor does not take, as far as the `shares` say, and the
    /// `found` individuals.
    fn not_taken(&self, shares: &Shares, found: u64) -> Vec<String> {
        let (protected, no_inputs) = (&self.specification.protected, self.case.no_inputs());
        let mut without: Vec<&String> = match self.specification.predictor.source {
            // A network of ours takes all of its inputs.
            None => Vec::new(),
            Some(_) => {
                let people = shares.population.iter();
                people.flat_map(|of| &of.without_effect).collect()
            }
        };
        for flipped in shares.uniform.iter().filter(|of| of.discriminatory > 0) {
            if let [only] = flipped.protected.as_slice() {
                without.retain(|name| *name != only);
            }
        }
        // What flips by all jointly does so by something.
        let joint = shares
            .uniform
            .last()
            .map_or(0, |joint| joint.discriminatory);
        if found + joint > 0 && without.len() == protected.len() {
            without.clear();
        }
        let is_not_taken = |name: &&String| no_inputs.contains(name) || without.contains(name);
        protected.iter().filter(is_not_taken).cloned().collect()
    }

    /// Writes the results of a `finished` search of this audit, with `pairs`, to the directory
    /// `run`.
    pub(super) fn write(
        &self,
        run: &RunDirectory,
        finished: Finished<'_>,
        pairs: &dyn PairSource,
        observe: &mut Observe<'_>,
    ) -> Result<AuditSummary<M::Details>, AuditError> {
        let specification = &self.specification;
        let shares = &finished.shares;
        let of_rows = shares.population.iter().flat_map(|of| &of.shares);
        let shares = of_rows
            .chain(&shares.uniform)
            .chain(&shares.fitted)
            .map(|share| share.discriminatory);
        let found = finished.counts.individuals.discriminatory() + shares.sum::<u64>();
        let decides_alike = self.decides_alike(found)?;
        // What was found is worth having even if the caller wants to stop here.
        let _ = observe(AuditProgress::Write);
        let format = specification.samples_format;
        run.expect_in_place()?;
        let file = run.file(format.file_name());
        let least = specification.population.min_plausibility;
        let counts = finished.counts;
        let finds = Finds::new(&self.case, specification.seed, counts.global.starts)
            .bounded(counts.individuals.discriminatory());
        let watched = Watched::new(pairs, finds);
        let graded = Graded::new(&self.case, &watched, least);
        let ranked = Ranked::new(&self.case, specification.rank, &graded);
        let tally = write_samples(&file, format, &self.case, &ranked)?;
        let plausibility = graded.summary(finished.shares.fitted.clone());
        let exchanges = finished.shares.exchanges.as_ref();
        let details = self.case.details(specification, tally, exchanges);
        let summary = AuditSummary {
            plausibility,
            finds: Some(watched.summary()?),
            ..self.summary(finished, details, decides_alike)
        };
        run.write_summary(&summary)?;
        Ok(summary)
    }

    fn summary(
        &self,
        finished: Finished<'_>,
        details: M::Details,
        decides_alike: Option<DecidedAlike>,
    ) -> AuditSummary<M::Details> {
        let specification = &self.specification;
        let Finished {
            ending,
            counts,
            shares,
            score,
        } = finished;
        let (global, local, total) = phases(counts);
        let on = specification.bound_on();
        let joint = JointShares::new(M::NAME, shares.population.as_ref(), &shares.uniform);
        let not_taken = self.not_taken(&shares, counts.individuals.discriminatory());
        let takes_none = !not_taken.is_empty() && not_taken.len() == specification.protected.len();
        let is_blind = takes_none && !specification.blind_ok;
        let bound = specification.fail_above;
        let fail_above = bound.map(|bound| BoundSummary::new(bound, on, joint.on(on), is_blind));
        AuditSummary {
            schema_version: 1,
            command: "audit".to_owned(),
            modality: M::NAME,
            probity_version: env!("CARGO_PKG_VERSION").to_owned(),
            ending,
            seed: specification.seed,
            device: self.device,
            predictor: specification.predictor.source.clone(),
            model_sha256: self.record.sha256_of("model").to_owned(),
            strategy: specification.strategy(),
            protected: specification.protected.clone(),
            not_taken,
            details,
            decides_alike,
            decision: specification.deciding().to_string(),
            decisions: match specification.deciding().is_usual() {
                true => Vec::new(),
                false => self.case.classes().to_vec(),
            },
            global,
            local,
            total,
            trace: trace(counts),
            causal_discrimination: score,
            fail_above,
            population: shares.population,
            plausibility: None,
            finds: None,
            fairness: shares.uniform,
            rank: specification.rank,
            samples_file: specification.samples_format.file_name().to_owned(),
        }
    }
}

/// Runs the search of an audit in its run directory.
struct Session<'a, 'o, M> {
    audit: &'a Audit<M>,
    trial: &'a Trial<'a, M>,
    run: &'a RunDirectory,
    resume: bool,
    observe: &'a mut Observe<'o>,
}

impl<M: Modality> WithSearch for Session<'_, '_, M> {
    type Output = Result<AuditSummary<M::Details>, AuditError>;

    fn with<S: Strategy>(self, search: &Search<'_, S>) -> Self::Output {
        let Session {
            audit,
            trial,
            run,
            observe,
            ..
        } = self;
        let specification = &audit.specification;
        let identity = identity(specification, &audit.record);
        let saved = match self.resume {
            true => run.read_checkpoint(&identity, |state| {
                let is_reached = |seed, row: &[i32]| trial.case.is_reached(seed, row);
                expect_fits(state, search, run.path(), is_reached)
            })?,
            false => None,
        };
        if saved.is_none() {
            run.remove_spilled()?;
        }
        run.write_run(specification, &audit.record)?;
        let mut state: StateOf<S> = saved.unwrap_or_else(|| {
            SearchState::new(trial.seeds(search.strategy), search.model.classes())
        });
        state.spill_to(run.path().to_owned(), specification.memory());
        let ending = run_search(search, &mut state, run, &identity, observe)?;
        let shares = audit.estimates(observe)?;
        let ending = keep_if_cut(ending, shares.is_cut, run, &identity, &state)?;
        let finished = Finished {
            ending,
            counts: &state.counts(),
            shares,
            score: search.strategy.causal_discrimination(state.learnt()),
        };
        let summary = audit.write(run, finished, state.found(), observe)?;
        if !is_resumable(ending) {
            run.remove_checkpoint()?;
        }
        Ok(summary)
    }
}
