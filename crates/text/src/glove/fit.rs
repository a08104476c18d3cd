//! AdaGrad over the cells of the co-occurrence matrix.

use std::ops::ControlFlow;

use rand::RngExt;
use rand::seq::SliceRandom;
use rayon::prelude::*;

use super::cooccurrence::Pair;
use super::options::{GloveError, GloveOptions};
use probity_run::stream::{Purpose, stream};

/// The number of groups of words, which is the number of cells that can run side by side. The
/// result depends on it.
const GROUPS: usize = 16;
/// The largest step: larger steps are cut off, as in the reference implementation.
const LARGEST_STEP: f32 = 100.0;

/// A pair of words within a cell, by their positions within the groups.
struct Entry {
    row: u32,
    column: u32,
    log: f32,
    weight: f32,
}

/// The parameters of one group of words, as rows or as columns.
struct Group {
    width: usize,
    /// The vectors, `[words, width + 1]`, the bias last.
    parameters: Vec<f32>,
    /// The sums of squared gradients.
    squares: Vec<f32>,
}

/// The progress of a fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GloveProgress {
    /// The number of epochs done.
    pub epoch: usize,
    /// The number of epochs to do.
    pub epochs: usize,
    /// The mean weighted squared error of the pairs in this epoch.
    pub loss: f64,
}

/// Fits the vectors and returns `[words, width]`.
pub(super) fn fit(
    pairs: &[Pair],
    words: usize,
    options: &GloveOptions,
    progress: &mut dyn FnMut(GloveProgress) -> ControlFlow<()>,
) -> Result<Vec<f32>, GloveError> {
    let mut cells = cells(pairs, options);
    let mut rows: Vec<Group> = (0..GROUPS)
        .map(|group| Group::new(words, group, 0, options))
        .collect();
    let mut columns: Vec<Group> = (0..GROUPS)
        .map(|group| Group::new(words, group, 1, options))
        .collect();
    let rate = options.learning_rate as f32;
    for epoch in 1..=options.epochs {
        cells
            .par_iter_mut()
            .enumerate()
            .for_each(|(cell, entries)| {
                entries.shuffle(&mut stream(
                    options.seed,
                    Purpose::WordPairs,
                    cell as u64,
                    epoch as u64,
                ));
            });
        let mut loss = 0.0;
        for round in 0..GROUPS {
            // Column group (row + round) % GROUPS has been rotated to the place of its row group.
            let losses: Vec<f64> = rows
                .par_iter_mut()
                .zip(columns.par_iter_mut())
                .enumerate()
                .map(|(row, (left, right))| {
                    let cell = &cells[row * GROUPS + (row + round) % GROUPS];
                    cell.iter().map(|entry| left.step(right, entry, rate)).sum()
                })
                .collect();
            loss += losses.into_iter().sum::<f64>();
            columns.rotate_left(1);
        }
        let loss = loss / pairs.len() as f64;
        if !loss.is_finite() {
            return Err(GloveError::Diverged { epoch });
        }
        let state = GloveProgress {
            epoch,
            epochs: options.epochs,
            loss,
        };
        if progress(state).is_break() && epoch < options.epochs {
            return Err(GloveError::Stopped { epochs: epoch });
        }
    }
    let vector = |word: usize| {
        let left = rows[word % GROUPS].vector(word / GROUPS);
        let right = columns[word % GROUPS].vector(word / GROUPS);
        left.iter().zip(right).map(|(x, y)| x + y)
    };
    let vectors: Vec<f32> = (0..words).flat_map(vector).collect();
    if vectors.iter().all(|x| x.is_finite()) {
        Ok(vectors)
    } else {
        Err(GloveError::Diverged {
            epoch: options.epochs,
        })
    }
}

fn cells(pairs: &[Pair], options: &GloveOptions) -> Vec<Vec<Entry>> {
    let mut cells: Vec<Vec<Entry>> = (0..GROUPS * GROUPS).map(|_| Vec::new()).collect();
    for pair in pairs {
        let (row, column) = (pair.row as usize, pair.column as usize);
        cells[row % GROUPS * GROUPS + column % GROUPS].push(Entry {
            row: (row / GROUPS) as u32,
            column: (column / GROUPS) as u32,
            log: pair.weight.ln() as f32,
            weight: (pair.weight / options.x_max).powf(options.alpha).min(1.0) as f32,
        });
    }
    cells
}

impl Group {
    /// Creates the group of the words `group`, `group` + GROUPS …, with random parameters.
    fn new(words: usize, group: usize, side: u64, options: &GloveOptions) -> Group {
        let width = options.width;
        let members = (group..words).step_by(GROUPS);
        let parameters: Vec<f32> = members
            .flat_map(|word| {
                let mut draws = stream(options.seed, Purpose::WordVector, word as u64, side);
                (0..=width).map(move |_| draws.random_range(-0.5..0.5_f32) / width as f32)
            })
            .collect();
        Group {
            width,
            squares: vec![1.0; parameters.len()],
            parameters,
        }
    }

    fn vector(&self, word: usize) -> &[f32] {
        &self.parameters[word * (self.width + 1)..][..self.width]
    }

    /// Performs one step for one pair; returns its weighted squared error before the step.
    fn step(&mut self, other: &mut Group, entry: &Entry, rate: f32) -> f64 {
        let size = self.width + 1;
        let left = entry.row as usize * size..(entry.row as usize + 1) * size;
        let right = entry.column as usize * size..(entry.column as usize + 1) * size;
        let (w, w_squares) = (&mut self.parameters[left.clone()], &mut self.squares[left]);
        let (c, c_squares) = (
            &mut other.parameters[right.clone()],
            &mut other.squares[right],
        );
        let dot: f32 = w[..size - 1]
            .iter()
            .zip(&c[..size - 1])
            .map(|(x, y)| x * y)
            .sum();
        let error = dot + w[size - 1] + c[size - 1] - entry.log;
        let slope = (entry.weight * error * rate).clamp(-LARGEST_STEP, LARGEST_STEP);
        let pairs = w.iter_mut().zip(w_squares).zip(c.iter_mut().zip(c_squares));
        for (i, ((x, x_square), (y, y_square))) in pairs.enumerate() {
            // The biases multiply nothing.
            let (x_slope, y_slope) = if i == size - 1 {
                (slope, slope)
            } else {
                (slope * *y, slope * *x)
            };
            *x -= x_slope / x_square.sqrt();
            *y -= y_slope / y_square.sqrt();
            *x_square += x_slope * x_slope;
            *y_square += y_slope * y_slope;
        }
        f64::from(entry.weight * error * error)
    }
}
