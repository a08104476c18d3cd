//! Gradients from outputs alone: the strategy `adf-zero-order` is ADF on top of these.
//!
//! An attribute that is a number is moved one code up and one down, what the domain allows of it,
//! and the difference of the outputs is divided by that of the codes. An attribute of levels is set
//! to every level, and the feature of a level is the difference to the current one: of a level's
//! gradient, searches use no more than that. The search never asks for the gradient at a protected
//! attribute; those features are zero.

use crate::check::BLOCK_ROWS;
use crate::domain::{Domain, TabularDomain};
use probity_nn::decision::Decision;
use probity_nn::{Classifier, Differentiable, ModelError, Rows};

/// A classifier of rows, made differentiable by differences of its outputs.
pub struct FiniteDifferences<'a> {
    model: &'a dyn Classifier,
    domain: &'a TabularDomain,
    /// Largest number of rows that one gradient costs.
    probes: usize,
}

impl<'a> FiniteDifferences<'a> {
    /// Wraps `model`, whose inputs are those of `domain`.
    pub fn new(model: &'a dyn Classifier, domain: &'a TabularDomain) -> FiniteDifferences<'a> {
        let of = |&attribute: &usize| {
            let span = &domain.spans()[attribute];
            if span.encoding.is_scaled() {
                2
            } else {
                span.levels
            }
        };
        FiniteDifferences {
            model,
            domain,
            probes: domain.free().iter().map(of).sum(),
        }
    }

    /// The codes that `attribute` is set to, in order; the row's own among them only for levels.
    fn codes(&self, attribute: usize, code: i32) -> std::ops::RangeInclusive<i32> {
        let span = &self.domain.spans()[attribute];
        if span.encoding.is_scaled() {
            let code = i64::from(code);
            self.domain.clip(attribute, code - 1)..=self.domain.clip(attribute, code + 1)
        } else {
            span.min..=span.min + span.levels as i32 - 1
        }
    }

    /// Calls `visit` with each free attribute and each code that it is set to.
    fn each_probe(&self, row: &[i32], mut visit: impl FnMut(usize, i32)) {
        for &attribute in self.domain.free() {
            let is_scaled = self.domain.spans()[attribute].encoding.is_scaled();
            let codes = self.codes(attribute, row[attribute]);
            let (first, last) = (*codes.start(), *codes.end());
            if is_scaled {
                if first != last {
                    visit(attribute, first);
                    visit(attribute, last);
                }
            } else {
                codes.for_each(|code| visit(attribute, code));
            }
        }
    }

    /// The gradients at some `rows`, few enough for one batch.
    fn batch(&self, rows: &[&[i32]], cotangents: &[f32]) -> Result<Vec<f32>, ModelError> {
        let classes = self.classes();
        let mut codes = Vec::with_capacity(rows.len() * self.probes * self.width());
        for row in rows {
            self.each_probe(row, |attribute, code| {
                let start = codes.len();
                codes.extend_from_slice(row);
                codes[start + attribute] = code;
            });
        }
        let logits = self.model.logits(Rows::new(&codes, self.width()))?;
        let mut logits = logits.chunks_exact(classes);
        let mut gradients = vec![0.0; rows.len() * self.features()];
        let each = rows.iter().zip(cotangents.chunks_exact(classes));
        for ((row, cotangent), gradient) in
            each.zip(gradients.chunks_exact_mut(self.features().max(1)))
        {
            self.each_probe(row, |attribute, code| {
                let outputs = logits.next().unwrap_or_default();
                let value: f32 = outputs.iter().zip(cotangent).map(|(o, c)| o * c).sum();
                let span = &self.domain.spans()[attribute];
                if span.encoding.is_scaled() {
                    let codes = self.codes(attribute, row[attribute]);
                    let width = (codes.end() - codes.start()) as f32;
                    let sign = if code == *codes.start() { -1.0 } else { 1.0 };
                    gradient[span.start] += sign * value / width;
                } else {
                    gradient[span.start + (code - span.min) as usize] = value;
                }
            });
            self.relative_to_own(row, gradient);
        }
        Ok(gradients)
    }

    /// Subtracts from the value of each level that of the row's own.
    fn relative_to_own(&self, row: &[i32], gradient: &mut [f32]) {
        for &attribute in self.domain.free() {
            let span = &self.domain.spans()[attribute];
            if !span.encoding.is_scaled() {
                let values = &mut gradient[span.start..span.start + span.levels];
                let own = values[(row[attribute] - span.min) as usize];
                values.iter_mut().for_each(|value| *value -= own);
            }
        }
    }
}

impl Classifier for FiniteDifferences<'_> {
    fn width(&self) -> usize {
        self.domain.width()
    }

    fn classes(&self) -> usize {
        self.model.classes()
    }

    fn logits(&self, rows: Rows<'_>) -> Result<Vec<f32>, ModelError> {
        self.model.logits(rows)
    }

    fn decision(&self) -> &Decision {
        self.model.decision()
    }
}

impl Differentiable for FiniteDifferences<'_> {
    fn features(&self) -> usize {
        let last = self.domain.spans().last();
        last.map_or(0, |span| span.start + span.features())
    }

    fn input_gradients(&self, rows: Rows<'_>, cotangents: &[f32]) -> Result<Vec<f32>, ModelError> {
        let all: Vec<&[i32]> = rows.iter().collect();
        let batch = (BLOCK_ROWS / self.probes.max(1)).max(1);
        let mut gradients = Vec::with_capacity(all.len() * self.features());
        for (rows, cotangents) in all
            .chunks(batch)
            .zip(cotangents.chunks(batch * self.classes()))
        {
            gradients.extend(self.batch(rows, cotangents)?);
        }
        Ok(gradients)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::mixed_domain;
    use probity_nn::encoding::InputLayout;

    /// A model of logits with a known slope: 3·a − 2·b for numbers a, b; (l mod 5)² for levels l.
    struct Known {
        layout: InputLayout,
    }

    impl Classifier for Known {
        fn width(&self) -> usize {
            self.layout.spans().len()
        }

        fn classes(&self) -> usize {
            2
        }

        fn logits(&self, rows: Rows<'_>) -> Result<Vec<f32>, ModelError> {
            let value = |row: &[i32]| -> f32 {
                let of = |(place, (&code, span)): (usize, (&i32, &probity_nn::encoding::Span))| {
                    if span.encoding.is_scaled() {
                        slope(place) * code as f32
                    } else {
                        level_value(code)
                    }
                };
                row.iter()
                    .zip(self.layout.spans())
                    .enumerate()
                    .map(of)
                    .sum()
            };
            Ok(rows.iter().flat_map(|row| [value(row), 1.0]).collect())
        }
    }

    fn slope(place: usize) -> f32 {
        [3.0, -2.0, 0.5, 0.0][place % 4]
    }

    fn level_value(code: i32) -> f32 {
        (code.rem_euclid(5) * code.rem_euclid(5)) as f32
    }

    #[test]
    fn differences_are_exact_for_linear_and_for_level_functions() {
        let (layout, domain) = mixed_domain();
        let model = Known {
            layout: layout.clone(),
        };
        let differences = FiniteDifferences::new(&model, &domain);
        assert_eq!(differences.features(), layout.features());
        let codes: Vec<i32> = (0..500).flat_map(|i| domain.random_input(5, i)).collect();
        let rows = Rows::new(&codes, domain.width());
        let cotangents: Vec<f32> = (0..500).flat_map(|i| [1.0 + i as f32, -4.0]).collect();
        let gradients = differences.input_gradients(rows, &cotangents).unwrap();
        for (number, (row, gradient)) in rows
            .iter()
            .zip(gradients.chunks_exact(layout.features()))
            .enumerate()
        {
            let factor = 1.0 + number as f32;
            for (place, span) in layout.spans().iter().enumerate() {
                let part = &gradient[span.start..span.start + span.features()];
                if Some(&place) == domain.protected().first() {
                    assert!(part.iter().all(|&value| value == 0.0));
                } else if span.encoding.is_scaled() {
                    let expected = slope(place) * factor;
                    assert!(
                        (part[0] - expected).abs() < 1e-3 * factor,
                        "{part:?} {expected}"
                    );
                } else {
                    for (level, value) in part.iter().enumerate() {
                        let change = level_value(span.min + level as i32) - level_value(row[place]);
                        assert!((value - change * factor).abs() < 0.02 * factor);
                    }
                }
            }
        }
    }
}
