//! What is measured of a text classifier before and after its repair.

use super::error::TextRepairError;
use super::prepared::PreparedTextRepair;
use super::summary::RepairedText;
use crate::certify::exhaustive;
use crate::certify::run::Share;
use crate::certify::text::certify_texts;
use crate::domain::Domain;
use crate::text::domain::TextDomain;
use probity_nn::recurrent::kernels::EmbeddingTable;
use probity_nn::recurrent::network::RecurrentWeights;
use probity_nn::text::{TextNetwork, TextNetworkError};
use probity_nn::{ModelError, Rows};
use probity_tensor::device::ComputeDevice;

/// What networks are measured on.
pub(super) struct Measure<'a> {
    pub prepared: &'a PreparedTextRepair,
    pub domain: TextDomain,
    /// The independent set, as rows.
    pub independent: Vec<i32>,
    /// Test texts with a protected term.
    pub texts: Vec<Vec<i32>>,
}

impl Measure<'_> {
    /// `weights` with `vectors`, ready to be asked.
    pub fn network(
        &self,
        weights: &RecurrentWeights,
        vectors: &[f32],
    ) -> Result<TextNetwork, TextNetworkError> {
        let width = self.domain.width();
        TextNetwork::new(
            weights.clone(),
            vectors.to_vec(),
            width,
            &ComputeDevice::flex(),
        )
    }

    /// How many of `rows` are not discriminatory.
    pub fn fair(&self, network: &TextNetwork, rows: &[i32]) -> Result<Share, ModelError> {
        let rows = Rows::new(rows, self.domain.width());
        let fair = exhaustive(network, &self.domain, rows)?;
        let count = fair.iter().filter(|fair| **fair).count();
        Ok(Share::new(count as u64, rows.len() as u64))
    }

    /// All figures of `weights` with `vectors`, of a network of `seed` that learnt `samples`.
    pub fn measure(
        &self,
        weights: &RecurrentWeights,
        vectors: &[f32],
        (seed, samples): (u64, usize),
    ) -> Result<RepairedText, TextRepairError> {
        let network = self.network(weights, vectors)?;
        let prepared = self.prepared;
        let table = EmbeddingTable {
            values: vectors,
            dimension: weights.shape.inputs,
        };
        let terms = prepared.protected.terms();
        let splits = prepared.options.splits;
        let certificates = certify_texts(weights, table, terms, &self.texts, splits);
        let certified = certificates.iter().filter(|c| c.holds()).count();
        let codes: Vec<i32> = self
            .texts
            .iter()
            .flat_map(|text| self.domain.row(text))
            .collect();
        let accuracy = |items: &[u32]| {
            let length = prepared.model.max_length;
            let quality = prepared.set.quality(weights, vectors, items, length);
            quality.map_or(0.0, |quality| quality.accuracy)
        };
        Ok(RepairedText {
            seed,
            samples: samples as u64,
            validation_accuracy: accuracy(&prepared.split.validation),
            accuracy: accuracy(&prepared.split.test),
            repaired: self.fair(&network, &self.independent)?,
            certified: Share::new(certified as u64, self.texts.len() as u64),
            fair: self.fair(&network, &codes)?,
        })
    }
}
