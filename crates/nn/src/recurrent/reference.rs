//! A recurrent network by plain loops in f64: the reference that the kernels are tested against.

use super::network::{CellKind, RecurrentWeights};

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Computes the logits of a text given by its embeddings. `values` are the parameters in f64.
pub fn logits(weights: &RecurrentWeights, values: &[f64], embeddings: &[Vec<f64>]) -> Vec<f64> {
    let shape = weights.shape;
    let units = shape.units;
    let mut inputs: Vec<Vec<f64>> = embeddings.to_vec();
    let mut last = vec![0.0; shape.outputs()];
    for layer in 0..shape.layers {
        let mut outputs = vec![vec![0.0; shape.outputs()]; inputs.len()];
        for direction in 0..shape.directions() {
            let at = shape.direction(layer, direction);
            let (mut h, mut c) = (vec![0.0; units], vec![0.0; units]);
            let mut order: Vec<usize> = (0..inputs.len()).collect();
            if direction == 1 {
                order.reverse();
            }
            for t in order {
                let gate = |gate: usize, unit: usize| {
                    let row = gate * units + unit;
                    let columns = inputs[t].len();
                    let mut x = values[at.bias_ih.start + row];
                    for (i, value) in inputs[t].iter().enumerate() {
                        x += values[at.weight_ih.start + row * columns + i] * value;
                    }
                    let mut r = values[at.bias_hh.start + row];
                    for (i, value) in h.iter().enumerate() {
                        r += values[at.weight_hh.start + row * units + i] * value;
                    }
                    (x, r)
                };
                let mut next = vec![0.0; units];
                for u in 0..units {
                    let sum = |g| {
                        let (x, r) = gate(g, u);
                        x + r
                    };
                    match shape.cell {
                        CellKind::Lstm => {
                            c[u] = sigmoid(sum(1)) * c[u] + sigmoid(sum(0)) * sum(2).tanh();
                            next[u] = sigmoid(sum(3)) * c[u].tanh();
                        }
                        CellKind::Gru => {
                            let (x, r) = gate(2, u);
                            let n = (x + sigmoid(sum(0)) * r).tanh();
                            let z = sigmoid(sum(1));
                            next[u] = (1.0 - z) * n + z * h[u];
                        }
                    }
                }
                h = next;
                outputs[t][direction * units..][..units].copy_from_slice(&h);
            }
            last[direction * units..][..units].copy_from_slice(&h);
        }
        inputs = outputs;
    }
    let (weight, bias) = shape.head();
    (0..shape.classes)
        .map(|class| {
            let row = &values[weight.start + class * shape.outputs()..][..shape.outputs()];
            let product: f64 = row.iter().zip(&last).map(|(w, x)| w * x).sum();
            product + values[bias.start + class]
        })
        .collect()
}

/// Returns the parameters in f64.
pub fn wide(weights: &RecurrentWeights) -> Vec<f64> {
    weights
        .values
        .iter()
        .map(|&value| f64::from(value))
        .collect()
}
