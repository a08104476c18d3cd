use super::*;
use crate::weights::{Weight, WeightFormat};

fn schema() -> Schema {
    Schema::from_toml(
        "name = \"t\"\n[label]\nname = \"y\"\nclasses = [\"0\", \"1\"]\n\
             [[attribute]]\nname = \"a\"\nkind = \"integer\"\nmin = 0\nmax = 9\n\
             [[attribute]]\nname = \"b\"\nkind = \"integer\"\nmin = 0\nmax = 9\n",
    )
    .unwrap()
}

fn file(tensors: &[(&str, &[usize], &[f32])]) -> WeightFile {
    WeightFile {
        format: WeightFormat::Npz,
        checkpoint_key: None,
        integers: std::collections::BTreeSet::new(),
        beside: std::collections::BTreeSet::new(),
        tensors: tensors
            .iter()
            .map(|(name, shape, values)| {
                let weight = Weight {
                    shape: shape.to_vec(),
                    values: values.to_vec(),
                };
                ((*name).to_owned(), weight)
            })
            .collect(),
    }
}

const SIGMOID: &str = "hidden = [3]\noutput = \"sigmoid\"\n[[layout]]\nweight = \"{n}.weight\"\n\
        bias = \"{n}.bias\"\norientation = \"out-in\"\nnumbers = [0, 2]\n";

#[test]
fn one_sigmoid_is_two_logits() {
    let weights = file(&[
        ("0.weight", &[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
        ("0.bias", &[3], &[0.5, 0.0, -0.5]),
        ("2.weight", &[1, 3], &[1.0, -1.0, 2.0]),
        ("2.bias", &[1], &[-7.0]),
        ("extra", &[1], &[0.0]),
    ]);
    let config = ImportConfig::from_toml(SIGMOID).unwrap();
    let error = config.network(&weights, &schema()).unwrap_err().to_string();
    assert!(
        error.contains("no place for extra of the weight file"),
        "{error}"
    );
    let config = ImportConfig::from_toml(&format!("ignore = [\"extra\"]\n{SIGMOID}")).unwrap();
    let (network, report) = config.network(&weights, &schema()).unwrap();
    // Hidden: (1·1+2·2+0.5, 3·1+4·2, 5·1+6·2−0.5) = (5.5, 11, 16.5); z = 5.5−11+33−7.
    assert_eq!(network.reference_logits(&[1, 2]), [0.0, 20.5]);
    assert_eq!(report.unused, ["extra"]);
    assert_eq!(report.matched.len(), 4);
}

/// An attribute enters by one number, not by the columns that the data spread it over.
#[test]
fn attributes_that_are_spread_over_columns_are_refused() {
    let schema = Schema::from_toml(
        "name = \"t\"\n[format.spread.sex]\ncolumns = [\"is_female\"]\nlevels = [\"female\"]\nbase = \"male\"\n\
             [label]\nname = \"y\"\nclasses = [\"0\", \"1\"]\n\
             [[attribute]]\nname = \"a\"\nkind = \"integer\"\nmin = 0\nmax = 9\n\
             [[attribute]]\nname = \"sex\"\nkind = \"categorical\"\nlevels = [\"female\", \"male\"]\n",
    )
    .unwrap();
    let config = ImportConfig::from_toml(SIGMOID).unwrap();
    let error = config.network(&file(&[]), &schema).unwrap_err();
    assert!(error.to_string().contains("spreads 'sex'"), "{error}");
}

/// Whoever counts classes from 0 has the outputs of the numbers that they are called by, whatever their
/// order in the schema.
#[test]
fn classes_that_are_numbers_have_the_outputs_of_these() {
    let hidden: [(&str, &[usize], &[f32]); 2] = [
        ("0.weight", &[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
        ("0.bias", &[3], &[0.5, 0.0, -0.5]),
    ];
    let sigmoid: [(&str, &[usize], &[f32]); 2] = [
        ("2.weight", &[1, 3], &[1.0, -1.0, 2.0]),
        ("2.bias", &[1], &[-7.0]),
    ];
    let softmax: [(&str, &[usize], &[f32]); 2] = [
        ("2.weight", &[2, 3], &[0.0, 0.0, 0.0, 1.0, -1.0, 2.0]),
        ("2.bias", &[2], &[3.0, -7.0]),
    ];
    let of_softmax = SIGMOID.replace("sigmoid", "softmax");
    for (toml, last, zero) in [(SIGMOID, sigmoid, 0.0), (&of_softmax, softmax, 3.0)] {
        let weights = file(&[hidden, last].concat());
        let config = ImportConfig::from_toml(toml).unwrap();
        for (classes, expected, outputs) in [
            (["1", "0"], [20.5, zero], ["0", "1"]),
            (["yes", "no"], [20.5, zero], ["no", "yes"]),
            (["bad", "good"], [zero, 20.5], ["bad", "good"]),
        ] {
            let mut schema = schema();
            schema.label.classes = classes.map(str::to_owned).to_vec();
            let (network, report) = config.network(&weights, &schema).unwrap();
            assert_eq!(network.reference_logits(&[1, 2]), expected, "{classes:?}");
            assert_eq!(report.outputs, outputs);
        }
        let named = |names: &str| ImportConfig::from_toml(&format!("classes = {names}\n{toml}"));
        let mut schema = schema();
        schema.label.classes = ["1", "0"].map(str::to_owned).to_vec();
        let config = named("[\"1\", \"0\"]").unwrap();
        let (network, report) = config.network(&weights, &schema).unwrap();
        assert_eq!(network.reference_logits(&[1, 2]), [zero, 20.5]);
        assert_eq!(report.outputs, ["1", "0"]);
        for other in [
            "[\"1\"]",
            "[\"1\", \"1\"]",
            "[\"1\", \"2\"]",
            "[\"1\", \"0\", \"0\"]",
        ] {
            let error = named(other)
                .unwrap()
                .network(&weights, &schema)
                .unwrap_err();
            assert!(
                error.to_string().contains("must be those of the schema"),
                "{error}"
            );
        }
    }
}

#[test]
fn levels_that_are_numbers_enter_as_these() {
    let weights = file(&[
        ("0.weight", &[1, 2], &[1.0, 10.0]),
        ("0.bias", &[1], &[0.5]),
        ("2.weight", &[1, 1], &[1.0]),
        ("2.bias", &[1], &[0.0]),
    ]);
    let toml = SIGMOID.replace("[3]", "[1]");
    let standardised = format!("{toml}[standardise]\nmean = [1.0, 2.0]\ndeviation = [2.0, 0.5]\n");
    let with = |levels: &str| {
        let text = format!(
            "name = \"t\"\n[label]\nname = \"y\"\nclasses = [\"0\", \"1\"]\n\
             [[attribute]]\nname = \"a\"\nkind = \"categorical\"\nlevels = {levels}\n\
             [[attribute]]\nname = \"b\"\nkind = \"integer\"\nmin = 0\nmax = 9\n"
        );
        Schema::from_toml(&text).unwrap()
    };
    for (levels, numbers) in [
        ("[\"1\", \"2\"]", [1.0, 2.0]),
        ("[\"yes\", \"no\"]", [1.0, 0.0]),
        ("[\"30\", \"10\"]", [30.0, 10.0]),
        ("[\"f\", \"m\"]", [0.0, 1.0]),
    ] {
        let schema = with(levels);
        let plain = ImportConfig::from_toml(&toml).unwrap();
        let (network, report) = plain.network(&weights, &schema).unwrap();
        let scaled = ImportConfig::from_toml(&standardised).unwrap();
        let (scaled, _) = scaled.network(&weights, &schema).unwrap();
        for (code, number) in [0, 1].into_iter().zip(numbers) {
            let logits = network.reference_logits(&[code, 3]);
            assert_eq!(logits, [0.0, number + 30.5], "{levels}");
            let of_scaled = (number - 1.0) / 2.0 + 20.5;
            assert_eq!(
                scaled.reference_logits(&[code, 3]),
                [0.0, of_scaled],
                "{levels}"
            );
        }
        assert!(report.inputs[0].starts_with("a: "), "{:?}", report.inputs);
    }
    let uneven = ImportConfig::from_toml(&toml).unwrap();
    let error = uneven.network(&weights, &with("[\"1\", \"2\", \"9\"]"));
    assert!(error.unwrap_err().to_string().contains("not evenly spaced"));
}

#[test]
fn tensors_are_listed_and_a_bias_may_be_missing() {
    let weights = file(&[
        (
            "module.fc1.weight",
            &[3, 2],
            &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        ),
        ("module.fc1.bias", &[1, 3], &[0.5, 0.0, -0.5]),
        ("module.out.weight", &[3], &[1.0, -1.0, 2.0]),
        ("module.out.bias", &[], &[-7.0]),
    ]);
    let named = |biases: &str| {
        format!(
            "hidden = [3]\noutput = \"sigmoid\"\n[[layout]]\n\
             weights = [\"module.fc1.weight\", \"module.out.weight\"]\n{biases}orientation = \"out-in\"\n"
        )
    };
    let with = named("biases = [\"module.fc1.bias\", \"module.out.bias\"]\n");
    let config = ImportConfig::from_toml(&with).unwrap();
    let (network, _) = config.network(&weights, &schema()).unwrap();
    assert_eq!(network.reference_logits(&[1, 2]), [0.0, 20.5]);
    let ignored = format!(
        "ignore = [\"module.fc1.bias\", \"module.out.bias\"]\n{}",
        named("")
    );
    let config = ImportConfig::from_toml(&ignored).unwrap();
    let (network, _) = config.network(&weights, &schema()).unwrap();
    assert_eq!(network.reference_logits(&[1, 2]), [0.0, 28.0]);
    for (toml, expected) in [
        (
            with.replace("[3]", "[3, 3]"),
            "lists 2 tensors, but there are 3 layers",
        ),
        (
            with.replace("biases = ", "bias = \"b\"\nbiases = "),
            "both 'bias' and 'biases'",
        ),
        (
            SIGMOID
                .replace("weight = ", "bias2 = ")
                .replace("bias2 = \"{n}.weight\"\n", ""),
            "names no weights",
        ),
    ] {
        let config = ImportConfig::from_toml(&toml).unwrap();
        let error = config.network(&weights, &schema()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn misfits_are_named() {
    let config = ImportConfig::from_toml(SIGMOID).unwrap();
    let error = config.network(&file(&[]), &schema()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("0.weight, 0.bias, 2.weight, 2.bias")
    );
    let weights = file(&[
        ("0.weight", &[2, 3], &[0.0; 6]),
        ("0.bias", &[3], &[0.0; 3]),
        ("2.weight", &[1, 3], &[0.0; 3]),
        ("2.bias", &[1], &[0.0]),
    ]);
    let error = config.network(&weights, &schema()).unwrap_err();
    assert!(error.to_string().contains("[3, 2]"), "{error}");
}

/// Where hidden layers are as wide as the inputs, only the last weight tells which way it is turned.
#[test]
fn a_weight_of_the_other_orientation_is_refused() {
    let toml = |orientation: &str, hidden: usize| {
        let text = SIGMOID
            .replace("[3]", &format!("[{hidden}]"))
            .replace("out-in", orientation);
        ImportConfig::from_toml(&text).unwrap()
    };
    let with = |last: &[usize], hidden: usize| {
        let zeros = vec![0.0; 2 * hidden];
        file(&[
            ("0.weight", &[2, hidden], &zeros[..]),
            ("0.bias", &[1, hidden], &zeros[..hidden]),
            ("2.weight", last, &zeros[..hidden]),
            ("2.bias", &[1], &[0.0]),
        ])
    };
    for (right, wrong, shape, needed) in [
        ("out-in", "in-out", [1_usize, 2], "[2, 1]"),
        ("in-out", "out-in", [2, 1], "[1, 2]"),
    ] {
        let weights = with(&shape, 2);
        assert!(toml(right, 2).network(&weights, &schema()).is_ok());
        let error = toml(wrong, 2).network(&weights, &schema()).unwrap_err();
        let expected = format!(
            "the tensor '2.weight' has shape {shape:?}, but {needed} is needed (layer 1 takes 2 inputs to 1 outputs; \
             the orientation is \"{wrong}\", and \"{right}\" would fit)"
        );
        assert_eq!(error.to_string(), expected);
    }
    for orientation in ["out-in", "in-out"] {
        let network = toml(orientation, 2).network(&with(&[2], 2), &schema());
        assert!(network.is_ok(), "a vector is in both orientations the same");
        let of_three = toml(orientation, 2).network(&with(&[1, 2, 1], 2), &schema());
        let error = of_three.unwrap_err().to_string();
        assert!(!error.contains("would fit"), "{error}");
    }
    let of_one = file(&[
        ("0.weight", &[2], &[1.0, 10.0]),
        ("0.bias", &[], &[0.5]),
        ("2.weight", &[], &[1.0]),
        ("2.bias", &[1], &[0.0]),
    ]);
    let (network, _) = toml("in-out", 1).network(&of_one, &schema()).unwrap();
    assert_eq!(network.reference_logits(&[1, 2]), [0.0, 21.5]);
}

/// A file may hold what enters the network is scaled by beside its state dictionary.
#[test]
fn what_lies_beside_the_network_is_refused_unless_it_is_ignored() {
    let mut weights = file(&[
        ("0.weight", &[3, 2], &[0.0; 6]),
        ("0.bias", &[3], &[0.0; 3]),
        ("2.weight", &[1, 3], &[0.0; 3]),
        ("2.bias", &[1], &[0.0]),
    ]);
    weights.beside = ["mean", "epoch"].map(str::to_owned).into();
    weights.integers = ["epoch".to_owned()].into();
    let config = ImportConfig::from_toml(SIGMOID).unwrap();
    let error = config.network(&weights, &schema()).unwrap_err().to_string();
    assert!(error.contains("no place for mean of"), "{error}");
    let config = ImportConfig::from_toml(&format!("ignore = [\"mean\"]\n{SIGMOID}")).unwrap();
    let (_, report) = config.network(&weights, &schema()).unwrap();
    assert_eq!(report.unused, ["epoch", "mean"]);
}

/// Of a mark such as 8888 the network gets the number after the last, which whoever imports it is told.
#[test]
fn what_enters_beside_numbers_is_told() {
    let text = "name = \"t\"\n[label]\nname = \"y\"\nclasses = [\"0\", \"1\"]\n\
                [[attribute]]\nname = \"a\"\nkind = \"integer\"\nmin = 0\nmax = 9\nlevels = [\"8888\"]\n\
                [[attribute]]\nname = \"b\"\nkind = \"integer\"\nmin = 1\nmax = 5\nmissing = \"99\"\noutside = \"level\"\n\
                [[attribute]]\nname = \"c\"\nkind = \"numeric\"\nbins = [0, 10, 20]\nlevels = [\"Exempt\"]\noutside = \"level\"\n\
                [[attribute]]\nname = \"d\"\nkind = \"categorical\"\nlevels = [\"10\", \"20\"]\noutside = \"level\"\n\
                [[attribute]]\nname = \"e\"\nkind = \"integer\"\nmin = 0\nmax = 9\n";
    let schema = Schema::from_toml(text).unwrap();
    let weights = file(&[
        ("0.weight", &[1, 5], &[1.0, 1.0, 1.0, 1.0, 1.0]),
        ("0.bias", &[1], &[0.0]),
        ("2.weight", &[1, 1], &[1.0]),
        ("2.bias", &[1], &[0.0]),
    ]);
    let config = ImportConfig::from_toml(&SIGMOID.replace("[3]", "[1]")).unwrap();
    let (network, report) = config.network(&weights, &schema).unwrap();
    let told = [
        "a: its number, 8888 = 10",
        "b: its number, 99 and what is outside = 6",
        "c: its bin, from 0 to 1, Exempt = 2, what is outside = 3",
        "d: 10 = 10, 20 = 20, what is outside = 30",
    ];
    assert_eq!(report.inputs, told);
    // Of each attribute the code that was told of last, and 0.
    let logits = network.reference_logits(&[10, 6, 3, 2, 0]);
    assert_eq!(logits, [0.0, 10.0 + 6.0 + 3.0 + 30.0]);
}
