//! Decisions, and how they are made from the outputs of a classifier.
//!
//! A classifier gives each class a probability, and its user decides by the probabilities. Usually
//! the most probable class is the decision. Often it is not:
//!
//! * **Thresholds** t: the decision is the class of the largest p_c / t_c, that is of the largest
//!   logit_c − ln t_c. Of two classes with t and 1 − t that is: the one class exactly where its
//!   probability is at least t (the other way round, costs of errors; Elkan 2001, Theorem 1). The
//!   thresholds may depend on an attribute of the row, as where groups have thresholds of their
//!   own.
//! * **Abstention**: of two classes, one is decided where its probability is at least `high`, the
//!   other where it is below `low`, and neither in between (Chow 1970).
//! * **Gap**: nothing is decided; a score is compared: the probability of a class, or of a regressor
//!   the number that it gives, the logit of [`SIDES`]' second over the first. Two inputs are told
//!   apart where their scores differ by more than a gap, as the *lower* and the *higher* one.
//!
//! A [`Decision`] is a function of a row and its logits, computed in 64-bit arithmetic. A
//! probability that misses a threshold by no more than rounding, [`ROUNDING`] of its odds, reaches
//! it: models that answer 0.7 mean 0.7. [`Decided`] gives a classifier the decision by which it is
//! audited; logits and gradients stay its own. Likewise a difference that is a gap up to rounding is
//! none.

mod decided;
mod proof;
mod score;
mod thresholds;

pub use probity_data::schema::SIDES;

pub use self::decided::Decided;
pub use self::score::{Gap, Logit, ROUNDING, Score, probabilities, probability};
use self::score::{largest, log_odds};
pub use self::thresholds::Thresholds;

/// Name of the decision to decide nothing.
pub const ABSTAIN: &str = "abstain";

/// The way in which a decision is made from logits.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Decision {
    /// The most probable class, the first of equal ones.
    #[default]
    Largest,
    /// The class whose probability is largest beside its threshold.
    Thresholds(Thresholds),
    /// One of two classes is decided, or neither of them.
    Abstention {
        /// The class whose probability is looked at, 0 or 1.
        class: usize,
        /// Below this probability the other class is decided.
        low: f64,
        /// From this probability on the class is decided.
        high: f64,
    },
    /// Scores are compared; nothing is decided.
    Gap(Gap),
}

/// The lead over a rival that a class must have for a decision, see [`Decision::lead`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lead {
    /// The class that leads.
    pub class: usize,
    /// The rival of the class.
    pub rival: usize,
    /// The lead that the logit of the class must exceed over the rival's.
    pub least: f64,
}

/// Returns the log-odds that reach the probability `least`.
fn reached(least: f64) -> f64 {
    (least / (1.0 - least)).ln() - ROUNDING
}

impl Decision {
    /// Whether the most probable class is the decision.
    pub fn is_largest(&self) -> bool {
        *self == Decision::Largest
    }

    /// Whether the decision depends on the row beside its logits.
    pub fn reads_rows(&self) -> bool {
        matches!(self, Decision::Thresholds(of) if of.by_value.is_some())
    }

    /// Whether the decision depends on the row's attribute at `place` beside its logits.
    pub fn reads(&self, place: usize) -> bool {
        matches!(self, Decision::Thresholds(of) if of.reads(place))
    }

    /// Returns the names of the decisions about `classes`, by number: see [`Decision::contrast`].
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

    /// Returns the name of the decision with the number `decided` about `classes`.
    pub fn name<'a>(&self, classes: &'a [String], decided: u32) -> &'a str {
        classes
            .get(decided as usize)
            .map_or(ABSTAIN, String::as_str)
    }

    /// The number of decisions about `classes` classes.
    pub fn count(&self, classes: usize) -> usize {
        match self {
            Decision::Largest | Decision::Thresholds(_) => classes,
            Decision::Abstention { .. } => classes + 1,
            Decision::Gap(_) => SIDES.len(),
        }
    }

    /// Returns the number of the decision about `row`, whose logits are given; where the
    /// probability of a class is compared the most probable class, where a number is compared
    /// always the second of [`SIDES`].
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

    /// Returns the class whose lead goes down on the way to another decision: the class that is
    /// decided; where none is, the class that is farther.
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

    /// Returns the decision next to that of `row`, whose logits are given: the other decision that
    /// is nearest. Where scores are compared, it is the decision itself.
    pub fn next<L: Logit>(&self, row: &[i32], logits: &[L]) -> u32 {
        let decided = self.decide(row, logits);
        let runner_up = |offset: &dyn Fn(usize) -> f64| {
            let others = (0..logits.len()).filter(|&class| class != decided as usize);
            let lead = |class: usize| logits[class].into() + offset(class);
            let best = others.reduce(|best, class| match lead(class) > lead(best) {
                true => class,
                false => best,
            });
            best.map_or(decided, |class| class as u32)
        };
        match self {
            Decision::Gap(_) => decided,
            Decision::Largest => runner_up(&|_| 0.0),
            Decision::Thresholds(thresholds) => {
                let offsets = thresholds.offsets(row);
                runner_up(&|class| offsets[class])
            }
            Decision::Abstention { .. } if decided < 2 => 2,
            Decision::Abstention { .. } => 1 - self.side(row, logits),
        }
    }

    /// Returns the lead that tells the first of two decisions about `row` from the second: the
    /// first is made rather than the second where the logit of `class` leads that of `rival` by
    /// more than `least`. Two decisions with abstention between them are told apart in the middle
    /// of the abstention; where scores are compared, there is no lead.
    pub fn lead(&self, row: &[i32], [one, other]: [u32; 2]) -> Option<Lead> {
        let of = |least: f64| Lead {
            class: one as usize,
            rival: other as usize,
            least,
        };
        match self {
            Decision::Gap(_) => None,
            Decision::Largest => Some(of(0.0)),
            Decision::Thresholds(thresholds) => {
                let offsets = thresholds.offsets(row);
                Some(of(offsets[other as usize] - offsets[one as usize]))
            }
            &Decision::Abstention { class, low, high } => {
                let ends = [reached(low), reached(high)];
                let least = match (one == class as u32, other == class as u32, one, other) {
                    (true, _, _, 2) | (_, true, 2, _) => ends[1],
                    (_, _, _, 2) | (_, _, 2, _) => ends[0],
                    _ => f64::midpoint(ends[0], ends[1]),
                };
                let is_above = one == class as u32 || (one == 2 && other != class as u32);
                Some(Lead {
                    class: if is_above { class } else { 1 - class },
                    rival: if is_above { 1 - class } else { class },
                    least: if is_above { least } else { -least },
                })
            }
        }
    }

    /// Returns the score by which two inputs are far apart or near, where `decided` is decided
    /// about one of them: the score that is compared, else the probability of the class.
    pub fn score(&self, decided: u32) -> Score {
        match *self {
            Decision::Gap(gap) => gap.score,
            // The probabilities of two classes move alike.
            Decision::Abstention { class, .. } => Score::Probability(class),
            Decision::Largest | Decision::Thresholds(_) => Score::Probability(decided as usize),
        }
    }

    /// Returns the decisions about two rows with their logits, if they differ.
    pub fn contrast<L: Logit>(
        &self,
        own: (&[i32], &[L]),
        other: (&[i32], &[L]),
    ) -> Option<[u32; 2]> {
        match self {
            Decision::Gap(gap) => {
                let change = gap.compute_score(other.1) - gap.compute_score(own.1);
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

#[cfg(test)]
mod tests;
