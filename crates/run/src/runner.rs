//! How a run is performed, whatever its kind: one way for the command, for Python and for whoever
//! calls the library.
//!
//! ```text
//! Checked<RunKind> + Setting ──► RunKind::perform ──► opens model, data … : an OpenedRun
//!                                                              │ perform
//!            Part::Whole ─► directory, OpenedRun::whole ───────┤
//!            Part::Shard ─► folder,    OpenedRun::work ────────┼──► Outcome
//!            Part::Merge ─► folder,    OpenedRun::merge ───────┘
//! ```
//!
//! A kind says how its inputs are opened and how its work is done. Where a run is written, whether
//! it goes on, whether its shards are merged already, and in which order all of this is refused, is
//! said here alone: everything that can be wrong with the inputs is found before anything is
//! written.

use std::error::Error;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use serde::Serialize;

use crate::device_name::DeviceName;
use crate::place::{Place, PlaceError, new_run_in};
use crate::run_directory::{CHECKPOINT, RunDirectory, RunError};
use crate::shards::{Part, Shard, ShardError, ShardFolder, Worked};
use crate::specification::file::Record;
use crate::specification::{Checked, Specification};

/// Why a run cannot be performed: an error of its kind, which [`crate::failure`] reads.
pub type Failure = Box<dyn Error + Send + Sync>;

/// A run failed that can go on from what it kept.
#[derive(Debug, thiserror::Error)]
#[error("{source}")]
pub struct Kept {
    /// Its directory.
    pub directory: PathBuf,
    /// Why it failed.
    source: Failure,
}

/// A kind of run: what is asked for, and how it is performed.
pub trait RunKind: Specification {
    /// By what name, and a number, a directory is made for a run whose place nobody names; a kind
    /// without one writes nothing then.
    const DIRECTORY: Option<&'static str>;

    /// Whether a run that was stopped goes on from what it kept.
    const GOES_ON: bool = false;

    /// Whether the work of a run can be cut into shards.
    const IS_DIVISIBLE: bool = false;

    /// Whether an answer is paid for, so that none is repeated in passing.
    const IS_PAID: bool = false;

    /// Opens what `specification` names, and performs the run.
    ///
    /// # Errors
    /// Why it cannot be done.
    fn perform(
        specification: Checked<Self>,
        setting: Setting<'_>,
    ) -> Result<Outcome<String>, Failure>;
}

/// A run whose inputs are opened and checked; nothing is written yet.
pub trait OpenedRun: Sized {
    /// Its kind.
    type Kind: RunKind;
    /// What `summary.json` holds of it.
    type Summary: Serialize;

    /// Whether it can be stopped, so that what it came to by then is kept.
    const STOPS: bool = true;

    /// Refuses to go on if what was opened is not what the run whose record is `began` began with.
    ///
    /// # Errors
    /// What is another.
    fn expect_unchanged(&self, _began: &Record) -> Result<(), Failure> {
        Ok(())
    }

    /// What ends the processes that were opened for the run.
    fn ender(&self) -> Option<Ender> {
        None
    }

    /// Says what whoever asked for the run should know of what was opened.
    fn remark(&self, _observer: &dyn Observer) {}

    /// Whether nothing is gained by going on after `error`.
    fn is_final(_error: &Failure) -> bool {
        false
    }

    /// Performs all of it, and writes it to `target`.
    ///
    /// # Errors
    /// Why it cannot be done.
    fn whole(self, target: Target<'_>, observer: &dyn Observer) -> Result<Self::Summary, Failure>;

    /// The folder `path` for its shards.
    ///
    /// # Errors
    /// When it cannot be cut, or the folder holds something else.
    fn folder(&self, _path: &Path) -> Result<ShardFolder, Failure> {
        Err(indivisible::<Self::Kind>().into())
    }

    /// Does `shard` and writes its file to `folder`, unless it is there.
    ///
    /// # Errors
    /// Why it cannot be done.
    fn work(
        &self,
        _folder: &ShardFolder,
        _shard: Shard,
        _observer: &dyn Observer,
    ) -> Result<Worked, Failure> {
        Err(indivisible::<Self::Kind>().into())
    }

    /// Puts the shards in `folder` together, in the directory that is made once they are read.
    ///
    /// # Errors
    /// When shards are missing, damaged or of another run.
    fn merge(
        &self,
        _folder: &ShardFolder,
        _directory: &mut dyn FnMut() -> Result<RunDirectory, Failure>,
        _observer: &dyn Observer,
    ) -> Result<Merged<Self::Summary>, Failure> {
        Err(indivisible::<Self::Kind>().into())
    }
}

fn indivisible<K: RunKind>() -> ShardError {
    ShardError::Indivisible { kind: K::KIND }
}

/// Ends processes.
pub type Ender = Box<dyn Fn() + Send>;

/// Where a run is written.
#[derive(Clone, Copy)]
pub struct Target<'a> {
    directory: Option<&'a RunDirectory>,
    resume: bool,
}

impl<'a> Target<'a> {
    /// A `directory` that a new run is written to.
    pub fn new(directory: &'a RunDirectory) -> Target<'a> {
        Target {
            directory: Some(directory),
            resume: false,
        }
    }

    /// The directory, where one was named or is made for every run of the kind.
    pub fn directory(self) -> Option<&'a RunDirectory> {
        self.directory
    }

    /// The directory of a kind that has one for every run.
    ///
    /// # Errors
    /// [`PlaceError::Nowhere`]
    pub fn needed(self) -> Result<&'a RunDirectory, PlaceError> {
        self.directory.ok_or(PlaceError::Nowhere)
    }

    /// Whether the run that it holds goes on.
    pub fn goes_on(self) -> bool {
        self.resume
    }
}

/// What the shards of a run came to.
pub enum Merged<S> {
    /// One stage is put together; the next one begins at so many starts.
    Starts(u64),
    /// The run is complete.
    Complete(S),
}

/// How far a run is.
#[derive(Clone, Copy)]
pub struct Progress<'a> {
    /// What is done now, in one word.
    pub phase: &'a str,
    /// Steps of it that are done.
    pub done: u64,
    /// Its steps in all; 0 where nobody knows.
    pub all: u64,
    /// What there is to say beside that.
    pub message: &'a dyn Fn() -> String,
}

impl<'a> Progress<'a> {
    /// `done` of `all` steps of `phase`.
    pub fn new(phase: &'a str, (done, all): (u64, u64), message: &'a dyn Fn() -> String) -> Self {
        Progress {
            phase,
            done,
            all,
            message,
        }
    }

    /// A phase of which nothing else is known.
    pub fn phase(phase: &'a str) -> Self {
        Progress::new(phase, (0, 0), &String::new)
    }
}

/// Whoever watches a run, and may stop it.
pub trait Observer: Sync {
    /// The inputs are opened: from here on the run stops where it is asked to. `ender` is for those
    /// who end the program before.
    ///
    /// # Errors
    /// When nobody can be listened to.
    fn begin(&self, _ender: Option<Ender>) -> Result<(), Failure> {
        Ok(())
    }

    /// Sees how far the run is; breaks to stop it.
    fn observe(&self, progress: Progress<'_>) -> ControlFlow<()>;

    /// What is set once the run is to stop.
    fn stop(&self) -> &AtomicBool;

    /// Hears what whoever asked for the run should know.
    fn remark(&self, _text: &str) {}

    /// Hears what only some want to know.
    fn detail(&self, _text: &str) {}
}

/// Where a run is written, which part of it is done, on what, and who watches.
pub struct Setting<'a> {
    /// Where it is written.
    pub place: Place,
    /// Which part of it is done.
    pub part: Part,
    /// Whether shards are only opened, so that all that can be refused is.
    pub is_check: bool,
    /// On which device.
    pub device: DeviceName,
    /// Makes a directory for a run, by the name of its kind, where none is named.
    pub choose: &'a dyn Fn(&str) -> Result<RunDirectory, RunError>,
    /// Who watches.
    pub observer: &'a dyn Observer,
}

/// What became of a run, with its summary.
#[derive(Debug)]
pub enum Outcome<S> {
    /// It is at an end, or was stopped and is written as far as it came.
    Ended {
        /// Its directory, where it has one.
        directory: Option<RunDirectory>,
        /// Its summary.
        summary: S,
    },
    /// A shard was worked on.
    Worked {
        /// The folder of all shards.
        folder: PathBuf,
        /// Which one.
        shard: Shard,
        /// What became of it.
        worked: Worked,
    },
    /// A shard was only opened.
    Opened,
    /// One stage of the shards is put together.
    Starts {
        /// The folder of all shards.
        folder: PathBuf,
        /// Where the next stage begins.
        starts: u64,
    },
    /// The shards were put together before.
    Merged {
        /// The folder of all shards.
        folder: PathBuf,
        /// The run.
        directory: RunDirectory,
    },
}

impl<S: Serialize> Outcome<S> {
    /// The same with the summary as JSON.
    ///
    /// # Errors
    /// When it cannot be written as such.
    pub fn written(self) -> Result<Outcome<String>, Failure> {
        Ok(match self {
            Outcome::Ended { directory, summary } => Outcome::Ended {
                directory,
                summary: serde_json::to_string_pretty(&summary)?,
            },
            Outcome::Worked {
                folder,
                shard,
                worked,
            } => Outcome::Worked {
                folder,
                shard,
                worked,
            },
            Outcome::Opened => Outcome::Opened,
            Outcome::Starts { folder, starts } => Outcome::Starts { folder, starts },
            Outcome::Merged { folder, directory } => Outcome::Merged { folder, directory },
        })
    }
}

/// Performs `run`, or the part of it that is asked for.
///
/// # Errors
/// Why it cannot be done.
pub fn perform<R: OpenedRun>(run: R, setting: Setting<'_>) -> Result<Outcome<R::Summary>, Failure> {
    let Setting {
        place,
        part,
        is_check,
        choose,
        observer,
        ..
    } = setting;
    if let Some(began) = place.began() {
        run.expect_unchanged(began)?;
    }
    run.remark(observer);
    match part {
        Part::Whole => {
            let name = R::Kind::DIRECTORY;
            let (directory, resume) = match (name, place) {
                (None, place) => (place.new_directory().map(new_run_in).transpose()?, false),
                (Some(name), place) => {
                    let (directory, resume) = place.directory(|| choose(name))?;
                    (Some(directory), resume)
                }
            };
            if R::STOPS {
                observer.begin(run.ender())?;
            }
            let target = Target {
                directory: directory.as_ref(),
                resume,
            };
            let summary = run.whole(target, observer).map_err(|error| {
                let kept = directory.as_ref().filter(|directory| {
                    R::Kind::GOES_ON && !R::is_final(&error) && directory.file(CHECKPOINT).is_file()
                });
                match kept {
                    Some(directory) => Failure::from(Kept {
                        directory: directory.path().to_owned(),
                        source: error,
                    }),
                    None => error,
                }
            })?;
            Ok(Outcome::Ended { directory, summary })
        }
        Part::Shard { folder, shard } => {
            let folder = run.folder(&folder)?;
            if is_check {
                return Ok(Outcome::Opened);
            }
            observer.begin(run.ender())?;
            let worked = run.work(&folder, shard, observer)?;
            let folder = folder.path().to_owned();
            Ok(Outcome::Worked {
                folder,
                shard,
                worked,
            })
        }
        Part::Merge { folder } => {
            let folder = run.folder(&folder)?;
            let out = place.new_directory();
            let path = folder.path().to_owned();
            let before = out
                .map(|out| folder.merged_in::<R::Kind>(out))
                .transpose()?;
            if let Some(directory) = before.flatten() {
                return Ok(Outcome::Merged {
                    folder: path,
                    directory,
                });
            }
            observer.begin(run.ender())?;
            let name = R::Kind::DIRECTORY;
            let mut directory = None;
            let mut make = || {
                let choose = || choose(name.unwrap_or(R::Kind::KIND));
                let made = folder.directory::<R::Kind>(out, choose)?;
                Ok(directory.insert(made).clone())
            };
            match run.merge(&folder, &mut make, observer)? {
                Merged::Starts(starts) => Ok(Outcome::Starts {
                    folder: path,
                    starts,
                }),
                Merged::Complete(summary) => Ok(Outcome::Ended { directory, summary }),
            }
        }
    }
}
