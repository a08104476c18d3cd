//! The nodes of a graph that an output needs.

use std::collections::{HashMap, HashSet};

use rten_onnx::onnx::{GraphProto, NodeProto};

/// The most nodes in a chain: the runtime recurses along it.
const CHAIN: usize = 2000;

/// The part of a graph that an output is computed from, by place in the file.
pub struct Needed {
    /// The nodes, in an order in which they can be computed.
    pub nodes: Vec<usize>,
    /// The names of everything that these nodes and the output refer to.
    pub names: HashSet<String>,
}

/// Returns the node that gives each name, by place.
///
/// # Errors
/// When two nodes give the same name.
pub fn givers(graph: &GraphProto) -> Result<HashMap<&str, usize>, String> {
    let mut givers = HashMap::new();
    for (place, node) in graph.node.iter().enumerate() {
        for name in node.output.iter().filter(|name| !name.is_empty()) {
            if givers.insert(name.as_str(), place).is_some() {
                return Err(format!("two nodes give '{name}'"));
            }
        }
    }
    Ok(givers)
}

/// Describes a node in messages: its operator and its name.
pub fn label(node: &NodeProto) -> String {
    let operator = node.op_type.as_deref().unwrap_or("?");
    let first = node.output.first().map_or("", String::as_str);
    match node.name.as_deref() {
        Some(name) if !name.is_empty() => format!("{operator} (node '{name}')"),
        _ => format!("{operator} (which gives '{first}')"),
    }
}

/// Returns the part of the graph that `output` is computed from.
///
/// # Errors
/// When it is no proper graph: a value that nothing gives, or one that depends on itself.
pub fn needed(graph: &GraphProto, output: &str) -> Result<Needed, String> {
    let givers = givers(graph)?;
    let inputs = graph.input.iter().map(|input| &input.name);
    let constants = graph.initializer.iter().map(|constant| &constant.name);
    let given: HashSet<&str> = inputs
        .chain(constants)
        .filter_map(|name| name.as_deref())
        .collect();
    let mut names = HashSet::from([output.to_owned()]);
    let mut nodes = Vec::new();
    // The longest chain that ends at each node that is done; 0 while it is not.
    let mut chains: HashMap<usize, usize> = HashMap::new();
    let mut open = Vec::new();
    match givers.get(output) {
        Some(&place) => open.push(place),
        None if given.contains(output) => {}
        None => return Err(format!("nothing gives its output '{output}'")),
    }
    while let Some(&place) = open.last() {
        let node = &graph.node[place];
        let references = references(node);
        let before: Vec<usize> = references
            .iter()
            .filter_map(|name| givers.get(name).copied())
            .collect();
        match chains.get(&place) {
            None => {
                chains.insert(place, 0);
                for name in node.input.iter().filter(|name| !name.is_empty()) {
                    if !givers.contains_key(name.as_str()) && !given.contains(name.as_str()) {
                        return Err(format!(
                            "{} needs '{name}', which nothing gives",
                            label(node)
                        ));
                    }
                }
                for next in before {
                    match chains.get(&next) {
                        None => open.push(next),
                        Some(0) => {
                            return Err(format!("{} depends on itself", label(&graph.node[next])));
                        }
                        Some(_) => {}
                    }
                }
            }
            Some(0) => {
                let longest = before.iter().filter_map(|before| chains.get(before)).max();
                let chain = longest.copied().unwrap_or(0) + 1;
                if chain > CHAIN {
                    return Err(format!("it has a chain of more than {CHAIN} nodes"));
                }
                chains.insert(place, chain);
                names.extend(references.into_iter().map(str::to_owned));
                nodes.push(place);
                open.pop();
            }
            Some(_) => {
                open.pop();
            }
        }
    }
    Ok(Needed { nodes, names })
}

/// Returns the values that a node, or a graph within it, refers to.
pub fn references(node: &NodeProto) -> Vec<&str> {
    let mut names = Vec::new();
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        names.extend(node.input.iter().map(String::as_str));
        for graph in node
            .attribute
            .iter()
            .filter_map(|attribute| attribute.g.as_ref())
        {
            names.extend(
                graph
                    .output
                    .iter()
                    .filter_map(|output| output.name.as_deref()),
            );
            open.extend(&graph.node);
        }
    }
    names.retain(|name| !name.is_empty());
    names
}
