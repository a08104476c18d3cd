//! The output of the commands: results go to stdout, remarks and progress to stderr.

use std::io::{self, Write};

use clap::Args;
use comfy_table::{Cell, CellAlignment, Table, presets};
use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use probity_fairness::statistics::Mean;

/// Options of every paper.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "Reporting")]
pub struct Reporting {
    /// Print the figures as JSON on stdout, and nothing else there
    #[arg(long, global = true)]
    json: bool,
    /// No progress and no remarks on stderr
    #[arg(short, long, global = true)]
    quiet: bool,
}

/// The output of a command: how much it prints, and in which form.
pub struct Output {
    reporting: Reporting,
}

impl Output {
    pub fn new(reporting: Reporting) -> Output {
        Output { reporting }
    }

    /// Prints the result: `summary` with `--json`, else `text`. A reader that has gone (`| head`)
    /// is no error.
    pub fn result<T: Serialize>(&self, summary: &T, text: &str) -> anyhow::Result<()> {
        let text = match self.reporting.json {
            true => serde_json::to_string_pretty(summary)? + "\n",
            false => text.to_owned(),
        };
        match io::stdout().lock().write_all(text.as_bytes()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Prints a remark about the progress of the work, unless `--quiet` is given.
    pub fn remark(&self, text: &str) {
        if !self.reporting.quiet {
            eprintln!("{text}");
        }
    }

    /// A progress bar on stderr; silent when that is no terminal, or with `--quiet`.
    pub fn progress(&self, length: u64, template: &str) -> ProgressBar {
        let target = match self.reporting.quiet {
            true => ProgressDrawTarget::hidden(),
            false => ProgressDrawTarget::stderr_with_hz(10),
        };
        let bar = ProgressBar::with_draw_target(Some(length), target);
        match ProgressStyle::with_template(template) {
            Ok(style) => bar.with_style(style.progress_chars("=> ")),
            Err(_) => bar,
        }
    }
}

/// Renders a Markdown table with the header `first | second | third`; columns after the first are
/// right-aligned.
pub fn table(header: &str, rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(header.split(" | ").collect::<Vec<&str>>());
    for row in rows {
        table.add_row(row.iter().enumerate().map(|(column, text)| {
            Cell::new(text).set_alignment(match column {
                0 => CellAlignment::Left,
                _ => CellAlignment::Right,
            })
        }));
    }
    format!("{table}\n")
}

/// Writes 1234567 as `1,234,567`.
pub fn count(number: u64) -> String {
    HumanCount(number).to_string()
}

/// Writes a mean with its 95 % interval, where it has one, each number by `format`.
pub fn interval(mean: &Mean, format: impl Fn(f64) -> String) -> String {
    match mean.ci95 {
        Some([low, high]) => format!("{} ({} – {})", format(mean.mean), format(low), format(high)),
        None => format(mean.mean),
    }
}
