//! The trainable numbers of a network as matrices.

use burn::tensor::{Device, Tensor, TensorData};

use crate::fnn::Network;
use crate::train::options::TableOptions;
use probity_data::table::Table;

/// The trainable numbers of a network as a list of `[rows, columns]` matrices: embeddings first,
/// then weight and bias of each layer.
pub(super) fn parameters(network: &Network) -> Vec<Matrix> {
    let matrix = |rows: usize, columns: usize, values: &[f32]| Matrix {
        rows,
        columns,
        values: values.to_vec(),
    };
    let mut list: Vec<Matrix> = network
        .embeddings
        .iter()
        .map(|table| matrix(table.levels, table.dimension, &table.values))
        .collect();
    for layer in &network.layers {
        list.push(matrix(layer.inputs, layer.outputs, &layer.weight));
        list.push(matrix(1, layer.outputs, &layer.bias));
    }
    list
}

/// One parameter on the host, row-major `[rows, columns]`.
pub(super) struct Matrix {
    pub rows: usize,
    pub columns: usize,
    pub values: Vec<f32>,
}

/// Says whether a checkpoint belongs to `table` and `options`.
pub(super) fn fingerprint(table: &Table, options: &TableOptions) -> u64 {
    let mut hasher = xxhash_rust::xxh3::Xxh3::new();
    for code in table.codes() {
        hasher.update(&code.to_le_bytes());
    }
    for label in table.labels() {
        hasher.update(&label.to_le_bytes());
    }
    for target in table.targets() {
        hasher.update(&target.to_le_bytes());
    }
    hasher.update(&serde_json::to_vec(options).unwrap_or_default());
    hasher.digest()
}

/// A parameter on a device.
pub(super) fn matrix_tensor(matrix: &Matrix, device: &Device) -> Tensor<2> {
    Tensor::from_data(
        TensorData::new(matrix.values.clone(), [matrix.rows, matrix.columns]),
        device,
    )
}
