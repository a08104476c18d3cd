//! The finds of a search on any device that answers are confirmed by the reference on the CPU.

use std::ops::ControlFlow;

use probity_data::builtin;
use probity_data::schema::Schema;
use probity_data::synthetic::synthetic_census;
use probity_fairness::adf::Adf;
use probity_fairness::calls::Calls;
use probity_fairness::domain::TabularDomain;
use probity_fairness::search::{Ending, Search, SearchOptions, SearchState};
use probity_fairness::seeds::clustered_seeds;
use probity_nn::fnn::{Fnn, Network};
use probity_nn::train::options::TableOptions;
use probity_nn::train::table::train;
use probity_nn::{Objective, Rows};
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
    let protected = schema.protected();
    let domain = TabularDomain::new(schema, &network.layout, &protected).unwrap();
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
