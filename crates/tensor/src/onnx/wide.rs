//! Whole numbers of more than 32 bits, which the runtime does not have.
//!
//! It makes the nearest number of 32 bits of a larger constant. As the end of a slice or a bound
//! that is as good; what calculates with it would be wrong.

use std::collections::HashSet;
use std::path::Path;

use rten_onnx::onnx::{DataType, GraphProto, NodeProto, TensorProto};

use super::attributes::Attributes;
use super::external;
use super::needed::label;

/// The operators that give numbers of their inputs as they are.
const MOVING: [&str; 9] = [
    "Concat",
    "Flatten",
    "Identity",
    "ScatterElements",
    "ScatterND",
    "SequenceConstruct",
    "Squeeze",
    "Transpose",
    "Where",
];

/// The operators that give numbers of their first input as they are, and take the others for sizes
/// and places.
const MOVING_FIRST: [&str; 10] = [
    "Expand",
    "Gather",
    "GatherElements",
    "GatherND",
    "Pad",
    "Reshape",
    "Slice",
    "Split",
    "Tile",
    "Unsqueeze",
];

/// The operators to which a number beyond all others is a bound.
const BOUNDED: [&str; 10] = [
    "Clip",
    "Greater",
    "GreaterOrEqual",
    "Less",
    "LessOrEqual",
    "Loop",
    "Max",
    "Min",
    "Shape",
    "Size",
];

/// The values of a graph that may hold a whole number of more than 32 bits.
pub struct Wide<'a> {
    path: &'a Path,
    names: HashSet<&'a str>,
}

impl<'a> Wide<'a> {
    /// Returns those among the constants of `graph`, which stands in the file `path`.
    pub fn new(graph: &'a GraphProto, path: &'a Path) -> Wide<'a> {
        let mut wide = Wide {
            path,
            names: HashSet::new(),
        };
        wide.add_constants(graph);
        wide
    }

    fn add_constants(&mut self, graph: &'a GraphProto) {
        for constant in &graph.initializer {
            if let Some(name) = &constant.name
                && is_wide(constant, self.path)
            {
                self.names.insert(name);
            }
        }
    }

    /// Follows the values through `node`, whose inputs have been followed.
    ///
    /// # Errors
    /// When the node, or one in a graph within it, calculates with such a number.
    pub fn follow(&mut self, node: &'a NodeProto) -> Result<(), String> {
        let inner = node.attribute.iter();
        for graph in inner.filter_map(|attribute| attribute.g.as_ref()) {
            self.add_constants(graph);
            for node in &graph.node {
                self.follow(node)?;
            }
        }
        let kind = node.op_type.as_deref().unwrap_or_default();
        let attributes = Attributes(node);
        if matches!(kind, "Constant" | "ConstantOfShape") {
            let held = attributes.tensor("value");
            let number = attributes.integer("value_int").into_iter();
            let mut numbers = number.chain(attributes.integers("value_ints").iter().copied());
            if held.is_some_and(|held| is_wide(held, self.path)) || numbers.any(is_beyond) {
                self.names.extend(node.output.iter().map(String::as_str));
            }
            return Ok(());
        }
        let mut inputs = node.input.iter().map(String::as_str);
        let Some(at) = inputs.position(|name| self.names.contains(name)) else {
            return Ok(());
        };
        let stays_whole = || {
            let to = attributes.integer("to");
            to == Some(i64::from(DataType::INT64.0)) || to == Some(i64::from(DataType::INT32.0))
        };
        if MOVING.contains(&kind)
            || (MOVING_FIRST.contains(&kind) && at == 0)
            || (kind == "Cast" && stays_whole())
        {
            self.names.extend(node.output.iter().map(String::as_str));
            return Ok(());
        }
        if MOVING_FIRST.contains(&kind) || BOUNDED.contains(&kind) {
            return Ok(());
        }
        Err(format!(
            "{}: its input '{}' has a whole number of more than 32 bits, in which whole numbers are computed here; \
             let the graph compute with floating-point numbers",
            label(node),
            node.input[at]
        ))
    }
}

/// Whether a number has more than 32 bits.
fn is_beyond(number: i64) -> bool {
    i32::try_from(number).is_err()
}

/// Whether a constant has such a number.
fn is_wide(held: &TensorProto, path: &Path) -> bool {
    if held.data_type != Some(DataType::INT64) {
        return false;
    }
    // Whoever needs numbers that cannot be read says so.
    let beside = external::bytes(path, held).ok().flatten();
    let inside = held.raw_data.as_ref().map(|bytes| bytes.borrow());
    let inside = inside.as_ref().map(|bytes| bytes.as_slice());
    match beside.as_deref().or(inside) {
        Some(bytes) => {
            let mut numbers = bytes.as_chunks::<8>().0.iter();
            numbers.any(|&bytes| is_beyond(i64::from_le_bytes(bytes)))
        }
        None => held.int64_data.iter().any(|&number| is_beyond(number)),
    }
}
