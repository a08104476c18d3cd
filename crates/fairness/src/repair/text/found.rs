//! The discriminatory texts that a repair learns from, and those that it is measured on.
//!
//! Texts to learn from come from a search that begins at the training texts, or from audits that
//! were run before. The independent set always comes from a search that begins at the test texts. A
//! text of an audit that was found from a validation or test text is left out: its neighbourhood,
//! and with the label rule `seed` that text's very class, would leak.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::audit::{Audit, AuditSpecification};
use crate::domain::Domain;
use crate::modality::{Modality, ModalityName, Origins, TextCase, TextInputs, TextParts};
use crate::repair::error::RepairError;
use crate::repair::pool::Pool;
use crate::samples::read_samples;
use crate::search::Ending;
use crate::text::domain::text_of;
use crate::text::protected::Protected;
use crate::text::source::Source;
use probity_nn::text_model::TextModel;
use probity_nn::train::Split;
use probity_run::run_directory::{RunDirectory, SUMMARY};
use probity_run::specification::Specification;
use probity_run::specification::file::Record;
use probity_tensor::device::ComputeDevice;
use probity_text::corpus::TextRows;

/// A discriminatory text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FoundText {
    /// The text, and what may be exchanged in it.
    pub source: Source,
    /// The other side of its pair.
    pub other: Vec<i32>,
    /// Class of the text that it was found from, where that is known.
    pub truth: Option<u32>,
}

/// What the audit of texts in `directory` was asked for and what it opened.
///
/// # Errors
/// When there is none, or one of a table.
pub fn open_audit(
    directory: &Path,
) -> Result<(RunDirectory, AuditSpecification, Record), RepairError> {
    let opened = RunDirectory::open_specified::<AuditSpecification>(directory)?;
    if opened.1.modality == ModalityName::Table {
        return Err(RepairError::OtherModality {
            run: directory.to_owned(),
            searched: "a table",
            classified: "texts",
        });
    }
    Ok(opened)
}

/// What the texts of an audit are read by.
pub(super) struct Reader<'a> {
    /// The model to repair, and its directory.
    pub model: (&'a TextModel, &'a Path),
    /// Its hash.
    pub model_sha256: &'a str,
    /// Hash of the training texts.
    pub texts_sha256: &'a str,
    /// Hash of the protected terms.
    pub lexicon_sha256: &'a str,
    /// The parts of the training texts.
    pub split: &'a Split,
    /// Their classes.
    pub labels: &'a [u32],
    /// Where they stand in their file.
    pub rows: &'a TextRows,
    /// What is protected in them.
    pub protected: &'a Protected,
}

impl Reader<'_> {
    /// Reads the audit in `directory`.
    ///
    /// # Errors
    /// See [`RepairError`]: another model, other terms, an unfinished run, no texts.
    pub fn read(&self, directory: &Path) -> Result<Pool<FoundText>, RepairError> {
        let (run, options, record) = open_audit(directory)?;
        if record.sha256_of("model") != self.model_sha256 {
            return Err(RepairError::OtherModel {
                run: directory.to_owned(),
                model: self.model.1.to_owned(),
                searched: record.sha256_of("model").to_owned(),
                own: self.model_sha256.to_owned(),
            });
        }
        if record.sha256_of("lexicon") != self.lexicon_sha256 {
            return Err(RepairError::OtherTerms {
                run: directory.to_owned(),
                searched: record.sha256_of("lexicon").to_owned(),
                own: self.lexicon_sha256.to_owned(),
            });
        }
        if !run.file(SUMMARY).is_file() {
            return Err(RepairError::Unfinished {
                run: directory.to_owned(),
            });
        }
        let is_own = record.sha256_of("data") == self.texts_sha256;
        let train: HashSet<u32> = self.split.train.iter().copied().collect();
        let file = run.unchanged(options.samples_format.file_name())?;
        let (mut samples, mut held_out, mut row) = (Vec::new(), 0, 0);
        let mut seen = HashSet::new();
        let origins = Origins::default();
        read_samples(
            &file,
            &TextInputs::new(&self.model.0.reader.tokenizer),
            |pair| {
                row += 1;
                let source = origins.of((&self.model.0.reader, self.protected), &pair);
                let source = source.map_err(|problem| RepairError::NoPair {
                    file: file.clone(),
                    row,
                    problem,
                })?;
                if !seen.insert(pair.row) {
                    return Ok::<(), RepairError>(());
                }
                let origin = pair.source_row.and_then(|row| self.rows.text(row));
                let origin = origin.and_then(|text| u32::try_from(text).ok());
                match origin.filter(|_| is_own) {
                    Some(text) if !train.contains(&text) => held_out += 1,
                    origin => samples.push(FoundText {
                        source,
                        other: pair.other,
                        truth: origin.and_then(|text| self.labels.get(text as usize).copied()),
                    }),
                }
                Ok(())
            },
        )?;
        if samples.is_empty() {
            return Err(RepairError::NoSamples {
                run: directory.to_owned(),
                held_out,
            });
        }
        Ok(Pool {
            run: Some(directory.to_owned()),
            protected: options.protected,
            samples,
            held_out,
        })
    }
}

/// What the search of `specification` finds from those texts of `parts`, of the classes `labels`,
/// that are in `part`, called `name`.
///
/// # Errors
/// When it finds nothing or is stopped.
pub(super) fn search(
    specification: AuditSpecification,
    parts: TextParts<'_, '_>,
    (part, name): (&[u32], &'static str),
    labels: &[u32],
    observe: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<Vec<FoundText>, RepairError> {
    let mut is_kept = vec![false; labels.len()];
    for &text in part {
        is_kept[text as usize] = true;
    }
    let rows = parts.rows.clone();
    let device = ComputeDevice::flex();
    let case = TextCase::new(&specification, parts, &|text| is_kept[text], &device)?;
    let audit = Audit::of(specification.check()?, case, &device)?;
    let (ending, pairs) = audit.search(&mut |_| observe())?;
    let case = audit.case();
    if ending == Ending::Interrupted {
        return Err(RepairError::Interrupted);
    }
    if pairs.is_empty() {
        return Err(RepairError::NothingFound { part: name });
    }
    let domain = case.domain();
    let found = pairs.iter().map(|pair| {
        let mut other = Vec::with_capacity(domain.width());
        domain.write_variant(pair.row, pair.variant as usize, &mut other);
        let text = rows.text(case.source_rows()[pair.seed as usize]);
        let source = domain.source(pair.row).cloned().unwrap_or_default();
        FoundText {
            source: Source {
                ids: text_of(pair.row).to_vec(),
                ..source
            },
            other: text_of(&other).to_vec(),
            truth: text.and_then(|text| labels.get(text).copied()),
        }
    });
    Ok(found.collect())
}
