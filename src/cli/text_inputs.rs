//! Arguments of commands that read texts, and how they become values.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;

use crate::data::fetch::default_cache_dir;
use crate::text::corpus::{TextColumns, TextCorpus, read_texts};
use crate::text::embeddings::{EmbeddingTable, LoadOptions, SHIPPED, shipped};
use crate::text::lexicon::Lexicon;
use crate::text::tokenizer::Tokenizer;

/// File of a model directory with its tokenizer.
const TOKENIZER: &str = "tokenizer.json";

/// A file of texts.
#[derive(Debug, Clone, Args)]
pub(super) struct Texts {
    /// Texts: CSV, TSV or Parquet, or .txt with a text on each line (also .gz, .xz)
    #[arg(long, value_name = "FILE")]
    pub texts: PathBuf,
    /// Column of a table that holds the texts
    #[arg(long, value_name = "NAME")]
    pub text_column: Option<String>,
}

impl Texts {
    /// Reads the texts, without labels.
    pub fn read(&self) -> anyhow::Result<TextCorpus> {
        let columns = TextColumns {
            text: self.text_column.clone(),
            label: None,
        };
        Ok(read_texts(&self.texts, &columns)?)
    }
}

/// The word vectors in the file `name`, or the table that ships, called `shipped`. A cache that cannot lie
/// beside the file lies in the user's cache folder, if there is one.
pub(super) fn embeddings(name: &Path, width: Option<usize>) -> anyhow::Result<EmbeddingTable> {
    if name == Path::new(SHIPPED) && !name.is_file() {
        return Ok(shipped()?);
    }
    let options = LoadOptions {
        width,
        user_cache: default_cache_dir().ok(),
        ..LoadOptions::default()
    };
    Ok(EmbeddingTable::load(name, &options)?)
}

/// The tokenizer in the model directory `model`.
pub(super) fn tokenizer(model: &Path) -> anyhow::Result<Tokenizer> {
    let file = model.join(TOKENIZER);
    let json = std::fs::read(&file).with_context(|| {
        format!(
            "cannot read {}; is it the directory of a text model?",
            file.display()
        )
    })?;
    Ok(Tokenizer::from_json(&json, &file)?)
}

/// The lexicon in `file`, or the one that ships.
pub(super) fn lexicon(file: Option<&PathBuf>) -> anyhow::Result<Lexicon> {
    Ok(match file {
        Some(file) => Lexicon::load(file)?,
        None => Lexicon::shipped(),
    })
}
