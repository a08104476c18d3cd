//! The seeds of a clustering, drawn by a race on which rows that do not win leave no mark.

use rand::RngExt;

use super::space::Space;
use super::step::visit;
use crate::spn::variable::INDICATOR;
use probity_run::stream::{Purpose, stream};

/// Returns the squared distance of two rows.
fn gap(space: Space<'_>, a: u32, b: u32) -> i64 {
    let mut total = 0;
    for &variable in space.scope {
        let column = &space.geometry.coordinates[variable as usize];
        let (x, y) = (i64::from(column[a as usize]), i64::from(column[b as usize]));
        total += match space.geometry.indicators[variable as usize] {
            None => (x - y) * (x - y),
            Some(_) if x == y => 0,
            Some(_) => 2 * i64::from(INDICATOR).pow(2),
        };
    }
    total
}

/// Returns the squared distances of many rows from one, by a device, if one is asked.
fn gaps_on_device(space: Space<'_>, from: u32, positions: &[u32]) -> Option<Vec<i64>> {
    let terms = space.scope.len();
    space.data.proposer().device_for(terms * positions.len())?;
    let axes = space.geometry.axes(space.scope);
    let mut row = vec![0; axes[axes.len() - 1]];
    visit(space, &axes, from, |axis, value| row[axis] = value);
    space
        .distances_on_device(&axes, &row, positions, terms)?
        .pop()
}

/// Returns the squared distances of many rows from one: a device's, or column by column.
fn gaps(space: Space<'_>, from: u32, positions: &[u32]) -> Vec<i64> {
    if let Some(distances) = gaps_on_device(space, from, positions) {
        return distances;
    }
    let mut totals = vec![0; positions.len()];
    for &variable in space.scope {
        let column = &space.geometry.coordinates[variable as usize];
        let x = i64::from(column[from as usize]);
        let both = totals.iter_mut().zip(positions);
        let others = both.map(|(total, &at)| (total, i64::from(column[at as usize])));
        match space.geometry.indicators[variable as usize] {
            None => others.for_each(|(total, y)| *total += (x - y) * (x - y)),
            Some(_) => others
                .filter(|&(_, y)| x != y)
                .for_each(|(total, _)| *total += 2 * i64::from(INDICATOR).pow(2)),
        }
    }
    totals
}

/// Returns the time at which a row of `weight` finishes the race of a stage; the id settles ties.
fn finish(space: Space<'_>, stage: usize, position: u32, weight: i64) -> (f64, u64) {
    let id = space.data.id(position);
    if weight == 0 {
        return (f64::INFINITY, id);
    }
    let uniform: f64 = stream(space.key, Purpose::SpnSeeding, id, stage as u64).random();
    (-(1.0 - uniform).ln() / weight as f64, id)
}

fn earlier(a: (f64, u64), b: (f64, u64)) -> bool {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).is_lt()
}

/// Returns the weight of a row at the stage after `seeds`: the squared distance to the nearest of
/// them.
fn weight(space: Space<'_>, seeds: &[u32], position: u32) -> i64 {
    let gaps = seeds.iter().map(|&seed| gap(space, seed, position));
    gaps.min().unwrap_or(1)
}

/// Draws the seeds; fewer than asked for where no other row differs from them.
pub(super) fn draw_seeds(space: Space<'_>, positions: &[u32]) -> Vec<u32> {
    let mut seeds = Vec::with_capacity(space.clusters);
    let mut weights = vec![1; positions.len()];
    while seeds.len() < space.clusters {
        let stage = seeds.len();
        let mut best: Option<((f64, u64), u32)> = None;
        for (&position, &weight) in positions.iter().zip(&weights) {
            let time = finish(space, stage, position, weight);
            if time.0.is_finite() && best.is_none_or(|(first, _)| earlier(time, first)) {
                best = Some((time, position));
            }
        }
        let Some((_, winner)) = best else {
            break;
        };
        seeds.push(winner);
        if seeds.len() == space.clusters {
            break;
        }
        for (weight, gap) in weights.iter_mut().zip(gaps(space, winner, positions)) {
            *weight = if stage == 0 { gap } else { gap.min(*weight) };
        }
    }
    seeds
}

/// Returns whether a row that comes would win a stage of the race that `seeds` have won, or be a
/// further seed.
pub(super) fn would_be_seed(space: Space<'_>, seeds: &[u32], position: u32) -> bool {
    (0..=seeds.len()).any(|stage| {
        let own = finish(
            space,
            stage,
            position,
            weight(space, &seeds[..stage], position),
        );
        match seeds.get(stage) {
            Some(&winner) => {
                let first = weight(space, &seeds[..stage], winner);
                earlier(own, finish(space, stage, winner, first))
            }
            None => stage < space.clusters && own.0.is_finite(),
        }
    })
}
