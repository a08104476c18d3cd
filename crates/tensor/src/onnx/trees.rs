//! The operators `TreeEnsembleClassifier` and `TreeEnsembleRegressor`.
//!
//! **Comparisons.** Features and thresholds of 32 bits are compared as such (64 bits hold them, and
//! do not change their order), features and thresholds of 64 bits as these. A feature that is NaN
//! goes where the comparison with NaN says, which is false but for `BRANCH_NEQ`; where
//! `nodes_missing_value_tracks_true` says so, it goes to the true branch.
//!
//! **Sums.** The weights of the leaves are added in the order of the trees, in 64 bits, and rounded
//! once. So a row has the same sum in any batch, and votes that are equal stay so.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::attributes::Attributes;
use super::scores::{Transform, classes};
use super::tensor::{Numbers, Tensor};

/// An ensemble of trees.
pub struct Trees {
    nodes: Vec<Node>,
    /// The first node of each tree.
    roots: Vec<usize>,
    /// The outputs that the leaves add to, and the weights that they add.
    weights: Vec<(usize, f64)>,
    /// The value that each output has from the start.
    base: Vec<f64>,
    /// The number of columns that a row must have.
    features: usize,
    outcome: Outcome,
    transform: Transform,
}

struct Node {
    /// The test of the node, `None` for a leaf.
    test: Option<Test>,
    /// The range of the leaf's weights in [`Trees::weights`].
    weights: Range<usize>,
}

struct Test {
    feature: usize,
    comparison: Comparison,
    threshold: f64,
    /// Whether NaN passes the test.
    takes_missing: bool,
    passed: usize,
    failed: usize,
}

#[derive(Clone, Copy)]
enum Comparison {
    Leq,
    Lt,
    Geq,
    Gt,
    Eq,
    Neq,
}

/// The outcome that the sums of a row become.
enum Outcome {
    /// One score for each output.
    Scores,
    /// The score of the second of two classes, from one sum; the flag says whether it is a
    /// probability.
    SecondOfTwo(bool),
    /// The mean over this many trees.
    Mean(f64),
}

impl Trees {
    /// Reads a classifier.
    ///
    /// # Errors
    /// What is wrong with the node.
    pub fn classifier(attributes: Attributes<'_>) -> Result<Trees, String> {
        let classes = classes(attributes, "classlabels_int64s")?;
        let mut trees = Trees::read(attributes, "class", classes)?;
        // All weights are for one of two classes: they belong to the second.
        if classes == 2 && trees.weights.iter().all(|&(class, _)| class == 0) {
            let is_probability = trees.weights.iter().all(|&(_, weight)| weight >= 0.0);
            trees.outcome = Outcome::SecondOfTwo(is_probability);
            trees.set_base(attributes, 1)?;
        } else {
            trees.set_base(attributes, classes)?;
        }
        Ok(trees)
    }

    /// Reads a regressor.
    ///
    /// # Errors
    /// What is wrong with the node.
    pub fn regressor(attributes: Attributes<'_>) -> Result<Trees, String> {
        let targets = attributes.integer("n_targets").unwrap_or(1);
        let targets = usize::try_from(targets).unwrap_or(0);
        // No more targets than a row of weights can tell apart.
        if targets == 0 || targets > attributes.integers("target_ids").len().max(1) {
            return Err(format!("its n_targets is {targets}"));
        }
        let mut trees = Trees::read(attributes, "target", targets)?;
        trees.outcome = match attributes.word("aggregate_function") {
            None | Some("SUM") => Outcome::Scores,
            Some("AVERAGE") => Outcome::Mean(trees.roots.len() as f64),
            Some(other) => return Err(format!("its aggregate_function {other} is not known")),
        };
        trees.set_base(attributes, targets)?;
        Ok(trees)
    }

    fn read(attributes: Attributes<'_>, kind: &str, outputs: usize) -> Result<Trees, String> {
        let column = |name: &str| attributes.integers(name);
        let [trees, ids] = ["nodes_treeids", "nodes_nodeids"].map(column);
        let [passed, failed] = ["nodes_truenodeids", "nodes_falsenodeids"].map(column);
        let features = column("nodes_featureids");
        let modes = attributes.words("nodes_modes");
        let thresholds = attributes.numbers("nodes_values")?;
        let missing = column("nodes_missing_value_tracks_true");
        let count = trees.len();
        let lengths = [ids, passed, failed, features].map(<[i64]>::len);
        if lengths != [count; 4]
            || modes.len() != count
            || thresholds.len() != count
            || (!missing.is_empty() && missing.len() != count)
        {
            return Err("the lists about its nodes have different lengths".to_owned());
        }
        let mut places = HashMap::with_capacity(count);
        let mut roots = Vec::new();
        let mut begun = HashSet::new();
        for (at, (&tree, &id)) in trees.iter().zip(ids).enumerate() {
            if places.insert((tree, id), at).is_some() {
                return Err(format!("its tree {tree} has two nodes {id}"));
            }
            if begun.insert(tree) {
                roots.push(at);
            }
        }
        let place = |tree: i64, id: i64| {
            let found = places.get(&(tree, id)).copied();
            found.ok_or_else(|| format!("its tree {tree} has no node {id}"))
        };
        let mut nodes = Vec::with_capacity(count);
        let mut widest = 0;
        for at in 0..count {
            let test = match Comparison::from_mode(&modes[at])? {
                None => None,
                Some(comparison) => {
                    let feature = usize::try_from(features[at])
                        .map_err(|_| format!("it compares the feature {}", features[at]))?;
                    widest = widest.max(feature.saturating_add(1));
                    Some(Test {
                        feature,
                        comparison,
                        threshold: thresholds[at],
                        takes_missing: missing.get(at).is_some_and(|&tracks| tracks == 1),
                        passed: place(trees[at], passed[at])?,
                        failed: place(trees[at], failed[at])?,
                    })
                }
            };
            nodes.push(Node {
                test,
                weights: 0..0,
            });
        }
        check_ends(&nodes, trees)?;
        let weights = weights(attributes, kind, outputs, place, &mut nodes)?;
        if weights.is_empty() {
            return Err("its leaves have no weights".to_owned());
        }
        Ok(Trees {
            nodes,
            roots,
            weights,
            base: vec![0.0; outputs],
            features: widest,
            outcome: Outcome::Scores,
            transform: Transform::from_attributes(attributes)?,
        })
    }

    /// Sets the value that each of `outputs` outputs has from the start.
    fn set_base(&mut self, attributes: Attributes<'_>, outputs: usize) -> Result<(), String> {
        let base = attributes.numbers("base_values")?;
        if !base.is_empty() && base.len() != outputs {
            return Err(format!(
                "it has {} base_values where it has {outputs} scores",
                base.len()
            ));
        }
        self.base = if base.is_empty() {
            vec![0.0; outputs]
        } else {
            base
        };
        Ok(())
    }

    /// Computes the scores of each row.
    ///
    /// # Errors
    /// When the rows lack columns.
    pub fn run(&self, input: &Tensor) -> Result<Tensor, String> {
        let (rows, columns) = input.rows_and_columns()?;
        if columns < self.features {
            return Err(format!(
                "it compares {} features, and its input has {columns}",
                self.features
            ));
        }
        if columns == 0 {
            return Err("its input has no columns".to_owned());
        }
        let features = input.values.clone().into_doubles();
        let mut values = Vec::with_capacity(rows * self.base.len().max(2));
        let mut sums = vec![0.0; self.base.len()];
        for row in features.chunks_exact(columns) {
            sums.fill(0.0);
            for &root in &self.roots {
                for &(output, weight) in self.leaf(root, row) {
                    sums[output] += weight;
                }
            }
            if let Outcome::Mean(trees) = self.outcome {
                sums.iter_mut().for_each(|sum| *sum /= trees);
            }
            for (sum, base) in sums.iter_mut().zip(&self.base) {
                *sum += base;
            }
            if let Outcome::SecondOfTwo(is_probability) = self.outcome {
                let scores = self.transform.of_two(sums[0], is_probability);
                values.extend(scores.map(|score| score as f32));
            } else {
                self.transform.apply(&mut sums);
                values.extend(sums.iter().map(|&score| score as f32));
            }
        }
        let width = match self.outcome {
            Outcome::SecondOfTwo(_) => 2,
            _ => self.base.len(),
        };
        Ok(Tensor {
            shape: vec![rows, width],
            values: Numbers::Floats(values),
        })
    }

    /// Returns the weights of the leaf that `row` comes to.
    fn leaf(&self, root: usize, row: &[f64]) -> &[(usize, f64)] {
        let mut node = &self.nodes[root];
        while let Some(test) = &node.test {
            let next = if test.passes(row[test.feature]) {
                test.passed
            } else {
                test.failed
            };
            node = &self.nodes[next];
        }
        &self.weights[node.weights.clone()]
    }
}

impl Test {
    fn passes(&self, value: f64) -> bool {
        let holds = match self.comparison {
            Comparison::Leq => value <= self.threshold,
            Comparison::Lt => value < self.threshold,
            Comparison::Geq => value >= self.threshold,
            Comparison::Gt => value > self.threshold,
            Comparison::Eq => value == self.threshold,
            Comparison::Neq => value != self.threshold,
        };
        holds || (self.takes_missing && value.is_nan())
    }
}

impl Comparison {
    /// Returns the comparison of a node with this mode, `None` for a leaf.
    fn from_mode(mode: &str) -> Result<Option<Comparison>, String> {
        Ok(Some(match mode {
            "LEAF" => return Ok(None),
            "BRANCH_LEQ" => Comparison::Leq,
            "BRANCH_LT" => Comparison::Lt,
            "BRANCH_GTE" => Comparison::Geq,
            "BRANCH_GT" => Comparison::Gt,
            "BRANCH_EQ" => Comparison::Eq,
            "BRANCH_NEQ" => Comparison::Neq,
            other => {
                return Err(format!(
                    "its nodes have the mode {other}, which is not known"
                ));
            }
        }))
    }
}

/// Reads what leaves add to the outputs, and notes it in `nodes`.
fn weights(
    attributes: Attributes<'_>,
    kind: &str,
    outputs: usize,
    place: impl Fn(i64, i64) -> Result<usize, String>,
    nodes: &mut [Node],
) -> Result<Vec<(usize, f64)>, String> {
    let column = |name: &str| attributes.integers(&format!("{kind}_{name}"));
    let [trees, ids, targets] = ["treeids", "nodeids", "ids"].map(column);
    let values = attributes.numbers(&format!("{kind}_weights"))?;
    if [trees.len(), ids.len(), targets.len()] != [values.len(); 3] {
        return Err(format!(
            "the lists about its {kind}_weights have different lengths"
        ));
    }
    let mut found = Vec::with_capacity(values.len());
    for at in 0..values.len() {
        let output = usize::try_from(targets[at]).ok();
        let output = output.filter(|&output| output < outputs).ok_or_else(|| {
            format!(
                "it has a weight for the output {} of {outputs}",
                targets[at]
            )
        })?;
        found.push((place(trees[at], ids[at])?, output, values[at]));
    }
    // The sort is stable: the weights of a leaf for one output are added in the order of the file.
    found.sort_by_key(|&(node, _, _)| node);
    let mut start = 0;
    for group in found.chunk_by(|one, other| one.0 == other.0) {
        nodes[group[0].0].weights = start..start + group.len();
        start += group.len();
    }
    Ok(found
        .into_iter()
        .map(|(_, output, value)| (output, value))
        .collect())
}

/// Whether every way through the nodes ends at a leaf.
fn check_ends(nodes: &[Node], trees: &[i64]) -> Result<(), String> {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        Never,
        Above,
        Ends,
    }
    let mut seen = vec![Seen::Never; nodes.len()];
    for start in 0..nodes.len() {
        let mut way = vec![start];
        while let Some(&at) = way.last() {
            let next = nodes[at]
                .test
                .as_ref()
                .map(|test| [test.passed, test.failed]);
            if seen[at] != Seen::Never {
                seen[at] = Seen::Ends;
                way.pop();
                continue;
            }
            seen[at] = Seen::Above;
            for next in next.into_iter().flatten() {
                match seen[next] {
                    Seen::Never => way.push(next),
                    Seen::Above => {
                        return Err(format!("its tree {} leads back to itself", trees[at]));
                    }
                    Seen::Ends => {}
                }
            }
        }
    }
    Ok(())
}
