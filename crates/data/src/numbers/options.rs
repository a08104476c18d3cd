//! Options of rows of numbers: which columns they have, and the bounds that they are scaled by.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::column::beyond;
use crate::idx::Reduction;
use crate::schema::{Format, Kind, Schema};

/// Bounds declared for one column, or for all that have none of their own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// The column; all of them where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// Becomes 0.
    pub min: f64,
    /// Becomes 1.
    pub max: f64,
}

/// Returns whether values can be scaled from `min` and `max` to 0 and 1. Where their difference is
/// no finite number, all values would become 0.
pub fn is_scale(min: f64, max: f64) -> bool {
    min < max && (max - min).is_finite()
}

/// Options for turning files into rows of numbers.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct NumbersOptions {
    /// The label column of a table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The column with the ids of the rows, which is no feature. Test rows need none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The columns that are left out.
    pub ignore: Vec<String>,
    /// Whether values are scaled by the bounds that the schema declares.
    pub scale_by_schema: bool,
    /// The reduction of images.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reduction: Option<Reduction>,
    /// The layout of a table without a schema.
    pub format: Format,
    /// The bounds for scaling.
    pub bounds: Vec<Bounds>,
    /// The schema of the columns; without one, they hold numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Schema>,
}

/// Returns the bounds named for the column, else those of the schema if asked for, else those for
/// all columns.
pub fn bounds_of(options: &NumbersOptions, column: &str) -> Option<(f64, f64)> {
    let named = options
        .bounds
        .iter()
        .find(|bounds| bounds.column.as_deref() == Some(column));
    let common = || options.bounds.iter().find(|bounds| bounds.column.is_none());
    let declared = || {
        let schema = options
            .schema
            .as_ref()
            .filter(|_| options.scale_by_schema)?;
        let attribute = schema.attributes.iter().find(|a| a.name == column)?;
        match &attribute.kind {
            Kind::Integer { .. } | Kind::Categorical { .. } => {
                let (min, max) = attribute.domain();
                (min < max).then_some((f64::from(min), f64::from(max)))
            }
            Kind::Numeric { bins, .. } => {
                let beside = attribute.domain().1 - attribute.ordered_domain().1;
                Some((*bins.first()?, beyond(bins, beside)))
            }
        }
    };
    named
        .map(|bounds| (bounds.min, bounds.max))
        .or_else(declared)
        .or_else(|| common().map(|bounds| (bounds.min, bounds.max)))
}
