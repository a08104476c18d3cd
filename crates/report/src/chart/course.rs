//! Shares with their intervals, one after the other in time.

use super::Chart;
use super::area::Area;
use super::canvas::{Anchor, Canvas, dashed_line, fill, line};
use super::scale::Scale;
use crate::text::Text;

/// Numbers that are written below the chart at most.
const WRITTEN: usize = 12;
/// Units by which lines stand apart, so that their intervals do not hide each other.
const APART: f64 = 5.0;

/// A share of one of the moments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    /// Which one, from 0.
    pub place: usize,
    /// The share.
    pub share: f64,
    /// The interval of the share.
    pub interval: [f64; 2],
}

/// What changes with time.
#[derive(Debug, Clone, PartialEq)]
pub struct Course {
    /// The number of moments.
    pub moments: usize,
    /// What they are, such as `audits`.
    pub name: String,
    /// The lines, each with its name in the legend and its moments from the first on.
    pub lines: Vec<(Text, Vec<Moment>)>,
}

impl Chart for Course {
    fn draw(&self, canvas: &mut Canvas) {
        let all = self.lines.iter().flat_map(|(_, moments)| moments);
        let ends = all.flat_map(|moment| [moment.share, moment.interval[1]]);
        let area = Area::new(canvas, (50.0, 12.0), (26.0, 196.0));
        let up = Scale::of_percentages(ends.map(|end| 100.0 * end), area.up());
        area.mark_up(canvas, &up);
        let step = (area.right - area.left) / self.moments.max(1) as f64;
        let at = |place: usize| area.left + (place as f64 + 0.5) * step;
        for place in (0..self.moments).step_by(self.moments.div_ceil(WRITTEN).max(1)) {
            let number = (place + 1).to_string();
            let below = (at(place), area.bottom + 14.0);
            canvas.text(&number, below, Anchor::Middle, "small");
        }
        let middle = (self.lines.len().saturating_sub(1)) as f64 / 2.0;
        for (number, (_, moments)) in self.lines.iter().enumerate() {
            let aside = APART * (number as f64 - middle);
            let shares: Vec<(f64, f64)> = moments
                .iter()
                .map(|moment| (at(moment.place) + aside, up.at(100.0 * moment.share)))
                .collect();
            if shares.len() > 1 {
                canvas.path(&shares, &dashed_line(number));
            }
            for (moment, &(x, y)) in moments.iter().zip(&shares) {
                let [low, high] = moment.interval.map(|end| up.at(100.0 * end));
                canvas.line((x, low), (x, high), &line(number));
                for end in [low, high] {
                    canvas.line((x - 4.0, end), (x + 4.0, end), &line(number));
                }
                canvas.dot((x, y), 4.0, &fill(number));
            }
        }
        area.name(canvas, &self.name, "share");
        if self.lines.len() > 1 {
            let names = self.lines.iter().map(|(name, _)| name);
            area.legend(canvas, 26.0, names, |canvas, number, (x, y)| {
                canvas.line((x, y), (x + 26.0, y), &dashed_line(number));
                canvas.dot((x + 13.0, y), 4.0, &fill(number));
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_moment_has_a_dot_and_an_interval() {
        let moment = |place: usize, share: f64| Moment {
            place,
            share,
            interval: [0.9 * share, 1.1 * share],
        };
        let course = Course {
            moments: 30,
            name: "audits".to_owned(),
            lines: vec![
                (Text::new("a < b"), vec![moment(0, 0.2), moment(29, 0.1)]),
                (Text::new("two"), vec![moment(7, 0.3)]),
            ],
        };
        let svg = course.to_svg("title");
        // Two of the dots are those of the legend.
        assert_eq!(svg.matches("<circle").count(), 3 + 2, "{svg}");
        assert_eq!(svg.matches("<polyline").count(), 1);
        let is_written = |number: &str| svg.split(['<', '>']).any(|text| text.trim() == number);
        assert!(svg.contains("a &lt; b") && is_written("28") && !is_written("29"));
        let empty = Course {
            moments: 0,
            lines: Vec::new(),
            ..course
        };
        let svg = empty.to_svg("title");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}
