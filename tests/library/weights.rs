//! The published census network of the ADF authors, read from both of its files.

use std::fs;
use std::path::PathBuf;

use probity::nn::weights::{Weight, WeightFile, WeightFormat, read_weights};

const LAYERS: usize = 6;

/// The folder of the network; says so and gives nothing where it is absent.
fn network_folder() -> Option<PathBuf> {
    let folder = "peer-models/adf-census";
    Some(probity_testing::data(&[folder])?.join(folder))
}

/// One dense layer with its kernel as `[out, in]`.
struct Layer {
    kernel: Vec<Vec<f32>>,
    bias: Vec<f32>,
}

fn rows(weight: &Weight) -> Vec<Vec<f32>> {
    weight
        .values
        .chunks_exact(weight.shape[1])
        .map(<[f32]>::to_vec)
        .collect()
}

fn transposed(rows: &[Vec<f32>]) -> Vec<Vec<f32>> {
    (0..rows[0].len())
        .map(|column| rows.iter().map(|row| row[column]).collect())
        .collect()
}

fn keras_layers(file: &WeightFile) -> Vec<Layer> {
    (0..LAYERS)
        .map(|layer| Layer {
            kernel: transposed(&rows(&file.tensors[&format!("kernel{layer}")])),
            bias: file.tensors[&format!("bias{layer}")].values.clone(),
        })
        .collect()
}

fn pytorch_layers(file: &WeightFile) -> Vec<Layer> {
    (0..LAYERS)
        .map(|layer| Layer {
            kernel: rows(&file.tensors[&format!("layers.{layer}.weight")]),
            bias: file.tensors[&format!("layers.{layer}.bias")].values.clone(),
        })
        .collect()
}

/// logit(high) − logit(low): dense layers with ReLU between them.
fn logit_difference(layers: &[Layer], input: &[f32]) -> f32 {
    let mut units = input.to_vec();
    for (depth, layer) in layers.iter().enumerate() {
        units = layer
            .kernel
            .iter()
            .zip(&layer.bias)
            .map(|(row, bias)| row.iter().zip(&units).map(|(w, x)| w * x).sum::<f32>() + bias)
            .map(|unit| {
                if depth + 1 < layers.len() {
                    unit.max(0.0)
                } else {
                    unit
                }
            })
            .collect();
    }
    units[1] - units[0]
}

#[test]
fn both_layouts_hold_the_published_network() {
    let Some(folder) = network_folder() else {
        return;
    };
    let keras = read_weights(&folder.join("keras_layout.npz")).unwrap();
    let pytorch = read_weights(&folder.join("pytorch_layout.safetensors")).unwrap();
    assert_eq!(keras.format, WeightFormat::Npz);
    assert_eq!(pytorch.format, WeightFormat::Safetensors);
    assert_eq!(
        (keras.tensors.len(), pytorch.tensors.len()),
        (2 * LAYERS, 2 * LAYERS)
    );
    assert_eq!(keras.tensors["kernel0"].shape, [13, 64]);
    assert_eq!(pytorch.tensors["layers.0.weight"].shape, [64, 13]);

    let networks = [keras_layers(&keras), pytorch_layers(&pytorch)];
    for (from_keras, from_pytorch) in networks[0].iter().zip(&networks[1]) {
        assert_eq!(from_keras.kernel, from_pytorch.kernel);
        assert_eq!(from_keras.bias, from_pytorch.bias);
    }

    let golden = fs::read_to_string(folder.join("golden.csv")).unwrap();
    let mut checked = 0;
    for line in golden.lines().skip(1) {
        let numbers: Vec<f32> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        let (expected, input) = numbers.split_last().unwrap();
        let difference = logit_difference(&networks[0], input);
        let error = (difference - expected).abs() / expected.abs().max(1.0);
        assert!(error < 1e-5, "{line}: {difference}");
        checked += 1;
    }
    assert_eq!(checked, 256);
}
