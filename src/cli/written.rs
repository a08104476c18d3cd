//! The directory that a run was written to, as what shows it needs it.

use std::path::Path;

use tempfile::TempDir;

use probity::run::run_directory::RunDirectory;

/// The directory of a run that was performed: one that is kept, or, where nobody gave it a place and
/// its kind needs none, one that is gone after its text was shown.
pub(super) struct Written {
    directory: RunDirectory,
    passing: Option<TempDir>,
}

impl Written {
    /// The directory of a run; one that nobody keeps lies in the folder `passing`, and is gone with it.
    pub fn new(directory: RunDirectory, passing: Option<TempDir>) -> Written {
        Written { directory, passing }
    }

    /// The directory of a run that is kept.
    pub fn kept(directory: RunDirectory) -> Written {
        Written::new(directory, None)
    }

    pub fn run(&self) -> &RunDirectory {
        &self.directory
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn is_kept(&self) -> bool {
        self.passing.is_none()
    }

    /// A line that says where the run is, if it is kept.
    pub fn said(&self) -> String {
        match self.is_kept() {
            true => format!("Run: {}\n", self.path().display()),
            false => String::new(),
        }
    }
}
