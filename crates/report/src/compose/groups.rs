//! What is said of groups, of one model or before and after a repair.

use std::collections::BTreeMap;

use super::super::chart::{IntervalRow, Intervals};
use super::super::document::{Block, Part, Table};
use super::super::model::{Gap, Group, GroupGaps, GroupReport, GroupRunFindings, GroupSet, Rate};
use super::super::text::{Text, count, counted, decimals_of, fixed, percent};
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
    let mut said = verdict(&run.report);
    said.extend(without_outcome(&run.report));
    (said, parts)
}

/// Who gets the favourable class less often, by each attribute alone and then by several; then the
/// same of those who have it by their label, and of the others, by each alone.
fn verdict(report: &GroupReport) -> Vec<Text> {
    let favourable = Text::value(&report.favourable);
    let (alone, together): (Vec<&GroupSet>, Vec<&GroupSet>) =
        report.sets.iter().partition(|set| set.protected.len() == 1);
    let selected = alone.iter().chain(&together).map(|set| {
        let by = crossed(&set.protected);
        match set.clearest().selection_rate {
            None => format!("By {by} no two groups are large enough to be compared."),
            Some(gap) => {
                let gets = format!(" get ‘{favourable}’");
                let said = compared(set, &gap, |group| group.selection_rate.as_ref(), &gets);
                format!("By {by}: {said}.")
            }
        }
    });
    let chosen = (!report.is_favourable_given).then(|| {
        format!(
            "That ‘{favourable}’ is the class that is good to get was not said: it is the last one of the schema."
        )
    });
    let of_labels = alone.iter().filter_map(|set| by_label(set));
    selected
        .chain(of_labels)
        .chain(chosen)
        .map(Text::from)
        .collect()
}

/// `49.5 % of ‘female’ and 61.5 % of ‘male’ get ‘high’: 12.0 points less (95 % interval 9.4 to 14.5)`;
/// or that no difference is shown.
fn compared<'g>(
    set: &'g GroupSet,
    gap: &Gap,
    rate: impl Fn(&'g Group) -> Option<&'g Rate>,
    gets: &str,
) -> String {
    let ends = [&gap.lowest, &gap.highest];
    let rates = ends.map(|values| Some(rate(set.group(values)?)?.value));
    let [Some(low), Some(high)] = rates else {
        return "no two groups are large enough to be compared".to_owned();
    };
    let [from, to] = gap.ci95;
    let figures = [low, high, gap.value, from, to].map(|share| 100.0 * share);
    // One decimal, or more where that would say nothing.
    let decimals = decimals_of(figures.into_iter()).clamp(1, 3);
    let [low, high, value, from, to] = figures.map(|figure| fixed(figure, decimals));
    let interval = format!("95\u{a0}% interval {from} to {to}");
    if gap.value == 0.0 {
        let judged = set.groups.iter().filter(|group| rate(group).is_some());
        let all = match judged.count() == set.groups.len() {
            true => "each of the groups",
            false => "each of the groups that are large enough",
        };
        return format!("no difference is shown: {low} % of {all}{gets} ({interval} points)");
    }
    let [lowest, highest] = ends.map(|values| Text::value(&values.join(", ")));
    let said = format!("{low} % of ‘{lowest}’ and {high} % of ‘{highest}’{gets}");
    match gap.is_shown() {
        true => format!("{said}: {value} points less ({interval})"),
        false => format!("no difference is shown: {said} ({value} points, {interval})"),
    }
}

/// Where the true and the false positive rates by the attribute of `set` differ, in short.
fn by_label(set: &GroupSet) -> Option<String> {
    let by = crossed(&set.protected);
    let clearest = set.clearest();
    let said = |name: &str, gap: &Option<Gap>, rate: fn(&Group) -> Option<&Rate>| {
        let gap = gap.as_ref()?;
        Some(match gap.is_shown() {
            true => format!("{name} rates by {by}: {}.", compared(set, gap, rate, "")),
            false => format!("{name} rates by {by}: no difference is shown."),
        })
    };
    let rates = [&clearest.true_positive_rate, &clearest.false_positive_rate];
    if let [Some(of_these), Some(of_others)] = rates
        && !of_these.is_shown()
        && !of_others.is_shown()
    {
        return Some(format!(
            "True and false positive rates by {by}: no difference is shown."
        ));
    }
    let said = [
        said("True positive", rates[0], |group| {
            group.true_positive_rate.as_ref()
        }),
        said("False positive", rates[1], |group| {
            group.false_positive_rate.as_ref()
        }),
    ];
    let said: Vec<String> = said.into_iter().flatten().collect();
    (!said.is_empty()).then(|| said.join(" "))
}

/// Says of how many rows no outcome is known, where there are any.
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
        "Dots are shares, lines their exact 95\u{a0}% intervals. {} of {} groups have at least {} rows.",
        judged.len(),
        groups.len(),
        report.min_group
    );
    let captioned = |what: &str| {
        format!(
            "{what} by {by} with 95\u{a0}% intervals; – where a rate is of fewer than {} rows",
            report.min_group
        )
    };
    let data = rates(captioned("Rates"), &groups, &DECISIONS);
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
    let accuracy = rates(captioned("Accuracy and calibration"), &groups, &ACCURACY);
    if accuracy.header.len() > NAMES {
        part = part.with(Block::Table(accuracy));
    }
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

/// A rate of a group: what it is called, and which one it is.
type RateColumn = (&'static str, fn(&Group) -> Option<&Rate>);

/// How groups are decided.
const DECISIONS: [RateColumn; 3] = [
    ("Predicted so", |group| group.selection_rate.as_ref()),
    ("True positive", |group| group.true_positive_rate.as_ref()),
    ("False positive", |group| group.false_positive_rate.as_ref()),
];

/// How well groups are predicted.
const ACCURACY: [RateColumn; 2] = [
    ("Accuracy", |group| group.accuracy.as_ref()),
    ("Calibration error", |group| {
        group.calibration_error.as_ref()
    }),
];

/// Columns that say which group it is.
const NAMES: usize = 2;

/// The table of those `rates` that some of `groups` has: why none has one, the table of gaps says.
fn rates(caption: String, groups: &[&Group], rates: &[RateColumn]) -> Table {
    let has_one = |(_, rate): &&RateColumn| groups.iter().any(|group| rate(group).is_some());
    let rates: Vec<&RateColumn> = rates.iter().filter(has_one).collect();
    let names = rates.iter().map(|(name, _)| *name);
    let header: Vec<&str> = ["Group", "Rows"].into_iter().chain(names).collect();
    let rows = groups.iter().map(|group| {
        let cells = rates.iter().map(|(_, rate)| match rate(group) {
            Some(rate) => percentages(rate),
            None => "–".to_owned(),
        });
        [group.values.join(", "), count(group.rows)]
            .into_iter()
            .chain(cells)
            .collect()
    });
    Table::new(caption, &header, rows.collect())
}

/// A rate with its interval, so short that a row of several fits a terminal.
fn percentages(rate: &Rate) -> String {
    let [low, high] = rate.ci95.map(|end| fixed(100.0 * end, 2));
    format!("{} ({low} – {high})", percent(rate.value))
}

/// That a figure is not defined, with the reason, if it is not.
fn why_not(not_defined: &BTreeMap<String, String>, name: &str) -> Option<String> {
    let reason = not_defined.get(name)?;
    Some(format!("not defined: {reason}"))
}

/// Name of the ratio in a summary, the only gap that is best at 1.
const RATIO: &str = "demographic_parity_ratio";

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
            RATIO,
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
            "Value (95\u{a0}% interval)"
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
            // Where all rates are equal, none is the lowest or the highest one.
            let equal = if name == RATIO { 1.0 } else { 0.0 };
            let ends = match gap {
                None => ["–".to_owned(), "–".to_owned()],
                Some(gap) if gap.value == equal => ["all alike".to_owned(), "all alike".to_owned()],
                Some(gap) => [gap.lowest.join(", "), gap.highest.join(", ")],
            };
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
                "Gaps between groups of {}, with 95\u{a0}% intervals",
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
        "Intervals hold with 95\u{a0}% probability, each by itself. Of few rows, a calibration error itself comes out too large.".to_owned(),
        // The lowest and the highest rate are often those of the smallest groups, whose rates scatter most.
        "Of more than two groups the verdict names the two whose difference is the clearest: the near end of its interval is the farthest from 0. These intervals hold for all pairs of groups at once. The gaps are between the lowest and the highest rate, which may be those of small groups by chance.".to_owned(),
        "Equal rates of groups do not mean that individuals are treated alike; probity audit looks at that.".to_owned(),
    ];
    Part::limits(limits)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::document::{Document, Section};
    use crate::plain::{Extent, Medium, render};

    fn rate(value: f64) -> Value {
        json!({ "value": value, "ci95": [value - 0.02, value + 0.02] })
    }

    fn gap(value: f64, ci95: [f64; 2], ends: [&str; 2]) -> Value {
        json!({ "value": value, "ci95": ci95, "lowest": [ends[0]], "highest": [ends[1]] })
    }

    fn group(value: &str, rates: [f64; 3]) -> Value {
        let [selected, true_positive, false_positive] = rates.map(rate);
        json!({
            "values": [value], "rows": 3000, "favourable_rows": 1500, "too_small": false,
            "selection_rate": selected, "true_positive_rate": true_positive,
            "false_positive_rate": false_positive, "accuracy": null, "calibration_error": null,
        })
    }

    fn set(
        by: &[&str],
        groups: Value,
        [parity, opportunity]: [Value; 2],
        differences: Value,
    ) -> Value {
        json!({
            "protected": by, "groups": groups, "absent": 0, "differences": differences,
            "gaps": {
                "demographic_parity_difference": parity, "demographic_parity_ratio": null,
                "equalised_odds_difference": null, "equal_opportunity_difference": opportunity,
                "accuracy_difference": null, "calibration_difference": null,
            },
        })
    }

    fn report(sets: Value) -> GroupReport {
        let report = json!({
            "favourable": "high", "is_favourable_given": true, "rows": 6000, "min_group": 30,
            "sets": sets,
        });
        serde_json::from_value(report).unwrap()
    }

    fn sexes() -> Value {
        json!([
            group("female", [0.4952, 0.915, 0.1026]),
            group("male", [0.6148, 0.942, 0.1276])
        ])
    }

    #[test]
    fn each_attribute_alone_comes_first_and_names_its_clearest_difference() {
        let by_sex = gap(0.1196, [0.0942, 0.145], ["female", "male"]);
        let sex = set(
            &["sex"],
            sexes(),
            [by_sex.clone(), gap(0.0, [0.0, 0.03], ["female", "female"])],
            json!({
                "selection_rate": by_sex,
                "true_positive_rate": gap(0.027, [0.009, 0.045], ["female", "male"]),
                "false_positive_rate": gap(0.025, [0.0, 0.05], ["female", "male"]),
            }),
        );
        // The lowest rate is that of a small group, whose interval is wide.
        let origin = set(
            &["origin"],
            json!([
                group("west", [0.2, 0.9, 0.1]),
                group("north", [0.5, 0.9, 0.1]),
                group("south", [0.58, 0.9, 0.1])
            ]),
            [
                gap(0.38, [0.0, 0.8], ["west", "south"]),
                gap(0.0, [0.0, 0.02], ["west", "north"]),
            ],
            json!({
                "selection_rate": gap(0.08, [0.04, 0.12], ["north", "south"]),
                "true_positive_rate": gap(0.0, [0.0, 0.02], ["west", "north"]),
                "false_positive_rate": gap(0.0, [0.0, 0.02], ["west", "north"]),
            }),
        );
        let both = set(
            &["sex", "origin"],
            sexes(),
            [Value::Null, Value::Null],
            json!({ "selection_rate": null, "true_positive_rate": null, "false_positive_rate": null }),
        );
        let report = report(json!([both, sex, origin]));
        let said: Vec<String> = verdict(&report).iter().map(Text::to_string).collect();
        assert_eq!(
            said,
            [
                "By sex: 49.5 % of ‘female’ and 61.5 % of ‘male’ get ‘high’: 12.0 points less (95\u{a0}% interval 9.4 to 14.5).",
                "By origin: 50.0 % of ‘north’ and 58.0 % of ‘south’ get ‘high’: 8.0 points less (95\u{a0}% interval 4.0 to 12.0).",
                "By sex × origin no two groups are large enough to be compared.",
                "True positive rates by sex: 91.50 % of ‘female’ and 94.20 % of ‘male’: 2.70 points less (95\u{a0}% interval 0.90 to 4.50). \
                 False positive rates by sex: no difference is shown.",
                "True and false positive rates by origin: no difference is shown.",
            ]
        );
        let table = format!("{:?}", gaps_table("Gaps", &[("", &report.sets[1])]));
        assert_eq!(table.matches("all alike").count(), 2, "{table}");
        assert!(!table.contains("female, female"), "{table}");
    }

    #[test]
    fn a_difference_whose_interval_reaches_0_is_not_shown() {
        let open = gap(0.034, [0.0, 0.089], ["female", "male"]);
        let equal = gap(0.0, [0.0, 0.031], ["female", "female"]);
        for (gap, expected) in [
            (
                open,
                "By sex: no difference is shown: 49.5 % of ‘female’ and 61.5 % of ‘male’ get ‘high’ (3.4 points, 95\u{a0}% interval 0.0 to 8.9).",
            ),
            (
                equal,
                "By sex: no difference is shown: 49.5 % of each of the groups get ‘high’ (95\u{a0}% interval 0.0 to 3.1 points).",
            ),
        ] {
            // Older runs do not name the clearest difference.
            let sets = json!([set(&["sex"], sexes(), [gap, Value::Null], Value::Null)]);
            assert_eq!(verdict(&report(sets))[0].as_str(), expected);
        }
    }

    #[test]
    fn tables_leave_out_rates_that_no_group_has_and_fit_a_terminal() {
        let by_sex = gap(0.1196, [0.0942, 0.145], ["female", "male"]);
        let set = set(&["sex"], sexes(), [by_sex, Value::Null], Value::Null);
        let report = report(json!([set]));
        let part = set_part(&report.sets[0], &report, "run1".to_owned());
        let shown = format!("{part:?}");
        assert!(!shown.contains("Accuracy and calibration by"), "{shown}");
        let section = Section {
            id: "run1".to_owned(),
            title: "Groups".into(),
            outcome: None,
            verdict: Vec::new(),
            parts: vec![part],
        };
        let document = Document {
            title: "Groups".into(),
            sections: vec![section],
        };
        let text = render(&document, Medium::Terminal(100), Extent::Essentials);
        assert!(
            text.contains("49.52 % (47.52 – 51.52)  91.50 % (89.50 – 93.50)"),
            "{text}"
        );
    }
}
