//! Where code of others may panic on a broken file: the panic becomes an error.
//!
//! Decoders of large formats have places that no check of ours can reach. What they say is taken
//! for what is wrong with the file, and is not printed: a panic that is caught is no news for who
//! reads the error.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

thread_local! {
    /// Calls of [`guarded`] that this thread is in.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Calls of [`guarded_with_threads`] that go on.
static EVERYWHERE: AtomicUsize = AtomicUsize::new(0);
static QUIET: Once = Once::new();

/// The result of `work`, or what it says when it panics.
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

/// The same where `work` has threads of its own: meanwhile no panic of any thread is printed.
///
/// # Errors
/// The message of the panic.
pub fn guarded_with_threads<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    EVERYWHERE.fetch_add(1, Ordering::Relaxed);
    let outcome = guarded(work);
    EVERYWHERE.fetch_sub(1, Ordering::Relaxed);
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

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
