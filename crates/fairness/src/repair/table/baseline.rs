//! The start of a repair of a table: the model, the rows it learnt, those it never saw, and how it
//! was trained.
//!
//! A model directory that `probity train` or `probity repair` wrote says how it was trained. The
//! split into parts is dealt again from that ([`probity_nn::provenance`]), so that the rows held
//! out then stay held out. An imported network says nothing about its training: the rows of the
//! table are dealt by the default options, and the network may have seen any of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::audit_error::AuditError;
use crate::certify::parts::split_of;
use crate::opened::{Opened, open_table};
use crate::repair::error::RepairError;
use crate::repair::run::PROVENANCE_ROLE;
use crate::repair::specification::{RepairSpecification, Start};
use crate::table_model::{Reading, TableNetwork};
use probity_data::schema::Schema;
use probity_data::source::Hashed;
use probity_data::table::{Labels, Table};
use probity_nn::fnn::Network;
use probity_nn::model::Model;
use probity_nn::provenance::Provenance;
use probity_nn::train::options::TableOptions;
use probity_nn::train::table::untrained;
use probity_nn::train::{Split, TrainError, TrainSpecification, USUAL_VALIDATION, check_split};
use probity_run::specification::file::Record;

/// The origin of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The model was trained, or repaired, by this package: its options are known.
    Trained,
    /// The model was brought from elsewhere.
    Imported,
}

/// The model to repair, with its data.
#[derive(Debug, Clone)]
pub struct Baseline {
    /// The model.
    pub model: Model,
    /// SHA-256 of the model.
    pub model_sha256: String,
    /// The origin of the model.
    pub origin: Origin,
    /// All labelled rows.
    pub table: Table,
    /// The schema that they are read by: the model's, with the policy that was asked for.
    pub reading: Schema,
    /// SHA-256 of the file of the rows.
    pub data_sha256: String,
    /// The parts of the rows: which of them train, validate and test.
    pub split: Split,
    /// The options by which the model was trained, or the defaults.
    pub options: TableOptions,
    /// The specification of the training of the model; of an imported network, of a training by
    /// default.
    pub trained: TrainSpecification,
}

impl Baseline {
    /// Opens the model that `specification` names and its labelled rows, read by the model's
    /// schema; `record` is told their hashes.
    ///
    /// # Errors
    /// When either cannot be read, or the data are not those of the training.
    pub fn open(
        specification: &RepairSpecification,
        record: &mut Record,
    ) -> Result<Baseline, RepairError> {
        let (directory, data) = (&specification.model, &specification.data);
        let reading = Reading {
            policy: specification.out_of_domain,
            ..Reading::default()
        };
        let network = TableNetwork::open(directory, reading)?;
        let reading = network.reading()?;
        let Opened {
            value: model,
            sha256: model_sha256,
        } = network.model;
        let Opened {
            value: table,
            sha256: data_sha256,
        } = open_table(data, &reading, Labels::Required)?;
        for (role, sha256) in [("model", &model_sha256), ("data", &data_sha256)] {
            record.sha256.insert(role.to_owned(), sha256.clone());
        }
        let provenance = match Provenance::read_hashed(directory, &model_sha256)? {
            Some(Hashed { value, sha256 }) => {
                record.sha256.insert(PROVENANCE_ROLE.to_owned(), sha256);
                Some(value)
            }
            None => None,
        };
        if let Some(trained) = &provenance
            && trained.data_sha256() != data_sha256
        {
            return Err(RepairError::OtherData {
                data: data.clone(),
                trained_on: trained.specification.data.clone(),
                given: data_sha256,
                trained: trained.data_sha256().to_owned(),
            });
        }
        let origin = match provenance {
            Some(_) => Origin::Trained,
            None => Origin::Imported,
        };
        let mut trained = match provenance {
            Some(provenance) => provenance.specification,
            None => {
                // There is nobody to ask for a part to choose by.
                let mut usual = TrainSpecification::of_table(data, model.schema.name.clone());
                usual.training.validation = Some(USUAL_VALIDATION);
                usual.out_of_domain = specification.out_of_domain;
                usual
            }
        };
        trained.data.clone_from(data);
        let layers = &model.network.layers;
        let hidden = layers.iter().map(|layer| layer.outputs);
        let mut options = trained.table_options();
        options.network.hidden = hidden.take(layers.len().saturating_sub(1)).collect();
        options.network.activation = model.network.activation;
        let split = split_of(&trained, &model.schema, (data, &data_sha256), &table);
        let split = split.map_err(AuditError::from)?;
        check_split(&table, &model.schema, &options, &split)?;
        Ok(Baseline {
            model_sha256,
            model,
            origin,
            table,
            reading,
            data_sha256,
            split,
            options,
            trained,
        })
    }

    /// The record of how the network of that hash, which was retrained by `training`, came about.
    pub(super) fn provenance(&self, model_sha256: &str, training: &TableOptions) -> Provenance {
        let mut specification = self.trained.clone();
        specification.network = Some(training.network.clone());
        specification.training = training.learning.clone();
        Provenance {
            model_sha256: model_sha256.to_owned(),
            sha256: BTreeMap::from([("data".to_owned(), self.data_sha256.clone())]),
            specification,
        }
    }

    /// The network before the first step of a retraining that is keyed by `seed`. Its inputs are
    /// encoded as the model's are.
    ///
    /// # Errors
    /// When all training rows have one number.
    pub fn first_network(&self, start: Start, seed: u64) -> Result<Network, TrainError> {
        let network = &self.model.network;
        match start {
            Start::Model => Ok(network.clone()),
            Start::Scratch => {
                let random = Network::random(
                    network.layout.clone(),
                    &self.options.network.hidden,
                    network.classes(),
                    network.activation,
                    seed,
                );
                untrained(&self.table, &self.split, random)
            }
        }
    }
}
