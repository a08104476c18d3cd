//! A predictor that is a function of this process: see [`Callable`].
//!
//! A specification names what it audits, and a function has no name that another process could
//! find. [`register`] gives it one in this process, `memory:NAME`, until the registration is
//! dropped.
//!
//! Rows are handed over as Arrow record batches with a column for each attribute of the schema:
//!
//! | kind          | type                                                                     |
//! |---------------|--------------------------------------------------------------------------|
//! | `integer`     | 64-bit integers, or floats where the missing marker is no whole number   |
//! | `categorical` | strings                                                                  |
//! | `numeric`     | 64-bit floats                                                            |
//!
//! Texts are a record batch with the one column [`TEXT`] of strings.
//!
//! The values are those of [`super::values`]. A missing value is null where its marker is no number
//! among numbers, or the empty word among words: which is what a null of the data becomes.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{ArrowError, DataType, Field, Schema as ArrowSchema, SchemaRef};

use super::error::PredictorError;
use super::own_numbers::{ClassesByOrder, Predictor, batches};
use super::probabilities::{Taken, append_answer};
use super::values::{Value, describe, value, word_beside};
use probity_data::schema::{Attribute, Kind, Schema};
use probity_nn::{Classifier, ModelError, Rows};

/// The most codes of an attribute whose values are looked up in a table; values of attributes with
/// more codes are computed anew.
const TABLE: usize = 1 << 16;

static CALLABLES: RwLock<BTreeMap<String, Arc<dyn Callable>>> = RwLock::new(BTreeMap::new());

/// The name of the column of texts.
pub const TEXT: &str = "text";

/// A function from rows, or texts, to probabilities.
pub trait Callable: Send + Sync {
    /// The probabilities of the classes, in the order of the schema or of those that are named for
    /// texts, row by row.
    ///
    /// # Errors
    /// The reason why it cannot answer.
    fn probabilities(&self, rows: &RecordBatch) -> Result<Vec<f64>, String>;

    /// Returns the SHA-256, in hex, of what identifies the function: two functions with the same
    /// hash answer alike.
    fn sha256(&self) -> String;

    /// Returns whether the function looks at this column; by default it does.
    fn takes(&self, _column: &str) -> bool {
        true
    }

    /// Returns the classes in the order of the function's own outputs, where nobody but the data
    /// says which they are; by default somebody does.
    fn classes_by_order(&self) -> Option<Vec<String>> {
        None
    }
}

/// A function that is registered under a name, until this is dropped.
#[derive(Debug)]
pub struct Registered {
    name: String,
}

impl Drop for Registered {
    fn drop(&mut self) {
        let mut callables = CALLABLES.write().unwrap_or_else(PoisonError::into_inner);
        callables.remove(&self.name);
    }
}

/// Registers `callable` as the predictor `memory:NAME`.
///
/// # Errors
/// When another function has this name.
pub fn register(name: &str, callable: Arc<dyn Callable>) -> Result<Registered, PredictorError> {
    let mut callables = CALLABLES.write().unwrap_or_else(PoisonError::into_inner);
    if callables.contains_key(name) {
        return Err(PredictorError::Taken(name.to_owned()));
    }
    callables.insert(name.to_owned(), callable);
    Ok(Registered {
        name: name.to_owned(),
    })
}

pub(super) fn callable(name: &str) -> Result<Arc<dyn Callable>, PredictorError> {
    let callables = CALLABLES.read().unwrap_or_else(PoisonError::into_inner);
    let found = callables.get(name).cloned();
    found.ok_or_else(|| PredictorError::Absent(name.to_owned()))
}

pub(super) fn sha256_of(name: &str) -> Result<String, PredictorError> {
    Ok(callable(name)?.sha256())
}

/// A function that classifies rows of a schema.
pub struct CallablePredictor {
    schema: Schema,
    cells: RowCells,
    taken: Taken,
    rows: usize,
    callable: Arc<dyn Callable>,
}

impl CallablePredictor {
    /// Finds the function `memory:NAME`, which is asked for at most `rows` rows at a time (at least
    /// 1).
    ///
    /// # Errors
    /// When no function has the name.
    pub fn find(
        name: &str,
        schema: &Schema,
        rows: usize,
    ) -> Result<CallablePredictor, PredictorError> {
        Ok(CallablePredictor {
            schema: schema.clone(),
            cells: RowCells::new(schema),
            taken: Taken::default(),
            rows: rows.max(1),
            callable: callable(name)?,
        })
    }

    /// Returns the predictor with its probabilities taken as `taken` says.
    #[must_use]
    pub fn taking(self, taken: Taken) -> CallablePredictor {
        CallablePredictor { taken, ..self }
    }

    fn ask(
        &self,
        rows: Rows<'_>,
        numbers: &[f64],
        out: &mut Vec<f32>,
    ) -> Result<(), PredictorError> {
        let batch = self.cells.batch(&self.schema, rows, numbers);
        let batch = batch.map_err(|error| PredictorError::Raised(error.to_string()))?;
        let given = self.callable.probabilities(&batch);
        let given = given.map_err(PredictorError::Raised)?;
        let classes = self.schema.label.answers();
        if given.len() != rows.len() * classes {
            return Err(PredictorError::Shape {
                numbers: given.len(),
                rows: rows.len(),
                classes,
            });
        }
        for (row, probabilities) in rows.iter().zip(given.chunks_exact(classes)) {
            let asked = || describe(&self.schema.attributes, row);
            append_answer(&self.schema.label, &self.taken, &asked, probabilities, out)?;
        }
        Ok(())
    }
}

impl Classifier for CallablePredictor {
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
        for (rows, numbers) in batches(rows, numbers, self.cells.numeric, self.rows) {
            self.ask(rows, numbers, &mut out)
                .map_err(ModelError::predictor)?;
        }
        Ok(out)
    }

    fn is_fallible(&self) -> bool {
        true
    }
}

impl Predictor for CallablePredictor {
    fn takes(&self, attribute: usize) -> bool {
        let attribute = self.schema.attributes.get(attribute);
        attribute.is_none_or(|attribute| self.callable.takes(&attribute.name))
    }

    fn classes_by_order(&self) -> Option<ClassesByOrder> {
        Some(ClassesByOrder {
            classes: self.callable.classes_by_order()?,
            remedy: "give classes: those of the model, in the order of its outputs",
        })
    }
}

/// The converter of rows of a schema to record batches.
pub struct RowCells {
    columns: Vec<Cells>,
    names: SchemaRef,
    /// The number of numeric attributes.
    numeric: usize,
}

/// The cells of one column.
struct Cells {
    min: i32,
    /// The values of the codes from `min` on; empty where they are computed anew.
    values: Vec<Value>,
    kind: CellKind,
    /// The word that stands for a null.
    null: Option<String>,
}

#[derive(Clone, Copy, PartialEq)]
enum CellKind {
    Integer,
    /// Numbers, for which rows may have their own.
    Numeric,
    Float,
    Word,
    /// Numbers beside words, as text: rows may have numbers of their own, or not.
    Beside {
        is_numeric: bool,
    },
}

impl CellKind {
    /// Returns whether rows have numbers of their own in the column.
    fn is_numeric(self) -> bool {
        matches!(
            self,
            CellKind::Numeric | CellKind::Beside { is_numeric: true }
        )
    }
}

impl RowCells {
    /// Creates the converter for rows of `schema`.
    pub fn new(schema: &Schema) -> RowCells {
        let columns: Vec<Cells> = schema.attributes.iter().map(Cells::new).collect();
        let fields = schema.attributes.iter().zip(&columns);
        let fields = fields.map(|(attribute, cells)| {
            let data_type = match cells.kind {
                CellKind::Integer => DataType::Int64,
                CellKind::Numeric | CellKind::Float => DataType::Float64,
                CellKind::Word | CellKind::Beside { .. } => DataType::Utf8,
            };
            Field::new(&attribute.name, data_type, true)
        });
        let names = Arc::new(ArrowSchema::new(fields.collect::<Vec<_>>()));
        let numeric = columns
            .iter()
            .filter(|cells| cells.kind.is_numeric())
            .count();
        RowCells {
            columns,
            names,
            numeric,
        }
    }

    /// Converts `rows` with their own `numbers`: see [`Classifier::logits_with`].
    ///
    /// # Errors
    /// When they have no form in Arrow.
    pub fn batch(
        &self,
        schema: &Schema,
        rows: Rows<'_>,
        numbers: &[f64],
    ) -> Result<RecordBatch, ArrowError> {
        let mut own = 0;
        let columns = self.columns.iter().zip(&schema.attributes).enumerate();
        let arrays = columns.map(|(place, (cells, attribute))| {
            let codes = rows.iter().map(|row| row[place]);
            if !cells.kind.is_numeric() {
                return cells.array(attribute, codes);
            }
            let numbers = numbers.iter().skip(own).step_by(self.numeric);
            own += 1;
            let numbers = numbers.copied().chain(std::iter::repeat(f64::NAN));
            if cells.kind != CellKind::Numeric {
                let values = codes.zip(numbers).map(|(code, own)| match own.is_nan() {
                    false => Some(own.to_string()),
                    true => cells.text(attribute, code),
                });
                return Arc::new(StringArray::from_iter(values)) as ArrayRef;
            }
            let values = codes.zip(numbers).map(|(code, own)| match own.is_nan() {
                false => Some(own),
                true => cells.float(attribute, code),
            });
            Arc::new(Float64Array::from_iter(values)) as ArrayRef
        });
        RecordBatch::try_new(Arc::clone(&self.names), arrays.collect())
    }
}

impl Cells {
    fn new(attribute: &Attribute) -> Cells {
        let (min, max) = attribute.domain();
        // Words are many only by mistake, and numbers are quick to find.
        let is_word = matches!(attribute.kind, Kind::Categorical { .. });
        let values = match is_word || attribute.levels() <= TABLE {
            true => (min..=max).map(|code| value(attribute, code)).collect(),
            false => Vec::new(),
        };
        let kind = match attribute.kind {
            Kind::Categorical { .. } => CellKind::Word,
            _ if word_beside(attribute).is_some() => CellKind::Beside {
                is_numeric: matches!(attribute.kind, Kind::Numeric { .. }),
            },
            Kind::Numeric { .. } => CellKind::Numeric,
            // The level of missing values is the last one.
            Kind::Integer { .. } => match value(attribute, max) {
                Value::Number(_) => CellKind::Float,
                _ => CellKind::Integer,
            },
        };
        Cells {
            min,
            values,
            kind,
            null: attribute
                .missing
                .first()
                .filter(|mark| mark.is_empty())
                .map(str::to_owned),
        }
    }

    fn with<T>(&self, attribute: &Attribute, code: i32, make: impl FnOnce(&Value) -> T) -> T {
        let at = usize::try_from(i64::from(code) - i64::from(self.min));
        match at.ok().and_then(|at| self.values.get(at)) {
            Some(value) => make(value),
            None => make(&value(attribute, code)),
        }
    }

    fn float(&self, attribute: &Attribute, code: i32) -> Option<f64> {
        let number = self.with(attribute, code, Value::number);
        number.filter(|number| !number.is_nan())
    }

    /// Returns the value as text; nothing where it is missing.
    fn text(&self, attribute: &Attribute, code: i32) -> Option<String> {
        self.with(attribute, code, |value| match value {
            Value::Integer(number) => Some(number.to_string()),
            Value::Number(number) => Some(number.to_string()),
            Value::Text(word) => Some(word.clone()),
            Value::Missing => None,
        })
    }

    fn array(&self, attribute: &Attribute, codes: impl Iterator<Item = i32>) -> ArrayRef {
        match self.kind {
            CellKind::Integer => {
                let whole = |value: &Value| match value {
                    Value::Integer(number) => Some(i64::from(*number)),
                    _ => None,
                };
                let values = codes.map(|code| self.with(attribute, code, whole));
                Arc::new(Int64Array::from_iter(values))
            }
            CellKind::Beside { .. } => {
                let values = codes.map(|code| self.text(attribute, code));
                Arc::new(StringArray::from_iter(values))
            }
            CellKind::Numeric | CellKind::Float => {
                let values = codes.map(|code| self.float(attribute, code));
                Arc::new(Float64Array::from_iter(values))
            }
            CellKind::Word => {
                let word = |value: &Value| match value {
                    Value::Text(word) if self.null.as_ref() != Some(word) => Some(word.clone()),
                    _ => None,
                };
                let values = codes.map(|code| self.with(attribute, code, word));
                Arc::new(StringArray::from_iter(values))
            }
        }
    }
}

#[cfg(test)]
mod tests;
