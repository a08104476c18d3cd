//! `probity lexicon`

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use clap::{Args, Subcommand};
use serde::Serialize;

use super::exit_code::ExitCode;
use super::output::Output;
use super::render::{self, count, percent, table};
use probity::data::read::BadRows;
use probity::fairness::opened::open_lexicon;
use probity::fairness::text::preset::Preset;
use probity::nn::text_model::TOKENIZER;
use probity::nn::train::text_set::load_embeddings;
use probity::text::corpus::{TextColumns, TextCorpus, read_texts};
use probity::text::coverage::Coverage;
use probity::text::lexicon::{CommonWord, Lexicon, common_words};
use probity::text::tokenizer::Tokenizer;

/// Terms that are listed before the rest is only counted.
const SHOWN: usize = 20;

/// Arguments of `probity lexicon`.
#[derive(Debug, Args)]
pub(super) struct LexiconArgs {
    #[command(subcommand)]
    command: LexiconCommand,
}

#[derive(Debug, Subcommand)]
enum LexiconCommand {
    /// Say how much of a corpus the protected terms reach
    Check(CheckArgs),
    /// List the attributes of the lexicon that ships
    List,
    /// Print an attribute of the lexicon that ships as TOML
    Show {
        /// Name of the attribute; see `probity lexicon list`
        attribute: String,
    },
}

#[derive(Debug, Args)]
struct CheckArgs {
    /// Texts: CSV, TSV or Parquet, or .txt with a text on each line (also .gz, .xz)
    #[arg(long, value_name = "FILE")]
    texts: PathBuf,
    /// Column of a table that holds the texts
    #[arg(long, value_name = "NAME")]
    text_column: Option<String>,
    /// Leave rows of a table out with which something is wrong, such as a blank text, and count
    /// them
    #[arg(long)]
    skip_bad_rows: bool,
    /// Lexicon of protected terms (TOML), or paper for that of the ADF paper [default: the one
    /// that ships]
    #[arg(long, value_name = "FILE")]
    lexicon: Option<PathBuf>,
    /// Attributes to check [default: all that are not opt-in]
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    protected: Vec<String>,
    /// Word vectors (GloVe or word2vec text, also .gz, .xz), or `shipped`: say which terms have
    /// none
    #[arg(long, value_name = "FILE", conflicts_with = "model")]
    embeddings: Option<PathBuf>,
    /// Text model: say which terms it does not know
    #[arg(long, value_name = "DIR")]
    model: Option<PathBuf>,
}

/// What there is to say about one attribute.
#[derive(Serialize)]
struct AttributeCheck {
    #[serde(flatten)]
    coverage: Coverage,
    common_words: Vec<CommonWord>,
}

#[derive(Serialize)]
struct CheckSummary {
    texts_file: PathBuf,
    texts: usize,
    #[serde(skip_serializing_if = "BadRows::is_empty")]
    bad_rows: BadRows,
    attributes: Vec<AttributeCheck>,
}

/// Runs `probity lexicon`.
pub(super) fn run(args: LexiconArgs, output: &Output) -> anyhow::Result<ExitCode> {
    match args.command {
        LexiconCommand::Check(args) => check(args, output),
        LexiconCommand::List => list(output),
        LexiconCommand::Show { attribute } => show(&attribute, output),
    }
}

fn check(args: CheckArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let lexicon = open_lexicon(args.lexicon.as_deref(), Preset::default())?.value;
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
    let vocabulary = match (&args.embeddings, &args.model) {
        (Some(file), _) => Some(Tokenizer::new(load_embeddings(file)?.words().iter())?),
        (None, Some(model)) => Some(tokenizer(model)?),
        (None, None) => None,
    };
    let covered = Coverage::measure(&lexicon, &args.protected, &texts, vocabulary.as_ref())?;
    ensure!(
        !covered.is_empty(),
        "every attribute of the lexicon is protected by name only; name some by --protected"
    );
    let checks = covered.into_iter().map(|coverage| {
        let attribute = lexicon.attribute(&coverage.attribute)?;
        Ok(AttributeCheck {
            common_words: common_words(attribute),
            coverage,
        })
    });
    let checks: Vec<AttributeCheck> = checks.collect::<anyhow::Result<_>>()?;
    let text: String = checks.iter().map(render).collect();
    let text = text + &render::bad_rows(&bad_rows);
    let summary = CheckSummary {
        texts_file: args.texts,
        texts: texts.len(),
        bad_rows,
        attributes: checks,
    };
    output.summary("lexicon check", &summary, &text)
}

/// The tokenizer in the model directory `model`.
fn tokenizer(model: &Path) -> anyhow::Result<Tokenizer> {
    let file = model.join(TOKENIZER);
    let json = std::fs::read(&file).with_context(|| {
        format!(
            "cannot read {}; is it the directory of a text model?",
            file.display()
        )
    })?;
    Ok(Tokenizer::from_json(&json, &file)?)
}

fn render(check: &AttributeCheck) -> String {
    let coverage = &check.coverage;
    let bound = match coverage.bound {
        0 => String::new(),
        bound => format!(
            ", {} of them since other words of the text bind the value",
            count(bound as u64)
        ),
    };
    let foreign = match coverage.foreign {
        0 => String::new(),
        1 => "1 text is not English: no term was looked for in it.\n".to_owned(),
        foreign => format!(
            "{} texts are not English: no term was looked for in them.\n",
            count(foreign as u64)
        ),
    };
    let mut text = format!(
        "{}: {} of {} texts name a value ({}); in {} another can take its place, and an audit skips the other {}{}.\n",
        coverage.attribute,
        count(coverage.naming as u64),
        count(coverage.texts as u64),
        percent(coverage.naming as f64 / coverage.texts.max(1) as f64),
        count(coverage.exchangeable as u64),
        count((coverage.texts - coverage.exchangeable) as u64),
        bound
    );
    text.push_str(&foreign);
    let mut held: Vec<_> = coverage
        .terms
        .iter()
        .filter(|term| term.texts > 0)
        .collect();
    held.sort_by_key(|term| std::cmp::Reverse(term.texts));
    let rows: Vec<Vec<String>> = held
        .iter()
        .take(SHOWN)
        .map(|term| {
            let share = term.texts as f64 / coverage.texts.max(1) as f64;
            vec![
                term.term.clone(),
                term.value.clone(),
                count(term.texts as u64),
                percent(share),
            ]
        })
        .collect();
    if !rows.is_empty() {
        text.push_str(&table(&["term", "value", "texts", "share"], &rows));
    }
    if held.len() > SHOWN {
        text.push_str(&format!("… and {} more terms.\n", held.len() - SHOWN));
    }
    let absent = coverage.terms.iter().filter(|term| term.texts == 0);
    text.push_str(&listed("In no text", absent.map(|term| term.term.clone())));
    let unknown = coverage.terms_without_embedding();
    text.push_str(&listed(
        "Without embedding",
        unknown.map(|term| term.term.clone()),
    ));
    let common = check.common_words.iter();
    let common = common.map(|word| format!("{} ({})", word.term, word.also));
    text.push_str(&listed("Common words too", common));
    text.push('\n');
    text
}

fn listed(what: &str, items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    match items.len() {
        0 => String::new(),
        all if all > SHOWN => {
            format!(
                "{what}: {} and {} more.\n",
                items[..SHOWN].join(", "),
                all - SHOWN
            )
        }
        _ => format!("{what}: {}.\n", items.join(", ")),
    }
}

fn list(output: &Output) -> anyhow::Result<ExitCode> {
    let lexicon = Lexicon::shipped();
    let mut text = String::new();
    for attribute in lexicon.attributes() {
        text.push_str(&format!(
            "{}: {} values, {} terms. {}\n",
            attribute.name,
            count(attribute.values.len() as u64),
            count(attribute.terms().len() as u64),
            attribute.description
        ));
    }
    let names: Vec<&str> = lexicon
        .attributes()
        .iter()
        .map(|attribute| attribute.name.as_str())
        .collect();
    let summary = serde_json::json!({"attributes": names});
    output.summary("lexicon list", &summary, &text)
}

fn show(name: &str, output: &Output) -> anyhow::Result<ExitCode> {
    let lexicon = Lexicon::shipped();
    let attribute = lexicon.attribute(name)?;
    let summary = serde_json::json!({"name": attribute.name,
        "description": attribute.description,
        "values": attribute.values,
        "forms": attribute.forms,
        "bound": attribute.bound,
        "unless": attribute.unless,
    });
    output.summary(
        "lexicon show",
        &summary,
        &Lexicon::from_attribute(attribute.clone()).to_toml()?,
    )
}
