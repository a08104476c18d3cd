//! Tests of whether a word can stand in the place of another one.

use super::dictionary::lemma;
use super::figures::{Figures, LEAST_SHARE};
use super::forms::lower;
use super::function_words;
use super::inflection::analyses;
use super::tag::Tag;

/// The least share of the uses of a word as a name for it to count as a possible name: in titles,
/// any word is tagged as a name.
const LEAST_SHARE_OF_NAMES: f32 = 0.3;

/// The least share of a tag among the words with the same ending for a word that neither dictionary
/// nor texts have to count as having the tag.
const LEAST_SHARE_OF_ENDINGS: f32 = 0.25;

/// Returns the share of the uses of `word`, in any case, in which it has `tag`; nothing for a word
/// with too few uses in the tagged texts to say (see `english/README.md`).
pub fn share_of_uses(word: &str, tag: Tag) -> Option<f32> {
    let uses = Figures::shipped().uses(&lower(word))?;
    (!uses.are_few()).then(|| uses.share(|other| other == tag))
}

/// Returns whether `candidate` can have the tag `word_tag`, and so stand for a word that has it.
///
/// Its tags in tagged texts decide where it has enough uses there: it must have had the tag in
/// [`LEAST_SHARE`] of its uses, so that `well`, an adjective now and then, stands for none.
/// Forms that are spelled alike count as one: the base form of a verb and its present tense, and
/// the two pasts of a regular verb. For rare words the dictionary decides, for those it does not
/// have, their ending.
pub fn can_stand_for(word_tag: Tag, candidate: &str) -> bool {
    let word = &*lower(candidate);
    let figures = Figures::shipped();
    if !word_tag.is_open() {
        let uses = figures.uses(word).filter(|uses| !uses.are_few());
        let often = uses.is_some_and(|uses| uses.share(|tag| tag == word_tag) >= LEAST_SHARE);
        return function_words::tags(word).contains(word_tag) || often;
    }
    let analyses = analyses(word);
    let has = |tag| analyses.iter().any(|analysis| analysis.tag == tag);
    let least = if word_tag.is_name() {
        LEAST_SHARE_OF_NAMES
    } else {
        LEAST_SHARE
    };
    // What the tagger of the texts took for nouns is clear from its form.
    let compares = matches!(word_tag, Tag::Jjr | Tag::Jjs) && lemma(word).is_none();
    match figures.uses(word) {
        Some(_) if compares && has(word_tag) => true,
        Some(uses) if !uses.are_few() => {
            let own = uses.share(|tag| tag == word_tag);
            own >= least || has(word_tag) && uses.share(|tag| alike(tag, word_tag)) >= least
        }
        _ if word_tag.is_name() => {
            lemma(word).is_some_and(|lemma| lemma.can_be_name()) || has(word_tag)
        }
        _ if has(word_tag) => true,
        Some(uses) => uses.frequent().contains(word_tag),
        None if analyses.is_empty() => {
            let endings = figures.by_ending(word).iter();
            let mut shares = endings.filter(|(tag, _)| *tag == word_tag);
            shares.any(|&(_, level)| super::figures::probability(level) >= LEAST_SHARE_OF_ENDINGS)
        }
        None => false,
    }
}

/// Returns whether one form of a verb as a rule serves for both tags.
fn alike(one: Tag, other: Tag) -> bool {
    let base = |tag| matches!(tag, Tag::Vb | Tag::Vbp);
    let past = |tag| matches!(tag, Tag::Vbd | Tag::Vbn);
    one == other || base(one) && base(other) || past(one) && past(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_have_the_tag_in_a_fair_share_of_their_uses() {
        let mut wrong = Vec::new();
        for (tag, fit, unfit) in [
            (
                Tag::Jj,
                "good bad happy black light fun boring tired worst-case angry dumb cute talented \
                 whimsical idiotic awesome crappy",
                "well dog quickly the hate went house very never dogs best better loves",
            ),
            (
                Tag::Nn,
                "dog light movie fun run work idiot beauty toaster blender acting neighbour",
                "dogs quickly beautiful went loves the very germany him and are",
            ),
            (
                Tag::Nns,
                "dogs movies people women idiots children toasters teeth",
                "dog movie good run is",
            ),
            (
                Tag::Vb,
                "run see love kill eat think watch bake enlarge be go",
                "runs saw loves good is the dogs",
            ),
            (
                Tag::Vbp,
                "run see love think bake are am have",
                "runs saw loves is dogs",
            ),
            (
                Tag::Vbd,
                "went saw walked loved baked was ate flabbergasted",
                "gone seen eaten go sees run",
            ),
            (
                Tag::Vbn,
                "gone seen walked loved eaten baked flabbergasted run",
                "went ate saw go sees was",
            ),
            (
                Tag::Vbz,
                "runs loves sees is bakes has",
                "run love movies good are",
            ),
            (
                Tag::Vbg,
                "running loving baking being",
                "runs run ceiling morning evening",
            ),
            (
                Tag::Rb,
                "quickly well very never badly fast",
                "good dog run bad happy",
            ),
            (
                Tag::Jjr,
                "better worse bigger funnier",
                "good best big driver",
            ),
            (
                Tag::Jjs,
                "best worst biggest funniest",
                "good better big test",
            ),
            (
                Tag::Nnp,
                "germany john london america",
                "dog good run quickly",
            ),
            (Tag::In, "of in with because near", "dog quickly the she"),
            (Tag::Dt, "the a this every no", "of dog she"),
            (Tag::Prp, "she him they it", "her-self dog the of"),
        ] {
            for word in fit.split_whitespace().filter(|word| !word.contains('-')) {
                if !can_stand_for(tag, word) {
                    wrong.push(format!("{word} cannot be {tag}"));
                }
            }
            for word in unfit.split_whitespace() {
                if can_stand_for(tag, word) {
                    wrong.push(format!("{word} can be {tag}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn unknown_words_are_what_their_endings_say() {
        assert!(can_stand_for(Tag::Rb, "blorkingly") && !can_stand_for(Tag::Nns, "blorkingly"));
        assert!(can_stand_for(Tag::Nn, "flumpation") && !can_stand_for(Tag::Vbd, "flumpation"));
    }

    #[test]
    fn shares_are_of_counted_words() {
        assert!(share_of_uses("the", Tag::Dt).unwrap() > 0.95);
        assert!(share_of_uses("Dog", Tag::Nn).unwrap() > 0.6);
        assert_eq!(share_of_uses("qwertz", Tag::Nn), None);
    }
}
