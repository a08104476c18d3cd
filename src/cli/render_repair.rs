//! A repair as text.

use super::render::{count, percent, table};
use probity::fairness::group::GroupReport;
use probity::fairness::group::gaps::PARITY_RATIO;
use probity::fairness::repair::change::{Change, Figures};
use probity::fairness::repair::specification::RepairMethod;
use probity::fairness::repair::summary::RepairSummary;
use probity::fairness::repair::table::{CertifiedShare, Origin, TableDetails};
use probity::fairness::repair::text::TextDetails;
use probity::fairness::repair::verdict::{Standing, Verdict, Worse};
use probity::fairness::statistics::Mean;
use probity::nn::modality::ModalityName;

/// What only one modality has to say of a repair.
pub(super) trait Shown {
    /// Before the figures: what was repaired.
    fn before(&self) -> String;
    /// After them: what else was measured.
    fn after(&self) -> String;
}

impl Shown for TableDetails {
    fn before(&self) -> String {
        match self.origin {
            Origin::Trained => String::new(),
            Origin::Imported => {
                "The network was imported; it may have seen any of these rows before.\n".to_owned()
            }
        }
    }

    fn after(&self) -> String {
        let reports = self.groups_before.as_ref().zip(self.groups_after.as_ref());
        certified(&self.certified_before, &self.certified_after)
            + &reports.map_or_else(String::new, |(before, after)| groups(before, after))
    }
}

impl Shown for TextDetails {
    fn before(&self) -> String {
        format!(
            "{} discriminatory texts may be learnt from.\n\
             Independent set: {} discriminatory texts found from the test texts. {} of the test texts hold a term of {}.\n",
            count(self.found),
            count(self.independent),
            count(self.test_texts),
            self.protected.join(", ")
        )
    }

    fn after(&self) -> String {
        String::new()
    }
}

/// What a repair came to.
pub(super) fn repair<F: Figures, D: Shown>(summary: &RepairSummary<F, D>) -> String {
    let (parts, inputs) = (&summary.parts, inputs(summary.modality));
    let mut text = headline(summary);
    text.push_str(&format!(
        "Parts: {} {inputs} to train on, {} to choose by, {} held out to measure on.\n",
        count(parts.train as u64),
        count(parts.validation as u64),
        count(parts.test as u64)
    ));
    for run in &summary.runs {
        text.push_str(&format!(
            "By {}: {} found individuals to draw from.\n",
            run.protected.join(" × "),
            count(run.samples)
        ));
    }
    text.push_str(&summary.details.before());
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
    text.push_str(&summary.details.after());
    text
}

/// What the repair came to, before anything else: what the remedy did that retraining alone does
/// not, what got worse, and whether there is a model.
fn headline<F: Figures, D>(summary: &RepairSummary<F, D>) -> String {
    let verdict = &summary.verdict;
    let mut text = match (summary.finished, verdict.holds, verdict.saved) {
        (false, ..) => "INTERRUPTED: not all networks were trained.\n".to_owned(),
        (true, true, _) => String::new(),
        (true, false, true) => "SAVED ANYWAY, though there is something against it:\n".to_owned(),
        (true, false, false) => {
            "NOTHING WAS SAVED, for there is something against it:\n".to_owned()
        }
    };
    text.push_str(&against_control(verdict, remedy(summary.method)));
    for worse in &verdict.worse {
        text.push_str(&worsened(worse));
    }
    text.push('\n');
    text
}

/// What the networks with the remedy have that those without it lack.
fn remedy(method: RepairMethod) -> &'static str {
    match method {
        RepairMethod::Samples => "the samples",
        RepairMethod::Certified => "certified training",
    }
}

fn against_control(verdict: &Verdict, remedy: &str) -> String {
    let control = &verdict.against_control;
    let figures = format!(
        "{} discriminatory without {remedy}, {} with",
        percent(control.control),
        percent(control.repaired)
    );
    let points = |share: f64| format!("{:+.2}", 100.0 * share);
    let difference = control.gained.ci95.map_or(String::new(), |[low, high]| {
        format!(
            "; gained {} points, 95 % interval {} – {}",
            points(control.gained.mean),
            points(low),
            points(high)
        )
    });
    let said = match control.standing {
        Standing::Better => format!("Better than retraining without {remedy}"),
        Standing::Alike => format!("NO GAIN IS SHOWN: retraining without {remedy} does as well"),
        Standing::Worse => format!("WORSE than retraining without {remedy}"),
        Standing::Unknown => format!(
            "What {remedy} did that retraining alone does not, these networks cannot tell; give more --repeats"
        ),
    };
    format!("{said} ({figures}{difference}).\n")
}

fn worsened(worse: &Worse) -> String {
    let of = match worse.protected.is_empty() {
        true => String::new(),
        false => format!(" by {}", worse.protected.join(" × ")),
    };
    let shown = |value: f64| match worse.figure {
        PARITY_RATIO => format!("{value:.4}"),
        _ => percent(value),
    };
    let allowed = match worse.figure {
        PARITY_RATIO => format!("{}", worse.allowed),
        _ => format!("{} points", 100.0 * worse.allowed),
    };
    format!(
        "WORSE than allowed: {}{of} went from {} to {}; {allowed} are allowed.\n",
        worse.figure,
        shown(worse.before),
        shown(worse.after)
    )
}

fn inputs(modality: ModalityName) -> &'static str {
    match modality {
        ModalityName::Table => "rows",
        ModalityName::Text => "texts",
    }
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
            let is_reduced = change.figure == "discriminatory";
            let reduction = change.reduction.filter(|_| is_reduced);
            vec![
                name,
                percent(change.before),
                change.control.as_ref().map_or("-".to_owned(), spread),
                spread(&change.after),
                reduction.map_or("-".to_owned(), percent),
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

/// What the kept one of so many networks is.
fn median(networks: usize) -> String {
    match networks {
        1 => "the only one".to_owned(),
        odd if odd % 2 == 1 => format!("the median of {odd} by discriminatory share"),
        even => format!("of {even} the less fair of the two middle ones by discriminatory share"),
    }
}

/// Which network was chosen, and why.
fn chosen<F: Figures, D>(summary: &RepairSummary<F, D>) -> String {
    let chosen = &summary.chosen;
    let networks = summary
        .chosen_point()
        .map_or(0, |point| point.networks.len());
    let share = match summary.method {
        RepairMethod::Samples => format!("share {}, ", chosen.share),
        RepairMethod::Certified => String::new(),
    };
    let mut text = format!(
        "\nChosen: {share}network {}, {}",
        chosen.repeat,
        median(networks)
    );
    if summary.points.len() > 1 {
        text.push_str(
            "; the share with the least of it among those accurate enough on the validation part",
        );
    }
    text.push_str(".\n");
    let of = match summary.modality {
        ModalityName::Table => "uniform random inputs",
        ModalityName::Text => "the independent set",
    };
    for measure in chosen.figures.measures() {
        if let (false, Some([low, high])) = (measure.protected.is_empty(), measure.ci95) {
            text.push_str(&format!(
                "{} by {}: {} of {} ({:.2} – {:.2})\n",
                measure.figure,
                measure.protected.join(" × "),
                percent(measure.value),
                match measure.figure {
                    "discriminatory" => of,
                    _ => "test texts with a protected term",
                },
                100.0 * low,
                100.0 * high
            ));
        }
    }
    let lost = 100.0 * chosen.accuracy_loss;
    text.push_str(&format!(
        "{} on held-out {}: {} ({:+.2} points){}\n",
        chosen.figures.accuracy_name(),
        inputs(summary.modality),
        percent(chosen.figures.accuracy()),
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
fn certified(before: &[CertifiedShare], after: &[CertifiedShare]) -> String {
    let rows: Vec<Vec<String>> = before
        .iter()
        .zip(after)
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
        for ((name, before_gap), (_, after_gap)) in
            before.gaps.named().into_iter().zip(after.gaps.named())
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
        "\nGroups of the held-out rows (favourable: {}{})\n{}",
        before.favourable,
        match before.is_favourable_given {
            true => "",
            false => ", the last class of the schema; --favourable chooses another",
        },
        table(&["gap", "before", "after"], &rows)
    )
}
