//! `probity spn query`

use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, Subcommand};
use serde::Serialize;

use crate::cli::exit_code::ExitCode;
use crate::cli::numbers::{MOST_ROWS, seed, whole};
use crate::cli::out::Force;
use crate::cli::output::Output;
use crate::cli::render::{count, left_out, percent, table};
use probity::data::read::LeftOut;
use probity::run::output_file::OutputFile;
use probity::run::spreadsheet::safe;
use probity::unlearning::spn::Network;
use probity::unlearning::spn::model::SpnModel;

/// Arguments of `probity spn query`.
#[derive(Debug, Args)]
pub(super) struct QueryArgs {
    #[command(subcommand)]
    question: Question,
}

#[derive(Debug, Subcommand)]
enum Question {
    /// Log-likelihood of every row of a table; an empty cell or a missing column is summed out
    Likelihood(TableQuestion),
    /// Marginal or conditional probability (a density where a value is a real number)
    Probability(ProbabilityQuestion),
    /// A most probable row given what is known (max-product: exact for selective networks only)
    Explain(EvidenceQuestion),
    /// Rows drawn from the network given what is known
    Sample(SampleQuestion),
    /// Classes of a categorical column for every row of a table
    Classify(ClassifyQuestion),
}

#[derive(Debug, Args)]
struct TableQuestion {
    /// Model directory
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    /// Rows with the columns of the model
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// CSV file for the answers [default: stdout]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
}

impl TableQuestion {
    fn out(&self) -> anyhow::Result<Option<OutputFile>> {
        self.force
            .open(self.out.as_ref(), &[&self.model, &self.data])
    }
}

#[derive(Debug, Args)]
struct EvidenceQuestion {
    /// Model directory
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    /// What is known: COLUMN=VALUE; may be repeated
    #[arg(long, value_name = "COLUMN=VALUE", value_delimiter = ',')]
    given: Vec<String>,
}

#[derive(Debug, Args)]
struct ProbabilityQuestion {
    #[command(flatten)]
    evidence: EvidenceQuestion,
    /// What is asked for: COLUMN=VALUE; may be repeated
    #[arg(
        long,
        value_name = "COLUMN=VALUE",
        value_delimiter = ',',
        required = true
    )]
    ask: Vec<String>,
}

#[derive(Debug, Args)]
struct SampleQuestion {
    #[command(flatten)]
    evidence: EvidenceQuestion,
    /// How many rows
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = whole::<u64>(1..=MOST_ROWS), allow_hyphen_values = true)]
    rows: u64,
    /// Seed
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed(), allow_hyphen_values = true)]
    seed: u64,
    /// CSV file for the rows [default: stdout]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
}

#[derive(Debug, Args)]
struct ClassifyQuestion {
    #[command(flatten)]
    table: TableQuestion,
    /// The column to predict
    #[arg(long, value_name = "COLUMN")]
    target: String,
}

/// Runs `probity spn query`.
pub(super) fn run(args: QueryArgs, output: &Output) -> anyhow::Result<ExitCode> {
    match args.question {
        Question::Likelihood(question) => likelihood(&question, output),
        Question::Probability(question) => probability(&question, output),
        Question::Explain(question) => explain(&question, output),
        Question::Sample(question) => sample(&question, output),
        Question::Classify(question) => classify(&question, output),
    }
}

#[derive(Serialize)]
struct LikelihoodSummary {
    rows: usize,
    #[serde(flatten)]
    left_out: LeftOut,
    mean_log_likelihood: f64,
    impossible_rows: usize,
}

fn likelihood(question: &TableQuestion, output: &Output) -> anyhow::Result<ExitCode> {
    let out = question.out()?;
    let model = SpnModel::load(&question.model)?;
    let asked = model.table.read_questions(&question.data)?;
    let scores = model.spn.network().log_densities(&asked.rows);
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(["row", "log_likelihood"])?;
    for (number, score) in asked.numbers.iter().zip(&scores) {
        csv.write_record([number.to_string(), score.to_string()])?;
    }
    let possible = scores.iter().filter(|score| score.is_finite());
    let summary = LikelihoodSummary {
        rows: scores.len(),
        left_out: asked.left_out,
        mean_log_likelihood: possible.clone().sum::<f64>() / possible.clone().count().max(1) as f64,
        impossible_rows: scores.len() - possible.count(),
    };
    let mut text = format!(
        "{} rows, mean log-likelihood {:.4}.\n",
        count(summary.rows as u64),
        summary.mean_log_likelihood
    );
    if summary.impossible_rows > 0 {
        text.push_str(&format!(
            "{} rows have probability zero and are not in the mean.\n",
            count(summary.impossible_rows as u64)
        ));
    }
    text.push_str(&left_out(&summary.left_out));
    let rows = ("Answers", csv, out.as_ref());
    output.rows("spn query likelihood", &summary, rows, &text)
}

#[derive(Serialize)]
struct ProbabilitySummary<'a> {
    ask: &'a [String],
    given: &'a [String],
    density: bool,
    log_probability: f64,
    probability: f64,
}

fn probability(question: &ProbabilityQuestion, output: &Output) -> anyhow::Result<ExitCode> {
    let network = SpnModel::load(&question.evidence.model)?.spn.network();
    let given = evidence(&network, &question.evidence.given)?;
    let ask = evidence(&network, &question.ask)?;
    let log = network.log_conditional(&ask, &given)?;
    let asked = network.variables().iter().zip(&ask);
    let density = asked
        .filter(|(_, value)| value.is_some())
        .any(|(variable, _)| variable.values().is_none());
    let summary = ProbabilitySummary {
        ask: &question.ask,
        given: &question.evidence.given,
        density,
        log_probability: log,
        probability: log.exp(),
    };
    let given = match &question.evidence.given[..] {
        [] => String::new(),
        given => format!(" | {}", given.join(", ")),
    };
    let text = format!(
        "{}({}{given}) = {:.6} (log {log:.6})\n",
        if density { "density" } else { "P" },
        question.ask.join(", "),
        summary.probability
    );
    output.summary("spn query probability", &summary, &text)
}

#[derive(Serialize)]
struct ExplainSummary {
    log_density: f64,
    row: Vec<ExplainedValue>,
}

#[derive(Serialize)]
struct ExplainedValue {
    column: String,
    value: String,
    given: bool,
}

fn explain(question: &EvidenceQuestion, output: &Output) -> anyhow::Result<ExitCode> {
    let network = SpnModel::load(&question.model)?.spn.network();
    let given = evidence(&network, &question.given)?;
    let found = network.explain(&given)?;
    let values = network.variables().iter().zip(found.row.iter().zip(&given));
    let summary = ExplainSummary {
        log_density: found.log_density,
        row: values
            .map(|(variable, (value, given))| ExplainedValue {
                column: variable.name().to_owned(),
                value: variable.text(*value),
                given: given.is_some(),
            })
            .collect(),
    };
    let rows: Vec<Vec<String>> = summary
        .row
        .iter()
        .map(|shown| {
            let known = if shown.given { "given" } else { "" };
            let value = match shown.value.as_str() {
                "" => "(missing)",
                value => value,
            };
            [&shown.column, value, known].map(str::to_owned).to_vec()
        })
        .collect();
    let mut text = table(&["column", "value", ""], &rows);
    text.push_str(&format!(
        "Log-density of the whole row: {:.4}. Max-product; a more probable row may exist.\n",
        found.log_density
    ));
    output.summary("spn query explain", &summary, &text)
}

#[derive(Serialize)]
struct SampleSummary {
    rows: u64,
    seed: u64,
}

fn sample(question: &SampleQuestion, output: &Output) -> anyhow::Result<ExitCode> {
    let model = question.evidence.model.as_path();
    let out = question.force.open(question.out.as_ref(), &[model])?;
    let network = SpnModel::load(model)?.spn.network();
    let given = evidence(&network, &question.evidence.given)?;
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(network.variables().iter().map(|variable| variable.name()))?;
    for item in 0..question.rows {
        let row = network.sample(&given, question.seed, item)?;
        let values = network.variables().iter().zip(row);
        csv.write_record(values.map(|(variable, value)| variable.text(value)))?;
    }
    let summary = SampleSummary {
        rows: question.rows,
        seed: question.seed,
    };
    let text = format!("{} rows drawn.\n", count(question.rows));
    let rows = ("Answers", csv, out.as_ref());
    output.rows("spn query sample", &summary, rows, &text)
}

#[derive(Serialize)]
struct ClassifySummary {
    target: String,
    rows: usize,
    #[serde(flatten)]
    left_out: LeftOut,
    accuracy: Option<f64>,
}

fn classify(question: &ClassifyQuestion, output: &Output) -> anyhow::Result<ExitCode> {
    let out = question.table.out()?;
    let model = SpnModel::load(&question.table.model)?;
    let network = model.spn.network();
    let target = network.position(&question.target)?;
    let variable = &network.variables()[target];
    let asked = model.table.read_questions(&question.table.data)?;
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(["row", "class", "probability"])?;
    let (mut right, mut known) = (0u64, 0u64);
    for (row, number) in asked.rows.iter().zip(&asked.numbers) {
        let mut evidence = row.clone();
        let actual = evidence[target].take();
        let classes = network
            .posterior(target, &evidence)
            .with_context(|| format!("{}, row {number}", question.table.data.display()))?;
        let mut best = 0;
        for (class, probability) in classes.iter().enumerate() {
            if *probability > classes[best] {
                best = class;
            }
        }
        known += u64::from(actual.is_some());
        right += u64::from(actual == Some(best as f64));
        let class = variable.text(best as f64);
        let (number, probability) = (number.to_string(), classes[best].to_string());
        csv.write_record([&*number, &safe(&class), &probability])?;
    }
    let summary = ClassifySummary {
        target: question.target.clone(),
        rows: asked.rows.len(),
        left_out: asked.left_out,
        accuracy: (known > 0).then(|| right as f64 / known as f64),
    };
    let mut text = format!("{} rows classified.\n", count(summary.rows as u64));
    text.push_str(&left_out(&summary.left_out));
    if let Some(accuracy) = summary.accuracy {
        text.push_str(&format!(
            "Accuracy on the {} rows whose {} is known: {}.\n",
            count(known),
            question.target,
            percent(accuracy)
        ));
    }
    let rows = ("Answers", csv, out.as_ref());
    output.rows("spn query classify", &summary, rows, &text)
}

/// What `COLUMN=VALUE` say, by variable.
fn evidence(network: &Network, pairs: &[String]) -> anyhow::Result<Vec<Option<f64>>> {
    let named = pairs.iter().map(|pair| {
        let split = pair.split_once('=');
        split.with_context(|| format!("'{pair}' is not of the form COLUMN=VALUE"))
    });
    Ok(network.evidence(named.collect::<anyhow::Result<Vec<_>>>()?)?)
}
