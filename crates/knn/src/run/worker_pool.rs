//! Deciding many test inputs side by side, each on one thread.
//!
//! The verdicts do not depend on the number of threads: an input's decision depends on what is
//! shared for one K, and that is the same whichever thread makes it first. Only the time limit
//! depends on the clock.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::analysis::Analysis;
use crate::deadline::Deadline;
use crate::errors::PoisoningError;
use crate::inputs::{Inputs, RobustnessError};
use crate::verdict::{Decision, Method, Verdict};

/// The state of a run, as its observer is told.
#[derive(Debug, Clone, Copy)]
pub enum RobustnessProgress {
    /// The run learns for this threshold.
    Learning {
        /// The poisoning threshold n.
        poison: usize,
    },
    /// The run bounds the K that can be learnt at all.
    Bounding {
        /// The poisoning threshold n.
        poison: usize,
    },
    /// The run decides inputs, some of which are done.
    Inputs {
        /// The poisoning threshold n.
        poison: usize,
        /// The number of inputs done.
        done: u64,
        /// The number of all inputs.
        all: u64,
        /// The number of inputs falsified so far.
        falsified: u64,
    },
}

/// The effort that is spent on a test input.
#[derive(Debug, Clone, Copy)]
pub struct Effort<'f> {
    /// How robustness is decided.
    pub method: Method,
    /// Time for each test input.
    pub time_limit: Option<Duration>,
    /// A flag that asks the run to end early.
    pub stop: &'f AtomicBool,
}

/// A decision and the seconds that it took.
pub(super) type Outcome = Result<(Decision, f64), PoisoningError>;

/// A pool of threads that take one test input after the other.
pub(super) struct WorkerPool<'c, 'a> {
    analysis: &'c Analysis<'a>,
    inputs: &'c Inputs,
    drawn: &'c [usize],
    effort: Effort<'c>,
    next: AtomicUsize,
}

impl<'c, 'a> WorkerPool<'c, 'a> {
    /// Returns a pool that has all of `drawn` still to decide.
    pub fn new(
        analysis: &'c Analysis<'a>,
        inputs: &'c Inputs,
        drawn: &'c [usize],
        effort: Effort<'c>,
    ) -> Self {
        Self {
            analysis,
            inputs,
            drawn,
            effort,
            next: AtomicUsize::new(0),
        }
    }

    /// Decides the inputs drawn and returns the outcome of each; nothing for those that were not
    /// decided before the stop.
    ///
    /// Every thread has a pool of its own: an input must not spend its time on parts of another
    /// one's work.
    pub fn work(
        &self,
        observe: &mut dyn FnMut(RobustnessProgress),
    ) -> Result<Vec<Option<Outcome>>, RobustnessError> {
        let threads = rayon::current_num_threads().min(self.drawn.len()).max(1);
        let pools = (0..threads)
            .map(|_| rayon::ThreadPoolBuilder::new().num_threads(1).build())
            .collect::<Result<Vec<_>, _>>()
            .map_err(|problem| RobustnessError::Threads {
                threads,
                problem: problem.to_string(),
            })?;
        let mut outcomes: Vec<Option<Outcome>> = self.drawn.iter().map(|_| None).collect();
        let (sender, receiver) = mpsc::channel();
        thread::scope(|scope| {
            for pool in &pools {
                let sender = sender.clone();
                scope.spawn(move || pool.install(|| self.decide_next(&sender)));
            }
            drop(sender);
            self.report(0, 0, observe);
            let mut falsified = 0;
            for (done, (place, outcome)) in (1..).zip(receiver) {
                falsified += u64::from(is_falsified(&outcome));
                outcomes[place] = Some(outcome);
                self.report(done, falsified, observe);
            }
        });
        Ok(outcomes)
    }

    fn report(&self, done: u64, falsified: u64, observe: &mut dyn FnMut(RobustnessProgress)) {
        observe(RobustnessProgress::Inputs {
            poison: self.analysis.poison(),
            done,
            all: self.drawn.len() as u64,
            falsified,
        });
    }

    /// Decides inputs until there are none, or until the stop: an input at hand then is not
    /// counted.
    fn decide_next(&self, outcomes: &mpsc::Sender<(usize, Outcome)>) {
        let stop = self.effort.stop;
        loop {
            let place = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(&at) = self.drawn.get(place) else {
                return;
            };
            let limit = self.effort.time_limit;
            let deadline = limit
                .map_or(Deadline::never(), Deadline::after)
                .or_when(stop);
            let started = Instant::now();
            let features = self.inputs.test.row(at);
            let decision = self.analysis.decide(features, self.effort.method, deadline);
            let outcome = decision.map(|decision| (decision, started.elapsed().as_secs_f64()));
            if stop.load(Ordering::Relaxed) || outcomes.send((place, outcome)).is_err() {
                return;
            }
        }
    }
}

fn is_falsified(outcome: &Outcome) -> bool {
    outcome
        .as_ref()
        .is_ok_and(|(decision, _)| matches!(decision.verdict, Verdict::Falsified(_)))
}
