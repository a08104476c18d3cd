//! The finds of a search on any device that answers are confirmed by the reference on the CPU, and a
//! device that gives decisions alone finds what logits find.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use probity_data::builtin;
use probity_data::schema::Schema;
use probity_data::synthetic::synthetic_census;
use probity_fairness::adf::{Adf, AdfMemory};
use probity_fairness::calls::{Calls, CountedModel};
use probity_fairness::check::{Checked, Wanted, check_until_flip, check_variant};
use probity_fairness::domain::{Domain, TabularDomain};
use probity_fairness::search::{Ending, Search, SearchOptions, SearchState};
use probity_fairness::seeds::clustered_seeds;
use probity_nn::fnn::{Fnn, Network};
use probity_nn::train::options::TableOptions;
use probity_nn::train::table::train;
use probity_nn::{Classifier, Differentiable, ModelError, Objective, Rows};
use probity_tensor::device::ComputeDevice;
use probity_testing::devices;

/// A small network of the census.
fn trained(schema: &Schema) -> Network {
    let table = synthetic_census(schema, 1200, 3);
    let mut options = TableOptions::default();
    options.network.hidden = vec![12, 6];
    options.learning.epochs = Some(3);
    let flex = ComputeDevice::flex();
    let trained = train(&table, schema, &options, &flex, None, &mut |_, _| {
        ControlFlow::Continue(())
    });
    trained.unwrap().network
}

/// A network that gives decisions alone where it may, as on a device.
struct OnDevice<'a> {
    fnn: &'a Fnn,
    decided: AtomicUsize,
}

impl Classifier for OnDevice<'_> {
    fn width(&self) -> usize {
        self.fnn.width()
    }

    fn classes(&self) -> usize {
        self.fnn.classes()
    }

    fn logits(&self, rows: Rows<'_>) -> Result<Vec<f32>, ModelError> {
        self.fnn.logits(rows)
    }

    fn decides_on_device(&self) -> bool {
        true
    }

    fn decide(&self, rows: Rows<'_>) -> Result<Vec<u32>, ModelError> {
        self.decided.fetch_add(rows.len(), Ordering::Relaxed);
        self.fnn.decide(rows)
    }
}

impl Differentiable for OnDevice<'_> {
    fn features(&self) -> usize {
        self.fnn.features()
    }

    fn input_gradients(&self, rows: Rows<'_>, cotangents: &[f32]) -> Result<Vec<f32>, ModelError> {
        self.fnn.input_gradients(rows, cotangents)
    }
}

/// The domain of `network`'s inputs with all marked attributes protected.
fn domain_of(schema: &Schema, network: &Network) -> TabularDomain {
    TabularDomain::new(schema, &network.layout, &schema.protected()).unwrap()
}

#[test]
fn a_check_by_decisions_is_one_by_logits_without_them() {
    let schema = builtin::schema("synthetic-census").unwrap().unwrap();
    let network = trained(&schema);
    let domain = domain_of(&schema, &network);
    let fnn = Fnn::new(&network, &ComputeDevice::flex());
    let device = OnDevice {
        fnn: &fnn,
        decided: AtomicUsize::new(0),
    };
    let codes: Vec<i32> = (0..400)
        .flat_map(|item| domain.random_input(3, item))
        .collect();
    let rows = Rows::new(&codes, domain.width());
    let hints: Vec<u32> = (0..400).map(|item| item % 5).collect();
    let mut flipping = 0;
    for check in [check_until_flip, check_variant] {
        let by = |model: &dyn Classifier, wanted| -> Vec<Checked> {
            check(model, &domain, rows, &hints, wanted).unwrap()
        };
        let by_logits = by(&fnn, Wanted::Logits);
        assert_eq!(
            by(&fnn, Wanted::Decisions),
            by_logits,
            "kernels have them anyway"
        );
        assert_eq!(by(&device, Wanted::Logits), by_logits);
        let before = device.decided.load(Ordering::Relaxed);
        let by_decisions = by(&device, Wanted::Decisions);
        assert!(device.decided.load(Ordering::Relaxed) >= before + 400);
        for (mut whole, bare) in by_logits.into_iter().zip(by_decisions) {
            flipping += whole.flips.len();
            whole.logits.clear();
            whole.flips.iter_mut().for_each(|flip| flip.logits.clear());
            assert_eq!(whole, bare);
        }
    }
    assert!((20..780).contains(&flipping), "{flipping}");
}

#[test]
fn a_search_by_decisions_finds_the_pairs_of_one_by_logits() {
    let schema = builtin::schema("synthetic-census").unwrap().unwrap();
    let network = trained(&schema);
    let domain = domain_of(&schema, &network);
    let fnn = Fnn::new(&network, &ComputeDevice::flex());
    let device = OnDevice {
        fnn: &fnn,
        decided: AtomicUsize::new(0),
    };
    let calls = Calls::default();
    let by_logits = search(&fnn, None, &domain, &calls);
    let calls_on_device = Calls::default();
    let counted = CountedModel::new(&device, &calls_on_device);
    let by_decisions = search(&counted, Some(&fnn), &domain, &calls_on_device);
    assert!(device.decided.load(Ordering::Relaxed) > 0);
    assert!(by_logits.pairs().iter().eq(by_decisions.pairs().iter()));
    assert!(by_logits.pairs().len() > 100, "{}", by_logits.pairs().len());
    assert_eq!(by_logits.individuals(), by_decisions.individuals());
    assert_eq!(by_decisions.unconfirmed(), 0);
}

/// Searches by ADF from random inputs.
fn search<M: Differentiable>(
    model: &M,
    reference: Option<&dyn Classifier>,
    domain: &TabularDomain,
    calls: &Calls,
) -> SearchState<AdfMemory> {
    let strategy = Adf {
        model,
        domain,
        objective: Objective::Margin,
        step_global: 1,
        step_local: 1,
        seed: 2,
    };
    let options = SearchOptions {
        max_iter: 8,
        local: 60,
        ..SearchOptions::default()
    };
    let search = Search {
        model,
        reference,
        domain,
        strategy: &strategy,
        calls,
        options: &options,
    };
    let rows = (0..60).map(|item| domain.random_input(5, item));
    let mut state = SearchState::new(rows, model.classes());
    let ending = search.run(&mut state, &mut |_| ControlFlow::Continue(()));
    assert_eq!(ending.unwrap(), Ending::Complete);
    state
}

#[test]
fn whatever_a_device_finds_stands_on_the_cpu() {
    let schema = builtin::schema("synthetic-census").unwrap().unwrap();
    let network = trained(&schema);
    for device in devices() {
        small_audit(&schema, &network, &device);
    }
}

/// A short search on `device`: whatever it reports stands on the CPU, row by row.
fn small_audit(schema: &Schema, network: &Network, device: &ComputeDevice) {
    let domain = domain_of(schema, network);
    let model = Fnn::new(network, device);
    let reference = Fnn::new(network, &ComputeDevice::flex());
    let strategy = Adf {
        model: &model,
        domain: &domain,
        objective: Objective::Margin,
        step_global: 1,
        step_local: 1,
        seed: 2,
    };
    let options = SearchOptions {
        max_iter: 5,
        local: 5,
        ..SearchOptions::default()
    };
    let search = Search {
        model: &model,
        reference: Some(&reference),
        domain: &domain,
        strategy: &strategy,
        calls: &Calls::default(),
        options: &options,
    };
    let table = synthetic_census(schema, 200, 6);
    let seeds = clustered_seeds(&table, 4, 40, 1);
    let rows = seeds.iter().map(|&row| table.row(row as usize).to_vec());
    let mut state = SearchState::new(rows, 2);
    let ending = search
        .run(&mut state, &mut |_| ControlFlow::Continue(()))
        .unwrap();
    assert_eq!(ending, Ending::Complete);
    assert!(!state.pairs().is_empty(), "{}", device.name());
    for pair in state.pairs().iter() {
        let label = reference
            .predict(Rows::new(pair.row, pair.row.len()))
            .unwrap();
        assert_eq!(label, [pair.label]);
    }
}
