//! Tables: CSV, gzip, xz, Parquet, IDX, schemas.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int32Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use probity_data::compressed;
use probity_data::idx::read_idx;
use probity_data::infer::{InferOptions, infer};
use probity_data::numbers::{Numbers, NumbersOptions};
use probity_data::schema::Schema;
use probity_data::table::{Labels, Table};

use super::fixtures::{Make, people_csv, schema};
use crate::target::{Execution, Input, Seen, Target, Verdict, read};

pub const ALL: &[(&str, Make)] = &[
    ("csv", csv),
    ("gz", gz),
    ("xz", xz),
    ("parquet", parquet_table),
    ("schema", schema_toml),
    ("infer", infer_schema),
    ("numbers", numbers),
    ("idx", idx),
];

const ROWS: usize = 12;

/// The bytes that the decoder of Parquet takes at once because a page says so, before it sees that
/// the page has no such bytes: 2^31 bytes that it is decompressed to, and places of four bytes for
/// 2^31 values, which are never touched.
pub const OF_PAGES: usize = 11 << 30;

/// A target that reads a table by its schema. The same bytes compressed must give the same.
fn csv(_: &Path) -> anyhow::Result<Target> {
    let schema = schema()?;
    let skipping = schema.clone().skipping_bad_rows(true);
    let whole = people_csv(ROWS)?;
    let mut marked = "\u{feff}".as_bytes().to_vec();
    marked.extend(&whole);
    let quoted = String::from_utf8_lossy(&whole).replace("single parent", "\"single parent\"");
    let seeds = vec![
        Input::one("people.csv", whole),
        Input::one("people.csv", marked),
        Input::one("people.csv", quoted),
    ];
    let check = move |execution: &Execution<'_>| {
        let file = execution.file();
        let plain = Table::read(&file, &schema, Labels::Optional);
        let compressed_file = execution.folder.join("people.csv.gz");
        let mut output = Vec::new();
        let written = compressed::write_as(&compressed_file, &mut output, |out| {
            out.write_all(execution.bytes())
        });
        written
            .and_then(|()| std::fs::write(&compressed_file, output))
            .map_err(|error| error.to_string())?;
        let other = Table::read_hashed(&compressed_file, &schema, Labels::Optional);
        let is_small = execution.bytes().starts_with(&[0x1f, 0x8b]);
        match (&plain, &other) {
            (Ok(plain), Ok(other)) if *plain != other.value => {
                return Err("the compressed table is another one".to_owned());
            }
            (Ok(_), Err(error)) if !is_small => {
                return Err(format!("only the compressed table is refused: {error}"));
            }
            (Err(error), Ok(_)) if !is_small => {
                return Err(format!("only the plain table is refused: {error}"));
            }
            _ => {}
        }
        if let (Ok(whole), Ok(skipping)) = (&plain, Table::read(&file, &skipping, Labels::Optional))
            && (whole.codes() != skipping.codes() || whole.labels() != skipping.labels())
        {
            return Err("rows were left out though none is bad".to_owned());
        }
        read(plain)
    };
    Ok(Target::new("csv", seeds, check).words(&["single parent", "female", "high", "east"]))
}

fn compressed_as(name: &'static str, text: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut whole = Vec::new();
    compressed::write_as(Path::new(name), &mut whole, |out| out.write_all(text))?;
    Ok(whole)
}

/// A target that reads compressed files. Their content is whole copies of what was compressed, or
/// the file is refused: both formats have checksums. A file that no longer begins as the format
/// does is not compressed.
fn compressed_target(
    name: &'static str,
    file: &'static str,
    start: &'static [u8],
) -> anyhow::Result<Target> {
    let texts: Vec<Vec<u8>> = vec![people_csv(ROWS)?, b"a,b\n1,2\n".to_vec(), b"0".repeat(5000)];
    let seeds = texts
        .iter()
        .map(|text| Ok(Input::one(file, compressed_as(file, text)?)))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let check = move |execution: &Execution<'_>| {
        let mut found = Vec::new();
        // Reads in pieces, as every reader does, but no further than a bound.
        let most = 1 << 22;
        let opened = compressed::open(&execution.file());
        let outcome = opened.and_then(|open| open.take(most).read_to_end(&mut found));
        // The checksum at the end is not reached where the content is longer than the bound.
        let is_whole = outcome.is_ok() && (found.len() as u64) < most;
        if !is_whole || !execution.bytes().starts_with(start) {
            return read(outcome);
        }
        let mut rest = &found[..];
        while !rest.is_empty() {
            match texts.iter().find_map(|text| rest.strip_prefix(&text[..])) {
                Some(after) => rest = after,
                None => return Err("a damaged file was read as another one".to_owned()),
            }
        }
        Ok(Seen::Accepted)
    };
    Ok(Target::new(name, seeds, check).memory(256, 24 << 20))
}

fn gz(_: &Path) -> anyhow::Result<Target> {
    compressed_target("gz", "people.csv.gz", &[0x1f, 0x8b])
}

fn xz(_: &Path) -> anyhow::Result<Target> {
    compressed_target("xz", "people.csv.xz", b"\xfd7zXZ\0")
}

fn batch() -> anyhow::Result<RecordBatch> {
    let columns: Vec<(&str, ArrayRef)> = vec![
        (
            "age",
            Arc::new(Int32Array::from(vec![Some(31), None, Some(44)])),
        ),
        (
            "income",
            Arc::new(Float64Array::from(vec![0.5, -1e300, f64::NAN])),
        ),
        (
            "job",
            Arc::new(StringArray::from(vec![Some("cook"), Some("judge"), None])),
        ),
        (
            "hired",
            Arc::new(BooleanArray::from(vec![true, false, true])),
        ),
    ];
    Ok(RecordBatch::try_from_iter(columns)?)
}

/// A target that reads Parquet, by inference and as numbers: with the plain reader and with the one
/// that hashes.
fn parquet_table(_: &Path) -> anyhow::Result<Target> {
    let mut seeds = Vec::new();
    for compression in [Compression::UNCOMPRESSED, Compression::SNAPPY] {
        for dictionary in [true, false] {
            let properties = WriterProperties::builder()
                .set_compression(compression)
                .set_dictionary_enabled(dictionary)
                .build();
            let batch = batch()?;
            let mut bytes = Vec::new();
            let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties))?;
            writer.write(&batch)?;
            writer.close()?;
            seeds.push(Input::one("people.parquet", bytes));
        }
    }
    let check = |execution: &Execution<'_>| {
        let file = execution.file();
        let drafted = infer(&file, &options("hired"));
        let numbers = Numbers::unscaled(file.as_path(), &ignoring(), None);
        match (drafted, numbers) {
            (Err(_), Err(_)) => Ok(Seen::Refused),
            _ => Ok(Seen::Accepted),
        }
    };
    let words = &["PAR1", "ARROW:schema", "schema", "age", "income"];
    Ok(Target::new("parquet", seeds, check)
        .words(words)
        .memory(1024, OF_PAGES))
}

fn ignoring() -> NumbersOptions {
    let mut options = NumbersOptions::default();
    options.ignore = vec!["job".to_owned(), "hired".to_owned()];
    options
}

fn options(label: &str) -> InferOptions {
    let mut options = InferOptions::default();
    options.label = label.to_owned();
    options.name = "people".to_owned();
    options
}

/// A target that reads a schema: a schema that was read can be written, and read again as the same.
fn schema_toml(_: &Path) -> anyhow::Result<Target> {
    let names = ["synthetic-census", "compas", "adf-census", "german-credit"];
    let mut seeds = Vec::new();
    for name in names {
        let schema = probity_data::builtin::schema(name)?;
        let text = schema.map(|schema| schema.to_toml()).transpose()?;
        seeds.extend(text.map(|text| Input::one("schema.toml", text)));
    }
    let check = |execution: &Execution<'_>| {
        let Ok(schema) = Schema::from_toml(&execution.text()) else {
            return Ok(Seen::Refused);
        };
        let text = schema.to_toml().map_err(|error| error.to_string())?;
        match Schema::from_toml(&text) {
            Ok(again) if again == schema => Ok(Seen::Accepted),
            Ok(_) => Err("it is another schema once written".to_owned()),
            Err(error) => Err(format!("it is refused once written: {error}")),
        }
    };
    let words = &[
        "kind", "bins", "values", "outside", "level", "missing", "min", "max", "label",
    ];
    Ok(Target::new("schema", seeds, check).words(words))
}

/// A target that drafts a schema: the draft reads the table that it was drafted from.
fn infer_schema(_: &Path) -> anyhow::Result<Target> {
    let seeds = vec![
        Input::one("people.csv", people_csv(ROWS)?),
        Input::one("people.csv", "a,income\n1.5,no\n?,yes\n,no\n1e9,yes\n"),
        Input::one("people.csv", "a,b,income\n2024-01-01,x,1\n2024-01-02,,0\n"),
    ];
    let check = |execution: &Execution<'_>| {
        let file = execution.file();
        let Ok(draft) = infer(&file, &options("income")) else {
            return Ok(Seen::Refused);
        };
        draft
            .schema
            .check()
            .map_err(|error| format!("its own draft is refused: {error}"))?;
        let text = draft.schema.to_toml().map_err(|error| error.to_string())?;
        let again = Schema::from_toml(&text);
        if again.ok().as_ref() != Some(&draft.schema) {
            return Err("the draft is another schema once written".to_owned());
        }
        match Table::read(&file, &draft.schema, Labels::Required) {
            Ok(_) => Ok(Seen::Accepted),
            Err(error) => Err(format!("the draft does not read its own table: {error}")),
        }
    };
    Ok(Target::new("infer", seeds, check).words(&["income", "?", "NA", "nan", "1e308"]))
}

fn numbers(_: &Path) -> anyhow::Result<Target> {
    let seeds = vec![
        Input::one("rows.csv", "id,a,b,class\n1,0.5,-2,x\n2,1e3,7,y\n3,0,0,x\n"),
        Input::one("rows.csv", "id,a,b,class\n9,1,2,1\n8,3,4,0\n"),
    ];
    let check = |execution: &Execution<'_>| {
        let mut options = NumbersOptions::default();
        options.label = Some("class".to_owned());
        options.id = Some("id".to_owned());
        let file = execution.file();
        let Ok(numbers) = Numbers::training(file.as_path(), &options) else {
            return Ok(Seen::Refused);
        };
        let is_finite =
            (0..numbers.rows()).all(|row| numbers.row(row).iter().all(|number| number.is_finite()));
        match is_finite {
            true => Ok(Seen::Accepted),
            false => Err("a number is not finite".to_owned()),
        }
    };
    Ok(Target::new("numbers", seeds, check).words(&["class", "id", "1e308", "nan"]))
}

fn idx(_: &Path) -> anyhow::Result<Target> {
    let mut images = vec![0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, 4];
    images.extend((0..32_u8).map(|pixel| pixel * 8));
    let labels = vec![0, 0, 8, 1, 0, 0, 0, 2, 7, 1];
    let seeds = vec![
        Input::one("images", images.clone()),
        Input::one("images", labels),
        Input::one("images", compressed_as("images.gz", &images)?),
    ];
    let check = |execution: &Execution<'_>| -> Verdict {
        let file = execution.file();
        let _ = Numbers::unscaled(file.as_path(), &NumbersOptions::default(), None);
        let Ok(idx) = read_idx(&file) else {
            return Ok(Seen::Refused);
        };
        let said: u64 = idx
            .value
            .dimensions
            .iter()
            .map(|&size| u64::from(size))
            .product();
        match said == idx.value.values.len() as u64 {
            true => Ok(Seen::Accepted),
            false => Err("it has not the bytes that it says".to_owned()),
        }
    };
    Ok(Target::new("idx", seeds, check))
}
