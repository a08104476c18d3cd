//! ONNX files, run on the CPU.
//!
//! The standard operators are computed by `rten`: a runtime in Rust alone, which needs no library,
//! no compiler of another language and no download. The operators of `ai.onnx.ml` that the exports
//! of scikit-learn, XGBoost and LightGBM need are computed here: [`OnnxFile`] reads a file,
//! [`OnnxFile::model`] cuts its graph down to what one output needs and divides it between the two.
//! What `rten` computes otherwise than ONNX says is written otherwise for it, or refused.
//!
//! Each run of a model is computed by one thread. How a product is cut into blocks depends on the
//! number of threads and can change a rounding, so the same inputs give bit for bit the same output
//! only because that number is always one. Runs asked for at the same time go on side by side.
//!
//! A broken file may break a rule of the format that the parser behind takes for granted. The
//! file's lengths and depths are checked first, and panics are caught and are errors like all
//! others.

mod attributes;
mod computation;
mod external;
mod file;
mod linear;
mod missing;
mod model;
mod needed;
mod operator;
mod plan;
mod rewrite;
mod scores;
mod tensor;
#[cfg(test)]
mod tests;
mod trees;
mod wide;
mod wire;
mod words;
pub mod worker;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use file::OnnxFile;
pub use model::OnnxModel;
pub use tensor::{Numbers, Tensor};

/// Why an ONNX file cannot be used.
#[derive(Debug, Error)]
pub enum OnnxError {
    /// The file cannot be read.
    #[error("{path}: cannot be read: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file's name does not say what it is.
    #[error("{path}: expected an ONNX model, a file whose name ends in .onnx")]
    Name {
        /// The file.
        path: PathBuf,
    },
    /// The file is not an ONNX model, or a broken one.
    #[error("{path}: not an ONNX model, or a broken one: {reason}")]
    Broken {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The graph has an operator that cannot be run here.
    #[error(
        "{path}: {reason}; export the model with operators that docs/predictors.md lists, not optimised for one runtime, or let a process answer (command:…)"
    )]
    Operator {
        /// The file.
        path: PathBuf,
        /// The node and its operator.
        reason: String,
    },
    /// The graph failed on an input.
    #[error("{path}: the graph failed on inputs of shape {shape:?}: {reason}")]
    Run {
        /// The file.
        path: PathBuf,
        /// The shape of its inputs.
        shape: Vec<usize>,
        /// The node and what is wrong.
        reason: String,
    },
    /// A process that computes the graph is lost; see [`worker`].
    #[error("{path}: the graph was given up: {reason}")]
    Worker {
        /// The file.
        path: PathBuf,
        /// What became of the process.
        reason: String,
    },
    /// The output is not made of floating-point numbers.
    #[error("{path}: the output `{name}` is not a tensor of floating-point numbers")]
    OutputType {
        /// The file.
        path: PathBuf,
        /// The output.
        name: String,
    },
}

/// The output of a model: its shape, and its values row by row.
pub type Output = (Vec<usize>, Vec<f32>);

/// An input or an output of a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Port {
    /// The name.
    pub name: String,
    /// The sizes, `None` where one may vary; nothing where the file declares no shape.
    pub shape: Option<Vec<Option<usize>>>,
    /// The kind of its values, where the file says so.
    pub kind: Option<Kind>,
}

/// The kind of the values of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// Floating-point numbers of 32 bits or less.
    Floats,
    /// Floating-point numbers of 64 bits.
    Doubles,
    /// Whole numbers.
    Integers,
    /// Truth: 1 is true, 0 is false.
    Truths,
    /// Words.
    Words,
}
