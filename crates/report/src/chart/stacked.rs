//! Counts stacked to a whole, one bar a category.

use super::{Anchor, Canvas, WIDTH, colour};
use crate::text::{Text, count};

const LEFT: f64 = 44.0;
const RIGHT: f64 = WIDTH - 8.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 180.0;

/// A layer of all bars.
pub(crate) struct Layer {
    /// Its name.
    pub name: Text,
    /// A count for each category.
    pub counts: Vec<u64>,
}

/// Layers of bars.
pub(crate) struct Stacked<'a> {
    /// What the categories are.
    pub x_label: &'a str,
    /// Names of the bars.
    pub categories: &'a [String],
    /// The layers, lowest first.
    pub layers: &'a [Layer],
}

impl Stacked<'_> {
    /// The bars as an SVG.
    pub fn svg(&self, id: &str, (title, description): (&Text, &Text)) -> String {
        let mut canvas = Canvas::new(BOTTOM + 42.0 + 18.0 * self.layers.len() as f64);
        let y = |share: f64| BOTTOM - (BOTTOM - TOP) * share;
        for tick in 0..=4 {
            let share = f64::from(tick) / 4.0;
            canvas.line((LEFT, y(share)), (RIGHT, y(share)), "grid");
            canvas.text(
                &format!("{} %", 25 * tick),
                (LEFT - 5.0, y(share) + 4.0),
                Anchor::End,
                "small",
            );
        }
        let slot = (RIGHT - LEFT) / self.categories.len().max(1) as f64;
        for (place, category) in self.categories.iter().enumerate() {
            let left = LEFT + slot * (place as f64 + 0.15);
            let all: u64 = self.layers.iter().map(|layer| layer.counts[place]).sum();
            let mut below = 0.0;
            for (number, layer) in self.layers.iter().enumerate() {
                let share = layer.counts[place] as f64 / all.max(1) as f64;
                let (bottom, top) = (y(below), y(below + share));
                canvas.rectangle(
                    (left, top),
                    (0.7 * slot, bottom - top),
                    &colour("fill", number),
                );
                if bottom - top > 14.0 && slot > 40.0 {
                    let middle = (left + 0.35 * slot, (top + bottom) / 2.0 + 4.0);
                    canvas.text(
                        &count(layer.counts[place]),
                        middle,
                        Anchor::Middle,
                        "small inverse",
                    );
                }
                below += share;
            }
            if slot > 16.0 || place % 4 == 0 {
                canvas.text(
                    category,
                    (left + 0.35 * slot, BOTTOM + 14.0),
                    Anchor::Middle,
                    "small",
                );
            }
        }
        let middle = (LEFT + RIGHT) / 2.0;
        canvas.text(
            self.x_label,
            (middle, BOTTOM + 30.0),
            Anchor::Middle,
            "small",
        );
        for (number, layer) in self.layers.iter().enumerate().rev() {
            let top = BOTTOM + 40.0 + 18.0 * (self.layers.len() - 1 - number) as f64;
            canvas.rectangle((LEFT, top), (11.0, 11.0), &colour("fill", number));
            canvas.text(
                &layer.name.short(48),
                (LEFT + 17.0, top + 10.0),
                Anchor::Start,
                "label",
            );
        }
        canvas.finish(id, title, description)
    }
}
