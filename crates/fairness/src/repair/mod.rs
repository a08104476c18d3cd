//! Repair: a model retrained on what audits found in it (ADF, section 5.2, RQ4).
//!
//! [`basis`] is the model with its data and the parts they were dealt into; [`pool`] the samples of the audits; [`labels`] gives
//! all protected variants of a sample one class; [`lesson`] adds them to the training rows; [`run`] trains several networks, measures
//! them by [`figures`] and keeps one by [`choice`]. The held-out rows and the random inputs that the reported figures
//! are of take no part in training or choosing.

pub mod basis;
mod book;
pub mod choice;
pub mod error;
pub mod figures;
pub mod labels;
pub mod lesson;
pub mod options;
mod outcome;
pub mod pool;
pub mod run;
pub mod summary;
mod workshop;

#[cfg(test)]
mod tests;
