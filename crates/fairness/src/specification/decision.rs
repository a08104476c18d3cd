//! The use of the model under test: the decisions that are made from the probabilities that it
//! gives.
//!
//! A threshold is written `T`, `CLASS:T`, `ATTRIBUTE=VALUE:T` or `ATTRIBUTE=VALUE:CLASS:T`. Without
//! a class it is that of the favourable one, which is the last where nothing says another.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use probity_data::numbers::place_of;
use probity_data::schema::{Encoded, Encoder, Schema};
use probity_nn::decision::{ABSTAIN, Decision, Gap, Score, Thresholds};
use probity_run::specification::FieldError;

const THRESHOLD: &str = "decision.threshold";
const BAND: &str = "decision.abstain";
const GAP: &str = "gap";
/// The least threshold: a predictor's probability of 0 counts as 1e-30
/// (`probity_predictor::probabilities::FLOOR`), and reaches none.
const LEAST: f64 = 1e-29;

/// How decisions are made of probabilities; by default for the most probable class.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct DecisionSpecification {
    /// Least probability at which the favourable class of two is decided, such as 0.7; or that of
    /// another class, as in refused:0.4, or of some rows only, as in sex=Female:0.6. With one for each
    /// class that class is decided whose probability is largest beside its threshold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub threshold: Vec<ClassThreshold>,
    /// Probabilities of the favourable class of two between which nothing is decided, such as
    /// 0.4..0.6.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub abstain: Option<Band>,
}

/// The least probability at which a class is decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct ClassThreshold {
    /// The class, or the value of an attribute, or both; nothing for the favourable class.
    name: String,
    least: f64,
}

impl FromStr for ClassThreshold {
    type Err = String;

    fn from_str(text: &str) -> Result<ClassThreshold, String> {
        let (name, least) = text.rsplit_once(':').unwrap_or(("", text));
        let least: Option<f64> = least.trim().parse().ok();
        let is_named = !name.trim().is_empty() || !text.contains(':');
        match least.filter(|least| is_named && LEAST <= *least && *least < 1.0) {
            Some(least) => Ok(ClassThreshold {
                name: name.trim().to_owned(),
                least,
            }),
            None => Err(format!(
                "a number between 0 and 1, at least {LEAST:e}, such as 0.7, CLASS:0.7, \
                 ATTRIBUTE=VALUE:0.7 or ATTRIBUTE=VALUE:CLASS:0.7"
            )),
        }
    }
}

impl TryFrom<String> for ClassThreshold {
    type Error = String;

    fn try_from(text: String) -> Result<ClassThreshold, String> {
        text.parse()
    }
}

impl fmt::Display for ClassThreshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name.is_empty() {
            true => write!(f, "{}", self.least),
            false => write!(f, "{}:{}", self.name, self.least),
        }
    }
}

impl From<ClassThreshold> for String {
    fn from(threshold: ClassThreshold) -> String {
        threshold.to_string()
    }
}

/// Probabilities between which nothing is decided.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Band {
    low: f64,
    high: f64,
}

impl TryFrom<String> for Band {
    type Error = String;

    fn try_from(text: String) -> Result<Band, String> {
        let ends = text.split_once("..").and_then(|(low, high)| {
            let (low, high) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
            Some(Band { low, high })
        });
        ends.filter(|band| LEAST <= band.low && band.low < band.high && band.high < 1.0)
            .ok_or_else(|| {
                format!(
                    "two ascending numbers between 0 and 1, at least {LEAST:e}, such as 0.4..0.6"
                )
            })
    }
}

impl From<Band> for String {
    fn from(band: Band) -> String {
        format!("{}..{}", band.low, band.high)
    }
}

/// Writes how decisions are made, as a sentence; nothing where they are made as usual.
impl fmt::Display for Deciding<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.by.threshold.is_empty() {
            let thresholds = self.by.threshold.iter().map(ToString::to_string);
            let thresholds: Vec<String> = thresholds.collect();
            write!(
                f,
                "Decisions are made by thresholds: {}.",
                thresholds.join(", ")
            )?;
        }
        if let Some(Band { low, high }) = self.by.abstain {
            write!(
                f,
                "Nothing is decided between the probabilities {low} and {high}."
            )?;
        }
        if let Some(gap) = self.gap {
            write!(
                f,
                "Scores are compared: those that differ by more than {gap} count as different decisions."
            )?;
        }
        Ok(())
    }
}

/// The rows that a threshold is of: those with a code in the attribute at a place, or all.
type Whom = Option<(usize, i32)>;

/// The way in which decisions are made, or the amount by which scores must differ that are compared
/// in their place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Deciding<'a> {
    by: &'a DecisionSpecification,
    gap: Option<f64>,
}

impl DecisionSpecification {
    /// Whether nothing is said, so that decisions are made as usual.
    pub fn is_usual(&self) -> bool {
        *self == DecisionSpecification::default()
    }

    /// Returns these decisions, where no scores are compared.
    pub fn alone(&self) -> Deciding<'_> {
        self.or_gap(None)
    }

    /// Returns these decisions, or scores that are compared where a gap is given.
    pub fn or_gap(&self, gap: Option<f64>) -> Deciding<'_> {
        Deciding { by: self, gap }
    }

    /// The specification with the class of each threshold said, where `favourable` of `classes` is
    /// good to get.
    #[must_use]
    pub(crate) fn resolved(
        mut self,
        favourable: &str,
        classes: &[String],
    ) -> DecisionSpecification {
        let is_class = |name: &str| classes.iter().any(|class| class == name);
        for threshold in &mut self.threshold {
            let name = &mut threshold.name;
            let last = name.rsplit_once(':').map_or("", |(_, last)| last);
            if name.is_empty() {
                *name = favourable.to_owned();
            } else if !is_class(name) && !is_class(last) {
                *name = format!("{name}:{favourable}");
            }
        }
        self
    }
}

impl Deciding<'_> {
    /// Whether the most probable class is decided.
    pub fn is_usual(self) -> bool {
        self.by.is_usual() && self.gap.is_none()
    }

    /// The two parts of this value.
    pub(crate) fn said(self) -> (DecisionSpecification, Option<f64>) {
        (self.by.clone(), self.gap)
    }

    /// Checks the rules between the fields.
    ///
    /// # Errors
    /// The first field that contradicts another.
    pub fn rules(self) -> Result<(), FieldError> {
        let given = [
            (THRESHOLD, !self.by.threshold.is_empty()),
            (BAND, self.by.abstain.is_some()),
            (GAP, self.gap.is_some()),
        ];
        let mut given = given.iter().filter(|(_, is_given)| *is_given);
        if let (Some((first, _)), Some((second, _))) = (given.next(), given.next()) {
            let expected = format!("left out where {first} is given");
            return Err(FieldError::new(*second, "given", expected));
        }
        let name = |at: usize| &self.by.threshold[at].name;
        let again = (0..self.by.threshold.len()).find(|&at| (0..at).any(|of| name(of) == name(at)));
        match again {
            None => Ok(()),
            Some(at) => {
                let expected = "one threshold for each";
                Err(FieldError::new(THRESHOLD, &self.by.threshold[at], expected))
            }
        }
    }

    /// The decision between `classes`, where the one numbered `favourable` is good to get, for rows
    /// of `schema`, if the inputs are rows.
    ///
    /// # Errors
    /// When something is named that is not there, or there are not two classes where there must be.
    pub fn among(
        self,
        classes: &[String],
        favourable: usize,
        schema: Option<&Schema>,
    ) -> Result<Decision, FieldError> {
        if schema.is_some_and(|schema| schema.label.is_number()) {
            return self.of_numbers();
        }
        if let Some(band) = self.by.abstain {
            if classes.len() != 2 || classes.iter().any(|class| class == ABSTAIN) {
                let expected = format!("left out: the classes are {}", classes.join(", "));
                return Err(FieldError::new(BAND, String::from(band), expected));
            }
            return Ok(Decision::Abstention {
                class: favourable,
                low: band.low,
                high: band.high,
            });
        }
        if let Some(most) = self.gap {
            if most > 1.0 {
                let expected = "at most 1, since probabilities are compared";
                return Err(FieldError::new(GAP, most, expected));
            }
            return Ok(Decision::Gap(Gap {
                score: Score::Probability(favourable),
                most,
            }));
        }
        if self.by.threshold.is_empty() {
            return Ok(Decision::Largest);
        }
        let mut of: BTreeMap<Whom, Vec<(usize, f64)>> = BTreeMap::new();
        for threshold in &self.by.threshold {
            let (whom, class) = self.found(threshold, (classes, favourable), schema)?;
            let of = of.entry(whom).or_default();
            of.push((class, threshold.least));
        }
        let all = of.remove(&None).unwrap_or_default();
        let all = thresholds(&all, classes, None)?;
        let mut of_codes = of
            .into_iter()
            .map(|(whom, of)| (whom.unwrap_or_default(), of));
        let Some((first, schema)) = of_codes.next().zip(schema) else {
            return Ok(Decision::Thresholds(all));
        };
        let place = first.0.0;
        let (min, max) = schema.attributes[place].domain();
        let mut values = vec![None; (i64::from(max) - i64::from(min) + 1) as usize];
        for ((other, code), of) in std::iter::once(first).chain(of_codes) {
            if other != place {
                let found = format!("one of '{}'", schema.attributes[other].name);
                let expected = format!("of '{}' only", schema.attributes[place].name);
                return Err(FieldError::new(THRESHOLD, found, expected));
            }
            let attribute = &schema.attributes[place];
            let whom = format!("{}={}", attribute.name, attribute.decode(code));
            values[(code - min) as usize] = Some(thresholds(&of, classes, Some(&whom))?);
        }
        Ok(Decision::Thresholds(all.with_values((place, min), values)))
    }

    /// Refuses decisions that are made of probabilities, where a model gives numbers.
    ///
    /// # Errors
    /// When there are such.
    pub(crate) fn expect_usual(self) -> Result<(), FieldError> {
        let is_given = [
            (THRESHOLD, !self.by.threshold.is_empty()),
            (BAND, self.by.abstain.is_some()),
        ];
        match is_given.iter().find(|(_, is_given)| *is_given) {
            None => Ok(()),
            Some((field, _)) => {
                let expected = "left out: the model gives numbers, not probabilities";
                Err(FieldError::new(*field, "given", expected))
            }
        }
    }

    /// The numbers of a regressor, compared.
    fn of_numbers(self) -> Result<Decision, FieldError> {
        self.expect_usual()?;
        match self.gap {
            Some(most) => Ok(Decision::Gap(Gap {
                score: Score::Number,
                most,
            })),
            None => {
                let expected = "given, in the unit of the label: the model gives numbers, and which \
                                difference counts is for people to say";
                Err(FieldError::new(GAP, "left out", expected))
            }
        }
    }

    /// The decision between `classes` of texts, the last of which is good to get.
    ///
    /// # Errors
    /// See [`Deciding::among`].
    pub fn of_texts(self, classes: &[String]) -> Result<Decision, FieldError> {
        self.among(classes, classes.len().saturating_sub(1), None)
    }

    /// Finds the rows and the class that `threshold` is of.
    fn found(
        self,
        threshold: &ClassThreshold,
        (classes, favourable): (&[String], usize),
        schema: Option<&Schema>,
    ) -> Result<(Whom, usize), FieldError> {
        let number = |name: &str| place_of(classes, name);
        let name = threshold.name.as_str();
        if name.is_empty() {
            return Ok((None, favourable));
        }
        if let Some(class) = number(name) {
            return Ok((None, class));
        }
        let of_value = schema.and_then(|schema| {
            let (attribute, value) = schema.attribute_and_value(name);
            let (place, value) = (schema.index_of(attribute).ok()?, value?);
            let encoder = Encoder::new(&schema.attributes[place]);
            let code = |value: &str| match encoder.encode(value) {
                Ok(Encoded::Code(code)) => Some((place, code)),
                _ => None,
            };
            if let Some(whom) = code(value) {
                return Some((Some(whom), favourable));
            }
            let (value, class) = value.rsplit_once(':')?;
            Some((Some(code(value)?), number(class)?))
        });
        of_value.ok_or_else(|| {
            let rows = schema.map_or("", |_| ", or ATTRIBUTE=VALUE of the schema");
            let expected = format!("of one of the classes {}{rows}", classes.join(", "));
            FieldError::new(THRESHOLD, threshold, expected)
        })
    }
}

/// Thresholds of some of `classes`, of rows with the value `whom` alone where that is said.
fn thresholds(
    of: &[(usize, f64)],
    classes: &[String],
    whom: Option<&str>,
) -> Result<Thresholds, FieldError> {
    match *of {
        [] => Ok(Thresholds::new(&vec![1.0; classes.len()])),
        [(class, least)] if classes.len() == 2 => Ok(Thresholds::of_two(class, least)),
        _ => {
            let mut all = vec![None; classes.len()];
            of.iter()
                .for_each(|&(class, least)| all[class] = Some(least));
            let all: Option<Vec<f64>> = all.into_iter().collect();
            let all = all.filter(|_| of.len() == classes.len()).ok_or_else(|| {
                let named = of.iter().map(|(class, _)| classes[*class].as_str());
                let named: Vec<&str> = named.collect();
                let rows = whom.map_or(String::new(), |whom| format!(" for rows with {whom}"));
                let found = format!("given for {}{rows}", named.join(", "));
                let expected =
                    format!("given{rows} for each of the classes {}", classes.join(", "));
                FieldError::new(THRESHOLD, found, expected)
            })?;
            Ok(Thresholds::new(&all))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use probity_data::builtin;

    fn given(thresholds: &[&str]) -> DecisionSpecification {
        let threshold = thresholds.iter().map(|text| text.parse().unwrap());
        DecisionSpecification {
            threshold: threshold.collect(),
            ..DecisionSpecification::default()
        }
    }

    fn logits(p: f64) -> [f32; 2] {
        [(1.0 - p).ln() as f32, p.ln() as f32]
    }

    #[test]
    fn numbers_are_compared_in_their_unit_and_nothing_else() {
        let mut schema = builtin::schema("adf-census").unwrap().unwrap();
        let classes = schema.label.classes.clone();
        let usual = DecisionSpecification::default();
        let wide = usual.or_gap(Some(500.0));
        let refused = wide.among(&classes, 1, Some(&schema)).unwrap_err();
        assert!(refused.to_string().contains("at most 1"), "{refused}");
        schema.label = probity_data::schema::Label::of_numbers("income");
        let decision = wide.among(&schema.label.classes, 1, Some(&schema)).unwrap();
        let told = |a: f32, b: f32| decision.contrast((&[], &[0.0, a]), (&[], &[0.0, b]));
        assert_eq!(told(-700.0, 100.0), Some([0, 1]));
        assert_eq!(told(100.0, -700.0), Some([1, 0]));
        assert_eq!(told(100.0, 600.0), None);
        for (by, field) in [
            (usual.alone(), "gap"),
            (given(&["0.7"]).alone(), "decision.threshold"),
        ] {
            let error = by
                .among(&schema.label.classes, 1, Some(&schema))
                .unwrap_err();
            assert!(error.to_string().contains(field), "{error}");
        }
    }

    #[test]
    fn thresholds_are_of_classes_and_of_values() {
        let schema = builtin::schema("adf-census").unwrap().unwrap();
        let classes = ["low", "high"].map(str::to_owned);
        let sex = schema.index_of("sex").unwrap();
        let (min, max) = schema.attributes[sex].domain();
        let row = |code: i32| {
            let mut row = vec![0; schema.attributes.len()];
            row[sex] = code;
            row
        };
        let female = schema.attributes[sex].decode(max);
        let of_value = format!("sex={female}:0.9");
        let both = given(&["0.7", &of_value]);
        let decision = both.alone().among(&classes, 1, Some(&schema)).unwrap();
        let decide = |code, p| decision.decide(&row(code), &logits(p));
        assert_eq!([decide(min, 0.69), decide(min, 0.7)], [0, 1]);
        assert_eq!([decide(max, 0.89), decide(max, 0.9)], [0, 1]);
        let of_class = format!("sex={female}:low:0.2");
        let decision = given(&[&of_class])
            .alone()
            .among(&classes, 1, Some(&schema))
            .unwrap();
        let decide = |code, p| decision.decide(&row(code), &logits(p));
        assert_eq!(
            [decide(min, 0.6), decide(max, 0.8), decide(max, 0.81)],
            [1, 0, 1]
        );
        let low = given(&["low:0.2"])
            .alone()
            .among(&classes, 1, None)
            .unwrap();
        assert_eq!([0.79, 0.81].map(|p| low.decide(&[], &logits(p))), [0, 1]);
    }

    #[test]
    fn what_is_not_there_is_refused() {
        let schema = builtin::schema("adf-census").unwrap().unwrap();
        let two = ["low", "high"].map(str::to_owned);
        let three = ["a", "b", "c"].map(str::to_owned);
        let of = |thresholds: &[&str], classes: &[String]| {
            let refused =
                given(thresholds)
                    .alone()
                    .among(classes, classes.len() - 1, Some(&schema));
            refused.unwrap_err().to_string()
        };
        assert!(of(&["mid:0.3"], &two).contains("one of the classes low, high"));
        assert!(of(&["sex=17:0.3"], &two).contains("one of the classes"));
        assert!(of(&["0.3"], &three).contains("each of the classes a, b, c"));
        let least: ClassThreshold = "1e-29".parse().unwrap();
        assert!(least.least > 2.0 * probity_predictor::probabilities::FLOOR);
        assert!(of(&["sex=0:0.3", "race=0:0.4"], &two).contains("only"));
        let incomplete = of(&["a:0.3", "b:0.3", "c:0.3", "sex=0:b:0.4"], &three);
        assert!(
            incomplete.contains(
                "given for b for rows with sex=0, but must be given for rows with sex=0 for each"
            ),
            "{incomplete}"
        );
        let twice = given(&["0.3", "0.4"]).alone().rules().unwrap_err();
        assert!(twice.to_string().contains("one threshold for each"));
        for text in [
            "1",
            "0",
            "1e-30",
            "high:9e-30",
            "x",
            "high:",
            "high:1.5",
            "",
            ":0.5",
        ] {
            assert!(text.parse::<ClassThreshold>().is_err(), "{text}");
        }
        for text in [
            "0.4",
            "1e-30..0.5",
            "0.6..0.4",
            "0..0.5",
            "0.5..1",
            "0.5..0.5",
        ] {
            assert!(Band::try_from(text.to_owned()).is_err(), "{text}");
        }
        let band = Some(Band {
            low: 0.4,
            high: 0.6,
        });
        let mut both = given(&["0.3"]);
        both.abstain = band;
        assert!(both.alone().rules().is_err());
        assert!(given(&["0.3"]).or_gap(Some(0.1)).rules().is_err());
        let mut only = given(&[]);
        only.abstain = band;
        assert!(only.alone().among(&three, 2, None).is_err());
    }
}
