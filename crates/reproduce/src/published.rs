//! Files of published data sets, where a folder holds them: plain, `.gz` or `.xz`.

use std::path::{Path, PathBuf};

/// The endings under which a file is looked for; readers tell compression by the first bytes.
const ENDINGS: [&str; 3] = ["", ".gz", ".xz"];

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
pub fn find(names: &[&str], folders: &[PathBuf]) -> Result<Vec<PathBuf>, Absent> {
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
}
