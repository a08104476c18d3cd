//! Sixteen texts side by side: the vectors of all recurrent kernels, and their products.
//!
//! A [`Row`] holds one quantity (a unit's state, a gate, a gradient) of [`LANES`] texts. Every
//! operation treats all lanes alike and in the same order, whatever the width of the machine's
//! registers: a text's numbers depend neither on its lane nor on the texts in the other lanes.
//! Products and sums are fused multiply-adds on every kind of processor, which makes their bits
//! the same on all of them.

use pulp::{Simd, WithSimd};

/// Texts a block.
pub const LANES: usize = 16;

/// One number for each text of a block.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(64))]
pub struct Row(pub [f32; LANES]);

impl Row {
    /// Zero for every text.
    pub const ZERO: Row = Row([0.0; LANES]);

    /// `value` for every text.
    pub const fn splat(value: f32) -> Row {
        Row([value; LANES])
    }

    /// The sum over the lanes, in lane order.
    pub fn sum(&self) -> f32 {
        self.0.iter().sum()
    }
}

/// Registers a row.
pub const fn parts<S: Simd>() -> usize {
    LANES / S::F32_LANES
}

/// Register `part` of a row.
#[inline(always)]
pub fn load<S: Simd>(row: &Row, part: usize) -> S::f32s {
    S::as_simd_f32s(&row.0).0[part]
}

/// Sets register `part` of a row.
#[inline(always)]
pub fn store<S: Simd>(row: &mut Row, part: usize, value: S::f32s) {
    S::as_mut_simd_f32s(&mut row.0).0[part] = value;
}

/// Runs `task` with the widest registers of this processor.
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

/// A matrix, laid out for y += W·x on rows.
///
/// Outputs are cut into tiles of eight (the last ones of four, two and one); a tile's weights lie
/// input by input. Each output adds its terms in the order of the inputs.
#[derive(Debug, Clone)]
pub struct Product {
    inputs: usize,
    weights: Vec<f32>,
}

impl Product {
    /// The product with the matrix `weight(output, input)`.
    pub fn new(outputs: usize, inputs: usize, weight: impl Fn(usize, usize) -> f32) -> Product {
        let mut weights = Vec::with_capacity(outputs * inputs);
        let mut first = 0;
        for tile in [8, 4, 2, 1] {
            while first + tile <= outputs {
                for input in 0..inputs {
                    weights.extend((first..first + tile).map(|output| weight(output, input)));
                }
                first += tile;
            }
        }
        Product { inputs, weights }
    }

    /// `y += W·x`; x has one row an input, y one an output.
    #[inline(always)]
    pub fn add<S: Simd>(&self, simd: S, x: &[Row], y: &mut [Row]) {
        let mut rest = (&self.weights[..], y);
        rest = self.tiles::<S, 8>(simd, x, rest);
        rest = self.tiles::<S, 4>(simd, x, rest);
        rest = self.tiles::<S, 2>(simd, x, rest);
        self.tiles::<S, 1>(simd, x, rest);
    }

    /// All full tiles of N outputs; gives back what is left.
    #[inline(always)]
    fn tiles<'w, 'y, S: Simd, const N: usize>(
        &self,
        simd: S,
        x: &[Row],
        (mut weights, mut y): (&'w [f32], &'y mut [Row]),
    ) -> (&'w [f32], &'y mut [Row]) {
        while y.len() >= N {
            let (tile, other_weights) = weights.split_at(N * self.inputs);
            let (outputs, other_outputs) = y.split_at_mut(N);
            add_tile::<S, N>(simd, tile.as_chunks::<N>().0, x, outputs);
            (weights, y) = (other_weights, other_outputs);
        }
        (weights, y)
    }
}

#[inline(always)]
fn add_tile<S: Simd, const N: usize>(simd: S, weights: &[[f32; N]], x: &[Row], y: &mut [Row]) {
    for part in 0..parts::<S>() {
        let mut sums = [simd.splat_f32s(0.0); N];
        for (sum, y) in sums.iter_mut().zip(y.iter()) {
            *sum = load::<S>(y, part);
        }
        for (weights, x) in weights.iter().zip(x) {
            let x = load::<S>(x, part);
            for n in 0..N {
                sums[n] = simd.mul_add_f32s(simd.splat_f32s(weights[n]), x, sums[n]);
            }
        }
        for (sum, y) in sums.into_iter().zip(y.iter_mut()) {
            store::<S>(y, part, sum);
        }
    }
}

/// [`Product::add`] at `steps` steps: x and y have `x_stride` and `y_stride` rows a step, of which
/// those from `x_first` and all of y's take part.
pub struct ProductPass<'a> {
    /// The matrix.
    pub product: &'a Product,
    /// Inputs of all steps.
    pub x: &'a [Row],
    /// Rows of `x` a step.
    pub x_stride: usize,
    /// Outputs of all steps.
    pub y: &'a mut [Row],
    /// Rows of `y` a step.
    pub y_stride: usize,
}

impl WithSimd for ProductPass<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let steps = self.x.chunks(self.x_stride);
        for (x, y) in steps.zip(self.y.chunks_exact_mut(self.y_stride)) {
            self.product.add(simd, &x[..self.product.inputs], y);
        }
    }
}

/// The sum over steps and lanes of d ⊗ x: the gradient of a matrix of shape `[d rows, x rows]`.
pub struct OuterPass<'a> {
    /// Gradients with respect to the outputs: at each step those from row `d_first`, `d_rows` of
    /// `d_stride`.
    pub d: &'a [Row],
    /// Rows of `d` a step.
    pub d_stride: usize,
    /// First and last row that takes part.
    pub d_rows: std::ops::Range<usize>,
    /// Inputs of all steps.
    pub x: &'a [Row],
    /// Rows of `x` a step.
    pub x_stride: usize,
    /// First and last row that takes part.
    pub x_rows: std::ops::Range<usize>,
    /// Steps.
    pub steps: usize,
    /// Called with (row of d, row of x, sum).
    pub sink: &'a mut dyn FnMut(usize, usize, f32),
}

/// Rows of d and of x that a tile of [`OuterPass`] holds in registers.
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
    /// Sums of one tile; rows past the end repeat the last one.
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
