//! What a repair starts from: the model, the rows it learnt, those it never saw, and how it was trained.
//!
//! A model directory that `probity train` or `probity repair` wrote holds the options of its training. The split into parts
//! is dealt again from them ([`probity_nn::provenance`]), so that the rows held out then stay held out. An imported network says nothing about its training: the rows of the table are dealt by the
//! default options, and the network may have seen any of them.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::error::RepairError;
use probity_data::schema::Outside;
use probity_data::table::{Labels, Table};
use probity_nn::fnn::Network;
use probity_nn::model::Model;
use probity_nn::provenance::Provenance;
use probity_nn::train::{Split, plan_split};
use probity_nn::train_options::TrainOptions;
use probity_run::run_directory::file_sha256;

/// Where a model comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Trained, or repaired, by this package: its options are known.
    Trained,
    /// Brought from elsewhere.
    Imported,
}

/// The first weights of a retraining.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Start {
    /// Random ones: the network is trained anew
    Scratch,
    /// Those of the model: the network is trained on
    Model,
}

/// The model to repair, with its data.
#[derive(Debug, Clone)]
pub struct Basis {
    /// The model.
    pub model: Model,
    /// Where it comes from.
    pub origin: Origin,
    /// All labelled rows.
    pub table: Table,
    /// SHA-256 of their file.
    pub data_sha256: String,
    /// Which of them train, validate and test.
    pub split: Split,
    /// How it was trained, or the defaults.
    pub options: TrainOptions,
}

impl Basis {
    /// Loads the model in `directory` and its labelled rows in `data`, read by the model's schema with the policy
    /// `outside` in place of its own.
    ///
    /// # Errors
    /// When either cannot be read, or `data` are not those of the training.
    pub fn load(
        directory: &Path,
        data: &Path,
        outside: Option<Outside>,
    ) -> Result<Basis, RepairError> {
        let model = Model::load(directory)?;
        let data_sha256 = file_sha256(data)?;
        let trained = Provenance::of(directory)?;
        if let Some(trained) = &trained
            && trained.data_sha256 != data_sha256
        {
            return Err(RepairError::OtherData {
                data: data.to_owned(),
                trained_on: trained.data.clone(),
                given: data_sha256,
                trained: trained.data_sha256.clone(),
            });
        }
        let table = read_table(data, &model, outside)?;
        let origin = match trained {
            Some(_) => Origin::Trained,
            None => Origin::Imported,
        };
        let hidden = |network: &Network| {
            let widths = network.layers.iter().map(|layer| layer.outputs);
            widths
                .take(network.layers.len().saturating_sub(1))
                .collect()
        };
        let options = TrainOptions {
            hidden: hidden(&model.network),
            activation: model.network.activation,
            ..trained.map(|trained| trained.options).unwrap_or_default()
        };
        let (split, _) = plan_split(&table, &model.schema, &options)?;
        Ok(Basis {
            model,
            origin,
            table,
            data_sha256,
            split,
            options,
        })
    }

    /// The network before the first step of a retraining that is keyed by `seed`. Its inputs are encoded as the model's are.
    pub fn first_network(&self, start: Start, seed: u64) -> Network {
        let network = &self.model.network;
        match start {
            Start::Model => network.clone(),
            Start::Scratch => Network::random(
                network.layout.clone(),
                &self.options.hidden,
                network.classes(),
                network.activation,
                seed,
            ),
        }
    }
}

/// The labelled rows of `data` by the schema of `model`, with another policy for outside values if there is one.
fn read_table(data: &Path, model: &Model, outside: Option<Outside>) -> Result<Table, RepairError> {
    let schema = match outside {
        Some(outside) => model.schema.clone().with_outside(outside),
        None => model.schema.clone(),
    };
    let mut own = model.schema.attributes.iter().zip(&schema.attributes);
    if own.any(|(own, read)| read.domain().1 > own.domain().1) {
        return Err(RepairError::Option {
            option: "--outside",
            value: "level".into(),
            expected: "clip, skip or reject: this model was trained without such a level",
        });
    }
    Ok(Table::read(data, &schema, Labels::Required)?)
}
