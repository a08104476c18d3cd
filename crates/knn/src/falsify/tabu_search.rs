//! Tabu search for the removal sets that make a chosen K win the cross-validation.
//!
//! Nothing here proves anything. The search proposes; exact error counts decide. Removals are
//! chosen greedily by the [`MarginalGains`] until n rows are gone, and then exchanged one by one:
//! the removed row that is missed least goes back, and the row that then helps most is removed
//! instead, even if that is a step back (tabu search). Each exchange is judged by the predictions
//! that it changes, counted anew.

use crate::certify::amortised_bound::top_rows;
use crate::certify::k_set::CertifiedKSet;
use crate::deadline::Deadline;
use crate::falsify::marginal_gains::MarginalGains;
use crate::learn::update::LearnUpdate;
use crate::learn::visit_tops;
use crate::system::KnnSystem;
use crate::votes::Votes;

/// The most K that are counted together: one bit of a word each.
const COUNTED: usize = 64;
/// Rows that are counted anew before one is removed: those that help most by the table.
const TRIED: usize = 48;
/// Exchanges without progress after which a search ends.
const PATIENCE: usize = 96;
/// The most exchanges of a search.
const EXCHANGES: usize = 768;
/// The number of exchanges for which a row stays where an exchange put it.
const TENURE: usize = 8;
/// The difference of two leads, in wrong predictions, that is a factor of e in importance.
const SOFTNESS: f32 = 4.0;

/// The task to make one K overtake the candidates with fewer errors on T.
pub(crate) struct TabuProblem<'a> {
    system: &'a KnnSystem,
    update: LearnUpdate<'a>,
    target: usize,
    gains: MarginalGains,
    /// For each row the K, as bits, at which its prediction is wrong.
    wrong: Vec<u64>,
    totals: Vec<i64>,
}

impl<'a> TabuProblem<'a> {
    /// Counts the K at index `at` of the certified set, and its rivals, on T.
    pub(crate) fn new(
        system: &'a KnnSystem,
        set: &CertifiedKSet,
        all: &LearnUpdate<'a>,
        at: usize,
    ) -> Self {
        let base = all.base();
        let mut rivals: Vec<usize> = (0..base.ks().len())
            .filter(|&rival| rival != at && base.total_wrong(rival) <= base.total_wrong(at))
            .collect();
        rivals.sort_by_key(|&rival| (base.total_wrong(rival), rival));
        rivals.truncate(COUNTED - 1);
        rivals.push(at);
        rivals.sort_unstable();
        let target = rivals.iter().position(|&rival| rival == at).unwrap_or(0);
        let kept: Vec<usize> = rivals.iter().map(|&at| set.indices()[at]).collect();
        let update = LearnUpdate::over(system, &kept);
        let ks = update.base().ks();
        let removed = system.nothing_removed();
        let mut votes = Votes::new(system.setup.training.classes());
        let wrong = (0..removed.len())
            .map(|row| wrong_at(system, ks, row, &removed, &mut votes))
            .collect();
        Self {
            system,
            gains: MarginalGains::tabulate(system, ks),
            totals: (0..ks.len())
                .map(|at| update.base().total_wrong(at) as i64)
                .collect(),
            update,
            target,
            wrong,
        }
    }

    /// Returns the flags of the empty removal set.
    pub(crate) fn nothing_removed(&self) -> Vec<bool> {
        self.system.nothing_removed()
    }

    fn ks(&self) -> &[usize] {
        self.update.base().ks()
    }

    /// Returns how much the removal of each row from T helps the target.
    pub(crate) fn help(&self) -> Vec<i64> {
        let importance = importance(&self.totals, self.target);
        self.gains.help(self.target, &importance)
    }
}

/// The K, as bits, at which `row` is predicted wrongly; none once it is removed.
fn wrong_at(
    system: &KnnSystem,
    ks: &[usize],
    row: usize,
    removed: &[bool],
    votes: &mut Votes,
) -> u64 {
    if removed[row] {
        return 0;
    }
    let training = &system.setup.training;
    let label = training.labels()[row];
    let mut wrong = 0;
    visit_tops(
        training,
        &system.neighbours,
        row,
        Some(removed),
        ks,
        votes,
        |at, top| wrong |= u64::from(top != Some(label)) << at,
    );
    wrong
}

/// A removal set that the search changes.
pub(crate) struct TabuSearch<'s, 'a> {
    problem: &'s TabuProblem<'a>,
    gains: MarginalGains,
    wrong: Vec<u64>,
    totals: Vec<i64>,
    votes: Votes,
    /// The rows of R; the first `fixed` stay.
    pub(crate) removal: Vec<usize>,
    pub(crate) removed: Vec<bool>,
    fixed: usize,
    /// The best set so far and how far the target is behind then.
    best: (i64, Vec<usize>),
}

impl<'s, 'a> TabuSearch<'s, 'a> {
    /// Starts from the removal of `fixed` rows, which are kept, and of `others`; the least useful
    /// of these go back until at most n rows are gone.
    pub(crate) fn from(problem: &'s TabuProblem<'a>, fixed: &[usize], others: &[usize]) -> Self {
        let system = problem.system;
        let mut search = Self {
            problem,
            gains: problem.gains.clone(),
            wrong: problem.wrong.clone(),
            totals: problem.totals.clone(),
            votes: Votes::new(system.setup.training.classes()),
            removal: Vec::new(),
            removed: system.nothing_removed(),
            fixed: fixed.len(),
            best: (i64::MAX, Vec::new()),
        };
        for &row in fixed.iter().chain(others) {
            if !search.removed[row] {
                search.toggle(row);
            }
        }
        while search.removal.len() > system.poison() {
            let Some(row) = search.least_missed(|_| false) else {
                break;
            };
            search.toggle(row);
        }
        search
    }

    /// The best removal set that was met.
    pub(crate) fn into_best(self) -> Vec<usize> {
        self.best.1
    }

    /// Removes a row, or puts it back.
    fn toggle(&mut self, row: usize) {
        let system = self.problem.system;
        let ks = self.problem.ks();
        let mut touched: Vec<u32> = self.problem.update.influenced_by(row).to_vec();
        touched.push(row as u32);
        self.gains.recount(system, ks, &touched, &self.removed, -1);
        self.removed[row] = !self.removed[row];
        if self.removed[row] {
            self.removal.push(row);
        } else {
            self.removal.retain(|&other| other != row);
        }
        self.gains.recount(system, ks, &touched, &self.removed, 1);
        for row in touched {
            let row = row as usize;
            let now = wrong_at(system, ks, row, &self.removed, &mut self.votes);
            let before = std::mem::replace(&mut self.wrong[row], now);
            for_changes(before, now, |at, change| self.totals[at] += change);
        }
    }

    /// Returns how much nearer to being learnt the target comes, by importance of its rivals, if
    /// `row` is toggled.
    fn worth(&mut self, row: usize, importance: &[f32]) -> f32 {
        let problem = self.problem;
        let total: f32 = importance.iter().sum();
        let mut worth = 0.0;
        self.removed[row] = !self.removed[row];
        let touched = problem.update.influenced_by(row).iter().copied();
        for other in touched.chain(std::iter::once(row as u32)) {
            let other = other as usize;
            let now = wrong_at(
                problem.system,
                problem.ks(),
                other,
                &self.removed,
                &mut self.votes,
            );
            for_changes(self.wrong[other], now, |at, change| {
                let change = change as f32;
                worth += change * importance[at];
                if at == problem.target {
                    worth -= change * total;
                }
            });
        }
        self.removed[row] = !self.removed[row];
        worth
    }

    /// Returns how far the target is behind the best of its rivals, in wrong predictions; at most 0
    /// if it may be learnt.
    fn behind(&self) -> i64 {
        behind(&self.totals, self.problem.target)
    }

    fn importance(&self) -> Vec<f32> {
        importance(&self.totals, self.problem.target)
    }

    /// Returns the row, not fixed, without whose removal the target fares best.
    fn least_missed(&mut self, kept: impl Fn(usize) -> bool) -> Option<usize> {
        let importance = self.importance();
        let free = self.removal[self.fixed..].to_vec();
        self.most_worth(free.into_iter().filter(|&row| !kept(row)), &importance)
    }

    fn most_worth(
        &mut self,
        rows: impl Iterator<Item = usize>,
        importance: &[f32],
    ) -> Option<usize> {
        let mut best: Option<(f32, usize)> = None;
        for row in rows {
            let worth = self.worth(row, importance);
            if best.is_none_or(|(most, _)| worth > most) {
                best = Some((worth, row));
            }
        }
        best.map(|(_, row)| row)
    }

    /// Returns whether `accept` accepts the current set; remembers the set that came nearest.
    fn judge(&mut self, accept: &mut impl FnMut(&Self) -> bool) -> bool {
        let behind = self.behind();
        if behind < self.best.0 {
            self.best = (behind, self.removal.clone());
        }
        // Totals leave the sizes of folds aside: a candidate a little behind may still be learnt.
        behind <= 1 && accept(self)
    }

    /// Whether the greedy choice has reached less than a share of 1 - 1/e of the gap. Greedy choice
    /// reaches that share of the best gain where gains only diminish (Nemhauser, Wolsey and Fisher,
    /// 1978). They need not here, so this is a rule of thumb: what lies beyond is left to the
    /// bounds.
    fn is_hopeless(&self) -> bool {
        let gap = behind(&self.problem.totals, self.problem.target);
        let reached = gap - self.behind();
        gap as f64 * (1.0 - (-1.0_f64).exp()) > reached as f64
    }

    /// Removes rows until n are gone, then exchanges rows, until `accept` accepts the set. `spared`
    /// rows stay.
    pub(crate) fn towards(
        &mut self,
        deadline: Deadline<'_>,
        spared: impl Fn(usize) -> bool,
        mut accept: impl FnMut(&Self) -> bool,
    ) -> bool {
        let poison = self.problem.system.poison();
        let target = self.problem.target;
        while self.removal.len() < poison && !deadline.passed() {
            if self.judge(&mut accept) {
                return true;
            }
            let help = self.gains.help(target, &self.importance());
            let open = |row: usize| !self.removed[row] && !spared(row);
            let batch = (poison - self.removal.len()).div_ceil(16);
            let best = top_rows(&help, batch, open);
            if best.is_empty() {
                break;
            }
            best.into_iter().for_each(|row| self.toggle(row as usize));
        }
        if self.is_hopeless() {
            return self.judge(&mut accept);
        }
        let mut settled = vec![0_usize; self.removed.len()];
        let mut stalled = 0;
        for turn in TENURE..TENURE + EXCHANGES {
            let before = self.best.0;
            if self.judge(&mut accept) {
                return true;
            }
            stalled = if self.best.0 < before { 0 } else { stalled + 1 };
            if stalled > PATIENCE || deadline.passed() {
                break;
            }
            let Some(back) = self.least_missed(|row| settled[row] + TENURE > turn) else {
                break;
            };
            self.toggle(back);
            settled[back] = turn;
            let importance = self.importance();
            let help = self.gains.help(target, &importance);
            let open =
                |row: usize| !self.removed[row] && !spared(row) && settled[row] + TENURE <= turn;
            let tried = top_rows(&help, TRIED, open).into_iter();
            let Some(next) = self.most_worth(tried.map(|row| row as usize), &importance) else {
                break;
            };
            self.toggle(next);
            settled[next] = turn;
        }
        false
    }
}

/// Returns how far the K at index `target` is behind the best.
fn behind(totals: &[i64], target: usize) -> i64 {
    let best = totals.iter().min().copied().unwrap_or(0);
    totals[target] - best
}

/// Returns the importance of each K: those that lead the target most matter most.
fn importance(totals: &[i64], target: usize) -> Vec<f32> {
    let best = totals.iter().min().copied().unwrap_or(0);
    let mut importance: Vec<f32> = totals
        .iter()
        .map(|&total| ((best - total) as f32 / SOFTNESS).exp())
        .collect();
    importance[target] = 0.0;
    importance
}

/// Calls `change` for each K whose prediction changed: with 1 where it became wrong, with -1 where
/// it became right.
fn for_changes(before: u64, now: u64, mut change: impl FnMut(usize, i64)) {
    let mut different = before ^ now;
    while different != 0 {
        let at = different.trailing_zeros() as usize;
        change(at, if now >> at & 1 == 1 { 1 } else { -1 });
        different &= different - 1;
    }
}
