//! Tests of reading, refusing and leaving out tables and lines.

use super::*;

fn read(name: &str, content: &[u8], text: &str, label: &str) -> Result<TextCorpus, String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    let mut out = std::fs::File::create(&file).unwrap();
    compressed::write_as(&file, &mut out, |out| out.write_all(content)).unwrap();
    let some = |name: &str| (!name.is_empty()).then(|| name.to_owned());
    read_texts(
        &file,
        &TextColumns {
            text: some(text),
            label: some(label),
            label_threshold: name.starts_with("shares").then_some(0.5),
            skip_bad_rows: name.starts_with("skip"),
            classes: match name.contains("known") {
                true => vec!["NA".to_owned()],
                false => Vec::new(),
            },
        },
    )
    .and_then(|corpus| corpus.expect_classes(&file, label).map(|()| corpus))
    .map_err(|error| error.to_string().replace(&file.display().to_string(), name))
}

#[test]
fn tables_and_lines_are_read_whatever_their_compression() {
    let csv = "id,text,y\n1,\"A, b\n\"\"c\"\"\",10\n2,d,9\n3,e,10\n";
    let expected = TextCorpus {
        texts: vec!["A, b\n\"c\"".into(), "d".into(), "e".into()],
        labels: vec![1, 0, 1],
        classes: vec!["9".into(), "10".into()],
        rows: RowNumbers::first(3),
        ..TextCorpus::default()
    };
    for name in ["a.csv", "a.csv.gz", "a.csv.xz", "a"] {
        assert_eq!(
            read(name, csv.as_bytes(), "text", "y").unwrap(),
            expected,
            "{name}"
        );
    }
    let tsv = read("a.TSV.xz", b"text\ty\na, b\tyes\nc\tno\n", "text", "y").unwrap();
    assert_eq!((tsv.texts[0].as_str(), tsv.labels), ("a, b", vec![1, 0]));
    assert_eq!(tsv.classes, ["no", "yes"]);
    let lines = read("a.txt.gz", "\u{feff}one\r\n\n two, 2 \n".as_bytes(), "", "").unwrap();
    assert_eq!(lines.texts, ["one", "two, 2"]);
    assert_eq!(read("a.csv", b"text\na\n", "", "").unwrap().texts, ["a"]);
}

#[test]
fn parquet_is_read() {
    use arrow_array::{ArrayRef, RecordBatch, StringArray};
    use std::sync::Arc;
    let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("a b"), Some("c"), None]));
    let batch = RecordBatch::try_from_iter([("text", texts)]).unwrap();
    let mut bytes = Vec::new();
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch.slice(0, 2)).unwrap();
    writer.close().unwrap();
    assert_eq!(
        read("a.parquet", &bytes, "text", "").unwrap().texts,
        ["a b", "c"]
    );
    let mut bytes = Vec::new();
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let error = read("a.parquet", &bytes, "text", "").unwrap_err();
    assert!(
        error.contains("row 3: there is nothing in the column 'text'"),
        "{error}"
    );
}

#[test]
fn bad_rows_are_left_out_where_that_is_asked_for() {
    let csv = b"text,y\na,1\n,2\nb,\nc\nd,2\n\x81,1\n";
    let corpus = read("skip.csv", csv, "text", "y").unwrap();
    assert_eq!(corpus.texts, ["a", "d"]);
    assert_eq!((corpus.labels.len(), corpus.classes.len()), (2, 2));
    assert_eq!((corpus.rows.number(0), corpus.rows.number(1)), (1, 5));
    let texts = [1, 2, 5, 7].map(|row| corpus.rows.index_of(row));
    assert_eq!(texts, [Some(0), None, Some(1), None]);
    assert_eq!(corpus.bad_rows.rows, 4);
    let said = corpus.bad_rows.to_string();
    for reason in [
        "1 because 'text' is blank (line 3)",
        "'y' is blank (line 4)",
        "not 2 fields",
        "'text' is not UTF-8",
    ] {
        assert!(said.contains(reason), "{said}");
    }
    let error = read("a.csv", csv, "text", "y").unwrap_err();
    assert!(
        error.contains("line 3") && error.contains("; skip_bad_rows"),
        "{error}"
    );
    let error = read("skip.csv", b"text,y\n,1\n", "text", "y").unwrap_err();
    assert!(
        error.contains("no row is left: 1 bad row was left out"),
        "{error}"
    );
    let whole = read("skip.csv", b"text\na\nb\n", "text", "").unwrap();
    assert_eq!((whole.rows.number(1), whole.rows.index_of(2)), (2, Some(1)));
    assert_eq!(whole.rows.index_of(0), None);
}

#[test]
fn marks_of_what_is_missing_are_no_labels() {
    let csv = b"text,y\na,NA\nb,1\nc,0\nd,n/a\nNA,1\ne,\n";
    let corpus = read("skip.csv", csv, "text", "y").unwrap();
    assert_eq!(corpus.texts, ["b", "c", "NA"]);
    assert_eq!(
        (corpus.classes.join(" "), corpus.labels),
        ("0 1".into(), vec![1, 0, 1])
    );
    let said = corpus.bad_rows.to_string();
    for reason in [
        "2 because 'y' is missing (line 2, line 5)",
        "1 because 'y' is blank (line 7)",
    ] {
        assert!(said.contains(reason), "{said}");
    }
    let error = read("a.csv", csv, "text", "y").unwrap_err();
    assert!(
        error.contains("line 2: the label in the column 'y' is missing, which 'NA' says")
            && error.contains("; skip_bad_rows leaves"),
        "{error}"
    );
    let shares = b"text,y\na,NA\nb,0.2\n";
    let error = read("shares.csv", shares, "text", "y").unwrap_err();
    assert!(error.contains("'NA' says"), "{error}");
    // A model has a class that is called so.
    let known = read("skip-known.csv", csv, "text", "y").unwrap();
    assert_eq!(known.classes, ["0", "1", "NA"]);
    assert_eq!(known.bad_rows.rows, 2);
}

#[test]
fn spellings_of_one_number_are_one_class() {
    let csv = b"text,y\na,0.0\nb,1\nc,0\nd,1.0\ne,01\n";
    let corpus = read("a.csv", csv, "text", "y").unwrap();
    assert_eq!(corpus.classes, ["0", "1"]);
    assert_eq!(corpus.labels, [0, 1, 0, 1, 1]);
    let mixed = read("a.csv", b"text,y\na,1.0\nb,no\nc,1\n", "text", "y").unwrap();
    assert_eq!(
        (mixed.classes.join(" "), mixed.labels),
        ("1 no".into(), vec![0, 1, 0])
    );
}

#[test]
fn bad_files_are_refused_by_what_is_wrong() {
    for (name, content, text, label, expected) in [
        (
            "a.csv",
            &b"text,y\na,1\nb,\n"[..],
            "text",
            "y",
            "a.csv, line 3: there is nothing in the column 'y'",
        ),
        (
            "a.csv.xz",
            b"text,y\n\"a\nb\",1\n,1\n",
            "text",
            "y",
            "a.csv.xz, line 4: there is nothing in the column 'text'",
        ),
        (
            "a.csv",
            b"text,y\na,1\nb,1\n",
            "text",
            "y",
            "all 2 texts have the label '1' in the column 'y'",
        ),
        (
            "a.csv",
            b"text,y\na,1\n",
            "body",
            "",
            "no column 'body'; its columns are text, y",
        ),
        (
            "a.csv",
            b"text,y\na,1\n",
            "text",
            "z",
            "no column 'z'; its columns are text, y",
        ),
        (
            "a.csv",
            b"text,y\na,1\n",
            "",
            "",
            "name the one with the texts (text_column): text, y",
        ),
        ("a.csv", b"text,y\n", "text", "", "a.csv holds no texts"),
        ("a.txt", b"\n \n", "", "", "a.txt holds no texts"),
        (
            "a.txt",
            b"a\n\x81\n",
            "",
            "",
            "a.txt, line 2: the text is not valid UTF-8",
        ),
        ("a.txt", b"a\n", "", "y", "has no column 'y'"),
        ("a.csv", b"text\n\x81\x81\n", "text", "", "not valid UTF-8"),
        (
            "a.csv",
            b"text,y\na\n",
            "text",
            "",
            "1 fields where 2 are expected",
        ),
    ] {
        let error = read(name, content, text, label).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn shares_are_no_classes_until_a_threshold_makes_two_of_them() {
    let csv = b"text,y\na,0.0\nb,0.5\nc,0.8333\nd,0.4\ne,1\n";
    let error = read("a.csv", csv, "text", "y").unwrap_err();
    assert!(
        error.contains("5 labels")
            && error.contains("such as 0.4")
            && error.contains("--label-threshold"),
        "{error}"
    );
    let two = read("shares.csv", csv, "text", "y").unwrap();
    assert_eq!(two.classes, ["below 0.5", "0.5 or more"]);
    assert_eq!(two.labels, [0, 1, 1, 0, 1]);
    let error = read("shares.csv", b"text,y\na,0.1\nb,high\n", "text", "y").unwrap_err();
    assert!(
        error.contains("line 3") && error.contains("'high'"),
        "{error}"
    );
    // 0.0 and 1.0 are classes.
    let floats = read("a.csv", b"text,y\na,0.0\nb,1.0\n", "text", "y").unwrap();
    assert_eq!(floats.classes, ["0.0", "1.0"]);
}

#[test]
fn separators_encodings_and_json_are_found() {
    let expected = ["a, b", "c; é"];
    for (name, content) in [
        ("a.csv", "text;y\n\"a, b\";1\n\"c; é\";2\n"),
        ("b.csv", "text|y\na, b|1\nc; é|2\n"),
        ("c.csv", "y\ttext\n1\ta, b\n2\tc; é\n"),
        (
            "d.jsonl",
            "{\"text\": \"a, b\", \"y\": 1}\n{\"y\": 2, \"text\": \"c; é\"}\n",
        ),
        (
            "e.json.gz",
            "[{\"y\": 1, \"text\": \"a, b\"}, {\"y\": 2, \"text\": \"c; é\"}]",
        ),
    ] {
        let corpus = read(name, content.as_bytes(), "text", "y").unwrap();
        assert_eq!(corpus.texts, expected, "{name}");
        assert_eq!(corpus.classes, ["1", "2"], "{name}");
    }
    let asked = b"What did you think; honestly?\nnot much; so\nit; is fine\n";
    let corpus = read("a.csv", asked, "What did you think; honestly?", "").unwrap();
    assert_eq!(corpus.texts, ["not much; so", "it; is fine"]);
    let of_windows = b"text;y\ncaf\xe9;1\nd;2\n";
    assert_eq!(
        read("a.csv", of_windows, "text", "y").unwrap().texts,
        ["café", "d"]
    );
    assert_eq!(
        read("a.txt", b"caf\xe9\nd\n", "", "").unwrap().texts,
        ["café", "d"]
    );
    let of_utf16: Vec<u8> = "\u{feff}é\nd\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    assert_eq!(read("a.txt", &of_utf16, "", "").unwrap().texts, ["é", "d"]);
}

#[test]
fn a_text_is_no_name_of_a_column() {
    let error = read("a.md", b"She is a very kind nurse.\nHe is not.\n", "", "").unwrap_err();
    assert!(
        error.contains("that line reads as a text: 'She is a very"),
        "{error}"
    );
    assert_eq!(
        read("a.md", b"free text answer\na\n", "", "")
            .unwrap()
            .texts,
        ["a"]
    );
}
