//! Evenly spaced axes with round numbers at their ends and ticks.

/// An axis from one round number to another.
pub(super) struct Axis {
    from: f64,
    step: f64,
    steps: u32,
    pub pixels: (f64, f64),
}

impl Axis {
    /// The axis over `values` with about five steps of 1, 2 or 5 times a power of ten.
    pub fn over(values: impl Iterator<Item = f64>, pixels: (f64, f64)) -> Axis {
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
        let rough = ((high - low) / 5.0)
            .max(low.abs().max(high.abs()) * 1e-6)
            .max(1e-12);
        let power = 10_f64.powf(rough.log10().floor());
        let factors = [1.0, 2.0, 5.0, 10.0].into_iter();
        let step = factors
            .map(|factor| factor * power)
            .find(|&step| step >= rough * 0.999)
            .unwrap_or(10.0 * power);
        let from = (low / step).floor() * step;
        let steps = ((high - from) / step - 1e-9).ceil().max(1.0) as u32;
        Axis {
            from,
            step,
            steps,
            pixels,
        }
    }

    /// Where `value` lies, in pixels.
    pub fn at(&self, value: f64) -> f64 {
        let share = (value - self.from) / (self.step * f64::from(self.steps));
        self.pixels.0 + share * (self.pixels.1 - self.pixels.0)
    }

    /// Tick values with what is written at them.
    pub fn ticks(&self) -> impl Iterator<Item = (f64, String)> + '_ {
        let decimals = (-self.step.log10().floor()).max(0.0) as usize;
        (0..=self.steps).map(move |tick| {
            let value = self.from + f64::from(tick) * self.step;
            (value, format!("{value:.decimals$}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_round_and_span_the_points() {
        for (low, high) in [(83.1, 85.7), (0.0, 0.0031), (-5.0, 1200.0), (7.0, 7.0)] {
            let axis = Axis::over([low, high].into_iter(), (0.0, 100.0));
            let end = axis.from + axis.step * f64::from(axis.steps);
            assert!(
                axis.from <= low && high <= end * (1.0 + 1e-9),
                "{low} {high}"
            );
            assert!((1..=8).contains(&axis.steps), "{}", axis.steps);
            assert!((0.0..=100.0).contains(&axis.at(low)) && axis.at(high) <= 100.0 + 1e-6);
        }
        let axis = Axis::over([83.1, 85.7].into_iter(), (0.0, 100.0));
        let labels: Vec<String> = axis.ticks().map(|(_, label)| label).collect();
        assert_eq!(labels, ["83", "84", "85", "86"]);
    }
}
