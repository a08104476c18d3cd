//! The attributes of an operator.

use rten_onnx::onnx::{AttributeProto, NodeProto, TensorProto};

use super::tensor::Tensor;

/// The attributes of one node.
#[derive(Clone, Copy)]
pub struct Attributes<'a>(pub &'a NodeProto);

impl<'a> Attributes<'a> {
    fn find(self, name: &str) -> Option<&'a AttributeProto> {
        let mut all = self.0.attribute.iter();
        all.find(|attribute| attribute.name.as_deref() == Some(name))
    }

    /// Returns the numbers of the attribute `name`; none where it is absent.
    pub fn floats(self, name: &str) -> &'a [f32] {
        self.find(name).map_or(&[], |attribute| &attribute.floats)
    }

    /// Returns the whole numbers of the attribute `name`; none where it is absent.
    pub fn integers(self, name: &str) -> &'a [i64] {
        self.find(name).map_or(&[], |attribute| &attribute.ints)
    }

    /// Returns the words of the attribute `name`; none where it is absent.
    pub fn words(self, name: &str) -> &'a [String] {
        self.find(name).map_or(&[], |attribute| &attribute.strings)
    }

    /// Returns the number of the attribute `name`.
    pub fn float(self, name: &str) -> Option<f32> {
        self.find(name)?.f
    }

    /// Returns the whole number of the attribute `name`.
    pub fn integer(self, name: &str) -> Option<i64> {
        self.find(name)?.i
    }

    /// Returns the word of the attribute `name`.
    pub fn word(self, name: &str) -> Option<&'a str> {
        self.find(name)?.s.as_deref()
    }

    /// Returns the tensor of the attribute `name`.
    pub fn tensor(self, name: &str) -> Option<&'a TensorProto> {
        self.find(name)?.t.as_ref()
    }

    /// Returns the numbers of the attribute `name`, or those of the tensor `name_as_tensor`, which
    /// may have 64 bits.
    pub fn numbers(self, name: &str) -> Result<Vec<f64>, String> {
        match self.tensor(&format!("{name}_as_tensor")) {
            Some(held) => Ok(Tensor::constant(held)?.values.into_doubles()),
            None => Ok(self.floats(name).iter().copied().map(f64::from).collect()),
        }
    }
}
