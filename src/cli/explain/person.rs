//! `probity explain --run`: one person of a comparison of people, beside those with whom they were
//! compared.

use std::path::Path;

use anyhow::{Context, bail};

use super::super::exit_code::ExitCode;
use super::super::fields::Fields;
use super::super::inputs::Threads;
use super::super::output::Output;
use super::super::render::{count, figure, percent, table};
use probity::fairness::explain::specification::ExplainSpecification;
use probity::indirect::explained::{
    Differing, ExplainedPerson, PersonBeside, PersonOfGroup, PersonTests, explain_person,
};
use probity::indirect::people::{Condition, named};
use probity::tensor::device::ComputeDevice;

/// People of either side that are shown at most.
const SHOWN: usize = 5;

/// Attributes in which two people differ that are shown at most.
const ATTRIBUTES: usize = 6;

/// Explains the person of the `run` whose row `fields` name.
pub(super) fn run(
    run: &Path,
    fields: &Fields<ExplainSpecification>,
    threads: &Threads,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    fields.expect_nothing_but("row", "run")?;
    let Some(given) = fields.get("row") else {
        bail!("--row is needed: the number of the person's row in the data of the run, from 1");
    };
    let row = given.as_u64().filter(|&row| row > 0);
    let row = row.with_context(|| format!("--row is {given}; rows are counted from 1"))?;
    threads.apply()?;
    let explained = explain_person(run, row, &ComputeDevice::flex());
    let explained = explained.with_context(|| format!("explaining row {row}"))?;
    output.summary("explain", &explained, &render(&explained))
}

fn render(explained: &ExplainedPerson) -> String {
    let score = explained
        .score
        .map(|score| format!(" (score {})", figure(score)));
    let mut text = format!(
        "Row {} ({}) {}{}.\n",
        explained.row,
        described(&explained.values),
        decided(explained, &explained.decision),
        score.unwrap_or_default()
    );
    for group in &explained.groups {
        text.push('\n');
        text.push_str(&group_text(group, explained));
    }
    text
}

/// Returns `values` as `age=34, sex=female`.
fn described(values: &[Condition]) -> String {
    let values = values.iter();
    let values = values.map(|it| format!("{}={}", it.attribute, in_words(&it.value)));
    values.collect::<Vec<_>>().join(", ")
}

/// Returns a value as people read it: where a blank cell stands for a missing one, that it is missing.
fn in_words(value: &str) -> &str {
    match value.trim().is_empty() {
        true => "(missing)",
        false => value,
    }
}

/// Returns what was decided, or which number there is.
fn decided(explained: &ExplainedPerson, decision: &str) -> String {
    match &explained.number {
        Some(label) => format!("has {label}={decision}"),
        None => format!("is decided ‘{decision}’"),
    }
}

fn group_text(group: &PersonOfGroup, explained: &ExplainedPerson) -> String {
    let who = named(&group.protected);
    let others = match group.reference.is_empty() {
        true => "outside of the group".to_owned(),
        false => format!("with {}", named(&group.reference)),
    };
    let Some(tests) = &group.tests else {
        let of = match &group.people[..] {
            [one] => {
                let who = match explained.are_drawn {
                    true => "who was drawn and is nobody of the data".to_owned(),
                    false => format!("row {}", one.row),
                };
                format!(
                    "The counterpart {others}, {who}, {}; they differ by {}.\n",
                    decided(explained, &one.decision),
                    figure(one.distance)
                )
            }
            people => format!(
                "{} counterparts {others}, each in part.\n",
                count(people.len() as u64)
            ),
        };
        return format!(
            "As one of the people with {who}. {of}{}",
            people(&group.people)
        );
    };
    let sides = [true, false].map(|is_member| {
        let side = group.people.iter().filter(|it| it.is_member == is_member);
        side.cloned().collect::<Vec<PersonBeside>>()
    });
    let [own, nearest] = sides;
    let around = match (&group.around[..], explained.are_drawn) {
        ([], _) => String::new(),
        (centre, true) => format!(
            " to a counterpart who was drawn and is nobody of the data ({})",
            described(centre)
        ),
        (centre, false) => format!(
            " to what they would have been there ({})",
            described(centre)
        ),
    };
    format!(
        "As one of the people with {who}. {}Nearest in the group ({} of {}):\n{}Nearest {others}{around} ({} of {}):\n{}",
        tested(tests),
        count(own.len().min(SHOWN) as u64),
        count(own.len() as u64),
        people(&own),
        count(nearest.len().min(SHOWN) as u64),
        count(nearest.len() as u64),
        people(&nearest)
    )
}

fn tested(tests: &PersonTests) -> String {
    let points = 100.0 * tests.difference;
    let difference = match points {
        0.0 => "as many in the group as elsewhere".to_owned(),
        points if points < 0.0 => format!("{} points fewer in the group", figure(-points)),
        points => format!("{} points more in the group", figure(points)),
    };
    format!(
        "Unfavourable decisions among those nearest: {difference} (against it p = {}, q = {}; in its favour p = {}, q = {}).\n",
        figure(tests.against_p),
        figure(tests.against_q),
        figure(tests.for_p),
        figure(tests.for_q)
    )
}

fn people(people: &[PersonBeside]) -> String {
    let rows: Vec<Vec<String>> = people
        .iter()
        .take(SHOWN)
        .map(|it| {
            let mut cells = vec![it.row.to_string(), it.decision.clone()];
            cells.extend(it.score.map(figure));
            cells.extend(it.share.map(percent));
            cells.push(figure(it.distance));
            cells.push(differing(&it.differs));
            cells
        })
        .collect();
    let mut header = vec!["row", "decision"];
    if people.first().is_some_and(|it| it.score.is_some()) {
        header.push("score");
    }
    if people.first().is_some_and(|it| it.share.is_some()) {
        header.push("part");
    }
    header.extend(["distance", "what differs (and its part of the distance)"]);
    table(&header, &rows)
}

fn differing(differs: &[Differing]) -> String {
    let shown = differs.iter().take(ATTRIBUTES).map(|it| {
        let part = it.distance.map(|part| format!(" ({})", figure(part)));
        format!(
            "{} {} in place of {}{}",
            it.attribute,
            in_words(&it.other),
            in_words(&it.own),
            part.unwrap_or_default()
        )
    });
    let shown = shown.collect::<Vec<_>>().join("; ");
    match differs.len().saturating_sub(ATTRIBUTES) {
        _ if differs.is_empty() => "nothing".to_owned(),
        0 => shown,
        more => format!("{shown}; and {more} more"),
    }
}
