//! The parts of the rows of which each is told by what the others teach.
//!
//! Rows are dealt by their content, never by their place, so their order in a file changes nothing.
//! Rows that are equal in all columns stay together where most rows are unlike all others: there they
//! are likely one person twice, whom the other copy would give away. Where columns have few values,
//! equal rows are different people, and each is dealt by itself: kept together, no fold would ever
//! teach what the next one holds, and the columns would seem to tell less than they do.

use serde::Serialize;

use probity_run::stream::{Purpose, Words, fingerprint};

/// What happens to rows that are equal in all columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EqualRows {
    /// Equal rows are in one fold.
    Together,
    /// Each is dealt by itself.
    Apart,
}

/// The fold of each row.
#[derive(Debug, Clone, PartialEq)]
pub struct Folds {
    /// The fold of each row, from 0.
    pub of_row: Vec<u32>,
    /// The number of folds.
    pub count: u32,
    /// What happened to rows that are equal in all columns.
    pub equal_rows: EqualRows,
}

impl Folds {
    /// Deals the rows of `codes`, `width` a row, into `count` folds by the keyed words of `seed`.
    /// Equal rows must follow each other.
    pub fn deal(codes: &[i32], width: usize, count: u32, seed: u64) -> Folds {
        let width = width.max(1);
        let rows = codes.len() / width;
        let different = codes.chunk_by_rows(width).count();
        let equal_rows = match 2 * different >= rows {
            true => EqualRows::Together,
            false => EqualRows::Apart,
        };
        let mut of_row = Vec::with_capacity(rows);
        for (content, copies) in codes.chunk_by_rows(width) {
            let item = fingerprint(content.iter().map(|&code| i64::from(code) as u64));
            let words = Words::new(seed, Purpose::Folds, &[item]);
            of_row.extend((0..copies).map(|copy| {
                let step = match equal_rows {
                    EqualRows::Together => 0,
                    EqualRows::Apart => copy,
                };
                words.below(u64::from(count), step) as u32
            }));
        }
        Folds {
            of_row,
            count,
            equal_rows,
        }
    }

    /// Returns the rows that are in `fold`, or all that are not, in ascending order.
    pub fn rows(&self, fold: u32, inside: bool) -> Vec<u32> {
        let rows = self.of_row.iter().enumerate();
        rows.filter(|(_, of)| (**of == fold) == inside)
            .map(|(row, _)| row as u32)
            .collect()
    }
}

/// Rows of codes, seen as runs of equal ones.
trait Runs {
    /// Iterates over the different rows that follow each other, and how many equal ones there are of
    /// each.
    fn chunk_by_rows(&self, width: usize) -> impl Iterator<Item = (&[i32], u64)>;
}

impl Runs for [i32] {
    fn chunk_by_rows(&self, width: usize) -> impl Iterator<Item = (&[i32], u64)> {
        let mut rest = self;
        std::iter::from_fn(move || {
            let first = rest.get(..width)?;
            let equal = rest.chunks_exact(width).take_while(|row| *row == first);
            let copies = equal.count();
            rest = &rest[copies * width..];
            Some((first, copies as u64))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_rows_are_together_where_most_rows_are_unlike_all_others() {
        let codes: Vec<i32> = (0..300).flat_map(|row| [row / 2 * 2, -row / 4]).collect();
        let folds = Folds::deal(&codes, 2, 5, 7);
        assert_eq!(folds.equal_rows, EqualRows::Together);
        assert_eq!(folds.of_row.len(), 300);
        for pair in folds.of_row.chunks(2) {
            assert_eq!(pair[0], pair[1]);
        }
        let sizes = (0..5).map(|fold| folds.rows(fold, true).len());
        assert!(sizes.clone().all(|size| (30..90).contains(&size)));
        assert_eq!(sizes.sum::<usize>(), 300);
        assert_ne!(folds, Folds::deal(&codes, 2, 5, 8));
    }

    #[test]
    fn people_who_have_few_values_are_dealt_one_by_one() {
        let codes: Vec<i32> = (0..1000).map(|row| row / 500).collect();
        let folds = Folds::deal(&codes, 1, 5, 7);
        assert_eq!(folds.equal_rows, EqualRows::Apart);
        for half in [&folds.of_row[..500], &folds.of_row[500..]] {
            for fold in 0..5 {
                let size = half.iter().filter(|of| **of == fold).count();
                assert!((60..140).contains(&size), "{size}");
            }
        }
    }

    #[test]
    fn no_rows_are_no_folds() {
        assert!(Folds::deal(&[], 3, 5, 1).of_row.is_empty());
    }
}
