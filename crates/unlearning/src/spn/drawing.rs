//! Pictures of a network: Graphviz text, and an SVG drawn here.

use std::fmt::Write;

use svg::Document;
use svg::node::element::{Circle, Group, Line, Rectangle, Text, Title};

use super::leaves::Distribution;
use super::network::{Network, NetworkNode};

/// The width of a leaf in the drawing.
const COLUMN: f64 = 46.0;
/// The distance between levels.
const LEVEL: f64 = 84.0;
/// The margin around the drawing.
const MARGIN: f64 = 40.0;

impl Network {
    /// Describes a leaf in a few words.
    fn leaf_text(&self, variable: usize, distribution: &Distribution) -> String {
        let variable = &self.variables()[variable];
        let what = match distribution {
            Distribution::Categorical { min, log_mass } => {
                let mode = distribution.mode();
                let mass = log_mass[(mode - min) as usize].exp();
                format!("P({}) = {mass:.2}", variable.text(mode))
            }
            Distribution::Gaussian { mean, deviation } => format!("N({mean:.4}, {deviation:.4}²)"),
            Distribution::Poisson { min, rate } if *min == 0.0 => format!("Poisson({rate:.3})"),
            Distribution::Poisson { min, rate } => format!("{min} + Poisson({rate:.3})"),
            Distribution::Histogram { log_mass, .. } => format!("{} bins", log_mass.len()),
        };
        format!("{}: {what}", variable.name())
    }

    /// Returns the network in the language of Graphviz.
    pub fn to_dot(&self) -> String {
        let mut text = String::from("digraph spn {\n  node [fontname=\"sans-serif\"];\n");
        for (at, node) in self.nodes().iter().enumerate() {
            // Writing to a string does not fail.
            let _ = match node {
                NetworkNode::Sum(children) => {
                    let _ = writeln!(text, "  n{at} [label=\"+\", shape=circle];");
                    children.iter().try_for_each(|(child, weight)| {
                        writeln!(text, "  n{at} -> n{child} [label=\"{:.3}\"];", weight.exp())
                    })
                }
                NetworkNode::Product(children) => {
                    let _ = writeln!(text, "  n{at} [label=\"×\", shape=circle];");
                    children
                        .iter()
                        .try_for_each(|child| writeln!(text, "  n{at} -> n{child};"))
                }
                NetworkNode::Leaf(variable, distribution) => {
                    let label = self.leaf_text(*variable, distribution);
                    let label = label.replace('\\', "\\\\").replace('"', "\\\"");
                    writeln!(text, "  n{at} [label=\"{label}\", shape=box];")
                }
            };
        }
        text.push_str("}\n");
        text
    }

    /// Returns the network as a drawing: the root on top, leaves from left to right; a description
    /// of a node shows when the pointer rests on it.
    pub fn to_svg(&self) -> String {
        let (places, width, height) = self.places();
        let mut document = Document::new()
            .set("viewBox", (0, 0, width, height))
            .set("font-family", "sans-serif")
            .set("font-size", 11)
            .set("text-anchor", "middle")
            .add(
                Rectangle::new()
                    .set("width", width)
                    .set("height", height)
                    .set("fill", "white"),
            );
        for (at, node) in self.nodes().iter().enumerate() {
            let from = places[at];
            let edges: Vec<(usize, Option<f64>)> = match node {
                NetworkNode::Sum(children) => {
                    let weighted = children.iter().map(|(child, w)| (*child, Some(w.exp())));
                    weighted.collect()
                }
                NetworkNode::Product(children) => {
                    children.iter().map(|child| (*child, None)).collect()
                }
                NetworkNode::Leaf(..) => Vec::new(),
            };
            for (child, weight) in edges {
                document = document.add(edge(from, places[child], weight));
            }
        }
        for (at, node) in self.nodes().iter().enumerate() {
            document = document.add(self.drawn(node, places[at]));
        }
        document.to_string()
    }

    /// Returns the place of every node, and the size of the drawing.
    fn places(&self) -> (Vec<(f64, f64)>, f64, f64) {
        let nodes = self.nodes();
        let mut places = vec![(0.0, MARGIN); nodes.len()];
        let mut leaves = 0.0;
        let mut lowest: f64 = MARGIN;
        // Nodes come in the order of a walk that visits leaves from left to right.
        for (at, node) in nodes.iter().enumerate() {
            let below = places[at].1 + LEVEL;
            lowest = lowest.max(places[at].1);
            for child in children(node) {
                places[child].1 = below;
            }
            if let NetworkNode::Leaf(..) = node {
                places[at].0 = MARGIN + COLUMN * leaves;
                leaves += 1.0;
            }
        }
        for (at, node) in nodes.iter().enumerate().rev() {
            let below = children(node);
            if let (Some(first), Some(last)) = (below.first(), below.last()) {
                places[at].0 = 0.5 * (places[*first].0 + places[*last].0);
            }
        }
        let width = 2.0 * MARGIN + COLUMN * (leaves - 1.0_f64).max(0.0);
        (places, width, lowest + MARGIN)
    }

    fn drawn(&self, node: &NetworkNode, (x, y): (f64, f64)) -> Group {
        let circle = |fill: &str| {
            Circle::new()
                .set("cx", x)
                .set("cy", y)
                .set("r", 12)
                .set("fill", fill)
                .set("stroke", "#333333")
        };
        let sign = |sign: &str| {
            Text::new(sign)
                .set("x", x)
                .set("y", y + 5.0)
                .set("font-size", 15)
        };
        match node {
            NetworkNode::Sum(children) => Group::new()
                .add(Title::new(format!("mixture of {}", children.len())))
                .add(circle("#cfe3f5"))
                .add(sign("+")),
            NetworkNode::Product(children) => Group::new()
                .add(Title::new(format!("product of {}", children.len())))
                .add(circle("#f7e3c0"))
                .add(sign("×")),
            NetworkNode::Leaf(variable, distribution) => {
                let name = self.variables()[*variable].name();
                let short: String = name.chars().take(6).collect();
                Group::new()
                    .add(Title::new(self.leaf_text(*variable, distribution)))
                    .add(
                        Rectangle::new()
                            .set("x", x - 21.0)
                            .set("y", y - 11.0)
                            .set("width", 42)
                            .set("height", 22)
                            .set("fill", "#eeeeee")
                            .set("stroke", "#333333"),
                    )
                    .add(Text::new(short).set("x", x).set("y", y + 4.0))
            }
        }
    }
}

fn children(node: &NetworkNode) -> Vec<usize> {
    match node {
        NetworkNode::Sum(children) => children.iter().map(|(child, _)| *child).collect(),
        NetworkNode::Product(children) => children.clone(),
        NetworkNode::Leaf(..) => Vec::new(),
    }
}

fn edge(from: (f64, f64), to: (f64, f64), weight: Option<f64>) -> Group {
    let line = Line::new()
        .set("x1", from.0)
        .set("y1", from.1)
        .set("x2", to.0)
        .set("y2", to.1)
        .set("stroke", "#888888");
    let group = Group::new().add(line);
    match weight {
        None => group,
        Some(weight) => group.add(
            Text::new(format!("{weight:.2}"))
                .set("x", 0.5 * (from.0 + to.0))
                .set("y", 0.5 * (from.1 + to.1) - 3.0)
                .set("fill", "#336699"),
        ),
    }
}
