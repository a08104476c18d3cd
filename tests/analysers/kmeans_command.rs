//! `probity kmeans` end to end: fit, delete, assign, bench, what a model directory keeps, and what
//! is refused.

use serde_json::Value;
use std::fs;

use crate::probity_command::Workspace;
use crate::probity_command::refusal::refuses;

const FIT: &str =
    "kmeans fit --data d.csv --clusters 3 --bounds 0,1 --id-column id --label-column y";

/// Rows of four columns under ids 100, 103, 106 …; no two values are equal.
fn table(rows: u64, without: &[u64]) -> String {
    let mut text = "id,a,b,c,d,y\n".to_owned();
    for row in (0..rows).filter(|row| !without.contains(&id(*row))) {
        let values: Vec<String> = values(row).iter().map(f64::to_string).collect();
        text.push_str(&format!("{},{},{}\n", id(row), values.join(","), row % 3));
    }
    text
}

fn id(row: u64) -> u64 {
    100 + 3 * row
}

/// Three clumps with a fine noise.
fn values(row: u64) -> [f64; 4] {
    std::array::from_fn(|column| {
        let noise = (row * 4 + column as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        (row % 3) as f64 * 0.3 + noise as f64 / (1_u64 << 24) as f64 * 0.3
    })
}

fn workspace() -> Workspace {
    let workspace = Workspace::new();
    workspace.write("d.csv", table(120, &[]));
    workspace
}

const ALGORITHMS: [&str; 3] = [
    "--algorithm lloyd",
    "--algorithm quantized --epsilon 0.05 --gamma 0.2",
    "--algorithm divide-conquer --tree 1x4",
];

#[test]
fn a_deletion_leaves_the_directory_of_a_fit_without_the_rows() {
    for algorithm in ALGORITHMS {
        let workspace = workspace();
        workspace
            .line(&format!("{FIT} {algorithm} --out M"))
            .exits(0)
            .says(&["120 rows, 4 columns, 3 clusters", "Next:"]);
        workspace
            .line("kmeans delete --model M --ids 103,250 --verify")
            .exits(0)
            .says(&["2 rows deleted, 118 remain", "Verified: the same bytes"]);
        workspace.write("ids.txt", "106\n\n 400 \n");
        let deleted = workspace
            .line("kmeans delete --model M --ids-file ids.txt --json")
            .exits(0)
            .json();
        assert_eq!(
            (&deleted["deleted"], &deleted["remaining"]),
            (&2.into(), &116.into())
        );
        workspace.write("d.csv", table(120, &[103, 250, 106, 400]));
        workspace
            .line(&format!("{FIT} {algorithm} --out N"))
            .exits(0);
        for file in ["model.bin", "model.toml"] {
            let read = |folder: &str| fs::read(workspace.path(folder).join(file)).unwrap();
            assert!(read("M") == read("N"), "{algorithm}: {file}");
        }
    }
}

/// What is not given is no function of the number of rows: 34 and 30 rows, or 330 and 320, have one
/// default.
#[test]
fn defaults_are_those_of_a_fit_without_the_rows() {
    for algorithm in ["lloyd", "quantized", "divide-conquer"] {
        for (rows, gone) in [(34, 4), (330, 10)] {
            let workspace = Workspace::new();
            workspace.write("d.csv", table(rows, &[]));
            let ids: Vec<u64> = (0..gone).map(|at| id(at * 7 % rows)).collect();
            let named: Vec<String> = ids.iter().map(u64::to_string).collect();
            let fit = format!("{FIT} --algorithm {algorithm}");
            workspace.line(&format!("{fit} --out M")).exits(0);
            workspace
                .line(&format!(
                    "kmeans delete --model M --ids {}",
                    named.join(",")
                ))
                .exits(0);
            workspace.write("d.csv", table(rows, &ids));
            workspace.line(&format!("{fit} --out N")).exits(0);
            for file in ["model.bin", "model.toml"] {
                let read = |folder: &str| fs::read(workspace.path(folder).join(file)).unwrap();
                assert!(read("M") == read("N"), "{algorithm}, {rows} rows: {file}");
            }
        }
    }
}

/// The original file knows the rows that were deleted before; what the model has decides which of
/// them training is on.
#[test]
fn a_deletion_is_verified_against_the_original_file() {
    for algorithm in ALGORITHMS {
        let workspace = workspace();
        workspace
            .line(&format!("{FIT} {algorithm} --out M"))
            .exits(0);
        workspace.line("kmeans delete --model M --ids 103").exits(0);
        workspace
            .line("kmeans delete --model M --ids 250 --verify --data d.csv")
            .exits(0)
            .says(&["1 row deleted, 118 remain", "remaining rows of ", "d.csv"]);
        let model = fs::read(workspace.path("M/model.bin")).unwrap();
        // Another value in a row that is left: not what the model was fitted with.
        let other = table(120, &[]).replacen("\n109,0.", "\n109,0.1", 1);
        workspace.write("other.csv", other);
        workspace
            .line("kmeans delete --model M --ids 106 --verify --data other.csv")
            .exits(1)
            .says(&[
                "0 rows deleted, 118 remain; deleting 1 row was undone",
                "NOT EXACT",
                "other.csv",
            ]);
        let summary = workspace
            .line("kmeans delete --model M --ids 106 --verify --data other.csv --json")
            .exits(1)
            .json();
        assert_eq!(
            (&summary["deleted"], &summary["remaining"]),
            (&Value::from(0), &Value::from(118))
        );
        workspace.write("short.csv", table(120, &[109]));
        refuses(
            &workspace,
            "kmeans delete --model M --ids 106 --verify --data short.csv",
            2,
            &["short.csv", "row 109, which the model has, is not there"],
        );
        assert!(model == fs::read(workspace.path("M/model.bin")).unwrap());
    }
    let workspace = workspace();
    workspace.line(&format!("{FIT} --out M")).exits(0);
    for (rest, needle) in [
        ("--data d.csv", "--verify"),
        ("--verify --separator ;", "without data"),
    ] {
        refuses(
            &workspace,
            &format!("kmeans delete --model M --ids 103 {rest}"),
            2,
            &[needle],
        );
    }
}

#[test]
fn nothing_of_a_deleted_row_is_left_in_the_directory() {
    let row = 41;
    let scaled: Vec<i32> = values(row)
        .iter()
        .map(|value| (value * f64::from(1 << 24)).round() as i32)
        .collect();
    let mut patterns: Vec<Vec<u8>> = vec![
        id(row).to_le_bytes().to_vec(),
        postcard::to_stdvec(&(id(row), id(row + 1))).unwrap(),
    ];
    for (value, scaled) in values(row).iter().zip(&scaled) {
        patterns.push(value.to_le_bytes().to_vec());
        patterns.push((*value as f32).to_le_bytes().to_vec());
        patterns.push(value.to_string().into_bytes());
        patterns.push(scaled.to_le_bytes().to_vec());
        patterns.push((*scaled as f32).to_le_bytes().to_vec());
        patterns.push(postcard::to_stdvec(scaled).unwrap());
    }
    for algorithm in ALGORITHMS {
        let workspace = workspace();
        workspace
            .line(&format!("{FIT} {algorithm} --out M"))
            .exits(0);
        // What a crash leaves behind is swept away too.
        fs::copy(
            workspace.path("M/model.bin"),
            workspace.path("M/.probity-Crashed1.part"),
        )
        .unwrap();
        let found = |pattern: &[u8]| {
            fs::read_dir(workspace.path("M")).unwrap().any(|entry| {
                let bytes = fs::read(entry.unwrap().path()).unwrap();
                bytes.windows(pattern.len()).any(|window| window == pattern)
            })
        };
        for value in &scaled {
            let written = postcard::to_stdvec(value).unwrap();
            assert!(found(&written), "the row is there before");
        }
        workspace
            .line(&format!("kmeans delete --model M --ids {}", id(row)))
            .exits(0);
        let left: Vec<&Vec<u8>> = patterns.iter().filter(|pattern| found(pattern)).collect();
        assert!(left.is_empty(), "{algorithm}: {left:?}");
        assert_eq!(fs::read_dir(workspace.path("M")).unwrap().count(), 2);
    }
}

#[test]
fn rows_are_assigned_from_the_model_and_from_a_file() {
    let workspace = workspace();
    workspace.line(&format!("{FIT} --out M")).exits(0);
    workspace.line("kmeans delete --model M --ids 100").exits(0);
    workspace
        .line("kmeans assign --model M --out own.csv")
        .exits(0);
    let own = workspace.read("own.csv");
    assert!(
        own.starts_with("row,cluster\n103,") && own.lines().count() == 120,
        "{own}"
    );
    // Columns in another order, with and without what is no feature.
    workspace.write("new.csv", "d,c,b,a\n0.1,0.1,0.1,0.1\n0.8,0.8,0.8,0.8\n");
    let assigned = workspace
        .line("kmeans assign --model M --data new.csv --json")
        .exits(0)
        .json();
    assert_eq!(assigned["rows"], 2);
    assert_ne!(
        assigned["clusters"][0]["cluster"],
        assigned["clusters"][1]["cluster"]
    );
    workspace
        .line("kmeans assign --model M --data d.csv")
        .exits(0);
    workspace.write("new.csv", "d,c,b\n0.1,0.1,0.1\n");
    refuses(
        &workspace,
        "kmeans assign --model M --data new.csv",
        2,
        &["no column 'a'"],
    );
    workspace.write("new.csv", "d,c,b,a\n0.1,0.1,0.1,7\n");
    let line = "kmeans assign --model M --data new.csv";
    refuses(
        &workspace,
        line,
        2,
        &[
            "row 1, column 'a'",
            "7",
            "outside the declared bounds 0 to 1",
        ],
    );
}

#[test]
fn the_benchmark_counts_compares_and_plots() {
    let workspace = workspace();
    let line = "kmeans bench --data d.csv --clusters 3 --bounds 0,1 --id-column id --label-column y --deletions 20 \
                --repeats 2 --algorithm lloyd,quantized,divide-conquer --tree 1x2 --out B";
    workspace
        .line(line)
        .exits(0)
        .says(&["Speed-up", "NMI", "bit for bit", "Plot:"]);
    let summary = workspace.json("B/summary.json");
    assert_eq!(summary["algorithms"].as_array().unwrap().len(), 3);
    for figures in summary["algorithms"].as_array().unwrap() {
        assert_eq!(figures["exact"], true);
        assert_eq!(figures["replicates"].as_array().unwrap().len(), 2);
        assert!(figures["nmi"]["mean"].as_f64().unwrap() > 0.5, "{figures}");
        assert!(
            figures["silhouette"]["mean"].as_f64().unwrap() > 0.2,
            "{figures}"
        );
    }
    assert_eq!(
        workspace
            .read("B/deletions.svg")
            .matches("<polyline")
            .count(),
        4
    );
    let line = "kmeans bench --data d.csv --clusters 3 --bounds 0,1 --id-column id --label-column y --deletions 118";
    refuses(&workspace, line, 2, &["--deletions is 118", "at most 117"]);
}

#[test]
fn bad_input_is_named_and_nothing_is_written() {
    let workspace = workspace();
    let fit = |rest: &str| format!("kmeans fit --data d.csv --out M {rest}");
    for (rest, needles) in [
        (
            "--clusters 3 --ignore y",
            &[
                "column 'id' has no declared bounds",
                "declare them in --bounds",
                "in --schema",
            ][..],
        ),
        // Their difference is no finite number, so that every value would become 0.
        (
            "--clusters 3 --bounds=-1.7e308,1.7e308 --id-column id --ignore y",
            &["bounds -1.7e308 to 1.7e308", "difference a finite number"],
        ),
        (
            "--clusters 3 --bounds 0,0.5 --id-column id --ignore y",
            &["column 'c'", "outside the declared bounds 0 to 0.5"],
        ),
        (
            "--clusters 121 --bounds 0,1 --id-column id --ignore y",
            &["121 clusters need at least as many rows; there are 120"],
        ),
        (
            "--clusters 0 --bounds 0,1 --id-column id --ignore y",
            &["--clusters is 0, but must be from 1 to 32768"],
        ),
        (
            "--clusters 3 --bounds 0,1 --id-column id --ignore y --epsilon 0",
            &["--epsilon is 0, but must be above 0"],
        ),
        (
            "--clusters 3 --bounds 0,1 --id-column id --ignore y --epsilon -1",
            &["--epsilon is -1"],
        ),
        (
            "--clusters 3 --bounds 0,1 --id-column id --ignore y --epsilon NaN",
            &["a number is expected"],
        ),
        (
            "--clusters 3 --bounds 0,1 --id-column id --ignore y --gamma 1",
            &["--gamma is 1"],
        ),
        (
            "--clusters 3 --bounds 0,1 --id-column a --ignore y",
            &["column 'a'", "no row id"],
        ),
        (
            "--clusters 3 --bounds 0,1 --id-column y --ignore id",
            &["two rows have the id"],
        ),
        (
            "--clusters 3 --bounds 0,1 --id-column z",
            &["id_column names the column 'z'"],
        ),
        (
            "--clusters 3 --bounds q=0,1 --bounds 0,1 --id-column id",
            &["bounds names the column 'q'"],
        ),
        (
            "--clusters 3 --bounds 0,1 --id-column id --label-column z",
            &["no column 'z'"],
        ),
        ("--clusters 3 --bounds 1,1", &["two ascending numbers"]),
        (
            "--clusters 3 --bounds 0,1 --algorithm divide-conquer --tree 2x4",
            &["it is written as 1x16"],
        ),
        (
            "--clusters 3 --bounds 0,1 --algorithm divide-conquer --tree 1x0",
            &["a node without children"],
        ),
        (
            "--clusters 3 --bounds 0,1 --algorithm divide-conquer --tree 1x99999x99999",
            &["more than 65536 leaves"],
        ),
        (
            "--clusters 3 --bounds 0,1 --tree 1x4",
            &["--tree is 1x4", "the algorithm is divide-conquer"],
        ),
        (
            "--clusters 3 --bounds 0,1 --algorithm lloyd --epsilon 0.1",
            &["--epsilon is 0.1", "the algorithm is quantized"],
        ),
    ] {
        refuses(&workspace, &fit(rest), 2, needles);
    }
    workspace.write("d.csv", "a,b\n1,2\n3,x\n");
    refuses(
        &workspace,
        &fit("--clusters 1 --bounds 0,9"),
        2,
        &["column 'b'", "'x' is not a finite number"],
    );
}

#[test]
fn columns_of_one_value_and_equal_rows_are_no_trouble() {
    let workspace = Workspace::new();
    workspace.write("d.csv", "a,b\n5,1\n5,1\n5,1\n5,2\n");
    workspace
        .line("kmeans fit --data d.csv --clusters 3 --bounds 0,9 --algorithm quantized --out M")
        .exits(0);
    workspace
        .line("kmeans delete --model M --ids 4 --verify")
        .exits(0);
    refuses(
        &workspace,
        "kmeans delete --model M --ids 1",
        2,
        &["leaves fewer than the 3", "delete the model"],
    );
    workspace.write(
        "s.toml",
        "name = \"s\"\n[label]\nname = \"y\"\nclasses = [\"n\", \"p\"]\n[[attribute]]\nname = \"a\"\nkind = \"integer\"\nmin = 5\nmax = 5\n[[attribute]]\nname = \"b\"\nkind = \"categorical\"\nlevels = [\"1\", \"2\"]\n",
    );
    workspace
        .line("kmeans fit --data d.csv --schema s.toml --clusters 2 --algorithm lloyd --out S")
        .exits(0)
        .says(&["4 rows, 3 columns"]);
}

#[test]
fn requests_and_directories_that_do_not_fit_are_refused() {
    let workspace = workspace();
    workspace.line(&format!("{FIT} --out M")).exits(0);
    workspace.line("kmeans delete --model M --ids 103").exits(0);
    for (rest, needles) in [
        ("--ids 101", &["no row 101"][..]),
        ("--ids 103", &["no row 103", "has been deleted"]),
        ("--ids 100,106,100", &["row 100 is named twice"]),
        ("--ids-file ids.txt", &["cannot read ids.txt"]),
        ("--ids-file bad.txt", &["bad.txt, line 2: 'x' is no row id"]),
        ("--ids-file none.txt", &["none.txt names no row"]),
        ("--ids-file all.txt", &["leaves fewer than the 3"]),
    ] {
        workspace.write("bad.txt", "100\nx\n");
        workspace.write("none.txt", "\n");
        let all: Vec<String> = (0..120)
            .filter(|&row| row != 1)
            .map(|row| id(row).to_string())
            .collect();
        workspace.write("all.txt", all.join("\n"));
        refuses(
            &workspace,
            &format!("kmeans delete --model M {rest}"),
            2,
            needles,
        );
    }
    refuses(
        &workspace,
        "kmeans delete --model none --ids 1",
        2,
        &["there is no model directory none"],
    );
    let good = fs::read(workspace.path("M/model.bin")).unwrap();
    for at in [100, 200, good.len() / 2, good.len() - 1] {
        let mut bad = good.clone();
        bad[at] ^= 1;
        workspace.write("M/model.bin", &bad);
        refuses(
            &workspace,
            "kmeans delete --model M --ids 100",
            2,
            &["model.bin was changed after it was written"],
        );
    }
    workspace.write("M/model.bin", &good[..good.len() - 7]);
    refuses(
        &workspace,
        "kmeans assign --model M",
        2,
        &["model.bin was changed after it was written"],
    );
    workspace.write("M/model.bin", "something else");
    refuses(
        &workspace,
        "kmeans assign --model M",
        2,
        &["model.bin is not what", "it is no k-means model"],
    );
    workspace.write("M/model.bin", &good);
    workspace.edit("M/model.toml", "seed = 1", "seed = 2");
    refuses(
        &workspace,
        "kmeans delete --model M --ids 100",
        2,
        &["is not the description that model.bin was written with"],
    );
}

/// Rows that are all the same have no loss to compare with, and messages about a model call it one.
#[test]
fn constant_rows_are_measured_and_a_model_is_called_a_model() {
    let workspace = Workspace::new();
    workspace.write("same.csv", "a,b\n".to_owned() + &"0.5,0.5\n".repeat(50));
    workspace.write("more.csv", "a,b,c\n0.5,0.5,0.5\n");
    let rows = "--data same.csv --bounds 0,1 --clusters 2";
    workspace
        .line(&format!(
            "kmeans bench {rows} --deletions 3 --repeats 1 --out bench"
        ))
        .exits(0);
    let figures = &workspace.summary("bench")["algorithms"][0];
    assert!(
        figures["loss_ratio"].is_null() && figures["exact"] == true,
        "{figures}"
    );
    workspace
        .line(&format!("kmeans fit {rows} --out model"))
        .exits(0);
    workspace
        .line("kmeans assign --model model --data more.csv")
        .exits(2)
        .complains(&["more.csv has the column 'c', which the model lacks"]);
}
