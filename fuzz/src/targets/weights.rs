//! Weight files of three formats, and their import.

use std::path::{Path, PathBuf};

use probity_nn::import::ImportConfig;
use probity_nn::import_text::{RowWords, TextImportOptions, Vocabulary, Words, import_text};
use probity_nn::weights::{WeightFile, read_weights};
use probity_text::tokenizer::Splitting;

use super::fixtures::{Make, model, schema};
use crate::target::{Execution, Input, Seen, Target, Verdict};

pub const ALL: &[(&str, Make)] = &[
    ("safetensors", safetensors),
    ("npz", npz),
    ("pt", pt),
    ("import-config", import_config),
    ("vocabulary", vocabulary),
];

/// The folder of recorded files of other programs, which Probity never writes.
pub fn recorded(folder: &str) -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data");
    workspace.join(folder)
}

fn recorded_seeds(files: &[&str], name: &str) -> anyhow::Result<Vec<Input>> {
    let read = |file: &&str| {
        Ok(Input::one(
            name,
            std::fs::read(recorded("recurrent").join(file))?,
        ))
    };
    files.iter().map(read).collect()
}

/// Checks a weight file that was read: shapes and values agree, and it becomes a network or not.
fn check(execution: &Execution<'_>) -> Verdict {
    let Ok(file) = read_weights(&execution.file()) else {
        return Ok(Seen::Refused);
    };
    for (name, weight) in &file.tensors {
        let values: u128 = weight.shape.iter().map(|&size| size as u128).product();
        if values != weight.values.len() as u128 {
            return Err(format!("'{name}' has not the values that its shape says"));
        }
    }
    import(&file);
    Ok(Seen::Accepted)
}

/// Reads the weights as `import` reads a file of texts, whatever the file holds.
fn import(file: &WeightFile) {
    let rows = file.tensors.values().map(|weight| weight.shape.first());
    let rows = rows.flatten().copied().max().unwrap_or(0).min(1000);
    let words = Words::Rows(RowWords {
        words: (0..rows).map(|row| format!("w{row}")).collect(),
        ..RowWords::default()
    });
    let Ok(splitting) = Splitting::usual() else {
        return;
    };
    let mut options = TextImportOptions::new(splitting);
    options.max_length = 10;
    let _ = import_text(file, &words, &options);
}

/// A target that reads the words of a table, in each form.
fn vocabulary(_: &Path) -> anyhow::Result<Target> {
    let keras = serde_json::json!({"class_name": "Tokenizer", "config": {
        "num_words": 3, "filters": "!.", "lower": true, "split": " ", "char_level": false,
        "oov_token": "<OOV>", "word_index": "{\"<OOV>\": 1, \"she\": 2, \"is\": 3}",
    }});
    let seeds = vec![
        Input::one("words", "<pad>\n<unk>\nshe\nis\n"),
        Input::one("words", r#"["<pad>", "<unk>", "she", "is"]"#),
        Input::one("words", r#"{"stoi": {"<pad>": 0, "<unk>": 1, "she": 2}}"#),
        Input::one("words", r#"{"<OOV>": 1, "she": 2, "is": 3}"#),
        Input::one("words", keras.to_string()),
    ];
    let check = |execution: &Execution<'_>| {
        let Ok(vocabulary) = Vocabulary::read(&execution.file()) else {
            return Ok(Seen::Refused);
        };
        match vocabulary.value.words.with_rows(None, None) {
            Ok(words)
                if words
                    .unknown_row
                    .is_some_and(|row| row >= words.words.len()) =>
            {
                Err("the unknown row is no row".to_owned())
            }
            Ok(_) => Ok(Seen::Accepted),
            Err(_) => Ok(Seen::Refused),
        }
    };
    let words = &[
        "itos",
        "stoi",
        "num_words",
        "filters",
        "null",
        "1e300",
        "[UNK]",
    ];
    Ok(Target::new("vocabulary", seeds, check).words(words))
}

fn safetensors(folder: &Path) -> anyhow::Result<Target> {
    model()?.save(folder)?;
    let own = std::fs::read(folder.join("weights.safetensors"))?;
    let mut seeds = vec![Input::one("weights", own)];
    seeds.extend(recorded_seeds(
        &["gru.safetensors", "lstm.safetensors"],
        "weights",
    )?);
    let words = &[
        "dtype",
        "F32",
        "F64",
        "I64",
        "BF16",
        "shape",
        "data_offsets",
        "__metadata__",
    ];
    Ok(Target::new("safetensors", seeds, check).words(words))
}

fn npz(_: &Path) -> anyhow::Result<Target> {
    let seeds = recorded_seeds(&["gru.npz"], "weights")?;
    let words = &[
        "descr",
        "<f4",
        ">f8",
        "|O",
        "fortran_order",
        "True",
        "shape",
        "PK\x03\x04",
    ];
    Ok(Target::new("npz", seeds, check)
        .words(words)
        .sealed_by(super::archives::seal))
}

fn pt(_: &Path) -> anyhow::Result<Target> {
    let seeds = recorded_seeds(&["gru.pt", "lstm.pt"], "weights")?;
    let words = &[
        "torch._utils\n_rebuild_tensor_v2\n",
        "torch\nFloatStorage\n",
        "collections\nOrderedDict\n",
        "cpu",
        "data.pkl",
        "data/0",
        "R",
        "t",
        "\u{85}",
    ];
    Ok(Target::new("pt", seeds, check)
        .words(words)
        .memory(1024, 24 << 20)
        .sealed_by(super::archives::seal))
}

/// A target that reads the description of the tensors, with the tensors of a network of the
/// product's own.
fn import_config(folder: &Path) -> anyhow::Result<Target> {
    model()?.save(folder)?;
    let weights = read_weights(&folder.join("weights.safetensors"))?;
    let schema = schema()?;
    let own = "hidden = [4]\nactivation = \"relu\"\noutput = \"softmax\"\n\n[[layout]]\n\
               weight = \"layers.{n}.weight\"\nbias = \"layers.{n}.bias\"\n\
               orientation = \"in-out\"\nnumbers = [0, 1]\n";
    let scaled = format!("{own}\n[standardise]\nmean = [0, 1.5]\ndeviation = [1, 2]\n");
    let seeds = [own, &scaled].map(|text| Input::one("network.toml", text));
    let run = move |execution: &Execution<'_>| {
        let config = ImportConfig::from_toml(&execution.text());
        let Ok(config) = config else {
            return Ok(Seen::Refused);
        };
        Ok(match config.network(&weights, &schema) {
            Ok(_) => Seen::Accepted,
            Err(_) => Seen::Refused,
        })
    };
    let words = &[
        "hidden",
        "layout",
        "numbers",
        "orientation",
        "out-in",
        "sigmoid",
        "{n}",
    ];
    Ok(Target::new("import-config", seeds.into(), run).words(words))
}
