//! Data splits: k-means on a lattice, with a trace that follows rows that leave and rows that come.
//!
//! Lloyd's algorithm with centroids rounded to a lattice (Ginart et al., "Making AI Forget You", 2019,
//! section 4.1), in whole numbers throughout: coordinates, sums, squared distances. Seeds are drawn by
//! D² weights as an exponential race: row r at stage s has −ln(U)/w with U keyed by (node, id of r,
//! s), and the smallest wins, so that a row that did not win leaves no mark.
//!
//! **Lemma.** [`Clustering::follow`] leaves the trace and the seeds that [`Clustering::new`] gives for the
//! rows that are there now. A step of the trace is a function of its centroids and the rows:
//! distances, labels (ties to the lower cluster), sums and counts; leaving and coming rows change the sums by
//! their own terms only. The next centroids are a function of sums, counts and centroids. Where these differ
//! from the ones that the trace has, distances change by the terms of the coordinates that differ,
//! which whole numbers make exact; where they do not, nothing else changes. The lattice makes the latter the
//! usual case. Steps end at the first one whose centroids repeat, or at the twentieth.

use rand::RngExt;

use super::Dataset;
use super::change::{Change, places};
use super::variable::{AXIS, INDICATOR};
use crate::stream::{Purpose, stream};

/// The most steps of Lloyd's algorithm.
const STEPS: usize = 20;
/// Distance of lattice points on an axis.
const LATTICE: i64 = AXIS as i64 / 16;
/// The label of a row that has none yet.
const NONE: u8 = u8::MAX;

/// How the columns of a scope lie in the space of the clustering.
#[derive(Debug)]
pub struct Geometry {
    coordinates: Vec<Vec<i32>>,
    indicators: Vec<Option<usize>>,
}

impl Geometry {
    /// The geometry of all variables of `data`.
    pub fn new(data: &Dataset) -> Geometry {
        Geometry {
            coordinates: data.coordinates(),
            indicators: data.variables().iter().map(|v| v.indicators()).collect(),
        }
    }

    /// For each variable of `scope` its first axis, and at the end the number of axes.
    fn axes(&self, scope: &[u32]) -> Vec<usize> {
        let mut axes = Vec::with_capacity(scope.len() + 1);
        let mut next = 0;
        for &variable in scope {
            axes.push(next);
            next += self.indicators[variable as usize].unwrap_or(1);
        }
        axes.push(next);
        axes
    }
}

/// What a clustering is of: the geometry, and the columns and draws of a node.
#[derive(Debug, Clone, Copy)]
pub struct Space<'a> {
    /// The geometry of all variables.
    pub geometry: &'a Geometry,
    /// The rows' ids.
    pub data: &'a Dataset,
    /// The columns of the node.
    pub scope: &'a [u32],
    /// The key of its draws.
    pub key: u64,
    /// The number of clusters asked for.
    pub clusters: usize,
}

/// One step: centroids, and what they do to the rows.
#[derive(Debug, Clone)]
struct Step {
    /// By cluster, then axis.
    centroids: Vec<i64>,
    /// By cluster, then row: the squared distance.
    distances: Vec<Vec<i64>>,
    labels: Vec<u8>,
    /// By cluster, then axis.
    sums: Vec<i64>,
    counts: Vec<u32>,
}

/// A clustering of rows.
#[derive(Debug, Clone)]
pub struct Clustering {
    /// Positions of the rows, in no order that means anything; labels and distances are by place here.
    rows: Vec<u32>,
    seeds: Vec<u32>,
    labels: Vec<u8>,
    axes: Vec<usize>,
    /// Empty after loading; made again when a deletion needs it.
    trace: Vec<Step>,
}

impl Clustering {
    /// Clusters the rows at `positions`.
    pub fn new(space: Space<'_>, positions: &[u32]) -> Clustering {
        let mut clustering = Clustering {
            rows: positions.to_vec(),
            seeds: draw_seeds(space, positions),
            labels: vec![0; positions.len()],
            axes: space.geometry.axes(space.scope),
            trace: Vec::new(),
        };
        clustering.run(space);
        clustering.labels = clustering.final_labels();
        clustering
    }

    /// A clustering read back: its labels are known, its trace is not.
    pub fn from_parts(
        space: Space<'_>,
        rows: Vec<u32>,
        seeds: Vec<u32>,
        labels: Vec<u8>,
    ) -> Clustering {
        Clustering {
            rows,
            seeds,
            labels,
            axes: space.geometry.axes(space.scope),
            trace: Vec::new(),
        }
    }

    /// The positions of the seeds, in the order of their stages.
    pub fn seeds(&self) -> &[u32] {
        &self.seeds
    }

    /// The rows with their clusters.
    pub fn labelled(&self) -> impl Iterator<Item = (u32, u8)> {
        self.rows.iter().copied().zip(self.labels.iter().copied())
    }

    /// The rows of `cluster`.
    pub fn rows_of(&self, cluster: u8) -> Vec<u32> {
        let labelled = self.labelled().filter(|(_, label)| *label == cluster);
        labelled.map(|(row, _)| row).collect()
    }

    /// The clusters that have rows, ascending.
    pub fn occupied(&self) -> Vec<u8> {
        let mut used = [false; 256];
        for &label in &self.labels {
            used[usize::from(label)] = true;
        }
        (0..=u8::MAX).filter(|&at| used[usize::from(at)]).collect()
    }

    /// Drops the trace; the next change makes it again.
    pub fn forget_trace(&mut self) {
        self.trace = Vec::new();
    }

    /// Lets rows leave and come; gives the change of every cluster that has one.
    pub fn follow(&mut self, space: Space<'_>, change: &Change) -> Vec<(u8, Change)> {
        let mut by_cluster = ByCluster::default();
        let stale = change.left.iter().any(|row| self.seeds.contains(row))
            || change
                .came
                .iter()
                .any(|&row| would_be_seed(space, &self.seeds, row));
        // From the last place to the first, so that no row that is still to leave moves.
        for place in places(&self.rows, &change.left).into_iter().rev() {
            let row = self.rows.swap_remove(place);
            by_cluster.of(self.labels.swap_remove(place)).left.push(row);
            for step in &mut self.trace {
                step.leave(space, &self.axes, place, row);
            }
        }
        for &row in &change.came {
            self.rows.push(row);
            self.labels.push(NONE);
            for step in &mut self.trace {
                step.join(space, &self.axes, row);
            }
        }
        if stale {
            self.seeds = draw_seeds(space, &self.rows);
            self.trace.clear();
        }
        self.run(space);
        let labels = self.final_labels();
        for (&row, (&from, &to)) in self.rows.iter().zip(self.labels.iter().zip(&labels)) {
            if from != to {
                if from != NONE {
                    by_cluster.of(from).left.push(row);
                }
                by_cluster.of(to).came.push(row);
            }
        }
        self.labels = labels;
        by_cluster.0
    }

    fn final_labels(&self) -> Vec<u8> {
        match self.trace.last() {
            Some(step) => step.labels.clone(),
            None => vec![0; self.labels.len()],
        }
    }

    /// Makes the trace consistent from its first step to its last.
    fn run(&mut self, space: Space<'_>) {
        let (axes, positions) = (&self.axes, &self.rows);
        let width = axes[axes.len() - 1];
        if self.trace.is_empty() {
            let mut centroids = vec![0; self.seeds.len() * width];
            for (cluster, &seed) in self.seeds.iter().enumerate() {
                let centroid = &mut centroids[cluster * width..(cluster + 1) * width];
                visit(space, axes, seed, |axis, value| centroid[axis] = value);
            }
            self.trace
                .push(Step::new(space, axes, centroids, positions));
        }
        let mut at = 0;
        loop {
            let next = self.trace[at].next_centroids(axes);
            if at + 1 == STEPS || next == self.trace[at].centroids {
                self.trace.truncate(at + 1);
                return;
            }
            match self.trace.get_mut(at + 1) {
                None => self.trace.push(Step::new(space, axes, next, positions)),
                Some(step) if step.centroids != next => {
                    step.retarget(space, axes, next, positions);
                }
                Some(_) => {}
            }
            at += 1;
        }
    }
}

/// Changes by cluster.
#[derive(Default)]
struct ByCluster(Vec<(u8, Change)>);

impl ByCluster {
    fn of(&mut self, cluster: u8) -> &mut Change {
        let at = self.0.iter().position(|(have, _)| *have == cluster);
        let at = at.unwrap_or_else(|| {
            self.0.push((cluster, Change::default()));
            self.0.len() - 1
        });
        &mut self.0[at].1
    }
}

impl Step {
    /// Forgets the row at `place`, as by `swap_remove`.
    fn leave(&mut self, space: Space<'_>, axes: &[usize], place: usize, row: u32) {
        let label = self.labels.swap_remove(place);
        for distances in &mut self.distances {
            distances.swap_remove(place);
        }
        self.count(space, axes, label, row, -1);
    }

    /// Takes in a row at the last place.
    fn join(&mut self, space: Space<'_>, axes: &[usize], row: u32) {
        let width = axes[axes.len() - 1];
        for (cluster, distances) in self.distances.iter_mut().enumerate() {
            let centroid = &self.centroids[cluster * width..(cluster + 1) * width];
            distances.push(distance(space, axes, centroid, row));
        }
        let label = self.nearest(self.labels.len());
        self.labels.push(label);
        self.count(space, axes, label, row, 1);
    }

    fn new(space: Space<'_>, axes: &[usize], centroids: Vec<i64>, positions: &[u32]) -> Step {
        let width = axes[axes.len() - 1];
        let clusters = centroids.len() / width;
        let mut step = Step {
            distances: vec![vec![0; positions.len()]; clusters],
            labels: vec![0; positions.len()],
            sums: vec![0; centroids.len()],
            counts: vec![0; clusters],
            centroids,
        };
        let zero = vec![0; width];
        for cluster in 0..clusters {
            let centroid = &step.centroids[cluster * width..(cluster + 1) * width];
            for place in 0..space.scope.len() {
                let terms = Terms::new(space, axes, place, centroid, &zero);
                let distances = &mut step.distances[cluster];
                terms.add(space, place, positions, distances, Against::Nothing);
            }
        }
        for (place, &position) in positions.iter().enumerate() {
            let label = step.nearest(place);
            step.labels[place] = label;
            step.count(space, axes, label, position, 1);
        }
        step
    }

    /// The nearest cluster of a row; the lowest where several are.
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

    /// The rounded means; an empty cluster keeps its centroid.
    fn next_centroids(&self, axes: &[usize]) -> Vec<i64> {
        let width = axes[axes.len() - 1];
        let mut next = self.centroids.clone();
        for (cluster, &count) in self.counts.iter().enumerate() {
            if count == 0 {
                continue;
            }
            let step = 2 * i64::from(count) * LATTICE;
            for axis in cluster * width..(cluster + 1) * width {
                // Rounded half up: the floor of mean / lattice + 1/2.
                let twice = 2 * self.sums[axis] + i64::from(count) * LATTICE;
                next[axis] = twice.div_euclid(step) * LATTICE;
            }
        }
        next
    }

    /// The same step for other centroids.
    fn retarget(
        &mut self,
        space: Space<'_>,
        axes: &[usize],
        centroids: Vec<i64>,
        positions: &[u32],
    ) {
        let width = axes[axes.len() - 1];
        for cluster in 0..self.counts.len() {
            let new = &centroids[cluster * width..(cluster + 1) * width];
            let old = &self.centroids[cluster * width..(cluster + 1) * width];
            for place in 0..space.scope.len() {
                let span = axes[place]..axes[place + 1];
                if new[span.clone()] != old[span] {
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

/// Whether the term of the old centroid is taken away.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Against {
    Nothing,
    Old,
}

/// The terms of one column in the squared distances to a new and to an old centroid.
enum Terms {
    /// On one axis: the two coordinates.
    Axis(i64, i64),
    /// By level: the two terms.
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

/// The squared distance of each level's indicator vector from a centroid.
fn level_terms(centroid: &[i64]) -> Vec<i64> {
    let height = i64::from(INDICATOR);
    let norm: i64 = centroid.iter().map(|c| c * c).sum();
    let terms = centroid.iter();
    terms
        .map(|c| norm - 2 * height * c + height * height)
        .collect()
}

/// Shows the non-zero coordinates of a row.
fn visit(space: Space<'_>, axes: &[usize], position: u32, mut show: impl FnMut(usize, i64)) {
    for (&variable, &axis) in space.scope.iter().zip(axes) {
        let variable = variable as usize;
        let coordinate = space.geometry.coordinates[variable][position as usize];
        match space.geometry.indicators[variable] {
            None => show(axis, i64::from(coordinate)),
            Some(_) => show(axis + coordinate as usize, i64::from(INDICATOR)),
        }
    }
}

/// The squared distance of a row from a centroid.
fn distance(space: Space<'_>, axes: &[usize], centroid: &[i64], position: u32) -> i64 {
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

/// The squared distance of two rows.
fn gap(space: Space<'_>, a: u32, b: u32) -> i64 {
    let mut total = 0;
    for &variable in space.scope {
        let column = &space.geometry.coordinates[variable as usize];
        let (x, y) = (i64::from(column[a as usize]), i64::from(column[b as usize]));
        total += match space.geometry.indicators[variable as usize] {
            None => (x - y) * (x - y),
            Some(_) if x == y => 0,
            Some(_) => 2 * i64::from(INDICATOR).pow(2),
        };
    }
    total
}

/// The time at which a row of `weight` finishes the race of a stage; the id settles ties.
fn finish(space: Space<'_>, stage: usize, position: u32, weight: i64) -> (f64, u64) {
    let id = space.data.id(position);
    if weight == 0 {
        return (f64::INFINITY, id);
    }
    let uniform: f64 = stream(space.key, Purpose::SpnSeeding, id, stage as u64).random();
    (-(1.0 - uniform).ln() / weight as f64, id)
}

fn earlier(a: (f64, u64), b: (f64, u64)) -> bool {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).is_lt()
}

/// The weight of a row at the stage after `seeds`: the squared distance to the nearest of them.
fn weight(space: Space<'_>, seeds: &[u32], position: u32) -> i64 {
    let gaps = seeds.iter().map(|&seed| gap(space, seed, position));
    gaps.min().unwrap_or(1)
}

/// The seeds; fewer than asked for where no other row differs from them.
fn draw_seeds(space: Space<'_>, positions: &[u32]) -> Vec<u32> {
    let mut seeds = Vec::with_capacity(space.clusters);
    let mut weights = vec![1; positions.len()];
    while seeds.len() < space.clusters {
        let stage = seeds.len();
        let mut best: Option<((f64, u64), u32)> = None;
        for (&position, &weight) in positions.iter().zip(&weights) {
            let time = finish(space, stage, position, weight);
            if time.0.is_finite() && best.is_none_or(|(first, _)| earlier(time, first)) {
                best = Some((time, position));
            }
        }
        let Some((_, winner)) = best else {
            break;
        };
        for (&position, weight) in positions.iter().zip(&mut weights) {
            let gap = gap(space, winner, position);
            *weight = if stage == 0 { gap } else { gap.min(*weight) };
        }
        seeds.push(winner);
    }
    seeds
}

/// Whether a row that comes would win a stage of the race that `seeds` have won, or be a further seed.
fn would_be_seed(space: Space<'_>, seeds: &[u32], position: u32) -> bool {
    (0..=seeds.len()).any(|stage| {
        let own = finish(
            space,
            stage,
            position,
            weight(space, &seeds[..stage], position),
        );
        match seeds.get(stage) {
            Some(&winner) => {
                let first = weight(space, &seeds[..stage], winner);
                earlier(own, finish(space, stage, winner, first))
            }
            None => stage < space.clusters && own.0.is_finite(),
        }
    })
}
