use burn::tensor::{Device, Tensor, TensorData};

use super::*;
use crate::Objective;
use crate::encoding::Encoding;
use probity_data::builtin;
use probity_run::stream::{Purpose, stream};
use rand::RngExt;

/// Returns a random network over the synthetic census with every kind of encoding, and some rows.
fn mixed() -> (Network, Vec<i32>) {
    let schema = builtin::schema("synthetic-census").unwrap().unwrap();
    let encodings: Vec<Encoding> = (0..schema.attributes.len())
        .map(|attribute| match attribute % 3 {
            0 => Encoding::Scaled {
                mean: 3.5,
                deviation: 2.0,
            },
            1 => Encoding::OneHot,
            _ => Encoding::Embedded { dimension: 3 },
        })
        .collect();
    let layout = InputLayout::new(&schema.attributes, &encodings);
    let network = Network::random(layout, &[9, 7], 3, Activation::Tanh, 4);
    let mut rows = Vec::new();
    for item in 0..300 {
        let mut stream = stream(8, Purpose::UniformInput, item, 0);
        for attribute in &schema.attributes {
            let (min, max) = attribute.domain();
            rows.push(stream.random_range(min..=max));
        }
    }
    (network, rows)
}

#[test]
fn device_and_plain_loops_agree() {
    let (network, codes) = mixed();
    let fnn = Fnn::new(&network, &ComputeDevice::flex());
    let rows = Rows::new(&codes, fnn.width());
    let logits = fnn.logits(rows).unwrap();
    for (row, logits) in rows.iter().zip(logits.chunks_exact(3)) {
        for (plain, &fast) in network.reference_logits(row).iter().zip(logits) {
            assert!((plain - f64::from(fast)).abs() < 1e-4, "{plain} {fast}");
        }
    }
}

#[test]
fn a_row_alone_or_in_any_batch_is_bit_equal() {
    let (network, codes) = mixed();
    let fnn = Fnn::new(&network, &ComputeDevice::flex());
    let width = fnn.width();
    let whole = fnn.logits(Rows::new(&codes, width)).unwrap();
    let cotangents: Vec<f32> = (0..whole.len()).map(|i| (i % 5) as f32 - 2.0).collect();
    let gradients = fnn
        .input_gradients(Rows::new(&codes, width), &cotangents)
        .unwrap();
    let features = fnn.features();
    for row in 0..codes.len() / width {
        let alone = Rows::new(&codes[row * width..(row + 1) * width], width);
        assert_eq!(fnn.logits(alone).unwrap(), whole[row * 3..row * 3 + 3]);
        let alone = fnn
            .input_gradients(alone, &cotangents[row * 3..row * 3 + 3])
            .unwrap();
        assert_eq!(alone, gradients[row * features..(row + 1) * features]);
    }
}

#[test]
fn gradients_agree_with_finite_differences() {
    // Objective m along the feature of attribute 0 (scaled): central difference of the plain
    // f64 path over ±1 code; tanh is smooth, so halving an O(h²) error is not needed at 1e-2.
    let (network, codes) = mixed();
    let fnn = Fnn::new(&network, &ComputeDevice::flex());
    let width = fnn.width();
    let rows = Rows::new(&codes, width);
    let logits = fnn.logits(rows).unwrap();
    let mut cotangents = Vec::new();
    for logits in logits.chunks_exact(3) {
        Objective::Margin.cotangent(logits, predicted_class(logits), &mut cotangents);
    }
    let gradients = fnn.input_gradients(rows, &cotangents).unwrap();
    let objective = |features: &[f64], cotangent: &[f32]| -> f64 {
        let mut values = features.to_vec();
        for (depth, layer) in [network.absorbed_first_layer()]
            .iter()
            .chain(&network.layers[1..])
            .enumerate()
        {
            let mut next: Vec<f64> = layer.bias.iter().map(|&b| f64::from(b)).collect();
            for (value, weights) in values.iter().zip(layer.weight.chunks_exact(layer.outputs)) {
                for (sum, &weight) in next.iter_mut().zip(weights) {
                    *sum += value * f64::from(weight);
                }
            }
            if depth + 1 < network.layers.len() {
                next.iter_mut().for_each(|value| *value = value.tanh());
            }
            values = next;
        }
        values
            .iter()
            .zip(cotangent)
            .map(|(value, &weight)| value * f64::from(weight))
            .sum()
    };
    for (i, row) in rows.iter().enumerate().take(40) {
        let mut features = Vec::new();
        network.layout.encode(row, &mut features);
        let features: Vec<f64> = features.into_iter().map(f64::from).collect();
        let cotangent = &cotangents[i * 3..i * 3 + 3];
        for feature in 0..features.len() {
            let step = 1e-5;
            let mut up = features.clone();
            up[feature] += step;
            let mut down = features.clone();
            down[feature] -= step;
            let numeric = (objective(&up, cotangent) - objective(&down, cotangent)) / (2.0 * step);
            let exact = f64::from(gradients[i * features.len() + feature]);
            assert!((numeric - exact).abs() < 1e-4, "{numeric} {exact}");
        }
    }
}

#[test]
fn gradients_agree_with_autodiff_for_every_activation() {
    for activation in [Activation::Relu, Activation::Tanh, Activation::Sigmoid] {
        let (mut network, codes) = mixed();
        network.activation = activation;
        let fnn = Fnn::new(&network, &ComputeDevice::flex());
        let rows = Rows::new(&codes, fnn.width());
        let cotangents: Vec<f32> = (0..rows.len() * 3).map(|i| (i % 7) as f32 - 3.0).collect();
        let gradients = fnn.input_gradients(rows, &cotangents).unwrap();
        let device = Device::flex().autodiff();
        let mut values = Vec::new();
        rows.iter()
            .for_each(|row| network.layout.encode(row, &mut values));
        let shape = [rows.len(), fnn.features()];
        let features =
            Tensor::<2>::from_data(TensorData::new(values, shape), &device).require_grad();
        let mut x = features.clone();
        let first = network.absorbed_first_layer();
        for (depth, layer) in [first].iter().chain(&network.layers[1..]).enumerate() {
            let tensor = |values: &[f32], shape| {
                Tensor::<2>::from_data(TensorData::new(values.to_vec(), shape), &device)
            };
            let weight = tensor(&layer.weight, [layer.inputs, layer.outputs]);
            x = x.matmul(weight) + tensor(&layer.bias, [1, layer.outputs]);
            if depth + 1 < network.layers.len() {
                x = activation.apply(x);
            }
        }
        let cotangents = TensorData::new(cotangents, [rows.len(), 3]);
        let objective = (x * Tensor::from_data(cotangents, &device)).sum();
        let expected = read(features.grad(&objective.backward()).unwrap()).unwrap();
        for (own, autodiff) in gradients.iter().zip(expected) {
            assert!((own - autodiff).abs() < 1e-4, "{own} {autodiff}");
        }
    }
}

#[test]
fn a_network_without_an_attribute_answers_alike_whatever_it_is() {
    let (network, mut codes) = mixed();
    let width = network.layout.spans().len();
    for attributes in [vec![0], vec![1], vec![2], vec![0, 1, 2, 5]] {
        assert!(!network.ignores(&attributes));
        let without = network.without(&attributes, Rows::new(&codes, width));
        assert!(without.ignores(&attributes) && !without.ignores(&[3]));
        let fnn = Fnn::new(&without, &ComputeDevice::flex());
        let logits = fnn.logits(Rows::new(&codes, width)).unwrap();
        let mut others = codes.clone();
        for row in others.chunks_exact_mut(width) {
            for &attribute in &attributes {
                let span = &network.layout.spans()[attribute];
                let level = row[attribute] - span.min + 1;
                row[attribute] = span.min + level % span.levels as i32;
            }
        }
        assert_ne!(codes, others);
        assert_eq!(fnn.logits(Rows::new(&others, width)).unwrap(), logits);
    }
    // Where all have one value, what it adds on average is what it adds.
    for row in codes.chunks_exact_mut(width) {
        row[..3].copy_from_slice(&[1, 1, 1]);
    }
    let rows = Rows::new(&codes, width);
    let without = network.without(&[0, 1, 2], rows);
    let answers = |network: &Network| {
        let fnn = Fnn::new(network, &ComputeDevice::flex());
        fnn.logits(rows).unwrap()
    };
    for (own, other) in answers(&network).into_iter().zip(answers(&without)) {
        assert!((own - other).abs() < 1e-5, "{own} {other}");
    }
}

/// However many rows and outputs go through the loops together.
#[test]
fn the_reference_has_the_bits_of_plain_loops() {
    let (network, codes) = mixed();
    let width = network.layout.spans().len();
    let rows = Rows::new(&codes[..21 * width], width);
    let logits = Reference::new(&network).logits(rows);
    for (row, logits) in rows.iter().zip(logits.chunks_exact(3)) {
        let mut features = Vec::new();
        network.layout.encode(row, &mut features);
        let mut x: Vec<f64> = features.into_iter().map(f64::from).collect();
        let first = network.absorbed_first_layer();
        let layers: Vec<&Dense> = [&first].into_iter().chain(&network.layers[1..]).collect();
        for (depth, layer) in layers.iter().enumerate() {
            let sum = |output: usize| {
                let terms = x
                    .iter()
                    .zip(layer.weight[output..].iter().step_by(layer.outputs));
                terms.fold(f64::from(layer.bias[output]), |sum, (x, &weight)| {
                    sum + x * f64::from(weight)
                })
            };
            let sums: Vec<f64> = (0..layer.outputs).map(sum).collect();
            x = match depth + 1 < layers.len() {
                true => sums.into_iter().map(f64::tanh).collect(),
                false => sums,
            };
        }
        assert_eq!(x, logits);
    }
}
