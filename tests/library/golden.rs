//! Figures on real data: the published ADF census network, the built-in schemas on the files that
//! they were written for, and the quality of training that the paper's Table III asks for.
//!
//! The data are not part of the package. Without them (`PROBITY_DATA_DIR`, else `../shared/data`)
//! every test says so and passes.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use probity::data::builtin;
use probity::data::read::ReadError;
use probity::data::schema::{OutOfDomain, Schema};
use probity::data::table::{Labels, Table};
use probity::fairness::adf::Adf;
use probity::fairness::calls::Calls;
use probity::fairness::distinct::Mark;
use probity::fairness::domain::{Domain, TabularDomain};
use probity::fairness::estimate::discriminatory_share;
use probity::fairness::search::{Ending, Search, SearchOptions, SearchState};
use probity::fairness::seeds::clustered_seeds;
use probity::fairness::statistics::clopper_pearson;
use probity::nn::fnn::{Fnn, Network};
use probity::nn::import::ImportConfig;
use probity::nn::metrics::Metrics;
use probity::nn::train::options::{Categories, Learning, TableOptions};
use probity::nn::train::table::{parallel_logits, train};
use probity::nn::weights::read_weights;
use probity::nn::{Classifier, Objective, Rows};
use probity::tensor::device::ComputeDevice;
use probity_testing::data;

fn schema(name: &str) -> Schema {
    builtin::schema(name).unwrap().unwrap()
}

fn read(folder: &Path, file: &str, schema: &Schema) -> Table {
    Table::read(folder.join(file), schema, Labels::Required).unwrap()
}

const NETWORK: &str = "peer-models/adf-census";
const CENSUS: &str = "adf/census.csv.gz";

/// The published network, from the file with its tensors in the layout of `file`.
fn published(folder: &Path, file: &str) -> Network {
    let text = include_str!("../../crates/nn/models/adf-fnn.toml");
    let config = ImportConfig::from_toml(text).unwrap();
    let weights = read_weights(&folder.join(NETWORK).join(file)).unwrap();
    let (network, report) = config.network(&weights, &schema("adf-census")).unwrap();
    assert_eq!((report.matched.len(), report.unused.len()), (12, 0));
    network
}

/// Both published layouts predict alike, and the 256 published differences logit(high) −
/// logit(low), within 1e-5 (of the difference, where it is above 1).
#[test]
fn both_layouts_predict_what_was_published() {
    let Some(folder) = data(&[NETWORK]) else {
        return;
    };
    let golden = fs::read_to_string(folder.join(NETWORK).join("golden.csv")).unwrap();
    let mut codes = Vec::new();
    let mut expected = Vec::new();
    for line in golden.lines().skip(1) {
        let (row, difference) = line.rsplit_once(',').unwrap();
        codes.extend(row.split(',').map(|code| code.parse::<i32>().unwrap()));
        expected.push(difference.parse::<f32>().unwrap());
    }
    assert_eq!(expected.len(), 256);
    let rows = Rows::new(&codes, 13);
    let [keras, pytorch] = ["keras_layout.npz", "pytorch_layout.safetensors"].map(|file| {
        let network = published(&folder, file);
        let fnn = Fnn::new(&network, &ComputeDevice::flex());
        (fnn.logits(rows).unwrap(), network)
    });
    assert_eq!(keras.0, pytorch.0, "the same numbers, so the same logits");
    for ((logits, expected), row) in keras.0.chunks_exact(2).zip(expected).zip(rows.iter()) {
        let near = |difference: f64| {
            let error = (difference - f64::from(expected)).abs();
            error <= 1e-5 * f64::from(expected.abs()).max(1.0)
        };
        assert!(
            near(f64::from(logits[1] - logits[0])),
            "{row:?}: {logits:?} {expected}"
        );
        let exact = keras.1.reference_logits(row);
        assert!(near(exact[1] - exact[0]), "{row:?}: {exact:?} {expected}");
    }
}

/// The kernels decide as plain loops in 64 bits do, but for rows within rounding of a tie.
#[test]
fn decisions_are_those_of_64_bits() {
    let Some(folder) = data(&[NETWORK]) else {
        return;
    };
    let network = published(&folder, "keras_layout.npz");
    let fnn = Fnn::new(&network, &ComputeDevice::flex());
    let schema = schema("adf-census");
    let domain = TabularDomain::new(&schema, &network.layout, &[8]).unwrap();
    let codes: Vec<i32> = (0..100_000)
        .flat_map(|item| domain.random_input(4, item))
        .collect();
    let rows = Rows::new(&codes, 13);
    let classes = fnn.predict(rows).unwrap();
    for (row, class) in rows.iter().zip(classes) {
        let exact = network.reference_logits(row);
        let lead = exact[1] - exact[0];
        assert!(
            class == u32::from(lead > 0.0) || lead.abs() < 1e-5,
            "{row:?}: class {class}, lead {lead}"
        );
    }
}

/// Shares of uniform random rows that are discriminatory, which an independent
/// implementation measured, and for which the paper prints 3.14, 9.75 and 10.88 %.
///
/// The share that is counted in 100,000 rows must have an interval (Clopper-Pearson, covering the
/// network's true share with probability 99.99 % at least) that meets the stated range: a true
/// share inside it is missed with probability at most 1e-4 a protected attribute. The seed is
/// fixed.
#[test]
fn the_share_of_discriminatory_inputs() {
    let Some(folder) = data(&[NETWORK]) else {
        return;
    };
    let network = published(&folder, "keras_layout.npz");
    let fnn = Fnn::new(&network, &ComputeDevice::flex());
    let schema = schema("adf-census");
    for (protected, low, high) in [
        ("sex", 0.030, 0.031),
        ("race", 0.099, 0.100),
        ("age", 0.104, 0.108),
    ] {
        let position = schema.index_of(protected).unwrap();
        let domain = TabularDomain::new(&schema, &network.layout, &[position]).unwrap();
        let share = discriminatory_share(&fnn, &domain, vec![], 100_000, 1, &mut |_| {
            ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!(share.sampled, 100_000);
        let interval = clopper_pearson(share.discriminatory, share.sampled, 1e-4);
        assert!(
            interval[0] <= high && low <= interval[1],
            "{protected}: {share:?} {interval:?}"
        );
        // The reported 95 % interval, too, for this fixed seed.
        assert!(
            share.ci95[0] <= high && low <= share.ci95[1],
            "{protected}: {share:?}"
        );
        eprintln!("{protected}: {:.3} % {:?}", 100.0 * share.rate, share.ci95);
    }
}

/// Yields: from 1,000 seeds at least so many distinct individuals in the global phase
/// (the paper found 334, 456 and 658), and of the local phase's distinct individuals at least such
/// a part discriminatory.
#[test]
fn what_a_search_yields() {
    let Some(folder) = data(&[NETWORK, CENSUS]) else {
        return;
    };
    let network = published(&folder, "pytorch_layout.safetensors");
    let fnn = Fnn::new(&network, &ComputeDevice::flex());
    let schema = schema("adf-census");
    let table = read(&folder, CENSUS, &schema);
    let seeds = clustered_seeds(&table, 4, 1000, 1);
    assert_eq!(seeds.len(), 1000);
    for (protected, global, success) in
        [("sex", 640, 0.73), ("race", 860, 0.86), ("age", 900, 0.90)]
    {
        let position = schema.index_of(protected).unwrap();
        let domain = TabularDomain::new(&schema, &network.layout, &[position]).unwrap();
        let strategy = Adf {
            model: &fnn,
            domain: &domain,
            objective: Objective::Margin,
            step_global: 1,
            step_local: 1,
            seed: 1,
        };
        let options = SearchOptions {
            max_iter: 10,
            local: 100,
            ..SearchOptions::default()
        };
        let search = Search {
            model: &fnn,
            reference: None,
            domain: &domain,
            strategy: &strategy,
            calls: &Calls::default(),
            options: &options,
        };
        let rows = seeds.iter().map(|&row| table.row(row as usize).to_vec());
        let mut state = SearchState::new(rows, 2);
        let ending = search
            .run(&mut state, &mut |_| ControlFlow::Continue(()))
            .unwrap();
        assert_eq!(ending, Ending::Complete);
        let people = state.individuals();
        let found = people.count(Mark::GlobalDiscriminatory);
        let rate = people.count(Mark::LocalDiscriminatory) as f64
            / people.count(Mark::LocalGenerated) as f64;
        eprintln!("{protected}: global {found}, local success {rate:.4}");
        assert!(found >= global, "{protected}: {found}");
        assert!(rate >= success, "{protected}: {rate}");
    }
}

/// Every built-in schema reads the file that it describes: the rows of SOURCES.md, and the classes
/// that the publishers count.
#[test]
fn built_in_schemas_read_their_files() {
    for (name, file, rows, of_last_class) in [
        ("census", "adult/adult.data.gz", 32_561, 7_841),
        ("census", "adult/adult.test.gz", 16_281, 3_846),
        ("german-credit", "german_credit/german.data", 1_000, 300),
        (
            "bank-marketing",
            "bank_marketing/bank-full.csv.gz",
            45_211,
            5_289,
        ),
        (
            "compas",
            "compas/compas-two-years-anonymised.csv.gz",
            7_214,
            3_251,
        ),
        ("adf-census", CENSUS, 32_561, 7_841),
        ("adf-credit", "adf/credit_sample.csv", 600, 300),
        ("adf-bank", "adf/bank.csv.gz", 45_211, 5_289),
    ] {
        let Some(folder) = data(&[file]) else {
            continue;
        };
        let schema = schema(name);
        let table = read(&folder, file, &schema);
        assert_eq!(table.rows(), rows, "{name}");
        assert_eq!(table.counts.skipped_rows, 0, "{name}");
        let last = table.labels().iter().filter(|&&label| label == 1).count();
        assert_eq!(last, of_last_class, "{name}");
        for (position, attribute) in schema.attributes.iter().enumerate() {
            let (min, max) = attribute.domain();
            let mut codes = (0..table.rows()).map(|row| table.row(row)[position]);
            assert!(
                codes.all(|code| (min..=max).contains(&code)),
                "{name} {}",
                attribute.name
            );
        }
    }
}

/// The ADF census goes beyond the paper's domains in 4,295 places. Clipped, each becomes the end of
/// its domain; with a level of their own, the one code above it; refused, the first is named.
#[test]
fn values_outside_the_papers_domains() {
    let Some(folder) = data(&[CENSUS]) else {
        return;
    };
    let clipping = schema("adf-census");
    let clipped = read(&folder, CENSUS, &clipping);
    let levelling = clipping.clone().with_outside(OutOfDomain::Level);
    let levelled = read(&folder, CENSUS, &levelling);
    for table in [&clipped, &levelled] {
        assert_eq!(table.rows(), 32_561);
        assert_eq!(table.counts.mapped_values, 4_295);
    }
    // SOURCES.md: 1,836 people without a workclass.
    for (name, outside) in [
        ("workclass", 1_836),
        ("fnlwgt", 29),
        ("occupation", 1_843),
        ("capital_loss", 3),
        ("native_country", 584),
    ] {
        let position = clipping.index_of(name).unwrap();
        let (_, last) = clipping.attributes[position].domain();
        let beyond = (0..levelled.rows()).filter(|&row| levelled.row(row)[position] == last + 1);
        let beyond: Vec<usize> = beyond.collect();
        assert_eq!(beyond.len(), outside, "{name}");
        for row in beyond {
            assert_eq!(clipped.row(row)[position], last);
        }
    }
    let different = clipped.codes().iter().zip(levelled.codes());
    assert_eq!(different.filter(|(a, b)| a != b).count(), 4_295);
    let skipping = clipping.clone().with_outside(OutOfDomain::Skip);
    let skipped = read(&folder, CENSUS, &skipping);
    assert_eq!(
        (skipped.rows(), skipped.counts.skipped_rows),
        (30_134, 2_427)
    );
    let refusing = clipping.with_outside(OutOfDomain::Reject);
    let error = Table::read(folder.join(CENSUS), &refusing, Labels::Required).unwrap_err();
    let ReadError::BadRow(reason) = &error else {
        panic!("{error}");
    };
    assert!(matches!(**reason, ReadError::Value { .. }), "{error}");
    assert!(error.to_string().contains("'100'"), "{error}");
}

/// Trains and says how good the network is on what it saw and on what it did not see.
fn quality(table: &Table, schema: &Schema, options: &TableOptions) -> (Metrics, Option<Metrics>) {
    let device = ComputeDevice::flex();
    let trained = train(table, schema, options, &device, None, &mut |_, _| {
        ControlFlow::Continue(())
    })
    .unwrap();
    let fnn = Fnn::new(&trained.network, &device);
    let on = |rows: &[u32]| {
        let part = table.select(rows);
        let logits = parallel_logits(&fnn, &part).unwrap();
        Metrics::new(&logits, fnn.classes(), part.labels())
    };
    let test = &trained.split.test;
    (
        on(&trained.split.train),
        (!test.is_empty()).then(|| on(test)),
    )
}

/// Options that learn the training data as far as the paper's Table III.
fn thorough(epochs: u32, batch: usize) -> TableOptions {
    let mut options = TableOptions::default();
    options.learning = Learning {
        epochs: Some(epochs),
        batch: Some(batch),
        learning_rate: Some(0.005),
        weight_decay: Some(0.0),
        validation: Some(0.0),
        test: 0.0,
        ..Learning::default()
    };
    options.network.hidden = vec![64, 32, 16, 8, 4];
    options
}

/// Table III: the six-layer network reaches 88.15 % on the census that it was trained on.
#[test]
fn census_is_learnt() {
    let Some(folder) = data(&[CENSUS]) else {
        return;
    };
    let schema = schema("adf-census");
    let table = read(&folder, CENSUS, &schema);
    let (train, _) = quality(&table, &schema, &thorough(80, 256));
    eprintln!("census: {:.4}", train.accuracy);
    assert_eq!(train.rows, 32_561);
    assert!(train.accuracy >= 0.8815, "{train:?}");
}

/// At least 84 % on a third of the census that was held out, in each way of entering the
/// missing values.
#[test]
fn census_is_predicted() {
    let Some(folder) = data(&[CENSUS]) else {
        return;
    };
    for outside in [OutOfDomain::Clip, OutOfDomain::Level] {
        let schema = schema("adf-census").with_outside(outside);
        let table = read(&folder, CENSUS, &schema);
        let mut options = TableOptions::default();
        options.learning.test = 1.0 / 3.0;
        let (_, test) = quality(&table, &schema, &options);
        let test = test.unwrap();
        eprintln!("census, held out, {outside:?}: {:.4}", test.accuracy);
        assert_eq!(test.rows, 10_854);
        assert!(test.accuracy >= 0.84, "{test:?}");
        assert!(test.accuracy > test.majority_share + 0.07);
        assert!(test.auc.unwrap() > 0.88, "{test:?}");
    }
}

/// The raw census file, with its words as one-hot levels, predicts as well.
#[test]
fn raw_census_is_predicted() {
    let file = "adult/adult.data.gz";
    let Some(folder) = data(&[file]) else { return };
    let schema = schema("census");
    let table = read(&folder, file, &schema);
    let mut options = TableOptions::default();
    options.network.hidden = vec![32, 16];
    options.network.categories = Categories::OneHot;
    options.learning = Learning {
        epochs: Some(4),
        test: 1.0 / 3.0,
        validation: Some(0.0),
        ..Learning::default()
    };
    let test = quality(&table, &schema, &options).1.unwrap();
    eprintln!("raw census, held out: {:.4}", test.accuracy);
    assert!(test.accuracy >= 0.84, "{test:?}");
}

/// Table III: 92 % on the bank data that it was trained on.
#[test]
fn bank_is_learnt() {
    let file = "adf/bank.csv.gz";
    let Some(folder) = data(&[file]) else { return };
    let schema = schema("adf-bank");
    let table = read(&folder, file, &schema);
    let (train, _) = quality(&table, &schema, &thorough(32, 256));
    eprintln!("bank: {:.4}", train.accuracy);
    assert!(train.accuracy >= 0.92, "{train:?}");
}

/// Table III: all of the credit data that it was trained on.
#[test]
fn credit_is_learnt() {
    let file = "adf/credit_sample.csv";
    let Some(folder) = data(&[file]) else { return };
    let schema = schema("adf-credit");
    let table = read(&folder, file, &schema);
    let (train, _) = quality(&table, &schema, &thorough(120, 32));
    assert_eq!(train.accuracy, 1.0, "{train:?}");
    assert_eq!(train.confusion, [[300, 0], [0, 300]]);
}
