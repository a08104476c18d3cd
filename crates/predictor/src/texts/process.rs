//! A process that classifies texts: see [`super::protocol`].

use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;

use super::protocol::{Greeting, Reply, Welcome};
use crate::error::PredictorError;
use crate::process::{Ender, Process};
use crate::protocol::longest_answer;

/// How a process of texts is started and spoken to.
#[derive(Debug, Clone)]
pub(super) struct TextCommand {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// Where it is started.
    pub directory: PathBuf,
    /// Every answer is due within this time.
    pub timeout: Duration,
    /// Its classes, where they are given.
    pub classes: Option<Vec<String>>,
    /// No request has more texts.
    pub texts: usize,
}

/// A running process of texts.
pub(super) struct TextProcess {
    process: Process,
    /// What it says of itself.
    pub welcome: Welcome,
    batches: u64,
}

#[derive(Serialize)]
struct Batch<'a> {
    batch: u64,
    texts: &'a [&'a str],
}

impl TextCommand {
    /// Starts a process, which `ender` will end, and greets it.
    pub(super) fn start(&self, ender: &Ender) -> Result<TextProcess, PredictorError> {
        let mut process = Process::start(&self.words, &self.directory, self.timeout)?;
        ender.add(process.lifetime());
        let greeting = line(&Greeting::new(self.classes.as_deref(), self.texts))?;
        let classes = self.classes.as_ref().map_or(MOST_CLASSES, Vec::len);
        let answer = process.exchange(greeting, 0, longest_answer(0, classes))?;
        let welcome = Welcome::read(&answer, process.lines(), self.classes.as_deref())?;
        Ok(TextProcess {
            process,
            welcome,
            batches: 0,
        })
    }
}

/// Classes whose names fit into a greeting's answer.
const MOST_CLASSES: usize = 10_000;

impl TextProcess {
    /// Asks about `texts`, as many as fit one request.
    pub(super) fn ask(&mut self, texts: &[&str]) -> Result<Reply, PredictorError> {
        self.batches += 1;
        let batch = self.batches;
        let request = line(&Batch { batch, texts })?;
        let longest = longest_answer(texts.len(), self.welcome.classes.len());
        let answer = self.process.exchange(request, texts.len(), longest)?;
        Reply::read(&answer, self.process.lines(), batch, texts.len())
    }
}

/// `value` as a line.
fn line(value: &impl Serialize) -> Result<Vec<u8>, PredictorError> {
    let mut line =
        serde_json::to_vec(value).map_err(|error| PredictorError::Reported(error.to_string()))?;
    line.push(b'\n');
    Ok(line)
}
