//! The words of WordNet and the classes that they can have (see `english/README.md`).

use std::io;
use std::num::NonZeroU8;
use std::sync::LazyLock;

use hashbrown::HashMap;

use super::embedded;

/// The contents of `english/dictionary.txt.xz`.
const DICTIONARY: &[u8] = include_bytes!("../../english/dictionary.txt.xz");

/// An open class of words: one that new words can always join.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OpenClass {
    /// Nouns and names.
    Noun,
    /// Verbs.
    Verb,
    /// Adjectives.
    Adjective,
    /// Adverbs.
    Adverb,
}

impl OpenClass {
    /// All four open classes.
    pub const ALL: [OpenClass; 4] = [
        OpenClass::Noun,
        OpenClass::Verb,
        OpenClass::Adjective,
        OpenClass::Adverb,
    ];

    fn from_letter(letter: u8) -> Option<OpenClass> {
        match letter {
            b'n' => Some(OpenClass::Noun),
            b'v' => Some(OpenClass::Verb),
            b'a' => Some(OpenClass::Adjective),
            b'r' => Some(OpenClass::Adverb),
            _ => None,
        }
    }
}

/// The dictionary's entry for a word in its base form.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lemma {
    /// The use of the word by class: 0 if it is none of that class, else 1 more than the bits of
    /// the number of its uses in WordNet's tagged texts, at most 10.
    uses: [u8; 4],
    proper: bool,
    name: bool,
    person: bool,
    /// The lexicographers' file of the word's first sense as a noun; nothing if the word is no
    /// noun.
    kind: Option<NonZeroU8>,
    first_cluster: u32,
    clusters: u8,
}

impl Lemma {
    /// Returns whether the word can be of `class`.
    pub fn is(self, class: OpenClass) -> bool {
        self.uses[class as usize] > 0
    }

    /// Returns whether the word is never written without a capital: `Germany`, `European`.
    pub fn is_proper(self) -> bool {
        self.proper
    }

    /// Returns whether the word can be a name: `Germany`, but also `Turkey`, which has a bird
    /// beside it.
    pub fn can_be_name(self) -> bool {
        self.name
    }

    /// Returns whether the word, as a noun, mainly names persons.
    pub(super) fn is_person(self) -> bool {
        self.person
    }

    /// Returns the kind of thing that the word, as a noun, names in its first sense.
    pub(super) fn kind(self) -> Option<NonZeroU8> {
        self.kind
    }

    /// Returns a rough count of the uses of the word in `class`; half a use for a word that was
    /// never counted.
    pub(super) fn weight(self, class: OpenClass) -> f32 {
        match self.uses[class as usize] {
            0 => 0.0,
            1 => 0.5,
            bits => f32::from(1u16 << (bits - 2)) * 1.5,
        }
    }
}

/// The dictionary.
#[derive(Debug, Default)]
pub(super) struct Dictionary {
    lemmas: HashMap<Box<str>, Lemma>,
    clusters: Vec<u16>,
    irregular: HashMap<Box<str>, Vec<(OpenClass, Box<str>)>>,
    forms: HashMap<(OpenClass, Box<str>), Vec<Box<str>>>,
    antonyms: HashMap<Box<str>, Vec<Box<str>>>,
}

static SHIPPED: LazyLock<Dictionary> = LazyLock::new(|| {
    // It is part of the program, and a test reads it.
    Dictionary::read().unwrap_or_default()
});

impl Dictionary {
    /// Returns the dictionary that ships, read at the first call.
    pub(super) fn shipped() -> &'static Dictionary {
        &SHIPPED
    }

    fn read() -> io::Result<Dictionary> {
        let text = embedded::text(DICTIONARY)?;
        let mut dictionary = Dictionary::default();
        let (words, rest) = text.split_once("=irregular\n").unwrap_or((&text, ""));
        let (irregular, antonyms) = rest.split_once("=antonyms\n").unwrap_or((rest, ""));
        dictionary.lemmas.reserve(words.lines().count());
        embedded::words(words.lines(), |word, codes| {
            let lemma = dictionary.lemma_of(codes);
            dictionary.lemmas.insert(word.into(), lemma);
        });
        for line in irregular.lines() {
            let class = line.bytes().next().and_then(OpenClass::from_letter);
            let pair = line.get(1..).and_then(|line| line.split_once(' '));
            if let (Some(class), Some((form, lemma))) = (class, pair) {
                let lemmas = dictionary.irregular.entry(form.into()).or_default();
                lemmas.push((class, lemma.into()));
                let forms = dictionary.forms.entry((class, lemma.into())).or_default();
                forms.push(form.into());
            }
        }
        for (one, other) in antonyms.lines().filter_map(|line| line.split_once(' ')) {
            for (one, other) in [(one, other), (other, one)] {
                let against = dictionary.antonyms.entry(one.into()).or_default();
                against.push(other.into());
            }
        }
        Ok(dictionary)
    }

    /// Reads `n3cv1H;5,8`: classes with their uses, that of nouns with their kind, marks, clusters.
    fn lemma_of(&mut self, codes: &str) -> Lemma {
        let (codes, clusters) = codes.split_once(';').unwrap_or((codes, ""));
        let mut lemma = Lemma {
            first_cluster: self.clusters.len() as u32,
            ..Lemma::default()
        };
        let mut class = None;
        let mut codes = codes.bytes();
        while let Some(code) = codes.next() {
            match code {
                b'P' => (lemma.proper, lemma.name) = (true, true),
                b'p' => lemma.name = true,
                b'H' => lemma.person = true,
                b'0'..=b'9' => {
                    if let Some(class) = class {
                        lemma.uses[class as usize] = code - b'0' + 1;
                    }
                    if class == Some(OpenClass::Noun) {
                        let letter = codes.next().filter(u8::is_ascii_lowercase);
                        lemma.kind = letter.and_then(NonZeroU8::new);
                    }
                }
                letter => class = OpenClass::from_letter(letter),
            }
        }
        let numbers = clusters
            .split(',')
            .filter_map(|number| number.parse::<u16>().ok());
        self.clusters.extend(numbers);
        let added = self.clusters.len() - lemma.first_cluster as usize;
        lemma.clusters = u8::try_from(added).unwrap_or(u8::MAX);
        lemma
    }

    /// Returns the entry for `word`, in lower case.
    pub(super) fn get(&self, word: &str) -> Option<Lemma> {
        self.lemmas.get(word).copied()
    }

    /// Returns whether `word`, in lower case, is of `class` in its base form.
    pub(super) fn has(&self, word: &str, class: OpenClass) -> bool {
        self.get(word).is_some_and(|lemma| lemma.is(class))
    }

    /// Returns the base forms that `form` is an irregular form of.
    pub(super) fn irregular(&self, form: &str) -> &[(OpenClass, Box<str>)] {
        self.irregular.get(form).map_or(&[], Vec::as_slice)
    }

    /// Returns the irregular forms of `lemma`.
    pub(super) fn forms(&self, class: OpenClass, lemma: &str) -> &[Box<str>] {
        let key = (class, lemma.into());
        self.forms.get(&key).map_or(&[], Vec::as_slice)
    }

    /// Returns whether WordNet has the two words as antonyms.
    pub(super) fn opposed(&self, one: &str, other: &str) -> bool {
        let against = self.antonyms.get(one);
        against.is_some_and(|against| against.iter().any(|word| **word == *other))
    }

    /// Returns the clusters of adjectives that `word` belongs to; 2k is opposed to 2k + 1.
    pub(super) fn clusters(&self, word: &str) -> &[u16] {
        let range = self.get(word).map_or(0..0, |lemma| {
            let first = lemma.first_cluster as usize;
            first..first + usize::from(lemma.clusters)
        });
        self.clusters.get(range).unwrap_or_default()
    }
}

/// Returns the dictionary's entry for `word` in its base form, in any case; there is none for
/// `dogs`.
pub fn lemma(word: &str) -> Option<Lemma> {
    Dictionary::shipped().get(&word.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_read_whole() {
        let dictionary = Dictionary::read().unwrap();
        assert!(
            dictionary.lemmas.len() > 70_000,
            "{}",
            dictionary.lemmas.len()
        );
        assert!(
            dictionary.irregular.len() > 4_000,
            "{}",
            dictionary.irregular.len()
        );
        assert!(
            dictionary.antonyms.len() > 3_000,
            "{}",
            dictionary.antonyms.len()
        );
        assert!(DICTIONARY.len() < 500_000);
    }

    #[test]
    fn words_are_of_the_classes_they_have() {
        for (word, classes) in [
            ("dog", "nv"),
            ("run", "nv"),
            ("good", "nar"),
            ("quickly", "r"),
            ("happy", "a"),
            ("happiness", "n"),
            ("fast", "nvar"),
            ("black", "nva"),
            ("believe", "v"),
            ("neighbour", "nv"),
            ("well", "nvar"),
            ("Germany", "n"),
            ("beautiful", "a"),
            ("light", "nvar"),
            ("immigrant", "n"),
            ("angry", "a"),
            ("eat", "v"),
            ("often", "r"),
        ] {
            let found = lemma(word).unwrap_or_default();
            let letters: String = "nvar"
                .chars()
                .zip(OpenClass::ALL)
                .filter(|&(_, class)| found.is(class))
                .map(|(letter, _)| letter)
                .collect();
            assert_eq!(letters, classes, "{word}");
        }
        for word in ["dogs", "qwertz", "the", "went", ""] {
            assert_eq!(lemma(word), None, "{word}");
        }
    }

    #[test]
    fn names_are_told_from_words() {
        for word in ["germany", "european", "london", "french", "muslim", "texas"] {
            assert!(lemma(word).unwrap().is_proper(), "{word}");
        }
        for word in ["turkey", "china", "jersey", "may"] {
            let lemma = lemma(word).unwrap();
            assert!(!lemma.is_proper() && lemma.can_be_name(), "{word}");
        }
        for word in ["dog", "green", "happy", "driver"] {
            assert!(!lemma(word).unwrap().is_proper(), "{word}");
        }
        let run = lemma("run").unwrap();
        assert!(run.weight(OpenClass::Verb) > 2.0 * run.weight(OpenClass::Noun));
        assert_eq!(run.weight(OpenClass::Adverb), 0.0);
    }
}
