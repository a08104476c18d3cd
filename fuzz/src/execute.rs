//! One execution: an input from its key, the reader, and what is held against it.

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

/// What must not be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// `panic`, `memory` or `result`; `abort` and `hang` are found from outside.
    pub kind: &'static str,
    /// What happened, and where.
    pub message: String,
}

/// An input made from a key.
pub struct Made {
    /// What is read.
    pub input: Input,
    /// The number of its seed.
    pub seed: usize,
    /// Whether checksums were made anew.
    pub is_sealed: bool,
}

/// The input of the key (`seed`, `target`, `number`). The first numbers are the seeds themselves.
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
        // One in eight goes without: damage must be seen for what it is.
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
    /// Whether what panics here is ours to look at.
    static WATCHED: RefCell<bool> = const { RefCell::new(false) };
}

/// What the last panic said, and where.
static LAST_PANIC: Mutex<Option<String>> = Mutex::new(None);
static HOOK: Once = Once::new();

/// Has panics noted instead of printed.
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

/// Reads `made` by `target`; its files are in `folder` meanwhile.
///
/// # Errors
/// What must not be.
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
    let most = target.memory.of(size);
    if taken > most {
        return Err(Fault {
            kind: "memory",
            message: format!("{taken} bytes for an input of {size}; at most {most}"),
        });
    }
    Ok(seen)
}

/// Reads `bytes` in place of the first file of the first seed of `target`, with its checksum made
/// anew: for fuzzers that make inputs of their own.
///
/// # Errors
/// What must not be.
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

/// Empties `folder`.
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

/// Makes `input` smaller for as long as `fails` and there are tries left.
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
