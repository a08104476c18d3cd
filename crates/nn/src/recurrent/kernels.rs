//! The kernels of a whole network, and its logits.
//!
//! Blocks of texts run in parallel; within a block one layer after another runs over all steps.
//! Each text's numbers are computed in its own lane by the same operations in the same order
//! whatever else is in the batch, so that neither batch, position, padding nor threads change a
//! bit.

use std::sync::OnceLock;

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::block::{Block, Keep, Workspace, by_length, grow};
use super::layer::{Direction, Run, Source};
use super::network::{RecurrentWeights, Shape};
use crate::lanes::{LANES, Product, ProductPass, Row, dispatch};

/// The most numbers (128 MiB) of the tables of the first layer's products with all embeddings, in
/// each direction; beyond, the products are computed token by token, with the same bits.
const LARGEST_TABLE: usize = 1 << 25;

/// The embeddings of all tokens.
#[derive(Debug, Clone, Copy)]
pub struct EmbeddingTable<'a> {
    /// The embeddings, row-major `[tokens, dimension]`.
    pub values: &'a [f32],
    /// The length of a vector.
    pub dimension: usize,
}

impl EmbeddingTable<'_> {
    /// The number of tokens.
    pub fn tokens(&self) -> usize {
        self.values.len().checked_div(self.dimension).unwrap_or(0)
    }
}

/// A network's weights in the order in which the kernels read them.
///
/// Tokens are given as ids below the number of embeddings, which the caller has checked.
#[derive(Debug)]
pub struct Kernels {
    pub(super) shape: Shape,
    /// The weights, `[layers][directions]`.
    pub(super) layers: Vec<Vec<Direction>>,
    pub(super) head: Product,
    pub(super) head_bias: Vec<f32>,
    /// The transposed product of `head`.
    pub(super) from_head: Product,
    /// The first layer's products with every embedding, direction by direction.
    projected: OnceLock<Vec<Vec<f32>>>,
}

impl Kernels {
    /// Lays out `weights`.
    pub fn new(weights: &RecurrentWeights) -> Kernels {
        let shape = weights.shape;
        let (weight, bias) = weights.head();
        let outputs = shape.outputs();
        let direction = |layer, direction| Direction::new(weights, layer, direction);
        Kernels {
            shape,
            layers: (0..shape.layers)
                .map(|layer| {
                    (0..shape.directions())
                        .map(|d| direction(layer, d))
                        .collect()
                })
                .collect(),
            head: Product::new(shape.classes, outputs, |class, i| {
                weight[class * outputs + i]
            }),
            head_bias: bias.to_vec(),
            from_head: Product::new(outputs, shape.classes, |i, class| {
                weight[class * outputs + i]
            }),
            projected: OnceLock::new(),
        }
    }

    /// Computes the logits of `texts`, row-major `[texts, classes]`.
    pub fn logits(&self, table: EmbeddingTable<'_>, texts: &[&[i32]]) -> Vec<f32> {
        let projected = self.projected(table);
        self.blocks(texts.len(), &|item| texts[item], |workspace, block| {
            workspace.prepare(&self.shape, block.steps, Keep::Last);
            self.forward(workspace, block, table, projected, Keep::Last);
            self.head(workspace)
        })
    }

    /// Computes [`Kernels::logits`] without the table of products.
    #[cfg(test)]
    pub(super) fn logits_without_table(
        &self,
        table: EmbeddingTable<'_>,
        texts: &[&[i32]],
    ) -> Vec<f32> {
        self.blocks(texts.len(), &|item| texts[item], |workspace, block| {
            workspace.prepare(&self.shape, block.steps, Keep::Last);
            self.forward(workspace, block, table, None, Keep::Last);
            self.head(workspace)
        })
    }

    /// Runs `work` on every block in parallel, with memory that blocks of a thread share; it gives
    /// a row a class. Returns the numbers text by text, `[texts, classes]`.
    pub(super) fn blocks<'t>(
        &self,
        texts: usize,
        text: &(dyn Fn(usize) -> &'t [i32] + Sync),
        work: impl Fn(&mut Workspace, &Block<'_, '_>) -> Vec<Row> + Sync,
    ) -> Vec<f32> {
        let order = by_length(texts, text);
        let classes = self.shape.classes;
        let rows: Vec<Vec<Row>> = order
            .par_chunks(LANES)
            .map_init(Workspace::default, |workspace, items| {
                work(workspace, &Block::new(items, text))
            })
            .collect();
        let mut logits = vec![0.0; texts * classes];
        for (items, rows) in order.chunks(LANES).zip(rows) {
            for (lane, &item) in items.iter().enumerate() {
                let line = &mut logits[item as usize * classes..][..classes];
                for (value, row) in line.iter_mut().zip(&rows) {
                    *value = row.0[lane];
                }
            }
        }
        logits
    }

    /// Returns the first layer's products with all embeddings, made at the first call; `None` when
    /// they would be too many.
    pub(super) fn projected(&self, table: EmbeddingTable<'_>) -> Option<&[Vec<f32>]> {
        let first = self.layers.first()?;
        let width = first.first()?.input_rows().len();
        if width * table.tokens() > LARGEST_TABLE {
            return None;
        }
        let tables = self.projected.get_or_init(|| {
            let project = |direction: &Direction| project(direction, table);
            first.iter().map(project).collect()
        });
        Some(tables)
    }

    /// Runs all layers over a block, from the states in `workspace`. Without `projected` the
    /// embeddings at each position are laid out in `workspace.embedded`.
    pub(super) fn forward(
        &self,
        workspace: &mut Workspace,
        block: &Block<'_, '_>,
        table: EmbeddingTable<'_>,
        projected: Option<&[Vec<f32>]>,
        keep: Keep,
    ) {
        let inputs = self.shape.inputs;
        if projected.is_none() {
            grow(&mut workspace.embedded, block.steps * inputs);
            let steps = workspace.embedded.chunks_exact_mut(inputs.max(1));
            for (t, rows) in steps.take(block.steps).enumerate() {
                block.gather(t, table.values, rows);
            }
        }
        for (layer, directions) in self.layers.iter().enumerate() {
            let (below, above) = workspace.layers.split_at_mut(layer);
            let trace = &mut above[0];
            for (d, direction) in directions.iter().enumerate() {
                let source = match (below.last(), projected) {
                    (Some(below), _) => Source::Values(&below.outputs),
                    (None, Some(tables)) => Source::Projected(&tables[d]),
                    (None, None) => Source::Values(&workspace.embedded),
                };
                let run = Run {
                    block,
                    trace: &mut trace.directions[d],
                    stride: self.shape.outputs(),
                    offset: d * self.shape.units,
                };
                direction.forward(run, source, keep, &mut trace.outputs);
            }
        }
    }

    /// Computes the logits of a block from the last states: a row a class.
    pub(super) fn head(&self, workspace: &Workspace) -> Vec<Row> {
        let mut logits: Vec<Row> = self
            .head_bias
            .iter()
            .map(|&bias| Row::splat(bias))
            .collect();
        let last = last_states(workspace);
        dispatch(ProductPass {
            product: &self.head,
            x: &last,
            x_stride: last.len(),
            y: &mut logits,
        });
        logits
    }
}

/// Returns the last hidden states of the last layer, direction beside direction.
pub(super) fn last_states(workspace: &Workspace) -> Vec<Row> {
    let directions = workspace.layers.iter().last();
    let directions = directions.iter().flat_map(|layer| &layer.directions);
    directions
        .flat_map(|trace| trace.hidden.iter().copied())
        .collect()
}

/// Computes bias plus input product of every embedding: `[tokens, input gate rows]`.
pub(super) fn project(direction: &Direction, table: EmbeddingTable<'_>) -> Vec<f32> {
    let width = direction.input_rows().len();
    let mut projected = vec![0.0; table.tokens() * width];
    projected
        .par_chunks_mut(LANES * width)
        .zip(table.values.par_chunks(LANES * table.dimension))
        .for_each(|(lines, embeddings)| dispatch(Project(direction, embeddings, lines)));
    projected
}

/// The task that turns sixteen tokens' embeddings into lines of the projected table.
struct Project<'a>(&'a Direction, &'a [f32], &'a mut [f32]);

impl WithSimd for Project<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Project(direction, embeddings, lines) = self;
        let rows = direction.input_rows();
        let width = rows.len();
        let mut x = vec![Row::ZERO; direction.inputs];
        for (lane, embedding) in embeddings.chunks_exact(direction.inputs).enumerate() {
            for (row, &value) in x.iter_mut().zip(embedding) {
                row.0[lane] = value;
            }
        }
        let mut y: Vec<Row> = direction.bias[rows]
            .iter()
            .map(|&bias| Row::splat(bias))
            .collect();
        direction.products.input.add(simd, &x, &mut y);
        for (lane, line) in lines.chunks_exact_mut(width).enumerate() {
            for (value, row) in line.iter_mut().zip(&y) {
                *value = row.0[lane];
            }
        }
    }
}
