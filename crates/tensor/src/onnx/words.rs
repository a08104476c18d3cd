//! The numbers that stand for words.
//!
//! The runtime has no words. Every word of a graph and of its inputs gets a number of its own, and
//! a tensor of words is one of whole numbers: operators that only move values treat it like any
//! other.

use std::collections::HashMap;

/// The number of each word.
#[derive(Default)]
pub struct Words {
    numbers: HashMap<String, i32>,
    texts: Vec<String>,
}

impl Words {
    /// Returns the number of `text`, a new one if it has none yet.
    pub fn number(&mut self, text: &str) -> i32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        // A graph with more words than this has no room in the memory.
        let number = i32::try_from(self.texts.len()).unwrap_or(i32::MAX);
        self.numbers.insert(text.to_owned(), number);
        self.texts.push(text.to_owned());
        number
    }

    /// Returns the word that has this number.
    pub fn text(&self, number: i32) -> &str {
        let at = usize::try_from(number).ok();
        at.and_then(|at| self.texts.get(at))
            .map_or("", String::as_str)
    }
}
