//! The settings in `tokenizer_config.json`, which `transformers` reads beside `tokenizer.json`.
//!
//! How many pieces of a text are read and which side is cut come from this file. It may also
//! contradict `tokenizer.json` on how texts are split, and then `transformers` goes by it and
//! changes the tokenizer that it has read: such a directory is refused, as its texts would be split
//! in two ways. The settings that are written name no class of tokenizer of their own, so that
//! nothing is guessed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokenizers::TruncationDirection;

use super::{Family, TransformerModel};
use crate::model::StoreError;
use probity_run::pipe::expect_rereadable;
use probity_run::run_directory::{hex, write_atomically};

/// The name of the file.
const SETTINGS: &str = "tokenizer_config.json";
/// The limit from which on a number of pieces is one that nobody set: `transformers` writes 10³⁰.
const NO_LIMIT: f64 = 1e9;

/// The name of the configuration in a directory of Hugging Face.
pub(super) const CONFIG: &str = "config.json";
/// The most bytes of a configuration.
const MOST_CONFIG: u64 = 1 << 24;

/// The settings of `tokenizer_config.json` that matter here.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TokenizerSettings {
    /// Whether the file is there: a setting that it leaves out then has a default of
    /// `transformers`.
    #[serde(skip)]
    is_there: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokenizer_class: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model_max_length: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    truncation_side: Option<TruncationSide>,
    #[serde(skip_serializing_if = "Option::is_none")]
    do_lower_case: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    strip_accents: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokenize_chinese_chars: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    add_prefix_space: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    split_special_tokens: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unk_token: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cls_token: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sep_token: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_special_tokens: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_special_tokens: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    added_tokens_decoder: Option<BTreeMap<String, AddedToken>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pad_token: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mask_token: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model_input_names: Option<Vec<String>>,
}

/// A piece that is looked for before a text is split.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct AddedToken {
    content: String,
}

/// The side on which a text is cut that is too long.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TruncationSide {
    /// The beginning of the text.
    Left,
    /// The end of the text.
    #[default]
    Right,
}

impl From<TruncationSide> for TruncationDirection {
    fn from(side: TruncationSide) -> TruncationDirection {
        match side {
            TruncationSide::Left => TruncationDirection::Left,
            TruncationSide::Right => TruncationDirection::Right,
        }
    }
}

impl From<TruncationDirection> for TruncationSide {
    fn from(side: TruncationDirection) -> TruncationSide {
        match side {
            TruncationDirection::Left => TruncationSide::Left,
            TruncationDirection::Right => TruncationSide::Right,
        }
    }
}

/// The parts of `tokenizer.json` that `tokenizer_config.json` may contradict.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Parts {
    normalizer: Option<Part>,
    pre_tokenizer: Option<Part>,
    model: Option<Part>,
    #[serde(default)]
    added_tokens: Vec<AddedToken>,
    /// The part that puts the marks of beginning and end around a text, as it is written.
    post_processor: Option<serde_json::Value>,
}

#[derive(Debug, Default, Deserialize)]
struct Part {
    #[serde(rename = "type")]
    kind: Option<String>,
    lowercase: Option<bool>,
    strip_accents: Option<bool>,
    handle_chinese_chars: Option<bool>,
    add_prefix_space: Option<bool>,
    dropout: Option<f64>,
    unk_token: Option<String>,
    unk_id: Option<u32>,
}

impl Parts {
    /// Returns the piece that stands for what is no piece, by its number or as it is written.
    pub(super) fn unknown(&self) -> (Option<u32>, Option<&str>) {
        let model = self.model.as_ref();
        let written = model.and_then(|model| model.unk_token.as_deref());
        (model.and_then(|model| model.unk_id), written)
    }

    /// Refuses pieces that are drawn at random, as in training.
    pub(super) fn expect_same_each_time(&self) -> Result<(), String> {
        let model = self.model.as_ref();
        match model.and_then(|model| model.dropout).unwrap_or(0.0) {
            0.0 => Ok(()),
            dropout => Err(format!(
                "its model has a dropout of {dropout}: the same text would be split in other ways \
                 each time"
            )),
        }
    }
}

impl TokenizerSettings {
    /// Reads the settings in `directory`; empty ones without the file, whose hash goes into
    /// `sha256`.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(super) fn read(
        directory: &Path,
        sha256: &mut BTreeMap<String, String>,
    ) -> Result<TokenizerSettings, StoreError> {
        let file = directory.join(SETTINGS);
        if !file.exists() {
            return Ok(TokenizerSettings::default());
        }
        let bytes = read_file(&file)?;
        sha256.insert("tokenizer_config".to_owned(), hex(&Sha256::digest(&bytes)));
        let read = serde_json::from_slice(&bytes);
        let mut settings: TokenizerSettings = read.map_err(|error| StoreError::Description {
            file,
            problem: format!("not the settings of a tokenizer: {error}"),
        })?;
        settings.is_there = true;
        Ok(settings)
    }

    /// Returns settings that only say that long texts are cut on `side`.
    pub(super) fn cut(side: TruncationSide) -> TokenizerSettings {
        TokenizerSettings {
            truncation_side: Some(side),
            ..TokenizerSettings::default()
        }
    }

    /// Reads the settings beside the `tokenizer.json` in `file`; empty ones without them.
    ///
    /// # Errors
    /// When the settings cannot be read.
    pub fn beside(file: &Path) -> Result<TokenizerSettings, StoreError> {
        let directory = file.parent().unwrap_or(Path::new("."));
        TokenizerSettings::read(directory, &mut BTreeMap::new())
    }

    /// Returns the settings with which `transformers` reads texts as `model` does.
    pub(super) fn from_model(model: &TransformerModel) -> TokenizerSettings {
        let padding = model.family.padding(&model.weights.shape);
        let mut inputs = vec!["input_ids".to_owned(), "attention_mask".to_owned()];
        if model.family == Family::Bert {
            inputs.insert(1, "token_type_ids".to_owned());
        }
        TokenizerSettings {
            tokenizer_class: Some("PreTrainedTokenizerFast".to_owned()),
            model_max_length: Some(model.max_length as f64),
            truncation_side: Some(model.tokenizer.truncation_side()),
            pad_token: model.tokenizer.piece(padding).map(Into::into),
            mask_token: model
                .masked
                .as_ref()
                .and_then(|head| model.tokenizer.piece(usize::try_from(head.mask).ok()?))
                .map(Into::into),
            model_input_names: Some(inputs),
            ..TokenizerSettings::default()
        }
    }

    /// Writes the file into `directory`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(super) fn write(&self, directory: &Path) -> Result<PathBuf, StoreError> {
        let file = directory.join(SETTINGS);
        let json = serde_json::to_value(self).and_then(|mut value| {
            // A whole number, as `transformers` expects.
            if let Some(most) = self.most_pieces() {
                value["model_max_length"] = most.into();
            }
            serde_json::to_vec_pretty(&value)
        });
        let json = json.map_err(|error| StoreError::Description {
            file: file.clone(),
            problem: error.to_string(),
        })?;
        write_atomically(&file, &json)?;
        Ok(file)
    }

    /// Returns the number of pieces of a text that are read, where the file limits them.
    pub fn most_pieces(&self) -> Option<usize> {
        let most = self.model_max_length?;
        (1.0..NO_LIMIT).contains(&most).then_some(most as usize)
    }

    /// Returns the side that a long text is cut on, where the file says so.
    pub(super) fn truncation_side(&self) -> Option<TruncationSide> {
        self.truncation_side
    }

    /// Returns the piece that masks another, where the file names it: as it is written, or with
    /// what it takes of the blanks around it.
    pub(super) fn mask(&self) -> Option<&str> {
        content(self.mask_token.as_ref()?)
    }

    /// Whether `transformers` takes capitals away: where nothing is said, its tokenizers of BERT do.
    fn takes_capitals_away(&self) -> Option<bool> {
        let class = self.tokenizer_class.as_deref().unwrap_or("Bert");
        let is_bert =
            class.contains("Bert") && !class.contains("oBert") && !class.contains("oBERT");
        self.do_lower_case
            .or((self.is_there && is_bert).then_some(true))
    }

    /// Refuses pieces that are called otherwise than in `parts`, or are not there.
    fn expect_same_pieces(&self, parts: &Parts) -> Result<(), String> {
        let refused = |what: String| {
            Err(format!(
                "{SETTINGS} has {what}, and this file has not: transformers would split texts \
                 otherwise than it says; save the tokenizer anew"
            ))
        };
        let around = parts
            .post_processor
            .as_ref()
            .map(|around| around.to_string());
        for (name, piece) in [
            ("cls_token", &self.cls_token),
            ("sep_token", &self.sep_token),
        ] {
            if let (Some(piece), Some(around)) = (piece.as_ref().and_then(content), &around)
                && !around.contains(&serde_json::Value::from(piece).to_string())
            {
                return refused(format!("`{name}` {piece}"));
            }
        }
        let unknown = self.unk_token.as_ref().and_then(content);
        if let (Some(piece), (_, Some(own))) = (unknown, parts.unknown())
            && piece != own
        {
            return refused(format!("`unk_token` {piece}"));
        }
        let extra = [&self.additional_special_tokens, &self.extra_special_tokens];
        let extra = extra.into_iter().flatten().flat_map(|pieces| match pieces {
            serde_json::Value::Array(pieces) => pieces.iter().filter_map(content).collect(),
            serde_json::Value::Object(pieces) => pieces.values().filter_map(content).collect(),
            _ => Vec::new(),
        });
        let added = self.added_tokens_decoder.iter().flat_map(BTreeMap::values);
        let added = added.map(|piece| piece.content.as_str());
        let is_there = |piece: &str| parts.added_tokens.iter().any(|own| own.content == piece);
        match extra.chain(added).find(|piece| !is_there(piece)) {
            Some(piece) => refused(format!("a piece of its own, {piece}")),
            None if self.split_special_tokens == Some(true) => {
                refused("`split_special_tokens`".to_owned())
            }
            None => Ok(()),
        }
    }

    /// Refuses settings that make `transformers` split texts otherwise than `parts` say.
    pub(super) fn expect_same(&self, parts: &Parts) -> Result<(), String> {
        let of = |part: &Option<Part>, kind: &str, field: fn(&Part) -> Option<bool>| {
            let part = part.as_ref()?;
            (part.kind.as_deref() == Some(kind)).then(|| field(part))
        };
        let bert = |field| of(&parts.normalizer, "BertNormalizer", field);
        // Where nothing is said, accents go with the capitals.
        let is_accents_kept = |part: &Part| part.strip_accents.or(part.lowercase);
        let bytes = of(&parts.pre_tokenizer, "ByteLevel", |part| {
            part.add_prefix_space
        });
        let said = [
            (
                "do_lower_case",
                self.takes_capitals_away(),
                bert(|part| part.lowercase),
            ),
            ("strip_accents", self.strip_accents, bert(is_accents_kept)),
            (
                "tokenize_chinese_chars",
                self.tokenize_chinese_chars,
                bert(|part| part.handle_chinese_chars),
            ),
            ("add_prefix_space", self.add_prefix_space, bytes),
        ];
        for (name, setting, own) in said {
            if let (Some(setting), Some(own)) = (setting, own)
                && own != Some(setting)
            {
                return Err(format!(
                    "{SETTINGS} has `{name}` {setting}, and this file says otherwise: transformers \
                     would split texts otherwise than it says; save the tokenizer anew"
                ));
            }
        }
        self.expect_same_pieces(parts)
    }
}

/// Returns a piece as it is written: alone, or with what it takes of the blanks around it.
fn content(piece: &serde_json::Value) -> Option<&str> {
    piece.as_str().or_else(|| piece.get("content")?.as_str())
}

/// Reads the bytes of `file`, of at most the length of a configuration or a tokenizer.
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
