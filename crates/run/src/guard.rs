//! Guards for code of others that may panic on a broken file, or write to standard error: the panic
//! becomes an error, and the output is suppressed.
//!
//! Decoders of large formats have places that no check of ours can reach. What they say is taken
//! for what is wrong with the file, and is not printed: a panic that is caught is no news for who
//! reads the error.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

thread_local! {
    /// The number of calls of [`guarded`] that this thread is in.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// The number of calls of [`guarded_with_threads`] that go on.
static EVERYWHERE: AtomicUsize = AtomicUsize::new(0);
static QUIET: Once = Once::new();

/// Returns the result of `work`, or its message when it panics.
///
/// # Errors
/// The message of the panic.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    QUIET.call_once(|| {
        let print = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if DEPTH.get() == 0 && EVERYWHERE.load(Ordering::Relaxed) == 0 {
                print(panic);
            }
        }));
    });
    DEPTH.set(DEPTH.get() + 1);
    let outcome = catch_unwind(AssertUnwindSafe(work));
    DEPTH.set(DEPTH.get() - 1);
    outcome.map_err(|panic| {
        let message = panic.downcast_ref::<String>().map(String::as_str);
        let message = message.or_else(|| panic.downcast_ref::<&str>().copied());
        message.unwrap_or("a panic without words").to_owned()
    })
}

/// Returns the result of `work` as [`guarded`] does, where `work` has threads of its own: meanwhile
/// no panic of any thread is printed.
///
/// # Errors
/// The message of the panic.
pub fn guarded_with_threads<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    EVERYWHERE.fetch_add(1, Ordering::Relaxed);
    let outcome = guarded(work);
    EVERYWHERE.fetch_sub(1, Ordering::Relaxed);
    outcome
}

/// Returns the result of `work`, without what is written to standard error meanwhile: libraries
/// that drivers load write messages there that are no errors of this program, and nothing else
/// stops them. Lines of other threads are lost as well, so this is for the moment in which a driver
/// is opened; where the system has no way to turn standard error away, the lines are written.
pub fn silenced<T>(work: impl FnOnce() -> T) -> T {
    #[cfg(unix)]
    let _restored = Silence::begin().ok();
    work()
}

/// The original standard error, which is restored when this is dropped.
#[cfg(unix)]
struct Silence(std::os::fd::OwnedFd);

#[cfg(unix)]
impl Silence {
    fn begin() -> std::io::Result<Silence> {
        let nowhere = std::fs::File::options().write(true).open("/dev/null")?;
        let own = nix::unistd::dup(std::io::stderr())?;
        nix::unistd::dup2_stderr(nowhere)?;
        Ok(Silence(own))
    }
}

#[cfg(unix)]
impl Drop for Silence {
    fn drop(&mut self) {
        // Nobody could be told of a failure.
        let _ = nix::unistd::dup2_stderr(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn what_is_said_within_is_not_heard_and_what_is_said_after_is() {
        use nix::unistd::{dup, dup2_stderr, write};
        let file = tempfile::NamedTempFile::new().unwrap();
        let own = dup(std::io::stderr()).unwrap();
        dup2_stderr(file.as_file()).unwrap();
        let said = |words: &[u8]| write(std::io::stderr(), words).unwrap();
        let result = silenced(|| said(b"of a driver\n"));
        let panicked = guarded(|| silenced(|| panic!("in a driver")));
        said(b"of ours\n");
        dup2_stderr(&own).unwrap();
        assert_eq!((result, panicked), (12, Err("in a driver".to_owned())));
        let heard = std::fs::read_to_string(file.path()).unwrap();
        assert!(
            heard.contains("of ours") && !heard.contains("driver"),
            "{heard}"
        );
    }

    #[test]
    fn a_panic_is_its_message() {
        assert_eq!(guarded(|| 7), Ok(7));
        assert_eq!(guarded_with_threads(|| 8), Ok(8));
        let nested = guarded(|| guarded(|| panic!("in {}", "here")).map(|()| 1));
        assert_eq!(nested, Ok(Err("in here".to_owned())));
        assert_eq!(
            guarded(|| panic!("there")).map(|()| 1),
            Err("there".to_owned())
        );
    }
}
