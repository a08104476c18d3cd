//! The base of every run of Probity: its directory, its checkpoints, its files and its keyed random
//! streams.

mod atomic;
pub mod device_name;
mod error;
pub mod failure;
pub mod guard;
mod hash;
pub mod list;
pub mod lock;
pub mod moment;
mod names;
pub mod number;
pub mod output_file;
pub mod pause;
pub mod pipe;
pub mod place;
pub mod program;
pub mod run_directory;
pub mod runner;
pub mod seal;
pub mod sealed;
pub mod shards;
pub mod specification;
pub mod spreadsheet;
pub mod stream;
