//! How fast transformers are: logits and gradients of 256 texts of 32 pieces in an encoder of 6
//! layers of 384 units, with one and two threads, and DistilBERT's size laid out once.
//!
//! scripts/transformer_benchmark.py runs this, and PyTorch in the same shape beside it.
//!
//! ```text
//! cargo bench --bench transformer
//! ```

use std::hint::black_box;
use std::time::Instant;

use probity::nn::transformer::kernels::Kernels;
use probity::nn::transformer::shape::{
    HeadActivation, InnerActivation, Pooling, Shape, TransformerWeights,
};
use rayon::ThreadPoolBuilder;

const TEXTS: usize = 256;
const PIECES: usize = 32;
/// The fastest of these counts.
const ROUNDS: usize = 7;

type Failure = Box<dyn std::error::Error>;

/// That of MiniLM, or with `units` 768 of DistilBERT.
fn shape(units: usize) -> Shape {
    Shape {
        vocabulary: 30_522,
        positions: 512,
        first_position: 0,
        segments: 2,
        units,
        heads: 12,
        layers: 6,
        inner: 4 * units,
        activation: InnerActivation::Gelu,
        epsilon: 1e-12,
        pooling: Pooling::First,
        head: Some(HeadActivation::Tanh),
        classes: 2,
    }
}

fn main() -> Result<(), Failure> {
    let pieces: Vec<i32> = (0..TEXTS * PIECES)
        .map(|i| ((i * 7907 + i / 13) % 30_522) as i32)
        .collect();
    let texts: Vec<&[i32]> = pieces.chunks(PIECES).collect();
    let cotangents = [1.0, -1.0].repeat(TEXTS);
    let kernels = Kernels::new(TransformerWeights::random(shape(384), 1));
    println!("| what | threads | forward rows/s | input-gradient rows/s |");
    println!("|------|---------|----------------|-----------------------|");
    for threads in [1, 2] {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build()?;
        let forward = pool.install(|| rows_a_second(|| kernels.logits(&texts)));
        let backward =
            pool.install(|| rows_a_second(|| kernels.input_gradients(&texts, &cotangents)));
        println!("| kernels | {threads} | {forward:.0} | {backward:.0} |");
    }
    let large = TransformerWeights::random(shape(768), 1);
    let begun = Instant::now();
    black_box(Kernels::new(large));
    println!(
        "\nlaid out 6 x 768 in {:.2} s",
        begun.elapsed().as_secs_f64()
    );
    Ok(())
}

fn rows_a_second(work: impl Fn() -> Vec<f32>) -> f64 {
    let seconds = (0..ROUNDS).map(|_| {
        let begun = Instant::now();
        black_box(work());
        begun.elapsed().as_secs_f64()
    });
    TEXTS as f64 / seconds.fold(f64::INFINITY, f64::min)
}
