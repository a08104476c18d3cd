//! The specification of a measurement of groups.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::grouping::DeclaredBins;
use super::impact::ImpactSpecification;
use super::{GroupError, GroupOptions};
use crate::certify::parts::Part;
use crate::certify::specification::TextInputsSpecification;
use crate::specification::{
    DecisionSpecification, PredictorSpecification, named_once, needed, unused,
};
use crate::table_model::Reading;
use probity_data::numbers::place_of;
use probity_data::schema::{LEAST_THRESHOLD, MOST_THRESHOLD, OutOfDomain, Schema};
use probity_nn::modality::ModalityName;
use probity_run::specification::{FieldError, Specification};

/// Everything that determines a measurement of groups.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct GroupsSpecification {
    /// What is classified: rows of a table, or texts.
    #[schemars(extend("x-flag" = false))]
    pub modality: ModalityName,
    /// Model directory, as `probity train` or `probity import` writes it.
    #[schemars(extend("format" = "path"))]
    pub model: PathBuf,
    /// Labelled table, read by the model's schema; or labelled texts.
    #[schemars(extend("format" = "path"))]
    pub data: PathBuf,
    /// Missing and outside values, where the model's schema expects any.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-flag" = "outside"))]
    pub out_of_domain: Option<OutOfDomain>,
    /// Leave rows out with which something is wrong, such as a blank cell, and count them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub skip_bad_rows: bool,
    /// Pass over columns that the schema does not describe.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ignore_other_columns: bool,
    /// Column of a table of texts that holds their labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_column: Option<String>,
    /// Labels that are numbers, such as shares of raters: those below this one are one class, the
    /// others the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = LEAST_THRESHOLD, max = MOST_THRESHOLD))]
    pub label_threshold: Option<f64>,
    /// Protected attributes; for texts, of the lexicon. By default those marked in the model's
    /// schema, or all of the lexicon that are not protected by name only.
    pub protected: Vec<String>,
    /// Which rows: all, or a part of those that the model was trained with.
    pub part: Part,
    /// Seed of the bootstrap.
    pub seed: u64,
    /// How groups are made and judged.
    pub groups: GroupingSpecification,
    /// How decisions are made of what the model says.
    #[serde(skip_serializing_if = "DecisionSpecification::is_usual")]
    pub decision: DecisionSpecification,
    /// What tables can have beside: impact ratios by sex and race/ethnicity.
    pub impact: ImpactSpecification,
    /// What only texts have.
    pub text: TextInputsSpecification,
    /// What only answers, in place of a model directory.
    pub predictor: PredictorSpecification,
}

/// How groups are made and judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct GroupingSpecification {
    /// The class that is good to get; by default the last one of the schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub favourable: Option<String>,
    /// The class of texts that scores are of, such as toxic; by default the second of two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub positive: Option<String>,
    /// Inner edges of the groups of a numeric attribute, such as age=25,45,65; may be given for
    /// several.
    #[schemars(extend("x-flag" = false))]
    pub edges: Vec<DeclaredBins>,
    /// Rows that a rate must be a share of to be judged; texts that a subgroup must have.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub min_group: u64,
    /// Bins of the calibration error.
    #[schemars(range(min = 1, max = 1000))]
    pub calibration_bins: u32,
    /// Bootstrap samples.
    #[schemars(range(min = 20, max = 100_000))]
    pub resamples: u32,
}

impl Default for GroupsSpecification {
    fn default() -> GroupsSpecification {
        GroupsSpecification {
            modality: ModalityName::Table,
            model: PathBuf::new(),
            data: PathBuf::new(),
            out_of_domain: None,
            skip_bad_rows: false,
            ignore_other_columns: false,
            label_column: None,
            label_threshold: None,
            protected: Vec::new(),
            part: Part::All,
            seed: 1,
            groups: GroupingSpecification::default(),
            decision: DecisionSpecification::default(),
            impact: ImpactSpecification::default(),
            text: TextInputsSpecification::default(),
            predictor: PredictorSpecification::default(),
        }
    }
}

impl Default for GroupingSpecification {
    fn default() -> GroupingSpecification {
        GroupingSpecification {
            favourable: None,
            positive: None,
            edges: Vec::new(),
            min_group: 30,
            calibration_bins: 10,
            resamples: 1000,
        }
    }
}

impl GroupingSpecification {
    /// The options of the measurement for the attributes `protected` of `schema`, with nothing left
    /// open.
    pub fn options(&self, schema: &Schema, protected: Vec<String>, seed: u64) -> GroupOptions {
        let classes = &schema.label.classes;
        let named = self.favourable.as_ref().map(|named| {
            // Whoever names none of them is refused where the class is asked for.
            place_of(classes, named).map_or(named, |place| &classes[place])
        });
        GroupOptions {
            protected,
            favourable: named.or(classes.last()).cloned().unwrap_or_default(),
            is_favourable_given: self.favourable.is_some(),
            bins: self.edges.clone(),
            min_group: self.min_group,
            calibration_bins: self.calibration_bins,
            resamples: self.resamples,
            seed,
            impact: None,
        }
    }

    /// The number of the positive class among `classes`.
    ///
    /// # Errors
    /// When it is none of them, or not said where there are more than two.
    pub fn positive_of(&self, classes: &[String]) -> Result<usize, GroupError> {
        let known = || classes.join(", ");
        match (&self.positive, classes.len()) {
            (None, 2) => Ok(1),
            (None, _) => Err(GroupError::PositiveNeeded { known: known() }),
            (Some(class), _) => {
                let position = place_of(classes, class);
                position.ok_or_else(|| GroupError::UnknownPositive {
                    class: class.clone(),
                    known: known(),
                })
            }
        }
    }
}

impl GroupsSpecification {
    /// How the rows of the data are read, beside what the model's schema says.
    pub(crate) fn reading(&self) -> Reading {
        Reading {
            policy: self.out_of_domain,
            skips_bad_rows: self.skip_bad_rows,
            ignores_other_columns: self.ignore_other_columns,
        }
    }
}

impl Specification for GroupsSpecification {
    const KIND: &'static str = "groups";

    fn rules(&self) -> Result<(), FieldError> {
        self.predictor.rules_beside(&self.model, self.modality)?;
        let is_whole = self.part == Part::All || self.predictor.source.is_none();
        unused("part", is_whole, "a predictor")?;
        needed("data", &self.data)?;
        named_once("protected", &self.protected)?;
        self.decision.alone().rules()?;
        let groups = &self.groups;
        match self.modality {
            ModalityName::Table => {
                let is_left_out = self.text == TextInputsSpecification::default();
                unused("text", is_left_out, "tables")?;
                unused("label_column", self.label_column.is_none(), "tables")?;
                unused("label_threshold", self.label_threshold.is_none(), "tables")?;
                unused("groups.positive", groups.positive.is_none(), "tables")?;
                self.impact.rules()
            }
            ModalityName::Text => {
                if self.label_column.is_none() {
                    return Err(FieldError::new(
                        "label_column",
                        "missing",
                        "given for texts",
                    ));
                }
                let usual = GroupingSpecification::default();
                unused("out_of_domain", self.out_of_domain.is_none(), "texts")?;
                unused("ignore_other_columns", !self.ignore_other_columns, "texts")?;
                unused("groups.favourable", groups.favourable.is_none(), "texts")?;
                unused("groups.edges", groups.edges.is_empty(), "texts")?;
                let has_none = self.impact == ImpactSpecification::default();
                unused("impact", has_none, "texts")?;
                let is_usual = groups.calibration_bins == usual.calibration_bins;
                unused("groups.calibration_bins", is_usual, "texts")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(change: impl FnOnce(&mut GroupsSpecification)) -> String {
        let mut specification = GroupsSpecification {
            model: "m".into(),
            data: "d".into(),
            ..GroupsSpecification::default()
        };
        change(&mut specification);
        specification
            .rules()
            .map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn each_modality_has_its_own_fields() {
        assert_eq!(refused(|_| {}), "");
        let texts = |change: fn(&mut GroupsSpecification)| {
            refused(|it| {
                it.modality = ModalityName::Text;
                it.label_column = Some("y".into());
                change(it);
            })
        };
        assert_eq!(texts(|it| it.groups.positive = Some("toxic".into())), "");
        let missing = texts(|it| it.label_column = None);
        assert_eq!(
            missing,
            "label_column is missing, but must be given for texts"
        );
        for (field, said) in [
            (
                "label_column",
                refused(|it| it.label_column = Some("y".into())),
            ),
            (
                "groups.positive",
                refused(|it| it.groups.positive = Some("y".into())),
            ),
            ("text", refused(|it| it.text.column = Some("t".into()))),
            (
                "groups.favourable",
                texts(|it| it.groups.favourable = Some("y".into())),
            ),
            (
                "groups.calibration_bins",
                texts(|it| it.groups.calibration_bins = 3),
            ),
        ] {
            assert!(
                said.starts_with(&format!("{field} is given, but must be left out")),
                "{said}"
            );
        }
    }

    #[test]
    fn the_positive_class_is_the_second_of_two_or_said() {
        let of = |positive: Option<&str>, classes: &[&str]| {
            let groups = GroupingSpecification {
                positive: positive.map(str::to_owned),
                ..GroupingSpecification::default()
            };
            let classes: Vec<String> = classes.iter().map(|&class| class.to_owned()).collect();
            groups
                .positive_of(&classes)
                .map_err(|error| error.to_string())
        };
        assert_eq!(of(None, &["a", "b"]), Ok(1));
        assert_eq!(of(Some("a"), &["a", "b", "c"]), Ok(0));
        let needed = of(None, &["a", "b", "c"]).unwrap_err();
        assert_eq!(
            needed,
            "groups.positive is needed: the model has the classes a, b, c"
        );
        let unknown = of(Some("x"), &["a", "b"]).unwrap_err();
        assert_eq!(unknown, "groups.positive is 'x', but the classes are a, b");
    }
}
