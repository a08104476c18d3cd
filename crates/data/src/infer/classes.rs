//! The order of the classes: the last one is that which AUC, F1 and figures of groups speak of.

use super::error::InferError;

/// What is worse and what is better to get, as people write it.
const PAIRS: [[&str; 2]; 16] = [
    ["no", "yes"],
    ["n", "y"],
    ["false", "true"],
    ["low", "high"],
    ["bad", "good"],
    ["negative", "positive"],
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

/// `classes` in the order of the schema, and why the last one is last.
///
/// # Errors
/// When `favourable` is none of them.
pub(super) fn ordered(
    mut classes: Vec<String>,
    favourable: Option<&str>,
) -> Result<(Vec<String>, String), InferError> {
    let numbers: Option<Vec<f64>> = classes.iter().map(|class| class.parse().ok()).collect();
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
        let place = classes.iter().position(|class| class == wanted);
        let Some(place) = place else {
            return Err(InferError::NoSuchClass {
                class: wanted.to_owned(),
                known: classes.join(", "),
            });
        };
        let last = classes.remove(place);
        classes.push(last);
        return Ok((classes, "it was said to be the favourable one".to_owned()));
    }
    if let Some([worse, better]) = known(&classes) {
        let why = format!("'{better}' is usually better to get than '{worse}'");
        return Ok((vec![worse, better], why));
    }
    let why = match numbers {
        Some(_) => "it is the greatest number, which need not be the one that is good to get",
        None => "it is the last by the alphabet, which says nothing of which is good to get",
    };
    Ok((classes, why.to_owned()))
}

/// Two classes, the worse one first, where their words tell.
fn known(classes: &[String]) -> Option<[String; 2]> {
    let [first, second] = classes else {
        return None;
    };
    let plain = |class: &String| class.trim_end_matches('.').to_lowercase();
    let is_worse = |worse: &String, better: &String| {
        let (worse, better) = (plain(worse), plain(better));
        let is_below = worse.starts_with('<') && better.starts_with('>');
        is_below || PAIRS.contains(&[worse.as_str(), better.as_str()])
    };
    if is_worse(first, second) {
        return Some([first.clone(), second.clone()]);
    }
    is_worse(second, first).then(|| [second.clone(), first.clone()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_class_is_said_with_its_reason() {
        let of = |classes: &[&str], favourable| {
            let classes = classes.iter().map(|&class| class.to_owned()).collect();
            let (classes, why) = ordered(classes, favourable).unwrap();
            (classes.join(","), why)
        };
        for (classes, expected, why) in [
            (["high", "low"], "low,high", "usually better"),
            ([">50K", "<=50K"], "<=50K,>50K", "usually better"),
            (["Yes", "No"], "No,Yes", "usually better"),
            (["10", "9"], "9,10", "greatest number"),
            (["red", "blue"], "blue,red", "alphabet"),
        ] {
            let (found, said) = of(&classes, None);
            assert!(found == expected && said.contains(why), "{found}: {said}");
        }
        let (found, said) = of(&["high", "low"], Some("low"));
        assert!(
            found == "high,low" && said.contains("was said"),
            "{found}: {said}"
        );
        let spelt = ["1.0", "0", "1", "0.0"].map(str::to_owned).to_vec();
        assert_eq!(ordered(spelt, None).unwrap().0, ["0", "1"]);
        let none = ordered(vec!["a".to_owned()], Some("b")).unwrap_err();
        assert!(none.to_string().contains("'b'"), "{none}");
    }
}
