//! The specification of an import.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::modality::ModalityName;
use probity_data::schema::OutOfDomain;
use probity_run::specification::{FieldError, Specification};
use probity_text::tokenizer::Splitting;

/// The fields of which one names the words.
const WORDS: &str = "text.vocabulary or text.embeddings";
/// The field that says how texts are split.
pub(super) const TOKENIZER: &str = "text.tokenizer";

/// Everything that determines an import.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ImportSpecification {
    /// What the network classifies.
    #[schemars(extend("x-flag" = false))]
    pub modality: ModalityName,
    /// Weight file: safetensors, PyTorch state dictionary (.pt, .pth) or NumPy .npz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "path"))]
    pub weights: Option<PathBuf>,
    /// TOML that names layers, tensors and activations of a network for tables, or `adf-fnn`, which
    /// is built in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<String>,
    /// Schema file, or the name of a built-in schema, for a network for tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// Missing and outside values, where the schema expects any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-flag" = "outside"))]
    pub out_of_domain: Option<OutOfDomain>,
    /// Answers of the original, which the imported network must give too: a table of texts (`text`,
    /// or what `text.text_column` says) and their classes (`label`: names or numbers) or a column of
    /// probabilities named like each class; or rows by the schema with their classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "path"))]
    pub reference: Option<PathBuf>,
    /// A transformer for texts in a directory of Hugging Face, in place of a weight file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hugging_face: Option<HuggingFaceSpecification>,
    /// A recurrent network for texts: PyTorch's nn.LSTM or nn.GRU and nn.Linear.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<TextImportSpecification>,
}

/// What only imports of transformers have.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct HuggingFaceSpecification {
    /// Directory with config.json, model.safetensors (or pytorch_model.bin) and tokenizer.json of
    /// BERT, DistilBERT, RoBERTa or XLM-RoBERTa: a sequence classifier, or an encoder to train one
    /// on.
    #[schemars(extend("format" = "path", "x-flag" = "hf"))]
    pub directory: PathBuf,
    /// Names of the classes, by number, in place of those of the configuration.
    #[schemars(extend("x-flag" = "hf-classes"))]
    pub classes: Vec<String>,
    /// Pieces of a text that are read, with the marks of beginning and end; as many as tokenizer
    /// and network allow where none are given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65_536), extend("x-flag" = "hf-max-length"))]
    pub max_length: Option<usize>,
}

/// What only imports of networks for texts have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct TextImportSpecification {
    /// Words of the weight file's own embedding table: a line for each row, from row 0, or JSON of
    /// torchtext (a list, or words and their rows) or Keras (`word_index`, `Tokenizer.to_json()`).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "path"))]
    pub vocabulary: Option<PathBuf>,
    /// How texts are split into words: `whitespace`, `whitespace-lower`, `basic-english`
    /// (torchtext), `keras`, `regex:PATTERN`, `regex-lower:PATTERN`, or a word-level
    /// `tokenizer.json` of Hugging Face, which is the vocabulary too; as `probity train` does
    /// unless the vocabulary says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokenizer: Option<String>,
    /// Row of the table that stands for unknown words, from 0: by default that of `<unk>`, `[UNK]`
    /// or `<OOV>`, and the mean of all words where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 4_294_967_295_u32))]
    pub unknown_row: Option<usize>,
    /// Row of the table that pads texts, from 0; by default that of `<pad>` or `[PAD]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 4_294_967_295_u32))]
    pub padding_row: Option<usize>,
    /// Vectors that the network reads if the weight file has no table: GloVe or word2vec text
    /// format, or `shipped`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "path", "x-names" = ["shipped"]))]
    pub embeddings: Option<PathBuf>,
    /// Names of the classes, by number; the second one is that of a single sigmoid. Their numbers
    /// where none are given.
    pub classes: Vec<String>,
    /// Tokens of a text that are read; the rest is cut off.
    #[schemars(range(min = 1, max = 1_048_576))]
    pub max_length: usize,
    /// Tensors of the weight file that are no part of the network, such as those of a loss.
    pub ignore: Vec<String>,
    /// Texts like those of the training, whose word frequencies weight semantic similarity: a text
    /// a line (.txt), or a table.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "path"))]
    pub texts: Option<PathBuf>,
    /// Column of the texts, if they stand in a table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text_column: Option<String>,
}

impl Default for TextImportSpecification {
    fn default() -> TextImportSpecification {
        TextImportSpecification {
            vocabulary: None,
            tokenizer: None,
            unknown_row: None,
            padding_row: None,
            embeddings: None,
            classes: Vec::new(),
            max_length: 200,
            ignore: Vec::new(),
            texts: None,
            text_column: None,
        }
    }
}

impl Specification for ImportSpecification {
    const KIND: &'static str = "import";

    fn rules(&self) -> Result<(), FieldError> {
        let missing = |field| Err(FieldError::new(field, "missing", "given"));
        let given = |field, why| Err(FieldError::new(field, "given", format!("left out: {why}")));
        if let Some(hugging_face) = &self.hugging_face {
            let others = [
                ("weights", self.weights.is_some()),
                ("config", self.config.is_some()),
                ("schema", self.schema.is_some()),
                ("out_of_domain", self.out_of_domain.is_some()),
                ("reference", self.reference.is_some()),
                ("text", self.text.is_some()),
            ];
            let other = others.into_iter().find(|(_, is_given)| *is_given);
            return match (other, self.modality) {
                (Some((field, _)), _) => given(field, "hugging_face is given"),
                (None, ModalityName::Table) => given("hugging_face", "modality is table"),
                (None, ModalityName::Text) if hugging_face.directory.as_os_str().is_empty() => {
                    missing("hugging_face.directory")
                }
                (None, ModalityName::Text) => Ok(()),
            };
        }
        if self.weights.is_none() {
            return missing("weights");
        }
        match (self.modality, &self.text) {
            (ModalityName::Table, Some(_)) => given("text", "modality is table"),
            (ModalityName::Table, None) if self.config.is_none() => missing("config"),
            (ModalityName::Table, None) if self.schema.is_none() => missing("schema"),
            (ModalityName::Table, None) => Ok(()),
            (ModalityName::Text, _) if self.config.is_some() => given("config", "modality is text"),
            (ModalityName::Text, _) if self.schema.is_some() => given("schema", "modality is text"),
            (ModalityName::Text, _) if self.out_of_domain.is_some() => {
                given("out_of_domain", "modality is text")
            }
            (ModalityName::Text, None) => missing(WORDS),
            (ModalityName::Text, Some(text)) => text.rules(self.reference.is_some()),
        }
    }
}

impl TextImportSpecification {
    fn rules(&self, is_referred: bool) -> Result<(), FieldError> {
        let row = match (self.unknown_row, self.padding_row) {
            (Some(_), _) => Some("text.unknown_row"),
            (None, Some(_)) => Some("text.padding_row"),
            (None, None) => None,
        };
        let has_rows = self.vocabulary.is_some() || self.embeddings.is_none();
        match (&self.vocabulary, &self.embeddings) {
            (None, None) if !self.is_tokenizer_file()? => {
                Err(FieldError::new(WORDS, "missing", "given"))
            }
            (Some(_), Some(_)) => {
                let expected = "left out where text.vocabulary is given";
                Err(FieldError::new("text.embeddings", "given", expected))
            }
            _ if let Some(row) = row
                && !has_rows =>
            {
                let expected = "given with text.vocabulary only";
                Err(FieldError::new(row, "given", expected))
            }
            _ if self.text_column.is_some() && self.texts.is_none() && !is_referred => {
                let expected = "given with text.texts or reference only";
                Err(FieldError::new("text.text_column", "given", expected))
            }
            _ => self.splitting().map(|_| ()),
        }
    }

    /// Returns how texts are split, if `tokenizer` is the name of a way to split them.
    pub(super) fn splitting(&self) -> Result<Option<Splitting>, FieldError> {
        let Some(name) = &self.tokenizer else {
            return Ok(None);
        };
        Splitting::named(name).map_err(|error| {
            let expected = format!("a pattern by which texts are split: {error}");
            FieldError::new(TOKENIZER, name, expected)
        })
    }

    /// Whether `tokenizer` names a file.
    fn is_tokenizer_file(&self) -> Result<bool, FieldError> {
        Ok(self.tokenizer.is_some() && self.splitting()?.is_none())
    }
}
