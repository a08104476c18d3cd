//! How fast recurrent networks are: the kernels against burn-nn's cells on flex, with one and two
//! threads, and texts that share a prefix against whole texts.
//!
//! The shape is 3 layers of 10 units over 50-d embeddings of 10,000 tokens, 512 texts of 80 tokens.
//! scripts/recurrent_benchmark.py measures PyTorch in the same shape.
//!
//! ```text
//! cargo bench --bench recurrent
//! ```

use std::hint::black_box;
use std::time::Instant;

use burn::module::Module;
use burn::nn::{Gru, GruConfig, Lstm, LstmConfig};
use burn::tensor::{Device, Tensor, TensorData};
use probity::nn::recurrent::kernels::{EmbeddingTable, Kernels};
use probity::nn::recurrent::network::{CellKind, RecurrentWeights, Shape};
use rayon::ThreadPoolBuilder;

const TEXTS: usize = 512;
const STEPS: usize = 80;
const DIMENSION: usize = 50;
const TOKENS: usize = 10_000;
const UNITS: usize = 10;
const LAYERS: usize = 3;
const CLASSES: usize = 2;
/// Repeats of the kernels and of burn-nn; the fastest counts.
const ROUNDS: usize = 20;
const BURN_ROUNDS: usize = 3;
/// Variants of a text in the comparison of shared prefixes.
const VARIANTS: usize = 40;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let table: Vec<f32> = (0..TOKENS * DIMENSION)
        .map(|i| ((i * 7919) % 1000) as f32 / 500.0 - 1.0)
        .collect();
    let tokens: Vec<i32> = (0..TEXTS * STEPS)
        .map(|i| ((i * 7907 + i / 13) % TOKENS) as i32)
        .collect();
    let under_test = UnderTest {
        table: EmbeddingTable {
            values: &table,
            dimension: DIMENSION,
        },
        texts: tokens.chunks(STEPS).collect(),
    };
    println!("| cell | threads | what | forward rows/s | input-gradient rows/s |");
    println!("|------|---------|------|----------------|-----------------------|");
    for cell in [CellKind::Lstm, CellKind::Gru] {
        for threads in [1, 2] {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build()?;
            pool.install(|| under_test.kernels(cell, threads));
            pool.install(|| under_test.burn_nn(cell, threads));
        }
    }
    println!();
    for cell in [CellKind::Lstm, CellKind::Gru] {
        under_test.prefixes(cell);
    }
    Ok(())
}

struct UnderTest<'a> {
    table: EmbeddingTable<'a>,
    texts: Vec<&'a [i32]>,
}

impl UnderTest<'_> {
    fn weights(&self, cell: CellKind) -> RecurrentWeights {
        let shape = Shape {
            cell,
            inputs: DIMENSION,
            units: UNITS,
            layers: LAYERS,
            bidirectional: false,
            classes: CLASSES,
        };
        RecurrentWeights::random(shape, 1)
    }

    fn kernels(&self, cell: CellKind, threads: usize) {
        let kernels = Kernels::new(&self.weights(cell));
        let cotangents: Vec<f32> = (0..TEXTS * CLASSES)
            .map(|i| (i % CLASSES) as f32 * 2.0 - 1.0)
            .collect();
        let forward = best_seconds(ROUNDS, || {
            black_box(kernels.logits(self.table, &self.texts));
        });
        let gradients = best_seconds(ROUNDS, || {
            black_box(kernels.input_gradients(self.table, &self.texts, &cotangents, STEPS));
        });
        report(cell, threads, "kernels", forward, gradients);
    }

    /// burn-nn's cells from embeddings that are already gathered.
    fn burn_nn(&self, cell: CellKind, threads: usize) {
        let row = |&id: &i32| &self.table.values[id as usize * DIMENSION..][..DIMENSION];
        let values: Vec<f32> = self
            .texts
            .iter()
            .copied()
            .flatten()
            .flat_map(row)
            .copied()
            .collect();
        let data = TensorData::new(values, [TEXTS, STEPS, DIMENSION]);
        let device = Device::flex();
        let plain = Layers::new(cell, &device);
        let input = Tensor::<3>::from_data(data.clone(), &device);
        let forward = best_seconds(BURN_ROUNDS, || {
            black_box(plain.last(input.clone()).into_data());
        });
        let device = device.autodiff();
        let differentiable = Layers::new(cell, &device);
        let gradients = best_seconds(BURN_ROUNDS, || {
            let input = Tensor::<3>::from_data(data.clone(), &device).require_grad();
            let all = differentiable.last(input.clone()).sum().backward();
            black_box(input.grad(&all).map(Tensor::into_data));
        });
        report(cell, threads, "burn-nn on flex", forward, gradients);
    }

    /// Variants of every text that differ from it in one token, anywhere in it.
    fn prefixes(&self, cell: CellKind) {
        let kernels = Kernels::new(&self.weights(cell));
        let texts = &self.texts[..64];
        let mut whole: Vec<Vec<i32>> = Vec::new();
        for &text in texts {
            whole.push(text.to_vec());
            for variant in 0..VARIANTS {
                let mut changed = text.to_vec();
                let token = &mut changed[variant * STEPS / VARIANTS];
                *token = (*token + 1) % TOKENS as i32;
                whole.push(changed);
            }
        }
        let whole: Vec<&[i32]> = whole.iter().map(Vec::as_slice).collect();
        let without = best_seconds(ROUNDS, || {
            black_box(kernels.logits(self.table, &whole));
        });
        let with = best_seconds(ROUNDS, || {
            black_box(kernels.logits_sharing_prefixes(self.table, &whole));
        });
        let checks = texts.len() as f64;
        println!(
            "{cell:?}: checks of {VARIANTS} variants each: {:.0} a second on whole texts, {:.0} with shared prefixes",
            checks / without,
            checks / with
        );
    }
}

/// Stacked cells of burn-nn.
enum Layers {
    Lstm(Vec<Lstm>),
    Gru(Vec<Gru>),
}

impl Layers {
    fn new(cell: CellKind, device: &Device) -> Layers {
        let inputs = (0..LAYERS).map(|layer| if layer == 0 { DIMENSION } else { UNITS });
        match cell {
            CellKind::Lstm => Layers::Lstm(
                inputs
                    .map(|inputs| LstmConfig::new(inputs, UNITS, true).init(device).no_grad())
                    .collect(),
            ),
            CellKind::Gru => Layers::Gru(
                inputs
                    .map(|inputs| GruConfig::new(inputs, UNITS, true).init(device).no_grad())
                    .collect(),
            ),
        }
    }

    /// Last hidden states.
    fn last(&self, input: Tensor<3>) -> Tensor<3> {
        let output = match self {
            Layers::Lstm(layers) => layers
                .iter()
                .fold(input, |values, layer| layer.forward(values, None).0),
            Layers::Gru(layers) => layers
                .iter()
                .fold(input, |values, layer| layer.forward(values, None)),
        };
        output.narrow(1, STEPS - 1, 1)
    }
}

fn best_seconds(rounds: usize, mut work: impl FnMut()) -> f64 {
    work();
    (0..rounds)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min)
}

fn report(cell: CellKind, threads: usize, what: &str, forward: f64, gradients: f64) {
    let rows = TEXTS as f64;
    println!(
        "| {cell:?} | {threads} | {what} | {:.0} | {:.0} |",
        rows / forward,
        rows / gradients
    );
}
