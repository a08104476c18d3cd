//! Arguments of commands that read texts, and how they become values.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;

use probity::fairness::opened::open_lexicon;
use probity::nn::text_model::TOKENIZER;
use probity::text::corpus::{TextColumns, TextCorpus, read_texts};
use probity::text::lexicon::Lexicon;
use probity::text::tokenizer::Tokenizer;

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
    Ok(open_lexicon(file.map(PathBuf::as_path))?.value)
}
