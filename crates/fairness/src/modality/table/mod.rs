//! Rows of a table: a network or a predictor, its schema, and the rows that seeds come from.

mod columns;
mod explained;
mod population;
mod twins;
mod witness;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use arrow_array::RecordBatch;
use arrow_schema::Schema as ArrowSchema;
use serde::Serialize;

pub use self::columns::{TableColumns, TableInputs};
use self::population::Population;
pub use self::witness::TableWitness;
use self::witness::WitnessModel;
use super::{EstimatedSet, InputsRead, Method, Modality, ModalityName, ShownPair};
use crate::audit_error::AuditError;
use crate::domain::{Domain, TabularDomain};
use crate::estimate::estimated_sets;
use crate::finds::{FindSpace, TableFinds, TableSpace};
use crate::model_under_test::{ModelAccess, ModelUnderTest};
use crate::opened::{Opened, by_role, positions, protected_or_marked};
use crate::pairs::Pair;
use crate::population::{People, Plausibility};
use crate::seeds::clustered_seeds;
use crate::specification::AuditSpecification;
use crate::strategies::{Ingredients, WithStrategy, WithinBound, with_strategy};
use crate::table_model::{ReadRows, TableModel};
use crate::text::exchange_counts::ExchangeCounts;
use probity_data::schema::Schema;
use probity_data::table::{Labels, ReadCounts, Table};
use probity_nn::encoding::InputLayout;
use probity_nn::{Classifier, Objective, Rows};
use probity_predictor::KillHandle;
use probity_predictor::own_numbers::{BinEffect, OwnNumbers, WithOwnNumbers};
use probity_predictor::probabilities::RoundedRows;
use probity_predictor::remarks::remarks;
use probity_predictor::source::{OpenPredictor, PredictorOptions};
use probity_predictor::stability::{AskedTwice, LOOKED_AT, check_stability};
use probity_run::specification::FieldError;
use probity_run::stream::{Purpose, drawn};
use probity_tensor::device::ComputeDevice;

/// Number of rows of the data that a predictor is asked for with and without their own numbers:
/// enough to tell 1 % from 2 %.
const BIN_ROWS: usize = 2000;

/// A model of tables, its inputs, and the rows where a search begins.
pub struct TableCase<'m> {
    schema: Schema,
    layout: InputLayout,
    model: ModelUnderTest<'m>,
    table: Cow<'m, Table>,
    protected: Vec<String>,
    /// The names of the possible decisions.
    classes: Vec<String>,
    domain: TabularDomain,
    population: Population,
    sha256: BTreeMap<String, String>,
    own_numbers: Option<Arc<OwnNumbers>>,
    ender: Option<KillHandle>,
    asked_twice: Option<AskedTwice>,
    bin_effect: Option<BinEffect>,
    rounded_rows: Option<RoundedRows>,
    /// What users are to know of the data, and of the answers of a predictor.
    remarks: Vec<String>,
    /// Protected attributes that the model has no input for.
    no_inputs: Vec<String>,
    /// The space of finds, made where it is first asked for.
    find_space: OnceLock<TableSpace>,
}

/// The part of the summary of an audit that only tables have.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TableDetails {
    /// SHA-256 of the data file.
    pub data_sha256: String,
    /// Counts of what reading the data changed or left out.
    pub data: ReadCounts,
    /// The effect on a predictor's decisions on rows of the data when numbers are replaced by those
    /// that stand for their bins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bins: Option<BinEffect>,
    /// Number of rows of the data that get rounded probabilities of the predictor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounded: Option<RoundedRows>,
    /// The rows of the data by which a predictor was found to be a function of the row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked_twice: Option<AskedTwice>,
}

impl<'m> TableCase<'m> {
    /// A case of any `model` whose inputs are described by `schema`; the names in `protected` are
    /// protected. `layout` says which attributes a search moves by steps (scaled) and which among
    /// levels.
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
        let sha256 = by_role([("model", model.sha256), ("data", table.sha256)]);
        let (model, table) = (model.value, table.value);
        // An output that is not finite is found now rather than after the run has begun.
        let first = Rows::new(table.row(0), table.width());
        model.access().classifier().logits(first)?;
        let remarks = twins::remarks(&schema, &table, domain.protected(), &|_| true);
        Ok(TableCase {
            population: Population::all((&schema, &domain), &table),
            classes: schema.label.classes.clone(),
            schema,
            layout,
            model,
            table,
            protected,
            domain,
            sha256,
            own_numbers: None,
            ender: None,
            asked_twice: None,
            bin_effect: None,
            rounded_rows: None,
            remarks,
            no_inputs: Vec::new(),
            find_space: OnceLock::new(),
        })
    }

    /// Opens everything that `specification` names; of the data only the row of the number `only`,
    /// if one is given.
    fn open_rows(
        specification: &AuditSpecification,
        only: Option<u64>,
        device: &ComputeDevice,
    ) -> Result<TableCase<'m>, AuditError> {
        let model = open_table_model(specification, None)?;
        let schema = model.schema();
        let protected = protected_or_marked(&specification.protected, schema);
        let places = positions(schema, &protected)?;
        if let TableModel::Network(network) = &model {
            // Said before the data are read, which may take long.
            TabularDomain::new(schema, &network.model.value.network.layout, &places)?;
        }
        let read = model.read(&specification.data, Labels::Unneeded)?;
        let only = only
            .map(|row| place_of(row, &read.value.table))
            .transpose()?;
        let file = specification.population.file.as_deref();
        let file = file.map(|file| model.read(file, Labels::Unneeded));
        let network = match model {
            TableModel::Network(network) => network.model,
            TableModel::Predictor(predictor) => {
                // Started last: what is wrong with the data is said without it.
                let (rows, file) = ((read, only), file.transpose()?);
                return TableCase::of_predictor(specification, &predictor, protected, rows, file);
            }
        };
        let table = read.map(|rows| match only {
            Some(row) => Cow::Owned(rows.table.select(&[row as u32])),
            None => Cow::Owned(rows.table),
        });
        let described = (network.value.schema, network.value.network.layout.clone());
        let model = Opened {
            value: ModelUnderTest::network(&network.value.network, device),
            sha256: network.sha256,
        };
        let case = TableCase::new(described, model, table, protected)?;
        let file = file.transpose()?;
        case.deciding(specification, file.map(|file| file.map(|rows| rows.table)))
    }

    /// Returns this case with decisions made as `specification` says, and with the share of the
    /// data taken of the rows that `specification` asks for, those of `file` where it names one.
    ///
    /// # Errors
    /// When there are none, or a class is named that is none.
    pub fn deciding(
        mut self,
        specification: &AuditSpecification,
        file: Option<Opened<Table>>,
    ) -> Result<TableCase<'m>, AuditError> {
        let sha256 = |role: &str| self.sha256.get(role).map_or("", String::as_str);
        let data = (self.table.as_ref(), sha256("data"));
        let described = (&self.schema, &self.domain);
        let population = Population::new(specification, described, sha256("model"), data, file)?;
        let (population, network) = population.grading(specification, described, &self.table)?;
        let file = population.sha256().map(str::to_owned);
        for (role, hash) in [("population", file), ("plausibility", network)] {
            self.sha256.extend(hash.map(|hash| (role.to_owned(), hash)));
        }
        let classes = &self.schema.label.classes;
        let favourable = population.favourable();
        let objective = specification.search.objective(ModalityName::Table);
        if self.schema.label.is_number() && objective == Objective::Loss {
            let expected = "another: the model gives numbers, which have no cross-entropy";
            return Err(FieldError::new("search.objective", "loss", expected).into());
        }
        let asked = specification.deciding();
        let decision = asked.among(classes, favourable, Some(&self.schema))?;
        self.classes = decision.names(classes);
        self.model = self.model.deciding(&decision);
        self.population = population;
        Ok(self)
    }

    /// A case of the `predictor`, which answers where it is. It is asked twice for some rows of the
    /// data ([`check_stability`]), and for some with and without the numbers that they have
    /// ([`BinEffect`]). Of the `rows` of the data only the one at the place `only` is left, if one
    /// is given: what is made of it keeps its numbers. `file` holds the rows of the population,
    /// where they are not the data.
    fn of_predictor(
        specification: &AuditSpecification,
        predictor: &PredictorOptions,
        protected: Vec<String>,
        (rows, only): (Opened<ReadRows>, Option<usize>),
        file: Option<Opened<ReadRows>>,
    ) -> Result<TableCase<'m>, AuditError> {
        let places = positions(&predictor.schema, &protected)?;
        let ReadRows { mut table, numbers } = rows.value;
        let filled = PredictorOptions {
            schema: numbers.with_values(predictor.schema.clone()),
            ..predictor.clone()
        };
        let (schema, layout) = (filled.schema.clone(), filled.layout());
        let OpenPredictor {
            predictor: opened,
            ender,
            taken,
        } = filled.open()?;
        let is_binned = !numbers.places().is_empty();
        let own = is_binned.then(|| {
            let mut own = match only {
                Some(row) => OwnNumbers::of_row(&table, &numbers, row),
                None => OwnNumbers::new(&table, &numbers, &places),
            };
            if let Some(file) = &file {
                own.add(&file.value.table, &file.value.numbers);
            }
            Arc::new(own)
        });
        let some = match only {
            Some(row) => vec![row as u32],
            None => looked_at(&table, BIN_ROWS, specification.seed),
        };
        let some = some.iter().map(|&row| row as usize);
        let effect = || BinEffect::measure(opened.as_ref(), (&table, &numbers), some.clone());
        let has_no_input = |name: &&String| {
            let place = schema.index_of(name);
            place.is_ok_and(|place| !opened.takes(place))
        };
        let mut no_inputs: Vec<String> = protected.iter().filter(has_no_input).cloned().collect();
        // Decisions that change are counted, and a regressor makes none.
        let may_round = !predictor.probabilities.is_exact() && !schema.label.is_number();
        let seen = some.clone().map(|row| row as u32);
        let seen = table.select(&seen.collect::<Vec<u32>>());
        let mut logits = Vec::new();
        let mut rounded_rows = None;
        if may_round || opened.classes_by_order().is_some() {
            let numbers = some.clone().flat_map(|row| numbers.row(row));
            let numbers: Vec<f64> = numbers.copied().collect();
            let (rows, before) = (Rows::new(seen.codes(), seen.width()), taken.divided());
            logits = opened.logits_with(rows, &numbers)?;
            rounded_rows = taken.since(before, rows.len()).filter(|_| may_round);
        }
        let remarks = remarks(
            opened.as_ref(),
            &schema.label,
            (&seen, &logits),
            rounded_rows,
        );
        let bound = twins::remarks(&schema, &table, &places, &|place| opened.takes(place));
        let has_effect = is_binned && !schema.label.is_number();
        let bin_effect = has_effect.then(effect).transpose()?;
        if let Some(row) = only {
            table = table.select(&[row as u32]);
        }
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
            sha256: rows.sha256,
        };
        let case = TableCase::new((schema, layout), model, table, protected)?;
        let mut own_of_people = match only {
            Some(row) => numbers.select(&[row as u32]),
            None => numbers,
        };
        let file = file.map(|file| {
            file.map(|rows| {
                own_of_people = rows.numbers;
                rows.table
            })
        });
        let mut case = case.deciding(specification, file)?;
        case.population.numbers = own_of_people;
        (case.own_numbers, case.bin_effect) = (own, bin_effect);
        case.rounded_rows = rounded_rows;
        case.remarks = remarks;
        case.remarks.extend(bound);
        let some = looked_at(&case.table, LOOKED_AT, specification.seed);
        let some = case.table.select(&some);
        let rows = Rows::new(some.codes(), some.width());
        case.asked_twice = Some(check_stability(case.model.judge(), &case.schema, rows)?);
        // Thresholds of a group's own flip decisions on answers that are the same.
        no_inputs.retain(|name| {
            let place = case.schema.index_of(name);
            !place.is_ok_and(|place| case.model.judge().decision().reads(place))
        });
        (case.no_inputs, case.ender) = (no_inputs, ender);
        Ok(case)
    }

    /// The schema of the inputs, as the user sees them.
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
            decisions: &self.classes,
            plausibility: self.plausibility(),
            ..TableColumns::new(&self.schema, &self.domain)
        }
    }
}

/// The rows of `table`, `most` at most, by which a model is looked at.
fn looked_at(table: &Table, most: usize, seed: u64) -> Vec<u32> {
    drawn(seed, Purpose::LookedAt, 0, table.rows() as u32, most)
}

/// The place of the row of the number `row` in `table`.
fn place_of(row: u64, table: &Table) -> Result<usize, FieldError> {
    let place = table.numbers().index_of(row);
    place.filter(|&place| place < table.rows()).ok_or_else(|| {
        let all = table.counts.read();
        let expected = match (1..=all).contains(&row) {
            true => "a row that was not left out: its values lie outside the domains, or are wrong; correct them, or choose another"
                .to_owned(),
            false => format!("a row of the data, from 1 to {all}"),
        };
        FieldError::new("row", row, expected)
    })
}

/// Opens the model that `specification` names, which is in `moved` if that is given, to be asked
/// about rows.
fn open_table_model(
    specification: &AuditSpecification,
    moved: Option<&Path>,
) -> Result<TableModel, AuditError> {
    TableModel::open(
        || moved.map_or_else(|| specification.model(), Ok),
        &specification.predictor,
        specification.reading(),
    )
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
        TableCase::open_rows(specification, None, device)
    }

    fn sha256(&self) -> &BTreeMap<String, String> {
        &self.sha256
    }

    fn protected(&self) -> &[String] {
        &self.protected
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn favourable(&self) -> &str {
        &self.schema.label.classes[self.population.favourable()]
    }

    fn model(&self) -> &ModelUnderTest<'_> {
        &self.model
    }

    fn domain(&self) -> &TabularDomain {
        &self.domain
    }

    fn seeds(&self, clusters: usize, count: usize, seed: u64) -> Vec<Vec<i32>> {
        let mut table = Cow::Borrowed(self.table.as_ref());
        if let Some(bound) = self.population.bound() {
            let rows: Vec<&[i32]> = (0..table.rows()).map(|row| self.table.row(row)).collect();
            let allowed = (0..).zip(bound.allows(&rows));
            let allowed: Vec<u32> = allowed.filter_map(|(row, is)| is.then_some(row)).collect();
            table = Cow::Owned(table.select(&allowed));
        }
        clustered_seeds(&table, clusters, count, seed)
            .into_iter()
            .map(|row| self.domain.known(table.row(row as usize)).into_owned())
            .collect()
    }

    fn probes(&self, most: usize, seed: u64) -> Vec<Vec<i32>> {
        let some = looked_at(&self.table, most, seed).into_iter();
        let random = (0..most as u64).map(|item| self.domain.random_input(seed, item));
        some.map(|row| self.table.row(row as usize).to_vec())
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
            rank: method.rank,
            seed: method.seed,
        };
        Ok(match self.population.bound() {
            None => with_strategy(method.strategy, &ingredients, work),
            Some(bound) => {
                with_strategy(method.strategy, &ingredients, WithinBound { work, bound })
            }
        }?)
    }

    /// Always true: strategies of tables go anywhere, and only draw by the number.
    fn is_reached(&self, _seed: u64, _row: &[i32]) -> bool {
        true
    }

    fn estimated_sets(
        &self,
        inputs: u64,
        _seed: u64,
    ) -> Result<Vec<EstimatedSet<TabularDomain>>, AuditError> {
        let sets = estimated_sets(&self.protected).into_iter();
        let all = self.domain.protected();
        let uniform = sets.map(|protected| {
            let places = positions(&self.schema, &protected)?;
            Ok(EstimatedSet {
                domain: TabularDomain::among_known(&self.schema, &self.layout, &places, all)?,
                protected,
                inputs,
            })
        });
        // Of the single attributes nothing is known: those protected are not in the network.
        let fitted = self.population.plausibility().map(|population| {
            Ok(EstimatedSet {
                domain: self.domain.clone().drawn_from(Arc::clone(population)),
                protected: self.protected.clone(),
                inputs,
            })
        });
        uniform.chain(fitted).collect()
    }

    fn people(&self) -> Result<Option<People<'_>>, AuditError> {
        let people = self
            .population
            .people((&self.schema, &self.domain), &self.table);
        let people = people?.decided_by(self.model.judge().decision());
        Ok(Some(match self.model.access() {
            ModelAccess::Gradients(_) => people.asked_of_network(),
            // What only answers may lack an input.
            ModelAccess::Outputs(_) => people,
        }))
    }

    fn plausibility(&self) -> Option<&Plausibility> {
        self.population.plausibility().map(Arc::as_ref)
    }

    fn find_space(&self) -> Box<dyn FindSpace + '_> {
        let space = || TableSpace::new(&self.domain, &self.table);
        Box::new(TableFinds {
            space: self.find_space.get_or_init(space),
            plausibility: self.plausibility(),
        })
    }

    fn begun_anew(
        &self,
        _specification: &AuditSpecification,
        _device: &ComputeDevice,
    ) -> Result<Option<TableCase<'m>>, AuditError> {
        Ok(None)
    }

    fn inputs_read(&self) -> InputsRead {
        InputsRead::Table {
            data: self.table.counts.clone(),
            bins: self.bin_effect,
        }
    }

    fn ender(&self) -> Option<&KillHandle> {
        self.ender.as_ref()
    }

    fn instability(&self) -> f32 {
        self.asked_twice
            .map_or(0.0, |asked| asked.largest_difference)
    }

    fn no_inputs(&self) -> &[String] {
        &self.no_inputs
    }

    fn bin_effect(&self) -> Option<BinEffect> {
        self.bin_effect
    }

    fn remarks(&self) -> &[String] {
        &self.remarks
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

    fn details(
        &self,
        _specification: &AuditSpecification,
        _tally: (),
        _exchanges: Option<&ExchangeCounts>,
    ) -> TableDetails {
        TableDetails {
            data_sha256: self.sha256.get("data").cloned().unwrap_or_default(),
            data: self.table.counts.clone(),
            bins: self.bin_effect,
            rounded: self.rounded_rows,
            asked_twice: self.asked_twice,
        }
    }

    fn witness(
        specification: &AuditSpecification,
        model: Option<&Path>,
        _samples: &Path,
    ) -> Result<TableWitness, AuditError> {
        let protected = &specification.protected;
        let witness = match open_table_model(specification, model)? {
            TableModel::Network(network) => {
                let Opened { value, sha256 } = network.model;
                TableWitness::of_network(value.schema, value.network, protected, sha256)?
            }
            TableModel::Predictor(predictor) => {
                let sha256 = predictor.sha256()?;
                let open = predictor.open()?;
                let answering = WitnessModel::Predictor(open.predictor);
                TableWitness {
                    ender: open.ender,
                    ..TableWitness::new(predictor.schema, protected, answering, sha256)?
                }
            }
        };
        witness.deciding(specification)
    }
}
