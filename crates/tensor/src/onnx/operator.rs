//! The operators of `ai.onnx.ml` that the exports of scikit-learn, XGBoost and LightGBM need, and
//! `ArgMax` and `ArgMin`, of which the runtime takes the last of equal numbers, not the first.
//!
//! The operators that prepare features (`Scaler`, `Imputer`, `Normalizer`, `Binarizer`) compute in
//! the numbers that onnxruntime computes in, operation by operation: a threshold that follows gets
//! the same numbers.

mod encode;

use rten_onnx::onnx::NodeProto;

use super::attributes::Attributes;
use super::linear::{Linear, Machine};
use super::tensor::{Numbers, Tensor, within};
use super::trees::Trees;
use super::words::Words;

use encode::{Encode, Indicate};

/// The domain of these operators.
pub const DOMAIN: &str = "ai.onnx.ml";

/// Whether `node` is an operator that is computed here.
pub fn is_operator(node: &NodeProto) -> bool {
    match node.domain.as_deref() {
        Some(DOMAIN) => true,
        None | Some("" | "ai.onnx") => {
            matches!(node.op_type.as_deref(), Some("ArgMax" | "ArgMin"))
        }
        _ => false,
    }
}

/// An operator, ready to run.
pub enum Operator {
    /// `ArrayFeatureExtractor`: the columns that the second input names.
    Extract,
    /// `Binarizer`, with its threshold.
    Binarize(f32),
    /// `ArgMax` or `ArgMin`.
    Choose(Choose),
    /// `FeatureVectorizer`: all inputs side by side, each with this many columns.
    Join(Vec<usize>),
    /// `Imputer`.
    Impute(Impute),
    /// `LabelEncoder`.
    Encode(Encode),
    /// `LinearClassifier` or `LinearRegressor`.
    Linear(Linear),
    /// `Normalizer`.
    Normalize(Norm),
    /// `OneHotEncoder`.
    Indicate(Indicate),
    /// `Scaler`: minus the offset, times the scale.
    Scale(Vec<(f32, f32)>),
    /// `SVMClassifier`.
    Machine(Machine),
    /// `TreeEnsembleClassifier` or `TreeEnsembleRegressor`.
    Trees(Trees),
}

/// An operator that finds the place of the largest or smallest number.
pub struct Choose {
    axis: i64,
    keeps_axis: bool,
    takes_last: bool,
    is_largest: bool,
}

/// The number that a row is divided by.
#[derive(Clone, Copy)]
pub enum Norm {
    /// The largest number of the row.
    Max,
    /// The sum of the absolute values of the row.
    L1,
    /// The length of the row as a vector.
    L2,
}

/// The values that stand for missing ones.
pub enum Impute {
    /// Values among floating-point numbers.
    Floats { replaced: f32, by: Vec<f32> },
    /// Values among whole numbers.
    Integers { replaced: i32, by: Vec<i32> },
}

impl Operator {
    /// Reads the operator of `node`, and says which of the node's outputs it gives.
    ///
    /// # Errors
    /// When the operator is not known, or has attributes that are not known or wrong.
    pub fn read(node: &NodeProto, words: &mut Words) -> Result<(Operator, usize), String> {
        let attributes = Attributes(node);
        let operator = match node.op_type.as_deref().unwrap_or_default() {
            kind @ ("ArgMax" | "ArgMin") => Operator::Choose(Choose {
                axis: attributes.integer("axis").unwrap_or(0),
                keeps_axis: attributes.integer("keepdims") != Some(0),
                takes_last: attributes.integer("select_last_index") == Some(1),
                is_largest: kind == "ArgMax",
            }),
            "ArrayFeatureExtractor" => Operator::Extract,
            "Binarizer" => Operator::Binarize(attributes.float("threshold").unwrap_or(0.0)),
            "FeatureVectorizer" => {
                let widths = attributes.integers("inputdimensions").iter();
                let widths = widths.map(|&width| usize::try_from(width));
                let widths: Vec<usize> = widths
                    .collect::<Result<_, _>>()
                    .map_err(|_| "its inputdimensions are not sizes".to_owned())?;
                if widths.len() != node.input.len() {
                    return Err(format!(
                        "it has {} inputdimensions for {} inputs",
                        widths.len(),
                        node.input.len()
                    ));
                }
                Operator::Join(widths)
            }
            "Imputer" => Operator::Impute(Impute::read(attributes)?),
            "LabelEncoder" => Operator::Encode(Encode::read(attributes, words)?),
            "LinearClassifier" => {
                return Ok((Operator::Linear(Linear::classifier(attributes)?), 1));
            }
            "LinearRegressor" => Operator::Linear(Linear::regressor(attributes)?),
            "Normalizer" => Operator::Normalize(match attributes.word("norm") {
                None | Some("MAX") => Norm::Max,
                Some("L1") => Norm::L1,
                Some("L2") => Norm::L2,
                Some(other) => return Err(format!("its norm {other} is not known")),
            }),
            "OneHotEncoder" => Operator::Indicate(Indicate::read(attributes, words)?),
            "SVMClassifier" => {
                return Ok((Operator::Machine(Machine::classifier(attributes)?), 1));
            }
            "Scaler" => {
                let [offset, scale] = ["offset", "scale"].map(|name| attributes.floats(name));
                if offset.len() != scale.len() || scale.is_empty() {
                    return Err("its offset and its scale have different lengths".to_owned());
                }
                Operator::Scale(offset.iter().copied().zip(scale.iter().copied()).collect())
            }
            "TreeEnsembleClassifier" => {
                return Ok((Operator::Trees(Trees::classifier(attributes)?), 1));
            }
            "TreeEnsembleRegressor" => Operator::Trees(Trees::regressor(attributes)?),
            _ => return Err("the operator is not known here".to_owned()),
        };
        Ok((operator, 0))
    }

    /// Returns whether the operator gives words, where `takes` says whether its first input is of
    /// words; `None` where it cannot take such an input.
    pub fn gives_words(&self, takes: bool) -> Option<bool> {
        match self {
            Operator::Extract => Some(takes),
            Operator::Encode(encode) => {
                (takes == encode.takes_words()).then_some(encode.gives_words())
            }
            Operator::Indicate(indicate) => (takes == indicate.are_words).then_some(false),
            _ => (!takes).then_some(false),
        }
    }

    /// Computes the output of the operator from its inputs.
    ///
    /// # Errors
    /// What is wrong with the inputs.
    pub fn run(&self, inputs: &[&Tensor], words: &Words) -> Result<Tensor, String> {
        let (&first, others) = inputs.split_first().ok_or("it has no input")?;
        match self {
            Operator::Extract => extract(first, others.first().ok_or("it has one input")?),
            Operator::Binarize(threshold) => {
                let indicator = |value: f32| f32::from(u8::from(value > *threshold));
                Ok(floats(first, |values| {
                    values.into_iter().map(indicator).collect()
                }))
            }
            Operator::Choose(choose) => choose.run(first),
            Operator::Join(widths) => join(inputs, widths),
            Operator::Impute(impute) => impute.run(first),
            Operator::Encode(encode) => Ok(encode.run(first)),
            Operator::Linear(linear) => linear.run(first),
            Operator::Normalize(norm) => norm.run(first),
            Operator::Indicate(indicate) => indicate.run(first, words),
            Operator::Scale(columns) => scale(first, columns),
            Operator::Machine(machine) => machine.run(first),
            Operator::Trees(trees) => trees.run(first),
        }
    }
}

/// Returns `input` with other numbers, of 32 bits.
fn floats(input: &Tensor, change: impl FnOnce(Vec<f32>) -> Vec<f32>) -> Tensor {
    Tensor {
        shape: input.shape.clone(),
        values: Numbers::Floats(change(input.values.clone().into_floats())),
    }
}

fn extract(input: &Tensor, chosen: &Tensor) -> Result<Tensor, String> {
    let (&columns, before) = input.shape.split_last().ok_or("its input is one number")?;
    let chosen: Vec<usize> = chosen
        .values
        .clone()
        .into_integers()
        .into_iter()
        .map(|column| {
            usize::try_from(column)
                .ok()
                .filter(|&column| column < columns)
        })
        .collect::<Option<_>>()
        .ok_or_else(|| format!("it names a column beyond the {columns} of its input"))?;
    let rows: usize = before.iter().product();
    let places = (0..rows).flat_map(|row| chosen.iter().map(move |column| row * columns + column));
    let places: Vec<usize> = places.collect();
    let mut shape = before.to_vec();
    if shape.is_empty() {
        shape.push(1);
    }
    shape.push(chosen.len());
    Ok(Tensor {
        shape,
        values: input.values.at(&places),
    })
}

fn join(inputs: &[&Tensor], widths: &[usize]) -> Result<Tensor, String> {
    let mut parts = Vec::with_capacity(inputs.len());
    let mut rows = None;
    for (input, &width) in inputs.iter().zip(widths) {
        let (found, columns) = input.rows_and_columns()?;
        if columns != width || *rows.get_or_insert(found) != found {
            return Err(format!(
                "it takes {width} columns of as many rows as its others, and its input has the shape {:?}",
                input.shape
            ));
        }
        parts.push((input.values.clone().into_floats(), width));
    }
    let rows = rows.unwrap_or(0);
    let mut values = Vec::new();
    for row in 0..rows {
        for (part, width) in &parts {
            values.extend_from_slice(&part[row * width..(row + 1) * width]);
        }
    }
    Ok(Tensor {
        shape: vec![rows, widths.iter().sum()],
        values: Numbers::Floats(values),
    })
}

fn scale(input: &Tensor, columns: &[(f32, f32)]) -> Result<Tensor, String> {
    let (_, width) = input.rows_and_columns()?;
    if columns.len() != width && columns.len() != 1 {
        return Err(format!(
            "it scales {} columns, and its input has {width}",
            columns.len()
        ));
    }
    let parameters = columns.iter().cycle();
    if let Numbers::Doubles(values) = &input.values {
        let scaled = values
            .iter()
            .zip(parameters)
            .map(|(value, &(offset, scale))| {
                ((value - f64::from(offset)) * f64::from(scale)) as f32
            });
        return Ok(Tensor {
            shape: input.shape.clone(),
            values: Numbers::Floats(scaled.collect()),
        });
    }
    Ok(floats(input, |values| {
        let values = values.into_iter().zip(parameters);
        values
            .map(|(value, (offset, scale))| (value - offset) * scale)
            .collect()
    }))
}

impl Choose {
    fn run(&self, input: &Tensor) -> Result<Tensor, String> {
        let rank = input.shape.len();
        let axis = match usize::try_from(self.axis) {
            Ok(axis) => Some(axis),
            Err(_) => rank.checked_add_signed(isize::try_from(self.axis).unwrap_or(isize::MIN)),
        };
        let size = axis.and_then(|axis| Some((axis, *input.shape.get(axis)?)));
        let Some((axis, size @ 1..)) = size else {
            return Err(format!(
                "it chooses along the axis {}, and its input has the shape {:?}",
                self.axis, input.shape
            ));
        };
        let numbers = input.values.clone().into_doubles();
        let inner: usize = input.shape[axis + 1..].iter().product();
        let outer: usize = input.shape[..axis].iter().product();
        let mut chosen = Vec::with_capacity(outer * inner);
        for start in 0..outer * inner {
            let first = start / inner * inner * size + start % inner;
            let mut best = 0;
            for place in 1..size {
                let [one, other] = [best, place].map(|place| numbers[first + place * inner]);
                let is_better = if self.is_largest {
                    other > one
                } else {
                    other < one
                };
                if is_better || (self.takes_last && other == one) {
                    best = place;
                }
            }
            chosen.push(within(best as i64));
        }
        let mut shape = input.shape.clone();
        if self.keeps_axis {
            shape[axis] = 1;
        } else {
            shape.remove(axis);
        }
        Ok(Tensor {
            shape,
            values: Numbers::Integers(chosen),
        })
    }
}

impl Norm {
    fn run(self, input: &Tensor) -> Result<Tensor, String> {
        let (_, columns) = input.rows_and_columns()?;
        let mut output = floats(input, |values| values);
        if let Numbers::Floats(values) = &mut output.values {
            for row in values.chunks_exact_mut(columns.max(1)) {
                let by = match self {
                    Norm::Max => row.iter().copied().fold(f32::MIN, f32::max),
                    Norm::L1 => row.iter().map(|value| value.abs()).sum(),
                    Norm::L2 => row.iter().map(|value| value * value).sum(),
                };
                // A row of zeros stays a row of zeros.
                if by == 0.0 {
                    continue;
                }
                for value in row {
                    *value = match self {
                        Norm::Max | Norm::L1 => *value / by,
                        Norm::L2 if *value < 0.0 => -(*value * *value / by).sqrt(),
                        Norm::L2 => (*value * *value / by).sqrt(),
                    };
                }
            }
        }
        Ok(output)
    }
}

impl Impute {
    fn read(attributes: Attributes<'_>) -> Result<Impute, String> {
        let by = attributes.floats("imputed_value_floats");
        let integers = attributes.integers("imputed_value_int64s");
        match (by.is_empty(), integers.is_empty()) {
            (false, true) => Ok(Impute::Floats {
                replaced: attributes.float("replaced_value_float").unwrap_or(0.0),
                by: by.to_vec(),
            }),
            (true, false) => Ok(Impute::Integers {
                replaced: within(attributes.integer("replaced_value_int64").unwrap_or(0)),
                by: integers.iter().copied().map(within).collect(),
            }),
            _ => Err("it needs imputed_value_floats or imputed_value_int64s".to_owned()),
        }
    }

    fn run(&self, input: &Tensor) -> Result<Tensor, String> {
        let (_, columns) = input.rows_and_columns()?;
        let count = match self {
            Impute::Floats { by, .. } => by.len(),
            Impute::Integers { by, .. } => by.len(),
        };
        if count != columns && count != 1 {
            return Err(format!(
                "it fills {count} columns, and its input has {columns}"
            ));
        }
        let values = match (self, &input.values) {
            (Impute::Floats { replaced, by }, Numbers::Floats(values)) => {
                let is_missing =
                    |value: f32| value == *replaced || (value.is_nan() && replaced.is_nan());
                let values = values.iter().zip(by.iter().cycle());
                let filled = values.map(|(&value, &by)| if is_missing(value) { by } else { value });
                Numbers::Floats(filled.collect())
            }
            (Impute::Floats { replaced, by }, Numbers::Doubles(values)) => {
                let replaced = f64::from(*replaced);
                let is_missing =
                    |value: f64| value == replaced || (value.is_nan() && replaced.is_nan());
                let values = values.iter().zip(by.iter().cycle());
                let filled =
                    values.map(|(&value, &by)| if is_missing(value) { by.into() } else { value });
                Numbers::Doubles(filled.collect())
            }
            (Impute::Integers { replaced, by }, Numbers::Integers(values)) => {
                let values = values.iter().zip(by.iter().cycle());
                let filled =
                    values.map(|(&value, &by)| if value == *replaced { by } else { value });
                Numbers::Integers(filled.collect())
            }
            _ => return Err("it fills numbers of another type than its input's".to_owned()),
        };
        Ok(Tensor {
            shape: input.shape.clone(),
            values,
        })
    }
}
