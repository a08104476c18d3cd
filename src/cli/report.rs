//! `probity report`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::out::Force;
use super::output::{Output, print};
use probity::report::Report;
use probity::report::bounds::{to_junit, to_sarif};

/// Arguments of `probity report`.
#[derive(Debug, Args)]
#[command(
    after_help = "The page is one file that loads nothing. Without --out it goes to standard output."
)]
pub(super) struct ReportArgs {
    /// Run directories, one section each; two audits of the same data by two models are compared as
    /// well
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// File to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    /// Form of the report
    #[arg(long, value_enum, default_value_t)]
    format: FormatArg,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum FormatArg {
    /// One self-contained page
    #[default]
    Html,
    /// The same as Markdown, tables in place of charts
    Markdown,
    /// The figures and the pairs that are shown, as data
    Json,
    /// Part of a model card, as Markdown, with blanks for its owner
    ModelCard,
    /// The declared bounds as SARIF 2.1.0: a rule for each, a result for each that does not hold
    Sarif,
    /// The declared bounds as XML of JUnit: a test case for each
    Junit,
}

/// What was written.
#[derive(Serialize)]
struct ReportSummary {
    file: PathBuf,
    runs: usize,
    bytes: usize,
}

/// Runs `probity report`.
pub(super) fn run(args: ReportArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let runs: Vec<&Path> = args.runs.iter().map(PathBuf::as_path).collect();
    let out = args.force.open(args.out.as_ref(), &runs)?;
    let report = Report::read(&args.runs)?;
    let text = match args.format {
        FormatArg::Html => report.to_html()?,
        FormatArg::Markdown => report.to_markdown(),
        FormatArg::ModelCard => report.to_model_card(),
        FormatArg::Sarif => {
            serde_json::to_string_pretty(&to_sarif(&report.declared_bounds()?))? + "\n"
        }
        FormatArg::Junit => to_junit(&report.declared_bounds()?),
        FormatArg::Json => serde_json::to_string_pretty(&report)? + "\n",
    };
    let Some(file) = out else {
        anyhow::ensure!(
            args.format == FormatArg::Json || !output.is_json(),
            "--json prints data; add --out FILE, or --format json for the report as data"
        );
        print(&text)?;
        return Ok(ExitCode::SUCCESS);
    };
    file.write(text.as_bytes())?;
    let said = format!("Report: {}\n", file.path().display());
    let summary = ReportSummary {
        file: file.path().to_owned(),
        runs: report.runs.len(),
        bytes: text.len(),
    };
    output.summary("report", &summary, &said)
}
