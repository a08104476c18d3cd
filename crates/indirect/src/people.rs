//! The people whose decisions are looked at: who they are, how they are compared, and what was decided
//! about them.
//!
//! ```text
//! data ─┬─ by the schema of the people ──► groups, coordinates, recorded outcomes
//!       └─ by the schema of the model ───► its decisions   (it sees fewer columns)
//! ```
//!
//! The two readings are joined by the numbers that rows have in their file: a row that either leaves
//! out is left out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::coordinates::{Cell, Column, Coordinates};
use crate::error::IndirectError;
use probity_data::named_schema::named_schema;
use probity_data::schema::{Kind, OutOfDomain, Schema};
use probity_data::table::{CellNumbers, Labels, ReadCounts, Table};
use probity_fairness::group::grouping::AttributeGroups;
use probity_fairness::opened::protected_or_marked;
use probity_fairness::specification::rules::{named_once, needed};
use probity_fairness::specification::{DecisionSpecification, PredictorSpecification};
use probity_fairness::statistics::Share;
use probity_fairness::table_model::TableModel;
use probity_nn::decision::Decision;
use probity_nn::modality::ModalityName;
use probity_run::specification::FieldError;
use probity_tensor::device::ComputeDevice;

/// The weight of an attribute in distances, such as `age=2`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Weight {
    /// The attribute.
    pub attribute: String,
    /// The weight; 0 leaves the attribute out.
    pub weight: f64,
}

impl TryFrom<String> for Weight {
    type Error = String;

    fn try_from(text: String) -> Result<Weight, String> {
        let parts = text.rsplit_once('=').and_then(|(attribute, weight)| {
            let weight: f64 = weight.trim().parse().ok()?;
            let attribute = attribute.trim().to_owned();
            Some(Weight { attribute, weight })
        });
        parts
            .filter(|it| (0.0..=1e6).contains(&it.weight) && !it.attribute.is_empty())
            .ok_or_else(|| "an attribute and a number from 0 to 1000000, such as age=2".to_owned())
    }
}

impl From<Weight> for String {
    fn from(weight: Weight) -> String {
        format!("{}={}", weight.attribute, weight.weight)
    }
}

/// The inputs that name people and what is decided about them; a specification holds them field by
/// field.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a> {
    /// The model directory; empty where there is none.
    pub model: &'a Path,
    /// What only answers, in place of a model directory.
    pub predictor: &'a PredictorSpecification,
    /// Whether the outcomes in the data are looked at, in place of a model's decisions.
    pub label: bool,
    /// The table of the people.
    pub data: &'a Path,
    /// The schema of the people; by default that of the model.
    pub schema: Option<&'a str>,
    /// The policy for values outside their domains.
    pub out_of_domain: Option<OutOfDomain>,
    /// Whether rows with which something is wrong are left out.
    pub skip_bad_rows: bool,
    /// The decision rule.
    pub decision: &'a DecisionSpecification,
    /// The class that is good to get.
    pub favourable: Option<&'a str>,
    /// The protected attributes, or values of them.
    pub protected: &'a [String],
    /// The weights of attributes.
    pub weights: &'a [Weight],
}

impl Sources<'_> {
    /// Checks the rules between the fields.
    ///
    /// # Errors
    /// The first field that contradicts another.
    pub fn rules(&self) -> Result<(), FieldError> {
        let has_model = !self.model.as_os_str().is_empty();
        let has_predictor = self.predictor.source.is_some();
        self.predictor.rules(has_model, ModalityName::Table)?;
        if self.label && (has_model || has_predictor) {
            let field = if has_model { "model" } else { "predictor" };
            let expected = "left out: with label the outcomes in the data are looked at";
            return Err(FieldError::new(field, "given", expected));
        }
        if self.label && *self.decision != DecisionSpecification::default() {
            let expected = "left out: it has no meaning for the outcomes in the data";
            return Err(FieldError::new("decision", "given", expected));
        }
        if !self.label && !has_model && !has_predictor {
            let expected = "given, or a predictor; or label, for the outcomes in the data";
            return Err(FieldError::new("model", "missing", expected));
        }
        if self.label && self.schema.is_none() {
            let expected = "given where there is no model";
            return Err(FieldError::new("schema", "missing", expected));
        }
        needed("data", self.data)?;
        self.decision.alone().rules()?;
        named_once("protected", self.protected)?;
        let weighted: Vec<String> = self.weights.iter().map(|it| it.attribute.clone()).collect();
        named_once("weights", &weighted)
    }
}

/// A condition on a protected attribute: that its value is this one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Condition {
    /// The attribute.
    pub attribute: String,
    /// The value, or the range of values.
    pub value: String,
}

/// Returns `conditions` as `sex=female, race=black`.
pub fn named(conditions: &[Condition]) -> String {
    let conditions = conditions.iter();
    let named = conditions.map(|it| format!("{}={}", it.attribute, it.value));
    named.collect::<Vec<_>>().join(", ")
}

/// The people who meet some conditions.
#[derive(Debug, Clone, PartialEq)]
pub struct ProtectedGroup {
    /// The conditions, all of which they meet.
    pub conditions: Vec<Condition>,
    /// Whether each person does.
    pub is_member: Vec<bool>,
}

impl ProtectedGroup {
    /// Returns the rows of its members, or of all others.
    pub fn rows(&self, members: bool) -> Vec<u32> {
        let rows = self.is_member.iter().enumerate();
        rows.filter(|(_, is_member)| **is_member == members)
            .map(|(row, _)| row as u32)
            .collect()
    }
}

/// What was decided about people.
#[derive(Debug, Clone, PartialEq)]
pub struct Decisions {
    /// The number of the decision about each person.
    pub decided: Vec<u32>,
    /// The probability of the favourable class, one a person; empty where outcomes are looked at.
    pub scores: Vec<f64>,
    /// The names of the decisions, by number.
    pub names: Vec<String>,
    /// The number of the favourable decision.
    pub favourable: u32,
    /// Whether somebody said which one that is.
    pub is_favourable_given: bool,
}

impl Decisions {
    /// Returns whether each person was not given what is good to get.
    pub fn unfavourable(&self) -> Vec<bool> {
        let is_unfavourable = |&decided: &u32| decided != self.favourable;
        self.decided.iter().map(is_unfavourable).collect()
    }

    /// Returns the name of the decision about the person `row`.
    pub fn name(&self, row: usize) -> &str {
        let name = self.names.get(self.decided[row] as usize);
        name.map_or("", String::as_str)
    }

    /// Returns the name of the favourable decision.
    pub fn favourable_name(&self) -> &str {
        let name = self.names.get(self.favourable as usize);
        name.map_or("", String::as_str)
    }
}

/// People, and how many of them were decided unfavourably.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Decided {
    /// The number of people.
    pub people: u64,
    /// Those decided unfavourably.
    pub unfavourable: Share,
}

/// The source of decisions, opened.
enum Decider {
    /// A model, and its decision rule.
    Model(Box<TableModel>, Decision),
    /// The outcomes in the data.
    Label,
}

/// The reader of people: the schema, the source of decisions and the groups, checked before any table
/// is read.
pub struct Opened {
    schema: Schema,
    decider: Decider,
    names: Vec<String>,
    favourable: usize,
    is_favourable_given: bool,
    /// The attributes that are compared, with their weights.
    compared: Vec<(usize, f64)>,
    protected: Vec<(AttributeGroups, Option<u32>)>,
    /// The hashes of what was opened, by role.
    pub sha256: BTreeMap<String, String>,
}

impl Opened {
    /// Opens the model that `sources` name, and checks what is asked of the people.
    ///
    /// # Errors
    /// See [`IndirectError`].
    pub fn new(sources: &Sources<'_>) -> Result<Opened, IndirectError> {
        let mut sha256 = BTreeMap::new();
        let reading = (sources.out_of_domain, sources.skip_bad_rows);
        let own = match sources.schema {
            Some(name) => {
                let named = named_schema(name)?;
                sha256.insert("schema".to_owned(), named.sha256.clone());
                Some(match sources.out_of_domain {
                    Some(policy) => named.schema.with_policy(policy)?,
                    None => named.schema,
                })
            }
            None => None,
        };
        let own = own.map(|schema| schema.skipping_bad_rows(sources.skip_bad_rows));
        let model = match sources.label {
            true => None,
            false => {
                let model = TableModel::open(|| Ok(sources.model), sources.predictor, reading)?;
                sha256.insert("model".to_owned(), model.sha256()?);
                Some(model)
            }
        };
        let mut schema = match (own, &model) {
            (Some(schema), _) => schema,
            (None, Some(model)) => model.reading()?,
            (None, None) => return Err(FieldError::new("schema", "missing", "given").into()),
        };
        schema.format.ignore_other_columns = true;
        let label = match &model {
            Some(model) => &model.schema().label,
            None => &schema.label,
        };
        if label.is_number() {
            return Err(IndirectError::Numbers {
                label: label.name.clone(),
            });
        }
        let classes = label.classes.clone();
        let favourable = favourable_class(sources.favourable, &classes)?;
        let (decider, names) = match model {
            Some(model) => {
                let model = model.reading_as(&schema.format);
                let rule = sources.decision.alone();
                let rule = rule.among(&classes, favourable, Some(model.schema()))?;
                let names = rule.names(&classes);
                (Decider::Model(Box::new(model), rule), names)
            }
            None => (Decider::Label, classes),
        };
        let protected = protected_of(&schema, sources.protected)?;
        let compared = compared_of(&schema, &protected, sources.weights)?;
        Ok(Opened {
            is_favourable_given: sources.favourable.is_some(),
            schema,
            decider,
            names,
            favourable,
            compared,
            protected,
            sha256,
        })
    }

    /// Returns the schema of the people.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Returns the protected attributes, with the value that was named: `sex=female`.
    pub fn protected(&self) -> Vec<String> {
        let protected = self.protected.iter();
        let named = protected.map(|(groups, value)| match value {
            Some(value) => format!("{}={}", groups.name, groups.labels[*value as usize]),
            None => groups.name.clone(),
        });
        named.collect()
    }

    /// Returns the groups of each attribute of the people.
    ///
    /// # Errors
    /// When those of one cannot be told.
    pub fn attribute_groups(&self) -> Result<Vec<AttributeGroups>, IndirectError> {
        let attributes = self.schema.attributes.iter();
        let groups = attributes.map(|it| AttributeGroups::new(&self.schema, &it.name, &[]));
        Ok(groups.collect::<Result<_, _>>()?)
    }

    /// Reads the people in `file`, and what is decided about them on `device`.
    ///
    /// # Errors
    /// See [`IndirectError`].
    pub fn read(&self, file: &Path, device: &ComputeDevice) -> Result<People, IndirectError> {
        let labels = match self.decider {
            Decider::Model(..) => Labels::Optional,
            Decider::Label => Labels::Required,
        };
        self.read_with(file, device, labels)
    }

    /// Reads the people in `file` as [`Opened::read`] does, whatever is known of their outcomes: where
    /// one is missing that would be looked at, nothing is decided about anybody.
    ///
    /// # Errors
    /// See [`IndirectError`].
    pub fn read_whoever(
        &self,
        file: &Path,
        device: &ComputeDevice,
    ) -> Result<People, IndirectError> {
        self.read_with(file, device, Labels::Optional)
    }

    fn read_with(
        &self,
        file: &Path,
        device: &ComputeDevice,
        labels: Labels,
    ) -> Result<People, IndirectError> {
        let read = Table::read_with_numbers(file, &self.schema, labels)?;
        let (table, numbers) = read.value;
        let numbered = |table: &Table, row: usize| table.numbers().number(row);
        let (table, numbers, file_rows, decisions) = match &self.decider {
            Decider::Label => {
                let decisions = Decisions {
                    decided: table.labels().to_vec(),
                    scores: Vec::new(),
                    names: self.names.clone(),
                    favourable: self.favourable as u32,
                    is_favourable_given: self.is_favourable_given,
                };
                let file_rows = (0..table.rows()).map(|row| numbered(&table, row)).collect();
                (table, numbers, file_rows, decisions)
            }
            Decider::Model(model, rule) => {
                let seen = model.read(file, Labels::Optional)?.value;
                let (own, its) = common_rows(&table, &seen.table);
                let file_rows = own
                    .iter()
                    .map(|&row| numbered(&table, row as usize))
                    .collect();
                let counts = table.counts.clone();
                let is_whole = own.len() == table.rows();
                let mut table = if is_whole { table } else { table.select(&own) };
                if !is_whole {
                    let lost = counts.rows - own.len() as u64;
                    let skipped_rows = counts.skipped_rows + lost;
                    let rows = own.len() as u64;
                    table.counts = ReadCounts {
                        rows,
                        skipped_rows,
                        ..counts
                    };
                }
                let numbers = if is_whole {
                    numbers
                } else {
                    numbers.select(&own)
                };
                let seen = seen.select(&its);
                let said = model.say(&seen, device)?;
                let decisions = self.decided((&seen.table, &said.logits), rule);
                (table, numbers, file_rows, decisions)
            }
        };
        if table.rows() == 0 {
            return Err(IndirectError::NoRows {
                file: file.to_owned(),
            });
        }
        Ok(People {
            schema: self.schema.clone(),
            compared: self.compared.clone(),
            table,
            numbers,
            file_rows,
            decisions,
            sha256: read.sha256,
            file: file.to_owned(),
        })
    }

    fn decided(&self, (table, logits): (&Table, &[f32]), rule: &Decision) -> Decisions {
        let classes = logits.len().checked_div(table.rows()).unwrap_or(0).max(1);
        let answers = logits.chunks_exact(classes).enumerate();
        let (decided, scores) = answers
            .map(|(row, logits)| {
                let decided = rule.decide(table.row(row), logits);
                let score = probity_nn::decision::probability(logits, self.favourable);
                (decided, score)
            })
            .unzip();
        Decisions {
            decided,
            scores,
            names: self.names.clone(),
            favourable: self.favourable as u32,
            is_favourable_given: self.is_favourable_given,
        }
    }

    /// Returns the protected groups among `people`: each value that was named, or, of an attribute
    /// without one, each value that people have; and, where several values were named, those who
    /// have all of them.
    ///
    /// # Errors
    /// When a group that was named has no members, or all people are.
    pub fn groups(&self, people: &People) -> Result<Vec<ProtectedGroup>, IndirectError> {
        let table = &people.table;
        let mut groups = Vec::new();
        for (attribute, value) in &self.protected {
            let of_row: Vec<u32> = (0..table.rows())
                .map(|row| attribute.group(table.row(row)[attribute.position]))
                .collect();
            let values = match value {
                Some(value) => vec![*value],
                None => {
                    let mut present = of_row.clone();
                    present.sort_unstable();
                    present.dedup();
                    present
                }
            };
            if values.len() == 1 && (value.is_none() || of_row.iter().all(|it| *it == values[0])) {
                return Err(IndirectError::OneGroup {
                    attribute: attribute.name.clone(),
                    value: attribute.labels[values[0] as usize].clone(),
                });
            }
            for value in values {
                let is_member: Vec<bool> = of_row.iter().map(|it| *it == value).collect();
                let condition = Condition {
                    attribute: attribute.name.clone(),
                    value: attribute.labels[value as usize].clone(),
                };
                if !is_member.contains(&true) {
                    return Err(IndirectError::NoMembers {
                        attribute: condition.attribute,
                        value: condition.value,
                    });
                }
                groups.push(ProtectedGroup {
                    conditions: vec![condition],
                    is_member,
                });
            }
        }
        let is_named = self.protected.iter().all(|(_, value)| value.is_some());
        if is_named && groups.len() > 1 {
            let members = |row: usize| groups.iter().all(|group| group.is_member[row]);
            let is_member: Vec<bool> = (0..table.rows()).map(members).collect();
            if is_member.contains(&true) {
                let conditions = groups.iter().flat_map(|group| group.conditions.clone());
                groups.push(ProtectedGroup {
                    conditions: conditions.collect(),
                    is_member,
                });
            }
        }
        Ok(groups)
    }
}

/// The people of a table, with what was decided about them.
pub struct People {
    schema: Schema,
    compared: Vec<(usize, f64)>,
    /// Their rows, encoded by the schema of the people.
    pub table: Table,
    numbers: CellNumbers,
    /// The numbers of their rows in the file, from 1.
    file_rows: Vec<u64>,
    /// What was decided about them.
    pub decisions: Decisions,
    /// The SHA-256 of the file.
    pub sha256: String,
    file: PathBuf,
}

/// The mean and the standard deviation of the numbers of an attribute.
type Scale = (f64, f64);

impl People {
    /// Returns the number of people.
    pub fn rows(&self) -> usize {
        self.table.rows()
    }

    /// Returns how many of the people `rows` were decided unfavourably.
    pub fn decided(&self, rows: &[u32]) -> Decided {
        let is_unfavourable =
            |row: &&u32| self.decisions.decided[**row as usize] != self.decisions.favourable;
        let count = rows.iter().filter(is_unfavourable).count();
        Decided {
            people: rows.len() as u64,
            unfavourable: Share::new(count as u64, rows.len() as u64),
        }
    }

    /// Returns the number that the person `row` has in the file, from 1.
    pub fn file_row(&self, row: usize) -> u64 {
        self.file_rows[row]
    }

    /// Returns the names of the attributes that people are compared by.
    pub fn compared(&self) -> Vec<String> {
        let name = |&(place, _): &(usize, f64)| self.schema.attributes[place].name.clone();
        self.compared.iter().map(name).collect()
    }

    /// Returns the coordinates of the people, in standard deviations of their own.
    pub fn coordinates(&self) -> Coordinates {
        self.coordinates_by(self)
    }

    /// Returns the coordinates of the people, in standard deviations of `others`.
    pub fn coordinates_by(&self, others: &People) -> Coordinates {
        let columns = self.compared.iter().map(|&(place, weight)| {
            let scale = others.scale(place);
            let cells: Vec<Cell> = (0..self.rows())
                .map(|row| match self.number(place, row) {
                    Some(number) => Cell::Number((number - scale.0) / scale.1),
                    None => Cell::Level(self.table.row(row)[place]),
                })
                .collect();
            Column::new(&self.schema.attributes[place].name, weight, &cells)
        });
        Coordinates::new(columns.collect())
    }

    /// Returns the number that the person `row` has of the attribute at `place`, if it has an order
    /// and the value is one of it.
    fn number(&self, place: usize, row: usize) -> Option<f64> {
        let attribute = &self.schema.attributes[place];
        let code = self.table.row(row)[place];
        if !attribute.are_ordered(&[code]) {
            return None;
        }
        let column = self.numbers.places().iter().position(|it| *it == place);
        match (&attribute.kind, column) {
            (Kind::Numeric { .. }, Some(column)) => {
                let number = self.numbers.row(row)[column];
                // A value that was moved into the domain stands for an end of it.
                let number = if number.is_nan() {
                    attribute.decode(code).parse().ok()?
                } else {
                    number
                };
                Some(number)
            }
            _ => Some(f64::from(code)),
        }
    }

    fn scale(&self, place: usize) -> Scale {
        let numbers: Vec<f64> = (0..self.rows())
            .filter_map(|row| self.number(place, row))
            .collect();
        let count = numbers.len().max(1) as f64;
        let mean = numbers.iter().sum::<f64>() / count;
        let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
        let deviation = (squares / count).sqrt();
        // People who all have one number do not differ by it.
        (mean, if deviation > 0.0 { deviation } else { 1.0 })
    }

    /// Returns what the person `row` has of each attribute, in the words of the schema: all
    /// attributes, protected ones too.
    pub fn described(&self, row: usize) -> Vec<Condition> {
        let attributes = self.schema.attributes.iter().enumerate();
        let described = attributes.map(|(place, attribute)| Condition {
            attribute: attribute.name.clone(),
            value: match (&attribute.kind, self.number(place, row)) {
                (Kind::Numeric { .. }, Some(number)) => number.to_string(),
                _ => attribute.decode(self.table.row(row)[place]),
            },
        });
        described.collect()
    }

    /// Refuses `others` if they are not the same people in the same order, as many rows with the same
    /// numbers in their file, or nothing is decided about them.
    ///
    /// # Errors
    /// [`IndirectError::OtherPeople`]; [`IndirectError::Field`] where nothing is decided.
    pub fn expect_same_rows(&self, others: &People) -> Result<(), IndirectError> {
        if others.decisions.decided.len() != others.rows() {
            let expected = "a table with an outcome in every row";
            let field = FieldError::new("counterfactuals", others.file.display(), expected);
            return Err(field.into());
        }
        match self.file_rows == others.file_rows {
            true => Ok(()),
            false => Err(IndirectError::OtherPeople {
                file: others.file.clone(),
                rows: others.rows(),
                people: self.rows(),
            }),
        }
    }
}

/// Returns the places, in each of two tables, of the rows that both have.
fn common_rows(one: &Table, other: &Table) -> (Vec<u32>, Vec<u32>) {
    let pairs = (0..one.rows()).filter_map(|row| {
        let place = other.numbers().index_of(one.numbers().number(row))?;
        Some((row as u32, place as u32))
    });
    pairs.unzip()
}

/// Returns the number of the favourable class: the one that is named, else the last.
fn favourable_class(named: Option<&str>, classes: &[String]) -> Result<usize, FieldError> {
    match named {
        None => Ok(classes.len().saturating_sub(1)),
        Some(named) => {
            let place = classes.iter().position(|class| class == named);
            place.ok_or_else(|| {
                let expected = format!("one of the classes {}", classes.join(", "));
                FieldError::new("favourable", named, expected)
            })
        }
    }
}

/// Returns the groups of each of `named`, which are attributes or `ATTRIBUTE=VALUE`, with the value;
/// without any, those of the attributes that the schema marks.
fn protected_of(
    schema: &Schema,
    named: &[String],
) -> Result<Vec<(AttributeGroups, Option<u32>)>, IndirectError> {
    let named = protected_or_marked(named, schema);
    if named.is_empty() {
        return Err(IndirectError::NothingProtected);
    }
    let mut protected = Vec::new();
    for name in &named {
        let is_attribute = schema.attributes.iter().any(|it| it.name == *name);
        let (attribute, value) = match name.split_once('=') {
            Some((attribute, value)) if !is_attribute => (attribute.trim(), Some(value.trim())),
            _ => (name.as_str(), None),
        };
        let groups = AttributeGroups::new(schema, attribute, &[])?;
        let value = match value {
            None => None,
            Some(value) => {
                let place = groups.labels.iter().position(|label| label == value);
                let place = place.ok_or_else(|| {
                    let expected = format!("a value of {attribute}: {}", groups.labels.join(", "));
                    FieldError::new("protected", name, expected)
                })?;
                Some(place as u32)
            }
        };
        protected.push((groups, value));
    }
    Ok(protected)
}

/// Returns the attributes that people are compared by, with their weights: all that are not protected,
/// but for those of weight 0.
fn compared_of(
    schema: &Schema,
    protected: &[(AttributeGroups, Option<u32>)],
    weights: &[Weight],
) -> Result<Vec<(usize, f64)>, IndirectError> {
    let is_protected = |place: usize| {
        let named = protected.iter().any(|(groups, _)| groups.position == place);
        named || schema.attributes[place].protected
    };
    let mut compared = Vec::new();
    for weight in weights {
        let place = schema.index_of(&weight.attribute)?;
        if is_protected(place) {
            let expected = "an attribute that is not protected";
            return Err(FieldError::new("weights", &weight.attribute, expected).into());
        }
    }
    for (place, attribute) in schema.attributes.iter().enumerate() {
        let weight = weights.iter().find(|it| it.attribute == attribute.name);
        let weight = weight.map_or(1.0, |it| it.weight);
        if !is_protected(place) && weight > 0.0 {
            compared.push((place, weight));
        }
    }
    match compared.is_empty() {
        true => Err(IndirectError::NothingCompared),
        false => Ok(compared),
    }
}
