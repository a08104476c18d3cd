//! What a run leaves behind: its directory and the files in it.

pub mod line_plot;
pub mod mean;
pub mod plot;
pub mod run_directory;
pub mod scatter;
