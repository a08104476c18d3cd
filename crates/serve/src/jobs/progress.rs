//! The progress of a job.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The progress of a job, which the command line shows as a bar.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct Progress {
    /// The part of the work, such as `global`; may be empty.
    pub phase: String,
    /// The number of steps of this part that are done.
    pub done: u64,
    /// The number of all steps of this part, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all: Option<u64>,
    /// What was found or reached so far.
    pub message: String,
    /// The seconds that this part will still take, by its rate so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds_left: Option<u64>,
}
