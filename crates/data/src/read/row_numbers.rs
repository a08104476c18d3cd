//! The numbers that the kept rows have among all rows of their file.

/// The rows that were kept, in order, by their numbers in the file, from 1.
///
/// Only where rows were left out is anything stored: a run of rows without a gap takes one entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowNumbers {
    /// The kept row that begins each run, from 0, and its number in the file.
    runs: Vec<(usize, u64)>,
    kept: usize,
}

impl RowNumbers {
    /// Creates the numbers of `count` rows, none of which was left out.
    pub fn first(count: usize) -> RowNumbers {
        RowNumbers {
            runs: (count > 0).then_some((0, 1)).into_iter().collect(),
            kept: count,
        }
    }

    /// Notes that the row with the number `row`, which is after all before it, was kept.
    pub fn keep(&mut self, row: u64) {
        let is_next = self.kept > 0 && self.number(self.kept - 1) + 1 == row;
        if !is_next {
            self.runs.push((self.kept, row));
        }
        self.kept += 1;
    }

    /// Returns the number in the file, from 1, of the kept row `index`, from 0; without notes of
    /// it, as if no row before it had been left out.
    pub fn number(&self, index: usize) -> u64 {
        let run = self.runs.partition_point(|&(start, _)| start <= index);
        let (start, row) = run.checked_sub(1).map_or((0, 1), |run| self.runs[run]);
        row + (index - start) as u64
    }

    /// Returns the kept row, from 0, that has the number `row` in the file; nothing for one that
    /// was left out.
    pub fn index_of(&self, row: u64) -> Option<usize> {
        let run = self.runs.partition_point(|&(_, first)| first <= row);
        let (start, first) = match run.checked_sub(1) {
            Some(run) => self.runs[run],
            None if self.runs.is_empty() => (0, 1),
            None => return None,
        };
        let index = start + usize::try_from(row.checked_sub(first)?).ok()?;
        let end = self.runs.get(run).map_or(usize::MAX, |&(next, _)| next);
        let is_noted = self.runs.is_empty() || index < self.kept;
        (index < end && is_noted).then_some(index)
    }
}

impl FromIterator<u64> for RowNumbers {
    fn from_iter<I: IntoIterator<Item = u64>>(rows: I) -> RowNumbers {
        let mut numbers = RowNumbers::default();
        rows.into_iter().for_each(|row| numbers.keep(row));
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both directions agree with the list of numbers itself, for every subset of eight rows.
    #[test]
    fn both_directions_are_those_of_the_list() {
        for kept in 0u32..256 {
            let rows: Vec<u64> = (1..=8).filter(|row| kept >> (row - 1) & 1 == 1).collect();
            let numbers: RowNumbers = rows.iter().copied().collect();
            for (index, &row) in rows.iter().enumerate() {
                assert_eq!(numbers.number(index), row, "{rows:?}");
            }
            if !rows.is_empty() {
                for row in 0..=9 {
                    let index = rows.iter().position(|&kept| kept == row);
                    assert_eq!(numbers.index_of(row), index, "{rows:?} {row}");
                }
            }
        }
        let all = RowNumbers::default();
        assert_eq!(
            (all.number(6), all.index_of(7), all.index_of(0)),
            (7, Some(6), None)
        );
    }
}
