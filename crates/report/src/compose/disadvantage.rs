//! Who is disadvantaged: which value of an attribute loses what is good where another one, all else
//! alike, gets it.

use std::collections::BTreeMap;

use super::super::chart::{Side, Sides};
use super::super::document::{Block, Part, Table};
use super::super::model::{Contrast, Contrasts, Exchanged};
use super::super::text::{Text, count, percent};

/// Values of an attribute that are drawn.
const MOST: usize = 16;

/// A share of a value's pairs from which it is called the disadvantaged one.
const ONE_SIDED: f64 = 2.0 / 3.0;

/// What the two sides of a pair get.
pub(super) struct Stakes {
    /// What is asked.
    pub title: &'static str,
    /// What the one side gets: `gets ‘high’`.
    pub good: String,
    /// What the other one gets: `gets ‘low’`.
    pub bad: String,
    /// What is the same but for the attribute: `row` or `text`.
    pub input: &'static str,
}

/// The pairs of one value.
struct OfValue<'c> {
    value: &'c str,
    /// Pairs in which its side does not get what is good, and those in which it does.
    worse: u64,
    better: u64,
}

impl OfValue<'_> {
    fn pairs(&self) -> u64 {
        self.worse + self.better
    }

    fn share_worse(&self) -> f64 {
        self.worse as f64 / self.pairs().max(1) as f64
    }

    /// By how many pairs it is worse off.
    fn balance(&self) -> i128 {
        i128::from(self.worse) - i128::from(self.better)
    }
}

/// The values of an attribute, the one that loses most first.
fn by_value(contrasts: &Contrasts) -> Vec<OfValue<'_>> {
    let mut of: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
    for contrast in &contrasts.values {
        of.entry(&contrast.disadvantaged).or_default()[0] += contrast.pairs;
        of.entry(&contrast.favoured).or_default()[1] += contrast.pairs;
    }
    let mut values: Vec<OfValue<'_>> = of
        .into_iter()
        .map(|(value, [worse, better])| OfValue {
            value,
            worse,
            better,
        })
        .collect();
    values.sort_by_key(|of| std::cmp::Reverse(of.balance()));
    values
}

/// Who loses by `contrasts`, in a sentence; nothing where there is no pair.
pub(super) fn sentence(contrasts: &Contrasts, stakes: &Stakes) -> Option<String> {
    let values = by_value(contrasts);
    let loser = values.first()?;
    let by = Text::value(&contrasts.attribute);
    let value = Text::value(loser.value);
    let twin = match values.as_slice() {
        [_, other] => format!("with ‘{}’", Text::value(other.value)),
        _ => format!("with another {by}"),
    };
    let (good, bad, input) = (&stakes.good, &stakes.bad, stakes.input);
    let all = count(loser.pairs());
    Some(match loser.share_worse() {
        share if share >= ONE_SIDED => format!(
            "By {by}: a {input} with ‘{value}’ {bad} where the same {input} {twin} {good}, in {} of its pairs ({} of {all}).",
            percent(share),
            count(loser.worse)
        ),
        _ => format!(
            "By {by} it goes both ways. Most one-sided is ‘{value}’: a {input} with it {bad} where the same {input} {twin} {good} in {} of {all} pairs, and the other \
             way round in {}.",
            count(loser.worse),
            count(loser.better)
        ),
    })
}

/// The figure of each attribute; nothing where there is no pair.
pub(super) fn part(all: &[Contrasts], stakes: &Stakes, id: &str) -> Option<Part> {
    let mut figures = Vec::new();
    for (place, contrasts) in all.iter().enumerate() {
        if !contrasts.values.is_empty() {
            let id = format!("{id}-losers{}", place + 1);
            figures.push(figure(contrasts, stakes, id));
        }
    }
    if figures.is_empty() {
        return None;
    }
    let (good, bad, input) = (&stakes.good, &stakes.bad, stakes.input);
    let part = Part::new(stakes.title).say(format!(
        "A pair is a {input} and the same {input} with another value of one attribute, all else alike, of which one {good} and the other {bad}."
    ));
    Some(figures.into_iter().fold(part, Part::with))
}

fn figure(contrasts: &Contrasts, stakes: &Stakes, id: String) -> Block {
    let by = Text::value(&contrasts.attribute);
    let values = by_value(contrasts);
    let rows: Vec<Side> = values
        .iter()
        .take(MOST)
        .map(|of| Side {
            label: Text::value(of.value),
            counts: [of.worse, of.better],
            value: percent(of.share_worse()),
        })
        .collect();
    let (good, bad) = (&stakes.good, &stakes.bad);
    let chart = Sides {
        rows: &rows,
        names: [
            format!("pairs in which it {bad}"),
            format!("pairs in which it {good}"),
        ],
    };
    let cells = values.iter().map(|of| {
        vec![
            of.value.to_owned(),
            count(of.worse),
            count(of.better),
            percent(of.share_worse()),
        ]
    });
    let header = [
        "Value",
        &format!("It {bad}"),
        &format!("It {good}"),
        &format!("Share in which it {bad}"),
    ];
    let table = Table::new(
        format!("Pairs that differ in {by} alone and are decided differently"),
        &header,
        cells.collect(),
    );
    let drawn = match values.len() > MOST {
        true => format!(" The {MOST} that lose most are drawn."),
        false => String::new(),
    };
    let description = format!(
        "Bars are the pairs of each value; the figure at the right is the share in which it {bad}.{drawn}"
    );
    Block::figure(&chart, id, description, table)
}

/// The contrasts of exchanges in texts: the side that gets the positive class is the one that is
/// named first, so it stands where the disadvantaged one does. Nothing where the run does not say
/// which way texts flip.
pub(super) fn of_exchanges(exchanged: &Exchanged) -> Vec<Contrasts> {
    let mut all: Vec<Contrasts> = Vec::new();
    for pair in &exchanged.pairs {
        let Some(to_positive) = pair.to_positive else {
            return Vec::new();
        };
        let place = all.iter().position(|of| of.attribute == pair.attribute);
        let place = place.unwrap_or_else(|| {
            all.push(Contrasts {
                attribute: pair.attribute.clone(),
                pairs: 0,
                values: Vec::new(),
            });
            all.len() - 1
        });
        let of = &mut all[place];
        let from_positive = pair.flipped.saturating_sub(to_positive);
        for (favoured, disadvantaged, pairs) in [
            (&pair.from, &pair.to, to_positive),
            (&pair.to, &pair.from, from_positive),
        ] {
            if pairs > 0 {
                of.pairs += pairs;
                of.values.push(Contrast {
                    favoured: favoured.clone(),
                    disadvantaged: disadvantaged.clone(),
                    pairs,
                });
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contrasts(values: &[(&str, &str, u64)]) -> Contrasts {
        let values = values
            .iter()
            .map(|&(favoured, disadvantaged, pairs)| Contrast {
                favoured: favoured.to_owned(),
                disadvantaged: disadvantaged.to_owned(),
                pairs,
            });
        let values: Vec<Contrast> = values.collect();
        Contrasts {
            attribute: "sex".to_owned(),
            pairs: values.iter().map(|of| of.pairs).sum(),
            values,
        }
    }

    fn said(values: &[(&str, &str, u64)]) -> Option<String> {
        let stakes = Stakes {
            title: "Who is disadvantaged",
            good: "gets ‘high’".to_owned(),
            bad: "gets ‘low’".to_owned(),
            input: "row",
        };
        let said = sentence(&contrasts(values), &stakes);
        said.map(|said| said.replace('\u{a0}', " "))
    }

    #[test]
    fn the_value_that_loses_most_is_named() {
        assert_eq!(
            said(&[("male", "female", 998), ("female", "male", 2)]).unwrap(),
            "By sex: a row with ‘female’ gets ‘low’ where the same row with ‘male’ gets ‘high’, in 99.80 % of its pairs (998 of 1,000)."
        );
        let three = [("a", "b", 6), ("a", "c", 9), ("b", "c", 4), ("c", "b", 1)];
        let three = said(&three).unwrap();
        assert!(three.contains("a row with ‘c’ gets ‘low’ where the same row with another sex"));
        assert!(
            three.contains("92.86 %") && three.contains("(13 of 14)"),
            "{three}"
        );
        let even = said(&[("male", "female", 11), ("female", "male", 10)]).unwrap();
        assert!(even.contains("goes both ways") && even.contains("in 11 of 21 pairs"));
        assert_eq!(said(&[]), None);
    }
}
