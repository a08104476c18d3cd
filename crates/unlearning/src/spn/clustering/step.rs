//! A step of Lloyd's algorithm, and its updates for rows and centroids that change.

use super::space::Space;
use crate::spn::variable::{AXIS, INDICATOR};

/// The distance of lattice points on an axis.
const LATTICE: i64 = AXIS as i64 / 16;

/// A step of Lloyd's algorithm: centroids, and the distances and labels of the rows.
#[derive(Debug, Clone)]
pub(super) struct Step {
    /// The centroids, by cluster, then axis.
    pub(super) centroids: Vec<i64>,
    /// The squared distances, by cluster, then row.
    distances: Vec<Vec<i64>>,
    pub(super) labels: Vec<u8>,
    /// The sums of the rows' coordinates, by cluster, then axis.
    sums: Vec<i64>,
    counts: Vec<u32>,
}

impl Step {
    /// Removes the row at `place`, as by `swap_remove`.
    pub(super) fn leave(&mut self, space: Space<'_>, axes: &[usize], place: usize, row: u32) {
        let label = self.labels.swap_remove(place);
        for distances in &mut self.distances {
            distances.swap_remove(place);
        }
        self.count(space, axes, label, row, -1);
    }

    /// Adds a row at the last place.
    pub(super) fn join(&mut self, space: Space<'_>, axes: &[usize], row: u32) {
        let width = axes[axes.len() - 1];
        for (cluster, distances) in self.distances.iter_mut().enumerate() {
            let centroid = &self.centroids[cluster * width..(cluster + 1) * width];
            distances.push(distance(space, axes, centroid, row));
        }
        let label = self.nearest(self.labels.len());
        self.labels.push(label);
        self.count(space, axes, label, row, 1);
    }

    pub(super) fn new(
        space: Space<'_>,
        axes: &[usize],
        centroids: Vec<i64>,
        positions: &[u32],
    ) -> Step {
        let width = axes[axes.len() - 1];
        let clusters = centroids.len() / width;
        let mut step = Step {
            distances: vec![vec![0; positions.len()]; clusters],
            labels: vec![0; positions.len()],
            sums: vec![0; centroids.len()],
            counts: vec![0; clusters],
            centroids,
        };
        let terms = clusters * space.scope.len();
        if let Some(distances) = space.distances_on_device(axes, &step.centroids, positions, terms)
        {
            step.distances = distances;
        } else {
            step.measure(space, axes, positions);
        }
        for (place, &position) in positions.iter().enumerate() {
            let label = step.nearest(place);
            step.labels[place] = label;
            step.count(space, axes, label, position, 1);
        }
        step
    }

    /// Adds the squared distances of all rows to distances of 0.
    fn measure(&mut self, space: Space<'_>, axes: &[usize], positions: &[u32]) {
        let width = axes[axes.len() - 1];
        let zero = vec![0; width];
        for (cluster, distances) in self.distances.iter_mut().enumerate() {
            let centroid = &self.centroids[cluster * width..(cluster + 1) * width];
            for place in 0..space.scope.len() {
                let terms = Terms::new(space, axes, place, centroid, &zero);
                terms.add(space, place, positions, distances, Against::Nothing);
            }
        }
    }

    /// Returns the nearest cluster of a row; the lowest where several are.
    fn nearest(&self, place: usize) -> u8 {
        let distances = self.distances.iter().map(|distances| distances[place]);
        let labelled = distances.enumerate().map(|(label, d)| (d, label as u8));
        labelled.min().map_or(0, |(_, label)| label)
    }

    /// Adds `sign` times a row to the sums of `label`.
    fn count(&mut self, space: Space<'_>, axes: &[usize], label: u8, position: u32, sign: i64) {
        let width = axes[axes.len() - 1];
        let cluster = usize::from(label);
        let count = &mut self.counts[cluster];
        *count = count.wrapping_add_signed(sign as i32);
        let sums = &mut self.sums[cluster * width..(cluster + 1) * width];
        visit(space, axes, position, |axis, value| {
            sums[axis] += sign * value
        });
    }

    /// Returns the rounded means; an empty cluster keeps its centroid.
    pub(super) fn next_centroids(&self, axes: &[usize]) -> Vec<i64> {
        let width = axes[axes.len() - 1];
        let mut next = self.centroids.clone();
        for (cluster, &count) in self.counts.iter().enumerate() {
            if count == 0 {
                continue;
            }
            let step = 2 * i64::from(count) * LATTICE;
            let axes = cluster * width..(cluster + 1) * width;
            for (next, sum) in next[axes.clone()].iter_mut().zip(&self.sums[axes]) {
                // Rounded half up: the floor of mean / lattice + 1/2.
                let twice = 2 * sum + i64::from(count) * LATTICE;
                *next = twice.div_euclid(step) * LATTICE;
            }
        }
        next
    }

    /// Changes the step to other centroids.
    pub(super) fn retarget(
        &mut self,
        space: Space<'_>,
        axes: &[usize],
        centroids: Vec<i64>,
        positions: &[u32],
    ) {
        let changed = changed_columns(axes, &centroids, &self.centroids);
        match space.distances_on_device(axes, &centroids, positions, changed.len()) {
            Some(distances) => self.distances = distances,
            None => {
                let width = axes[axes.len() - 1];
                for (cluster, place) in changed {
                    let new = &centroids[cluster * width..(cluster + 1) * width];
                    let old = &self.centroids[cluster * width..(cluster + 1) * width];
                    let terms = Terms::new(space, axes, place, new, old);
                    let distances = &mut self.distances[cluster];
                    terms.add(space, place, positions, distances, Against::Old);
                }
            }
        }
        self.centroids = centroids;
        for (place, &position) in positions.iter().enumerate() {
            let (old, new) = (self.labels[place], self.nearest(place));
            if old != new {
                self.labels[place] = new;
                self.count(space, axes, old, position, -1);
                self.count(space, axes, new, position, 1);
            }
        }
    }
}

/// Returns the columns, by cluster and place, on whose axes the centroids differ.
fn changed_columns(axes: &[usize], new: &[i64], old: &[i64]) -> Vec<(usize, usize)> {
    let width = axes[axes.len() - 1];
    let by_cluster = new.chunks_exact(width).zip(old.chunks_exact(width));
    let mut changed = Vec::new();
    for (cluster, (new, old)) in by_cluster.enumerate() {
        for (place, span) in axes.windows(2).enumerate() {
            if new[span[0]..span[1]] != old[span[0]..span[1]] {
                changed.push((cluster, place));
            }
        }
    }
    changed
}

/// Whether the term of the old centroid is taken away.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Against {
    Nothing,
    Old,
}

/// The terms of one column in the squared distances to a new and to an old centroid.
enum Terms {
    /// The two coordinates, for a column on one axis.
    Axis(i64, i64),
    /// The two terms of each level, for a category.
    Levels(Vec<(i64, i64)>),
}

impl Terms {
    fn new(space: Space<'_>, axes: &[usize], place: usize, new: &[i64], old: &[i64]) -> Terms {
        let span = axes[place]..axes[place + 1];
        match space.geometry.indicators[space.scope[place] as usize] {
            None => Terms::Axis(new[span.start], old[span.start]),
            Some(_) => {
                let (new, old) = (level_terms(&new[span.clone()]), level_terms(&old[span]));
                Terms::Levels(new.into_iter().zip(old).collect())
            }
        }
    }

    fn add(
        &self,
        space: Space<'_>,
        place: usize,
        positions: &[u32],
        distances: &mut [i64],
        against: Against,
    ) {
        let column = &space.geometry.coordinates[space.scope[place] as usize];
        let rows = positions.iter().zip(distances);
        match (self, against) {
            (Terms::Axis(new, _), Against::Nothing) => {
                for (&position, distance) in rows {
                    let gap = i64::from(column[position as usize]) - new;
                    *distance += gap * gap;
                }
            }
            (Terms::Axis(new, old), Against::Old) => {
                // (x − new)² − (x − old)² = (old − new) (2x − old − new)
                for (&position, distance) in rows {
                    let twice = 2 * i64::from(column[position as usize]);
                    *distance += (old - new) * (twice - old - new);
                }
            }
            (Terms::Levels(terms), Against::Nothing) => {
                for (&position, distance) in rows {
                    *distance += terms[column[position as usize] as usize].0;
                }
            }
            (Terms::Levels(terms), Against::Old) => {
                for (&position, distance) in rows {
                    let (new, old) = terms[column[position as usize] as usize];
                    *distance += new - old;
                }
            }
        }
    }
}

/// Returns the squared distance of each level's indicator vector from a centroid.
fn level_terms(centroid: &[i64]) -> Vec<i64> {
    let height = i64::from(INDICATOR);
    let norm: i64 = centroid.iter().map(|c| c * c).sum();
    let terms = centroid.iter();
    terms
        .map(|c| norm - 2 * height * c + height * height)
        .collect()
}

/// Calls a function with the non-zero coordinates of a row.
pub(super) fn visit(
    space: Space<'_>,
    axes: &[usize],
    position: u32,
    mut show: impl FnMut(usize, i64),
) {
    for (&variable, &axis) in space.scope.iter().zip(axes) {
        let variable = variable as usize;
        let coordinate = space.geometry.coordinates[variable][position as usize];
        match space.geometry.indicators[variable] {
            None => show(axis, i64::from(coordinate)),
            Some(_) => show(axis + coordinate as usize, i64::from(INDICATOR)),
        }
    }
}

/// Returns the squared distance of a row from a centroid.
pub(super) fn distance(space: Space<'_>, axes: &[usize], centroid: &[i64], position: u32) -> i64 {
    let mut total = 0;
    for (place, &variable) in space.scope.iter().enumerate() {
        let variable = variable as usize;
        let coordinate = space.geometry.coordinates[variable][position as usize];
        let span = &centroid[axes[place]..axes[place + 1]];
        total += match space.geometry.indicators[variable] {
            None => (i64::from(coordinate) - span[0]).pow(2),
            Some(_) => {
                let height = i64::from(INDICATOR);
                let norm: i64 = span.iter().map(|c| c * c).sum();
                norm - 2 * height * span[coordinate as usize] + height * height
            }
        };
    }
    total
}
