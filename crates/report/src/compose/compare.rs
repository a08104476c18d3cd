//! What is said of a comparison of strategies.

use super::super::document::{Block, Part, Table};
use super::super::model::{CompareFindings, FindsFigures, Mean, SameFinds, StrategyFigures};
use super::super::plots::{self, Effort, Yield};
use super::super::text::{
    Text, count, counted, decimals_of, fixed, number, percent, seconds_in_column,
};
use super::ending::interrupted;
use super::shares::{bins, crossed};

/// The verdict and the parts.
pub(super) fn parts(compare: &CompareFindings, id: &str) -> (Vec<Text>, Vec<Part>) {
    let searches: usize = compare.strategies.iter().map(|of| of.runs.len()).sum();
    let searches = counted(searches as u64, "search", "searches");
    let unfinished = (!compare.finished).then(|| interrupted(Some(searches)));
    let verdict = unfinished.into_iter().chain([headline(compare)]).collect();
    let mut part = Part::new("What each strategy found").say(format!(
        "Protected: {}. {} each, all with the same model, data, checks and counting.",
        crossed(&compare.protected),
        counted(compare.repeats, "search", "searches")
    ));
    for (name, title, effort) in [
        ("calls", "Found against model calls", Effort::ModelCalls),
        ("time", "Found against search time", Effort::Seconds),
    ] {
        let id = format!("{id}-{name}");
        part = part.with(figure(compare, id, title, (Yield::Found, effort)));
    }
    part = part.with_essential(table(compare));
    let mut parts = vec![part];
    parts.extend(diversity(compare, id));
    parts.push(same_calls(compare));
    let inputs = match compare.texts.is_some() {
        true => "texts",
        false => "rows",
    };
    let mut limits: Vec<String> = [
        "Found individuals for a number of calls say how good a search is, not how unfair the model is.",
        "Times are of one machine at one time; calls are the same everywhere, unless a limit of time ended the searches.",
        "Each search has its own seed and begins at other {inputs}; the least and the most that one found say how much that matters.",
    ]
    .map(|limit| limit.replace("{inputs}", inputs))
    .into();
    limits.extend(compare.bins.as_ref().map(bins));
    parts.push(Part::limits(limits));
    (verdict, parts)
}

/// Where what was found lies; nothing of a run that does not say it.
fn diversity(compare: &CompareFindings, id: &str) -> Option<Part> {
    let strategies = compare.strategies.iter();
    let all: Vec<(&StrategyFigures, &FindsFigures)> = strategies
        .filter_map(|figures| Some((figures, figures.finds.as_ref()?)))
        .collect();
    if all.is_empty() {
        return None;
    }
    let means = |of: fn(&FindsFigures) -> Option<&Mean>, decimals: usize| -> Vec<String> {
        let of_all = all.iter().map(|(_, finds)| of(finds));
        let shown = of_all.map(|mean| mean.map_or("–".to_owned(), |mean| shown(mean, decimals)));
        shown.collect()
    };
    let is_of_texts = compare.texts.is_some();
    let clusters = all.iter().map(|(_, finds)| finds.data_clusters).max();
    let clusters = clusters.unwrap_or(0);
    let (mut columns, caption) = match is_of_texts {
        false => (
            vec![
                (
                    "Differing attributes",
                    means(|finds| Some(&finds.hamming), 3),
                ),
                ("Distance", means(|finds| finds.l1.as_ref(), 3)),
            ],
            format!(
                "Means over the searches, 95\u{a0}% intervals in brackets. Seeds reached: the share that came to a discriminatory row of their own. \
                 Differing attributes: the share in which two finds differ; distance: how far, on average over the attributes. Cells: of a grid of three parts an \
                 attribute. Clusters: of {clusters} of the data, those that finds cover."
            ),
        ),
        true => (
            vec![("Differing words", means(|finds| Some(&finds.hamming), 3))],
            format!(
                "Means over the searches, 95\u{a0}% intervals in brackets. Seeds reached: the share that came to a discriminatory text of their own. \
                 Differing words: the share of the words of the longer one of two finds that the other has not. Cells: texts that finds were made of. Clusters: of \
                 {clusters} of the data, those that finds cover. Plausibility: the share of its probability that a find keeps for each changed word."
            ),
        ),
    };
    columns.insert(0, ("Seeds reached", means(|finds| Some(&finds.reached), 3)));
    columns.push(("Cells", means(|finds| Some(&finds.cells), 0)));
    columns.push(("Clusters", means(|finds| Some(&finds.clusters), 1)));
    if all.iter().any(|(_, finds)| finds.plausibility.is_some()) {
        let grades = means(|finds| finds.plausibility.as_ref(), 3);
        columns.push(("Plausibility", grades));
    }
    let rows = all.iter().enumerate().map(|(place, (figures, _))| {
        let cells = columns.iter().map(|(_, column)| column[place].clone());
        [figures.strategy.clone()]
            .into_iter()
            .chain(cells)
            .collect()
    });
    let header: Vec<&str> = ["Strategy"]
        .into_iter()
        .chain(columns.iter().map(|(name, _)| *name))
        .collect();
    let title = "Cells against model calls";
    let part = Part::new("How diverse the finds are")
        .say("Finds that lie close to each other say the same thing often. A strategy finds more only if its finds are as diverse.")
        .with(figure(
            compare,
            format!("{id}-cells"),
            title,
            (Yield::Cells, Effort::ModelCalls),
        ))
        .with_essential(Block::Table(Table::new(caption, &header, rows.collect())));
    Some(part)
}

/// Which strategy found the most for the same number of calls, if that can be told.
fn headline(compare: &CompareFindings) -> Text {
    let shared = &compare.shared_budget;
    Text::new(match (&shared.best, shared.pairs.is_empty()) {
        (_, true) => {
            "Fewer than two strategies were searched by, so none is the better one.".to_owned()
        }
        (Some(best), _) => format!(
            "{best} found more than every other strategy for the same number of model calls: its intervals lie above theirs.{}",
            match &shared.wider[..] {
                [] => String::new(),
                wider => format!(
                    " As many finds lie in more places with: {}.",
                    wider.join(", ")
                ),
            }
        ),
        (None, _) if compare.repeats < 2 => {
            "One search of each strategy does not tell which finds more; that takes two repeats or more.".to_owned()
        }
        (None, _) => format!(
            "No strategy found more than every other for the same number of model calls. Not told apart, and not beaten: {}.",
            shared.unbeaten.join(", ")
        ),
    })
}

/// Every two strategies at the calls that both reached.
fn same_calls(compare: &CompareFindings) -> Part {
    let pairs = &compare.shared_budget.pairs;
    let found = [0, 1].map(|side| {
        let means: Vec<&Mean> = pairs.iter().map(|pair| &pair.found[side]).collect();
        column(&means)
    });
    let rows = pairs.iter().enumerate().map(|(place, pair)| {
        let [first, second] = &pair.strategies;
        vec![
            format!("{first} and {second}"),
            count(pair.model_calls),
            found[0][place].clone(),
            found[1][place].clone(),
            pair.more.clone().unwrap_or_else(|| "–".to_owned()),
        ]
    });
    let part = Part::new("Found for the same number of calls").with_essential(Block::Table(Table::new(
        "At the model calls (predictions and gradients) that every search of both reached; 95\u{a0}% intervals in brackets. More: the interval lies above the other's.",
        &["Strategies", "Calls", "The first found", "The second found", "More"],
        rows.collect(),
    )));
    let same = pairs
        .iter()
        .filter_map(|pair| Some((pair, pair.same_finds.as_ref()?)));
    let rows: Vec<Vec<String>> = same
        .map(|(pair, SameFinds { finds, cells, more })| {
            let [first, second] = &pair.strategies;
            vec![
                format!("{first} and {second}"),
                count(*finds),
                shown(&cells[0], 0),
                shown(&cells[1], 0),
                more.clone().unwrap_or_else(|| "–".to_owned()),
            ]
        })
        .collect();
    if rows.is_empty() {
        return part;
    }
    part.with(Block::Table(Table::new(
        "Cells that as many finds of each lie in, at a number of finds that every search of both reached.",
        &["Strategies", "Finds", "Cells of the first", "Cells of the second", "More"],
        rows,
    )))
}

/// Means of a column, with their intervals in brackets.
fn column(means: &[&Mean]) -> Vec<String> {
    let decimals = decimals_of(means.iter().map(|mean| mean.mean)).min(2);
    means.iter().map(|mean| shown(mean, decimals)).collect()
}

/// A mean with its interval in brackets.
fn shown(mean: &Mean, decimals: usize) -> String {
    match mean.ci95.map(|ends| ends.map(|end| fixed(end, decimals))) {
        Some([low, high]) => format!("{} ({low} – {high})", fixed(mean.mean, decimals)),
        None => fixed(mean.mean, decimals),
    }
}

fn figure(
    compare: &CompareFindings,
    id: String,
    title: &str,
    (what, effort): (Yield, Effort),
) -> Block {
    let of = match (what, compare.texts.is_some()) {
        (Yield::Found, _) => "Distinct discriminatory individuals",
        (Yield::Cells, false) => "Cells with a find, of a grid of three parts an attribute",
        (Yield::Cells, true) => "Texts that finds were made of",
    };
    let description = format!(
        "{of}, mean over the searches of each strategy as far as the shortest goes; both axes are logarithmic."
    );
    let chart = plots::found(compare, what, effort);
    // The last point of each curve, and what it had at a tenth and a hundredth of that.
    let rows = chart.series.iter().map(|curve| {
        let last = curve.points.last().map_or(0.0, |point| point.0);
        let at = |place: f64| {
            let before = curve.points.iter().take_while(|point| point.0 <= place);
            number(before.last().map_or(0.0, |point| point.1))
        };
        vec![
            curve.name.to_string(),
            number(last),
            at(last / 100.0),
            at(last / 10.0),
            at(last),
        ]
    });
    let end = match effort {
        Effort::ModelCalls => "Calls at the end",
        Effort::Seconds => "Seconds at the end",
    };
    let header = [
        "Strategy",
        end,
        "After a hundredth",
        "After a tenth",
        "At the end",
    ];
    let table = Table::new(title, &header, rows.collect());
    Block::figure(&chart, id, description, table)
}

fn table(compare: &CompareFindings) -> Block {
    let strategies = &compare.strategies;
    let means = |of: fn(&StrategyFigures) -> &Mean| {
        column(&strategies.iter().map(of).collect::<Vec<&Mean>>())
    };
    let passes = |figures: &StrategyFigures| match &figures.found_per_thousand_passes {
        Some(mean) => shown(mean, 1),
        None => "–".to_owned(),
    };
    let [found, by_calls, by_time] = [
        means(|figures| &figures.found),
        means(|figures| &figures.found_per_thousand_calls),
        means(|figures| &figures.found_per_second),
    ];
    let times: Vec<f64> = strategies.iter().map(|of| of.seconds.mean).collect();
    let times = seconds_in_column(&times);
    let row = |(place, figures): (usize, &StrategyFigures)| {
        vec![
            figures.strategy.clone(),
            found[place].clone(),
            figures.found_range.map(count).join(" – "),
            percent(figures.success_rate.mean),
            by_calls[place].clone(),
            passes(figures),
            by_time[place].clone(),
            times[place].clone(),
        ]
    };
    Block::Table(Table::new(
        "Means over the searches, 95\u{a0}% intervals in brackets. Success: share of the individuals checked. Passes: a gradient has two, forwards and backwards.",
        &[
            "Strategy",
            "Found",
            "Least – most",
            "Success",
            "For 1,000 calls",
            "For 1,000 passes",
            "A second",
            "Search time",
        ],
        strategies.iter().enumerate().map(row).collect(),
    ))
}
