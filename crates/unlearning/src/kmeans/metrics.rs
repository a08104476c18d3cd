//! Measures of the quality of a clustering: silhouette and normalized mutual information (section
//! 5.1).

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::exact::squared_distance;
use super::points::Points;
use probity_run::stream::{Purpose, Words};

/// Computes the silhouette coefficient (Rousseeuw 1987): the mean over rows of (b − a) / max(a, b),
/// a the mean distance to the other rows of the own cluster, b the smallest mean distance to the
/// rows of another. A row alone in its cluster counts 0. Of more than `sample` rows, as many are
/// drawn by `seed` and id, and stand for all.
///
/// `None` with fewer than two clusters in the sample. `assignment` is in the order of the ids of
/// `points`.
pub fn silhouette(
    points: &Points,
    assignment: &[(u64, usize)],
    clusters: usize,
    sample: usize,
    seed: u64,
) -> Option<f64> {
    let words = Words::new(seed, Purpose::Silhouette, &[0]);
    let mut drawn: Vec<(u64, usize, usize)> = points
        .live_slots()
        .zip(assignment)
        .map(|(slot, &(id, cluster))| (words.word(id), slot, cluster))
        .collect();
    if drawn.len() > sample {
        drawn.sort_unstable();
        drawn.truncate(sample);
    }
    let mut sizes = vec![0_usize; clusters];
    for &(_, _, cluster) in &drawn {
        sizes[cluster] += 1;
    }
    if sizes.iter().filter(|&&size| size > 0).count() < 2 {
        return None;
    }
    let widths: Vec<f64> = drawn
        .par_iter()
        .map(|&(_, slot, own)| {
            let mut totals = vec![0.0; clusters];
            for &(_, other, cluster) in &drawn {
                let square = squared_distance(points.row(slot), points.row(other));
                totals[cluster] += (square as f64).sqrt();
            }
            if sizes[own] == 1 {
                return 0.0;
            }
            let inside = totals[own] / (sizes[own] - 1) as f64;
            let outside = (0..clusters)
                .filter(|&cluster| cluster != own && sizes[cluster] > 0)
                .map(|cluster| totals[cluster] / sizes[cluster] as f64)
                .fold(f64::INFINITY, f64::min);
            let larger = inside.max(outside);
            if larger > 0.0 {
                (outside - inside) / larger
            } else {
                0.0
            }
        })
        .collect();
    Some(widths.iter().sum::<f64>() / widths.len() as f64)
}

/// Computes the normalized mutual information of two partitions: I(U, V) divided by the mean of
/// H(U) and H(V) (Vinh, Epps, Bailey 2010, the sum variant). 1 for equal partitions up to names,
/// also where both have one part.
pub fn normalized_mutual_information<A: Ord + Copy, B: Ord + Copy>(pairs: &[(A, B)]) -> f64 {
    let mut joint: BTreeMap<(A, B), u64> = BTreeMap::new();
    let mut left: BTreeMap<A, u64> = BTreeMap::new();
    let mut right: BTreeMap<B, u64> = BTreeMap::new();
    for &(a, b) in pairs {
        *joint.entry((a, b)).or_default() += 1;
        *left.entry(a).or_default() += 1;
        *right.entry(b).or_default() += 1;
    }
    let n = pairs.len() as f64;
    let entropy = |count: &u64| {
        let share = *count as f64 / n;
        -share * share.ln()
    };
    let both: f64 =
        left.values().map(entropy).sum::<f64>() + right.values().map(entropy).sum::<f64>();
    if both <= 0.0 {
        return 1.0;
    }
    let information: f64 = joint
        .iter()
        .map(|((a, b), &count)| {
            let share = count as f64 / n;
            share * (count as f64 * n / (left[a] as f64 * right[b] as f64)).ln()
        })
        .sum();
    (2.0 * information / both).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kmeans::points::ONE;

    #[test]
    fn the_silhouette_of_two_pairs() {
        let rows = vec![0, ONE / 8, ONE / 2, ONE / 2 + ONE / 8];
        let points = Points::new(vec![1, 2, 3, 4], rows, 1).unwrap();
        let assignment = [(1, 0), (2, 0), (3, 1), (4, 1)];
        // a = 1/8; b = (4/8 + 5/8) / 2 outside, (3/8 + 4/8) / 2 inside.
        let expected = ((1.0 - 2.0 / 9.0) + (1.0 - 2.0 / 7.0)) / 2.0;
        let found = silhouette(&points, &assignment, 2, 100, 1).unwrap();
        assert!((found - expected).abs() < 1e-12);
        assert_eq!(
            silhouette(&points, &[(1, 0), (2, 0), (3, 0), (4, 0)], 2, 100, 1),
            None
        );
    }

    #[test]
    fn mutual_information_of_equal_independent_and_mixed_partitions() {
        assert!(
            (normalized_mutual_information(&[(0, 'b'), (1, 'a'), (0, 'b')]) - 1.0).abs() < 1e-12
        );
        assert!(normalized_mutual_information(&[(0, 0), (0, 1), (1, 0), (1, 1)]).abs() < 1e-12);
        // H(U) = H(V) = ln 2; joint 3/8, 1/8, 1/8, 3/8: I = ln 2 + ¾ ln ¾ + ¼ ln ¼.
        let mut pairs = vec![(0, 0); 3];
        pairs.extend([(0, 1), (1, 0), (1, 1), (1, 1), (1, 1)]);
        let information = 2_f64.ln() + 0.75 * 0.75_f64.ln() + 0.25 * 0.25_f64.ln();
        let found = normalized_mutual_information(&pairs);
        assert!((found - information / 2_f64.ln()).abs() < 1e-12);
    }
}
