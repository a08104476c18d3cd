//! Sentence BLEU (Papineni et al. 2002).

use std::collections::HashMap;
use std::hash::Hash;

/// The length of the longest n-grams.
const ORDER: usize = 4;
/// The number of matches that is used where there is none (Chen and Cherry 2014, method 1).
const SMOOTHING: f64 = 0.1;

/// Computes sentence BLEU of `candidate` against one `reference`: brevity penalty times the
/// geometric mean of the clipped n-gram precisions for n = 1 to 4.
///
/// Orders longer than the candidate are left out. A precision without a match counts 0.1 matches,
/// so that one missing order does not make the score 0; scores without such an order are not
/// changed. Two empty texts score 1, an empty candidate 0.
pub fn bleu<T: Eq + Hash>(reference: &[T], candidate: &[T]) -> f64 {
    if candidate.is_empty() {
        return if reference.is_empty() { 1.0 } else { 0.0 };
    }
    let orders = ORDER.min(candidate.len());
    let logarithms = (1..=orders).map(|n| precision(reference, candidate, n).ln());
    let mean = logarithms.sum::<f64>() / orders as f64;
    let ratio = reference.len() as f64 / candidate.len() as f64;
    (mean + (1.0 - ratio).min(0.0)).exp()
}

/// Returns the share of the candidate's n-grams that the reference has, each at most as often as
/// there.
fn precision<T: Eq + Hash>(reference: &[T], candidate: &[T], n: usize) -> f64 {
    let mut left: HashMap<&[T], usize> = HashMap::new();
    for gram in reference.windows(n) {
        *left.entry(gram).or_default() += 1;
    }
    let mut matches = 0_usize;
    for gram in candidate.windows(n) {
        if let Some(count) = left.get_mut(gram).filter(|count| **count > 0) {
            *count -= 1;
            matches += 1;
        }
    }
    let matches = if matches == 0 {
        SMOOTHING
    } else {
        matches as f64
    };
    matches / (candidate.len() + 1 - n) as f64
}
