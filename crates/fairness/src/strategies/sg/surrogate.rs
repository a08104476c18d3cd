//! A decision tree around one input; only that input's path is grown.
//!
//! Samples follow LIME (Ribeiro, Singh, Guestrin, KDD 2016): the input with some attributes
//! changed, weighted by exp(−d²/w²), w = 0.75·√attributes. The papers leave the distribution open;
//! here each attribute is changed with probability 1/2: a number to a uniform code at most a
//! quarter of its domain away, levels to a uniform other one. d² is the sum, over attributes, of
//! the squared change relative to the domain's width (numbers), or of 1 for each change (levels).
//!
//! The tree is grown greedily by Gini impurity. Numbers split at a threshold, at [`BINS`] evenly
//! spaced ones at most; levels into one level and the others.

use rand::RngExt;

use super::region::Condition;
use crate::domain::{Domain, TabularDomain};
use probity_nn::encoding::Span;
use probity_run::stream::Stream;

/// Largest number of thresholds of a number that are tried.
const BINS: usize = 64;
/// Largest number of predicates of a path.
const DEPTH: usize = 10;
/// Least number of samples on either side of a split.
const LEAST_SAMPLES: usize = 3;
/// Least gain of a split: less is rounding.
const LEAST_GAIN: f32 = 1e-6;
/// Kernel width of LIME, by the root of the number of attributes.
const KERNEL: f32 = 0.75;

/// A step of a path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Predicate {
    pub(super) attribute: usize,
    pub(super) condition: Condition,
    /// Weight of the samples that meet the path up to here and have the class that the path ends
    /// with, as a share of those that meet it.
    pub(super) confidence: f32,
}

/// The distribution of samples around an input.
pub(super) struct Neighbourhood<'a> {
    domain: &'a TabularDomain,
    /// The exponent −1/w² of the kernel.
    exponent: f32,
}

impl<'a> Neighbourhood<'a> {
    pub(super) fn new(domain: &'a TabularDomain) -> Neighbourhood<'a> {
        Neighbourhood {
            domain,
            exponent: -1.0 / (KERNEL * KERNEL * domain.width() as f32),
        }
    }

    /// Appends a sample around `row` to `codes`; gives its weight.
    pub(super) fn sample(&self, row: &[i32], stream: &mut Stream, codes: &mut Vec<i32>) -> f32 {
        let mut distance = 0.0;
        let mut changes: u64 = 0;
        for (attribute, &code) in row.iter().enumerate() {
            if attribute % 64 == 0 {
                changes = stream.random();
            }
            let is_changed = changes & 1 == 1;
            changes >>= 1;
            if !is_changed {
                codes.push(code);
                continue;
            }
            let span = &self.domain.spans()[attribute];
            if span.encoding.is_scaled() {
                let reach = (span.levels as i32 / 4).max(1);
                let step = i64::from(stream.random_range(-reach..=reach));
                let next = self.domain.clip(attribute, i64::from(code) + step);
                distance += ((next - code) as f32 / span.levels as f32).powi(2);
                codes.push(next);
            } else {
                codes.push(self.domain.other_level(attribute, code, stream));
                distance += 1.0;
            }
        }
        (self.exponent * distance).exp()
    }
}

/// The path of `row` through the tree learnt from weighted samples: `codes` row-major
/// `[samples, attributes]`, with one label and one weight each.
pub(super) fn path(
    domain: &TabularDomain,
    classes: usize,
    row: &[i32],
    codes: &[i32],
    labels: &[u32],
    weights: &[f32],
) -> Vec<Predicate> {
    let samples = Samples {
        domain,
        classes,
        codes,
        labels,
        weights,
    };
    let mut members: Vec<usize> = (0..labels.len()).collect();
    let mut steps: Vec<(usize, Condition, Vec<f32>)> = Vec::new();
    while steps.len() < DEPTH {
        let Some((attribute, condition)) = samples.best_split(&members) else {
            break;
        };
        let condition = if condition.holds(row[attribute]) {
            condition
        } else {
            condition.negated()
        };
        members.retain(|&sample| condition.holds(samples.code(sample, attribute)));
        steps.push((attribute, condition, samples.class_weights(&members)));
    }
    let Some((_, _, leaf)) = steps.last() else {
        return Vec::new();
    };
    let class = probity_nn::predicted_class(leaf) as usize;
    steps
        .iter()
        .map(|&(attribute, condition, ref weights)| Predicate {
            attribute,
            condition,
            confidence: weights[class] / weights.iter().sum::<f32>(),
        })
        .collect()
}

struct Samples<'a> {
    domain: &'a TabularDomain,
    classes: usize,
    codes: &'a [i32],
    labels: &'a [u32],
    weights: &'a [f32],
}

impl Samples<'_> {
    fn code(&self, sample: usize, attribute: usize) -> i32 {
        self.codes[sample * self.domain.width() + attribute]
    }

    fn class_weights(&self, members: &[usize]) -> Vec<f32> {
        let mut weights = vec![0.0; self.classes];
        for &sample in members {
            weights[self.labels[sample] as usize] += self.weights[sample];
        }
        weights
    }

    /// The split of `members` that lowers the Gini impurity most, the first of equals; `None` where
    /// no split does.
    fn best_split(&self, members: &[usize]) -> Option<(usize, Condition)> {
        let all = self.class_weights(members);
        let total: f32 = all.iter().sum();
        let before = purity(&all);
        let mut best = (LEAST_GAIN * total, None);
        let mut bins = Bins::default();
        for (attribute, span) in self.domain.spans().iter().enumerate() {
            bins.fill(self, members, attribute);
            let mut side = vec![0.0; self.classes];
            let mut count = 0;
            for bin in 0..bins.counts.len() {
                let weights = &bins.weights[bin * self.classes..(bin + 1) * self.classes];
                let is_scaled = span.encoding.is_scaled();
                if is_scaled {
                    count += bins.counts[bin];
                    side.iter_mut().zip(weights).for_each(|(sum, w)| *sum += w);
                } else {
                    count = bins.counts[bin];
                    side.copy_from_slice(weights);
                }
                if count < LEAST_SAMPLES || members.len() - count < LEAST_SAMPLES {
                    continue;
                }
                let rest: Vec<f32> = all.iter().zip(&side).map(|(a, s)| a - s).collect();
                let gain = purity(&side) + purity(&rest) - before;
                if gain > best.0 {
                    let condition = if is_scaled {
                        Condition::AtMost(last_of_bin(span, bin))
                    } else {
                        Condition::Is(span.min + bin as i32)
                    };
                    best = (gain, Some((attribute, condition)));
                }
            }
        }
        best.1
    }
}

/// The purity Σ w_c² / Σ w_c: the weight less the weighted Gini impurity.
fn purity(weights: &[f32]) -> f32 {
    let total: f32 = weights.iter().sum();
    if total <= 0.0 {
        return 0.0;
    }
    weights.iter().map(|weight| weight * weight).sum::<f32>() / total
}

/// Samples of one attribute by their code, or by groups of codes.
#[derive(Default)]
struct Bins {
    counts: Vec<usize>,
    /// The weights, row-major `[bins, classes]`.
    weights: Vec<f32>,
}

impl Bins {
    fn fill(&mut self, samples: &Samples<'_>, members: &[usize], attribute: usize) {
        let span = &samples.domain.spans()[attribute];
        let bins = bins_of(span);
        self.counts.clear();
        self.counts.resize(bins, 0);
        self.weights.clear();
        self.weights.resize(bins * samples.classes, 0.0);
        for &sample in members {
            let level = i64::from(samples.code(sample, attribute)) - i64::from(span.min);
            let bin = if bins == span.levels {
                level as usize
            } else {
                level as usize * bins / span.levels
            };
            self.counts[bin] += 1;
            let label = samples.labels[sample] as usize;
            self.weights[bin * samples.classes + label] += samples.weights[sample];
        }
    }
}

fn bins_of(span: &Span) -> usize {
    if span.encoding.is_scaled() {
        span.levels.min(BINS)
    } else {
        span.levels
    }
}

/// The last code of a bin.
fn last_of_bin(span: &Span, bin: usize) -> i32 {
    let bins = bins_of(span);
    let first_of_next = ((bin + 1) * span.levels).div_ceil(bins);
    span.min + first_of_next as i32 - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::mixed_domain;
    use probity_nn::encoding::Encoding;
    use probity_run::stream::{Purpose, stream};

    /// The first split is the best one by brute force over all conditions, and the path is one that
    /// its own input takes.
    #[test]
    fn paths_are_greedy_and_hold_for_their_input() {
        let (_, domain) = mixed_domain();
        let neighbourhood = Neighbourhood::new(&domain);
        let width = domain.width();
        let mut longest = 0;
        for case in 0..300 {
            let mut stream = stream(3, Purpose::Synthetic, case, 0);
            let row = domain.uniform(&mut stream);
            let mut codes = Vec::new();
            let weights: Vec<f32> = (0..60)
                .map(|_| neighbourhood.sample(&row, &mut stream, &mut codes))
                .collect();
            for (attribute, span) in domain.spans().iter().enumerate() {
                for sample in codes.chunks_exact(width) {
                    let level = sample[attribute] - span.min;
                    assert!((0..span.levels as i32).contains(&level));
                }
            }
            let rule = (stream.random_range(0..width), stream.random_range(0..width));
            let labels: Vec<u32> = codes
                .chunks_exact(width)
                .map(|s| u32::from(s[rule.0] > row[rule.0] || s[rule.1] < row[rule.1]))
                .collect();
            let found = path(&domain, 2, &row, &codes, &labels, &weights);
            longest = longest.max(found.len());
            for predicate in &found {
                assert!(predicate.condition.holds(row[predicate.attribute]));
                assert!((0.0..=1.0).contains(&predicate.confidence));
            }
            let gain = |attribute: usize, condition: Condition| -> Option<f32> {
                let mut sides = [[0.0f32; 2]; 2];
                let mut counts = [0; 2];
                for (sample, (&label, weight)) in
                    codes.chunks_exact(width).zip(labels.iter().zip(&weights))
                {
                    let side = usize::from(condition.holds(sample[attribute]));
                    sides[side][label as usize] += weight;
                    counts[side] += 1;
                }
                let all = [sides[0][0] + sides[1][0], sides[0][1] + sides[1][1]];
                (counts.iter().all(|&count| count >= LEAST_SAMPLES))
                    .then(|| purity(&sides[0]) + purity(&sides[1]) - purity(&all))
            };
            let mut most = 0.0f32;
            for (attribute, span) in domain.spans().iter().enumerate() {
                for level in 0..span.levels as i32 {
                    let code = span.min + level;
                    let condition = if span.encoding.is_scaled() {
                        Condition::AtMost(code)
                    } else {
                        Condition::Is(code)
                    };
                    // Domains of more codes than bins are split at some of them only.
                    if bins_of(span) == span.levels {
                        most = most.max(gain(attribute, condition).unwrap_or(0.0));
                    }
                }
            }
            let first = found
                .first()
                .and_then(|predicate| gain(predicate.attribute, predicate.condition));
            assert!(first.unwrap_or(0.0) >= most - 1e-3, "{first:?} {most}");
        }
        assert!(longest >= 3, "{longest}");
    }

    #[test]
    fn bins_cover_every_code_once() {
        for levels in [1, 2, 63, 64, 65, 100, 1000, 20_001] {
            let span = Span {
                encoding: Encoding::RAW,
                start: 0,
                min: -7,
                levels,
            };
            let bins = bins_of(&span);
            for level in 0..levels {
                let bin = level * bins / levels;
                let code = span.min + level as i32;
                assert!(code <= last_of_bin(&span, bin));
                assert!(bin == 0 || code > last_of_bin(&span, bin - 1));
            }
            assert_eq!(last_of_bin(&span, bins - 1), span.min + levels as i32 - 1);
        }
    }
}
