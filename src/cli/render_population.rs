//! Whose decisions change, of the rows of the data, for people.

use super::render::{count, counted, interval, percent, table};
use super::render_quality::amount;
use probity::fairness::certify::parts::Part;
use probity::fairness::population::{Changes, GroupedRows, PlausibilitySummary, PopulationSummary};
use probity::fairness::text::exchanged::TextMoves;

/// Groups of an attribute, or of all of them, that are shown.
const SHOWN: usize = 12;

/// What the rows are of.
fn source(population: &PopulationSummary) -> String {
    match (&population.population_sha256, population.part) {
        (Some(_), _) => "rows of the population".to_owned(),
        (None, Part::All) => "rows of the data".to_owned(),
        (None, part) => format!("rows of the {part} part"),
    }
}

/// The shares, which way decisions change, whom it meets, and how far scores move.
pub(super) fn population(population: &PopulationSummary) -> String {
    let rows = count(population.rows);
    let source = source(population);
    let (asked, holds) = match population.asked == population.rows {
        true => (
            format!("{rows} {source}, all asked about"),
            "the shares are exact for these, the intervals for whom they were drawn from",
        ),
        false => (
            format!(
                "{} of {rows} {source}, drawn at random",
                count(population.asked)
            ),
            "the intervals hold for all of them, and for whom they were drawn from",
        ),
    };
    let shares = population.shares.iter().map(|share| {
        format!(
            "By {}: {} of the {source} get another decision (95 % interval {}, {} of {}).\n",
            share.protected.join(" × "),
            percent(share.rate),
            interval(share.ci95),
            count(share.discriminatory),
            count(share.sampled)
        )
    });
    let mut text: String = shares.collect();
    text.push_str(&format!("Of {asked}: {holds}.\n"));
    let ways = &population.directions;
    let [gain, loss] = match population.gap {
        None => [
            format!("get '{}' that do not", population.favourable),
            "lose it".to_owned(),
        ],
        Some(_) => ["score higher", "score lower"].map(str::to_owned),
    };
    text.push_str(&format!(
        "With other protected values {} would {gain}, and {} would {loss} ({}, {}).\n",
        percent(ways.to_favourable.share),
        percent(ways.from_favourable.share),
        counted(ways.to_favourable.count, "row", "rows"),
        counted(ways.from_favourable.count, "row", "rows"),
    ));
    if ways.between_others.count > 0 {
        let share = percent(ways.between_others.share);
        text.push_str(&format!("{share} change between other decisions.\n"));
    }
    let score = match &population.number {
        Some(number) => format!("'{number}'"),
        None => score_of(&population.favourable),
    };
    text.push_str(&moves(&population.changes, &score, "rows"));
    population
        .groups
        .iter()
        .for_each(|by| text.push_str(&groups(by, population.gap.is_some())));
    text
}

/// How plausible the pairs are.
pub(super) fn plausibility(of: &PlausibilitySummary) -> String {
    let mut text = format!(
        "Plausible are {} of {} ({}): without their protected attributes at least 5 % of the {} rows are no likelier.\n",
        count(of.plausible),
        counted(of.pairs, "pair", "pairs"),
        percent(of.share),
        count(of.rows)
    );
    if let Some(estimate) = &of.estimate {
        text.push_str(&format!(
            "Of {} drawn from the network that grades them, {} are discriminatory ({}).\n",
            counted(estimate.sampled, "input", "inputs"),
            percent(estimate.rate),
            interval(estimate.ci95)
        ));
    }
    if of.left_out > 0 {
        let pairs = counted(of.left_out, "pair", "pairs");
        text.push_str(&format!(
            "Less plausible than asked for, and not among the samples: {pairs}.\n"
        ));
    }
    text
}

/// Which way what is decided of texts changes, and how far their scores move.
pub(super) fn text_moves(of: &TextMoves) -> String {
    if of.positive.is_empty() {
        return String::new();
    }
    format!(
        "With a term exchanged {} would get '{}' that do not, and {} would lose it.\n{}",
        counted(of.to_positive.count, "text", "texts"),
        of.positive,
        counted(of.from_positive.count, "text", "texts"),
        moves(&of.changes, &score_of(&of.positive), "texts")
    )
}

/// What is counted of a classifier.
fn score_of(class: &str) -> String {
    format!("The score of '{class}'")
}

/// How far scores move.
fn moves(changes: &Changes, score: &str, inputs: &str) -> String {
    let quantile = |share: f64| {
        let mut of = changes.quantiles.iter();
        of.find(|quantile| quantile.share == share)
            .map_or(0.0, |quantile| f64::from(quantile.change))
    };
    // Probabilities have three digits behind the point, whatever they are.
    let shown = |change: f64| match score.starts_with("The score") {
        true => format!("{change:.3}"),
        false => amount(change),
    };
    let (high, largest) = (shown(quantile(0.95)), shown(changes.largest.into()));
    // Nothing moves by more than the largest move.
    let most = match high == largest {
        true => String::new(),
        false => format!(" by more than {high} for at most 5 %,"),
    };
    format!(
        "{score} moves by {} on average, by at most {} for half of the {inputs},{most} and by {largest} at most.\n",
        shown(changes.mean),
        shown(quantile(0.5)),
    )
}

/// The groups of one attribute in their order; of more than are shown, those that most rows flip
/// in.
fn groups(by: &GroupedRows, are_scores: bool) -> String {
    let mut groups: Vec<_> = by.groups.iter().collect();
    let more = groups.len().saturating_sub(SHOWN) as u64 + by.unlisted;
    if more > 0 {
        groups.sort_by_key(|group| std::cmp::Reverse(group.discriminatory));
        groups.truncate(SHOWN);
    }
    let rows: Vec<Vec<String>> = groups
        .iter()
        .map(|group| {
            vec![
                group.values.join(" × "),
                count(group.rows),
                percent(group.rate),
                interval(group.ci95),
                count(group.to_favourable),
                count(group.from_favourable),
            ]
        })
        .collect();
    let [gain, loss] = match are_scores {
        false => ["would get it", "would lose it"],
        true => ["would score higher", "would score lower"],
    };
    let name = by.attributes.join(" × ");
    let header = [name.as_str(), "rows", "flip", "95 % interval", gain, loss];
    let mut text = table(&header, &rows);
    if more > 0 {
        text.push_str(&format!(
            "The groups in which most rows flip; {} more in summary.json.\n",
            count(more)
        ));
    }
    text
}
