//! Published data sets, and their files where a folder holds them: plain, `.gz` or `.xz`.

use std::path::{Path, PathBuf};

/// The endings under which a file is looked for; readers tell compression by the first bytes.
const ENDINGS: [&str; 3] = ["", ".gz", ".xz"];

/// A mean and a standard deviation, as a paper prints them.
pub type Printed = (f64, f64);

/// A data set of a paper.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Case<P> {
    /// The name of the data set, as `--only` takes it.
    pub name: &'static str,
    /// The source of its rows.
    pub source: Source,
    /// What the paper says of it, and how it is read.
    pub paper: P,
}

/// A source of the rows of a data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// None: Probity has no reader for the data set.
    NotOffered,
    /// A distribution.
    Drawn,
    /// Files of these names, plain or compressed, all in one folder.
    Files(&'static [&'static str]),
    /// Files that may lie in different folders, each under the first of its names that is there.
    Each(&'static [&'static [&'static str]]),
}

impl<P> Case<P> {
    /// Finds the files of the data set; none where it is drawn.
    ///
    /// # Errors
    /// What is missing.
    pub fn find(&self, folders: &[PathBuf]) -> Result<Vec<PathBuf>, Absent> {
        match self.source {
            Source::NotOffered => Err(Absent::NotOffered),
            Source::Drawn => Ok(Vec::new()),
            Source::Files(names) => find(names, folders),
            Source::Each(needed) => find_each(needed, folders),
        }
    }
}

/// The reason why a data set cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Absent {
    /// Probity has no reader for the data set.
    NotOffered,
    /// No folder holds all of these files.
    Files(Vec<String>),
}

/// Finds the files `names` (paths inside a folder of data sets) in the first of `folders` that has
/// them all.
///
/// # Errors
/// The files that are missing.
fn find(names: &[&str], folders: &[PathBuf]) -> Result<Vec<PathBuf>, Absent> {
    let all_in = |folder: &PathBuf| names.iter().map(|name| present(folder, name)).collect();
    folders.iter().find_map(all_in).ok_or_else(|| {
        let nowhere = |name: &&&str| !folders.iter().any(|folder| present(folder, name).is_some());
        let missing: Vec<&&str> = names.iter().filter(nowhere).collect();
        // Every file is somewhere, but no folder has them all.
        let named = if missing.is_empty() {
            names.iter().collect()
        } else {
            missing
        };
        Absent::Files(named.into_iter().map(|name| (*name).to_owned()).collect())
    })
}

/// Finds of each file that is needed the first of its names, in the first of `folders` that has
/// one.
///
/// # Errors
/// The names of the files that no folder has.
fn find_each(needed: &[&[&str]], folders: &[PathBuf]) -> Result<Vec<PathBuf>, Absent> {
    let first = |names: &[&str]| -> Option<PathBuf> {
        let places = folders
            .iter()
            .flat_map(|folder| names.iter().map(|name| folder.join(name)));
        places.into_iter().find(|file| file.is_file())
    };
    let mut found: Vec<PathBuf> = Vec::new();
    let mut missing: Vec<String> = Vec::new();
    for names in needed {
        match first(names) {
            Some(file) => found.push(file),
            None => missing.push(names.join(" or ")),
        }
    }
    match missing.is_empty() {
        true => Ok(found),
        false => Err(Absent::Files(missing)),
    }
}

/// The path of the file `name` in a folder, plain or compressed.
fn present(folder: &Path, name: &str) -> Option<PathBuf> {
    ENDINGS
        .iter()
        .map(|ending| folder.join(format!("{name}{ending}")))
        .find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_folder_that_has_all_files_is_taken() {
        let place = tempfile::tempdir().unwrap();
        let folders = ["one", "two"].map(|name| place.path().join(name));
        for folder in &folders {
            std::fs::create_dir(folder).unwrap();
        }
        let absent = |names: &[&str]| {
            Err(Absent::Files(
                names.iter().map(|&name| name.to_owned()).collect(),
            ))
        };
        std::fs::write(folders[0].join("a.gz"), b"").unwrap();
        assert_eq!(find(&["a", "b"], &folders), absent(&["b"]));
        std::fs::write(folders[1].join("b"), b"").unwrap();
        assert_eq!(find(&["a", "b"], &folders), absent(&["a", "b"]));
        std::fs::write(folders[1].join("a.xz"), b"").unwrap();
        let found = find(&["a", "b"], &folders).unwrap();
        assert_eq!(found, [folders[1].join("a.xz"), folders[1].join("b")]);
        assert_eq!(find(&["a"], &folders).unwrap(), [folders[0].join("a.gz")]);
    }

    #[test]
    fn each_file_is_taken_from_the_first_folder_that_has_it() {
        let place = tempfile::tempdir().unwrap();
        let folders = ["one", "two"].map(|name| place.path().join(name));
        for (folder, name) in folders.iter().zip(["b", "a.gz"]) {
            std::fs::create_dir(folder).unwrap();
            std::fs::write(folder.join(name), b"").unwrap();
        }
        let found = find_each(&[&["a", "a.gz"], &["b"]], &folders).unwrap();
        assert_eq!(found, [folders[1].join("a.gz"), folders[0].join("b")]);
        let absent = find_each(&[&["b"], &["c", "c.gz"], &["d"]], &folders);
        let missing = ["c or c.gz", "d"].map(str::to_owned).to_vec();
        assert_eq!(absent, Err(Absent::Files(missing)));
    }
}
