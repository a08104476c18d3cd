//! Inflection: the forms of a base form.

use std::borrow::Cow;

use super::dictionary::{Dictionary, OpenClass};
use super::figures::Figures;
use super::tag::Tag;
use super::verbs;

/// Returns the form of the base form `lemma` that has `tag`: the plural, the forms of verbs, and
/// the comparative and superlative of adjectives that have them; nothing where there is no such
/// form in one word.
pub fn inflected(lemma: &str, tag: Tag) -> Option<String> {
    let lemma = &*lower(lemma);
    if lemma == "be" {
        return be(tag).map(str::to_owned);
    }
    let known = match tag {
        Tag::Nn | Tag::Nnp | Tag::Vb | Tag::Vbp | Tag::Jj | Tag::Rb => {
            return Some(lemma.to_owned());
        }
        Tag::Vbd => verbs::past(lemma).map(|[past, _]| past.to_owned()),
        Tag::Vbn => verbs::past(lemma).map(|[_, participle]| participle.to_owned()),
        Tag::Vbz if lemma == "have" => Some("has".to_owned()),
        Tag::Rbr | Tag::Rbs if !matches!(lemma, "well" | "badly" | "far" | "much" | "little") => {
            // Other adverbs compare as the adjectives they are alike: fast, hard, early.
            let dictionary = Dictionary::shipped();
            let both = dictionary.has(lemma, OpenClass::Adjective)
                && dictionary.has(lemma, OpenClass::Adverb);
            let tag = if tag == Tag::Rbr { Tag::Jjr } else { Tag::Jjs };
            return both.then(|| inflected(lemma, tag)).flatten();
        }
        Tag::Jjr | Tag::Jjs | Tag::Rbr | Tag::Rbs => match (lemma, tag) {
            ("good" | "well", Tag::Jjr | Tag::Rbr) => Some("better".to_owned()),
            ("good" | "well", _) => Some("best".to_owned()),
            ("bad" | "ill" | "badly", Tag::Jjr | Tag::Rbr) => Some("worse".to_owned()),
            ("bad" | "ill" | "badly", _) => Some("worst".to_owned()),
            ("far", Tag::Jjr | Tag::Rbr) => Some("further".to_owned()),
            ("far", _) => Some("furthest".to_owned()),
            ("much" | "many", Tag::Jjr | Tag::Rbr) => Some("more".to_owned()),
            ("much" | "many", _) => Some("most".to_owned()),
            ("little", Tag::Jjr | Tag::Rbr) => Some("less".to_owned()),
            ("little", _) => Some("least".to_owned()),
            _ if !compares(lemma) => return None,
            _ => listed(OpenClass::Adjective, lemma, tag),
        },
        Tag::Nns | Tag::Nnps => plural(lemma),
        Tag::Vbg | Tag::Vbz => listed(OpenClass::Verb, lemma, tag),
        _ => return None,
    };
    let past =
        || listed(OpenClass::Verb, lemma, tag).filter(|_| matches!(tag, Tag::Vbd | Tag::Vbn));
    known.or_else(past).or_else(|| by_rule(lemma, tag))
}

fn be(tag: Tag) -> Option<&'static str> {
    Some(match tag {
        Tag::Vb => "be",
        Tag::Vbp => "are",
        Tag::Vbz => "is",
        Tag::Vbd => "was",
        Tag::Vbn => "been",
        Tag::Vbg => "being",
        _ => return None,
    })
}

/// Returns the irregular plural, unless texts prefer the regular one (`brothers`, not `brethren`).
fn plural(lemma: &str) -> Option<String> {
    if lemma == "person" {
        return Some("people".to_owned());
    }
    if let Some(start) = man(lemma) {
        return Some(format!("{start}men"));
    }
    let figures = Figures::shipped();
    let count = |form: &str| figures.uses(form).map_or(0, |uses| uses.size());
    let regular = by_rule(lemma, Tag::Nns)?;
    let forms = Dictionary::shipped().forms(OpenClass::Noun, lemma);
    let forms = forms.iter().filter(|form| !form.ends_with("sses"));
    let best = forms.max_by_key(|form| count(form))?;
    (count(best) >= count(&regular)).then(|| best.to_string())
}

/// Returns the part before `man` of a noun whose plural has `men`.
pub(super) fn man(lemma: &str) -> Option<&str> {
    let others = [
        "human", "german", "roman", "shaman", "talisman", "ottoman", "norman", "caiman",
    ];
    lemma
        .strip_suffix("man")
        .filter(|_| !others.contains(&lemma))
}

/// Returns the irregular form of `lemma` in WordNet's list that has `tag`.
fn listed(class: OpenClass, lemma: &str, tag: Tag) -> Option<String> {
    let forms = Dictionary::shipped().forms(class, lemma).iter();
    let mut fits = forms.filter(|form| {
        let mut is = false;
        irregular_tags(class, form, lemma, |other| is |= other == tag);
        // Of a verb that is not in the list of irregular ones only the doubled letter is of use.
        is && (!matches!(tag, Tag::Vbd | Tag::Vbn) || form.ends_with("ed"))
    });
    fits.next().map(|form| form.to_string())
}

/// Returns whether an adjective has forms of comparison in one word: short ones, and those of two
/// syllables that end in y, le, ow or er. Participles have none.
fn compares(lemma: &str) -> bool {
    if [
        "ing", "ed", "ous", "ful", "less", "ish", "ive", "al", "ic", "nt",
    ]
    .iter()
    .any(|e| lemma.ends_with(e))
        && syllables(lemma) > 1
    {
        return false;
    }
    match syllables(lemma) {
        0 | 1 => true,
        2 => ["y", "le", "ow", "er"]
            .iter()
            .any(|end| lemma.ends_with(end)),
        3 => lemma.starts_with("un") && lemma.ends_with('y'),
        _ => false,
    }
}

fn is_vowel(letter: char) -> bool {
    matches!(letter, 'a' | 'e' | 'i' | 'o' | 'u')
}

/// Counts the groups of vowels, without a silent e at the end.
fn syllables(word: &str) -> usize {
    let sounds = |letter: char| is_vowel(letter) || letter == 'y';
    let mut groups = 0;
    let mut before = ' ';
    for letter in word.chars() {
        groups += usize::from(sounds(letter) && !sounds(before));
        before = letter;
    }
    let mut end = word.chars().rev();
    let silent = end.next() == Some('e')
        && end
            .next()
            .is_some_and(|c| !sounds(c) && c != 'l' || end.next().is_some_and(sounds));
    groups - usize::from(silent && groups > 1)
}

/// Returns the form by the rules of spelling.
pub(super) fn by_rule(lemma: &str, tag: Tag) -> Option<String> {
    let mut end = lemma.chars().rev();
    let last = end.next()?;
    let before = end.next().unwrap_or(' ');
    let short = || &lemma[..lemma.len() - last.len_utf8()];
    let y = last == 'y' && !is_vowel(before);
    let doubles = doubles_its_last(lemma);
    Some(match tag {
        Tag::Nns | Tag::Nnps | Tag::Vbz => {
            let hisses = ["s", "x", "z", "ch", "sh"]
                .iter()
                .any(|end| lemma.ends_with(end));
            let o = last == 'o' && !is_vowel(before) && O_WITH_ES.contains(&lemma);
            match () {
                () if y && tag != Tag::Nnps => format!("{}ies", short()),
                () if hisses || o => format!("{lemma}es"),
                () => format!("{lemma}s"),
            }
        }
        Tag::Vbd | Tag::Vbn | Tag::Jjr | Tag::Jjs => {
            let ending = match tag {
                Tag::Jjr => "er",
                Tag::Jjs => "est",
                _ => "ed",
            };
            match () {
                () if last == 'e' => format!("{lemma}{}", &ending[1..]),
                () if y => format!("{}i{ending}", short()),
                () if doubles => format!("{lemma}{last}{ending}"),
                () => format!("{lemma}{ending}"),
            }
        }
        Tag::Vbg => match () {
            () if lemma.ends_with("ie") => format!("{}ying", &lemma[..lemma.len() - 2]),
            () if last == 'e' && !matches!(before, 'e' | 'o' | 'y') && lemma.len() > 2 => {
                format!("{}ing", short())
            }
            () if doubles => format!("{lemma}{last}ing"),
            () => format!("{lemma}ing"),
        },
        _ => return None,
    })
}

/// Returns the form with the last letter doubled, as British English has it: `travelled`.
pub(super) fn doubled(lemma: &str, tag: Tag) -> Option<String> {
    let last = lemma.chars().next_back().filter(|&c| !is_vowel(c))?;
    let ending = match tag {
        Tag::Vbd | Tag::Vbn => "ed",
        Tag::Vbg => "ing",
        Tag::Jjr => "er",
        Tag::Jjs => "est",
        _ => return None,
    };
    Some(format!("{lemma}{last}{ending}"))
}

/// Nouns and verbs in o that take es.
const O_WITH_ES: &[&str] = &[
    "do", "go", "echo", "hero", "veto", "potato", "tomato", "torpedo", "negro", "undergo",
    "embargo", "forgo", "outdo", "redo", "undo", "overdo", "mosquito",
];

/// Returns whether the last letter is doubled before a vowel: `plan`, `big`, `stop`, but not
/// `rain`, `fix`.
fn doubles_its_last(lemma: &str) -> bool {
    let letters: Vec<char> = lemma.chars().collect();
    let [.., first, vowel, last] = letters[..] else {
        return false;
    };
    // After q the u is no vowel: quit, equip.
    let group = letters.len() > 3 && first == 'u' && letters[letters.len() - 4] == 'q';
    syllables(lemma) == 1
        && is_vowel(vowel)
        && !matches!(last, 'w' | 'x' | 'y')
        && !is_vowel(last)
        && (!is_vowel(first) || group)
}

/// Adds the tags that the irregular `form` of `lemma` can have.
pub(super) fn irregular_tags(class: OpenClass, form: &str, lemma: &str, mut add: impl FnMut(Tag)) {
    match class {
        OpenClass::Noun => add(Tag::Nns),
        OpenClass::Verb if form.ends_with("ing") => add(Tag::Vbg),
        OpenClass::Verb if form.ends_with('s') && !form.ends_with("ss") => add(Tag::Vbz),
        OpenClass::Verb => match verbs::past(lemma) {
            // The list of verbs tells the two pasts apart; the exceptions do not.
            Some(forms) if forms.contains(&form) => {}
            None if lemma == "be" => {}
            _ => {
                add(Tag::Vbd);
                add(Tag::Vbn);
            }
        },
        OpenClass::Adjective if form.ends_with("st") => add(Tag::Jjs),
        OpenClass::Adjective => add(Tag::Jjr),
        OpenClass::Adverb if form.ends_with("st") => add(Tag::Rbs),
        OpenClass::Adverb => add(Tag::Rbr),
    }
}

/// Converts `word` to lower case, with the plain apostrophe.
pub(super) fn lower(word: &str) -> Cow<'_, str> {
    if word
        .bytes()
        .all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase())
    {
        Cow::Borrowed(word)
    } else {
        Cow::Owned(word.to_lowercase().replace('\u{2019}', "'"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_have_plurals() {
        let mut wrong = Vec::new();
        for pair in "dog dogs|city cities|boy boys|box boxes|class classes|church churches|bush \
                     bushes|man men|woman women|child children|mouse mice|foot feet|tooth teeth|\
                     wife wives|knife knives|leaf leaves|hero heroes|potato potatoes|photo photos|\
                     radio radios|brother brothers|chairman chairmen|crisis crises|person people|\
                     movie movies|neighbour neighbours|quiz quizzes|bus buses|roof roofs|belief \
                     beliefs|lady ladies|criterion criteria|analysis analyses|goose geese|thief \
                     thieves|half halves|stereo stereos|Policeman policemen|actress actresses|wolf \
                     wolves"
            .split('|')
        {
            let (one, many) = pair.trim().split_once(' ').unwrap();
            let found = inflected(one, Tag::Nns).unwrap_or_default();
            if found != many {
                wrong.push((found, many));
            }
        }
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    #[test]
    fn verbs_have_forms() {
        let mut wrong = Vec::new();
        for forms in "walk walks walked walked walking|love loves loved loved loving|try tries \
                      tried tried trying|play plays played played playing|plan plans planned \
                      planned planning|go goes went gone going|be is was been being|have has had \
                      had having|do does did done doing|see sees saw seen seeing|write writes \
                      wrote written writing|run runs ran run running|die dies died died dying|lie \
                      lies lay lain lying|agree agrees agreed agreed agreeing|fix fixes fixed \
                      fixed fixing|watch watches watched watched watching|cut cuts cut cut cutting|\
                      prefer prefers preferred preferred preferring|visit visits visited visited \
                      visiting|rain rains rained rained raining|quit quits quit quit quitting|hope \
                      hopes hoped hoped hoping|dye dyes dyed dyed dyeing|admit admits admitted \
                      admitted admitting|open opens opened opened opening|sit sits sat sat sitting|\
                      get gets got gotten getting|know knows knew known knowing|tie ties tied tied \
                      tying|swim swims swam swum swimming|use uses used used using|begin begins \
                      began begun beginning|show shows showed shown showing"
            .split('|')
        {
            let forms: Vec<&str> = forms.split_whitespace().collect();
            let tags = [Tag::Vb, Tag::Vbz, Tag::Vbd, Tag::Vbn, Tag::Vbg];
            for (tag, form) in tags.into_iter().zip(&forms) {
                let found = inflected(forms[0], tag).unwrap_or_default();
                if found != *form {
                    wrong.push((found, *form));
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    #[test]
    fn short_adjectives_compare() {
        let mut wrong = Vec::new();
        for forms in "big bigger biggest|happy happier happiest|nice nicer nicest|good better best|\
                      bad worse worst|fast faster fastest|dumb dumber dumbest|ugly uglier ugliest|\
                      simple simpler simplest|narrow narrower narrowest|free freer freest|new \
                      newer newest|thin thinner thinnest|dry drier driest|clever cleverer \
                      cleverest|unhappy unhappier unhappiest|old older oldest|black blacker \
                      blackest|large larger largest|sad sadder saddest|slow slower slowest|far \
                      further furthest"
            .split('|')
        {
            let forms: Vec<&str> = forms.split_whitespace().collect();
            for (tag, form) in [Tag::Jjr, Tag::Jjs].into_iter().zip(&forms[1..]) {
                let found = inflected(forms[0], tag).unwrap_or_default();
                if found != *form {
                    wrong.push((found, *form));
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:?}");
        for long in
            "beautiful boring interesting famous tired stupid-ish political careless".split(' ')
        {
            assert_eq!(inflected(long, Tag::Jjr), None, "{long}");
        }
        assert_eq!(inflected("fast", Tag::Rbr).as_deref(), Some("faster"));
        assert_eq!(inflected("well", Tag::Rbs).as_deref(), Some("best"));
        assert_eq!(inflected("quickly", Tag::Rbr), None);
        assert_eq!(inflected("dog", Tag::Md), None);
        assert_eq!(inflected("", Tag::Nns), None);
    }
}
