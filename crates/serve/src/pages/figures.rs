//! The figures of a summary that the pages show. Summaries are JSON whose keys are stable
//! (docs/file-formats.md).

use serde_json::Value;

use super::views::{Figure, Quality, State};
use super::words::{count, interval, list, percent};
use crate::operations::results::{AuditFigures, RepairFigures, ShareFigure};
use probity_fairness::estimate::Verdict;
use probity_fairness::specification::BoundOn;
use probity_report::text::not_taken;

/// The quality of a model on each part of its data, from the summary of its training.
pub(super) fn qualities(summary: &Value) -> Vec<Quality> {
    let parts = [
        ("train", "Learnt from"),
        ("validation", "Used for choosing"),
        ("test", "Kept for testing"),
    ];
    let quality = |(key, name)| {
        let part = summary.get(key)?;
        Some(Quality {
            name,
            rows: count(part.get("rows")?.as_u64()?),
            accuracy: percent(part.get("accuracy")?.as_f64()?),
            majority: percent(part.get("majority_share")?.as_f64()?),
        })
    };
    parts.into_iter().filter_map(quality).collect()
}

/// Returns the share among `shares` that is by all protected attributes together.
pub(super) fn joint(shares: &[ShareFigure]) -> Option<&ShareFigure> {
    shares.iter().max_by_key(|share| share.protected.len())
}

/// Returns the main share of an audit: that of the rows of the data, where it is known.
pub(super) fn first(audit: &AuditFigures) -> Option<&ShareFigure> {
    joint(&audit.people).or_else(|| joint(&audit.shares))
}

/// The result of an audit, in one sentence and a colour.
pub(super) fn verdict(audit: &AuditFigures, is_of_texts: bool) -> (&'static str, String) {
    let inputs = match (is_of_texts, audit.people.is_empty()) {
        (true, _) => "texts with a protected term",
        (false, true) => "random inputs",
        (false, false) => "the rows",
    };
    let Some(share) = first(audit) else {
        return (
            "warn",
            format!(
                "{} individuals were found. The share of {inputs} has not been estimated.",
                count(audit.discriminatory)
            ),
        );
    };
    let class = mark(audit).class;
    if shows_nothing(audit)
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
        list(&share.protected)
    );
    (class, text)
}

/// Whether the model takes none of the protected attributes.
fn is_blind(audit: &AuditFigures) -> bool {
    !audit.not_taken.is_empty() && audit.not_taken.len() == audit.protected.len()
}

/// Whether a share shows nothing because the model takes none of the protected attributes. A bound
/// that is declared for such a model (`blind_ok`) is compared as any other.
fn shows_nothing(audit: &AuditFigures) -> bool {
    let declared = audit.fail_above;
    let is_compared = declared.is_some_and(|bound| bound.verdict != Verdict::NotApplicable);
    is_blind(audit) && !is_compared
}

/// The result of an audit, in a word or two and a colour.
pub(super) fn mark(audit: &AuditFigures) -> State {
    let share = first(audit);
    let (class, text) = match audit.fail_above.map(|bound| bound.verdict) {
        _ if share.is_none() => ("warn", "not estimated"),
        _ if audit.decides_alike.is_some() => ("warn", "decides alike"),
        Some(Verdict::Within) => ("good", "pass"),
        Some(Verdict::Exceeds) => ("bad", "fail"),
        Some(Verdict::Inconclusive) => ("warn", "not shown"),
        Some(Verdict::NotApplicable) => ("warn", "not applicable"),
        None if is_blind(audit) => ("warn", "not taken"),
        None if audit.discriminatory > 0 || share.is_some_and(|share| share.ci95[0] > 0.0) => {
            ("bad", "discriminates")
        }
        None => ("good", "none found"),
    };
    State::marked(class, text)
}

/// The result of a repair, in a word or two and a colour.
pub(super) fn repair_mark(repair: RepairFigures) -> State {
    match (repair.saved, repair.holds) {
        (true, true) => State::marked("good", "repaired"),
        (true, false) => State::marked("warn", "repaired, with losses"),
        (false, _) => State::marked("bad", "not repaired"),
    }
}

/// The remarks beside the verdict: the interval, the bound, and an early end.
pub(super) fn caveat(audit: &AuditFigures) -> String {
    let mut said = Vec::new();
    if let Some(share) = first(audit) {
        said.push(format!(
            "The 95\u{a0}% interval is {}.",
            interval(share.ci95)
        ));
    }
    if let Some(declared) = audit.fail_above {
        let bound = percent(declared.bound);
        let share = match declared.on {
            BoundOn::Uniform => "The share of random inputs",
            BoundOn::Data => "The share",
        };
        said.push(match declared.verdict {
            Verdict::Within => format!("{share} is shown to be at most {bound}, as was demanded."),
            Verdict::Inconclusive => format!("{share} is not shown to be at most {bound}, as was demanded, nor to be more: that is not decided."),
            Verdict::Exceeds => format!("{share} is more than {bound}, which was the most that is acceptable."),
            Verdict::NotApplicable => format!("{share} was to be at most {bound}, which is not applicable to a model that does not take what is protected."),
        });
    }
    if !shows_nothing(audit) {
        let of_some = not_taken(&audit.not_taken, &audit.protected);
        said.extend(of_some.map(|of_some| format!("Note: {of_some}.")));
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
pub(super) fn of_audit(audit: &AuditFigures) -> Vec<Figure> {
    let share = |of: &str, share: &ShareFigure| Figure {
        name: format!("{of} with {}", list(&share.protected)),
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

/// The result of a repair: a colour, one sentence, and a remark.
pub(super) fn repair_verdict(summary: &Value) -> (&'static str, &'static str, String) {
    let verdict = &summary["verdict"];
    let (class, text) = match (has_saved(summary), verdict["holds"] == true) {
        (true, true) => (
            "good",
            "A repaired model is saved. Nothing got worse than was allowed.",
        ),
        (true, false) => (
            "warn",
            "A repaired model is saved, as was demanded, though there is something against it.",
        ),
        (false, _) => (
            "bad",
            "No model is saved, for there is something against it.",
        ),
    };
    let without = "training anew without a remedy";
    let mut said = vec![match verdict["against_control"]["standing"].as_str() {
        Some("better") => format!("It does better than {without}."),
        Some("worse") => format!("It does worse than {without}."),
        Some("alike") => format!("But {without} does as well."),
        _ => format!("One network of each kind cannot tell whether {without} does as well."),
    }];
    let worse = verdict["worse"].as_array().into_iter().flatten();
    let names: Vec<&str> = worse.filter_map(|one| one["figure"].as_str()).collect();
    if !names.is_empty() {
        said.push(format!("Worse than allowed: {}.", list(&names)));
    }
    (class, text, said.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::results::BoundFigure;
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
        }
    }

    #[test]
    fn the_verdict_follows_the_bound() {
        let audit = audit(0.1, [0.09, 0.11]);
        let with = |verdict: Verdict| AuditFigures {
            fail_above: Some(BoundFigure {
                bound: 0.05,
                on: BoundOn::Data,
                verdict,
            }),
            ..audit.clone()
        };
        for (audit, class, word) in [
            (with(Verdict::Within), "good", "pass"),
            (with(Verdict::Exceeds), "bad", "fail"),
            (with(Verdict::Inconclusive), "warn", "not shown"),
            (audit.clone(), "bad", "discriminates"),
        ] {
            let (found, text) = verdict(&audit, false);
            assert_eq!(found, class);
            assert_eq!(mark(&audit).text, word);
            assert!(text.starts_with("10.00\u{a0}% of random inputs"), "{text}");
            assert!(text.contains("nothing but sex, race changes"), "{text}");
        }
        // The rows of the data come first, where they were asked about.
        let mut of_rows = with(Verdict::Within);
        of_rows.people = vec![ShareFigure {
            share: 0.2,
            ..audit.shares[1].clone()
        }];
        let (_, text) = verdict(&of_rows, false);
        assert!(text.starts_with("20.00\u{a0}% of the rows are"), "{text}");
        assert_eq!(of_audit(&of_rows).len(), 4);
        if let Some(bound) = &mut of_rows.fail_above {
            bound.on = BoundOn::Uniform;
        }
        let said = caveat(&of_rows);
        assert!(
            said.contains("The share of random inputs is shown"),
            "{said}"
        );
        let one = vec!["sex".to_owned()];
        let both = vec!["sex".to_owned(), "race".to_owned()];
        let mut blind = with(Verdict::NotApplicable);
        blind.not_taken = both;
        let (found, text) = verdict(&blind, false);
        assert!(
            found == "warn" && text.contains("does not take 'sex' or 'race'"),
            "{text}"
        );
        assert_eq!(mark(&blind).text, "not applicable");
        assert!(caveat(&blind).contains("was to be at most 5.00"));
        // A bound that is declared for a blind model is compared as any other.
        let mut allowed = with(Verdict::Within);
        allowed.not_taken.clone_from(&blind.not_taken);
        let (found, text) = verdict(&allowed, false);
        assert!(found == "good" && !text.contains("Nothing"), "{text}");
        assert!(caveat(&allowed).contains("Note: the model does not take 'sex' or 'race'"));
        blind.fail_above = None;
        assert_eq!(mark(&blind).text, "not taken");
        blind.not_taken = one;
        assert_eq!(mark(&blind).text, "discriminates");
        assert!(
            caveat(&blind).contains(
                "Note: the model does not take 'sex'; nothing here can flip by that alone"
            )
        );
        let alike = AuditFigures {
            decides_alike: Some("no".to_owned()),
            ..audit.clone()
        };
        let (found, text) = verdict(&alike, false);
        assert!(found == "warn" && text.contains("alike (‘no’)"), "{text}");
        let said = caveat(&with(Verdict::Inconclusive));
        assert!(
            said.contains("not decided") && said.contains("limit of time"),
            "{said}"
        );
        let nothing = AuditFigures {
            shares: Vec::new(),
            ..audit
        };
        assert_eq!(mark(&nothing).text, "not estimated");
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
        let (class, _, caveat) = repair_verdict(&rows);
        assert!(
            class == "good" && caveat.contains("does as well"),
            "{caveat}"
        );
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
        let (class, text, caveat) = repair_verdict(&texts);
        assert!(class == "bad" && text.starts_with("No model"), "{text}");
        assert!(caveat.contains("accuracy, fair"), "{caveat}");
    }

    #[test]
    fn qualities_are_those_of_the_parts_that_there_are() {
        let part = json!({"rows": 2100, "accuracy": 0.99, "majority_share": 0.5});
        let found = qualities(&json!({"train": part, "test": part, "validation": null}));
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].rows, "2,100");
    }
}
