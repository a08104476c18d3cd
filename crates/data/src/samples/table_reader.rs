//! Rows of numbers from CSV and Parquet, through the one reader of tables.

use std::path::Path;

use super::{Samples, SamplesError, SamplesOptions};
use crate::read::{ReadError, Record, Records};
use crate::schema::{Attribute, Encoded, Encoder, Kind};
use crate::table::Labels;

/// What becomes of one column of a table.
enum Reading<'s> {
    Number,
    Attribute(Encoder<'s>, &'s Kind),
}

pub(super) struct TableReader<'s> {
    records: Records,
    label: Option<usize>,
    columns: Vec<(usize, Reading<'s>)>,
    names: Vec<String>,
}

impl<'s> TableReader<'s> {
    pub(super) fn open(
        file: &Path,
        options: &'s SamplesOptions,
        training: Option<&Samples>,
        labels: Labels,
    ) -> Result<Self, SamplesError> {
        let schema = options.schema.as_ref();
        let format = schema.map_or(&options.format, |schema| &schema.format);
        let label = schema
            .map(|schema| schema.label.name.clone())
            .or_else(|| options.label.clone());
        if label.is_none() && labels == Labels::Required {
            return Err(SamplesError::NoLabelColumn {
                file: file.to_owned(),
            });
        }
        let records = Records::open(file, format)?;
        let missing = |column: &str| ReadError::MissingColumn {
            file: file.to_owned(),
            column: column.to_owned(),
            found: records.names().join(", "),
        };
        let position = label.as_ref().and_then(|label| records.position(label));
        // A schema always names a label, which files without labels lack.
        let named = options.label.is_some() || labels == Labels::Required;
        if let Some(label) = &label
            && position.is_none()
            && training.is_none()
            && named
        {
            return Err(missing(label).into());
        }
        if let Some(column) = options
            .ignore
            .iter()
            .find(|column| training.is_none() && records.position(column).is_none())
        {
            return Err(SamplesError::NoSuchColumn {
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
                    let at = records
                        .position(&attribute.name)
                        .ok_or_else(|| missing(&attribute.name))?;
                    names.extend(feature_names(attribute));
                    columns.push((
                        at,
                        Reading::Attribute(Encoder::new(attribute), &attribute.kind),
                    ));
                }
            }
            (None, Some(training)) => {
                let mut named = records.names().iter().filter(is_feature);
                if let Some(other) = named.find(|name| !training.columns.contains(name)) {
                    return Err(SamplesError::OtherColumns {
                        file: file.to_owned(),
                        column: other.clone(),
                        training: training.file.clone(),
                    });
                }
                for name in &training.columns {
                    let at = records.position(name).ok_or_else(|| missing(name))?;
                    names.push(name.clone());
                    columns.push((at, Reading::Number));
                }
            }
            (None, None) => {
                for (at, name) in records.names().iter().enumerate() {
                    if is_feature(&name) {
                        names.push(name.clone());
                        columns.push((at, Reading::Number));
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

    pub(super) fn read(mut self) -> Result<Samples, SamplesError> {
        let file = self.records.file().to_owned();
        let mut samples = Samples {
            file: file.clone(),
            columns: self.names,
            ..Samples::default()
        };
        let mut number = 0;
        while let Some(record) = self.records.advance()? {
            number += 1;
            let start = samples.features.len();
            let mut kept = true;
            for (position, reading) in &self.columns {
                let cell = record.cell(*position)?;
                let name = || record.column(*position).to_owned();
                kept &= match reading {
                    Reading::Number => {
                        let value = finite(cell).ok_or_else(|| SamplesError::NotANumber {
                            file: file.clone(),
                            place: record.place(),
                            column: name(),
                            value: cell.to_owned(),
                        })?;
                        samples.features.push(value);
                        true
                    }
                    Reading::Attribute(encoder, kind) => encode(
                        &record,
                        &file,
                        name,
                        cell,
                        encoder,
                        kind,
                        &mut samples.features,
                    )?,
                };
            }
            if !kept {
                samples.features.truncate(start);
                samples.skipped_rows += 1;
                continue;
            }
            if let Some(label) = self.label {
                samples.labels.push(record.cell(label)?.to_owned());
            }
            samples.numbers.push(number);
        }
        Ok(samples)
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

/// Appends the features of one cell; false if the row is to be left out.
fn encode(
    record: &Record<'_>,
    file: &Path,
    column: impl Fn() -> String,
    cell: &str,
    encoder: &Encoder<'_>,
    kind: &Kind,
    features: &mut Vec<f64>,
) -> Result<bool, SamplesError> {
    let encoded = encoder.encode(cell).map_err(|expected| ReadError::Value {
        file: file.to_owned(),
        place: record.place(),
        column: column(),
        value: cell.to_owned(),
        expected,
    })?;
    let (code, mapped) = match encoded {
        Encoded::Code(code) => (code, false),
        Encoded::Mapped(code) => (code, true),
        Encoded::Skip => return Ok(false),
    };
    match kind {
        Kind::Categorical { ordered: false, .. } => {
            let (min, max) = encoder.attribute().domain();
            features.extend((min..=max).map(|level| f64::from(u8::from(level == code))));
        }
        Kind::Categorical { .. } | Kind::Integer { .. } => features.push(f64::from(code)),
        Kind::Numeric { bins } if mapped => {
            let last = bins.len() as i32 - 2;
            let edge = match code {
                0 => bins.first(),
                code if code == last => bins.last(),
                _ => None,
            };
            features.push(*edge.ok_or_else(|| SamplesError::LevelWithoutDistance {
                file: file.to_owned(),
                place: record.place(),
                column: column(),
                value: cell.to_owned(),
            })?);
        }
        // The encoder has found it to be a finite number.
        Kind::Numeric { .. } => features.push(finite(cell).unwrap_or_default()),
    }
    Ok(true)
}

fn finite(cell: &str) -> Option<f64> {
    cell.parse().ok().filter(|value: &f64| value.is_finite())
}
