//! Rows in a samples file: how pairs are written, and how they are read again.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Int32Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema as ArrowSchema};

use crate::audit_error::AuditError;
use crate::domain::Domain;
use crate::modality::{Change, SampleInputs};
use crate::pairs::Pair;
use crate::population::Plausibility;
use crate::samples::walk_columns;
use probity_data::read::ReadError;
use probity_data::schema::{Attribute, Encoded, Encoder, Kind, OutOfDomain, Schema};
use probity_predictor::own_numbers::OwnNumbers;

/// The columns of a samples file of rows: see [`crate::samples`].
pub struct TableColumns<'a> {
    pub(super) schema: &'a Schema,
    pub(super) domain: &'a dyn Domain,
    /// The names of the possible decisions.
    pub(super) decisions: &'a [String],
    pub(super) own_numbers: Option<&'a OwnNumbers>,
    pub(super) plausibility: Option<&'a Plausibility>,
}

impl<'a> TableColumns<'a> {
    /// The columns of inputs of `schema`, whose variants `domain` knows.
    pub fn new(schema: &'a Schema, domain: &'a dyn Domain) -> TableColumns<'a> {
        TableColumns {
            schema,
            domain,
            decisions: &schema.label.classes,
            own_numbers: None,
            plausibility: None,
        }
    }

    /// The values of `row` as text, one for each attribute.
    pub(super) fn values(&self, row: &[i32]) -> Vec<String> {
        let attributes = self.schema.attributes.iter().zip(row);
        let mut values: Vec<String> = attributes
            .map(|(attribute, &code)| attribute.decode(code))
            .collect();
        if let Some(own) = self.own_numbers {
            let mut numbers = Vec::with_capacity(own.places().len());
            own.append(row, &mut numbers);
            let found = own.places().iter().zip(numbers);
            for (&place, number) in found.filter(|(_, number)| !number.is_nan()) {
                values[place] = number.to_string();
            }
        }
        values
    }

    /// The differences between the inputs `row` and `other`.
    pub fn changes(&self, row: &[i32], other: &[i32]) -> Vec<Change> {
        let values = self.values(row).into_iter().zip(self.values(other));
        let attributes = self.schema.attributes.iter().zip(values);
        let differs = row.iter().zip(other).map(|(own, other)| own != other);
        attributes
            .zip(differs)
            .filter(|(_, differs)| *differs)
            .map(|((attribute, (from, to)), _)| Change {
                attribute: attribute.name.clone(),
                from,
                to,
            })
            .collect()
    }

    /// The names and types of the columns.
    pub fn names(&self) -> ArrowSchema {
        let mut fields = vec![
            ("seed".to_owned(), DataType::UInt64),
            ("phase".to_owned(), DataType::Utf8),
            ("step".to_owned(), DataType::UInt32),
        ];
        for side in ["x", "other"] {
            fields.extend(self.schema.attributes.iter().map(|attribute| {
                let kind = if is_integer(attribute) {
                    DataType::Int32
                } else {
                    DataType::Utf8
                };
                (format!("{side}_{}", attribute.name), kind)
            }));
        }
        for name in ["label_x", "label_other"] {
            fields.push((name.to_owned(), DataType::Utf8));
        }
        for side in ["x", "other"] {
            if self.schema.label.is_number() {
                fields.push((format!("number_{side}"), DataType::Float32));
                continue;
            }
            let classes = self.schema.label.classes.iter();
            fields
                .extend(classes.map(|class| (format!("logit_{side}_{class}"), DataType::Float32)));
        }
        fields.push(("changed".to_owned(), DataType::Utf8));
        if self.plausibility.is_some() {
            fields.push(("plausibility".to_owned(), DataType::Float32));
        }
        let field = |(name, data_type)| Field::new(name, data_type, false);
        ArrowSchema::new(fields.into_iter().map(field).collect::<Vec<_>>())
    }

    /// The rows of `pairs` in these columns.
    ///
    /// # Errors
    /// When they do not fit `columns`.
    pub fn batch(
        &self,
        columns: &ArrowSchema,
        pairs: &[Pair<'_>],
    ) -> Result<RecordBatch, AuditError> {
        let others: Vec<Vec<i32>> = pairs.iter().map(|pair| self.other(pair)).collect();
        let rows: Vec<&[i32]> = pairs.iter().map(|pair| pair.row).collect();
        let others: Vec<&[i32]> = others.iter().map(Vec::as_slice).collect();
        let (seed, phase, step) = walk_columns(pairs);
        let mut arrays: Vec<ArrayRef> = vec![seed, phase, step];
        for side in [&rows, &others] {
            let values: Vec<Vec<String>> = side.iter().map(|row| self.values(row)).collect();
            for (position, attribute) in self.schema.attributes.iter().enumerate() {
                arrays.push(if is_integer(attribute) {
                    let codes = side.iter().map(|row| row[position]);
                    Arc::new(Int32Array::from_iter_values(codes))
                } else {
                    let words = values.iter().map(|values| &values[position]);
                    Arc::new(StringArray::from_iter_values(words))
                });
            }
        }
        let classes = &self.schema.label.classes;
        for label in [
            |pair: &Pair<'_>| pair.label as usize,
            |pair: &Pair<'_>| pair.other_label as usize,
        ] {
            let labels = pairs.iter().map(|pair| &self.decisions[label(pair)]);
            arrays.push(Arc::new(StringArray::from_iter_values(labels)));
        }
        for own in [true, false] {
            // Of the two outputs of a regressor the second is the number.
            let first = usize::from(self.schema.label.is_number());
            for class in first..classes.len() {
                let logits = pairs.iter().map(|pair| match own {
                    true => pair.logits[class],
                    false => pair.other_logits[class],
                });
                arrays.push(Arc::new(Float32Array::from_iter_values(logits)));
            }
        }
        let sides = rows.iter().zip(&others);
        let changed = sides.map(|(row, other)| {
            let changes = self.changes(row, other).into_iter();
            let changes: Vec<String> = changes.map(|change| change.to_string()).collect();
            changes.join("; ")
        });
        arrays.push(Arc::new(StringArray::from_iter_values(changed)));
        if let Some(plausibility) = self.plausibility {
            let grades = plausibility.grades(&rows);
            arrays.push(Arc::new(Float32Array::from_iter_values(grades)));
        }
        Ok(RecordBatch::try_new(Arc::new(columns.clone()), arrays)?)
    }

    fn other(&self, pair: &Pair<'_>) -> Vec<i32> {
        let mut other = Vec::new();
        self.domain
            .write_variant(pair.row, pair.variant as usize, &mut other);
        other
    }
}

/// Whether every code of the attribute is written as itself.
fn is_integer(attribute: &Attribute) -> bool {
    let (_, max) = attribute.domain();
    let is_number = matches!(attribute.kind, Kind::Integer { .. }) && attribute.named.is_empty();
    is_number && attribute.decode(max) == max.to_string()
}

/// Reads rows of a schema from a samples file.
pub struct TableInputs<'a> {
    attributes: Vec<(&'a Attribute, Encoder<'a>)>,
}

impl<'a> TableInputs<'a> {
    /// A reader of rows of `schema`.
    pub fn new(schema: &'a Schema) -> TableInputs<'a> {
        let attributes = schema.attributes.iter();
        TableInputs {
            attributes: attributes
                .map(|attribute| (attribute, Encoder::new(attribute)))
                .collect(),
        }
    }
}

impl SampleInputs for TableInputs<'_> {
    fn columns(&self, side: &str) -> Vec<String> {
        let attributes = self.attributes.iter();
        attributes
            .map(|(attribute, _)| format!("{side}_{}", attribute.name))
            .collect()
    }

    fn read(
        &self,
        cells: &[&str],
        refuse: &dyn Fn(usize, String) -> ReadError,
    ) -> Result<Vec<i32>, AuditError> {
        let cells = self.attributes.iter().zip(cells).enumerate();
        cells
            .map(|(place, ((attribute, encoder), cell))| {
                let encoded = encoder.encode(cell).map_err(|why| refuse(place, why))?;
                match encoded {
                    Encoded::Code(code) => Ok(code),
                    // The level of outside values is a value of its own; a clipped one is none.
                    Encoded::Mapped(code) if attribute.outside == OutOfDomain::Level => Ok(code),
                    Encoded::Mapped(_) | Encoded::Skip => {
                        Err(refuse(place, attribute.expected()).into())
                    }
                }
            })
            .collect()
    }

    fn numbers(&self, cells: &[&str]) -> Vec<f64> {
        let cells = self.attributes.iter().zip(cells);
        let numeric = cells.filter(|((attribute, _), _)| is_numeric(attribute));
        numeric
            .map(|((_, encoder), cell)| match encoder.encode(cell) {
                Ok(Encoded::Code(_)) => cell.parse().unwrap_or(f64::NAN),
                _ => f64::NAN,
            })
            .collect()
    }
}

pub(super) fn is_numeric(attribute: &Attribute) -> bool {
    matches!(attribute.kind, Kind::Numeric { .. })
}
