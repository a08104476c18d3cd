//! Graphs that are computed in processes of their own.
//!
//! What a graph computes is not bounded by its file: a constant of 200,000 × 200,000 numbers has
//! 158 bytes, a loop may have no end. A program that calls [`compute_in`] leaves models to worker
//! processes, each of which has its [`Limits`]. A worker that takes more, panics or ends is an
//! error of the one run that it was asked for. Without [`compute_in`], as in a library, models are
//! computed where they are asked for.
//!
//! A worker is the same program in another process, so its numbers are the same to the last bit. It
//! answers one request at a time; runs that are asked for side by side have a worker each.
//!
//! A message is a number of bytes, 8 of them, little-endian, and a value in `postcard`.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{self, Child, ChildStdin, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use probity_run::program::Program;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::computation::Computation;
use super::file::OnnxFile;
use super::tensor::Tensor;
use super::{OnnxError, Output, Port};

/// The limits of what a worker may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The most bytes of its address space, beside eight times the size of its file.
    pub memory: u64,
    /// The most time for one answer.
    pub time: Duration,
}

impl Default for Limits {
    /// Returns the usual limits: 8 GiB and two minutes.
    fn default() -> Limits {
        Limits {
            memory: 8 << 30,
            time: Duration::from_secs(120),
        }
    }
}

/// The workers of this process.
struct Workers {
    /// The program that each of them runs.
    program: Program,
    limits: Limits,
}

/// The most bytes that are shown of the last message of a worker.
const LAST_WORDS: u64 = 1000;

static WORKERS: OnceLock<Workers> = OnceLock::new();

/// Lets graphs be computed by `program` from now on, which calls [`serve`] when it is started. The
/// first call counts.
pub fn compute_in(program: Program, limits: Limits) {
    let _ = WORKERS.set(Workers { program, limits });
}

/// Returns the limits of workers, where graphs are left to some.
pub(super) fn limits() -> Option<Limits> {
    WORKERS.get().map(|workers| workers.limits)
}

/// The order that tells a worker which model it computes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Order {
    pub path: PathBuf,
    pub output: String,
    /// The most bytes that the worker may take.
    pub memory: u64,
}

#[derive(Serialize, Deserialize)]
enum Request {
    Open(Order),
    Word(String),
    Run(Vec<Vec<Tensor>>),
}

#[derive(Serialize, Deserialize)]
enum Answer {
    Opened(Vec<Port>),
    Word(i32),
    Computed(Vec<Output>),
    Failed(Failure),
}

/// The form in which a worker reports an [`OnnxError`] of a model that could be read.
#[derive(Serialize, Deserialize)]
enum Failure {
    Broken(String),
    Operator(String),
    Run(Vec<usize>, String),
    OutputType(String),
}

impl Failure {
    fn from_error(error: OnnxError) -> Failure {
        match error {
            OnnxError::Operator { reason, .. } => Failure::Operator(reason),
            OnnxError::Run { shape, reason, .. } => Failure::Run(shape, reason),
            OnnxError::OutputType { name, .. } => Failure::OutputType(name),
            OnnxError::Broken { reason, .. } => Failure::Broken(reason),
            OnnxError::Read { .. } | OnnxError::Name { .. } | OnnxError::Worker { .. } => {
                Failure::Broken(error.to_string())
            }
        }
    }

    fn at(self, path: &Path) -> OnnxError {
        let path = path.to_path_buf();
        match self {
            Failure::Broken(reason) => OnnxError::Broken { path, reason },
            Failure::Operator(reason) => OnnxError::Operator { path, reason },
            Failure::Run(shape, reason) => OnnxError::Run {
                path,
                shape,
                reason,
            },
            Failure::OutputType(name) => OnnxError::OutputType { path, name },
        }
    }
}

/// A worker process with a model.
pub(super) struct Worker {
    path: PathBuf,
    memory: u64,
    time: Duration,
    child: Child,
    input: Option<ChildStdin>,
    answers: Receiver<Vec<u8>>,
}

impl Worker {
    /// Starts a worker for `order`, tells it `words`, and returns the inputs of its model.
    pub fn start(order: &Order, words: &[String]) -> Result<(Worker, Vec<Port>), OnnxError> {
        let failed = |source: io::Error| OnnxError::Worker {
            path: order.path.clone(),
            reason: format!("it cannot be started: {source}"),
        };
        let workers = WORKERS.get();
        let workers = workers.ok_or_else(|| failed(io::ErrorKind::NotFound.into()))?;
        let mut command = workers.program.command();
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // Ctrl-C on the terminal is for the process that asks, which then lets a round end.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().map_err(failed)?;
        let input = child.stdin.take();
        let (answered, answers) = sync_channel(1);
        if let Some(mut output) = child.stdout.take() {
            thread::spawn(move || {
                while let Ok(Some(answer)) = read_frame(&mut output) {
                    if answered.send(answer).is_err() {
                        return;
                    }
                }
            });
        }
        let mut worker = Worker {
            path: order.path.clone(),
            memory: order.memory,
            time: workers.limits.time,
            child,
            input,
            answers,
        };
        let inputs = match worker.ask(&Request::Open(order.clone()))? {
            Answer::Opened(inputs) => inputs,
            other => return Err(worker.other(other)),
        };
        for word in words {
            worker.word(word)?;
        }
        Ok((worker, inputs))
    }

    /// Returns the number of `text` among the words of the model.
    pub fn word(&mut self, text: &str) -> Result<i32, OnnxError> {
        match self.ask(&Request::Word(text.to_owned()))? {
            Answer::Word(number) => Ok(number),
            other => Err(self.other(other)),
        }
    }

    /// Computes the outputs of the model for each of `runs`.
    pub fn run(&mut self, runs: Vec<Vec<Tensor>>) -> Result<Vec<Output>, OnnxError> {
        let asked = runs.len();
        match self.ask(&Request::Run(runs))? {
            Answer::Computed(outputs) if outputs.len() == asked => Ok(outputs),
            other => Err(self.other(other)),
        }
    }

    /// Returns the error that `answer`, which is not the answer asked for, tells.
    fn other(&self, answer: Answer) -> OnnxError {
        match answer {
            Answer::Failed(failure) => failure.at(&self.path),
            _ => self.lost("it answered something else".to_owned()),
        }
    }

    fn lost(&self, reason: String) -> OnnxError {
        OnnxError::Worker {
            path: self.path.clone(),
            reason,
        }
    }

    fn ask(&mut self, request: &Request) -> Result<Answer, OnnxError> {
        // A worker that listens no more tells the reason at its end.
        if let Some(input) = &mut self.input
            && write_frame(input, request).is_err()
        {
            self.input = None;
        }
        let answer = match self.answers.recv_timeout(self.time) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Timeout) => {
                let seconds = self.time.as_secs();
                return Err(self.lost(format!("it took longer than {seconds} seconds")));
            }
            Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
        };
        postcard::from_bytes(&answer).map_err(|error| self.lost(error.to_string()))
    }

    /// Returns the error that tells how the worker ended.
    fn ended(&mut self) -> OnnxError {
        self.input = None;
        let mut said = String::new();
        if let Some(errors) = self.child.stderr.take() {
            let _ = errors.take(LAST_WORDS).read_to_string(&mut said);
        }
        let status = match self.child.wait() {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        let said: Vec<&str> = said.lines().map(str::trim).collect();
        self.lost(format!(
            "its process ended ({status}), which may take {} GiB: {}",
            self.memory >> 30,
            said.join(" ")
        ))
    }
}

impl Drop for Worker {
    /// Ends the process: nothing that it computes is of use any more.
    fn drop(&mut self) {
        self.input = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Answers requests for graphs on the standard streams, until there are none: the program named in
/// [`compute_in`] calls it.
///
/// # Errors
/// When the streams are not those of a program that asks.
pub fn serve() -> io::Result<()> {
    let (read, requests) = sync_channel(1);
    // The process that asks may be gone while a graph is computed that has no end: then this
    // process ends too.
    thread::spawn(move || {
        let mut input = io::stdin().lock();
        while let Ok(Some(bytes)) = read_frame(&mut input) {
            if read.send(bytes).is_err() {
                return;
            }
        }
        process::exit(0);
    });
    let mut answers = io::stdout().lock();
    let mut model: Option<Computation> = None;
    while let Ok(bytes) = requests.recv() {
        let request = from_frame(&bytes)?;
        let answer = match (request, &mut model) {
            (Request::Open(order), _) => {
                limit(order.memory)?;
                let opened = OnnxFile::read(&order.path)
                    .and_then(|file| Computation::new(&file, &order.output));
                opened.map(|opened| Answer::Opened(model.insert(opened).inputs().to_vec()))
            }
            (Request::Word(text), Some(model)) => Ok(Answer::Word(model.word(&text))),
            (Request::Run(runs), Some(model)) => {
                let outputs = runs.into_iter().map(|inputs| model.run(inputs));
                outputs.collect::<Result<_, _>>().map(Answer::Computed)
            }
            (_, None) => return Err(io::ErrorKind::InvalidData.into()),
        };
        let answer = answer.unwrap_or_else(|error| Answer::Failed(Failure::from_error(error)));
        write_frame(&mut answers, &answer)?;
    }
    Ok(())
}

/// Bounds the memory of this process.
fn limit(bytes: u64) -> io::Result<()> {
    #[cfg(unix)]
    nix::sys::resource::setrlimit(nix::sys::resource::Resource::RLIMIT_AS, bytes, bytes)?;
    #[cfg(not(unix))]
    let _ = bytes;
    Ok(())
}

fn from_frame<T: DeserializeOwned>(bytes: &[u8]) -> io::Result<T> {
    postcard::from_bytes(bytes).map_err(io::Error::other)
}

fn write_frame(stream: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    let bytes = postcard::to_stdvec(value).map_err(io::Error::other)?;
    stream.write_all(&(bytes.len() as u64).to_le_bytes())?;
    stream.write_all(&bytes)?;
    stream.flush()
}

/// Reads the next message; `None` at the end.
fn read_frame(stream: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 8];
    match stream.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        outcome => outcome?,
    }
    let length = u64::from_le_bytes(length);
    let mut bytes = Vec::new();
    stream.take(length).read_to_end(&mut bytes)?;
    match bytes.len() as u64 == length {
        true => Ok(Some(bytes)),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_worker_that_does_not_answer_is_given_up() {
        let mut child = Command::new("sleep")
            .arg("3600")
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let (_answered, answers) = sync_channel(1);
        let mut worker = Worker {
            path: "endless.onnx".into(),
            memory: 1 << 30,
            time: Duration::from_secs(1),
            input: child.stdin.take(),
            child,
            answers,
        };
        let given_up = worker.run(vec![Vec::new()]).unwrap_err().to_string();
        assert!(
            given_up.contains("took longer than 1 seconds") && given_up.contains("endless.onnx"),
            "{given_up}"
        );
    }
}
