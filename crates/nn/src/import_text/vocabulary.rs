//! The forms in which the words of an embedding table come. The content tells them apart:
//!
//! | content | rows |
//! |---------|------|
//! | anything that is no JSON list or object | line i, from 0, is the word of row i |
//! | a JSON list of words, or an object with such a list as `itos` (torchtext) | word i is that of row i |
//! | a JSON object of words and numbers from 0, or an object with such a one as `stoi` (torchtext) | numbers are rows |
//! | a JSON object of words and numbers from 1 (Keras' `word_index`) | numbers are rows, and row 0 is padding |
//! | what Keras' `Tokenizer.to_json()` writes | the same below its `num_words`; it also says which word stands for unknown ones and how texts are split |

use std::io::{BufReader, Read};
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::row_words::{RowWords, RowWordsError};
use probity_data::compressed;
use probity_data::read::ReadError;
use probity_data::source::{DataFile, Hashed};
use probity_text::tokenizer::Splitting;

/// The content of a vocabulary file.
#[derive(Debug, Clone)]
pub struct Vocabulary {
    /// The words of the rows of the table.
    pub words: RowWords,
    /// The way in which texts are split, if the file states it.
    pub splitting: Option<Splitting>,
}

/// The `config` of a Keras tokenizer.
#[derive(Deserialize)]
struct KerasConfig {
    num_words: Option<usize>,
    filters: String,
    lower: bool,
    split: String,
    char_level: bool,
    oov_token: Option<String>,
    /// The words and their numbers, as JSON within JSON.
    word_index: String,
}

impl Vocabulary {
    /// Reads a vocabulary, which may be compressed (gzip, xz), with the file's hash.
    ///
    /// # Errors
    /// When the file cannot be read, is not UTF-8, or is JSON of another form.
    pub fn read(file: &Path) -> Result<Hashed<Vocabulary>, RowWordsError> {
        let opened = DataFile::open(file)?;
        let mut bytes = Vec::new();
        compressed::decompress(BufReader::new(opened.clone()))
            .and_then(|mut input| input.read_to_end(&mut bytes))
            .map_err(|source| ReadError::Io {
                file: file.to_owned(),
                source,
            })?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            RowWordsError::Encoding {
                file: file.to_owned(),
                line: 1 + valid.iter().filter(|&&byte| byte == b'\n').count(),
            }
        })?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let vocabulary = parsed(text).map_err(|problem| RowWordsError::Form {
            file: file.to_owned(),
            problem,
        })?;
        Ok(opened.hashed(vocabulary)?)
    }
}

fn parsed(text: &str) -> Result<Vocabulary, String> {
    let words = match json(text)? {
        None => listed(text.lines().map(str::to_owned).collect()),
        Some(Value::Array(words)) => list(&words)?,
        Some(Value::Object(object)) => {
            let is_keras = object.get("class_name").and_then(Value::as_str) == Some("Tokenizer");
            match (object.get("config"), object.get("itos"), object.get("stoi")) {
                (Some(config), ..) if is_keras => return keras(config),
                (_, Some(Value::Array(words)), _) => list(words)?,
                (.., Some(Value::Object(words))) => numbered(words)?,
                _ => numbered(&object)?,
            }
        }
        Some(_) => return Err("it is JSON of another form".to_owned()),
    };
    Ok(Vocabulary {
        words,
        splitting: None,
    })
}

/// Reads `text` as a list or object of JSON, if it is one: `[PAD]` may be the first word of lines.
fn json(text: &str) -> Result<Option<Value>, String> {
    let begin = text.trim_start();
    let Some(rest) = begin.strip_prefix(['{', '[']) else {
        return Ok(None);
    };
    match serde_json::from_str(text) {
        Ok(value) => Ok(Some(value)),
        Err(error) if rest.trim_start().starts_with('"') => {
            Err(format!("it begins like JSON, but {error}"))
        }
        Err(_) => Ok(None),
    }
}

fn listed(words: Vec<String>) -> RowWords {
    RowWords {
        words,
        ..RowWords::default()
    }
}

fn list(words: &[Value]) -> Result<RowWords, String> {
    let word = |(row, word): (usize, &Value)| match word {
        Value::String(word) => Ok(word.clone()),
        other => Err(format!(
            "number {row} of its list, from 0, is {other}, no word"
        )),
    };
    let words: Result<Vec<String>, String> = words.iter().enumerate().map(word).collect();
    Ok(listed(words?))
}

/// Orders words by their numbers, which run from 0 or from 1.
fn numbered(object: &Map<String, Value>) -> Result<RowWords, String> {
    let mut numbers = Vec::with_capacity(object.len());
    for (word, number) in object {
        match number.as_u64() {
            Some(number) => numbers.push((number, word)),
            None => return Err(format!("'{word}' has {number} in place of a row's number")),
        }
    }
    numbers.sort_unstable();
    let first = numbers.first().map_or(0, |(number, _)| *number);
    if first > 1 {
        return Err(format!("its numbers begin at {first}, not at 0 or 1"));
    }
    let is_word_index = first == 1;
    let mut words = vec![String::new(); usize::from(is_word_index)];
    let mut last = "";
    for (number, word) in numbers {
        let next = words.len() as u64;
        if number < next {
            return Err(format!(
                "'{last}' and '{word}' both have the number {number}"
            ));
        }
        if number > next {
            return Err(format!(
                "no word has the number {next}, but '{word}' has {number}"
            ));
        }
        last = word;
        words.push(word.clone());
    }
    Ok(RowWords {
        words,
        unknown_row: None,
        padding_row: is_word_index.then_some(0),
        is_word_index,
    })
}

fn keras(config: &Value) -> Result<Vocabulary, String> {
    let unfit = |error: serde_json::Error| format!("it is no Keras tokenizer: {error}");
    let config = KerasConfig::deserialize(config).map_err(unfit)?;
    if config.char_level {
        return Err("its tokens are characters (char_level), not words".to_owned());
    }
    let mut split = config.split.chars();
    let (Some(split), None) = (split.next(), split.next()) else {
        let split = config.split;
        return Err(format!(
            "it splits at '{split}', which is not one character"
        ));
    };
    let word_index = serde_json::from_str(&config.word_index).map_err(unfit)?;
    let mut words = numbered(&word_index)?;
    if !words.is_word_index {
        return Err("the numbers of its word_index do not begin at 1".to_owned());
    }
    words.words.truncate(config.num_words.unwrap_or(usize::MAX));
    let unknown = |oov: String| words.words.iter().position(|word| *word == oov);
    words.unknown_row = config.oov_token.and_then(unknown);
    let splitting = Splitting::keras(&config.filters, config.lower, split);
    Ok(Vocabulary {
        words,
        splitting: Some(splitting.map_err(|error| error.to_string())?),
    })
}

#[cfg(test)]
mod tests;
