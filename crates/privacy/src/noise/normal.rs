//! An exact normal deviate, and its sum with a count rounded to an integer.
//!
//! Karney ("Sampling exactly from the normal distribution", ACM TOMS 42, 2016), Algorithm N: choose
//! k ≥ 0 with probability proportional to exp(−k²/2) and x uniform in (0, 1), accept with
//! probability exp(−x(2k + x)/2); then k + x with a random sign is normal, since k²/2 + x(2k + x)/2
//! = (k + x)²/2. All comparisons are between uniform deviates of which only the leading bits are
//! drawn, more of them when two agree so far. Nothing is ever rounded.
//!
//! [`rounded_sum`] gives ⌊count + σ Z + 1/2⌋ for a standard deviation σ that is an `f64`, that is a
//! fraction with a power of two below: digits of Z are drawn until the integer is decided. So the
//! answer is *exactly* a rounded normal distribution, and rounding is processing after the fact: it
//! keeps whatever (ε, δ) the normal distribution has.

use num_bigint::{BigInt, BigUint};

use super::bernoulli::Ratio;
use super::{Bits, small_below};
use crate::error::PrivacyError;

/// A uniform deviate in (0, 1) whose binary digits are drawn when they are asked for, 64 at a time.
struct Uniform {
    first: u64,
    more: Vec<u64>,
}

impl Uniform {
    fn draw(bits: &mut dyn Bits) -> Result<Uniform, PrivacyError> {
        Ok(Uniform {
            first: bits.word()?,
            more: Vec::new(),
        })
    }

    fn word(&mut self, at: usize, bits: &mut dyn Bits) -> Result<u64, PrivacyError> {
        if at == 0 {
            return Ok(self.first);
        }
        while self.more.len() < at {
            self.more.push(bits.word()?);
        }
        Ok(self.more[at - 1])
    }

    fn is_below(&mut self, other: &mut Uniform, bits: &mut dyn Bits) -> Result<bool, PrivacyError> {
        let mut at = 0;
        loop {
            let (a, b) = (self.word(at, bits)?, other.word(at, bits)?);
            if a != b {
                return Ok(a < b);
            }
            at += 1;
        }
    }
}

/// A standard normal deviate: sign, whole part, and digits after the point.
struct Normal {
    negative: bool,
    whole: u64,
    fraction: Uniform,
}

/// Returns ⌊count + σ Z + 1/2⌋ with Z standard normal, cut at ±2⁶².
///
/// # Errors
/// No random bits.
pub fn rounded_sum(
    count: i64,
    standard_deviation: f64,
    bits: &mut dyn Bits,
) -> Result<i64, PrivacyError> {
    let mut deviate = normal(bits)?;
    match decided_by_floats(count, standard_deviation, &deviate) {
        Some(answer) => Ok(answer),
        None => decided_by_integers(count, standard_deviation, &mut deviate, bits),
    }
}

/// Returns the integer of [`rounded_sum`], if 64 digits of Z and floating point with a bound on its
/// error leave no other one.
fn decided_by_floats(count: i64, standard_deviation: f64, deviate: &Normal) -> Option<i64> {
    let size = deviate.whole as f64 + deviate.fraction.first as f64 / 2.0_f64.powi(64);
    let noise = standard_deviation * if deviate.negative { -size } else { size };
    let value = count as f64 + noise + 0.5;
    // Each of a few operations is off by at most 2⁻⁵³ of the largest number in it, and Z by 2⁻⁵³ as
    // well.
    let error = (count.unsigned_abs() as f64 + standard_deviation * (size + 1.0) + 1.0) * 1e-15;
    let (low, high) = ((value - error).floor(), (value + error).floor());
    (low == high && low.abs() < 9e15).then_some(low as i64)
}

/// Returns the integer of [`rounded_sum`], with as many digits of Z as it takes.
fn decided_by_integers(
    count: i64,
    standard_deviation: f64,
    deviate: &mut Normal,
    bits: &mut dyn Bits,
) -> Result<i64, PrivacyError> {
    let scale = Ratio::from_f64(standard_deviation);
    let numerator = BigInt::from(scale.numerator);
    let denominator = BigInt::from(scale.denominator);
    let mut digits = BigUint::from(deviate.whole);
    let mut at = 0;
    loop {
        digits = (digits << 64_u32) + deviate.fraction.word(at, bits)?;
        at += 1;
        // Z lies between ± digits / 2^b and ± (digits + 1) / 2^b.
        let unit = BigInt::from(1) << (64 * at);
        let floor_at = |digits: BigUint| {
            let size = BigInt::from(digits);
            let signed = if deviate.negative { -size } else { size };
            // ⌊count + n z / (d 2^b) + 1/2⌋ over the common denominator 2 d 2^b.
            let common = &denominator * &unit * 2;
            let whole = BigInt::from(2 * i128::from(count) + 1) * &denominator * &unit;
            floor_division(&(whole + &numerator * signed * 2), &common)
        };
        let (one, other) = (floor_at(digits.clone()), floor_at(&digits + 1_u32));
        if one == other {
            let limit = 1_i64 << 62;
            let cut = if one < BigInt::from(0) { -limit } else { limit };
            return Ok(i64::try_from(&one).unwrap_or(cut).clamp(-limit, limit));
        }
    }
}

fn floor_division(value: &BigInt, divisor: &BigInt) -> BigInt {
    let quotient = value / divisor;
    if &quotient * divisor > *value {
        quotient - 1
    } else {
        quotient
    }
}

fn normal(bits: &mut dyn Bits) -> Result<Normal, PrivacyError> {
    loop {
        let mut whole = 0_u64;
        while half_exponential(bits)? {
            whole += 1;
        }
        if !all(
            whole.saturating_mul(whole.saturating_sub(1)),
            bits,
            half_exponential,
        )? {
            continue;
        }
        let mut fraction = Uniform::draw(bits)?;
        if !all(whole + 1, bits, |bits| accepts(whole, &mut fraction, bits))? {
            continue;
        }
        return Ok(Normal {
            negative: bits.word()? >> 63 == 1,
            whole,
            fraction,
        });
    }
}

/// Returns whether `times` independent events all happen.
fn all(
    times: u64,
    bits: &mut dyn Bits,
    mut event: impl FnMut(&mut dyn Bits) -> Result<bool, PrivacyError>,
) -> Result<bool, PrivacyError> {
    for _ in 0..times {
        if !event(bits)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Succeeds with probability exp(−1/2): a falling run of uniforms below 1/2 has length n or more
/// with probability (1/2)^n / n!, and the alternating sum is the probability of an even length (von
/// Neumann).
fn half_exponential(bits: &mut dyn Bits) -> Result<bool, PrivacyError> {
    let mut last = Uniform::draw(bits)?;
    if last.word(0, bits)? >> 63 == 1 {
        return Ok(true);
    }
    let mut even = false;
    loop {
        let mut next = Uniform::draw(bits)?;
        if !next.is_below(&mut last, bits)? {
            return Ok(even);
        }
        (last, even) = (next, !even);
    }
}

/// Succeeds with probability exp(−x (2k + x) / (2k + 2)): a falling run below x in which each step
/// is kept with probability (2k + x)/(2k + 2).
fn accepts(k: u64, x: &mut Uniform, bits: &mut dyn Bits) -> Result<bool, PrivacyError> {
    let mut last: Option<Uniform> = None;
    let mut even = true;
    loop {
        let mut next = Uniform::draw(bits)?;
        if !next.is_below(last.as_mut().unwrap_or(&mut *x), bits)? {
            return Ok(even);
        }
        // (2k + 2) R < 2k + x for a uniform R: its whole part, and its fraction where that decides.
        let kept = match small_below(2 * k + 2, bits)? {
            part if part < 2 * k => true,
            part if part > 2 * k => false,
            _ => Uniform::draw(bits)?.is_below(x, bits)?,
        };
        if !kept {
            return Ok(even);
        }
        (last, even) = (Some(next), !even);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::SeededBits;
    use crate::noise::tests::follows;
    use statrs::function::erf::erfc;

    fn below(at: f64) -> f64 {
        0.5 * erfc(-at / std::f64::consts::SQRT_2)
    }

    #[test]
    fn frequencies_are_those_of_a_rounded_normal_distribution() {
        let mut bits = SeededBits::not_private(4, 0);
        for (count, sigma) in [(0, 0.3), (7, 1.0), (-3, 2.5), (100, 4.0)] {
            let runs = 200_000;
            let mut counts = [0; 37];
            for _ in 0..runs {
                let drawn = rounded_sum(count, sigma, &mut bits).unwrap();
                counts[(drawn - count + 18).clamp(0, 36) as usize] += 1;
            }
            let probabilities: Vec<f64> = (-18..=18)
                .map(|at| {
                    let edge = |at: f64| below(at / sigma);
                    match at {
                        -18 => edge(-17.5),
                        18 => 1.0 - edge(17.5),
                        _ => edge(f64::from(at) + 0.5) - edge(f64::from(at) - 0.5),
                    }
                })
                .collect();
            follows(&counts, &probabilities);
        }
    }

    /// A source that gives ones for ever after a prefix makes the undecided case go on drawing.
    #[test]
    fn digits_are_drawn_until_the_integer_is_decided() {
        struct Scripted(Vec<u64>, usize, SeededBits);
        impl Bits for Scripted {
            fn word(&mut self) -> Result<u64, PrivacyError> {
                self.1 += 1;
                match self.0.get(self.1 - 1) {
                    Some(&word) => Ok(word),
                    None => self.2.word(),
                }
            }
        }
        // k = 0: the first run is odd (a word below 1/2, then one above it). x: its first digits
        // are those of 1/2, so that σ x is 1/2 as far as 64 digits tell; the next comparison fails.
        let half = 1_u64 << 63;
        let words = vec![1, 2, half, u64::MAX];
        let mut bits = Scripted(words, 0, SeededBits::not_private(5, 0));
        let drawn = rounded_sum(10, 1.0, &mut bits).unwrap();
        assert!(bits.1 >= 5);
        assert!([9, 10, 11].contains(&drawn));
    }

    /// The shortcut gives what the integers give.
    #[test]
    fn floats_decide_as_integers_do() {
        let mut bits = SeededBits::not_private(7, 0);
        let mut decided = 0;
        for case in 0..20_000_i64 {
            let mut deviate = normal(&mut bits).unwrap();
            let sigma = [0.3, 7.25, 1e5, 0.1][(case % 4) as usize];
            if let Some(answer) = decided_by_floats(case - 9000, sigma, &deviate) {
                let exact = decided_by_integers(case - 9000, sigma, &mut deviate, &mut bits);
                assert_eq!(answer, exact.unwrap());
                decided += 1;
            }
        }
        assert!(decided > 19_900, "{decided}");
    }

    #[test]
    fn wide_and_narrow_noise_is_sampled_too() {
        let mut bits = SeededBits::not_private(6, 0);
        assert_eq!(rounded_sum(5, 1e-12, &mut bits).unwrap(), 5);
        let mut total = 0.0;
        for _ in 0..2000 {
            let drawn = rounded_sum(0, 1e9, &mut bits).unwrap() as f64 / 1e9;
            assert!(drawn.abs() < 8.0);
            total += drawn * drawn;
        }
        // Mean of 2,000 squares: standard deviation 0.032; six of them.
        assert!((total / 2000.0 - 1.0).abs() < 0.19, "{total}");
    }
}
