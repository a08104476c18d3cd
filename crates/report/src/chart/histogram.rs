//! How often values fall into equal bins from 0 to 1.

use super::{Anchor, Canvas, WIDTH, brief, colour};
use crate::axis::Axis;
use crate::text::Text;

const LEFT: f64 = 42.0;
const RIGHT: f64 = WIDTH - 10.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = 184.0;

/// Counts of equal bins from 0 to 1.
pub(crate) struct Histogram<'a> {
    /// The counts.
    pub bins: &'a [u64],
    /// What the values are.
    pub x_label: &'a str,
    /// What is counted.
    pub y_label: &'a str,
}

impl Histogram<'_> {
    /// The bins as an SVG.
    pub fn svg(&self, id: &str, (title, description): (&Text, &Text)) -> String {
        let counts = self.bins.iter().map(|&count| count as f64);
        let axis = Axis::over(counts.chain([0.0]), (BOTTOM, TOP));
        let mut canvas = Canvas::new(BOTTOM + 38.0);
        for (value, _) in axis.ticks() {
            let y = axis.at(value);
            canvas.line((LEFT, y), (RIGHT, y), "grid");
            canvas.text(&brief(value), (LEFT - 5.0, y + 4.0), Anchor::End, "small");
        }
        let width = (RIGHT - LEFT) / self.bins.len().max(1) as f64;
        for (place, &count) in self.bins.iter().enumerate() {
            let top = axis.at(count as f64);
            let left = LEFT + width * place as f64 + 1.0;
            canvas.rectangle((left, top), (width - 2.0, BOTTOM - top), &colour("fill", 0));
        }
        for tick in 0..=4 {
            let x = LEFT + (RIGHT - LEFT) * f64::from(tick) / 4.0;
            let anchor = if tick == 4 {
                Anchor::End
            } else {
                Anchor::Middle
            };
            canvas.text(
                &format!("{}", f64::from(tick) / 4.0),
                (x, BOTTOM + 14.0),
                anchor,
                "small",
            );
        }
        let middle = (LEFT + RIGHT) / 2.0;
        canvas.text(
            self.x_label,
            (middle, BOTTOM + 31.0),
            Anchor::Middle,
            "small",
        );
        canvas.text(self.y_label, (4.0, 13.0), Anchor::Start, "small");
        canvas.finish(id, title, description)
    }
}
