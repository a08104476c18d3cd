//! How fast transformers are: logits and gradients of 256 texts of 32 pieces in an encoder of 6
//! layers of 384 units, with one and two threads, and DistilBERT's size laid out once.
//!
//! Rows a second are given by the clock and, because a machine is rarely idle, by the processor's
//! time: those of a second that one core has spent on them.
//!
//! scripts/transformer_benchmark.py runs this and PyTorch in the same shape in turns.
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
/// The median of these counts.
const ROUNDS: usize = 3;

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
    println!("| what | threads | forward rows/s | of CPU time | gradient rows/s | of CPU time |");
    println!("|------|--------:|---------------:|------------:|----------------:|------------:|");
    for threads in [1, 2] {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build()?;
        let forward = pool.install(|| rows_a_second(|| kernels.logits(&texts)))?;
        let gradients = || kernels.input_gradients(&texts, &cotangents);
        let backward = pool.install(|| rows_a_second(gradients))?;
        let [forward, backward] = [forward, backward].map(|[w, c]| format!("{w:.1} | {c:.1}"));
        println!("| kernels | {threads} | {forward} | {backward} |");
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

/// Rows in a second by the clock, and in one of the processor's time.
fn rows_a_second(work: impl Fn() -> Vec<f32>) -> Result<[f64; 2], String> {
    black_box(work());
    let (mut wall, mut processor) = ([0.0; ROUNDS], [0.0; ROUNDS]);
    for (wall, processor) in wall.iter_mut().zip(&mut processor) {
        let (begun, spent) = (Instant::now(), processor_seconds()?);
        black_box(work());
        *wall = begun.elapsed().as_secs_f64();
        *processor = processor_seconds()? - spent;
    }
    Ok([wall, processor].map(|mut seconds| {
        seconds.sort_by(f64::total_cmp);
        TEXTS as f64 / seconds[ROUNDS / 2]
    }))
}

#[cfg(unix)]
fn processor_seconds() -> Result<f64, String> {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeValLike;

    let usage = getrusage(UsageWho::RUSAGE_SELF).map_err(|error| error.to_string())?;
    let spent = usage.user_time() + usage.system_time();
    Ok(spent.num_microseconds() as f64 * 1e-6)
}

/// Not known: rows a second of it are then no numbers.
#[cfg(not(unix))]
fn processor_seconds() -> Result<f64, String> {
    Ok(f64::NAN)
}
