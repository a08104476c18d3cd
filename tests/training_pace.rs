//! How long a training lasts where nobody says so: small data are learnt too, and the run says what
//! was settled.

mod probity_command;

use probity_command::Workspace;

const SCHEMA: &str = "name = \"grid\"\n[label]\nname = \"side\"\nclasses = [\"alike\", \"apart\"]\n\
    [[attribute]]\nname = \"a\"\nkind = \"integer\"\nmin = 0\nmax = 9\n\
    [[attribute]]\nname = \"b\"\nkind = \"integer\"\nmin = 0\nmax = 9\n\
    [[attribute]]\nname = \"noise\"\nkind = \"integer\"\nmin = 0\nmax = 9\nprotected = true\n";

/// Points on a checkerboard of blocks of four by four, and the colour that they lie on: what each
/// coordinate says alone is little.
fn grid(rows: u64) -> String {
    let mut table = "a,b,noise,side\n".to_owned();
    let mut state = 1_u64;
    let mut draw = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) * 10) >> 31
    };
    for _ in 0..rows {
        let (a, b, noise) = (draw(), draw(), draw());
        let side = if (a / 4 + b / 4) % 2 == 0 {
            "alike"
        } else {
            "apart"
        };
        table += &format!("{a},{b},{noise},{side}\n");
    }
    table
}

#[test]
fn few_rows_are_learnt_without_any_option() {
    for (rows, least) in [(454, 0.85), (3000, 0.93)] {
        let workspace = Workspace::new();
        workspace.write("grid.csv", grid(rows));
        workspace.write("grid.toml", SCHEMA);
        let accuracy: f64 = (1..=3)
            .map(|seed| {
                let line = format!("train --data grid.csv --schema grid.toml --seed {seed} --out model-{seed} --json");
                let summary = workspace.line(&line).exits(0).json();
                summary["test"]["accuracy"].as_f64().unwrap()
            })
            .sum();
        let mean = accuracy / 3.0;
        assert!(mean >= least, "{rows} rows: {mean}");
    }
}

/// What was settled stands in the run, repeats it, and is the same for any number of threads; what
/// is given stands as it is.
#[test]
fn the_run_says_what_was_settled() {
    let workspace = Workspace::new();
    workspace.write("grid.csv", grid(454));
    workspace.write("grid.toml", SCHEMA);
    let train = "train --data grid.csv --schema grid.toml";
    workspace
        .line(&format!("{train} --threads 1 --out model"))
        .exits(0);
    let written = |run: &str| {
        let run: toml::Table = toml::from_str(&workspace.read(&format!("{run}/run.toml"))).unwrap();
        run["training"].as_table().unwrap().clone()
    };
    // 363 rows train, in 12 batches of 32.
    let training = written("model");
    assert_eq!(training["epochs"].as_integer(), Some(209));
    assert_eq!(training["batch"].as_integer(), Some(32));
    let decay = training["weight_decay"].as_float().unwrap();
    assert!((decay - 0.3).abs() < 1e-6, "{decay}");
    assert_eq!(training["validation"].as_float(), Some(0.0));

    let model = workspace.summary("model")["model_sha256"].clone();
    workspace
        .line(&format!("{train} --threads 3 --out threads"))
        .exits(0);
    workspace.line("run model --out again").exits(0);
    let explicit = "--epochs 209 --batch 32 --weight-decay 0.3 --validation 0 --hidden 100";
    workspace
        .line(&format!("{train} {explicit} --out explicit"))
        .exits(0);
    for run in ["threads", "again", "explicit"] {
        assert_eq!(workspace.summary(run)["model_sha256"], model, "{run}");
    }

    workspace
        .line(&format!("{train} --epochs 3 --patience 2 --out given"))
        .exits(0);
    let training = written("given");
    assert_eq!(training["epochs"].as_integer(), Some(3));
    assert_eq!(training["validation"].as_float(), Some(0.1));
}

/// A repair trains at the pace of the model's own training, though what is learnt from the samples
/// adds to its rows.
#[test]
fn a_repair_keeps_the_pace_of_the_model() {
    let workspace = Workspace::new();
    workspace.write("grid.csv", grid(454));
    workspace.write("grid.toml", SCHEMA);
    for line in [
        "train --data grid.csv --schema grid.toml --hidden 8 --weight-decay 0 --out model",
        "audit --model model --data grid.csv --seeds 50 --local 20 --estimate 500 --out audit",
        "repair --model model --data grid.csv --run audit --share 1 --repeats 1 --estimate 500 --save-anyway --out fairer",
    ] {
        workspace.line(line).exits(0);
    }
    let own = |model: &str| {
        let text = workspace.read(&format!("{model}/provenance.toml"));
        let provenance: toml::Table = toml::from_str(&text).unwrap();
        let training = &provenance["specification"]["training"];
        ["epochs", "batch", "weight_decay", "validation"].map(|key| training[key].clone())
    };
    assert_eq!(own("fairer"), own("model"));
}
