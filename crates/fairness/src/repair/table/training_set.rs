//! The rows that a repaired network learns: the training rows, and with them all protected variants
//! of the drawn samples.

use rand::RngExt;

use super::baseline::Baseline;
use super::found::{RowLabel, Sample};
use crate::domain::{Domain, TabularDomain};
use crate::repair::repairable::Drawn;
use probity_data::table::Table;
use probity_nn::train::Split;
use probity_run::stream::{Purpose, stream};

/// Rows to learn from.
#[derive(Debug, Clone)]
pub struct RepairRows {
    /// The table of the model, and the added rows after it.
    pub table: Table,
    /// The parts of the table; the added rows train.
    pub split: Split,
    /// Weight of each row.
    pub weights: Vec<f32>,
    /// Number of variants of samples among the rows.
    pub variants: u64,
    /// Whether the rows are learnt against the worst protected variant of each.
    pub is_certified: bool,
}

/// The way in which rows are added.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mixture {
    /// Weight of all added rows together, in units of all training rows; `None`: each added row
    /// weighs as much as a training row.
    pub weight: Option<f64>,
    /// Variants of each training row, with its label, that share its weight with it.
    pub counterfactuals: u32,
}

/// Adds every variant of the `drawn` samples to the training rows of `baseline`, each with the
/// label of its sample, and `mixture.counterfactuals` variants of every training row (by the
/// attributes that `joint` protects), keyed by (`seed`, row, `repeat`).
pub fn mix(
    baseline: &Baseline,
    drawn: &[Drawn<'_, Sample, RowLabel>],
    (domains, joint): (&[TabularDomain], &TabularDomain),
    mixture: Mixture,
    seed: u64,
    repeat: u32,
) -> RepairRows {
    let table = &baseline.table;
    let mut codes = table.codes().to_vec();
    let (mut labels, mut targets) = (table.labels().to_vec(), table.targets().to_vec());
    let mut add = |label: RowLabel| match label {
        RowLabel::Class(class) => labels.push(class),
        RowLabel::Number(number) => targets.push(number),
    };
    let mut weights = vec![1.0; table.rows()];
    let mut split = baseline.split.clone();
    let share = 1.0 / (1.0 + mixture.counterfactuals as f32);
    for &row in baseline
        .split
        .train
        .iter()
        .filter(|_| mixture.counterfactuals > 0)
    {
        weights[row as usize] = share;
        let mut draws = stream(seed, Purpose::RepairVariant, u64::from(row), repeat.into());
        let row = row as usize;
        for _ in 0..mixture.counterfactuals {
            let variant = draws.random_range(0..joint.variants(table.row(row)));
            joint.write_variant(table.row(row), variant, &mut codes);
            split.train.push(weights.len() as u32);
            RowLabel::read(table, row).into_iter().for_each(&mut add);
            weights.push(share);
        }
    }
    let before = weights.len();
    let mut rows = before;
    for drawn in drawn {
        for (sample, &label) in drawn.samples.iter().zip(&drawn.labels) {
            let domain = &domains[drawn.pool];
            for variant in 0..domain.variants(&sample.row) {
                domain.write_variant(&sample.row, variant, &mut codes);
                split.train.push(rows as u32);
                rows += 1;
                add(label);
            }
        }
    }
    let variants = rows - before;
    let each = match mixture.weight {
        Some(weight) if variants > 0 => {
            (weight * baseline.split.train.len() as f64 / variants as f64) as f32
        }
        _ => 1.0,
    };
    weights.resize(rows, each);
    RepairRows {
        table: match table.targets().is_empty() {
            true => Table::new(table.width(), codes, labels),
            false => Table::new(table.width(), codes, labels).with_targets(targets),
        },
        split,
        weights,
        variants: variants as u64,
        is_certified: false,
    }
}
