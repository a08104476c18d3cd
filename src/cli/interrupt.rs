//! Ctrl-C: the first one asks the running work to finish its step; the second ends the program.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;

use probity::run::pause;

/// Whether the user wants to stop.
#[derive(Clone)]
pub(super) struct Interrupt {
    asked: Arc<AtomicBool>,
}

impl Interrupt {
    /// Starts to listen. To be called once a process.
    pub fn listen() -> anyhow::Result<Interrupt> {
        Interrupt::listen_and(|| {})
    }

    /// Starts to listen, with something to do before the second Ctrl-C ends the program.
    pub fn listen_and(at_end: impl Fn() + Send + 'static) -> anyhow::Result<Interrupt> {
        let asked = Arc::new(AtomicBool::new(false));
        let shared = asked.clone();
        ctrlc::set_handler(move || {
            if shared.swap(true, Ordering::SeqCst) {
                at_end();
                std::process::exit(130);
            }
            pause::release();
        })
        .map_err(|error| match error {
            // Whoever reads it is told what the system said: no thread, no memory.
            ctrlc::Error::System(error) => anyhow::Error::from(error),
            error => error.into(),
        })
        .context("cannot listen for Ctrl-C")?;
        Ok(Interrupt { asked })
    }

    /// For work with nothing to keep: the first Ctrl-C ends the program, after `at_end`.
    pub fn end_at_once(at_end: impl Fn() + Send + 'static) -> anyhow::Result<()> {
        let interrupt = Interrupt::listen_and(at_end)?;
        interrupt.asked.store(true, Ordering::SeqCst);
        Ok(())
    }

    /// Set once Ctrl-C was pressed.
    pub fn flag(&self) -> &AtomicBool {
        &self.asked
    }

    /// `Break` once Ctrl-C was pressed.
    pub fn flow(&self) -> ControlFlow<()> {
        if self.asked.load(Ordering::SeqCst) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}
