//! The protected groups among people.

use serde::Serialize;

use super::{Condition, People, named};
use crate::error::IndirectError;
use probity_data::numbers::place_of;
use probity_data::schema::Schema;
use probity_data::schema::SchemaError;
use probity_fairness::group::GroupError;
use probity_fairness::group::grouping::AttributeGroups;
use probity_fairness::opened::protected_or_marked;
use probity_run::specification::FieldError;

/// The people who meet some conditions, and those with whom they are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct ProtectedGroup {
    /// The conditions, all of which the members meet.
    pub conditions: Vec<Condition>,
    /// The conditions that those meet with whom the members are compared; none where these are
    /// everybody else.
    pub reference: Vec<Condition>,
    /// The rows of the members, which ascend.
    pub members: Vec<u32>,
    /// The rows of those with whom they are compared, which ascend.
    pub others: Vec<u32>,
    /// The rows of those of whom it is not known whether they are members, which ascend: the data do not
    /// say their value. They are on neither side.
    pub unknown: Vec<u32>,
    /// Whether it was asked for by name, rather than being one of the groups of an attribute.
    pub is_named: bool,
}

impl ProtectedGroup {
    /// Creates the group of those of whom `is_member` says that they are members, beside everybody
    /// else.
    pub fn new(conditions: Vec<Condition>, is_member: &[bool], is_named: bool) -> ProtectedGroup {
        let rows = |wanted: bool| {
            let rows = is_member.iter().zip(0..);
            rows.filter(|(is_member, _)| **is_member == wanted)
                .map(|(_, row)| row)
                .collect()
        };
        ProtectedGroup {
            conditions,
            reference: Vec::new(),
            members: rows(true),
            others: rows(false),
            unknown: Vec::new(),
            is_named,
        }
    }

    /// Returns the group without the people in the rows `unknown`, which ascend, on the other side.
    #[must_use]
    pub fn without(mut self, unknown: Vec<u32>) -> ProtectedGroup {
        self.others
            .retain(|row| unknown.binary_search(row).is_err());
        self.unknown = unknown;
        self
    }

    /// Returns whether each of `people` people is a member.
    pub fn is_member(&self, people: usize) -> Vec<bool> {
        let mut is_member = vec![false; people];
        for &row in &self.members {
            is_member[row as usize] = true;
        }
        is_member
    }

    /// Returns `race=black`, or `race=black beside race=white` where it is compared with that group
    /// alone.
    pub fn name(&self) -> String {
        match self.reference.is_empty() {
            true => named(&self.conditions),
            false => format!(
                "{} beside {}",
                named(&self.conditions),
                named(&self.reference)
            ),
        }
    }
}

/// A group of an attribute that is left out, since it or whoever is not in it has too few people.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LeftOut {
    /// The conditions that all members meet.
    pub protected: Vec<Condition>,
    /// The conditions of those with whom they would have been compared, unless that is everybody else.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reference: Vec<Condition>,
    /// The number of members.
    pub members: u64,
    /// The number of those with whom they would have been compared.
    pub others: u64,
}

/// Leaves out the groups with fewer than `members` people, or with fewer than `others` beside them.
///
/// # Errors
/// The first of these as `error` words it, by the name of the side that is too small and its number
/// of people, where the group was asked for by name or no group is left.
pub fn with_enough<E>(
    groups: Vec<ProtectedGroup>,
    [members, others]: [usize; 2],
    error: impl Fn(String, usize) -> E,
) -> Result<(Vec<ProtectedGroup>, Vec<LeftOut>), E> {
    let (mut enough, mut left_out, mut first) = (Vec::new(), Vec::new(), None);
    for group in groups {
        let sides = [group.members.len(), group.others.len()];
        let name = named(&group.conditions);
        let small = if sides[0] < members {
            error(format!("the group {name}"), sides[0])
        } else if sides[1] < others {
            let reference = match group.reference.is_empty() {
                true => format!("whoever is not {name}"),
                false => format!("the group {}", named(&group.reference)),
            };
            error(reference, sides[1])
        } else {
            enough.push(group);
            continue;
        };
        if group.is_named {
            return Err(small);
        }
        first.get_or_insert(small);
        left_out.push(LeftOut {
            protected: group.conditions,
            reference: group.reference,
            members: sides[0] as u64,
            others: sides[1] as u64,
        });
    }
    match first {
        Some(error) if enough.is_empty() => Err(error),
        _ => Ok((enough, left_out)),
    }
}

/// A protected attribute as it was named: alone, or with one of its values.
pub(super) struct ProtectedAttribute {
    /// The groups of all values.
    pub groups: AttributeGroups,
    /// The group that was named.
    pub value: Option<u32>,
}

impl ProtectedAttribute {
    /// Returns the attributes that are `named`, each an attribute or `ATTRIBUTE=VALUE`; without any,
    /// those that the schema marks. `is_of_model` says whether the schema is the model's, which need
    /// not know them.
    ///
    /// # Errors
    /// When there is none, one does not exist, or it is named twice.
    pub fn all(
        schema: &Schema,
        named: &[String],
        is_of_model: bool,
    ) -> Result<Vec<ProtectedAttribute>, IndirectError> {
        let named = protected_or_marked(named, schema);
        if named.is_empty() {
            return Err(IndirectError::NothingProtected);
        }
        ProtectedAttribute::each(schema, "protected", &named, is_of_model)
    }

    /// Returns the attributes of the groups with which those of `protected` are compared, as `named`,
    /// each an attribute or `ATTRIBUTE=VALUE`.
    ///
    /// # Errors
    /// When one does not exist, is not protected, or is named twice; when several groups are named, and
    /// one of them is to be compared with several.
    pub fn references(
        schema: &Schema,
        protected: &[ProtectedAttribute],
        named: &[String],
    ) -> Result<Vec<ProtectedAttribute>, IndirectError> {
        let references = ProtectedAttribute::each(schema, "reference", named, false)?;
        let is_intersection = protected.len() > 1 && protected.iter().all(|it| it.value.is_some());
        for (reference, name) in references.iter().zip(named) {
            let is_same =
                |it: &&ProtectedAttribute| it.groups.position == reference.groups.position;
            let expected = if !protected.iter().any(|it| is_same(&it)) {
                "a value of a protected attribute that is looked at"
            } else if is_intersection
                && (reference.value.is_none() || references.iter().filter(is_same).count() > 1)
            {
                "one value of an attribute, where several groups are named"
            } else {
                continue;
            };
            return Err(FieldError::new("reference", name, expected).into());
        }
        Ok(references)
    }

    fn each(
        schema: &Schema,
        field: &str,
        named: &[String],
        is_of_model: bool,
    ) -> Result<Vec<ProtectedAttribute>, IndirectError> {
        let mut each: Vec<ProtectedAttribute> = Vec::new();
        for name in named {
            let it = ProtectedAttribute::new(schema, (field, name), is_of_model)?;
            let same = |other: &&ProtectedAttribute| other.groups.position == it.groups.position;
            let is_whole = |other: &ProtectedAttribute| {
                it.value.is_none() || other.value.is_none() || it.value == other.value
            };
            if let Some(other) = each.iter().find(same)
                && is_whole(other)
            {
                let expected =
                    format!("named once: alone, {} is all of its groups", it.groups.name);
                return Err(FieldError::new(field, name, expected).into());
            }
            each.push(it);
        }
        Ok(each)
    }

    fn new(
        schema: &Schema,
        (field, name): (&str, &str),
        is_of_model: bool,
    ) -> Result<ProtectedAttribute, IndirectError> {
        let (attribute, value) = schema.attribute_and_value(name);
        let groups = AttributeGroups::new(schema, attribute, &[]);
        let groups = groups.map_err(|error| match error {
            GroupError::Schema(SchemaError::UnknownAttribute { name, .. }) if is_of_model => {
                IndirectError::UnseenAttribute { attribute: name }
            }
            error => error.into(),
        })?;
        let value = match value {
            None => None,
            Some(value) => {
                let marks = &schema.attributes[groups.position].missing;
                let unknown = groups.unknown.filter(|_| marks.holds(value));
                let place = place_of(&groups.labels, value);
                let place = place.or(unknown.map(|place| place as usize));
                let place = place.ok_or_else(|| {
                    let expected = format!("a value of {attribute}: {}", groups.labels.join(", "));
                    FieldError::new(field, name, expected)
                })?;
                Some(place as u32)
            }
        };
        Ok(ProtectedAttribute { groups, value })
    }

    /// Returns the attribute as it was named: `sex`, or `sex=female`.
    pub fn named(&self) -> String {
        match self.value {
            Some(value) => format!(
                "{}={}",
                self.groups.name, self.groups.labels[value as usize]
            ),
            None => self.groups.name.clone(),
        }
    }

    fn condition(&self, value: u32) -> Condition {
        Condition {
            attribute: self.groups.name.clone(),
            value: self.groups.labels[value as usize].clone(),
        }
    }

    /// Returns the value that each of `people` has.
    fn values(&self, people: &People) -> Vec<u32> {
        let value = |row| {
            self.groups
                .group(people.table.row(row)[self.groups.position])
        };
        (0..people.rows()).map(value).collect()
    }

    /// Returns the value that was named, or all values `present` among the people, which ascend.
    ///
    /// # Errors
    /// When nobody has the value that was named.
    fn among(&self, present: &[u32]) -> Result<Vec<u32>, IndirectError> {
        match self.value {
            None => Ok(present.to_vec()),
            Some(value) if present.contains(&value) => Ok(vec![value]),
            Some(value) => Err(IndirectError::NoMembers {
                group: named(&[self.condition(value)]),
            }),
        }
    }

    /// Returns the group that was named, or the groups of all values that `people` have: each beside
    /// everybody else or, where `references` name values of this attribute, beside whoever has one of
    /// these, in turn.
    fn groups(
        &self,
        people: &People,
        references: &[ProtectedAttribute],
    ) -> Result<Vec<ProtectedGroup>, IndirectError> {
        let of_row = self.values(people);
        let mut present = of_row.clone();
        present.sort_unstable();
        present.dedup();
        let values = self.among(&present)?;
        if let [value] = present[..] {
            let Condition { attribute, value } = self.condition(value);
            return Err(IndirectError::OneGroup { attribute, value });
        }
        let is_named = self.value.is_some();
        let same = |it: &&ProtectedAttribute| it.groups.position == self.groups.position;
        let references = references.iter().filter(same);
        let references = references.map(|it| it.among(&present));
        let references = references.collect::<Result<Vec<_>, _>>()?.concat();
        if references.is_empty() {
            let groups = values.into_iter().map(|value| {
                let is_member: Vec<bool> = of_row.iter().map(|it| *it == value).collect();
                let unknown = self.groups.unknown.filter(|unknown| *unknown != value);
                let unknown = of_row
                    .iter()
                    .zip(0..)
                    .filter(|(of, _)| Some(**of) == unknown);
                ProtectedGroup::new(vec![self.condition(value)], &is_member, is_named)
                    .without(unknown.map(|(_, row)| row).collect())
            });
            return Ok(groups.collect());
        }
        let rows = |value: u32| {
            let rows = of_row
                .iter()
                .zip(0..)
                .filter(|(of_row, _)| **of_row == value);
            rows.map(|(_, row)| row).collect()
        };
        let pairs = values.iter().flat_map(|&value| {
            let others = references.iter().filter(move |other| **other != value);
            others.map(move |&other| (value, other))
        });
        let groups: Vec<ProtectedGroup> = pairs
            .map(|(value, other)| ProtectedGroup {
                conditions: vec![self.condition(value)],
                reference: vec![self.condition(other)],
                members: rows(value),
                others: rows(other),
                unknown: Vec::new(),
                is_named,
            })
            .collect();
        match groups.is_empty() {
            true => {
                let expected = "another value than that of the group";
                Err(FieldError::new("reference", self.named(), expected).into())
            }
            false => Ok(groups),
        }
    }
}

/// Returns the groups of `protected` among `people`, beside those of `references`; where each was named
/// by a value, and they are several, also those who are in all of them.
pub(super) fn groups_of(
    protected: &[ProtectedAttribute],
    references: &[ProtectedAttribute],
    people: &People,
) -> Result<Vec<ProtectedGroup>, IndirectError> {
    let mut groups = Vec::new();
    for attribute in protected {
        groups.extend(attribute.groups(people, references)?);
    }
    if protected.len() > 1 && groups.iter().all(|group| group.is_named) {
        groups.extend(intersection(&groups, people.rows())?);
    }
    Ok(groups)
}

/// Returns those who are in all of `groups`, if anybody is, beside everybody else; where some of the
/// groups have a reference, beside whoever is in all references.
///
/// # Errors
/// When nobody is in all references.
fn intersection(
    groups: &[ProtectedGroup],
    people: usize,
) -> Result<Option<ProtectedGroup>, IndirectError> {
    let conditions = groups.iter().flat_map(|group| group.conditions.clone());
    let mut is_member = vec![true; people];
    for group in groups {
        let of_group = group.is_member(people);
        is_member
            .iter_mut()
            .zip(of_group)
            .for_each(|(is, of)| *is &= of);
    }
    // Nobody asked for it by name, so that it may be left out where it is small.
    let both = ProtectedGroup::new(conditions.collect(), &is_member, false);
    let may_be = |row: &u32| {
        let mut groups = groups.iter();
        groups.all(|group| {
            let is_in = |rows: &[u32]| rows.binary_search(row).is_ok();
            is_in(&group.members) || is_in(&group.unknown)
        })
    };
    let unknown: Vec<u32> = both.others.iter().copied().filter(may_be).collect();
    let mut both = both.without(unknown);
    for group in groups.iter().filter(|group| !group.reference.is_empty()) {
        both.reference.extend(group.reference.iter().cloned());
        both.others
            .retain(|row| group.others.binary_search(row).is_ok());
    }
    if both.members.is_empty() {
        return Ok(None);
    }
    if both.others.is_empty() && !both.reference.is_empty() {
        return Err(IndirectError::NoMembers {
            group: named(&both.reference),
        });
    }
    Ok(Some(both))
}
