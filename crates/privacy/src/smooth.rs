//! The smooth bound on the sensitivity of the outlier count (Section 4.2, Algorithm 2).
//!
//! Let V\[a, b\] be the records with a degree from a to b, h′ a function with the two properties of
//! [`super::sensitivity`], and for t ≥ 0
//!
//! A_t(X) = min(G, max(h′(V\[k−t, k+t\]), h′(V\[k−1−t, k−1+t\])) + t + 1),
//!
//! with G the upper bound on the global sensitivity. S(X) = max over t ≥ 0 of e^{−βt} A_t(X).
//!
//! **S is a β-smooth upper bound on the local sensitivity.** *Proof.* A_0 ≥ LS is Theorem 5 and
//! Theorem 4 (the removal of a record turns records of degree k around it into outliers, its
//! arrival turns outliers of degree k − 1 around it into inliers, the two have opposite signs, and
//! the record itself adds 1). Now let X and X′ differ in record j. No other record's degree differs
//! by more than 1, so V_X\[a, b\] ∖ {j} ⊆ V_X′\[a−1, b+1\], and by the two properties h′(V_X\[a,
//! b\]) ≤ h′(V_X′\[a−1, b+1\]) + 1. Hence A_t(X) ≤ A_{t+1}(X′), also under the common cap G, and
//! S(X) ≤ e^β max over t of e^{−β(t+1)} A_{t+1}(X′) ≤ e^β S(X′). ∎
//!
//! The maximum is found without computing h′ for every t. Upper bounds on h′ follow from what is
//! known for other t (Proposition 1: a larger window holds at most the additional records more; a
//! smaller one at most as many), and no t from [`Horizon`] on can exceed what S has by t + 1 alone
//! (Proposition 2). Only the t with the largest upper bound is computed, until none exceeds the
//! best value. So S is the maximum over all t, exactly; what is skipped cannot change it.

use super::error::PrivacyError;
pub use super::horizon::Horizon;
use super::inverse::{InverseNoise, Steps};
use super::sensitivity::LargestBall;

/// A computed bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SmoothBound {
    /// The bound S(X).
    pub value: f64,
    /// A t at which the maximum is reached.
    pub at: usize,
    /// The number of times that h′ was computed.
    pub computed: usize,
}

/// Computes S(X), from the degrees of the records (exact up to [`Horizon::degree_cap`]).
///
/// # Errors
/// A work limit that `ball` has.
pub fn smooth_bound(
    degrees: &[u32],
    k: usize,
    horizon: Horizon,
    ball: &dyn LargestBall,
) -> Result<SmoothBound, PrivacyError> {
    Windows::new(degrees, k, horizon).maximise(ball)
}

/// Computes the steps of the inverse sensitivity mechanism for A_0, A_1 …, from the degrees of the
/// records (exact up to [`Horizon::degree_cap`]). As for S, what is not computed cannot change
/// them.
///
/// # Errors
/// A work limit that `ball` has.
pub fn inverse_steps(
    degrees: &[u32],
    k: usize,
    noise: &InverseNoise,
    ball: &dyn LargestBall,
) -> Result<Steps, PrivacyError> {
    let mut windows = Windows::new(degrees, k, noise.horizon());
    let mut least = vec![0; windows.horizon.last + 1];
    loop {
        let bounds = |held: &dyn Fn(usize) -> u64| -> Vec<u64> {
            let times = 0..=windows.horizon.last;
            times.map(|t| windows.bound(t, held(t))).collect()
        };
        let (low, high) = (bounds(&|t| least[t]), bounds(&|t| windows.most_at(t)));
        let steps = noise.steps(&high);
        let differing = noise.difference(&noise.steps(&low), &steps);
        let Some(t) = differing.and_then(|at| noise.decided(&steps, &high, at)) else {
            return Ok(steps);
        };
        windows.compute(t, &mut least, ball)?;
    }
}

/// Computes the local sensitivity bound A_0 without smoothing (Theorem 5), for the owner's report.
///
/// # Errors
/// A work limit that `ball` has.
pub fn local_bound(
    degrees: &[u32],
    k: usize,
    cap: u64,
    ball: &dyn LargestBall,
) -> Result<u64, PrivacyError> {
    let horizon = Horizon {
        beta: 1.0,
        cap,
        last: 0,
    };
    let windows = Windows::new(degrees, k, horizon);
    let mut most = 0;
    for which in [0, 1] {
        most = most.max(ball.largest(windows.members(which, 0), u32::MAX)?);
    }
    Ok((u64::from(most) + 1).min(cap))
}

/// The records by degree, and the knowledge of h′ in each window so far.
struct Windows {
    horizon: Horizon,
    k: usize,
    /// The records with a degree up to the cap, by degree.
    sorted: Vec<u32>,
    /// The place where each degree begins in `sorted`.
    starts: Vec<usize>,
    /// The upper bounds on h′ of the windows around k (0) and k − 1 (1), for each t.
    most: [Vec<u64>; 2],
}

impl Windows {
    fn new(degrees: &[u32], k: usize, horizon: Horizon) -> Windows {
        let classes = k + horizon.last + 1;
        let mut starts = vec![0; classes + 1];
        for &degree in degrees {
            if (degree as usize) < classes {
                starts[degree as usize + 1] += 1;
            }
        }
        for class in 0..classes {
            starts[class + 1] += starts[class];
        }
        let mut next = starts.clone();
        let mut sorted = vec![0; starts[classes]];
        for (record, &degree) in degrees.iter().enumerate() {
            if (degree as usize) < classes {
                sorted[next[degree as usize]] = record as u32;
                next[degree as usize] += 1;
            }
        }
        let mut windows = Windows {
            horizon,
            k,
            sorted,
            starts,
            most: [Vec::new(), Vec::new()],
        };
        windows.most = [0, 1].map(|which| {
            (0..=horizon.last)
                .map(|t| windows.members(which, t).len() as u64)
                .collect()
        });
        windows
    }

    /// Returns the records of window `which` (0: around k, 1: around k − 1) at t.
    fn members(&self, which: usize, t: usize) -> &[u32] {
        let middle = self.k - which;
        let first = middle.saturating_sub(t);
        &self.sorted[self.starts[first]..self.starts[middle + t + 1]]
    }

    /// Returns A_t where the fuller window has h′ = `held`.
    fn bound(&self, t: usize, held: u64) -> u64 {
        (held + t as u64 + 1).min(self.horizon.cap)
    }

    fn weighted(&self, t: usize, held: u64) -> f64 {
        (-self.horizon.beta * t as f64).exp() * self.bound(t, held) as f64
    }

    /// Returns an upper bound of h′ of the fuller window.
    fn most_at(&self, t: usize) -> u64 {
        self.most[0][t].max(self.most[1][t])
    }

    /// Computes h′ of the window at `t` that may be the fuller one, and learns from it.
    fn compute(
        &mut self,
        t: usize,
        least: &mut [u64],
        ball: &dyn LargestBall,
    ) -> Result<(), PrivacyError> {
        let which = usize::from(self.most[1][t] > self.most[0][t]);
        let enough = self.horizon.cap.saturating_sub(t as u64 + 1);
        let found = u64::from(ball.largest(
            self.members(which, t),
            enough.min(u64::from(u32::MAX)) as u32,
        )?);
        if found < enough {
            self.learn(which, t, found);
        }
        for least in &mut least[t..] {
            *least = found.max(*least);
        }
        Ok(())
    }

    fn maximise(mut self, ball: &dyn LargestBall) -> Result<SmoothBound, PrivacyError> {
        let mut best = SmoothBound {
            value: 0.0,
            at: 0,
            computed: 0,
        };
        // What each window has at least.
        let mut least = vec![0; self.horizon.last + 1];
        loop {
            for (t, &least) in least.iter().enumerate() {
                let value = self.weighted(t, least);
                if value > best.value {
                    (best.value, best.at) = (value, t);
                }
            }
            let upper = |t: usize| self.weighted(t, self.most_at(t));
            let next = (0..=self.horizon.last)
                .max_by(|&a, &b| upper(a).total_cmp(&upper(b)).then(b.cmp(&a)))
                .unwrap_or(0);
            if upper(next) <= best.value {
                return Ok(best);
            }
            self.compute(next, &mut least, ball)?;
            best.computed += 1;
        }
    }

    /// Lowers the upper bounds of all windows, given h′ of one.
    fn learn(&mut self, which: usize, at: usize, found: u64) {
        let size = self.members(which, at).len();
        for other in [0, 1] {
            // Windows of the other kind contain one another when t differs by one or more.
            let shift = usize::from(other != which);
            for t in 0..=self.horizon.last {
                let bound = if t + shift <= at {
                    found
                } else if t >= at + shift {
                    found + (self.members(other, t).len() - size) as u64
                } else {
                    continue;
                };
                self.most[other][t] = self.most[other][t].min(bound);
            }
        }
    }
}

#[cfg(test)]
mod tests;
