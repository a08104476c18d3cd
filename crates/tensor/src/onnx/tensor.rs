//! Numbers in rows and columns, as they stand in a file, enter a graph and leave it.

use rten_onnx::onnx::{DataLocation, DataType, TensorProto};
use serde::{Deserialize, Serialize};

/// Numbers with the sizes of their arrangement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tensor {
    /// The sizes of the dimensions.
    pub shape: Vec<usize>,
    /// The numbers, as many as the sizes say, row by row.
    pub values: Numbers,
}

/// Numbers of one type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Numbers {
    /// Whole numbers. Words are whole numbers too: see [`super::OnnxModel::word`].
    Integers(Vec<i32>),
    /// Floating-point numbers of 32 bits.
    Floats(Vec<f32>),
    /// Floating-point numbers of 64 bits.
    Doubles(Vec<f64>),
}

impl Numbers {
    /// Returns the number of numbers.
    pub fn len(&self) -> usize {
        match self {
            Numbers::Integers(values) => values.len(),
            Numbers::Floats(values) => values.len(),
            Numbers::Doubles(values) => values.len(),
        }
    }

    /// Whether there are no numbers.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Converts the numbers to 32 bits.
    pub fn into_floats(self) -> Vec<f32> {
        match self {
            Numbers::Integers(values) => values.into_iter().map(|value| value as f32).collect(),
            Numbers::Floats(values) => values,
            Numbers::Doubles(values) => values.into_iter().map(|value| value as f32).collect(),
        }
    }

    /// Converts the numbers to 64 bits.
    pub fn into_doubles(self) -> Vec<f64> {
        match self {
            Numbers::Integers(values) => values.into_iter().map(f64::from).collect(),
            Numbers::Floats(values) => values.into_iter().map(f64::from).collect(),
            Numbers::Doubles(values) => values,
        }
    }

    /// Converts the numbers to whole ones, towards zero.
    pub fn into_integers(self) -> Vec<i32> {
        match self {
            Numbers::Integers(values) => values,
            Numbers::Floats(values) => values.into_iter().map(|value| value as i32).collect(),
            Numbers::Doubles(values) => values.into_iter().map(|value| value as i32).collect(),
        }
    }

    /// Returns the numbers at `places`, which must be there.
    pub(super) fn at(&self, places: &[usize]) -> Numbers {
        match self {
            Numbers::Integers(values) => {
                Numbers::Integers(places.iter().map(|&at| values[at]).collect())
            }
            Numbers::Floats(values) => {
                Numbers::Floats(places.iter().map(|&at| values[at]).collect())
            }
            Numbers::Doubles(values) => {
                Numbers::Doubles(places.iter().map(|&at| values[at]).collect())
            }
        }
    }
}

impl Tensor {
    /// Returns the numbers of rows and columns; one dimension is one row.
    pub(super) fn rows_and_columns(&self) -> Result<(usize, usize), String> {
        match *self.shape.as_slice() {
            [columns] => Ok((1, columns)),
            [rows, columns] => Ok((rows, columns)),
            _ => Err(format!(
                "its input has the shape {:?}; expected rows and columns",
                self.shape
            )),
        }
    }

    /// Reads the tensor of numbers that a file holds.
    pub(super) fn constant(held: &TensorProto) -> Result<Tensor, String> {
        if held.data_location == Some(DataLocation::EXTERNAL) {
            return Err("its constants are in a file of their own".to_owned());
        }
        let sizes = held.dims.iter().map(|&size| usize::try_from(size));
        let shape: Vec<usize> = sizes
            .collect::<Result<_, _>>()
            .map_err(|_| format!("its constant has the sizes {:?}", held.dims))?;
        let raw = held.raw_data.as_ref().map(|bytes| bytes.borrow());
        let raw = raw.as_ref().map(|bytes| bytes.as_slice());
        let integer = |value: i64| value.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
        let values = match held.data_type {
            Some(DataType::FLOAT) => Numbers::Floats(match raw {
                Some(bytes) => numbers(bytes, f32::from_le_bytes),
                None => held.float_data.clone(),
            }),
            Some(DataType::DOUBLE) => Numbers::Doubles(match raw {
                Some(bytes) => numbers(bytes, f64::from_le_bytes),
                None => held.double_data.clone(),
            }),
            Some(DataType::INT32) => Numbers::Integers(match raw {
                Some(bytes) => numbers(bytes, i32::from_le_bytes),
                None => held.int32_data.clone(),
            }),
            Some(DataType::INT64) => Numbers::Integers(match raw {
                Some(bytes) => numbers(bytes, |bytes| integer(i64::from_le_bytes(bytes))),
                None => held
                    .int64_data
                    .iter()
                    .map(|&value| integer(value))
                    .collect(),
            }),
            other => {
                let name = other.map_or("no type".to_owned(), |kind| kind.to_string());
                return Err(format!("its constant of {name} cannot be read"));
            }
        };
        let expected = shape
            .iter()
            .try_fold(1usize, |all, &size| all.checked_mul(size));
        if expected != Some(values.len()) {
            return Err(format!(
                "its constant of the sizes {shape:?} has {} numbers",
                values.len()
            ));
        }
        Ok(Tensor { shape, values })
    }
}

/// Returns the nearest whole number of 32 bits.
pub fn within(number: i64) -> i32 {
    number.clamp(i32::MIN.into(), i32::MAX.into()) as i32
}

/// Reads numbers of `SIZE` bytes each.
fn numbers<const SIZE: usize, T>(bytes: &[u8], number: impl Fn([u8; SIZE]) -> T) -> Vec<T> {
    let (whole, _) = bytes.as_chunks::<SIZE>();
    whole.iter().map(|&bytes| number(bytes)).collect()
}
