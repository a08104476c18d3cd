//! The lines that Probity and a predictor's process exchange, version [`VERSION`].
//!
//! Every line is one JSON object and ends with a line feed; all text is UTF-8. Probity writes a
//! line and waits for one:
//!
//! ```text
//! → {"probity":"predictor","protocol":1,"columns":[…],"label":"income","classes":["low","high"],"rows_at_most":4096}
//! ← {"protocol":1}
//! → {"batch":1,"rows":[[40,"Male",0.5],[41,"Female",1.0]]}
//! ← {"batch":1,"probabilities":[[0.9,0.1],[0.4,0.6]]}
//! ```
//!
//! The process ends when its input does. docs/predictors.md is the full description.

use serde::{Deserialize, Serialize};

use super::error::PredictorError;
use super::probabilities::of_score;
use probity_data::schema::{Attribute, Kind, OutOfDomain, Schema};

use super::values::{Value, value};

/// The version of the protocol that this program speaks.
pub const VERSION: u64 = 1;

/// The number of characters of a bad line that are quoted.
const EXCERPT: usize = 80;

/// The first line that a process gets: all that it needs to know.
#[derive(Debug, Serialize)]
pub struct Greeting<'a> {
    /// The kind of the conversation, always `predictor`.
    pub probity: &'static str,
    /// The version of the protocol.
    pub protocol: u64,
    /// The columns of a row, in order.
    pub columns: Vec<Column<'a>>,
    /// The name of the column to predict.
    pub label: &'a str,
    /// The kind of answer that is asked for: `probabilities` of its classes, or its `number`.
    pub gives: &'static str,
    /// The classes of the label; none where it holds numbers.
    pub classes: &'a [String],
    /// The largest number of rows of a batch.
    pub rows_at_most: usize,
}

/// A column of the rows.
#[derive(Debug, Serialize)]
pub struct Column<'a> {
    /// The name of the column.
    pub name: &'a str,
    /// The kind and domain of the column.
    #[serde(flatten)]
    pub kind: ColumnKind,
    /// The values that may stand in the column in place of a number: words, or numbers outside of
    /// the domain.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub levels: &'a [String],
    /// Whether cells may be `null`: a missing value.
    pub nullable: bool,
}

/// The kind of values that a column holds.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum ColumnKind {
    /// Whole numbers.
    Integer {
        /// The smallest number of the declared domain.
        min: i32,
        /// The largest number of the declared domain.
        max: i32,
    },
    /// Words.
    Categorical {
        /// All words, the one for missing values last.
        values: Vec<serde_json::Value>,
    },
    /// Any finite numbers.
    Numeric {
        /// The smallest number of the declared domain.
        min: f64,
        /// The largest number of the declared domain.
        max: f64,
    },
}

impl<'a> Greeting<'a> {
    /// Creates the greeting for rows of `schema`.
    pub fn new(schema: &'a Schema, rows_at_most: usize) -> Greeting<'a> {
        Greeting {
            probity: "predictor",
            protocol: VERSION,
            columns: schema.attributes.iter().map(Column::new).collect(),
            label: &schema.label.name,
            gives: match schema.label.is_number() {
                true => "number",
                false => "probabilities",
            },
            classes: match schema.label.is_number() {
                true => &[],
                false => &schema.label.classes,
            },
            rows_at_most,
        }
    }
}

impl<'a> Column<'a> {
    fn new(attribute: &'a Attribute) -> Column<'a> {
        let (min, max) = attribute.domain();
        let kind = match &attribute.kind {
            Kind::Integer { min, max } => ColumnKind::Integer {
                min: *min,
                max: *max,
            },
            Kind::Categorical { .. } => ColumnKind::Categorical {
                values: (min..=max)
                    .map(|code| value(attribute, code).json())
                    .collect(),
            },
            Kind::Numeric { bins, .. } => ColumnKind::Numeric {
                min: bins[0],
                max: bins[bins.len() - 1],
            },
        };
        let nullable =
            attribute.outside == OutOfDomain::Level && value(attribute, max) == Value::Missing;
        Column {
            name: &attribute.name,
            kind,
            levels: &attribute.named,
            nullable,
        }
    }
}

/// The answer to the greeting.
#[derive(Debug, Deserialize)]
pub struct Welcome {
    /// The version of the protocol that the process speaks.
    protocol: Option<u64>,
    /// The classes in the order of its probabilities; the schema's order where absent.
    classes: Option<Vec<String>>,
    /// The reason why the process cannot answer.
    error: Option<String>,
}

impl Welcome {
    /// Reads, for each class of `schema`, which of the process's numbers is its probability.
    ///
    /// # Errors
    /// When the line is no welcome, of another version, or names other classes.
    pub fn read(line: &[u8], number: u64, schema: &Schema) -> Result<Vec<usize>, PredictorError> {
        let welcome: Welcome = parse(line, number)?;
        if let Some(error) = welcome.error {
            return Err(PredictorError::Reported(error));
        }
        expect_version(welcome.protocol, line, number)?;
        let ours = match schema.label.is_number() {
            true => &[],
            false => schema.label.classes.as_slice(),
        };
        let Some(theirs) = welcome.classes else {
            return Ok((0..schema.label.answers()).collect());
        };
        let order: Option<Vec<usize>> = ours
            .iter()
            .map(|class| theirs.iter().position(|other| other == class))
            .collect();
        match order {
            Some(_) if theirs.is_empty() && ours.is_empty() => Ok(vec![0]),
            Some(order) if theirs.len() == ours.len() => Ok(order),
            _ => Err(PredictorError::Classes {
                theirs: theirs.join(", "),
                ours: ours.join(", "),
            }),
        }
    }
}

/// The answer to a batch.
#[derive(Debug, Deserialize)]
pub struct Answer {
    /// The number of the batch, as asked.
    batch: Option<u64>,
    /// The probabilities: one list a row, one number a class.
    probabilities: Option<Vec<Vec<f64>>>,
    /// The probabilities of the second of two classes, one number a row; an alternative to
    /// `probabilities`.
    scores: Option<Vec<f64>>,
    /// The numbers that are predicted for a label of numbers, one number a row; they replace
    /// `probabilities`.
    numbers: Option<Vec<f64>>,
    /// The reason why the process cannot answer.
    error: Option<String>,
}

impl Answer {
    /// Reads the probabilities that line `number`, the answer to `batch`, holds for `rows` rows.
    ///
    /// # Errors
    /// When it is no such answer. The probabilities themselves are not looked at.
    pub fn read(
        line: &[u8],
        number: u64,
        batch: u64,
        rows: usize,
    ) -> Result<Vec<Vec<f64>>, PredictorError> {
        let answer: Answer = parse(line, number)?;
        if let Some(error) = answer.error {
            return Err(PredictorError::Reported(error));
        }
        check_batch(answer.batch, batch, line, number)?;
        let probabilities = match (answer.probabilities, answer.scores, answer.numbers) {
            (Some(probabilities), None, None) => probabilities,
            (None, Some(scores), None) => scores.into_iter().map(|s| of_score(s).into()).collect(),
            (None, None, Some(numbers)) => numbers.into_iter().map(|number| vec![number]).collect(),
            _ => {
                let problem =
                    "it must have either \"probabilities\" or \"scores\", or \"numbers\" where they \
                     are asked for"
                        .to_owned();
                return Err(garbage(line, number, problem, 0));
            }
        };
        if probabilities.len() != rows {
            return Err(PredictorError::Rows {
                batch,
                asked: rows,
                found: probabilities.len(),
            });
        }
        Ok(probabilities)
    }
}

/// Returns a number of bytes that exceeds every answer to `rows` rows of `classes` probabilities.
pub fn longest_answer(rows: usize, classes: usize) -> usize {
    (1 << 16) + rows * (16 + 40 * classes)
}

/// Refuses a first line, of number `number`, whose version is not this program's.
pub(crate) fn expect_version(
    theirs: Option<u64>,
    line: &[u8],
    number: u64,
) -> Result<(), PredictorError> {
    match theirs {
        Some(VERSION) => Ok(()),
        Some(theirs) => Err(PredictorError::Protocol {
            theirs,
            ours: VERSION,
        }),
        None => {
            let problem = "the first line must say {\"protocol\": 1}".to_owned();
            Err(garbage(line, number, problem, 0))
        }
    }
}

/// Refuses the answer in line `number` to another batch than `batch`.
pub(crate) fn check_batch(
    answered: Option<u64>,
    batch: u64,
    line: &[u8],
    number: u64,
) -> Result<(), PredictorError> {
    let problem = match answered {
        Some(answered) if answered == batch => return Ok(()),
        Some(other) => format!("it answers batch {other}, not {batch}"),
        None => format!("it lacks \"batch\": {batch}"),
    };
    Err(garbage(line, number, problem, 0))
}

pub(crate) fn parse<'a, T: Deserialize<'a>>(
    line: &'a [u8],
    number: u64,
) -> Result<T, PredictorError> {
    // A list of the members' values would be taken for the object as well.
    if line.trim_ascii_start().first() == Some(&b'[') {
        let problem = "an object is expected, not a list".to_owned();
        return Err(garbage(line, number, problem, 0));
    }
    serde_json::from_slice(line).map_err(|error| {
        let at = error.column().saturating_sub(1);
        let mut problem = error.to_string();
        if let Some(end) = problem.find(" at line ") {
            problem.truncate(end);
        }
        let place = excerpt(line, at);
        if place.starts_with("NaN") || place.contains("Infinity") {
            problem = "NaN and Infinity are no probabilities".into();
        }
        garbage(line, number, problem, at)
    })
}

pub(crate) fn garbage(line: &[u8], number: u64, problem: String, at: usize) -> PredictorError {
    PredictorError::Garbage {
        line: number,
        problem,
        excerpt: format!("'{}'", excerpt(line, at.saturating_sub(EXCERPT / 2))),
    }
}

/// Quotes some characters of `line` from byte `from` on.
pub fn excerpt(line: &[u8], from: usize) -> String {
    let rest = &line[from.min(line.len())..];
    let text = String::from_utf8_lossy(&rest[..rest.len().min(4 * EXCERPT)]);
    let mut shown: String = text
        .trim_end()
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(EXCERPT)
        .collect();
    if text.trim_end().chars().count() > EXCERPT || rest.len() > 4 * EXCERPT {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests;
