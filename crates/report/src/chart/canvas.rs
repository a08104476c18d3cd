//! What charts are drawn on: a part of a page, or a file of its own.
//!
//! A page's charts are 360 units wide, so that their letters are readable at 360 pixels without
//! scrolling, and grow with the page to some 560 pixels. Files are wider, bear their title and hold
//! the style that a page has for all of its charts.

use svg::Document;
use svg::node::element::{
    Circle, Description, Group, Line, Polyline, Rectangle, Style, Text, Title,
};

use crate::text::Text as Shown;

/// Rules of charts, whose colours are names.
const CHART_STYLE: &str = include_str!("../../templates/report/chart.css");
/// The page's own rules; their first block gives the names their values.
const PAGE_STYLE: &str = include_str!("../../templates/report/style.css");
/// Units that a file's title takes.
const HEAD: f64 = 38.0;
/// Colours of series that the style knows.
const COLOURS: usize = 8;
/// Kinds of dashes that it knows, none at all among them.
const DASHES: usize = 4;

/// What a [`super::Chart`] is drawn on.
pub struct Canvas {
    /// Units across.
    pub(super) width: f64,
    /// Units down, which grow with what is drawn.
    pub(super) height: f64,
    stretch: f64,
    group: Group,
}

/// Which end of a text lies at its place.
#[derive(Debug, Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Canvas {
    /// A part of a page.
    pub(super) fn of_page() -> Canvas {
        Canvas {
            width: 360.0,
            height: 0.0,
            stretch: 1.0,
            group: Group::new(),
        }
    }

    /// A file.
    pub(super) fn of_file() -> Canvas {
        Canvas {
            width: 640.0,
            stretch: 1.6,
            ..Canvas::of_page()
        }
    }

    /// What is so high in a page.
    pub(super) fn stretched(&self, height: f64) -> f64 {
        self.stretch * height
    }

    pub(super) fn text(&mut self, content: &str, (x, y): (f64, f64), anchor: Anchor, class: &str) {
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

    /// Where a text in the middle of `x` would not fit, it ends or starts near the edge.
    pub(super) fn text_within(&mut self, content: &str, (x, y): (f64, f64)) {
        let (x, anchor) = match x {
            x if x + 16.0 > self.width => (x.min(self.width), Anchor::End),
            x if x < 16.0 => (x, Anchor::Start),
            x => (x, Anchor::Middle),
        };
        self.text(content, (x, y), anchor, "small");
    }

    pub(super) fn upward_text(&mut self, content: &str, (x, y): (f64, f64)) {
        let place = format!("translate({} {}) rotate(-90)", rounded(x), rounded(y));
        let text = Text::new(content).set("transform", place);
        self.add(text.set("class", "small"));
    }

    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &str) {
        let line = Line::new()
            .set("x1", rounded(from.0))
            .set("y1", rounded(from.1))
            .set("x2", rounded(to.0))
            .set("y2", rounded(to.1))
            .set("class", class);
        self.add(line);
    }

    pub(super) fn rectangle(&mut self, place: (f64, f64), size: (f64, f64), class: &str) {
        self.add(rectangle(place, size, class));
    }

    /// A rectangle of one of two colours, more or less dark.
    pub(super) fn shade(
        &mut self,
        place: (f64, f64),
        size: (f64, f64),
        opacity: f64,
        is_second: bool,
    ) {
        let class = if is_second { "heat second" } else { "heat" };
        self.add(rectangle(place, size, class).set("fill-opacity", format!("{opacity:.3}")));
    }

    pub(super) fn dot(&mut self, (x, y): (f64, f64), radius: f64, class: &str) {
        let dot = Circle::new()
            .set("cx", rounded(x))
            .set("cy", rounded(y))
            .set("r", radius)
            .set("class", class);
        self.add(dot);
    }

    pub(super) fn path(&mut self, points: &[(f64, f64)], class: &str) {
        let points: Vec<String> = points
            .iter()
            .map(|&(x, y)| format!("{},{}", rounded(x), rounded(y)))
            .collect();
        let path = Polyline::new().set("points", points.join(" "));
        self.add(path.set("class", class));
    }

    fn add(&mut self, node: impl svg::Node) {
        self.group = std::mem::replace(&mut self.group, Group::new()).add(node);
    }

    /// The elements of a page. `id` is a name of the program's own.
    pub(super) fn into_part(self, id: &str, title: &Shown, description: &Shown) -> String {
        let (title_id, description_id) = (format!("{id}-title"), format!("{id}-description"));
        Document::new()
            .set("viewBox", (0, 0, self.width, self.height))
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

    /// The content of a file.
    pub(super) fn into_file(mut self, title: &Shown) -> String {
        let (width, height) = (self.width, self.height + HEAD);
        let chart = std::mem::replace(&mut self.group, Group::new());
        self.rectangle((0.0, 0.0), (width, height), "paper");
        self.text(title.as_str(), (width / 2.0, 24.0), Anchor::Middle, "title");
        self.add(chart.set("transform", format!("translate(0 {HEAD})")));
        Document::new()
            .set("viewBox", (0, 0, width, height))
            .set("role", "img")
            .add(Title::new(title.as_str()))
            .add(Style::new(style_of_files()))
            .add(self.group)
            .to_string()
    }
}

/// The rules of charts with the values of a light page in place of names, which not every program
/// knows.
fn style_of_files() -> String {
    let declared = PAGE_STYLE
        .split_once(":root {")
        .and_then(|(_, block)| block.split_once('}'))
        .map_or("", |(block, _)| block);
    declared
        .split(';')
        .filter_map(|line| line.split_once(':'))
        .fold(CHART_STYLE.to_owned(), |style, (name, value)| {
            style.replace(&format!("var({})", name.trim()), value.trim())
        })
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
    match value.is_finite() {
        true => (100.0 * value).round() / 100.0,
        false => 0.0,
    }
}

/// The class of what is filled with colour `number`.
pub(super) fn fill(number: usize) -> String {
    format!("fill s{}", number % COLOURS)
}

/// The class of a line of colour `number`.
pub(super) fn line(number: usize) -> String {
    format!("line s{}", number % COLOURS)
}

/// The class of line `number` of a chart: the dashes differ where colours come again.
pub(super) fn dashed_line(number: usize) -> String {
    format!("{} d{}", line(number), (number + number / COLOURS) % DASHES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_stand_alone() {
        let style = style_of_files();
        assert!(!style.contains("var(") && style.contains(".line.s7 { stroke: #3b5bdb; }"));
        let svg = Canvas::of_file().into_file(&Shown::new("a < b"));
        assert!(svg.starts_with("<svg") && svg.contains("a &lt; b"), "{svg}");
        assert!(!svg.contains("href") && !svg.contains("url("));
    }

    #[test]
    fn nine_lines_are_told_apart() {
        let classes: Vec<String> = (0..16).map(dashed_line).collect();
        for (place, class) in classes.iter().enumerate() {
            assert!(!classes[..place].contains(class), "{class}");
        }
    }
}
