use std::collections::{BTreeMap, HashSet};

use super::baseline::{Baseline, Origin};
use super::found::{RowLabel, Sample};
use super::training_set::{Mixture, mix};
use crate::domain::{Domain, TabularDomain};
use crate::repair::labels::majority;
use crate::repair::repairable::Drawn;
use probity_data::builtin;
use probity_data::synthetic::synthetic_census;
use probity_nn::encoding::{Encoding, InputLayout};
use probity_nn::fnn::{Activation, Fnn, Network};
use probity_nn::model::Model;
use probity_nn::train::options::TableOptions;
use probity_nn::train::{TrainSpecification, plan_split};
use probity_nn::{Classifier, Rows, predicted_class};
use probity_tensor::device::ComputeDevice;

/// An untrained network on a census of `rows` people.
fn baseline(rows: usize, seed: u64) -> Baseline {
    let schema = builtin::schema("synthetic-census").unwrap().unwrap();
    let mut options = TableOptions::default();
    options.network.hidden = vec![6];
    let encodings: Vec<Encoding> = schema
        .attributes
        .iter()
        .map(|attribute| Encoding::Scaled {
            mean: attribute.domain().1 as f32 / 2.0,
            deviation: attribute.levels() as f32 / 4.0,
        })
        .collect();
    let layout = InputLayout::new(&schema.attributes, &encodings);
    let network = Network::random(layout, &options.network.hidden, 2, Activation::Tanh, seed);
    let table = synthetic_census(&schema, rows, seed);
    let split = plan_split(&table, &schema, &options).unwrap();
    Baseline {
        reading: schema.clone(),
        model: Model { schema, network },
        model_sha256: String::new(),
        origin: Origin::Trained,
        table,
        data_sha256: String::new(),
        split,
        options,
        trained: TrainSpecification::of_table("people.csv", "synthetic-census"),
    }
}

/// The finds of an audit, and the domain that knows which rows are variants of each other.
struct Found {
    domain: TabularDomain,
    samples: Vec<Sample>,
}

/// A run by `protected` that found `samples` random inputs.
fn found(basis: &Baseline, protected: &[&str], samples: u64, seed: u64) -> Found {
    let positions: Vec<usize> = protected
        .iter()
        .map(|name| basis.model.schema.index_of(name).unwrap())
        .collect();
    let layout = &basis.model.network.layout;
    let domain = TabularDomain::new(&basis.model.schema, layout, &positions).unwrap();
    Found {
        samples: (0..samples)
            .map(|item| Sample {
                row: domain.random_input(seed, item),
                truth: [None, Some(0), Some(1)][item as usize % 3].map(RowLabel::Class),
            })
            .collect(),
        domain,
    }
}

#[test]
fn every_variant_of_a_sample_gets_one_label() {
    let basis = baseline(300, 1);
    let runs = [
        found(&basis, &["sex", "origin"], 40, 5),
        found(&basis, &["household"], 30, 6),
    ];
    let joint = found(&basis, &["sex", "origin", "household"], 1, 7).domain;
    let domains = runs.each_ref().map(|run| run.domain.clone());
    let drawn: Vec<Drawn<'_, Sample, RowLabel>> = (0..)
        .zip(&runs)
        .map(|(pool, run)| Drawn {
            pool,
            samples: run.samples.iter().collect(),
            labels: (0..run.samples.len() as u32)
                .map(|i| RowLabel::Class(i % 2))
                .collect(),
        })
        .collect();
    for counterfactuals in [0, 2] {
        let mixture = Mixture {
            weight: Some(0.5),
            counterfactuals,
        };
        let rows = mix(&basis, &drawn, (&domains, &joint), mixture, 1, 0);
        let train = basis.split.train.len();
        let copies = counterfactuals as usize * train;
        // Two sexes by four origins; five households.
        let variants = 40 * 8 + 30 * 5;
        assert_eq!(rows.variants, variants as u64);
        assert_eq!(rows.table.rows(), 300 + copies + variants);
        assert_eq!(rows.split.train.len(), train + copies + variants);
        assert_eq!(
            (&rows.split.test, &rows.split.validation),
            (&basis.split.test, &basis.split.validation)
        );
        let mut at = 300 + copies;
        for drawn in &drawn {
            let domain = &domains[drawn.pool];
            for (sample, &label) in drawn.samples.iter().zip(&drawn.labels) {
                let mut seen = HashSet::new();
                for _ in 0..domain.variants(&sample.row) {
                    let row = rows.table.row(at);
                    assert_eq!(
                        domain.individual_key(row),
                        domain.individual_key(&sample.row)
                    );
                    assert!(seen.insert(row.to_vec()), "each variant once");
                    assert_eq!(RowLabel::read(&rows.table, at), Some(label));
                    at += 1;
                }
            }
        }
        // Weights: the training rows and their copies as much as before, the variants half of that.
        let weight = |rows_of: &[u32]| {
            rows_of
                .iter()
                .map(|&row| f64::from(rows.weights[row as usize]))
                .sum::<f64>()
        };
        let (data, added) = rows.split.train.split_at(train + copies);
        assert!((weight(data) - train as f64).abs() < 1e-3);
        assert!((weight(added) - 0.5 * train as f64).abs() < 1e-3);
        // A copy is a variant of its row, with the row's label.
        let mut labels = BTreeMap::new();
        for &row in &basis.split.train {
            let key = joint.individual_key(basis.table.row(row as usize));
            labels
                .entry(key)
                .or_insert_with(Vec::new)
                .push(basis.table.labels()[row as usize]);
        }
        for at in 300..300 + copies {
            assert!(
                labels[&joint.individual_key(rows.table.row(at))]
                    .contains(&rows.table.labels()[at])
            );
        }
    }
}

#[test]
fn a_label_is_what_most_voters_say() {
    let device = ComputeDevice::flex();
    let (mut tied, mut decided) = (0, 0);
    for seed in 0..12 {
        let basis = baseline(60, seed);
        let run = found(
            &basis,
            [&["sex"][..], &["sex", "origin"], &["household"]][seed as usize % 3],
            200,
            seed,
        );
        let networks: Vec<Network> = (0..1 + seed % 3)
            .map(|other| {
                Network::random(
                    basis.model.network.layout.clone(),
                    &[6],
                    2,
                    Activation::Tanh,
                    100 * seed + other,
                )
            })
            .collect();
        let fnns: Vec<Fnn> = networks
            .iter()
            .map(|network| Fnn::new(network, &device))
            .collect();
        let voters: Vec<&dyn Classifier> = fnns.iter().map(|fnn| fnn as &dyn Classifier).collect();
        let truth = |sample: &Sample| sample.truth.and_then(RowLabel::class);
        let samples = run.samples.iter();
        let individuals: Vec<_> = samples
            .map(|sample| (sample.row.as_slice().into(), truth(sample)))
            .collect();
        let labels = majority(&voters, &run.domain, &individuals).unwrap();
        for (sample, label) in run.samples.iter().zip(labels) {
            // One row at a time.
            let class = |fnn: &Fnn, row: &[i32]| {
                predicted_class(&fnn.logits(Rows::new(row, row.len())).unwrap())
            };
            let mut votes = [0; 2];
            for fnn in &fnns {
                for variant in 0..run.domain.variants(&sample.row) {
                    let mut row = Vec::new();
                    run.domain.write_variant(&sample.row, variant, &mut row);
                    votes[class(fnn, &row) as usize] += 1;
                }
            }
            let expected = match votes[0].cmp(&votes[1]) {
                std::cmp::Ordering::Greater => 0,
                std::cmp::Ordering::Less => 1,
                std::cmp::Ordering::Equal => truth(sample).unwrap_or(class(&fnns[0], &sample.row)),
            };
            assert_eq!(label, expected, "{votes:?} {sample:?}");
            tied += u32::from(votes[0] == votes[1]);
            decided += u32::from(votes[0] != votes[1]);
        }
    }
    assert!(tied > 10 && decided > 1000, "{tied} {decided}");
}
