//! `probity knn` end to end: what it writes, what it replays, and what it refuses.

use std::io::Write;
use std::sync::Arc;

use crate::probity_command::Workspace;
use crate::probity_command::refusal::refuses;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use flate2::Compression;
use flate2::write::GzEncoder;
use parquet::arrow::ArrowWriter;
use serde_json::Value;

/// Two groups on a line, with one row of the other label in each.
const TRAIN: &str =
    "x,z,y\n0,0,a\n1,0,a\n2,0,a\n3,0,a\n4,0,b\n20,0,b\n21,0,b\n22,0,b\n23,0,b\n24,0,a\n";
const TEST: &str = "y,x,z\na,1.5,0\nb,22.5,0\na,11,0\n";
const LINE: &str = "knn --train train.csv --test test.csv --label-column y --folds 3 --max-k 4";

fn workspace() -> Workspace {
    let workspace = Workspace::new();
    workspace.write("train.csv", TRAIN);
    workspace.write("test.csv", TEST);
    workspace
}

fn line(rest: &str) -> String {
    format!("{LINE} {rest}")
}

fn decided(summary: &Value) -> [u64; 3] {
    let certified = summary["certified"].as_object().unwrap();
    [
        certified
            .values()
            .map(|count| count.as_u64().unwrap())
            .sum(),
        summary["falsified"].as_u64().unwrap(),
        summary["unknown"].as_u64().unwrap(),
    ]
}

#[test]
fn a_run_states_verdicts_that_replay() {
    let workspace = workspace();
    for format in ["csv", "parquet"] {
        workspace
            .line(&line(&format!(
                "--poison 3 --out {format} --verdicts {format}"
            )))
            .exits(0)
            .says(&["Falsified", "of 10 training rows poisoned", "Next:"]);
        let summary = workspace.json(&format!("{format}/summary.json"));
        for key in ["quick", "k_set", "exhaustive"] {
            assert!(summary["certified"][key].is_u64(), "{summary}");
        }
        for key in ["mean", "max"] {
            assert!(summary["seconds_per_input"][key].is_f64(), "{summary}");
        }
        assert!(summary["learn_seconds"].is_f64());
        assert_eq!(summary["inputs"], 3);
        let [certified, falsified, unknown] = decided(&summary);
        assert_eq!((certified + falsified, unknown), (3, 0));
        assert!(falsified > 0, "{summary}");
        let replayed = workspace
            .line(&format!("knn verify {format} --json"))
            .exits(0)
            .json();
        assert_eq!(replayed["confirmed"].as_u64(), Some(falsified));
        assert_eq!(replayed["rejected"], 0);
        let verified = workspace.line(&format!("verify {format} --json")).exits(0);
        assert_eq!(verified.json()["confirmed"], replayed["confirmed"]);
        let line = format!("verify {format} --model {format}");
        refuses(
            &workspace,
            &line,
            2,
            &["--model has no meaning for a k-NN run"],
        );
    }
    let verdicts = workspace.read("csv/verdicts.csv");
    assert!(verdicts.starts_with(
        "poison,row,actual,label,k,verdict,certificate,seconds,removal,removal_label,removal_k\n"
    ));
    // --json on a second run says what summary.json says.
    let printed = workspace
        .line(&line("--poison 3 --out again --json"))
        .exits(0)
        .json();
    assert_eq!(
        decided(&printed),
        decided(&workspace.json("csv/summary.json"))
    );
}

#[test]
fn a_removal_set_that_was_tampered_with_is_rejected() {
    let workspace = workspace();
    workspace
        .line(&line("--poison 3 --out run --verdicts csv"))
        .exits(0);
    let text = workspace.read("run/verdicts.csv");
    let tampered: Vec<String> = text
        .lines()
        .map(|line| {
            let mut cells: Vec<&str> = line.split(',').collect();
            if cells[5] == "falsified" {
                cells[8] = "1 99";
            }
            cells.join(",")
        })
        .collect();
    workspace.write("run/verdicts.csv", tampered.join("\n"));
    workspace
        .line("knn verify run")
        .exits(1)
        .says(&["rejected", "there is no training row 99"]);
    workspace.write("train.csv", TRAIN.replace("24", "25"));
    refuses(
        &workspace,
        "knn verify run",
        2,
        &["train.csv is not the file that was analysed"],
    );
}

#[test]
fn methods_agree_and_the_limited_ones_say_so() {
    let workspace = workspace();
    let verdicts = |method: &str| -> Value {
        workspace
            .line(&line(&format!(
                "--poison 2 --method {method} --out {method} --json"
            )))
            .exits(0)
            .json()
    };
    let (auto, baseline) = (verdicts("auto"), verdicts("baseline"));
    assert_eq!(decided(&auto), decided(&baseline));
    for method in ["li", "jia"] {
        let limited = verdicts(method);
        assert_eq!(decided(&limited)[1], 0, "{method} cannot falsify");
    }
    workspace
        .line(&line("--poison 2 --method jia"))
        .exits(0)
        .says(&["does not cover poison that changes K"]);
}

#[test]
fn a_sweep_has_a_table_a_plot_and_figures_for_each_threshold() {
    let workspace = workspace();
    let summary = workspace
        .line(&line("--sweep 3,1,2 --inputs 2 --out run --json"))
        .exits(0)
        .json();
    let sweep = summary["sweep"].as_array().unwrap();
    let thresholds: Vec<&Value> = sweep.iter().map(|figures| &figures["poison"]).collect();
    assert_eq!(thresholds, [1, 2, 3]);
    assert_eq!(summary["poison"], 3);
    assert_eq!(summary["inputs"], 2);
    // A row that is falsified for n is falsified for every larger n.
    let falsified: Vec<u64> = sweep
        .iter()
        .map(|f| f["falsified"].as_u64().unwrap())
        .collect();
    assert!(falsified.is_sorted());
    assert!(workspace.read("run/verdicts.svg").starts_with("<svg"));
    workspace.line("knn verify run").exits(0);
}

/// A certificate is kept by everyone who removes a row from the file and learns again.
#[test]
fn certified_labels_hold_for_the_file_without_a_row() {
    let workspace = workspace();
    let inputs: String = (0..24).map(|at| format!("{at}.5,0\n")).collect();
    workspace.write("test.csv", format!("x,z\n{inputs}"));
    let named: Vec<String> = TRAIN
        .lines()
        .enumerate()
        .map(|(at, line)| match at {
            0 => format!("person,{line}"),
            at => format!("{},{line}", 100 - at),
        })
        .collect();
    let mut certified = 0;
    for (run, rows, by) in [
        ("features", TRAIN.lines().map(str::to_owned).collect(), ""),
        ("ids", named, "--id-column person"),
    ] {
        workspace.write("train.csv", format!("{}\n", rows.join("\n")));
        workspace
            .line(&line(&format!(
                "--poison 1 {by} --verdicts csv --out {run}"
            )))
            .exits(0);
        workspace.line(&format!("knn verify {run}")).exits(0);
        let cells = verdicts(&workspace, run);
        for gone in 1..rows.len() {
            let mut left = rows.clone();
            left.remove(gone);
            workspace.write("train.csv", format!("{}\n", left.join("\n")));
            let predicted = workspace
                .line(&format!("{LINE} {by} --json").replacen("knn", "knn predict", 1))
                .exits(0)
                .json();
            for (row, label) in cells[1..]
                .iter()
                .zip(predicted["labels"].as_array().unwrap())
            {
                if row[5] == "certified" {
                    assert_eq!(&row[3], label, "{run}, without row {gone}");
                    certified += 1;
                }
            }
        }
    }
    assert!(certified > 100, "{certified}");
}

#[test]
fn ids_that_are_none_are_refused() {
    let workspace = workspace();
    workspace.write(
        "train.csv",
        "x,z,id,y\n0,0,7,a\n1,0,,a\n20,0,8,b\n21,0,9,b\n",
    );
    refuses(
        &workspace,
        &line("--poison 1 --id-column id"),
        2,
        &["train.csv, line 3", "no id in column 'id'"],
    );
    refuses(
        &workspace,
        &line("--poison 1 --id-column person --ignore id"),
        2,
        &["id_column names the column 'person'", "train.csv"],
    );
}

#[test]
fn predictions_are_those_of_the_analysis() {
    let workspace = workspace();
    workspace
        .line("knn predict --train train.csv --test test.csv --label-column y --folds 3 --max-k 4 --out p.csv")
        .exits(0)
        .says(&["accuracy", "p.csv"]);
    workspace
        .line(&line("--poison 1 --out run --verdicts csv"))
        .exits(0);
    let verdicts = workspace.read("run/verdicts.csv");
    let analysed: Vec<&str> = verdicts
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(3).unwrap())
        .collect();
    let predicted = workspace.read("p.csv");
    let predicted: Vec<&str> = predicted
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(1).unwrap())
        .collect();
    assert_eq!(analysed, predicted);
}

fn idx(dimensions: &[u32], values: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0, 0, 8, dimensions.len() as u8];
    for size in dimensions {
        bytes.extend(size.to_be_bytes());
    }
    bytes.extend(values);
    bytes
}

/// Twelve images of 4 x 4 pixels, dark ones labelled 0 and bright ones 1.
fn images() -> Workspace {
    let workspace = Workspace::new();
    let pixels: Vec<u8> = (0..12_u8)
        .flat_map(|image| (0..16).map(move |pixel| image % 2 * 200 + image + pixel))
        .collect();
    let labels: Vec<u8> = (0..12).map(|image| image % 2).collect();
    let mut zipped = GzEncoder::new(Vec::new(), Compression::fast());
    zipped.write_all(&idx(&[12, 4, 4], &pixels)).unwrap();
    workspace.write("train.gz", zipped.finish().unwrap());
    workspace.write("labels", idx(&[12], &labels));
    workspace.write("test", idx(&[2, 4, 4], &pixels[..32]));
    workspace
}

#[test]
fn images_are_read_reduced_and_scaled() {
    let workspace = images();
    let summary = workspace
        .line("knn --train train.gz --train-labels labels --test test --image-blocks 2 --bounds 0,255 --poison 1 --folds 3 --max-k 3 --out run --json")
        .exits(0)
        .json();
    assert_eq!(summary["features"], 4);
    assert_eq!(summary["accuracy"], Value::Null);
    assert_eq!(summary["inputs"], 2);
}

#[test]
fn broken_images_are_refused() {
    let workspace = images();
    let line = |rest: &str| {
        format!(
            "knn --train train.gz --train-labels labels --test test --folds 3 --poison 1 {rest}"
        )
    };
    refuses(
        &workspace,
        &line("--image-blocks 2 --image-crop 3"),
        2,
        &["4 x 4 pixels", "3 x 3 blocks of 2 x 2"],
    );
    refuses(
        &workspace,
        "knn --train train.gz --test test --poison 1",
        2,
        &["train.gz", "train_labels"],
    );
    workspace.write("labels", idx(&[11], &[0; 11]));
    refuses(&workspace, &line(""), 2, &["11 labels", "12 images"]);
    workspace.write("labels", idx(&[12], &[0; 7]));
    refuses(&workspace, &line(""), 2, &["truncated", "12 values, 7"]);
    workspace.write("labels", "no labels at all");
    refuses(&workspace, &line(""), 2, &["labels is no IDX file"]);
    workspace.write("labels", idx(&[12], &[0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]));
    workspace.write("test", idx(&[2, 2, 2], &[0; 8]));
    refuses(&workspace, &line(""), 2, &["4 features", "16"]);
}

#[test]
fn what_cannot_be_learnt_is_refused() {
    let workspace = workspace();
    refuses(
        &workspace,
        &line("--poison 10"),
        2,
        &["train.csv", "threshold of 10", "10 training rows"],
    );
    refuses(
        &workspace,
        "knn --train train.csv --test test.csv --label-column y --folds 1001 --poison 1",
        2,
        &["--folds is 1001, but must be"],
    );
    refuses(
        &workspace,
        "knn --train train.csv --test test.csv --label-column y --folds 1 --poison 1",
        2,
        &["--folds is 1, but must be from 2 to 1000"],
    );
    refuses(
        &workspace,
        "knn --train train.csv --test test.csv --label-column y --folds 2 --max-k 10% --poison 1",
        2,
        &["--max-k", "10%"],
    );
    refuses(
        &workspace,
        &line("--poison 8 --min-k 3"),
        2,
        &["K = 3", "2 rows left after 8 removals"],
    );
    workspace.write("train.csv", "x,z,y\n1,2,a\n2,3,a\n3,4,a\n");
    refuses(
        &workspace,
        &line("--poison 1"),
        2,
        &["train.csv", "'a'", "at least two classes"],
    );
    workspace.write("train.csv", "x,z,y\n");
    refuses(
        &workspace,
        &line("--poison 1"),
        2,
        &["train.csv holds no rows"],
    );
}

#[test]
fn what_is_no_table_of_numbers_is_refused() {
    let workspace = workspace();
    let poison = line("--poison 1");
    for bad in ["NaN", "inf", "red", ""] {
        workspace.write("train.csv", TRAIN.replace("21,0", &format!("21,{bad}")));
        refuses(
            &workspace,
            &poison,
            2,
            &[
                "train.csv, line 8, column 'z'",
                &format!("'{bad}'"),
                "schema",
            ],
        );
    }
    workspace.write("train.csv", TRAIN);
    workspace.write("test.csv", "y,x\na,1\n");
    refuses(&workspace, &poison, 2, &["test.csv has no column 'z'"]);
    workspace.write("test.csv", "y,x,z,w\na,1,2,3\n");
    refuses(
        &workspace,
        &poison,
        2,
        &["test.csv has the column 'w'", "train.csv lacks"],
    );
    workspace.write("test.csv", "y,x,z\na,1\n");
    refuses(&workspace, &poison, 2, &["test.csv", "2 fields where 3"]);
    workspace.write("test.csv", "x,z\n1,2\n");
    workspace
        .line(&line("--poison 1 --out unlabelled"))
        .exits(0);
    refuses(
        &workspace,
        &line("--poison 1 --out unlabelled"),
        2,
        &["not empty"],
    );
    refuses(
        &workspace,
        "knn --train train.csv --test test.csv --label-column q --poison 1",
        2,
        &["no column 'q'", "x, z, y"],
    );
    refuses(
        &workspace,
        "knn --train train.csv --test test.csv --poison 1",
        2,
        &["label_column"],
    );
    refuses(
        &workspace,
        &line("--poison 1 --bounds x=0,20"),
        2,
        &["train.csv", "column 'x'", "21 is outside", "0 to 20"],
    );
    refuses(&workspace, &line("--poison 1 --bounds q=0,20"), 2, &["'q'"]);
    refuses(
        &workspace,
        &line("--poison 1 --ignore q"),
        2,
        &["ignore names", "'q'"],
    );
    refuses(
        &workspace,
        &line("--poison 1 --train-labels test.csv"),
        2,
        &["no IDX file"],
    );
}

#[test]
fn a_schema_turns_categories_into_numbers() {
    let workspace = Workspace::new();
    workspace.write(
        "s.toml",
        "name = \"s\"\n[label]\nname = \"y\"\nclasses = [\"a\", \"b\"]\n\
         [[attribute]]\nname = \"x\"\nkind = \"integer\"\nmin = 0\nmax = 30\n\
         [[attribute]]\nname = \"c\"\nkind = \"categorical\"\nlevels = [\"red\", \"green\", \"blue\"]\n",
    );
    workspace.write(
        "train.csv",
        "x,c,y\n1,red,a\n2,red,a\n3,green,a\n21,blue,b\n22,blue,b\n23,green,b\n",
    );
    workspace.write("test.csv", "x,c\n2,red\n22,blue\n");
    let line =
        "knn --train train.csv --test test.csv --schema s.toml --folds 3 --max-k 3 --poison 1";
    let summary = workspace
        .line(&format!("{line} --scale --out run --json"))
        .exits(0)
        .json();
    assert_eq!(summary["features"], 4);
    workspace.line("knn verify run").exits(0);
    workspace.write("test.csv", "x,c\n2,pink\n");
    refuses(
        &workspace,
        line,
        2,
        &["test.csv, line 2, column 'c'", "pink"],
    );
}

/// The accuracy is of the inputs with a label, whatever the spelling of its class.
#[test]
fn a_schema_says_how_labels_are_spelt_and_which_are_missing() {
    let workspace = Workspace::new();
    let schema = |label: &str| {
        format!(
            "name = \"s\"\n[label]\nname = \"y\"\n{label}\n\
             [[attribute]]\nname = \"x\"\nkind = \"integer\"\nmin = 0\nmax = 30\n"
        )
    };
    let aliases = "classes = [\"a\", \"b\"]\naliases = { \"A.\" = \"a\", \"B.\" = \"b\" }";
    workspace.write("s.toml", schema(aliases));
    workspace.write(
        "train.csv",
        "x,y\n1,a\n2,A.\n3,a\n4,NA\n21,b\n22,B.\n23,b\n",
    );
    workspace.write("test.csv", "x,y\n2,A.\n22,B.\n1,\n23,?\n");
    let rest = "--train train.csv --test test.csv --schema s.toml --folds 3 --max-k 3";
    for line in [
        format!("knn predict {rest} --json"),
        format!("knn {rest} --poison 1 --out run --json"),
    ] {
        let summary = workspace.line(&line).exits(0).json();
        assert_eq!(summary["accuracy"], 1.0, "{line}");
        assert_eq!(summary["inputs"], 4, "{line}");
    }
    let summary = workspace.json("run/summary.json");
    assert_eq!(summary["classes"], serde_json::json!(["a", "b"]));
    assert_eq!(summary["skipped_rows"], serde_json::json!([1, 0]));
    workspace.line("knn verify run").exits(0);
    workspace.write("test.csv", "x,y\n2,foo\n");
    let predict = format!("knn predict {rest}");
    refuses(&workspace, &predict, 2, &["test.csv, line 2", "'foo'"]);
    workspace.write("s.toml", schema("kind = \"number\""));
    refuses(&workspace, &predict, 2, &["'y' holds numbers", "threshold"]);
}

/// The rows of a Parquet file are those of the CSV file.
#[test]
fn parquet_files_give_the_same_verdicts() {
    let workspace = workspace();
    let texts = |rows: &'static str| {
        let mut lines = rows.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let names = lines.next().unwrap();
        (names, lines.collect::<Vec<_>>())
    };
    for (name, rows) in [("train", TRAIN), ("test", TEST)] {
        let (names, lines) = texts(rows);
        let columns = names.iter().enumerate().map(|(at, &name)| {
            let cells = lines.iter().map(|line| line[at]);
            let column: ArrayRef = if name == "y" {
                Arc::new(StringArray::from_iter_values(cells))
            } else {
                let numbers = cells.map(|cell| cell.parse::<f64>().unwrap());
                Arc::new(Float64Array::from_iter_values(numbers))
            };
            (name, column)
        });
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let file = std::fs::File::create(workspace.path(&format!("{name}.parquet"))).unwrap();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    }
    let rest = "--poison 3 --verdicts csv";
    workspace.line(&line(&format!("{rest} --out csv"))).exits(0);
    let parquet = line(&format!("{rest} --out parquet")).replace(".csv", ".parquet");
    workspace.line(&parquet).exits(0);
    assert_eq!(verdicts(&workspace, "csv"), verdicts(&workspace, "parquet"));
    workspace.line("knn verify parquet").exits(0);
}

/// The rows of a verdicts file without their times.
fn verdicts(workspace: &Workspace, run: &str) -> Vec<Vec<String>> {
    let file = workspace.read(&format!("{run}/verdicts.csv"));
    let rows = file.lines().map(|row| {
        let cells = row.split(',').enumerate();
        let timeless = cells.filter(|&(at, _)| at != 7);
        timeless.map(|(_, cell)| cell.to_owned()).collect()
    });
    rows.collect()
}

#[test]
fn threads_change_no_verdict() {
    let workspace = workspace();
    let inputs: String = (0..40)
        .map(|at| format!("{},0\n", f64::from(at) * 0.7))
        .collect();
    workspace.write("test.csv", format!("x,z\n{inputs}"));
    for threads in [1, 3] {
        workspace
            .line(&line(&format!(
                "--sweep 1,2,3 --verdicts csv --threads {threads} --out run{threads}"
            )))
            .exits(0);
    }
    let alone = verdicts(&workspace, "run1");
    assert_eq!(alone.len(), 1 + 3 * 40);
    assert_eq!(alone, verdicts(&workspace, "run3"));
}

/// Starts an analysis that would take for ever, sends it Ctrl-C at `point`, and returns its summary.
#[cfg(unix)]
fn interrupted(rows: usize, point: &'static str) -> Value {
    let workspace = Workspace::new();
    let rows: Vec<String> = (0..rows)
        .map(|row| format!("{},{}", row * 37 % 101, (row * 37 % 101) / 51))
        .collect();
    workspace.write("train.csv", format!("x,y\n{}\n", rows.join("\n")));
    workspace.write("test.csv", "x\n1\n");
    workspace
        .interrupted(
            "knn --train train.csv --test test.csv --label-column y --poison 6 --method baseline --time-limit none --out run",
            point,
        )
        .exits(0)
        .says(&["Interrupted"]);
    workspace.line("knn verify run").exits(0);
    workspace.json("run/summary.json")
}

/// Ctrl-C ends a search that would take for ever, with what was decided by then.
#[cfg(unix)]
#[test]
fn an_interrupted_run_keeps_what_it_has() {
    let summary = interrupted(400, "begun");
    assert_eq!(
        (&summary["finished"], &summary["inputs"]),
        (&Value::Bool(false), &Value::from(0))
    );
}

/// Learning, where every row meets every other, does not hold Ctrl-C up.
#[cfg(unix)]
#[test]
fn learning_stops_when_it_is_interrupted() {
    let summary = interrupted(4000, "round:2");
    assert_eq!(summary["finished"], false);
    assert_eq!(
        summary["sweep"],
        Value::Array(Vec::new()),
        "nothing was learnt"
    );
}
