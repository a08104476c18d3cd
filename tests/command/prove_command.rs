//! `probity prove` as a user meets it.

use std::fs;
use std::sync::Arc;

use crate::probity_command::Workspace;
use crate::probity_command::refusal::refuses;
use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use probity::run::run_directory::RunDirectory;
use serde_json::{Value, json};

const LINE: &str = "prove --model demo/model --protected sex,origin --within age=20..24";

fn points(summary: &Value, of: &str) -> u128 {
    summary[of]["points"].as_str().unwrap().parse().unwrap()
}

#[test]
fn threads_and_interruptions_change_no_box_and_a_proof_holds() {
    let workspace = Workspace::with_demo(1000);
    let prove = |rest: &str| workspace.line(&format!("{LINE} --estimate 500 {rest} -q"));
    let whole = prove("--until-undecided 0 --threads 1 --out whole --json")
        .exits(0)
        .json();
    assert_eq!(whole, workspace.summary("whole"));
    assert_eq!(whole["ending"], "decided");
    assert_eq!(points(&whole, "undecided"), 0);
    let all: u128 = whole["points"].as_str().unwrap().parse().unwrap();
    assert_eq!(
        points(&whole, "fair") + points(&whole, "discriminatory"),
        all
    );
    assert!(
        points(&whole, "discriminatory") > 0,
        "the demo plants discrimination"
    );

    prove("--max-boxes 9 --threads 2 --out parts").exits(0);
    let part = workspace.summary("parts");
    assert!(part["boxes"].as_u64().unwrap() <= 9);
    assert!(points(&part, "fair") <= points(&whole, "fair"));
    assert!(points(&part, "discriminatory") <= points(&whole, "discriminatory"));
    workspace
        .line("prove --resume --out parts --until-undecided 0 --max-boxes 1000000 -q")
        .exits(0);
    for file in ["boxes.parquet", "samples.parquet"] {
        let [one, two] =
            ["whole", "parts"].map(|run| fs::read(workspace.path(run).join(file)).unwrap());
        assert_eq!(one, two, "{file}");
    }
    let verified = workspace.line("verify whole --json -q").exits(0).json();
    assert_eq!(verified["adds_up"], true);
    assert_eq!(verified["boxes"], whole["boxes"]);
    assert_eq!(verified["refuted"], 0);
    assert!(verified["replayed"].as_u64() <= verified["boxes"].as_u64());
    assert_eq!(verified["pairs"]["confirmed"], whole["witnesses"]);
    workspace.line("report whole --out whole.html -q").exits(0);

    prove("--until-undecided 0 --fail-above 1 --out within").exits(0);
    prove("--until-undecided 0 --fail-above 0 --out beyond").exits(1);
}

/// Whoever changes a figure of the summary and seals it anew is found out by the boxes.
#[test]
fn figures_of_a_summary_are_those_of_its_boxes() {
    let workspace = Workspace::with_demo(1000);
    workspace
        .line(&format!(
            "{LINE} --max-boxes 9 --fail-above 0.5 --out run -q"
        ))
        .exits(1);
    let mut honest = workspace.summary("run");
    let sealing = ["ended", "sha256", "seal"];
    let kept = |name: &String, _: &mut Value| !sealing.contains(&name.as_str());
    honest.as_object_mut().unwrap().retain(kept);
    let sealed = |summary: &Value| {
        let directory = RunDirectory::open_to_write(&workspace.path("run")).unwrap();
        directory.write_summary(summary).unwrap();
    };
    sealed(&honest);
    workspace.line("verify run -q").exits(0);
    for (place, figure) in [
        ("/bounds/1", json!(0.0)),
        ("/fair/share", json!(1.0)),
        ("/undecided/share", json!(0.0)),
        ("/boxes", json!(1)),
        ("/fail_above/verdict", json!("exceeds")),
        ("/fail_above/bound", json!(0.01)),
        ("/protected/0", json!("hours_per_week")),
        ("/within/0", json!("age=20..99")),
        ("/combinations", json!(2)),
        ("/model_sha256", json!("0")),
        ("/is_weighted", json!(true)),
        ("/witnesses", json!(7)),
    ] {
        let mut changed = honest.clone();
        *changed.pointer_mut(place).unwrap() = figure;
        sealed(&changed);
        let name = place.split('/').nth(1).unwrap();
        workspace.line("verify run -q").exits(1).says(&[name]);
    }
}

/// What is proven are bounds, and said to be; a declared one is not left open for little being undecided.
#[test]
fn a_declared_bound_is_proven_on_and_said_as_bounds() {
    let workspace = Workspace::with_demo(1000);
    let line = format!("{LINE} --estimate 100 --until-undecided 1");
    workspace.line(&format!("{line} --out little -q")).exits(0);
    assert_eq!(workspace.summary("little")["ending"], "decided");
    let said = workspace.line(&format!("{line} --fail-above 0.9 --out held"));
    said.exits(0).says(&[
        "PASS",
        "at least",
        "and at most",
        "are proven to be",
        "Within age=20..24 alone",
    ]);
    assert_eq!(workspace.summary("held")["fail_above"]["verdict"], "within");
    let boxes = |run: &str| workspace.summary(run)["boxes"].as_u64().unwrap();
    assert!(boxes("held") > boxes("little"));
    workspace
        .line("prove --resume --out little --until-undecided 0.2 -q")
        .exits(0);
    assert!(boxes("little") > 1);
}

/// Whatever attributes are called, and whatever the part leaves out, the file of boxes has each in a
/// column of its own, and the values that were decided.
#[test]
fn boxes_are_written_whatever_attributes_are_called_and_parts_leave_out() {
    let workspace = Workspace::new();
    let mut table = "points,fair,sex,label\n".to_owned();
    for row in 0..200 {
        let (points, fair) = (row % 17, (row * 7) % 5);
        let label = ["no", "yes"][usize::from(points + 2 * fair > 12)];
        table += &format!("{points},{fair},{},{label}\n", ["f", "m"][row % 2]);
    }
    workspace.write("table.csv", table);
    workspace.write(
        "schema.toml",
        "name = \"boxes\"\n[label]\nname = \"label\"\nclasses = [\"no\", \"yes\"]\n\
         [[attribute]]\nname = \"points\"\nkind = \"integer\"\nmin = 0\nmax = 16\n\
         [[attribute]]\nname = \"fair\"\nkind = \"integer\"\nmin = 0\nmax = 4\n\
         [[attribute]]\nname = \"sex\"\nkind = \"categorical\"\nlevels = [\"f\", \"m\"]\nprotected = true\n",
    );
    workspace
        .line("train --data table.csv --schema schema.toml --hidden 4 --epochs 3 --out model -q")
        .exits(0);
    workspace
        .line("prove --model model --within points=0|1|5|6 --max-boxes 4 --until-undecided 0 --out run -q")
        .exits(0);
    workspace.line("verify run -q").exits(0);
    let file = fs::File::open(workspace.path("run/boxes.parquet")).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let batch = reader.build().unwrap().next().unwrap().unwrap();
    let lists = |name: &str| batch.column_by_name(name).unwrap().as_list::<i32>().clone();
    let (points, fair) = (lists("attribute points"), lists("attribute fair"));
    let counts = batch.column_by_name("points").unwrap();
    let counts = counts.as_string::<i32>();
    for row in 0..batch.num_rows() {
        let all = points.value(row).len();
        let ends = fair.value(row);
        let ends = ends.as_string::<i32>();
        let code = |at: usize| ends.value(at).parse::<usize>().unwrap();
        let span = code(ends.len() - 1) - code(0) + 1;
        assert_eq!(counts.value(row), (all * span).to_string());
    }
}

/// So is who says more of a box, by a single point.
#[test]
fn counts_of_boxes_are_what_is_proved_of_them() {
    let workspace = Workspace::with_demo(1000);
    workspace
        .line(&format!("{LINE} --max-boxes 40 --out run -q"))
        .exits(0);
    let place = workspace.path("run").join("boxes.parquet");
    let honest = fs::File::open(&place).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(honest).unwrap();
    let batch = reader.build().unwrap().next().unwrap().unwrap();
    for kind in ["fair", "discriminatory"] {
        let at = batch.schema().index_of(kind).unwrap();
        let counts = batch.column(at).as_string::<i32>();
        // The box of which most is proved, if not all is.
        let count = |row: usize| counts.value(row).parse::<u128>().unwrap();
        let points = batch.column_by_name("points").unwrap().as_string::<i32>();
        let forged = (0..batch.num_rows())
            .filter(|&row| points.value(row) != counts.value(row))
            .max_by_key(|&row| count(row))
            .unwrap();
        let changed = (0..batch.num_rows()).map(|row| match row == forged {
            true => (count(row) + 1).to_string(),
            false => counts.value(row).to_owned(),
        });
        let mut columns = batch.columns().to_vec();
        columns[at] = Arc::new(StringArray::from_iter_values(changed));
        let batch = RecordBatch::try_new(batch.schema(), columns).unwrap();
        let file = fs::File::create(&place).unwrap();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        workspace.seal_run("run");
        let said = format!("{} points are said to be {kind}", count(forged) + 1);
        workspace.line("verify run -q").exits(1).says(&[&said]);
    }
}

#[test]
fn a_proof_is_of_the_model_that_it_began_with() {
    let workspace = Workspace::with_demo(1000);
    workspace
        .line(&format!("{LINE} --max-boxes 9 --out run -q"))
        .exits(0);
    let description = "demo/model/model.toml";
    let honest = workspace.read(description);
    // Nothing that the run names is asked of another model, not even its protected attributes.
    workspace.write(description, honest.replace("origin", "birthplace"));
    workspace.seal("demo/model");
    refuses(
        &workspace,
        "verify run",
        2,
        &["the model is not the one that the run was made with"],
    );
    refuses(
        &workspace,
        "prove --resume --out run --max-boxes 20",
        2,
        &["the model changed since the run began"],
    );
    workspace.write(description, honest);
    workspace.line("verify run -q").exits(0);
    fs::remove_file(workspace.path("run").join("summary.json")).unwrap();
    refuses(
        &workspace,
        "verify run",
        2,
        &["go on with probity prove --resume --out run"],
    );
}

#[test]
fn what_is_wrong_with_a_table_of_marginals_is_left_out_and_said() {
    let workspace = Workspace::with_demo(500);
    let people = workspace.read("demo/people.csv");
    let mut lines = people.lines();
    let (head, first) = (lines.next().unwrap(), lines.next().unwrap());
    let blank = first.replacen(first.split(',').next().unwrap(), "", 1);
    workspace.write("blank.csv", format!("{head}\n{blank}\n{first}\n{first}\n"));
    let prove = "prove --model demo/model --protected sex,origin";
    let line = format!("{prove} --max-boxes 3 --estimate 0 --marginals");
    refuses(
        &workspace,
        &format!("{line} blank.csv --out refused"),
        2,
        &["blank.csv", "--skip-bad-rows"],
    );
    let said = workspace
        .line(&format!("{line} blank.csv --skip-bad-rows --out left"))
        .exits(0);
    let text = said.stdout.replace('\u{a0}', " ");
    assert!(text.contains("Of the table of marginals: "), "{text}");
    // The others alone count.
    workspace.write("whole.csv", format!("{head}\n{first}\n{first}\n"));
    workspace
        .line(&format!("{line} whole.csv --out whole"))
        .exits(0);
    let [left, whole] = ["left", "whole"].map(|run| workspace.summary(run));
    for part in ["fair", "discriminatory", "undecided"] {
        assert_eq!(left[part], whole[part]);
    }
    assert_eq!(left["marginals"]["bad_rows"]["rows"], 1);
    refuses(
        &workspace,
        &format!("{prove} --skip-bad-rows --out nothing"),
        2,
        &["--skip-bad-rows", "a proof without marginals"],
    );
}

#[test]
fn marginals_weigh_points_and_undecided_ones_start_a_search() {
    let workspace = Workspace::with_demo(1000);
    let line = format!("{LINE} --marginals demo/people.csv --max-boxes 20 --estimate 200");
    let summary = workspace
        .line(&format!("{line} --out run --json -q"))
        .exits(0)
        .json();
    assert_eq!(summary["is_weighted"], true);
    let shares = ["fair", "discriminatory", "undecided"];
    let sum: f64 = shares
        .iter()
        .map(|of| summary[of]["share"].as_f64().unwrap())
        .sum();
    assert!((sum - 1.0).abs() < 1e-9, "{sum}");
    workspace.line("verify run -q").exits(0);
    workspace
        .line("audit --model demo/model --data run/undecided.parquet --protected sex,origin --seeds 5 --local 2 --estimate 10 --out search -q")
        .exits(0);
}

/// Shares of a fitted population are bounded from both sides, by a run that is cut as by a whole one,
/// and contain those of people drawn from it.
#[test]
fn a_fitted_population_is_weighed() {
    let workspace = Workspace::with_demo(1000);
    workspace
        .line("spn fit --data demo/people.csv --schema synthetic-census --out fitted -q")
        .exits(0);
    let line = format!("{LINE} --population spn:fitted --estimate 500 -q");
    let whole = workspace
        .line(&format!(
            "{line} --until-undecided 0.01 --threads 1 --out whole --json"
        ))
        .exits(0)
        .json();
    assert_eq!(whole["is_weighted"], true);
    assert!(whole["population"]["components"].as_u64() > Some(1));
    let inside = whole["population"]["inside"].as_f64().unwrap();
    assert!(0.0 < inside && inside < 0.5, "ages from 20 to 24: {inside}");
    let bounds = |summary: &Value| {
        let bound = |place: usize| summary["bounds"][place].as_f64().unwrap();
        [bound(0), bound(1)]
    };
    let [low, high] = bounds(&whole);
    assert!(
        low > 0.0 && high < 1.0 && high - low <= 0.0101,
        "{low} {high}"
    );
    let interval = |place: usize| whole["estimate"]["ci95"][place].as_f64();
    assert!(interval(0) >= Some(low) && interval(1) <= Some(high));

    workspace
        .line(&format!("{line} --max-boxes 9 --out parts"))
        .exits(0);
    let [wide_low, wide_high] = bounds(&workspace.summary("parts"));
    assert!(wide_low <= low && wide_high >= high);
    workspace
        .line(
            "prove --resume --out parts --until-undecided 0.01 --max-boxes 1000000 --threads 2 -q",
        )
        .exits(0);
    let [one, two] =
        ["whole", "parts"].map(|run| fs::read(workspace.path(run).join("boxes.parquet")).unwrap());
    assert_eq!(one, two);
    let verified = workspace.line("verify whole --json -q").exits(0).json();
    assert_eq!(verified["adds_up"], true);
    assert_eq!(verified["refuted"], 0);
    let spoken = line.replace(" -q", "");
    workspace
        .line(&format!("{spoken} --max-boxes 9 --out said"))
        .exits(0)
        .says(&["people drawn from the fitted population", "estimated"]);
    workspace.line("report whole --out whole.md -q").exits(0);
    assert!(workspace.read("whole.md").contains("fitted population"));
    // From its file, whose folder the network is seen from, and to its end after a limit of time.
    workspace.write(
        "people.toml",
        "kind = 'prove'\nmodel = 'demo/model'\nprotected = ['sex']\n\
         within = ['age=20..21']\npopulation = 'spn:fitted'\ntime = '1ns'\nuntil_undecided = 0.2\n",
    );
    workspace.line("run people.toml --out run -q").exits(0);
    assert_eq!(workspace.summary("run")["ending"], "time");
    workspace.line("run run --resume -q").exits(0);
    assert_eq!(workspace.summary("run")["ending"], "decided");
    workspace.line("verify run -q").exits(0);
}

/// What a search from undecided points finds is listed with the pairs of the proof.
#[test]
fn undecided_points_are_searched() {
    let workspace = Workspace::with_demo(1000);
    let line = format!("{LINE} --max-boxes 20 --estimate 200 --search 20 -q");
    let summary = workspace
        .line(&format!("{line} --out run --json"))
        .exits(0)
        .json();
    let (search, witnesses) = (&summary["search"], summary["witnesses"].as_u64().unwrap());
    let pairs = search["pairs"].as_u64().unwrap();
    assert_eq!(search["seeds"], 20);
    assert!(
        search["discriminatory"].as_u64() > Some(20) && pairs > 20,
        "{search}"
    );
    let verified = workspace.line("verify run --json -q").exits(0).json();
    assert_eq!(verified["pairs"]["confirmed"], witnesses + pairs);
    workspace
        .line(&format!("{line} --threads 1 --out again"))
        .exits(0);
    let [one, two] =
        ["run", "again"].map(|run| fs::read(workspace.path(run).join("samples.parquet")).unwrap());
    assert_eq!(one, two);
}

#[test]
fn what_cannot_be_proved_is_refused_by_its_option() {
    let workspace = Workspace::with_demo(1000);
    workspace
        .line(
            "spn fit --data demo/people.csv --schema synthetic-census --ignore hours_per_week --out less -q",
        )
        .exits(0);
    for (line, said) in [
        (
            "prove --model demo/model --protected sex --within sex=Male",
            "within is sex=Male",
        ),
        (
            "prove --model demo/model --protected sex --within height=3",
            "height",
        ),
        (
            "prove --model demo/model --protected sex --within age=30..20",
            "within is age=30..20",
        ),
        ("prove --model demo/model --protected nobody", "nobody"),
        (
            "prove --model demo/model --protected sex --population less",
            "--population is less, but must be spn: and",
        ),
        (
            "prove --model demo/model --protected sex --population spn:nowhere",
            "population is spn:",
        ),
        (
            "prove --model demo/model --protected sex --population spn:less",
            "was not learnt from the attribute 'hours_per_week'",
        ),
        (
            "prove --model demo/model --protected sex --population spn:less --marginals demo/people.csv",
            "--marginals is given",
        ),
        (
            "prove --model demo/model --protected sex --search 20 --estimate 10",
            "--search is 20",
        ),
        (
            "prove --model demo/people.csv --protected sex",
            "people.csv",
        ),
    ] {
        refuses(&workspace, line, 2, &[said]);
    }
}
