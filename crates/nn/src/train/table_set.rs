//! The labelled rows of a table that a network is trained on.

use std::path::Path;

use super::fitting::Observe;
use super::options::Categories;
use super::plan_split;
use super::run::{DataCounts, Fit, Trainable, TrainingError};
use super::specification::TrainSpecification;
use super::table::{TrainCheckpoint, parallel_logits, train};
use crate::Classifier;
use crate::fnn::Fnn;
use crate::metrics::Quality;
use crate::modality::ModalityName;
use crate::model::Model;
use probity_data::named_schema::named_schema;
use probity_data::schema::Schema;
use probity_data::table::{Labels, Table};
use probity_run::specification::file::Record;
use probity_tensor::device::ComputeDevice;

/// A labelled table with its schema, and the device that learns it.
pub struct TableSet {
    /// The table of all rows.
    pub table: Table,
    /// The schema by which the rows were read.
    pub schema: Schema,
    device: ComputeDevice,
}

impl Trainable for TableSet {
    const MODALITY: ModalityName = ModalityName::Table;
    type Model = Model;
    type Checkpoint = TrainCheckpoint;

    fn open(
        specification: &TrainSpecification,
        device: &ComputeDevice,
        record: &mut Record,
    ) -> Result<TableSet, TrainingError> {
        let named = named_schema(specification.schema.as_deref().unwrap_or_default())?;
        let mut schema = named.schema;
        if let Some(outside) = specification.out_of_domain {
            schema = schema.with_policy(outside)?;
        }
        schema = schema.skipping_bad_rows(specification.skip_bad_rows);
        let options = specification.table_options();
        options.check_label(&schema.label)?;
        record.sha256.insert("schema".to_owned(), named.sha256);
        let read = Table::read_hashed(&specification.data, &schema, Labels::Required)?;
        record.sha256.insert("data".to_owned(), read.sha256);
        let table = read.value;
        plan_split(&table, &schema, &options)?;
        Ok(TableSet {
            table,
            schema,
            device: device.clone(),
        })
    }

    fn count(&self) -> usize {
        self.table.rows()
    }

    fn fit(
        &self,
        specification: &TrainSpecification,
        resume: Option<TrainCheckpoint>,
        observe: &mut Observe<'_, TrainCheckpoint>,
    ) -> Result<Fit<Model>, TrainingError> {
        let options = specification.table_options();
        let (table, schema) = (&self.table, &self.schema);
        let trained = train(table, schema, &options, &self.device, resume, observe)?;
        Ok(Fit {
            parameters: trained.network.parameters(),
            model: Model {
                schema: self.schema.clone(),
                network: trained.network,
            },
            split: trained.split,
            history: trained.history,
            finished: trained.finished,
        })
    }

    fn quality(&self, model: &Model, rows: &[u32]) -> Result<Option<Quality>, TrainingError> {
        if rows.is_empty() {
            return Ok(None);
        }
        let fnn = Fnn::new(&model.network, &self.device);
        let part = self.table.select(rows);
        let logits = parallel_logits(&fnn, &part)?;
        Ok(Some(Quality::measure(&logits, &part, fnn.classes())))
    }

    fn save(&self, model: &Model, directory: &Path) -> Result<String, TrainingError> {
        model.save(directory)?;
        Ok(model.sha256())
    }

    fn classes(&self) -> &[String] {
        &self.schema.label.classes
    }

    fn is_number(&self) -> bool {
        self.schema.label.is_number()
    }

    /// Remarks that categories enter as codes: codes of unordered words are rarely what a user
    /// wants, but the paper's data sets are coded so.
    fn remark(&self, specification: &TrainSpecification) -> Option<String> {
        if specification.table_options().network.categories != Categories::Codes {
            return None;
        }
        let attributes = self.schema.attributes.iter();
        let unordered: Vec<&str> = attributes
            .filter(|attribute| !attribute.is_ordered() && attribute.levels() > 2)
            .map(|attribute| attribute.name.as_str())
            .collect();
        (!unordered.is_empty()).then(|| {
            format!(
                "note: {} enter as the position of their word in the schema, though their order means nothing; \
                 --categories onehot or embed:4 usually learns more",
                unordered.join(", ")
            )
        })
    }

    fn counts(&self, _: &TrainSpecification) -> DataCounts {
        DataCounts::Table(self.table.counts.clone())
    }
}
