//! Input from a pipe, which can be read only once: it is read, or refused at once by its name.
#![cfg(unix)]

use std::io::Write;
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;

use crate::probity_command::refusal::{PEOPLE, SCHEMA};
use crate::probity_command::{Outcome, Workspace};
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use std::sync::Arc;

/// Much longer than any of these commands takes.
const LIMIT: Duration = Duration::from_secs(600);

/// What comes of `probity LINE` with `content` on a pipe as its standard input.
fn piped(workspace: &Workspace, line: &str, content: &[u8]) -> Outcome {
    let mut command = workspace.prepared(line);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let content = content.to_vec();
    // One that refuses the pipe may not read it.
    let feed = std::thread::spawn(move || stdin.write_all(&content));
    let (done, waited) = mpsc::channel();
    let id = child.id();
    std::thread::spawn(move || done.send(child.wait_with_output()));
    let output = waited.recv_timeout(LIMIT);
    let output = output.unwrap_or_else(|_| panic!("`probity {line}` ({id}) does not end"));
    let _ = feed.join().unwrap();
    Outcome::new(output.unwrap())
}

const ROWS: &str = "a,b,class\n0,1,x\n0.5,1,x\n3,2,y\n3.5,2.5,y\n9,0,x\n9,1,y\n";

/// The same as a Parquet file.
fn parquet() -> Vec<u8> {
    let columns: Vec<(&str, ArrayRef)> = vec![
        (
            "a",
            Arc::new(Float64Array::from(vec![0.0, 0.5, 3.0, 3.5, 9.0, 9.0])),
        ),
        (
            "b",
            Arc::new(Float64Array::from(vec![1.0, 1.0, 2.0, 2.5, 0.0, 1.0])),
        ),
        (
            "class",
            Arc::new(StringArray::from(vec!["x", "x", "y", "y", "x", "y"])),
        ),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

#[test]
fn data_are_read_from_a_pipe_as_from_a_file() {
    let workspace = Workspace::with_demo(300);
    workspace.write("rows.csv", ROWS);
    let people = workspace.read("demo/people.csv").into_bytes();
    let vectors = b"cat 1 0\ndog 0.9 0.1\nsoup 0 1\n".to_vec();
    workspace.write("vectors.txt", &vectors);
    let rows = ROWS.as_bytes().to_vec();
    workspace.write("rows.parquet", parquet());
    for (line, file, content) in [
        (
            "train --data FILE --schema synthetic-census --epochs 1 --json",
            "demo/people.csv",
            &people,
        ),
        (
            "audit --model demo/model --data FILE --seeds 5 --local 2 --estimate 50 --json",
            "demo/people.csv",
            &people,
        ),
        (
            "schema infer FILE --label-column income",
            "demo/people.csv",
            &people,
        ),
        (
            "schema infer FILE --label-column class",
            "rows.parquet",
            &parquet(),
        ),
        (
            "kmeans fit --data FILE --clusters 2 --label-column class --bounds 0,10 --json",
            "rows.csv",
            &rows,
        ),
        (
            "kmeans fit --data FILE --clusters 2 --label-column class --bounds 0,10 --json",
            "rows.parquet",
            &parquet(),
        ),
        (
            "knn predict --train rows.csv --test FILE --label-column class --folds 2 --max-k 3",
            "rows.csv",
            &rows,
        ),
        (
            "knn predict --train FILE --test rows.csv --label-column class --folds 2 --max-k 3",
            "rows.csv",
            &rows,
        ),
        (
            "outliers exact --data FILE --columns a,b --radius 0.5 --k 2 --range a=0,10,1 --range b=0,10,1",
            "rows.csv",
            &rows,
        ),
        (
            "spn fit --data FILE --schema synthetic-census --json",
            "demo/people.csv",
            &people,
        ),
        (
            "certify --model demo/model --data FILE --json",
            "demo/people.csv",
            &people,
        ),
        ("embeddings neighbours FILE cat", "vectors.txt", &vectors),
    ] {
        let needs_out = ["train", "audit", "kmeans", "spn", "certify"];
        let needs_out = needs_out.iter().any(|command| line.starts_with(command));
        let line = |file: &str, out: &str| {
            let line = line.replace("FILE", file);
            match needs_out {
                true => format!("{line} --out {out}"),
                false => line,
            }
        };
        workspace.line(&line(file, "of-file")).exits(0);
        piped(&workspace, &line("/dev/stdin", "of-pipe"), content).exits(0);
        for made in ["of-file", "of-pipe"] {
            let _ = std::fs::remove_dir_all(workspace.path(made));
        }
    }
}

#[test]
fn what_is_needed_twice_is_refused_at_once() {
    let workspace = Workspace::with_demo(300);
    workspace.write("schema.toml", SCHEMA);
    workspace.write("small.csv", PEOPLE);
    let run = workspace.read("demo/model/run.toml");
    let weights = std::fs::read(workspace.path("demo/model/weights.safetensors")).unwrap();
    for (line, content) in [
        (
            "train --data small.csv --schema /dev/stdin --out never",
            SCHEMA.as_bytes(),
        ),
        ("run /dev/stdin --out never", run.as_bytes()),
        (
            "import --weights /dev/stdin --config adf-fnn --schema adf-census --out never",
            &weights,
        ),
    ] {
        let outcome = piped(&workspace, line, content).exits(2);
        outcome.complains(&["/dev/stdin", "only once"]);
        assert!(!workspace.path("never").exists(), "{line}");
    }
}
