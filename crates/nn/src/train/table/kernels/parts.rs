//! Gradients of the parameters: sums over the rows of all shards, a part of the parameters at a
//! time.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::first::{Entry, Inputs, NONE};
use super::shard::Shard;
use super::{SHARD, Weights};
use crate::fnn::Network;
use crate::lanes::{LANES, Row, dispatch, load, parts, store};

/// The number of inputs in a part.
const INPUTS: usize = 32;

/// Some parameters that lie together: rows of one matrix.
pub(super) struct Part {
    /// The number of rows of the matrix.
    pub rows: usize,
    /// The number of numbers in a row.
    pub outputs: usize,
    kind: Kind,
}

/// The kind of parameters of which the gradients are summed. Those of the first layer that belong
/// to protected attributes have other gradients in certified training.
enum Kind {
    /// Rows of a weight for inputs that are numbers, from `first` on.
    Inputs {
        depth: usize,
        first: usize,
        is_protected: bool,
    },
    /// Rows of the first weight, from `row` on, for the levels of an attribute.
    Levels {
        place: usize,
        row: usize,
        is_protected: bool,
    },
    /// The vectors of an embedded attribute.
    Table {
        place: usize,
        inner: usize,
        is_protected: bool,
    },
    /// A layer's biases.
    Bias { depth: usize },
}

/// Returns all parameters of `network` in the order of [`flat`](super::super::parameters::flat).
pub(super) fn list(network: &Network, inputs: &Inputs) -> Vec<Part> {
    let mut all = Vec::new();
    for column in &inputs.columns {
        if let Entry::Embedded { place, inner, .. } = column.entry {
            all.push(Part {
                rows: column.levels,
                outputs: column.rows,
                kind: Kind::Table {
                    place,
                    inner,
                    is_protected: column.is_protected,
                },
            });
        }
    }
    for (depth, layer) in network.layers.iter().enumerate() {
        let outputs = layer.outputs;
        match depth {
            0 => first_layer(inputs, outputs, &mut all),
            _ => push_inputs((depth, outputs), 0..layer.inputs, false, &mut all),
        }
        all.push(Part {
            rows: 1,
            outputs,
            kind: Kind::Bias { depth },
        });
    }
    all
}

/// Adds the parts of the first layer's weight: attributes whose inputs are numbers go together.
fn first_layer(inputs: &Inputs, outputs: usize, all: &mut Vec<Part>) {
    let mut open: Option<(Range<usize>, bool)> = None;
    for column in &inputs.columns {
        let is_protected = column.is_protected;
        let number = match column.entry {
            Entry::Scaled { number, .. } | Entry::Embedded { number, .. } => number,
            Entry::Levelled { place } => {
                if let Some((numbers, is_protected)) = open.take() {
                    push_inputs((0, outputs), numbers, is_protected, all);
                }
                all.push(Part {
                    rows: column.rows,
                    outputs,
                    kind: Kind::Levels {
                        place,
                        row: column.row,
                        is_protected,
                    },
                });
                continue;
            }
        };
        open = match open.take() {
            Some((numbers, same)) if same == is_protected => {
                Some((numbers.start..number + column.rows, same))
            }
            others => {
                if let Some((numbers, is_protected)) = others {
                    push_inputs((0, outputs), numbers, is_protected, all);
                }
                Some((number..number + column.rows, is_protected))
            }
        };
    }
    if let Some((numbers, is_protected)) = open {
        push_inputs((0, outputs), numbers, is_protected, all);
    }
}

/// Adds the parts of the rows of a weight for inputs that are `numbers`.
fn push_inputs(
    (depth, outputs): (usize, usize),
    numbers: Range<usize>,
    is_protected: bool,
    all: &mut Vec<Part>,
) {
    let firsts = numbers.clone().step_by(INPUTS);
    all.extend(firsts.map(|first| Part {
        rows: numbers.end.min(first + INPUTS) - first,
        outputs,
        kind: Kind::Inputs {
            depth,
            first,
            is_protected,
        },
    }));
}

impl Part {
    /// Sums the gradients of these parameters over all rows.
    pub fn sum(&self, weights: &Weights<'_>, shards: &[Shard], place: &mut [f32]) {
        match self.kind {
            Kind::Inputs {
                depth,
                first,
                is_protected,
            } => self.sum_inputs(weights, shards, (depth, first, is_protected), place),
            Kind::Levels {
                place: attribute,
                row,
                is_protected,
            } => {
                place.fill(0.0);
                let levelled = weights.inputs.levelled;
                for shard in shards {
                    let lines = shard.lines_of(weights, 0, is_protected);
                    for item in 0..shard.count {
                        let levels = &shard.levels[item / LANES * levelled + attribute];
                        let level = levels[item % LANES];
                        if level != NONE {
                            let start = (level as usize - row) * self.outputs;
                            add_line(lines, item, &mut place[start..][..self.outputs]);
                        }
                    }
                }
            }
            Kind::Table {
                place: attribute,
                inner,
                is_protected,
            } => {
                place.fill(0.0);
                let (vectors, width) = (weights.inputs.vectors, weights.inputs.embedded.len());
                for shard in shards {
                    let gradients = shard.inner_of(weights, is_protected);
                    for item in 0..shard.count {
                        let (block, lane) = (item / LANES, item % LANES);
                        let level = shard.vectors[block * vectors + attribute][lane];
                        if level != NONE {
                            let vector = &mut place[level as usize * self.outputs..];
                            let rows = &gradients[block * width + inner..][..self.outputs];
                            for (sum, row) in vector.iter_mut().zip(rows) {
                                *sum += row.0[lane];
                            }
                        }
                    }
                }
            }
            Kind::Bias { depth } => {
                place.fill(0.0);
                for shard in shards {
                    let own = [shard.lines_of(weights, depth, false)];
                    for lines in own.into_iter().chain(shard.middle_lines(weights, depth)) {
                        let mut sums = vec![0.0; self.outputs];
                        for item in 0..shard.count {
                            add_line(lines, item, &mut sums);
                        }
                        place
                            .iter_mut()
                            .zip(&sums)
                            .for_each(|(all, sum)| *all += sum);
                    }
                }
            }
        }
    }

    /// Sums the gradients of rows of a weight whose inputs are numbers.
    fn sum_inputs(
        &self,
        weights: &Weights<'_>,
        shards: &[Shard],
        (depth, first, is_protected): (usize, usize, bool),
        place: &mut [f32],
    ) {
        let stride = match depth {
            0 => weights.inputs.numbers.len(),
            _ => weights.layers[depth].inputs,
        };
        let inputs = first..first + self.rows;
        let outer = |sources: Vec<Source<'_>>, sums: &mut [f32]| {
            dispatch(OuterPass {
                sources: &sources,
                inputs: inputs.clone(),
                outputs: self.outputs,
                sums,
            });
        };
        let mut sources = Vec::with_capacity(shards.len());
        for shard in shards {
            let source = |x, lines| Source {
                x: (x, stride),
                lines,
                count: shard.count,
            };
            let own = shard.lines_of(weights, depth, is_protected);
            sources.push(source(shard.entering(depth), own));
            if let (Some(lines), Some(worst)) = (shard.middle_lines(weights, depth), &shard.worst) {
                sources.push(source(worst.middles(depth), lines));
            }
        }
        outer(sources, place);
        let Some(worst) = weights.worst.as_ref().filter(|_| depth > 0) else {
            return;
        };
        let mut sums = vec![0.0; place.len()];
        for half in 0..worst.halves(depth) {
            let sources = shards.iter().filter_map(|shard| {
                let worst = shard.worst.as_ref()?;
                let (x, lines) = worst.halves(depth, half);
                Some(Source {
                    x: (x, stride),
                    lines,
                    count: shard.count,
                })
            });
            outer(sources.collect(), &mut sums);
            worst.add_halves(&weights.layers[depth], (depth, half), first, &sums, place);
        }
    }
}

/// Adds the line of row `item` to `sums`.
#[inline]
fn add_line(lines: &[Row], item: usize, sums: &mut [f32]) {
    for (line, sums) in sums.chunks_mut(LANES).enumerate() {
        let numbers = &lines[line * SHARD + item].0;
        sums.iter_mut()
            .zip(numbers)
            .for_each(|(sum, number)| *sum += number);
    }
}

/// Rows of one shard.
pub(super) struct Source<'a> {
    /// The inputs of the rows, `[blocks, stride]`.
    pub x: (&'a [Row], usize),
    /// The gradients of the rows, in lines.
    pub lines: &'a [Row],
    /// The number of rows.
    pub count: usize,
}

/// A task that computes for inputs i and outputs o the sums of x_i·δ_o over all rows: `[inputs,
/// outputs]`.
pub(super) struct OuterPass<'a> {
    pub sources: &'a [Source<'a>],
    pub inputs: Range<usize>,
    pub outputs: usize,
    pub sums: &'a mut [f32],
}

impl WithSimd for OuterPass<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        // As many sums as there are registers for, beside what is added to them.
        match parts::<S>() {
            1 => self.tiles::<S, 8, 1>(simd),
            _ => self.tiles::<S, 4, 2>(simd),
        }
    }
}

impl OuterPass<'_> {
    /// Computes all tiles of N inputs and a line of outputs, P registers of the line at a time.
    #[inline(always)]
    fn tiles<S: Simd, const N: usize, const P: usize>(self, simd: S) {
        for (line, output) in (0..self.outputs).step_by(LANES).enumerate() {
            let width = LANES.min(self.outputs - output);
            for first in self.inputs.clone().step_by(N) {
                let count = N.min(self.inputs.end - first);
                let mut sums = [Row::ZERO; N];
                for source in self.sources {
                    for part in (0..parts::<S>()).step_by(P) {
                        if part * S::F32_LANES < width {
                            let inputs = (first, first + count - 1);
                            add_tile::<S, N, P>(simd, source, inputs, (line, part), &mut sums);
                        }
                    }
                }
                for (i, sums) in sums[..count].iter().enumerate() {
                    let row = first + i - self.inputs.start;
                    let place = &mut self.sums[row * self.outputs + output..][..width];
                    place.copy_from_slice(&sums.0[..width]);
                }
            }
        }
    }
}

/// Adds the rows of one source to the sums of N inputs (past the last input the last one again) and
/// registers `part` to `part + P` of a line.
#[inline(always)]
fn add_tile<S: Simd, const N: usize, const P: usize>(
    simd: S,
    source: &Source<'_>,
    (first, last): (usize, usize),
    (line, part): (usize, usize),
    sums: &mut [Row; N],
) {
    let (x, stride) = source.x;
    let lines = &source.lines[line * SHARD..][..source.count];
    let mut tile = [[simd.splat_f32s(0.0); P]; N];
    for (block, lines) in lines.chunks(LANES).enumerate() {
        let x = &x[block * stride..][..stride];
        let mut inputs = [&x[first].0; N];
        for (i, input) in inputs.iter_mut().enumerate() {
            *input = &x[(first + i).min(last)].0;
        }
        for (lane, line) in lines.iter().enumerate() {
            let mut delta = [simd.splat_f32s(0.0); P];
            for (p, delta) in delta.iter_mut().enumerate() {
                *delta = load::<S>(line, part + p);
            }
            for i in 0..N {
                let input = simd.splat_f32s(inputs[i][lane]);
                for p in 0..P {
                    tile[i][p] = simd.mul_add_f32s(input, delta[p], tile[i][p]);
                }
            }
        }
    }
    for (sums, tile) in sums.iter_mut().zip(tile) {
        for (p, value) in tile.into_iter().enumerate() {
            let sum = simd.add_f32s(load::<S>(sums, part + p), value);
            store::<S>(sums, part + p, sum);
        }
    }
}
