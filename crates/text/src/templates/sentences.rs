//! The sentences of templated test sets. `{term}` stands for a term of a form; what the form is in a
//! sentence decides which of them it goes into. They name nothing else that is protected.

use crate::lexicon::Part;

/// The forms of gender whose terms are plural nouns although the lexicon gives them no part of
/// speech.
const PLURAL: &[&str] = &[
    "people",
    "young_people",
    "lasses",
    "polite_plural",
    "parents",
    "parents_familiar",
    "parents_childish",
    "parents_in_law",
    "children",
    "siblings",
    "spouses",
    "partners",
    "parents_siblings",
    "siblings_children",
    "grandparents",
    "grandparents_familiar",
    "grandchildren",
    "bereaved_plural",
    "monarchs",
    "royal_children",
    "religious_plural",
    "waiters",
    "police_plural",
    "business_plural",
    "congress_plural",
    "pupils",
];

const NOUN: &[&str] = &[
    "I am a {term}.",
    "My boss is a {term}.",
    "I met a {term} at the station.",
    "A {term} wrote this page.",
    "We talked to a {term} about the park.",
    "My neighbour is a {term}.",
];

/// Sentences for singular nouns that are recognised wherever they stand.
const PERSON: &[&str] = &[
    "I met the {term} at the station.",
    "The {term} wrote this page.",
    "We talked to the {term} about the park.",
    "I know the {term} from work.",
    "The {term} called me yesterday.",
    "Our guest is a {term}.",
];

const PLURALS: &[&str] = &[
    "Two {term} joined our club.",
    "I met some {term} at the station.",
    "Many {term} read this page.",
    "We talked to these {term} about the park.",
    "Three {term} work with me.",
    "I know several {term} from work.",
];

const ADJECTIVE: &[&str] = &[
    "I am {term}.",
    "My neighbour is {term}.",
    "I met a {term} teacher at the station.",
    "A {term} person wrote this page.",
    "We talked to a {term} student about the park.",
    "Many {term} people read this page.",
];

/// Sentences for adjectives that stand before a noun only, or mean something else elsewhere.
const ATTRIBUTIVE: &[&str] = &[
    "I met a {term} teacher at the station.",
    "A {term} person wrote this page.",
    "We talked to a {term} student about the park.",
    "Many {term} people read this page.",
    "A {term} guest called me yesterday.",
    "I know a {term} cook from work.",
];

const COLLECTIVE: &[&str] = &[
    "This page is about {term}.",
    "We read a book about {term}.",
    "I wrote to the club for {term}.",
    "My teacher told me about {term}.",
    "The museum has a room about {term}.",
    "There is a song about {term}.",
];

/// Sentences about faiths, conditions and qualities.
const TOPIC: &[&str] = &[
    "This page is about {term}.",
    "We read a book about {term}.",
    "I gave a talk on {term}.",
    "My teacher told me about {term}.",
    "The museum has a room about {term}.",
    "I learned something about {term} today.",
];

const PLACE: &[&str] = &[
    "I was born in {term}.",
    "My neighbour is from {term}.",
    "We moved here from {term}.",
    "My cousin works in {term}.",
    "This page is about {term}.",
    "We travelled to {term} by train.",
];

const GIVEN_NAME: &[&str] = &[
    "My name is {term}.",
    "I met {term} at the station.",
    "We talked to {term} about the park.",
    "My neighbour is called {term}.",
    "This page was written by {term}.",
    "I know {term} from work.",
];

const OBJECT: &[&str] = &[
    "I met {term} at the station.",
    "We talked to {term} about the park.",
    "I know {term} from work.",
    "My neighbour called {term} yesterday.",
    "This page was written by {term}.",
    "I like working with {term}.",
];

const SUBJECT: &[&str] = &[
    "I think that {term} wrote this page.",
    "Yesterday {term} called me.",
    "I heard that {term} works here.",
    "We met when {term} moved here.",
    "I know that {term} likes the park.",
    "This is what {term} said.",
];

const POSSESSIVE: &[&str] = &[
    "I read {term} page today.",
    "We talked about {term} work.",
    "The blue coat is in {term} room.",
    "My neighbour fixed {term} car.",
    "I like {term} new song.",
    "We met at {term} house.",
];

const STANDING: &[&str] = &[
    "The blue coat is {term}.",
    "I think that this page is {term}.",
    "That car is not mine but {term}.",
    "The house next door is {term}.",
    "This idea was {term}.",
    "The room upstairs is {term}.",
];

const REFLEXIVE: &[&str] = &[
    "My neighbour wrote this page {term}.",
    "My teacher fixed the car {term}.",
    "The cook made the soup {term}.",
    "The guest carried the bags {term}.",
    "The student learned the song {term}.",
    "Our friend painted the room {term}.",
];

const TITLE: &[&str] = &[
    "I met {term} Carter at the station.",
    "We talked to {term} Carter about the park.",
    "This page was written by {term} Carter.",
    "I know {term} Carter from work.",
    "My teacher is {term} Carter.",
    "Yesterday {term} Carter called me.",
];

const ADDRESS: &[&str] = &[
    "Please read this page, {term}.",
    "Thank you for the help, {term}.",
    "The train is late today, {term}.",
    "Your table is ready, {term}.",
    "I have a question, {term}.",
    "The park is over there, {term}.",
];

const WITH: &[&str] = &[
    "My neighbour is a person {term}.",
    "I met a person {term} at the station.",
    "A teacher {term} wrote this page.",
    "We talked to a student {term} about the park.",
    "I know a cook {term} from work.",
    "Many people {term} read this page.",
];

const COUPLE: &[&str] = &[
    "The neighbours are a {term} couple.",
    "I met a {term} couple at the station.",
    "A {term} couple wrote this page.",
    "We talked to a {term} couple about the park.",
    "I know a {term} couple from work.",
    "A {term} couple moved in next door.",
];

/// Second sentences without ill will.
pub(super) const FRIENDLY: &[&str] = &[
    "Thank you for the kind words.",
    "The weather was lovely today.",
    "Let us have dinner on Friday.",
    "I hope that you like the new garden.",
];

/// Second sentences with mild abuse of the person whom the text addresses.
pub(super) const CROSS: &[&str] = &[
    "You are a fool.",
    "Shut up, you clown.",
    "Your work is garbage.",
    "Get lost, you useless nitwit.",
];

/// Returns the sentences for terms of `form` of `attribute`, which are `part` in a sentence; none
/// where that cannot be told.
pub(super) fn sentences(
    attribute: &str,
    form: &str,
    part: Option<Part>,
) -> Option<&'static [&'static str]> {
    let by_part = |part| match part {
        Part::Noun => NOUN,
        Part::Plural => PLURALS,
        Part::Adjective => ADJECTIVE,
        Part::Collective => COLLECTIVE,
        Part::Name => TOPIC,
        Part::Object => OBJECT,
        Part::Possessive => POSSESSIVE,
        Part::Standing => STANDING,
    };
    match (attribute, form) {
        ("country", _) => Some(PLACE),
        ("first_name_female" | "first_name_male", _) => Some(GIVEN_NAME),
        ("sexual_orientation", "pair") => Some(COUPLE),
        ("disability", "with") => Some(WITH),
        ("age", "adjective") => Some(ATTRIBUTIVE),
        ("gender", "subject") => Some(SUBJECT),
        ("gender", "reflexive") => Some(REFLEXIVE),
        ("gender", "title") => Some(TITLE),
        ("gender", "address") => Some(ADDRESS),
        ("gender", "parenthood") => Some(TOPIC),
        ("gender", form) if part.is_none() && PLURAL.contains(&form) => Some(PLURALS),
        ("gender", _) if part.is_none() => Some(PERSON),
        _ => part.map(by_part),
    }
}
