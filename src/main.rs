//! The command `probity`: parse, dispatch, exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    probity::cli::main()
}
