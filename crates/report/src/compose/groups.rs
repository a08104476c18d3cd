//! What is said of groups, of one model or before and after a repair.

use super::super::chart::{IntervalRow, Intervals};
use super::super::document::{Block, Part, Table};
use super::super::model::{Gap, Group, GroupGaps, GroupReport, GroupRunFindings, GroupSet, Rate};
use super::super::text::{Text, count, estimate, number};
use super::impact::{self, GroupRate};
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
    parts.push(limits(&run.report));
    (vec![verdict(&run.report)], parts)
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
    let shown = |rate: &Option<Rate>| match rate {
        Some(rate) => estimate(rate.value, rate.ci95),
        None => "–".to_owned(),
    };
    let rows = groups.iter().map(|group| {
        let mut row = vec![group.values.join(", "), count(group.rows)];
        let rates = [
            &group.selection_rate,
            &group.true_positive_rate,
            &group.false_positive_rate,
            &group.accuracy,
            &group.calibration_error,
        ];
        row.extend(rates.map(shown));
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
        true => part.with(Block::Table(data)),
        false => part.with(Block::titled_figure(
            &Intervals { rows: &judged },
            id.clone(),
            title,
            description,
            data,
        )),
    };
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
    part.with(gaps_table(
        &format!("Gaps between groups of {by}"),
        &[("", &set.gaps)],
    ))
    .with(terms::explained(&terms::GROUPS))
}

/// The gaps with their names.
fn named(gaps: &GroupGaps) -> [(&'static str, &Option<Gap>); 6] {
    [
        (
            "Demographic parity difference",
            &gaps.demographic_parity_difference,
        ),
        ("Demographic parity ratio", &gaps.demographic_parity_ratio),
        ("Equalised odds difference", &gaps.equalised_odds_difference),
        (
            "Equal opportunity difference",
            &gaps.equal_opportunity_difference,
        ),
        ("Accuracy difference", &gaps.accuracy_difference),
        ("Calibration difference", &gaps.calibration_difference),
    ]
}

/// Gaps of one model, or of several side by side.
fn gaps_table(caption: &str, models: &[(&str, &GroupGaps)]) -> Block {
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
    let places = 0..named(models[0].1).len();
    let rows = places.map(|place| {
        let gap = |gaps: &GroupGaps| named(gaps)[place].1.clone();
        let mut row = vec![named(models[0].1)[place].0.to_owned()];
        row.extend(models.iter().map(|(_, gaps)| match gap(gaps) {
            Some(gap) => format!("{:.3} ({:.3} – {:.3})", gap.value, gap.ci95[0], gap.ci95[1]),
            None => "too few groups".to_owned(),
        }));
        if let [(_, gaps)] = models {
            let gap = gap(gaps);
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
            part = part.with(gaps_table(
                &caption,
                &[("Before", &set.gaps), ("After", &twin.gaps)],
            ));
        }
    }
    part
}

fn limits(report: &GroupReport) -> Part {
    let limits = [
        format!("The figures are of {} rows with their labels. Where labels carry on an old injustice, a model that repeats them looks fair here.", count(report.rows)),
        format!("A rate of fewer than {} rows is not judged and takes part in no gap.", report.min_group),
        "Several definitions of fairness cannot hold at once where groups differ in how often the favourable class is right; which one matters is a decision, not a measurement.".to_owned(),
        "Equal rates of groups do not mean that individuals are treated alike; probity audit looks at that.".to_owned(),
    ];
    Part::limits(limits)
}
