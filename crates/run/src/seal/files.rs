//! The files of a directory, with entries that cannot be sealed.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use super::error::SealError;
use crate::atomic::is_temporary;
use crate::error::RunError;
use crate::hash::file_sha256;
use crate::lock::LOCK;
use crate::names::SEAL;

/// An entry of a directory: the reason why it is no file that can be sealed, if it is none.
pub(super) type Entry = Option<String>;

/// Returns everything below `directory` but the seal, by its name with `/` between its parts. Empty
/// directories hold nothing, and neither does an empty lock that a killed process left.
pub(super) fn files_of(directory: &Path) -> Result<BTreeMap<String, Entry>, RunError> {
    let mut found = BTreeMap::new();
    collect(directory, "", &mut found)?;
    found.remove(SEAL);
    let is_empty = |file: &Path| fs::metadata(file).is_ok_and(|lock| lock.len() == 0);
    if is_empty(&directory.join(LOCK)) {
        found.remove(LOCK);
    }
    Ok(found)
}

fn collect(
    directory: &Path,
    before: &str,
    found: &mut BTreeMap<String, Entry>,
) -> Result<(), RunError> {
    let failed = |source| RunError::Read {
        file: directory.to_owned(),
        source,
    };
    for entry in fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let kind = entry.file_type().map_err(failed)?;
        let name = entry.file_name();
        let whole = format!("{before}{}", name.to_string_lossy());
        let problem = match name.to_str() {
            None => Some("has a name that is not in UTF-8"),
            Some(_) if kind.is_dir() => {
                collect(&entry.path(), &format!("{whole}/"), found)?;
                continue;
            }
            Some(_) if kind.is_symlink() => Some("is a link to another place"),
            Some(_) if kind.is_file() => None,
            Some(_) => Some("is neither a file nor a directory"),
        };
        found.insert(whole, problem.map(str::to_owned));
    }
    Ok(())
}

/// Returns the hashes of `files` of `directory`, all of which must be files. A file that another
/// process is still writing beside them does not count yet.
pub(super) fn hashes_of(
    directory: &Path,
    files: BTreeMap<String, Entry>,
) -> Result<BTreeMap<String, String>, SealError> {
    let mut hashes = BTreeMap::new();
    for (name, problem) in files {
        let file = directory.join(&name);
        if let Some(problem) = problem {
            return Err(SealError::NoFile { file, problem });
        }
        if !is_temporary(OsStr::new(&name)) {
            hashes.insert(name, file_sha256(&file)?);
        }
    }
    Ok(hashes)
}

/// Returns the problems with the files of `directory`, by their names, where they were `sealed`
/// with such hashes.
pub(super) fn changed_files(
    directory: &Path,
    sealed: &BTreeMap<&str, &str>,
) -> Vec<(String, String)> {
    let files = match files_of(directory) {
        Ok(files) => files,
        Err(error) => return vec![(String::new(), error.to_string())],
    };
    let mut problems = Vec::new();
    for (name, &then) in sealed {
        let problem = match files.get(*name) {
            None => Some("is not there any more".to_owned()),
            Some(Some(problem)) => Some(problem.clone()),
            Some(None) => match file_sha256(&directory.join(name)) {
                Ok(now) if now == then => None,
                Ok(_) => Some("was changed after it was sealed".to_owned()),
                Err(error) => Some(format!("cannot be compared: {error}")),
            },
        };
        problems.extend(problem.map(|problem| ((*name).to_owned(), problem)));
    }
    let added = files.into_keys();
    let added = added.filter(|name| !sealed.contains_key(&**name));
    problems.extend(added.map(|name| (name, "was added after the run was sealed".to_owned())));
    problems
}
