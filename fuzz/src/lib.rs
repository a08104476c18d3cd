//! Broken input for every reader of the workspace, on stable Rust.
//!
//! A [`Target`](target::Target) is a reader with seeds that the product has written. An execution
//! mutates a seed ([`mutate`]), makes the checksums of the format anew in most cases, so that what
//! is behind them is reached, and has the reader read it. It is keyed by (seed, target, number):
//! the same key is the same input, and `replay` runs it again.
//!
//! # What must hold
//!
//! 1. No panic. (One that the product catches itself and turns into an error is none.)
//! 2. No abort, no overflow of a stack of two megabytes, and no execution of more than a few
//!    seconds: workers are processes, and the one that starts them looks at where they are.
//! 3. Memory: no more than a [stated](target::Memory) number of bytes for each byte of the input,
//!    and a constant. An allocator counts.
//! 4. What is wrong is an error of the reader's own type.
//! 5. A file with a checksum that was changed after it was sealed is refused, or gives what the
//!    original gives. One that was sealed anew is refused, or gives something that can be written
//!    and read back. Where there are two ways to read something (compressed and not, whole and in
//!    parts), both say the same.

pub mod execute;
pub mod mutate;
pub mod supervisor;
pub mod target;
pub mod targets;
pub mod worker;

use peak_alloc::PeakAlloc;

/// An allocator that counts the memory that is taken.
#[global_allocator]
pub static ALLOCATOR: PeakAlloc = PeakAlloc;
