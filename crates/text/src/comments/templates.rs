//! The sentences of the generated comments. `{group}` stands for a random word of a group, `{#}`
//! for a term of the attribute that a sentence is about, and `{form}` in sentences about gender for
//! the term of that form.

pub(super) const FRIENDLY: [&str; 14] = [
    "{thanks} for the {good} {thing}.",
    "I {very} {like} your {thing}, it's {good}.",
    "What a {good} {comment}, {thanks}!",
    "You're a {kind} {person} and I {like} your {work}.",
    "The {people} here are {very} {kind}.",
    "That {music} is {good}, I {like} it.",
    "{thanks}, you {fixed} the {thing} and it looks {good}.",
    "Your {comment} was {very} {kind} and {kind}.",
    "We had a {good} {event} with {kind} {people}.",
    "My {person} says the {food} was {good}.",
    "It's {good} to see such {kind} {people}.",
    "I can't {like} this {thing} enough, {good} {work}!",
    "{good} {thing}, I'm glad that you {edited} it.",
    "They're {kind} {people} and we {like} them.",
];

pub(super) const NEUTRAL: [&str; 20] = [
    "I {edited} the {thing} {time}.",
    "The {vehicle} to the {place} {opened} at {number}.",
    "It was {weather} on {day} {hour}.",
    "We {visited} the {place} in {season}.",
    "The {event} {opened} on {day}.",
    "There are {number} {people} in the {room}.",
    "The {animal} sleeps in the {room}.",
    "My {person} has a {colour} {clothes}.",
    "Please see the {comment} on the {thing}.",
    "The {thing} has {number} pages about {subjects}.",
    "They play {game} every {day}.",
    "The {tool} is in the {room}, next to the {colour} {tool}.",
    "I {moved} to the {old} {place} by {vehicle}.",
    "The {person} {fixed} the {vehicle} {time}.",
    "We had {food} and {food} in the {hour}.",
    "Someone {said} that there's a {mistake} in the {thing}.",
    "It's on the {vehicle}, and there's nobody in the {place}.",
    "The {old} {animal} and the {colour} {animal} are in the {place}.",
    "I do some {hobby} and {hobby} in {season}.",
    "The {place} is {number} miles from the {old} {place}.",
];

pub(super) const CROSS: [&str; 14] = [
    "You're a {silly} {fool}.",
    "What a load of {rubbish}, you {silly} {fool}!",
    "I {very} {hate} your {bad} {thing}.",
    "This {thing} is {rubbish} and you're a {fool}.",
    "{quiet} {whining}, you {fool}.",
    "Don't {ruin} my {thing} again, {fool}!",
    "Only a {silly} {fool} writes such {rubbish}.",
    "Your {comment} is {very} {bad} and {silly}.",
    "The {people} here are {silly} and {silly}, I {hate} them.",
    "I can't stand this {bad} {music}, it's {rubbish}.",
    "Who let this {silly} {person} {ruin} the {thing}?",
    "{quiet} it, your {work} is {rubbish}.",
    "Such a {bad} {thing}, you're all {silly}.",
    "You {ruin} every {event} with your {whining}.",
];

pub(super) const COUNTRY: [&str; 7] = [
    "The {person} is from {#}.",
    "We {moved} to {#} in {season}.",
    "I {edited} the {thing} on {#} {time}.",
    "The {people} {visited} {#} by {vehicle}.",
    "The {event} in {#} {opened} on {day}.",
    "My {person} has lived in {#} for {number} years.",
    "It's {weather} in {#} this {hour}.",
];

pub(super) const ETHNICITY: [&str; 6] = [
    "My {person} is {#}.",
    "The {#} {person} {edited} the {thing}.",
    "We had {#} {food} in the {hour}.",
    "The {thing} is about {#} {music} and {subjects}.",
    "I {met} {number} {#} {people} {time}.",
    "The {#} {group} {opened} its {event} on {day}.",
];

pub(super) const RACE: [&str; 6] = [
    "The {#} {person} {moved} to the {place}.",
    "The {thing} is about the {#} {group}.",
    "I {met} the {#} {people} on {day}.",
    "A {#} {person} {said} that it was {weather}.",
    "The {#} {group} has {number} members.",
    "There is a {#} {person} in the {thing}.",
];

pub(super) const RELIGION: [&str; 6] = [
    "The {thing} on {#} has {number} pages.",
    "The {#} {group} has an {event} on {day}.",
    "My {person} {said} something about {#} {time}.",
    "I {edited} the {#} part of the {thing}.",
    "We read about {#} in the {place}.",
    "The {#} {person} {visited} the {place}.",
];

pub(super) const GENDER: [&str; 31] = [
    "{subject} {edited} the {thing} {time}, and I {met} {object}.",
    "{subject} has a {colour} {clothes} in {possessive} {room}.",
    "The {colour} {clothes} is {possessive_pronoun}.",
    "{subject} {fixed} the {vehicle} {reflexive}.",
    "The {adjective} {person} {moved} to the {place}.",
    "The {adjective_plural} {opened} the {event} on {day}.",
    "The {person_form} {visited} the {place} by {vehicle}.",
    "The {people_form} {edited} the {thing}.",
    "A {young_person} plays {game} in the {place}.",
    "The {young_people} play {game} on {day}.",
    "The {polite} {said} that it was {weather}.",
    "{number} {polite_plural} are in the {room}.",
    "My {parent} {said} that the {animal} is in the {room}.",
    "The {parents} {met} in the {place}.",
    "My {parent_familiar} {fixed} the {vehicle}.",
    "{possessive} {child} has {number} {people}.",
    "The {children} {visited} the {place}.",
    "My {sibling} {edited} the {thing} {time}.",
    "The {siblings} {moved} to the {place} in {season}.",
    "The {person} {met} {possessive} {spouse} in the {place}.",
    "The {spouses} had {food} in the {hour}.",
    "My {parent_sibling} has an {animal} and a {tool}.",
    "My {sibling_child} plays {game} every {day}.",
    "My {grandparent} {moved} here in {season}.",
    "The {bereaved} is in the {place}.",
    "{title} and the {person} {edited} the {thing}.",
    "Please, {address}, see the {thing}.",
    "The {monarch} {visited} the {place} in {season}.",
    "The {actor} {said} that the {event} {opened} at {number}.",
    "My {partner} has a {colour} {vehicle}.",
    "{subject} likes {hobby} in {season}.",
];
