//! Transformers: directories of Hugging Face, and ONNX graphs of texts with what lies beside them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use probity_nn::text_classifier::{DifferentiableTexts, TextClassifier};
use probity_nn::transformer_model::{
    MaskedLanguageModel, TransformerModel, TransformerNetwork, import,
};
use probity_predictor::source::PredictorSource;
use probity_predictor::texts::{TextGraph, TextPredictorOptions};

use super::fixtures::Make;
use crate::target::{Execution, Input, Seen, Target, Verdict};

pub const ALL: &[(&str, Make)] = &[("hugging-face", hugging_face), ("onnx-texts", onnx_texts)];

const TEXTS: [&str; 3] = ["The old woman writes, you see?", "", "a\u{0}\n\u{1f600}b"];

const WORDS: &[&str] = &[
    "architectures",
    "BertModel",
    "RobertaForSequenceClassification",
    "id2label",
    "max_position_embeddings",
    "num_attention_heads",
    "pad_token_id",
    "type_vocab_size",
    "vocab_size",
    "truncation",
    "max_length",
    "post_processor",
    "TemplateProcessing",
    "pre_tokenizer",
    "normalizer",
    "added_tokens",
    "data_offsets",
    "F16",
    "null",
    "-1",
    "4294967296",
];

/// Reads `files` of a model that scripts/make-transformers.py has made.
fn made(model: &str, files: &[&str]) -> anyhow::Result<Input> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/transformers");
    let read = |file: &&str| {
        let bytes = std::fs::read(folder.join(model).join(file))?;
        Ok(((*file).to_owned(), bytes))
    };
    let files = files.iter().map(read).collect::<anyhow::Result<_>>()?;
    Ok(Input { files })
}

/// A target that imports models of Hugging Face: an imported model can be saved, read again, and
/// asked.
fn hugging_face(_: &Path) -> anyhow::Result<Target> {
    let files = ["config.json", "tokenizer.json", "model.safetensors"];
    let models = [
        "bert",
        "distilbert",
        "roberta",
        "xlm-roberta",
        "encoder",
        "bert-masked",
        "roberta-masked",
    ];
    let seeds = models.iter().map(|model| made(model, &files));
    let seeds = seeds.collect::<anyhow::Result<Vec<_>>>()?;
    let check = |execution: &Execution<'_>| -> Verdict {
        let Ok((model, _)) = import(execution.folder, &[], None) else {
            return Ok(Seen::Refused);
        };
        let place = execution.folder.join("saved");
        std::fs::create_dir_all(&place).map_err(|error| error.to_string())?;
        model.save(&place).map_err(|error| error.to_string())?;
        let again = TransformerModel::load(&place).map_err(|error| format!("saved: {error}"))?;
        if again.sha256() != model.sha256() {
            return Err("it is another model once saved".to_owned());
        }
        if let Ok(masked) = MaskedLanguageModel::new(model.clone()) {
            for text in TEXTS {
                let word = 0..text.find(' ').unwrap_or(text.len());
                let Ok(answers) = masked.log_probabilities(&[(text, word)]) else {
                    continue;
                };
                if answers.len() != 1 || answers.iter().flatten().any(|answer| *answer > 1e-3) {
                    return Err("a word is more than certain".to_owned());
                }
            }
        }
        let Ok(network) = TransformerNetwork::new(model) else {
            return Ok(Seen::Accepted);
        };
        for text in TEXTS {
            let Ok(logits) = network.logits(&[text]) else {
                continue;
            };
            if logits.len() != network.classes() || logits.iter().any(|logit| !logit.is_finite()) {
                return Err("an answer is not finite, or none".to_owned());
            }
            let word = 0..text.find(' ').unwrap_or(text.len());
            let _ = network.word_gradients(&[(text, &[word])], &logits);
        }
        Ok(Seen::Accepted)
    };
    Ok(Target::new("hugging-face", seeds, check)
        .words(WORDS)
        .memory(1024, 64 << 20))
}

/// A target that reads an ONNX graph with its tokenizer and its configuration: the model gives the
/// same answers again, or an error.
fn onnx_texts(_: &Path) -> anyhow::Result<Target> {
    let seeds = ["bert", "distilbert", "roberta"].iter().map(|model| {
        let files = ["model.onnx", "tokenizer.json", "config.json"];
        made(model, &files)
    });
    let seeds = seeds.collect::<anyhow::Result<Vec<_>>>()?;
    let check = |execution: &Execution<'_>| -> Verdict {
        let options = TextPredictorOptions {
            source: PredictorSource::Onnx("model.onnx".into()),
            directory: PathBuf::from(execution.folder),
            timeout: Duration::from_secs(1),
            texts: 16,
            classes: None,
            concurrency: 1,
            rate: None,
            retries: 0,
            votes: 1,
            tolerance: 0.0,
            probabilities: Default::default(),
            graph: TextGraph::default(),
        };
        let Ok(opened) = options.open() else {
            return Ok(Seen::Refused);
        };
        match opened.check_stability(&TEXTS) {
            Ok(0.0) => Ok(Seen::Accepted),
            Ok(apart) => Err(format!("answers to one text are {apart} apart")),
            Err(_) => Ok(Seen::Refused),
        }
    };
    Ok(Target::new("onnx-texts", seeds, check)
        .words(WORDS)
        .memory(1024, 64 << 20))
}
