//! The prediction phase: the most frequent label among the K nearest rows that are left.

/// Label counts that only grow, with the most frequent label at hand.
///
/// `top` upholds Freq: the largest count, on ties the smallest label id. Adding one row can only
/// put that row's label on top, so the update takes constant time.
#[derive(Debug, Clone)]
pub(crate) struct Votes {
    counts: Vec<u32>,
    top: Option<u16>,
}

impl Votes {
    pub(crate) fn new(classes: usize) -> Self {
        Self {
            counts: vec![0; classes],
            top: None,
        }
    }

    pub(crate) fn clear(&mut self) {
        self.counts.fill(0);
        self.top = None;
    }

    #[inline]
    pub(crate) fn add(&mut self, label: u16) {
        let count = &mut self.counts[usize::from(label)];
        *count += 1;
        let count = *count;
        let wins = self.top.is_none_or(|top| {
            let best = self.counts[usize::from(top)];
            count > best || (count == best && label < top)
        });
        if wins {
            self.top = Some(label);
        }
    }

    /// Returns the most frequent label (Freq) of the rows that were added; nothing if none was.
    #[inline]
    pub(crate) fn top(&self) -> Option<u16> {
        self.top
    }

    #[inline]
    pub(crate) fn count(&self, label: u16) -> usize {
        self.counts[usize::from(label)] as usize
    }
}

/// Predicts the label of a test input: the most frequent one among its K nearest rows in T \ R.
///
/// `ranked` lists training rows nearest first and `removed` flags R (rows beyond its end are kept,
/// rows without a label do not vote). Where fewer than K rows are left, all of them vote. On equal
/// counts the smallest label id wins. `None` only if no row is left. Source: Li, Wang and Wang
/// (ISSTA 2023), section 2.2; rules for ties: the module's page.
pub fn predict(
    ranked: impl IntoIterator<Item = usize>,
    labels: &[u16],
    removed: &[bool],
    k: usize,
) -> Option<u16> {
    let classes = labels
        .iter()
        .map(|&l| usize::from(l) + 1)
        .max()
        .unwrap_or(0);
    let mut votes = Votes::new(classes);
    ranked
        .into_iter()
        .filter(|&row| row < labels.len() && !removed.get(row).copied().unwrap_or(false))
        .take(k)
        .for_each(|row| votes.add(labels[row]));
    votes.top()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_go_to_the_smallest_label_and_removed_rows_do_not_vote() {
        let labels = [2, 1, 1, 2, 0];
        let none = [false; 5];
        assert_eq!(predict(0..5, &labels, &none, 1), Some(2));
        assert_eq!(predict(0..5, &labels, &none, 2), Some(1));
        assert_eq!(predict(0..5, &labels, &none, 4), Some(1));
        let removed = [false, true, false, false, false];
        assert_eq!(predict(0..5, &labels, &removed, 3), Some(2));
        assert_eq!(predict(0..5, &labels, &removed, 99), Some(2));
        assert_eq!(predict(0..5, &labels, &[true; 5], 3), None);
    }
}
