//! A predictor that is an ONNX file, run by [`probity_tensor::onnx`].
//!
//! **Inputs.** Either one, a matrix `[rows, columns]`, or one for each attribute that the graph
//! needs, called like it and of the shape `[rows]` or `[rows, 1]`. Numbers enter as
//! [`super::values`] says, levels that are all numbers as these. Words for true and false enter as 1
//! and 0 ([`truth`](probity_data::meant::truth)), and an input of truth takes nothing else. Other words enter as
//! they stand in the data where the input is made of words, else as [`super::graph::Categories`]
//! says, as codes where each attribute has its own input. A missing value that is no number is NaN,
//! and refused where the input has no form for it, or where the graph may take it for a number.
//! Nothing is scaled here: scaling belongs into the graph.
//!
//! **Output.** `[rows, classes]`, or for two classes `[rows]` or `[rows, 1]`: the second one's, or that of
//! the class that the output is called by, as in `sgranted` or `i0`, which is how scikit-learn's converter
//! calls outputs of a class each. The columns are the classes that the file names; else they are counted ([`counted`]): numbers in
//! ascending order, and words in the schema's order. Of a regressor `[rows]` or
//! `[rows, 1]`.
//!
//! **Tiles.** Batches are cut into tiles of [`TILE`] rows, or of the fixed number that the graph
//! asks for, the last one filled up with copies of a row. How a product is cut into blocks depends
//! on its height only, so a row's answer is the same alone and in any batch.

mod inputs;

use std::path::Path;

use rayon::prelude::*;

use self::inputs::{Columns, Inputs, numeric_places};
use super::error::PredictorError;
use super::graph::{GraphOptions, OutputKind};
use super::own_numbers::{ClassesByOrder, Predictor};
use super::probabilities::{Taken, append_answer, of_score};
use super::values::describe;
use probity_data::meant::{counted, entering, meant};
use probity_data::schema::{Kind, Label, Schema};
use probity_nn::{Classifier, ModelError, Rows};
use probity_tensor::onnx::{
    Kind as Element, Numbers, OnnxError, OnnxFile, OnnxModel, Output, Port, Tensor,
};

/// The number of rows of a tile.
pub const TILE: usize = 64;
/// The largest number of tiles in one request to a worker, whose time is limited.
const MOST_TILES: usize = 32;
/// The largest number of rows that a graph may be fixed to.
const MOST_ROWS: usize = 1 << 16;

/// An ONNX graph that classifies rows of a schema.
pub struct OnnxPredictor {
    schema: Schema,
    graph: OnnxModel,
    file: String,
    inputs: Inputs,
    /// The operator that would take a missing number for one that is there.
    hides_missing: Option<String>,
    /// For each class of the schema, its column in the output.
    order: Vec<usize>,
    /// Whether the file does not name its classes, which are taken in the schema's order.
    is_by_order: bool,
    /// Whether an output of one column is of the first of two classes.
    is_of_first: bool,
    /// Whether the graph decides by something else than its probabilities.
    decides_by_votes: bool,
    gives: OutputKind,
    taken: Taken,
    tile: usize,
    /// For each attribute, its place among the numeric attributes.
    numeric: Vec<Option<usize>>,
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
        let onnx = |error: OnnxError| PredictorError::Onnx(error.to_string());
        let name = file.display().to_string();
        let fail = |problem: String| PredictorError::Graph {
            file: name.clone(),
            problem,
        };
        let file = OnnxFile::read(file).map_err(onnx)?;
        let output = output_name(&file.outputs(), options.output.as_deref()).map_err(fail)?;
        let named = file.classes(&output);
        let is_of_first = named
            .as_deref()
            .is_some_and(|named| is_of_first(named, &output));
        let (order, is_by_order) = class_order(&schema.label, named)?;
        let hides_missing = file.hides_missing(&output);
        let decides_by_votes = file.decides_by_votes(&output);
        let mut graph = file.model(&output).map_err(onnx)?;
        let inputs = Inputs::new(&mut graph, schema, options.categories).map_err(fail)?;
        let fixed = graph
            .inputs()
            .iter()
            .filter_map(|port| port.shape.as_ref()?.first().copied()?)
            .max();
        if let Some(rows) = fixed.filter(|&rows| rows > MOST_ROWS) {
            return Err(fail(format!(
                "it is fixed to {rows} rows, which are all computed for every answer; at most {MOST_ROWS} are possible"
            )));
        }
        let predictor = OnnxPredictor {
            schema: schema.clone(),
            graph,
            file: name,
            inputs,
            hides_missing,
            order,
            is_by_order,
            is_of_first,
            decides_by_votes,
            gives: options.gives,
            taken: Taken::default(),
            tile: fixed.unwrap_or(TILE).max(1),
            numeric: numeric_places(schema),
        };
        Ok(predictor)
    }

    /// Returns the predictor with its probabilities taken as `taken` says.
    #[must_use]
    pub fn taking(self, taken: Taken) -> OnnxPredictor {
        OnnxPredictor { taken, ..self }
    }

    fn fail(&self, problem: String) -> ModelError {
        ModelError::predictor(PredictorError::Graph {
            file: self.file.clone(),
            problem,
        })
    }

    /// Returns the logits of `tiles`, each of at most [`Self::tile`] rows with their own numbers.
    fn run_tiles(&self, tiles: &[(Rows<'_>, &[f64])]) -> Result<Vec<f32>, ModelError> {
        let mut fed = Vec::with_capacity(tiles.len());
        for (rows, numbers) in tiles {
            let tile = self.feed(*rows, numbers);
            self.expect_present(*rows, &tile)?;
            fed.push(tile);
        }
        let outputs = self
            .graph
            .run_each(fed)
            .map_err(|error| ModelError::predictor(PredictorError::Onnx(error.to_string())))?;
        let mut out = Vec::new();
        for ((rows, _), output) in tiles.iter().zip(outputs) {
            self.read(*rows, output, &mut out)?;
        }
        Ok(out)
    }

    /// Refuses `rows` that are `fed` with a missing number, where the graph would take it for one
    /// that is there.
    fn expect_present(&self, rows: Rows<'_>, fed: &[Tensor]) -> Result<(), ModelError> {
        let Some(operator) = &self.hides_missing else {
            return Ok(());
        };
        for tensor in fed {
            let Numbers::Doubles(numbers) = &tensor.values else {
                continue;
            };
            let width = (numbers.len() / self.tile).max(1);
            if let Some(at) = numbers.iter().position(|number| number.is_nan())
                && let Some(row) = rows.iter().nth(at / width)
            {
                return Err(self.fail(format!(
                    "it cannot answer for {}: a missing number enters as NaN, which the graph has to expect, and its \
                     {operator} may take it for a number; leave such rows out (--outside skip), or export the graph \
                     with something in the place of missing numbers (an Imputer)",
                    describe(&self.schema.attributes, row)
                )));
            }
        }
        Ok(())
    }

    /// Reads the logits of `rows` from `output` and appends them.
    fn read(
        &self,
        rows: Rows<'_>,
        (shape, values): Output,
        out: &mut Vec<f32>,
    ) -> Result<(), ModelError> {
        let classes = self.schema.label.answers();
        let width = match *shape.as_slice() {
            [height] if height == self.tile => 1,
            [height, width] if height == self.tile => width,
            _ => 0,
        };
        if (width == 0 || width != classes) && !(width == 1 && classes == 2) {
            return Err(self.fail(format!(
                "the output '{}' has the shape {shape:?} for {} rows and {classes} classes; expected [rows, {classes}]{}",
                self.graph.output(),
                self.tile,
                if classes == 2 { ", [rows, 1] or [rows]" } else { "" }
            )));
        }
        for (row, given) in rows.iter().zip(values.chunks_exact(width)) {
            self.append(row, given, out)?;
        }
        Ok(())
    }

    fn append(&self, row: &[i32], given: &[f32], out: &mut Vec<f32>) -> Result<(), ModelError> {
        if self.schema.label.is_number() {
            let number: Vec<f64> = given.iter().map(|&number| f64::from(number)).collect();
            let asked = || describe(&self.schema.attributes, row);
            return append_answer(&self.schema.label, &self.taken, &asked, &number, out)
                .map_err(ModelError::predictor);
        }
        if self.gives == OutputKind::Logits {
            if given.iter().any(|logit| !logit.is_finite()) {
                return Err(ModelError::NotFinite { row: row.to_vec() });
            }
            let logits = match *given {
                [one] if self.is_of_first => &[one, 0.0],
                [one] => &[0.0, one],
                _ => given,
            };
            out.extend(self.ordered(logits, f32::next_up));
            return Ok(());
        }
        let probabilities = match *given {
            [score] => {
                let mut both = of_score(f64::from(score)).to_vec();
                if self.is_of_first {
                    both.reverse();
                }
                both
            }
            _ => given.iter().map(|&p| f64::from(p)).collect(),
        };
        let ordered = self.ordered(&probabilities, f64::next_up);
        let asked = || describe(&self.schema.attributes, row);
        append_answer(&self.schema.label, &self.taken, &asked, &ordered, out)
            .map_err(ModelError::predictor)
    }

    /// Puts the numbers of the columns into the order of the schema's classes. Of equal numbers,
    /// the one of the first column wins, as in the library; so where the order differs, it becomes
    /// the next larger number.
    fn ordered<T: Copy + PartialOrd>(&self, given: &[T], next: impl Fn(T) -> T) -> Vec<T> {
        let mut best = 0;
        for (column, number) in given.iter().enumerate() {
            if *number > given[best] {
                best = column;
            }
        }
        let order = || self.order.iter();
        let ties = order().filter(|&&column| given[column] == given[best]);
        let is_first = ties.clone().next() == Some(&best);
        let raised = !is_first && ties.count() > 1;
        let number = |&column: &usize| match given[column] {
            number if raised && column == best => next(number),
            number => number,
        };
        order().map(number).collect()
    }

    /// Returns the input tensors for `rows`, filled up to a whole tile.
    fn feed(&self, rows: Rows<'_>, numbers: &[f64]) -> Vec<Tensor> {
        let width = self.numeric.iter().flatten().count();
        let own = |at: usize| {
            numbers
                .get(at * width..(at + 1) * width)
                .unwrap_or_default()
        };
        let with_numbers = rows.iter().enumerate().map(|(at, row)| (row, own(at)));
        let filler = with_numbers.clone().next_back().into_iter().cycle();
        let tile: Vec<(&[i32], &[f64])> = with_numbers.chain(filler).take(self.tile).collect();
        let own_number = |attribute: usize, own: &[f64]| {
            let own = self.numeric[attribute].and_then(|place| own.get(place));
            own.copied().filter(|own| !own.is_nan())
        };
        match &self.inputs {
            Inputs::Matrix(columns) => {
                let width = columns.iter().map(Columns::width).sum();
                let mut values = Vec::with_capacity(self.tile * width);
                for row in tile {
                    for (attribute, columns) in columns.iter().enumerate() {
                        match own_number(attribute, row.1) {
                            Some(own) => values.push(own),
                            None => columns.append(row.0[attribute], &mut values),
                        }
                    }
                }
                vec![Tensor {
                    shape: vec![self.tile, width],
                    values: Numbers::Doubles(values),
                }]
            }
            Inputs::Attributes(inputs) => inputs
                .iter()
                .map(|input| {
                    let mut values = Vec::with_capacity(self.tile);
                    for row in &tile {
                        let own = own_number(input.attribute, row.1).filter(|_| !input.is_words);
                        match own {
                            Some(own) => values.push(own),
                            None => input.columns.append(row.0[input.attribute], &mut values),
                        }
                    }
                    let mut shape = vec![self.tile];
                    shape.extend(input.is_column.then_some(1));
                    Tensor {
                        shape,
                        values: Numbers::Doubles(values),
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

    fn logits_with(&self, rows: Rows<'_>, numbers: &[f64]) -> Result<Vec<f32>, ModelError> {
        let height = self.tile * self.numeric.iter().flatten().count();
        let own = |tile: usize| {
            let rest = numbers.get(tile * height..).unwrap_or_default();
            &rest[..height.min(rest.len())]
        };
        let tiles: Vec<(Rows<'_>, &[f64])> = rows
            .codes
            .chunks(self.tile * rows.width.max(1))
            .enumerate()
            .map(|(tile, codes)| (Rows::new(codes, rows.width), own(tile)))
            .collect();
        let each = tiles.len().div_ceil(rayon::current_num_threads().max(1));
        let parts: Vec<Vec<f32>> = tiles
            .par_chunks(each.clamp(1, MOST_TILES))
            .map(|tiles| self.run_tiles(tiles))
            .collect::<Result<_, _>>()?;
        Ok(parts.concat())
    }
}

impl Predictor for OnnxPredictor {
    fn takes(&self, attribute: usize) -> bool {
        match &self.inputs {
            Inputs::Matrix(_) => true,
            Inputs::Attributes(inputs) => inputs.iter().any(|input| input.attribute == attribute),
        }
    }

    fn takes_matrix(&self) -> bool {
        matches!(self.inputs, Inputs::Matrix(_))
    }

    fn words_by_place(&self) -> Vec<String> {
        let columns: Vec<(usize, &Columns)> = match &self.inputs {
            Inputs::Matrix(columns) => columns.iter().enumerate().collect(),
            Inputs::Attributes(inputs) => {
                let inputs = inputs.iter();
                inputs
                    .map(|input| (input.attribute, &input.columns))
                    .collect()
            }
        };
        let by_place = columns
            .into_iter()
            .filter(|(_, columns)| columns.are_places());
        let attributes = by_place.map(|(attribute, _)| &self.schema.attributes[attribute]);
        let of_words = attributes.filter(|attribute| match &attribute.kind {
            Kind::Categorical { levels, .. } => meant(levels).is_none(),
            Kind::Integer { .. } | Kind::Numeric { .. } => false,
        });
        of_words.filter_map(entering).collect()
    }

    fn decides_by_votes(&self) -> bool {
        self.decides_by_votes
    }

    fn classes_by_order(&self) -> Option<ClassesByOrder> {
        self.is_by_order.then(|| ClassesByOrder {
            classes: self.schema.label.classes.clone(),
            remedy: "list the schema's classes as the graph counts them, and name the one that is good to get by --favourable",
        })
    }
}

/// Returns whether an output of one column that is called `output` is of the first of the two classes that
/// the file calls `named`.
fn is_of_first(named: &[String], output: &str) -> bool {
    let of = output.strip_prefix(['s', 'i']);
    matches!(named, [first, other] if of == Some(first) && first != other)
}

/// Returns, for each class of the schema, its column, where the file calls the columns `named`.
/// Whole numbers from 0 that are not the schema's names count the schema's classes; also, whether
/// names of the schema's are told by nothing but their order.
fn class_order(
    label: &Label,
    named: Option<Vec<String>>,
) -> Result<(Vec<usize>, bool), PredictorError> {
    if label.is_number() {
        return Ok((vec![0], false));
    }
    let classes = label.classes.len();
    let by_number = || (counted(&label.classes), meant(&label.classes).is_none());
    let Some(named) = named else {
        return Ok(by_number());
    };
    let mut columns = vec![None; classes];
    for (column, name) in named.iter().enumerate() {
        if let Some(code) = label.code(name) {
            columns[code as usize] = Some(column);
        }
    }
    let columns: Option<Vec<usize>> = columns.into_iter().collect();
    let numbers = (0..classes).map(|number| number.to_string());
    match columns {
        Some(columns) if named.len() == classes => Ok((columns, false)),
        _ if numbers.eq(named.iter().cloned()) => Ok(by_number()),
        _ => Err(PredictorError::Classes {
            theirs: named.join(", "),
            ours: label.classes.join(", "),
        }),
    }
}

/// Finds the output called `named`, or the only one of floating-point numbers.
pub(crate) fn output_name(outputs: &[Port], named: Option<&str>) -> Result<String, String> {
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
    if let [only] = outputs {
        return Ok(only.name.clone());
    }
    let floats = outputs
        .iter()
        .filter(|port| matches!(port.kind, Some(Element::Floats | Element::Doubles)));
    match floats.collect::<Vec<_>>().as_slice() {
        [only] => Ok(only.name.clone()),
        _ => Err(format!(
            "it has the outputs {}; name the one to read in predictor.output",
            all()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_of_one_class_is_told_by_its_name() {
        let words = |names: [&str; 2]| names.map(str::to_owned);
        assert!(is_of_first(&words(["granted", "refused"]), "sgranted"));
        assert!(is_of_first(&words(["0", "1"]), "i0"));
        for output in ["srefused", "granted", "probabilities"] {
            assert!(
                !is_of_first(&words(["granted", "refused"]), output),
                "{output}"
            );
        }
    }

    #[test]
    fn columns_without_names_are_counted() {
        let words = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        for (classes, named, order, is_by_order) in [
            (["1", "0"], None, [1, 0], false),
            (["2", "1"], None, [1, 0], false),
            (["True", "False"], None, [1, 0], false),
            (["low", "high"], None, [0, 1], true),
            (["1", "0"], Some(["0", "1"]), [1, 0], false),
            (["2", "1"], Some(["0", "1"]), [1, 0], false),
            (["low", "high"], Some(["0", "1"]), [0, 1], true),
            (["low", "high"], Some(["high", "low"]), [1, 0], false),
        ] {
            let label = Label::of_classes("y", words(&classes));
            let named = named.map(|named| words(&named));
            let found = class_order(&label, named).unwrap();
            assert_eq!(found, (order.to_vec(), is_by_order), "{classes:?}");
        }
        let label = Label::of_classes("y", words(&["low", "high"]));
        assert!(class_order(&label, Some(words(&["a", "b"]))).is_err());
    }
}
