//! ONNX files, and what they declare before one of their outputs is chosen.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::fs::File;
use std::path::{Path, PathBuf};

use probity_run::guard::guarded;
use probity_run::pipe::expect_rereadable;
use rten_onnx::onnx::{DataType, GraphProto, ModelProto, NodeProto, ValueInfoProto};

use super::attributes::Attributes;
use super::needed::{givers, label, needed};
use super::operator::{DOMAIN, is_operator};
use super::plan::element;
use super::rewrite::rewrite;
use super::tensor::Tensor;
use super::{Kind, OnnxError, Port, missing, wire};

/// An ONNX file that has been read.
pub struct OnnxFile {
    pub(super) path: PathBuf,
    pub(super) model: ModelProto,
    pub(super) graph: GraphProto,
    /// The words of the file's constants of words, by the names of the constants.
    pub(super) words: HashMap<String, Vec<String>>,
    /// Whether the runtime can read the file as it stands: there are no words, no operators of
    /// `ai.onnx.ml`, and nothing that is written otherwise for it.
    pub(super) is_plain: bool,
    /// Why nodes cannot be computed, by the first of their outputs.
    pub(super) refused: HashMap<String, String>,
    /// The constants that hold NaN, with whether it is their only number.
    pub(super) nans: HashMap<String, bool>,
}

impl OnnxFile {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// When the file cannot be read or is no ONNX model.
    pub fn read(path: &Path) -> Result<OnnxFile, OnnxError> {
        let read = |source| OnnxError::Read {
            path: path.to_path_buf(),
            source,
        };
        expect_rereadable(path).map_err(read)?;
        let file = File::open(path).map_err(read)?;
        if !path
            .extension()
            .is_some_and(|end| end.eq_ignore_ascii_case("onnx"))
        {
            return Err(OnnxError::Name {
                path: path.to_path_buf(),
            });
        }
        let broken = |reason: String| OnnxError::Broken {
            path: path.to_path_buf(),
            reason,
        };
        let bytes = fs::read(path).map_err(read)?;
        wire::check(&bytes).map_err(broken)?;
        let words = wire::words(&bytes);
        // The weights of a large model have room once, not twice.
        drop(bytes);
        let mut model = guarded(|| ModelProto::parse_file(file))
            .map_err(broken)?
            .map_err(|error| broken(error.to_string()))?;
        let graph = model.graph.take();
        let mut graph = graph.ok_or_else(|| broken("it has no graph".to_owned()))?;
        expect_one_of_each_name(&graph).map_err(broken)?;
        let mut sets = model.opset_import.iter();
        let standard =
            sets.find(|set| matches!(set.domain.as_deref(), None | Some("" | "ai.onnx")));
        let changes = rewrite(&mut graph, standard.and_then(|set| set.version));
        let has_words = |input| element(input) == Some(DataType::STRING);
        let is_known = |node: &NodeProto| node.domain.as_deref() != Some(DOMAIN);
        let is_plain = !changes.any
            && words.is_empty()
            && graph.node.iter().all(is_known)
            && !graph.input.iter().any(has_words);
        let nans = missing::constants(&graph, path);
        if is_plain && !graph.node.iter().any(is_operator) {
            // The runtime reads the weights itself, and nobody else needs them.
            for constant in &mut graph.initializer {
                if matches!(
                    constant.data_type,
                    Some(DataType::FLOAT | DataType::FLOAT16)
                ) {
                    constant.float_data = Vec::new();
                    constant.raw_data = None;
                }
            }
        }
        Ok(OnnxFile {
            is_plain,
            refused: changes.refused,
            nans,
            path: path.to_path_buf(),
            model,
            graph,
            words,
        })
    }

    /// Returns the names of the files beside it that weights are kept in, in ascending order.
    pub fn external_files(&self) -> Vec<String> {
        fn collect(graph: &GraphProto, names: &mut BTreeSet<String>) {
            let of_nodes = graph.node.iter().flat_map(|node| &node.attribute);
            let of_nodes = of_nodes
                .clone()
                .filter_map(|attribute| attribute.t.as_ref());
            for tensor in graph.initializer.iter().chain(of_nodes) {
                let entries = tensor.external_data.iter();
                let location = entries.filter(|entry| entry.key.as_deref() == Some("location"));
                names.extend(location.filter_map(|entry| entry.value.clone()));
            }
            let attributes = graph.node.iter().flat_map(|node| &node.attribute);
            for graph in attributes.filter_map(|attribute| attribute.g.as_ref()) {
                collect(graph, names);
            }
        }
        let mut names = BTreeSet::new();
        collect(&self.graph, &mut names);
        names.into_iter().collect()
    }

    /// Returns the inputs that are not weights: old files list weights among the inputs.
    pub(super) fn declared(&self) -> impl Iterator<Item = &ValueInfoProto> {
        let constants = self.graph.initializer.iter();
        let constants: HashSet<_> = constants.map(|constant| &constant.name).collect();
        let inputs = self.graph.input.iter();
        inputs.filter(move |input| !constants.contains(&input.name))
    }

    /// Returns the outputs, in the order of the file. An output that is a dictionary of classes for
    /// each row (`ZipMap`) is the tensor that the dictionaries are made of.
    pub fn outputs(&self) -> Vec<Port> {
        let outputs = self.graph.output.iter().map(|output| {
            let port = port(output);
            match self.dictionary(&port.name) {
                Some(_) => Port {
                    shape: None,
                    kind: Some(Kind::Floats),
                    ..port
                },
                None => port,
            }
        });
        outputs.collect()
    }

    /// Whether a node of the graph has one of these operators.
    pub fn has_operator(&self, names: &[&str]) -> bool {
        let mut operators = self
            .graph
            .node
            .iter()
            .filter_map(|node| node.op_type.as_deref());
        operators.any(|operator| names.contains(&operator))
    }

    /// Describes an operator that the output `name` needs and that may give a number for a missing
    /// one, where nothing in the graph is there for missing values.
    pub fn hides_missing(&self, name: &str) -> Option<String> {
        let needed = needed(&self.graph, self.source(name)).ok()?;
        let nodes = needed.nodes.iter().map(|&place| &self.graph.node[place]);
        if nodes.clone().any(missing::is_expecting) {
            return None;
        }
        let mut nodes = nodes.filter(|node| missing::is_hiding(node));
        nodes.next().map(label)
    }

    /// Returns whether the output `name` has probabilities of a support vector machine, which decides by
    /// votes and not by them.
    pub fn decides_by_votes(&self, name: &str) -> bool {
        let needed = needed(&self.graph, self.source(name));
        let places = needed.map_or_else(|_| Vec::new(), |needed| needed.nodes);
        let mut nodes = places.iter().map(|&place| &self.graph.node[place]);
        nodes.any(|node| {
            let is_machine = node.op_type.as_deref() == Some("SVMClassifier");
            is_machine && !Attributes(node).floats("prob_a").is_empty()
        })
    }

    /// Returns the names of the classes, in the order of the columns of the output `name`, as far
    /// as the file says them: by the dictionaries of the output, by the classifier that computes
    /// it, or by the labels that another output chooses from.
    pub fn classes(&self, name: &str) -> Option<Vec<String>> {
        if let Some(node) = self.dictionary(name) {
            return labels(node);
        }
        let scores = ["Identity", "Cast", "Mul", "Normalizer"];
        if let Some(node) = self.origin(name, &scores)
            && is_classifier(node)
        {
            return labels(node);
        }
        let others = self.graph.output.iter();
        let others = others.filter_map(|output| output.name.as_deref());
        others.filter(|&other| other != name).find_map(|other| {
            let labels_of = ["Identity", "Cast", "Reshape", "Squeeze", "Flatten"];
            let node = self.origin(other, &labels_of)?;
            match node.op_type.as_deref() {
                _ if is_classifier(node) => labels(node),
                Some("ArrayFeatureExtractor" | "Gather") => self.listed(node.input.first()?),
                _ => None,
            }
        })
    }

    /// Returns the node that makes dictionaries of the output `name`.
    pub(super) fn dictionary(&self, name: &str) -> Option<&NodeProto> {
        let node = self.giver(name)?;
        (node.op_type.as_deref() == Some("ZipMap")).then_some(node)
    }

    /// Returns the tensor that the output `name` is, or that its dictionaries are made of.
    pub(super) fn source<'a>(&'a self, name: &'a str) -> &'a str {
        let dictionary = self.dictionary(name);
        let taken = dictionary.and_then(|node| node.input.first());
        taken.map_or(name, String::as_str)
    }

    fn giver(&self, name: &str) -> Option<&NodeProto> {
        let place = givers(&self.graph).ok()?.get(name).copied()?;
        self.graph.node.get(place)
    }

    /// Returns the node from which `name` comes through nothing but `operators`.
    fn origin(&self, name: &str, operators: &[&str]) -> Option<&NodeProto> {
        let mut node = self.giver(name)?;
        // Exports have two or three; more would be no renaming.
        for _ in 0..8 {
            if !operators.contains(&node.op_type.as_deref()?) {
                return Some(node);
            }
            node = self.giver(node.input.first()?)?;
        }
        None
    }

    /// The words or whole numbers of the constant `name`.
    fn listed(&self, name: &str) -> Option<Vec<String>> {
        if let Some(words) = self.words.get(name) {
            return Some(words.clone());
        }
        let mut constants = self.graph.initializer.iter();
        let constant = constants.find(|constant| constant.name.as_deref() == Some(name))?;
        let numbers = Tensor::constant(constant).ok()?.values.into_integers();
        Some(numbers.iter().map(i32::to_string).collect())
    }
}

/// Refuses two constants of one name, in the graph or in one within it.
fn expect_one_of_each_name(graph: &GraphProto) -> Result<(), String> {
    let mut open = vec![graph];
    while let Some(graph) = open.pop() {
        let mut names = HashSet::new();
        let constants = graph.initializer.iter();
        for name in constants.filter_map(|constant| constant.name.as_deref()) {
            if !names.insert(name) {
                return Err(format!("two of its constants are called '{name}'"));
            }
        }
        let attributes = graph.node.iter().flat_map(|node| &node.attribute);
        open.extend(attributes.filter_map(|attribute| attribute.g.as_ref()));
    }
    Ok(())
}

fn is_classifier(node: &NodeProto) -> bool {
    is_operator(node)
        && matches!(
            node.op_type.as_deref(),
            Some("LinearClassifier" | "SVMClassifier" | "TreeEnsembleClassifier")
        )
}

/// The classes that a node names.
fn labels(node: &NodeProto) -> Option<Vec<String>> {
    let attributes = Attributes(node);
    let words = attributes.words("classlabels_strings");
    if !words.is_empty() {
        return Some(words.to_vec());
    }
    let mut integers = ["classlabels_int64s", "classlabels_ints"]
        .into_iter()
        .map(|name| attributes.integers(name));
    let integers = integers.find(|integers| !integers.is_empty())?;
    Some(integers.iter().map(i64::to_string).collect())
}

/// Returns the port that an input or an output is declared to be.
pub(super) fn port(value: &ValueInfoProto) -> Port {
    let tensor = value.r#type.as_ref();
    let tensor = tensor.and_then(|kind| kind.tensor_type.as_ref());
    let shape = tensor.and_then(|tensor| tensor.shape.as_ref());
    Port {
        name: value.name.clone().unwrap_or_default(),
        shape: shape.map(|shape| {
            let sizes = shape.dim.iter();
            sizes
                .map(|size| size.dim_value.and_then(|size| usize::try_from(size).ok()))
                .collect()
        }),
        kind: tensor.and_then(|tensor| match tensor.elem_type? {
            DataType::FLOAT | DataType::FLOAT16 => Some(Kind::Floats),
            DataType::DOUBLE => Some(Kind::Doubles),
            DataType::STRING => Some(Kind::Words),
            DataType::BOOL => Some(Kind::Truths),
            DataType::INT8
            | DataType::INT16
            | DataType::INT32
            | DataType::INT64
            | DataType::UINT8
            | DataType::UINT16
            | DataType::UINT32
            | DataType::UINT64 => Some(Kind::Integers),
            _ => None,
        }),
    }
}
