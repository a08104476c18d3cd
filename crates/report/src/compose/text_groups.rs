//! What is said of the texts that name protected values.

use super::super::chart::{IntervalRow, Intervals};
use super::super::document::{Block, Part, Table};
use super::super::model::{Rate, TextAttribute, TextGroupFindings, TextSubgroup};
use super::super::text::{Text, count, counted, estimate};
use super::terms;

/// Subgroups of an attribute that are shown.
const MOST: usize = 24;

/// The verdict and the parts of a run of `probity groups` on texts.
pub(super) fn parts(run: &TextGroupFindings, id: &str) -> (Vec<Text>, Vec<Part>) {
    let attributes = run.attributes.iter().enumerate();
    let mut parts: Vec<Part> = attributes
        .filter(|(_, attribute)| attribute.values.iter().any(|value| !value.too_small))
        .map(|(place, attribute)| part(attribute, format!("{id}-subgroups{}", place + 1)))
        .collect();
    parts.push(metric_part(run));
    parts.push(limits(run));
    let foreign = (run.foreign > 0).then(|| {
        Text::new(format!(
            "No value was looked for in {}.",
            counted(
                run.foreign,
                "text that is not English",
                "texts that are not English"
            )
        ))
    });
    (
        vec![verdict(run)].into_iter().chain(foreign).collect(),
        parts,
    )
}

fn verdict(run: &TextGroupFindings) -> Text {
    let all = run.attributes.iter().flat_map(|attribute| {
        let values = attribute.values.iter();
        values.filter_map(move |value| Some((attribute, value, value.worst()?)))
    });
    let worst = all.min_by(|a, b| a.2.value.total_cmp(&b.2.value));
    let chosen = match run.is_positive_given {
        true => "",
        false => " That it is the positive class was not said: it is the second of two.",
    };
    let positive = Text::value(&run.positive);
    Text::new(match worst {
        None => {
            format!("No subgroup is large enough to be judged. ‘{positive}’ is positive.{chosen}")
        }
        Some((attribute, value, area)) => format!(
            "The scores of ‘{positive}’ are worst at texts that name {} ({}): the lowest area under a ROC curve is {}.{chosen}",
            Text::value(&value.value),
            Text::value(&attribute.attribute),
            shown_area(area)
        ),
    })
}

fn shown_area(area: &Rate) -> String {
    let [low, high] = area.ci95;
    format!(
        "{:.3} (95\u{a0}% interval {low:.3} – {high:.3})",
        area.value
    )
}

fn part(attribute: &TextAttribute, id: String) -> Part {
    let judged: Vec<&TextSubgroup> = attribute.values.iter().filter(|it| !it.too_small).collect();
    let name = Text::value(&attribute.attribute).to_string();
    let small = attribute.values.len() - judged.len();
    let mut part = Part::new(&format!("Texts by {name}")).say(format!(
        "{} a value of {name}; {} by too few to be judged.",
        counted(attribute.naming, "text names", "texts name"),
        counted(small as u64, "value is named", "values are named")
    ));
    if judged.len() > MOST {
        part = part.say(format!(
            "The {MOST} of {} subgroups with the lowest areas are shown.",
            judged.len()
        ));
    }
    let shown = &judged[..judged.len().min(MOST)];
    let rows: Vec<IntervalRow> = shown
        .iter()
        .filter_map(|value| {
            let rate = value.false_positive_rate.as_ref()?;
            Some(IntervalRow::new(&value.value, rate.value, rate.ci95, 0))
        })
        .collect();
    let area = |area: &Option<Rate>| match area {
        Some(area) => format!(
            "{:.3} ({:.3} – {:.3})",
            area.value, area.ci95[0], area.ci95[1]
        ),
        None => "undefined".to_owned(),
    };
    let rate = |rate: &Option<Rate>| match rate {
        Some(rate) => estimate(rate.value, rate.ci95),
        None => "undefined".to_owned(),
    };
    let cells = shown.iter().map(|value| {
        vec![
            value.value.clone(),
            count(value.texts),
            count(value.positive_texts),
            area(&value.subgroup_auc),
            area(&value.bpsn_auc),
            area(&value.bnsp_auc),
            rate(&value.false_positive_rate),
            rate(&value.false_negative_rate),
        ]
    });
    let data = Table::new(
        format!(
            "Areas and rates of error by {name}, with 95\u{a0}% intervals; the lowest area first"
        ),
        &[
            "Value",
            "Texts",
            "Positive",
            "Subgroup AUC",
            "BPSN AUC",
            "BNSP AUC",
            "False positive",
            "False negative",
        ],
        cells.collect(),
    );
    match rows.is_empty() {
        true => part.with_essential(Block::Table(data)),
        false => part.with_essential(Block::titled_figure(
            &Intervals { rows: &rows },
            id,
            format!("Negative texts predicted positive, by {name}"),
            "Dots are shares, lines their exact 95\u{a0}% intervals.".to_owned(),
            data,
        )),
    }
}

fn metric_part(run: &TextGroupFindings) -> Part {
    let area = |area: &Option<Rate>| match area {
        Some(area) => shown_area(area),
        None => "undefined".to_owned(),
    };
    let mut rows = vec![
        vec![
            "AUC of all texts".to_owned(),
            count(run.texts),
            area(&run.auc),
        ],
        vec![
            "Final bias metric".to_owned(),
            count(run.bias.subgroups),
            area(&run.bias.metric),
        ],
    ];
    rows.extend(run.attributes.iter().map(|attribute| {
        vec![
            format!("Final bias metric by {}", attribute.attribute),
            count(attribute.bias.subgroups),
            area(&attribute.bias.metric),
        ]
    }));
    Part::new("One figure for all subgroups")
        .say(
            "The final bias metric is a quarter of the AUC of all texts and of the generalised mean (p = −5) of each of the three \
             areas over the subgroups."
                .to_owned(),
        )
        .with_essential(Block::Table(Table::new(
            "Areas of all texts and over subgroups",
            &["Figure", "Texts or subgroups", "Value"],
            rows,
        )))
        .with(terms::explained(&terms::TEXT_GROUPS))
}

fn limits(run: &TextGroupFindings) -> Part {
    Part::limits([
        format!(
            "The figures are of {} texts with their labels. Who wrote and who labelled them decides what they can show.",
            count(run.texts)
        ),
        format!(
            "A subgroup is the texts that name a value, not the people it stands for; one of fewer than {} texts is not judged.",
            run.min_group
        ),
        "Areas look at the order of scores only; rates look at the model's own decision.".to_owned(),
        "Equal figures of subgroups do not mean that a text keeps its class when it names another value; probity audit looks at that.".to_owned(),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TextBias;

    fn rate(value: f64) -> Option<Rate> {
        Some(Rate {
            value,
            ci95: [value - 0.1, value + 0.1],
        })
    }

    #[test]
    fn the_verdict_names_the_lowest_area_and_what_is_undefined_is_said() {
        let value = |name: &str, bpsn_auc: Option<Rate>| TextSubgroup {
            value: name.to_owned(),
            texts: 40,
            positive_texts: 0,
            too_small: false,
            subgroup_auc: None,
            bpsn_auc,
            bnsp_auc: None,
            false_positive_rate: rate(0.5),
            false_negative_rate: None,
        };
        let bias = TextBias {
            subgroups: 2,
            metric: None,
        };
        let mut run = TextGroupFindings {
            model_sha256: String::new(),
            data_sha256: String::new(),
            positive: "toxic".to_owned(),
            is_positive_given: false,
            texts: 100,
            positive_texts: 20,
            min_group: 30,
            foreign: 0,
            auc: rate(0.8),
            bias: bias.clone(),
            attributes: vec![TextAttribute {
                attribute: "religion".to_owned(),
                naming: 80,
                bias,
                values: vec![value("Sikh", rate(0.4)), value("Jain", rate(0.7))],
            }],
        };
        let (verdict, parts) = parts(&run, "run1");
        assert!(
            verdict[0].to_string().contains("name Sikh (religion)"),
            "{verdict:?}"
        );
        assert!(
            verdict[0].to_string().contains("was not said"),
            "{verdict:?}"
        );
        let shown = format!("{parts:?}");
        assert!(shown.contains("undefined") && shown.contains("0.400 (0.300 – 0.500)"));
        run.attributes[0]
            .values
            .iter_mut()
            .for_each(|value| value.bpsn_auc = None);
        let (verdict, _) = super::parts(&run, "run1");
        assert!(
            verdict[0].to_string().contains("No subgroup"),
            "{verdict:?}"
        );
    }
}
