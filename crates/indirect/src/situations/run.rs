//! Situation testing as one call: people and decisions in, a summary out.

use std::ops::{ControlFlow, Range};
use std::path::Path;

use serde::Serialize;

use super::compare::{
    Counterfactual, Neighbourhood, Situation, SituationOptions, Subjects, Surroundings, Test,
    Tested, judge, neighbours, surroundings,
};
use super::listing;
pub use super::specification::SituationsSpecification;
use crate::coordinates::Coordinates;
use crate::error::IndirectError;
use crate::neighbours::{Neighbour, Ties};
use crate::people::{
    Condition, Decided, Drawn, DrawnForGroup, LeftOut, OpenedPeople, PeopleReader, ProtectedGroup,
    Ranks,
};
use probity_data::table::ReadCounts;
use probity_run::run_directory::{RunDirectory, RunError};
use probity_run::runner::{
    Failure, Merged, Observer, OpenedRun, Outcome, RunKind, Setting, Target, perform, watched,
};
use probity_run::shards::{Items, Shard, ShardFolder, Worked, merged, work};
use probity_run::specification::Checked;
use probity_run::specification::file::Record;
use probity_tensor::device::ComputeDevice;

/// The largest number of people whom a summary tells of.
const LISTED: usize = 20;

/// The name of the phase in which people are looked for around members.
const PHASE: &str = "compare";

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
    /// Whom the others are looked for around, unless it is the person or a counterfactual that is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drawn: Option<Drawn>,
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
    /// The smallest p-value that the exact test can give if no more than k neighbours are on either side.
    pub least_p: f64,
    /// The largest share of a group that may be found, if somebody said one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_above: Option<f64>,
    /// Group by group.
    pub groups: Vec<GroupSituations>,
    /// The groups that were left out, since they or whoever is not in them are too few.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
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
    /// The conditions of those with whom they are compared, unless that is everybody else.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reference: Vec<Condition>,
    /// The members, and how many of them were decided unfavourably.
    pub members: Decided,
    /// The people with whom they are compared, and how many of them were decided unfavourably.
    pub others: Decided,
    /// The number of people of whom it is not known whether they are members; they are on neither side.
    pub unknown: u64,
    /// Mean share of unfavourable decisions among the nearest members, over members.
    pub own_share: f64,
    /// Mean share of unfavourable decisions among the nearest others, over members.
    pub others_share: f64,
    /// The counterparts around whom the others are looked for beside real people, where they are drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drawn: Option<DrawnForGroup>,
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
    /// The number of these who are discoveries in each.
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
    /// The ranks of the person and of them among all people, attribute by attribute; none where it has no
    /// order.
    pub ranks: Vec<Option<[f64; 2]>>,
}

/// The people as they are compared for a group.
struct Compared {
    people: Coordinates,
    unfavourable: Vec<bool>,
    /// What they would have been, and whether they would have been decided unfavourably.
    counterfactual: Option<(Coordinates, Vec<bool>)>,
}

impl Compared {
    fn new(opened: &OpenedPeople, group: usize) -> Compared {
        let counterfactual = opened.counterfactuals.of(group).map(|others| {
            let coordinates = others.coordinates_by(&opened.people);
            (coordinates, others.decisions.unfavourable())
        });
        Compared {
            people: opened.people.coordinates(),
            unfavourable: opened.people.decisions.unfavourable(),
            counterfactual,
        }
    }

    fn subjects<'a>(&'a self, group: &'a ProtectedGroup) -> Subjects<'a> {
        let counterfactual = self.counterfactual.as_ref();
        let counterfactual = counterfactual.map(|(coordinates, unfavourable)| Counterfactual {
            coordinates,
            unfavourable,
        });
        Subjects {
            people: &self.people,
            unfavourable: &self.unfavourable,
            group,
            counterfactual,
        }
    }
}

/// A situation test whose inputs are opened and checked.
pub struct SituationTest {
    specification: SituationsSpecification,
    opened: OpenedPeople,
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
        let reader = PeopleReader::new(&specification.sources())?;
        let counterfactuals = specification.counterfactuals.as_deref();
        let opened = OpenedPeople::read(&reader, &specification.data, counterfactuals, device)?;
        // A person is not among their own neighbours.
        let k = specification.k as usize;
        let opened = opened.with_enough([k + 1, k], |group, people| IndirectError::TooFew {
            group,
            people,
            k: specification.k,
        })?;
        let opened = match specification.drawing() {
            Some(drawing) => opened.with_drawn(&reader, drawing, device)?,
            None => opened,
        };
        specification.protected.clone_from(&opened.protected);
        Ok(SituationTest {
            specification,
            opened,
        })
    }

    /// Returns the people who are compared.
    pub fn opened(&self) -> &OpenedPeople {
        &self.opened
    }

    /// Returns the people nearest to the member `row` of the group number `group`: members, and those with
    /// whom members are compared.
    pub fn neighbours(&self, group: usize, row: u32) -> [Vec<Neighbour>; 2] {
        let compared = Compared::new(&self.opened, group);
        neighbours(
            &compared.subjects(&self.opened.groups[group]),
            &self.specification.options(),
            row,
        )
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
        Ok(self.judged(&self.surroundings(0..self.members(), watch)?))
    }

    /// Returns how many members all groups have together.
    fn members(&self) -> u64 {
        let groups = self.opened.groups.iter();
        groups.map(|group| group.members.len() as u64).sum()
    }

    /// Returns who is around each of `members`, whose numbers go through all groups; `watch` as in
    /// [`Self::situations`].
    fn surroundings(
        &self,
        members: Range<u64>,
        watch: &(dyn Fn(u64, u64) -> ControlFlow<()> + Sync),
    ) -> Result<Vec<Surroundings>, IndirectError> {
        let (mut found, mut begins) = (Vec::new(), 0);
        for (place, group) in self.opened.groups.iter().enumerate() {
            let ends = begins + group.members.len() as u64;
            let [from, to] = [members.start, members.end]
                .map(|number| (number.clamp(begins, ends) - begins) as usize);
            begins = ends;
            if from == to {
                continue;
            }
            let compared = Compared::new(&self.opened, place);
            let before = found.len() as u64;
            found.extend(surroundings(
                &compared.subjects(group),
                &self.specification.options(),
                from..to,
                &|done, _| watch(before + done, members.end - members.start),
            )?);
        }
        Ok(found)
    }

    /// Tests the situations of the members of every group, by who is around all of them.
    fn judged(&self, mut found: &[Surroundings]) -> Vec<Vec<Situation>> {
        let options = self.specification.options();
        let groups = self.opened.groups.iter();
        let judged = groups.map(|group| {
            let (own, others) = found.split_at(group.members.len().min(found.len()));
            found = others;
            judge(&group.members, own, &options)
        });
        judged.collect()
    }

    /// Writes `found` to `directory`, if there is one, and returns the summary.
    fn write(
        &self,
        directory: Option<&RunDirectory>,
        found: Vec<Vec<Situation>>,
    ) -> Result<SituationsSummary, Failure> {
        let Some(directory) = directory else {
            return Ok(self.summary(&found, None));
        };
        let summary = self.summary(&found, Some(listing::FILE));
        let groups = self.opened.groups.iter().map(ProtectedGroup::name);
        let groups: Vec<(String, Vec<Situation>)> = groups.zip(found).collect();
        listing::write(&directory.file(listing::FILE), &self.opened.people, &groups)?;
        self.opened.write_drawn(directory)?;
        directory.write_whole(&self.specification, self.opened.record(), &summary)?;
        Ok(summary)
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
        let decisions = &self.opened.people.decisions;
        let ranks = Ranks::new(&self.opened.people);
        let groups = found.iter().enumerate();
        SituationsSummary {
            schema_version: 1,
            command: "situations".to_owned(),
            probity_version: env!("CARGO_PKG_VERSION").to_owned(),
            model_sha256: self.opened.sha256_of("model"),
            data_sha256: self.opened.people.sha256.clone(),
            counterfactuals_sha256: self.opened.sha256_of("counterfactuals"),
            drawn: specification.drawing().map(Drawn::from),
            data: self.opened.people.table.counts.clone(),
            is_label: specification.label,
            favourable: decisions.favourable_name().to_owned(),
            is_favourable_given: decisions.is_favourable_given,
            compared: self.opened.people.compared(),
            k,
            test,
            ties,
            centres,
            level,
            least_p: specification
                .options()
                .least_p(!self.opened.counterfactuals.are_none()),
            fail_above: specification.fail_above,
            groups: groups
                .map(|(place, found)| self.group(place, found, &ranks))
                .collect(),
            left_out: self.opened.left_out.clone(),
            multiple: self.multiple(found),
            persons: persons.map(str::to_owned),
        }
    }

    fn group(&self, place: usize, found: &[Situation], ranks: &Ranks<'_>) -> GroupSituations {
        let group = &self.opened.groups[place];
        let decisions = &self.opened.people.decisions;
        let unfavourable = decisions.unfavourable();
        let mean = |share: fn(&Situation) -> f64| {
            found.iter().map(share).sum::<f64>() / found.len().max(1) as f64
        };
        let others_share = mean(|it| it.around.others.share());
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
            reference: group.reference.clone(),
            members: self.opened.people.decided(&group.members),
            others: self.opened.people.decided(&group.others),
            unknown: group.unknown.len() as u64,
            own_share: mean(|it| it.around.own.share()),
            others_share,
            drawn: self
                .opened
                .drawn_for(place, others_share, &decisions.outcomes(false)),
            own_distance: mean(|it| it.around.own.distance),
            others_distance: mean(|it| it.around.others.distance),
            against: direction(|it| &it.negative, true),
            favouring: direction(|it| &it.positive, false),
            persons: self.persons(found, ranks),
        }
    }

    /// The members whom the tests are surest of: discoveries against the group first, those who were
    /// decided unfavourably before all others, then discoveries in its favour.
    fn persons(&self, found: &[Situation], ranks: &Ranks<'_>) -> Vec<Person> {
        let unfavourable = self.opened.people.decisions.unfavourable();
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
            let persons = persons.map(|it| self.person(it, (side(it), is_against), ranks));
            persons.collect::<Vec<Person>>()
        };
        let mut persons = listed(|it| &it.negative, true, LISTED);
        let left = LISTED - persons.len();
        persons.extend(listed(|it| &it.positive, false, left));
        persons
    }

    fn person(
        &self,
        situation: &Situation,
        (tested, is_against): (&Tested, bool),
        ranks: &Ranks<'_>,
    ) -> Person {
        let row = situation.row as usize;
        let decision = |row: usize| self.opened.people.decisions.name(row);
        let nearest = situation.around.nearest.map(|other| {
            let other = other as usize;
            NearestOther {
                row: self.opened.people.file_row(other),
                decision: decision(other),
                values: self.opened.people.described(other),
                ranks: ranks.of_both(row, &self.opened.people, other),
            }
        });
        Person {
            row: self.opened.people.file_row(row),
            decision: decision(row),
            is_against,
            own: situation.around.own,
            others: situation.around.others,
            difference: situation.difference,
            p: tested.p,
            q: tested.q,
            values: self.opened.people.described(row),
            nearest,
        }
    }

    /// The members of all groups that were named who are discoveries in each of them alone.
    fn multiple(&self, found: &[Vec<Situation>]) -> Option<Multiple> {
        let (both, _) = self.opened.groups.split_last()?;
        if both.conditions.len() < 2 {
            return None;
        }
        let singles = found.len() - 1;
        let is_found = |row: u32, found: &Vec<Situation>| {
            let place = found.binary_search_by_key(&row, |it| it.row);
            place.is_ok_and(|place| found[place].negative.is_discovery)
        };
        let discoveries = both
            .members
            .iter()
            .filter(|&&row| found[..singles].iter().all(|found| is_found(row, found)));
        Some(Multiple {
            discoveries: discoveries.count() as u64,
            members: both.members.len() as u64,
        })
    }
}

impl RunKind for SituationsSpecification {
    const DIRECTORY: Option<&'static str> = None;
    const IS_DIVISIBLE: bool = true;

    fn perform(
        specification: Checked<Self>,
        setting: Setting<'_>,
    ) -> Result<Outcome<String>, Failure> {
        let device = specification.predictor.device(setting.device)?;
        let test = SituationTest::open(specification, &device)?;
        perform(test, setting)?.written()
    }
}

/// The members of a situation test, as items of shards: a test of each is corrected for all of them once
/// they are put together.
struct Members<'a> {
    test: &'a SituationTest,
    observer: &'a dyn Observer,
}

impl Items for Members<'_> {
    type Item = Surroundings;
    type Error = IndirectError;

    fn count(&self) -> u64 {
        self.test.members()
    }

    fn perform(
        &mut self,
        items: Range<u64>,
        done: &mut dyn FnMut(Surroundings),
    ) -> Result<bool, IndirectError> {
        let watch = watched(self.observer, PHASE);
        match self.test.surroundings(items, &watch) {
            Err(IndirectError::Interrupted) => Ok(false),
            found => {
                found?.into_iter().for_each(done);
                Ok(true)
            }
        }
    }
}

impl OpenedRun for SituationTest {
    type Kind = SituationsSpecification;
    type Summary = SituationsSummary;

    fn record(&self) -> Option<&Record> {
        Some(self.opened.record())
    }

    fn remark(&self, observer: &dyn Observer) {
        self.opened.remark_to(observer);
    }

    fn whole(self, target: Target<'_>, observer: &dyn Observer) -> Result<Self::Summary, Failure> {
        let found = self.situations(&watched(observer, PHASE))?;
        self.write(target.directory(), found)
    }

    fn folder(&self, path: &Path) -> Result<ShardFolder, Failure> {
        let mut named = self.specification.clone();
        named.predictor = named.predictor.for_all_processes();
        Ok(ShardFolder::for_run(path, &named, self.opened.record())?)
    }

    fn work(
        &self,
        folder: &ShardFolder,
        shard: Shard,
        observer: &dyn Observer,
    ) -> Result<Worked, Failure> {
        let test = self;
        work(&mut Members { test, observer }, folder, shard)
    }

    fn merge(
        &self,
        folder: &ShardFolder,
        directory: &mut dyn FnMut() -> Result<RunDirectory, Failure>,
        observer: &dyn Observer,
    ) -> Result<Merged<Self::Summary>, Failure> {
        let test = self;
        let found = merged(&Members { test, observer }, folder)?;
        let found = found.collect::<Result<Vec<Surroundings>, RunError>>()?;
        let summary = self.write(Some(&directory()?), self.judged(&found))?;
        Ok(Merged::Complete(summary))
    }
}
