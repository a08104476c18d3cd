//! What is said of the pairs of an audit.

use super::super::chart::{Heat, HeatCell};
use super::super::document::{Block, PairCell, PairRow, PairTable, Part, Table};
use super::super::model::{AuditFindings, Modality, Rank};
use super::super::pairs::{
    AttributeFlips, FoundRows, FoundTexts, OTHERS, PairFindings, ShownInputs, ShownPair,
};
use super::super::text::{Text, brief, count, counted, percent};
use super::shares::crossed;
use super::texts::{self, counts};

/// Columns of a table of pairs that show attributes.
const COLUMNS: usize = 30;

/// Which attributes and values flip decisions; nothing if there is no pair.
pub(super) fn flips(audit: &AuditFindings, id: &str) -> Option<Part> {
    let pairs = &audit.pairs;
    if pairs.pairs == 0 {
        return None;
    }
    let mut part = Part::new("Which attributes and values flip decisions");
    if pairs.together.len() > 1 {
        let share = |number: u64| percent(number as f64 / pairs.pairs as f64);
        let rows = pairs.together.iter().map(|together| {
            vec![
                crossed(&together.attributes),
                count(together.pairs),
                share(together.pairs),
            ]
        });
        part = part.with(Block::Table(Table::new(
            "Pairs by what differs between their sides. Of several twins that flip the decision, the search reports one, so a pair may differ in more \
             than it takes.",
            &["Attributes that differ", "Pairs", "Share"],
            rows.collect(),
        )));
    }
    for (place, flips) in pairs.flips.iter().enumerate() {
        part = part.with(heat(flips, format!("{id}-flips{}", place + 1)));
    }
    Some(part)
}

fn heat(flips: &AttributeFlips, id: String) -> Block {
    let attribute = Text::value(&flips.attribute);
    let (row_title, column_title) = match &flips.classes {
        Some([first, second]) => (
            Text::new(format!("rows: value decided ‘{}’", Text::value(first))),
            Text::new(format!("columns: value decided ‘{}’", Text::value(second))),
        ),
        None => (
            Text::new("rows: value of the first side"),
            Text::new("columns: value of the second side"),
        ),
    };
    let values: Vec<Text> = flips
        .values
        .iter()
        .map(|value| Text::value(value))
        .collect();
    let cells = flips.counts.iter().map(|counts| {
        let cells = counts.iter().map(|&pairs| match pairs {
            0 => HeatCell::default(),
            pairs => HeatCell {
                label: brief(pairs),
                weight: pairs as f64,
                is_second: false,
            },
        });
        cells.collect()
    });
    let cells: Vec<Vec<HeatCell>> = cells.collect();
    let chart = Heat {
        row_title: &row_title,
        column_title: &column_title,
        values: &values,
        cells: &cells,
    };
    let corner = match &flips.classes {
        Some([first, second]) => format!("‘{}’ \\ ‘{}’", Text::value(first), Text::value(second)),
        None => "first \\ second".to_owned(),
    };
    let mut header = vec![Text::new(corner)];
    header.extend(values.iter().cloned());
    let rows = values.iter().zip(&flips.counts).map(|(value, counts)| {
        let mut row = vec![value.clone()];
        row.extend(counts.iter().map(|&number| Text::new(count(number))));
        row
    });
    let table = Table {
        caption: format!("Pairs by the values of {attribute}").into(),
        header,
        rows: rows.collect(),
    };
    Block::figure(&chart, id, most_frequent(flips, &values), table)
}

/// The most frequent cell in words.
fn most_frequent(flips: &AttributeFlips, values: &[Text]) -> String {
    let cells = flips.counts.iter().enumerate().flat_map(|(row, counts)| {
        counts
            .iter()
            .enumerate()
            .map(move |(column, &count)| (count, row, column))
    });
    // The first of the largest; values put together say little.
    let is_named = |place: usize| flips.values[place] != OTHERS;
    let cells =
        cells.filter(|&(count, row, column)| count > 0 && is_named(row) && is_named(column));
    let Some((most, row, column)) =
        cells.reduce(|best, cell| if cell.0 > best.0 { cell } else { best })
    else {
        return String::new();
    };
    let share = percent(most as f64 / flips.pairs.max(1) as f64);
    let (row, column) = (&values[row], &values[column]);
    match &flips.classes {
        Some([first, second]) => {
            let (first, second) = (Text::value(first), Text::value(second));
            format!(
                "Most often ‘{row}’ is decided ‘{first}’ where its twin with ‘{column}’ is decided ‘{second}’: {} of {} pairs ({share}).",
                count(most),
                count(flips.pairs)
            )
        }
        None => format!(
            "Most often ‘{row}’ and ‘{column}’ are decided differently: {} of {} pairs ({share}).",
            count(most),
            count(flips.pairs)
        ),
    }
}

/// The cells of a pair after its decision.
type Cells<'a> = Box<dyn Fn(&ShownPair) -> Vec<PairCell> + 'a>;

/// Pairs to browse.
pub(super) fn browsable(audit: &AuditFindings, id: &str, most_pairs: usize) -> Part {
    let pairs = &audit.pairs;
    let part = Part::new("The pairs");
    if pairs.pairs == 0 {
        return part.say(none_found(audit));
    }
    let shown: Vec<&ShownPair> = thinned(&pairs.shown, most_pairs);
    if shown.is_empty() {
        return part.say(format!(
            "{} in the samples file; none is shown here.",
            counted(pairs.pairs, "pair is", "pairs are")
        ));
    }
    let file = Text::value(&audit.summary.samples_file);
    let rank = audit.summary.rank;
    let part = part.say(match (&pairs.texts, &pairs.rows) {
        (Some(found), _) => one_of_each(found, shown.len(), rank),
        (None, rows) => one_of_each_row(pairs, rows.as_ref(), (shown.len(), &file), rank),
    });
    let attributes: Vec<Text> = audit
        .summary
        .protected
        .iter()
        .map(|name| Text::value(name))
        .collect();
    let protected = &audit.summary.protected;
    let (header, cells): (Vec<Text>, Cells<'_>) = match audit.summary.modality == Modality::Text {
        true => (texts::HEADER.map(Text::from).into(), Box::new(texts::cells)),
        false => {
            let order = column_order(pairs, protected);
            let names = order
                .iter()
                .map(|&place| Text::value(&pairs.columns[place]));
            let header = names.chain(["More pairs from it".into()]).collect();
            (
                header,
                Box::new(move |pair| table_cells(pair, pairs, &order)),
            )
        }
    };
    let are_rows = pairs.rows.is_some();
    let hidden = pairs.columns.len().saturating_sub(COLUMNS);
    let has_plausibility = shown.iter().any(|pair| pair.plausibility.is_some());
    // Of texts the two sides come first: without them the decision says nothing.
    let is_text = audit.summary.modality == Modality::Text;
    let first = if is_text { texts::FIRST } else { 0 };
    let rows = shown.into_iter().map(|pair| PairRow {
        number: pair.number,
        gap: pair.gap,
        plausibility: pair.plausibility,
        is_unmodified: pair.is_unmodified,
        attributes: pair
            .differences
            .iter()
            .filter_map(|difference| {
                protected
                    .iter()
                    .position(|name| *name == difference.attribute)
            })
            .collect(),
        cells: {
            let mut own = cells(pair);
            let rest = own.split_off(first.min(own.len()));
            own.into_iter()
                .chain(are_rows.then(|| row_cell(pair)))
                .chain(decision_cells(pair))
                .chain(plausibility_cell(pair))
                .chain(rest)
                .collect()
        },
    });
    let mut rows: Vec<PairRow> = rows.collect();
    let (own, rest) = header.split_at(first);
    let mut all: Vec<Text> = vec!["Pair".into()];
    all.extend_from_slice(own);
    all.extend(are_rows.then(|| "Row of the data".into()));
    all.extend(["Decision".into(), score_name(pairs), "Moves by".into()]);
    all.extend(has_plausibility.then(|| Text::from("Plausibility")));
    all.extend_from_slice(rest);
    if is_text {
        drop_empty(&mut all, &mut rows);
    }
    let table = PairTable {
        id: format!("{id}-pairs"),
        caption: caption(pairs).into(),
        header: all,
        attributes,
        has_plausibility,
        unmodified: match (&pairs.texts, are_rows) {
            (Some(_), _) => Some("Texts"),
            (None, true) => Some("Rows"),
            (None, false) => None,
        },
        are_ranked: rank.is_some(),
        rows,
    };
    let part = part.with(Block::Pairs(table));
    match hidden {
        0 => part,
        hidden => part.say(format!(
            "{hidden} of {} attributes are left out of this table.",
            pairs.columns.len()
        )),
    }
}

/// Leaves out the columns of pairs that say nothing of any.
fn drop_empty(header: &mut Vec<Text>, rows: &mut [PairRow]) {
    let says_nothing = |cell: &PairCell| match cell {
        PairCell::Same(text) | PairCell::Long(text) => {
            matches!(text.as_str(), "–" | "0" | texts::NOTHING)
        }
        PairCell::Changed(..) | PairCell::Pieces(_) => false,
    };
    // The first column, the number of the pair, is no cell.
    for column in (1..header.len()).rev() {
        let mut cells = rows.iter().filter_map(|row| row.cells.get(column - 1));
        if cells.all(says_nothing) {
            header.remove(column);
            for row in rows.iter_mut().filter(|row| row.cells.len() >= column) {
                row.cells.remove(column - 1);
            }
        }
    }
}

/// What a table of pairs shows.
fn caption(pairs: &PairFindings) -> String {
    let source = match pairs.texts.is_some() {
        true => " In the source it is what the search replaced.",
        false => "",
    };
    format!(
        "Pairs of inputs that the model decides differently. Marked is what differs: the first side, an arrow, the twin.{source} {}, on \
         both sides.",
        score(pairs)
    )
}

/// What the score of a pair is.
pub(super) fn score(pairs: &PairFindings) -> String {
    match (&pairs.score_class, pairs.gaps.are_numbers) {
        (_, true) => "The score is the number that the model gives".to_owned(),
        (Some(class), _) => format!(
            "The score is the model's probability of ‘{}’",
            Text::value(class)
        ),
        (None, _) => {
            "The score is the model's probability of what it decides for the first side of a pair"
                .to_owned()
        }
    }
}

/// Returns what scores are of, as the name of a column.
fn score_name(pairs: &PairFindings) -> Text {
    match (&pairs.score_class, pairs.gaps.are_numbers) {
        (_, true) => "Number".into(),
        (Some(class), _) => Text::new(format!("Score of ‘{}’", Text::value(class))),
        (None, _) => "Score of the first decision".into(),
    }
}

/// Which of the pairs of texts are shown.
fn one_of_each(found: &FoundTexts, shown: usize, rank: Option<Rank>) -> String {
    let which = match shown as u64 == found.sources {
        true => "One pair of each source is shown".to_owned(),
        false => format!("Of {shown} sources one pair each is shown"),
    };
    let counts = counts(found);
    if let Some(rank) = rank {
        let unmodified = counted(
            found.unmodified,
            "source flips as it is",
            "sources flip as they are",
        );
        return format!(
            "{counts}. {which}, {}. {unmodified}. All pairs are in the samples file.",
            worst(rank)
        );
    }
    let unmodified = counted(found.unmodified, "source", "sources");
    format!(
        "{counts}. {which}, the most severe first: the source itself where it flips as it is ({unmodified}), else the text with the fewest replaced words, of equally \
         many the most similar one. Severity is how far the score moves. All pairs are in the samples file."
    )
}

/// Which pair of each source is shown where an audit ranked its pairs, and in which order.
fn worst(rank: Rank) -> &'static str {
    match rank {
        Rank::Gap => "the one whose score moves farthest, and of these that first whose score does",
        Rank::Density => "the most plausible one, and of these the most plausible first",
    }
}

/// That there is no pair, and what follows.
fn none_found(audit: &AuditFindings) -> String {
    let at_most = match audit.summary.share().filter(|joint| joint.sampled > 0) {
        Some(joint) => format!(
            " How common it can be at most is said by the interval of the share: {}.",
            percent(joint.ci95[1])
        ),
        None => String::new(),
    };
    format!(
        "The search found no pair. That alone does not show that there is none.{at_most} Single inputs can be proved fair by probity certify."
    )
}

/// Which of the pairs of rows are shown.
fn one_of_each_row(
    pairs: &PairFindings,
    rows: Option<&FoundRows>,
    (shown, file): (usize, &Text),
    rank: Option<Rank>,
) -> String {
    let first = match rank {
        None => {
            " Real people come first: the pairs of rows that are as they stand in the data, then those of rows that the search changed in other \
             attributes to get there."
        }
        Some(_) => "",
    };
    let all = match rows {
        Some(rows) => format!(
            "The search found {} from {}, of which {}.{first}",
            counted(pairs.pairs, "pair", "pairs"),
            counted(rows.rows, "row of the data", "rows of the data"),
            counted(rows.unmodified, "flips as it is", "flip as they are")
        ),
        None => format!(
            "The search found {}. It begins at random inputs, so none of them is a row of the data.",
            counted(pairs.pairs, "pair", "pairs")
        ),
    };
    let which = match rank {
        None => {
            "the one with the fewest changes, and of these the most severe first. Severity is how far the score moves"
        }
        Some(rank) => worst(rank),
    };
    format!("{all} One pair of each is shown, {shown} in all: {which}. All pairs are in {file}.")
}

/// Whether a row is as it stands in the data.
fn row_cell(pair: &ShownPair) -> PairCell {
    PairCell::Same(match pair.is_unmodified {
        true => "as it is".into(),
        false => "changed".into(),
    })
}

/// At most `most` pairs, spread over those shown so that no attribute is crowded out.
fn thinned(shown: &[ShownPair], most: usize) -> Vec<&ShownPair> {
    let count = shown.len();
    if count <= most {
        return shown.iter().collect();
    }
    let severe = most / 2;
    let rest = &shown[severe..];
    let evenly = (0..most - severe).map(|place| &rest[place * rest.len() / (most - severe)]);
    shown[..severe].iter().chain(evenly).collect()
}

fn decision_cells(pair: &ShownPair) -> [PairCell; 3] {
    let changed = |[from, to]: [Text; 2]| PairCell::Changed(from, to);
    let labels = [Text::value(&pair.labels[0]), Text::value(&pair.labels[1])];
    [
        changed(labels),
        PairCell::Same(Text::new(format!(
            "{:.3} → {:.3}",
            pair.scores[0], pair.scores[1]
        ))),
        PairCell::Same(Text::new(format!("{:.3}", pair.gap))),
    ]
}

/// Returns how plausible a pair is, where that is known.
fn plausibility_cell(pair: &ShownPair) -> Option<PairCell> {
    let share = pair.plausibility?;
    Some(PairCell::Same(Text::new(percent(share))))
}

/// Places of the columns that are shown, the protected ones first.
fn column_order(pairs: &PairFindings, protected: &[String]) -> Vec<usize> {
    let is_protected = |place: &usize| protected.contains(&pairs.columns[*place]);
    let all = 0..pairs.columns.len();
    let (first, rest): (Vec<usize>, Vec<usize>) = all.partition(is_protected);
    first.into_iter().chain(rest).take(COLUMNS).collect()
}

fn table_cells(pair: &ShownPair, pairs: &PairFindings, order: &[usize]) -> Vec<PairCell> {
    let ShownInputs::Values(values) = &pair.inputs else {
        return Vec::new();
    };
    let cell = |&place: &usize| {
        let name = &pairs.columns[place];
        let difference = pair
            .differences
            .iter()
            .find(|difference| difference.attribute == *name);
        match difference {
            Some(difference) => {
                PairCell::Changed(Text::value(&difference.from), Text::value(&difference.to))
            }
            None => PairCell::Same(Text::value(&values[place])),
        }
    };
    let more = PairCell::Same(count(pair.more).into());
    order.iter().map(cell).chain([more]).collect()
}
