//! The comparison of an imported network's answers with those of the original, before anything is
//! saved.
//!
//! A weight file does not say how texts were split, at which token a network stops, or what stands
//! between its parts. A few answers of the original do.

use std::path::Path;

use serde::Serialize;

use super::error::ImportRunError;
use crate::decision::{Score, probabilities};
use crate::fnn::Fnn;
use crate::model::Model;
use crate::text::PADDING;
use crate::text_model::TextModel;
use crate::train::parallel_logits;
use crate::{Classifier, Rows, predicted_class};
use probity_data::read::{Place, Record as Row};
use probity_data::source::DataFile;
use probity_data::table::{Labels, ReadCounts, Table};
use probity_run::specification::file::Record;
use probity_tensor::device::ComputeDevice;
use probity_text::corpus::text_records;

/// The largest difference of two probabilities that count as the same: two computations in f32 are
/// much closer.
const TOLERANCE: f64 = 1e-3;
/// The most differing answers that a message shows.
const SHOWN: usize = 3;
/// The most characters of a text that a message shows.
const SHOWN_CHARACTERS: usize = 80;
/// The number of inputs that the network is asked about at a time.
const CHUNK: usize = 1024;
/// The column of the texts unless another is named, and that of their classes.
const TEXT: &str = "text";
const LABEL: &str = "label";

/// The agreement of an imported network's answers with those of the original.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Agreement {
    /// The number of inputs that both answered.
    pub inputs: usize,
    /// The number of rows of a table without an answer of the original, which are left out.
    #[serde(rename = "rows_without_outcome", skip_serializing_if = "is_none")]
    pub without_outcome: u64,
    /// The number of texts without a word, which a network cannot answer.
    #[serde(skip_serializing_if = "is_none")]
    pub blank: u64,
    /// The counts of what reading a table changed or left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<ReadCounts>,
    /// The largest difference of a probability, or of a regressor's number, where the original's were
    /// given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest_difference: Option<f64>,
}

fn is_none(rows: &u64) -> bool {
    *rows == 0
}

/// The answer of the original to one input.
struct Answer {
    class: Option<u32>,
    /// The classes and their probabilities.
    probabilities: Vec<(usize, f64)>,
}

/// Compares the answers to the texts in `file`, which stand in its column `column`.
pub(super) fn compare_texts(
    file: &Path,
    column: Option<&str>,
    model: &TextModel,
    record: &mut Record,
) -> Result<Agreement, ImportRunError> {
    let refused = |problem: String| ImportRunError::Reference {
        file: file.to_owned(),
        problem,
    };
    let opened = DataFile::open(file)?;
    let mut records = text_records(&opened)?;
    let text_column = records.require(column.unwrap_or(TEXT))?;
    let label_column = records.position(LABEL);
    let classes = model.classes.iter().enumerate();
    let columns: Vec<(usize, usize)> = classes
        .filter_map(|(class, name)| Some((class, records.position(name)?)))
        .filter(|(_, at)| *at != text_column && Some(*at) != label_column)
        .collect();
    if label_column.is_none() && columns.is_empty() {
        return Err(refused(format!(
            "it has neither a column '{LABEL}' nor one named like a class ({}); its columns are {}",
            model.classes.join(", "),
            records.names().join(", ")
        )));
    }
    let (mut texts, mut answers) = (Vec::new(), Vec::new());
    let mut blank = 0;
    while let Some(row) = records.advance()? {
        let text = row.cell(text_column)?;
        let class = label_column.map(|at| class_in(&row, at, &model.classes));
        let probabilities = columns.iter().map(|&(class, at)| {
            let probability = row.number(at)?.filter(|p| (0.0..=1.0).contains(p));
            let unfit = || {
                refused(format!(
                    "{}: '{}' is no probability",
                    row.place(),
                    row.column(at)
                ))
            };
            Ok((class, probability.ok_or_else(unfit)?))
        });
        let answer = Answer {
            class: class.transpose().map_err(refused)?,
            probabilities: probabilities.collect::<Result<_, ImportRunError>>()?,
        };
        let mut ids = model.reader.encode(text)?.ids;
        // A network has no answer to a text without words.
        if ids.is_empty() {
            blank += 1;
            continue;
        }
        ids.resize(model.reader.max_length, PADDING);
        texts.push((text.to_owned(), ids));
        answers.push(answer);
    }
    drop(records);
    record
        .sha256
        .insert("reference".to_owned(), opened.sha256()?);
    let network = model.network(model.reader.max_length, &ComputeDevice::flex())?;
    let mut comparison = Comparison::new(&model.classes);
    for (texts, answers) in texts.chunks(CHUNK).zip(answers.chunks(CHUNK)) {
        let codes: Vec<i32> = texts.iter().flat_map(|(_, ids)| ids).copied().collect();
        let logits = network.logits(Rows::new(&codes, model.reader.max_length))?;
        let logits = logits.chunks_exact(model.classes.len());
        for ((logits, answer), (text, _)) in logits.zip(answers).zip(texts) {
            comparison.add(logits, answer, || format!("\"{}\"", shortened(text)));
        }
    }
    let agreement = comparison.agreement("texts").map_err(refused)?;
    Ok(Agreement { blank, ..agreement })
}

/// Compares the answers to the rows in `file`, whose classes are the original's; rows without a
/// class are left out.
pub(super) fn compare_rows(
    file: &Path,
    model: &Model,
    record: &mut Record,
) -> Result<Agreement, ImportRunError> {
    let refused = |problem: String| ImportRunError::Reference {
        file: file.to_owned(),
        problem,
    };
    let read = Table::read_hashed(file, &model.schema, Labels::Optional)?;
    record.sha256.insert("reference".to_owned(), read.sha256);
    let (all, label) = (read.value, &model.schema.label);
    let answered: Vec<u32> = (0..all.rows() as u32)
        .filter(|&row| all.has_label(row as usize))
        .collect();
    if answered.is_empty() {
        return Err(refused(format!(
            "no row has an answer of the original in a column '{}'",
            label.name
        )));
    }
    let table = all.select(&answered);
    let number = |row: usize| format!("row {}", all.numbers().number(answered[row] as usize));
    let network = Fnn::new(&model.network, &ComputeDevice::flex());
    let comparison = if label.is_number() {
        let logits = parallel_logits(&network, &table)?;
        Comparison::of_numbers(&logits, table.targets(), number)
    } else {
        let mut comparison = Comparison::new(&label.classes);
        let codes = table.codes().chunks(CHUNK * table.width().max(1));
        let mut rows = table.labels().iter().enumerate();
        for codes in codes {
            let logits = network.logits(Rows::new(codes, table.width()))?;
            let logits = logits.chunks_exact(label.classes.len());
            for (logits, (row, &class)) in logits.zip(rows.by_ref()) {
                let answer = Answer {
                    class: Some(class),
                    probabilities: Vec::new(),
                };
                comparison.add(logits, &answer, || number(row));
            }
        }
        comparison
    };
    let agreement = comparison.agreement("rows").map_err(refused)?;
    Ok(Agreement {
        without_outcome: (all.rows() - table.rows()) as u64,
        data: Some(all.counts.clone()),
        ..agreement
    })
}

/// Returns the class in a cell: by its name, else by its number.
fn class_in(row: &Row<'_>, column: usize, classes: &[String]) -> Result<u32, String> {
    let word = row.cell(column).map_err(|error| error.to_string())?;
    let place: Place = row.place();
    let named = classes.iter().position(|class| class == word);
    let numbered = || word.parse().ok().filter(|&class| class < classes.len());
    let class = named.or_else(numbered).map(|class| class as u32);
    class.ok_or_else(|| {
        let classes = classes.join(", ");
        format!("{place}: '{word}' is no class; the network tells apart {classes}")
    })
}

/// Returns the first characters of `text`.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A comparison of answers, one by one.
struct Comparison<'a> {
    classes: &'a [String],
    inputs: usize,
    differing: usize,
    shown: Vec<String>,
    largest_difference: Option<f64>,
}

impl Comparison<'_> {
    fn new(classes: &[String]) -> Comparison<'_> {
        Comparison {
            classes,
            inputs: 0,
            differing: 0,
            shown: Vec::new(),
            largest_difference: None,
        }
    }

    /// Compares the numbers that `logits` give for rows with those of the original: they may differ
    /// by a thousandth of the range of the original's. `name` names a row.
    fn of_numbers(
        logits: &[f32],
        theirs: &[f64],
        name: impl Fn(usize) -> String,
    ) -> Comparison<'static> {
        let mut comparison = Comparison::new(&[]);
        let theirs = theirs.iter().copied();
        let least = theirs.clone().fold(f64::INFINITY, f64::min);
        let allowed = TOLERANCE * (theirs.clone().fold(f64::NEG_INFINITY, f64::max) - least);
        for (own, theirs) in logits.chunks_exact(2).zip(theirs) {
            let own = Score::Number.compute(own);
            let row = comparison.inputs;
            comparison.inputs += 1;
            let difference = (own - theirs).abs();
            let largest = comparison.largest_difference.get_or_insert(0.0);
            *largest = largest.max(difference);
            if difference > allowed || difference.is_nan() {
                comparison.differ(|| format!("{}: {own}, not {theirs}", name(row)));
            }
        }
        comparison
    }

    /// Counts an answer that differs; `shown` describes it.
    fn differ(&mut self, shown: impl FnOnce() -> String) {
        self.differing += 1;
        if self.shown.len() < SHOWN {
            self.shown.push(shown());
        }
    }

    /// Compares the network's answer with the original's; `input` names what was asked.
    fn add(&mut self, logits: &[f32], answer: &Answer, input: impl Fn() -> String) {
        self.inputs += 1;
        let own = probabilities(logits);
        let mut differs = None;
        for &(class, theirs) in &answer.probabilities {
            let difference = (own[class] - theirs).abs();
            let largest = self.largest_difference.get_or_insert(0.0);
            *largest = largest.max(difference);
            if difference > TOLERANCE {
                let name = &self.classes[class];
                differs = Some(format!("{name} {:.4}, not {theirs:.4}", own[class]));
            }
        }
        if let Some(theirs) = answer.class {
            let class = predicted_class(logits) as usize;
            // Either class may win where both are as likely.
            if own[class] - own[theirs as usize] > TOLERANCE {
                let (ours, theirs) = (&self.classes[class], &self.classes[theirs as usize]);
                differs = Some(format!("{ours} ({:.4}), not {theirs}", own[class]));
            }
        }
        if let Some(differs) = differs {
            self.differ(|| format!("{}: {differs}", input()));
        }
    }

    /// Returns the agreement of the answers, or how they differ.
    fn agreement(self, inputs: &str) -> Result<Agreement, String> {
        if self.inputs == 0 {
            return Err(format!(
                "it has no {inputs} that the network could be asked about"
            ));
        }
        if self.differing == 0 {
            return Ok(Agreement {
                inputs: self.inputs,
                without_outcome: 0,
                blank: 0,
                data: None,
                largest_difference: self.largest_difference,
            });
        }
        let more = if self.differing > self.shown.len() {
            "; …"
        } else {
            ""
        };
        Err(format!(
            "the imported network answers {} of {} {inputs} otherwise than the original, so nothing was saved: {}{more}",
            self.differing,
            self.inputs,
            self.shown.join("; ")
        ))
    }
}
