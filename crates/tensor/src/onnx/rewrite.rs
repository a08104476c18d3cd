//! Parts of a graph that the runtime computes otherwise than ONNX says, written as parts that it
//! computes right.
//!
//! **Truth.** The runtime keeps truth as whole numbers, and a cast to it keeps the number: 2 stays
//! 2, and 0.3 becomes 0. Here such a cast is a comparison with 0.
//!
//! **Softmax.** Until version 13 of the operators it takes all dimensions from its axis on together,
//! of which the runtime takes one. Here it takes the last one of an input that is flattened so.
//!
//! **Products with a bias.** The runtime makes one operator of `MatMul` and the `Add` of a constant
//! with one dimension, which fails where that is not as long as the rows. Such an `Add` is a `Sum`
//! here, which is the same.

use std::collections::HashMap;

use rten_onnx::onnx::{
    AttributeProto, AttributeType, DataType, GraphProto, NodeProto, TensorProto, ValueInfoProto,
};

use super::attributes::Attributes;
use super::needed::label;
use super::plan::element;

/// The operators that give values of their first input as they are.
const MOVING: [&str; 25] = [
    "Compress",
    "Concat",
    "DepthToSpace",
    "Dropout",
    "Expand",
    "Flatten",
    "Gather",
    "GatherElements",
    "GatherND",
    "Identity",
    "Pad",
    "Reshape",
    "ReverseSequence",
    "Scatter",
    "ScatterElements",
    "ScatterND",
    "Slice",
    "SpaceToDepth",
    "Split",
    "Squeeze",
    "Tile",
    "Transpose",
    "Trilu",
    "Unique",
    "Unsqueeze",
];

/// The operators of which nothing is known but what the file declares.
const OPAQUE: [&str; 9] = [
    "EyeLike",
    "If",
    "Loop",
    "OneHot",
    "OptionalGetElement",
    "ReduceMax",
    "ReduceMin",
    "Scan",
    "SequenceAt",
];

/// What has become of a graph.
#[derive(Default)]
pub struct Changes {
    /// Whether anything in it is written otherwise.
    pub any: bool,
    /// Why nodes cannot be computed, by the first of their outputs.
    pub refused: HashMap<String, String>,
    /// The version of the standard operators, where the file says it.
    version: Option<i64>,
}

/// Writes `graph`, and the graphs in it, so that the runtime computes what ONNX says, in the
/// `version` of the standard operators.
pub fn rewrite(graph: &mut GraphProto, version: Option<i64>) -> Changes {
    let mut changes = Changes {
        version,
        ..Changes::default()
    };
    let scope = Scope::new(graph, None);
    rewrite_nodes(graph, &scope, None, &mut changes);
    changes
}

/// Rewrites the nodes of `graph`, which stands in the node that gives `top`, if in any.
fn rewrite_nodes(
    graph: &mut GraphProto,
    scope: &Scope<'_>,
    top: Option<&str>,
    changes: &mut Changes,
) {
    let mut nodes = Vec::with_capacity(graph.node.len());
    for mut node in std::mem::take(&mut graph.node) {
        let first = node.output.first().cloned().unwrap_or_default();
        let top = top.unwrap_or(&first);
        for attribute in &mut node.attribute {
            if let Some(inner) = &mut attribute.g {
                let scope = Scope::new(inner, Some(scope));
                rewrite_nodes(inner, &scope, Some(top), changes);
            }
        }
        match scope.instead(&node, changes.version) {
            Ok(None) => nodes.push(node),
            Ok(Some(others)) => {
                changes.any = true;
                nodes.extend(others);
            }
            Err(reason) => {
                let reason = format!("{}: {reason}", label(&node));
                changes.refused.insert(top.to_owned(), reason);
                nodes.push(node);
            }
        }
    }
    graph.node = nodes;
}

/// What is known of the values of a graph, and of those around it.
struct Scope<'a> {
    outer: Option<&'a Scope<'a>>,
    values: HashMap<String, Known>,
    /// The second factor of each value that a `MatMul` gives.
    factors: HashMap<String, String>,
}

/// What is known of a value before anything is computed.
#[derive(Clone, Default)]
struct Known {
    /// Whether it is truth.
    is_truth: Option<bool>,
    /// The number of its dimensions.
    rank: Option<usize>,
    /// The sizes of its dimensions, if it is a constant.
    sizes: Option<Vec<i64>>,
}

impl Known {
    /// Returns what a constant says of itself.
    fn of_constant(constant: &TensorProto) -> Known {
        Known {
            is_truth: Some(constant.data_type == Some(DataType::BOOL)),
            rank: Some(constant.dims.len()),
            sizes: Some(constant.dims.clone()),
        }
    }

    /// Returns what the file declares of a value.
    fn declared(value: &ValueInfoProto) -> Known {
        let tensor = value.r#type.as_ref();
        let tensor = tensor.and_then(|kind| kind.tensor_type.as_ref());
        let shape = tensor.and_then(|tensor| tensor.shape.as_ref());
        Known {
            is_truth: element(value).map(|kind| kind == DataType::BOOL),
            rank: shape.map(|shape| shape.dim.len()),
            sizes: None,
        }
    }
}

impl<'a> Scope<'a> {
    fn new(graph: &GraphProto, outer: Option<&'a Scope<'a>>) -> Scope<'a> {
        let mut values = HashMap::new();
        let declared = graph.input.iter().chain(&graph.output);
        for value in declared.chain(&graph.value_info) {
            if let Some(name) = &value.name {
                values.insert(name.clone(), Known::declared(value));
            }
        }
        for constant in &graph.initializer {
            if let Some(name) = &constant.name {
                values.insert(name.clone(), Known::of_constant(constant));
            }
        }
        let mut scope = Scope {
            outer,
            values,
            factors: HashMap::new(),
        };
        for node in &graph.node {
            if node.op_type.as_deref() == Some("MatMul")
                && let ([_, factor], [product]) = (node.input.as_slice(), node.output.as_slice())
            {
                scope.factors.insert(product.clone(), factor.clone());
            }
            let given = scope.given(node);
            let is_split = node.op_type.as_deref() == Some("Split");
            let outputs = if is_split { node.output.len() } else { 1 };
            for name in node.output.iter().take(outputs) {
                let known = scope.values.entry(name.clone()).or_default();
                known.is_truth = known.is_truth.or(given.is_truth);
                known.rank = known.rank.or(given.rank);
                if let Some(sizes) = &given.sizes {
                    known.sizes = Some(sizes.clone());
                }
            }
        }
        scope
    }

    /// Returns what is known of the value `name`.
    fn known(&self, name: &str) -> Known {
        let mut scope = Some(self);
        while let Some(here) = scope {
            if let Some(known) = here.values.get(name) {
                return known.clone();
            }
            scope = here.outer;
        }
        Known::default()
    }

    /// Returns what is known of the values that `node` gives, by its operator.
    fn given(&self, node: &NodeProto) -> Known {
        let input = |at: usize| {
            let name = node.input.get(at);
            name.map_or_else(Known::default, |name| self.known(name))
        };
        let held = Attributes(node).tensor("value").map(Known::of_constant);
        let is_truth = match node.op_type.as_deref().unwrap_or_default() {
            "And" | "Equal" | "Greater" | "GreaterOrEqual" | "IsInf" | "IsNaN" | "Less"
            | "LessOrEqual" | "Not" | "Or" | "Xor" => Some(true),
            "Cast" => Some(is_to_truth(node)),
            "CastLike" | "Where" => input(1).is_truth,
            "Constant" | "ConstantOfShape" => {
                Some(held.is_some_and(|held| held.is_truth == Some(true)))
            }
            kind if MOVING.contains(&kind) => input(0).is_truth,
            kind if OPAQUE.contains(&kind) => None,
            _ => Some(false),
        };
        Known {
            is_truth,
            rank: self.rank(node),
            sizes: sizes_of_constant(node),
        }
    }

    /// Returns the number of dimensions of what `node` gives, for the operators around a softmax.
    fn rank(&self, node: &NodeProto) -> Option<usize> {
        let of = |at: usize| self.known(node.input.get(at)?).rank;
        match node.op_type.as_deref()? {
            "Constant" => Some(Attributes(node).tensor("value")?.dims.len()),
            "Flatten" | "Gemm" => Some(2),
            "Add" | "Div" | "Mul" | "Sub" => Some(of(0)?.max(of(1)?)),
            "MatMul" => match (of(0)?, of(1)?) {
                (one @ 2.., other @ 2..) => Some(one.max(other)),
                _ => None,
            },
            "BatchNormalization" | "Cast" | "Clip" | "Dropout" | "Elu" | "Identity"
            | "LeakyRelu" | "LogSoftmax" | "Neg" | "PRelu" | "Relu" | "Selu" | "Sigmoid"
            | "Softmax" | "Softplus" | "Tanh" => of(0),
            _ => None,
        }
    }

    /// Whether these are a product and a constant with one dimension that is not, or may not be, as
    /// long as the rows of the product.
    fn is_wider_sum(&self, inputs: &[String]) -> bool {
        let [one, other] = inputs else {
            return false;
        };
        let (factor, bias) = match (self.factors.get(one), self.factors.get(other)) {
            (Some(factor), _) => (factor, other),
            (None, Some(factor)) => (factor, one),
            (None, None) => return false,
        };
        let sizes = self.known(bias).sizes;
        let Some(&[length]) = sizes.as_deref() else {
            return false;
        };
        match self.known(factor).sizes.as_deref() {
            Some([_]) => length != 1,
            Some([.., width]) => length != *width,
            Some([]) => false,
            None => length == 1,
        }
    }

    /// Returns the nodes that are computed in place of `node`; nothing where it stays as it is.
    ///
    /// # Errors
    /// Why the node cannot be computed.
    fn instead(
        &self,
        node: &NodeProto,
        version: Option<i64>,
    ) -> Result<Option<Vec<NodeProto>>, String> {
        let is_standard = matches!(node.domain.as_deref(), None | Some("" | "ai.onnx"));
        let (Some(input), Some(output)) = (node.input.first(), node.output.first()) else {
            return Ok(None);
        };
        if !is_standard {
            return Ok(None);
        }
        let is_truth_already = || self.known(input).is_truth == Some(true);
        match node.op_type.as_deref().unwrap_or_default() {
            "Cast" if is_to_truth(node) && !is_truth_already() => {
                Ok(Some(is_not_zero(node, input, output)))
            }
            "CastLike" if !is_truth_already() => {
                let like = node.input.get(1).map(|like| self.known(like).is_truth);
                match like {
                    Some(Some(true)) => Ok(Some(is_not_zero(node, input, output))),
                    Some(Some(false)) | None => Ok(None),
                    Some(None) => Err(
                        "the file does not tell whether it casts to truth, which cannot be computed; \
                         export it as a Cast"
                            .to_owned(),
                    ),
                }
            }
            "Add" if node.attribute.is_empty() && self.is_wider_sum(&node.input) => {
                Ok(Some(vec![NodeProto {
                    op_type: Some("Sum".to_owned()),
                    ..node.clone()
                }]))
            }
            "LogSoftmax" | "Softmax" if version.is_some_and(|version| version < 13) => {
                let axis = Attributes(node).integer("axis").unwrap_or(1);
                let rank = self.known(input).rank.or(self.known(output).rank);
                let last = rank.and_then(|rank| i64::try_from(rank).ok()?.checked_sub(1));
                if axis == -1 || Some(axis) == last {
                    return Ok(None);
                }
                Ok(Some(over_the_rest(node, axis, input, output)))
            }
            _ => Ok(None),
        }
    }
}

/// Returns the sizes of the constant that a node gives, if it does.
fn sizes_of_constant(node: &NodeProto) -> Option<Vec<i64>> {
    if node.op_type.as_deref() != Some("Constant") {
        return None;
    }
    let attributes = Attributes(node);
    match attributes.tensor("value") {
        Some(held) => Some(held.dims.clone()),
        None => Some(vec![
            i64::try_from(attributes.floats("value_floats").len()).ok()?,
        ]),
    }
}

/// Whether a node casts to truth, if it is a `Cast`.
fn is_to_truth(node: &NodeProto) -> bool {
    Attributes(node).integer("to") == Some(i64::from(DataType::BOOL.0))
}

/// Returns nodes that say in `output` where `input` is not 0, in place of `node`. They take numbers
/// of any type.
fn is_not_zero(node: &NodeProto, input: &str, output: &str) -> Vec<NodeProto> {
    let [number, zero, is_zero] = parts(output, ["number", "zero", "is_zero"]);
    let to = whole("to", i64::from(DataType::FLOAT.0));
    let cast = NodeProto {
        name: node.name.clone(),
        ..made("Cast", &[input], &number, vec![to])
    };
    let held = TensorProto {
        data_type: Some(DataType::FLOAT),
        float_data: vec![0.0],
        ..TensorProto::default()
    };
    vec![
        cast,
        constant(&zero, held),
        made("Equal", &[&number, &zero], &is_zero, vec![]),
        made("Not", &[&is_zero], output, vec![]),
    ]
}

/// Returns nodes that compute a softmax over all dimensions of `input` from `axis` on together, in
/// place of `node`.
fn over_the_rest(node: &NodeProto, axis: i64, input: &str, output: &str) -> Vec<NodeProto> {
    let [flat, shares, shape] = parts(output, ["flat", "shares", "shape"]);
    let softmax = NodeProto {
        input: vec![flat.clone()],
        output: vec![shares.clone()],
        attribute: vec![whole("axis", -1)],
        ..node.clone()
    };
    vec![
        made("Flatten", &[input], &flat, vec![whole("axis", axis)]),
        softmax,
        made("Shape", &[input], &shape, vec![]),
        made("Reshape", &[&shares, &shape], output, vec![]),
    ]
}

/// Returns names for values on the way to `output`.
fn parts<const COUNT: usize>(output: &str, names: [&str; COUNT]) -> [String; COUNT] {
    names.map(|name| format!("{output}/probity/{name}"))
}

/// Makes a node of the standard operators.
fn made(kind: &str, inputs: &[&str], output: &str, attribute: Vec<AttributeProto>) -> NodeProto {
    NodeProto {
        domain: None,
        name: None,
        input: inputs.iter().map(|&name| name.to_owned()).collect(),
        output: vec![output.to_owned()],
        op_type: Some(kind.to_owned()),
        attribute,
    }
}

/// Makes a node that gives the constant `held`.
fn constant(output: &str, held: TensorProto) -> NodeProto {
    let value = AttributeProto {
        name: Some("value".to_owned()),
        t: Some(held),
        r#type: Some(AttributeType::TENSOR),
        ..AttributeProto::default()
    };
    made("Constant", &[], output, vec![value])
}

/// Makes an attribute that is a whole number.
fn whole(name: &str, value: i64) -> AttributeProto {
    AttributeProto {
        name: Some(name.to_owned()),
        i: Some(value),
        r#type: Some(AttributeType::INT),
        ..AttributeProto::default()
    }
}
