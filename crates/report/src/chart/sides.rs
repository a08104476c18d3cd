//! Two amounts beside each other, above or below zero.

use super::Chart;
use super::area::legend;
use super::canvas::{Canvas, fill};
use super::rows::Rows;
use crate::text::Text;

/// The height of a row with its two bars, in pixels.
const STEP: f64 = 42.0;
/// The height of a bar, in pixels.
const BAR: f64 = 8.0;

/// Two amounts of each row as bars that begin at a line in the middle.
pub(crate) struct Sides<'a> {
    /// The rows.
    pub rows: &'a [SidesRow],
    /// What the amounts are, the upper one first.
    pub names: [Text; 2],
}

/// A row of [`Sides`].
pub(crate) struct SidesRow {
    /// What the amounts are of.
    pub label: Text,
    /// The amounts, from −1 to 1: the parts of half the width that they take.
    pub amounts: [f64; 2],
    /// The amounts as they are written.
    pub shown: String,
}

impl Chart for Sides<'_> {
    fn draw(&self, canvas: &mut Canvas) {
        let rows = Rows::new(canvas, STEP);
        let half = (rows.right - rows.left) / 2.0;
        let middle = rows.left + half;
        for (place, row) in self.rows.iter().enumerate() {
            let top = rows.head(canvas, place, (&row.label, &row.shown)) + 5.0;
            for (bar, amount) in row.amounts.into_iter().enumerate() {
                let top = top + bar as f64 * (BAR + 1.0);
                let length = half * amount.clamp(-1.0, 1.0);
                let left = middle + length.min(0.0);
                canvas.rectangle((rows.left, top), (2.0 * half, BAR), "track");
                canvas.rectangle((left, top), (length.abs(), BAR), &fill(1 - bar));
            }
        }
        canvas.line((middle, 4.0), (middle, canvas.height), "bound");
        canvas.height += 4.0;
        legend(
            canvas,
            rows.left,
            11.0,
            self.names.iter(),
            |canvas, bar, (x, y)| {
                canvas.rectangle((x, y - 6.0), (11.0, 11.0), &fill(1 - bar));
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_go_both_ways_from_the_middle() {
        let row = |label: &str, amounts: [f64; 2]| SidesRow {
            label: label.into(),
            amounts,
            shown: "a < b".to_owned(),
        };
        let rows = [row("one", [-1.0, 0.5]), row("two", [0.0, 7.0])];
        let names = ["upper", "lower"].map(Text::from);
        let svg = Sides { rows: &rows, names }.to_svg("title");
        // The ground of the file; of each row two tracks and two bars; the legend.
        assert_eq!(svg.matches("<rect").count(), 1 + 8 + 2, "{svg}");
        assert_eq!(svg.matches("class=\"bound\"").count(), 1);
        assert!(svg.contains("a &lt; b") && !svg.contains("NaN"), "{svg}");
        // No bar leaves the chart, and none has a negative length.
        assert!(!svg.contains("width=\"-"), "{svg}");
    }
}
