//! Sets of rows, one bit a row: contingency tables of columns with few bins by counting the bits
//! that two sets have in common, 64 rows at a time.

use pulp::{Simd, WithSimd};

use crate::vectors::{WIDEST, vectorized};

/// The largest number of cells, besides the first row and column, of tables that are counted by
/// sets: about as many words as that are read for 64 rows, where counting row by row changes 64
/// cells.
const FEW_CELLS: usize = 16;

/// The rows of one column, by bin.
#[derive(Debug, Clone)]
pub(super) struct RowSets {
    /// The number of rows of each bin.
    pub counts: Vec<u32>,
    /// The rows of each bin but the first, `[bins - 1, words]`; none where there are too many bins.
    words: Vec<u64>,
    width: usize,
}

impl RowSets {
    /// Creates the sets of the rows at `positions` of a column whose values are in `size` bins.
    pub fn new(size: usize, bins: &[u16], positions: &[u32]) -> RowSets {
        let width = positions.len().div_ceil(64);
        let kept = size <= FEW_CELLS + 1;
        let mut sets = RowSets {
            counts: vec![0; size],
            words: vec![0; if kept { (size - 1) * width } else { 0 }],
            width,
        };
        for (word, positions) in positions.chunks(64).enumerate() {
            for (bit, &position) in positions.iter().enumerate() {
                let bin = usize::from(bins[position as usize]);
                sets.counts[bin] += 1;
                if kept && bin > 0 {
                    sets.words[(bin - 1) * width + word] |= 1 << bit;
                }
            }
        }
        sets
    }

    /// Returns the set of `bin`, which is not the first.
    fn rows(&self, bin: usize) -> &[u64] {
        &self.words[(bin - 1) * self.width..bin * self.width]
    }
}

/// Counts the tables of pairs of columns with few bins into `cells`, where the table of a pair is
/// at its one of `starts`; returns the pairs that have more bins, each with its number and its
/// columns.
pub(super) fn count_pairs(
    sets: &[RowSets],
    starts: &[usize],
    cells: &mut [u32],
) -> Vec<(usize, usize, usize)> {
    let count = CountPairs {
        sets,
        starts,
        cells,
    };
    vectorized(count, WIDEST)
}

/// The work of [`count_pairs`], for processors that count bits well and others.
struct CountPairs<'a> {
    sets: &'a [RowSets],
    starts: &'a [usize],
    cells: &'a mut [u32],
}

impl WithSimd for CountPairs<'_> {
    type Output = Vec<(usize, usize, usize)>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> Self::Output {
        let mut many = Vec::new();
        let mut pair = 0;
        for (a, left) in self.sets.iter().enumerate() {
            for (b, right) in self.sets.iter().enumerate().skip(a + 1) {
                let (rows, columns) = (left.counts.len(), right.counts.len());
                if (rows - 1) * (columns - 1) > FEW_CELLS {
                    many.push((pair, a, b));
                } else {
                    let cells = &mut self.cells[self.starts[pair]..][..rows * columns];
                    count(left, right, cells);
                }
                pair += 1;
            }
        }
        many
    }
}

/// Counts one table: the cells of the first row and column are what the margins leave.
#[inline(always)]
fn count(left: &RowSets, right: &RowSets, cells: &mut [u32]) {
    let columns = right.counts.len();
    let (first_row, others) = cells.split_at_mut(columns);
    first_row.copy_from_slice(&right.counts);
    for (row, cells) in (1..).zip(others.chunks_exact_mut(columns)) {
        cells[0] = left.counts[row];
        for column in 1..columns {
            let pairs = left.rows(row).iter().zip(right.rows(column));
            let common: u32 = pairs.map(|(a, b)| (a & b).count_ones()).sum();
            cells[column] = common;
            cells[0] -= common;
            first_row[column] -= common;
        }
        first_row[0] -= cells[0];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spn::tests::generator;
    use rand::RngExt;

    #[test]
    fn tables_by_sets_are_those_of_counting_row_by_row() {
        for case in 0..300 {
            let draws = &mut generator(case);
            let rows = draws.random_range(0..300);
            let sizes: Vec<usize> = (0..4).map(|_| draws.random_range(1..20)).collect();
            let bins: Vec<Vec<u16>> = sizes
                .iter()
                .map(|&size| {
                    (0..300)
                        .map(|_| draws.random_range(0..size) as u16)
                        .collect()
                })
                .collect();
            let positions: Vec<u32> = (0..rows).map(|_| draws.random_range(0..300)).collect();
            let sets: Vec<RowSets> = sizes
                .iter()
                .zip(&bins)
                .map(|(&size, bins)| RowSets::new(size, bins, &positions))
                .collect();
            let pairs: Vec<(usize, usize)> = (0..4)
                .flat_map(|a| (a + 1..4).map(move |b| (a, b)))
                .collect();
            let mut starts = vec![0];
            for &(a, b) in &pairs {
                starts.push(starts[starts.len() - 1] + sizes[a] * sizes[b]);
            }
            let mut cells = vec![0; starts[pairs.len()]];
            let many = count_pairs(&sets, &starts, &mut cells);
            for (pair, &(a, b)) in pairs.iter().enumerate() {
                let mut expected = vec![0; sizes[a] * sizes[b]];
                for &row in &positions {
                    let (x, y) = (bins[a][row as usize], bins[b][row as usize]);
                    expected[usize::from(x) * sizes[b] + usize::from(y)] += 1;
                }
                if many.contains(&(pair, a, b)) {
                    expected.fill(0);
                }
                assert_eq!(
                    cells[starts[pair]..starts[pair + 1]],
                    expected,
                    "case {case}"
                );
            }
        }
    }
}
