//! Jobs: each is a process of its own in which this executable runs a specification (`probity run`).
//!
//! A job's process writes into `runs/ID` exactly what the command line writes. Its memory is its own, it is stopped as
//! Ctrl-C stops a command, and what it leaves can be gone on with; so a service that is killed loses no job. A job that ran
//! when the service ended goes on when the service starts again: a training or an audit where it was, a repair from the
//! beginning. The result is that of an uninterrupted run.

pub mod board;
pub mod files;
pub mod process;
pub mod progress;
pub mod queue;
mod run;
pub mod schema;
pub mod specification;
mod state_of_run;
mod worker;
