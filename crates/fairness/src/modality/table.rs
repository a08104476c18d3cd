//! Rows of a table: a network or a predictor, its schema, and the rows that seeds come from.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Int32Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema as ArrowSchema};
use rayon::prelude::*;
use serde::Serialize;

use super::{
    Answers, Change, EstimatedSet, Method, Modality, ModalityName, Sample, SampleInputs, ShownPair,
    Witness,
};
use crate::audit_error::AuditError;
use crate::domain::{Domain, TabularDomain};
use crate::estimate::estimated_sets;
use crate::model_under_test::{ModelAccess, ModelUnderTest};
use crate::opened::{
    Opened, open_model, open_table, positions, protected_or_marked, reading_schema, with_policy,
};
use crate::pairs::Pair;
use crate::samples::walk_columns;
use crate::seeds::clustered_seeds;
use crate::specification::AuditSpecification;
use crate::strategies::{Ingredients, WithStrategy, with_strategy};
use probity_data::read::ReadError;
use probity_data::schema::{Attribute, Encoded, Encoder, Kind, Outside, Schema};
use probity_data::table::{Labels, ReadCounts, Table};
use probity_nn::encoding::InputLayout;
use probity_nn::fnn::{Fnn, Network};
use probity_nn::{Classifier, ModelError, Rows, predicted_class};
use probity_predictor::own_numbers::{BinEffect, OwnNumbers, WithOwnNumbers};
use probity_predictor::source::{OpenPredictor, PredictorOptions};
use probity_predictor::stability::check_stability;
use probity_predictor::{Ender, Predictor};
use probity_tensor::device::ComputeDevice;

/// Rows of the data that a predictor is asked for twice before a search.
const STABILITY_ROWS: usize = 32;
/// Rows of the data that a predictor is asked for with and without their own numbers: enough to
/// tell 1 % from 2 %.
const BIN_ROWS: usize = 2000;

/// A model of tables, its inputs, and the rows where a search begins.
pub struct TableCase<'m> {
    schema: Schema,
    layout: InputLayout,
    model: ModelUnderTest<'m>,
    table: Cow<'m, Table>,
    protected: Vec<String>,
    domain: TabularDomain,
    sha256: BTreeMap<String, String>,
    own_numbers: Option<Arc<OwnNumbers>>,
    ender: Option<Ender>,
    instability: f32,
    bin_effect: Option<BinEffect>,
}

/// What the summary of an audit of a table says besides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TableDetails {
    /// SHA-256 of the data file.
    pub data_sha256: String,
    /// What reading the data changed or left out.
    pub data: ReadCounts,
    /// What replacing numbers by those that stand for their bins changes of a predictor's decisions
    /// on rows of the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bins: Option<BinEffect>,
}

impl<'m> TableCase<'m> {
    /// Any `model` whose inputs are described by `schema`; the names in `protected` are protected.
    /// `layout` says which attributes a search moves by steps (scaled) and which among levels.
    ///
    /// # Errors
    /// When the protected set cannot be searched or the model cannot answer.
    pub fn new(
        (schema, layout): (Schema, InputLayout),
        model: Opened<ModelUnderTest<'m>>,
        table: Opened<Cow<'m, Table>>,
        protected: Vec<String>,
    ) -> Result<TableCase<'m>, AuditError> {
        let domain = TabularDomain::new(&schema, &layout, &positions(&schema, &protected)?)?;
        let hashes = [("model", model.sha256), ("data", table.sha256)];
        let (model, table) = (model.value, table.value);
        // An output that is not finite is found now rather than after the run has begun.
        let first = Rows::new(table.row(0), table.width());
        model.access().classifier().logits(first)?;
        Ok(TableCase {
            schema,
            layout,
            model,
            table,
            protected,
            domain,
            sha256: hashes.map(|(role, hash)| (role.to_owned(), hash)).into(),
            own_numbers: None,
            ender: None,
            instability: 0.0,
            bin_effect: None,
        })
    }

    /// The network in the directory `model` on `device`.
    fn of_network(
        specification: &AuditSpecification,
        model: &Path,
        device: &ComputeDevice,
    ) -> Result<TableCase<'m>, AuditError> {
        let opened = open_model(model)?;
        let (schema, network) = (opened.value.schema, opened.value.network);
        let protected = protected_or_marked(&specification.protected, &schema);
        // Said before the data are read, which may take long.
        TabularDomain::new(&schema, &network.layout, &positions(&schema, &protected)?)?;
        let read = reading_schema(
            &schema,
            specification.out_of_domain,
            specification.skip_bad_rows,
        )?;
        let table = open_table(&specification.data, &read, Labels::Optional)?.map(Cow::Owned);
        let model = Opened {
            value: ModelUnderTest::network(&network, device),
            sha256: opened.sha256,
        };
        TableCase::new((schema, network.layout), model, table, protected)
    }

    /// The `predictor`, which answers where it is. It is asked twice for some rows of the data
    /// ([`check_stability`]), and for some with and without the numbers that they have
    /// ([`BinEffect`]).
    fn of_predictor(
        specification: &AuditSpecification,
        predictor: &PredictorOptions,
    ) -> Result<TableCase<'m>, AuditError> {
        let protected = protected_or_marked(&specification.protected, &predictor.schema);
        let places = positions(&predictor.schema, &protected)?;
        // A predictor is started last: what is wrong with the data is said without it.
        let data = &specification.data;
        let read = Table::read_with_numbers(data, &predictor.schema, Labels::Optional)?;
        let (table, numbers) = read.value;
        let filled = PredictorOptions {
            schema: numbers.with_values(predictor.schema.clone()),
            ..predictor.clone()
        };
        let (schema, layout) = (filled.schema.clone(), filled.layout());
        let OpenPredictor {
            predictor: opened,
            ender,
        } = filled.open()?;
        let is_binned = !numbers.places().is_empty();
        let own = is_binned.then(|| Arc::new(OwnNumbers::new(&table, &numbers, &places)));
        let some = (0..table.rows()).step_by(table.rows().div_ceil(BIN_ROWS).max(1));
        let effect = || BinEffect::of(opened.as_ref(), (&table, &numbers), some);
        let bin_effect = is_binned.then(effect).transpose()?;
        let classifier: Box<dyn Classifier> = match &own {
            Some(numbers) => Box::new(WithOwnNumbers {
                predictor: opened,
                numbers: Arc::clone(numbers),
            }),
            None => opened,
        };
        let model = Opened {
            value: ModelUnderTest::classifier(classifier),
            // What the data fill in is known by the hash of the data.
            sha256: predictor.sha256()?,
        };
        let table = Opened {
            value: Cow::Owned(table),
            sha256: read.sha256,
        };
        let mut case = TableCase::new((schema, layout), model, table, protected)?;
        (case.own_numbers, case.bin_effect) = (own, bin_effect);
        let table = &case.table;
        let step = table.rows().div_ceil(STABILITY_ROWS).max(1);
        let rows = (0..table.rows()).step_by(step);
        let codes: Vec<i32> = rows.flat_map(|row| table.row(row)).copied().collect();
        let rows = Rows::new(&codes, table.width());
        case.instability = check_stability(case.model.judge(), &case.schema, rows)?;
        case.ender = ender;
        Ok(case)
    }

    /// The inputs, as the user sees them.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The data.
    pub fn table(&self) -> &Table {
        &self.table
    }

    fn table_columns(&self) -> TableColumns<'_> {
        TableColumns {
            own_numbers: self.own_numbers.as_deref(),
            ..TableColumns::new(&self.schema, &self.domain)
        }
    }
}

/// The predictor that `specification` names, told what is made of values outside their domains.
fn predictor_of(
    specification: &AuditSpecification,
) -> Result<Option<PredictorOptions>, AuditError> {
    let Some(mut predictor) = specification.predictor.options()? else {
        return Ok(None);
    };
    if let Some(policy) = specification.out_of_domain {
        predictor.schema = with_policy(&predictor.schema, policy)?;
    }
    predictor.schema = predictor
        .schema
        .skipping_bad_rows(specification.skip_bad_rows);
    Ok(Some(predictor))
}

impl<'m> Modality for TableCase<'m> {
    const NAME: ModalityName = ModalityName::Table;
    type Domain = TabularDomain;
    type Tally = ();
    type Details = TableDetails;
    type Witness = TableWitness;

    fn open(
        specification: &AuditSpecification,
        device: &ComputeDevice,
    ) -> Result<TableCase<'m>, AuditError> {
        match predictor_of(specification)? {
            Some(predictor) => TableCase::of_predictor(specification, &predictor),
            None => TableCase::of_network(specification, specification.model()?, device),
        }
    }

    fn sha256(&self) -> &BTreeMap<String, String> {
        &self.sha256
    }

    fn protected(&self) -> &[String] {
        &self.protected
    }

    fn classes(&self) -> &[String] {
        &self.schema.label.classes
    }

    fn model(&self) -> &ModelUnderTest<'_> {
        &self.model
    }

    fn domain(&self) -> &TabularDomain {
        &self.domain
    }

    fn seeds(&self, clusters: usize, count: usize, seed: u64) -> Vec<Vec<i32>> {
        clustered_seeds(&self.table, clusters, count, seed)
            .into_iter()
            .map(|row| self.table.row(row as usize).to_vec())
            .collect()
    }

    fn probes(&self, most: usize, seed: u64) -> Vec<Vec<i32>> {
        let rows = self.table.rows();
        let some = (0..rows).step_by(rows.div_ceil(most).max(1));
        let random = (0..most as u64).map(|item| self.domain.random_input(seed, item));
        some.map(|row| self.table.row(row).to_vec())
            .chain(random)
            .collect()
    }

    fn with_strategy<W: WithStrategy>(
        &self,
        method: &Method<'_>,
        model: ModelAccess<'_>,
        work: W,
    ) -> Result<W::Output, AuditError> {
        let ingredients = Ingredients {
            model,
            domain: &self.domain,
            objective: method.search.objective(ModalityName::Table),
            step_global: method.search.step_global,
            step_local: method.search.step_local,
            tuning: method.tuning,
            seed: method.seed,
        };
        Ok(with_strategy(method.strategy, &ingredients, work)?)
    }

    fn estimated_sets(
        &self,
        inputs: u64,
        _seed: u64,
    ) -> Result<Vec<EstimatedSet<TabularDomain>>, AuditError> {
        let sets = estimated_sets(&self.protected).into_iter();
        sets.map(|protected| {
            let places = positions(&self.schema, &protected)?;
            Ok(EstimatedSet {
                domain: TabularDomain::new(&self.schema, &self.layout, &places)?,
                protected,
                inputs,
            })
        })
        .collect()
    }

    fn ender(&self) -> Option<&Ender> {
        self.ender.as_ref()
    }

    fn instability(&self) -> f32 {
        self.instability
    }

    fn bin_effect(&self) -> Option<BinEffect> {
        self.bin_effect
    }

    fn shown(&self, pair: &Pair<'_>) -> ShownPair<'_> {
        let mut other = Vec::with_capacity(pair.row.len());
        self.domain
            .write_variant(pair.row, pair.variant as usize, &mut other);
        let columns = self.table_columns();
        let values = |row: &[i32]| {
            let names = self.schema.attributes.iter().map(|a| a.name.as_str());
            names.zip(columns.values(row)).collect()
        };
        ShownPair {
            sides: [values(pair.row), values(&other)],
            changed: columns.changes(pair.row, &other),
        }
    }

    fn columns(&self) -> ArrowSchema {
        self.table_columns().names()
    }

    fn batch(
        &self,
        columns: &ArrowSchema,
        pairs: &[Pair<'_>],
        _tally: &mut (),
    ) -> Result<RecordBatch, AuditError> {
        self.table_columns().batch(columns, pairs)
    }

    fn details(&self, _specification: &AuditSpecification, _tally: ()) -> TableDetails {
        TableDetails {
            data_sha256: self.sha256.get("data").cloned().unwrap_or_default(),
            data: self.table.counts.clone(),
            bins: self.bin_effect,
        }
    }

    fn witness(
        specification: &AuditSpecification,
        model: Option<&Path>,
    ) -> Result<TableWitness, AuditError> {
        if let Some(predictor) = predictor_of(specification)? {
            let sha256 = predictor.sha256()?;
            let open = predictor.open()?;
            let answering = Answering::Predictor(open.predictor);
            let witness = TableWitness::new(
                predictor.schema,
                &specification.protected,
                answering,
                sha256,
            )?;
            return Ok(TableWitness {
                ender: open.ender,
                ..witness
            });
        }
        let opened = open_model(match model {
            Some(model) => model,
            None => specification.model()?,
        })?;
        let (schema, network) = (opened.value.schema, opened.value.network);
        TableWitness::of_network(schema, network, &specification.protected, opened.sha256)
    }
}

/// The columns of a samples file of rows: see [`crate::samples`].
pub struct TableColumns<'a> {
    schema: &'a Schema,
    domain: &'a dyn Domain,
    own_numbers: Option<&'a OwnNumbers>,
}

impl<'a> TableColumns<'a> {
    /// Those of inputs of `schema`, whose variants `domain` knows.
    pub fn new(schema: &'a Schema, domain: &'a dyn Domain) -> TableColumns<'a> {
        TableColumns {
            schema,
            domain,
            own_numbers: None,
        }
    }

    /// The values of `row` as text, one for each attribute.
    fn values(&self, row: &[i32]) -> Vec<String> {
        let attributes = self.schema.attributes.iter().zip(row);
        let mut values: Vec<String> = attributes
            .map(|(attribute, &code)| attribute.decode(code))
            .collect();
        if let Some(own) = self.own_numbers {
            let mut numbers = Vec::with_capacity(own.places().len());
            own.append(row, &mut numbers);
            let found = own.places().iter().zip(numbers);
            for (&place, number) in found.filter(|(_, number)| !number.is_nan()) {
                values[place] = number.to_string();
            }
        }
        values
    }

    /// What differs between the inputs `row` and `other`.
    fn changes(&self, row: &[i32], other: &[i32]) -> Vec<Change> {
        let values = self.values(row).into_iter().zip(self.values(other));
        let attributes = self.schema.attributes.iter().zip(values);
        let differs = row.iter().zip(other).map(|(own, other)| own != other);
        attributes
            .zip(differs)
            .filter(|(_, differs)| *differs)
            .map(|((attribute, (from, to)), _)| Change {
                attribute: attribute.name.clone(),
                from,
                to,
            })
            .collect()
    }

    /// Their names and types.
    pub fn names(&self) -> ArrowSchema {
        let mut fields = vec![
            ("seed".to_owned(), DataType::UInt64),
            ("phase".to_owned(), DataType::Utf8),
            ("step".to_owned(), DataType::UInt32),
        ];
        for side in ["x", "other"] {
            fields.extend(self.schema.attributes.iter().map(|attribute| {
                let kind = if is_integer(attribute) {
                    DataType::Int32
                } else {
                    DataType::Utf8
                };
                (format!("{side}_{}", attribute.name), kind)
            }));
        }
        for name in ["label_x", "label_other"] {
            fields.push((name.to_owned(), DataType::Utf8));
        }
        for side in ["x", "other"] {
            let classes = self.schema.label.classes.iter();
            fields
                .extend(classes.map(|class| (format!("logit_{side}_{class}"), DataType::Float32)));
        }
        fields.push(("changed".to_owned(), DataType::Utf8));
        let field = |(name, data_type)| Field::new(name, data_type, false);
        ArrowSchema::new(fields.into_iter().map(field).collect::<Vec<_>>())
    }

    /// `pairs` in these columns.
    ///
    /// # Errors
    /// When they do not fit `columns`.
    pub fn batch(
        &self,
        columns: &ArrowSchema,
        pairs: &[Pair<'_>],
    ) -> Result<RecordBatch, AuditError> {
        let others: Vec<Vec<i32>> = pairs.iter().map(|pair| self.other(pair)).collect();
        let rows: Vec<&[i32]> = pairs.iter().map(|pair| pair.row).collect();
        let others: Vec<&[i32]> = others.iter().map(Vec::as_slice).collect();
        let (seed, phase, step) = walk_columns(pairs);
        let mut arrays: Vec<ArrayRef> = vec![seed, phase, step];
        for side in [&rows, &others] {
            let values: Vec<Vec<String>> = side.iter().map(|row| self.values(row)).collect();
            for (position, attribute) in self.schema.attributes.iter().enumerate() {
                arrays.push(if is_integer(attribute) {
                    let codes = side.iter().map(|row| row[position]);
                    Arc::new(Int32Array::from_iter_values(codes))
                } else {
                    let words = values.iter().map(|values| &values[position]);
                    Arc::new(StringArray::from_iter_values(words))
                });
            }
        }
        let classes = &self.schema.label.classes;
        for label in [
            |pair: &Pair<'_>| pair.label as usize,
            |pair: &Pair<'_>| pair.other_label as usize,
        ] {
            let labels = pairs.iter().map(|pair| &classes[label(pair)]);
            arrays.push(Arc::new(StringArray::from_iter_values(labels)));
        }
        for own in [true, false] {
            for class in 0..classes.len() {
                let logits = pairs.iter().map(|pair| match own {
                    true => pair.logits[class],
                    false => pair.other_logits[class],
                });
                arrays.push(Arc::new(Float32Array::from_iter_values(logits)));
            }
        }
        let sides = rows.iter().zip(&others);
        let changed = sides.map(|(row, other)| {
            let changes = self.changes(row, other).into_iter();
            let changes: Vec<String> = changes.map(|change| change.to_string()).collect();
            changes.join("; ")
        });
        arrays.push(Arc::new(StringArray::from_iter_values(changed)));
        Ok(RecordBatch::try_new(Arc::new(columns.clone()), arrays)?)
    }

    fn other(&self, pair: &Pair<'_>) -> Vec<i32> {
        let mut other = Vec::new();
        self.domain
            .write_variant(pair.row, pair.variant as usize, &mut other);
        other
    }
}

/// Whether every code of the attribute is written as itself.
fn is_integer(attribute: &Attribute) -> bool {
    let (_, max) = attribute.domain();
    matches!(attribute.kind, Kind::Integer { .. }) && attribute.decode(max) == max.to_string()
}

/// Reads rows of a schema from a samples file.
pub struct TableInputs<'a> {
    attributes: Vec<(&'a Attribute, Encoder<'a>)>,
}

impl<'a> TableInputs<'a> {
    /// What reads rows of `schema`.
    pub fn new(schema: &'a Schema) -> TableInputs<'a> {
        let attributes = schema.attributes.iter();
        TableInputs {
            attributes: attributes
                .map(|attribute| (attribute, Encoder::new(attribute)))
                .collect(),
        }
    }
}

impl SampleInputs for TableInputs<'_> {
    fn columns(&self, side: &str) -> Vec<String> {
        let attributes = self.attributes.iter();
        attributes
            .map(|(attribute, _)| format!("{side}_{}", attribute.name))
            .collect()
    }

    fn read(
        &self,
        cells: &[&str],
        refuse: &dyn Fn(usize, String) -> ReadError,
    ) -> Result<Vec<i32>, AuditError> {
        let cells = self.attributes.iter().zip(cells).enumerate();
        cells
            .map(|(place, ((attribute, encoder), cell))| {
                let encoded = encoder.encode(cell).map_err(|why| refuse(place, why))?;
                match encoded {
                    Encoded::Code(code) => Ok(code),
                    // The level of outside values is a value of its own; a clipped one is none.
                    Encoded::Mapped(code) if attribute.outside == Outside::Level => Ok(code),
                    Encoded::Mapped(_) | Encoded::Skip => {
                        Err(refuse(place, attribute.expected()).into())
                    }
                }
            })
            .collect()
    }

    fn numbers(&self, cells: &[&str]) -> Vec<f64> {
        let cells = self.attributes.iter().zip(cells);
        let numeric = cells.filter(|((attribute, _), _)| is_numeric(attribute));
        numeric
            .map(|((_, encoder), cell)| match encoder.encode(cell) {
                Ok(Encoded::Code(_)) => cell.parse().unwrap_or(f64::NAN),
                _ => f64::NAN,
            })
            .collect()
    }
}

fn is_numeric(attribute: &Attribute) -> bool {
    matches!(attribute.kind, Kind::Numeric { .. })
}

/// What answers when pairs of rows are re-checked.
enum Answering {
    /// A network, each side alone. Pairs whose classes are equal in f64 arithmetic hang on a
    /// rounding.
    Network { fnn: Fnn, network: Box<Network> },
    /// A predictor, in batches, with the numbers that the file says. What it computes inside is
    /// not known.
    Predictor(Box<dyn Predictor>),
}

/// Re-checks pairs of rows.
pub struct TableWitness {
    schema: Schema,
    protected: Vec<usize>,
    answering: Answering,
    sha256: BTreeMap<String, String>,
    ender: Option<Ender>,
}

impl TableWitness {
    /// For a network whose attributes `protected` may differ.
    ///
    /// # Errors
    /// When there is no such attribute.
    pub fn of_network(
        schema: Schema,
        network: Network,
        protected: &[String],
        sha256: String,
    ) -> Result<TableWitness, AuditError> {
        let answering = Answering::Network {
            fnn: Fnn::new(&network, &ComputeDevice::flex()),
            network: Box::new(network),
        };
        TableWitness::new(schema, protected, answering, sha256)
    }

    fn new(
        schema: Schema,
        protected: &[String],
        answering: Answering,
        sha256: String,
    ) -> Result<TableWitness, AuditError> {
        Ok(TableWitness {
            protected: positions(&schema, protected)?,
            schema,
            answering,
            sha256: [("model".to_owned(), sha256)].into(),
            ender: None,
        })
    }
}

impl Witness for TableWitness {
    fn inputs(&self) -> Box<dyn SampleInputs + '_> {
        Box::new(TableInputs::new(&self.schema))
    }

    fn classes(&self) -> &[String] {
        &self.schema.label.classes
    }

    fn sha256(&self) -> &BTreeMap<String, String> {
        &self.sha256
    }

    fn ender(&self) -> Option<&Ender> {
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
            Answering::Network { fnn, network } => {
                let alone = |row: &[i32]| -> Result<u32, ModelError> {
                    Ok(predicted_class(&fnn.logits(Rows::new(row, row.len()))?))
                };
                let exact = |row: &[i32]| exact_class(network, row);
                samples
                    .par_iter()
                    .map(|pair| {
                        Ok(Answers {
                            labels: [alone(&pair.row)?, alone(&pair.other)?],
                            by_rounding: exact(&pair.row) == exact(&pair.other),
                        })
                    })
                    .collect()
            }
            Answering::Predictor(predictor) => {
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
                Ok(of_pair
                    .map(|logits| {
                        let (own, other) = logits.split_at(predictor.classes());
                        Answers {
                            labels: [predicted_class(own), predicted_class(other)],
                            by_rounding: false,
                        }
                    })
                    .collect())
            }
        }
    }
}

fn exact_class(network: &Network, row: &[i32]) -> usize {
    let logits = network.reference_logits(row);
    (0..logits.len())
        .reduce(|best, class| match logits[class] > logits[best] {
            true => class,
            false => best,
        })
        .unwrap_or(0)
}
