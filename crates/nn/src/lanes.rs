//! Sixteen inputs (rows of a table, or texts) side by side: the vectors of all kernels, and their
//! products.
//!
//! A [`Row`] holds one quantity (a unit's value, a gate, a gradient) of [`LANES`] inputs. Every
//! operation treats all lanes alike and in the same order, whatever the width of the machine's
//! registers: an input's numbers depend neither on its lane nor on the inputs in the other lanes.
//! Products and sums are fused multiply-adds on every kind of processor, which makes their bits
//! the same on all of them.

pub mod activation;

use std::ops::Range;

use pulp::{Simd, WithSimd};

/// The number of inputs in a block.
pub const LANES: usize = 16;

/// One number for each input of a block.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(64))]
pub struct Row(pub [f32; LANES]);

impl Row {
    /// A row of zeros.
    pub const ZERO: Row = Row([0.0; LANES]);

    /// Returns a row of `value` for every input.
    pub const fn splat(value: f32) -> Row {
        Row([value; LANES])
    }

    /// Returns the sum over the lanes, in lane order.
    pub fn sum(&self) -> f32 {
        self.0.iter().sum()
    }
}

/// The number of registers that a row takes.
pub const fn parts<S: Simd>() -> usize {
    LANES / S::F32_LANES
}

/// Loads register `part` of a row.
#[inline(always)]
pub fn load<S: Simd>(row: &Row, part: usize) -> S::f32s {
    S::as_simd_f32s(&row.0).0[part]
}

/// Sets register `part` of a row.
#[inline(always)]
pub fn store<S: Simd>(row: &mut Row, part: usize, value: S::f32s) {
    S::as_mut_simd_f32s(&mut row.0).0[part] = value;
}

/// Transposes a tile, so that its rows become lanes. The function is kept out of the kernels, where
/// the compiler would make slow scatters of the copies.
#[inline(never)]
pub fn transpose(tile: &mut [Row; LANES]) {
    for i in 1..LANES {
        let (above, below) = tile.split_at_mut(i);
        for (j, row) in above.iter_mut().enumerate() {
            std::mem::swap(&mut row.0[i], &mut below[0].0[j]);
        }
    }
}

/// Runs `task` with the widest registers of this processor. The code of `task` has to be inlined
/// into it: a function that is called keeps to the registers that every processor has.
pub fn dispatch<T: WithSimd>(task: T) -> T::Output {
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(simd) = pulp::x86::V4::try_new() {
            return Simd::vectorize(simd, task);
        }
        if let Some(simd) = pulp::x86::V3::try_new() {
            return Simd::vectorize(simd, task);
        }
    }
    pulp::Arch::new().dispatch(task)
}

/// Runs `task` once with each kind of registers that this processor has, plain numbers among them.
#[cfg(test)]
pub fn on_every_level<T: WithSimd>(task: impl Fn() -> T) -> Vec<T::Output> {
    let mut outputs = vec![
        pulp::Scalar.vectorize(task()),
        pulp::Arch::new().dispatch(task()),
    ];
    #[cfg(target_arch = "x86_64")]
    {
        let v3 = pulp::x86::V3::try_new();
        outputs.extend(v3.map(|simd| Simd::vectorize(simd, task())));
        let v4 = pulp::x86::V4::try_new();
        outputs.extend(v4.map(|simd| Simd::vectorize(simd, task())));
    }
    outputs
}

/// The number of steps that share weights while these are in a cache.
pub const BUNDLE: usize = 16;

/// The number of inputs that are added at once: the weights of eight outputs and two steps' inputs
/// then stay in a first-level cache.
const DEPTH: usize = 256;

/// A matrix, laid out for y += W·x on rows.
///
/// Inputs are cut into depths of [`DEPTH`], and outputs into tiles of eight (the last ones of four,
/// two and one); a tile's weights lie input by input. Each output adds its terms one by one in the
/// order of the inputs, each by one fused multiply-add: depths, tiles and bundles change no bit.
#[derive(Debug, Clone)]
pub struct Product {
    outputs: usize,
    inputs: usize,
    weights: Vec<f32>,
}

impl Product {
    /// Lays out the matrix `weight(output, input)`.
    pub fn new(outputs: usize, inputs: usize, weight: impl Fn(usize, usize) -> f32) -> Product {
        let mut weights = Vec::with_capacity(outputs * inputs);
        for depth in (0..inputs).step_by(DEPTH) {
            let mut first = 0;
            for tile in [8, 4, 2, 1] {
                while first + tile <= outputs {
                    for input in depth..inputs.min(depth + DEPTH) {
                        weights.extend((first..first + tile).map(|output| weight(output, input)));
                    }
                    first += tile;
                }
            }
        }
        Product {
            outputs,
            inputs,
            weights,
        }
    }

    /// Computes `y += W·x`; x has one row an input, y one an output.
    #[inline(always)]
    pub fn add<S: Simd>(&self, simd: S, x: &[Row], y: &mut [Row]) {
        self.add_steps(simd, (x, self.inputs), y);
    }

    /// Computes `y += W·x` at every step: at each, `y` has one row an output, and `x` has as many
    /// rows as the number beside it says, of which the first, one an input, take part.
    #[inline(always)]
    pub fn add_steps<S: Simd>(&self, simd: S, x: (&[Row], usize), y: &mut [Row]) {
        self.steps(simd, x, y, &Added);
    }

    /// Computes y = finish(start + W·x) at every step, where `ends` says how sums start and finish.
    /// The work before and after a product is then done in registers.
    #[inline(always)]
    pub fn steps<S: Simd>(
        &self,
        simd: S,
        (x, stride): (&[Row], usize),
        y: &mut [Row],
        ends: &impl Ends<S>,
    ) {
        let bundles = y.chunks_mut((BUNDLE * self.outputs).max(1));
        for (bundle, y) in bundles.enumerate() {
            let x = &x[bundle * BUNDLE * stride..];
            // A product without inputs has ends too.
            for depth in (0..self.inputs.max(1)).step_by(DEPTH) {
                let pass = Pass {
                    inputs: depth..self.inputs.min(depth + DEPTH),
                    is_last: depth + DEPTH >= self.inputs,
                    place: bundle * BUNDLE * self.outputs,
                    ends,
                };
                let mut done = 0;
                done = self.tiles::<S, 8>(simd, &pass, (x, stride), y, done);
                done = self.tiles::<S, 4>(simd, &pass, (x, stride), y, done);
                done = self.tiles::<S, 2>(simd, &pass, (x, stride), y, done);
                self.tiles::<S, 1>(simd, &pass, (x, stride), y, done);
            }
        }
    }

    /// Computes all full tiles of N outputs from output `first` on, and returns where they end. Two
    /// steps go together where there are registers for their sums: each weight is then read once
    /// for both.
    #[inline(always)]
    fn tiles<S: Simd, const N: usize>(
        &self,
        simd: S,
        pass: &Pass<'_, impl Ends<S>>,
        (x, stride): (&[Row], usize),
        y: &mut [Row],
        mut first: usize,
    ) -> usize {
        let inputs = &pass.inputs;
        while first + N <= self.outputs {
            let start = inputs.start * self.outputs + first * inputs.len();
            let weights = self.weights[start..][..N * inputs.len()].as_chunks::<N>().0;
            for (pair, y) in y.chunks_mut(2 * self.outputs).enumerate() {
                let x = &x[2 * pair * stride..];
                let place = pass.place + 2 * pair * self.outputs + first;
                let (one, other) = y.split_at_mut(self.outputs);
                let one = (&x[inputs.clone()], &mut one[first..first + N], place);
                if other.is_empty() {
                    pass.alone(simd, weights, first, one);
                    continue;
                }
                let place = place + self.outputs;
                let (x, y) = (&x[stride..][inputs.clone()], &mut other[first..first + N]);
                if S::REGISTER_COUNT < 32 {
                    pass.alone(simd, weights, first, one);
                    pass.alone(simd, weights, first, (x, y, place));
                } else {
                    pass.tile::<S, N, 0, N, 1, 2>(simd, weights, first, [one, (x, y, place)]);
                }
            }
            first += N;
        }
        first
    }
}

/// The ends of the sums of a product: where they start, and what becomes of them.
pub trait Ends<S: Simd> {
    /// Returns the value that the terms of `output` are added to, where `y` stands now.
    fn start(&self, simd: S, output: usize, y: S::f32s) -> S::f32s;

    /// Returns the value that is put in the place of the whole `sum`: register `part` of row
    /// `place` of all y.
    fn finish(&self, simd: S, place: usize, part: usize, sum: S::f32s) -> S::f32s;
}

/// The ends of sums that are added to what is there.
struct Added;

impl<S: Simd> Ends<S> for Added {
    #[inline(always)]
    fn start(&self, _simd: S, _output: usize, y: S::f32s) -> S::f32s {
        y
    }

    #[inline(always)]
    fn finish(&self, _simd: S, _place: usize, _part: usize, sum: S::f32s) -> S::f32s {
        sum
    }
}

/// A pass over some inputs of a product for a bundle of steps.
struct Pass<'a, E> {
    inputs: Range<usize>,
    is_last: bool,
    /// The number of rows of y before the bundle.
    place: usize,
    ends: &'a E,
}

/// A step: its x and y, and the place of y's first row among those of all steps.
type Step<'a> = (&'a [Row], &'a mut [Row], usize);

impl<E> Pass<'_, E> {
    /// Computes N outputs of one step, the first of which is `output`. Where registers are few, two
    /// registers of a row share each weight, for four outputs at a time.
    #[inline(always)]
    fn alone<S: Simd, const N: usize>(
        &self,
        simd: S,
        weights: &[[f32; N]],
        output: usize,
        (x, y, place): Step<'_>,
    ) where
        E: Ends<S>,
    {
        if S::REGISTER_COUNT >= 32 || parts::<S>() < 2 {
            self.tile::<S, N, 0, N, 1, 1>(simd, weights, output, [(x, y, place)]);
        } else if N > 4 {
            self.tile::<S, N, 0, 4, 2, 1>(simd, weights, output, [(x, &mut *y, place)]);
            self.tile::<S, N, 4, 4, 2, 1>(simd, weights, output, [(x, y, place)]);
        } else {
            self.tile::<S, N, 0, N, 2, 1>(simd, weights, output, [(x, y, place)]);
        }
    }

    /// Computes H of N outputs, from number A on, for each of B steps, P registers of a row at a
    /// time; the first of the N outputs is `output`.
    #[inline(always)]
    fn tile<
        S: Simd,
        const N: usize,
        const A: usize,
        const H: usize,
        const P: usize,
        const B: usize,
    >(
        &self,
        simd: S,
        weights: &[[f32; N]],
        output: usize,
        mut steps: [Step<'_>; B],
    ) where
        E: Ends<S>,
    {
        for (x, _, _) in &mut steps {
            // All of one length, so that the loop over the inputs needs no bounds.
            *x = &x[..weights.len()];
        }
        for part in (0..parts::<S>()).step_by(P) {
            let mut sums = [[[simd.splat_f32s(0.0); P]; H]; B];
            for (sums, (_, y, _)) in sums.iter_mut().zip(&steps) {
                for h in 0..H {
                    for (p, sum) in sums[h].iter_mut().enumerate() {
                        let y = load::<S>(&y[A + h], part + p);
                        *sum = match self.inputs.start {
                            0 => self.ends.start(simd, output + A + h, y),
                            _ => y,
                        };
                    }
                }
            }
            for (input, weights) in weights.iter().enumerate() {
                let mut inputs = [[simd.splat_f32s(0.0); P]; B];
                for (values, (x, _, _)) in inputs.iter_mut().zip(&steps) {
                    for (p, value) in values.iter_mut().enumerate() {
                        *value = load::<S>(&x[input], part + p);
                    }
                }
                for h in 0..H {
                    let weight = simd.splat_f32s(weights[A + h]);
                    for b in 0..B {
                        for p in 0..P {
                            sums[b][h][p] = simd.mul_add_f32s(weight, inputs[b][p], sums[b][h][p]);
                        }
                    }
                }
            }
            for (sums, (_, y, place)) in sums.into_iter().zip(&mut steps) {
                for h in 0..H {
                    for (p, &sum) in sums[h].iter().enumerate() {
                        let sum = match self.is_last {
                            true => {
                                let place = *place + A + h;
                                self.ends.finish(simd, place, part + p, sum)
                            }
                            false => sum,
                        };
                        store::<S>(&mut y[A + h], part + p, sum);
                    }
                }
            }
        }
    }
}

/// The task of [`Product::add_steps`].
pub struct ProductPass<'a> {
    /// The matrix.
    pub product: &'a Product,
    /// The inputs of all steps.
    pub x: &'a [Row],
    /// The number of rows of `x` in a step.
    pub x_stride: usize,
    /// The outputs of all steps.
    pub y: &'a mut [Row],
}

impl WithSimd for ProductPass<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        self.product
            .add_steps(simd, (self.x, self.x_stride), self.y);
    }
}

/// The task of summing d ⊗ x over steps and lanes: the gradient of a matrix of shape `[d rows, x
/// rows]`.
pub struct OuterPass<'a> {
    /// The gradients with respect to the outputs: at each step the rows `d_rows` of `d_stride`.
    pub d: &'a [Row],
    /// The number of rows of `d` in a step.
    pub d_stride: usize,
    /// The first and last row of `d` that takes part.
    pub d_rows: Range<usize>,
    /// The inputs of all steps.
    pub x: &'a [Row],
    /// The number of rows of `x` in a step.
    pub x_stride: usize,
    /// The first and last row of `x` that takes part.
    pub x_rows: Range<usize>,
    /// The number of steps.
    pub steps: usize,
    /// A function that is called with (row of d, row of x, sum).
    pub sink: &'a mut dyn FnMut(usize, usize, f32),
}

/// The number of rows of d and of x that a tile of [`OuterPass`] holds in registers.
const OUTER: usize = 4;

impl WithSimd for OuterPass<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for d in self.d_rows.clone().step_by(OUTER) {
            for x in self.x_rows.clone().step_by(OUTER) {
                let sums = self.tile(simd, d, x);
                for (i, sums) in sums.iter().enumerate() {
                    for (j, sum) in sums.iter().enumerate() {
                        if d + i < self.d_rows.end && x + j < self.x_rows.end {
                            (self.sink)(
                                d + i - self.d_rows.start,
                                x + j - self.x_rows.start,
                                sum.sum(),
                            );
                        }
                    }
                }
            }
        }
    }
}

impl OuterPass<'_> {
    /// Computes the sums of one tile; rows past the end repeat the last one.
    #[inline(always)]
    fn tile<S: Simd>(&self, simd: S, d: usize, x: usize) -> [[Row; OUTER]; OUTER] {
        let mut tile = [[Row::ZERO; OUTER]; OUTER];
        for part in 0..parts::<S>() {
            let mut sums = [[simd.splat_f32s(0.0); OUTER]; OUTER];
            for step in 0..self.steps {
                let d_rows = &self.d[step * self.d_stride..][..self.d_rows.end];
                let x_rows = &self.x[step * self.x_stride..][..self.x_rows.end];
                let mut xs = [simd.splat_f32s(0.0); OUTER];
                for (j, value) in xs.iter_mut().enumerate() {
                    *value = load::<S>(&x_rows[(x + j).min(x_rows.len() - 1)], part);
                }
                for (i, sums) in sums.iter_mut().enumerate() {
                    let d = load::<S>(&d_rows[(d + i).min(d_rows.len() - 1)], part);
                    for j in 0..OUTER {
                        sums[j] = simd.mul_add_f32s(d, xs[j], sums[j]);
                    }
                }
            }
            for (rows, sums) in tile.iter_mut().zip(sums) {
                for (row, sum) in rows.iter_mut().zip(sums) {
                    store::<S>(row, part, sum);
                }
            }
        }
        tile
    }
}
