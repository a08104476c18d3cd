//! The parameters of a network, found among the tensors of a file of Hugging Face.
//!
//! The head of a masked language model may be left out as a whole; what is read then is the encoder,
//! and the report names the head's tensors as missing. A part of it alone is refused. D, the matrix
//! over the vocabulary, is the table of words unless the file has another one, whatever the
//! configuration says; where that says that the two are apart, the file must have it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::names::Family;
use super::settings::CONFIG;
use crate::model::StoreError;
use crate::recurrent::network::TensorSpan;
use crate::transformer::masked::MaskedHead;
use crate::transformer::shape::{Shape, TransformerWeights};
use crate::weights::{Weight, WeightFile};

/// The report of what an import found in a directory of Hugging Face.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct HuggingFaceReport {
    /// The class of the network, as `architectures` names it.
    pub architecture: String,
    /// The tensors that are parts of the network, with their shapes.
    pub matched: Vec<(String, Vec<usize>)>,
    /// The tensors that the file lacks: for an encoder those of the head of a classifier, and for a
    /// masked language model whose head is not there those of this head.
    pub missing: Vec<String>,
    /// The tensors that are no parts of the network.
    pub unused: Vec<String>,
    /// The SHA-256 of the files.
    #[serde(skip)]
    pub sha256: BTreeMap<String, String>,
}

/// The tensors of a file, those that are parts of a network taken out one by one.
pub(super) struct Found {
    file: PathBuf,
    family: Family,
    /// The beginning of the names of the encoder's tensors.
    prefix: &'static str,
    tensors: BTreeMap<String, Weight>,
    /// The names of the tensors of whole numbers.
    integers: BTreeSet<String>,
    /// The names of what lies beside the tensors, which is no part of the network.
    beside: BTreeSet<String>,
    report: HuggingFaceReport,
}

impl Found {
    /// Takes the tensors of `weights`, which were read from `file`, for a network of the class
    /// `architecture`.
    ///
    /// # Errors
    /// When the tensors are those of an adapter.
    pub fn new(
        family: Family,
        weights: WeightFile,
        file: &Path,
        architecture: String,
    ) -> Result<Found, StoreError> {
        // Checkpoints older than PyTorch 1.0 call gain and bias of a normalisation gamma and beta.
        let current = |name: String| match name.strip_suffix(".gamma") {
            Some(norm) => format!("{norm}.weight"),
            None => match name.strip_suffix(".beta") {
                Some(norm) => format!("{norm}.bias"),
                None => name,
            },
        };
        if let Some(name) = weights.tensors.keys().find(|name| name.contains(".lora_")) {
            return Err(StoreError::Tensor {
                file: file.to_owned(),
                tensor: name.clone(),
                problem: "is of an adapter; merge it into the weights first".to_owned(),
            });
        }
        let integers: BTreeSet<String> = weights.integers.into_iter().map(current).collect();
        let tensors: BTreeMap<String, Weight> = weights
            .tensors
            .into_iter()
            .map(|(name, weight)| (current(name), weight))
            .collect();
        // An encoder may have been cut out of a classifier, names and all.
        let words = family.tensor("embeddings.words", "");
        Ok(Found {
            file: file.to_owned(),
            family,
            prefix: match tensors.contains_key(&words) {
                true => "",
                false => family.prefix(),
            },
            tensors,
            integers,
            beside: weights.beside,
            report: HuggingFaceReport {
                architecture,
                ..HuggingFaceReport::default()
            },
        })
    }

    /// Takes out the parameters of a network of `shape`.
    ///
    /// # Errors
    /// When a tensor is missing or has another shape.
    pub fn network(&mut self, shape: Shape) -> Result<TransformerWeights, StoreError> {
        let mut values = Vec::new();
        for tensor in shape.tensors() {
            if !tensor.range.is_empty() {
                let name = self.family.tensor(&tensor.name, self.prefix);
                values.extend(self.take(&name, &tensor, "is missing")?);
            }
        }
        if shape.classes == 0 {
            self.report.missing =
                vec!["classifier.weight".to_owned(), "classifier.bias".to_owned()];
        }
        Ok(TransformerWeights { shape, values })
    }

    /// Takes out the head of a masked language model on `encoder`, whose mask has the number
    /// `mask`, unless all of it is missing; `is_tied` is what the configuration says of the table
    /// of words.
    ///
    /// # Errors
    /// When a part of it is missing, or another one.
    pub fn masked_head(
        &mut self,
        encoder: &TransformerWeights,
        mask: i32,
        is_tied: bool,
    ) -> Result<Option<MaskedHead>, StoreError> {
        let mut tensors = MaskedHead::tensors(&encoder.shape, false);
        let mut names: Vec<String> = tensors
            .iter()
            .map(|tensor| self.family.tensor(&tensor.name, self.prefix))
            .collect();
        // The bias comes last, the table before it.
        let (bias, table) = (tensors.len() - 1, tensors.len() - 2);
        let is_there = |name: &str| self.tensors.contains_key(name);
        if let Some(tied) = self.family.tied_bias()
            && !is_there(&names[bias])
        {
            names[bias] = tied.to_owned();
        }
        if !names.iter().any(|name| is_there(name)) {
            names.remove(table);
            self.report.missing.extend(names);
            return Ok(None);
        }
        let words = &encoder.values[encoder.shape.spans().words];
        let own = self.tensors.get(&names[table]);
        let is_own = match own {
            Some(own) => own.values != words,
            None => !is_tied,
        };
        if own.is_some() && !is_own {
            self.take(&names[table], &tensors[table], "is missing")?;
        }
        if !is_own {
            tensors.remove(table);
            names.remove(table);
        }
        let mut values = Vec::new();
        for (name, tensor) in names.iter().zip(&tensors) {
            let problem =
                "is missing; of the head of the masked language model there is only a part";
            values.extend(self.take(name, tensor, problem)?);
        }
        // The same numbers under their other name.
        let tied = self
            .family
            .tied_bias()
            .and_then(|tied| self.tensors.remove_entry(tied));
        if let Some((name, weight)) = tied {
            if values.ends_with(&weight.values) {
                self.report.matched.push((name, weight.shape));
            } else {
                self.tensors.insert(name, weight);
            }
        }
        Ok(Some(MaskedHead {
            mask,
            is_tied: !is_own,
            values,
        }))
    }

    /// Returns the report of what was found; what is left is unused.
    pub fn report(self) -> HuggingFaceReport {
        HuggingFaceReport {
            unused: self.tensors.into_keys().chain(self.beside).collect(),
            ..self.report
        }
    }

    /// Takes out the numbers of the tensor `name`, of the extents of `tensor`; where it is absent,
    /// returns an error with the problem `missing`.
    fn take(
        &mut self,
        name: &str,
        tensor: &TensorSpan,
        missing: &str,
    ) -> Result<Vec<f32>, StoreError> {
        let expected = extents(tensor);
        let refused = |problem: String| StoreError::Tensor {
            file: self.file.clone(),
            tensor: name.to_owned(),
            problem,
        };
        let weight = match self.tensors.remove(name) {
            None => return Err(refused(missing.to_owned())),
            Some(_) if self.integers.contains(name) => {
                let problem = "holds whole numbers, as quantised weights are; only floating-point \
                               numbers are supported";
                return Err(refused(problem.to_owned()));
            }
            Some(weight) if weight.shape != expected => {
                let shape = weight.shape;
                let problem = format!("has shape {shape:?}, but {CONFIG} says {expected:?}");
                return Err(refused(problem));
            }
            Some(weight) => weight.values,
        };
        self.report.matched.push((name.to_owned(), expected));
        Ok(weight)
    }
}

/// Returns the extents of `tensor` as Hugging Face keeps it: a vector has one.
pub(super) fn extents(tensor: &TensorSpan) -> Vec<usize> {
    match tensor.columns {
        1 => vec![tensor.rows],
        columns => vec![tensor.rows, columns],
    }
}
