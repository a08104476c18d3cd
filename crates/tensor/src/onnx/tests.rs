//! Graphs that are built here, right and wrong.

use rten_onnx::onnx::{
    AttributeProto, DataLocation, DataType, Dimension, GraphProto, ModelProto, NodeProto,
    OperatorSetIdProto, StringStringEntryProto, TensorProto, TensorShapeProto, TypeProto,
    TypeProtoTensor, ValueInfoProto,
};
use tempfile::TempDir;

use super::*;

fn value(name: &str, kind: DataType, columns: Option<i64>) -> ValueInfoProto {
    let size = |size: Option<i64>| Dimension {
        dim_value: size,
        dim_param: None,
    };
    ValueInfoProto {
        name: Some(name.to_owned()),
        r#type: Some(TypeProto {
            tensor_type: Some(TypeProtoTensor {
                elem_type: Some(kind),
                shape: Some(TensorShapeProto {
                    dim: vec![size(None), size(columns)],
                }),
            }),
            sequence: None,
        }),
    }
}

fn floats(name: &str, values: &[f32]) -> AttributeProto {
    AttributeProto {
        name: Some(name.to_owned()),
        floats: values.to_vec(),
        ..AttributeProto::default()
    }
}

fn integers(name: &str, values: &[i64]) -> AttributeProto {
    AttributeProto {
        name: Some(name.to_owned()),
        ints: values.to_vec(),
        ..AttributeProto::default()
    }
}

fn integer(name: &str, value: i64) -> AttributeProto {
    AttributeProto {
        name: Some(name.to_owned()),
        i: Some(value),
        ..AttributeProto::default()
    }
}

fn words(name: &str, values: &[&str]) -> AttributeProto {
    AttributeProto {
        name: Some(name.to_owned()),
        strings: values.iter().map(|&value| value.to_owned()).collect(),
        ..AttributeProto::default()
    }
}

fn word(name: &str, value: &str) -> AttributeProto {
    AttributeProto {
        name: Some(name.to_owned()),
        s: Some(value.to_owned()),
        ..AttributeProto::default()
    }
}

fn node(kind: &str, inputs: &[&str], output: &str, attribute: Vec<AttributeProto>) -> NodeProto {
    let is_standard = matches!(
        kind,
        "Add"
            | "ArgMax"
            | "ArgMin"
            | "Cast"
            | "CastLike"
            | "Concat"
            | "Equal"
            | "Identity"
            | "If"
            | "IsNaN"
            | "LogSoftmax"
            | "MatMul"
            | "Neg"
            | "Relu"
            | "Reshape"
            | "Slice"
            | "Softmax"
    );
    let mut outputs = vec![output.to_owned()];
    if kind.ends_with("Classifier") {
        outputs.insert(0, format!("{output}_label"));
    }
    NodeProto {
        domain: (!is_standard).then(|| "ai.onnx.ml".to_owned()),
        name: Some(format!("the {kind}")),
        input: inputs.iter().map(|&name| name.to_owned()).collect(),
        output: outputs,
        op_type: Some(kind.to_owned()),
        attribute,
    }
}

/// Makes a graph from `inputs` to `y`.
fn graph(inputs: Vec<ValueInfoProto>, nodes: Vec<NodeProto>) -> GraphProto {
    GraphProto {
        node: nodes,
        input: inputs,
        output: vec![ValueInfoProto {
            name: Some("y".to_owned()),
            r#type: None,
        }],
        ..GraphProto::default()
    }
}

struct Written {
    folder: TempDir,
}

impl Written {
    fn graph(graph: GraphProto) -> Written {
        Written::of_version(graph, 17)
    }

    /// Writes a graph of this version of the standard operators.
    fn of_version(graph: GraphProto, version: i64) -> Written {
        let opset = |domain: &str, version: i64| OperatorSetIdProto {
            domain: Some(domain.to_owned()),
            version: Some(version),
        };
        let model = ModelProto {
            ir_version: Some(8),
            graph: Some(graph),
            opset_import: vec![opset("", version), opset("ai.onnx.ml", 3)],
            ..ModelProto::default()
        };
        Written::bytes(&model.write_buf().unwrap())
    }

    fn bytes(bytes: &[u8]) -> Written {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("model.onnx"), bytes).unwrap();
        Written { folder }
    }

    fn open(&self) -> Result<OnnxModel, OnnxError> {
        OnnxFile::read(&self.folder.path().join("model.onnx"))?.model("y")
    }

    fn refused(&self) -> String {
        self.open().err().unwrap().to_string()
    }
}

fn matrix(columns: usize, values: &[f32]) -> Tensor {
    Tensor {
        shape: vec![values.len() / columns, columns],
        values: Numbers::Floats(values.to_vec()),
    }
}

fn x(columns: i64) -> Vec<ValueInfoProto> {
    vec![value("x", DataType::FLOAT, Some(columns))]
}

/// Returns what one node makes of the rows of `x`.
fn run(kind: &str, attributes: Vec<AttributeProto>, columns: usize, rows: &[f32]) -> Vec<f32> {
    let nodes = vec![node(kind, &["x"], "y", attributes)];
    let model = Written::graph(graph(x(columns as i64), nodes))
        .open()
        .unwrap();
    model.run(vec![matrix(columns, rows)]).unwrap().1
}

/// Describes one tree: a node that compares the only column with ½, and two leaves.
fn stump(mode: &str, tracks: i64) -> Vec<AttributeProto> {
    vec![
        integers("nodes_treeids", &[0, 0, 0]),
        integers("nodes_nodeids", &[0, 1, 2]),
        integers("nodes_featureids", &[0, 0, 0]),
        words("nodes_modes", &[mode, "LEAF", "LEAF"]),
        floats("nodes_values", &[0.5, 0.0, 0.0]),
        integers("nodes_truenodeids", &[1, 0, 0]),
        integers("nodes_falsenodeids", &[2, 0, 0]),
        integers("nodes_missing_value_tracks_true", &[tracks, 0, 0]),
    ]
}

fn regressor(mode: &str, tracks: i64) -> Vec<AttributeProto> {
    let mut attributes = stump(mode, tracks);
    attributes.extend([
        integers("target_treeids", &[0, 0]),
        integers("target_nodeids", &[1, 2]),
        integers("target_ids", &[0, 0]),
        floats("target_weights", &[1.0, 0.0]),
    ]);
    attributes
}

#[test]
fn comparisons_at_beside_and_without_the_number() {
    let below = 0.5f32.next_down();
    let above = 0.5f32.next_up();
    let rows = [
        below,
        0.5,
        above,
        f32::NAN,
        f32::NEG_INFINITY,
        f32::INFINITY,
    ];
    for (mode, expected) in [
        ("BRANCH_LEQ", [1.0, 1.0, 0.0, 0.0, 1.0, 0.0]),
        ("BRANCH_LT", [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]),
        ("BRANCH_GTE", [0.0, 1.0, 1.0, 0.0, 0.0, 1.0]),
        ("BRANCH_GT", [0.0, 0.0, 1.0, 0.0, 0.0, 1.0]),
        ("BRANCH_EQ", [0.0, 1.0, 0.0, 0.0, 0.0, 0.0]),
        ("BRANCH_NEQ", [1.0, 0.0, 1.0, 1.0, 1.0, 1.0]),
    ] {
        assert_eq!(
            run("TreeEnsembleRegressor", regressor(mode, 0), 1, &rows),
            expected
        );
        let mut tracked = expected;
        tracked[3] = 1.0;
        assert_eq!(
            run("TreeEnsembleRegressor", regressor(mode, 1), 1, &rows),
            tracked
        );
    }
}

/// The sum over trees is rounded once, so 10 · 0.1 is 1 and not a sum of roundings.
#[test]
fn votes_that_are_equal_stay_so() {
    let trees: Vec<i64> = (0..10).collect();
    let ones = |value: i64| vec![value; 10];
    let mut attributes = vec![
        integers("nodes_treeids", &trees),
        integers("nodes_nodeids", &ones(0)),
        integers("nodes_featureids", &ones(0)),
        words("nodes_modes", &["LEAF"; 10]),
        floats("nodes_values", &[0.0; 10]),
        integers("nodes_truenodeids", &ones(0)),
        integers("nodes_falsenodeids", &ones(0)),
        integers("class_treeids", &trees),
        integers("class_nodeids", &ones(0)),
        floats("class_weights", &[0.1; 10]),
        words("classlabels_strings", &["a", "b", "c"]),
    ];
    attributes.push(integers("class_ids", &[0, 0, 0, 0, 0, 1, 1, 1, 1, 1]));
    let scores = run("TreeEnsembleClassifier", attributes, 1, &[0.0]);
    assert_eq!(scores, [0.5, 0.5, 0.0]);
}

#[test]
fn features_are_prepared() {
    let scaler = vec![floats("offset", &[1.0, 2.0]), floats("scale", &[0.5, 0.1])];
    assert_eq!(
        run("Scaler", scaler, 2, &[3.0, 5.0, 1.0, 1.0]),
        [1.0, 3.0 * 0.1, 0.0, -0.1]
    );
    let rows = [3.0, -4.0, 0.0, 0.0];
    for (norm, expected) in [
        ("MAX", [1.0, -4.0 / 3.0, 0.0, 0.0]),
        ("L1", [3.0 / 7.0, -4.0 / 7.0, 0.0, 0.0]),
        ("L2", [0.6, -0.8, 0.0, 0.0]),
    ] {
        assert_eq!(
            run("Normalizer", vec![word("norm", norm)], 2, &rows),
            expected
        );
    }
    let imputer = |replaced: f32| {
        let mut replaced = AttributeProto {
            f: Some(replaced),
            ..word("replaced_value_float", "")
        };
        replaced.s = None;
        vec![floats("imputed_value_floats", &[7.0, 8.0]), replaced]
    };
    assert_eq!(
        run(
            "Imputer",
            imputer(f32::NAN),
            2,
            &[1.0, f32::NAN, f32::NAN, 0.0]
        ),
        [1.0, 8.0, 7.0, 0.0]
    );
    assert_eq!(run("Imputer", imputer(0.0), 2, &[1.0, 0.0]), [1.0, 8.0]);
    let threshold = AttributeProto {
        name: Some("threshold".to_owned()),
        f: Some(1.5),
        ..AttributeProto::default()
    };
    assert_eq!(
        run("Binarizer", vec![threshold], 3, &[1.0, 1.5, 1.6]),
        [0.0, 0.0, 1.0]
    );
    let categories = vec![integers("cats_int64s", &[4, -1])];
    assert_eq!(
        run("OneHotEncoder", categories, 1, &[-1.7, f32::NAN, 4.0, 5.0]),
        [0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    );
    let encoder = vec![
        floats("keys_floats", &[-0.0, f32::NAN, 0.5, 0.5]),
        floats("values_floats", &[1.0, 2.0, 3.0, 4.0]),
    ];
    assert_eq!(
        run("LabelEncoder", encoder, 1, &[0.0, f32::NAN, 0.5, 9.0]),
        [1.0, 2.0, 3.0, -0.0]
    );
}

#[test]
fn the_first_of_equal_numbers() {
    let choose = |kind: &str, attributes: Vec<AttributeProto>| {
        let nodes = vec![
            node(kind, &["x"], "place", attributes),
            node("Cast", &["place"], "y", vec![integer("to", 1)]),
        ];
        let model = Written::graph(graph(x(3), nodes)).open().unwrap();
        let rows = matrix(3, &[2.0, 5.0, 5.0, 1.0, 1.0, 3.0]);
        model.run(vec![rows]).unwrap()
    };
    let axis = |axis: i64| integer("axis", axis);
    assert_eq!(
        choose("ArgMax", vec![axis(1)]),
        (vec![2, 1], vec![1.0, 2.0])
    );
    assert_eq!(
        choose("ArgMin", vec![axis(-1)]),
        (vec![2, 1], vec![0.0, 0.0])
    );
    assert_eq!(
        choose("ArgMax", vec![integer("keepdims", 0)]),
        (vec![3], vec![0.0, 0.0, 0.0])
    );
    let last = vec![axis(1), integer("select_last_index", 1)];
    assert_eq!(choose("ArgMax", last), (vec![2, 1], vec![2.0, 2.0]));
}

/// The runtime keeps truth as whole numbers: 2 would stay 2, and 0.3 become 0.
#[test]
fn a_cast_to_truth_gives_truth() {
    let truth = || vec![integer("to", 9)];
    let number = |name: &str| node("Cast", &[name], "y", vec![integer("to", 1)]);
    let rows = [0.0, -0.0, 0.3, 2.0, -7.0, f32::NAN];
    let casts = vec![node("Cast", &["x"], "truth", truth()), number("truth")];
    let alike = vec![
        node("Equal", &["x", "x"], "same", vec![]),
        node("CastLike", &["x", "same"], "truth", vec![]),
        number("truth"),
    ];
    for nodes in [casts.clone(), alike] {
        let model = Written::graph(graph(x(1), nodes)).open().unwrap();
        let (shape, values) = model.run(vec![matrix(1, &rows)]).unwrap();
        assert_eq!(shape, [6, 1]);
        assert_eq!(values, [0.0, 0.0, 1.0, 1.0, 1.0, 1.0]);
    }
    let whole = vec![value("x", DataType::INT64, Some(1))];
    let model = Written::graph(graph(whole, casts)).open().unwrap();
    let values = model.run(vec![matrix(1, &[0.0, 2.0, -3.0])]).unwrap().1;
    assert_eq!(values, [0.0, 1.0, 1.0]);
    // In a graph within the graph.
    let branch = |name: &str| AttributeProto {
        g: Some(GraphProto {
            node: vec![node("Cast", &["x"], &format!("{name}_truth"), truth())],
            output: vec![ValueInfoProto {
                name: Some(format!("{name}_truth")),
                r#type: None,
            }],
            ..GraphProto::default()
        }),
        ..integer(name, 0)
    };
    let branches = ["then_branch", "else_branch"].map(|name| AttributeProto {
        i: None,
        ..branch(name)
    });
    let choose = node("If", &["always"], "truth", branches.to_vec());
    let mut within = graph(x(1), vec![choose, number("truth")]);
    within.initializer.push(TensorProto {
        name: Some("always".to_owned()),
        data_type: Some(DataType::BOOL),
        int32_data: vec![1],
        ..TensorProto::default()
    });
    let model = Written::graph(within).open().unwrap();
    let values = model.run(vec![matrix(1, &rows)]).unwrap().1;
    assert_eq!(values, [0.0, 0.0, 1.0, 1.0, 1.0, 1.0]);
    // Of a type that the file does not tell.
    let untold = ValueInfoProto {
        name: Some("like".to_owned()),
        r#type: None,
    };
    let inputs = x(1).into_iter().chain([untold]).collect();
    let nodes = vec![
        node("CastLike", &["x", "like"], "truth", vec![]),
        number("truth"),
    ];
    let refused = Written::graph(graph(inputs, nodes)).refused();
    assert!(
        refused.contains("the CastLike") && refused.contains("export it as a Cast"),
        "{refused}"
    );
}

/// Before version 13 the dimensions from the axis on are one.
#[test]
fn softmax_of_old_and_new_versions() {
    let run = |kind: &str, version: i64, axis: Option<i64>, shape: &[i64]| {
        let axis = axis.map(|axis| integer("axis", axis));
        let nodes = vec![
            node("Reshape", &["x", "shape"], "shaped", vec![]),
            node(kind, &["shaped"], "y", axis.into_iter().collect()),
        ];
        let mut graph = graph(x(4), nodes);
        graph.initializer.push(TensorProto {
            name: Some("shape".to_owned()),
            dims: vec![shape.len() as i64],
            data_type: Some(DataType::INT64),
            int64_data: shape.to_vec(),
            ..TensorProto::default()
        });
        let model = Written::of_version(graph, version).open().unwrap();
        let rows = matrix(4, &[0.0, 1.0, 2.0, 4.0, 3.0, 3.0, 0.0, -1.0]);
        model.run(vec![rows]).unwrap()
    };
    let sums = |values: &[f32], size: usize| {
        let sums = values
            .chunks_exact(size)
            .map(|part| part.iter().sum::<f32>());
        sums.collect::<Vec<_>>()
    };
    let are_ones = |sums: &[f32]| sums.iter().all(|sum| (sum - 1.0).abs() < 1e-6);
    let cube = [-1, 2, 2];
    for version in [11, 12] {
        // Of each row, of all numbers, and of the last dimension.
        for (axis, size) in [
            (None, 4),
            (Some(1), 4),
            (Some(0), 8),
            (Some(2), 2),
            (Some(-1), 2),
        ] {
            let (shape, shares) = run("Softmax", version, axis, &cube);
            assert_eq!(shape, [2, 2, 2]);
            assert!(
                are_ones(&sums(&shares, size)),
                "{version} {axis:?} {shares:?}"
            );
            let (shape, logs) = run("LogSoftmax", version, axis, &cube);
            assert_eq!(shape, [2, 2, 2]);
            for (log, share) in logs.iter().zip(&shares) {
                assert!(
                    (log.exp() - share).abs() < 1e-6,
                    "{version} {axis:?} {logs:?}"
                );
            }
        }
        let (shape, shares) = run("Softmax", version, Some(1), &[-1, 4]);
        assert_eq!(shape, [2, 4]);
        assert!(are_ones(&sums(&shares, 4)), "{shares:?}");
    }
    let (_, shares) = run("Softmax", 13, Some(1), &cube);
    let columns = [0, 1, 4, 5].map(|at| shares[at] + shares[at + 2]);
    assert!(are_ones(&columns), "{shares:?}");
    let (_, shares) = run("Softmax", 13, None, &cube);
    assert!(are_ones(&sums(&shares, 2)), "{shares:?}");
}

/// The runtime makes one operator of a product and a bias, which takes biases of one length.
#[test]
fn biases_of_any_length() {
    let run = |width: i64, factor: &[f32], bias: &[f32], is_first: bool| {
        let order = if is_first {
            ["bias", "product"]
        } else {
            ["product", "bias"]
        };
        let nodes = vec![
            node("MatMul", &["x", "factor"], "product", vec![]),
            node("Add", &order, "y", vec![]),
        ];
        let constant = |name: &str, dims: Vec<i64>, numbers: &[f32]| TensorProto {
            name: Some(name.to_owned()),
            dims,
            data_type: Some(DataType::FLOAT),
            float_data: numbers.to_vec(),
            ..TensorProto::default()
        };
        let mut graph = graph(x(2), nodes);
        graph.initializer = vec![
            constant("factor", vec![2, width], factor),
            constant("bias", vec![bias.len() as i64], bias),
        ];
        let model = Written::graph(graph).open().unwrap();
        model.run(vec![matrix(2, &[1.0, 2.0, 0.0, 4.0])]).unwrap()
    };
    for is_first in [false, true] {
        let wide = [1.0, 0.0, 0.0, 1.0];
        let narrow = [1.0, 1.0];
        for (width, factor, bias, expected) in [
            (2, &wide[..], &[0.5, 1.0][..], vec![1.5, 3.0, 0.5, 5.0]),
            (2, &wide, &[0.5], vec![1.5, 2.5, 0.5, 4.5]),
            (1, &narrow, &[0.5], vec![3.5, 4.5]),
            (1, &narrow, &[0.5, 1.0], vec![3.5, 4.0, 4.5, 5.0]),
        ] {
            let (shape, values) = run(width, factor, bias, is_first);
            assert_eq!(shape, [2, expected.len() / 2], "{width} {bias:?}");
            assert_eq!(values, expected, "{width} {bias:?}");
        }
    }
}

/// The largest whole number is the end of a slice, but nothing to calculate with.
#[test]
fn whole_numbers_have_32_bits() {
    let constant = |name: &str, dims: Vec<i64>, numbers: &[i64]| TensorProto {
        name: Some(name.to_owned()),
        dims,
        data_type: Some(DataType::INT64),
        int64_data: numbers.to_vec(),
        ..TensorProto::default()
    };
    let mut slice = graph(
        x(3),
        vec![
            node(
                "Concat",
                &["none", "most"],
                "ends",
                vec![integer("axis", 0)],
            ),
            node("Slice", &["x", "starts", "ends", "axes"], "y", vec![]),
        ],
    );
    slice.initializer = vec![
        constant("none", vec![1], &[i64::MAX]),
        constant("most", vec![1], &[i64::MAX]),
        constant("starts", vec![2], &[0, 1]),
        constant("axes", vec![2], &[0, 1]),
    ];
    let model = Written::graph(slice).open().unwrap();
    let rows = matrix(3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(model.run(vec![rows]).unwrap().1, [2.0, 3.0, 5.0, 6.0]);
    let added = |number: i64, has_bytes: bool| {
        let nodes = vec![
            node("Cast", &["x"], "whole", vec![integer("to", 7)]),
            node("Identity", &["large"], "same", vec![]),
            node("Add", &["whole", "same"], "sum", vec![]),
            node("Cast", &["sum"], "y", vec![integer("to", 1)]),
        ];
        let mut graph = graph(x(1), nodes);
        let large = constant("large", vec![], &[number]);
        graph.initializer = vec![match has_bytes {
            true => TensorProto {
                int64_data: vec![],
                raw_data: Some(std::cell::RefCell::new(number.to_le_bytes().to_vec())),
                ..large
            },
            false => large,
        }];
        Written::graph(graph)
    };
    for has_bytes in [false, true] {
        let model = added(1 << 20, has_bytes).open().unwrap();
        let sum = model.run(vec![matrix(1, &[3.0])]).unwrap().1;
        assert_eq!(sum, [1_048_579.0]);
        for number in [1 << 33, i64::from(i32::MIN) - 1] {
            let refused = added(number, has_bytes).refused();
            for needle in ["the Add", "'same'", "more than 32 bits"] {
                assert!(refused.contains(needle), "no '{needle}' in: {refused}");
            }
        }
    }
}

#[test]
fn constants_that_are_no_numbers() {
    let written = |kind: DataType, weight: TensorProto| {
        let mut graph = graph(x(2), vec![node("Add", &["x", "weight"], "y", vec![])]);
        graph.initializer.push(TensorProto {
            name: Some("weight".to_owned()),
            data_type: Some(kind),
            ..weight
        });
        Written::graph(graph)
    };
    let typed = |numbers: [f32; 2]| TensorProto {
        dims: vec![2],
        float_data: numbers.to_vec(),
        ..TensorProto::default()
    };
    let raw = |bytes: Vec<u8>| TensorProto {
        dims: vec![2],
        raw_data: Some(std::cell::RefCell::new(bytes)),
        ..TensorProto::default()
    };
    let doubles = |numbers: [f64; 2]| raw(numbers.iter().flat_map(|w| w.to_le_bytes()).collect());
    let halves = |bits: [u16; 2]| raw(bits.iter().flat_map(|w| w.to_le_bytes()).collect());
    // Infinite ones are numbers.
    for (kind, weight) in [
        (DataType::FLOAT, typed([1.0, f32::INFINITY])),
        (DataType::DOUBLE, doubles([1.0, f64::NEG_INFINITY])),
        (DataType::FLOAT16, halves([0x7c00, 0xfc00])),
    ] {
        assert!(written(kind, weight).open().is_ok(), "{kind}");
    }
    for (kind, weight) in [
        (DataType::FLOAT, typed([1.0, f32::NAN])),
        (DataType::DOUBLE, doubles([f64::NAN, 1.0])),
        (DataType::FLOAT16, halves([0x3c00, 0x7e00])),
    ] {
        let refused = written(kind, weight).refused();
        assert!(refused.contains("'weight' holds NaN"), "{kind}: {refused}");
    }
    // What nothing needs is nobody's weight, and one NaN may be a mark.
    let mut unneeded = graph(x(2), vec![node("Neg", &["x"], "y", vec![])]);
    unneeded.initializer.push(TensorProto {
        name: Some("weight".to_owned()),
        data_type: Some(DataType::FLOAT),
        ..typed([1.0, f32::NAN])
    });
    assert!(Written::graph(unneeded).open().is_ok());
    let mark = || TensorProto {
        float_data: vec![f32::NAN],
        ..TensorProto::default()
    };
    assert!(written(DataType::FLOAT, mark()).open().is_err());
    let mut marked = graph(
        x(2),
        vec![
            node("Add", &["x", "mark"], "sum", vec![]),
            node("IsNaN", &["sum"], "is_none", vec![]),
            node("Cast", &["is_none"], "y", vec![integer("to", 1)]),
        ],
    );
    marked.initializer.push(TensorProto {
        name: Some("mark".to_owned()),
        data_type: Some(DataType::FLOAT),
        ..mark()
    });
    assert!(Written::graph(marked).open().is_ok());
}

#[test]
fn what_takes_a_missing_value_for_a_number() {
    let hides = |nodes: Vec<NodeProto>| {
        let written = Written::graph(graph(x(1), nodes));
        let file = OnnxFile::read(&written.folder.path().join("model.onnx")).unwrap();
        file.hides_missing("y")
    };
    let relu = || node("Relu", &["x"], "y", vec![]);
    let hidden = hides(vec![relu()]).unwrap();
    assert_eq!(hidden, "Relu (node 'the Relu')");
    assert_eq!(hides(vec![node("Neg", &["x"], "y", vec![])]), None);
    // What the output does not need counts for nothing.
    let elsewhere = vec![
        node("Neg", &["x"], "y", vec![]),
        node("Relu", &["x"], "z", vec![]),
    ];
    assert_eq!(hides(elsewhere), None);
    let unneeded = vec![relu(), node("IsNaN", &["x"], "z", vec![])];
    assert!(hides(unneeded).is_some());
    let filled = vec![
        node(
            "Imputer",
            &["x"],
            "filled",
            vec![floats("imputed_value_floats", &[1.0])],
        ),
        node("Relu", &["filled"], "y", vec![]),
    ];
    assert_eq!(hides(filled), None);
}

/// A graph that is written otherwise has weights in files of their own, too.
#[test]
fn weights_beside_the_file() {
    let entry = |key: &str, value: &str| StringStringEntryProto {
        key: Some(key.to_owned()),
        value: Some(value.to_owned()),
    };
    let written = |location: &str, length: &str| {
        let nodes = vec![
            node("Cast", &["x"], "truth", vec![integer("to", 9)]),
            node("Cast", &["truth"], "number", vec![integer("to", 1)]),
            node("Add", &["number", "weight"], "y", vec![]),
        ];
        let mut graph = graph(x(2), nodes);
        graph.initializer.push(TensorProto {
            name: Some("weight".to_owned()),
            dims: vec![2],
            data_type: Some(DataType::FLOAT),
            data_location: Some(DataLocation::EXTERNAL),
            external_data: vec![
                entry("location", location),
                entry("offset", "4"),
                entry("length", length),
            ],
            ..TensorProto::default()
        });
        let written = Written::graph(graph);
        let bytes: Vec<u8> = [9.0f32, 0.5, 10.0]
            .iter()
            .flat_map(|w| w.to_le_bytes())
            .collect();
        std::fs::write(written.folder.path().join("model.onnx.data"), bytes).unwrap();
        written
    };
    let model = written("model.onnx.data", "8").open().unwrap();
    let values = model.run(vec![matrix(2, &[3.0, 0.0])]).unwrap().1;
    assert_eq!(values, [1.5, 10.0]);
    for (location, length, needle) in [
        ("model.onnx.data", "9", "beyond the end"),
        ("model.onnx.data", "18446744073709551615", "beyond the end"),
        ("model.onnx.data", "-1", "its length is '-1'"),
        ("../model.onnx.data", "8", "beside the model"),
        ("model.onnx", "8", "beside the model"),
        ("", "8", "beside the model"),
        ("absent.data", "8", "absent.data"),
    ] {
        let refused = written(location, length).refused();
        assert!(
            refused.contains("'weight'") && refused.contains(needle),
            "no '{needle}' in: {refused}"
        );
    }
}

/// Words enter, move, are compared and become numbers, partly in operators and partly in the
/// runtime.
#[test]
fn words_and_numbers_in_one_graph() {
    let word_input = |name: &str| value(name, DataType::STRING, Some(1));
    let column = TensorProto {
        name: Some("one".to_owned()),
        dims: vec![1],
        data_type: Some(DataType::INT64),
        int64_data: vec![1],
        ..TensorProto::default()
    };
    let mut graph = graph(
        vec![
            word_input("sex"),
            word_input("job"),
            value("age", DataType::DOUBLE, Some(1)),
            value("unused", DataType::STRING, Some(1)),
        ],
        vec![
            node("Concat", &["sex", "job"], "words", vec![integer("axis", 1)]),
            node("ArrayFeatureExtractor", &["words", "one"], "second", vec![]),
            node(
                "LabelEncoder",
                &["second"],
                "rank",
                vec![
                    words("keys_strings", &["clerk", "smith"]),
                    floats("values_floats", &[10.0, 20.0]),
                ],
            ),
            node("Equal", &["sex", "job"], "same", vec![]),
            node("Cast", &["same"], "same_number", vec![integer("to", 1)]),
            node("Cast", &["age"], "age_number", vec![integer("to", 1)]),
            node(
                "FeatureVectorizer",
                &["rank", "same_number", "age_number"],
                "y",
                vec![integers("inputdimensions", &[1, 1, 1])],
            ),
            node("LabelEncoder", &["unused"], "unused_too", vec![]),
        ],
    );
    graph.initializer.push(column);
    let mut model = Written::graph(graph).open().unwrap();
    let names: Vec<&str> = model
        .inputs()
        .iter()
        .map(|port| port.name.as_str())
        .collect();
    assert_eq!(
        names,
        ["sex", "job", "age"],
        "what nothing needs is no input"
    );
    let mut column = |words: [&str; 3]| Tensor {
        shape: vec![3, 1],
        values: Numbers::Integers(words.map(|word| model.word(word).unwrap()).to_vec()),
    };
    let inputs = vec![
        column(["m", "f", "smith"]),
        column(["smith", "clerk", "smith"]),
        Tensor {
            shape: vec![3, 1],
            values: Numbers::Doubles(vec![30.0, 40.0, 50.0]),
        },
    ];
    let (shape, values) = model.run(inputs).unwrap();
    assert_eq!(shape, [3, 3]);
    assert_eq!(values, [20.0, 0.0, 30.0, 10.0, 0.0, 40.0, 20.0, 1.0, 50.0]);
}

#[test]
fn what_cannot_be_computed_is_named() {
    let word_input = || vec![value("x", DataType::STRING, Some(1))];
    let mut cyclic = regressor("BRANCH_LEQ", 0);
    cyclic[3] = words("nodes_modes", &["BRANCH_LEQ", "BRANCH_LEQ", "LEAF"]);
    let mut lost = regressor("BRANCH_LEQ", 0);
    lost[5] = integers("nodes_truenodeids", &[7, 0, 0]);
    let mut twice = regressor("BRANCH_LEQ", 0);
    twice[1] = integers("nodes_nodeids", &[0, 1, 1]);
    let mut targets = regressor("BRANCH_LEQ", 0);
    targets.push(integer("n_targets", 1 << 40));
    let mut odd = regressor("BRANCH_LEQ", 0);
    odd[3] = words("nodes_modes", &["BRANCH_MEMBER", "LEAF", "LEAF"]);
    let short = |attribute| vec![attribute];
    for (kind, inputs, attributes, needles) in [
        (
            "CategoryMapper",
            x(1),
            vec![],
            &["not known here", "docs/predictors.md"][..],
        ),
        (
            "TreeEnsemble",
            x(1),
            vec![],
            &["not known here", "command:"],
        ),
        (
            "TreeEnsembleRegressor",
            x(1),
            cyclic,
            &["tree 0 leads back to itself"],
        ),
        (
            "TreeEnsembleRegressor",
            x(1),
            lost,
            &["tree 0 has no node 7"],
        ),
        (
            "TreeEnsembleRegressor",
            x(1),
            twice,
            &["tree 0 has two nodes 1"],
        ),
        ("TreeEnsembleRegressor", x(1), targets, &["n_targets"]),
        ("TreeEnsembleRegressor", x(1), odd, &["BRANCH_MEMBER"]),
        ("TreeEnsembleRegressor", x(1), vec![], &["no weights"]),
        ("LinearClassifier", x(1), vec![], &["0 classes"]),
        (
            "SVMClassifier",
            x(1),
            vec![
                integers("classlabels_ints", &[0, 1]),
                integers("vectors_per_class", &[1, 1]),
                floats("support_vectors", &[1.0, 2.0]),
                floats("coefficients", &[1.0, 1.0]),
                floats("rho", &[0.0]),
            ],
            &["probability=True"],
        ),
        ("Scaler", x(1), vec![], &["offset"]),
        (
            "OneHotEncoder",
            x(1),
            short(words("cats_strings", &["a"])),
            &["takes words"],
        ),
        (
            "OneHotEncoder",
            word_input(),
            short(integers("cats_int64s", &[1])),
            &["takes numbers"],
        ),
        (
            "Scaler",
            word_input(),
            vec![floats("offset", &[0.0]), floats("scale", &[1.0])],
            &["takes numbers"],
        ),
        (
            "Neg",
            word_input(),
            vec![],
            &["cannot be computed with words"],
        ),
        (
            "Cast",
            x(1),
            short(integer("to", 8)),
            &["makes words of numbers"],
        ),
    ] {
        let nodes = vec![node(kind, &["x"], "y", attributes)];
        let refused = Written::graph(graph(inputs, nodes)).refused();
        for needle in [&[kind, "model.onnx"], needles].concat() {
            assert!(
                refused.contains(needle),
                "{kind}: no '{needle}' in: {refused}"
            );
        }
    }
    // The error is found when the model runs.
    let known = vec![words("cats_strings", &["a"]), integer("zeros", 0)];
    let nodes = vec![node("OneHotEncoder", &["x"], "y", known)];
    let mut model = Written::graph(graph(word_input(), nodes)).open().unwrap();
    let unknown = Tensor {
        shape: vec![1, 1],
        values: Numbers::Integers(vec![model.word("b").unwrap()]),
    };
    let error = model.run(vec![unknown]).unwrap_err().to_string();
    assert!(
        error.contains("the OneHotEncoder") && error.contains("lack 'b'"),
        "{error}"
    );
    let nodes = vec![node("TreeEnsembleRegressor", &["x"], "y", {
        let mut attributes = regressor("BRANCH_LEQ", 0);
        attributes[2] = integers("nodes_featureids", &[3, 0, 0]);
        attributes
    })];
    let model = Written::graph(graph(x(1), nodes)).open().unwrap();
    let error = model.run(vec![matrix(1, &[0.0])]).unwrap_err().to_string();
    assert!(error.contains("compares 4 features"), "{error}");
}

#[test]
fn graphs_that_are_none() {
    let nodes = |nodes: &[(&str, &[&str], &str)]| {
        let nodes = nodes.iter();
        let nodes = nodes.map(|(kind, inputs, output)| node(kind, inputs, output, vec![]));
        Written::graph(graph(x(1), nodes.collect())).refused()
    };
    let circle = nodes(&[
        ("Neg", &["b"], "a"),
        ("Neg", &["a"], "b"),
        ("Add", &["x", "a"], "y"),
    ]);
    assert!(circle.contains("depends on itself"), "{circle}");
    let own = nodes(&[("Neg", &["y"], "y")]);
    assert!(own.contains("depends on itself"), "{own}");
    let missing = nodes(&[("Neg", &["nothing"], "y")]);
    assert!(
        missing.contains("'nothing', which nothing gives"),
        "{missing}"
    );
    let twice = nodes(&[("Neg", &["x"], "y"), ("Identity", &["x"], "y")]);
    assert!(twice.contains("two nodes give 'y'"), "{twice}");
    assert!(nodes(&[]).contains("nothing gives its output 'y'"));
    let weight = |number: f32| TensorProto {
        name: Some("weight".to_owned()),
        data_type: Some(DataType::FLOAT),
        float_data: vec![number],
        ..TensorProto::default()
    };
    let mut doubled = graph(x(1), vec![node("Add", &["x", "weight"], "y", vec![])]);
    doubled.initializer = vec![weight(1.0), weight(2.0)];
    let doubled = Written::graph(doubled).refused();
    assert!(
        doubled.contains("two of its constants are called 'weight'"),
        "{doubled}"
    );
    assert!(Written::bytes(b"").refused().contains("no graph"));
}

/// The runtime recurses along a chain of nodes; a thread has 2 MiB.
#[test]
fn chains_end_somewhere() {
    let chain = |length: usize| {
        let name = |at: usize| match at {
            0 => "x".to_owned(),
            at if at == length => "y".to_owned(),
            at => format!("v{at}"),
        };
        let nodes = (0..length).map(|at| node("Neg", &[&name(at)], &name(at + 1), vec![]));
        Written::graph(graph(x(1), nodes.collect()))
    };
    assert!(chain(2001).refused().contains("more than 2000 nodes"));
    let long = move || {
        let model = chain(2000).open().unwrap();
        model.run(vec![matrix(1, &[3.0])]).unwrap().1
    };
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(long);
    assert_eq!(thread.unwrap().join().unwrap(), [3.0]);
}
