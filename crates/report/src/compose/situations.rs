//! What is said of a situation test.

use super::super::chart::{IntervalRow, Intervals};
use super::super::document::{Block, Outcome, Part, Table};
use super::super::model::{PersonInSituation, PersonValue, SituationsFindings, SituationsOfGroup};
use super::super::text::{Text, count, counted, decimal, listed, number, percent};
use super::beside::{PICTURES, Two, value_in_words};
use super::conditions::{beside, elsewhere, in_words};
use super::drawn::{self, DRAWN_LIMIT, Outcomes, given};
use super::left_out;

/// How much farther one side may be than the other before readers are told in the verdict.
const APART: f64 = 1.25;

/// People who are told of, each by a sentence.
const TOLD: usize = 3;

/// Attributes that a sentence names.
const ATTRIBUTES: usize = 8;

/// The verdict and the parts.
pub(super) fn parts(found: &SituationsFindings, id: &str) -> (Vec<Text>, Vec<Part>) {
    let mut verdict: Vec<Text> = sentences(found).into_iter().map(Text::from).collect();
    if let Some(multiple) = &found.multiple {
        verdict.push(Text::from(format!(
            "Of the {} people who are in all of these groups, {} were found in every one of the groups by itself.",
            count(multiple.members),
            count(multiple.discoveries)
        )));
    }
    let unknown = found.groups.iter();
    let unknown = unknown.map(|group| (&group.protected[..], group.unknown));
    verdict.extend(left_out::unknown(unknown).into_iter().map(Text::from));
    verdict.extend(left_out::groups(&found.left_out).map(Text::from));
    verdict.extend(powerless(found).map(Text::from));
    verdict.extend(found.groups.iter().filter_map(apart).map(Text::from));
    let asked = Outcomes::Class(Text::value(&found.favourable).to_string());
    verdict.extend(found.groups.iter().flat_map(|group| {
        let of = drawn::ForGroup {
            protected: &group.protected,
            reference: &group.reference,
            members: group.members.people,
            others: group.others.people,
            drawn: found.drawn.as_ref().zip(group.drawn.as_ref()),
            is_around: true,
        };
        drawn::sentences(&of, &asked)
    }));
    let mut figures = figures(found, id);
    for said in found.data.as_ref().map_or(Vec::new(), left_out::rows) {
        figures = figures.say(said);
    }
    let mut parts = vec![figures];
    parts.extend(stories(found, id));
    parts.extend(persons(found));
    parts.push(limits(found));
    (verdict, parts)
}

/// Returns, for each group, how many of its members were found.
pub(crate) fn sentences(found: &SituationsFindings) -> Vec<String> {
    let groups = found.groups.iter();
    groups.map(|group| sentence(group, found)).collect()
}

/// Returns the group with the largest share of members who were found, the first of several.
pub(crate) fn worst(found: &SituationsFindings) -> Option<&SituationsOfGroup> {
    let share = |group: &SituationsOfGroup| group.against.share;
    found.groups.iter().reduce(|worst, group| {
        if share(group) > share(worst) {
            group
        } else {
            worst
        }
    })
}

/// Whether what was declared holds.
pub(super) fn outcome(found: &SituationsFindings) -> Option<Outcome> {
    let bound = found.fail_above?;
    let worst = worst(found)?;
    let share = worst.against.share;
    let sign = if share > bound { ">" } else { "≤" };
    let text = format!(
        "{} {sign} {} of the people with {} are found to be discriminated against.",
        percent(share),
        percent(bound),
        in_words(&worst.protected)
    );
    Some(Outcome::from_check(share <= bound, text))
}

fn sentence(group: &SituationsOfGroup, found: &SituationsFindings) -> String {
    let who = in_words(&group.protected);
    let elsewhere = elsewhere(&group.reference);
    let favourable = Text::value(&found.favourable);
    let (against, members) = (&group.against, group.members.people);
    let mut said = match against.discoveries {
        0 => format!(
            "For none of the {} people with {who} is it shown that people like them are treated worse in the group than {elsewhere}.",
            count(members)
        ),
        discoveries => format!(
            "{} of the {} people with {who} ({}) are found to be treated worse than people like them {elsewhere}; {} of these did not get ‘{favourable}’.",
            count(discoveries),
            count(members),
            percent(against.share),
            count(against.of_own_decision),
        ),
    };
    if group.favouring.discoveries > 0 {
        said.push_str(&format!(
            " {} ({}) are found to be treated better.",
            count(group.favouring.discoveries),
            percent(group.favouring.share)
        ));
    }
    let points = 100.0 * (group.own_share - group.others_share);
    let less = match points {
        points if points.abs() < 0.05 => "no difference on average".to_owned(),
        points if points > 0.0 => format!("{} points less", decimal(points, 1)),
        points => format!("{} points more", decimal(-points, 1)),
    };
    format!(
        "{said} Of the people most like each of them, on average {} get ‘{favourable}’ in the group and {} {}: {less}.",
        percent(1.0 - group.own_share),
        percent(1.0 - group.others_share),
        there(group)
    )
}

/// Returns where those are with whom people of a group are compared, after the group was spoken of.
fn there(group: &SituationsOfGroup) -> String {
    match group.reference[..] {
        [] => "outside of it".to_owned(),
        _ => elsewhere(&group.reference),
    }
}

/// Returns what those are called with whom people of a group are compared.
fn everybody_else(group: &SituationsOfGroup) -> String {
    match group.reference[..] {
        [] => format!("everybody but {}", in_words(&group.protected)),
        _ => in_words(&group.reference),
    }
}

/// Returns that no difference, however large, could have been found, where that is so.
fn powerless(found: &SituationsFindings) -> Option<String> {
    let least = found.least_p.filter(|&least| least > found.level)?;
    Some(format!(
        "With {} on each side no difference, however large, can be significant at {}: the least p-value is {}. Ask for more neighbours (k).",
        counted(found.k, "neighbour", "neighbours"),
        percent(found.level),
        number(least)
    ))
}

/// Returns that the sides of a group's members lie apart, where they do: then a difference may be one of
/// place.
fn apart(group: &SituationsOfGroup) -> Option<String> {
    let (own, others) = (group.own_distance, group.others_distance);
    let (nearer, farther) = (own.min(others), own.max(others));
    (farther > APART * nearer).then(|| {
        format!(
            "Careful: the people who are compared with those with {} are not equally near, at {} on average in the group and {} {}. Where decisions change between near and far, differences are found that have nothing to do with the group; a smaller k brings the sides together.",
            in_words(&group.protected),
            number(own),
            number(others),
            there(group)
        )
    })
}

fn figures(found: &SituationsFindings, id: &str) -> Part {
    let favourable = Text::value(&found.favourable);
    let sides = found.groups.iter().enumerate().flat_map(|(place, group)| {
        let who = in_words(&group.protected);
        let [own, others] = [
            (who.clone(), &group.members),
            (everybody_else(group), &group.others),
        ];
        [own, others].map(|(label, people)| IntervalRow {
            label: label.as_str().into(),
            share: people.unfavourable.share,
            interval: people.unfavourable.ci95,
            colour: 1 + place,
        })
    });
    let sides: Vec<IntervalRow> = sides.collect();
    let rows = found.groups.iter().flat_map(|group| {
        let ways = [
            ("against", &group.against, group.members.people),
            ("in favour", &group.favouring, group.members.people),
        ];
        ways.map(|(name, way, members)| {
            vec![
                beside(&group.protected, &group.reference),
                name.to_owned(),
                count(members),
                count(way.cases),
                count(way.significant),
                format!("{} ({})", count(way.discoveries), percent(way.share)),
                count(way.of_own_decision),
            ]
        })
    });
    let caption = format!(
        "Members of a group, beside the {} nearest of both sides",
        count(found.k)
    );
    let data = Table::new(
        caption,
        &[
            "Group",
            "Difference",
            "Members",
            "Of any size",
            "Significant alone",
            "Found",
            "Own decision alike",
        ],
        rows.collect(),
    );
    let title = format!("Share of people who do not get ‘{favourable}’, alike or not");
    let description = "Everybody of a group and everybody else, with 95\u{a0}% intervals, whether or not they are alike in anything else.";
    let decisions = match found.is_label {
        true => "The outcomes in the data are looked at.",
        false => "The decisions of the model are looked at.",
    };
    let around = match (&found.counterfactuals_sha256, &found.drawn) {
        (None, None) => "around each person".to_owned(),
        (Some(_), _) => {
            "around each person and, outside of the group, around what the person would have been there by the counterfactuals that were given".to_owned()
        }
        (None, Some(drawn)) => format!(
            "around each person and, outside of the group, around a counterpart who is drawn from the density of the others, {}",
            given(drawn)
        ),
    };
    Part::new("How often people like them get it")
        .say(format!(
            "{decisions} For each member of a group, the {} most alike members and the {} most alike others are looked for {around}. People are alike by {}.",
            count(found.k),
            count(found.k),
            listed(&found.compared.iter().map(|name| Text::value(name).to_string()).collect::<Vec<_>>(), "and")
        ))
        .say(format!(
            "A difference is found if {} shows it, and the share of false ones among all that are found is expected to be at most {}. “Of any size” counts whoever's two shares differ at all, which happens by chance.",
            match found.test.as_str() {
                "exact" => "Fisher's exact one-sided test",
                _ => "Fisher's exact one-sided test (“significant alone” is by Wald's interval, as asked)",
            },
            percent(found.level)
        ))
        .with_essential(Block::Table(data))
        .with(Block::figure(
            &Intervals { rows: &sides },
            format!("{id}-decided"),
            description,
            decided(found, title),
        ))
}

/// How everybody of a group and everybody else is decided.
fn decided(found: &SituationsFindings, title: String) -> Table {
    let rows = found.groups.iter().flat_map(|group| {
        let who = in_words(&group.protected);
        let sides = [
            (who.clone(), &group.members),
            (everybody_else(group), &group.others),
        ];
        sides.map(|(who, people)| {
            vec![
                who,
                count(people.people),
                count(people.unfavourable.count),
                percent(people.unfavourable.share),
            ]
        })
    });
    Table::new(
        title,
        &["People", "All", "Without it", "Share"],
        rows.collect(),
    )
}

/// A few people as they are, each with the nearest of the others, in words and as pictures.
fn stories(found: &SituationsFindings, id: &str) -> Option<Part> {
    let told = found.groups.iter().flat_map(|group| {
        let of_group = group.persons.iter().take(TOLD);
        of_group.map(move |person| (group, person))
    });
    let told: Vec<(&SituationsOfGroup, &PersonInSituation)> = told.collect();
    if told.is_empty() {
        return None;
    }
    let stories = told.iter();
    let stories = stories.map(|(group, person)| Text::from(story(group, person, found)));
    let mut part = Part::new("Who these people are");
    if told.iter().any(|(_, person)| person.nearest.is_some()) {
        part = part.say(PICTURES);
    }
    let part = part.with(Block::List(stories.collect()));
    let pairs = told.iter().enumerate();
    let pairs =
        pairs.filter_map(|(place, (_, person))| Some((place, person, person.nearest.as_ref()?)));
    Some(pairs.fold(part, |part, (place, person, nearest)| {
        let two = Two {
            names: [person.row, nearest.row].map(|row| format!("Row {row}")),
            values: [&person.values, &nearest.values],
            ranks: &nearest.ranks,
        };
        part.with(two.picture(format!("{id}-pair{place}")))
    }))
}

fn story(
    group: &SituationsOfGroup,
    person: &PersonInSituation,
    found: &SituationsFindings,
) -> String {
    let favourable = Text::value(&found.favourable);
    let around = format!(
        "of the {} members most like this person {} did not get ‘{favourable}’, of the {} others most like this person {}",
        count(person.own.of),
        count(person.own.unfavourable),
        count(person.others.of),
        count(person.others.unfavourable)
    );
    let mut said = format!(
        "Row {} ({}) got ‘{}’: {around}.",
        person.row,
        described(person, &person.values, &group.protected),
        Text::value(&person.decision)
    );
    if let Some(nearest) = &person.nearest {
        let differing: Vec<String> = nearest
            .values
            .iter()
            .zip(&person.values)
            .filter(|(theirs, own)| theirs.value != own.value)
            .take(ATTRIBUTES)
            .map(|(theirs, _)| value_in_words(theirs))
            .collect();
        said.push_str(&format!(
            " The nearest of the others, row {}, got ‘{}’; what differs: {}.",
            nearest.row,
            Text::value(&nearest.decision),
            listed(&differing, "and")
        ));
    }
    said
}

/// What a person has, the conditions of the group first.
fn described(
    person: &PersonInSituation,
    values: &[PersonValue],
    conditions: &[PersonValue],
) -> String {
    let is_condition =
        |value: &&PersonValue| conditions.iter().any(|it| it.attribute == value.attribute);
    let (first, rest): (Vec<&PersonValue>, Vec<&PersonValue>) =
        values.iter().partition(is_condition);
    let all: Vec<String> = first.into_iter().chain(rest).map(value_in_words).collect();
    let more = match person.values.len().saturating_sub(ATTRIBUTES) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    format!("{}{more}", all[..all.len().min(ATTRIBUTES)].join(", "))
}

/// The people whom the tests are surest of, as a table.
fn persons(found: &SituationsFindings) -> Option<Part> {
    let rows = found.groups.iter().flat_map(|group| {
        group.persons.iter().map(|person| {
            vec![
                person.row.to_string(),
                beside(&group.protected, &group.reference),
                if person.is_against {
                    "against"
                } else {
                    "in favour"
                }
                .to_owned(),
                Text::value(&person.decision).to_string(),
                format!("{} of {}", person.own.unfavourable, person.own.of),
                format!("{} of {}", person.others.unfavourable, person.others.of),
                number(person.p),
                number(person.q),
            ]
        })
    });
    let rows: Vec<Vec<String>> = rows.collect();
    if rows.is_empty() {
        return None;
    }
    let caption = format!(
        "Members whom the tests are surest of; how many of those around them do not get ‘{}’",
        Text::value(&found.favourable)
    );
    let header = [
        "Row",
        "Group",
        "Difference",
        "Decision",
        "In the group",
        "Outside",
        "p",
        "q",
    ];
    let mut part =
        Part::new("The clearest of them").with(Block::Table(Table::new(caption, &header, rows)));
    if let Some(file) = &found.persons {
        part = part.say(format!("All members are in {file} of the run."));
    }
    Some(part.folded())
}

fn limits(found: &SituationsFindings) -> Part {
    let causal = match (&found.counterfactuals_sha256, &found.drawn) {
        (None, Some(_)) => DRAWN_LIMIT,
        (None, None) => {
            "People are alike in what the data say about them. Where the attributes that they are compared by were moved by discrimination themselves, such as a salary, people who are alike in them are not alike in what matters, and the figures say too little."
        }
        (Some(_), _) => {
            "What people would have been outside of the group is what the given counterfactuals say; the figures are as right as the causal model behind them."
        }
    };
    let mut limits = vec![
        causal.to_owned(),
        "A person who is not found may be discriminated against all the same: few neighbours show only large differences.".to_owned(),
        "A difference is no proof of a cause: an attribute that is not in the data may explain it.".to_owned(),
        format!(
            "The people compared are near, not alike. Where the others live apart, the nearest of them lie to one side of every member, and a difference may be one of place: compare their mean distances ({}).",
            distances(found)
        ),
    ];
    if found.test != "exact" {
        limits.push("Wald's interval finds too much in few neighbours: it calls a difference of 1 of 1 against 0 of 1 significant.".to_owned());
    }
    Part::limits(limits)
}

/// The mean distances of both sides, group by group.
fn distances(found: &SituationsFindings) -> String {
    let groups = found.groups.iter().map(|group| {
        format!(
            "{}: {} in the group, {} {}",
            in_words(&group.protected),
            number(group.own_distance),
            number(group.others_distance),
            there(group)
        )
    });
    groups.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn way(found: u64, own: u64) -> Value {
        json!({ "cases": 40, "significant": 30, "discoveries": found,
                "share": found as f64 / 200.0, "of_own_decision": own })
    }

    fn findings(against: u64, fail_above: Option<f64>) -> SituationsFindings {
        let decided = |people: u64, share: f64| {
            json!({ "people": people, "unfavourable":
                    { "count": 80, "share": share, "ci95": [share - 0.05, share + 0.05] } })
        };
        let persons = match against {
            0 => json!([]),
            _ => json!([{
                "row": 7, "decision": "no", "is_against": true,
                "own": { "unfavourable": 14, "of": 15 }, "others": { "unfavourable": 2, "of": 16 },
                "difference": 0.81, "p": 1e-5, "q": 2e-4,
                "values": [{ "attribute": "sex", "value": "f" }, { "attribute": "age", "value": "31" }],
                "nearest": { "row": 9, "decision": "yes", "values":
                    [{ "attribute": "sex", "value": "m" }, { "attribute": "age", "value": "31" }] },
            }]),
        };
        let found = json!({
            "data_sha256": "", "counterfactuals_sha256": null, "is_label": true,
            "favourable": "yes", "is_favourable_given": true, "compared": ["age", "pay"], "k": 15,
            "test": "exact", "centres": false, "level": 0.05, "fail_above": fail_above,
            "groups": [{
                "protected": [{ "attribute": "sex", "value": "f" }],
                "members": decided(200, 0.4), "others": decided(300, 0.2),
                "own_share": 0.41, "others_share": 0.22, "own_distance": 0.1, "others_distance": 0.11,
                "against": way(against, 18), "favouring": way(0, 0), "persons": persons,
            }],
            "multiple": null, "persons": "persons.csv",
        });
        serde_json::from_value(found).unwrap()
    }

    #[test]
    fn the_first_sentence_says_who_and_how_many() {
        let (verdict, parts) = parts(&findings(20, None), "run1");
        assert_eq!(
            verdict[0].as_str(),
            "20 of the 200 people with sex ‘f’ (10.00 %) are found to be treated worse than people like them outside of the group; 18 of these did not get ‘yes’. \
             Of the people most like each of them, on average 59.00 % get ‘yes’ in the group and 78.00 % outside of it: 19 points less."
        );
        let shown = format!("{parts:?}");
        assert!(shown.contains(
            "Row 7 (sex f, age 31) got ‘no’: of the 15 members most like this person 14 did not get ‘yes’, of the 16 others most like this person 2. \
             The nearest of the others, row 9, got ‘yes’; what differs: sex m."
        ), "{shown}");
    }

    #[test]
    fn nobody_found_is_not_nobody_discriminated_against() {
        let (verdict, parts) = parts(&findings(0, None), "run1");
        assert!(
            verdict[0]
                .as_str()
                .starts_with("For none of the 200 people with sex ‘f’ is it shown")
        );
        assert!(format!("{parts:?}").contains("may be discriminated against all the same"));
    }

    #[test]
    fn a_bound_is_on_the_worst_group() {
        assert!(outcome(&findings(20, None)).is_none());
        let fails = outcome(&findings(20, Some(0.05))).unwrap();
        assert_eq!(fails.word(), "FAIL");
        assert_eq!(
            fails.text.as_str(),
            "10.00 % > 5.00 % of the people with sex ‘f’ are found to be discriminated against."
        );
        assert_eq!(outcome(&findings(20, Some(0.1))).unwrap().word(), "PASS");
    }
}
