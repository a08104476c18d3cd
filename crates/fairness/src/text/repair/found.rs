//! The discriminatory texts that a repair learns from, and those that it is measured on.
//!
//! Texts to learn from come from a search that begins at the training texts, or from audits that were run before. The
//! independent set always comes from a search that begins at the test texts. A text of an audit that was found from a
//! validation or test text is left out: its neighbourhood, and with `--label seed` that text's very class, would leak.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::TextRepairError;
use super::prepared::PreparedTextRepair;
use crate::audit::AuditError;
use crate::domain::Domain;
use crate::samples::SamplesFormat;
use crate::search::Ending;
use crate::text::audit::PreparedTextAudit;
use crate::text::domain::{TextDomain, text_of};
use crate::text::options::TextAuditOptions;
use crate::text::samples::read_text_samples;
use crate::text::strategy::TextStrategyName;
use probity_nn::text_model::TextModel;
use probity_nn::train::Split;
use probity_run::run_directory::{RunDirectory, SUMMARY};
use probity_tensor::device::ComputeDevice;

/// A discriminatory text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct FoundText {
    /// Both sides of its pair.
    pub texts: [Vec<i32>; 2],
    /// Class of the text that it was found from, where that is known.
    pub truth: Option<u32>,
}

/// What an audit found.
#[derive(Debug, Clone)]
pub(super) struct FoundRun {
    /// Its directory.
    pub directory: PathBuf,
    /// Its protected attributes.
    pub protected: Vec<String>,
    /// What may be learnt from, each text once.
    pub samples: Vec<FoundText>,
    /// Texts left out because they were found from texts that are held out.
    pub held_out: u64,
}

/// The options of the audit of texts in `directory`.
///
/// # Errors
/// When there is none, or one of a table.
pub fn open_audit(directory: &Path) -> Result<(RunDirectory, TextAuditOptions), TextRepairError> {
    let (_, written): (_, toml::Table) = RunDirectory::open_run(directory, "audit")?;
    if !written.contains_key("texts") {
        return Err(TextRepairError::TableRun {
            run: directory.to_owned(),
        });
    }
    Ok(RunDirectory::open_run(directory, "audit")?)
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
    /// Texts as wide as they may grow.
    pub domain: &'a TextDomain,
}

impl Reader<'_> {
    /// Reads the audit in `directory`.
    ///
    /// # Errors
    /// See [`TextRepairError`]: another model, other terms, an unfinished run, no texts.
    pub fn read(&self, directory: &Path) -> Result<FoundRun, TextRepairError> {
        let (run, options) = open_audit(directory)?;
        if options.model_sha256 != self.model_sha256 {
            return Err(TextRepairError::OtherModel {
                run: directory.to_owned(),
                model: self.model.1.to_owned(),
                searched: options.model_sha256,
                own: self.model_sha256.to_owned(),
            });
        }
        if options.lexicon_sha256 != self.lexicon_sha256 {
            return Err(TextRepairError::OtherTerms {
                run: directory.to_owned(),
                searched: options.lexicon_sha256,
                own: self.lexicon_sha256.to_owned(),
            });
        }
        if !run.file(SUMMARY).is_file() {
            return Err(TextRepairError::Unfinished {
                run: directory.to_owned(),
            });
        }
        let is_own = options.texts_sha256 == self.texts_sha256;
        let train: HashSet<u32> = self.split.train.iter().copied().collect();
        let file = run.file(options.samples_format.file_name());
        let (mut samples, mut held_out, mut row) = (Vec::new(), 0, 0);
        let mut seen = HashSet::new();
        read_text_samples(&file, |pair| {
            row += 1;
            let texts = [self.ids(&pair.x)?, self.ids(&pair.other)?];
            if let Some(long) = texts.iter().find(|ids| ids.len() > self.domain.width()) {
                return Err(TextRepairError::TooLong {
                    file: file.clone(),
                    row,
                    tokens: long.len(),
                    most: self.domain.width(),
                });
            }
            if !seen.insert(self.domain.row_key(&self.domain.row(&texts[0]))) {
                return Ok(());
            }
            let origin = u32::try_from(pair.source_row)
                .ok()
                .and_then(|row| row.checked_sub(1));
            match origin.filter(|_| is_own) {
                Some(text) if !train.contains(&text) => held_out += 1,
                origin => samples.push(FoundText {
                    texts,
                    truth: origin.and_then(|text| self.labels.get(text as usize).copied()),
                }),
            }
            Ok(())
        })?;
        if samples.is_empty() {
            return Err(TextRepairError::NoSamples {
                run: directory.to_owned(),
                held_out,
            });
        }
        Ok(FoundRun {
            directory: directory.to_owned(),
            protected: options.protected,
            samples,
            held_out,
        })
    }

    fn ids(&self, text: &str) -> Result<Vec<i32>, TextRepairError> {
        let tokens = self
            .model
            .0
            .tokenizer
            .tokens(text)
            .map_err(AuditError::from)?;
        Ok(tokens.iter().map(|token| token.id as i32).collect())
    }
}

impl PreparedTextRepair {
    /// What a search by `strategy` finds in the model from the texts of `part`, called `name`; `None` when stopped.
    ///
    /// # Errors
    /// When it finds nothing.
    pub(super) fn search(
        &self,
        strategy: TextStrategyName,
        part: &[u32],
        name: &'static str,
        observe: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<Option<Vec<FoundText>>, TextRepairError> {
        let mut is_kept = vec![false; self.set.labelled().texts.len()];
        for &text in part {
            is_kept[text as usize] = true;
        }
        let device = ComputeDevice::flex();
        let prepared = PreparedTextAudit::of_rows(
            self.search_options(strategy, &device),
            &|text| is_kept[text],
            &device,
        )?;
        let (ending, pairs) = prepared.search(observe)?;
        if ending == Ending::Interrupted {
            return Ok(None);
        }
        if pairs.is_empty() {
            return Err(TextRepairError::NothingFound { part: name });
        }
        let domain = prepared.domain();
        let found = pairs.iter().map(|pair| {
            let mut other = Vec::with_capacity(domain.width());
            domain.write_variant(pair.row, pair.variant as usize, &mut other);
            let row = prepared.source_rows()[pair.seed as usize] - 1;
            FoundText {
                texts: [text_of(pair.row).to_vec(), text_of(&other).to_vec()],
                truth: Some(self.set.labelled().labels[row as usize]),
            }
        });
        Ok(Some(found.collect()))
    }

    fn search_options(
        &self,
        strategy: TextStrategyName,
        device: &ComputeDevice,
    ) -> TextAuditOptions {
        let options = &self.options;
        TextAuditOptions {
            command: "audit".to_owned(),
            probity_version: options.probity_version.clone(),
            model: options.model.clone(),
            model_sha256: options.model_sha256.clone(),
            texts: options.training.texts.clone(),
            texts_sha256: options.texts_sha256.clone(),
            text_column: options.training.text_column.clone(),
            lexicon: options.lexicon.clone(),
            lexicon_sha256: options.lexicon_sha256.clone(),
            encoder: None,
            encoder_sha256: None,
            protected: options.protected.clone(),
            strategy,
            local_strategy: strategy,
            objective: options.objective,
            neighbours: 10,
            seeds: options.seeds,
            clusters: 4,
            max_iter: options.max_iter,
            local: options.local,
            max_l0: None,
            min_similarity: None,
            estimate: 1,
            time_seconds: None,
            max_found: Some(options.max_found),
            fail_above: None,
            batch: 4096,
            samples_format: SamplesFormat::Parquet,
            seed: options.seed,
            device: device.name(),
            hardware: device.hardware(),
        }
    }
}
