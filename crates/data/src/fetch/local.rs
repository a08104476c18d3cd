//! Files taken from a folder on this machine instead of from their publisher.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::catalogue::{DataFile, Source};
use super::digest::copy_hashed;
use super::error::FetchError;
use super::place::{stage, unpack};

/// Looks for `file` below `from`; copies the first candidate that proves right, and says which.
pub(super) fn copy_file(
    file: &DataFile,
    from: &Path,
    folder: &Path,
) -> Result<PathBuf, FetchError> {
    let candidates = local_candidates(file);
    let mut first_failure = None;
    for (relative, archive) in &candidates {
        let path = from.join(relative);
        if !path.is_file() {
            continue;
        }
        let shown = path.display().to_string();
        let copied = match archive {
            Some(source) => unpack(file, source, &path, &shown, folder),
            None => copy_plain(file, &path, &shown, folder),
        };
        match copied {
            Ok(()) => return Ok(path),
            Err(error) => first_failure = first_failure.or(Some(error)),
        }
    }
    Err(first_failure.unwrap_or_else(|| FetchError::NotInFolder {
        file: file.name.clone(),
        folder: from.to_owned(),
        looked_for: candidates
            .iter()
            .map(|(relative, _)| format!("`{relative}`"))
            .collect::<Vec<_>>()
            .join(", "),
    }))
}

/// Returns the paths below a folder of local copies at which `file` may lie, with the source whose
/// archive it would be, for those that are archives.
fn local_candidates(file: &DataFile) -> Vec<(String, Option<&Source>)> {
    let local_name = file
        .local_path
        .rsplit('/')
        .next()
        .unwrap_or(&file.local_path);
    let plain_sources = file
        .sources
        .iter()
        .filter(|source| source.members.is_empty());
    let names = [file.name.as_str(), &file.local_path, local_name]
        .into_iter()
        .chain(plain_sources.map(Source::file_name));
    let mut candidates: Vec<(String, Option<&Source>)> = Vec::new();
    let mut add = |path: String, archive| {
        if !candidates.iter().any(|(known, _)| *known == path) {
            candidates.push((path, archive));
        }
    };
    for name in names {
        add(name.to_owned(), None);
        add(format!("{name}.gz"), None);
    }
    for source in file
        .sources
        .iter()
        .filter(|source| !source.members.is_empty())
    {
        add(source.file_name().to_owned(), Some(source));
    }
    candidates
}

fn copy_plain(file: &DataFile, path: &Path, shown: &str, folder: &Path) -> Result<(), FetchError> {
    let plain = File::open(path).map_err(FetchError::io("read", path))?;
    let mut content: Box<dyn io::Read> =
        if path.extension().is_some_and(|extension| extension == "gz") {
            Box::new(flate2::read::MultiGzDecoder::new(plain))
        } else {
            Box::new(plain)
        };
    stage(
        file,
        shown,
        folder,
        |target| copy_hashed(&mut content, target, file.size),
        FetchError::io("read", path),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fetch::catalogue::data_set;

    #[test]
    fn local_copies_are_looked_for_under_every_likely_name() {
        let bank = data_set("bank-marketing").unwrap();
        let paths: Vec<_> = local_candidates(&bank.files[0])
            .into_iter()
            .map(|(path, _)| path)
            .collect();
        assert_eq!(
            paths,
            [
                "bank-full.csv",
                "bank-full.csv.gz",
                "bank_marketing/bank-full.csv",
                "bank_marketing/bank-full.csv.gz",
                "bank+marketing.zip",
                "bank.zip",
            ]
        );
    }
}
