//! Tests of the transportation problem.

use std::cell::Cell;

use rayon::ThreadPoolBuilder;

use super::objectives::OBJECTIVES;
use super::*;

/// Costs that are there.
struct Matrix {
    rows: usize,
    columns: usize,
    costs: Vec<u32>,
}

impl Matrix {
    fn new(rows: usize, columns: usize, cost: impl Fn(usize, usize) -> u32) -> Matrix {
        let pairs = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        Matrix {
            rows,
            columns,
            costs: pairs.map(|(row, column)| cost(row, column)).collect(),
        }
    }

    /// Returns costs of one of four kinds: any, few different, distances of points, and distances of few
    /// different points.
    fn drawn(key: u64, rows: usize, columns: usize) -> Matrix {
        let range = [1, 3, 50, 1_000, 1_000_000, 1 << 24][(draw(key, 1) % 6) as usize];
        let points = |index: usize, side: u64| {
            let number = if key % 4 == 3 { index / 7 } else { index };
            let first = 1_000 + side * 1_000_000 + 2 * number as u64;
            [draw(key, first) % range, draw(key, first + 1) % range]
        };
        Matrix::new(rows, columns, |row, column| {
            if key % 4 < 2 {
                return (draw(key, 1_000 + (row * columns + column) as u64) % range) as u32;
            }
            let (from, to) = (points(row, 0), points(column, 1));
            (from[0].abs_diff(to[0]) + from[1].abs_diff(to[1])) as u32
        })
    }

    fn at(&self, row: usize, column: usize) -> u32 {
        self.costs[row * self.columns + column]
    }
}

impl Costs for Matrix {
    fn rows(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> usize {
        self.columns
    }

    fn fill(&self, row: usize, costs: &mut [u32]) {
        costs.copy_from_slice(&self.costs[row * self.columns..(row + 1) * self.columns]);
    }
}

/// Returns a number that depends on nothing but key and index (the finaliser of SplitMix64).
fn draw(key: u64, index: u64) -> u64 {
    let mut bits = key
        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        .wrapping_add(index.wrapping_mul(0xD1B5_4A32_D192_ED03));
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (bits ^ (bits >> 31)) >> 11
}

/// Solves and checks.
fn solved(costs: &impl Costs, options: Options) -> Transport {
    let transport = transport(costs, options, &|_| true).unwrap();
    let certificate = check(costs, &transport).unwrap();
    assert_eq!(certificate.objective, transport.objective);
    assert_eq!(certificate.lower_bound, transport.lower_bound);
    assert!(transport.gap() <= options.gap);
    transport
}

/// Solves exactly and checks, both with costs that are kept and with costs that are made anew.
fn least_cost(costs: &impl Costs) -> u128 {
    let kept = solved(costs, Options::default());
    let options = Options { gap: 0.0, cache: 0 };
    assert_eq!(solved(costs, options), kept);
    assert_eq!(kept.objective, kept.lower_bound);
    kept.objective
}

/// Returns the least cost of all assignments of rows from this one on to columns that are not taken.
fn tried(costs: &Matrix, row: usize, taken: u32) -> u128 {
    let free = (0..costs.columns).filter(|column| taken & (1 << column) == 0);
    free.map(|column| {
        u128::from(costs.at(row, column)) + tried(costs, row + 1, taken | (1 << column))
    })
    .min()
    .unwrap_or(0)
}

/// Returns the least cost by the Hungarian method, each unit a row or column of its own.
fn hungarian(costs: &Matrix) -> u128 {
    let marginals = Marginals::new(costs.rows, costs.columns);
    let (supply, demand) = (marginals.row as usize, marginals.column as usize);
    let units = costs.rows * supply;
    let cost = |row: usize, column: usize| i64::from(costs.at(row / supply, column / demand));
    let (mut rows, mut columns) = (vec![0; units + 1], vec![0; units + 1]);
    let mut matched = vec![0; units + 1];
    for start in 1..=units {
        matched[0] = start;
        let mut column = 0;
        let (mut slack, mut used) = (vec![i64::MAX; units + 1], vec![false; units + 1]);
        let mut before = vec![0; units + 1];
        while matched[column] != 0 {
            used[column] = true;
            let row = matched[column];
            let (mut delta, mut next) = (i64::MAX, 0);
            for other in (1..=units).filter(|&other| !used[other]) {
                let reduced = cost(row - 1, other - 1) - rows[row] - columns[other];
                if reduced < slack[other] {
                    (slack[other], before[other]) = (reduced, column);
                }
                if slack[other] < delta {
                    (delta, next) = (slack[other], other);
                }
            }
            for other in 0..=units {
                if used[other] {
                    rows[matched[other]] += delta;
                    columns[other] -= delta;
                } else {
                    slack[other] -= delta;
                }
            }
            column = next;
        }
        while column != 0 {
            matched[column] = matched[before[column]];
            column = before[column];
        }
    }
    (1..=units)
        .map(|column| cost(matched[column] - 1, column - 1) as u128)
        .sum()
}

#[test]
fn as_cheap_as_the_best_of_all_assignments() {
    for key in 0..300 {
        let side = 1 + (key % 7) as usize;
        let costs = Matrix::drawn(key, side, side);
        assert_eq!(least_cost(&costs), tried(&costs, 0, 0), "{key}");
    }
}

#[test]
fn unequal_sides_as_cheap_as_the_hungarian_method() {
    for key in 0..300 {
        let rows = 1 + (draw(key, 2) % 15) as usize;
        let columns = 1 + (draw(key, 3) % 15) as usize;
        let costs = Matrix::drawn(key, rows, columns);
        assert_eq!(least_cost(&costs), hungarian(&costs), "{key}");
    }
    for (rows, columns) in [(3, 90), (90, 3), (80, 40), (40, 80), (60, 90)] {
        let costs = Matrix::drawn(6, rows, columns);
        assert_eq!(least_cost(&costs), hungarian(&costs), "{rows} × {columns}");
    }
}

#[test]
fn as_cheap_as_linear_sum_assignment() {
    for (key, &objective) in (0..).zip(&OBJECTIVES) {
        let side = 1 + (draw(key, 0) % 300) as usize;
        let costs = Matrix::drawn(key, side, side);
        assert_eq!(least_cost(&costs), u128::from(objective), "{key}");
    }
}

#[test]
fn one_row_or_column() {
    let costs = |rows, columns| Matrix::new(rows, columns, |row, column| (row + 2 * column) as u32);
    assert_eq!(least_cost(&costs(1, 1)), 0);
    assert_eq!(least_cost(&costs(1, 5)), 20);
    assert_eq!(least_cost(&costs(5, 1)), 10);
}

#[test]
fn equal_points_and_no_costs() {
    for cost in [0, 1, u32::MAX] {
        let costs = Matrix::new(300, 200, |_, _| cost);
        // As many units as the least common multiple of the sides.
        assert_eq!(least_cost(&costs), 600 * u128::from(cost));
    }
    // Groups of the same points, of different sizes.
    let costs = Matrix::new(400, 400, |row, column| {
        (row / 100).abs_diff(column / 80) as u32
    });
    assert_eq!(least_cost(&costs), 200);
}

#[test]
fn far_from_the_nearest() {
    // All rows have the same order of columns, so that almost none can have what it is nearest to. By the
    // rearrangement inequality the dearest row goes with the cheapest column.
    let side = 120;
    let costs = Matrix::new(side, side, |row, column| ((row + 1) * (column + 1)) as u32);
    let least = (1..=side).map(|row| (row * (side + 1 - row)) as u128).sum();
    assert_eq!(least_cost(&costs), least);
}

#[test]
fn within_the_gap() {
    for key in 0..40 {
        let costs = Matrix::drawn(key, 150, 100);
        let least = least_cost(&costs);
        for gap in [0.3, 0.05, 0.01] {
            let near = solved(
                &costs,
                Options {
                    gap,
                    ..Options::default()
                },
            );
            assert!(near.lower_bound <= least && least <= near.objective);
            assert!(near.objective as f64 * (1.0 - gap) <= least as f64);
        }
    }
    let costs = Matrix::drawn(0, 20, 20);
    let unknown = Options {
        gap: f64::NAN,
        ..Options::default()
    };
    let found = transport(&costs, unknown, &|_| true).unwrap();
    assert_eq!(found.objective, found.lower_bound);
}

#[test]
fn the_same_for_any_threads() {
    for key in 0..12 {
        let costs = Matrix::drawn(key, 210, 140 + 10 * key as usize);
        let found = [1, 2, 5].map(|threads| {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build();
            pool.unwrap().install(|| solved(&costs, Options::default()))
        });
        assert_eq!(found[0], found[1]);
        assert_eq!(found[0], found[2]);
    }
}

#[test]
fn stopped() {
    let costs = Matrix::drawn(4, 200, 150);
    let never = transport(&costs, Options::default(), &|_| false);
    assert_eq!(never, Err(TransportError::Interrupted));
    let least = least_cost(&costs);
    for more in 0..20 {
        let asked = Cell::new(0);
        let proceed = |progress: Progress| {
            asked.set(asked.get() + u32::from(progress.objective.is_some()));
            asked.get() <= more
        };
        let found = transport(&costs, Options::default(), &proceed).unwrap();
        check(&costs, &found).unwrap();
        assert!(found.lower_bound <= least && least <= found.objective);
    }
}

#[test]
fn nothing_to_send() {
    let costs = Matrix::new(0, 3, |_, _| 0);
    let (rows, columns) = (0, 3);
    assert_eq!(
        transport(&costs, Options::default(), &|_| true),
        Err(TransportError::Empty { rows, columns })
    );
}

#[test]
fn flaws_are_found() {
    let costs = Matrix::drawn(5, 12, 8);
    let right = solved(&costs, Options::default());
    let flaw = |change: &dyn Fn(&mut Transport)| {
        let mut wrong = right.clone();
        change(&mut wrong);
        check(&costs, &wrong).unwrap_err()
    };
    assert_eq!(flaw(&|it| it.flows.swap(0, 1)), Flaw::Flow { index: 1 });
    assert_eq!(flaw(&|it| it.flows[0].units = 0), Flaw::Flow { index: 0 });
    assert_eq!(flaw(&|it| it.flows[3].row = 12), Flaw::Flow { index: 3 });
    let more = flaw(&|it| it.flows[0].units += 1);
    assert!(matches!(more, Flaw::Row { row: 0, .. }));
    let moved = flaw(&|it| {
        let last = it.flows.len() - 1;
        let column = it.flows[last].column;
        it.flows[last].column = if column == 7 { 0 } else { 7 };
        it.flows.sort_by_key(|flow| (flow.row, flow.column));
    });
    assert!(matches!(moved, Flaw::Column { .. } | Flaw::Flow { .. }));
    assert_eq!(flaw(&|it| it.row_prices[4] += 1), Flaw::Price { row: 4 });
    assert_eq!(flaw(&|it| it.row_prices.truncate(3)), Flaw::Prices);
    assert!(matches!(
        flaw(&|it| it.objective += 1),
        Flaw::Objective { .. }
    ));
    assert!(matches!(
        flaw(&|it| it.lower_bound += 1),
        Flaw::LowerBound { .. }
    ));
    assert!(matches!(
        flaw(&|it| it.column_prices[0] -= 1),
        Flaw::LowerBound { .. }
    ));
}
