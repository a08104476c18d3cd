//! What the training rows say of their inputs and classes: how attributes are scaled, what classes weigh.

use crate::encoding::Encoding;
use crate::train_options::{Categories, ClassWeights, TrainOptions};
use probity_data::schema::Schema;
use probity_data::table::Table;

/// How each attribute enters: means and deviations are of the training part.
pub(super) fn encodings(
    table: &Table,
    schema: &Schema,
    train: &[u32],
    options: &TrainOptions,
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

/// What each class weighs in the loss.
pub(crate) fn class_weights(weights: &ClassWeights, class_rows: &[u64]) -> Vec<f32> {
    match weights {
        ClassWeights::None => vec![1.0; class_rows.len()],
        ClassWeights::Given(weights) => weights.clone(),
        ClassWeights::Balanced => {
            let total: u64 = class_rows.iter().sum();
            let present = class_rows.iter().filter(|&&rows| rows > 0).count() as f32;
            class_rows
                .iter()
                .map(|&rows| {
                    if rows == 0 {
                        0.0
                    } else {
                        total as f32 / (present * rows as f32)
                    }
                })
                .collect()
        }
    }
}
