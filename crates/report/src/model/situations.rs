//! What a situation test found.

use serde::{Deserialize, Serialize};

use super::figures::ReadCounts;
use super::population::CountedRows;

/// A run of `probity situations`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SituationsFindings {
    /// SHA-256 of the data file.
    pub data_sha256: String,
    /// Counts of what reading the table changed or left out.
    pub data: Option<ReadCounts>,
    /// SHA-256 of the file of counterfactuals, if there is one.
    pub counterfactuals_sha256: Option<String>,
    /// How the counterparts around whom the others are looked for were drawn, if they were.
    pub drawn: Option<DrawnCounterparts>,
    /// Whether the outcomes in the data are looked at, in place of a model's decisions.
    pub is_label: bool,
    /// The class that is good to get.
    pub favourable: String,
    /// Whether somebody said that it is.
    pub is_favourable_given: bool,
    /// The attributes by which people are compared.
    pub compared: Vec<String>,
    /// The number of neighbours on each side.
    pub k: u64,
    /// The name of the test.
    pub test: String,
    /// Whether people count among their own neighbours.
    pub centres: bool,
    /// The level of each test, and the share of false discoveries.
    pub level: f64,
    /// The smallest p-value that the exact test can give with no more than k neighbours on either side.
    pub least_p: Option<f64>,
    /// The largest share of a group that may be found, if somebody said one.
    pub fail_above: Option<f64>,
    /// Group by group.
    pub groups: Vec<SituationsOfGroup>,
    /// The groups that were left out.
    #[serde(default)]
    pub left_out: Vec<GroupLeftOut>,
    /// People who are discoveries in each of several groups alone.
    pub multiple: Option<MultipleSituations>,
    /// The file of all members.
    pub persons: Option<String>,
}

/// How counterparts were drawn from the density of those with whom people are compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DrawnCounterparts {
    /// The attributes that were declared unaffected by the group.
    pub unaffected: Vec<String>,
    /// The seed.
    pub seed: u64,
}

/// Counterparts who were drawn for the members of a group, beside real people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DrawnForGroup {
    /// Members of whom something that is kept, each attribute by itself, nobody on the other side has.
    pub unmet: u64,
    /// What the counterparts get on average, or the others around them: the share of them who are decided
    /// unfavourably, or their mean score or number.
    pub mean: f64,
    /// The number of attributes that the counterparts have from the members.
    pub kept: Option<u64>,
    /// The number of attributes that were drawn.
    pub drawn: Option<u64>,
    /// The others who are nearest to the members in what is kept.
    pub nearest: NearbyPeople,
}

/// The others who are nearest to the members in what is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NearbyPeople {
    /// The number of them for each member, with those as near as the last of them.
    pub people: u64,
    /// The mean distance of them in what is kept.
    pub distance: f64,
    /// What they get on average.
    pub mean: f64,
}

/// What was found of one group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SituationsOfGroup {
    /// The conditions that all members meet.
    pub protected: Vec<PersonValue>,
    /// The conditions of those with whom they are compared; none where that is everybody else.
    #[serde(default)]
    pub reference: Vec<PersonValue>,
    /// The members.
    pub members: DecidedPeople,
    /// The people with whom the members are compared.
    pub others: DecidedPeople,
    /// The number of people of whom it is not known whether they are members; they are on neither side.
    #[serde(default)]
    pub unknown: u64,
    /// Mean share of unfavourable decisions among the nearest members.
    pub own_share: f64,
    /// Mean share of unfavourable decisions among the nearest others.
    pub others_share: f64,
    /// The counterparts around whom the others are looked for beside real people, where they are drawn.
    pub drawn: Option<DrawnForGroup>,
    /// Mean distance of the nearest members.
    pub own_distance: f64,
    /// Mean distance of the nearest others.
    pub others_distance: f64,
    /// Members in whose situation the group is decided unfavourably more often.
    pub against: SituationsOneWay,
    /// Members in whose situation others are.
    pub favouring: SituationsOneWay,
    /// The members whom the tests are surest of.
    pub persons: Vec<PersonInSituation>,
}

/// A group that was left out, since it or whoever is not in it has too few people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupLeftOut {
    /// The conditions that all members meet.
    pub protected: Vec<PersonValue>,
    /// The conditions of those with whom they would have been compared; none where that is everybody
    /// else.
    #[serde(default)]
    pub reference: Vec<PersonValue>,
    /// The number of members.
    pub members: u64,
    /// The number of those with whom they would have been compared.
    pub others: u64,
}

/// A value that a person has of an attribute.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PersonValue {
    /// The attribute.
    pub attribute: String,
    /// The value.
    pub value: String,
}

/// People, and how many of them were decided unfavourably.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DecidedPeople {
    /// The number of people.
    pub people: u64,
    /// The people who were decided unfavourably.
    pub unfavourable: CountedRows,
}

/// What the tests of one direction found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SituationsOneWay {
    /// Members in whose situation the shares differ at all.
    pub cases: u64,
    /// Members whose test finds a difference, as if there were no other test.
    pub significant: u64,
    /// Members who are discoveries among all tests.
    pub discoveries: u64,
    /// The share of discoveries among the members.
    pub share: f64,
    /// Discoveries whose own decision goes the same way.
    pub of_own_decision: u64,
}

/// People who are discoveries in each of several groups.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MultipleSituations {
    /// Members of all groups.
    pub members: u64,
    /// The members who are discoveries in each of the groups.
    pub discoveries: u64,
}

/// The people around a person, of one side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PeopleAround {
    /// The number of those who were decided unfavourably.
    pub unfavourable: u64,
    /// The number of all.
    pub of: u64,
}

/// A member, and people like them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PersonInSituation {
    /// The number of the row in the file, from 1.
    pub row: u64,
    /// The decision.
    pub decision: String,
    /// Whether the difference is against the group.
    pub is_against: bool,
    /// The nearest members.
    pub own: PeopleAround,
    /// The nearest others.
    pub others: PeopleAround,
    /// The share of unfavourable decisions among members, less that among others.
    pub difference: f64,
    /// The p-value of the test.
    pub p: f64,
    /// The least share of false discoveries at which this is one.
    pub q: f64,
    /// What the person has of each attribute.
    pub values: Vec<PersonValue>,
    /// The nearest of the others, if there is one.
    pub nearest: Option<PersonNearby>,
}

/// The nearest of the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PersonNearby {
    /// The number of the row in the file, from 1.
    pub row: u64,
    /// The decision.
    pub decision: String,
    /// What they have of each attribute.
    pub values: Vec<PersonValue>,
    /// The ranks of the person and of them among all people, attribute by attribute, where it has an order.
    #[serde(default)]
    pub ranks: Vec<Option<[f64; 2]>>,
}
