//! σ, tanh, eˣ and the normal distribution on registers: absolute error below 2·10⁻⁷ (the last one
//! 3·10⁻⁷), finite everywhere; σ and tanh never beyond 0, −1 and 1.
//!
//! eˣ = 2ⁿ·2ʳ with n the integer nearest to x·log₂e and |r| ≤ 1/2. 2ʳ − 1 = r·q(r), where q is the
//! polynomial of degree 5 that meets (2ʳ − 1)/r at the Chebyshev nodes (error below 10⁻⁸); 2ⁿ is
//! put together from bits. tanh is made of eˣ − 1, which keeps its relative precision near 0.

use std::f32::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

use pulp::Simd;

/// Coefficients of q, lowest first.
const POWER_OF_TWO: [f32; 6] = [
    std::f32::consts::LN_2,
    0.240_226_5,
    0.055_503_57,
    0.009_618_083,
    0.001_339_086_3,
    0.000_154_531_63,
];

/// The number 1.5·2²³: adding it rounds a small number to an integer, kept in the low bits of the
/// sum.
const ROUND: f32 = 12_582_912.0;

/// Returns (s, p) with s = 2ⁿ and e^(x·factor) = s·(1 + p), for |x·factor| < 87.
#[inline(always)]
fn scaled_power<S: Simd>(simd: S, x: S::f32s, factor: f32) -> (S::f32s, S::f32s) {
    let exponent = simd.splat_f32s(factor * std::f32::consts::LOG2_E);
    let rounded = simd.mul_add_f32s(x, exponent, simd.splat_f32s(ROUND));
    let integer = simd.sub_f32s(rounded, simd.splat_f32s(ROUND));
    let rest = simd.mul_add_f32s(x, exponent, simd.neg_f32s(integer));
    let mut q = simd.splat_f32s(POWER_OF_TWO[5]);
    for &coefficient in POWER_OF_TWO[..5].iter().rev() {
        q = simd.mul_add_f32s(q, rest, simd.splat_f32s(coefficient));
    }
    let bits = simd.wrapping_dyn_shl_u32s(simd.transmute_u32s_f32s(rounded), simd.splat_u32s(23));
    let scale = simd.add_u32s(bits, simd.splat_u32s(1f32.to_bits()));
    (simd.transmute_f32s_u32s(scale), simd.mul_f32s(q, rest))
}

/// Returns x, but not beyond ±bound.
#[inline(always)]
fn clamp<S: Simd>(simd: S, x: S::f32s, bound: f32) -> S::f32s {
    let above = simd.max_f32s(x, simd.splat_f32s(-bound));
    simd.min_f32s(above, simd.splat_f32s(bound))
}

/// Computes σ(x) = 1 / (1 + e⁻ˣ).
#[inline(always)]
pub fn sigmoid<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    let one = simd.splat_f32s(1.0);
    let (scale, p) = scaled_power(simd, clamp(simd, x, 80.0), -1.0);
    let denominator = simd.add_f32s(simd.mul_add_f32s(scale, p, scale), one);
    simd.div_f32s(one, denominator)
}

/// Computes tanh(x) = (e²ˣ − 1) / (e²ˣ + 1).
#[inline(always)]
pub fn tanh<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    let (scale, p) = scaled_power(simd, clamp(simd, x, 10.0), 2.0);
    let less_one = simd.mul_add_f32s(scale, p, simd.sub_f32s(scale, simd.splat_f32s(1.0)));
    simd.div_f32s(less_one, simd.add_f32s(less_one, simd.splat_f32s(2.0)))
}

/// Computes eˣ for x ≤ 0; e⁻⁸⁰ for what is below −80.
#[inline(always)]
pub fn exp_of_negative<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    let (scale, p) = scaled_power(simd, clamp(simd, x, 80.0), 1.0);
    simd.mul_add_f32s(scale, p, scale)
}

/// The constants p and a, lowest first, of erfc(z) ≈ t·(a₁ + … + a₅·t⁴)·e^(−z²) with t = 1/(1 +
/// p·z) (Abramowitz, Stegun 1964, 7.1.26).
const ERFC: (f32, [f32; 5]) = (
    0.327_591_1,
    [
        0.254_829_6,
        -0.284_496_74,
        1.421_413_7,
        -1.453_152,
        1.061_405_4,
    ],
);

/// Computes the distribution function and the density of the normal distribution at x.
#[inline(always)]
pub fn normal<S: Simd>(simd: S, x: S::f32s) -> (S::f32s, S::f32s) {
    let half_square = simd.mul_f32s(simd.mul_f32s(x, x), simd.splat_f32s(-0.5));
    let power = exp_of_negative(simd, half_square);
    let (p, coefficients) = ERFC;
    let z = simd.mul_f32s(simd.abs_f32s(x), simd.splat_f32s(p * FRAC_1_SQRT_2));
    let one = simd.splat_f32s(1.0);
    let t = simd.div_f32s(one, simd.add_f32s(one, z));
    let mut q = simd.splat_f32s(coefficients[4]);
    for &coefficient in coefficients[..4].iter().rev() {
        q = simd.mul_add_f32s(q, t, simd.splat_f32s(coefficient));
    }
    let half = simd.mul_f32s(power, simd.splat_f32s(0.5));
    let tail = simd.mul_f32s(simd.mul_f32s(q, t), half);
    let is_negative = simd.less_than_f32s(x, simd.splat_f32s(0.0));
    let below = simd.select_f32s(is_negative, tail, simd.sub_f32s(one, tail));
    let density = simd.splat_f32s(0.5 * FRAC_2_SQRT_PI * FRAC_1_SQRT_2);
    (below, simd.mul_f32s(power, density))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::{LANES, Row, dispatch, load, parts, store};
    use pulp::WithSimd;

    struct Both<'a>(&'a Row, &'a mut [Row; 2]);

    impl WithSimd for Both<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            for part in 0..parts::<S>() {
                let x = load::<S>(self.0, part);
                store::<S>(&mut self.1[0], part, sigmoid(simd, x));
                store::<S>(&mut self.1[1], part, tanh(simd, x));
            }
        }
    }

    fn worst_errors(inputs: impl Iterator<Item = f32>) -> [f64; 2] {
        let inputs: Vec<f32> = inputs.collect();
        let mut worst = [0f64; 2];
        for chunk in inputs.chunks(LANES) {
            let mut x = Row::ZERO;
            x.0[..chunk.len()].copy_from_slice(chunk);
            let mut y = [Row::ZERO; 2];
            dispatch(Both(&x, &mut y));
            let mut scalar = [Row::ZERO; 2];
            pulp::Scalar.vectorize(Both(&x, &mut scalar));
            assert_eq!(y, scalar, "the same bits on every processor");
            for (lane, &x) in chunk.iter().enumerate() {
                let exact = [1.0 / (1.0 + (-f64::from(x)).exp()), f64::from(x).tanh()];
                for (function, exact) in exact.into_iter().enumerate() {
                    let value = y[function].0[lane];
                    let least = [0.0, -1.0][function];
                    assert!((least..=1.0).contains(&value), "{x}: {value}");
                    worst[function] = worst[function].max((f64::from(value) - exact).abs());
                }
            }
        }
        worst
    }

    #[test]
    fn errors_stay_below_2e_7_over_a_dense_sweep() {
        let sweep = (-1_000_000..=1_000_000).map(|i| i as f32 * 1e-4);
        let worst = worst_errors(sweep);
        assert!(worst.iter().all(|&error| error < 2e-7), "{worst:?}");
    }

    #[test]
    fn extremes_are_finite_and_right() {
        let extremes = [
            0.0,
            -0.0,
            f32::MIN_POSITIVE,
            1e-38,
            1e-30,
            1e30,
            f32::MAX,
            f32::INFINITY,
        ];
        let worst = worst_errors(extremes.into_iter().flat_map(|x| [x, -x]));
        assert!(worst.iter().all(|&error| error < 2e-7), "{worst:?}");
    }

    #[test]
    fn tanh_is_relatively_precise_near_zero() {
        for exponent in -30..0 {
            let x = 2f32.powi(exponent) * 0.77;
            let mut y = [Row::ZERO; 2];
            dispatch(Both(&Row::splat(x), &mut y));
            let exact = f64::from(x).tanh();
            assert!((f64::from(y[1].0[0]) / exact - 1.0).abs() < 1e-6);
        }
    }

    struct Normal<'a>(&'a Row, &'a mut [Row; 3]);

    impl WithSimd for Normal<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            for part in 0..parts::<S>() {
                let x = load::<S>(self.0, part);
                let (below, density) = normal(simd, x);
                store::<S>(&mut self.1[0], part, below);
                store::<S>(&mut self.1[1], part, density);
                let power = exp_of_negative(simd, simd.neg_f32s(simd.abs_f32s(x)));
                store::<S>(&mut self.1[2], part, power);
            }
        }
    }

    #[test]
    fn the_normal_distribution_is_right_to_3e_7() {
        // The distribution function by Simpson's rule from 0 on, in steps of 1/512.
        let density = |x: f64| (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
        let mut exact = 0.5;
        for step in 0..6 * 512 {
            let x = f64::from(step) / 512.0;
            for (sign, below) in [(1.0, exact), (-1.0, 1.0 - exact)] {
                let mut y = [Row::ZERO; 3];
                dispatch(Normal(&Row::splat((sign * x) as f32), &mut y));
                let expected = [below, density(x), (-x).exp()];
                for (value, expected) in y.iter().zip(expected) {
                    let value = f64::from(value.0[3]);
                    assert!((value - expected).abs() < 3e-7, "{x}: {value} {expected}");
                }
            }
            let (h, middle) = (1.0 / 512.0, x + 0.5 / 512.0);
            exact += h / 6.0 * (density(x) + 4.0 * density(middle) + density(x + h));
        }
        let mut y = [Row::ZERO; 3];
        dispatch(Normal(&Row::splat(f32::MAX), &mut y));
        assert_eq!(y[0].0[0], 1.0);
    }
}
