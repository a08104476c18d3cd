//! How a private outlier count grows with the number of records and columns, and what one noisy
//! number costs.
//!
//! Records are a normal group with one record in a thousand three times as far out. The radius
//! falls with the number of records, so that a share of them stays outliers. `count` is one whole
//! count: degrees, smooth bound, noise.
//!
//! ```text
//! cargo bench --bench outliers              # up to 100,000 records
//! cargo bench --bench outliers -- 1000000
//! ```

use std::time::{Duration, Instant};

use probity::privacy::calibration::Guarantee;
use probity::privacy::count::{CountOptions, CountPlan, Outliers, Sensitivity};
use probity::privacy::degrees::degrees;
use probity::privacy::error::PrivacyError;
use probity::privacy::noise::SystemBits;
use probity::privacy::noise::normal::rounded_sum;
use probity::privacy::records::{DeclaredColumn, Grid, Records};
use probity::privacy::sensitivity::Bound;
use probity::run::stream::{Purpose, stream};
use rand::RngExt;

const THRESHOLD: usize = 3;
const DRAWS: u32 = 100_000;

fn main() -> Result<(), PrivacyError> {
    let most = std::env::args()
        .skip(1)
        .find_map(|argument| argument.parse().ok())
        .unwrap_or(100_000);
    println!(
        "{} threads; k = {THRESHOLD}, epsilon 0.5, delta 0.01",
        rayon::current_num_threads()
    );
    println!(
        "{:>9} {:>7} {:>7} {:>12} {:>12}",
        "records", "columns", "bound", "degrees", "count"
    );
    for columns in [1, 2, 3, 6] {
        let mut rows = 1000;
        while rows <= most {
            measure(rows, columns, Bound::Auto, "auto")?;
            rows *= 10;
        }
    }
    measure(16, 7, Bound::Exact, "exact")?;
    measure(16, 7, Bound::Cover, "cover")?;
    let mut bits = SystemBits::new();
    let started = Instant::now();
    for _ in 0..DRAWS {
        rounded_sum(0, 12.5, &mut bits)?;
    }
    println!("one noisy number: {:?}", started.elapsed() / DRAWS);
    Ok(())
}

fn measure(rows: usize, columns: usize, bound: Bound, name: &str) -> Result<(), PrivacyError> {
    let (records, outliers) = data(rows, columns)?;
    let options = CountOptions::default()
        .sensitivity(Sensitivity::Smooth)
        .bound(bound);
    let plan = CountPlan::new(outliers, Guarantee::new(0.5, 0.01)?, options, rows, columns)?;
    let started = Instant::now();
    let found = degrees(&records, outliers.squared_radius, 50);
    let counting: Duration = started.elapsed();
    assert_eq!(found.len(), rows);
    let started = Instant::now();
    plan.answer(&records, &mut SystemBits::new())?;
    let all = started.elapsed();
    println!("{rows:>9} {columns:>7} {name:>7} {counting:>12.2?} {all:>12.2?}");
    Ok(())
}

fn data(rows: usize, columns: usize) -> Result<(Records, Outliers), PrivacyError> {
    let mut values = Vec::with_capacity(rows * columns);
    for row in 0..rows as u64 {
        let mut draw = stream(1, Purpose::OutlierData, row, 0);
        for _ in 0..columns {
            // Twelve uniform numbers: near enough to normal.
            let sum: f64 = (0..12).map(|_| draw.random::<f64>()).sum();
            let far = if row % 1000 == 0 { 3.0 } else { 1.0 };
            values.push((sum - 6.0) * far);
        }
    }
    let declared = (0..columns).map(|column| DeclaredColumn {
        name: column.to_string(),
        min: -20.0,
        max: 20.0,
        unit: 1.0,
    });
    let grid = Grid::new(declared.collect())?;
    // Many records in one column are nearer to each other than radii may be.
    let radius = (4.0 * (rows as f64).powf(-1.0 / columns as f64)).max(2e-4);
    let outliers = Outliers {
        k: THRESHOLD,
        squared_radius: grid.squared_radius(radius, columns)?,
    };
    Ok((grid.place(&values)?, outliers))
}
