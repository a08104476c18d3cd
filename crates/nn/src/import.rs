//! The import of a network from elsewhere: a weight file and a small TOML that says how to read it.
//!
//! ```toml
//! hidden = [64, 32, 16, 8, 4]
//! activation = "relu"
//! output = "softmax"            # or "sigmoid": one logit, for two classes; "number": of a regressor
//!
//! [[layout]]                    # one or more ways in which files name and turn their tensors
//! weight = "kernel{n}"
//! bias = "bias{n}"
//! orientation = "in-out"        # or "out-in", PyTorch's way
//!
//! [standardise]                 # only if the network expects (code - mean) / deviation
//! mean = [38.6, 2.1]
//! deviation = [13.6, 1.0]
//! ```
//!
//! `ignore = ["loss.weight"]` names tensors that are no part of the network; any other that no layout
//! has is refused, as it would compute something. So are those that a file holds beside the state
//! dictionary ([`WeightFile::beside`]).
//!
//! `classes = ["denied", "approved"]` names the classes that the outputs count, from 0. Without it
//! classes that are numbers, or words for true (1) and false (0), are counted in ascending order, and
//! others as the schema lists them ([`counted`]). Levels that are numbers
//! enter as these, which have to be evenly spaced, other levels as their places, and of numeric
//! attributes the numbers of bins.
//!
//! In the place of `weight` and `bias`, `weights` and `biases` list the names layer by layer. Without
//! either, layers have no bias. The shape of a weight is the one that its orientation asks for; where the
//! layer has one input or one output, a vector is such a weight, too. Sizes of 1 in the shape of a bias say
//! nothing.
//!
//! `{n}` counts layers from 0, or runs through `numbers` if the layout has them (`[0, 2, 4]` for a
//! PyTorch `Sequential`). A sigmoid output z is the softmax of the logits (0, z): the same
//! probability, and the same decision at ½ (a tie is class 0 in both). A number is kept in the same
//! way, as the second of two outputs of which the first is 0.

use std::collections::BTreeSet;

use serde::Deserialize;
use thiserror::Error;

use super::encoding::{Encoding, InputLayout};
use super::fnn::{Activation, Dense, Network};
use super::weights::WeightFile;
use probity_data::meant::{counted, entering, meant};
use probity_data::schema::{Attribute, Kind, Label, Schema};
use probity_data::words;

/// Why a network cannot be imported.
#[derive(Debug, Error)]
pub enum ImportError {
    /// The TOML is not of the expected form.
    #[error("the import configuration is not valid: {0}")]
    Config(#[from] toml::de::Error),
    /// The configuration contradicts the schema or itself.
    #[error("the import configuration does not fit: {0}")]
    Unfit(String),
    /// Tensors are missing.
    #[error("the weight file lacks {}; it holds {}; where its names are no running numbers, list them as 'weights' and 'biases' of [[layout]]", missing.join(", "), list(found))]
    Missing {
        /// Names that were looked for.
        missing: Vec<String>,
        /// Names that are there.
        found: Vec<String>,
    },
    /// Tensors have no place in the network.
    #[error("the configuration has no place for {} of the weight file, without which the network would compute something else; name every layer (normalisation, embeddings and attention are no layers that can be imported: export such a network to ONNX, for --predictor onnx:FILE), or list what is no part of the network as 'ignore'", names.join(", "))]
    Unplaced {
        /// Their names.
        names: Vec<String>,
    },
    /// A tensor has another shape.
    #[error("the tensor '{tensor}' has shape {found:?}, but {expected:?} is needed ({why})")]
    Shape {
        /// The name of the tensor.
        tensor: String,
        /// The shape of the tensor in the file.
        found: Vec<usize>,
        /// The shape that fits.
        expected: Vec<usize>,
        /// The reason why this shape is expected.
        why: String,
    },
}

fn list(names: &[String]) -> String {
    if names.is_empty() {
        "no tensors".to_owned()
    } else {
        names.join(", ")
    }
}

/// The configuration of an import: the TOML described above.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImportConfig {
    hidden: Vec<usize>,
    #[serde(default)]
    activation: Activation,
    #[serde(default)]
    output: Output,
    layout: Vec<TensorLayout>,
    standardise: Option<Standardise>,
    /// Tensors of the file that are no part of the network.
    #[serde(default)]
    ignore: Vec<String>,
    /// The classes that the outputs count, from 0.
    #[serde(default, deserialize_with = "words::deserialize")]
    classes: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Output {
    #[default]
    Softmax,
    Sigmoid,
    Number,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct TensorLayout {
    weight: Option<String>,
    bias: Option<String>,
    orientation: Orientation,
    numbers: Option<Vec<usize>>,
    /// The names of the weights of each layer, in the place of `weight`.
    #[serde(default)]
    weights: Vec<String>,
    /// The names of the biases of each layer, in the place of `bias`.
    #[serde(default)]
    biases: Vec<String>,
}

/// The names of the tensors of one layer; a layer without a bias adds nothing.
struct LayerNames {
    weight: String,
    bias: Option<String>,
}

impl LayerNames {
    fn into_each(self) -> impl Iterator<Item = String> {
        std::iter::once(self.weight).chain(self.bias)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Orientation {
    InOut,
    OutIn,
}

impl Orientation {
    /// The name in a configuration, in the quotes that it has there.
    fn name(self) -> &'static str {
        match self {
            Orientation::InOut => "\"in-out\"",
            Orientation::OutIn => "\"out-in\"",
        }
    }

    fn other(self) -> Orientation {
        match self {
            Orientation::InOut => Orientation::OutIn,
            Orientation::OutIn => Orientation::InOut,
        }
    }

    /// Returns the shape of the weight of a layer.
    fn shape(self, inputs: usize, outputs: usize) -> Vec<usize> {
        match self {
            Orientation::InOut => vec![inputs, outputs],
            Orientation::OutIn => vec![outputs, inputs],
        }
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Standardise {
    mean: Vec<f32>,
    deviation: Vec<f32>,
}

/// The tensors of the file that became parts of the network.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ImportReport {
    /// Tensors used: name and shape in the file.
    pub matched: Vec<(String, Vec<usize>)>,
    /// Tensors of the file that are no part of the network.
    pub unused: Vec<String>,
    /// The class that each output counts, by number; none of a regressor.
    pub outputs: Vec<String>,
    /// What enters for each attribute that has words, bins or codes beside its numbers, in the words
    /// of a message.
    pub inputs: Vec<String>,
}

impl ImportConfig {
    /// Reads a configuration from TOML.
    ///
    /// # Errors
    /// When the text is not of the form described in the module's documentation.
    pub fn from_toml(text: &str) -> Result<ImportConfig, ImportError> {
        Ok(toml::from_str(text)?)
    }

    /// Builds the network from `weights` for the inputs and classes of `schema`.
    ///
    /// # Errors
    /// Missing tensors (all of them named), wrong shapes, a configuration that contradicts the
    /// schema.
    pub fn network(
        &self,
        weights: &WeightFile,
        schema: &Schema,
    ) -> Result<(Network, ImportReport), ImportError> {
        if let Some(name) = schema.format.spread.keys().next() {
            return Err(ImportError::Unfit(format!(
                "the schema spreads '{name}' over several columns, but attributes enter by one number; export the network to ONNX, for --predictor onnx:FILE"
            )));
        }
        let layout = InputLayout::new(&schema.attributes, &self.encodings(schema)?);
        let classes = schema.label.classes.len();
        let is_number = schema.label.is_number();
        if is_number != (self.output == Output::Number) {
            let (needed, kind) = match is_number {
                true => ("\"number\"", "numbers"),
                false => ("\"softmax\" or \"sigmoid\"", "classes"),
            };
            return Err(ImportError::Unfit(format!(
                "the label of the schema holds {kind}, so 'output' must be {needed}"
            )));
        }
        let outputs = match self.output {
            Output::Number => 1,
            Output::Softmax => classes,
            Output::Sigmoid if classes == 2 => 1,
            Output::Sigmoid => {
                return Err(ImportError::Unfit(format!(
                    "a sigmoid output tells two classes apart, but the schema has {classes}"
                )));
            }
        };
        let mut widths = vec![layout.layer_inputs()];
        widths.extend_from_slice(&self.hidden);
        widths.push(outputs);
        let names = self.choose_layout(weights, widths.len() - 1)?;
        let numbers = self.numbers(&schema.label)?;
        let mut report = ImportReport {
            matched: Vec::new(),
            unused: Vec::new(),
            outputs: match is_number {
                true => Vec::new(),
                false => (0..classes)
                    .filter_map(|number| numbers.iter().position(|&own| own == number))
                    .map(|class| schema.label.classes[class].clone())
                    .collect(),
            },
            inputs: schema.attributes.iter().filter_map(entering).collect(),
        };
        let mut layers = Vec::new();
        for (number, pair) in widths.windows(2).enumerate() {
            let of_layer = names.of_layer(number);
            layers.push(Dense {
                inputs: pair[0],
                outputs: pair[1],
                weight: matrix(
                    weights,
                    &of_layer.weight,
                    (pair[0], pair[1]),
                    names.orientation,
                    number,
                )?,
                bias: match &of_layer.bias {
                    Some(bias) => vector(weights, bias, pair[1], number)?,
                    None => vec![0.0; pair[1]],
                },
            });
            for name in of_layer.into_each() {
                let shape = weights.tensors[&name].shape.clone();
                report.matched.push((name, shape));
            }
        }
        let used: BTreeSet<&String> = report.matched.iter().map(|(name, _)| name).collect();
        report.unused = weights
            .tensors
            .keys()
            .filter(|name| !used.contains(name))
            .chain(&weights.beside)
            .cloned()
            .collect();
        report.unused.sort();
        let is_unplaced =
            |name: &&String| !self.ignore.contains(name) && !weights.integers.contains(*name);
        let unplaced: Vec<String> = report.unused.iter().filter(is_unplaced).cloned().collect();
        if !unplaced.is_empty() {
            return Err(ImportError::Unplaced { names: unplaced });
        }
        let is_unused = |name: &&String| report.unused.contains(*name);
        if let Some(name) = self.ignore.iter().find(|name| !is_unused(name)) {
            return Err(ImportError::Unfit(format!(
                "'ignore' names '{name}', which is {}",
                match weights.tensors.contains_key(name) {
                    true => "part of a layer",
                    false => "no tensor of the weight file",
                }
            )));
        }
        if let Some(last) = layers.last_mut() {
            // What each logit of the network is, in the order of the schema: an output, or 0.
            let of_class: Vec<Option<usize>> = match self.output {
                Output::Number => vec![None, Some(0)],
                Output::Sigmoid => numbers.iter().map(|&own| (own == 1).then_some(0)).collect(),
                Output::Softmax => numbers.iter().copied().map(Some).collect(),
            };
            *last = taken(last, &of_class);
        }
        if let Some(first) = layers.first_mut() {
            for (attribute, input) in schema.attributes.iter().zip(0..) {
                self.enter(first, attribute, input)?;
            }
        }
        let network = Network {
            layout,
            embeddings: Vec::new(),
            layers,
            activation: self.activation,
        };
        match network.problem() {
            None => Ok((network, report)),
            Some(problem) => Err(ImportError::Unfit(format!("the network has {problem}"))),
        }
    }

    /// Returns for each class of the schema the output that counts it, from 0.
    fn numbers(&self, label: &Label) -> Result<Vec<usize>, ImportError> {
        if self.classes.is_empty() || label.is_number() {
            return Ok(counted(&label.classes));
        }
        let codes = self.classes.iter().map(|class| label.code(class));
        let codes: Option<Vec<u32>> = codes.collect();
        let codes = codes.unwrap_or_default();
        let place = |class: u32| codes.iter().position(|&code| code == class);
        let places: Option<Vec<usize>> = (0..label.classes.len() as u32).map(place).collect();
        match places {
            Some(places) if codes.len() == places.len() => Ok(places),
            _ => Err(ImportError::Unfit(format!(
                "'classes' are {}, but must be those of the schema in the order of the outputs: {}",
                self.classes.join(", "),
                label.classes.join(", ")
            ))),
        }
    }

    /// Makes the layer take the code of `attribute`, its input number `input`, for the number that its
    /// level is: levels a, a + b, a + 2b, … are a + b·code.
    ///
    /// # Errors
    /// Levels that are numbers but not evenly spaced.
    fn enter(
        &self,
        layer: &mut Dense,
        attribute: &Attribute,
        input: usize,
    ) -> Result<(), ImportError> {
        let name = &attribute.name;
        let levels = match &attribute.kind {
            Kind::Integer { .. } | Kind::Numeric { .. } => return Ok(()),
            Kind::Categorical { levels, .. } => levels,
        };
        let Some(numbers) = meant(levels) else {
            return Ok(());
        };
        let first = numbers.first().copied().unwrap_or_default();
        let step = numbers.get(1).map_or(1.0, |second| second - first);
        let is_even = |(code, number): (usize, &f64)| *number == first + step * code as f64;
        if !numbers.iter().enumerate().all(is_even) {
            return Err(ImportError::Unfit(format!(
                "the levels of '{name}' are the numbers {}, which are not evenly spaced; declare it integer, or give \
                 its levels words for names where their places should enter",
                levels.join(", ")
            )));
        }
        let (mean, deviation) = self.standardise.as_ref().map_or((0.0, 1.0), |standardise| {
            let (mean, deviation) = (standardise.mean[input], standardise.deviation[input]);
            (f64::from(mean), f64::from(deviation))
        });
        // w·(a + b·code − mean)/deviation = b·w·(code − mean)/deviation + w·(a + (b − 1)·mean)/deviation
        let shift = (first + (step - 1.0) * mean) / deviation;
        if (first, step) != (0.0, 1.0) {
            let weights = &mut layer.weight[input * layer.outputs..][..layer.outputs];
            for (weight, bias) in weights.iter_mut().zip(&mut layer.bias) {
                *bias = (f64::from(*bias) + f64::from(*weight) * shift) as f32;
                *weight = (f64::from(*weight) * step) as f32;
            }
        }
        Ok(())
    }

    fn encodings(&self, schema: &Schema) -> Result<Vec<Encoding>, ImportError> {
        let inputs = schema.attributes.len();
        let Some(standardise) = &self.standardise else {
            return Ok(vec![Encoding::RAW; inputs]);
        };
        for (what, values) in [
            ("mean", &standardise.mean),
            ("deviation", &standardise.deviation),
        ] {
            if values.len() != inputs {
                return Err(ImportError::Unfit(format!(
                    "standardise.{what} has {} numbers, but the schema has {inputs} attributes",
                    values.len()
                )));
            }
        }
        if let Some(bad) = standardise
            .deviation
            .iter()
            .find(|deviation| !deviation.is_finite() || **deviation <= 0.0)
        {
            return Err(ImportError::Unfit(format!(
                "standardise.deviation holds {bad}, but must be above 0"
            )));
        }
        let pairs = standardise.mean.iter().zip(&standardise.deviation);
        Ok(pairs
            .map(|(&mean, &deviation)| Encoding::Scaled { mean, deviation })
            .collect())
    }

    /// Returns the layout of which the most tensors are there, the first on ties; all of its
    /// tensors must be there.
    fn choose_layout(
        &self,
        weights: &WeightFile,
        layers: usize,
    ) -> Result<&TensorLayout, ImportError> {
        let mut best: Option<(&TensorLayout, Vec<String>)> = None;
        for layout in &self.layout {
            if let Some(numbers) = &layout.numbers
                && numbers.len() != layers
            {
                return Err(ImportError::Unfit(format!(
                    "'numbers' lists {} layers, but there are {layers} (hidden ones and the output)",
                    numbers.len()
                )));
            }
            layout.check(layers)?;
            let missing: Vec<String> = (0..layers)
                .flat_map(|number| layout.of_layer(number).into_each())
                .filter(|name| !weights.tensors.contains_key(name))
                .collect();
            if best
                .as_ref()
                .is_none_or(|(_, have)| missing.len() < have.len())
            {
                best = Some((layout, missing));
            }
        }
        match best {
            None => Err(ImportError::Unfit("no [[layout]] is given".into())),
            Some((layout, missing)) if missing.is_empty() => Ok(layout),
            Some((_, missing)) => Err(ImportError::Missing {
                missing,
                found: weights.tensors.keys().cloned().collect(),
            }),
        }
    }
}

impl TensorLayout {
    /// Refuses names of both kinds, of neither, and lists for another number of layers.
    fn check(&self, layers: usize) -> Result<(), ImportError> {
        let unfit = |problem: String| Err(ImportError::Unfit(problem));
        for (one, all, single, list) in [
            (&self.weight, &self.weights, "weight", "weights"),
            (&self.bias, &self.biases, "bias", "biases"),
        ] {
            if one.is_some() && !all.is_empty() {
                return unfit(format!("a [[layout]] has both '{single}' and '{list}'"));
            }
            if !all.is_empty() && all.len() != layers {
                return unfit(format!(
                    "'{list}' lists {} tensors, but there are {layers} layers (hidden ones and the output)",
                    all.len()
                ));
            }
        }
        match self.weight.is_none() && self.weights.is_empty() {
            true => unfit("a [[layout]] names no weights: 'weight' or 'weights'".to_owned()),
            false => Ok(()),
        }
    }

    /// Returns the names of the weight and the bias of layer `number`.
    fn of_layer(&self, number: usize) -> LayerNames {
        let shown = self
            .numbers
            .as_ref()
            .and_then(|numbers| numbers.get(number))
            .unwrap_or(&number)
            .to_string();
        let name = |one: &Option<String>, all: &[String]| match one {
            Some(name) => Some(name.replace("{n}", &shown)),
            None => all.get(number).cloned(),
        };
        LayerNames {
            weight: name(&self.weight, &self.weights).unwrap_or_default(),
            bias: name(&self.bias, &self.biases),
        }
    }
}

/// Returns the sizes of a shape that are not 1.
fn squeezed(shape: &[usize]) -> Vec<usize> {
    shape.iter().copied().filter(|&size| size != 1).collect()
}

/// Returns the layer whose outputs are those of `layer` that `places` names, or 0.
fn taken(layer: &Dense, places: &[Option<usize>]) -> Dense {
    let of_row = |row: &[f32]| -> Vec<f32> {
        let value = |place: &Option<usize>| place.map_or(0.0, |place| row[place]);
        places.iter().map(value).collect()
    };
    let rows = layer.weight.chunks_exact(layer.outputs);
    Dense {
        inputs: layer.inputs,
        outputs: places.len(),
        weight: rows.flat_map(of_row).collect(),
        bias: of_row(&layer.bias),
    }
}

fn matrix(
    weights: &WeightFile,
    name: &str,
    (inputs, outputs): (usize, usize),
    orientation: Orientation,
    layer: usize,
) -> Result<Vec<f32>, ImportError> {
    let weight = &weights.tensors[name];
    let expected = orientation.shape(inputs, outputs);
    // Of a layer of one input or output a vector has the same numbers in either orientation.
    let is_vector = weight.shape.len() < 2 && squeezed(&weight.shape) == squeezed(&expected);
    if weight.shape != expected && !is_vector {
        let other = orientation.other();
        let hint = match weight.shape == other.shape(inputs, outputs) {
            true => format!(", and {} would fit", other.name()),
            false => String::new(),
        };
        return Err(ImportError::Shape {
            tensor: name.to_owned(),
            found: weight.shape.clone(),
            expected,
            why: format!(
                "layer {layer} takes {inputs} inputs to {outputs} outputs; the orientation is {}{hint}",
                orientation.name()
            ),
        });
    }
    Ok(match orientation {
        Orientation::InOut => weight.values.clone(),
        Orientation::OutIn => (0..inputs)
            .flat_map(|input| {
                (0..outputs).map(move |output| weight.values[output * inputs + input])
            })
            .collect(),
    })
}

fn vector(
    weights: &WeightFile,
    name: &str,
    length: usize,
    layer: usize,
) -> Result<Vec<f32>, ImportError> {
    let weight = &weights.tensors[name];
    if squeezed(&weight.shape) != squeezed(&[length]) {
        return Err(ImportError::Shape {
            tensor: name.to_owned(),
            found: weight.shape.clone(),
            expected: vec![length],
            why: format!("layer {layer} has {length} outputs"),
        });
    }
    Ok(weight.values.clone())
}

#[cfg(test)]
mod tests;
