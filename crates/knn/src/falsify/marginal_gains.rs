//! The effect of single removals on the errors of a few K: the marginal gains that direct the
//! search.
//!
//! Nothing here proves anything. The gains propose; exact error counts decide.

use rayon::prelude::*;

use crate::certify::minimal_removal::{minimal_winning_removal, violating_removal};
use crate::system::KnnSystem;

/// The effect of one prediction put right or wrong by one removal; costlier flips count as parts of
/// it.
const WHOLE: i16 = 12;
/// Flips that take more removals than this have no effect in the tables.
const REACH: usize = 3;
/// A table that says, for each of a few K and every row, about how many wrong predictions the
/// removal of the row saves (negative) or makes.
#[derive(Clone)]
pub(crate) struct MarginalGains {
    tables: Vec<Vec<i16>>,
}

impl MarginalGains {
    /// Tabulates the effects of single removals from T at the values `ks`.
    pub(crate) fn tabulate(system: &KnnSystem, ks: &[usize]) -> Self {
        let removed = system.nothing_removed();
        let tables = ks
            .par_iter()
            .map(|&k| {
                let mut table = vec![0; removed.len()];
                let mut near = Vec::new();
                for row in 0..removed.len() {
                    count_effects(system, &removed, row, k, 1, &mut table, &mut near);
                }
                table
            })
            .collect();
        Self { tables }
    }

    /// Returns how much the removal of each row helps the K at index `target` against all K,
    /// weighted by importance.
    pub(crate) fn help(&self, target: usize, importance: &[f32]) -> Vec<i64> {
        let parts: Vec<i64> = importance
            .iter()
            .map(|part| (part * 64.0).round() as i64)
            .collect();
        let total: i64 = parts.iter().sum();
        let mut help: Vec<i64> = self.tables[target]
            .iter()
            .map(|&effect| -total * i64::from(effect))
            .collect();
        for (table, part) in self.tables.iter().zip(parts).filter(|&(_, part)| part > 0) {
            for (sum, &effect) in help.iter_mut().zip(table) {
                *sum += part * i64::from(effect);
            }
        }
        help
    }

    /// Adds (`sign` 1) or takes away (-1) what `rows` contribute to all tables while `removed` is
    /// gone.
    pub(crate) fn recount(
        &mut self,
        system: &KnnSystem,
        ks: &[usize],
        rows: &[u32],
        removed: &[bool],
        sign: i16,
    ) {
        let mut near = Vec::new();
        for (table, &k) in self.tables.iter_mut().zip(ks) {
            for &row in rows {
                count_effects(system, removed, row as usize, k, sign, table, &mut near);
            }
        }
    }
}

/// Adds `sign` times what the prediction of `row` at `k` contributes to the effects of removing
/// others, or itself.
fn count_effects(
    system: &KnnSystem,
    removed: &[bool],
    row: usize,
    k: usize,
    sign: i16,
    table: &mut [i16],
    near: &mut Vec<(u32, u16)>,
) {
    if removed[row] {
        return;
    }
    let labels = system.setup.training.labels();
    near.clear();
    system.neighbours.walk(row, |id| {
        if !removed[id] {
            near.push((id as u32, labels[id]));
        }
        near.len() < k + REACH
    });
    let label = labels[row];
    let classes = system.setup.training.classes();
    let votes: Vec<u16> = near.iter().map(|&(_, other)| other).collect();
    let lost = violating_removal(&votes, classes, k, label, REACH);
    let (cost, effect) = if lost == Some(0) {
        table[row] = table[row].saturating_sub(sign * WHOLE);
        (
            minimal_winning_removal(&votes, classes, k, label, REACH),
            -1,
        )
    } else {
        (lost, 1)
    };
    let Some(cost) = cost else { return };
    // A part that pays only together with others is worth less than its share.
    let part = sign * effect * WHOLE / (cost * cost) as i16;
    for &(id, other) in near.iter().take(k + cost - 1) {
        if (other == label) == (effect > 0) {
            let cell = &mut table[id as usize];
            *cell = cell.saturating_add(part);
        }
    }
}
