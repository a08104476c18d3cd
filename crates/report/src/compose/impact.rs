//! What is said of impact ratios: their categories, as a table and, where there is room, as a chart
//! with the line of the four-fifths rule.

use crate::chart::Ratios;
use crate::compose::shares::crossed;
use crate::document::{Block, Part, Table};
use crate::model::{Impact, ImpactCategory, ImpactRate, ImpactSet};
use crate::text::{Text, count, counted, estimate, percent};

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
        parts.push(last.say(
            "The line at 0.8 is the four-fifths rule: below it federal agencies of the United States usually see evidence of adverse impact \
             (29 CFR § 1607.4 D). It is a rule of thumb, not a bound in law: small differences may matter, and ratios of few people may be chance.",
        ));
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
        return said(part.with(Block::Table(table)), impact, set);
    }
    let below = rows
        .iter()
        .filter(|(_, ratio)| *ratio < FOUR_FIFTHS)
        .count();
    let shown = &rows[..rows.len().min(MOST)];
    let more = match rows.len() > shown.len() {
        true => format!(" The first {MOST} are drawn; the table has all."),
        false => String::new(),
    };
    let description = format!(
        "Bars are rates over the highest rate; the line is at 0.8. {below} of {} categories are below it.{more}",
        rows.len()
    );
    let chart = Ratios {
        rows: shown,
        bound: FOUR_FIFTHS,
    };
    let title = format!("Impact ratios by {by}");
    let figure = Block::titled_figure(&chart, id, title, description, table);
    said(part.with(figure), impact, set)
}

fn table(impact: &Impact, set: &ImpactSet) -> Table {
    let (counted_as, rate_name) = match impact.rate {
        ImpactRate::Selection => ("Selected", "Selection rate (95 % interval)"),
        ImpactRate::Scoring => ("Scored above the median", "Scoring rate (95 % interval)"),
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
