//! Counts as bars, one below the other.

use super::{Anchor, Canvas, WIDTH, colour};
use crate::text::{Text, count};

/// Units from one bar to the next.
const STEP: f64 = 32.0;
const LEFT: f64 = 8.0;
const RIGHT: f64 = WIDTH - 8.0;

/// A bar.
pub(crate) struct Bar {
    /// Of what.
    pub label: Text,
    /// How many.
    pub count: u64,
}

/// The bars as an SVG.
pub(crate) fn bars(id: &str, (title, description): (&Text, &Text), bars: &[Bar]) -> String {
    let most = bars.iter().map(|bar| bar.count).max().unwrap_or(0).max(1) as f64;
    let mut canvas = Canvas::new(STEP * bars.len() as f64 + 6.0);
    for (place, bar) in bars.iter().enumerate() {
        let top = STEP * place as f64;
        canvas.text(
            &bar.label.short(40),
            (LEFT, top + 14.0),
            Anchor::Start,
            "label",
        );
        canvas.text(
            &count(bar.count),
            (RIGHT, top + 14.0),
            Anchor::End,
            "label strong",
        );
        let width = (RIGHT - LEFT) * bar.count as f64 / most;
        canvas.rectangle((LEFT, top + 19.0), (RIGHT - LEFT, 8.0), "track");
        canvas.rectangle((LEFT, top + 19.0), (width, 8.0), &colour("fill", 0));
    }
    canvas.finish(id, title, description)
}
