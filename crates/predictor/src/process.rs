//! A process that answers line by line: started once, asked many times, ended whatever happens.
//!
//! Neither side can block the other for ever. One thread writes to the process, one reads its
//! output, one keeps the end of what it writes to its standard error; the caller waits for the
//! reader with a time limit. The reader hands over one line at a time, so a process that floods its
//! output waits for its reader, not the memory.
//!
//! The process leads a process group of its own: Ctrl-C on the terminal reaches Probity alone,
//! which then lets the round that is under way end. Where the process must be killed, so is the
//! group: what it has started.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::error::PredictorError;
use super::protocol::excerpt;

/// The time that a process whose streams are closed may take to end by itself.
const GRACE: Duration = Duration::from_secs(1);

/// The time between two looks at an ending process.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// The time between two looks at the process while an answer is waited for.
const WATCH_EVERY: Duration = Duration::from_millis(100);

/// The number of lines of standard error that are kept; the next constant is the number of bytes of
/// each.
const LAST_LINES: usize = 8;
const LAST_BYTES: usize = 300;

/// An event that comes from the process.
enum Event {
    Line(Vec<u8>),
    /// The beginning of a line that is too long.
    TooLong(Vec<u8>),
    OutputClosed,
    InputClosed,
}

/// A running process.
pub(super) struct Process {
    lifetime: Lifetime,
    requests: Option<Sender<Vec<u8>>>,
    events: Receiver<Event>,
    last_words: LastWords,
    limit: Arc<AtomicUsize>,
    timeout: Duration,
    lines: u64,
    answered: u64,
}

impl Process {
    /// Starts `words` (a program and its arguments) in `directory`; every answer is due within
    /// `timeout`.
    pub(super) fn start(
        words: &[String],
        directory: &Path,
        timeout: Duration,
    ) -> Result<Process, PredictorError> {
        let command = words.join(" ");
        let failed = |reason: String| PredictorError::Start {
            command: command.clone(),
            reason,
        };
        let (program, arguments) = words
            .split_first()
            .ok_or_else(|| PredictorError::Words(command.clone()))?;
        let mut builder = Command::new(program);
        builder
            .args(arguments)
            .current_dir(directory)
            // A Python script may then leave out `flush=True`.
            .env("PYTHONUNBUFFERED", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut builder, 0);
        let mut child = builder
            .spawn()
            .map_err(|error| failed(format!("{error} (in {})", directory.display())))?;
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let lifetime = Lifetime::new(child);
        let (Some(input), Some(output), Some(errors)) = streams else {
            return Err(failed("its streams cannot be used".into()));
        };
        let (requests, to_write) = channel();
        let (events, received) = sync_channel(1);
        let limit = Arc::new(AtomicUsize::new(1 << 16));
        let last_words = LastWords::default();
        let (closed, shared_limit, kept) = (events.clone(), limit.clone(), last_words.clone());
        thread::spawn(move || write_requests(input, &to_write, &closed));
        thread::spawn(move || read_lines(output, &shared_limit, &events));
        thread::spawn(move || kept.keep(errors));
        Ok(Process {
            lifetime,
            requests: Some(requests),
            events: received,
            last_words,
            limit,
            timeout,
            lines: 0,
            answered: 0,
        })
    }

    /// Returns a handle that ends the process from elsewhere.
    pub(super) fn lifetime(&self) -> Lifetime {
        self.lifetime.clone()
    }

    /// Returns the number of lines that the process wrote so far.
    pub(super) fn lines(&self) -> u64 {
        self.lines
    }

    /// Writes `request`, one line about `rows` rows, and waits for one line of at most `longest`
    /// bytes.
    pub(super) fn exchange(
        &mut self,
        request: Vec<u8>,
        rows: usize,
        longest: usize,
    ) -> Result<Vec<u8>, PredictorError> {
        self.send(request, rows, longest)?;
        self.receive(rows, longest)
    }

    /// Writes `request`, one line about `rows` rows that a line of at most `longest` bytes will
    /// answer.
    pub(super) fn send(
        &mut self,
        request: Vec<u8>,
        rows: usize,
        longest: usize,
    ) -> Result<(), PredictorError> {
        match self.events.try_recv() {
            Ok(Event::Line(line)) => {
                return Err(PredictorError::Unasked {
                    line: self.lines + 1,
                    excerpt: format!("'{}'", excerpt(&line, 0)),
                });
            }
            Ok(event) => return Err(self.failure(&event, rows, longest)),
            Err(_) => {}
        }
        self.limit.store(longest, Ordering::Relaxed);
        // Where the writer has gone it has said why.
        if let Some(requests) = &self.requests {
            let _ = requests.send(request);
        }
        Ok(())
    }

    /// Waits for the line that answers what was [sent](Process::send).
    pub(super) fn receive(
        &mut self,
        rows: usize,
        longest: usize,
    ) -> Result<Vec<u8>, PredictorError> {
        match self.next_event() {
            Ok(Event::Line(line)) => {
                self.lines += 1;
                self.answered += u64::from(rows > 0);
                Ok(line)
            }
            Ok(event) => Err(self.failure(&event, rows, longest)),
            Err(RecvTimeoutError::Timeout) => Err(PredictorError::Slow {
                rows,
                seconds: self.timeout.as_secs_f64(),
                errors: self.last_words.text(),
            }),
            Err(RecvTimeoutError::Disconnected) => {
                Err(self.failure(&Event::OutputClosed, rows, longest))
            }
        }
    }

    /// Returns the next event, within the time for an answer. A process that has ended keeps nobody
    /// waiting, also where something that it started still holds its output open.
    fn next_event(&self) -> Result<Event, RecvTimeoutError> {
        let asked = Instant::now();
        loop {
            let left = self.timeout.saturating_sub(asked.elapsed());
            match self.events.recv_timeout(left.min(WATCH_EVERY)) {
                Err(RecvTimeoutError::Timeout) if left > WATCH_EVERY => {
                    self.lifetime.running().ended();
                }
                event => return event,
            }
        }
    }

    /// Returns the error that `event`, which is no line, stands for.
    fn failure(&mut self, event: &Event, rows: usize, longest: usize) -> PredictorError {
        if matches!(event, Event::TooLong(_)) {
            return PredictorError::TooLong {
                line: self.lines + 1,
                bytes: longest,
                rows,
            };
        }
        self.requests = None;
        let answered = self.answered;
        if let Some(status) = self.lifetime.wait(GRACE) {
            self.last_words.wait(GRACE);
            return PredictorError::Ended {
                status: status.to_string(),
                answered,
                errors: self.last_words.text(),
            };
        }
        let stream = match event {
            Event::InputClosed => "input",
            _ => "output",
        };
        PredictorError::Closed {
            stream,
            answered,
            errors: self.last_words.text(),
        }
    }
}

impl Drop for Process {
    /// Closes the process's input, which asks it to end; then ends it.
    fn drop(&mut self) {
        self.requests = None;
        self.lifetime.wait(GRACE);
        self.lifetime.end();
    }
}

/// A handle that ends the processes of a predictor, from any thread.
#[derive(Clone, Default)]
pub struct KillHandle {
    lifetimes: Arc<Mutex<Vec<Lifetime>>>,
}

impl KillHandle {
    /// Adds `lifetime` to the processes that are ended.
    pub(super) fn add(&self, lifetime: Lifetime) {
        let mut lifetimes = self
            .lifetimes
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        lifetimes.retain(|other| other.running().ended().is_none());
        lifetimes.push(lifetime);
    }

    /// Ends the processes, and what they have started, unless they have ended.
    pub fn end(&self) {
        let lifetimes = self
            .lifetimes
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        lifetimes.iter().for_each(Lifetime::end);
    }
}

/// A process from its start to its end, which any thread can cause; it is not left as a zombie.
#[derive(Clone)]
pub(super) struct Lifetime {
    running: Arc<Mutex<Running>>,
}

/// A process, and its exit status if its end was noticed.
struct Running {
    child: Child,
    ended: Option<ExitStatus>,
}

impl Running {
    /// Returns the exit status of the process, if it has ended. Processes that it has started and
    /// left behind are then ended as well: at once, while nobody else can have got the number of
    /// the group.
    fn ended(&mut self) -> Option<ExitStatus> {
        if self.ended.is_none()
            && let Ok(Some(status)) = self.child.try_wait()
        {
            kill_group(&self.child);
            self.ended = Some(status);
        }
        self.ended
    }
}

impl Lifetime {
    fn new(child: Child) -> Lifetime {
        let ended = None;
        Lifetime {
            running: Arc::new(Mutex::new(Running { child, ended })),
        }
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the process to end, and returns its exit status if it does within `limit`.
    fn wait(&self, limit: Duration) -> Option<ExitStatus> {
        let started = Instant::now();
        loop {
            if let Some(status) = self.running().ended() {
                return Some(status);
            }
            if started.elapsed() >= limit {
                return None;
            }
            thread::sleep(LOOK_EVERY);
        }
    }

    /// Ends the process, and what it has started, unless it has ended.
    pub(super) fn end(&self) {
        let mut running = self.running();
        if running.ended().is_none() {
            kill_group(&running.child);
            let _ = running.child.kill();
            running.ended = running.child.wait().ok();
        }
    }
}

/// Kills the group of the process.
fn kill_group(child: &Child) {
    #[cfg(unix)]
    if let Ok(id) = i32::try_from(child.id()) {
        use nix::sys::signal::{Signal, killpg};
        // Fails only where nobody is left.
        let _ = killpg(nix::unistd::Pid::from_raw(id), Signal::SIGKILL);
    }
}

/// Writes the `requests` to the process until there are no more.
fn write_requests(mut input: ChildStdin, requests: &Receiver<Vec<u8>>, events: &SyncSender<Event>) {
    while let Ok(request) = requests.recv() {
        if input
            .write_all(&request)
            .and_then(|()| input.flush())
            .is_err()
        {
            // Nobody listens any more when the caller has given up.
            let _ = events.send(Event::InputClosed);
            return;
        }
    }
}

/// Hands over the lines of `output` one by one, each at most `limit` bytes long.
fn read_lines(output: impl Read, limit: &AtomicUsize, events: &SyncSender<Event>) {
    let mut reader = BufReader::with_capacity(1 << 16, output);
    loop {
        let event = match read_line(&mut reader, limit) {
            Ok(event) => event,
            Err(_) => Event::OutputClosed,
        };
        let goes_on = matches!(event, Event::Line(_));
        if events.send(event).is_err() || !goes_on {
            return;
        }
    }
}

fn read_line(reader: &mut impl BufRead, limit: &AtomicUsize) -> io::Result<Event> {
    let mut line = Vec::new();
    loop {
        let buffer = reader.fill_buf()?;
        if buffer.is_empty() {
            // A last line without a line feed is a line.
            return Ok(if line.is_empty() {
                Event::OutputClosed
            } else {
                Event::Line(line)
            });
        }
        let end = buffer.iter().position(|&byte| byte == b'\n');
        line.extend_from_slice(&buffer[..end.unwrap_or(buffer.len())]);
        let used = end.map_or(buffer.len(), |end| end + 1);
        reader.consume(used);
        if line.len() > limit.load(Ordering::Relaxed) {
            return Ok(Event::TooLong(line));
        }
        if end.is_some() {
            return Ok(Event::Line(line));
        }
    }
}

/// The last lines that a process writes to its standard error.
#[derive(Clone, Default)]
struct LastWords {
    kept: Arc<Mutex<(VecDeque<String>, bool)>>,
}

impl LastWords {
    fn kept(&self) -> MutexGuard<'_, (VecDeque<String>, bool)> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads `errors` to its end.
    fn keep(&self, errors: impl Read) {
        let mut reader = BufReader::new(errors);
        let limit = AtomicUsize::new(LAST_BYTES);
        // Long lines come in pieces, of which the beginnings are kept.
        while let Ok(Event::Line(line) | Event::TooLong(line)) = read_line(&mut reader, &limit) {
            self.add(&line);
        }
        self.kept().1 = true;
    }

    fn add(&self, line: &[u8]) {
        let kept_part = &line[..line.len().min(LAST_BYTES)];
        // What moves the cursor or rings the bell of a terminal is none of its business.
        let harmless = |letter: char| match letter.is_control() && letter != '\t' {
            true => char::REPLACEMENT_CHARACTER,
            false => letter,
        };
        let text = String::from_utf8_lossy(kept_part);
        let text: String = text.trim_end().chars().map(harmless).collect();
        if text.is_empty() {
            return;
        }
        let mut kept = self.kept();
        if kept.0.len() == LAST_LINES {
            kept.0.pop_front();
        }
        kept.0.push_back(text);
    }

    /// Waits until everything is read, at most `limit`.
    fn wait(&self, limit: Duration) {
        let started = Instant::now();
        while !self.kept().1 && started.elapsed() < limit {
            thread::sleep(LOOK_EVERY);
        }
    }

    /// Returns the lines, ready to follow a message.
    fn text(&self) -> String {
        let kept = self.kept();
        if kept.0.is_empty() {
            return String::new();
        }
        let lines: Vec<&str> = kept.0.iter().map(String::as_str).collect();
        format!("; its last words:\n  {}", lines.join("\n  "))
    }
}
