//! A file that a user names for a result: the places where it may be written, and how.
//!
//! Decided before the work, in one place: a result never destroys what it was made from
//! ([`OutputError::Input`]) nor a file of a model or run ([`OutputError::Inside`]), and replaces
//! another file only where that is asked for ([`RunError::Exists`]), not even one that comes to be
//! during the work. A regular file is written under a temporary name and renamed. A link is
//! followed: the file that it leads to is replaced, and the link stays. A device or FIFO, and
//! whatever has a name under `/dev` or `/proc`, such as `/dev/stdout`, is opened and written to.

use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::atomic::{folder_of, write_new_with, write_with};
use crate::error::RunError;
use crate::names::RUN;

/// The number of links that are followed before they count as a circle.
const LINKS: usize = 40;

/// The reason why a file is not written.
#[derive(Debug, Error)]
pub enum OutputError {
    /// The result is made from the file.
    #[error("{} is read by this command, and would be destroyed; choose another file", file.display())]
    Input {
        /// The file.
        file: PathBuf,
    },
    /// The file lies in a directory that is a model or a run.
    #[error(
        "{} lies in {}, which is a model or a run and holds its own files only; choose another place",
        file.display(),
        directory.display()
    )]
    Inside {
        /// The file or directory.
        file: PathBuf,
        /// The model or run.
        directory: PathBuf,
    },
    /// The name is that of a directory.
    #[error("{} is a directory, not a file", file.display())]
    Directory {
        /// The directory.
        file: PathBuf,
    },
    /// The file cannot be written.
    #[error("{0}")]
    Write(#[from] RunError),
}

/// A file that may be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputFile {
    named: PathBuf,
    way: Way,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Way {
    /// The standard output of this process.
    Stdout,
    /// A device, a pipe or the like, which is opened and written at its end.
    Through,
    /// A new file, made at once at the end of all links, where nothing may be.
    New(PathBuf),
    /// A new file in place of the one that is there, at the end of all links.
    Replaced(PathBuf),
}

impl OutputFile {
    /// Checks the file `named`, for a result that is made from `inputs` (files and directories);
    /// one that exists may be `replaced`.
    ///
    /// # Errors
    /// See [`OutputError`].
    pub fn new(named: &Path, inputs: &[&Path], replaced: bool) -> Result<OutputFile, OutputError> {
        let file = || named.to_owned();
        let failed = |source| RunError::Write {
            file: file(),
            source,
        };
        let mut way = way_to(named).map_err(failed)?;
        if let Way::New(target) = &way {
            let found = fs::metadata(target).ok();
            if found.as_ref().is_some_and(fs::Metadata::is_dir) {
                return Err(OutputError::Directory { file: file() });
            }
            if inputs.iter().any(|input| is_of(target, input)) {
                return Err(OutputError::Input { file: file() });
            }
            // A link does not make another place of it.
            expect_outside(named)?;
            expect_outside(target)?;
            if found.is_some() && !replaced {
                return Err(RunError::Exists { file: file() }.into());
            }
            if replaced {
                way = Way::Replaced(target.clone());
            }
        }
        Ok(OutputFile { named: file(), way })
    }

    /// Returns the path as it was named.
    pub fn path(&self) -> &Path {
        &self.named
    }

    /// Returns whether the file is the standard output of this process.
    pub fn is_stdout(&self) -> bool {
        self.way == Way::Stdout
    }

    /// Writes `bytes`.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn write(&self, bytes: &[u8]) -> Result<(), RunError> {
        self.write_with(|writer| writer.write_all(bytes))
    }

    /// Lets `write` write the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_with(
        &self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), RunError> {
        let failed = |source| RunError::Write {
            file: self.named.clone(),
            source,
        };
        let opened: Box<dyn Write> = match &self.way {
            Way::New(file) => return write_new_with(file, |writer| write(writer)),
            Way::Replaced(file) => return write_with(file, |writer| write(writer)),
            Way::Stdout => Box::new(io::stdout().lock()),
            Way::Through => {
                let opened = OpenOptions::new().append(true).open(&self.named);
                Box::new(opened.map_err(failed)?)
            }
        };
        let mut writer = BufWriter::new(opened);
        write(&mut writer)
            .and_then(|()| writer.flush())
            .map_err(failed)
    }
}

/// Returns the way in which `named` is written, following links one by one.
fn way_to(named: &Path) -> io::Result<Way> {
    let mut path = named.to_owned();
    for _ in 0..LINKS {
        if cfg!(unix) {
            let is_stdout = ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]
                .iter()
                .any(|name| path == Path::new(name));
            if is_stdout {
                return Ok(Way::Stdout);
            }
            if path.starts_with("/dev") || path.starts_with("/proc") {
                return Ok(Way::Through);
            }
        }
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_symlink() => path = folder_of(&path).join(fs::read_link(&path)?),
            Ok(found) if found.is_file() || found.is_dir() => return Ok(Way::New(path)),
            Ok(_) => return Ok(Way::Through),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Way::New(path));
            }
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::InvalidFilename.into())
}

/// Returns whether `file` is the `input`, or the target of a file in it.
fn is_of(file: &Path, input: &Path) -> bool {
    let inside = fs::read_dir(input).ok();
    let mut inside = inside.into_iter().flatten().flatten();
    are_same(input, file) || inside.any(|entry| are_same(&entry.path(), file))
}

/// Returns whether two names lead to one file.
pub fn are_same(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let identity = |path: &Path| fs::metadata(path).map(|found| (found.dev(), found.ino()));
        // A hard link is the same file by another name.
        if let (Ok(one), Ok(other)) = (identity(one), identity(other)) {
            return one == other;
        }
    }
    matches!((fs::canonicalize(one), fs::canonicalize(other)), (Ok(one), Ok(other)) if one == other)
}

/// Refuses a place for a result, a file or a directory, that lies in a model or a run.
///
/// # Errors
/// [`OutputError::Inside`].
pub fn expect_outside(place: &Path) -> Result<(), OutputError> {
    // What is there may be so by a link; what is not is in the nearest directory above that is.
    let itself = fs::canonicalize(place).ok();
    let itself = itself.as_deref().and_then(Path::parent).map(Path::to_owned);
    let above = place
        .ancestors()
        .skip(1)
        .map(|folder| match folder.as_os_str().is_empty() {
            true => Path::new("."),
            false => folder,
        })
        .find_map(|folder| fs::canonicalize(folder).ok());
    let places = [itself, above];
    let owner = places
        .iter()
        .flatten()
        .flat_map(|folder| folder.ancestors())
        .find(|folder| is_own(folder));
    match owner {
        None => Ok(()),
        Some(directory) => Err(OutputError::Inside {
            file: place.to_owned(),
            directory: directory.to_owned(),
        }),
    }
}

/// Returns whether `directory` is a model or a run, by the files in it that Probity writes.
fn is_own(directory: &Path) -> bool {
    let begins = |name: &str, with: &str| {
        let mut start = vec![0; with.len()];
        let read = fs::File::open(directory.join(name))
            .and_then(|mut file| io::Read::read_exact(&mut file, &mut start));
        read.is_ok() && start == with.as_bytes()
    };
    let is_run = || {
        // One that was written by hand has no record of a run.
        fs::read_to_string(directory.join(RUN))
            .is_ok_and(|text| text.contains("\n[record") && text.contains("kind = "))
    };
    ["model.toml", "model.bin", "model.spn"]
        .iter()
        .any(|name| begins(name, "# probity ") || begins(name, "probity "))
        || is_run()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_is_made_from_is_never_written() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("table.csv"), "a\n1\n").unwrap();
        fs::hard_link(at("table.csv"), at("hard.csv")).unwrap();
        let table = at("table.csv");
        let inputs = [table.as_path()];
        let mut names = vec![at("table.csv"), at("./table.csv"), at("hard.csv")];
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("table.csv", at("soft.csv")).unwrap();
            names.push(at("soft.csv"));
        }
        for name in names {
            for replaced in [false, true] {
                let error = OutputFile::new(&name, &inputs, replaced).unwrap_err();
                assert!(matches!(error, OutputError::Input { .. }), "{error}");
            }
        }
        assert!(matches!(
            OutputFile::new(folder.path(), &[], true),
            Err(OutputError::Directory { .. })
        ));
    }

    #[test]
    fn a_file_is_replaced_only_where_that_is_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("result");
        OutputFile::new(&file, &[], false)
            .unwrap()
            .write(b"old")
            .unwrap();
        assert!(matches!(
            OutputFile::new(&file, &[], false),
            Err(OutputError::Write(RunError::Exists { .. }))
        ));
        OutputFile::new(&file, &[], true)
            .unwrap()
            .write(b"new")
            .unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
    }

    #[test]
    fn what_comes_to_be_during_the_work_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("result");
        let [ours, forced] =
            [false, true].map(|replaced| OutputFile::new(&file, &[], replaced).unwrap());
        fs::write(&file, "another's").unwrap();
        assert!(matches!(ours.write(b"ours"), Err(RunError::Exists { .. })));
        assert_eq!(fs::read(&file).unwrap(), b"another's");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        forced.write(b"ours").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"ours");
    }

    #[test]
    fn models_and_runs_hold_their_own_files_only() {
        let folder = tempfile::tempdir().unwrap();
        let marks = [
            ("model.toml", "# probity table model 2, sha256 00\n"),
            ("model.spn", "probity sum-product network 2\n"),
            ("run.toml", "kind = \"audit\"\n\n[record]\n"),
        ];
        for (name, content) in marks {
            let own = folder.path().join(format!("of-{name}"));
            fs::create_dir(&own).unwrap();
            fs::write(own.join(name), content).unwrap();
            for inside in ["new", name, "below/new"] {
                let error = OutputFile::new(&own.join(inside), &[], true).unwrap_err();
                assert!(matches!(error, OutputError::Inside { .. }), "{error}");
                assert!(expect_outside(&own.join(inside)).is_err());
            }
        }
        // Somebody else's files of the same names.
        fs::write(folder.path().join("model.toml"), "[network]\n").unwrap();
        fs::write(folder.path().join("run.toml"), "kind = \"audit\"\n").unwrap();
        OutputFile::new(&folder.path().join("new"), &[], false).unwrap();
    }

    /// Links do not lead past a rule: a link to a file of a model or run, one of a model's files
    /// that is a link, a link to a folder.
    #[cfg(unix)]
    #[test]
    fn links_lead_past_no_rule() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("model/empty")).unwrap();
        fs::write(
            at("model/model.toml"),
            "# probity table model 2, sha256 00\n",
        )
        .unwrap();
        fs::write(at("weights"), "w").unwrap();
        symlink("../weights", at("model/weights")).unwrap();
        symlink("model/model.toml", at("to-model")).unwrap();
        symlink("model/new", at("to-new")).unwrap();
        symlink("model/empty", at("to-empty")).unwrap();
        for name in ["to-model", "to-new"] {
            let error = OutputFile::new(&at(name), &[], true).unwrap_err();
            assert!(matches!(error, OutputError::Inside { .. }), "{error}");
        }
        assert!(expect_outside(&at("to-empty")).is_err());
        let model = at("model");
        let error = OutputFile::new(&at("weights"), &[&model], true).unwrap_err();
        assert!(matches!(error, OutputError::Input { .. }), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn links_and_devices_are_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("target", &link).unwrap();
        for replaced in [false, true] {
            let file = OutputFile::new(&link, &[], replaced).unwrap();
            file.write(b"result").unwrap();
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
            assert_eq!(fs::read(folder.path().join("target")).unwrap(), b"result");
        }
        assert!(matches!(
            OutputFile::new(&link, &[], false),
            Err(OutputError::Write(RunError::Exists { .. }))
        ));
        std::os::unix::fs::symlink("circle", folder.path().join("circle")).unwrap();
        assert!(OutputFile::new(&folder.path().join("circle"), &[], false).is_err());

        let device = OutputFile::new(Path::new("/dev/null"), &[], false).unwrap();
        device.write(b"nowhere").unwrap();
        assert!(!device.is_stdout());
        assert!(
            OutputFile::new(Path::new("/dev/stdout"), &[], false)
                .unwrap()
                .is_stdout()
        );
    }
}
