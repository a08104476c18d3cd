//! Counts outliers under differential privacy: the answer says almost the same whoever of the people is in the data.
//!
//! ```text
//! cargo run --release --example outliers
//! ```

use std::error::Error;

use probity::privacy::outliers::OutlierCount;
use probity::privacy::records::{DeclaredColumn, Grid};

fn main() -> Result<(), Box<dyn Error>> {
    let age = DeclaredColumn {
        name: "age".into(),
        min: 0.0,
        max: 120.0,
        unit: 15.0,
    };
    let grid = Grid::new(vec![age])?;
    let people = grid.place(&[31.0, 32.0, 35.0, 36.0, 40.0, 41.0, 90.0])?;

    // People with nobody else within half a unit, at a price of epsilon 0.5 and delta 0.01.
    let count = OutlierCount::new(1, 0.5, 0.5, 0.01);
    let cost = count.plan(&grid, people.rows())?.cost();
    let answer = count.answer(&grid, &people)?;
    println!(
        "about {} outliers, for an epsilon of {}",
        answer.count, cost.epsilon
    );
    Ok(())
}
