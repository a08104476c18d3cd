//! Tables and texts that users uploaded.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::access::Change;
use super::job::{Job, unfinished};
use super::lists::Which;
use super::log::{Action, note};
use super::{
    Contents, Count, InJson, Record, Removal, Row, Store, StoreError, params, put, remove,
};
use crate::identifier::Id;
use crate::moment::Moment;
use probity_data::infer::is_identifier;
use probity_data::schema::{Encoding, Format};

/// The kind of a data set's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum DataKind {
    /// Rows of attributes, described by a schema.
    Table,
    /// Texts, with or without labels.
    Texts,
}

/// The form of an uploaded file; it decides what the file is called on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FileForm {
    /// Comma-separated values.
    Csv,
    /// Comma-separated values, compressed with gzip.
    CsvGz,
    /// Comma-separated values, compressed with xz.
    CsvXz,
    /// Tab-separated values.
    Tsv,
    /// Tab-separated values, compressed with gzip.
    TsvGz,
    /// Tab-separated values, compressed with xz.
    TsvXz,
    /// Parquet.
    Parquet,
    /// A text on each line.
    Txt,
    /// A text on each line, compressed with gzip.
    TxtGz,
    /// A text on each line, compressed with xz.
    TxtXz,
}

impl FileForm {
    /// All forms.
    pub const ALL: [FileForm; 10] = [
        FileForm::Csv,
        FileForm::CsvGz,
        FileForm::CsvXz,
        FileForm::Tsv,
        FileForm::TsvGz,
        FileForm::TsvXz,
        FileForm::Parquet,
        FileForm::Txt,
        FileForm::TxtGz,
        FileForm::TxtXz,
    ];

    /// The ending of the names of files of this form.
    pub fn ending(self) -> &'static str {
        match self {
            FileForm::Csv => "csv",
            FileForm::CsvGz => "csv.gz",
            FileForm::CsvXz => "csv.xz",
            FileForm::Tsv => "tsv",
            FileForm::TsvGz => "tsv.gz",
            FileForm::TsvXz => "tsv.xz",
            FileForm::Parquet => "parquet",
            FileForm::Txt => "txt",
            FileForm::TxtGz => "txt.gz",
            FileForm::TxtXz => "txt.xz",
        }
    }

    /// Returns the form that the ending of a user's file name stands for.
    pub fn of_name(name: &str) -> Option<FileForm> {
        let name = name.to_ascii_lowercase();
        FileForm::ALL.into_iter().find(|form| {
            name.strip_suffix(form.ending())
                .is_some_and(|stem| stem.ends_with('.'))
        })
    }

    /// Whether tabs separate the columns of a file of this form.
    pub fn is_tabs(self) -> bool {
        matches!(self, FileForm::Tsv | FileForm::TsvGz | FileForm::TsvXz)
    }

    /// Whether a file of this form holds a text on each line.
    pub fn is_lines(self) -> bool {
        matches!(self, FileForm::Txt | FileForm::TxtGz | FileForm::TxtXz)
    }
}

/// The kind of a column, by the look of its cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ColumnKind {
    /// Whole numbers.
    Integer,
    /// Numbers.
    Numeric,
    /// Words.
    Words,
}

/// The number up to which different values of a column are counted.
pub(crate) const COUNTED: u64 = 1000;

/// A sketch of one column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ColumnSketch {
    /// The name of the column.
    pub name: String,
    /// The kind of the column, by the look of its cells.
    pub kind: ColumnKind,
    /// The number of different values, counted up to a thousand.
    pub distinct: u64,
    /// The number of cells without a value: empty, `?`, `NA`, `N/A`, `null` or `nan`.
    pub missing: u64,
    /// The first few different values, cut to sixty characters.
    pub examples: Vec<String>,
    /// All different values in their order, where there are a few short ones, as of a decision; else
    /// none.
    #[serde(default)]
    pub values: Vec<String>,
}

/// The number of different words from which on a column is no category.
const MANY: u64 = 100;

/// The number of rows from which on words that all differ are taken for names of rows.
const NAMES: u64 = 20;

impl ColumnSketch {
    /// The reason why a model should not look at the column of a table of so many `rows`; none where
    /// it may.
    pub fn why_left_out(&self, rows: u64) -> Option<String> {
        let known = rows.saturating_sub(self.missing);
        let is_of_words = self.kind == ColumnKind::Words;
        match self.distinct {
            0 => Some("it holds no value".to_owned()),
            1 => Some("it holds the same value in every row".to_owned()),
            different if is_of_words && different == known && known >= NAMES => {
                Some("every row has another value: a name, or free text".to_owned())
            }
            different if is_of_words && different > MANY => {
                Some("it has very many different values: names, or free text".to_owned())
            }
            different if self.kind == ColumnKind::Integer => {
                // Where there are more than are counted, the name tells.
                let counted = known.min(COUNTED);
                let is_identifier = is_identifier(&self.name, different as usize, counted as usize);
                is_identifier.then(|| {
                    "it numbers the rows: its name is that of an identifier, and its values hardly repeat"
                        .to_owned()
                })
            }
            _ => None,
        }
    }
}

/// The layout of a table's text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Layout {
    /// The field separator: one ASCII character.
    #[schema(value_type = String, example = ",")]
    pub separator: char,
    /// The column names by position, for a file whose first line does not name them.
    pub columns: Vec<String>,
    /// The encoding of the text, where it is neither UTF-8 nor UTF-16.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "windows-1252")]
    pub encoding: Option<Encoding>,
}

impl Default for Layout {
    fn default() -> Layout {
        Layout {
            separator: ',',
            columns: Vec::new(),
            encoding: None,
        }
    }
}

impl Layout {
    /// The layout in the form that readers of tables take.
    pub(crate) fn format(&self) -> Format {
        Format {
            separator: self.separator,
            header: self.columns.is_empty(),
            columns: self.columns.clone(),
            encoding: self.encoding,
            ..Format::default()
        }
    }
}

/// A sketch of a data set: what its upload found out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Sketch {
    /// The layout of a table; of no meaning for Parquet and for texts.
    pub layout: Layout,
    /// The number of rows or texts.
    pub rows: u64,
    /// The columns; none for a file with a text on each line.
    pub columns: Vec<ColumnSketch>,
    /// The first few rows, their cells cut to sixty characters.
    #[serde(default)]
    pub first_rows: Vec<Vec<String>>,
}

/// A table or texts that a user uploaded.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct DataSet {
    /// The identifier of the data set.
    pub id: Id,
    /// The token that the data set was uploaded with.
    pub owner: Id,
    /// The name that the user gave the data set.
    pub label: String,
    /// The kind of its content.
    pub kind: DataKind,
    /// The form of the file.
    pub form: FileForm,
    /// The number of bytes of the file.
    pub bytes: u64,
    /// The moment of the upload.
    pub created: Moment,
    /// The sketch that the upload found out.
    #[serde(flatten)]
    pub sketch: Sketch,
    /// Whether the data set has a schema, so that a model can be trained on it; tables only.
    pub has_schema: bool,
}

impl Record for DataSet {
    const NAME: &'static str = "data set";
    const TABLE: &'static str = "data_sets";
    const COLUMNS: &'static str =
        "id, owner, label, kind, form, bytes, created, sketch, has_schema";
    const RENAMED: Action = Action::DataRenamed;
    type Which = Which;

    fn id(&self) -> &Id {
        &self.id
    }

    fn owner(&self) -> &Id {
        &self.owner
    }

    fn label(&self) -> &str {
        &self.label
    }

    fn contents(&self) -> Contents {
        Contents {
            data: vec![self.id.clone()],
            ..Contents::default()
        }
    }

    fn from_row(row: &Row<'_>) -> Result<DataSet, StoreError> {
        Ok(DataSet {
            id: row.get(0)?,
            owner: row.get(1)?,
            label: row.get(2)?,
            kind: row.get::<InJson<_>>(3)?.0,
            form: row.get::<InJson<_>>(4)?.0,
            bytes: row.get::<Count>(5)?.0,
            created: row.get(6)?,
            sketch: row.get::<InJson<_>>(7)?.0,
            has_schema: row.get(8)?,
        })
    }
}

impl Store {
    /// Adds a data set.
    pub(crate) fn add_data_set(&self, change: &Change, data: &DataSet) -> Result<(), StoreError> {
        self.write(|transaction| {
            let values = params![
                data.id,
                data.owner,
                data.label,
                InJson(data.kind),
                InJson(data.form),
                Count(data.bytes),
                data.created,
                InJson(&data.sketch),
                data.has_schema
            ];
            put::<DataSet>(transaction, change, values)?;
            let (project, subject) = (Some(change.project()), Some(&data.id));
            note(
                transaction,
                change.by(),
                project,
                Action::DataUploaded,
                subject,
            )
        })
    }

    /// Records that a data set has a schema; false when the project has none with this identifier.
    pub(crate) fn note_schema(&self, change: &Change, id: &Id) -> Result<bool, StoreError> {
        self.write(|transaction| {
            let changed = transaction.execute(
                "UPDATE data_sets SET has_schema = 1 WHERE id = ? AND project = ?",
                params![id, change.project()],
            )?;
            if changed == 1 {
                let (project, action) = (Some(change.project()), Action::DataDescribed);
                note(transaction, change.by(), project, action, Some(id))?;
            }
            Ok(changed == 1)
        })
    }

    /// Deletes the record of a data set that no unfinished job reads.
    pub(crate) fn remove_data_set(&self, change: &Change, id: &Id) -> Result<Removal, StoreError> {
        let removal = self.write(|transaction| {
            let jobs = unfinished(transaction, Some(change.project()))?;
            let reads = |job: &&Job| job.specification.data_sets().any(|data| data == id);
            if let Some(job) = jobs.iter().find(reads) {
                return Ok(Removal::Needed(job.id.clone()));
            }
            if !remove::<DataSet>(transaction, change, id)? {
                return Ok(Removal::Missing);
            }
            let (project, action) = (Some(change.project()), Action::DataDeleted);
            note(transaction, change.by(), project, action, Some(id))?;
            Ok(Removal::Done)
        })?;
        self.forget_deleted()?;
        Ok(removal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_tells_the_form() {
        for (name, form) in [
            ("people.csv", Some(FileForm::Csv)),
            ("People.CSV.GZ", Some(FileForm::CsvGz)),
            ("../../etc/people.txt.xz", Some(FileForm::TxtXz)),
            ("people.parquet", Some(FileForm::Parquet)),
            ("csv", None),
            ("people.gz", None),
            ("people.exe", None),
            ("", None),
        ] {
            assert_eq!(FileForm::of_name(name), form, "{name}");
        }
    }
}
