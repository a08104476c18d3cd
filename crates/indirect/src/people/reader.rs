//! The reader of people: the schema of the people, the source of decisions and the groups.

use std::collections::BTreeMap;
use std::path::Path;

use super::groups::{ProtectedAttribute, ProtectedGroup, groups_of};
use super::sources::{Sources, Weight};
use super::{Condition, Decisions, People};
use crate::error::IndirectError;
use probity_data::named_schema::named_schema;
use probity_data::numbers::place_of;
use probity_data::schema::Schema;
use probity_data::table::{Labels, ReadCounts, Table};
use probity_fairness::group::grouping::AttributeGroups;
use probity_fairness::population::Cell;
use probity_fairness::table_model::{Reading, TableModel};
use probity_nn::decision::{Decision, Score};
use probity_run::specification::FieldError;
use probity_tensor::device::ComputeDevice;

/// The source of decisions, opened.
enum Decider {
    /// A model, and its decision rule.
    Model(Box<TableModel>, Decision),
    /// The outcomes in the data.
    Label,
}

/// The reader of people: the schema, the source of decisions and the groups, checked before any table
/// is read.
pub struct PeopleReader {
    schema: Schema,
    decider: Decider,
    /// The label that is decided about, where it holds numbers.
    number: Option<String>,
    names: Vec<String>,
    favourable: usize,
    is_favourable_given: bool,
    /// The attributes that are compared, with their weights.
    compared: Vec<(usize, f64)>,
    protected: Vec<ProtectedAttribute>,
    /// The groups with which those of some attributes are compared, in place of everybody else.
    references: Vec<ProtectedAttribute>,
    /// The hashes of what was opened, by role.
    pub sha256: BTreeMap<String, String>,
}

impl PeopleReader {
    /// Opens the model that `sources` name, and checks what is asked of the people.
    ///
    /// # Errors
    /// See [`IndirectError`].
    pub fn new(sources: &Sources<'_>) -> Result<PeopleReader, IndirectError> {
        let mut sha256 = BTreeMap::new();
        let reading = Reading {
            policy: sources.out_of_domain,
            skips_bad_rows: sources.skip_bad_rows,
            ..Reading::default()
        };
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
        let number = label.is_number().then(|| label.name.clone());
        expect_fitting_gap(sources, number.as_deref())?;
        let classes = label.classes.clone();
        let favourable = favourable_class(sources.favourable, &classes)?;
        let (decider, names) = match model {
            Some(model) => {
                let model = model.reading_as(&schema.format);
                let rule = match number {
                    Some(_) => sources.decision.or_gap(sources.gap),
                    None => sources.decision.alone(),
                };
                let rule = rule.among(&classes, favourable, Some(model.schema()))?;
                let names = rule.names(&classes);
                (Decider::Model(Box::new(model), rule), names)
            }
            None => (Decider::Label, classes),
        };
        let is_of_model = sources.schema.is_none();
        let protected = ProtectedAttribute::all(&schema, sources.protected, is_of_model)?;
        let references = ProtectedAttribute::references(&schema, &protected, sources.reference)?;
        let compared = compared_of(&schema, &protected, sources.weights)?;
        Ok(PeopleReader {
            is_favourable_given: sources.favourable.is_some(),
            schema,
            decider,
            number,
            names,
            favourable,
            compared,
            protected,
            references,
            sha256,
        })
    }

    /// Returns the schema of the people.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Returns the protected attributes, with the value that was named: `sex=female`.
    pub fn protected(&self) -> Vec<String> {
        self.protected
            .iter()
            .map(ProtectedAttribute::named)
            .collect()
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

    /// Reads the people in `file`, and what is decided about them on `device`: outcomes matter where
    /// these are the decisions.
    ///
    /// # Errors
    /// See [`IndirectError`].
    pub fn read(&self, file: &Path, device: &ComputeDevice) -> Result<People, IndirectError> {
        let labels = match self.decider {
            Decider::Model(..) => Labels::Unneeded,
            Decider::Label => Labels::Required,
        };
        self.read_with(file, device, labels)
    }

    /// Reads the people in `file` as [`PeopleReader::read`] does, whatever is known of their outcomes: where
    /// one is missing that would be looked at, nothing is decided about anybody.
    ///
    /// # Errors
    /// See [`IndirectError`].
    pub fn read_whoever(
        &self,
        file: &Path,
        device: &ComputeDevice,
    ) -> Result<People, IndirectError> {
        let labels = match self.decider {
            Decider::Model(..) => Labels::Unneeded,
            Decider::Label => Labels::Optional,
        };
        self.read_with(file, device, labels)
    }

    /// Reads the people in `file` as [`PeopleReader::read_whoever`] does, for figures of those whose outcome
    /// is known, whoever decides: an outcome that the schema does not know is refused.
    ///
    /// # Errors
    /// See [`IndirectError`].
    pub fn read_with_outcomes(
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
        let mut remarks = Vec::new();
        let (table, numbers, file_rows, decisions) = match &self.decider {
            Decider::Label => {
                let decisions = Decisions {
                    decided: table.labels().to_vec(),
                    scores: table.targets().to_vec(),
                    number: self.number.clone(),
                    names: self.names.clone(),
                    favourable: self.favourable as u32,
                    is_favourable_given: self.is_favourable_given,
                };
                let file_rows = (0..table.rows()).map(|row| numbered(&table, row)).collect();
                (table, numbers, file_rows, decisions)
            }
            Decider::Model(model, rule) => {
                let seen = model.read(file, labels)?.value;
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
                remarks = said.remarks;
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
            remarks,
            sha256: read.sha256,
            file: file.to_owned(),
        })
    }

    fn decided(&self, (table, logits): (&Table, &[f32]), rule: &Decision) -> Decisions {
        let classes = logits.len().checked_div(table.rows()).unwrap_or(0).max(1);
        let answers = logits.chunks_exact(classes).enumerate();
        let score = match self.number {
            Some(_) => Score::Number,
            None => Score::Probability(self.favourable),
        };
        let (decided, scores) = answers
            .map(|(row, logits)| {
                let decided = rule.decide(table.row(row), logits);
                (decided, score.compute(logits))
            })
            .unzip();
        Decisions {
            decided,
            scores,
            number: self.number.clone(),
            names: self.names.clone(),
            favourable: self.favourable as u32,
            is_favourable_given: self.is_favourable_given,
        }
    }

    /// Returns the protected groups among `people`: each value that was named, or, of an attribute
    /// without one, each value that people have; and, where several values were named, those who
    /// have all of them. Each is compared with everybody else, or with the reference groups in turn.
    ///
    /// # Errors
    /// When a group that was named has no members, or all people are.
    pub fn groups(&self, people: &People) -> Result<Vec<ProtectedGroup>, IndirectError> {
        groups_of(&self.protected, &self.references, people)
    }

    /// Returns whether each of `people` meets all of `conditions` on protected attributes.
    pub fn meet(&self, conditions: &[Condition], people: &People) -> Vec<bool> {
        let rows = 0..people.rows();
        let cells = |row| people.table.row(row).iter().copied().enumerate();
        rows.map(|row| self.meets(conditions, &cells(row).collect::<Vec<Cell>>()))
            .collect()
    }

    /// Returns whether somebody with `cells`, one an attribute, meets all of `conditions` on protected
    /// attributes.
    pub(super) fn meets(&self, conditions: &[Condition], cells: &[Cell]) -> bool {
        conditions.iter().all(|condition| {
            let named = |it: &&ProtectedAttribute| it.groups.name == condition.attribute;
            let Some(ProtectedAttribute { groups, .. }) = self.protected.iter().find(named) else {
                return true;
            };
            let group = groups.group(cells[groups.position].1);
            groups.labels[group as usize] == condition.value
        })
    }

    /// Returns the places of the protected attributes that are looked at.
    pub(super) fn protected_places(&self) -> Vec<usize> {
        let protected = self.protected.iter();
        protected.map(|it| it.groups.position).collect()
    }

    /// Refuses a model that reads a column of which the schema of the people says nothing.
    pub(super) fn expect_all_described(&self) -> Result<(), IndirectError> {
        let Decider::Model(model, _) = &self.decider else {
            return Ok(());
        };
        let is_described = |name: &str| self.schema.attributes.iter().any(|own| own.name == name);
        let mut unknown = model.schema().attributes.iter();
        match unknown.find(|it| !is_described(&it.name)) {
            None => Ok(()),
            Some(attribute) => Err(IndirectError::Undescribed {
                attribute: attribute.name.clone(),
            }),
        }
    }

    /// Reads what was drawn of `people`, in their order, from the table `file`; outcomes in the data are
    /// those of the people themselves, since nobody decided about whom is drawn.
    pub(super) fn read_drawn(
        &self,
        file: &Path,
        people: &People,
        device: &ComputeDevice,
    ) -> Result<People, IndirectError> {
        let mut drawn = self.read_whoever(file, device)?;
        if drawn.rows() != people.rows() {
            return Err(IndirectError::OtherPeople {
                file: file.to_owned(),
                rows: drawn.rows(),
                people: people.rows(),
            });
        }
        drawn.file_rows.clone_from(&people.file_rows);
        if let Decider::Label = self.decider {
            drawn.decisions.clone_from(&people.decisions);
        }
        Ok(drawn)
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

/// Refuses a gap that has no meaning for what is decided: of numbers, those of the label `number`, there
/// must be one, in recorded classes there are no scores, and probabilities differ by no more than 1.
fn expect_fitting_gap(sources: &Sources<'_>, number: Option<&str>) -> Result<(), IndirectError> {
    let expected = match (number, sources.gap) {
        (Some(label), None) => {
            return Err(IndirectError::Numbers {
                label: label.to_owned(),
            });
        }
        (None, Some(_)) if sources.label => "left out: the outcomes in the data have no scores",
        (None, Some(gap)) if gap > 1.0 => "at most 1, since probabilities are compared",
        _ => return Ok(()),
    };
    let found = sources.gap.map_or_else(String::new, |gap| gap.to_string());
    Err(FieldError::new("gap", found, expected).into())
}

/// Returns the number of the favourable class: the one that is named, else the last.
fn favourable_class(named: Option<&str>, classes: &[String]) -> Result<usize, FieldError> {
    match named {
        None => Ok(classes.len().saturating_sub(1)),
        Some(named) => {
            let place = place_of(classes, named);
            place.ok_or_else(|| {
                let expected = format!("one of {}", classes.join(", "));
                FieldError::new("favourable", named, expected)
            })
        }
    }
}

/// Returns the attributes that people are compared by, with their weights: all that are not protected,
/// but for those of weight 0.
fn compared_of(
    schema: &Schema,
    protected: &[ProtectedAttribute],
    weights: &[Weight],
) -> Result<Vec<(usize, f64)>, IndirectError> {
    let is_protected = |place: usize| {
        let named = protected.iter().any(|it| it.groups.position == place);
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
