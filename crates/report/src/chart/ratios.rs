//! Ratios to the highest of their kind, one below the other, over an axis with a line at a bound.

use super::Chart;
use super::canvas::{Canvas, fill};
use super::rows::Rows;
use super::scale::{Scale, Spacing};
use crate::text::Text;

/// Units from one ratio to the next.
const STEP: f64 = 32.0;

/// Ratios from 0 to 1.
pub(crate) struct Ratios<'a> {
    /// The name and the ratio of each row.
    pub rows: &'a [(Text, f64)],
    /// Where the line is; what lies below it has another colour.
    pub bound: f64,
}

impl Chart for Ratios<'_> {
    fn draw(&self, canvas: &mut Canvas) {
        let rows = Rows::new(canvas, STEP);
        let axis = Scale::over(
            Spacing::FromZero,
            [1.0].into_iter(),
            (rows.left, rows.right),
        );
        let bottom = STEP * self.rows.len() as f64 + 4.0;
        for (x, label) in axis.ticks() {
            canvas.line((x, 4.0), (x, bottom), "grid");
            canvas.text_within(&label, (x, bottom + 15.0));
        }
        for (place, (label, ratio)) in self.rows.iter().enumerate() {
            let top = rows.head(canvas, place, (label, &format!("{ratio:.3}"))) + 5.0;
            canvas.rectangle((rows.left, top), (rows.right - rows.left, 8.0), "track");
            let colour = fill(usize::from(*ratio < self.bound));
            canvas.rectangle(
                (rows.left, top),
                (axis.at(*ratio) - rows.left, 8.0),
                &colour,
            );
        }
        let bound = axis.at(self.bound);
        canvas.line((bound, 4.0), (bound, bottom), "bound");
        canvas.height = bottom + 22.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_ratios_and_the_bound_is_a_line() {
        let rows = [("a".into(), 1.0), ("b".into(), 0.5), ("c".into(), 0.0)];
        let svg = Ratios {
            rows: &rows,
            bound: 0.8,
        }
        .to_svg("title");
        let nothing = Ratios {
            rows: &[],
            bound: 0.8,
        }
        .to_svg("title");
        assert_eq!(svg.matches("class=\"bound\"").count(), 1, "{svg}");
        assert_eq!(svg.matches("class=\"track\"").count(), 3);
        assert!(svg.contains("0.500") && !nothing.contains("NaN"), "{svg}");
    }
}
