//! Rows of numbers: of tables through the one reader of records, and of images.

use std::path::Path;

use super::column::{Column, Reading};
use super::error::NumbersError;
use super::options::NumbersOptions;
use crate::idx::Images;
use crate::read::{IN_MEMORY, LeftOut, Record, Records};
use crate::schema::{Attribute, Encoder, Kind, Label, is_missing};
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
    /// The labels, one a row, or none at all: names of the schema's classes, or else words as they
    /// are written; empty where a label is missing, as it never is in rows to learn from.
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
        let label = self.labels.get(at).map(String::as_str);
        label.filter(|label| !label.is_empty())
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
        if let Some(schema) = schema
            && schema.label.is_number()
            && labels == Labels::Required
        {
            return Err(NumbersError::LabelOfNumbers {
                file: file.to_owned(),
                column: schema.label.name.clone(),
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
                classes: schema.map(|schema| &schema.label),
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
    /// The label as a schema describes it; without one, labels are words.
    classes: Option<&'s Label>,
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
            Some(label) => match self.class(record, label)? {
                None if self.needs_label => return Ok(None),
                class => Some(class.unwrap_or_default()),
            },
        };
        Ok(Some(Marks { id, label }))
    }

    /// Returns the name of the class in the label column at `position`; `None` where it is missing,
    /// and where the schema says that the column holds numbers.
    fn class(&self, record: &Record<'_>, position: usize) -> Result<Option<String>, NumbersError> {
        let cell = record.cell(position)?;
        let Some(label) = self.classes else {
            return match is_missing(cell) {
                false => Ok(Some(class_name(cell))),
                true if self.needs_label => Err(NumbersError::NoLabel {
                    file: record.file().to_owned(),
                    place: record.place(),
                    column: record.column(position).to_owned(),
                    value: cell.to_owned(),
                }),
                true => Ok(None),
            };
        };
        if label.is_number() {
            return Ok(None);
        }
        let may_be_blank = !self.needs_label;
        let code = match record.known_class(position, label)? {
            Some(code) => code,
            None if label.is_missing(cell) => return Ok(None),
            None if cell.is_empty() && may_be_blank => return Ok(None),
            None => record.class(position, label)?,
        };
        Ok(label.classes.get(code as usize).cloned())
    }
}

/// The bound below which all whole numbers are different `f64`s.
const EXACT: f64 = 9e15;

/// Returns the name of a class that no schema describes: numbers are written alike, so that 1 and
/// 1.0 are one class.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::Rows;
    use crate::schema::Schema;

    const SCHEMA: &str = r#"
name = "s"
[label]
name = "y"
LABEL
[[attribute]]
name = "x"
kind = "integer"
min = 0
max = 9
"#;

    /// Options with a schema whose label is described by `label`; without one where it is blank.
    fn options(label: &str, skip_bad_rows: bool) -> NumbersOptions {
        let mut options = NumbersOptions::default();
        if label.is_empty() {
            options.label = Some("y".to_owned());
            options.format.skip_bad_rows = skip_bad_rows;
        } else {
            let mut schema = Schema::from_toml(&SCHEMA.replace("LABEL", label)).unwrap();
            schema.format.skip_bad_rows = skip_bad_rows;
            options.schema = Some(schema);
        }
        options
    }

    /// Writes a file with so many rows as there are `labels`.
    fn file(labels: &[&str]) -> tempfile::NamedTempFile {
        let rows: String = labels.iter().map(|label| format!("1,{label}\n")).collect();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), format!("x,y\n{rows}")).unwrap();
        file
    }

    fn training(labels: &[&str], options: &NumbersOptions) -> Result<Numbers, NumbersError> {
        Numbers::training(file(labels).path(), options)
    }

    fn test(labels: &[&str], options: &NumbersOptions) -> Result<Numbers, NumbersError> {
        let training = Numbers {
            columns: vec!["x".to_owned()],
            ..Numbers::default()
        };
        Numbers::test(file(labels).path(), options, &training)
    }

    #[test]
    fn labels_are_the_classes_of_the_schema_in_all_their_spellings() {
        for (label, cells, classes) in [
            (
                "classes = [\"low\", \"high\"]\naliases = { \"high.\" = \"high\" }",
                ["low", "high", "high."],
                ["low", "high", "high"],
            ),
            (
                "classes = [\"0\", \"1\"]",
                ["0.0", "1", "1e0"],
                ["0", "1", "1"],
            ),
            (
                "classes = [\"false\", \"true\"]",
                ["False", "TRUE", "true"],
                ["false", "true", "true"],
            ),
            (
                "classes = [\"few\", \"many\"]\nthreshold = 0.5",
                ["0.25", "0.5", "3"],
                ["few", "many", "many"],
            ),
        ] {
            let options = options(label, false);
            assert_eq!(training(&cells, &options).unwrap().labels, classes);
            assert_eq!(test(&cells, &options).unwrap().labels, classes);
            let unscaled = Numbers::unscaled(file(&cells).path(), &options, None).unwrap();
            assert_eq!(unscaled.labels, classes);
        }
        // Without a schema they are words, but for numbers.
        let words = training(&["1.0", "True", "true"], &options("", false)).unwrap();
        assert_eq!(words.labels, ["1", "True", "true"]);
    }

    #[test]
    fn a_word_that_is_no_class_is_refused_or_counted() {
        let classes = "classes = [\"low\", \"high\"]";
        let cells = ["low", "foo", "high"];
        type Read<'a> = &'a dyn Fn(&NumbersOptions) -> Result<Numbers, NumbersError>;
        let unscaled = |options: &NumbersOptions| {
            let file = file(&cells);
            Numbers::unscaled(Rows::from(file.path()), options, None)
        };
        let reads: [Read<'_>; 3] = [
            &|options| training(&cells, options),
            &|options| test(&cells, options),
            &unscaled,
        ];
        for read in reads {
            let error = read(&options(classes, false)).unwrap_err().to_string();
            let said = "line 3, label column 'y': 'foo' is not one of the classes low, high";
            assert!(
                error.contains(said) && error.contains("skip_bad_rows"),
                "{error}"
            );
            let kept = read(&options(classes, true)).unwrap();
            assert_eq!(kept.labels, ["low", "high"]);
            assert_eq!(kept.numbers, [1, 3]);
            assert_eq!(kept.left_out.bad_rows.rows, 1);
        }
    }

    #[test]
    fn missing_labels_are_no_classes() {
        let classes = "classes = [\"low\", \"high\"]";
        let usual = ["low", "NA", "high", "?"];
        let kept = training(&usual, &options(classes, false)).unwrap();
        assert_eq!(kept.labels, ["low", "high"]);
        assert_eq!(kept.left_out.skipped_rows, 2);
        for label in [classes, ""] {
            let read = test(&["low", "NA", "", "?", "high"], &options(label, false)).unwrap();
            let labels: Vec<Option<&str>> = (0..read.rows()).map(|at| read.label(at)).collect();
            assert_eq!(labels, [Some("low"), None, None, None, Some("high")]);
        }
        // Rows to learn from have one, unless it is a declared mark.
        let blank = training(&["low", "", "high"], &options(classes, false));
        let blank = blank.unwrap_err().to_string();
        assert!(blank.contains("missing = \"\" under [label]"), "{blank}");
        let declared = options(&format!("{classes}\nmissing = \"-\""), false);
        let kept = training(&["low", "", "-", "high"], &declared).unwrap();
        assert_eq!(kept.left_out.skipped_rows, 2);
        for mark in ["", "NA", "?"] {
            let error = training(&["low", mark, "high"], &options("", false));
            let error = error.unwrap_err().to_string();
            let said = format!("line 3, label column 'y': '{mark}' is no class");
            assert!(
                error.contains(&said) && error.contains(&format!("missing = [\"{mark}\"]")),
                "{error}"
            );
            let kept = training(&["low", mark, "high"], &options("", true)).unwrap();
            assert_eq!(kept.labels, ["low", "high"]);
            assert_eq!(kept.left_out.bad_rows.rows, 1);
        }
    }

    #[test]
    fn numbers_of_the_label_are_no_classes() {
        let options = options("kind = \"number\"", false);
        let cells = ["1.5", "2", "NA"];
        for read in [training(&cells, &options), test(&cells, &options)] {
            let error = read.unwrap_err().to_string();
            assert!(error.contains("'y' holds numbers"), "{error}");
        }
        // Nothing is voted for among rows that need no labels.
        let rows = Numbers::unscaled(file(&cells).path(), &options, None).unwrap();
        assert_eq!((rows.rows(), rows.label(0)), (3, None));
    }
}
