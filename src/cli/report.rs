//! `probity report`

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde::Serialize;

use super::exit_code::ExitCode;
use super::out::Force;
use super::output::{Output, print_bytes};
use probity::report::{Form, Report};

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
    #[arg(long, value_parser = form(), default_value = Form::default().name())]
    format: Form,
    /// File (JSON) with what models, data and runs are called, by the paths that the runs name them
    /// by: a service knows the names that people gave them
    #[arg(long, value_name = "FILE", hide = true)]
    names: Option<PathBuf>,
}

/// The form of that name; those of the library are the choices.
fn form() -> impl TypedValueParser<Value = Form> {
    let choices = Form::ALL.map(|form| PossibleValue::new(form.name()).help(form.help()));
    PossibleValuesParser::new(choices).try_map(|name| Form::named(&name))
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
    let mut report = Report::read(&args.runs)?;
    if let Some(file) = &args.names {
        let read = std::fs::read(file).with_context(|| format!("reading {}", file.display()))?;
        let names: serde_json::Result<BTreeMap<String, String>> = serde_json::from_slice(&read);
        report.call(&names.with_context(|| format!("reading {}", file.display()))?);
    }
    let bytes = report.render(args.format, args.out.as_deref())?;
    let Some(file) = out else {
        anyhow::ensure!(
            args.format == Form::Json || !output.is_json(),
            "--json prints data; add --out FILE, or --format json for the report as data"
        );
        print_bytes(&bytes)?;
        return Ok(ExitCode::SUCCESS);
    };
    file.write(&bytes)?;
    let said = format!("Report: {}\n", file.path().display());
    let summary = ReportSummary {
        file: file.path().to_owned(),
        runs: report.runs.len(),
        bytes: bytes.len(),
    };
    output.summary("report", &summary, &said)
}
