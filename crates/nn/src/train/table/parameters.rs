//! The trainable numbers of a network as one list: embeddings first, then weight and bias of each
//! layer.

use crate::fnn::Network;
use crate::train::options::TableOptions;
use probity_data::table::Table;

/// Returns all trainable numbers of `network`.
pub(super) fn flat(network: &Network) -> Vec<f32> {
    let tables = network.embeddings.iter().map(|table| &table.values);
    let layers = network.layers.iter();
    let layers = layers.flat_map(|layer| [&layer.weight, &layer.bias]);
    tables.chain(layers).flatten().copied().collect()
}

/// Cuts such a list into its parts: each embedding's numbers, and weight and bias of each layer.
pub(super) fn pieces<'a>(
    network: &Network,
    mut values: &'a [f32],
) -> (Vec<&'a [f32]>, Vec<[&'a [f32]; 2]>) {
    let mut take = |count: usize| {
        let (piece, rest) = values.split_at(count);
        values = rest;
        piece
    };
    let tables = network.embeddings.iter();
    let tables = tables.map(|table| take(table.values.len())).collect();
    let layers = network.layers.iter();
    let layers = layers.map(|layer| [take(layer.weight.len()), take(layer.bias.len())]);
    (tables, layers.collect())
}

/// Returns `network` with other numbers.
pub(super) fn network_with(network: &Network, values: &[f32]) -> Network {
    let mut network = network.clone();
    let (tables, layers) = pieces(&network, values);
    for (table, values) in network.embeddings.iter_mut().zip(tables) {
        table.values.copy_from_slice(values);
    }
    for (layer, [weight, bias]) in network.layers.iter_mut().zip(layers) {
        layer.weight.copy_from_slice(weight);
        layer.bias.copy_from_slice(bias);
    }
    network
}

/// Computes a fingerprint that tells whether a checkpoint belongs to `table` and `options`.
pub(super) fn fingerprint(table: &Table, options: &TableOptions) -> u64 {
    let mut hasher = xxhash_rust::xxh3::Xxh3::new();
    for code in table.codes() {
        hasher.update(&code.to_le_bytes());
    }
    for label in table.labels() {
        hasher.update(&label.to_le_bytes());
    }
    for target in table.targets() {
        hasher.update(&(*target as f32).to_le_bytes());
    }
    hasher.update(&serde_json::to_vec(options).unwrap_or_default());
    hasher.digest()
}
