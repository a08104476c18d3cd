//! A table encoded by its schema: integer codes and class labels, from a file or from memory.
//!
//! Memory: 4 bytes a value and 4 a label; a 10-million-row table of 13 attributes takes 560 MB
//! and is read in one streaming pass.

use std::path::Path;

use arrow_array::RecordBatch;

use super::bins;
use super::read::{BadRows, ReadError, Record, Records};
use super::schema::{Encoded, Encoder, Kind, Schema};
use super::source::{DataFile, Hashed};

/// Rows of integer codes, with labels where the file has them.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    width: usize,
    codes: Vec<i32>,
    labels: Vec<u32>,
    /// What the reader did to values and rows.
    pub counts: ReadCounts,
}

/// What reading changed or left out; reported in every summary.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct ReadCounts {
    /// Rows kept.
    pub rows: u64,
    /// Rows left out by an `outside = "skip"` policy.
    pub skipped_rows: u64,
    /// Values mapped by a `clip` or `level` policy.
    pub mapped_values: u64,
    /// Rows left out because something is wrong with them.
    #[serde(skip_serializing_if = "BadRows::is_empty")]
    pub bad_rows: BadRows,
}

/// The numbers that stand in the cells of numeric attributes, row by row.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CellNumbers {
    /// The numeric attributes.
    places: Vec<usize>,
    /// Row-major, NaN for a missing value and for one outside the domain.
    numbers: Vec<f64>,
}

impl CellNumbers {
    /// Those of the numeric attributes of `schema`, of no rows yet.
    fn of(schema: &Schema) -> CellNumbers {
        let is_numeric = |&place: &usize| {
            let kind = &schema.attributes[place].kind;
            matches!(kind, Kind::Numeric { .. })
        };
        CellNumbers {
            places: (0..schema.attributes.len()).filter(is_numeric).collect(),
            numbers: Vec::new(),
        }
    }

    /// The numeric attributes, by their place in the schema.
    pub fn places(&self) -> &[usize] {
        &self.places
    }

    /// The numbers of row `row`, one for each of [`CellNumbers::places`]; NaN for a missing value
    /// and for one outside the domain.
    pub fn row(&self, row: usize) -> &[f64] {
        let width = self.places.len();
        &self.numbers[row * width..(row + 1) * width]
    }

    /// `schema`, by which they were read, with the number that stands for each bin wherever it says
    /// none: the lower median of its rows.
    #[must_use]
    pub fn with_values(&self, mut schema: Schema) -> Schema {
        for (column, &place) in self.places.iter().enumerate() {
            if let Kind::Numeric { bins, values } = &mut schema.attributes[place].kind
                && values.is_none()
            {
                let own = self.numbers.iter().skip(column).step_by(self.places.len());
                let mut sorted: Vec<f64> = own.copied().filter(|number| !number.is_nan()).collect();
                sorted.sort_by(f64::total_cmp);
                *values = Some(bins::values(bins, &sorted));
            }
        }
        schema
    }
}

/// Whether a table must have labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Labels {
    /// The label column must be there and hold at least two classes.
    Required,
    /// The label column is read when it is there.
    Optional,
}

impl Table {
    /// A table of `codes` (row-major, `width` a row) with `labels`, one a row or none at all.
    pub fn new(width: usize, codes: Vec<i32>, labels: Vec<u32>) -> Table {
        let rows = codes.len().checked_div(width).unwrap_or(0);
        Table {
            width,
            codes,
            labels,
            counts: ReadCounts {
                rows: rows as u64,
                ..ReadCounts::default()
            },
        }
    }

    /// Reads `file` by `schema`.
    ///
    /// # Errors
    /// Anything in the file that the schema does not allow: see [`ReadError`]. Columns that the
    /// schema does not describe are an error unless it says otherwise.
    pub fn read(
        file: impl AsRef<Path>,
        schema: &Schema,
        labels: Labels,
    ) -> Result<Table, ReadError> {
        Self::decode(
            Records::open(file.as_ref(), &schema.format)?,
            schema,
            labels,
        )
    }

    /// The same with the file's hash, from one pass over it.
    ///
    /// # Errors
    /// See [`Table::read`].
    pub fn read_hashed(
        file: &Path,
        schema: &Schema,
        labels: Labels,
    ) -> Result<Hashed<Table>, ReadError> {
        let file = DataFile::open(file)?;
        let table = Self::decode(Records::of(&file, &schema.format)?, schema, labels)?;
        file.hashed(table)
    }

    /// The same with the numbers that stand in the cells of numeric attributes.
    ///
    /// # Errors
    /// See [`Table::read`].
    pub fn read_with_numbers(
        file: &Path,
        schema: &Schema,
        labels: Labels,
    ) -> Result<Hashed<(Table, CellNumbers)>, ReadError> {
        let file = DataFile::open(file)?;
        let records = Records::of(&file, &schema.format)?;
        let mut numbers = CellNumbers::of(schema);
        let table = Self::decode_keeping(records, schema, labels, &mut numbers)?;
        file.hashed((table, numbers))
    }

    /// The same from record batches in memory: columns by name, with the types that
    /// [`crate::read`] takes.
    ///
    /// # Errors
    /// See [`Table::read`].
    pub fn from_arrow(
        batches: &[RecordBatch],
        schema: &Schema,
        labels: Labels,
    ) -> Result<Table, ReadError> {
        let records = Records::from_arrow(batches, &schema.format)?;
        Self::decode(records, schema, labels)
    }

    fn decode(records: Records, schema: &Schema, labels: Labels) -> Result<Table, ReadError> {
        Self::decode_keeping(records, schema, labels, &mut CellNumbers::default())
    }

    /// The table, with what `numbers` asks for.
    fn decode_keeping(
        mut records: Records,
        schema: &Schema,
        labels: Labels,
        numbers: &mut CellNumbers,
    ) -> Result<Table, ReadError> {
        let file = records.file().to_owned();
        let reader = RowReader::new(&records, schema, labels)?;
        let width = reader.encoders.len();
        let mut codes = Vec::new();
        let mut classes = Vec::new();
        let mut counts = ReadCounts::default();
        loop {
            let (start, kept) = (codes.len(), numbers.numbers.len());
            let row = match records.advance() {
                Ok(None) => break,
                Ok(Some(record)) => reader.read(&record, &mut codes, numbers),
                Err(error) => Err(error),
            };
            match row {
                Ok(Some((mapped, class))) => {
                    classes.extend(class);
                    counts.rows += 1;
                    counts.mapped_values += mapped;
                    continue;
                }
                Ok(None) => counts.skipped_rows += 1,
                Err(error) => counts.bad_rows.add(error, &records)?,
            }
            codes.truncate(start);
            numbers.numbers.truncate(kept);
        }
        if counts.rows == 0 {
            let expected = "at least one row that the schema keeps";
            return Err(counts.bad_rows.none_left(&file, expected));
        }
        if labels == Labels::Required && classes.iter().all(|&class| class == classes[0]) {
            return Err(ReadError::OneClass {
                file,
                rows: classes.len(),
                class: schema.label.classes[classes[0] as usize].clone(),
            });
        }
        codes.shrink_to_fit();
        Ok(Table {
            width,
            codes,
            labels: classes,
            counts,
        })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.counts.rows as usize
    }

    /// Number of attributes.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The codes of row `row`.
    pub fn row(&self, row: usize) -> &[i32] {
        &self.codes[row * self.width..(row + 1) * self.width]
    }

    /// All codes, row-major.
    pub fn codes(&self) -> &[i32] {
        &self.codes
    }

    /// The labels, one a row; empty when the file has no label column.
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// The rows at `indices`, in that order, with their labels.
    #[must_use]
    pub fn select(&self, indices: &[u32]) -> Table {
        let mut codes = Vec::with_capacity(indices.len() * self.width);
        let mut labels = Vec::with_capacity(if self.labels.is_empty() {
            0
        } else {
            indices.len()
        });
        for &index in indices {
            codes.extend_from_slice(self.row(index as usize));
            if let Some(&label) = self.labels.get(index as usize) {
                labels.push(label);
            }
        }
        Table::new(self.width, codes, labels)
    }
}

/// What reads one row.
struct RowReader<'s> {
    schema: &'s Schema,
    encoders: Vec<Encoder<'s>>,
    columns: Vec<usize>,
    label: Option<usize>,
}

impl<'s> RowReader<'s> {
    fn new(
        records: &Records,
        schema: &'s Schema,
        labels: Labels,
    ) -> Result<RowReader<'s>, ReadError> {
        Ok(RowReader {
            schema,
            encoders: schema.attributes.iter().map(Encoder::new).collect(),
            columns: attribute_columns(records, schema)?,
            label: match labels {
                Labels::Required => Some(records.require(&schema.label.name)?),
                Labels::Optional => records.position(&schema.label.name),
            },
        })
    }

    /// Appends the codes of a row, and the numbers that are asked for: how many values were mapped,
    /// and the class. `None` where a policy leaves the row out. What is appended of a row that is
    /// not kept is of no use.
    #[inline]
    fn read(
        &self,
        record: &Record<'_>,
        codes: &mut Vec<i32>,
        numbers: &mut CellNumbers,
    ) -> Result<Option<(u64, Option<u32>)>, ReadError> {
        let mut mapped = 0;
        for (place, (encoder, &column)) in self.encoders.iter().zip(&self.columns).enumerate() {
            let is_kept = numbers.places.contains(&place);
            let mut number = None;
            match record.encode(column, encoder)? {
                Encoded::Code(code) => {
                    codes.push(code);
                    if is_kept {
                        number = record.number(column)?;
                    }
                }
                Encoded::Mapped(code) => {
                    mapped += 1;
                    codes.push(code);
                }
                Encoded::Skip => return Ok(None),
            }
            if is_kept {
                numbers.numbers.push(number.unwrap_or(f64::NAN));
            }
        }
        let class = match self.label {
            Some(column) => Some(record.class(column, &self.schema.label)?),
            None => None,
        };
        Ok(Some((mapped, class)))
    }
}

fn attribute_columns(records: &Records, schema: &Schema) -> Result<Vec<usize>, ReadError> {
    let columns = schema
        .attributes
        .iter()
        .map(|attribute| records.require(&attribute.name))
        .collect::<Result<Vec<_>, _>>()?;
    if !schema.format.ignore_other_columns {
        for (position, name) in records.names().iter().enumerate() {
            if !columns.contains(&position) && *name != schema.label.name {
                return Err(ReadError::ExtraColumn {
                    file: records.file().to_owned(),
                    column: name.clone(),
                });
            }
        }
    }
    Ok(columns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compressed;
    use std::io::Write;

    const SCHEMA: &str = r#"
name = "people"
[label]
name = "income"
classes = ["low", "high"]
aliases = { "high." = "high" }
[[attribute]]
name = "age"
kind = "integer"
min = 17
max = 90
outside = "skip"
[[attribute]]
name = "sex"
kind = "categorical"
levels = ["Female", "Male"]
missing = "?"
"#;

    fn read(text: &[u8], labels: Labels) -> Result<Table, ReadError> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text).unwrap();
        Table::read(file.path(), &Schema::from_toml(SCHEMA).unwrap(), labels)
    }

    #[test]
    fn columns_are_found_by_name_and_rows_counted() {
        let table = read(
            b"sex, income, age\nMale, high., 40\nFemale, low, 99\nFemale, low, 17\n",
            Labels::Required,
        )
        .unwrap();
        assert_eq!(table.codes(), [40, 1, 17, 0]);
        assert_eq!(table.labels(), [1, 0]);
        assert_eq!(table.counts.skipped_rows, 1);
        assert_eq!(table.select(&[1, 0]).codes(), [17, 0, 40, 1]);
    }

    #[test]
    fn compressed_files_read_the_same() {
        for name in ["people.csv.gz", "people.csv.xz"] {
            let mut bytes = Vec::new();
            let text = b"age,sex,income\n40,Male,low\n41,Female,high\n";
            compressed::write_as(Path::new(name), &mut bytes, |out| out.write_all(text)).unwrap();
            let table = read(&bytes, Labels::Required).unwrap();
            assert_eq!(table.rows(), 2);
            bytes.truncate(bytes.len() / 2);
            assert!(read(&bytes, Labels::Required).is_err());
        }
    }

    #[test]
    fn every_fault_names_its_place() {
        for (text, needle) in [
            (&b""[..], "holds no rows"),
            (b"age,sex,income\n", "holds no rows"),
            (b"age,sex,income\n40,Male\n", "line 2: 2 fields"),
            (
                b"age,sex,income\n40,Mail,low\n",
                "line 2, column 'sex': 'Mail' is not one of Female, Male",
            ),
            (b"age,sex,income\n40,?,low\n", "'?'"),
            (
                b"age,sex,income\nNaN,Male,low\n",
                "'NaN' is not a whole number",
            ),
            (b"age,sex,income\n40,Male,middling\n", "classes low, high"),
            (
                b"age,sex,income\n40,Male,low\n41,Male,low\n",
                "all 2 rows have the label 'low'",
            ),
            (b"age,sex\n40,Male\n", "no column 'income'"),
            (b"age,sex,income,zip\n40,Male,low,1\n", "column 'zip'"),
            (
                b"age,sex,sex,income\n40,Male,Male,low\n",
                "two columns called 'sex'",
            ),
            (b"age,sex,income\n40,M\xe4le,low\n", "UTF-8"),
        ] {
            let error = read(text, Labels::Required).unwrap_err().to_string();
            assert!(error.contains(needle), "{error} / {needle}");
        }
    }

    /// Two columns of a name that is read must be equal; of others they may be what they will.
    #[test]
    fn columns_of_one_name_are_equal() {
        let schema = format!("{SCHEMA}[format]\nignore_other_columns = true\n");
        let schema = Schema::from_toml(&schema).unwrap();
        for (text, twice) in [
            (
                "age,sex,income,age\n40,Male,low,99\n41,Male,high,41\n",
                Some("age"),
            ),
            (
                "age,sex,income,income\n40,Male,low,high\n41,Male,high,low\n",
                Some("income"),
            ),
            (
                "age,sex,income,age,age\n40,Male,low,40,40\n41,Male,high,41,41\n",
                None,
            ),
            (
                "age,sex,income,zip,zip\n40,Male,low,1,2\n41,Male,high,1,2\n",
                None,
            ),
        ] {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(text.as_bytes()).unwrap();
            for labels in [Labels::Required, Labels::Optional] {
                match (Table::read(file.path(), &schema, labels), twice) {
                    (Ok(table), None) => assert_eq!(table.rows(), 2),
                    (Err(error), Some(name)) => assert!(
                        error
                            .to_string()
                            .contains(&format!("line 2: two columns are called '{name}'")),
                        "{error}"
                    ),
                    (read, _) => panic!("{text}: {read:?}"),
                }
            }
        }
    }

    #[test]
    fn numbers_are_kept_beside_their_bins() {
        let schema = format!(
            "{SCHEMA}[[attribute]]\nname = \"wage\"\nkind = \"numeric\"\nbins = [0, 10, 20, 30]\noutside = \"level\"\nmissing = \"-\"\n"
        );
        let schema = Schema::from_toml(&schema).unwrap();
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let rows = "wage,age,sex,income\n3.5,40,Male,low\n7,41,Male,high\n1,99,Male,low\n9,42,Male,low\n\
                    -,40,Male,low\n95,40,Male,low\n30,40,Female,high\n";
        file.write_all(rows.as_bytes()).unwrap();
        let (table, numbers) = Table::read_with_numbers(file.path(), &schema, Labels::Required)
            .unwrap()
            .value;
        assert_eq!(numbers.places(), [2]);
        let kept: Vec<f64> = (0..table.rows()).map(|row| numbers.row(row)[0]).collect();
        assert_eq!(
            (table.rows(), &kept[..3], kept[5]),
            (6, &[3.5, 7.0, 9.0][..], 30.0)
        );
        assert!(
            kept[3].is_nan() && kept[4].is_nan(),
            "missing and outside: {kept:?}"
        );
        // The row that is left out has no say; a bin without rows is told by its edge.
        let filled = numbers.with_values(schema.clone());
        let Kind::Numeric { values, .. } = &filled.attributes[2].kind else {
            panic!("{filled:?}");
        };
        assert_eq!(values.as_deref(), Some(&[7.0, 10.0, 30.0][..]));
        filled.check().unwrap();
        let again = Schema::from_toml(&filled.to_toml().unwrap()).unwrap();
        assert_eq!(again, filled);
        assert_eq!(
            numbers.with_values(again),
            filled,
            "what the schema says stays"
        );
    }

    /// Every way in which a row can be wrong, with empty lines and comments among the lines.
    #[test]
    fn bad_rows_are_left_out_and_counted_where_the_schema_says_so() {
        let good = "age,sex,income\n40,Male,low\n\n41,Female,high\n# no data\n42,Male,high\n";
        let bad = "age,sex,income\n40,Male,low\n\n,Male,low\n41,Female,high\n# no data\n40,Mail,low\n\
                   40,Male\n40,Male,low,1\n40,Male,\n40,Male,middling\n40,Male,low low,\n\n42,Male,high\n";
        let bad = [
            bad.as_bytes(),
            b"40,M\xe4le,low\n,,\nold,Male,low\n99,Male,low\n",
        ]
        .concat();
        let schema = SCHEMA.replace(
            "[label]",
            "[format]\ncomment = \"#\"\nskip_bad_rows = SKIP\n[label]",
        );
        let of = |skip: &str| Schema::from_toml(&schema.replace("SKIP", skip)).unwrap();
        let read = |text: &[u8], skip: &str| {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(text).unwrap();
            Table::read(file.path(), &of(skip), Labels::Required)
        };
        let error = read(&bad, "false").unwrap_err().to_string();
        assert!(
            error.contains("line 4, column 'age': ''") && error.contains("; skip_bad_rows"),
            "{error}"
        );
        let (clean, table) = (
            read(good.as_bytes(), "true").unwrap(),
            read(&bad, "true").unwrap(),
        );
        assert_eq!(
            (table.codes(), table.labels()),
            (clean.codes(), clean.labels())
        );
        assert!(clean.counts.bad_rows.is_empty());
        assert_eq!(table.counts.skipped_rows, 1, "99 is the policy's affair");
        let found = &table.counts.bad_rows;
        assert_eq!(found.rows, 10);
        assert_eq!(
            found.rows,
            found.reasons.iter().map(|reason| reason.rows).sum::<u64>()
        );
        assert_eq!(
            found.to_string(),
            "10 bad rows were left out: 2 because 'age' is blank (line 4, line 16), \
             1 because 'sex' is not one of Female, Male (line 7), \
             3 because not 3 fields (line 8, line 9, line 12), \
             1 because 'income' is blank (line 10), \
             1 because 'income' is none of the classes (line 11), \
             1 because 'sex' is not UTF-8 (line 15), \
             1 because 'age' is not a whole number from 17 to 90 (line 17)"
        );
        // What is not one row's fault is refused all the same.
        for (text, needle) in [
            (&b"age,sex\n40,Male\n"[..], "no column 'income'"),
            (
                b"age,sex,income\n40,\"Male,low\n41,Male,high\n",
                "line 2: 2 fields where 3 are expected, in a row that goes over several",
            ),
            (
                b"age,sex,income\n,Male,low\n",
                "no row is left: 1 bad row was left out: 1 because",
            ),
        ] {
            let error = read(text, "true").unwrap_err().to_string();
            assert!(error.contains(needle), "{error}");
        }
    }

    #[test]
    fn labels_may_be_absent_for_an_audit() {
        let table = read(b"age,sex\n40,Male\n", Labels::Optional).unwrap();
        assert!(table.labels().is_empty());
    }
}
