//! A repair of a model of tables as text.

use super::groups::named_gaps;
use super::render::{count, percent, table};
use probity::fairness::group::GroupReport;
use probity::fairness::mean::Mean;
use probity::fairness::repair::basis::Origin;
use probity::fairness::repair::figures::Change;
use probity::fairness::repair::options::RepairMethod;
use probity::fairness::repair::summary::{RepairSummary, SharePoint};

/// What a repair came to.
pub(super) fn repair(summary: &RepairSummary) -> String {
    let parts = &summary.parts;
    let mut text = format!(
        "Parts: {} rows to train on, {} to choose by, {} held out to measure on.\n",
        count(parts.train as u64),
        count(parts.validation as u64),
        count(parts.test as u64)
    );
    if summary.origin == Origin::Imported {
        text.push_str("The network was imported; it may have seen any of these rows before.\n");
    }
    for run in &summary.runs {
        text.push_str(&format!(
            "By {}: {} found individuals to draw from.\n",
            run.protected.join(" × "),
            count(run.samples)
        ));
    }
    for point in &summary.points {
        let remedy = match summary.method {
            RepairMethod::Samples => format!(
                "Share {}: {} individuals, {} variants added",
                point.share,
                count(point.samples),
                count(point.variants)
            ),
            RepairMethod::Certified => "Trained against the worst protected variant".to_owned(),
        };
        text.push_str(&format!(
            "\n{remedy}; means of {} networks (95 % interval)\n",
            point.networks.len()
        ));
        text.push_str(&changes_table(&point.changes));
    }
    text.push_str(&chosen(summary));
    text.push_str(&certified(summary));
    text.push_str(&groups(&summary.groups_before, &summary.groups_after));
    text
}

/// Figures before and after side by side.
pub(super) fn changes_table(changes: &[Change]) -> String {
    let spread = |spread: &Mean| {
        let interval = spread.ci95.map_or(String::new(), |[low, high]| {
            format!(" ({:.2} – {:.2})", 100.0 * low, 100.0 * high)
        });
        format!("{}{interval}", percent(spread.mean))
    };
    let rows: Vec<Vec<String>> = changes
        .iter()
        .map(|change| {
            let name = match change.protected.is_empty() {
                true => change.figure.clone(),
                false => format!("{} by {}", change.figure, change.protected.join(" × ")),
            };
            let is_rate = !change.protected.is_empty();
            let reduction = change.reduction.filter(|_| is_rate);
            vec![
                name,
                percent(change.before),
                change.control.as_ref().map_or("-".to_owned(), spread),
                spread(&change.after),
                reduction.map_or("-".to_owned(), |share| percent(share)),
            ]
        })
        .collect();
    table(
        &[
            "figure",
            "before",
            "retrained without",
            "after",
            "reduction",
        ],
        &rows,
    )
}

/// Which network was saved, and why.
fn chosen(summary: &RepairSummary) -> String {
    let chosen = &summary.chosen;
    let of = summary
        .points
        .iter()
        .find(|point| point.share == chosen.share);
    let networks = of.map_or(0, |point: &SharePoint| point.networks.len());
    let share = match summary.method {
        RepairMethod::Samples => format!("share {}, ", chosen.share),
        RepairMethod::Certified => String::new(),
    };
    let mut text = format!(
        "\nSaved: {share}network {}, the median of {networks} by discriminatory share",
        chosen.repeat
    );
    if summary.points.len() > 1 {
        text.push_str(
            "; the share with the least of it among those accurate enough on the validation part",
        );
    }
    text.push_str(".\n");
    for estimate in &chosen.figures.discrimination {
        text.push_str(&super::render::statement(estimate, "uniform random inputs"));
    }
    let lost = 100.0 * chosen.accuracy_loss;
    text.push_str(&format!(
        "Accuracy on held-out rows: {} ({:+.2} points){}\n",
        percent(chosen.figures.held_out.accuracy),
        -lost,
        if chosen.within {
            "."
        } else {
            ": MORE is lost than allowed."
        }
    ));
    text
}

/// The rows that are certified fair before and after.
fn certified(summary: &RepairSummary) -> String {
    let pairs = summary
        .certified_before
        .iter()
        .zip(&summary.certified_after);
    let rows: Vec<Vec<String>> = pairs
        .map(|(before, after)| {
            vec![
                before.protected.join(" × "),
                percent(before.certified.share),
                percent(after.certified.share),
            ]
        })
        .collect();
    format!(
        "\nHeld-out rows certified fair\n{}",
        table(&["protected", "before", "after"], &rows)
    )
}

/// The gaps between groups before and after.
fn groups(before: &GroupReport, after: &GroupReport) -> String {
    let mut rows = Vec::new();
    for (before, after) in before.sets.iter().zip(&after.sets) {
        for ((name, before_gap), (_, after_gap)) in named_gaps(&before.gaps)
            .into_iter()
            .zip(named_gaps(&after.gaps))
        {
            if let (Some(before_gap), Some(after_gap)) = (before_gap, after_gap) {
                let shown = |value: f64, [low, high]: [f64; 2]| {
                    format!("{value:.4} ({low:.4} – {high:.4})")
                };
                rows.push(vec![
                    format!("{name} by {}", before.protected.join(" × ")),
                    shown(before_gap.value, before_gap.ci95),
                    shown(after_gap.value, after_gap.ci95),
                ]);
            }
        }
    }
    if rows.is_empty() {
        return "\nNo two groups of the held-out rows are large enough to be compared.\n"
            .to_owned();
    }
    format!(
        "\nGroups of the held-out rows (favourable: {})\n{}",
        before.favourable,
        table(&["gap", "before", "after"], &rows)
    )
}
