//! The place where a run is written: a new directory, or the directory of a run which goes on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use thiserror::Error;

use crate::error::RunError;
use crate::names::{CHECKPOINT, SUMMARY};
use crate::output_file::{OutputError, expect_outside};
use crate::run_directory::RunDirectory;
use crate::specification::file::{Changed, Record, SpecificationError};
use crate::specification::{FieldError, Specification};

/// The reason why a run cannot be written where it is to be.
#[derive(Debug, Error)]
pub enum PlaceError {
    /// The directory cannot be made, read or written.
    #[error("{0}")]
    Run(#[from] RunError),
    /// The place lies in a directory that belongs to something else.
    #[error("{0}")]
    Output(#[from] OutputError),
    /// The specification and the record with which a run began cannot be read.
    #[error("{0}")]
    Specification(#[from] SpecificationError),
    /// The run began on another device.
    #[error("{0}")]
    OtherDevice(#[source] FieldError),
    /// The run was stopped, and the checkpoint that it would go on from is gone.
    #[error(
        "the run in {} was stopped before its end, but its {CHECKPOINT} is not there any more, so it cannot go on; start a new run",
        directory.display()
    )]
    Lost {
        /// The directory of the run.
        directory: PathBuf,
    },
    /// What was opened is not what the run that goes on or is repeated opened.
    #[error("{what} changed since the run began (SHA-256 {now}, was {then}); {advice}")]
    Changed {
        /// What was opened: `people.csv`, or `the data`.
        what: String,
        /// The hash of it now; `none` where there is nothing.
        now: String,
        /// The hash of it then; `none` where there was nothing.
        then: String,
        /// What can be done about it.
        advice: &'static str,
    },
    /// No directory is given for a kind whose runs all have one.
    #[error("there is no directory to write the run to")]
    Nowhere,
    /// The run is complete.
    #[error("the run in {} is complete; there is nothing to resume", directory.display())]
    Complete {
        /// The directory of the run.
        directory: PathBuf,
    },
}

/// Creates the directory `out` for a new run, outside of those that belong to something else.
///
/// # Errors
/// When it cannot be made, or holds something already.
pub fn new_run_in(out: &Path) -> Result<RunDirectory, PlaceError> {
    expect_outside(out)?;
    Ok(RunDirectory::create(out)?)
}

/// The place where a run is written.
pub enum Place {
    /// A new directory: the one that is named, or one that the caller chooses.
    New(Option<PathBuf>),
    /// A new directory, for a run that repeats another, with the record of what that one opened.
    Again(Option<PathBuf>, Record),
    /// The directory of a run which goes on, with the record that it began with.
    GoesOn(RunDirectory, Record),
}

impl Place {
    /// Returns the place of the unfinished run in `out`, and its specification.
    ///
    /// # Errors
    /// When there is none of this kind.
    pub fn unfinished<S: Specification>(out: &Path) -> Result<(Place, S), PlaceError> {
        let (directory, began, record) = RunDirectory::resume_specified::<S>(out)?;
        Ok((Place::GoesOn(directory, record), began))
    }

    /// Returns the directory of a new run, where it is named.
    pub fn new_directory(&self) -> Option<&Path> {
        match self {
            Place::New(out) | Place::Again(out, _) => out.as_deref(),
            Place::GoesOn(..) => None,
        }
    }

    /// Returns the record with which a run that goes on or is repeated began.
    pub fn began(&self) -> Option<&Record> {
        match self {
            Place::New(_) => None,
            Place::Again(_, record) | Place::GoesOn(_, record) => Some(record),
        }
    }

    /// Refuses to go on with a run, or to repeat it, where what was opened `now` has other hashes, by its
    /// role, than what the run began with; `name` gives the name of a role.
    ///
    /// # Errors
    /// [`PlaceError::Changed`]
    pub fn expect_unchanged(
        &self,
        now: &BTreeMap<String, String>,
        name: &dyn Fn(&str) -> String,
    ) -> Result<(), PlaceError> {
        match self.began().and_then(|began| began.changed_since(now)) {
            None => Ok(()),
            Some(changed) => Err(self.refuse(name(changed.role), changed)),
        }
    }

    /// Returns the refusal to go on with a run, or to repeat it, where `what` is not as it was.
    pub fn refuse(&self, what: String, changed: Changed<'_>) -> PlaceError {
        PlaceError::Changed {
            what,
            now: changed.now.to_owned(),
            then: changed.then.to_owned(),
            advice: match self {
                Place::Again(..) => "give its run.toml to run it on what is there now",
                Place::New(_) | Place::GoesOn(..) => "start a new run",
            },
        }
    }

    /// Refuses to go on with a complete run, or on another `device` than it began on. A run that
    /// lacks `last`, the file that is drawn from its summary after all others, was stopped before
    /// that.
    ///
    /// # Errors
    /// See [`PlaceError`].
    pub fn expect_device(
        &self,
        device: impl ToString,
        last: Option<&str>,
    ) -> Result<(), PlaceError> {
        let Place::GoesOn(directory, record) = self else {
            return Ok(());
        };
        let began = record.device.clone().unwrap_or_default();
        let now = device.to_string();
        if began != now {
            let expected = format!("{began}, on which the run began");
            let error = FieldError::new("device", now, expected);
            return Err(PlaceError::OtherDevice(error));
        }
        let is_there = |name| directory.file(name).is_file();
        if !is_there(CHECKPOINT) && is_there(SUMMARY) && last.is_none_or(is_there) {
            let summary: Value = directory.read_summary()?;
            let is_stopped = ["time", "max-boxes", "interrupted"]
                .contains(&summary["ending"].as_str().unwrap_or(""));
            let directory = directory.path().to_owned();
            return Err(match is_stopped || summary["finished"] == false {
                true => PlaceError::Lost { directory },
                false => PlaceError::Complete { directory },
            });
        }
        Ok(())
    }

    /// Returns the directory, and whether its run goes on. A new one is made: the one that is
    /// named, or what `choose` gives.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn directory(
        self,
        choose: impl FnOnce() -> Result<RunDirectory, RunError>,
    ) -> Result<(RunDirectory, bool), PlaceError> {
        match self {
            Place::New(Some(out)) | Place::Again(Some(out), _) => Ok((new_run_in(&out)?, false)),
            Place::New(None) | Place::Again(None, _) => Ok((choose()?, false)),
            Place::GoesOn(directory, _) => Ok((directory, true)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use super::*;

    /// The error names its field, because commands put the option in the place of a field by which
    /// a message begins.
    #[test]
    fn another_device_is_refused_by_the_name_of_its_field() {
        let folder = tempfile::tempdir().unwrap();
        let directory = RunDirectory::create(&folder.path().join("run")).unwrap();
        let record = Record {
            device: Some("cpu".to_owned()),
            ..Record::default()
        };
        let place = Place::GoesOn(directory, record);
        place.expect_device("cpu", None).unwrap();
        let error = place.expect_device("cuda", None).unwrap_err();
        assert_eq!(
            error.to_string(),
            "device is cuda, but must be cpu, on which the run began"
        );
        let field = error.source().and_then(|source| source.downcast_ref());
        assert!(field.is_some_and(|field: &FieldError| field.field == "device"));
    }
}
