//! Charts of a page: narrow enough for a telephone, coloured by the page's style.
//!
//! Every chart is 360 units wide, so that its letters are readable at 360 pixels without scrolling, and grows with the page to
//! some 560 pixels. Colours are classes (`s0` … `s7`); the page's style gives them a value for light, dark and print. Values of
//! the data stand in text nodes only, which the `svg` crate escapes, never in attributes. Each chart has a title and a
//! description, and a table with its figures stands behind it ([`super::document::Figure`]).

mod bars;
mod curves;
mod heat;
mod histogram;
mod intervals;
mod stacked;

pub(super) use bars::{Bar, bars};
pub(super) use curves::{Curve, Curves};
pub(super) use heat::Heat;
pub(super) use histogram::Histogram;
pub(super) use intervals::{IntervalRow, intervals};
pub(super) use stacked::{Layer, Stacked};

use svg::Document;
use svg::node::element::{Circle, Description, Group, Line, Polyline, Rectangle, Text, Title};

use super::text::Text as Shown;

/// Units across.
const WIDTH: f64 = 360.0;
/// Colours of series that the style knows.
const COLOURS: usize = 8;

/// What is drawn on.
struct Canvas {
    height: f64,
    group: Group,
}

/// Which end of a text lies at its place.
#[derive(Debug, Clone, Copy)]
enum Anchor {
    Start,
    Middle,
    End,
}

impl Canvas {
    fn new(height: f64) -> Canvas {
        Canvas {
            height,
            group: Group::new(),
        }
    }

    fn text(&mut self, content: &str, (x, y): (f64, f64), anchor: Anchor, class: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = Text::new(content)
            .set("x", rounded(x))
            .set("y", rounded(y))
            .set("text-anchor", anchor)
            .set("class", class);
        self.add(text);
    }

    fn upward_text(&mut self, content: &str, (x, y): (f64, f64)) {
        let text = Text::new(content)
            .set(
                "transform",
                format!("translate({} {}) rotate(-90)", rounded(x), rounded(y)),
            )
            .set("class", "small");
        self.add(text);
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &str) {
        let line = Line::new()
            .set("x1", rounded(from.0))
            .set("y1", rounded(from.1))
            .set("x2", rounded(to.0))
            .set("y2", rounded(to.1))
            .set("class", class);
        self.add(line);
    }

    fn rectangle(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), class: &str) {
        self.add(rectangle((x, y), (width, height), class));
    }

    fn shade(&mut self, place: (f64, f64), size: (f64, f64), opacity: f64) {
        self.add(rectangle(place, size, "heat").set("fill-opacity", format!("{opacity:.3}")));
    }

    fn dot(&mut self, (x, y): (f64, f64), radius: f64, class: &str) {
        let dot = Circle::new()
            .set("cx", rounded(x))
            .set("cy", rounded(y))
            .set("r", radius)
            .set("class", class);
        self.add(dot);
    }

    fn path(&mut self, points: &[(f64, f64)], class: &str) {
        let points: Vec<String> = points
            .iter()
            .map(|&(x, y)| format!("{},{}", rounded(x), rounded(y)))
            .collect();
        let path = Polyline::new()
            .set("points", points.join(" "))
            .set("class", class);
        self.add(path);
    }

    fn add(&mut self, node: impl svg::Node) {
        self.group = std::mem::replace(&mut self.group, Group::new()).add(node);
    }

    /// The whole chart. `id` is a name of the program's own.
    fn finish(self, id: &str, title: &Shown, description: &Shown) -> String {
        let (title_id, description_id) = (format!("{id}-title"), format!("{id}-description"));
        Document::new()
            .set("viewBox", (0, 0, WIDTH, self.height))
            .set("role", "img")
            .set("aria-labelledby", format!("{title_id} {description_id}"))
            .add(Title::new(title.as_str()).set("id", title_id))
            .add(
                Description::new()
                    .set("id", description_id)
                    .add(svg::node::Text::new(description.as_str())),
            )
            .add(self.group)
            .to_string()
    }
}

fn rectangle(place: (f64, f64), size: (f64, f64), class: &str) -> Rectangle {
    Rectangle::new()
        .set("x", rounded(place.0))
        .set("y", rounded(place.1))
        .set("width", rounded(size.0.max(0.0)))
        .set("height", rounded(size.1.max(0.0)))
        .set("class", class)
}

/// Two decimals are finer than any screen.
fn rounded(value: f64) -> f64 {
    if value.is_finite() {
        (100.0 * value).round() / 100.0
    } else {
        0.0
    }
}

/// The class of series `number`: `kind` and its colour.
fn colour(kind: &str, number: usize) -> String {
    format!("{kind} s{}", number % COLOURS)
}

/// A count that is short enough for a tick or a cell: 12,345 as `12k`.
fn brief(number: f64) -> String {
    match number {
        number if number >= 9_999_500.0 => format!("{:.0}M", number / 1e6),
        number if number >= 999_500.0 => format!("{:.1}M", number / 1e6),
        number if number >= 9_999.5 => format!("{:.0}k", number / 1e3),
        number if number >= 1_000.0 => super::text::count(number.round() as u64),
        number => super::text::number(number),
    }
}
