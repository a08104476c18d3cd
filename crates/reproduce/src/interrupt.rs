//! Ctrl-C: the first one asks the running work to end and print what is there; the second ends the
//! program.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;

use probity_run::pause;

/// A handle that says whether the user wants to stop.
pub struct Interrupt {
    asked: Arc<AtomicBool>,
}

impl Interrupt {
    /// Starts to listen for Ctrl-C. To be called once a process.
    pub fn listen() -> anyhow::Result<Interrupt> {
        let asked = Arc::new(AtomicBool::new(false));
        let shared = asked.clone();
        ctrlc::set_handler(move || {
            if shared.swap(true, Ordering::SeqCst) {
                std::process::exit(130);
            }
            pause::release();
        })
        .map_err(|error| match error {
            // The caller gets the system's own error, which says the cause: no thread, no memory.
            ctrlc::Error::System(error) => anyhow::Error::from(error),
            error => error.into(),
        })
        .context("cannot listen for Ctrl-C")?;
        Ok(Interrupt { asked })
    }

    /// The flag that is set once Ctrl-C was pressed.
    pub fn flag(&self) -> &AtomicBool {
        &self.asked
    }

    /// Whether Ctrl-C was pressed.
    pub fn is_asked(&self) -> bool {
        self.asked.load(Ordering::SeqCst)
    }

    /// Returns `Break` once Ctrl-C was pressed, else `Continue`.
    pub fn flow(&self) -> ControlFlow<()> {
        match self.is_asked() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

/// The error of work that the user has interrupted: what is done by then is printed.
#[derive(Debug)]
pub struct Interrupted;

impl Interrupted {
    /// Returns this error unless the work is finished.
    pub fn unless(is_finished: bool) -> anyhow::Result<()> {
        match is_finished {
            true => Ok(()),
            false => Err(Interrupted.into()),
        }
    }
}

impl Display for Interrupted {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("interrupted")
    }
}

impl Error for Interrupted {}
