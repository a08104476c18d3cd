//! Charts: parts of a page, and files of their own.
//!
//! A [`Chart`] draws itself on a [`Canvas`], which is a part of a page, narrow enough for a
//! telephone, or a file. Colours are classes (`s0` … `s7`); the page's style gives them a value for
//! light, dark and print, and a file bears the light ones. Values of the data stand in text nodes
//! only, which the `svg` crate escapes, never in attributes. Each chart of a page has a title and a
//! description, and a table with its figures stands behind it (`document::Figure`).

mod area;
mod bars;
mod beside;
mod canvas;
mod course;
mod heat;
mod intervals;
mod plot;
mod ratios;
mod rows;
mod scale;
mod sides;
mod treemap;

pub use canvas::Canvas;
pub use course::{Course, Moment};
pub use plot::{Mark, Plot, Series};
pub use scale::Spacing;

pub(super) use bars::{Bars, Histogram, Layer, StackedBars};
pub(super) use beside::{Beside, BesideRow};
pub(super) use heat::{Heat, HeatCell};
pub(super) use intervals::{IntervalRow, Intervals};
pub(super) use ratios::Ratios;
pub(super) use sides::{Sides, SidesRow};
pub(super) use treemap::{Tile, Treemap};

use super::text::Text;

/// What can be drawn.
pub trait Chart {
    /// Draws it.
    fn draw(&self, canvas: &mut Canvas);

    /// A file with the chart below `title`, which needs nothing else to be looked at.
    fn to_svg(&self, title: &str) -> String {
        let mut canvas = Canvas::of_file();
        self.draw(&mut canvas);
        canvas.into_file(&Text::new(title))
    }
}

/// The elements of a page. `id` is a name of the program's own.
pub fn part(chart: &impl Chart, id: &str, (title, description): (&Text, &Text)) -> String {
    let mut canvas = Canvas::of_page();
    chart.draw(&mut canvas);
    canvas.into_part(id, title, description)
}
