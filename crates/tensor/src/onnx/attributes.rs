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

    /// The numbers called `name`; none where it is absent.
    pub fn floats(self, name: &str) -> &'a [f32] {
        self.find(name).map_or(&[], |attribute| &attribute.floats)
    }

    /// The whole numbers called `name`; none where it is absent.
    pub fn integers(self, name: &str) -> &'a [i64] {
        self.find(name).map_or(&[], |attribute| &attribute.ints)
    }

    /// The words called `name`; none where it is absent.
    pub fn words(self, name: &str) -> &'a [String] {
        self.find(name).map_or(&[], |attribute| &attribute.strings)
    }

    /// The number called `name`.
    pub fn float(self, name: &str) -> Option<f32> {
        self.find(name)?.f
    }

    /// The whole number called `name`.
    pub fn integer(self, name: &str) -> Option<i64> {
        self.find(name)?.i
    }

    /// The word called `name`.
    pub fn word(self, name: &str) -> Option<&'a str> {
        self.find(name)?.s.as_deref()
    }

    /// The tensor called `name`.
    pub fn tensor(self, name: &str) -> Option<&'a TensorProto> {
        self.find(name)?.t.as_ref()
    }

    /// The numbers called `name`, or those of the tensor `name_as_tensor`, which may have 64 bits.
    pub fn numbers(self, name: &str) -> Result<Vec<f64>, String> {
        match self.tensor(&format!("{name}_as_tensor")) {
            Some(held) => Ok(Tensor::constant(held)?.values.into_doubles()),
            None => Ok(self.floats(name).iter().copied().map(f64::from).collect()),
        }
    }
}
