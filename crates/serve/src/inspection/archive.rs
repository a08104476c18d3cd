//! Unpacks a model directory from a .zip file.
//!
//! No name in the archive becomes part of a path. A name is compared with the few that a model
//! directory has, and the file is then written under the known name. A name that tries to lead
//! elsewhere is refused all the same. The bound on the size holds for the bytes that are really
//! unpacked, whatever the archive says about itself.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufReader, Read, copy};
use std::path::Path;

use zip::ZipArchive;

use super::error::InspectionError;
use probity_nn::model::{DESCRIPTION, WEIGHTS};
use probity_nn::provenance::PROVENANCE;
use probity_nn::text_model::{SENTENCES, TOKENIZER};

/// The files of a model directory that are unpacked; others are left in the archive.
const FILES: [&str; 5] = [DESCRIPTION, WEIGHTS, TOKENIZER, SENTENCES, PROVENANCE];

/// The greatest number of entries of an archive.
const ENTRIES: usize = 1000;

/// Unpacks the model in `archive` into `directory`, with at most `bytes` bytes in all.
pub(super) fn unpack(archive: &Path, directory: &Path, bytes: u64) -> Result<(), InspectionError> {
    let failed = |source| InspectionError::Io {
        file: archive.to_owned(),
        source,
    };
    let file = File::open(archive).map_err(failed)?;
    let mut archive = ZipArchive::new(BufReader::new(file))?;
    if archive.len() > ENTRIES {
        return refused(format!(
            "the archive has {} entries; at most {ENTRIES} are taken here",
            archive.len()
        ));
    }
    let mut folder: Option<String> = None;
    let mut taken = HashSet::new();
    let mut left = bytes;
    for number in 0..archive.len() {
        let entry = archive.by_index(number)?;
        let name = checked_name(&entry.name()?)?;
        if entry.is_symlink() || entry.encrypted() {
            return refused(format!("the entry '{name}' is a link or encrypted"));
        }
        if entry.is_dir() {
            continue;
        }
        let (inside, last) = name.rsplit_once('/').unwrap_or(("", &name));
        let Some(known) = FILES.into_iter().find(|known| *known == last) else {
            continue;
        };
        if folder.get_or_insert_with(|| inside.to_owned()) != inside || !taken.insert(known) {
            return refused(
                "the archive holds more than one model; pack one model directory".to_owned(),
            );
        }
        let target = directory.join(known);
        let written = File::create_new(&target)
            .and_then(|mut target| copy(&mut entry.take(left + 1), &mut target))
            .map_err(|source| InspectionError::Io {
                file: target,
                source,
            })?;
        left = match left.checked_sub(written) {
            Some(left) => left,
            None => {
                return refused(format!(
                    "unpacked, the model has more than {bytes} bytes, the most that are taken here"
                ));
            }
        };
    }
    if !taken.contains(DESCRIPTION) {
        return refused(format!(
            "the archive holds no {DESCRIPTION}; pack a directory as probity train or probity import writes it"
        ));
    }
    Ok(())
}

/// Returns the name of an entry, if it stays within the archive's own folders.
fn checked_name(name: &str) -> Result<String, InspectionError> {
    let leads_elsewhere = name.starts_with('/')
        || name.contains(['\\', '\0', ':'])
        || name.split('/').any(|part| part == "..");
    if leads_elsewhere {
        return refused(format!(
            "the entry '{}' leads out of the archive",
            name.escape_default()
        ));
    }
    Ok(name.to_owned())
}

fn refused<T>(why: String) -> Result<T, InspectionError> {
    Err(InspectionError::Refused(why))
}
