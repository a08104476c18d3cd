//! The protected groups among people.

use serde::Serialize;

use super::{Condition, People, named};
use crate::error::IndirectError;
use probity_data::schema::Schema;
use probity_data::schema::SchemaError;
use probity_fairness::group::GroupError;
use probity_fairness::group::grouping::AttributeGroups;
use probity_fairness::opened::protected_or_marked;
use probity_run::specification::FieldError;

/// The people who meet some conditions.
#[derive(Debug, Clone, PartialEq)]
pub struct ProtectedGroup {
    /// The conditions, all of which they meet.
    pub conditions: Vec<Condition>,
    /// Whether each person does.
    pub is_member: Vec<bool>,
    /// Whether it was asked for by name, rather than being one of the groups of an attribute.
    pub is_named: bool,
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

/// A group of an attribute that is left out, since it or whoever is not in it has too few people.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LeftOut {
    /// The conditions that all members meet.
    pub protected: Vec<Condition>,
    /// The number of members.
    pub members: u64,
    /// The number of all others.
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
        let sides = [true, false].map(|is_member| group.rows(is_member).len());
        let name = named(&group.conditions);
        let small = if sides[0] < members {
            error(format!("the group {name}"), sides[0])
        } else if sides[1] < others {
            error(format!("whoever is not {name}"), sides[1])
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
        let mut protected: Vec<ProtectedAttribute> = Vec::new();
        for name in &named {
            let it = ProtectedAttribute::new(schema, name, is_of_model)?;
            let same = |other: &&ProtectedAttribute| other.groups.position == it.groups.position;
            let is_whole = |other: &ProtectedAttribute| {
                it.value.is_none() || other.value.is_none() || it.value == other.value
            };
            if let Some(other) = protected.iter().find(same)
                && is_whole(other)
            {
                let expected =
                    format!("named once: alone, {} is all of its groups", it.groups.name);
                return Err(FieldError::new("protected", name, expected).into());
            }
            protected.push(it);
        }
        Ok(protected)
    }

    fn new(
        schema: &Schema,
        name: &str,
        is_of_model: bool,
    ) -> Result<ProtectedAttribute, IndirectError> {
        let (attribute, value) = attribute_and_value(schema, name);
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
                let place = groups.labels.iter().position(|label| label == value);
                let place = place.ok_or_else(|| {
                    let expected = format!("a value of {attribute}: {}", groups.labels.join(", "));
                    FieldError::new("protected", name, expected)
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

    /// Returns the group that was named, or the groups of all values that `people` have.
    fn groups(&self, people: &People) -> Result<Vec<ProtectedGroup>, IndirectError> {
        let of_row: Vec<u32> = (0..people.rows())
            .map(|row| {
                self.groups
                    .group(people.table.row(row)[self.groups.position])
            })
            .collect();
        let condition = |value: u32| Condition {
            attribute: self.groups.name.clone(),
            value: self.groups.labels[value as usize].clone(),
        };
        let mut present = of_row.clone();
        present.sort_unstable();
        present.dedup();
        if let Some(value) = self.value
            && !present.contains(&value)
        {
            let Condition { attribute, value } = condition(value);
            return Err(IndirectError::NoMembers { attribute, value });
        }
        if let [value] = present[..] {
            let Condition { attribute, value } = condition(value);
            return Err(IndirectError::OneGroup { attribute, value });
        }
        let values = self.value.map_or(present, |value| vec![value]);
        let groups = values.into_iter().map(|value| ProtectedGroup {
            conditions: vec![condition(value)],
            is_member: of_row.iter().map(|it| *it == value).collect(),
            is_named: self.value.is_some(),
        });
        Ok(groups.collect())
    }
}

/// Returns the attribute that `name` names, and the value if it names one. Both may hold a `=`: what
/// is an attribute is taken for one.
fn attribute_and_value<'n>(schema: &Schema, name: &'n str) -> (&'n str, Option<&'n str>) {
    let is_attribute = |name: &str| schema.attributes.iter().any(|it| it.name == name);
    let split = |(place, _)| {
        let (attribute, value): (&str, &str) = (&name[..place], &name[place + 1..]);
        (attribute.trim(), Some(value.trim()))
    };
    let mut splits = name.match_indices('=').map(split);
    if is_attribute(name) {
        return (name, None);
    }
    let known = splits
        .clone()
        .find(|(attribute, _)| is_attribute(attribute));
    known.or_else(|| splits.next()).unwrap_or((name, None))
}

/// Returns the groups of `protected` among `people`; where each was named by a value, and they are
/// several, also those who are in all of them.
pub(super) fn groups_of(
    protected: &[ProtectedAttribute],
    people: &People,
) -> Result<Vec<ProtectedGroup>, IndirectError> {
    let mut groups = Vec::new();
    for attribute in protected {
        groups.extend(attribute.groups(people)?);
    }
    if groups.len() > 1 && groups.iter().all(|group| group.is_named) {
        let members = |row: usize| groups.iter().all(|group| group.is_member[row]);
        let is_member: Vec<bool> = (0..people.rows()).map(members).collect();
        if is_member.contains(&true) {
            let conditions = groups.iter().flat_map(|group| group.conditions.clone());
            groups.push(ProtectedGroup {
                conditions: conditions.collect(),
                is_member,
                is_named: true,
            });
        }
    }
    Ok(groups)
}
