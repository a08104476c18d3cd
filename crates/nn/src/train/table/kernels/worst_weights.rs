//! The weights of certified training's worst case in a step: the hull of the protected attributes,
//! products with magnitudes, and the gradients that they gain.

use super::first::{Column, Entry, Inputs};
use super::{Layer, Weights};
use crate::lanes::Product;
use crate::train::table::loss::Worst;

/// The weights that the worst case derives from the parameters of a step.
pub(super) struct WorstWeights {
    pub kappa: f32,
    pub radius: f32,
    /// The least and the most that the protected attributes add to the first layer's sums.
    pub hull: [Vec<f32>; 2],
    /// The levels at which each protected attribute adds the least and the most: a level for each
    /// output.
    ends: Vec<[Vec<u32>; 2]>,
    /// The products with magnitudes of every layer but the first: |W| or, in the last layer before
    /// classes, |W − W_y| for each class y.
    pub magnitudes: Vec<Vec<Magnitudes>>,
    /// Whether the last layer's outputs are classes.
    has_classes: bool,
}

/// Products with a matrix of magnitudes, forward and transposed.
pub(super) struct Magnitudes {
    pub forward: Product,
    pub backward: Product,
}

impl WorstWeights {
    /// Derives the weights from the parameters; `classes` is 0 where the outputs are numbers.
    pub fn new(
        worst: Worst<'_>,
        inputs: &Inputs,
        tables: &[&[f32]],
        layers: &[Layer<'_>],
        classes: usize,
    ) -> WorstWeights {
        let first = &layers[0];
        let mut hull = [vec![0.0; first.outputs], vec![0.0; first.outputs]];
        let mut ends = Vec::new();
        for column in inputs.columns.iter().filter(|column| column.is_protected) {
            let mut of_column = [vec![0; first.outputs], vec![0; first.outputs]];
            for output in 0..first.outputs {
                let mut found = [(f32::INFINITY, 0), (f32::NEG_INFINITY, 0)];
                for level in column.turning_levels() {
                    let added = column.adds(first, tables, level, output);
                    if added < found[0].0 {
                        found[0] = (added, level as u32);
                    }
                    if added > found[1].0 {
                        found[1] = (added, level as u32);
                    }
                }
                for (end, (added, level)) in found.into_iter().enumerate() {
                    hull[end][output] += added;
                    of_column[end][output] = level;
                }
            }
            ends.push(of_column);
        }
        let last = layers.len() - 1;
        let magnitudes = layers.iter().enumerate().skip(1).map(|(depth, layer)| {
            let at = |input: usize, output: usize| layer.weight[input * layer.outputs + output];
            let of = |magnitude: &dyn Fn(usize, usize) -> f32| Magnitudes {
                forward: Product::new(layer.outputs, layer.inputs, |o, i| magnitude(i, o)),
                backward: Product::new(layer.inputs, layer.outputs, magnitude),
            };
            match depth == last && classes > 0 {
                true => (0..classes)
                    .map(|class| of(&|i, o| (at(i, o) - at(i, class)).abs()))
                    .collect(),
                false => vec![of(&|i, o| at(i, o).abs())],
            }
        });
        WorstWeights {
            kappa: worst.kappa,
            radius: worst.radius,
            hull,
            ends,
            magnitudes: magnitudes.collect(),
            has_classes: classes > 0,
        }
    }

    /// The number of products with magnitudes in layer `depth`, from 1.
    pub fn halves(&self, depth: usize) -> usize {
        self.magnitudes[depth - 1].len()
    }

    /// Whether each of the products of layer `depth` is of a class.
    pub fn by_class(&self, depth: usize) -> bool {
        self.has_classes && depth == self.magnitudes.len()
    }

    /// Adds the gradients that `sums`, of product `half` of layer `depth`, give for its weight: for
    /// rows from `first` on, `[rows, outputs]`.
    pub fn add_halves(
        &self,
        layer: &Layer<'_>,
        (depth, half): (usize, usize),
        first: usize,
        sums: &[f32],
        gradient: &mut [f32],
    ) {
        let outputs = layer.outputs;
        let weights = layer.weight[first * outputs..].chunks_exact(outputs);
        let rows = sums
            .chunks_exact(outputs)
            .zip(gradient.chunks_exact_mut(outputs));
        for ((sums, gradient), weights) in rows.zip(weights) {
            for (output, (&sum, &weight)) in sums.iter().zip(weights).enumerate() {
                match self.by_class(depth) {
                    true => {
                        let signed = sum * sign(weight - weights[half]);
                        gradient[output] += signed;
                        gradient[half] -= signed;
                    }
                    false => gradient[output] += sum * sign(weight),
                }
            }
        }
    }

    /// Adds the gradients that the hull gains to those of all parameters; `gained` returns the
    /// gradient at an end, of an output.
    pub fn add_hull(
        &self,
        weights: &Weights<'_>,
        gained: impl Fn(usize, usize) -> f32,
        gradient: &mut [f32],
    ) {
        let outputs = weights.layers[0].outputs;
        let of_tables: Vec<usize> = weights
            .tables
            .iter()
            .scan(0, |start, table| {
                let own = *start;
                *start += table.len();
                Some(own)
            })
            .collect();
        let of_weight: usize = weights.tables.iter().map(|table| table.len()).sum();
        let columns = weights.inputs.columns.iter();
        let protected = columns.filter(|column| column.is_protected);
        for (column, ends) in protected.zip(&self.ends) {
            for (end, levels) in ends.iter().enumerate() {
                for (output, &level) in levels.iter().enumerate() {
                    let gained = gained(end, output) * self.radius;
                    let level = level as usize;
                    let row = |row: usize| of_weight + (column.row + row) * outputs + output;
                    match column.entry {
                        Entry::Scaled { .. } => gradient[row(0)] += gained * column.scaled(level),
                        Entry::Levelled { .. } => gradient[row(level)] += gained,
                        Entry::Embedded { place, .. } => {
                            for i in 0..column.rows {
                                let own = level * column.rows + i;
                                gradient[row(i)] += gained * weights.tables[place][own];
                                let weight =
                                    weights.layers[0].weight[(column.row + i) * outputs + output];
                                gradient[of_tables[place] + own] += gained * weight;
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns −1, 0 or 1, as burn's derivative of the magnitude has it.
fn sign(value: f32) -> f32 {
    match value == 0.0 {
        true => 0.0,
        false => value.signum(),
    }
}

impl Column {
    /// Returns the levels that can add least or most: for numbers the first and the last.
    fn turning_levels(&self) -> impl Iterator<Item = usize> {
        let step = match self.entry {
            Entry::Scaled { .. } => (self.levels - 1).max(1),
            _ => 1,
        };
        (0..self.levels).step_by(step)
    }

    /// Returns the number of a level of a scaled attribute.
    fn scaled(&self, level: usize) -> f32 {
        match self.entry {
            Entry::Scaled { mean, inverse, .. } => {
                (self.min.saturating_add(level as i32) as f32 - mean) * inverse
            }
            _ => 0.0,
        }
    }

    /// Computes what a level adds to an output of the first layer.
    fn adds(&self, first: &Layer<'_>, tables: &[&[f32]], level: usize, output: usize) -> f32 {
        let weight = |row: usize| first.weight[(self.row + row) * first.outputs + output];
        match self.entry {
            Entry::Scaled { .. } => self.scaled(level) * weight(0),
            Entry::Levelled { .. } => weight(level),
            Entry::Embedded { place, .. } => {
                let vector = &tables[place][level * self.rows..][..self.rows];
                let terms = vector.iter().enumerate();
                terms.map(|(i, value)| value * weight(i)).sum()
            }
        }
    }
}
