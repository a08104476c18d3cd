//! What a model directory says, and what it shall not say.

use std::path::{Path, PathBuf};

use super::InspectionError;
use crate::store::{ModelDescription, ModelKind};
use probity_fairness::certify::parts::text_training;
use probity_nn::model::Model;
use probity_nn::provenance::Provenance;
use probity_nn::text_model::{TextModel, is_text_model};
use probity_nn::text_training_run::TextTrainingRun;
use probity_nn::training_run::TrainingRun;
use probity_run::run_directory::{RUN, RunDirectory};
use probity_text::embeddings::SHIPPED;

/// Stands in an uploaded model for the data that it was trained on.
const ELSEWHERE: &str = "uploaded";

/// Loads the model in `directory` and describes it.
pub(super) fn describe(directory: &Path) -> Result<ModelDescription, InspectionError> {
    if is_text_model(directory) {
        let model = TextModel::load(directory)?;
        let sha256 = model
            .sha256()
            .map_err(|error| InspectionError::Refused(error.to_string()))?;
        return Ok(ModelDescription {
            kind: ModelKind::Texts,
            attributes: Vec::new(),
            protected: Vec::new(),
            parameters: model.recurrent.values.len() as u64,
            sha256,
            is_training_known: text_training(directory).is_ok(),
            classes: model.classes,
        });
    }
    let model = Model::load(directory)?;
    let attributes = model.schema.attributes.iter();
    let protected = attributes.clone().filter(|attribute| attribute.protected);
    Ok(ModelDescription {
        kind: ModelKind::Table,
        classes: model.schema.label.classes.clone(),
        attributes: attributes.map(|attribute| attribute.name.clone()).collect(),
        protected: protected.map(|attribute| attribute.name.clone()).collect(),
        parameters: model.network.parameters() as u64,
        sha256: model.sha256(),
        is_training_known: Provenance::of(directory)?.is_some(),
    })
}

/// Rewrites the record of its training that came with an uploaded model, so that it names no file: a later repair must not
/// read what a user names. A record that is not of a training, or needs word vectors of its own, is removed.
pub(super) fn forget_paths(directory: &Path) -> Result<(), InspectionError> {
    let file = directory.join(RUN);
    if !file.is_file() {
        return Ok(());
    }
    let run = RunDirectory::open(directory)?;
    if is_text_model(directory) {
        match run.read_toml::<TextTrainingRun>(RUN) {
            Ok(training)
                if training.command == "train" && training.embeddings == Path::new(SHIPPED) =>
            {
                let texts = PathBuf::from(ELSEWHERE);
                return Ok(run.write_toml(RUN, &TextTrainingRun { texts, ..training })?);
            }
            _ => {}
        }
    } else {
        match run.read_toml::<TrainingRun>(RUN) {
            Ok(training) if training.command == "train" => {
                let data = PathBuf::from(ELSEWHERE);
                return Ok(run.write_toml(RUN, &TrainingRun { data, ..training })?);
            }
            _ => {}
        }
    }
    std::fs::remove_file(&file).map_err(|source| InspectionError::Io { file, source })
}
