//! Re-checking reported pairs one by one, with nothing of the search in between.
//!
//! A pair is *confirmed* when its sides are variants of each other (rows differ in protected
//! attributes and in nothing else; of texts, one occurrence of a protected term is replaced by
//! another value of its attribute), and of what the model, asked about each side anew, says, the two
//! different decisions are made that the file states. (What a network answers about an input is the
//! same alone and beside others.) No x may be reported twice. Pairs of rows are also evaluated by
//! plain loops in f64 ([`probity_nn::fnn::Reference`]); pairs that
//! come out equal there hang on a rounding, which is counted, not hidden.

use std::collections::HashSet;
use std::path::Path;

use probity_nn::modality::ModalityName;
use probity_predictor::KillHandle;
use probity_run::run_directory::{RunDirectory, SUMMARY};
use probity_run::specification::{FieldError, Specification};

use super::audit_error::AuditError;
use super::modality::{Answers, Modality, Sample, TableCase, TextCase, Witness};
use super::samples::read_samples;
use super::specification::AuditSpecification;

/// Number of pairs that are asked about at a time.
const BLOCK: usize = 4096;

/// The counts of pairs that were confirmed and rejected.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Verification {
    /// Pairs in the file.
    pub pairs: u64,
    /// Pairs that are as the file says.
    pub confirmed: u64,
    /// Pairs that are not as the file says.
    pub rejected: u64,
    /// Confirmed pairs whose classes are equal in f64 arithmetic: decided by rounding.
    pub decided_by_rounding: u64,
    /// The first rejected pairs: number in the file, from 1, and what is wrong.
    pub problems: Vec<String>,
}

impl Verification {
    /// Counts a pair: confirmed (and whether by rounding alone), or what is wrong with it.
    fn add(&mut self, judgement: Result<bool, String>) {
        self.pairs += 1;
        match judgement {
            Ok(by_rounding) => {
                self.confirmed += 1;
                self.decided_by_rounding += u64::from(by_rounding);
            }
            Err(problem) => {
                self.rejected += 1;
                if self.problems.len() < 10 {
                    self.problems
                        .push(format!("pair {}: {problem}", self.pairs));
                }
            }
        }
    }
}

/// Verifies every pair of the audit in the run directory `run`, whose model is in `model` now if it
/// has moved. `opened` is told what ends the process of a predictor, if there is one, before it is
/// asked; `progress` how many pairs are done.
///
/// # Errors
/// When the run is unfinished, its model or its lexicon is not the one that was audited, its files
/// cannot be read, or the model cannot answer.
pub fn verify_audit(
    run: &Path,
    model: Option<&Path>,
    opened: &mut dyn FnMut(Option<&KillHandle>),
    progress: &mut dyn FnMut(u64),
) -> Result<Verification, AuditError> {
    let (directory, specification, record) =
        RunDirectory::open_specified::<AuditSpecification>(run)?;
    if !directory.file(SUMMARY).is_file() {
        return Err(AuditError::Unfinished {
            run: run.to_owned(),
            kind: AuditSpecification::KIND,
        });
    }
    if model.is_some() && specification.predictor.source.is_some() {
        let expected = "left out for a run on a predictor: it is where run.toml says";
        return Err(FieldError::new("model", "given", expected).into());
    }
    let samples = directory.file(specification.samples_format.file_name());
    let witness: Box<dyn Witness> = match specification.modality {
        ModalityName::Table => Box::new(TableCase::witness(&specification, model, &samples)?),
        ModalityName::Text => Box::new(TextCase::witness(&specification, model, &samples)?),
    };
    for (role, now) in witness.sha256() {
        let then = record.sha256_of(role);
        if now != then {
            return Err(AuditError::OtherThanThen {
                role: role.clone(),
                now: now.clone(),
                then: then.to_owned(),
            });
        }
    }
    opened(witness.ender());
    let mut result = verify(&samples, witness.as_ref(), progress)?;
    let summary: serde_json::Value = directory.read_summary()?;
    let stated = summary["total"]["discriminatory_rows"].as_u64();
    let left_out = summary["plausibility"]["left_out"].as_u64();
    let stated = stated.unwrap_or(0).saturating_sub(left_out.unwrap_or(0));
    if result.pairs != stated {
        result.problems.push(format!(
            "{SUMMARY} counts {stated} pairs, but the file holds {}",
            result.pairs
        ));
        result.rejected += stated.abs_diff(result.pairs);
    }
    Ok(result)
}

/// Verifies every pair of the file `samples` by `witness`; `progress` is told how many pairs are
/// done.
///
/// # Errors
/// When the file cannot be read or the model cannot answer.
pub fn verify(
    samples: &Path,
    witness: &dyn Witness,
    progress: &mut dyn FnMut(u64),
) -> Result<Verification, AuditError> {
    let mut result = Verification::default();
    let mut seen = HashSet::new();
    let mut block = Vec::with_capacity(BLOCK);
    let mut finish = |block: &mut Vec<Sample>| -> Result<(), AuditError> {
        let forms = block.iter().map(|pair| {
            let codes = pair.row.iter().flat_map(|code| code.to_le_bytes());
            let bytes: Vec<u8> = codes.collect();
            match seen.insert(xxhash_rust::xxh3::xxh3_128(&bytes)) {
                true => witness.are_variants(pair),
                false => Err("the same x was reported before".to_owned()),
            }
        });
        let forms: Vec<Result<(), String>> = forms.collect();
        let sound = block.iter().zip(&forms).filter(|(_, form)| form.is_ok());
        let sound: Vec<&Sample> = sound.map(|(pair, _)| pair).collect();
        let mut answers = witness.answers(&sound)?.into_iter();
        for (pair, form) in block.iter().zip(forms) {
            let answers = form.map(|()| answers.next());
            result.add(answers.and_then(|answers| judge(pair, witness.classes(), answers)));
        }
        progress(result.pairs);
        block.clear();
        Ok(())
    };
    read_samples(samples, witness.inputs().as_ref(), |pair| {
        block.push(pair);
        if block.len() == BLOCK {
            finish(&mut block)?;
        }
        Ok::<(), AuditError>(())
    })?;
    finish(&mut block)?;
    Ok(result)
}

/// Whether the pair depends on a rounding, where the model gives `answers` about its sides; an
/// error says what is wrong with the pair.
fn judge(pair: &Sample, classes: &[String], answers: Option<Answers>) -> Result<bool, String> {
    let Some(answers) = answers else {
        return Err("the model gives no answer".to_owned());
    };
    let Some(decided) = answers.decided else {
        return Err("both sides are decided alike".into());
    };
    for (stated, decided) in [&pair.label, &pair.other_label].into_iter().zip(decided) {
        let class = &classes[decided as usize];
        if stated != class {
            return Err(format!(
                "the file says class '{stated}', the model says '{class}'"
            ));
        }
    }
    Ok(answers.by_rounding)
}
