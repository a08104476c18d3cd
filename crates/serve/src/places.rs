//! Where things lie in the data directory.
//!
//! Every path is made of the directory, fixed words and identifiers that the service made itself ([`super::identifier`]).

use std::io;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::download::ReportForm;
use super::identifier::Id;
use super::store::{DataSet, FileForm, Model, ModelOrigin};

/// The data directory.
#[derive(Debug, Clone)]
pub struct Places {
    root: PathBuf,
}

impl Places {
    /// Makes the data directory and its folders where they are missing.
    pub fn create(root: &Path) -> io::Result<Places> {
        let places = Places {
            root: std::path::absolute(root)?,
        };
        for folder in [
            "data",
            "models",
            "specifications",
            "runs",
            "reports",
            "locks",
            "uploads",
        ] {
            std::fs::create_dir_all(places.root.join(folder))?;
        }
        Ok(places)
    }

    /// The directory itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of a data set.
    pub fn data(&self, id: &Id) -> PathBuf {
        self.root.join("data").join(id.as_str())
    }

    /// The file of a data set of the form `form`.
    pub fn data_file(&self, id: &Id, form: FileForm) -> PathBuf {
        self.data(id).join(format!("data.{}", form.ending()))
    }

    /// The file of `data`.
    pub fn file_of(&self, data: &DataSet) -> PathBuf {
        self.data_file(&data.id, data.form)
    }

    /// The schema of a data set.
    pub fn schema(&self, id: &Id) -> PathBuf {
        self.data(id).join("schema.toml")
    }

    /// The directory of a model: its own if it was uploaded, else that of the run which made it.
    pub fn model(&self, model: &Model) -> PathBuf {
        match model.origin {
            ModelOrigin::Uploaded => self.uploaded_model(&model.id),
            ModelOrigin::Trained | ModelOrigin::Repaired => self.run(&model.id),
        }
    }

    /// The directory of an uploaded model.
    pub fn uploaded_model(&self, id: &Id) -> PathBuf {
        self.root.join("models").join(id.as_str())
    }

    /// The specification of a job, with the paths of what it reads: what its process runs.
    pub fn specification(&self, job: &Id) -> PathBuf {
        let folder = self.root.join("specifications");
        folder.join(format!("{job}.toml"))
    }

    /// The run directory of a job.
    pub fn run(&self, job: &Id) -> PathBuf {
        self.root.join("runs").join(job.as_str())
    }

    /// The report of a job's run.
    pub fn report(&self, job: &Id, form: ReportForm) -> PathBuf {
        let name = format!("{job}.{}", form.ending());
        self.root.join("reports").join(name)
    }

    /// The file that the process of a job keeps locked while it runs.
    pub fn lock(&self, job: &Id) -> PathBuf {
        self.root.join("locks").join(job.as_str())
    }

    /// `text` with the paths of files here as they are seen from the data directory, which says nothing of the machine.
    pub fn relative(&self, text: &str) -> String {
        let mut root = self.root.to_string_lossy().into_owned();
        root.push(std::path::MAIN_SEPARATOR);
        text.replace(&root, "")
    }

    /// `text` without paths of the data directory: each becomes the name of its file, such as `data.csv`, or says what lies
    /// there.
    pub fn without_paths(&self, text: &str) -> String {
        let root = self.root.to_string_lossy();
        let mut parts = text.split(root.as_ref());
        let mut result = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let end = part
                .find(|c: char| {
                    !(c.is_ascii_alphanumeric() || matches!(c, '/' | '\\' | '.' | '-' | '_'))
                })
                .unwrap_or(part.len());
            let (path, rest) = part.split_at(end);
            let path = path.trim_end_matches(['.', '/', '\\']);
            let mut words = path.rsplit(['/', '\\']);
            let last = words.next().unwrap_or_default();
            let is_ours = last.parse::<Id>().is_ok() || last.is_empty();
            result.push_str(match words.next() {
                Some("data") if is_ours => "the data set",
                Some("models") if is_ours => "the model",
                Some("runs") if is_ours => "the run",
                _ if is_ours => "the data directory",
                _ => last,
            });
            result.push_str(rest);
        }
        result
    }

    /// Removes what was on its way in when the service ended.
    pub fn clear_uploads(&self) -> io::Result<()> {
        std::fs::remove_dir_all(self.uploads())?;
        std::fs::create_dir(self.uploads())
    }

    fn uploads(&self) -> PathBuf {
        self.root.join("uploads")
    }

    /// A file on its way in, whose name begins with `prefix`. Dropped, it is gone.
    pub fn temporary(&self, prefix: &str) -> io::Result<NamedTempFile> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(prefix).tempfile_in(self.uploads())
    }
}

/// What was to be removed, and what need not be because it is not there.
pub fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Bytes of all files under `folder`. What vanishes meanwhile does not count.
pub fn size(folder: &Path) -> io::Result<u64> {
    let is_gone = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    let entries = match std::fs::read_dir(folder) {
        Err(error) if is_gone(&error) => return Ok(0),
        other => other?,
    };
    let mut bytes = 0;
    for entry in entries {
        let entry = entry?;
        bytes += match entry.metadata() {
            Err(error) if is_gone(&error) => 0,
            Err(error) => return Err(error),
            Ok(about) if about.is_dir() => size(&entry.path())?,
            Ok(about) => about.len(),
        };
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_lose_their_paths() {
        let folder = tempfile::tempdir().unwrap();
        let places = Places::create(folder.path()).unwrap();
        let id: Id = "0123456789abcdef".parse().unwrap();
        let file = places.data_file(&id, FileForm::CsvGz);
        let run = places.run(&id);
        let text = format!(
            "{}, line 3, column 'a/b': 'x'; see {}: {}",
            file.display(),
            places.schema(&id).display(),
            run.display()
        );
        assert_eq!(
            places.without_paths(&text),
            "data.csv.gz, line 3, column 'a/b': 'x'; see schema.toml: the run"
        );
        assert_eq!(places.without_paths("no path"), "no path");
        let command = format!(
            "--model {} --seed 1",
            places.root().join("models/x").display()
        );
        assert_eq!(places.relative(&command), "--model models/x --seed 1");
    }
}
