//! The part of a chart between two axes, with their marks, names and the legend below.

use super::canvas::{Anchor, Canvas};
use super::scale::Scale;
use crate::text::Text;

/// Units from one entry of a legend to the next.
const ENTRY: f64 = 18.0;
/// Units that an entry takes across, at least.
const COLUMN: f64 = 300.0;

/// Where the values of a chart lie.
#[derive(Debug, Clone, Copy)]
pub(super) struct Area {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

impl Area {
    /// The area `above`, so high in a page.
    pub fn new(canvas: &Canvas, (left, right): (f64, f64), (top, height): (f64, f64)) -> Area {
        Area {
            left,
            right: canvas.width - right,
            top,
            bottom: top + canvas.stretched(height),
        }
    }

    /// From left to right.
    pub fn across(&self) -> (f64, f64) {
        (self.left, self.right)
    }

    /// From bottom to top.
    pub fn up(&self) -> (f64, f64) {
        (self.bottom, self.top)
    }

    /// Marks what goes up.
    pub fn mark_up(&self, canvas: &mut Canvas, scale: &Scale) {
        for (y, label) in scale.ticks() {
            canvas.line((self.left, y), (self.right, y), "grid");
            canvas.text(&label, (self.left - 5.0, y + 4.0), Anchor::End, "small");
        }
    }

    /// Marks what lies across.
    pub fn mark_across(&self, canvas: &mut Canvas, scale: &Scale) {
        for (x, label) in scale.ticks() {
            canvas.line((x, self.top), (x, self.bottom), "grid");
            canvas.text_within(&label, (x, self.bottom + 14.0));
        }
    }

    /// Names both axes, and makes room for that.
    pub fn name(&self, canvas: &mut Canvas, x: &str, y: &str) {
        let middle = (self.left + self.right) / 2.0;
        canvas.text(x, (middle, self.bottom + 31.0), Anchor::Middle, "small");
        canvas.text(y, (4.0, 13.0), Anchor::Start, "small");
        canvas.height = self.bottom + 40.0;
    }

    /// Names what is drawn: `sign` draws the sign of an entry to the right of a place, so wide.
    pub fn legend<'t>(
        &self,
        canvas: &mut Canvas,
        width: f64,
        names: impl ExactSizeIterator<Item = &'t Text>,
        sign: impl FnMut(&mut Canvas, usize, (f64, f64)),
    ) {
        legend(canvas, self.left, width, names, sign);
    }
}

/// Names what is drawn below whatever is drawn, from `left` on.
pub(super) fn legend<'t>(
    canvas: &mut Canvas,
    left: f64,
    width: f64,
    names: impl ExactSizeIterator<Item = &'t Text>,
    mut sign: impl FnMut(&mut Canvas, usize, (f64, f64)),
) {
    let columns = ((canvas.width / COLUMN) as usize).clamp(1, names.len().max(1));
    let top = canvas.height + 6.0;
    let rows = names.len().div_ceil(columns);
    for (number, name) in names.enumerate() {
        let column = (number / rows) as f64;
        let x = left + column * (canvas.width - left) / columns as f64;
        let y = top + ENTRY * (number % rows) as f64;
        sign(canvas, number, (x, y));
        let place = (x + width + 7.0, y + 4.0);
        canvas.text(&name.short(44), place, Anchor::Start, "label");
    }
    canvas.height += ENTRY * rows as f64;
}
