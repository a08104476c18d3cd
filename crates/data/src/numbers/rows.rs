//! Rows of numbers: of tables through the one reader of records, and of images.

use std::path::Path;

use super::column::{Column, Reading};
use super::error::NumbersError;
use super::options::NumbersOptions;
use crate::idx::Images;
use crate::read::{IN_MEMORY, LeftOut, Record, Records};
use crate::schema::{Attribute, Encoder, Kind, Schema, is_missing};
use crate::source::{Hashed, Source};
use crate::spelling::number;
use crate::table::Labels;

/// Rows of finite numbers, with labels where they have them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Numbers {
    /// The files that the rows are from.
    pub source: Source,
    /// The names of the features.
    pub columns: Vec<String>,
    /// The features, row-major, `[rows, columns]`.
    pub features: Vec<f64>,
    /// The labels, one a row, or none at all.
    pub labels: Vec<String>,
    /// The ids, one a row, as they are written, or none at all.
    pub ids: Vec<String>,
    /// The number of each row in its file or its batches, from 1, headers not counted.
    pub numbers: Vec<u64>,
    /// The rows that are left out.
    pub left_out: LeftOut,
}

impl Numbers {
    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.numbers.len()
    }

    /// Returns the features of row `at`; empty if there is no such row.
    pub fn row(&self, at: usize) -> &[f64] {
        let width = self.columns.len();
        let start = at.saturating_mul(width);
        self.features
            .get(start..start.saturating_add(width))
            .unwrap_or_default()
    }

    /// Returns the label of row `at`, if it has one.
    pub fn label(&self, at: usize) -> Option<&str> {
        self.labels.get(at).map(String::as_str)
    }

    /// Returns the file that the rows are from, or the name by which errors call batches.
    pub fn name(&self) -> &Path {
        match self.source.file.as_os_str().is_empty() {
            true => Path::new(IN_MEMORY),
            false => &self.source.file,
        }
    }

    /// Returns the pixels of `images`, with the labels that another file holds.
    pub(super) fn of_images(
        images: Images,
        labelled: Option<(&Path, Hashed<Vec<String>>)>,
    ) -> Numbers {
        let mut source = Source::default();
        let mut labels = Vec::new();
        if let Some((file, read)) = labelled {
            source.labels = Some(file.to_owned());
            source.labels_sha256 = Some(read.sha256);
            labels = read.value;
        }
        Numbers {
            source,
            columns: images.columns,
            features: images.features,
            labels,
            ids: Vec::new(),
            numbers: (1..=u64::from(images.count)).collect(),
            left_out: LeftOut::default(),
        }
    }
}

pub(super) struct TableReader<'s> {
    records: Records,
    row: RowReader<'s>,
    names: Vec<String>,
}

impl<'s> TableReader<'s> {
    pub(super) fn new(
        records: Records,
        options: &'s NumbersOptions,
        training: Option<&Numbers>,
        labels: Labels,
    ) -> Result<Self, NumbersError> {
        let file = records.file();
        let schema = options.schema.as_ref();
        let label = schema
            .map(|schema| schema.label.name.clone())
            .or_else(|| options.label.clone());
        if label.is_none() && labels == Labels::Required {
            return Err(NumbersError::NoLabelColumn {
                file: file.to_owned(),
            });
        }
        let position = label.as_ref().and_then(|label| records.position(label));
        // A schema always names a label, which files without labels lack.
        let named = options.label.is_some() || labels == Labels::Required;
        if let Some(label) = &label
            && position.is_none()
            && training.is_none()
            && named
        {
            records.require(label)?;
        }
        if let Some(column) = options
            .ignore
            .iter()
            .find(|column| training.is_none() && !records.names().contains(column))
        {
            return Err(NumbersError::NoSuchColumn {
                field: "ignore",
                column: column.clone(),
                file: file.to_owned(),
            });
        }
        let id = options
            .id
            .as_ref()
            .map(|column| {
                records
                    .position(column)
                    .ok_or_else(|| NumbersError::no_id_column(file, column))
            })
            .transpose()?;
        let is_left_out =
            |name: &String| options.id.as_ref() == Some(name) || options.ignore.contains(name);
        let is_feature = |name: &&String| Some(*name) != label.as_ref() && !is_left_out(name);
        let mut columns = Vec::new();
        let mut names = Vec::new();
        match (schema, training) {
            (Some(schema), _) => {
                for attribute in &schema.attributes {
                    if is_left_out(&attribute.name) {
                        continue;
                    }
                    names.extend(feature_names(attribute));
                    columns.push(Column {
                        position: records.require(&attribute.name)?,
                        reading: Reading::Features(Encoder::new(attribute)),
                    });
                }
            }
            (None, Some(training)) => {
                let mut named = records.names().iter().filter(is_feature);
                if let Some(other) = named.find(|name| !training.columns.contains(name)) {
                    return Err(NumbersError::OtherColumns {
                        file: file.to_owned(),
                        column: other.clone(),
                        training: training.name().to_owned(),
                    });
                }
                for name in &training.columns {
                    names.push(name.clone());
                    columns.push(Column {
                        position: records.require(name)?,
                        reading: Reading::Number,
                    });
                }
            }
            (None, None) => {
                for (position, name) in records.names().iter().enumerate() {
                    if is_feature(&name) {
                        names.push(name.clone());
                        columns.push(Column {
                            position,
                            reading: Reading::Number,
                        });
                    }
                }
            }
        }
        Ok(Self {
            records,
            row: RowReader {
                columns,
                id,
                label: position,
                needs_label: labels == Labels::Required && training.is_none(),
                schema,
            },
            names,
        })
    }

    pub(super) fn read(mut self) -> Result<Numbers, NumbersError> {
        let mut numbers = Numbers {
            columns: std::mem::take(&mut self.names),
            ..Numbers::default()
        };
        let mut number = 0;
        loop {
            let start = numbers.features.len();
            let row = match self.records.advance() {
                Ok(None) => break,
                Ok(Some(record)) => self.row.read(&record, &mut numbers.features),
                Err(error) => Err(error.into()),
            };
            number += 1;
            match row {
                Ok(Some(marks)) => {
                    numbers.ids.extend(marks.id);
                    numbers.labels.extend(marks.label);
                    numbers.numbers.push(number);
                    continue;
                }
                Ok(None) => numbers.left_out.skipped_rows += 1,
                Err(error) => numbers.left_out.bad_rows.add(error, &self.records)?,
            }
            numbers.features.truncate(start);
        }
        Ok(numbers)
    }
}

/// A reader of one row: of its columns of features, of ids and of labels.
struct RowReader<'s> {
    columns: Vec<Column<'s>>,
    id: Option<usize>,
    label: Option<usize>,
    /// Whether every row must have a label: rows to learn from must.
    needs_label: bool,
    /// The schema, which says how labels are read.
    schema: Option<&'s Schema>,
}

/// The properties that a row has besides its features.
struct Marks {
    id: Option<String>,
    label: Option<String>,
}

impl RowReader<'_> {
    /// Appends the features of a row. `None` where a policy leaves it out, or its outcome is missing;
    /// what is appended of a row that is not kept is of no use.
    fn read(
        &self,
        record: &Record<'_>,
        features: &mut Vec<f64>,
    ) -> Result<Option<Marks>, NumbersError> {
        let mut kept = true;
        for column in &self.columns {
            kept &= column.append(record, features)?;
        }
        if !kept {
            return Ok(None);
        }
        let id = match self.id {
            None => None,
            Some(id) => match record.cell(id)? {
                "" => {
                    return Err(NumbersError::NoId {
                        file: record.file().to_owned(),
                        place: record.place(),
                        column: record.column(id).to_owned(),
                    });
                }
                cell => Some(cell.to_owned()),
            },
        };
        let label = match self.label {
            None => None,
            Some(label) => {
                let cell = record.cell(label)?;
                let (is_class, is_declared) = match self.schema.map(|schema| &schema.label) {
                    Some(of) => (
                        record.known_class(label, of)?.is_some(),
                        of.is_missing(cell),
                    ),
                    None => (!is_missing(cell), false),
                };
                if self.needs_label && !is_class {
                    if is_declared {
                        return Ok(None);
                    }
                    if cell.is_empty() || self.schema.is_none() {
                        return Err(record.no_class(label).into());
                    }
                }
                Some(class_name(cell))
            }
        };
        Ok(Some(Marks { id, label }))
    }
}

/// The bound below which all whole numbers are different `f64`s.
const EXACT: f64 = 9e15;

/// Returns the name of a class: numbers are written alike, so that 1 and 1.0 are one class.
pub fn class_name(cell: &str) -> String {
    match number(cell) {
        Some(number) if number.abs() < EXACT => number.to_string(),
        _ => cell.to_owned(),
    }
}

/// Returns the names of the features that one attribute becomes.
fn feature_names(attribute: &Attribute) -> Vec<String> {
    match &attribute.kind {
        Kind::Categorical { ordered: false, .. } => {
            let (min, max) = attribute.domain();
            (min..=max)
                .map(|code| format!("{}={}", attribute.name, attribute.decode(code)))
                .collect()
        }
        _ => vec![attribute.name.clone()],
    }
}
