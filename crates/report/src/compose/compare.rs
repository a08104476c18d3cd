//! What is said of a comparison of strategies.

use super::super::document::{Block, Part, Table};
use super::super::model::{CompareFindings, Mean, StrategyFigures};
use super::super::plots::{self, Effort};
use super::super::text::{Text, counted, number, percent, seconds};
use super::shares::{bins, crossed};

/// The verdict and the parts.
pub(super) fn parts(compare: &CompareFindings, id: &str) -> (Vec<Text>, Vec<Part>) {
    let mut verdict = vec![headline(compare)];
    if !compare.finished {
        verdict
            .push("The comparison was interrupted; the searches that were done are in it.".into());
    }
    let mut part = Part::new("What each strategy found").say(format!(
        "Protected: {}. {} each, all with the same model, data, checks and counting.",
        crossed(&compare.protected),
        counted(compare.repeats, "search", "searches")
    ));
    for (name, title, effort) in [
        ("calls", "Found against model calls", Effort::ModelCalls),
        ("time", "Found against search time", Effort::Seconds),
    ] {
        part = part.with(figure(compare, format!("{id}-{name}"), title, effort));
    }
    part = part.with(table(compare));
    let mut limits: Vec<String> = [
        "Found individuals for a number of calls say how good a search is, not how unfair the model is.",
        "Times are of one machine at one time; calls are the same everywhere, unless a limit of time ended the searches.",
        "Each search has its own seed and begins at other rows; the least and the most that one found say how much that matters.",
    ]
    .map(str::to_owned)
    .into();
    limits.extend(compare.bins.as_ref().map(bins));
    (
        verdict,
        vec![part, same_calls(compare), Part::limits(limits)],
    )
}

/// Which strategy found the most for the same number of calls, if that can be told.
fn headline(compare: &CompareFindings) -> Text {
    let shared = &compare.shared_budget;
    Text::new(match (&shared.best, shared.pairs.is_empty()) {
        (_, true) => {
            "Fewer than two strategies were searched by, so none is the better one.".to_owned()
        }
        (Some(best), _) => format!(
            "{best} found more than every other strategy for the same number of model calls: its intervals lie above theirs."
        ),
        (None, _) if compare.repeats < 2 => {
            "One search of each strategy does not tell which finds more.".to_owned()
        }
        (None, _) => format!(
            "No strategy found more than every other for the same number of model calls. Not told apart, and not beaten: {}.",
            shared.unbeaten.join(", ")
        ),
    })
}

/// Every two strategies at the calls that both reached.
fn same_calls(compare: &CompareFindings) -> Part {
    let mean = |mean: &Mean| format!("{}{}", number(mean.mean.round()), in_brackets(mean));
    let rows = compare.shared_budget.pairs.iter().map(|pair| {
        let [first, second] = &pair.strategies;
        vec![
            format!("{first} and {second}"),
            number(pair.model_calls as f64),
            mean(&pair.found[0]),
            mean(&pair.found[1]),
            pair.more.clone().unwrap_or_else(|| "–".to_owned()),
        ]
    });
    Part::new("Found for the same number of calls").with(Block::Table(Table::new(
        "At the calls that every search of both reached. More: the 95 % interval lies above the other's.",
        &["Strategies", "Calls", "The first found", "The second found", "More"],
        rows.collect(),
    )))
}

fn in_brackets(mean: &Mean) -> String {
    match mean.ci95 {
        Some([low, high]) => format!(" (95 % interval {} – {})", number(low), number(high)),
        None => String::new(),
    }
}

fn figure(compare: &CompareFindings, id: String, title: &str, effort: Effort) -> Block {
    let description = "Distinct discriminatory individuals, mean over the searches of each strategy as far as the shortest goes; both axes are \
         logarithmic.";
    let chart = plots::found(compare, effort);
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
        "Found after a hundredth",
        "After a tenth",
        "At the end",
    ];
    let table = Table::new(title, &header, rows.collect());
    Block::figure(&chart, id, description, table)
}

fn table(compare: &CompareFindings) -> Block {
    let mean = |mean: &Mean| format!("{}{}", number(mean.mean), in_brackets(mean));
    let row = |figures: &StrategyFigures| {
        vec![
            figures.strategy.clone(),
            mean(&figures.found),
            figures
                .found_range
                .map(|found| number(found as f64))
                .join(" – "),
            percent(figures.success_rate.mean),
            mean(&figures.found_per_thousand_calls),
            mean(&figures.found_per_second),
            seconds(figures.seconds.mean),
        ]
    };
    Block::Table(Table::new(
        "Means over the searches. Success: share of the individuals checked.",
        &[
            "Strategy",
            "Found",
            "Least – most",
            "Success",
            "For 1,000 calls",
            "A second",
            "Search time",
        ],
        compare.strategies.iter().map(row).collect(),
    ))
}
