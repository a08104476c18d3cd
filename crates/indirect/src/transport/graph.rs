//! The pairs that the solver looks at, and what flows along them.

use super::Flow;

/// Pairs of a row and a column, by row and by column, with the units that flow along each.
pub(super) struct Graph {
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub columns: usize,
    /// For each row, where its arcs begin; then the number of arcs.
    pub row_starts: Vec<usize>,
    /// The column of each arc, ascending within a row.
    pub arc_columns: Vec<u32>,
    /// The cost of each arc.
    pub arc_costs: Vec<u32>,
    /// The units that flow along each arc.
    pub flows: Vec<i64>,
    /// For each column, where its entries begin; then the number of entries.
    pub column_starts: Vec<usize>,
    /// The arcs of each column, as they are read from the column.
    pub entries: Vec<Entry>,
}

/// An arc as its column sees it.
#[derive(Clone, Copy, Default)]
pub(super) struct Entry {
    /// The row.
    pub row: u32,
    /// The cost.
    pub cost: u32,
    /// The index of the arc.
    pub arc: u32,
}

/// A pair that may become an arc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    /// The column.
    pub column: u32,
    /// The cost.
    pub cost: u32,
}

impl Graph {
    /// Returns a graph without arcs.
    pub fn new(rows: usize, columns: usize) -> Graph {
        Graph {
            rows,
            columns,
            row_starts: vec![0; rows + 1],
            arc_columns: Vec::new(),
            arc_costs: Vec::new(),
            flows: Vec::new(),
            column_starts: vec![0; columns + 1],
            entries: Vec::new(),
        }
    }

    /// Returns the arcs of a row.
    pub fn arcs(&self, row: usize) -> std::ops::Range<usize> {
        self.row_starts[row]..self.row_starts[row + 1]
    }

    /// Adds candidates of each row, which may repeat one another and arcs, and forgets the arcs without
    /// flow for which `keep`, given the row and the pair, is false.
    pub fn rebuild<I: Iterator<Item = Candidate>>(
        &mut self,
        candidates: impl Fn(usize) -> I,
        keep: impl Fn(usize, Candidate) -> bool,
    ) {
        let mut row_starts = Vec::with_capacity(self.rows + 1);
        let mut columns = Vec::with_capacity(self.arc_columns.len());
        let mut costs = Vec::with_capacity(self.arc_columns.len());
        let mut flows = Vec::with_capacity(self.arc_columns.len());
        let mut merged: Vec<(Candidate, i64)> = Vec::new();
        row_starts.push(0);
        for row in 0..self.rows {
            merged.clear();
            for arc in self.arcs(row) {
                let (column, cost) = (self.arc_columns[arc], self.arc_costs[arc]);
                let candidate = Candidate { column, cost };
                if self.flows[arc] > 0 || keep(row, candidate) {
                    merged.push((candidate, self.flows[arc]));
                }
            }
            merged.extend(candidates(row).map(|candidate| (candidate, 0)));
            // Where a column is there twice, the arc with the flow goes first.
            merged.sort_unstable_by_key(|&(candidate, flow)| (candidate.column, -flow));
            merged.dedup_by_key(|(candidate, _)| candidate.column);
            for &(candidate, flow) in &merged {
                columns.push(candidate.column);
                costs.push(candidate.cost);
                flows.push(flow);
            }
            row_starts.push(columns.len());
        }
        self.row_starts = row_starts;
        self.arc_columns = columns;
        self.arc_costs = costs;
        self.flows = flows;
        self.index_columns();
    }

    /// Writes the arcs anew as the columns see them.
    fn index_columns(&mut self) {
        let mut starts = vec![0; self.columns + 1];
        for &column in &self.arc_columns {
            starts[column as usize + 1] += 1;
        }
        for column in 0..self.columns {
            starts[column + 1] += starts[column];
        }
        let mut next = starts.clone();
        let mut entries = vec![Entry::default(); self.arc_columns.len()];
        for row in 0..self.rows {
            for arc in self.arcs(row) {
                let place = &mut next[self.arc_columns[arc] as usize];
                entries[*place] = Entry {
                    row: row as u32,
                    cost: self.arc_costs[arc],
                    arc: arc as u32,
                };
                *place += 1;
            }
        }
        self.column_starts = starts;
        self.entries = entries;
    }

    /// Returns the cost of all that flows.
    pub fn objective(&self) -> u128 {
        let terms = self.flows.iter().zip(&self.arc_costs);
        terms
            .map(|(&flow, &cost)| flow as u128 * u128::from(cost))
            .sum()
    }

    /// Returns what flows, by row and column.
    pub fn flows(&self) -> Vec<Flow> {
        let mut flows = Vec::new();
        for row in 0..self.rows {
            for arc in self.arcs(row) {
                if self.flows[arc] > 0 {
                    flows.push(Flow {
                        row,
                        column: self.arc_columns[arc] as usize,
                        units: self.flows[arc] as u64,
                    });
                }
            }
        }
        flows
    }
}
