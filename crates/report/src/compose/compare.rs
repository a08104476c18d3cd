//! What is said of a comparison of strategies.

use super::super::chart::{Curve, Curves};
use super::super::document::{Block, Figure, Part, Table};
use super::super::model::{CompareFindings, CurvePoint, Mean, StrategyFigures};
use super::super::text::{Text, counted, number, percent, seconds};
use super::shares::crossed;
use crate::line_plot::Spacing;

/// The verdict and the parts.
pub(super) fn parts(compare: &CompareFindings, id: &str) -> (Vec<Text>, Vec<Part>) {
    let measured = || {
        compare
            .strategies
            .iter()
            .filter(|figures| !figures.runs.is_empty())
    };
    let best = measured().max_by(|a, b| {
        a.found_per_thousand_calls
            .mean
            .total_cmp(&b.found_per_thousand_calls.mean)
    });
    let mut verdict = vec![Text::new(match best {
        None => "No search was finished.".to_owned(),
        Some(best) => format!(
            "{} found the most for its model calls: {} distinct discriminatory individuals for 1,000 calls{}.",
            best.strategy,
            number(best.found_per_thousand_calls.mean),
            in_brackets(&best.found_per_thousand_calls)
        ),
    })];
    if !compare.finished {
        verdict
            .push("The comparison was interrupted; the searches that were done are in it.".into());
    }
    let curves = [
        (
            "calls",
            "Found against model calls",
            "model calls (predictions and gradients)",
            true,
        ),
        ("time", "Found against search time", "seconds", false),
    ];
    let mut part = Part::new("What each strategy found").say(format!(
        "Protected: {}. {} each, all with the same model, data, checks and counting.",
        crossed(&compare.protected),
        counted(compare.repeats, "search", "searches")
    ));
    for (name, title, x_label, by_calls) in curves {
        part = part.with(figure(
            compare,
            format!("{id}-{name}"),
            (title, x_label),
            by_calls,
        ));
    }
    part = part.with(table(compare));
    let limits = [
        "Found individuals for a number of calls say how good a search is, not how unfair the model is.",
        "Times are of one machine at one time; calls are the same everywhere.",
    ];
    let limits =
        Part::new("What this does not say").with(Block::List(limits.map(Text::from).into()));
    (verdict, vec![part, limits])
}

fn in_brackets(mean: &Mean) -> String {
    match mean.ci95 {
        Some([low, high]) => format!(" (95 % interval {} – {})", number(low), number(high)),
        None => String::new(),
    }
}

fn figure(
    compare: &CompareFindings,
    id: String,
    (title, x_label): (&str, &str),
    by_calls: bool,
) -> Block {
    let x = |point: &CurvePoint| {
        if by_calls {
            point.model_calls as f64
        } else {
            point.seconds
        }
    };
    let curves: Vec<Curve> = compare
        .strategies
        .iter()
        .map(|figures| Curve {
            name: Text::value(&figures.strategy),
            points: figures.runs.first().map_or(Vec::new(), |run| {
                run.curve
                    .iter()
                    .map(|point| (x(point), point.found as f64))
                    .collect()
            }),
        })
        .collect();
    let title = Text::new(title);
    let description = Text::new(
        "Distinct discriminatory individuals of the first search of each strategy; both axes are logarithmic.",
    );
    let chart = Curves {
        x_label,
        y_label: "found",
        spacing: Spacing::Logarithmic,
        curves: &curves,
    };
    // The last point of each curve, and what it had at a tenth and a hundredth of that.
    let rows = curves.iter().map(|curve| {
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
    let end = if by_calls {
        "Calls at the end"
    } else {
        "Seconds at the end"
    };
    Block::Figure(Figure {
        svg: chart.svg(&id, (&title, &description)),
        data: Table::new(
            title.clone(),
            &[
                "Strategy",
                end,
                "Found after a hundredth",
                "After a tenth",
                "At the end",
            ],
            rows.collect(),
        ),
        id,
        title,
        description,
    })
}

fn table(compare: &CompareFindings) -> Block {
    let mean = |mean: &Mean| format!("{}{}", number(mean.mean), in_brackets(mean));
    let row = |figures: &StrategyFigures| {
        vec![
            figures.strategy.clone(),
            mean(&figures.found),
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
            "Success",
            "For 1,000 calls",
            "A second",
            "Search time",
        ],
        compare.strategies.iter().map(row).collect(),
    ))
}
