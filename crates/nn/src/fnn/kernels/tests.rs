use rand::RngExt;

use super::super::tiles::Tiles;
use super::super::{Network, predicted_class};
use super::*;
use crate::ModelError;
use crate::lanes::on_every_level;
use probity_data::schema::Schema;
use probity_run::stream::{Purpose, stream};
use probity_tensor::device::ComputeDevice;

const ACTIVATIONS: [Activation; 3] = [Activation::Relu, Activation::Tanh, Activation::Sigmoid];

/// A network over the synthetic census, laid out, with rows and cotangents.
struct Case {
    network: Network,
    layers: Vec<Dense>,
    kernels: Kernels,
    codes: Vec<i32>,
    cotangents: Vec<f32>,
    classes: usize,
}

impl Case {
    /// Makes case `number`: encodings of all kinds, widths beside and beyond the tiles', `rows`
    /// rows, a few codes of which are outside their domain.
    fn new(number: u64, rows: usize) -> Case {
        let schema: Schema = probity_data::builtin::schema("synthetic-census")
            .unwrap()
            .unwrap();
        let mut draw = stream(number, Purpose::UniformInput, 0, 0);
        let encodings: Vec<Encoding> = schema
            .attributes
            .iter()
            .map(|_| match (number + draw.random_range(0..3)) % 4 {
                0 => Encoding::OneHot,
                1 => Encoding::Embedded { dimension: 3 },
                _ => Encoding::Scaled {
                    mean: draw.random_range(-3.0..9.0),
                    deviation: draw.random_range(0.5..4.0),
                },
            })
            .collect();
        let layout = InputLayout::new(&schema.attributes, &encodings);
        let hidden: Vec<usize> = (0..number % 4)
            .map(|_| [1, 7, 16, 17, 33, 300][draw.random_range(0..6)])
            .collect();
        let classes = draw.random_range(2..5);
        let activation = ACTIVATIONS[number as usize % 3];
        let mut network = Network::random(layout, &hidden, classes, activation, number);
        for layer in &mut network.layers {
            let biases = layer.bias.iter_mut();
            biases.for_each(|bias| *bias = draw.random_range(-1.0..1.0));
        }
        let mut codes = Vec::new();
        for _ in 0..rows {
            for attribute in &schema.attributes {
                let (low, high) = attribute.domain();
                let outside = i32::from(draw.random_range(0..40) == 0);
                codes.push(draw.random_range(low - outside..=high + outside));
            }
        }
        let mut layers = vec![network.absorbed_first_layer()];
        layers.extend_from_slice(&network.layers[1..]);
        let cotangents = (0..rows * classes).map(|_| draw.random_range(-2.0..2.0));
        Case {
            cotangents: cotangents.collect(),
            kernels: Kernels::new(&network.layout, &layers, activation),
            layers,
            network,
            codes,
            classes,
        }
    }

    fn rows(&self) -> Rows<'_> {
        Rows::new(&self.codes, self.network.layout.spans().len())
    }

    fn logits(&self, rows: Rows<'_>) -> Vec<f32> {
        self.kernels.logits(&self.network.layout, rows)
    }

    fn gradients(&self, rows: Rows<'_>, cotangents: &[f32]) -> Vec<f32> {
        let layout = &self.network.layout;
        self.kernels.input_gradients(layout, rows, cotangents)
    }
}

/// A number, and the largest error that the kernels may have in it.
#[derive(Clone, Copy)]
struct Bounded(f64, f64);

const UNIT: f64 = 1.0 / (1 << 24) as f64;

/// Computes Σ a·x of exact a, in any order: the errors of the x come through, and of the n + 2
/// roundings each is at most half a unit in the last place of Σ|a·x| (Higham, section 3.1).
fn sum(terms: &[(f64, Bounded)]) -> Bounded {
    let size: f64 = terms
        .iter()
        .map(|(a, x)| (a * x.0).abs() + (a * x.1).abs())
        .sum();
    let through: f64 = terms.iter().map(|(a, x)| (a * x.1).abs()).sum();
    let value = terms.iter().map(|(a, x)| a * x.0).sum();
    Bounded(
        value,
        through + (terms.len() + 2) as f64 * 1.001 * UNIT * size,
    )
}

/// Computes the logits of a row and its gradient by plain loops in f64, with a bound of the errors
/// of every step; no gradient where a rectified sum is too near 0 for its sign to be known.
fn slow(case: &Case, row: &[i32], cotangents: &[f32]) -> (Vec<Bounded>, Option<Vec<Bounded>>) {
    let mut features = Vec::new();
    case.network.layout.encode(row, &mut features);
    let exact = |x: &f32| Bounded(f64::from(*x), 0.0);
    let mut x: Vec<Bounded> = features.iter().map(exact).collect();
    let mut derivatives: Vec<Vec<Bounded>> = Vec::new();
    let mut is_known = true;
    for (depth, layer) in case.layers.iter().enumerate() {
        let weight = |i: usize, o: usize| f64::from(layer.weight[i * layer.outputs + o]);
        let sums: Vec<Bounded> = (0..layer.outputs)
            .map(|o| {
                let terms = x.iter().enumerate().map(|(i, &x)| (weight(i, o), x));
                sum(&terms
                    .chain([(1.0, exact(&layer.bias[o]))])
                    .collect::<Vec<_>>())
            })
            .collect();
        x = sums;
        if depth + 1 == case.layers.len() {
            break;
        }
        let mut derivative = Vec::new();
        for value in &mut x {
            let Bounded(z, error) = *value;
            match case.network.activation {
                Activation::Relu => {
                    is_known &= z.abs() > error;
                    derivative.push(Bounded(f64::from(u8::from(z > 0.0)), 0.0));
                    *value = Bounded(z.max(0.0), error);
                }
                Activation::Tanh => {
                    *value = Bounded(z.tanh(), error + 2e-7);
                    derivative.push(Bounded(1.0 - value.0 * value.0, 2.0 * value.1 + 4.0 * UNIT));
                }
                Activation::Sigmoid => {
                    *value = Bounded(1.0 / (1.0 + (-z).exp()), error + 2e-7);
                    derivative.push(Bounded(value.0 - value.0 * value.0, value.1 + 4.0 * UNIT));
                }
            }
        }
        derivatives.push(derivative);
    }
    let logits = x;
    let mut gradient: Vec<Bounded> = cotangents.iter().map(exact).collect();
    for (depth, layer) in case.layers.iter().enumerate().rev() {
        let line = |i: usize| {
            layer.weight[i * layer.outputs..]
                .iter()
                .map(|&w| f64::from(w))
        };
        gradient = (0..layer.inputs)
            .map(|i| sum(&line(i).zip(gradient.iter().copied()).collect::<Vec<_>>()))
            .collect();
        if depth > 0 {
            for (g, d) in gradient.iter_mut().zip(&derivatives[depth - 1]) {
                let error = g.1 * (d.0.abs() + d.1) + g.0.abs() * d.1;
                *g = Bounded(g.0 * d.0, error + 2.0 * UNIT * (g.0 * d.0).abs());
            }
        }
    }
    (logits, is_known.then_some(gradient))
}

#[test]
fn errors_are_within_their_bounds() {
    let (mut gradients_seen, mut bounds) = (0, Vec::new());
    for number in 0..60 {
        let case = Case::new(number, 21);
        let logits = case.logits(case.rows());
        let gradients = case.gradients(case.rows(), &case.cotangents);
        let features = case.network.layout.features();
        for (i, row) in case.rows().iter().enumerate() {
            let cotangents = &case.cotangents[i * case.classes..][..case.classes];
            let (exact, gradient) = slow(&case, row, cotangents);
            let mut all: Vec<(f32, Bounded)> = Vec::new();
            all.extend(logits[i * case.classes..].iter().copied().zip(exact));
            if let Some(gradient) = gradient {
                gradients_seen += 1;
                all.extend(gradients[i * features..].iter().copied().zip(gradient));
            }
            for (own, Bounded(exact, error)) in all {
                assert!(
                    (f64::from(own) - exact).abs() <= error + 1e-30,
                    "{number}, row {i}: {own} {exact} {error}"
                );
                bounds.push(error / exact.abs().max(1.0));
            }
        }
    }
    // Bounds that said nothing would be no test; those of wide and deep networks are wide.
    bounds.sort_by(f64::total_cmp);
    let median = bounds[bounds.len() / 2];
    assert!(
        gradients_seen > 1000 && median < 1e-3,
        "{gradients_seen} {median}"
    );
}

#[test]
fn burn_computes_the_same() {
    for number in 0..30 {
        let case = Case::new(number, 150);
        let device = ComputeDevice::flex();
        let layout = &case.network.layout;
        let tiles = Tiles::new(layout, &case.layers, case.network.activation, &device);
        let burns = tiles.logits(case.rows()).unwrap();
        let largest: Vec<u32> = burns.chunks(case.classes).map(predicted_class).collect();
        assert_eq!(tiles.classes(case.rows()).unwrap(), largest);
        let own = case.logits(case.rows());
        assert_eq!(own.len(), burns.len());
        for (own, burns) in own.iter().zip(burns) {
            assert!(
                (own - burns).abs() < 1e-4 * (1.0 + own.abs()),
                "{own} {burns}"
            );
        }
        let burns = tiles
            .input_gradients(case.rows(), &case.cotangents)
            .unwrap();
        let own = case.gradients(case.rows(), &case.cotangents);
        assert_eq!(own.len(), burns.len());
        // A rectified sum near 0 may have another sign: a rare row has another gradient then.
        let near = |(own, burns): &(&f32, &f32)| (*own - *burns).abs() < 1e-3 * (1.0 + own.abs());
        let far = own.iter().zip(&burns).filter(|pair| !near(pair)).count();
        let allowed = match case.network.activation {
            Activation::Relu => own.len() / 100,
            _ => 0,
        };
        assert!(far <= allowed, "{number}: {far} of {}", own.len());
    }
}

/// A network of one layer whose logits are the code of its one attribute times `weights`.
fn one_layer(weights: &[f32]) -> Tiles {
    let schema = probity_data::builtin::schema("synthetic-census")
        .unwrap()
        .unwrap();
    let attributes = &schema.attributes[..1];
    let layout = InputLayout::new(attributes, &[Encoding::RAW]);
    let layer = Dense {
        inputs: 1,
        outputs: weights.len(),
        weight: weights.to_vec(),
        bias: vec![0.0; weights.len()],
    };
    Tiles::new(&layout, &[layer], Activation::Relu, &ComputeDevice::flex())
}

#[test]
fn a_device_decides_for_the_first_of_equal_logits_and_for_none_that_is_not_finite() {
    let codes = [0, 1, -1, 20];
    let rows = Rows::new(&codes, 1);
    let tied = one_layer(&[1.0, 1.0, -2.0]).classes(rows).unwrap();
    assert_eq!(tied, [0, 0, 2, 0]);
    let tied = one_layer(&[-2.0, 1.0, 1.0]).classes(rows).unwrap();
    assert_eq!(tied, [0, 1, 0, 1]);
    let error = one_layer(&[1e38, 0.0]).classes(rows).unwrap_err();
    assert!(matches!(error, ModelError::NotFinite { row } if row == [20]));
    assert!(
        one_layer(&[1.0, 2.0])
            .classes(Rows::new(&[], 1))
            .unwrap()
            .is_empty()
    );
}

#[test]
fn neither_batch_nor_position_nor_threads_change_a_bit() {
    for number in 0..12 {
        let case = Case::new(number, 300);
        let (width, classes) = (case.rows().width, case.classes);
        let features = case.network.layout.features();
        let logits = case.logits(case.rows());
        let gradients = case.gradients(case.rows(), &case.cotangents);
        for size in [1, 17, 64, 65, 256, 299] {
            for (part, codes) in case.codes.chunks(size * width).enumerate() {
                let rows = Rows::new(codes, width);
                let first = part * size;
                assert_eq!(
                    case.logits(rows),
                    logits[first * classes..][..rows.len() * classes]
                );
                let cotangents = &case.cotangents[first * classes..][..rows.len() * classes];
                assert_eq!(
                    case.gradients(rows, cotangents),
                    gradients[first * features..][..rows.len() * features]
                );
            }
        }
        std::thread::scope(|scope| {
            let ask = || case.logits(case.rows());
            let threads: Vec<_> = (0..3).map(|_| scope.spawn(ask)).collect();
            for thread in threads {
                assert_eq!(thread.join().unwrap(), logits);
            }
        });
    }
}

/// The logits and the gradients of a whole case, at one level.
struct Whole<'a>(&'a Case);

impl WithSimd for Whole<'_> {
    type Output = Vec<u32>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<u32> {
        let Whole(case) = self;
        let (layout, count) = (&case.network.layout, case.rows().len());
        let blocks = count.div_ceil(LANES);
        let mut memory = Memory::new(&case.kernels);
        case.kernels.encode(layout, &case.codes, &mut memory);
        pack(&case.cotangents, case.classes, &mut memory.passed[0]);
        Forward(&case.kernels, &mut memory, blocks).with_simd(simd);
        Backward(&case.kernels, &mut memory, blocks).with_simd(simd);
        let mut numbers = Vec::new();
        unpack(
            memory.values.last().unwrap(),
            case.classes,
            count,
            &mut numbers,
        );
        unpack(&memory.passed[0], layout.features(), count, &mut numbers);
        numbers.into_iter().map(f32::to_bits).collect()
    }
}

#[test]
fn registers_of_every_width_give_the_same_bits() {
    for number in 0..24 {
        let case = Case::new(number, SMALL_GROUP * LANES - 3);
        let mut own = case.logits(case.rows());
        own.extend(case.gradients(case.rows(), &case.cotangents));
        let own: Vec<u32> = own.into_iter().map(f32::to_bits).collect();
        let levels = on_every_level(|| Whole(&case));
        assert!(levels.len() >= 2);
        for bits in levels {
            assert_eq!(bits, own, "case {number}");
        }
    }
}

/// ∞ − ∞ in a hidden layer: no activation may make a number of it.
#[test]
fn what_is_no_number_shows_in_the_logits() {
    for activation in ACTIVATIONS {
        let mut case = (0..)
            .map(|number| Case::new(number, 5))
            .find(|case| case.layers.len() == 3)
            .unwrap();
        for layer in &mut case.layers[..2] {
            layer.weight.fill(f32::INFINITY);
            layer.bias.fill(f32::NEG_INFINITY);
        }
        case.kernels = Kernels::new(&case.network.layout, &case.layers, activation);
        let logits = case.logits(case.rows());
        assert!(
            logits.iter().all(|logit| logit.is_nan()),
            "{activation:?}: {logits:?}"
        );
    }
}
