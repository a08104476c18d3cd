//! The specification of situation testing.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::compare::{SituationOptions, Test};
use crate::neighbours::Ties;
use crate::people::{Centre, Drawing, Sources, Weight};
use probity_data::schema::OutOfDomain;
use probity_fairness::specification::{DecisionSpecification, PredictorSpecification};
use probity_run::specification::{FieldError, Specification};

/// Everything that determines a situation test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct SituationsSpecification {
    /// Model directory, as `probity train` or `probity import` writes it; its schema need not know
    /// the protected attributes.
    #[serde(skip_serializing_if = "is_empty")]
    #[schemars(extend("format" = "path"))]
    pub model: PathBuf,
    /// Table of the people, with the protected attributes.
    #[schemars(extend("format" = "path"))]
    pub data: PathBuf,
    /// Schema of the people: a file, a built-in name, or the schema itself; by default that of the
    /// model. On the command line --schema, where there is no predictor.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-flag" = false))]
    pub schema: Option<String>,
    /// Look at the outcomes in the data, in place of a model's decisions.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub label: bool,
    /// Missing and outside values, where the schema expects any.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-flag" = "outside"))]
    pub out_of_domain: Option<OutOfDomain>,
    /// Leave rows out with which something is wrong, such as a blank cell, and count them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub skip_bad_rows: bool,
    /// Protected groups, such as sex=female; of an attribute alone, each of its values against all
    /// others. Of several groups also those who are in all of them. By default the attributes that
    /// the schema marks.
    pub protected: Vec<String>,
    /// Group with which the groups of a protected attribute are compared, such as race=white, in place
    /// of everybody else; of an attribute alone each of its values in turn.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reference: Vec<String>,
    /// The class that is good to get; by default the last one of the schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub favourable: Option<String>,
    /// Whom the others are looked for around: the person, or a counterpart that is drawn from a density
    /// which is learnt from the others.
    #[serde(skip_serializing_if = "is_usual")]
    pub counterpart: Centre,
    /// Attributes that counterparts which are drawn have from the person, since the group does not
    /// affect them; other protected attributes are such anyway.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unaffected: Vec<String>,
    /// Seed of counterparts that are drawn.
    pub seed: u64,
    /// Table of what the same people would have been outside of the group, row by row, by a causal
    /// model of yours: others are then looked for around that.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "path"))]
    pub counterfactuals: Option<PathBuf>,
    /// Weights of attributes in the distance of people, such as age=2; 1 by default, and 0 leaves an
    /// attribute out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<Weight>,
    /// Neighbours on each side.
    #[schemars(range(min = 1, max = 100_000))]
    pub k: u32,
    /// The test of each person.
    pub test: Test,
    /// What happens to people as near as the k-th neighbour.
    pub ties: Ties,
    /// Count the person, and the counterfactual, among their neighbours; what is decided about the
    /// others is then what the counterfactuals say of them, too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub centres: bool,
    /// Level of each test, and largest expected share of false ones among those who are found.
    #[schemars(range(min = 0.000_001, max = 0.5))]
    pub level: f64,
    /// Exit code 1 if a larger share of a group than this is found to be discriminated against.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub fail_above: Option<f64>,
    /// How decisions are made of what the model says.
    #[serde(skip_serializing_if = "DecisionSpecification::is_usual")]
    pub decision: DecisionSpecification,
    /// What only answers, in place of a model directory.
    pub predictor: PredictorSpecification,
}

fn is_empty(path: &std::path::Path) -> bool {
    path.as_os_str().is_empty()
}

impl Default for SituationsSpecification {
    fn default() -> SituationsSpecification {
        SituationsSpecification {
            model: PathBuf::new(),
            data: PathBuf::new(),
            schema: None,
            label: false,
            out_of_domain: None,
            skip_bad_rows: false,
            protected: Vec::new(),
            reference: Vec::new(),
            favourable: None,
            counterpart: Centre::default(),
            unaffected: Vec::new(),
            seed: 0,
            counterfactuals: None,
            weights: Vec::new(),
            k: 50,
            test: Test::default(),
            ties: Ties::default(),
            centres: false,
            level: 0.05,
            fail_above: None,
            decision: DecisionSpecification::default(),
            predictor: PredictorSpecification::default(),
        }
    }
}

fn is_usual(centre: &Centre) -> bool {
    *centre == Centre::default()
}

impl SituationsSpecification {
    /// Returns how counterparts are drawn, where they are.
    pub fn drawing(&self) -> Option<Drawing<'_>> {
        (self.counterpart == Centre::Density).then_some(Drawing {
            unaffected: &self.unaffected,
            seed: self.seed,
        })
    }

    /// Returns what names the people and the decisions about them.
    pub fn sources(&self) -> Sources<'_> {
        Sources {
            model: &self.model,
            predictor: &self.predictor,
            label: self.label,
            data: &self.data,
            schema: self.schema.as_deref(),
            out_of_domain: self.out_of_domain,
            skip_bad_rows: self.skip_bad_rows,
            decision: &self.decision,
            gap: None,
            favourable: self.favourable.as_deref(),
            protected: &self.protected,
            reference: &self.reference,
            weights: &self.weights,
        }
    }

    /// Returns the options of the comparison.
    pub fn options(&self) -> SituationOptions {
        SituationOptions {
            k: self.k,
            test: self.test,
            ties: self.ties,
            centres: self.centres,
            level: self.level,
        }
    }
}

impl Specification for SituationsSpecification {
    const KIND: &'static str = "situations";

    fn rules(&self) -> Result<(), FieldError> {
        self.sources().rules()?;
        if self.counterfactuals.as_ref().is_some_and(|it| is_empty(it)) {
            return Err(FieldError::new("counterfactuals", "missing", "a table"));
        }
        let are_drawn = self.drawing().is_some();
        Drawing::rules(&self.unaffected, are_drawn)?;
        if !are_drawn && self.seed != 0 {
            let expected = "left out: nothing is drawn without counterpart density";
            return Err(FieldError::new("seed", self.seed, expected));
        }
        if are_drawn && self.counterfactuals.is_some() {
            let expected = "left out: the counterfactuals that are given say who it is";
            return Err(FieldError::new("counterpart", "density", expected));
        }
        if are_drawn && self.centres && self.label {
            let expected = "left out: nobody decided about people who are drawn";
            return Err(FieldError::new("centres", "given", expected));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(change: impl FnOnce(&mut SituationsSpecification)) -> String {
        let mut specification = SituationsSpecification {
            data: "d.csv".into(),
            ..SituationsSpecification::default()
        };
        change(&mut specification);
        specification
            .rules()
            .map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn decisions_come_from_one_place() {
        assert_eq!(refused(|it| it.model = "m".into()), "");
        let labelled = |it: &mut SituationsSpecification| {
            it.label = true;
            it.schema = Some("s.toml".to_owned());
        };
        assert_eq!(refused(labelled), "");
        let nothing = refused(|_| {});
        assert!(nothing.starts_with("model is missing"), "{nothing}");
        let both = refused(|it| {
            labelled(it);
            it.model = "m".into();
        });
        assert!(
            both.starts_with("model is given, but must be left out"),
            "{both}"
        );
        let unnamed = refused(|it| it.label = true);
        assert!(unnamed.starts_with("schema is missing"), "{unnamed}");
    }
}
