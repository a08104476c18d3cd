//! The loss by plain loops in 64 bits, one row after the other.

use super::*;

/// The parameters in 64 bits.
struct Plain<'a> {
    loss: &'a Loss<'a>,
    tables: Vec<&'a [f64]>,
    /// The weight and bias of each layer.
    layers: Vec<[&'a [f64]; 2]>,
}

pub fn loss(loss: &Loss<'_>, batch: &Batch<'_>, mut values: &[f64]) -> f64 {
    let mut take = |count: usize| {
        let (piece, rest) = values.split_at(count);
        values = rest;
        piece
    };
    let tables = loss.network.embeddings.iter();
    let tables = tables.map(|table| take(table.values.len())).collect();
    let layers = loss.network.layers.iter();
    let layers = layers
        .map(|layer| [take(layer.weight.len()), take(layer.bias.len())])
        .collect();
    let plain = Plain {
        loss,
        tables,
        layers,
    };
    let masks = masks(loss, batch);
    let rows = batch.rows.iter().zip(&batch.weights).enumerate();
    rows.map(|(item, (&row, &weight))| {
        let codes = loss.table.row(row as usize);
        let mask = |depth: usize, unit: usize, width: usize| match masks.is_empty() {
            true => 1.0,
            false => {
                let (shard, row) = (item / loss.shard, item % loss.shard);
                f64::from(masks[shard][depth][row * width + unit])
            }
        };
        let outputs = plain.outputs(plain.first(codes, &[]), mask);
        let own = of_outputs(&outputs, batch, item);
        let kappa = batch.worst.map_or(0.0, |worst| f64::from(worst.kappa));
        let worst = batch
            .worst
            .map_or(0.0, |worst| plain.worst(codes, worst, batch, item));
        f64::from(weight) * ((1.0 - kappa) * own + kappa * worst)
    })
    .sum()
}

fn of_outputs(outputs: &[f64], batch: &Batch<'_>, item: usize) -> f64 {
    match &batch.targets {
        Targets::Classes(labels) => {
            let total: f64 = outputs.iter().map(|output| output.exp()).sum();
            total.ln() - outputs[labels[item] as usize]
        }
        Targets::Numbers(numbers) => (outputs[1] - f64::from(numbers[item])).powi(2),
    }
}

fn activated(activation: Activation, x: f64) -> f64 {
    match activation {
        Activation::Relu => x.max(0.0),
        Activation::Tanh => x.tanh(),
        Activation::Sigmoid => 1.0 / (1.0 + (-x).exp()),
    }
}

impl Plain<'_> {
    /// Computes what a code of an attribute adds to the first layer's sums.
    fn added(&self, attribute: usize, code: i32) -> Vec<f64> {
        let layout = &self.loss.network.layout;
        let outputs = self.loss.network.layers[0].outputs;
        let span = &layout.spans()[attribute];
        let before = &layout.spans()[..attribute];
        let row: usize = before.iter().map(|span| span.layer_inputs()).sum();
        let at = |input: usize, output: usize| self.layers[0][0][(row + input) * outputs + output];
        let level = (code - span.min) as usize;
        let of_output = |output: usize| match span.encoding {
            Encoding::Scaled { mean, deviation } => {
                (f64::from(code) - f64::from(mean)) / f64::from(deviation) * at(0, output)
            }
            Encoding::OneHot => at(level, output),
            Encoding::Embedded { dimension } => {
                let embedded = |span: &&crate::encoding::Span| {
                    matches!(span.encoding, Encoding::Embedded { .. })
                };
                let table = self.tables[before.iter().filter(embedded).count()];
                let vector = &table[level * dimension..][..dimension];
                let terms = vector.iter().enumerate();
                terms.map(|(i, value)| value * at(i, output)).sum()
            }
        };
        (0..outputs).map(of_output).collect()
    }

    /// Computes the first layer's sums without some attributes.
    fn first(&self, codes: &[i32], without: &[usize]) -> Vec<f64> {
        let mut sums = self.layers[0][1].to_vec();
        for (attribute, &code) in codes.iter().enumerate() {
            if !without.contains(&attribute) {
                let added = self.added(attribute, code);
                sums.iter_mut()
                    .zip(added)
                    .for_each(|(sum, value)| *sum += value);
            }
        }
        sums
    }

    /// Computes the outputs that follow from the first layer's sums.
    fn outputs(&self, first: Vec<f64>, mask: impl Fn(usize, usize, usize) -> f64) -> Vec<f64> {
        let activation = self.loss.network.activation;
        let mut sums = first;
        for (depth, [weight, bias]) in self.layers.iter().enumerate().skip(1) {
            let width = sums.len();
            for (unit, value) in sums.iter_mut().enumerate() {
                *value = activated(activation, *value) * mask(depth - 1, unit, width);
            }
            sums = product(weight, bias, &sums, |weight| weight);
        }
        sums
    }

    fn worst(&self, codes: &[i32], worst: Worst<'_>, batch: &Batch<'_>, item: usize) -> f64 {
        let activation = self.loss.network.activation;
        let own = self.first(codes, &[]);
        let rest = self.first(codes, &worst.case.protected);
        let mut bounds = [rest.clone(), rest];
        for &attribute in &worst.case.protected {
            let span = &self.loss.network.layout.spans()[attribute];
            let levels = (0..span.levels as i32).map(|level| span.min + level);
            let all: Vec<Vec<f64>> = levels.map(|code| self.added(attribute, code)).collect();
            for output in 0..own.len() {
                let of_levels = || all.iter().map(|added| added[output]);
                bounds[0][output] += of_levels().fold(f64::INFINITY, f64::min);
                bounds[1][output] += of_levels().fold(f64::NEG_INFINITY, f64::max);
            }
        }
        for bound in &mut bounds {
            for (bound, own) in bound.iter_mut().zip(&own) {
                *bound = own + (*bound - own) * f64::from(worst.radius);
            }
        }
        let last = self.layers.len() - 1;
        for (depth, [weight, bias]) in self.layers.iter().enumerate().skip(1) {
            let ends = bounds.map(|bound| -> Vec<f64> {
                bound
                    .iter()
                    .map(|&value| activated(activation, value))
                    .collect()
            });
            let of_ends = |sign: f64| -> Vec<f64> {
                let ends = ends[0].iter().zip(&ends[1]);
                ends.map(|(low, high)| (high + sign * low) / 2.0).collect()
            };
            let (middle, half) = (of_ends(1.0), of_ends(-1.0));
            if let (true, Targets::Classes(labels)) = (depth == last, &batch.targets) {
                let label = labels[item] as usize;
                let classes = bias.len();
                let of_class = |class: usize| -> f64 {
                    let lines = weight.chunks_exact(classes);
                    let apart = lines.map(|line| line[class] - line[label]);
                    let terms = apart.zip(middle.iter().zip(&half));
                    let leads = terms.map(|(w, (m, h))| w * m + w.abs() * h);
                    leads.sum::<f64>() + bias[class] - bias[label]
                };
                let leads: Vec<f64> = (0..classes).map(of_class).collect();
                return of_outputs(&leads, batch, item);
            }
            let middle = product(weight, bias, &middle, |weight| weight);
            let half = product(weight, &vec![0.0; bias.len()], &half, f64::abs);
            bounds = [-1.0, 1.0].map(|sign| {
                let sums = middle.iter().zip(&half);
                sums.map(|(middle, half)| middle + sign * half).collect()
            });
        }
        match &batch.targets {
            Targets::Classes(labels) => {
                let label = labels[item] as usize;
                let mut logits = bounds[1].clone();
                logits[label] = bounds[0][label];
                of_outputs(&logits, batch, item)
            }
            Targets::Numbers(_) => {
                let of_bounds = bounds.map(|bound| of_outputs(&bound, batch, item));
                of_bounds[0].max(of_bounds[1])
            }
        }
    }
}

fn product(weight: &[f64], bias: &[f64], x: &[f64], of: impl Fn(f64) -> f64) -> Vec<f64> {
    let mut sums = bias.to_vec();
    for (value, weights) in x.iter().zip(weight.chunks_exact(bias.len())) {
        for (sum, &weight) in sums.iter_mut().zip(weights) {
            *sum += value * of(weight);
        }
    }
    sums
}
