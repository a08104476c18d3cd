//! What is said of a search for proxies.

use super::super::chart::{IntervalRow, Intervals};
use super::super::document::{Block, Part, Table};
use super::super::model::{
    ProxiesFindings, ProxiesOfGroup, ProxyEstimate, ProxyExplained, ProxyImpact,
};
use super::super::text::{Text, count, counted, decimal, estimate, interval, listed, percent};
use super::conditions::in_words;
use super::left_out;

/// Columns that are drawn, of those that tell most.
const DRAWN: usize = 15;

/// The verdict and the parts.
pub(super) fn parts(found: &ProxiesFindings, id: &str) -> (Vec<Text>, Vec<Part>) {
    let left_out = left_out::groups(&found.left_out);
    let unknown = found.groups.iter();
    let unknown = unknown.map(|group| (&group.protected[..], group.unknown));
    let unknown = left_out::unknown(unknown);
    let said = sentences(found).into_iter().chain(unknown).chain(left_out);
    let verdict = said.map(Text::from).collect();
    let mut parts = vec![groups(found)];
    for (place, group) in found.groups.iter().enumerate() {
        parts.push(columns(found, group, &format!("{id}-columns{place}")));
    }
    parts.push(impact(found));
    parts.extend(explained(found));
    parts.push(limits(found));
    (verdict, parts)
}

/// Returns, for each group, how well the columns tell it.
fn sentences(found: &ProxiesFindings) -> Vec<String> {
    let groups = found.groups.iter();
    groups.map(|group| sentence(group, found)).collect()
}

fn sentence(group: &ProxiesOfGroup, found: &ProxiesFindings) -> String {
    let who = in_words(&group.protected);
    let columns = counted(found.looked_at.len() as u64, "column", "columns");
    let ProxyEstimate { value, ci95 } = group.auc;
    let pairs = format!(
        "shown a person with {who} and somebody else, both drawn at random, networks that see only these columns pick the right one in {} of cases (95\u{a0}% interval {}), where guessing gives half",
        percent(value),
        interval(ci95)
    );
    let mut said = match ci95[0] > 0.5 {
        true => format!("The {columns} tell who has {who}: {pairs}."),
        false => format!(
            "It is not shown that the {columns} tell who has {who}, nor that they do not: {pairs}."
        ),
    };
    if let Some(set) = &group.smallest {
        said.push_str(&format!(
            " Of what they tell beyond guessing, {} is told by {} alone.",
            percent(set.share.min(1.0)),
            names(&set.attributes)
        ));
    }
    format!(
        "{said} By the upper end of the interval such networks may be right in {} of cases, and a better predictor may tell more.",
        percent(ci95[1])
    )
}

fn names(attributes: &[String]) -> String {
    let names = attributes.iter().map(|name| Text::value(name).to_string());
    listed(&names.collect::<Vec<_>>(), "and")
}

fn bits(value: f64) -> String {
    format!("{value:.4}")
}

fn groups(found: &ProxiesFindings) -> Part {
    let rows = found.groups.iter().map(|group| {
        let accuracy = &group.balanced_accuracy;
        vec![
            in_words(&group.protected),
            count(group.members),
            count(group.others),
            estimate(group.auc.value, group.auc.ci95),
            estimate(accuracy.value, accuracy.ci95),
            percent(accuracy.members.share),
            percent(accuracy.others.share),
        ]
    });
    let table = Table::new(
        "How well all columns together tell a group from everybody else",
        &[
            "Group",
            "Members",
            "Others",
            "Pairs in order",
            "Balanced accuracy",
            "Members told",
            "Others told",
        ],
        rows.collect(),
    );
    let equal = match found.equal_rows.as_str() {
        "together" => "rows that are equal in all columns are in the same part",
        _ => {
            "rows that are equal in all columns are different people here, and may be in different parts"
        }
    };
    let sets = found.groups.iter().filter_map(|group| {
        let set = group.smallest.as_ref()?;
        Some(vec![
            in_words(&group.protected),
            names(&set.attributes),
            estimate(set.auc.value, set.auc.ci95),
            percent(set.share),
        ])
    });
    let sets: Vec<Vec<String>> = sets.collect();
    let mut part = Part::new("How well the columns tell the group")
        .say(format!(
            "The rows are dealt into {} parts by what they hold; each part is told by a small network that learnt from the others; {equal}. Pairs in order are the area under the ROC curve: 50 % is guessing, 100 % is knowing. The columns are {}.",
            count(found.folds),
            names(&found.looked_at)
        ))
        .with_essential(Block::Table(table));
    if !sets.is_empty() {
        part = part.with(Block::Table(Table::new(
            format!(
                "The smallest set found that reaches {} of what all columns tell beyond guessing; columns are taken one after the other, and a smaller set may exist",
                percent(found.share)
            ),
            &["Group", "Columns", "Pairs in order", "Of all"],
            sets,
        )));
    }
    part
}

fn columns(found: &ProxiesFindings, group: &ProxiesOfGroup, id: &str) -> Part {
    let who = in_words(&group.protected);
    let whole = IntervalRow::new("all columns", group.auc.value, group.auc.ci95, 1);
    let single = group.columns.iter().take(DRAWN);
    let single = single
        .map(|column| IntervalRow::new(&column.attribute, column.auc.value, column.auc.ci95, 0));
    let drawn: Vec<IntervalRow> = std::iter::once(whole).chain(single).collect();
    let rows = group.columns.iter().map(|column| {
        vec![
            Text::value(&column.attribute).to_string(),
            bits(column.bits),
            percent(column.share_of_entropy),
            estimate(column.auc.value, column.auc.ci95),
        ]
    });
    let table = Table::new(
        format!("What each column tells alone of {who}"),
        &["Column", "Bits", "Of the entropy", "Pairs in order"],
        rows.collect(),
    );
    let description = "The share of pairs, a member and somebody else, that a column alone puts in order, and all columns together, with 95\u{a0}% intervals. Half is guessing.";
    let part = Part::new(&format!("Column by column: {who}")).say(format!(
        "Who has {who} is {} bits of information; a column tells as many of them as it shares.",
        bits(group.entropy)
    ));
    let part = part.with_essential(Block::figure(
        &Intervals { rows: &drawn },
        id.to_owned(),
        description,
        table,
    ));
    match found.groups.len() > 2 {
        true => part.folded(),
        false => part,
    }
}

fn impact(found: &ProxiesFindings) -> Part {
    let favourable = Text::value(&found.favourable);
    let shown = found.groups.iter().map(|group| {
        let ProxyImpact {
            members,
            others,
            ratio,
            ..
        } = &group.impact;
        vec![
            in_words(&group.protected),
            percent(others.share),
            percent(members.share),
            ratio_of(ratio.as_ref()),
        ]
    });
    let shown = Table::new(
        "A classifier that these columns allow: whoever is taken for a member does not get what is good to get",
        &[
            "Group",
            "Others who get it",
            "Members who get it",
            "Impact ratio",
        ],
        shown.collect(),
    );
    let most = found.groups.iter().flat_map(|group| {
        group.impact.guarantees.iter().map(|guarantee| {
            vec![
                in_words(&group.protected),
                percent(guarantee.others),
                format!(
                    "{} ({} – {})",
                    decimal(guarantee.ratio, 3),
                    decimal(guarantee.ci95[0], 3),
                    decimal(guarantee.ci95[1], 3)
                ),
            ]
        })
    });
    let most = Table::new(
        "The largest impact ratio that this bound could guarantee of every classifier, if no predictor told the group better than the networks do",
        &["Group", "Others who get it", "At most guaranteed"],
        most.collect(),
    );
    let decided = found.groups.iter().filter_map(|group| {
        let decided = group.impact.decided.as_ref()?;
        Some(vec![
            in_words(&group.protected),
            percent(decided.others.share),
            percent(decided.members.share),
            ratio_of(decided.ratio.as_ref()),
            decimal(decided.guarantee.ratio, 3),
        ])
    });
    let decided: Vec<Vec<String>> = decided.collect();
    let mut part = Part::new("How unequal decisions by these columns can be")
        .say("A predictor of the group is itself a classifier, so decisions by these columns can be as unequal as the first table shows. Whoever gives the favourable class to a share α of the others gives it to members at least 1 − (1 − 2ε)/α times as often, with ε the balanced error of the best predictor (Feldman and others, 2015). That of the networks is at least as large as ε, so the last table says what this bound could at most guarantee; with a better predictor it is less.")
        .with_essential(Block::Table(shown));
    if !decided.is_empty() {
        let what = match found.is_label {
            true => "The outcomes in the data",
            false => "The decisions of the model",
        };
        part = part.with(Block::Table(Table::new(
            format!("{what}: how often ‘{favourable}’ is given"),
            &[
                "Group",
                "Others who get it",
                "Members who get it",
                "Impact ratio",
                "At most guaranteed",
            ],
            decided,
        )));
    }
    part.with(Block::Table(most))
}

fn ratio_of(ratio: Option<&ProxyEstimate>) -> String {
    match ratio {
        None => "–".to_owned(),
        Some(ProxyEstimate { value, ci95 }) => format!(
            "{} ({} – {})",
            decimal(*value, 3),
            decimal(ci95[0], 3),
            decimal(ci95[1], 3)
        ),
    }
}

fn explained(found: &ProxiesFindings) -> Option<Part> {
    let favourable = Text::value(&found.favourable);
    let of_groups = found.groups.iter();
    let of_groups = of_groups.filter_map(|group| Some((group, group.explained.as_ref()?)));
    let of_groups: Vec<(&ProxiesOfGroup, &ProxyExplained)> = of_groups.collect();
    let rows = of_groups.iter().map(|(group, explained)| {
        let ProxyEstimate { value, ci95 } = explained.correlation;
        vec![
            in_words(&group.protected),
            estimate(explained.share.value, explained.share.ci95),
            format!(
                "{} ({} – {})",
                decimal(value, 3),
                decimal(ci95[0], 3),
                decimal(ci95[1], 3)
            ),
            count(explained.people),
        ]
    });
    let rows: Vec<Vec<String>> = rows.collect();
    let (_, first) = of_groups.first()?;
    let among = match first.strata {
        0 | 1 => "among all people, whatever their outcome".to_owned(),
        strata => format!("among people with the same of {} outcomes", count(strata)),
    };
    Some(
        Part::new("How much of the model's score it explains")
            .say(format!(
                "The variance of the model's probability of ‘{favourable}’, {among}, that the predicted probability of the group explains. Below 0 in the third column, people who are taken for members have lower scores."
            ))
            .with_essential(Block::Table(Table::new(
                "What the predicted group explains of the score",
                &["Group", "Of the variance", "Correlation", "People"],
                rows,
            ))),
    )
}

fn limits(found: &ProxiesFindings) -> Part {
    let mut limits = vec![
        "That columns do not tell a group is never shown: the figures are of these networks, and another predictor may tell more.",
        "That columns tell a group does not say that a model uses them so; and a column that tells it may matter for the decision by itself.",
        "Rows are taken for people drawn independently. Where one person has several rows, the intervals are too narrow.",
    ];
    if found.equal_rows != "together" {
        limits.push(
            "If rows that are equal in all columns are one person several times, the figures say too much.",
        );
    }
    Part::limits(limits)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn figure(value: f64) -> Value {
        json!({ "value": value, "ci95": [value - 0.02, value + 0.02] })
    }

    fn called(count: u64) -> Value {
        json!({ "count": count, "of": 200, "share": count as f64 / 200.0, "ci975": [0.1, 0.9] })
    }

    fn findings(auc: f64) -> ProxiesFindings {
        let column = |name: &str, bits: f64| {
            json!({ "attribute": name, "bits": bits, "share_of_entropy": bits / 0.97,
                    "auc": figure(0.7) })
        };
        let is_shown = auc - 0.02 > 0.5;
        let smallest =
            json!({ "attributes": ["job", "hours"], "auc": figure(auc), "share": 0.962 });
        let guarantee = json!({ "others": 0.5, "ratio": 0.1, "ci95": [0.0, 0.2] });
        let found = json!({
            "data_sha256": "", "is_label": false, "favourable": "yes", "is_favourable_given": true,
            "looked_at": ["job", "hours", "age"], "folds": 5, "equal_rows": "apart", "share": 0.95,
            "groups": [{
                "protected": [{ "attribute": "sex", "value": "f" }],
                "members": 200, "others": 300, "entropy": 0.97, "auc": figure(auc),
                "balanced_accuracy": { "value": 0.75, "ci95": [0.7, 0.8],
                                       "members": called(150), "others": called(150) },
                "columns": [column("job", 0.4), column("hours", 0.1), column("age", 0.0)],
                "smallest": if is_shown { smallest } else { Value::Null },
                "impact": {
                    "members": called(50), "others": called(150), "ratio": figure(0.333),
                    "guarantees": [guarantee],
                    "decided": { "members": called(40), "others": called(80),
                                 "ratio": figure(0.5), "guarantee": guarantee },
                },
                "explained": { "share": figure(0.12), "correlation": figure(-0.35),
                               "strata": 2, "people": 480 },
            }],
        });
        serde_json::from_value(found).unwrap()
    }

    /// The verdict of one group, with spaces that break.
    fn verdict(auc: f64) -> String {
        let (verdict, _) = parts(&findings(auc), "run1");
        verdict[0].as_str().replace('\u{a0}', " ")
    }

    #[test]
    fn the_first_sentence_says_how_well_and_the_upper_end() {
        assert_eq!(
            verdict(0.83),
            "The 3 columns tell who has sex ‘f’: shown a person with sex ‘f’ and somebody else, both drawn at random, networks that see only these columns pick the right one in 83.00 % of cases (95 % interval 81.00 % – 85.00 %), where guessing gives half. \
             Of what they tell beyond guessing, 96.20 % is told by job and hours alone. \
             By the upper end of the interval such networks may be right in 85.00 % of cases, and a better predictor may tell more."
        );
        let (_, parts) = parts(&findings(0.83), "run1");
        let shown = format!("{parts:?}");
        for said in [
            "Of the variance",
            "among people with the same of 2 outcomes",
            "0.333 (0.313 – 0.353)",
            "how often ‘yes’ is given",
            "one person several times",
        ] {
            assert!(shown.contains(said), "{said} in {shown}");
        }
    }

    #[test]
    fn that_there_is_no_proxy_is_never_said() {
        let said = verdict(0.51);
        assert!(
            said.starts_with(
                "It is not shown that the 3 columns tell who has sex ‘f’, nor that they do not: shown"
            ),
            "{said}"
        );
        assert!(said.contains("may be right in 53.00 % of cases"), "{said}");
    }
}
