//! How far a job is.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How far a job is: what the command line shows as a bar.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct Progress {
    /// The part of the work, such as `global`; may be empty.
    pub phase: String,
    /// Steps of this part that are done.
    pub done: u64,
    /// All steps of this part, where they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all: Option<u64>,
    /// What was found or reached so far.
    pub message: String,
    /// Seconds that this part will take, by its rate so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds_left: Option<u64>,
}
