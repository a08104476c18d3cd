//! Exact arithmetic: squared distances in u64, losses in i128, an exponential variate from 64 bits.

/// Computes |a − b|², exact: at most 2¹⁴ columns of squares below 2⁴⁹.
#[inline]
pub fn squared_distance(a: &[i32], b: &[i32]) -> u64 {
    a.iter()
        .zip(b)
        .map(|(&a, &b)| {
            let difference = i64::from(a - b);
            (difference * difference) as u64
        })
        .sum()
}

/// Returns a standard exponential variate from 64 uniform bits: −ln((bits + ½) / 2⁵³) of the upper
/// 53 of them.
///
/// Made of additions, multiplications and divisions alone, which IEEE 754 defines to the last bit;
/// the logarithm of the system library is not the same on every machine.
pub fn exponential(bits: u64) -> f64 {
    -logarithm(uniform(bits))
}

/// Returns a lower bound of [`exponential`] that costs one subtraction: −ln u ≥ 1 − u.
#[inline]
pub fn exponential_at_least(bits: u64) -> f64 {
    1.0 - uniform(bits)
}

/// Maps bits to a number in (0, 1): the middle of one of 2⁵² equal intervals, exact in f64.
#[inline]
fn uniform(bits: u64) -> f64 {
    ((bits >> 12) as f64 + 0.5) * (1.0 / (1_u64 << 52) as f64)
}

/// Computes ln u for u in (0, 1): u = m·2ᵉ with m in [¾, 3/2), and ln m = 2 artanh((m − 1) / (m +
/// 1)) by its series, whose argument is at most 1/5, so that 12 terms leave less than 2⁻⁵⁶.
fn logarithm(u: f64) -> f64 {
    let bits = u.to_bits();
    let mut exponent = (bits >> 52) as i64 - 1023;
    let mut mantissa = f64::from_bits((bits & ((1 << 52) - 1)) | (1023 << 52));
    if mantissa >= 1.5 {
        mantissa *= 0.5;
        exponent += 1;
    }
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let square = s * s;
    let mut sum = 0.0;
    for term in (0..12).rev() {
        sum = sum * square + 1.0 / f64::from(2 * term + 1);
    }
    2.0 * s * sum + exponent as f64 * std::f64::consts::LN_2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_is_right_to_a_few_units() {
        for step in 1..100_000_u64 {
            let u = step as f64 / 100_000.0;
            assert!(
                (logarithm(u) - u.ln()).abs() <= 4e-16 * (1.0 + u.ln().abs()),
                "{u}"
            );
        }
        for bits in [0, 1, u64::MAX, u64::MAX >> 1] {
            assert!(exponential(bits) > 0.0);
            assert!(exponential(bits) >= exponential_at_least(bits));
        }
    }

    #[test]
    fn the_variate_has_the_exponential_distribution() {
        // Mean of 200,000 variates: standard error 0.0022; six of them bound the error probability
        // by 2e-9.
        let words = probity_run::stream::Words::new(1, probity_run::stream::Purpose::Seeding, &[0]);
        let mean = (0..200_000)
            .map(|i| exponential(words.word(i)))
            .sum::<f64>()
            / 200_000.0;
        assert!((mean - 1.0).abs() < 0.0135);
    }
}
