//! Scores of classes, as the classifiers of `ai.onnx.ml` give them.

use super::attributes::Attributes;

/// The most that the roundings of the weights of a score may add up to.
const ROUNDING: f64 = 1e-5;

/// The function that is applied to the scores of a row: the attribute `post_transform`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transform {
    /// No function.
    None,
    /// σ(s) for each score s.
    Logistic,
    /// Softmax of all scores.
    Softmax,
    /// Softmax of the scores that are not zero.
    SoftmaxZero,
}

impl Transform {
    /// Returns the transform of a node.
    ///
    /// # Errors
    /// When the transform is not known.
    pub fn from_attributes(attributes: Attributes<'_>) -> Result<Transform, String> {
        match attributes.word("post_transform") {
            None | Some("NONE") => Ok(Transform::None),
            Some("LOGISTIC") => Ok(Transform::Logistic),
            Some("SOFTMAX") => Ok(Transform::Softmax),
            Some("SOFTMAX_ZERO") => Ok(Transform::SoftmaxZero),
            Some(other) => Err(format!("its post_transform {other} is not known")),
        }
    }

    /// Applies the transform to the scores of a row.
    pub fn apply(self, scores: &mut [f64]) {
        match self {
            Transform::None => {}
            Transform::Logistic => scores
                .iter_mut()
                .for_each(|score| *score = logistic(*score)),
            Transform::Softmax => softmax(scores, |_| true),
            // Zeros to within what counts as zero.
            Transform::SoftmaxZero => softmax(scores, |score| score.abs() > 1e-7),
        }
    }

    /// Returns the scores of both classes where the node gives one score, that of the second class.
    /// Where there is nothing to apply, the score is a probability if no score can be negative,
    /// else a margin. A probability that weights of 32 bits have rounded above 1 is 1. The score is
    /// rounded to 32 bits before the other one is made from it, as onnxruntime does: half of the
    /// votes, each of a weight that was rounded, would not be one half otherwise, and a tie not go
    /// to the first class.
    pub fn of_two(self, score: f64, is_probability: bool) -> [f64; 2] {
        match self {
            Transform::Logistic => [logistic(-score), logistic(score)],
            _ if is_probability && (1.0..1.0 + ROUNDING).contains(&score) => [0.0, 1.0],
            _ if is_probability => {
                let score = f64::from(score as f32);
                [1.0 - score, score]
            }
            _ => [-score, score],
        }
    }
}

/// Computes σ(x) = 1 / (1 + e⁻ˣ), of full precision on both sides.
pub fn logistic(x: f64) -> f64 {
    if x < 0.0 {
        let power = x.exp();
        power / (1.0 + power)
    } else {
        1.0 / (1.0 + (-x).exp())
    }
}

/// Applies softmax to the scores that count; the others become zero.
fn softmax(scores: &mut [f64], counts: impl Fn(f64) -> bool) {
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for score in scores.iter_mut() {
        if counts(*score) {
            *score = (*score - largest).exp();
            sum += *score;
        } else {
            *score *= (-largest).exp();
        }
    }
    scores.iter_mut().for_each(|score| *score /= sum);
}

/// Returns the number of classes that a classifier names.
///
/// # Errors
/// When there are fewer than two.
pub fn classes(attributes: Attributes<'_>, integers: &str) -> Result<usize, String> {
    let words = attributes.words("classlabels_strings").len();
    let classes = if words > 0 {
        words
    } else {
        attributes.integers(integers).len()
    };
    if classes < 2 {
        return Err(format!("it names {classes} classes; expected two or more"));
    }
    Ok(classes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half of the trees for either class: the first class wins, as in scikit-learn.
    #[test]
    fn ties_of_votes_go_to_the_first_class() {
        for trees in (2..=1000).step_by(2) {
            let vote = f64::from(1.0 / trees as f32);
            let score = (0..trees / 2).map(|_| vote).sum();
            let [first, second] = Transform::None.of_two(score, true);
            assert!(first as f32 >= second as f32, "{trees} trees");
        }
    }

    #[test]
    fn transforms() {
        // What onnxruntime gives, in 32 bits.
        for (transform, expected) in [
            (Transform::None, [0.3, 0.7, 0.0]),
            (Transform::Logistic, [0.574_442_5, 0.668_187_8, 0.5]),
            (Transform::Softmax, [0.309_344_4, 0.461_487_6, 0.229_168]),
            (Transform::SoftmaxZero, [0.401_312_3, 0.598_687_7, 0.0]),
        ] {
            let mut scores = [0.3, 0.7, 0.0];
            transform.apply(&mut scores);
            for (score, expected) in scores.iter().zip(expected) {
                assert!((score - expected).abs() < 2e-7, "{transform:?}: {scores:?}");
            }
        }
        let score = f64::from(0.3_f32);
        assert_eq!(Transform::None.of_two(0.3, true), [1.0 - score, score]);
        assert_eq!(Transform::None.of_two(0.3, false), [-0.3, 0.3]);
        assert_eq!(Transform::None.of_two(1.0 + 1e-7, true), [0.0, 1.0]);
        assert_eq!(Transform::None.of_two(2.0, true), [-1.0, 2.0]);
        let [low, high] = Transform::Logistic.of_two(-800.0, true);
        assert!(low == 1.0 && high == 0.0 && logistic(800.0) == 1.0);
    }
}
