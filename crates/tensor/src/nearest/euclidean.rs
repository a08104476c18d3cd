//! The squared Euclidean distances of vectors to the rows of a table, as one matrix product on a
//! device, and what is decided from them: which vector or row is nearest, which rows are near.
//!
//! With c the mean row, x' = x - c rounded to f32, and norms rounded to f32 as well, the product of
//! `[-2 x', |x'|^2, 1]` and `[y', 1, |y'|^2]` is |x'|^2 - 2 x'.y' + |y'|^2. The product is not
//! exact; the caller's reference decides what the product cannot tell apart.
//!
//! A GPU may shorten the factors of a product to 8 significant bits, whose unit roundoff is v =
//! 2^-8, before it multiplies them; sums stay in f32. On a GPU every number is therefore given in
//! *pieces* of 8 bits each, of which there is nothing to shorten: -2 x' as h + m, where h is -2 x'
//! rounded to 8 bits and m the rest rounded to 8 bits, y' as h' + m', and a norm as three pieces
//! that are exact, for f32 has 24 bits. The product is that of `[h, h, m, n1, n2, n3, 1, 1, 1]` and
//! `[h', m', h', 1, 1, 1, n1', n2', n3']`.
//!
//! **Error bound.** Let u = 2^-24, w the number of terms of the product, d the number of columns, a
//! = |x'| and b = |y'|. Then |product - true| <= ((w + 10) 2 u + s) (a + b)^2 with s = 0, or s =
//! 2^-15 for pieces. *Proof.*
//! The absolute values of the terms sum up to at most 1.02 (a + b)^2: the factor is 1 without
//! pieces, and with them at most (1 + v)^2 + 2 v (1 + v)^2 for the products of columns. Each term
//! passes through at most w roundings, in whatever order the device sums: 1.02 w u (a + b)^2. The
//! rounded norms add u (a + b)^2. Rounding x - c to x' moves x by at most u a, y by u b, so the
//! distance |x' - y'| <= a + b by at most u (a + b), and its square by 2 u (a + b)^2. The reference
//! may be an f64 sum, off by (d + 2) 2^-53 (a + b)^2, less than u (a + b)^2. What is left of
//! the 2 (w + 10) u covers terms of second order, and values too small for f32: of a factor, or of
//! a product, those lose 2^-126, times at most 2 (a + b), and a + b is at least the largest norm of
//! the table, 2^-40 or more.
//! *Pieces.* |x' - h/-2| <= v |x'| and then |x' - (h + m)/-2| <= v^2 |x'|, column by column; so for
//! y'. What the three products of a column leave out of -2 x' y' is at most 2 v^2 |x' y'| times
//! (1 + v)^2 + 1 + 1 + v^2, less than 6.1 v^2 |x' y'|. By Cauchy and Schwarz, and because of 4 a b
//! <= (a + b)^2, all columns leave out less than 1.6 v^2 (a + b)^2, of which s is more. ∎

use burn::tensor::{Bool, Int, Tensor};

use super::Approximation;
use super::products::{Products, asked};
use super::smallest::{above, below};
use crate::device::ComputeDevice;

/// The largest norm must be in this range, so that nothing over- or underflows in f32.
const NORMS: (f64, f64) = (1.0 / (1_u64 << 40) as f64, (1_u64 << 40) as f64);
/// The most numbers that a table on a device may have: 2 GiB.
const MOST_NUMBERS: usize = 1 << 29;
/// The most values of a product that stay on the device.
const BLOCK_VALUES: usize = 1 << 24;

/// The layout in which rows and vectors become the factors of a product.
#[derive(Debug, Clone, Copy)]
struct Layout {
    columns: usize,
    in_pieces: bool,
}

impl Layout {
    fn width(self) -> usize {
        match self.in_pieces {
            true => 3 * self.columns + 6,
            false => self.columns + 2,
        }
    }

    /// The error bound, in units of (a + b)^2.
    fn unit(self) -> f64 {
        let roundings = (self.width() + 10) as f64 * 2_f64.powi(-23);
        let pieces = if self.in_pieces { 2_f64.powi(-15) } else { 0.0 };
        roundings + pieces
    }

    /// Appends the factor of a row of the table, |y'|^2 being `norm`.
    fn row(self, near: &[f32], norm: f32, to: &mut Vec<f32>) {
        if !self.in_pieces {
            to.extend(near);
            to.extend([1.0, norm]);
            return;
        }
        to.extend(near.iter().map(|&y| short(y)));
        to.extend(near.iter().map(|&y| rest(y)));
        to.extend(near.iter().map(|&y| short(y)));
        to.extend([1.0; 3]);
        to.extend(norm_pieces(norm));
    }

    /// Appends the factor of a vector, |x'|^2 being `norm`.
    fn vector(self, near: &[f32], norm: f32, to: &mut Vec<f32>) {
        let twice = || near.iter().map(|&x| -2.0 * x);
        if !self.in_pieces {
            to.extend(twice());
            to.extend([norm, 1.0]);
            return;
        }
        to.extend(twice().map(short));
        to.extend(twice().map(short));
        to.extend(twice().map(rest));
        to.extend(norm_pieces(norm));
        to.extend([1.0; 3]);
    }
}

/// `x` rounded to 8 significant bits: to the nearest, of two to the even one.
pub(super) fn short(x: f32) -> f32 {
    let bits = x.to_bits();
    let even = (bits >> 16) & 1;
    f32::from_bits((bits + 0x7fff + even) & 0xffff_0000)
}

/// Returns what [`short`] leaves of `x`, rounded likewise.
pub(super) fn rest(x: f32) -> f32 {
    short(x - short(x))
}

/// Three numbers of 8 significant bits whose sum is `norm`.
fn norm_pieces(norm: f32) -> [f32; 3] {
    let first = short(norm);
    let second = short(norm - first);
    [first, second, norm - first - second]
}

/// The rows of a table on a device, to be compared with vectors there.
#[derive(Debug, Clone)]
pub struct Table {
    layout: Layout,
    centre: Vec<f64>,
    products: Products,
    largest: f64,
}

/// For each row of a table, the nearest of some vectors.
#[derive(Debug, Clone)]
pub struct Closest {
    at: Vec<u32>,
    best: Vec<f32>,
    second: Vec<f32>,
    bound: f64,
}

impl Closest {
    /// Returns the vector that is proposed for `row`. Where [`Closest::gap`] is above 0 this vector
    /// is the nearest one.
    pub fn vector(&self, row: usize) -> u32 {
        self.at[row]
    }

    /// Returns a lower bound of how much larger the true squared distance of `row` to any other
    /// vector is than its true squared distance to the proposed one.
    pub fn gap(&self, row: usize) -> f32 {
        let gap = f64::from(self.second[row]) - f64::from(self.best[row]) - 2.0 * self.bound;
        below(gap)
    }

    /// Returns an upper bound of the true squared distance of `row` to its nearest vector.
    pub fn at_most(&self, row: usize) -> f32 {
        above(f64::from(self.best[row]) + self.bound)
    }
}

/// Rounded squared distances of some vectors to the rows of a table.
#[derive(Debug, Clone)]
pub struct Rounded {
    values: Vec<f32>,
    rows: usize,
    bound: f64,
}

impl Rounded {
    /// Returns lower bounds of the true squared distances of `vector` to the rows from `start` to
    /// `end`.
    pub fn at_least(
        &self,
        vector: usize,
        (start, end): (usize, usize),
    ) -> impl Iterator<Item = f64> {
        let values = &self.values[vector * self.rows..][start..end];
        values.iter().map(|&value| f64::from(value) - self.bound)
    }
}

impl Table {
    /// Brings `rows` (row-major, `columns` numbers a row) to `device`; `None` if they are too far
    /// apart, or too close, for f32, if they are too many, or if the device fails.
    pub fn new<T: Copy + Into<f64>>(
        rows: &[T],
        columns: usize,
        device: &ComputeDevice,
    ) -> Option<Table> {
        let layout = Layout {
            columns: columns.max(1),
            in_pieces: device.is_gpu(),
        };
        Table::with_layout(rows, layout, device)
    }

    fn with_layout<T: Copy + Into<f64>>(
        rows: &[T],
        layout: Layout,
        device: &ComputeDevice,
    ) -> Option<Table> {
        let columns = layout.columns;
        let count = rows.len() / columns;
        if count > MOST_NUMBERS / layout.width() {
            return None;
        }
        let mut centre = vec![0.0; columns];
        for row in rows.chunks_exact(columns) {
            for (centre, &x) in centre.iter_mut().zip(row) {
                *centre += x.into();
            }
        }
        centre.iter_mut().for_each(|sum| *sum /= count as f64);
        let mut right = Vec::with_capacity(count * layout.width());
        let mut largest = 0.0_f64;
        for row in rows.chunks_exact(columns) {
            let (near, square) = about(&centre, row);
            layout.row(&near, square as f32, &mut right);
            largest = largest.max(square.sqrt());
        }
        if !(NORMS.0..=NORMS.1).contains(&largest) {
            return None;
        }
        Some(Table {
            products: Products::with(right, layout.width(), device)?,
            layout,
            centre,
            largest,
        })
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.products.rows()
    }

    /// Returns the factors of `vectors` (row-major), and a bound on the error of their products;
    /// `None` if they are too far away.
    fn factors<T: Copy + Into<f64>>(&self, vectors: &[T]) -> Option<(Vec<f32>, f64)> {
        let count = vectors.len() / self.layout.columns;
        let mut left = Vec::with_capacity(count * self.layout.width());
        let mut longest = 0.0_f64;
        for vector in vectors.chunks_exact(self.layout.columns) {
            let (near, square) = about(&self.centre, vector);
            self.layout.vector(&near, square as f32, &mut left);
            longest = longest.max(square.sqrt());
        }
        let reach = longest + self.largest;
        (longest <= NORMS.1).then(|| (left, self.layout.unit() * reach * reach))
    }

    /// Fills `values`, `[vectors, rows]`, with rounded squared distances, and returns a bound on
    /// their error; nothing if the device failed.
    pub fn fill<T: Copy + Into<f64>>(&self, vectors: &[T], values: &mut [f32]) -> Option<f64> {
        let (left, bound) = self.factors(vectors)?;
        self.products.fill(left, values)?;
        Some(bound)
    }

    /// Returns the rounded squared distances that [`Table::fill`] gives, if every number is finite.
    pub fn distances<T: Copy + Into<f64>>(&self, vectors: &[T]) -> Option<Rounded> {
        let rows = self.rows();
        let mut values = vec![0.0; vectors.len() / self.layout.columns * rows];
        let bound = self.fill(vectors, &mut values)?;
        values.iter().all(|value| value.is_finite()).then_some(())?;
        Some(Rounded {
            values,
            rows,
            bound,
        })
    }

    /// Returns the nearest of `vectors` for each row: the arg-min over the products, which is taken
    /// on the device. Nothing if the device failed.
    ///
    /// **Theorem.** Where [`Closest::gap`] is above 0, the proposed vector is truly nearer than any
    /// other. *Proof.* Every other one has a rounded distance of at least `second`, so a true one
    /// of at least `second` less the bound; the proposed one a true one of at most `best` plus the
    /// bound. ∎ Equal distances leave no gap, so that they, too, are for the reference.
    pub fn closest<T: Copy + Into<f64>>(&self, vectors: &[T]) -> Option<Closest> {
        let (left, bound) = self.factors(vectors)?;
        let (rows, count) = (self.rows(), vectors.len() / self.layout.columns);
        let block = (BLOCK_VALUES / count.max(1)).max(1);
        let mut closest = Closest {
            at: Vec::with_capacity(rows),
            best: Vec::with_capacity(rows),
            second: Vec::with_capacity(rows),
            bound,
        };
        asked(|| {
            let left = self.products.left(left);
            let numbers = Tensor::<1, Int>::arange(0..count as i64, self.products.device());
            let numbers = numbers.reshape([count, 1]);
            for start in (0..rows).step_by(block) {
                let end = rows.min(start + block);
                let shape = [count, end - start];
                let distances = self.products.part(left.clone(), start, end);
                let (best, at) = distances.clone().min_dim_with_indices(0);
                let is_best = numbers
                    .clone()
                    .expand(shape)
                    .equal(at.clone().expand(shape));
                let second = distances.mask_fill(is_best, f32::MAX).min_dim(0);
                closest.at.extend(at.try_into_vec_as::<u32>().ok()?);
                closest.best.extend(best.try_into_vec_as::<f32>().ok()?);
                closest.second.extend(second.try_into_vec_as::<f32>().ok()?);
            }
            Some(())
        })?;
        let whole = [closest.at.len(), closest.best.len(), closest.second.len()] == [rows; 3];
        let known = closest.at.iter().all(|&at| (at as usize) < count);
        let finite = |values: &[f32]| values.iter().all(|value| value.is_finite());
        (whole && known && finite(&closest.best) && finite(&closest.second)).then_some(closest)
    }

    /// Counts how many rows are within the radius of each of `vectors`, for which every true
    /// squared distance is a whole number or an f64 sum; counted on the device and cut at `enough`.
    /// Gives nothing for a vector about which the device cannot tell; nothing at all if it failed.
    ///
    /// **Theorem.** A count that is given is min(`enough`, true count). *Proof.* With the bound e,
    /// rows whose rounded value is at most r^2 - e are within the radius, those above r^2 + e are
    /// not. Where there are no others, the count is known; where `enough` are within it, no other
    /// changes what is given. ∎
    pub fn within<T: Copy + Into<f64>>(
        &self,
        vectors: &[T],
        squared_radius: f64,
        enough: u32,
    ) -> Option<Vec<Option<u32>>> {
        let rows = self.rows();
        let block = (BLOCK_VALUES / rows.max(1)).max(1);
        let mut counts = Vec::with_capacity(vectors.len() / self.layout.columns);
        for vectors in vectors.chunks(block * self.layout.columns) {
            let (left, bound) = self.factors(vectors)?;
            let inner = below(squared_radius - bound);
            let outer = above(squared_radius + bound);
            let found = asked(|| {
                let values = self.products.part(self.products.left(left), 0, rows);
                let sum =
                    |which: Tensor<2, Bool>| which.int().sum_dim(1).try_into_vec_as::<u32>().ok();
                let inside = sum(values.clone().lower_equal_scalar(inner))?;
                let near = sum(values.clone().lower_equal_scalar(outer))?;
                let beyond = sum(values.greater_scalar(outer))?;
                Some((inside, near, beyond))
            })?;
            let (inside, near, beyond) = found;
            for ((&inside, &near), &beyond) in inside.iter().zip(&near).zip(&beyond) {
                // A value without an order is on neither side.
                if u64::from(near) + u64::from(beyond) != rows as u64 {
                    return None;
                }
                let is_known = inside == near || inside >= enough;
                counts.push(is_known.then(|| inside.min(enough)));
            }
        }
        Some(counts)
    }
}

/// Returns x - c rounded to f32, and its squared norm.
fn about<T: Copy + Into<f64>>(centre: &[f64], row: &[T]) -> (Vec<f32>, f64) {
    let shifted = row.iter().zip(centre);
    let near: Vec<f32> = shifted.map(|(&x, &c)| (x.into() - c) as f32).collect();
    let square = near.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
    (near, square)
}

/// Squared distances between the rows of one table, from products on a device.
pub struct SquaredDistances<'a> {
    table: Table,
    rows: &'a [f64],
    vectors: Vec<f64>,
}

impl<'a> SquaredDistances<'a> {
    /// Brings `rows` to `device`; see [`Table::new`].
    pub fn new(rows: &'a [f64], columns: usize, device: &ComputeDevice) -> Option<Self> {
        Some(Self {
            table: Table::new(rows, columns, device)?,
            rows,
            vectors: Vec::new(),
        })
    }
}

impl Approximation for SquaredDistances<'_> {
    fn fill(&mut self, queries: &[u32], distances: &mut [f32]) -> Option<f64> {
        let columns = self.table.layout.columns;
        self.vectors.clear();
        for &query in queries {
            let start = query as usize * columns;
            self.vectors.extend(self.rows.get(start..start + columns)?);
        }
        self.table.fill(&self.vectors, distances)
    }
}

#[cfg(test)]
mod tests;
