//! A predictor that is an ONNX file, run by [`probity_tensor::onnx`].
//!
//! **Inputs.** Either one, a matrix `[rows, columns]`, or one for each attribute, called like it
//! and of the shape `[rows]` or `[rows, 1]`. Numbers enter as [`super::values`] says; words as
//! [`Categories`] says, as codes where each attribute has its own input. A missing value that is no
//! number is NaN. Nothing is scaled here: scaling belongs into the graph.
//!
//! **Output.** `[rows, classes]`, or for two classes `[rows]` or `[rows, 1]`: the second one's.
//!
//! **Tiles.** Batches are cut into tiles of [`TILE`] rows, or of the fixed number that the graph
//! asks for, the last one filled up with copies of a row. How a product is cut into blocks depends
//! on its height only, so a row's answer is the same alone and in any batch.

use std::path::Path;

use rayon::prelude::*;

use super::error::PredictorError;
use super::graph::{Categories, GraphOptions, OutputKind};
use super::own_numbers::Predictor;
use super::probabilities::{append_logits, of_score};
use super::values::{Value, value};
use probity_data::schema::{Attribute, Kind, Schema};
use probity_nn::{Classifier, ModelError, Rows};
use probity_tensor::onnx::{Input, Numbers, OnnxModel, Port};

/// Rows of a tile.
pub const TILE: usize = 64;

/// An ONNX graph that classifies rows of a schema.
pub struct OnnxPredictor {
    schema: Schema,
    graph: OnnxModel,
    file: String,
    inputs: Inputs,
    output: String,
    gives: OutputKind,
    tile: usize,
    columns: Vec<Columns>,
    /// Of each attribute, which of the numeric ones it is.
    numeric: Vec<Option<usize>>,
}

/// How rows enter the graph.
enum Inputs {
    /// As one matrix of so many columns.
    Matrix(usize),
    /// For each input its attribute, and whether its shape is `[rows, 1]` rather than `[rows]`.
    Attributes(Vec<(usize, bool)>),
}

/// The columns of one attribute.
enum Columns {
    /// One number: that of each code from `min` on, or the code itself where the list is empty.
    Number { min: i32, numbers: Vec<f32> },
    /// One indicator for each of so many codes from 0 on.
    Indicators(usize),
}

impl OnnxPredictor {
    /// Reads `file`, for rows of `schema`.
    ///
    /// # Errors
    /// When it cannot be read, has operators that are not known, or its inputs and outputs do not
    /// fit the schema.
    pub fn open(
        file: &Path,
        schema: &Schema,
        options: &GraphOptions,
    ) -> Result<OnnxPredictor, PredictorError> {
        let graph =
            OnnxModel::open(file).map_err(|error| PredictorError::Onnx(error.to_string()))?;
        let name = file.display().to_string();
        let fail = |problem: String| PredictorError::Graph {
            file: name.clone(),
            problem,
        };
        let ports = graph.inputs();
        let columns: Vec<Columns> = schema
            .attributes
            .iter()
            .map(|attribute| Columns::new(attribute, options.categories))
            .collect();
        let inputs = Inputs::new(&ports, schema, &columns, options.categories).map_err(fail)?;
        let output = output_name(&graph, options.output.as_deref()).map_err(fail)?;
        let fixed = ports
            .iter()
            .filter_map(|port| port.shape.as_ref()?.first().copied()?)
            .max();
        let predictor = OnnxPredictor {
            schema: schema.clone(),
            graph,
            file: name,
            inputs,
            output,
            gives: options.gives,
            tile: fixed.unwrap_or(TILE).max(1),
            columns,
            numeric: numeric_places(schema),
        };
        Ok(predictor)
    }

    fn fail(&self, problem: String) -> ModelError {
        ModelError::predictor(PredictorError::Graph {
            file: self.file.clone(),
            problem,
        })
    }

    /// Logits of at most [`Self::tile`] rows.
    fn run_tile(&self, rows: Rows<'_>, numbers: &[f64]) -> Result<Vec<f32>, ModelError> {
        let fed = self.feed(rows, numbers);
        let (shape, values) = self
            .graph
            .run_inputs(fed, &self.output)
            .map_err(|error| ModelError::predictor(PredictorError::Onnx(error.to_string())))?;
        let classes = self.classes();
        let width = match *shape.as_slice() {
            [height] if height == self.tile => 1,
            [height, width] if height == self.tile => width,
            _ => 0,
        };
        if width != classes && !(width == 1 && classes == 2) {
            return Err(self.fail(format!(
                "the output '{}' has the shape {shape:?} for {} rows and {classes} classes; expected [rows, {classes}]{}",
                self.output,
                self.tile,
                if classes == 2 { ", [rows, 1] or [rows]" } else { "" }
            )));
        }
        let mut out = Vec::with_capacity(rows.len() * classes);
        for (row, given) in rows.iter().zip(values.chunks_exact(width)) {
            self.append(row, given, &mut out)?;
        }
        Ok(out)
    }

    fn append(&self, row: &[i32], given: &[f32], out: &mut Vec<f32>) -> Result<(), ModelError> {
        match (self.gives, given) {
            (OutputKind::Logits, _) => {
                if given.iter().any(|logit| !logit.is_finite()) {
                    return Err(ModelError::NotFinite { row: row.to_vec() });
                }
                if let [one] = given {
                    out.push(0.0);
                    out.push(*one);
                } else {
                    out.extend_from_slice(given);
                }
                Ok(())
            }
            (OutputKind::Probabilities, [score]) => {
                self.append_probabilities(row, &of_score(f64::from(*score)), out)
            }
            (OutputKind::Probabilities, _) => {
                let probabilities: Vec<f64> = given.iter().map(|&p| f64::from(p)).collect();
                self.append_probabilities(row, &probabilities, out)
            }
        }
    }

    fn append_probabilities(
        &self,
        row: &[i32],
        probabilities: &[f64],
        out: &mut Vec<f32>,
    ) -> Result<(), ModelError> {
        append_logits(&self.schema, row, probabilities, out).map_err(ModelError::predictor)
    }

    /// What the inputs get for `rows`, filled up to a whole tile.
    fn feed(&self, rows: Rows<'_>, numbers: &[f64]) -> Vec<Input> {
        let width = self.numeric.iter().flatten().count();
        let own = |at: usize| {
            numbers
                .get(at * width..(at + 1) * width)
                .unwrap_or_default()
        };
        let with_numbers = rows.iter().enumerate().map(|(at, row)| (row, own(at)));
        let filler = with_numbers.clone().next_back().into_iter().cycle();
        let tile: Vec<(&[i32], &[f64])> = with_numbers.chain(filler).take(self.tile).collect();
        let append = |attribute: usize, (row, own): (&[i32], &[f64]), out: &mut Vec<f32>| {
            let own = self.numeric[attribute].and_then(|place| own.get(place));
            match own.filter(|own| !own.is_nan()) {
                Some(&own) => out.push(own as f32),
                None => self.columns[attribute].append(row[attribute], out),
            }
        };
        match &self.inputs {
            Inputs::Matrix(width) => {
                let mut values = Vec::with_capacity(self.tile * width);
                for row in tile {
                    (0..self.columns.len()).for_each(|at| append(at, row, &mut values));
                }
                vec![Input {
                    shape: vec![self.tile, *width],
                    values: Numbers::Floats(values),
                }]
            }
            Inputs::Attributes(attributes) => attributes
                .iter()
                .map(|&(attribute, is_column)| {
                    let mut values = Vec::with_capacity(self.tile);
                    tile.iter()
                        .for_each(|row| append(attribute, *row, &mut values));
                    let mut shape = vec![self.tile];
                    shape.extend(is_column.then_some(1));
                    Input {
                        shape,
                        values: Numbers::Floats(values),
                    }
                })
                .collect(),
        }
    }
}

impl Classifier for OnnxPredictor {
    fn width(&self) -> usize {
        self.schema.attributes.len()
    }

    fn classes(&self) -> usize {
        self.schema.label.classes.len()
    }

    fn logits(&self, rows: Rows<'_>) -> Result<Vec<f32>, ModelError> {
        self.logits_with(rows, &[])
    }
}

impl Predictor for OnnxPredictor {
    fn logits_with(&self, rows: Rows<'_>, numbers: &[f64]) -> Result<Vec<f32>, ModelError> {
        let height = self.tile * self.numeric.iter().flatten().count();
        let own = |tile: usize| {
            let rest = numbers.get(tile * height..).unwrap_or_default();
            &rest[..height.min(rest.len())]
        };
        let tiles: Vec<Vec<f32>> = rows
            .codes
            .par_chunks(self.tile * rows.width.max(1))
            .enumerate()
            .map(|(tile, codes)| self.run_tile(Rows::new(codes, rows.width), own(tile)))
            .collect::<Result<_, _>>()?;
        Ok(tiles.concat())
    }
}

impl Inputs {
    fn new(
        ports: &[Port],
        schema: &Schema,
        columns: &[Columns],
        categories: Categories,
    ) -> Result<Inputs, String> {
        let names = |names: Vec<&str>| names.join(", ");
        let port_names = || names(ports.iter().map(|port| port.name.as_str()).collect());
        if let [port] = ports
            && schema.attributes.len() > 1
        {
            let width: usize = columns.iter().map(Columns::width).sum();
            let declared = port.shape.as_deref();
            return match declared {
                None => Ok(Inputs::Matrix(width)),
                Some([_, None]) => Ok(Inputs::Matrix(width)),
                Some([_, Some(found)]) if *found == width => Ok(Inputs::Matrix(width)),
                Some(shape) => Err(format!(
                    "its input '{}' has the shape {}, but the schema's attributes make {width} columns with categories as {}; give a schema with the columns of the training, in their order, or the other predictor.categories",
                    port.name,
                    show(shape),
                    match categories {
                        Categories::Codes => "codes",
                        Categories::Onehot => "onehot",
                    }
                )),
            };
        }
        let expected = || names(schema.attributes.iter().map(|a| a.name.as_str()).collect());
        if ports.len() != schema.attributes.len() {
            return Err(format!(
                "it has {} inputs ({}); expected one matrix, or one input for each attribute ({})",
                ports.len(),
                port_names(),
                expected()
            ));
        }
        if categories == Categories::Onehot {
            return Err(
                "with one input for each attribute, words enter as codes; leave predictor.categories out"
                    .to_owned(),
            );
        }
        let mut attributes = Vec::with_capacity(ports.len());
        for port in ports {
            let Some(at) = schema.attributes.iter().position(|a| a.name == port.name) else {
                return Err(format!(
                    "its input '{}' is no attribute of the schema ({})",
                    port.name,
                    expected()
                ));
            };
            attributes.push((
                at,
                match port.shape.as_deref() {
                    Some([_]) => false,
                    None | Some([_, None | Some(1)]) => true,
                    Some(shape) => {
                        return Err(format!(
                            "its input '{}' has the shape {}; expected [rows] or [rows, 1]",
                            port.name,
                            show(shape)
                        ));
                    }
                },
            ));
        }
        Ok(Inputs::Attributes(attributes))
    }
}

impl Columns {
    fn new(attribute: &Attribute, categories: Categories) -> Columns {
        let is_onehot = categories == Categories::Onehot && !attribute.is_ordered();
        let (min, max) = attribute.domain();
        match &attribute.kind {
            Kind::Categorical { .. } if is_onehot => Columns::Indicators(attribute.levels()),
            Kind::Categorical { .. } => Columns::Number {
                min,
                numbers: Vec::new(),
            },
            Kind::Integer { .. } | Kind::Numeric { .. } => Columns::Number {
                min,
                numbers: (min..=max)
                    .map(|code| {
                        let value: Value = value(attribute, code);
                        value.number().unwrap_or(f64::NAN) as f32
                    })
                    .collect(),
            },
        }
    }

    fn width(&self) -> usize {
        match self {
            Columns::Number { .. } => 1,
            Columns::Indicators(levels) => *levels,
        }
    }

    fn append(&self, code: i32, out: &mut Vec<f32>) {
        match self {
            Columns::Number { min, numbers } => {
                let at = usize::try_from(i64::from(code) - i64::from(*min)).ok();
                let number = at.and_then(|at| numbers.get(at)).copied();
                out.push(number.unwrap_or(code as f32));
            }
            Columns::Indicators(levels) => {
                out.extend((0..*levels).map(|level| f32::from(u8::from(level as i32 == code))));
            }
        }
    }
}

/// Of each attribute, which of the numeric ones it is.
fn numeric_places(schema: &Schema) -> Vec<Option<usize>> {
    let mut places = 0..;
    let attributes = schema.attributes.iter();
    let place = attributes.map(|attribute| match attribute.kind {
        Kind::Numeric { .. } => places.next(),
        Kind::Integer { .. } | Kind::Categorical { .. } => None,
    });
    place.collect()
}

/// The output called `named`, or the only one of floating-point numbers.
fn output_name(graph: &OnnxModel, named: Option<&str>) -> Result<String, String> {
    let outputs = graph.outputs();
    let all = || {
        let names: Vec<&str> = outputs.iter().map(|port| port.name.as_str()).collect();
        names.join(", ")
    };
    if let Some(name) = named {
        return match outputs.iter().find(|port| port.name == name) {
            Some(_) => Ok(name.to_owned()),
            None => Err(format!(
                "it has no output '{name}'; its outputs are {}",
                all()
            )),
        };
    }
    if let [only] = outputs.as_slice() {
        return Ok(only.name.clone());
    }
    let floats: Vec<&Port> = outputs
        .iter()
        .filter(|port| graph.gives_floats(&port.name))
        .collect();
    match floats.as_slice() {
        [only] => Ok(only.name.clone()),
        _ => Err(format!(
            "it has the outputs {}; name the one to read in predictor.output",
            all()
        )),
    }
}

/// A declared shape in words.
fn show(shape: &[Option<usize>]) -> String {
    let sizes: Vec<String> = shape
        .iter()
        .map(|size| size.map_or("?".to_owned(), |size| size.to_string()))
        .collect();
    format!("[{}]", sizes.join(", "))
}
