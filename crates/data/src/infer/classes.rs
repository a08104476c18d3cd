//! The order of the classes: the last one is the class that figures of groups speak of, and of two
//! classes AUC and F1.
//!
//! Which class is good to get is guessed from the words of the classes and from the name of their
//! column, and only where these agree: `yes` is good to get of `granted`, and bad of `default`.

use super::error::InferError;
use super::note::{Note, Way};
use crate::spelling::{INEXACT, place_of, written_truth};
use crate::unicode;

/// Pairs of a worse and a better outcome, whatever the column is called, as people write them.
const PAIRS: [[&str; 2]; 11] = [
    ["bad", "good"],
    ["poor", "rich"],
    ["fail", "pass"],
    ["failed", "passed"],
    ["deny", "approve"],
    ["denied", "approved"],
    ["denied", "granted"],
    ["rejected", "accepted"],
    ["reject", "accept"],
    ["refused", "granted"],
    ["loss", "win"],
];

/// Pairs of words that deny and affirm what the name of the column says, or say that it is less and
/// more.
const DEGREES: [[&str; 2]; 5] = [
    ["no", "yes"],
    ["n", "y"],
    ["false", "true"],
    ["low", "high"],
    ["negative", "positive"],
];

/// The beginnings of parts of names of things that are bad to have more of, such as `default` and
/// `recidivism`.
const BAD: [&str; 32] = [
    "abus",
    "arrest",
    "attrition",
    "bankrupt",
    "cancel",
    "chargeoff",
    "churn",
    "complain",
    "crim",
    "death",
    "default",
    "delinq",
    "denial",
    "denied",
    "deny",
    "died",
    "disease",
    "dismiss",
    "dropout",
    "fail",
    "foreclos",
    "fraud",
    "harm",
    "mortality",
    "offen",
    "reject",
    "recid",
    "refus",
    "reoffen",
    "risk",
    "toxic",
    "violen",
];

/// Parts of names that negate what follows.
const NEGATIONS: [&str; 4] = ["no", "non", "not", "without"];

/// Returns which of the `classes` of the column `label` is usually good to get, where their words and
/// the name of the column agree on one.
pub fn usually_favourable(label: &str, classes: &[String]) -> Option<String> {
    match (pair(classes, &PAIRS), degrees(classes)) {
        (Some([_, better]), _) => Some(better),
        (None, Some([_, more])) => (!is_bad(label)).then_some(more),
        (None, None) => None,
    }
}

/// Returns `classes` of the column `label` in the order of the schema, and why the last one is
/// last.
///
/// # Errors
/// When `favourable` is none of them.
pub(super) fn ordered(
    label: &str,
    mut classes: Vec<String>,
    favourable: Option<&str>,
) -> Result<(Vec<String>, Note), InferError> {
    let exact = |class: &String| {
        class
            .parse()
            .ok()
            .filter(|number: &f64| number.abs() < INEXACT)
    };
    let numbers: Option<Vec<f64>> = classes.iter().map(exact).collect();
    match numbers {
        Some(_) => {
            let value = |class: &String| class.parse::<f64>().unwrap_or_default();
            let by_value = |a: &String, b: &String| value(a).total_cmp(&value(b));
            // One number is one class: the shortest of its spellings.
            classes.sort_by(|a, b| by_value(a, b).then(a.len().cmp(&b.len())));
            classes.dedup_by(|later, first| value(later) == value(first));
        }
        None => classes.sort(),
    }
    if let Some(wanted) = favourable {
        let place = place_of(&classes, wanted);
        let Some(place) = place else {
            return Err(InferError::NoSuchClass {
                class: wanted.to_owned(),
                known: classes.join(", "),
            });
        };
        let last = classes.remove(place);
        let said = format!("its last class is '{last}': it was said to be the favourable one");
        classes.push(last);
        return Ok((classes, Note::new(label, said)));
    }
    let why = match (pair(&classes, &PAIRS), degrees(&classes)) {
        (Some([worse, better]), _) => {
            let why = format!("a guess, as '{better}' is usually better to get than '{worse}'");
            classes = vec![worse, better];
            why
        }
        (None, Some([less, more])) => {
            let why = match is_bad(label) {
                true => format!(
                    "nobody has said which is good to get, and '{more}' usually is, but a column of the name '{label}' says what is bad"
                ),
                false => format!("a guess, as '{more}' is usually better to get than '{less}'"),
            };
            classes = vec![less, more];
            why
        }
        (None, None) => match (numbers, is_bad(label)) {
            (Some(_), true) => format!(
                "nobody has said which is good to get; it is the greatest number, but a column of the name '{label}' says what is bad"
            ),
            (Some(_), false) => {
                "it is the greatest number, which need not be the one that is good to get"
                    .to_owned()
            }
            (None, _) => {
                "it is the last by the alphabet, which says nothing of which is good to get"
                    .to_owned()
            }
        },
    };
    let last = classes.last().map_or("", String::as_str);
    let mut note = Note::new(label, format!("its last class is '{last}': {why}"));
    if let Some(other) = classes.iter().rev().nth(1) {
        let effect = "if that is the class that is good to get";
        note = note.or(Way::of_all("favourable", [other], effect));
    }
    Ok((classes, note))
}

/// Returns the two classes, the first of one of `pairs` first.
fn pair(classes: &[String], pairs: &[[&str; 2]]) -> Option<[String; 2]> {
    let [first, second] = classes else {
        return None;
    };
    let plain = |class: &String| class.trim_end_matches('.').to_lowercase();
    let is_one = |worse: &String, better: &String| {
        let (worse, better) = (plain(worse), plain(better));
        // More than a bound is better than less, such as an income.
        let is_below = worse.starts_with('<') && better.starts_with('>');
        is_below || pairs.contains(&[worse.as_str(), better.as_str()])
    };
    if is_one(first, second) {
        return Some([first.clone(), second.clone()]);
    }
    is_one(second, first).then(|| [second.clone(), first.clone()])
}

/// Returns the two classes, the one that denies, or says less, first; also where they are spelt in
/// different ways, such as `Y` and `no`.
fn degrees(classes: &[String]) -> Option<[String; 2]> {
    let by_truth = || {
        let [first, second] = classes else {
            return None;
        };
        let are_numbers = classes.iter().all(|class| class.parse::<f64>().is_ok());
        match (written_truth(first)?, written_truth(second)?) {
            _ if are_numbers => None,
            (false, true) => Some([first.clone(), second.clone()]),
            (true, false) => Some([second.clone(), first.clone()]),
            _ => None,
        }
    };
    pair(classes, &DEGREES).or_else(by_truth)
}

/// Returns whether it is bad to have more of what a column of this name says.
fn is_bad(name: &str) -> bool {
    let parts = unicode::parts(name);
    let starts = |part: &String| BAD.iter().any(|start| part.starts_with(start));
    let is_negated = parts.iter().any(|part| NEGATIONS.contains(&part.as_str()));
    !is_negated && parts.iter().any(starts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order_classes(label: &str, classes: &[&str], favourable: Option<&str>) -> (String, Note) {
        let classes = classes.iter().map(|&class| class.to_owned()).collect();
        let (classes, note) = ordered(label, classes, favourable).unwrap();
        (classes.join(","), note)
    }

    #[test]
    fn truths_in_different_spellings_are_in_their_order() {
        for (classes, expected) in [
            (&["Y", "no"][..], "no,Y"),
            (&["TRUE", "f"], "f,TRUE"),
            (&["t", "False"], "False,t"),
            (&["1", "f"], "f,1"),
            (&["0", "1"], "0,1"),
        ] {
            assert_eq!(order_classes("granted", classes, None).0, expected);
        }
    }

    #[test]
    fn what_is_usually_good_is_said_where_words_and_name_agree() {
        let of = |label: &str, classes: [&str; 2]| {
            usually_favourable(label, &classes.map(str::to_owned))
        };
        assert_eq!(of("loan", ["good", "bad"]).as_deref(), Some("good"));
        assert_eq!(of("granted", ["yes", "no"]).as_deref(), Some("yes"));
        assert_eq!(of("default", ["yes", "no"]), None);
        assert_eq!(of("toxic", ["0", "1"]), None);
    }

    #[test]
    fn the_last_class_is_said_with_its_reason() {
        for (label, classes, expected, why, other) in [
            ("income", ["high", "low"], "low,high", "a guess", "low"),
            (
                "income",
                [">50K", "<=50K"],
                "<=50K,>50K",
                "a guess",
                "<=50K",
            ),
            ("granted", ["Yes", "No"], "No,Yes", "a guess", "No"),
            (
                "grade",
                ["10", "9"],
                "9,10",
                "greatest number, which need not",
                "9",
            ),
            ("colour", ["red", "blue"], "blue,red", "alphabet", "blue"),
            // The name says the opposite of the words.
            ("default", ["yes", "no"], "no,yes", "nobody has said", "no"),
            ("two_year_recid", ["1", "0"], "0,1", "nobody has said", "0"),
            (
                "is_fraud",
                ["True", "False"],
                "False,True",
                "nobody has said",
                "False",
            ),
            ("credit_risk", ["2", "1"], "1,2", "nobody has said", "1"),
            ("Churn", ["yes", "no"], "no,yes", "nobody has said", "no"),
            ("loanDenied", ["1", "0"], "0,1", "nobody has said", "0"),
            (
                "riskLevel",
                ["low", "high"],
                "low,high",
                "nobody has said",
                "low",
            ),
            // Words with a worth of their own.
            ("credit_risk", ["good", "bad"], "bad,good", "a guess", "bad"),
            // And names that are turned round.
            ("no_default", ["yes", "no"], "no,yes", "a guess", "no"),
        ] {
            let (found, note) = order_classes(label, &classes, None);
            assert!(
                found == expected && note.said.contains(why),
                "{found}: {note:?}"
            );
            let ways: Vec<String> = note.ways.iter().map(Way::command).collect();
            let quoted = match other.starts_with('<') {
                true => format!("'{other}'"),
                false => other.to_owned(),
            };
            assert_eq!(ways, [format!("--favourable {quoted}")]);
        }
        let (found, note) = order_classes("income", &["high", "low"], Some("low"));
        assert!(
            found == "high,low" && note.said.contains("was said"),
            "{note:?}"
        );
        assert!(note.ways.is_empty());
        let spelt = ["1.0", "0", "1", "0.0"].map(str::to_owned).to_vec();
        assert_eq!(ordered("x", spelt, None).unwrap().0, ["0", "1"]);
        let none = ordered("x", vec!["a".to_owned()], Some("b")).unwrap_err();
        assert!(none.to_string().contains("'b'"), "{none}");
    }

    #[test]
    fn an_accent_may_be_typed_in_either_form() {
        let (found, _) = order_classes(
            "avis",
            &["accorde\u{301}", "refuse\u{301}"],
            Some("accord\u{e9}"),
        );
        assert_eq!(found, "refuse\u{301},accorde\u{301}");
    }
}
