//! Repair of a text classifier by retraining it (ADF, section 5.2, RQ4 and Table XIII).
//!
//! Two remedies: *samples* adds a share of the discriminatory texts that a search finds from the
//! training texts; *certified* trains against the worst substitution of protected terms
//! ([`crate::nn::recurrent::interval`]). Both start from fresh weights, with the options, vocabulary and
//! parts of the training that made the model.
//!
//! What is measured, on the part that no training saw:
//! * the share of an *independent set* that is no longer discriminatory: what the same search finds in the
//!   model from the test texts;
//! * the share of the test texts with a protected term that is certified fair ([`crate::fairness::certify`]), and
//!   that is fair;
//! * accuracy.
//!
//! Texts of the independent set lie near the old model's decision boundary, so that some stop being
//! discriminatory for *any* network that is trained anew. *Control* networks, trained alike but without a
//! remedy, say how many: what a remedy is worth is its distance from them.
//!
//! Labels of samples: all substitutions of a sample have one class, that which the model gives to most of
//! them; among equals the class that the data give to the text from which the sample was found.

pub mod options;
mod retrain;
pub mod run;
pub mod summary;

pub use options::TextRepairOptions;
pub use run::{PreparedTextRepair, TextRepairError, repair_texts};
pub use summary::{RepairedText, TextRepairSummary};
