//! Words that mean the opposite of each other.

use super::dictionary::{Dictionary, OpenClass};
use super::function_words::is_function_word;
use super::inflection::lemmas;

/// Prefixes that reverse a meaning, and the classes of the words that take them.
const PREFIXES: &[(&str, &[OpenClass])] = &[
    ("un", &OpenClass::ALL),
    ("dis", &OpenClass::ALL),
    ("non", &OpenClass::ALL),
    ("in", &[OpenClass::Adjective, OpenClass::Adverb]),
    ("im", &[OpenClass::Adjective, OpenClass::Adverb]),
    ("il", &[OpenClass::Adjective, OpenClass::Adverb]),
    ("ir", &[OpenClass::Adjective, OpenClass::Adverb]),
];

/// Words that begin with the letters of such a prefix but are not reversed by it.
const NOT_TURNED: &[&str] = &[
    "discover",
    "disease",
    "display",
    "dismiss",
    "disclose",
    "discount",
    "discharge",
    "discourse",
    "dispatch",
    "dispose",
    "dissolve",
    "distress",
    "distract",
    "dispute",
    "district",
    "disport",
    "unit",
    "union",
    "invaluable",
    "infamous",
    "inflammable",
    "intense",
    "intent",
    "internal",
    "unloose",
    "unravel",
    "dissever",
    "discard",
    "disgorge",
    "inward",
    "indoor",
    "inborn",
    "inbred",
    "inner",
];

/// Pairs of endings that reverse a meaning, where the rest of the word is the same.
const ENDINGS: &[(&str, &str)] = &[
    ("ful", "less"),
    ("fully", "lessly"),
    ("fulness", "lessness"),
    ("y", "less"),
    ("ed", "less"),
    ("ous", "less"),
];

/// Judgements of everyday speech that WordNet keeps apart: any word of one side is opposed to any
/// word of the other.
const POLES: &[(&str, &str)] = &[
    (
        "good great excellent wonderful fantastic amazing awesome superb brilliant terrific \
         perfect outstanding magnificent fabulous stellar",
        "bad terrible awful horrible dreadful lousy poor crappy abysmal atrocious horrendous \
         horrid shitty rubbish pathetic appalling",
    ),
    (
        "happy glad joyful cheerful delighted joyous merry pleased",
        "sad unhappy miserable depressed gloomy sorrowful upset heartbroken",
    ),
    (
        "smart intelligent clever bright wise brilliant brainy knowledgeable",
        "dumb stupid idiotic foolish unintelligent moronic ignorant dim unwise brainless retarded",
    ),
    (
        "friend ally buddy pal",
        "enemy foe opponent adversary rival",
    ),
    (
        "funny hilarious witty humorous amusing",
        "unfunny humorless serious",
    ),
    (
        "interesting fascinating exciting engaging thrilling gripping entertaining compelling",
        "boring dull tedious uninteresting unexciting tiresome dreary bland",
    ),
    (
        "love adore like enjoy cherish",
        "hate despise loathe detest dislike abhor",
    ),
    (
        "kind nice friendly gentle polite",
        "cruel mean nasty unkind rude hostile unfriendly brutal",
    ),
    (
        "beautiful pretty gorgeous lovely attractive handsome",
        "ugly hideous unattractive repulsive",
    ),
    ("best greatest finest", "worst poorest"),
    ("success triumph hit", "failure flop disaster"),
    (
        "honest truthful sincere",
        "dishonest lying deceitful insincere",
    ),
];

/// Returns whether `one` and `other`, in any case and form, are opposites: antonyms in WordNet,
/// adjectives near to antonyms (`awful`, which is similar to `bad`, is against `good`), or words
/// that a prefix (`happy`, `unhappy`) or an ending (`careful`, `careless`) reverses. No function
/// word has an opposite here.
pub fn are_antonyms(one: &str, other: &str) -> bool {
    if is_function_word(one) || is_function_word(other) {
        return false;
    }
    let others = lemmas(other);
    lemmas(one).iter().any(|one| {
        let mut others = others.iter();
        others.any(|other| one != other && (opposed(one, other) || turned(one, other)))
    })
}

/// Returns whether two base forms are opposites by the dictionary.
fn opposed(one: &str, other: &str) -> bool {
    let dictionary = Dictionary::shipped();
    let against = dictionary.clusters(other);
    let pole = |side: &str, word: &str| side.split_ascii_whitespace().any(|of| of == word);
    let poles = || {
        POLES.iter().any(|(up, down)| {
            pole(up, one) && pole(down, other) || pole(up, other) && pole(down, one)
        })
    };
    let near = || {
        dictionary
            .clusters(one)
            .iter()
            .any(|cluster| against.contains(&(cluster ^ 1)))
    };
    dictionary.opposed(one, other) || poles() || near()
}

/// Returns whether a prefix or an ending makes opposites of two base forms.
fn turned(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() < other.len() {
        (one, other)
    } else {
        (other, one)
    };
    let dictionary = Dictionary::shipped();
    let prefix = long.strip_suffix(short).filter(|_| short.len() > 2);
    let both = |class| dictionary.has(short, class) && dictionary.has(long, class);
    let prefixed = prefix.is_some_and(|prefix| {
        let turns = PREFIXES.iter().find(|(turning, _)| *turning == prefix);
        turns.is_some_and(|(_, classes)| classes.iter().any(|&class| both(class)))
            && !NOT_TURNED.contains(&long)
    });
    prefixed
        || ENDINGS.iter().any(|(with, without)| {
            let ends = |a: &str, b: &str| {
                let stem = a.strip_suffix(with);
                stem.is_some_and(|stem| stem.len() > 2 && b.strip_suffix(without) == Some(stem))
            };
            ends(one, other) || ends(other, one)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opposites_are_found() {
        let mut wrong = Vec::new();
        for (one, other) in [
            ("good", "bad"),
            ("good", "awful"),
            ("good", "terrible"),
            ("bad", "great"),
            ("happy", "unhappy"),
            ("happy", "sad"),
            ("hot", "cold"),
            ("love", "hate"),
            ("win", "lose"),
            ("loved", "hated"),
            ("better", "worse"),
            ("best", "worst"),
            ("big", "small"),
            ("huge", "tiny"),
            ("smart", "stupid"),
            ("intelligent", "dumb"),
            ("beautiful", "ugly"),
            ("careful", "careless"),
            ("hopefully", "hopelessly"),
            ("possible", "impossible"),
            ("legal", "illegal"),
            ("regular", "irregular"),
            ("appear", "disappears"),
            ("honest", "dishonest"),
            ("dead", "alive"),
            ("rich", "poor"),
            ("strong", "weak"),
            ("boring", "interesting"),
            ("fast", "slow"),
            ("quickly", "slowly"),
            ("open", "close"),
            ("friend", "enemy"),
            ("success", "failure"),
            ("accept", "reject"),
            ("likes", "dislike"),
            ("interesting", "uninteresting"),
            ("guilty", "innocent"),
            ("safe", "dangerous"),
            ("Clean", "DIRTY"),
            ("important", "unimportant"),
            ("moral", "immoral"),
            ("remember", "forgot"),
        ] {
            if !are_antonyms(one, other) || !are_antonyms(other, one) {
                wrong.push((one, other));
            }
        }
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    #[test]
    fn other_words_are_no_opposites() {
        for (one, other) in [
            ("good", "great"),
            ("good", "nice"),
            ("bad", "awful"),
            ("dog", "cat"),
            ("movie", "film"),
            ("happy", "glad"),
            ("cover", "discover"),
            ("ease", "disease"),
            ("it", "unit"),
            ("famous", "infamous"),
            ("red", "green"),
            ("run", "walk"),
            ("driver", "teacher"),
            ("big", "huge"),
            ("good", "good"),
            ("stupid", "dumb"),
            ("hate", "despise"),
            ("watch", "see"),
            ("quick", "fast"),
            ("house", "home"),
            ("never", "always"),
            ("no", "yes"),
            ("with", "without"),
            ("", ""),
        ] {
            assert!(!are_antonyms(one, other), "{one} {other}");
        }
    }
}
