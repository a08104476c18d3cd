//! Directories of Hugging Face: `config.json`, `model.safetensors` and `tokenizer.json`.
//!
//! Only the networks that [`Family`] names are read; anything in a configuration that would make
//! the network another one (relative positions, a decoder, labels of which several may hold) is
//! refused.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::names::{Family, Kind};
use super::pieces::PieceTokenizer;
use super::settings::{CONFIG, TokenizerSettings, read_file};
use super::tensors::{Found, HuggingFaceReport};
use super::{TransformerModel, is_transformer};
use crate::model::StoreError;
use crate::text_model::TOKENIZER;
use crate::transformer::shape::{InnerActivation, Pooling, Shape};
use crate::weights::read_weights_hashed;
use probity_run::run_directory::hex;
use sha2::{Digest, Sha256};

pub(super) const MODEL: &str = "model.safetensors";
/// The name of the file that PyTorch wrote before there was safetensors.
const PYTORCH: &str = "pytorch_model.bin";
/// The settings of a configuration that matter here. DistilBERT has names of its own for the sizes.
#[derive(Debug, Deserialize)]
struct Config {
    architectures: Option<Vec<String>>,
    vocab_size: usize,
    #[serde(alias = "dim")]
    hidden_size: usize,
    #[serde(alias = "n_layers")]
    num_hidden_layers: usize,
    #[serde(alias = "n_heads")]
    num_attention_heads: usize,
    #[serde(alias = "hidden_dim")]
    intermediate_size: usize,
    #[serde(alias = "activation")]
    hidden_act: String,
    max_position_embeddings: usize,
    #[serde(default)]
    type_vocab_size: usize,
    layer_norm_eps: Option<f32>,
    pad_token_id: Option<usize>,
    position_embedding_type: Option<String>,
    problem_type: Option<String>,
    #[serde(default)]
    is_decoder: bool,
    model_type: Option<String>,
    quantization_config: Option<serde_json::Value>,
    id2label: Option<BTreeMap<String, String>>,
    num_labels: Option<usize>,
    tie_word_embeddings: Option<bool>,
}

/// Reads the directory of Hugging Face `directory`: returns the model, and what was found.
/// `classes` are other names than those of the configuration; `max_length` is a smaller number of
/// pieces than tokenizer and network allow.
///
/// # Errors
/// When a file cannot be read, the network is of another kind, or tensors are missing or of
/// another shape than the configuration says.
pub fn import(
    directory: &Path,
    classes: &[String],
    max_length: Option<usize>,
) -> Result<(TransformerModel, HuggingFaceReport), StoreError> {
    let file = directory.join(CONFIG);
    let refused = |problem: String| StoreError::Description {
        file: file.clone(),
        problem,
    };
    if !file.exists() {
        return Err(refused(match is_transformer(directory) {
            true => "there is none: the directory holds a model of Probity already".to_owned(),
            false => "there is none, which a directory of Hugging Face has".to_owned(),
        }));
    }
    let mut sha256 = BTreeMap::new();
    let mut read = |name: &str, role: &str| {
        let bytes = read_file(&directory.join(name))?;
        sha256.insert(role.to_owned(), hex(&Sha256::digest(&bytes)));
        Ok::<_, StoreError>(bytes)
    };
    let bytes = read(CONFIG, "config")?;
    let config: Config = serde_json::from_slice(&bytes)
        .map_err(|error| refused(format!("not a configuration of Hugging Face: {error}")))?;
    let (architecture, family, kind) = config.architecture().map_err(refused)?;
    let shape = config.shape(family, kind).map_err(refused)?;
    if let Some(problem) = shape.problem() {
        return Err(refused(format!("the network has {problem}")));
    }
    let json = read(TOKENIZER, "tokenizer")?;
    let place = directory.join(TOKENIZER);
    let settings = TokenizerSettings::read(directory, &mut sha256)?;
    let (tokenizer, kept) = PieceTokenizer::from_json(&json, &place, shape.vocabulary, &settings)?;
    tokenizer.expect_first_segment(&place)?;
    let own = config.classes(&shape).map_err(refused)?;
    let weights_file = weights_file(directory)?;
    let weights = read_weights_hashed(&weights_file)?;
    sha256.insert("weights".to_owned(), weights.sha256);
    let mut found = Found::new(family, weights.value, &weights_file, architecture)?;
    let weights = found.network(shape)?;
    let masked = match kind {
        Kind::Masked => {
            let mask = settings.mask().unwrap_or(family.mask());
            let number = tokenizer
                .number(mask)
                .ok_or_else(|| StoreError::Description {
                    file: place,
                    problem: format!(
                        "it has no piece {mask}, which hides those that are asked for"
                    ),
                })?;
            let is_tied = config.tie_word_embeddings.unwrap_or(true);
            found.masked_head(&weights, number, is_tied)?
        }
        Kind::Classifier | Kind::Encoder => None,
    };
    let report = HuggingFaceReport {
        sha256,
        ..found.report()
    };
    if !classes.is_empty() && classes.len() != own.len() {
        return Err(refused(format!(
            "the network has {} classes, but {} names are given",
            own.len(),
            classes.len()
        )));
    }
    let kept = settings.most_pieces().or(kept);
    let longest = kept.unwrap_or(usize::MAX).min(shape.longest());
    let model = TransformerModel {
        classes: if classes.is_empty() {
            own
        } else {
            classes.to_vec()
        },
        max_length: max_length.unwrap_or(longest),
        family,
        tokenizer,
        weights,
        masked,
    };
    match model.problem() {
        Some(problem) => Err(refused(problem)),
        None => Ok((model, report)),
    }
}

/// Returns the file in `directory` that holds the weights.
fn weights_file(directory: &Path) -> Result<PathBuf, StoreError> {
    let (one, pytorch) = (directory.join(MODEL), directory.join(PYTORCH));
    if one.exists() {
        return Ok(one);
    }
    if pytorch.exists() {
        return Ok(pytorch);
    }
    let index = |file: &str| directory.join(format!("{file}.index.json"));
    match [MODEL, PYTORCH]
        .map(index)
        .into_iter()
        .find(|file| file.exists())
    {
        Some(file) => Err(StoreError::Description {
            file,
            problem: "the weights are in several files; save them in one, with \
                      save_pretrained(…, max_shard_size=\"100GB\")"
                .to_owned(),
        }),
        None => Ok(one),
    }
}

impl Config {
    fn architecture(&self) -> Result<(String, Family, Kind), String> {
        let named = self.architectures.as_deref().unwrap_or_default();
        let [name] = named else {
            return Err(format!(
                "`architectures` names {} networks; expected one of {}",
                named.len(),
                Family::architectures()
            ));
        };
        let (family, kind) = Family::of_architecture(name).ok_or_else(|| {
            format!(
                "`architectures` names {name}; expected one of {}",
                Family::architectures()
            )
        })?;
        match self.model_type.as_deref() {
            Some(kind) if kind != family.model_type() => Err(format!(
                "`model_type` is {kind}, but `architectures` names {name}"
            )),
            _ => Ok((name.clone(), family, kind)),
        }
    }

    fn shape(&self, family: Family, kind: Kind) -> Result<Shape, String> {
        let is_encoder = kind != Kind::Classifier;
        let other = |name: &str, value: &str, expected: &str| {
            Err(format!("`{name}` is {value}; only {expected} is supported"))
        };
        match self.position_embedding_type.as_deref() {
            None | Some("absolute") => {}
            Some(kind) => return other("position_embedding_type", kind, "absolute"),
        }
        if self.is_decoder {
            return other("is_decoder", "true", "false");
        }
        if self.quantization_config.is_some() {
            return Err(
                "`quantization_config` is given; only weights that are not quantised are supported"
                    .to_owned(),
            );
        }
        expect_one_label(self.problem_type.as_deref())?;
        let activation = match self.hidden_act.as_str() {
            "gelu" | "gelu_python" => InnerActivation::Gelu,
            "gelu_new" | "gelu_fast" | "gelu_pytorch_tanh" => InnerActivation::GeluTanh,
            "relu" => InnerActivation::Relu,
            act => {
                return other(
                    "hidden_act",
                    act,
                    "gelu, gelu_new, gelu_pytorch_tanh or relu",
                );
            }
        };
        let first_position = match family.skips_padding() {
            true => self.pad_token_id.unwrap_or(1).saturating_add(1),
            false => 0,
        };
        Ok(Shape {
            vocabulary: self.vocab_size,
            positions: self.max_position_embeddings,
            first_position,
            segments: self.type_vocab_size,
            units: self.hidden_size,
            heads: self.num_attention_heads,
            layers: self.num_hidden_layers,
            inner: self.intermediate_size,
            activation,
            // DistilBERT has an epsilon of its own, whatever the configuration says.
            epsilon: match family {
                Family::Distilbert => None,
                _ => self.layer_norm_eps,
            }
            .unwrap_or(1e-12),
            pooling: if is_encoder {
                Pooling::Mean
            } else {
                Pooling::First
            },
            head: (!is_encoder).then(|| family.head()),
            classes: if is_encoder { 0 } else { self.labels() },
        })
    }

    /// Returns the number of labels; two where nothing says so, as in `transformers`.
    fn labels(&self) -> usize {
        let named = self.id2label.as_ref().map(BTreeMap::len);
        named.or(self.num_labels).unwrap_or(2)
    }

    /// Returns the names of the classes, by number.
    fn classes(&self, shape: &Shape) -> Result<Vec<String>, String> {
        if shape.classes == 1 {
            return Err("the network has one output, a number; expected classes".to_owned());
        }
        match &self.id2label {
            // Classes that nobody named are called as `transformers` calls them.
            None => Ok((0..shape.classes)
                .map(|number| format!("LABEL_{number}"))
                .collect()),
            Some(names) => in_order(names, shape.classes),
        }
    }
}

/// Refuses a network that puts a text into several classes, or that gives a number.
pub(super) fn expect_one_label(problem_type: Option<&str>) -> Result<(), String> {
    match problem_type {
        None | Some("single_label_classification") => Ok(()),
        Some(kind) => Err(format!(
            "`problem_type` is {kind}; only single_label_classification is supported"
        )),
    }
}

/// Returns the names in `id2label` of `count` classes, by number.
pub(super) fn in_order(
    names: &BTreeMap<String, String>,
    count: usize,
) -> Result<Vec<String>, String> {
    let name = |number: usize| {
        names.get(&number.to_string()).cloned().ok_or_else(|| {
            format!(
                "`id2label` has {} labels, but none for {number}",
                names.len()
            )
        })
    };
    let named = (0..count).map(name).collect::<Result<Vec<_>, _>>()?;
    if named.iter().any(|name| name.trim().is_empty()) {
        return Err("`id2label` has a class without a name".to_owned());
    }
    match named.iter().collect::<BTreeSet<_>>().len() == named.len() {
        true => Ok(named),
        false => Err("`id2label` gives two classes the same name".to_owned()),
    }
}
