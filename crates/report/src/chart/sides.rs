//! Two counts of each row, as the parts of one bar.

use super::Chart;
use super::area::legend;
use super::canvas::{Canvas, fill};
use super::rows::Rows;
use crate::text::Text;

/// Units from one row to the next.
const STEP: f64 = 32.0;
/// The colours of both parts.
const COLOURS: [usize; 2] = [1, 0];

/// A row.
pub(crate) struct Side {
    /// Of what.
    pub label: Text,
    /// Both counts.
    pub counts: [u64; 2],
    /// What is written at its end.
    pub value: String,
}

/// Bars whose length is the sum of both counts.
pub(crate) struct Sides<'a> {
    /// The rows.
    pub rows: &'a [Side],
    /// What the counts are.
    pub names: [String; 2],
}

impl Chart for Sides<'_> {
    fn draw(&self, canvas: &mut Canvas) {
        let sum = |row: &Side| row.counts.iter().map(|&count| count as f64).sum::<f64>();
        let most = self.rows.iter().map(sum).fold(1.0, f64::max);
        let rows = Rows::new(canvas, STEP);
        let full = rows.right - rows.left;
        for (place, row) in self.rows.iter().enumerate() {
            let top = rows.head(canvas, place, (&row.label, &row.value)) + 5.0;
            canvas.rectangle((rows.left, top), (full, 8.0), "track");
            let mut left = rows.left;
            for (&count, colour) in row.counts.iter().zip(COLOURS) {
                let width = full * count as f64 / most;
                canvas.rectangle((left, top), (width, 8.0), &fill(colour));
                left += width;
            }
        }
        let names = self.names.each_ref().map(Text::new);
        legend(
            canvas,
            rows.left,
            11.0,
            names.iter(),
            |canvas, number, (x, y)| {
                canvas.rectangle((x, y - 6.0), (11.0, 11.0), &fill(COLOURS[number]));
            },
        );
        canvas.height += 4.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_as_long_as_their_counts() {
        let row = |label: &str, counts| Side {
            label: label.into(),
            counts,
            value: "9 %".to_owned(),
        };
        let rows = [row("a < b", [3, 1]), row("c", [0, 2])];
        let svg = Sides {
            rows: &rows,
            names: ["worse", "better"].map(str::to_owned),
        }
        .to_svg("title");
        // The ground of the file; of each bar its track and both parts; the legend.
        assert_eq!(svg.matches("<rect").count(), 1 + 2 * 3 + 2, "{svg}");
        assert!(svg.contains("a &lt; b") && svg.contains("better"));
        let nothing = Sides {
            rows: &[],
            names: ["worse", "better"].map(str::to_owned),
        };
        assert!(!nothing.to_svg("title").contains("NaN"));
    }
}
