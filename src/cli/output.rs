//! Where text goes: results to stdout, remarks and errors to stderr.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use clap::Args;
use comfy_table::Table;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, WeakProgressBar};
use probity::data::compressed::write_as;
use probity::nn::modality::ModalityName;
use probity::report::model::Findings;
use probity::report::{Extent, Medium, Report};
use probity::run::failure::said;
use probity::run::output_file::OutputFile;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::exit_code::ExitCode;
use super::option_names::OptionNames;
use super::supervision::{ProgressForm, Supervision};
use super::written::Written;

/// How often a bar is written as JSON, where it changed.
const JSON_EVERY: Duration = Duration::from_millis(250);

/// How reading is shown, and how often that moves.
const READING: &str =
    "{prefix} {spinner} {elapsed}; Ctrl-C ends it, and there is nothing to keep yet";
const TICK: Duration = Duration::from_millis(100);

/// Options of every command.
#[derive(Debug, Clone, Args)]
pub(super) struct Reporting {
    /// Print the summary as JSON on stdout, and nothing else there
    #[arg(long, global = true, help_heading = "Reporting")]
    json: bool,
    /// No progress and no remarks on stderr
    #[arg(
        short,
        long,
        global = true,
        help_heading = "Reporting",
        conflicts_with = "verbose"
    )]
    quiet: bool,
    /// Say all that there is to say of a result, and more on stderr
    #[arg(short, long, global = true, help_heading = "Reporting")]
    verbose: bool,
}

/// The figures of a command with what every summary says of itself.
#[derive(Serialize)]
pub(super) struct Summary<T> {
    schema_version: u32,
    command: &'static str,
    #[serde(flatten)]
    figures: T,
}

impl<T> Summary<T> {
    /// The summary of `command`.
    pub fn new(command: &'static str, figures: T) -> Summary<T> {
        Summary {
            schema_version: 1,
            command,
            figures,
        }
    }
}

impl<T> std::ops::Deref for Summary<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.figures
    }
}

/// 0 if what was asked for holds, else 1.
pub(super) fn verdict(holds: bool) -> ExitCode {
    ExitCode::from(u8::from(!holds))
}

/// How much is said, and in which form.
pub(super) struct Output {
    json: bool,
    quiet: bool,
    verbose: bool,
    progress: Option<ProgressForm>,
}

impl Output {
    pub fn new(reporting: &Reporting, supervision: &Supervision) -> Output {
        Output {
            json: reporting.json,
            quiet: reporting.quiet,
            verbose: reporting.verbose,
            progress: supervision.progress,
        }
    }

    /// Whether standard output is for data.
    pub fn is_json(&self) -> bool {
        self.json
    }

    /// Prints the result: `summary` with `--json`, else `text`.
    pub fn result<T: Serialize>(&self, summary: &T, text: &str) -> anyhow::Result<ExitCode> {
        if self.json {
            let mut json = serde_json::to_string_pretty(summary)?;
            json.push('\n');
            print(&json)?;
        } else {
            print(&visible(text))?;
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Prints the result of the run in `directory`: `summary` with `--json`, else what a report says
    /// of it, all of that with `--verbose`, and `next` below it.
    ///
    /// # Errors
    /// When no report can be made of the run.
    pub fn run<T: Serialize>(
        &self,
        summary: &T,
        directory: &Written,
        next: &str,
    ) -> anyhow::Result<ExitCode> {
        if self.json {
            return self.result(summary, next);
        }
        let extent = match directory.is_kept() {
            true => self.extent(),
            false => Extent::Essentials,
        };
        if !directory.is_kept() {
            // A page says how the run is repeated, which needs its directory.
            self.detail(
                "note: all that there is to say of a run is said where it is kept, with --out",
            );
        }
        let text = report(directory.path(), extent)?;
        self.result(summary, &format!("{text}\n{next}"))
    }

    /// How much is said of a result.
    fn extent(&self) -> Extent {
        match self.verbose {
            true => Extent::All,
            false => Extent::Essentials,
        }
    }

    /// Prints a result that lies in no directory: `summary` with `--json`, else what a report would say
    /// of the `findings` in it, and `next` below that.
    pub fn findings<T: Serialize, F: DeserializeOwned>(
        &self,
        summary: &T,
        findings: fn(Box<F>) -> Findings,
        next: &str,
    ) -> anyhow::Result<ExitCode> {
        if self.json {
            return self.result(summary, next);
        }
        let found = serde_json::from_value(serde_json::to_value(summary)?)?;
        let text = findings(Box::new(found)).to_plain(medium(), self.extent());
        let text = match next.is_empty() {
            true => text,
            false => format!("{text}\n{next}"),
        };
        self.result(summary, &text)
    }

    /// Prints the figures of `command` with `--json`, else `text`.
    pub fn summary<T: Serialize>(
        &self,
        command: &'static str,
        figures: &T,
        text: &str,
    ) -> anyhow::Result<ExitCode> {
        self.result(&Summary::new(command, figures), text)
    }

    /// Prints the result of `command` whose rows are for another program: they are written to
    /// `file`, or are the result themselves and `text` a remark.
    pub fn rows<T: Serialize>(
        &self,
        command: &'static str,
        figures: &T,
        (name, rows, file): (&str, csv::Writer<Vec<u8>>, Option<&OutputFile>),
        text: &str,
    ) -> anyhow::Result<ExitCode> {
        let rows = rows.into_inner()?;
        match file {
            Some(file) => {
                file.write_with(|out| write_as(file.path(), out, |out| out.write_all(&rows)))?;
                let text = format!("{text}{name}: {}\n", file.path().display());
                self.summary(command, figures, &text)
            }
            None => {
                self.remark(text.trim_end());
                if self.json {
                    return self.summary(command, figures, text);
                }
                // They are as they are: another program reads them.
                print(&String::from_utf8_lossy(&rows))?;
                Ok(ExitCode::SUCCESS)
            }
        }
    }

    /// For commands whose output is made for another program already.
    pub fn refuse_json(&self, command: &str) -> anyhow::Result<()> {
        anyhow::ensure!(!self.json, "{command} has no JSON form; leave --json out");
        Ok(())
    }

    /// A remark about what goes on.
    pub fn remark(&self, text: &str) {
        if !self.quiet {
            self.say("remark", text);
        }
    }

    /// A detail, with `--verbose`.
    pub fn detail(&self, text: &str) {
        if self.verbose {
            self.say("remark", text);
        }
    }

    /// An error and its causes, in the names of the options that were given.
    pub fn error(&self, error: &anyhow::Error, options: &OptionNames) {
        let text = options.in_text(error, &said(error.as_ref()));
        match self.progress {
            None => to_stderr(&format!("error: {text}")),
            Some(ProgressForm::Json) => self.say("error", &text),
        }
    }

    /// A line on stderr: the text, or a JSON object with it as the value of `key`.
    fn say(&self, key: &str, text: &str) {
        match self.progress {
            None => to_stderr(text),
            Some(ProgressForm::Json) => to_stderr(&serde_json::json!({ key: text }).to_string()),
        }
    }

    /// Says that a phase begins of which nobody knows how far it is, where progress is wanted as JSON.
    pub fn begin(&self, phase: &str) {
        if self.progress == Some(ProgressForm::Json) {
            let line = serde_json::json!({ "progress": {
                "phase": phase, "done": 0, "all": null, "message": "", "seconds_left": null,
            }});
            to_stderr(&line.to_string());
        }
    }

    /// Does `open`, and says meanwhile on a terminal that what a run of `modality` needs is read, and
    /// that there is nothing to keep yet.
    pub fn while_reading<T>(&self, modality: ModalityName, open: impl FnOnce() -> T) -> T {
        let is_shown = self.progress.is_none() && !self.quiet;
        let bar = is_shown.then(|| self.progress(0, READING));
        if let Some(bar) = &bar {
            bar.set_prefix(match modality {
                ModalityName::Table => "Reading the data",
                ModalityName::Text => "Reading the texts",
            });
            bar.enable_steady_tick(TICK);
        }
        let opened = open();
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
        opened
    }

    /// A progress bar on stderr; silent when that is no terminal, or with `--quiet`. Where progress
    /// is wanted as JSON, a line whenever it changed.
    pub fn progress(&self, length: u64, template: &str) -> ProgressBar {
        if self.progress == Some(ProgressForm::Json) {
            let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::hidden());
            let watched = bar.downgrade();
            std::thread::spawn(move || write_as_json(&watched));
            return bar;
        }
        let target = if self.quiet {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr_with_hz(10)
        };
        let bar = ProgressBar::with_draw_target(Some(length), target);
        if let Some(style) = style(template) {
            bar.set_style(style);
        }
        bar
    }
}

/// How bars of `template` look.
pub(super) fn style(template: &str) -> Option<ProgressStyle> {
    let style = ProgressStyle::with_template(template).ok()?;
    Some(style.progress_chars("=> "))
}

/// Writes `text` to stdout. A reader that has gone (`| head`) is no error: what the command
/// decided, its exit code above all, does not depend on who listens.
pub(super) fn print(text: &str) -> io::Result<()> {
    print_bytes(text.as_bytes())
}

/// Prints `bytes` as they are.
pub(super) fn print_bytes(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Writes the bar whenever it changed, until it is finished or gone.
fn write_as_json(bar: &WeakProgressBar) {
    let mut last = None;
    while let Some(bar) = bar.upgrade().filter(|bar| !bar.is_finished()) {
        let shown = (bar.prefix(), bar.position(), bar.length(), bar.message());
        // A bar that says nothing yet says less than what was said before it.
        let is_silent = last.is_none() && bar.prefix().is_empty() && bar.position() == 0;
        if !is_silent && last.as_ref() != Some(&shown) {
            let (phase, done, all, message) = &shown;
            let left = bar.eta().as_secs();
            let line = serde_json::json!({ "progress": {
                "phase": phase,
                "done": done,
                "all": all.filter(|&all| all > 0),
                "message": message,
                "seconds_left": (left > 0).then_some(left),
            }});
            to_stderr(&line.to_string());
            last = Some(shown);
        }
        drop(bar);
        std::thread::sleep(JSON_EVERY);
    }
}

/// What a report says of the run in `directory`.
fn report(directory: &Path, extent: Extent) -> anyhow::Result<String> {
    let report = Report::read(&[directory.to_owned()])?;
    Ok(report.to_plain(medium(), extent))
}

/// What text is fitted to.
fn medium() -> Medium {
    // It is known of standard output alone, and of that where it is a terminal.
    let columns = Table::new().width().filter(|columns| *columns > 0);
    columns.map_or(Medium::Stream, |columns| {
        Medium::Terminal(usize::from(columns))
    })
}

fn to_stderr(text: &str) {
    // Nobody is left to tell when stderr is closed.
    let _ = writeln!(io::stderr().lock(), "{}", visible(text));
}

/// `text` for a terminal: characters that would command it, which names of columns and files may
/// hold, are written as escapes.
fn visible(text: &str) -> Cow<'_, str> {
    let is_command = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if !text.contains(is_command) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match is_command(c) {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_commands_a_terminal() {
        assert_eq!(visible("a\tb\nä 😀"), "a\tb\nä 😀");
        assert_eq!(
            visible("x\u{1b}[2J\r\u{7}\u{9b}0m"),
            "x\\u{1b}[2J\\r\\u{7}\\u{9b}0m"
        );
    }
}
