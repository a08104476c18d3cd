//! Passes over all pairs, whose costs are made a row at a time.

use std::ops::Range;

use rayon::prelude::*;

use super::Costs;
use super::graph::Candidate;

/// The number of pairs that are looked at before it is asked whether to go on.
const PAIRS_AT_ONCE: usize = 1 << 26;

/// The number of parts into which rows are cut that are looked at side by side.
const PARTS: usize = 8;

/// Costs that are kept where they fit, and made anew where they do not.
pub(super) struct Table<'a, C> {
    /// What makes them.
    costs: &'a C,
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub columns: usize,
    /// All of them, row by row, or nothing.
    kept: Vec<u32>,
}

impl<'a, C: Costs> Table<'a, C> {
    /// Returns the costs, which are kept if they take at most so many bytes.
    pub fn new(costs: &'a C, bytes: usize) -> Table<'a, C> {
        let (rows, columns) = (costs.rows(), costs.columns());
        let mut kept = Vec::new();
        if let Some(pairs) = rows.checked_mul(columns)
            && pairs <= bytes / size_of::<u32>()
        {
            kept = vec![0; pairs];
            kept.par_chunks_mut(columns)
                .enumerate()
                .for_each(|(row, line)| costs.fill(row, line));
        }
        Table {
            costs,
            rows,
            columns,
            kept,
        }
    }

    /// Calls a function with each row and its costs, on all threads, and returns what it returns, by row;
    /// nothing if `proceed`, which is asked now and then on the calling thread, returned false.
    pub fn map<T: Send>(
        &self,
        proceed: &dyn Fn() -> bool,
        function: impl Fn(usize, &[u32]) -> T + Sync,
    ) -> Option<Vec<T>> {
        let at_once = self.rows_at_once();
        let mut all = Vec::with_capacity(self.rows);
        for first in (0..self.rows).step_by(at_once) {
            if !proceed() {
                return None;
            }
            let rows = first..self.rows.min(first + at_once);
            all.extend(self.map_rows(rows, &function));
        }
        Some(all)
    }

    /// Calls a function with each of `rows` and its costs, on all threads, and returns what it returns.
    pub fn map_rows<T: Send>(
        &self,
        rows: Range<usize>,
        function: &(impl Fn(usize, &[u32]) -> T + Sync),
    ) -> Vec<T> {
        if self.kept.is_empty() {
            rows.into_par_iter()
                .map_init(
                    || vec![0; self.columns],
                    |line, row| {
                        self.costs.fill(row, line);
                        function(row, line)
                    },
                )
                .collect()
        } else {
            let first = rows.start;
            self.kept[first * self.columns..rows.end * self.columns]
                .par_chunks(self.columns)
                .enumerate()
                .map(|(row, line)| function(first + row, line))
                .collect()
        }
    }

    /// Finds the rows that are nearest to each column, at most so many. Returns, for each row, the columns
    /// that it is near to, and for each column the least of all costs. Of rows equally near those are taken
    /// that follow, in the circle of all rows, the place of the column among columns: where many columns
    /// are equal they are not all sent to the same rows. Returns nothing if `proceed`, which is asked now and
    /// then on the calling thread, returned false.
    pub fn nearest_rows(
        &self,
        proceed: &dyn Fn() -> bool,
        limit: usize,
    ) -> Option<(Vec<Vec<Candidate>>, Vec<i64>)> {
        let limit = limit.min(self.rows);
        let at_once = self.rows_at_once();
        let mut merged = Nearest::new(self.rows, self.columns, limit);
        for first in (0..self.rows).step_by(at_once) {
            if !proceed() {
                return None;
            }
            let rows = at_once.min(self.rows - first);
            let parts = PARTS.min(rows);
            let found: Vec<Nearest> = (0..parts)
                .into_par_iter()
                .map(|part| {
                    let [start, end] = [part, part + 1].map(|it| first + spread(it, parts, rows));
                    self.nearest_of(start, end, limit)
                })
                .collect();
            for part in &found {
                for column in 0..self.columns {
                    for &(cost, turn) in &part.best[column * limit..(column + 1) * limit] {
                        merged.offer(column, cost, turn);
                    }
                }
            }
        }
        Some(merged.by_row())
    }

    /// Returns how many rows are looked at before it is asked whether to go on.
    fn rows_at_once(&self) -> usize {
        (PAIRS_AT_ONCE / self.columns).max(PARTS)
    }

    /// Returns the nearest of the rows from `start` up to `end`.
    fn nearest_of(&self, start: usize, end: usize, limit: usize) -> Nearest {
        let mut nearest = Nearest::new(self.rows, self.columns, limit);
        let mut line = Vec::new();
        if self.kept.is_empty() {
            line.resize(self.columns, 0);
        }
        for row in start..end {
            let costs = if self.kept.is_empty() {
                self.costs.fill(row, &mut line);
                &line
            } else {
                &self.kept[row * self.columns..(row + 1) * self.columns]
            };
            for (column, &cost) in costs.iter().enumerate() {
                if cost <= nearest.best[column * limit + limit - 1].0 {
                    nearest.offer(column, cost, nearest.turn(column, row));
                }
            }
        }
        nearest
    }
}

/// The nearest rows of each column.
struct Nearest {
    /// The number of rows.
    rows: usize,
    /// The number of columns.
    columns: usize,
    /// The number of pairs that are kept for each column.
    limit: usize,
    /// The costs and turns of those of each column, least first; the greatest numbers where there are none.
    best: Vec<(u32, u32)>,
}

impl Nearest {
    /// Returns none of any column.
    fn new(rows: usize, columns: usize, limit: usize) -> Nearest {
        Nearest {
            rows,
            columns,
            limit,
            best: vec![(u32::MAX, u32::MAX); columns * limit],
        }
    }

    /// Returns how far a row comes after the place of a column in the circle of rows.
    fn turn(&self, column: usize, row: usize) -> u32 {
        let place = spread(column, self.columns, self.rows);
        (if row >= place {
            row - place
        } else {
            row + self.rows - place
        }) as u32
    }

    /// Takes a row of this cost and turn among those of a column, if it is one of the nearest.
    fn offer(&mut self, column: usize, cost: u32, turn: u32) {
        let best = &mut self.best[column * self.limit..(column + 1) * self.limit];
        if (cost, turn) < best[self.limit - 1] {
            let place = best.partition_point(|&other| other < (cost, turn));
            best[place..].rotate_right(1);
            best[place] = (cost, turn);
        }
    }

    /// Returns, for each row, the columns that it is among the nearest of, and for each column the least
    /// cost.
    fn by_row(&self) -> (Vec<Vec<Candidate>>, Vec<i64>) {
        let mut near = vec![Vec::new(); self.rows];
        let mut least = Vec::with_capacity(self.columns);
        for column in 0..self.columns {
            let best = &self.best[column * self.limit..(column + 1) * self.limit];
            least.push(i64::from(best[0].0));
            let place = spread(column, self.columns, self.rows);
            for &(cost, turn) in best {
                let row = (place + turn as usize) % self.rows;
                near[row].push(Candidate {
                    column: column as u32,
                    cost,
                });
            }
        }
        (near, least)
    }
}

/// Returns the place, among `others`, that is as far along as `index` is among `all`.
pub(super) fn spread(index: usize, all: usize, others: usize) -> usize {
    (index as u128 * others as u128 / all as u128) as usize
}

/// Finds the columns whose costs less prices are least, and less than `bound`: at most so many, least
/// first. Of equal ones those are taken that follow, in the circle of all columns, the place `start`: rows
/// that are equal are so not all sent to the same columns.
pub(super) fn cheapest(
    costs: &[u32],
    prices: &[i64],
    start: usize,
    bound: i64,
    limit: usize,
) -> Vec<(i64, Candidate)> {
    let mut best: Vec<(i64, u32, Candidate)> = Vec::new();
    let mut worst = bound;
    let mut turn = 0;
    for places in [start..costs.len(), 0..start] {
        let pairs = costs[places.clone()].iter().zip(&prices[places.clone()]);
        for (index, (&cost, &price)) in pairs.enumerate() {
            let offer = i64::from(cost) - price;
            if offer < worst {
                let column = (places.start + index) as u32;
                best.push((offer, turn + index as u32, Candidate { column, cost }));
                if best.len() >= 2 * limit {
                    worst = shorten(&mut best, limit);
                }
            }
        }
        turn = (costs.len() - start) as u32;
    }
    if best.len() > limit {
        shorten(&mut best, limit);
    }
    best.sort_unstable_by_key(|&(offer, turn, _)| (offer, turn));
    best.into_iter()
        .map(|(offer, _, candidate)| (offer, candidate))
        .collect()
}

/// Leaves the least offers, the earliest of equal ones, and returns the greatest of them.
fn shorten(best: &mut Vec<(i64, u32, Candidate)>, limit: usize) -> i64 {
    let order = |&(offer, turn, _): &(i64, u32, Candidate)| (offer, turn);
    let worst = best.select_nth_unstable_by_key(limit - 1, order).1.0;
    best.truncate(limit);
    worst
}

/// Returns the least cost less price, and at most `i64::MAX`.
pub(super) fn least(costs: &[u32], prices: &[i64]) -> i64 {
    let offers = costs.iter().zip(prices);
    offers
        .map(|(&cost, &price)| i64::from(cost) - price)
        .min()
        .unwrap_or(i64::MAX)
}
