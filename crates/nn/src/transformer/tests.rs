//! The kernels compared with the definition in f64, with its finite differences, and with each
//! other.

use super::backward::{GradientSpace, Learns};
use super::kernels::Kernels;
use super::reference;
use super::shape::{HeadActivation, InnerActivation, Pooling, Shape, TransformerWeights};
use super::tensor::{TransformerLearning, TransformerTiles};
use crate::recurrent::backward::Batch;
use probity_tensor::device::ComputeDevice;

/// Returns a small shape whose sizes fill no vector.
pub(super) fn shape() -> Shape {
    Shape {
        vocabulary: 30,
        positions: 24,
        first_position: 2,
        segments: 2,
        units: 36,
        heads: 3,
        layers: 2,
        inner: 50,
        activation: InnerActivation::Gelu,
        epsilon: 1e-5,
        pooling: Pooling::First,
        head: Some(HeadActivation::Tanh),
        classes: 3,
    }
}

/// Returns shapes of all kinds of networks.
fn shapes() -> [Shape; 3] {
    [
        shape(),
        Shape {
            segments: 0,
            first_position: 0,
            activation: InnerActivation::GeluTanh,
            head: Some(HeadActivation::Relu),
            ..shape()
        },
        Shape {
            activation: InnerActivation::Relu,
            pooling: Pooling::Mean,
            head: None,
            layers: 1,
            ..shape()
        },
    ]
}

/// Returns weights large enough that every part matters.
fn weights(shape: Shape) -> TransformerWeights {
    let mut weights = TransformerWeights::random(shape, 7);
    for (i, value) in weights.values.iter_mut().enumerate() {
        let scale = if *value == 1.0 { 1.0 } else { 8.0 };
        *value = *value * scale + ((i * 37 % 11) as f32 - 5.0) / 100.0;
    }
    weights
}

/// Makes texts of 1 to 22 pieces, together more than a chunk.
fn texts() -> Vec<Vec<i32>> {
    (0..25)
        .map(|text| {
            let length = 1 + (text * 7) % 22;
            (0..length)
                .map(|p| (text * 13 + p * p * 5 + p) % 30)
                .collect()
        })
        .collect()
}

fn cotangents(texts: usize) -> Vec<f32> {
    (0..texts * 3).map(|i| (i % 5) as f32 / 2.0 - 1.0).collect()
}

fn in_f64(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&value| f64::from(value)).collect()
}

fn words(weights: &TransformerWeights, text: &[i32]) -> Vec<Vec<f64>> {
    text.iter()
        .map(|&id| in_f64(weights.embedding(id)))
        .collect()
}

/// Computes the loss of `texts` by the definition.
fn loss(shape: &Shape, values: &[f64], texts: &[&[i32]], labels: &[u32], by: &[f32]) -> f64 {
    let (mut total, mut weights) = (0.0, 0.0);
    for (text, &label) in texts.iter().zip(labels) {
        let embeddings = text
            .iter()
            .map(|&id| values[id as usize * shape.units..][..shape.units].to_vec());
        let logits = reference::logits(shape, values, text, &embeddings.collect());
        let weight = f64::from(by[label as usize]);
        let all: f64 = logits.iter().map(|logit| logit.exp()).sum();
        total += weight * (all.ln() - logits[label as usize]);
        weights += weight;
    }
    total / weights
}

#[test]
fn logits_and_input_gradients_are_those_of_the_definition() {
    for shape in shapes() {
        let weights = weights(shape);
        let values = in_f64(&weights.values);
        let kernels = Kernels::new(weights.clone());
        let texts = texts();
        let texts: Vec<&[i32]> = texts.iter().map(Vec::as_slice).collect();
        let cotangents = cotangents(texts.len());
        let logits = kernels.logits(&texts);
        let gradients = kernels.input_gradients(&texts, &cotangents);
        let mut rows = gradients.chunks_exact(shape.units);
        for (number, text) in texts.iter().enumerate() {
            let mut embedded = words(&weights, text);
            let exact = reference::logits(&shape, &values, text, &embedded);
            for (value, exact) in logits[number * 3..][..3].iter().zip(&exact) {
                assert!((f64::from(*value) - exact).abs() < 2e-5, "{value} {exact}");
            }
            let own = &cotangents[number * 3..][..3];
            let mut objective = |p: usize, i: usize, step: f64| {
                embedded[p][i] += step;
                let logits = reference::logits(&shape, &values, text, &embedded);
                embedded[p][i] -= step;
                logits
                    .iter()
                    .zip(own)
                    .map(|(logit, &c)| logit * f64::from(c))
                    .sum::<f64>()
            };
            let of_text: Vec<&[f32]> = rows.by_ref().take(text.len()).collect();
            // A few numbers of some texts: each takes two passes of the definition.
            for (p, i) in [(0, 5), (text.len() / 2, 20), (text.len() - 1, 35)] {
                let exact = (objective(p, i, 1e-5) - objective(p, i, -1e-5)) / 2e-5;
                let value = f64::from(of_text[p][i]);
                assert!(
                    (value - exact).abs() < 2e-5 * (1.0 + exact.abs()),
                    "{value} {exact}"
                );
            }
        }
        assert!(rows.next().is_none());
    }
}

#[test]
fn a_text_alone_is_bit_equal_on_any_number_of_threads() {
    let kernels = Kernels::new(weights(shape()));
    let texts = texts();
    let texts: Vec<&[i32]> = texts.iter().map(Vec::as_slice).collect();
    let cotangents = cotangents(texts.len());
    let (logits, gradients) = (
        kernels.logits(&texts),
        kernels.input_gradients(&texts, &cotangents),
    );
    let mut from = 0;
    for (number, text) in texts.iter().enumerate() {
        assert_eq!(kernels.logits(&[*text]), logits[number * 3..][..3]);
        let own = kernels.input_gradients(&[*text], &cotangents[number * 3..][..3]);
        assert_eq!(own, gradients[from..from + own.len()]);
        from += own.len();
    }
    let batch = Batch {
        texts: &texts,
        labels: &[1; 25],
        class_weights: &[1.0; 3],
    };
    let mut space = GradientSpace::default();
    let learnt = kernels.batch_gradients(batch, Learns::All, &mut space);
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        assert_eq!(pool.install(|| kernels.logits(&texts)), logits);
        let own = pool.install(|| kernels.batch_gradients(batch, Learns::All, &mut space));
        assert_eq!(own, learnt);
    }
}

#[test]
fn parameter_gradients_are_the_finite_differences_of_the_loss() {
    for shape in shapes() {
        let weights = weights(shape);
        let mut values = in_f64(&weights.values);
        let kernels = Kernels::new(weights);
        let texts = texts();
        let texts: Vec<&[i32]> = texts
            .iter()
            .filter(|text| (2..7).contains(&text.len()))
            .map(Vec::as_slice)
            .collect();
        let (labels, by) = ([0, 2, 1, 1, 0], [1.0, 0.5, 2.0]);
        let batch = Batch {
            texts: &texts,
            labels: &labels,
            class_weights: &by,
        };
        let learnt = kernels.batch_gradients(batch, Learns::All, &mut GradientSpace::default());
        let exact = loss(&shape, &values, &texts, &labels, &by);
        assert!(
            (learnt.loss - exact).abs() < 1e-5,
            "{} {exact}",
            learnt.loss
        );
        let start = shape.spans().words.end;
        let embeddings = learnt.embeddings.unwrap();
        let in_table = |at: usize| {
            let row = embeddings
                .tokens
                .binary_search(&((at / shape.units) as i32));
            row.map_or(0.0, |row| {
                embeddings.values[row * shape.units + at % shape.units]
            })
        };
        let head = kernels.head_gradients(&kernels.pooled(&texts), &labels, &by);
        assert!((head.loss - exact).abs() < 1e-5);
        for tensor in shape.tensors() {
            let length = tensor.range.len();
            for at in [0, length / 3, length - 1].map(|at| tensor.range.start + at) {
                let mut difference = |step: f64| {
                    values[at] += step;
                    let loss = loss(&shape, &values, &texts, &labels, &by);
                    values[at] -= step;
                    loss
                };
                let exact = (difference(1e-5) - difference(-1e-5)) / 2e-5;
                let value = match at.checked_sub(start) {
                    Some(at) => learnt.parameters[at],
                    None => in_table(at),
                };
                let name = &tensor.name;
                assert!(
                    (f64::from(value) - exact).abs() < 1e-5,
                    "{name}: {value} {exact}"
                );
                if let Some(at) = at.checked_sub(shape.head_start()) {
                    let value = f64::from(head.parameters[at]);
                    assert!((value - exact).abs() < 1e-5, "{name}: {value} {exact}");
                }
            }
        }
        let fewer =
            kernels.batch_gradients(batch, Learns::AllButPieces, &mut GradientSpace::default());
        assert_eq!(
            (fewer.parameters, fewer.embeddings),
            (learnt.parameters, None)
        );
    }
}

#[test]
fn tensors_answer_and_learn_as_the_kernels_do() {
    let flex = ComputeDevice::flex();
    let (texts, by) = (texts(), [0.3f32, 17.0, 1.0]);
    let texts: Vec<&[i32]> = texts.iter().map(Vec::as_slice).collect();
    let labels: Vec<u32> = (0..texts.len() as u32).map(|text| text % 3).collect();
    let close = |own: &[f32], expected: &[f32], tolerance: f32| {
        assert_eq!(own.len(), expected.len());
        for (own, expected) in own.iter().zip(expected) {
            assert!((own - expected).abs() <= tolerance, "{own} {expected}");
        }
    };
    for shape in shapes() {
        let weights = weights(shape);
        let kernels = Kernels::new(weights.clone());
        let tiles = TransformerTiles::new(&weights, &flex);
        let logits = tiles.logits(&weights, &texts).unwrap();
        close(&logits, &kernels.logits(&texts), 2e-5);
        let cotangents = cotangents(texts.len());
        let gradients = tiles.input_gradients(&weights, &texts, &cotangents);
        let gradients = gradients.unwrap();
        close(
            &gradients,
            &kernels.input_gradients(&texts, &cotangents),
            2e-5,
        );
        // A text's answer is the same bits alone, and among others.
        let alone = texts
            .iter()
            .map(|text| tiles.logits(&weights, &[text]).unwrap());
        assert_eq!(alone.collect::<Vec<_>>().concat(), logits);

        let learning = TransformerLearning::on(&flex);
        let batch = Batch {
            texts: &texts,
            labels: &labels,
            class_weights: &by,
        };
        let space = &mut GradientSpace::default();
        let expected = kernels.batch_gradients(batch, Learns::All, space);
        let own = learning.batch_gradients(&weights, batch).unwrap();
        assert!((own.loss - expected.loss).abs() <= 2e-5);
        close(&own.parameters, &expected.parameters, 2e-5);
        let [own, expected] = [own, expected].map(|all| all.embeddings.unwrap());
        assert_eq!(own.tokens, expected.tokens);
        close(&own.values, &expected.values, 2e-5);

        let head = weights.head_alone();
        let pooled = kernels.pooled(&texts);
        let expected = Kernels::new(head.clone()).head_gradients(&pooled, &labels, &by);
        let own = learning
            .head_gradients(&head, &pooled, &labels, &by)
            .unwrap();
        assert!((own.loss - expected.loss).abs() <= 2e-5);
        close(&own.parameters, &expected.parameters, 2e-5);
    }
}
