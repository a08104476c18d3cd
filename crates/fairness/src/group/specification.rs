//! What a measurement of groups is asked for.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::GroupOptions;
use super::grouping::DeclaredBins;
use crate::certify::parts::Part;
use crate::specification::{named_once, needed};
use probity_data::schema::{OutOfDomain, Schema};
use probity_run::specification::{FieldError, Specification};

/// Everything that determines a measurement of groups.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct GroupsSpecification {
    /// Model directory, as `probity train` or `probity import` writes it.
    #[schemars(extend("format" = "path"))]
    pub model: PathBuf,
    /// Labelled table; read by the model's schema.
    #[schemars(extend("format" = "path"))]
    pub data: PathBuf,
    /// Missing and outside values, where the model's schema expects any.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-flag" = "outside"))]
    pub out_of_domain: Option<OutOfDomain>,
    /// Leave rows out with which something is wrong, such as a blank cell, and count them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub skip_bad_rows: bool,
    /// Protected attributes; by default those marked in the model's schema.
    pub protected: Vec<String>,
    /// Which rows: all, or a part of those that the model was trained with.
    pub part: Part,
    /// Seed of the bootstrap.
    pub seed: u64,
    /// How groups are made and judged.
    pub groups: GroupingSpecification,
}

/// How groups are made and judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct GroupingSpecification {
    /// The class that is good to get; by default the last one of the schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub favourable: Option<String>,
    /// Inner edges of the groups of a numeric attribute, such as age=25,45,65; may be given for
    /// several.
    #[schemars(extend("x-flag" = false))]
    pub edges: Vec<DeclaredBins>,
    /// Rows that a rate must be a share of to be judged.
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
            model: PathBuf::new(),
            data: PathBuf::new(),
            out_of_domain: None,
            skip_bad_rows: false,
            protected: Vec::new(),
            part: Part::All,
            seed: 1,
            groups: GroupingSpecification::default(),
        }
    }
}

impl Default for GroupingSpecification {
    fn default() -> GroupingSpecification {
        GroupingSpecification {
            favourable: None,
            edges: Vec::new(),
            min_group: 30,
            calibration_bins: 10,
            resamples: 1000,
        }
    }
}

impl GroupingSpecification {
    /// The same for the attributes `protected` of `schema`, with nothing left open.
    pub fn options(&self, schema: &Schema, protected: Vec<String>, seed: u64) -> GroupOptions {
        let last = || schema.label.classes.last().cloned().unwrap_or_default();
        GroupOptions {
            protected,
            favourable: self.favourable.clone().unwrap_or_else(last),
            is_favourable_given: self.favourable.is_some(),
            bins: self.edges.clone(),
            min_group: self.min_group,
            calibration_bins: self.calibration_bins,
            resamples: self.resamples,
            seed,
        }
    }
}

impl Specification for GroupsSpecification {
    const KIND: &'static str = "groups";

    fn rules(&self) -> Result<(), FieldError> {
        needed("model", &self.model)?;
        needed("data", &self.data)?;
        named_once("protected", &self.protected)
    }
}
