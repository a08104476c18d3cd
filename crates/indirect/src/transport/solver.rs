//! The search for the flow: widths that shrink, and pairs that are added.

use std::ops::Range;

use super::check::dual;
use super::graph::{Candidate, Graph};
use super::pricing::{Table, cheapest, spread};
use super::refine::{State, Width};
use super::{Costs, Flow, Marginals, Options, Progress, Transport, gap};

/// The number of pairs that each row begins with, for each column that it must send to.
const FIRST: usize = 12;

/// The number of rows that each column begins with.
const NEAREST: usize = 6;

/// The number of pairs that are offered to each row at each pass, for each column that it must send to.
const OFFERED: usize = 8;

/// The number of pairs that a row keeps while the width shrinks, for each column that it must send to.
const KEPT: usize = 40;

/// The power of two by which the first width is below the greatest cost.
const COARSEST: u32 = 3;

/// The power of two by which the width shrinks.
const STEP: u32 = 3;

/// How often a width is kept since pairs that were missing are most of the gap.
const REPEATS: u32 = 2;

/// The number of times that distances are measured from which on too few pairs are looked at: the ways
/// along them are long.
const SLOW: u64 = 100;

/// The number of pairs up to which twice as many are offered where those offered were not enough.
const BROADEST: usize = 1 << 24;

/// The state of the search.
pub(super) struct Solver<'a, C> {
    /// The costs.
    table: Table<'a, C>,
    /// When to end.
    options: Options,
    /// The units of rows and columns.
    marginals: Marginals,
    /// Whether to go on.
    proceed: &'a dyn Fn(Progress) -> bool,
    /// The pairs that are looked at.
    graph: Graph,
    /// Prices, and what is still to be sent.
    state: State,
    /// The width to which prices and flow agree.
    width: Width,
    /// The best flow, and its cost.
    best: Option<(u128, Vec<Flow>)>,
    /// The best lower bound.
    lower_bound: u128,
    /// The prices of rows that prove it.
    row_prices: Vec<i64>,
    /// The prices of columns that prove it.
    column_prices: Vec<i64>,
    /// The number of passes over all pairs.
    passes: u64,
    /// How often the present width was kept.
    repeats: u32,
    /// By how much more pairs are offered and kept, since what was offered was not enough.
    breadth: usize,
}

/// What a pass over all pairs has found at the prices of the columns.
struct Pass {
    /// The cheapest pairs of each row.
    found: Vec<Vec<Candidate>>,
    /// By how much the bound over all pairs is below the one over those that were looked at.
    missing: u128,
    /// The bound.
    bound: i128,
}

impl<'a, C: Costs> Solver<'a, C> {
    /// Finds the pairs to begin with. Returns `None` if it is stopped.
    pub fn new(
        costs: &'a C,
        options: Options,
        proceed: &'a dyn Fn(Progress) -> bool,
    ) -> Option<Solver<'a, C>> {
        let (rows, columns) = (costs.rows(), costs.columns());
        let marginals = Marginals::new(rows, columns);
        let table = Table::new(costs, options.cache);
        let state = State::new(rows, columns, marginals.row as i64, marginals.column as i64);
        let mut solver = Solver {
            table,
            options,
            marginals,
            proceed,
            graph: Graph::new(rows, columns),
            state,
            width: Width::Exact,
            best: None,
            lower_bound: 0,
            row_prices: vec![0; rows],
            column_prices: vec![0; columns],
            passes: 0,
            repeats: 0,
            breadth: 1,
        };
        solver.begin().then_some(solver)
    }

    /// Fills the graph with the nearest columns of each row and the nearest rows of each column, and
    /// returns whether it was not stopped.
    fn begin(&mut self) -> bool {
        if !self.proceeds() {
            return false;
        }
        let proceed = || self.proceeds();
        let Some((near, least)) = self.table.nearest_rows(&proceed, NEAREST) else {
            return false;
        };
        let limit = self.limit(FIRST);
        let found = self.table.map(&proceed, |row, line| {
            let start = spread(row, self.table.rows, self.table.columns);
            let offers = cheapest(line, &least, start, i64::MAX, limit);
            let stairs = stairs(self.marginals, row).map(|column| Candidate {
                column: column as u32,
                cost: line[column],
            });
            let price = offers.first().map_or(0, |&(offer, _)| offer);
            let offered = offers.into_iter().map(|(_, candidate)| candidate);
            (price, offered.chain(stairs).collect::<Vec<_>>())
        });
        let Some(found) = found else {
            return false;
        };
        self.passes += 2;
        self.graph.rebuild(
            |row| found[row].1.iter().chain(&near[row]).copied(),
            |_, _| true,
        );
        let prices: Vec<i64> = found.iter().map(|&(price, _)| price).collect();
        self.state.column_prices.clone_from(&least);
        self.prove(dual(&prices, &least), prices, least);
        let greatest = self.graph.arc_costs.iter().max().copied().unwrap_or(0);
        let exponent = greatest.checked_ilog2().unwrap_or(0);
        self.width = Width::Power(exponent.saturating_sub(COARSEST));
        true
    }

    /// Searches until the gap is small enough, and returns what was found, or `None` if it is stopped
    /// before anything was.
    pub fn solve(mut self) -> Option<Transport> {
        while self.improve() {}
        let (objective, flows) = self.best?;
        Some(Transport {
            flows,
            objective,
            lower_bound: self.lower_bound,
            row_prices: self.row_prices,
            column_prices: self.column_prices,
        })
    }

    /// Finds the flow of the present width, prices all pairs, and adds what was missing. Returns whether
    /// there is more to do.
    fn improve(&mut self) -> bool {
        let (best, proceed) = (self.best.as_ref().map(|best| best.0), self.proceed);
        let progress = Progress {
            objective: best,
            lower_bound: self.lower_bound,
            passes: self.passes,
        };
        let refined = self
            .state
            .refine(&mut self.graph, self.width, &|| proceed(progress));
        let Some(phases) = refined else {
            return false;
        };
        let objective = self.graph.objective();
        if best.is_none_or(|best| objective < best) {
            self.best = Some((objective, self.graph.flows()));
        }
        if !self.proceeds() {
            return false;
        }
        let Some(pass) = self.pass() else {
            return false;
        };
        let best = self.best.as_ref().map_or(objective, |best| best.0);
        if gap(best, self.lower_bound) <= self.options.gap.max(0.0) {
            return false;
        }
        self.extend(&pass);
        self.width = self.next_width(&pass, objective, phases);
        true
    }

    /// Prices all pairs, and keeps the bound that this proves if it is the best. Returns `None` if it is
    /// stopped.
    fn pass(&mut self) -> Option<Pass> {
        let prices = &self.state.column_prices;
        let looked: Vec<i64> = (0..self.graph.rows)
            .map(|row| self.offers(row).min().unwrap_or(i64::MAX))
            .collect();
        let limit = self.limit(OFFERED);
        let found = self.table.map(&|| self.proceeds(), |row, line| {
            let start = spread(row, self.table.rows, self.table.columns);
            let bound = match self.width {
                Width::Exact => looked[row],
                Width::Power(_) => i64::MAX,
            };
            cheapest(line, prices, start, bound, limit)
        })?;
        self.passes += 1;
        let offers = found.iter().zip(&looked);
        let row_prices: Vec<i64> = offers
            .map(|(found, &looked)| found.first().map_or(looked, |&(offer, _)| offer))
            .collect();
        let bound = dual(&row_prices, prices);
        let pass = Pass {
            missing: (dual(&looked, prices) - bound).unsigned_abs(),
            bound,
            found: found
                .into_iter()
                .map(|found| found.into_iter().map(|(_, candidate)| candidate).collect())
                .collect(),
        };
        self.prove(bound, row_prices, prices.clone());
        Some(pass)
    }

    /// Adds the pairs that a pass has found, and forgets the dearest while there is a width. Without one
    /// the pairs only grow, so that the search ends.
    fn extend(&mut self, pass: &Pass) {
        let limit = self.limit(KEPT);
        let dearest: Vec<i64> = (0..self.graph.rows)
            .map(|row| {
                let mut offers: Vec<i64> = self.offers(row).collect();
                if self.width == Width::Exact || offers.len() <= limit {
                    return i64::MAX;
                }
                *offers.select_nth_unstable(limit).1
            })
            .collect();
        let (marginals, prices) = (self.marginals, &self.state.column_prices);
        self.graph.rebuild(
            |row| pass.found[row].iter().copied(),
            |row, candidate| {
                let column = candidate.column as usize;
                stairs(marginals, row).contains(&column)
                    || i64::from(candidate.cost) - prices[column] <= dearest[row]
            },
        );
    }

    /// Returns the width to go on with after a pass at which the flow had this cost.
    fn next_width(&mut self, pass: &Pass, objective: u128, phases: u64) -> Width {
        let gap = (objective as i128 - pass.bound).unsigned_abs();
        let short = pass.missing > gap / 2;
        if short && phases > SLOW && self.graph.rows * self.limit(KEPT) <= BROADEST {
            self.breadth *= 2;
            return self.width;
        }
        if short && self.repeats < REPEATS {
            self.repeats += 1;
            return self.width;
        }
        self.repeats = 0;
        match self.width {
            Width::Exact | Width::Power(0) => Width::Exact,
            Width::Power(exponent) => Width::Power(exponent.saturating_sub(STEP)),
        }
    }

    /// Keeps prices and the bound that they prove if it is the best.
    fn prove(&mut self, bound: i128, row_prices: Vec<i64>, column_prices: Vec<i64>) {
        let bound = u128::try_from(bound).unwrap_or(0);
        if bound > self.lower_bound {
            self.lower_bound = bound;
            self.row_prices = row_prices;
            self.column_prices = column_prices;
        }
    }

    /// Returns the costs less prices of the pairs of a row that are looked at.
    fn offers(&self, row: usize) -> impl Iterator<Item = i64> + '_ {
        self.graph
            .arcs(row)
            .map(|arc| self.state.offer(&self.graph, arc))
    }

    /// Asks whether to go on.
    fn proceeds(&self) -> bool {
        (self.proceed)(Progress {
            objective: self.best.as_ref().map(|best| best.0),
            lower_bound: self.lower_bound,
            passes: self.passes,
        })
    }

    /// Returns how many pairs of a row these are, of which there are so many for each column that the row
    /// must send to.
    fn limit(&self, each: usize) -> usize {
        let share = self.table.columns.div_ceil(self.table.rows);
        (each * share * self.breadth).min(self.table.columns)
    }
}

/// Returns the columns that a row sends to where the rows in turn fill the columns in turn.
fn stairs(marginals: Marginals, row: usize) -> Range<usize> {
    let first = row as u64 * marginals.row;
    let last = first + marginals.row - 1;
    (first / marginals.column) as usize..(last / marginals.column) as usize + 1
}
