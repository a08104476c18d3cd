//! k-means++ seeding by exponential race.
//!
//! At stage s every row i has its own exponential variate E(i, s), drawn from the seed, the stage
//! and the row's id. The row with the smallest E / w wins, where w is its squared distance to the
//! seeds so far (1 at stage 0). The winner has the distribution w / Σw: the minimum of exponential
//! variates with rates w.
//!
//! **Lemma.** Removing a row that is no seed changes no seed; removing the seed of stage s changes
//! none of the stages before s. *Proof.* The key E / w of a row at stage s depends on that row and
//! the seeds before s alone, and an argmin does not change when another element leaves. ∎
//!
//! Where no row has a distance above 0, fewer distinct rows than stages are there; then the
//! smallest E wins. Equal keys: the lower id. The distances are exact, and the division of two f64
//! the same everywhere. Most rows are passed over by an approximate distance whose error is bounded
//! ([`super::kernel`]).

use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::exact::{exponential, exponential_at_least, squared_distance};
use super::kernel::{dot, dot_roundings, unit_error, vectorized};
use super::points::{Points, square};
use probity_run::stream::{Purpose, Words};

/// Which random numbers a clustering draws: two clusterings of equal key and points are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Key {
    /// The seed of the model.
    pub seed: u64,
    /// What is clustered, where one model clusters many times.
    pub node: u64,
}

/// The widest vectors for [`dot`].
const LANES: usize = 16;
/// Rows of a chunk.
const CHUNK: usize = 1024;
/// Values that are worth the start of a second thread.
const WORTH_THREADS: usize = 1 << 17;
/// Room for the roundings of E, of 1 − u and of the quotients.
const SLACK: f64 = 1e-9;

/// Seeds by id, one for each of `clusters` stages; those of `kept` stages are known already.
pub(crate) fn seed(points: &Points, clusters: usize, key: Key, kept: &[u64]) -> Vec<u64> {
    let mut seeds: Vec<u64> = kept.to_vec();
    let mut slots: Vec<usize> = seeds.iter().filter_map(|&id| points.slot(id)).collect();
    let mut nearest = Distances::new(points);
    for &slot in &slots {
        nearest.approach(points, slot);
    }
    for stage in seeds.len()..clusters {
        let words = Words::new(key.seed, Purpose::Seeding, &[key.node, stage as u64]);
        let Some(winner) = nearest.race(points, &slots, words) else {
            break;
        };
        seeds.push(points.id(winner));
        slots.push(winner);
        if stage + 1 < clusters {
            nearest.approach(points, winner);
        }
    }
    seeds
}

/// Approximate squared distances of the rows to the nearest seed.
struct Distances {
    squares: Vec<f32>,
    /// |c|² of the largest seed.
    largest: f32,
    unit: f32,
    seeded: bool,
}

/// A new seed for a chunk of rows, for vectors of any width.
struct Approach<'a> {
    rows: &'a [i32],
    norms: &'a [f32],
    squares: &'a mut [f32],
    centroid: &'a [f32],
    /// |c|².
    norm: f32,
}

impl WithSimd for Approach<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let rows = self.rows.chunks_exact(self.centroid.len());
        for ((row, nearest), &own) in rows.zip(self.squares).zip(self.norms) {
            let square = own + self.norm - 2.0 * dot(simd, row, self.centroid);
            *nearest = if square < *nearest { square } else { *nearest };
        }
    }
}

/// A row that may win a race.
#[derive(Clone, Copy)]
struct Candidate {
    at_least: f64,
    slot: usize,
}

/// Rows that may win, and a key that the winner does not exceed.
struct Candidates {
    rows: Vec<Candidate>,
    at_most: f64,
}

impl Candidates {
    fn none() -> Candidates {
        Candidates {
            rows: Vec::new(),
            at_most: f64::INFINITY,
        }
    }

    fn with(mut self, other: Candidates) -> Candidates {
        self.rows.extend(other.rows);
        self.at_most = self.at_most.min(other.at_most);
        self
    }

    fn offer(&mut self, slot: usize, at_least: f64, at_most: f64) {
        self.rows.push(Candidate { at_least, slot });
        if at_most < self.at_most {
            self.at_most = at_most;
            if self.rows.len() > 64 {
                let limit = self.at_most;
                self.rows.retain(|row| row.at_least <= limit);
            }
        }
    }
}

impl Distances {
    fn new(points: &Points) -> Distances {
        Distances {
            squares: vec![f32::INFINITY; points.slots()],
            largest: 0.0,
            unit: unit_error(dot_roundings(points.columns())),
            seeded: false,
        }
    }

    /// Takes another seed into account.
    fn approach(&mut self, points: &Points, seed: usize) {
        let columns = points.columns();
        let row = points.row(seed);
        let centroid: Vec<f32> = row.iter().map(|&x| x as f32).collect();
        let norm = square(row) as f32;
        self.largest = self.largest.max(norm);
        self.seeded = true;
        let work = |(chunk, squares): (usize, &mut [f32])| {
            let start = chunk * CHUNK;
            let approach = Approach {
                rows: &points.values()[start * columns..][..squares.len() * columns],
                norms: &points.norms()[start..][..squares.len()],
                squares,
                centroid: &centroid,
                norm,
            };
            vectorized(approach, LANES);
        };
        if points.slots() * columns < WORTH_THREADS {
            self.squares.chunks_mut(CHUNK).enumerate().for_each(work);
        } else {
            self.squares
                .par_chunks_mut(CHUNK)
                .enumerate()
                .for_each(work);
        }
    }

    /// The winner among the live rows; `None` if there are none.
    fn race(&self, points: &Points, seeds: &[usize], words: Words) -> Option<usize> {
        let slots = points.slots();
        let run = |mut found: Candidates, chunk: usize| {
            for slot in chunk * CHUNK..slots.min((chunk + 1) * CHUNK) {
                if points.is_live(slot) {
                    self.enter(points, words, slot, &mut found);
                }
            }
            found
        };
        let chunks = slots.div_ceil(CHUNK);
        let found = if slots < WORTH_THREADS / 8 {
            (0..chunks).fold(Candidates::none(), run)
        } else {
            (0..chunks)
                .into_par_iter()
                .fold(Candidates::none, run)
                .reduce(Candidates::none, Candidates::with)
        };
        found
            .rows
            .iter()
            .filter(|row| row.at_least <= found.at_most)
            .map(|row| self.exact_key(points, seeds, words, row.slot))
            .min_by(|a, b| {
                (a.0.total_cmp(&b.0))
                    .then(a.1.total_cmp(&b.1))
                    .then(a.2.cmp(&b.2))
            })
            .map(|(_, _, slot)| slot)
    }

    #[inline]
    fn enter(&self, points: &Points, words: Words, slot: usize, found: &mut Candidates) {
        let bits = words.word(points.id(slot));
        let (least, most) = self.weight(points, slot);
        if exponential_at_least(bits) * (1.0 - SLACK) > found.at_most * most {
            return;
        }
        let variate = exponential(bits);
        let at_least = variate / most * (1.0 - SLACK);
        if at_least <= found.at_most {
            let at_most = if least > 0.0 {
                variate / least * (1.0 + SLACK)
            } else {
                f64::INFINITY
            };
            found.offer(slot, at_least, at_most);
        }
    }

    /// Bounds of the weight of a row.
    #[inline]
    fn weight(&self, points: &Points, slot: usize) -> (f64, f64) {
        if !self.seeded {
            return (1.0, 1.0);
        }
        let square = f64::from(self.squares[slot]);
        // x·c ≤ (|x|² + |c|²) / 2; the factor 2.1 also covers the rounded norms.
        let error = 2.1 * f64::from(self.unit) * f64::from(points.norms()[slot] + self.largest);
        (square - error, square + error)
    }

    /// What is compared: the key, or beyond all keys the variate where the weight is 0; then the
    /// slot, which is in the order of the ids.
    fn exact_key(
        &self,
        points: &Points,
        seeds: &[usize],
        words: Words,
        slot: usize,
    ) -> (f64, f64, usize) {
        let variate = exponential(words.word(points.id(slot)));
        let row = points.row(slot);
        let weight = seeds
            .iter()
            .map(|&seed| squared_distance(row, points.row(seed)))
            .min();
        match weight {
            None => (variate, variate, slot),
            Some(0) => (f64::INFINITY, variate, slot),
            Some(weight) => (variate / weight as f64, variate, slot),
        }
    }
}
