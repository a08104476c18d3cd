//! What is said of audits of texts alone: the texts as they are, and the cells of their pairs.

use super::super::chart::{IntervalRow, Intervals};
use super::super::document::{Block, PairCell, Part, Piece, Table};
use super::super::model::{
    DecidedTexts, DecisionTexts, ExchangeShare, Exchanged, MostChanged, NamingTexts, PairEffect,
    Share, TermEffect, TextCounts, TextMoves, TextValues, ValuesOf,
};
use super::super::pairs::{FoundTexts, ShownInputs, ShownPair, replacements};
use super::super::text::{
    Text, count, counted, estimate, fixed, inputs_or_part, interval, listed, percent,
};
use super::disadvantage::{self, Inputs, Stakes};
use super::shares::{InputKind, crossed};

/// Exchanges, and terms, that are listed.
const LISTED: usize = 20;
/// Values of an attribute that are named.
const NAMED: usize = 6;
/// Words that are named of those that keep a value in its place.
const KEPT_BY: usize = 3;
/// Characters of a text before and after what differs.
const AROUND: usize = 140;

/// What the search replaced where a text is as it was.
pub(super) const NOTHING: &str = "nothing";
/// What the columns of pairs are called.
pub(super) const HEADER: [&str; 6] = [
    "Text",
    "Twin",
    "Replaced term",
    "Source text",
    "The search replaced",
    "More texts of the source",
];
/// Columns of these that stand before the decision: what is read first.
pub(super) const FIRST: usize = 3;

/// `12 distinct texts from 3 source texts`.
pub(super) fn counts(found: &FoundTexts) -> String {
    format!(
        "{} from {}",
        counted(found.texts, "distinct text", "distinct texts"),
        counted(found.sources, "source text", "source texts")
    )
}

/// The share of the texts as they are that flip, `share`, in a sentence.
pub(super) fn unmodified(asked: InputKind, share: &Share) -> String {
    let change = asked.change(&share.protected, share.discriminatory);
    if share.sampled == 0 {
        return asked.sentence(share);
    }
    let inputs = inputs_or_part(asked.inputs, share.sampled, asked.there);
    if share.discriminatory == 0 {
        return format!(
            "None of {inputs} gets another decision as it is, unmodified, {change}: 0 of {} (95\u{a0}% interval of the share {}).",
            count(share.sampled),
            interval(share.ci95)
        );
    }
    format!(
        "{} of {inputs} get another decision as they are, unmodified, {change}: {} of {} (95\u{a0}% interval {}).",
        percent(share.rate),
        count(share.discriminatory),
        count(share.sampled),
        interval(share.ci95)
    )
}

/// `1 names`, `2 name`.
fn naming(texts: u64) -> String {
    match texts {
        1 => "1 names".to_owned(),
        texts => format!("{} name", count(texts)),
    }
}

/// What became of the texts.
pub(super) fn read(texts: &TextCounts) -> String {
    let all = counted(texts.texts, "text", "texts");
    let with = count(texts.with_protected_term);
    let without = texts.without_protected_term;
    let mut said = match texts.kept {
        0 => format!(
            "Of {all}, {with} hold a protected term that another can replace and {} hold none and were left out.",
            count(without)
        ),
        kept => format!(
            "Of {all}, {with} hold a protected term that another can replace; {} were left out: {} a protected value that nothing takes the place of, and {} none.",
            count(without),
            naming(kept),
            naming(without.saturating_sub(kept))
        ),
    };
    for (number, [one, more]) in [
        (
            texts.foreign,
            [
                "text is not English: no term was looked for in it",
                "texts are not English: no term was looked for in them",
            ],
        ),
        (texts.blank, ["text has no word", "texts have no word"]),
        (
            texts.truncated,
            [
                "text was longer than is read of one (by the model, or max_length) and was cut there: what follows was not seen",
                "texts were longer than is read of one (by the model, or max_length) and were cut there: what follows was not seen",
            ],
        ),
    ] {
        if number > 0 {
            said.push_str(&format!(" {}.", counted(number, one, more)));
        }
    }
    said
}

/// Which texts name an attribute without its being exchanged in them, by which words, and what is `decided`
/// of these texts and of the others.
pub(super) fn kept(texts: &TextCounts, decided: &[DecidedTexts]) -> Vec<Text> {
    let sentence = |naming: &NamingTexts| {
        let by = naming.kept_by.iter().take(KEPT_BY);
        let by: Vec<String> = by
            .map(|of| format!("‘{}’ (in {})", Text::value(&of.words), count(of.texts)))
            .collect();
        let because = match &by[..] {
            [] => String::new(),
            by => format!(
                "; in {} of them words stand that speak of it as well, such as {}",
                count(naming.by_words),
                listed(by, "and")
            ),
        };
        let others = match (naming.kept > naming.by_words, naming.by_words > 0) {
            (true, true) => {
                " In the others a name or other mention fixes the value, or no value that is exchanged, and whose words the model knows, can take its place."
            }
            (true, false) => {
                " A name or other mention fixes the value, or no value that is exchanged, and whose words the model knows, can take its place."
            }
            (false, _) => "",
        };
        let attribute = Text::value(&naming.attribute);
        let mut said = format!(
            "{} {attribute}, but it is not exchanged there{because}.{others}",
            counted(naming.kept, "text names", "texts name")
        );
        let decided = decided.iter().find(|of| of.attribute == naming.attribute);
        said.extend(
            decided
                .and_then(|of| decisions(of, naming))
                .map(|of| format!(" {of}")),
        );
        Text::new(said)
    };
    texts.naming.iter().map(sentence).collect()
}

/// What is decided of texts in which an attribute is kept, and of those in which it is exchanged, where not
/// all were asked about of so many: of two decisions the share of the last one.
fn decisions(of: &DecidedTexts, naming: &NamingTexts) -> Option<String> {
    let all = |texts: &[DecisionTexts]| texts.iter().map(|of| of.texts).sum::<u64>();
    let shares = |texts: &[DecisionTexts]| -> Option<Vec<String>> {
        let all = all(texts);
        let share = |of: &DecisionTexts| percent(of.texts as f64 / all as f64);
        (all > 0).then(|| texts.iter().map(share).collect())
    };
    let part = |texts: &[DecisionTexts], there: u64| match all(texts) {
        asked if asked < there => format!("{} of ", count(asked)),
        _ => String::new(),
    };
    let (kept, exchanged) = (shares(&of.kept)?, shares(&of.exchanged)?);
    let first = kept.len().saturating_sub(1);
    let first = if kept.len() == 2 { first } else { 0 };
    let named = of.kept.iter().zip(&kept).skip(first).enumerate();
    let named: Vec<String> = named
        .map(|(place, (of, share))| {
            let are = if place == 0 { " are decided" } else { "" };
            format!("{share}{are} ‘{}’", Text::value(&of.decision))
        })
        .collect();
    Some(format!(
        "Of {}these {}; of {}those in which it is exchanged {}.",
        part(&of.kept, naming.kept),
        listed(&named, "and"),
        part(&of.exchanged, naming.texts.saturating_sub(naming.kept)),
        listed(exchanged.get(first..)?, "and")
    ))
}

/// What was done with values that none of the texts name.
pub(super) fn values(values: &TextValues) -> Vec<String> {
    let all = |of: &[ValuesOf]| -> String {
        let of = of
            .iter()
            .map(|of| format!("{} of {}", names(&of.values), Text::value(&of.attribute)));
        listed(&of.collect::<Vec<_>>(), "and")
    };
    let mut said = Vec::new();
    if !values.left_out.is_empty() {
        said.push(format!(
            "Values that none of the texts name were not put in the place of others: {}. With --values all they are.",
            all(&values.left_out)
        ));
    }
    if !values.unnamed.is_empty() {
        said.push(format!(
            "Values that none of the texts name were put in the place of others, too: {}. An exchange for one of them shows how the model reacts to a word that these texts do not have.",
            all(&values.unnamed)
        ));
    }
    said
}

/// Some values, the first ones by name.
fn names(values: &[String]) -> String {
    let named = values
        .iter()
        .take(NAMED)
        .map(|value| format!("‘{}’", Text::value(value)));
    let mut named: Vec<String> = named.collect();
    if values.len() > NAMED {
        named.push(format!("{} others", values.len() - NAMED));
    }
    listed(&named, "and")
}

/// Which way what is decided of texts changes.
pub(super) fn ways(moves: &TextMoves) -> String {
    let Stakes { gain, lose, .. } = stakes(moves);
    format!(
        "With a term exchanged {} {gain} ({}), and {} {lose} ({}).",
        counted(moves.to_positive.count, "text", "texts"),
        percent(moves.to_positive.share),
        count(moves.from_positive.count),
        percent(moves.from_positive.share)
    )
}

/// What texts get by an exchange.
fn stakes(moves: &TextMoves) -> Stakes {
    let is_good = moves.is_favourable_given;
    let [gain, lose] = match moves.gap {
        Some(_) => ["would score higher", "would score lower"].map(str::to_owned),
        None => [
            format!("would get ‘{}’", Text::value(&moves.positive)),
            match is_good {
                true => "would lose it",
                false => "would no longer get it",
            }
            .to_owned(),
        ],
    };
    Stakes {
        title: match is_good {
            true => disadvantage::TITLE,
            false => "Which values decide",
        },
        gain,
        lose,
        inputs: Inputs::Texts,
        is_good,
    }
}

/// Which value of each attribute gets the positive class where another one does not.
pub(super) fn disadvantaged(exchanged: &Exchanged) -> Vec<String> {
    let stakes = exchanged.moves.as_ref().map(stakes);
    let effects = stakes.iter().flat_map(|stakes| {
        let effects = exchanged.effects.iter();
        effects.filter_map(move |effect| disadvantage::sentence(effect, stakes))
    });
    effects.collect()
}

/// The first sentences of an audit of texts: the same, between which classes most change, and how often an
/// exchange changes a decision.
pub(super) fn verdict(exchanged: &Exchanged) -> Vec<String> {
    let mut said = disadvantaged(exchanged);
    let moves = exchanged.moves.as_ref();
    // Whoever says what is good to get is told of that against all others.
    if moves.is_none_or(|moves| !moves.is_favourable_given) {
        said.extend(exchanged.most_changed.as_ref().map(most_changed));
    }
    said.extend(exchanged.per_exchange.last().map(per_exchange));
    said
}

/// Which exchange changes most decisions, and from which class to which.
fn most_changed(of: &MostChanged) -> String {
    let [from, to] = [&of.from, &of.to].map(|value| Text::value(value));
    let [before, after] = [&of.decided[0], &of.decided[1]].map(|class| Text::value(class));
    format!(
        "The exchange that changes most is ‘{to}’ in the place of ‘{from}’: {} of the {} ‘{from}’ get another decision (95\u{a0}% interval {}), most often ‘{after}’ in place of ‘{before}’ ({} of {}).",
        percent(of.changed.share),
        counted(of.texts, "text that names", "texts that name"),
        interval(of.changed.ci95),
        count(of.moved),
        count(of.changed.count)
    )
}

/// How often an exchange changes a decision.
fn per_exchange(of: &ExchangeShare) -> String {
    let names = listed(&of.protected, "or");
    if of.texts == 0 {
        return format!("No text names a value of {names} that could be exchanged.");
    }
    format!(
        "One exchange of a value of {names} for another changes the decision on {} of the texts that name one (95\u{a0}% interval {}), on average over the {} that can be made in a text.",
        percent(of.share),
        interval(of.ci95),
        fixed(of.exchanges_per_text, 1)
    )
}

/// Who would get the positive class, and how often an exchange changes a decision, in figures.
pub(super) fn deciding(exchanged: &Exchanged, id: &str) -> Vec<Part> {
    let moves = exchanged.moves.as_ref();
    let part = moves.and_then(|moves| disadvantage::part(&exchanged.effects, &stakes(moves), id));
    let mut parts: Vec<Part> = part.into_iter().collect();
    if exchanged.per_exchange.is_empty() {
        return parts;
    }
    let of_some = exchanged.per_exchange.iter().any(|of| of.texts > 0);
    let all = exchanged.per_exchange.iter();
    let all: Vec<_> = all.filter(|of| of.texts > 0 || !of_some).collect();
    let rows: Vec<IntervalRow> = all
        .iter()
        .map(|of| IntervalRow::new(&crossed(&of.protected), of.share, of.ci95, 0))
        .collect();
    let cells = all.iter().map(|of| {
        vec![
            crossed(&of.protected),
            percent(of.share),
            interval(of.ci95),
            fixed(of.exchanges_per_text, 1),
            count(of.texts),
        ]
    });
    let header = [
        "Attributes",
        "Share",
        "95\u{a0}% interval",
        "Exchanges in a text",
        "Texts",
    ];
    let title = "Share of the exchanges that change a decision";
    let table = Table::new(title, &header, cells.collect());
    let description = "The share of a text's exchanges that get it another decision, on average over texts: it does not grow with the number of values that a list has.";
    let figure = Block::figure(
        &Intervals { rows: &rows },
        format!("{id}-per-exchange"),
        description,
        table,
    );
    parts.push(Part::new("How often an exchange changes a decision").with_essential(figure));
    parts
}

/// Which exchanges flip texts as they are, and which terms that depends on.
pub(super) fn causes(exchanged: &Exchanged) -> Part {
    let part = Part::new("Which exchanges and terms flip the texts as they are");
    if exchanged.flipped == 0 {
        return part.say(format!(
            "{} of terms were tried on {}. None flips one.",
            counted(exchanged.kinds, "kind of exchange", "kinds of exchanges"),
            counted(exchanged.texts, "text", "texts")
        ));
    }
    let pairs = exchanged.pairs.iter().take(LISTED).map(of_pair);
    let pairs: Vec<Vec<Text>> = pairs.collect();
    let positive = exchanged
        .moves
        .as_ref()
        .map(|moves| Text::value(&moves.positive));
    let positive = positive.unwrap_or_else(|| "positive".into());
    let which = match pairs.len() < exchanged.pairs.len() {
        true => format!("the {LISTED} with the most flips are listed"),
        false => "those that flip a text are listed".to_owned(),
    };
    let part = part.say(format!(
        "{} when a term is exchanged and nothing else. Of {}, by term and direction, {which}. A text counts for each exchange that can be made in it.",
        counted(exchanged.flipped, "text flips", "texts flip"),
        counted(exchanged.kinds, "kind of exchange", "kinds of exchanges")
    ));
    let part = part.with(Block::Table(Table {
        caption:
            "Exchanges by the texts that they flip. Texts: those in which the exchange can be made."
                .into(),
        header: [
            "Exchange",
            "Attribute",
            "Texts",
            "Flipped",
            &format!("To ‘{positive}’"),
            "Share",
            "95\u{a0}% interval",
        ]
        .map(Text::from)
        .into(),
        rows: pairs,
    }));
    if exchanged.terms.is_empty() {
        return part;
    }
    let terms: Vec<Vec<Text>> = exchanged.terms.iter().take(LISTED).map(of_term).collect();
    let share = exchanged.flipped as f64 / exchanged.texts.max(1) as f64;
    let first = exchanged.terms.first().filter(|term| term.alone > 0);
    let part = match first {
        Some(term) => part.say(format!(
            "How much of the share of {} one term makes: were ‘{}’ neither replaced nor put in the place of another, it would be {}; {} of {} flip by no \
             exchange that leaves this term alone.",
            percent(share),
            Text::value(&term.term),
            estimate(term.share_without, term.ci95_without),
            count(term.alone),
            counted(exchanged.flipped, "text", "texts")
        )),
        None => part.say(format!(
            "No text flips by one term alone: the share of {} does not hang on a single one.",
            percent(share)
        )),
    };
    part.with(Block::Table(Table {
        caption: "Terms by what the share would be without them. Only by it: texts that flip by no exchange that leaves the term alone.".into(),
        header: [
            "Term",
            "Attribute",
            "Texts",
            "Flipped",
            "Only by it",
            "Share without it",
            "95\u{a0}% interval",
        ]
        .map(Text::from)
        .into(),
        rows: terms,
    }))
}

fn of_pair(pair: &PairEffect) -> Vec<Text> {
    vec![
        exchange(&pair.from, &pair.to),
        Text::value(&pair.attribute),
        count(pair.texts).into(),
        count(pair.flipped).into(),
        pair.to_positive.map_or("–".into(), |to| count(to).into()),
        percent(pair.rate).into(),
        interval(pair.ci95).into(),
    ]
}

fn of_term(term: &TermEffect) -> Vec<Text> {
    vec![
        Text::value(&term.term),
        Text::value(&term.attribute),
        count(term.texts).into(),
        count(term.flipped).into(),
        count(term.alone).into(),
        percent(term.share_without).into(),
        interval(term.ci95_without).into(),
    ]
}

fn exchange(from: &str, to: &str) -> Text {
    Text::new(format!("{} → {}", Text::value(from), Text::value(to)))
}

/// The cells of a pair, by [`HEADER`].
pub(super) fn cells(pair: &ShownPair) -> Vec<PairCell> {
    let ShownInputs::Texts {
        x,
        other,
        changed,
        source,
        source_row,
    } = &pair.inputs
    else {
        return Vec::new();
    };
    let term = pair.differences.first().map(|difference| {
        PairCell::Pieces(vec![
            Piece::Plain(Text::new(format!(
                "{}: ",
                Text::value(&difference.attribute)
            ))),
            Piece::Marked(exchange(&difference.from, &difference.to)),
        ])
    });
    let row = Piece::Plain(Text::new(format!("row {source_row}: ")));
    let seed = match pair.is_unmodified {
        true => vec![row, Piece::Plain("unmodified".into())],
        false => std::iter::once(row).chain(replaced(source, x)).collect(),
    };
    let replaced: Vec<String> = replacements(changed)
        .map(|(from, to)| format!("{from} → {to}"))
        .collect();
    let [own, twin] = differing(x, other);
    vec![
        PairCell::Pieces(own),
        PairCell::Pieces(twin),
        term.unwrap_or(PairCell::Same("–".into())),
        PairCell::Pieces(seed),
        PairCell::Long(match replaced.is_empty() {
            true => NOTHING.into(),
            false => Text::value(&replaced.join(", ")),
        }),
        PairCell::Same(count(pair.more).into()),
    ]
}

/// The words of a text, each with the blanks after it.
fn words(text: &str) -> Vec<&str> {
    text.split_inclusive(char::is_whitespace).collect()
}

fn is_same(a: &str, b: &str) -> bool {
    a.trim_end() == b.trim_end()
}

/// `source` with the words marked that are others in `x`, cut to their surroundings.
fn replaced(source: &str, x: &str) -> Vec<Piece> {
    let (a, b) = (words(source), words(x));
    // A search replaces words in place. Were there a text of another number of words, all between
    // its ends that are alike would be what differs.
    if a.len() != b.len() {
        let [own, _] = differing(source, x);
        return own;
    }
    let mut pieces: Vec<Piece> = Vec::new();
    let mut plain = String::new();
    for (a, b) in a.iter().zip(&b) {
        if is_same(a, b) {
            plain.push_str(a);
            continue;
        }
        let is_first = pieces.is_empty();
        let between = std::mem::take(&mut plain);
        pieces.push(Piece::Plain(match is_first {
            true => tail(&between),
            false => shortened(&between),
        }));
        let (word, blank) = a.split_at(a.trim_end().len());
        pieces.push(Piece::Marked(Text::value(word)));
        plain.push_str(blank);
    }
    pieces.push(Piece::Plain(head(&plain)));
    pieces
}

/// Two texts with what differs between them marked, cut to its surroundings.
fn differing(x: &str, other: &str) -> [Vec<Piece>; 2] {
    let (a, b) = (words(x), words(other));
    let same = |(a, b): &(&&str, &&str)| is_same(a, b);
    let before = a.iter().zip(&b).take_while(same).count();
    let most = a.len().min(b.len()) - before;
    let after = a
        .iter()
        .rev()
        .zip(b.iter().rev())
        .take(most)
        .take_while(same)
        .count();
    [a, b].map(|words| {
        let end = words.len() - after;
        let marked = words[before..end].concat();
        let (word, blank) = marked.split_at(marked.trim_end().len());
        vec![
            Piece::Plain(tail(&words[..before].concat())),
            Piece::Marked(Text::value(word)),
            Piece::Plain(head(&format!("{blank}{}", words[end..].concat()))),
        ]
    })
}

fn head(text: &str) -> Text {
    match text.char_indices().nth(AROUND) {
        Some((end, _)) => Text::new(format!("{}…", &text[..end])),
        None => Text::new(text),
    }
}

fn tail(text: &str) -> Text {
    let all = text.chars().count();
    match all
        .checked_sub(AROUND)
        .and_then(|start| text.char_indices().nth(start))
    {
        Some((start, _)) if start > 0 => Text::new(format!("…{}", &text[start..])),
        _ => Text::new(text),
    }
}

/// What stands between two words that are marked.
fn shortened(text: &str) -> Text {
    match text.chars().count() > 2 * AROUND {
        true => Text::new(format!("{} {}", head(text), tail(text))),
        false => Text::new(text),
    }
}

#[cfg(test)]
#[path = "texts_tests.rs"]
mod tests;
