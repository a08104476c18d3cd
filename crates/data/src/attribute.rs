//! An attribute of a table: its kind and domain, and how a raw value becomes an integer code.
//!
//! Part of [`super::schema`], which re-exports everything here.

mod encoder;
mod missing;

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use super::bins::bin_of;
use super::schema_error::SchemaError;
use super::spelling;
use super::words;

pub use encoder::{Encoded, Encoder};
pub use missing::{Missing, is_missing};

/// The largest number of codes that an attribute may have; it keeps one-hot layers and protected
/// products sane.
const MAX_DOMAIN: i64 = 1_000_000;

/// The largest code.
const MAX_CODE: i64 = i32::MAX as i64;

/// The text of the level for outside values of a categorical attribute that has no missing marker.
const OTHER: &str = "(other)";

/// What happens to a missing value or one outside the declared domain.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema,
)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = OutsidePolicy))]
#[serde(rename_all = "lowercase")]
pub enum OutOfDomain {
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

/// The kind of values that an attribute measures, and its domain.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// Whole numbers `min..=max`.
    Integer {
        /// The smallest value.
        min: i32,
        /// The largest value.
        max: i32,
    },
    /// A word out of a list.
    Categorical {
        /// The words, in code order. A word that is a plain number stands for its other spellings:
        /// 1 for 1.0.
        levels: Vec<String>,
        /// Whether neighbouring levels are alike, so that a step of one is meaningful.
        ordered: bool,
    },
    /// Numbers of any kind, sorted into bins.
    Numeric {
        /// The ascending edges of the bins; one bin fewer than edges.
        bins: Vec<f64>,
        /// The number that stands for each bin and lies in it, such as one that rows of the data
        /// have.
        values: Option<Vec<f64>>,
    },
}

/// An input column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "WrittenAttribute", into = "WrittenAttribute")]
pub struct Attribute {
    /// The column name.
    pub name: String,
    /// The kind and domain.
    pub kind: Kind,
    /// Whether decisions must not depend on the attribute.
    pub protected: bool,
    /// The levels beside the numbers of an integer or numeric attribute, such as `Exempt` or 8888,
    /// in the order of their codes, which follow those of the numbers.
    pub named: Vec<String>,
    /// The marks that stand for "not known".
    pub missing: Missing,
    /// The other spellings of levels: spelling → level.
    pub merge: BTreeMap<String, String>,
    /// The policy for missing and out-of-domain values.
    pub outside: OutOfDomain,
}

/// An attribute as it stands in TOML, with every key of every kind. A key that is misspelt, or
/// belongs to another kind, is refused rather than ignored.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenAttribute {
    name: String,
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    min: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<i32>,
    #[serde(
        default,
        deserialize_with = "words::optional",
        skip_serializing_if = "Option::is_none"
    )]
    levels: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ordered: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bins: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<Vec<f64>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    protected: bool,
    #[serde(default, skip_serializing_if = "Missing::is_none")]
    missing: Missing,
    #[serde(default)]
    outside: OutOfDomain,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    merge: BTreeMap<String, String>,
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
            ("values", written.values.is_some()),
            ("merge", !written.merge.is_empty()),
        ];
        let own: &[&str] = match written.kind.as_str() {
            "integer" => &["min", "max", "levels"],
            "categorical" => &["levels", "ordered", "merge"],
            "numeric" => &["bins", "values", "levels"],
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
        let mut levels = written.levels;
        let kind = match written.kind.as_str() {
            "integer" => Kind::Integer {
                min: written.min.ok_or_else(|| needs("min"))?,
                max: written.max.ok_or_else(|| needs("max"))?,
            },
            "categorical" => Kind::Categorical {
                levels: levels.take().ok_or_else(|| needs("levels"))?,
                ordered: written.ordered.unwrap_or(false),
            },
            _ => Kind::Numeric {
                bins: written.bins.ok_or_else(|| needs("bins"))?,
                values: written.values,
            },
        };
        Ok(Attribute {
            name: written.name,
            kind,
            protected: written.protected,
            named: levels.unwrap_or_default(),
            missing: written.missing,
            merge: written.merge,
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
            merge: attribute.merge,
            outside: attribute.outside,
            levels: (!attribute.named.is_empty()).then_some(attribute.named),
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
            Kind::Numeric { bins, values } => {
                written.kind = "numeric".to_owned();
                (written.bins, written.values) = (Some(bins), values);
            }
        }
        written
    }
}

impl Attribute {
    /// Returns the number of codes of the declared domain, without the level for outside values.
    fn declared_levels(&self) -> i64 {
        let own = match &self.kind {
            Kind::Integer { min, max } => i64::from(*max) - i64::from(*min) + 1,
            Kind::Categorical { levels, .. } => levels.len() as i64,
            Kind::Numeric { bins, .. } => bins.len() as i64 - 1,
        };
        own + self.named.len() as i64
    }

    /// Returns the smallest and largest code, both included; with [`OutOfDomain::Level`] the
    /// largest is the level of the outside values.
    pub fn domain(&self) -> (i32, i32) {
        let (min, max) = self.declared_domain();
        (min, max + i32::from(self.outside == OutOfDomain::Level))
    }

    /// Returns the smallest and largest code that stand for declared values, both included.
    pub fn declared_domain(&self) -> (i32, i32) {
        let (min, max) = self.ordered_domain();
        (min, max + self.named.len() as i32)
    }

    /// Returns the smallest and largest code among which an order can be: those of numbers, without
    /// the levels beside them, and those of the levels of a category. Both are included.
    pub fn ordered_domain(&self) -> (i32, i32) {
        match &self.kind {
            Kind::Integer { min, max } => (*min, *max),
            Kind::Categorical { levels, .. } => (0, levels.len() as i32 - 1),
            Kind::Numeric { bins, .. } => (0, bins.len() as i32 - 2),
        }
    }

    /// Returns whether the codes stand for values of an order, such as two numbers.
    pub fn are_ordered(&self, codes: &[i32]) -> bool {
        let (min, max) = self.ordered_domain();
        self.is_ordered() && codes.iter().all(|code| (min..=max).contains(code))
    }

    /// Returns the level beside the numbers that `code` stands for.
    fn named_level(&self, code: i32) -> Option<&str> {
        let place = usize::try_from(i64::from(code) - i64::from(self.ordered_domain().1) - 1);
        self.named.get(place.ok()?).map(String::as_str)
    }

    /// Returns the number of codes.
    pub fn levels(&self) -> usize {
        let (min, max) = self.domain();
        (i64::from(max) - i64::from(min) + 1) as usize
    }

    /// Returns the code of values that are not known: that of the outside values, where some are
    /// marked as missing and have one.
    pub fn unknown(&self) -> Option<i32> {
        let [(_, last), (_, declared)] = [self.domain(), self.declared_domain()];
        (last > declared && !self.missing.is_none()).then_some(last)
    }

    /// Returns the number of codes of values that are known.
    pub fn known_levels(&self) -> usize {
        self.levels() - usize::from(self.unknown().is_some())
    }

    /// Returns whether the attribute has a missing marker, or a policy other than
    /// [`OutOfDomain::Reject`].
    fn expects_outside(&self) -> bool {
        !self.missing.is_none() || self.outside != OutOfDomain::Reject
    }

    /// Returns whether [`super::schema::Schema::with_outside`] gives the attribute the policy
    /// `outside`.
    pub(super) fn takes(&self, outside: OutOfDomain) -> bool {
        match outside {
            OutOfDomain::Level => self.expects_outside(),
            OutOfDomain::Clip => !matches!(self.kind, Kind::Categorical { .. }),
            OutOfDomain::Skip | OutOfDomain::Reject => true,
        }
    }

    /// Returns whether a step of one code up or down is meaningful.
    pub fn is_ordered(&self) -> bool {
        match &self.kind {
            Kind::Integer { .. } | Kind::Numeric { .. } => true,
            Kind::Categorical { ordered, .. } => *ordered,
        }
    }

    /// Describes the values that the attribute accepts, in words for an error message.
    pub fn expected(&self) -> String {
        let beside = match self.named.is_empty() {
            true => String::new(),
            false => format!(", or one of {}", self.named.join(", ")),
        };
        let expected = match &self.kind {
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
            Kind::Numeric { bins, .. } => format!(
                "a number from {} to {}",
                bins[0],
                bins.last().copied().unwrap_or(bins[0])
            ),
        };
        expected + &beside
    }

    /// Returns the raw text that stands for `code`: encoding it gives `code` again. For a bin, the
    /// text is the bin's value where the schema has one, else its lower edge.
    pub fn decode(&self, code: i32) -> String {
        let (_, declared_max) = self.declared_domain();
        if code > declared_max {
            let mark = self.missing.first().map(str::to_owned);
            return mark.unwrap_or_else(|| self.outside_number(code));
        }
        if let Some(level) = self.named_level(code) {
            return level.to_owned();
        }
        match &self.kind {
            Kind::Integer { .. } => code.to_string(),
            Kind::Categorical { levels, .. } => levels
                .get(code as usize)
                .cloned()
                .unwrap_or_else(|| code.to_string()),
            Kind::Numeric { bins, values } => values
                .as_ref()
                .unwrap_or(bins)
                .get(code as usize)
                .map(f64::to_string)
                .unwrap_or_else(|| code.to_string()),
        }
    }

    /// Returns a number that stands for `code`, which is the code of outside values, where nothing
    /// is marked as missing: a number above the domain that is no level beside it.
    fn outside_number(&self, code: i32) -> String {
        let beside = numbers_of_all(&self.named);
        let free = |from: f64, step: f64| {
            let mut numbers = (0u32..).map(|steps| from + f64::from(steps) * step);
            let number = numbers.find(|number| !beside.contains(number));
            number.unwrap_or(from).to_string()
        };
        match &self.kind {
            Kind::Integer { .. } => free(f64::from(code), 1.0),
            Kind::Categorical { .. } => OTHER.to_owned(),
            Kind::Numeric { bins, .. } => bins
                .last()
                .map(|edge| free(edge + edge.abs().max(1.0), edge.abs().max(1.0)))
                .unwrap_or_default(),
        }
    }

    /// Returns the smallest raw value that has `code`: the lower edge of a bin, else the only one.
    pub fn lowest(&self, code: i32) -> String {
        match (&self.kind, usize::try_from(code)) {
            (Kind::Numeric { bins, .. }, Ok(bin)) if bin + 1 < bins.len() => bins[bin].to_string(),
            _ => self.decode(code),
        }
    }

    /// Describes the raw values with codes from `first` to `last`, in words: `18 – 24`, `Private`,
    /// and of bins, whose numbers lie from one edge to another, `1.5 to below 7`.
    pub fn between(&self, first: i32, last: i32) -> String {
        match (&self.kind, usize::try_from(last)) {
            (Kind::Numeric { bins, .. }, Ok(bin)) if bin + 1 < bins.len() => {
                // The last bin holds its upper edge.
                let below = if bin + 2 < bins.len() { "below " } else { "" };
                format!("{} to {below}{}", self.lowest(first), bins[bin + 1])
            }
            _ if first == last => self.decode(first),
            _ => format!("{} – {}", self.lowest(first), self.decode(last)),
        }
    }

    /// Checks everything that the rest of the package relies on.
    pub(super) fn check(&self) -> Result<(), SchemaError> {
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
            // Codes above the domain must exist, for levels beside it and that of outside values.
            Kind::Integer { max, .. } if i64::from(*max) >= MAX_CODE - self.named.len() as i64 => {
                let most = MAX_CODE - 1 - self.named.len() as i64;
                return fail(format!("max {max} is too large, at most {most}"));
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
                if self.outside == OutOfDomain::Level
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
                if let Err(problem) = check_spellings(&self.merge, levels) {
                    return fail(format!("merge: {problem}"));
                }
                if self.outside == OutOfDomain::Clip {
                    return fail(
                        "outside = \"clip\" needs an order; use \"level\", \"skip\" or \"reject\""
                            .into(),
                    );
                }
            }
            Kind::Numeric { bins, values } => {
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
                if let Some(values) = values
                    && values.len() != bins.len() - 1
                {
                    return fail(format!(
                        "values has {} numbers for {} bins; give one for each",
                        values.len(),
                        bins.len() - 1
                    ));
                }
                let mut pairs = values.iter().flatten().enumerate();
                if let Some((bin, value)) =
                    pairs.find(|&(bin, &value)| bin_of(bins, value) != Some(bin))
                {
                    return fail(format!(
                        "the value {value} does not lie in its bin, from {} to {}",
                        bins[bin],
                        bins[bin + 1]
                    ));
                }
            }
            Kind::Integer { .. } => {}
        }
        self.check_named().or_else(fail)?;
        let declared = Attribute {
            missing: Missing::default(),
            outside: OutOfDomain::Reject,
            ..self.clone()
        };
        let encoder = Encoder::new(&declared);
        let is_value = |mark: &str| matches!(encoder.encode(mark), Ok(Encoded::Code(_)));
        if let Err(problem) = self.missing.check(is_value) {
            return fail(problem);
        }
        if self.declared_levels() > MAX_DOMAIN {
            return fail(format!(
                "{} values are too many (at most {MAX_DOMAIN}); declare it numeric with bins",
                self.declared_levels()
            ));
        }
        Ok(())
    }

    /// Checks the levels beside numbers, and returns the problem if there is one.
    fn check_named(&self) -> Result<(), String> {
        if matches!(self.kind, Kind::Categorical { .. }) && !self.named.is_empty() {
            return Err("levels beside numbers have no meaning for words".to_owned());
        }
        let numbers = Attribute {
            named: Vec::new(),
            missing: Missing::default(),
            outside: OutOfDomain::Reject,
            ..self.clone()
        };
        let encoder = Encoder::new(&numbers);
        for (place, level) in self.named.iter().enumerate() {
            if level.is_empty() || level.trim() != level.as_str() {
                return Err(format!(
                    "level '{level}' is empty or has blanks around it; cells are trimmed, so it would never match"
                ));
            }
            let says = spelling::number(level);
            let is_same = |other: &String| {
                other == level || (says.is_some() && spelling::number(other) == says)
            };
            if self.named[..place].iter().any(is_same) {
                return Err(format!("level '{level}' is listed twice"));
            }
            if let Ok(Encoded::Code(_)) = encoder.encode(level) {
                return Err(format!(
                    "level '{level}' is one of the numbers; levels beside them lie outside of their domain"
                ));
            }
        }
        Ok(())
    }
}

/// Returns the numbers among `words`.
fn numbers_of_all(words: &[String]) -> Vec<f64> {
    let numbers = words.iter().filter_map(|word| spelling::number(word));
    numbers.collect()
}

/// Checks `spellings` of some of `words`, and returns the problem if there is one.
///
/// # Errors
/// In words.
pub(super) fn check_spellings(
    spellings: &BTreeMap<String, String>,
    words: &[String],
) -> Result<(), String> {
    for (spelling, word) in spellings {
        if !words.contains(word) {
            return Err(format!(
                "'{spelling}' stands for '{word}', which is not listed"
            ));
        }
        if words.contains(spelling) {
            return Err(format!(
                "'{spelling}' stands for '{word}', but is listed itself; take it off the list"
            ));
        }
    }
    Ok(())
}
