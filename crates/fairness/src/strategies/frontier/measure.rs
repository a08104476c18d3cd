//! The measure of how far two variants of an input are from being told apart, and its value to
//! first order.
//!
//! The measure looks at a *value* each of x and x': the lead that tells the one decision from the
//! other ([`Decision::lead`]), or the score that is compared. The two are told apart where their
//! values lie on different sides of 0, or farther apart than the gap. The *clearance* is how far
//! the values could move, against each other or not, before that ends; below 0, how far they are
//! from it.

use serde::{Deserialize, Serialize};

use crate::check::Logits;
use crate::domain::Domain;
use probity_nn::decision::{Decision, Score, probability};
use probity_nn::encoding::Span;
use probity_nn::{Differentiable, ModelError, Rows};

/// An input and two of its variants, with the answers of the model about them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Place {
    /// The input; it need not be one of the two.
    pub(crate) row: Vec<i32>,
    /// The variants: x, whose value is the larger one, and x'.
    pub(crate) variants: [u32; 2],
    /// Logits of both variants.
    pub(crate) logits: [Logits; 2],
    /// Values of both variants.
    pub(crate) values: [f32; 2],
}

impl Place {
    /// Half the sum of both values: where it is 0, the boundary passes between x and x'.
    pub(super) fn middle(&self) -> f32 {
        f32::midpoint(self.values[0], self.values[1])
    }

    /// Whether this can be a place of `domain`, of a model of `classes` classes.
    pub(super) fn is_of(&self, domain: &dyn Domain, classes: usize) -> bool {
        let variants = domain.variants(&self.row) as u32;
        domain.contains(&self.row)
            && self.variants.iter().all(|&variant| variant < variants)
            && self.logits.iter().all(|logits| logits.len() == classes)
    }
}

/// The measure of the variants of an input.
#[derive(Clone, Copy)]
pub(crate) struct Measure<'a> {
    /// The rule by which decisions are made.
    pub(crate) decision: &'a Decision,
    /// The decision on x's side, and that on the other side.
    pub(crate) decided: [u32; 2],
}

impl<'a> Measure<'a> {
    /// The measure that tells the decision about `row`, whose logits are given, from the next one.
    pub(crate) fn near(decision: &'a Decision, row: &[i32], logits: &[f32]) -> Measure<'a> {
        let decided = match decision {
            // Nothing is decided of scores.
            Decision::Gap(_) => [0; 2],
            _ => [decision.decide(row, logits), decision.next(row, logits)],
        };
        Measure { decision, decided }
    }

    /// The value of `row`, whose logits are given.
    pub(super) fn value(&self, row: &[i32], logits: &[f32]) -> f32 {
        match (self.decision.lead(row, self.decided), self.decision) {
            (Some(lead), _) => {
                let lead_of = f64::from(logits[lead.class]) - f64::from(logits[lead.rival]);
                (lead_of - lead.least) as f32
            }
            (None, Decision::Gap(gap)) => gap.compute_score(logits) as f32,
            (None, _) => 0.0,
        }
    }

    /// Appends the derivative of the value by each logit.
    fn cotangent(&self, row: &[i32], logits: &[f32], out: &mut Vec<f32>) {
        let start = out.len();
        out.resize(start + logits.len(), 0.0);
        let out = &mut out[start..];
        if let Some(lead) = self.decision.lead(row, self.decided) {
            out[lead.class] = 1.0;
            out[lead.rival] = -1.0;
            return;
        }
        let Decision::Gap(gap) = self.decision else {
            return;
        };
        match gap.score {
            Score::Number => (out[1], out[0]) = (1.0, -1.0),
            Score::Probability(of) => {
                let own = probability(logits, of);
                for (class, value) in out.iter_mut().enumerate() {
                    let here = f64::from(u8::from(class == of));
                    *value = (own * (here - probability(logits, class))) as f32;
                }
            }
        }
    }

    /// The clearance of two values.
    pub(crate) fn clearance(&self, [value, other]: [f32; 2]) -> f32 {
        match self.decision {
            Decision::Gap(gap) => (value - other).abs() - gap.most as f32,
            _ => value.min(-other),
        }
    }

    /// The distance of the scores of two values: of leads the probabilities beside the rival alone.
    pub(super) fn apart(&self, [value, other]: [f32; 2]) -> f32 {
        let score = |value: f32| match self.decision {
            Decision::Gap(_) => value,
            _ => 1.0 / (1.0 + (-value).exp()),
        };
        (score(value) - score(other)).abs()
    }

    /// The place of an input whose variants have these logits, row by row: the variants with the
    /// largest and the smallest value.
    pub(crate) fn widest(&self, domain: &dyn Domain, row: &[i32], logits: &[f32]) -> Place {
        let classes = logits.len() / domain.variants(row).max(1);
        let mut codes = Vec::with_capacity(row.len());
        let mut ends: Option<[(usize, f32); 2]> = None;
        for (variant, logits) in logits.chunks_exact(classes.max(1)).enumerate() {
            codes.clear();
            domain.write_variant(row, variant, &mut codes);
            let value = self.value(&codes, logits);
            let [most, least] = ends.get_or_insert([(variant, value); 2]);
            if value > most.1 {
                *most = (variant, value);
            }
            if value < least.1 {
                *least = (variant, value);
            }
        }
        let ends = ends.unwrap_or([(0, 0.0); 2]);
        Place {
            row: row.to_vec(),
            variants: ends.map(|(variant, _)| variant as u32),
            logits: ends.map(|(variant, _)| logits[variant * classes..][..classes].into()),
            values: ends.map(|(_, value)| value),
        }
    }
}

/// The gradients of both values at the variants of `places`, each with its measure, by every feature
/// that `model` sees: two calls each. Row-major `[places, 2, features]`.
///
/// # Errors
/// When the model cannot answer.
pub(crate) fn gradients(
    model: &dyn Differentiable,
    domain: &dyn Domain,
    places: &[(&Place, Measure<'_>)],
) -> Result<Vec<f32>, ModelError> {
    if places.is_empty() {
        return Ok(Vec::new());
    }
    let (mut codes, mut cotangents) = (Vec::new(), Vec::new());
    for (place, measure) in places {
        for (&variant, logits) in place.variants.iter().zip(&place.logits) {
            let start = codes.len();
            domain.write_variant(&place.row, variant as usize, &mut codes);
            measure.cotangent(&codes[start..], logits, &mut cotangents);
        }
    }
    model.input_gradients(Rows::new(&codes, domain.width()), &cotangents)
}

/// The slopes of both values by every feature that the model sees: a gradient each, corrected by what
/// was measured since.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Slopes(pub(super) [Vec<f32>; 2]);

impl Slopes {
    /// Slopes that say nothing yet.
    pub(super) fn flat(features: usize) -> Slopes {
        Slopes([vec![0.0; features], vec![0.0; features]])
    }

    /// The slopes at the variants of `places`: see [`gradients`].
    ///
    /// # Errors
    /// When the model cannot answer.
    pub(super) fn at(
        model: &dyn Differentiable,
        domain: &dyn Domain,
        places: &[(&Place, Measure<'_>)],
    ) -> Result<Vec<Slopes>, ModelError> {
        let gradients = gradients(model, domain, places)?;
        let features = model.features().max(1);
        let pairs = gradients.chunks_exact(2 * features);
        Ok(pairs
            .map(|pair| {
                let (here, there) = pair.split_at(features);
                Slopes([here.to_vec(), there.to_vec()])
            })
            .collect())
    }

    /// The changes of both values for each code of an attribute that is one number.
    #[inline]
    pub(super) fn of_scaled(&self, span: &Span) -> [f32; 2] {
        [self.0[0][span.start], self.0[1][span.start]]
    }

    /// The changes of both values when an attribute goes from the code `from` to the code `to`.
    #[inline]
    pub(super) fn effect(&self, span: &Span, from: i32, to: i32) -> [f32; 2] {
        if span.encoding.is_scaled() {
            return self.of_scaled(span).map(|of| of * (to - from) as f32);
        }
        let of = |slopes: &[f32]| {
            let level = |code: i32| slopes[span.start + (code - span.min) as usize];
            level(to) - level(from)
        };
        [of(&self.0[0]), of(&self.0[1])]
    }

    /// Takes `changes` as the changes of the values between two codes of an attribute: the secant.
    pub(super) fn learn(&mut self, span: &Span, from: i32, to: i32, changes: [f32; 2]) {
        for (slopes, change) in self.0.iter_mut().zip(changes) {
            if span.encoding.is_scaled() {
                slopes[span.start] = change / (to - from) as f32;
            } else {
                let level = |code: i32| span.start + (code - span.min) as usize;
                slopes[level(to)] = slopes[level(from)] + change;
            }
        }
    }
}
