//! Smallest enclosing balls: Welzl's recursion with the move-to-front heuristic and pivoting, and
//! an exact decision.
//!
//! The recursion and the incremental basis follow Gärtner, "Fast and robust smallest enclosing
//! balls" (ESA 1999). It is fast, but rounds. [`fits`] therefore never trusts its radius alone: a
//! ball that is found is held against all points (the centre is a witness that they fit), and the
//! dual weights of its support are a witness that no smaller ball exists: for weights λ ≥ 0 with
//! sum 1, every enclosing ball has r² ≥ Σ λᵢ |pᵢ|² − |Σ λᵢ pᵢ|². When neither witness clears the
//! rounding error, `exact_ball` decides in integers. So "these grid points fit into a closed ball
//! of squared radius R²" is a mathematical fact of the points, as the smoothness proofs need it.

use super::exact_ball;

/// The bound on rounding errors of the witnesses, as a share of the squared radius plus the squared
/// extent.
const SLACK: f64 = 1e-9;
/// The distance from the affine hull of the basis, as a share of the squared radius, below which a
/// point does not extend the basis.
const FLAT: f64 = 1e-14;

/// A ball.
#[derive(Debug, Clone, PartialEq)]
pub struct Ball {
    /// The centre of the ball.
    pub centre: Vec<f64>,
    /// The squared radius of the ball; below 0 where it encloses nothing.
    pub squared_radius: f64,
}

impl Ball {
    /// Returns the squared distance of `point` from the centre.
    pub fn squared_distance(&self, point: &[f64]) -> f64 {
        super::records::squared_distance(&self.centre, point)
    }
}

/// Returns the smallest enclosing ball, up to rounding.
pub fn smallest_enclosing_ball(points: &[&[f64]]) -> Ball {
    let mut search = Search::new(points);
    search.pivot();
    search.ball()
}

/// A ball that is known to enclose some points and to fit into the limit.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitting {
    /// The ball, which encloses the points: its squared radius is the largest squared distance from
    /// its centre.
    pub ball: Ball,
    /// A lower bound of the squared radius of every enclosing ball.
    pub least: f64,
}

/// Returns the smallest enclosing ball if its squared radius is at most `limit`; decided exactly.
/// The points must be grid points (whole numbers up to 2²²), and there must be one.
pub fn fits(points: &[&[f64]], limit: f64) -> Option<Fitting> {
    let mut search = Search::new(points);
    search.pivot();
    let mut ball = search.ball();
    ball.squared_radius = points
        .iter()
        .map(|point| ball.squared_distance(point))
        .fold(0.0, f64::max);
    let least = search.dual_bound();
    let decided = if ball.squared_radius <= limit * (1.0 - SLACK) {
        true
    } else if least > limit * (1.0 + SLACK) {
        false
    } else {
        exact_ball::fits(points, limit, &search.best.members)
    };
    decided.then_some(Fitting { ball, least })
}

/// The state of the recursion: the order of the points and the basis of forced boundary points.
struct Search<'p> {
    points: &'p [&'p [f64]],
    columns: usize,
    /// The points in the order of the heuristic; the support comes first.
    order: Vec<usize>,
    supported: usize,
    basis: Basis,
    best: Snapshot,
}

/// The last ball and the points that it was drawn through.
#[derive(Clone, Default)]
struct Snapshot {
    centre: Vec<f64>,
    squared_radius: f64,
    members: Vec<usize>,
}

#[derive(Default)]
struct Basis {
    members: Vec<usize>,
    origin: Vec<f64>,
    directions: Vec<Vec<f64>>,
    lengths: Vec<f64>,
    steps: Vec<f64>,
    shares: Vec<Vec<f64>>,
    centres: Vec<Vec<f64>>,
    radii: Vec<f64>,
}

impl<'p> Search<'p> {
    fn new(points: &'p [&'p [f64]]) -> Self {
        Search {
            points,
            columns: points.first().map_or(0, |point| point.len()),
            order: (0..points.len()).collect(),
            supported: 0,
            basis: Basis::default(),
            best: Snapshot {
                squared_radius: -1.0,
                ..Snapshot::default()
            },
        }
    }

    fn ball(&self) -> Ball {
        Ball {
            centre: self.best.centre.clone(),
            squared_radius: self.best.squared_radius,
        }
    }

    /// Returns how far point `at` is outside the current ball, squared; above 0 outside.
    fn excess(&self, at: usize) -> f64 {
        if self.best.squared_radius < 0.0 {
            return f64::INFINITY;
        }
        super::records::squared_distance(&self.best.centre, self.points[at])
            - self.best.squared_radius
    }

    /// Repeats the recursion on the support and the farthest point until the ball stops growing.
    fn pivot(&mut self) {
        if self.points.is_empty() {
            return;
        }
        self.move_to_front(1);
        let mut reached = f64::NEG_INFINITY;
        while self.best.squared_radius > reached {
            reached = self.best.squared_radius;
            let farthest = (self.supported..self.order.len())
                .map(|slot| (self.excess(self.order[slot]), slot))
                .max_by(|a, b| a.0.total_cmp(&b.0));
            let Some((excess, slot)) = farthest else {
                return;
            };
            if excess <= reached * 1e-15 {
                return;
            }
            let pivot = self.order[slot];
            let kept = self.supported;
            if self.basis.push(self.points, pivot) {
                self.record();
                self.supported = 0;
                self.move_to_front(kept);
                self.basis.pop();
                if let Some(at) = self.order.iter().position(|&point| point == pivot) {
                    self.order[..=at].rotate_right(1);
                    self.supported += 1;
                }
            }
        }
    }

    /// Runs Welzl's recursion over the first `end` points, with the basis on the boundary.
    fn move_to_front(&mut self, end: usize) {
        self.supported = 0;
        if self.basis.members.len() == self.columns + 1 {
            return;
        }
        for slot in 0..end {
            let point = self.order[slot];
            if self.excess(point) > self.best.squared_radius.max(0.0) * 1e-15
                && self.basis.push(self.points, point)
            {
                self.record();
                self.move_to_front(slot);
                self.basis.pop();
                self.order[..=slot].rotate_right(1);
                self.supported += 1;
            }
        }
    }

    /// Makes the circumscribed ball of the basis the current one.
    fn record(&mut self) {
        let basis = &self.basis;
        if let (Some(centre), Some(&squared_radius)) = (basis.centres.last(), basis.radii.last()) {
            self.best.centre.clone_from(centre);
            self.best.squared_radius = squared_radius;
            self.best.members.clone_from(&basis.members);
        }
    }

    /// Returns a lower bound on the squared radius of every enclosing ball, from the weights of the
    /// support. Negative weights are cut off, which keeps it a bound.
    fn dual_bound(&self) -> f64 {
        let mut basis = Basis::default();
        if !(self.best.members.iter()).all(|&member| basis.push(self.points, member)) {
            return 0.0;
        }
        let weights = basis.weights();
        let sum: f64 = weights.iter().map(|weight| weight.max(0.0)).sum();
        if sum <= 0.0 {
            return 0.0;
        }
        // Relative to one of the points, which keeps the numbers small.
        let origin = self.points[self.best.members[0]];
        let mut mean = vec![0.0; self.columns];
        let mut square = 0.0;
        for (&member, weight) in self.best.members.iter().zip(&weights) {
            let share = weight.max(0.0) / sum;
            for ((mean, at), origin) in mean.iter_mut().zip(self.points[member]).zip(origin) {
                let shifted = at - origin;
                *mean += share * shifted;
                square += share * shifted * shifted;
            }
        }
        square - mean.iter().map(|mean| mean * mean).sum::<f64>()
    }
}

impl Basis {
    /// Adds a boundary point; false if it is too close to the affine hull of the others.
    fn push(&mut self, points: &[&[f64]], point: usize) -> bool {
        let at = points[point];
        let size = self.members.len();
        if size == 0 {
            self.origin = at.to_vec();
            self.directions.push(Vec::new());
            self.lengths.push(0.0);
            self.steps.push(0.0);
            self.shares.push(Vec::new());
            self.centres.push(at.to_vec());
            self.radii.push(0.0);
            self.members.push(point);
            return true;
        }
        let mut direction: Vec<f64> = at.iter().zip(&self.origin).map(|(a, o)| a - o).collect();
        let mut shares = vec![0.0; size];
        for (share, (older, &length)) in shares
            .iter_mut()
            .zip(self.directions.iter().zip(&self.lengths))
            .skip(1)
        {
            *share = 2.0 * dot(older, &direction) / length;
            for (value, old) in direction.iter_mut().zip(older) {
                *value -= *share * old;
            }
        }
        let length = 2.0 * dot(&direction, &direction);
        let last = size - 1;
        let whole = super::records::squared_distance(at, &self.origin);
        if length <= FLAT * self.radii[last].max(whole) {
            return false;
        }
        let excess = super::records::squared_distance(at, &self.centres[last]) - self.radii[last];
        let step = excess / length;
        let centre = self.centres[last]
            .iter()
            .zip(&direction)
            .map(|(centre, value)| centre + step * value)
            .collect();
        self.radii.push(self.radii[last] + excess * step / 2.0);
        self.centres.push(centre);
        self.directions.push(direction);
        self.lengths.push(length);
        self.steps.push(step);
        self.shares.push(shares);
        self.members.push(point);
        true
    }

    fn pop(&mut self) {
        self.members.pop();
        self.directions.pop();
        self.lengths.pop();
        self.steps.pop();
        self.shares.pop();
        self.centres.pop();
        self.radii.pop();
    }

    /// Returns the centre as an affine combination of the members.
    fn weights(&self) -> Vec<f64> {
        let size = self.members.len();
        let mut weights = vec![0.0; size];
        for at in (1..size).rev() {
            weights[at] = self.steps[at]
                - (at + 1..size)
                    .map(|later| self.shares[later][at] * weights[later])
                    .sum::<f64>();
        }
        weights[0] = 1.0 - weights[1..].iter().sum::<f64>();
        weights
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests;
