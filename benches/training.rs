//! How long an epoch of training on a table takes, on all threads and on one.
//!
//! ```text
//! cargo bench --bench training
//! ```
//!
//! The 32,561 rows are random, with the attributes of the census: what is learnt of them has no
//! influence on the speed. The arithmetic of a row is six operations a weight: forward, back to the
//! inputs, and to the weight; none back to the inputs of the first layer. What certified training
//! adds is not counted.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use probity::data::builtin;
use probity::data::schema::Schema;
use probity::data::table::Table;
use probity::fairness::domain::{Domain, TabularDomain};
use probity::nn::encoding::{Encoding, InputLayout};
use probity::nn::fnn::{Activation, Network};
use probity::nn::train::course::Course;
use probity::nn::train::options::TableOptions;
use probity::nn::train::table::worst_case::TableWorstCase;
use probity::nn::train::table::{TrainingSet, train_on};
use probity::nn::train::{Split, TrainError};
use probity::tensor::device::ComputeDevice;

type Failure = Box<dyn std::error::Error>;

/// Rows of the census.
const ROWS: u32 = 32_561;

/// Epochs, of which the fastest counts.
const EPOCHS: u32 = 7;

const NARROW: &[usize] = &[64, 32, 16, 8, 4];

fn main() -> Result<(), Failure> {
    let schema = builtin::schema("adf-census")?.ok_or("no schema adf-census")?;
    let scaled = Encoding::Scaled {
        mean: 3.0,
        deviation: 2.0,
    };
    let embedded = Encoding::Embedded { dimension: 4 };
    let threads = rayon::current_num_threads();
    println!("{ROWS} rows, {threads} threads (one thread)");
    for (name, encoding, hidden, batch, is_certified) in [
        ("census", scaled, NARROW, 128, false),
        ("census", scaled, NARROW, 512, false),
        ("census, one-hot", Encoding::OneHot, NARROW, 128, false),
        ("census, embedded", embedded, NARROW, 128, false),
        ("census, certified", scaled, NARROW, 128, true),
        ("3 x 512", scaled, &[512; 3], 128, false),
        ("3 x 512, certified", scaled, &[512; 3], 128, true),
    ] {
        let work = Work {
            schema: &schema,
            encoding,
            hidden,
            batch,
            is_certified,
        };
        let (together, operations) = work.epoch()?;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
        let (alone, _) = pool.install(|| work.epoch().map_err(|error| error.to_string()))?;
        println!(
            "{name:20} batches of {batch:3}: {:7.4} s an epoch ({:7.4} s), {:5.1} GFLOP/s",
            together.as_secs_f64(),
            alone.as_secs_f64(),
            operations / together.as_secs_f64() / 1e9,
        );
    }
    Ok(())
}

/// A training.
#[derive(Clone, Copy)]
struct Work<'a> {
    schema: &'a Schema,
    encoding: Encoding,
    hidden: &'a [usize],
    batch: usize,
    is_certified: bool,
}

impl Work<'_> {
    /// The time of the fastest epoch, and its operations.
    fn epoch(&self) -> Result<(Duration, f64), Failure> {
        let encodings = vec![self.encoding; self.schema.attributes.len()];
        let layout = InputLayout::new(&self.schema.attributes, &encodings);
        let network = Network::random(layout, self.hidden, 2, Activation::Relu, 1);
        let sex = self.schema.index_of("sex")?;
        let domain = TabularDomain::new(self.schema, &network.layout, &[sex])?;
        let codes = (0..u64::from(ROWS)).flat_map(|item| domain.random_input(1, item));
        let labels = (0..ROWS).map(|row| row % 3 / 2).collect();
        let table = Table::new(self.schema.attributes.len(), codes.collect(), labels);
        let first = network.layers[0].outputs * network.layout.layer_inputs();
        let others: usize = network.layers[1..].iter().map(|l| l.weight.len()).sum();
        let operations = f64::from(ROWS) * (4 * first + 6 * others) as f64;
        let worst_case = TableWorstCase {
            protected: vec![sex],
            course: Course {
                warm_up: 0.0,
                full_by: 0.0,
                ..Course::default()
            },
        };
        let set = TrainingSet {
            table: &table,
            split: Split {
                train: (0..ROWS).collect(),
                validation: Vec::new(),
                test: Vec::new(),
            },
            row_weights: None,
            network,
        };
        let mut options = TableOptions::default();
        options.learning.epochs = Some(EPOCHS);
        options.learning.batch = Some(self.batch);
        let mut times = Vec::new();
        let mut started = Instant::now();
        let device = ComputeDevice::flex();
        let worst_case = self.is_certified.then_some(&worst_case);
        let trained: Result<_, TrainError> =
            train_on(set, &options, worst_case, &device, &mut |_| {
                times.push(started.elapsed());
                started = Instant::now();
                ControlFlow::Continue(())
            });
        trained?;
        Ok((times.into_iter().min().unwrap_or_default(), operations))
    }
}
