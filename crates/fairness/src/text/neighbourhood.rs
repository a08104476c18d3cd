//! What may replace what: the nearest words of a model's vocabulary, cached beside the model.
//!
//! The cache holds, for every word that may be replaced, more neighbours than asked for, without
//! regard to what is protected. Leaving the protected ones out of a sorted list of the nearest
//! leaves a sorted list of the nearest others, so the first ones that remain are exact; where too
//! few remain, that word's neighbours are found anew.

use std::path::Path;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::strategy::Candidates;
use probity_nn::text_reader::TextReader;
use probity_run::sealed::{Form, read_value, write_value};
use probity_tensor::device::ComputeDevice;
use probity_tensor::nearest::cosine::{NearestOptions, Neighbours, nearest};
use probity_text::tokenizer::TokenizerError;

/// Name of the cache in a model directory.
pub const NEIGHBOURS: &str = "neighbours.bin";

/// Neighbours that are kept beyond those asked for, to make up for protected ones.
const SPARE: usize = 22;

/// What the cache is sealed as.
const FORM: Form = Form {
    kind: "neighbours",
    version: "2",
};

#[derive(Serialize, Deserialize)]
struct Cache {
    /// What the neighbours belong to: vectors, words that may be replaced, neighbours a word.
    key: u128,
    neighbours: Neighbours,
}

/// For each word of `model`'s vocabulary its `count` nearest other words that may replace it: none
/// of them `is_protected`, all of them words with a letter or digit that the tokenizer leaves
/// whole. Other tokens have no candidates and are none: a full stop has no synonym.
///
/// The neighbours come from the cache in the model's `directory`, where it has one, which is made
/// where it can be written.
///
/// # Errors
/// When the tokenizer cannot split a word.
pub fn candidates(
    reader: &TextReader,
    directory: Option<&Path>,
    is_protected: &(dyn Fn(i32) -> bool + Sync),
    count: usize,
    device: &ComputeDevice,
) -> Result<Candidates, TokenizerError> {
    let is_word = replaceable_words(reader)?;
    let queries: Vec<u32> = (0u32..)
        .zip(&is_word)
        .filter(|(_, is)| **is)
        .map(|(id, _)| id)
        .collect();
    let cached = cached_neighbours(reader, directory, &is_word, &queries, count + SPARE, device);
    let is_allowed = |id: u32| is_word[id as usize] && !is_protected(id as i32);
    let mut lists = vec![Vec::new(); is_word.len()];
    let mut short = Vec::new();
    for (place, &query) in queries.iter().enumerate() {
        let all = cached.of(place);
        let allowed = all.iter().copied().filter(|&id| is_allowed(id));
        let list: Vec<i32> = allowed.take(count).map(|id| id as i32).collect();
        if list.len() < count && all.len() == count + SPARE {
            short.push(query);
        }
        lists[query as usize] = list;
    }
    if !short.is_empty() {
        let excluded: Vec<bool> = (0..is_word.len() as u32)
            .map(|id| !is_allowed(id))
            .collect();
        let options = NearestOptions {
            k: count,
            excluded: &excluded,
        };
        let found = nearest(
            reader.table.vectors(),
            reader.dimension(),
            &short,
            options,
            device,
        );
        for (place, &query) in short.iter().enumerate() {
            lists[query as usize] = found.of(place).iter().map(|&id| id as i32).collect();
        }
    }
    Ok(Candidates::new(lists))
}

fn cached_neighbours(
    reader: &TextReader,
    directory: Option<&Path>,
    is_word: &[bool],
    queries: &[u32],
    count: usize,
    device: &ComputeDevice,
) -> Neighbours {
    let file = directory.map(|directory| directory.join(NEIGHBOURS));
    let key = cache_key(reader.table.vectors(), queries, count);
    let cached = file
        .as_ref()
        .and_then(|file| read_value::<Cache>(file, FORM).ok());
    if let Some(cache) = cached
        && cache.key == key
        && cache.neighbours.fit(queries.len(), count, is_word.len())
    {
        return cache.neighbours;
    }
    let excluded: Vec<bool> = is_word.iter().map(|is_word| !is_word).collect();
    let options = NearestOptions {
        k: count,
        excluded: &excluded,
    };
    let neighbours = nearest(
        reader.table.vectors(),
        reader.dimension(),
        queries,
        options,
        device,
    );
    let cache = Cache { key, neighbours };
    if let Some(file) = file {
        // A model in a place that cannot be written has no cache; the result is the same.
        let _ = write_value(&file, FORM, &cache);
    }
    cache.neighbours
}

fn cache_key(vectors: &[f32], queries: &[u32], count: usize) -> u128 {
    let mut bytes: Vec<u8> = vectors
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    bytes.extend(queries.iter().flat_map(|id| id.to_le_bytes()));
    bytes.extend((count as u64).to_le_bytes());
    xxhash_rust::xxh3::xxh3_128(&bytes)
}

/// Which rows of the table may be replaced and replace: words with a letter or digit that the
/// tokenizer leaves whole. The last row, the unknown word, is none.
fn replaceable_words(reader: &TextReader) -> Result<Vec<bool>, TokenizerError> {
    let mut is_word: Vec<bool> = (0..reader.tokenizer.unknown())
        .into_par_iter()
        .map(|id| {
            let word = reader.word(id as i32);
            if !word.contains(char::is_alphanumeric) {
                return Ok(false);
            }
            let tokens = reader.tokenizer.tokens(word)?;
            Ok(matches!(tokens.as_slice(), [token] if token.id == id))
        })
        .collect::<Result<_, TokenizerError>>()?;
    is_word.push(false);
    Ok(is_word)
}
