//! The words that may replace a word: the nearest words of a model's vocabulary, cached beside the
//! model.
//!
//! Near words are those with a large cosine of their vectors in the vocabulary, of the vectors that
//! the model itself sees, or of both: vectors of length one behind each other, whose cosine is the
//! mean of both.
//!
//! The cache holds, for every word that may be replaced, more neighbours than asked for, without
//! regard to what is protected. Leaving the protected ones out of a sorted list of the nearest
//! leaves a sorted list of the nearest others, so the first ones that remain are exact; where too
//! few remain, that word's neighbours are found anew.

use std::borrow::Cow;
use std::path::Path;

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::strategy::{Candidates, Vectors};
use probity_nn::text_reader::TextReader;
use probity_run::run_directory::is_sealed;
use probity_run::sealed::{Form, read_value, write_value};
use probity_run::specification::FieldError;
use probity_tensor::device::ComputeDevice;
use probity_tensor::nearest::cosine::{NearestOptions, Neighbours, nearest};
use probity_text::tokenizer::TokenizerError;

/// Name of the cache in a model directory.
pub const NEIGHBOURS: &str = "neighbours.bin";

/// Number of neighbours that are kept beyond those asked for, to make up for protected ones.
const SPARE: usize = 22;

/// The form in which the cache is sealed.
const FORM: Form = Form {
    kind: "neighbours",
    version: "2",
};

/// By what words are near to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NeighboursFrom {
    /// Word vectors, which of a recurrent network are its own
    #[default]
    Vectors,
    /// The model's own embeddings: of a word in several pieces their mean
    Model,
    /// Both, by the mean of the two cosines
    Both,
}

impl NeighboursFrom {
    /// The reason why a predictor that only answers is not searched by it.
    pub fn refused(self) -> FieldError {
        let expected = "vectors: what only answers shows no embeddings";
        FieldError::new("text.neighbours_from", self.name(), expected)
    }

    /// The name of the vectors.
    pub fn name(self) -> &'static str {
        match self {
            NeighboursFrom::Vectors => "vectors",
            NeighboursFrom::Model => "model",
            NeighboursFrom::Both => "both",
        }
    }

    /// Whether this is the usual choice.
    pub fn is_usual(&self) -> bool {
        *self == NeighboursFrom::default()
    }
}

/// Vectors by which words are near to each other.
pub struct Near<'a> {
    values: Cow<'a, [f32]>,
    dimension: usize,
}

impl<'a> Near<'a> {
    /// The vectors that `from` says, of the words of `reader`; the model sees `own`.
    pub fn new(from: NeighboursFrom, reader: &'a TextReader, own: Vectors<'a>) -> Near<'a> {
        let table = Vectors {
            values: reader.table.vectors(),
            dimension: reader.dimension(),
        };
        match from {
            NeighboursFrom::Vectors => Near::from_vectors(table),
            NeighboursFrom::Model => Near::from_vectors(own),
            NeighboursFrom::Both => {
                let rows = table.values.chunks_exact(table.dimension.max(1));
                let rows = rows.zip(own.values.chunks_exact(own.dimension.max(1)));
                let both = rows.flat_map(|(a, b)| unit(a).chain(unit(b)));
                Near {
                    values: both.collect(),
                    dimension: table.dimension + own.dimension,
                }
            }
        }
    }

    fn from_vectors(vectors: Vectors<'a>) -> Near<'a> {
        Near {
            values: Cow::Borrowed(vectors.values),
            dimension: vectors.dimension,
        }
    }
}

/// The unit vector of `vector`; zeros stay.
fn unit(vector: &[f32]) -> impl Iterator<Item = f32> {
    let squares = vector.iter().map(|&value| f64::from(value).powi(2));
    let length = squares.sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
    vector
        .iter()
        .map(move |&value| (f64::from(value) / length) as f32)
}

#[derive(Serialize, Deserialize)]
struct Cache {
    /// The key that the neighbours belong to: vectors, words that may be replaced, neighbours a
    /// word.
    key: u128,
    neighbours: Neighbours,
}

/// For each word of `reader` its `count` nearest other words by `near` that may replace it: none of
/// them `is_protected`, all of them words with a letter or digit that the tokenizer leaves
/// whole. Other tokens have no candidates and are none: a full stop has no synonym.
///
/// The neighbours come from the cache in the model's `directory`, where it has one, which is made
/// where it can be written.
///
/// # Errors
/// When the tokenizer cannot split a word.
pub fn candidates(
    reader: &TextReader,
    near: &Near<'_>,
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
    let cached = cached_neighbours(near, directory, &is_word, &queries, count + SPARE, device);
    let is_allowed = |id: u32| is_word[id as usize] && !is_protected(id as i32);
    let mut lists = vec![Vec::new(); is_word.len()];
    let mut short = Vec::new();
    for (place, &query) in queries.iter().enumerate() {
        let all = cached.neighbours(place);
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
        let found = nearest(&near.values, near.dimension, &short, options, device);
        for (place, &query) in short.iter().enumerate() {
            lists[query as usize] = found
                .neighbours(place)
                .iter()
                .map(|&id| id as i32)
                .collect();
        }
    }
    Ok(Candidates::new(lists))
}

fn cached_neighbours(
    near: &Near<'_>,
    directory: Option<&Path>,
    is_word: &[bool],
    queries: &[u32],
    count: usize,
    device: &ComputeDevice,
) -> Neighbours {
    let file = directory.map(|directory| directory.join(NEIGHBOURS));
    let key = cache_key(&near.values, queries, count);
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
    let neighbours = nearest(&near.values, near.dimension, queries, options, device);
    let cache = Cache { key, neighbours };
    if let Some(file) = file
        && !directory.is_some_and(is_sealed)
    {
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

/// The words of the table that may be replaced and replace: words with a letter or digit that the
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Both are near by the mean of the cosines, against cosines computed by their definition.
    #[test]
    fn both_are_near_by_the_mean_of_the_cosines() {
        let (table, own) = ([3.0f32, 4.0, 0.0, 2.0, 1.0, 1.0], [1.0f32, -2.0, 0.5]);
        let cosine = |a: &[f32], b: &[f32]| -> f32 {
            let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
            dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
        };
        let rows = table.chunks_exact(2).zip(own.chunks_exact(1));
        let both: Vec<Vec<f32>> = rows
            .map(|(a, b)| unit(a).chain(unit(b)).collect())
            .collect();
        for a in 0..3 {
            for b in 0..3 {
                let of = |values: &[f32], width: usize| {
                    cosine(&values[a * width..][..width], &values[b * width..][..width])
                };
                let mean = (of(&table, 2) + of(&own, 1)) / 2.0;
                assert!((cosine(&both[a], &both[b]) - mean).abs() < 1e-6);
            }
        }
        assert!(unit(&[0.0, 0.0]).all(|value| value == 0.0));
    }
}
