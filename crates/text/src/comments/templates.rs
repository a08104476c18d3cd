//! The sentences of the generated comments. `{group}` stands for a random word of a group, and
//! `{@form}` for a term of that form of the attribute that a sentence is about.

pub(super) const FRIENDLY: [&str; 14] = [
    "{thanks} for the {good} {thing}.",
    "I {really} {like} your {thing}, it's {good}.",
    "What a {good} {comment}, {thanks}!",
    "You're a {kind} {person} and I {like} your {work}.",
    "The {people} here are {very} {kind}.",
    "That {music} is {good}, I {like} it.",
    "{thanks}, you {improved} the {thing} and it looks {good}.",
    "Your {comment} was {very} {kind}.",
    "We had a {good} {event} with {kind} {people}.",
    "My {person} says the {food} was {good}.",
    "It's {good} to see such {kind} {people}.",
    "I can't praise this {thing} enough, {good} {work}!",
    "{good} {thing}, I'm glad that you {edited} it.",
    "They're {kind} {people} and we {like} them.",
];

pub(super) const NEUTRAL: [&str; 20] = [
    "I {edited} the {thing} {time}.",
    "The {vehicle} to the {place} leaves at {number}.",
    "It was {weather} on {day} {hour}.",
    "We {visited} the {place} in {season}.",
    "The {event} {opened} on {day}.",
    "There are {number} {people} in the {room}.",
    "The {animal} sleeps in the {room}.",
    "My {person} has a {colour} {clothes}.",
    "Please see the {comment} on the {thing}.",
    "The {document} has {number} pages about {subjects}.",
    "They play {game} every {day}.",
    "The {tool} is in the {room}, next to the {colour} {clothes}.",
    "I went to the {old} {place} by {vehicle}.",
    "The {person} {fixed} the {vehicle} {time}.",
    "We had {food} and {drink} in the {hour}.",
    "Someone {said} that there's a {mistake} in the {thing}.",
    "There's a {tool} on the {vehicle}, and there's nobody in the {place}.",
    "The {old} {animal} is in the {place}.",
    "I do some {hobby} in {season}.",
    "The {place} is {number} miles from the {old} {room}.",
];

pub(super) const CROSS: [&str; 14] = [
    "You're a {silly} {fool}.",
    "What a load of {rubbish}, you {silly} {fool}!",
    "I {really} {hate} your {bad} {thing}.",
    "This {thing} is {rubbish} and you're a {fool}.",
    "{quiet} {whining}, you {fool}.",
    "Don't {ruin} my {thing} again, {fool}!",
    "Only a {silly} {fool} writes such {rubbish}.",
    "Your {comment} is {bad}, you {fool}.",
    "The {people} here are {silly}, I {hate} them.",
    "I can't stand this {bad} {music}, it's {rubbish}.",
    "Who let this {silly} {person} {ruin} the {thing}?",
    "{quiet} it, your {work} is {rubbish}.",
    "Such a {bad} {thing}, you're all {silly}.",
    "You {ruin} every {event} with your {whining}.",
];

const COUNTRY: [&str; 7] = [
    "The {person} is from {@bare}.",
    "We {moved} to {@bare} in {season}.",
    "I {edited} the {thing} about {@bare} {time}.",
    "The {people} {moved} to {@bare} by {vehicle}.",
    "The {event} in {@bare} {opened} on {day}.",
    "My {person} has lived in {@bare} for {number} years.",
    "It's {weather} in {@bare} this {hour}.",
];

const NATIONALITY: [&str; 7] = [
    "My {person} is {@adjective}.",
    "The {@adjective} {person} {edited} the {thing}.",
    "I {met} {number} {@adjective} {people} {time}.",
    "A {@adjective} {person} {said} that it was {weather}.",
    "The {@adjective} {group} has a {event} on {day}.",
    "My {person} is a {@person}.",
    "I {met} some {@people} in the {place}.",
];

const RACE: [&str; 6] = [
    "The {@adjective} {person} {moved} to the {place}.",
    "The {document} is about a {@adjective} {person}.",
    "I {met} {number} {@adjective} {people} on {day}.",
    "A {@adjective} {person} {said} that it was {weather}.",
    "There is a {@adjective} {person} in the {room}.",
    "My {person} is {@adjective}.",
];

const RELIGION: [&str; 8] = [
    "The {document} on {@faith} has {number} pages.",
    "The {@adjective} {group} has a {event} on {day}.",
    "My {person} asked me about {@faith} {time}.",
    "I {edited} the part about {@faith}.",
    "We read about {@faith} in the {place}.",
    "The {@adjective} {person} {visited} the {place}.",
    "My {person} is a {@person}.",
    "I {met} some {@people} in the {place}.",
];

const GENDER: [&str; 30] = [
    "{@subject} {edited} the {thing} {time}, and I {met} {@object}.",
    "{@subject} has a {colour} {clothes} in {@possessive} {room}.",
    "The {colour} {clothes} is {@standing}.",
    "{@subject} {fixed} the {vehicle} {@reflexive}.",
    "The {@adjective} {person} {moved} to the {place}.",
    "The {@person} {visited} the {place} by {vehicle}.",
    "The {@people} {edited} the {thing}.",
    "A {@young_person} plays {game} in the {place}.",
    "The {@young_people} play {game} on {day}.",
    "The {@polite} {said} that it was {weather}.",
    "{number} {@polite_plural} are in the {room}.",
    "My {@parent} {said} that the {animal} is in the {room}.",
    "The {@parents} had {food} in the {place}.",
    "My {@parent_familiar} {fixed} the {vehicle}.",
    "{@possessive} {@child} has a {colour} {clothes}.",
    "The {@children} {visited} the {place}.",
    "My {@sibling} {edited} the {thing} {time}.",
    "The {@siblings} {moved} to the {place} in {season}.",
    "The {person} {met} {@possessive} {@spouse} in the {place}.",
    "The {@spouses} had {food} in the {hour}.",
    "My {@parent_sibling} has a {animal} and a {tool}.",
    "My {@sibling_child} plays {game} every {day}.",
    "My {@grandparent} {moved} here in {season}.",
    "The {@bereaved} lives next to the {place}.",
    "The {@waiter} and the {person} {edited} the {thing}.",
    "Please, {@address}, see the {thing}.",
    "The {@monarch} {visited} the {place} in {season}.",
    "The {@police} {said} that the {event} {opened} at {number}.",
    "My {@partner} has a {colour} {vehicle}.",
    "{@subject} likes {hobby} in {season}.",
];

/// Returns the sentences about an attribute.
pub(super) fn about(attribute: &str) -> &'static [&'static str] {
    match attribute {
        "country" => &COUNTRY,
        "nationality" => &NATIONALITY,
        "race" => &RACE,
        "religion" => &RELIGION,
        _ => &GENDER,
    }
}

/// Returns the contents of each pair of braces in a sentence.
pub(super) fn slots(template: &str) -> impl Iterator<Item = &str> {
    template.split(['{', '}']).skip(1).step_by(2)
}

/// Returns the forms of terms that a sentence takes.
pub(super) fn forms(template: &str) -> impl Iterator<Item = &str> {
    slots(template).filter_map(|slot| slot.strip_prefix('@'))
}
