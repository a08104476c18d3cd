//! A whole proof as one call: specification → network → partition → run directory.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::boxes::{BOXES, BoxColumns, UNDECIDED};
use super::decide::Decider;
use super::draw::{Drawn, Points};
use super::measure::{Measure, WHOLE};
use super::network::SumNetwork;
use super::partition::{Partition, Region};
use super::population::{Fitted, PopulationDetails, open_population};
pub use super::specification::ProveSpecification;
use super::summary::{
    EstimateWithin, Moment, ProofEnding, ProveSummary, ProvedBound, Words, bounds, proved_share,
    share, verdict,
};
use super::within::codes_within;
use crate::audit_error::AuditError;
use crate::domain::{Domain, TabularDomain};
use crate::estimate::Verdict;
use crate::modality::TableColumns;
use crate::opened::{open_model, open_table, positions, protected_or_marked};
use crate::pairs::{Pair, PairStore, Phase};
use crate::record::{identity, record_of};
use crate::samples::{SamplesFormat, write_columns};
use crate::statistics::clopper_pearson;
use crate::table_model::reading_schema;
use probity_data::table::{Labels, ReadCounts};
use probity_nn::ModelError;
use probity_nn::fnn::Fnn;
use probity_nn::modality::ModalityName;
use probity_nn::model::Model;
use probity_run::pause::{self, Point};
use probity_run::place::{Place, PlaceError};
use probity_run::run_directory::{RunDirectory, RunError};
use probity_run::specification::file::{Changed, Record, SpecificationError};
use probity_run::specification::{Checked, FieldError, Seconds};
use probity_tensor::device::ComputeDevice;

/// The time after which a running proof is saved again.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(60);

/// Largest number of points of a domain: of more, counts would not fit their numbers.
const MOST_POINTS: u128 = 1 << 120;

/// Largest number of boxes with discriminatory points that a pair is sought in.
const WITNESSES: usize = 1_000;

/// Largest number of regions that are put into words.
const LARGEST: usize = 10;

/// Shares of a region that make it one of discriminatory points: the first that any region has.
const MOSTLY: [f64; 4] = [0.5, 0.25, 0.1, 0.0];

/// Largest number of regions of the picture.
const MAP: usize = 256;

/// A reason why nothing can be proved.
#[derive(Debug, Error)]
pub enum ProveError {
    /// The model, the data or the protected set cannot be used.
    #[error("{0}")]
    Audit(#[source] Box<AuditError>),
    /// The run directory cannot be used.
    #[error("{0}")]
    Run(#[from] RunError),
    /// The run cannot be written.
    #[error("{0}")]
    Specification(#[from] SpecificationError),
    /// What was opened is not what the run began with.
    #[error("{0}")]
    Place(#[from] PlaceError),
    /// The model is a regressor.
    #[error("the model gives numbers, not classes; what is proved is about classes")]
    Numbers,
    /// Sums of the network may be larger than 32 bits hold.
    #[error(
        "sums of the network may be larger than 32 bits hold somewhere in its domain, so nothing can be proved of it"
    )]
    MayOverflow,
}

impl From<AuditError> for ProveError {
    fn from(error: AuditError) -> ProveError {
        ProveError::Audit(Box::new(error))
    }
}

impl From<ModelError> for ProveError {
    fn from(error: ModelError) -> ProveError {
        ProveError::from(AuditError::from(error))
    }
}

/// The state of a proof.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct State {
    partition: Partition,
    seconds: f64,
    trace: Vec<Moment>,
}

/// The point where a running proof stands.
#[derive(Debug, Clone, Copy)]
pub enum ProofProgress {
    /// Boxes are split.
    Prove(Moment),
    /// Pairs are searched from points of undecided boxes; holds the number of individuals found.
    /// Stopping leaves what was found.
    Search(u64),
    /// The results of the proof are written.
    Write,
}

/// A function that is told where a proof stands; may stop it.
pub type Observe<'a> = dyn FnMut(ProofProgress) -> ControlFlow<()> + 'a;

/// A proof whose inputs are opened and checked; nothing is written yet.
pub struct Proof {
    specification: ProveSpecification,
    record: Record,
    pub(super) model: Model,
    pub(super) fnn: Fnn,
    pub(super) domain: TabularDomain,
    pub(super) network: SumNetwork,
    pub(super) measure: Measure,
    population: Option<PopulationDetails>,
    /// The counts of what reading the table of marginals changed or left out.
    counts: Option<ReadCounts>,
    points: u128,
}

impl Proof {
    /// Opens and checks what `specification` names, for a run that is written to `place`. Where that
    /// run goes on or is repeated, nothing else is asked of a model that is not what it began with.
    ///
    /// # Errors
    /// See [`ProveError`]; [`ProveError::Place`] when something is not what it was.
    pub fn open(
        specification: Checked<ProveSpecification>,
        place: &Place,
    ) -> Result<Proof, ProveError> {
        Proof::open_unless(specification, place.began(), &|changed| {
            let what = match changed.role {
                "marginals" => "the table of marginals".to_owned(),
                "population" => "the network of the population".to_owned(),
                other => format!("the {other}"),
            };
            place.refuse(what, changed).into()
        })
    }

    /// Opens and checks what `specification` names; what is not as `began` says is `refused`.
    pub(super) fn open_unless(
        specification: Checked<ProveSpecification>,
        began: Option<&Record>,
        refused: &dyn Fn(Changed<'_>) -> ProveError,
    ) -> Result<Proof, ProveError> {
        let mut specification = specification.into_inner();
        let opened = open_model(&specification.model)?;
        if let Some(then) = began.map(|began| began.sha256_of("model"))
            && then != opened.sha256
        {
            let (role, now) = ("model", &opened.sha256[..]);
            return Err(refused(Changed { role, now, then }));
        }
        let model = opened.value;
        let flex = ComputeDevice::flex();
        let mut record = record_of(&flex, &[("model".to_owned(), opened.sha256)].into());
        if model.schema.label.is_number() {
            return Err(ProveError::Numbers);
        }
        specification.protected = protected_or_marked(&specification.protected, &model.schema);
        let protected =
            positions(&model.schema, &specification.protected).map_err(AuditError::from)?;
        let domain = TabularDomain::new(&model.schema, &model.network.layout, &protected)
            .map_err(AuditError::from)?;
        let within = codes_within(&specification.within, &model.schema, &protected)
            .map_err(AuditError::from)?;
        let network = SumNetwork::new(&model.network, &domain, &within)
            .map_err(|_| ProveError::MayOverflow)?;
        let mut lengths = network
            .domain()
            .into_iter()
            .map(|[_, last]| u128::from(last) + 1);
        let points = lengths.try_fold(1u128, u128::checked_mul);
        let points = points.filter(|&points| points <= MOST_POINTS);
        let (mut measure, mut population, mut counts) = (Measure::default(), None, None);
        if let Some(directory) = specification.network() {
            let fitted = open_population(directory, &model.schema, &network).map_err(|error| {
                let named = specification.population.as_deref().unwrap_or_default();
                let expected = format!("a network of what the model is asked about: {error}");
                AuditError::from(FieldError::new("population", named, expected))
            })?;
            record = record.opened("population", fitted.sha256);
            let Fitted {
                measure: own,
                details,
            } = fitted.value;
            (measure, population) = (own, Some(details));
        }
        if let Some(file) = &specification.marginals {
            let reading = specification.reading();
            let read = reading_schema(&model.schema, reading)?;
            let data = open_table(file, &read, Labels::Unneeded)?;
            record = record.opened("marginals", data.sha256);
            counts = Some(data.value.counts.clone());
            let codes = |attribute: usize| {
                let table = &data.value;
                (0..table.rows()).map(move |row| table.row(row)[attribute])
            };
            measure = Measure::of_marginals(&network, codes).map_err(|attribute| {
                let name = &model.schema.attributes[attribute].name;
                let expected = format!("a table with rows whose '{name}' lies within");
                AuditError::from(FieldError::new("marginals", file.display(), expected))
            })?;
        }
        if let Some(changed) = began.and_then(|began| began.changed_since(&record.sha256)) {
            return Err(refused(changed));
        }
        let points = points.ok_or_else(|| {
            let value = match specification.within.is_empty() {
                true => "left out".to_owned(),
                false => specification.within.join(","),
            };
            let expected = "a part of the domain with fewer than 2^120 combinations";
            AuditError::from(FieldError::new("within", value, expected))
        })?;
        Ok(Proof {
            fnn: Fnn::new(&model.network, &flex),
            points,
            specification,
            record,
            model,
            domain,
            network,
            measure,
            population,
            counts,
        })
    }

    /// The specification, resolved.
    pub fn specification(&self) -> &ProveSpecification {
        &self.specification
    }

    /// The SHA-256 of the model.
    pub(super) fn model_sha256(&self) -> &str {
        self.record.sha256_of("model")
    }

    /// Whether points are weighted in place of counted.
    pub(super) fn is_weighted(&self) -> bool {
        self.measure.is_weighted()
    }

    /// The whole that a share is of: the number of all points, or of weights.
    pub(super) fn whole(&self) -> u128 {
        match self.is_weighted() {
            false => self.points,
            true => WHOLE,
        }
    }

    pub(super) fn decider(&self) -> Decider<'_> {
        Decider::new(&self.network, &self.measure, &self.fnn, &self.domain)
    }

    pub(super) fn drawing(&self) -> Points<'_> {
        Points {
            network: &self.network,
            measure: &self.measure,
            model: &self.fnn,
            domain: &self.domain,
            seed: self.specification.seed,
        }
    }

    /// Proves as much as the specification asks for, and writes the run to `run`; with `resume`
    /// from the run's checkpoint on. `observe` sees every round and may stop the proof. What was
    /// proved by then is written; the checkpoint stays as long as a box may be split.
    ///
    /// # Errors
    /// See [`ProveError`].
    pub fn run(
        &self,
        run: &RunDirectory,
        resume: bool,
        observe: &mut Observe<'_>,
    ) -> Result<ProveSummary, ProveError> {
        let identity = identity(&self.specification, &self.record);
        let (domain, whole) = (self.network.domain(), self.whole());
        let saved = match resume {
            true => run.read_checkpoint(&identity, |state: &State| {
                state.partition.expect_fits(&domain, whole)
            })?,
            false => None,
        };
        run.write_run(&self.specification, &self.record)?;
        let mut state = match saved {
            Some(state) => state,
            None => State {
                partition: Partition::new(&self.decider(), domain, whole)?,
                seconds: 0.0,
                trace: Vec::new(),
            },
        };
        let ending = self.prove(&mut state, (run, &identity), observe)?;
        let is_open = !state.partition.open().is_empty();
        if is_open {
            run.write_checkpoint(&identity, &state)?;
        }
        let _ = observe(ProofProgress::Write);
        let summary = self.write(run, &state, ending, observe)?;
        if !is_open {
            run.remove_checkpoint()?;
        }
        Ok(summary)
    }

    /// Splits boxes until there is a reason to end.
    fn prove(
        &self,
        state: &mut State,
        (run, identity): (&RunDirectory, &str),
        observe: &mut Observe<'_>,
    ) -> Result<ProofEnding, ProveError> {
        let decider = self.decider();
        let limit = self.specification.time.map(Seconds::duration);
        let (began, before) = (Instant::now(), state.seconds);
        let mut saved_at = began;
        let mut open = state.partition.open();
        loop {
            state.seconds = before + began.elapsed().as_secs_f64();
            let now = state.moment();
            let last = state.trace.last();
            if last.is_none_or(|last| 2 * now.boxes >= 3 * last.boxes) {
                state.trace.push(now);
            }
            let undecided = share(state.partition.undecided(), state.partition.whole());
            let is_enough = undecided <= self.specification.until_undecided;
            if open.is_empty() || (is_enough && self.is_settled(&state.partition)) {
                return Ok(ProofEnding::Decided);
            }
            pause::at(Point::Round);
            if observe(ProofProgress::Prove(now)).is_break() {
                return Ok(ProofEnding::Interrupted);
            }
            if limit.is_some_and(|limit| state.seconds >= limit.as_secs_f64()) {
                return Ok(ProofEnding::Time);
            }
            if now.boxes + open.round() as u64 > self.specification.max_boxes {
                return Ok(ProofEnding::MaxBoxes);
            }
            state.partition.round(&decider, &mut open)?;
            if saved_at.elapsed() >= CHECKPOINT_EVERY {
                run.write_checkpoint(identity, state)?;
                saved_at = Instant::now();
            }
        }
    }

    /// Whether a declared bound is proven to hold or not to, if there is one.
    fn is_settled(&self, partition: &Partition) -> bool {
        let declared = self.specification.fail_above;
        declared.is_none_or(|bound| {
            verdict(partition.proved(), partition.whole(), bound) != Verdict::Inconclusive
        })
    }

    fn write(
        &self,
        run: &RunDirectory,
        state: &State,
        ending: ProofEnding,
        observe: &mut Observe<'_>,
    ) -> Result<ProveSummary, ProveError> {
        run.expect_in_place()?;
        let (specification, partition) = (&self.specification, &state.partition);
        let (proved, whole) = (partition.proved(), partition.whole());
        let columns = BoxColumns {
            schema: &self.model.schema,
            network: &self.network,
        };
        columns.write(&run.file(BOXES), partition.grounds())?;
        let open: Vec<Region> = partition
            .leaves()
            .filter(|leaf| leaf.undecided() > 0)
            .collect();
        let drawn = self.drawing().of_boxes(&open, specification.estimate)?;
        if !drawn.rows.is_empty() {
            columns.write_rows(&run.file(UNDECIDED), &drawn.rows)?;
        }
        let mut pairs = self.witnesses(partition)?;
        let witnesses = pairs.len() as u64;
        let seeds = match ending {
            // Who stops a proof waits for nothing else.
            ProofEnding::Interrupted => 0,
            _ => specification.search,
        };
        let search = self.search(&drawn, seeds, &mut pairs, &mut |found| {
            observe(ProofProgress::Search(found))
        })?;
        let table = TableColumns::new(&self.model.schema, &self.domain);
        let samples = SamplesFormat::Parquet;
        let named = (ModalityName::Table, table.names());
        let batch = &mut |names: &_, pairs: &[Pair<'_>]| table.batch(names, pairs);
        write_columns(
            &run.file(samples.file_name()),
            samples,
            named,
            &pairs,
            batch,
        )?;
        let is_weighted = self.measure.is_weighted();
        let proven = bounds(proved, whole);
        let words = Words {
            schema: &self.model.schema,
            network: &self.network,
            partition,
        };
        let largest = MOSTLY
            .iter()
            .map(|&least| partition.discriminatory_regions(least, LARGEST));
        let largest = largest
            .into_iter()
            .find(|regions| !regions.is_empty())
            .unwrap_or_default();
        let mut trace = state.trace.clone();
        let now = state.moment();
        if trace.last() != Some(&now) {
            trace.push(now);
        }
        let summary = ProveSummary {
            schema_version: 1,
            command: "prove".to_owned(),
            probity_version: env!("CARGO_PKG_VERSION").to_owned(),
            ending,
            model_sha256: self.model_sha256().to_owned(),
            protected: specification.protected.clone(),
            combinations: self.network.combinations as u64,
            within: specification.within.clone(),
            points: self.points.to_string(),
            is_weighted,
            population: self.population,
            marginals: self.counts.clone(),
            fair: proved_share(proved.fair, whole, is_weighted),
            discriminatory: proved_share(proved.discriminatory, whole, is_weighted),
            undecided: proved_share(partition.undecided(), whole, is_weighted),
            bounds: proven,
            estimate: estimate(&drawn, partition, &open, proven),
            boxes: proved.boxes,
            witnesses,
            search,
            seconds: state.seconds,
            trace,
            largest: largest.iter().map(|region| words.place(region)).collect(),
            deciding: words.deciding(),
            map: partition
                .map(MAP)
                .iter()
                .map(|region| words.place(region))
                .collect(),
            fail_above: specification.fail_above.map(|bound| ProvedBound {
                bound,
                verdict: verdict(proved, whole, bound),
            }),
            boxes_file: BOXES.to_owned(),
            samples_file: samples.file_name().to_owned(),
            undecided_file: (!drawn.rows.is_empty()).then(|| UNDECIDED.to_owned()),
        };
        run.write_summary(&summary)?;
        Ok(summary)
    }

    /// A pair of each of the boxes with most discriminatory points, where one is found.
    fn witnesses(&self, partition: &Partition) -> Result<PairStore, ProveError> {
        let mut leaves: Vec<Region> = partition
            .leaves()
            .filter(|leaf| leaf.discriminatory > 0)
            .collect();
        leaves.sort_by_key(|leaf| (std::cmp::Reverse(leaf.discriminatory), leaf.number));
        leaves.truncate(WITNESSES);
        let drawing = self.drawing();
        let found: Vec<_> = leaves
            .par_iter()
            .map(|leaf| drawing.witness(leaf))
            .collect::<Result<_, ModelError>>()?;
        let mut pairs = PairStore::new(self.domain.width(), self.network.classes());
        for (leaf, found) in leaves.iter().zip(found) {
            if let Some((row, check)) = found {
                pairs.push(&Pair::new(
                    u64::from(leaf.number),
                    Phase::Global,
                    0,
                    &row,
                    &check,
                ));
            }
        }
        Ok(pairs)
    }
}

impl State {
    fn moment(&self) -> Moment {
        let (proved, whole) = (self.partition.proved(), self.partition.whole());
        Moment {
            seconds: self.seconds,
            boxes: proved.boxes,
            fair: share(proved.fair, whole),
            discriminatory: share(proved.discriminatory, whole),
        }
    }
}

/// The discriminatory share as points of undecided boxes let it appear, within the proven `bounds`.
fn estimate(
    drawn: &Drawn,
    partition: &Partition,
    open: &[Region],
    bounds: [f64; 2],
) -> Option<EstimateWithin> {
    if drawn.sampled == 0 {
        return None;
    }
    let whole = partition.whole();
    let open_points: u128 = open.iter().map(|leaf| leaf.points).sum();
    let closed = partition.leaves().filter(|leaf| leaf.undecided() == 0);
    let closed = share(closed.map(|leaf| leaf.discriminatory).sum(), whole);
    let total =
        |of_open: f64| (closed + share(open_points, whole) * of_open).clamp(bounds[0], bounds[1]);
    Some(EstimateWithin {
        sampled: drawn.sampled,
        discriminatory: drawn.discriminatory,
        rate: total(drawn.discriminatory as f64 / drawn.sampled as f64),
        ci95: clopper_pearson(drawn.discriminatory, drawn.sampled, 0.05).map(total),
    })
}
