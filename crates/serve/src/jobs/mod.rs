//! Jobs: each runs in a process of its own, in which the service's program runs a specification
//! (`probity run`).
//!
//! A job's process writes into `runs/ID` what the command line writes. It has its own memory, it is
//! stopped as Ctrl-C stops a command, and its run can be resumed from its files; so a service that
//! is killed loses no job. A job that ran when the service ended goes on when the service starts
//! again: a training or an audit where it was, a repair after its last complete network, a comparison
//! of people from its beginning. The result is that of an uninterrupted run.
//!
//! **Workers.** Jobs run at the service itself, and at workers on other machines
//! ([`crate::work`]). Both take a job from the queue, hold it by a number, and end it by that number
//! ([`lease`]), and both run it in the same way ([`run`]); the service does so by calls, a worker by
//! requests ([`remote`]). A worker has a job for as long as it reports on it in time. It is handed
//! the specification and exactly the files that the job reads, with their hashes, and brings back the
//! files of the run directory ([`handed`]), the checkpoint among them: so a job that a worker leaves
//! goes on elsewhere.
//!
//! **Services.** Several services may share a database, and the files. Each takes jobs from the same
//! queue, and looks around every second: for jobs that others were told of, and for services that
//! are gone, whose jobs it takes up ([`around`]).
//!
//! **Storage.** Where artefacts are stored elsewhere ([`crate::artefacts`]), what a job reads is
//! fetched before it begins, and its run is stored before its end is written: by the service that
//! holds the job, and by no other. A job waits for a storage that does not answer, in both places, and
//! keeps its turn meanwhile.
//!
//! For a run to be the same on every machine, nothing in its files may say where it was done. So
//! the process is started in its run directory, and its specification names files by their paths
//! from there (`../../data/ID/data.csv`). The data directory of the service and the folder of a job
//! at a worker are laid out alike ([`Places`](crate::places::Places)).

mod around;
mod asked;
pub mod board;
pub mod files;
pub mod handed;
pub mod kind;
mod lease;
mod notify;
pub mod process;
pub mod progress;
pub mod queue;
mod remote;
mod retention;
pub mod run;
pub mod run_files;
pub mod schema;
pub mod specification;
mod state_of_run;
pub mod wire;
mod worker;

use crate::artefacts::Artefacts;

/// Permission for the service itself, at work on the jobs of all projects. Only this module can
/// make it, and whoever has just locked the data directory, or keeps the artefacts of all.
#[derive(Debug, Clone, Copy)]
pub struct Itself(());

impl Itself {
    pub(in crate::jobs) const fn at_work() -> Itself {
        Itself(())
    }

    /// Makes the permission for a test.
    #[cfg(test)]
    pub(crate) const fn in_tests() -> Itself {
        Itself(())
    }

    /// Gives the permission to the service as it starts, once it has locked its data directory.
    pub(crate) fn at_the_start(_: &std::fs::File) -> Itself {
        Itself(())
    }

    /// Gives the permission to the service as it looks after its artefacts in their storage.
    pub(crate) fn at_upkeep(_: &Artefacts) -> Itself {
        Itself(())
    }
}
