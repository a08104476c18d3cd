//! Ctrl-C: the first one asks the running work to finish its step; the second ends the program.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;

/// Whether the user wants to stop.
#[derive(Clone)]
pub(super) struct Interrupt {
    asked: Arc<AtomicBool>,
}

impl Interrupt {
    /// Starts to listen. To be called once a process.
    pub fn listen() -> anyhow::Result<Interrupt> {
        let asked = Arc::new(AtomicBool::new(false));
        let shared = asked.clone();
        ctrlc::set_handler(move || {
            if shared.swap(true, Ordering::SeqCst) {
                std::process::exit(130);
            }
        })
        .context("cannot listen for Ctrl-C")?;
        Ok(Interrupt { asked })
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
