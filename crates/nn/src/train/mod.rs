//! Training: of fully connected networks on tables ([`table`]), of recurrent ones ([`text`]) and of
//! transformers ([`transformer`]) on texts.
//!
//! What all trainings share exists once: the specification ([`specification`], [`options`]), how
//! the inputs are dealt into parts ([`Split`]), the course of the epochs with validation, early
//! stopping and checkpoints ([`EpochReport`]), and the run from labelled inputs to a model
//! directory ([`run`]).

pub mod course;
mod error;
mod fitting;
pub mod options;
mod pace;
pub mod run;
pub mod specification;
mod split;
pub mod table;
pub mod table_set;
pub mod text;
pub mod text_set;
pub mod transformer;
pub mod transformer_set;

pub use self::error::TrainError;
pub use self::fitting::{Checkpoint, EpochReport, Observe};
pub use self::pace::{Pace, USUAL_DECAY, USUAL_VALIDATION};
pub use self::specification::TrainSpecification;
pub use self::split::{Split, check_split, plan_split};
pub use self::table::parallel_logits;
