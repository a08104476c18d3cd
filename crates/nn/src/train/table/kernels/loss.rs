//! The loss of the rows of a shard, from the outputs of a network for them, and its gradient.

use pulp::Simd;

use crate::lanes::activation::exp_of_negative;
use crate::lanes::{LANES, Row, load, parts, store};

/// Computes Σ scale · weight · cross-entropy of rows with the classes `labels`, whose `logits` are
/// `[blocks, classes]`; `delta` becomes its gradient with respect to them. A logit that is NaN
/// makes the loss NaN.
#[inline(always)]
pub(super) fn cross_entropy<S: Simd>(
    simd: S,
    (logits, classes): (&[Row], usize),
    labels: &[u32],
    (weights, scale): (&[f32], f32),
    delta: &mut [Row],
) -> f64 {
    let mut loss = 0.0;
    let blocks = logits
        .chunks_exact(classes)
        .zip(delta.chunks_exact_mut(classes));
    let rows = labels.chunks(LANES).zip(weights.chunks(LANES));
    for ((logits, delta), (labels, weights)) in blocks.zip(rows) {
        let mut largest = logits[0];
        let mut total = Row::ZERO;
        let mut all = Row::ZERO;
        for part in 0..parts::<S>() {
            let mut top = load::<S>(&largest, part);
            for row in &logits[1..] {
                let value = load::<S>(row, part);
                top = simd.select_f32s(simd.less_than_f32s(top, value), value, top);
            }
            store::<S>(&mut largest, part, top);
            let (mut sum, mut of_logits) = (simd.splat_f32s(0.0), simd.splat_f32s(0.0));
            for (row, delta) in logits.iter().zip(delta.iter_mut()) {
                let value = load::<S>(row, part);
                let power = exp_of_negative(simd, simd.sub_f32s(value, top));
                store::<S>(delta, part, power);
                sum = simd.add_f32s(sum, power);
                of_logits = simd.add_f32s(of_logits, value);
            }
            store::<S>(&mut total, part, sum);
            store::<S>(&mut all, part, of_logits);
        }
        let mut factor = Row::ZERO;
        for (lane, (&label, &weight)) in labels.iter().zip(weights).enumerate() {
            let weight = weight * scale;
            factor.0[lane] = weight / total.0[lane];
            let behind = f64::from(largest.0[lane] - logits[label as usize].0[lane]);
            loss += f64::from(weight) * (f64::from(total.0[lane]).ln() + behind);
            if !all.0[lane].is_finite() {
                loss = f64::NAN;
            }
        }
        for row in delta.iter_mut() {
            for part in 0..parts::<S>() {
                let scaled = simd.mul_f32s(load::<S>(row, part), load::<S>(&factor, part));
                store::<S>(row, part, scaled);
            }
        }
        for (lane, (&label, &weight)) in labels.iter().zip(weights).enumerate() {
            delta[label as usize].0[lane] -= weight * scale;
        }
    }
    loss
}

/// Computes Σ scale · weight · squared error of rows that should get `numbers`; a row's number is
/// the second of its two outputs. `delta` becomes the gradient with respect to these outputs.
pub(super) fn squared_error(
    outputs: &[Row],
    numbers: &[f32],
    (weights, scale): (&[f32], f32),
    delta: &mut [Row],
) -> f64 {
    let mut loss = 0.0;
    delta.fill(Row::ZERO);
    for (item, (&number, &weight)) in numbers.iter().zip(weights).enumerate() {
        let place = 2 * (item / LANES) + 1;
        let error = outputs[place].0[item % LANES] - number;
        let weight = weight * scale;
        loss += f64::from(weight) * f64::from(error) * f64::from(error);
        delta[place].0[item % LANES] = 2.0 * weight * error;
    }
    loss
}
