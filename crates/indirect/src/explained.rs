//! One person of a comparison: with whom they were compared, what was decided about these, and in what
//! they differ.
//!
//! ```text
//! run.toml ──► the comparison, opened again ──┐
//! pairs.csv or persons.csv ──► the person ────┴──► the people beside them, attribute by attribute
//! ```
//!
//! What a run found is read from its files, which must be as they were written, and what it read must be
//! as it was. The nearest people of a situation are looked for again: they stand in no file.

use std::path::{Path, PathBuf};

use serde::Serialize;
use thiserror::Error;

use crate::coordinates::{Cell, Coordinates};
use crate::counterparts::listing as pairs;
use crate::counterparts::run::{CounterpartTest, CounterpartsSpecification};
use crate::error::IndirectError;
use crate::people::{Condition, Counterfactuals, OpenedPeople, People, ProtectedGroup};
use crate::situations::listing as persons;
use crate::situations::run::{SituationTest, SituationsSpecification};
use probity_run::run_directory::{RUN, RunDirectory, RunError};
use probity_run::specification::file::{Record, SpecificationError, kind_of};
use probity_run::specification::{Checked, Specification};
use probity_tensor::device::ComputeDevice;

/// A reason why a person cannot be explained.
#[derive(Debug, Error)]
pub enum PersonError {
    /// The run cannot be opened.
    #[error("{0}")]
    Specification(#[from] SpecificationError),
    /// A file of the run cannot be read.
    #[error("{0}")]
    Run(#[from] RunError),
    /// What the run compared cannot be opened.
    #[error("{0}")]
    Indirect(#[from] IndirectError),
    /// The run is of another kind.
    #[error(
        "{} is a run of the kind '{kind}'; people are explained of runs of counterparts and of situations", run.display()
    )]
    OtherKind {
        /// The run.
        run: PathBuf,
        /// The kind of the run.
        kind: String,
    },
    /// Something is not as it was.
    #[error("the {role} of {} is not what it was: SHA-256 is {now}, and was {then}", run.display())]
    Changed {
        /// The run.
        run: PathBuf,
        /// What it is to the run.
        role: String,
        /// The hash now.
        now: String,
        /// The hash then.
        then: String,
    },
    /// The person is not among those who were compared.
    #[error("{} compared nobody of row {row}: there is no such row in the data, or it was left out", run.display())]
    NoRow {
        /// The run.
        run: PathBuf,
        /// The row.
        row: u64,
    },
    /// The person is in no group that was looked at.
    #[error("row {row} is in none of the groups that {} looked at; those outside of a group are shown beside its members", run.display())]
    NoMember {
        /// The run.
        run: PathBuf,
        /// The row.
        row: u64,
    },
    /// A file of the run is not one of these runs.
    #[error("{}: {problem}", file.display())]
    Torn {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
}

/// A person of a comparison, and those with whom they were compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExplainedPerson {
    /// Version of this layout.
    pub schema_version: u32,
    /// Always `explain`.
    pub command: String,
    /// The kind of the run: `counterparts` or `situations`.
    pub kind: String,
    /// The number of the row in the file, from 1.
    pub row: u64,
    /// The decision, or the number where numbers are compared.
    pub decision: String,
    /// The score, where scores are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The label, where its numbers are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<String>,
    /// Whether the counterparts were drawn, so that none of them is anybody of the data.
    pub are_drawn: bool,
    /// What the person has of each attribute.
    pub values: Vec<Condition>,
    /// The groups of which the person is a member.
    pub groups: Vec<PersonOfGroup>,
}

/// A person as a member of a group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PersonOfGroup {
    /// The conditions that all members meet.
    pub protected: Vec<Condition>,
    /// The conditions of those with whom they are compared, unless that is everybody else.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reference: Vec<Condition>,
    /// The tests of a situation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tests: Option<PersonTests>,
    /// What the person would have been, around whom the others of a situation were looked for: a counterfactual
    /// that was given, or a counterpart that was drawn.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub around: Vec<Condition>,
    /// The people beside whom the person was looked at: the counterparts, those who stand for most of
    /// the person first; of a situation the nearest members, then the nearest others, each from the
    /// nearest on. Where counterfactuals are given, these others are beside what the person would have been.
    pub people: Vec<PersonBeside>,
}

/// The tests of a person's situation, as the run has them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PersonTests {
    /// The share of unfavourable decisions among the nearest members, less that among the nearest others.
    pub difference: f64,
    /// The p-value of the test that members are decided unfavourably more often.
    pub against_p: f64,
    /// The least share of false discoveries at which this is one.
    pub against_q: f64,
    /// The p-value of the test of the other direction.
    pub for_p: f64,
    /// The least share of false discoveries at which this is one.
    pub for_q: f64,
}

/// Somebody beside whom a person was looked at.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PersonBeside {
    /// The number of the row in its file, from 1.
    pub row: u64,
    /// Whether they are in the group, too.
    pub is_member: bool,
    /// The decision, or the number where numbers are compared.
    pub decision: String,
    /// The score, where scores are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The part of the person that this counterpart stands for; not of situations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// The distance of the two.
    pub distance: f64,
    /// The attributes in which they differ, what makes most of the distance first.
    pub differs: Vec<Differing>,
}

/// An attribute in which two people differ.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Differing {
    /// The attribute.
    pub attribute: String,
    /// What the person has.
    pub own: String,
    /// What the other one has.
    pub other: String,
    /// The part of the distance; nothing where people are not compared by the attribute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance: Option<f64>,
}

/// Explains the person in the `row` of the data, from 1, of the comparison in the run directory `run`; a
/// model computes on `device`.
///
/// # Errors
/// When the run is no comparison of people, what it read has changed, or the person is in none of its
/// groups.
pub fn explain_person(
    run: &Path,
    row: u64,
    device: &ComputeDevice,
) -> Result<ExplainedPerson, PersonError> {
    let kind = kind_of(&RunDirectory::open(run)?.file(RUN))?;
    match kind.as_str() {
        CounterpartsSpecification::KIND => {
            let (directory, test, record) = opened(run, |it| CounterpartTest::open(it, device))?;
            let file = directory.unchanged(pairs::FILE)?;
            let person = Person::find(run, file, (test.opened(), &record), row)?;
            person.among_counterparts(&test)
        }
        SituationsSpecification::KIND => {
            let (directory, test, record) = opened(run, |it| SituationTest::open(it, device))?;
            let file = directory.unchanged(persons::FILE)?;
            let person = Person::find(run, file, (test.opened(), &record), row)?;
            person.among_neighbours(&test)
        }
        _ => Err(PersonError::OtherKind {
            run: run.to_owned(),
            kind,
        }),
    }
}

/// The test of the run in the directory `run`, opened again, and what the run had opened.
fn opened<S: Specification, T>(
    run: &Path,
    open: impl FnOnce(Checked<S>) -> Result<T, IndirectError>,
) -> Result<(RunDirectory, T, Record), PersonError> {
    let (directory, specification, record) = RunDirectory::open_specified::<S>(run)?;
    let specification = specification.check().map_err(IndirectError::from)?;
    Ok((directory, open(specification)?, record))
}

/// A person, and what the file of the run says of them.
struct Person {
    /// The file of the run.
    file: PathBuf,
    /// The number of the row in the data, from 1.
    row: u64,
    /// The place among the people who were read.
    place: u32,
    /// The records of the person, without those of others.
    records: Vec<csv::StringRecord>,
}

impl Person {
    /// Finds the person in the `row` of the data in a `file` of the `run`, which compared the people that
    /// are `opened` now.
    fn find(
        run: &Path,
        file: PathBuf,
        (opened, then): (&OpenedPeople, &Record),
        row: u64,
    ) -> Result<Person, PersonError> {
        if let Some(changed) = then.changed_since(&opened.record().sha256) {
            return Err(PersonError::Changed {
                run: run.to_owned(),
                role: changed.role.to_owned(),
                now: changed.now.to_owned(),
                then: changed.then.to_owned(),
            });
        }
        let torn = |error: csv::Error| PersonError::Torn {
            file: file.clone(),
            problem: error.to_string(),
        };
        let number = row.to_string();
        let mut records = Vec::new();
        for record in csv::Reader::from_path(&file).map_err(torn)?.into_records() {
            let record = record.map_err(torn)?;
            if record.get(1) == Some(&number) {
                records.push(record);
            }
        }
        let run = run.to_owned();
        match opened.people.place_of(row) {
            None => Err(PersonError::NoRow { run, row }),
            Some(_) if records.is_empty() => Err(PersonError::NoMember { run, row }),
            Some(place) => Ok(Person {
                file,
                row,
                place,
                records,
            }),
        }
    }

    fn explained(self, kind: &str, people: &People, groups: Vec<PersonOfGroup>) -> ExplainedPerson {
        let place = self.place as usize;
        ExplainedPerson {
            schema_version: 1,
            command: "explain".to_owned(),
            kind: kind.to_owned(),
            row: self.row,
            decision: people.decisions.name(place),
            score: None,
            number: people.decisions.number.clone(),
            are_drawn: false,
            values: people.described(place),
            groups,
        }
    }

    fn torn(&self, problem: &str) -> PersonError {
        PersonError::Torn {
            file: self.file.clone(),
            problem: problem.to_owned(),
        }
    }

    /// The number in the column at `place` of `record`.
    fn number(&self, record: &csv::StringRecord, place: usize) -> Result<f64, PersonError> {
        let number = record.get(place).and_then(|cell| cell.parse().ok());
        number.ok_or_else(|| self.torn("a number is missing"))
    }

    /// The records of the person in each of `groups`, by its number, in which there are any.
    fn by_group(&self, groups: &[ProtectedGroup]) -> Vec<(usize, Vec<&csv::StringRecord>)> {
        let of_group = |(place, group): (usize, &ProtectedGroup)| {
            let name = group.name();
            let name = probity_run::spreadsheet::safe(&name).into_owned();
            let records = self.records.iter();
            let records = records.filter(|record| record.get(0) == Some(&name));
            (place, records.collect::<Vec<_>>())
        };
        let all = groups.iter().enumerate().map(of_group);
        all.filter(|(_, records)| !records.is_empty()).collect()
    }

    fn among_counterparts(self, test: &CounterpartTest) -> Result<ExplainedPerson, PersonError> {
        let opened = test.opened();
        let score = |people: &People, place: u32| {
            let is_of_scores = test.is_of_scores();
            is_of_scores.then(|| people.decisions.scores[place as usize])
        };
        let beside = Beside::new(&opened.people, &opened.people, self.place);
        let mut groups = Vec::new();
        for (place, records) in self.by_group(&opened.groups) {
            let group = &opened.groups[place];
            let counterfactuals = opened.counterfactuals.of(place);
            let others = counterfactuals.unwrap_or(&opened.people);
            let coordinates = others.coordinates_by(&opened.people);
            let mut people = Vec::new();
            for record in records {
                let row = record.get(3).and_then(|cell| cell.parse().ok());
                let place = row.and_then(|row| others.place_of(row));
                let place = place.ok_or_else(|| self.torn("a counterpart is not in the data"))?;
                people.push(PersonBeside {
                    score: score(others, place),
                    share: Some(self.number(record, 5)?),
                    ..beside.person((others, &coordinates), place, false)
                });
            }
            people.sort_by(|a, b| b.share.unwrap_or(0.0).total_cmp(&a.share.unwrap_or(0.0)));
            groups.push(PersonOfGroup {
                protected: group.conditions.clone(),
                reference: group.reference.clone(),
                tests: None,
                around: Vec::new(),
                people,
            });
        }
        let score = score(&opened.people, self.place);
        let are_drawn = matches!(opened.counterfactuals, Counterfactuals::Drawn(_));
        Ok(ExplainedPerson {
            score,
            are_drawn,
            ..self.explained(CounterpartsSpecification::KIND, &opened.people, groups)
        })
    }

    fn among_neighbours(self, test: &SituationTest) -> Result<ExplainedPerson, PersonError> {
        let opened = test.opened();
        let coordinates = opened.people.coordinates();
        let beside = Beside::new(&opened.people, &opened.people, self.place);
        let mut groups = Vec::new();
        for (place, records) in self.by_group(&opened.groups) {
            let group = &opened.groups[place];
            let Some(record) = records.first() else {
                continue;
            };
            let number = |place| self.number(record, place);
            let tests = PersonTests {
                difference: number(9)?,
                against_p: number(10)?,
                against_q: number(11)?,
                for_p: number(13)?,
                for_q: number(14)?,
            };
            let mut people = Vec::new();
            // The others were looked for around what the person would have been.
            let counterfactuals = opened.counterfactuals.of(place);
            let centre = counterfactuals.unwrap_or(&opened.people);
            let around = Beside::new(centre, &opened.people, self.place);
            for (mut near, is_member) in test
                .neighbours(place, self.place)
                .into_iter()
                .zip([true, false])
            {
                near.sort_by(|a, b| a.distance.total_cmp(&b.distance).then(a.row.cmp(&b.row)));
                let beside = if is_member { &beside } else { &around };
                let near = near.into_iter();
                let others = (&opened.people, &coordinates);
                people.extend(near.map(|it| beside.person(others, it.row, is_member)));
            }
            groups.push(PersonOfGroup {
                protected: group.conditions.clone(),
                reference: group.reference.clone(),
                tests: Some(tests),
                around: counterfactuals
                    .map(|centre| centre.described(self.place as usize))
                    .unwrap_or_default(),
                people,
            });
        }
        let are_drawn = matches!(opened.counterfactuals, Counterfactuals::Drawn(_));
        Ok(ExplainedPerson {
            are_drawn,
            ..self.explained(SituationsSpecification::KIND, &opened.people, groups)
        })
    }
}

/// A person, or what they would have been, beside whom others are put.
struct Beside {
    /// What the person has of each attribute that is compared, and of all.
    cells: Vec<Cell>,
    values: Vec<Condition>,
}

impl Beside {
    /// Puts others beside the person at `place` of `centre`, who are the `people` or their counterfactuals.
    fn new(centre: &People, people: &People, place: u32) -> Beside {
        let place = place as usize;
        Beside {
            cells: centre.coordinates_by(people).person(place),
            values: centre.described(place),
        }
    }

    /// The person at `place` of `others`, who are the people or their counterfactuals, by their
    /// coordinates.
    fn person(
        &self,
        (others, coordinates): (&People, &Coordinates),
        place: u32,
        is_member: bool,
    ) -> PersonBeside {
        let other = place as usize;
        let parts = coordinates.parts(&self.cells, other);
        let parts: Vec<(&str, f64)> = coordinates
            .columns()
            .iter()
            .map(|column| column.name.as_str())
            .zip(parts)
            .collect();
        let pairs = self.values.iter().cloned().zip(others.described(other));
        let mut differs: Vec<Differing> = pairs
            .filter(|(own, other)| own.value != other.value)
            .map(|(own, other)| Differing {
                distance: parts
                    .iter()
                    .find(|(name, _)| *name == own.attribute)
                    .map(|(_, part)| *part),
                attribute: own.attribute,
                own: own.value,
                other: other.value,
            })
            .collect();
        // Stable: in the order of the schema where as much of the distance is theirs.
        let part = |it: &Differing| it.distance.unwrap_or(0.0);
        differs.sort_by(|a, b| part(b).total_cmp(&part(a)));
        PersonBeside {
            row: others.file_row(other),
            is_member,
            decision: others.decisions.name(other),
            score: None,
            share: None,
            distance: parts.iter().map(|(_, part)| part).sum(),
            differs,
        }
    }
}
