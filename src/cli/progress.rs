//! What the terminal shows of a run on its way, and Ctrl-C that stops it.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use indicatif::ProgressBar;

use super::interrupt::Interrupt;
use super::output::{Output, style};
use probity::run::runner::{Failure, Observer, Progress, ShutdownHook};

/// How a phase is shown whose steps are counted, and one whose are not.
const COUNTED: &str = "{prefix} [{bar:28}] {pos}/{len} {msg}, {eta} left";
const UNCOUNTED: &str = "{prefix} {spinner} {msg}, {elapsed}";

/// Shows how far a run is, and passes Ctrl-C on.
pub(super) struct Watch<'o> {
    output: &'o Output,
    bar: ProgressBar,
    interrupt: OnceLock<Interrupt>,
    /// The flag of a run that does not listen.
    never: AtomicBool,
}

impl<'o> Watch<'o> {
    /// Watches a run that says nothing yet.
    pub fn new(output: &'o Output) -> Watch<'o> {
        Watch {
            output,
            bar: output.progress(1, COUNTED),
            interrupt: OnceLock::new(),
            never: AtomicBool::new(false),
        }
    }

    /// Takes the bar away.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for Watch<'_> {
    /// Listens to Ctrl-C; the second one ends what the run has opened, with the program.
    fn begin(&self, ender: Option<ShutdownHook>) -> Result<(), Failure> {
        if self.interrupt.get().is_none() {
            let ender = ender.unwrap_or_else(|| Box::new(|| ()));
            let interrupt = Interrupt::listen_and(ender)?;
            self.interrupt.get_or_init(|| interrupt);
        }
        Ok(())
    }

    fn observe(&self, progress: Progress<'_>) -> ControlFlow<()> {
        let bar = &self.bar;
        if bar.prefix() != progress.phase {
            bar.reset();
            bar.set_prefix(progress.phase.to_owned());
            let template = match progress.all {
                0 => UNCOUNTED,
                _ => COUNTED,
            };
            if let Some(style) = style(template) {
                bar.set_style(style);
            }
        }
        bar.set_length(progress.all);
        bar.set_position(progress.done);
        bar.set_message((progress.message)());
        match self.interrupt.get() {
            Some(interrupt) => interrupt.flow(),
            None => ControlFlow::Continue(()),
        }
    }

    fn stop(&self) -> &AtomicBool {
        self.interrupt.get().map_or(&self.never, Interrupt::flag)
    }

    fn remark(&self, text: &str) {
        self.output.remark(text);
    }

    fn detail(&self, text: &str) {
        self.output.detail(text);
    }
}

/// An error of the library, whatever its type, as one that others can be put before.
#[derive(Debug)]
pub(super) struct Failed(pub Failure);

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Failed {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.0)
    }
}
