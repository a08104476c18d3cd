//! What a table is: its attributes, their domains, and how values become integer codes.
//!
//! A [`Schema`] is written by hand, inferred from a file ([`crate::data::infer`]) or taken by name
//! ([`crate::data::builtin`]). It is checked once, when it is read ([`Schema::from_toml`]), and
//! trusted afterwards. Every attribute maps a raw value to one integer code in a declared, finite
//! domain; the search for discrimination walks on that integer grid.
//!
//! | kind          | raw value            | code                                             |
//! |---------------|----------------------|--------------------------------------------------|
//! | `integer`     | whole number         | the number itself, `min..=max`                   |
//! | `categorical` | one of `levels`      | position in `levels`, from 0                     |
//! | `numeric`     | any finite number    | index of its bin; `bins` are ascending edges, bin i is `[bins[i], bins[i+1])`, the last one closed |
//!
//! Missing values and values outside the domain follow the attribute's [`Outside`] policy.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The most codes one attribute may have; keeps one-hot layers and protected products sane.
const MAX_DOMAIN: i64 = 1_000_000;

/// How the level for outside values of a categorical attribute is written where it has no missing
/// marker.
const OTHER: &str = "(other)";

/// Why a schema cannot be used.
#[derive(Debug, Error)]
pub enum SchemaError {
    /// The text is not TOML of the expected form.
    #[error("the schema is not valid: {0}")]
    Toml(#[from] toml::de::Error),
    /// The schema cannot be written as TOML.
    #[error("the schema cannot be written: {0}")]
    Write(#[from] toml::ser::Error),
    /// Something about one attribute is wrong.
    #[error("schema attribute '{attribute}': {problem}")]
    Attribute {
        /// Its name.
        attribute: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Something about the label is wrong.
    #[error("schema label '{label}': {problem}")]
    Label {
        /// The label column.
        label: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Something about the file format is wrong.
    #[error("schema format: {0}")]
    Format(String),
    /// A named attribute does not exist.
    #[error("there is no attribute '{name}'; the attributes are {known}")]
    UnknownAttribute {
        /// The name asked for.
        name: String,
        /// All names there are.
        known: String,
    },
}

/// What happens to a missing value or one outside the declared domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outside {
    /// Refuse the file, naming row, column and value.
    #[default]
    Reject,
    /// Move it to the nearest end of the domain, as the ADF paper's tool does. Categorical values
    /// have no nearest end: for them this refuses.
    Clip,
    /// Give all such values of the attribute one code of their own, one above the domain.
    Level,
    /// Leave the row out, and count it.
    Skip,
}

/// What an attribute measures, and its domain.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// Whole numbers `min..=max`.
    Integer {
        /// Smallest value.
        min: i32,
        /// Largest value.
        max: i32,
    },
    /// One of a list of words.
    Categorical {
        /// The words, in code order.
        levels: Vec<String>,
        /// Whether neighbouring levels are alike, so that a step of one is meaningful.
        ordered: bool,
    },
    /// Any number, sorted into bins.
    Numeric {
        /// Ascending edges; one bin fewer than edges.
        bins: Vec<f64>,
    },
}

/// One input column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "WrittenAttribute", into = "WrittenAttribute")]
pub struct Attribute {
    /// Column name.
    pub name: String,
    /// Kind and domain.
    pub kind: Kind,
    /// Whether decisions must not depend on it.
    pub protected: bool,
    /// The marker that stands for "not known", compared with the whole trimmed cell.
    pub missing: Option<String>,
    /// What happens to missing and out-of-domain values.
    pub outside: Outside,
}

/// An attribute as TOML has it: every key of every kind. A key that is misspelt, or belongs to
/// another kind, is refused rather than ignored.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenAttribute {
    name: String,
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    min: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    levels: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ordered: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bins: Option<Vec<f64>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    protected: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<String>,
    #[serde(default)]
    outside: Outside,
}

impl TryFrom<WrittenAttribute> for Attribute {
    type Error = String;

    fn try_from(written: WrittenAttribute) -> Result<Attribute, String> {
        let name = written.name.clone();
        let given = [
            ("min", written.min.is_some()),
            ("max", written.max.is_some()),
            ("levels", written.levels.is_some()),
            ("ordered", written.ordered.is_some()),
            ("bins", written.bins.is_some()),
        ];
        let own: &[&str] = match written.kind.as_str() {
            "integer" => &["min", "max"],
            "categorical" => &["levels", "ordered"],
            "numeric" => &["bins"],
            other => {
                return Err(format!(
                    "attribute '{name}': kind '{other}' is not integer, categorical or numeric"
                ));
            }
        };
        if let Some((key, _)) = given.iter().find(|(key, is)| *is && !own.contains(key)) {
            return Err(format!(
                "attribute '{name}': '{key}' has no meaning for kind {}",
                written.kind
            ));
        }
        let needs = |key: &str| format!("attribute '{name}': kind {} needs '{key}'", written.kind);
        let kind = match written.kind.as_str() {
            "integer" => Kind::Integer {
                min: written.min.ok_or_else(|| needs("min"))?,
                max: written.max.ok_or_else(|| needs("max"))?,
            },
            "categorical" => Kind::Categorical {
                levels: written.levels.ok_or_else(|| needs("levels"))?,
                ordered: written.ordered.unwrap_or(false),
            },
            _ => Kind::Numeric {
                bins: written.bins.ok_or_else(|| needs("bins"))?,
            },
        };
        Ok(Attribute {
            name: written.name,
            kind,
            protected: written.protected,
            missing: written.missing,
            outside: written.outside,
        })
    }
}

impl From<Attribute> for WrittenAttribute {
    fn from(attribute: Attribute) -> WrittenAttribute {
        let mut written = WrittenAttribute {
            name: attribute.name,
            protected: attribute.protected,
            missing: attribute.missing,
            outside: attribute.outside,
            ..WrittenAttribute::default()
        };
        match attribute.kind {
            Kind::Integer { min, max } => {
                written.kind = "integer".to_owned();
                (written.min, written.max) = (Some(min), Some(max));
            }
            Kind::Categorical { levels, ordered } => {
                written.kind = "categorical".to_owned();
                (written.levels, written.ordered) = (Some(levels), Some(ordered));
            }
            Kind::Numeric { bins } => {
                written.kind = "numeric".to_owned();
                written.bins = Some(bins);
            }
        }
        written
    }
}

/// The column to predict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Label {
    /// Column name.
    pub name: String,
    /// The classes, in code order.
    pub classes: Vec<String>,
    /// Other spellings of a class: spelling → class.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub aliases: BTreeMap<String, String>,
}

/// How the text of a CSV file is laid out. Parquet files ignore all but `ignore_other_columns`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Format {
    /// Field separator: one ASCII character; a blank separates at every single blank.
    pub separator: char,
    /// Quote character.
    pub quote: char,
    /// Whether the first record names the columns.
    pub header: bool,
    /// Column names by position. Needed without a header; with one they replace its names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// Lines that start with this character are no data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<char>,
    /// Whether the file may hold columns that the schema does not describe.
    pub ignore_other_columns: bool,
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

/// What [`Encoder::encode`] makes of one cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoded {
    /// A value of the domain.
    Code(i32),
    /// A missing or outside value that the policy mapped to this code.
    Mapped(i32),
    /// The policy is to leave the row out.
    Skip,
}

impl Attribute {
    /// Number of codes of the declared domain, without the level for outside values.
    fn declared_levels(&self) -> i64 {
        match &self.kind {
            Kind::Integer { min, max } => i64::from(*max) - i64::from(*min) + 1,
            Kind::Categorical { levels, .. } => levels.len() as i64,
            Kind::Numeric { bins } => bins.len() as i64 - 1,
        }
    }

    /// The smallest and largest code, both included; with [`Outside::Level`] the largest is the
    /// level of the outside values.
    pub fn domain(&self) -> (i32, i32) {
        let (min, max) = self.declared_domain();
        (min, max + i32::from(self.outside == Outside::Level))
    }

    fn declared_domain(&self) -> (i32, i32) {
        match &self.kind {
            Kind::Integer { min, max } => (*min, *max),
            Kind::Categorical { .. } | Kind::Numeric { .. } => {
                (0, self.declared_levels() as i32 - 1)
            }
        }
    }

    /// How many codes there are.
    pub fn levels(&self) -> usize {
        let (min, max) = self.domain();
        (i64::from(max) - i64::from(min) + 1) as usize
    }

    fn expects_outside(&self) -> bool {
        self.missing.is_some() || self.outside != Outside::Reject
    }

    /// Whether a step of one code up or down is meaningful.
    pub fn is_ordered(&self) -> bool {
        match &self.kind {
            Kind::Integer { .. } | Kind::Numeric { .. } => true,
            Kind::Categorical { ordered, .. } => *ordered,
        }
    }

    /// What values the attribute accepts, in words for an error message.
    pub fn expected(&self) -> String {
        match &self.kind {
            Kind::Integer { min, max } => format!("a whole number from {min} to {max}"),
            Kind::Categorical { levels, .. } => {
                let shown: Vec<_> = levels.iter().take(8).map(String::as_str).collect();
                let rest = levels.len() - shown.len();
                let more = if rest > 0 {
                    format!(" or {rest} more")
                } else {
                    String::new()
                };
                format!("one of {}{more}", shown.join(", "))
            }
            Kind::Numeric { bins } => format!(
                "a number from {} to {}",
                bins[0],
                bins.last().copied().unwrap_or(bins[0])
            ),
        }
    }

    /// The raw text that stands for `code`: encoding it gives `code` again.
    pub fn decode(&self, code: i32) -> String {
        let (_, declared_max) = self.declared_domain();
        if code > declared_max {
            return self.missing.clone().unwrap_or_else(|| match &self.kind {
                Kind::Integer { .. } => code.to_string(),
                Kind::Categorical { .. } => OTHER.to_owned(),
                Kind::Numeric { bins } => bins
                    .last()
                    .map(|edge| (edge + edge.abs().max(1.0)).to_string())
                    .unwrap_or_default(),
            });
        }
        match &self.kind {
            Kind::Integer { .. } => code.to_string(),
            Kind::Categorical { levels, .. } => levels
                .get(code as usize)
                .cloned()
                .unwrap_or_else(|| code.to_string()),
            Kind::Numeric { bins } => bins
                .get(code as usize)
                .map(f64::to_string)
                .unwrap_or_else(|| code.to_string()),
        }
    }

    fn check(&self) -> Result<(), SchemaError> {
        let fail = |problem: String| {
            Err(SchemaError::Attribute {
                attribute: self.name.clone(),
                problem,
            })
        };
        if self.name.trim().is_empty() {
            return fail("a name is needed".into());
        }
        match &self.kind {
            Kind::Integer { min, max } if min > max => {
                return fail(format!("min {min} is above max {max}"));
            }
            // One code above the domain must exist, for the level of outside values.
            Kind::Integer { max, .. } if *max == i32::MAX => {
                return fail(format!("max {max} is too large, at most {}", i32::MAX - 1));
            }
            Kind::Categorical { levels, .. } => {
                if let Some(level) = levels
                    .iter()
                    .find(|level| level.is_empty() || level.trim() != level.as_str())
                {
                    return fail(format!(
                        "level '{level}' is empty or has blanks around it; cells are trimmed, so it would never match"
                    ));
                }
                if self.outside == Outside::Level
                    && self.missing.is_none()
                    && levels.iter().any(|level| level == OTHER)
                {
                    return fail(format!(
                        "level '{OTHER}' is the name of the level for outside values; give a missing marker"
                    ));
                }
                let mut seen = HashSet::new();
                if let Some(twice) = levels.iter().find(|level| !seen.insert(level.as_str())) {
                    return fail(format!("level '{twice}' is listed twice"));
                }
                if levels.is_empty() {
                    return fail("levels are needed".into());
                }
                if self.outside == Outside::Clip {
                    return fail(
                        "outside = \"clip\" needs an order; use \"level\", \"skip\" or \"reject\""
                            .into(),
                    );
                }
            }
            Kind::Numeric { bins } => {
                if bins.len() < 2 {
                    return fail("bins needs at least two edges".into());
                }
                if let Some(edge) = bins.iter().find(|edge| !edge.is_finite()) {
                    return fail(format!("bin edge {edge} is not a finite number"));
                }
                if let Some(pair) = bins.windows(2).find(|pair| pair[0] >= pair[1]) {
                    return fail(format!(
                        "bin edges must ascend, but {} comes before {}",
                        pair[0], pair[1]
                    ));
                }
            }
            Kind::Integer { .. } => {}
        }
        if let Some(missing) = &self.missing {
            if missing.trim() != missing {
                return fail(format!(
                    "the missing marker '{missing}' has blanks around it; cells are trimmed, so it would never match"
                ));
            }
            let declared = Attribute {
                missing: None,
                outside: Outside::Reject,
                ..self.clone()
            };
            if matches!(
                Encoder::new(&declared).encode(missing),
                Ok(Encoded::Code(_))
            ) {
                return fail(format!(
                    "the missing marker '{missing}' is a value of the domain"
                ));
            }
        }
        if self.declared_levels() > MAX_DOMAIN {
            return fail(format!(
                "{} values are too many (at most {MAX_DOMAIN}); declare it numeric with bins",
                self.declared_levels()
            ));
        }
        Ok(())
    }
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
    /// other than [`Outside::Reject`].
    pub fn expects_outside(&self) -> bool {
        self.attributes.iter().any(Attribute::expects_outside)
    }

    /// The same schema with another policy for missing and outside values, in every attribute
    /// that expects any: one with a missing marker, or a policy other than [`Outside::Reject`].
    /// The others go on refusing, so that no domain grows without need; categorical attributes
    /// keep their policy under [`Outside::Clip`], which has no meaning for words.
    #[must_use]
    pub fn with_outside(mut self, outside: Outside) -> Schema {
        for attribute in &mut self.attributes {
            let expects = attribute.expects_outside();
            let clips_words =
                outside == Outside::Clip && matches!(attribute.kind, Kind::Categorical { .. });
            if expects && !clips_words {
                attribute.outside = outside;
            }
        }
        self
    }
}

/// The encoder of one attribute: [`Attribute`] with its levels indexed.
pub struct Encoder<'a> {
    attribute: &'a Attribute,
    levels: HashMap<&'a str, i32>,
}

impl<'a> Encoder<'a> {
    /// Prepares the encoder of `attribute`.
    pub fn new(attribute: &'a Attribute) -> Encoder<'a> {
        let levels = match &attribute.kind {
            Kind::Categorical { levels, .. } => levels
                .iter()
                .enumerate()
                .map(|(code, level)| (level.as_str(), code as i32))
                .collect(),
            _ => HashMap::new(),
        };
        Encoder { attribute, levels }
    }

    /// The attribute that it encodes.
    pub fn attribute(&self) -> &'a Attribute {
        self.attribute
    }

    /// The code of one trimmed cell.
    ///
    /// # Errors
    /// What was expected instead, in words, when the policy is to refuse.
    pub fn encode(&self, cell: &str) -> Result<Encoded, String> {
        if self.attribute.missing.as_deref() == Some(cell) {
            return self.outside(cell, None);
        }
        match &self.attribute.kind {
            Kind::Categorical { .. } => match self.levels.get(cell) {
                Some(&code) => Ok(Encoded::Code(code)),
                None => self.outside(cell, None),
            },
            Kind::Integer { min, max } => {
                let Some(value) = whole_number(cell) else {
                    return Err(self.attribute.expected());
                };
                if value < i64::from(*min) || value > i64::from(*max) {
                    return self.outside(cell, Some(value as f64));
                }
                Ok(Encoded::Code(value as i32))
            }
            Kind::Numeric { bins } => {
                let value = match cell.parse::<f64>() {
                    Ok(value) if value.is_finite() => value,
                    _ => return Err(self.attribute.expected()),
                };
                let last = bins.len() - 1;
                if value < bins[0] || value > bins[last] {
                    return self.outside(cell, Some(value));
                }
                let bin = bins.partition_point(|&edge| edge <= value);
                Ok(Encoded::Code((bin.clamp(1, last) - 1) as i32))
            }
        }
    }

    fn outside(&self, cell: &str, value: Option<f64>) -> Result<Encoded, String> {
        let (min, max) = self.attribute.declared_domain();
        match self.attribute.outside {
            Outside::Reject => Err(self.attribute.expected()),
            Outside::Skip => Ok(Encoded::Skip),
            Outside::Level => Ok(Encoded::Mapped(max + 1)),
            Outside::Clip => {
                // A missing marker that is a number (100 in the ADF files) is clipped like one.
                let value = value.or_else(|| cell.parse::<f64>().ok());
                match value {
                    Some(value) if value.is_finite() => {
                        let below = match &self.attribute.kind {
                            Kind::Numeric { bins } => value < bins[0],
                            _ => value < f64::from(min),
                        };
                        Ok(Encoded::Mapped(if below { min } else { max }))
                    }
                    _ => Err(format!(
                        "{}; a missing value cannot be clipped",
                        self.attribute.expected()
                    )),
                }
            }
        }
    }
}

/// A whole number, also when written with a zero fraction such as `40.0`.
fn whole_number(cell: &str) -> Option<i64> {
    if let Ok(value) = cell.parse::<i64>() {
        return Some(value);
    }
    let value = cell.parse::<f64>().ok()?;
    (value.is_finite() && value.fract() == 0.0 && value.abs() < 9e15).then_some(value as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEOPLE: &str = r#"
name = "people"
[label]
name = "income"
classes = ["low", "high"]
[[attribute]]
name = "age"
kind = "integer"
min = 17
max = 90
[[attribute]]
name = "sex"
kind = "categorical"
levels = ["Female", "Male"]
protected = true
missing = "?"
outside = "level"
[[attribute]]
name = "gain"
kind = "numeric"
bins = [0.0, 1.0, 1000.0, 100000.0]
outside = "clip"
"#;

    fn people() -> Schema {
        Schema::from_toml(PEOPLE).unwrap()
    }

    #[test]
    fn reads_writes_and_reads_back() {
        let schema = people();
        assert_eq!(schema.protected(), [1]);
        let again = Schema::from_toml(&schema.to_toml().unwrap()).unwrap();
        assert_eq!(schema, again);
    }

    #[test]
    fn every_kind_encodes_and_decodes() {
        let schema = people();
        let [age, sex, gain] = [0, 1, 2].map(|i| Encoder::new(&schema.attributes[i]));
        assert_eq!(age.encode("40"), Ok(Encoded::Code(40)));
        assert_eq!(age.encode("40.0"), Ok(Encoded::Code(40)));
        assert!(age.encode("16").unwrap_err().contains("17 to 90"));
        assert!(age.encode("NaN").is_err());
        assert_eq!(sex.encode("Male"), Ok(Encoded::Code(1)));
        assert_eq!(sex.encode("?"), Ok(Encoded::Mapped(2)));
        assert_eq!(gain.encode("0"), Ok(Encoded::Code(0)));
        assert_eq!(gain.encode("1"), Ok(Encoded::Code(1)));
        assert_eq!(gain.encode("100000"), Ok(Encoded::Code(2)));
        assert_eq!(gain.encode("1e9"), Ok(Encoded::Mapped(2)));
        assert_eq!(gain.encode("-3"), Ok(Encoded::Mapped(0)));
        assert!(gain.encode("inf").is_err());
        for attribute in &schema.attributes {
            let encoder = Encoder::new(attribute);
            let (min, max) = attribute.domain();
            for code in min..=max {
                let (Ok(Encoded::Code(back)) | Ok(Encoded::Mapped(back))) =
                    encoder.encode(&attribute.decode(code))
                else {
                    panic!("{} of {}", code, attribute.name);
                };
                assert_eq!(back, code, "{}", attribute.name);
            }
        }
    }

    #[test]
    fn problems_are_named() {
        for (from, to, needle) in [
            ("min = 17", "min = 99", "above max"),
            ("levels = [\"Female\", \"Male\"]", "levels = []", "levels"),
            ("\"Female\", \"Male\"", "\"Male\", \"Male\"", "twice"),
            ("1.0, 1000.0", "1000.0, 1.0", "ascend"),
            ("\"low\", \"high\"", "\"low\"", "two classes"),
            ("name = \"gain\"", "name = \"age\"", "two columns"),
            ("max = 90", "max = 90000000", "too many"),
            ("protected = true", "protectd = true", "protectd"),
            (
                "min = 17",
                "min = 17\nlevels = [\"a\"]",
                "'levels' has no meaning",
            ),
            ("min = 17\n", "", "needs 'min'"),
            ("kind = \"integer\"", "kind = \"real\"", "'real'"),
        ] {
            let error = Schema::from_toml(&PEOPLE.replacen(from, to, 1)).unwrap_err();
            assert!(error.to_string().contains(needle), "{error}");
        }
    }
}
