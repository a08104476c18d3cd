//! What is said of groups, of one model or before and after a repair.

use std::collections::BTreeMap;

use super::super::chart::{IntervalRow, Intervals};
use super::super::document::{Block, Part, Table};
use super::super::model::{Gap, Group, GroupGaps, GroupReport, GroupRunFindings, GroupSet};
use super::super::text::{Text, count, counted, estimate, number};
use super::impact::{self, GroupRate};
use super::left_out;
use super::shares::crossed;
use super::terms;

/// Groups of a set that are shown.
const MOST: usize = 24;

/// The verdict and the parts of a run of `probity groups`.
pub(super) fn parts(run: &GroupRunFindings, id: &str) -> (Vec<Text>, Vec<Part>) {
    let mut parts: Vec<Part> = run
        .report
        .sets
        .iter()
        .enumerate()
        .map(|(place, set)| set_part(set, &run.report, format!("{id}-groups{}", place + 1)))
        .collect();
    let impact = run.report.impact.iter();
    parts.extend(impact.flat_map(|impact| impact::parts(impact, id)));
    let mut limits = limits(&run.report);
    let left_out = run.data.as_ref().map_or(Vec::new(), left_out::rows);
    if !left_out.is_empty() {
        let left_out = left_out.into_iter().map(Text::from).collect();
        limits = limits.with_essential(Block::List(left_out));
    }
    parts.push(limits);
    let mut said = vec![verdict(&run.report)];
    said.extend(without_outcome(&run.report));
    (said, parts)
}

fn verdict(report: &GroupReport) -> Text {
    let gaps = report.sets.iter().filter_map(|set| {
        let gap = set.gaps.demographic_parity_difference.as_ref()?;
        Some((set, gap))
    });
    let widest = gaps.max_by(|a, b| a.1.value.total_cmp(&b.1.value));
    let chosen = match report.is_favourable_given {
        true => String::new(),
        false => format!(
            " That ‘{}’ is the class that is good to get was not said: it is the last one of the schema.",
            Text::value(&report.favourable)
        ),
    };
    let said = match widest {
        None => "No two groups are large enough to be compared.".to_owned(),
        Some((set, gap)) => format!(
            "The share predicted ‘{}’ differs by {} between groups of {} (95 % interval {}): lowest for {}, highest for {}.",
            Text::value(&report.favourable),
            points(gap.value),
            crossed(&set.protected),
            range(gap),
            gap.lowest.join(", "),
            gap.highest.join(", ")
        ),
    };
    Text::new(said + &chosen)
}

/// A difference of shares in percentage points.
fn points(difference: f64) -> String {
    format!("{} points", number((1000.0 * difference).round() / 10.0))
}

fn range(gap: &Gap) -> String {
    let [low, high] = gap.ci95.map(|end| number((1000.0 * end).round() / 10.0));
    format!("{low} – {high} points")
}

/// Of how many rows no outcome is known, where there are any.
fn without_outcome(report: &GroupReport) -> Option<Text> {
    let known = report.known();
    let of = match known {
        0 => "not defined: no outcomes".to_owned(),
        known => format!("of the {} that have one", count(known)),
    };
    (known < report.rows).then(|| {
        Text::new(format!(
            "Of {} no outcome is known. Shares predicted so are of all {}; true and false positive rates, accuracy and calibration errors are {of}.",
            counted(report.rows - known, "row", "rows"),
            count(report.rows)
        ))
    })
}

fn set_part(set: &GroupSet, report: &GroupReport, id: String) -> Part {
    let by = crossed(&set.protected);
    let mut groups: Vec<&Group> = set.groups.iter().collect();
    let hidden = groups.len().saturating_sub(MOST);
    if hidden > 0 {
        groups.sort_by_key(|group| std::cmp::Reverse(group.rows));
        groups.truncate(MOST);
    }
    let mut part = Part::new(&format!("Groups by {by}"));
    if hidden > 0 {
        part = part.say(format!(
            "The {MOST} largest of {} groups are shown.",
            set.groups.len()
        ));
    }
    let judged: Vec<IntervalRow> = groups
        .iter()
        .filter_map(|group| {
            let rate = group.selection_rate.as_ref()?;
            let name = group.values.join(", ");
            Some(IntervalRow::new(&name, rate.value, rate.ci95, 0))
        })
        .collect();
    let title = format!(
        "Share predicted ‘{}’ by {by}",
        Text::value(&report.favourable)
    );
    let description = format!(
        "Dots are shares, lines their exact 95 % intervals. {} of {} groups have at least {} rows.",
        judged.len(),
        groups.len(),
        report.min_group
    );
    let rows = groups.iter().map(|group| {
        let mut row = vec![group.values.join(", "), count(group.rows)];
        let rates = [
            ("selection_rate", &group.selection_rate),
            ("true_positive_rate", &group.true_positive_rate),
            ("false_positive_rate", &group.false_positive_rate),
            ("accuracy", &group.accuracy),
            ("calibration_error", &group.calibration_error),
        ];
        row.extend(rates.map(|(name, rate)| match rate {
            Some(rate) => estimate(rate.value, rate.ci95),
            None => why_not(&group.not_defined, name).unwrap_or("–".to_owned()),
        }));
        row
    });
    let data = Table::new(
        format!(
            "Rates by {by} with 95 % intervals; – where a rate is of fewer than {} rows",
            report.min_group
        ),
        &[
            "Group",
            "Rows",
            "Predicted so",
            "True positive",
            "False positive",
            "Accuracy",
            "Calibration error",
        ],
        rows.collect(),
    );
    part = match judged.is_empty() {
        true => part.with_essential(Block::Table(data)),
        false => part.with_essential(Block::titled_figure(
            &Intervals { rows: &judged },
            id.clone(),
            title,
            description,
            data,
        )),
    };
    if set.absent > 0 {
        part = part.say(format!(
            "{} no row.",
            counted(set.absent, "combination has", "combinations have")
        ));
    }
    // Sets whose impact ratios a rule asks for have a part of their own.
    let mut ruled = report.impact.iter().flat_map(|impact| &impact.sets);
    if !ruled.any(|ruled| ruled.attributes == set.protected) {
        let rates: Vec<GroupRate> = set
            .groups
            .iter()
            .filter_map(|group| {
                Some(GroupRate {
                    group: group.values.join(", "),
                    rows: group.rows,
                    rate: group.selection_rate.as_ref()?.value,
                })
            })
            .collect();
        if let Some(figure) = impact::of_groups(&by, &rates, format!("{id}-ratios")) {
            part = part.with(figure).say(impact::FOUR_FIFTHS_RULE);
        }
    }
    part.with_essential(gaps_table(
        &format!("Gaps between groups of {by}"),
        &[("", set)],
    ))
    .with(terms::explained(&terms::GROUPS))
}

/// That a figure is not defined, with the reason, if it is not.
fn why_not(not_defined: &BTreeMap<String, String>, name: &str) -> Option<String> {
    let reason = not_defined.get(name)?;
    Some(format!("not defined: {reason}"))
}

/// The gaps with their names in a report and in a summary.
fn named(gaps: &GroupGaps) -> [(&'static str, &'static str, &Option<Gap>); 6] {
    [
        (
            "Demographic parity difference",
            "demographic_parity_difference",
            &gaps.demographic_parity_difference,
        ),
        (
            "Demographic parity ratio",
            "demographic_parity_ratio",
            &gaps.demographic_parity_ratio,
        ),
        (
            "Equalised odds difference",
            "equalised_odds_difference",
            &gaps.equalised_odds_difference,
        ),
        (
            "Equal opportunity difference",
            "equal_opportunity_difference",
            &gaps.equal_opportunity_difference,
        ),
        (
            "Accuracy difference",
            "accuracy_difference",
            &gaps.accuracy_difference,
        ),
        (
            "Calibration difference",
            "calibration_difference",
            &gaps.calibration_difference,
        ),
    ]
}

/// Gaps of one model, or of several side by side.
fn gaps_table(caption: &str, models: &[(&str, &GroupSet)]) -> Block {
    let mut header = vec!["Gap"];
    for (name, _) in models {
        header.push(if name.is_empty() {
            "Value (95 % interval)"
        } else {
            name
        });
    }
    if let [_] = models {
        header.extend(["Lowest", "Highest"]);
    }
    let places = 0..named(&models[0].1.gaps).len();
    let rows = places.map(|place| {
        let (title, name, _) = named(&models[0].1.gaps)[place];
        let gap = |set: &GroupSet| named(&set.gaps)[place].2.clone();
        let mut row = vec![title.to_owned()];
        row.extend(models.iter().map(|(_, set)| match gap(set) {
            Some(gap) => format!("{:.3} ({:.3} – {:.3})", gap.value, gap.ci95[0], gap.ci95[1]),
            None => why_not(&set.not_defined, name).unwrap_or("too few groups".to_owned()),
        }));
        if let [(_, set)] = models {
            let gap = gap(set);
            let ends = gap.map_or(["–".to_owned(), "–".to_owned()], |gap| {
                [gap.lowest.join(", "), gap.highest.join(", ")]
            });
            row.extend(ends);
        }
        row
    });
    Block::Table(Table::new(caption, &header, rows.collect()))
}

/// Gaps before and after, one table for each set of attributes that both have.
pub(super) fn before_after(before: &GroupReport, after: &GroupReport) -> Part {
    let mut part = Part::new("Group metrics before and after").say(format!(
        "Of {} held-out rows. ‘{}’ is the favourable class.",
        count(before.rows),
        Text::value(&before.favourable)
    ));
    for set in &before.sets {
        if let Some(twin) = after
            .sets
            .iter()
            .find(|other| other.protected == set.protected)
        {
            let caption = format!(
                "Gaps between groups of {}, with 95 % intervals",
                crossed(&set.protected)
            );
            part = part.with(gaps_table(&caption, &[("Before", set), ("After", twin)]));
        }
    }
    part
}

fn limits(report: &GroupReport) -> Part {
    let old = "Where labels carry on an old injustice, a model that repeats them looks fair here.";
    let rows = count(report.rows);
    let labelled = match report.known() {
        0 => format!(
            "The figures are of {rows} rows of which no outcome is known: whether the decisions were right is not looked at."
        ),
        known => format!(
            "The figures are of {rows} rows, {} of them with labels. {old}",
            count(known)
        ),
    };
    let limits = [
        labelled,
        format!("A rate of fewer than {} rows is not judged and takes part in no gap.", report.min_group),
        "Several definitions of fairness cannot hold at once where groups differ in how often the favourable class is right; which one matters is a decision, not a measurement.".to_owned(),
        "Intervals hold with 95 % probability, each by itself. Of few rows, a calibration error itself comes out too large.".to_owned(),
        "Equal rates of groups do not mean that individuals are treated alike; probity audit looks at that.".to_owned(),
    ];
    Part::limits(limits)
}
