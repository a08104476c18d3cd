//! Analysis of inflected words: the base forms and tags that a word can have.

use super::dictionary::{Dictionary, OpenClass};
use super::figures::Figures;
use super::forms::{by_rule, doubled, irregular_tags, lower, man};
use super::function_words;
use super::tag::{Tag, TagSet};
use super::verbs;

/// A base form, and the tag of a word as a form of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Analysis {
    /// The base form, in lower case.
    pub lemma: String,
    /// The tag of the word as a form of `lemma`.
    pub tag: Tag,
}

/// Returns every analysis of `word`, in any case, by the dictionary, irregular forms and rules,
/// leaving out function words: `dogs` is the plural of `dog` and a form of the verb `dog`.
pub fn analyses(word: &str) -> Vec<Analysis> {
    let word = &*lower(word);
    let mut found = Vec::new();
    let mut add = |lemma: &str, tag: Tag| {
        if !found
            .iter()
            .any(|a: &Analysis| a.tag == tag && a.lemma == lemma)
        {
            let lemma = lemma.to_owned();
            found.push(Analysis { lemma, tag });
        }
    };
    let dictionary = Dictionary::shipped();
    if let Some(lemma) = dictionary.get(word) {
        if lemma.is(OpenClass::Noun) && !lemma.is_proper() {
            add(word, Tag::Nn);
        }
        if lemma.is(OpenClass::Noun) && lemma.can_be_name() {
            add(word, Tag::Nnp);
        }
        if lemma.is(OpenClass::Verb) {
            add(word, Tag::Vb);
            add(word, Tag::Vbp);
        }
        if lemma.is(OpenClass::Adjective) {
            add(word, Tag::Jj);
        }
        if lemma.is(OpenClass::Adverb) {
            add(word, Tag::Rb);
        }
    }
    for (_, base, tag) in AUXILIARIES.iter().filter(|(form, ..)| *form == word) {
        add(base, *tag);
    }
    for &(base, participle) in verbs::bases(word) {
        add(base, if participle { Tag::Vbn } else { Tag::Vbd });
    }
    for (class, lemma) in dictionary.irregular(word) {
        irregular_tags(*class, word, lemma, |tag| add(lemma, tag));
    }
    let singular = word.strip_suffix("men").map(|start| format!("{start}man"));
    for base in singular.iter().filter(|base| man(base).is_some()) {
        if dictionary.has(base, OpenClass::Noun) {
            add(base, Tag::Nns);
        }
    }
    regular(word, &mut add);
    found
}

/// Forms that neither a rule nor a list of the dictionary gives.
const AUXILIARIES: &[(&str, &str, Tag)] = &[
    ("am", "be", Tag::Vbp),
    ("are", "be", Tag::Vbp),
    ("is", "be", Tag::Vbz),
    ("was", "be", Tag::Vbd),
    ("were", "be", Tag::Vbd),
    ("been", "be", Tag::Vbn),
    ("has", "have", Tag::Vbz),
    ("got", "get", Tag::Vbn),
];

/// Adds the analyses of `word` by the rules of regular forms, where the dictionary has the base
/// form.
fn regular(word: &str, add: &mut impl FnMut(&str, Tag)) {
    let dictionary = Dictionary::shipped();
    let mut consider = |base: &str, class: OpenClass, tags: &[Tag]| {
        if base.len() < 2 || !dictionary.has(base, class) {
            return;
        }
        for &tag in tags {
            let forms = [by_rule(base, tag), doubled(base, tag)];
            if forms.iter().flatten().any(|form| form == word) {
                let name = dictionary.get(base).is_some_and(|lemma| lemma.is_proper());
                let plural = tag == Tag::Nns && name;
                add(base, if plural { Tag::Nnps } else { tag });
            }
        }
    };
    for (ending, with, class, tags) in ENDINGS {
        if let Some(stem) = word.strip_suffix(ending) {
            let base = format!("{stem}{with}");
            consider(&base, *class, tags);
            // The doubled letter of `planned` and `bigger` goes.
            let mut letters = stem.chars().rev();
            if with.is_empty() && letters.next() == letters.next() {
                consider(&stem[..stem.len() - last_len(stem)], *class, tags);
            }
        }
    }
}

/// The rules of regular forms: ending of the form, ending of the base form, class of the base form,
/// tags that the form can have.
const ENDINGS: &[(&str, &str, OpenClass, &[Tag])] = &[
    ("s", "", OpenClass::Noun, &[Tag::Nns]),
    ("s", "", OpenClass::Verb, &[Tag::Vbz]),
    ("es", "", OpenClass::Noun, &[Tag::Nns]),
    ("es", "", OpenClass::Verb, &[Tag::Vbz]),
    ("ies", "y", OpenClass::Noun, &[Tag::Nns]),
    ("ies", "y", OpenClass::Verb, &[Tag::Vbz]),
    ("ed", "", OpenClass::Verb, &[Tag::Vbd, Tag::Vbn]),
    ("d", "", OpenClass::Verb, &[Tag::Vbd, Tag::Vbn]),
    ("ied", "y", OpenClass::Verb, &[Tag::Vbd, Tag::Vbn]),
    ("ing", "", OpenClass::Verb, &[Tag::Vbg]),
    ("ing", "e", OpenClass::Verb, &[Tag::Vbg]),
    ("ying", "ie", OpenClass::Verb, &[Tag::Vbg]),
    ("er", "", OpenClass::Adjective, &[Tag::Jjr]),
    ("r", "", OpenClass::Adjective, &[Tag::Jjr]),
    ("ier", "y", OpenClass::Adjective, &[Tag::Jjr]),
    ("est", "", OpenClass::Adjective, &[Tag::Jjs]),
    ("st", "", OpenClass::Adjective, &[Tag::Jjs]),
    ("iest", "y", OpenClass::Adjective, &[Tag::Jjs]),
];

fn last_len(text: &str) -> usize {
    text.chars().next_back().map_or(0, char::len_utf8)
}

/// Returns the base forms of `word`, in lower case, most likely first; `word` itself if nothing is
/// known of it.
pub fn lemmas(word: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut analyses = analyses(word);
    // A form as such comes before what is a base form by chance: `running` is of `run` first.
    let word = lower(word);
    analyses.sort_by_key(|analysis| analysis.lemma == *word);
    for analysis in analyses {
        if !found.contains(&analysis.lemma) {
            found.push(analysis.lemma);
        }
    }
    if found.is_empty() {
        found.push(word.into_owned());
    }
    found
}

/// Returns every tag that `word`, in any case, can have: function words by their lists, others by
/// their forms and by their tags in tagged texts. Empty for a word that is not known.
pub fn possible_tags(word: &str) -> TagSet {
    let word = &*lower(word);
    let mut tags = function_words::tags(word);
    if tags.is_empty() {
        // Else rules would find the plural of `hi` in `his`.
        tags.extend(analyses(word).into_iter().map(|analysis| analysis.tag));
    }
    if let Some(uses) = Figures::shipped().uses(word) {
        tags = tags.union(uses.frequent());
    }
    if tags.contains(Tag::Vbg) {
        tags.insert(Tag::Nn);
        tags.insert(Tag::Jj);
    }
    if tags.contains(Tag::Vbn) {
        tags.insert(Tag::Jj);
    }
    tags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_seen_through() {
        let mut wrong = Vec::new();
        for (word, expected) in [
            ("dogs", "dog/NNS dog/VBZ"),
            ("running", "running/NN running/JJ run/VBG"),
            ("cities", "city/NNS"),
            ("boxes", "box/NNS box/VBZ"),
            ("went", "go/VBD"),
            ("gone", "gone/JJ go/VBN"),
            ("mice", "mouse/NNS"),
            ("women", "woman/NNS"),
            ("children", "child/NNS"),
            ("planned", "planned/JJ plan/VBD plan/VBN"),
            ("hoping", "hope/VBG"),
            ("hopping", "hop/VBG"),
            ("tries", "try/NNS try/VBZ"),
            ("tried", "tried/JJ try/VBD try/VBN"),
            ("travelling", "travelling/NN travel/VBG"),
            ("biggest", "big/JJS"),
            ("happier", "happy/JJR"),
            ("nicer", "nice/JJR"),
            (
                "worst",
                "worst/NN worst/VB worst/VBP worst/JJ worst/RB bad/JJS",
            ),
            ("Germans", "german/NNPS"),
            ("kisses", "kiss/NNS kiss/VBZ"),
            ("loves", "love/NNS love/VBZ"),
            ("wolves", "wolf/NNS"),
            ("lying", "lying/NN lie/VBG"),
            ("heroes", "hero/NNS"),
            ("agreed", "agreed/JJ agree/VBD agree/VBN"),
            ("written", "written/JJ write/VBN"),
            ("quickly", "quickly/RB"),
            ("the", ""),
            ("qwertz", ""),
            ("this", ""),
        ] {
            let found: Vec<String> = analyses(word)
                .iter()
                .map(|a| format!("{}/{}", a.lemma, a.tag))
                .collect();
            for expected in expected.split_whitespace() {
                if !found.iter().any(|form| form == expected) {
                    wrong.push(format!("{expected}: {found:?}"));
                }
            }
            assert!(
                !expected.is_empty() || found.is_empty(),
                "{word}: {found:?}"
            );
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn base_forms_come_first() {
        let mut wrong = Vec::new();
        for (word, lemma) in [
            ("dogs", "dog"),
            ("Running", "run"),
            ("went", "go"),
            ("better", "good"),
            ("best", "good"),
            ("worse", "bad"),
            ("mice", "mouse"),
            ("women", "woman"),
            ("loved", "love"),
            ("movies", "movie"),
            ("happier", "happy"),
            ("neighbours", "neighbour"),
            ("dog", "dog"),
            ("the", "the"),
            ("qwertz", "qwertz"),
            ("bus", "bus"),
            ("class", "class"),
            ("is", "be"),
            ("were", "be"),
            ("has", "have"),
            ("did", "do"),
            ("hated", "hate"),
            ("forgot", "forget"),
            ("lives", "live"),
        ] {
            if !lemmas(word).iter().take(2).any(|l| l == lemma) {
                wrong.push((word, lemmas(word)));
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn words_can_be_all_their_forms() {
        for (word, can, cannot) in [
            ("dogs", "NNS VBZ", "NN JJ RB"),
            ("running", "VBG NN JJ", "VBD RB"),
            ("better", "JJR RBR", "NNS VBD"),
            ("the", "DT", "NN VB"),
            ("that", "DT IN WDT", "NN"),
            ("people", "NNS", "JJ"),
            ("loved", "VBD VBN", "NN RB"),
            ("her", "PRP PRP$", "NN"),
        ] {
            let tags = possible_tags(word);
            let named = |name| tags.contains(Tag::from_name(name).unwrap());
            assert!(can.split(' ').all(named), "{word} {tags:?}");
            assert!(!cannot.split(' ').any(named), "{word} {tags:?}");
        }
        assert!(possible_tags("qwertz").is_empty());
    }
}
