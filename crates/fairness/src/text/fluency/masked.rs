//! Fluency by a masked language model.
//!
//! The measure is for a text that differs from its seed in n words: each is compared with the
//! seed's word in its place, after all other words of the text as they are now: (Π P(new | rest) /
//! P(old | rest))^(1/n). Of one changed word this is the ratio of the two texts' probabilities,
//! were there a distribution with these conditional ones. Where it is asked, both words are masked
//! with all their pieces.
//!
//! Texts are asked about as they are written, so that a word's pieces are those that it has between
//! its neighbours, with its capitals.

use std::ops::Range;

use rayon::prelude::*;

use crate::text::render::render;
use probity_nn::ModelError;
use probity_nn::text_reader::{EncodedText, TextReader};
use probity_nn::transformer_model::MaskedLanguageModel;
use probity_text::tokenizer::TokenizerError;

/// Number of characters of a text that a message shows.
const SHOWN: usize = 60;

/// A text and the bytes of a word of it.
type Word = (String, Range<usize>);

/// The share that each of `texts`, made of `seed` by replacing words one by one, keeps for each of
/// them: 1 of the seed itself, and 0 where a word cannot be found again in the text as it is written
/// or `model` cannot read it as a whole, or does not know it.
///
/// # Errors
/// When a text cannot be split, or `model` does not answer by a number.
pub fn kept(
    model: &MaskedLanguageModel,
    reader: &TextReader,
    seed: &EncodedText,
    texts: &[Vec<i32>],
) -> Result<Vec<f64>, ModelError> {
    let changes = texts.par_iter().map(|text| changes(reader, seed, text));
    let changes = changes.collect::<Result<Vec<_>, _>>();
    let changes = changes.map_err(|error| ModelError::Pieces {
        text: seed.text.chars().take(SHOWN).collect(),
        problem: error.to_string(),
    })?;
    let words = changes.iter().flatten().flatten().flatten();
    let words: Vec<(&str, Range<usize>)> = words
        .map(|(text, bytes)| (text.as_str(), bytes.clone()))
        .collect();
    let mut answers = model.log_probabilities(&words)?.into_iter();
    let kept = changes.iter().map(|changes| {
        let Some(changes) = changes else {
            return 0.0;
        };
        let answers: Vec<Option<f64>> = answers.by_ref().take(2 * changes.len()).collect();
        let each = answers.chunks_exact(2).map(|pair| match pair {
            [Some(new), Some(old)] => new - old,
            _ => f64::NEG_INFINITY,
        });
        (each.sum::<f64>() / changes.len().max(1) as f64).exp()
    });
    Ok(kept.collect())
}

/// Each word in which `text` differs from `seed`, and the word of the seed in its place, in texts
/// that are otherwise the same. `None` where they do not stand where they should.
fn changes(
    reader: &TextReader,
    seed: &EncodedText,
    text: &[i32],
) -> Result<Option<Vec<[Word; 2]>>, TokenizerError> {
    let Some(now) = written(reader, seed, text)? else {
        return Ok(None);
    };
    let tokens = seed.ids.iter().zip(text).enumerate();
    let changed = tokens.filter(|(_, (own, word))| own != word);
    let mut changes = Vec::new();
    for (position, (&own, _)) in changed {
        let mut before = text.to_vec();
        before[position] = own;
        let Some(before) = written(reader, seed, &before)? else {
            return Ok(None);
        };
        let words = [&now, &before].map(|text| (text.text.clone(), text.bytes[position].clone()));
        changes.push(words);
    }
    Ok(Some(changes))
}

/// The text of `ids`, which came from `seed`, unless other words are read from it.
fn written(
    reader: &TextReader,
    seed: &EncodedText,
    ids: &[i32],
) -> Result<Option<EncodedText>, TokenizerError> {
    let text = render(reader, seed, ids, None)?;
    let read = reader.encode_whole(&text)?;
    Ok((read.ids == ids).then_some(read))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::text::vocabulary::open_reader;
    use probity_nn::transformer_model::import;
    use probity_text::lexicon::Lexicon;

    fn model(name: &str) -> MaskedLanguageModel {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/transformers");
        let (model, _) = import(&root.join(name), &[], None).unwrap();
        MaskedLanguageModel::new(model).unwrap()
    }

    /// The share that is kept is the mean ratio at the changed words, against texts that are
    /// written out.
    #[test]
    fn what_is_kept_is_the_mean_ratio_at_the_changed_words() {
        let written = |who: &str, what: &str| format!("\"{who}\" praised her {what} stories.");
        let seed = written("Women", "wonderful");
        let words = ["men", "great", "tales"].map(str::to_owned);
        let texts = [&[seed.clone()][..], &words].concat();
        let reader = open_reader(None, &texts, &Lexicon::shipped(), 64)
            .unwrap()
            .value;
        let seed = reader.encode(&seed).unwrap();
        let id = |word: &str| reader.tokens(word).unwrap()[0];
        let place = |word: &str| seed.words.iter().position(|own| own == word).unwrap();
        let (who, what) = (place("women"), place("wonderful"));
        let with = |changes: &[(usize, i32)]| {
            let mut ids = seed.ids.clone();
            changes.iter().for_each(|&(at, word)| ids[at] = word);
            ids
        };
        let (men, great) = (id("men"), id("great"));
        let changed = [
            with(&[]),
            with(&[(who, men)]),
            with(&[(who, men), (what, great)]),
        ];
        for name in ["bert-masked", "distilbert-masked", "roberta-masked"] {
            let model = model(name);
            let likely = |text: &str, word: &str| {
                let start = text.find(word).unwrap();
                let answers = model.log_probabilities(&[(text, start..start + word.len())]);
                answers.unwrap()[0].unwrap()
            };
            let [women, men] = ["Women", "Men"].map(|who| written(who, "wonderful"));
            let one = likely(&men, "Men") - likely(&women, "Women");
            let [women, both] = ["Women", "Men"].map(|who| written(who, "great"));
            let of_who = likely(&both, "Men") - likely(&women, "Women");
            let of_what = likely(&both, "great") - likely(&men, "wonderful");
            let expected = [1.0, one.exp(), ((of_who + of_what) / 2.0).exp()];
            let found = kept(&model, &reader, &seed, &changed).unwrap();
            assert_eq!(found, expected, "{name}");
            // The same one by one.
            for (text, expected) in changed.iter().zip(expected) {
                let alone = kept(&model, &reader, &seed, std::slice::from_ref(text)).unwrap();
                assert_eq!(alone, [expected]);
            }
            // A word that was replaced by the unknown one is not there to be asked about.
            let gone = with(&[(who, reader.tokenizer.unknown() as i32)]);
            assert_eq!(kept(&model, &reader, &seed, &[gone]).unwrap(), [0.0]);
        }
    }
}
