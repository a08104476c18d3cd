//! What bounds on leads prove about decisions.
//!
//! The lead of class a over class b is logit_a − logit_b. **Theorem.** Let the inputs of a box have
//! logits whose leads are at least the numbers in `leads`. If [`super::Decision::is_kept`] holds, then
//! [`super::Decision::contrast`] tells none of these inputs from one of which `decided` is decided with the
//! logits `own`. *Proof.* Decisions compare leads, computed in 64 bits from 32-bit logits, with
//! constants. The rounding of a difference is monotone, so a computed lead is at least a 64-bit
//! lower bound of the exact one, and each comparison comes out as it does at the bound. A probability
//! is a decreasing function of the leads of the other classes; what the computation of both scores
//! rounds is far below [`super::ROUNDING`], by which a gap must be exceeded. A number is a lead itself.

use super::score::{Gap, Score};
use super::{Decision, reached};

impl Decision {
    /// Returns the classes whose leads over all others must be bounded for [`Decision::is_kept`],
    /// where `decided` is decided between `classes`.
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

    /// Whether no input of a box is told from an input that `decided` is decided about with the
    /// logits `own`: `leads` are lower bounds, over the box, of the leads of each of
    /// [`Decision::leading`] over every class (infinite over itself). Thresholds that depend on the
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
                    // The lead over the other one of the two classes.
                    [lead] if at == class => lead[1 - at] >= high,
                    [lead] => lead[1 - at] > -low,
                    [up, down] => up[1 - class] >= low && down[class] > -high,
                    _ => false,
                }
            }
            Decision::Gap(gap) => {
                let bounded = first.iter().filter(|lead| lead.is_finite()).count();
                let is_bounded = bounded + 1 == own.len();
                let (score, [least, largest]) = (gap.compute_score(own), gap.score.bounds(leads));
                is_bounded && largest - score <= gap.most && score - least <= gap.most
            }
        }
    }
}
