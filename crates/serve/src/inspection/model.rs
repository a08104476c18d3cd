//! Descriptions of model directories, without the paths that they name.

use std::path::{Path, PathBuf};

use super::error::InspectionError;
use crate::store::{ModelDescription, ModelKind};
use probity_nn::model::Model;
use probity_nn::provenance::{PROVENANCE, Provenance};
use probity_nn::text_model::{TextModel, is_text_model};
use probity_nn::train::text_set::OWN;
use probity_nn::transformer_model::{TransformerModel, is_transformer};
use probity_text::embeddings::SHIPPED;

/// The path that an uploaded model gets in place of that of its training data.
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
            is_training_known: Provenance::read(directory, &sha256)?.is_some(),
            sha256,
            classes: model.classes,
        });
    }
    if is_transformer(directory) {
        let model = TransformerModel::load(directory)?;
        if model.is_encoder() {
            let problem = "the model is an encoder without classes; train a classifier on it first";
            return Err(InspectionError::Refused(problem.to_owned()));
        }
        let sha256 = model.sha256();
        return Ok(ModelDescription {
            kind: ModelKind::Texts,
            attributes: Vec::new(),
            protected: Vec::new(),
            parameters: model.weights.values.len() as u64,
            is_training_known: Provenance::read(directory, &sha256)?.is_some(),
            sha256,
            classes: model.classes,
        });
    }
    let model = Model::load(directory)?;
    let sha256 = model.sha256();
    let attributes = model.schema.attributes.iter();
    let protected = attributes.clone().filter(|attribute| attribute.protected);
    Ok(ModelDescription {
        kind: ModelKind::Table,
        classes: model.schema.label.classes.clone(),
        attributes: attributes.map(|attribute| attribute.name.clone()).collect(),
        protected: protected.map(|attribute| attribute.name.clone()).collect(),
        parameters: model.network.parameters() as u64,
        is_training_known: Provenance::read(directory, &sha256)?.is_some(),
        sha256,
    })
}

/// Rewrites the record of the training in an uploaded model of the hash `sha256`, so that it names
/// no file: a later repair must not read a file that a user names. The record of a training that
/// needs word vectors or an encoder of its own is removed. Returns whether the training is known.
pub(super) fn forget_paths(directory: &Path, sha256: &str) -> Result<bool, InspectionError> {
    let Some(mut provenance) = Provenance::read(directory, sha256)? else {
        return Ok(false);
    };
    let specification = &mut provenance.specification;
    let is_ours = |file: &Path| [SHIPPED, OWN].map(Path::new).contains(&file);
    let names_none = specification
        .transformer
        .as_ref()
        .is_none_or(|transformer| {
            transformer.encoder.is_none() && is_ours(&transformer.word_vectors)
        });
    if names_none && is_ours(&specification.text_options().network.embeddings) {
        specification.data = PathBuf::from(ELSEWHERE);
        specification.schema = specification.schema.take().map(|_| ELSEWHERE.to_owned());
        provenance.write(directory)?;
        return Ok(true);
    }
    let file = directory.join(PROVENANCE);
    std::fs::remove_file(&file).map_err(|source| InspectionError::Io { file, source })?;
    Ok(false)
}
