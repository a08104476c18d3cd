//! `probity import --vocabulary` and `--embeddings`: recurrent text classifiers from PyTorch.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;
use serde::Serialize;

use super::import::{ImportArgs, render_tensors};
use super::inputs::{absolute, new_run};
use super::output::Output;
use probity::nn::import_text::{RowWords, TextImportOptions, TextImportReport, Words, import_text};
use probity::nn::recurrent::network::Shape;
use probity::nn::text_training_run::embeddings_sha256;
use probity::nn::text_training_run::load_embeddings;
use probity::nn::weights::read_weights;
use probity::run::run_directory::{RUN, file_sha256};
use probity::text::corpus::{TextColumns, read_texts};
use probity::text::embeddings::SHIPPED;

/// A recurrent network for texts.
#[derive(Debug, Args)]
#[command(next_help_heading = "Classifiers of texts (PyTorch's nn.LSTM or nn.GRU and nn.Linear)")]
pub(super) struct TextArgs {
    /// Words of the weight file's own embedding table, a line for each row, from row 0
    #[arg(long, value_name = "FILE", conflicts_with = "embeddings")]
    vocabulary: Option<PathBuf>,
    /// Row of the table that stands for unknown words, from 0 [default: none, the mean of all words]
    #[arg(
        long,
        value_name = "ROW",
        requires = "vocabulary",
        conflicts_with = "embeddings"
    )]
    unknown_row: Option<usize>,
    /// Row of the table that pads texts, from 0 [default: none]
    #[arg(
        long,
        value_name = "ROW",
        requires = "vocabulary",
        conflicts_with = "embeddings"
    )]
    padding_row: Option<usize>,
    /// Vectors that the network reads if the weight file has no table: GloVe or word2vec text format, or `shipped`
    #[arg(long, value_name = "FILE")]
    embeddings: Option<PathBuf>,
    /// Names of the classes, by number; the second one is that of a single sigmoid [default: 0,1,…]
    #[arg(long, value_delimiter = ',', conflicts_with = "config")]
    classes: Vec<String>,
    /// Tokens of a text that are read; the rest is cut off
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = at_least_one, conflicts_with = "config")]
    max_length: usize,
    /// Tensors of the weight file that are no part of the network, such as those of a loss
    #[arg(
        long,
        value_name = "TENSOR",
        value_delimiter = ',',
        conflicts_with = "config"
    )]
    ignore: Vec<String>,
    /// Texts like those of the training, whose word frequencies weight semantic similarity: a text a line (.txt), or a table with --text-column [default: all words weigh the same]
    #[arg(long, value_name = "FILE", conflicts_with = "config")]
    texts: Option<PathBuf>,
    /// Column of --texts that holds the text
    #[arg(long, value_name = "COLUMN", requires = "texts")]
    text_column: Option<String>,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("at least 1 is expected".to_owned()),
        Ok(number) => Ok(number),
        Err(_) => Err("a whole number is expected".to_owned()),
    }
}

#[derive(Serialize)]
struct TextImportRun {
    command: String,
    probity_version: String,
    weights: PathBuf,
    weights_sha256: String,
    vocabulary: Option<PathBuf>,
    embeddings: Option<PathBuf>,
    words_sha256: String,
    unknown_row: Option<usize>,
    padding_row: Option<usize>,
    classes: Vec<String>,
    max_length: usize,
    ignore: Vec<String>,
    texts: Option<PathBuf>,
    texts_sha256: Option<String>,
    text_column: Option<String>,
}

#[derive(Serialize)]
struct TextImportSummary {
    schema_version: u32,
    command: String,
    probity_version: String,
    weights_sha256: String,
    model_sha256: String,
    parameters: usize,
    network: Shape,
    classes: Vec<String>,
    #[serde(flatten)]
    report: TextImportReport,
}

/// Runs `probity import` for texts.
pub(super) fn run(args: &ImportArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let text = &args.text;
    let (words, words_file, words_sha256) = words(text)?;
    let options = TextImportOptions {
        classes: text.classes.clone(),
        max_length: text.max_length,
        ignored: text.ignore.clone(),
        texts: texts(text)?,
    };
    let weights = read_weights(&args.weights)?;
    let (model, report) = import_text(&weights, &words, &options)
        .with_context(|| format!("{} with {}", args.weights.display(), words_file.display()))?;
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let run = TextImportRun {
        command: "import".to_owned(),
        probity_version: version.clone(),
        weights: absolute(&args.weights),
        weights_sha256: file_sha256(&args.weights)?,
        vocabulary: text.vocabulary.as_deref().map(absolute),
        embeddings: text.embeddings.as_deref().map(embeddings_path),
        words_sha256,
        unknown_row: text.unknown_row,
        padding_row: text.padding_row,
        classes: model.classes.clone(),
        max_length: model.max_length,
        ignore: text.ignore.clone(),
        texts: text.texts.as_deref().map(absolute),
        texts_sha256: text.texts.as_deref().map(file_sha256).transpose()?,
        text_column: text.text_column.clone(),
    };
    let summary = TextImportSummary {
        schema_version: 1,
        command: "import".to_owned(),
        probity_version: version,
        weights_sha256: run.weights_sha256.clone(),
        model_sha256: model.sha256()?,
        parameters: model.recurrent.shape.parameters(),
        network: model.recurrent.shape,
        classes: model.classes.clone(),
        report,
    };
    let directory = new_run(args.out.as_ref(), "import")?;
    directory.write_toml(RUN, &run)?;
    model.save(directory.path())?;
    directory.write_summary(&summary)?;
    let path = directory.path().display();
    let rendered = format!(
        "{}Model: {path}\nNext: probity audit --model {path} --texts TEXTS\n",
        render(&summary, &weights.format.to_string())
    );
    output.result(&summary, &rendered)?;
    Ok(ExitCode::SUCCESS)
}

/// The words of the network, the file that they come from, and its SHA-256.
fn words(args: &TextArgs) -> anyhow::Result<(Words, &Path, String)> {
    Ok(match (&args.vocabulary, &args.embeddings) {
        (Some(file), _) => {
            let words = RowWords {
                words: RowWords::read_words(file)?,
                unknown_row: args.unknown_row,
                padding_row: args.padding_row,
            };
            (Words::Rows(words), file, file_sha256(file)?)
        }
        (None, Some(file)) => {
            let table = load_embeddings(file)?;
            (Words::Embeddings(table), file, embeddings_sha256(file)?)
        }
        (None, None) => bail!("--vocabulary or --embeddings is needed"),
    })
}

/// The file of word vectors for run.toml: the table that ships has no path.
fn embeddings_path(file: &Path) -> PathBuf {
    if file == Path::new(SHIPPED) {
        file.to_owned()
    } else {
        absolute(file)
    }
}

/// The texts whose words are counted; none if no file is named.
fn texts(args: &TextArgs) -> anyhow::Result<Vec<String>> {
    let Some(file) = &args.texts else {
        return Ok(Vec::new());
    };
    let columns = TextColumns {
        text: args.text_column.clone(),
        label: None,
    };
    Ok(read_texts(file, &columns)?.texts)
}

fn render(summary: &TextImportSummary, format: &str) -> String {
    let (report, shape) = (&summary.report, &summary.network);
    let mut text = render_tensors(format, &report.matched, &report.unused, summary.parameters);
    text.push_str(&format!(
        "{}, {} layers of {} units{}; {} words of {} numbers; classes {}.\n",
        format!("{:?}", shape.cell).to_uppercase(),
        shape.layers,
        shape.units,
        if shape.bidirectional {
            " in both directions"
        } else {
            ""
        },
        report.words,
        shape.inputs,
        summary.classes.join(", ")
    ));
    if let Some(positive) = summary.classes.get(1).filter(|_| report.single_output) {
        text.push_str(&format!(
            "The single output is the log-odds of class '{positive}'.\n"
        ));
    }
    if report.unreachable_words > 0 {
        text.push_str(&format!(
            "{} words cannot occur in a text, which is put into lower case and split: {}{}\n",
            report.unreachable_words,
            report.unreachable_examples.join(" "),
            if report.unreachable_words > report.unreachable_examples.len() {
                " …"
            } else {
                ""
            }
        ));
    }
    text
}
