//! The finds of a search as a whole: how many places they lie in, how far apart they are, how
//! plausible.
//!
//! A count rewards a search that stays where it is. So the finds of a search, distinct individuals in
//! the order found, are measured as a set ([`Diversity`]), at the end and along its curve; and what
//! depends on their number, the cells that they lie in, also at numbers of finds that are the same
//! for every search ([`CellsOf`]).
//!
//! *Rarefaction* (Hurlbert, "The nonconcept of species diversity", Ecology 1971). Of n finds, n_c of
//! them in the cell c, m are drawn without replacement. They miss c with the probability
//! C(n − n_c, m) / C(n, m), so the expected number of cells is the sum of 1 less that. It is exact and
//! draws nothing. The mean distance of two of the m is in expectation that of two of all n, and needs
//! none.

mod clusters;
pub(crate) mod space;
mod table;
mod text;

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use statrs::function::gamma::ln_gamma;

pub use clusters::DataClusters;
pub use space::{Distances, FindSpace, Place};
pub(crate) use table::TableFinds;
pub use table::TableSpace;
pub(crate) use text::TextFinds;

use super::domain::Domain;
use super::modality::Modality;
use super::pairs::{Pair, PairSource, Phase};
use probity_nn::ModelError;
use probity_run::stream::{Purpose, Words};

/// Number of pairs of finds that a mean distance is of, where there are more; its standard error is
/// then below 0.005.
const PAIRS: u64 = 10_000;

/// Largest number of finds that are looked at: of more, those that a hash of the individual draws.
const MOST: u64 = 1 << 20;

/// Largest number of codes of the finds that are looked at, for the same reason.
const MOST_CODES: u64 = 1 << 26;

/// The diversity and the plausibility of finds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Diversity {
    /// Mean share of the attributes, protected ones apart, in which two finds differ, or of the
    /// words of the longer text that the other has not; none of fewer than two finds.
    pub hamming: Option<f64>,
    /// Mean over the attributes of how far two finds differ, relative to the width of the domain;
    /// none of texts.
    pub l1: Option<f64>,
    /// Cells with a find: of a grid of three parts an attribute, or texts that finds were made of.
    pub cells: u64,
    /// Clusters of the data with a find no farther from their centre than their farthest row.
    pub clusters: u64,
    /// Mean plausibility, where a network grades individuals, or the share of their probability
    /// that texts keep for each word changed, where their fluency is measured.
    pub plausibility: Option<f64>,
}

/// The number of cells that a number of finds lie in.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CellsOf {
    /// Number of finds that are drawn of all.
    pub finds: u64,
    /// Number of cells that these finds are expected to lie in.
    pub cells: f64,
}

/// Figures of the finds of a search as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FindsSummary {
    /// Individuals that were looked at: those found, or those drawn of more than 2²⁰, or of more
    /// than have 2²⁶ codes.
    pub individuals: u64,
    /// Seeds that came to a discriminatory row which no other seed had come to before.
    pub seeds_reached: u64,
    /// The share of the seeds that reached one: seeds_reached / seeds.
    pub reached: f64,
    /// Clusters of the data that could be covered.
    pub data_clusters: u64,
    /// The diversity and plausibility of the individuals.
    pub diversity: Diversity,
    /// The expected numbers of cells of 10, 20, 50, 100 … of the individuals.
    pub cells_of: Vec<CellsOf>,
}

/// The finds of a search, as its pairs are gone through in the order found.
pub struct Finds<'a> {
    space: Box<dyn FindSpace + 'a>,
    domain: &'a dyn Domain,
    seed: u64,
    /// The bound below which the word of an individual must be for it to be looked at; all are
    /// where there is none.
    below: Option<u64>,
    individuals: HashSet<u128>,
    reached: HashSet<u64>,
    seeds: u64,
    /// The rows of the individuals looked at, one after the other.
    rows: Vec<i32>,
}

/// The measures of each find by itself.
struct Placed {
    /// The number of the cell of each find; distinct cells are numbered as they come.
    cells: Vec<u32>,
    /// The cluster that each find covers.
    clusters: Vec<Option<u8>>,
    /// The plausibility of the finds that were drawn for grading.
    grades: Vec<Option<f32>>,
}

impl<'a> Finds<'a> {
    /// An empty set of finds of a search of `case` with `seed` from `seeds` seeds.
    pub fn new<M: Modality>(case: &'a M, seed: u64, seeds: u64) -> Finds<'a> {
        Finds {
            space: case.find_space(),
            domain: case.domain(),
            seed,
            below: None,
            individuals: HashSet::new(),
            reached: HashSet::new(),
            seeds,
            rows: Vec::new(),
        }
    }

    /// Returns these finds with a bound: about a million of the `found` individuals are looked at,
    /// at most, and fewer wide ones, so that the memory is bounded.
    #[must_use]
    pub fn bounded(self, found: u64) -> Finds<'a> {
        let most = MOST.min(MOST_CODES / self.domain.width().max(1) as u64);
        let below = (u128::from(most) << 64) / u128::from(found.max(1));
        Finds {
            below: u64::try_from(below).ok(),
            ..self
        }
    }

    /// Adds the next pair.
    pub fn add(&mut self, pair: &Pair<'_>) {
        if pair.phase == Phase::Global {
            self.reached.insert(pair.seed);
        }
        let key = self.domain.individual_key(pair.row);
        if let Some(below) = self.below {
            let halves = [key as u64, (key >> 64) as u64];
            if Words::new(0, Purpose::Finds, &halves).word(0) >= below {
                return;
            }
        }
        if self.individuals.insert(key) {
            self.rows.extend_from_slice(pair.row);
        }
    }

    fn rows(&self) -> Vec<&[i32]> {
        self.rows.chunks_exact(self.domain.width().max(1)).collect()
    }

    /// The figures of the finds, and the diversity of the first of them, as many as each of
    /// `firsts` says, in ascending order.
    ///
    /// # Errors
    /// When a model that grades them cannot answer.
    pub fn measured(&self, firsts: &[u64]) -> Result<(FindsSummary, Vec<Diversity>), ModelError> {
        let rows = self.rows();
        let all = rows.len() as u64;
        let placed = self.place(&rows)?;
        let ends = firsts.iter().map(|&first| first.min(all)).chain([all]);
        let mut along = self.along(&rows, &placed, ends);
        let mut in_cell: Vec<u64> = Vec::new();
        for &cell in &placed.cells {
            let cell = cell as usize;
            in_cell.resize(in_cell.len().max(cell + 1), 0);
            in_cell[cell] += 1;
        }
        let mut cells: BTreeMap<u64, u64> = BTreeMap::new();
        in_cell
            .into_iter()
            .for_each(|own| *cells.entry(own).or_default() += 1);
        let seeds_reached = self.reached.len() as u64;
        let summary = FindsSummary {
            individuals: all,
            seeds_reached,
            reached: seeds_reached as f64 / self.seeds.max(1) as f64,
            data_clusters: self.space.clusters(),
            diversity: along.pop().unwrap_or_default(),
            cells_of: sizes(all)
                .map(|finds| CellsOf {
                    finds,
                    cells: rarefied(&cells, all, finds),
                })
                .collect(),
        };
        Ok((summary, along))
    }

    fn place(&self, rows: &[&[i32]]) -> Result<Placed, ModelError> {
        let all = rows.len() as u64;
        let places = rows.par_iter().map(|row| {
            let Place { cell, cluster } = self.space.place(row);
            (cell, cluster)
        });
        let (keys, clusters): (Vec<u128>, Vec<Option<u8>>) = places.unzip();
        let mut numbers = HashMap::new();
        let cells = keys.into_iter().map(|key| {
            let next = numbers.len() as u32;
            *numbers.entry(key).or_insert(next)
        });
        let cells = cells.collect();
        let mut grades = vec![None; rows.len()];
        let most = self.space.most_graded();
        if most > 0 {
            let words = Words::new(self.seed, Purpose::Finds, &[1]);
            let is_drawn = |&find: &usize| words.below(all, find as u64) < most;
            let drawn: Vec<usize> = (0..rows.len()).filter(is_drawn).collect();
            let graded: Vec<&[i32]> = drawn.iter().map(|&find| rows[find]).collect();
            for (&find, grade) in drawn.iter().zip(self.space.grade(&graded)?) {
                grades[find] = Some(grade);
            }
        }
        Ok(Placed {
            cells,
            clusters,
            grades,
        })
    }

    /// The diversity of the finds before each of `ends`, which ascend.
    fn along(
        &self,
        rows: &[&[i32]],
        placed: &Placed,
        ends: impl Iterator<Item = u64>,
    ) -> Vec<Diversity> {
        let (mut done, mut cells) = (0, 0);
        let mut covered = vec![false; self.space.clusters() as usize];
        let (mut sum, mut graded) = (0.0, 0u64);
        let compared = rows.par_iter().map(|row| self.space.compared(row));
        let compared: Vec<Cow<'_, [i32]>> = compared.collect();
        let mut along = Vec::new();
        for end in ends {
            for find in done..end as usize {
                // Cells are numbered as they come.
                cells = cells.max(u64::from(placed.cells[find]) + 1);
                if let Some(cluster) = placed.clusters[find] {
                    covered[usize::from(cluster)] = true;
                }
                if let Some(grade) = placed.grades[find] {
                    sum += f64::from(grade);
                    graded += 1;
                }
            }
            done = done.max(end as usize);
            let distances = self.distances(&compared[..done]);
            along.push(Diversity {
                hamming: distances.map(|of| of.hamming),
                l1: distances.and_then(|of| of.l1),
                cells,
                clusters: covered.iter().filter(|&&is_covered| is_covered).count() as u64,
                plausibility: (graded > 0).then(|| sum / graded as f64),
            });
        }
        along
    }

    /// The mean distances of two of `finds`: of every two, or of [`PAIRS`] that are drawn.
    fn distances(&self, finds: &[Cow<'_, [i32]>]) -> Option<Distances> {
        let all = finds.len() as u64;
        let every = all * all.saturating_sub(1) / 2;
        if every == 0 {
            return None;
        }
        let words = Words::new(self.seed, Purpose::Finds, &[0]);
        let mut drawn = (0..PAIRS).map(|draw| {
            let first = words.below(all, 2 * draw);
            let second = words.below(all - 1, 2 * draw + 1);
            (first, second + u64::from(second >= first))
        });
        let mut both =
            (0..all).flat_map(|first| (first + 1..all).map(move |second| (first, second)));
        let sum = |pairs: &mut dyn Iterator<Item = (u64, u64)>| {
            let none = Distances {
                hamming: 0.0,
                l1: Some(0.0),
            };
            pairs.fold(none, |sum, (first, second)| {
                let (first, second) = (&finds[first as usize], &finds[second as usize]);
                let of = self.space.distances(first, second);
                Distances {
                    hamming: sum.hamming + of.hamming,
                    l1: sum.l1.zip(of.l1).map(|(sum, of)| sum + of),
                }
            })
        };
        let (sum, pairs) = match every <= PAIRS {
            true => (sum(&mut both), every as f64),
            false => (sum(&mut drawn), PAIRS as f64),
        };
        Some(Distances {
            hamming: sum.hamming / pairs,
            l1: sum.l1.map(|sum| sum / pairs),
        })
    }
}

/// Pairs that are taken into the finds of a search as they are gone through.
pub(super) struct Watched<'a> {
    pairs: &'a dyn PairSource,
    finds: RefCell<Finds<'a>>,
}

impl<'a> Watched<'a> {
    /// Wraps `pairs` so that they are added to `finds` as they are gone through.
    pub(super) fn new(pairs: &'a dyn PairSource, finds: Finds<'a>) -> Watched<'a> {
        let finds = RefCell::new(finds);
        Watched { pairs, finds }
    }

    /// The figures of the pairs that were gone through.
    ///
    /// # Errors
    /// When a model that grades them cannot answer.
    pub(super) fn summary(self) -> Result<FindsSummary, ModelError> {
        Ok(self.finds.into_inner().measured(&[])?.0)
    }
}

impl PairSource for Watched<'_> {
    fn blocks(
        &self,
        size: usize,
        each: &mut dyn FnMut(&[Pair<'_>]) -> io::Result<()>,
    ) -> io::Result<()> {
        self.pairs.blocks(size, &mut |block| {
            let mut finds = self.finds.borrow_mut();
            block.iter().for_each(|pair| finds.add(pair));
            drop(finds);
            each(block)
        })
    }
}

/// The numbers 10, 20, 50, 100 … up to `all`.
fn sizes(all: u64) -> impl Iterator<Item = u64> {
    let tens = (1..).map_while(|power| 10u64.checked_pow(power));
    let sizes = tens.flat_map(|ten| [1, 2, 5].map(|of| ten.saturating_mul(of)));
    sizes.take_while(move |&size| size <= all)
}

/// The number of cells that `drawn` of `all` finds are expected to lie in; `cells` holds how many
/// cells have how many of all finds.
fn rarefied(cells: &BTreeMap<u64, u64>, all: u64, drawn: u64) -> f64 {
    let ln_factorial = |of: u64| ln_gamma(of as f64 + 1.0);
    let hit = |own: u64| match all - own < drawn {
        true => 1.0,
        false => {
            // C(all − own, drawn) / C(all, drawn), without the factorial of `drawn`.
            let missing = ln_factorial(all - own) - ln_factorial(all - own - drawn);
            -(missing - ln_factorial(all) + ln_factorial(all - drawn)).exp_m1()
        }
    };
    cells
        .iter()
        .map(|(&own, &cells)| cells as f64 * hit(own))
        .sum()
}

#[cfg(test)]
mod tests;
