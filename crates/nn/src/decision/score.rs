//! Logits, and the scores that are computed from them.

/// The share of its odds by which a probability may miss a threshold and still reach it.
pub const ROUNDING: f64 = 1e-6;

/// A logit, in 32 or 64 bits.
pub trait Logit: Copy + Into<f64> {}

impl Logit for f32 {}
impl Logit for f64 {}

/// A score that is compared in place of decisions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Score {
    /// The probability of a class.
    Probability(usize),
    /// The number that a regressor gives, in the unit of its label.
    Number,
}

/// A score, and by how much two inputs must differ in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gap {
    /// The score that is compared.
    pub score: Score,
    /// The largest difference that counts as none.
    pub most: f64,
}

impl Gap {
    /// Computes the score from `logits`.
    pub fn compute_score<L: Logit>(&self, logits: &[L]) -> f64 {
        self.score.compute(logits)
    }

    /// Whether a score that moves by `change` moves by more than the gap, and by more than rounding
    /// makes of a change that equals the gap.
    pub fn is_beyond(&self, change: f64) -> bool {
        change.abs() > self.with_rounding()
    }

    /// Returns the gap, and what rounding makes of a change that equals it.
    pub fn with_rounding(&self) -> f64 {
        self.most + self.slack()
    }

    /// The amount by which a difference must exceed the gap: for probabilities an absolute
    /// [`ROUNDING`], for numbers a relative one.
    fn slack(&self) -> f64 {
        match self.score {
            Score::Probability(_) => ROUNDING,
            Score::Number => ROUNDING * self.most,
        }
    }
}

impl Score {
    /// Computes the score from `logits`.
    pub fn compute<L: Logit>(&self, logits: &[L]) -> f64 {
        match *self {
            Score::Probability(class) => probability(logits, class),
            Score::Number => log_odds(logits, 1),
        }
    }

    /// Returns the least and the largest score, where `leads` are lower bounds of the leads of each
    /// of [`super::Decision::leading`] over every class.
    pub(super) fn bounds(&self, leads: &[&[f64]]) -> [f64; 2] {
        match *self {
            Score::Probability(class) => {
                let over = leads[0].iter().filter(|lead| lead.is_finite());
                let least = 1.0 + over.map(|lead| (-lead).exp()).sum::<f64>();
                let under = leads[1..].iter().map(|lead| lead[class].exp());
                [1.0 / least, 1.0 / (1.0 + under.sum::<f64>())]
            }
            Score::Number => [leads[0][0], -leads[1][1]],
        }
    }
}

/// Computes the logarithm of the odds of `class` among two.
pub(super) fn log_odds<L: Logit>(logits: &[L], class: usize) -> f64 {
    logits[class].into() - logits[1 - class].into()
}

/// Computes the probability of `class`.
pub fn probability<L: Logit>(logits: &[L], class: usize) -> f64 {
    let own: f64 = logits[class].into();
    let odds = logits.iter().map(|&logit| (logit.into() - own).exp());
    1.0 / odds.sum::<f64>()
}

/// Computes the probabilities of all classes.
pub fn probabilities<L: Logit>(logits: &[L]) -> Vec<f64> {
    let largest = logits
        .iter()
        .map(|&logit| logit.into())
        .fold(f64::NEG_INFINITY, f64::max);
    let powers: Vec<f64> = logits
        .iter()
        .map(|&logit| (logit.into() - largest).exp())
        .collect();
    let total: f64 = powers.iter().sum();
    powers.into_iter().map(|power| power / total).collect()
}

/// Returns the class with the largest logit, the first of them on ties.
pub(super) fn largest<L: Logit>(logits: &[L]) -> u32 {
    let mut best = 0;
    for (class, &logit) in logits.iter().enumerate() {
        if logit.into() > logits[best].into() {
            best = class;
        }
    }
    best as u32
}
