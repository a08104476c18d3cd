//! A few rows of the data as they are: who they are, what is decided, and what would be decided if
//! nothing but a protected value were another one.

use super::super::document::{Block, Part};
use super::super::model::{AuditFindings, AuditSummary};
use super::super::pairs::{Difference, PairFindings, ShownInputs, ShownPair};
use super::super::text::{Text, listed, number};

/// Rows that are told of.
const TOLD: usize = 3;

/// Attributes of a row that are told.
const ATTRIBUTES: usize = 8;

/// A part with a few real rows; nothing where the search found none that flips as it is.
pub(super) fn part(audit: &AuditFindings) -> Option<Part> {
    let pairs = chosen(&audit.summary, &audit.pairs);
    if pairs.is_empty() {
        return None;
    }
    let told = pairs.iter().filter_map(|pair| story(pair, &audit.pairs));
    let said = "Rows that stand in the data as they are shown here, and whose decision changes when nothing but what is named changes.";
    let part = Part::new("Who these people are").say(said);
    Some(part.with(Block::List(told.map(Text::from).collect())))
}

/// The rows to tell of: one that differs in each attribute alone, as far as there are any, and of
/// these first the ones that are worse off than their twin.
fn chosen<'p>(summary: &AuditSummary, pairs: &'p PairFindings) -> Vec<&'p ShownPair> {
    let favourable = summary.population.as_ref().map(|people| &people.favourable);
    let is_worse_off = |pair: &ShownPair| favourable == Some(&pair.labels[1]);
    let is_row =
        |pair: &&ShownPair| pair.is_unmodified && matches!(pair.inputs, ShownInputs::Values(_));
    let rows: Vec<&ShownPair> = pairs.shown.iter().filter(is_row).collect();
    let differs_by = |pair: &ShownPair, attribute: &str| match pair.differences.as_slice() {
        [only] => only.attribute == attribute,
        _ => false,
    };
    let mut chosen: Vec<&ShownPair> = Vec::new();
    for attribute in &summary.protected {
        let of = || {
            rows.iter()
                .copied()
                .filter(|pair| differs_by(pair, attribute))
        };
        chosen.extend(of().find(|pair| is_worse_off(pair)).or_else(|| of().next()));
    }
    let is_left = |pair: &&&ShownPair| !chosen.iter().any(|of| of.number == pair.number);
    let (worse, rest): (Vec<&ShownPair>, Vec<&ShownPair>) = rows
        .iter()
        .filter(is_left)
        .partition(|pair| is_worse_off(pair));
    chosen.extend(worse);
    chosen.extend(rest);
    chosen.truncate(TOLD);
    chosen
}

/// A row, its decision, and that on its twin.
fn story(pair: &ShownPair, pairs: &PairFindings) -> Option<String> {
    let ShownInputs::Values(values) = &pair.inputs else {
        return None;
    };
    let is_changed = |name: &str| pair.differences.iter().any(|of| of.attribute == name);
    let named = pairs.columns.iter().zip(values);
    let same: Vec<String> = named
        .filter(|(name, _)| !is_changed(name))
        .map(|(name, value)| format!("{} {}", Text::value(name), Text::value(value)))
        .collect();
    let more = match same.len().saturating_sub(ATTRIBUTES) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let shown = same[..same.len().min(ATTRIBUTES)].join(", ");
    let side = |value: fn(&Difference) -> &String| {
        let of = pair.differences.iter();
        let of = of.map(|it| {
            format!(
                "{} ‘{}’",
                Text::value(&it.attribute),
                Text::value(value(it))
            )
        });
        listed(&of.collect::<Vec<_>>(), "and")
    };
    let [own, other] = pair.labels.each_ref().map(|label| Text::value(label));
    let scored = pairs.score_class.as_ref().unwrap_or(&pair.labels[0]);
    let scored = Text::value(scored);
    let [before, after] = pair.scores.map(number);
    // Scores are compared in place of decisions where numbers are given, or with a gap.
    let [is, would] = match (pairs.gaps.are_numbers, own == other) {
        (true, _) => [format!("gets {before}"), format!("get {after}")],
        (false, true) => [
            format!("has a score of {before} for ‘{scored}’"),
            format!("have {after}"),
        ],
        (false, false) => [
            format!("is decided ‘{own}’"),
            format!("be decided ‘{other}’: the score of ‘{scored}’ goes from {before} to {after}"),
        ],
    };
    let (from, to) = (side(|it| &it.from), side(|it| &it.to));
    Some(format!(
        "Somebody with {from} ({shown}{more}) {is}. With {to}, and all else as it is, this person would {would}."
    ))
}
