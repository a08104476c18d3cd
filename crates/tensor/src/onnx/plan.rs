//! The plan of a computation: which nodes of a graph are computed here and which by the runtime,
//! and in which order.
//!
//! Operators of `ai.onnx.ml`, and a few others, are [`Operator`]s. All others are left to the
//! runtime, which gets a graph without the former: the values that operators give are inputs of
//! this graph, the values that they take are its outputs. In it words are whole numbers
//! ([`Words`]), and only nodes that do not calculate may have them.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use rten_onnx::onnx::{DataType, GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto};

use super::attributes::Attributes;
use super::external;
use super::needed::references;
use super::operator::{Operator, is_operator};
use super::tensor::Tensor;
use super::words::Words;

/// A plan of what is computed by operators here and what by the runtime.
pub struct Plan<'a> {
    constants: HashMap<&'a str, &'a TensorProto>,
    /// The constants that nodes give.
    given: HashMap<&'a str, &'a TensorProto>,
    constant_words: &'a HashMap<String, Vec<String>>,
    /// The inputs, which have the first places.
    inputs: &'a [&'a ValueInfoProto],
    /// The values that have been computed at this point, with their places.
    pub places: HashMap<&'a str, usize>,
    /// The values that are words, among them those that the runtime will have.
    words_at: HashSet<&'a str>,
    /// The nodes that are left to the runtime.
    pub standard: Vec<&'a NodeProto>,
    /// The steps of the computation, in order.
    pub steps: Vec<Step<'a>>,
    /// The constants that operators take, with their places.
    pub held: Vec<(usize, Arc<Tensor>)>,
    /// The numbers of the words.
    pub words: Words,
}

/// A part of the computation.
pub enum Step<'a> {
    /// An operator, the places of its inputs, and the place of its output.
    Operator {
        /// The operator.
        operator: Operator,
        /// The name of the operator for messages.
        label: String,
        /// The places of its inputs.
        inputs: Vec<usize>,
        /// The place of its output.
        output: usize,
    },
    /// Values that the runtime computes from values that are there.
    Runtime {
        /// The values that are there.
        known: Vec<(usize, &'a str)>,
        /// The values that the runtime gives.
        wanted: Vec<(usize, &'a str)>,
    },
}

impl<'a> Plan<'a> {
    /// Returns a plan with `inputs`, to which nodes will be added.
    pub fn new(
        graph: &'a GraphProto,
        inputs: &'a [&'a ValueInfoProto],
        constant_words: &'a HashMap<String, Vec<String>>,
    ) -> Plan<'a> {
        let named = |value: &'a ValueInfoProto| value.name.as_deref().unwrap_or_default();
        let words_at = inputs
            .iter()
            .filter(|input| element(input) == Some(DataType::STRING));
        let constants = graph.initializer.iter();
        Plan {
            constants: constants
                .filter_map(|constant| Some((constant.name.as_deref()?, constant)))
                .collect(),
            given: HashMap::new(),
            constant_words,
            places: inputs.iter().map(|input| named(input)).zip(0..).collect(),
            words_at: words_at
                .map(|input| named(input))
                .chain(constant_words.keys().map(String::as_str))
                .collect(),
            inputs,
            standard: Vec::new(),
            steps: Vec::new(),
            held: Vec::new(),
            words: Words::default(),
        }
    }

    /// Adds `node`, whose outputs in `needed` are needed.
    ///
    /// # Errors
    /// When the node cannot be computed, and why.
    pub fn add(&mut self, node: &'a NodeProto, needed: &HashSet<String>) -> Result<(), String> {
        if !is_operator(node) {
            self.follow_words(node)?;
            self.standard.push(node);
            if node.op_type.as_deref() == Some("Constant")
                && let (Some(name), Some(tensor)) =
                    (node.output.first(), Attributes(node).tensor("value"))
            {
                self.given.insert(name, tensor);
            }
            return Ok(());
        }
        let (operator, given) = Operator::read(node, &mut self.words)?;
        let mut outputs = node.output.iter().enumerate();
        if outputs.any(|(at, name)| at != given && needed.contains(name)) {
            return Err("of a classifier, only the scores are computed here".to_owned());
        }
        let (Some(output), Some(first)) = (node.output.get(given), node.input.first()) else {
            return Err("it has no input or no output".to_owned());
        };
        let takes_words = self.words_at.contains(first.as_str());
        match operator.gives_words(takes_words) {
            Some(true) => {
                self.words_at.insert(output);
            }
            Some(false) => {}
            None if takes_words => return Err("it takes numbers, and gets words".to_owned()),
            None => return Err("it takes words, and gets numbers".to_owned()),
        }
        for name in &node.input {
            self.hold(name)?;
        }
        self.want(node.input.iter().map(String::as_str));
        let inputs = node.input.iter().map(|name| self.places[name.as_str()]);
        let inputs = inputs.collect();
        let output = self.place(output);
        self.steps.push(Step::Operator {
            operator,
            label: super::needed::label(node),
            inputs,
            output,
        });
        Ok(())
    }

    /// Asks the runtime for the values among `names` that are missing.
    pub fn want(&mut self, names: impl Iterator<Item = &'a str>) {
        let is_constant =
            |name: &str| self.constants.contains_key(name) || self.given.contains_key(name);
        let known = self.places.iter().filter(|(name, _)| !is_constant(name));
        let known = known.map(|(&name, &place)| (place, name)).collect();
        let mut wanted = Vec::new();
        for name in names {
            if !self.places.contains_key(name) {
                wanted.push((self.place(name), name));
            }
        }
        if !wanted.is_empty() {
            self.steps.push(Step::Runtime { known, wanted });
        }
    }

    /// Returns the place of a value that is there from now on.
    fn place(&mut self, name: &'a str) -> usize {
        let next = self.places.len();
        *self.places.entry(name).or_insert(next)
    }

    /// Makes a place for `name` if it is a constant.
    fn hold(&mut self, name: &'a str) -> Result<(), String> {
        let found = self.constants.get(name).or_else(|| self.given.get(name));
        if let Some(&constant) = found
            && !self.places.contains_key(name)
        {
            let tensor = Tensor::constant(&self.constant(name, constant))?;
            let place = self.place(name);
            self.held.push((place, Arc::new(tensor)));
        }
        Ok(())
    }

    /// Returns the constant, with words as numbers.
    fn constant(&mut self, name: &str, constant: &TensorProto) -> TensorProto {
        match self.constant_words.get(name) {
            None => constant.clone(),
            Some(words) => TensorProto {
                name: Some(name.to_owned()),
                dims: constant.dims.clone(),
                data_type: Some(DataType::INT32),
                int32_data: words.iter().map(|word| self.words.number(word)).collect(),
                ..TensorProto::default()
            },
        }
    }

    /// Notes which outputs of `node`, which is left to the runtime, are words.
    fn follow_words(&mut self, node: &'a NodeProto) -> Result<(), String> {
        let are_words = |name: &&str| self.words_at.contains(name);
        let inputs: Vec<bool> = node
            .input
            .iter()
            .map(|name| are_words(&name.as_str()))
            .collect();
        let kind = node.op_type.as_deref().unwrap_or_default();
        if kind == "Cast" && Attributes(node).integer("to") == Some(i64::from(DataType::STRING.0)) {
            return Err("it makes words of numbers, which cannot be computed here".to_owned());
        }
        if !references(node).iter().any(are_words) {
            return Ok(());
        }
        let gives_words = match (kind, inputs.as_slice()) {
            (
                "Expand" | "Flatten" | "Gather" | "GatherElements" | "GatherND" | "Identity"
                | "Reshape" | "Slice" | "Split" | "Squeeze" | "Tile" | "Transpose" | "Unsqueeze",
                [true, others @ ..],
            ) if !others.contains(&true) => true,
            ("Concat", inputs) if !inputs.contains(&false) => true,
            ("Where", [false, true, true]) => true,
            ("Equal", [true, true]) | ("Shape" | "Size", [true]) => false,
            _ => return Err("it cannot be computed with words here".to_owned()),
        };
        if gives_words {
            self.words_at.extend(node.output.iter().map(String::as_str));
        }
        Ok(())
    }

    /// Returns the part of the `model` in the file `path` that is left to the runtime, as bytes.
    ///
    /// # Errors
    /// When a constant is broken or cannot be moved.
    pub fn remainder(&mut self, model: &ModelProto, path: &Path) -> Result<Vec<u8>, String> {
        let used: HashSet<&str> = self
            .standard
            .iter()
            .flat_map(|node| references(node))
            .collect();
        let mut graph = GraphProto {
            node: self.standard.iter().map(|&node| node.clone()).collect(),
            ..GraphProto::default()
        };
        for input in self.inputs {
            if input
                .name
                .as_deref()
                .is_some_and(|name| used.contains(name))
            {
                graph.input.push(without_words(input));
            }
        }
        let names: HashMap<usize, &str> =
            self.places.iter().map(|(&name, &at)| (at, name)).collect();
        for step in &self.steps {
            match step {
                Step::Operator { output, .. } => {
                    let name = names.get(output).filter(|name| used.contains(*name));
                    graph.input.extend(name.map(|name| unknown(name)));
                }
                Step::Runtime { wanted, .. } => {
                    graph
                        .output
                        .extend(wanted.iter().map(|(_, name)| unknown(name)));
                }
            }
        }
        let mut names: Vec<&str> = used.into_iter().collect();
        names.sort_unstable();
        for name in names {
            let Some(&constant) = self.constants.get(name) else {
                continue;
            };
            let mut constant = self.constant(name, constant);
            external::fill(path, &mut constant)?;
            graph.initializer.push(constant);
        }
        let remainder = ModelProto {
            ir_version: model.ir_version,
            opset_import: model.opset_import.clone(),
            graph: Some(graph),
            ..ModelProto::default()
        };
        remainder.write_buf().map_err(|error| error.to_string())
    }
}

/// Returns the type of a declared value.
pub fn element(value: &ValueInfoProto) -> Option<DataType> {
    value.r#type.as_ref()?.tensor_type.as_ref()?.elem_type
}

/// Returns the input with words as numbers.
fn without_words(input: &ValueInfoProto) -> ValueInfoProto {
    let mut input = input.clone();
    let tensor = input
        .r#type
        .as_mut()
        .and_then(|kind| kind.tensor_type.as_mut());
    if let Some(tensor) = tensor
        && tensor.elem_type == Some(DataType::STRING)
    {
        tensor.elem_type = Some(DataType::INT32);
    }
    input
}

/// Returns a value of which nothing is known but its name.
fn unknown(name: &str) -> ValueInfoProto {
    ValueInfoProto {
        name: Some(name.to_owned()),
        r#type: None,
    }
}
