//! What a table is: its attributes, their domains, and how values become integer codes.
//!
//! A [`Schema`] is written by hand, inferred from a file ([`crate::infer`]) or taken by name
//! ([`crate::builtin`]). It is checked once, when it is read ([`Schema::from_toml`]), and
//! trusted afterwards. Every attribute maps a raw value to one integer code in a declared, finite
//! domain; the search for discrimination walks on that integer grid.
//!
//! | kind          | raw value            | code                                             |
//! |---------------|----------------------|--------------------------------------------------|
//! | `integer`     | whole number         | the number itself, `min..=max`                   |
//! | `categorical` | one of `levels`      | position in `levels`, from 0                     |
//! | `numeric`     | any finite number    | index of its bin; `bins` are ascending edges, bin i is `[bins[i], bins[i+1])`, the last one closed; `values`, one for each bin, stand for them |
//!
//! Missing values and values outside the domain follow the attribute's [`OutOfDomain`] policy.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use super::spelling::number;

pub use super::attribute::{Attribute, Encoded, Encoder, Kind, OutOfDomain};
pub use super::schema_error::SchemaError;

/// What a column to predict holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum LabelKind {
    /// Classes: the model is a classifier.
    #[default]
    Class,
    /// Finite numbers: the model is a regressor, or gives scores.
    Number,
}

impl LabelKind {
    fn is_class(&self) -> bool {
        *self == LabelKind::Class
    }
}

/// The outcomes of numbers that are compared: the smaller one is the first, whatever they are.
pub const SIDES: [&str; 2] = ["lower", "higher"];

/// The column to predict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = LabelColumn))]
#[serde(from = "LabelForm")]
pub struct Label {
    /// Column name.
    pub name: String,
    /// What it holds; classes, unless it says another.
    #[serde(skip_serializing_if = "LabelKind::is_class")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub kind: LabelKind,
    /// The classes, in code order. A class that is a number stands for all its spellings: 1 for
    /// 1.0. Of numbers these are [`SIDES`], and may be left out.
    pub classes: Vec<String>,
    /// Other spellings of a class: spelling → class.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub aliases: BTreeMap<String, String>,
}

/// A [`Label`] as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LabelForm {
    name: String,
    #[serde(default)]
    kind: LabelKind,
    #[serde(default)]
    classes: Vec<String>,
    #[serde(default)]
    aliases: BTreeMap<String, String>,
}

impl From<LabelForm> for Label {
    fn from(form: LabelForm) -> Label {
        let label = Label {
            kind: form.kind,
            aliases: form.aliases,
            ..Label::of_classes(form.name, form.classes)
        };
        match label.is_number() && label.classes.is_empty() {
            true => Label::of_numbers(label.name),
            false => label,
        }
    }
}

impl Label {
    /// A column of `classes`.
    pub fn of_classes(name: impl Into<String>, classes: Vec<String>) -> Label {
        Label {
            name: name.into(),
            kind: LabelKind::Class,
            classes,
            aliases: BTreeMap::new(),
        }
    }

    /// A column of numbers.
    pub fn of_numbers(name: impl Into<String>) -> Label {
        Label {
            kind: LabelKind::Number,
            ..Label::of_classes(name, SIDES.map(str::to_owned).to_vec())
        }
    }

    /// Numbers that a model from elsewhere gives for one input: a probability for each class, or the
    /// number itself.
    pub fn answers(&self) -> usize {
        match self.is_number() {
            true => 1,
            false => self.classes.len(),
        }
    }

    /// Whether it holds numbers.
    pub fn is_number(&self) -> bool {
        self.kind == LabelKind::Number
    }

    /// The code of the class that `cell` says, as its name, as an alias, or as the same number.
    pub fn code(&self, cell: &str) -> Option<u32> {
        let name = self.aliases.get(cell).map_or(cell, String::as_str);
        let same = |class: &String| class == name;
        let code = self.classes.iter().position(same).or_else(|| {
            let said = number(name)?;
            let same = |class: &String| number(class) == Some(said);
            self.classes.iter().position(same)
        });
        code.map(|code| code as u32)
    }
}

/// How the text of a CSV file is laid out. Parquet files ignore all but `ignore_other_columns`
/// and `skip_bad_rows`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = TableFormat))]
#[serde(deny_unknown_fields, default)]
pub struct Format {
    /// Field separator: one ASCII character; a blank separates at every single blank.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = ","))]
    pub separator: char,
    /// Quote character.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "\""))]
    pub quote: char,
    /// Whether the first record names the columns.
    pub header: bool,
    /// Column names by position. Needed without a header; with one they replace its names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// Lines that start with this character are no data.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub comment: Option<char>,
    /// Whether the file may hold columns that the schema does not describe.
    pub ignore_other_columns: bool,
    /// Whether rows with which something is wrong are left out and counted, rather than refused.
    pub skip_bad_rows: bool,
}

impl Default for Format {
    fn default() -> Self {
        Format {
            separator: ',',
            quote: '"',
            header: true,
            columns: Vec::new(),
            comment: None,
            ignore_other_columns: false,
            skip_bad_rows: false,
        }
    }
}

/// A checked description of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schema {
    /// What the data set is called.
    pub name: String,
    /// File layout.
    #[serde(default)]
    pub format: Format,
    /// The column to predict.
    pub label: Label,
    /// The input columns, in the order of the model's inputs.
    #[serde(rename = "attribute")]
    pub attributes: Vec<Attribute>,
}

impl Schema {
    /// Reads and checks a schema.
    ///
    /// # Errors
    /// Anything that would make a later step fail: duplicate names, empty or reversed domains, no
    /// attribute, fewer than two classes, a separator that is not one ASCII character.
    pub fn from_toml(text: &str) -> Result<Schema, SchemaError> {
        let schema: Schema = toml::from_str(text)?;
        schema.check()?;
        Ok(schema)
    }

    /// The schema as TOML that [`Schema::from_toml`] reads back.
    ///
    /// # Errors
    /// When a value has no TOML form.
    pub fn to_toml(&self) -> Result<String, SchemaError> {
        Ok(toml::to_string(self)?)
    }

    /// Checks everything that the rest of the package relies on.
    ///
    /// # Errors
    /// See [`Schema::from_toml`].
    pub fn check(&self) -> Result<(), SchemaError> {
        if self.attributes.is_empty() {
            return Err(SchemaError::Format("no attribute is described".into()));
        }
        let mut names = HashSet::from([self.label.name.as_str()]);
        for attribute in &self.attributes {
            attribute.check()?;
            if !names.insert(&attribute.name) {
                return Err(SchemaError::Attribute {
                    attribute: attribute.name.clone(),
                    problem: "two columns have this name".into(),
                });
            }
        }
        self.check_label()?;
        self.check_format()
    }

    fn check_label(&self) -> Result<(), SchemaError> {
        let fail = |problem: String| {
            Err(SchemaError::Label {
                label: self.label.name.clone(),
                problem,
            })
        };
        if self.label.is_number() {
            return match self.label.classes == SIDES && self.label.aliases.is_empty() {
                true => Ok(()),
                false => fail("a label of numbers has no classes; leave them out".into()),
            };
        }
        let classes: HashSet<_> = self.label.classes.iter().collect();
        if classes.len() != self.label.classes.len() {
            return fail("a class is listed twice".into());
        }
        if classes.len() < 2 {
            return fail(format!(
                "at least two classes are needed, {} given",
                classes.len()
            ));
        }
        for (i, class) in self.label.classes.iter().enumerate() {
            let said = number(class);
            let before = &self.label.classes[..i];
            let twin = before.iter().find(|twin| number(twin) == said);
            if let (Some(twin), Some(_)) = (twin, said) {
                return fail(format!("the classes '{twin}' and '{class}' are one number"));
            }
        }
        if let Some((spelling, class)) = self
            .label
            .aliases
            .iter()
            .find(|(_, class)| !classes.contains(class))
        {
            return fail(format!(
                "alias '{spelling}' stands for the unknown class '{class}'"
            ));
        }
        Ok(())
    }

    fn check_format(&self) -> Result<(), SchemaError> {
        let format = &self.format;
        for (what, character) in [
            ("separator", Some(format.separator)),
            ("quote", Some(format.quote)),
            ("comment", format.comment),
        ] {
            if character.is_some_and(|c| !c.is_ascii()) {
                return Err(SchemaError::Format(format!(
                    "{what} must be one ASCII character"
                )));
            }
        }
        if !format.header && format.columns.is_empty() {
            return Err(SchemaError::Format(
                "a file without a header needs 'columns', the names by position".into(),
            ));
        }
        if !format.columns.is_empty() {
            for name in self
                .attributes
                .iter()
                .map(|attribute| &attribute.name)
                .chain([&self.label.name])
            {
                if !format.columns.contains(name) {
                    return Err(SchemaError::Format(format!(
                        "'columns' does not name the column '{name}'"
                    )));
                }
            }
        }
        Ok(())
    }

    /// Position of the attribute called `name`.
    ///
    /// # Errors
    /// [`SchemaError::UnknownAttribute`] with the names there are.
    pub fn index_of(&self, name: &str) -> Result<usize, SchemaError> {
        self.attributes
            .iter()
            .position(|attribute| attribute.name == name)
            .ok_or_else(|| SchemaError::UnknownAttribute {
                name: name.to_owned(),
                known: self
                    .attributes
                    .iter()
                    .map(|attribute| attribute.name.as_str())
                    .collect::<Vec<_>>()
                    .join(", "),
            })
    }

    /// Positions of the attributes marked protected.
    pub fn protected(&self) -> Vec<usize> {
        (0..self.attributes.len())
            .filter(|&i| self.attributes[i].protected)
            .collect()
    }

    /// Whether any attribute expects missing or outside values: has a missing marker, or a policy
    /// other than [`OutOfDomain::Reject`].
    pub fn expects_outside(&self) -> bool {
        self.attributes.iter().any(Attribute::expects_outside)
    }

    /// The same schema, by which rows with which something is wrong are left out if `skip` says so,
    /// or it does itself.
    #[must_use]
    pub fn skipping_bad_rows(mut self, skip: bool) -> Schema {
        self.format.skip_bad_rows |= skip;
        self
    }

    /// The same schema with another policy for missing and outside values, in every attribute
    /// that expects any: one with a missing marker, or a policy other than [`OutOfDomain::Reject`].
    /// The others go on refusing, so that no domain grows without need; categorical attributes
    /// keep their policy under [`OutOfDomain::Clip`], which has no meaning for words.
    #[must_use]
    pub fn with_outside(mut self, outside: OutOfDomain) -> Schema {
        for attribute in &mut self.attributes {
            let expects = attribute.expects_outside();
            let clips_words =
                outside == OutOfDomain::Clip && matches!(attribute.kind, Kind::Categorical { .. });
            if expects && !clips_words {
                attribute.outside = outside;
            }
        }
        self
    }
}

#[cfg(test)]
mod tests;
