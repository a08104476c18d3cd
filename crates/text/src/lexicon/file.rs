//! The TOML form of a lexicon, and its checks.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::attribute::{Bound, LexiconError, Part, ProtectedAttribute, Sense};
use super::phrases::{self, expanded};

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
    #[serde(default, skip_serializing_if = "String::is_empty")]
    source: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    opt_in: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    exchange: bool,
    values: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    exceptions: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    unless: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    bound: Vec<Bound>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    senses: BTreeMap<Sense, Vec<String>>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    parts: BTreeMap<String, Part>,
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
    let attributes = attributes.iter().map(AttributeEntry::new).collect();
    Ok(toml::to_string(&LexiconFile { attributes })?)
}

impl AttributeEntry {
    fn new(attribute: &ProtectedAttribute) -> AttributeEntry {
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
            source: attribute.source.clone(),
            opt_in: attribute.opt_in,
            exchange: attribute.exchange,
            values: attribute.values.clone(),
            exceptions: attribute.exceptions.clone(),
            unless: attribute.unless.clone(),
            bound: attribute.bound.clone(),
            senses: attribute.senses.clone(),
            parts: attribute.parts.clone(),
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
            source: self.source,
            values: self.values,
            opt_in: self.opt_in,
            exchange: self.exchange,
            parts: self.parts,
            senses: self.senses,
            exceptions: self.exceptions,
            unless: self.unless,
            bound: self.bound,
            forms: forms
                .map(|(name, row)| (name, row.into_iter().map(spellings).collect()))
                .collect(),
        };
        check_values(&attribute)?;
        check_forms(&attribute)?;
        check_terms(&attribute)?;
        check_rules(&attribute)?;
        check_bound(&attribute)?;
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
        let named = row.iter().filter(|terms| !terms.is_empty()).count();
        if named < 2 {
            return Err(attribute.problem(format!(
                "the form '{form}' has terms for {named} values; at least two are needed, or there \
                 is nothing to replace a term by"
            )));
        }
    }
    Ok(())
}

/// Checks that every rule is about something that the attribute has.
fn check_rules(attribute: &ProtectedAttribute) -> Result<(), LexiconError> {
    if let Some(form) = attribute
        .parts
        .keys()
        .find(|form| !attribute.forms.contains_key(*form))
    {
        return Err(attribute.problem(format!(
            "parts names the form '{form}', which is not among its forms"
        )));
    }
    let terms: HashSet<String> = attribute
        .terms()
        .into_iter()
        .map(|(_, term)| term.to_lowercase())
        .collect();
    let of_senses = attribute.senses.values().flatten();
    for term in of_senses {
        if !terms.contains(&term.to_lowercase()) {
            return Err(attribute.problem(format!(
                "senses names '{term}', which is not among its terms"
            )));
        }
    }
    let of_bound = attribute.bound.iter().flat_map(|bound| &bound.words);
    let phrases = attribute.exceptions.iter().chain(&attribute.unless);
    for phrase in phrases.chain(of_bound) {
        if !phrase.contains(char::is_alphanumeric) {
            return Err(
                attribute.problem(format!("'{phrase}' is an empty exception; expected words"))
            );
        }
        if let Some(problem) = phrases::problem(phrase) {
            return Err(attribute.problem(format!("the exception '{phrase}': {problem}")));
        }
    }
    Ok(())
}

/// Checks that every word is bound once, to values that the attribute has, and is none of its terms:
/// these are exchanged, and the bound words stay.
fn check_bound(attribute: &ProtectedAttribute) -> Result<(), LexiconError> {
    let terms = attribute.terms().into_iter();
    let terms: HashSet<String> = terms.map(|(_, term)| term.to_lowercase()).collect();
    let mut seen = HashSet::new();
    for bound in &attribute.bound {
        let mut values = bound.values.iter();
        if let Some(unknown) = values.find(|value| !attribute.values.contains(value)) {
            return Err(attribute.problem(format!(
                "bound names the value '{unknown}', which is not among its values"
            )));
        }
        if bound.values.is_empty() || bound.words.is_empty() {
            return Err(attribute.problem("bound has no values or no words; expected both"));
        }
        let words = bound.words.iter().flat_map(|phrase| expanded(phrase));
        for word in words.map(|word| word.to_lowercase()) {
            if terms.contains(&word) {
                return Err(attribute.problem(format!(
                    "'{word}' is bound and one of the terms; terms are exchanged, bound words stay"
                )));
            }
            if !seen.insert(word.clone()) {
                return Err(attribute.problem(format!("'{word}' is bound twice")));
            }
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
            // Hyphens tell no words apart: "African-American" is "African American".
            let words = plain.replace('-', " ");
            let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
            let owner = *owners.entry(words).or_insert(value);
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
