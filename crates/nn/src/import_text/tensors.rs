//! The search for the parts of a text classifier among the tensors of a weight file, by PyTorch's
//! names and by shapes.
//!
//! - Recurrent: `PREFIXweight_ih_lN`, `weight_hh`, `bias_ih`, `bias_hh`, with `_reverse` for the
//!   backward direction. `weight_hh_l0` `[gates · units, units]` tells LSTM (4 gates) from GRU (3).
//! - Linear: `MODULE.weight` `[classes, directions · units]` and `MODULE.bias`.
//! - Embedding: `MODULE.weight` `[rows, inputs]` without a bias, with "emb" in its name, or else
//!   the only one without a bias beside the linear layer's.
//!
//! Any other tensor belongs to a part that the imported network would lack, which is an error.

use std::collections::{BTreeMap, BTreeSet};

use super::error::TextImportError;
use crate::recurrent::network::{CellKind, RecurrentWeights, Shape, TensorSpan};
use crate::weights::{Weight, WeightFile};

/// The tensors of a file that are not left out.
type Tensors<'a> = BTreeMap<&'a str, &'a Weight>;

/// A text classifier without its words.
pub(super) struct Parts<'a> {
    /// The recurrent and linear layers.
    pub recurrent: RecurrentWeights,
    /// The name and values of the embedding table, `[rows, inputs]`.
    pub table: Option<(&'a str, &'a Weight)>,
    /// Tensors used: name and shape.
    pub matched: Vec<(String, Vec<usize>)>,
    /// Whether the linear layer has a single output.
    pub single_output: bool,
}

/// Finds the parts in `weights` without the tensors named in `ignored`.
pub(super) fn find_parts<'a>(
    weights: &'a WeightFile,
    ignored: &[String],
) -> Result<Parts<'a>, TextImportError> {
    let mut tensors: Tensors = weights
        .tensors
        .iter()
        .map(|(name, w)| (name.as_str(), w))
        .collect();
    for name in ignored {
        if tensors.remove(name.as_str()).is_none() && !weights.beside.contains(name) {
            return Err(TextImportError::NothingToIgnore {
                name: name.clone(),
                found: described(weights),
            });
        }
    }
    let module = RecurrentModule::find(&tensors)?;
    let modules = OtherModules::find(&tensors)?;
    let is_unplaced = |name: &&String| !ignored.contains(name) && !weights.integers.contains(*name);
    let beside: Vec<String> = weights.beside.iter().filter(is_unplaced).cloned().collect();
    if !beside.is_empty() {
        return Err(TextImportError::Unexpected { found: beside });
    }
    let outputs = modules.linear.weight.1.shape[0];
    let shape = module.shape(&tensors, outputs.max(2))?;
    if let Some(problem) = shape.problem() {
        return Err(TextImportError::Unfit(format!("has {problem}")));
    }
    let mut values = module.values(&tensors, &shape)?;
    modules.linear.append(&shape, &mut values)?;
    if let Some((name, table)) = modules.table {
        let expected = vec![table.shape[0], shape.inputs];
        check(name, table, expected, || {
            format!(
                "the recurrent network reads {} numbers a token",
                shape.inputs
            )
        })?;
    }
    Ok(Parts {
        recurrent: RecurrentWeights { shape, values },
        table: modules.table,
        matched: tensors
            .iter()
            .map(|(name, weight)| ((*name).to_owned(), weight.shape.clone()))
            .collect(),
        single_output: outputs == 1,
    })
}

/// Describes all tensors of a file with their shapes, for messages.
pub(super) fn described(weights: &WeightFile) -> Vec<String> {
    weights
        .tensors
        .iter()
        .map(|(name, weight)| describe(name, weight))
        .collect()
}

fn describe(name: &str, weight: &Weight) -> String {
    format!("{name} {:?}", weight.shape)
}

fn describe_all(tensors: &Tensors<'_>) -> Vec<String> {
    tensors
        .iter()
        .map(|(name, weight)| describe(name, weight))
        .collect()
}

fn check(
    name: &str,
    weight: &Weight,
    expected: Vec<usize>,
    why: impl FnOnce() -> String,
) -> Result<(), TextImportError> {
    if weight.shape == expected {
        return Ok(());
    }
    Err(TextImportError::Shape {
        tensor: name.to_owned(),
        found: weight.shape.clone(),
        expected,
        why: why(),
    })
}

/// The parts of the name of a recurrent tensor.
struct RecurrentName<'a> {
    /// The part before the tensor's own name: empty, or the module's name and a dot.
    prefix: &'a str,
    /// The kind of tensor: `weight_ih`, `weight_hh`, `bias_ih`, `bias_hh`, or `weight_hr` of a
    /// projection.
    kind: &'static str,
    layer: usize,
    is_reverse: bool,
}

impl<'a> RecurrentName<'a> {
    fn parse(name: &'a str) -> Option<RecurrentName<'a>> {
        let (stem, is_reverse) = match name.strip_suffix("_reverse") {
            Some(stem) => (stem, true),
            None => (name, false),
        };
        let (stem, layer) = stem.rsplit_once("_l")?;
        ["weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr"]
            .into_iter()
            .find_map(|kind| {
                let prefix = stem.strip_suffix(kind)?;
                Some(RecurrentName {
                    prefix: (prefix.is_empty() || prefix.ends_with('.')).then_some(prefix)?,
                    kind,
                    layer: layer.parse().ok()?,
                    is_reverse,
                })
            })
    }
}

/// The only `nn.LSTM` or `nn.GRU` of a file.
struct RecurrentModule<'a> {
    prefix: &'a str,
    layers: usize,
    bidirectional: bool,
    has_biases: bool,
}

impl<'a> RecurrentModule<'a> {
    fn find(tensors: &Tensors<'a>) -> Result<RecurrentModule<'a>, TextImportError> {
        let names: Vec<RecurrentName> = tensors
            .keys()
            .filter_map(|name| RecurrentName::parse(name))
            .collect();
        let prefixes: BTreeSet<&str> = names.iter().map(|name| name.prefix).collect();
        let Some(&prefix) = prefixes.first() else {
            return Err(TextImportError::NotRecurrent {
                found: describe_all(tensors),
            });
        };
        if prefixes.len() > 1 {
            return Err(TextImportError::Ambiguous {
                expected: "the tensors of one nn.LSTM or nn.GRU, of any number of layers",
                found: prefixes
                    .iter()
                    .map(|prefix| format!("{prefix}weight_ih_l0"))
                    .collect(),
            });
        }
        if let Some(name) = names.iter().find(|name| name.kind == "weight_hr") {
            return Err(TextImportError::Projection {
                tensor: format!("{prefix}weight_hr_l{}", name.layer),
            });
        }
        let numbers: BTreeSet<usize> = names.iter().map(|name| name.layer).collect();
        if let Some((gap, _)) = numbers.iter().enumerate().find(|(i, number)| i != *number) {
            return Err(TextImportError::Missing {
                missing: vec![format!("{prefix}weight_ih_l{gap}")],
                found: describe_all(tensors),
            });
        }
        Ok(RecurrentModule {
            prefix,
            layers: numbers.len(),
            bidirectional: names.iter().any(|name| name.is_reverse),
            has_biases: names.iter().any(|name| name.kind.starts_with("bias")),
        })
    }

    /// Returns the network's shape, as the tensors of the first layer tell it.
    fn shape(&self, tensors: &Tensors<'_>, classes: usize) -> Result<Shape, TextImportError> {
        let first = |tensor: &str| {
            let name = format!("{}{tensor}", self.prefix);
            match tensors.get(name.as_str()) {
                Some(weight) => Ok((name, *weight)),
                None => Err(TextImportError::Missing {
                    missing: vec![name],
                    found: describe_all(tensors),
                }),
            }
        };
        let (name, recurrent) = first("weight_hh_l0")?;
        let cell_of = |rows: usize, units: usize| {
            let is_cell = |cell: &CellKind| units.checked_mul(cell.gates()) == Some(rows);
            [CellKind::Lstm, CellKind::Gru].into_iter().find(is_cell)
        };
        let (cell, units) = match recurrent.shape[..] {
            [rows, units] if units > 0 => (cell_of(rows, units), units),
            _ => (None, 0),
        };
        let Some(cell) = cell else {
            return Err(TextImportError::Gates {
                tensor: name,
                shape: recurrent.shape.clone(),
            });
        };
        let (name, input) = first("weight_ih_l0")?;
        let inputs = input.shape.last().copied().unwrap_or_default();
        check(&name, input, vec![cell.gates() * units, inputs], || {
            format!("{} gates of {units} units", cell.gates())
        })?;
        Ok(Shape {
            cell,
            inputs,
            units,
            layers: self.layers,
            bidirectional: self.bidirectional,
            classes,
        })
    }

    /// Returns the values of all layers, in the order of [`Shape::tensors`]; biases are 0 if there
    /// are none.
    fn values(&self, tensors: &Tensors<'_>, shape: &Shape) -> Result<Vec<f32>, TextImportError> {
        let (head, _) = shape.head();
        let mut values = Vec::new();
        let mut missing = Vec::new();
        for span in shape
            .tensors()
            .into_iter()
            .filter(|span| span.range.end <= head.start)
        {
            let is_bias = span.name.starts_with("bias");
            let name = format!("{}{}", self.prefix, span.name);
            let TensorSpan { rows, columns, .. } = span;
            match tensors.get(name.as_str()) {
                Some(weight) => {
                    let expected = if is_bias {
                        vec![rows]
                    } else {
                        vec![rows, columns]
                    };
                    check(&name, weight, expected, || {
                        format!(
                            "{} gates of {} units, {} direction(s), {} inputs",
                            shape.cell.gates(),
                            shape.units,
                            shape.directions(),
                            shape.inputs
                        )
                    })?;
                    values.extend_from_slice(&weight.values);
                }
                None if is_bias && !self.has_biases => values.resize(values.len() + rows, 0.0),
                None => missing.push(name),
            }
        }
        if missing.is_empty() {
            return Ok(values);
        }
        Err(TextImportError::Missing {
            missing,
            found: describe_all(tensors),
        })
    }
}

/// The modules of a file beside the recurrent one.
struct OtherModules<'a> {
    linear: Linear<'a>,
    table: Option<(&'a str, &'a Weight)>,
}

/// A linear layer.
#[derive(Clone, Copy)]
struct Linear<'a> {
    weight: (&'a str, &'a Weight),
    bias: Option<(&'a str, &'a Weight)>,
}

impl<'a> OtherModules<'a> {
    fn find(tensors: &Tensors<'a>) -> Result<OtherModules<'a>, TextImportError> {
        let (mut biased, mut bare, mut used) = (Vec::new(), Vec::new(), BTreeSet::new());
        let others = || {
            tensors
                .iter()
                .filter(|(name, _)| RecurrentName::parse(name).is_none())
        };
        for (&name, &weight) in others() {
            let Some(prefix) = name
                .strip_suffix("weight")
                .filter(|_| weight.shape.len() == 2)
            else {
                continue;
            };
            used.insert(name);
            let bias = tensors.get_key_value(format!("{prefix}bias").as_str());
            let bias = bias.map(|(&name, &bias)| (name, bias));
            used.extend(bias.map(|(name, _)| name));
            let linear = Linear {
                weight: (name, weight),
                bias,
            };
            if bias.is_some() {
                biased.push(linear)
            } else {
                bare.push(linear)
            }
        }
        let unexpected: Vec<String> = others()
            .filter(|(name, _)| !used.contains(*name))
            .map(|(name, weight)| describe(name, weight))
            .collect();
        if !unexpected.is_empty() {
            return Err(TextImportError::Unexpected { found: unexpected });
        }
        let is_embedding = |linear: &Linear| linear.weight.0.to_lowercase().contains("emb");
        let (mut tables, bare): (Vec<Linear>, Vec<Linear>) =
            bare.into_iter().partition(is_embedding);
        match (&biased[..], &bare[..]) {
            ([_], [table]) if tables.is_empty() => tables.push(*table),
            _ => biased.extend(bare),
        }
        let names = |found: &[Linear]| {
            found
                .iter()
                .map(|linear| describe(linear.weight.0, linear.weight.1))
                .collect()
        };
        if tables.len() > 1 {
            return Err(TextImportError::Ambiguous {
                expected: "one embedding table at most",
                found: names(&tables),
            });
        }
        let &[linear] = &biased[..] else {
            return Err(TextImportError::Ambiguous {
                expected: "one linear layer (a two-dimensional 'weight', usually with a 'bias') beside the recurrent network",
                found: names(&biased),
            });
        };
        Ok(OtherModules {
            linear,
            table: tables.first().map(|table| table.weight),
        })
    }
}

impl Linear<'_> {
    /// Appends weight and bias to the parameters of a network of `shape`.
    fn append(&self, shape: &Shape, values: &mut Vec<f32>) -> Result<(), TextImportError> {
        let (name, weight) = self.weight;
        let outputs = weight.shape[0];
        check(name, weight, vec![outputs, shape.outputs()], || {
            format!(
                "the linear layer must read the last hidden states of the last layer: {} direction(s) of {} units",
                shape.directions(),
                shape.units
            )
        })?;
        if outputs == 0 {
            return Err(TextImportError::Unfit(format!(
                "has no output: '{name}' has no rows"
            )));
        }
        // A single output z is the logits (0, z).
        let constant = shape.classes - outputs;
        values.resize(values.len() + constant * shape.outputs(), 0.0);
        values.extend_from_slice(&weight.values);
        values.resize(values.len() + constant, 0.0);
        match self.bias {
            Some((name, bias)) => {
                check(name, bias, vec![outputs], || {
                    format!("the linear layer has {outputs} outputs")
                })?;
                values.extend_from_slice(&bias.values);
            }
            None => values.resize(values.len() + outputs, 0.0),
        }
        Ok(())
    }
}
