//! What every run of Probity shares: its directory, its checkpoints, its files and its keyed random
//! streams.

pub mod guard;
pub mod lock;
pub mod moment;
pub mod number;
pub mod output_file;
pub mod pipe;
pub mod place;
pub mod run_directory;
pub mod sealed;
pub mod shards;
pub mod specification;
pub mod stream;
