//! Every count against brute force, and a margin that is too small is found out.

mod partition;
mod population;

use rand::RngExt;

use super::count::Counter;
use super::decide::{Decider, Verdict, points as points_of};
use super::measure::{Measure, WHOLE};
use super::network::{Ranges, SumNetwork};
use super::relaxation::Relaxation;
use crate::domain::{Domain, TabularDomain};
use probity_data::schema::{Kind, Schema};
use probity_nn::encoding::{Encoding, InputLayout};
use probity_nn::fnn::{Activation, Fnn, Network};
use probity_nn::{Classifier, ModelError, Rows, predicted_class};
use probity_run::stream::{Purpose, Stream, stream};
use probity_tensor::device::ComputeDevice;

/// A table of small domains: words, ordered words, whole numbers and bins.
fn schema() -> Schema {
    let text = r#"
name = "small"
[label]
name = "y"
classes = ["a", "b", "c"]
[[attribute]]
name = "size"
kind = "integer"
min = -3
max = 8
[[attribute]]
name = "colour"
kind = "categorical"
levels = ["red", "green", "blue", "grey", "white"]
[[attribute]]
name = "sex"
kind = "categorical"
levels = ["f", "m"]
[[attribute]]
name = "rank"
kind = "categorical"
levels = ["low", "middle", "high"]
ordered = true
[[attribute]]
name = "income"
kind = "numeric"
bins = [0.0, 1.5, 2.0, 7.0, 9.0]
[[attribute]]
name = "age"
kind = "integer"
min = 0
max = 2
"#;
    Schema::from_toml(text).unwrap()
}

fn random_network(schema: &Schema, number: u64) -> Network {
    let mut draw = stream(number, Purpose::UniformInput, 3, 0);
    let encodings: Vec<Encoding> = schema
        .attributes
        .iter()
        .map(|_| match draw.random_range(0..4) {
            0 => Encoding::OneHot,
            1 => Encoding::Embedded { dimension: 2 },
            2 => Encoding::RAW,
            _ => Encoding::Scaled {
                mean: draw.random_range(-3.0..9.0),
                deviation: draw.random_range(0.5..4.0),
            },
        })
        .collect();
    let layout = InputLayout::new(&schema.attributes, &encodings);
    let activation =
        [Activation::Relu, Activation::Tanh, Activation::Sigmoid][draw.random_range(0..3)];
    let hidden: Vec<usize> = (0..draw.random_range(0..4))
        .map(|_| draw.random_range(1..20))
        .collect();
    let classes = draw.random_range(2..4);
    let mut network = Network::random(layout, &hidden, classes, activation, number);
    let scale: f32 = [0.3, 1.0, 3.0][number as usize % 3];
    for layer in &mut network.layers {
        layer.weight.iter_mut().for_each(|weight| *weight *= scale);
        layer
            .bias
            .iter_mut()
            .for_each(|bias| *bias = draw.random_range(-0.5..0.5));
    }
    network
}

/// A model that answers nothing, so that no box is decided by asking.
struct Silent;

impl Classifier for Silent {
    fn width(&self) -> usize {
        6
    }

    fn classes(&self) -> usize {
        2
    }

    fn logits(&self, rows: Rows<'_>) -> Result<Vec<f32>, ModelError> {
        Err(ModelError::NotFinite {
            row: rows.codes.to_vec(),
        })
    }
}

/// All points of the domain: whether all combinations decide them alike.
fn truth(fnn: &Fnn, domain: &TabularDomain, network: &SumNetwork) -> Vec<(Vec<u32>, bool)> {
    let ranges = network.domain();
    let mut positions: Vec<u32> = vec![0; ranges.len()];
    let mut points = Vec::new();
    let mut rows = Vec::new();
    loop {
        let row = network.row(&positions);
        for combination in 0..network.combinations {
            domain.write_variant(&row, combination, &mut rows);
        }
        points.push(positions.clone());
        if !super::decide::advance(&mut positions, &ranges) {
            break;
        }
    }
    let logits = fnn.logits(Rows::new(&rows, 6)).unwrap();
    let decided: Vec<u32> = logits
        .chunks_exact(fnn.classes())
        .map(predicted_class)
        .collect();
    let same = decided.chunks_exact(network.combinations);
    let same = same.map(|classes| classes.iter().all(|class| *class == classes[0]));
    points.into_iter().zip(same).collect()
}

fn random_box(domain: &Ranges, draw: &mut Stream) -> Ranges {
    let ranges = domain.iter().map(|&[first, last]| {
        let (a, b) = (
            draw.random_range(first..=last),
            draw.random_range(first..=last),
        );
        match draw.random_range(0..3) {
            0 => [first, last],
            _ => [a.min(b), a.max(b)],
        }
    });
    ranges.collect()
}

fn in_box(point: &[u32], ranges: &Ranges) -> bool {
    point
        .iter()
        .zip(ranges)
        .all(|(at, range)| (range[0]..=range[1]).contains(at))
}

/// Boxes whose counts are more than there is.
fn wrong(networks: std::ops::Range<u64>, boxes: u64, rounding: f64) -> (u64, u64, [u128; 3]) {
    let schema = schema();
    let (mut tried, mut wrong, mut sums) = (0, 0, [0u128; 3]);
    for number in networks {
        let network = random_network(&schema, number);
        let mut draw = stream(number, Purpose::UniformInput, 4, 0);
        let protected: &[usize] = [&[2usize][..], &[2, 5], &[1], &[4, 2]][number as usize % 4];
        let domain = TabularDomain::new(&schema, &network.layout, protected).unwrap();
        let fnn = Fnn::new(&network, &ComputeDevice::flex());
        let sums_of = SumNetwork::new(&network, &domain, &[const { None }; 6]).unwrap();
        let sums_of = sums_of.with_rounding(rounding);
        let truth = truth(&fnn, &domain, &sums_of);
        let weights = |place: usize| {
            let own = sums_of.free[place]
                .codes
                .iter()
                .map(|code| (code.rem_euclid(3) + 1) as usize);
            own.collect::<Vec<_>>()
        };
        let marginals = Measure::of_marginals(&sums_of, |attribute| {
            let place = sums_of
                .free
                .iter()
                .position(|free| free.attribute == attribute);
            let place = place.unwrap_or_default();
            let codes = sums_of.free[place]
                .codes
                .clone()
                .into_iter()
                .zip(weights(place));
            codes.flat_map(|(code, times)| std::iter::repeat_n(code, times))
        });
        for (place, measure) in [Measure::default(), marginals.unwrap()].iter().enumerate() {
            let decider = Decider::new(&sums_of, measure, &Silent, &domain);
            let weight = |point: &[u32]| {
                let one: Ranges = point.iter().map(|&at| [at, at]).collect();
                let weight = measure.weight(&one);
                weight.map_or(1.0, |weight| weight * 2f64.powi(100))
            };
            for _ in 0..boxes {
                let ranges = random_box(&sums_of.domain(), &mut draw);
                let inside = truth.iter().filter(|(point, _)| in_box(point, &ranges));
                let mut real = [0.0; 2];
                inside.for_each(|(point, is_fair)| real[usize::from(!is_fair)] += weight(point));
                let Verdict {
                    fair,
                    discriminatory,
                    points,
                    ..
                } = decider.bounded(&ranges, points_of(&ranges), &mut Counter::default());
                tried += 1;
                let slack = 1.0 + 1e-9 * place as f64;
                let is_wrong =
                    fair as f64 > real[0] * slack || discriminatory as f64 > real[1] * slack;
                assert!(fair + discriminatory <= points);
                wrong += u64::from(is_wrong);
                if place == 0 {
                    sums[0] += fair;
                    sums[1] += discriminatory;
                    sums[2] += points;
                }
            }
        }
    }
    (tried, wrong, sums)
}

#[test]
fn no_box_has_fewer_points_of_a_kind_than_are_proved() {
    let (tried, wrong, [fair, discriminatory, points]) = wrong(0..300, 40, 1.0);
    assert_eq!(wrong, 0, "of {tried}");
    assert!(tried >= 20_000, "{tried}");
    // The bounds are worth something.
    assert!(
        2 * fair > points && 100 * discriminatory > points,
        "{fair} {discriminatory} {points}"
    );
}

/// Points are rows of the domain, whatever is protected, also what has no code 0.
#[test]
fn points_are_rows_of_the_domain() {
    let schema = schema();
    let network = random_network(&schema, 1);
    for protected in 0..6 {
        let domain = TabularDomain::new(&schema, &network.layout, &[protected]).unwrap();
        let sums = SumNetwork::new(&network, &domain, &[const { None }; 6]).unwrap();
        let row = sums.row(&[0; 5]);
        assert!(domain.contains(&row), "{protected}: {row:?}");
        assert_eq!(domain.own_variant(&row), 0);
    }
}

#[test]
fn bounds_lie_below_the_leads_that_are_computed() {
    let schema = schema();
    for number in 300..400 {
        let network = random_network(&schema, number);
        let mut draw = stream(number, Purpose::UniformInput, 4, 0);
        let domain = TabularDomain::new(&schema, &network.layout, &[2, 5]).unwrap();
        let fnn = Fnn::new(&network, &ComputeDevice::flex());
        let sums = SumNetwork::new(&network, &domain, &[const { None }; 6]).unwrap();
        for _ in 0..10 {
            let ranges = random_box(&sums.domain(), &mut draw);
            let leads = Relaxation::new(&sums, &ranges).leads(1, 0);
            for _ in 0..20 {
                let at: Vec<u32> = ranges
                    .iter()
                    .map(|&[first, last]| draw.random_range(first..=last))
                    .collect();
                let row = sums.row(&at);
                for combination in 0..sums.combinations {
                    let mut variant = Vec::new();
                    domain.write_variant(&row, combination, &mut variant);
                    let logits = fnn.logits(Rows::new(&variant, 6)).unwrap();
                    let lead = f64::from(logits[1]) - f64::from(logits[0]);
                    // The difference of two numbers of 32 bits is exact in 64.
                    let bounds = leads.at(&sums, &ranges, &row, combination);
                    for (least, lead) in bounds.into_iter().zip([lead, -lead]) {
                        assert!(least <= lead + leads.error, "{number}: {least} {lead}");
                    }
                }
            }
        }
    }
}

/// Two protected values that real numbers treat alike, and 32 bits do not: at weights of 2²⁴ a
/// difference of a half is lost in one order of the sum and kept in another.
#[test]
fn a_margin_that_leaves_rounding_out_is_found_out() {
    let schema = schema();
    let (mut sound, mut weakened) = (0, 0);
    for number in 0..40 {
        let mut network = random_network(&schema, 0);
        let layout = InputLayout::new(&schema.attributes, &[Encoding::RAW; 6]);
        network = Network::random(
            layout,
            &[4],
            2,
            Activation::Relu,
            network.layers.len() as u64 + number,
        );
        for layer in &mut network.layers {
            layer.bias.iter_mut().for_each(|bias| *bias = 0.0);
        }
        // The classes' logits are one and the same sum but for what rounding does to it.
        let hidden = &mut network.layers[0];
        hidden.bias = vec![1e6; 4];
        let last = &mut network.layers[1];
        for line in last.weight.chunks_exact_mut(2) {
            line[1] = line[0];
        }
        last.bias = vec![0.0, 1e-3];
        let domain = TabularDomain::new(&schema, &network.layout, &[2, 5]).unwrap();
        let fnn = Fnn::new(&network, &ComputeDevice::flex());
        let all = |rounding: f64| {
            let sums = SumNetwork::new(&network, &domain, &[const { None }; 6]).unwrap();
            let sums = sums.with_rounding(rounding);
            let measure = Measure::default();
            let decider = Decider::new(&sums, &measure, &Silent, &domain);
            let verdict = decider.bounded(
                &sums.domain(),
                points_of(&sums.domain()),
                &mut Counter::default(),
            );
            let truth = truth(&fnn, &domain, &sums);
            let unfair = truth.iter().filter(|(_, is_fair)| !is_fair).count() as u128;
            verdict.fair + unfair > truth.len() as u128
        };
        sound += u32::from(all(1.0));
        weakened += u32::from(all(0.0));
    }
    assert_eq!(sound, 0);
    assert!(weakened > 0, "a margin of nothing must prove what is false");
}

/// What protected attributes do not move is decided at once, and only where none of them moves it.
#[test]
fn a_network_that_ignores_the_protected_attributes_is_proved_fair() {
    let schema = schema();
    for number in 0..60 {
        let network = random_network(&schema, number);
        let protected: &[usize] = [&[2usize][..], &[2, 5], &[1], &[4, 2]][number as usize % 4];
        let rows = [3, 1, 0, 2, 1, 1, -3, 4, 1, 0, 3, 2];
        let rows = Rows::new(&rows, 6);
        let domain = TabularDomain::new(&schema, &network.layout, protected).unwrap();
        let whole = |network: &Network| {
            let sums = SumNetwork::new(network, &domain, &[const { None }; 6]).unwrap();
            let measure = Measure::default();
            let decider = Decider::new(&sums, &measure, &Silent, &domain);
            let all = sums.domain();
            let fnn = Fnn::new(network, &ComputeDevice::flex());
            let truth = truth(&fnn, &domain, &sums);
            let fair = truth.iter().filter(|(_, is_fair)| *is_fair).count() as u128;
            let counted = decider.decide(&all, &mut Counter::default()).ok();
            (counted, fair, points_of(&all))
        };
        let (counted, fair, points) = whole(&network.without(protected, rows));
        let counted = counted.unwrap();
        assert_eq!((counted.fair, counted.points), (points, points));
        assert_eq!(fair, points, "{number}");
        // Of two attributes the other one still counts.
        let (counted, fair, points) = whole(&network.without(&protected[1..], rows));
        assert!(
            counted.is_none_or(|counted| counted.fair <= fair),
            "{number}"
        );
        assert!(fair <= points);
    }
}
