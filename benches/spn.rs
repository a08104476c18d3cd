//! How learning and deletion grow with rows and columns.
//!
//! Rows are random 0/1 columns in eight groups that hang together within a group, from two
//! populations. For each size one network is learnt, 50 rows are deleted one after the other, and
//! the last deletion is checked against learning anew. A deletion costs about (columns² + changed
//! centroids × rows) a node on its way, learning about rows × columns² a level.
//!
//! ```text
//! cargo bench --bench spn                # up to 16,000 rows
//! cargo bench --bench spn -- 64000       # up to so many rows
//! ```

use std::time::Instant;

use probity::run::stream::{Purpose, permutation, stream};
use probity::unlearning::spn::{Dataset, Domain, LeafFamily, Spn, SpnParameters, Variable};
use rand::RngExt;

const DELETIONS: usize = 50;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let most = std::env::args()
        .skip(1)
        .find_map(|argument| argument.parse().ok())
        .unwrap_or(16_000);
    println!(
        "{:>7} {:>7} {:>11} {:>14} {:>14} {:>8} {:>9}",
        "rows", "columns", "learn", "delete, mean", "delete, worst", "ratio", "identical"
    );
    for columns in [16, 64] {
        let mut rows = 1000;
        while rows <= most {
            measure(rows, columns)?;
            rows *= 4;
        }
    }
    Ok(())
}

fn measure(rows: usize, columns: usize) -> Result<(), Failure> {
    let data = data(rows, columns)?;
    let parameters = SpnParameters::default();
    let started = Instant::now();
    let mut spn = Spn::learn(parameters, data)?;
    let learning = started.elapsed();
    let mut total = 0.0f64;
    let mut worst = 0.0f64;
    for &victim in &permutation(1, Purpose::SpnBenchmark, 1, rows as u32)[..DELETIONS] {
        let started = Instant::now();
        spn.delete(&[u64::from(victim)])?;
        let seconds = started.elapsed().as_secs_f64();
        total += seconds;
        worst = worst.max(seconds);
    }
    let identical = spn.to_bytes()? == spn.retrained()?.to_bytes()?;
    let mean = total / DELETIONS as f64;
    println!(
        "{rows:>7} {columns:>7} {learning:>11.2?} {:>11.3} ms {:>11.3} ms {:>8.1} {identical:>9}",
        1e3 * mean,
        1e3 * worst,
        learning.as_secs_f64() / mean
    );
    Ok(())
}

fn data(rows: usize, columns: usize) -> Result<Dataset, Failure> {
    let levels = vec!["0".to_owned(), "1".to_owned()];
    let variables: Result<Vec<Variable>, _> = (0..columns)
        .map(|at| {
            let domain = Domain::Categorical {
                levels: levels.clone(),
            };
            Variable::new(format!("v{at}"), domain, LeafFamily::Categorical)
        })
        .collect();
    let mut values = Vec::with_capacity(rows * columns);
    for row in 0..rows as u64 {
        let mut draws = stream(1, Purpose::SpnBenchmark, 1000 + row, 0);
        let population = draws.random::<f64>() < 0.3;
        let groups: [bool; 8] = std::array::from_fn(|_| draws.random::<f64>() < 0.5);
        for column in 0..columns {
            let lean = groups[column % 8] != (population && column % 3 == 0);
            let share = if lean { 0.85 } else { 0.15 };
            values.push(f64::from(u8::from(draws.random::<f64>() < share)));
        }
    }
    let ids: Vec<u64> = (0..rows as u64).collect();
    Ok(Dataset::new(variables?, &ids, &[], &values)?)
}
