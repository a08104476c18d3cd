//! The proof of a flow, made anew from the costs.

use thiserror::Error;

use super::pricing::{Table, least};
use super::{Costs, Flow, Marginals, Transport};

/// What is proven of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// The cost of the flow.
    pub objective: u128,
    /// The cost that no flow is below.
    pub lower_bound: u128,
    /// The number of pairs whose costs were compared with the prices: all of them.
    pub pairs: u128,
}

/// What is wrong with a flow or its prices.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Flaw {
    /// A flow is of a row or column that does not exist, is of no units, or does not come after the one
    /// before it.
    #[error("the flow at {index} is out of place")]
    Flow {
        /// The index of the flow.
        index: usize,
    },
    /// A row does not send what it has.
    #[error("row {row} sends {units} units, not {due}")]
    Row {
        /// The row.
        row: usize,
        /// The units that it sends.
        units: u128,
        /// The units that it has.
        due: u64,
    },
    /// A column does not receive what is due to it.
    #[error("column {column} receives {units} units, not {due}")]
    Column {
        /// The column.
        column: usize,
        /// The units that it receives.
        units: u128,
        /// The units that are due to it.
        due: u64,
    },
    /// There are not as many prices as rows and columns.
    #[error("there are not as many prices as rows and columns")]
    Prices,
    /// The prices of a row and some column exceed the cost of the pair.
    #[error("row {row} and some column have prices above the cost of the pair")]
    Price {
        /// The first such row.
        row: usize,
    },
    /// The flow does not cost what is said.
    #[error("the flow costs {found}")]
    Objective {
        /// What it costs.
        found: u128,
    },
    /// The prices do not prove the bound that is said.
    #[error("the prices prove a bound of {found}")]
    LowerBound {
        /// The bound that they prove.
        found: i128,
    },
}

/// Checks a flow and its prices against all costs, whatever found them: that every row and column has
/// its units, that no pair costs less than its prices, and that objective and lower bound are those of
/// flow and prices. Returns what is so proven.
///
/// # Errors
///
/// Returns the first thing that is wrong.
pub fn check(costs: &impl Costs, transport: &Transport) -> Result<Certificate, Flaw> {
    let (rows, columns) = (costs.rows(), costs.columns());
    if transport.row_prices.len() != rows || transport.column_prices.len() != columns {
        return Err(Flaw::Prices);
    }
    check_units(&transport.flows, rows, columns)?;
    let starts: Vec<usize> = (0..=rows)
        .map(|row| transport.flows.partition_point(|flow| flow.row < row))
        .collect();
    let found = Table::new(costs, 0).map_rows(0..rows, &|row, line| {
        let flows = &transport.flows[starts[row]..starts[row + 1]];
        let terms = flows
            .iter()
            .map(|flow| u128::from(flow.units) * u128::from(line[flow.column]));
        let fair = transport.row_prices[row] <= least(line, &transport.column_prices);
        (terms.sum::<u128>(), fair)
    });
    if let Some(row) = found.iter().position(|&(_, fair)| !fair) {
        return Err(Flaw::Price { row });
    }
    let objective = found.iter().map(|&(cost, _)| cost).sum();
    if objective != transport.objective {
        return Err(Flaw::Objective { found: objective });
    }
    let bound = dual(&transport.row_prices, &transport.column_prices);
    if u128::try_from(bound) != Ok(transport.lower_bound) {
        return Err(Flaw::LowerBound { found: bound });
    }
    Ok(Certificate {
        objective,
        lower_bound: transport.lower_bound,
        pairs: rows as u128 * columns as u128,
    })
}

/// Returns the prices of all units together.
pub(super) fn dual(row_prices: &[i64], column_prices: &[i64]) -> i128 {
    if row_prices.is_empty() || column_prices.is_empty() {
        return 0;
    }
    let marginals = Marginals::new(row_prices.len(), column_prices.len());
    let sum = |prices: &[i64]| prices.iter().map(|&price| i128::from(price)).sum::<i128>();
    i128::from(marginals.row) * sum(row_prices) + i128::from(marginals.column) * sum(column_prices)
}

/// Checks that flows are in order and that every row and column has its units.
fn check_units(flows: &[Flow], rows: usize, columns: usize) -> Result<(), Flaw> {
    let mut sent = vec![0_u128; rows];
    let mut received = vec![0_u128; columns];
    let mut last = None;
    for (index, flow) in flows.iter().enumerate() {
        let place = Some((flow.row, flow.column));
        if flow.row >= rows || flow.column >= columns || flow.units == 0 || place <= last {
            return Err(Flaw::Flow { index });
        }
        last = place;
        sent[flow.row] += u128::from(flow.units);
        received[flow.column] += u128::from(flow.units);
    }
    let marginals = Marginals::new(rows, columns);
    for (row, &units) in sent.iter().enumerate() {
        let due = marginals.row;
        if units != u128::from(due) {
            return Err(Flaw::Row { row, units, due });
        }
    }
    for (column, &units) in received.iter().enumerate() {
        let due = marginals.column;
        if units != u128::from(due) {
            return Err(Flaw::Column { column, units, due });
        }
    }
    Ok(())
}
