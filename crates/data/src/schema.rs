//! The schema of a table: its attributes, their domains, and how values become integer codes.
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

use super::attribute::check_spellings;
use super::number_form::NumberForm;
use super::spelling::{INEXACT, number, truth};
use super::unicode;
use super::words;

pub use super::attribute::{Attribute, Encoded, Encoder, Kind, Missing, OutOfDomain, is_missing};
pub use super::encoding::Encoding;
pub use super::schema_error::SchemaError;
pub use super::spread::Spread;

/// The kind of values in a column to predict.
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

/// The two outcomes by which numbers are compared: the smaller number is the first, whatever the
/// numbers are.
pub const SIDES: [&str; 2] = ["lower", "higher"];

/// The column to predict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = LabelColumn))]
#[serde(from = "LabelForm")]
pub struct Label {
    /// The column name.
    pub name: String,
    /// The kind of values in the column; classes, unless another is given.
    #[serde(skip_serializing_if = "LabelKind::is_class")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub kind: LabelKind,
    /// The classes, in code order. A class that is a number stands for all its spellings: 1 for
    /// 1.0. For numbers the classes are [`SIDES`], and may be left out.
    pub classes: Vec<String>,
    /// The marks of outcomes that are missing: a string, or a list of several. Without marks here,
    /// the usual ones, such as `NA` and `?`, mark missing outcomes where they are no class; a blank
    /// marks one where there are any marks.
    #[serde(skip_serializing_if = "Missing::is_none")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub missing: Missing,
    /// The other spellings of a class: spelling → class.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub aliases: BTreeMap<String, String>,
    /// The threshold between two classes, where the column holds numbers, such as shares of raters,
    /// that stand for two classes: numbers below it are of the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub threshold: Option<f64>,
}

/// A [`Label`] as it is written in TOML.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LabelForm {
    name: String,
    #[serde(default)]
    kind: LabelKind,
    #[serde(default, deserialize_with = "words::deserialize")]
    classes: Vec<String>,
    #[serde(default)]
    aliases: BTreeMap<String, String>,
    #[serde(default)]
    missing: Missing,
    threshold: Option<f64>,
}

impl From<LabelForm> for Label {
    fn from(form: LabelForm) -> Label {
        let is_number = form.kind == LabelKind::Number;
        let of_kind = match is_number && form.classes.is_empty() {
            true => Label::of_numbers(form.name),
            false => Label::of_classes(form.name, form.classes),
        };
        Label {
            kind: form.kind,
            aliases: form.aliases,
            missing: form.missing,
            threshold: form.threshold,
            ..of_kind
        }
    }
}

impl Label {
    /// Creates a label column of `classes`.
    pub fn of_classes(name: impl Into<String>, classes: Vec<String>) -> Label {
        Label {
            name: name.into(),
            kind: LabelKind::Class,
            classes,
            aliases: BTreeMap::new(),
            missing: Missing::default(),
            threshold: None,
        }
    }

    /// Creates a label column of numbers that are two classes: below `threshold`, and not.
    pub fn of_threshold(name: impl Into<String>, threshold: f64) -> Label {
        let classes = vec![format!("below {threshold}"), format!("{threshold} or more")];
        Label {
            threshold: Some(threshold),
            ..Label::of_classes(name, classes)
        }
    }

    /// Creates a label column of numbers.
    pub fn of_numbers(name: impl Into<String>) -> Label {
        Label {
            kind: LabelKind::Number,
            ..Label::of_classes(name, SIDES.map(str::to_owned).to_vec())
        }
    }

    /// Returns the count of numbers that a model from elsewhere gives for one input: a probability
    /// for each class, or the number itself.
    pub fn answers(&self) -> usize {
        match self.is_number() {
            true => 1,
            false => self.classes.len(),
        }
    }

    /// Returns whether the column holds numbers.
    pub fn is_number(&self) -> bool {
        self.kind == LabelKind::Number
    }

    /// Returns the code of the class that `cell` says, as its name, as an alias, as the same
    /// number, or as the same truth.
    pub fn code(&self, cell: &str) -> Option<u32> {
        self.code_in(cell, NumberForm::PLAIN)
    }

    /// Returns the code of a class as [`Label::code`] does, where numbers are written in `form`.
    pub(crate) fn code_in(&self, cell: &str, form: NumberForm) -> Option<u32> {
        let name = self.aliases.get(cell).map_or(cell, String::as_str);
        let same = |class: &String| class == name;
        let by_name = self.classes.iter().position(same);
        let by_threshold = || {
            let (threshold, share) = (self.threshold?, form.number(name)?);
            share.is_finite().then_some(usize::from(share >= threshold))
        };
        let by_number = || {
            let said = match form == NumberForm::PLAIN {
                true => number(name),
                false => None,
            };
            let said = said.or_else(|| number(&form.plain(name)?))?;
            let same = |class: &String| number(class) == Some(said);
            self.classes.iter().position(same)
        };
        let by_truth = || {
            let said = truth(name)?;
            let mut same =
                (0..self.classes.len()).filter(|&at| truth(&self.classes[at]) == Some(said));
            same.next().filter(|_| same.next().is_none())
        };
        let in_form = || {
            self.classes
                .iter()
                .position(|class| unicode::same(class, name))
        };
        let code = by_name
            .or_else(by_threshold)
            .or_else(by_number)
            .or_else(by_truth);
        code.or_else(in_form).map(|code| code as u32)
    }

    /// Returns whether `cell`, which is no class and no number, is an outcome that is missing.
    pub fn is_missing(&self, cell: &str) -> bool {
        match self.missing.is_none() {
            // A row that has nothing there may be one that is broken.
            true => !cell.is_empty() && is_missing(cell),
            false => self.missing.holds(cell),
        }
    }
}

/// The least threshold between two classes that are numbers.
pub const LEAST_THRESHOLD: f64 = -1e15;
/// The largest threshold between two classes that are numbers.
pub const MOST_THRESHOLD: f64 = 1e15;

/// The marks that may stand before decimals.
pub(crate) const DECIMALS: [char; 2] = ['.', ','];
/// The marks that may stand between thousands.
pub(crate) const THOUSANDS: [char; 4] = [',', '.', ' ', '\''];

/// The layout of the text of a CSV file. Parquet files ignore all but `decimal`, `thousands`,
/// `ignore_other_columns`, `skip_bad_rows` and `spread`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = TableFormat))]
#[serde(deny_unknown_fields, default)]
pub struct Format {
    /// The field separator: one ASCII character; a blank separates at every single blank.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = ","))]
    pub separator: char,
    /// The quote character.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "\""))]
    pub quote: char,
    /// The character before a quote within a quoted field, such as a backslash; behind it any
    /// character stands for itself. Two quotes stand for one with or without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub escape: Option<char>,
    /// Whether the first record names the columns.
    pub header: bool,
    /// Whether every row begins with a name that the header has no column for, as R writes them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub row_names: bool,
    /// The column names by position. Needed without a header; with one they replace its names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// The character that begins a line which is no data.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub comment: Option<char>,
    /// The mark before the decimals of a number that is written as text: a point or a comma; a
    /// point by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, example = ","))]
    pub decimal: Option<char>,
    /// The mark between the thousands of a number that is written as text: a point, a comma, an
    /// apostrophe or a blank.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, example = "."))]
    pub thousands: Option<char>,
    /// The encoding of the text; by default UTF-8, or UTF-16 with its mark.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, example = "windows-1252"))]
    pub encoding: Option<Encoding>,
    /// Whether the file may hold columns that the schema does not describe.
    pub ignore_other_columns: bool,
    /// Whether rows with which something is wrong are left out and counted, rather than refused.
    pub skip_bad_rows: bool,
    /// The attributes that are spread over several columns: attribute → its columns. Each is read as
    /// one column of words, which stands where the first of its columns does. A table that has the
    /// attribute itself, and none of its columns, is read as it is.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub spread: BTreeMap<String, Spread>,
}

impl Default for Format {
    fn default() -> Self {
        Format {
            separator: ',',
            quote: '"',
            escape: None,
            header: true,
            row_names: false,
            columns: Vec::new(),
            comment: None,
            decimal: None,
            thousands: None,
            encoding: None,
            ignore_other_columns: false,
            skip_bad_rows: false,
            spread: BTreeMap::new(),
        }
    }
}

impl Format {
    /// Returns the form in which numbers are written.
    pub fn number_form(&self) -> NumberForm {
        NumberForm {
            decimal: self.decimal.unwrap_or(NumberForm::PLAIN.decimal),
            thousands: self.thousands,
        }
    }

    /// Checks the marks of numbers, and returns the problem if there is one.
    ///
    /// # Errors
    /// The marks that are allowed, in words.
    pub fn check_numbers(&self) -> Result<(), String> {
        let form = self.number_form();
        if !DECIMALS.contains(&form.decimal) {
            return Err("decimal must be '.' or ','".to_owned());
        }
        match form.thousands {
            Some(mark) if !THOUSANDS.contains(&mark) => {
                Err("thousands must be '.', ',', ' ' or an apostrophe".to_owned())
            }
            Some(mark) if mark == form.decimal => Err(format!(
                "decimal and thousands are both '{mark}'; say the other one, too"
            )),
            _ => Ok(()),
        }
    }
}

/// A checked description of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schema {
    /// The name of the data set.
    pub name: String,
    /// The file layout.
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

    /// Returns the schema as TOML that [`Schema::from_toml`] reads back.
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
        self.check_format()?;
        self.check_spread()
    }

    fn check_label(&self) -> Result<(), SchemaError> {
        let fail = |problem: String| {
            Err(SchemaError::Label {
                label: self.label.name.clone(),
                problem,
            })
        };
        if self.label.is_number() {
            if self.label.classes != SIDES || !self.label.aliases.is_empty() {
                return fail("a label of numbers has no classes; leave them out".into());
            }
            if self.label.threshold.is_some() {
                return fail("a threshold makes classes of numbers; leave kind out".into());
            }
            let is_value = |mark: &str| number(mark).is_some();
            return self.label.missing.check(is_value).or_else(fail);
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
            let said = number(class).filter(|number| number.abs() < INEXACT);
            let before = &self.label.classes[..i];
            let twin = before.iter().find(|twin| number(twin) == said);
            if let (Some(twin), Some(_)) = (twin, said) {
                return fail(format!("the classes '{twin}' and '{class}' are one number"));
            }
        }
        if let Some(threshold) = self.label.threshold {
            let numbers: Vec<Option<f64>> =
                self.label.classes.iter().map(|it| number(it)).collect();
            let [below, above] = numbers[..] else {
                return fail(format!(
                    "a threshold makes two classes, but {} are given",
                    classes.len()
                ));
            };
            if !(LEAST_THRESHOLD..=MOST_THRESHOLD).contains(&threshold) {
                return fail(format!(
                    "the threshold {threshold} is not from {LEAST_THRESHOLD} to {MOST_THRESHOLD}"
                ));
            }
            if below.is_some_and(|below| below >= threshold)
                || above.is_some_and(|above| above < threshold)
            {
                return fail(format!(
                    "the first class is that of numbers below {threshold}, the second that of the others"
                ));
            }
        }
        if let Err(problem) = check_spellings(&self.label.aliases, &self.label.classes) {
            return fail(format!("aliases: {problem}"));
        }
        let is_value = |mark: &str| self.label.code(mark).is_some();
        self.label.missing.check(is_value).or_else(fail)
    }

    fn check_format(&self) -> Result<(), SchemaError> {
        let format = &self.format;
        for (what, character) in [
            ("separator", Some(format.separator)),
            ("quote", Some(format.quote)),
            ("escape", format.escape),
            ("comment", format.comment),
        ] {
            if character.is_some_and(|c| !c.is_ascii()) {
                return Err(SchemaError::Format(format!(
                    "{what} must be one ASCII character"
                )));
            }
        }
        if [Some(format.separator), Some(format.quote)].contains(&format.escape) {
            return Err(SchemaError::Format(
                "escape must be another character than separator and quote".to_owned(),
            ));
        }
        format.check_numbers().map_err(SchemaError::Format)?;
        if format.row_names && !format.header {
            return Err(SchemaError::Format(
                "row_names says that the header has no name for the first field of the rows; without a header 'columns' names it".to_owned(),
            ));
        }
        if !format.header && format.columns.is_empty() {
            return Err(SchemaError::Format(
                "a file without a header needs 'columns', the names by position".into(),
            ));
        }
        if !format.columns.is_empty() {
            let columns = self.attributes.iter().flat_map(|attribute| {
                match format.spread.get(&attribute.name) {
                    Some(spread) => spread.columns.as_slice(),
                    None => std::slice::from_ref(&attribute.name),
                }
            });
            for name in columns.chain([&self.label.name]) {
                if !format.columns.contains(name) {
                    return Err(SchemaError::Format(format!(
                        "'columns' does not name the column '{name}'"
                    )));
                }
            }
        }
        Ok(())
    }

    /// Checks the attributes that are spread over columns.
    fn check_spread(&self) -> Result<(), SchemaError> {
        let attributes = self.attributes.iter();
        let names = attributes.map(|attribute| attribute.name.as_str());
        let mut seen: HashSet<&str> = names.chain([self.label.name.as_str()]).collect();
        for (name, spread) in &self.format.spread {
            let fail =
                |problem: String| Err(SchemaError::Format(format!("spread.{name}: {problem}")));
            let attribute = self.attributes.iter().find(|one| one.name == *name);
            let checked = match attribute.map(|attribute| (&attribute.kind, &attribute.missing)) {
                Some((Kind::Categorical { levels, .. }, missing)) => spread.check(levels, missing),
                Some(_) => Err("the attribute of this name must be categorical".to_owned()),
                None => Err("there is no attribute of this name".to_owned()),
            };
            checked.or_else(fail)?;
            if let Some(twice) = spread.columns.iter().find(|it| !seen.insert(it.as_str())) {
                return fail(format!(
                    "the column '{twice}' stands elsewhere in the schema, too"
                ));
            }
        }
        Ok(())
    }

    /// Returns the position of the attribute called `name`.
    ///
    /// # Errors
    /// [`SchemaError::UnknownAttribute`] with the names there are.
    pub fn index_of(&self, name: &str) -> Result<usize, SchemaError> {
        let names = self.attributes.iter().map(|attribute| &attribute.name);
        unicode::place(names, name).ok_or_else(|| SchemaError::UnknownAttribute {
            name: name.to_owned(),
            known: self
                .attributes
                .iter()
                .map(|attribute| attribute.name.as_str())
                .collect::<Vec<_>>()
                .join(", "),
        })
    }

    /// Returns the attribute that `text` names, and the value if it is `ATTRIBUTE=VALUE`. Both may hold a
    /// `=`: what is an attribute is taken for one.
    pub fn attribute_and_value<'t>(&self, text: &'t str) -> (&'t str, Option<&'t str>) {
        let is_attribute = |name: &str| self.index_of(name).is_ok();
        if is_attribute(text) {
            return (text, None);
        }
        let mut splits = text
            .match_indices('=')
            .map(|(place, _)| (text[..place].trim(), Some(text[place + 1..].trim())));
        let known = splits.clone().find(|(name, _)| is_attribute(name));
        known.or_else(|| splits.next()).unwrap_or((text, None))
    }

    /// Returns the positions of the attributes marked protected.
    pub fn protected(&self) -> Vec<usize> {
        (0..self.attributes.len())
            .filter(|&i| self.attributes[i].protected)
            .collect()
    }

    /// Returns the schema, changed so that rows with which something is wrong are left out if
    /// `skip` says so, or the schema did already.
    #[must_use]
    pub fn skipping_bad_rows(mut self, skip: bool) -> Schema {
        self.format.skip_bad_rows |= skip;
        self
    }

    /// Returns the schema, changed so that columns which it does not describe are passed over if
    /// `ignore` says so, or the schema did already.
    #[must_use]
    pub fn ignoring_other_columns(mut self, ignore: bool) -> Schema {
        self.format.ignore_other_columns |= ignore;
        self
    }

    /// Returns the schema with another policy for missing and outside values, in every attribute
    /// for which the policy has a meaning. A [level](OutOfDomain::Level) is for attributes that
    /// expect such values, by a missing marker or a policy other than [`OutOfDomain::Reject`], so
    /// that no domain grows without need; [`OutOfDomain::Clip`] is for numbers; the others are for
    /// all.
    #[must_use]
    pub fn with_outside(mut self, outside: OutOfDomain) -> Schema {
        for attribute in &mut self.attributes {
            if attribute.takes(outside) {
                attribute.outside = outside;
            }
        }
        self
    }
}

#[cfg(test)]
mod tests;
