//! A test by counterparts as one call: people and decisions in, a summary out.

use std::ops::ControlFlow;

use serde::Serialize;

use super::flips::{
    Comparison, Direction, Flip, Outcomes, direction, main_pairs, mcnemar, pairs_worth, rates,
};
use super::listing::{self, GroupPairs};
use super::matching::{Matching, Pair, Quality, given, matched};
use super::resampling::{Halves, Spread, Spreads, interval};
pub use super::specification::CounterpartsSpecification;
use crate::coordinates::Coordinates;
use crate::error::IndirectError;
use crate::people::{
    Condition, Drawn, DrawnForGroup, OpenedPeople, People, PeopleReader, ProtectedGroup, Ranks,
};
use probity_data::table::ReadCounts;
use probity_fairness::statistics::Share;
use probity_nn::decision::{Gap, Score};
use probity_run::runner::{
    Failure, Observer, OpenedRun, Outcome, RunKind, Setting, Target, perform, watched,
};
use probity_run::specification::Checked;
use probity_run::specification::file::Record;
use probity_tensor::device::ComputeDevice;

/// The largest number of people, and of subgroups, whom a summary tells of.
const LISTED: usize = 20;

/// The number of pairs of people beyond which a matching may be a little longer than the best one.
const MANY: usize = 50_000_000;

/// How much longer it may then be.
const MATCHING_GAP: f64 = 0.01;

/// The largest number of pairs of people of whom some are matched: some twenty times those that take two
/// minutes in docs/benchmarks.md.
const MOST: usize = 10_000_000_000;

/// The number of pairs of people up to which halves are matched, where nobody says how many, and how
/// many halves these are.
const FEW: usize = 1_000_000;
const HALVES: u32 = 100;

/// The content of `summary.json` of a test by counterparts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CounterpartsSummary {
    /// Version of this layout.
    pub schema_version: u32,
    /// Always `counterparts`.
    pub command: String,
    /// Version that ran.
    pub probity_version: String,
    /// SHA-256 of the model, if decisions are a model's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_sha256: Option<String>,
    /// SHA-256 of the data file.
    pub data_sha256: String,
    /// SHA-256 of the file of counterfactuals, if counterparts were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counterfactuals_sha256: Option<String>,
    /// How the counterparts were drawn, if they were.
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
    /// The label whose numbers are compared, where they are numbers; `favourable` says whether `lower` or
    /// `higher` ones are good to get.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<String>,
    /// By how much scores or numbers must differ to be told apart, where these are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<f64>,
    /// The attributes by which people are compared.
    pub compared: Vec<String>,
    /// The largest share of a group that may be decided worse, if somebody said one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_above: Option<f64>,
    /// Group by group.
    pub groups: Vec<GroupCounterparts>,
    /// The file of all pairs, if the run has a directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairs: Option<String>,
}

impl CounterpartsSummary {
    /// Returns whether no group has a larger share of members who are decided worse than their
    /// counterparts than was declared, if anything was.
    pub fn passes(&self) -> bool {
        let mut shares = self.groups.iter().map(|group| group.against.share);
        self.fail_above
            .is_none_or(|bound| shares.all(|share| share <= bound))
    }
}

/// What was found of one group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupCounterparts {
    /// The conditions that all members meet.
    pub protected: Vec<Condition>,
    /// The conditions of those with whom they are matched, unless that is everybody else.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reference: Vec<Condition>,
    /// The members.
    pub members: Side,
    /// The people with whom they are matched.
    pub others: Side,
    /// The number of people of whom it is not known whether they are members; they are on neither side.
    pub unknown: u64,
    /// How good the matching is.
    pub matching: Quality,
    /// The number of halves of the people that were matched again for the intervals; 0 where there
    /// are none, or counterparts are given.
    pub halves: u32,
    /// Members who are decided worse than their counterparts.
    pub against: Direction,
    /// Members who are decided better.
    pub favouring: Direction,
    /// The test of whether the two differ; nothing where scores of matched people are compared, or
    /// counterparts are drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Comparison>,
    /// The counterparts beside real people, where they are drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drawn: Option<DrawnForGroup>,
    /// Kinds of members, those with the most who are decided worse first, at most 20.
    pub subgroups: Vec<Subgroup>,
    /// Members who are decided worse than their counterpart, the nearest pairs first, at most 20.
    pub persons: Vec<Person>,
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Side {
    /// The number of people.
    pub people: u64,
    /// The people decided unfavourably, where anything is decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfavourable: Option<Share>,
    /// The mean of their numbers, where they get numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
}

impl Side {
    /// Creates the side of the people `rows`.
    fn new(people: &People, rows: &[u32]) -> Side {
        let mean = people.mean_number(rows);
        Side {
            people: rows.len() as u64,
            unfavourable: mean.is_none().then(|| people.decided(rows).unfavourable),
            mean,
        }
    }
}

/// The members with one value of an attribute.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Subgroup {
    /// The value.
    #[serde(flatten)]
    pub condition: Condition,
    /// The number of members.
    pub members: u64,
    /// The number of these who are decided worse than their counterpart.
    pub against: u64,
    /// Their share.
    pub share: f64,
}

/// A member beside the counterpart.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Person {
    /// The number of the row in the file, from 1.
    pub row: u64,
    /// The decision.
    pub decision: String,
    /// What the person has of each attribute.
    pub values: Vec<Condition>,
    /// The number of the counterpart's row in its file, from 1.
    pub counterpart_row: u64,
    /// The decision about the counterpart.
    pub counterpart_decision: String,
    /// The scores of both, where scores are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scores: Option<[f64; 2]>,
    /// What the counterpart has of each attribute.
    pub counterpart_values: Vec<Condition>,
    /// The ranks of both among all people, attribute by attribute; none where it has no order.
    pub ranks: Vec<Option<[f64; 2]>>,
    /// The distance of the two.
    pub distance: f64,
}

/// What the matching of a group gave.
#[derive(Debug, Clone, PartialEq)]
pub struct MatchedGroup {
    /// The matching.
    pub matching: Matching,
    /// What the shares are over halves of the people, where halves were matched.
    pub spreads: Option<Spreads>,
}

/// Returns the number of pairs of a member and another of `group`.
fn pairs_of(group: &ProtectedGroup) -> usize {
    group.members.len() * group.others.len()
}

/// Refuses groups of more pairs of people than can be matched in a bounded time.
fn expect_matchable(groups: &[ProtectedGroup]) -> Result<(), IndirectError> {
    let too_large = groups.iter().find(|group| pairs_of(group) > MOST);
    too_large.map_or(Ok(()), |group| {
        Err(IndirectError::TooManyPairs {
            group: group.name(),
            members: group.members.len(),
            others: group.others.len(),
            most: MOST,
        })
    })
}

/// A test by counterparts whose inputs are opened and checked.
pub struct CounterpartTest {
    specification: CounterpartsSpecification,
    opened: OpenedPeople,
    /// The groups of each attribute by which subgroups are made.
    attributes: Vec<probity_fairness::group::grouping::AttributeGroups>,
}

impl CounterpartTest {
    /// Opens and checks what `specification` names, for decisions of a model on `device`.
    ///
    /// # Errors
    /// See [`IndirectError`].
    pub fn open(
        specification: Checked<CounterpartsSpecification>,
        device: &ComputeDevice,
    ) -> Result<CounterpartTest, IndirectError> {
        let mut specification = specification.into_inner();
        let reader = PeopleReader::new(&specification.sources())?;
        let counterfactuals = specification.counterfactuals.as_deref();
        let opened = OpenedPeople::read(&reader, &specification.data, counterfactuals, device)?;
        let opened = match specification.drawing() {
            Some(drawing) => opened.with_drawn(&reader, drawing, device)?,
            None => opened,
        };
        if opened.counterfactuals.are_none() {
            expect_matchable(&opened.groups)?;
        }
        specification.protected.clone_from(&opened.protected);
        Ok(CounterpartTest {
            specification,
            opened,
            attributes: reader.attribute_groups()?,
        })
    }

    /// Returns whether scores of the favourable class are compared, in place of decisions.
    pub fn is_of_scores(&self) -> bool {
        self.specification.gap.is_some() && self.opened.people.decisions.number.is_none()
    }

    /// Returns the people who are compared.
    pub fn opened(&self) -> &OpenedPeople {
        &self.opened
    }

    /// The people who are the counterparts of the group number `group`.
    fn counterparts(&self, group: usize) -> &People {
        let counterfactuals = self.opened.counterfactuals.of(group);
        counterfactuals.unwrap_or(&self.opened.people)
    }

    /// Matches the members of every group with their counterparts, and halves of them for the
    /// intervals; `watch` gets how many matchings are done and all of them, and breaks to stop.
    ///
    /// # Errors
    /// When it is stopped.
    pub fn matchings(
        &self,
        watch: &(dyn Fn(u64, u64) -> ControlFlow<()> + Sync),
    ) -> Result<Vec<MatchedGroup>, IndirectError> {
        let people = self.opened.people.coordinates();
        let groups = &self.opened.groups;
        let all = groups.iter().map(|group| 1 + u64::from(self.halves(group)));
        let all: u64 = all.sum();
        let (mut before, mut found) = (0, Vec::new());
        for (place, group) in groups.iter().enumerate() {
            if let Some(counterfactual) = self.opened.counterfactuals.of(place) {
                let counterfactual = counterfactual.coordinates_by(&self.opened.people);
                found.push(MatchedGroup {
                    matching: given(&people, &counterfactual, group),
                    spreads: None,
                });
                continue;
            }
            let gets = self.gets_of_both(place);
            let outcomes = self.outcomes(&gets);
            let gap = self.gap(group);
            let matching = matched(&people, group, gap, &|| watch(before, all))?;
            before += 1;
            let halves = Halves {
                halves: self.halves(group),
                seed: self.specification.seed,
                place: place as u64,
                gap,
            };
            let watch_halves = |done: u64| watch(before + done, all);
            let spreads = halves.spreads(&people, group, &outcomes, &watch_halves)?;
            before += u64::from(halves.halves);
            found.push(MatchedGroup { matching, spreads });
        }
        Ok(found)
    }

    /// How far the matching of `group` may be from the best one, as a share of it.
    fn gap(&self, group: &ProtectedGroup) -> f64 {
        let usual = match pairs_of(group) > MANY {
            true => MATCHING_GAP,
            false => 0.0,
        };
        self.specification.matching_gap.unwrap_or(usual)
    }

    /// The number of halves of `group` that are matched for the intervals.
    fn halves(&self, group: &ProtectedGroup) -> u32 {
        if !self.opened.counterfactuals.are_none() {
            return 0;
        }
        let usual = if pairs_of(group) > FEW { 0 } else { HALVES };
        self.specification.resamples.unwrap_or(usual)
    }

    /// What each person gets.
    fn gets(&self, people: &People) -> Vec<f64> {
        people.decisions.gets(self.specification.gap.is_some())
    }

    /// What each person gets, and what each counterpart of the group number `group`.
    fn gets_of_both(&self, group: usize) -> [Vec<f64>; 2] {
        [
            self.gets(&self.opened.people),
            self.gets(self.counterparts(group)),
        ]
    }

    /// Returns the rows of the members of the group number `group` who are decided worse than the
    /// counterpart that they are matched with for the most part.
    pub fn worse_off(&self, group: usize, matching: &Matching) -> Vec<u32> {
        let gets = self.gets_of_both(group);
        let outcomes = self.outcomes(&gets);
        let main = main_pairs(&matching.pairs).into_iter();
        let worse = main.filter(|pair| outcomes.flip(pair) == Some(Flip::Against));
        worse.map(|pair| pair.member).collect()
    }

    /// Returns the summary of `matchings`, one a group; `pairs` is the file of them.
    pub fn summary(&self, matchings: &[MatchedGroup], pairs: Option<&str>) -> CounterpartsSummary {
        let decisions = &self.opened.people.decisions;
        let coordinates = self.opened.people.coordinates();
        let ranks = Ranks::new(&self.opened.people);
        let groups = matchings.iter().enumerate();
        CounterpartsSummary {
            schema_version: 1,
            command: "counterparts".to_owned(),
            probity_version: env!("CARGO_PKG_VERSION").to_owned(),
            model_sha256: self.opened.sha256_of("model"),
            data_sha256: self.opened.people.sha256.clone(),
            counterfactuals_sha256: self.opened.sha256_of("counterfactuals"),
            drawn: self.specification.drawing().map(Drawn::from),
            data: self.opened.people.table.counts.clone(),
            is_label: self.specification.label,
            favourable: decisions.favourable_name().to_owned(),
            is_favourable_given: decisions.is_favourable_given,
            number: decisions.number.clone(),
            gap: self.specification.gap,
            compared: self.opened.people.compared(),
            fail_above: self.specification.fail_above,
            groups: groups
                .map(|(group, matching)| self.group(group, matching, (&coordinates, &ranks)))
                .collect(),
            pairs: pairs.map(str::to_owned),
        }
    }

    fn outcomes<'a>(&self, [people, counterparts]: &'a [Vec<f64>; 2]) -> Outcomes<'a> {
        Outcomes {
            people,
            counterparts,
            gap: self.specification.gap.map_or(0.5, |most| {
                let score = match self.opened.people.decisions.number {
                    Some(_) => Score::Number,
                    None => Score::Probability(0),
                };
                Gap { score, most }.with_rounding()
            }),
        }
    }

    fn group(
        &self,
        place: usize,
        found: &MatchedGroup,
        (people, ranks): (&Coordinates, &Ranks<'_>),
    ) -> GroupCounterparts {
        let group = &self.opened.groups[place];
        let counterfactuals = self.opened.counterfactuals.of(place);
        let counterparts = counterfactuals.map(|it| it.coordinates_by(&self.opened.people));
        let both = (people, counterparts.as_ref().unwrap_or(people));
        let gets = self.gets_of_both(place);
        let outcomes = &self.outcomes(&gets);
        let pairs = &found.matching.pairs;
        let side = |rows: &[u32]| Side::new(&self.opened.people, rows);
        let (members, others) = (side(&group.members), side(&group.others));
        let is_given = counterfactuals.is_some();
        let is_drawn = self.specification.drawing().is_some();
        let way = |flip, spread: fn(&Spreads) -> Spread| {
            let spread = found.spreads.as_ref().map(spread);
            let direction = direction(pairs, outcomes, both, flip);
            let people = match (is_given, is_drawn) {
                (_, true) => (pairs_worth(members.people, others.people) as u64).max(1),
                (true, false) => members.people,
                (false, false) => members.people.min(others.people),
            };
            let ci95 =
                (is_given || spread.is_some()).then(|| interval(direction.share, people, spread));
            Direction { ci95, ..direction }
        };
        let against = way(Flip::Against, |it| it.against);
        let favouring = way(Flip::Favouring, |it| it.favouring);
        let comparison = match (counterfactuals, self.specification.gap) {
            (Some(_), _) if is_drawn => None,
            (Some(_), _) => Some(mcnemar(against.members, favouring.members)),
            (None, None) => {
                let counts = |it: &Side| Some([it.unfavourable?.count as u32, it.people as u32]);
                let both = counts(&members).zip(counts(&others));
                both.map(|(members, others)| rates(members, others))
            }
            // Scores have no rates.
            (None, Some(_)) => None,
        };
        let main = main_pairs(pairs);
        GroupCounterparts {
            protected: group.conditions.clone(),
            reference: group.reference.clone(),
            members,
            others,
            unknown: group.unknown.len() as u64,
            matching: found.matching.quality,
            halves: match found.spreads {
                Some(_) => self.halves(group),
                None => 0,
            },
            comparison,
            drawn: self.drawn_for(place),
            subgroups: self.subgroups(&main, outcomes),
            persons: self.persons(place, &main, (outcomes, ranks)),
            against,
            favouring,
        }
    }

    /// The counterparts of the group number `group` beside real people, where they are drawn.
    fn drawn_for(&self, group: usize) -> Option<DrawnForGroup> {
        let outcomes =
            |people: &People| people.decisions.outcomes(self.specification.gap.is_some());
        let drawn = outcomes(self.counterparts(group));
        let members = &self.opened.groups[group].members;
        let sum: f64 = members.iter().map(|&row| drawn[row as usize]).sum();
        let mean = sum / members.len().max(1) as f64;
        self.opened
            .drawn_for(group, mean, &outcomes(&self.opened.people))
    }

    /// Kinds of members by each attribute that is not one of the group's own.
    fn subgroups(&self, main: &[Pair], outcomes: &Outcomes<'_>) -> Vec<Subgroup> {
        let mut subgroups = Vec::new();
        for attribute in &self.attributes {
            let mut counts = vec![[0_u64; 2]; attribute.labels.len()];
            for pair in main {
                let row = self.opened.people.table.row(pair.member as usize);
                let count = &mut counts[attribute.group(row[attribute.position]) as usize];
                count[0] += 1;
                count[1] += u64::from(outcomes.flip(pair) == Some(Flip::Against));
            }
            if counts.iter().filter(|count| count[0] > 0).count() < 2 {
                continue;
            }
            let named = attribute.labels.iter().zip(counts);
            let named = named.filter(|(_, [_, against])| *against > 0);
            subgroups.extend(named.map(|(label, [members, against])| Subgroup {
                condition: Condition {
                    attribute: attribute.name.clone(),
                    value: label.clone(),
                },
                members,
                against,
                share: against as f64 / members as f64,
            }));
        }
        // Stable: by attribute and value where as many are decided worse.
        subgroups.sort_by_key(|subgroup| std::cmp::Reverse(subgroup.against));
        subgroups.truncate(LISTED);
        subgroups
    }

    fn persons(
        &self,
        group: usize,
        main: &[Pair],
        (outcomes, ranks): (&Outcomes<'_>, &Ranks<'_>),
    ) -> Vec<Person> {
        let flipped = main
            .iter()
            .filter(|pair| outcomes.flip(pair) == Some(Flip::Against));
        let mut flipped: Vec<&Pair> = flipped.collect();
        flipped.sort_by(|a, b| {
            let by_distance = a.distance.total_cmp(&b.distance);
            by_distance.then(a.member.cmp(&b.member))
        });
        flipped.truncate(LISTED);
        let counterparts = self.counterparts(group);
        let persons = flipped.into_iter().map(|pair| {
            let (member, counterpart) = (pair.member as usize, pair.counterpart as usize);
            Person {
                row: self.opened.people.file_row(member),
                decision: self.opened.people.decisions.name(member),
                values: self.opened.people.described(member),
                counterpart_row: counterparts.file_row(counterpart),
                counterpart_decision: counterparts.decisions.name(counterpart),
                scores: self.is_of_scores().then(|| {
                    let own = self.opened.people.decisions.scores[member];
                    [own, counterparts.decisions.scores[counterpart]]
                }),
                counterpart_values: counterparts.described(counterpart),
                ranks: ranks.of_both(member, counterparts, counterpart),
                distance: pair.distance,
            }
        });
        persons.collect()
    }
}

impl RunKind for CounterpartsSpecification {
    const DIRECTORY: Option<&'static str> = None;

    fn perform(
        specification: Checked<Self>,
        setting: Setting<'_>,
    ) -> Result<Outcome<String>, Failure> {
        let device = specification.predictor.device(setting.device)?;
        let test = CounterpartTest::open(specification, &device)?;
        perform(test, setting)?.written()
    }
}

impl OpenedRun for CounterpartTest {
    type Kind = CounterpartsSpecification;
    type Summary = CounterpartsSummary;

    fn record(&self) -> Option<&Record> {
        Some(self.opened.record())
    }

    fn remark(&self, observer: &dyn Observer) {
        self.opened.remark_to(observer);
    }

    fn whole(self, target: Target<'_>, observer: &dyn Observer) -> Result<Self::Summary, Failure> {
        let matchings = self.matchings(&watched(observer, "match"))?;
        let Some(directory) = target.directory() else {
            return Ok(self.summary(&matchings, None));
        };
        let summary = self.summary(&matchings, Some(listing::FILE));
        let gets: Vec<[Vec<f64>; 2]> = (0..matchings.len())
            .map(|group| self.gets_of_both(group))
            .collect();
        let groups = self.opened.groups.iter().zip(&matchings).enumerate();
        let groups = groups.map(|(place, (group, found))| GroupPairs {
            name: group.name(),
            pairs: &found.matching.pairs,
            counterparts: self.counterparts(place),
            outcomes: self.outcomes(&gets[place]),
        });
        listing::write(
            &directory.file(listing::FILE),
            &self.opened.people,
            &groups.collect::<Vec<_>>(),
        )?;
        self.opened.write_drawn(directory)?;
        directory.write_whole(&self.specification, self.opened.record(), &summary)?;
        Ok(summary)
    }
}
