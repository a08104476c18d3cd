//! `probity explain`

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;
use serde_json::Value;
use tempfile::NamedTempFile;

use super::exit_code::ExitCode;
use super::fields::Fields;
use super::inputs::Threads;
use super::output::Output;
use super::predictor::started_here;
use super::render::{count, counted, not_taken, percent, table};
use probity::fairness::explain::specification::ExplainSpecification;
use probity::fairness::explain::{
    Decision, Direction, Ending, Explanation, Undoing, UndoingSummary, Variant, explain,
};
use probity::fairness::modality::{Change, ModalityName};
use probity::fairness::opened::open_texts;

mod person;

/// Variants that are shown at most; where there are more, only those that flip.
const SHOWN: usize = 100;

/// Arguments of `probity explain`.
#[derive(Debug, Args)]
#[command(
    after_help = "Rows have the numbers that they have in the file, from 1, also where others are left out."
)]
pub(super) struct ExplainArgs {
    #[command(flatten)]
    fields: Fields<ExplainSpecification>,
    /// Texts with the one that is explained, or such as that of --text: a text a line (.txt), or a
    /// table with --text-column
    #[arg(
        long,
        conflicts_with = "data",
        value_name = "FILE",
        help_heading = "Text"
    )]
    texts: Option<PathBuf>,
    /// Explain this one text; which words may stand in it, the texts of --texts say
    #[arg(long, conflicts_with_all = ["data", "row"], help_heading = "Text")]
    text: Option<String>,
    /// Run of counterparts or situations: with whom the person in the row was compared there, and in
    /// what they differ
    #[arg(
        long,
        conflicts_with_all = ["texts", "text"],
        value_name = "DIR",
        help_heading = "Comparisons of people"
    )]
    run: Option<PathBuf>,
    #[command(flatten)]
    threads: Threads,
}

/// Runs `probity explain`.
pub(super) fn run(mut args: ExplainArgs, output: &Output) -> anyhow::Result<ExitCode> {
    if let Some(run) = &args.run {
        return person::run(run, &args.fields, &args.threads, output);
    }
    // It lasts until the text is explained.
    let _file = match (&args.text, &args.texts) {
        (Some(text), others) => Some(text_first(text, others.as_deref(), &mut args.fields)?),
        (None, Some(texts)) => {
            args.fields.set_texts(texts)?;
            None
        }
        (None, None) => None,
    };
    started_here(&mut args.fields)?;
    let specification = args.fields.specification()?;
    args.threads.apply()?;
    let explanation = explain(&specification)?;
    for remark in &explanation.remarks {
        output.remark(remark);
    }
    output.summary("explain", &explanation, &render(&explanation))
}

/// Writes `text` as the first one of a table, before those in the file `others`, if there is one;
/// `fields` then name the table and its first row.
fn text_first(
    text: &str,
    others: Option<&Path>,
    fields: &mut Fields<ExplainSpecification>,
) -> anyhow::Result<NamedTempFile> {
    const COLUMN: &str = "text";
    if fields.is_given("text.column") && others.is_none() {
        bail!("--text-column has no meaning with --text where there is no --texts");
    }
    if text.trim().is_empty() {
        bail!("--text is empty; give it the text to explain");
    }
    let column = fields.get("text.column").and_then(Value::as_str);
    let skip = fields.get("skip_bad_rows").and_then(Value::as_bool);
    let others = others.map(|file| open_texts(file, column, skip.unwrap_or_default()));
    let others = others
        .transpose()?
        .map_or_else(Vec::new, |opened| opened.value.texts);
    let file = tempfile::Builder::new().suffix(".csv").tempfile()?;
    let mut table = csv::Writer::from_writer(file.as_file());
    table.write_record([COLUMN])?;
    let others = others.iter().map(String::as_str);
    for text in [text].into_iter().chain(others) {
        // A blank one says nothing, and would be refused.
        if !text.trim().is_empty() {
            table.write_record([text])?;
        }
    }
    table.flush()?;
    drop(table);
    fields.set_texts(file.path())?;
    fields.set("text.column", COLUMN);
    fields.set("row", 1);
    Ok(file)
}

fn render(explained: &Explanation) -> String {
    let kind = match explained.modality {
        ModalityName::Table => "Row",
        ModalityName::Text => "Text",
    };
    let own = &explained.decision;
    let watched = watched(explained);
    let mut text = not_taken(&explained.not_taken, &explained.protected);
    text += &match explained.classes.contains(&own.class) {
        _ if own.number.is_some() => format!("{kind} {}: {}.\n", explained.row, own.class),
        true => format!(
            "{kind} {}: {} with {}.\n",
            explained.row,
            own.class,
            percent(of_class(explained, own, &own.class))
        ),
        false => format!(
            "{kind} {}: {}; {watched} with {}.\n",
            explained.row,
            own.class,
            percent(of_class(explained, own, watched))
        ),
    };
    text.push_str(&variants_table(explained));
    text.push_str(&said_of_flips(explained));
    if let Some(undoing) = &explained.undoing {
        text.push_str(&undone(explained, undoing));
    }
    text
}

/// The probability of `class` by `decision`.
fn of_class(explained: &Explanation, decision: &Decision, class: &str) -> f64 {
    let place = explained.classes.iter().position(|known| known == class);
    place.map_or(0.0, |place| decision.probabilities[place])
}

/// The class whose probabilities are shown: the favourable one, else that of the input, and the last
/// one where nothing is decided of it.
fn watched(explained: &Explanation) -> &str {
    let own = &explained.decision.class;
    let is_class = explained.classes.contains(own);
    let last = explained.classes.last().filter(|_| !is_class);
    let favourable = explained.favourable.as_deref();
    favourable.unwrap_or(last.unwrap_or(own))
}

fn variants_table(explained: &Explanation) -> String {
    let is_long = explained.variants.len() > SHOWN;
    let is_shown = |it: &&Variant| !is_long || it.flips || it.changed.is_empty();
    let watched = watched(explained);
    let rows: Vec<Vec<String>> = explained
        .variants
        .iter()
        .filter(is_shown)
        .take(SHOWN)
        .map(|variant| {
            let mut cells: Vec<String> = match explained.modality {
                ModalityName::Table => variant
                    .values
                    .iter()
                    .map(|value| {
                        let mut changed = variant.changed.iter();
                        let is_changed = changed.any(|it| it.attribute == value.attribute);
                        format!("{}{}", value.value, if is_changed { " *" } else { "" })
                    })
                    .collect(),
                ModalityName::Text => vec![match variant.changed.first() {
                    Some(change) => change.to_string(),
                    None => "as it is".to_owned(),
                }],
            };
            let decision = &variant.decision;
            cells.push(decision.class.clone());
            if decision.number.is_none() {
                cells.push(percent(of_class(explained, decision, watched)));
            }
            cells.push(flip(variant).to_owned());
            cells
        })
        .collect();
    let mut header: Vec<&str> = match explained.modality {
        ModalityName::Table => explained.protected.iter().map(String::as_str).collect(),
        ModalityName::Text => vec!["replaced"],
    };
    let probability = format!("p({watched})");
    header.push("predicted");
    if explained.decision.number.is_none() {
        header.push(&probability);
    }
    header.push("");
    let mut text = table(&header, &rows);
    let left_out = explained.variants.len() - rows.len();
    if left_out > 0 {
        text.push_str(&format!(
            "{} more variants are among those that --json prints.\n",
            count(left_out as u64)
        ));
    }
    text
}

fn flip(variant: &Variant) -> &'static str {
    match (variant.flips, variant.direction) {
        (false, _) => "",
        (true, None) => "FLIPS",
        (true, Some(Direction::ToFavourable)) => "FLIPS to favourable",
        (true, Some(Direction::FromFavourable)) => "FLIPS from favourable",
        (true, Some(Direction::BetweenOthers)) => "FLIPS between others",
    }
}

fn said_of_flips(explained: &Explanation) -> String {
    let all = explained.variants.len() as u64;
    let is_number = explained.decision.number.is_some();
    match explained.flips {
        0 => format!(
            "Not discriminatory: all {} variants get {}.\n",
            count(all),
            match is_number {
                true => "a number within the gap",
                false => "this class",
            }
        ),
        flips => format!(
            "Discriminatory: {} of {} variants get {}.\n",
            count(flips),
            count(all),
            match is_number {
                true => "a number beyond the gap",
                false => "another class",
            }
        ),
    }
}

fn undone(explained: &Explanation, undoing: &UndoingSummary) -> String {
    let (one, more) = match explained.modality {
        ModalityName::Table => ("attribute", "attributes"),
        ModalityName::Text => ("word", "words"),
    };
    let mut text = String::new();
    if !undoing.changes.is_empty() {
        let alike = match explained.decision.number {
            None => "get one class",
            Some(_) => "are within the gap of each other",
        };
        text.push_str(&format!(
            "\nThe smallest changes after which all variants {alike}:\n"
        ));
        let rows: Vec<Vec<String>> = undoing.changes.iter().map(change_cells).collect();
        text.push_str(&table(&["change", more, "distance", "class"], &rows));
    }
    let asked = format!(
        "{} tried, {} of the model",
        counted(undoing.tried, "change", "changes"),
        counted(undoing.calls, "question", "questions")
    );
    text.push_str(&match (undoing.ending, undoing.changes.is_empty()) {
        (Ending::Found, _) => format!("Proven smallest: everything smaller was tried ({asked}).\n"),
        (Ending::Exhausted, false) => format!(
            "Proven smallest: no other set of {more} that may change does it ({asked}).\n"
        ),
        (Ending::Exhausted, true) if undoing.tried == 0 => match explained.modality {
            ModalityName::Table => "No change was tried: nothing else of it may change.\n".into(),
            ModalityName::Text => {
                "No change was tried: no word may change, or no near one fits its place.\n".into()
            }
        },
        (Ending::Exhausted, true) => {
            format!("No change of what may change undoes it: all were tried ({asked}).\n")
        }
        (Ending::Budget, false) => format!(
            "Proven smallest; the budget of {} questions ended before further ones were found ({asked}; --max-calls).\n",
            count(undoing.max_calls)
        ),
        (Ending::Budget, true) => format!(
            "Not known: no change of up to {} undoes it, and the budget of {} questions ended ({asked}; --max-calls).\n",
            counted(undoing.complete as u64, one, more),
            count(undoing.max_calls)
        ),
    });
    text.push_str(&said_of_fluency(
        explained.fluency_texts,
        !undoing.changes.is_empty(),
    ));
    text
}

/// By what the words of changes were chosen, where that was the only text, or where it may be why no
/// change was found.
fn said_of_fluency(texts: Option<u64>, is_undone: bool) -> String {
    match texts {
        Some(0) => {
            "No other texts say which words go together, so that a changed text may read as nobody \
                    would write it: --texts beside --text, --ngrams or --fluency-model say so.\n"
                .to_owned()
        }
        Some(texts) if !is_undone => format!(
            "A word is tried where it stands between the same words somewhere in the {} texts; --ngrams \
             of more texts, or --fluency-model, let others be tried.\n",
            count(texts)
        ),
        _ => String::new(),
    }
}

fn change_cells(undoing: &Undoing) -> Vec<String> {
    let changes = undoing.changes.iter().map(Change::to_string);
    vec![
        changes.collect::<Vec<_>>().join("; "),
        undoing.changes.len().to_string(),
        format!("{:.3}", undoing.distance),
        undoing.class.clone(),
    ]
}
