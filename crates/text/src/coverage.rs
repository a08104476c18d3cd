//! The coverage of a corpus by a lexicon, with texts read as [`Substitution`] reads them: a term
//! counts where it names its value, and not where the same word means something else.

use std::collections::{BTreeSet, HashMap};

use rayon::prelude::*;
use serde::Serialize;

use crate::lexicon::{Lexicon, LexiconError};
use crate::substitution::{Site, Substitution};
use crate::tokenizer::{Tokenizer, TokenizerError};

/// The number of times that the terms of one attribute name its values in some texts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Coverage {
    /// The name of the attribute.
    pub attribute: String,
    /// The number of texts that were searched.
    pub texts: usize,
    /// The number of these that are not English, in which no term is looked for.
    pub foreign: usize,
    /// The number of texts that name a value.
    pub naming: usize,
    /// The number of texts that name a value which another value can replace: an audit skips the
    /// others.
    pub exchangeable: usize,
    /// The number of the others that name a value which other words of the text bind.
    pub bound: usize,
    /// The coverage of every term, in the lexicon's order.
    pub terms: Vec<TermCoverage>,
}

/// The number of times that one term names its value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TermCoverage {
    /// The term.
    pub term: String,
    /// The value that it names.
    pub value: String,
    /// The number of texts in which the term names its value.
    pub texts: usize,
    /// The words of the term that the vocabulary lacks: a model cannot tell them from any other
    /// unknown word. `None` if there is no vocabulary.
    pub without_embedding: Option<Vec<String>>,
}

/// An attribute, a value of it, and the term that names it.
type Mention = (usize, usize, String);

/// The mentions in one text, and the attributes whose values are exchangeable or bound, each once.
struct Held {
    mentions: BTreeSet<Mention>,
    exchangeable: BTreeSet<usize>,
    bound: BTreeSet<usize>,
    is_english: bool,
}

impl Coverage {
    /// Counts the terms of the attributes called `names` in `lexicon`, or of all that are not
    /// opt-in, in `texts`; a word has an embedding if `vocabulary` holds it.
    ///
    /// # Errors
    /// Like [`Substitution::new`], and when a text cannot be split.
    pub fn measure<S: AsRef<str> + Sync>(
        lexicon: &Lexicon,
        names: &[String],
        texts: &[S],
        vocabulary: Option<&Tokenizer>,
    ) -> Result<Vec<Coverage>, LexiconError> {
        let substitution = Substitution::new(lexicon, names)?;
        let held: Vec<Held> = texts
            .par_iter()
            .map(|text| {
                let analysis = substitution.analyse(text.as_ref())?;
                let named = analysis.named.into_iter();
                let of = |sites: &[Site]| sites.iter().map(|site| site.attribute).collect();
                Ok(Held {
                    mentions: named.map(|it| (it.attribute, it.value, it.term)).collect(),
                    exchangeable: of(&analysis.sites),
                    bound: of(&analysis.bound),
                    is_english: analysis.is_english,
                })
            })
            .collect::<Result<_, TokenizerError>>()?;
        let mut counts: HashMap<&Mention, usize> = HashMap::new();
        for mention in held.iter().flat_map(|held| &held.mentions) {
            *counts.entry(mention).or_default() += 1;
        }
        let count = |mention: &Mention| counts.get(mention).copied().unwrap_or(0);
        let splitter = Tokenizer::without_vocabulary()?;
        let attributes = substitution.attributes().iter().enumerate();
        let covered = attributes.map(|(number, name)| {
            let attribute = lexicon.attribute(name)?;
            let terms = attribute.terms().into_iter();
            let terms = terms.map(|(value, term)| {
                let without_embedding = match vocabulary {
                    None => None,
                    Some(vocabulary) => Some(unknown_words(&term, &splitter, vocabulary)?),
                };
                let mention = (number, value, term);
                Ok(TermCoverage {
                    texts: count(&mention),
                    term: mention.2,
                    value: attribute.values[value].clone(),
                    without_embedding,
                })
            });
            let is_named = |held: &&Held| held.mentions.iter().any(|(of, _, _)| *of == number);
            let can_vary = |held: &&Held| held.exchangeable.contains(&number);
            let is_bound = |held: &&Held| held.bound.contains(&number) && !can_vary(held);
            Ok(Coverage {
                attribute: name.clone(),
                texts: texts.len(),
                foreign: held.iter().filter(|held| !held.is_english).count(),
                naming: held.iter().filter(is_named).count(),
                exchangeable: held.iter().filter(can_vary).count(),
                bound: held.iter().filter(is_bound).count(),
                terms: terms.collect::<Result<_, LexiconError>>()?,
            })
        });
        covered.collect()
    }

    /// Returns the terms with a word that has no embedding.
    pub fn terms_without_embedding(&self) -> impl Iterator<Item = &TermCoverage> {
        let lacks = |words: &Vec<String>| !words.is_empty();
        self.terms
            .iter()
            .filter(move |term| term.without_embedding.as_ref().is_some_and(lacks))
    }
}

/// Returns the words of `term` that `vocabulary` lacks.
fn unknown_words(
    term: &str,
    splitter: &Tokenizer,
    vocabulary: &Tokenizer,
) -> Result<Vec<String>, TokenizerError> {
    let words = splitter.tokens(term)?.into_iter().map(|token| token.text);
    let lacks = |word: &String| vocabulary.id(word) == vocabulary.unknown();
    Ok(words.filter(lacks).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coverage_counts_texts_in_which_a_term_names_its_value() {
        let lexicon = Lexicon::shipped();
        let names = ["country".to_owned(), "race".to_owned()];
        let texts = [
            "I moved from Turkey to Peru, and Peru is fine.",
            "We had roast turkey and black coffee.",
            "The black man was born in Peru.",
            "",
            "A white man called him a negro.",
        ];
        let vocabulary = Tokenizer::new(["peru", "black"].into_iter()).unwrap();
        let covered = Coverage::measure(&lexicon, &names, &texts, Some(&vocabulary)).unwrap();
        let held = |attribute: usize| -> Vec<(&str, usize)> {
            let terms = covered[attribute].terms.iter();
            let held = terms.filter(|term| term.texts > 0);
            held.map(|term| (term.term.as_str(), term.texts)).collect()
        };
        assert_eq!(held(0), [("Peru", 2), ("Turkey", 1)]);
        assert_eq!(held(1), [("white", 1), ("black", 1)]);
        let counts = |of: &Coverage| (of.naming, of.exchangeable, of.bound, of.texts);
        assert_eq!(
            covered.iter().map(counts).collect::<Vec<_>>(),
            [(2, 2, 0, 5), (2, 1, 1, 5)]
        );
        let lacking = |term: &str| {
            let mut lacking = covered.iter().flat_map(Coverage::terms_without_embedding);
            lacking.any(|it| it.term == term)
        };
        assert!(lacking("Turkey") && !lacking("Peru") && !lacking("black"));
        let without = Coverage::measure(&lexicon, &names, &texts, None).unwrap();
        assert_eq!(without[0].terms_without_embedding().count(), 0);
    }
}
