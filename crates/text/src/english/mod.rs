//! English words, without regard to protected terms: what kind of word each word of a text is, its
//! other forms, what means the opposite, how it sounds, and whether a text is English at all.
//!
//! What is known comes from WordNet, from figures of tagged texts and from a general language model;
//! all are part of the program (see `english/README.md`) and are read at the first call that needs
//! them.
//!
//! ```
//! use probity_text::english::{Tag, are_antonyms, can_stand_for, inflected, tag};
//!
//! let tags = tag(&["She", "does", "n't", "like", "his", "dogs", "."]);
//! assert_eq!(tags[3..6], [Tag::Vb, Tag::PrpPossessive, Tag::Nns]);
//! assert!(can_stand_for(tags[5], "cats") && !can_stand_for(tags[5], "cat"));
//! assert_eq!(inflected("mouse", Tag::Nns).as_deref(), Some("mice"));
//! assert!(are_antonyms("awful", "good"));
//! ```

mod antonyms;
mod dictionary;
mod embedded;
mod figures;
mod forms;
mod function_words;
mod guess;
mod inflection;
mod kinds;
mod language;
mod persons;
mod phrases;
mod sound;
mod tag;
mod tagger;
mod uses;
mod verbs;

pub use antonyms::are_antonyms;
pub use dictionary::{Lemma, OpenClass, lemma};
pub use figures::LEAST_SHARE;
pub use forms::inflected;
pub use function_words::is_function_word;
pub use inflection::{Analysis, analyses, lemmas, possible_tags};
pub use kinds::{are_of_one_kind, is_of_nature};
pub use language::is_english;
pub use persons::is_person;
pub use phrases::is_phrase;
pub use sound::begins_with_vowel_sound;
pub use tag::{Tag, TagSet};
pub use tagger::tag;
pub use uses::{can_stand_for, share_of_uses};
