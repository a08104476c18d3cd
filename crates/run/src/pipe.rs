//! Checks for files that can be read only once, such as pipes.

use std::fs;
use std::io;
use std::path::Path;

/// Refuses a pipe, a socket or a terminal for a reader that needs the file twice, or in places. A
/// file that is not there is left to whoever opens it.
///
/// # Errors
/// [`io::ErrorKind::NotSeekable`], with advice.
pub fn expect_rereadable(file: &Path) -> io::Result<()> {
    match fs::metadata(file) {
        Ok(found) if !found.is_file() && !found.is_dir() => Err(io::Error::new(
            io::ErrorKind::NotSeekable,
            "it can be read only once, like a pipe, and is needed more than once; write it to a file first",
        )),
        _ => Ok(()),
    }
}

/// Returns whether `file` is there and no directory: a file, or a pipe, whose content is then read
/// or refused. A name that stands for something else is none.
pub fn is_readable(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|found| !found.is_dir())
}
