//! Probabilities of the classes.

/// The probability of `class` among the classes whose `logits` are given.
pub fn probability(logits: &[f32], class: usize) -> f32 {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let total: f32 = logits.iter().map(|logit| (logit - largest).exp()).sum();
    (logits[class] - largest).exp() / total
}

/// Probabilities of the classes whose `logits` are given.
pub fn softmax(logits: &[f32]) -> Vec<f32> {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let shares: Vec<f32> = logits.iter().map(|logit| (logit - largest).exp()).collect();
    let total: f32 = shares.iter().sum();
    shares.into_iter().map(|share| share / total).collect()
}
