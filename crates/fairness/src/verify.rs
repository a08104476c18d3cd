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

use crate::samples::{SampledPair, read_samples};
use probity_data::read::ReadError;
use probity_data::schema::Schema;
use probity_nn::fnn::{Fnn, Network};
use probity_nn::model::Model;
use probity_nn::{Classifier, ModelError, Rows, predicted_class};
use probity_tensor::device::ComputeDevice;

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
    let fnn = Fnn::new(&model.network, &ComputeDevice::flex());
    let alone = |row: &[i32]| -> Result<u32, ModelError> {
        Ok(predicted_class(&fnn.logits(Rows::new(row, row.len()))?))
    };
    let ask = |pairs: &[SampledPair]| -> Result<Vec<Answers>, ModelError> {
        pairs
            .par_iter()
            .map(|pair| {
                let exact = |row| exact_class(&model.network, row);
                Ok(Answers {
                    labels: [alone(&pair.row)?, alone(&pair.other)?],
                    by_rounding: exact(&pair.row) == exact(&pair.other),
                })
            })
            .collect()
    };
    verify_with(samples, &model.schema, protected, &ask, progress)
}

/// The same against a predictor, for rows of `schema`: it is asked anew for both sides of every pair,
/// in batches. What it computes inside is not known, so no pair is said to hang on a rounding.
///
/// # Errors
/// When the file cannot be read or the predictor cannot answer.
pub fn verify_predictor(
    samples: &Path,
    schema: &Schema,
    predictor: &dyn Classifier,
    protected: &[usize],
    progress: &mut dyn FnMut(u64),
) -> Result<Verification, VerifyError> {
    let ask = |pairs: &[SampledPair]| -> Result<Vec<Answers>, ModelError> {
        let codes: Vec<i32> = pairs
            .iter()
            .flat_map(|pair| pair.row.iter().chain(&pair.other))
            .copied()
            .collect();
        let logits = predictor.logits(Rows::new(&codes, schema.attributes.len()))?;
        let of_pair = logits.chunks_exact(2 * predictor.classes());
        Ok(of_pair
            .map(|logits| {
                let (own, other) = logits.split_at(predictor.classes());
                Answers {
                    labels: [predicted_class(own), predicted_class(other)],
                    by_rounding: false,
                }
            })
            .collect())
    };
    verify_with(samples, schema, protected, &ask, progress)
}

/// What a model says of a pair.
struct Answers {
    /// Classes of both sides.
    labels: [u32; 2],
    /// Whether the classes are equal in f64 arithmetic.
    by_rounding: bool,
}

/// Asks for a block of pairs: one answer a pair.
type Ask<'a> = dyn Fn(&[SampledPair]) -> Result<Vec<Answers>, ModelError> + 'a;

fn verify_with(
    samples: &Path,
    schema: &Schema,
    protected: &[usize],
    ask: &Ask<'_>,
    progress: &mut dyn FnMut(u64),
) -> Result<Verification, VerifyError> {
    const BLOCK: usize = 4096;
    let mut result = Verification::default();
    let mut seen = HashSet::new();
    let mut block = Vec::with_capacity(BLOCK);
    let mut finish = |block: &mut Vec<SampledPair>| -> Result<(), VerifyError> {
        let answers = ask(block)?;
        for (pair, answers) in block.iter().zip(answers) {
            let bytes: Vec<u8> = pair
                .row
                .iter()
                .flat_map(|code| code.to_le_bytes())
                .collect();
            let judgement = if seen.insert(xxhash_rust::xxh3::xxh3_128(&bytes)) {
                judge(pair, schema, protected, answers.labels).map(|()| answers.by_rounding)
            } else {
                Err("the same x was reported before".to_owned())
            };
            result.add(judgement);
        }
        progress(result.pairs);
        block.clear();
        Ok(())
    };
    read_samples(samples, schema, |pair| {
        block.push(pair);
        if block.len() == BLOCK {
            finish(&mut block)?;
        }
        Ok::<(), VerifyError>(())
    })?;
    finish(&mut block)?;
    Ok(result)
}

/// What is wrong with the pair, to whose sides the model gives `labels`.
fn judge(
    pair: &SampledPair,
    schema: &Schema,
    protected: &[usize],
    labels: [u32; 2],
) -> Result<(), String> {
    if pair.row == pair.other {
        return Err("both sides are equal".into());
    }
    for (position, (own, other)) in pair.row.iter().zip(&pair.other).enumerate() {
        if own != other && !protected.contains(&position) {
            return Err(format!(
                "the sides differ in '{}', which is not protected",
                schema.attributes[position].name
            ));
        }
    }
    for (stated, label) in [&pair.label, &pair.other_label].into_iter().zip(labels) {
        let class = &schema.label.classes[label as usize];
        if stated != class {
            return Err(format!(
                "the file says class '{stated}', the model says '{class}'"
            ));
        }
    }
    if labels[0] == labels[1] {
        return Err("both sides have the same class".into());
    }
    Ok(())
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
