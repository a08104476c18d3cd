//! Progress of long work as a bar: rate, found so far, time left.

use std::ops::ControlFlow;

use indicatif::ProgressBar;

use super::interrupt::Interrupt;
use super::output::Output;
use super::render::count;
use probity::fairness::repair::RepairProgress;
use probity::fairness::session::AuditProgress;

const TEMPLATE: &str = "{prefix:8} [{bar:28}] {pos}/{len}, {msg}, {eta} left";

/// Shows an audit's progress and passes Ctrl-C on.
pub(super) struct AuditBar {
    bar: ProgressBar,
    interrupt: Interrupt,
}

impl AuditBar {
    pub fn new(output: &Output, interrupt: Interrupt) -> AuditBar {
        AuditBar {
            bar: output.progress(1, TEMPLATE),
            interrupt,
        }
    }

    /// Takes the bar away.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }

    /// One step of the audit.
    pub fn observe(&mut self, progress: AuditProgress<'_>) -> ControlFlow<()> {
        match progress {
            AuditProgress::Search {
                global,
                local,
                rounds: (done, all),
                is_local,
                found,
            } => {
                let (name, phase) = if is_local {
                    ("local", local)
                } else {
                    ("global", global)
                };
                if self.bar.prefix() != name {
                    self.bar.reset();
                    self.bar.set_prefix(name);
                    self.bar.set_length(u64::from(all));
                }
                self.bar.set_position(u64::from(done));
                let a_second = (phase.checks as f64 / phase.seconds.max(1e-9)) as u64;
                self.bar.set_message(format!(
                    "{} found, {} checks/s",
                    count(found),
                    count(a_second)
                ));
            }
            AuditProgress::Population { done, all } => {
                if self.bar.prefix() != "people" {
                    self.bar.reset();
                    self.bar.set_prefix("people");
                    self.bar.set_length(all);
                    self.bar.set_message("share of the data");
                }
                self.bar.set_position(done);
            }
            AuditProgress::Estimate { done, all } => {
                if self.bar.prefix() != "estimate" {
                    self.bar.reset();
                    self.bar.set_prefix("estimate");
                    self.bar.set_length(all);
                    self.bar.set_message("share of random inputs");
                }
                self.bar.set_position(done);
            }
            AuditProgress::Write => self.clear(),
        }
        self.interrupt.flow()
    }
}

/// Shows the progress of a repair and passes Ctrl-C on.
pub(super) struct RepairBar {
    bar: ProgressBar,
    interrupt: Interrupt,
}

impl RepairBar {
    pub fn new(output: &Output, interrupt: Interrupt) -> RepairBar {
        RepairBar {
            bar: output.progress(1, "repair [{bar:28}] {msg} {pos}/{len} epochs, {eta} left"),
            interrupt,
        }
    }

    /// Takes the bar away.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }

    /// One step of the repair.
    pub fn observe(&self, progress: RepairProgress) -> ControlFlow<()> {
        match progress {
            RepairProgress::Search => self.bar.set_message("searching,"),
            RepairProgress::Train { epochs, all } => {
                self.bar.set_message("training,");
                self.bar.set_length(all);
                self.bar.set_position(epochs);
            }
        }
        self.interrupt.flow()
    }
}
