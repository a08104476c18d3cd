use rand::RngExt;

use super::*;
use crate::encoding::Encoding;
use crate::fnn::Fnn;
use crate::{Classifier, Rows, predicted_class};
use probity_data::builtin;
use probity_run::stream::{Purpose, stream};
use probity_tensor::device::ComputeDevice;

#[test]
fn no_variant_breaks_a_bound_and_no_certificate_is_false() {
    let schema = builtin::schema("synthetic-census").unwrap().unwrap();
    let attributes = schema.attributes.len();
    let (mut certified, mut refused) = (0, 0);
    for number in 0..600u64 {
        let mut draw = stream(number, Purpose::UniformInput, 0, 0);
        let encodings: Vec<Encoding> = (0..attributes)
            .map(|_| match draw.random_range(0..3) {
                0 => Encoding::Scaled {
                    mean: draw.random_range(-3.0..9.0),
                    deviation: draw.random_range(0.5..4.0),
                },
                1 => Encoding::OneHot,
                _ => Encoding::Embedded { dimension: 2 },
            })
            .collect();
        let layout = InputLayout::new(&schema.attributes, &encodings);
        let activation =
            [Activation::Relu, Activation::Tanh, Activation::Sigmoid][draw.random_range(0..3)];
        let hidden: Vec<usize> = (0..draw.random_range(0..4))
            .map(|_| draw.random_range(1..12))
            .collect();
        let classes = draw.random_range(2..4);
        let mut network = Network::random(layout, &hidden, classes, activation, number);
        let scale: f32 = [0.1, 0.5, 1.0, 30.0][number as usize % 4];
        for layer in &mut network.layers {
            layer.weight.iter_mut().for_each(|weight| *weight *= scale);
            for bias in &mut layer.bias {
                *bias = draw.random_range(-1.0..1.0);
            }
        }
        let row: Vec<i32> = schema
            .attributes
            .iter()
            .map(|attribute| draw.random_range(attribute.domain().0..=attribute.domain().1))
            .collect();
        let first = draw.random_range(0..attributes);
        let second = (first + draw.random_range(1..attributes)) % attributes;
        let all = |attribute: usize| CodeSet {
            attribute,
            codes: {
                let (low, high) = schema.attributes[attribute].domain();
                (low..=high).collect()
            },
        };
        let sets = if number % 2 == 0 {
            vec![all(first)]
        } else {
            vec![all(first), all(second)]
        };
        let mut codes = Vec::new();
        for &a in &sets[0].codes {
            let others = sets
                .get(1)
                .map_or(vec![row[second]], |set| set.codes.clone());
            for b in others {
                let start = codes.len();
                codes.extend_from_slice(&row);
                codes[start + second] = b;
                codes[start + first] = a;
            }
        }
        let fnn = Fnn::new(&network, &ComputeDevice::flex());
        let logits = fnn.logits(Rows::new(&codes, attributes)).unwrap();
        let label = predicted_class(&logits[..classes]);
        let bounds = FnnBounds::new(&network).lead_bounds(&row, &sets, label);
        let is_certified = bounds.iter().all(|&bound| bound > 0.0);
        certified += usize::from(is_certified);
        refused += usize::from(!is_certified);
        for logits in logits.chunks_exact(classes) {
            assert!(!is_certified || predicted_class(logits) == label);
            for (&logit, &bound) in logits.iter().zip(&bounds) {
                let lead = f64::from(logits[label as usize]) - f64::from(logit);
                assert!(
                    bound.is_infinite() || lead >= bound,
                    "{number}: {lead} {bound}"
                );
            }
        }
    }
    assert!(certified > 100 && refused > 100, "{certified} {refused}");
}

#[test]
fn a_single_code_is_bounded_by_its_own_lead() {
    let schema = builtin::schema("synthetic-census").unwrap().unwrap();
    let encodings = vec![Encoding::OneHot; schema.attributes.len()];
    let layout = InputLayout::new(&schema.attributes, &encodings);
    let network = Network::random(layout, &[8, 4], 2, Activation::Tanh, 3);
    let row: Vec<i32> = schema.attributes.iter().map(|a| a.domain().0).collect();
    let bounds = FnnBounds::new(&network).lead_bounds(&row, &[], 0);
    let logits = network.reference_logits(&row);
    assert!((logits[0] - logits[1] - bounds[1]).abs() < 1e-4);
}

#[test]
fn what_overflows_is_not_certified() {
    let schema = builtin::schema("synthetic-census").unwrap().unwrap();
    let encodings = vec![Encoding::OneHot; schema.attributes.len()];
    let layout = InputLayout::new(&schema.attributes, &encodings);
    let mut network = Network::random(layout, &[8, 4], 2, Activation::Relu, 3);
    for layer in &mut network.layers {
        layer.weight.fill(3e38);
    }
    let row: Vec<i32> = schema.attributes.iter().map(|a| a.domain().0).collect();
    let bounds = FnnBounds::new(&network).lead_bounds(&row, &[], 0);
    assert!(bounds[1].is_nan() || bounds[1] <= 0.0, "{bounds:?}");
}
