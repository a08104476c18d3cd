//! A gate that holds processes of Probity in the middle of their work, until the test has done to
//! them what it tests.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use probity_run::pause::PAUSE;
use tempfile::TempDir;

/// How long a test waits for a process to come to its gate: longer than any work of a test takes.
const PATIENCE: Duration = Duration::from_secs(600);

/// A gate at a pause point of [`probity_run::pause`].
pub struct Gate {
    folder: TempDir,
    point: &'static str,
    steps: AtomicU32,
}

impl Gate {
    /// Makes an open gate at `point`, written as in `round` or `round:2`: it holds no process.
    pub fn open_at(point: &'static str) -> Gate {
        let folder = TempDir::new().expect("a folder");
        Gate {
            folder,
            point,
            steps: AtomicU32::new(0),
        }
    }

    /// Makes a closed gate at `point`: it holds every process that comes there.
    pub fn closed_at(point: &'static str) -> Gate {
        let gate = Gate::open_at(point);
        gate.close();
        gate
    }

    /// The environment variable that makes a process, and those that it starts, heed the gate.
    pub fn variable(&self) -> (&'static str, String) {
        let gate = self.file().display().to_string();
        (PAUSE, format!("{}={gate}", self.point))
    }

    /// Closes the gate: every process that comes from now on is held.
    pub fn close(&self) {
        if !self.file().exists() {
            self.write();
        }
    }

    /// Lets the processes that are held go on to their next arrival at the point.
    pub fn step(&self) {
        self.forget();
        self.write();
    }

    /// Opens the gate: all processes go on.
    pub fn open(&self) {
        // The gate may be open already.
        let _ = fs::remove_file(self.file());
        self.forget();
    }

    fn write(&self) {
        let steps = self.steps.fetch_add(1, Ordering::Relaxed);
        let passing = self.folder.path().join("passing");
        fs::write(&passing, steps.to_string()).expect("a file");
        fs::rename(passing, self.file()).expect("a gate can be closed");
    }

    /// Forgets which processes have come so far.
    fn forget(&self) {
        // Perhaps no process has come.
        let _ = fs::remove_file(self.held());
    }

    /// Waits until `count` processes are held. `is_lost` returns the reason once no more can come.
    ///
    /// # Panics
    /// When `is_lost` returns a reason, or when none came for ten minutes.
    #[track_caller]
    pub fn wait_for(&self, count: usize, mut is_lost: impl FnMut() -> Option<String>) {
        let began = Instant::now();
        while self.arrivals() < count {
            if let Some(why) = is_lost() {
                panic!("nobody comes to '{}' any more: {why}", self.point);
            }
            assert!(
                began.elapsed() < PATIENCE,
                "{} of {count} processes came to '{}' within {PATIENCE:?}",
                self.arrivals(),
                self.point
            );
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Counts the processes that came since the gate was closed or stepped. Several threads of a
    /// process count as one.
    fn arrivals(&self) -> usize {
        let held = fs::read_to_string(self.held()).unwrap_or_default();
        let mut processes: Vec<&str> = held.lines().collect();
        processes.sort_unstable();
        processes.dedup();
        processes.len()
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("gate")
    }

    fn held(&self) -> PathBuf {
        self.folder.path().join("gate.held")
    }
}
