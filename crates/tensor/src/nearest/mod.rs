//! Exact nearest neighbours, fast: a device proposes, the reference decides.
//!
//! The *reference* is an f64 formula with its terms in a fixed order; it defines who is near, and
//! equal rows rank by their number. A device gives all values of a block of queries at once, as one
//! matrix product, but rounded, on a GPU to few digits. With a proven bound e on |rounded - true|
//! there are two ways to the true order:
//! - *Candidates.* Of the k nearest by rounded values the last has the value a. At least k rows are
//!   truly at a + e or nearer, so each of the k truly nearest is, and has a rounded value of at
//!   most a + 2e.
//! - *Groups.* Sorted by rounded values, rows on two sides of a gap wider than 2e are in their true
//!   order; only rows between two such gaps are compared by the reference.
//!
//! The same bound tells which of two is nearer where their rounded values are more than 2e apart, and
//! who is within a radius where r - e or r + e leaves no doubt.
//!
//! So a result does not depend on the device, the block size or the threads. [`rank`] orders rows:
//! of tables of word vectors ([`cosine`]) and of the training rows of k-NN. [`euclidean`] gives the
//! latter their distances, finds the nearest centroids and seeds of k-means, and counts neighbours
//! of records; [`inner`] tells which columns depend on each other in a sum-product network.

pub mod cosine;
pub mod euclidean;
pub mod inner;
mod products;
pub mod rank;
mod smallest;

pub(crate) use products::asked;

/// Rounded distances of all rows from blocks of queries, with a bound on their error: the smaller,
/// the nearer.
pub trait Approximation {
    /// Fills `values`, `[queries, rows]`, and returns a bound on |rounded - true| that holds for
    /// all of them; nothing if the device failed.
    fn fill(&mut self, queries: &[u32], values: &mut [f32]) -> Option<f64>;
}

/// Returns the `depth` truly nearest of `candidates` (rounded distance, row), in their true order.
///
/// `bound` holds for every candidate, and `exact` is the reference. See the module's page.
pub fn settle(
    mut candidates: Vec<(f64, u32)>,
    bound: f64,
    depth: usize,
    exact: impl Fn(u32) -> f64,
) -> Vec<u32> {
    if depth == 0 {
        return Vec::new();
    }
    // Twice the bound plus the rounding of the subtraction below.
    let gap = 2.0 * bound * (1.0 + 1e-9) + f64::MIN_POSITIVE;
    if depth < candidates.len() {
        let (_, &mut (last, _), _) = candidates
            .select_nth_unstable_by(depth - 1, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let cut = last + gap + last.abs() * 1e-12;
        candidates.retain(|&(value, _)| value <= cut);
    }
    candidates.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut start = 0;
    for end in 1..=candidates.len() {
        let apart = candidates.get(end).is_none_or(|next| {
            let slack = gap + next.0.abs() * 1e-12;
            next.0 - candidates[end - 1].0 > slack
        });
        if apart {
            let group = &mut candidates[start..end];
            if group.len() > 1 {
                for entry in group.iter_mut() {
                    entry.0 = exact(entry.1);
                }
                group.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            }
            start = end;
        }
    }
    candidates.truncate(depth);
    candidates.into_iter().map(|(_, row)| row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounded_values_within_their_bound_give_the_true_order() {
        for turn in 0..200_u32 {
            let exact = |row: u32| f64::from((row * 7919 + turn * 31) % 23);
            let bound = [0.0, 0.5, 3.0, 40.0][turn as usize % 4];
            let noise = |row: u32| f64::from((row * 13 + turn) % 17) / 8.0 - 1.0;
            let rounded: Vec<(f64, u32)> = (0..60)
                .map(|row| (exact(row) + bound * noise(row), row))
                .collect();
            let mut expected: Vec<u32> = (0..60).collect();
            expected.sort_by(|&a, &b| exact(a).total_cmp(&exact(b)).then(a.cmp(&b)));
            for depth in [0, 1, 7, 60, 99] {
                let found = settle(rounded.clone(), bound, depth, exact);
                assert_eq!(found, expected[..depth.min(60)]);
            }
        }
    }
}
