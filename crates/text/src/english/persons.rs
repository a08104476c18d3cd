//! Nouns that name human beings.

use super::dictionary::Dictionary;
use super::forms::lower;
use super::inflection::analyses;
use super::tag::Tag;

/// Nouns of groups of persons, which WordNet has among other groups, and nouns of persons that
/// WordNet lacks or has as something else first.
const GROUPS: &[&str] = &[
    "people",
    "ppl",
    "peeps",
    "folk",
    "folks",
    "community",
    "family",
    "crowd",
    "audience",
    "team",
    "gang",
    "mob",
    "couple",
    "household",
    "tribe",
    "clan",
    "minority",
    "majority",
    "population",
    "populace",
    "public",
    "society",
    "generation",
    "nation",
    "crew",
    "squad",
    "jury",
    "congregation",
    "clergy",
    "staff",
    "workforce",
    "personnel",
    "electorate",
    "nobility",
    "aristocracy",
    "bourgeoisie",
    "proletariat",
    "youth",
    "humanity",
    "mankind",
    "humankind",
    "womankind",
    "kin",
    "kinfolk",
    "kindred",
    "offspring",
    "posse",
    "cohort",
    "diaspora",
    "fandom",
    "readership",
    "viewership",
    "membership",
    "elite",
    "peasantry",
    "citizenry",
    "townsfolk",
    "someone",
    "somebody",
    "everyone",
    "everybody",
    "anyone",
    "anybody",
    "nobody",
    "cast",
    "bitch",
    "nigger",
    "nigga",
    "admin",
    "adult",
    "mod",
    "wikipedian",
    "bro",
    "bruh",
    "dude",
    "mum",
    "mom",
    "human",
    "person",
    "redneck",
    "vegan",
    "troll",
    "millennial",
    "influencer",
    "blogger",
    "gamer",
    "celeb",
    "newbie",
    "noob",
    "coworker",
    "caregiver",
    "stepmom",
    "stepdad",
    "grandkid",
    "homie",
    "dumbass",
    "asshole",
    "jackass",
    "dickhead",
    "retard",
    "moron",
    "scumbag",
    "douchebag",
    "neighbor",
    "neighbour",
    "ethnicity",
    "individual",
];

/// Nouns whose persons are mostly not human, or that are seldom meant as persons.
const NOT_PERSONS: &[&str] = &[
    "god",
    "deity",
    "trailer",
    "spoiler",
    "gore",
    "pop",
    "rip",
    "notability",
    "comic",
    "comics",
    "slasher",
    "monster",
    "zombie",
    "vampire",
    "fairy",
    "demon",
    "soul",
    "ghost",
    "witch",
    "devil",
    "angel",
    "bore",
    "thriller",
    "ex",
    "thing",
    "race",
    "head",
];

/// Returns whether `word`, in any case and number, is a noun that mainly names a human being or a
/// group of human beings: `driver`, `neighbours`, `people`, `community`. In WordNet most counted
/// uses are those of a person, or the first sense is where uses were not counted.
pub fn is_person(word: &str) -> bool {
    let word = &*lower(word);
    if names_person(word) {
        return true;
    }
    let plural = |tag| matches!(tag, Tag::Nns | Tag::Nnps);
    let regular = || {
        word.strip_suffix('s')
            .is_some_and(|stem| GROUPS.contains(&stem))
    };
    let mut analyses = analyses(word).into_iter();
    analyses.any(|analysis| plural(analysis.tag) && names_person(&analysis.lemma)) || regular()
}

fn names_person(lemma: &str) -> bool {
    let known = || {
        Dictionary::shipped()
            .get(lemma)
            .is_some_and(|lemma| lemma.is_person())
    };
    (GROUPS.contains(&lemma) || known()) && !NOT_PERSONS.contains(&lemma)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn persons_are_persons() {
        let words = "people man woman men women guy guys driver drivers neighbour neighbors \
                     community communities student students teacher family families friend friends \
                     immigrant immigrants voter voters child children kid kids boy girl girls \
                     mother father son daughter husband wife wives doctor nurse lawyer actor \
                     actress singer president senator editor user users citizen worker workers \
                     boss criminal victim thief thugs idiot idiots moron fool liar Americans \
                     German christian muslims jew person persons human humans folks ppl crowd \
                     audience gentleman ladies officer soldier refugee player athlete customer \
                     tenant employee gamer admin dude adult teenager baby \
                     babies"
            .split_whitespace();
        let wrong: Vec<&str> = words.filter(|word| !is_person(word)).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    #[test]
    fn other_nouns_are_not() {
        let words = "dog dogs car house movie film shirt hole market box board coffee sheep tea \
                     magic humour comedy paint hair eyes skin cat cats music money table book \
                     water idea day days night street country city light power thing things story \
                     scene plot article page link company army world problem running quickly good \
                     the of they news species hat ink pepper friday color ice swan"
            .split_whitespace();
        let wrong: Vec<&str> = words.filter(|word| is_person(word)).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }
}
