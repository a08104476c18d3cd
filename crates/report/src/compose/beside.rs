//! A person beside somebody else: a picture of the two.

use super::super::chart::{Beside, BesideRow};
use super::super::document::{Block, Table};
use super::super::model::PersonValue;
use super::super::text::{Text, percent};

/// Attributes that are drawn.
const DRAWN: usize = 10;

/// The most characters of a value that stands beside another one.
const SIDE: usize = 13;

/// What the pictures and their tables show, said once above them.
pub(super) const PICTURES: &str = "Both stand beside each other by rank: the share of all people who have less, and half of those who have the same. In a picture nobody has less at the left end, and half of all people do in the middle; what has no order is written alone.";

/// Two people, and where they stand among all.
pub(super) struct Two<'a> {
    /// Who they are.
    pub names: [String; 2],
    /// What each has of every attribute.
    pub values: [&'a [PersonValue]; 2],
    /// The ranks of both in each attribute; none of runs that say none.
    pub ranks: &'a [Option<[f64; 2]>],
}

impl Two<'_> {
    /// Draws the two: what they differ in most first, then what they are alike in.
    pub fn picture(&self, id: String) -> Block {
        let [own, others] = self.values;
        let rank = |place: usize| self.ranks.get(place).copied().flatten();
        let difference = |place: usize| match rank(place) {
            _ if own[place].value == others[place].value => 0.0,
            Some([own, other]) => f64::abs(own - other),
            None => 1.0,
        };
        let mut order: Vec<usize> = (0..own.len().min(others.len())).collect();
        // Stable: in the order of the schema where as much differs.
        order.sort_by(|&a, &b| difference(b).total_cmp(&difference(a)));
        let rows = order.iter().take(DRAWN).map(|&place| BesideRow {
            label: Text::value(&own[place].attribute),
            shown: match [own, others].map(|of| shown(&of[place].value)) {
                [one, other] if one == other => one,
                both => {
                    // A long one leaves room for the other.
                    let [one, other] = both.map(|value| value.short(SIDE));
                    Text::from(format!("{one} | {other}"))
                }
            },
            places: rank(place),
        });
        let rows: Vec<BesideRow> = rows.collect();
        let [first, second] = self.names.each_ref();
        let shown_rank = |place: usize, who: usize| {
            rank(place).map_or_else(|| "–".to_owned(), |both| percent(both[who]))
        };
        let cells = own.iter().zip(others).enumerate();
        let cells = cells.map(|(place, (own, other))| {
            vec![
                Text::value(&own.attribute).to_string(),
                shown(&own.value).to_string(),
                shown(&other.value).to_string(),
                shown_rank(place, 0),
                shown_rank(place, 1),
            ]
        });
        let header = [
            "Attribute".to_owned(),
            first.clone(),
            second.clone(),
            format!("Rank of {}", lowered(first)),
            format!("Rank of {}", lowered(second)),
        ];
        let caption = format!("{first} beside {}", lowered(second));
        let header = header.each_ref().map(String::as_str);
        Block::figure(
            &Beside {
                rows: &rows,
                names: [first, second].map(|name| Text::from(name.as_str())),
            },
            id,
            "Where both stand among all people, by rank; what differs most stands first.",
            Table::new(caption, &header, cells.collect()),
        )
    }
}

/// Returns what a person has of an attribute, as it is shown: an empty cell has no name of its own.
pub(super) fn shown(value: &str) -> Text {
    match value.is_empty() {
        true => "(missing)".into(),
        false => Text::value(value),
    }
}

/// Returns `age 31`.
pub(super) fn value_in_words(value: &PersonValue) -> String {
    format!("{} {}", Text::value(&value.attribute), shown(&value.value))
}

/// `name` within a sentence.
fn lowered(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_lowercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(of: [&str; 3]) -> Vec<PersonValue> {
        let named = ["sex", "age", "pay"].into_iter().zip(of);
        named
            .map(|(attribute, value)| PersonValue {
                attribute: attribute.to_owned(),
                value: value.to_owned(),
            })
            .collect()
    }

    #[test]
    fn what_differs_most_is_drawn_first() {
        let (own, other) = (values(["f", "31", "900"]), values(["m", "30", "2100"]));
        let drawn = |other: &[PersonValue], ranks: &[Option<[f64; 2]>]| {
            let two = Two {
                names: ["Row 7".to_owned(), "Row 12".to_owned()],
                values: [&own, other],
                ranks,
            };
            match two.picture("pair".to_owned()) {
                Block::Figure(figure) => figure,
                _ => panic!("a figure"),
            }
        };
        let ranks = [None, Some([0.5, 0.48]), Some([0.2, 0.875])];
        let figure = drawn(&other, &ranks);
        assert_eq!(figure.title.as_str(), "Row 7 beside row 12");
        let place = |words: &str| figure.svg.find(words).unwrap_or_else(|| panic!("{words}"));
        assert!(place("f | m") < place("900 | 2100") && place("900 | 2100") < place("31 | 30"));
        let last: Vec<String> = figure.data.rows[2]
            .iter()
            .map(|cell| cell.to_string().replace('\u{a0}', " "))
            .collect();
        assert_eq!(last, ["pay", "900", "2100", "20.00 %", "87.50 %"]);
        let long = values(["f", "the same beginning, then A", ""]);
        let ends = drawn(&values(["f", "the same beginning, then B", "5"]), &[]);
        assert!(ends.svg.contains("31 | the same beg…"), "{}", ends.svg);
        let two = Two {
            names: ["Row 1".to_owned(), "Row 2".to_owned()],
            values: [&long, &own],
            ranks: &[],
        };
        let Block::Figure(blank) = two.picture("blank".to_owned()) else {
            panic!("a figure");
        };
        assert!(blank.svg.contains("(missing) | 900"), "{}", blank.svg);
        // Runs of the first builds say no ranks; who is alike is shown once.
        let alike = drawn(&own, &[]);
        assert!(!alike.svg.contains('|') && alike.data.rows[1][3].as_str() == "–");
    }
}
