//! What a run leaves behind: its directory and the files in it.

mod axis;
pub mod line_plot;
pub mod mean;
pub mod page;
pub mod plot;
pub mod run_directory;
pub mod scatter;
