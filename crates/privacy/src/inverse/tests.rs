//! Tests of the mechanism against its definition: every pair of neighbours of small universes, and
//! its sampler.

use super::*;
use crate::count::{CountOptions, CountPlan, Outliers, Scale, Sensitivity};
use crate::noise::SeededBits;
use crate::noise::tests::follows;
use crate::records::Records;
use crate::sensitivity::Bound;

impl InverseNoise {
    /// Returns the places where the density changes, in parts of a record from the count of 0, and
    /// its value from there on.
    fn density(&self, count: i64, steps: &Steps) -> Vec<(i64, f64)> {
        let middle = count * PARTS as i64;
        let mut factor = 1.0;
        let (mut inside, mut mass) = (0, 0.0);
        let mut sides = Vec::new();
        for &width in &steps.0[..self.cells] {
            sides.push((inside, factor));
            inside += width as i64;
            mass += 2.0 * factor * width as f64;
            factor *= self.x();
        }
        sides.push((inside, 0.0));
        let below = sides.iter().enumerate().skip(1).rev();
        let below = below.map(|(at, (from, _))| (middle - from, sides[at - 1].1 / mass));
        let above = sides
            .iter()
            .skip(1)
            .map(|(from, value)| (middle + from, value / mass));
        below.chain(above).collect()
    }
}

/// Computes sup over T of P(T) − e^ε Q(T) of two densities.
fn loss(one: &[(i64, f64)], other: &[(i64, f64)], epsilon: f64) -> f64 {
    let mut edges: Vec<i64> = one.iter().chain(other).map(|&(from, _)| from).collect();
    edges.sort_unstable();
    let at = |density: &[(i64, f64)], place: i64| {
        let piece = density.partition_point(|&(from, _)| from <= place);
        piece.checked_sub(1).map_or(0.0, |piece| density[piece].1)
    };
    let pieces = edges.windows(2).map(|pair| {
        let excess = at(one, pair[0]) - epsilon.exp() * at(other, pair[0]);
        excess.max(0.0) * (pair[1] - pair[0]) as f64
    });
    pieces.sum()
}

/// Returns all databases of `rows` records over `cells`, as places of cells.
fn databases(cells: usize, rows: usize) -> Vec<Vec<usize>> {
    (0..rows).fold(vec![Vec::new()], |shorter, _| {
        let longer = shorter.into_iter().flat_map(|database: Vec<usize>| {
            let from = database.last().copied().unwrap_or(0);
            (from..cells).map(move |cell| [database.clone(), vec![cell]].concat())
        });
        longer.collect()
    })
}

/// Returns the largest loss over all pairs of neighbours, with the steps as wide as they are or in
/// part.
fn largest_loss(
    cells: &[Vec<f64>],
    (rows, k, squared_radius): (usize, usize, f64),
    (guarantee, bound): (Guarantee, Bound),
    share: f64,
) -> f64 {
    let dimension = cells[0].len();
    let outliers = Outliers { k, squared_radius };
    let options = CountOptions::default()
        .sensitivity(Sensitivity::Inverse)
        .bound(bound);
    let plan = CountPlan::new(outliers, guarantee, options, rows, dimension).unwrap();
    let noise = plan.inverse().unwrap();
    let all = databases(cells.len(), rows);
    let index: std::collections::HashMap<&Vec<usize>, usize> =
        all.iter().enumerate().map(|(at, it)| (it, at)).collect();
    let densities: Vec<_> = all
        .iter()
        .map(|database| {
            let values = database.iter().flat_map(|&cell| cells[cell].clone());
            let records = Records::from_grid(values.collect(), dimension).unwrap();
            let measured = plan.measure(&records).unwrap();
            let Scale::Steps(steps) = measured.scale else {
                unreachable!("the plan is of the inverse sensitivity mechanism");
            };
            let parts = steps.0.iter().map(|&width| (width as f64 * share) as u64);
            noise.density(measured.count, &Steps(parts.collect()))
        })
        .collect();
    let mut largest = 0.0_f64;
    for database in &all {
        for at in 0..rows {
            for cell in 0..cells.len() {
                let mut neighbour = database.clone();
                neighbour[at] = cell;
                neighbour.sort_unstable();
                let (one, other) = (index[database], index[&neighbour]);
                let found = loss(&densities[one], &densities[other], guarantee.epsilon);
                largest = largest.max(found);
            }
        }
    }
    largest
}

/// All neighbours have (ε, δ), by integrating the two densities; and half as wide steps are caught.
#[test]
fn all_neighbours_of_small_universes_are_protected() {
    let line: Vec<Vec<f64>> = (0..7).map(|cell| vec![f64::from(cell)]).collect();
    let plane: Vec<Vec<f64>> = (0..9_u32)
        .map(|cell| vec![f64::from(cell % 3), f64::from(cell / 3)])
        .collect();
    let cube: Vec<Vec<f64>> = (0..8_u32)
        .map(|cell| (0..3).map(|bit| f64::from((cell >> bit) & 1)).collect())
        .collect();
    for (epsilon, delta) in [(0.7, 0.01), (0.3, 0.05), (2.0, 1e-4)] {
        let guarantee = Guarantee::new(epsilon, delta).unwrap();
        let mut caught = 0.0_f64;
        for (cells, rows) in [(&line, 5), (&plane, 4), (&cube, 4)] {
            for k in [1, 2, 3] {
                for bound in [Bound::Auto, Bound::Cover] {
                    let universe = (rows, k, 1.0);
                    let found = largest_loss(cells, universe, (guarantee, bound), 1.0);
                    assert!(found <= delta, "{epsilon} {delta} k {k} {bound:?}: {found}");
                    let half = largest_loss(cells, universe, (guarantee, bound), 0.5);
                    caught = caught.max(half);
                }
            }
        }
        assert!(caught > delta, "{epsilon} {delta}: only {caught}");
    }
}

#[test]
fn the_conditions_hold_for_the_numbers_that_are_used() {
    for epsilon in [1e-3, 0.1, 0.7, 3.0, 20.0] {
        for delta in [1e-12, 1e-6, 0.01, 0.3] {
            for cap in [3, 16, 403, 1_000_000] {
                let guarantee = Guarantee::new(epsilon, delta).unwrap();
                let Ok(noise) = InverseNoise::new(guarantee, cap) else {
                    assert!(!(0.01..=10.0).contains(&epsilon), "{epsilon} {delta} {cap}");
                    continue;
                };
                let (q, x) = (noise.q(), noise.x());
                assert!(x * q >= (-epsilon).exp() && q < 1.0 && x < q);
                let mass: f64 = (0..noise.cells).map(|t| (x / q).powi(t as i32)).sum();
                let filled = (1.0 - q.powi(noise.cells as i32)).max(0.5);
                assert!(filled * (x / q).powi(noise.cells as i32 - 1) <= delta * mass);
                let expected = noise.standard_deviation(&noise.expected());
                let (least, most) = (
                    noise.standard_deviation_at_least(),
                    noise.standard_deviation_at_most(),
                );
                assert!(
                    least <= expected && expected <= most,
                    "{least} {expected} {most}"
                );
            }
        }
    }
}

#[test]
fn draws_have_the_distribution_that_is_proved_private() {
    let guarantee = Guarantee::new(0.7, 0.01).unwrap();
    let noise = InverseNoise::new(guarantee, 5).unwrap();
    let steps = noise.steps(&[1, 2, 4, 5, 5]);
    let density = noise.density(3, &steps);
    let (low, high) = (-12, 18);
    let probability = |from: i64, to: i64| -> f64 {
        let parts = PARTS as i64;
        // An answer of y is what is within a half of y.
        let (from, to) = (from * parts - parts / 2, to * parts + parts / 2);
        let ends = density.iter().skip(1).map(|&(end, _)| end);
        let pieces = density.iter().zip(ends.chain([i64::MAX]));
        pieces
            .map(|(&(start, value), end)| (end.min(to) - start.max(from)).max(0) as f64 * value)
            .sum()
    };
    let mut probabilities: Vec<f64> = (low..=high).map(|y| probability(y, y)).collect();
    probabilities[0] = probability(-100_000, low);
    *probabilities.last_mut().unwrap() = probability(high, 100_000);
    assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    let mut observed = vec![0; probabilities.len()];
    let mut bits = SeededBits::not_private(41, 0);
    let mut square = 0.0;
    let runs = 100_000;
    for _ in 0..runs {
        let drawn = noise.draw(3, &steps, &mut bits).unwrap();
        observed[(drawn.clamp(low, high) - low) as usize] += 1;
        square += (drawn - 3).pow(2) as f64;
    }
    follows(&observed, &probabilities);
    let deviation = (square / f64::from(runs)).sqrt();
    assert!(
        (deviation / noise.standard_deviation(&steps) - 1.0).abs() < 0.02,
        "{deviation}"
    );
}

/// Every standard deviation is within the public bounds, whatever the A_t.
#[test]
fn every_standard_deviation_is_within_the_public_bounds() {
    let noise = InverseNoise::new(Guarantee::new(0.5, 0.01).unwrap(), 40).unwrap();
    let (least, most) = (
        noise.standard_deviation_at_least(),
        noise.standard_deviation_at_most(),
    );
    for held in 0..45 {
        for jump in 0..noise.last as u64 {
            for after in [held, 45] {
                let bounds: Vec<u64> = (0..=noise.last as u64)
                    .map(|t| t + 1 + if t < jump { held } else { after })
                    .collect();
                let found = noise.standard_deviation(&noise.steps(&bounds));
                assert!(least <= found && found <= most, "{held} {jump}: {found}");
            }
        }
    }
}
