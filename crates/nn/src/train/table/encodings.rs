//! The encodings of attributes, as the training rows scale them.

use crate::encoding::Encoding;
use crate::train::options::{Categories, NetworkOptions};
use probity_data::schema::Schema;
use probity_data::table::Table;

/// Returns the encoding of each attribute: means and deviations are of the training part.
pub(super) fn encodings(
    table: &Table,
    schema: &Schema,
    train: &[u32],
    options: &NetworkOptions,
) -> Vec<Encoding> {
    (0..schema.attributes.len())
        .map(|attribute| {
            if !schema.attributes[attribute].is_ordered() {
                match options.categories {
                    Categories::OneHot => return Encoding::OneHot,
                    Categories::Embedded(dimension) => return Encoding::Embedded { dimension },
                    Categories::Codes => {}
                }
            }
            let codes = || {
                train
                    .iter()
                    .map(|&row| f64::from(table.row(row as usize)[attribute]))
            };
            let count = train.len() as f64;
            let mean = codes().sum::<f64>() / count;
            let variance = codes().map(|code| (code - mean).powi(2)).sum::<f64>() / count;
            Encoding::Scaled {
                mean: mean as f32,
                deviation: if variance > 0.0 {
                    variance.sqrt() as f32
                } else {
                    1.0
                },
            }
        })
        .collect()
}
