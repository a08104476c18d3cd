//! The figures of a summary that the pages show. Summaries are JSON whose keys are stable
//! (docs/file-formats.md).

use serde::Deserialize;
use serde_json::Value;

use super::views;
use super::views::{Figure, State};
use super::words::{attributes_in_words, bound, count, interval, list, percent};
use crate::jobs::board::JobView;
use crate::operations::results::{
    AuditFigures, ComparedJob, GroupShare, OutcomeFigure, PeopleFigures, RepairFigures,
    ShareFigure, compared,
};
use crate::problem::Problem;
use crate::service::Service;
use crate::store::{JobState, Scope};
use probity_nn::modality::ModalityName;
use probity_report::bounds::Verdict;
use probity_report::model::{AgainstControl, Caution, Quality, TrainingData};
use probity_report::text::not_taken;

/// What is said of a run that no report can be made of.
const NO_REPORT: &str = "No report can be made of this run, so nothing is said of it.";

/// The quality of a model on each part of its data, from the summary of its training.
pub(super) fn qualities(summary: &Value) -> Vec<views::Quality> {
    let parts = [
        ("train", "Learnt from"),
        ("validation", "Used for choosing"),
        ("test", "Kept for testing"),
    ];
    let quality = |(key, name)| {
        let part = summary.get(key)?;
        Some(views::Quality {
            name,
            rows: count(part.get("rows")?.as_u64()?),
            accuracy: percent(part.get("accuracy")?.as_f64()?),
            majority: percent(part.get("majority_share")?.as_f64()?),
        })
    };
    parts.into_iter().filter_map(quality).collect()
}

/// The reasons why an audit of a model says little, from the summary of its training: that it does no
/// better than guessing, or has no vector for many of its words.
pub(super) fn doubts(summary: &Value) -> Vec<String> {
    let cautions = Vec::<Caution>::deserialize(&summary["cautions"]).unwrap_or_default();
    // What the model has not learnt from tells more.
    let parts = ["test", "validation", "train"].map(|part| &summary[part]);
    let measured = parts.into_iter().find(|part| !part.is_null());
    let measured = measured.and_then(|part| Quality::deserialize(part).ok());
    let data = TrainingData::deserialize(&summary["data"]).ok();
    let doubt = |caution| {
        match (caution, &measured, &data) {
        (Caution::Guessing, Some(Quality::Classes(of)), _) => Some(format!(
            "The model does no better than guessing: it is right about {} of what it is tested by, against {} for always saying the most frequent outcome. What an audit finds in it says little.",
            percent(of.accuracy),
            percent(of.majority_share)
        )),
        (Caution::Guessing, ..) => Some(
            "The model does no better than always saying the mean. What an audit finds in it says little.".to_owned(),
        ),
        (Caution::FewKnownWords, _, Some(TrainingData::Texts(texts))) => Some(format!(
            "Only {} of the words of the texts have a word vector; the model does not read the others. Train it with word vectors made from these texts.",
            percent(texts.coverage())
        )),
        (Caution::FewKnownWords, ..) => None,
    }
    };
    cautions.into_iter().filter_map(doubt).collect()
}

/// The result of a job that is done, in a word or two and a colour; without a word where it has none.
pub(super) async fn result_of(
    service: &Service,
    scope: &Scope,
    view: &JobView,
) -> Result<State, Problem> {
    if view.job.state != JobState::Done {
        return Ok(State::default());
    }
    let compared = compared(service, scope, view.clone()).await?;
    Ok(result(&compared))
}

/// Returns the share among `shares` that is by all protected attributes together.
pub(super) fn joint(shares: &[ShareFigure]) -> Option<&ShareFigure> {
    shares.iter().max_by_key(|share| share.protected.len())
}

/// Returns the main share of an audit: that of the rows of the data, where it is known.
pub(super) fn first(audit: &AuditFigures) -> Option<&ShareFigure> {
    joint(&audit.people).or_else(|| joint(&audit.shares))
}

/// What came of a bound or a promise, in a colour.
fn class(outcome: &OutcomeFigure) -> &'static str {
    match outcome.verdict {
        Verdict::Within => "good",
        Verdict::Exceeds => "bad",
        Verdict::Inconclusive | Verdict::NotApplicable => "warn",
    }
}

/// Returns the group with the largest share, the first of several.
pub(super) fn worst(people: &PeopleFigures) -> Option<&GroupShare> {
    people.shares.iter().reduce(|worst, group| {
        if group.share > worst.share {
            group
        } else {
            worst
        }
    })
}

/// The result of a comparison of people, in sentences and a colour: what came of the bound that was
/// declared, and what its report says first.
pub(super) fn people_verdict(
    people: &PeopleFigures,
    outcome: Option<&OutcomeFigure>,
) -> (&'static str, Vec<String>) {
    let bound = outcome.map(|outcome| outcome.text.clone());
    let mut said: Vec<String> = bound.into_iter().chain(people.said.clone()).collect();
    if said.is_empty() {
        said.push(NO_REPORT.to_owned());
    }
    (outcome.map_or("", class), said)
}

/// The main figures of a comparison of people.
pub(super) fn of_people(people: &PeopleFigures) -> Vec<Figure> {
    let figure = |group: &GroupShare| Figure {
        name: format!("At a disadvantage, of {}", list(&group.protected)),
        value: percent(group.share),
        note: String::new(),
    };
    people.shares.iter().map(figure).collect()
}

/// The result of an audit, in a sentence or two and a colour: what its report says of the bound that
/// was declared, else what it measured.
pub(super) fn verdict(
    audit: &AuditFigures,
    outcome: Option<&OutcomeFigure>,
    modality: ModalityName,
) -> (&'static str, String) {
    let inputs = match (modality, audit.people.is_empty()) {
        (ModalityName::Text, _) => "texts with a protected term",
        (ModalityName::Table, true) => "random inputs",
        (ModalityName::Table, false) => "the rows",
    };
    let class = mark(audit, outcome).class;
    if let Some(outcome) = outcome {
        return (class, outcome.text.clone());
    }
    let Some(share) = first(audit) else {
        return (
            "warn",
            format!(
                "{} individuals were found. The share of {inputs} has not been estimated.",
                count(audit.discriminatory)
            ),
        );
    };
    if is_blind(audit)
        && let Some(said) = not_taken(&audit.not_taken, &audit.protected)
    {
        return (class, format!("Nothing is shown: {said}."));
    }
    if let Some(alike) = &audit.decides_alike {
        return (
            class,
            format!(
                "The classifier decides everything alike (‘{alike}’), so nothing can be said of its fairness."
            ),
        );
    }
    let text = format!(
        "{} of {inputs} are decided differently when nothing but {} changes.",
        percent(share.share),
        attributes_in_words(&share.protected, modality)
    );
    (class, text)
}

/// Whether the model takes none of the protected attributes.
fn is_blind(audit: &AuditFigures) -> bool {
    !audit.not_taken.is_empty() && audit.not_taken.len() == audit.protected.len()
}

/// The result of an audit, in a word or two and a colour; the share and the bound where the bound is
/// broken.
pub(super) fn mark(audit: &AuditFigures, outcome: Option<&OutcomeFigure>) -> State {
    let share = first(audit);
    if audit.decides_alike.is_some() && share.is_some() {
        return State::marked("warn", "decides alike");
    }
    if let Some(outcome) = outcome {
        return bound_mark(outcome);
    }
    let (class, text) = match share {
        None => ("warn", "not estimated"),
        Some(_) if is_blind(audit) => ("warn", "not taken"),
        Some(share) if audit.discriminatory > 0 || share.ci95[0] > 0.0 => ("bad", "discriminates"),
        Some(_) => ("good", "none found"),
    };
    State::marked(class, text)
}

/// What came of a bound, in a word or two and a colour; the share and the bound where it is broken.
fn bound_mark(outcome: &OutcomeFigure) -> State {
    let text = match (outcome.verdict, outcome.share) {
        (Verdict::Within, _) => "pass".to_owned(),
        (Verdict::Exceeds, Some([share, most])) => {
            format!("{} > {}", percent(share), bound(most))
        }
        (Verdict::Exceeds, None) => "fail".to_owned(),
        (Verdict::Inconclusive, _) => "not shown".to_owned(),
        (Verdict::NotApplicable, _) => "not applicable".to_owned(),
    };
    State::marked(class(outcome), text)
}

/// The result of a job, in a word or two and a colour; without a word where it has none.
pub(super) fn result(compared: &ComparedJob) -> State {
    match (&compared.audit, compared.repair, &compared.outcome) {
        (Some(audit), _, outcome) => mark(audit, outcome.as_ref()),
        (None, Some(repair), _) => repair_mark(repair),
        (None, None, Some(outcome)) => bound_mark(outcome),
        (None, None, None) => State::default(),
    }
}

/// The result of a repair, in a word or two and a colour.
fn repair_mark(repair: RepairFigures) -> State {
    match (repair.saved, repair.holds) {
        (true, true) => State::marked("good", "repaired"),
        (true, false) => State::marked("warn", "repaired, with losses"),
        (false, _) => State::marked("bad", "not repaired"),
    }
}

/// The remarks beside the verdict: the interval, unless the verdict has it, and an early end.
pub(super) fn caveat(audit: &AuditFigures, outcome: Option<&OutcomeFigure>) -> String {
    let mut said = Vec::new();
    if outcome.is_none() {
        said.extend(
            first(audit)
                .map(|share| format!("The 95\u{a0}% interval is {}.", interval(share.ci95))),
        );
        if !is_blind(audit) {
            let of_some = not_taken(&audit.not_taken, &audit.protected);
            said.extend(of_some.map(|of_some| format!("Note: {of_some}.")));
        }
    }
    match audit.ending.as_str() {
        "time" => said.push(
            "The search ended at its limit of time; it may have found more with more time."
                .to_owned(),
        ),
        "interrupted" => said.push("The search was stopped before its end.".to_owned()),
        _ => {}
    }
    said.join(" ")
}

/// The main figures of an audit.
pub(super) fn of_audit(audit: &AuditFigures, modality: ModalityName) -> Vec<Figure> {
    let share = |of: &str, share: &ShareFigure| Figure {
        name: format!(
            "{of} with {}",
            attributes_in_words(&share.protected, modality)
        ),
        value: percent(share.share),
        note: format!("95\u{a0}% interval {}", interval(share.ci95)),
    };
    let found = Figure {
        name: "Individuals found".to_owned(),
        value: count(audit.discriminatory),
        note: format!("of {} examined", count(audit.generated)),
    };
    let (people, inputs) = match audit.people.is_empty() {
        true => ("", "Flip"),
        false => ("Rows that flip", "Random inputs that flip"),
    };
    let rows = audit.people.iter().map(|of| share(people, of));
    let shares = audit.shares.iter().map(|of| share(inputs, of));
    rows.chain(shares).chain([found]).collect()
}

/// The changes by a repair, from its summary: each figure after and before.
pub(super) fn of_repair(summary: &Value) -> Vec<Figure> {
    let before = summary.get("before");
    let (Some(before), Some(after)) = (before, summary.get("chosen")) else {
        return Vec::new();
    };
    let shares = measured(before).into_iter().zip(measured(after));
    shares
        .map(|((name, before), (_, after))| Figure {
            name,
            value: percent(after),
            note: format!("before the repair {}", percent(before)),
        })
        .collect()
}

/// The figures of one network, of rows or of texts.
fn measured(network: &Value) -> Vec<(String, f64)> {
    let mut figures = Vec::new();
    let estimates = network.get("discrimination").and_then(Value::as_array);
    for estimate in estimates.into_iter().flatten() {
        let names = estimate.get("protected").and_then(Value::as_array);
        let names: Vec<&str> = names
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        if let Some(rate) = estimate.get("rate").and_then(Value::as_f64) {
            figures.push((format!("Flip with {}", list(&names)), rate));
        }
    }
    if let Some(fair) = network.pointer("/fair/share").and_then(Value::as_f64) {
        figures.push(("Texts that flip".to_owned(), 1.0 - fair));
    }
    let accuracy = network
        .pointer("/held_out/accuracy")
        .and_then(Value::as_f64);
    figures.extend(
        accuracy.map(|accuracy| ("Right decisions where it never learnt".to_owned(), accuracy)),
    );
    figures
}

/// Whether a repair saved a model.
pub(super) fn has_saved(summary: &Value) -> bool {
    summary.pointer("/verdict/saved") == Some(&Value::Bool(true))
}

/// The result of a repair: a colour, and what its report says of it.
pub(super) fn repair_verdict(outcome: Option<&OutcomeFigure>) -> (&'static str, String) {
    match outcome {
        Some(outcome) => (class(outcome), outcome.text.clone()),
        None => ("warn", NO_REPORT.to_owned()),
    }
}

/// The remarks beside the verdict of a repair: what training anew does, and what got worse.
pub(super) fn repair_caveat(summary: &Value) -> String {
    let verdict = &summary["verdict"];
    let without = "training anew without a remedy";
    let is_text = summary["modality"] == "text";
    let control = AgainstControl::deserialize(&verdict["against_control"]);
    let tells_nothing = is_text && control.is_ok_and(|control| control.tells_nothing());
    let mut said = vec![match verdict["against_control"]["standing"].as_str() {
        Some("better") => format!("It does better than {without}."),
        Some("worse") => format!("It does worse than {without}."),
        Some("alike") if tells_nothing => format!(
            "Too few texts were found, or networks trained, to tell whether it does better than {without}."
        ),
        Some("alike") => format!("But {without} does as well."),
        _ => format!("One network of each kind cannot tell whether {without} does as well."),
    }];
    let worse = verdict["worse"].as_array().into_iter().flatten();
    let names: Vec<&str> = worse.filter_map(|one| one["figure"].as_str()).collect();
    if !names.is_empty() {
        said.push(format!("Worse than allowed: {}.", list(&names)));
    }
    said.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn audit(share: f64, ci95: [f64; 2]) -> AuditFigures {
        let shares = [(vec!["sex"], 0.01), (vec!["sex", "race"], share)];
        AuditFigures {
            ending: "time".to_owned(),
            strategy: "adf".to_owned(),
            protected: vec!["sex".to_owned(), "race".to_owned()],
            generated: 2000,
            discriminatory: 1234,
            seconds: 1.0,
            people: Vec::new(),
            shares: shares
                .into_iter()
                .map(|(names, share)| ShareFigure {
                    protected: names.into_iter().map(str::to_owned).collect(),
                    share,
                    ci95,
                })
                .collect(),
            fail_above: None,
            decides_alike: None,
            not_taken: Vec::new(),
            disadvantaged: Vec::new(),
        }
    }

    #[test]
    fn the_verdict_is_that_of_the_report() {
        let audit = audit(0.599, [0.58, 0.61]);
        let table = ModalityName::Table;
        let outcome = |verdict: Verdict| OutcomeFigure {
            verdict,
            text: "By sex, as the report says it.".to_owned(),
            share: Some([0.599, 0.05]),
        };
        for (kind, class, word) in [
            (Verdict::Within, "good", "pass"),
            (Verdict::Exceeds, "bad", "59.90\u{a0}% > 5\u{a0}%"),
            (Verdict::Inconclusive, "warn", "not shown"),
            (Verdict::NotApplicable, "warn", "not applicable"),
        ] {
            let outcome = outcome(kind);
            let (found, text) = verdict(&audit, Some(&outcome), table);
            assert_eq!((found, text.as_str()), (class, outcome.text.as_str()));
            assert_eq!(mark(&audit, Some(&outcome)).text, word);
            let said = caveat(&audit, Some(&outcome));
            assert!(
                said.contains("limit of time") && !said.contains("interval"),
                "{said}"
            );
        }
        let alike = AuditFigures {
            decides_alike: Some("no".to_owned()),
            ..audit.clone()
        };
        let within = outcome(Verdict::Within);
        assert_eq!(mark(&alike, Some(&within)).text, "decides alike");
        assert_eq!(verdict(&alike, Some(&within), table).0, "warn");
        let (found, text) = verdict(&alike, None, table);
        assert!(found == "warn" && text.contains("alike (‘no’)"), "{text}");
    }

    #[test]
    fn what_declared_no_bound_says_what_it_measured() {
        let mut audit = audit(0.1, [0.09, 0.11]);
        let table = ModalityName::Table;
        let (found, text) = verdict(&audit, None, table);
        assert_eq!(
            (found, mark(&audit, None).text.as_str()),
            ("bad", "discriminates")
        );
        assert!(text.starts_with("10.00\u{a0}% of random inputs"), "{text}");
        assert!(text.contains("nothing but sex, race changes"), "{text}");
        assert!(caveat(&audit, None).contains("interval is 9.00"));
        // The rows of the data come first, where they were asked about.
        audit.people = vec![ShareFigure {
            share: 0.2,
            ..audit.shares[1].clone()
        }];
        let (_, text) = verdict(&audit, None, table);
        assert!(text.starts_with("20.00\u{a0}% of the rows are"), "{text}");
        assert_eq!(of_audit(&audit, table).len(), 4);
        audit.not_taken = vec!["sex".to_owned(), "race".to_owned()];
        let (found, text) = verdict(&audit, None, table);
        assert!(
            found == "warn" && text.contains("does not take 'sex' or 'race'"),
            "{text}"
        );
        assert_eq!(mark(&audit, None).text, "not taken");
        audit.not_taken.truncate(1);
        assert_eq!(mark(&audit, None).text, "discriminates");
        assert!(
            caveat(&audit, None).contains(
                "Note: the model does not take 'sex'; nothing here can flip by that alone"
            )
        );
        (audit.shares, audit.people) = (Vec::new(), Vec::new());
        assert_eq!(mark(&audit, None).text, "not estimated");
        // Attributes of terms in texts are called in words.
        audit.not_taken.clear();
        audit.protected = vec!["sexual_orientation".to_owned()];
        audit.shares = vec![ShareFigure {
            protected: audit.protected.clone(),
            share: 0.2,
            ci95: [0.1, 0.3],
        }];
        let (_, text) = verdict(&audit, None, ModalityName::Text);
        assert!(
            text.contains("nothing but sexual orientation changes"),
            "{text}"
        );
    }

    #[test]
    fn repairs_of_rows_and_of_texts_are_read() {
        let network = |rate: f64| json!({"discrimination": [{"protected": ["sex"], "rate": rate}], "held_out": {"accuracy": 0.9}});
        let verdict = |holds: bool, saved: bool, standing: &str, worse: &[&str]| {
            let worse: Vec<Value> = worse.iter().map(|name| json!({"figure": name})).collect();
            json!({"holds": holds, "saved": saved, "against_control": {"standing": standing}, "worse": worse})
        };
        let rows = json!({
            "before": network(0.2), "chosen": network(0.01),
            "verdict": verdict(true, true, "alike", &[])
        });
        let figures = of_repair(&rows);
        assert_eq!(figures.len(), 2);
        assert_eq!(figures[0].value, "1.00\u{a0}%");
        assert_eq!(figures[0].note, "before the repair 20.00\u{a0}%");
        let caveat = repair_caveat(&rows);
        assert!(caveat.contains("does as well"), "{caveat}");
        let text = |fair: f64| json!({"fair": {"share": fair}, "held_out": {"accuracy": 0.8}});
        let texts = json!({
            "before": text(0.5), "chosen": text(0.9),
            "verdict": verdict(false, false, "worse", &["accuracy", "fair"])
        });
        let figures = of_repair(&texts);
        assert_eq!(
            (figures.len(), figures[0].value.as_str()),
            (2, "10.00\u{a0}%")
        );
        let caveat = repair_caveat(&texts);
        assert!(caveat.contains("accuracy, fair"), "{caveat}");
        let gained = json!({"mean": 0.1, "ci95": [-0.8, 1.0]});
        let few = json!({"control": 0.4, "repaired": 0.3, "gained": gained, "standing": "alike"});
        let mut texts =
            json!({"modality": "text", "verdict": {"against_control": few, "worse": []}});
        assert!(repair_caveat(&texts).starts_with("Too few texts were found"));
        texts["modality"] = json!("table");
        assert!(repair_caveat(&texts).contains("does as well"));
        let failed = OutcomeFigure {
            verdict: Verdict::Exceeds,
            text: "The repair did not help.".to_owned(),
            share: None,
        };
        let (class, text) = repair_verdict(Some(&failed));
        assert_eq!((class, text.as_str()), ("bad", failed.text.as_str()));
    }

    #[test]
    fn people_are_told_of_with_the_bound_first() {
        let group = |name: &str, share| GroupShare {
            protected: vec![name.to_owned()],
            share,
        };
        let people = PeopleFigures {
            said: vec!["Who and how many.".to_owned()],
            shares: vec![group("sex=female", 0.1), group("sex=male", 0.3)],
        };
        assert_eq!(worst(&people), Some(&people.shares[1]));
        assert_eq!(of_people(&people)[0].value, "10.00\u{a0}%");
        let (found, said) = people_verdict(&people, None);
        assert_eq!((found, said), ("", people.said.clone()));
        let outcome = OutcomeFigure {
            verdict: Verdict::Exceeds,
            text: "30.00 % > 5.00 %.".to_owned(),
            share: Some([0.3, 0.05]),
        };
        let (found, said) = people_verdict(&people, Some(&outcome));
        assert_eq!(found, "bad");
        assert_eq!(said, ["30.00 % > 5.00 %.", "Who and how many."]);
        assert_eq!(bound_mark(&outcome).text, "30.00\u{a0}% > 5\u{a0}%");
    }

    #[test]
    fn a_model_that_guesses_is_doubted() {
        let part = |accuracy: f64, balanced: f64| {
            json!({
                "rows": 1000, "accuracy": accuracy, "majority_share": 0.8336,
                "balanced_accuracy": balanced, "auc": null, "f1": null, "confusion": []
            })
        };
        let training = |cautions: Value, test: Value, known: u64| {
            json!({
                "classes": ["0", "1"], "train": part(0.99, 0.99), "validation": null, "test": test,
                "cautions": cautions,
                "data": {"texts": 1000, "tokens": 10_000, "known_tokens": known, "truncated": 0, "words": 9}
            })
        };
        let guessing = json!(["guessing"]);
        let said = doubts(&training(guessing.clone(), part(0.8449, 0.53), 9000));
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(
            said[0].contains("84.49\u{a0}%") && said[0].contains("against 83.36\u{a0}%"),
            "{said:?}"
        );
        assert!(doubts(&training(Value::Null, part(0.95, 0.9), 9000)).is_empty());
        let few = json!(["few_known_words"]);
        let said = doubts(&training(few, part(0.95, 0.9), 4120));
        assert!(
            said[0].starts_with("Only 41.20\u{a0}% of the words"),
            "{said:?}"
        );
        let errors = json!({
            "rows": 10, "mean_label": 1.0, "mean_prediction": 1.0, "mean_absolute": 1.0,
            "root_mean_squared": 1.0, "r_squared": -0.1
        });
        let table =
            json!({"train": errors, "test": errors, "cautions": guessing, "data": {"rows": 10}});
        assert!(doubts(&table)[0].contains("always saying the mean"));
    }

    #[test]
    fn qualities_are_those_of_the_parts_that_there_are() {
        let part = json!({"rows": 2100, "accuracy": 0.99, "majority_share": 0.5});
        let found = qualities(&json!({"train": part, "test": part, "validation": null}));
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].rows, "2,100");
    }
}
