//! What `probity groups` says of texts.

use super::render::{count, percent, table};
use probity::fairness::group::Rate;
use probity::fairness::group::text::{
    AttributeFigures, BiasMetric, SubgroupFigures, TextGroupReport,
};

/// The report, its subgroups with the lowest area first.
pub(super) fn text_groups(report: &TextGroupReport, part: &str) -> String {
    let why = match report.is_positive_given {
        true => "",
        false => ", the second of two classes (--positive chooses another)",
    };
    let mut text = format!(
        "{} texts{part}, {} of them positive. Positive: {}{why}.\n",
        count(report.texts),
        count(report.positive_texts),
        report.positive
    );
    if report.foreign > 0 {
        text.push_str(&format!(
            "No value was looked for in {} of them, which are not English.\n",
            count(report.foreign)
        ));
    }
    let overall = report
        .auc
        .map_or("undefined: only one kind of texts".to_owned(), figure);
    text.push_str(&format!("AUC of all texts: {overall}\n"));
    text.push_str(&bias("all values", &report.bias));
    for attribute in &report.attributes {
        text.push_str(&attribute_text(attribute, report));
    }
    text.push_str(
        "\nBPSN: positive texts of all others against negative ones of the subgroup; low where these score as if they were \
         positive. BNSP: the other way round. The final bias metric is a quarter of the AUC of all texts and of the generalised \
         mean (p = −5) of each of the three areas. Intervals hold with 95 % probability, each by itself: those of rates for any \
         number of texts, those of areas and of the metric, by the bootstrap, the better the more texts there are.\n",
    );
    text
}

fn bias(of: &str, bias: &BiasMetric) -> String {
    let metric = match bias.metric {
        Some(metric) => figure(metric),
        None => "undefined: an area is defined in no subgroup that is judged".to_owned(),
    };
    let mean = |area: Option<f64>| area.map_or("-".to_owned(), |area| format!("{area:.4}"));
    format!(
        "Final bias metric over {of}, {} subgroups: {metric}; means: subgroup {}, BPSN {}, BNSP {}\n",
        count(bias.subgroups),
        mean(bias.subgroup_auc),
        mean(bias.bpsn_auc),
        mean(bias.bnsp_auc)
    )
}

fn attribute_text(attribute: &AttributeFigures, report: &TextGroupReport) -> String {
    let mut text = format!(
        "\nBy {}: {} texts name a value of it\n",
        attribute.attribute,
        count(attribute.naming)
    );
    if attribute.naming == 0 {
        return text;
    }
    text.push_str(&bias(&attribute.attribute, &attribute.bias));
    for (head, subgroups) in [("value", &attribute.values), ("term", &attribute.terms)] {
        let judged: Vec<&SubgroupFigures> = subgroups.iter().filter(|it| !it.too_small).collect();
        if !judged.is_empty() {
            let rows: Vec<Vec<String>> =
                judged.iter().map(|figures| row(figures, report)).collect();
            text.push_str(&table(
                &[
                    head,
                    "texts",
                    "positive",
                    "subgroup AUC",
                    "BPSN AUC",
                    "BNSP AUC",
                    "predicted positive",
                    "true positive",
                    "false positive",
                    "false negative",
                ],
                &rows,
            ));
        }
        let small = subgroups.len() - judged.len();
        if small > 0 {
            text.push_str(&format!(
                "{small} of {} {head}s are named by fewer than {} texts and are not judged (--min-group).\n",
                subgroups.len(),
                report.min_group
            ));
        }
    }
    if attribute.absent > 0 {
        text.push_str(&format!(
            "No text names one of {} other values.\n",
            count(attribute.absent)
        ));
    }
    text
}

fn row(figures: &SubgroupFigures, report: &TextGroupReport) -> Vec<String> {
    let name = match &figures.term {
        Some(term) if *term != figures.value => format!("{term} ({})", figures.value),
        _ => figures.value.clone(),
    };
    let negatives = figures.texts - figures.positive_texts;
    let others = report.positive_texts - figures.positive_texts;
    let other_negatives = report.texts - report.positive_texts - negatives;
    // What is missing where a figure is undefined.
    let lacks = |positives: u64, negatives: u64| match (positives, negatives) {
        (0, _) => "no positives".to_owned(),
        _ => "no negatives".to_owned(),
    };
    let area = |rate: Option<Rate>, positives: u64, negatives: u64| match rate {
        Some(rate) => figure(rate),
        None => lacks(positives, negatives),
    };
    let share = |rate: Option<Rate>, of: &str| match rate {
        Some(rate) => format!(
            "{} ({:.1}–{:.1})",
            percent(rate.value),
            100.0 * rate.ci95[0],
            100.0 * rate.ci95[1]
        ),
        None => format!("no {of}"),
    };
    vec![
        name,
        count(figures.texts),
        count(figures.positive_texts),
        area(figures.subgroup_auc, figures.positive_texts, negatives),
        area(figures.bpsn_auc, others, negatives),
        area(figures.bnsp_auc, figures.positive_texts, other_negatives),
        share(figures.predicted_positive_rate, "texts"),
        share(figures.true_positive_rate, "positives"),
        share(figures.false_positive_rate, "negatives"),
        share(figures.false_negative_rate, "positives"),
    ]
}

fn figure(rate: Rate) -> String {
    let [low, high] = rate.ci95;
    format!("{:.4} ({low:.4}–{high:.4})", rate.value)
}
