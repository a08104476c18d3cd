//! A few large values among many: one pass that looks at whole strides first.

/// Scores looked at together before single ones are.
const STRIDE: usize = 32;
/// The rows whose score is at least the k-th largest one less `margin`, with their scores turned
/// into distances.
pub(super) fn candidates(scores: &[f32], k: usize, margin: f64) -> Vec<(f64, u32)> {
    if k == 0 {
        return Vec::new();
    }
    // The k largest so far, the smallest first.
    let mut best: Vec<f32> = Vec::with_capacity(k + 1);
    visit_from(scores, f32::NEG_INFINITY, |_, score| {
        let place = best.partition_point(|&other| other < score);
        best.insert(place, score);
        if best.len() > k {
            best.remove(0);
        }
        if best.len() == k {
            best[0]
        } else {
            f32::NEG_INFINITY
        }
    });
    let threshold = match best.first() {
        Some(&least) if best.len() == k => below(f64::from(least) - margin),
        _ => f32::MIN,
    };
    let mut rows = Vec::with_capacity(2 * k);
    visit_from(scores, threshold, |row, score| {
        rows.push((-f64::from(score), row as u32));
        threshold
    });
    rows
}

/// The largest f32 that is no larger than `x`.
fn below(x: f64) -> f32 {
    let rounded = x as f32;
    if f64::from(rounded) > x {
        rounded.next_down()
    } else {
        rounded
    }
}

/// Calls `visit` with every row whose finite score is at least the threshold, which is what the
/// last call returned, at first `threshold`.
fn visit_from(scores: &[f32], mut threshold: f32, mut visit: impl FnMut(usize, f32) -> f32) {
    for (chunk, scores) in scores.chunks(STRIDE).enumerate() {
        let largest = scores
            .iter()
            .fold(f32::NEG_INFINITY, |max, &x| if x > max { x } else { max });
        if largest < threshold || largest == f32::NEG_INFINITY {
            continue;
        }
        for (at, &score) in scores.iter().enumerate() {
            if score >= threshold && score > f32::NEG_INFINITY {
                threshold = visit(chunk * STRIDE + at, score);
            }
        }
    }
}
