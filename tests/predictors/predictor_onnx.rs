//! Predictors that are ONNX files (scripts/predictor_graphs.py), against what onnxruntime makes of
//! them.
#![cfg(feature = "onnx")]

use std::path::{Path, PathBuf};

use crate::probity_command::{Workspace, figures};
use probity::data::builtin;
use probity::data::schema::Schema;
use probity::nn::{Classifier, Rows};
use probity::predictor::Predictor;
use probity::predictor::onnx::OnnxPredictor;
use probity::predictor::source::{Categories, GraphOptions, OutputKind, PredictorOptions};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::Value;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/predictors")
        .join(name)
}

fn schema() -> Schema {
    builtin::schema("synthetic-census").unwrap().unwrap()
}

/// How each graph is used.
fn graphs() -> [(&'static str, GraphOptions); 5] {
    let mut indicators = GraphOptions::default();
    indicators.categories = Categories::Onehot;
    indicators.output = None;
    indicators.gives = OutputKind::Logits;
    [
        ("matrix", GraphOptions::default()),
        ("indicators", indicators),
        ("columns", GraphOptions::default()),
        ("trees", GraphOptions::default()),
        ("words", GraphOptions::default()),
    ]
}

fn open(name: &str, options: &GraphOptions) -> Result<OnnxPredictor, String> {
    let file = data(&format!("{name}.onnx"));
    OnnxPredictor::open(&file, &schema(), options).map_err(|error| error.to_string())
}

/// The recorded rows and the whole record.
fn recorded() -> (Vec<i32>, Value) {
    let text = std::fs::read_to_string(data("recorded.json")).unwrap();
    let record: Value = serde_json::from_str(&text).unwrap();
    let rows = record["rows"].as_array().unwrap();
    let codes = rows
        .iter()
        .flat_map(|row| row.as_array().unwrap())
        .map(|code| code.as_i64().unwrap() as i32);
    (codes.collect(), record)
}

#[test]
fn probabilities_equal_those_of_onnxruntime() {
    let (codes, record) = recorded();
    for (name, options) in graphs() {
        let predictor = open(name, &options).unwrap();
        let rows = Rows::new(&codes, predictor.width());
        let logits = predictor.logits(rows).unwrap();
        let expected = record[name].as_array().unwrap();
        assert_eq!(logits.len(), 2 * expected.len());
        let (mut low, mut high) = (false, false);
        for (logits, expected) in logits.chunks_exact(2).zip(expected) {
            let expected = expected.as_f64().unwrap();
            let found = 1.0 / (1.0 + f64::from(logits[0] - logits[1]).exp());
            assert!(
                (found - expected).abs() < 1e-6,
                "{name}: {found} {expected}"
            );
            low |= found < 0.4;
            high |= found > 0.6;
        }
        assert!(low && high, "{name} says something");
    }
}

/// The promise of [`probity::nn`], for these too.
#[test]
fn a_row_alone_has_the_bits_that_it_has_in_any_batch() {
    let (codes, _) = recorded();
    // More than a tile.
    let codes = codes.repeat(3);
    for (name, options) in graphs() {
        let predictor = open(name, &options).unwrap();
        let width = predictor.width();
        let whole = predictor.logits(Rows::new(&codes, width)).unwrap();
        for (number, row) in codes.chunks_exact(width).enumerate().take(70) {
            let alone = predictor.logits(Rows::new(row, width)).unwrap();
            assert_eq!(alone, whole[2 * number..2 * number + 2], "{name} {number}");
        }
        assert!(predictor.logits(Rows::new(&[], width)).unwrap().is_empty());
    }
}

/// A number of a row's own takes the place of that of its bin, in every row of every tile.
#[test]
fn rows_keep_their_own_numbers() {
    let (codes, _) = recorded();
    let codes = codes.repeat(3);
    let place = schema().index_of("hours_per_week").unwrap();
    let mut moved = 0;
    for (name, options) in graphs() {
        let predictor = open(name, &options).unwrap();
        let width = predictor.width();
        let mut others = codes.clone();
        let mut own = Vec::new();
        for (number, row) in others.chunks_exact_mut(width).enumerate() {
            // Every third row keeps the number of its bin.
            if number % 3 == 0 {
                own.push(f64::NAN);
                continue;
            }
            row[place] = (row[place] + 3) % 10;
            own.push(f64::from(6 * row[place]));
        }
        let rows = Rows::new(&codes, width);
        let found = predictor.logits_with(rows, &own).unwrap();
        assert_eq!(
            found,
            predictor.logits(Rows::new(&others, width)).unwrap(),
            "{name}"
        );
        moved += usize::from(found != predictor.logits(rows).unwrap());
        assert_eq!(
            predictor
                .logits_with(rows, &vec![f64::NAN; own.len()])
                .unwrap(),
            predictor.logits(rows).unwrap()
        );
    }
    // Trees and words make nothing of the hours.
    assert_eq!(moved, 3);
}

#[test]
fn what_does_not_fit_is_named() {
    let default = GraphOptions::default();
    let mut onehot = GraphOptions::default();
    onehot.categories = Categories::Onehot;
    let named = |output: &str| {
        let mut options = GraphOptions::default();
        options.output = Some(output.to_owned());
        options
    };
    for (name, options, needles) in [
        (
            "mapper",
            default.clone(),
            &["CategoryMapper (node 'the_mapper')", "docs/predictors.md"][..],
        ),
        (
            "matrix",
            onehot.clone(),
            &[
                "has the shape [?, 8]",
                "make 16 columns",
                "predictor.categories",
            ],
        ),
        (
            "indicators",
            default.clone(),
            &["has the shape [10, 16]", "make 8 columns"],
        ),
        (
            "columns",
            onehot.clone(),
            &[
                "one input for each attribute",
                "leave predictor.categories out",
            ],
        ),
        ("words", onehot.clone(), &["leave predictor.categories out"]),
        (
            "words",
            named("label"),
            &["LinearClassifier", "only the scores"],
        ),
        (
            "matrix",
            named("score"),
            &["no output 'score'", "label, probabilities"],
        ),
        ("nothing", default, &["nothing.onnx"]),
    ] {
        let error = open(name, &options).err().unwrap();
        for needle in needles {
            assert!(error.contains(needle), "{name}: no '{needle}' in: {error}");
        }
    }
    // Found out when it is asked.
    let (codes, _) = recorded();
    for (name, options, needle) in [
        ("matrix", named("label"), "floating-point"),
        ("indicators", onehot, "as the probability of"),
    ] {
        let predictor = open(name, &options).unwrap();
        let error = predictor
            .logits(Rows::new(&codes, predictor.width()))
            .unwrap_err();
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert!(cause.contains(needle), "{cause}");
    }
    let mut narrow = schema();
    narrow.attributes.pop();
    let error = OnnxPredictor::open(&data("columns.onnx"), &narrow, &GraphOptions::default())
        .err()
        .unwrap();
    assert!(
        error.to_string().contains("'origin' is no attribute"),
        "{error}"
    );
    let mut others = schema();
    others.label.classes = vec!["poor".into(), "rich".into()];
    let error = OnnxPredictor::open(&data("words.onnx"), &others, &GraphOptions::default())
        .err()
        .unwrap();
    assert!(
        error.to_string().contains("classes are high, low"),
        "{error}"
    );
}

/// Whole numbers count the schema's classes, names say which class a column is.
#[test]
fn columns_are_the_classes_that_the_file_names() {
    let (codes, _) = recorded();
    let winners = |name: &str, classes: [&str; 2]| {
        let mut schema = schema();
        schema.label.classes = classes.map(str::to_owned).to_vec();
        let predictor =
            OnnxPredictor::open(&data(&format!("{name}.onnx")), &schema, &graphs()[0].1).unwrap();
        let logits = predictor.logits(Rows::new(&codes, predictor.width()));
        let logits = logits.unwrap();
        let winners = logits
            .chunks_exact(2)
            .map(|row| classes[usize::from(row[1] > row[0])].to_owned());
        winners.collect::<Vec<String>>()
    };
    assert_eq!(
        winners("words", ["low", "high"]),
        winners("words", ["high", "low"])
    );
    assert_eq!(
        winners("trees", ["0", "1"]),
        winners("trees", ["1.0", "0.0"])
            .iter()
            .map(|name| name[..1].to_owned())
            .collect::<Vec<_>>()
    );
    let counted = winners("trees", ["low", "high"]);
    let turned = winners("trees", ["high", "low"]);
    assert!(counted.iter().zip(&turned).all(|(one, other)| one != other));
}

/// Files that are cut or changed are refused or run; neither ends the process.
#[test]
fn broken_files_are_errors() {
    let (codes, _) = recorded();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("broken.onnx");
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    let (mut refused, mut ran) = (0, 0);
    let mut attempt = |bytes: &[u8]| {
        std::fs::write(&file, bytes).unwrap();
        match OnnxPredictor::open(&file, &schema(), &GraphOptions::default()) {
            Err(_) => refused += 1,
            Ok(predictor) => {
                let rows = Rows::new(&codes[..2 * predictor.width()], predictor.width());
                let _ = predictor.logits(rows);
                ran += 1;
            }
        }
    };
    for (name, _) in graphs() {
        let whole = std::fs::read(data(&format!("{name}.onnx"))).unwrap();
        for end in (0..whole.len()).step_by(1 + whole.len() / 100) {
            attempt(&whole[..end]);
        }
        for _ in 0..150 {
            let mut bytes = whole.clone();
            for _ in 0..random.random_range(1..4) {
                let at = random.random_range(0..bytes.len());
                match random.random_range(0..4) {
                    0 => bytes[at] = random.random(),
                    1 => bytes[at] ^= 1 << random.random_range(0..8),
                    2 => drop(bytes.remove(at)),
                    _ => bytes.insert(at, random.random()),
                }
            }
            attempt(&bytes);
        }
    }
    assert!(refused > 500 && ran > 50, "{refused} refused, {ran} ran");
}

#[test]
fn audited_verified_and_independent_of_threads() {
    let workspace = Workspace::with_demo(400);
    std::fs::copy(data("matrix.onnx"), workspace.path("matrix.onnx")).unwrap();
    let audit = "audit --predictor onnx:matrix.onnx --schema synthetic-census --data demo/people.csv \
                 --protected sex,origin --seeds 60 --local 30 --estimate 1000 --samples csv";
    workspace
        .line(&format!("{audit} --threads 1 --out one"))
        .exits(0);
    workspace
        .line(&format!("{audit} --threads 3 --batch 7 --out two"))
        .exits(0);
    let [one, two] = ["one", "two"].map(|run| workspace.json(&format!("{run}/summary.json")));
    assert_eq!(figures(&one), figures(&two));
    assert!(one["total"]["discriminatory"].as_u64().unwrap() > 0);
    assert!(workspace.read("one/samples.csv") == workspace.read("two/samples.csv"));
    workspace.line("verify one").exits(0).says(&[" 0 rejected"]);
    // The file has moved: the run says where it was.
    std::fs::remove_file(workspace.path("matrix.onnx")).unwrap();
    workspace
        .line("verify one")
        .exits(2)
        .complains(&["matrix.onnx"]);
}

#[test]
fn refused_by_the_command() {
    let workspace = Workspace::with_demo(400);
    for name in ["matrix", "mapper"] {
        std::fs::copy(
            data(&format!("{name}.onnx")),
            workspace.path(&format!("{name}.onnx")),
        )
        .unwrap();
    }
    workspace.write("broken.onnx", "not a model");
    let before = workspace.snapshot();
    for (source, more, needle) in [
        ("mapper.onnx", "", "CategoryMapper"),
        ("broken.onnx", "", "broken.onnx"),
        (
            "matrix.onnx",
            "--predictor-timeout 5s",
            "has no meaning for an ONNX file",
        ),
        ("matrix.onnx", "--onnx-categories onehot", "make 16 columns"),
        (
            "matrix.onnx",
            "--onnx-categories letters",
            "possible values",
        ),
    ] {
        workspace
            .line(&format!(
                "audit --predictor onnx:{source} --schema synthetic-census --data demo/people.csv {more}"
            ))
            .exits(2)
            .complains(&[needle]);
    }
    assert_eq!(workspace.snapshot(), before);
}

/// A field of a message of protocol buffers.
fn field(number: u64, content: &[u8]) -> Vec<u8> {
    let length = varint(content.len() as u64);
    [&varint(number << 3 | 2), &length, content].concat()
}

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// A graph that gives what it takes: `[rows, 8]` numbers.
fn identity_of(rows: u64) -> Vec<u8> {
    let number = |place: u64, number: u64| [varint(place << 3), varint(number)].concat();
    let port = |name: &[u8]| {
        let sizes = [rows, 8].map(|size| field(1, &number(1, size)));
        let tensor = [number(1, 1), field(2, &sizes.concat())].concat();
        [field(1, name), field(2, &field(1, &tensor))].concat()
    };
    let node = [field(1, b"x"), field(2, b"y"), field(4, b"Identity")].concat();
    let graph = [
        field(1, &node),
        field(11, &port(b"x")),
        field(12, &port(b"y")),
    ];
    [
        number(1, 8),
        field(7, &graph.concat()),
        field(8, &number(2, 13)),
    ]
    .concat()
}

/// All rows that a graph is fixed to are computed for every answer.
#[test]
fn a_graph_is_fixed_to_few_rows_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fixed.onnx");
    let opened = |rows: u64| {
        std::fs::write(&file, identity_of(rows)).unwrap();
        OnnxPredictor::open(&file, &schema(), &GraphOptions::default()).map(drop)
    };
    opened(10).unwrap();
    opened(1 << 16).unwrap();
    for rows in [(1 << 16) + 1, 1_000_000_000_000, i64::MAX as u64] {
        let error = opened(rows).unwrap_err().to_string();
        assert!(error.contains(&format!("fixed to {rows} rows")), "{error}");
    }
}

/// Neither takes for true what a few bytes promise: a number of ten bytes that does not end, where
/// the parser would look for its end for ever, and a name of 26 GB.
#[test]
fn numbers_without_end_and_names_of_gigabytes_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hostile.onnx");
    let whole = identity_of(10);
    let without_end = [&whole[..], &[0x08], &[0xff; 12]].concat();
    let of_gigabytes = [&[0x12, 0xff, 0xff, 0xff, 0xff, 0x62], &whole[..]].concat();
    // In every message that is read, not at its top alone.
    let mut inside = Vec::new();
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        let end = (at + 10).min(changed.len());
        changed[at..end].fill(0xff);
        inside.push(changed);
    }
    for bytes in [without_end, of_gigabytes].into_iter().chain(inside) {
        std::fs::write(&file, &bytes).unwrap();
        let opened = OnnxPredictor::open(&file, &schema(), &GraphOptions::default());
        let error = opened.map(drop).unwrap_err().to_string();
        assert!(error.contains("hostile.onnx"), "{error}");
    }
}

/// Types of tensors, as ONNX numbers them.
const FLOAT: u64 = 1;
const INT64: u64 = 7;
const BOOL: u64 = 9;

/// A graph whose score is its one input `flag`, of the type `kind`, as a number.
fn flag_as_it_is(kind: u64) -> Vec<u8> {
    as_it_is(b"flag", 1, kind)
}

/// A graph whose scores are its input `name`, of this many columns of the type `kind`, as numbers.
fn as_it_is(name: &[u8], columns: u64, kind: u64) -> Vec<u8> {
    // The attribute `to`, of the type of integers.
    let number = |place: u64, number: u64| [varint(place << 3), varint(number)].concat();
    let to = [field(1, b"to"), number(3, FLOAT), number(20, 2)].concat();
    let cast = [field(4, b"Cast"), field(5, &to)].concat();
    of_one_node(&cast, name, columns, kind)
}

/// A graph whose scores the operator of a `node` makes of its input `name`, of this many columns of
/// the type `kind`.
fn of_one_node(node: &[u8], name: &[u8], columns: u64, kind: u64) -> Vec<u8> {
    let number = |place: u64, number: u64| [varint(place << 3), varint(number)].concat();
    let port = |name: &[u8], kind: u64| {
        // Any number of rows.
        let sizes = [field(1, &[]), field(1, &number(1, columns))].concat();
        let tensor = [number(1, kind), field(2, &sizes)].concat();
        [field(1, name), field(2, &field(1, &tensor))].concat()
    };
    let node = [field(1, name), field(2, b"score"), node.to_vec()].concat();
    let graph = [
        field(1, &node),
        field(11, &port(name, kind)),
        field(12, &port(b"score", FLOAT)),
    ];
    [
        number(1, 8),
        field(7, &graph.concat()),
        field(8, &number(2, 13)),
    ]
    .concat()
}

/// A schema of `flag`, described by these lines, and of sex.
fn flag_schema(flag: &str) -> String {
    format!(
        "name = \"people\"\n[label]\nname = \"approved\"\nclasses = [\"no\", \"yes\"]\n\
         [[attribute]]\nname = \"flag\"\n{flag}\n\
         [[attribute]]\nname = \"sex\"\nkind = \"categorical\"\nlevels = [\"f\", \"m\"]\nprotected = true\n"
    )
}

/// What the graph of an input of the type `kind` says of each code of `flag`.
fn scores_of_flag(kind: u64, flag: &str) -> Result<Vec<f64>, String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("flag.onnx");
    std::fs::write(&file, flag_as_it_is(kind)).unwrap();
    let schema = Schema::from_toml(&flag_schema(flag)).unwrap();
    let predictor = OnnxPredictor::open(&file, &schema, &GraphOptions::default());
    let predictor = predictor.map_err(|error| error.to_string())?;
    assert!(predictor.takes(0) && !predictor.takes(1));
    let (min, max) = schema.attributes[0].domain();
    let codes: Vec<i32> = (min..=max).flat_map(|code| [code, 0]).collect();
    let logits = predictor.logits(Rows::new(&codes, 2)).unwrap();
    let score = |logits: &[f32]| 1.0 / (1.0 + f64::from(logits[0] - logits[1]).exp());
    Ok(logits.chunks_exact(2).map(score).collect())
}

/// Not the place among the levels counts, in which they stand as they came first in a file.
#[test]
fn inputs_get_what_levels_mean() {
    let levels = |levels: [&str; 2]| format!("kind = \"categorical\"\nlevels = {levels:?}");
    let close = |found: &[f64], expected: [f64; 2]| {
        found.len() == 2
            && found
                .iter()
                .zip(expected)
                .all(|(found, expected)| (found - expected).abs() < 1e-6)
    };
    for (words, expected) in [
        (["True", "False"], [1.0, 0.0]),
        (["FALSE", "true"], [0.0, 1.0]),
        (["Yes", "no"], [1.0, 0.0]),
        (["t", "F"], [1.0, 0.0]),
        (["N", "y"], [0.0, 1.0]),
        (["1", "0"], [1.0, 0.0]),
    ] {
        for kind in [BOOL, INT64, FLOAT] {
            let found = scores_of_flag(kind, &levels(words)).unwrap();
            assert!(close(&found, expected), "{words:?} {kind}: {found:?}");
        }
    }
    let found = scores_of_flag(FLOAT, &levels(["0.75", "0.25"])).unwrap();
    assert!(close(&found, [0.75, 0.25]), "{found:?}");
    // Other words are codes, as before, and whole numbers themselves.
    for kind in [INT64, FLOAT] {
        let found = scores_of_flag(kind, &levels(["red", "blue"])).unwrap();
        assert!(close(&found, [0.0, 1.0]), "{found:?}");
    }
    for kind in [BOOL, INT64, FLOAT] {
        let found = scores_of_flag(kind, "kind = \"integer\"\nmin = 0\nmax = 1").unwrap();
        assert!(close(&found, [0.0, 1.0]), "{found:?}");
    }
}

#[test]
fn what_an_input_has_no_form_for_is_refused_by_its_name() {
    let missing =
        "kind = \"categorical\"\nlevels = [\"yes\", \"no\"]\nmissing = \"?\"\noutside = \"level\"";
    for (kind, flag, needles) in [
        (
            BOOL,
            "kind = \"categorical\"\nlevels = [\"True\", \"maybe\"]",
            &["'flag'", "'maybe'", "neither true nor false", "yes or no"][..],
        ),
        (
            BOOL,
            "kind = \"integer\"\nmin = 0\nmax = 2",
            &["'flag'", "'2'", "neither true nor false"],
        ),
        (
            BOOL,
            "kind = \"numeric\"\nbins = [0, 1, 2]",
            &["'flag'", "numeric", "integer from 0 to 1"],
        ),
        (BOOL, missing, &["'flag'", "'?'", "outside = \"skip\""]),
        (
            INT64,
            missing,
            &["'flag'", "'?'", "whole numbers", "outside = \"skip\""],
        ),
        (
            INT64,
            "kind = \"categorical\"\nlevels = [\"0.5\", \"1\"]",
            &["'flag'", "the level 0.5"],
        ),
        (
            INT64,
            "kind = \"numeric\"\nbins = [0, 1000, 5e9, 6e9]",
            &["'flag'", "5000000000", "32 bits"],
        ),
    ] {
        let error = scores_of_flag(kind, flag).unwrap_err();
        for needle in needles {
            assert!(error.contains(needle), "no '{needle}' in: {error}");
        }
    }
}

/// A matrix takes what single inputs take.
#[test]
fn a_matrix_has_no_form_for_more() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("matrix.onnx");
    let open = |kind: u64, flag: &str, sex: [&str; 2]| {
        std::fs::write(&file, as_it_is(b"x", 2, kind)).unwrap();
        let schema =
            flag_schema(flag).replace("\"f\", \"m\"", &format!("{:?}, {:?}", sex[0], sex[1]));
        let schema = Schema::from_toml(&schema).unwrap();
        let mut options = GraphOptions::default();
        options.gives = OutputKind::Logits;
        OnnxPredictor::open(&file, &schema, &options).map_err(|error| error.to_string())
    };
    let levels = "kind = \"categorical\"\nlevels = [\"True\", \"False\"]";
    let number = "kind = \"integer\"\nmin = 0\nmax = 3";
    let missing =
        "kind = \"categorical\"\nlevels = [\"1\", \"2\"]\nmissing = \"?\"\noutside = \"level\"";
    let predictor = open(BOOL, levels, ["no", "yes"]).unwrap();
    let logits = predictor.logits(Rows::new(&[0, 0, 1, 1], 2)).unwrap();
    assert_eq!(logits, [1.0, 0.0, 0.0, 1.0]);
    assert!(open(INT64, number, ["f", "m"]).is_ok());
    for (kind, flag, needles) in [
        (
            BOOL,
            number,
            &["'x'", "'2' of 'flag'", "neither true nor false"][..],
        ),
        (
            BOOL,
            levels,
            &["'x'", "'m' of 'sex'", "neither true nor false"],
        ),
        (INT64, missing, &["'x'", "'?'", "whole numbers"]),
    ] {
        let error = open(kind, flag, ["f", "m"]).map(drop).unwrap_err();
        for needle in needles {
            assert!(error.contains(needle), "no '{needle}' in: {error}");
        }
    }
}

/// An attribute that the data spread over columns enters by these, in a matrix and one by one.
#[test]
fn columns_of_one_attribute_enter_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("graph.onnx");
    let open = |graph: Vec<u8>, columns: &[&str], more: &str| {
        std::fs::write(&file, graph).unwrap();
        let levels = &["a", "b"][..columns.len()];
        let all = [levels, &["c"]].concat();
        let schema = format!(
            "name = \"people\"\n[format.spread.race]\ncolumns = {columns:?}\nlevels = {levels:?}\n\
             base = \"c\"\n[label]\nname = \"approved\"\nclasses = [\"no\", \"yes\"]\n\
             [[attribute]]\nname = \"race\"\nkind = \"categorical\"\nlevels = {all:?}\n{more}"
        );
        let mut graph = GraphOptions::default();
        graph.gives = OutputKind::Logits;
        let options = PredictorOptions {
            source: format!("onnx:{}", file.display()).parse().unwrap(),
            directory: folder.path().to_owned(),
            timeout_seconds: 1.0,
            rows: 1,
            graph,
            probabilities: Default::default(),
            schema: Schema::from_toml(&schema).unwrap(),
        };
        let opened = options.open().map_err(|error| error.to_string());
        opened.map(|opened| opened.predictor)
    };
    let both = ["race_a", "race_b"];
    let logits = |predictor: &dyn Predictor, codes: &[i32]| {
        assert_eq!(predictor.width(), 1);
        predictor.logits(Rows::new(codes, 1)).unwrap()
    };
    for kind in [FLOAT, BOOL, INT64] {
        let predictor = open(as_it_is(b"x", 2, kind), &both, "").unwrap();
        let found = logits(predictor.as_ref(), &[0, 1, 2]);
        assert_eq!(found, [1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
        assert!(predictor.words_by_place().is_empty());
    }
    // A score alone is the second of two logits.
    let predictor = open(flag_as_it_is(FLOAT), &["flag"], "").unwrap();
    assert_eq!(logits(predictor.as_ref(), &[0, 1]), [0.0, 1.0, 0.0, 0.0]);
    assert!(predictor.takes(0));
    let predictor = open(as_it_is(b"race_b", 1, FLOAT), &both, "").unwrap();
    assert_eq!(logits(predictor.as_ref(), &[0, 1]), [0.0, 0.0, 0.0, 1.0]);
    assert!(predictor.takes(0), "by one of its columns");
    let missing = "missing = \"\"\noutside = \"level\"\n";
    let error = open(as_it_is(b"x", 2, INT64), &both, missing).map(drop);
    let error = error.unwrap_err();
    assert!(
        error.contains("whole numbers") && error.contains("'race_a'"),
        "{error}"
    );
}

/// A graph that makes 0 of what is missing knows nothing of it.
#[test]
fn missing_numbers_are_not_taken_for_others() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("matrix.onnx");
    let flag = "kind = \"integer\"\nmin = 0\nmax = 3\nmissing = \"?\"\noutside = \"level\"";
    let schema = Schema::from_toml(&flag_schema(flag)).unwrap();
    let mut options = GraphOptions::default();
    options.gives = OutputKind::Logits;
    let answer = |kind: &[u8], rows: &[i32]| {
        let graph = of_one_node(&field(4, kind), b"x", 2, FLOAT);
        std::fs::write(&file, graph).unwrap();
        let predictor = OnnxPredictor::open(&file, &schema, &options).unwrap();
        predictor.logits(Rows::new(rows, 2))
    };
    let message = |error: &dyn std::error::Error| {
        let source = error.source().map(ToString::to_string);
        format!("{error}: {}", source.unwrap_or_default())
    };
    let (_, missing) = schema.attributes[0].domain();
    assert_eq!(
        answer(b"Relu", &[2, 1, 3, 0]).unwrap(),
        [2.0, 1.0, 3.0, 0.0]
    );
    let error = message(&answer(b"Relu", &[2, 1, missing, 0]).unwrap_err());
    for needle in ["flag", "Relu", "NaN", "--outside skip", "matrix.onnx"] {
        assert!(error.contains(needle), "no '{needle}' in: {error}");
    }
    let error = message(&answer(b"Neg", &[2, 1, missing, 0]).unwrap_err());
    assert!(error.contains("not finite"), "{error}");
}

/// A folder with a graph that takes `flag` and not sex, its schema, and rows.
fn blind() -> Workspace {
    let workspace = Workspace::new();
    workspace.write("flag.onnx", flag_as_it_is(BOOL));
    let levels = "kind = \"categorical\"\nlevels = [\"True\", \"False\"]";
    let age = "[[attribute]]\nname = \"age\"\nkind = \"integer\"\nmin = 18\nmax = 77\n";
    workspace.write("people.toml", flag_schema(levels) + age);
    let row = |number: u32| {
        let is_set = number.is_multiple_of(3);
        let (flag, approved) = if is_set {
            ("True", "yes")
        } else {
            ("False", "no")
        };
        format!(
            "{flag},{},{},{approved}\n",
            if number.is_multiple_of(2) { "f" } else { "m" },
            18 + number
        )
    };
    let rows: String = (0..60).map(row).collect();
    workspace.write("people.csv", format!("flag,sex,age,approved\n{rows}"));
    workspace
}

const OF_BLIND: &str = "--predictor onnx:flag.onnx --schema people.toml --data people.csv";
const NOT_TAKEN: &str = "model does not take 'sex'; nothing here can flip, which says nothing about \
                         columns that stand for it";

#[test]
fn a_model_without_the_attribute_says_so_first_and_passes_no_gate() {
    let workspace = blind();
    let audit = |more: &str| {
        let search = "--seeds 5 --local 2 --estimate 200";
        workspace.line(&format!("audit {OF_BLIND} {search} {more}"))
    };
    audit("--out run").exits(0).says(&[NOT_TAKEN]);
    let summary = workspace.json("run/summary.json");
    assert_eq!(summary["not_taken"], serde_json::json!(["sex"]));
    assert_eq!(summary["population"]["shares"][0]["discriminatory"], 0);
    assert_eq!(summary["asked_twice"]["rows"], 60);
    workspace
        .line("report run --format markdown --out run.md")
        .exits(0);
    let report = workspace.read("run.md");
    assert!(report.contains("does not take 'sex'"), "{report}");

    audit("--fail-above 0.5 --out above").exits(1).says(&[
        NOT_TAKEN,
        "NOT APPLICABLE",
        "--blind-ok",
    ]);
    let verdict =
        |run: &str| workspace.json(&format!("{run}/summary.json"))["fail_above"]["verdict"].clone();
    assert_eq!(verdict("above"), "not_applicable");
    audit("--fail-above 0.5 --blind-ok --out allowed")
        .exits(0)
        .says(&[NOT_TAKEN, "PASS: "]);
    assert_eq!(verdict("allowed"), "within");
    audit("--blind-ok --out useless")
        .exits(2)
        .complains(&["--blind-ok"]);

    // By the flag, which decides, all rows flip: the bound is on both.
    audit("--protected flag,sex --fail-above 0.5 --out both")
        .exits(1)
        .says(&[
            "model does not take 'sex'; nothing here can flip by that alone",
            "FAIL: ",
        ]);
    audit("--protected flag --out flag").exits(0);
    assert!(workspace.json("flag/summary.json")["not_taken"].is_null());

    // Thresholds of a group's own can flip decisions on the same answers.
    audit("--threshold sex=f:0.4 --fail-above 0.5 --out by_sex").exits(0);
    assert!(workspace.json("by_sex/summary.json")["not_taken"].is_null());

    workspace
        .line(&format!("explain {OF_BLIND} --row 3"))
        .exits(0)
        .says(&[NOT_TAKEN]);
}

/// A figure of a model whose classes are turned round is about the wrong decision.
#[test]
fn whatever_asks_says_how_classes_are_counted_and_whether_outcomes_speak_against_it() {
    let workspace = blind();
    let rows = workspace.read("people.csv");
    let rows = rows.replace(",yes\n", ",granted\n");
    workspace.write("people.csv", rows.replace(",no\n", ",refused\n"));
    let schema = workspace.read("people.toml");
    for (classes, said) in [
        (["refused", "granted"], "note: the model does not name"),
        (["granted", "refused"], "WARNING: the model does not name"),
    ] {
        let [first, second] = classes.map(|class| format!("\"{class}\""));
        let named = schema.replace("\"no\", \"yes\"", &format!("{first}, {second}"));
        workspace.write("people.toml", named);
        for command in [
            "evaluate",
            "predict",
            "groups --protected sex",
            "situations --protected sex --k 3",
            "counterparts --protected sex",
            "proxies --protected sex",
            "audit --seeds 5 --local 2 --estimate 200",
            "explain --row 3",
        ] {
            let counted = format!("0 is '{}', 1 is '{}'", classes[0], classes[1]);
            // One row has no weight.
            let said = if command.starts_with("explain") {
                "note: the model"
            } else {
                said
            };
            workspace
                .line(&format!("{command} {OF_BLIND}"))
                .exits(0)
                .complains(&[said, &counted]);
        }
    }
}

#[test]
fn a_gate_on_a_model_without_the_attribute_fails_unless_that_is_wanted() {
    let workspace = blind();
    let check = "[[check]]\nname = \"people\"\ndata = \"people.csv\"\nfail_above = 0.5\nestimate = 200\n\
                 search = { seeds = 5, local = 2 }\n\
                 predictor = { source = \"onnx:flag.onnx\", schema = \"people.toml\" }\n";
    workspace.write("probity.toml", check);
    workspace
        .line("gate --out first --junit gate.xml")
        .exits(1)
        .says(&[NOT_TAKEN, "NOT APPLICABLE"]);
    let junit = workspace.read("gate.xml");
    assert!(
        junit.contains("type=\"not_applicable\"") && junit.contains("blind_ok = true"),
        "{junit}"
    );
    workspace.write(
        "probity.toml",
        check.replace("fail_above", "blind_ok = true\nfail_above"),
    );
    workspace
        .line("gate --out second")
        .exits(0)
        .says(&[NOT_TAKEN, "within"]);
}
