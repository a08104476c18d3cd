//! Repair of a text classifier by retraining it (ADF, section 5.2, RQ4 and Table XIII).
//!
//! Two remedies: *samples* adds a share of the discriminatory texts that audits found, or that a search finds from the
//! training texts; *certified* trains against the worst substitution of protected terms
//! ([`probity_nn::recurrent::interval`]). Both start from fresh weights, with the options, vocabulary and
//! parts of the training that made the model.
//!
//! What is measured, on the part that no training saw:
//! * the share of an *independent set* that is no longer discriminatory: what the same search finds in the
//!   model from the test texts;
//! * the share of the test texts with a protected term that is certified fair ([`crate::certify`]), and
//!   that is fair;
//! * accuracy.
//!
//! Texts of the independent set lie near the old model's decision boundary, so that some stop being
//! discriminatory for *any* network that is trained anew. *Control* networks, trained alike but without a
//! remedy, say how many: what a remedy is worth is its distance from them.
//!
//! All substitutions of a sample have one class ([`crate::repair::labels`]): that which the model gives to most of
//! them, that of the text from which it was found, or that which the controls give to most of them.
//!
//! Searches and networks that are complete are kept in the checkpoint of the directory; a repair that goes on does the
//! others, and ends with the model of an unbroken one.

mod choice;
mod error;
mod found;
mod labels;
mod measure;
pub mod options;
mod prepared;
mod retrain;
pub mod run;
mod state;
pub mod summary;

pub use error::TextRepairError;
pub use found::open_audit;
pub use options::TextRepairOptions;
pub use prepared::PreparedTextRepair;
pub use run::{repair_texts, repair_texts_from};
pub use state::TextRepairState;
pub use summary::{RepairedText, TextRepairSummary};
