//! Files on their way in: streamed to a temporary file, never held whole.

use std::io::Write;

use tempfile::NamedTempFile;

use crate::Service;
use crate::problem::{Problem, ProblemKind};

/// How the names of files on their way in begin.
const PREFIX: &str = "upload-";

/// A file that arrives. Dropped, it is gone.
pub struct Upload {
    file: NamedTempFile,
    bytes: u64,
    limit: u64,
}

/// A file that has arrived whole. Dropped, it is gone.
pub struct ReceivedFile {
    pub(super) file: NamedTempFile,
    pub(super) bytes: u64,
}

impl Upload {
    /// Makes a place for a file that a user sends.
    ///
    /// # Errors
    /// When nothing more can be stored.
    pub async fn begin(service: &Service) -> Result<Upload, Problem> {
        service.check_storage().await?;
        let folder = service.places().uploads();
        let file = service
            .blocking(move || {
                tempfile::Builder::new()
                    .prefix(PREFIX)
                    .tempfile_in(folder)
                    .map_err(|error| Problem::internal(&error))
            })
            .await?;
        Ok(Upload {
            file,
            bytes: 0,
            limit: service.limits().upload_bytes,
        })
    }

    /// Adds what came next.
    ///
    /// # Errors
    /// When the file is larger than uploads may be, or the disk is full.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Problem> {
        self.bytes += bytes.len() as u64;
        if self.bytes > self.limit {
            return Err(Problem::new(
                ProblemKind::TooLarge,
                format!("A file has at most {} bytes here.", self.limit),
            ));
        }
        self.file
            .write_all(bytes)
            .map_err(|error| Problem::internal(&error))
    }

    /// The file, now that it is whole.
    ///
    /// # Errors
    /// When it is empty, or the disk is full.
    pub fn finish(mut self) -> Result<ReceivedFile, Problem> {
        if self.bytes == 0 {
            return Err(Problem::invalid("The file is empty."));
        }
        self.file
            .flush()
            .map_err(|error| Problem::internal(&error))?;
        Ok(ReceivedFile {
            file: self.file,
            bytes: self.bytes,
        })
    }
}
