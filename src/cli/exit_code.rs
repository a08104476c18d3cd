//! Exit codes. That of the standard library tells nobody its number, which Python has to know.

/// The exit code of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ExitCode(u8);

impl ExitCode {
    /// Done.
    pub const SUCCESS: ExitCode = ExitCode(0);
}

impl From<u8> for ExitCode {
    fn from(code: u8) -> ExitCode {
        ExitCode(code)
    }
}

impl From<ExitCode> for u8 {
    fn from(code: ExitCode) -> u8 {
        code.0
    }
}
