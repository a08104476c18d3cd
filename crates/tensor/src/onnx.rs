//! ONNX files, run on the CPU by `rten`: a runtime in Rust alone, which needs no library, no
//! compiler of another language and no download.
//!
//! Each run of a model is computed by one thread. How a product is cut into blocks depends on the
//! number of threads and can change a rounding, so the same inputs give bit for bit the same output
//! only because that number is always one. Runs asked for at the same time go on side by side.
//!
//! A broken file may break a rule of the format that `rten` takes for granted. Its panics are
//! caught here and are errors like all others.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rten::{
    DataType, Dimension, LoadErrorKind, Model, ModelOptions, NodeId, RunOptions, ThreadPool, Value,
    ValueOrView, ValueType,
};
use rten_tensor::Layout;
use thiserror::Error;

/// Why an ONNX file cannot be used.
#[derive(Debug, Error)]
pub enum OnnxError {
    /// The file cannot be read.
    #[error("{path}: cannot be read: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
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
        "{path}: {reason}; export the model with the standard operators of ONNX (domain ai.onnx), not optimised for one runtime"
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
    /// The output is not made of floating-point numbers.
    #[error("{path}: the output `{name}` is not a tensor of floating-point numbers")]
    OutputType {
        /// The file.
        path: PathBuf,
        /// The output.
        name: String,
    },
}

/// An input or an output of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// The name.
    pub name: String,
    /// The sizes, `None` where one may vary; nothing where the file declares no shape.
    pub shape: Option<Vec<Option<usize>>>,
}

/// What one input of a model gets.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Its sizes.
    pub shape: Vec<usize>,
    /// As many numbers as the sizes say, row by row.
    pub values: Numbers,
}

/// Numbers of one type.
#[derive(Clone, Debug, PartialEq)]
pub enum Numbers {
    /// Whole numbers.
    Integers(Vec<i32>),
    /// Floating-point numbers.
    Floats(Vec<f32>),
}

impl Numbers {
    fn into_floats(self) -> Vec<f32> {
        match self {
            Numbers::Integers(values) => values.into_iter().map(|value| value as f32).collect(),
            Numbers::Floats(values) => values,
        }
    }

    fn into_integers(self) -> Vec<i32> {
        match self {
            Numbers::Integers(values) => values,
            Numbers::Floats(values) => values.into_iter().map(|value| value as i32).collect(),
        }
    }
}

/// A model from an ONNX file.
pub struct OnnxModel {
    path: PathBuf,
    model: Model,
    /// Pools of one thread each that no run is using.
    idle: Mutex<Vec<Arc<ThreadPool>>>,
}

impl OnnxModel {
    /// Reads the file at `path`; weights in files of their own are read from its folder.
    ///
    /// # Errors
    /// When the file cannot be read, is no ONNX model, or has an operator that is not known.
    pub fn open(path: &Path) -> Result<Self, OnnxError> {
        let owned = path.to_path_buf();
        if let Err(source) = File::open(path) {
            return Err(OnnxError::Read {
                path: owned,
                source,
            });
        }
        if !path
            .extension()
            .is_some_and(|end| end.eq_ignore_ascii_case("onnx"))
        {
            return Err(OnnxError::Name { path: owned });
        }
        let broken = |reason: String| OnnxError::Broken {
            path: path.to_path_buf(),
            reason,
        };
        let load = || {
            ModelOptions::with_all_ops()
                .prepack_weights(true)
                .load_file(path)
        };
        let model = guarded(load)
            .map_err(broken)?
            .map_err(|error| match error.kind() {
                LoadErrorKind::OperatorInvalid => OnnxError::Operator {
                    path: path.to_path_buf(),
                    reason: error.to_string(),
                },
                _ => broken(error.to_string()),
            })?;
        Ok(Self {
            path: owned,
            model,
            idle: Mutex::default(),
        })
    }

    /// The inputs that are no weights, in the order of the file.
    pub fn inputs(&self) -> Vec<Port> {
        self.ports(self.model.input_ids())
    }

    /// The outputs, in the order of the file.
    pub fn outputs(&self) -> Vec<Port> {
        self.ports(self.model.output_ids())
    }

    /// The shape and the values, row by row, of the output `name`, for inputs of integers that all
    /// have the shape `shape`, in the order of [`Self::inputs`]. Where the graph asks for
    /// floating-point numbers, the integers are converted.
    ///
    /// # Errors
    /// When the graph cannot take the inputs or the output is not made of floating-point numbers.
    pub fn run(
        &self,
        inputs: Vec<Vec<i32>>,
        shape: &[usize],
        name: &str,
    ) -> Result<(Vec<usize>, Vec<f32>), OnnxError> {
        let inputs = inputs.into_iter().map(|values| Input {
            shape: shape.to_vec(),
            values: Numbers::Integers(values),
        });
        self.run_inputs(inputs.collect(), name)
    }

    /// The shape and the values, row by row, of the output `name`, for inputs of any shapes, in the
    /// order of [`Self::inputs`]. Numbers are converted to the type that the graph asks for;
    /// towards zero, where that is whole numbers.
    ///
    /// # Errors
    /// When the graph cannot take the inputs or the output is not made of floating-point numbers.
    pub fn run_inputs(
        &self,
        inputs: Vec<Input>,
        name: &str,
    ) -> Result<(Vec<usize>, Vec<f32>), OnnxError> {
        let shape = inputs
            .first()
            .map_or(Vec::new(), |input| input.shape.clone());
        let failed = |reason: String| OnnxError::Run {
            path: self.path.clone(),
            shape: shape.clone(),
            reason,
        };
        let mut values: Vec<(NodeId, ValueOrView)> = Vec::new();
        for (id, input) in self.model.input_ids().iter().zip(inputs) {
            values.push((*id, self.value(*id, input).map_err(failed)?.into()));
        }
        let output = self
            .model
            .node_id(name)
            .map_err(|error| failed(error.to_string()))?;
        let found = self.run_alone(values, output).map_err(failed)?;
        let tensor = found.and_then(Value::into_tensor::<f32>);
        let tensor = tensor.ok_or_else(|| OnnxError::OutputType {
            path: self.path.clone(),
            name: name.to_owned(),
        })?;
        Ok((tensor.shape().to_vec(), tensor.into_data()))
    }

    /// Whether the output `name` is declared to be made of floating-point numbers.
    pub fn gives_floats(&self, name: &str) -> bool {
        let id = self.model.node_id(name).ok();
        let node = id.and_then(|id| self.model.node_info(id));
        node.and_then(|node| node.dtype()) == Some(ValueType::Tensor(DataType::Float))
    }

    fn value(&self, id: NodeId, input: Input) -> Result<Value, String> {
        let kind = self.model.node_info(id).and_then(|node| node.dtype());
        let shape = input.shape.as_slice();
        let asks_for_floats = match kind {
            Some(kind) => kind == ValueType::Tensor(DataType::Float),
            None => matches!(input.values, Numbers::Floats(_)),
        };
        if asks_for_floats {
            Value::from_shape(shape, input.values.into_floats()).map_err(|error| error.to_string())
        } else {
            Value::from_shape(shape, input.values.into_integers())
                .map_err(|error| error.to_string())
        }
    }

    /// Runs the model on a thread that no other run is using.
    fn run_alone(
        &self,
        inputs: Vec<(NodeId, ValueOrView)>,
        output: NodeId,
    ) -> Result<Option<Value>, String> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = idle().pop();
        let pool = taken.unwrap_or_else(|| Arc::new(ThreadPool::with_num_threads(1)));
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(&pool)));
        let outputs = guarded(|| self.model.run(inputs, &[output], Some(options)))?;
        idle().push(pool);
        let outputs = outputs.map_err(|error| error.to_string())?;
        Ok(outputs.into_iter().next())
    }

    fn ports(&self, ids: &[NodeId]) -> Vec<Port> {
        let nodes = ids.iter().filter_map(|id| self.model.node_info(*id));
        let ports = nodes.map(|node| Port {
            name: node.name().unwrap_or_default().to_owned(),
            shape: node.shape().map(|shape| shape.iter().map(size).collect()),
        });
        ports.collect()
    }
}

/// The result of `work`, or what it says when it panics.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let message = panic.downcast_ref::<String>().map(String::as_str);
        let message = message.or_else(|| panic.downcast_ref::<&str>().copied());
        message.unwrap_or("the runtime panicked").to_owned()
    })
}

fn size(dimension: &Dimension) -> Option<usize> {
    match dimension {
        Dimension::Fixed(size) => Some(*size),
        Dimension::Symbolic(_) => None,
    }
}
