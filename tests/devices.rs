//! Every device that answers gives what flex gives: logits, gradients, training, a small audit; and
//! to the bit what is decided by a reference: nearest words, clusterings, networks, degrees.
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
use probity::nn::recurrent::kernels::EmbeddingTable;
use probity::nn::train::options::{Categories, TableOptions, TextOptions};
use probity::nn::train::table::train;
use probity::nn::train::text::{LabelledTexts, train_text};
use probity::nn::{Classifier, Differentiable, Objective, Rows, predicted_class};
use probity::tensor::device::{ComputeDevice, DeviceName};
use probity::tensor::proposer::Proposer;
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

/// Networks for texts learn on every device: the losses are near those of the kernels, and the same
/// bits come every time.
#[test]
fn recurrent_networks_learn_on_every_device() {
    let texts: Vec<Vec<i32>> = (0..120_i32)
        .map(|text| (0..text % 9).map(|at| (text * 7 + at * at) % 20).collect())
        .collect();
    let is_even = |text: &Vec<i32>| u32::from(text.iter().sum::<i32>() % 2 == 0);
    let labels: Vec<u32> = texts.iter().map(is_even).collect();
    let values: Vec<f32> = (0..20 * 5)
        .map(|at| (at * 37 % 19) as f32 / 9.0 - 1.0)
        .collect();
    let corpus = LabelledTexts {
        texts: &texts,
        labels: &labels,
        classes: 2,
    };
    let table = EmbeddingTable {
        values: &values,
        dimension: 5,
    };
    let mut options = TextOptions::default();
    (options.network.layers, options.network.units) = (1, 4);
    options.network.train_embeddings = true;
    (options.learning.epochs, options.learning.batch) = (Some(2), Some(40));
    let split = options.split(texts.len());
    let learnt = |device: &ComputeDevice| {
        let go_on = &mut |_: &_, _: &dyn Fn() -> _| ControlFlow::Continue(());
        train_text(corpus, table, &split, &options, device, None, go_on).unwrap()
    };
    let flex = learnt(&ComputeDevice::flex());
    for device in others() {
        let own = learnt(&device);
        for (own, flex) in own.history.iter().zip(&flex.history) {
            let error = (own.loss - flex.loss).abs();
            assert!(error < 1e-3, "{}: {own:?}, flex {flex:?}", device.name());
        }
        assert!(own == learnt(&device), "{}: other bits", device.name());
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

/// Every device, and flex among them, proposes however little there is to do.
fn proposers() -> Vec<Proposer> {
    let devices = std::iter::once(ComputeDevice::flex()).chain(others());
    devices.map(|device| Proposer::always(&device)).collect()
}

#[test]
fn clusterings_are_the_same_bytes_on_every_device() {
    use probity::unlearning::kmeans::mixture::mixture;
    use probity::unlearning::kmeans::{Algorithm, KMeans, Model, Tree};
    let (points, _) = mixture(700, 30, 4, 1).unwrap();
    for algorithm in [
        Algorithm::Lloyd,
        Algorithm::default(),
        Algorithm::DivideConquer {
            tree: Tree::default(),
        },
    ] {
        let options = KMeans::new(5).algorithm(algorithm).restarts(2);
        let fitted = options.fit(&points).unwrap();
        let mut deleted = fitted.clone();
        deleted.delete(&[3, 17, 400]).unwrap();
        for proposer in proposers() {
            let mut model = Model::fit(points.clone().on(&proposer), &options).unwrap();
            assert!(model.to_bytes().unwrap() == fitted.to_bytes().unwrap());
            assert_eq!(model.assignment(), fitted.assignment());
            model.delete(&[3, 17, 400]).unwrap();
            assert!(model.to_bytes().unwrap() == deleted.to_bytes().unwrap());
        }
    }
}

#[test]
fn networks_are_the_same_bytes_on_every_device() {
    use probity::unlearning::spn::{Dataset, Domain, LeafFamily, Spn, SpnParameters, Variable};
    let domains = [
        Domain::Integer { min: 0, max: 40 },
        Domain::Categorical {
            levels: ["a", "b", "c"].map(str::to_owned).to_vec(),
        },
        Domain::Real {
            edges: vec![0.0, 10.0, 20.0, 60.0],
        },
    ];
    let variables = domains.into_iter().cycle().take(6).enumerate();
    let variables = variables.map(|(at, domain)| {
        let family = match domain {
            Domain::Categorical { .. } => LeafFamily::Categorical,
            _ => LeafFamily::Histogram,
        };
        Variable::new(format!("v{at}"), domain, family).unwrap()
    });
    let rows = 900;
    let value = |row: u64, column: u64| match column % 3 {
        1 => (row * 7 / 3 + column) % 3,
        _ => (row * (5 + column) / 4 + row % 2 * 11) % 40,
    };
    let values: Vec<f64> = (0..rows)
        .flat_map(|row| (0..6).map(move |column| value(row, column) as f64))
        .collect();
    let ids: Vec<u64> = (0..rows).collect();
    let data = Dataset::new(variables.collect(), &ids, &[], &values).unwrap();
    let learn = |data: Dataset| Spn::learn(SpnParameters::default().min_rows(30), data).unwrap();
    let learnt = learn(data.clone()).to_bytes().unwrap();
    for proposer in proposers() {
        let mut spn = learn(data.clone().on(&proposer));
        assert!(spn.to_bytes().unwrap() == learnt);
        spn.delete(&[5, 600]).unwrap();
        let anew = spn.retrained().unwrap().on(&Proposer::default());
        assert!(spn.to_bytes().unwrap() == anew.to_bytes().unwrap());
    }
}

#[test]
fn degrees_are_the_same_on_every_device() {
    use probity::privacy::degrees::degrees;
    use probity::privacy::records::Records;
    for columns in [1, 3, 20] {
        let spread = |at: u64| ((at * at * 7919 + at * 31) % (1 << 22)) as f64;
        let values: Vec<f64> = (0..600 * columns).map(spread).collect();
        let records = Records::from_grid(values, columns as usize).unwrap();
        for squared_radius in [1e3, 1e10, 1e12, 1e13] {
            let found = degrees(&records, squared_radius, 40);
            for proposer in proposers() {
                let records = records.clone().on(&proposer);
                assert_eq!(degrees(&records, squared_radius, 40), found);
            }
        }
    }
}
