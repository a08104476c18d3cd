//! Directories of Hugging Face: `config.json`, `model.safetensors` and `tokenizer.json`.
//!
//! What is read is what [`Family`] names; anything in a configuration that would make the network
//! another one (relative positions, a decoder, labels of which several may hold) is refused.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::names::Family;
use super::pieces::PieceTokenizer;
use super::settings::TokenizerSettings;
use super::{TransformerModel, is_transformer};
use crate::model::{StoreError, save_tensors};
use crate::text_model::TOKENIZER;
use crate::transformer::shape::{InnerActivation, Pooling, Shape, TransformerWeights};
use crate::weights::{Weight, WeightFile, read_weights_hashed};
use probity_run::pipe::expect_rereadable;
use probity_run::run_directory::{hex, write_atomically};
use sha2::{Digest, Sha256};

/// Names of the files in a directory of Hugging Face.
pub(super) const CONFIG: &str = "config.json";
const MODEL: &str = "model.safetensors";
/// What PyTorch wrote before there was safetensors.
const PYTORCH: &str = "pytorch_model.bin";
/// A configuration longer than this is none.
const MOST_CONFIG: u64 = 1 << 24;

/// What an import found in a directory of Hugging Face.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HuggingFaceReport {
    /// The class of the network, as `architectures` names it.
    pub architecture: String,
    /// Tensors that are parts of the network, with their shapes.
    pub matched: Vec<(String, Vec<usize>)>,
    /// Tensors of the network that the file lacks: those of the head of an encoder.
    pub missing: Vec<String>,
    /// Tensors that are no parts of it.
    pub unused: Vec<String>,
    /// SHA-256 of the files.
    #[serde(skip)]
    pub sha256: BTreeMap<String, String>,
}

/// What a configuration says that matters here. DistilBERT has names of its own for the sizes.
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
}

/// Reads the directory of Hugging Face `directory`: the model, and what was found. `classes` are
/// other names than those of the configuration; `max_length` is a smaller number of pieces than
/// tokenizer and network allow.
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
    let (architecture, family, is_encoder) = config.architecture().map_err(refused)?;
    let shape = config.shape(family, is_encoder).map_err(refused)?;
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
    let (weights, mut report) = find(family, shape, weights.value, &weights_file, architecture)?;
    report.sha256 = sha256;
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
    };
    match model.problem() {
        Some(problem) => Err(refused(problem)),
        None => Ok((model, report)),
    }
}

/// The file in `directory` that holds the weights.
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

/// The bytes of `file`, of at most the length of a configuration or a tokenizer.
pub(super) fn read_file(file: &Path) -> Result<Vec<u8>, StoreError> {
    let failed = |source| StoreError::Read {
        file: file.to_owned(),
        source,
    };
    expect_rereadable(file).map_err(failed)?;
    let length = fs::metadata(file).map_err(failed)?.len();
    match length > MOST_CONFIG * 16 {
        true => Err(StoreError::Description {
            file: file.to_owned(),
            problem: format!("{length} bytes are more than such a file has"),
        }),
        false => fs::read(file).map_err(failed),
    }
}

impl Config {
    fn architecture(&self) -> Result<(String, Family, bool), String> {
        let named = self.architectures.as_deref().unwrap_or_default();
        let [name] = named else {
            return Err(format!(
                "`architectures` names {} networks; expected one of {}",
                named.len(),
                Family::architectures()
            ));
        };
        let (family, is_encoder) = Family::of_architecture(name).ok_or_else(|| {
            format!(
                "`architectures` names {name}; expected one of {}",
                Family::architectures()
            )
        })?;
        match self.model_type.as_deref() {
            Some(kind) if kind != family.model_type() => Err(format!(
                "`model_type` is {kind}, but `architectures` names {name}"
            )),
            _ => Ok((name.clone(), family, is_encoder)),
        }
    }

    fn shape(&self, family: Family, is_encoder: bool) -> Result<Shape, String> {
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
            // DistilBERT has one of its own, whatever the configuration says.
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

    /// How many labels there are; two where nothing says so, as in `transformers`.
    fn labels(&self) -> usize {
        let named = self.id2label.as_ref().map(BTreeMap::len);
        named.or(self.num_labels).unwrap_or(2)
    }

    /// The names of the classes, by number.
    fn classes(&self, shape: &Shape) -> Result<Vec<String>, String> {
        if shape.classes == 1 {
            return Err("the network has one output, a number; expected classes".to_owned());
        }
        match &self.id2label {
            // As `transformers` calls what nobody named.
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

/// The names in `id2label` of `count` classes, by number.
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

/// The parameters of a network of `shape` among `tensors`.
fn find(
    family: Family,
    shape: Shape,
    weights: WeightFile,
    file: &Path,
    architecture: String,
) -> Result<(TransformerWeights, HuggingFaceReport), StoreError> {
    // Checkpoints older than PyTorch 1.0 call gain and bias of a normalisation so.
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
    let mut tensors: BTreeMap<String, Weight> = weights
        .tensors
        .into_iter()
        .map(|(name, weight)| (current(name), weight))
        .collect();
    // An encoder may have been cut out of a classifier, names and all.
    let words = |prefix: &str| family.tensor("embeddings.words", prefix);
    let prefix = match tensors.contains_key(&words("")) {
        true => "",
        false => family.prefix(),
    };
    let mut values = Vec::new();
    let mut report = HuggingFaceReport {
        architecture,
        matched: Vec::new(),
        missing: Vec::new(),
        unused: Vec::new(),
        sha256: BTreeMap::new(),
    };
    for tensor in shape.tensors() {
        if tensor.range.is_empty() {
            continue;
        }
        let name = family.tensor(&tensor.name, prefix);
        let expected = match tensor.columns {
            1 => vec![tensor.rows],
            columns => vec![tensor.rows, columns],
        };
        let refused = |problem: String| StoreError::Tensor {
            file: file.to_owned(),
            tensor: name.clone(),
            problem,
        };
        match tensors.remove(&name) {
            None => return Err(refused("is missing".to_owned())),
            Some(_) if integers.contains(&name) => {
                let problem = "holds whole numbers, as quantised weights are; only floating-point \
                               numbers are supported";
                return Err(refused(problem.to_owned()));
            }
            Some(weight) if weight.shape != expected => {
                let shape = weight.shape;
                let problem = format!("has shape {shape:?}, but {CONFIG} says {expected:?}");
                return Err(refused(problem));
            }
            Some(weight) => values.extend(weight.values),
        }
        report.matched.push((name, expected));
    }
    if shape.classes == 0 {
        report.missing = vec!["classifier.weight".to_owned(), "classifier.bias".to_owned()];
    }
    report.unused = tensors.into_keys().collect();
    Ok((TransformerWeights { shape, values }, report))
}

/// Writes `model` into `directory` as Hugging Face keeps it.
///
/// # Errors
/// When no class of Hugging Face is such a network, or a file cannot be written.
pub fn export(model: &TransformerModel, directory: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let (shape, family) = (&model.weights.shape, model.family);
    let file = directory.join(CONFIG);
    let refused = |problem: &str| StoreError::Description {
        file: file.clone(),
        problem: problem.to_owned(),
    };
    if !model.is_encoder() && (shape.pooling, shape.head) != (Pooling::First, Some(family.head())) {
        return Err(refused(
            "not written: the head reads the mean of the last states, which no class of Hugging \
             Face does; only networks with the head of their family can be written so",
        ));
    }
    let (architecture, prefix) = match model.is_encoder() {
        true => ("Model", ""),
        false => ("ForSequenceClassification", family.prefix()),
    };
    let tensors = shape.tensors().into_iter();
    let tensors = tensors
        .filter(|tensor| !tensor.range.is_empty())
        .map(|tensor| {
            let extents = match tensor.columns {
                1 => vec![tensor.rows],
                columns => vec![tensor.rows, columns],
            };
            let values = &model.weights.values[tensor.range];
            (family.tensor(&tensor.name, prefix), extents, values)
        });
    let architecture = format!("{}{architecture}", family.class());
    let config = config_of(model, &architecture);
    let config = serde_json::to_vec_pretty(&config).map_err(|error| refused(&error.to_string()))?;
    let weights = directory.join(MODEL);
    save_tensors(&weights, &tensors.collect::<Vec<_>>())?;
    let tokenizer = directory.join(TOKENIZER);
    write_atomically(&tokenizer, model.tokenizer.json().as_bytes())?;
    let settings = TokenizerSettings::of(model).write(directory)?;
    write_atomically(&file, &config)?;
    Ok(vec![file, tokenizer, settings, weights])
}

fn config_of(model: &TransformerModel, architecture: &str) -> serde_json::Value {
    let (shape, family) = (&model.weights.shape, model.family);
    let distilled = family == Family::Distilbert;
    let name = |own: &'static str, distilled_name: &'static str| match distilled {
        true => distilled_name,
        false => own,
    };
    let activation = match shape.activation {
        InnerActivation::Gelu => "gelu",
        InnerActivation::GeluTanh => "gelu_new",
        InnerActivation::Relu => "relu",
    };
    let mut config = serde_json::json!({
        "architectures": [architecture],
        "model_type": family.model_type(),
        "torch_dtype": "float32",
        "vocab_size": shape.vocabulary,
        "max_position_embeddings": shape.positions,
        name("hidden_size", "dim"): shape.units,
        name("num_hidden_layers", "n_layers"): shape.layers,
        name("num_attention_heads", "n_heads"): shape.heads,
        name("intermediate_size", "hidden_dim"): shape.inner,
        name("hidden_act", "activation"): activation,
        "pad_token_id": family.padding(shape),
    });
    let classes = model.classes.iter().enumerate();
    let more = match distilled {
        true => serde_json::json!({}),
        false => serde_json::json!({
            "type_vocab_size": shape.segments,
            "layer_norm_eps": shape.epsilon,
        }),
    };
    let labels = match model.is_encoder() {
        true => serde_json::json!({}),
        false => serde_json::json!({
            "id2label": classes.clone().map(|(number, name)| (number.to_string(), name.clone()))
                .collect::<BTreeMap<_, _>>(),
            "label2id": classes.map(|(number, name)| (name.clone(), number))
                .collect::<BTreeMap<_, _>>(),
        }),
    };
    if let Some(config) = config.as_object_mut() {
        for part in [more, labels] {
            config.extend(part.as_object().cloned().unwrap_or_default());
        }
    }
    config
}
