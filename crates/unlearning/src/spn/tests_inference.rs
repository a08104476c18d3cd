//! Tests of inference against enumeration on random small networks.

use rand::RngExt;

use super::tests::{data, generator, parameters};
use super::*;

/// Returns every full row over the values of discrete variables.
fn rows(network: &Network) -> Vec<Vec<Option<f64>>> {
    let mut rows = vec![Vec::new()];
    for variable in network.variables() {
        let (min, _) = variable.range();
        let values = variable.values().unwrap();
        rows = rows
            .into_iter()
            .flat_map(|row: Vec<Option<f64>>| {
                (0..values).map(move |value| {
                    let mut row = row.clone();
                    row.push(Some(min + f64::from(value)));
                    row
                })
            })
            .collect();
    }
    rows
}

fn agrees(row: &[Option<f64>], evidence: &[Option<f64>]) -> bool {
    row.iter().zip(evidence).all(|(a, b)| b.is_none() || a == b)
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-9, "{a} {b}");
}

/// Returns a network of 1 to 5 discrete variables without Poisson leaves, whose support has no end.
fn discrete(case: u64) -> (Network, rand_xoshiro::Xoshiro256PlusPlus) {
    let mut draws = generator(case);
    let width = draws.random_range(1..6);
    let data = data(&mut draws, 60, width, &[0, 1, 3]);
    let mut parameters = parameters(&mut draws, 60);
    parameters.smoothing += 0.01;
    parameters.min_rows = parameters.min_rows.min(10);
    (Spn::learn(parameters, data).unwrap().network(), draws)
}

#[test]
fn likelihoods_marginals_and_conditionals_are_those_of_enumeration() {
    let mut mixtures = 0;
    for case in 0..400 {
        let (network, mut draws) = discrete(case);
        mixtures += usize::from(network.shape().sums > 0);
        let rows: Vec<_> = rows(&network);
        if rows.len() > 20_000 {
            continue;
        }
        let masses: Vec<f64> = network
            .log_densities(&rows)
            .iter()
            .map(|l| l.exp())
            .collect();
        close(masses.iter().sum(), 1.0);
        let mass = |evidence: &[Option<f64>]| -> f64 {
            let pairs = rows.iter().zip(&masses);
            pairs
                .filter(|(row, _)| agrees(row, evidence))
                .map(|(_, m)| m)
                .sum()
        };
        for _ in 0..5 {
            let full = &rows[draws.random_range(0..rows.len())];
            let some = |draws: &mut rand_xoshiro::Xoshiro256PlusPlus| -> Vec<Option<f64>> {
                let known = full
                    .iter()
                    .map(|value| value.filter(|_| draws.random::<bool>()));
                known.collect()
            };
            let (evidence, query) = (some(&mut draws), some(&mut draws));
            close(network.log_density(&evidence).exp(), mass(&evidence));
            let both: Vec<Option<f64>> =
                evidence.iter().zip(&query).map(|(a, b)| a.or(*b)).collect();
            let conditional = network.log_conditional(&query, &evidence).unwrap();
            close(conditional.exp(), mass(&both) / mass(&evidence));
            for (target, variable) in network.variables().iter().enumerate() {
                if let Domain::Categorical { .. } = variable.domain() {
                    let mut others = evidence.clone();
                    others[target] = None;
                    for (level, share) in network
                        .posterior(target, &others)
                        .unwrap()
                        .iter()
                        .enumerate()
                    {
                        let mut with = others.clone();
                        with[target] = Some(level as f64);
                        close(*share, mass(&with) / mass(&others));
                    }
                }
            }
            // Max-product gives a row that agrees, and never more than the best there is.
            let found = network.explain(&evidence).unwrap();
            let row: Vec<Option<f64>> = found.row.iter().copied().map(Some).collect();
            assert!(agrees(&row, &evidence));
            close(found.log_density, network.log_density(&row));
            let agreeing = rows
                .iter()
                .zip(&masses)
                .filter(|(row, _)| agrees(row, &evidence));
            let best = agreeing.map(|(_, m)| *m).fold(0.0, f64::max);
            assert!(found.log_density.exp() <= best + 1e-12);
            if network.shape().sums == 0 {
                close(found.log_density.exp(), best);
            }
        }
    }
    assert!(mixtures > 100, "{mixtures}");
}

#[test]
fn samples_follow_the_conditional_distribution() {
    // 20,000 draws of a probability p: the standard error is at most 0.0036; six of them bound the
    // error probability of one comparison by 2e-9.
    for case in [3, 11, 19] {
        let (network, _) = discrete(case);
        let mut evidence = vec![None; network.variables().len()];
        let width = evidence.len();
        if width > 1 {
            evidence[width - 1] = Some(network.variables()[width - 1].range().0);
        }
        let mut counts = std::collections::HashMap::new();
        for item in 0..20_000 {
            let row = network.sample(&evidence, 7, item).unwrap();
            assert!(agrees(
                &row.iter().copied().map(Some).collect::<Vec<_>>(),
                &evidence
            ));
            *counts.entry(row[0] as i64).or_insert(0) += 1;
        }
        for (value, count) in counts {
            let mut query = vec![None; width];
            query[0] = Some(value as f64);
            let expected = network.log_conditional(&query, &evidence).unwrap().exp();
            let share = f64::from(count) / 20_000.0;
            assert!((share - expected).abs() < 0.0216, "{share} {expected}");
        }
    }
}

#[test]
fn densities_of_real_and_unbounded_variables_integrate_to_one() {
    for case in 0..60 {
        let mut draws = generator(1000 + case);
        let kind = draws.random_range(2..6);
        let data = data(&mut draws, 40, 1, &[kind]);
        let parameters = parameters(&mut draws, 40);
        let network = Spn::learn(parameters, data).unwrap().network();
        let variable = &network.variables()[0];
        let (min, range) = variable.range();
        let density = |value: f64| network.log_density(&[Some(value)]).exp();
        let total: f64 = match variable.domain() {
            Domain::Real { .. } => {
                let step = range / 40_000.0;
                let cells = -160_000..200_000;
                cells
                    .map(|at| density(min + step * (f64::from(at) + 0.5)) * step)
                    .sum()
            }
            _ => (0..400).map(|at| density(min + f64::from(at))).sum(),
        };
        assert!((total - 1.0).abs() < 2e-3, "{total}");
        assert!(density(network.explain(&[None]).unwrap().row[0]) > 0.0);
    }
}

/// The mixture of a network's induced trees is the network, whatever is summed out.
#[test]
fn components_add_up_to_the_network() {
    let (mut several, mut left_out) = (0, 0);
    for case in 0..300 {
        let (network, mut draws) = discrete(case);
        let rows: Vec<_> = rows(&network);
        if rows.len() > 2_000 {
            continue;
        }
        let is_asked: Vec<bool> = network.variables().iter().map(|_| draws.random()).collect();
        let cells = network
            .variables()
            .iter()
            .zip(&is_asked)
            .map(|(variable, is_asked)| {
                let (min, _) = variable.range();
                let values = 0..variable.values().unwrap();
                let cell = |value: u32| {
                    let value = min + f64::from(value);
                    [value - 0.5, value + 0.5]
                };
                is_asked.then(|| values.map(cell).collect::<Vec<_>>())
            });
        let cells: Vec<_> = cells.collect();
        let components = network.mixture(&cells, 100_000).unwrap();
        several += usize::from(components.len() > 1);
        left_out += usize::from(is_asked.contains(&false));
        let most = components.len() - 1;
        assert_eq!(network.mixture(&cells, most), Err(most as u128 + 1));
        for row in rows {
            let asked = row.iter().zip(&is_asked);
            let evidence: Vec<_> = asked.map(|(value, is)| value.filter(|_| *is)).collect();
            let (mut low, mut high) = (0.0, 0.0);
            for component in &components {
                let [mut least, mut most] = component.weight;
                for (place, value) in evidence.iter().enumerate() {
                    if let (Some(value), Some(masses)) = (value, &component.masses[place]) {
                        let (min, _) = network.variables()[place].range();
                        let [a, b] = masses[(value - min) as usize];
                        (least, most) = (least * a, most * b);
                    }
                }
                (low, high) = (low + least, high + most);
            }
            let exact = network.log_density(&evidence).exp();
            assert!(low <= exact * (1.0 + 1e-13) && exact <= high * (1.0 + 1e-13));
            assert!(high - low <= 1e-9 * high, "{low} {high}");
        }
    }
    assert!(several > 20 && left_out > 20, "{several} {left_out}");
}

/// The bounds of probabilities of ranges hold the figures computed to 40 digits.
#[test]
fn probabilities_of_ranges_lie_within_their_bounds() {
    use super::leaves::Distribution;
    let gaussian = Distribution::Gaussian {
        mean: 1.5,
        deviation: 2.5,
    };
    let poisson = |rate| Distribution::Poisson { min: 10.0, rate };
    let histogram = |whole| Distribution::Histogram {
        whole,
        edges: vec![0.0, 4.0, 5.0],
        log_mass: vec![0.25f64.ln(), 0.75f64.ln()],
    };
    for (distribution, range, exact) in [
        (gaussian.clone(), [1.0, 2.0], 0.15851941887820605),
        (gaussian.clone(), [-0.5, 0.5], 0.13272285980627915),
        (gaussian.clone(), [9.5, 10.5], 0.000_528_029_347_758_314_6),
        (gaussian.clone(), [-12.0, -11.0], 2.5333112339376534e-7),
        (gaussian.clone(), [20.5, 21.5], 1.4184441432620869e-14),
        (gaussian.clone(), [-100.0, 100.0], 1.0),
        (poisson(3.5), [9.5, 12.5], 0.320_847_198_862_134_1),
        (poisson(3.5), [13.5, 14.5], 0.18881228540881958),
        (poisson(900.0), [859.5, 860.5], 0.0033226155724320596),
        (poisson(0.0), [9.5, 10.5], 1.0),
        (histogram(true), [1.0, 4.5], 0.9375),
        (histogram(true), [1.5, 2.5], 0.0625),
        (histogram(false), [1.0, 4.5], 0.5625),
        (histogram(false), [-3.0, 1.0], 0.0625),
        (histogram(false), [5.0, 7.0], 0.0),
    ] {
        let [low, high] = distribution.probability(range);
        assert!(
            low <= exact && exact <= high,
            "{distribution:?} {range:?}: {low} {high}"
        );
        assert!(
            high - low < 1e-8 * exact + 1e-13,
            "{distribution:?} {range:?}: {low} {high}"
        );
    }
}

/// A value on an edge is counted in the bin that begins with it, and asked about there.
#[test]
fn values_on_the_edges_of_a_histogram_have_the_mass_that_they_were_counted_in() {
    use super::leaves::LeafRule;
    let edges = [
        vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0],
        vec![17.0, 25.0, 35.0, 45.0, 55.0, 65.0, 90.0],
        vec![0.0, 0.1, 0.2, 0.3, 0.7],
        vec![-1e9, 3.0, 1e5 + 0.1, 2e9],
        (0..=37).map(|at| f64::from(at) * 1000.0 / 3.0).collect(),
    ];
    for edges in edges {
        let domain = Domain::Real {
            edges: edges.clone(),
        };
        let variable = Variable::new("x".into(), domain, LeafFamily::Histogram).unwrap();
        let rule = LeafRule::new(&variable, 10);
        let mut statistics = rule.empty();
        let bins = edges.len() - 1;
        for (at, &edge) in edges[..bins].iter().enumerate() {
            for _ in 0..=at {
                rule.add(&mut statistics, variable.fixed(edge).unwrap());
            }
        }
        let distribution = rule.distribution(&statistics, &variable, 0.0);
        for (at, edge) in edges.windows(2).enumerate() {
            let mass = 2.0 * (at + 1) as f64 / (bins * (bins + 1)) as f64;
            let density = distribution.log_density(edge[0]).exp();
            close(density * (edge[1] - edge[0]), mass);
            let [low, high] = distribution.probability([edge[0], edge[1]]);
            assert!(low <= mass && mass <= high, "{low} {mass} {high}");
        }
    }
}
