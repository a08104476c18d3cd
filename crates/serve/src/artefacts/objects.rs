//! Objects in the storage: read, written, listed and deleted by their keys.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::PathBuf;

use bytes::Bytes;
use object_store::aws::AmazonS3;
use object_store::path::Path as Key;
use object_store::{Error, MultipartUpload, ObjectStore, ObjectStoreExt, PutMode, PutOptions};
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;
use thiserror::Error as ThisError;
use tokio_stream::StreamExt;

use super::connector::PART;
use super::manifest::Stored;
use super::options::{ArtefactsError, ArtefactsOptions};
use crate::problem::{Problem, ProblemKind};
use probity_run::run_directory::hex;

/// The number of characters of an error that are kept: storage answers with whole documents.
const WORDS: usize = 500;

/// The reason why an object was not read or written.
#[derive(Debug, ThisError)]
pub(super) enum StorageError {
    /// The storage does not answer, or refuses.
    #[error("the storage of artefacts: {0}")]
    Away(String),
    /// There is no such object.
    #[error("the storage of artefacts has no {0}")]
    Missing(String),
    /// The content is another one than was written.
    #[error("{0} is not what its manifest says")]
    Damaged(String),
    /// The file cannot be read or written here.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<Error> for StorageError {
    fn from(error: Error) -> StorageError {
        match error {
            Error::NotFound { path, .. } => StorageError::Missing(path),
            error => {
                let words = without_document(error.to_string());
                let words = words.chars().map(|c| if c.is_control() { ' ' } else { c });
                StorageError::Away(words.take(WORDS).collect())
            }
        }
    }
}

/// The words of an error without the document that the storage answered with, but for its code: there
/// may be secrets in it.
fn without_document(words: String) -> String {
    let Some((before, document)) = words.split_once('<') else {
        return words;
    };
    let code = document.split_once("<Code>").map(|(_, rest)| rest);
    let code = code.and_then(|rest| Some(rest.split_once('<')?.0));
    let code = code.filter(|code| code.chars().all(|c| c.is_ascii_alphanumeric()));
    format!("{before}{}", code.unwrap_or("(a document)"))
}

impl From<StorageError> for Problem {
    fn from(error: StorageError) -> Problem {
        match error {
            StorageError::Io(error) => error.into(),
            StorageError::Damaged(_) => Problem::internal(&error),
            StorageError::Away(_) | StorageError::Missing(_) => {
                crate::log::fault(&error);
                Problem::new(
                    ProblemKind::StorageAway,
                    "The storage of the service's files does not answer, or refuses; try again later.",
                )
            }
        }
    }
}

/// An object in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed {
    /// The key, without the prefix.
    pub key: String,
    /// The number of bytes.
    pub bytes: u64,
    /// The moment at which the object was written, in seconds since 1970.
    pub written: u64,
}

/// The objects below the prefix of a service.
#[derive(Debug)]
pub(super) struct Objects {
    store: AmazonS3,
    prefix: Vec<String>,
}

impl Objects {
    /// Makes the client of the storage; asks nothing yet.
    /// Fails where the options or the environment are wrong.
    pub fn new(options: &ArtefactsOptions) -> Result<Objects, ArtefactsError> {
        let place = options.place()?;
        Ok(Objects {
            store: options.client(&place)?,
            prefix: place.prefix,
        })
    }

    /// The whole key of an object; all its parts are plain names.
    fn key(&self, key: &str) -> Key {
        let prefix = self.prefix.iter().map(String::as_str);
        let parts = prefix.chain(key.split('/'));
        parts.fold(Key::ROOT, |whole, part| whole.join(part))
    }

    /// The content of a small object; none where there is no such object.
    pub async fn read(&self, key: &str) -> Result<Option<Bytes>, StorageError> {
        let read = async { self.store.get(&self.key(key)).await?.bytes().await };
        match read.await {
            Ok(content) => Ok(Some(content)),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes a small object.
    pub async fn write(&self, key: &str, content: Vec<u8>) -> Result<(), StorageError> {
        let written = self.store.put(&self.key(key), content.into()).await;
        written.map_err(unwritten).map(drop)
    }

    /// Writes a small object where there is none with this key, as far as the storage can tell.
    pub async fn write_new(&self, key: &str, content: Vec<u8>) -> Result<(), StorageError> {
        let new = PutOptions::from(PutMode::Create);
        let whole = self.key(key);
        let written = self.store.put_opts(&whole, content.clone().into(), new);
        match written.await {
            Ok(_) | Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => Ok(()),
            // Not every storage knows of conditions.
            Err(_) => self.write(key, content).await,
        }
    }

    /// Sends a file that is `stored` under a name. Fails where it is no longer as it is `stored`;
    /// then, and when it is interrupted, there is no such object.
    pub async fn send(
        &self,
        key: &str,
        file: PathBuf,
        stored: &Stored,
    ) -> Result<(), StorageError> {
        let whole = self.key(key);
        let opened = tokio::task::spawn_blocking(move || File::open(file));
        let (file, part) = next_part(opened.await.map_err(io::Error::other)??).await?;
        let mut sent = Sent {
            key,
            stored,
            hasher: Sha256::new(),
            bytes: 0,
        };
        sent.hear(&part);
        if (part.len() as u64) < PART {
            sent.check()?;
            let written = self.store.put(&whole, part.into()).await;
            return written.map_err(unwritten).map(drop);
        }
        let upload = self.store.put_multipart(&whole).await;
        let mut upload = upload.map_err(unwritten)?;
        let result = send_parts(upload.as_mut(), file, part, sent).await;
        if result.is_err() {
            // Parts that stay are seen by nobody; the bucket may have a rule that removes them.
            let _ = upload.abort().await;
        }
        result
    }

    /// Fetches an object that is `stored` so into `file`.
    pub async fn fetch(
        &self,
        key: &str,
        stored: &Stored,
        mut file: NamedTempFile,
    ) -> Result<NamedTempFile, StorageError> {
        let whole = self.key(key);
        let mut came = Sent {
            key,
            stored,
            hasher: Sha256::new(),
            bytes: 0,
        };
        while came.bytes < stored.bytes {
            let end = stored.bytes.min(came.bytes + PART);
            let piece = self.store.get_range(&whole, came.bytes..end).await?;
            if piece.is_empty() {
                return Err(StorageError::Damaged(key.to_owned()));
            }
            came.hear(&piece);
            file.write_all(&piece)?;
        }
        came.check()?;
        let synced = tokio::task::spawn_blocking(move || {
            file.flush()?;
            file.as_file().sync_all()?;
            io::Result::Ok(file)
        });
        Ok(synced.await.map_err(io::Error::other)??)
    }

    /// Deletes an object; one that is not there is as good as deleted.
    pub async fn delete(&self, key: &str) -> Result<(), StorageError> {
        match self.store.delete(&self.key(key)).await {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Lists the objects whose keys begin with `folder` and a slash.
    pub async fn list(&self, folder: &str) -> Result<Vec<Listed>, StorageError> {
        let root = self.prefix.iter().map(String::as_str);
        let root = root.fold(Key::ROOT, |whole, part| whole.join(part));
        let mut found = self.store.list(Some(&self.key(folder)));
        let mut listed = Vec::new();
        while let Some(about) = found.next().await {
            let about = about?;
            let Some(parts) = about.location.prefix_match(&root) else {
                continue;
            };
            let parts: Vec<String> = parts.map(|part| part.as_ref().to_owned()).collect();
            listed.push(Listed {
                key: parts.join("/"),
                bytes: about.size,
                written: about.last_modified.timestamp().try_into().unwrap_or(0),
            });
        }
        Ok(listed)
    }
}

/// The reason why an object cannot be written.
fn unwritten(error: Error) -> StorageError {
    match error {
        Error::NotFound { .. } => StorageError::Away("there is no such bucket".to_owned()),
        error => error.into(),
    }
}

/// What moved of a file so far.
struct Sent<'a> {
    key: &'a str,
    stored: &'a Stored,
    hasher: Sha256,
    bytes: u64,
}

impl Sent<'_> {
    fn hear(&mut self, piece: &[u8]) {
        self.hasher.update(piece);
        self.bytes += piece.len() as u64;
    }

    /// Refuses a file that differs from what is stored of it.
    fn check(&self) -> Result<(), StorageError> {
        let sha256 = hex(&self.hasher.clone().finalize());
        match self.bytes == self.stored.bytes && sha256 == self.stored.sha256 {
            true => Ok(()),
            false => Err(StorageError::Damaged(self.key.to_owned())),
        }
    }
}

/// Reads the next part of `file`; an empty one at its end.
async fn next_part(file: File) -> io::Result<(File, Vec<u8>)> {
    let read = tokio::task::spawn_blocking(move || {
        let mut part = Vec::new();
        (&file).take(PART).read_to_end(&mut part)?;
        Ok((file, part))
    });
    read.await.map_err(io::Error::other)?
}

async fn send_parts(
    upload: &mut dyn MultipartUpload,
    mut file: File,
    mut part: Vec<u8>,
    mut sent: Sent<'_>,
) -> Result<(), StorageError> {
    while !part.is_empty() {
        upload.put_part(part.into()).await?;
        (file, part) = next_part(file).await?;
        sent.hear(&part);
    }
    sent.check()?;
    upload.complete().await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_document_the_code_is_said() {
        let said = |words: &str| without_document(words.to_owned());
        let document = "403: <?xml version=\"1.0\"?><Error><Code>ExpiredToken</Code><Token-0>secret</Token-0></Error>";
        assert_eq!(said(document), "403: ExpiredToken");
        assert_eq!(said("500: <html>secret</html>"), "500: (a document)");
        assert_eq!(said("500: <Code>a secret</Code>"), "500: (a document)");
        assert_eq!(said("it does not answer"), "it does not answer");
    }
}
