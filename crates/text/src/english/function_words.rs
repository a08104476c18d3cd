//! Words of the closed classes, and other words that reverse or grade the meaning of the words
//! beside them.

use std::sync::LazyLock;

use hashbrown::HashMap;

use super::forms::lower;
use super::tag::{Tag, TagSet};

/// Tags and the words that have them. Contractions are as [`crate::tokenizer`] splits them; of
/// words without their apostrophe only those that are no other word are here.
const CLOSED: &[(&[Tag], &str)] = &[
    (
        &[Tag::Prp],
        "i me you he him she it we us they them myself yourself himself herself itself ourselves \
         yourselves themselves themself oneself thee thou ye mine yours hers ours theirs u y'all \
         yall em ya 'em",
    ),
    (&[Tag::Prp, Tag::PrpPossessive], "her his"),
    (&[Tag::PrpPossessive], "my your its our their thy ur"),
    (
        &[Tag::Nn],
        "everyone everybody everything someone somebody something anyone anybody anything nobody \
         nothing none noone",
    ),
    (
        &[Tag::Dt],
        "a an the every another this these those some any no each da",
    ),
    (&[Tag::Dt, Tag::Pdt], "all both half such"),
    (&[Tag::Dt, Tag::Cc, Tag::Rb], "either neither"),
    (&[Tag::Dt, Tag::In, Tag::Wdt], "that"),
    (
        &[Tag::Jj],
        "many few several other same own certain enough fewer various",
    ),
    (&[Tag::Jj, Tag::Rb], "much little"),
    (&[Tag::Jjr, Tag::Rbr], "more less"),
    (&[Tag::Jjs, Tag::Rbs], "most least"),
    (
        &[Tag::In],
        "of in for with on at by from as into like about than because if through after over \
         between against during without before under while although though since around among \
         amongst until till upon whether within along across behind beyond toward towards despite \
         per above below near unless once off out up down throughout onto via except besides \
         beneath beside amid amidst underneath concerning regarding versus vs notwithstanding lest \
         whilst unlike inside outside alongside atop aboard minus plus past opposite cause bc cuz \
         coz cos tho altho thru w abt",
    ),
    (
        &[Tag::Rp, Tag::In],
        "up out off down over on in away along about through around",
    ),
    (&[Tag::Cc], "and or but nor & plus n yet and/or"),
    (&[Tag::To], "to"),
    (
        &[Tag::Md],
        "can could will would shall should may might must ought ca wo sha 'll 'd ll cannot",
    ),
    (&[Tag::Vbp], "am are 're 'm 've ai r re ve"),
    (&[Tag::Vbz], "is has does s"),
    (&[Tag::Vbz, Tag::Pos], "'s"),
    (&[Tag::Vbd], "was were did"),
    (&[Tag::Vbd, Tag::Vbn], "had"),
    (&[Tag::Vbd, Tag::Md], "'d"),
    (&[Tag::Vb, Tag::Vbp], "be have do"),
    (&[Tag::Vbn], "been done"),
    (&[Tag::Vbg], "being having doing"),
    (&[Tag::Pos], "'"),
    (
        &[Tag::Rb],
        "not n't never hardly scarcely barely seldom rarely nowhere no only just even too very so \
         also almost nearly quite rather merely simply mostly partly somewhat always ever already \
         still yet again then there here now thus hence therefore however moreover nevertheless \
         nonetheless otherwise instead else maybe perhaps really completely totally utterly \
         absolutely entirely fully extremely highly fairly somehow anyway anyways anywhere \
         everywhere somewhere sometimes often usually neither nor cant dont wont didnt doesnt isnt \
         arent wasnt werent aint couldnt wouldnt shouldnt havent hasnt hadnt not nt",
    ),
    (
        &[Tag::Vbp],
        "gonna wanna gotta dunno im ive youre theyre shouldve couldve wouldve lemme gimme hafta",
    ),
    (&[Tag::Wdt, Tag::In], "that"),
    (&[Tag::Wdt, Tag::Wp], "which what whatever whichever"),
    (&[Tag::Wp], "who whom whoever whomever wut wat"),
    (&[Tag::WpPossessive], "whose"),
    (
        &[Tag::Wrb],
        "when where why how whenever wherever whence whereby wherein however",
    ),
    (&[Tag::Ex, Tag::Rb], "there"),
    (
        &[Tag::Cd],
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen \
         fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy \
         eighty ninety hundred thousand million billion trillion",
    ),
    (
        &[Tag::Cd, Tag::Nns],
        "hundreds thousands millions billions ones dozens",
    ),
    (
        &[Tag::Jj],
        "first second third fourth fifth sixth seventh eighth ninth tenth last next",
    ),
    (&[Tag::Nn], "dozen lot lots bunch plenty"),
    (
        &[Tag::Uh],
        "oh ah aha hey hi hello wow yes yeah yep yup nope nah no ok okay ugh huh hmm um uh er oops \
         ouch please pls plz thanks lol lmao lmfao rofl omg omfg wtf haha hahaha hehe hurray \
         hooray alas bravo damn gosh yay meh duh eh bye goodbye yo xd btw imo imho idk tbh smh brb \
         thx ty",
    ),
];

/// Words of the list above that are content words as often: verbs, nouns and adjectives that may be
/// replaced.
const OF_CONTENT: &[&str] = &[
    "mine",
    "cause",
    "second",
    "past",
    "opposite",
    "damn",
    "bravo",
    "bunch",
    "certain",
    "various",
    "inside",
    "outside",
    "simply",
    "completely",
    "totally",
    "utterly",
    "absolutely",
    "entirely",
    "fully",
    "extremely",
    "highly",
    "fairly",
    "concerning",
    "away",
    "done",
];

/// The words of the closed classes and their tags.
static TAGS: LazyLock<HashMap<&str, TagSet>> = LazyLock::new(|| {
    let mut tags: HashMap<&str, TagSet> = HashMap::new();
    for (of, words) in CLOSED {
        for word in words.split_ascii_whitespace() {
            tags.entry(word).or_default().extend(of.iter().copied());
        }
    }
    tags
});

/// Returns the tags of `word`, in lower case, as a member of closed classes.
pub(super) fn tags(word: &str) -> TagSet {
    TAGS.get(word).copied().unwrap_or_default()
}

/// Returns whether `word`, in any case, belongs to the frame of sentences rather than to their
/// content: pronouns, determiners, prepositions, conjunctions, auxiliaries, question words,
/// numbers, frequent interjections; and whatever reverses or grades a meaning: negations (`never`,
/// `hardly`, `dont`), quantifiers (`few`, `most`) and words of degree (`too`, `very`). Such a word
/// is not to be exchanged for a neighbour: `no` and `some` lie close to one another.
pub fn is_function_word(word: &str) -> bool {
    let word = &*lower(word);
    let number = || {
        word.starts_with(|c: char| c.is_numeric())
            && word
                .chars()
                .all(|c| c.is_numeric() || matches!(c, '.' | ','))
    };
    !tags(word).is_empty() && !OF_CONTENT.contains(&word) || number()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_frame_are_function_words() {
        for word in "the a an she him Her THEY itself whose of in because and or nor but if to can \
                     ca wo n't 'll 'd 's 're 've not never hardly no only most few little many \
                     much more less least any some every each all both neither nobody nothing none \
                     without unless until than too very so quite almost just even is was been be \
                     being have had does did who which when how three twelve hundred first 1,000 7 \
                     3.5 oh lol omg wtf yes please dont cant u ur gonna there here again still \
                     already yet perhaps enough several against despite"
            .split_whitespace()
        {
            assert!(is_function_word(word), "{word}");
        }
        assert!(is_function_word("n\u{2019}t"));
    }

    #[test]
    fn words_of_content_are_not() {
        for word in "dog good people black hate love movie run running terrible stupid slowly man \
                     women driver city happy beautiful idiot thing things time make made go went \
                     get got say think know want need try old new great bad 3rd 1980s quickly \
                     cause mine second opposite friend well back way work case point"
            .split_whitespace()
        {
            assert!(!is_function_word(word), "{word}");
        }
    }

    #[test]
    fn words_of_several_classes_have_all_their_tags() {
        for (word, expected) in [
            ("that", "DT IN WDT"),
            ("her", "PRP PRP$"),
            ("'s", "VBZ POS"),
            ("'d", "VBD MD"),
            ("no", "RB DT UH"),
            ("most", "JJS RBS"),
            ("up", "IN RP"),
            ("there", "RB EX"),
            ("n't", "RB"),
            ("&", "CC"),
        ] {
            let names: Vec<&str> = tags(word).iter().map(Tag::name).collect();
            assert_eq!(names.join(" "), expected, "{word}");
        }
        assert!(OF_CONTENT.iter().all(|word| !tags(word).is_empty()));
    }
}
