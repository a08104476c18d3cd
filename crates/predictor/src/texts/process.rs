//! A process that classifies texts: see [`super::protocol`].

use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;

use super::asking::Unread;
use super::protocol::{Greeting, Reply, Welcome};
use crate::error::PredictorError;
use crate::process::{KillHandle, Process};
use crate::protocol::longest_answer;

/// The command of a process that classifies texts, and the settings of the conversation with it.
#[derive(Debug, Clone)]
pub(super) struct TextCommand {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// The folder in which the process is started.
    pub directory: PathBuf,
    /// The time within which every answer is due.
    pub timeout: Duration,
    /// The classes, where they are given.
    pub classes: Option<Vec<String>>,
    /// The largest number of texts of a request.
    pub texts: usize,
}

/// A running process of texts.
pub(super) struct TextProcess {
    process: Process,
    /// The description that the process gives of itself.
    pub welcome: Welcome,
    batches: u64,
}

impl TextCommand {
    /// Starts a process, which `ender` will end, and greets it.
    pub(super) fn start(&self, ender: &KillHandle) -> Result<TextProcess, PredictorError> {
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

/// The largest number of classes, so that their names fit into the answer to a greeting.
const MOST_CLASSES: usize = 10_000;

impl TextProcess {
    /// Sends a [`request`] about so many texts, as many as fit one.
    pub(super) fn send(&mut self, request: &[u8], texts: usize) -> Result<(), PredictorError> {
        self.batches += 1;
        let mut line = format!("{{\"batch\":{},\"texts\":", self.batches).into_bytes();
        line.extend_from_slice(request);
        line.extend_from_slice(b"}\n");
        let longest = longest_answer(texts, self.welcome.classes.len());
        self.process.send(line, texts, longest)
    }

    /// Waits for the answer to the request about so many texts that was sent last.
    pub(super) fn receive(&mut self, texts: usize) -> Result<Unread, PredictorError> {
        let longest = longest_answer(texts, self.welcome.classes.len());
        let line = self.process.receive(texts, longest)?;
        let (number, batch) = (self.process.lines(), self.batches);
        Ok(Box::new(move || Reply::read(&line, number, batch, texts)))
    }
}

/// Encodes `texts` as a request.
pub(super) fn request(texts: &[&str]) -> Result<Vec<u8>, PredictorError> {
    serde_json::to_vec(texts).map_err(|error| PredictorError::Reported(error.to_string()))
}

/// Writes `value` as a line of JSON.
fn line(value: &impl Serialize) -> Result<Vec<u8>, PredictorError> {
    let mut line =
        serde_json::to_vec(value).map_err(|error| PredictorError::Reported(error.to_string()))?;
    line.push(b'\n');
    Ok(line)
}
