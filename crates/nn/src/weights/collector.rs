//! The collector of the tensors of a file, by the same rules whatever its format.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::element::{Element, Order};
use super::error::{MAX_VALUES, WeightFormat, WeightsError};

/// A tensor of a weight file.
#[derive(Debug, Clone, PartialEq)]
pub struct Weight {
    /// The extents, outermost first; empty for a single number.
    pub shape: Vec<usize>,
    /// The values in row-major order: as many as the product of `shape`, all finite.
    pub values: Vec<f32>,
}

/// A collector that gathers the tensors of one file, whatever its format, by the same rules.
pub(super) struct Collector<'a> {
    pub path: &'a Path,
    pub format: WeightFormat,
    tensors: BTreeMap<String, Weight>,
    /// The tensors that the file holds as whole numbers.
    pub integers: BTreeSet<String>,
    values: usize,
}

impl<'a> Collector<'a> {
    pub fn new(path: &'a Path, format: WeightFormat) -> Self {
        Self {
            path,
            format,
            tensors: BTreeMap::new(),
            integers: BTreeSet::new(),
            values: 0,
        }
    }

    /// Accounts for a tensor before its bytes are read; returns its number of values.
    pub fn reserve(&mut self, tensor: &str, shape: &[usize]) -> Result<usize, WeightsError> {
        shape
            .iter()
            .try_fold(1_usize, |count, &extent| count.checked_mul(extent))
            .filter(|&count| count <= MAX_VALUES - self.values)
            .inspect(|&count| self.values += count)
            .ok_or_else(|| WeightsError::TooLarge {
                file: self.path.to_owned(),
                tensor: tensor.to_owned(),
                shape: shape.to_vec(),
            })
    }

    /// Adds a tensor whose little-endian elements are `bytes`, stored in `order`.
    pub fn add(
        &mut self,
        tensor: &str,
        shape: &[usize],
        order: Order,
        element: Element,
        bytes: &[u8],
    ) -> Result<(), WeightsError> {
        let values = element.decode(bytes).map_err(|fault| WeightsError::Value {
            file: self.path.to_owned(),
            tensor: tensor.to_owned(),
            index: order.index(fault.position, shape),
            value: fault.value,
        })?;
        if !element.is_float() {
            self.integers.insert(tensor.to_owned());
        }
        let count: usize = shape.iter().product();
        if values.len() != count {
            let there = values.len();
            return Err(self.malformed(format!(
                "the tensor `{tensor}` of shape {shape:?} needs {count} values but has {there}"
            )));
        }
        let weight = Weight {
            shape: shape.to_vec(),
            values: order.to_row_major(values, shape),
        };
        if self.tensors.insert(tensor.to_owned(), weight).is_some() {
            return Err(self.malformed(format!("the tensor `{tensor}` is there twice")));
        }
        Ok(())
    }

    /// Returns the tensors, of which there must be some.
    pub fn finish(self) -> Result<BTreeMap<String, Weight>, WeightsError> {
        if self.tensors.is_empty() {
            return Err(WeightsError::NoTensors {
                file: self.path.to_owned(),
                format: self.format,
            });
        }
        Ok(self.tensors)
    }

    pub fn malformed(&self, reason: impl Into<String>) -> WeightsError {
        WeightsError::Malformed {
            file: self.path.to_owned(),
            format: self.format,
            reason: reason.into(),
        }
    }

    pub fn element_type(&self, tensor: &str, found: impl Into<String>) -> WeightsError {
        WeightsError::ElementType {
            file: self.path.to_owned(),
            tensor: tensor.to_owned(),
            found: found.into(),
        }
    }
}
