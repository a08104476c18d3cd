//! Numbers that are none (NaN): in constants, and where values of a row are missing.
//!
//! The runtime takes the larger of NaN and a number to be the number, so that a `Relu` makes 0 of a
//! missing value, where ONNX says NaN.

use std::collections::HashMap;
use std::path::Path;

use rten_onnx::onnx::{DataType, GraphProto, NodeProto, TensorProto};

use super::attributes::Attributes;
use super::external;

/// The operators of which the runtime may give a number for NaN.
const HIDING: [&str; 8] = [
    "Clip",
    "GlobalMaxPool",
    "Max",
    "MaxPool",
    "Min",
    "ReduceMax",
    "ReduceMin",
    "Relu",
];

/// Whether `node`, or one in a graph within it, may give a number for NaN.
pub fn is_hiding(node: &NodeProto) -> bool {
    let kinds = with_inner(node).into_iter();
    let mut kinds = kinds.filter_map(|node| node.op_type.as_deref());
    kinds.any(|kind| HIDING.contains(&kind))
}

/// Whether `node`, or one in a graph within it, is there for missing values.
pub fn is_expecting(node: &NodeProto) -> bool {
    let is_one = |node: &NodeProto| match node.op_type.as_deref().unwrap_or_default() {
        "Imputer" | "IsNaN" => true,
        // What is not equal to itself.
        "Equal" => matches!(node.input.as_slice(), [one, other] if one == other),
        "LabelEncoder" => {
            let mut keys = Attributes(node).floats("keys_floats").iter();
            keys.any(|key| key.is_nan())
        }
        kind => kind.starts_with("TreeEnsemble"),
    };
    with_inner(node).into_iter().any(is_one)
}

/// Returns the names of the constants that hold NaN, with whether it is their only number.
/// Constants in the file `path` may have their numbers beside it.
pub fn constants(graph: &GraphProto, path: &Path) -> HashMap<String, bool> {
    let mut found = HashMap::new();
    let mut open = vec![graph];
    while let Some(graph) = open.pop() {
        for constant in &graph.initializer {
            if let Some(name) = &constant.name
                && holds_nan(constant, path)
            {
                found.insert(name.clone(), is_one(constant));
            }
        }
        for node in &graph.node {
            let inner = node.attribute.iter();
            open.extend(inner.filter_map(|attribute| attribute.g.as_ref()));
            let attributes = Attributes(node);
            let Some(name) = node.output.first() else {
                continue;
            };
            if node.op_type.as_deref() != Some("Constant") {
                continue;
            }
            if let Some(held) = attributes.tensor("value")
                && holds_nan(held, path)
            {
                found.insert(name.clone(), is_one(held));
            }
            let mut list = attributes.floats("value_floats").iter();
            if list.any(|number| number.is_nan()) {
                found.insert(name.clone(), false);
            }
            if attributes.float("value_float").is_some_and(f32::is_nan) {
                found.insert(name.clone(), true);
            }
        }
    }
    found
}

/// Whether a constant has one number.
fn is_one(constant: &TensorProto) -> bool {
    constant.dims.iter().all(|&size| size == 1)
}

fn holds_nan(held: &TensorProto, path: &Path) -> bool {
    if !matches!(
        held.data_type,
        Some(DataType::FLOAT | DataType::DOUBLE | DataType::FLOAT16)
    ) {
        return false;
    }
    // Whoever needs numbers that cannot be read says so.
    let beside = external::bytes(path, held).ok().flatten();
    let inside = held.raw_data.as_ref().map(|bytes| bytes.borrow());
    let inside = inside.as_ref().map(|bytes| bytes.as_slice());
    let raw = beside.as_deref().or(inside);
    let is_half_nan = |bits: u16| bits & 0x7fff > 0x7c00;
    match (held.data_type, raw) {
        (Some(DataType::FLOAT), Some(bytes)) => {
            let mut numbers = bytes.as_chunks::<4>().0.iter();
            numbers.any(|&bytes| f32::from_le_bytes(bytes).is_nan())
        }
        (Some(DataType::FLOAT), None) => held.float_data.iter().any(|number| number.is_nan()),
        (Some(DataType::DOUBLE), Some(bytes)) => {
            let mut numbers = bytes.as_chunks::<8>().0.iter();
            numbers.any(|&bytes| f64::from_le_bytes(bytes).is_nan())
        }
        (Some(DataType::DOUBLE), None) => held.double_data.iter().any(|number| number.is_nan()),
        (_, Some(bytes)) => {
            let mut numbers = bytes.as_chunks::<2>().0.iter();
            numbers.any(|&bytes| is_half_nan(u16::from_le_bytes(bytes)))
        }
        (_, None) => {
            let mut numbers = held.int32_data.iter();
            numbers.any(|&bits| is_half_nan(bits as u16))
        }
    }
}

/// Returns `node` and all nodes of graphs within it.
fn with_inner(node: &NodeProto) -> Vec<&NodeProto> {
    let mut all = Vec::new();
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        all.push(node);
        let inner = node.attribute.iter();
        let inner = inner.filter_map(|attribute| attribute.g.as_ref());
        open.extend(inner.flat_map(|graph| &graph.node));
    }
    all
}
