//! How this process was started, and how another one like it is.
//!
//! The operating system does not tell: where Python runs the command, the executable and the first
//! arguments of the process are those of the interpreter.

use std::ffi::OsString;
use std::sync::OnceLock;

use anyhow::Context;

use probity::run::program::Program;

/// What [`begin`] was told.
struct Invocation {
    arguments: Vec<OsString>,
    program: Option<Program>,
}

static INVOCATION: OnceLock<Invocation> = OnceLock::new();

/// Says what the `arguments` of this process are, its name first, and which `program` does in
/// another process what its arguments say. The first call counts.
pub(super) fn begin(arguments: Vec<OsString>, program: Option<Program>) {
    let _ = INVOCATION.set(Invocation { arguments, program });
}

/// The arguments of this process, its name first.
pub(super) fn arguments() -> &'static [OsString] {
    INVOCATION.get().map_or(&[], |begun| &begun.arguments)
}

/// The program that runs the command in another process.
pub(super) fn program() -> anyhow::Result<Program> {
    let program = INVOCATION.get().and_then(|begun| begun.program.clone());
    program.context("cannot tell where this program lies")
}
