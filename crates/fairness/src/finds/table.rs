//! Rows of a table: a grid, distances and clusters of the data, by what is not protected.

use std::borrow::Cow;

use super::clusters::{CLUSTERS, centres, clustered, nearest};
use super::{Distances, FindSpace, Place};
use crate::domain::TabularDomain;
use crate::population::Plausibility;
use probity_data::table::Table;
use probity_nn::ModelError;

/// Number of parts that the grid has of an attribute.
const PARTS: u64 = 3;

/// The width of a domain in coordinates, which are whole numbers.
const WIDTH: f64 = 1000.0;

/// The coordinate of the level that an input has: it makes two levels a width apart.
const INDICATOR: f64 = 707.0;

/// An attribute that is not protected.
#[derive(Debug, Clone)]
struct Axis {
    attribute: usize,
    min: i32,
    levels: usize,
    /// Whether its codes are numbers; else they are levels in no order.
    is_number: bool,
}

impl Axis {
    /// The code of `row` in this attribute, counted from the least one.
    fn level(&self, row: &[i32]) -> u64 {
        let level = i64::from(row[self.attribute]) - i64::from(self.min);
        level.clamp(0, self.levels as i64 - 1) as u64
    }

    /// The distance of two rows in this attribute: a level is as far from any other as the ends of
    /// a number's domain are from each other.
    fn distance(&self, row: &[i32], other: &[i32]) -> f64 {
        let apart = self.level(row).abs_diff(self.level(other));
        match self.is_number || apart == 0 {
            true => apart as f64 / (self.levels as f64 - 1.0).max(1.0),
            false => 1.0,
        }
    }

    /// The place of a number in its domain.
    fn place(&self, level: u64) -> f64 {
        (WIDTH * level as f64 / (self.levels as f64 - 1.0).max(1.0)).round()
    }

    /// Appends the coordinates of a row: the place of a number, or an indicator for each level.
    fn coordinates(&self, row: &[i32], out: &mut Vec<i32>) {
        let level = self.level(row);
        if self.is_number {
            out.push(self.place(level) as i32);
            return;
        }
        let levels = 0..self.levels as u64;
        out.extend(levels.map(|of| if of == level { INDICATOR as i32 } else { 0 }));
    }
}

/// The squared distances of a code from the centres of all clusters, in one attribute.
#[derive(Debug, Clone)]
enum Part {
    /// The centres of a number.
    Number(Box<[f64; CLUSTERS]>),
    /// The distances of each level.
    Levels(Vec<[f64; CLUSTERS]>),
}

/// The attributes of a domain that are not protected.
#[derive(Debug, Clone)]
pub struct TableSpace {
    axes: Vec<Axis>,
    parts: Vec<Part>,
    /// The largest squared distance of a row of each cluster from its centre.
    reach: Vec<f64>,
}

impl TableSpace {
    /// The attributes of `domain` that are not protected, with the clusters of the rows of `table`.
    pub fn new(domain: &TabularDomain, table: &Table) -> TableSpace {
        let spans = domain.spans();
        let axes = domain.free().iter().map(|&attribute| Axis {
            attribute,
            min: spans[attribute].min,
            levels: spans[attribute].levels,
            is_number: spans[attribute].encoding.is_scaled(),
        });
        let axes: Vec<Axis> = axes.collect();
        let wide = |axis: &Axis| if axis.is_number { 1 } else { axis.levels };
        let width: usize = axes.iter().map(wide).sum();
        let rows = clustered(table.rows(), width).map(|row| table.row(row));
        let rows: Vec<&[i32]> = rows.collect();
        let mut codes = Vec::with_capacity(rows.len() * width);
        for row in &rows {
            axes.iter()
                .for_each(|axis| axis.coordinates(row, &mut codes));
        }
        let points = Table::new(width, codes, Vec::new());
        let centres = centres(&points);
        let mut start = 0;
        let mut parts = Vec::with_capacity(axes.len());
        for axis in &axes {
            parts.push(axis.part(&centres, start));
            start += wide(axis);
        }
        let mut space = TableSpace {
            axes,
            parts,
            reach: vec![0.0; centres.len()],
        };
        for row in rows {
            if let Some((cluster, distance)) = space.nearest(row) {
                space.reach[cluster] = space.reach[cluster].max(distance);
            }
        }
        space
    }

    /// A key of the cell of `row`: exact for up to 80 attributes, a hash for more.
    fn cell(&self, row: &[i32]) -> u128 {
        let part = |axis: &Axis| axis.level(row) * PARTS / axis.levels.max(1) as u64;
        let parts = self.axes.iter().map(part);
        if self.axes.len() > 80 {
            let parts: Vec<u8> = parts.map(|part| part as u8).collect();
            return xxhash_rust::xxh3::xxh3_128(&parts);
        }
        parts.fold(0, |key, part| key * u128::from(PARTS) + u128::from(part))
    }

    /// The nearest cluster, if `row` is no farther from its centre than its farthest row.
    fn covered(&self, row: &[i32]) -> Option<u8> {
        let (cluster, distance) = self.nearest(row)?;
        (distance <= self.reach[cluster]).then_some(cluster as u8)
    }

    /// The nearest cluster, the first of several, and the squared distance from its centre.
    fn nearest(&self, row: &[i32]) -> Option<(usize, f64)> {
        let mut sums = [0.0; CLUSTERS];
        for (axis, part) in self.axes.iter().zip(&self.parts) {
            let level = axis.level(row);
            match part {
                Part::Levels(of) => {
                    let of = &of[level as usize];
                    sums.iter_mut().zip(of).for_each(|(sum, more)| *sum += more);
                }
                Part::Number(centres) => {
                    let place = axis.place(level);
                    for (sum, centre) in sums.iter_mut().zip(centres.iter()) {
                        *sum += (place - centre) * (place - centre);
                    }
                }
            }
        }
        nearest(sums[..self.reach.len()].iter().copied())
    }
}

/// Rows of a table in their space, graded where a network does that.
pub(crate) struct TableFinds<'a> {
    pub(crate) space: &'a TableSpace,
    pub(crate) plausibility: Option<&'a Plausibility>,
}

impl FindSpace for TableFinds<'_> {
    fn clusters(&self) -> u64 {
        self.space.reach.len() as u64
    }

    fn place(&self, row: &[i32]) -> Place {
        Place {
            cell: self.space.cell(row),
            cluster: self.space.covered(row),
        }
    }

    fn compared<'r>(&self, row: &'r [i32]) -> Cow<'r, [i32]> {
        Cow::Borrowed(row)
    }

    /// The share of the attributes in which two rows differ, and the mean of how far they differ.
    fn distances(&self, row: &[i32], other: &[i32]) -> Distances {
        let mut sums = (0.0, 0.0);
        for axis in &self.space.axes {
            let distance = axis.distance(row, other);
            sums.0 += f64::from(u8::from(distance > 0.0));
            sums.1 += distance;
        }
        let count = self.space.axes.len().max(1) as f64;
        Distances {
            hamming: sums.0 / count,
            l1: Some(sums.1 / count),
        }
    }

    fn most_graded(&self) -> u64 {
        self.plausibility.map_or(0, |_| 4096)
    }

    fn grade(&self, rows: &[&[i32]]) -> Result<Vec<f32>, ModelError> {
        Ok(self
            .plausibility
            .map_or_else(Vec::new, |own| own.grades(rows)))
    }
}

impl Axis {
    /// The part of the squared distances from `centres` that the coordinates from `start` on make.
    fn part(&self, centres: &[Vec<f64>], start: usize) -> Part {
        let of_all = |of: &dyn Fn(&[f64]) -> f64| {
            let mut all = [0.0; CLUSTERS];
            for (own, centre) in all.iter_mut().zip(centres) {
                *own = of(&centre[start..]);
            }
            all
        };
        if self.is_number {
            return Part::Number(Box::new(of_all(&|centre| centre[0])));
        }
        let level = |level: usize| {
            of_all(&|centre| {
                let squares = centre[..self.levels].iter().map(|at| at * at);
                squares.sum::<f64>() + INDICATOR * (INDICATOR - 2.0 * centre[level])
            })
        };
        Part::Levels((0..self.levels).map(level).collect())
    }
}
