//! The order in which columns are taken into a small set that tells a group.
//!
//! Columns are taken one after the other, each time the one with which the set tells most (greedy
//! forward selection). Nothing proves that no smaller set would do: with n columns there are 2ⁿ sets,
//! and two columns may tell together what neither tells alone. So that all candidates can be tried,
//! what a set tells is measured by a classifier that is taught in one pass: naive Bayes, which adds
//! up, over the columns, ln(p(value | member)/p(value | other)) with frequencies of the other folds,
//! each count half a person larger (Jeffreys). Whether a set reaches what is asked for is then
//! measured by the network.

use rayon::prelude::*;

use super::auc::area;
use super::column::Values;
use super::folds::Folds;

/// A set of columns that grows.
pub(super) struct Selection<'a> {
    is_member: &'a [bool],
    folds: &'a Folds,
    /// The evidence of each column that is left, with its number.
    left: Vec<(usize, Vec<f64>)>,
    /// The sum of the evidence of those taken.
    taken: Vec<f64>,
    /// The columns taken, in order.
    pub columns: Vec<usize>,
    /// The area under the ROC curve that the set has by naive Bayes.
    pub auc: f64,
}

impl<'a> Selection<'a> {
    /// Creates the selection of none of the columns `values`.
    pub fn new(values: &[Values], is_member: &'a [bool], folds: &'a Folds) -> Selection<'a> {
        let left = values.par_iter().enumerate();
        let left = left.map(|(place, values)| (place, evidence(values, is_member, folds)));
        Selection {
            is_member,
            folds,
            left: left.collect(),
            taken: vec![0.0; is_member.len()],
            columns: Vec::new(),
            auc: 0.5,
        }
    }

    /// Returns the area under the ROC curve that all columns have together by naive Bayes.
    pub fn whole(&self) -> f64 {
        let mut sum = self.taken.clone();
        for (_, evidence) in &self.left {
            add(&mut sum, evidence);
        }
        area(&sum, self.is_member, self.folds)
    }

    /// Takes the column with which the set tells most, the first of several; returns whether there
    /// was one.
    pub fn take(&mut self) -> bool {
        let tried = self.left.par_iter().map(|(_, evidence)| {
            let mut sum = self.taken.clone();
            add(&mut sum, evidence);
            area(&sum, self.is_member, self.folds)
        });
        let tried: Vec<f64> = tried.collect();
        let best = (0..tried.len()).reduce(|best, it| match tried[it] > tried[best] {
            true => it,
            false => best,
        });
        let Some(best) = best else { return false };
        let (place, evidence) = self.left.remove(best);
        add(&mut self.taken, &evidence);
        self.columns.push(place);
        self.auc = tried[best];
        true
    }

    /// Takes columns until the set tells `share` of what all tell beyond chance.
    pub fn take_until(&mut self, share: f64) {
        let wanted = 0.5 + share * (self.whole() - 0.5);
        // A set that tells less than chance goes on until it is whole.
        while (self.columns.is_empty() || self.auc < wanted) && self.take() {}
    }
}

fn add(sum: &mut [f64], evidence: &[f64]) {
    for (sum, evidence) in sum.iter_mut().zip(evidence) {
        *sum += evidence;
    }
}

/// The logarithm of how many times more likely a row's value is among members than among others, by
/// the people of other folds.
fn evidence(values: &Values, is_member: &[bool], folds: &Folds) -> Vec<f64> {
    let spread = values.count as f64 / 2.0;
    values.scores(is_member, folds, |counts, sizes| {
        let likely = |side: usize| ((counts[side] + 0.5) / (sizes[side] + spread)).ln();
        likely(0) - likely(1)
    })
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use probity_run::stream::{Purpose, stream};

    /// Of six columns the third and the fifth tell together what the group is, but for noise.
    fn planted(rows: usize) -> (Vec<Values>, Vec<bool>, Folds) {
        let mut random = stream(5, Purpose::Synthetic, 0, 1);
        let codes: Vec<Vec<i32>> = (0..6)
            .map(|_| (0..rows).map(|_| random.random_range(0..4)).collect())
            .collect();
        let is_member = (0..rows).map(|row| codes[2][row] + codes[4][row] >= 3);
        let is_member: Vec<bool> = is_member.collect();
        let flat: Vec<i32> = (0..rows as i32).collect();
        let values = codes.iter().map(|codes| Values::new(codes, |_| true));
        (values.collect(), is_member, Folds::deal(&flat, 1, 5, 1))
    }

    #[test]
    fn the_columns_that_tell_are_taken_first() {
        let (values, is_member, folds) = planted(2000);
        let mut selection = Selection::new(&values, &is_member, &folds);
        let whole = selection.whole();
        selection.take_until(0.95);
        let mut taken = selection.columns.clone();
        taken.sort_unstable();
        assert_eq!(taken, [2, 4]);
        assert!(selection.auc >= 0.5 + 0.95 * (whole - 0.5) && whole > 0.97);
        while selection.take() {}
        assert_eq!(selection.columns.len(), 6);
        assert!((selection.auc - whole).abs() < 1e-12);
    }

    #[test]
    fn equal_columns_are_taken_in_their_order() {
        let (mut values, is_member, folds) = planted(500);
        values[5] = values[2].clone();
        values[1] = values[2].clone();
        let mut selection = Selection::new(&values, &is_member, &folds);
        assert!(selection.take());
        assert!(selection.columns[0] == 1 || selection.columns[0] == 4);
    }
}
