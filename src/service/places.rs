//! Where things lie in the data directory.
//!
//! Every path is made of the directory, fixed words and identifiers that the service made itself ([`super::identifier`]).

use std::io;
use std::path::{Path, PathBuf};

use super::identifier::Id;
use super::store::{DataSet, FileForm, Model, ModelOrigin};

/// The data directory.
#[derive(Debug, Clone)]
pub struct Places {
    root: PathBuf,
}

impl Places {
    /// Makes the data directory and its folders where they are missing.
    ///
    /// # Errors
    /// When they cannot be made.
    pub fn create(root: &Path) -> io::Result<Places> {
        let places = Places {
            root: std::path::absolute(root)?,
        };
        for folder in ["data", "models", "runs", "locks", "uploads"] {
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

    /// The run directory of a job.
    pub fn run(&self, job: &Id) -> PathBuf {
        self.root.join("runs").join(job.as_str())
    }

    /// The file that the process of a job keeps locked while it runs.
    pub fn lock(&self, job: &Id) -> PathBuf {
        self.root.join("locks").join(job.as_str())
    }

    /// The folder for files on their way in.
    pub fn uploads(&self) -> PathBuf {
        self.root.join("uploads")
    }
}
