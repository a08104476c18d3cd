//! Progress and Ctrl-C: tells Python how far a run is, and stops it when asked.

use std::ops::ControlFlow;
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use probity::run::runner::{Observer, Progress};
use pyo3::prelude::*;

/// How often Python is told of progress, and signals are looked for.
const EVERY: Duration = Duration::from_millis(50);

/// Reports the progress of a run to Python, and stops the run for an exception: of Ctrl-C, or
/// raised by the function that is told.
pub(crate) struct Watch {
    progress: Option<Py<PyAny>>,
    told: Mutex<Told>,
    stop: AtomicBool,
}

/// The progress that was told last, and the exception that stops the run.
struct Told {
    at: Option<Instant>,
    phase: String,
    raised: Option<PyErr>,
}

impl Watch {
    /// Makes a watch that calls `progress(phase, done, all, message)`.
    pub fn new(progress: Option<Py<PyAny>>) -> Watch {
        Watch {
            progress,
            told: Mutex::new(Told {
                at: None,
                phase: String::new(),
                raised: None,
            }),
            stop: AtomicBool::new(false),
        }
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Performs `work`, which runs on other threads, and looks for signals meanwhile: Python
    /// delivers signals only to its main thread.
    pub fn during<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        thread::scope(|scope| {
            let (ended, end) = mpsc::channel::<()>();
            let worker = scope.spawn(move || {
                let outcome = work();
                drop(ended);
                outcome
            });
            while end.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                if let Err(error) = Python::attach(|py| py.check_signals()) {
                    self.stop_for(error);
                }
            }
            worker
                .join()
                .unwrap_or_else(|panic| panic::resume_unwind(panic))
        })
    }

    fn stop_for(&self, error: PyErr) {
        self.stop.store(true, Ordering::Relaxed);
        self.told().raised = Some(error);
    }

    /// The exception that stopped the run, if one did.
    pub fn raised(&self) -> Option<PyErr> {
        self.told().raised.take()
    }
}

impl Observer for Watch {
    fn observe(&self, progress: Progress<'_>) -> ControlFlow<()> {
        if self.stop.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        let phase = progress.phase;
        {
            let mut told = self.told();
            let is_new = told.phase != phase;
            if !is_new && told.at.is_some_and(|at| at.elapsed() < EVERY) {
                return ControlFlow::Continue(());
            }
            told.at = Some(Instant::now());
            phase.clone_into(&mut told.phase);
        }
        // No lock is held while Python runs, which may let other threads run.
        let outcome = Python::attach(|py| {
            py.check_signals()?;
            match &self.progress {
                Some(told) => {
                    let steps = (phase, progress.done, progress.all, (progress.message)());
                    told.call1(py, steps).map(drop)
                }
                None => Ok(()),
            }
        });
        match outcome {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.stop_for(error);
                ControlFlow::Break(())
            }
        }
    }

    fn stop(&self) -> &AtomicBool {
        &self.stop
    }

    /// Logs it, as the package logs what it decides.
    fn remark(&self, text: &str) {
        let (level, said) = match text.split_once(": ") {
            Some(("WARNING", said)) => ("warning", said),
            Some(("note", said)) => ("info", said),
            _ => ("info", text),
        };
        let logged = Python::attach(|py| {
            let log = py
                .import("logging")?
                .call_method1("getLogger", ("probity",))?;
            log.call_method1(level, ("%s", said)).map(drop)
        });
        if let Err(error) = logged {
            self.stop_for(error);
        }
    }
}
