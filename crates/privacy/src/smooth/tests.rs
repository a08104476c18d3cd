//! Tests of the bound against its definition, and on every database of a tiny universe.

use super::*;
use crate::calibration::Guarantee;
use crate::degrees::degrees;
use crate::horizon::growing_bound;
use crate::kissing::global_sensitivity_at_most;
use crate::records::Records;
use crate::sensitivity::{Bound, Method};
use probity_run::stream::{Purpose, stream};
use rand::RngExt;

/// Computes A_t by its definition.
fn at_distance(degrees: &[u32], k: i64, t: i64, cap: u64, ball: &dyn LargestBall) -> u64 {
    let window = |low: i64, high: i64| -> u64 {
        let members: Vec<u32> = (0..degrees.len() as u32)
            .filter(|&at| (low..=high).contains(&i64::from(degrees[at as usize])))
            .collect();
        u64::from(ball.largest(&members, u32::MAX).unwrap())
    };
    let most = window(k - t, k + t).max(window(k - 1 - t, k - 1 + t));
    (most + t as u64 + 1).min(cap)
}

/// Computes S by its definition: every t, nothing skipped.
fn plainly(degrees: &[u32], k: usize, beta: f64, cap: u64, ball: &dyn LargestBall) -> f64 {
    (0..degrees.len() as i64 + 5)
        .map(|t| (-beta * t as f64).exp() * at_distance(degrees, k as i64, t, cap, ball) as f64)
        .fold(0.0, f64::max)
}

#[test]
fn skipping_changes_nothing() {
    for case in 0..600_u64 {
        let mut draw = stream(11, Purpose::OutlierData, case, 0);
        let columns = 1 + (case % 3) as usize;
        let rows: usize = draw.random_range(4..30);
        let side = 12;
        let values = (0..rows * columns)
            .map(|_| f64::from(draw.random_range(0..side)))
            .collect();
        let records = Records::from_grid(values, columns).unwrap();
        let squared_radius = f64::from(draw.random_range(1..60));
        let k = draw.random_range(1..rows.min(6));
        let beta = [0.02, 0.1, 0.5, 2.0][(case / 3 % 4) as usize];
        let cap = global_sensitivity_at_most(rows, columns, k);
        let horizon = Horizon::new(beta, cap);
        let method = if case % 2 == 0 {
            Bound::Exact
        } else {
            Bound::Cover
        };
        let method = method.resolve(rows, columns, 1, u64::MAX).unwrap();
        let ball = method.on(&records, squared_radius, u64::MAX);
        let found = degrees(&records, squared_radius, horizon.degree_cap(k));
        let bound = smooth_bound(&found, k, horizon, &*ball).unwrap();
        let all = degrees(&records, squared_radius, u32::MAX - 2);
        let plain = plainly(&all, k, beta, cap, &*ball);
        assert_eq!(bound.value, plain, "case {case}: {method:?}");
        assert!(bound.value >= growing_bound(beta, cap as f64, 0.0));

        let guarantee = Guarantee::new([0.1, 0.7, 2.0][(case % 3) as usize], 0.01).unwrap();
        let noise = InverseNoise::new(guarantee, cap).unwrap();
        let found = degrees(&records, squared_radius, noise.horizon().degree_cap(k));
        let steps = inverse_steps(&found, k, &noise, &*ball).unwrap();
        let bounds: Vec<u64> = (0..=noise.horizon().last as i64)
            .map(|t| at_distance(&all, k as i64, t, cap, &*ball))
            .collect();
        assert_eq!(
            noise.difference(&steps, &noise.steps(&bounds)),
            None,
            "case {case}"
        );
    }
}

/// A universe of all databases of a size over a small grid as sorted lists of cells, with the count
/// of each.
struct Universe {
    cells: Vec<Vec<f64>>,
    squared_radius: f64,
    k: usize,
    rows: usize,
}

impl Universe {
    fn records(&self, database: &[usize]) -> Records {
        let values = database.iter().flat_map(|&cell| self.cells[cell].clone());
        Records::from_grid(values.collect(), self.cells[0].len()).unwrap()
    }

    fn count(&self, database: &[usize]) -> i64 {
        let found = degrees(&self.records(database), self.squared_radius, 100);
        found
            .iter()
            .filter(|&&degree| (degree as usize) < self.k)
            .count() as i64
    }

    fn all(&self) -> Vec<Vec<usize>> {
        let mut all = vec![Vec::new()];
        for _ in 0..self.rows {
            all = all
                .into_iter()
                .flat_map(|database: Vec<usize>| {
                    let from = database.last().copied().unwrap_or(0);
                    (from..self.cells.len()).map(move |cell| {
                        let mut longer = database.clone();
                        longer.push(cell);
                        longer
                    })
                })
                .collect();
        }
        all
    }

    fn neighbours(&self, database: &[usize]) -> Vec<Vec<usize>> {
        let mut found = Vec::new();
        for at in 0..database.len() {
            for cell in 0..self.cells.len() {
                let mut other = database.to_vec();
                other[at] = cell;
                other.sort_unstable();
                found.push(other);
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// Checks the whole universe of databases: A_t against the true local sensitivity at distance t, S
/// against all neighbours.
fn holds_everywhere(universe: &Universe, method: Method, beta: f64) -> usize {
    let all = universe.all();
    let index: std::collections::HashMap<&Vec<usize>, usize> = all
        .iter()
        .enumerate()
        .map(|(at, database)| (database, at))
        .collect();
    let counts: Vec<i64> = all
        .iter()
        .map(|database| universe.count(database))
        .collect();
    let neighbours: Vec<Vec<usize>> = all
        .iter()
        .map(|database| {
            let near = universe.neighbours(database);
            near.iter().map(|other| index[other]).collect()
        })
        .collect();
    let mut local: Vec<i64> = (0..all.len())
        .map(|at| {
            neighbours[at]
                .iter()
                .map(|&o| (counts[o] - counts[at]).abs())
                .max()
                .unwrap()
        })
        .collect();
    let dimension = universe.cells[0].len();
    let cap = global_sensitivity_at_most(universe.rows, dimension, universe.k);
    let horizon = Horizon::new(beta, cap);
    let (mut bounds, mut smooth) = (Vec::new(), Vec::new());
    for database in &all {
        let records = universe.records(database);
        let ball = method.on(&records, universe.squared_radius, u64::MAX);
        let found = degrees(
            &records,
            universe.squared_radius,
            horizon.degree_cap(universe.k),
        );
        smooth.push(
            smooth_bound(&found, universe.k, horizon, &*ball)
                .unwrap()
                .value,
        );
        let wide = Horizon {
            last: universe.rows,
            ..horizon
        };
        let found = degrees(
            &records,
            universe.squared_radius,
            wide.degree_cap(universe.k),
        );
        let windows = Windows::new(&found, universe.k, wide);
        let at_distance: Vec<u64> = (0..=universe.rows)
            .map(|t| {
                let most = [0, 1].map(|which| {
                    u64::from(ball.largest(windows.members(which, t), u32::MAX).unwrap())
                });
                (most[0].max(most[1]) + t as u64 + 1).min(cap)
            })
            .collect();
        bounds.push(at_distance);
    }
    for t in 0..=universe.rows {
        for ((database, bounds), &local) in all.iter().zip(&bounds).zip(&local) {
            let bound = bounds[t];
            assert!(
                bound as i64 >= local,
                "{method:?}: {database:?} at distance {t}: {bound} < {local}"
            );
        }
        local = (0..all.len())
            .map(|at| neighbours[at].iter().map(|&o| local[o]).max().unwrap())
            .collect();
    }
    let mut pairs = 0;
    for at in 0..all.len() {
        for &other in &neighbours[at] {
            assert!(
                smooth[at] <= beta.exp() * smooth[other] * (1.0 + 1e-12),
                "{method:?}: S({:?}) = {} but S({:?}) = {}",
                all[at],
                smooth[at],
                all[other],
                smooth[other]
            );
            pairs += 1;
        }
    }
    pairs
}

#[test]
fn the_bound_is_smooth_on_every_tiny_database() {
    let line =
        |cells: u32| -> Vec<Vec<f64>> { (0..cells).map(|cell| vec![f64::from(cell)]).collect() };
    let plane = |side: u32| -> Vec<Vec<f64>> {
        (0..side * side)
            .map(|cell| vec![f64::from(cell % side), f64::from(cell / side)])
            .collect()
    };
    let cube: Vec<Vec<f64>> = (0..8_u32)
        .map(|cell| (0..3).map(|bit| f64::from((cell >> bit) & 1)).collect())
        .collect();
    let mut pairs = 0;
    let cases = [
        (line(9), vec![1.0, 4.0], 5),
        (line(5), vec![1.0], 7),
        (plane(3), vec![1.0, 2.0], 4),
        (cube, vec![1.0, 2.0], 5),
    ];
    for (cells, radii, rows) in cases {
        for squared_radius in radii {
            for k in [1, 2, 3] {
                let universe = Universe {
                    cells: cells.clone(),
                    squared_radius,
                    k,
                    rows,
                };
                let exact = Bound::Exact
                    .resolve(rows, cells[0].len(), 1, u64::MAX)
                    .unwrap();
                for method in [exact, Method::Cover] {
                    for beta in [0.05, 0.7] {
                        pairs += holds_everywhere(&universe, method, beta);
                    }
                }
            }
        }
    }
    assert!(pairs > 500_000, "{pairs}");
}
