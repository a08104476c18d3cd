//! The export of a transformer as Hugging Face keeps it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::TransformerModel;
use super::hugging_face::MODEL;
use super::names::{Family, Kind};
use super::settings::CONFIG;
use super::settings::TokenizerSettings;
use super::tensors::extents;
use crate::model::{StoreError, save_tensors};
use crate::text_model::TOKENIZER;
use crate::transformer::shape::{InnerActivation, Pooling};
use probity_run::run_directory::write_atomically;

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
    let (kind, prefix) = match (&model.masked, model.is_encoder()) {
        (Some(_), _) => (Kind::Masked, family.prefix()),
        (None, true) => (Kind::Encoder, ""),
        (None, false) => (Kind::Classifier, family.prefix()),
    };
    let mut tensors = Vec::new();
    for (tensor, values) in model.spans() {
        let name = family.tensor(&tensor.name, prefix);
        // Where the bias is tied as well, only this name is read; else the other one is.
        if tensor.name == "masked.decoder.bias"
            && let Some(tied) = family.tied_bias()
        {
            tensors.push((tied.to_owned(), extents(&tensor), values));
        }
        tensors.push((name, extents(&tensor), values));
    }
    let architecture = format!("{}{}", family.class(), kind.suffix());
    let config = config_of(model, &architecture);
    let config = serde_json::to_vec_pretty(&config).map_err(|error| refused(&error.to_string()))?;
    let weights = directory.join(MODEL);
    save_tensors(&weights, &tensors)?;
    let tokenizer = directory.join(TOKENIZER);
    write_atomically(&tokenizer, model.tokenizer.json().as_bytes())?;
    let settings = TokenizerSettings::from_model(model).write(directory)?;
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
    let tied = match &model.masked {
        None => serde_json::json!({}),
        Some(head) => serde_json::json!({ "tie_word_embeddings": head.is_tied }),
    };
    if let Some(config) = config.as_object_mut() {
        for part in [more, labels, tied] {
            config.extend(part.as_object().cloned().unwrap_or_default());
        }
    }
    config
}
