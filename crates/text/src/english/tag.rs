//! The names of the classes of words, which are those of the Penn Treebank.

use std::fmt;

/// Makes the enumeration and its names from one list, so that they cannot differ.
macro_rules! tags {
    ($($variant:ident $name:literal $doc:literal,)*) => {
        /// The class of a word in its text, named as in the Penn Treebank.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Tag {
            $(#[doc = $doc] $variant,)*
        }

        impl Tag {
            /// Every tag, in the order of the figures in `english/tagging.txt.xz`.
            pub const ALL: [Tag; Tag::COUNT] = [$(Tag::$variant),*];

            /// The number of tags.
            pub const COUNT: usize = [$($name),*].len();

            /// Returns the name in the Penn Treebank.
            pub fn name(self) -> &'static str {
                match self {
                    $(Tag::$variant => $name,)*
                }
            }
        }
    };
}

tags! {
    Nn "NN" "Noun, singular or of a mass: `dog`, `water`.",
    Nns "NNS" "Noun, plural: `dogs`, `people`.",
    Nnp "NNP" "Name, singular: `Germany`.",
    Nnps "NNPS" "Name, plural: `Germans`.",
    Vb "VB" "Verb, base form: `go` in `to go`.",
    Vbd "VBD" "Verb, past: `went`.",
    Vbg "VBG" "Verb, gerund or present participle: `going`.",
    Vbn "VBN" "Verb, past participle: `gone`.",
    Vbp "VBP" "Verb, present but third person singular: `they go`.",
    Vbz "VBZ" "Verb, present, third person singular: `goes`.",
    Jj "JJ" "Adjective: `good`, `third`.",
    Jjr "JJR" "Adjective, comparative: `better`.",
    Jjs "JJS" "Adjective, superlative: `best`.",
    Rb "RB" "Adverb: `quickly`, `not`.",
    Rbr "RBR" "Adverb, comparative: `faster`.",
    Rbs "RBS" "Adverb, superlative: `most`.",
    Prp "PRP" "Personal pronoun: `she`.",
    PrpPossessive "PRP$" "Possessive pronoun: `her`.",
    Dt "DT" "Determiner: `the`, `every`.",
    Pdt "PDT" "Determiner before a determiner: `all the`.",
    In "IN" "Preposition or subordinating conjunction: `of`, `because`.",
    Rp "RP" "Particle: `up` in `give up`.",
    Cc "CC" "Coordinating conjunction: `and`.",
    To "TO" "`to`.",
    Md "MD" "Modal: `can`, `'ll`.",
    Cd "CD" "Number: `two`, `1,000`.",
    Wdt "WDT" "Determiner with wh: `which`.",
    Wp "WP" "Pronoun with wh: `who`.",
    WpPossessive "WP$" "`whose`.",
    Wrb "WRB" "Adverb with wh: `when`.",
    Ex "EX" "`there` in `there is`.",
    Pos "POS" "Ending of the genitive: `'s`.",
    Uh "UH" "Interjection: `oh`, `yes`, `lol`.",
    Stop "." "What ends a sentence: `.`, `!`, `?`.",
    Comma "," "The comma.",
    Punctuation ":" "Any other mark, sign or symbol.",
    Other "X" "What no other tag fits: foreign words, parts of words.",
}

impl Tag {
    /// Returns the tag of this name.
    pub fn from_name(name: &str) -> Option<Tag> {
        Tag::ALL.into_iter().find(|tag| tag.name() == name)
    }

    /// Returns whether the class of the tag is open, so that new words come up all the time: nouns,
    /// verbs, adjectives and adverbs.
    pub fn is_open(self) -> bool {
        self <= Tag::Rbs
    }

    /// Returns whether the tag is that of a noun or a name.
    pub fn is_noun(self) -> bool {
        self <= Tag::Nnps
    }

    /// Returns whether the tag is that of a name.
    pub fn is_name(self) -> bool {
        matches!(self, Tag::Nnp | Tag::Nnps)
    }

    /// Returns whether the tag is that of a form of a verb other than a modal.
    pub fn is_verb(self) -> bool {
        (Tag::Vb..=Tag::Vbz).contains(&self)
    }

    /// Returns whether the tag is that of an adjective.
    pub fn is_adjective(self) -> bool {
        (Tag::Jj..=Tag::Jjs).contains(&self)
    }

    /// Returns whether the tag is that of an adverb.
    pub fn is_adverb(self) -> bool {
        (Tag::Rb..=Tag::Rbs).contains(&self)
    }

    /// Returns whether the tag is that of a mark and not of a word.
    pub fn is_mark(self) -> bool {
        matches!(self, Tag::Stop | Tag::Comma | Tag::Punctuation)
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A set of tags.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct TagSet(u64);

impl TagSet {
    /// The empty set.
    pub const EMPTY: TagSet = TagSet(0);

    /// Returns whether the set has no tag.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the number of tags in the set.
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Returns whether `tag` is in the set.
    pub fn contains(self, tag: Tag) -> bool {
        self.0 >> tag as u8 & 1 == 1
    }

    /// Adds `tag` to the set.
    pub fn insert(&mut self, tag: Tag) {
        self.0 |= 1 << tag as u8;
    }

    /// Returns the tags of either set.
    #[must_use]
    pub fn union(self, other: TagSet) -> TagSet {
        TagSet(self.0 | other.0)
    }

    /// Iterates over the tags, in their order.
    pub fn iter(self) -> impl Iterator<Item = Tag> {
        Tag::ALL.into_iter().filter(move |&tag| self.contains(tag))
    }
}

impl FromIterator<Tag> for TagSet {
    fn from_iter<I: IntoIterator<Item = Tag>>(tags: I) -> TagSet {
        let mut set = TagSet::EMPTY;
        tags.into_iter().for_each(|tag| set.insert(tag));
        set
    }
}

impl Extend<Tag> for TagSet {
    fn extend<I: IntoIterator<Item = Tag>>(&mut self, tags: I) {
        tags.into_iter().for_each(|tag| self.insert(tag));
    }
}

impl fmt::Debug for TagSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(Tag::name)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_have_the_names_of_the_treebank() {
        for tag in Tag::ALL {
            assert_eq!(Tag::from_name(tag.name()), Some(tag));
            assert_eq!(Tag::ALL[tag as usize], tag);
        }
        assert_eq!(Tag::from_name("NOUN"), None);
        assert_eq!(
            format!("{:>5}|{}", Tag::PrpPossessive, Tag::Vbz),
            " PRP$|VBZ"
        );
    }

    #[test]
    fn groups_of_tags_hold_what_they_say() {
        let names = |of: fn(Tag) -> bool| {
            let of: TagSet = Tag::ALL.into_iter().filter(|&tag| of(tag)).collect();
            of.iter().map(Tag::name).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names(Tag::is_noun), "NN NNS NNP NNPS");
        assert_eq!(names(Tag::is_name), "NNP NNPS");
        assert_eq!(names(Tag::is_verb), "VB VBD VBG VBN VBP VBZ");
        assert_eq!(names(Tag::is_adjective), "JJ JJR JJS");
        assert_eq!(names(Tag::is_adverb), "RB RBR RBS");
        assert_eq!(names(Tag::is_mark), ". , :");
        assert_eq!(Tag::ALL.iter().filter(|tag| tag.is_open()).count(), 16);
    }

    #[test]
    fn sets_hold_each_tag_once() {
        let mut set: TagSet = [Tag::Jj, Tag::Nn, Tag::Jj].into_iter().collect();
        assert_eq!(
            (set.len(), set.contains(Tag::Nn), set.contains(Tag::Vb)),
            (2, true, false)
        );
        set.extend([Tag::Other, Tag::Nn]);
        assert_eq!(format!("{set:?}"), r#"{"NN", "JJ", "X"}"#);
        assert_eq!(set.union([Tag::Vb].into_iter().collect()).len(), 4);
        assert!(TagSet::EMPTY.is_empty() && !set.is_empty());
    }
}
