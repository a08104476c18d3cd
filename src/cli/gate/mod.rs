//! `probity gate`: the bounds that a repository declares for its models, all at once.
//!
//! A file names the checks ([`file`]). Each is a specification as `probity run` takes it, and is run
//! by it, in a process and a directory of its own; what is reported is read from these directories,
//! as `probity report` does. Where the runs of an earlier gate are kept sealed, each share is
//! compared with theirs ([`baseline`]).

mod baseline;
mod file;

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, ensure};
use clap::Args;
use serde::Serialize;

use self::baseline::{Baseline, Before, Change, declared};
use self::file::{Check, GateFile};
use super::exit_code::ExitCode;
use super::inputs::{Hardware, new_run};
use super::invocation;
use super::out::Force;
use super::output::{Output, verdict};
use super::render::{interval, percent, table};
use probity::report::bounds::{BoundKind, BoundOutcome, NotDone, Verdict, to_junit, to_sarif};
use probity::report::text::not_taken;

/// Arguments of `probity gate`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit code 1 when a bound is broken or not shown to hold. What got worse since the sealed runs of [baseline] is said, and changes no exit code.\n\
                  The runs are kept in directories named as the checks: seal them to compare the next gate with them."
)]
pub(super) struct GateArgs {
    /// What to check
    #[arg(default_value = "probity.toml")]
    file: PathBuf,
    /// New directory for the runs, one for each check [default: the next free runs/gate-N]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// File for the outcome as SARIF 2.1.0
    #[arg(long, value_name = "FILE", help_heading = "Result")]
    sarif: Option<PathBuf>,
    /// File for the outcome as XML of JUnit
    #[arg(long, value_name = "FILE", help_heading = "Result")]
    junit: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    #[command(flatten)]
    hardware: Hardware,
}

/// What came of a check.
#[derive(Serialize)]
struct CheckOutcome {
    #[serde(flatten)]
    bound: BoundOutcome,
    /// What the sealed run of this check measured, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<Before>,
}

/// What came of all.
#[derive(Serialize)]
struct GateSummary {
    directory: PathBuf,
    /// Whether all bounds are shown to hold.
    holds: bool,
    checks: Vec<CheckOutcome>,
    /// Checks of which nothing is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_done: Vec<NotDone>,
}

/// Runs `probity gate`.
pub(super) fn run(args: &GateArgs, output: &Output) -> anyhow::Result<ExitCode> {
    ensure!(
        args.sarif.is_some() || args.junit.is_some() || !args.force.is_given(),
        "--force has no meaning without a file to write"
    );
    ensure!(
        args.sarif.is_none() || args.sarif != args.junit,
        "--sarif and --junit name the same file"
    );
    let inputs = [args.file.as_path()];
    let open = |out: &Option<PathBuf>| {
        let out = out.as_ref();
        out.map(|out| args.force.file(out, &inputs)).transpose()
    };
    let (sarif, junit) = (open(&args.sarif)?, open(&args.junit)?);
    // Everything that can be wrong with the file is found before anything is run.
    let gate = GateFile::read(&args.file)?;
    let baseline = gate.baseline.as_ref().map(Baseline::open).transpose()?;
    let before: Vec<Option<Before>> = match &baseline {
        Some(baseline) => {
            let of = |check: &Check| baseline.before(&check.name);
            gate.checks.iter().map(of).collect::<anyhow::Result<_>>()?
        }
        None => gate.checks.iter().map(|_| None).collect(),
    };
    let directory = new_run(args.out.clone(), "gate")?;
    let (mut checks, mut not_done) = (Vec::new(), Vec::new());
    for (check, before) in gate.checks.iter().zip(before) {
        output.remark(&format!("Checking {} …", check.name));
        let run = directory.file(&check.name);
        // The others are done all the same: who waits for them reads of this one there.
        if let Err(problem) = perform(check, &run, &args.hardware, output)? {
            not_done.push(NotDone {
                name: check.name.clone(),
                problem,
            });
            continue;
        }
        let mut bound = declared(&run)?;
        bound.name.clone_from(&check.name);
        (bound.file, bound.line) = (args.file.clone(), check.line);
        bound.worse = before.as_ref().and_then(|before| before.worse(&bound));
        checks.push(CheckOutcome { bound, before });
    }
    let bounds: Vec<BoundOutcome> = checks.iter().map(|check| check.bound.clone()).collect();
    if let Some(file) = sarif {
        let log = serde_json::to_string_pretty(&to_sarif(&bounds, &not_done))? + "\n";
        file.write(log.as_bytes())?;
    }
    if let Some(file) = junit {
        file.write(to_junit(&bounds, &not_done).as_bytes())?;
    }
    let summary = GateSummary {
        directory: directory.path().to_owned(),
        holds: not_done.is_empty() && bounds.iter().all(|bound| bound.verdict.holds()),
        checks,
        not_done,
    };
    output.summary("gate", &summary, &render(&summary))?;
    let said: Vec<String> = summary.not_done.iter().map(ToString::to_string).collect();
    ensure!(said.is_empty(), "{}", said.join("\n"));
    Ok(verdict(summary.holds))
}

/// Has `probity run` do `check`, in the directory `run`; an error within says why it could not.
fn perform(
    check: &Check,
    run: &Path,
    hardware: &Hardware,
    output: &Output,
) -> anyhow::Result<Result<(), String>> {
    let folder = tempfile::tempdir()?;
    let specification = folder.path().join("check.toml");
    std::fs::write(&specification, &check.specification)?;
    let mut command = invocation::program()?.command();
    command
        .arg("run")
        .arg(&specification)
        .arg("--out")
        .arg(run)
        .args(["--quiet", "--device", &hardware.device.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    if let Some(threads) = hardware.threads.given() {
        command.args(["--threads", &threads.to_string()]);
    }
    let done = command.output().context("cannot start probity")?;
    let said = String::from_utf8_lossy(&done.stderr);
    let said = said.trim();
    match done.status.code() {
        Some(0 | 1) if said.is_empty() => Ok(Ok(())),
        Some(0 | 1) => {
            output.remark(said);
            Ok(Ok(()))
        }
        _ if said.is_empty() => Ok(Err(done.status.to_string())),
        _ => Ok(Err(said.trim_start_matches("error: ").to_owned())),
    }
}

fn render(summary: &GateSummary) -> String {
    let mut names = vec![
        "check",
        "by",
        "of",
        "share",
        "95 % interval",
        "bound",
        "verdict",
    ];
    let is_compared = summary.checks.iter().any(|check| check.before.is_some());
    if is_compared {
        names.extend(["sealed run", "change"]);
    }
    let rows = summary.checks.iter().map(|check| {
        let bound = &check.bound;
        let sign = match bound.kind {
            BoundKind::FailAbove => "≤",
            BoundKind::FailBelow => "≥",
        };
        let verdict = match bound.verdict {
            Verdict::Within => "within",
            Verdict::Exceeds => "EXCEEDS",
            Verdict::Inconclusive => "INCONCLUSIVE",
            Verdict::NotApplicable => "NOT APPLICABLE",
        };
        let mut row = vec![
            bound.name.clone(),
            bound.protected.join(" × "),
            bound.of.clone(),
            percent(bound.share),
            match bound.is_counted() {
                true => "counted".to_owned(),
                false => interval(bound.ci95),
            },
            format!("{sign} {}", percent(bound.bound)),
            verdict.to_owned(),
        ];
        if is_compared {
            row.extend(match &check.before {
                None => ["-".to_owned(), "new".to_owned()],
                Some(before) => {
                    let change = match before.change(bound) {
                        None => "another share",
                        Some(Change::Worse) => "WORSE",
                        Some(Change::Better) => "better",
                        Some(Change::Alike) => "not told apart",
                    };
                    [interval(before.ci95), change.to_owned()]
                }
            });
        }
        row
    });
    let blind = summary.checks.iter().map(|check| &check.bound);
    let blind = blind.map(|bound| (&bound.name, not_taken(&bound.not_taken, &bound.protected)));
    let mut text: String = blind
        .filter_map(|(name, said)| Some(format!("{name}: {}.\n", said?)))
        .collect();
    text.push_str(&table(&names, &rows.collect::<Vec<_>>()));
    for bound in summary.checks.iter().map(|check| &check.bound) {
        for said in &bound.disadvantaged {
            text.push_str(&format!("{}: {said}\n", bound.name));
        }
    }
    text.push_str(match (summary.holds, summary.not_done.is_empty()) {
        (true, _) => "All bounds hold.\n",
        (false, true) => "Not all bounds are shown to hold.\n",
        (false, false) => "Not all checks were done.\n",
    });
    text.push_str(&format!("Runs: {}\n", summary.directory.display()));
    text
}
