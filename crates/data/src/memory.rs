//! Tables that live in this process, under names by which a specification can call them.
//!
//! A specification is the only thing that says what a run reads, and it names files. A caller whose
//! data are in memory, such as a data frame, gives them a name: [`register`] makes `memory:NAME` a
//! file to every reader of this crate ([`super::source::DataFile`]), until the registration is
//! dropped. The batches are shared, not copied. In another process the name stands for nothing, so
//! a run that read it can be repeated or gone on with only where the same rows are registered
//! again; their hash says whether they are the same.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_row::{RowConverter, SortField};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use sha2::{Digest, Sha256};

/// The beginning of the path of a table in memory.
const SCHEME: &str = "memory:";
/// The version of the form that is hashed.
const FORM: &[u8] = b"probity rows 1";
/// The number of rows hashed at a time.
const SLICE: usize = 1 << 14;

static TABLES: RwLock<BTreeMap<PathBuf, Batches>> = RwLock::new(BTreeMap::new());

/// The batches of a table.
pub(crate) type Batches = Arc<[RecordBatch]>;

/// A table that is registered under a name, until this is dropped.
#[derive(Debug)]
pub struct Registered {
    path: PathBuf,
}

impl Registered {
    /// Returns the path by which a specification names the table.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        let mut tables = TABLES.write().unwrap_or_else(PoisonError::into_inner);
        tables.remove(&self.path);
    }
}

/// Registers `batches` as `memory:NAME`. The batches must all have the columns of the first, which
/// readers look at.
///
/// # Errors
/// When another table has this name.
pub fn register(name: &str, batches: Vec<RecordBatch>) -> io::Result<Registered> {
    let path = PathBuf::from(format!("{SCHEME}{name}"));
    let mut tables = TABLES.write().unwrap_or_else(PoisonError::into_inner);
    if tables.contains_key(&path) {
        let problem = format!("there is another table in memory of the name '{name}'");
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, problem));
    }
    tables.insert(path.clone(), batches.into());
    Ok(Registered { path })
}

/// Registers a table of the texts of `columns`, each with its name and as long as the others, as
/// `memory:NAME`.
///
/// # Errors
/// When another table has this name, or the columns differ in length.
pub fn register_texts(name: &str, columns: &[(&str, Vec<String>)]) -> io::Result<Registered> {
    let fields = columns
        .iter()
        .map(|(name, _)| Field::new(*name, DataType::Utf8, true));
    let schema = Schema::new(fields.collect::<Vec<_>>());
    let columns = columns
        .iter()
        .map(|(_, texts)| Arc::new(StringArray::from_iter_values(texts)) as ArrayRef);
    let batch = RecordBatch::try_new(Arc::new(schema), columns.collect());
    register(name, vec![batch.map_err(io::Error::other)?])
}

/// Returns whether `path` is the name of a table in memory, of this process or of another.
pub fn is_name(path: &Path) -> bool {
    path.to_str().is_some_and(|name| name.starts_with(SCHEME))
}

/// Returns the table that `path` names, if it names one.
pub(crate) fn table(path: &Path) -> Option<Batches> {
    let tables = TABLES.read().unwrap_or_else(PoisonError::into_inner);
    tables.get(path).cloned()
}

/// Returns the SHA-256 of the columns' names and types and of the values row by row: however the
/// rows are cut into batches, and whatever stands under a null.
pub(crate) fn hash(batches: &[RecordBatch]) -> Result<Sha256, ArrowError> {
    let mut hasher = Sha256::new();
    hasher.update(FORM);
    let Some(schema) = batches.first().map(RecordBatch::schema) else {
        return Ok(hasher);
    };
    for field in schema.fields() {
        let line = format!("{:?} {}\n", field.name(), field.data_type());
        hasher.update(line);
    }
    let converter = converter(&schema)?;
    for batch in batches {
        for start in (0..batch.num_rows()).step_by(SLICE) {
            let slice = batch.slice(start, SLICE.min(batch.num_rows() - start));
            for row in &converter.convert_columns(slice.columns())? {
                hasher.update((row.as_ref().len() as u64).to_le_bytes());
                hasher.update(row);
            }
        }
    }
    Ok(hasher)
}

fn converter(schema: &SchemaRef) -> Result<RowConverter, ArrowError> {
    let fields = schema.fields().iter();
    let fields = fields.map(|field| SortField::new(field.data_type().clone()));
    RowConverter::new(fields.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infer::{InferOptions, infer};
    use crate::schema::Schema;
    use crate::source::DataFile;
    use crate::table::{Labels, Table};
    use arrow_array::{ArrayRef, Int64Array, StringArray};
    use arrow_schema::{DataType, Field, Schema as ArrowSchema};
    use std::io::Read;

    fn batch(ages: &[Option<i64>], classes: &[&str]) -> RecordBatch {
        let schema = ArrowSchema::new(vec![
            Field::new("age", DataType::Int64, true),
            Field::new("label", DataType::Utf8, true),
        ]);
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from(ages.to_vec())),
            Arc::new(StringArray::from(classes.to_vec())),
        ];
        RecordBatch::try_new(Arc::new(schema), columns).unwrap()
    }

    fn sha256(path: &Path) -> String {
        DataFile::open(path).unwrap().sha256().unwrap()
    }

    #[test]
    fn a_name_is_a_file_to_every_reader_while_it_lasts() {
        let whole = batch(&[Some(40), Some(17), Some(30)], &["yes", "no", "no"]);
        let parts = vec![whole.slice(0, 1), whole.slice(1, 2)];
        let other = batch(&[Some(40), Some(17), None], &["yes", "no", "no"]);
        let one = register("one", vec![whole.clone()]).unwrap();
        let same = register("same", parts).unwrap();
        let changed = register("changed", vec![other]).unwrap();
        assert!(is_name(one.path()) && !is_name(Path::new("one.csv")));
        assert_eq!(sha256(one.path()), sha256(same.path()));
        assert_ne!(sha256(one.path()), sha256(changed.path()));

        let schema = Schema::from_toml(
            "name = \"s\"\n[label]\nname = \"label\"\nclasses = [\"no\", \"yes\"]\n\
             [[attribute]]\nname = \"age\"\nkind = \"integer\"\nmin = 0\nmax = 99\n",
        )
        .unwrap();
        let hashed = Table::read_hashed(same.path(), &schema, Labels::Required).unwrap();
        assert_eq!(hashed.value.codes(), [40, 17, 30]);
        assert_eq!(hashed.value.labels(), [1, 0, 0]);
        assert_eq!(hashed.sha256, sha256(one.path()));
        let options = InferOptions {
            label: "label".into(),
            ..InferOptions::default()
        };
        let draft = infer(one.path(), &options).unwrap();
        assert_eq!(draft.schema.attributes[0].domain(), (17, 40));

        assert!(register("one", Vec::new()).is_err());
        let path = one.path().to_owned();
        drop(one);
        let gone = Table::read(&path, &schema, Labels::Required).unwrap_err();
        assert!(gone.to_string().contains("memory:one"), "{gone}");
        register("one", Vec::new()).unwrap();
    }

    #[test]
    fn what_reads_bytes_refuses_rows() {
        let rows = batch(&[Some(1)], &["a"]);
        let named = register("bytes", vec![rows]).unwrap();
        let mut file = DataFile::open(named.path()).unwrap();
        let error = file.read_to_end(&mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains("in memory"), "{error}");
    }

    #[test]
    fn classes_that_are_given_need_no_column() {
        let rows = batch(&[Some(1), Some(4)], &["x", "x"]);
        let named = register("unlabelled", vec![rows]).unwrap();
        let options = InferOptions {
            label: "decision".into(),
            classes: vec!["yes".into(), "no".into()],
            ..InferOptions::default()
        };
        let draft = infer(named.path(), &options).unwrap();
        assert_eq!(draft.schema.label.classes, ["no", "yes"]);
        assert_eq!(draft.notes[0].column, "decision");
    }
}
