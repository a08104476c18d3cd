//! Products of blocks of rows with a fixed matrix, on a device.

use burn::tensor::{Device, Tensor, TensorData};
use probity_run::guard::guarded_with_threads;

use crate::device::ComputeDevice;

/// The most values that a product on a device may have.
const MOST_VALUES: usize = 1 << 28;

/// A matrix on a device, to be multiplied from the left again and again.
#[derive(Debug, Clone)]
pub(super) struct Products {
    device: Device,
    width: usize,
    /// The matrix as `[width, rows]`.
    right: Tensor<2>,
}

impl Products {
    /// Moves `right`, `[rows, width]`, to `device`; `None` if that fails.
    pub(super) fn with(right: Vec<f32>, width: usize, device: &ComputeDevice) -> Option<Self> {
        let device = device.burn().clone();
        let shape = [right.len() / width.max(1), width];
        asked(|| {
            let right = Tensor::<2>::from_data(TensorData::new(right, shape), &device).transpose();
            Some(Self {
                device,
                width,
                right,
            })
        })
    }

    /// The device that holds the matrix.
    pub(super) fn device(&self) -> &Device {
        &self.device
    }

    /// The number of rows of the matrix.
    pub(super) fn rows(&self) -> usize {
        self.right.dims()[1]
    }

    /// Moves `left`, `[rows of left, width]`, to the device. Must be called within [`asked`].
    pub(super) fn left(&self, left: Vec<f32>) -> Tensor<2> {
        let shape = [left.len() / self.width.max(1), self.width];
        Tensor::<2>::from_data(TensorData::new(left, shape), &self.device)
    }

    /// Returns the products of `left` and the rows from `start` to `end` of the matrix,
    /// `[rows of left, end - start]`. Must be called within [`asked`].
    pub(super) fn part(&self, left: Tensor<2>, start: usize, end: usize) -> Tensor<2> {
        let right = self.right.clone();
        if (start, end) == (0, self.rows()) {
            return left.matmul(right);
        }
        left.matmul(right.slice([0..self.width, start..end]))
    }

    /// Fills `values`, `[rows of left, rows]`, with the products of `left`, `[rows of left,
    /// width]`, and the matrix. Returns nothing if the device failed.
    pub(super) fn fill(&self, left: Vec<f32>, values: &mut [f32]) -> Option<()> {
        if values.len() > MOST_VALUES {
            return None;
        }
        let data = asked(|| {
            let product = self.part(self.left(left), 0, self.rows());
            product.try_into_data().ok()
        })?;
        let found = data.as_slice::<f32>().ok()?;
        if found.len() != values.len() {
            return None;
        }
        values.copy_from_slice(found);
        Some(())
    }
}

/// Runs `work` on a device and returns what it gives; nothing if it failed. Backends report a
/// failure by errors, or by panics in this thread or in one of their own, such as when memory is
/// short. Neither is shown: they may name what was computed, and the caller has the reference.
pub(crate) fn asked<T>(work: impl FnOnce() -> Option<T>) -> Option<T> {
    guarded_with_threads(work).ok().flatten()
}
