//! The discriminatory texts that a repair learns from, and those that it is measured on.
//!
//! Texts to learn from come from a search that begins at the training texts, or from audits that
//! were run before. The independent set always comes from a search that begins at the test texts. A
//! text of an audit that was found from a validation or test text is left out: its neighbourhood,
//! and with the label rule `seed` that text's very class, would leak.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::audit::{Audit, AuditError, AuditSpecification};
use crate::domain::Domain;
use crate::modality::{AsWritten, Modality, ModalityName, Origins, Sample, TextCase, TextParts};
use crate::repair::error::RepairError;
use crate::repair::pool::Pool;
use crate::samples::read_samples;
use crate::search::Ending;
use crate::text::domain::text_of;
use crate::text::protected::Protected;
use crate::text::source::Source;
use probity_data::read::RowNumbers;
use probity_nn::text_reader::TextReader;
use probity_nn::train::Split;
use probity_run::run_directory::{RunDirectory, SUMMARY};
use probity_run::specification::Specification;
use probity_run::specification::file::Record;
use probity_tensor::device::ComputeDevice;

/// A text as an audit holds it, with the text as people write it that it was made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Written {
    /// The tokens of the text, and what may be exchanged in them.
    pub source: Source,
    /// The text in which words were replaced to make this one, if any were: the words that remain
    /// are written as there.
    pub text: String,
}

/// A discriminatory text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FoundText {
    /// The text.
    pub written: Written,
    /// The other side of its pair.
    pub other: Vec<i32>,
    /// Class of the text that it was found from, where that is known.
    pub truth: Option<u32>,
}

/// The specification of the audit of texts in `directory`, and the record of what it opened.
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

/// An audit, with its pairs as they are written.
pub struct FoundRun {
    directory: PathBuf,
    /// The specification of the audit.
    pub specification: AuditSpecification,
    texts_sha256: String,
    file: PathBuf,
    pairs: Vec<Sample>,
}

impl FoundRun {
    /// Reads the audit in `directory`, which is one of `model`, a directory with its hash, with the
    /// protected terms of that hash.
    ///
    /// # Errors
    /// See [`RepairError`]: another model, other terms, an unfinished run.
    pub(super) fn read(
        directory: &Path,
        (model, model_sha256): (&Path, &str),
        lexicon_sha256: &str,
    ) -> Result<FoundRun, RepairError> {
        let (run, specification, record) = open_audit(directory)?;
        if record.sha256_of("model") != model_sha256 {
            return Err(RepairError::OtherModel {
                run: directory.to_owned(),
                model: model.to_owned(),
                searched: record.sha256_of("model").to_owned(),
                own: model_sha256.to_owned(),
            });
        }
        if record.sha256_of("lexicon") != lexicon_sha256 {
            return Err(RepairError::OtherTerms {
                run: directory.to_owned(),
                searched: record.sha256_of("lexicon").to_owned(),
                own: lexicon_sha256.to_owned(),
            });
        }
        if !run.file(SUMMARY).is_file() {
            return Err(RepairError::Unfinished {
                run: directory.to_owned(),
            });
        }
        let file = run.unchanged(specification.samples_format.file_name())?;
        let mut pairs = Vec::new();
        read_samples(&file, &AsWritten, |pair| {
            pairs.push(pair);
            Ok::<(), RepairError>(())
        })?;
        Ok(FoundRun {
            directory: directory.to_owned(),
            texts_sha256: record.sha256_of("data").to_owned(),
            specification,
            file,
            pairs,
        })
    }

    /// The directory of the audit.
    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// All texts that are written in its pairs.
    pub fn texts(&self) -> impl Iterator<Item = &String> {
        let pairs = self.pairs.iter();
        pairs.flat_map(|pair| pair.texts.iter().chain(&pair.origin))
    }
}

/// The means to read the texts of audits.
pub(super) struct Reader<'a> {
    /// Hash of the training texts.
    pub texts_sha256: &'a str,
    /// The parts of the training texts.
    pub split: &'a Split,
    /// The classes of the training texts.
    pub labels: &'a [u32],
    /// The numbers of the rows of their file where the training texts stand.
    pub rows: &'a RowNumbers,
    /// The reader that splits texts into words, and the protected terms in them.
    pub read_by: (&'a TextReader, &'a Protected),
}

impl Reader<'_> {
    /// The samples of `run` that may be learnt from.
    ///
    /// # Errors
    /// See [`RepairError`]: pairs that are none, no texts.
    pub fn pool(&self, run: FoundRun) -> Result<Pool<FoundText>, RepairError> {
        let is_own = run.texts_sha256 == self.texts_sha256;
        let train: HashSet<u32> = self.split.train.iter().copied().collect();
        let (mut samples, mut held_out) = (Vec::new(), 0);
        let mut seen = HashSet::new();
        let origins = Origins::default();
        for (row, mut pair) in (1..).zip(run.pairs) {
            let [x, other] = &pair.texts;
            let reader = self.read_by.0;
            let tokens = |text: &str| reader.tokens(text).map_err(AuditError::from);
            (pair.row, pair.other) = (tokens(x)?, tokens(other)?);
            let source = origins.pair_source(self.read_by, &pair);
            let source = source.map_err(|problem| RepairError::NoPair {
                file: run.file.clone(),
                row,
                problem,
            })?;
            if !seen.insert(pair.row) {
                continue;
            }
            let origin = pair.source_row.and_then(|row| self.rows.index_of(row));
            let origin = origin.and_then(|text| u32::try_from(text).ok());
            match origin.filter(|_| is_own) {
                Some(text) if !train.contains(&text) => held_out += 1,
                origin => samples.push(FoundText {
                    written: Written {
                        source,
                        text: pair.origin.unwrap_or_default(),
                    },
                    other: pair.other,
                    truth: origin.and_then(|text| self.labels.get(text as usize).copied()),
                }),
            }
        }
        if samples.is_empty() {
            return Err(RepairError::NoSamples {
                run: run.directory,
                held_out,
            });
        }
        Ok(Pool {
            run: Some(run.directory),
            protected: run.specification.protected,
            samples,
            held_out,
        })
    }
}

/// The discriminatory texts that the search of `specification` finds from those texts of `parts`,
/// of the classes `labels`, that are in `part`, called `name`.
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
    let texts = parts.texts.value.clone();
    let device = ComputeDevice::flex();
    let case = TextCase::new(&specification, parts, &|text| is_kept[text], &device)?;
    let audit = Audit::from_case(specification.check()?, case, &device)?;
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
        let text = rows.index_of(case.source_rows()[pair.seed as usize]);
        let source = domain.source(pair.row).cloned().unwrap_or_default();
        FoundText {
            written: Written {
                source: Source {
                    ids: text_of(pair.row).to_vec(),
                    ..source
                },
                text: text.map_or_else(String::new, |text| texts[text].to_owned()),
            },
            other: text_of(&other).to_vec(),
            truth: text.and_then(|text| labels.get(text).copied()),
        }
    });
    Ok(found.collect())
}
