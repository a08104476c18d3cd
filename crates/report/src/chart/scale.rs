//! Where numbers lie along an axis, and which of them are written at it.

use crate::text::decimal;

/// How numbers are spaced along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spacing {
    /// Evenly, between round numbers around the values.
    Linear,
    /// Evenly, and zero is among them.
    FromZero,
    /// By their logarithm, between powers of ten; what is not above zero has no place.
    Logarithmic,
}

impl Spacing {
    /// Whether `value` has a place.
    pub(super) fn has(self, value: f64) -> bool {
        value.is_finite() && (self != Spacing::Logarithmic || value > 0.0)
    }
}

/// An axis from one round number to another.
pub(super) struct Scale {
    marks: Marks,
    /// Between which units it lies.
    pub span: (f64, f64),
    unit: &'static str,
}

/// Where an axis is marked.
enum Marks {
    /// At `from` and so many steps after it.
    Even { from: f64, step: f64, steps: u32 },
    /// At the powers of ten with these exponents.
    Decades { first: i32, last: i32 },
}

impl Scale {
    /// The axis over `values`.
    pub fn over(spacing: Spacing, values: impl Iterator<Item = f64>, span: (f64, f64)) -> Scale {
        let zero = (spacing == Spacing::FromZero).then_some(0.0);
        let values = values.filter(|&value| spacing.has(value)).chain(zero);
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        let marks = match spacing {
            Spacing::Logarithmic if low <= high => decades(low, high),
            Spacing::Logarithmic => decades(1.0, 10.0),
            Spacing::Linear | Spacing::FromZero if low <= high => even(low, high),
            Spacing::Linear | Spacing::FromZero => even(0.0, 1.0),
        };
        Scale {
            marks,
            span,
            unit: "",
        }
    }

    /// The axis over `percentages` and zero.
    pub fn of_percentages(percentages: impl Iterator<Item = f64>, span: (f64, f64)) -> Scale {
        Scale {
            unit: "\u{a0}%",
            ..Scale::over(Spacing::FromZero, percentages, span)
        }
    }

    /// Where `value` lies, in units of the drawing.
    pub fn at(&self, value: f64) -> f64 {
        let share = match self.marks {
            Marks::Even { from, step, steps } => (value - from) / (step * f64::from(steps)),
            Marks::Decades { first, last } => {
                (value.log10() - f64::from(first)) / f64::from(last - first)
            }
        };
        self.span.0 + share * (self.span.1 - self.span.0)
    }

    /// Where the axis is marked, and what is written there.
    pub fn ticks(&self) -> Vec<(f64, String)> {
        match self.marks {
            Marks::Even { from, step, steps } => (0..=steps)
                .map(|tick| {
                    let value = from + f64::from(tick) * step;
                    (
                        self.at(value),
                        format!("{}{}", label(value, step), self.unit),
                    )
                })
                .collect(),
            Marks::Decades { first, last } => (first..=last)
                .map(|power| {
                    let value = 10_f64.powi(power);
                    (self.at(value), label(value, value))
                })
                .collect(),
        }
    }
}

/// About five steps of 1, 2 or 5 times a power of ten.
fn even(low: f64, high: f64) -> Marks {
    let rough = ((high - low) / 5.0)
        .max(low.abs().max(high.abs()) * 1e-6)
        .max(1e-12);
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0]
        .map(|factor| factor * power)
        .into_iter()
        .find(|&step| step >= rough * 0.999)
        .unwrap_or(10.0 * power);
    let from = (low / step).floor() * step;
    let steps = ((high - from) / step - 1e-9).ceil().max(1.0) as u32;
    Marks::Even { from, step, steps }
}

/// The powers of ten around positive numbers.
fn decades(low: f64, high: f64) -> Marks {
    let first = low.log10().floor() as i32;
    Marks::Decades {
        first,
        last: (high.log10().ceil() as i32).max(first + 1),
    }
}

/// `value` to the precision of `step`, short: 12,000 as `12k`.
fn label(value: f64, step: f64) -> String {
    let (unit, letter) = match value.abs() {
        size if size >= 1e6 && step >= 1e5 => (1e6, "M"),
        size if size >= 1e4 && step >= 1e3 => (1e3, "k"),
        _ => (1.0, ""),
    };
    let decimals = (-(step / unit).log10().floor()).max(0.0) as usize;
    format!("{}{letter}", decimal(value / unit, decimals))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: &Scale) -> Vec<String> {
        scale.ticks().into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn axes_are_round_and_span_the_values() {
        for (low, high) in [(83.1, 85.7), (0.0, 0.0031), (-5.0, 1200.0), (7.0, 7.0)] {
            let scale = Scale::over(Spacing::Linear, [low, high].into_iter(), (0.0, 100.0));
            let ticks = scale.ticks();
            assert!((2..=9).contains(&ticks.len()), "{}", ticks.len());
            for value in [low, high] {
                assert!((-1e-6..=100.0 + 1e-6).contains(&scale.at(value)), "{value}");
            }
        }
        let scale = Scale::over(Spacing::Linear, [83.1, 85.7].into_iter(), (0.0, 100.0));
        assert_eq!(labels(&scale), ["83", "84", "85", "86"]);
        let scale = Scale::over(Spacing::FromZero, [0.0, 14_000.0].into_iter(), (0.0, 1.0));
        assert_eq!(labels(&scale), ["0", "5,000", "10k", "15k"]);
        let scale = Scale::over(Spacing::Linear, [0.71, 0.99].into_iter(), (0.0, 1.0));
        assert_eq!(labels(&scale), ["0.7", "0.8", "0.9", "1"]);
        let scale = Scale::of_percentages([3.0].into_iter(), (0.0, 1.0));
        assert_eq!(
            labels(&scale),
            ["0", "1", "2", "3"].map(|text| format!("{text}\u{a0}%"))
        );
    }

    #[test]
    fn logarithmic_axes_span_whole_decades() {
        let values = [0.0, 0.02, 2.0, 12_000.0];
        let scale = Scale::over(Spacing::Logarithmic, values.into_iter(), (0.0, 70.0));
        assert_eq!(
            labels(&scale),
            ["0.01", "0.1", "1", "10", "100", "1,000", "10k", "100k"]
        );
        assert_eq!((scale.at(1.0), scale.at(100.0)), (20.0, 40.0));
        let nothing = Scale::over(Spacing::Logarithmic, [0.0].into_iter(), (0.0, 1.0));
        assert_eq!(labels(&nothing), ["1", "10"]);
    }
}
