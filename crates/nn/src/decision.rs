//! How a decision is made of what a classifier says.
//!
//! A classifier gives each class a probability; whoever deploys it decides by them. Usually the
//! most probable class is the decision. Often it is not:
//!
//! * **Thresholds** t: the decision is the class of the largest p_c / t_c, that is of the largest
//!   logit_c − ln t_c. Of two classes with t and 1 − t that is: the one class exactly where its
//!   probability is at least t (the other way round, costs of errors; Elkan 2001, Theorem 1). The
//!   thresholds may hang on an attribute of the row, as where groups have thresholds of their own.
//! * **Abstention**: of two classes, one is decided where its probability is at least `high`, the
//!   other where it is below `low`, and in between nothing is (Chow 1970).
//! * **Gap**: nothing is decided; a score is compared: the probability of a class, or of a regressor
//!   the number that it gives, the logit of [`SIDES`]' second over the first. Two inputs are told
//!   apart where their scores differ by more than a gap, as the *lower* and the *higher* one.
//!
//! A [`Decision`] is a function of a row and its logits, computed in 64-bit arithmetic. A
//! probability that misses a threshold by no more than rounding, [`ROUNDING`] of its odds, reaches
//! it: models that answer 0.7 mean 0.7. [`Decided`] gives a classifier the decision by which it is
//! audited; logits and gradients stay its own. Likewise a difference that is a gap up to rounding is
//! none.

use super::{Classifier, Differentiable, ModelError, Rows};
pub use probity_data::schema::SIDES;

/// The share of its odds by which a probability may miss a threshold and still reach it.
pub const ROUNDING: f64 = 1e-6;

/// Name of the decision to decide nothing.
pub const ABSTAIN: &str = "abstain";

/// A logit, in 32 or 64 bits.
pub trait Logit: Copy + Into<f64> {}

impl Logit for f32 {}
impl Logit for f64 {}

/// How a decision is made of logits.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Decision {
    /// The most probable class, the first of equal ones.
    #[default]
    Largest,
    /// The class whose probability is largest beside its threshold.
    Thresholds(Thresholds),
    /// One of two classes, or neither.
    Abstention {
        /// The class whose probability is looked at, 0 or 1.
        class: usize,
        /// Below this probability the other class is decided.
        low: f64,
        /// From this probability on the class is decided.
        high: f64,
    },
    /// Scores, compared.
    Gap(Gap),
}

/// What is compared in place of decisions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Score {
    /// The probability of a class.
    Probability(usize),
    /// The number that a regressor gives, in the unit of its label.
    Number,
}

/// Scores, and by how much they must differ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gap {
    /// The score.
    pub score: Score,
    /// Differences up to this are none.
    pub most: f64,
}

impl Gap {
    /// The score that `logits` say.
    pub fn of<L: Logit>(&self, logits: &[L]) -> f64 {
        self.score.of(logits)
    }

    /// Whether a score that moves by `change` moves by more than the gap: by more than what
    /// rounding makes of one that it was meant to be.
    pub fn is_beyond(&self, change: f64) -> bool {
        change.abs() > self.most + self.slack()
    }

    /// What a difference must have beyond the gap: of probabilities an absolute, of numbers a
    /// relative [`ROUNDING`].
    fn slack(&self) -> f64 {
        match self.score {
            Score::Probability(_) => ROUNDING,
            Score::Number => ROUNDING * self.most,
        }
    }
}

impl Score {
    /// The score that `logits` say.
    pub fn of<L: Logit>(&self, logits: &[L]) -> f64 {
        match *self {
            Score::Probability(class) => probability(logits, class),
            Score::Number => log_odds(logits, 1),
        }
    }

    /// The least and the largest score, where `leads` are lower bounds of the leads of each of
    /// [`Decision::leading`] over every class.
    fn bounds(&self, leads: &[&[f64]]) -> [f64; 2] {
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

/// Thresholds of classes.
#[derive(Debug, Clone, PartialEq)]
pub struct Thresholds {
    /// What is added to the logit of each class.
    offsets: Vec<f64>,
    by_value: Option<ByValue>,
}

/// Thresholds that hang on the value of an attribute.
#[derive(Debug, Clone, PartialEq)]
struct ByValue {
    /// Position of the attribute.
    place: usize,
    /// Its lowest code.
    min: i32,
    /// For each code from the lowest, what is added to the logits in place of the others.
    offsets: Vec<Option<Vec<f64>>>,
}

impl Thresholds {
    /// For classes whose thresholds are `least`, all of them above 0.
    pub fn new(least: &[f64]) -> Thresholds {
        Thresholds {
            offsets: least.iter().map(|least| -least.ln()).collect(),
            by_value: None,
        }
    }

    /// For two classes: `class` is decided from the probability `least` on, the other below it.
    pub fn of_two(class: usize, least: f64) -> Thresholds {
        let mut both = [1.0 - least; 2];
        both[class] = least;
        let mut thresholds = Thresholds::new(&both);
        thresholds.offsets[class] += ROUNDING;
        thresholds
    }

    /// These, and `others` for rows that have one of their codes in the attribute at `place`, whose
    /// lowest code is `min`.
    #[must_use]
    pub fn with_values(
        mut self,
        (place, min): (usize, i32),
        others: Vec<Option<Thresholds>>,
    ) -> Thresholds {
        let offsets = others.into_iter().map(|of| of.map(|of| of.offsets));
        self.by_value = Some(ByValue {
            place,
            min,
            offsets: offsets.collect(),
        });
        self
    }

    fn offsets(&self, row: &[i32]) -> &[f64] {
        let of_value = self.by_value.as_ref().and_then(|by| {
            let code = usize::try_from(row.get(by.place)?.checked_sub(by.min)?).ok()?;
            by.offsets.get(code)?.as_deref()
        });
        of_value.unwrap_or(&self.offsets)
    }

    fn decide<L: Logit>(&self, row: &[i32], logits: &[L]) -> u32 {
        let offsets = self.offsets(row);
        let mut best = 0;
        for (class, &logit) in logits.iter().enumerate() {
            // Leads beside leads, as certificates compare them: see `is_kept`.
            if logit.into() - logits[best].into() > offsets[best] - offsets[class] {
                best = class;
            }
        }
        best as u32
    }
}

/// The logarithm of the odds of `class` among two.
fn log_odds<L: Logit>(logits: &[L], class: usize) -> f64 {
    logits[class].into() - logits[1 - class].into()
}

/// The log-odds that reach the probability `least`.
fn reached(least: f64) -> f64 {
    (least / (1.0 - least)).ln() - ROUNDING
}

/// The probability of `class`.
pub fn probability<L: Logit>(logits: &[L], class: usize) -> f64 {
    let own: f64 = logits[class].into();
    let odds = logits.iter().map(|&logit| (logit.into() - own).exp());
    1.0 / odds.sum::<f64>()
}

/// The class with the largest logit, the first of them on ties.
fn largest<L: Logit>(logits: &[L]) -> u32 {
    let mut best = 0;
    for (class, &logit) in logits.iter().enumerate() {
        if logit.into() > logits[best].into() {
            best = class;
        }
    }
    best as u32
}

impl Decision {
    /// Whether it is the most probable class.
    pub fn is_largest(&self) -> bool {
        *self == Decision::Largest
    }

    /// Whether it hangs on the row beside its logits.
    pub fn reads_rows(&self) -> bool {
        matches!(self, Decision::Thresholds(of) if of.by_value.is_some())
    }

    /// Names of what can be decided of `classes`, by number: see [`Decision::contrast`].
    pub fn names(&self, classes: &[String]) -> Vec<String> {
        match self {
            Decision::Largest | Decision::Thresholds(_) => classes.to_vec(),
            Decision::Abstention { .. } => {
                let abstain = std::iter::once(ABSTAIN.to_owned());
                classes.iter().cloned().chain(abstain).collect()
            }
            Decision::Gap(_) => SIDES.map(str::to_owned).to_vec(),
        }
    }

    /// The name of what [`Decision::decide`] decides of `classes`.
    pub fn name<'a>(&self, classes: &'a [String], decided: u32) -> &'a str {
        classes
            .get(decided as usize)
            .map_or(ABSTAIN, String::as_str)
    }

    /// How many of them there are.
    pub fn count(&self, classes: usize) -> usize {
        match self {
            Decision::Largest | Decision::Thresholds(_) => classes,
            Decision::Abstention { .. } => classes + 1,
            Decision::Gap(_) => SIDES.len(),
        }
    }

    /// What is decided of `row`, whose logits are given, by number; of a probability that is compared
    /// the most probable class, of a number always the second of [`SIDES`].
    pub fn decide<L: Logit>(&self, row: &[i32], logits: &[L]) -> u32 {
        match self {
            Decision::Gap(Gap {
                score: Score::Number,
                ..
            }) => 1,
            Decision::Largest | Decision::Gap(_) => largest(logits),
            Decision::Thresholds(thresholds) => thresholds.decide(row, logits),
            &Decision::Abstention { class, low, high } => {
                let odds = log_odds(logits, class);
                if odds >= reached(high) {
                    class as u32
                } else if odds < reached(low) {
                    1 - class as u32
                } else {
                    2
                }
            }
        }
    }

    /// The class whose lead goes down on the way to where another decision is made: that which is
    /// decided; where nothing is, the class that is farther.
    pub fn side<L: Logit>(&self, row: &[i32], logits: &[L]) -> u32 {
        match self {
            &Decision::Abstention { class, low, high } => {
                let decided = self.decide(row, logits);
                if decided < 2 {
                    return decided;
                }
                let middle = (reached(low) + reached(high)) / 2.0;
                match log_odds(logits, class) >= middle {
                    true => 1 - class as u32,
                    false => class as u32,
                }
            }
            _ => self.decide(row, logits),
        }
    }

    /// What is decided of two rows with their logits, where that differs.
    pub fn contrast<L: Logit>(
        &self,
        own: (&[i32], &[L]),
        other: (&[i32], &[L]),
    ) -> Option<[u32; 2]> {
        match self {
            Decision::Gap(gap) => {
                let change = gap.of(other.1) - gap.of(own.1);
                gap.is_beyond(change).then_some(match change > 0.0 {
                    true => [0, 1],
                    false => [1, 0],
                })
            }
            _ => {
                let decided = [self.decide(own.0, own.1), self.decide(other.0, other.1)];
                (decided[0] != decided[1]).then_some(decided)
            }
        }
    }
}

/// # What bounds on leads say of decisions
///
/// The lead of class a over class b is logit_a − logit_b. **Theorem.** Let the inputs of a box have
/// logits whose leads are at least the numbers in `leads`. If [`Decision::is_kept`] holds, then
/// [`Decision::contrast`] tells none of these inputs from one of which `decided` is decided with the
/// logits `own`. *Proof.* Decisions compare leads, computed in 64 bits from 32-bit logits, with
/// constants. The rounding of a difference is monotone, so a computed lead is at least a 64-bit
/// lower bound of the exact one, and each comparison comes out as it does at the bound. A probability
/// is a decreasing function of the leads of the other classes; what the computation of both scores
/// rounds is far below [`ROUNDING`], by which a gap must be exceeded. A number is a lead itself.
impl Decision {
    /// The classes whose leads over all others must be bounded for [`Decision::is_kept`], where
    /// `decided` is decided between `classes`.
    pub fn leading(&self, decided: u32, classes: usize) -> Vec<u32> {
        match *self {
            Decision::Largest | Decision::Thresholds(_) => vec![decided],
            Decision::Abstention { .. } if decided < 2 => vec![decided],
            Decision::Abstention { class, .. } => vec![class as u32, 1 - class as u32],
            Decision::Gap(Gap { score, .. }) => {
                let class = match score {
                    Score::Probability(class) => class,
                    Score::Number => 1,
                };
                let others = (0..classes as u32).filter(|&other| other as usize != class);
                std::iter::once(class as u32).chain(others).collect()
            }
        }
    }

    /// Whether no input of a box is told from one of which `decided` is decided with the logits
    /// `own`: `leads` are lower bounds, over the box, of the leads of each of
    /// [`Decision::leading`] over every class (infinite over itself). Thresholds that hang on the
    /// row prove nothing.
    pub fn is_kept(&self, decided: u32, own: &[f32], leads: &[&[f64]]) -> bool {
        let Some(&first) = leads.first() else {
            return false;
        };
        match self {
            Decision::Largest => first.iter().all(|&lead| lead > 0.0),
            Decision::Thresholds(of) => {
                let own = of.offsets[decided as usize];
                let wins = |(lead, other): (&f64, &f64)| *lead > other - own;
                of.by_value.is_none() && first.iter().zip(&of.offsets).all(wins)
            }
            &Decision::Abstention { class, low, high } => {
                let (low, high, at) = (reached(low), reached(high), decided as usize);
                match leads {
                    // The lead over the other of the two.
                    [lead] if at == class => lead[1 - at] >= high,
                    [lead] => lead[1 - at] > -low,
                    [up, down] => up[1 - class] >= low && down[class] > -high,
                    _ => false,
                }
            }
            Decision::Gap(gap) => {
                let bounded = first.iter().filter(|lead| lead.is_finite()).count();
                let is_bounded = bounded + 1 == own.len();
                let (score, [least, largest]) = (gap.of(own), gap.score.bounds(leads));
                is_bounded && largest - score <= gap.most && score - least <= gap.most
            }
        }
    }
}

/// A classifier with the decision that is made of what it says.
pub struct Decided<M> {
    /// The classifier.
    pub model: M,
    /// What is made of its answers.
    pub decision: Decision,
}

impl<M: Classifier> Classifier for Decided<M> {
    fn width(&self) -> usize {
        self.model.width()
    }

    fn classes(&self) -> usize {
        self.model.classes()
    }

    fn logits(&self, rows: Rows<'_>) -> Result<Vec<f32>, ModelError> {
        self.model.logits(rows)
    }

    fn is_fallible(&self) -> bool {
        self.model.is_fallible()
    }

    fn decision(&self) -> &Decision {
        &self.decision
    }
}

impl<M: Differentiable> Differentiable for Decided<M> {
    fn features(&self) -> usize {
        self.model.features()
    }

    fn input_gradients(&self, rows: Rows<'_>, cotangents: &[f32]) -> Result<Vec<f32>, ModelError> {
        self.model.input_gradients(rows, cotangents)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Logits of these probabilities.
    fn of(probabilities: &[f64]) -> Vec<f32> {
        probabilities.iter().map(|p| p.ln() as f32).collect()
    }

    #[test]
    fn one_of_two_classes_is_decided_from_its_threshold_on() {
        for least in [0.05, 0.3, 0.5, 0.7, 0.99] {
            for class in [0, 1] {
                let decision = Decision::Thresholds(Thresholds::of_two(class, least));
                for step in 1..1000 {
                    let p = f64::from(step) / 1000.0;
                    let mut both = [1.0 - p; 2];
                    both[class] = p;
                    let expected = if p >= least - 1e-9 { class } else { 1 - class };
                    assert_eq!(decision.decide(&[], &of(&both)), expected as u32, "{p}");
                }
            }
        }
    }

    #[test]
    fn the_class_is_that_of_the_largest_probability_beside_its_threshold() {
        let decision = Decision::Thresholds(Thresholds::new(&[0.2, 0.3, 0.5]));
        assert_eq!(decision.decide(&[], &of(&[0.25, 0.35, 0.4])), 0);
        assert_eq!(decision.decide(&[], &of(&[0.1, 0.2, 0.7])), 2);
        assert_eq!(decision.decide(&[], &of(&[0.1, 0.4, 0.5])), 1);
        let equal = Decision::Thresholds(Thresholds::new(&[0.5; 3]));
        assert_eq!(equal.decide(&[], &of(&[0.3, 0.3, 0.4])), 2);
    }

    #[test]
    fn a_value_may_have_a_threshold_of_its_own() {
        let own = vec![None, Some(Thresholds::of_two(1, 0.9))];
        let thresholds = Thresholds::of_two(1, 0.5).with_values((1, 4), own);
        let decision = Decision::Thresholds(thresholds);
        let decide = |row: [i32; 2]| decision.decide(&row, &of(&[0.2, 0.8]));
        assert_eq!([decide([5, 4]), decide([4, 5]), decide([4, 6])], [1, 0, 1]);
        let logits = of(&[0.2, 0.8]);
        let differ = decision.contrast((&[0, 4], &logits[..]), (&[0, 5], &logits[..]));
        assert_eq!(differ, Some([1, 0]), "the same score, decided differently");
    }

    #[test]
    fn nothing_is_decided_within_the_band() {
        let decision = Decision::Abstention {
            class: 1,
            low: 0.4,
            high: 0.6,
        };
        let at = |p: f64| of(&[1.0 - p, p]);
        let decide = |p: f64| decision.decide(&[], &at(p));
        assert_eq!([0.39, 0.4, 0.59, 0.6].map(decide), [0, 2, 2, 1]);
        let side = |p: f64| decision.side(&[], &at(p));
        assert_eq!([0.39, 0.45, 0.55, 0.6].map(side), [0, 1, 0, 1]);
        let classes = ["no", "yes"].map(str::to_owned);
        assert_eq!(decision.names(&classes), ["no", "yes", "abstain"]);
    }

    /// Random boxes of logits: what is kept of a box is decided alike all over it.
    #[test]
    fn what_bounds_keep_is_told_apart_nowhere() {
        let mut state = 1u64;
        let mut uniform = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 40) as f32 / (1 << 24) as f32
        };
        let two = [
            Decision::Thresholds(Thresholds::of_two(1, 0.7)),
            Decision::Abstention {
                class: 0,
                low: 0.3,
                high: 0.6,
            },
            Decision::Abstention {
                class: 1,
                low: 0.3,
                high: 0.6,
            },
            Decision::Gap(Gap {
                score: Score::Probability(1),
                most: 0.15,
            }),
        ];
        let three = [
            Decision::Largest,
            Decision::Thresholds(Thresholds::new(&[0.2, 0.5, 0.3])),
            Decision::Gap(Gap {
                score: Score::Probability(1),
                most: 0.15,
            }),
        ];
        let all = two.iter().map(|decision| (2, decision));
        for (classes, decision) in all.chain(three.iter().map(|decision| (3, decision))) {
            let (mut kept, mut told) = (0, 0);
            for _ in 0..3000 {
                let size = uniform();
                let low: Vec<f32> = (0..classes).map(|_| 4.0 * uniform() - 2.0).collect();
                let high: Vec<f32> = low.iter().map(|low| low + size * uniform()).collect();
                let mut draw = || -> Vec<f32> {
                    let ends = low.iter().zip(&high);
                    ends.map(|(low, high)| low + (high - low) * uniform())
                        .collect()
                };
                let own = draw();
                let decided = decision.decide(&[], &own);
                let leads: Vec<Vec<f64>> = decision
                    .leading(decided, classes)
                    .iter()
                    .map(|&lead| {
                        let over = |other: usize| match other == lead as usize {
                            true => f64::INFINITY,
                            false => f64::from(low[lead as usize]) - f64::from(high[other]),
                        };
                        (0..classes).map(over).collect()
                    })
                    .collect();
                let leads: Vec<&[f64]> = leads.iter().map(Vec::as_slice).collect();
                let is_kept = decision.is_kept(decided, &own, &leads);
                kept += u32::from(is_kept);
                for _ in 0..50 {
                    let differs = decision.contrast((&[], &own[..]), (&[], &draw()[..]));
                    assert!(!is_kept || differs.is_none(), "{decision:?}");
                    told += u32::from(differs.is_some());
                }
            }
            assert!(kept > 100 && told > 100, "{decision:?}: {kept} {told}");
        }
    }

    #[test]
    fn scores_are_told_apart_beyond_the_gap() {
        let decision = Decision::Gap(Gap {
            score: Score::Probability(0),
            most: 0.1,
        });
        let at = |p: f64| of(&[p, 1.0 - p]);
        let contrast = |a: f64, b: f64| decision.contrast((&[], &at(a)[..]), (&[], &at(b)[..]));
        assert_eq!(contrast(0.2, 0.29), None);
        assert_eq!(contrast(0.2, 0.31), Some([0, 1]));
        assert_eq!(contrast(0.95, 0.8), Some([1, 0]));
    }
}
