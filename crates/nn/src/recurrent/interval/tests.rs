//! Bounds against every replacement run by the kernels, and their gradients against finite
//! differences.

use rand::RngExt;

use super::super::backward::Batch;
use super::super::kernels::{EmbeddingTable, Kernels};
use super::super::network::{CellKind, RecurrentWeights, Shape};
use super::*;
use crate::fnn::read;
use crate::lanes::activation::{sigmoid, tanh};
use crate::lanes::{LANES, Row, dispatch, load, parts, store};
use crate::predicted_class;
use crate::recurrent::tensor::RecurrentNetwork;
use burn::tensor::{Tensor, TensorData};
use probity_run::stream::{Purpose, Stream, stream};
use probity_tensor::device::ComputeDevice;
use pulp::{Simd, WithSimd};

const VOCABULARY: i32 = 40;

/// A random network, its embeddings and texts with runs of replacements.
struct Case {
    weights: RecurrentWeights,
    embeddings: Vec<f32>,
    texts: Vec<[Vec<i32>; 2]>,
    by: Vec<Vec<Vec<i32>>>,
}

impl Case {
    /// Makes a case; `scale` multiplies all weights: small ones give tight bounds, large ones
    /// saturated gates.
    fn new(number: u64, scale: f32, texts: usize) -> Case {
        let mut draw = stream(number, Purpose::UniformInput, 1, 0);
        let shape = Shape {
            cell: [CellKind::Lstm, CellKind::Gru][draw.random_range(0..2)],
            inputs: draw.random_range(1..=6),
            units: draw.random_range(1..=9),
            layers: draw.random_range(1..=3),
            bidirectional: draw.random_range(0..4) == 0,
            classes: draw.random_range(2..=4),
        };
        let mut weights = RecurrentWeights::random(shape, number);
        for value in &mut weights.values {
            *value = scale * (*value + draw.random_range(-0.3f32..0.3));
        }
        let count = VOCABULARY as usize * shape.inputs;
        let embeddings = (0..count).map(|_| draw.random_range(-1.0..1.0)).collect();
        let mut all = Vec::new();
        let mut by = Vec::new();
        for _ in 0..texts {
            let mut words = |least: usize, most: usize| -> Vec<i32> {
                let length = draw.random_range(least..=most);
                (0..length)
                    .map(|_| draw.random_range(0..VOCABULARY))
                    .collect()
            };
            all.push([words(0, 8), words(0, 8)]);
            let length = 1 + usize::from(words(0, 1).len() == 1);
            let replacements = 1 + words(0, 7).len();
            by.push((0..replacements).map(|_| words(length, length)).collect());
        }
        Case {
            weights,
            embeddings,
            texts: all,
            by,
        }
    }

    fn table(&self) -> EmbeddingTable<'_> {
        EmbeddingTable {
            values: &self.embeddings,
            dimension: self.weights.shape.inputs,
        }
    }

    fn substituted(&self, text: usize) -> Substituted<'_> {
        let [before, after] = &self.texts[text];
        Substituted {
            before,
            by: self.by[text].iter().map(Vec::as_slice).collect(),
            after,
        }
    }

    /// Computes the logits of every replacement of a text by the kernels.
    fn logits(&self, kernels: &Kernels, text: usize) -> Vec<Vec<f32>> {
        let [before, after] = &self.texts[text];
        let all: Vec<Vec<i32>> = self.by[text]
            .iter()
            .map(|by| [&before[..], by, after].concat())
            .collect();
        let all: Vec<&[i32]> = all.iter().map(Vec::as_slice).collect();
        let logits = kernels.logits(self.table(), &all);
        logits
            .chunks_exact(self.weights.shape.classes)
            .map(<[f32]>::to_vec)
            .collect()
    }
}

#[test]
fn no_replacement_breaks_a_bound_and_no_certificate_is_false() {
    let (mut certified, mut refused, mut checked) = (0, 0, 0);
    for number in 0..1200 {
        let scale = [0.2, 1.0, 3.0, 20.0, 1e4][number as usize % 5];
        let case = Case::new(number, scale, 6);
        let kernels = Kernels::new(&case.weights);
        let intervals = IntervalKernels::new(&case.weights);
        let classes = case.weights.shape.classes;
        let logits: Vec<_> = (0..6).map(|text| case.logits(&kernels, text)).collect();
        let items: Vec<_> = (0..6)
            .map(|text| (case.substituted(text), predicted_class(&logits[text][0])))
            .collect();
        let bounds = intervals.lead_bounds(case.table(), &items);
        for ((logits, (_, label)), bounds) in
            logits.iter().zip(&items).zip(bounds.chunks_exact(classes))
        {
            let is_certified = bounds.iter().all(|&bound| bound > 0.0);
            certified += usize::from(is_certified);
            refused += usize::from(!is_certified);
            for logits in logits {
                checked += 1;
                assert!(!is_certified || predicted_class(logits) == *label);
                for (&logit, &bound) in logits.iter().zip(bounds) {
                    let lead = f64::from(logits[*label as usize]) - f64::from(logit);
                    assert!(bound.is_infinite() || lead >= bound, "{lead} {bound}");
                }
            }
        }
    }
    assert!(
        certified > 1000 && refused > 1000 && checked > 20_000,
        "{certified} {refused}"
    );
}

#[test]
fn a_single_replacement_is_bounded_by_its_own_lead() {
    for number in 0..200 {
        let mut case = Case::new(number, 1.0, 3);
        case.by.iter_mut().for_each(|by| by.truncate(1));
        let kernels = Kernels::new(&case.weights);
        let intervals = IntervalKernels::new(&case.weights);
        let items: Vec<_> = (0..3).map(|text| (case.substituted(text), 0)).collect();
        let bounds = intervals.lead_bounds(case.table(), &items);
        let classes = case.weights.shape.classes;
        for (text, bounds) in bounds.chunks_exact(classes).enumerate() {
            let logits = &case.logits(&kernels, text)[0];
            for (&logit, &bound) in logits.iter().zip(bounds).skip(1) {
                let lead = f64::from(logits[0]) - f64::from(logit);
                assert!((lead - bound).abs() < 1e-4 * (1.0 + lead.abs()));
            }
        }
    }
}

#[test]
fn parts_of_a_split_are_the_whole_and_bound_no_less() {
    for number in 0..200 {
        let case = Case::new(number, 1.0, 4);
        let intervals = IntervalKernels::new(&case.weights);
        for text in (0..4).filter(|&text| case.by[text].len() > 1) {
            let whole = case.substituted(text);
            let parts = intervals.split(case.table(), &whole);
            let mut all: Vec<&[i32]> = parts.iter().flat_map(|part| part.by.clone()).collect();
            let mut expected = whole.by.clone();
            all.sort_unstable();
            expected.sort_unstable();
            assert_eq!(all, expected);
            let bound = |text: &Substituted<'_>| {
                intervals.lead_bounds(case.table(), &[(text.clone(), 0)])[1]
            };
            for part in &parts {
                assert!(!part.by.is_empty() && bound(part) >= bound(&whole));
            }
        }
    }
}

#[test]
fn overflow_certifies_nothing() {
    let mut case = Case::new(3, 1.0, 2);
    case.weights.values.fill(3e38);
    let intervals = IntervalKernels::new(&case.weights);
    let items: Vec<_> = (0..2).map(|text| (case.substituted(text), 0)).collect();
    let bounds = intervals.lead_bounds(case.table(), &items);
    for bounds in bounds.chunks_exact(case.weights.shape.classes) {
        assert!(bounds[1].is_nan() || bounds[1] <= 0.0);
    }
}

/// Makes worst cases of all texts of a case, some with tokens of their own.
fn worst_cases(case: &Case) -> Vec<WorstCase<'_>> {
    (0..case.texts.len())
        .map(|text| WorstCase {
            text: case.substituted(text),
            own: (text % 2 == 0).then(|| &case.by[text][case.by[text].len() - 1][..]),
            label: (text % case.weights.shape.classes) as u32,
            weight: 0.5 + text as f32 * 0.1,
        })
        .collect()
}

#[test]
fn gradients_agree_with_finite_differences() {
    let mut compared = 0;
    for number in 0..60 {
        let mut case = Case::new(number, 1.0, 5);
        for radius in [0.0, 0.4, 1.0] {
            let loss_of = |case: &Case| {
                let items = worst_cases(case);
                IntervalKernels::new(&case.weights).worst_case_gradients(
                    case.table(),
                    &items,
                    radius,
                )
            };
            let exact = loss_of(&case);
            let mut draw: Stream = stream(number, Purpose::UniformInput, 2, 0);
            for _ in 0..12 {
                let place = draw.random_range(0..case.weights.values.len());
                let value = case.weights.values[place];
                let step = 2e-3;
                let mut at = |value: f32| {
                    case.weights.values[place] = value;
                    loss_of(&case).loss
                };
                let (up, down) = (at(value + step), at(value - step));
                at(value);
                let (right, left) = (
                    (up - exact.loss) as f32 / step,
                    (exact.loss - down) as f32 / step,
                );
                let own = exact.parameters[place];
                // At a kink the two sides differ, and the gradient is either's or between.
                let tolerance = 2e-2 + 0.05 * own.abs() + (right - left).abs();
                assert!(
                    (own - (right + left) / 2.0).abs() < tolerance,
                    "{number} {own} {left} {right}"
                );
                compared += usize::from((right - left).abs() < 1e-2);
            }
        }
    }
    assert!(compared > 1500, "{compared}");
}

#[test]
fn radius_zero_around_the_own_tokens_is_the_plain_loss() {
    for number in 0..40 {
        let case = Case::new(number, 1.0, 5);
        let mut items = worst_cases(&case);
        let (mut texts, mut labels) = (Vec::new(), Vec::new());
        for (text, item) in items.iter_mut().enumerate() {
            let own = &case.by[text][0][..];
            item.own = Some(own);
            item.weight = 0.2;
            texts.push([item.text.before, own, item.text.after].concat());
            labels.push(item.label);
        }
        let texts: Vec<&[i32]> = texts.iter().map(Vec::as_slice).collect();
        let batch = Batch {
            texts: &texts,
            labels: &labels,
            class_weights: &[1.0; 4],
        };
        let plain = Kernels::new(&case.weights).batch_gradients(case.table(), batch, false);
        let intervals = IntervalKernels::new(&case.weights);
        let worst = intervals.worst_case_gradients(case.table(), &items, 0.0);
        assert!((plain.loss - worst.loss).abs() < 1e-5);
        for (a, b) in plain.parameters.iter().zip(&worst.parameters) {
            assert!((a - b).abs() < 1e-4 * (1.0 + a.abs()), "{a} {b}");
        }
    }
}

#[test]
fn tensors_have_the_losses_and_gradients_of_the_kernels() {
    let device = ComputeDevice::flex();
    let device = device.burn().clone().autodiff();
    for number in 0..60 {
        let case = Case::new(number, 1.0, 5);
        let items = worst_cases(&case);
        for radius in [0.0, 0.4, 1.0] {
            let intervals = IntervalKernels::new(&case.weights);
            let expected = intervals.worst_case_gradients(case.table(), &items, radius);
            let values =
                TensorData::new(case.weights.values.clone(), [1, case.weights.values.len()]);
            let values = Tensor::<2>::from_data(values, &device).require_grad();
            let network = RecurrentNetwork::new(case.weights.shape, &values);
            let loss = network.worst_case_loss(case.table(), &items, radius, &device);
            let gradient = values.grad(&loss.backward()).unwrap();
            let loss = read(loss.without_autodiff().reshape([1, 1])).unwrap()[0];
            assert!(
                (f64::from(loss) - expected.loss).abs() < 1e-4,
                "{number} {loss}"
            );
            for (own, expected) in read(gradient).unwrap().iter().zip(&expected.parameters) {
                let near = 1e-4 * (1.0 + expected.abs());
                assert!((own - expected).abs() < near, "{number} {own} {expected}");
            }
        }
    }
}

/// A task that computes σ and tanh of sixteen numbers.
struct Both<'a>(&'a Row, &'a mut [Row; 2]);

impl WithSimd for Both<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for part in 0..parts::<S>() {
            let x = load::<S>(self.0, part);
            store::<S>(&mut self.1[0], part, sigmoid(simd, x));
            store::<S>(&mut self.1[1], part, tanh(simd, x));
        }
    }
}

/// Computes the largest fall of σ and of tanh below its running maximum over the numbers with the
/// `indices` in ascending order; index k is the k-th number above 0, or below it where k is
/// negative.
fn largest_falls(indices: impl Iterator<Item = i64>) -> [f32; 2] {
    let mut best = [f32::NEG_INFINITY; 2];
    let mut falls = [0f32; 2];
    let mut x = Row::ZERO;
    let mut y = [Row::ZERO; 2];
    let mut filled = 0;
    let mut visit = |x: &Row, count: usize| {
        dispatch(Both(x, &mut y));
        for (function, least) in [0.0, -1.0].into_iter().enumerate() {
            for &value in &y[function].0[..count] {
                assert!((least..=1.0).contains(&value));
                best[function] = best[function].max(value);
                falls[function] = falls[function].max(best[function] - value);
            }
        }
    };
    for index in indices {
        let sign = if index < 0 { 1 << 31 } else { 0 };
        x.0[filled] = f32::from_bits(index.unsigned_abs() as u32 | sign);
        filled += 1;
        if filled == LANES {
            visit(&x, LANES);
            filled = 0;
        }
    }
    visit(&x, filled);
    falls
}

const LARGEST_FALLS: [f32; 2] = [1.0 / (1 << 24) as f32, 1.0 / (1 << 23) as f32];

#[test]
fn activations_hardly_fall() {
    let infinity = i64::from(f32::INFINITY.to_bits());
    let falls = largest_falls((-infinity..=infinity).step_by(499));
    assert!(
        falls[0] <= LARGEST_FALLS[0] && falls[1] <= LARGEST_FALLS[1],
        "{falls:?}"
    );
    const { assert!(Slack::SOUND.activation >= 2.0 * LARGEST_FALLS[1]) };
}

#[test]
#[ignore = "visits all 32-bit numbers: half a minute"]
fn activations_hardly_fall_anywhere() {
    let infinity = i64::from(f32::INFINITY.to_bits());
    let falls = largest_falls(-infinity..=infinity);
    assert_eq!(falls, LARGEST_FALLS);
}
