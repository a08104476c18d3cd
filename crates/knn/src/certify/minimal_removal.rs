//! The fewest removals that change one vote, exactly: Algorithm 4's `min_rmv` without its search.

use crate::votes::Votes;

/// The fewest removals after which `label` is no longer the vote of the K nearest rows; `None` if
/// more than `limit` are needed. `labels` are those of the ranked rows: all there are, or at least
/// `k + limit`.
///
/// **Lemma** (section 5.1). Let P(t) be the first min(K + t, all) ranked rows. A removal set that
/// changes the vote with t members in P(t) exists iff, without t of its `label` rows, P(t) votes
/// for something else or is empty. *Proof.* After t removals in P(t) the rows left of P(t) are the
/// K nearest (or all that are left). A label c beats y there iff count(c) - r_c beats count(y) -
/// r_y; r_y <= t and r_c >= 0, so if any removal works, r_y = t, r_c = 0 does. Every removal set R
/// has such a t: the number of its members in the shortest prefix that holds K survivors. ∎ By
/// Theorem 5.1 the predicate is monotone in t. The paper searches it by bisection, counting anew
/// each time; here P(t) grows by one row a step and the strongest rival is kept up to date, so all
/// t up to the answer cost K + t steps in total.
///
/// Each removed row counts, whatever its label: fewer than the result never suffice.
pub fn minimal_violating_removal(
    labels: &[u16],
    k: usize,
    label: u16,
    limit: usize,
) -> Option<usize> {
    let classes = labels
        .iter()
        .map(|&l| usize::from(l) + 1)
        .max()
        .unwrap_or(0);
    violating_removal(labels, classes, k, label, limit)
}

/// [`minimal_violating_removal`] where the number of classes is known.
pub(crate) fn violating_removal(
    labels: &[u16],
    classes: usize,
    k: usize,
    label: u16,
    limit: usize,
) -> Option<usize> {
    let mut rivals = Votes::new(classes);
    let mut own = 0_usize;
    let mut add = |row: &u16| {
        if *row == label {
            own += 1;
        } else {
            rivals.add(*row);
        }
        (own, rivals.top().map(|top| (rivals.count(top), top)))
    };
    let mut state = (0, None);
    for row in labels.iter().take(k) {
        state = add(row);
    }
    for removals in 0..=limit {
        if removals > 0
            && let Some(row) = labels.get(k + removals - 1)
        {
            state = add(row);
        }
        let (own, rival) = state;
        let beaten = rival.is_some_and(|(count, top)| {
            count + removals > own || (count + removals == own && top < label)
        });
        if own <= removals || beaten {
            return Some(removals);
        }
    }
    None
}

/// The fewest removals after which `label` *is* the vote of the K nearest rows, or `None` beyond
/// `limit`.
///
/// **Lemma.** At t removals in P(t) the label y wins only if the excesses max(0, count(c) -
/// count(y) [+ 1 if c < y]) of all other labels c sum to at most t, and y occurs. *Proof.* With r_c
/// removals among c and r_y >= 0 among y, winning needs r_c >= count(c) - count(y) (+ 1 on a lost
/// tie) for each c, and the r_c sum to at most t. ∎ So no set with fewer than the result in its
/// prefix makes y win.
pub(crate) fn minimal_winning_removal(
    labels: &[u16],
    classes: usize,
    k: usize,
    label: u16,
    limit: usize,
) -> Option<usize> {
    let mut excess = Excess::new(classes);
    excess.start(label, labels.iter().take(k));
    for removals in 0..=limit {
        if removals > 0
            && let Some(&row) = labels.get(k + removals - 1)
        {
            excess.add(row);
        }
        if excess.bearable(removals) {
            return Some(removals);
        }
    }
    None
}

/// The sum over other labels of how far they exceed what one label tolerates, as rows come in.
pub(crate) struct Excess {
    counts: Vec<usize>,
    own: usize,
    label: u16,
    sum: usize,
}

impl Excess {
    pub(crate) fn new(classes: usize) -> Self {
        Self {
            counts: vec![0; classes],
            own: 0,
            label: 0,
            sum: 0,
        }
    }

    /// Starts anew for `label` with some rows counted.
    pub(crate) fn start<'r>(&mut self, label: u16, rows: impl IntoIterator<Item = &'r u16>) {
        self.counts.fill(0);
        for &row in rows {
            self.counts[usize::from(row)] += 1;
        }
        self.label = label;
        self.own = std::mem::take(&mut self.counts[usize::from(label)]);
        self.recount();
    }

    fn recount(&mut self) {
        self.sum = 0;
        for (other, &count) in self.counts.iter().enumerate() {
            self.sum += count.saturating_sub(self.tolerated(other));
        }
    }

    fn tolerated(&self, other: usize) -> usize {
        self.own
            .saturating_sub(usize::from(other < usize::from(self.label)))
    }

    pub(crate) fn add(&mut self, row: u16) {
        let row = usize::from(row);
        if row != usize::from(self.label) {
            self.counts[row] += 1;
            self.sum += usize::from(self.counts[row] > self.tolerated(row));
            return;
        }
        self.own += 1;
        self.recount();
    }

    pub(crate) fn bearable(&self, removals: usize) -> bool {
        self.own > 0 && self.sum <= removals
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::votes::predict;

    fn vote(labels: &[u16], mask: u32, k: usize) -> Option<u16> {
        let removed: Vec<bool> = (0..labels.len()).map(|at| mask >> at & 1 == 1).collect();
        predict(0..labels.len(), labels, &removed, k)
    }

    #[test]
    fn both_minima_agree_with_enumeration() {
        let mut state = 1_u64;
        for _ in 0..3000 {
            let mut draw = |below: u64| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                (state >> 33) % below
            };
            let rows = 1 + draw(8) as usize;
            let classes = 2 + draw(2) as usize;
            let labels: Vec<u16> = (0..rows).map(|_| draw(classes as u64) as u16).collect();
            let k = 1 + draw(rows as u64 + 1) as usize;
            for label in 0..classes as u16 {
                let fewest = |wanted: bool| {
                    (0..1_u32 << rows)
                        .filter(|&mask| (vote(&labels, mask, k) == Some(label)) == wanted)
                        .map(|mask| mask.count_ones() as usize)
                        .min()
                };
                let found = minimal_violating_removal(&labels, k, label, rows);
                assert_eq!(found, fewest(false), "{labels:?} {k} {label}");
                let found = minimal_winning_removal(&labels, classes, k, label, rows);
                assert_eq!(found, fewest(true), "{labels:?} {k} {label}");
            }
        }
    }

    #[test]
    fn the_paper_s_example_needs_one_removal() {
        // Example 5.2: K = 2, neighbours star, star, triangle, triangle, star. One star gone leaves
        // a tie, which the paper gives to the triangle: its label id is the smaller one.
        let (star, triangle) = (1, 0);
        let labels = [star, star, triangle, triangle, star];
        assert_eq!(minimal_violating_removal(&labels, 2, star, 5), Some(1));
    }
}
