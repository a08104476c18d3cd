//! One execution: makes an input from its key, gives it to the reader, and checks what must hold.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Mutex, Once, PoisonError};

use probity_run::stream::{fingerprint, fingerprint_of_text};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::ALLOCATOR;
use crate::mutate::mutate;
use crate::target::{Execution, Input, Seen, Target};

/// A violation of what must hold of an execution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The kind of the fault: `panic`, `memory` or `result`; `abort` and `hang` are found from
    /// outside.
    pub kind: &'static str,
    /// A message that says what happened, and where.
    pub message: String,
}

/// An input made from a key.
pub struct Made {
    /// The input that the reader gets.
    pub input: Input,
    /// The index of the seed that the input was made from.
    pub seed: usize,
    /// Whether checksums were computed again after the mutation.
    pub is_sealed: bool,
}

/// Makes the input of the key (`seed`, `target`, `number`). The first numbers give the seeds
/// themselves.
pub fn input_of(target: &Target, seed: u64, number: u64) -> Made {
    let whole = usize::try_from(number).unwrap_or(usize::MAX);
    if let Some(input) = target.seeds.get(whole) {
        return Made {
            input: input.clone(),
            seed: whole,
            is_sealed: false,
        };
    }
    let key = fingerprint([seed, fingerprint_of_text(target.name), number]);
    let mut draw = Xoshiro256PlusPlus::seed_from_u64(key);
    let chosen = draw.random_range(0..target.seeds.len());
    let mut input = target.seeds[chosen].clone();
    mutate(&mut input, &target.seeds, target.words, &mut draw);
    let seal = target.seal.filter(|_| {
        // One in eight keeps its old checksums: damage must be recognised as damage.
        [true, true, true, true, true, true, true, false]
            .choose(&mut draw)
            .is_some_and(|&is_sealed| is_sealed)
    });
    if let Some(seal) = seal {
        seal(&mut input);
    }
    Made {
        input,
        seed: chosen,
        is_sealed: seal.is_some(),
    }
}

thread_local! {
    /// Whether this thread executes an input, so that its panics are findings.
    static WATCHED: RefCell<bool> = const { RefCell::new(false) };
}

/// The message and the place of the last panic.
static LAST_PANIC: Mutex<Option<String>> = Mutex::new(None);
static HOOK: Once = Once::new();

/// Installs a panic hook that notes panics in place of printing them.
pub fn watch_panics() {
    HOOK.call_once(|| {
        let print = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let place = panic.location().map(ToString::to_string);
            let message = panic.payload_as_str().unwrap_or("a panic without words");
            let note = format!("{}: {message}", place.unwrap_or_default());
            *LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner) = Some(note);
            if std::env::var_os("RUST_BACKTRACE").is_some()
                || !WATCHED.with(|watched| *watched.borrow())
                    && std::thread::current().name() == Some("main")
            {
                print(panic);
            }
        }));
    });
}

/// Has `target` read `made`; the files of the input are in `folder` meanwhile.
///
/// # Errors
/// The fault, where something does not hold.
pub fn execute(target: &Target, made: &Made, folder: &Path) -> Result<Seen, Fault> {
    let failed = |error: std::io::Error| Fault {
        kind: "result",
        message: format!("the files cannot be written: {error}"),
    };
    clear(folder).map_err(failed)?;
    made.input.write(folder).map_err(failed)?;
    let execution = Execution {
        input: &made.input,
        original: &target.seeds[made.seed],
        is_sealed: made.is_sealed,
        folder,
    };
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    WATCHED.with(|watched| *watched.borrow_mut() = true);
    let outcome = catch_unwind(AssertUnwindSafe(|| (target.run)(&execution)));
    WATCHED.with(|watched| *watched.borrow_mut() = false);
    let taken = ALLOCATOR.peak_usage().saturating_sub(before);
    let seen = match outcome {
        Ok(Ok(seen)) => seen,
        Ok(Err(message)) => {
            return Err(Fault {
                kind: "result",
                message,
            });
        }
        Err(_) => {
            let mut last = LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner);
            return Err(Fault {
                kind: "panic",
                message: last.take().unwrap_or_default(),
            });
        }
    };
    let size = made.input.size();
    let most = target.memory.limit(size);
    if taken > most {
        return Err(Fault {
            kind: "memory",
            message: format!("{taken} bytes for an input of {size}; at most {most}"),
        });
    }
    Ok(seen)
}

/// Has `target` read `bytes` in place of the first file of its first seed, with the checksum
/// computed again. For fuzzers that make inputs of their own.
///
/// # Errors
/// The fault, where something does not hold.
pub fn execute_bytes(target: &Target, bytes: &[u8], folder: &Path) -> Result<Seen, Fault> {
    let mut input = target.seeds[0].clone();
    if let Some((_, content)) = input.files.first_mut() {
        *content = bytes.to_vec();
    }
    if let Some(seal) = target.seal {
        seal(&mut input);
    }
    let made = Made {
        input,
        seed: 0,
        is_sealed: target.seal.is_some(),
    };
    execute(target, &made, folder)
}

/// Deletes everything in `folder`.
fn clear(folder: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => std::fs::remove_dir_all(entry.path())?,
            false => std::fs::remove_file(entry.path())?,
        }
    }
    Ok(())
}

/// Makes `input` smaller for as long as `fails` says that it still fails and tries are left.
pub fn minimise(input: &Input, mut tries: usize, fails: &mut dyn FnMut(&Input) -> bool) -> Input {
    let mut best = input.clone();
    for place in 0..best.files.len() {
        let mut size = best.files[place].1.len().next_power_of_two();
        while size > 0 {
            let mut start = 0;
            while start < best.files[place].1.len() && tries > 0 {
                tries -= 1;
                let end = (start + size).min(best.files[place].1.len());
                let mut smaller = best.clone();
                smaller.files[place].1.drain(start..end);
                match fails(&smaller) {
                    true => best = smaller,
                    false => start += size,
                }
            }
            size /= 2;
        }
    }
    best
}
