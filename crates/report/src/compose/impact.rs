//! What is said of impact ratios: their categories, as a table and, where there is room, as a chart
//! with the line of the four-fifths rule.

use crate::chart::Ratios;
use crate::compose::shares::crossed;
use crate::document::{Block, Part, Table};
use crate::model::{Impact, ImpactCategory, ImpactRate, ImpactSet};
use crate::text::{Text, count, counted, estimate, percent};

/// What the line at 0.8 means.
pub(super) const FOUR_FIFTHS_RULE: &str = "The line at 0.8 is the four-fifths rule: below it federal agencies of the United States usually see evidence of adverse impact \
     (29 CFR § 1607.4 D). It is a rule of thumb, not a bound in law: small differences may matter, and ratios of few people may be chance.";

/// How often a group gets what is good.
pub(super) struct GroupRate {
    /// The values of the group.
    pub group: String,
    /// The number of rows of the group.
    pub rows: u64,
    /// The share of these.
    pub rate: f64,
}

/// The rates of the groups by some attributes over the highest of them; nothing where there are no
/// two groups, or nobody gets what is good.
pub(super) fn of_groups(by: &str, rates: &[GroupRate], id: String) -> Option<Block> {
    let highest = rates.iter().map(|of| of.rate).fold(0.0, f64::max);
    if rates.len() < 2 || highest <= 0.0 {
        return None;
    }
    let mut ratios: Vec<(&GroupRate, f64)> =
        rates.iter().map(|of| (of, of.rate / highest)).collect();
    ratios.sort_by(|a, b| a.1.total_cmp(&b.1));
    let rows: Vec<(Text, f64)> = ratios
        .iter()
        .take(MOST)
        .map(|(of, ratio)| (Text::value(&of.group), *ratio))
        .collect();
    let table = ratios.iter().map(|(of, ratio)| {
        vec![
            of.group.clone(),
            count(of.rows),
            percent(of.rate),
            format!("{ratio:.3}"),
            if *ratio < FOUR_FIFTHS {
                "below"
            } else {
                "not below"
            }
            .to_owned(),
        ]
    });
    let header = ["Group", "Rows", "Rate", "Impact ratio", "Four fifths"];
    let title = format!("Impact ratios by {by}");
    let table = Table::new(title, &header, table.collect());
    let description = drawn(&rows, ratios.iter().map(|(_, ratio)| *ratio));
    let chart = Ratios {
        rows: &rows,
        bound: FOUR_FIFTHS,
    };
    Some(Block::figure(&chart, id, description, table))
}

/// What is drawn of all `ratios`, and how many of these are below the line.
fn drawn(rows: &[(Text, f64)], ratios: impl ExactSizeIterator<Item = f64>) -> String {
    let all = ratios.len();
    let below = ratios.filter(|ratio| *ratio < FOUR_FIFTHS).count();
    let more = match all > rows.len() {
        true => format!(" {} are drawn; the table has all.", rows.len()),
        false => String::new(),
    };
    let are = if below == 1 { "is" } else { "are" };
    format!(
        "Bars are rates over the highest rate; the line is at 0.8. {below} of {all} groups {are} below it.{more}"
    )
}

/// The ratio below which the four-fifths rule of 29 CFR § 1607.4 (D) sees adverse impact.
const FOUR_FIFTHS: f64 = 0.8;
/// Categories that are drawn of a set.
const MOST: usize = 24;

/// The parts of a measurement of groups that are about its impact ratios.
pub(super) fn parts(impact: &Impact, id: &str) -> Vec<Part> {
    let sets = impact.sets.iter().enumerate();
    let mut parts: Vec<Part> = sets
        .map(|(place, set)| charted(impact, set, format!("{id}-impact{}", place + 1)))
        .collect();
    if let Some(last) = parts.pop() {
        parts.push(last.say(FOUR_FIFTHS_RULE));
    }
    parts
}

/// The part on `set` that a summary of results has.
pub(crate) fn categories(impact: &Impact, set: &ImpactSet) -> Part {
    let title = format!("By {}", crossed(&set.attributes));
    said(
        Part::new(&title).with(Block::Table(table(impact, set))),
        impact,
        set,
    )
}

fn charted(impact: &Impact, set: &ImpactSet, id: String) -> Part {
    let by = crossed(&set.attributes);
    let part = Part::new(&format!("Impact ratios by {by}"));
    let judged = set.categories.iter();
    let judged = judged.filter_map(|one| Some((one.values.join(", "), one.impact_ratio?)));
    let rows: Vec<(Text, f64)> = judged
        .map(|(category, ratio)| (Text::value(&category), ratio))
        .collect();
    let table = table(impact, set);
    if rows.is_empty() {
        return said(part.with_essential(Block::Table(table)), impact, set);
    }
    let shown = &rows[..rows.len().min(MOST)];
    let description = drawn(shown, rows.iter().map(|(_, ratio)| *ratio));
    let chart = Ratios {
        rows: shown,
        bound: FOUR_FIFTHS,
    };
    let title = format!("Impact ratios by {by}");
    let figure = Block::titled_figure(&chart, id, title, description, table);
    said(part.with_essential(figure), impact, set)
}

fn table(impact: &Impact, set: &ImpactSet) -> Table {
    let (counted_as, rate_name) = match impact.rate {
        ImpactRate::Selection => ("Selected", "Selection rate (95\u{a0}% interval)"),
        ImpactRate::Scoring => (
            "Scored above the median",
            "Scoring rate (95\u{a0}% interval)",
        ),
    };
    let mut header: Vec<&str> = set.attributes.iter().map(String::as_str).collect();
    header.extend(["Applicants", "Share of the data", counted_as, rate_name]);
    header.push("Impact ratio");
    let none = || "–".to_owned();
    let row = |category: &ImpactCategory| {
        let mut row = category.values.clone();
        row.extend([
            count(category.rows),
            percent(category.share),
            count(category.counted),
        ]);
        let rate = category.rate.as_ref();
        row.push(rate.map_or_else(none, |rate| estimate(rate.value, rate.ci95)));
        row.push(match category.impact_ratio {
            Some(ratio) => format!("{ratio:.3}"),
            None if category.excluded => "excluded".to_owned(),
            None => none(),
        });
        row
    };
    let caption = format!("Rates and impact ratios by {}", crossed(&set.attributes));
    Table::new(caption, &header, set.categories.iter().map(row).collect())
}

/// `part` with who is in no category, and which categories are left out of the ratios.
fn said(part: Part, impact: &Impact, set: &ImpactSet) -> Part {
    let part = part.say(format!(
        "{} not in any of these categories, because theirs is unknown.",
        counted(set.unknown, "person is", "people are")
    ));
    let excluded = set.categories.iter().filter(|category| category.excluded);
    let excluded: Vec<String> = excluded
        .map(|category| category.values.join(", "))
        .collect();
    match (&impact.exclusion_reason, excluded.as_slice()) {
        (Some(reason), [_, ..]) => part.say(format!(
            "Left out of the impact ratios, each with less than 2 % of the data: {}. Reason: {reason}",
            excluded.join("; ")
        )),
        _ => part,
    }
}
