//! What is said of the rows of the data: how many decisions change, whose, which way, how far.

use super::super::chart::{Histogram, IntervalRow, Intervals};
use super::super::document::{Block, Part, Table};
use super::super::model::{CountedRows, GroupedRows, Plausibility, Population};
use super::super::text::{Text, count, counted, interval, number, percent};
use super::shares::{self, Asked, crossed};

/// Groups of a set that are shown.
const MOST: usize = 24;

/// How rows of a table are asked about.
fn asked(population: &Population) -> Asked {
    Asked {
        inputs: population.source(),
        is_text: false,
    }
}

/// The first sentences of an audit.
pub(super) fn verdict(population: &Population) -> Vec<String> {
    let Some(joint) = population.shares.last() else {
        return Vec::new();
    };
    let mut said = vec![asked(population).sentence(joint)];
    if joint.discriminatory > 0 {
        let ways = &population.directions;
        said.push(format!(
            "{} do not get ‘{}’ and would with other protected values; {} get it and would lose it.",
            counted(ways.to_favourable.count, "row", "rows"),
            Text::value(&population.favourable),
            count(ways.from_favourable.count)
        ));
    }
    said
}

/// Shares, directions, groups and moves of the rows.
pub(super) fn parts(population: &Population, id: &str) -> Vec<Part> {
    let mut parts = vec![shares_part(population, id)];
    let groups = population.groups.iter().enumerate();
    parts.extend(groups.map(|(place, by)| group_part(population, by, format!("{id}-who{place}"))));
    parts.push(moves(population, id));
    parts
}

fn shares_part(population: &Population, id: &str) -> Part {
    let rows = match population.asked == population.rows {
        true => format!(
            "All {} of {} were asked about: the shares are exact for these, and the intervals are for whom they were drawn from.",
            count(population.rows),
            population.source()
        ),
        false => format!(
            "{} of {} among {}, drawn at random, were asked about: the intervals hold for all of them, and for whom they were drawn from.",
            count(population.asked),
            count(population.rows),
            population.source()
        ),
    };
    let ways = &population.directions;
    let favourable = Text::value(&population.favourable);
    let row = |name: String, way: &CountedRows| {
        vec![
            name,
            count(way.count),
            percent(way.share),
            interval(way.ci95),
        ]
    };
    let mut rows_of_ways = vec![
        row(
            format!("Would get ‘{favourable}’ and do not"),
            &ways.to_favourable,
        ),
        row(
            format!("Get ‘{favourable}’ and would lose it"),
            &ways.from_favourable,
        ),
    ];
    if ways.between_others.count > 0 {
        rows_of_ways.push(row("Between other classes".into(), &ways.between_others));
    }
    Part::new("Whose decisions change")
        .say("A row is discriminatory if some other combination of its protected values gets it another decision, with all else as it is.")
        .say(rows)
        .with(shares::figure(format!("{id}-people"), asked(population), &population.shares))
        .with(Block::Table(Table::new(
            "Which way the decisions change, by all protected attributes jointly",
            &["Direction", "Rows", "Share", "95 % interval"],
            rows_of_ways,
        )))
}

fn group_part(population: &Population, by: &GroupedRows, id: String) -> Part {
    let name = crossed(&by.attributes);
    let mut groups: Vec<_> = by.groups.iter().collect();
    let all = groups.len() as u64 + by.unlisted;
    if groups.len() > MOST {
        groups.sort_by_key(|group| std::cmp::Reverse(group.discriminatory));
        groups.truncate(MOST);
    }
    let mut part = Part::new(&format!("Who is affected, by {name}"));
    if groups.len() < all as usize {
        part = part.say(format!(
            "The {} of {} groups in which most rows are discriminatory are shown.",
            groups.len(),
            count(all)
        ));
    }
    let values = |values: &[String]| values.join(", ");
    let shown = groups.iter();
    let rows: Vec<IntervalRow> = shown
        .map(|group| IntervalRow::new(&values(&group.values), group.rate, group.ci95, 0))
        .collect();
    let favourable = Text::value(&population.favourable);
    let table = Table::new(
        format!("Rows by {name} that get another decision"),
        &[
            "Group",
            "Rows",
            "Discriminatory",
            "Share",
            "95 % interval",
            &format!("Would get ‘{favourable}’"),
            "Would lose it",
        ],
        groups
            .iter()
            .map(|group| {
                vec![
                    values(&group.values),
                    count(group.rows),
                    count(group.discriminatory),
                    percent(group.rate),
                    interval(group.ci95),
                    count(group.to_favourable),
                    count(group.from_favourable),
                ]
            })
            .collect(),
    );
    let description = "Dots are shares, lines their 95 % intervals.".to_owned();
    part.with(Block::figure(
        &Intervals { rows: &rows },
        id,
        description,
        table,
    ))
}

/// How plausible the pairs are that the search found.
pub(super) fn plausibility(graded: &Plausibility, id: &str) -> Part {
    let mut part = Part::new("How plausible the pairs are").say(format!(
        "A sum-product network of {} grades each pair, without its protected attributes: its plausibility is the share of these rows that are no likelier. \
         Of {}, {} ({}) reach 5 %. Below that the model discriminates where hardly anybody is.",
        counted(graded.rows, "row", "rows"),
        counted(graded.pairs, "pair", "pairs"),
        count(graded.plausible),
        percent(graded.share)
    ));
    if graded.left_out > 0 {
        let pairs = counted(graded.left_out, "pair", "pairs");
        part = part.say(format!(
            "Less plausible than asked for, and not among the samples: {pairs}."
        ));
    }
    if let Some(share) = &graded.estimate {
        let [low, high] = share.ci95.map(percent);
        part = part.say(format!(
            "Of {} drawn from this network, {} are discriminatory (95 % interval {low} to {high}).",
            counted(share.sampled, "input", "inputs"),
            percent(share.rate)
        ));
    }
    let bins = graded.bins.len().max(1) as f64;
    let rows = graded.bins.iter().enumerate().map(|(place, &pairs)| {
        let [from, to] = [place, place + 1].map(|edge| percent(edge as f64 / bins));
        let share = percent(pairs as f64 / graded.pairs.max(1) as f64);
        vec![format!("{from} – {to}"), count(pairs), share]
    });
    let chart = Histogram {
        bins: &graded.bins,
        x_label: "plausibility",
        y_label: "pairs",
    };
    let title = "Pairs by plausibility";
    let table = Table::new(title, &["Plausibility", "Pairs", "Share"], rows.collect());
    let description = format!("{} of the pairs reach 5 %.", percent(graded.share));
    let id = format!("{id}-plausibility");
    part.with(Block::figure(&chart, id, description, table))
}

fn moves(population: &Population, id: &str) -> Part {
    let changes = &population.changes;
    let description = format!(
        "How far the score of ‘{}’ moves at most when protected values change: {} on average, {} at most.",
        Text::value(&population.favourable),
        number(changes.mean),
        number(changes.largest)
    );
    let chart = Histogram {
        bins: &changes.bins,
        x_label: "how far the score moves",
        y_label: "rows",
    };
    let bins = changes.bins.len().max(1) as f64;
    let rows = changes.bins.iter().enumerate().map(|(place, &rows)| {
        let [from, to] = [place, place + 1].map(|edge| edge as f64 / bins);
        vec![
            format!("{from:.2} – {to:.2}"),
            count(rows),
            percent(rows as f64 / population.asked.max(1) as f64),
        ]
    });
    let title = "Rows by how far their score moves";
    let table = Table::new(title, &["Move", "Rows", "Share"], rows.collect());
    let quantiles = changes
        .quantiles
        .iter()
        .map(|quantile| vec![percent(quantile.share), format!("{:.3}", quantile.change)]);
    Part::new("How far the scores of the rows move")
        .with(Block::figure(
            &chart,
            format!("{id}-moves"),
            description,
            table,
        ))
        .with(Block::Table(Table::new(
            "Moves that no more than a share of the rows exceed; rounded up",
            &["Share of the rows", "Moves by at most"],
            quantiles.collect(),
        )))
}
