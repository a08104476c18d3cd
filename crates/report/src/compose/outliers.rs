//! What is said of outliers: what was released, and nothing else.

use super::super::document::{Block, Part, Table};
use super::super::model::{Cost, CountInterval, Left, OutlierCount, OutlierSubspaces};
use super::super::text::{Text, count, counted, number, percent, signed};
use super::shares::crossed;
use super::terms;

fn within(interval: &Option<CountInterval>) -> String {
    match interval {
        Some(interval) => format!(
            "{} interval of the true count {} – {}",
            percent(interval.confidence),
            signed(interval.low),
            signed(interval.high)
        ),
        None => "no interval was asked for".to_owned(),
    }
}

fn not_private(private: bool) -> Option<Text> {
    (!private).then(|| {
        "NOT PRIVATE: the noise came from a seed. This answer must not be given away.".into()
    })
}

/// The verdict and the parts of a count.
pub(super) fn count_parts(release: &OutlierCount) -> (Vec<Text>, Vec<Part>) {
    let mut verdict: Vec<Text> = not_private(release.private).into_iter().collect();
    verdict.push(Text::new(format!(
        "The noisy count of outliers in {} is {}, of {} records ({}).",
        crossed(&release.columns),
        signed(release.count),
        count(release.rows),
        within(&release.interval)
    )));
    verdict.push(release.noise.shown().into());
    let part = price((release.radius, release.k), &release.cost, &release.left);
    let noise = format!(
        "Noise was fitted to the {} sensitivity.",
        release.sensitivity
    );
    (verdict, vec![part.say(noise), limits()])
}

/// The verdict and the parts of a choice of subspaces.
pub(super) fn subspace_parts(release: &OutlierSubspaces) -> (Vec<Text>, Vec<Part>) {
    let first = release
        .subspaces
        .first()
        .map(|subspace| crossed(&subspace.columns));
    let mut verdict: Vec<Text> = not_private(release.private).into_iter().collect();
    verdict.push(Text::new(format!(
        "Of {} of {}, {} drawn at random, those with more outliers likelier than others{}.",
        counted(release.candidates, "subspace", "subspaces"),
        counted(release.dims, "column", "columns"),
        counted(release.subspaces.len() as u64, "was", "were"),
        first.map_or(String::new(), |first| format!("; the first is {first}"))
    )));
    let is_counted = release.subspaces.iter().any(|of| of.count.is_some());
    if !is_counted {
        verdict.push("That a subspace was drawn does not show that it has outliers; counts cost more (--then-count).".into());
    }
    verdict.extend(release.noise.iter().map(|noise| noise.shown().into()));
    let rows = release
        .subspaces
        .iter()
        .enumerate()
        .map(|(place, subspace)| {
            let counted = subspace.count.map_or("not asked for".to_owned(), signed);
            let interval = subspace.interval.as_ref().map(|interval| {
                format!(
                    "{} – {} ({})",
                    signed(interval.low),
                    signed(interval.high),
                    percent(interval.confidence)
                )
            });
            vec![
                (place + 1).to_string(),
                crossed(&subspace.columns),
                counted,
                interval.unwrap_or_else(|| "–".to_owned()),
            ]
        });
    let chosen = Part::new("What was released").with_essential(Block::Table(Table::new(
        match is_counted {
            true => "Subspaces in the order in which they were drawn, with noisy counts.",
            false => "Subspaces in the order in which they were drawn.",
        },
        &["Place", "Columns", "Noisy count", "Interval"],
        rows.collect(),
    )));
    (
        verdict,
        vec![
            chosen,
            price((release.radius, release.k), &release.cost, &release.left),
            limits(),
        ],
    )
}

fn price((radius, k): (f64, u64), cost: &Cost, left: &Left) -> Part {
    let facts = [
        (
            "An outlier",
            format!(
                "has fewer than {} other records within {}",
                count(k),
                number(radius)
            ),
        ),
        (
            "Price",
            format!("ε {}, δ {}", number(cost.epsilon), number(cost.delta)),
        ),
        (
            "Left of the budget",
            format!("ε {}, δ {}", number(left.epsilon), number(left.delta)),
        ),
    ];
    let facts = facts.map(|(name, value)| (name.into(), value.into()));
    Part::new("What was asked, and its price")
        .with_essential(Block::Facts(facts.into()))
        .with(terms::explained(&terms::PRIVACY))
}

fn limits() -> Part {
    let limits = [
        "The answers are noisy on purpose: whoever sees them can hardly tell whether any one person's record was another. A count may be off, even below zero.",
        "This page holds what the query released and nothing of the records: neither the file, nor its hash, nor ranges or values.",
        "Each further query on the same data adds to the price, whoever asks it.",
        "A private answer cannot be computed again: its random bits are gone.",
    ];
    Part::limits(limits)
}
