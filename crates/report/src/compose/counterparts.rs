//! What is said of a test by counterparts.

use super::super::chart::{Bars, Sides, SidesRow};
use super::super::document::{Block, Outcome, Part, Table};
use super::super::model::{
    CounterpartsDifference, CounterpartsFindings, CounterpartsOfGroup, CounterpartsOneWay,
    PersonWithCounterpart,
};
use super::super::text::{Text, count, counted, fixed, listed, number, percent};
use super::beside::{PICTURES, Two, shown, value_in_words};
use super::conditions::{beside, elsewhere, in_words};
use super::drawn::{self, DRAWN_LIMIT, Outcomes, given};
use super::left_out;

/// People of a group who are told of, each by a sentence.
const TOLD: usize = 3;

/// Attributes that a sentence names.
const ATTRIBUTES: usize = 8;

/// Subgroups, and attributes, that are drawn.
const DRAWN: usize = 8;

/// The verdict and the parts.
pub(super) fn parts(found: &CounterpartsFindings, id: &str) -> (Vec<Text>, Vec<Part>) {
    let mut verdict: Vec<Text> = sentences(found).into_iter().map(Text::from).collect();
    let groups = found.groups.iter();
    verdict.extend(groups.clone().filter_map(|group| unmoved(group, found)));
    let unknown = groups.clone();
    let unknown = unknown.map(|group| (&group.protected[..], group.unknown));
    verdict.extend(left_out::unknown(unknown).into_iter().map(Text::from));
    let asked = Outcomes::asked(found);
    verdict.extend(groups.flat_map(|group| {
        let of = drawn::ForGroup {
            protected: &group.protected,
            reference: &group.reference,
            members: group.members.people,
            others: group.others.people,
            drawn: found.drawn.as_ref().zip(group.drawn.as_ref()),
            is_around: false,
        };
        drawn::sentences(&of, &asked)
    }));
    let mut figures = figures(found);
    for said in found.data.as_ref().map_or(Vec::new(), left_out::rows) {
        figures = figures.say(said);
    }
    let mut parts = vec![figures];
    parts.extend(stories(found, id));
    for (place, group) in found.groups.iter().enumerate() {
        let id = format!("{id}-group{place}");
        parts.extend(transparency(group, found.groups.len() > 1, &id));
        parts.extend(subgroups(group, &id));
    }
    parts.push(limits(found));
    (verdict, parts)
}

/// Returns, for each group, how many of its members are decided worse than their counterparts.
pub(crate) fn sentences(found: &CounterpartsFindings) -> Vec<String> {
    let groups = found.groups.iter();
    groups.map(|group| sentence(group, found)).collect()
}

/// Returns the group with the largest share of members who are decided worse, the first of several.
pub(crate) fn worst(found: &CounterpartsFindings) -> Option<&CounterpartsOfGroup> {
    let share = |group: &CounterpartsOfGroup| group.against.share;
    found.groups.iter().reduce(|worst, group| {
        if share(group) > share(worst) {
            group
        } else {
            worst
        }
    })
}

/// Whether what was declared holds.
pub(super) fn outcome(found: &CounterpartsFindings) -> Option<Outcome> {
    let bound = found.fail_above?;
    let worst = worst(found)?;
    let share = worst.against.share;
    let sign = if share > bound { ">" } else { "≤" };
    let whose = match worst.reference[..] {
        [] => String::new(),
        _ => format!(" {}", elsewhere(&worst.reference)),
    };
    let text = format!(
        "{} {sign} {} of the people with {} are decided worse than their counterparts{whose}.",
        percent(share),
        percent(bound),
        in_words(&worst.protected)
    );
    Some(Outcome::from_check(share <= bound, text))
}

/// Returns `= 0.03`, or that a probability is too small to be told.
pub(super) fn chance(p: f64) -> String {
    match p < f64::MIN_POSITIVE {
        true => "< 1e-300".to_owned(),
        false => format!("= {}", number(p)),
    }
}

/// Returns ` (95 % interval 11.02 % – 12.05 %)` where there is an interval.
fn interval(way: &CounterpartsOneWay) -> String {
    way.ci95.map_or_else(String::new, |[low, high]| {
        format!(" (95\u{a0}% interval {} – {})", percent(low), percent(high))
    })
}

/// Returns that the given counterfactuals of a group are the people themselves, where they are.
fn unmoved(group: &CounterpartsOfGroup, found: &CounterpartsFindings) -> Option<Text> {
    let is_unmoved = found.counterfactuals_sha256.is_some() && group.matching.mean_distance == 0.0;
    is_unmoved.then(|| {
        Text::from(format!(
            "Careful: the counterfactuals that were given of people with {} equal the people in everything they are compared by, so that a decision that sees nothing else cannot differ.",
            in_words(&group.protected)
        ))
    })
}

fn sentence(group: &CounterpartsOfGroup, found: &CounterpartsFindings) -> String {
    let who = in_words(&group.protected);
    let favourable = Text::value(&found.favourable);
    let elsewhere = elsewhere(&group.reference);
    let (against, favouring) = (&group.against, &group.favouring);
    let [worse, better] = match (&found.number, found.gap) {
        (Some(label), Some(gap)) => {
            let label = Text::value(label);
            let (less, more) = match found.favourable.as_str() {
                "lower" => ("higher", "lower"),
                _ => ("lower", "higher"),
            };
            [
                format!(
                    "have a {less} ‘{label}’ than their counterpart {elsewhere}, by more than {gap}"
                ),
                format!("have a {more} one"),
            ]
        }
        (_, None) => [
            format!("do not get ‘{favourable}’ where their counterpart {elsewhere} does"),
            "get it where their counterpart does not".to_owned(),
        ],
        (None, Some(gap)) => [
            format!(
                "have a lower score of ‘{favourable}’ than their counterpart {elsewhere}, by more than {gap}"
            ),
            "have a higher one".to_owned(),
        ],
    };
    let means = group.members.mean.zip(group.others.mean);
    let means = means.map(|(own, others)| {
        format!(
            " (on average they have {}, and the others {})",
            number(own),
            number(others)
        )
    });
    let mut said = format!(
        "{}{} of the {} people with {who} {worse}; {}{} {better}{}",
        percent(against.share),
        interval(against),
        count(group.members.people),
        percent(favouring.share),
        interval(favouring),
        means.unwrap_or_default()
    );
    if let Some(comparison) = &group.comparison {
        let test = match comparison.test.as_str() {
            "mcnemar" => "McNemar's exact test of the two directions",
            _ => "Fisher's exact test of the two groups",
        };
        let shown = match comparison.p {
            p if p >= 0.05 => "no difference between the directions is shown",
            _ if against.share > favouring.share => "it is against the group",
            _ => "it is in favour of the group",
        };
        said.push_str(&format!(": {shown} ({test}: p {})", chance(comparison.p)));
    }
    if found.drawn.is_some() {
        said.push_str(": no test says how much of that the smoothing of the density makes");
    }
    said.push('.');
    for (way, who) in [(against, "worse"), (favouring, "better")] {
        if let Some(first) = way.transparency.iter().find(|it| stands_out(it)) {
            said.push_str(&format!(
                " What stands out in those who are decided {who}: {}.",
                difference_in_words(first)
            ));
        }
    }
    said
}

/// Returns whether members of a flipset differ more from their counterparts than all members do, or the
/// other way round, by so much that it is seen.
fn stands_out(difference: &CounterpartsDifference) -> bool {
    let both = difference.in_flipset.zip(difference.overall);
    both.is_some_and(|(own, overall)| {
        (own.abs() > overall.abs() || own * overall < 0.0) && (own - overall).abs() >= 0.05
    })
}

/// Returns in what members differ from their counterparts, in words.
fn difference_in_words(difference: &CounterpartsDifference) -> String {
    let name = Text::value(&difference.attribute);
    let (own, overall) = (
        difference.in_flipset.unwrap_or(0.0),
        difference.overall.unwrap_or(0.0),
    );
    let size = |value: f64| fixed(value.abs(), 2);
    match difference.sign_in_flipset {
        None => format!(
            "{name}, another one in {} of the pairs ({} over all members)",
            percent(own),
            percent(overall)
        ),
        Some(_) => {
            let way = |value: f64| if value < 0.0 { "less" } else { "more" };
            format!(
                "{name}, {} standard deviations {} than that of their counterparts ({} {} over all members)",
                size(own),
                way(own),
                size(overall),
                way(overall)
            )
        }
    }
}

fn figures(found: &CounterpartsFindings) -> Part {
    let rows = found.groups.iter().map(|group| {
        let quality = &group.matching;
        let proven = match quality.is_exact {
            _ if found.counterfactuals_sha256.is_some() => "given".to_owned(),
            _ if found.drawn.is_some() => "drawn".to_owned(),
            true => "the best".to_owned(),
            false => format!("within {} of the best", percent(quality.gap)),
        };
        let cells = |way: &CounterpartsOneWay| {
            let interval = match way.ci95 {
                None => "–".to_owned(),
                Some([low, high]) => format!("{} – {}", percent(low), percent(high)),
            };
            let share = format!("{} ({})", percent(way.share), count(way.members));
            [share, interval]
        };
        let [against, against_interval] = cells(&group.against);
        let [favouring, favouring_interval] = cells(&group.favouring);
        vec![
            beside(&group.protected, &group.reference),
            count(group.members.people),
            count(group.others.people),
            against,
            against_interval,
            favouring,
            favouring_interval,
            number(quality.mean_distance),
            proven,
        ]
    });
    let data = Table::new(
        "Members beside their counterparts; in brackets those whose main counterpart is decided otherwise",
        &[
            "Group",
            "Members",
            "Others",
            "Decided worse",
            "95\u{a0}% interval",
            "Decided better",
            "95\u{a0}% interval",
            "Mean distance",
            "Matching",
        ],
        rows.collect(),
    );
    let decisions = match (found.is_label, &found.number) {
        (true, _) => "The outcomes in the data are looked at.",
        (false, None) if found.gap.is_none() => "The decisions of the model are looked at.",
        (false, Some(_)) => "The numbers that the model gives are looked at.",
        (false, None) => "The scores of the model are looked at.",
    };
    let how = match (&found.counterfactuals_sha256, &found.drawn) {
        (None, None) => {
            "Everybody of a group is matched with the others, evenly on both sides, so that all differ as little as possible on average (optimal transport). Where the groups are of different sizes, a person has several counterparts, each in part.".to_owned()
        }
        (Some(_), _) => {
            "The counterparts are the counterfactuals that were given, row by row.".to_owned()
        }
        (None, Some(drawn)) => format!(
            "Each counterpart is nobody of the data: it is drawn from the density of the others, {}.",
            given(drawn)
        ),
    };
    let compared: Vec<String> = found
        .compared
        .iter()
        .map(|name| Text::value(name).to_string())
        .collect();
    Part::new("Who is decided otherwise than their counterpart")
        .say(format!(
            "{decisions} {how} People differ by {}: numbers by standard deviations, levels by 1.",
            listed(&compared, "and")
        ))
        .with_essential(Block::Table(data))
}

/// A few pairs as they are, the nearest ones, in words and as pictures.
fn stories(found: &CounterpartsFindings, id: &str) -> Option<Part> {
    let told = found.groups.iter().flat_map(|group| {
        let of_group = group.persons.iter().take(TOLD);

        // With several groups a person may be told of more than once.
        let whose = match found.groups.len() {
            1 => String::new(),
            _ => format!("{}: ", beside(&group.protected, &group.reference)),
        };
        of_group.map(move |person| Text::from(format!("{whose}{}", story(person, found))))
    });
    let told: Vec<Text> = told.collect();
    if told.is_empty() {
        return None;
    }
    let part = Part::new("Who these people are")
        .say("The pairs that differ least, of those in which the member is worse off.");
    let part = part.say(PICTURES).with(Block::List(told));
    let persons = found.groups.iter().enumerate().flat_map(|(group, of)| {
        let persons = of.persons.iter().take(TOLD).enumerate();
        persons.map(move |(place, person)| (format!("{id}-group{group}-pair{place}"), person))
    });
    Some(persons.fold(part, |part, (id, person)| {
        let two = Two {
            names: [
                format!("Row {}", person.row),
                match (&found.counterfactuals_sha256, &found.drawn) {
                    (Some(_), _) => "The counterfactual".to_owned(),
                    (None, Some(_)) => "The counterpart who was drawn".to_owned(),
                    (None, None) => format!("Row {}", person.counterpart_row),
                },
            ],
            values: [&person.values, &person.counterpart_values],
            ranks: &person.ranks,
        };
        part.with(two.picture(id))
    }))
}

fn story(person: &PersonWithCounterpart, found: &CounterpartsFindings) -> String {
    let differing = person.counterpart_values.iter().zip(&person.values);
    let differing: Vec<String> = differing
        .filter(|(theirs, own)| theirs.value != own.value)
        .take(ATTRIBUTES)
        .map(|(theirs, own)| {
            format!(
                "{} in place of {}",
                value_in_words(theirs),
                shown(&own.value)
            )
        })
        .collect();
    let own: Vec<String> = person
        .values
        .iter()
        .take(ATTRIBUTES)
        .map(value_in_words)
        .collect();
    let more = match person.values.len().saturating_sub(ATTRIBUTES) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let counterpart = match found.drawn.is_some() {
        true => "The counterpart who was drawn".to_owned(),
        false => format!("The counterpart, row {},", person.counterpart_row),
    };
    let decided = |side: usize, decision: &str| match (&found.number, person.scores) {
        (Some(label), _) => format!("has the {} {decision}", Text::value(label)),
        (None, Some(scores)) => format!(
            "has a score of {} (‘{}’)",
            fixed(scores[side], 3),
            Text::value(decision)
        ),
        (None, None) => format!("is decided ‘{}’", Text::value(decision)),
    };
    format!(
        "Row {} ({}{more}) {}. {counterpart} {}; what differs: {}.",
        person.row,
        own.join(", "),
        decided(0, &person.decision),
        decided(1, &person.counterpart_decision),
        listed(&differing, "and")
    )
}

/// The transparency report of a group, as bars and as a table.
fn transparency(group: &CounterpartsOfGroup, are_several: bool, id: &str) -> Option<Part> {
    if group.against.share == 0.0 {
        return None;
    }
    // Levels have no sign; of numbers one is there wherever a difference is.
    let are_numbers =
        |of: &CounterpartsDifference| of.sign_in_flipset.or(of.sign_overall).is_some();
    let size = |of: &CounterpartsDifference, value: Option<f64>| match (value, are_numbers(of)) {
        (None, _) => "–".to_owned(),
        (Some(value), false) => percent(value),
        (Some(value), true) => fixed(value, 2),
    };
    let differences = &group.against.transparency;
    let both =
        |of: &CounterpartsDifference| [of.in_flipset, of.overall].map(Option::unwrap_or_default);
    let numbers = differences.iter().filter(|of| are_numbers(of));
    let most = numbers.flat_map(both).map(f64::abs).fold(0.0, f64::max);
    let bars = differences.iter().take(DRAWN).map(|of| SidesRow {
        label: Text::value(&of.attribute),
        amounts: both(of).map(|amount| match are_numbers(of) {
            true if most > 0.0 => amount / most,
            _ => amount,
        }),
        shown: format!("{} ({})", size(of, of.in_flipset), size(of, of.overall)),
    });
    let bars: Vec<SidesRow> = bars.collect();
    let rows = differences.iter().map(|difference| {
        let sign = |sign: Option<f64>| sign.map_or("–".to_owned(), |sign| fixed(sign, 2));
        vec![
            Text::value(&difference.attribute).to_string(),
            size(difference, difference.in_flipset),
            size(difference, difference.overall),
            sign(difference.sign_in_flipset),
            sign(difference.sign_overall),
        ]
    });
    let who = beside(&group.protected, &group.reference);
    let data = Table::new(
        format!(
            "Members with {who} less their counterparts, in standard deviations; of levels the share of pairs that differ"
        ),
        &[
            "Attribute",
            "Decided worse",
            "All members",
            "Sign, decided worse",
            "Sign, all",
        ],
        rows.collect(),
    );
    let title = match are_several {
        true => format!("In what they differ from their counterparts: {who}"),
        false => "In what they differ from their counterparts".to_owned(),
    };
    let part = Part::new(&title).say(
        "What differs otherwise among those who are decided worse than over all members is what the decisions hang on; what differs most otherwise stands first. The sign is the mean of −1, 0 and 1: whether nearly all differ in the same direction.",
    );
    let names = ["those who are decided worse", "all members (in brackets)"].map(Text::from);
    Some(part.with(Block::figure(
        &Sides { rows: &bars, names },
        format!("{id}-transparency"),
        "Numbers are drawn to the right of the middle where the members have more than their counterparts, to the left where they have less, in parts of the largest difference; levels as the share of the pairs that differ.",
        data,
    )))
}

/// Which kinds of members are decided worse.
fn subgroups(group: &CounterpartsOfGroup, id: &str) -> Option<Part> {
    if group.subgroups.is_empty() {
        return None;
    }
    let label =
        |attribute: &str, value: &str| format!("{} {}", Text::value(attribute), Text::value(value));
    let rows = group.subgroups.iter().map(|of| {
        vec![
            label(&of.attribute, &of.value),
            count(of.members),
            count(of.against),
            percent(of.share),
        ]
    });
    let who = beside(&group.protected, &group.reference);
    let data = Table::new(
        format!(
            "Members with {who} who are decided worse than their main counterpart, by what else they are"
        ),
        &["Members", "All", "Decided worse", "Share"],
        rows.collect(),
    );
    let bars = group.subgroups.iter().take(DRAWN);
    let bars: Vec<(Text, u64)> = bars
        .map(|of| (Text::from(label(&of.attribute, &of.value)), of.against))
        .collect();
    let part = Part::new("Which of them").with(Block::figure(
        &Bars { rows: &bars },
        format!("{id}-subgroups"),
        "The kinds of members with the most who are decided worse.",
        data,
    ));
    Some(part.folded())
}

fn limits(found: &CounterpartsFindings) -> Part {
    let causal = match (&found.counterfactuals_sha256, &found.drawn) {
        (None, Some(_)) => DRAWN_LIMIT,
        (None, None) => {
            "A counterpart is somebody alike, not what the person would have been: no cause is shown. Where attributes were moved by discrimination themselves, such as a salary, people are matched with others who were treated better in them."
        }
        (Some(_), _) => {
            "What people would have been outside of the group is what the given counterfactuals say; the figures are as right as the causal model behind them."
        }
    };
    let mut limits = vec![causal.to_owned()];
    let is_given = found.counterfactuals_sha256.is_some() || found.drawn.is_some();
    if !is_given && found.gap.is_none() {
        limits.push("The difference between the two directions is that of the two groups' rates, whatever the matching; who is on each side, and in what they differ, is what the matching adds.".to_owned());
    }
    if !is_given {
        limits.push(
            "Another distance gives other counterparts: the weights of attributes are a choice."
                .to_owned(),
        );
    }
    let halves: Vec<u64> = found.groups.iter().map(|group| group.halves).collect();
    let most = halves.iter().max().copied().unwrap_or(0);
    if most > 0 {
        limits.push(format!(
            "The intervals are of the share that as many people, drawn anew, would have on average: {} of the people were matched again to see how it varies. They are an approximation, and say nothing of what the matching of few people makes too large in every draw.",
            counted(most, "half", "halves")
        ));
    }
    if !is_given && halves.contains(&0) {
        limits.push("Where no interval is given, the share is of these people, with this matching; how far it would be off with other people is not estimated (resamples).".to_owned());
    }
    if found.groups.iter().any(|group| !group.matching.is_exact) {
        limits.push("A matching that is not proven to be the best may have others in its pairs; the proven gap is of distances, not of the shares.".to_owned());
    }
    Part::limits(limits)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn findings(p: f64, gap: Option<f64>) -> CounterpartsFindings {
        let decided = |people: u64, share: f64| {
            json!({ "people": people, "unfavourable":
                    { "count": 80, "share": share, "ci95": [share - 0.05, share + 0.05] } })
        };
        let difference = json!([
            { "attribute": "hair", "in_flipset": 1.5, "overall": 0.3, "sign_in_flipset": 0.9, "sign_overall": 0.2 },
            { "attribute": "job", "in_flipset": 0.25, "overall": 0.5, "sign_in_flipset": null, "sign_overall": null },
        ]);
        let way = |share: f64, transparency: serde_json::Value| json!({ "share": share, "members": 30, "transparency": transparency });
        let found = json!({
            "data_sha256": "", "counterfactuals_sha256": null, "is_label": false,
            "favourable": "yes", "is_favourable_given": true, "gap": gap, "compared": ["hair", "job"],
            "fail_above": 0.1,
            "groups": [{
                "protected": [{ "attribute": "sex", "value": "f" }],
                "members": decided(200, 0.4), "others": decided(300, 0.2),
                "reference": [], "halves": 0,
                "matching": { "mean_distance": 0.21, "at_least": 0.21, "gap": 0.0, "is_exact": true, "rounding": 1e-5 },
                "against": way(0.15, difference), "favouring": way(0.02, json!([])),
                "comparison": { "test": "fisher", "p": p },
                "subgroups": [{ "attribute": "age", "value": "below 30", "members": 50, "against": 20, "share": 0.4 }],
                "persons": [{
                    "row": 7, "decision": "no", "counterpart_row": 9, "counterpart_decision": "yes", "distance": 0.1,
                    "values": [{ "attribute": "sex", "value": "f" }, { "attribute": "hair", "value": "31" }],
                    "counterpart_values": [{ "attribute": "sex", "value": "m" }, { "attribute": "hair", "value": "30" }],
                }],
            }],
            "pairs": null,
        });
        serde_json::from_value(found).unwrap()
    }

    #[test]
    fn the_first_sentence_says_who_how_many_and_by_what() {
        let (verdict, parts) = parts(&findings(0.001, None), "run1");
        assert_eq!(
            verdict[0].as_str(),
            "15.00 % of the 200 people with sex ‘f’ do not get ‘yes’ where their counterpart outside of the group does; 2.00 % get it where their counterpart does not: \
             it is against the group (Fisher's exact test of the two groups: p = 0.001). \
             What stands out in those who are decided worse: hair, 1.50 standard deviations more than that of their counterparts (0.30 more over all members)."
        );
        let shown = format!("{parts:?}");
        assert!(shown.contains(
            "Row 7 (sex f, hair 31) is decided ‘no’. The counterpart, row 9, is decided ‘yes’; what differs: sex m in place of f and hair 30 in place of 31."
        ), "{shown}");
        assert!(shown.contains("the best"));
    }

    #[test]
    fn what_is_not_shown_is_said_to_be_so_and_scores_are_called_scores() {
        let said = sentences(&findings(0.4, Some(0.1))).remove(0);
        assert!(said.contains("have a lower score of ‘yes’ than their counterpart outside of the group, by more than 0.1"), "{said}");
        assert!(
            said.contains("no difference between the directions is shown"),
            "{said}"
        );
    }

    #[test]
    fn a_bound_is_on_the_worst_group() {
        let outcome = outcome(&findings(0.4, None)).unwrap();
        assert_eq!(outcome.word(), "FAIL");
        assert_eq!(
            outcome.text.as_str(),
            "15.00 % > 10.00 % of the people with sex ‘f’ are decided worse than their counterparts."
        );
    }
}
