//! What a run leaves behind: its directory, its summary, its samples, its tables.

pub mod run_directory;
pub mod samples;
