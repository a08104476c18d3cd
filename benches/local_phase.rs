//! How fast the local phase is, against what its arithmetic allows, and where the time goes.
//!
//! The network is the published ADF census network where the data folder is there (environment
//! PROBITY_DATA_DIR), else a random one of the same shape; speed does not
//! depend on the weights except through the share of successful trials.
//!
//! ```text
//! cargo bench --bench local_phase                   # sex, and sex × race × age; 1,000 × 1,000
//! cargo bench --bench local_phase -- growth         # 10², 10³, 10⁴ seeds
//! cargo bench --bench local_phase -- networks       # rows a second of one thread, other networks
//! ```

use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use probity::data::builtin;
use probity::data::schema::Schema;
use probity::data::table::{Labels, Table};
use probity::fairness::adf::{Adf, AdfMemory};
use probity::fairness::calls::Calls;
use probity::fairness::check::check_until_flip;
use probity::fairness::distinct::{DistinctSet, Mark};
use probity::fairness::domain::{Domain, TabularDomain};
use probity::fairness::search::{Search, SearchOptions, SearchState};
use probity::fairness::seeds::clustered_seeds;
use probity::nn::encoding::{Encoding, InputLayout};
use probity::nn::fnn::{Activation, Fnn, Network};
use probity::nn::import::ImportConfig;
use probity::nn::weights::read_weights;
use probity::nn::{Classifier, Differentiable, Objective, Rows};
use probity::tensor::device::ComputeDevice;
use rayon::prelude::*;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let under_test = UnderTest::load()?;
    println!(
        "network: {}, {} multiply-adds a forward row; {} threads",
        under_test.origin,
        under_test.network.multiply_adds(),
        rayon::current_num_threads()
    );
    if std::env::args().any(|argument| argument == "growth") {
        return growth(&under_test);
    }
    if std::env::args().any(|argument| argument == "networks") {
        return networks(&under_test);
    }
    breakdown(&under_test)?;
    for protected in [&["sex"][..], &["sex", "race", "age"]] {
        under_test.search(protected, 1000, 1000)?;
    }
    Ok(())
}

/// Seeds and trials against time: linear.
fn growth(under_test: &UnderTest) -> Result<(), Failure> {
    for (seeds, trials) in [
        (100, 1000),
        (1000, 1000),
        (10_000, 1000),
        (1000, 100),
        (1000, 10_000),
    ] {
        under_test.search(&["sex"], seeds, trials)?;
    }
    Ok(())
}

/// Logits and input gradients of one thread, for networks of other kinds and widths.
fn networks(under_test: &UnderTest) -> Result<(), Failure> {
    let domain = under_test.domain(&["sex"])?;
    let codes: Vec<i32> = (0..4096)
        .flat_map(|item| domain.random_input(1, item))
        .collect();
    let narrow = &[64, 32, 16, 8, 4][..];
    for (name, encoding, hidden, activation) in [
        ("scaled, ReLU", Encoding::RAW, narrow, Activation::Relu),
        ("scaled, tanh", Encoding::RAW, narrow, Activation::Tanh),
        ("one-hot, ReLU", Encoding::OneHot, narrow, Activation::Relu),
        ("3 x 512", Encoding::RAW, &[512; 3], Activation::Relu),
        ("3 x 1,024", Encoding::RAW, &[1024; 3], Activation::Relu),
    ] {
        let layout = InputLayout::new(&under_test.schema.attributes, &[encoding; 13]);
        let network = Network::random(layout, hidden, 2, activation, 1);
        let model = Fnn::new(&network, &ComputeDevice::flex());
        let rows = Rows::new(&codes, domain.width());
        let cotangents: Vec<f32> = (0..rows.len()).flat_map(|_| [1.0, -1.0]).collect();
        let rate = |work: &dyn Fn()| {
            let times = (0..9).map(|_| {
                let started = Instant::now();
                work();
                started.elapsed().as_secs_f64()
            });
            rows.len() as f64 / times.fold(f64::INFINITY, f64::min)
        };
        let forward = rate(&|| {
            black_box(model.logits(rows).ok());
        });
        let gradients = rate(&|| {
            black_box(model.input_gradients(rows, &cotangents).ok());
        });
        println!("{name:16} {forward:10.0} forward rows/s, {gradients:10.0} gradient rows/s");
    }
    Ok(())
}

/// The parts of one check, each alone in large batches on all threads, for one protected pair.
fn breakdown(under_test: &UnderTest) -> Result<(), Failure> {
    let domain = under_test.domain(&["sex"])?;
    let model = Fnn::new(&under_test.network, &ComputeDevice::flex());
    let checks: usize = 1 << 18;
    let chunk = 512;
    let codes: Vec<i32> = (0..chunk as u64)
        .flat_map(|item| domain.random_input(1, item))
        .collect();
    let width = domain.width();
    let rows = Rows::new(&codes, width);
    let time = |name: &str, work: &(dyn Fn() + Sync)| {
        let started = Instant::now();
        (0..checks / chunk).into_par_iter().for_each(|_| work());
        let nanoseconds = started.elapsed().as_secs_f64() * 1e9 / checks as f64;
        println!("  {name:46} {nanoseconds:8.1} ns a check");
    };
    // A check: two forward rows; the gradients that led to it: two rows, forward and backward.
    let operations = 2 * 2 * 3 * under_test.network.multiply_adds();
    println!(
        "arithmetic of a check with fresh gradients: {operations} floating-point operations\n\
         ({} when the forward pass of the check is shared with the gradient's)",
        2 * 2 * 2 * under_test.network.multiply_adds()
    );
    let hints = vec![0; chunk];
    time("variants: 2 forward rows and their comparison", &|| {
        black_box(check_until_flip(&model, &domain, rows, &hints).ok());
    });
    let cotangents: Vec<f32> = (0..chunk).flat_map(|_| [1.0, -1.0]).collect();
    time("gradients: 2 rows, forward and backward", &|| {
        for _ in 0..2 {
            black_box(model.input_gradients(rows, &cotangents).ok());
        }
    });
    time("keys of a row and of its individual", &|| {
        for row in rows.iter() {
            black_box((domain.row_key(row), domain.individual_key(row)));
        }
    });
    let started = Instant::now();
    let mut sets = (DistinctSet::default(), DistinctSet::default());
    for item in 0..checks as u128 {
        let key = item.wrapping_mul(0x9e37_79b9_7f4a_7c15) & ((1 << 60) - 1);
        let marks = [Mark::LocalGenerated, Mark::LocalDiscriminatory];
        sets.0.mark(key, &marks);
        sets.1.mark(key, &marks);
    }
    black_box(&sets);
    println!(
        "  {:46} {:8.1} ns a check (one thread)",
        "distinct sets: two marks in two sets",
        started.elapsed().as_secs_f64() * 1e9 / checks as f64
    );
    Ok(())
}

struct UnderTest {
    origin: &'static str,
    schema: Schema,
    network: Network,
    table: Table,
}

impl UnderTest {
    fn load() -> Result<UnderTest, Failure> {
        let schema = builtin::schema("adf-census")?.ok_or("no schema adf-census")?;
        let data = std::env::var_os("PROBITY_DATA_DIR").map(PathBuf::from);
        let network = |data: &PathBuf| data.join("peer-models/adf-census/keras_layout.npz");
        if let Some(data) = data.filter(|data| network(data).is_file()) {
            let weights = network(&data);
            let config = ImportConfig::from_toml(include_str!("../models/adf-fnn.toml"))?;
            let (network, _) = config.network(&read_weights(&weights)?, &schema)?;
            let table = Table::read(data.join("adf/census.csv.gz"), &schema, Labels::Required)?;
            return Ok(UnderTest {
                origin: "published ADF census network",
                schema,
                network,
                table,
            });
        }
        let layout = InputLayout::new(&schema.attributes, &[Encoding::RAW; 13]);
        let network = Network::random(layout, &[64, 32, 16, 8, 4], 2, Activation::Relu, 1);
        let domain = TabularDomain::new(&schema, &network.layout, &[8])?;
        let codes = (0..32_561).flat_map(|item| domain.random_input(1, item));
        Ok(UnderTest {
            origin: "random network of the ADF census network's shape",
            table: Table::new(13, codes.collect(), Vec::new()),
            schema,
            network,
        })
    }

    fn domain(&self, protected: &[&str]) -> Result<TabularDomain, Failure> {
        let protected = protected
            .iter()
            .map(|name| self.schema.index_of(name))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(TabularDomain::new(
            &self.schema,
            &self.network.layout,
            &protected,
        )?)
    }

    fn search(&self, protected: &[&str], seeds: usize, trials: u32) -> Result<(), Failure> {
        let domain = self.domain(protected)?;
        let model = Fnn::new(&self.network, &ComputeDevice::flex());
        let strategy = Adf {
            model: &model,
            domain: &domain,
            objective: Objective::Margin,
            step_global: 1,
            step_local: 1,
            seed: 1,
        };
        let options = SearchOptions {
            max_iter: 10,
            local: trials,
            batch: 4096,
            max_found: None,
            max_calls: None,
            time: None,
        };
        let search = Search {
            model: &model,
            reference: None,
            domain: &domain,
            strategy: &strategy,
            calls: &Calls::default(),
            options: &options,
        };
        let seeds = clustered_seeds(&self.table, 4, seeds, 1);
        let rows = seeds
            .iter()
            .map(|&row| self.table.row(row as usize).to_vec());
        let mut state: SearchState<AdfMemory> = SearchState::new(rows, 2);
        search.run(&mut state, &mut |_| ControlFlow::Continue(()))?;
        let local = state.local();
        let found = state.individuals().count(Mark::LocalDiscriminatory);
        // A pair's arithmetic bound; the other variants of larger products come on top.
        let bound = 2 * 2 * 2 * self.network.multiply_adds();
        println!(
            "{:16} {:6} seeds x {trials:5} trials: {:8.2} s, {:9} checks, {:8.0} checks/s, {:8.0} distinct discriminatory/s, {:6.0} ns a check, {:.1} GFLOP/s of the bound",
            protected.join(" x "),
            seeds.len(),
            local.seconds,
            local.checks,
            local.checks as f64 / local.seconds,
            found as f64 / local.seconds,
            1e9 * local.seconds / local.checks as f64,
            1e-9 * bound as f64 * local.checks as f64 / local.seconds,
        );
        Ok(())
    }
}
