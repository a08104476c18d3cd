//! An import of a network for texts: its words, and how texts are split into them.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::error::ImportRunError;
use super::specification::{TOKENIZER, TextImportSpecification};
use crate::import_text::{
    RowWords, TextImportOptions, TextImportReport, Vocabulary, Words, import_text,
};
use crate::text_model::TextModel;
use crate::train::text_set::open_embeddings;
use crate::weights::WeightFile;
use probity_data::read::ReadError;
use probity_data::source::DataFile;
use probity_run::specification::FieldError;
use probity_run::specification::file::Record;
use probity_text::corpus::{TextColumns, read_texts_hashed};
use probity_text::embeddings::SHIPPED;
use probity_text::tokenizer::{ForeignTokenizer, Splitting};

/// The name of the tokenizer whose filters a vocabulary may state.
const KERAS: &str = "keras";

/// Imports the network in `weights` with the words and options that `text` states.
pub(super) fn texts(
    text: &TextImportSpecification,
    (file, weights): (&Path, &WeightFile),
    record: &mut Record,
) -> Result<(TextModel, TextImportReport), ImportRunError> {
    let named = text.splitting()?;
    let foreign = match (&text.tokenizer, &named) {
        (Some(name), None) => Some(foreign(text, Path::new(name), record)?),
        _ => None,
    };
    let (mut own, mut splitting) = (None, None);
    if let Some(foreign) = foreign {
        own = Some(RowWords {
            words: foreign.words,
            unknown_row: foreign.unknown,
            padding_row: foreign.padding,
            is_word_index: false,
        });
        splitting = Some(foreign.splitting);
    }
    let words_of = |words: RowWords| words.with_rows(text.unknown_row, text.padding_row);
    let (words, words_file) = match (&text.vocabulary, &text.embeddings, own) {
        (Some(vocabulary), ..) => {
            let read = Vocabulary::read(vocabulary)?;
            record.sha256.insert("vocabulary".to_owned(), read.sha256);
            if text.tokenizer.as_deref().is_none_or(|name| name == KERAS) {
                splitting = read.value.splitting;
            }
            (Words::Rows(words_of(read.value.words)?), vocabulary.clone())
        }
        (None, None, Some(words)) => {
            let file = text.tokenizer.clone().unwrap_or_default();
            (Words::Rows(words_of(words)?), PathBuf::from(file))
        }
        (None, embeddings, _) => {
            let embeddings = embeddings.clone().unwrap_or_else(|| SHIPPED.into());
            let table = open_embeddings(&embeddings, record)?;
            (Words::Embeddings(table), embeddings)
        }
    };
    let texts = match &text.texts {
        None => Vec::new(),
        Some(texts) => {
            let columns = TextColumns {
                text: text.text_column.clone(),
                label: None,
                label_threshold: None,
                skip_bad_rows: false,
                classes: Vec::new(),
            };
            let read = read_texts_hashed(texts, &columns)?;
            record.sha256.insert("texts".to_owned(), read.sha256);
            read.value.texts
        }
    };
    let options = TextImportOptions {
        splitting: match splitting.or(named) {
            Some(splitting) => splitting,
            None => Splitting::usual()?,
        },
        classes: text.classes.clone(),
        max_length: text.max_length,
        ignored: text.ignore.clone(),
        texts,
    };
    import_text(weights, &words, &options).map_err(|source| ImportRunError::Text {
        weights: file.to_owned(),
        words: words_file,
        source,
    })
}

/// Reads the tokenizer in `file`, which keeps as many tokens of a text as the network reads.
fn foreign(
    text: &TextImportSpecification,
    file: &Path,
    record: &mut Record,
) -> Result<ForeignTokenizer, ImportRunError> {
    if !file.exists() {
        let expected = format!(
            "{}, or a tokenizer.json, which is not there",
            Splitting::NAMES
        );
        return Err(FieldError::new(TOKENIZER, file.display(), expected).into());
    }
    if text.vocabulary.is_some() {
        let expected = "left out where text.tokenizer is a file, which has the words";
        return Err(FieldError::new("text.vocabulary", "given", expected).into());
    }
    let mut opened = DataFile::open(file)?;
    let mut json = Vec::new();
    let read = opened.read_to_end(&mut json);
    read.map_err(|source| ReadError::Io {
        file: file.to_owned(),
        source,
    })?;
    record
        .sha256
        .insert("tokenizer".to_owned(), opened.sha256()?);
    let tokenizer = ForeignTokenizer::from_json(&json, file)?;
    match tokenizer.max_length {
        Some(kept) if kept < text.max_length => {
            let expected = format!("at most {kept}, the tokens that {} keeps", file.display());
            Err(FieldError::new("text.max_length", text.max_length, expected).into())
        }
        _ => Ok(tokenizer),
    }
}
