//! The trace of a clustering: what every round found. It is the model, and all that deletion needs.
//!
//! A round holds its centroids, the cluster of every row, and count, sum and loss of the clusters; the next
//! round's centroids follow from these (`rule`).
//!
//! **Theorem.** After [`Trace::delete`] the trace equals the one that [`Trace::fit`] makes of the
//! remaining rows. *Proof.* By induction over rounds. The seeds are those of the remaining rows
//! (`seeding`). If the centroids of a round are, so is the cluster of every remaining row, for it depends
//! on that row and the centroids alone; count, sum and loss lose exactly what the deleted rows added, since
//! they are integers. The centroids of the next round, or the decision to stop, are a function of these and
//! of the number of rows; where its value is another one than before, the rounds from there on are made anew. ∎
//!
//! A deletion is *free* when no centroid of any round changes: it costs O(k d) a round, whatever the number
//! of rows. Otherwise it costs passes from the first round that changes, most of which need not look at most
//! rows (`refine`).

use std::collections::VecDeque;

use super::errors::KMeansError;
use super::points::Points;
use super::round::Round;
use super::rule::{ExactRule, Next, Parameters, Rule};
use super::seeding::seed;

/// Which random numbers a clustering draws: two clusterings of equal key and points are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    /// The seed of the model.
    pub seed: u64,
    /// What is clustered, where one model clusters many times.
    pub node: u64,
}

/// A clustering with everything that deletion needs, but for its parameters and points.
#[derive(Debug, Clone)]
pub struct Trace {
    pub(crate) parameters: Parameters,
    pub(crate) key: Key,
    pub(crate) rule: ExactRule,
    pub(crate) points: Points,
    pub(crate) seeds: Vec<u64>,
    pub(crate) rounds: Vec<Round>,
    /// Rounds that others have replaced, by position, the latest last. Not part of the model: means that lie
    /// near the wall of a lattice cell come back across it, and find their round here, kept up to date.
    spares: Vec<VecDeque<Round>>,
}

/// Replaced rounds that are kept for each position.
const SPARES: usize = 3;

/// What a deletion did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Deletion {
    /// Rows deleted.
    pub deleted: usize,
    /// The first stage that was seeded anew, if a seed was deleted.
    pub reseeded_from: Option<usize>,
    /// The first round whose centroids changed, or that is there no more; 0 is the seeding.
    pub redone_from: Option<usize>,
    /// Remaining rows whose cluster changed, by id, ascending.
    pub moved: Vec<u64>,
}

impl Deletion {
    /// Whether no centroid of any round changed, so that no row but the deleted ones was looked at.
    pub fn is_free(&self) -> bool {
        self.redone_from.is_none()
    }
}

impl Trace {
    /// Clusters `points`.
    ///
    /// # Errors
    /// Parameters that make no sense for these points.
    pub fn fit(points: Points, parameters: &Parameters, key: Key) -> Result<Trace, KMeansError> {
        let rule = parameters.check(points.columns(), key)?;
        if points.len() < rule.clusters {
            return Err(KMeansError::TooFewRows {
                clusters: rule.clusters,
                rows: points.len(),
            });
        }
        let seeds = seed(&points, rule.clusters, key, &[]);
        let mut trace = Trace {
            parameters: *parameters,
            key,
            rule,
            points,
            seeds,
            rounds: Vec::new(),
            spares: Vec::new(),
        };
        let centroids = trace.seed_rows();
        trace.redo(0, centroids);
        Ok(trace)
    }

    /// A trace whose rounds are there already.
    pub(crate) fn from_parts(
        parameters: Parameters,
        key: Key,
        rule: ExactRule,
        points: Points,
        seeds: Vec<u64>,
        rounds: Vec<Round>,
    ) -> Trace {
        Trace {
            parameters,
            key,
            rule,
            points,
            seeds,
            rounds,
            spares: Vec::new(),
        }
    }

    /// The parameters.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The random numbers that were drawn.
    pub fn key(&self) -> Key {
        self.key
    }

    /// The remaining rows.
    pub fn points(&self) -> &Points {
        &self.points
    }

    /// Number of clusters.
    pub fn clusters(&self) -> usize {
        self.rule.clusters
    }

    /// The centroids, `[clusters, columns]`, fixed point.
    pub fn centroids(&self) -> &[i32] {
        &self.result().centroids
    }

    /// Rows of each cluster.
    pub fn counts(&self) -> &[u64] {
        &self.result().counts
    }

    /// Σ|x − c|² in scaled units: a column is 1 wide.
    pub fn loss(&self) -> f64 {
        self.result().loss as f64 / (1_u64 << 48) as f64
    }

    /// Iterations that the result took.
    pub fn iterations(&self) -> usize {
        self.rule.result(&self.rounds)
    }

    /// Ids of the rows that were seeds, by stage.
    pub fn seeds(&self) -> &[u64] {
        &self.seeds
    }

    /// The cluster of row `id`.
    pub fn cluster_of(&self, id: u64) -> Option<usize> {
        let slot = self.points.slot(id)?;
        Some(usize::from(self.result().clusters[slot]))
    }

    /// The cluster of every remaining row, in the order of their ids.
    pub fn assignment(&self) -> impl Iterator<Item = (u64, usize)> + '_ {
        let clusters = &self.result().clusters;
        self.points
            .live_slots()
            .map(move |slot| (self.points.id(slot), usize::from(clusters[slot])))
    }

    fn result(&self) -> &Round {
        &self.rounds[self.rule.result(&self.rounds)]
    }

    /// Deletes the rows `ids`, in any order. All of it happens or, with an error, nothing.
    ///
    /// # Errors
    /// An id that is not there or comes twice; fewer rows left than clusters.
    pub fn delete(&mut self, ids: &[u64]) -> Result<Deletion, KMeansError> {
        let slots = self.slots_of(ids)?;
        if slots.is_empty() {
            return Ok(Deletion::default());
        }
        let before = self.points.len();
        let result = self.rule.result(&self.rounds);
        let touched = self.subtract(&slots);
        let reseeded_from = self.seeds.iter().position(|seed| ids.contains(seed));
        let change = match reseeded_from {
            Some(stage) => {
                let kept = &self.seeds[..stage];
                self.seeds = seed(&self.points, self.rule.clusters, self.key, kept);
                Some((0, Next::Round(self.seed_rows())))
            }
            None => self.first_change(before, &touched),
        };
        let redone_from = change.as_ref().map(|&(round, _)| round);
        // The loss alone can make another round the result.
        let moved = if change.is_some() || self.rule.result(&self.rounds) != result {
            let clusters = self.rounds[result].clusters.clone();
            match change {
                Some((round, Next::Round(centroids))) => self.redo(round, centroids),
                Some((round, Next::Stop)) => self.shorten(round),
                None => {}
            }
            self.moved_since(&clusters)
        } else {
            Vec::new()
        };
        if self.points.is_sparse() {
            self.compact();
        }
        Ok(Deletion {
            deleted: ids.len(),
            reseeded_from,
            redone_from,
            moved,
        })
    }

    fn slots_of(&self, ids: &[u64]) -> Result<Vec<usize>, KMeansError> {
        let slots = ids
            .iter()
            .map(|&id| self.points.slot(id).ok_or(KMeansError::UnknownId { id }))
            .collect::<Result<Vec<usize>, KMeansError>>()?;
        if ids.len() > 1 {
            let mut sorted = ids.to_vec();
            sorted.sort_unstable();
            if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(KMeansError::RepeatedId { id: pair[0] });
            }
        }
        if self.points.len() - ids.len() < self.rule.clusters {
            return Err(KMeansError::TooFewRemain {
                clusters: self.rule.clusters,
                rows: self.points.len(),
                deleted: ids.len(),
            });
        }
        Ok(slots)
    }

    /// Takes rows out of every round; for each round, which clusters they were in.
    fn subtract(&mut self, slots: &[usize]) -> Vec<Vec<bool>> {
        let clusters = self.rule.clusters;
        let mut touched = Vec::with_capacity(self.rounds.len());
        for round in &mut self.rounds {
            let mut of_round = vec![false; clusters];
            for &slot in slots {
                of_round[round.subtract(&self.points, slot)] = true;
            }
            touched.push(of_round);
        }
        for round in self.spares.iter_mut().flatten() {
            for &slot in slots {
                round.subtract(&self.points, slot);
            }
        }
        for &slot in slots {
            self.points.remove(slot);
        }
        touched
    }

    /// The first round that is not what it has to be, and what it has to be.
    fn first_change(&self, before: usize, touched: &[Vec<bool>]) -> Option<(usize, Next)> {
        let n = self.points.len();
        let standing = |at: usize| self.rule.stands(&self.rounds, at, n, before, &touched[at]);
        let at = (0..self.rounds.len()).find(|&at| !standing(at))?;
        Some((at + 1, self.rule.next(&self.rounds, at, n)))
    }

    /// Makes the rounds from `at` on, the first of them with `centroids`.
    fn redo(&mut self, at: usize, mut centroids: Vec<i32>) {
        let n = self.points.len();
        let mut at = at;
        loop {
            self.make_round(at, centroids);
            match self.rule.next(&self.rounds[..=at], at, n) {
                Next::Stop => {
                    self.shorten(at + 1);
                    return;
                }
                Next::Round(next) => centroids = next,
            }
            at += 1;
        }
    }

    /// Makes round `at`, from one that was there if there is one.
    fn make_round(&mut self, at: usize, centroids: Vec<i32>) {
        if self
            .rounds
            .get(at)
            .is_some_and(|round| round.centroids == centroids)
        {
            return;
        }
        let round = match self.take_spare(at, &centroids) {
            Some(spare) => spare,
            None => self.new_round(at, centroids),
        };
        if at == self.rounds.len() {
            self.rounds.push(round);
        } else {
            let replaced = std::mem::replace(&mut self.rounds[at], round);
            self.keep_spare(at, replaced);
        }
    }

    fn new_round(&self, at: usize, centroids: Vec<i32>) -> Round {
        let near = self.rounds.get(at);
        near.and_then(|near| near.moved_to(&self.points, &centroids))
            .unwrap_or_else(|| {
                let before = at.checked_sub(1).map(|before| &self.rounds[before]);
                Round::by_full_pass(&self.points, centroids, before)
            })
    }

    fn take_spare(&mut self, at: usize, centroids: &[i32]) -> Option<Round> {
        let spares = self.spares.get_mut(at)?;
        let found = spares
            .iter()
            .position(|spare| spare.centroids == centroids)?;
        spares.remove(found)
    }

    /// Lloyd's centroids never come back; those on a lattice do.
    fn keep_spare(&mut self, at: usize, round: Round) {
        if self.parameters.rule == Rule::Lloyd {
            return;
        }
        if self.spares.len() <= at {
            self.spares.resize_with(at + 1, VecDeque::new);
        }
        let spares = &mut self.spares[at];
        if spares.len() == SPARES {
            spares.pop_front();
        }
        spares.push_back(round);
    }

    /// Drops the rounds from `count` on.
    fn shorten(&mut self, count: usize) {
        let dropped = self.rounds.split_off(count);
        for (at, round) in dropped.into_iter().enumerate() {
            self.keep_spare(count + at, round);
        }
    }

    /// The seeds as centroids.
    fn seed_rows(&self) -> Vec<i32> {
        self.seeds
            .iter()
            .filter_map(|&id| self.points.slot(id))
            .flat_map(|slot| self.points.row(slot))
            .copied()
            .collect()
    }

    fn moved_since(&self, before: &[u16]) -> Vec<u64> {
        let now = &self.result().clusters;
        self.points
            .live_slots()
            .filter(|&slot| before[slot] != now[slot])
            .map(|slot| self.points.id(slot))
            .collect()
    }

    /// Gives up the slots of deleted rows.
    pub(crate) fn compact(&mut self) {
        for round in self
            .rounds
            .iter_mut()
            .chain(self.spares.iter_mut().flatten())
        {
            round.compact(self.points.live());
        }
        self.points.compact();
    }
}
