//! Every device that answers gives what flex gives: logits, gradients, training, a small audit.
//!
//! Devices round differently, so numbers are compared within tolerances; what must be exact (a
//! row's independence of its batch, every reported pair confirmed on the CPU) is compared exactly.
//! A device that does not answer is skipped with the reason it gives.

use std::io::{Write, stderr};
use std::ops::ControlFlow;

use probity::data::builtin;
use probity::data::schema::Schema;
use probity::data::synthetic::synthetic_census;
use probity::fairness::adf::Adf;
use probity::fairness::calls::Calls;
use probity::fairness::domain::TabularDomain;
use probity::fairness::search::{Ending, Search, SearchOptions, SearchState};
use probity::fairness::seeds::clustered_seeds;
use probity::nn::fnn::{Fnn, Network};
use probity::nn::train::options::{Categories, TableOptions};
use probity::nn::train::table::train;
use probity::nn::{Classifier, Differentiable, Objective, Rows, predicted_class};
use probity::tensor::device::{ComputeDevice, DeviceName};
use probity_testing::{Needed, skip};

fn others() -> Vec<ComputeDevice> {
    let devices: Vec<ComputeDevice> = DeviceName::ALL
        .into_iter()
        .filter(|name| !matches!(name, DeviceName::Auto | DeviceName::Flex))
        .filter_map(|name| match ComputeDevice::open(name) {
            Ok(device) => {
                // Past what the harness holds back: which adapter answered is part of the result.
                let _ = writeln!(stderr(), "{name} answers: {}", device.hardware());
                Some(device)
            }
            Err(error) => {
                let _ = writeln!(stderr(), "{name}: {error}");
                None
            }
        })
        .collect();
    if devices.is_empty() {
        skip(Needed::Device, "no device but the CPU answers");
    }
    devices
}

fn options() -> TableOptions {
    let mut options = TableOptions::default();
    options.network.hidden = vec![12, 6];
    options.network.categories = Categories::OneHot;
    options.learning.epochs = Some(3);
    options.learning.batch = Some(256);
    options
}

fn trained(schema: &Schema, device: &ComputeDevice) -> (Network, f64) {
    let table = synthetic_census(schema, 1200, 3);
    let trained = train(&table, schema, &options(), device, None, &mut |_, _| {
        ControlFlow::Continue(())
    })
    .unwrap();
    let loss = trained.history.last().unwrap().loss;
    (trained.network, loss)
}

fn close(left: &[f32], right: &[f32], tolerance: f32, what: &str) {
    assert_eq!(left.len(), right.len());
    for (a, b) in left.iter().zip(right) {
        assert!(
            (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs())),
            "{what}: {a} {b}"
        );
    }
}

#[test]
fn all_devices_agree_with_flex() {
    let schema = builtin::schema("synthetic-census").unwrap().unwrap();
    let flex = ComputeDevice::flex();
    let (network, loss) = trained(&schema, &flex);
    let reference = Fnn::new(&network, &flex);
    let table = synthetic_census(&schema, 300, 5);
    let rows = Rows::new(table.codes(), table.width());
    let logits = reference.logits(rows).unwrap();
    let mut cotangents = Vec::new();
    for logits in logits.chunks_exact(2) {
        Objective::Margin.cotangent(logits, predicted_class(logits), &mut cotangents);
    }
    let gradients = reference.input_gradients(rows, &cotangents).unwrap();
    for device in others() {
        let name = device.name();
        let model = Fnn::new(&network, &device);
        let answer = model.logits(rows).unwrap();
        close(&answer, &logits, 1e-4, &format!("{name} logits"));
        close(
            &model.input_gradients(rows, &cotangents).unwrap(),
            &gradients,
            1e-3,
            &format!("{name} gradients"),
        );
        let alone = Rows::new(table.row(7), table.width());
        assert_eq!(
            model.logits(alone).unwrap(),
            answer[14..16],
            "{name}: a row's logits depend on its batch"
        );
        let (_, its_loss) = trained(&schema, &device);
        assert!(
            (loss - its_loss).abs() < 0.01,
            "{name}: loss {its_loss}, flex {loss}"
        );
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
        batch: 4096,
        max_found: None,
        max_calls: None,
        time: None,
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

#[test]
fn the_nearest_words_are_the_same_on_every_device() {
    use probity::tensor::nearest::cosine::{NearestOptions, nearest};
    use probity::text::embeddings::shipped;
    let table = shipped().unwrap();
    let mut excluded = vec![false; table.words().len() + 1];
    excluded[table.unknown() as usize] = true;
    let options = NearestOptions {
        k: 10,
        excluded: &excluded,
    };
    let queries: Vec<u32> = (0..table.unknown()).collect();
    let on =
        |device: &ComputeDevice| nearest(table.vectors(), table.width(), &queries, options, device);
    let flex = on(&ComputeDevice::flex());
    assert!(
        queries
            .iter()
            .all(|&query| flex.of(query as usize).len() == 10)
    );
    for device in others() {
        assert!(on(&device) == flex, "{}", device.name());
    }
}
