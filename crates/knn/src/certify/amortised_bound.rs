//! An amortised bound: what the removal of each row is charged, for one K held against another.

use crate::learn::error_rate::ErrorCounts;
use crate::system::KnnSystem;

/// The state in which an analysis stands: the rows already removed, the exact error counts, and the
/// removals left.
#[derive(Clone, Copy)]
pub(crate) struct SearchState<'a> {
    pub(crate) system: &'a KnnSystem,
    pub(crate) removed: &'a [bool],
    pub(crate) counts: &'a ErrorCounts,
    pub(crate) budget: usize,
}

/// The weights of the lemma for one pair (K, M).
#[derive(Debug, Clone)]
pub(crate) struct AmortisedBound {
    /// The slack of the bound: gap - correction.
    pub(crate) slack: i64,
    /// The weight w(r) of every row r of T; the weights of rows that may not be removed are not
    /// used.
    pub(crate) weights: Vec<i64>,
    /// The rows of the largest positive weights in descending order, twice the budget of them.
    pub(crate) top: Vec<u32>,
    /// Whether M < K: then K has to be strictly better to be learnt.
    pub(crate) strict: bool,
}

impl AmortisedBound {
    /// Whether `gain` cannot be enough for K to be learnt.
    pub(crate) fn excludes(&self, gain: i128) -> bool {
        let left = i128::from(self.slack) - gain;
        left > 0 || (left == 0 && self.strict)
    }

    /// The total weight of some rows.
    pub(crate) fn gain_of(&self, rows: &[u32]) -> i128 {
        let weights = rows.iter().map(|&row| self.weights[row as usize]);
        weights.map(i128::from).sum()
    }

    /// The largest total weight of `budget` rows.
    pub(crate) fn best_gain(&self, budget: usize) -> i128 {
        self.top
            .iter()
            .take(budget)
            .map(|&row| i128::from(self.weights[row as usize]))
            .sum()
    }

    /// The rows of the largest total weight that meet `constraint`; `None` if none do.
    pub(crate) fn heaviest(&self, constraint: &RemovalConstraint<'_>) -> Option<Vec<u32>> {
        let &RemovalConstraint {
            budget,
            forced,
            window,
        } = constraint;
        if forced > window.len() || forced > budget {
            return None;
        }
        let mut inside: Vec<(i64, u32)> = window
            .iter()
            .map(|&row| (self.weights[row as usize], row))
            .collect();
        inside.sort_unstable_by(|a, b| b.cmp(a));
        let mut chosen: Vec<u32> = inside
            .into_iter()
            .take(forced)
            .map(|(_, row)| row)
            .collect();
        let others = self
            .top
            .iter()
            .filter(|row| !chosen[..forced].contains(row));
        let others: Vec<u32> = others.copied().take(budget - forced).collect();
        chosen.extend(others);
        Some(chosen)
    }

    /// The largest total weight of rows that meet `constraint`; `None` if none do.
    pub(crate) fn best_gain_with(&self, constraint: &RemovalConstraint<'_>) -> Option<i128> {
        Some(self.gain_of(&self.heaviest(constraint)?))
    }

    /// Whether no removal set that meets `constraint` makes K learnt.
    pub(crate) fn refutes(&self, constraint: &RemovalConstraint<'_>) -> bool {
        self.best_gain_with(constraint)
            .is_none_or(|gain| self.excludes(gain))
    }
}

/// A constraint on a removal set: at most `budget` rows, at least `forced` of them in `window`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RemovalConstraint<'a> {
    pub(crate) budget: usize,
    pub(crate) forced: usize,
    pub(crate) window: &'a [u32],
}

impl RemovalConstraint<'_> {
    /// The constraint that allows any rows, at most `budget` of them.
    pub(crate) fn any(budget: usize) -> Self {
        Self {
            budget,
            forced: 0,
            window: &[],
        }
    }
}

/// Clamps a slack to a range that no blend of slacks leaves. A positive slack is only ever lowered:
/// the weaker bound; a slack below the lower limit already excludes nothing.
pub(crate) fn clamped(slack: i128) -> i64 {
    const LIMIT: i64 = 1 << 54;
    i64::try_from(slack).map_or(if slack < 0 { -LIMIT } else { LIMIT }, |slack| {
        slack.clamp(-LIMIT, LIMIT)
    })
}

/// The open rows with the `count` largest positive values, in descending order, ties by row.
pub(crate) fn top_rows(values: &[i64], count: usize, open: impl Fn(usize) -> bool) -> Vec<u32> {
    let order = |&(value, row): &(i64, u32)| (std::cmp::Reverse(value), row);
    let mut found: Vec<(i64, u32)> = values
        .iter()
        .enumerate()
        .filter(|&(row, &value)| value > 0 && open(row))
        .map(|(row, &value)| (value, row as u32))
        .collect();
    if count < found.len() {
        found.select_nth_unstable_by_key(count, order);
        found.truncate(count);
    }
    found.sort_unstable_by_key(order);
    found.into_iter().map(|(_, row)| row).collect()
}
