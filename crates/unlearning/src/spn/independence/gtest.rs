//! The G-test of independence, whose update costs O(variables²) a row.
//!
//! For a pair of columns with contingency table O over declared bins, row sums R, column sums C and
//! n rows, G = 2 (Σ O ln O − Σ R ln R − Σ C ln C + n ln n) is asymptotically χ² with (r − 1)(c − 1)
//! degrees of freedom, r and c being the numbers of bins in use. The columns are dependent when G
//! exceeds the quantile of the chosen significance (as in Gens and Domingos, "Learning the
//! structure of sum-product networks", 2013).
//!
//! Between two columns of numbers (or a number and two categories) coarse bins hide what a line
//! shows: they are also dependent when (n − 1) r² exceeds the quantile with one degree of freedom,
//! r being their correlation (the linear-by-linear association test of Mantel, 1963). Two values,
//! however they are called, have no more of a line than their table says.
//!
//! Tables of few bins are counted by sets of rows, one bit a row (`sets`). The tables of many rows
//! may come from a device, which gives the same counts (`brought`).
//!
//! **Lemma.** With m ln m rounded once to a whole number of 2⁻²⁸, G is a function of the table in
//! exact integers: updating it cell by cell gives what computing it afresh gives. Adding or
//! removing a row changes one cell of each table, hence O(1) for each pair. So do the sums and
//! products that r is computed from, which are whole numbers too.

use std::sync::OnceLock;

use statrs::function::gamma::gamma_ur;

use super::brought::Brought;
use super::components::Components;
use super::sets::{RowSets, count_pairs};
use crate::spn::Dataset;
use crate::spn::variable::{Binning, Domain};
use probity_tensor::proposer::Proposer;

/// The number of binary digits after the point.
const FRACTION: i32 = 28;

/// The parts that all tests of a model share: bins of every value, m ln m, and quantiles.
#[derive(Debug)]
pub struct GtestRule {
    sizes: Vec<usize>,
    bins: Vec<Vec<u16>>,
    /// For each variable, the places on a line by position, where it has one.
    lines: Vec<Vec<i32>>,
    /// For each variable, whether its values are numbers.
    numbers: Vec<bool>,
    m_log_m: Vec<i64>,
    quantiles: Vec<OnceLock<i64>>,
    line_quantile: f64,
    significance: f64,
    /// The rows on the device that proposes, once they are needed there.
    brought: OnceLock<Option<Brought>>,
}

impl GtestRule {
    /// Creates the rule for the rows of `data`, with at most `bins` bins for columns of numbers.
    pub fn new(data: &Dataset, bins: u16, significance: f64) -> GtestRule {
        let (binnings, bins) = data.table_bins(bins);
        let rows = data.positions();
        let variables = data.variables();
        let numbers: Vec<bool> = variables
            .iter()
            .map(|variable| match variable.domain() {
                Domain::Categorical { .. } => false,
                Domain::Integer { .. } => variable.values().is_some_and(|values| values > 2),
                Domain::Real { .. } => true,
            })
            .collect();
        let mut lines = data.coordinates();
        for (line, variable) in lines.iter_mut().zip(variables) {
            if variable.indicators().is_some() || !numbers.contains(&true) {
                *line = Vec::new();
            }
        }
        let sizes: Vec<usize> = binnings.iter().map(Binning::len).collect();
        let largest = sizes.iter().copied().max().unwrap_or(1);
        let unit = f64::from(1 << FRACTION);
        let m_log_m = (0..=rows)
            .map(|m| match m {
                0 => 0,
                m => (m as f64 * (m as f64).ln() * unit).round() as i64,
            })
            .collect();
        GtestRule {
            sizes,
            bins,
            lines,
            numbers,
            m_log_m,
            quantiles: (0..=largest * largest).map(|_| OnceLock::new()).collect(),
            line_quantile: chi_squared_quantile(1.0, significance),
            significance,
            brought: OnceLock::new(),
        }
    }

    /// Drops the rows on the device that proposed, so that another one or none is used.
    pub(in crate::spn) fn leave_device(&mut self) {
        self.brought = OnceLock::new();
    }

    /// Returns whether the correlation of two variables is looked at.
    fn on_lines(&self, a: u32, b: u32) -> bool {
        let (a, b) = (a as usize, b as usize);
        let lined = |at: usize| !self.lines[at].is_empty();
        lined(a) && lined(b) && (self.numbers[a] || self.numbers[b])
    }

    /// Returns half the quantile of χ² with `freedom` degrees of freedom, in the unit of G.
    fn half_quantile(&self, freedom: usize) -> i64 {
        *self.quantiles[freedom].get_or_init(|| {
            let quantile = chi_squared_quantile(freedom as f64, self.significance);
            (0.5 * quantile * f64::from(1 << FRACTION)).round() as i64
        })
    }
}

/// Returns the x at which a χ² variable with `freedom` degrees of freedom exceeds x with
/// probability `tail`, by bisection.
fn chi_squared_quantile(freedom: f64, tail: f64) -> f64 {
    let exceeds = |x: f64| gamma_ur(0.5 * freedom, 0.5 * x) > tail;
    let mut low = 0.0;
    let mut high = 2.0 * freedom + 2.0;
    while exceeds(high) {
        low = high;
        high *= 2.0;
    }
    while high - low > 1e-9 * high {
        let middle = 0.5 * (low + high);
        if exceeds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// The contingency tables of all pairs of columns of a scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tables {
    rows: usize,
    /// For each place in the scope, the number of rows in each bin, and the sum of their m ln m.
    margins: Vec<Vec<u32>>,
    margin_sums: Vec<i64>,
    /// The first cell of each pair (a < b, by a then b), and all cells, row-major.
    starts: Vec<usize>,
    cells: Vec<u32>,
    joint_sums: Vec<i64>,
    lines: Lines,
}

/// The sums over places on lines, for the correlation of pairs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Lines {
    sums: Vec<i64>,
    squares: Vec<i64>,
    /// The products by pair; none at all where no column of the scope holds numbers.
    products: Vec<i64>,
}

impl Lines {
    fn change(&mut self, places: &[i64], sign: i64) {
        if self.products.is_empty() {
            return;
        }
        let mut pair = 0;
        for (a, &x) in places.iter().enumerate() {
            self.sums[a] += sign * x;
            self.squares[a] += sign * x * x;
            for &y in &places[a + 1..] {
                self.products[pair] += sign * x * y;
                pair += 1;
            }
        }
    }

    /// Returns (n − 1) r² of a pair; 0 where a column does not vary on its line.
    fn association(&self, rows: usize, a: usize, b: usize, pair: usize) -> f64 {
        let n = rows as i128;
        let sum = |at: usize| i128::from(self.sums[at]);
        let spread = |at: usize| n * i128::from(self.squares[at]) - sum(at) * sum(at);
        let joint = n * i128::from(self.products[pair]) - sum(a) * sum(b);
        let scale = spread(a) as f64 * spread(b) as f64;
        if scale == 0.0 {
            return 0.0;
        }
        (rows as f64 - 1.0) * (joint as f64) * (joint as f64) / scale
    }
}

impl Tables {
    /// Creates tables of no rows.
    fn empty(rule: &GtestRule, scope: &[u32]) -> Tables {
        let size = |at: usize| rule.sizes[scope[at] as usize];
        let mut starts = Vec::with_capacity(scope.len() * (scope.len() - 1) / 2);
        let mut total = 0;
        for a in 0..scope.len() {
            for b in a + 1..scope.len() {
                starts.push(total);
                total += size(a) * size(b);
            }
        }
        let pairs = starts.len();
        let numbers = scope
            .iter()
            .any(|&variable| rule.numbers[variable as usize]);
        Tables {
            lines: Lines {
                sums: vec![0; scope.len()],
                squares: vec![0; scope.len()],
                products: vec![0; if numbers { pairs } else { 0 }],
            },
            rows: 0,
            margins: (0..scope.len()).map(|at| vec![0; size(at)]).collect(),
            margin_sums: vec![0; scope.len()],
            joint_sums: vec![0; starts.len()],
            cells: vec![0; total],
            starts,
        }
    }

    /// Counts the tables of the rows at `positions`, from the device of `proposer` if it is worth
    /// the way.
    pub fn count(
        rule: &GtestRule,
        scope: &[u32],
        positions: &[u32],
        proposer: &Proposer,
    ) -> Tables {
        let mut tables = Tables::empty(rule, scope);
        let on_device = tables.count_on_device(rule, scope, positions, proposer);
        if on_device.is_none() {
            tables.count_by_sets(rule, scope, positions);
        }
        tables.rows = positions.len();
        tables.sum_up(rule);
        tables
    }

    /// Fills tables of no rows from a device; nothing is changed where none is asked or it failed.
    fn count_on_device(
        &mut self,
        rule: &GtestRule,
        scope: &[u32],
        positions: &[u32],
        proposer: &Proposer,
    ) -> Option<()> {
        let device = proposer.device_for(positions.len() * self.starts.len())?;
        let bring = || Brought::new(&rule.sizes, &rule.bins, &rule.lines, device);
        let brought = rule.brought.get_or_init(bring);
        let sums = brought.as_ref()?.sums(scope, positions)?;
        for (at, margin) in self.margins.iter_mut().enumerate() {
            *margin = sums.margin(at).collect();
        }
        self.cells.clear();
        let pairs = (0..scope.len()).flat_map(|a| (a + 1..scope.len()).map(move |b| (a, b)));
        for (a, b) in pairs.clone() {
            self.cells.extend(sums.table(a, b));
        }
        if !self.lines.products.is_empty() {
            self.lines = Lines {
                sums: (0..scope.len()).map(|at| sums.sum(at)).collect(),
                squares: (0..scope.len()).map(|at| sums.product(at, at)).collect(),
                products: pairs.map(|(a, b)| sums.product(a, b)).collect(),
            };
        }
        Some(())
    }

    /// Fills tables of no rows by sets of rows, and row by row where bins are many.
    fn count_by_sets(&mut self, rule: &GtestRule, scope: &[u32], positions: &[u32]) {
        let sets: Vec<RowSets> = scope
            .iter()
            .map(|&variable| {
                let variable = variable as usize;
                RowSets::new(rule.sizes[variable], &rule.bins[variable], positions)
            })
            .collect();
        let many = count_pairs(&sets, &self.starts, &mut self.cells);
        for (margin, sets) in self.margins.iter_mut().zip(sets) {
            *margin = sets.counts;
        }
        if many.is_empty() && self.lines.products.is_empty() {
            return;
        }
        let mut row = Row::new(scope.len());
        for &position in positions {
            row.read(rule, scope, position);
            self.lines.change(&row.places, 1);
            for &(pair, a, b) in &many {
                let width = self.margins[b].len();
                self.cells[self.starts[pair] + row.bins[a] * width + row.bins[b]] += 1;
            }
        }
    }

    fn sum_up(&mut self, rule: &GtestRule) {
        let sum = |counts: &[u32]| {
            counts
                .iter()
                .map(|&c| rule.m_log_m[c as usize])
                .sum::<i64>()
        };
        self.margin_sums = self.margins.iter().map(|margin| sum(margin)).collect();
        let ends = self
            .starts
            .iter()
            .skip(1)
            .copied()
            .chain([self.cells.len()]);
        self.joint_sums = self
            .starts
            .iter()
            .zip(ends)
            .map(|(&start, end)| sum(&self.cells[start..end]))
            .collect();
    }

    /// Counts the row at `position` into the tables.
    pub fn add(&mut self, rule: &GtestRule, scope: &[u32], position: u32) {
        let step = |count: &mut u32| {
            *count += 1;
            rule.m_log_m[*count as usize] - rule.m_log_m[*count as usize - 1]
        };
        self.change(rule, scope, position, step, 1);
        self.rows += 1;
    }

    /// Takes the row at `position`, which was counted in, out again.
    pub fn remove(&mut self, rule: &GtestRule, scope: &[u32], position: u32) {
        let step = |count: &mut u32| {
            *count -= 1;
            rule.m_log_m[*count as usize] - rule.m_log_m[*count as usize + 1]
        };
        self.change(rule, scope, position, step, -1);
        self.rows -= 1;
    }

    fn change(
        &mut self,
        rule: &GtestRule,
        scope: &[u32],
        position: u32,
        step: impl Fn(&mut u32) -> i64,
        sign: i64,
    ) {
        let mut row = Row::new(scope.len());
        row.read(rule, scope, position);
        self.lines.change(&row.places, sign);
        let row = &row.bins;
        let mut pair = 0;
        for a in 0..row.len() {
            self.margin_sums[a] += step(&mut self.margins[a][row[a]]);
            for b in a + 1..row.len() {
                let cell = self.starts[pair] + row[a] * self.margins[b].len() + row[b];
                self.joint_sums[pair] += step(&mut self.cells[cell]);
                pair += 1;
            }
        }
    }

    /// Returns the connected components of the dependence graph of the columns of `scope`.
    pub fn components(&self, rule: &GtestRule, scope: &[u32]) -> Components {
        let columns = self.margins.len();
        let used: Vec<usize> = self
            .margins
            .iter()
            .map(|margin| margin.iter().filter(|&&count| count > 0).count())
            .collect();
        let total = rule.m_log_m[self.rows];
        let mut components = Components::new(columns);
        components.join_where(|a, b| {
            let freedom = (used[a] - 1) * (used[b] - 1);
            let pair = a * (2 * columns - a - 1) / 2 + b - a - 1;
            let half_g = self.joint_sums[pair] - self.margin_sums[a] - self.margin_sums[b] + total;
            if freedom > 0 && half_g > rule.half_quantile(freedom) {
                return true;
            }
            rule.on_lines(scope[a], scope[b])
                && self.lines.association(self.rows, a, b, pair) > rule.line_quantile
        });
        components
    }
}

/// The bins of a row and its places on lines, by place in the scope.
struct Row {
    bins: Vec<usize>,
    places: Vec<i64>,
}

impl Row {
    fn new(width: usize) -> Row {
        Row {
            bins: vec![0; width],
            places: vec![0; width],
        }
    }

    fn read(&mut self, rule: &GtestRule, scope: &[u32], position: u32) {
        let cells = self.bins.iter_mut().zip(&mut self.places);
        for ((bin, place), &variable) in cells.zip(scope) {
            let (variable, position) = (variable as usize, position as usize);
            *bin = usize::from(rule.bins[variable][position]);
            *place = rule.lines[variable]
                .get(position)
                .map_or(0, |&x| i64::from(x));
        }
    }
}

#[cfg(test)]
mod tests {
    use probity_tensor::device::ComputeDevice;
    use rand::RngExt;

    use super::*;
    use crate::spn::tests::{data, generator};

    #[test]
    fn a_device_counts_the_tables_of_the_reference() {
        let proposer = Proposer::always(&ComputeDevice::flex());
        for case in 0..60 {
            let draws = &mut generator(case);
            let (rows, width) = (draws.random_range(1..80), draws.random_range(2..7));
            let kinds: &[u32] = match case % 3 {
                0 => &[0, 1],
                _ => &[0, 1, 2, 3, 4, 5],
            };
            let data = data(draws, rows, width, kinds);
            let rule = GtestRule::new(&data, draws.random_range(2..9), 0.01);
            let scope: Vec<u32> = (0..width as u32)
                .filter(|&at| at < 2 || draws.random::<bool>())
                .collect();
            let positions: Vec<u32> = (0..rows as u32)
                .filter(|&at| at == 0 || draws.random::<f64>() < 0.7)
                .collect();
            let count = |proposer| Tables::count(&rule, &scope, &positions, proposer);
            assert!(rule.brought.get().is_none());
            let proposed = count(&proposer);
            assert!(rule.brought.get().is_some_and(Option::is_some));
            assert_eq!(proposed, count(&Proposer::default()), "case {case}");
        }
    }
}
