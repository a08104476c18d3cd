//! The transportation problem: who is sent to whom, at least cost, with a proof that nothing is cheaper.
//!
//! Each row has as many units to send, each column as many to receive, so that with as many rows as
//! columns one unit goes from each and to each: the assignment problem. The costs of a row are made when
//! they are asked for, since all of them together need not fit into memory.
//!
//! ```text
//! Costs ──► pricing::Table ──► graph::Graph ──► refine::State ──► flows, prices of columns
//!                 ▲            (few pairs)      (least cost                │
//!                 │                              over them)                │
//!                 └───── cheapest pairs at these prices, of all ◄──────────┘
//! ```
//!
//! *The bound.* Whatever the prices v of the columns, let the price u of each row be the least of its
//! costs less v. Then u + v is at most the cost of every pair, and the units of the rows times u plus
//! those of the columns times v is at most the cost of any flow (weak duality of linear programmes).
//! Every pass over all pairs so proves a bound, whatever the flow was found over. Where the cost of a flow
//! is the bound, it is the least of all; it is such a flow that exists (strong duality).
//!
//! *The flow over few pairs* is found by scaling: prices and flow may first contradict each other by a
//! width, which then shrinks to nothing (Goldberg and Tarjan, "Finding minimum-cost circulations by
//! successive approximation", Mathematics of Operations Research 15, 1990). Within a width all rows are
//! sent on together along shortest ways, as many as there are at once (Gabow and Tarjan, "Faster scaling
//! algorithms for network problems", SIAM Journal on Computing 18, 1989).
//!
//! *Pairs are added* that cost less than their prices say, at the width that has been reached, until none
//! does (Jonker and Volgenant, "A shortest augmenting path algorithm for dense and sparse linear
//! assignment problems", Computing 38, 1987, do so without widths). The pairs of a staircase from the
//! first row and column to the last are always among them, so that there is a flow.
//!
//! Everything is in whole numbers, and nothing depends on the number of threads.

use thiserror::Error;

pub use check::{Certificate, Flaw, check};

mod check;
mod graph;
#[cfg(test)]
mod objectives;
mod pricing;
mod refine;
mod solver;
#[cfg(test)]
mod tests;

/// The greatest number of rows, and of columns.
pub const GREATEST_SIDE: usize = 1 << 24;

/// Costs of all pairs of a row and a column.
pub trait Costs: Sync {
    /// Returns the number of rows.
    fn rows(&self) -> usize;

    /// Returns the number of columns.
    fn columns(&self) -> usize;

    /// Writes the costs of a row to each column into `costs`, which is as long as there are columns. The
    /// costs of a row are asked for many times, and must always be the same.
    fn fill(&self, row: usize, costs: &mut [u32]);
}

/// How far to go, and with how much memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// The part of the cost that need not be proven: 0 asks for the least cost and its proof, 0.01 for a
    /// flow that is proven to be at most 1 % of its cost above the least.
    pub gap: f64,
    /// Costs are kept, rather than made anew at each pass, where all of them fit into so many bytes.
    pub cache: usize,
}

impl Default for Options {
    /// Asks for the least cost, with 256 MiB for costs.
    fn default() -> Options {
        Options {
            gap: 0.0,
            cache: 256 << 20,
        }
    }
}

/// Units that flow from a row to a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The row.
    pub row: usize,
    /// The column.
    pub column: usize,
    /// The units, at least one.
    pub units: u64,
}

/// Numbers of units, the smallest that let every row send as many and every column receive as many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marginals {
    /// The units that each row sends: columns / gcd(rows, columns).
    pub row: u64,
    /// The units that each column receives: rows / gcd(rows, columns).
    pub column: u64,
}

impl Marginals {
    /// Returns the marginals of so many rows and columns, of each of which there is at least one.
    pub fn new(rows: usize, columns: usize) -> Marginals {
        let (mut greatest, mut rest) = (rows, columns);
        while rest > 0 {
            (greatest, rest) = (rest, greatest % rest);
        }
        let greatest = greatest.max(1);
        Marginals {
            row: (columns / greatest) as u64,
            column: (rows / greatest) as u64,
        }
    }
}

/// A flow that meets the marginals, with prices that prove how good it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transport {
    /// What flows, ascending by row and column, each pair once.
    pub flows: Vec<Flow>,
    /// The cost of the flow: the sum over pairs of units times cost.
    pub objective: u128,
    /// A cost that no flow is below: that of the prices times the marginals. It is the objective where the
    /// flow is proven to be the cheapest.
    pub lower_bound: u128,
    /// The price of each row. With that of any column it is at most the cost of the pair.
    pub row_prices: Vec<i64>,
    /// The price of each column.
    pub column_prices: Vec<i64>,
}

impl Transport {
    /// Returns the part of the objective that is not proven: how far it is above the lower bound,
    /// relative to itself, and 0 where it is the least.
    pub fn gap(&self) -> f64 {
        gap(self.objective, self.lower_bound)
    }
}

/// Returns how far an objective is above a lower bound, relative to itself.
fn gap(objective: u128, lower_bound: u128) -> f64 {
    if objective <= lower_bound {
        return 0.0;
    }
    (objective - lower_bound) as f64 / objective as f64
}

/// What has been reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The cost of the best flow, if there is one yet.
    pub objective: Option<u128>,
    /// The cost that no flow is below, as far as it is proven.
    pub lower_bound: u128,
    /// The number of passes over all pairs.
    pub passes: u64,
}

/// A reason why there is no flow.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum TransportError {
    /// There is no row or no column.
    #[error("nothing can be sent between {rows} rows and {columns} columns")]
    Empty {
        /// The number of rows.
        rows: usize,
        /// The number of columns.
        columns: usize,
    },
    /// There are too many rows or columns.
    #[error("{rows} rows and {columns} columns are more than {GREATEST_SIDE}")]
    TooLarge {
        /// The number of rows.
        rows: usize,
        /// The number of columns.
        columns: usize,
    },
    /// The work was stopped before there was a flow.
    #[error("interrupted before anything was found")]
    Interrupted,
}

/// Sends every unit from rows to columns at least cost, or to within a gap of it.
///
/// `proceed` is asked between passes, and many times between passes, on the calling thread. Once it has
/// returned false the best flow so far is returned with the gap that is proven for it, which may be
/// greater than the one that was asked for.
///
/// # Errors
///
/// Returns an error if there is no row or no column, if there are more than [`GREATEST_SIDE`] of either,
/// and if the work was stopped before there was a flow.
pub fn transport(
    costs: &impl Costs,
    options: Options,
    proceed: &dyn Fn(Progress) -> bool,
) -> Result<Transport, TransportError> {
    let (rows, columns) = (costs.rows(), costs.columns());
    if rows == 0 || columns == 0 {
        return Err(TransportError::Empty { rows, columns });
    }
    if rows > GREATEST_SIDE || columns > GREATEST_SIDE {
        return Err(TransportError::TooLarge { rows, columns });
    }
    solver::Solver::new(costs, options, proceed)
        .and_then(solver::Solver::solve)
        .ok_or(TransportError::Interrupted)
}
