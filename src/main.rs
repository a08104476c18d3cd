//! The command `probity`: arguments, exit code.

use std::env;
use std::process::ExitCode;

use probity::cli;
use probity::run::program::Program;

fn main() -> ExitCode {
    cli::main(env::args_os(), Program::current().ok()).into()
}
