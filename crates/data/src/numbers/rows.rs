//! Rows of numbers: of tables through the one reader of records, and of images.

use std::path::Path;

use super::column::{Column, Reading};
use super::error::NumbersError;
use super::options::NumbersOptions;
use crate::idx::Images;
use crate::read::{IN_MEMORY, Records};
use crate::schema::{Attribute, Encoder, Kind, finite};
use crate::source::{Hashed, Source};
use crate::table::Labels;

/// Rows of finite numbers, with labels where they have them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Numbers {
    /// The files that they are from.
    pub source: Source,
    /// One name a feature.
    pub columns: Vec<String>,
    /// Row-major, `[rows, columns]`.
    pub features: Vec<f64>,
    /// One label a row, or none at all.
    pub labels: Vec<String>,
    /// The number of each row in its file or its batches, from 1, headers not counted.
    pub numbers: Vec<u64>,
    /// Rows left out by an `outside = "skip"` policy.
    pub skipped_rows: u64,
}

impl Numbers {
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.numbers.len()
    }

    /// The features of row `at`; empty if there is no such row.
    pub fn row(&self, at: usize) -> &[f64] {
        let width = self.columns.len();
        let start = at.saturating_mul(width);
        self.features
            .get(start..start.saturating_add(width))
            .unwrap_or_default()
    }

    /// The label of row `at`, if it has one.
    pub fn label(&self, at: usize) -> Option<&str> {
        self.labels.get(at).map(String::as_str)
    }

    /// The file that they are from, or what errors call batches in its place.
    pub fn name(&self) -> &Path {
        match self.source.file.as_os_str().is_empty() {
            true => Path::new(IN_MEMORY),
            false => &self.source.file,
        }
    }

    /// The pixels of `images`, with the labels that another file holds.
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
            numbers: (1..=u64::from(images.count)).collect(),
            skipped_rows: 0,
        }
    }
}

pub(super) struct TableReader<'s> {
    records: Records,
    label: Option<usize>,
    columns: Vec<Column<'s>>,
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
            .find(|column| training.is_none() && records.position(column).is_none())
        {
            return Err(NumbersError::NoSuchColumn {
                field: "ignore",
                column: column.clone(),
                file: file.to_owned(),
            });
        }
        let is_feature =
            |name: &&String| Some(*name) != label.as_ref() && !options.ignore.contains(name);
        let mut columns = Vec::new();
        let mut names = Vec::new();
        match (schema, training) {
            (Some(schema), _) => {
                for attribute in &schema.attributes {
                    if options.ignore.contains(&attribute.name) {
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
            label: position,
            columns,
            names,
        })
    }

    pub(super) fn read(mut self) -> Result<Numbers, NumbersError> {
        let mut numbers = Numbers {
            columns: self.names,
            ..Numbers::default()
        };
        let mut number = 0;
        while let Some(record) = self.records.advance()? {
            number += 1;
            let start = numbers.features.len();
            let mut kept = true;
            for column in &self.columns {
                kept &= column.append(&record, &mut numbers.features)?;
            }
            if !kept {
                numbers.features.truncate(start);
                numbers.skipped_rows += 1;
                continue;
            }
            if let Some(label) = self.label {
                numbers.labels.push(class_name(record.cell(label)?));
            }
            numbers.numbers.push(number);
        }
        Ok(numbers)
    }
}

/// Whole numbers below this are all different `f64`s.
const EXACT: f64 = 9e15;

/// The name of a class: numbers are written alike, so that 1 and 1.0 are one class.
fn class_name(cell: &str) -> String {
    match finite(cell) {
        // Adding zero takes the sign of -0 away.
        Some(number) if number.abs() < EXACT => (number + 0.0).to_string(),
        _ => cell.to_owned(),
    }
}

/// The names of the features that one attribute becomes.
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
