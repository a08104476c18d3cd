//! Predictors: models that Probity can only ask. Rows go in, probabilities come out.
//!
//! * [`command`]: a process that the user names answers over its standard streams
//!   ([`protocol`], docs/predictors.md). Any language, any library.
//! * [`onnx`]: an ONNX file, run here.
//! * [`callable`]: whatever else a program that uses this library can call, such as a function of
//!   Python, by a name.
//!
//! All are [`probity_nn::Classifier`]s, so everything that needs no gradients works with them: the
//! gradient-free strategies, estimates, verification. Those that are asked about [`texts`] are
//! [`probity_nn::text_classifier::TextClassifier`]s. A row is written as the values that its codes
//! stand for ([`values`]), one of the data with its own numbers ([`own_numbers`]); what comes back
//! is checked number by number ([`probabilities`]) before anything is concluded from it.
//! Attributes that the data spread over several columns are asked with these ([`spread`]).
//! [`stability`] finds predictors whose answers are not a function of the row. [`source`] names a
//! predictor and identifies it, so that a run can go on with the same one.

pub mod callable;
pub mod command;
#[cfg(feature = "onnx")]
pub mod encoder;
pub mod error;
mod graph;
#[cfg(feature = "onnx")]
pub mod onnx;
pub mod own_numbers;
#[cfg(feature = "onnx")]
pub mod piece_graph;
pub mod probabilities;
mod process;
pub mod protocol;
pub mod remarks;
pub mod source;
pub mod spread;
pub mod stability;
pub mod texts;
pub mod values;

pub use error::PredictorError;
pub use own_numbers::Predictor;
pub use process::KillHandle;
