//! What is said of models that rows are deleted from, and of benchmarks of that.

use super::super::document::{Block, Outcome, Part, Table};
use super::super::model::{
    BadRows, KMeansAlgorithm, KMeansFindings, KMeansFit, SpnFindings, SpnFit, Spread,
};
use super::super::plots;
use super::super::text::{
    Text, count, counted, decimals_of, fixed, number, seconds, seconds_in_column, skipped_rows,
};
use super::super::verdict::Verdict;
use super::ending::interrupted;
use super::left_out;
use super::terms;

/// Means and deviations of a column.
fn spreads(column: &[&Option<Spread>]) -> Vec<String> {
    let means = column.iter().filter_map(|spread| spread.as_ref());
    let decimals = decimals_of(means.map(|spread| spread.mean));
    let shown = |spread: &&Option<Spread>| match spread {
        Some(Spread { mean, sd: Some(sd) }) => {
            format!("{} ± {}", fixed(*mean, decimals), fixed(*sd, decimals))
        }
        Some(Spread { mean, sd: None }) => fixed(*mean, decimals),
        None => "–".to_owned(),
    };
    column.iter().map(shown).collect()
}

/// Whether there is more than one value of any of `spreads`.
fn has_deviation<'s>(spreads: impl IntoIterator<Item = &'s Spread>) -> bool {
    spreads.into_iter().any(|spread| spread.sd.is_some())
}

/// The verdict and the parts of a benchmark of k-means.
pub(super) fn kmeans_parts(bench: &KMeansFindings, id: &str) -> (Vec<Text>, Vec<Part>) {
    let speed = |algorithm: &KMeansAlgorithm| {
        algorithm
            .speedup
            .as_ref()
            .map_or(0.0, |speedup| speedup.mean)
    };
    let fastest = bench
        .algorithms
        .iter()
        .max_by(|a, b| speed(a).total_cmp(&speed(b)));
    let mut verdict = Vec::new();
    if let Some(fastest) = fastest
        && fastest.speedup.is_some()
    {
        verdict.push(Text::new(format!(
            "{}: one training and {} were {} times as fast as training k-means anew each time{}.",
            fastest.algorithm,
            counted(bench.options.deletions, "deletion", "deletions"),
            spreads(&[&fastest.speedup]).concat(),
            match has_deviation(&fastest.speedup) {
                true => " (mean ± standard deviation)",
                false => "",
            }
        )));
    }
    if !bench.finished {
        verdict.insert(0, interrupted(None));
    }
    let column = |of: fn(&KMeansAlgorithm) -> &Option<Spread>| {
        spreads(&bench.algorithms.iter().map(of).collect::<Vec<_>>())
    };
    let columns = [
        column(|algorithm| &algorithm.seconds),
        column(|algorithm| &algorithm.speedup),
        column(|algorithm| &algorithm.loss_ratio),
        column(|algorithm| &algorithm.silhouette),
        column(|algorithm| &algorithm.nmi),
    ];
    let table = Table::new(
        format!(
            "{} of {}, {}, {}. Speed-up is against k-means trained anew after each deletion: so many times as long as one of the trainings that were timed takes on average.{}",
            counted(bench.rows, "row", "rows"),
            counted(bench.columns, "column", "columns"),
            counted(bench.options.clusters, "cluster", "clusters"),
            counted(bench.options.deletions, "deletion", "deletions"),
            match has_deviation(bench.algorithms.iter().filter_map(|of| of.seconds.as_ref())) {
                true => " Mean ± standard deviation over the replicates.",
                false => "",
            }
        ),
        &[
            "Algorithm",
            "Seconds",
            "Speed-up",
            "Loss ratio",
            "Silhouette",
            "NMI",
            "Exact",
        ],
        bench
            .algorithms
            .iter()
            .enumerate()
            .map(|(place, algorithm)| {
                let mut row = vec![algorithm.algorithm.clone()];
                row.extend(columns.iter().map(|column| column[place].clone()));
                let exact = algorithm.exact.map_or("–", |is_exact| match is_exact {
                    true => "yes",
                    false => "NO",
                });
                row.push(exact.to_owned());
                row
            })
            .collect(),
    );
    let part = Part::new("Time of deletions")
        .with(curves(bench, format!("{id}-deletions")))
        .with_essential(Block::Table(table))
        .with(terms::explained(&terms::DELETIONS));
    (verdict, vec![part, limits(bench.bad_rows.as_ref())])
}

/// Whether deletions left what training anew leaves, by whether those of each algorithm did; nothing of one
/// of which no model was compared.
pub(super) fn exactness(of_algorithms: &[Option<bool>]) -> Outcome {
    if of_algorithms.contains(&Some(false)) {
        let said = "NOT EXACT: a model differed from one trained anew. That is a defect of Probity; do not rely on this run.";
        return Outcome::new(Verdict::Exceeds, said);
    }
    if of_algorithms.contains(&None) {
        let said = "Whether deletions leave what training anew leaves is not shown of each algorithm: it was stopped before.";
        return Outcome::new(Verdict::Inconclusive, said);
    }
    let said = "After the deletions every model was, bit for bit, the one that training anew without the rows gives.";
    Outcome::new(Verdict::Within, said)
}

fn curves(bench: &KMeansFindings, id: String) -> Block {
    let description = "One training and the deletions after it, mean over the replicates of each algorithm; both axes are logarithmic.";
    let chart = plots::deletions(bench);
    let rows = chart.series.iter().map(|curve| {
        let last = curve.points.last().copied().unwrap_or((0.0, 0.0));
        let half = curve
            .points
            .get(curve.points.len() / 2)
            .copied()
            .unwrap_or(last);
        let cell = |(deletions, time): (f64, f64)| {
            format!("{} after {}", seconds(time), number(deletions))
        };
        vec![curve.name.to_string(), cell(half), cell(last)]
    });
    let header = ["Algorithm", "Half way", "At the end"];
    let table = Table::new("Seconds against deletions", &header, rows.collect());
    Block::figure(&chart, id, description, table)
}

/// The verdict and the parts of a benchmark of sum-product networks.
pub(super) fn spn_parts(bench: &SpnFindings) -> (Vec<Text>, Vec<Part>) {
    let mut verdict = vec![Text::new(format!(
        "Deleting {} of {} rows one by one was {} times as fast as learning anew after each.",
        count(bench.deletions),
        count(bench.rows),
        number(bench.speed_up)
    ))];
    if !bench.finished {
        verdict.insert(0, interrupted(None));
    }
    let timed = [
        ("Learning once", &bench.learn_seconds),
        (
            "Learning once without the state for deletion",
            &bench.learn_without_state_seconds,
        ),
        (
            "Learning anew after each deletion, in all",
            &bench.retrain_seconds,
        ),
        ("Deleting, in all", &bench.unlearn_seconds),
    ];
    let column = |of: fn(&Spread) -> f64| timed.map(|(_, spread)| of(spread));
    // Both in the unit of the longest.
    let deviation = |of: &Spread| of.sd.unwrap_or_default();
    let both = [column(|of| of.mean), column(deviation)].concat();
    let times = seconds_in_column(&both);
    let rows = timed.iter().enumerate();
    let rows = rows.map(|(place, (name, spread))| {
        let [mean, sd] = [place, place + timed.len()].map(|at| times[at].as_str());
        let time = match spread.sd {
            Some(_) => format!("{mean} ± {sd}"),
            None => mean.to_owned(),
        };
        vec![(*name).to_owned(), time]
    });
    let mut rows: Vec<Vec<String>> = rows.collect();
    if let Some(likelihood) = &bench.test_log_likelihood {
        rows.push(vec![
            "Mean log-likelihood of rows not learnt from".to_owned(),
            spreads(&[&Some(likelihood.clone())]).concat(),
        ]);
    }
    let table = Table::new(
        format!(
            "{} of {}.{}",
            counted(bench.rows, "row", "rows"),
            counted(bench.variables, "column", "columns"),
            match has_deviation(timed.map(|(_, spread)| spread)) {
                true => format!(
                    " Mean ± standard deviation over {} repeats.",
                    count(bench.repeats)
                ),
                false => " One repeat.".to_owned(),
            }
        ),
        &["Figure", "Value"],
        rows,
    );
    (
        verdict,
        vec![
            Part::new("Time of deletions").with_essential(Block::Table(table)),
            limits(bench.bad_rows.as_ref()),
        ],
    )
}

/// What is said of a clustering.
pub(super) fn kmeans_fit(fit: &KMeansFit) -> (Vec<Text>, Vec<Part>) {
    let sizes: Vec<String> = fit.sizes.iter().map(|&size| count(size)).collect();
    let said = format!(
        "{}, {}, {} ({}) of {} rows. Sum of the squared distances to their centres: {}.",
        counted(fit.rows, "row", "rows"),
        counted(fit.columns, "column", "columns"),
        counted(fit.clusters, "cluster", "clusters"),
        Text::value(&fit.algorithm),
        sizes.join(", "),
        number(fit.loss)
    );
    (
        said_with(said, fit.skipped_rows, fit.bad_rows.as_ref()),
        Vec::new(),
    )
}

/// What is said of a sum-product network that was learnt.
pub(super) fn spn_fit(fit: &SpnFit) -> (Vec<Text>, Vec<Part>) {
    let shape = &fit.network;
    let origin = match (
        fit.parameters.threshold,
        fit.parameters.independence.as_str(),
    ) {
        (Some(_), _) => "given",
        (None, "gtest") => "chosen on rows held out",
        (None, _) => "the usual one",
    };
    let missing = match fit.missing_values {
        0 => String::new(),
        values => format!(
            " Missing, and summed out: {}.",
            counted(values, "value", "values")
        ),
    };
    let said = format!(
        "Learnt from {} of {} in {}: {}, {}, {}, depth {}. Threshold of dependence: {} ({origin}).{missing}",
        counted(fit.rows, "row", "rows"),
        counted(fit.variables, "column", "columns"),
        seconds(fit.seconds),
        counted(shape.sums, "sum", "sums"),
        counted(shape.products, "product", "products"),
        counted(shape.leaves, "leaf", "leaves"),
        count(shape.depth),
        number(fit.threshold)
    );
    (
        said_with(said, fit.skipped_rows, fit.bad_rows.as_ref()),
        Vec::new(),
    )
}

/// `said`, and which rows were left out.
fn said_with(said: String, skipped: u64, bad: Option<&BadRows>) -> Vec<Text> {
    let mut all = vec![said];
    all.extend((skipped > 0).then(|| skipped_rows(skipped)));
    all.extend(bad.map(left_out::bad_rows));
    all.into_iter().map(Text::from).collect()
}

fn limits(bad_rows: Option<&BadRows>) -> Part {
    let limits = [
        "Times are of one machine at one time; what is the same everywhere is that the models are exact.",
        "A deleted row is gone from the model. Copies of the data, of earlier models and of what was derived from them are not touched.",
    ];
    let part = Part::limits(limits);
    match bad_rows {
        Some(bad) => part.with_essential(Block::Paragraph(left_out::bad_rows(bad).into())),
        None => part,
    }
}
