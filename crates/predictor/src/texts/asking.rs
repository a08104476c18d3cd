//! Requests about texts: each different text is asked about once, several at a time, no faster than
//! allowed, and again where no answer came.
//!
//! Texts wait in one queue. A thread for each that answers takes from it as many as are its share,
//! so that nobody waits for the slowest, and what several callers ask at once is asked once. While
//! it computes, the answer before is read and, where full requests wait for all, the next one is
//! written. What an answer is does not depend on any of that: answers are of single texts.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use hashbrown::HashMap;
use probity_nn::text_classifier::TextClassifier;
use probity_nn::{ModelError, predicted_class};
use smallvec::SmallVec;
use xxhash_rust::xxh3::xxh3_128;

use super::protocol::{Probabilities, Reply};
use crate::error::PredictorError;
use crate::probabilities::{Probabilities as Sums, Taken, append_logits};
use crate::process::KillHandle;

/// The number of answers that are remembered: half of them at least the latest ones. Some 200 MB.
const REMEMBERED: usize = 1 << 21;

/// The largest number of bytes of text in a request, unless a single text has more.
const MOST_BYTES: usize = 8 << 20;

/// The time to wait before a text is asked about again: the first time, and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// The side that answers requests, one request at a time: a process, a graph or a function.
pub(super) trait Backend: Send {
    /// Encodes the request for `texts`, where one is sent.
    fn request(&self, _texts: &[&str]) -> Result<Vec<u8>, PredictorError> {
        Ok(Vec::new())
    }

    /// Sends a [request](Backend::request) about so many texts.
    fn send(&mut self, _request: &[u8], _texts: usize) -> Result<(), PredictorError> {
        Ok(())
    }

    /// Receives the answer to the last request, which was about `texts`.
    fn receive(&mut self, texts: &[&str]) -> Result<Unread, PredictorError>;

    /// Makes the answering side ready again after an error that was a circumstance.
    fn begin_anew(&mut self);
}

/// An answer that is still to be read.
pub(super) type Unread = Box<dyn FnOnce() -> Result<Reply, PredictorError>>;

/// The limits and rules by which texts are asked about.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pace {
    /// The largest number of texts of a request.
    pub texts: usize,
    /// The least number of texts of a request where as many wait: a request has more only where the
    /// share of one answering thread is larger.
    pub least: usize,
    /// The largest number of texts a second.
    pub rate: Option<f64>,
    /// The number of times that a text without an answer is asked about again.
    pub retries: u32,
    /// The number of answers to each text, of which the class that most give counts.
    pub votes: u32,
    /// The rule for the sums of the probabilities.
    pub probabilities: Sums,
}

/// The answer to a text: its logits.
type Slot = Arc<OnceLock<SmallVec<[f32; 4]>>>;

/// Texts, and the request about them.
type Asked = (Vec<Job>, Result<Vec<u8>, PredictorError>);

/// A text that waits for its answer.
struct Job {
    text: Box<str>,
    slot: Slot,
    /// The number of times that the text was asked about without an answer.
    tries: u32,
    /// The probabilities that came so far.
    votes: SmallVec<[Probabilities; 1]>,
}

struct State {
    ready: VecDeque<Job>,
    /// The texts that wait until it is time to ask about them again.
    later: Vec<(Instant, Job)>,
    /// The answers by the hash of the text: those since the others became many, and those before.
    young: HashMap<u128, Slot>,
    old: HashMap<u128, Slot>,
    /// The time from which the next text may be sent.
    free_at: Instant,
    /// The error that ended everything.
    failed: Option<PredictorError>,
    is_closed: bool,
}

struct Shared {
    state: Mutex<State>,
    /// Signals that there is something to do, or that there will never be more.
    work: Condvar,
    /// Signals that an answer has come, or that none ever will.
    answered: Condvar,
    pace: Pace,
    at_once: usize,
    classes: Vec<String>,
    order: Vec<usize>,
    taken: Taken,
}

/// A function that says whether a text is longer than the part that is read.
pub(super) type Cuts = dyn Fn(&str) -> Result<bool, PredictorError> + Send + Sync;

/// A classifier of texts that asks others ([`Backend`]) for its answers.
pub(super) struct Asking {
    shared: Arc<Shared>,
    ender: KillHandle,
    /// The check whether a text is cut, where that is known.
    cuts: Option<Box<Cuts>>,
    threads: Vec<thread::JoinHandle<()>>,
}

impl Asking {
    /// Creates a classifier that asks `answering`, each by a thread of its own; `ender` ends what
    /// they wait for. `order` says which of their numbers is the probability of each of `classes`.
    pub(super) fn new(
        (answering, ender): (Vec<Box<dyn Backend>>, KillHandle),
        (classes, order): (Vec<String>, Vec<usize>),
        pace: Pace,
    ) -> Asking {
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                ready: VecDeque::new(),
                later: Vec::new(),
                young: HashMap::new(),
                old: HashMap::new(),
                free_at: Instant::now(),
                failed: None,
                is_closed: false,
            }),
            work: Condvar::new(),
            answered: Condvar::new(),
            taken: Taken::new(pace.probabilities),
            pace,
            at_once: answering.len().max(1),
            classes,
            order,
        });
        let threads = answering.into_iter().map(|answering| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.work_with(answering))
        });
        Asking {
            threads: threads.collect(),
            cuts: None,
            shared,
            ender,
        }
    }

    /// Returns the classifier with the check `cuts`, which says whether only a part of a text is
    /// read.
    pub(super) fn with_cuts(mut self, cuts: Box<Cuts>) -> Asking {
        self.cuts = Some(cuts);
        self
    }

    /// Returns the logits of `texts`, asked for where they are not remembered.
    pub(super) fn ask_once(&self, texts: &[&str]) -> Result<Vec<f32>, PredictorError> {
        let keys: Vec<u128> = texts.iter().map(|text| xxh3_128(text.as_bytes())).collect();
        let mut state = self.shared.state();
        let slots = keys.into_iter().zip(texts);
        let slots = slots.map(|(key, text)| state.slot(key, text)).collect();
        drop(state);
        self.wait(slots)
    }

    /// Returns the logits of `texts`, asked for anew even where they are remembered.
    pub(super) fn ask_anew(&self, texts: &[&str]) -> Result<Vec<f32>, PredictorError> {
        let mut state = self.shared.state();
        let slots = texts.iter().map(|text| state.enqueue(text)).collect();
        drop(state);
        self.wait(slots)
    }

    fn wait(&self, slots: Vec<Slot>) -> Result<Vec<f32>, PredictorError> {
        self.shared.work.notify_all();
        let mut logits = Vec::with_capacity(slots.len() * self.shared.classes.len());
        for slot in slots {
            match slot.get() {
                Some(answer) => logits.extend_from_slice(answer),
                None => logits.extend_from_slice(self.answer_in(&slot)?),
            }
        }
        Ok(logits)
    }

    /// Waits for the answer in `slot` and returns it.
    fn answer_in<'s>(&self, slot: &'s Slot) -> Result<&'s [f32], PredictorError> {
        let mut state = self.shared.state();
        loop {
            if let Some(answer) = slot.get() {
                return Ok(answer);
            }
            if let Some(error) = &state.failed {
                return Err(error.clone());
            }
            let waited = self.shared.answered.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl TextClassifier for Asking {
    fn classes(&self) -> usize {
        self.shared.classes.len()
    }

    fn logits(&self, texts: &[&str]) -> Result<Vec<f32>, ModelError> {
        self.ask_once(texts).map_err(ModelError::predictor)
    }

    fn is_fallible(&self) -> bool {
        true
    }

    fn cuts(&self, text: &str) -> Result<bool, ModelError> {
        match &self.cuts {
            None => Ok(false),
            Some(cuts) => cuts(text).map_err(ModelError::predictor),
        }
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        let has_failed = {
            let mut state = self.shared.state();
            state.is_closed = true;
            state.failed.is_some()
        };
        // What is still being asked then is waited for by nobody.
        if has_failed {
            self.ender.end();
        }
        self.shared.work.notify_all();
        for thread in self.threads.drain(..) {
            // A thread that panicked has left nothing to end.
            let _ = thread.join();
        }
    }
}

impl State {
    /// Returns the slot in which the answer to `text` is or will be.
    fn slot(&mut self, key: u128, text: &str) -> Slot {
        if let Some(slot) = self.young.get(&key) {
            return Arc::clone(slot);
        }
        let slot = match self.old.get(&key) {
            Some(slot) => Arc::clone(slot),
            None => self.enqueue(text),
        };
        if self.young.len() >= REMEMBERED / 2 {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, Arc::clone(&slot));
        slot
    }

    /// Returns the time at which there is something to ask about next.
    fn due(&self) -> Option<Instant> {
        match self.ready.is_empty() {
            true => self.later.iter().map(|(due, _)| *due).min(),
            false => Some(self.free_at),
        }
    }

    /// Moves the texts whose waiting time is over to those that are ready.
    fn make_ready(&mut self, now: Instant) {
        let is_due = |(due, _): &mut (Instant, Job)| *due <= now;
        let due = self.later.extract_if(.., is_due);
        self.ready.extend(due.map(|(_, job)| job));
    }

    /// Adds `text` to the texts to ask about.
    fn enqueue(&mut self, text: &str) -> Slot {
        let slot = Slot::default();
        self.ready.push_back(Job {
            text: text.into(),
            slot: Arc::clone(&slot),
            tries: 0,
            votes: SmallVec::new(),
        });
        slot
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work_with(&self, mut answering: Box<dyn Backend>) {
        let asked = |answering: &dyn Backend, jobs: Vec<Job>| -> Asked {
            let request = answering.request(&texts_of(&jobs));
            (jobs, request)
        };
        let mut next = self.take().map(|jobs| asked(&*answering, jobs));
        let mut unread: Option<(Vec<Job>, Unread)> = None;
        while let Some((jobs, request)) = next.take() {
            let sent = request.and_then(|request| answering.send(&request, jobs.len()));
            if let Some((jobs, unread)) = unread.take() {
                self.read(jobs, unread);
            }
            if sent.is_ok() {
                next = self.take_full().map(|jobs| asked(&*answering, jobs));
            }
            match sent.and_then(|()| answering.receive(&texts_of(&jobs))) {
                Ok(answer) => unread = Some((jobs, answer)),
                Err(error) if error.is_circumstance() && self.may_retry(&jobs) => {
                    answering.begin_anew();
                    self.put_back(jobs, None);
                }
                Err(error) => return self.fail(error),
            }
            if next.is_none() {
                if let Some((jobs, unread)) = unread.take() {
                    self.read(jobs, unread);
                }
                next = self.take().map(|jobs| asked(&*answering, jobs));
            }
        }
    }

    fn read(&self, jobs: Vec<Job>, unread: Unread) {
        match unread() {
            Ok(reply) => self.receive(jobs, reply),
            Err(error) => self.fail(error),
        }
    }

    /// Takes the next texts where there is a full request for each that answers: fewer texts may
    /// become more before it is their turn.
    fn take_full(&self) -> Option<Vec<Job>> {
        let mut state = self.state();
        let is_over = state.is_closed || state.failed.is_some();
        let full = self.pace.texts.saturating_mul(self.at_once);
        let is_full = self.pace.rate.is_none() && state.ready.len() >= full;
        (is_full && !is_over).then(|| self.share(&mut state, Instant::now()))
    }

    fn may_retry(&self, jobs: &[Job]) -> bool {
        jobs.iter().all(|job| job.tries < self.pace.retries)
    }

    /// Takes the next texts to ask about, when it is time; nothing once all is over.
    fn take(&self) -> Option<Vec<Job>> {
        let mut state = self.state();
        loop {
            if state.is_closed || state.failed.is_some() {
                return None;
            }
            let now = Instant::now();
            state.make_ready(now);
            state = match state.due() {
                None => {
                    let waited = self.work.wait(state);
                    waited.unwrap_or_else(PoisonError::into_inner)
                }
                Some(due) if due > now => {
                    let waited = self.work.wait_timeout(state, due - now);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                Some(_) => return Some(self.share(&mut state, now)),
            };
        }
    }

    /// Takes the part of the ready texts that one request may have without leaving too little for
    /// the others.
    fn share(&self, state: &mut State, now: Instant) -> Vec<Job> {
        let share = state.ready.len().div_ceil(self.at_once);
        let mut most = share.max(self.pace.least).clamp(1, self.pace.texts.max(1));
        if let Some(rate) = self.pace.rate {
            // About a tenth of a second's worth at a time.
            most = most.min((rate / 10.0).ceil().max(1.0) as usize);
        }
        let (mut jobs, mut bytes) = (Vec::new(), 0);
        while jobs.len() < most
            && let Some(job) = state.ready.pop_front()
        {
            bytes += job.text.len();
            if bytes > MOST_BYTES && !jobs.is_empty() {
                state.ready.push_front(job);
                break;
            }
            jobs.push(job);
        }
        if let Some(rate) = self.pace.rate {
            let spent = Duration::try_from_secs_f64(jobs.len() as f64 / rate);
            state.free_at = state.free_at.max(now) + spent.unwrap_or(LONGEST_PAUSE);
        }
        jobs
    }

    /// Puts the answers where they are waited for; what got none is asked about again.
    fn receive(&self, jobs: Vec<Job>, reply: Reply) {
        let Reply {
            probabilities,
            retry_after,
            reason,
        } = reply;
        let (mut open, mut again) = (Vec::new(), Vec::new());
        let mut logits = Vec::with_capacity(self.order.len());
        for (mut job, theirs) in jobs.into_iter().zip(probabilities) {
            let Some(theirs) = theirs else {
                open.push(job);
                continue;
            };
            let ordered = match theirs.len() == self.order.len() {
                true => self.order.iter().map(|&at| theirs[at]).collect(),
                false => theirs,
            };
            job.votes.push(ordered);
            match self.count_votes(&job, &mut logits) {
                Ok(false) => again.push(job),
                // Nobody else has this slot to fill.
                Ok(true) => drop(job.slot.set(SmallVec::from_slice(&logits))),
                Err(error) => return self.fail(error),
            }
        }
        if let Some(job) = open.iter().find(|job| job.tries >= self.pace.retries) {
            return self.fail(PredictorError::Unanswered {
                text: shown(&job.text),
                tries: job.tries + 1,
                reason,
            });
        }
        self.state().ready.extend(again);
        self.put_back(open, retry_after);
        self.answered.notify_all();
    }

    /// Returns whether a text has all of its votes, after looking at the last of them. Then
    /// `logits` are those of the class that most of them give, and of equally many that whose
    /// probabilities are larger; the mean of those that give it.
    fn count_votes(&self, job: &Job, logits: &mut Vec<f32>) -> Result<bool, PredictorError> {
        let classes = &self.classes;
        let asked = || shown(&job.text);
        let Some((last, before)) = job.votes.split_last() else {
            return Ok(false);
        };
        logits.clear();
        append_logits(classes, &self.taken, &asked, last, logits)?;
        if job.votes.len() < self.pace.votes as usize {
            return Ok(false);
        }
        if before.is_empty() {
            return Ok(true);
        }
        let mut given: Vec<(u32, f64)> = vec![(0, 0.0); classes.len()];
        let mut class_of = Vec::with_capacity(job.votes.len());
        for vote in &job.votes {
            logits.clear();
            append_logits(classes, &self.taken, &asked, vote, logits)?;
            let class = predicted_class(logits) as usize;
            given[class].0 += 1;
            given[class].1 += vote[class];
            class_of.push(class);
        }
        let mut most = 0;
        for (class, votes) in given.iter().enumerate() {
            if *votes > given[most] {
                most = class;
            }
        }
        let count = f64::from(given[most].0.max(1));
        let mean = |class: usize| {
            let votes = job.votes.iter().zip(&class_of);
            let votes = votes.filter(|(_, of)| **of == most);
            votes.map(|(vote, _)| vote[class]).sum::<f64>() / count
        };
        let mean: Vec<f64> = (0..classes.len()).map(mean).collect();
        logits.clear();
        append_logits(classes, &self.taken, &asked, &mean, logits)?;
        Ok(true)
    }

    /// Puts `jobs` back, to be asked about again after a pause that doubles each time or is
    /// `pause`.
    fn put_back(&self, jobs: Vec<Job>, pause: Option<Duration>) {
        let mut state = self.state();
        for mut job in jobs {
            let doubled = FIRST_PAUSE.saturating_mul(1 << job.tries.min(16));
            let pause = pause.unwrap_or(doubled).min(LONGEST_PAUSE);
            job.tries += 1;
            state.later.push((Instant::now() + pause, job));
        }
        drop(state);
        self.work.notify_all();
    }

    /// Ends everything with an error; the first error is the one that everybody gets.
    fn fail(&self, error: PredictorError) {
        self.state().failed.get_or_insert(error);
        self.work.notify_all();
        self.answered.notify_all();
    }
}

fn texts_of(jobs: &[Job]) -> Vec<&str> {
    jobs.iter().map(|job| &*job.text).collect()
}

/// Returns the beginning of a text, for a message.
pub(super) fn shown(text: &str) -> String {
    let mut letters = text.chars();
    let start: String = letters.by_ref().take(60).collect();
    let end = if letters.next().is_some() { "…" } else { "" };
    format!("the text {start:?}{end}")
}

#[cfg(test)]
mod tests;
