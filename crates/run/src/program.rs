//! The program that is started when work of Probity needs another process.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::Command;

/// An executable, with the arguments that stand before all others: of the binary none, where Python
/// runs the command what makes Python run it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    executable: PathBuf,
    arguments: Vec<OsString>,
}

impl Program {
    /// Makes the program that runs `executable`.
    pub fn new(executable: impl Into<PathBuf>) -> Program {
        Program {
            executable: executable.into(),
            arguments: Vec::new(),
        }
    }

    /// Returns the program of this process, which begins with no arguments.
    ///
    /// # Errors
    /// When the operating system does not say where the executable is.
    pub fn current() -> io::Result<Program> {
        Ok(Program::new(std::env::current_exe()?))
    }

    /// Adds `argument` to those that stand before all others.
    #[must_use]
    pub fn arg(mut self, argument: impl Into<OsString>) -> Program {
        self.arguments.push(argument.into());
        self
    }

    /// Makes the command that starts the program; what is added to its arguments follows on those of
    /// the program.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.executable);
        command.args(&self.arguments);
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_of_a_program_stand_before_all_others() {
        let program = Program::new("/usr/bin/python").arg("-m").arg("probity");
        let mut command = program.command();
        command.arg("--version");
        let words: Vec<_> = command.get_args().collect();
        assert_eq!(command.get_program(), "/usr/bin/python");
        assert_eq!(words, ["-m", "probity", "--version"]);
    }
}
