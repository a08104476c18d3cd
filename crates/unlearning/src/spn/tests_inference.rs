//! Inference against enumeration on random small networks.

use rand::RngExt;

use super::tests::{data, generator, parameters};
use super::*;

/// Every full row over the values of discrete variables.
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

/// A network of 1 to 5 discrete variables without Poisson leaves, whose support has no end.
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
