//! The specification of a test by counterparts.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::people::{CounterpartSource, Drawing, Sources, Weight};
use probity_data::schema::OutOfDomain;
use probity_fairness::specification::{DecisionSpecification, PredictorSpecification};
use probity_run::specification::{FieldError, Specification};

/// Everything that determines a test by counterparts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CounterpartsSpecification {
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
    /// The class that is good to get, by default the last one of the schema; of numbers whether `lower`
    /// or `higher` ones are, by default higher ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub favourable: Option<String>,
    /// Where the counterparts come from: from the other side, matched, or drawn from a density that is
    /// learnt from it.
    #[serde(skip_serializing_if = "is_usual")]
    pub counterpart: CounterpartSource,
    /// Attributes that counterparts which are drawn have from the person, since the group does not
    /// affect them; other protected attributes are such anyway.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unaffected: Vec<String>,
    /// Table of what the same people would have been outside of the group, row by row, by a causal
    /// model of yours: these are then the counterparts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "path"))]
    pub counterfactuals: Option<PathBuf>,
    /// Weights of attributes in the distance of people, such as age=2; 1 by default, and 0 leaves an
    /// attribute out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<Weight>,
    /// How much longer the moves of a matching may be than the best one's, as a proven share of them;
    /// 0 for the best. By default 0, and 0.01 where the two groups make more than 50 million pairs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 0.5))]
    pub matching_gap: Option<f64>,
    /// Halves of the people that are matched again for the intervals of the shares; 0 for none. By default
    /// 100, and 0 where the two groups make more than a million pairs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 10_000))]
    pub resamples: Option<u32>,
    /// Seed of the halves, and of counterparts that are drawn.
    pub seed: u64,
    /// Compare the model's scores of the favourable class, or numbers: two who differ by more than this
    /// are told apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1e15))]
    pub gap: Option<f64>,
    /// Exit code 1 if a larger share of a group than this is decided worse than their counterparts.
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

fn is_usual(source: &CounterpartSource) -> bool {
    *source == CounterpartSource::default()
}

impl CounterpartsSpecification {
    /// Returns how counterparts are drawn, where they are.
    pub fn drawing(&self) -> Option<Drawing<'_>> {
        (self.counterpart == CounterpartSource::Density).then_some(Drawing {
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
            gap: self.gap,
            favourable: self.favourable.as_deref(),
            protected: &self.protected,
            reference: &self.reference,
            weights: &self.weights,
        }
    }
}

impl Specification for CounterpartsSpecification {
    const KIND: &'static str = "counterparts";

    fn rules(&self) -> Result<(), FieldError> {
        self.sources().rules()?;
        if self.gap.is_some() && self.decision != DecisionSpecification::default() {
            let expected = "left out: with gap scores are compared, whatever is decided";
            return Err(FieldError::new("decision", "given", expected));
        }
        let are_drawn = self.drawing().is_some();
        Drawing::rules(&self.unaffected, are_drawn)?;
        if are_drawn && self.label {
            let expected = "matched with label: nobody decided about people who are drawn";
            return Err(FieldError::new("counterpart", "density", expected));
        }
        let are_given = self.counterfactuals.is_some();
        if are_given && self.seed != 0 {
            let expected = "left out: nothing is drawn where counterparts are given";
            return Err(FieldError::new("seed", self.seed, expected));
        }
        let fields = [
            ("counterpart", are_given && are_drawn),
            ("reference", are_given && !self.reference.is_empty()),
            ("matching_gap", self.matching_gap.is_some()),
            ("resamples", self.resamples.is_some()),
        ];
        if (are_given || are_drawn)
            && let Some((field, _)) = fields.into_iter().find(|(_, is_given)| *is_given)
        {
            let how = if are_given { "given" } else { "drawn" };
            let expected = format!("left out: counterparts that are {how} are not matched");
            return Err(FieldError::new(field, "given", expected));
        }
        if self.resamples == Some(1) {
            return Err(FieldError::new("resamples", 1, "0, or 2 and more"));
        }
        Ok(())
    }
}
