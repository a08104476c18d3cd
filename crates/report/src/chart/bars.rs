//! Counts as bars: one below the other, stacked to a whole, and of equal bins.

use super::Chart;
use super::area::Area;
use super::canvas::{Anchor, Canvas, fill};
use super::rows::Rows;
use super::scale::{Scale, Spacing};
use crate::text::{Text, count};

/// Counts by name, one below the other.
pub(crate) struct Bars<'a> {
    /// The name and the count of each row.
    pub rows: &'a [(Text, u64)],
}

impl Chart for Bars<'_> {
    fn draw(&self, canvas: &mut Canvas) {
        let most = self.rows.iter().map(|row| row.1).max().unwrap_or(0).max(1) as f64;
        let rows = Rows::new(canvas, 32.0);
        for (place, (label, number)) in self.rows.iter().enumerate() {
            let top = rows.head(canvas, place, (label, &count(*number))) + 5.0;
            let full = rows.right - rows.left;
            let width = full * *number as f64 / most;
            canvas.rectangle((rows.left, top), (full, 8.0), "track");
            canvas.rectangle((rows.left, top), (width, 8.0), &fill(0));
        }
        canvas.height += 6.0;
    }
}

/// A layer of all bars.
pub(crate) struct Layer {
    /// The name of the layer.
    pub name: Text,
    /// The number of its colour.
    pub colour: usize,
    /// A count for each category.
    pub counts: Vec<u64>,
}

/// Counts stacked to a whole, one bar a category.
pub(crate) struct StackedBars {
    /// What the categories are.
    pub x_label: String,
    /// What is counted.
    pub y_label: String,
    /// Names of the bars.
    pub categories: Vec<String>,
    /// The layers, lowest first.
    pub layers: Vec<Layer>,
}

impl Chart for StackedBars {
    fn draw(&self, canvas: &mut Canvas) {
        let area = Area::new(canvas, (50.0, 8.0), (26.0, 170.0));
        let y = Scale::of_percentages([100.0].into_iter(), area.up());
        area.mark_up(canvas, &y);
        let slot = (area.right - area.left) / self.categories.len().max(1) as f64;
        for (place, category) in self.categories.iter().enumerate() {
            let left = area.left + slot * (place as f64 + 0.15);
            let middle = left + 0.35 * slot;
            let counts = self.layers.iter().map(|layer| layer.counts[place]);
            let all = counts.clone().sum::<u64>().max(1) as f64;
            let mut below = 0;
            for (layer, number) in self.layers.iter().zip(counts) {
                let [bottom, top] =
                    [below, below + number].map(|number| y.at(100.0 * number as f64 / all));
                let height = bottom - top;
                canvas.rectangle((left, top), (0.7 * slot, height), &fill(layer.colour));
                if height > 14.0 && slot > 40.0 {
                    let centre = (middle, (top + bottom) / 2.0 + 4.0);
                    canvas.text(&count(number), centre, Anchor::Middle, "small inverse");
                }
                below += number;
            }
            if slot > 16.0 || place % 4 == 0 {
                let below = (middle, area.bottom + 14.0);
                canvas.text(category, below, Anchor::Middle, "small");
            }
        }
        area.name(canvas, &self.x_label, &self.y_label);
        // The highest first, as they lie in the bars.
        let names = self.layers.iter().rev().map(|layer| &layer.name);
        area.legend(canvas, 11.0, names, |canvas, number, (x, y)| {
            let layer = &self.layers[self.layers.len() - 1 - number];
            canvas.rectangle((x, y - 6.0), (11.0, 11.0), &fill(layer.colour));
        });
    }
}

/// Counts of equal bins from 0 to 1.
pub(crate) struct Histogram<'a> {
    /// The counts, in bins of equal width.
    pub bins: &'a [u64],
    /// Where the last bin ends; the first one begins at 0.
    pub end: f64,
    /// What the values are.
    pub x_label: &'a str,
    /// What is counted.
    pub y_label: &'a str,
}

impl Chart for Histogram<'_> {
    fn draw(&self, canvas: &mut Canvas) {
        let area = Area::new(canvas, (42.0, 10.0), (26.0, 158.0));
        let counts = self.bins.iter().map(|&count| count as f64);
        let y = Scale::over(Spacing::FromZero, counts, area.up());
        let x = Scale::over(Spacing::FromZero, [self.end].into_iter(), area.across());
        area.mark_up(canvas, &y);
        for (place, &count) in self.bins.iter().enumerate() {
            let [left, right] = [place, place + 1]
                .map(|edge| x.at(self.end * edge as f64 / self.bins.len() as f64));
            let top = y.at(count as f64);
            let size = (right - left - 2.0, area.bottom - top);
            canvas.rectangle((left + 1.0, top), size, &fill(0));
        }
        for (x, label) in x.ticks() {
            canvas.text_within(&label, (x, area.bottom + 14.0));
        }
        area.name(canvas, self.x_label, self.y_label);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_stack_to_the_whole() {
        let layer = |name: &str, colour, counts: &[u64]| Layer {
            name: name.into(),
            colour,
            counts: counts.to_vec(),
        };
        let bars = StackedBars {
            x_label: "n".to_owned(),
            y_label: "share".to_owned(),
            categories: vec!["1".to_owned(), "2".to_owned()],
            layers: vec![layer("a < b", 0, &[4, 1]), layer("two", 1, &[0, 3])],
        };
        let svg = bars.to_svg("title");
        // The ground of the file, two bars of two layers, and the legend.
        assert_eq!(svg.matches("<rect").count(), 1 + 4 + 2, "{svg}");
        assert!(svg.contains("a &lt; b") && svg.contains("100\u{a0}%"));
        // The first bar is one layer from bottom to top, the second one three quarters another.
        assert!(
            svg.contains("height=\"272\"") && svg.contains("height=\"204\""),
            "{svg}"
        );
        let nothing = StackedBars {
            categories: Vec::new(),
            layers: Vec::new(),
            ..bars
        };
        assert!(!nothing.to_svg("title").contains("NaN"));
    }
}
