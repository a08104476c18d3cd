//! The vocabulary in which a classifier that is asked by texts is audited.
//!
//! The vocabulary holds every word of the texts and of the lexicon, so that two texts that differ
//! are two rows, and as many of the most frequent words of an embedding table as a trained model
//! keeps, so that words have near neighbours to be replaced by. A word without a vector in the
//! table has the zero vector: it is near to nothing, so that nothing takes its place and it takes
//! no other's.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use crate::audit_error::AuditError;
use crate::opened::{Opened, open_vectors};
use probity_nn::text_reader::TextReader;
use probity_text::embeddings::EmbeddingTable;
use probity_text::frequencies::WordFrequencies;
use probity_text::lexicon::{Lexicon, TermMatcher};
use probity_text::tokenizer::{Token, Tokenizer};
use probity_text::validity::SentenceEmbedder;

/// Number of rows of the table that are kept though no text has the word: published tables begin
/// with the most frequent ones.
const COMMON: usize = 20_000;

/// The reader of `texts`, at most the first `max_length` tokens of each, in the words of the texts,
/// of `lexicon` and of the file `vectors`, or of the word vectors that ship; with the hash of that
/// file.
///
/// # Errors
/// When the file cannot be read, a text cannot be split or the lexicon cannot be used.
pub fn open_reader(
    vectors: Option<&Path>,
    texts: &[String],
    lexicon: &Lexicon,
    max_length: usize,
) -> Result<Opened<Arc<TextReader>>, AuditError> {
    let Opened {
        value: table,
        sha256,
    } = open_vectors(vectors)?;
    let splitter = Tokenizer::new(table.words().iter())?;
    let tokens: Vec<Vec<Token>> = splitter.tokens_of_all(texts)?;
    let mut is_kept = vec![false; table.words().len()];
    is_kept
        .iter_mut()
        .take(COMMON)
        .for_each(|kept| *kept = true);
    // Sorted, so that their numbers do not depend on where they stand.
    let mut others = BTreeSet::new();
    let mut keep = |word: &str| match is_kept.get_mut(splitter.id(word) as usize) {
        Some(kept) => *kept = true,
        None => {
            others.insert(word.to_owned());
        }
    };
    for token in tokens.iter().flatten() {
        keep(&token.text);
    }
    for attribute in lexicon.attributes() {
        let matcher = TermMatcher::new(attribute, &splitter)?;
        matcher.words().iter().for_each(|word| keep(word));
    }
    let known = table.words().iter().zip(&is_kept);
    let known: Vec<&str> = known.filter(|(_, kept)| **kept).map(|(w, _)| w).collect();
    let restricted = table.restricted_to(known.iter().copied());
    let width = table.width();
    let (of_known, unknown) = restricted
        .vectors()
        .split_at(restricted.vectors().len() - width);
    let mut vectors = of_known.to_vec();
    vectors.resize(vectors.len() + others.len() * width, 0.0);
    vectors.extend_from_slice(unknown);
    let words = known.into_iter().chain(others.iter().map(String::as_str));
    let table = EmbeddingTable::with_unknown(words, width, vectors)?;
    let longest = tokens.iter().map(Vec::len).max().unwrap_or(0);
    let spelled = tokens
        .iter()
        .map(|text| text.iter().map(|t| t.text.as_str()));
    let spelled: Vec<Vec<&str>> = spelled.map(Iterator::collect).collect();
    let frequencies = WordFrequencies::from_texts(spelled.iter().map(|text| text.iter().copied()));
    let reader = TextReader {
        max_length: longest.clamp(1, max_length),
        tokenizer: Tokenizer::new(table.words().iter())?,
        sentences: SentenceEmbedder::fit(&spelled, &table, frequencies),
        table,
    };
    let value = Arc::new(reader);
    Ok(Opened { value, sha256 })
}
