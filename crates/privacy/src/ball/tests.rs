//! Tests of balls against an independent method, and of decisions on the boundary.

use super::*;
use probity_run::stream::{Purpose, Stream, stream};
use rand::RngExt;

/// Returns random sets of many shapes: general, on a coarse grid, on a sphere, on a line, with
/// duplicates.
fn points(case: u64) -> Vec<Vec<f64>> {
    let mut draw = stream(9, Purpose::OutlierData, case, 0);
    let columns = 1 + (case % 34) as usize;
    let rows = draw.random_range(1..40);
    let shape = case / 34 % 5;
    let direction = vector(&mut draw, columns, 40);
    (0..rows)
        .map(|_| match shape {
            0 => vector(&mut draw, columns, 1 << 20),
            1 => vector(&mut draw, columns, 3),
            2 => {
                let at = draw.random_range(0..columns);
                let mut point = vec![1000.0; columns];
                point[at] = if draw.random() { 0.0 } else { 2000.0 };
                point
            }
            3 => {
                let far = f64::from(draw.random_range(0..50));
                direction.iter().map(|value| value * far).collect()
            }
            _ => vec![f64::from(draw.random_range(0..3)); columns],
        })
        .collect()
}

fn vector(draw: &mut Stream, columns: usize, side: u32) -> Vec<f64> {
    (0..columns)
        .map(|_| f64::from(draw.random_range(0..side)))
        .collect()
}

/// Computes bounds by Frank-Wolfe steps with exact line search on the dual: it shares nothing with
/// the recursion.
fn bounds_by_frank_wolfe(points: &[&[f64]]) -> (f64, f64) {
    let mut weights = vec![0.0; points.len()];
    weights[0] = 1.0;
    let mut centre = points[0].to_vec();
    let (mut lower, mut upper) = (0.0_f64, f64::INFINITY);
    for _ in 0..20_000 {
        let distance = |at: usize| crate::records::squared_distance(points[at], &centre);
        let all = 0..points.len();
        let far = all
            .clone()
            .max_by(|&a, &b| distance(a).total_cmp(&distance(b)))
            .unwrap();
        let held = all.filter(|&at| weights[at] > 0.0);
        let near = held
            .min_by(|&a, &b| distance(a).total_cmp(&distance(b)))
            .unwrap();
        let dual: f64 = (0..points.len()).map(|at| weights[at] * distance(at)).sum();
        upper = upper.min(distance(far));
        lower = lower.max(dual);
        if upper - lower <= 1e-9 * upper {
            break;
        }
        // Towards the farthest point, or away from the nearest one that carries weight.
        let (target, most) = if distance(far) - dual >= dual - distance(near) {
            (far, 1.0)
        } else {
            (near, -weights[near] / (1.0 - weights[near]).max(1e-300))
        };
        let gap = distance(target) - dual;
        let length = distance(target);
        let step = (gap / (2.0 * length)).clamp(most.min(0.0), most.max(0.0));
        for weight in &mut weights {
            *weight *= 1.0 - step;
        }
        weights[target] += step;
        for (column, value) in centre.iter_mut().enumerate() {
            *value += step * (points[target][column] - *value);
        }
    }
    (lower, upper)
}

#[test]
fn balls_agree_with_an_independent_method() {
    let mut decided = 0;
    for case in 0..1700 {
        let owned = points(case);
        let points: Vec<&[f64]> = owned.iter().map(Vec::as_slice).collect();
        let ball = smallest_enclosing_ball(&points);
        let (lower, upper) = bounds_by_frank_wolfe(&points);
        let reach = ball.squared_radius;
        assert!(
            reach >= lower * (1.0 - 1e-7) - 1e-7 && reach <= upper * (1.0 + 1e-7) + 1e-7,
            "case {case}: {reach} is not between {lower} and {upper}"
        );
        if upper > 2.0 {
            assert!(fits(&points, (upper * 1.000_001).ceil()).is_some());
            if (lower * 0.999_999).floor() < lower * 0.999_999 {
                assert!(fits(&points, (lower * 0.999_999).floor()).is_none());
                decided += 1;
            }
        }
    }
    assert!(decided > 300, "{decided}");
}

/// Known radii that are whole numbers are decided exactly on both sides of the boundary.
#[test]
fn a_radius_that_is_met_exactly_is_decided_exactly() {
    for columns in 1..=34 {
        // A cross-polytope of reach 5 around (5, 5, ...): squared radius 25 from dimension 1 on.
        let mut owned = Vec::new();
        for column in 0..columns {
            for value in [0.0, 10.0] {
                let mut point = vec![5.0; columns];
                point[column] = value;
                owned.push(point.clone());
                owned.push(point);
            }
        }
        let points: Vec<&[f64]> = owned.iter().map(Vec::as_slice).collect();
        assert!(fits(&points, 25.0).is_some(), "{columns}");
        assert!(fits(&points, 24.0).is_none(), "{columns}");
    }
    // A corner cut so finely that only integers tell: three points on a circle of squared radius
    // 2^42.
    let far = f64::from(1 << 21);
    let circle: [&[f64]; 3] = [&[0.0, far], &[2.0 * far, far], &[far, 2.0 * far]];
    assert!(fits(&circle, far * far).is_some());
    assert!(fits(&circle, far * far - 1.0).is_none());
}
