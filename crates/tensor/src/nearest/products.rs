//! Products of blocks of rows with a fixed matrix, on a device.

use burn::tensor::{Device, Tensor, TensorData};

use crate::device::ComputeDevice;

/// A matrix on a device, to be multiplied from the left again and again.
pub(super) struct Products {
    device: Device,
    width: usize,
    /// `[width, rows]`
    right: Tensor<2>,
}

impl Products {
    /// Moves `right`, `[rows, width]`, to `device`.
    pub(super) fn with(right: Vec<f32>, width: usize, device: &ComputeDevice) -> Self {
        let device = device.burn().clone();
        let shape = [right.len() / width.max(1), width];
        let right = Tensor::<2>::from_data(TensorData::new(right, shape), &device).transpose();
        Self {
            device,
            width,
            right,
        }
    }

    /// Fills `values`, `[rows of left, rows]`, with the products of `left`, `[rows of left,
    /// width]`, and the matrix. Nothing if the device failed or gave a value that is not finite.
    pub(super) fn fill(&self, left: Vec<f32>, values: &mut [f32]) -> Option<()> {
        let shape = [left.len() / self.width.max(1), self.width];
        let left = Tensor::<2>::from_data(TensorData::new(left, shape), &self.device);
        let data = left.matmul(self.right.clone()).try_into_data().ok()?;
        let found = data.as_slice::<f32>().ok()?;
        if found.len() != values.len() {
            return None;
        }
        values.copy_from_slice(found);
        values.iter().all(|value| value.is_finite()).then_some(())
    }
}
