//! Who is disadvantaged: what becomes of those who have one value of an attribute as somebody with
//! another one, all else alike.

use super::super::chart::{Heat, HeatCell, IntervalRow, Intervals};
use super::super::document::{Block, Part, Table};
use super::super::model::{AttributeEffect, ExchangeEffect, Intersection, Tendency, ValueEffect};
use super::super::text::{Text, count, interval, listed, percent};

/// What the part is called where there is something good to get.
pub(super) const TITLE: &str = "Who is disadvantaged";

/// Values of an attribute that are drawn.
const MOST: usize = 12;

/// Exchanges that are listed.
const LISTED: usize = 20;

/// Values that gain, or lose, which a sentence names.
const NAMED: usize = 3;

/// A net that would be shown as 0.0 points.
const NOTHING: f64 = 0.000_5;

/// What inputs are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inputs {
    /// Rows of a table, which have a value.
    Rows,
    /// Texts, which name one.
    Texts,
}

/// What there is to gain.
pub(super) struct Stakes {
    /// What is asked.
    pub title: &'static str,
    /// What those do who gain: `would get ‘high’`.
    pub gain: String,
    /// What those do who lose: `would lose it`.
    pub lose: String,
    /// What the inputs are.
    pub inputs: Inputs,
    /// Whether it is good to get: of texts only where somebody says so.
    pub is_good: bool,
}

impl Stakes {
    /// `as ‘male’, 14.60 % of the 14,969 ‘female’ rows`.
    fn subject(&self, exchange: &ExchangeEffect) -> String {
        let [from, to] = [&exchange.from, &exchange.to].map(|value| Text::value(value));
        let (share, inputs) = (percent(exchange.gain.share), count(exchange.inputs));
        match self.inputs {
            Inputs::Rows => format!("as ‘{to}’, {share} of the {inputs} ‘{from}’ rows"),
            Inputs::Texts => {
                let texts = match exchange.inputs {
                    1 => "text that names",
                    _ => "texts that name",
                };
                format!("with ‘{to}’ in its place, {share} of the {inputs} {texts} ‘{from}’")
            }
        }
    }

    fn noun(&self) -> &'static str {
        match self.inputs {
            Inputs::Rows => "rows",
            Inputs::Texts => "texts",
        }
    }
}

/// Who gains and who loses by `effect`, in a sentence or two; nothing where nobody does.
pub(super) fn sentence(effect: &AttributeEffect, stakes: &Stakes) -> Option<String> {
    let first = effect.exchanges.first()?;
    let is_back = |of: &&ExchangeEffect| of.from == first.to && of.to == first.from;
    let back = effect.exchanges.iter().find(is_back);
    let by = Text::value(&effect.attribute);
    let are_two = effect.values.len() == 2;
    let way = match effect.tendency {
        Tendency::None => return None,
        // Nobody said that the one class is good to get.
        Tendency::OneSided if !stakes.is_good => String::new(),
        Tendency::OneSided => format!(", ‘{}’ is at a disadvantage", Text::value(&first.from)),
        Tendency::Leaning => {
            let (worse, pairs) = worse_off(first, back);
            format!(
                " it goes both ways, more often against ‘{}’ ({} of the {} decisions that change)",
                Text::value(&first.from),
                percent(worse as f64 / pairs.max(1) as f64),
                count(pairs)
            )
        }
        Tendency::Balanced => match worse_off(first, back) {
            (worse, pairs) if worse == 0 || worse == pairs => {
                " too few decisions change to tell whether they go one way".into()
            }
            _ if are_two => " it goes both ways, in favour of neither value".into(),
            _ => " it goes both ways, in favour of no value".into(),
        },
    };
    // Those of one value may be worse off although few of them gain: those of the other lose.
    let largest_loss = back
        .map_or(0.0, |back| back.lose.share)
        .max(first.lose.share);
    let shows = effect.tendency == Tendency::OneSided
        && back.is_none_or(|back| first.gain.share > 2.0 * back.gain.share)
        && largest_loss <= 2.0 * first.gain.share;
    let (gain, lose) = (&stakes.gain, &stakes.lose);
    let losing = |of: &ExchangeEffect| match shows {
        true => String::new(),
        false => format!(" and {} {lose}", percent(of.lose.share)),
    };
    // Of those whose value no input has, what others would be as them tells.
    let (first, back) = match back {
        Some(back) if first.inputs == 0 => (back, None),
        back => (first, back),
    };
    let mut said = format!(
        "By {by}{way}: {} {gain} (95\u{a0}% interval {}){}",
        stakes.subject(first),
        interval(first.gain.ci95),
        losing(first)
    );
    if let Some(back) = back {
        let would = if shows { "would" } else { gain };
        said.push_str(&format!(
            "; {} {would}{}",
            stakes.subject(back),
            losing(back)
        ));
    }
    said.push('.');
    if !are_two && effect.tendency != Tendency::Balanced {
        said.push_str(&nets(effect, stakes.is_good));
    }
    Some(said)
}

/// Returns which combinations of values are at a disadvantage together; nothing where none is.
pub(super) fn together(intersections: &[Intersection], stakes: &Stakes) -> Option<String> {
    let (first, rest) = intersections.split_first()?;
    let attributes = first.attributes.iter();
    let attributes: Vec<String> = attributes.map(|it| Text::value(it).to_string()).collect();
    let others = first.values.iter().zip(&first.others);
    let others = others.map(|(value, others)| {
        format!(
            "of the other ‘{}’ {} {} would",
            Text::value(value),
            stakes.noun(),
            percent(others.share)
        )
    });
    let mut said = format!(
        "Together, {} are at a disadvantage: with another {}, {} of these {} {} {} (95\u{a0}% interval {}); {}.",
        values_together(first),
        listed(&attributes, "or"),
        percent(first.gain.share),
        count(first.rows),
        stakes.noun(),
        stakes.gain,
        interval(first.gain.ci95),
        listed(&others.collect::<Vec<_>>(), "and")
    );
    let named = rest.iter().take(NAMED).map(|it| {
        format!(
            "{} ({} of {})",
            values_together(it),
            percent(it.gain.share),
            count(it.rows)
        )
    });
    let named: Vec<String> = named.collect();
    if !named.is_empty() {
        let more = match rest.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(", and {} more", count(more as u64)),
        };
        said.push_str(&format!(" Likewise {}{more}.", listed(&named, "and")));
    }
    Some(said)
}

/// `sex ‘female’ and origin ‘south’`.
fn values_together(of: &Intersection) -> String {
    let values = of.attributes.iter().zip(&of.values);
    let values = values
        .map(|(attribute, value)| format!("{} ‘{}’", Text::value(attribute), Text::value(value)));
    listed(&values.collect::<Vec<_>>(), "and")
}

/// Pairs of an input and its twin by an exchange and its reverse in which the side with the first
/// value is worse off, and all that are decided differently.
fn worse_off(first: &ExchangeEffect, back: Option<&ExchangeEffect>) -> (u64, u64) {
    let [gain, lose] = back.map_or([0, 0], |back| [back.gain.count, back.lose.count]);
    let worse = first.gain.count + lose;
    (worse, worse + first.lose.count + gain)
}

/// The values that gain and lose most as others.
fn nets(effect: &AttributeEffect, is_good: bool) -> String {
    let named = |value: &ValueEffect| {
        format!(
            "‘{}’ ({:.1})",
            Text::value(&value.value),
            100.0 * value.net.abs()
        )
    };
    let gaining = effect.values.iter().filter(|value| value.net >= NOTHING);
    let losing = effect.values.iter().filter(|value| value.net <= -NOTHING);
    let gaining: Vec<String> = gaining.take(NAMED).map(named).collect();
    let losing: Vec<String> = losing.rev().take(NAMED).map(named).collect();
    let [gain, lose] = match is_good {
        true => ["at a disadvantage", "at an advantage"],
        false => ["would gain", "would lose"],
    };
    let all = [(gaining, gain), (losing, lose)];
    let said = all.iter().filter(|(values, _)| !values.is_empty());
    let said: Vec<String> = said
        .map(|(values, what)| format!("{what} {}", listed(values, "and")))
        .collect();
    match said.is_empty() {
        true => String::new(),
        false => format!(" Over all other values, in points: {}.", said.join("; ")),
    }
}

/// A share as points with a sign: 0.121 as `+12.1`.
fn points(share: f64) -> String {
    match format!("{:+.1}", 100.0 * share) {
        nothing if matches!(nothing.as_str(), "+0.0" | "-0.0") => "0.0".to_owned(),
        points => points,
    }
}

/// The figures of each attribute; nothing where nobody gains or loses.
pub(super) fn part(effects: &[AttributeEffect], stakes: &Stakes, id: &str) -> Option<Part> {
    let effects = effects.iter().enumerate();
    let mut effects = effects
        .filter(|(_, of)| of.tendency != Tendency::None)
        .peekable();
    effects.peek()?;
    let (gain, lose, noun) = (&stakes.gain, &stakes.lose, stakes.noun());
    let mut part = Part::new(stakes.title).say(format!(
        "One attribute is changed, and nothing else. Those {noun} gain that {gain} with another value and do not with their own; those lose that have it with their own and {lose}."
    ));
    // Charts stand side by side, and the tables of those that show no intervals below them.
    let mut tables = Vec::new();
    for (place, effect) in effects {
        let id = format!("{id}-losers{}", place + 1);
        part = match effect.values.len() {
            0..=2 => part.with(pair(effect, stakes, id)),
            _ => part.with(matrix(effect, stakes, id)),
        };
        if effect.values.len() > 2 {
            tables.push(Block::Table(exchanges(effect, stakes)));
        }
    }
    Some(tables.into_iter().fold(part, Part::with))
}

/// The header of a column of those who gain, or lose.
fn column(what: &str) -> String {
    what[..1].to_uppercase() + &what[1..]
}

/// Every exchange of an attribute of two values.
fn pair(effect: &AttributeEffect, stakes: &Stakes, id: String) -> Block {
    let rows = effect.exchanges.iter().flat_map(|of| {
        let name = format!("{} as {}", Text::value(&of.from), Text::value(&of.to));
        let ways = [(&of.gain, &stakes.gain, 0), (&of.lose, &stakes.lose, 1)];
        ways.map(|(way, what, colour)| {
            IntervalRow::new(&format!("{name}: {what}"), way.share, way.ci95, colour)
        })
    });
    let rows: Vec<IntervalRow> = rows.collect();
    let described = "Dots are shares, lines their 95\u{a0}% intervals.".to_owned();
    let mut table = exchanges(effect, stakes);
    let by = Text::value(&effect.attribute);
    table.caption = format!("Who would gain and who would lose by {by} alone").into();
    Block::figure(&Intervals { rows: &rows }, id, described, table)
}

/// Exchanges with their intervals.
fn exchanges(effect: &AttributeEffect, stakes: &Stakes) -> Table {
    let rows = effect.exchanges.iter().take(LISTED).map(|of| {
        vec![
            Text::value(&of.from).to_string(),
            Text::value(&of.to).to_string(),
            count(of.inputs),
            percent(of.gain.share),
            interval(of.gain.ci95),
            percent(of.lose.share),
            interval(of.lose.ci95),
        ]
    });
    let rows: Vec<Vec<String>> = rows.collect();
    let which = match effect.exchanges.len() > rows.len() {
        true => format!(", the {} most one-sided", rows.len()),
        false => String::new(),
    };
    let caption = format!(
        "Exchanges of one value of {} for another{which}",
        Text::value(&effect.attribute)
    );
    let header = [
        "Value",
        "As",
        &column(stakes.noun()),
        &column(&stakes.gain),
        "95\u{a0}% interval",
        &column(&stakes.lose),
        "95\u{a0}% interval",
    ];
    Table::new(caption, &header, rows)
}

/// The net of each exchange, those who have a value in a row, and what they are given in columns.
fn matrix(effect: &AttributeEffect, stakes: &Stakes, id: String) -> Block {
    // Of many values the most one-sided.
    let mut by_size: Vec<&ValueEffect> = effect.values.iter().collect();
    by_size.sort_by(|a, b| b.net.abs().total_cmp(&a.net.abs()));
    by_size.truncate(MOST);
    let is_shown = |value: &&ValueEffect| by_size.iter().any(|of| of.value == value.value);
    let shown: Vec<&ValueEffect> = effect.values.iter().filter(is_shown).collect();
    let exchange = |from: &str, to: &str| {
        let mut all = effect.exchanges.iter();
        all.find(|of| of.from == from && of.to == to)
    };
    let net = |of: &ExchangeEffect| of.gain.share - of.lose.share;
    let rows = shown.iter().map(|from| {
        let cells = shown.iter().map(|to| {
            let net = exchange(&from.value, &to.value).map(net);
            net.map_or_else(HeatCell::default, |net| HeatCell {
                label: points(net),
                weight: if net.abs() < NOTHING { 0.0 } else { net.abs() },
                is_second: net < 0.0,
            })
        });
        cells.collect()
    });
    let cells: Vec<Vec<HeatCell>> = rows.collect();
    let values: Vec<Text> = shown.iter().map(|of| Text::value(&of.value)).collect();
    let by = Text::value(&effect.attribute);
    let (row_title, column_title) = (
        Text::new(format!("rows: {} with this {by}", stakes.noun())),
        Text::new(format!("columns: the {by} that they are given")),
    );
    let chart = Heat {
        row_title: &row_title,
        column_title: &column_title,
        values: &values,
        cells: &cells,
    };
    let mut header = vec![Text::new("Value \\ as")];
    header.extend(values.iter().cloned());
    header.push("Net".into());
    let rows = shown.iter().map(|from| {
        let mut row = vec![Text::value(&from.value)];
        row.extend(shown.iter().map(|to| {
            let cell = exchange(&from.value, &to.value);
            Text::new(cell.map_or("–".to_owned(), |of| {
                match (of.gain.count, of.lose.count) {
                    (0, 0) => "0.0".to_owned(),
                    (_, 0) => points(of.gain.share),
                    (0, _) => points(-of.lose.share),
                    _ => format!("{} {}", points(of.gain.share), points(-of.lose.share)),
                }
            }))
        }));
        row.push(points(from.net).into());
        row
    });
    let (gain, lose, noun) = (&stakes.gain, &stakes.lose, stakes.noun());
    let all = effect.all_values.max(effect.values.len() as u64);
    let which = match (shown.len() as u64) < all {
        true => format!(" The {MOST} most one-sided of {} values.", count(all)),
        false => String::new(),
    };
    let table = Table {
        caption: format!(
            "Of 100 {noun} with the value of a row, how many {gain} (+) and how many {lose} (-) with the value of a column"
        )
        .into(),
        header,
        rows: rows.collect(),
    };
    let title = format!("Who would gain and who would lose by {by} alone");
    let description = format!(
        "A cell is the share of its row's {noun} that {gain}, less the share that {lose}, in points.{which}"
    );
    Block::titled_figure(&chart, id, title, description, table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::CountedRows;

    fn counted(count: u64, of: u64) -> CountedRows {
        CountedRows {
            count,
            share: count as f64 / of as f64,
            ci95: [0.01, 0.25],
        }
    }

    /// Values of 100 rows each, in the order of their nets, and exchanges in the order of a summary.
    fn effect(
        tendency: Tendency,
        values: &[(&str, f64)],
        exchanges: &[(&str, &str, u64, u64)],
    ) -> AttributeEffect {
        let all_values = values.len() as u64;
        let values = values.iter().map(|&(value, net)| ValueEffect {
            value: value.to_owned(),
            inputs: 100,
            gain: counted(1, 100),
            lose: counted(1, 100),
            net,
        });
        let exchanges = exchanges
            .iter()
            .map(|&(from, to, gain, lose)| ExchangeEffect {
                from: from.to_owned(),
                to: to.to_owned(),
                inputs: 100,
                gain: counted(gain, 100),
                lose: counted(lose, 100),
            });
        AttributeEffect {
            attribute: "sex".to_owned(),
            tendency,
            all_values,
            values: values.collect(),
            exchanges: exchanges.collect(),
        }
    }

    fn stakes(inputs: Inputs) -> Stakes {
        Stakes {
            title: TITLE,
            gain: "would get ‘high’".to_owned(),
            lose: "would lose it".to_owned(),
            inputs,
            is_good: inputs == Inputs::Rows,
        }
    }

    fn said(effect: &AttributeEffect, inputs: Inputs) -> String {
        let said = sentence(effect, &stakes(inputs)).unwrap_or_default();
        said.replace('\u{a0}', " ")
    }

    #[test]
    fn who_would_gain_is_said_both_ways() {
        let values = [("female", 0.1), ("male", -0.1)];
        let exchanges = [("female", "male", 11, 0), ("male", "female", 2, 9)];
        let mut two = effect(Tendency::OneSided, &values, &exchanges);
        assert_eq!(
            said(&two, Inputs::Rows),
            "By sex, ‘female’ is at a disadvantage: as ‘male’, 11.00 % of the 100 ‘female’ rows would get ‘high’ (95 % interval 1.00 % – 25.00 %); as ‘female’, 2.00 % of the 100 ‘male’ rows would."
        );
        assert_eq!(
            said(&two, Inputs::Texts),
            "By sex: with ‘male’ in its place, 11.00 % of the 100 texts that name ‘female’ would get ‘high’ (95 % interval 1.00 % – 25.00 %); with ‘female’ in its place, 2.00 % of the 100 texts that name ‘male’ would."
        );
        // What somebody calls good to get is to the disadvantage of those whom another value gets it.
        let good = Stakes {
            is_good: true,
            ..stakes(Inputs::Texts)
        };
        let text = sentence(&two, &good).unwrap_or_default();
        assert!(
            text.starts_with(
                "By sex, ‘female’ is at a disadvantage: with ‘male’ in its place, 11.00\u{a0}% of the 100 texts that name ‘female’ would"
            ),
            "{text}"
        );
        let both = "as ‘male’, 11.00 % of the 100 ‘female’ rows would get ‘high’ (95 % interval 1.00 % – 25.00 %) and 0.00 % would lose it; as ‘female’, 2.00 % of the 100 ‘male’ rows would get ‘high’ and 9.00 % would lose it.";
        for (tendency, start) in [
            (
                Tendency::Leaning,
                "more often against ‘female’ (90.91 % of the 22 decisions that change): ",
            ),
            (Tendency::Balanced, "in favour of neither value: "),
        ] {
            two.tendency = tendency;
            let expected = format!("By sex it goes both ways, {start}{both}");
            assert_eq!(said(&two, Inputs::Rows), expected);
        }
        // Nor does one who gains hide them.
        let exchanges = [("female", "male", 4, 0), ("male", "female", 0, 66)];
        let hidden = effect(Tendency::OneSided, &values, &exchanges);
        let hidden = said(&hidden, Inputs::Rows);
        assert!(hidden.contains("66.00 % would lose it"), "{hidden}");
        // Few who gain say nothing of those who lose.
        let exchanges = [("female", "male", 2, 0), ("male", "female", 1, 30)];
        let few = effect(Tendency::OneSided, &values, &exchanges);
        let few = said(&few, Inputs::Rows);
        assert!(
            few.ends_with(
                "1.00 % of the 100 ‘male’ rows would get ‘high’ and 30.00 % would lose it."
            ),
            "{few}"
        );
        two.tendency = Tendency::None;
        assert_eq!(sentence(&two, &stakes(Inputs::Rows)), None);
    }

    #[test]
    fn of_many_values_the_nets_are_said_and_drawn_by_sign() {
        let values = [("west", 0.1), ("east", 0.04), ("north", -0.14)];
        let exchanges = [
            ("west", "north", 20, 0),
            ("east", "north", 8, 1),
            ("north", "west", 0, 19),
        ];
        let three = effect(Tendency::OneSided, &values, &exchanges);
        let text = said(&three, Inputs::Rows);
        let nets = " Over all other values, in points: at a disadvantage ‘west’ (10.0) and ‘east’ (4.0); at an advantage ‘north’ (14.0).";
        assert!(text.ends_with(nets), "{text}");
        let Block::Figure(figure) = matrix(&three, &stakes(Inputs::Rows), "x".into()) else {
            panic!("a figure");
        };
        let rows = &figure.data.rows;
        let cells = |row: usize| -> Vec<&str> { rows[row].iter().map(Text::as_str).collect() };
        assert_eq!(cells(0), ["west", "–", "–", "+20.0", "+10.0"]);
        assert_eq!(cells(1), ["east", "–", "–", "+8.0 -1.0", "+4.0"]);
        assert_eq!(cells(2), ["north", "-19.0", "–", "–", "-14.0"]);
        assert!(figure.svg.contains("heat second") && figure.svg.contains("+7.0"));
    }

    #[test]
    fn whom_two_values_meet_together_is_said_first() {
        let met = |origin: &str, gain: u64| Intersection {
            attributes: vec!["sex".to_owned(), "origin".to_owned()],
            values: vec!["female".to_owned(), origin.to_owned()],
            rows: 100,
            gain: counted(gain, 100),
            lose: counted(0, 100),
            others: vec![counted(1, 200), counted(0, 100)],
        };
        let said = |met: &[Intersection]| {
            together(met, &stakes(Inputs::Rows)).map(|said| said.replace('\u{a0}', " "))
        };
        assert_eq!(said(&[]), None);
        assert_eq!(
            said(&[met("south", 28), met("east", 20)]).unwrap(),
            "Together, sex ‘female’ and origin ‘south’ are at a disadvantage: with another sex or origin, 28.00 % of these 100 rows would get ‘high’ (95 % interval 1.00 % – 25.00 %); of the other ‘female’ rows 0.50 % would and of the other ‘south’ rows 0.00 % would. Likewise sex ‘female’ and origin ‘east’ (20.00 % of 100)."
        );
    }

    #[test]
    fn nobody_who_gains_or_loses_needs_no_part() {
        let none = effect(Tendency::None, &[("a", 0.0), ("b", 0.0)], &[]);
        assert_eq!(part(&[none], &stakes(Inputs::Rows), "x"), None);
        assert_eq!(part(&[], &stakes(Inputs::Rows), "x"), None);
    }
}
