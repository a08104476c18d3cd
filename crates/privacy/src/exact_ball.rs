//! Smallest enclosing balls in integers, for the cases that floating point cannot tell apart.
//!
//! With v_i = p_i − p_0 for affinely independent boundary points, the circumscribed ball has its
//! centre at p_0 + Σ λ_i v_i, where 2 G λ = b with the Gram matrix G and b_i = |v_i|².
//! Fraction-free (Bareiss) elimination gives λ_i = n_i / d in integers; the squared radius is Σ n_i
//! b_i / 2d, and a point p_0 + w lies in the ball iff d |w|² ≤ 2 Σ n_i (w · v_i).

use num_bigint::BigInt;

/// The circumscribed ball of some points.
struct ExactBall {
    members: Vec<usize>,
    /// The numerators λ_1 … over the denominator; λ_0 is what is left to 1.
    numerators: Vec<BigInt>,
    denominator: BigInt,
}

/// Returns whether the grid points fit into a closed ball of squared radius `limit`. `guess` is a
/// likely support.
pub(super) fn fits(points: &[&[f64]], limit: f64, guess: &[usize]) -> bool {
    let limit = BigInt::from(limit.floor() as i128);
    if let Some(ball) = ExactBall::through(points, guess)
        && ball.is_minimal()
        && (0..points.len()).all(|at| ball.contains(points, at))
    {
        return ball.at_most(points, &limit);
    }
    let mut order: Vec<usize> = (0..points.len()).collect();
    let end = order.len();
    let mut boundary = Vec::new();
    match smallest(points, &mut order, end, &mut boundary) {
        Some(ball) => ball.at_most(points, &limit),
        None => true,
    }
}

/// Finds, by Welzl's recursion with move-to-front, the smallest ball around the first `end` points
/// with `boundary` on its surface.
fn smallest(
    points: &[&[f64]],
    order: &mut [usize],
    end: usize,
    boundary: &mut Vec<usize>,
) -> Option<ExactBall> {
    let mut ball = ExactBall::through(points, boundary);
    if boundary.len() > points[0].len() {
        return ball;
    }
    for slot in 0..end {
        let point = order[slot];
        if ball
            .as_ref()
            .is_none_or(|ball| !ball.contains(points, point))
        {
            boundary.push(point);
            let grown = smallest(points, order, slot, boundary);
            boundary.pop();
            if grown.is_some() {
                ball = grown;
            }
            order[..=slot].rotate_right(1);
        }
    }
    ball
}

impl ExactBall {
    /// Returns the circumscribed ball; `None` without members or if they are affinely dependent.
    fn through(points: &[&[f64]], members: &[usize]) -> Option<ExactBall> {
        let (&first, rest) = members.split_first()?;
        let shifted: Vec<Vec<i128>> = rest
            .iter()
            .map(|&member| shift(points[member], points[first]))
            .collect();
        // Rows of [2 G | b].
        let mut rows: Vec<Vec<BigInt>> = shifted
            .iter()
            .map(|a| {
                let products = shifted.iter().map(|b| BigInt::from(2 * product(a, b)));
                products.chain([BigInt::from(product(a, a))]).collect()
            })
            .collect();
        let (numerators, denominator) = solve(&mut rows)?;
        Some(ExactBall {
            members: members.to_vec(),
            numerators,
            denominator,
        })
    }

    /// Returns whether the centre is in the convex hull of the members: then no smaller ball
    /// encloses them.
    fn is_minimal(&self) -> bool {
        let sum: BigInt = self.numerators.iter().sum();
        sum <= self.denominator && self.numerators.iter().all(|n| *n >= BigInt::ZERO)
    }

    fn contains(&self, points: &[&[f64]], point: usize) -> bool {
        let origin = points[self.members[0]];
        let w = shift(points[point], origin);
        let mut right = BigInt::ZERO;
        for (numerator, &member) in self.numerators.iter().zip(&self.members[1..]) {
            right += numerator * BigInt::from(2 * product(&w, &shift(points[member], origin)));
        }
        &self.denominator * BigInt::from(product(&w, &w)) <= right
    }

    fn at_most(&self, points: &[&[f64]], limit: &BigInt) -> bool {
        let origin = points[self.members[0]];
        let mut twice = BigInt::ZERO;
        for (numerator, &member) in self.numerators.iter().zip(&self.members[1..]) {
            let v = shift(points[member], origin);
            twice += numerator * BigInt::from(product(&v, &v));
        }
        twice <= limit * 2 * &self.denominator
    }
}

/// Solves a square system given as rows `[A | b]`, and returns numerators and the positive common
/// denominator.
fn solve(rows: &mut [Vec<BigInt>]) -> Option<(Vec<BigInt>, BigInt)> {
    let size = rows.len();
    let mut previous = BigInt::from(1);
    for pivot in 0..size {
        // The Gram matrix is positive semidefinite: a zero here means dependent points.
        if rows[pivot][pivot] == BigInt::ZERO {
            return None;
        }
        for row in 0..size {
            if row == pivot {
                continue;
            }
            for column in (0..=size).filter(|&column| column != pivot) {
                let value = &rows[pivot][pivot] * &rows[row][column]
                    - &rows[row][pivot] * &rows[pivot][column];
                rows[row][column] = value / &previous;
            }
            rows[row][pivot] = BigInt::ZERO;
        }
        previous = rows[pivot][pivot].clone();
        // Fraction-free Gauss-Jordan: all pivots done so far become the last one.
        for (done, row) in rows.iter_mut().enumerate().take(pivot) {
            row[done] = previous.clone();
        }
    }
    let numerators = rows.iter().map(|row| row[size].clone()).collect();
    Some((numerators, previous))
}

fn shift(point: &[f64], origin: &[f64]) -> Vec<i128> {
    point
        .iter()
        .zip(origin)
        .map(|(point, origin)| (point - origin) as i128)
        .collect()
}

fn product(a: &[i128], b: &[i128]) -> i128 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
