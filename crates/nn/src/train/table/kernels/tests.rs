//! The kernels compared with burn's autodiff, with finite differences of plain loops in 64 bits,
//! and with themselves on other threads and registers.

mod plain;

use pulp::WithSimd;
use rand::RngExt;

use super::parts::{OuterPass, Source};
use super::shard::{Shard, ShardPass};
use super::*;
use crate::encoding::{Encoding, InputLayout};
use crate::lanes::{LANES, Row, on_every_level};
use crate::train::course::Course;
use crate::train::options::ClassWeights;
use crate::train::table::goal::{Goal, Targets};
use crate::train::table::loss::Worst;
use crate::train::table::parameters::flat;
use crate::train::table::tensors::Tensors;
use probity_data::builtin;
use probity_data::table::Table;
use probity_run::stream::{Purpose, stream};
use probity_tensor::device::ComputeDevice;

/// The number of rows of a batch: two full shards and one that is not.
const ROWS: usize = 150;

/// A network, its goal, and the rows that it learns from.
#[derive(Debug, Clone)]
struct Case {
    hidden: Vec<usize>,
    classes: usize,
    activation: Activation,
    learns_numbers: bool,
    dropout: f32,
    /// The κ and the radius of the worst case.
    worst: Option<(f32, f32)>,
}

impl Case {
    fn all() -> Vec<Case> {
        let case = Case {
            hidden: vec![19, 40, 5],
            classes: 3,
            activation: Activation::Tanh,
            learns_numbers: false,
            dropout: 0.0,
            worst: None,
        };
        let with = |change: &dyn Fn(&mut Case)| {
            let mut case = case.clone();
            change(&mut case);
            case
        };
        let mut all = vec![
            with(&|_| {}),
            with(&|case| case.activation = Activation::Relu),
            with(&|case| (case.activation, case.classes) = (Activation::Sigmoid, 2)),
            with(&|case| case.dropout = 0.3),
            with(&|case| case.hidden = vec![]),
            with(&|case| (case.learns_numbers, case.classes) = (true, 2)),
        ];
        let certified = all.clone().into_iter().filter(|case| case.dropout == 0.0);
        let certified: Vec<Case> = certified
            .map(|case| Case {
                worst: Some((0.6, 0.7)),
                ..case
            })
            .collect();
        all.extend(certified);
        all
    }

    /// Has `run` work on the loss of a batch, with the network's parameters.
    fn run<R>(&self, run: impl FnOnce(&Loss<'_>, &[f32], &Batch<'_>) -> R) -> R {
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
        let network = Network::random(layout, &self.hidden, self.classes, self.activation, 4);
        let (mut codes, mut labels, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
        for item in 0..ROWS as u64 {
            let mut stream = stream(8, Purpose::UniformInput, item, 0);
            for attribute in &schema.attributes {
                let (min, max) = attribute.domain();
                codes.push(stream.random_range(min..=max));
            }
            labels.push(stream.random_range(0..self.classes as u32));
            numbers.push(f64::from(stream.random_range(-3.0f32..9.0)));
        }
        let mut table = Table::new(schema.attributes.len(), codes, labels);
        if self.learns_numbers {
            table = table.with_targets(numbers);
        }
        let rows: Vec<u32> = (0..ROWS as u32).rev().collect();
        let row_weights: Vec<f32> = (0..ROWS).map(|row| 0.5 + (row % 7) as f32).collect();
        let weights = ClassWeights::Balanced;
        let goal = Goal::new((&table, &rows), (&weights, self.classes)).unwrap();
        let network = goal.learning(network);
        let worst_case = TableWorstCase {
            protected: vec![0, 1, 2],
            course: Course::default(),
        };
        let loss = Loss {
            table: &table,
            goal,
            row_weights: Some(&row_weights),
            network,
            dropout: self.dropout,
            seed: 5,
            shard: 128,
        };
        let worst = self.worst.map(|(kappa, radius)| Worst {
            case: &worst_case,
            kappa,
            radius,
        });
        let batch = loss.batch(3, &rows, worst);
        run(&loss, &flat(&loss.network), &batch)
    }
}

/// Computes loss and gradient by the kernels.
fn by_kernels(loss: &Loss<'_>, values: &[f32], batch: &Batch<'_>) -> (f64, Vec<f32>) {
    let mut kernels = Kernels::new(&loss.network, batch.worst.map(|worst| worst.case));
    let mut gradient = vec![f32::NAN; values.len()];
    let total = kernels.gradients(loss, values, batch, &mut gradient);
    // What is left in a shard's memory has no part in the next step.
    let mut again = vec![f32::NAN; values.len()];
    assert_eq!(kernels.gradients(loss, values, batch, &mut again), total);
    assert_eq!(again, gradient);
    (total, gradient)
}

/// Returns the largest difference, in shares of the largest number.
fn difference(own: &[f32], other: impl Iterator<Item = f64>) -> f64 {
    let largest = own.iter().fold(0f32, |largest, g| largest.max(g.abs()));
    let worst = own
        .iter()
        .zip(other)
        .map(|(&own, other)| (f64::from(own) - other).abs());
    worst.fold(0.0, f64::max) / f64::from(largest)
}

#[test]
fn loss_and_gradients_are_those_of_autodiff() {
    for case in Case::all() {
        case.run(|loss, values, batch| {
            let (own, gradient) = by_kernels(loss, values, batch);
            let tensors = Tensors::on(&ComputeDevice::flex());
            let mut theirs = vec![0.0; values.len()];
            let total = tensors.gradients(loss, values, batch, &mut theirs).unwrap();
            assert!(
                (own - total).abs() < 1e-5 * total,
                "{case:?}: {own} {total}"
            );
            let apart = difference(&gradient, theirs.iter().map(|&g| f64::from(g)));
            assert!(apart < 2e-5, "{case:?}: {apart}");
        });
    }
}

#[test]
fn gradients_are_finite_differences_of_plain_loops() {
    for case in Case::all() {
        // Where the loss has kinks, differences over them are no derivatives.
        if case.activation == Activation::Relu {
            continue;
        }
        case.run(|loss, values, batch| {
            let (own, gradient) = by_kernels(loss, values, batch);
            let mut values: Vec<f64> = values.iter().map(|&value| f64::from(value)).collect();
            let total = plain::loss(loss, batch, &values);
            assert!(
                (own - total).abs() < 1e-5 * total,
                "{case:?}: {own} {total}"
            );
            let chosen: Vec<usize> = (0..values.len()).step_by(1 + values.len() / 97).collect();
            let numeric: Vec<f64> = chosen
                .iter()
                .map(|&place| {
                    let (value, step) = (values[place], 1e-6);
                    values[place] = value + step;
                    let up = plain::loss(loss, batch, &values);
                    values[place] = value - step;
                    let down = plain::loss(loss, batch, &values);
                    values[place] = value;
                    (up - down) / (2.0 * step)
                })
                .collect();
            let exact: Vec<f32> = chosen.iter().map(|&place| gradient[place]).collect();
            let apart = difference(&exact, numeric.into_iter());
            assert!(apart < 1e-4, "{case:?}: {apart}");
        });
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    for case in Case::all() {
        case.run(|loss, values, batch| {
            let alone = by_kernels(loss, values, batch);
            for threads in [1, 2, 5] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
                let pool = pool.build().unwrap();
                assert!(pool.install(|| by_kernels(loss, values, batch)) == alone);
            }
        });
    }
}

/// A task that makes a shard's whole pass, and the sums of its rows.
struct Whole<'a>(&'a Loss<'a>, &'a [f32], &'a Batch<'a>, &'a Kernels);

impl WithSimd for Whole<'_> {
    type Output = (f64, Vec<Vec<Row>>, Vec<f32>);

    fn with_simd<S: pulp::Simd>(self, simd: S) -> Self::Output {
        let Whole(loss, values, batch, kernels) = self;
        let kinds = (loss.dropout > 0.0, kernels.is_certified);
        let mut shard = Shard::new(&loss.network, &kernels.inputs, kinds);
        let weights = Weights::new(&loss.network, &kernels.inputs, values, batch);
        shard.fill(loss, &weights, &batch.rows[SHARD..2 * SHARD]);
        shard.set_masks(&masks(loss, batch), SHARD, loss.shard);
        let pass = ShardPass {
            weights: &weights,
            batch,
            first: SHARD,
            shard: &mut shard,
        };
        pass.with_simd(simd);
        let outputs = loss.network.layers[0].outputs;
        let numbers = kernels.inputs.numbers.len();
        let mut sums = vec![0.0; numbers * outputs];
        let source = Source {
            x: (&shard.numbers, numbers),
            lines: &shard.lines[0],
            count: shard.count,
        };
        let outer = OuterPass {
            sources: &[source],
            inputs: 0..numbers,
            outputs,
            sums: &mut sums,
        };
        outer.with_simd(simd);
        let lines = [shard.lines_of(&weights, 0, false).to_vec()];
        (
            shard.loss,
            shard.lines.into_iter().chain(lines).collect(),
            sums,
        )
    }
}

#[test]
fn registers_of_any_width_give_the_same_bits() {
    for case in Case::all() {
        case.run(|loss, values, batch| {
            let kernels = Kernels::new(&loss.network, batch.worst.map(|worst| worst.case));
            let all = on_every_level(|| Whole(loss, values, batch, &kernels));
            assert!(all.iter().all(|output| *output == all[0]), "{case:?}");
            assert_eq!(all[0].1[0].len() % LANES, 0);
        });
    }
}

#[test]
fn what_is_no_number_shows_in_the_loss() {
    Case::all()[0].run(|loss, values, batch| {
        for spoiled in [f32::NAN, f32::INFINITY, f32::MAX] {
            let mut values = values.to_vec();
            if let Some(last) = values.last_mut() {
                *last = spoiled;
            }
            let mut kernels = Kernels::new(&loss.network, None);
            let mut gradient = vec![0.0; values.len()];
            let total = kernels.gradients(loss, &values, batch, &mut gradient);
            assert!(
                total.is_finite() == (spoiled == f32::MAX),
                "{spoiled}: {total}"
            );
        }
    });
}
