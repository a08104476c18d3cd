//! A transformer by its definition, number by number and in f64: what the kernels must give.

use super::shape::{Affine, HeadActivation, InnerActivation, Pooling, Shape};

/// A matrix as rows of equal length.
type Matrix = Vec<Vec<f64>>;

/// Computes the logits of `text`, whose pieces have the embeddings `words`, `[pieces, units]`.
pub(super) fn logits(shape: &Shape, values: &[f64], text: &[i32], words: &Matrix) -> Vec<f64> {
    let spans = shape.spans();
    let units = shape.units;
    let linear = |rows: &Matrix, affine: &Affine| -> Matrix {
        let (weight, bias) = (&values[affine.weight.clone()], &values[affine.bias.clone()]);
        rows.iter()
            .map(|row| {
                let outputs = weight.chunks(row.len()).zip(bias);
                let output = |(weight, bias): (&[f64], &f64)| {
                    bias + weight.iter().zip(row).map(|(w, x)| w * x).sum::<f64>()
                };
                outputs.map(output).collect()
            })
            .collect()
    };
    let normalise = |rows: Matrix, norm: &Affine| -> Matrix {
        let (gain, bias) = (&values[norm.weight.clone()], &values[norm.bias.clone()]);
        rows.into_iter()
            .map(|row| {
                let mean = row.iter().sum::<f64>() / units as f64;
                let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / units as f64;
                let root = (variance + f64::from(shape.epsilon)).sqrt();
                let result = row.iter().zip(gain).zip(bias);
                result
                    .map(|((x, g), b)| (x - mean) / root * g + b)
                    .collect()
            })
            .collect()
    };
    let sum = |a: &Matrix, b: &Matrix| -> Matrix {
        let rows = a.iter().zip(b);
        rows.map(|(a, b)| a.iter().zip(b).map(|(a, b)| a + b).collect())
            .collect()
    };
    let positions = &values[spans.positions.clone()];
    // Positions are counted here by themselves: padding has the row before the first, and is not
    // counted.
    let is_padding = |id: i32| shape.first_position > 0 && id as usize == shape.first_position - 1;
    let embedded = words.iter().enumerate().map(|(p, word)| {
        let before = text[..p].iter().filter(|&&id| !is_padding(id)).count();
        let place = match is_padding(text[p]) {
            true => shape.first_position - 1,
            false => shape.first_position + before,
        };
        let position = &positions[place * units..];
        let segment = values[spans.segments.clone()]
            .iter()
            .copied()
            .chain(std::iter::repeat(0.0));
        let parts = word.iter().zip(position).zip(segment);
        parts
            .map(|((word, position), segment)| word + position + segment)
            .collect()
    });
    let mut x = normalise(embedded.collect(), &spans.norm);
    for layer in &spans.layers {
        let [q, k, v] = layer
            .projections
            .each_ref()
            .map(|affine| linear(&x, affine));
        let width = units / shape.heads;
        let mut mixed = vec![vec![0.0; units]; x.len()];
        for head in 0..shape.heads {
            let of = head * width..(head + 1) * width;
            for (q, mixed) in q.iter().zip(&mut mixed) {
                let score = |k: &Vec<f64>| {
                    let terms = q[of.clone()].iter().zip(&k[of.clone()]);
                    (terms.map(|(q, k)| q * k).sum::<f64>() / (width as f64).sqrt()).exp()
                };
                let powers: Vec<f64> = k.iter().map(score).collect();
                let total: f64 = powers.iter().sum();
                for (power, v) in powers.iter().zip(&v) {
                    for i in of.clone() {
                        mixed[i] += power / total * v[i];
                    }
                }
            }
        }
        let y = normalise(
            sum(&x, &linear(&mixed, &layer.attention)),
            &layer.attention_norm,
        );
        let mut inner = linear(&y, &layer.inner);
        inner
            .iter_mut()
            .flatten()
            .for_each(|value| *value = act(shape.activation, *value));
        x = normalise(sum(&y, &linear(&inner, &layer.outer)), &layer.output_norm);
    }
    let read: Vec<f64> = match shape.pooling {
        Pooling::First => x[0].clone(),
        Pooling::Mean => (0..units)
            .map(|i| x.iter().map(|row| row[i]).sum::<f64>() / x.len() as f64)
            .collect(),
    };
    let mut read = vec![read];
    if let (Some(dense), Some(activation)) = (&spans.dense, shape.head) {
        read = linear(&read, dense);
        read[0].iter_mut().for_each(|value| {
            *value = match activation {
                HeadActivation::Tanh => value.tanh(),
                HeadActivation::Relu => value.max(0.0),
            };
        });
    }
    linear(&read, &spans.classifier).remove(0)
}

fn act(activation: InnerActivation, x: f64) -> f64 {
    let pi = std::f64::consts::PI;
    match activation {
        InnerActivation::Gelu => x * distribution(x),
        InnerActivation::GeluTanh => {
            x / 2.0 * (1.0 + ((2.0 / pi).sqrt() * (x + 0.044_715 * x.powi(3))).tanh())
        }
        InnerActivation::Relu => x.max(0.0),
    }
}

/// Computes Φ by its power series, Φ(x) = 1/2 + φ(x)·(x + x³/3 + x⁵/15 + …).
fn distribution(x: f64) -> f64 {
    if x.abs() > 9.0 {
        return if x > 0.0 { 1.0 } else { 0.0 };
    }
    let (mut term, mut total, mut n) = (x, x, 1.0);
    while term.abs() > 1e-17 * total.abs() && n < 400.0 {
        n += 2.0;
        term *= x * x / n;
        total += term;
    }
    let density = (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    0.5 + density * total
}
