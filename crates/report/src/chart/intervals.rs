//! Shares with their intervals, one below the other.

use super::Chart;
use super::canvas::{Canvas, fill, line};
use super::rows::Rows;
use super::scale::Scale;
use crate::text::{Text, percent};

/// Units from one share to the next.
const STEP: f64 = 38.0;

/// A share.
pub(crate) struct IntervalRow {
    /// The name of what the share is of.
    pub label: Text,
    /// The share.
    pub share: f64,
    /// The interval of the share.
    pub interval: [f64; 2],
    /// The number of its colour.
    pub colour: usize,
}

impl IntervalRow {
    /// The share of `label` with its interval, in the colour of this number.
    pub fn new(label: &str, share: f64, interval: [f64; 2], colour: usize) -> IntervalRow {
        IntervalRow {
            label: Text::value(label),
            share,
            interval,
            colour,
        }
    }
}

/// Shares over one axis.
pub(crate) struct Intervals<'a> {
    /// The shares.
    pub rows: &'a [IntervalRow],
}

impl Chart for Intervals<'_> {
    fn draw(&self, canvas: &mut Canvas) {
        let rows = Rows::new(canvas, STEP);
        let ends = self.rows.iter();
        let ends = ends.flat_map(|row| [100.0 * row.share, 100.0 * row.interval[1]]);
        let axis = Scale::of_percentages(ends, (rows.left, rows.right));
        let bottom = STEP * self.rows.len() as f64 + 6.0;
        for (x, label) in axis.ticks() {
            canvas.line((x, 4.0), (x, bottom), "grid");
            canvas.text_within(&label, (x, bottom + 15.0));
        }
        for (place, row) in self.rows.iter().enumerate() {
            let middle = 13.0 + rows.head(canvas, place, (&row.label, &percent(row.share)));
            let [from, to] = row.interval.map(|end| axis.at(100.0 * end));
            let class = line(row.colour);
            canvas.line((from, middle), (to, middle), &class);
            for end in [from, to] {
                canvas.line((end, middle - 5.0), (end, middle + 5.0), &class);
            }
            let at = (axis.at(100.0 * row.share), middle);
            canvas.dot(at, 4.0, &fill(row.colour));
        }
        canvas.height = bottom + 22.0;
    }
}
