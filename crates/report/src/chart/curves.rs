//! Curves over two axes, evenly or logarithmically spaced.

use super::{Anchor, Canvas, WIDTH, brief, colour};
use crate::axis::Axis;
use crate::line_plot::Spacing;
use crate::text::Text;

const LEFT: f64 = 46.0;
const RIGHT: f64 = WIDTH - 12.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = 222.0;

/// A curve.
pub(crate) struct Curve {
    /// Its name.
    pub name: Text,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
}

/// Curves over common axes.
pub(crate) struct Curves<'a> {
    /// What lies across.
    pub x_label: &'a str,
    /// What goes up.
    pub y_label: &'a str,
    /// Spacing of both axes; a logarithmic one leaves out what is not above zero.
    pub spacing: Spacing,
    /// The curves.
    pub curves: &'a [Curve],
}

/// An axis of either spacing.
enum Scale {
    Linear(Axis),
    Decades {
        first: i32,
        last: i32,
        pixels: (f64, f64),
    },
}

impl Scale {
    fn over(spacing: Spacing, values: impl Iterator<Item = f64>, pixels: (f64, f64)) -> Scale {
        if spacing == Spacing::Linear {
            return Scale::Linear(Axis::over(values.chain([0.0]), pixels));
        }
        let (low, high) = values.fold((f64::INFINITY, 0.0_f64), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        let first = if low.is_finite() {
            low.log10().floor() as i32
        } else {
            0
        };
        let last = if high > 0.0 {
            high.log10().ceil() as i32
        } else {
            1
        };
        Scale::Decades {
            first,
            last: last.max(first + 1),
            pixels,
        }
    }

    fn at(&self, value: f64) -> f64 {
        match self {
            Scale::Linear(axis) => axis.at(value),
            Scale::Decades {
                first,
                last,
                pixels,
            } => {
                let share = (value.log10() - f64::from(*first)) / f64::from(last - first);
                pixels.0 + share * (pixels.1 - pixels.0)
            }
        }
    }

    fn ticks(&self) -> Vec<f64> {
        match self {
            Scale::Linear(axis) => axis.ticks().map(|(value, _)| value).collect(),
            Scale::Decades { first, last, .. } => {
                (*first..=*last).map(|power| 10_f64.powi(power)).collect()
            }
        }
    }
}

impl Curves<'_> {
    /// The curves as an SVG.
    pub fn svg(&self, id: &str, (title, description): (&Text, &Text)) -> String {
        let placed = |curve: &Curve| -> Vec<(f64, f64)> {
            let has_place = |value: f64| self.spacing == Spacing::Linear || value > 0.0;
            let points = curve.points.iter().copied();
            points
                .filter(|&(x, y)| has_place(x) && has_place(y))
                .collect()
        };
        let curves: Vec<Vec<(f64, f64)>> = self.curves.iter().map(placed).collect();
        let all = || curves.iter().flatten();
        let x = Scale::over(self.spacing, all().map(|point| point.0), (LEFT, RIGHT));
        let y = Scale::over(self.spacing, all().map(|point| point.1), (BOTTOM, TOP));
        let legend = if self.curves.len() > 1 {
            self.curves.len()
        } else {
            0
        };
        let mut canvas = Canvas::new(BOTTOM + 40.0 + 18.0 * legend as f64);
        for tick in y.ticks() {
            canvas.line((LEFT, y.at(tick)), (RIGHT, y.at(tick)), "grid");
            canvas.text(
                &brief(tick),
                (LEFT - 5.0, y.at(tick) + 4.0),
                Anchor::End,
                "small",
            );
        }
        let ticks = x.ticks();
        for (place, &tick) in ticks.iter().enumerate() {
            let at = x.at(tick);
            canvas.line((at, TOP), (at, BOTTOM), "grid");
            let anchor = if place + 1 == ticks.len() {
                Anchor::End
            } else {
                Anchor::Middle
            };
            canvas.text(&brief(tick), (at, BOTTOM + 14.0), anchor, "small");
        }
        for (number, points) in curves.iter().enumerate() {
            let points: Vec<(f64, f64)> = points.iter().map(|&(a, b)| (x.at(a), y.at(b))).collect();
            canvas.path(
                &points,
                &format!("{} d{}", colour("line", number), number % 4),
            );
            if let [only] = points[..] {
                canvas.dot(only, 3.0, &colour("fill", number));
            }
        }
        let middle = (LEFT + RIGHT) / 2.0;
        canvas.text(
            self.x_label,
            (middle, BOTTOM + 30.0),
            Anchor::Middle,
            "small",
        );
        canvas.text(self.y_label, (4.0, 13.0), Anchor::Start, "small");
        for (number, curve) in self.curves.iter().enumerate().take(legend) {
            let top = BOTTOM + 46.0 + 18.0 * number as f64;
            let class = format!("{} d{}", colour("line", number), number % 4);
            canvas.line((LEFT, top), (LEFT + 26.0, top), &class);
            canvas.text(
                &curve.name.short(44),
                (LEFT + 33.0, top + 4.0),
                Anchor::Start,
                "label",
            );
        }
        canvas.finish(id, title, description)
    }
}
