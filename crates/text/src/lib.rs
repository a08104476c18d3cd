//! Text: words and their vectors, protected terms, and measures of how close a changed text stays
//! to its original.
//!
//! | module          | what is there                                                               |
//! |-----------------|-----------------------------------------------------------------------------|
//! | [`tokenizer`]   | texts to tokens, tokens to numbers and back into texts                      |
//! | [`words`]       | lists of distinct words with their numbers                                  |
//! | [`embeddings`]  | tables of word vectors: GloVe and word2vec files, binary cache              |
//! | [`english`]     | English words: tags, forms, antonyms, sounds; what is English           |
//! | [`lexicon`]     | protected attributes, their terms, matching                                 |
//! | [`substitution`] | protected terms in whole sentences, exchanged for others                   |
//! | [`coverage`]    | how much of a corpus a lexicon reaches                                      |
//! | [`validity`]    | L0, L2, Jaccard, BLEU and semantic similarity of two texts                  |
//! | [`frequencies`] | counts of words                                                             |
//! | [`corpus`]      | the reader of texts and labels                                              |
//! | [`glove`]       | word vectors fitted to a corpus                                             |
//! | [`ngrams`]      | how likely a text is, after a corpus                                        |
//! | [`comments`]    | generated comments with planted discrimination                              |
//!
//! Numbers of words agree everywhere: word i of a table has row i and is token i, and the last row,
//! whose number is the number of words, stands for every other word.
//!
//! ```
//! use probity_text::lexicon::{Lexicon, TermMatcher};
//! use probity_text::tokenizer::{Tokenizer, splice};
//!
//! let tokenizer = Tokenizer::new(["she", "he", "is", "here"].into_iter())?;
//! let lexicon = Lexicon::shipped();
//! let matcher = TermMatcher::new(lexicon.attribute("gender")?, &tokenizer)?;
//!
//! let text = "She isn't here.";
//! let tokens = tokenizer.tokens(text)?;
//! let words: Vec<&str> = tokens.iter().map(|token| token.text.as_str()).collect();
//! let found = &matcher.find(&words)[0];
//! let substitute = &matcher.substitutes(found.term)[0];
//! let bytes = tokens[found.tokens.start].bytes.clone();
//! assert_eq!(splice(text, &[(bytes, &substitute.text)]), "He isn't here.");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod comments;
pub mod corpus;
pub mod coverage;
pub mod embeddings;
pub mod english;
mod filled;
pub mod frequencies;
pub mod glove;
pub mod lexicon;
pub mod ngrams;
pub mod substitution;
pub mod templates;
pub mod tokenizer;
pub mod validity;
pub mod words;
