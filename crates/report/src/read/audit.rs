//! Audits of tables and texts.

use std::path::Path;

use serde::Deserialize;

use super::files::RunFiles;
use crate::error::PageError;
use crate::model::{AuditFindings, AuditSummary, Modality, Quality};
use crate::pairs::{PairFile, PairFindings, read_pairs};
use probity_run::run_directory::RunDirectory;

/// Reads the audit in `files`, and of its pairs what can be shown.
pub(super) fn read(files: &RunFiles) -> Result<AuditFindings, PageError> {
    let audit = read_without_pairs(files)?;
    let summary = &audit.summary;
    // A name from the file must not lead out of the directory.
    let samples = match summary.samples_file.as_str() {
        "samples.csv" => "samples.csv",
        _ => "samples.parquet",
    };
    let from = PairFile {
        file: &files.unchanged(samples)?,
        protected: &summary.protected,
        decisions: &summary.decisions,
        favourable: summary.favourable(),
        strategy: &summary.strategy,
        are_ranked: summary.rank.is_some(),
    };
    let pairs: PairFindings = read_pairs(&from, summary.modality == Modality::Text)?;
    let left_out = summary.plausibility.as_ref().map_or(0, |of| of.left_out);
    if pairs.pairs.saturating_add(left_out) != summary.total.discriminatory_rows {
        let problem = format!(
            "it counts {} pairs, but {samples} holds {}",
            summary.total.discriminatory_rows, pairs.pairs
        );
        return Err(files.foreign(&problem));
    }
    Ok(AuditFindings { pairs, ..audit })
}

/// Reads what the summary of the audit in `files` says; of its pairs nothing.
pub(super) fn read_without_pairs(files: &RunFiles) -> Result<AuditFindings, PageError> {
    let summary: AuditSummary = files.parse()?;
    let columns = summary.trace.iter().flat_map(|trace| {
        [&trace.model_rows, &trace.model_gradients].map(|column| column.len() == trace.found.len())
    });
    if columns.into_iter().any(|is_equal| !is_equal) {
        return Err(files.foreign(&"the columns of 'trace' differ in length"));
    }
    let is_text = summary.modality == Modality::Text;
    let inputs = if is_text {
        "texts_sha256"
    } else {
        "data_sha256"
    };
    let model_sha256 = files.needed("model_sha256")?;
    let origin = files.options.get("model").and_then(toml::Value::as_str);
    let origin = origin.filter(|model| !model.is_empty());
    let known = origin
        .map(|model| Known::read(Path::new(model), &model_sha256))
        .unwrap_or_default();
    Ok(AuditFindings {
        inputs_sha256: files.needed(inputs)?,
        model_sha256,
        repaired_from: known.repaired_from,
        quality: known.quality,
        planted: files.planted()?,
        summary,
        pairs: PairFindings::default(),
    })
}

/// What a model directory says of its model, if it is still there and still the model that was
/// audited.
#[derive(Default)]
struct Known {
    repaired_from: Option<String>,
    quality: Option<Quality>,
}

#[derive(Deserialize)]
struct Made {
    command: String,
    model_sha256: String,
    #[serde(default)]
    repaired_sha256: Option<String>,
    #[serde(default)]
    test: Option<Quality>,
    #[serde(default)]
    chosen: Option<Chosen>,
}

/// The network that a repair kept.
#[derive(Deserialize)]
struct Chosen {
    held_out: Quality,
}

impl Known {
    fn read(model: &Path, sha256: &str) -> Known {
        // The directory may have gone, or hold another model by now: then nothing is known.
        let read = RunDirectory::open(model).and_then(|run| run.read_summary::<Made>());
        let Ok(made) = read else {
            return Known::default();
        };
        let is_repair = made.command == "repair";
        match made.repaired_sha256 {
            Some(repaired) if is_repair && repaired == sha256 => Known {
                repaired_from: Some(made.model_sha256),
                quality: made.chosen.map(|chosen| chosen.held_out),
            },
            None if made.model_sha256 == sha256 => Known {
                repaired_from: None,
                quality: made.test,
            },
            _ => Known::default(),
        }
    }
}
