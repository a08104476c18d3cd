//! What is searched, loaded and checked: a model, its inputs, and the data where a search begins.

use std::path::Path;

use super::audit::{AuditError, expect_hash};
use super::domain::TabularDomain;
use super::seeds::clustered_seeds;
use super::strategies::{NeedsGradients, StrategyName};
use super::subject::{ModelAccess, Subject};
use probity_data::schema::{Attribute, Outside, Schema, SchemaError};
use probity_data::table::{Labels, Table};
use probity_nn::encoding::InputLayout;
use probity_nn::model::Model;
use probity_nn::{Classifier, Rows};
use probity_predictor::source::PredictorOptions;
use probity_predictor::stability::check_stability;
use probity_run::run_directory::file_sha256;
use probity_tensor::device::ComputeDevice;

/// Rows of the data that a predictor is asked for twice before a search.
const STABILITY_ROWS: usize = 32;

/// Where a search begins, and what it protects.
#[derive(Debug, Clone, Copy)]
pub struct CaseData<'a> {
    /// Data file that the seeds come from.
    pub data: &'a Path,
    /// SHA-256 that it must have.
    pub data_sha256: &'a str,
    /// Policy for missing and outside values, where it is not the schema's own.
    pub outside: Option<Outside>,
    /// Names of the protected attributes.
    pub protected: &'a [String],
}

/// A model, its inputs and the data; nothing is written yet.
pub struct Case {
    /// The inputs, as the user sees them.
    pub schema: Schema,
    /// How the model, or the search, sees them.
    pub layout: InputLayout,
    /// The model.
    pub subject: Subject,
    /// The data.
    pub table: Table,
    /// The inputs, as the search sees them.
    pub domain: TabularDomain,
}

impl Case {
    /// The network in the model directory `model`, whose hash must be `model_sha256`, on `device`.
    ///
    /// # Errors
    /// See [`AuditError`].
    pub fn load(
        model: &Path,
        model_sha256: &str,
        data: CaseData<'_>,
        device: &ComputeDevice,
    ) -> Result<Case, AuditError> {
        let loaded = Model::load(model)?;
        expect_hash(&model.display().to_string(), loaded.sha256(), model_sha256)?;
        let subject = Subject::network(&loaded.network, device);
        Case::new(loaded.schema, loaded.network.layout, subject, data)
    }

    /// Any `subject` whose inputs are described by `schema`. `layout` says which attributes a search
    /// moves by steps (scaled) and which among levels.
    ///
    /// # Errors
    /// See [`AuditError`].
    pub fn new(
        schema: Schema,
        layout: InputLayout,
        subject: Subject,
        data: CaseData<'_>,
    ) -> Result<Case, AuditError> {
        expect_hash(
            &data.data.display().to_string(),
            file_sha256(data.data)?,
            data.data_sha256,
        )?;
        let protected = positions(&schema, data.protected)?;
        let domain = TabularDomain::new(&schema, &layout, &protected)?;
        let read_schema = match data.outside {
            Some(outside) => schema.clone().with_outside(outside),
            None => schema.clone(),
        };
        let grows = |(own, read): (&Attribute, &Attribute)| read.domain().1 > own.domain().1;
        if schema
            .attributes
            .iter()
            .zip(&read_schema.attributes)
            .any(grows)
        {
            return Err(AuditError::Option {
                option: "--outside",
                value: "level".into(),
                expected: "clip, skip or reject: this model was trained without such a level",
            });
        }
        let table = Table::read(data.data, &read_schema, Labels::Optional)?;
        // An output that is not finite is found now rather than after the run has begun.
        let first = Rows::new(table.row(0), table.width());
        subject.access().classifier().logits(first)?;
        Ok(Case {
            schema,
            layout,
            subject,
            table,
            domain,
        })
    }

    /// The `predictor`, whose hash must be `sha256` and which answers as `classifier`. It is asked twice for some rows of
    /// the data ([`check_stability`]): beside the case, the largest difference between two of its answers to one row.
    ///
    /// # Errors
    /// See [`AuditError`].
    pub fn of_predictor(
        predictor: &PredictorOptions,
        sha256: &str,
        classifier: Box<dyn Classifier>,
        data: CaseData<'_>,
    ) -> Result<(Case, f32), AuditError> {
        expect_hash(&predictor.source.to_string(), predictor.sha256()?, sha256)?;
        let subject = Subject::classifier(classifier);
        let case = Case::new(predictor.schema.clone(), predictor.layout(), subject, data)?;
        let table = &case.table;
        let step = table.rows().div_ceil(STABILITY_ROWS).max(1);
        let rows = (0..table.rows()).step_by(step);
        let codes: Vec<i32> = rows.flat_map(|row| table.row(row)).copied().collect();
        let rows = Rows::new(&codes, table.width());
        let difference = check_stability(case.subject.judge(), &case.schema, rows)?;
        Ok((case, difference))
    }

    /// Refuses a strategy that needs gradients where the subject gives none.
    ///
    /// # Errors
    /// See [`NeedsGradients`].
    pub fn expect_usable(&self, strategy: StrategyName) -> Result<(), NeedsGradients> {
        let has_gradients = matches!(self.subject.access(), ModelAccess::Gradients(_));
        if strategy.needs_gradients() && !has_gradients {
            return Err(NeedsGradients { strategy });
        }
        Ok(())
    }

    /// The first `count` seeds from `clusters` clusters of the data.
    pub fn data_seeds(&self, clusters: usize, count: usize, seed: u64) -> Vec<Vec<i32>> {
        clustered_seeds(&self.table, clusters, count, seed)
            .into_iter()
            .map(|row| self.table.row(row as usize).to_vec())
            .collect()
    }
}

/// Positions of the attributes `names`.
pub(super) fn positions(schema: &Schema, names: &[String]) -> Result<Vec<usize>, SchemaError> {
    names.iter().map(|name| schema.index_of(name)).collect()
}
