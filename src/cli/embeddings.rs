//! `probity embeddings`

use std::path::PathBuf;

use anyhow::{bail, ensure};
use clap::{Args, Subcommand};
use serde::Serialize;

use super::exit_code::ExitCode;
use super::fields::Fields;
use super::inputs::{Hardware, Threads};
use super::interrupt::Interrupt;
use super::numbers::whole;
use super::out::Force;
use super::output::Output;
use super::render::{self, count, table};
use probity::data::compressed;
use probity::data::read::BadRows;
use probity::nn::train::text_set::load_embeddings;
use probity::tensor::nearest::cosine::{NearestOptions, cosine, nearest};
use probity::text::corpus::{TextColumns, TextCorpus, read_texts};
use probity::text::embeddings::EmbeddingTable;
use probity::text::glove::{self, GloveOptions, GloveProgress};
use probity::text::ngrams::NgramModel;
use probity::text::tokenizer::Tokenizer;

/// Arguments of `probity embeddings`.
#[derive(Debug, Args)]
pub(super) struct EmbeddingsArgs {
    #[command(subcommand)]
    command: EmbeddingsCommand,
}

#[derive(Debug, Subcommand)]
enum EmbeddingsCommand {
    /// Fit GloVe vectors to your own texts
    Train(TrainArgs),
    /// Show the nearest neighbours of words
    Neighbours(NeighboursArgs),
}

#[derive(Debug, Args)]
#[command(
    after_help = "The vectors are written in GloVe's text format, the most frequent word first. \
                        The same texts, options and seed give the same vectors for any --threads."
)]
struct TrainArgs {
    /// Texts: .txt with a text on each line, CSV, TSV or Parquet (also .gz, .xz)
    texts: PathBuf,
    /// Column of a table that holds the texts
    #[arg(long, value_name = "NAME")]
    text_column: Option<String>,
    /// Leave rows of a table out with which something is wrong, such as a blank text, and count
    /// them
    #[arg(long)]
    skip_bad_rows: bool,
    /// File for the vectors; compressed if its name ends in .gz or .xz
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// File for an n-gram model of the same texts and words, which says how likely a text is
    #[arg(long, value_name = "FILE")]
    ngrams: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    #[command(flatten)]
    fields: Fields<GloveOptions>,
    /// Decimal places of the numbers in the file
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = whole::<u8>(1..=9), allow_hyphen_values = true)]
    digits: u8,
    #[command(flatten)]
    threads: Threads,
}

#[derive(Debug, Args)]
struct NeighboursArgs {
    /// Word vectors (GloVe or word2vec text, also .gz, .xz), or `shipped`
    file: PathBuf,
    /// Words
    #[arg(required = true)]
    words: Vec<String>,
    /// How many neighbours
    #[arg(short, value_name = "N", default_value_t = 10, value_parser = whole::<u16>(1..=1000), allow_hyphen_values = true)]
    k: u16,
    #[command(flatten)]
    hardware: Hardware,
}

#[derive(Serialize)]
struct TrainSummary {
    texts_file: PathBuf,
    texts: usize,
    #[serde(skip_serializing_if = "BadRows::is_empty")]
    bad_rows: BadRows,
    tokens: usize,
    words: usize,
    options: GloveOptions,
    loss: Option<f64>,
    file: PathBuf,
    ngrams: Option<PathBuf>,
}

#[derive(Serialize)]
struct Neighbour {
    word: String,
    cosine: f64,
}

#[derive(Serialize)]
struct WordNeighbours {
    word: String,
    neighbours: Vec<Neighbour>,
}

#[derive(Serialize)]
struct NeighboursSummary {
    file: PathBuf,
    words: Vec<WordNeighbours>,
}

/// Runs `probity embeddings`.
pub(super) fn run(args: EmbeddingsArgs, output: &Output) -> anyhow::Result<ExitCode> {
    match args.command {
        EmbeddingsCommand::Train(args) => train(args, output),
        EmbeddingsCommand::Neighbours(args) => neighbours(args, output),
    }
}

fn train(args: TrainArgs, output: &Output) -> anyhow::Result<ExitCode> {
    args.threads.apply()?;
    let options = args.fields.specification()?.into_inner();
    let out = args.force.file(&args.out, &[&args.texts])?;
    ensure!(
        args.ngrams.as_ref() != Some(&args.out),
        "--ngrams and --out both name {}; choose another file",
        args.out.display()
    );
    let ngrams_out = match &args.ngrams {
        Some(file) => Some(args.force.file(file, &[&args.texts])?),
        None => None,
    };
    let columns = TextColumns {
        text: args.text_column,
        label: None,
        label_threshold: None,
        skip_bad_rows: args.skip_bad_rows,
        classes: Vec::new(),
    };
    let TextCorpus {
        texts, bad_rows, ..
    } = read_texts(&args.texts, &columns)?;
    let tokens: Vec<Vec<String>> = Tokenizer::without_vocabulary()?
        .tokens_of_all(&texts)?
        .into_iter()
        .map(|tokens| tokens.into_iter().map(|token| token.text).collect())
        .collect();
    let interrupt = Interrupt::listen()?;
    let bar = output.progress(
        options.epochs as u64,
        "epoch {pos}/{len} [{bar:28}] {msg}, {eta} left",
    );
    let mut loss = None;
    let vectors = glove::fit(&tokens, &options, &mut |progress: GloveProgress| {
        bar.set_message(format!("mean squared error {:.4}", progress.loss));
        bar.set_position(progress.epoch as u64);
        loss = Some(progress.loss);
        interrupt.flow()
    });
    bar.finish_and_clear();
    let vectors = vectors?;
    if let Some(out) = ngrams_out {
        let texts = tokens.iter().map(|text| text.iter().map(String::as_str));
        let model = NgramModel::fit(texts, options.min_count)?;
        out.write_with(|writer| model.write(writer))?;
    }
    out.write_with(|writer| {
        compressed::write_as(&args.out, writer, |out| {
            vectors.write_text(out, usize::from(args.digits))
        })
    })?;
    let summary = TrainSummary {
        texts_file: args.texts,
        texts: texts.len(),
        bad_rows,
        tokens: tokens.iter().map(Vec::len).sum(),
        words: vectors.words().len(),
        options,
        loss,
        file: args.out,
        ngrams: args.ngrams,
    };
    let mut text = format!(
        "{} vectors of {} numbers, from {} words in {} texts: {}\n",
        count(summary.words as u64),
        summary.options.width,
        count(summary.tokens as u64),
        count(summary.texts as u64),
        summary.file.display()
    );
    text.push_str(&render::bad_rows(&summary.bad_rows));
    if let Some(file) = &summary.ngrams {
        text.push_str(&format!(
            "N-gram model of the same words: {}\n",
            file.display()
        ));
    }
    text.push_str(&format!(
        "Next: probity embeddings neighbours {} {}\n",
        summary.file.display(),
        example(&vectors)
    ));
    if out.is_stdout() {
        // The vectors are there already.
        output.remark(text.trim_end());
        return Ok(ExitCode::SUCCESS);
    }
    output.summary("embeddings train", &summary, &text)
}

/// A word worth asking about.
fn example(vectors: &EmbeddingTable) -> &str {
    let telling = |word: &&str| word.chars().count() > 4 && word.chars().all(char::is_alphabetic);
    vectors.words().iter().find(telling).unwrap_or("WORD")
}

fn neighbours(args: NeighboursArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let device = args.hardware.open(output)?;
    let vectors = load_embeddings(&args.file)?;
    let mut ids = Vec::new();
    for word in &args.words {
        match vectors
            .words()
            .id(word)
            .or_else(|| vectors.words().id(&word.to_lowercase()))
        {
            Some(id) => ids.push(id),
            None => bail!("{} has no vector for '{word}'", args.file.display()),
        }
    }
    let mut excluded = vec![false; vectors.words().len() + 1];
    excluded[vectors.words().len()] = true;
    let options = NearestOptions {
        k: usize::from(args.k),
        excluded: &excluded,
    };
    let found = nearest(vectors.vectors(), vectors.width(), &ids, options, &device);
    let words: Vec<WordNeighbours> = ids
        .iter()
        .enumerate()
        .map(|(at, &id)| WordNeighbours {
            word: vectors.words().word(id as usize).to_owned(),
            neighbours: found
                .neighbours(at)
                .iter()
                .map(|&near| Neighbour {
                    word: vectors.words().word(near as usize).to_owned(),
                    cosine: cosine(vectors.vector(id), vectors.vector(near)),
                })
                .collect(),
        })
        .collect();
    let rows: Vec<Vec<String>> = words
        .iter()
        .flat_map(|word| {
            word.neighbours.iter().enumerate().map(move |(rank, near)| {
                let asked = if rank == 0 {
                    word.word.clone()
                } else {
                    String::new()
                };
                vec![asked, near.word.clone(), format!("{:.4}", near.cosine)]
            })
        })
        .collect();
    let summary = NeighboursSummary {
        file: args.file,
        words,
    };
    output.summary(
        "embeddings neighbours",
        &summary,
        &table(&["word", "neighbour", "cosine"], &rows),
    )
}
