//! Jobs: each is a process of its own that runs an ordinary subcommand of this executable.

pub mod arguments;
pub mod board;
pub mod progress;
pub mod request;
mod words;
