//! The specification of a proof.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::draw::KEPT;
use crate::specification::{named_once, needed, unused};
use crate::table_model::Reading;
use probity_data::schema::OutOfDomain;
use probity_run::specification::{FieldError, Seconds, Specification};

/// Largest number of boxes: a hundred bytes each.
const MOST_BOXES: u64 = 50_000_000;

/// The prefix that the name of a population begins with when it is a sum-product network.
const SPN: &str = "spn:";

/// Everything that determines a proof.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ProveSpecification {
    /// Model directory, as `probity train`, `repair` or `import` writes it.
    #[schemars(extend("format" = "path"))]
    pub model: PathBuf,
    /// Protected attributes, jointly; all of their values are compared. By default those marked in
    /// the model's schema.
    pub protected: Vec<String>,
    /// Part of the domain that is decided, such as age=18..40 or sector=Private|State; by default
    /// all of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub within: Vec<String>,
    /// Table whose rows say how often each value of an attribute occurs: shares are then of people
    /// whose attributes are drawn from it one by one, not of combinations.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "path"))]
    pub marginals: Option<PathBuf>,
    /// Missing and outside values of the marginals, where the model's schema expects any.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-flag" = "outside"))]
    pub out_of_domain: Option<OutOfDomain>,
    /// Leave rows of the table of marginals out with which something is wrong, such as a blank cell, and
    /// count them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub skip_bad_rows: bool,
    /// Pass over columns of the table of marginals that the model's schema does not describe.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ignore_other_columns: bool,
    /// Fitted population that shares are of, in place of combinations: `spn:DIRECTORY`, a sum-product
    /// network that `probity spn fit` made of a table with these attributes. What is protected, and
    /// what the model does not know, is summed out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "path", "x-prefix" = SPN))]
    pub population: Option<String>,
    /// Time at most, such as 60s or 10m, counted from the beginning of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Seconds>,
    /// Stop once this share, or less, is undecided, and a bound that is declared is proven to hold or not
    /// to.
    #[schemars(range(min = 0, max = 1))]
    pub until_undecided: f64,
    /// Boxes that the domain is cut into at most.
    #[schemars(range(min = 1, max = MOST_BOXES))]
    pub max_boxes: u64,
    /// Exit with 1 unless the discriminatory share is proven to be at most this.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub fail_above: Option<f64>,
    /// Points of undecided boxes that are drawn to estimate how many of them are discriminatory.
    #[schemars(range(max = 100_000_000))]
    pub estimate: u64,
    /// Drawn points at which a search for pairs (adf) begins; its pairs stand behind those of the
    /// proof.
    #[schemars(range(max = KEPT))]
    pub search: u64,
    /// Seed of what is drawn.
    pub seed: u64,
}

impl Default for ProveSpecification {
    fn default() -> ProveSpecification {
        ProveSpecification {
            model: PathBuf::new(),
            protected: Vec::new(),
            within: Vec::new(),
            marginals: None,
            out_of_domain: None,
            skip_bad_rows: false,
            ignore_other_columns: false,
            population: None,
            time: None,
            until_undecided: 0.001,
            max_boxes: 5_000_000,
            fail_above: None,
            estimate: 10_000,
            search: 0,
            seed: 0,
        }
    }
}

impl ProveSpecification {
    /// How the rows of the table of marginals are read, beside what the model's schema says.
    pub(crate) fn reading(&self) -> Reading {
        Reading {
            policy: self.out_of_domain,
            skips_bad_rows: self.skip_bad_rows,
            ignores_other_columns: self.ignore_other_columns,
        }
    }

    /// The directory of the network of the population.
    pub fn network(&self) -> Option<&Path> {
        let directory = self.population.as_deref()?.strip_prefix(SPN)?;
        (!directory.is_empty()).then(|| Path::new(directory))
    }
}

impl Specification for ProveSpecification {
    const KIND: &'static str = "prove";

    const FREE: &'static [&'static str] = &["time", "until_undecided", "max_boxes"];

    fn rules(&self) -> Result<(), FieldError> {
        needed("model", &self.model)?;
        named_once("protected", &self.protected)?;
        if let Some(population) = &self.population
            && self.network().is_none()
        {
            let expected =
                "spn: and the directory of a sum-product network, such as spn:models/people";
            return Err(FieldError::new("population", population, expected));
        }
        if self.search > self.estimate {
            let expected = "at most the number of points that are drawn, which estimate says";
            return Err(FieldError::new("search", self.search, expected));
        }
        let is_one = self.population.is_none() || self.marginals.is_none();
        unused("marginals", is_one, "a fitted population")?;
        let (is_read, nothing) = (self.marginals.is_some(), "a proof without marginals");
        let is_usual = self.out_of_domain.is_none();
        unused("out_of_domain", is_read || is_usual, nothing)?;
        unused("skip_bad_rows", is_read || !self.skip_bad_rows, nothing)?;
        let is_usual = !self.ignore_other_columns;
        unused("ignore_other_columns", is_read || is_usual, nothing)
    }
}
