//! What is said of certificates.

use super::super::chart::{IntervalRow, Intervals};
use super::super::document::{Block, Part, Table};
use super::super::model::CertifyFindings;
use super::super::text::{Text, count, counted, estimate, interval, percent, seconds_in_column};
use super::left_out;
use super::shares::{alike, crossed};
use super::terms;

/// The verdict and the parts.
pub(super) fn parts(certify: &CertifyFindings, id: &str) -> (Vec<Text>, Vec<Part>) {
    let alike = alike(certify.decides_alike.as_ref()).into_iter();
    let mut verdict: Vec<Text> = alike.map(Text::from).collect();
    if let Some(joint) = certify.sets.last() {
        verdict.push(Text::new(format!(
            "{} of {} proved fair by {} (95\u{a0}% interval {}): no change of it can change the decision.",
            percent(joint.certified.share),
            counted(joint.inputs, "input is", "inputs are"),
            crossed(&joint.protected),
            interval(joint.certified.ci95)
        )));
    }
    let undecided: u64 = certify.sets.iter().filter_map(|set| set.undecided).sum();
    if undecided > 0 {
        verdict.push(Text::new(format!(
            "{} not decided before the model calls that were allowed were spent.",
            counted(undecided, "input was", "inputs were")
        )));
    }
    let refuted: u64 = certify.sets.iter().filter_map(|set| set.refuted).sum();
    if refuted > 0 {
        verdict.push(Text::new(format!(
            "{} refuted by trying everything: a defect of Probity; do not rely on this run.",
            counted(refuted, "certificate was", "certificates were")
        )));
    }
    let description = "Dots are shares of the inputs, lines their 95\u{a0}% intervals. The second colour, where there is one, is the share that is fair when every change is tried.";
    let rows: Vec<IntervalRow> = certify
        .sets
        .iter()
        .flat_map(|set| {
            let names = crossed(&set.protected);
            let proved = (format!("{names}, proved"), Some(&set.certified), 0);
            let fair = (format!("{names}, fair"), set.fair.as_ref(), 1);
            [proved, fair]
        })
        .filter_map(|(label, portion, colour)| {
            let portion = portion?;
            Some(IntervalRow::new(
                &label,
                portion.share,
                portion.ci95,
                colour,
            ))
        })
        .collect();
    let times: Vec<f64> = certify.sets.iter().map(|set| set.seconds).collect();
    let times = seconds_in_column(&times);
    let tried = |number: Option<u64>| number.map_or("not tried".to_owned(), count);
    let table = certify.sets.iter().zip(times).map(|(set, time)| {
        vec![
            crossed(&set.protected),
            count(set.inputs),
            percent(set.one_box.share),
            estimate(set.certified.share, set.certified.ci95),
            set.fair
                .as_ref()
                .map_or("not counted".to_owned(), |fair| percent(fair.share)),
            tried(set.unfair),
            tried(set.undecided),
            tried(set.refuted),
            time,
        ]
    });
    let part = Part::new("Inputs that are proved fair")
        .say(format!(
            "Of the part ‘{}’ of the data.",
            Text::value(&certify.part)
        ))
        .with_essential(Block::figure(
            &Intervals { rows: &rows },
            format!("{id}-certified"),
            description,
            Table::new(
                "Share of inputs that are proved fair",
                &[
                    "Attributes",
                    "Inputs",
                    "Proved by one box",
                    "Proved in all (95\u{a0}% interval)",
                    "Fair",
                    "Not fair",
                    "Undecided",
                    "Refuted",
                    "Time of the proofs",
                ],
                table.collect(),
            ),
        ));
    let part = part.with(terms::explained(&terms::CERTIFICATES));
    let limits = [
        "A certificate is a proof for one input. An input without one may be fair or not: bounds are not exact, and what was not tried is not known.",
        "The share is of these inputs; the interval speaks of others only as far as these were drawn like them.",
        "Of texts, one protected term at a time is replaced.",
    ];
    let mut limits = Part::limits(limits);
    let read = certify.data.as_ref().map_or(Vec::new(), left_out::rows);
    let unknown = certify.unknown.as_ref().map(left_out::unknown_rows);
    let left_out: Vec<String> = unknown.into_iter().chain(read).collect();
    if !left_out.is_empty() {
        let left_out = left_out.into_iter().map(Text::from).collect();
        limits = limits.with_essential(Block::List(left_out));
    }
    (verdict, vec![part, limits])
}
