//! The inverse sensitivity mechanism (H. Asi and J. Duchi, "Instance-optimality in differential
//! privacy via approximate inverse sensitivity mechanisms", NeurIPS 2020) on bounds of the local
//! sensitivity, cut off where its δ allows it.
//!
//! The mechanism answers y with a probability that falls by a constant factor with every record
//! that would have to be replaced to make y the true count. How many that are is hard to compute;
//! here a lower bound takes its place. Let A_t be the bounds of [`super::smooth`], so that A_0 is
//! at least the local sensitivity and A_t(X) ≤ A_{t+1}(X′) for neighbours X and X′. For a rational
//! q < 1 let
//!
//! a_t = max(A_t, ⌈q a_{t+1}⌉), with a_t = G beyond the public horizon of t,
//!
//! D_t = a_0 + … + a_{t−1}, and let t(X, y) be the t with D_t < |y − count(X)| < D_{t+1}. For a
//! rational x < 1 and a number of cells U, the density of the answer at y is x^t(X, y) / Z(X) where
//! t(X, y) < U, and 0 elsewhere: steps that fall from the count to both sides, step t being a_t
//! wide. All a_t are whole multiples of 1/M, and y runs through the odd multiples of 1/2M, so that
//! this is a distribution on a grid and is drawn exactly, by whole numbers and random bits. The
//! answer is y rounded to an integer.
//!
//! **It is (ε, δ)-DP if x q ≥ e^{−ε} and φ r^{U−1} ≤ δ (1 + r + … + r^{U−1}) with r = x/q and φ =
//! max(1 − q^U, 1/2).** *Proof.*
//!
//! 1. *a_0 ≥ LS, a_t(X′) ≤ a_{t+1}(X), and a_{t+1} ≤ a_t / q.* The first and the third by
//!    definition. The second holds beyond the horizon, where both are G, and below it by induction
//!    from there: A_t(X′) ≤ A_{t+1}(X) ≤ a_{t+1}(X), and ⌈q a_{t+1}(X′)⌉ ≤ ⌈q a_{t+2}(X)⌉ ≤
//!    a_{t+1}(X).
//! 2. *t(X, y) ≤ t(X′, y) + 1.* With t′ = t(X′, y): |y − count(X)| ≤ |y − count(X′)| + a_0(X) <
//!    Σ_{i ≤ t′} a_i(X′) + a_0(X) ≤ Σ_{i ≤ t′} a_{i+1}(X) + a_0(X) = D_{t′+2}(X).
//! 3. *Z(X′) ≤ Z(X) / q,* since Z(X) = 2M Σ_{t<U} a_t(X) x^t and by 1 a_t(X′) ≤ a_{t+1}(X) ≤ a_t(X)
//!    / q.
//! 4. Where both densities are above 0 their ratio is x^{t(X, y) − t(X′, y)} Z(X′) / Z(X) ≤ 1/(x q)
//!    ≤ e^ε.
//! 5. Where that of X alone is, t(X, y) = U − 1 by 2: on either side of the count such y fill at
//!    most a_{U−1}(X). Their length together is (E + Δ)⁺ + (E − Δ)⁺ with Δ = |count(X) − count(X′)|
//!    and E = D_U(X) − D_U(X′). For E < Δ they are on one side, so at most a_{U−1}; for E ≥ Δ they
//!    fill 2E. And D_U(X′) ≥ a_0(X′) + Σ_{1≤t<U} a_{t−1}(X) ≥ q a_0(X) + D_{U−1}(X), since a_0(X′)
//!    ≥ q a_1(X′) ≥ q a_0(X); so E ≤ a_{U−1} − q a_0 ≤ (1 − q^U) a_{U−1}. All in all they fill at
//!    most 2φ a_{U−1}, and have the probability 2φ a_{U−1} x^{U−1} M / Z(X), where Z(X) = 2M Σ a_t
//!    x^t and a_t ≥ a_{U−1} q^{U−1−t}: at most φ r^{U−1} / Σ r^t ≤ δ. ∎
//!
//! U, q and x are chosen from public numbers alone, so that the noise is small on a database with
//! two records in the fullest ball. The conditions are held against the whole numbers that are
//! used, with room for the rounding of the logarithms.

use num_bigint::BigUint;

use super::calibration::{EXPECTED, Guarantee};
use super::error::PrivacyError;
use super::horizon::Horizon;
use super::noise::{Bits, below, small_below};

/// The number M of parts of a record: the width of a step is a whole number of them.
const PARTS: u64 = 1 << 16;
/// The denominator of q and x, as a power of two.
const DENOMINATOR: u32 = 32;
/// The share of δ that is used when q and x are chosen; the rest is for their rounding.
const USED: f64 = 0.99;
/// The allowance for the rounding of a logarithm, and of a probability relative to it.
const ROUNDING: f64 = 1e-9;
/// The largest number of cells that is tried.
const MOST_CELLS: usize = 20_000;
/// The number of cells up to which every number is tried; above, numbers grow by this fraction of
/// themselves.
const EVERY_CELL: usize = 32;

/// The public constants of the mechanism.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InverseNoise {
    /// The number U of cells.
    cells: usize,
    /// The growth q in 2^−32.
    growth: u64,
    /// The decay x in 2^−32.
    decay: u64,
    /// The cap G.
    cap: u64,
    /// The last t for which A_t is computed.
    last: usize,
}

/// The widths a_0, a_1 … of the steps, in parts of a record. The widths depend on the records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Steps(Vec<u64>);

impl InverseNoise {
    /// Chooses the constants for a count that no record changes by more than `cap`.
    ///
    /// # Errors
    /// When there are none in floating point.
    pub fn new(guarantee: Guarantee, cap: u64) -> Result<InverseNoise, PrivacyError> {
        let Guarantee { epsilon, delta } = guarantee;
        let numbers = std::iter::successors(Some(2_usize), |&cells| {
            Some(cells + 1.max(cells / EVERY_CELL))
        });
        numbers
            .take_while(|&cells| cells <= MOST_CELLS)
            .filter_map(|cells| InverseNoise::with_cells(cells, guarantee, cap))
            .map(|noise| (noise.standard_deviation(&noise.expected()), noise))
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, noise)| noise)
            .ok_or(PrivacyError::Calibration { epsilon, delta })
    }

    /// Returns the constants with the largest r, and with x q = e^{−ε} the smallest q, that δ
    /// allows.
    fn with_cells(cells: usize, guarantee: Guarantee, cap: u64) -> Option<InverseNoise> {
        let Guarantee { epsilon, delta } = guarantee;
        let (mut low, mut high) = (0.0, 1.0 - ROUNDING);
        let beta = |ratio: f64| (epsilon + ratio.ln()) / 2.0;
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            match beyond(middle, (-beta(middle)).exp(), cells) <= USED * delta {
                true => low = middle,
                false => high = middle,
            }
        }
        let (ratio, beta) = (low, beta(low));
        let unit = f64::from(DENOMINATOR).exp2();
        let growth = ((-beta).exp() * unit).ceil() as u64;
        let decay = (ratio * (-beta).exp() * unit).ceil() as u64 + 1;
        let range = 1..unit as u64;
        if !(beta > 0.0 && range.contains(&growth) && range.contains(&decay)) {
            return None;
        }
        let (q, x) = (growth as f64 / unit, decay as f64 / unit);
        let is_private = x.ln() + q.ln() >= -epsilon
            && x < q
            && beyond(x / q, q, cells) <= delta * (1.0 - ROUNDING);
        // Beyond it q^(t−U) G is below 1, which every A_t is at least.
        let last = cells as f64 + ((cap as f64).ln() / -q.ln()).ceil();
        is_private.then_some(InverseNoise {
            cells,
            growth,
            decay,
            cap,
            last: last.min(cap.saturating_sub(1) as f64) as usize,
        })
    }

    /// Returns the t for which A_t is computed.
    pub fn horizon(&self) -> Horizon {
        Horizon {
            beta: self.beta(),
            cap: self.cap,
            last: self.last,
        }
    }

    /// Returns the steps for A_0, A_1 … up to the horizon.
    pub fn steps(&self, bounds: &[u64]) -> Steps {
        let mut widths = vec![self.cap * PARTS; self.cells.max(bounds.len())];
        let mut next = self.cap * PARTS;
        for (width, &bound) in widths.iter_mut().zip(bounds).rev() {
            let grown = (u128::from(next) * u128::from(self.growth)).div_ceil(1 << DENOMINATOR);
            *width = (bound.min(self.cap) * PARTS).max(grown as u64);
            next = *width;
        }
        Steps(widths)
    }

    /// Returns the t ≥ `at` whose A_t decides the step `at`; none where G does.
    pub fn decided(&self, steps: &Steps, bounds: &[u64], at: usize) -> Option<usize> {
        (at..bounds.len()).find(|&t| steps.0[t] == bounds[t].min(self.cap) * PARTS)
    }

    /// Returns the first step by which answers on `one` and `other` differ.
    pub fn difference(&self, one: &Steps, other: &Steps) -> Option<usize> {
        (0..self.cells).find(|&at| one.0[at] != other.0[at])
    }

    /// Returns `count` with noise.
    ///
    /// # Errors
    /// No random bits.
    pub fn draw(
        &self,
        count: i64,
        steps: &Steps,
        bits: &mut dyn Bits,
    ) -> Result<i64, PrivacyError> {
        // The weights a_t x^t, times 2^(32 (U − 1)).
        let mut weights = Vec::with_capacity(self.cells);
        let mut factor = BigUint::from(1_u32) << (u64::from(DENOMINATOR) * (self.cells as u64 - 1));
        for &width in &steps.0[..self.cells] {
            weights.push(&factor * width);
            factor = (factor >> DENOMINATOR) * self.decay;
        }
        let mut drawn = below(&weights.iter().sum(), bits)?;
        let mut inside = 0;
        for (weight, width) in weights.iter().zip(&steps.0) {
            if drawn < *weight {
                let place = inside + small_below(*width, bits)?;
                let away = ((place + PARTS / 2) / PARTS) as i64;
                let is_below = bits.word()? >> 63 == 1;
                return Ok(if is_below { count - away } else { count + away });
            }
            drawn -= weight;
            inside += width;
        }
        Ok(count)
    }

    /// Returns the standard deviation of the noise before it is rounded.
    pub fn standard_deviation(&self, steps: &Steps) -> f64 {
        let (mut mass, mut square, mut factor, mut inside) = (0.0, 0.0, 1.0, 0.0);
        for &width in &steps.0[..self.cells] {
            let width = width as f64 / PARTS as f64;
            let weight = factor * width;
            mass += weight;
            square += weight * mean_square(inside, inside + width);
            inside += width;
            factor *= self.x();
        }
        (square / mass).sqrt()
    }

    /// Returns a lower bound of the standard deviation for all records: the density is nowhere
    /// above 1/Z, Z being at least what it is for A_t = min(G, t + 1), and of all such densities
    /// the uniform one has the least.
    pub fn standard_deviation_at_least(&self) -> f64 {
        let mut factor = 1.0;
        let half: f64 = self.steps(&self.growing(0)).0[..self.cells]
            .iter()
            .map(|&width| {
                let weight = factor * width as f64 / PARTS as f64;
                factor *= self.x();
                weight
            })
            .sum();
        half / 3.0_f64.sqrt()
    }

    /// Returns an upper bound of the standard deviation for all records: no step is wider than G,
    /// and the steps' probabilities fall at least as fast as r^t.
    pub fn standard_deviation_at_most(&self) -> f64 {
        let ratio = self.x() / self.q();
        let (mut mass, mut square, mut weight) = (0.0, 0.0, 1.0);
        for cell in 0..self.cells {
            mass += weight;
            square += weight * mean_square(cell as f64, cell as f64 + 1.0);
            weight *= ratio;
        }
        self.cap as f64 * (square / mass).sqrt()
    }

    /// Returns the largest change of a_0 between neighbours: −ln q.
    pub fn beta(&self) -> f64 {
        -self.q().ln()
    }

    /// Returns the steps of a database without dense groups.
    pub fn expected(&self) -> Steps {
        self.steps(&self.growing(EXPECTED as u64))
    }

    /// Returns A_t for `held` records in every window.
    fn growing(&self, held: u64) -> Vec<u64> {
        (0..=self.last as u64)
            .map(|t| (held + t + 1).min(self.cap))
            .collect()
    }

    fn q(&self) -> f64 {
        self.growth as f64 / f64::from(DENOMINATOR).exp2()
    }

    fn x(&self) -> f64 {
        self.decay as f64 / f64::from(DENOMINATOR).exp2()
    }
}

impl Steps {
    /// Returns the width of the first step, in records.
    pub fn first(&self) -> f64 {
        self.0[0] as f64 / PARTS as f64
    }
}

/// Computes φ r^(U−1) / (1 + r + … + r^(U−1)) for r < 1: what may be beyond the last cell of a
/// neighbour.
fn beyond(ratio: f64, q: f64, cells: usize) -> f64 {
    let power = ratio.powi(cells as i32 - 1);
    let filled = (1.0 - q.powi(cells as i32)).max(0.5);
    filled * power * (1.0 - ratio) / (1.0 - power * ratio)
}

/// Returns the mean square of a number that is uniform between `low` and `high`.
fn mean_square(low: f64, high: f64) -> f64 {
    (low * low + low * high + high * high) / 3.0
}

#[cfg(test)]
mod tests;
