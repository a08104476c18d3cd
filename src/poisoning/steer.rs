//! Steering what is learnt: removal sets that make a chosen K win the cross-validation.
//!
//! Nothing here proves anything. It proposes; exact error counts decide.

use std::cmp::Ordering;

use rayon::prelude::*;

use super::analysis::{Analysis, Deadline};
use super::charges::top_rows;
use super::error_rate::ErrorCounts;
use super::minimal_violating_removal::{minimal_winning_removal, violating_removal};
use super::system::KnnSystem;

/// Effects are tabulated for this many K: those with the smallest errors on T.
const TABLED: usize = 128;
/// The effect of one prediction put right or wrong by one removal; costlier flips count as parts of it.
const WHOLE: i16 = 12;
/// Flips that take more removals than this have no effect in the tables.
const REACH: usize = 3;
/// Rivals that a choice of rows takes into account.
const RIVALS: usize = 16;
/// Rounds of dropping the least useful rows and choosing others.
const ROUNDS: usize = 24;

/// For every tabulated K and row, about how many wrong predictions its removal saves (negative) or makes.
#[derive(Clone)]
pub(crate) struct Effects {
    tables: Vec<Option<Vec<i16>>>,
}

impl Effects {
    /// Tabulates the effects of single removals from T at the K counted in `counts`.
    pub(crate) fn of(system: &KnnSystem, counts: &ErrorCounts) -> Self {
        let mut order: Vec<usize> = (0..counts.ks().len()).collect();
        order.sort_by(|&a, &b| counts.compare(a, b).then(a.cmp(&b)));
        let mut tabled = vec![false; order.len()];
        order.iter().take(TABLED).for_each(|&at| tabled[at] = true);
        let removed = system.nothing_removed();
        let tables = (0..counts.ks().len())
            .into_par_iter()
            .map(|at| {
                tabled[at].then(|| {
                    let mut table = vec![0; system.setup.training.rows()];
                    let mut near = Vec::new();
                    for row in 0..system.setup.training.rows() {
                        count_effects(
                            system,
                            &removed,
                            row,
                            counts.ks()[at],
                            1,
                            &mut table,
                            &mut near,
                        );
                    }
                    table
                })
            })
            .collect();
        Self { tables }
    }

    /// Whether the K at index `at` has a table.
    pub(crate) fn knows(&self, at: usize) -> bool {
        self.tables[at].is_some()
    }

    /// How much the removal of each row helps `target` against the better `rivals` (index, importance).
    pub(crate) fn help(&self, target: usize, rivals: &[(usize, i64)]) -> Option<Vec<i64>> {
        let own = self.tables[target].as_ref()?;
        let known: Vec<(&Vec<i16>, i64)> = rivals
            .iter()
            .filter_map(|&(rival, weight)| Some((self.tables[rival].as_ref()?, weight)))
            .collect();
        let total: i64 = known.iter().map(|&(_, weight)| weight).sum();
        let mut help: Vec<i64> = own
            .iter()
            .map(|&effect| -total * i64::from(effect))
            .collect();
        for (table, weight) in known {
            for (sum, &effect) in help.iter_mut().zip(table) {
                *sum += weight * i64::from(effect);
            }
        }
        Some(help)
    }

    /// Adds (`sign` 1) or takes away (-1) what `rows` contribute to all tables while `removed` is gone.
    fn recount(
        &mut self,
        system: &KnnSystem,
        ks: &[usize],
        rows: &[u32],
        removed: &[bool],
        sign: i16,
    ) {
        let mut near = Vec::new();
        for (table, &k) in self.tables.iter_mut().zip(ks) {
            if let Some(table) = table {
                for &row in rows {
                    count_effects(system, removed, row as usize, k, sign, table, &mut near);
                }
            }
        }
    }
}

/// Adds `sign` times what the prediction of `row` at `k` contributes to the effects of removing others, or itself.
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

/// How many wrong predictions the K at index `at` is ahead of `target` by, at least 0.
fn lead(counts: &ErrorCounts, at: usize, target: usize) -> u64 {
    counts
        .total_wrong(target)
        .saturating_sub(counts.total_wrong(at))
}

/// The candidates that stand between `target` and being learnt, weighted by how far they are ahead.
pub(crate) fn rivals(counts: &ErrorCounts, target: usize) -> Vec<(usize, i64)> {
    let mut ahead: Vec<(u64, usize)> = (0..counts.ks().len())
        .filter(|&at| match counts.compare(at, target) {
            Ordering::Less => true,
            Ordering::Equal => at < target,
            Ordering::Greater => false,
        })
        .map(|at| (lead(counts, at, target), at))
        .collect();
    ahead.sort_unstable_by(|a, b| b.cmp(a));
    ahead.truncate(RIVALS);
    let most = ahead.first().map_or(0, |&(lead, _)| lead);
    ahead
        .into_iter()
        // The leaders matter most; those nearly overtaken get what the leaders' removals bring anyway.
        .map(|(lead, at)| (at, 64 >> (most - lead).min(6)))
        .collect()
}

/// A removal set that grows and shrinks, with exact counts and up-to-date effects.
pub(crate) struct Steering<'s, 'a> {
    analysis: &'s Analysis<'a>,
    effects: Effects,
    /// The rows of R; the first `fixed` stay.
    pub(crate) removal: Vec<usize>,
    pub(crate) removed: Vec<bool>,
    pub(crate) counts: ErrorCounts,
    fixed: usize,
}

impl<'s, 'a> Steering<'s, 'a> {
    /// Starts from the removal of `fixed` rows, which are kept.
    pub(crate) fn from(analysis: &'s Analysis<'a>, fixed: Vec<usize>) -> Self {
        let mut steering = Self {
            analysis,
            effects: analysis.effects().clone(),
            removal: Vec::new(),
            removed: analysis.system.nothing_removed(),
            counts: analysis.update.base().clone(),
            fixed: fixed.len(),
        };
        steering.change(&fixed, &[]);
        steering
    }

    /// Removes `gone` and puts `back` back.
    fn change(&mut self, gone: &[usize], back: &[usize]) {
        let update = &self.analysis.update;
        let mut touched: Vec<u32> = Vec::new();
        for &row in gone.iter().chain(back) {
            touched.extend_from_slice(update.influenced_by(row));
            touched.push(row as u32);
        }
        touched.sort_unstable();
        touched.dedup();
        let system = self.analysis.system;
        let ks = update.base().ks();
        self.effects
            .recount(system, ks, &touched, &self.removed, -1);
        for &row in gone {
            self.removed[row] = true;
            self.removal.push(row);
        }
        for &row in back {
            self.removed[row] = false;
        }
        let removed = &self.removed;
        self.removal.retain(|&row| removed[row]);
        self.effects.recount(system, ks, &touched, &self.removed, 1);
        self.counts = update.counts(&self.removal, &self.removed);
    }

    fn deficit(&self, target: usize) -> u64 {
        deficit(&self.counts, target)
    }

    /// Adds rows that help `target`, a batch at a time, until `accept` is content or n rows are gone; then drops those
    /// that help least and tries others, while that brings `target` nearer. `spared` rows stay.
    pub(crate) fn towards(
        &mut self,
        target: usize,
        deadline: Deadline<'_>,
        spared: impl Fn(usize) -> bool,
        mut accept: impl FnMut(&Self) -> bool,
    ) -> bool {
        let poison = self.analysis.system.poison();
        let mut least = u64::MAX;
        let mut stalled = 0;
        for round in 0..ROUNDS {
            loop {
                if accept(self) {
                    return true;
                }
                let left = poison - self.removal.len();
                if left == 0 || deadline.passed() {
                    break;
                }
                let ahead = rivals(&self.counts, target);
                let Some(help) = self.effects.help(target, &ahead) else {
                    return false;
                };
                let batch = (self.deficit(target) as usize / 24).clamp(1, left.div_ceil(6));
                let open = |row: usize| !self.removed[row] && !spared(row);
                let best: Vec<usize> = top_rows(&help, batch, open)
                    .into_iter()
                    .map(|row| row as usize)
                    .collect();
                if best.is_empty() {
                    break;
                }
                self.change(&best, &[]);
            }
            let now = self.deficit(target);
            stalled = if now < least { 0 } else { stalled + 1 };
            least = least.min(now);
            let free = self.removal.len() - self.fixed;
            if deadline.passed() || stalled > 2 || free == 0 {
                return false;
            }
            // What is so far off that no exchange has ever made it up is left to the bounds.
            if now as usize > free + 2 {
                return false;
            }
            let worst = self.least_useful(target, (free / (4 + round)).max(1));
            self.change(&[], &worst);
        }
        false
    }

    /// The `count` removed rows, but for the fixed ones, without which `target` fares best.
    fn least_useful(&self, target: usize, count: usize) -> Vec<usize> {
        let mut removed = self.removed.clone();
        let mut judged: Vec<(u64, usize)> = self.removal[self.fixed..]
            .iter()
            .map(|&row| {
                let others: Vec<usize> = self
                    .removal
                    .iter()
                    .copied()
                    .filter(|&other| other != row)
                    .collect();
                removed[row] = false;
                let counts = self.analysis.update.counts(&others, &removed);
                removed[row] = true;
                (total_deficit(&counts, target), row)
            })
            .collect();
        judged.sort_unstable();
        judged.into_iter().take(count).map(|(_, row)| row).collect()
    }
}

/// How many wrong predictions `target` has more than the best candidate.
fn deficit(counts: &ErrorCounts, target: usize) -> u64 {
    (0..counts.ks().len())
        .map(|at| lead(counts, at, target))
        .max()
        .unwrap_or(0)
}

/// The deficit, then (in smaller parts) those against all rivals: tells removals of equal deficit apart.
fn total_deficit(counts: &ErrorCounts, target: usize) -> u64 {
    let sum: u64 = (0..counts.ks().len())
        .map(|at| lead(counts, at, target))
        .sum();
    deficit(counts, target) * 16 + sum * 16 / counts.ks().len().max(1) as u64
}
