//! The TOML form of a lexicon, and its checks.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::attribute::{LexiconError, ProtectedAttribute};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LexiconFile {
    #[serde(default, rename = "attribute")]
    attributes: Vec<AttributeEntry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AttributeEntry {
    name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    description: String,
    values: Vec<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    forms: BTreeMap<String, Vec<Spellings>>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a term or a list of spellings of it")]
enum Spellings {
    One(String),
    Several(Vec<String>),
}

pub(super) fn read(text: &str) -> Result<Vec<ProtectedAttribute>, LexiconError> {
    let file: LexiconFile = toml::from_str(text).map_err(Box::new)?;
    if file.attributes.is_empty() {
        return Err(LexiconError::Empty);
    }
    let attributes = file.attributes.into_iter().map(AttributeEntry::checked);
    let attributes: Vec<ProtectedAttribute> = attributes.collect::<Result<_, _>>()?;
    let mut names = HashSet::new();
    for attribute in &attributes {
        if !names.insert(attribute.name.as_str()) {
            return Err(attribute.problem("two attributes have this name"));
        }
    }
    Ok(attributes)
}

pub(super) fn write(attributes: &[ProtectedAttribute]) -> Result<String, LexiconError> {
    let attributes = attributes.iter().map(AttributeEntry::of).collect();
    Ok(toml::to_string(&LexiconFile { attributes })?)
}

impl AttributeEntry {
    fn of(attribute: &ProtectedAttribute) -> AttributeEntry {
        let spellings = |terms: &Vec<String>| match terms.as_slice() {
            [one] => Spellings::One(one.clone()),
            _ => Spellings::Several(terms.clone()),
        };
        let row = |(name, row): (&String, &Vec<Vec<String>>)| {
            (name.clone(), row.iter().map(spellings).collect())
        };
        AttributeEntry {
            name: attribute.name.clone(),
            description: attribute.description.clone(),
            values: attribute.values.clone(),
            forms: attribute.forms.iter().map(row).collect(),
        }
    }

    fn checked(self) -> Result<ProtectedAttribute, LexiconError> {
        let spellings = |spellings| match spellings {
            Spellings::One(term) => vec![term],
            Spellings::Several(terms) => terms,
        };
        let forms = self.forms.into_iter();
        let attribute = ProtectedAttribute {
            name: self.name,
            description: self.description,
            values: self.values,
            forms: forms
                .map(|(name, row)| (name, row.into_iter().map(spellings).collect()))
                .collect(),
        };
        check_values(&attribute)?;
        check_forms(&attribute)?;
        check_terms(&attribute)?;
        Ok(attribute)
    }
}

fn check_values(attribute: &ProtectedAttribute) -> Result<(), LexiconError> {
    let values = &attribute.values;
    if attribute.name.trim().is_empty() {
        return Err(attribute.problem("its name is empty"));
    }
    if values.len() < 2 {
        return Err(attribute.problem(format!(
            "it has {} value; at least two are needed, or there is nothing to replace a term by",
            values.len()
        )));
    }
    let mut seen = HashSet::new();
    match values
        .iter()
        .find(|value| !seen.insert(value.to_lowercase()))
    {
        Some(twice) => Err(attribute.problem(format!("the value '{twice}' is listed twice"))),
        None => Ok(()),
    }
}

fn check_forms(attribute: &ProtectedAttribute) -> Result<(), LexiconError> {
    let values = attribute.values.len();
    for (form, row) in &attribute.forms {
        if row.len() != values {
            return Err(attribute.problem(format!(
                "the form '{form}' has {} terms for {values} values; expected one for each, in their order",
                row.len()
            )));
        }
        if let Some(value) = row.iter().position(Vec::is_empty) {
            return Err(attribute.problem(format!(
                "the form '{form}' has no term for the value '{}'",
                attribute.values[value]
            )));
        }
    }
    Ok(())
}

fn check_terms(attribute: &ProtectedAttribute) -> Result<(), LexiconError> {
    let mut owners: HashMap<String, usize> = HashMap::new();
    for row in attribute.rows() {
        let mut in_row = HashSet::new();
        for (value, term) in row
            .iter()
            .enumerate()
            .flat_map(|(value, terms)| terms.iter().map(move |term| (value, term)))
        {
            let plain = term.to_lowercase();
            if !plain.contains(char::is_alphanumeric) {
                return Err(attribute.problem(format!(
                    "'{term}' is an empty term of the value '{}'; expected words",
                    attribute.values[value]
                )));
            }
            if !in_row.insert(plain.clone()) {
                return Err(attribute.problem(format!("the term '{term}' is listed twice")));
            }
            let owner = *owners.entry(plain).or_insert(value);
            if owner != value {
                return Err(attribute.problem(format!(
                    "the term '{term}' is listed twice, for '{}' and for '{}'",
                    attribute.values[owner], attribute.values[value]
                )));
            }
        }
    }
    Ok(())
}
