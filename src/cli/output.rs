//! Where text goes: results to stdout, remarks and errors to stderr.

use std::io::{self, Write};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use super::Reporting;

/// How much is said, and in which form.
pub(super) struct Output {
    json: bool,
    quiet: bool,
    verbose: bool,
}

impl Output {
    pub fn new(reporting: &Reporting) -> Output {
        Output {
            json: reporting.json,
            quiet: reporting.quiet,
            verbose: reporting.verbose,
        }
    }

    /// Whether standard output is for data.
    pub fn is_json(&self) -> bool {
        self.json
    }

    /// Prints the result: `summary` with `--json`, else `text`.
    pub fn result<T: Serialize>(&self, summary: &T, text: &str) -> anyhow::Result<()> {
        if self.json {
            let mut json = serde_json::to_string_pretty(summary)?;
            json.push('\n');
            print(&json)?;
        } else {
            print(text)?;
        }
        Ok(())
    }

    /// For commands whose output is made for another program already.
    pub fn refuse_json(&self, command: &str) -> anyhow::Result<()> {
        anyhow::ensure!(!self.json, "{command} has no JSON form; leave --json out");
        Ok(())
    }

    /// A remark about what goes on.
    pub fn remark(&self, text: &str) {
        if !self.quiet {
            to_stderr(text);
        }
    }

    /// A detail, with `--verbose`.
    pub fn detail(&self, text: &str) {
        if self.verbose {
            to_stderr(text);
        }
    }

    /// An error and its causes.
    pub fn error(&self, error: &anyhow::Error) {
        let mut text = format!("error: {error}");
        for cause in error.chain().skip(1) {
            let cause = cause.to_string();
            if !text.contains(&cause) {
                text.push_str(&format!(": {cause}"));
            }
        }
        to_stderr(&text);
    }

    /// A progress bar on stderr; silent when that is no terminal, or with `--quiet`.
    pub fn progress(&self, length: u64, template: &str) -> ProgressBar {
        let target = if self.quiet {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr_with_hz(10)
        };
        let bar = ProgressBar::with_draw_target(Some(length), target);
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar
    }
}

/// Writes `text` to stdout. A reader that has gone (`| head`) is no error: what the command decided,
/// its exit code above all, does not depend on who listens.
pub(super) fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

fn to_stderr(text: &str) {
    // Nobody is left to tell when stderr is closed.
    let _ = writeln!(io::stderr().lock(), "{text}");
}
