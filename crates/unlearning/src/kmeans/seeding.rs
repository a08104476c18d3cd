//! Greedy k-means++ seeding by exponential races.
//!
//! At stage s rows are drawn as *candidates* with probability D² / ΣD², D² being the squared
//! distance to the seeds so far (all alike at stage 0): one at stage 0, 2 + ⌊ln k⌋ at each later
//! one, with replacement. The candidate becomes a seed that leaves the smallest *potential*, ΣD²
//! over all rows; the first of several (Arthur and Vassilvitskii 2007, the greedy variant, as
//! scikit-learn has it).
//!
//! A candidate is drawn by a race: every row i has its own exponential variate E, drawn from the
//! seed, the restart, the stage, the number of the race and the row's id. The row with the smallest
//! E / D² wins. It has the distribution D² / ΣD²: the minimum of exponential variates with rates
//! D².
//!
//! **Lemma.** Let the seeds before stage s be those of the rows without a set R. Then so are the
//! candidates of stage s that are not in R, and the potential of each is the one before less Σ
//! min(D²(x), |x − c|²) over x in R. *Proof.* E / D² of a row depends on that row and the seeds
//! before s alone, and an argmin does not change when another element leaves. The potential is a
//! sum of whole numbers over the rows, each a function of its row, the candidate and the seeds
//! before s. ∎
//!
//! So a deletion subtracts a term from every potential; a race that a deleted row had won is run
//! again, and where another candidate has the smallest potential now, the stages after it are drawn
//! anew ([`Seeding::repair`]). Nothing else can have changed.
//!
//! Where no row has a distance above 0, fewer distinct rows than stages are there; then the
//! smallest E wins. Equal keys: the lower id. Distances and potentials are exact, and the division
//! of two f64 is the same everywhere. Most rows are passed over by an approximate distance whose
//! error is bounded, of [`super::kernel`] or of the device that the points are on: a row is left out
//! where the distance less that bound is no smaller than that to the nearest seed so far. All others
//! are settled in whole numbers, so that neither D² nor potentials depend on who proposes.

use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::exact::{exponential, exponential_at_least, squared_distance};
use super::kernel::{dot, dot_roundings, unit_error};
use super::points::{Points, square};
use crate::vectors::vectorized;
use probity_run::stream::{Purpose, Words};
use probity_tensor::nearest::euclidean::Rounded;

/// The key of the random numbers that a clustering draws: two clusterings of equal key and points
/// are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Key {
    /// The seed of the model.
    pub seed: u64,
    /// The number of the node that is clustered, where one model clusters many times.
    pub node: u64,
}

/// The random numbers of one restart.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Draws {
    pub key: Key,
    pub restart: u64,
}

impl Draws {
    /// Returns the words for θ of an iteration, by column.
    pub fn phases(&self, iteration: u64) -> Words {
        let items = [self.key.node, self.restart, iteration];
        Words::new(self.key.seed, Purpose::Phase, &items)
    }

    /// Returns the variates of one race of a stage, by row id.
    fn race(&self, stage: usize, race: usize) -> Words {
        let items = [self.key.node, self.restart, stage as u64, race as u64];
        Words::new(self.key.seed, Purpose::Seeding, &items)
    }
}

/// The number of lanes of the widest vectors for [`dot`].
const LANES: usize = 16;
/// The number of rows of a chunk: few enough to stay in the cache while all candidates look at
/// them.
const CHUNK: usize = 256;
/// The largest number of columns at which rows are compared in whole numbers at once.
const SHORT: usize = 16;
/// The number of values that is worth the start of a second thread.
const WORTH_THREADS: usize = 1 << 17;
/// The allowance for the roundings of E, of 1 − u and of the quotients.
const SLACK: f64 = 1e-9;

/// Returns the number of candidates of a stage of `clusters` clusters.
pub(crate) fn candidates_of(stage: usize, clusters: usize) -> usize {
    // The whole numbers from which ⌊ln k⌋ is 1, 2, 3 …; it is then the same on every machine.
    const FIRST: [usize; 10] = [3, 8, 21, 55, 149, 404, 1097, 2981, 8104, 22027];
    match stage {
        0 => 1,
        _ => 2 + FIRST.partition_point(|&first| first <= clusters),
    }
}

/// The candidates of one stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stage {
    /// The ids of the candidates, by the number of their race.
    pub candidates: Vec<u64>,
    /// The potential that each candidate would leave, in units of 2⁻⁴⁸; none where there is no
    /// choice.
    pub potentials: Vec<u128>,
}

impl Stage {
    /// Returns the candidate with the smallest potential, the first of several.
    pub fn seed(&self) -> Option<u64> {
        let smallest = self.potentials.iter().min();
        let at = smallest.and_then(|least| self.potentials.iter().position(|p| p == least));
        self.candidates.get(at.unwrap_or(0)).copied()
    }
}

/// The seeds of one restart, and the candidates that they were chosen from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seeding {
    /// The ids of the seeds, by stage.
    pub seeds: Vec<u64>,
    /// The stages, one for each seed.
    pub stages: Vec<Stage>,
}

impl Seeding {
    /// Draws the seeds, one for each of `clusters` stages; `points` has as many rows.
    pub fn new(points: &Points, clusters: usize, draws: Draws) -> Seeding {
        let mut seeding = Seeding {
            seeds: Vec::with_capacity(clusters),
            stages: Vec::with_capacity(clusters),
        };
        seeding.extend(points, clusters, draws, &mut Distances::new(points));
        seeding
    }

    /// Draws the stages that are missing; `distances` are the distances to the seeds so far.
    fn extend(
        &mut self,
        points: &Points,
        clusters: usize,
        draws: Draws,
        distances: &mut Distances,
    ) {
        for at in self.stages.len()..clusters {
            let races = candidates_of(at, clusters);
            let slots: Vec<usize> = (0..races)
                .filter_map(|race| distances.race(points, draws.race(at, race)))
                .collect();
            let stage = Stage {
                candidates: slots.iter().map(|&slot| points.id(slot)).collect(),
                potentials: match slots.len() {
                    1 => Vec::new(),
                    _ => distances.potentials(points, &slots),
                },
            };
            let Some(seed) = stage.seed() else {
                // There is no row at all.
                return;
            };
            self.seeds.push(seed);
            self.stages.push(stage);
            if at + 1 < clusters {
                distances.approach_all(points, &[seed]);
            }
        }
    }

    /// Removes the row in `slot`, which is still there, from every potential.
    pub fn subtract(&mut self, points: &Points, slot: usize) {
        let row = points.row(slot);
        let distance = |id: u64| {
            let slot = points.slot(id);
            slot.map_or(0, |slot| squared_distance(row, points.row(slot)))
        };
        let mut nearest = u64::MAX;
        for (stage, &seed) in self.stages.iter_mut().zip(&self.seeds) {
            let mut next = None;
            for (potential, &candidate) in stage.potentials.iter_mut().zip(&stage.candidates) {
                let left = distance(candidate).min(nearest);
                // Bytes that were forged may have any potentials.
                *potential = potential.wrapping_sub(u128::from(left));
                if candidate == seed {
                    next = Some(left);
                }
            }
            nearest = next.unwrap_or_else(|| distance(seed).min(nearest));
        }
    }

    /// Repairs the seeding for the rows that are left, of which `gone` (ascending) have been taken
    /// out, and returns the first stage with another seed, if there is one.
    pub fn repair(&mut self, points: &Points, gone: &[u64], draws: Draws) -> Option<usize> {
        let mut distances: Option<(Distances, usize)> = None;
        for at in 0..self.stages.len() {
            let races = self.stages[at].candidates.len();
            let lost: Vec<usize> = (0..races)
                .filter(|&race| {
                    gone.binary_search(&self.stages[at].candidates[race])
                        .is_ok()
                })
                .collect();
            if !lost.is_empty() {
                let distances = self.distances(points, at, &mut distances);
                let slots: Vec<usize> = lost
                    .iter()
                    .filter_map(|&race| distances.race(points, draws.race(at, race)))
                    .collect();
                let stage = &mut self.stages[at];
                for (&race, &slot) in lost.iter().zip(&slots) {
                    stage.candidates[race] = points.id(slot);
                }
                if !stage.potentials.is_empty() {
                    let potentials = distances.potentials(points, &slots);
                    for (&race, potential) in lost.iter().zip(potentials) {
                        stage.potentials[race] = potential;
                    }
                }
            }
            let seed = self.stages[at].seed()?;
            if seed != self.seeds[at] {
                let clusters = self.stages.len();
                self.distances(points, at, &mut distances);
                self.seeds.truncate(at);
                self.stages.truncate(at + 1);
                self.seeds.push(seed);
                if let Some((mut distances, _)) = distances
                    && at + 1 < clusters
                {
                    distances.approach_all(points, &[seed]);
                    self.extend(points, clusters, draws, &mut distances);
                }
                return Some(at);
            }
        }
        None
    }

    /// Returns the distances to the seeds before stage `at`, from those to fewer of them if there
    /// are any.
    fn distances<'a>(
        &self,
        points: &Points,
        at: usize,
        known: &'a mut Option<(Distances, usize)>,
    ) -> &'a mut Distances {
        let (distances, to) = known.get_or_insert_with(|| (Distances::new(points), 0));
        distances.approach_all(points, &self.seeds[*to..at]);
        *to = at;
        distances
    }
}

/// The squared distances of the rows to the nearest seed.
struct Distances {
    /// The squared distances by slot: `u64::MAX` before the first seed, 0 for dead ones.
    squares: Vec<u64>,
    /// The sum of the squared distances.
    total: u128,
    unit: f32,
    seeded: bool,
}

/// A centroid that rows are compared with.
struct Centroid<'a> {
    row: &'a [i32],
    /// The coordinates of `row` and, in `norm`, |row|², rounded to f32.
    rounded: Vec<f32>,
    norm: f32,
}

impl<'a> Centroid<'a> {
    fn new(row: &'a [i32]) -> Centroid<'a> {
        Centroid {
            row,
            rounded: row.iter().map(|&x| x as f32).collect(),
            norm: square(row) as f32,
        }
    }
}

/// A vectorised search, for vectors of any width, for the rows of a chunk that a centroid is nearer
/// to than the seeds so far: it shows their places, and the squared distances. For vectors of any
/// width.
struct Nearer<'a, F> {
    rows: &'a [i32],
    norms: &'a [f32],
    squares: &'a [u64],
    centroid: &'a Centroid<'a>,
    unit: f32,
    show: F,
}

impl<F: FnMut(usize, u64)> WithSimd for Nearer<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let Centroid {
            row: centroid,
            rounded,
            norm,
        } = self.centroid;
        let rows = self.rows.chunks_exact(centroid.len()).enumerate();
        let is_short = centroid.len() <= SHORT;
        for (((at, row), &nearest), &own) in rows.zip(self.squares).zip(self.norms) {
            if !is_short {
                let norms = own + norm;
                let about = norms - 2.0 * dot(simd, row, rounded);
                // x·c ≤ (|x|² + |c|²) / 2; the factor 2.1 also covers the rounded norms.
                let least = f64::from(about) - 2.1 * f64::from(self.unit) * f64::from(norms);
                if least >= nearest as f64 {
                    continue;
                }
            }
            let exact = squared_distance(row, centroid);
            if exact < nearest {
                (self.show)(at, exact);
            }
        }
    }
}

impl Distances {
    /// Creates the distances before the first seed.
    fn new(points: &Points) -> Distances {
        let live = points.live().iter();
        Distances {
            squares: live.map(|&live| if live { u64::MAX } else { 0 }).collect(),
            total: points.len() as u128 * u128::from(u64::MAX),
            unit: unit_error(dot_roundings(points.columns())),
            seeded: false,
        }
    }

    /// Shows the rows of the chunk from `start` on that are nearer to `centroid`; `proposed` are
    /// distances of a device, with the number of the centroid there.
    fn nearer(
        points: &Points,
        unit: f32,
        (start, squares): (usize, &[u64]),
        centroid: &Centroid<'_>,
        proposed: Option<(&Rounded, usize)>,
        mut show: impl FnMut(usize, u64),
    ) {
        let columns = points.columns();
        let rows = &points.values()[start * columns..][..squares.len() * columns];
        if let Some((distances, number)) = proposed {
            let least = distances.at_least(number, (start, start + squares.len()));
            let rows = rows.chunks_exact(columns).enumerate();
            for (((at, row), &nearest), least) in rows.zip(squares).zip(least) {
                if least < nearest as f64 {
                    let exact = squared_distance(row, centroid.row);
                    if exact < nearest {
                        show(at, exact);
                    }
                }
            }
            return;
        }
        let nearer = Nearer {
            rows,
            norms: &points.norms()[start..][..squares.len()],
            squares,
            centroid,
            unit,
            show,
        };
        vectorized(nearer, LANES);
    }

    /// Returns the distances of all rows to those in `slots` that a device proposes, if it is
    /// asked.
    fn proposed(points: &Points, slots: &[usize]) -> Option<Rounded> {
        let brought = points.brought(slots.len())?;
        let rows = slots.iter().flat_map(|&slot| points.row(slot));
        brought.distances(&rows.copied().collect::<Vec<i32>>())
    }

    /// Takes the rows `seeds` into account.
    fn approach_all(&mut self, points: &Points, seeds: &[u64]) {
        let unit = self.unit;
        for slot in seeds.iter().filter_map(|&seed| points.slot(seed)) {
            let centroid = Centroid::new(points.row(slot));
            let proposed = Distances::proposed(points, &[slot]);
            let proposed = proposed.as_ref().map(|distances| (distances, 0));
            let work = |(chunk, squares): (usize, &mut [u64])| {
                let mut found = Vec::new();
                let rows = (chunk * CHUNK, &*squares);
                Distances::nearer(points, unit, rows, &centroid, proposed, |at, square| {
                    found.push((at, square));
                });
                let mut gained = 0;
                for (at, square) in found {
                    gained += u128::from(squares[at] - square);
                    squares[at] = square;
                }
                gained
            };
            let gained: u128 = if points.slots() * points.columns() < WORTH_THREADS {
                self.squares.chunks_mut(CHUNK).enumerate().map(work).sum()
            } else {
                let chunks = self.squares.par_chunks_mut(CHUNK).enumerate();
                chunks.map(work).sum()
            };
            self.total -= gained;
            self.seeded = true;
        }
    }

    /// Returns the potential that each of the rows in `slots` would leave as the next seed.
    fn potentials(&self, points: &Points, slots: &[usize]) -> Vec<u128> {
        let centroids: Vec<Centroid<'_>> = slots
            .iter()
            .map(|&slot| Centroid::new(points.row(slot)))
            .collect();
        let none = || vec![0_u128; slots.len()];
        let proposed = Distances::proposed(points, slots);
        let work = |mut gained: Vec<u128>, (chunk, squares): (usize, &[u64])| {
            for (number, (gained, centroid)) in gained.iter_mut().zip(&centroids).enumerate() {
                let rows = (chunk * CHUNK, squares);
                let proposed = proposed.as_ref().map(|distances| (distances, number));
                let show = |at: usize, square| *gained += u128::from(squares[at] - square);
                Distances::nearer(points, self.unit, rows, centroid, proposed, show);
            }
            gained
        };
        let gained = if points.slots() * points.columns() * slots.len() < WORTH_THREADS {
            let chunks = self.squares.chunks(CHUNK).enumerate();
            chunks.fold(none(), work)
        } else {
            let chunks = self.squares.par_chunks(CHUNK).enumerate();
            chunks.fold(none, work).reduce(none, |mut all, part| {
                all.iter_mut()
                    .zip(part)
                    .for_each(|(all, part)| *all += part);
                all
            })
        };
        gained
            .into_iter()
            .map(|gained| self.total - gained)
            .collect()
    }

    /// Returns the winner of a race among the live rows; `None` if there are none.
    fn race(&self, points: &Points, words: Words) -> Option<usize> {
        let slots = points.slots();
        let run = |mut best: Option<Entry>, chunk: usize| {
            for slot in chunk * CHUNK..slots.min((chunk + 1) * CHUNK) {
                if points.is_live(slot) {
                    best = self.enter(points.id(slot), slot, words, best);
                }
            }
            best
        };
        let chunks = slots.div_ceil(CHUNK);
        let first = |a: Option<Entry>, b: Option<Entry>| match (a, b) {
            (Some(a), Some(b)) => Some(if b.beats(&a) { b } else { a }),
            (a, b) => a.or(b),
        };
        let best = if slots < WORTH_THREADS / 8 {
            (0..chunks).fold(None, run)
        } else {
            let chunks = (0..chunks).into_par_iter();
            chunks.fold(|| None, run).reduce(|| None, first)
        };
        best.map(|entry| entry.slot)
    }

    #[inline]
    fn enter(&self, id: u64, slot: usize, words: Words, best: Option<Entry>) -> Option<Entry> {
        let weight = if self.seeded {
            self.squares[slot] as f64
        } else {
            1.0
        };
        let bits = words.word(id);
        if let Some(best) = best
            && best.key < f64::INFINITY
            && exponential_at_least(bits) * (1.0 - SLACK) > best.key * weight
        {
            return Some(best);
        }
        let variate = exponential(bits);
        let key = if weight > 0.0 {
            variate / weight
        } else {
            f64::INFINITY
        };
        let entry = Entry { key, variate, slot };
        match best {
            Some(best) if !entry.beats(&best) => Some(best),
            _ => Some(entry),
        }
    }
}

/// A row in a race.
#[derive(Debug, Clone, Copy)]
struct Entry {
    /// The key of the row in the race, E / D²; beyond all keys where D² is 0.
    key: f64,
    variate: f64,
    /// The slot of the row; slots are in the order of the ids.
    slot: usize,
}

impl Entry {
    fn beats(&self, other: &Entry) -> bool {
        let by_key = self.key.total_cmp(&other.key);
        let by_variate = self.variate.total_cmp(&other.variate);
        by_key
            .then(by_variate)
            .then(self.slot.cmp(&other.slot))
            .is_lt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_candidates_as_scikit_learn_draws() {
        for clusters in 1..=1_usize << 15 {
            let expected = 2 + (clusters as f64).ln() as usize;
            assert_eq!(candidates_of(1, clusters), expected, "{clusters}");
        }
    }
}
