//! Graphs of ONNX files are computed by this program in processes of their own, so that none takes
//! more than it may, and what it breaks is not the run.

use super::exit_code::ExitCode;
use super::invocation::{arguments, program};
use probity::tensor::onnx::worker::{self, Limits};

/// What makes this program such a process; it is said by itself alone, and nowhere shown.
const ARGUMENT: &str = "onnx-worker";

/// Does the work of such a process, if this is one. Otherwise there will be some.
pub(super) fn begin() -> Option<ExitCode> {
    if arguments().get(1).is_some_and(|first| first == ARGUMENT) {
        return Some(match worker::serve() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::from(2)
            }
        });
    }
    if let Ok(program) = program() {
        worker::compute_in(program.arg(ARGUMENT), Limits::default());
    }
    None
}
