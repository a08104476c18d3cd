//! Figures from tagged texts: how often words have which tags, and which tags follow which (see
//! `english/README.md`).
//!
//! Probabilities are kept as levels: a level is an eighth of the negative natural logarithm.

use std::io;
use std::sync::LazyLock;

use hashbrown::HashMap;

use super::embedded;
use super::tag::{Tag, TagSet};

/// The contents of `english/tagging.txt.xz`.
const FIGURES: &[u8] = include_bytes!("../../english/tagging.txt.xz");

/// The least share of the uses of a word that a tag must have to count as a tag of the word. The
/// tags that were counted are wrong for 3 words of 100, so that a smaller share may be nothing but
/// errors.
pub const LEAST_SHARE: f32 = 0.05;

/// The size up to which the number of uses is too small to say much.
const FEW: u8 = 4;

/// The level of a probability that is all but zero.
pub(super) const NEVER: u8 = 90;

/// The number of times that a word had each tag.
#[derive(Debug, Clone, Copy)]
pub(super) struct Uses<'a> {
    size: u8,
    shares: &'a [(Tag, u8)],
}

impl<'a> Uses<'a> {
    /// Returns the number of bits of the number of uses.
    pub(super) fn size(self) -> u8 {
        self.size
    }

    /// Returns whether there are too few uses to say which tags the word cannot have.
    pub(super) fn are_few(self) -> bool {
        self.size <= FEW
    }

    /// Returns the tags and the levels of their shares, most frequent first.
    pub(super) fn levels(self) -> &'a [(Tag, u8)] {
        self.shares
    }

    /// Returns the share of the uses with a tag that `is` holds for.
    pub(super) fn share(self, is: impl Fn(Tag) -> bool) -> f32 {
        let shares = self.shares.iter().filter(|(tag, _)| is(*tag));
        shares.map(|&(_, level)| probability(level)).sum()
    }

    /// Returns the tags whose uses are too frequent to be accidents.
    pub(super) fn frequent(self) -> TagSet {
        let shares = self.shares.iter();
        let frequent = shares.filter(|&&(_, level)| probability(level) >= LEAST_SHARE);
        frequent.map(|&(tag, _)| tag).collect()
    }
}

/// Returns the probability at a level.
pub(super) fn probability(level: u8) -> f32 {
    (-f32::from(level) / 8.0).exp()
}

/// Returns the level of a probability.
pub(super) fn level(probability: f32) -> u8 {
    // Clamped first, so that no bit is lost.
    (-8.0 * probability.max(1e-9).ln())
        .round()
        .clamp(0.0, f32::from(NEVER)) as u8
}

/// The case in which a word is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    /// The first letter is small.
    Small,
    /// Only the first letter is a capital, or the only letter is one.
    Capital,
    /// All letters are capitals.
    Capitals,
}

impl Case {
    pub(super) fn from_word(word: &str) -> Case {
        let mut letters = word.chars().filter(|c| c.is_alphabetic());
        if !letters.next().is_some_and(char::is_uppercase) {
            return Case::Small;
        }
        let mut rest = letters.peekable();
        if rest.peek().is_some() && rest.all(char::is_uppercase) {
            Case::Capitals
        } else {
            Case::Capital
        }
    }
}

/// The position of the shares of a word, and the bits of the number of its uses.
#[derive(Debug, Clone, Copy)]
struct Entry {
    first: u32,
    len: u8,
    size: u8,
}

/// The figures from tagged texts.
#[derive(Debug, Default)]
pub(super) struct Figures {
    priors: Vec<u8>,
    cases: Vec<[u8; 3]>,
    transitions: Vec<u8>,
    shares: Vec<(Tag, u8)>,
    words: HashMap<Box<str>, Entry>,
    suffixes: HashMap<Box<str>, Entry>,
}

static SHIPPED: LazyLock<Figures> = LazyLock::new(|| {
    // They are part of the program, and a test reads them.
    Figures::read().unwrap_or_default()
});

impl Figures {
    /// Returns the figures that ship, read at the first call.
    pub(super) fn shipped() -> &'static Figures {
        &SHIPPED
    }

    fn read() -> io::Result<Figures> {
        let text = embedded::text(FIGURES)?;
        let mut figures = Figures::default();
        let (tables, lists) = text.split_once("\n=words\n").unwrap_or_default();
        let (words, suffixes) = lists.split_once("\n=suffixes\n").unwrap_or_default();
        let mut lines = tables.lines();
        let names = lines.nth(1).unwrap_or_default().split(' ');
        if names.ne(Tag::ALL.map(Tag::name)) {
            return Err(io::Error::other("figures of other tags"));
        }
        let levels = |line: &str| line.bytes().map(from_letter).collect::<Vec<u8>>();
        figures.priors = lines.next().map(levels).unwrap_or_default();
        let cases = lines.by_ref().skip(1).take(2 * Tag::COUNT).map(levels);
        figures.cases = cases.map(|of| [0, 1, 2].map(|case| of[case])).collect();
        figures.transitions = lines.skip(1).flat_map(levels).collect();
        figures.words.reserve(words.lines().count());
        for (list, lines) in [(true, words), (false, suffixes)] {
            embedded::words(lines.lines(), |word, codes| {
                let entry = figures.entry_of(codes, list);
                let table = if list {
                    &mut figures.words
                } else {
                    &mut figures.suffixes
                };
                table.insert(word.into(), entry);
            });
        }
        Ok(figures)
    }

    /// Reads bits of the number of uses, if they are there, and pairs of a tag and a level.
    fn entry_of(&mut self, codes: &str, sized: bool) -> Entry {
        let codes = codes.as_bytes();
        let (size, pairs) = match codes {
            [size, pairs @ ..] if sized => (size.saturating_sub(b'0'), pairs),
            _ => (0, codes),
        };
        let first = self.shares.len();
        let pairs = pairs.chunks_exact(2).filter_map(|pair| {
            let tag = Tag::ALL.get(usize::from(from_letter(pair[0])))?;
            Some((*tag, from_letter(pair[1])))
        });
        self.shares.extend(pairs);
        Entry {
            first: first as u32,
            len: (self.shares.len() - first) as u8,
            size,
        }
    }

    fn uses_of(&self, entry: Entry) -> Uses<'_> {
        let first = entry.first as usize;
        let range = first..first + usize::from(entry.len);
        Uses {
            size: entry.size,
            shares: self.shares.get(range).unwrap_or_default(),
        }
    }

    /// Returns the tags that `word` had in the tagged texts. Words in lower case have all uses;
    /// words with capitals those with the same capitals that did not begin a sentence.
    pub(super) fn uses(&self, word: &str) -> Option<Uses<'_>> {
        self.words.get(word).map(|&entry| self.uses_of(entry))
    }

    /// Returns the tags that rare words with the same ending as `word` had.
    pub(super) fn by_ending(&self, word: &str) -> &[(Tag, u8)] {
        let end: String = word.chars().rev().take(5).collect();
        let longest = (0..=end.len()).rev().filter_map(|len| end.get(..len));
        let mut entries = longest.filter_map(|end| self.suffixes.get(end));
        entries
            .next()
            .map_or(&[], |&entry| self.uses_of(entry).levels())
    }

    /// Returns the level of the share of `tag` among all words.
    pub(super) fn prior(&self, tag: Tag) -> u8 {
        self.priors.get(tag as usize).copied().unwrap_or(NEVER)
    }

    /// Returns the level of the share of `case` among words of `tag`.
    pub(super) fn case(&self, tag: Tag, initial: bool, case: Case) -> u8 {
        let row = usize::from(initial) * Tag::COUNT + tag as usize;
        self.cases
            .get(row)
            .map_or(0, |levels| levels[case as usize])
    }

    /// Returns the levels of the shares of each tag after `before` and `last`.
    pub(super) fn after(&self, before: Tag, last: Tag) -> &[u8] {
        let start = (before as usize * Tag::COUNT + last as usize) * Tag::COUNT;
        self.transitions
            .get(start..start + Tag::COUNT)
            .unwrap_or(&[0; Tag::COUNT])
    }
}

fn from_letter(letter: u8) -> u8 {
    letter.saturating_sub(b'!')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_read_whole() {
        let figures = Figures::read().unwrap();
        assert_eq!(figures.priors.len(), Tag::COUNT);
        assert_eq!(figures.cases.len(), 2 * Tag::COUNT);
        assert_eq!(figures.transitions.len(), Tag::COUNT.pow(3));
        assert!(figures.words.len() > 15_000, "{}", figures.words.len());
        assert!(figures.suffixes.len() > 500, "{}", figures.suffixes.len());
        assert!(FIGURES.len() < 400_000, "{}", FIGURES.len());
        for level in &figures.transitions {
            assert!(*level <= NEVER);
        }
    }

    #[test]
    fn shares_sum_to_one() {
        let figures = Figures::shipped();
        for word in [
            "the", "good", "run", "black", "loves", "fast", "her", "that",
        ] {
            let share = figures.uses(word).unwrap().share(|_| true);
            assert!((0.9..1.1).contains(&share), "{word} {share}");
        }
        for after in [Tag::Dt, Tag::Stop, Tag::Nn, Tag::Md] {
            let levels = figures.after(Tag::Stop, after);
            let sum: f32 = levels.iter().map(|&level| probability(level)).sum();
            assert!((0.9..1.1).contains(&sum), "{after} {sum}");
        }
    }

    #[test]
    fn endings_tell_the_class() {
        let first = |word| {
            Figures::shipped()
                .by_ending(word)
                .first()
                .map(|(tag, _)| *tag)
        };
        for (word, tag) in [
            ("blorkingly", Tag::Rb),
            ("flumpation", Tag::Nn),
            ("zorking", Tag::Vbg),
            ("grelfness", Tag::Nn),
            ("trumpable", Tag::Jj),
        ] {
            assert_eq!(first(word), Some(tag), "{word}");
        }
    }

    #[test]
    fn levels_are_eighths_of_logarithms() {
        assert_eq!((level(1.0), level(0.0), level(2.0)), (0, NEVER, 0));
        for number in 0..60 {
            assert_eq!(level(probability(number)), number);
        }
        assert_eq!(Case::from_word("Dog"), Case::Capital);
        assert_eq!(Case::from_word("I"), Case::Capital);
        assert_eq!(Case::from_word("USA"), Case::Capitals);
        assert_eq!(Case::from_word("iPod"), Case::Small);
        assert_eq!(Case::from_word("3rd"), Case::Small);
    }
}
