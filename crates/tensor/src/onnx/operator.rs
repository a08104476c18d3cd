//! The operators of `ai.onnx.ml` that the exports of scikit-learn, XGBoost and LightGBM need, and
//! `ArgMax` and `ArgMin`, of which the runtime takes the last of equal numbers, not the first.
//!
//! What prepares features (`Scaler`, `Imputer`, `Normalizer`, `Binarizer`) computes in the numbers
//! that onnxruntime computes in, operation by operation: a threshold that follows sees the same.

use std::collections::HashMap;
use std::hash::Hash;

use rten_onnx::onnx::NodeProto;

use super::attributes::Attributes;
use super::linear::{Linear, Machine};
use super::tensor::{Numbers, Tensor};
use super::trees::Trees;
use super::words::Words;

/// The domain of these operators.
pub const DOMAIN: &str = "ai.onnx.ml";

/// Whether `node` is one of them.
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
    /// `FeatureVectorizer`: all inputs side by side, each with so many columns.
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

/// The place of the largest or smallest number.
pub struct Choose {
    axis: i64,
    keeps_axis: bool,
    takes_last: bool,
    is_largest: bool,
}

/// What a row is divided by.
#[derive(Clone, Copy)]
pub enum Norm {
    /// Its largest number.
    Max,
    /// The sum of its absolute values.
    L1,
    /// Its length.
    L2,
}

/// What stands for missing values.
pub enum Impute {
    /// Among floating-point numbers.
    Floats { replaced: f32, by: Vec<f32> },
    /// Among whole numbers.
    Integers { replaced: i32, by: Vec<i32> },
}

/// One column for each category.
pub struct Indicate {
    /// The column of each, words as numbers.
    columns: HashMap<i64, usize>,
    width: usize,
    are_words: bool,
    /// Whether a value that is no category is a row of zeros.
    takes_others: bool,
}

/// Values for keys.
pub struct Encode {
    keys: Keys,
    values: Values,
}

/// The place of each key among the values.
enum Keys {
    Integers(HashMap<i64, usize>),
    Words(HashMap<i32, usize>),
    Floats(HashMap<Bits, usize>),
}

/// The bits of a number, in which zeros are equal, and so are those that are none.
#[derive(PartialEq, Eq, Hash)]
struct Bits(u64);

/// What stands for the keys, and at the end what stands for anything else.
enum Values {
    Integers(Vec<i32>),
    Words(Vec<i32>),
    Floats(Vec<f32>),
}

impl Operator {
    /// The operator of `node`, and which of the node's outputs it gives.
    ///
    /// # Errors
    /// When the operator is not known, or has what is not known or wrong.
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

    /// Whether it takes words at all, and whether it gives words, where `takes` says whether its
    /// first input is of words; `None` where it cannot take that.
    pub fn gives_words(&self, takes: bool) -> Option<bool> {
        match self {
            Operator::Extract => Some(takes),
            Operator::Encode(encode) => {
                (takes == matches!(encode.keys, Keys::Words(_))).then_some(encode.gives_words())
            }
            Operator::Indicate(indicate) => (takes == indicate.are_words).then_some(false),
            _ => (!takes).then_some(false),
        }
    }

    /// What it makes of its inputs.
    ///
    /// # Errors
    /// What about them is wrong.
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

/// `input` with other numbers, of 32 bits.
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
                // A row of zeros stays one.
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

impl Indicate {
    fn read(attributes: Attributes<'_>, words: &mut Words) -> Result<Indicate, String> {
        let texts = attributes.words("cats_strings");
        let integers = attributes.integers("cats_int64s");
        if texts.is_empty() == integers.is_empty() {
            return Err("it needs cats_strings or cats_int64s".to_owned());
        }
        let texts = texts.iter().map(|text| i64::from(words.number(text)));
        let categories: Vec<i64> = texts.chain(integers.iter().copied()).collect();
        Ok(Indicate {
            width: categories.len(),
            columns: categories.into_iter().zip(0..).collect(),
            are_words: integers.is_empty(),
            takes_others: attributes.integer("zeros").unwrap_or(1) != 0,
        })
    }

    fn run(&self, input: &Tensor, words: &Words) -> Result<Tensor, String> {
        let mut values = vec![0.0; input.values.len() * self.width];
        let rows = values.chunks_exact_mut(self.width);
        // Numbers are cut to whole ones; none is none of them.
        let categories = input.values.clone().into_doubles();
        for (row, category) in rows.zip(categories) {
            let found = (!category.is_nan()).then_some(category as i64);
            match found.and_then(|category| self.columns.get(&category)) {
                Some(&column) => row[column] = 1.0,
                None if self.takes_others => {}
                None => {
                    let name = if self.are_words {
                        format!("'{}'", words.text(category as i32))
                    } else {
                        category.to_string()
                    };
                    return Err(format!(
                        "its categories lack {name}; leave it out of the schema, or fit the encoder with handle_unknown='ignore'"
                    ));
                }
            }
        }
        let mut shape = input.shape.clone();
        shape.push(self.width);
        Ok(Tensor {
            shape,
            values: Numbers::Floats(values),
        })
    }
}

impl Encode {
    fn read(attributes: Attributes<'_>, words: &mut Words) -> Result<Encode, String> {
        if let Some(name) = ["keys_tensor", "values_tensor", "default_tensor"]
            .into_iter()
            .find(|name| attributes.tensor(name).is_some())
        {
            return Err(format!("its {name} is not known; export it for {DOMAIN} 3"));
        }
        // The first version: words and their places, in either direction.
        let classes = attributes.words("classes_strings");
        let (keys, count) = if !classes.is_empty() {
            let keys = classes.iter().map(|text| words.number(text));
            (Keys::Words(first_places(keys)), classes.len())
        } else if let keys @ [_, ..] = attributes.words("keys_strings") {
            let places = first_places(keys.iter().map(|text| words.number(text)));
            (Keys::Words(places), keys.len())
        } else if let keys @ [_, ..] = attributes.integers("keys_int64s") {
            (
                Keys::Integers(first_places(keys.iter().copied())),
                keys.len(),
            )
        } else {
            let keys = attributes.floats("keys_floats");
            let bits = keys.iter().map(|&key| Bits::of(key.into()));
            (Keys::Floats(first_places(bits)), keys.len())
        };
        let values = if !classes.is_empty() {
            let default = within(attributes.integer("default_int64").unwrap_or(-1));
            let places = (0..classes.len()).map(|place| within(place as i64));
            Values::Integers(places.chain([default]).collect())
        } else if let values @ [_, ..] = attributes.words("values_strings") {
            let default = attributes.word("default_string").unwrap_or("_Unused");
            let texts = values.iter().map(String::as_str).chain([default]);
            Values::Words(texts.map(|text| words.number(text)).collect())
        } else if let values @ [_, ..] = attributes.integers("values_int64s") {
            let default = attributes.integer("default_int64").unwrap_or(-1);
            Values::Integers(
                values
                    .iter()
                    .copied()
                    .chain([default])
                    .map(within)
                    .collect(),
            )
        } else {
            let default = attributes.float("default_float").unwrap_or(-0.0);
            let values = attributes.floats("values_floats").iter().copied();
            Values::Floats(values.chain([default]).collect())
        };
        let encode = Encode { keys, values };
        if count == 0 || encode.values.len() != count + 1 {
            return Err("its keys and values have different lengths, or there are none".to_owned());
        }
        Ok(encode)
    }

    fn gives_words(&self) -> bool {
        matches!(self.values, Values::Words(_))
    }

    fn run(&self, input: &Tensor) -> Tensor {
        let other = self.values.len() - 1;
        let places: Vec<usize> = match &self.keys {
            Keys::Words(places) => {
                let keys = input.values.clone().into_integers().into_iter();
                keys.map(|key| places.get(&key).copied().unwrap_or(other))
                    .collect()
            }
            Keys::Integers(places) => {
                let keys = input.values.clone().into_integers().into_iter();
                keys.map(|key| places.get(&key.into()).copied().unwrap_or(other))
                    .collect()
            }
            Keys::Floats(places) => {
                let keys = input.values.clone().into_doubles().into_iter();
                keys.map(|key| places.get(&Bits::of(key)).copied().unwrap_or(other))
                    .collect()
            }
        };
        let values = match &self.values {
            Values::Integers(values) | Values::Words(values) => {
                Numbers::Integers(places.into_iter().map(|place| values[place]).collect())
            }
            Values::Floats(values) => {
                Numbers::Floats(places.into_iter().map(|place| values[place]).collect())
            }
        };
        Tensor {
            shape: input.shape.clone(),
            values,
        }
    }
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Values::Integers(values) | Values::Words(values) => values.len(),
            Values::Floats(values) => values.len(),
        }
    }
}

impl Bits {
    fn of(number: f64) -> Bits {
        match number {
            _ if number.is_nan() => Bits(f64::NAN.to_bits()),
            0.0 => Bits(0),
            _ => Bits(number.to_bits()),
        }
    }
}

/// The first place of each key.
fn first_places<Key: Eq + Hash>(keys: impl Iterator<Item = Key>) -> HashMap<Key, usize> {
    let mut places = HashMap::new();
    for (place, key) in keys.enumerate() {
        places.entry(key).or_insert(place);
    }
    places
}

/// A whole number of 32 bits, the nearest.
fn within(number: i64) -> i32 {
    number.clamp(i32::MIN.into(), i32::MAX.into()) as i32
}
