//! What is said of the rows of the data: how many decisions change, whose, which way, how far.

use super::super::chart::{Histogram, IntervalRow, Intervals};
use super::super::document::{Block, Part, Table};
use super::super::model::{
    Changes, CountedRows, GroupOfRows, GroupedRows, Plausibility, Population,
};
use super::super::text::{Text, count, counted, interval, number, percent};
use super::disadvantage::{self, Inputs, Stakes};
use super::impact::{self, FOUR_FIFTHS_RULE, GroupRate};
use super::left_out;
use super::shares::{self, InputKind, crossed};
use super::terms;

/// Groups of a set that are shown.
const MOST: usize = 24;

/// Rows from which a group's rate is judged.
const JUDGED: u64 = 30;

/// How rows of a table are asked about.
fn asked(population: &Population) -> InputKind {
    InputKind {
        inputs: population.source(),
        there: Some(population.rows),
        is_text: false,
    }
}

/// What becomes of rows with other protected values: that they get what is good, and that they lose
/// it.
fn ways(population: &Population) -> [String; 2] {
    let favourable = Text::value(&population.favourable);
    match population.gap {
        None => [
            format!("Would get ‘{favourable}’ and do not"),
            format!("Get ‘{favourable}’ and would lose it"),
        ],
        Some(_) => ["Would score higher".into(), "Would score lower".into()],
    }
}

/// What rows have to gain.
fn stakes(population: &Population) -> Stakes {
    let favourable = Text::value(&population.favourable);
    let [gain, lose] = match (&population.number, population.gap) {
        (Some(number), _) => {
            let is_higher = population.favourable != "lower";
            [is_higher, !is_higher].map(|is_higher| {
                let size = if is_higher { "higher" } else { "lower" };
                format!("would get a {size} ‘{}’", Text::value(number))
            })
        }
        (None, Some(_)) => ["would score higher", "would score lower"].map(str::to_owned),
        (None, None) => [format!("would get ‘{favourable}’"), "would lose it".into()],
    };
    Stakes {
        title: disadvantage::TITLE,
        gain,
        lose,
        inputs: Inputs::Rows,
        is_good: true,
    }
}

/// Who is disadvantaged, by each attribute alone.
pub(super) fn disadvantaged(population: &Population) -> Vec<String> {
    let Some(joint) = population.shares.last() else {
        return Vec::new();
    };
    let stakes = stakes(population);
    let alone = population.shares.iter().filter(|share| *share != joint);
    let said = population.effects.iter().filter_map(|effect| {
        disadvantage::sentence(effect, &stakes).or_else(|| {
            // Nobody gains or loses. Decisions may change between others.
            let mut alone = alone.clone();
            let share = alone.find(|share| share.protected == [&*effect.attribute]);
            share.map(|share| asked(population).sentence(share))
        })
    });
    let together = disadvantage::together(&population.intersections, &stakes);
    together.into_iter().chain(said).collect()
}

/// The first sentences of an audit.
pub(super) fn verdict(population: &Population) -> Vec<String> {
    let Some(joint) = population.shares.last() else {
        return Vec::new();
    };
    // Who is disadvantaged is the first thing that is asked.
    let mut said = disadvantaged(population);
    said.push(asked(population).sentence(joint));
    if joint.discriminatory > 0 {
        let ways = &population.directions;
        let gain = counted(ways.to_favourable.count, "row", "rows");
        let loss = count(ways.from_favourable.count);
        said.push(match population.gap {
            None => format!(
                "{gain} do not get ‘{}’ because of their protected values alone; {loss} get it because of theirs.",
                Text::value(&population.favourable)
            ),
            Some(_) => format!(
                "{gain} would score higher with other protected values; {loss} would score lower."
            ),
        });
    }
    said
}

/// Who is disadvantaged, a few people as `stories`, and shares, directions, groups and moves of the
/// rows.
pub(super) fn parts(population: &Population, stories: Option<Part>, id: &str) -> Vec<Part> {
    let losers = disadvantage::part(&population.effects, &stakes(population), id);
    let unknown = population.unknown.as_ref().map(left_out::unknown_rows);
    let said = population.gap.is_none().then(|| {
        format!(
            "‘{}’ counts as the class that is good to get: the one that the run names, else the last one of the schema.",
            Text::value(&population.favourable)
        )
    });
    let losers = losers.map(|part| match said {
        Some(said) => part.say(said),
        None => part,
    });
    let mut parts: Vec<Part> = losers.into_iter().chain(stories).collect();
    let shares = shares_part(population, id);
    parts.push(match unknown {
        Some(said) => shares.with_essential(Block::Paragraph(said.into())),
        None => shares,
    });
    parts.push(affected(population, id).folded());
    parts.extend(selected(population, id).map(Part::folded));
    let (changes, favourable) = (&population.changes, &population.favourable);
    let score = match &population.number {
        Some(number) => Score::Number(number.clone()),
        None => Score::OfClass(favourable.clone()),
    };
    parts.push(moves(changes, &score, "rows", id).folded());
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
    let [gain, loss] = ways(population);
    let ways = &population.directions;
    let row = |name: String, way: &CountedRows| {
        vec![
            name,
            count(way.count),
            percent(way.share),
            interval(way.ci95),
        ]
    };
    let mut rows_of_ways = vec![
        row(gain, &ways.to_favourable),
        row(loss, &ways.from_favourable),
    ];
    if ways.between_others.count > 0 {
        rows_of_ways.push(row("Between other decisions".into(), &ways.between_others));
    }
    let part = Part::new("Whose decisions change");
    let part = match population.asked == population.rows {
        true => part.say(rows),
        false => part.with_essential(Block::Paragraph(rows.into())),
    };
    part.say("A row is discriminatory if some other combination of its protected values gets it another decision, with all else as it is.")
        .with_essential(shares::figure(format!("{id}-people"), asked(population), &population.shares))
        .with(Block::Table(Table::new(
            "Which way the decisions change, by all protected attributes jointly",
            &["Direction", "Rows", "Share", "95\u{a0}% interval"],
            rows_of_ways,
        )))
        .with(terms::explained(&[terms::INTERVAL]))
}

/// In which groups the rows are whose decisions change.
fn affected(population: &Population, id: &str) -> Part {
    let mut part = Part::new("Who is affected");
    for (place, by) in population.groups.iter().enumerate() {
        let (groups, said) = shown(by);
        if let Some(said) = said {
            part = part.say(said);
        }
        part = part.with(affected_by(
            population,
            by,
            &groups,
            format!("{id}-who{place}"),
        ));
    }
    part
}

/// The groups that are shown, and what is to be said where these are not all.
fn shown(by: &GroupedRows) -> (Vec<&GroupOfRows>, Option<String>) {
    let mut groups: Vec<&GroupOfRows> = by.groups.iter().collect();
    let all = groups.len() as u64 + by.unlisted;
    if groups.len() > MOST {
        groups.sort_by_key(|group| std::cmp::Reverse(group.discriminatory));
        groups.truncate(MOST);
    }
    let said = (groups.len() < all as usize).then(|| {
        format!(
            "By {} the {} of {} groups are shown that have most discriminatory rows.",
            crossed(&by.attributes),
            groups.len(),
            count(all)
        )
    });
    (groups, said)
}

fn affected_by(
    population: &Population,
    by: &GroupedRows,
    groups: &[&GroupOfRows],
    id: String,
) -> Block {
    let values = |values: &[String]| values.join(", ");
    let rows: Vec<IntervalRow> = groups
        .iter()
        .map(|group| IntervalRow::new(&values(&group.values), group.rate, group.ci95, 0))
        .collect();
    let gain = format!("Would get ‘{}’", Text::value(&population.favourable));
    let [gain, loss] = match population.gap {
        None => [gain.as_str(), "Would lose it"],
        Some(_) => ["Would score higher", "Would score lower"],
    };
    let table = Table::new(
        format!(
            "Rows that get another decision, by {}",
            crossed(&by.attributes)
        ),
        &[
            "Group",
            "Rows",
            "Discriminatory",
            "Share",
            "95\u{a0}% interval",
            gain,
            loss,
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
    let description = "Dots are shares, lines their 95\u{a0}% intervals.".to_owned();
    Block::figure(&Intervals { rows: &rows }, id, description, table)
}

/// How often each group gets the favourable class as it is, against the group that gets it most
/// often.
fn selected(population: &Population, id: &str) -> Option<Part> {
    let figures = population
        .groups
        .iter()
        .enumerate()
        .filter_map(|(place, by)| {
            let rates = by.groups.iter().filter(|group| group.rows >= JUDGED);
            let rates: Option<Vec<GroupRate>> = rates
                .map(|group| {
                    Some(GroupRate {
                        group: group.values.join(", "),
                        rows: group.rows,
                        rate: group.favoured? as f64 / group.rows as f64,
                    })
                })
                .collect();
            impact::of_groups(
                &crossed(&by.attributes),
                &rates?,
                format!("{id}-ratios{place}"),
            )
        });
    let figures: Vec<Block> = figures.collect();
    if figures.is_empty() {
        return None;
    }
    let part = Part::new("Decisions by group, as they are").say(format!(
        "How often the model decides ‘{}’ for the rows of each group, and that rate over the highest one: the impact ratio. Groups differ in more than the \
         protected attributes, so this is another question than whose decisions change. A group of fewer than {JUDGED} rows is not judged. {FOUR_FIFTHS_RULE}",
        Text::value(&population.favourable)
    ));
    Some(figures.into_iter().fold(part, Part::with))
}

/// How plausible the pairs are that the search found.
pub(super) fn plausibility(graded: &Plausibility, id: &str) -> Part {
    let graded_by = format!(
        "A sum-product network of {} grades each pair, without its protected attributes: its plausibility is the share of these rows that are no likelier. \
         Of {}, {} ({}) reach 5 %. Below that the model discriminates where hardly anybody is.",
        counted(graded.rows, "row", "rows"),
        counted(graded.pairs, "pair", "pairs"),
        count(graded.plausible),
        percent(graded.share)
    );
    let mut part =
        Part::new("How plausible the pairs are").with_essential(Block::Paragraph(graded_by.into()));
    if graded.left_out > 0 {
        let pairs = counted(graded.left_out, "pair", "pairs");
        part = part.with_essential(Block::Paragraph(Text::new(format!(
            "Less plausible than asked for, and not among the samples: {pairs}."
        ))));
    }
    if let Some(share) = &graded.estimate {
        let [low, high] = share.ci95.map(percent);
        part = part.say(format!(
            "Of {} drawn from this network, {} are discriminatory (95\u{a0}% interval {low} to {high}).",
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
        end: 1.0,
        x_label: "plausibility",
        y_label: "pairs",
    };
    let title = "Pairs by plausibility";
    let table = Table::new(title, &["Plausibility", "Pairs", "Share"], rows.collect());
    let description = format!("{} of the pairs reach 5 %.", percent(graded.share));
    let id = format!("{id}-plausibility");
    part.with(Block::figure(&chart, id, description, table))
}

/// What moves.
pub(super) enum Score {
    /// The probability of a class.
    OfClass(String),
    /// The number that a regressor gives.
    Number(String),
}

impl Score {
    fn name(&self) -> String {
        match self {
            Score::OfClass(class) => format!("the score of ‘{}’", Text::value(class)),
            Score::Number(name) => format!("‘{}’", Text::value(name)),
        }
    }
}

/// How far `score` moves; `inputs` are rows or texts.
pub(super) fn moves(changes: &Changes, score: &Score, inputs: &str, id: &str) -> Part {
    let description = format!(
        "How far {} moves at most when protected values change: {} on average, {} at most.",
        score.name(),
        number(changes.mean),
        number(changes.largest)
    );
    let chart = Histogram {
        bins: &changes.bins,
        end: changes.bin_width * changes.bins.len() as f64,
        x_label: "how far the score moves",
        y_label: inputs,
    };
    let shown = |change: f64, digits: usize| match score {
        Score::OfClass(_) => format!("{change:.digits$}"),
        Score::Number(_) => number(change),
    };
    let all: u64 = changes.bins.iter().sum();
    let named = inputs[..1].to_uppercase() + &inputs[1..];
    let rows = changes.bins.iter().enumerate().map(|(place, &rows)| {
        let edge = |edge: usize| shown(changes.bin_width * edge as f64, 2);
        vec![
            format!("{} – {}", edge(place), edge(place + 1)),
            count(rows),
            percent(rows as f64 / all.max(1) as f64),
        ]
    });
    let title = format!("{named} by how far their score moves");
    let table = Table::new(title, &["Move", &named, "Share"], rows.collect());
    let quantiles = changes
        .quantiles
        .iter()
        .map(|quantile| vec![percent(quantile.share), shown(quantile.change, 3)]);
    Part::new(&format!("How far the scores of the {inputs} move"))
        .with(Block::figure(
            &chart,
            format!("{id}-moves"),
            description,
            table,
        ))
        .with(Block::Table(Table::new(
            format!("Moves that no more than a share of the {inputs} exceed; rounded up"),
            &[&format!("Share of the {inputs}"), "Moves by at most"],
            quantiles.collect(),
        )))
}
