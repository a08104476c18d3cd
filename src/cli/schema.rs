//! `probity schema`

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;

use anyhow::anyhow;

use clap::{Args, Subcommand};
use serde::Serialize;

use super::exit_code::ExitCode;
use super::fields::Fields;
use super::numbers::{number, whole};
use super::out::Force;
use super::output::Output;
use super::render::{bad_rows, count, read_counts, table};
use probity::data::bins::Cut;
use probity::data::builtin;
use probity::data::infer::{InferError, InferOptions, Note, Way, infer};
use probity::data::named_schema::named_schema;
use probity::data::schema::{Encoding, Format, Kind, LEAST_THRESHOLD, MOST_THRESHOLD, Schema};
use probity::data::specification::{CheckSpecification, Separator};
use probity::data::table::{Labels, ReadCounts, Table};
use probity::report::text::Text;
use probity::run::list::{named_words, words};

/// Arguments of `probity schema`.
#[derive(Debug, Args)]
pub(super) struct SchemaArgs {
    #[command(subcommand)]
    command: SchemaCommand,
}

#[derive(Debug, Subcommand)]
enum SchemaCommand {
    /// Draft a schema from a file, to be edited
    Infer(InferArgs),
    /// Check a file against a schema
    Check(CheckArgs),
    /// List the built-in schemas
    List,
    /// Print a schema
    Show {
        /// Schema file, or the name of a built-in schema
        schema: String,
    },
}

#[derive(Debug, Args)]
struct InferArgs {
    /// Table: CSV (also .gz, .xz) or Parquet
    file: PathBuf,
    /// Column to predict
    #[arg(long, value_name = "COLUMN")]
    label_column: String,
    /// The column to predict holds numbers, as of a regressor, rather than classes
    #[arg(long)]
    label_number: bool,
    /// The column to predict holds numbers, such as shares of raters, that stand for two classes:
    /// those below this one, and the others
    #[arg(
        long,
        value_name = "NUMBER",
        value_parser = number(LEAST_THRESHOLD..=MOST_THRESHOLD),
        conflicts_with = "label_number",
        allow_hyphen_values = true
    )]
    label_threshold: Option<f64>,
    /// Protected columns, or attributes whose values have a column each, as race_a and race_b of
    /// race
    #[arg(long, value_name = "COLUMN,…")]
    protected: Vec<Words>,
    /// Columns to leave out: all columns of such a name
    #[arg(long, value_name = "COLUMN,…")]
    ignore: Vec<Words>,
    /// The marks of missing values in a column, in place of those that are found in it; none where
    /// nothing but a blank is missing
    #[arg(long, value_name = "COLUMN=MARK,…")]
    missing: Vec<NamedWords>,
    /// Words that are levels of a column, or classes, although they look like marks of missing
    /// values
    #[arg(long, value_name = "COLUMN=WORD,…")]
    level: Vec<NamedWords>,
    /// Columns of which levels that differ only in case, blanks, characters that nobody sees, Unicode
    /// form, a full stop at the end or the order of joined values are one
    #[arg(long, value_name = "COLUMN,…")]
    merge: Vec<Words>,
    /// The class that is good to get: it becomes the last one [default: what the words of the
    /// classes and the name of their column say, else their order]
    #[arg(long, value_name = "CLASS", allow_hyphen_values = true)]
    favourable: Option<String>,
    /// Field separator: one character, 'tab' or 'space' [default: that of ',', ';', '|' and 'tab' by
    /// which the first lines have most fields]
    #[arg(long, value_name = "CHARACTER")]
    separator: Option<Separator>,
    /// The mark before decimals: '.' or ',' [default: as the columns of the file say]
    #[arg(long, value_name = "CHARACTER")]
    decimal: Option<Separator>,
    /// The mark between thousands: '.', ',', an apostrophe or 'space' [default: as the columns of the
    /// file say]
    #[arg(long, value_name = "CHARACTER")]
    thousands: Option<Separator>,
    /// How the text is encoded, such as windows-1252 or shift_jis [default: UTF-8 or UTF-16, else
    /// windows-1252]
    #[arg(long, value_name = "NAME")]
    encoding: Option<Encoding>,
    /// Quote character
    #[arg(long, value_name = "CHARACTER", default_value = "\"")]
    quote: Separator,
    /// Column names by position, for a file without a header
    #[arg(long, value_name = "NAME,…")]
    columns: Vec<Words>,
    /// Leave rows out that have the wrong number of fields, no class, columns of an attribute that
    /// say no one value or bytes that are no text, and count them; the schema will do so, too
    #[arg(long)]
    skip_bad_rows: bool,
    /// Whole numbers spread over more values than this get bins
    #[arg(long, value_name = "N", default_value_t = InferOptions::default().max_integer_span, value_parser = whole::<i64>(0..=i32::MAX.unsigned_abs().into()), allow_hyphen_values = true)]
    max_integer_span: i64,
    /// Bins of other numbers: so many at quantiles, or 'exact', one for each number that occurs, up
    /// to 10000
    #[arg(long, value_name = "N", default_value_t = Cut::default(), allow_hyphen_values = true)]
    bins: Cut,
    /// The most different words a category may have
    #[arg(long, value_name = "N", default_value_t = InferOptions::default().max_words, value_parser = whole::<usize>(1..=1_000_000), allow_hyphen_values = true)]
    max_words: usize,
    /// File for the schema [default: stdout]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
}

/// Several words in one argument, as all lists of options have them.
#[derive(Debug, Clone)]
struct Words(Vec<String>);

impl FromStr for Words {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Words, &'static str> {
        words(text).map(Words)
    }
}

/// The words of all arguments of an option.
fn all(arguments: Vec<Words>) -> Vec<String> {
    arguments.into_iter().flat_map(|words| words.0).collect()
}

/// Several words for one column.
#[derive(Debug, Clone)]
struct NamedWords(String, Vec<String>);

impl FromStr for NamedWords {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<NamedWords, &'static str> {
        named_words(text).map(|(name, words)| NamedWords(name, words))
    }
}

/// The words of all arguments of an option, by column.
fn by_column(arguments: Vec<NamedWords>) -> BTreeMap<String, Vec<String>> {
    let mut columns: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for NamedWords(column, words) in arguments {
        columns.entry(column).or_default().extend(words);
    }
    columns
}

#[derive(Debug, Args)]
struct CheckArgs {
    /// Table: CSV (also .gz, .xz) or Parquet
    file: PathBuf,
    #[command(flatten)]
    fields: Fields<CheckSpecification>,
}

#[derive(Serialize)]
struct CheckSummary {
    schema: String,
    attributes: usize,
    data: ReadCounts,
    class_rows: Vec<(String, u64)>,
    /// Rows without an outcome where others have one.
    #[serde(skip_serializing_if = "is_none")]
    missing_outcomes: u64,
    /// The least and the largest label, where labels are numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    label_range: Option<[f64; 2]>,
}

fn is_none(rows: &u64) -> bool {
    *rows == 0
}

/// Runs `probity schema`.
pub(super) fn run(args: SchemaArgs, output: &Output) -> anyhow::Result<ExitCode> {
    match args.command {
        SchemaCommand::Infer(args) => run_infer(args, output),
        SchemaCommand::Check(args) => run_check(args, output),
        SchemaCommand::List => list(output),
        SchemaCommand::Show { schema: name } => {
            let parsed = named_schema(&name)?.schema;
            let text = match builtin::text(&name) {
                Some(text) => text.to_owned(),
                None => parsed.to_toml()?,
            };
            output.result(&parsed, &text)
        }
    }
}

fn run_infer(args: InferArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let out = args.force.open(args.out.as_ref(), &[&args.file])?;
    let name = args.file.file_name().unwrap_or_default().to_string_lossy();
    let name = name.split('.').next().unwrap_or("table").to_owned();
    let mut options = InferOptions::default();
    let columns = all(args.columns);
    options.format = Format {
        separator: args.separator.unwrap_or_default().character(),
        quote: args.quote.character(),
        header: columns.is_empty(),
        columns,
        decimal: args.decimal.map(Separator::character),
        thousands: args.thousands.map(Separator::character),
        encoding: args.encoding,
        skip_bad_rows: args.skip_bad_rows,
        ..Format::default()
    };
    options.finds_separator = args.separator.is_none();
    options.label = args.label_column;
    options.protected = all(args.protected);
    options.ignore = all(args.ignore);
    options.missing = by_column(args.missing);
    options.level = by_column(args.level);
    options.merge = all(args.merge);
    options.favourable = args.favourable;
    options.number = args.label_number;
    options.label_threshold = args.label_threshold;
    options.max_integer_span = args.max_integer_span;
    options.bins = args.bins;
    options.max_words = args.max_words;
    options.name = name;
    let draft = infer(&args.file, &options).map_err(|error| match error {
        InferError::Unplaced { .. }
        | InferError::AmbiguousNumbers(_)
        | InferError::Encoding { .. } => {
            anyhow!(error.text(Way::command))
        }
        other => other.into(),
    })?;
    let notes = rendered(&draft.notes) + &bad_rows(&draft.bad_rows);
    let text = format!(
        "# Drafted from {} by probity {}: check kinds, domains, bins, and the order of levels and\n# classes ({}).\n{}{}",
        args.file.display(),
        env!("CARGO_PKG_VERSION"),
        said_of_last(&draft.schema.label.classes),
        notes
            .lines()
            .map(|line| format!("# {line}\n"))
            .collect::<String>(),
        draft.schema.to_toml()?
    );
    match out {
        Some(file) => {
            file.write(text.as_bytes())?;
            output.result(
                &draft,
                &format!(
                    "{notes}{} attributes in {}\n",
                    draft.schema.attributes.len(),
                    file.path().display()
                ),
            )
        }
        None => output.result(&draft, &text),
    }
}

/// What speaks of the last of `classes`.
fn said_of_last(classes: &[String]) -> &'static str {
    match classes.len() {
        0..=2 => "F1, AUC and figures of groups speak of the last class",
        _ => "figures of groups speak of the last class, F1 and AUC are means over all",
    }
}

/// A line for each thing that is said, with all columns of which it is.
fn rendered(notes: &[Note]) -> String {
    let mut lines: Vec<(String, Vec<&str>)> = Vec::new();
    for note in notes {
        let text = note.text(Way::command);
        match lines.iter_mut().find(|(said, _)| *said == text) {
            Some((_, columns)) => columns.push(&note.column),
            None => lines.push((text, vec![&note.column])),
        }
    }
    let line = |(said, columns): (String, Vec<&str>)| {
        let each = if columns.len() > 1 { " (each)" } else { "" };
        let called = |column: &str| match column {
            "" => "''".to_owned(),
            column => column.to_owned(),
        };
        let columns: Vec<String> = columns.into_iter().map(called).collect();
        let columns = Text::new(columns.join(", "));
        format!("{columns}{each}: {}.\n", Text::new(said))
    };
    lines.into_iter().map(line).collect()
}

fn run_check(args: CheckArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let specification = args.fields.specification()?;
    let mut schema = named_schema(&specification.schema)?.schema;
    if let Some(policy) = specification.out_of_domain {
        schema = schema.with_policy(policy)?;
    }
    schema = schema.skipping_bad_rows(specification.skip_bad_rows);
    let table = Table::read(&args.file, &schema, Labels::Optional)?;
    let least = table.known_targets().reduce(f64::min);
    let label_range = least.zip(table.known_targets().reduce(f64::max));
    let label_range = label_range.map(|(least, largest)| [least, largest]);
    let mut class_rows: Vec<(String, u64)> = match schema.label.is_number() {
        true => Vec::new(),
        false => schema
            .label
            .classes
            .iter()
            .map(|class| (class.clone(), 0))
            .collect(),
    };
    for class in table.known_labels() {
        class_rows[class as usize].1 += 1;
    }
    let missing_outcomes = table.missing_outcomes();
    let counts = table.counts.clone();
    let mut text = format!(
        "{} fits the schema '{}': {} rows, {} attributes.\n",
        args.file.display(),
        schema.name,
        count(counts.rows),
        schema.attributes.len()
    );
    text.push_str(&read_counts(&counts));
    if !table.is_labelled() && missing_outcomes == 0 {
        text.push_str(&format!(
            "No row has a label in a column '{}'.\n",
            schema.label.name
        ));
    } else if let Some([least, largest]) = label_range {
        let name = &schema.label.name;
        text.push_str(&format!("  {name}: numbers from {least} to {largest}\n"));
    } else {
        for (class, rows) in &class_rows {
            text.push_str(&format!(
                "  {} = {class}: {} rows\n",
                schema.label.name,
                count(*rows)
            ));
        }
    }
    if missing_outcomes > 0 {
        text.push_str(&format!(
            "  {} is missing: {} rows\n",
            schema.label.name,
            count(missing_outcomes)
        ));
    }
    let summary = CheckSummary {
        schema: schema.name,
        attributes: schema.attributes.len(),
        data: counts,
        class_rows,
        missing_outcomes,
        label_range,
    };
    output.summary("schema check", &summary, &text)
}

fn list(output: &Output) -> anyhow::Result<ExitCode> {
    let schemas = builtin::names()
        .filter_map(|name| builtin::schema(name).transpose())
        .collect::<Result<Vec<Schema>, _>>()?;
    let rows: Vec<Vec<String>> = schemas
        .iter()
        .map(|schema| {
            let categorical = schema
                .attributes
                .iter()
                .filter(|attribute| matches!(attribute.kind, Kind::Categorical { .. }));
            let protected: Vec<&str> = schema
                .protected()
                .into_iter()
                .map(|attribute| schema.attributes[attribute].name.as_str())
                .collect();
            vec![
                schema.name.clone(),
                schema.attributes.len().to_string(),
                categorical.count().to_string(),
                schema.label.name.clone(),
                protected.join(", "),
            ]
        })
        .collect();
    let text = table(
        &["schema", "attributes", "categorical", "label", "protected"],
        &rows,
    );
    let names: Vec<&str> = builtin::names().collect();
    let summary = serde_json::json!({"schemas": names});
    output.summary("schema list", &summary, &text)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(subcommand)]
        command: SchemaCommand,
    }

    #[test]
    fn classes_may_be_numbers_below_zero() {
        let line = "schema infer a.csv --label-column y --favourable -1 --protected sex";
        let line = Line::try_parse_from(line.split(' ')).unwrap();
        let SchemaCommand::Infer(args) = line.command else {
            panic!("no arguments of infer");
        };
        assert_eq!(args.favourable.as_deref(), Some("-1"));
        assert_eq!(all(args.protected), ["sex"]);
    }

    #[test]
    fn figures_of_many_classes_are_means() {
        let said = |classes: &[&str]| {
            said_of_last(&classes.iter().map(|&it| it.to_owned()).collect::<Vec<_>>())
        };
        assert!(said(&["no", "yes"]).starts_with("F1, AUC"));
        assert!(said(&["a", "b", "c"]).ends_with("F1 and AUC are means over all"));
    }
}
