//! A list of distinct words with their numbers, in one piece of memory.

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

/// Distinct words, numbered from 0 in the order in which they were given.
#[derive(Debug, Clone, Default)]
pub struct WordList {
    text: String,
    ends: Vec<usize>,
    index: HashTable<u32>,
}

impl WordList {
    /// Creates the list of the words in order.
    ///
    /// # Errors
    /// The number of the first word that is there twice, and of its first occurrence; also when
    /// there are 2^32 - 1 words or more, whose numbers do not fit.
    pub fn new<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<WordList, Repeated> {
        let mut text = String::new();
        let mut ends = Vec::new();
        for word in words {
            text.push_str(word);
            ends.push(text.len());
        }
        WordList::from_text(text, ends)
    }

    /// Creates the list of the words of `text`, where word i ends before byte `ends[i]` (ascending
    /// character boundaries, the last one the length of `text`).
    pub(super) fn from_text(text: String, ends: Vec<usize>) -> Result<WordList, Repeated> {
        let mut list = WordList {
            text,
            index: HashTable::with_capacity(ends.len()),
            ends,
        };
        for id in 0..list.ends.len() {
            let word = list.word(id);
            let hash = xxh3_64(word.as_bytes());
            let found = list
                .index
                .find(hash, |&other| list.word(other as usize) == word);
            let number = u32::try_from(id).ok().filter(|&id| id < u32::MAX);
            let (None, Some(number)) = (found, number) else {
                let first = found.map_or(id, |&first| first as usize);
                return Err(Repeated { first, second: id });
            };
            let (text, ends) = (&list.text, &list.ends);
            list.index.insert_unique(hash, number, |&other| {
                xxh3_64(word_at(text, ends, other as usize).as_bytes())
            });
        }
        Ok(list)
    }

    /// Returns the number of words.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether there are no words.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the number of `word`.
    pub fn id(&self, word: &str) -> Option<u32> {
        self.index
            .find(xxh3_64(word.as_bytes()), |&id| {
                self.word(id as usize) == word
            })
            .copied()
    }

    /// Returns the word with the number `id`; empty if there is none.
    pub fn word(&self, id: usize) -> &str {
        word_at(&self.text, &self.ends, id)
    }

    /// Iterates over all words in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|id| self.word(id))
    }

    /// Returns all words without anything between them.
    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

impl PartialEq for WordList {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text && self.ends == other.ends
    }
}

fn word_at<'a>(text: &'a str, ends: &[usize], id: usize) -> &'a str {
    let start = if id == 0 { Some(&0) } else { ends.get(id - 1) };
    match (start, ends.get(id)) {
        (Some(&start), Some(&end)) => text.get(start..end).unwrap_or_default(),
        _ => "",
    }
}

/// A word that occurs twice in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repeated {
    /// The number of its first occurrence.
    pub first: usize,
    /// The number of its second occurrence.
    pub second: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_numbers_are_each_others_inverse() {
        let words: Vec<String> = (0..5000)
            .map(|i| format!("w{}é", i * 7919 % 5003))
            .collect();
        let list = WordList::new(words.iter().map(String::as_str)).unwrap();
        assert_eq!(list.len(), 5000);
        for (i, word) in words.iter().enumerate() {
            assert_eq!(
                (list.id(word), list.word(i)),
                (Some(i as u32), word.as_str())
            );
        }
        assert_eq!((list.id("w"), list.word(5000)), (None, ""));
        assert!(list.iter().eq(words.iter().map(String::as_str)));
    }

    #[test]
    fn a_repeated_word_is_named() {
        let repeated = WordList::new(["a", "b", "", "b"]).unwrap_err();
        assert_eq!(
            repeated,
            Repeated {
                first: 1,
                second: 3
            }
        );
    }
}
