//! The command `probity`, which runs in the process of the interpreter that loads this module.

use std::ffi::OsString;
use std::process;
use std::thread;

use probity::cli;
use probity::run::program::Program;
use probity::tensor::onnx::worker::{self, Limits};
use pyo3::prelude::*;

/// The name of the command's thread, which messages of a panic tell, and the size of its stack: those
/// of the main thread of a program.
const THREAD: &str = "main";
const STACK: usize = 8 << 20;

/// The exit code of a panic.
const PANICKED: i32 = 101;

/// Makes a program of the words that start it, if there are any.
fn program_of(words: Vec<OsString>) -> Option<Program> {
    let mut words = words.into_iter();
    let executable = words.next()?;
    Some(words.fold(Program::new(executable), Program::arg))
}

/// Runs the command line `arguments`, the first of which is the name of the program, and ends the
/// process with its exit code, as a program does: nothing more of Python is run. `program` are the words
/// that start such a process.
#[pyfunction]
pub(crate) fn run_command(
    py: Python<'_>,
    arguments: Vec<OsString>,
    program: Vec<OsString>,
) -> PyResult<()> {
    py.detach(|| {
        let command = move || cli::main(arguments, program_of(program));
        let thread = thread::Builder::new()
            .name(THREAD.to_owned())
            .stack_size(STACK);
        let ended = thread.spawn(command)?.join();
        process::exit(ended.map_or(PANICKED, i32::from))
    })
}

/// Has ONNX graphs computed in processes with bounds, by the command that the words `program` start;
/// in this process where there are none.
#[pyfunction]
pub(crate) fn compute_graphs_in(program: Vec<OsString>) {
    if let Some(program) = program_of(program) {
        worker::compute_in(program.arg("onnx-worker"), Limits::default());
    }
}
