//! The performance of a run, whatever its kind: one way for the command, for Python and for whoever
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
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use crate::device_name::DeviceName;
use crate::place::{Place, PlaceError, new_run_in};
use crate::run_directory::{CHECKPOINT, RunDirectory, RunError};
use crate::shards::{Part, Shard, ShardError, ShardFolder, Worked};
use crate::specification::file::Record;
use crate::specification::{Checked, Specification};

/// The reason why a run cannot be performed: an error of its kind, which [`crate::failure`] reads.
pub type Failure = Box<dyn Error + Send + Sync>;

/// The failure of a run that can go on from what it kept.
#[derive(Debug, thiserror::Error)]
#[error("{source}")]
pub struct Kept {
    /// The directory of the run.
    pub directory: PathBuf,
    /// The reason why the run failed.
    source: Failure,
}

/// A kind of run: its specification, and how it is performed.
pub trait RunKind: Specification {
    /// The name by which, with a number, a directory is made for a run whose place nobody names; a
    /// kind without one writes nothing then.
    const DIRECTORY: Option<&'static str>;

    /// Whether a run that was stopped goes on from what it kept.
    const GOES_ON: bool = false;

    /// Whether the work of a run can be cut into shards.
    const IS_DIVISIBLE: bool = false;

    /// Whether answers are paid for, so that none is repeated in passing.
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
    /// The kind of the run.
    type Kind: RunKind;
    /// The type of the contents of `summary.json`.
    type Summary: Serialize;

    /// Whether the run can be stopped, so that its results up to then are kept.
    const STOPS: bool = true;

    /// Returns the record of what was opened, against which that of a run which goes on or is repeated
    /// is held; `None` of kinds that are not repeated, or that look at it while they open.
    fn record(&self) -> Option<&Record>;

    /// Returns the name of what was opened as `role`: that of its file, where it has one.
    fn name_of(&self, role: &str) -> String {
        format!("the {role}")
    }

    /// Returns a function that ends the processes that were opened for the run.
    fn ender(&self) -> Option<ShutdownHook> {
        None
    }

    /// Tells whoever asked for the run what they should know of what was opened.
    fn remark(&self, _observer: &dyn Observer) {}

    /// Returns whether nothing is gained by going on after `error`.
    fn is_final(_error: &Failure) -> bool {
        false
    }

    /// Performs the whole run, and writes it to `target`.
    ///
    /// # Errors
    /// Why it cannot be done.
    fn whole(self, target: Target<'_>, observer: &dyn Observer) -> Result<Self::Summary, Failure>;

    /// Opens the folder `path` for the run's shards.
    ///
    /// # Errors
    /// When it cannot be cut, or the folder holds something else.
    fn folder(&self, _path: &Path) -> Result<ShardFolder, Failure> {
        Err(indivisible::<Self::Kind>().into())
    }

    /// Performs `shard` and writes its file to `folder`, unless it is there.
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

/// A function that ends processes.
pub type ShutdownHook = Box<dyn Fn() + Send>;

/// The directory that a run is written to, if there is one, and whether the run goes on.
#[derive(Clone, Copy)]
pub struct Target<'a> {
    directory: Option<&'a RunDirectory>,
    resume: bool,
}

impl<'a> Target<'a> {
    /// Creates the target of a new run that is written to `directory`.
    pub fn new(directory: &'a RunDirectory) -> Target<'a> {
        Target {
            directory: Some(directory),
            resume: false,
        }
    }

    /// Returns the directory, where one was named or is made for every run of the kind.
    pub fn directory(self) -> Option<&'a RunDirectory> {
        self.directory
    }

    /// Returns the directory of a kind that has one for every run.
    ///
    /// # Errors
    /// [`PlaceError::Nowhere`]
    pub fn needed(self) -> Result<&'a RunDirectory, PlaceError> {
        self.directory.ok_or(PlaceError::Nowhere)
    }

    /// Returns whether the run that the directory holds goes on.
    pub fn goes_on(self) -> bool {
        self.resume
    }
}

/// The result of merging the shards of a run.
pub enum Merged<S> {
    /// One stage is put together; the next one begins at so many starts.
    Starts(u64),
    /// The run is complete.
    Complete(S),
}

/// The progress of a run.
#[derive(Clone, Copy)]
pub struct Progress<'a> {
    /// The name of the current phase, in one word.
    pub phase: &'a str,
    /// The number of steps of the phase that are done.
    pub done: u64,
    /// The number of all steps of the phase; 0 where nobody knows.
    pub all: u64,
    /// A function that gives a message beside the numbers.
    pub message: &'a dyn Fn() -> String,
}

impl<'a> Progress<'a> {
    /// Creates the progress of `done` of `all` steps of `phase`.
    pub fn new(phase: &'a str, (done, all): (u64, u64), message: &'a dyn Fn() -> String) -> Self {
        Progress {
            phase,
            done,
            all,
            message,
        }
    }

    /// Creates the progress of a phase of which nothing else is known.
    pub fn phase(phase: &'a str) -> Self {
        Progress::new(phase, (0, 0), &String::new)
    }
}

/// An observer, who watches a run and may stop it.
pub trait Observer: Sync {
    /// Begins the observation, once the inputs are opened: from here on the run stops where it is
    /// asked to. `ender` is for those who end the program before.
    ///
    /// # Errors
    /// When nobody can be listened to.
    fn begin(&self, _ender: Option<ShutdownHook>) -> Result<(), Failure> {
        Ok(())
    }

    /// Receives the progress of the run; breaks to stop it.
    fn observe(&self, progress: Progress<'_>) -> ControlFlow<()>;

    /// Returns the flag that is set once the run is to stop.
    fn stop(&self) -> &AtomicBool;

    /// Receives a message that whoever asked for the run should know.
    fn remark(&self, _text: &str) {}

    /// Receives a message that only some want to know.
    fn detail(&self, _text: &str) {}
}

/// Returns a function that tells `observer` how many of all steps of `phase` are done, and breaks once
/// the run is to stop. It may be called on any thread: the observer is told one thing at a time.
pub fn watched<'a>(
    observer: &'a dyn Observer,
    phase: &'a str,
) -> impl Fn(u64, u64) -> ControlFlow<()> + Sync + 'a {
    let turn = Mutex::new(());
    move |done, all| {
        let _turn = turn.lock();
        if observer.stop().load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        observer.observe(Progress::new(phase, (done, all), &String::new))
    }
}

/// The setting of a run: its place, the part of it that is done, its device and its observer.
pub struct Setting<'a> {
    /// The place where the run is written.
    pub place: Place,
    /// The part of the run that is done.
    pub part: Part,
    /// Whether shards are only opened, so that all that can be refused is.
    pub is_check: bool,
    /// The device of the run.
    pub device: DeviceName,
    /// A function that makes a directory for a run, by the name of its kind, where none is named.
    pub choose: &'a dyn Fn(&str) -> Result<RunDirectory, RunError>,
    /// The observer of the run.
    pub observer: &'a dyn Observer,
}

/// The outcome of a run, with its summary.
#[derive(Debug)]
pub enum Outcome<S> {
    /// The run is at an end, or was stopped and is written as far as it came.
    Ended {
        /// The directory of the run, where it has one.
        directory: Option<RunDirectory>,
        /// The summary of the run.
        summary: S,
    },
    /// A shard was worked on.
    Worked {
        /// The folder of all shards.
        folder: PathBuf,
        /// The shard.
        shard: Shard,
        /// The result of the work on the shard.
        worked: Worked,
    },
    /// A shard was only opened.
    Opened,
    /// One stage of the shards is put together.
    Starts {
        /// The folder of all shards.
        folder: PathBuf,
        /// The number of starts of the next stage.
        starts: u64,
    },
    /// The shards were put together before.
    Merged {
        /// The folder of all shards.
        folder: PathBuf,
        /// The directory of the run.
        directory: RunDirectory,
    },
}

impl<S: Serialize> Outcome<S> {
    /// Returns the outcome with the summary as JSON.
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
    if let Some(record) = run.record() {
        place.expect_unchanged(&record.sha256, &|role| run.name_of(role))?;
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
