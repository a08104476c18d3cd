//! The files that the run directory of a job may hold.

use std::fs;
use std::path::Path;

use probity_fairness::samples::SamplesFormat;
use probity_indirect::{counterparts, situations};
use probity_nn::model::{DESCRIPTION, WEIGHTS};
use probity_nn::provenance::PROVENANCE;
use probity_nn::text_model::{SENTENCES, TOKENIZER};
use probity_run::run_directory::{CHECKPOINT, RUN, SUMMARY, is_spilled};

/// The names of the files of a run, the last one written first. So a reader that takes the files of
/// an unfinished run in this order sees nothing that is newer than the file that says how far the
/// run is.
const RUN_FILES: [&str; 12] = [
    CHECKPOINT,
    SUMMARY,
    PROVENANCE,
    DESCRIPTION,
    SENTENCES,
    TOKENIZER,
    WEIGHTS,
    SamplesFormat::Parquet.file_name(),
    SamplesFormat::Csv.file_name(),
    counterparts::LISTING,
    situations::LISTING,
    RUN,
];

/// Whether a file of a run may be called `name`: a name of `RUN_FILES`, or of a file that is kept
/// beside a checkpoint.
pub(crate) fn is_run_file(name: &str) -> bool {
    RUN_FILES.contains(&name) || is_spilled(name)
}

/// The position of `name` in the order of the files; those kept beside a checkpoint come after it.
pub(crate) fn place(name: &str) -> usize {
    match RUN_FILES.iter().position(|known| *known == name) {
        Some(0) => 0,
        Some(place) => place + 1,
        None => 1,
    }
}

/// The names of the files of a run that are in `directory`, in their order.
pub(crate) fn files_in(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    // A link or a folder is no file of a run.
    let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    let names = files.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| is_run_file(name)).collect();
    names.sort_by(|a, b| (place(a), a).cmp(&(place(b), b)));
    names
}
