//! The files that the run directory of a job may hold.

use std::fs;
use std::path::Path;

use probity_fairness::samples::SamplesFormat;
use probity_nn::model::{DESCRIPTION, WEIGHTS};
use probity_nn::provenance::PROVENANCE;
use probity_nn::text_model::{SENTENCES, TOKENIZER};
use probity_run::run_directory::{CHECKPOINT, RUN, SUMMARY, is_spilled};

/// Their names, the last one written first: who reads the directory of a run that goes on in this
/// order sees nothing that is newer than what tells how far the run is.
const RUN_FILES: [&str; 10] = [
    CHECKPOINT,
    SUMMARY,
    PROVENANCE,
    DESCRIPTION,
    SENTENCES,
    TOKENIZER,
    WEIGHTS,
    SamplesFormat::Parquet.file_name(),
    SamplesFormat::Csv.file_name(),
    RUN,
];

/// Whether the file of a run may be called `name`: one of these, or of what is kept beside a
/// checkpoint.
pub(crate) fn is_run_file(name: &str) -> bool {
    RUN_FILES.contains(&name) || is_spilled(name)
}

/// Where `name` is in their order; what is kept beside a checkpoint comes after it.
pub(crate) fn place(name: &str) -> usize {
    match RUN_FILES.iter().position(|known| *known == name) {
        Some(0) => 0,
        Some(place) => place + 1,
        None => 1,
    }
}

/// Those that are in `directory`, in this order.
pub(crate) fn files_in(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    // A link, or a folder, is none of a run.
    let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    let names = files.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| is_run_file(name)).collect();
    names.sort_by(|a, b| (place(a), a).cmp(&(place(b), b)));
    names
}
