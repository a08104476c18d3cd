//! Situation testing as one call: people and decisions in, a summary out.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

use serde::Serialize;

use super::compare::{
    Counterfactual, Neighbourhood, Situation, SituationOptions, Subjects, Test, Tested, compare,
};
use super::listing;
pub use super::specification::SituationsSpecification;
use crate::error::IndirectError;
use crate::neighbours::Ties;
use crate::people::{Condition, Decided, Opened, People, ProtectedGroup};
use probity_data::table::ReadCounts;
use probity_fairness::record::record_of;
use probity_run::runner::{
    Failure, Observer, OpenedRun, Outcome, Progress, RunKind, Setting, Target, perform,
};
use probity_run::specification::Checked;
use probity_run::specification::file::Record;
use probity_tensor::device::ComputeDevice;

/// The largest number of people whom a summary tells of.
const LISTED: usize = 20;

/// The content of `summary.json` of a situation test.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SituationsSummary {
    /// Version of this layout.
    pub schema_version: u32,
    /// Always `situations`.
    pub command: String,
    /// Version that ran.
    pub probity_version: String,
    /// SHA-256 of the model, if decisions are a model's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_sha256: Option<String>,
    /// SHA-256 of the data file.
    pub data_sha256: String,
    /// SHA-256 of the file of counterfactuals, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counterfactuals_sha256: Option<String>,
    /// Counts of what reading the table changed or left out.
    pub data: ReadCounts,
    /// Whether the outcomes in the data are looked at, in place of a model's decisions.
    pub is_label: bool,
    /// The class that is good to get.
    pub favourable: String,
    /// Whether somebody said that it is.
    pub is_favourable_given: bool,
    /// The attributes by which people are compared.
    pub compared: Vec<String>,
    /// The number of neighbours on each side.
    pub k: u32,
    /// The test.
    pub test: Test,
    /// What happens to people as near as the k-th neighbour.
    pub ties: Ties,
    /// Whether people count among their own neighbours.
    pub centres: bool,
    /// The level of each test, and the share of false discoveries.
    pub level: f64,
    /// The largest share of a group that may be found, if somebody said one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_above: Option<f64>,
    /// Group by group.
    pub groups: Vec<GroupSituations>,
    /// The people who are discoveries in each of several groups alone, where several were named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub multiple: Option<Multiple>,
    /// The file of all members, if the run has a directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persons: Option<String>,
}

impl SituationsSummary {
    /// Returns whether no group has a larger share of members who are found to be discriminated
    /// against than was declared, if anything was.
    pub fn passes(&self) -> bool {
        let mut shares = self.groups.iter().map(|group| group.against.share);
        self.fail_above
            .is_none_or(|bound| shares.all(|share| share <= bound))
    }
}

/// What was found of one group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupSituations {
    /// The conditions that all members meet.
    pub protected: Vec<Condition>,
    /// The members, and how many of them were decided unfavourably.
    pub members: Decided,
    /// Everybody else.
    pub others: Decided,
    /// Mean share of unfavourable decisions among the nearest members, over members.
    pub own_share: f64,
    /// Mean share of unfavourable decisions among the nearest others, over members.
    pub others_share: f64,
    /// Mean distance of the nearest members, over members.
    pub own_distance: f64,
    /// Mean distance of the nearest others, over members.
    pub others_distance: f64,
    /// Members in whose situation the group is decided unfavourably more often.
    pub against: Direction,
    /// Members in whose situation others are.
    pub favouring: Direction,
    /// The members whom the tests are surest of, at most 20: first those against whom the difference
    /// is.
    pub persons: Vec<Person>,
}

/// What the tests of one direction found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Direction {
    /// Members in whose situation the shares differ at all.
    pub cases: u64,
    /// Members whose test finds a difference, as if there were no other test.
    pub significant: u64,
    /// Members who are discoveries among all tests.
    pub discoveries: u64,
    /// The share of discoveries among the members.
    pub share: f64,
    /// Discoveries who were themselves decided unfavourably (of those against whom the difference
    /// is), or favourably (of the others).
    pub of_own_decision: u64,
}

/// People who are discoveries in each of several groups.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Multiple {
    /// Members of all groups.
    pub members: u64,
    /// Those who are discoveries in each.
    pub discoveries: u64,
}

/// A member, and people like them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Person {
    /// The number of the row in the file, from 1.
    pub row: u64,
    /// The decision.
    pub decision: String,
    /// Whether the difference is against the group.
    pub is_against: bool,
    /// The nearest members.
    pub own: Neighbourhood,
    /// The nearest others.
    pub others: Neighbourhood,
    /// The share of unfavourable decisions among members, less that among others.
    pub difference: f64,
    /// The p-value of the test.
    pub p: f64,
    /// The least share of false discoveries at which this is one.
    pub q: f64,
    /// What the person has of each attribute.
    pub values: Vec<Condition>,
    /// The nearest of the others, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<NearestOther>,
}

/// The nearest of the others.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NearestOther {
    /// The number of the row in the file, from 1.
    pub row: u64,
    /// The decision.
    pub decision: String,
    /// What they have of each attribute.
    pub values: Vec<Condition>,
}

/// A situation test whose inputs are opened and checked.
pub struct SituationTest {
    specification: SituationsSpecification,
    record: Record,
    people: People,
    counterfactual: Option<People>,
    groups: Vec<ProtectedGroup>,
}

impl SituationTest {
    /// Opens and checks what `specification` names, for decisions of a model on `device`.
    ///
    /// # Errors
    /// See [`IndirectError`].
    pub fn open(
        specification: Checked<SituationsSpecification>,
        device: &ComputeDevice,
    ) -> Result<SituationTest, IndirectError> {
        let mut specification = specification.into_inner();
        let opened = Opened::new(&specification.sources())?;
        let people = opened.read(&specification.data, device)?;
        let groups = opened.groups(&people)?;
        for group in &groups {
            expect_enough(group, specification.k)?;
        }
        let counterfactual = match &specification.counterfactuals {
            None => None,
            Some(file) => {
                // Everybody may be decided alike then.
                let others = opened.read_whoever(file, device)?;
                people.expect_same_rows(&others)?;
                Some(others)
            }
        };
        specification.protected = opened.protected();
        let mut sha256 = opened.sha256;
        sha256.insert("data".to_owned(), people.sha256.clone());
        if let Some(counterfactual) = &counterfactual {
            let hash = counterfactual.sha256.clone();
            sha256.insert("counterfactuals".to_owned(), hash);
        }
        Ok(SituationTest {
            record: record_of(device, &sha256),
            specification,
            people,
            counterfactual,
            groups,
        })
    }

    /// Compares the members of every group with people like them; `watch` gets the steps that are done
    /// and all of them, and breaks to stop.
    ///
    /// # Errors
    /// When it is stopped.
    pub fn situations(
        &self,
        watch: &(dyn Fn(u64, u64) -> ControlFlow<()> + Sync),
    ) -> Result<Vec<Vec<Situation>>, IndirectError> {
        let coordinates = self.people.coordinates();
        let unfavourable = self.people.decisions.unfavourable();
        let counterfactual = self.counterfactual.as_ref().map(|others| {
            let coordinates = others.coordinates_by(&self.people);
            (coordinates, others.decisions.unfavourable())
        });
        let members = |group: &ProtectedGroup| group.rows(true).len() as u64;
        let all: u64 = self.groups.iter().map(members).sum();
        let mut before = 0;
        let mut found = Vec::new();
        for group in &self.groups {
            let subjects = Subjects {
                people: &coordinates,
                unfavourable: &unfavourable,
                members: &group.is_member,
                counterfactual: counterfactual.as_ref().map(|(coordinates, unfavourable)| {
                    Counterfactual {
                        coordinates,
                        unfavourable,
                    }
                }),
            };
            let options = self.specification.options();
            found.push(compare(&subjects, &options, &|done, _| {
                watch(before + done, all)
            })?);
            before += members(group);
        }
        Ok(found)
    }

    /// Returns the summary of `found`, the situations of each group; `persons` is the file of them.
    pub fn summary(&self, found: &[Vec<Situation>], persons: Option<&str>) -> SituationsSummary {
        let specification = &self.specification;
        let SituationOptions {
            k,
            test,
            ties,
            centres,
            level,
        } = specification.options();
        let hash = |role: &str| {
            let hash = self.record.sha256_of(role);
            (!hash.is_empty()).then(|| hash.to_owned())
        };
        let decisions = &self.people.decisions;
        let groups = self.groups.iter().zip(found);
        SituationsSummary {
            schema_version: 1,
            command: "situations".to_owned(),
            probity_version: env!("CARGO_PKG_VERSION").to_owned(),
            model_sha256: hash("model"),
            data_sha256: self.people.sha256.clone(),
            counterfactuals_sha256: hash("counterfactuals"),
            data: self.people.table.counts.clone(),
            is_label: specification.label,
            favourable: decisions.favourable_name().to_owned(),
            is_favourable_given: decisions.is_favourable_given,
            compared: self.people.compared(),
            k,
            test,
            ties,
            centres,
            level,
            fail_above: specification.fail_above,
            groups: groups
                .map(|(group, found)| self.group(group, found))
                .collect(),
            multiple: self.multiple(found),
            persons: persons.map(str::to_owned),
        }
    }

    fn group(&self, group: &ProtectedGroup, found: &[Situation]) -> GroupSituations {
        let decisions = &self.people.decisions;
        let unfavourable = decisions.unfavourable();
        let decided = |members: bool| self.people.decided(&group.rows(members));
        let mean = |share: fn(&Situation) -> f64| {
            found.iter().map(share).sum::<f64>() / found.len().max(1) as f64
        };
        let direction = |side: fn(&Situation) -> &Tested, is_against: bool| {
            let count = |is: &dyn Fn(&Situation) -> bool| {
                found.iter().filter(|situation| is(situation)).count() as u64
            };
            let discoveries = count(&|it| side(it).is_discovery);
            Direction {
                cases: count(&|it| side(it).is_case),
                significant: count(&|it| side(it).is_significant),
                discoveries,
                share: discoveries as f64 / found.len().max(1) as f64,
                of_own_decision: count(&|it| {
                    side(it).is_discovery && unfavourable[it.row as usize] == is_against
                }),
            }
        };
        GroupSituations {
            protected: group.conditions.clone(),
            members: decided(true),
            others: decided(false),
            own_share: mean(|it| it.own.share()),
            others_share: mean(|it| it.others.share()),
            own_distance: mean(|it| it.own.distance),
            others_distance: mean(|it| it.others.distance),
            against: direction(|it| &it.negative, true),
            favouring: direction(|it| &it.positive, false),
            persons: self.persons(found),
        }
    }

    /// The members whom the tests are surest of: discoveries against the group first, those who were
    /// decided unfavourably before all others, then discoveries in its favour.
    fn persons(&self, found: &[Situation]) -> Vec<Person> {
        let unfavourable = self.people.decisions.unfavourable();
        let listed = |side: fn(&Situation) -> &Tested, is_against: bool, most: usize| {
            let of_side = found.iter().filter(|it| side(it).is_discovery);
            let mut of_side: Vec<&Situation> = of_side.collect();
            of_side.sort_by(|a, b| {
                let is_own = |it: &Situation| unfavourable[it.row as usize] != is_against;
                let by_decision = is_own(a).cmp(&is_own(b));
                let by_p = side(a).p.total_cmp(&side(b).p);
                let by_size = b.difference.abs().total_cmp(&a.difference.abs());
                by_decision.then(by_p).then(by_size).then(a.row.cmp(&b.row))
            });
            of_side.truncate(most);
            let persons = of_side.into_iter();
            let persons = persons.map(|it| self.person(it, side(it), is_against));
            persons.collect::<Vec<Person>>()
        };
        let mut persons = listed(|it| &it.negative, true, LISTED);
        let left = LISTED - persons.len();
        persons.extend(listed(|it| &it.positive, false, left));
        persons
    }

    fn person(&self, situation: &Situation, tested: &Tested, is_against: bool) -> Person {
        let row = situation.row as usize;
        let decision = |row: usize| self.people.decisions.name(row).to_owned();
        let nearest = situation.others.nearest.map(|other| {
            let other = other as usize;
            NearestOther {
                row: self.people.file_row(other),
                decision: decision(other),
                values: self.people.described(other),
            }
        });
        Person {
            row: self.people.file_row(row),
            decision: decision(row),
            is_against,
            own: situation.own,
            others: situation.others,
            difference: situation.difference,
            p: tested.p,
            q: tested.q,
            values: self.people.described(row),
            nearest,
        }
    }

    /// The members of all groups that were named who are discoveries in each of them alone.
    fn multiple(&self, found: &[Vec<Situation>]) -> Option<Multiple> {
        let (both, _) = self.groups.split_last()?;
        if both.conditions.len() < 2 {
            return None;
        }
        let singles = found.len() - 1;
        let is_found = |row: u32, found: &Vec<Situation>| {
            let place = found.binary_search_by_key(&row, |it| it.row);
            place.is_ok_and(|place| found[place].negative.is_discovery)
        };
        let members = both.rows(true);
        let discoveries = members
            .iter()
            .filter(|&&row| found[..singles].iter().all(|found| is_found(row, found)));
        Some(Multiple {
            discoveries: discoveries.count() as u64,
            members: members.len() as u64,
        })
    }
}

/// Refuses a group that has too few people, or leaves too few.
fn expect_enough(group: &ProtectedGroup, k: u32) -> Result<(), IndirectError> {
    let conditions = group.conditions.iter();
    let named: Vec<String> = conditions
        .map(|it| format!("{} = {}", it.attribute, it.value))
        .collect();
    let named = named.join(" and ");
    for (members, group_name, needed) in [
        (true, format!("the group {named}"), k as usize + 1),
        (false, format!("whoever is not {named}"), k as usize),
    ] {
        let people = group.rows(members).len();
        if people < needed {
            return Err(IndirectError::TooFew {
                group: group_name,
                people,
                k,
            });
        }
    }
    Ok(())
}

impl RunKind for SituationsSpecification {
    const DIRECTORY: Option<&'static str> = None;

    fn perform(
        specification: Checked<Self>,
        setting: Setting<'_>,
    ) -> Result<Outcome<String>, Failure> {
        let device = specification.predictor.device(setting.device)?;
        let test = SituationTest::open(specification, &device)?;
        perform(test, setting)?.written()
    }
}

impl OpenedRun for SituationTest {
    type Kind = SituationsSpecification;
    type Summary = SituationsSummary;

    fn whole(self, target: Target<'_>, observer: &dyn Observer) -> Result<Self::Summary, Failure> {
        // The observer is told one thing at a time.
        let observed = Mutex::new(());
        let found = self.situations(&|done, all| {
            let _turn = observed.lock();
            if observer.stop().load(Ordering::Relaxed) {
                return ControlFlow::Break(());
            }
            observer.observe(Progress::new("compare", (done, all), &String::new))
        })?;
        let Some(directory) = target.directory() else {
            return Ok(self.summary(&found, None));
        };
        let summary = self.summary(&found, Some(listing::FILE));
        let groups = self.groups.iter().map(|group| group.conditions.clone());
        let groups: Vec<(Vec<Condition>, Vec<Situation>)> = groups.zip(found).collect();
        listing::write(&directory.file(listing::FILE), &self.people, &groups)?;
        directory.write_whole(&self.specification, &self.record, &summary)?;
        Ok(summary)
    }
}
