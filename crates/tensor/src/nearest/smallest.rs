//! A few small values among many: one pass that looks at whole strides first.

/// The number of values looked at together before single ones are.
const STRIDE: usize = 32;

/// Returns the rows whose value is at most the k-th smallest one plus `margin`, with their values;
/// none whose value is infinite.
pub(super) fn candidates(values: &[f32], k: usize, margin: f64) -> Vec<(f64, u32)> {
    if k == 0 {
        return Vec::new();
    }
    // The k smallest so far, the largest last.
    let mut best: Vec<f32> = Vec::with_capacity(k + 1);
    visit_to(values, f32::INFINITY, |_, value| {
        let place = best.partition_point(|&other| other <= value);
        best.insert(place, value);
        best.truncate(k);
        if best.len() == k {
            best[k - 1]
        } else {
            f32::INFINITY
        }
    });
    let threshold = match best.last() {
        Some(&last) if best.len() == k => above(f64::from(last) + margin),
        _ => f32::MAX,
    };
    let mut rows = Vec::with_capacity(2 * k);
    visit_to(values, threshold, |row, value| {
        rows.push((f64::from(value), row as u32));
        threshold
    });
    rows
}

/// The smallest f32 that is no smaller than `x`.
pub(super) fn above(x: f64) -> f32 {
    let rounded = x as f32;
    if f64::from(rounded) < x {
        rounded.next_up()
    } else {
        rounded
    }
}

/// The largest f32 that is no larger than `x`.
pub(super) fn below(x: f64) -> f32 {
    -above(-x)
}

/// Calls `visit` with every row whose finite value is at most the threshold, which is what the last
/// call returned, at first `threshold`.
fn visit_to(values: &[f32], mut threshold: f32, mut visit: impl FnMut(usize, f32) -> f32) {
    for (chunk, values) in values.chunks(STRIDE).enumerate() {
        let smallest = values
            .iter()
            .fold(f32::INFINITY, |min, &x| if x < min { x } else { min });
        if smallest > threshold || smallest == f32::INFINITY {
            continue;
        }
        for (at, &value) in values.iter().enumerate() {
            if value <= threshold && value < f32::INFINITY {
                threshold = visit(chunk * STRIDE + at, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_all_that_are_within_the_margin_of_the_kth() {
        for turn in 0..200_u32 {
            let values: Vec<f32> = (0..97)
                .map(|row| match (row * 7919 + turn * 31) % 29 {
                    0 => f32::INFINITY,
                    place => place as f32 / 8.0 - 1.0,
                })
                .collect();
            for k in [0_usize, 1, 5, 96, 200] {
                let margin = f64::from(turn % 5) / 8.0;
                let mut finite: Vec<f32> = values.clone();
                finite.retain(|value| value.is_finite());
                finite.sort_by(f32::total_cmp);
                let cut = match finite.get(k.wrapping_sub(1)) {
                    Some(&kth) => f64::from(kth) + margin,
                    None if k == 0 => f64::NEG_INFINITY,
                    None => f64::from(f32::MAX),
                };
                let rows = values.iter().enumerate();
                let expected: Vec<(f64, u32)> = rows
                    .map(|(row, &value)| (f64::from(value), row as u32))
                    .filter(|&(value, _)| value <= cut)
                    .collect();
                assert_eq!(candidates(&values, k, margin), expected);
            }
        }
    }

    #[test]
    fn rounding_goes_the_way_it_says() {
        for x in [0.0, 0.1, -0.1, 1e-30, 3e8 + 0.3, -7.7] {
            assert!(f64::from(above(x)) >= x && f64::from(below(x)) <= x);
        }
    }
}
