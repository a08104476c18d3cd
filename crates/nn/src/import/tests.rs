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
    let (network, report) = config.network(&weights, &schema()).unwrap();
    // Hidden: (1·1+2·2+0.5, 3·1+4·2, 5·1+6·2−0.5) = (5.5, 11, 16.5); z = 5.5−11+33−7.
    assert_eq!(network.reference_logits(&[1, 2]), [0.0, 20.5]);
    assert_eq!(report.unused, ["extra"]);
    assert_eq!(report.matched.len(), 4);
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
