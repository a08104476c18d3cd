//! How learning, incremental learning and the quick certificate grow with the number of rows.
//!
//! Rows are random in 16 columns with 10 labels that follow the first column; K goes up to a tenth
//! of the rows. Doubling the rows makes `learn` take about four times as long (every row meets
//! every other), `learn_update` of n removals as well (twice as many rows list a removed one, and
//! twice as many K are counted for each), and `quick_certify` about twice (K + n steps). A second
//! table compares both ways of learning by columns.
//!
//! ```text
//! cargo bench --bench knn                # 1,000 to 8,000 rows
//! cargo bench --bench knn -- 32000       # up to so many rows
//! ```

use std::hint::black_box;
use std::time::{Duration, Instant};

use probity::knn::{
    Candidates, Deadline, KnnSystem, LearnUpdate, Parameters, Setup, TrainingSet, learn_update,
    quick_certify,
};
use probity::run::stream::{Purpose, stream};
use probity::tensor::device::ComputeDevice;
use probity::tensor::nearest::euclidean::SquaredDistances;
use rand::RngExt;

const COLUMNS: usize = 16;
/// Rows of the comparison by columns.
const ROWS: usize = 4000;
const POISON: usize = 8;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let most = std::env::args()
        .skip(1)
        .find_map(|argument| argument.parse().ok())
        .unwrap_or(8000);
    println!(
        "{} threads; n = {POISON}; {COLUMNS} columns",
        rayon::current_num_threads()
    );
    println!(
        "{:>7} {:>12} {:>14} {:>14} {:>14}",
        "rows", "learn", "learn, tensors", "learn_update", "quick_certify"
    );
    let mut rows = 1000;
    while rows <= most {
        measure(rows)?;
        rows *= 2;
    }
    println!(
        "\n{ROWS} rows\n{:>7} {:>12} {:>14}",
        "columns", "learn", "learn, tensors"
    );
    for columns in [16, 36, 64, 128, 256, 512] {
        let setup = setup(ROWS, columns)?;
        let started = Instant::now();
        let system = KnnSystem::learn(setup.clone());
        let learning = started.elapsed();
        let with_tensors = with_tensors(setup, system.k())?;
        println!("{columns:>7} {learning:>12.2?} {with_tensors:>14.2?}");
    }
    Ok(())
}

/// The time of learning by products, whatever `learn_on` would choose.
fn with_tensors(setup: Setup, k: usize) -> Result<Duration, Failure> {
    let training = setup.training().clone();
    let started = Instant::now();
    let (rows, columns) = (training.features(), training.columns());
    let mut distances = SquaredDistances::new(rows, columns, &ComputeDevice::flex())
        .ok_or("the rows do not fit f32")?;
    let system = KnnSystem::learn_approximately(setup, 512, &mut distances, Deadline::never())?;
    let time = started.elapsed();
    if system.k() != k {
        return Err("the two ways of learning disagree".into());
    }
    Ok(time)
}

fn setup(rows: usize, columns: usize) -> Result<Setup, Failure> {
    let mut parameters = Parameters::default().folds(10).seed(1).poison(POISON);
    parameters.candidates = Candidates::share(rows, 10);
    Ok(parameters.check(training(rows, columns)?)?)
}

fn measure(rows: usize) -> Result<(), Failure> {
    let setup = setup(rows, COLUMNS)?;
    let started = Instant::now();
    let system = KnnSystem::learn(setup.clone());
    let learning = started.elapsed();
    let with_tensors = with_tensors(setup, system.k())?;
    let update = LearnUpdate::new(&system);
    let mut draw = stream(1, Purpose::TestInputs, rows as u64, 0);
    let updating = each(50, || {
        let mut removal: Vec<usize> = (0..POISON).map(|_| draw.random_range(0..rows)).collect();
        removal.sort_unstable();
        removal.dedup();
        black_box(learn_update(&update, &removal)).map(|_| ())
    })?;
    let mut at = 0;
    let queries = (0..200)
        .map(|row| system.query(system.training().row(row)))
        .collect::<Result<Vec<_>, _>>()?;
    let certifying = each(200, || {
        black_box(quick_certify(&queries[at % queries.len()]));
        at += 1;
        Ok::<(), Failure>(())
    })?;
    println!(
        "{rows:>7} {learning:>12.2?} {with_tensors:>14.2?} {updating:>14.2?} {certifying:>14.2?}"
    );
    Ok(())
}

/// The mean time of `work`.
fn each<E>(times: u32, mut work: impl FnMut() -> Result<(), E>) -> Result<Duration, E> {
    let started = Instant::now();
    for _ in 0..times {
        work()?;
    }
    Ok(started.elapsed() / times)
}

fn training(rows: usize, columns: usize) -> Result<TrainingSet, Failure> {
    let mut features = Vec::with_capacity(rows * columns);
    let mut labels = Vec::with_capacity(rows);
    for row in 0..rows {
        let mut draw = stream(1, Purpose::Synthetic, row as u64, 0);
        let first: f64 = draw.random_range(0.0..10.0);
        features.push(4.0 * first);
        features.extend((1..columns).map(|_| draw.random_range(0.0..4.0)));
        labels.push(if draw.random_bool(0.9) {
            first as u16
        } else {
            draw.random_range(0..10)
        });
    }
    Ok(TrainingSet::new(features, columns, labels)?)
}
