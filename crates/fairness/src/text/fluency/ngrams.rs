//! Fluency by a trigram model ([`probity_text::ngrams`]) of texts like the seeds.
//!
//! The texts of the audit may be what the model was fitted to; a seed's own trigrams then speak for
//! it, so that a share of 1 is not to be expected of any change.

use std::sync::Arc;

use probity_nn::text_reader::{EncodedText, TextReader};
use probity_text::ngrams::NgramModel;

/// A trigram model, and seeds.
#[derive(Debug)]
pub struct NgramFluency {
    ngrams: Arc<NgramModel>,
    /// The n-gram model's number of each word of the text model.
    numbers: Vec<u32>,
    /// The seeds by the n-gram model's numbers.
    seeds: Vec<Vec<u32>>,
}

impl NgramFluency {
    /// The fluency of changes of `seeds`, in words of `model`, by `ngrams`.
    pub fn new(
        ngrams: Arc<NgramModel>,
        reader: &TextReader,
        seeds: &[EncodedText],
    ) -> NgramFluency {
        let numbers = (0..reader.words() as i32).map(|id| ngrams.id(reader.word(id)));
        NgramFluency {
            numbers: numbers.collect(),
            seeds: seeds.iter().map(|seed| ngrams.ids(&seed.words)).collect(),
            ngrams,
        }
    }

    /// The share of its probability that seed `seed`, whose ids are `original`, keeps for each word
    /// in which `text` differs from it; 1 for the seed itself, and 0 where two words of one trigram
    /// changed: each was found to suit the other one's predecessor.
    pub fn kept(&self, seed: usize, original: &[i32], text: &[i32]) -> f64 {
        let Some(before) = self.seeds.get(seed) else {
            return 1.0;
        };
        let mut after = before.clone();
        let changed: Vec<usize> = (0..original.len().min(text.len()))
            .filter(|&position| original[position] != text[position])
            .collect();
        if changed.windows(2).any(|pair| pair[1] - pair[0] < 3) {
            return 0.0;
        }
        for &position in &changed {
            let number = usize::try_from(text[position]).ok();
            let number = number.and_then(|id| self.numbers.get(id)).copied();
            after[position] = number.unwrap_or(self.ngrams.unknown());
        }
        let mut touched: Vec<usize> = changed
            .iter()
            .flat_map(|&position| position..(position + 3).min(before.len() + 1))
            .collect();
        touched.sort_unstable();
        touched.dedup();
        let change: f64 = touched
            .into_iter()
            .map(|place| self.at(&after, place) - self.at(before, place))
            .sum();
        (change / changed.len().max(1) as f64).exp()
    }

    /// Whether `word` at `position` of seed `seed` makes pairs with the words beside it that occur
    /// somewhere in the corpus, both of them, and a triple. A preposition that does not go with a
    /// verb, an adverb where none stands, make some that do not.
    pub fn is_attested(&self, seed: usize, position: usize, word: i32) -> bool {
        let number = usize::try_from(word).ok();
        let number = number.and_then(|id| self.numbers.get(id)).copied();
        // A word that is too rare for the model has the pairs of all that are.
        let number = number.filter(|&number| number != self.ngrams.unknown());
        let (Some(words), Some(number)) = (self.seeds.get(seed), number) else {
            return false;
        };
        let before = |back: usize| {
            let place = position.checked_sub(back);
            place.map_or(self.ngrams.start(), |place| words[place])
        };
        let after = |ahead: usize| {
            let there = words.get(position + ahead);
            there.copied().unwrap_or(self.ngrams.end())
        };
        let triples = [
            [before(2), before(1), number],
            [before(1), number, after(1)],
            [number, after(1), after(2)],
        ];
        self.ngrams.has_pair(before(1), number)
            && self.ngrams.has_pair(number, after(1))
            && triples.iter().any(|&triple| self.ngrams.has_triple(triple))
    }

    /// The logarithm of the probability of the word at `place`, or of the end, after those before.
    fn at(&self, words: &[u32], place: usize) -> f64 {
        let before = |back: usize| {
            let place = place.checked_sub(back);
            place.map_or(self.ngrams.start(), |place| words[place])
        };
        let word = words.get(place).copied().unwrap_or(self.ngrams.end());
        self.ngrams.log_probability([before(2), before(1)], word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The share that is kept is the ratio of the probabilities of whole texts, against the scores
    /// of whole texts.
    #[test]
    fn what_is_kept_is_the_ratio_of_whole_texts() {
        let texts = [
            "we like this good book",
            "we like that old book",
            "this old book is good",
            "that is a good idea",
        ];
        let split = |text: &'static str| text.split(' ');
        let ngrams = NgramModel::fit(texts.iter().map(|text| split(text)), 1).unwrap();
        let words: Vec<&str> = split(texts[0]).collect();
        let all: Vec<&str> = vec!["we", "like", "this", "good", "book", "old", "idea"];
        let fluency = NgramFluency {
            numbers: all.iter().map(|word| ngrams.id(word)).collect(),
            seeds: vec![ngrams.ids(&words)],
            ngrams: Arc::new(ngrams.clone()),
        };
        let original = [0, 1, 2, 3, 4];
        for (text, changed) in [
            ([0, 1, 2, 3, 4], 0),
            ([0, 1, 2, 5, 4], 1),
            ([5, 1, 2, 3, 6], 2),
        ] {
            let spelled: Vec<&str> = text.iter().map(|&id: &i32| all[id as usize]).collect();
            let change = ngrams.score(&spelled) - ngrams.score(&words);
            let expected = (change / f64::from(changed.max(1))).exp();
            assert!((fluency.kept(0, &original, &text) - expected).abs() < 1e-9);
        }
        assert_eq!(fluency.kept(0, &original, &[6, 5, 2, 3, 4]), 0.0);
        // "this old book" occurs, "this like book" does not.
        assert!(fluency.is_attested(0, 3, 5) && !fluency.is_attested(0, 3, 1));
        // "idea" occurs once: a model of words that occur twice knows only that some word did.
        let ngrams = NgramModel::fit(texts.iter().map(|text| split(text)), 2).unwrap();
        assert_eq!(ngrams.id("idea"), ngrams.unknown());
        assert!(ngrams.has_pair(ngrams.id("good"), ngrams.unknown()));
        let fluency = NgramFluency {
            numbers: all.iter().map(|word| ngrams.id(word)).collect(),
            seeds: vec![ngrams.ids(&words)],
            ngrams: Arc::new(ngrams),
        };
        assert!(!fluency.is_attested(0, 4, 6));
    }
}
