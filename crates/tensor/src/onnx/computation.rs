//! The computation of one output of a graph, as [`super::plan`] has planned it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use probity_run::guard::guarded;
use rten::{
    DataType, LoadError, LoadErrorKind, Model, ModelOptions, NodeId, RunOptions, ThreadPool, Value,
    ValueOrView, ValueType, ValueView,
};
use rten_onnx::onnx::ValueInfoProto;
use rten_tensor::Layout;

use super::file::{OnnxFile, port};
use super::needed::{Needed, label, needed, references};
use super::operator::Operator;
use super::plan::{self, Plan};
use super::tensor::{Numbers, Tensor};
use super::wide::Wide;
use super::words::Words;
use super::{Kind, OnnxError, Output, Port, missing};

/// The computation of one output of an ONNX file, in this process.
pub(super) struct Computation {
    path: PathBuf,
    /// The inputs, which have the first places among the values.
    inputs: Vec<Port>,
    output: String,
    words: Words,
    /// The constants, with their places among the values.
    constants: Vec<(usize, Arc<Tensor>)>,
    steps: Vec<Step>,
    runtime: Option<Runtime>,
    /// The number of values.
    values: usize,
    /// The place of the output.
    result: usize,
}

/// A step of the computation, as in [`plan::Step`].
enum Step {
    Operator {
        operator: Operator,
        label: String,
        inputs: Vec<usize>,
        output: usize,
    },
    Runtime {
        known: Vec<(usize, NodeId)>,
        wanted: Vec<(usize, NodeId)>,
    },
}

/// A graph that the runtime computes.
struct Runtime {
    model: Model,
    /// Pools of one thread each that no run is using.
    idle: Mutex<Vec<Arc<ThreadPool>>>,
}

impl Computation {
    /// Prepares the computation of the output `name` of `file`.
    pub(super) fn new(file: &OnnxFile, name: &str) -> Result<Computation, OnnxError> {
        let broken = |reason: String| OnnxError::Broken {
            path: file.path.clone(),
            reason,
        };
        let source = file.source(name);
        let needed = needed(&file.graph, source).map_err(broken)?;
        let is_needed = |input: &&ValueInfoProto| {
            let name = input.name.as_deref();
            name.is_some_and(|name| needed.names.contains(name))
        };
        expect_numbers(file, &needed).map_err(broken)?;
        let inputs: Vec<&ValueInfoProto> = file.declared().filter(is_needed).collect();
        let mut plan = Plan::new(&file.graph, &inputs, &file.words);
        let mut wide = Wide::new(&file.graph, &file.path);
        for &place in &needed.nodes {
            let node = &file.graph.node[place];
            let operator = |reason: String| OnnxError::Operator {
                path: file.path.clone(),
                reason,
            };
            let first = node.output.first();
            if let Some(reason) = first.and_then(|first| file.refused.get(first)) {
                return Err(operator(reason.clone()));
            }
            wide.follow(node).map_err(operator)?;
            plan.add(node, &needed.names)
                .map_err(|reason| operator(format!("{}: {reason}", label(node))))?;
        }
        plan.want([source].into_iter());
        let is_left = |step: &plan::Step<'_>| matches!(step, plan::Step::Runtime { .. });
        let runtime = if plan.standard.is_empty() {
            None
        } else if file.is_plain && plan.steps.iter().all(is_left) {
            // As it stands, with weights that may be in files of their own.
            let load = |options: &ModelOptions| options.load_file(&file.path);
            Some(Runtime::load(&file.path, load)?)
        } else {
            let bytes = plan.remainder(&file.model, &file.path).map_err(broken)?;
            Some(Runtime::load(&file.path, |options| options.load(bytes))?)
        };
        let steps = std::mem::take(&mut plan.steps).into_iter();
        let steps = steps.map(|step| Step::new(step, runtime.as_ref()));
        Ok(Computation {
            steps: steps.collect::<Result<_, _>>().map_err(broken)?,
            path: file.path.clone(),
            inputs: inputs.iter().map(|input| port(input)).collect(),
            output: name.to_owned(),
            values: plan.places.len(),
            result: plan.places[source],
            words: plan.words,
            constants: plan.held,
            runtime,
        })
    }

    /// The inputs that the output needs, in the order of the file.
    pub fn inputs(&self) -> &[Port] {
        &self.inputs
    }

    /// The number that `text` has in a tensor of words.
    pub fn word(&mut self, text: &str) -> i32 {
        self.words.number(text)
    }

    /// Computes the shape and the values, row by row, of the output, for inputs in the order of
    /// [`Self::inputs`]. Numbers are converted to the type that the graph asks for; towards zero,
    /// where that is whole numbers.
    ///
    /// # Errors
    /// When the graph cannot take the inputs or the output is not made of floating-point numbers.
    pub fn run(&self, inputs: Vec<Tensor>) -> Result<Output, OnnxError> {
        let shape = inputs
            .first()
            .map_or(Vec::new(), |input| input.shape.clone());
        let computed = self.compute(inputs).map_err(|reason| OnnxError::Run {
            path: self.path.clone(),
            shape,
            reason,
        })?;
        if let Numbers::Integers(_) = computed.values {
            return Err(OnnxError::OutputType {
                path: self.path.clone(),
                name: self.output.clone(),
            });
        }
        let Tensor { shape, values } = Arc::unwrap_or_clone(computed);
        Ok((shape, values.into_floats()))
    }

    fn compute(&self, inputs: Vec<Tensor>) -> Result<Arc<Tensor>, String> {
        let mut values: Vec<Option<Arc<Tensor>>> = vec![None; self.values];
        for (place, (input, port)) in inputs.into_iter().zip(&self.inputs).enumerate() {
            let Tensor {
                shape,
                values: held,
            } = input;
            let held = match port.kind {
                Some(Kind::Floats) => Numbers::Floats(held.into_floats()),
                Some(Kind::Doubles) => Numbers::Doubles(held.into_doubles()),
                Some(Kind::Integers | Kind::Truths | Kind::Words) => {
                    Numbers::Integers(held.into_integers())
                }
                None => held,
            };
            values[place] = Some(Arc::new(Tensor {
                shape,
                values: held,
            }));
        }
        for (place, constant) in &self.constants {
            values[*place] = Some(Arc::clone(constant));
        }
        let missing = || "an input is missing".to_owned();
        for step in &self.steps {
            match step {
                Step::Operator {
                    operator,
                    label,
                    inputs,
                    output,
                } => {
                    let inputs = inputs.iter().map(|&place| values[place].as_deref());
                    let inputs: Vec<&Tensor> = inputs.collect::<Option<_>>().ok_or_else(missing)?;
                    let given = operator.run(&inputs, &self.words);
                    let given = given.map_err(|reason| format!("{label}: {reason}"))?;
                    values[*output] = Some(Arc::new(given));
                }
                Step::Runtime { known, wanted } => {
                    let runtime = self.runtime.as_ref().ok_or_else(missing)?;
                    let fed = known
                        .iter()
                        .map(|&(place, id)| Some((id, values[place].as_deref()?)));
                    let fed: Vec<(NodeId, &Tensor)> =
                        fed.collect::<Option<_>>().ok_or_else(missing)?;
                    let ids: Vec<NodeId> = wanted.iter().map(|&(_, id)| id).collect();
                    let given = runtime.run(&fed, &ids)?;
                    for (&(place, _), given) in wanted.iter().zip(given) {
                        values[place] = Some(Arc::new(given));
                    }
                }
            }
        }
        values.swap_remove(self.result).ok_or_else(missing)
    }
}

impl Step {
    fn new(step: plan::Step<'_>, runtime: Option<&Runtime>) -> Result<Step, String> {
        Ok(match step {
            plan::Step::Operator {
                operator,
                label,
                inputs,
                output,
            } => Step::Operator {
                operator,
                label,
                inputs,
                output,
            },
            plan::Step::Runtime { known, wanted } => {
                let find = |name: &str| runtime.and_then(|runtime| runtime.model.find_node(name));
                let known = known.into_iter();
                let wanted = wanted.into_iter();
                Step::Runtime {
                    // The runtime does not know what only operators take.
                    known: known
                        .filter_map(|(place, name)| Some((place, find(name)?)))
                        .collect(),
                    wanted: wanted
                        .map(|(place, name)| {
                            let id = find(name).ok_or_else(|| format!("nothing gives '{name}'"))?;
                            Ok::<_, String>((place, id))
                        })
                        .collect::<Result<_, _>>()?,
                }
            }
        })
    }
}

impl Runtime {
    fn load(
        path: &Path,
        load: impl FnOnce(&ModelOptions) -> Result<Model, LoadError>,
    ) -> Result<Runtime, OnnxError> {
        let broken = |reason: String| OnnxError::Broken {
            path: path.to_path_buf(),
            reason,
        };
        let load = || load(ModelOptions::with_all_ops().prepack_weights(true));
        let model = guarded(load)
            .map_err(broken)?
            .map_err(|error| match error.kind() {
                LoadErrorKind::OperatorInvalid => OnnxError::Operator {
                    path: path.to_path_buf(),
                    reason: error.to_string(),
                },
                _ => broken(error.to_string()),
            })?;
        Ok(Runtime {
            model,
            idle: Mutex::default(),
        })
    }

    /// Runs the graph on a thread that no other run is using.
    fn run(&self, fed: &[(NodeId, &Tensor)], wanted: &[NodeId]) -> Result<Vec<Tensor>, String> {
        let mut inputs = Vec::with_capacity(fed.len());
        for &(id, tensor) in fed {
            inputs.push((id, self.value(id, tensor)?));
        }
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = idle().pop();
        let pool = taken.unwrap_or_else(|| Arc::new(ThreadPool::with_num_threads(1)));
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(&pool)));
        let outputs = guarded(|| self.model.run(inputs, wanted, Some(options)))
            .map_err(|panic| format!("the runtime failed within itself ({panic})"))?;
        idle().push(pool);
        let outputs = outputs.map_err(|error| error.to_string())?;
        outputs.into_iter().map(tensor).collect()
    }

    /// Returns the tensor in the type that the graph asks for.
    fn value<'a>(&self, id: NodeId, tensor: &'a Tensor) -> Result<ValueOrView<'a>, String> {
        let shape = tensor.shape.as_slice();
        let asked = self.model.node_info(id).and_then(|node| node.dtype());
        let are_integers = matches!(tensor.values, Numbers::Integers(_));
        let asks_for_floats = asked.map_or(!are_integers, |kind| {
            kind == ValueType::Tensor(DataType::Float)
        });
        match &tensor.values {
            Numbers::Floats(values) if asks_for_floats => ValueView::from_shape(shape, values)
                .map(ValueOrView::from)
                .map_err(|error| error.to_string()),
            Numbers::Integers(values) if !asks_for_floats => ValueView::from_shape(shape, values)
                .map(ValueOrView::from)
                .map_err(|error| error.to_string()),
            other if asks_for_floats => Value::from_shape(shape, other.clone().into_floats())
                .map(ValueOrView::from)
                .map_err(|error| error.to_string()),
            other => Value::from_shape(shape, other.clone().into_integers())
                .map(ValueOrView::from)
                .map_err(|error| error.to_string()),
        }
    }
}

/// Refuses constants with NaN among what is needed: every answer would come of what is no number.
/// One NaN alone may be a mark, where something is there for missing values.
fn expect_numbers(file: &OnnxFile, needed: &Needed) -> Result<(), String> {
    let nodes = needed.nodes.iter().map(|&place| &file.graph.node[place]);
    let is_expecting = nodes.clone().any(missing::is_expecting);
    for name in nodes.flat_map(references) {
        if let Some(&is_one) = file.nans.get(name)
            && !(is_one && is_expecting)
        {
            return Err(format!(
                "its constant '{name}' holds NaN, which is no number; a training that has failed leaves such weights"
            ));
        }
    }
    Ok(())
}

/// Returns the tensor that the runtime gave as `value`.
fn tensor(value: Value) -> Result<Tensor, String> {
    let shape = value.shape().to_vec();
    let values = match value {
        Value::FloatTensor(tensor) => Numbers::Floats(tensor.into_data()),
        Value::Int32Tensor(tensor) => Numbers::Integers(tensor.into_data()),
        Value::Int8Tensor(tensor) => {
            Numbers::Integers(tensor.into_data().into_iter().map(i32::from).collect())
        }
        Value::UInt8Tensor(tensor) => {
            Numbers::Integers(tensor.into_data().into_iter().map(i32::from).collect())
        }
        _ => return Err("it gives a sequence where a tensor is needed".to_owned()),
    };
    Ok(Tensor { shape, values })
}
