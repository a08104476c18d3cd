//! Curves and points over two axes.

use super::Chart;
use super::area::Area;
use super::canvas::{Anchor, Canvas, dashed_line, fill, line};
use super::scale::{Scale, Spacing};
use crate::text::Text;

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// A line through its points, drawn through.
    Line,
    /// A dashed line.
    Dashed,
    /// A line with dashes of its own where the colour alone does not tell it from others.
    Curve,
    /// Small points.
    Dots,
    /// Points.
    Points,
    /// Points and a line through them.
    JoinedPoints,
}

impl Mark {
    /// Half of the width of a point; none where a line tells where they are.
    fn radius(self) -> Option<f64> {
        match self {
            Mark::Line | Mark::Dashed | Mark::Curve => None,
            Mark::Dots => Some(2.5),
            Mark::Points | Mark::JoinedPoints => Some(5.0),
        }
    }
}

/// Points that belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// The name of the series in the legend.
    pub name: Text,
    /// The number of its colour.
    pub colour: usize,
    /// How it is drawn.
    pub mark: Mark,
    /// The points; of a line from left to right. What has no place on an axis is left out.
    pub points: Vec<(f64, f64)>,
    /// What is written at the points, where anything is.
    pub labels: Vec<String>,
}

impl Series {
    /// The curve with this number among others.
    pub fn curve(number: usize, name: impl Into<Text>, points: Vec<(f64, f64)>) -> Series {
        Series::new(name, number, Mark::Curve, points)
    }

    /// A series without labels.
    pub fn new(
        name: impl Into<Text>,
        colour: usize,
        mark: Mark,
        points: Vec<(f64, f64)>,
    ) -> Series {
        Series {
            name: name.into(),
            colour,
            mark,
            points,
            labels: Vec::new(),
        }
    }

    /// The class of its line.
    fn class(&self) -> String {
        match self.mark {
            Mark::Curve => dashed_line(self.colour),
            Mark::Dashed => format!("{} d1", line(self.colour)),
            _ => line(self.colour),
        }
    }

    /// Draws the sign of the series in the legend, 26 units wide.
    fn sign(&self, canvas: &mut Canvas, (x, y): (f64, f64)) {
        if self.is_joined() {
            canvas.line((x, y), (x + 26.0, y), &self.class());
        }
        if let Some(radius) = self.mark.radius() {
            canvas.dot((x + 13.0, y), radius, &fill(self.colour));
        }
    }

    fn is_joined(&self) -> bool {
        !matches!(self.mark, Mark::Dots | Mark::Points)
    }

    fn draw(&self, canvas: &mut Canvas, places: &[(f64, f64)]) {
        if self.is_joined() && !places.is_empty() {
            canvas.path(places, &self.class());
        }
        // A line through one point alone would not be seen.
        let radius = self.mark.radius().or((places.len() == 1).then_some(3.0));
        if let Some(radius) = radius {
            for &place in places {
                canvas.dot(place, radius, &fill(self.colour));
            }
        }
        for (&(x, y), label) in places.iter().zip(&self.labels) {
            let place = (x + 8.0, y - 5.0);
            canvas.text(label, place, Anchor::Start, "label");
        }
    }
}

/// Series over common axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Plot {
    /// What lies across, and how it is spaced.
    pub x: (String, Spacing),
    /// What goes up, and how it is spaced.
    pub y: (String, Spacing),
    /// The series; later ones are drawn over earlier ones.
    pub series: Vec<Series>,
}

impl Chart for Plot {
    fn draw(&self, canvas: &mut Canvas) {
        let has_place = |&(x, y): &(f64, f64)| self.x.1.has(x) && self.y.1.has(y);
        let all = || {
            let points = self.series.iter().flat_map(|series| &series.points);
            points.copied().filter(has_place)
        };
        let area = Area::new(canvas, (50.0, 12.0), (26.0, 196.0));
        let x = Scale::over(self.x.1, all().map(|point| point.0), area.across());
        let y = Scale::over(self.y.1, all().map(|point| point.1), area.up());
        area.mark_up(canvas, &y);
        area.mark_across(canvas, &x);
        for series in &self.series {
            let points = series.points.iter().copied().filter(has_place);
            let places: Vec<(f64, f64)> =
                points.map(|point| (x.at(point.0), y.at(point.1))).collect();
            series.draw(canvas, &places);
        }
        area.name(canvas, &self.x.0, &self.y.0);
        if self.series.len() > 1 {
            let names = self.series.iter().map(|series| &series.name);
            area.legend(canvas, 26.0, names, |canvas, number, place| {
                self.series[number].sign(canvas, place);
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_with_a_place_is_drawn() {
        let points = vec![(0.1, 30.0), (0.2, 3.0), (0.3, 0.0)];
        let plot = Plot {
            x: ("epsilon".to_owned(), Spacing::Linear),
            y: ("noise".to_owned(), Spacing::Logarithmic),
            series: vec![
                Series::new("a < b", 0, Mark::Line, points.clone()),
                Series {
                    labels: vec!["here".to_owned()],
                    ..Series::new("two", 1, Mark::Points, vec![(0.2, 7.0)])
                },
                Series::new("three", 2, Mark::JoinedPoints, points),
            ],
        };
        let svg = plot.to_svg("title");
        assert!(svg.contains("a &lt; b") && svg.contains("here"));
        // Zero has no place on a logarithmic axis; two kinds of points have a sign in the legend.
        assert_eq!(svg.matches("<circle").count(), 1 + 2 + 2, "{svg}");
        assert_eq!(svg.matches("<polyline").count(), 2);
        for series in [Vec::new(), vec![Series::curve(0, "none", Vec::new())]] {
            let svg = Plot {
                series,
                ..plot.clone()
            }
            .to_svg("title");
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
