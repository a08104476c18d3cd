//! Progress and Ctrl-C: what a run says of itself on its way.

use std::ops::ControlFlow;
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// How often Python is told, and signals are looked for.
const EVERY: Duration = Duration::from_millis(50);

/// Tells Python how far a run is, and stops it for an exception: of Ctrl-C, or of what is told.
pub(crate) struct Watch {
    progress: Option<Py<PyAny>>,
    told: Mutex<Told>,
    stop: AtomicBool,
}

/// What was told last, and the exception that stops the run.
struct Told {
    at: Option<Instant>,
    phase: &'static str,
    raised: Option<PyErr>,
}

impl Watch {
    /// Tells `progress(phase, done, all, message)`.
    pub fn new(progress: Option<Py<PyAny>>) -> Watch {
        Watch {
            progress,
            told: Mutex::new(Told {
                at: None,
                phase: "",
                raised: None,
            }),
            stop: AtomicBool::new(false),
        }
    }

    /// What is set when the run is to stop.
    pub fn stop(&self) -> &AtomicBool {
        &self.stop
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `done` of `all` steps of `phase` are done.
    pub fn tell(
        &self,
        phase: &'static str,
        (done, all): (u64, u64),
        message: impl FnOnce() -> String,
    ) -> ControlFlow<()> {
        if self.stop.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        {
            let mut told = self.told();
            let is_new = told.phase != phase;
            if !is_new && told.at.is_some_and(|at| at.elapsed() < EVERY) {
                return ControlFlow::Continue(());
            }
            (told.at, told.phase) = (Some(Instant::now()), phase);
        }
        // Nothing is locked while Python runs, which may let other threads run.
        let outcome = Python::attach(|py| {
            py.check_signals()?;
            match &self.progress {
                Some(progress) => progress.call1(py, (phase, done, all, message())).map(drop),
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

    /// Performs `work`, which runs on other threads, and looks for signals meanwhile: Python tells
    /// only its main thread of them.
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
