//! The same rows as CSV (plain, gzip, xz), as Parquet and as record batches in memory are the same
//! table and the same numbers, and are refused for the same reasons.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, DictionaryArray, Float32Array, Float64Array,
    Int64Array, ListArray, RecordBatch, StringArray, StringViewArray, UInt16Array,
};
use arrow_schema::{DataType, Field, Schema as ArrowSchema};
use parquet::arrow::ArrowWriter;
use probity_data::compressed;
use probity_data::numbers::{Bounds, Numbers, NumbersOptions};
use probity_data::read::{ReadError, Records};
use probity_data::schema::{Format, Schema};
use probity_data::source::DataFile;
use probity_data::table::{Labels, Table};
use probity_run::run_directory::file_sha256;
use proptest::prelude::*;

const SCHEMA: &str = r#"
name = "people"
[label]
name = "income"
classes = ["low", "high"]
[[attribute]]
name = "age"
kind = "integer"
min = 17
max = 90
missing = "?"
outside = "skip"
[[attribute]]
name = "wage"
kind = "numeric"
bins = [-5.0, 0.0, 2.5, 100.0]
outside = "clip"
[[attribute]]
name = "word"
kind = "categorical"
levels = ["a, b", "say \"so\"", "plain", "two\nlines"]
missing = "?"
outside = "level"
"#;

/// Levels of `word`, then words that are none.
const WORDS: [&str; 6] = ["a, b", "say \"so\"", "plain", "two\nlines", "other", "true"];

#[derive(Debug, Clone)]
struct Person {
    age: Option<i64>,
    wage: f64,
    word: Option<&'static str>,
    high: bool,
}

fn people() -> impl Strategy<Value = Vec<Person>> {
    let person = (
        prop::option::weighted(0.8, 10i64..100),
        prop_oneof![
            (-60i32..1200).prop_map(|tenths| f64::from(tenths) / 10.0),
            -10.0..110.0
        ],
        prop::option::weighted(0.8, prop::sample::select(&WORDS[..])),
        any::<bool>(),
    );
    let person = person.prop_map(|(age, wage, word, high)| Person {
        age,
        wage,
        word,
        high,
    });
    prop::collection::vec(person, 1..40)
}

fn income(person: &Person) -> &'static str {
    if person.high { "high" } else { "low" }
}

fn csv_of(people: &[Person]) -> Vec<u8> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(["age", "wage", "word", "income"]).unwrap();
    for person in people {
        let age = person.age.map_or("?".to_owned(), |age| age.to_string());
        let wage = person.wage.to_string();
        csv.write_record([&age, &wage, person.word.unwrap_or("?"), income(person)])
            .unwrap();
    }
    csv.into_inner().unwrap()
}

/// The same rows in the types that a program would hold them in; words as a dictionary or as views.
fn batch_of(people: &[Person], dictionary: bool) -> RecordBatch {
    let words = people.iter().map(|person| person.word);
    let words: ArrayRef = if dictionary {
        Arc::new(words.collect::<DictionaryArray<Int32Type>>())
    } else {
        Arc::new(words.collect::<StringViewArray>())
    };
    let ages: Int64Array = people.iter().map(|person| person.age).collect();
    let wages: Float64Array = people.iter().map(|person| Some(person.wage)).collect();
    let incomes: StringArray = people.iter().map(|person| Some(income(person))).collect();
    RecordBatch::try_from_iter_with_nullable([
        ("age", Arc::new(ages) as ArrayRef, true),
        ("wage", Arc::new(wages), true),
        ("word", words, true),
        ("income", Arc::new(incomes), true),
    ])
    .unwrap()
}

fn parquet_file(folder: &Path, batch: &RecordBatch) -> PathBuf {
    let file = folder.join("people.parquet");
    let output = std::fs::File::create(&file).unwrap();
    let mut writer = ArrowWriter::try_new(output, batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    file
}

/// The rows as files of every kind.
fn files(folder: &Path, people: &[Person], batch: &RecordBatch) -> Vec<PathBuf> {
    let mut files = vec![parquet_file(folder, batch)];
    for name in ["people.csv", "people.csv.gz", "people.csv.xz"] {
        let file = folder.join(name);
        let mut output = std::fs::File::create(&file).unwrap();
        let text = csv_of(people);
        compressed::write_as(&file, &mut output, |out| out.write_all(&text)).unwrap();
        files.push(file);
    }
    files
}

/// The batches that a table arrives in, as one or cut in two.
fn cut(batch: &RecordBatch, at: usize) -> Vec<RecordBatch> {
    let at = at % (batch.num_rows() + 1);
    vec![batch.slice(0, at), batch.slice(at, batch.num_rows() - at)]
}

/// An error without what names the file, the line and the way a missing value is written.
fn reason(error: impl std::fmt::Display) -> String {
    let error = error.to_string();
    let column = error.find("column").unwrap_or(error.len());
    let reason = error[column..].replace("'?'", "''");
    match error.contains("holds no rows") {
        true => "no rows".to_owned(),
        false => reason,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn codes_are_the_same_from_everywhere(
        people in people(),
        at in 0usize..40,
        dictionary in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let schema = Schema::from_toml(SCHEMA).unwrap();
        let batch = batch_of(&people, dictionary);
        let memory = Table::from_arrow(&cut(&batch, at), &schema, Labels::Optional);
        for file in files(folder.path(), &people, &batch) {
            let read = Table::read(&file, &schema, Labels::Optional);
            match (&memory, read) {
                (Ok(memory), Ok(read)) => prop_assert_eq!(memory, &read, "{}", file.display()),
                (Err(memory), Err(read)) => prop_assert_eq!(reason(memory), reason(read)),
                (memory, read) => prop_assert!(false, "{:?} / {:?}", memory, read),
            }
            if let Ok(memory) = &memory {
                let hashed = Table::read_hashed(&file, &schema, Labels::Optional).unwrap();
                prop_assert_eq!(memory, &hashed.value);
                prop_assert_eq!(hashed.sha256, file_sha256(&file).unwrap());
            }
        }
    }

    #[test]
    fn numbers_are_the_same_from_everywhere(
        people in people(),
        at in 0usize..40,
        with_schema in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let options = if with_schema {
            let mut options = NumbersOptions::default();
options.schema = Some(Schema::from_toml(SCHEMA).unwrap());
options
        } else {
            let mut options = NumbersOptions::default();
options.label = Some("income".to_owned());
options.ignore = vec!["word".to_owned()];
options.bounds = vec![Bounds { column: None, min: -50.0, max: 150.0 }];
options
        };
        let batch = batch_of(&people, true);
        let memory = Numbers::from_arrow(&cut(&batch, at), &options);
        for file in files(folder.path(), &people, &batch) {
            match (&memory, Numbers::read(&file, &options)) {
                (Ok(memory), Ok(mut read)) => {
                    let source = std::mem::take(&mut read.source);
                    prop_assert_eq!(memory, &read);
                    prop_assert_eq!(source.sha256, file_sha256(&file).unwrap());
                }
                (Err(memory), Err(read)) => prop_assert_eq!(reason(memory), reason(read)),
                (memory, read) => prop_assert!(false, "{:?} / {:?}", memory, read),
            }
        }
    }
}

fn one_column(name: &str, values: ArrayRef) -> RecordBatch {
    let field = Field::new(name, values.data_type().clone(), true);
    RecordBatch::try_new(Arc::new(ArrowSchema::new(vec![field])), vec![values]).unwrap()
}

fn texts(batch: RecordBatch) -> Result<Vec<String>, ReadError> {
    let mut records = Records::from_arrow(&[batch], &Format::default())?;
    let mut texts = Vec::new();
    while let Some(record) = records.advance()? {
        texts.push(record.cell(0)?.to_owned());
    }
    Ok(texts)
}

#[test]
fn every_type_has_a_text_or_is_refused() {
    let read = |values: ArrayRef| texts(one_column("x", values)).unwrap();
    let floats = Float32Array::from(vec![Some(0.1), None]);
    assert_eq!(read(Arc::new(floats)), ["0.1", ""]);
    assert_eq!(
        read(Arc::new(UInt16Array::from(vec![7, 65_535]))),
        ["7", "65535"]
    );
    assert_eq!(
        read(Arc::new(BooleanArray::from(vec![true, false]))),
        ["true", "false"]
    );
    assert_eq!(read(Arc::new(Date32Array::from(vec![0]))), ["1970-01-01"]);
    assert_eq!(read(Arc::new(StringArray::from(vec!["  a "]))), ["a"]);
    let lists = vec![Some(vec![Some(1), Some(2)])];
    let lists: ListArray = ListArray::from_iter_primitive::<Int32Type, _, _>(lists);
    let refused = texts(one_column("x", Arc::new(lists)))
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("the table of record batches, column 'x'"),
        "{refused}"
    );
    assert!(refused.contains("List"), "{refused}");
}

#[test]
fn a_float_means_what_its_text_means() {
    let options = NumbersOptions::default();
    let floats: ArrayRef = Arc::new(Float32Array::from(vec![0.1, 16_777_216.0]));
    let batch = [one_column("x", floats)];
    let numbers = Numbers::unscaled(&batch[..], &options, None).unwrap();
    assert_eq!(numbers.features, [0.1, 16_777_216.0]);
    let large: ArrayRef = Arc::new(Int64Array::from(vec![i64::MAX]));
    let batch = [one_column("x", large)];
    let numbers = Numbers::unscaled(&batch[..], &options, None).unwrap();
    assert_eq!(numbers.features, [i64::MAX as f64]);
}

#[test]
fn rows_in_memory_are_named_in_errors() {
    let schema = Schema::from_toml(SCHEMA).unwrap();
    let person = Person {
        age: Some(40),
        wage: 1.0,
        word: Some("plain"),
        high: true,
    };
    let batch = batch_of(&vec![person; 5000], false);
    let other = one_column("age", Arc::new(Int64Array::from(vec![1])));
    let batches = [batch.clone(), other];
    let error = Table::from_arrow(&batches, &schema, Labels::Optional).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("the table of record batches: batch 2 has other columns")
    );
    let wrong: Float64Array = (0..5000).map(|row| (row != 4500).then_some(1.0)).collect();
    let mut columns = batch.columns().to_vec();
    columns[1] = Arc::new(wrong);
    let batch = RecordBatch::try_new(batch.schema(), columns).unwrap();
    let error = Table::from_arrow(&[batch], &schema, Labels::Optional).unwrap_err();
    let expected =
        "the table of record batches, row 4501, column 'wage': '' is not a number from -5 to 100";
    assert!(error.to_string().contains(expected), "{error}");
    let error = Table::from_arrow(&[], &schema, Labels::Optional).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("the table of record batches holds no rows"),
        "{error}"
    );
}

#[test]
fn a_null_is_the_marker_of_missing_values() {
    let schema = Schema::from_toml(SCHEMA).unwrap();
    let missing = Person {
        age: None,
        wage: 1.0,
        word: Some("plain"),
        high: true,
    };
    let wordless = Person {
        age: Some(40),
        word: None,
        ..missing.clone()
    };
    let batch = batch_of(&[missing, wordless], true);
    let table = Table::from_arrow(&[batch], &schema, Labels::Optional).unwrap();
    assert_eq!(
        (table.codes(), table.counts.skipped_rows),
        (&[40, 1, 4][..], 1)
    );
}

#[test]
fn a_hash_needs_no_second_pass() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.csv");
    std::fs::write(&file, "x\n1\n2\n").unwrap();
    let sha256 = file_sha256(&file).unwrap();
    let opened = DataFile::open(&file).unwrap();
    let mut records = Records::from_file(&opened, &Format::default()).unwrap();
    while records.advance().unwrap().is_some() {}
    // The file is gone: what is hashed is what was read.
    std::fs::remove_file(&file).unwrap();
    assert_eq!(opened.sha256().unwrap(), sha256);
}

#[test]
fn types_that_are_not_asked_for_are_no_fault() {
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1)])]);
    let schema = ArrowSchema::new(vec![
        Field::new("x", DataType::Int64, true),
        Field::new("lists", lists.data_type().clone(), true),
    ]);
    let columns: Vec<ArrayRef> = vec![Arc::new(Int64Array::from(vec![3])), Arc::new(lists)];
    let batch = [RecordBatch::try_new(Arc::new(schema), columns).unwrap()];
    let mut options = NumbersOptions::default();
    options.ignore = vec!["lists".to_owned()];
    let numbers = Numbers::unscaled(&batch[..], &options, None).unwrap();
    assert_eq!(numbers.features, [3.0]);
}

#[test]
fn classes_that_are_numbers_are_the_same_however_they_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let schema = SCHEMA.replace("[\"low\", \"high\"]", "[\"0\", \"1\"]");
    let schema = Schema::from_toml(&schema).unwrap();
    let mut options = NumbersOptions::default();
    options.label = Some("income".to_owned());
    options.ignore = vec!["wage".to_owned(), "word".to_owned()];
    let read = |spelling: [&str; 2]| {
        let file = folder.path().join("people.csv");
        let [zero, one] = spelling;
        let rows = format!("40,1,plain,{one}\n30,1,plain,{zero}\n20,1,plain,{one}\n");
        std::fs::write(&file, format!("age,wage,word,income\n{rows}")).unwrap();
        let table = Table::read(&file, &schema, Labels::Required).unwrap();
        let numbers = Numbers::read(&file, &options).unwrap();
        (table.labels().to_vec(), numbers.labels)
    };
    let whole = read(["0", "1"]);
    assert_eq!(whole.0, [1, 0, 1]);
    assert_eq!(whole.1, ["1", "0", "1"]);
    assert_eq!(read(["0.0", "1.0"]), whole);
    assert_eq!(read(["-0", "1e0"]), whole);
}

/// The decoder panics on some of these; that is no business of who reads a table.
#[test]
fn a_damaged_parquet_file_is_read_or_refused_by_its_name() {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("wage", Arc::new(Float64Array::from(vec![0.5, 1.0, -2.0]))),
        (
            "word",
            Arc::new(StringArray::from(vec![Some("plain"), None, Some("true")])),
        ),
        (
            "age",
            Arc::new(Int64Array::from(vec![Some(20), Some(30), None])),
        ),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut whole = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut whole, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("damaged.parquet");
    let read = |bytes: &[u8]| {
        std::fs::write(&file, bytes).unwrap();
        let mut records = Records::open(&file, &Format::default())?;
        while let Some(record) = records.advance()? {
            for position in 0..3 {
                record.cell(position)?;
                record.number(position).map(drop).unwrap_or_default();
            }
        }
        Ok::<_, ReadError>(())
    };
    read(&whole).unwrap();
    let (mut read_anyway, mut refused) = (0, 0);
    for at in 4..whole.len() {
        for change in [0x01, 0x04, 0x10, 0x80, 0xff] {
            let mut damaged = whole.clone();
            damaged[at] ^= change;
            match read(&damaged) {
                Ok(()) => read_anyway += 1,
                Err(error) => {
                    refused += 1;
                    let error = error.to_string();
                    assert!(error.contains("damaged.parquet"), "{at} {change}: {error}");
                }
            }
        }
    }
    assert!(read_anyway > 0 && refused > 1000, "{read_anyway} {refused}");
}
