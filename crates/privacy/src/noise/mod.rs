//! Random numbers for private answers, sampled exactly.
//!
//! A sampler that computes with floating point gives away more than its formula says (Mironov
//! 2012): the low bits of the result depend on the data. Here every sampler works on random bits
//! and whole numbers only, and its output has *exactly* the distribution that its documentation
//! states:
//!
//! - [`bernoulli`]: events with probability exp(−γ) for rational γ.
//! - [`normal`]: a normal deviate whose digits are drawn as they are needed, and its sum with a
//!   count, rounded to an integer.
//! - [`laplace`]: the discrete Laplace distribution.
//!
//! The bits come from the operating system's cryptographic generator ([`SystemBits`]).
//! [`SeededBits`] replays a run and is not private.
//!
//! What remains is time: how long a sampler takes depends on what it draws. Whoever can time an
//! answer to the microsecond learns something about the noise.

pub mod bernoulli;
pub mod laplace;
pub mod normal;

use num_bigint::BigUint;
use rand::rngs::SysRng;
use rand::{Rng, TryRng};

use super::error::PrivacyError;
use probity_run::stream::{Purpose, Stream, stream};

/// A source of independent, uniform bits.
pub trait Bits {
    /// Returns the next 64 bits.
    ///
    /// # Errors
    /// When there are none.
    fn word(&mut self) -> Result<u64, PrivacyError>;
}

/// The number of bytes that are fetched from the system at a time.
const BUFFER: usize = 1024;

/// The bits of the operating system's cryptographic generator.
pub struct SystemBits {
    buffer: [u8; BUFFER],
    used: usize,
}

impl SystemBits {
    /// Opens the generator.
    pub fn new() -> SystemBits {
        SystemBits {
            buffer: [0; BUFFER],
            used: BUFFER,
        }
    }
}

impl Default for SystemBits {
    fn default() -> Self {
        SystemBits::new()
    }
}

impl Bits for SystemBits {
    fn word(&mut self) -> Result<u64, PrivacyError> {
        if self.used == BUFFER {
            SysRng
                .try_fill_bytes(&mut self.buffer)
                .map_err(|error| PrivacyError::Entropy(error.to_string()))?;
            self.used = 0;
        }
        let mut word = [0; 8];
        word.copy_from_slice(&self.buffer[self.used..self.used + 8]);
        // A word that was handed out is not kept.
        self.buffer[self.used..self.used + 8].fill(0);
        self.used += 8;
        Ok(u64::from_ne_bytes(word))
    }
}

/// A source of bits that follow from a seed. Whoever knows the seed can take the noise off again:
/// **not private**.
pub struct SeededBits(Stream);

impl SeededBits {
    /// Creates the bits of query `item` under `seed`.
    pub fn not_private(seed: u64, item: u64) -> SeededBits {
        SeededBits(stream(seed, Purpose::NotPrivateNoise, item, 0))
    }
}

impl Bits for SeededBits {
    fn word(&mut self) -> Result<u64, PrivacyError> {
        Ok(self.0.next_u64())
    }
}

/// Draws a uniform number below `limit`, which is at least 1: exact, by rejection.
pub fn below(limit: &BigUint, bits: &mut dyn Bits) -> Result<BigUint, PrivacyError> {
    let size = limit.bits();
    if let Ok(small) = u64::try_from(limit) {
        return Ok(BigUint::from(small_below(small, bits)?));
    }
    loop {
        let mut words = Vec::with_capacity(size.div_ceil(32) as usize);
        let mut wanted = size;
        while wanted > 0 {
            let taken = wanted.min(32);
            words.push((bits.word()? >> (64 - taken)) as u32);
            wanted -= taken;
        }
        let drawn = BigUint::new(words);
        if drawn < *limit {
            return Ok(drawn);
        }
    }
}

/// Draws a uniform number below `limit`, which is at least 1: exact, by rejection.
pub fn small_below(limit: u64, bits: &mut dyn Bits) -> Result<u64, PrivacyError> {
    let size = 64 - (limit - 1).leading_zeros();
    if size == 0 {
        return Ok(0);
    }
    loop {
        let drawn = bits.word()? >> (64 - size);
        if drawn < limit {
            return Ok(drawn);
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Compares observed counts with probabilities by Pearson's statistic; the bound has an error
    /// probability of 10⁻⁹ for up to 40 classes.
    pub(crate) fn follows(observed: &[u64], probabilities: &[f64]) {
        let total: u64 = observed.iter().sum();
        let mut statistic = 0.0;
        let mut classes = 0;
        for (&observed, &probability) in observed.iter().zip(probabilities) {
            let expected = probability * total as f64;
            if expected >= 5.0 {
                statistic += (observed as f64 - expected).powi(2) / expected;
                classes += 1;
            }
        }
        assert!(classes > 1 && classes <= 40, "{classes} classes");
        let degrees = f64::from(classes - 1);
        // Wilson and Hilferty's quantile at six standard deviations.
        let share = 2.0 / (9.0 * degrees);
        let bound = degrees * (1.0 - share + 6.0 * share.sqrt()).powi(3);
        assert!(
            statistic < bound,
            "{statistic} is above {bound}: {observed:?}"
        );
    }

    #[test]
    fn numbers_below_a_limit_are_uniform() {
        let mut bits = SeededBits::not_private(1, 0);
        for limit in [1, 2, 3, 7, 30] {
            let mut counts = vec![0; limit];
            for _ in 0..60_000 {
                counts[small_below(limit as u64, &mut bits).unwrap() as usize] += 1;
            }
            if limit > 1 {
                follows(&counts, &vec![1.0 / limit as f64; limit]);
            }
        }
        // 2^70 × 3: the two leading bits are 0, 1 or 2, equally often.
        let limit = BigUint::from(3_u32) << 70;
        let mut counts = [0; 3];
        for _ in 0..30_000 {
            let drawn = below(&limit, &mut bits).unwrap() >> 70_u32;
            counts[u64::try_from(&drawn).unwrap() as usize] += 1;
        }
        follows(&counts, &[1.0 / 3.0; 3]);
    }

    #[test]
    fn the_system_gives_bits_that_are_not_constant() {
        let mut bits = SystemBits::new();
        let words: Vec<u64> = (0..400).map(|_| bits.word().unwrap()).collect();
        let ones: u32 = words.iter().map(|word| word.count_ones()).sum();
        // 25,600 fair bits: standard deviation 80; six of them.
        assert!((f64::from(ones) - 12_800.0).abs() < 480.0, "{ones}");
    }
}
