//! Shares with their intervals, one below the other.

use super::{Anchor, Canvas, WIDTH, colour};
use crate::axis::Axis;
use crate::text::{Text, percent};

/// Units from one share to the next.
const STEP: f64 = 38.0;
const LEFT: f64 = 8.0;
const RIGHT: f64 = WIDTH - 14.0;

/// A share.
pub(crate) struct IntervalRow {
    /// Of what.
    pub label: Text,
    /// The share.
    pub share: f64,
    /// Its interval, where there is one.
    pub interval: Option<[f64; 2]>,
    /// Its colour.
    pub series: usize,
}

/// The shares as an SVG.
pub(crate) fn intervals(
    id: &str,
    (title, description): (&Text, &Text),
    rows: &[IntervalRow],
) -> String {
    let ends = rows.iter().flat_map(|row| {
        [
            100.0 * row.share,
            100.0 * row.interval.map_or(0.0, |ends| ends[1]),
        ]
    });
    let axis = Axis::over(ends.chain([0.0]), (LEFT, RIGHT));
    let bottom = STEP * rows.len() as f64 + 6.0;
    let mut canvas = Canvas::new(bottom + 22.0);
    for (value, label) in axis.ticks() {
        let x = axis.at(value);
        canvas.line((x, 4.0), (x, bottom), "grid");
        let anchor = if x > RIGHT - 8.0 {
            Anchor::End
        } else if x < LEFT + 8.0 {
            Anchor::Start
        } else {
            Anchor::Middle
        };
        canvas.text(&format!("{label} %"), (x, bottom + 15.0), anchor, "small");
    }
    for (place, row) in rows.iter().enumerate() {
        let top = STEP * place as f64;
        let middle = top + 27.0;
        canvas.text(
            &row.label.short(38),
            (LEFT, top + 15.0),
            Anchor::Start,
            "label",
        );
        canvas.text(
            &percent(row.share),
            (RIGHT, top + 15.0),
            Anchor::End,
            "label strong",
        );
        if let Some([low, high]) = row.interval {
            let (from, to) = (axis.at(100.0 * low), axis.at(100.0 * high));
            let line = colour("line", row.series);
            canvas.line((from, middle), (to, middle), &line);
            for end in [from, to] {
                canvas.line((end, middle - 5.0), (end, middle + 5.0), &line);
            }
        }
        let at = (axis.at(100.0 * row.share), middle);
        canvas.dot(at, 4.0, &colour("fill", row.series));
    }
    canvas.finish(id, title, description)
}
