//! A whole in parts, each a rectangle of its size, in which three colours have their shares.

use super::Chart;
use super::area::Area;
use super::canvas::{Canvas, fill};
use crate::text::Text;

/// Height of the picture.
const HEIGHT: f64 = 300.0;

/// A part of the whole.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tile {
    /// How large it is.
    pub size: f64,
    /// The shares of it that have the first and the second colour; the rest has the third one.
    pub shares: [f64; 2],
}

/// A whole in parts.
pub(crate) struct Treemap<'a> {
    /// The parts; those next to each other stay near each other.
    pub tiles: &'a [Tile],
    /// Names of the colours.
    pub names: [Text; 3],
    /// Numbers of the colours.
    pub colours: [usize; 3],
}

impl Chart for Treemap<'_> {
    fn draw(&self, canvas: &mut Canvas) {
        let area = Area::new(canvas, (4.0, 4.0), (6.0, HEIGHT));
        let corner = (area.left, area.top);
        let size = (area.right - area.left, area.bottom - area.top);
        let mut open = vec![(self.tiles, corner, size)];
        while let Some((tiles, place, size)) = open.pop() {
            match tiles {
                [] => {}
                [only] => self.draw_tile(canvas, only, place, size),
                _ => open.extend(halves(tiles, place, size)),
            }
        }
        area.legend(canvas, 11.0, self.names.iter(), |canvas, number, (x, y)| {
            canvas.rectangle((x, y - 6.0), (11.0, 11.0), &fill(self.colours[number]));
        });
    }
}

/// Tiles, and the corner and the size of the rectangle that they fill.
type Placed<'t> = (&'t [Tile], (f64, f64), (f64, f64));

/// `tiles` in two parts of about equal size, side by side along the longer side.
fn halves(tiles: &[Tile], (x, y): (f64, f64), (width, height): (f64, f64)) -> [Placed<'_>; 2] {
    let all: f64 = tiles.iter().map(|tile| tile.size).sum();
    let mut first = 0.0;
    let mut cut = 0;
    while cut + 1 < tiles.len() && (cut == 0 || first + 0.5 * tiles[cut].size < 0.5 * all) {
        first += tiles[cut].size;
        cut += 1;
    }
    let share = if all > 0.0 { first / all } else { 0.5 };
    let (before, after) = tiles.split_at(cut);
    match width >= height {
        true => [
            (before, (x, y), (width * share, height)),
            (
                after,
                (x + width * share, y),
                (width * (1.0 - share), height),
            ),
        ],
        false => [
            (before, (x, y), (width, height * share)),
            (
                after,
                (x, y + height * share),
                (width, height * (1.0 - share)),
            ),
        ],
    }
}

impl Treemap<'_> {
    fn draw_tile(
        &self,
        canvas: &mut Canvas,
        tile: &Tile,
        (x, y): (f64, f64),
        (width, height): (f64, f64),
    ) {
        let [first, second] = tile.shares;
        // A gap tells tiles apart that are large enough to have one.
        let gap = if width.min(height) > 4.0 { 0.5 } else { 0.0 };
        let (width, height) = (width - gap, height - gap);
        let mut top = y;
        let rest = (1.0 - first - second).max(0.0);
        for (share, colour) in [first, second, rest].into_iter().zip(self.colours) {
            if share > 0.0 {
                canvas.rectangle((x, top), (width, share * height), &fill(colour));
                top += share * height;
            }
        }
    }
}
