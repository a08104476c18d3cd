//! Branch and bound over smallest enclosing balls for three and more dimensions, exact.
//!
//! A node holds a set C that fits into a ball of the radius, and the candidates that may still join
//! it. Let c and ρ be centre and radius of the smallest enclosing ball of C. Every point x has some
//! p in C with |x − p|² ≥ ρ² + |x − c|², so the centre of every ball of radius r around C is within
//! s = √(r² − ρ²) of c. Therefore
//!
//! - a candidate farther than r + s from c fits into no such ball and is dropped;
//! - a candidate within r − s of c lies in all of them and is counted at once;
//! - of the rest, points more than 2r apart exclude each other: a partition into such classes
//!   bounds what can still join by the number of classes (the colour bound for cliques).
//!
//! The candidate farthest from c is branched on: with it the ball grows fastest, and s shrinks. The
//! tests on distances keep a margin for the rounding of c and ρ, taken from the gap between the two
//! witnesses of the ball; whether a set fits is decided exactly ([`fits`]). Records at one place
//! are one point with a weight. Every root takes a record with its later neighbours within 2r, so
//! components are never mixed.

use std::cell::Cell;

use super::largest_ball::LargestBall;
use crate::ball::{Ball, Fitting, fits};
use crate::error::PrivacyError;
use crate::records::{Records, squared_distance};

/// The relative rounding of a squared distance between a centre and a point, with room to spare.
const ROUNDING: f64 = 1e-12;
/// The number of rounds of the search for a first solution around each point.
const SHIFTS: usize = 6;

/// Branch and bound on some records.
pub struct BranchAndBound<'r> {
    records: &'r Records,
    squared_radius: f64,
    work_limit: u64,
    /// The number of steps left, over all calls.
    left: Cell<u64>,
}

impl<'r> BranchAndBound<'r> {
    /// Prepares the search. A step is one candidate looked at in one node, or one
    /// coordinate of an enclosing ball.
    pub fn new(records: &'r Records, squared_radius: f64, work_limit: u64) -> Self {
        BranchAndBound {
            records,
            squared_radius,
            work_limit,
            left: Cell::new(work_limit),
        }
    }

    /// Returns an upper bound of the number of steps of any search over at most `rows` records in
    /// `dimension` dimensions.
    ///
    /// *Proof.* Let n be the number of records. The search for first solutions takes at most
    /// `SHIFTS` n² steps, and the neighbours n². A set of points is branched to at most once: after
    /// a branch its candidate is gone for its siblings, and a root is gone for later roots. So
    /// there are fewer than 2ⁿ branches, each of which costs at most n d steps for its ball; at
    /// most 2ⁿ nodes, with at most n steps each for their candidates; and one colour bound for each
    /// branch and at most one more for each node, of at most n (n − 1) / 2 steps. ∎
    pub fn steps_at_most(rows: usize, dimension: usize) -> f64 {
        let (n, d) = (rows as f64, dimension as f64);
        (SHIFTS as f64 + 1.0) * n * n + n.exp2() * n * (n + d)
    }

    fn spend(&self, steps: u64) -> Result<(), PrivacyError> {
        match self.left.get().checked_sub(steps) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => Err(PrivacyError::WorkLimit {
                limit: self.work_limit,
            }),
        }
    }
}

impl LargestBall for BranchAndBound<'_> {
    fn largest(&self, members: &[u32], enough: u32) -> Result<u32, PrivacyError> {
        let mut search = Search::new(self, members, enough);
        search.first_solutions()?;
        search.run()?;
        Ok(search.best)
    }
}

struct Search<'s> {
    owner: &'s BranchAndBound<'s>,
    points: Vec<&'s [f64]>,
    weights: Vec<u32>,
    enough: u32,
    best: u32,
}

/// A ball as the pruning tests use it.
struct Reach {
    centre: Vec<f64>,
    /// The outer distance: farther candidates are in no ball of the node.
    outer: f64,
    /// The inner distance: candidates within are in every ball of the node; below 0 for none.
    inner: f64,
}

impl<'s> Search<'s> {
    fn new(owner: &'s BranchAndBound<'s>, members: &[u32], enough: u32) -> Self {
        let mut sorted: Vec<&[f64]> = members
            .iter()
            .map(|&member| owner.records.row(member as usize))
            .collect();
        sorted.sort_unstable_by(|a, b| order(a, b));
        let mut points: Vec<&[f64]> = Vec::new();
        let mut weights: Vec<u32> = Vec::new();
        for point in sorted {
            match (points.last(), weights.last_mut()) {
                (Some(last), Some(weight)) if *last == point => *weight += 1,
                _ => {
                    points.push(point);
                    weights.push(1);
                }
            }
        }
        Search {
            owner,
            points,
            weights,
            enough,
            best: 0,
        }
    }

    /// Looks for a full ball around each point: the ball of what is near, moved to the centre of
    /// what it holds.
    fn first_solutions(&mut self) -> Result<(), PrivacyError> {
        let limit = self.owner.squared_radius;
        for start in 0..self.points.len() {
            let mut centre = self.points[start].to_vec();
            let mut before = 0;
            for _ in 0..SHIFTS {
                self.owner.spend(self.points.len() as u64)?;
                let held: Vec<usize> = (0..self.points.len())
                    .filter(|&at| {
                        squared_distance(&centre, self.points[at]) <= limit * (1.0 - ROUNDING)
                    })
                    .collect();
                let count = held.iter().map(|&at| self.weights[at]).sum();
                self.best = self.best.max(count);
                if count <= before {
                    break;
                }
                before = count;
                let chosen: Vec<&[f64]> = held.iter().map(|&at| self.points[at]).collect();
                match fits(&chosen, limit) {
                    Some(fitting) => centre = fitting.ball.centre,
                    None => break,
                }
            }
        }
        Ok(())
    }

    fn run(&mut self) -> Result<(), PrivacyError> {
        let count = self.points.len();
        let diameter = 4.0 * self.owner.squared_radius;
        let near =
            |a: usize, b: usize| squared_distance(self.points[a], self.points[b]) <= diameter;
        let neighbours: Vec<Vec<u32>> = (0..count)
            .map(|a| {
                (0..count as u32)
                    .filter(|&b| b as usize != a && near(a, b as usize))
                    .collect()
            })
            .collect();
        self.owner.spend((count * count) as u64)?;
        // Points with few neighbours first: their searches are small, and they are gone for the
        // others.
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|&at| (neighbours[at].len(), at));
        let mut place = vec![0; count];
        for (rank, &at) in order.iter().enumerate() {
            place[at] = rank;
        }
        for &root in &order {
            let later = neighbours[root]
                .iter()
                .map(|&other| other as usize)
                .filter(|&other| place[other] > place[root])
                .collect();
            let alone = Fitting {
                ball: Ball {
                    centre: self.points[root].to_vec(),
                    squared_radius: 0.0,
                },
                least: 0.0,
            };
            self.expand(&mut vec![root], self.weights[root], &alone, later)?;
            if self.best >= self.enough {
                break;
            }
        }
        Ok(())
    }

    /// Visits the node of `chosen` and its ball.
    fn expand(
        &mut self,
        chosen: &mut Vec<usize>,
        mut count: u32,
        fitting: &Fitting,
        candidates: Vec<usize>,
    ) -> Result<(), PrivacyError> {
        self.owner.spend(candidates.len() as u64 + 1)?;
        let reach = self.reach(fitting);
        let mut open: Vec<(f64, usize)> = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            let distance = squared_distance(&reach.centre, self.points[candidate]).sqrt();
            if distance <= reach.inner {
                count += self.weights[candidate];
            } else if distance <= reach.outer {
                open.push((distance, candidate));
            }
        }
        self.best = self.best.max(count);
        open.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut rest: Vec<usize> = open.into_iter().map(|(_, candidate)| candidate).collect();
        while !rest.is_empty() && self.best < self.enough {
            let sum: u32 = rest.iter().map(|&at| self.weights[at]).sum();
            if count + sum <= self.best || count + self.joinable(&rest)? <= self.best {
                return Ok(());
            }
            let Some(branch) = rest.pop() else {
                return Ok(());
            };
            chosen.push(branch);
            let points: Vec<&[f64]> = chosen.iter().map(|&at| self.points[at]).collect();
            self.owner.spend((points.len() * points[0].len()) as u64)?;
            if let Some(grown) = fits(&points, self.owner.squared_radius) {
                let weight = self.weights[branch];
                self.expand(chosen, count + weight, &grown, rest.clone())?;
            }
            chosen.pop();
        }
        Ok(())
    }

    fn reach(&self, Fitting { ball, least }: &Fitting) -> Reach {
        let limit = self.owner.squared_radius;
        let rounding = ROUNDING * limit;
        let slack = (limit - least + rounding).max(0.0).sqrt();
        // |centre − true centre|² is at most the gap between the witnesses.
        let off = (ball.squared_radius - least + rounding).max(0.0).sqrt();
        let radius = limit.sqrt();
        Reach {
            centre: ball.centre.clone(),
            outer: (radius + slack + off) * (1.0 + ROUNDING),
            inner: (radius - slack - off) * (1.0 - ROUNDING),
        }
    }

    /// Returns an upper bound of the weight of `rest` that can be in one ball: a greedy partition
    /// into classes that exclude each other.
    fn joinable(&self, rest: &[usize]) -> Result<u32, PrivacyError> {
        let diameter = 4.0 * self.owner.squared_radius;
        let mut classes: Vec<Vec<usize>> = Vec::new();
        let mut looked = 0;
        for &at in rest {
            let class = classes.iter_mut().find(|class| {
                class.iter().all(|&other| {
                    looked += 1;
                    squared_distance(self.points[at], self.points[other]) > diameter
                })
            });
            match class {
                Some(class) => class.push(at),
                None => classes.push(vec![at]),
            }
        }
        self.owner.spend(looked)?;
        Ok(classes
            .iter()
            .map(|class| class.iter().map(|&at| self.weights[at]).max().unwrap_or(0))
            .sum())
    }
}

fn order(a: &[f64], b: &[f64]) -> std::cmp::Ordering {
    a.iter()
        .zip(b)
        .map(|(a, b)| a.total_cmp(b))
        .find(|order| order.is_ne())
        .unwrap_or(std::cmp::Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use probity_run::stream::{Purpose, stream};
    use rand::RngExt;

    /// No records take more steps than the bound says, and some take a good part of them: crowded,
    /// spread and tied records.
    #[test]
    fn no_records_take_more_steps_than_the_bound() {
        let mut largest = 0.0_f64;
        for case in 0..4000_u64 {
            let mut draw = stream(6, Purpose::OutlierData, case, 0);
            let columns = 3 + case as usize % 3;
            let rows = draw.random_range(1..10_usize);
            let side = [3, 12, 1000][case as usize % 3];
            let values = (0..rows * columns)
                .map(|_| f64::from(draw.random_range(0..side)))
                .collect();
            let records = Records::from_grid(values, columns).unwrap();
            let squared_radius = f64::from(draw.random_range(1..side * side));
            let search = BranchAndBound::new(&records, squared_radius, u64::MAX);
            let members: Vec<u32> = (0..rows as u32).collect();
            search.largest(&members, u32::MAX).unwrap();
            let steps = (u64::MAX - search.left.get()) as f64;
            largest = largest.max(steps / BranchAndBound::steps_at_most(rows, columns));
        }
        assert!(largest <= 1.0, "{largest}");
        assert!(largest > 0.2, "only {largest}");
    }
}
