//! The mean word vectors of texts, by which they are clustered.

use rayon::prelude::*;

use probity_data::table::Table;
use probity_nn::text_reader::TextReader;

/// Number of units of a mean word vector that the clustering tells apart.
const CLUSTER_SCALE: f32 = 1000.0;

/// The mean word vectors of `texts`, each the ids of its words, as integers.
pub fn mean_vectors<'t>(
    reader: &TextReader,
    texts: impl IndexedParallelIterator<Item = &'t [i32]>,
) -> Table {
    let codes = texts.flat_map_iter(|text| mean_vector(reader, text));
    Table::new(reader.dimension(), codes.collect(), Vec::new())
}

/// The mean word vector of `text` alone.
pub fn mean_vector(reader: &TextReader, text: &[i32]) -> Vec<i32> {
    let dimension = reader.dimension();
    let mut sums = vec![0.0f32; dimension];
    for &id in text {
        let start = id as usize * dimension;
        let vector = &reader.table.vectors()[start..start + dimension];
        let values = sums.iter_mut().zip(vector);
        values.for_each(|(sum, value)| *sum += value);
    }
    let count = text.len().max(1) as f32;
    let scaled = sums.into_iter().map(|sum| sum / count * CLUSTER_SCALE);
    scaled.map(|value| value.round() as i32).collect()
}
