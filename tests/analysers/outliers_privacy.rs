//! A falsifier: tries to show that an answer gives away more than (ε, δ), on neighbouring databases
//! made for that.
//!
//! 10⁶ answers on each of two neighbours. The first half chooses the event T that looks worst; the
//! second half bounds P(T) − e^ε P′(T) from below. By Hoeffding's inequality a share of n samples
//! is off by more than √(ln(1/η) / 2n) on one side with probability at most η; with η = 10⁻⁹ for
//! each of the two shares, a private mechanism is accused with probability at most 2 · 10⁻⁹ a pair.

use probity::privacy::calibration::{Calibration, Guarantee, Noise};
use probity::privacy::count::{CountOptions, CountPlan, Outliers, Sensitivity};
use probity::privacy::interval::private_upper_bound;
use probity::privacy::noise::SeededBits;
use probity::privacy::noise::normal::rounded_sum;
use probity::privacy::records::Records;
use probity::privacy::subspaces::{Choice, SubspacePlan};

const SAMPLES: usize = 1_000_000;
const FAILURE: f64 = 1e-9;

/// A lower bound on sup over T of P(T) − e^ε P′(T), with confidence 1 − 2 · 10⁻⁹.
fn privacy_loss_at_least(first: &[i64], second: &[i64], epsilon: f64) -> f64 {
    let half = first.len() / 2;
    let event = worst_event(&first[..half], &second[..half], epsilon);
    let share = |samples: &[i64]| {
        let hits = samples
            .iter()
            .filter(|&&sample| event.holds(sample))
            .count();
        hits as f64 / samples.len() as f64
    };
    let off = ((1.0 / FAILURE).ln() / (2.0 * (first.len() - half) as f64)).sqrt();
    share(&first[half..]) - off - epsilon.exp() * (share(&second[half..]) + off)
}

#[derive(Clone, Copy)]
enum Event {
    AtLeast(i64),
    AtMost(i64),
    Within(i64, i64),
    Outside(i64, i64),
}

impl Event {
    fn holds(self, value: i64) -> bool {
        match self {
            Event::AtLeast(edge) => value >= edge,
            Event::AtMost(edge) => value <= edge,
            Event::Within(low, high) => (low..=high).contains(&value),
            Event::Outside(low, high) => !(low..=high).contains(&value),
        }
    }
}

fn worst_event(first: &[i64], second: &[i64], epsilon: f64) -> Event {
    let (mut first, mut second) = (first.to_vec(), second.to_vec());
    first.sort_unstable();
    second.sort_unstable();
    let quantile = |share: f64| first[((first.len() - 1) as f64 * share) as usize];
    let mut edges: Vec<i64> = (0..=400)
        .map(|at| quantile(f64::from(at) / 400.0))
        .collect();
    edges.dedup();
    let mut events = Vec::new();
    for (at, &edge) in edges.iter().enumerate() {
        events.push(Event::AtLeast(edge));
        events.push(Event::AtMost(edge));
        let mirrored = edges[edges.len() - 1 - at];
        if edge <= mirrored {
            events.push(Event::Within(edge, mirrored));
            events.push(Event::Outside(edge, mirrored));
        }
    }
    let below = |sorted: &[i64], edge: i64| sorted.partition_point(|&value| value < edge) as f64;
    let hits = |sorted: &[i64], event: Event| match event {
        Event::AtLeast(edge) => sorted.len() as f64 - below(sorted, edge),
        Event::AtMost(edge) => below(sorted, edge + 1),
        Event::Within(low, high) => below(sorted, high + 1) - below(sorted, low),
        Event::Outside(low, high) => {
            sorted.len() as f64 - below(sorted, high + 1) + below(sorted, low)
        }
    };
    let loss = |event: Event| hits(&first, event) - epsilon.exp() * hits(&second, event);
    events
        .into_iter()
        .max_by(|&a, &b| loss(a).total_cmp(&loss(b)))
        .unwrap_or(Event::AtLeast(0))
}

/// Neighbours that differ in record 0, and what an outlier is.
struct Pair {
    name: &'static str,
    records: [Records; 2],
    outliers: Outliers,
}

const R: f64 = 1000.0;

fn pair(name: &'static str, columns: usize, k: usize, records: [Vec<f64>; 2]) -> Pair {
    Pair {
        name,
        records: records.map(|values| Records::from_grid(values, columns).unwrap()),
        outliers: Outliers {
            k,
            squared_radius: R * R,
        },
    }
}

/// A record between groups of k that need it: its departure makes outliers of all of them and of
/// itself. This is the global sensitivity where the directions are those of the kissing number.
/// `crowd` records far away are inliers.
fn hub(name: &'static str, k: usize, directions: &[Vec<f64>], crowd: usize) -> Pair {
    let columns = directions[0].len();
    let centre = vec![5000.0; columns];
    let mut rest: Vec<f64> = Vec::new();
    for direction in directions {
        for _ in 0..k {
            rest.extend(
                direction
                    .iter()
                    .zip(&centre)
                    .map(|(d, c)| (c + d * R).round()),
            );
        }
    }
    rest.extend(vec![100_000.0; crowd * columns]);
    let moved = vec![200_000.0; columns];
    pair(
        name,
        columns,
        k,
        [[centre, rest.clone()].concat(), [moved, rest].concat()],
    )
}

fn pairs() -> Vec<Pair> {
    let angle = |at: f64| vec![0.999 * at.cos(), 0.999 * at.sin()];
    let pentagon: Vec<Vec<f64>> = (0..5).map(|at| angle(f64::from(at) * 1.256)).collect();
    let mut axes = Vec::new();
    for column in 0..3 {
        for sign in [-1.0, 1.0] {
            let mut direction = vec![0.0; 3];
            direction[column] = sign;
            axes.push(direction);
        }
    }
    // Records on a line, two apart from being outliers: the departure of one changes the smooth
    // bound, too.
    let chain = |first: f64| -> Vec<f64> {
        [first]
            .into_iter()
            .chain((1..12).map(|at| f64::from(at) * 700.0))
            .collect()
    };
    vec![
        hub("line, k = 1", 1, &[vec![-1.0], vec![1.0]], 9),
        hub("line, k = 3", 3, &[vec![-1.0], vec![1.0]], 20),
        hub("pentagon", 2, &pentagon, 12),
        hub("octahedron", 1, &axes, 6),
        pair("chain", 1, 2, [chain(0.0), chain(90_000.0)]),
        pair("chain, inside", 1, 3, [chain(3500.0), chain(90_000.0)]),
    ]
}

fn plans(pair: &Pair, guarantee: Guarantee) -> Vec<(&'static str, CountPlan)> {
    let smooth = CountOptions::default().sensitivity(Sensitivity::Smooth);
    let options = [
        (
            "inverse",
            CountOptions::default().sensitivity(Sensitivity::Inverse),
        ),
        ("tight", smooth),
        ("theorem", smooth.calibration(Calibration::Theorem)),
        (
            "global",
            CountOptions::default().sensitivity(Sensitivity::Global),
        ),
        ("interval", smooth.interval_share(0.2)),
    ];
    options
        .into_iter()
        .map(|(name, options)| {
            let (rows, columns) = (pair.records[0].rows(), pair.records[0].columns());
            (
                name,
                CountPlan::new(pair.outliers, guarantee, options, rows, columns).unwrap(),
            )
        })
        .collect()
}

/// Answers on the two neighbours, with the noise as it is or scaled.
fn answers(plan: &CountPlan, pair: &Pair, noise_share: f64) -> [Vec<i64>; 2] {
    [0, 1].map(|which| {
        let measured = plan.measure(&pair.records[which]).unwrap();
        let mut bits = SeededBits::not_private(77, which as u64);
        let deviation = plan.standard_deviation(&measured) * noise_share;
        (0..SAMPLES)
            .map(|_| {
                if noise_share == 1.0 {
                    plan.release(&measured, &mut bits).unwrap().count
                } else {
                    rounded_sum(measured.count, deviation, &mut bits).unwrap()
                }
            })
            .collect()
    })
}

#[test]
fn no_count_is_falsified() {
    let guarantee = Guarantee::new(0.5, 0.01).unwrap();
    for (at, pair) in pairs().into_iter().enumerate() {
        // Every calibration on the sharpest pair, the default ones on all.
        let plans = plans(&pair, guarantee).into_iter();
        for (name, plan) in plans.take(if at == 0 { 5 } else { 2 }) {
            let [first, second] = answers(&plan, &pair, 1.0);
            for (first, second) in [(&first, &second), (&second, &first)] {
                let loss = privacy_loss_at_least(first, second, guarantee.epsilon);
                assert!(loss <= guarantee.delta, "{}, {name}: {loss}", pair.name);
            }
        }
    }
}

/// The test of the test: half the noise is caught.
#[test]
fn half_the_noise_is_caught() {
    let guarantee = Guarantee::new(0.5, 0.01).unwrap();
    let pair = &pairs()[0];
    for (name, plan) in plans(pair, guarantee) {
        // The theorem's constants are so large that half the noise is still private; normal noise
        // is not that of the inverse sensitivity mechanism.
        if name != "theorem" && name != "inverse" {
            let [first, second] = answers(&plan, pair, 0.5);
            let caught = privacy_loss_at_least(&first, &second, guarantee.epsilon)
                .max(privacy_loss_at_least(&second, &first, guarantee.epsilon));
            assert!(
                caught > guarantee.delta,
                "{}, {name}: only {caught}",
                pair.name
            );
        }
    }
}

/// Counts of two subspaces on neighbours: one rises and one falls by the global sensitivity 3.
fn choices(epsilon: f64) -> [Vec<i64>; 2] {
    let choice = Choice {
        dimensions: 1,
        top: 1,
        epsilon,
    };
    let outliers = Outliers {
        k: 1,
        squared_radius: R * R,
    };
    let plan = SubspacePlan::new(choice, None, outliers, 100, 2).unwrap();
    [[0, 12], [3, 9]].map(|counts| {
        let mut bits = SeededBits::not_private(78, counts[0] as u64);
        (0..SAMPLES)
            .map(|_| plan.choose(&counts, &mut bits).unwrap()[0] as i64)
            .collect()
    })
}

#[test]
fn no_choice_is_falsified_and_twice_the_epsilon_is() {
    for epsilon in [0.5, 1.0] {
        let [first, second] = choices(epsilon);
        for (first, second) in [(&first, &second), (&second, &first)] {
            assert!(privacy_loss_at_least(first, second, epsilon) <= 0.0);
        }
        // exp(ε u), as the algorithm is printed, costs 2 ε.
        let [first, second] = choices(2.0 * epsilon);
        let caught = privacy_loss_at_least(&first, &second, epsilon)
            .max(privacy_loss_at_least(&second, &first, epsilon));
        assert!(caught > 0.0, "{epsilon}: only {caught}");
    }
}

#[test]
fn no_bound_on_the_noise_is_falsified_and_twice_the_epsilon_is() {
    let noise = Noise {
        beta: 0.1,
        scale: 5.0,
    };
    let epsilon = 0.4;
    let bounds = |epsilon: f64| {
        [8.0, 8.0 * 0.1_f64.exp()].map(|smooth| {
            let mut bits = SeededBits::not_private(79, 0);
            (0..SAMPLES)
                .map(|_| {
                    let bound = private_upper_bound(smooth, 1e30, noise, epsilon, 0.05, &mut bits);
                    (bound.unwrap().ln() * 1e4).round() as i64
                })
                .collect::<Vec<i64>>()
        })
    };
    let [first, second] = bounds(epsilon);
    for (first, second) in [(&first, &second), (&second, &first)] {
        assert!(privacy_loss_at_least(first, second, epsilon) <= 0.0);
    }
    let [first, second] = bounds(2.0 * epsilon);
    let caught = privacy_loss_at_least(&first, &second, epsilon)
        .max(privacy_loss_at_least(&second, &first, epsilon));
    assert!(caught > 0.0, "only {caught}");
}
