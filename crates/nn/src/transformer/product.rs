//! Products of matrices in which no row of the result depends on another one.
//!
//! A matrix is laid out in panels of [`PANEL`] outputs, input by input. Rows are taken twelve at a
//! time (six where registers are few; the last ones in smaller tiles), and every number of the
//! result adds its terms in the order of the inputs, by fused multiply-adds. The bits of a row are
//! therefore the same alone and among others, on any processor.

use pulp::{Simd, WithSimd};

/// The number of outputs of a panel.
pub const PANEL: usize = 32;
/// The number of inputs that a panel is passed over at a time: so many that results are seldom read
/// and written again, so few that a panel stays in a near cache.
const DEPTH: usize = 384;
/// The number of vectors of columns of a tile's part that one pass holds in registers.
const VECTORS: usize = 2;

/// A matrix, laid out for y += x·W.
#[derive(Debug, Clone, Default)]
pub struct Panels {
    inputs: usize,
    outputs: usize,
    /// The weights, `[⌈outputs / PANEL⌉, inputs, PANEL]`, zeros where outputs are to spare.
    values: Vec<[f32; PANEL]>,
}

impl Panels {
    /// Lays out the matrix whose column `output` is row `output` of `weight`, `[outputs, inputs]`:
    /// that of a linear layer.
    pub fn of_rows(outputs: usize, inputs: usize, weight: &[f32]) -> Panels {
        let mut panels = Panels::default();
        panels.set_rows(outputs, inputs, weight, inputs);
        panels
    }

    /// Lays out the matrix `weight`, `[inputs, outputs]`: the transposed one of a linear layer of
    /// as many outputs as this has inputs.
    pub fn of_columns(inputs: usize, outputs: usize, weight: &[f32]) -> Panels {
        let mut panels = Panels::default();
        panels.set_columns(inputs, outputs, weight, outputs);
        panels
    }

    /// Lays out [`Panels::of_rows`] in place, from rows that stand `stride` numbers apart.
    pub fn set_rows(&mut self, outputs: usize, inputs: usize, weight: &[f32], stride: usize) {
        self.clear(inputs, outputs);
        for (panel, rows) in self.values.chunks_exact_mut(inputs.max(1)).enumerate() {
            for lane in 0..PANEL.min(outputs - panel * PANEL) {
                let row = &weight[(panel * PANEL + lane) * stride..][..inputs];
                for (values, &value) in rows.iter_mut().zip(row) {
                    values[lane] = value;
                }
            }
        }
    }

    /// Lays out [`Panels::of_columns`] in place, from rows that stand `stride` numbers apart.
    pub fn set_columns(&mut self, inputs: usize, outputs: usize, weight: &[f32], stride: usize) {
        self.clear(inputs, outputs);
        for (panel, rows) in self.values.chunks_exact_mut(inputs.max(1)).enumerate() {
            let width = PANEL.min(outputs - panel * PANEL);
            for (input, values) in rows.iter_mut().enumerate() {
                let row = &weight[input * stride + panel * PANEL..][..width];
                values[..width].copy_from_slice(row);
            }
        }
    }

    fn clear(&mut self, inputs: usize, outputs: usize) {
        (self.inputs, self.outputs) = (inputs, outputs);
        self.values.clear();
        let length = outputs.div_ceil(PANEL) * inputs;
        self.values.resize(length, [0.0; PANEL]);
    }
}

/// Numbers in rows that stand `stride` apart.
#[derive(Debug, Clone, Copy)]
pub struct Lines<'a> {
    /// The first row's first number, and all behind it.
    pub values: &'a [f32],
    /// The distance, in numbers, from a row to the next.
    pub stride: usize,
    /// Whether rows and columns are exchanged: "row" r is then the column r.
    pub is_transposed: bool,
}

impl<'a> Lines<'a> {
    /// Makes rows of `stride` numbers.
    pub fn rows(values: &'a [f32], stride: usize) -> Lines<'a> {
        Lines {
            values,
            stride,
            is_transposed: false,
        }
    }

    /// Makes the columns of rows of `stride` numbers.
    pub fn columns(values: &'a [f32], stride: usize) -> Lines<'a> {
        Lines {
            values,
            stride,
            is_transposed: true,
        }
    }
}

/// A task that computes y += x·W for `rows` rows of x and y.
pub struct Multiply<'a> {
    /// The rows x, `[rows, W.inputs]`.
    pub x: Lines<'a>,
    /// The number of rows that take part.
    pub rows: usize,
    /// The matrix W.
    pub by: &'a Panels,
    /// The rows y, `[rows, W.outputs]`.
    pub y: &'a mut [f32],
    /// The distance, in numbers, from a row of `y` to the next.
    pub y_stride: usize,
    /// Memory that the product works in.
    pub scratch: &'a mut Vec<f32>,
}

impl WithSimd for Multiply<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let inputs = self.by.inputs;
        let mut scratch = std::mem::take(self.scratch);
        for from in (0..inputs).step_by(DEPTH) {
            let depth = DEPTH.min(inputs - from);
            scratch.resize(self.rows * depth, 0.0);
            let mut done = 0;
            // Twelve rows of two vectors are what 32 registers hold beside their factors; of 16, six
            // rows are. Plain numbers lie in memory anyway.
            if S::REGISTER_COUNT >= 32 {
                done = lay_out::<12>(&self.x, (done, self.rows), (from, depth), &mut scratch);
            }
            done = lay_out::<6>(&self.x, (done, self.rows), (from, depth), &mut scratch);
            done = lay_out::<4>(&self.x, (done, self.rows), (from, depth), &mut scratch);
            done = lay_out::<2>(&self.x, (done, self.rows), (from, depth), &mut scratch);
            lay_out::<1>(&self.x, (done, self.rows), (from, depth), &mut scratch);
            for (panel, weights) in self.by.values.chunks_exact(inputs).enumerate() {
                let weights = &weights[from..from + depth];
                let mut done = 0;
                if S::REGISTER_COUNT >= 32 {
                    done = self.tiles::<S, 12>(simd, &scratch, weights, panel, done);
                }
                done = self.tiles::<S, 6>(simd, &scratch, weights, panel, done);
                done = self.tiles::<S, 4>(simd, &scratch, weights, panel, done);
                done = self.tiles::<S, 2>(simd, &scratch, weights, panel, done);
                self.tiles::<S, 1>(simd, &scratch, weights, panel, done);
            }
        }
        *self.scratch = scratch;
    }
}

/// Copies full tiles of N rows from row `done` on, input by input, to their place in `tiles`;
/// returns the first row that is left.
#[inline(always)]
fn lay_out<const N: usize>(
    x: &Lines<'_>,
    (mut done, rows): (usize, usize),
    (from, depth): (usize, usize),
    tiles: &mut [f32],
) -> usize {
    while done + N <= rows {
        let (tile, _) = tiles[done * depth..][..N * depth].as_chunks_mut::<N>();
        if x.is_transposed {
            for (input, values) in tile.iter_mut().enumerate() {
                let line = &x.values[(from + input) * x.stride + done..][..N];
                values.copy_from_slice(line);
            }
        } else {
            for row in 0..N {
                let line = &x.values[(done + row) * x.stride + from..][..depth];
                for (values, &value) in tile.iter_mut().zip(line) {
                    values[row] = value;
                }
            }
        }
        done += N;
    }
    done
}

impl Multiply<'_> {
    /// Computes all full tiles of N rows from row `done` on in one panel; returns the first row
    /// that is left.
    #[inline(always)]
    fn tiles<S: Simd, const N: usize>(
        &mut self,
        simd: S,
        tiles: &[f32],
        weights: &[[f32; PANEL]],
        panel: usize,
        mut done: usize,
    ) -> usize {
        let depth = weights.len();
        let first = panel * PANEL;
        let width = PANEL.min(self.by.outputs - first);
        while done + N <= self.rows {
            let (tile, _) = tiles[done * depth..][..N * depth].as_chunks::<N>();
            let mut sums = [[0.0; PANEL]; N];
            for (row, sums) in sums.iter_mut().enumerate() {
                let y = &self.y[(done + row) * self.y_stride + first..];
                match y.first_chunk::<PANEL>() {
                    Some(whole) if width == PANEL => *sums = *whole,
                    _ => sums[..width].copy_from_slice(&y[..width]),
                }
            }
            add::<S, N>(simd, tile, weights, &mut sums);
            for (row, sums) in sums.iter().enumerate() {
                let y = &mut self.y[(done + row) * self.y_stride + first..];
                match y.first_chunk_mut::<PANEL>() {
                    Some(whole) if width == PANEL => *whole = *sums,
                    _ => y[..width].copy_from_slice(&sums[..width]),
                }
            }
            done += N;
        }
        done
    }
}

#[inline(always)]
fn add<S: Simd, const N: usize>(
    simd: S,
    tile: &[[f32; N]],
    weights: &[[f32; PANEL]],
    sums: &mut [[f32; PANEL]; N],
) {
    for group in 0..PANEL / (VECTORS * S::F32_LANES) {
        let at = |vector: usize| group * VECTORS + vector;
        let mut held = [[simd.splat_f32s(0.0); VECTORS]; N];
        for (held, sums) in held.iter_mut().zip(sums.iter()) {
            for (vector, held) in held.iter_mut().enumerate() {
                *held = S::as_simd_f32s(sums).0[at(vector)];
            }
        }
        for (x, weights) in tile.iter().zip(weights) {
            let weights = S::as_simd_f32s(weights).0;
            let weights: [S::f32s; VECTORS] = [weights[at(0)], weights[at(1)]];
            for (held, &x) in held.iter_mut().zip(x) {
                let x = simd.splat_f32s(x);
                for (held, weight) in held.iter_mut().zip(weights) {
                    *held = simd.mul_add_f32s(x, weight, *held);
                }
            }
        }
        for (held, sums) in held.iter().zip(sums.iter_mut()) {
            for (vector, held) in held.iter().enumerate() {
                S::as_mut_simd_f32s(sums).0[at(vector)] = *held;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::dispatch;

    fn numbers(count: usize, key: usize) -> Vec<f32> {
        let number = |i: usize| ((i * i * 31 + i * 7919 + key * 57) % 1009) as f32 / 504.0 - 1.0;
        (0..count).map(number).collect()
    }

    fn product(
        rows: usize,
        x: Lines<'_>,
        by: &Panels,
        simd: impl FnOnce(Multiply<'_>),
    ) -> Vec<f32> {
        let mut y = numbers(rows * by.outputs, 5);
        simd(Multiply {
            x,
            rows,
            by,
            y_stride: by.outputs,
            y: &mut y,
            scratch: &mut Vec::new(),
        });
        y
    }

    #[test]
    fn products_are_those_of_the_definition_on_every_processor() {
        let sizes = [
            (1, 3, 1),
            (7, 400, 33),
            (13, 20, 96),
            (20, 384, 32),
            (29, 513, 40),
        ];
        for (rows, inputs, outputs) in sizes {
            let (x, w) = (numbers(rows * inputs, 1), numbers(outputs * inputs, 2));
            let by = Panels::of_rows(outputs, inputs, &w);
            let y = product(rows, Lines::rows(&x, inputs), &by, |pass| dispatch(pass));
            let start = numbers(rows * outputs, 5);
            for row in 0..rows {
                for output in 0..outputs {
                    let terms = (0..inputs).map(|i| {
                        f64::from(x[row * inputs + i]) * f64::from(w[output * inputs + i])
                    });
                    let exact = f64::from(start[row * outputs + output]) + terms.sum::<f64>();
                    let value = f64::from(y[row * outputs + output]);
                    assert!(
                        (value - exact).abs() < 2e-6 * (10.0 + exact.abs()),
                        "{value} {exact}"
                    );
                }
            }
            let scalar = product(rows, Lines::rows(&x, inputs), &by, |pass| {
                pulp::Scalar.vectorize(pass);
            });
            assert_eq!(y, scalar);
            #[cfg(target_arch = "x86_64")]
            if let Some(simd) = pulp::x86::V3::try_new() {
                let narrow = product(rows, Lines::rows(&x, inputs), &by, |pass| {
                    Simd::vectorize(simd, pass);
                });
                assert_eq!(y, narrow);
            }
            // The same matrices, transposed.
            let turned = |values: &[f32], rows: usize, columns: usize| -> Vec<f32> {
                let places = (0..columns).flat_map(|c| (0..rows).map(move |r| r * columns + c));
                places.map(|at| values[at]).collect()
            };
            let x = turned(&x, rows, inputs);
            let by = Panels::of_columns(inputs, outputs, &turned(&w, outputs, inputs));
            assert_eq!(
                y,
                product(rows, Lines::columns(&x, rows), &by, |pass| dispatch(pass))
            );
        }
    }
}
