//! What one column tells of a group by itself.
//!
//! # Values
//!
//! A column with an order and more than [`MOST_RANGES`] different values is cut into as many ranges of
//! about as many people; values of a column without an order that fewer than [`LEAST_PEOPLE`] have are
//! taken as one. Both look at the column alone, never at the group. A cut column tells no more than
//! the whole one does (the data processing inequality), and what it tells is estimated from enough
//! people: a column of which everybody has a value of their own would seem to tell everything.
//!
//! # Mutual information
//!
//! I = Σ p(x, g)·log₂(p(x, g)/(p(x)·p(g))), with shares of the people for probabilities. By chance
//! alone these make it too large; Miller (1955) adds (K − 1)/(2n·ln 2) to an entropy of K values that
//! n people have, and so I gets (K_x + K_g − K_xg − 1)/(2n·ln 2). It is cut to what is possible, from 0
//! to the entropy of the group.

use std::collections::BTreeMap;

use super::folds::Folds;

/// The most values of a column with an order that are taken one by one.
pub const MOST_RANGES: u64 = 32;

/// The fewest people who must have a value without an order for it to be taken by itself.
pub const LEAST_PEOPLE: u64 = 5;

/// The values of a column, renumbered.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Values {
    /// The value of each row, below `count`.
    pub of_row: Vec<u32>,
    /// The number of values.
    pub count: usize,
}

impl Values {
    /// Creates the values of a column from its `codes`, one a row; `is_ordered` tells of a code
    /// whether it has a place in an order.
    pub fn new(codes: &[i32], is_ordered: impl Fn(i32) -> bool) -> Values {
        let mut people: BTreeMap<i32, u64> = BTreeMap::new();
        for &code in codes {
            *people.entry(code).or_default() += 1;
        }
        let in_order = people.iter().filter(|(code, _)| is_ordered(**code));
        let different = in_order.clone().count() as u64;
        let of_order: u64 = in_order.map(|(_, people)| people).sum();
        let mut keys: BTreeMap<i32, (u8, u64)> = BTreeMap::new();
        let mut before = 0;
        for (&code, &count) in &people {
            let key = if is_ordered(code) {
                let middle = 2 * before + count;
                before += count;
                match different > MOST_RANGES {
                    true => (0, MOST_RANGES * middle / (2 * of_order)),
                    false => (1, i64::from(code).wrapping_sub(i64::from(i32::MIN)) as u64),
                }
            } else if count < LEAST_PEOPLE {
                (2, 0)
            } else {
                (3, i64::from(code).wrapping_sub(i64::from(i32::MIN)) as u64)
            };
            keys.insert(code, key);
        }
        let mut numbers: BTreeMap<(u8, u64), u32> = keys.values().map(|&key| (key, 0)).collect();
        for (place, number) in numbers.values_mut().enumerate() {
            *number = place as u32;
        }
        let of_code: BTreeMap<i32, u32> = keys
            .iter()
            .map(|(&code, key)| (code, numbers[key]))
            .collect();
        Values {
            of_row: codes.iter().map(|code| of_code[code]).collect(),
            count: numbers.len(),
        }
    }

    /// Returns, for each fold and value, how many members and how many others have the value in
    /// *other* folds; then, for each fold, how many of both there are in other folds.
    pub fn outside(&self, is_member: &[bool], folds: &Folds) -> (Vec<[f64; 2]>, Vec<[f64; 2]>) {
        let mut inside = vec![[0.0; 2]; self.count * folds.count as usize];
        let mut sizes = vec![[0.0; 2]; folds.count as usize];
        for ((&value, &is_member), &fold) in self.of_row.iter().zip(is_member).zip(&folds.of_row) {
            let side = usize::from(!is_member);
            inside[fold as usize * self.count + value as usize][side] += 1.0;
            sizes[fold as usize][side] += 1.0;
        }
        let mut of_value = vec![[0.0; 2]; self.count];
        for (place, counts) in inside.iter().enumerate() {
            let all: &mut [f64; 2] = &mut of_value[place % self.count];
            *all = [all[0] + counts[0], all[1] + counts[1]];
        }
        let mut all = [0.0; 2];
        for size in &sizes {
            all = [all[0] + size[0], all[1] + size[1]];
        }
        let less = |all: [f64; 2], own: [f64; 2]| [all[0] - own[0], all[1] - own[1]];
        let outside = inside.iter().enumerate();
        let outside = outside.map(|(place, own)| less(of_value[place % self.count], *own));
        let outside = outside.collect();
        let sizes = sizes.into_iter().map(|own| less(all, own)).collect();
        (outside, sizes)
    }

    /// Returns a score of each row: `of(counts, sizes)` of the members and others in other folds who
    /// have its value, and of all members and others there.
    pub fn scores(
        &self,
        is_member: &[bool],
        folds: &Folds,
        of: impl Fn([f64; 2], [f64; 2]) -> f64,
    ) -> Vec<f64> {
        let (counts, sizes) = self.outside(is_member, folds);
        let table = counts.iter().enumerate();
        let table: Vec<f64> = table
            .map(|(place, &counts)| of(counts, sizes[place / self.count]))
            .collect();
        let rows = self.of_row.iter().zip(&folds.of_row);
        rows.map(|(&value, &fold)| table[fold as usize * self.count + value as usize])
            .collect()
    }

    /// Returns the share of members among the people of other folds who have the same value, for each
    /// row; where nobody has it, the share among all of them.
    pub fn frequencies(&self, is_member: &[bool], folds: &Folds) -> Vec<f64> {
        let share = |[members, others]: [f64; 2]| members / (members + others).max(1.0);
        self.scores(is_member, folds, |counts, sizes| {
            match counts[0] + counts[1] > 0.0 {
                true => share(counts),
                false => share(sizes),
            }
        })
    }
}

/// Returns the entropy, in bits, of whether one of `members + others` people is a member.
pub(super) fn entropy(members: u64, others: u64) -> f64 {
    let all = (members + others) as f64;
    let part = |count: u64| match count {
        0 => 0.0,
        count => {
            let share = count as f64 / all;
            -share * share.log2()
        }
    };
    part(members) + part(others)
}

/// Returns the mutual information of `values` and membership, in bits, corrected as Miller has it.
pub(super) fn mutual_information(values: &Values, is_member: &[bool]) -> f64 {
    let mut joint = vec![[0_u64; 2]; values.count];
    for (&value, &is_member) in values.of_row.iter().zip(is_member) {
        joint[value as usize][usize::from(is_member)] += 1;
    }
    let rows = is_member.len() as f64;
    let groups = [0, 1].map(|group| joint.iter().map(|counts| counts[group]).sum::<u64>());
    let (mut bits, mut cells, mut present) = (0.0, 0, 0);
    for counts in &joint {
        let of_value = counts[0] + counts[1];
        present += i64::from(of_value > 0);
        for (&count, &of_group) in counts.iter().zip(&groups) {
            if count > 0 {
                cells += 1;
                let ratio = count as f64 * rows / (of_value as f64 * of_group as f64);
                bits += count as f64 / rows * ratio.log2();
            }
        }
    }
    let sides = groups.iter().filter(|count| **count > 0).count() as i64;
    let correction = (present + sides - cells - 1) as f64 / (2.0 * rows.max(1.0));
    let most = entropy(groups[1], groups[0]);
    (bits + correction / std::f64::consts::LN_2).clamp(0.0, most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proxies::folds::EqualRows;

    fn values(codes: &[i32]) -> Values {
        Values::new(codes, |_| false)
    }

    fn repeated(counts: &[(i32, bool, usize)]) -> (Vec<i32>, Vec<bool>) {
        let rows = counts.iter();
        rows.flat_map(|&(code, is_member, times)| std::iter::repeat_n((code, is_member), times))
            .unzip()
    }

    #[test]
    fn mutual_information_is_that_of_a_small_table() {
        // 40 people: of value 0 there are 15 members and 5 others, of value 1 the reverse.
        let (codes, is_member) =
            repeated(&[(0, true, 15), (0, false, 5), (1, true, 5), (1, false, 15)]);
        let plain = 0.75 * 1.5_f64.log2() + 0.25 * 0.5_f64.log2();
        let correction = (2.0 + 2.0 - 4.0 - 1.0) / (2.0 * 40.0 * std::f64::consts::LN_2);
        let found = mutual_information(&values(&codes), &is_member);
        assert!((found - plain - correction).abs() < 1e-12, "{found}");
        // A copy tells all there is, and no more.
        let (codes, is_member) = repeated(&[(3, true, 30), (8, false, 10)]);
        let all = entropy(30, 10);
        assert_eq!(mutual_information(&values(&codes), &is_member), all);
        assert!((all - 0.811_278_124_459_132_8).abs() < 1e-12);
        // What chance alone explains is nothing.
        let (codes, is_member) =
            repeated(&[(0, true, 10), (0, false, 11), (1, true, 11), (1, false, 10)]);
        assert_eq!(mutual_information(&values(&codes), &is_member), 0.0);
        assert_eq!(entropy(5, 0), 0.0);
    }

    #[test]
    fn orders_are_cut_into_ranges_and_rare_words_are_one() {
        let many: Vec<i32> = (0..3200).collect();
        let cut = Values::new(&many, |_| true);
        assert_eq!(cut.count, 32);
        for range in 0..32 {
            assert_eq!(cut.of_row.iter().filter(|it| **it == range).count(), 100);
        }
        assert!(cut.of_row.is_sorted());
        // As many values as ranges stay as they are, and what has no place in the order beside them.
        let few: Vec<i32> = (0..320).map(|row| row % 32).chain([99; 10]).collect();
        assert_eq!(Values::new(&few, |code| code < 99).count, 33);
        let words: Vec<i32> = (0..100).chain([7; 10]).collect();
        let cut = values(&words);
        assert_eq!(cut.count, 2);
        // Codes at the ends of their type.
        assert_eq!(Values::new(&[i32::MIN, i32::MAX, 0], |_| true).count, 3);
    }

    #[test]
    fn frequencies_are_those_of_other_folds() {
        let codes = [0, 0, 0, 1, 1, 2];
        let is_member = [true, false, true, true, true, false];
        let folds = Folds {
            of_row: vec![0, 1, 1, 0, 1, 0],
            count: 2,
            equal_rows: EqualRows::Apart,
        };
        let column = Values::new(&codes, |_| true);
        let found = column.frequencies(&is_member, &folds);
        // Nobody in fold 1 has value 2: two of three there are members.
        assert_eq!(found, [0.5, 1.0, 1.0, 1.0, 1.0, 2.0 / 3.0]);
    }
}
