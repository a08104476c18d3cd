//! Rows of numbers from tables, through the one reader of records.

use super::{Column, Numbers, NumbersError, NumbersOptions, Reading};
use crate::read::Records;
use crate::schema::{Attribute, Encoder, Kind};
use crate::table::Labels;

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
                option: "ignore",
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
                numbers.labels.push(record.cell(label)?.to_owned());
            }
            numbers.numbers.push(number);
        }
        Ok(numbers)
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
