//! The witness that re-checks the pairs of rows of a samples file.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::columns::{TableInputs, is_numeric};
use crate::audit_error::AuditError;
use crate::modality::{Answers, Sample, SampleInputs, Witness};
use crate::opened::positions;
use crate::specification::AuditSpecification;
use probity_data::schema::Schema;
use probity_nn::decision::{Decision, Logit};
use probity_nn::fnn::{Fnn, Network, Reference};
use probity_nn::{Classifier, ModelError, Rows};
use probity_predictor::{KillHandle, Predictor};
use probity_tensor::device::ComputeDevice;

/// The model that answers when pairs of rows are re-checked.
pub(super) enum WitnessModel {
    /// A network. Pairs whose classes are equal in f64 arithmetic depend on a rounding.
    Network { fnn: Fnn, reference: Box<Reference> },
    /// A predictor, in batches, with the numbers that the file says. What it computes inside is
    /// not known.
    Predictor(Box<dyn Predictor>),
}

/// Number of pairs that one thread asks a network about at a time.
const CHUNK: usize = 256;

/// Re-checks pairs of rows.
pub struct TableWitness {
    pub(super) schema: Schema,
    pub(super) protected: Vec<usize>,
    pub(super) answering: WitnessModel,
    pub(super) decision: Decision,
    /// The names of the possible decisions.
    pub(super) classes: Vec<String>,
    pub(super) sha256: BTreeMap<String, String>,
    pub(super) ender: Option<KillHandle>,
}

impl TableWitness {
    /// A witness for a network whose attributes `protected` may differ.
    ///
    /// # Errors
    /// When there is no such attribute.
    pub fn of_network(
        schema: Schema,
        network: Network,
        protected: &[String],
        sha256: String,
    ) -> Result<TableWitness, AuditError> {
        let answering = WitnessModel::Network {
            fnn: Fnn::new(&network, &ComputeDevice::flex()),
            reference: Box::new(Reference::new(&network)),
        };
        TableWitness::new(schema, protected, answering, sha256)
    }

    pub(super) fn new(
        schema: Schema,
        protected: &[String],
        answering: WitnessModel,
        sha256: String,
    ) -> Result<TableWitness, AuditError> {
        Ok(TableWitness {
            protected: positions(&schema, protected)?,
            decision: Decision::Largest,
            classes: schema.label.classes.clone(),
            schema,
            answering,
            sha256: [("model".to_owned(), sha256)].into(),
            ender: None,
        })
    }

    /// Returns this witness for pairs about which decisions are made as `specification` says.
    pub(super) fn deciding(
        self,
        specification: &AuditSpecification,
    ) -> Result<TableWitness, AuditError> {
        let classes = &self.schema.label.classes;
        let favourable = specification.population.favourable_of(classes)?;
        let asked = specification.deciding();
        let decision = asked.among(classes, favourable, Some(&self.schema))?;
        Ok(TableWitness {
            classes: decision.names(classes),
            decision,
            ..self
        })
    }
}

impl TableWitness {
    /// The decisions on both sides of `pair` by their `logits`, where they differ.
    fn contrast<L: Logit>(&self, pair: &Sample, logits: &[L]) -> Option<[u32; 2]> {
        let (own, other) = logits.split_at(logits.len() / 2);
        self.decision
            .contrast((&pair.row, own), (&pair.other, other))
    }
}

impl Witness for TableWitness {
    fn inputs(&self) -> Box<dyn SampleInputs + '_> {
        Box::new(TableInputs::new(&self.schema))
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn sha256(&self) -> &BTreeMap<String, String> {
        &self.sha256
    }

    fn ender(&self) -> Option<&KillHandle> {
        self.ender.as_ref()
    }

    fn are_variants(&self, pair: &Sample) -> Result<(), String> {
        let (row, other) = (&pair.row, &pair.other);
        if row == other {
            return Err("both sides are equal".into());
        }
        let attributes = &self.schema.attributes;
        let numeric = (0..attributes.len()).filter(|&place| is_numeric(&attributes[place]));
        let [own, others] = pair.numbers.each_ref().map(|numbers| numbers.iter());
        // Two numbers may lie in one bin.
        let numbers = numeric.zip(own.zip(others));
        let differ = numbers.filter(|(_, (own, other))| own.to_bits() != other.to_bits());
        let codes = row.iter().zip(other).enumerate();
        let changed = codes.filter(|(_, (own, other))| own != other);
        let mut changed = changed
            .map(|(place, _)| place)
            .chain(differ.map(|(place, _)| place));
        match changed.find(|place| !self.protected.contains(place)) {
            None => Ok(()),
            Some(place) => Err(format!(
                "the sides differ in '{}', which is not protected",
                attributes[place].name
            )),
        }
    }

    fn answers(&self, samples: &[&Sample]) -> Result<Vec<Answers>, ModelError> {
        match &self.answering {
            WitnessModel::Network { fnn, reference } => {
                let judged = samples.par_chunks(CHUNK).map(|samples| {
                    let codes: Vec<i32> = samples
                        .iter()
                        .flat_map(|pair| pair.row.iter().chain(&pair.other))
                        .copied()
                        .collect();
                    let rows = Rows::new(&codes, fnn.width());
                    let classes = fnn.classes();
                    let logits = fnn.logits(rows)?;
                    let exact = reference.logits(rows);
                    let logits = logits.chunks_exact(2 * classes);
                    let logits = logits.zip(exact.chunks_exact(2 * classes));
                    let judged =
                        samples
                            .iter()
                            .zip(logits)
                            .map(|(pair, (logits, exact))| Answers {
                                decided: self.contrast(pair, logits),
                                by_rounding: self.contrast(pair, exact).is_none(),
                            });
                    Ok(judged.collect::<Vec<Answers>>())
                });
                let judged = judged.collect::<Result<Vec<_>, ModelError>>()?;
                Ok(judged.concat())
            }
            WitnessModel::Predictor(predictor) => {
                let sides = samples.iter();
                let codes: Vec<i32> = sides
                    .flat_map(|pair| pair.row.iter().chain(&pair.other))
                    .copied()
                    .collect();
                let sides = samples
                    .iter()
                    .flat_map(|pair| pair.numbers.iter().flatten());
                let numbers: Vec<f64> = sides.copied().collect();
                let rows = Rows::new(&codes, self.schema.attributes.len());
                let logits = predictor.logits_with(rows, &numbers)?;
                let of_pair = logits.chunks_exact(2 * predictor.classes());
                let judged = samples.iter().zip(of_pair).map(|(pair, logits)| Answers {
                    decided: self.contrast(pair, logits),
                    by_rounding: false,
                });
                Ok(judged.collect())
            }
        }
    }
}
