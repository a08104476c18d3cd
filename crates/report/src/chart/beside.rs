//! Two people beside each other, attribute by attribute.

use super::Chart;
use super::area::legend;
use super::canvas::{Anchor, Canvas, fill, line};
use crate::text::Text;

/// The height of the name and the values of an attribute, in pixels.
const HEAD: f64 = 20.0;
/// The height of the line below them on which both stand.
const TRACK: f64 = 16.0;
/// The left end of the lines.
const LEFT: f64 = 8.0;

/// What two people have, and where they stand in it.
pub(crate) struct Beside<'a> {
    /// The attributes.
    pub rows: &'a [BesideRow],
    /// Who they are, the person before the other one.
    pub names: [Text; 2],
}

/// An attribute of [`Beside`].
pub(crate) struct BesideRow {
    /// The name of the attribute.
    pub label: Text,
    /// What both have of it.
    pub shown: Text,
    /// Where both stand, from 0 to 1, where the attribute has an order.
    pub places: Option<[f64; 2]>,
}

impl Chart for Beside<'_> {
    fn draw(&self, canvas: &mut Canvas) {
        let right = canvas.width - 14.0;
        let mut top = 0.0;
        for row in self.rows {
            canvas.text(
                &row.label.short(26),
                (LEFT, top + 14.0),
                Anchor::Start,
                "label",
            );
            canvas.text(
                &row.shown.short(30),
                (right, top + 14.0),
                Anchor::End,
                "label strong",
            );
            top += HEAD;
            let Some(places) = row.places else {
                continue;
            };
            let middle = top + 5.0;
            let [own, other] = places.map(|place| LEFT + place.clamp(0.0, 1.0) * (right - LEFT));
            canvas.rectangle((LEFT, middle - 3.0), (right - LEFT, 6.0), "track");
            canvas.line((own, middle), (other, middle), &line(0));
            canvas.dot((other, middle), 5.0, &fill(1));
            // Above the other one, which is seen around it where both stand in one place.
            canvas.dot((own, middle), 3.5, &fill(0));
            top += TRACK;
        }
        canvas.height = top + 8.0;
        legend(
            canvas,
            LEFT,
            11.0,
            self.names.iter(),
            |canvas, who, (x, y)| {
                let radius = [3.5, 5.0][who.min(1)];
                canvas.dot((x + 5.0, y), radius, &fill(who));
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_stand_on_a_line_where_there_is_an_order() {
        let row = |label: &str, places| BesideRow {
            label: label.into(),
            shown: "a < b".into(),
            places,
        };
        let rows = [
            row("age", Some([0.0, 1.0])),
            row("city", None),
            row("pay", Some([0.5, f64::NAN])),
        ];
        let names = ["this person", "the other"].map(Text::from);
        let svg = Beside { rows: &rows, names }.to_svg("title");
        // Two of each ordered attribute, and two of the legend.
        assert_eq!(svg.matches("<circle").count(), 4 + 2, "{svg}");
        // The ground of the file, and the two lines.
        assert_eq!(svg.matches("<rect").count(), 1 + 2);
        assert!(svg.contains("a &lt; b") && !svg.contains("NaN"), "{svg}");
    }
}
