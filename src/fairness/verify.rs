//! Re-checking reported pairs one by one, with nothing of the search in between.
//!
//! A pair is *confirmed* when both sides are inputs of the schema, they differ in protected
//! attributes and in nothing else, and the model, asked for each side alone (a batch of one row),
//! predicts the two different classes that the file states. No x may be reported twice. Each pair is also evaluated by plain
//! loops in f64 ([`Network::reference_logits`]); pairs that come out equal there hang on a
//! rounding, which is counted, not hidden.

use std::collections::HashSet;
use std::path::Path;

use rayon::prelude::*;
use thiserror::Error;

use crate::data::read::ReadError;
use crate::device::ComputeDevice;
use crate::fairness::samples::{SampledPair, read_samples};
use crate::nn::fnn::{Fnn, Network};
use crate::nn::model::Model;
use crate::nn::{Classifier, ModelError, Rows, predicted_class};

/// Why pairs cannot be verified.
#[derive(Debug, Error)]
pub enum VerifyError {
    /// The samples cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The model cannot answer.
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// How many pairs stood up.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Verification {
    /// Pairs in the file.
    pub pairs: u64,
    /// Pairs that are what the file says.
    pub confirmed: u64,
    /// Pairs that are not.
    pub rejected: u64,
    /// Confirmed pairs whose classes are equal in f64 arithmetic: decided by rounding.
    pub decided_by_rounding: u64,
    /// The first rejected pairs: number in the file, from 1, and what is wrong.
    pub problems: Vec<String>,
}

impl Verification {
    /// Counts a pair: confirmed (and whether by rounding alone), or what is wrong with it.
    pub(super) fn add(&mut self, judgement: Result<bool, String>) {
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

/// Verifies every pair of `samples` against `model`, with `protected` (attribute positions)
/// allowed to differ. `progress` is told how many pairs are done.
///
/// # Errors
/// When the file cannot be read or the model cannot answer.
pub fn verify(
    samples: &Path,
    model: &Model,
    protected: &[usize],
    progress: &mut dyn FnMut(u64),
) -> Result<Verification, VerifyError> {
    const BLOCK: usize = 4096;
    let fnn = Fnn::new(&model.network, &ComputeDevice::flex());
    let mut result = Verification::default();
    let mut seen = HashSet::new();
    let mut block = Vec::with_capacity(BLOCK);
    let mut finish = |block: &mut Vec<SampledPair>| -> Result<(), VerifyError> {
        let judged: Vec<Result<bool, String>> = block
            .par_iter()
            .map(|pair| judge(pair, model, &fnn, protected))
            .collect::<Result<_, ModelError>>()?;
        for (pair, judgement) in block.iter().zip(judged) {
            let bytes: Vec<u8> = pair
                .row
                .iter()
                .flat_map(|code| code.to_le_bytes())
                .collect();
            let judgement = if seen.insert(xxhash_rust::xxh3::xxh3_128(&bytes)) {
                judgement
            } else {
                Err("the same x was reported before".to_owned())
            };
            result.add(judgement);
        }
        progress(result.pairs);
        block.clear();
        Ok(())
    };
    read_samples(samples, &model.schema, |pair| {
        block.push(pair);
        if block.len() == BLOCK {
            finish(&mut block)?;
        }
        Ok::<(), VerifyError>(())
    })?;
    finish(&mut block)?;
    Ok(result)
}

/// `Ok(decided by rounding)` or what is wrong with the pair.
fn judge(
    pair: &SampledPair,
    model: &Model,
    fnn: &Fnn,
    protected: &[usize],
) -> Result<Result<bool, String>, ModelError> {
    if pair.row == pair.other {
        return Ok(Err("both sides are equal".into()));
    }
    for (position, (own, other)) in pair.row.iter().zip(&pair.other).enumerate() {
        if own != other && !protected.contains(&position) {
            return Ok(Err(format!(
                "the sides differ in '{}', which is not protected",
                model.schema.attributes[position].name
            )));
        }
    }
    let alone = |row: &[i32]| -> Result<u32, ModelError> {
        Ok(predicted_class(&fnn.logits(Rows::new(row, row.len()))?))
    };
    let labels = [alone(&pair.row)?, alone(&pair.other)?];
    for (stated, label) in [&pair.label, &pair.other_label].into_iter().zip(labels) {
        let class = &model.schema.label.classes[label as usize];
        if stated != class {
            return Ok(Err(format!(
                "the file says class '{stated}', the model says '{class}'"
            )));
        }
    }
    if labels[0] == labels[1] {
        return Ok(Err("both sides have the same class".into()));
    }
    Ok(Ok(
        exact_class(&model.network, &pair.row) == exact_class(&model.network, &pair.other)
    ))
}

fn exact_class(network: &Network, row: &[i32]) -> usize {
    let logits = network.reference_logits(row);
    (0..logits.len())
        .reduce(|best, class| {
            if logits[class] > logits[best] {
                class
            } else {
                best
            }
        })
        .unwrap_or(0)
}
