//! A matrix as shaded cells, of one colour or of two.

use super::Chart;
use super::canvas::{Anchor, Canvas};
use crate::text::Text;

/// Units for the names of the rows.
const LEFT: f64 = 96.0;
/// Cells are no wider than this.
const WIDEST: f64 = 60.0;
/// The darkest shade: letters of the page's ink stay readable on it.
const DARKEST: f64 = 0.5;

/// A cell of a matrix.
#[derive(Debug, Clone, Default)]
pub(crate) struct HeatCell {
    /// What is written in it; nothing leaves it empty.
    pub label: String,
    /// How dark it is against the others, from 0.
    pub weight: f64,
    /// Whether it has the second of two colours.
    pub is_second: bool,
}

/// Figures by two values.
pub(crate) struct Heat<'a> {
    /// What the rows are.
    pub row_title: &'a Text,
    /// What the columns are.
    pub column_title: &'a Text,
    /// Names of rows and of columns.
    pub values: &'a [Text],
    /// `cells[row][column]`.
    pub cells: &'a [Vec<HeatCell>],
}

impl Chart for Heat<'_> {
    fn draw(&self, canvas: &mut Canvas) {
        let number = self.values.len().max(1);
        let width = ((canvas.width - LEFT - 4.0) / number as f64).min(WIDEST);
        let height = width.clamp(18.0, 30.0);
        let is_narrow = width < 44.0;
        let longest = self
            .values
            .iter()
            .map(|value| value.as_str().chars().count())
            .max();
        let head = if is_narrow {
            7.0 * longest.unwrap_or(0).min(14) as f64 + 40.0
        } else {
            52.0
        };
        let weights = self.cells.iter().flatten().map(|cell| cell.weight);
        let most = weights.fold(0.0, f64::max);
        canvas.height = head + height * number as f64 + 8.0;
        canvas.text(
            &self.column_title.short(46),
            (4.0, 13.0),
            Anchor::Start,
            "small",
        );
        canvas.text(
            &self.row_title.short(46),
            (4.0, 27.0),
            Anchor::Start,
            "small",
        );
        for (place, value) in self.values.iter().enumerate() {
            let middle = LEFT + width * (place as f64 + 0.5);
            if is_narrow {
                canvas.upward_text(&value.short(14), (middle + 4.0, head - 4.0));
            } else {
                let room = (width / 6.5) as usize;
                canvas.text(
                    &value.short(room),
                    (middle, head - 4.0),
                    Anchor::Middle,
                    "small",
                );
            }
            let top = head + height * place as f64;
            canvas.text(
                &value.short(15),
                (LEFT - 5.0, top + height / 2.0 + 4.0),
                Anchor::End,
                "small",
            );
        }
        for (row, cells) in self.cells.iter().enumerate() {
            for (column, cell) in cells.iter().enumerate() {
                let place = (LEFT + width * column as f64, head + height * row as f64);
                canvas.rectangle(place, (width, height), "cell");
                if cell.weight > 0.0 {
                    // Small figures must be seen beside large ones.
                    let shade = DARKEST * (0.12 + 0.88 * (cell.weight / most).sqrt());
                    canvas.shade(place, (width, height), shade, cell.is_second);
                }
                if width >= 26.0 && !cell.label.is_empty() {
                    let middle = (place.0 + width / 2.0, place.1 + height / 2.0 + 4.0);
                    canvas.text(&cell.label, middle, Anchor::Middle, "small ink");
                }
            }
        }
    }
}
