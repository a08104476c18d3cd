//! A predictor that is a process: see [`super::protocol`] for the lines that are exchanged.
//!
//! One process answers one batch at a time. Batches that several threads ask for wait for each
//! other. While the process computes, the answer before is read and the batch after written as
//! text, so that it waits for neither. Nothing is remembered: each row that is asked for is sent.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::error::PredictorError;
use super::own_numbers::{Predictor, batches};
use super::probabilities::{Taken, append_answer};
use super::process::{KillHandle, Process};
use super::protocol::{Answer, Greeting, Welcome, longest_answer};
use super::values::{Value, describe, value};
use probity_data::schema::{Kind, Schema};
use probity_nn::{Classifier, ModelError, Rows};

/// The largest number of rows of a request.
pub const ROWS_AT_MOST: usize = 1 << 20;

/// The longest table of cell texts that an attribute may have; with more codes, each text is
/// written anew.
const TABLE: usize = 1 << 16;

/// A process that classifies rows of a schema.
pub struct CommandPredictor {
    schema: Schema,
    cells: Vec<CellTexts>,
    /// For each class, the place of its probability among the process's numbers.
    order: Vec<usize>,
    taken: Taken,
    rows: usize,
    conversation: Mutex<Conversation>,
    ender: KillHandle,
}

/// An answer to a batch that is not parsed yet.
struct Unread<'a> {
    rows: Rows<'a>,
    line: Vec<u8>,
    /// The number of the line.
    number: u64,
    batch: u64,
}

/// A process and the state of the conversation with it.
struct Conversation {
    process: Process,
    batches: u64,
    /// The error that ended the conversation.
    failed: Option<PredictorError>,
}

impl CommandPredictor {
    /// Starts the process of the command `line` in `directory` and greets it. Every answer is due
    /// within `timeout`, and no request has more than `rows` rows (at least 1).
    ///
    /// # Errors
    /// When it cannot be started, or does not answer the greeting.
    pub fn start(
        line: &str,
        directory: &Path,
        schema: &Schema,
        timeout: Duration,
        rows: usize,
    ) -> Result<CommandPredictor, PredictorError> {
        let rows = rows.clamp(1, ROWS_AT_MOST);
        let mut process = Process::start(&words(line)?, directory, timeout)?;
        let mut greeting = serde_json::to_vec(&Greeting::new(schema, rows))
            .map_err(|error| PredictorError::Reported(error.to_string()))?;
        greeting.push(b'\n');
        let welcome = process.exchange(greeting, 0, longest_answer(0, schema.label.answers()))?;
        let order = Welcome::read(&welcome, process.lines(), schema)?;
        let ender = KillHandle::default();
        ender.add(process.lifetime());
        Ok(CommandPredictor {
            schema: schema.clone(),
            cells: CellTexts::from_schema(schema),
            order,
            taken: Taken::default(),
            rows,
            ender,
            conversation: Mutex::new(Conversation {
                process,
                batches: 0,
                failed: None,
            }),
        })
    }

    /// Returns the predictor with its probabilities taken as `taken` says.
    #[must_use]
    pub fn taking(self, taken: Taken) -> CommandPredictor {
        CommandPredictor { taken, ..self }
    }

    /// Returns a handle that ends the process, for use when the program must stop at once.
    pub fn ender(&self) -> KillHandle {
        self.ender.clone()
    }

    /// Appends the logits of all of `batches`, each of which fits one request, to `out`.
    fn ask<'a>(
        &self,
        batches: impl Iterator<Item = (Rows<'a>, &'a [f64])>,
        out: &mut Vec<f32>,
    ) -> Result<(), PredictorError> {
        let classes = self.schema.label.answers();
        let mut bodies = batches.map(|(rows, numbers)| (rows, self.body(rows, numbers)));
        let mut next = bodies.next();
        let mut unread: Option<Unread<'_>> = None;
        while let Some((rows, body)) = next {
            let mut conversation = self.conversation();
            conversation.send(&body, rows.len(), classes)?;
            let read = unread.map_or(Ok(()), |unread| self.append(&unread, out));
            // A process that answers wrongly once is asked no more.
            read.map_err(|error| conversation.fail(error))?;
            next = bodies.next();
            unread = Some(conversation.receive(rows, classes)?);
        }
        let read = unread.map_or(Ok(()), |unread| self.append(&unread, out));
        read.map_err(|error| self.conversation().fail(error))
    }

    fn append(&self, unread: &Unread<'_>, out: &mut Vec<f32>) -> Result<(), PredictorError> {
        let Unread { rows, line, .. } = unread;
        let probabilities = Answer::read(line, unread.number, unread.batch, rows.len())?;
        let mut ordered = Vec::new();
        for (row, theirs) in rows.iter().zip(&probabilities) {
            ordered.clear();
            if theirs.len() == self.order.len() {
                ordered.extend(self.order.iter().map(|&at| theirs[at]));
            } else {
                ordered.extend(theirs);
            }
            let asked = || describe(&self.schema.attributes, row);
            append_answer(&self.schema.label, &self.taken, &asked, &ordered, out)?;
        }
        Ok(())
    }

    /// Writes the rows as JSON, `[[…],[…]]`.
    fn body(&self, rows: Rows<'_>, numbers: &[f64]) -> Vec<u8> {
        let mut numbers = numbers.iter();
        let mut body = Vec::with_capacity(rows.codes.len() * 8);
        body.push(b'[');
        for (number, row) in rows.iter().enumerate() {
            body.extend_from_slice(if number == 0 { b"[" } else { b",[" });
            for (column, (cells, &code)) in self.cells.iter().zip(row).enumerate() {
                if column > 0 {
                    body.push(b',');
                }
                let own = match cells.is_numeric {
                    true => numbers.next().filter(|own| !own.is_nan()),
                    false => None,
                };
                match own {
                    Some(own) => {
                        let text = Value::Number(*own).json().to_string();
                        body.extend_from_slice(text.as_bytes());
                    }
                    None => cells.append(&self.schema, column, code, &mut body),
                }
            }
            body.push(b']');
        }
        body.push(b']');
        body
    }

    fn conversation(&self) -> MutexGuard<'_, Conversation> {
        self.conversation
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Conversation {
    /// Sends a batch of `rows` rows.
    fn send(&mut self, body: &[u8], rows: usize, classes: usize) -> Result<(), PredictorError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        self.batches += 1;
        let mut request = format!("{{\"batch\":{},\"rows\":", self.batches).into_bytes();
        request.extend_from_slice(body);
        request.extend_from_slice(b"}\n");
        let sent = self
            .process
            .send(request, rows, longest_answer(rows, classes));
        sent.map_err(|error| self.fail(error))
    }

    /// Waits for the answer to the batch of `rows` that was sent.
    fn receive<'a>(
        &mut self,
        rows: Rows<'a>,
        classes: usize,
    ) -> Result<Unread<'a>, PredictorError> {
        let longest = longest_answer(rows.len(), classes);
        match self.process.receive(rows.len(), longest) {
            Ok(line) => Ok(Unread {
                rows,
                line,
                number: self.process.lines(),
                batch: self.batches,
            }),
            Err(error) => Err(self.fail(error)),
        }
    }

    /// Ends the conversation with an error; the first error is the one that everybody gets.
    fn fail(&mut self, error: PredictorError) -> PredictorError {
        self.process.lifetime().end();
        self.failed.get_or_insert(error).clone()
    }
}

impl Classifier for CommandPredictor {
    fn width(&self) -> usize {
        self.schema.attributes.len()
    }

    fn classes(&self) -> usize {
        self.schema.label.classes.len()
    }

    fn logits(&self, rows: Rows<'_>) -> Result<Vec<f32>, ModelError> {
        self.logits_with(rows, &[])
    }

    fn logits_with(&self, rows: Rows<'_>, numbers: &[f64]) -> Result<Vec<f32>, ModelError> {
        let mut out = Vec::with_capacity(rows.len() * self.classes());
        let columns = self.cells.iter().filter(|cells| cells.is_numeric).count();
        self.ask(batches(rows, numbers, columns, self.rows), &mut out)
            .map_err(ModelError::predictor)?;
        Ok(out)
    }

    fn is_fallible(&self) -> bool {
        true
    }
}

impl Predictor for CommandPredictor {}

/// Splits a command line into words by the rules of a POSIX shell: blanks separate, quotes and
/// backslashes keep together. There are no variables, wildcards or pipes.
///
/// # Errors
/// When a quote is not closed or there is no word.
pub fn words(line: &str) -> Result<Vec<String>, PredictorError> {
    match shlex::split(line) {
        Some(words) if !words.is_empty() => Ok(words),
        _ => Err(PredictorError::Words(line.to_owned())),
    }
}

/// The cells of one column as JSON, ready to be copied.
struct CellTexts {
    is_numeric: bool,
    min: i32,
    /// The texts of the codes from `min` on; empty where they are written anew.
    texts: Vec<String>,
}

impl CellTexts {
    fn from_schema(schema: &Schema) -> Vec<CellTexts> {
        let column = |attribute: &probity_data::schema::Attribute| {
            let (min, max) = attribute.domain();
            // Words are many only by mistake, and numbers are quick to write.
            let is_small =
                attribute.levels() <= TABLE || matches!(attribute.kind, Kind::Categorical { .. });
            let last = if is_small {
                i64::from(max)
            } else {
                i64::from(min) - 1
            };
            let codes = (i64::from(min)..=last).map(|code| code as i32);
            let texts = codes.map(|code| value(attribute, code).json().to_string());
            CellTexts {
                is_numeric: matches!(attribute.kind, Kind::Numeric { .. }),
                min,
                texts: texts.collect(),
            }
        };
        schema.attributes.iter().map(column).collect()
    }

    fn append(&self, schema: &Schema, column: usize, code: i32, out: &mut Vec<u8>) {
        let at = usize::try_from(i64::from(code) - i64::from(self.min));
        match at.ok().and_then(|at| self.texts.get(at)) {
            Some(text) => out.extend_from_slice(text.as_bytes()),
            None => {
                let cell = value(&schema.attributes[column], code).json();
                out.extend_from_slice(cell.to_string().as_bytes());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A script that answers batch n of one row with the score n tenths; in the mode `wrong` its
    /// third answer is none.
    #[cfg(unix)]
    const SCRIPT: &str = r#"
read -r greeting
echo '{"protocol":1}'
batch=0
while read -r line; do
  batch=$((batch + 1))
  if [ "$1" = wrong ] && [ $batch = 3 ]; then echo '{"batch":3}'; continue; fi
  echo "{\"batch\":$batch,\"scores\":[0.$batch]}"
done
"#;

    #[cfg(unix)]
    #[test]
    fn answers_belong_to_their_batches_though_they_are_read_later() {
        let schema = probity_data::builtin::schema("adf-census")
            .unwrap()
            .unwrap();
        let row = schema.attributes.iter().map(|a| a.domain().0);
        let row: Vec<i32> = row.collect();
        let codes = row.repeat(5);
        let rows = Rows::new(&codes, row.len());
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("answer.sh"), SCRIPT).unwrap();
        let start = |mode: &str| {
            let (line, timeout) = (format!("sh answer.sh {mode}"), Duration::from_secs(600));
            CommandPredictor::start(&line, folder.path(), &schema, timeout, 1).unwrap()
        };
        let logits = start("good").logits(rows).unwrap();
        for (batch, logits) in (1u8..).zip(logits.chunks_exact(2)) {
            let score = 1.0 / (1.0 + (logits[0] - logits[1]).exp());
            assert!((score - f32::from(batch) / 10.0).abs() < 1e-6, "{batch}");
        }
        let wrong = start("wrong");
        for _ in 0..2 {
            let error = wrong.logits(rows).unwrap_err();
            let cause = std::error::Error::source(&error).unwrap().to_string();
            assert!(cause.contains("\"probabilities\" or \"scores\""), "{cause}");
        }
    }

    #[test]
    fn words_as_a_shell_splits_them() {
        let split = |line: &str| words(line).ok();
        let expected = |words: &[&str]| Some(words.iter().map(|w| (*w).to_owned()).collect());
        assert_eq!(
            split("python3 predict.py"),
            expected(&["python3", "predict.py"])
        );
        assert_eq!(
            split("'my python' \"a \\\"b\\\"\" c\\ d $HOME *"),
            expected(&["my python", "a \"b\"", "c d", "$HOME", "*"])
        );
        assert_eq!(split("python3 'predict.py"), None);
        assert_eq!(split("  "), None);
    }
}
