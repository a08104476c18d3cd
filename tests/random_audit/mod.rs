//! Audits of random small networks over built-in schemas, and what must hold of whatever they
//! report.

#![allow(dead_code)] // Each test program uses its own part of this.

use std::collections::{BTreeSet, HashSet};
use std::ops::ControlFlow;

use probity::data::builtin;
use probity::data::schema::Schema;
use probity::fairness::adf::{Adf, AdfMemory};
use probity::fairness::audit::AuditError;
use probity::fairness::calls::Calls;
use probity::fairness::check::check_all;
use probity::fairness::distinct::Mark;
use probity::fairness::domain::{Domain, TabularDomain};
use probity::fairness::modality::{ModalityName, TableColumns, TableInputs, TableWitness};
use probity::fairness::samples::{SamplesFormat, read_samples, write_columns};
use probity::fairness::search::{Ending, Phase, Search, SearchOptions, SearchState};
use probity::fairness::strategy::Strategy;
use probity::fairness::verify::verify;
use probity::nn::encoding::{Encoding, InputLayout};
use probity::nn::fnn::{Activation, Fnn, Network};
use probity::nn::model::Model;
use probity::nn::{Classifier, Objective, Rows};
use probity::run::stream::{Purpose, stream};
use probity::tensor::device::ComputeDevice;
use rand::RngExt;

pub type State = SearchState<AdfMemory>;

/// One audit's ingredients: a random small network over a built-in schema.
pub struct Case {
    pub model: Model,
    pub fnn: Fnn,
    pub domain: TabularDomain,
    pub objective: Objective,
    pub steps: (u32, u32),
    pub seed: u64,
    pub seeds: usize,
}

impl Case {
    /// A network with all three encodings on the synthetic census.
    pub fn synthetic(seed: u64, protected: &[&str]) -> Case {
        let schema = builtin::schema("synthetic-census").unwrap().unwrap();
        let encodings: Vec<Encoding> = schema
            .attributes
            .iter()
            .enumerate()
            .map(|(position, attribute)| {
                let (min, max) = attribute.domain();
                let scaled = Encoding::Scaled {
                    mean: (min + max) as f32 / 2.0,
                    deviation: (max - min) as f32 / 3.5,
                };
                match (attribute.is_ordered(), position % 2) {
                    (true, _) => scaled,
                    (false, 0) => Encoding::OneHot,
                    (false, _) => Encoding::Embedded { dimension: 3 },
                }
            })
            .collect();
        Case::new(schema, &encodings, protected, seed, Objective::Margin)
    }

    /// A network on the raw codes of the ADF census.
    pub fn adf(seed: u64, protected: &[&str]) -> Case {
        let schema = builtin::schema("adf-census").unwrap().unwrap();
        let encodings: Vec<Encoding> = schema
            .attributes
            .iter()
            .map(|attribute| {
                let (min, max) = attribute.domain();
                Encoding::Scaled {
                    mean: (min + max) as f32 / 2.0,
                    deviation: (max - min) as f32 / 3.5,
                }
            })
            .collect();
        Case::new(schema, &encodings, protected, seed, Objective::Margin)
    }

    /// The `number`-th random case: schema, encodings, network, protected set, objective and steps
    /// drawn from `number`.
    pub fn random(number: u64) -> Case {
        let mut stream = stream(20_250_701, Purpose::Synthetic, number, 0);
        let name = ["synthetic-census", "adf-census", "german-credit", "compas"]
            [stream.random_range(0..4)];
        let schema = builtin::schema(name).unwrap().unwrap();
        let encodings: Vec<Encoding> = schema
            .attributes
            .iter()
            .map(|attribute| {
                let (min, max) = attribute.domain();
                match (attribute.is_ordered(), stream.random_range(0..3)) {
                    (false, 0) => Encoding::OneHot,
                    (false, 1) => Encoding::Embedded { dimension: 2 },
                    _ => Encoding::Scaled {
                        mean: (min + max) as f32 / 2.0,
                        deviation: ((max - min) as f32 / 3.5).max(0.5),
                    },
                }
            })
            .collect();
        let marked = schema.protected();
        let chosen = 1 + stream.random_range(0..marked.len());
        let names: Vec<String> = marked[..chosen]
            .iter()
            .map(|&attribute| schema.attributes[attribute].name.clone())
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let objectives = [Objective::Margin, Objective::Logit, Objective::Loss];
        let objective = objectives[stream.random_range(0..3)];
        let mut case = Case::new(schema, &encodings, &names, number, objective);
        case.steps = (stream.random_range(1..4), stream.random_range(1..6));
        case.seeds = stream.random_range(1..40);
        case
    }

    fn new(
        schema: Schema,
        encodings: &[Encoding],
        protected: &[&str],
        seed: u64,
        objective: Objective,
    ) -> Case {
        let layout = InputLayout::new(&schema.attributes, encodings);
        let classes = schema.label.classes.len();
        let network = Network::random(layout.clone(), &[12, 6], classes, Activation::Relu, seed);
        let protected: Vec<usize> = protected
            .iter()
            .map(|name| schema.index_of(name).unwrap())
            .collect();
        Case {
            domain: TabularDomain::new(&schema, &layout, &protected).unwrap(),
            fnn: Fnn::new(&network, &ComputeDevice::flex()),
            model: Model { schema, network },
            objective,
            steps: (1, 1),
            seed,
            seeds: 60,
        }
    }

    /// A search that is about to begin from uniform random people.
    pub fn start(&self) -> State {
        let seeds = (0..self.seeds as u64).map(|item| self.domain.random_input(self.seed, item));
        SearchState::new(seeds, self.fnn.classes())
    }

    pub fn strategy(&self) -> Adf<'_> {
        Adf {
            model: &self.fnn,
            domain: &self.domain,
            objective: self.objective,
            step_global: self.steps.0,
            step_local: self.steps.1,
            seed: self.seed,
        }
    }

    /// Goes on from `state` by `strategy`, which is this case's own or watches it.
    pub fn run_by<S: Strategy<Memory = AdfMemory, Shared = ()>>(
        &self,
        strategy: &S,
        options: &SearchOptions,
        state: &mut State,
        observe: &mut dyn FnMut(&State) -> ControlFlow<()>,
    ) -> Ending {
        let search = Search {
            model: &self.fnn,
            reference: None,
            domain: &self.domain,
            strategy,
            calls: &Calls::default(),
            options,
        };
        search.run(state, observe).unwrap()
    }

    /// Goes on from `state`.
    pub fn go_on(
        &self,
        options: &SearchOptions,
        state: &mut State,
        observe: &mut dyn FnMut(&State) -> ControlFlow<()>,
    ) -> Ending {
        self.run_by(&self.strategy(), options, state, observe)
    }

    /// A whole search.
    pub fn run(&self, options: &SearchOptions) -> State {
        let mut state = self.start();
        self.go_on(options, &mut state, &mut |_| ControlFlow::Continue(()));
        state
    }

    pub fn variant(&self, row: &[i32], variant: u32) -> Vec<i32> {
        let mut other = Vec::new();
        self.domain.write_variant(row, variant as usize, &mut other);
        other
    }
}

pub fn options(max_iter: u32, local: u32) -> SearchOptions {
    SearchOptions {
        max_iter,
        local,
        ..SearchOptions::default()
    }
}

/// The cases that invariance is held on: mixed encodings, one and several protected attributes.
pub fn cases() -> Vec<Case> {
    vec![
        Case::synthetic(3, &["sex", "origin"]),
        Case::synthetic(8, &["sex"]),
        Case::adf(5, &["sex", "race", "age"]),
    ]
}

/// Everything of a search but the clock: the pairs in order, what was counted, and the steps.
#[derive(Debug, PartialEq)]
pub struct Found {
    pub pairs: String,
    pub counts: Vec<u64>,
}

impl Found {
    pub fn of<M: Clone + Default, L: Default>(state: &SearchState<M, L>) -> Found {
        let marks = [
            Mark::GlobalGenerated,
            Mark::LocalGenerated,
            Mark::GlobalDiscriminatory,
            Mark::LocalDiscriminatory,
        ];
        let mut counts = Vec::new();
        for set in [state.individuals(), state.rows()] {
            counts.extend(marks.map(|mark| set.count(mark)));
            counts.extend([set.len(), set.discriminatory()]);
        }
        for phase in [state.global(), state.local()] {
            counts.extend([phase.starts, phase.steps, phase.checks, phase.model_rows]);
        }
        counts.push(state.unconfirmed());
        Found {
            pairs: state
                .pairs()
                .iter()
                .map(|pair| format!("{pair:?}\n"))
                .collect(),
            counts,
        }
    }
}

/// Checks every pair of `state` by the definition and by the verifier, and the counts of
/// discriminatory samples against the pairs.
pub fn holds_what_it_reports<M: Clone + Default, L: Default>(
    case: &Case,
    state: &SearchState<M, L>,
) {
    let mut rows = HashSet::new();
    let mut people: [HashSet<Vec<i32>>; 2] = Default::default();
    let mut phases = BTreeSet::new();
    for pair in state.pairs().iter() {
        let other = case.variant(pair.row, pair.variant);
        for (position, span) in case.domain.spans().iter().enumerate() {
            for row in [pair.row, &other] {
                let level = i64::from(row[position]) - i64::from(span.min);
                assert!((0..span.levels as i64).contains(&level), "{pair:?}");
            }
            if !case.domain.protected().contains(&position) {
                assert_eq!(pair.row[position], other[position], "{pair:?}");
            }
        }
        assert_ne!(pair.row, other.as_slice());
        assert_ne!(pair.label, pair.other_label);
        assert!((pair.seed as usize) < case.seeds);
        assert!(rows.insert(pair.row.to_vec()), "a row twice: {pair:?}");
        people[usize::from(pair.phase == Phase::Local)].insert(without_protected(case, pair.row));
        phases.insert((pair.phase == Phase::Local, pair.step));
    }
    let (individuals, full) = (state.individuals(), state.rows());
    assert_eq!(full.discriminatory(), rows.len() as u64);
    let both = people[0].union(&people[1]).count() as u64;
    assert_eq!(individuals.discriminatory(), both);
    assert_eq!(
        individuals.count(Mark::GlobalDiscriminatory),
        people[0].len() as u64
    );
    assert!(individuals.len() >= both && full.len() >= individuals.len());
    for set in [individuals, full] {
        assert!(set.count(Mark::GlobalDiscriminatory) <= set.count(Mark::GlobalGenerated));
        assert!(set.count(Mark::LocalDiscriminatory) <= set.count(Mark::LocalGenerated));
        assert!(set.len() <= set.count(Mark::GlobalGenerated) + set.count(Mark::LocalGenerated));
    }
    verifies(case, state);
}

/// Writes the pairs in both forms, reads them back unchanged, and lets the verifier judge them.
pub fn verifies<M: Clone + Default, L: Default>(case: &Case, state: &SearchState<M, L>) {
    let folder = tempfile::tempdir().unwrap();
    let mut read = Vec::new();
    for format in [SamplesFormat::Csv, SamplesFormat::Parquet] {
        let file = folder.path().join(format.file_name());
        let columns = TableColumns::new(&case.model.schema, &case.domain);
        let of_table = (ModalityName::Table, columns.names());
        write_columns(
            &file,
            format,
            of_table,
            state.pairs(),
            &mut |names, pairs| columns.batch(names, pairs),
        )
        .unwrap();
        let mut pairs = Vec::new();
        read_samples(&file, &TableInputs::new(&case.model.schema), |pair| {
            pairs.push(pair);
            Ok::<(), AuditError>(())
        })
        .unwrap();
        read.push(pairs);
    }
    assert!(read[0] == read[1], "both forms hold the same");
    assert_eq!(read[0].len(), state.pairs().len());
    for (written, read) in state.pairs().iter().zip(&read[0]) {
        assert_eq!(written.row, read.row);
        assert_eq!(case.variant(written.row, written.variant), read.other);
    }
    let file = folder.path().join(SamplesFormat::Parquet.file_name());
    let schema = &case.model.schema;
    let name = |&attribute: &usize| schema.attributes[attribute].name.clone();
    let protected: Vec<String> = case.domain.protected().iter().map(name).collect();
    let network = case.model.network.clone();
    let witness =
        TableWitness::of_network(schema.clone(), network, &protected, String::new()).unwrap();
    let result = verify(&file, &witness, &mut |_| {}).unwrap();
    assert_eq!(result.pairs, state.pairs().len() as u64);
    assert_eq!(result.rejected, 0, "{:?}", result.problems);
    assert_eq!(result.confirmed, result.pairs);
}

/// The `item`-th seed of a search.
pub fn seed_row(case: &Case, item: u64) -> Vec<i32> {
    case.domain.random_input(case.seed, item)
}

/// Whether a single row is discriminatory, by all of its variants.
pub fn is_discriminatory(case: &Case, row: &[i32]) -> bool {
    let check = check_all(&case.fnn, &case.domain, Rows::new(row, row.len())).unwrap();
    !check[0].checked.flips.is_empty()
}

pub fn without_protected(case: &Case, row: &[i32]) -> Vec<i32> {
    case.domain
        .free()
        .iter()
        .map(|&attribute| row[attribute])
        .collect()
}
