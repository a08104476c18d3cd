//! The nearest people of a group around a person: by full scan, exact, with declared ties.
//!
//! The people of the group are looked at in blocks. Whoever is farther than the k-th nearest so far is
//! left out at once; the others are kept until there are several times k of them, and then cut down
//! to the k nearest and those as near. What comes out is therefore what sorting all of them would
//! give, whatever the size of a block.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::coordinates::{Cell, Coordinates};

/// People that are compared at a time.
const BLOCK: usize = 1024;

/// How much farther than the k-th nearest somebody may be who is as near but for rounding, as a share of
/// the distance: a distance is a sum of a few numbers, each rounded by some 10⁻¹⁶ of itself.
const ROUNDING: f64 = 1e-12;

/// What happens to people as near as the k-th nearest one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Ties {
    /// All of them count, so that nothing depends on the order of the rows; there may be more than
    /// k neighbours.
    #[default]
    All,
    /// There are k neighbours: those in later rows count, as in the programs of Álvarez and
    /// Ruggieri.
    Index,
}

/// A person near another one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbour {
    /// The row of the person.
    pub row: u32,
    /// The distance.
    pub distance: f64,
}

/// The people of a group, among whom neighbours are looked for.
pub struct Group {
    rows: Vec<u32>,
    coordinates: Coordinates,
}

impl Group {
    /// Creates the group of the people `rows`, which ascend, of `people`.
    pub fn new(people: &Coordinates, rows: Vec<u32>) -> Group {
        Group {
            coordinates: people.select(&rows),
            rows,
        }
    }

    /// Returns the number of people in the group.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether nobody is in the group.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the rows of the people in the group, which ascend.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Returns the `k` people nearest to `person`, without the one in the row `except`, in ascending
    /// order of their rows; all of the group where there are no more.
    pub fn nearest(
        &self,
        person: &[Cell],
        k: usize,
        ties: Ties,
        except: Option<u32>,
    ) -> Vec<Neighbour> {
        let mut nearest = Nearest::new(k, ties);
        let mut distances = [0.0; BLOCK];
        for (block, rows) in self.rows.chunks(BLOCK).enumerate() {
            let distances = &mut distances[..rows.len()];
            self.coordinates.distances(person, block * BLOCK, distances);
            for (&row, &distance) in rows.iter().zip(&*distances) {
                if distance <= nearest.bound && Some(row) != except {
                    nearest.add(Neighbour { row, distance });
                }
            }
        }
        nearest.finish()
    }
}

/// The nearest people so far.
struct Nearest {
    k: usize,
    ties: Ties,
    kept: Vec<Neighbour>,
    /// The distance beyond which nobody is among the nearest.
    bound: f64,
    /// The number of neighbours that may be kept before they are cut down.
    most: usize,
}

impl Nearest {
    fn new(k: usize, ties: Ties) -> Nearest {
        Nearest {
            k,
            ties,
            kept: Vec::new(),
            bound: if k == 0 {
                f64::NEG_INFINITY
            } else {
                f64::INFINITY
            },
            most: 4 * k + 64,
        }
    }

    fn add(&mut self, neighbour: Neighbour) {
        self.kept.push(neighbour);
        if self.kept.len() > self.most {
            self.cut();
            // Where very many are equally near, none of them can be dropped yet.
            self.most = 2 * self.kept.len() + 64;
        }
    }

    /// Drops whoever is farther than the k-th nearest.
    fn cut(&mut self) {
        if self.kept.len() <= self.k || self.k == 0 {
            return;
        }
        let by_distance = |a: &Neighbour, b: &Neighbour| a.distance.total_cmp(&b.distance);
        let (_, last, _) = self.kept.select_nth_unstable_by(self.k - 1, by_distance);
        self.bound = match self.ties {
            Ties::All => last.distance * (1.0 + ROUNDING),
            Ties::Index => last.distance,
        };
        let bound = self.bound;
        self.kept.retain(|neighbour| neighbour.distance <= bound);
    }

    fn finish(mut self) -> Vec<Neighbour> {
        self.cut();
        if self.ties == Ties::Index && self.kept.len() > self.k {
            self.kept.sort_unstable_by(|a, b| {
                let by_distance = a.distance.total_cmp(&b.distance);
                by_distance.then(b.row.cmp(&a.row))
            });
            self.kept.truncate(self.k);
        }
        self.kept.sort_unstable_by_key(|neighbour| neighbour.row);
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::coordinates::Column;

    /// Sorts everybody.
    fn by_sorting(
        people: &Coordinates,
        rows: &[u32],
        (person, k): (&[Cell], usize),
        ties: Ties,
        except: Option<u32>,
    ) -> Vec<u32> {
        let mut all: Vec<(f64, u32)> = rows
            .iter()
            .filter(|&&row| Some(row) != except)
            .map(|&row| (people.distance(person, row as usize), row))
            .collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        let last = all.get(k.saturating_sub(1)).map(|it| it.0);
        let mut nearest: Vec<u32> = all
            .iter()
            .enumerate()
            .filter(|(place, (distance, _))| match ties {
                Ties::Index => *place < k,
                Ties::All => k > 0 && last.is_none_or(|last| *distance <= last * (1.0 + ROUNDING)),
            })
            .map(|(_, it)| it.1)
            .collect();
        nearest.sort_unstable();
        nearest
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

        #[test]
        fn the_nearest_are_those_of_sorting(
            values in prop::collection::vec((0_i32..6, 0_i32..4), 1..3000),
            k in 0_usize..40,
            person in 0_usize..3000,
            is_index: bool,
        ) {
            let rows = values.len();
            let person = person % rows;
            let numbers = values.iter().map(|it| f64::from(it.0) / 3.0).collect();
            let levels: Vec<Cell> = values.iter().map(|it| Cell::Level(it.1)).collect();
            let people = Coordinates::new(vec![
                Column::ordered("a", numbers),
                Column::new("b", 1.0, &levels),
            ]);
            let group: Vec<u32> = (0..rows as u32).filter(|row| row % 3 != 1).collect();
            let ties = if is_index { Ties::Index } else { Ties::All };
            let centre = people.person(person);
            let except = Some(person as u32);
            let found = Group::new(&people, group.clone()).nearest(&centre, k, ties, except);
            let found: Vec<u32> = found.iter().map(|neighbour| neighbour.row).collect();
            let expected = by_sorting(&people, &group, (&centre, k), ties, except);
            prop_assert_eq!(found, expected);
        }
    }
}
