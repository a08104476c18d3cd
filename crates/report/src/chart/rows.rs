//! Rows one below the other, each with its name and its value above what is drawn.

use super::canvas::{Anchor, Canvas};
use crate::text::Text;

/// Where the rows of a chart lie.
pub(super) struct Rows {
    pub left: f64,
    pub right: f64,
    step: f64,
}

impl Rows {
    /// Rows so high.
    pub fn new(canvas: &Canvas, step: f64) -> Rows {
        Rows {
            left: 8.0,
            right: canvas.width - 14.0,
            step,
        }
    }

    /// Writes the name and the value of row `place`; the end of that.
    pub fn head(&self, canvas: &mut Canvas, place: usize, (name, value): (&Text, &str)) -> f64 {
        let bottom = self.step * place as f64 + 14.0;
        canvas.text(&name.short(38), (self.left, bottom), Anchor::Start, "label");
        canvas.text(value, (self.right, bottom), Anchor::End, "label strong");
        canvas.height = self.step * (place + 1) as f64;
        bottom
    }
}
