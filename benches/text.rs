//! Loading word vectors, finding neighbours, splitting texts, fitting vectors.
//!
//! The vectors are random: 400,000 words of 50 numbers, as many as the published GloVe 6B has.
//! Their file lies in a temporary folder and in the page cache. `first` parses the text and writes
//! the binary cache, `second` reads the cache. Neighbours are the ten nearest of some words among
//! all.
//!
//! ```text
//! cargo bench --bench text                  # 400,000 words
//! cargo bench --bench text -- 100000        # another number
//! ```

use std::hint::black_box;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use probity::run::stream::{Purpose, stream};
use probity::tensor::device::ComputeDevice;
use probity::tensor::nearest::cosine::{NearestOptions, nearest};
use probity::text::comments::CommentGenerator;
use probity::text::embeddings::{Cache, EmbeddingTable, LoadOptions};
use probity::text::glove::{self, GloveOptions};
use probity::text::tokenizer::Tokenizer;
use rand::RngExt;

const WIDTH: usize = 50;
const QUERIES: u32 = 4096;
const COMMENTS: u64 = 20_000;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let words = std::env::args()
        .skip(1)
        .find_map(|argument| argument.parse().ok())
        .unwrap_or(400_000);
    println!(
        "{} threads; {words} words, {WIDTH} columns",
        rayon::current_num_threads()
    );
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("v.txt");
    load(&file, words)?;
    neighbours(&EmbeddingTable::load(&file, &LoadOptions::default())?);
    texts()
}

fn load(file: &Path, words: u64) -> Result<(), Failure> {
    let mut out = std::fs::File::create(file)?;
    write_vectors(&mut std::io::BufWriter::new(&mut out), words)?;
    let mut times = [Duration::ZERO; 3];
    let folder = tempfile::tempdir()?;
    let kept = Some(Cache::new(folder.path()));
    for (time, cache) in times.iter_mut().zip([None, kept.clone(), kept]) {
        let options = LoadOptions {
            cache,
            ..LoadOptions::default()
        };
        let started = Instant::now();
        black_box(EmbeddingTable::load(file, &options)?);
        *time = started.elapsed();
    }
    let [never, first, second] = times;
    println!("load: no cache {never:.2?}, first {first:.2?}, second {second:.2?}");
    Ok(())
}

fn write_vectors(out: &mut dyn Write, words: u64) -> std::io::Result<()> {
    for word in 0..words {
        let mut draws = stream(1, Purpose::Synthetic, word, 0);
        write!(out, "w{word}")?;
        for _ in 0..WIDTH {
            write!(out, " {:.5}", draws.random_range(-1.0..1.0_f64))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn neighbours(table: &EmbeddingTable) {
    let options = NearestOptions {
        k: 10,
        excluded: &[],
    };
    let queries: Vec<u32> = (0..QUERIES.min(table.unknown())).collect();
    let started = Instant::now();
    let device = ComputeDevice::flex();
    black_box(nearest(
        table.vectors(),
        table.width(),
        &queries,
        options,
        &device,
    ));
    let time = started.elapsed();
    let a_second = queries.len() as f64 / time.as_secs_f64();
    println!(
        "neighbours of {} words on flex {time:.2?}, {a_second:.0} a second",
        queries.len()
    );
}

fn texts() -> Result<(), Failure> {
    let generator = CommentGenerator::new(1);
    let started = Instant::now();
    let texts: Vec<String> = (0..COMMENTS)
        .map(|item| generator.comment(item).text)
        .collect();
    println!("{COMMENTS} comments generated {:.2?}", started.elapsed());
    let tokenizer = Tokenizer::without_vocabulary()?;
    let started = Instant::now();
    let tokens = tokenizer.tokens_of_all(&texts)?;
    let count: usize = tokens.iter().map(Vec::len).sum();
    let time = started.elapsed();
    println!(
        "split into {count} tokens {time:.2?}, {:.0} a second",
        count as f64 / time.as_secs_f64()
    );
    let tokens: Vec<Vec<String>> = tokens
        .into_iter()
        .map(|tokens| tokens.into_iter().map(|token| token.text).collect())
        .collect();
    let started = Instant::now();
    black_box(glove::fit(&tokens, &GloveOptions::default(), &mut |_| {
        ControlFlow::Continue(())
    })?);
    println!("50 epochs of GloVe on them {:.2?}", started.elapsed());
    Ok(())
}
