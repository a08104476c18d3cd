//! Curves over a common axis as SVG, some of them as points only, evenly or logarithmically spaced.

use svg::Document;
use svg::node::element::{Circle, Group, Line, Polyline, Title};

use super::plot::{BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, rectangle, text};

/// Colours that differ in lightness as well.
pub const COLORS: [&str; 6] = [
    "#1b7837", "#762a83", "#e08214", "#2166ac", "#b2182b", "#4d4d4d",
];

/// How a curve is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// A line through its points.
    Line,
    /// A dashed line.
    Dashed,
    /// Points only.
    Points,
}

/// One curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Its name in the legend.
    pub name: String,
    /// Its colour.
    pub color: String,
    /// How it is drawn.
    pub mark: Mark,
    /// Its points, from left to right; a logarithmic axis leaves out what is not above zero.
    pub points: Vec<(f64, f64)>,
}

/// How numbers are spaced along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spacing {
    /// Evenly.
    Linear,
    /// By their logarithm.
    Logarithmic,
}

/// Curves over one axis.
#[derive(Debug, Clone, PartialEq)]
pub struct LinePlot {
    /// Above the plot.
    pub title: String,
    /// Below the axis.
    pub x_label: String,
    /// Beside the values.
    pub y_label: String,
    /// Spacing of the axis below. Evenly spaced places are all labelled, on a logarithmic axis powers of ten.
    pub x_spacing: Spacing,
    /// Spacing of the values.
    pub y_spacing: Spacing,
    /// The curves.
    pub curves: Vec<Curve>,
}

/// One axis: which numbers it spans, and between which pixels.
struct Scale {
    span: (f64, f64),
    pixels: (f64, f64),
    spacing: Spacing,
}

impl Scale {
    fn at(&self, value: f64) -> f64 {
        let (first, last) = self.span;
        let share = match self.spacing {
            Spacing::Logarithmic => (value / first).ln() / (last / first).ln(),
            Spacing::Linear => (value - first) / (last - first),
        };
        self.pixels.0 + share * (self.pixels.1 - self.pixels.0)
    }

    /// Powers of ten, or five equal parts.
    fn ticks(&self) -> Vec<f64> {
        let (first, last) = self.span;
        match self.spacing {
            Spacing::Logarithmic => {
                let decades = (last / first).log10().round() as i32;
                (0..=decades)
                    .map(|decade| first * 10_f64.powi(decade))
                    .collect()
            }
            Spacing::Linear => (0..=5)
                .map(|tick| first + (last - first) * f64::from(tick) / 5.0)
                .collect(),
        }
    }
}

/// The whole powers of ten around positive numbers.
fn decades((least, most): (f64, f64)) -> (f64, f64) {
    let first = 10_f64.powf(least.log10().floor());
    (first, 10_f64.powf(most.log10().ceil()).max(10.0 * first))
}

impl LinePlot {
    /// The plot as an SVG document.
    pub fn to_svg(&self) -> String {
        let mut document = Document::new()
            .set("viewBox", (0, 0, WIDTH, HEIGHT))
            .set("font-family", "sans-serif")
            .set("font-size", 12)
            .add(rectangle(0.0, 0.0, WIDTH, HEIGHT, "white"))
            .add(text(&self.title, WIDTH / 2.0, 24.0, "middle").set("font-size", 15));
        let Some((x, y)) = self.scales() else {
            return document.to_string();
        };
        for tick in y.ticks() {
            let top = y.at(tick);
            document = document
                .add(grid_line((LEFT, top), (WIDTH - RIGHT, top)))
                .add(text(&short(tick), LEFT - 8.0, top + 4.0, "end"));
        }
        for place in self.places(&x) {
            let at = x.at(place);
            document = document.add(text(&short(place), at, HEIGHT - BOTTOM + 18.0, "middle"));
            if self.x_spacing == Spacing::Logarithmic {
                document = document.add(grid_line((at, TOP), (at, HEIGHT - BOTTOM)));
            }
        }
        for (at, curve) in self.curves.iter().enumerate() {
            document = document.add(self.drawn(curve, &x, &y));
            let top = TOP + 22.0 * at as f64;
            let left = WIDTH - RIGHT + 16.0;
            document = document
                .add(rectangle(left, top, 12.0, 12.0, &curve.color))
                .add(text(&curve.name, left + 18.0, top + 10.0, "start"));
        }
        let middle = TOP + (HEIGHT - TOP - BOTTOM) / 2.0;
        let turned = format!("rotate(-90 16 {middle})");
        document
            .add(text(
                &self.x_label,
                LEFT + (WIDTH - LEFT - RIGHT) / 2.0,
                HEIGHT - 14.0,
                "middle",
            ))
            .add(text(&self.y_label, 16.0, middle, "middle").set("transform", turned))
            .to_string()
    }

    /// Both axes; `None` if there is nothing to draw.
    fn scales(&self) -> Option<(Scale, Scale)> {
        let span = |value: fn(&(f64, f64)) -> f64| {
            self.curves
                .iter()
                .flat_map(|curve| self.placed(curve))
                .map(|point| value(&point))
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                    (low.min(value), high.max(value))
                })
        };
        let (x, y) = (span(|point| point.0), span(|point| point.1));
        if x.0 > x.1 {
            return None;
        }
        let x = match self.x_spacing {
            Spacing::Logarithmic => decades(x),
            Spacing::Linear if x.0 < x.1 => x,
            Spacing::Linear => (x.0 - 1.0, x.0 + 1.0),
        };
        let y = match self.y_spacing {
            Spacing::Logarithmic => decades(y),
            Spacing::Linear => (0.0_f64.min(y.0), if y.1 > 0.0 { y.1 } else { 1.0 }),
        };
        let scale = |span, pixels, spacing| Scale {
            span,
            pixels,
            spacing,
        };
        Some((
            scale(x, (LEFT, WIDTH - RIGHT), self.x_spacing),
            scale(y, (HEIGHT - BOTTOM, TOP), self.y_spacing),
        ))
    }

    /// The points of a curve that have a place on both axes.
    fn placed<'a>(&'a self, curve: &'a Curve) -> impl Iterator<Item = (f64, f64)> + 'a {
        let has_place = |spacing: Spacing, value: f64| spacing == Spacing::Linear || value > 0.0;
        curve
            .points
            .iter()
            .copied()
            .filter(move |&(x, y)| has_place(self.x_spacing, x) && has_place(self.y_spacing, y))
    }

    /// Where the axis below is labelled.
    fn places(&self, x: &Scale) -> Vec<f64> {
        if self.x_spacing == Spacing::Logarithmic {
            return x.ticks();
        }
        let mut places: Vec<f64> = self
            .curves
            .iter()
            .flat_map(|curve| self.placed(curve))
            .map(|point| point.0)
            .collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        places
    }

    fn drawn(&self, curve: &Curve, x_scale: &Scale, y_scale: &Scale) -> Group {
        let points = || {
            self.placed(curve)
                .map(|(x, y)| (x, y, x_scale.at(x), y_scale.at(y)))
        };
        let mut group = Group::new();
        if curve.mark != Mark::Points {
            let path: Vec<String> = points()
                .map(|(_, _, left, top)| format!("{left:.2},{top:.2}"))
                .collect();
            let mut line = Polyline::new()
                .set("points", path.join(" "))
                .set("fill", "none")
                .set("stroke", curve.color.as_str())
                .set("stroke-width", 2);
            if curve.mark == Mark::Dashed {
                line = line.set("stroke-dasharray", "6 4");
            }
            group = group.add(line);
        }
        let radius = if curve.mark == Mark::Points { 5.0 } else { 2.5 };
        for (x, y, left, top) in points() {
            let hint = Title::new(format!("{}: {} at {}", curve.name, short(y), short(x)));
            let mark = Circle::new()
                .set("cx", left)
                .set("cy", top)
                .set("r", radius)
                .set("fill", curve.color.as_str());
            group = group.add(Group::new().add(hint).add(mark));
        }
        group
    }
}

fn grid_line(from: (f64, f64), to: (f64, f64)) -> Line {
    Line::new()
        .set("x1", from.0)
        .set("x2", to.0)
        .set("y1", from.1)
        .set("y2", to.1)
        .set("stroke", "#dddddd")
}

/// A number with at most four significant digits.
fn short(value: f64) -> String {
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    rounded.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_drawn_and_text_is_escaped() {
        let curve = |name: &str, mark, points: &[(f64, f64)]| Curve {
            name: name.to_owned(),
            color: COLORS[0].to_owned(),
            mark,
            points: points.to_vec(),
        };
        let plot = LinePlot {
            title: "a < b".to_owned(),
            x_label: "epsilon".to_owned(),
            y_label: "noise".to_owned(),
            x_spacing: Spacing::Linear,
            y_spacing: Spacing::Logarithmic,
            curves: vec![
                curve("one", Mark::Line, &[(0.1, 30.0), (0.2, 3.0), (0.3, 0.0)]),
                curve("two", Mark::Points, &[(0.2, 7.0)]),
            ],
        };
        let svg = plot.to_svg();
        assert!(svg.contains("a &lt; b") && svg.starts_with("<svg"));
        // Zero has no place on a logarithmic axis.
        assert_eq!(svg.matches("<circle").count(), 3);
        assert_eq!(svg.matches("<polyline").count(), 1);
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        let flat = LinePlot {
            y_spacing: Spacing::Linear,
            curves: vec![curve("zero", Mark::Dashed, &[(1.0, 0.0)])],
            ..plot.clone()
        };
        assert!(!flat.to_svg().contains("NaN"));
        let both = LinePlot {
            x_spacing: Spacing::Logarithmic,
            curves: vec![curve(
                "one",
                Mark::Line,
                &[(0.0, 1.0), (1.0, 0.02), (100.0, 2.0)],
            )],
            ..plot.clone()
        };
        let svg = both.to_svg();
        // Axes from 1 to 100 and from 0.01 to 10; the point at 0 has no place.
        assert!(svg.contains("points=\"64.00,") && svg.matches("<circle").count() == 2);
        let words: Vec<&str> = svg.split(['<', '>', '\n']).collect();
        for label in ["100", "0.01", "10"] {
            assert!(words.contains(&label), "{label} in {svg}");
        }
        let empty = LinePlot {
            curves: Vec::new(),
            ..plot
        };
        assert!(empty.to_svg().starts_with("<svg"));
    }
}
