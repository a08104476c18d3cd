//! The flow of least cost over the arcs of a graph, to within a width.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::graph::Graph;

/// How far the prices and the flow may contradict each other: nothing, or a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// No arc is cheaper than its prices, and whatever flows costs its prices.
    Exact,
    /// The reduced cost of an arc is at least −2^k, and at most 2^k where something flows.
    Power(u32),
}

impl Width {
    /// Returns the width as a cost.
    pub fn cost(self) -> i64 {
        match self {
            Width::Exact => 0,
            Width::Power(exponent) => 1 << exponent,
        }
    }

    /// Returns how many widths the prices must move before something may flow where this is the
    /// reduced cost in the direction of the flow. Without a width it is the cost itself.
    fn length(self, reduced: i64) -> i64 {
        match self {
            Width::Exact => reduced,
            Width::Power(exponent) => (reduced >> exponent) + 1,
        }
    }

    /// Returns the cost of so many widths.
    fn scaled(self, length: i64) -> i64 {
        match self {
            Width::Exact => length,
            Width::Power(exponent) => length << exponent,
        }
    }
}

/// Prices of rows and columns, and the units that each still has to send or receive.
pub(super) struct State {
    /// The prices of the rows.
    pub row_prices: Vec<i64>,
    /// The prices of the columns.
    pub column_prices: Vec<i64>,
    /// The units that each row still has to send.
    excess: Vec<i64>,
    /// The units that each column still has to receive.
    deficit: Vec<i64>,
    /// The distance of each row from the columns that lack something.
    row_distances: Vec<i64>,
    /// The distance of each column from the columns that lack something.
    column_distances: Vec<i64>,
    /// Where the search goes on in the arcs of each row.
    row_next: Vec<usize>,
    /// Where the search goes on in the entries of each column.
    column_next: Vec<usize>,
    /// The columns that the search has entered, and cannot enter again.
    column_seen: Vec<bool>,
    /// The rows that the search has entered, and cannot enter again.
    row_seen: Vec<bool>,
    /// The columns and rows whose distance may still be too great.
    queue: BinaryHeap<Reverse<(i64, u32)>>,
    /// The way from a row: along one arc to a column, back along the next to a row.
    way: Vec<Step>,
}

/// A step of a way.
#[derive(Clone, Copy)]
struct Step {
    /// The arc.
    arc: u32,
    /// The column that the arc leads to, or the row that it leads back to.
    node: u32,
}

impl State {
    /// Returns the state in which nothing has been sent.
    pub fn new(rows: usize, columns: usize, supply: i64, demand: i64) -> State {
        State {
            row_prices: vec![0; rows],
            column_prices: vec![0; columns],
            excess: vec![supply; rows],
            deficit: vec![demand; columns],
            row_distances: vec![0; rows],
            column_distances: vec![0; columns],
            row_next: vec![0; rows],
            column_next: vec![0; columns],
            column_seen: vec![false; columns],
            row_seen: vec![false; rows],
            queue: BinaryHeap::new(),
            way: Vec::new(),
        }
    }

    /// Sends every unit so that prices and flow agree to within a width. Returns how often it had to
    /// measure distances, or `None` if `proceed`, asked each time, returned false.
    pub fn refine(
        &mut self,
        graph: &mut Graph,
        width: Width,
        proceed: &dyn Fn() -> bool,
    ) -> Option<u64> {
        let mut phases = 0;
        self.release(graph, width);
        while self.excess.iter().any(|&excess| excess > 0) {
            if !proceed() {
                return None;
            }
            self.measure(graph, width);
            self.send(graph, width);
            phases += 1;
        }
        Some(phases)
    }

    /// Gives each row the greatest price that the width permits, and takes back what then flows too
    /// dearly.
    fn release(&mut self, graph: &mut Graph, width: Width) {
        for row in 0..graph.rows {
            let offers = graph.arcs(row).map(|arc| self.offer(graph, arc));
            let Some(least) = offers.min() else { continue };
            let price = least + width.cost();
            self.row_prices[row] = price;
            for arc in graph.arcs(row) {
                if graph.flows[arc] > 0 && self.offer(graph, arc) - price > width.cost() {
                    self.excess[row] += graph.flows[arc];
                    self.deficit[graph.arc_columns[arc] as usize] += graph.flows[arc];
                    graph.flows[arc] = 0;
                }
            }
        }
    }

    /// Returns the cost of an arc less the price of its column.
    pub fn offer(&self, graph: &Graph, arc: usize) -> i64 {
        i64::from(graph.arc_costs[arc]) - self.column_prices[graph.arc_columns[arc] as usize]
    }

    /// Measures how far each row is from the columns that lack something, until all rows that have
    /// something to send are known, and moves the prices by it, so that something can flow.
    fn measure(&mut self, graph: &Graph, width: Width) {
        self.row_distances.fill(i64::MAX);
        self.column_distances.fill(i64::MAX);
        self.queue.clear();
        for (column, &deficit) in self.deficit.iter().enumerate() {
            if deficit > 0 {
                self.column_distances[column] = 0;
                self.queue.push(Reverse((0, column as u32)));
            }
        }
        let mut left = self.excess.iter().filter(|&&excess| excess > 0).count();
        let mut farthest = 0;
        while let Some(Reverse((distance, node))) = self.queue.pop() {
            let node = node as usize;
            farthest = distance;
            if node < graph.columns {
                if distance == self.column_distances[node] {
                    self.reach_rows(graph, width, node, distance);
                }
            } else if distance == self.row_distances[node - graph.columns] {
                let row = node - graph.columns;
                if self.excess[row] > 0 {
                    left -= 1;
                    if left == 0 {
                        break;
                    }
                }
                self.reach_columns(graph, width, row, distance);
            }
        }
        for (price, &distance) in self.row_prices.iter_mut().zip(&self.row_distances) {
            *price += width.scaled(distance.min(farthest));
        }
        for (price, &distance) in self.column_prices.iter_mut().zip(&self.column_distances) {
            *price -= width.scaled(distance.min(farthest));
        }
    }

    /// Tells the rows that a column can receive from how far they are by it.
    fn reach_rows(&mut self, graph: &Graph, width: Width, column: usize, distance: i64) {
        let price = self.column_prices[column];
        let entries = graph.column_starts[column]..graph.column_starts[column + 1];
        for entry in &graph.entries[entries] {
            let row = entry.row as usize;
            let reduced = i64::from(entry.cost) - price - self.row_prices[row];
            let length = distance + width.length(reduced);
            if length < self.row_distances[row] {
                self.row_distances[row] = length;
                let node = (graph.columns + row) as u32;
                self.queue.push(Reverse((length, node)));
            }
        }
    }

    /// Tells the columns that send something of theirs back to a row how far they are by it.
    fn reach_columns(&mut self, graph: &Graph, width: Width, row: usize, distance: i64) {
        for arc in graph.arcs(row) {
            if graph.flows[arc] > 0 {
                let column = graph.arc_columns[arc] as usize;
                let reduced = self.offer(graph, arc) - self.row_prices[row];
                let length = distance + width.length(-reduced);
                if length < self.column_distances[column] {
                    self.column_distances[column] = length;
                    self.queue.push(Reverse((length, column as u32)));
                }
            }
        }
    }

    /// Sends what it can along ways that are open, each node of which is given up when it leads nowhere.
    fn send(&mut self, graph: &mut Graph, width: Width) {
        self.row_next
            .copy_from_slice(&graph.row_starts[..graph.rows]);
        self.column_next
            .copy_from_slice(&graph.column_starts[..graph.columns]);
        self.row_seen.fill(false);
        self.column_seen.fill(false);
        for row in 0..graph.rows {
            while self.excess[row] > 0 && !self.row_seen[row] && self.find(graph, width, row) {
                self.augment(graph, row);
            }
        }
    }

    /// Finds a way from a row to a column that lacks something, and returns whether there is one.
    fn find(&mut self, graph: &Graph, width: Width, start: usize) -> bool {
        self.way.clear();
        self.row_seen[start] = true;
        loop {
            // An even number of steps leads to a row, an odd one to a column.
            if self.way.len().is_multiple_of(2) {
                let row = self.way.last().map_or(start, |step| step.node as usize);
                if let Some(arc) = self.onward(graph, width, row) {
                    let node = graph.arc_columns[arc];
                    self.column_seen[node as usize] = true;
                    let arc = arc as u32;
                    self.way.push(Step { arc, node });
                    if self.deficit[node as usize] > 0 {
                        return true;
                    }
                } else if self.way.pop().is_none() {
                    return false;
                }
            } else if let Some(step) = self.back(graph, width) {
                self.row_seen[step.node as usize] = true;
                self.way.push(step);
            } else {
                self.way.pop();
            }
        }
    }

    /// Returns the next open arc of a row to a column that has not been entered.
    fn onward(&mut self, graph: &Graph, width: Width, row: usize) -> Option<usize> {
        let end = graph.row_starts[row + 1];
        while self.row_next[row] < end {
            let arc = self.row_next[row];
            let seen = self.column_seen[graph.arc_columns[arc] as usize];
            if !seen && width.length(self.offer(graph, arc) - self.row_prices[row]) == 0 {
                return Some(arc);
            }
            self.row_next[row] += 1;
        }
        None
    }

    /// Returns the next open step back from the column at the end of the way to a row that has not
    /// been entered.
    fn back(&mut self, graph: &Graph, width: Width) -> Option<Step> {
        let column = self.way.last()?.node as usize;
        let end = graph.column_starts[column + 1];
        while self.column_next[column] < end {
            let entry = graph.entries[self.column_next[column]];
            let row = entry.row as usize;
            let offer = i64::from(entry.cost) - self.column_prices[column];
            if !self.row_seen[row]
                && graph.flows[entry.arc as usize] > 0
                && width.length(self.row_prices[row] - offer) == 0
            {
                return Some(Step {
                    arc: entry.arc,
                    node: entry.row,
                });
            }
            self.column_next[column] += 1;
        }
        None
    }

    /// Sends as much as it can along the way that was found from a row, whose nodes may be entered again.
    fn augment(&mut self, graph: &mut Graph, start: usize) {
        let Some(&last) = self.way.last() else { return };
        let mut units = self.excess[start].min(self.deficit[last.node as usize]);
        for step in self.way.iter().skip(1).step_by(2) {
            units = units.min(graph.flows[step.arc as usize]);
        }
        self.excess[start] -= units;
        self.deficit[last.node as usize] -= units;
        self.row_seen[start] = false;
        for (index, step) in self.way.iter().enumerate() {
            if index % 2 == 0 {
                graph.flows[step.arc as usize] += units;
                self.column_seen[step.node as usize] = false;
            } else {
                graph.flows[step.arc as usize] -= units;
                self.row_seen[step.node as usize] = false;
            }
        }
    }
}
